"""Motion of soft bodies: implicit steps of the Newmark family with consistent mass, and damping (`viscosity`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from anguilla._doors import public
from anguilla._lazy import ShowsItself
from anguilla.errors import DescriptionError, SolverError, as_nonnegative, as_number, as_positive, as_steps
from anguilla.fem.body import SoftBody
from anguilla.fem.fields import equivalent_strain, von_mises
from anguilla.fem.inertia import mass_blocks, mass_matrix
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.moves import Moves
from anguilla.fem.parts import slackened
from anguilla.fem.results import SoftEquilibrium, Status, pick
from anguilla.fem.stepping import Motion
from anguilla.fem.system import SoftSystem
from anguilla.fem.viscosity import Prony, Rayleigh
from anguilla.results.blocks import parts
from anguilla.results.slices import Slices
from anguilla.solve.steps.schemes import Newmark, Scheme, as_scheme
from anguilla.store.kept import Kept
from anguilla.store.record import Record

__all__ = ["Prony", "Rayleigh", "SoftTrajectory", "mass_blocks", "mass_matrix", "simulate"]

Inputs = Mapping[str, float | Callable[[float], float]]


@public
@dataclass(frozen=True)
class SoftTrajectory(Slices, Kept, ShowsItself):
    """A motion of a soft body.

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


@public
def simulate(
    body: SoftBody | SoftSystem, *, duration: float, dt: float, inputs: Inputs | None = None, moves: Moves | None = None,
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
        moves: where moved points go, by the names of `SoftBody.move`: displacements (3,) [m], poses (4, 4), or functions of
            t [s] giving one; at t = 0 the body must be where it starts.
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
    count = as_steps(duration, dt, every)
    extra = as_nonnegative(dissipation, "dissipation")
    if method is not None and extra:
        raise DescriptionError("method and dissipation set the same thing: give one of them.")
    scheme = as_scheme(Newmark(0.25 * (1.0 + extra) ** 2, 0.5 + extra) if method is None else method).coefficients
    as_positive(tolerance, "tolerance")
    began = time.perf_counter()
    efforts = sampler(system, inputs)
    motion = Motion(system, dt, scheme, viscosity, rayleigh, tolerance)
    motion.begin(start, efforts(0.0), moves)
    kept, ok, message = [(0.0, motion.x, motion.v)], True, ""
    for k in range(1, count + 1):
        ok, words = motion.step(efforts)
        if not ok:
            message = f"stopped at t = {(k - 1) * dt:g} s: {words}"
            break
        if k % every == 0:
            kept.append((k * dt, motion.x, motion.v))
    counters = {"iterations": motion.iterations, "factorisations": motion.factorisations, "steps": count}
    message = message or f"{count} steps, {motion.iterations} iterations"
    status = Status(ok, message, counters, time.perf_counter() - began)
    t, x, v = (np.array(part) for part in zip(*kept, strict=True))
    result = SoftTrajectory(system.body, system, t, x, v, motion.mass, status, dict(inputs or {}))
    if not ok and raise_on_failure:
        raise SolverError(f"The motion of {system.body.name!r} {message}.", result=result, advice="Try a smaller dt.")
    return result


def sampler(system: SoftSystem, inputs: Inputs | None) -> Callable[[float], Floats]:
    """Efforts (actuators,) as a function of t [s], checked."""
    given = dict(inputs or {})
    system.efforts({name: value for name, value in given.items() if not callable(value)})
    unknown = next((name for name in given if name not in system.names), None)
    if unknown is not None:
        system.efforts({unknown: 0.0})  # refuses it
    told: set[str] = set()

    def efforts(t: float) -> Floats:
        what, numbers = f"inputs at t = {t:g} s", {k: v for k, v in given.items() if not callable(v)}
        asked = {k: as_number(v(t), f"{what}: the value of {k!r}") for k, v in given.items() if callable(v)}
        return system.efforts(numbers | slackened(system.body.actuators, asked, f"at t = {t:g} s", told), what)

    return efforts
