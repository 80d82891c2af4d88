"""Small vibrations about an equilibrium, and its stability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigvalsh, solve_triangular

from anguilla._doors import public
from anguilla._words import numbered
from anguilla.describe import Robot
from anguilla.describe.volumes import solvers_of
from anguilla.errors import DescriptionError, SolverError, as_count, as_positive
from anguilla.interact.kernels.table import KIND, TWIST
from anguilla.linear.choice import DENSE
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Inputs, Model
from anguilla.model.user import move
from anguilla.results.reactions import refuse_relaxing
from anguilla.results.states import Equilibrium, Status, Trajectory
from anguilla.solve.modes.few import Place, few_modes
from anguilla.solve.modes.local import AT_REST, At, Local, local, reference

__all__ = ["Modes", "Stability", "modes", "stability"]

ROUND_OFF = 1e-15  # times the size of the problem and its largest eigenvalue: eigenvalues below are zero
STRAINED = 1e-3  # part of an eigenvalue below round-off that elastic energy must make up, or it is zero
SHIFT = 1e-14  # part of the largest eigenvalue
SYMMETRIC = 1e-9  # relative
FEW = 4  # part of the modes of a large robot, one in so many, that are sought one by one
SHAPE = 0.3  # [rad] or relative displacement: how far a mode is shown


@public
@dataclass(frozen=True)
class Modes:
    """Modes of vibration, sorted by frequency.

    Attributes:
        frequencies: (k,) natural frequencies [Hz], |eigenvalue| / 2 pi; zero for rigid motions.
        damping: (k,) damping ratios, -real(eigenvalue) / |eigenvalue|: above 1 for an overdamped mode (of its two real
            eigenvalues), negative for one that grows, -1 for one that diverges without oscillating.
        shapes: (n, k) changes of all coordinates, the largest one angle or relative displacement being 1; complex when
            coordinates are out of phase.
        eigenvalues: (k,) complex [1/s], of positive imaginary part; of an overdamped mode the slower one.
        local: the state they are about.

    """

    frequencies: Floats
    damping: Floats
    shapes: np.ndarray
    eigenvalues: np.ndarray
    local: Local | Place

    def __len__(self) -> int:
        return len(self.frequencies)

    def motion(self, mode: int, *, amplitude: float = SHAPE, instants: int = 61) -> Trajectory:
        """One period of a mode as a Trajectory, for `animate` and `plot`; undamped.

        Args:
            mode: its number, from 0.
            amplitude: largest angle [rad] or relative displacement.
            instants: number of stored instants. A mode of zero frequency is shown over 1 s.

        """
        if not -len(self) <= mode < len(self):
            raise DescriptionError(f"mode must be a number below {len(self)}; got {mode!r}.")
        as_positive(amplitude, "amplitude", "rad")
        instants = as_count(instants, "instants", minimum=2)
        system, result = self.local.system, self.local.result
        pulsation = 2.0 * np.pi * float(self.frequencies[mode]) or 2.0 * np.pi
        phase = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, instants))
        waves = [np.real(amplitude * np.outer((1j * pulsation) ** k * phase, self.shapes[:, mode])) for k in range(3)]
        q = np.array([move(system.tree, result.q, wave) for wave in waves[0]])
        message = f"mode {mode}, {self.frequencies[mode]:.4g} Hz"
        lam = np.tile(result.multipliers, (instants, 1))
        times = np.linspace(0.0, 2.0 * np.pi / pulsation, instants)
        inputs = {name: float(v(result.t) if callable(v) else v) for name, v in result.inputs.items()}
        return Trajectory(result.robot, system, Status(True, message), times, q, waves[1], waves[2], lam, inputs)

    def __repr__(self) -> str:
        first = ", ".join(f"{f:.4g}" for f in self.frequencies[:6])
        more = ", ..." if len(self) > 6 else ""
        return f"<{numbered(len(self), 'mode')} of {self.local.system.robot.name!r}: {first}{more} Hz>"


@public
def modes(
    robot: Robot | Model, at: At = None, *, inputs: Inputs | None = None, t: float = 0.0, count: int | None = None
) -> Modes:
    """Modes of small vibration about an equilibrium, of open, floating and closed robots alike.

    Args:
        robot: the robot, or its model.
        at: an Equilibrium, coordinates q (n,), or (q, v) of a steady motion; the equilibrium under `inputs` if not given.
        inputs: inputs of the actuators by name.
        t: time [s] at which time-dependent loads are taken.
        count: how many, from the lowest frequency; all if not given. A few of a large robot cost little.

    Returns:
        Modes; of a robot with soft volumes the lowest ten, without damping (`mixed.MixedModes`).

    """
    if (others := solvers_of(robot)) is not None:
        found: Modes = others.modes(robot, at, inputs=inputs, t=t, count=count)
        return found
    if count is not None:
        count = as_count(count, "count")
    system = model_of(robot)
    refuse_relaxing(system.blank, "modes")
    if system.linear != DENSE and count is not None and FEW * count < system.size:
        return _few(*reference(robot, at, inputs, t), count)
    here = local(robot, at, inputs=inputs, t=t)
    scale = here.system.tree.scale
    if here.place.shape != here.rate.shape:
        raise DescriptionError(
            f"{here.system.robot.name!r} has twist constraints: ask linearise(...).eigenvalues instead."
        )
    _refuse_moving(here.system, here.v, here.a)
    V = here.place
    if not V.shape[1]:
        raise DescriptionError(f"{here.system.robot.name!r} has no modes: nothing in it is free to move.")
    K, C, M, elastic = (V.T @ matrix @ V for matrix in (here.K, here.C, here.M, here.system.elastic_stiffness()))
    size = 1.0 / np.sqrt(np.maximum(np.diag(M), 1e-300))  # coordinates of unit mass: slender rods have very light ones
    K, C, M, elastic = (matrix * np.outer(size, size) for matrix in (K, C, M, elastic))
    try:
        values, frequencies, ratios, shapes = _solve(K, C, 0.5 * (M + M.T), elastic)
    except np.linalg.LinAlgError as error:
        raise SolverError(
            f"The mass matrix of {here.system.robot.name!r} is singular: some coordinate moves no mass.",
            advice="Use fewer modes, more intervals, or a section with mass.",
        ) from error
    order = np.argsort(frequencies, kind="stable")[:count]
    full = _with_peak(V @ (size[:, None] * shapes[:, order]), scale)
    return Modes(frequencies[order], ratios[order], full, values[order], here)


def _refuse_moving(system: Model, v: Floats, a: Floats) -> None:
    if np.linalg.norm(a * system.tree.scale) > AT_REST or (np.any(v != 0.0) and len(system.tree.ball)):
        raise DescriptionError(
            "Modes need an equilibrium; in this state the robot accelerates (or a ball joint turns)."
        )


def _with_peak(shapes: np.ndarray, scale: Floats) -> np.ndarray:
    """Shapes (n, k), the largest one angle or relative displacement of each being 1."""
    sizes = shapes * scale[:, None]
    return shapes / sizes[np.argmax(np.abs(sizes), axis=0), np.arange(shapes.shape[1])]


def _few(result: Equilibrium, v: Floats, a: Floats, count: int) -> Modes:
    """The lowest modes of a large robot."""
    system = result.system
    _refuse_moving(system, v, a)
    if np.any(system.blank.constraints.table[:, KIND] == TWIST):
        raise DescriptionError(f"{system.robot.name!r} has twist constraints: ask linearise(...).eigenvalues instead.")
    values, frequencies, ratios, shapes = few_modes(result, v, a, count)
    order = np.argsort(frequencies, kind="stable")
    full = _with_peak(shapes[:, order], system.tree.scale)
    return Modes(frequencies[order], ratios[order], full, values[order], Place(result))


def _undamped(K: Floats, M: Floats) -> tuple[Floats, Floats]:
    """Squares of the pulsations (k,), ascending, and shapes (k, k) of unit mass, of M x'' + K x = 0; both symmetric.

    eigh(K, M) has errors that are a part of the largest square. These are 1 / s^2 - shift, with s the singular values of
    G L^-T, G^T G = M, L L^T = K + shift M: factors of matrices that are graded, not well conditioned, keep the digits of the
    slowest modes beside those 1e6 times as fast.
    """
    heavy, rough = np.linalg.cholesky(M).T, eigvalsh(K, M)
    shift = max(SHIFT * float(np.max(np.abs(rough))), -2.0 * float(rough[0]), 1e-300)
    for _ in range(40):
        try:
            stiff = np.linalg.cholesky(K + shift * M)
            break
        except np.linalg.LinAlgError:
            shift *= 10.0
    _, s, vt = np.linalg.svd(solve_triangular(stiff, heavy.T, lower=True).T)
    return 1.0 / s**2 - shift, solve_triangular(stiff.T, vt.T) / s


def _solve(K: Floats, C: Floats, M: Floats, elastic: Floats) -> tuple[np.ndarray, Floats, Floats, np.ndarray]:
    """(eigenvalues, frequencies, damping ratios, shapes) of M x'' + C x' + K x = 0; elastic is a part of K."""
    squares, shapes = _undamped(0.5 * (K + K.T), M)  # modes of the symmetric part
    tiny = np.abs(squares) <= 10 * len(K) * ROUND_OFF * np.max(np.abs(squares))
    energy = np.einsum("ik,ij,jk->k", shapes, elastic, shapes)  # a sum of squares, which round-off does not feign
    squares[tiny & (energy < STRAINED * np.abs(squares))] = 0.0
    modal = shapes.T @ C @ shapes
    rest = np.abs(modal - np.diag(np.diag(modal)))
    bound = np.sqrt(np.outer(np.diag(np.abs(modal)), np.diag(np.abs(modal))))
    coupled = np.any(rest > SYMMETRIC * np.maximum(bound, np.max(np.abs(modal), initial=0.0) * 1e-3))
    skew = 0.5 * (K - K.T)
    if coupled or np.max(np.abs(skew), initial=0.0) > SYMMETRIC * np.max(np.abs(K), initial=1e-300):
        return _solve_coupled(squares, shapes.T @ skew @ shapes, modal, shapes)
    pulsation, half = np.sqrt(np.abs(squares)), 0.5 * np.diag(modal)
    root = np.sqrt((half**2 - squares).astype(complex))  # overdamped and divergent modes have a real root
    values = -half + root
    low = np.maximum(pulsation, 1e-300)
    ratios = np.where(squares > 0.0, half / low, np.where(squares < 0.0, -1.0, 0.0))
    frequencies = np.where(squares < 0.0, np.abs(values), pulsation) / (2.0 * np.pi)
    return values, frequencies, ratios, shapes


