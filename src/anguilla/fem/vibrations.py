"""Vibrations of soft bodies about an equilibrium: modes by shift and invert, and a linear model made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from anguilla._doors import public
from anguilla._words import numbered
from anguilla.errors import DescriptionError, SolverError, as_count, as_positive, refuse
from anguilla.fem.body import SoftBody
from anguilla.fem.contact import forbid
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.inertia import mass_blocks
from anguilla.fem.mesh import Floats
from anguilla.fem.results import SoftEquilibrium, Status
from anguilla.fem.system import SoftSystem

__all__ = ["SoftLinearModel", "SoftModes", "linearise", "modes"]

SLOW = 1e-3  # of the square of the pulsation of a wave through the body: what a loose one is shifted by
WHOLE = 1e-6  # of that: eigenvalues below it are zero


@public
@dataclass(frozen=True)
class SoftModes:
    """Modes of vibration of a soft body, sorted by frequency.

    Attributes:
        frequencies: (k,) [Hz]; negative where the body would leave its equilibrium (minus the growth rate over 2 pi).
        damping: (k,) damping ratios of the material's damping (Kelvin-Voigt), by its part along each mode.
        shapes: (k, n, 3) displacements of the nodes, each with a modal mass of 1 kg.
        equilibrium: what they are about.

    """

    frequencies: Floats
    damping: Floats
    shapes: Floats
    equilibrium: SoftEquilibrium = field(repr=False)

    def __len__(self) -> int:
        return len(self.frequencies)

    def motion(self, mode: int, *, amplitude: float = 0.1, instants: int = 31) -> SoftTrajectory:
        """One period of a mode as a motion, for figures and pages; undamped.

        Args:
            mode: its number, from 0.
            amplitude: largest displacement, over the size of the body.
            instants: number of stored instants.

        """
        if not -len(self) <= mode < len(self):
            raise DescriptionError(f"mode must be a number below {len(self)}; got {mode!r}.")
        eq, count = self.equilibrium, as_count(instants, "instants", 2)
        size = float(np.linalg.norm(np.ptp(eq.system.rest.x, axis=0)))
        shape = self.shapes[mode] * as_positive(amplitude, "amplitude") * size / np.abs(self.shapes[mode]).max()
        pulsation = 2.0 * np.pi * abs(float(self.frequencies[mode])) or 2.0 * np.pi
        phase = np.linspace(0.0, 2.0 * np.pi, count)
        x = eq.x + np.sin(phase)[:, None, None] * shape
        v = pulsation * np.cos(phase)[:, None, None] * shape
        status = Status(True, f"mode {mode}, {self.frequencies[mode]:.4g} Hz", {})
        return SoftTrajectory(eq.body, eq.system, phase / pulsation, x, v, mass_blocks(eq.system), status, eq.inputs)

    def __repr__(self) -> str:
        listed = ", ".join(f"{f:.4g}" for f in self.frequencies[:6])
        return (
            f"<{numbered(len(self), 'mode')} of {self.equilibrium.body.name!r}: {listed}{', ...' * (len(self) > 6)} Hz>"
        )


def sparse(system: SoftSystem, blocks: Floats) -> csr_array:
    """Blocks (nb, 9) between unknowns as a sparse symmetric matrix (3 size, 3 size)."""
    u = system.unknowns
    i, j = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
    rows, cols = (3 * u.rows[:, None] + i).ravel(), (3 * u.cols[:, None] + j).ravel()
    values = blocks.ravel()
    other = np.repeat(u.rows != u.cols, 9)
    ends = np.concatenate([rows, cols[other]]), np.concatenate([cols, rows[other]])
    return coo_array((np.concatenate([values, values[other]]), ends), shape=(3 * u.size, 3 * u.size)).tocsr()


def matrices(eq: SoftEquilibrium) -> tuple[Floats, Floats, Floats]:
    """Blocks between unknowns (nb, 9) of the stiffness, the mass and the damping at an equilibrium."""
    system, u = eq.system, eq.system.unknowns
    forbid(system.body, "modes and linear models")
    _, gradient, blocks = system.evaluate(eq.state, eq.efforts, stiffness=True)
    stiff = u.fold(eq.x, blocks, gradient).copy()
    masses = np.zeros_like(blocks)
    masses[:, [0, 4, 8]] = mass_blocks(system)[:, None]
    none = np.zeros_like(gradient)
    mass = _released(system, u.fold(eq.x, masses, none).copy())
    damping, time = np.zeros_like(stiff), system.body.material.damping
    if time > 0.0 and system.body.element != "averaged":
        # a step with twice the elastic stress less the present one has the stiffness of the material once more
        present = -system.elastic_stress(eq.x)
        _, more, double = system.evaluate(eq.state, eq.efforts, stiffness=True, gain=2.0, history=present)
        damping = time * _released(system, u.fold(eq.x, double, more) - stiff)
    return stiff, mass, damping


def _released(system: SoftSystem, blocks: Floats) -> Floats:
    """Blocks without what stands for held components on the diagonal."""
    u = system.unknowns
    if u.any_held:
        own = np.flatnonzero(u.rows == u.cols)
        for axis in range(3):
            blocks[own[u.held[u.rows[own], axis]], 4 * axis] = 0.0
    return blocks


def as_equilibrium(what: SoftBody | SoftSystem | SoftEquilibrium) -> SoftEquilibrium:
    """An equilibrium, or that of a body without inputs."""
    if isinstance(what, SoftEquilibrium):
        return what
    if not isinstance(what, (SoftBody, SoftSystem)):
        raise refuse("body", "a SoftBody, or an equilibrium that fem.statics returned", what)
    from anguilla.fem.equilibrium import BALANCED, statics, unbalanced

    system = what if isinstance(what, SoftSystem) else SoftSystem(what, free=True)
    none = np.zeros(len(system.names))
    if system.can_drift(none) and not len(system.driven) and unbalanced(system, system.rest, none) < BALANCED:
        return SoftEquilibrium(system.body, system, system.rest, none, Status(True, "at rest, and held by nothing"))
    return statics(what)


@public
def modes(body: SoftBody | SoftSystem | SoftEquilibrium, *, count: int = 10) -> SoftModes:
    """Find the slowest modes of vibration about an equilibrium, with its loads, efforts and stresses.

    By shift and invert with the factorised stiffness. A body that nothing holds, and nothing loads, moves as a whole in modes
    of frequency zero, six if it is free. The stiffness is that of the equilibrium, so Prony terms, which a fast
    vibration would feel, are left out.

    Args:
        body: an equilibrium; or a body, of which that without inputs is taken.
        count: number of modes.

    """
    eq = as_equilibrium(body)
    system, u = eq.system, eq.system.unknowns
    forbid(system.body, "modes and linear models")
    most = 3 * u.size - int(u.held.sum()) - 1
    number = min(as_count(count, "count"), most)
    stiff, mass, damping = matrices(eq)
    K, M, C = (sparse(system, blocks) for blocks in (stiff, mass, damping))
    values, vectors = _slowest(system, stiff, mass, K, M, number)
    vectors = vectors / np.sqrt(np.einsum("ki,ki->k", vectors, (M @ vectors.T).T))[:, None]
    pulsation = np.sqrt(np.abs(values))
    lost = np.einsum("ki,ki->k", vectors, (C @ vectors.T).T)
    ratio = np.divide(lost, 2.0 * pulsation, out=np.zeros_like(lost), where=pulsation > 0.0)
    shapes = np.array([u.spread(eq.x, vector.reshape(-1, 3)) for vector in vectors])
    return SoftModes(np.sign(values) * pulsation / (2.0 * np.pi), ratio, shapes, eq)


def _slowest(system: SoftSystem, stiff: Floats, mass: Floats, K: Any, M: Any, count: int) -> tuple[Floats, Floats]:
    """Eigenvalues (k,) [1/s^2] nearest to zero, increasing, and their vectors (k, 3 size)."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    shift = _shift(system) if system.can_drift(np.zeros(len(system.names))) else 0.0
    try:
        system.solver.factor(stiff + shift * mass)
    except SolverError:
        raise SolverError(
            f"The stiffness of {system.body.name!r} is singular: it has no modes of its own.",
            advice="Hold more points (fix): the body can still slide or turn as a whole.",
        ) from None
    n = K.shape[0]
    solve = LinearOperator((n, n), matvec=lambda b: system.solver.solve(np.ravel(b)[None])[0], dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)  # the same every time
    start[system.unknowns.held.ravel()] = 0.0
    try:
        values, vectors = eigsh(K, k=count, M=M, sigma=-shift, OPinv=solve, v0=start, which="LM")
    except ArpackNoConvergence as error:
        raise SolverError(
            f"The modes of {system.body.name!r} were not found: {len(error.eigenvalues)} of {count} converged.",
            advice="Ask for fewer of them.",
        ) from None
    values[np.abs(values) < WHOLE * shift] = 0.0
    order = np.argsort(values)
    return values[order], np.ascontiguousarray(vectors.T[order])


