"""Down the hill of potential energy: whether a robot stays at an equilibrium, and the way to one where it does."""

from __future__ import annotations

import numpy as np

from anguilla.assemble.reactions import evaluate
from anguilla.assemble.system import System
from anguilla.assemble.user import move
from anguilla.loads.table import KIND, ROTATION, TRANSLATION, Loads
from anguilla.mechanics.tree import Floats
from anguilla.solve.closing import RANK, loose, settle

__all__ = ["balances", "neutral", "nudged", "relaxed", "rests", "slide"]

ABSURD = 1e100  # forces and stiffnesses that nothing can be done with
LONGEST_SLIDE = 0.3  # of a step downhill, as an angle [rad]
SLIDES = 300
SYMMETRIC = 1e-8  # relative: loads with a potential
FLAT = 1e-8  # of the largest stiffness: what falls off less is level
NUDGE = 0.1  # [rad]
BALANCED = 1e-8  # forces left, as the angle or relative displacement they would cause


def _slope(system: System, loads: Loads, q: Floats, lam: Floats) -> tuple[Floats, Floats, Floats]:
    """Forces (n,), stiffness (n, n) and gradient of the constraints (m, n) in angles and relative displacements."""
    n, scale, zero = system.size, system.tree.scale, np.zeros(system.size)
    force = evaluate(system, loads, q, zero, zero, lam)[:n] / scale
    matrix = system._bordered(loads, lam, 0.0, 0.0)
    return force, matrix[:n, :n] / np.outer(scale, scale), matrix[n:, :n] / scale


def _along(gradient: Floats) -> Floats:
    """Basis (f, k), orthonormal, of what constraints with a gradient (m, f) leave free."""
    _, s, vt = np.linalg.svd(gradient, full_matrices=True)
    return vt[np.sum(s > RANK * max(float(np.max(s, initial=0.0)), 1e-300)) :].T


def _closures_only(loads: Loads) -> bool:
    kinds = loads.constraints.table[:, KIND]
    return bool(np.all((kinds == TRANSLATION) | (kinds == ROTATION)))


