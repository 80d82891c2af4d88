"""Wrenches that loads and constraints exert on single nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anguilla.errors import DescriptionError
from anguilla.interact.kernels.contact import grips
from anguilla.interact.kernels.rubbing import rubs
from anguilla.interact.kernels.table import (
    CONTACT,
    DT,
    KIND,
    NODE,
    POSE,
    ROTATION,
    THRUSTER,
    TRANSLATION,
    TWIST,
    WHICH,
    Loads,
)
from anguilla.interact.kernels.touch_steps import holds, keep_bristles
from anguilla.mechanics.tree import N_R, N_V, N_W, N_X, Floats, Ints
from anguilla.model.evaluate import residual
from anguilla.model.model import Model

if TYPE_CHECKING:
    from anguilla.results.blocks import Block


class NodeWrench(NamedTuple):
    """An external wrench on a node in the states of a block, world axes."""

    node: int
    moment: Floats  # (nb, 3) about the node [N m]
    force: Floats  # (nb, 3) [N]


def integrates(loads: Loads) -> bool:
    """Whether a thruster has an integral gain."""
    frames = loads.frames
    return bool(np.any(frames.data[frames.table[:, KIND] == THRUSTER, 6:12]))


def grasps(loads: Loads) -> bool:
    """Whether friction of some contact holds."""
    return bool(holds(loads.touches)) or bool(grips(loads.frames))


def refuse_holding(loads: Loads, what: str, instead: str = "") -> None:
    """Raise an error if friction of contact holds: forces then depend on the steps before."""
    if grasps(loads):
        raise DescriptionError(
            f"{what} does not support friction that holds: it depends on the steps before. Give the contact a slip, such as "
            f"slip=1e-3, below which friction fades{instead}."
        )


def remembers(model: Model) -> bool:
    """Whether forces depend on the states before: integrals of thrusters, friction of tendons or that holds, Prony terms."""
    return model.once(_remembers)


def _remembers(model: Model) -> bool:
    loads = model.blank
    return integrates(loads) or rubs(loads.cables) or grasps(loads) or relaxes(loads)


def relaxes(loads: Loads) -> bool:
    """Whether some rod is viscoelastic with Prony terms."""
    return len(loads.relaxing.term) > 0


def refuse_relaxing(loads: Loads, what: str) -> None:
    """Raise an error if some rod is viscoelastic: its forces then depend on the steps before."""
    if relaxes(loads):
        raise DescriptionError(
            f"{what} does not support viscoelastic rods (Material.viscosity, loss), whose stiffness depends on how fast they "
            "move. Give a copy without them, with the stiffness of the frequencies meant and Kelvin-Voigt damping."
        )


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


def bend(model: Model, loads: Loads, q: Floats, v: Floats, dt: float) -> bool:
    """Bend the bristles of contacts as a step of dt [s] at the rates v does, at a start where nothing is known of them.

    So what starts to slide feels friction at once. Returns whether any are bent now; `straighten` them before the first step.
    """
    if not (dt > 0.0 and v.any() and model.once(_grasps)) or is_bent(model.blank):
        return False
    before, loads.row[DT] = loads.row[DT], dt
    evaluate(model, loads, q, v, 0.0 * v, np.zeros(model.rows))
    loads.row[DT] = before
    contacts = loads.frames.table[:, KIND] == CONTACT
    loads.frames.state[contacts, 1, 3:] = loads.frames.state[contacts, 2, 3:]
    keep_bristles(loads.touches)
    return is_bent(loads)


def is_bent(loads: Loads) -> bool:
    """Whether bristles of some contact are bent."""
    contacts = loads.frames.table[:, KIND] == CONTACT
    return bool(loads.frames.state[contacts, 1, 3:].any() or loads.touches.held.any())


def straighten(loads: Loads) -> None:
    """Let contacts forget their bristles."""
    contacts = loads.frames.table[:, KIND] == CONTACT
    loads.frames.state[contacts, 1:, 3:], loads.touches.held[:] = 0.0, 0.0


def _grasps(model: Model) -> bool:
    return grasps(model.blank)


class Exerted(NamedTuple):
    """What a load exerts over time, world axes."""

    force: Floats  # (nt, 3) resultant [N]
    moment: Floats  # (nt, 3) about the world origin [N m]
    power: Floats  # (nt,) [W] given to the robot
    place: Floats  # (nt, k, 3) where it acts [m]
    wrench: Floats  # (nt, k, 6) there: moment [N m], force [N]


def exerted(model: Model, number: int, blocks: Iterable[Block]) -> Exerted:
    """What a frame load exerts (load `number` of the robot), from blocks of all nodes."""
    mine = np.flatnonzero(np.array(model.tables.frame_loads) == number)
    streams = np.flatnonzero(np.array(model.tables.stream_loads) == number)
    found: list[tuple[Floats, ...]] = []
    for block in blocks:
        node, wrench = block.node[:, block.loads.frames.table[mine, NODE]], block.wrench[:, mine]
        place, force = node[:, :, N_X : N_X + 3].copy(), wrench[:, :, 3:]
        moment = (wrench[:, :, :3] + np.cross(place, force)).sum(axis=1)
        power = work(node, wrench) + stream_power(model, block, streams)
        found.append((force.sum(axis=1), moment, power, place, wrench))
    return Exerted(*(np.concatenate(pieces) for pieces in zip(*found, strict=True)))


def work(node: Floats, wrench: Floats) -> Floats:
    """Power (nb,) [W] of wrenches (nb, k, 6), world axes, on nodes (nb, k, ...)."""
    turning = np.einsum("tki,tki->t", wrench[:, :, :3], node[:, :, N_W : N_W + 3])
    return turning + np.einsum("tki,tki->t", wrench[:, :, 3:], node[:, :, N_V : N_V + 3])


def stream_power(model: Model, block: Block, which: Ints | None = None) -> Floats:
    """Power (nb,) of streams along fish, which work on the strains; of all, or some."""
    streams, power = block.loads.streams, np.zeros(len(block.states.t))
    rates = np.zeros((len(power), len(model.workspace.rows)))
    rates[:, model.tree.lane] = block.states.v
    for s in range(len(streams.table)) if which is None else which:
        _, first, width, at, _, _ = streams.table[s]
        values = streams.basis[at : at + width] * rates[:, first : first + width]
        power -= np.sum(values * block.stress[:, s, streams.strain[at : at + width]], axis=1)
    return power


def _rotation(block: Block, node: int) -> Floats:
    return block.node[:, node, N_R : N_R + 9].reshape(-1, 3, 3)


def _place(block: Block, node: int) -> Floats:
    return block.node[:, node, N_X : N_X + 3]


def closure_wrench(block: Block, number: int) -> NodeWrench:
    """Wrench that a closure exerts on its frame b, about the origin of b, from a block of all nodes."""
    loads, lam = block.loads, block.states.lam
    a, b = (int(i) for i in loads.pairs.table[loads.constraints.closure[number], :2])
    at = int(loads.at[POSE]) + 12 * number
    axes = _rotation(block, a) @ block.row[:, at : at + 9].reshape(-1, 3, 3)
    moment, force = np.zeros((len(lam), 3)), np.zeros((len(lam), 3))
    for k, (kind, which, axis_a, axis_b) in enumerate(loads.constraints.table):
        if which == number and kind == TRANSLATION:
            force += lam[:, k, None] * axes[:, :, axis_a]
        elif which == number and kind == ROTATION:
            moment -= lam[:, k, None] * np.cross(axes[:, :, axis_a], _rotation(block, b)[:, :, axis_b])
    return NodeWrench(b, moment, force)


def _span_wrenches(block: Block) -> list[NodeWrench]:
    """What springs and free spans of tendons exert."""
    found, pairs = [], block.loads.pairs
    springs = [(int(p), k, -1) for k, p in enumerate(pairs.spring)]
    spans = [(int(p), k, int(actuator)) for k, (p, actuator) in enumerate(pairs.span)]
    for pair, k, actuator in springs + spans:
        i, j = (int(x) for x in pairs.table[pair, :2])
        line = _place(block, j) - _place(block, i)
        length = np.sqrt(np.sum(line**2, axis=1) + pairs.least[0])  # as `span` has it: ends that meet pull nowhere
        t = line / length[:, None]
        if actuator < 0:
            stiffness, rest, damping = pairs.spring_data[k]
            rate = np.sum(t * (block.node[:, j, N_V : N_V + 3] - block.node[:, i, N_V : N_V + 3]), axis=1)
            tension = stiffness * (length - rest) + damping * rate
        else:
            tension = block.tension[:, actuator] * block.factor[:, k]
        pull = tension[:, None] * t
        found += [NodeWrench(i, np.zeros_like(pull), pull), NodeWrench(j, np.zeros_like(pull), -pull)]
    return found


def points(model: Model) -> Ints:
    """Frame loads that act on single nodes: all but those along rods that are known as densities too."""
    return np.flatnonzero(~np.array(model.tables.frame_spread, dtype=bool))


def point_wrenches(model: Model, block: Block, on: Collection[int]) -> list[NodeWrench]:
    """Everything but gravity, given wrenches and what is known as a density that acts on nodes, from a block of all nodes.

    Closures that touch none of the nodes `on` are left out: a net has many.
    """
    nodes = block.loads.frames.table[:, NODE]
    found = [NodeWrench(int(nodes[f]), block.wrench[:, f, :3], block.wrench[:, f, 3:]) for f in points(model)]
    found += _span_wrenches(block)
    pairs, constraints = block.loads.pairs, block.loads.constraints
    near = np.any(np.isin(pairs.table[constraints.closure, :2], list(on)), axis=1)
    for number in np.flatnonzero(near).tolist():
        on_b = closure_wrench(block, number)
        a = int(pairs.table[constraints.closure[number], 0])
        arm = _place(block, on_b.node) - _place(block, a)
        found += [on_b, NodeWrench(a, -on_b.moment - np.cross(arm, on_b.force), -on_b.force)]
    for k in np.flatnonzero(constraints.table[:, KIND] == TWIST):
        number = int(constraints.table[k, WHICH])
        for side in range(2):
            node = int(pairs.table[constraints.twist[number], side])
            c = block.states.lam[:, k, None] * constraints.twist_data[number, 6 * side : 6 * side + 6]
            turned = np.einsum("tij,tkj->tki", _rotation(block, node), c.reshape(-1, 2, 3))
            found.append(NodeWrench(node, turned[:, 0], turned[:, 1]))
    slot = block.loads.touches.slot
    for i, v in ((int(i), int(slot[i])) for i in np.flatnonzero(slot >= 0)):
        found.append(NodeWrench(i, block.pushed[:, v, :3], block.pushed[:, v, 3:]))
    return [wrench for wrench in found if wrench.node > 0]
