"""How deep robots sink into obstacles, and the energy that loads keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from anguilla.compiler.distant import entry
from anguilla.compiler.jit import kernel, part
from anguilla.interact.kernels.contact import GRIP, SMOOTH, STIFFNESS, holds, normal, stored
from anguilla.interact.kernels.table import CONTACT, HITS, KIND, NODE
from anguilla.interact.kernels.touch import (
    COUNT,
    DEPTH,
    ENERGY,
    FORCE,
    PLACE,
    POINT,
    PUSH,
    SIZE,
    find_touching,
    kept_energy,
)
from anguilla.mechanics.tree import N_X, Floats
from anguilla.mechanics.vec import axpy, dot, load3
from anguilla.model.evaluate import descend
from anguilla.model.model import Model
from anguilla.results.blocks import Block, Evaluations
from anguilla.results.kinematics import seat_motions
from anguilla.results.passing import passes


@part
def kept_of_parts(node, touches):
    """Energy of contacts between parts [J] at the present motion; bristles that are held are left out."""
    kept = 0.0
    if len(touches.table) > 0:
        find_touching(node, touches)
        for e in range(min(touches.count[HITS], len(touches.hits))):
            kept += kept_energy(touches, touches.hits[e, 0], touches.hits[e, 2], touches.hit[e, DEPTH])
    return kept


@part
def kept_of_obstacles(node, frames):
    """Energy of contacts with obstacles [J] at the present motion, without bristles."""
    kept = 0.0
    for f in range(len(frames.table)):
        if frames.table[f, KIND] == CONTACT:
            depth = normal(load3(node, frames.table[f, NODE], N_X), frames, f)[0]
            kept += frames.data[f, STIFFNESS] * stored(depth, frames.data[f, SMOOTH])
    return kept


@entry(descend)
def energies(tree, ws, touches, q, rest, out):
    """Add what contacts between parts keep (nt,) [J], in states q (nt, n); bristles that are held are left out."""
    for t in range(len(q)):
        descend(tree, ws, q[t], rest, rest)
        out[t] += kept_of_parts(ws.node, touches)


@kernel
def bent_on_obstacles(frames, which, place, force, out):
    """Add what bristles on obstacles keep (nt,) [J]: T^2 / (2 k_t), with T the part along the surface of the force.

    which (k,) are the contacts; place (nt, k, 3) [m] is that of their nodes, force (nt, k, 3) [N].
    """
    for t in range(len(out)):
        for k in range(len(which)):
            f = which[k]
            depth, n = normal(load3(place[t], k, 0), frames, f)
            if depth > 0.0 and holds(frames.data, f):
                F = load3(force[t], k, 0)
                T = axpy(-dot(n, F), n, F)
                out[t] += 0.5 * dot(T, T) / (GRIP * frames.data[f, STIFFNESS])


class PartForces(NamedTuple):
    """What two parts that touch give to each other, over time."""

    force: Floats  # (nt, 3) of a on b [N], world axes
    place: Floats  # (nt, 3) where it acts on average [m]
    energy: Floats  # (nt,) that is kept [J]
    points: Floats  # (nt,) number of points that touch


def touching(model: Model, number: int, blocks: Iterable[Block]) -> PartForces:
    """What the contact between parts that is load `number` gives, from blocks of states."""
    mine = np.flatnonzero(np.array(model.tables.touch_loads) == number)
    told = np.concatenate([block.told[:, mine] for block in blocks])
    on_b = -np.array(model.tables.touching.sides)[mine]
    size = told[:, :, SIZE].sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        place = told[:, :, PLACE : PLACE + 3].sum(axis=1) / size[:, None]
    force = np.einsum("k,tki->ti", on_b, told[:, :, PUSH : PUSH + 3])
    return PartForces(force, place, told[:, :, ENERGY].sum(axis=1), told[:, :, COUNT].sum(axis=1))


class TouchPoints(NamedTuple):
    """Places where two parts, or a rod and itself, touch each other at an instant."""

    place: Floats  # (k, 3) [m]
    force: Floats  # (k, 3) of a on b there [N]; of a rod that touches itself, on one side of the contact or the other


def touch_points(evaluations: Evaluations) -> Iterator[dict[int, TouchPoints]]:
    """At each state, the places where parts touch, by the number of their load."""
    model, loads = evaluations.model, np.array(evaluations.model.tables.touch_loads, dtype=np.int64)
    touches, on_b = model.blank.touches, -np.array(model.tables.touching.sides)
    for _ in evaluations.blocks(np.zeros(0, np.int64), single=True):
        row, hit = touches.hits[: touches.count[HITS], 0], touches.hit[: touches.count[HITS]]
        place, force = hit[:, POINT : POINT + 3].copy(), on_b[row, None] * hit[:, FORCE : FORCE + 3]
        yield {
            int(number): TouchPoints(place[loads[row] == number], force[loads[row] == number])
            for number in np.unique(loads)
        }


def depths(system: Model, number: int, q: Floats) -> Floats:
    """Depths (nt, k) [m] of all places of load `number` that may touch, in states q (nt, n); negative ones are distances."""
    seat, load = system.tables.seats[number], system.robot.loads[number]
    return np.concatenate([load.depths(seat, motion.position) for _, motion in seat_motions(system, seat, q)])


def load_energy(system: Model, q: Floats) -> Floats:
    """Energy (nt,) [J] that loads keep, springs and contacts, in states q (nt, n)."""
    out = np.zeros(len(q))
    for load, seat in zip(system.robot.loads, system.tables.seats, strict=True):
        for at, motion in seat_motions(system, seat, q) if load.is_passive else ():
            out[at] += load.energy(seat, motion)
    if len(system.blank.touches.table):
        energies(system.tree, system.workspace, system.blank.touches, q, np.zeros(system.size), out)
    return out


def contact_energy(system: Model, q: Floats, *, obstacles: bool = True) -> Floats:
    """Energy (nt,) [J] that contacts keep, of parts and with obstacles, in states q (nt, n); bristles are left out."""
    out = np.zeros(len(q))
    if len(system.blank.touches.table):
        energies(system.tree, system.workspace, system.blank.touches, q, np.zeros(system.size), out)
    for load, seat in zip(system.robot.loads, system.tables.seats, strict=True):
        for at, motion in seat_motions(system, seat, q) if load.touches and obstacles else ():
            out[at] += load.energy(seat, motion)
    return out


def bristle_energy(evaluations: Evaluations) -> Floats:
    """Energy (nt,) [J] of the bristles of contacts whose friction holds."""
    model, found = evaluations.model, []
    frames = model.blank.frames
    which = np.flatnonzero(frames.table[:, KIND] == CONTACT)
    for block in evaluations.blocks(frames.table[which, NODE]):
        kept = block.told[:, :, ENERGY].sum(axis=1) - contact_energy(model, block.states.q, obstacles=False)
        place, force = block.node[:, :, N_X : N_X + 3].copy(), block.wrench[:, which, 3:].copy()
        bent_on_obstacles(frames, which, place, force, kept)
        found.append(kept)
    return np.concatenate(found)


def jumps(system: Model, before: Floats, after: Floats) -> bool:
    """Whether a place could have gone through an obstacle, or parts through each other, between two states (n,)."""
    both = np.stack([before, after])
    for load, seat in zip(system.robot.loads, system.tables.seats, strict=True):
        if load.touches:
            place = np.concatenate([motion.position for _, motion in seat_motions(system, seat, both)])
            if load.passes(seat, place):
                return True
    return passes(system, before, after)
