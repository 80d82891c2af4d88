"""The state of a moving robot from what is measured on the way: an extended Kalman filter on the exact linear model.

The state is (q, v), and forces on frames that nobody knows. With the tangents K, C, M of the balance there, x' = f(x) is
x' = f + A (x - x0) nearby; one step of dt is its exact solution (the exponential of A, of second order in dt for the motion
itself), and its derivative carries the covariance.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from anguilla.describe import Frame, Robot
from anguilla.describe.sensors import Accelerometer, ContactForce, Effort
from anguilla.errors import (
    DescriptionError,
    SolverError,
    as_count,
    as_named,
    as_nonnegative,
    as_positive,
    as_vector,
    refuse,
)
from anguilla.identification.measurements import Marker, frame_named
from anguilla.interact import Wrench
from anguilla.lie import hat3
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import Model
from anguilla.results.kinematics import body_jacobian, motion_of
from anguilla.results.lines import cable_length
from anguilla.results.observe import S_X
from anguilla.results.reactions import refuse_holding
from anguilla.results.reading import Reader, Seen

__all__ = ["Observer"]

OF_FORCES = (Accelerometer, ContactForce, Effort)
NOISE = {"markers": 1e-3, "gyros": 1e-2, "lengths": 1e-3}  # [m, rad/s, m]


class _Past(NamedTuple):
    """An estimate, before (_before) and after what was measured; `flow` (s, s) is the derivative of the step to it."""

    t: float
    x_before: Floats
    P_before: Floats
    flow: Floats
    x: Floats
    P: Floats


class Observer:
    """Follows the state of a robot from measurements, step by step.

    It supports open robots without constraints, balls or friction of tendons.

    Args:
        robot: the robot.
        dt: time between measurements [s].
        markers: (3,) [m] are measured, by name: a frame, its label ("arm.tip"), or a `Marker` with an offset.
        gyros: (3,) [rad/s] in the axes of a frame are measured, by name.
        lengths: names of actuators whose length [m] is measured.
        sensors: names of sensors of the robot (`robot.sense`) that are measured: positions, poses, velocities, gyros, joints,
            strains (fibres with Bragg gratings), lengths of lines; not what depends on accelerations or forces. The noise of
            a sensor is its own, if it has one.
        forces: frames, by name, on which unknown forces act: (3,) [N], world axes, are estimated too.
        noise: standard deviation of measurements, by name or by kind: "markers" (1e-3 m if not given), "gyros" (1e-2 rad/s),
            "lengths" (1e-3 m).
        process: how fast unknown accelerations make rates uncertain: their standard deviation after one second, as an angle
            or a relative displacement per second.
        force_rate: standard deviation of a force after one second [N].
        start: coordinates (n,), or (q, v); the rest shape at rest if not given.
        lag: how many past estimates are kept for `smoothed`.
        spread: standard deviations at the start, of coordinates and rates as angles or relative displacements, of forces [N].

    Attributes:
        x: (2 n + 3 forces,) the estimate; P its covariance.
        t: time [s].
        surprise: normalised square of what the last measurements missed, and the number of these: its mean is that number.

    """

    def __init__(
        self, robot: Robot, *, dt: float, markers: Mapping[str, Marker | Frame | str] | None = None,
        gyros: Mapping[str, Frame | str] | None = None, lengths: Sequence[str] = (),
        sensors: Sequence[str] = (), forces: Mapping[str, Frame | str] | None = None,
        noise: Mapping[str, float] | None = None, process: float = 1.0, force_rate: float = 1.0,
        start: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
        spread: tuple[float, float, float] = (0.1, 0.1, 1.0), lag: int = 0,
    ) -> None:  # fmt: skip
        self.dt = as_positive(dt, "dt", "s")
        self.markers = {n: m if isinstance(m, Marker) else Marker(m) for n, m in (markers or {}).items()}
        self.gyros, self.lengths, self.sensors = dict(gyros or {}), list(lengths), list(sensors)
        twin = copy.deepcopy(robot)
        self._now = {name: np.zeros(3) for name in forces or {}}
        self.frames = {name: frame_named(twin, at) for name, at in (forces or {}).items()}
        for name, frame in self.frames.items():
            twin.load(Wrench(frame, force=self._signal(name)))
        self.model = Model(twin)
        self._check(noise or {})
        model, n = self.model, self.model.size
        given = start if isinstance(start, tuple) else (start, None)
        q, v = (np.zeros(n) if part is None else as_vector(part, n, "start") for part in given)
        self.x = np.concatenate([q, v, np.zeros(3 * len(self._now))])
        scale = model.tree.scale
        ones = [spread[0] / scale, spread[1] / scale, np.full(3 * len(self._now), spread[2])]
        self.P = np.diag(np.concatenate(ones) ** 2)
        per_second = [np.zeros(n), as_nonnegative(process, "process") / scale]
        self.Q = self.dt * np.diag(
            np.concatenate([*per_second, np.full(3 * len(self._now), as_nonnegative(force_rate, "force_rate"))]) ** 2
        )
        self.t, self.surprise = 0.0, (0.0, 0)
        self._past: deque[_Past] = deque(maxlen=as_count(lag, "lag", 0) + 1)
        self._past.append(_Past(self.t, self.x, self.P, np.eye(len(self.x)), self.x, self.P))

    def _signal(self, name: str) -> Any:
        now = self._now
        return lambda t: now[name]

    def _check(self, noise: Mapping[str, float]) -> None:
        model = self.model
        if not model.is_plain or len(model.tree.ball) or np.any(model.blank.cables.friction):
            raise DescriptionError(
                "Observer supports open robots without closures, lengths of tendons as inputs, prescribed motions, balls and "
                "friction of tendons."
            )
        refuse_holding(model.blank, "Observer")
        known = [*self.markers, *self.gyros, *self.lengths, *self.sensors]
        if not known:
            raise DescriptionError("Observer needs something that is measured: markers, gyros, lengths or sensors.")
        if len(set(known)) < len(known):
            raise DescriptionError("Observer: every marker, gyro, line and sensor needs a name of its own.")
        for at in (*(marker.frame for marker in self.markers.values()), *self.gyros.values()):
            frame_named(model.robot, at)
        for name in self.lengths:
            if name not in model.robot.actuators:
                told = ", ".join(model.robot.actuators) or "none"
                raise DescriptionError(f"Observer.lengths: the robot has no actuator {name!r}; it has: {told}.")
        for name in self.sensors:
            sensor = model.robot.sensors.get(name)
            if sensor is None:
                told = ", ".join(model.robot.sensors) or "none"
                raise DescriptionError(f"Observer.sensors: the robot has no sensor {name!r}; it has: {told}.")
            if isinstance(sensor, OF_FORCES):
                raise DescriptionError(
                    f"Observer.sensors: {name!r} depends on accelerations or forces, which are not part of the state."
                )
        for name in noise:
            if name not in known and name not in NOISE:
                raise refuse("Observer.noise", f"by name ({', '.join(known)}) or by kind ({', '.join(NOISE)})", name)
        kinds = {name: kind for kind in NOISE for name in getattr(self, kind)}
        self.deviation: dict[str, float] = {
            name: as_positive(noise.get(name, noise.get(kind, NOISE[kind])), f"Observer.noise of {name!r}")
            for name, kind in kinds.items()
        }
        for name in self.sensors:
            own = noise.get(name, model.robot.sensors[name].noise or np.nan)
            if np.isnan(own):
                raise DescriptionError(
                    f"Observer.noise: say how large the noise of sensor {name!r} is; it has none itself."
                )
            self.deviation[name] = as_positive(own, f"Observer.noise of {name!r}")

    def __repr__(self) -> str:
        told = (
            f"{', '.join(self.deviation)} every {self.dt:g} s; {len(self.x)} numbers, {len(self._now)} unknown forces"
        )
        return f"<observer of {self.model.robot.name!r}: {told}>"

    # What is estimated ----------------------------------------------------------------------------------------------------

    @property
    def q(self) -> Floats:
        """Coordinates (n,)."""
        return self.x[: self.model.size].copy()

    @property
    def v(self) -> Floats:
        """Rates (n,)."""
        return self.x[self.model.size : 2 * self.model.size].copy()

    @property
    def forces(self) -> dict[str, Floats]:
        """Unknown forces (3,) [N], by name, world axes."""
        found = self.x[2 * self.model.size :].reshape(-1, 3)
        return {name: f.copy() for name, f in zip(self._now, found, strict=True)}

    @property
    def deviations(self) -> Floats:
        """Standard deviations of the estimate, in the order of x."""
        return np.sqrt(np.diag(self.P))

    def position(self, frame: Frame | str) -> Floats:
        """Position (3,) [m] of a frame, world axes."""
        found = self._place(frame_named(self.model.robot, frame), self.q)[1]
        return found

    # Steps ----------------------------------------------------------------------------------------------------------------

    def step(self, measured: Mapping[str, ArrayLike], inputs: Mapping[str, float] | None = None) -> Floats:
        """Go on by dt with inputs of the actuators, then take what was measured there, by name; NaN where it was lost.

        Returns:
            The estimate x.

        """
        self.predict(inputs)
        return self.update(measured)

    def predict(self, inputs: Mapping[str, float] | None = None) -> Floats:
        """Go on by dt; the uncertainty grows."""
        flow, drift = self._flow(dict(as_named(inputs)))
        self.x = self.x + drift
        self.P = flow @ self.P @ flow.T + self.Q
        self.t += self.dt
        self._past.append(_Past(self.t, self.x, self.P, flow, self.x, self.P))
        return self.x.copy()

    def update(self, measured: Mapping[str, ArrayLike]) -> Floats:
        """Take what was measured now."""
        if not isinstance(measured, Mapping):
            raise refuse(
                "measured", f"what was measured by its name, {{{next(iter(self.deviation))!r}: ...}}", measured
            )
        misses, rows, spread = [np.zeros(0)], [np.zeros((0, len(self.x)))], [np.zeros(0)]
        for name, value in measured.items():
            if name not in self.deviation:
                raise refuse("measured", f"some of {', '.join(self.deviation)}", name)
            there, by = self._predicted(name)
            seen = np.atleast_1d(np.asarray(value, dtype=np.float64))
            if seen.shape != there.shape:
                raise refuse(f"measured {name!r}", f"{len(there)} numbers", value)
            good = np.isfinite(seen)
            misses.append((seen - there)[good])
            rows.append(by[good])
            spread.append(np.full(int(good.sum()), self.deviation[name] ** 2))
        miss, H, R = np.concatenate(misses), np.concatenate(rows), np.diag(np.concatenate(spread))
        if not len(miss):
            self.surprise = (0.0, 0)
            return self.x.copy()
        S = H @ self.P @ H.T + R
        gain = np.linalg.solve(S, H @ self.P).T
        self.surprise = float(miss @ np.linalg.solve(S, miss)), len(miss)
        self.x = self.x + gain @ miss
        rest = np.eye(len(self.x)) - gain @ H
        self.P = rest @ self.P @ rest.T + gain @ R @ gain.T  # stays symmetric and positive
        self._past[-1] = self._past[-1]._replace(x=self.x, P=self.P)
        return self.x.copy()

    def smoothed(self) -> tuple[Floats, Floats, Floats]:
        """The last estimates again, as all measurements until now tell: a fixed-lag smoother (Rauch, Tung and Striebel).

        Returns:
            t (k,) [s], x (k, s) and standard deviations (k, s), from the oldest that is kept to now.

        """
        found = [(self._past[-1].x, self._past[-1].P)]
        for now, after in reversed(list(pairwise(self._past))):
            x, P = found[-1]
            gain = np.linalg.solve(after.P_before, after.flow @ now.P).T
            found.append((now.x + gain @ (x - after.x_before), now.P + gain @ (P - after.P_before) @ gain.T))
        found.reverse()
        deviations = np.array([np.sqrt(np.maximum(np.diag(P), 0.0)) for _, P in found])
        return np.array([past.t for past in self._past]), np.array([x for x, _ in found]), deviations

    def _flow(self, inputs: dict[str, float]) -> tuple[Floats, Floats]:
        """Derivative (s, s) of one step, and its change (s,) of the estimate."""
        model, n, s = self.model, self.model.size, len(self.x)
        q, v = self.q, self.v
        for name, force in self.forces.items():
            self._now[name][:] = force
        loads = model.loads(self.t, inputs).loads
        zero, none = np.zeros(n), np.zeros(0)
        still = Evaluation(model, loads, q, v, zero, none)
        M = still.M
        a = np.asarray(np.linalg.solve(M, -still.residual), dtype=np.float64)
        here = Evaluation(model, loads, q, v, a, none)
        pulls = [np.zeros((n, 0))]
        for frame in self.frames.values():
            turn = self._place(frame, q)[0]
            pulls.append(body_jacobian(model, frame, q[None])[0, 3:].T @ turn.T)
        solved = np.linalg.solve(M, np.concatenate([-here.K, -here.C, *pulls], axis=1))
        whole = np.zeros((s + 1, s + 1))
        whole[:n, n : 2 * n] = np.eye(n)
        whole[n : 2 * n, :s] = solved
        whole[:n, s], whole[n : 2 * n, s] = v, a
        flow = expm(self.dt * whole)
        if not np.isfinite(flow).all():
            raise SolverError("The observer diverged: its linear model is not finite.", advice="Try a smaller dt.")
        return flow[:s, :s], flow[:s, s]

    # Measurements ---------------------------------------------------------------------------------------------------------

    def _place(self, frame: Frame, q: Floats) -> tuple[Floats, Floats]:
        """Rotation (3, 3) and position (3,) of a frame."""
        zero = np.zeros((1, len(q)))
        motion = motion_of(self.model, [frame], q[None], zero, zero)[0, 0]
        return motion[:9].reshape(3, 3), motion[S_X : S_X + 3]

    def _predicted(self, name: str) -> tuple[Floats, Floats]:
        """What should be measured, and its derivative by the state."""
        n, q, by = self.model.size, self.q, np.zeros((3, len(self.x)))
        if name in self.markers:
            marker = self.markers[name]
            frame, offset = frame_named(self.model.robot, marker.frame), np.asarray(marker.offset)
            turn, place = self._place(frame, q)
            jacobian = body_jacobian(self.model, frame, q[None])[0]
            by[:, :n] = turn @ (jacobian[3:] - hat3(offset) @ jacobian[:3])
            return place + turn @ offset, by
        if name in self.gyros:
            frame, v = frame_named(self.model.robot, self.gyros[name]), self.v
            jacobian = body_jacobian(self.model, frame, q[None])[0, :3]
            by[:, n : 2 * n] = jacobian
            h = (
                1e-6 / self.model.tree.scale
            )  # how the Jacobian changes with the shape: a difference along each coordinate
            near = np.concatenate([q + np.diag(h), q - np.diag(h)])
            turned = body_jacobian(self.model, frame, near)[:, :3] @ v
            by[:, :n] = ((turned[:n] - turned[n:]) / (2.0 * h[:, None])).T
            return jacobian @ v, by
        if name in self.sensors:
            return self._sensed(name)
        length, gradient = cable_length(self.model, name, q[None])
        line = np.zeros((1, len(self.x)))
        line[:, :n] = gradient
        return length, line

    def _sensed(self, name: str) -> tuple[Floats, Floats]:
        """The same of a sensor of the robot: its derivative is a difference along each coordinate and rate."""
        model, n = self.model, self.model.size
        h = 1e-5 / np.tile(model.tree.scale, 2)
        state = self.x[: 2 * n]
        near = np.vstack([state, state + np.diag(h), state - np.diag(h)])
        reader = model.once(Reader)
        q, v = np.ascontiguousarray(near[:, :n]), np.ascontiguousarray(near[:, n:])
        seen = Seen(reader, np.full(len(near), self.t), q, v, np.zeros_like(q), _nothing, _nothing)
        shown = np.asarray(reader.sensors[name].measure(seen), dtype=np.float64)
        by = np.zeros((shown.shape[1], len(self.x)))
        by[:, : 2 * n] = ((shown[1 : 2 * n + 1] - shown[2 * n + 1 :]) / (2.0 * h[:, None])).T
        return shown[0], by


def _nothing(*_: Any) -> Floats:
    raise DescriptionError("Observer: sensors of forces are not part of the state.")
