"""Wrenches that loads and constraints exert on single nodes, in one state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from anguilla.assemble.evaluate import residual
from anguilla.assemble.system import Inputs, System
from anguilla.loads.table import DT, KIND, NODE, POSE, ROTATION, TRANSLATION, TWIST, WHICH, Loads
from anguilla.loads.tendon import set_friction
from anguilla.mechanics.tree import N_R, N_V, N_X, Floats


class NodeWrench(NamedTuple):
    """An external wrench on a node, world axes."""

    node: int
    moment: Floats  # (3,) about the node [N m]
    force: Floats  # (3,) [N]


def evaluate(system: System, loads: Loads, q: Floats, v: Floats, a: Floats, lam: Floats) -> Floats:
    """Residual and constraints (n + m,) in one state; leaves the motion of all nodes in the workspace."""
    out = np.zeros(system.size + system.rows)
    kernel = system.user.residual if system.user else residual
    kernel(system.tree, system.workspace, loads, q, v, a, lam, out)
    return out


def replay(
    system: System, times: Floats, inputs: Inputs, q: Floats, v: Floats, a: Floats, lam: Floats
) -> Iterator[tuple[int, Loads, Floats]]:
    """(number, loads, residual) of each of the states (nt, n), evaluated in order: loads may remember those before.

    Integrals of thrusters are taken over the given states by the trapezoidal rule, as the time loop does over its steps.
    """
    table = system.loads(times, inputs)
    state, cables = system._loads.frames.state, system._loads.cables
    rubs = bool(np.any(cables.friction))
    state[:] = 0.0
    for k in range(len(times)):
        dt = float(times[k] - times[k - 1]) if k else 0.0
        loads = table.at(k)
        loads.row[DT] = dt
        values = evaluate(system, loads, q[k], v[k], a[k], lam[k])
        if rubs and k == 0:
            set_friction(system.tree.record_at, system.workspace.local, cables)
            values = evaluate(system, loads, q[k], v[k], a[k], lam[k])
        yield k, loads, values
        if rubs:
            set_friction(system.tree.record_at, system.workspace.local, cables)
        state[:, 0] += 0.5 * dt * (state[:, 1] + state[:, 2])
        state[:, 1] = state[:, 2]


def _rotation(system: System, node: int) -> Floats:
    return system.workspace.node[node, N_R : N_R + 9].reshape(3, 3)


def _place(system: System, node: int) -> Floats:
    return system.workspace.node[node, N_X : N_X + 3]


def closure_wrench(system: System, loads: Loads, number: int, lam: Floats) -> NodeWrench:
    """Wrench that a closure exerts on its frame b, about the origin of b, in the state of the last evaluation."""
    a, b = (int(i) for i in loads.pairs.table[loads.constraints.closure[number], :2])
    at = int(loads.at[POSE]) + 12 * number
    axes = _rotation(system, a) @ loads.row[at : at + 9].reshape(3, 3)
    moment, force = np.zeros(3), np.zeros(3)
    for k, (kind, which, axis_a, axis_b) in enumerate(loads.constraints.table):
        if which == number and kind == TRANSLATION:
            force += lam[k] * axes[:, axis_a]
        elif which == number and kind == ROTATION:
            moment -= lam[k] * np.cross(axes[:, axis_a], _rotation(system, b)[:, axis_b])
    return NodeWrench(b, moment, force)


def _span_wrenches(system: System, loads: Loads) -> list[NodeWrench]:
    found = []
    node = system.workspace.node
    pairs = loads.pairs
    springs = [(int(p), k, -1) for k, p in enumerate(pairs.spring)]
    spans = [(int(p), -1, int(c)) for p, c in pairs.span]
    for pair, spring, actuator in springs + spans:
        i, j = (int(x) for x in pairs.table[pair, :2])
        line = _place(system, j) - _place(system, i)
        length = float(np.linalg.norm(line))
        t = line / length
        if spring >= 0:
            k, rest, damping = pairs.spring_data[spring]
            tension = k * (length - rest) + damping * float(t @ (node[j, N_V : N_V + 3] - node[i, N_V : N_V + 3]))
        else:
            tension = float(loads.tension[actuator])
        found += [NodeWrench(i, np.zeros(3), tension * t), NodeWrench(j, np.zeros(3), -tension * t)]
    return found


def node_wrenches(system: System, loads: Loads, lam: Floats) -> list[NodeWrench]:
    """Everything but gravity and given wrenches that acts on nodes, in the state of the last evaluation."""
    found = [
        NodeWrench(int(node), wrench[:3].copy(), wrench[3:].copy())
        for node, wrench in zip(loads.frames.table[:, NODE], loads.frames.wrench, strict=True)
    ]
    found += _span_wrenches(system, loads)
    for number in range(len(loads.constraints.closure)):
        on_b = closure_wrench(system, loads, number, lam)
        a = int(loads.pairs.table[loads.constraints.closure[number], 0])
        arm = _place(system, on_b.node) - _place(system, a)
        found += [on_b, NodeWrench(a, -on_b.moment - np.cross(arm, on_b.force), -on_b.force)]
    for k in np.flatnonzero(loads.constraints.table[:, KIND] == TWIST):
        number = int(loads.constraints.table[k, WHICH])
        for side in range(2):
            node = int(loads.pairs.table[loads.constraints.twist[number], side])
            c = lam[k] * loads.constraints.twist_data[number, 6 * side : 6 * side + 6]
            rotation = _rotation(system, node)
            found.append(NodeWrench(node, rotation @ c[:3], rotation @ c[3:]))
    return [wrench for wrench in found if wrench.node > 0]
