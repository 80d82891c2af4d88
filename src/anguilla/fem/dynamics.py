"""Motion of soft bodies: implicit steps of the Newmark family with consistent mass, Kelvin-Voigt, Prony and Rayleigh damping.

Viscous stresses are second Piola-Kirchhoff stresses. Over a step of length dt, with S the elastic stress,

    Kelvin-Voigt   S + (mu / dt) (S - S_n)
    Prony term     h = exp(-dt / tau) h_n + g c (S - S_n),   c = (tau / dt) (1 - exp(-dt / tau))

so that the stress is a multiple of the elastic one plus a constant of the step: the kernels of statics serve unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from anguilla._doors import public
from anguilla._lazy import ShowsItself
from anguilla.describe.material import Prony
from anguilla.errors import DescriptionError, SolverError, as_nonnegative, as_positive, as_steps
from anguilla.fem.body import SoftBody
from anguilla.fem.elements import Grid, pairs_of, shape_functions
from anguilla.fem.equilibrium import REACH, WORDS
from anguilla.fem.fields import equivalent_strain, von_mises
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.results import SoftEquilibrium, Status, pick
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.results.blocks import parts
from anguilla.results.slices import Slices
from anguilla.solve.newton.method import KeptSolver, Newton
from anguilla.solve.newton.rules import CONVERGED
from anguilla.solve.steps.schemes import Coefficients, Newmark, Scheme, as_scheme, ended, factors, unmoved
from anguilla.store.kept import Kept
from anguilla.store.record import Record

__all__ = ["Prony", "Rayleigh", "SoftTrajectory", "simulate"]

Inputs = Mapping[str, float | Callable[[float], float]]


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


@public
@dataclass(frozen=True)
class SoftTrajectory(Slices, Kept, ShowsItself):
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

    def _picked(self, rows: Ints) -> SoftTrajectory:
        return replace(self, t=self.t[rows], x=self.x[rows], v=self.v[rows])

    def position(self, effector: str) -> Floats:
        """Positions (time, 3) [m] of an effector."""
        k = pick(effector, self.system.frames.names, "effector")
        return np.array([self.system.frames.position(x, k) for x in self.x])

    def stress(self) -> Floats:
        """Von Mises stress (time, m) [Pa] of each tetrahedron, of the elastic part of the Cauchy stress."""
        return np.array([von_mises(self.system, x) for x in self.x])

    def strain(self) -> Floats:
        """Equivalent logarithmic strain (time, m) [-] of each tetrahedron."""
        return np.array([equivalent_strain(self.system, x) for x in self.x])

    @property
    def kinetic_energy(self) -> Floats:
        """Kinetic energy (time,) [J]."""
        rows, cols = self.system.pattern.rows, self.system.pattern.cols
        weight, out = 0.5 * self.mass * np.where(rows == cols, 1.0, 2.0), np.zeros(len(self.t))
        for at in parts(len(out), 3 * len(rows)):
            out[at] = np.einsum("tki,tki->tk", self.v[at][:, rows], self.v[at][:, cols]) @ weight
        return out

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
    out = np.bincount(slot[inside], values[inside], minlength=len(system.pattern.rows)).astype(np.float64)
    for nodes, share, own in system.masses:
        order = np.argsort(nodes)
        i, j = pairs_of(nodes[order][None, :])
        place, both = system.pattern.slots(i, j)[0], pairs_of(share[order][None, :])
        kept = place >= 0
        np.add.at(out, place[kept], own * (both[0] * both[1])[0][kept])
    return out


def mass_matrix(system: SoftSystem, mass: Floats) -> csr_array:
    """Masses (n, n) [kg] between nodes, each times the identity."""
    rows, cols = system.pattern.rows, system.pattern.cols
    other, n = rows != cols, len(system.rest.x)
    ends = np.concatenate([rows, cols[other]]), np.concatenate([cols, rows[other]])
    return csr_array((np.concatenate([mass, mass[other]]), ends), shape=(n, n))


class _Viscosity:
    """Viscous stresses over steps."""

    def __init__(self, system: SoftSystem, terms: Sequence[Prony] | None) -> None:
        own = [Prony(*term) for term in system.body.material.terms.tolist()]
        self.system, self.kelvin = system, system.body.material.damping
        self.terms = own if terms is None else list(terms)
        if any(len(painted.terms) for painted in system.body.materials.values()):
            raise DescriptionError("Prony terms and loss factors are those of a whole body, not of a painted region.")
        self.active = bool(self.terms) or self.kelvin > 0.0
        if self.active and system.body.element == "averaged":
            raise DescriptionError('damping and viscosity need element="linear" or "quadratic".')
        count = system.elements.weight.size
        self.last = np.zeros((count, 9))
        self.past = np.zeros((len(self.terms), count, 9))

    def elastic(self, x: Floats) -> Floats:
        return self.system.elastic_stress(x)

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


@public
def simulate(
    body: SoftBody | SoftSystem, *, duration: float, dt: float, inputs: Inputs | None = None,
    start: SoftEquilibrium | None = None, viscosity: Sequence[Prony] | None = None, rayleigh: Rayleigh | None = None,
    method: Scheme | str | None = None, dissipation: float = 0.0, every: int = 1, tolerance: float = 1e-9,
    solver: str = "ldl", raise_on_failure: bool = True,
) -> SoftTrajectory:  # fmt: skip
    """Simulate the motion of a soft body.

    Args:
        body: the body, or a compiled SoftSystem. Its material's damping is a Kelvin-Voigt time [s].
        duration: time simulated [s], a whole number of steps.
        dt: step [s].
        inputs: tensions [N] and pressures [Pa] by name: numbers, or functions of t [s].
        start: equilibrium to start from, at rest; the rest shape if not given.
        viscosity: Prony terms; those of the body's material (viscosity, loss) if not given.
        rayleigh: Rayleigh damping.
        method: Newmark(), HHT(), GeneralisedAlpha(), Midpoint() or their names, as in `ag.simulate`; Newmark() if not given,
            the trapezoidal rule, which keeps the energy of small motions. Midpoint() supports bodies without viscosity.
        dissipation: up to 0.5, a Newmark scheme that damps high frequencies, at first order: prefer HHT or GeneralisedAlpha.
        every: keep one state in so many.
        tolerance: error of the displacements of a step, over the size of the body.
        solver: "ldl", "mkl" or "splu".
        raise_on_failure: raise SolverError (with what was reached in `.result`) instead of returning it.

    """
    system = body if isinstance(body, SoftSystem) else SoftSystem(body, solver=solver)
    if system.unknowns.parts:
        raise DescriptionError("dynamics of rigid parts is not available: use stiff material instead of rigid(...).")
    count = as_steps(duration, dt, every)
    as_positive(tolerance, "tolerance")
    extra = as_nonnegative(dissipation, "dissipation")
    if method is not None and extra:
        raise DescriptionError("method and dissipation are two ways to say the same: give one of them.")
    scheme = as_scheme(Newmark(0.25 * (1.0 + extra) ** 2, 0.5 + extra) if method is None else method).coefficients
    stepper = _Stepper(system, dt, scheme, _Viscosity(system, viscosity), rayleigh or Rayleigh(), tolerance)
    state = start.state if start is not None else system.rest
    began = time.perf_counter()
    efforts = _sampler(system, inputs)
    ok, message, kept = stepper.run(state, efforts, count, every)
    t, x, v = (np.array(part) for part in zip(*kept, strict=True))
    counters = {"iterations": stepper.iterations, "factorisations": stepper.factorisations, "steps": count}
    status = Status(ok, message, counters, time.perf_counter() - began)
    result = SoftTrajectory(system.body, system, t, x, v, stepper.mass, status, dict(inputs or {}))
    if not ok and raise_on_failure:
        raise SolverError(f"The motion of {system.body.name!r} {message}.", result=result, advice="Try a smaller dt.")
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


class _At(NamedTuple):
    """What is known of a step: its increment (n, 3), forces (n, 3) that are left, those of unknowns, and the tangent."""

    d: Floats
    force: Floats
    left: Floats
    blocks: Floats


class _Step:
    """The balance of one step, as a problem for Newton's method; its unknown is the increment (n, 3) of the positions."""

    reach = REACH

    def __init__(self, stepper: _Stepper, x: Floats, rates: tuple[Floats, Floats, Floats], efforts: Floats, t: float):
        self.stepper, self.x, self.efforts, self.t = stepper, x, efforts, t
        self.by = factors(stepper.scheme, stepper.dt)
        self.v0, self.a0 = unmoved(stepper.scheme, stepper.dt, *rates)
        self.gain, self.history = stepper.viscosity.step(stepper.dt)
        self.stiff: Floats | None = None
        if stepper.rayleigh.beta:
            self.stiff = stepper.evaluate(x, efforts, t)[2].copy()

    def evaluate(self, d: Floats) -> _At | None:
        """Forces and tangent where the step is balanced; None if an element is inside out."""
        s, (cq, cv, ca) = self.stepper, self.by
        alpha, beta = s.rayleigh.alpha, s.rayleigh.beta
        x, v, a = self.x + cq * d, self.v0 + cv * d, self.a0 + ca * d
        energy, force, blocks = s.evaluate(x, self.efforts, self.t, gain=self.gain, history=self.history)
        if not np.isfinite(energy):
            return None
        force += s.matrix @ (a + alpha * v)
        blocks *= cq
        if self.stiff is not None:
            force += beta * _multiply(s.system, self.stiff, v)
            blocks += beta * cv * self.stiff
        blocks[:, [0, 4, 8]] += (ca + alpha * cv) * s.mass[:, None]
        return _At(d, force, s.system.unknowns.gather(x, force[None])[0], blocks)

    def factorise(self, at: _At) -> Callable[[_At], Floats] | None:
        """Factor the tangent of the step."""
        solver, u = self.stepper.system.solver, self.stepper.system.unknowns
        try:
            solver.factor(u.fold(self.x, at.blocks, at.force))
        except SolverError:
            return None
        return lambda now: u.spread(self.x, solver.solve(-now.left[None])[0].reshape(-1, 3))

    def measure(self, at: _At, step: Floats) -> tuple[float, float]:
        """Largest displacement of a node, over the size of the body."""
        size = float(np.abs(step).max()) / self.stepper.size
        return size, size

    def move(self, at: _At, step: Floats, part: float) -> Floats:
        """The increment after a part of a correction."""
        return at.d + part * step

    def improves(self, at: _At, new: _At, step: Floats, part: float, near: bool) -> bool:
        """Anything that is not inside out."""
        return True


