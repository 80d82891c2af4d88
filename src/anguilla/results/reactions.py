"""Wrenches that loads and constraints exert on single nodes, in one state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from anguilla.interact.kernels.rubbing import UNKNOWN, keep_rubbing, set_friction
from anguilla.interact.kernels.table import DT, KIND, NODE, POSE, ROTATION, THRUSTER, TRANSLATION, TWIST, WHICH, Loads
from anguilla.mechanics.tree import N_R, N_V, N_W, N_X, Floats, Ints
from anguilla.model.evaluate import residual
from anguilla.model.model import Inputs, Model


class NodeWrench(NamedTuple):
    """An external wrench on a node, world axes."""

    node: int
    moment: Floats  # (3,) about the node [N m]
    force: Floats  # (3,) [N]


def integrates(loads: Loads) -> bool:
    """Whether a thruster has an integral gain."""
    frames = loads.frames
    return bool(np.any(frames.data[frames.table[:, KIND] == THRUSTER, 6:12]))


def evaluate(
    system: Model, loads: Loads, q: Floats, v: Floats, a: Floats, lam: Floats, *, in_space: bool = False
) -> Floats:
    """Residual and constraints (n + m,) in one state; leaves the motion of all nodes in the workspace.

    With in_space, the wrenches of all nodes too, out of the plane of a flat robot; no tangent may follow then.
    """
    out = np.zeros(system.size + system.rows)
    kernel = system.user.residual if system.user else residual
    kernel(system.spatial if in_space else system.tree, system.workspace, loads, q, v, a, lam, out)
    return out


def replay(
    system: Model,
    times: Floats,
    inputs: Inputs,
    q: Floats,
    v: Floats,
    a: Floats,
    lam: Floats,
    *,
    in_space: bool = False,
) -> Iterator[tuple[int, Loads, Floats]]:
    """(number, loads, residual) of each of the states (nt, n), evaluated in order: loads may remember those before.

    Integrals of thrusters are taken over the given states by the trapezoidal rule, as the time loop does over its steps.
    """
    table = system.loads(times, inputs)
    state, cables = system.blank.frames.state, system.blank.cables
    rubs = bool(np.any(cables.friction))
    state[:] = 0.0
    cables.slip[:] = UNKNOWN
    for k in range(len(times)):
        dt = float(times[k] - times[k - 1]) if k else 0.0
        loads = table.at(k)
        loads.row[DT] = dt
        values = evaluate(system, loads, q[k], v[k], a[k], lam[k], in_space=in_space)
        if rubs and k == 0:
            set_friction(system.tree, system.workspace, cables, system.blank.pairs)
            values = evaluate(system, loads, q[k], v[k], a[k], lam[k], in_space=in_space)
        yield k, loads, values
        if rubs:
            keep_rubbing(cables, 1.0)
        state[:, 0] += 0.5 * dt * (state[:, 1] + state[:, 2])
        state[:, 1] = state[:, 2]


def _rotation(system: Model, node: int) -> Floats:
    return system.workspace.node[node, N_R : N_R + 9].reshape(3, 3)


def _place(system: Model, node: int) -> Floats:
    return system.workspace.node[node, N_X : N_X + 3]


class Exerted(NamedTuple):
    """What a load exerts over time, world axes."""

    force: Floats  # (nt, 3) resultant [N]
    moment: Floats  # (nt, 3) about the world origin [N m]
    power: Floats  # (nt,) [W] given to the robot
    place: Floats  # (nt, k, 3) where it acts [m]
    wrench: Floats  # (nt, k, 6) there: moment [N m], force [N]


def exerted(system: Model, number: int, states: Iterator[tuple[int, Loads, Floats]], v: Floats) -> Exerted:
    """What a frame load exerts (load `number` of the robot), from the evaluations of `replay` in states with rates v."""
    mine = np.flatnonzero(np.array(system.tables.frame_loads) == number)
    streams = np.flatnonzero(np.array(system.tables.stream_loads) == number)
    nt, k = len(v), len(mine)
    place, wrench, power = np.zeros((nt, k, 3)), np.zeros((nt, k, 6)), np.zeros(nt)
    for t, loads, _ in states:
        nodes, node = loads.frames.table[mine, NODE], system.workspace.node
        place[t], wrench[t] = node[nodes, N_X : N_X + 3], loads.frames.wrench[mine]
        power[t] = np.sum(wrench[t, :, :3] * node[nodes, N_W : N_W + 3] + wrench[t, :, 3:] * node[nodes, N_V : N_V + 3])
        power[t] += stream_power(system, loads, streams)
    force = wrench[:, :, 3:].sum(axis=1)
    moment = (wrench[:, :, :3] + np.cross(place, wrench[:, :, 3:])).sum(axis=1)
    return Exerted(force, moment, power, place, wrench)


def stream_power(system: Model, loads: Loads, which: Ints | None = None) -> float:
    """Power of streams along fish, which work on the strains, in the state of the last evaluation; of all, or some."""
    rates, power = system.workspace.padded.reshape(4, -1)[1], 0.0
    for s in range(len(loads.streams.table)) if which is None else which:
        _, first, width, at, _, _ = loads.streams.table[s]
        values = loads.streams.basis[at : at + width] * rates[first : first + width]
        power -= float(values @ loads.streams.stress[s, loads.streams.strain[at : at + width]])
    return power


def closure_wrench(system: Model, loads: Loads, number: int, lam: Floats) -> NodeWrench:
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


def _span_wrenches(system: Model, loads: Loads) -> list[NodeWrench]:
    found = []
    node = system.workspace.node
    pairs = loads.pairs
    springs = [(int(p), k, -1, 1.0) for k, p in enumerate(pairs.spring)]
    spans = [(int(p), -1, int(c), float(factor)) for (p, c), factor in zip(pairs.span, pairs.factor, strict=True)]
    for pair, spring, actuator, factor in springs + spans:
        i, j = (int(x) for x in pairs.table[pair, :2])
        line = _place(system, j) - _place(system, i)
        length = float(np.linalg.norm(line))
        t = line / length
        if spring >= 0:
            k, rest, damping = pairs.spring_data[spring]
            tension = k * (length - rest) + damping * float(t @ (node[j, N_V : N_V + 3] - node[i, N_V : N_V + 3]))
        else:
            tension = float(loads.tension[actuator]) * factor
        found += [NodeWrench(i, np.zeros(3), tension * t), NodeWrench(j, np.zeros(3), -tension * t)]
    return found


def frame_wrench(loads: Loads, f: int) -> NodeWrench:
    """What frame load f exerts, in the state of the last evaluation."""
    wrench = loads.frames.wrench[f]
    return NodeWrench(int(loads.frames.table[f, NODE]), wrench[:3].copy(), wrench[3:].copy())


def node_wrenches(system: Model, loads: Loads, lam: Floats, points_only: bool = False) -> list[NodeWrench]:
    """Everything but gravity and given wrenches that acts on nodes, in the state of the last evaluation.

    With `points_only` without the water along rods, which is known as a density too.
    """
    spread = np.zeros(len(loads.frames.table), dtype=bool)
    if points_only:
        spread[:] = system.tables.frame_spread
    found = [frame_wrench(loads, f) for f in range(len(loads.frames.table)) if not spread[f]]
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
