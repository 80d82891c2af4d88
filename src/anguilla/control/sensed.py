"""Model-predictive control from sensors: of soft volumes through a reduced body, or of anything with a linear model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from anguilla.control.feedback import Goal, Limits, as_goal, input_limits
from anguilla.control.horizon import Horizon
from anguilla.control.plants import Held, Soft, held, over_period, variances, weights
from anguilla.control.regulators import kalman
from anguilla.describe import Robot
from anguilla.describe.sensors import Position
from anguilla.errors import DescriptionError, as_positive, as_vector
from anguilla.fem.reduced_motion import ReducedMotion
from anguilla.fem.reduction import ReducedModel
from anguilla.fem.sensing import SoftReader, SoftSeen
from anguilla.fem.system import SoftState
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model

__all__ = ["SensorMPC"]


class Local(NamedTuple):
    """A linear model of one period about a state: x(k+1) = A x(k) + B u + drift, y = shown + C x + D u, as changes."""

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    drift: Floats  # (s,)
    shown: Floats  # (r,)


class _Fixed:
    """A linear model about an equilibrium, wherever the state is."""

    def __init__(self, plant: Held) -> None:
        self.plant, self.names, self.sensors = plant, plant.names, plant.sensors
        self.first, self.ends = np.zeros(len(plant.A)), (plant.low, plant.high)

    def local(self, x: Floats, inputs: Floats) -> Local:
        """About a state (s,) with inputs (k,)."""
        p, u = self.plant, inputs - self.plant.rest
        return Local(p.A, p.B, p.C, p.D, p.A @ x + p.B @ u - x, p.zero + p.C @ x + p.D @ u)


class _Reduced:
    """A reduced body, linear about the present state."""

    def __init__(self, model: ReducedModel, period: float, limits: Limits, first: Mapping[str, float]) -> None:
        system = model.system
        self.model, self.period, self.names = model, period, list(system.names)
        self.motion, self.reader = ReducedMotion(model), SoftReader(system)
        self.sensors, self.ends = self.reader.sensors, input_limits(system.body, limits)
        model.statics(first)
        self.first = np.concatenate([model.q, np.zeros_like(model.q)])

    def local(self, x: Floats, inputs: Floats) -> Local:
        """About a state (2 r,) with inputs (k,)."""
        model, r = self.model, len(x) // 2
        A, B, drift = self.motion.linear(x[:r], x[r:], inputs)
        A, B = over_period(A, np.hstack([B, drift[:, None]]), self.period)
        nodes, rates = model.x, np.einsum("rni,r->ni", model.basis, x[r:])
        shown = self.reader.true(SoftSeen(model.system, nodes[None], rates[None], inputs[None]))[0]
        rows = self.reader.rows(SoftState(nodes, model.system.rest.rotations))
        C = np.hstack([np.einsum("oni,rni->or", row, model.basis) for row in rows])
        return Local(A, B[:, :-1], C, np.zeros((len(C), len(inputs))), B[:, -1], shown)


class SensorMPC(Horizon):
    """Model-predictive control of a place that a sensor shows, from all sensors: a Kalman filter finds the state.

    Of a soft volume through a reduced body, linear about its present state; or of a robot or a volume about an equilibrium.
    What the model lacks, an unknown load or the error of a reduction, leaves no lasting error: what sensor and model differ
    by is predicted to stay.

    Args:
        robot: a ReducedModel of `fem.reduce`; or a robot, a soft volume or its linear model, as for LQG.
        sensor: name of the sensor of the place, a Position.
        goal: place (3,) [m], or a function of t, which is asked ahead.
        period: time between two updates [s].
        disturbance: standard deviation of what is added to each input over a period, in its unit: a number or (k,).
        process: (s, s) covariance of what is added to the state in a period besides.
        at: the equilibrium, as for LQG.
        horizon, moves, goal_weight, change_weight, input_weight, rates, limits, inputs, trust, every: as for MPC.
        modes: number of modes of a soft volume.

    """

    def __init__(
        self, robot: Robot | Model | Soft | ReducedModel, sensor: str, goal: Goal, *, period: float,
        disturbance: ArrayLike, process: ArrayLike = 0.0, at: Any = None, horizon: int = 15, moves: int | None = None,
        goal_weight: ArrayLike = 1.0, change_weight: ArrayLike = 1e-6, input_weight: ArrayLike = 0.0,
        rates: Mapping[str, float] | None = None, limits: Limits = None, inputs: Mapping[str, float] | None = None,
        trust: float = 0.2, every: int = 1, modes: int = 10,
    ) -> None:  # fmt: skip
        as_positive(period, "period", "s")
        if isinstance(robot, ReducedModel):
            self.plant: _Reduced | _Fixed = _Reduced(robot, period, limits, dict(inputs or {}))
        else:
            found = held(
                robot, at, period=period, inputs=inputs, limits=limits, reading=True, modes=modes, who="SensorMPC"
            )
            self.plant = _Fixed(found)
            inputs = dict(zip(found.names, found.rest.tolist(), strict=True)) if inputs is None else inputs
        super().__init__(
            self.plant.names, 3, self.plant.ends, period=period, horizon=horizon, moves=moves, goal_weight=goal_weight,
            change_weight=change_weight, input_weight=input_weight, rates=dict(rates or {}), inputs=inputs, trust=trust,
            every=every,
        )  # fmt: skip
        self.goal, self.at = as_goal(goal, 3, "goal"), _place(self.plant.sensors, sensor)
        start = self.plant.local(self.plant.first, self.told)
        s, k = start.B.shape
        spread = start.B @ weights(np.square(disturbance), k, "disturbance") @ start.B.T + weights(
            process, s, "process"
        )
        self.filter = kalman(start.A, start.C, spread, variances(self.plant.sensors, self.period, "SensorMPC"))[0]
        self.reset()

    def reset(self) -> None:
        """Take the robot to be where it starts."""
        self.told = np.clip(self.first, self.low, self.high)
        self.estimate = self._ahead = self.plant.first
        self._missed, self._count = np.zeros(3), 0
        self._local = self.plant.local(self._ahead, self.told)
        self._about = self._ahead

    def update(self, reading: Floats, t: float) -> Floats:
        """Inputs from now on (k,)."""
        if self._count % self.every == 0 or isinstance(self.plant, _Fixed):
            self._local, self._about, self._held = self.plant.local(self._ahead, self.told), self._ahead, self.told
        self._count += 1
        A, B, C, D, drift, shown = self._local
        x = self._ahead - self._about
        expected = shown + C @ x + D @ (self.told - self._held)
        surprise = as_vector(reading, len(shown), "the reading") - expected
        x = x + self.filter @ surprise
        self.estimate = self._about + x
        off = (surprise - C @ (self.filter @ surprise))[self.at]
        self._missed = self._missed + self.trust * (off - self._missed)
        goals = np.array([self.goal(t + (j + 1) * self.period) for j in range(self.horizon)])
        told = self._chosen((A, B, C[self.at], D[self.at]), x, drift, goals - shown[self.at] - self._missed)
        self._ahead = self._about + A @ x + B @ (told - self._held) + drift
        self.told = told
        return self.told


def _place(sensors: Mapping[str, Any], name: str) -> slice:
    """Which numbers of a reading are those of a Position."""
    first = 0
    for key, sensor in sensors.items():
        if key == name and isinstance(sensor, Position):
            return slice(first, first + 3)
        first += sensor.size
    known = ", ".join(key for key, sensor in sensors.items() if isinstance(sensor, Position)) or "none"
    raise DescriptionError(f"sensor must be the name of a Position; got {name!r}; there are: {known}.")
