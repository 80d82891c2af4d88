"""Motions of viscoelastic rods: how their internal coordinates (mechanics/relaxing.py) change, with states and explicitly.

The force of a term is g K z, z = left z_0 + c (q - q_0) after a step. Its part g c K dq1 is in the tangent of the step;

    K sum of g (left dz_0 - c dq_0)

is what the changes before add to the balance. The change of z at fixed states belongs to the explicit one: twins step through
the same states with terms of their own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from anguilla.compiler.distant import entry
from anguilla.compiler.jit import part
from anguilla.linear.choice import DENSE
from anguilla.mechanics.relaxing import faded, keep_relaxing
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluate import residual
from anguilla.model.model import Model
from anguilla.results.reactions import grasps, integrates, relaxes
from anguilla.results.states import Trajectory
from anguilla.solve.gradients.instants import take_instant

__all__ = ["Fading", "can_fade", "fading_of", "lean", "note_change", "relaxing_rows"]


class Fading(NamedTuple):
    """Terms (t) of a robot over a step, by coordinate (n), and changes of its internal coordinates by k parameters."""

    stiffness: Floats  # (n, n)
    weight: Floats  # (t, n)
    left: Floats  # (t, n)
    c: Floats  # (t, n)
    change: Floats  # (k, t, n)


def can_fade(run: Trajectory) -> bool:
    """Whether changes of a motion of viscoelastic rods can be found: the compiled march takes it, and it started at rest."""
    system, before = run.system, run.evaluations.memory
    loads, lanes = system.blank, 4 * len(system.tree.pack_slot)
    rough = system.user or len(loads.driven) or len(system.tree.ball) or integrates(loads) or grasps(loads)
    return system.linear == DENSE and not rough and (before is None or not np.any(before.past[lanes:]))


def fading_of(system: Model, dt: float, count: int) -> Fading:
    """Terms of a robot over a step of length dt; without changes by `count` parameters yet."""
    relaxing, n = system.blank.relaxing, system.size
    if not relaxes(system.blank):
        none = np.zeros((0, n))
        return Fading(np.zeros((0, 0)), none, none, none, np.zeros((count, 0, n)))
    term = relaxing.term[relaxing.owner]
    weight, times = np.ascontiguousarray(term[:, 0::2].T), term[:, 1::2].T
    over = np.array([[faded(dt, tau) for tau in row] for row in times.tolist()])
    left, c = (np.ascontiguousarray(over[..., k]) for k in (0, 1))
    return Fading(system.elastic_stiffness().copy(), weight, left, c, np.zeros((count, *weight.shape)))


@part
def lean(fading, p, before, out, force):
    """force (n,) = what changes before (n,) and those inside add to the balance, of parameter p; out (n,) is scratch."""
    for j in range(len(before)):
        total = 0.0
        for i in range(len(fading.weight)):
            total += fading.weight[i, j] * (fading.left[i, j] * fading.change[p, i, j] - fading.c[i, j] * before[j])
        out[j] = total
    for i in range(len(before)):
        total = 0.0
        for j in range(len(before)):
            total += fading.stiffness[i, j] * out[j]
        force[i] = total


@part
def note_change(fading, p, before, after):
    """Accept a step, of parameter p."""
    for i in range(len(fading.weight)):
        for j in range(len(before)):
            now = fading.left[i, j] * fading.change[p, i, j] + fading.c[i, j] * (after[j] - before[j])
            fading.change[p, i, j] = now


@entry(residual)
def relaxing_rows(tree, ws, loads, column, table, dt, Q, V, A, LAM, Y, out):
    """(R, phi) of every state of a motion that started at rest inside, into out (N + 1, n + m)."""
    relaxing = loads.relaxing
    keep_relaxing(tree, relaxing, Q[0], math.inf)
    for step in range(len(Q)):
        take_instant(loads, column, table, dt, step, Y[step])
        relaxing.over[0] = dt if step > 0 else 0.0
        residual(tree, ws, loads, Q[step], V[step], A[step], LAM[step], out[step])
        keep_relaxing(tree, relaxing, Q[step], relaxing.over[0])
    relaxing.over[0] = math.inf
