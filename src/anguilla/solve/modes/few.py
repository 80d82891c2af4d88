"""A few lowest modes of a large robot, without its matrices: Krylov spaces of inverses of its tangent.

With x in what the constraints leave free, (M lambda^2 + C lambda + K) x + J^T (multipliers) = 0, J x = 0. The tangent with
weights alpha = s and beta = s^2, bordered by the constraints, is just this at lambda = s: its inverse (`operator`) turns
eigenvalues next to s into the largest ones, and leaves no direction that a constraint holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs, eigsh

from anguilla.errors import SolverError
from anguilla.interact.kernels.table import DT
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import ACCELERATION, RATE, Evaluation
from anguilla.model.model import Model
from anguilla.model.operator import Operator
from anguilla.results.reactions import grasps
from anguilla.results.states import Equilibrium
from anguilla.solve.modes.local import HELD, grip

__all__ = ["Place", "few_modes"]

NEAR = 1e-9  # part of the pulsations of a random shape, of the first shift
COUPLED = 1e-9  # relative: damping and follower loads below it leave modes as they are
APART = 1e-7  # part of the damping forces of a mode that may not be along its momentum
SAME = 1e-6  # relative: pulsations that differ less are of one kind
ZERO = 1e-7  # part of the shift, below which a pulsation is that of a rigid motion
FAR = 1e3  # times the shift: squares of pulsations that are all beyond it ask for another one
LOW, DIGITS = 0.1, 1e-12  # part of the lowest pulsation that the shift is for damped modes; relative error of those
SLOW = 1e-12  # [1/s] a rate at which dampers are nothing
SEED = 19

Inverse = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Place:
    """A state, as a result of one instant."""

    result: Equilibrium

    @property
    def system(self) -> Model:
        """The compiled robot."""
        return self.result.system


class _Around:
    """K, C, M and inverses about a state; on coordinates, with multipliers inside."""

    def __init__(self, result: Equilibrium, v: Floats, a: Floats) -> None:
        self.system = result.system
        self._loads = loads = self.system.loads(result.t, result.inputs).loads
        self._state = result.q, v, a, result.multipliers
        grip(result)
        self._holds = grasps(loads)
        self.n, self.driven = self.system.size, loads.driven
        self._flat, self._steep = self._operator(), self._operator(RATE)
        self._heavy = self._operator(0.0, ACCELERATION)

    def _operator(self, alpha: float = 0.0, beta: float = 0.0) -> Operator:
        """K + alpha C + beta M with the constraints.

        Bristles that hold bend by DT v and are a part of dR/dv: with DT = 1 / alpha they add their stiffness.
        """
        alpha = max(alpha, SLOW) if self._holds else alpha
        self._loads.row[DT] = 1.0 / alpha if self._holds else HELD
        return Evaluation(self.system, self._loads, *self._state).operator(alpha, beta)

    def _apply(self, operator: Operator, x: Floats) -> Floats:
        whole = np.zeros((operator.size, *x.shape[1:]))
        whole[: self.n] = x
        found = operator.times(whole)[: self.n]
        found[self.driven] = 0.0
        return found

    def K(self, x: Floats) -> Floats:
        """Stiffness times x (n,) or (n, k)."""
        return self._apply(self._flat, x)

    def C(self, x: Floats) -> Floats:
        """Damping times x."""
        return (self._apply(self._steep, x) - self.K(x)) / RATE

    def M(self, x: Floats) -> Floats:
        """Mass times x."""
        return (self._apply(self._heavy, x) - self.K(x)) / ACCELERATION

    def inverse(self, alpha: float, beta: float) -> Inverse:
        """Solution x (n,) of the bordered equations for forces (n,)."""
        operator = self._operator(alpha, beta)

        def solve(b: Floats) -> Floats:
            whole = np.zeros(operator.size)
            whole[: self.n] = b
            whole[self.driven] = 0.0
            found = operator.solve(whole)[: self.n]
            if not np.isfinite(found).all():
                raise SolverError(
                    f"The tangent of {self.system.robot.name!r} is singular.", advice="Look at its masses."
                )
            return found

        return solve


def few_modes(result: Equilibrium, v: Floats, a: Floats, count: int) -> tuple[np.ndarray, Floats, Floats, np.ndarray]:
    """(eigenvalues, frequencies, damping ratios, shapes (n, k)) of the modes of lowest frequency."""
    at = _Around(result, v, a)
    start = np.random.default_rng(SEED).normal(size=at.n) / at.system.tree.scale
    shift, solve = _shift(at, start)
    free = solve(at.M(start))
    if _is_skew(at):
        return _coupled(at, count, np.sqrt(shift), free, np.zeros((at.n, 0)))
    squares, shapes = _undamped(at, count, shift, solve)
    rest = np.abs(squares[np.abs(squares) > ZERO * np.max(np.abs(squares))])
    if (
        len(rest) and np.min(rest) > FAR * shift
    ):  # beside rigid motions, which are next to a small shift, digits are lost
        shift = float(np.min(rest))
        squares, shapes = _undamped(at, count, shift, at.inverse(0.0, shift))
    squares[np.abs(squares) <= ZERO * shift] = 0.0
    if not _is_damped_apart(at, shapes, squares):
        size = np.linalg.norm(at.C(shapes), axis=0)
        return _coupled(at, count, np.sqrt(shift), free, shapes[:, (squares == 0.0) & (size <= APART * np.max(size))])
    half = 0.5 * np.einsum("ik,ik->k", shapes, at.C(shapes))
    pulsation, root = np.sqrt(np.abs(squares)), np.sqrt((half**2 - squares).astype(complex))
    values = -half + root
    low = np.maximum(pulsation, 1e-300)
    ratios = np.where(squares > 0.0, half / low, np.where(squares < 0.0, -1.0, 0.0))
    return values, np.where(squares < 0.0, np.abs(values), pulsation) / (2.0 * np.pi), ratios, shapes


def _undamped(at: _Around, count: int, shift: float, solve: Inverse) -> tuple[Floats, Floats]:
    """Squares of pulsations (k,) next to -shift, and shapes (n, k) of unit mass.

    A Krylov space of one vector holds one shape of those that share a pulsation, and others by round-off alone. So what is
    left beside the found shapes is searched, until it has none that is as near.
    """
    n, K, M, draw = (
        at.n,
        LinearOperator((at.n,) * 2, at.K),
        LinearOperator((at.n,) * 2, at.M),
        np.random.default_rng(SEED),
    )
    squares, shapes = np.zeros(0), np.zeros((n, 0))

    def beside(b: Floats) -> Floats:
        x = solve(b)
        for _ in range(2):  # once leaves what round-off made
            x = x - shapes @ (shapes.T @ at.M(x))
        return x

    for sought in [count] + count * [1]:
        start = beside(at.M(draw.normal(size=n) / at.system.tree.scale))
        try:
            more, fresh = eigsh(K, sought, M, sigma=-shift, OPinv=LinearOperator((n, n), beside), v0=start)
        except ArpackNoConvergence as error:
            raise _unfound(at, count) from error
        if len(squares) and abs(more[0] + shift) >= (1.0 - SAME) * np.max(np.abs(squares + shift)):
            break
        squares, shapes = np.concatenate([squares, more]), np.hstack([shapes, fresh])
        near = np.argsort(np.abs(squares + shift), kind="stable")[:count]
        squares, shapes = squares[near], shapes[:, near]
    return squares, shapes


def _shift(at: _Around, x: Floats) -> tuple[float, Inverse]:
    """About the lowest square of a pulsation [1/s^2], from inverse iterations; and the inverse of K + shift M."""
    size = lambda x: float(x @ at.M(x))
    rough = abs(float(x @ at.K(x))) / max(size(x), 1e-300)
    solve = at.inverse(0.0, NEAR * rough)
    for _ in range(3):
        x = solve(at.M(x))
        x = x / np.sqrt(max(size(x), 1e-300))
    shift = max(2.0 * abs(float(x @ at.K(x))), NEAR * rough)
    return shift, at.inverse(0.0, shift)


def _is_skew(at: _Around) -> bool:
    """Whether K is not symmetric, as of follower loads: seen by a pair of random shapes."""
    pair = np.random.default_rng(SEED).normal(size=(at.n, 2)) / at.system.tree.scale[:, None]
    pair[at.driven] = 0.0
    work = pair.T @ at.K(pair)
    return bool(abs(work[0, 1] - work[1, 0]) > COUPLED * np.max(np.abs(work)))


def _is_damped_apart(at: _Around, shapes: Floats, squares: Floats) -> bool:
    """Whether damping is nothing, or a multiple of the mass in each of the shapes, which have unit mass."""
    heavy, damped = at.M(shapes), at.C(shapes)
    size = np.linalg.norm(damped, axis=0)
    if np.all(size <= COUPLED * np.sqrt(np.abs(squares)) * np.linalg.norm(heavy, axis=0)):
        return True
    rest = damped - heavy * np.einsum("ik,ik->k", shapes, damped)  # with constraints, forces of theirs would count
    return not at.system.rows and bool(np.all(np.linalg.norm(rest, axis=0) <= APART * size))


def _coupled(
    at: _Around, count: int, pulsation: float, free: Floats, rigid: Floats
) -> tuple[np.ndarray, Floats, Floats, np.ndarray]:
    """The same where damping or follower loads couple the shapes: pairs (x, x' / pulsation), next to a small real shift.

    Rigid motions (n, r) of unit mass, which nothing holds and nothing damps, are left out: two zeros each, of one vector.
    """
    n, shift, unit = at.n, LOW * pulsation, np.sqrt(max(float(free @ at.M(free)), 1e-300))
    solve, scale = at.inverse(shift, shift**2), at.system.tree.scale
    weights = np.concatenate([scale, scale / pulsation])

    def beside(x: Floats) -> Floats:
        return x - rigid @ (rigid.T @ at.M(x))

    def inverse(z: Floats) -> Floats:
        """(A - shift)^-1 of (b, c) in units of angles: x' = shift x + b, and with it the balance gives x."""
        b, c = np.split(z / weights, 2)
        x = beside(-solve(at.M(c + shift * b) + at.C(b)))
        return weights * np.concatenate([x, shift * x + b])

    most = min(2 * (count - len(rigid.T)) + 2, 2 * n - 2)
    free = beside(free)
    operator, start = LinearOperator((2 * n, 2 * n), inverse, dtype=float), np.concatenate([free, pulsation * free])
    try:
        near, pairs = eigs(operator, most, v0=weights * start / unit, ncv=min(4 * most + 20, 2 * n), tol=DIGITS)
    except ArpackNoConvergence as error:
        raise _unfound(at, count) from error
    values = shift + 1.0 / near
    size = np.abs(values)
    keep = np.imag(values) >= -1e-9 * np.maximum(size, ZERO * shift)
    order = np.flatnonzero(keep)[np.argsort(size[keep], kind="stable")][: count - len(rigid.T)]
    values = np.concatenate([np.zeros(len(rigid.T)), values[order]])
    shapes, size = np.hstack([rigid, pairs[:n, order] / scale[:, None]]), np.abs(values)
    still = size <= np.sqrt(ZERO) * pulsation
    ratios = np.where(still, 0.0, -np.real(values) / np.maximum(size, 1e-300))
    return values, np.where(still, 0.0, size) / (2.0 * np.pi), ratios, shapes


def _unfound(at: _Around, count: int) -> SolverError:
    name = at.system.robot.name
    return SolverError(f"The {count} lowest modes of {name!r} were not found.", advice="Ask for fewer (count=...).")
