"""Tendons (and chambers) inside rods: a tension times the length of a line through the sections, with its tangent.

The line runs at D(X) in the section axes. Its length per unit X is |Gc| with Gc = Gamma + K x D + D' (000 (13)-(16)); a
tension T does the work -T dl, so it adds T dl/dxi to the strain forces and T d2l/dxi2 to the link Hessians. The direction
follows the strains. The integral is taken at the Gauss points of the intervals.
"""

from __future__ import annotations

import math

from anguilla._jit import merge
from anguilla.mechanics.lanes import get3, get9, put3, put9
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


@merge
def _line(tree, local, k, gauss, u):
    """Unit direction of the line in section axes, its stretch |Gc|, the offset D and the quadrature weight."""
    at = GAUSS_DATA * gauss
    d, slope = load3(tree.cable, k, at), load3(tree.cable, k, at + 3)
    kappa, gamma = get3(local, u), get3(local, u + JET)
    line = add(gamma, add(cross(kappa, d), slope))
    stretch = math.sqrt(dot(line, line))
    return scale(1.0 / stretch, line), stretch, d, tree.cable[k, at + 6]


@merge
def add_tendon_forces(tree, ws, tension):
    """FORCE += T w dl/dxi at the Gauss points: (D x t, t) with t the direction of the line."""
    local = ws.local
    for k in range(len(tree.cable_link)):
        pull = tension[tree.cable_of[k]]
        o = tree.record_at[tree.cable_link[k]]
        for gauss in range(2):
            u, f = o + STRAIN, o + FORCE
            if gauss == 1:
                u, f = u + SIX, f + SIX
            t, _, d, w = _line(tree, local, k, gauss, u)
            put3(local, f, axpy(pull * w, cross(d, t), get3(local, f)))
            put3(local, f + JET, axpy(pull * w, t, get3(local, f + JET)))


@merge
def add_tendon_hessians(tree, ws, tension):
    """HESSIAN += T w d2l/dxi2: with A = (1 - t t^T)/|Gc|, blocks GG = A, KG = [D] A, GK = -A [D], KK = -[D] A [D]."""
    local = ws.local
    for k in range(len(tree.cable_link)):
        pull = tension[tree.cable_of[k]]
        o = tree.record_at[tree.cable_link[k]]
        for gauss in range(2):
            u, h = o + STRAIN, o + HESSIAN
            if gauss == 1:
                u, h = u + SIX, h + PAIR + PAIR + PAIR
            t, stretch, d, w = _line(tree, local, k, gauss, u)
            a = mscale(pull * w / stretch, outer_add(-1.0, t, t, iso_hat(1.0, 0.0, t)))
            da = cross_columns(d, a)
            put9(local, h + GG, maxpy(1.0, a, get9(local, h + GG)))
            put9(local, h + KG, maxpy(1.0, da, get9(local, h + KG)))
            put9(local, h + GK, maxpy(-1.0, cross_rows(a, d), get9(local, h + GK)))
            put9(local, h + KK, maxpy(-1.0, cross_rows(da, d), get9(local, h + KK)))