def _solve_coupled(
    squares: Floats, skew: Floats, C: Floats, basis: Floats
) -> tuple[np.ndarray, Floats, Floats, np.ndarray]:
    """The same where damping or follower loads couple the modes: of y'' + C y' + (squares + skew) y = 0, x = basis y.

    These coordinates, and (pulsation y, y') as the state, keep the digits of slow modes and serve robots of any size.
    """
    n, largest = len(squares), np.sqrt(np.max(np.abs(squares), initial=1e-300))
    unit = np.where(squares == 0.0, 1.0, np.sqrt(np.abs(squares)) / largest)  # of y, relative
    place = np.diag(largest * unit)
    force = -(np.diag(squares) + skew) / (largest * unit)
    pull = np.max(np.abs(np.vstack([C, skew / largest])), axis=0, initial=0.0)
    rigid = (squares == 0.0) & (
        pull <= SYMMETRIC * np.max(pull, initial=1e-300)
    )  # y has no part in the equations: y' has
    state = np.flatnonzero(np.concatenate([~rigid, np.ones(n, bool)]))
    whole = np.block([[np.zeros((n, n)), place], [force, -C]])
    values, vectors = np.linalg.eig(whole[np.ix_(state, state)])
    tiny = 1e-10 * np.max(np.abs(values), initial=1e-300)
    keep = np.imag(values) > -tiny
    values, vectors = values[keep], vectors[:, keep]
    y = vectors[-n:] * (largest / np.where(np.abs(values) > tiny, values, largest))
    y[~rigid] = vectors[: n - np.count_nonzero(rigid)] / unit[~rigid, None]
    vectors = basis @ y
    size = np.abs(values)
    ratios = np.where(size > tiny, -np.real(values) / np.maximum(size, tiny), 0.0)
    return values, np.where(size > tiny, size, 0.0) / (2.0 * np.pi), ratios, vectors


