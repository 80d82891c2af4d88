"""What an answer of statics is worth: whether its forces balance, in units of the loads, and whether it is stable."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig

from anguilla.compiler.jit import kernel
from anguilla.interact.kernels.rubbing import set_friction
from anguilla.interact.kernels.table import DT, GRAVITY, KIND, LENGTH, POSE, TWIST, WRENCH, Loads
from anguilla.linear.choice import DENSE
from anguilla.mechanics.motion import too_coarse
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import Evaluation, at_rest
from anguilla.model.model import Model
from anguilla.results.reactions import evaluate
from anguilla.solve.newton.closing import relative_poses, units
from anguilla.solve.newton.gaps import RANK
from anguilla.solve.newton.rules import EXPLANATION, TOO_COARSE
from anguilla.solve.newton.spectrum import Stiffness, diagonal, stiffness_at

__all__ = [
    "FALLS",
    "FLUTTERS",
    "LEVEL",
    "MAY_FLUTTER",
    "adrift",
    "balanced",
    "contradiction",
    "free_basis",
    "linear",
    "restlessness",
    "unbalanced",
]

ABSURD = 1e100  # forces and stiffnesses that nothing can be done with
SYMMETRIC = 1e-8  # relative: loads with a potential
FLAT = 1e-8  # of a coordinate's own stiffness: what falls off less is level
LEAST = 1e-6  # of the largest stiffness: less is round-off, of which FLAT makes 1e-14
LIGHT = 0.01  # damping ratio that every robot has: what grows more slowly does so only without any damping
SLOW = 1e-5  # growth of a vibration in the time of 1 rad that is round-off, or takes for ever
DIGITS = 1e-13  # of a stiffness, times a turn of 1 rad: forces that are round-off
LOST = 1e-12  # of all loads, times the size of the robot: the same for loads that cancel each other
KEPT = 1e-7  # [m, rad] by which constraints may miss; of robots below 1 m, a part of their length
FASTEST = 1e-5  # period of a vibration, as a part of the longest: shorter ones have no digits
RESOLVED = 1e-12  # of the largest square of a frequency: less has no digits

FALLS = "the robot would leave it by itself"
FLUTTERS = "the robot would flutter, its loads feed a vibration"
MAY_FLUTTER = "the robot would flutter as long as it has no damping"
LEVEL = "the robot may move on without resistance"


# Balance --------------------------------------------------------------------------------------------------------------


def _size_of_loads(system: Model, loads: Loads) -> float:
    """What all given loads could do on a lever as long as the robot [N m], without regard to signs."""
    row, length = loads.row, float(system.layout.length)
    at = int(loads.at[WRENCH])
    wrenches = np.abs(row[at : at + 6 * len(loads.wrench)].reshape(-1, 6))
    pulls = np.abs(loads.tension[loads.pairs.span[:, 1]]) if len(loads.pairs.span) else np.zeros(0)
    weight = float(np.sum(system.tree.mass)) * float(np.linalg.norm(row[GRAVITY : GRAVITY + 3]))
    return float(np.sum(wrenches[:, :3]) + length * (np.sum(wrenches[:, 3:]) + np.sum(pulls) + weight))


def _left(system: Model, loads: Loads, q: Floats, lam: Floats) -> tuple[Floats, Floats]:
    """Forces (n,) that are left on each coordinate, beyond round-off, and the largest of the loads on it (n,), both [N m].

    The loads of a coordinate are the elastic forces (with contacts and springs), the weight, other given forces, and those
    of constraints, as generalised forces, each without regard to the others.
    """
    n, zero, scale = system.size, np.zeros(system.size), system.tree.scale
    row, forces = loads.row.copy(), system.force_places
    terms = []
    for gravity in (False, True):
        loads.row[forces] = 0.0
        if gravity:
            loads.row[GRAVITY : GRAVITY + 3] = row[GRAVITY : GRAVITY + 3]
        terms.append(evaluate(system, loads, q, zero, zero, 0.0 * lam)[:n])
    loads.row[:] = row
    given = evaluate(system, loads, q, zero, zero, 0.0 * lam)[:n]
    here = at_rest(system, loads, q, lam)
    left = here.residual
    elastic, weighed = terms
    present = np.max(np.abs([elastic, weighed - elastic, given - weighed, left - given]), axis=0) / scale
    firm = np.abs(diagonal(here)) / scale**2
    for layout in system.layout.parts:  # stiffness of its parts makes the round-off of a whole rod
        own = slice(layout.joint.start, layout.coordinates.stop)
        firm[own] = np.max(firm[own], initial=0.0)
    lost = LOST * _size_of_loads(system, loads)
    beyond = np.abs(left / scale) - DIGITS * firm - lost
    beyond = np.where(np.isfinite(beyond), np.maximum(beyond, 0.0), np.inf)
    beyond[loads.driven] = 0.0
    return beyond, present


@kernel
def _turned_too_far(ws):
    return too_coarse(ws)


def balanced(system: Model, loads: Loads, q: Floats, lam: Floats, limit: float) -> bool:
    """Whether little is left on every part beside its elastic forces: what `unbalanced` would find, at a third of the cost.

    If not, or if intervals turned too far, that has to look, and `contradiction`.
    """
    n, zero, scale, row = system.size, np.zeros(system.size), system.tree.scale, loads.row.copy()
    kept, key = system.desk().kept, (limit, row.tobytes(), q.tobytes(), lam.tobytes())
    rubs = len(loads.cables.path)  # then it depends on the tensions along the lines too
    if not rubs and kept.get("balanced") == key:
        return True
    left = np.abs(evaluate(system, loads, q, zero, zero, lam)[:n]) / scale
    if _turned_too_far(system.workspace):
        return False
    left[loads.driven] = 0.0
    loads.row[system.force_places] = 0.0
    elastic = np.abs(evaluate(system, loads, q, zero, zero, 0.0 * lam)[:n]) / scale
    loads.row[:] = row
    owns = (slice(layout.joint.start, layout.coordinates.stop) for layout in system.layout.parts)
    fits = all(left[own].max(initial=0.0) <= limit * elastic[own].max(initial=0.0) for own in owns)
    kept["balanced"] = key if fits else None
    return fits


def unbalanced(system: Model, loads: Loads, q: Floats, lam: Floats) -> tuple[float, str]:
    """(largest share of its loads that is left on a part of the robot, name of that part); gaps of loops are not judged."""
    left, present = _left(system, loads, q, lam)
    worst, name = 0.0, ""
    for layout in system.layout.parts:
        own = slice(layout.joint.start, layout.coordinates.stop)
        size = float(np.max(left[own], initial=0.0))
        ratio = size / max(float(np.max(present[own], initial=0.0)), 1e-300) if size else 0.0
        if not ratio <= worst:
            worst, name = ratio, layout.part.name
    return worst, name


def adrift(system: Model, loads: Loads, q: Floats, lam: Floats) -> str:
    """Names of parts that their loads still push along a joint without any stiffness; maybe none."""
    left, present = _left(system, loads, q, lam)
    firm = np.abs(diagonal(at_rest(system, loads, q, lam))) / system.tree.scale**2
    pushed = (left > 0.5 * present) & (left > 1e3 * firm)
    return " and ".join(repr(part.part.name) for part in system.layout.parts if np.any(pushed[part.joint]))


def contradiction(system: Model, loads: Loads, q: Floats, lam: Floats) -> str:
    """What contradicts the model, as a sentence; maybe nothing.

    Intervals turned too far; tensions of tendons that rub; gaps; and closures turned over: the right angles that hold a
    joint do not mind half a turn.
    """
    zero = np.zeros(system.size)
    poses = relative_poses(system, loads, q) if len(loads.constraints.closure) else []
    gap = np.abs(evaluate(system, loads, q, zero, zero, lam)[system.size :])  # last: a tangent may follow
    if _turned_too_far(system.workspace):
        return EXPLANATION[TOO_COARSE]
    if np.any(loads.cables.friction > 0.0):
        factor = loads.cables.factor.copy()
        set_friction(system.tree, system.workspace, loads.cables, loads.pairs)
        change = float(np.max(np.abs(loads.cables.factor - factor), initial=0.0))
        loads.cables.factor[:] = factor
        if not change <= KEPT:
            return f"the tensions along tendons with friction do not settle: they still change by {change:.2g}"
    if not system.rows:
        return ""
    gap[loads.constraints.table[:, KIND] == TWIST] = 0.0
    missed = gap / units(system, loads.constraints.table[:, KIND])
    if not np.max(missed, initial=0.0) <= KEPT:
        worst = int(np.argmax(missed))
        return f"{system.tables.row_names[worst]} misses by {gap[worst]:.2g} (m or rad)"
    closures = list(system.robot.closures.values())
    for c, relative in enumerate(poses):
        angles = sum(row[0] == "rotation" for row in closures[c].rows)
        at = int(loads.at[POSE]) + 12 * c
        turn = loads.row[at : at + 9].reshape(3, 3).T @ relative[:3, :3]
        if (angles == 3 and np.trace(turn) < 0.0) or (angles == 2 and turn[0, 0] < 0.0):
            return f"{closures[c].name} is turned over: its joint was closed the wrong way round"
    return ""


# Stability ------------------------------------------------------------------------------------------------------------


class Linear(NamedTuple):
    """Small motions about a state, along what is free."""

    stiffness: Floats  # (f, f), of order one
    right: Floats  # (n, f) changes of the coordinates
    left: Floats  # (n, f) directions in which forces are balanced: `right`, but for tendons with friction


def free_basis(gradient: Floats) -> Floats:
    """Basis (f, k), orthonormal, of what constraints with a gradient (m, f) leave free."""
    _, s, vt = np.linalg.svd(gradient, full_matrices=True)
    return vt[np.sum(s > RANK * max(float(np.max(s, initial=0.0)), 1e-300)) :].T


def linear(
    system: Model, loads: Loads, q: Floats, lam: Floats, *, own_units: bool = True, here: Evaluation | None = None
) -> Linear | None:
    """The stiffness along what is free: taut tendons of given length and twist constraints hold, slack ones do not.

    Each coordinate in units of its own stiffness, so that a soft part is not level beside a stiff one; or as an angle or
    relative displacement. None if it is absurd. `here` is the state, if it was evaluated before.
    """
    n, scale, matrix = system.size, system.tree.scale, (here or at_rest(system, loads, q, lam)).flat
    if not system.rows and not len(loads.driven):
        root = _units(matrix, scale, own_units)
        return None if root is None else Linear(matrix * np.multiply.outer(root, root), *2 * (np.diag(root),))
    K, column, J, diagonal = matrix[:n, :n], matrix[:n, n:], matrix[n:, :n], np.diag(matrix)[n:]
    soft, hard = (diagonal != 0.0) & np.any(J != 0.0, axis=1), diagonal == 0.0
    if np.any(soft):
        K = K - (column[:, soft] / diagonal[soft]) @ J[soft]
    rows, columns = J[hard], column[:, hard].T
    twist = loads.constraints.table[:, KIND] == TWIST
    if np.any(twist):
        loads.row[DT] = 1.0  # not at rest: twists are held
        rates = at_rest(system, loads, q, lam).by_rate[n:][twist]
        loads.row[DT] = 0.0
        rows, columns = np.concatenate([rows, rates]), np.concatenate([columns, rates])
    root = _units(K, scale, own_units)
    if root is None:
        return None
    free = np.setdiff1d(np.arange(n), loads.driven) if len(loads.driven) else np.arange(n)
    right = np.diag(root)[:, free]
    left = right
    if len(rows):
        left = right = np.diag(root)[:, free] @ free_basis(rows[:, free] * root[free])
        rubbing = np.any(loads.constraints.table[hard, KIND] == LENGTH) and np.any(loads.cables.friction > 0.0)
        if rubbing:
            left = np.diag(root)[:, free] @ free_basis(columns[:, free] * root[free])
    return Linear(left.T @ K @ right, right, left)


def _units(K: Floats, scale: Floats, own_units: bool) -> Floats | None:
    """Units (n,) of the coordinates in which their stiffness K (n, n) is of order one; None if it is absurd."""
    sized = np.abs(K / np.multiply.outer(scale, scale))
    largest = float(sized.max(initial=0.0))
    if not largest < ABSURD:
        return None
    if not largest or not own_units:
        return 1.0 / scale
    return 1.0 / (scale * np.sqrt(np.maximum(sized.diagonal(), LEAST * largest)))


@kernel
def _cholesky(matrix, flat, factor):
    """Factor of a symmetric matrix (f, f) of order one, moved up by `flat` of its size; False if something leads down."""
    n, largest = len(matrix), 1.0
    for i in range(n):
        for j in range(n):
            factor[i, j] = matrix[i, j] if j <= i else 0.0
            largest = max(largest, abs(matrix[i, j]))
    for i in range(n):
        factor[i, i] += flat * largest
        for j in range(i + 1):
            total = factor[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if j < i:
                factor[i, j] = total / factor[j, j]
            elif total > 0.0:
                factor[i, i] = math.sqrt(total)
            else:
                return False
    return True


@kernel
def _evened(matrix, even):
    """Symmetric part of a matrix (f, f); returns the largest number of the matrix, and of what is left of it."""
    largest, odd = 0.0, 0.0
    for i in range(len(matrix)):
        for j in range(len(matrix)):
            even[i, j] = 0.5 * (matrix[i, j] + matrix[j, i])
            largest, odd = max(largest, abs(matrix[i, j])), max(odd, abs(matrix[i, j] - even[i, j]))
    return largest, odd


def _is_definite(matrix: Floats, flat: float = FLAT) -> Floats | None:
    """Cholesky factor of a symmetric matrix of order one, level directions included; None if something leads down.

    With a negative `flat`, None if something is level, too.
    """
    factor = np.empty_like(matrix)
    return factor if _cholesky(matrix, flat, factor) else None


def restlessness(system: Model, loads: Loads, q: Floats, lam: Floats) -> str:
    """Why a robot would not stay at an equilibrium: FALLS, FLUTTERS, MAY_FLUTTER; LEVEL if it might not; or nothing.

    Under loads with a potential its second variation tells, unless something drives what moves, as a current does. Otherwise
    the linearised motion does: what grows by more than light damping takes, or by less if there is no damping.
    """
    if system.linear != DENSE:
        return _large_restlessness(system, loads, q, lam)
    here = at_rest(system, loads, q, lam)
    found = linear(system, loads, q, lam, here=here)
    if found is None or not len(found.stiffness):
        return ""
    even = np.empty_like(found.stiffness)
    largest, odd = _evened(found.stiffness, even)
    potential = found.left is found.right and odd <= SYMMETRIC * max(1.0, largest)
    firm = _is_definite(even, -FLAT)
    factor = _is_definite(even) if firm is None else firm
    if potential and factor is None:
        return FALLS
    why = ""  # if nothing but materials, joints and springs resists what moves: that takes energy
    if not potential or len(loads.frames.table) or system.user:
        why = _unrest(found, even, potential, factor, firm is not None, here)
    return why or (LEVEL if firm is None else "")


def _large_restlessness(system: Model, loads: Loads, q: Floats, lam: Floats) -> str:
    """`restlessness` of a large robot: by the lowest stiffnesses, or the slowest motions."""
    found = stiffness_at(system, loads, q, lam)
    if not found.largest < ABSURD or len(loads.driven) == system.size:
        return ""
    try:
        return _large_unrest(loads, found)
    except np.linalg.LinAlgError:  # nothing holds something
        return LEVEL


def _large_unrest(loads: Loads, found: Stiffness) -> str:
    down = found.down(FLAT)
    rubs = bool(np.any(loads.constraints.table[:, KIND] == LENGTH) and np.any(loads.cables.friction > 0.0))
    potential = not rubs and found.has_potential(SYMMETRIC)
    if potential and down is not None:
        return FALLS
    firm = down is None and found.is_firm(FLAT)
    if potential and not len(loads.frames.table):
        return "" if firm else LEVEL
    rates, damped = found.grows()
    size = np.abs(rates)
    if np.any((rates.real > LIGHT * size) & (np.abs(rates.imag) <= LIGHT * size)):
        return FALLS
    if np.any(rates.real > LIGHT * size):
        return FLUTTERS if damped else MAY_FLUTTER
    if np.any(rates.real > SLOW * size):
        return MAY_FLUTTER
    return "" if firm else LEVEL


def _unrest(found: Linear, even: Floats, potential: bool, factor: Floats | None, firm: bool, here: Evaluation) -> str:
    """Why a robot would not stay, by the motion it would make: `restlessness` without LEVEL.

    Args:
        found: small motions.
        even: symmetric part of their stiffness.
        potential: whether that is all of it.
        factor: its Cholesky factor, if nothing leads down.
        firm: whether nothing is level.
        here: the state.

    """
    A, same = found.stiffness, found.left is found.right
    C, damping = found.left.T @ here.C @ found.right, np.empty_like(A)
    most, odd = _evened(C, damping)
    calm = same and factor is not None and _is_definite(damping / (most or 1.0)) is not None
    if calm and potential:
        return ""
    M = found.left.T @ here.M @ found.right
    if calm and firm and factor is not None and odd <= SYMMETRIC * most and _decays(factor, A - even, damping, M):
        return ""
    return _growth(A, C, M, factor is not None and same)


def _decays(factor: Floats, skew: Floats, C: Floats, M: Floats) -> bool:
    """Whether all decays in the motion M x'' + C x' + (K + skew) x = 0, K = factor factor^T, C and M symmetric.

    In the vibrations of M and K, forces without potential feed each by no more than half of their size a radian. Those that
    are damped by twice as much decay; the motion of the others tells. If one grows, all have to be looked at.
    """
    root = np.linalg.inv(factor)
    squares, shapes = np.linalg.eigh(root @ M @ root.T)  # of 1 / the rates of the vibrations, and these where K is 1
    shapes = root.T @ shapes
    skew, C = shapes.T @ skew @ shapes, shapes.T @ C @ shapes
    squares = np.maximum(squares, FASTEST**2 * squares[-1])  # faster ones have no digits
    watched = np.linalg.norm(skew, axis=1) > np.maximum(2.0 * SLOW, 0.5 * np.diag(C) / np.sqrt(squares))
    if not watched.any():
        return True
    skew, C = skew[watched][:, watched], C[watched][:, watched]
    rates = _rates(np.eye(len(C)) + skew, C, np.diag(squares[watched]))
    return not np.any(rates.real > 0.1 * SLOW * np.abs(rates))


def _growth(A: Floats, C: Floats, M: Floats, definite: bool) -> str:
    """What grows in the motion M x'' + C x' + A x = 0; level directions are taken out of it exactly."""
    s = np.linalg.svd(A, compute_uv=False)
    rest = test = np.eye(len(s))
    if s[-1] <= RANK * s[0]:
        level = np.linalg.svd(A)[2][s <= RANK * s[0]].T
        rest, test = free_basis(level.T), free_basis((M @ level).T)
    A, C, M = (test.T @ matrix @ rest for matrix in (A, C, M))
    squares = eig(A, M, right=False)
    squares = squares[np.isfinite(squares)]
    largest = float(np.max(np.abs(squares), initial=0.0))
    sure = squares[np.abs(squares) > RESOLVED * largest]
    pace = np.sqrt(-sure.astype(complex))
    grows = np.abs(pace.real) > LIGHT * np.abs(pace)
    if np.any(grows & (sure.real < 0.0) & (np.abs(sure.imag) <= LIGHT * np.abs(sure))):
        return FALLS
    rates = _rates(A, C, M) if np.any(C) else np.concatenate([pace, -pace])
    size = np.abs(rates)
    if np.any(rates.real > LIGHT * size):
        return FLUTTERS if np.any(C) else MAY_FLUTTER
    if np.any(rates.real > np.maximum(SLOW * size, LIGHT * np.min(np.abs(pace), initial=np.inf))):
        return MAY_FLUTTER
    if not definite and len(sure) < len(squares):  # those too slow for digits, by their stiffness alone
        values = eig(A, test.T @ rest, right=False)
        if np.any((values.real < -FLAT) & (np.abs(values.imag) <= LIGHT * np.abs(values))):
            return FALLS
    return ""


def _rates(A: Floats, C: Floats, M: Floats) -> NDArray[np.complex128]:
    """Rates x of the motions exp(x t), but the fastest: 1 / x is found, so that slow ones have all digits."""
    f = len(A)
    damping, inertia = np.linalg.solve(A, C), np.linalg.solve(A, M)
    unit = float(np.sqrt(np.linalg.norm(inertia)))
    whole = np.zeros((2 * f, 2 * f))
    whole[:f, f:], whole[f:, :f], whole[f:, f:] = np.eye(f), -inertia / unit**2, -damping / unit
    times = np.linalg.eigvals(whole)
    return np.asarray(1.0 / (unit * times[np.abs(times) > FASTEST]), dtype=np.complex128)
