"""Tendons (and chambers) inside rods: a tension times the length of a line through the sections, with its tangent.

The line runs at D(X) in the section axes. Its length per unit X is |Gc| with Gc = Gamma + K x D + D' (000 (13)-(16)); a
tension T does the work -T dl, so it adds T dl/dxi to the strain forces and T d2l/dxi2 to the link Hessians. The direction
follows the strains. The integral is taken at the Gauss points of the intervals.

With friction only a part of the tension is left at each place (`rubbing.py`).
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import get3, get9, put3, put9
from anguilla.mechanics.rodmap import FORCE, GG, GK, HESSIAN, JET, KG, KK, PAIR, SIX, STRAIN
from anguilla.mechanics.vec import (
    add,
    axpy,
    cross,
    cross_columns,
    cross_rows,
    dot,
    iso_hat,
    load3,
    maxpy,
    mscale,
    outer_add,
    scale,
)

GAUSS_DATA = 7  # D, D', quadrature weight of one Gauss point


@inline
def line_at(cables, local, k, gauss, u):
    """Unit direction of the line in section axes, its stretch |Gc|, the offset D and the quadrature weight."""
    at = GAUSS_DATA * gauss
    d, slope = load3(cables.data, k, at), load3(cables.data, k, at + 3)
    kappa, gamma = get3(local, u), get3(local, u + JET)
    line = add(gamma, add(cross(kappa, d), slope))
    stretch = math.sqrt(dot(line, line))
    return scale(1.0 / stretch, line), stretch, d, cables.data[k, at + 6]


@inline
def line_force(record_at, local, cables, k, gauss):
    """Gradient of the length of stretch k with respect to the strains at a Gauss point: w (D x t, t)."""
    u = record_at[cables.link[k, 0]] + STRAIN
    if gauss == 1:
        u = u + SIX
    t, _, d, w = line_at(cables, local, k, gauss, u)
    return scale(w, cross(d, t)), scale(w, t)


@inline
def line_length(record_at, local, cables, k):
    """Length of stretch k x tension per unit of input."""
    u = record_at[cables.link[k, 0]] + STRAIN
    _, one, _, w1 = line_at(cables, local, k, 0, u)
    _, two, _, w2 = line_at(cables, local, k, 1, u + SIX)
    return w1 * one + w2 * two


@part
def add_tendon_forces(tree, ws, loads):
    """FORCE += T w dl/dxi at the Gauss points: (D x t, t) with t the direction of the line."""
    local, cables = ws.local, loads.cables
    for k in range(len(cables.link)):
        pull = loads.tension[cables.link[k, 1]]
        f = tree.record_at[cables.link[k, 0]] + FORCE
        for gauss in range(2):
            moment, force = line_force(tree.record_at, local, cables, k, gauss)
            left = pull * cables.factor[k, gauss]
            put3(local, f, axpy(left, moment, get3(local, f)))
            put3(local, f + JET, axpy(left, force, get3(local, f + JET)))
            f = f + SIX


@part
def add_tendon_hessians(tree, ws, loads):
    """HESSIAN += T w d2l/dxi2: with A = (1 - t t^T)/|Gc|, blocks GG = A, KG = [D] A, GK = -A [D], KK = -[D] A [D]."""
    local, jets, cables = ws.local, ws.jets, loads.cables
    for k in range(len(cables.link)):
        pull = loads.tension[cables.link[k, 1]]
        o = tree.record_at[cables.link[k, 0]]
        for gauss in range(2):
            u, h = o + STRAIN, ws.jets_at[cables.link[k, 0]] + HESSIAN
            if gauss == 1:
                u, h = u + SIX, h + PAIR + PAIR + PAIR
            t, stretch, d, w = line_at(cables, local, k, gauss, u)
            a = mscale(pull * cables.factor[k, gauss] * w / stretch, outer_add(-1.0, t, t, iso_hat(1.0, 0.0, t)))
            da = cross_columns(d, a)
            put9(jets, h + GG, maxpy(1.0, a, get9(jets, h + GG)))
            put9(jets, h + KG, maxpy(1.0, da, get9(jets, h + KG)))
            put9(jets, h + GK, maxpy(-1.0, cross_rows(a, d), get9(jets, h + GK)))
            put9(jets, h + KK, maxpy(-1.0, cross_rows(da, d), get9(jets, h + KK)))
