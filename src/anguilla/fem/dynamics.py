"""Motion of soft bodies: implicit steps of the Newmark family with consistent mass, and damping (`viscosity`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from anguilla._doors import public
from anguilla._lazy import ShowsItself
from anguilla.errors import DescriptionError, SolverError, as_nonnegative, as_number, as_positive, as_steps, warn
from anguilla.fem.body import SoftBody
from anguilla.fem.contact import Touched, points_of
from anguilla.fem.fields import equivalent_strain, von_mises
from anguilla.fem.inertia import mass_blocks, mass_matrix
from anguilla.fem.judging import jumps_of
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.moves import Moves
from anguilla.fem.parts import slackened
from anguilla.fem.results import SoftEquilibrium, Status, pick
from anguilla.fem.system import SoftSystem
from anguilla.fem.viscosity import Prony, Rayleigh
from anguilla.fem.walking import Walked
from anguilla.interact.volume_contact import VolumeContact
from anguilla.results.blocks import parts
from anguilla.results.contacts import TouchPoints
from anguilla.results.quality import Quality
from anguilla.results.slices import Slices
from anguilla.solve.steps.schemes import Newmark, Scheme, as_scheme
from anguilla.solve.steps.walked import Path, some_nodes
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
        quality: how far it can be trusted; None of one computed step by step, and of a part of a robot.

    """

    body: SoftBody
    system: SoftSystem = field(repr=False)
    t: Floats
    x: Floats
    v: Floats
    mass: Floats = field(repr=False)
    status: Status
    inputs: Inputs = field(default_factory=dict, repr=False)
    touched: Sequence[Touched] | None = field(default=None, repr=False)
    quality: Quality | None = field(default=None, repr=False)

    def _picked(self, rows: Ints) -> SoftTrajectory:
        touched = None if self.touched is None else [self.touched[k] for k in np.arange(len(self.t))[rows]]
        return replace(self, t=self.t[rows], x=self.x[rows], v=self.v[rows], touched=touched)

    def contact_points(self, contact: VolumeContact) -> list[TouchPoints]:
        """Where a contact touches at each instant: place (k, 3) [m], force (k, 3) [N] of the body on what it touches."""
        each = [None] * len(self.t) if self.touched is None else self.touched
        return [points_of(self.system.touching, touched, contact) for touched in each]

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
    solver: str = "auto", raise_on_failure: bool = True,
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
        solver: "ldl", "mkl" (extra `mkl`), "splu", or "auto": by size.
        raise_on_failure: raise SolverError (with what was reached in `.result`) instead of returning it.

    """
    system = body if isinstance(body, SoftSystem) else SoftSystem(body, solver=solver, free=True)
    count = as_steps(duration, dt, every)
    extra = as_nonnegative(dissipation, "dissipation")
    if method is not None and extra:
        raise DescriptionError("method and dissipation set the same thing: give one of them.")
    scheme = as_scheme(Newmark(0.25 * (1.0 + extra) ** 2, 0.5 + extra) if method is None else method).coefficients
    as_positive(tolerance, "tolerance")
    began = time.perf_counter()
    efforts = sampler(system, inputs)
    walk = Walked(system, scheme, start, efforts, moves, viscosity, rayleigh, tolerance)
    walk.jumps = jumps_of(system, dict(inputs or {}), efforts, moves, dt, count)
    path, some = Path(dt, count, walk.size), some_nodes(len(system.rest.x))
    kept, message, done = [], "", 0
    try:
        for k, motion in enumerate(walk.steps(dt, count)):
            done = k
            path.add(motion.x[some])
            if k % every == 0:
                kept.append((k * dt, motion.x, motion.v, motion.touched))
    except SolverError as stopped:
        if not kept:
            raise
        message = f"stopped at t = {done * dt:g} s: {str(stopped).rstrip('.')}"
    ok, counters = (
        not message,
        {"iterations": motion.iterations, "factorisations": motion.factorisations, "steps": count},
    )
    message = message or f"{count} steps, {motion.iterations} iterations"
    status = Status(ok, message, counters, time.perf_counter() - began)
    *arrays, touched = zip(*kept, strict=True)
    t, x, v = (np.array(part) for part in arrays)
    told = None if system.touching is None else touched
    result = SoftTrajectory(system.body, system, t, x, v, motion.mass, status, dict(inputs or {}), told)
    if not ok and raise_on_failure:
        raise SolverError(f"The motion of {system.body.name!r} {message}.", result=result, advice="Try a smaller dt.")
    if ok:
        quality = walk.judge(path, some, result)
        object.__setattr__(result, "quality", quality)
        if quality.messages:
            warn(" ".join(quality.messages))
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
