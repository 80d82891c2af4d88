"""A soft body in motion, step by step: for control loops and real time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anguilla._doors import public
from anguilla.describe.sampled import Sampled
from anguilla.errors import DescriptionError, SolverError, as_count, as_flag, as_number, as_positive, refuse
from anguilla.fem.body import SoftBody
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.mesh import Floats
from anguilla.fem.moves import Moves, moves_of
from anguilla.fem.parts import slackened
from anguilla.fem.results import SoftEquilibrium, Status, pick
from anguilla.fem.sensing import SoftReader, SoftSeen
from anguilla.fem.stepping import Motion
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.fem.viscosity import Prony, Rayleigh
from anguilla.results.reading import Instruments
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
        history: keep all states, for `trajectory`.
        seed: of the noise of sensors; the same noise in every process if not given.

    Attributes:
        names: of the inputs, in their order.

    """

    def __init__(
        self, body: SoftBody | SoftSystem, *, dt: float, inputs: Mapping[str, float] | None = None,
        moves: Moves | None = None, start: SoftEquilibrium | None = None, viscosity: Sequence[Prony] | None = None,
        rayleigh: Rayleigh | None = None, method: Scheme | str | None = None, tolerance: float = 1e-7,
        solver: str = "auto", history: bool = False, seed: int | None = 0,
    ) -> None:  # fmt: skip
        self.system = body if isinstance(body, SoftSystem) else SoftSystem(body, solver=solver, free=True)
        self.body, self.dt = self.system.body, as_positive(dt, "dt", "s")
        self.names = list(self.system.names)
        self._reader = SoftReader(self.system)
        self._instruments = Instruments(self._reader.sensors, self.dt, seed=seed)
        self._history: list[tuple[Floats, Floats, Floats]] | None = [] if as_flag(history, "history") else None
        scheme = as_scheme(Newmark() if method is None else method).coefficients
        self._motion = Motion(self.system, dt, scheme, viscosity, rayleigh, as_positive(tolerance, "tolerance"))
        self._efforts = self.system.efforts(inputs)
        self._slack: set[str] = set()  # tendons that were told to be slack
        self._start, self._moves = start, moves
        self.reset()

    def reset(self) -> None:
        """Go back to the start, at t = 0 s; the inputs stay as they are."""
        self._motion.begin(self._start, self._efforts, self._moves)
        self._instruments.reset()
        self._shown: tuple[int, Floats] | None = None
        if self._history is not None:
            self._history.clear()
            self._keep()

    def _keep(self) -> None:
        self._history.append((self.x, self.v, self._efforts))  # type: ignore[union-attr]

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

    @property
    def commands(self) -> dict[str, float]:
        """The inputs as they were last given: those of a soft body have no drives."""
        return self.inputs

    def set_inputs(self, inputs: Mapping[str, float]) -> None:
        """Change some inputs; the others stay as they are. A negative tension is none: slack."""
        given = {name: as_number(value, f"the input {name!r}") for name, value in inputs.items()}
        acting = slackened(self.body.actuators, given, f"at t = {self.t:g} s", self._slack)
        self._efforts = self.system.efforts(self.inputs | acting)

    def step(
        self, count: int | Mapping[str, float] = 1, inputs: Mapping[str, float] | None = None, *,
        moves: Moves | None = None,
    ) -> None:  # fmt: skip
        """Make steps.

        Args:
            count: number of steps; or the inputs, for one step.
            inputs: inputs that change, by name; they hold until they are changed again. A negative tension is none: slack.
            moves: where moved points go during the first step, evenly; they stay there.

        """
        if isinstance(count, Mapping):
            if inputs is not None:
                raise DescriptionError("step: give the inputs once.")
            number, inputs = 1, count
        else:
            number = as_count(count, "count")
        if inputs is not None:
            self.set_inputs(inputs)
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
            if self._history is not None:
                self._keep()

    def read(self, sensor: str | None = None) -> Floats:
        """What the sensors show now, in one array (`reading_labels` says what), or what one of them shows.

        Noise is drawn once a step: to read again gives the same.
        """
        if self._shown is None or self._shown[0] != self._motion.count:
            seen = SoftSeen(self.system, self.x[None], self.v[None], self._efforts[None])
            self._shown = self._motion.count, self._instruments.show(self._reader.true(seen))[0]
        shown = self._shown[1]
        return shown.copy() if sensor is None else shown[self._reader.at(sensor)].copy()

    @property
    def reading_labels(self) -> list[str]:
        """Names of the numbers that `read` gives, such as "tip.x"."""
        return list(self._reader.labels)

    @property
    def reading_units(self) -> list[str]:
        """Units of the numbers that `read` gives."""
        return list(self._reader.units)

    def position(self, effector: str) -> Floats:
        """Position (3,) [m] of an effector."""
        return self.system.frames.position(self.x, pick(effector, self.system.frames.names, "effector"))

    def strokes(self) -> dict[str, float]:
        """Stroke of every actuator: shortening [m] of tendons, gain of volume [m^3] of chambers."""
        return dict(zip(self.system.names, self.system.strokes(self.state).tolist(), strict=True))

    def readings(self) -> dict[str, float]:
        """Length [m] of every string."""
        return dict(zip(self.system.sensors, self.system.readings(self.state).tolist(), strict=True))

    def trajectory(self) -> SoftTrajectory:
        """Return the motion since the start, with the inputs that changed on the way; needs `history=True`.

        At every instant the inputs are those of the step that ended there.
        """
        if self._history is None:
            raise DescriptionError("this stepper keeps no history: make it with Stepper(..., history=True).")
        x, v, efforts = (np.array(column) for column in zip(*self._history, strict=True))
        inputs: dict[str, Any] = {}
        for name, column in zip(self.names, efforts.T, strict=True):
            inputs[name] = Sampled(column.copy(), self.dt) if np.any(column != column[0]) else float(column[0])
        status = Status(True, "on its way", {"steps": self._motion.count, "iterations": self._motion.iterations})
        times = self.dt * np.arange(len(x), dtype=np.float64)
        return SoftTrajectory(self.body, self.system, times, x, v, self._motion.mass, status, inputs)

    def result(self) -> SoftTrajectory:
        """The present instant as a motion, for figures and files."""
        m = self._motion
        counters = {"iterations": m.iterations, "factorisations": m.factorisations, "steps": m.count}
        status = Status(True, f"{m.count} steps, {m.iterations} iterations", counters)
        return SoftTrajectory(
            self.body, self.system, np.array([self.t]), self.x[None], self.v[None], m.mass, status, self.inputs,
            None if m.touched is None else [m.touched],
        )  # fmt: skip
