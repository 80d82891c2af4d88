"""Down the hill of potential energy: the ways to an equilibrium at which a robot stays."""

from __future__ import annotations

import numpy as np
from scipy.sparse import diags_array

from anguilla.interact.kernels.table import Loads
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import at_rest
from anguilla.model.model import Model
from anguilla.model.operator import BlockOperator
from anguilla.model.user import move
from anguilla.results.observe import S_X
from anguilla.results.passing import passes
from anguilla.solve.newton.closing import loose_at, names_of, settle
from anguilla.solve.newton.gaps import RANK
from anguilla.solve.newton.spectrum import SOFT, stiffness_at
from anguilla.solve.statics.judging import contradiction, unbalanced
from anguilla.solve.statics.relaxing import come_to_rest
from anguilla.solve.statics.stability import ABSURD, FLAT, free_basis, is_whole, linear
from anguilla.solve.steps.measured import motion_of

__all__ = ["BALANCED", "advanced", "balances", "level", "neutral", "nudged", "relaxed", "slide"]

LONGEST_SLIDE = 0.3  # of a step downhill, as an angle [rad]
SLIDES = 300
SLID = 600  # coordinates and constraints up to which steps by whole matrices are sooner down than a damped motion
LEVEL = 1e-8  # of the largest stiffness: what falls off less is level
NUDGE = 0.1  # [rad]
APART = 1e-3  # of the length, or [rad]: equilibria that are farther from each other are two
HALVINGS = 12  # of a step that would take parts through each other
BALANCED = 1e-6  # forces left, as a part of the loads


def _slope(system: Model, loads: Loads, q: Floats, lam: Floats) -> tuple[Floats, Floats, Floats]:
    """Forces (n,), stiffness (n, n) and gradient of the constraints (m, n) in angles and relative displacements."""
    scale, here = system.tree.scale, at_rest(system, loads, q, lam)
    return here.residual / scale, here.K / np.outer(scale, scale), here.J / scale


def advanced(system: Model, q: Floats, step: Floats) -> Floats:
    """q after a step (n,), or after as much of it as takes no part through another."""
    for _ in range(HALVINGS):
        ahead = move(system.tree, q, step)
        if not passes(system, q, ahead):
            return ahead
        step = 0.5 * step
    return q


def nudged(system: Model, loads: Loads, q: Floats, lam: Floats) -> Floats:
    """An unstable equilibrium, moved a little in all directions that lead down, by unequal amounts: no symmetry is left."""
    if not is_whole(system):
        way = stiffness_at(system, loads, q, lam, own_units=False).down(0.0)
        step = system.tree.scale * way if way is not None else np.zeros(system.size)
        return advanced(system, q, NUDGE * step / max(float(np.linalg.norm(step)), 1e-300) / system.tree.scale)
    found = linear(system, loads, q, lam, own_units=False)
    if found is None:
        return q
    stiffness, shapes = np.linalg.eigh(0.5 * (found.stiffness + found.stiffness.T))
    down = found.right @ shapes[:, stiffness < -LEVEL * float(np.max(np.abs(stiffness), initial=0.0))]
    step = system.tree.scale * (down @ (1.0 / np.arange(1, down.shape[1] + 1)))
    return advanced(system, q, NUDGE * step / max(float(np.linalg.norm(step)), 1e-300) / system.tree.scale)


def slide(system: Model, loads: Loads, q: Floats) -> tuple[Floats, Floats]:
    """Slide from q downhill to an equilibrium under the full loads: (q, multipliers).

    Newton's step, with every eigenvalue of the tangent taken as positive, goes towards lower energy from everywhere, also
    from a pendulum held level, which has no stiffness at all. Steps that turn back are shortened. Loops are kept closed:
    steps go along what they leave free, with the multipliers that balance the rest best.
    """
    n, scale, zero = system.size, system.tree.scale, np.zeros(system.size)
    lam: Floats = np.zeros(system.rows)
    if not is_whole(system, SLID):  # a motion that goes downhill needs no eigenvalues
        return come_to_rest(system, loads, q, lam)[:2]
    free = np.setdiff1d(np.arange(n), loads.driven)
    longest, before = LONGEST_SLIDE, zero
    q = settle(system, loads, q) if system.rows else q
    for _ in range(SLIDES):
        force, matrix, gradient = _slope(system, loads, q, 0.0 * lam)
        if not max(np.max(np.abs(force), initial=0.0), np.max(np.abs(matrix), initial=0.0)) < ABSURD:
            break
        left, basis = force[free], np.eye(len(free))
        if len(gradient):
            push = at_rest(system, loads, q).flat[:n, n:] / scale[:, None]
            lam = np.asarray(np.linalg.lstsq(push[free], -left, rcond=RANK)[0], dtype=np.float64)
            force, matrix, gradient = _slope(system, loads, q, lam)
            left, basis = force[free], free_basis(gradient[:, free])
        matrix = basis.T @ matrix[np.ix_(free, free)] @ basis
        stiffness, shapes = np.linalg.eigh(0.5 * (matrix + matrix.T))
        down = basis @ shapes
        slope = down.T @ left
        floor = 1e-9 * np.max(np.abs(stiffness), initial=0.0) + 1e-3 * np.linalg.norm(slope) + 1e-300
        step = zero.copy()
        step[free] = -down @ (slope / np.maximum(np.abs(stiffness), floor))
        size = float(np.linalg.norm(step))
        longest = 0.5 * longest if step @ before < 0.0 else min(1.5 * longest, LONGEST_SLIDE)
        before = step
        q = advanced(system, q, min(1.0, longest / max(size, 1e-300)) * step / scale)
        if len(gradient):
            q = settle(system, loads, q)
        if size < 1e-4:
            break
    return q, lam