def _shift(system: SoftSystem) -> float:
    """A square of a pulsation [1/s^2] far below that of a wave that runs through the body."""
    el, size = system.elements, float(np.linalg.norm(np.ptp(system.rest.x, axis=0)))
    volume = el.weight.sum(axis=1)
    return SLOW * float(el.mu @ volume) / (float(system.weights.sum()) * size**2)


@public
@dataclass(frozen=True)
class SoftLinearModel:
    """A linear model about an equilibrium, in modal coordinates: x' = A x + B u, y = C x + D u.

    x holds the amplitudes of the modes and their rates, u changes of the efforts [N, Pa], y those of the effectors [m] and
    strokes, or of what the sensors show. D is what the modes that are left out answer at once: slow motions are exact.

    Attributes:
        A, B, C, D: (2 k, 2 k), (2 k, i), (o, 2 k), (o, i).
        inputs, outputs: names.
        modes: the modes.

    """

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    inputs: list[str]
    outputs: list[str]
    modes: SoftModes = field(repr=False)

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of A (2 k,) [1/s]."""
        return np.linalg.eigvals(self.A)

    @property
    def gain(self) -> Floats:
        """Change of the outputs per unit of effort, slowly (o, i): exact."""
        return self.D - self.C @ np.linalg.solve(self.A, self.B)


@public
def linearise(
    body: SoftBody | SoftSystem | SoftEquilibrium, *, count: int = 20, sensors: bool = False
) -> SoftLinearModel:
    """A linear model of a soft body about an equilibrium, from its slowest modes.

    Args:
        body: an equilibrium; or a body, of which that without inputs is taken.
        count: number of modes.
        sensors: whether the outputs are what the sensors of the body show, and not its effectors and strokes.

    """
    found = modes(body, count=count)
    eq = found.equilibrium
    system, k = eq.system, len(found)
    if np.any(found.frequencies == 0.0):
        raise SolverError(
            f"{system.body.name!r} can move as a whole, so that it has no linear model of vibrations.",
            advice="Hold more points (fix).",
        )
    if np.any(found.frequencies < 0.0):
        raise SolverError(
            f"{system.body.name!r} is unstable in this equilibrium: it has no linear model of vibrations."
        )
    inputs = system.actuator_rows(eq.state, friction=True)
    outputs, rates, names = _outputs(eq, sensors)
    force = np.einsum("kni,ani->ka", found.shapes, inputs)
    seen, felt = (np.einsum("oni,kni->ok", rows, found.shapes) for rows in (outputs, rates))
    pulsation = 2.0 * np.pi * found.frequencies
    A = np.zeros((2 * k, 2 * k))
    A[:k, k:] = np.eye(k)
    A[k:, :k] = -np.diag(pulsation**2)
    A[k:, k:] = -np.diag(2.0 * found.damping * pulsation)
    D = soft_gain(eq, outputs) - seen / pulsation**2 @ force
    B, C = np.vstack([np.zeros_like(force), force]), np.hstack([seen, felt])
    return SoftLinearModel(A, B, C, D, list(system.names), names, found)


def soft_gain(eq: SoftEquilibrium, outputs: Floats) -> Floats:
    """How outputs with derivatives (o, n, 3) by the nodes change with the efforts of an equilibrium, slowly: (o, i)."""
    system, u = eq.system, eq.system.unknowns
    inputs = system.actuator_rows(eq.state, friction=True)
    if not len(inputs):
        return np.zeros((len(outputs), 0))
    system.solver.factor(matrices(eq)[0])
    return u.gather(eq.x, outputs) @ system.solver.solve(u.gather(eq.x, inputs)).T


def _outputs(eq: SoftEquilibrium, sensors: bool) -> tuple[Floats, Floats, list[str]]:
    """Derivatives (o, n, 3) of the outputs by places and by velocities of the nodes, and their names."""
    system = eq.system
    if sensors:
        from anguilla.fem.sensing import SoftReader

        reader = SoftReader(system)
        return *reader.rows(eq.state), list(reader.labels)
    rows = np.concatenate([system.frames.gradient(eq.x), system.actuator_rows(eq.state)])
    labels = [
        f"{name}.{axis}"
        for name, size in zip(system.frames.names, system.frames.rows, strict=True)
        for axis in ("x", "y", "z", "turn_x", "turn_y", "turn_z")[:size]
    ]
    return rows, np.zeros_like(rows), [*labels, *(f"{name}.stroke" for name in system.names)]
