"""Regulators that hold an equilibrium, from its linear model: LQR from the state, LQG from the sensors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_discrete_are

from anguilla.control.feedback import Limits, Pick, as_picker, input_limits
from anguilla.describe import Load, Robot
from anguilla.errors import DescriptionError, SolverError, as_array, as_positive, as_vector, refuse
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Inputs, Model
from anguilla.model.user import between
from anguilla.results.reading import Reader, Seen
from anguilla.solve.modes.linearise import LinearModel, linearise
from anguilla.solve.modes.local import At

__all__ = ["LQG", "LQR", "reading_at", "weights"]

MOVING = 1e-6  # [rad/s, rad/s^2] a state that drifts faster is no equilibrium


def weights(value: ArrayLike, size: int, name: str) -> Floats:
    """A matrix (size, size) of weights from a number, its diagonal or itself."""
    array = as_array(value, name, f"a number, {size} numbers or a matrix ({size}, {size})")
    if array.ndim == 0:
        return float(array) * np.eye(size)
    if array.shape == (size,):
        return np.diag(array)
    if array.shape != (size, size):
        raise refuse(name, f"a number, {size} numbers or a matrix ({size}, {size})", value)
    return array


def _riccati(A: Floats, B: Floats, Q: Floats, R: Floats, what: str, advice: str) -> Floats:
    try:
        found = solve_discrete_are(A, B, Q, R)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise SolverError(f"{what} has no solution: {error}", advice=advice) from error
    return np.asarray(found, dtype=np.float64)


def _refuse_growth(poles: np.ndarray, what: str, advice: str) -> None:
    if np.max(np.abs(poles)) >= 1.0:
        most = float(np.max(np.abs(poles)))
        raise SolverError(f"{what} has no solution: an error would grow {most:.4g} times in a period.", advice=advice)


class LQR:
    """The linear feedback that holds an equilibrium at the least cost, the sum of x.Q.x + u.R.u over all periods.

    x are the changes of the state, (q, v) for a robot without loops, u those of the inputs. It reads the state (q, v).

    Args:
        robot: the robot, or its model.
        at: the equilibrium: an Equilibrium, or coordinates q that balance; the one under `inputs` if not given.
        period: time between two updates [s]: inputs are held in between.
        state_weight: Q: a number, a diagonal, or a matrix (s, s).
        input_weight: R: a number, a diagonal, or a matrix (k, k).
        inputs: inputs at the equilibrium; those of the Equilibrium when `at` is one.
        state: where (q, v) is in the reading: a slice, indices or a function; the whole reading by default.
        limits: (lowest, highest) by input; those of drives and tendons are kept anyway.

    Attributes:
        model: the linear model.
        gain: (k, s) of u = -gain x.
        poles: (s,) eigenvalues of one period under control.

    """

    def __init__(
        self, robot: Robot | Model, at: At = None, *, period: float, state_weight: ArrayLike = 1.0,
        input_weight: ArrayLike = 1.0, inputs: Inputs | None = None, state: Pick = None, limits: Limits = None,
        outputs: Callable[[Floats, Floats], ArrayLike] | None = None,
    ) -> None:  # fmt: skip
        self.period = as_positive(period, "period", "s")
        self.model: LinearModel = linearise(robot, at, inputs=inputs, dt=self.period, outputs=outputs)
        local, system = self.model.local, self.model.local.system
        if np.linalg.norm(local.a * system.tree.scale) > MOVING or np.any(local.v):
            raise DescriptionError(
                f"{type(self).__name__} holds an equilibrium, and {system.robot.name!r} is not at rest in this state: "
                "take one from statics, or inputs that hold it."
            )
        if not self.model.inputs:
            raise DescriptionError(f"{type(self).__name__} needs inputs that are forces; held are: {self.model.held}.")
        s, k = self.model.B.shape
        Q, R = weights(state_weight, s, "state_weight"), weights(input_weight, k, "input_weight")
        A, B = self.model.A, self.model.B
        advice = "Some motion that grows cannot be reached by the inputs, or has no weight."
        self.cost = _riccati(A, B, Q, R, "The regulator", advice)
        self.gain = np.linalg.solve(R + B.T @ self.cost @ B, B.T @ self.cost @ A)
        _refuse_growth(self.poles, "The regulator", advice)
        self.state = as_picker(state)
        self.names = self.model.inputs
        self.rest = np.array([_number(local.result.inputs.get(name, 0.0), local.result.t) for name in self.names])
        low, high = input_limits(system.robot, limits)
        where = [list(system.robot.inputs).index(name) for name in self.names]
        self.low, self.high = low[where], high[where]

    @property
    def poles(self) -> np.ndarray:
        """Eigenvalues (s,) of one period under control: all within the unit circle."""
        return np.linalg.eigvals(self.model.A - self.model.B @ self.gain)

    def change(self, state: ArrayLike) -> Floats:
        """x (s,), the change from the equilibrium, of a state (q, v) (2 n,)."""
        local, n = self.model.local, self.model.local.system.size
        whole = as_vector(state, 2 * n, "the state (q, v) in the reading")
        place = local.place_inverse @ between(local.system.tree, local.q, whole[:n])
        return np.concatenate([place, local.rate_inverse @ whole[n:]])

    def _told(self, x: Floats) -> Floats:
        return np.clip(self.rest - self.gain @ x, self.low, self.high)

    def update(self, reading: Floats, t: float) -> dict[str, float]:
        """Inputs from now on."""
        return dict(zip(self.names, self._told(self.change(self.state(reading))).tolist(), strict=True))


def _number(value: object, t: float) -> float:
    return float(value(t) if callable(value) else value)  # type: ignore[arg-type]


def reading_at(model: Model) -> Callable[[Floats, Floats], Floats]:
    """What the sensors of a robot show without noise, as a function of (q, v); refuses those of forces, accelerations."""
    reader = model.once(Reader)
    if not reader.size:
        raise DescriptionError(f"{model.robot.name!r} has no sensors: add them with robot.sense(name, sensor).")

    def efforts() -> Floats:
        raise DescriptionError("a filter of places and rates does not support sensors of efforts.")

    def contacts(load: Load) -> Floats:
        raise DescriptionError("a filter of places and rates does not support sensors of contact forces.")

    def shown(q: Floats, v: Floats) -> Floats:
        unknown = np.full((1, model.size), np.nan)
        found = reader.true(Seen(reader, np.zeros(1), q[None], v[None], unknown, efforts, contacts))[0]
        if not np.all(np.isfinite(found)):
            bad = reader.labels[int(np.argmin(np.isfinite(found)))]
            raise DescriptionError(f"a filter of places and rates does not support {bad!r}, which shows accelerations.")
        return found

    return shown


class LQG(LQR):
    """LQR from the sensors of the robot: a Kalman filter finds the state from what they show.

    The filter is the steady one, for white noise: that of the sensors, their resolution included, and a disturbance that
    enters like the inputs.

    Args:
        disturbance: standard deviation of what is added to each input over a period, in its unit: a number or (k,).
        process: (s, s) covariance of what is added to the state in a period besides.
        robot, at, period, state_weight, input_weight, inputs, limits: as for LQR.

    Attributes:
        filter: (s, r) gain of the filter.
        estimate: (s,) the change of the state as it is known.
        covariance: (s, s) of the error of the estimate, if noise and disturbance are as said.

    """

    def __init__(
        self, robot: Robot | Model, at: At = None, *, period: float, disturbance: ArrayLike,
        state_weight: ArrayLike = 1.0, input_weight: ArrayLike = 1.0, process: ArrayLike = 0.0,
        inputs: Inputs | None = None, limits: Limits = None,
    ) -> None:  # fmt: skip
        system = model_of(robot)
        shown = reading_at(system)
        super().__init__(robot, at, period=period, state_weight=state_weight, input_weight=input_weight, inputs=inputs,
                         limits=limits, outputs=shown)  # fmt: skip
        A, B, C = self.model.A, self.model.B, self.model.C
        s, k = B.shape
        local = self.model.local
        self.zero = shown(local.q, local.v)
        spread = B @ weights(np.square(disturbance), k, "disturbance") @ B.T + weights(process, s, "process")
        noise = np.diag(_variances(system, self.period))
        advice = "Some motion that grows shows in no sensor, or has no disturbance."
        scale = np.sqrt(np.diag(noise))  # readings in units of their noise: metres and radians are alike
        P = _riccati(A.T, (C / scale[:, None]).T, spread, np.eye(len(scale)), "The filter", advice)
        self.filter = np.linalg.solve(C @ P @ C.T + noise, C @ P).T
        _refuse_growth(np.linalg.eigvals(A - A @ self.filter @ C), "The filter", advice)
        self.covariance = P - self.filter @ C @ P
        self.reset()

    def reset(self) -> None:
        """Take the robot to be at the equilibrium."""
        self.estimate = np.zeros(len(self.model.A))
        self._ahead = self.estimate

    def update(self, reading: Floats, t: float) -> dict[str, float]:
        """Inputs from now on."""
        surprise = np.asarray(reading) - self.zero - self.model.C @ self._ahead
        self.estimate = self._ahead + self.filter @ surprise
        told = self._told(self.estimate)
        self._ahead = self.model.A @ self.estimate + self.model.B @ (told - self.rest)
        return dict(zip(self.names, told.tolist(), strict=True))


def _variances(model: Model, period: float) -> Floats:
    """Variances (r,) of what the sensors show."""
    out = []
    for name, sensor in model.robot.sensors.items():
        variance = sensor.noise**2 + sensor.resolution**2 / 12.0
        if variance == 0.0:
            raise DescriptionError(f"LQG weighs sensors by their noise, and {name!r} has none: give it noise=...")
        if sensor.delay > 0.5 * period or (sensor.rate is not None and sensor.rate * period < 1.0 - 1e-9):
            raise DescriptionError(
                f"LQG takes what sensors show as of now, and {name!r} shows what is older than a period of {period:g} s."
            )
        out += [variance] * sensor.size
    return np.array(out)
