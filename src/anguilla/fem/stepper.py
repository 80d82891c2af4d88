"""A soft body in motion, step by step: for control loops and real time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from anguilla._doors import public
from anguilla.errors import DescriptionError, SolverError, as_count, as_positive, refuse
from anguilla.fem.body import SoftBody
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.mesh import Floats
from anguilla.fem.moves import Moves, moves_of
from anguilla.fem.results import SoftEquilibrium, Status, pick
from anguilla.fem.stepping import Motion
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.fem.viscosity import Prony, Rayleigh
from anguilla.solve.steps.schemes import Newmark, Scheme, as_scheme

__all__ = ["Stepper"]


@public
class Stepper:
    """A motion of a soft body that is computed step by step, as `fem.simulate` does it.

    Args:
        body: the body, or a compiled SoftSystem.
        dt: time step [s].
        inputs: tensions [N] and pressures [Pa] by name, numbers; absent ones are zero. `step` changes them.
        moves: where moved points are, by the names of `SoftBody.move`.
        start: equilibrium to start from, at rest; the rest shape if not given.
        viscosity: Prony terms; those of the body's material if not given.
        rayleigh: Rayleigh damping.
        method: Newmark(), HHT(), GeneralisedAlpha(), Midpoint() or their names; Newmark() if not given.
        tolerance: error of the displacements of a step, over the size of the body; greater is faster.
        solver: "ldl", "mkl" (extra `mkl`), "splu", or "auto": by size.

    """

    def __init__(
        self, body: SoftBody | SoftSystem, *, dt: float, inputs: Mapping[str, float] | None = None,
        moves: Moves | None = None, start: SoftEquilibrium | None = None, viscosity: Sequence[Prony] | None = None,
        rayleigh: Rayleigh | None = None, method: Scheme | str | None = None, tolerance: float = 1e-7,
        solver: str = "auto",
    ) -> None:  # fmt: skip
        self.system = body if isinstance(body, SoftSystem) else SoftSystem(body, solver=solver)
        self.body, self.dt = self.system.body, as_positive(dt, "dt", "s")
        scheme = as_scheme(Newmark() if method is None else method).coefficients
        self._motion = Motion(self.system, dt, scheme, viscosity, rayleigh, as_positive(tolerance, "tolerance"))
        self._efforts = self.system.efforts(inputs)
        self._start, self._moves = start, moves
        self.reset()

    def reset(self) -> None:
        """Go back to the start, at t = 0 s; the inputs stay as they are."""
        self._motion.begin(self._start, self._efforts, self._moves)

    @property
    def t(self) -> float:
        """Time [s]."""
        return self._motion.t

    @property
    def state(self) -> SoftState:
        """Where the body is."""
        return self._motion.state

    @property
    def x(self) -> Floats:
        """Positions (n, 3) [m] of the nodes."""
        return self._motion.x

    @property
    def v(self) -> Floats:
        """Velocities (n, 3) [m/s] of the nodes."""
        return self._motion.v

    @property
    def inputs(self) -> dict[str, float]:
        """Tension [N] or pressure [Pa] of every actuator, by name."""
        return dict(zip(self.system.names, self._efforts.tolist(), strict=True))

    def step(
        self, count: int | Mapping[str, float] = 1, inputs: Mapping[str, float] | None = None, *,
        moves: Moves | None = None,
    ) -> None:  # fmt: skip
        """Make steps.

        Args:
            count: number of steps; or the inputs, for one step.
            inputs: inputs that change, by name; they hold until they are changed again.
            moves: where moved points go during the first step, evenly; they stay there.

        """
        if isinstance(count, Mapping):
            if inputs is not None:
                raise DescriptionError("step: give the inputs once.")
            number, inputs = 1, count
        else:
            number = as_count(count, "count")
        if inputs is not None:
            self._efforts = self.system.efforts(self.inputs | dict(inputs))
        goals = None if moves is None else moves_of(self.system, moves)
        if goals is not None and any(callable(goal) for goal in goals.values()):
            raise refuse("step: moves", "displacements (3,) or poses (4, 4); functions of t belong to the start", moves)
        for _ in range(number):
            ok, words = self._motion.step(lambda t: self._efforts, goals)
            if not ok:
                raise SolverError(
                    f"The motion of {self.body.name!r} stopped at t = {self.t:g} s: {words}.", advice="Try a smaller dt.",
                    result=self.result(),
                )  # fmt: skip

    def position(self, effector: str) -> Floats:
        """Position (3,) [m] of an effector."""
        return self.system.frames.position(self.x, pick(effector, self.system.frames.names, "effector"))

    def strokes(self) -> dict[str, float]:
        """Stroke of every actuator: shortening [m] of tendons, gain of volume [m^3] of chambers."""
        return dict(zip(self.system.names, self.system.strokes(self.state).tolist(), strict=True))

    def readings(self) -> dict[str, float]:
        """Length [m] of every string."""
        return dict(zip(self.system.sensors, self.system.readings(self.state).tolist(), strict=True))

    def result(self) -> SoftTrajectory:
        """The present instant as a motion, for figures and files."""
        m = self._motion
        counters = {"iterations": m.iterations, "factorisations": m.factorisations, "steps": m.count}
        status = Status(True, f"{m.count} steps, {m.iterations} iterations", counters)
        return SoftTrajectory(
            self.body, self.system, np.array([self.t]), self.x[None], self.v[None], m.mass, status, self.inputs
        )