def balances(system: Model, loads: Loads, q: Floats, lam: Floats) -> bool:
    """Whether forces are balanced, in units of the loads, loops closed, and rods not bent further than intervals can be."""
    return unbalanced(system, loads, q, lam)[0] <= BALANCED and not contradiction(system, loads, q, lam)


def neutral(system: Model, loads: Loads, q: Floats, tolerance: float) -> tuple[Floats, Floats, str]:
    """(q, multipliers, coordinates that nothing holds) of an equilibrium of a robot that may move without resistance.

    The last is empty if none was found.
    """
    q, lam = relaxed(system, loads, q)
    q, lam = relaxed(system, loads, q, lam, exact=True, small=tolerance)
    balanced = balances(system, loads, q, lam)
    return q, lam, loose_at(system, loads, q, lam) if balanced else ""


def level(system: Model, loads: Loads, q: Floats, lam: Floats) -> str:
    """Coordinates along which a balanced robot goes on to other equilibria, such as a turn about the vertical; maybe none.

    One is looked for: a direction without stiffness may also be one in which coordinates move nothing.
    """
    scale = system.tree.scale
    if not is_whole(system):
        along = stiffness_at(system, loads, q, lam).lowest(FLAT)[1]
    else:
        found = linear(system, loads, q, lam)
        if found is None:
            return ""
        along = found.right @ np.linalg.svd(found.stiffness)[2][-1]
    along /= np.linalg.norm(along * scale)
    other = move(system.tree, q, NUDGE * along)
    other, multipliers = relaxed(system, loads, settle(system, loads, other) if system.rows else other, lam, exact=True)
    nodes = np.flatnonzero(system.tree.mass > 0.0)
    change = np.abs(np.diff(motion_of(system, nodes, np.stack([q, other])), axis=0))
    apart = max(float(np.max(change[..., :9], initial=0.0)), float(np.max(change[..., S_X : S_X + 3])) / system.length)
    if apart < APART or not balances(system, loads, other, multipliers):
        return ""
    return names_of(system, np.abs(along * scale))


def relaxed(
    system: Model, loads: Loads, q: Floats, lam: Floats | None = None, *, exact: bool = False, small: float = 1e-4
) -> tuple[Floats, Floats]:
    """Slide from q towards an equilibrium under the full loads.

    With the elastic stiffness alone, which is slow and hard to upset; or with the tangent (exact), by the shortest of all
    steps that balance.
    """
    n, scale = system.size, system.tree.scale
    lam = np.zeros(system.rows) if lam is None else lam
    if not is_whole(system):
        return _large_relaxed(system, loads, q, lam, exact, small)
    stiffness = system.elastic_stiffness() / np.outer(scale, scale)
    stiffness += 1e-3 * (float(np.max(stiffness)) or 1.0) * np.eye(n)
    free = np.concatenate([np.setdiff1d(np.arange(n), loads.driven), n + np.arange(system.rows)])
    for _ in range(SLIDES):
        here = at_rest(system, loads, q, lam)
        out, matrix = here.values, here.flat
        matrix[:n, :n] = matrix[:n, :n] / np.outer(scale, scale) if exact else stiffness
        matrix[:n, n:] /= scale[:, None]
        matrix[n:, :n] /= scale
        out[:n] /= scale
        matrix, step = matrix[np.ix_(free, free)], np.zeros(len(out))
        if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(out[free]))):
            break  # it slid too far
        step[free] = -np.linalg.lstsq(matrix, out[free], rcond=1e-9 if exact else 1e-12)[0]
        size = float(np.linalg.norm(step[:n]))
        q = advanced(system, q, min(1.0, 0.3 / max(size, 1e-300)) * step[:n] / scale)
        lam = lam + step[n:]
        if size < small:
            break
    return q, lam


def _large_relaxed(
    system: Model, loads: Loads, q: Floats, lam: Floats, exact: bool, small: float
) -> tuple[Floats, Floats]:
    """`relaxed` of a large robot: what nothing resists gets a little stiffness."""
    n, scale = system.size, system.tree.scale
    firm = float(np.max(system.elastic.diagonal() / scale**2, initial=0.0)) or 1.0
    elastic, soft = system.elastic + diags_array(1e-3 * firm * scale**2), np.full(system.rows, SOFT / firm)
    for _ in range(SLIDES):
        here = at_rest(system, loads, q, lam)
        operator = here.operator()
        assert isinstance(operator, BlockOperator)
        operator = operator.shifted(1e-9 * firm * scale**2, soft) if exact else operator.replaced(elastic, soft)
        right = -here.values
        right[loads.driven] = 0.0
        try:
            step = operator.solve(right)
        except np.linalg.LinAlgError:
            break
        size = float(np.linalg.norm(step[:n] * scale))
        if not np.isfinite(size):
            break
        q = advanced(system, q, min(1.0, 0.3 / max(size, 1e-300)) * step[:n])
        lam = lam + step[n:]
        if size < small:
            break
    return q, lam
