"""Muscles: an active stress along a rod, with an optional proportional law on its strains (003 (92)).

Lambda_active(X, t) = stress(X, t) + gain(X) (xi - goal(X, t)). The row holds weight x (stress - gain goal) at the Gauss
points.
"""

from __future__ import annotations

from anguilla.compiler.jit import part
from anguilla.compiler.lanes import U
from anguilla.interact.kernels.table import STRESS
from anguilla.mechanics.rodmap import FORCE, GG, HESSIAN, KK, PAIR, STRAIN

FIELD = U(4)  # from one strain to the next in a record


@part
def add_muscle_forces(tree, ws, loads):
    """FORCE += active stress x weight at the Gauss points."""
    local = ws.local
    for k in range(len(loads.muscles.link)):
        o = tree.record_at[loads.muscles.link[k]]
        j = loads.at[STRESS] + 12 * k
        for c in range(12):
            shift = FIELD * U(c)
            local[o + FORCE + shift] += loads.row[j + c] + loads.muscles.gain[k, c] * local[o + STRAIN + shift]


@part
def add_muscle_hessians(tree, ws, loads):
    """HESSIAN += gain x weight on the diagonal."""
    jets = ws.jets
    for k in range(len(loads.muscles.link)):
        o = ws.jets_at[loads.muscles.link[k]] + HESSIAN
        for c in range(12):
            at = o + (PAIR + PAIR + PAIR if c >= 6 else U(0)) + (KK if c % 6 < 3 else GG)
            jets[at + FIELD * U(4 * (c % 3))] += loads.muscles.gain[k, c]
