"""Motion of soft bodies: implicit Newmark steps with consistent mass, Kelvin-Voigt, Prony and Rayleigh damping.

Viscous stresses are second Piola-Kirchhoff stresses. Over a step of length dt, with S the elastic stress,

    Kelvin-Voigt   S + (mu / dt) (S - S_n)
    Prony term     h = exp(-dt / tau) h_n + g c (S - S_n),   c = (tau / dt) (1 - exp(-dt / tau))

so that the stress is a multiple of the elastic one plus a constant of the step: the kernels of statics serve unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from anguilla.errors import DescriptionError, SolverError, as_nonnegative, as_positive, as_steps
from anguilla.fem.assembly import stresses
from anguilla.fem.body import SoftBody
from anguilla.fem.elements import Grid, shape_functions
from anguilla.fem.mesh import Floats
from anguilla.fem.results import SoftEquilibrium, Status, pick
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.store.kept import Kept
from anguilla.store.record import Record

__all__ = ["Prony", "Rayleigh", "SoftTrajectory", "simulate"]

Inputs = Mapping[str, float | Callable[[float], float]]


@dataclass(frozen=True)
class Prony:
    """A relaxing part of the stiffness: weight g (of the long-term stiffness) and time tau [s]."""

    weight: float
    time: float

    def __post_init__(self) -> None:
        as_positive(self.weight, "Prony.weight")
        as_positive(self.time, "Prony.time", "s")


@dataclass(frozen=True)
class Rayleigh:
    """Damping alpha M + beta K (002 (56)); K is the stiffness at the start of the step.

    Attributes:
        alpha: on the mass [1/s].
        beta: on the stiffness [s].

    """

    alpha: float = 0.0
    beta: float = 0.0

    def __post_init__(self) -> None:
        as_nonnegative(self.alpha, "Rayleigh.alpha", "1/s")
        as_nonnegative(self.beta, "Rayleigh.beta", "s")


@dataclass(frozen=True)
class SoftTrajectory(Kept):
    """A motion.

    Attributes:
        t: (time,) [s].
        x: (time, n, 3) positions of the nodes [m].
        v: (time, n, 3) their velocities [m/s].
        status: how it ended.
        inputs: tensions [N] and pressures [Pa] by name, as given: numbers, or functions of t [s].

    """

    body: SoftBody
    system: SoftSystem = field(repr=False)
    t: Floats
    x: Floats
    v: Floats
    mass: Floats = field(repr=False)
    status: Status
    inputs: Inputs = field(default_factory=dict, repr=False)

    def position(self, effector: str) -> Floats:
        """Positions (time, 3) [m] of an effector."""
        k = pick(effector, self.system.frames.names, "effector")
        return np.array([self.system.frames.position(x, k) for x in self.x])

    @property
    def kinetic_energy(self) -> Floats:
        """Kinetic energy (time,) [J]."""
        rows, cols = self.system.pattern.rows, self.system.pattern.cols
        pair = np.einsum("tki,tki->tk", self.v[:, rows], self.v[:, cols])
        return 0.5 * pair @ (self.mass * np.where(rows == cols, 1.0, 2.0))

    def _record(self) -> Record:
        from anguilla.fem.keep import gather

        return gather(self)

    def __repr__(self) -> str:
        return f"<motion of {self.body.name!r}: {len(self.t)} states to t = {self.t[-1]:g} s, {self.status.message}>"


def _mass_of_element(nodes: int) -> Floats:
    """Integrals of products of shape functions over a tetrahedron of unit volume, exact (collapsed Gauss points)."""
    p, w = np.polynomial.legendre.leggauss(5)
    p, w = 0.5 * (p + 1.0), 0.5 * w
    a, b, c = (grid.ravel() for grid in np.meshgrid(p, p, p, indexing="ij"))
    weight = np.einsum("i,j,k->ijk", w, w, w).ravel() * (1 - a) ** 2 * (1 - b) * 6.0
    bary = np.stack([a, b * (1 - a), c * (1 - a) * (1 - b)], axis=1)
    bary = np.concatenate([1.0 - bary.sum(axis=1, keepdims=True), bary], axis=1)
    shape = shape_functions(bary, nodes)
    return np.einsum("q,qa,qb->ab", weight, shape, shape)


def mass_blocks(system: SoftSystem) -> Floats:
    """Consistent mass (nb,) [kg] of every block of the pattern (times the identity)."""
    grid: Grid = system.grid
    corner = grid.points[grid.cells[:, :4]]
    mass = np.abs(np.linalg.det(corner[:, 1:] - corner[:, :1])) / 6.0 * system.density
    unit = _mass_of_element(grid.cells.shape[1])
    order = np.argsort(grid.cells, axis=1)
    a, b = np.triu_indices(grid.cells.shape[1])
    values = mass[:, None] * unit[order[:, a], order[:, b]]
    slot = system.elements.slot
    inside = slot >= 0
    return np.bincount(slot[inside], values[inside], minlength=len(system.pattern.rows)).astype(np.float64)


def _times(system: SoftSystem, mass: Floats, v: Floats) -> Floats:
    """Mass times velocities or accelerations (n, 3)."""
    rows, cols = system.pattern.rows, system.pattern.cols
    out = np.zeros_like(v)
    np.add.at(out, rows, mass[:, None] * v[cols])
    other = rows != cols
    np.add.at(out, cols[other], mass[other, None] * v[rows[other]])
    return out


class _Viscosity:
    """Viscous stresses over steps."""

    def __init__(self, system: SoftSystem, terms: Sequence[Prony], kelvin: float) -> None:
        self.system, self.terms, self.kelvin = system, list(terms), kelvin
        self.active = bool(self.terms) or kelvin > 0.0
        if self.active and system.body.element == "averaged":
            raise DescriptionError('damping and viscosity need element="linear" or "quadratic".')
        count = system.elements.weight.size
        self.last = np.zeros((count, 9))
        self.past = np.zeros((len(self.terms), count, 9))

    def elastic(self, x: Floats) -> Floats:
        out = np.zeros_like(self.last)
        stresses(self.system.elements, self.system.stars, x, self.system._pressure, out)
        return out

    def start(self, x: Floats) -> None:
        if self.active:
            self.last = self.elastic(x)

    def _factors(self, dt: float) -> tuple[Floats, Floats]:
        decay = np.array([np.exp(-dt / term.time) for term in self.terms])
        gain = np.array([t.weight * t.time / dt * (1.0 - np.exp(-dt / t.time)) for t in self.terms])
        return decay, gain

    def step(self, dt: float) -> tuple[float, Floats | None]:
        """(gain, history) for a step of length dt."""
        if not self.active:
            return 1.0, None
        decay, gain = self._factors(dt)
        total = self.kelvin / dt + float(gain.sum())
        return 1.0 + total, np.einsum("k,kij->ij", decay, self.past) - total * self.last

    def accept(self, x: Floats, dt: float) -> None:
        if self.active:
            decay, gain = self._factors(dt)
            now = self.elastic(x)
            self.past = decay[:, None, None] * self.past + gain[:, None, None] * (now - self.last)
            self.last = now


def simulate(
    body: SoftBody | SoftSystem, *, duration: float, dt: float, inputs: Inputs | None = None,
    start: SoftEquilibrium | None = None, viscosity: Sequence[Prony] = (), rayleigh: Rayleigh | None = None,
    dissipation: float = 0.0, every: int = 1, tolerance: float = 1e-9, solver: str = "ldl", raise_on_failure: bool = True,
) -> SoftTrajectory:  # fmt: skip
    """Simulate the motion of a soft body.

    Args:
        body: the body, or a compiled SoftSystem. Its material's damping is a Kelvin-Voigt time [s].
        duration: time simulated [s], a whole number of steps.
        dt: step [s].
        inputs: tensions [N] and pressures [Pa] by name: numbers, or functions of t [s].
        start: equilibrium to start from, at rest; the rest shape if not given.
        viscosity: Prony terms.
        rayleigh: Rayleigh damping.
        dissipation: 0 for the trapezoidal rule (keeps energy of small motions); up to 0.5 to damp high frequencies.
        every: keep one state in so many.
        tolerance: largest last displacement of a step, over the size of the body.
        solver: "ldl", "mkl" or "splu".
        raise_on_failure: raise SolverError (with what was reached in `.result`) instead of returning it.

    """
    system = body if isinstance(body, SoftSystem) else SoftSystem(body, solver=solver)
    if system.unknowns.parts:
        raise DescriptionError("dynamics of rigid parts is not available: use stiff material instead of rigid(...).")
    count = as_steps(duration, dt, every)
    extra = as_nonnegative(dissipation, "dissipation")
    gamma, beta = 0.5 + extra, 0.25 * (1.0 + extra) ** 2
    stepper = _Stepper(system, dt, gamma, beta, viscosity, rayleigh or Rayleigh(), tolerance)
    state = start.state if start is not None else system.rest
    began = time.perf_counter()
    efforts = _sampler(system, inputs)
    ok, message, kept = stepper.run(state, efforts, count, every)
    t, x, v = (np.array(part) for part in zip(*kept, strict=True))
    counters = {"iterations": stepper.iterations, "factorisations": stepper.factorisations, "steps": count}
    status = Status(ok, message, counters, time.perf_counter() - began)
    result = SoftTrajectory(system.body, system, t, x, v, stepper.mass, status, dict(inputs or {}))
    if not ok and raise_on_failure:
        raise SolverError(
            f"The motion of {system.body.name!r} stopped: {message}.", result=result, advice="Try a smaller dt."
        )
    return result


def _sampler(system: SoftSystem, inputs: Inputs | None) -> Callable[[float], Floats]:
    given = dict(inputs or {})
    system.efforts({name: value for name, value in given.items() if not callable(value)})
    unknown = next((name for name in given if name not in system.names), None)
    if unknown is not None:
        system.efforts({unknown: 0.0})  # refuses it
    return lambda t: system.efforts(
        {k: (v(t) if callable(v) else v) for k, v in given.items()}, f"inputs at t = {t:g} s"
    )


class _Stepper:
    """Newmark steps of one body."""

    def __init__(
        self, system: SoftSystem, dt: float, gamma: float, beta: float, terms: Sequence[Prony], rayleigh: Rayleigh,
        tolerance: float,
    ) -> None:  # fmt: skip
        self.system, self.dt, self.gamma, self.beta = system, dt, gamma, beta
        self.rayleigh = rayleigh
        self.tolerance = tolerance * float(np.linalg.norm(np.ptp(system.rest.x, axis=0)))
        self.mass = mass_blocks(system)
        self.viscosity = _Viscosity(system, terms, system.body.material.damping)
        self.iterations = self.factorisations = 0
        self._blocks = np.zeros((len(self.mass), 9))

    def _shifted(self, blocks: Floats, mass: float, stiff: Floats | None, weight: float) -> Floats:
        out = blocks.copy()
        if stiff is not None and weight:
            out += weight * stiff
        for k in (0, 4, 8):
            out[:, k] += mass * self.mass
        return out

    def _rates(self, x: Floats, v: Floats, efforts: Floats, t: float) -> Floats:
        """Accelerations that balance a state at rest or in motion (without viscosity)."""
        u = self.system.unknowns
        state = SoftState(x, self.system.rest.rotations)
        _, gradient, _ = self.system.evaluate(state, efforts, t=t)
        force = -u.gather(x, (gradient + self.rayleigh.alpha * _times(self.system, self.mass, v))[None])
        self.system.solver.factor(u.fold(x, self._shifted(np.zeros_like(self._blocks), 1.0, None, 0.0), gradient))
        return u.spread(x, self.system.solver.solve(force)[0].reshape(-1, 3))

    def run(
        self, state: SoftState, efforts: Callable[[float], Floats], count: int, every: int
    ) -> tuple[bool, str, list[tuple[float, Floats, Floats]]]:
        x, v = state.x.copy(), np.zeros_like(state.x)
        self.viscosity.start(x)
        a = self._rates(x, v, efforts(0.0), 0.0)
        kept = [(0.0, x, v)]
        for k in range(1, count + 1):
            t = k * self.dt
            done = self._step(x, v, a, efforts(t), t)
            if done is None:
                return False, f"no step from t = {t - self.dt:g} s", kept
            x, v, a = done
            if k % every == 0:
                kept.append((t, x, v))
        return True, f"{count} steps, {self.iterations} iterations", kept

    def _step(self, x: Floats, v: Floats, a: Floats, efforts: Floats, t: float) -> tuple[Floats, Floats, Floats] | None:
        system, u, dt = self.system, self.system.unknowns, self.dt
        gain, history = self.viscosity.step(dt)
        ca, cv = 1.0 / (self.beta * dt * dt), self.gamma / (self.beta * dt)
        alpha, beta = self.rayleigh.alpha, self.rayleigh.beta
        stiff = None
        if beta:
            stiff = system.evaluate(SoftState(x, system.rest.rotations), efforts, t=t, stiffness=True)[2].copy()
        new = x + dt * v
        moving = u.first >= 0
        new = np.where(moving[:, None], new, x)
        for _ in range(25):
            self.iterations += 1
            acc = ca * (new - x - dt * v) - (0.5 / self.beta - 1.0) * a
            vel = v + dt * ((1.0 - self.gamma) * a + self.gamma * acc)
            state = SoftState(new, system.rest.rotations)
            energy, gradient, blocks = system.evaluate(
                state, efforts, t=t, stiffness=True, gain=gain, history=history, blocks=self._blocks
            )
            if not np.isfinite(energy):
                new = 0.5 * (new + x)
                continue
            force = gradient + _times(system, self.mass, acc + alpha * vel)
            if stiff is not None:
                force = force + beta * _multiply(system, stiff, vel)
            matrix = self._shifted(blocks, ca + alpha * cv, stiff, beta * cv)
            self.factorisations += 1
            system.solver.factor(u.fold(new, matrix, force))
            step = system.solver.solve(-u.gather(new, force[None]))[0].reshape(-1, 3)
            new = u.move(new, system.rest.rotations, step)[0]
            if np.abs(step).max() <= self.tolerance:
                acc = ca * (new - x - dt * v) - (0.5 / self.beta - 1.0) * a
                vel = v + dt * ((1.0 - self.gamma) * a + self.gamma * acc)
                self.viscosity.accept(new, dt)
                return new, vel, acc
        return None


def _multiply(system: SoftSystem, blocks: Floats, v: Floats) -> Floats:
    """Blocks between nodes times (n, 3)."""
    rows, cols = system.pattern.rows, system.pattern.cols
    k = blocks.reshape(-1, 3, 3)
    out = np.zeros_like(v)
    np.add.at(out, rows, np.einsum("bij,bj->bi", k, v[cols]))
    other = rows != cols
    np.add.at(out, cols[other], np.einsum("bji,bj->bi", k[other], v[rows[other]]))
    return out
