"""Whether a robot stays at an equilibrium: by the stiffness along what is free, or by its small motions."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig
from scipy.linalg.lapack import dgeev, dsyev, dtrtri

from anguilla.compiler.jit import kernel
from anguilla.interact.kernels.table import DT, GRAVITY, KIND, LENGTH, TWIST, WRENCH, Loads
from anguilla.linear.choice import DENSE
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import ACCELERATION, RATE, Evaluation, at_rest
from anguilla.model.model import Model
from anguilla.solve.newton.gaps import RANK
from anguilla.solve.newton.linear import factorise, solve_factorised
from anguilla.solve.newton.spectrum import Stiffness, stiffness_at

__all__ = [
    "ABSURD", "FALLS", "FLAT", "FLUTTERS", "LEVEL", "MAY_FLUTTER", "bare", "free_basis", "is_whole", "last_balanced",
    "linear", "restlessness", "size_of_loads",
]  # fmt: skip

ABSURD = 1e100  # forces and stiffnesses that nothing can be done with
SYMMETRIC = 1e-8  # relative: loads with a potential
FLAT = 1e-8  # of a coordinate's own stiffness: what falls off less is level
LEAST = 1e-6  # of the largest stiffness, or of the loads: less is round-off, of which FLAT makes 1e-14
LIGHT = 0.01  # damping ratio that every robot has: what grows more slowly does so only without any damping
SLOW = 1e-5  # growth of a vibration in the time of 1 rad that is round-off, or takes for ever
FASTEST = 1e-5  # period of a vibration, as a part of the longest: shorter ones have no digits
RESOLVED = 1e-12  # of the largest square of a frequency: less has no digits
SHARED = 0.5  # square of the damping that two vibrations share, beside what each has: all of it is shared if it is one
FEW = 40  # vibrations that one of LAPACK's ways finds sooner, than more of them another
WHOLE = 150  # coordinates and constraints up to which whole matrices are sooner there than the lowest stiffnesses

FALLS = "the robot would leave it by itself"
FLUTTERS = "the robot would flutter, its loads feed a vibration"
MAY_FLUTTER = "the robot would flutter as long as it has no damping"
LEVEL = "the robot may move on without resistance"


class Linear(NamedTuple):
    """Small motions about a state, along what is free."""

    stiffness: Floats  # (f, f), of order one
    right: Floats  # (n, f) changes of the coordinates
    left: Floats  # (n, f) directions in which forces are balanced: `right`, but for tendons with friction
    units: Floats | None = None  # (n,) diagonal of `right`, if nothing is held


def is_whole(system: Model, most: int = WHOLE) -> bool:
    """Whether whole matrices of a robot are looked at: they are there, or sooner there than a few of their eigenvalues."""
    return system.linear == DENSE or system.size + system.rows <= most


def size_of_loads(system: Model, loads: Loads) -> float:
    """What all given loads could do on a lever as long as the robot [N m], without regard to signs."""
    row, length = loads.row, float(system.layout.length)
    at = int(loads.at[WRENCH])
    wrenches = np.abs(row[at : at + 6 * len(loads.wrench)].reshape(-1, 6))
    pulls = np.abs(loads.tension[loads.pairs.span[:, 1]]) if len(loads.pairs.span) else np.zeros(0)
    weight = float(np.sum(system.tree.mass)) * float(np.linalg.norm(row[GRAVITY : GRAVITY + 3]))
    return float(np.sum(wrenches[:, :3]) + length * (np.sum(wrenches[:, 3:]) + np.sum(pulls) + weight))


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
        units = _units(matrix, scale, size_of_loads(system, loads) if own_units else -1.0)
        return None if units is None else Linear(units[1], *2 * (np.diag(units[0]),), units[0])
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
    units = _units(np.ascontiguousarray(K), scale, size_of_loads(system, loads) if own_units else -1.0)
    if units is None:
        return None
    root = units[0]
    free = np.setdiff1d(np.arange(n), loads.driven) if len(loads.driven) else np.arange(n)
    right = np.diag(root)[:, free]
    left = right
    if len(rows):
        left = right = np.diag(root)[:, free] @ free_basis(rows[:, free] * root[free])
        rubbing = np.any(loads.constraints.table[hard, KIND] == LENGTH) and np.any(loads.cables.friction > 0.0)
        if rubbing:
            left = np.diag(root)[:, free] @ free_basis(columns[:, free] * root[free])
    return Linear(left.T @ K @ right, right, left)


def _units(K: Floats, scale: Floats, loads: float) -> tuple[Floats, Floats] | None:
    """Units (n,) of the coordinates in which their stiffness K (n, n) is of order one, and it; None if it is absurd.

    What is round-off beside the size of all loads [N m], or beside other stiffnesses, is not. With a negative size units are
    those of angles and relative displacements.
    """
    root, sized = np.empty(len(K)), np.empty_like(K)
    return (root, sized) if _of_order_one(K, scale, loads, root, sized) else None


@kernel
def _of_order_one(K, scale, loads, root, sized):
    """`_units`, into root (n,) and sized (n, n); False if K is absurd."""
    n, largest = len(K), max(loads, 0.0)
    for i in range(n):
        for j in range(n):
            size = abs(K[i, j]) / (scale[i] * scale[j])
            if not size < ABSURD:
                return False
            largest = max(largest, size)
    for i in range(n):
        root[i] = 1.0 / scale[i]
        if loads >= 0.0 and largest > 0.0:
            root[i] /= math.sqrt(max(abs(K[i, i]) / scale[i] ** 2, LEAST * largest))
    for i in range(n):
        for j in range(n):
            sized[i, j] = K[i, j] * root[i] * root[j]
    return True


@kernel
def _slope(steep, flat, rate, units, out):
    """(steep - flat) / rate of the first coordinates in their units (n,), into out (n, n)."""
    for i in range(len(units)):
        for j in range(len(units)):
            out[i, j] = (steep[i, j] - flat[i, j]) / rate * (units[i] * units[j])


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


def last_balanced(system: Model, loads: Loads, q: Floats, lam: Floats, limit: float = math.inf) -> Evaluation | None:
    """The state that was found in balance last (`balanced`), up to a limit, if it is this one; else None.

    With friction along lines it depends on the tensions along them too, which are not compared.
    """
    within, here = system.desk().kept.get("balanced") or (math.inf, None)
    if here is None or here.model.tree is not system.tree or within > limit or len(loads.cables.path):
        return None
    return here if here.is_at(loads, q, lam) else None


def restlessness(system: Model, loads: Loads, q: Floats, lam: Floats) -> str:
    """Why a robot would not stay at an equilibrium: FALLS, FLUTTERS, MAY_FLUTTER; LEVEL if it might not; or nothing.

    Under loads with a potential its second variation tells, unless something drives what moves, as a current does. Otherwise
    the linearised motion does: what grows by more than light damping takes, or by less if there is no damping.
    """
    if not is_whole(system):
        return _large_restlessness(system, loads, q, lam)
    here = last_balanced(system, loads, q, lam) or at_rest(system, loads, q, lam)
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
    A, same, known = found.stiffness, found.left is found.right, None
    if found.units is not None:
        known = here.model.once(_resistance)
    if known is not None and found.units is not None:
        C = damping = known * found.units[:, None] * found.units
        takes = even_so = True
    else:
        C, damping = _damping(found, here), np.empty_like(A)
        most, odd = _evened(C, damping)
        takes, even_so = _is_definite(damping / (most or 1.0)) is not None, odd <= SYMMETRIC * most
    calm = same and factor is not None and takes
    if calm and potential:
        return ""
    M = _mass(found, here)
    if calm and firm and factor is not None and even_so and _decays(factor, A - even, damping, M):
        return ""
    return _growth(A, C, M, factor is not None and same)


def _damping(found: Linear, here: Evaluation) -> Floats:
    """Damping (f, f) of small motions."""
    if found.units is None:
        return found.left.T @ here.C @ found.right
    C = np.empty_like(found.stiffness)
    _slope(here.bordered(RATE), here.flat, RATE, found.units, C)
    return C


def bare(model: Model) -> bool:
    """Whether nothing but given forces acts on rods, bodies and joints: no springs, lines, water, contact or constraints."""
    loads = model.blank
    others = loads.frames.table, loads.pairs.table, loads.streams.table, loads.constraints.table, loads.cables.path
    return not (any(len(table) for table in others) or len(loads.touches.table) or model.user)


def _resistance(model: Model) -> Floats | None:
    """Damping (n, n) of a robot that materials and joints alone resist: the same at rest in all shapes, and takes energy.

    Else None.
    """
    if not model.once(bare):
        return None
    C = at_rest(model, model.blank, np.zeros(model.size)).C.copy()
    sized = C / np.outer(model.tree.scale, model.tree.scale)
    even = np.empty_like(sized)
    most, odd = _evened(sized, even)
    return C if odd <= SYMMETRIC * most and _is_definite(even / (most or 1.0)) is not None else None


def _mass(found: Linear, here: Evaluation) -> Floats:
    """Mass (f, f) of small motions."""
    if found.units is None:
        return found.left.T @ here.M @ found.right
    M = np.empty_like(found.stiffness)
    _slope(here.bordered(0.0, ACCELERATION), here.flat, ACCELERATION, found.units, M)
    return M


def _decays(factor: Floats, skew: Floats, C: Floats, M: Floats) -> bool:
    """Whether all decays in the motion M x'' + C x' + (K + skew) x = 0, K = factor factor^T, C and M symmetric.

    In the vibrations of M and K, forces without potential feed each by no more than half of their size a radian. Those that
    are damped by twice as much decay; the motion of the others tells. If one grows, all have to be looked at.
    """
    root = dtrtri(factor, lower=1)[0]
    mass = root @ M @ root.T
    squares, shapes = dsyev(mass)[:2] if len(mass) < FEW else np.linalg.eigh(mass)  # of 1 / their rates, where K is 1
    shapes = root.T @ shapes
    skew, C, chosen = shapes.T @ skew @ shapes, shapes.T @ C @ shapes, np.empty(len(C), dtype=np.int64)
    count = _watched(squares, skew, C, chosen)
    if not count:
        return True
    A, whole = np.empty((count, count)), np.empty((2 * count, 2 * count))
    _inverse(squares, skew, C, chosen, A, np.empty(count, dtype=np.int64), np.empty(count), whole)
    real, imaginary = dgeev(whole, compute_vl=0, compute_vr=0)[:2]  # of 1 / the rates
    return not _grows(real, imaginary)


@kernel
def _grows(real, imaginary):
    """Whether one of the times 1 / rate grows; the fastest have no digits."""
    for k in range(len(real)):
        size = math.hypot(real[k], imaginary[k])
        if size > FASTEST and not real[k] <= 0.1 * SLOW * size:
            return True
    return False


@kernel
def _watched(squares, skew, C, chosen):
    """Number of vibrations that are damped by less than twice what feeds them; their numbers into chosen (f,).

    squares (f,) of 1 / their rates, rising, skew and C (f, f) where K is 1. Faster ones than FASTEST have no digits: their
    squares are raised. All are chosen if what damps one of the others damps one of these too, as the brake of a joint does:
    if that holds the one, it does not brake the other.
    """
    count, f = 0, len(squares)
    for i in range(f):
        squares[i], feed = max(squares[i], FASTEST**2 * squares[f - 1]), 0.0
        for j in range(f):
            feed += skew[i, j] ** 2
        if math.sqrt(feed) > max(2.0 * SLOW, 0.5 * C[i, i] / math.sqrt(squares[i])):
            chosen[count] = i
            count += 1
    for k in range(count):
        i, next_one = chosen[k], 0
        for j in range(f):
            if next_one < count and chosen[next_one] == j:
                next_one += 1
            elif C[i, j] ** 2 > SHARED * C[i, i] * C[j, j]:
                for l in range(f):
                    chosen[l] = l
                return f
    return count


@kernel
def _inverse(squares, skew, C, chosen, A, pivot, x, whole):
    """Inverse (2 k, 2 k) of the matrix of the motion of k chosen vibrations, in units of its longest time, into whole."""
    k, unit = len(x), 0.0
    whole[:] = 0.0
    for i in range(k):
        for j in range(k):
            A[i, j] = skew[chosen[i], chosen[j]] + (1.0 if i == j else 0.0)
    factorise(A, pivot)  # not singular: 1 and what is skew
    for j in range(k):
        for at in range(2):
            x[:] = 0.0
            if at == 0:
                x[j] = squares[chosen[j]]
            else:
                for i in range(k):
                    x[i] = C[chosen[i], chosen[j]]
            solve_factorised(A, pivot, x)
            for i in range(k):
                whole[k + i, at * k + j] = -x[i]
                unit += x[i] ** 2 if at == 0 else 0.0
        whole[j, k + j] = 1.0
    unit = math.sqrt(math.sqrt(unit))
    for i in range(k, 2 * k):
        for j in range(2 * k):
            whole[i, j] /= unit * unit if j < k else unit


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
    if np.any(rates.real > SLOW * size):
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
