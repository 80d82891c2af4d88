"""Model-predictive control: the inputs of some periods ahead are chosen again at every update, within limits and rates.

The robot is linearised about the state that is read, with inputs held over periods: x(k+1) = A x(k) + B du(k) + drift + w.
By w, what the last prediction missed, the robot may be another than its model: an unknown payload leaves no lasting error.
The changes of the inputs that bring the outputs nearest to where they should be are one QP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from anguilla.control.feedback import Goal, Limits, Pick, as_goal, as_picker, input_limits
from anguilla.control.plants import weights
from anguilla.control.qp import solve_qp
from anguilla.describe import Frame, Robot
from anguilla.errors import DescriptionError, as_count, as_positive, as_vector
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Model
from anguilla.model.user import between
from anguilla.solve.modes.linearise import LinearModel, linearise

__all__ = ["MPC", "Horizon"]


class Horizon:
    """Inputs of some periods ahead by a QP: what all model-predictive controllers share.

    Args:
        names: of the inputs (k,).
        size: of the goal.
        ends: lowest and highest inputs (k,).
        given: keywords of `MPC`.

    """

    def __init__(
        self, names: list[str], size: int, ends: tuple[Floats, Floats], *, period: float, horizon: int,
        moves: int | None, goal_weight: ArrayLike, change_weight: ArrayLike, input_weight: ArrayLike,
        rates: Mapping[str, float], inputs: Mapping[str, float] | None, trust: float, every: int,
    ) -> None:  # fmt: skip
        self.names, self.period, self.horizon = names, as_positive(period, "period", "s"), as_count(horizon, "horizon")
        self.moves = min(self.horizon, self.horizon if moves is None else as_count(moves, "moves"))
        self.low, self.high = ends
        if not set(rates) <= set(names):
            raise DescriptionError(f"rates: there are the inputs {', '.join(names) or 'none'}; got {', '.join(rates)}.")
        self.most = self.period * np.array([rates.get(name, np.inf) for name in names])
        self.Q = weights(goal_weight, size, "goal_weight")
        self.S, self.R = (
            weights(w, len(names), n) for w, n in ((change_weight, "change_weight"), (input_weight, "input_weight"))
        )
        self.first = np.array([float((inputs or {}).get(name, 0.0)) for name in names])
        self.trust, self.every = float(trust), as_count(every, "every")
        self.told = np.clip(self.first, self.low, self.high)
        self._held = self.told

    def _chosen(
        self, matrices: tuple[Floats, Floats, Floats, Floats | float], x: Floats, drift: Floats, wanted: Floats
    ) -> Floats:
        """The next inputs (k,), by the QP of the inputs (moves, k) less those of the linear model with A, B, C, D."""
        A, B, C, D = matrices
        k, moves, horizon = len(self.names), self.moves, self.horizon
        forced = np.zeros((horizon, len(wanted[0]), moves * k))
        free, by = x, np.zeros((len(x), moves * k))
        miss = np.zeros_like(wanted)
        for j in range(horizon):
            free, by = A @ free + drift, A @ by
            at = min(j, moves - 1) * k
            by[:, at : at + k] += B
            forced[j], miss[j] = C @ by, C @ free - wanted[j]
            forced[j][:, at : at + k] += D  # what the input of the period answers at its end
        G, e = forced.reshape(-1, moves * k), miss.ravel()
        QG = np.einsum("ab,jbc->jac", self.Q, forced).reshape(-1, moves * k)
        steps = np.eye(moves * k) - np.eye(moves * k, k=-k)  # changes from period to period
        before = np.zeros(moves * k)
        before[:k] = self.told - self._held
        S, R = np.kron(np.eye(moves), self.S), np.kron(np.eye(moves), self.R)
        H = G.T @ QG + steps.T @ S @ steps + R
        f = QG.T @ e - steps.T @ S @ before + R @ np.tile(self._held, moves)
        size = np.sqrt(np.maximum(np.diag(H), 1e-300))
        low, high = np.tile(self.low - self._held, moves), np.tile(self.high - self._held, moves)
        most = np.tile(self.most, moves)
        rows = np.isfinite(most)
        found = solve_qp(
            H / np.outer(size, size), f / size, lower=low * size, upper=high * size, A=steps[rows] / size,
            row_lower=(before - most)[rows], row_upper=(before + most)[rows],
        )  # fmt: skip
        told = self._held + found.x[:k] / size[:k]
        return np.clip(np.clip(told, self.told - self.most, self.told + self.most), self.low, self.high)


class MPC(Horizon):
    """Model-predictive control of frames. It reads the state (q, v).

    Args:
        robot: the model of the robot that the controller has.
        frames: a frame, or several, whose places are wanted.
        goal: places (3 f,) [m], or a function of t, which is asked ahead.
        period: time between two updates [s].
        horizon: periods ahead.
        moves: periods after which the inputs stay as they are; the horizon by default.
        goal_weight: of the places [1/m^2]: a number, a diagonal or a matrix (3 f, 3 f).
        change_weight: of the changes of the inputs from period to period: a number, a diagonal or a matrix (k, k).
        input_weight: of the inputs themselves, likewise.
        rates: largest change per second by input; those of drives are kept anyway.
        limits: (lowest, highest) by input; those of drives and tendons are kept anyway.
        inputs: inputs before the first update, by name.
        trust: part of what a prediction missed that is believed at once, in [0, 1]: less is slower and steadier.
        every: updates after which the robot is linearised again.
        state: where (q, v) is in the reading.

    """

    def __init__(
        self, robot: Robot | Model, frames: Frame | Sequence[Frame], goal: Goal, *, period: float, horizon: int = 15,
        moves: int | None = None, goal_weight: ArrayLike = 1.0, change_weight: ArrayLike = 1e-6,
        input_weight: ArrayLike = 0.0, rates: Mapping[str, float] | None = None, limits: Limits = None,
        inputs: Mapping[str, float] | None = None, trust: float = 0.2, every: int = 1, state: Pick = None,
    ) -> None:  # fmt: skip
        self.model = model_of(robot)
        self.frames = [frames] if isinstance(frames, Frame) else list(frames)
        self.goal = as_goal(goal, 3 * len(self.frames), "goal")
        names, drives = list(self.model.robot.inputs), self.model.robot.drives
        given = {name: drives[name].rate for name in names if np.isfinite(drives[name].rate)} | dict(rates or {})
        given = {name: min(rate, drives[name].rate if name in drives else rate) for name, rate in given.items()}
        super().__init__(
            names, 3 * len(self.frames), input_limits(self.model.robot, limits), period=period, horizon=horizon,
            moves=moves, goal_weight=goal_weight, change_weight=change_weight, input_weight=input_weight, rates=given,
            inputs=inputs, trust=trust, every=every,
        )  # fmt: skip
        self.state = as_picker(state)
        self.reset()

    def reset(self) -> None:
        """Forget what was predicted."""
        self.told = np.clip(self.first, self.low, self.high)
        self._expected: tuple[Floats, Floats] | None = None
        self._missed = np.zeros(2 * self.model.size)
        self._linear: LinearModel | None = None
        self._count = 0

    def update(self, reading: Floats, t: float) -> Floats:
        """Inputs from now on (k,)."""
        n = self.model.size
        state = as_vector(self.state(reading), 2 * n, "the state (q, v) in the reading")
        q, v = state[:n], state[n:]
        if self._expected is not None:
            there, rates = self._expected
            miss = np.concatenate([between(self.model.tree, there, q), v - rates])
            self._missed += self.trust * (miss - self._missed)
        if self._linear is None or self._count % self.every == 0:
            given = dict(zip(self.names, self.told.tolist(), strict=True))
            self._linear = linearise(self.model, (q, v), inputs=given, outputs=self.frames, dt=self.period)
            self._held = self.told
            if self._linear.held:
                raise DescriptionError(f"MPC needs inputs that are forces: {next(iter(self._linear.held.values()))}")
        self._count += 1
        model = self._linear
        local = model.local
        if not local.is_open:
            raise DescriptionError("MPC supports robots without loops and other constraints.")
        x = np.concatenate(
            [local.place_inverse @ between(self.model.tree, local.q, q), local.rate_inverse @ (v - local.v)]
        )
        places = np.concatenate([np.ravel(local.result.position(frame)) for frame in self.frames])
        drift = model.drift + np.concatenate(
            [local.place_inverse @ self._missed[:n], local.rate_inverse @ self._missed[n:]]
        )
        wanted = np.array([self.goal(t + (j + 1) * self.period) for j in range(self.horizon)]) - places
        self.told = self._chosen((model.A, model.B, model.C, 0.0), x, drift, wanted)
        # what the model alone expects, so that what it misses can be told
        ahead = model.A @ x + model.B @ (self.told - self._held) + model.drift
        f = local.place.shape[1]
        self._expected = local.q + local.place @ ahead[:f], local.v + local.rate @ ahead[f:]
        return self.told