@public
@dataclass(frozen=True)
class Stability:
    """Stability of an equilibrium: the second variation of its energy on what the constraints leave free.

    Attributes:
        eigenvalues: (f,) of the constrained stiffness, ascending [J per square of an angle or relative displacement].
        shapes: (n, f) changes of all coordinates.
        unstable: number of negative eigenvalues.
        neutral: number of zero ones (rigid motions, critical points).
        symmetric: whether the stiffness is symmetric: the loads have a potential. If not (follower loads), eigenvalues are
            the real parts of those of the stiffness, and a robot may flutter though they are positive: see `modes`.

    """

    eigenvalues: Floats
    shapes: Floats
    unstable: int
    neutral: int
    symmetric: bool

    def __repr__(self) -> str:
        kind = "stable" if self.stable else f"unstable in {self.unstable} direction{'s' * (self.unstable > 1)}"
        kind += f", neutral in {self.neutral}" if self.neutral else ""
        lowest = f"; lowest eigenvalue {self.eigenvalues[0]:.4g} J" if len(self.eigenvalues) else ""
        return f"<{kind}{lowest}>"

    @property
    def stable(self) -> bool:
        """Whether no eigenvalue is negative."""
        return self.unstable == 0


@public
def stability(
    robot: Robot | Model, at: At = None, *, inputs: Inputs | None = None, t: float = 0.0, tolerance: float = 1e-12
) -> Stability:
    """Stability of an equilibrium: eigenvalues of the constrained stiffness.

    Args:
        robot: the robot, or its model.
        at: an Equilibrium or coordinates (n,); the equilibrium under `inputs` if not given.
        inputs: inputs of the actuators by name.
        t: time [s] at which time-dependent loads are taken.
        tolerance: eigenvalues below this part of the largest are zero.

    """
    here = local(robot, at, inputs=inputs, t=t)
    return second_variation(here.K, here.place, here.system.tree.scale, tolerance)


def second_variation(K: Floats, basis: ArrayLike, scale: Floats, tolerance: float = 1e-12) -> Stability:
    """Eigenvalues of a stiffness (n, n) on a basis (n, f), in units of angles and relative displacements."""
    V = np.asarray(basis) * scale[:, None]
    V = np.linalg.qr(V)[0] if V.size else V
    matrix = V.T @ (K / np.outer(scale, scale)) @ V
    largest = float(np.max(np.abs(matrix), initial=1e-300))
    symmetric = bool(np.max(np.abs(matrix - matrix.T), initial=0.0) <= 1e-8 * largest)
    if symmetric:
        values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    else:
        raw, vectors = np.linalg.eig(matrix)
        order = np.argsort(raw.real)
        values, vectors = raw.real[order], vectors.real[:, order]
    tiny = tolerance * float(np.max(np.abs(values), initial=1e-300))
    shapes = (V @ vectors) / scale[:, None]
    return Stability(values, shapes, int(np.sum(values < -tiny)), int(np.sum(np.abs(values) <= tiny)), symmetric)