def rests(system: System, loads: Loads, q: Floats, lam: Floats) -> bool:
    """Whether no direction leads down from an equilibrium; True also where no energy tells.

    That is so under loads without a potential, and with friction, tendons of given length or twist constraints.
    """
    if not _closures_only(loads) or np.any(loads.cables.friction != 0.0):
        return True
    matrix, largest = _second_variation(system, loads, q, lam)[:2]
    if not np.max(np.abs(matrix - matrix.T), initial=0.0) <= SYMMETRIC * largest < ABSURD:
        return True
    try:
        np.linalg.cholesky(matrix + FLAT * largest * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return largest == 0.0
    return True


def _second_variation(system: System, loads: Loads, q: Floats, lam: Floats) -> tuple[Floats, float, Floats]:
    """Stiffness (k, k) along what is free, the largest before loops are closed, and the basis (n, k)."""
    _, matrix, gradient = _slope(system, loads, q, lam)
    basis = np.eye(system.size)
    if len(loads.driven):
        free = np.setdiff1d(np.arange(system.size), loads.driven)
        matrix, gradient, basis = matrix[np.ix_(free, free)], gradient[:, free], basis[:, free]
    largest = float(np.max(np.abs(matrix), initial=0.0))
    if len(gradient):
        along = _along(gradient)
        matrix, basis = along.T @ matrix @ along, basis @ along
    return matrix, largest, basis


def nudged(system: System, loads: Loads, q: Floats, lam: Floats) -> Floats:
    """An unstable equilibrium, moved a little in all directions that lead down, by unequal amounts: no symmetry is left."""
    matrix, largest, basis = _second_variation(system, loads, q, lam)
    stiffness, shapes = np.linalg.eigh(0.5 * (matrix + matrix.T))
    down = basis @ shapes[:, stiffness < -FLAT * largest]
    step = down @ (1.0 / np.arange(1, down.shape[1] + 1))
    return move(system.tree, q, NUDGE * step / max(float(np.linalg.norm(step)), 1e-300) / system.tree.scale)


def slide(system: System, loads: Loads, q: Floats) -> tuple[Floats, Floats]:
    """Slide from q downhill to an equilibrium under the full loads: (q, multipliers).

    Newton's step, with every eigenvalue of the tangent taken as positive, goes towards lower energy from everywhere, also
    from a pendulum held level, which has no stiffness at all. Steps that turn back are shortened. Loops are kept closed:
    steps go along what they leave free, with the multipliers that balance the rest best.
    """
    n, scale, zero = system.size, system.tree.scale, np.zeros(system.size)
    free = np.setdiff1d(np.arange(n), loads.driven)
    lam: Floats = np.zeros(system.rows)
    longest, before = LONGEST_SLIDE, zero
    q = settle(system, loads, q) if system.rows else q
    for _ in range(SLIDES):
        force, matrix, gradient = _slope(system, loads, q, 0.0 * lam)
        if not max(np.max(np.abs(force), initial=0.0), np.max(np.abs(matrix), initial=0.0)) < ABSURD:
            break
        left, basis = force[free], np.eye(len(free))
        if len(gradient):
            push = system._bordered(loads, lam, 0.0, 0.0)[:n, n:] / scale[:, None]
            lam = np.asarray(np.linalg.lstsq(push[free], -left, rcond=RANK)[0], dtype=np.float64)
            force, matrix, gradient = _slope(system, loads, q, lam)
            left, basis = force[free], _along(gradient[:, free])
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
        q = move(system.tree, q, min(1.0, longest / max(size, 1e-300)) * step / scale)
        if len(gradient):
            q = settle(system, loads, q)
        if size < 1e-4:
            break
    return q, lam


def balances(system: System, loads: Loads, q: Floats, lam: Floats) -> bool:
    """Whether forces are balanced and loops closed."""
    scale, zero = system.tree.scale, np.zeros(system.size)
    left = evaluate(system, loads, q, zero, zero, lam)
    left[: system.size] /= scale
    left[loads.driven] = 0.0
    matrix = system._bordered(loads, lam, 0.0, 0.0)
    firm = float(np.max(np.abs(np.diag(matrix)[: system.size] / scale**2), initial=0.0)) or 1.0
    left[: system.size] /= firm
    return float(np.linalg.norm(left)) < BALANCED


def neutral(system: System, loads: Loads, q: Floats, tolerance: float) -> tuple[Floats, Floats, str]:
    """(q, multipliers, coordinates that nothing holds) of an equilibrium of a robot that may move without resistance.

    The last is empty if none was found.
    """
    q, lam = relaxed(system, loads, q)
    q, lam = relaxed(system, loads, q, lam, exact=True, small=tolerance)
    balanced = balances(system, loads, q, lam)
    return q, lam, loose(system, system._bordered(loads, lam, 0.0, 0.0)) if balanced else ""


def relaxed(
    system: System, loads: Loads, q: Floats, lam: Floats | None = None, *, exact: bool = False, small: float = 1e-4
) -> tuple[Floats, Floats]:
    """Slide from q towards an equilibrium under the full loads.

    With the elastic stiffness alone, which is slow and hard to upset; or with the tangent (exact), by the shortest of all
    steps that balance.
    """
    n, scale, zero = system.size, system.tree.scale, np.zeros(system.size)
    lam = np.zeros(system.rows) if lam is None else lam
    stiffness = system.elastic_stiffness() / np.outer(scale, scale)
    stiffness += 1e-3 * (float(np.max(stiffness)) or 1.0) * np.eye(n)
    free = np.concatenate([np.setdiff1d(np.arange(n), loads.driven), n + np.arange(system.rows)])
    for _ in range(SLIDES):
        out = evaluate(system, loads, q, zero, zero, lam)
        matrix = system._bordered(loads, lam, 0.0, 0.0)
        matrix[:n, :n] = matrix[:n, :n] / np.outer(scale, scale) if exact else stiffness
        matrix[:n, n:] /= scale[:, None]
        matrix[n:, :n] /= scale
        out[:n] /= scale
        step = np.zeros(len(out))
        step[free] = -np.linalg.lstsq(matrix[np.ix_(free, free)], out[free], rcond=1e-9 if exact else 1e-12)[0]
        size = float(np.linalg.norm(step[:n]))
        q = move(system.tree, q, min(1.0, 0.3 / max(size, 1e-300)) * step[:n] / scale)
        lam = lam + step[n:]
        if size < small:
            break
    return q, lam