class _Stepper:
    """Steps of one body."""

    def __init__(
        self, system: SoftSystem, dt: float, scheme: Coefficients, viscosity: _Viscosity, rayleigh: Rayleigh, tolerance: float
    ) -> None:  # fmt: skip
        self.system, self.dt, self.scheme, self.viscosity, self.rayleigh = system, dt, scheme, viscosity, rayleigh
        if scheme.mid < 1.0 and viscosity.active:
            raise DescriptionError("Midpoint supports bodies without viscosity: use Newmark, HHT or GeneralisedAlpha.")
        self.size = float(np.linalg.norm(np.ptp(system.rest.x, axis=0)))
        self.newton = Newton(tolerance, 25)
        self.mass = mass_blocks(system)
        self.matrix = mass_matrix(system, self.mass)
        self.iterations, self.memory = 0, KeptSolver()
        self._blocks = np.zeros((len(self.mass), 9))

    @property
    def factorisations(self) -> int:
        """Tangents factored so far."""
        return self.memory.factorisations

    def evaluate(self, x: Floats, efforts: Floats, t: float, **options: Any) -> tuple[float, Floats, Floats]:
        """Energy [J], gradient (n, 3) and blocks of the stiffness, in memory that the next call uses again."""
        state = SoftState(x, self.system.rest.rotations)
        return self.system.evaluate(state, efforts, t=t, stiffness=True, blocks=self._blocks, **options)

    def _rates(self, x: Floats, v: Floats, efforts: Floats, t: float) -> Floats:
        """Accelerations that balance a state at rest or in motion (without viscosity)."""
        u = self.system.unknowns
        _, force, blocks = self.evaluate(x, efforts, t)
        force += self.rayleigh.alpha * (self.matrix @ v)
        blocks[:] = 0.0
        blocks[:, [0, 4, 8]] = self.mass[:, None]
        self.system.solver.factor(u.fold(x, blocks, force))
        return u.spread(x, self.system.solver.solve(-u.gather(x, force[None]))[0].reshape(-1, 3))

    def run(
        self, state: SoftState, efforts: Callable[[float], Floats], count: int, every: int
    ) -> tuple[bool, str, list[tuple[float, Floats, Floats]]]:
        """(whether all went well, in words, states that are kept)."""
        x, v = state.x.copy(), np.zeros_like(state.x)
        self.viscosity.start(x)
        a = acc = self._rates(x, v, efforts(0.0), 0.0)
        kept = [(0.0, x, v)]
        for k in range(1, count + 1):
            t = (k - 1 + self.scheme.mid) * self.dt
            problem = _Step(self, x, (v, a, acc), efforts(t), t)
            for guess in (self.dt * v, np.zeros_like(v)):
                out = self.newton.solve(problem, guess, self.memory)
                self.iterations += out.iterations
                if out.status == CONVERGED:
                    break
            else:
                return False, f"stopped at t = {(k - 1) * self.dt:g} s: {WORDS[out.status]}", kept
            x, (v, a, acc) = x + out.x, ended(self.scheme, self.dt, out.x, v, a, acc)
            self.viscosity.accept(x, self.dt)
            if k % every == 0:
                kept.append((k * self.dt, x, v))
        return True, f"{count} steps, {self.iterations} iterations", kept


def _multiply(system: SoftSystem, blocks: Floats, v: Floats) -> Floats:
    """Blocks between nodes times (n, 3)."""
    rows, cols = system.pattern.rows, system.pattern.cols
    k = blocks.reshape(-1, 3, 3)
    out = np.zeros_like(v)
    np.add.at(out, rows, np.einsum("bij,bj->bi", k, v[cols]))
    other = rows != cols
    np.add.at(out, cols[other], np.einsum("bji,bj->bi", k[other], v[rows[other]]))
    return out
