"""Viscoelastic rods: Prony terms beside the long-term stiffness K of a rod.

A term of weight g and time tau is a spring g K in series with a dashpot: its force is g K z, where z follows the coordinates
and fades, z' = q' - z / tau. If q changes evenly over the time h since z was known,

    z = exp(-h / tau) z_0 + c (q - q_0),    c = (tau / h) (1 - exp(-h / tau)),

which is exact then, and of second order otherwise. What h is says what is meant: 0 at a known state, the step in a time step,
and infinity at rest, where all terms have faded: z = 0.
"""

from __future__ import annotations

import math

import numpy as np

from anguilla.compiler.jit import inline, kernel, part
from anguilla.compiler.simd import lay, take
from anguilla.compiler.table import Arrays
from anguilla.mechanics.tree import Floats, Ints, Tree

SHORT = 1e-9  # h / tau below which c is 1 - h / (2 tau)


class Relaxing(Arrays):
    """Prony terms of rods and their internal coordinates; all empty in a robot without."""

    term: Floats  # (segments, 2 p) weight and time [s] of each term; zero weights where a rod has fewer
    past: Floats  # flat ((p + 1) x lanes) state: coordinates at the start of a step, then those inside of each term
    over: Floats  # (1,) [s] time h since then
    owner: Ints  # (n,) segment of each coordinate


def relaxing_of(tree: Tree, terms: dict[int, Floats]) -> Relaxing:
    """The table of a tree; terms: weights and times (p, 2) of segments that have any."""
    count = max((len(rows) for rows in terms.values()), default=0)
    if not count:
        return Relaxing(np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.zeros(0, np.int64))
    table = np.tile([0.0, 1.0], (len(tree.first), count, 1))
    for segment, rows in terms.items():
        table[segment, : len(rows)] = rows
    owner = np.repeat(np.arange(len(tree.first)), 4 * tree.own_packs)[tree.lane]
    past = np.zeros((count + 1) * 4 * len(tree.pack_slot))
    return Relaxing(table.reshape(len(table), -1), past, np.array([np.inf]), owner)


@inline
def faded(h, tau):
    """(exp(-h / tau), c) of a term after a time h."""
    if h == math.inf:
        return 0.0, 0.0
    x = h / tau
    if x < SHORT:
        return 1.0 - x, 1.0 - 0.5 * x
    return math.exp(-x), -math.expm1(-x) / x


@part
def add_overstress(relaxing, padded, lanes, s, start, width):
    """The fourth part of `padded` += sum of g z, of segment s."""
    past, h = relaxing.past, relaxing.over[0]
    for i in range(relaxing.term.shape[1] // 2):
        g = relaxing.term[s, 2 * i]
        if g > 0.0:
            left, c = faded(h, relaxing.term[s, 2 * i + 1])
            for j in range(start, start + width, 4):
                z = left * take(past, (i + 1) * lanes + j) + c * (take(padded, j) - take(past, j))
                lay(padded, 3 * lanes + j, take(padded, 3 * lanes + j) + g * z)


@inline
def stiffening(relaxing, s):
    """Sum of g c of segment s: how much stiffer it is over the present step than at rest."""
    total = 0.0
    if len(relaxing.term) > 0:
        for i in range(relaxing.term.shape[1] // 2):
            total += relaxing.term[s, 2 * i] * faded(relaxing.over[0], relaxing.term[s, 2 * i + 1])[1]
    return total


@kernel
def keep_relaxing(tree, relaxing, q, h):
    """Accept a step of length h that ended at q (n,): the next one starts there. An endless one leaves no past."""
    past, lanes = relaxing.past, 4 * len(tree.pack_slot)
    for k in range(len(relaxing.owner)):
        s, j = relaxing.owner[k], tree.lane[k]
        for i in range(relaxing.term.shape[1] // 2):
            left, c = faded(h, relaxing.term[s, 2 * i + 1])
            at = (i + 1) * lanes + j
            past[at] = left * past[at] + c * (q[k] - past[j])
        past[j] = q[k]
    if len(relaxing.over) > 0:
        relaxing.over[0] = 0.0
