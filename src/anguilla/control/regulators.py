"""Regulators that hold an equilibrium, from its linear model: LQR from the state, LQG from the sensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_discrete_are

from anguilla._words import numbered
from anguilla.control.feedback import Limits, Pick, as_picker
from anguilla.control.plants import Soft, held, reading_at, variances, weights
from anguilla.describe import Robot
from anguilla.errors import SolverError, as_positive
from anguilla.fem.results import SoftEquilibrium
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Inputs, Model
from anguilla.solve.modes.local import At

__all__ = ["LQG", "LQR", "kalman", "reading_at", "weights"]


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


def kalman(A: Floats, C: Floats, spread: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Gain (s, r) of the steady filter, and covariance (s, s) before a reading, for noise of variances (r,)."""
    advice = "Some motion that grows shows in no sensor, or has no disturbance."
    scale = np.sqrt(noise)  # readings in units of their noise: metres and radians are alike
    P = _riccati(A.T, (C / scale[:, None]).T, spread, np.eye(len(scale)), "The filter", advice)
    gain = np.asarray(np.linalg.solve(C @ P @ C.T + np.diag(noise), C @ P).T, dtype=np.float64)
    _refuse_growth(np.linalg.eigvals(A - A @ gain @ C), "The filter", advice)
    return gain, P


class LQR:
    """The linear feedback that holds an equilibrium at the least cost, the sum of x.Q.x + u.R.u over all periods.

    x are the changes of the state, (q, v) for a robot without loops, u those of the inputs. It reads the state
    (`control.full_state`). Of a soft volume, x are the amplitudes of its slowest modes and their rates.

    Args:
        robot: the robot, or its model; or a soft volume: a SoftBody, its equilibrium, or what `fem.linearise` returned.
        at: the equilibrium: an Equilibrium, or coordinates q that balance; the one under `inputs` if not given.
        period: time between two updates [s]: inputs are held in between.
        state_weight: Q: a number, a diagonal, or a matrix (s, s). A number weighs the energy of a soft volume, twice.
        input_weight: R: a number, a diagonal, or a matrix (k, k).
        inputs: inputs at the equilibrium; those of the Equilibrium when `at` is one.
        state: where the state is in the reading: a slice, indices or a function; the whole reading by default.
        limits: (lowest, highest) by input; those of drives, tendons and chambers are kept anyway.
        modes: number of modes of a soft volume.

    Attributes:
        model: the linear model.
        gain: (k, s) of u = -gain x.
        poles: (s,) eigenvalues of one period under control.

    """

    _reads = False  # whether it reads sensors, not the state

    def __init__(
        self, robot: Robot | Model | Soft, at: At | SoftEquilibrium = None, *, period: float,
        state_weight: ArrayLike = 1.0, input_weight: ArrayLike = 1.0, inputs: Inputs | None = None, state: Pick = None,
        limits: Limits = None, modes: int = 10,
    ) -> None:  # fmt: skip
        self.period = as_positive(period, "period", "s")
        given: dict[str, Any] = {"inputs": inputs, "limits": limits, "reading": self._reads, "modes": modes}
        self.plant = held(robot, at, period=self.period, who=type(self).__name__, **given)
        self.model, self.names, self.rest = self.plant.model, self.plant.names, self.plant.rest
        self.low, self.high = self.plant.low, self.plant.high
        A, B = self.plant.A, self.plant.B
        s, k = B.shape
        Q = weights(state_weight, s, "state_weight", self.plant.unit)
        R = weights(input_weight, k, "input_weight", positive=True)
        advice = "Some motion that grows cannot be reached by the inputs, or has no weight."
        self.cost = _riccati(A, B, Q, R, "The regulator", advice)
        self.gain = np.linalg.solve(R + B.T @ self.cost @ B, B.T @ self.cost @ A)
        _refuse_growth(self.poles, "The regulator", advice)
        self.state = as_picker(state)

    def __repr__(self) -> str:
        who, (k, s) = type(self).__name__, self.gain.shape
        rate = f"{numbered(k, 'input')} ({', '.join(self.names)}) every {self.period:g} s"
        return f"<{who} of {numbered(s, 'state')}: {rate}; slowest pole {np.max(np.abs(self.poles)):.4g}>"

    @property
    def poles(self) -> np.ndarray:
        """Eigenvalues (s,) of one period under control: all within the unit circle."""
        return np.linalg.eigvals(self.plant.A - self.plant.B @ self.gain)

    def change(self, state: ArrayLike) -> Floats:
        """x (s,), the change from the equilibrium, of a state as `control.full_state` gives it."""
        return self.plant.change(state)

    def _told(self, x: Floats) -> Floats:
        return np.clip(self.rest - self.gain @ x, self.low, self.high)

    def update(self, reading: Floats, t: float) -> dict[str, float]:
        """Inputs from now on."""
        return dict(zip(self.names, self._told(self.change(self.state(reading))).tolist(), strict=True))


class LQG(LQR):
    """LQR from the sensors of the robot: a Kalman filter finds the state from what they show.

    The filter is the steady one, for white noise: that of the sensors, their resolution included, and a disturbance that
    enters like the inputs.

    Args:
        disturbance: standard deviation of what is added to each input over a period, in its unit: a number or (k,).
        process: (s, s) covariance of what is added to the state in a period besides.
        robot, at, period, state_weight, input_weight, inputs, limits, modes: as for LQR.

    Attributes:
        filter: (s, r) gain of the filter.
        estimate: (s,) the change of the state as it is known.
        covariance: (s, s) of the error of the estimate, if noise and disturbance are as said.

    """

    _reads = True

    def __init__(
        self, robot: Robot | Model | Soft, at: At | SoftEquilibrium = None, *, period: float, disturbance: ArrayLike,
        state_weight: ArrayLike = 1.0, input_weight: ArrayLike = 1.0, process: ArrayLike = 0.0,
        inputs: Inputs | None = None, limits: Limits = None, modes: int = 10,
    ) -> None:  # fmt: skip
        super().__init__(robot, at, period=period, state_weight=state_weight, input_weight=input_weight, inputs=inputs,
                         limits=limits, modes=modes)  # fmt: skip
        A, B, C = self.plant.A, self.plant.B, self.plant.C
        s, k = B.shape
        self.zero = self.plant.zero
        spread = B @ weights(np.square(disturbance), k, "disturbance") @ B.T + weights(process, s, "process")
        noise = variances(self.plant.sensors, self.period, type(self).__name__)
        self.filter, P = kalman(A, C, spread, noise)
        self.covariance = P - self.filter @ C @ P
        self.reset()

    def reset(self) -> None:
        """Take the robot to be at the equilibrium."""
        self.estimate = np.zeros(len(self.plant.A))
        self._ahead, self._acting = self.estimate, np.zeros(len(self.names))

    def update(self, reading: Floats, t: float) -> dict[str, float]:
        """Inputs from now on."""
        plant = self.plant
        surprise = np.asarray(reading) - self.zero - plant.C @ self._ahead - plant.D @ self._acting
        self.estimate = self._ahead + self.filter @ surprise
        told = self._told(self.estimate)
        self._acting = told - self.rest
        self._ahead = plant.A @ self.estimate + plant.B @ self._acting
        return dict(zip(self.names, told.tolist(), strict=True))
