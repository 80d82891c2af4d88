"""What a swimmer achieves and what it takes: stride averages, thrust and drag, torques of its motors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import public
from anguilla.describe import Frame, RodHandle
from anguilla.errors import DescriptionError, as_count, as_positive
from anguilla.interact.kernels.fluid import DISPLACED
from anguilla.results.fields import strain_field
from anguilla.results.powers import as_trajectory, powers
from anguilla.results.states import Trajectory

Array = NDArray[np.float64]

__all__ = ["Strides", "TorqueEnvelope", "strides", "torque_envelope"]


@dataclass(frozen=True)
class Strides:
    """Averages over strides, each array (strides, ...).

    Attributes:
        t: end of each stride [s].
        displacement: of the head frame (strides, 3) [m].
        speed: distance between the ends of a stride over its time [m/s].
        power: mean power of the motors [W].
        thrust: sum of the mean forces of the flow, without buoyancy, over the sections that it pushes along the displacement
            [N].
        drag: sum over the sections that it holds back [N], positive.
        mass: of the robot [kg].

    """

    t: Array
    displacement: Array
    speed: Array
    power: Array
    thrust: Array
    drag: Array
    mass: float

    def __repr__(self) -> str:
        if not len(self.t):
            return "<no strides>"
        last = f"{self.speed[-1]:.4g} m/s, {self.power[-1]:.4g} W, {self.cost_of_transport[-1]:.4g} J/(kg m)"
        return f"<{len(self.t)} strides, the last one {last}>"

    @property
    def cost_of_transport(self) -> Array:
        """Energy of the motors per mass and distance (strides,) [J/(kg m)]; infinite where nothing moves."""
        with np.errstate(divide="ignore"):
            return np.where(self.speed > 0.0, self.power / (self.mass * np.maximum(self.speed, 1e-300)), np.inf)

    @property
    def efficiency(self) -> Array:
        """Froude efficiency (strides,): useful power, thrust times speed, over that of the motors; 0 without power."""
        return np.where(self.power > 0.0, self.thrust * self.speed / np.where(self.power > 0.0, self.power, 1.0), 0.0)


@dataclass(frozen=True)
class TorqueEnvelope:
    """What the motors along a rod must be built for.

    Attributes:
        X: arc lengths [m] (points,).
        peak: largest moment [N m] or force [N] of each strain (points, 6).
        rms: root mean square over time (points, 6).
        peak_power: largest power per length [W/m] (points,).

    """

    X: Array
    peak: Array
    rms: Array
    peak_power: Array

    def __repr__(self) -> str:
        moment, force = np.max(self.peak[:, :3], initial=0.0), np.max(self.peak[:, 3:], initial=0.0)
        return f"<torques at {len(self.X)} sections, at most {moment:.4g} N m and {force:.4g} N>"


@public
def strides(run: Trajectory, head: Frame, *, period: float, last: int | None = None) -> Strides:
    """Return averages over the strides of a motion, counted back from its end.

    Args:
        run: a motion with equal steps, a whole number of them in a period.
        head: the frame whose displacement counts.
        period: time of a stride [s].
        last: how many of the last strides; all if not given.

    Returns:
        Speed, mean power, thrust, drag, cost of transport and efficiency of each stride. The force of the flow on every
        node, without buoyancy, is averaged over the stride, then summed over the nodes that it pushes and over those that it
        holds back: in steady swimming without buoyancy thrust and drag are equal.

    """
    run, period = as_trajectory(run), as_positive(period, "period", "s")
    dt = float(run.t[1] - run.t[0]) if len(run.t) > 1 else period
    steps = round(period / dt)
    if steps < 1 or abs(steps * dt - period) > 1e-6 * period:
        raise DescriptionError(f"period must be a whole number of stored steps of {dt:g} s; got {period:g} s.")
    count = (len(run.t) - 1) // steps
    if count < 1:
        raise DescriptionError(f"the motion of {run.t[-1]:g} s is shorter than one period of {period:g} s.")
    count = count if last is None else min(count, as_count(last, "last"))
    run = run[len(run.t) - 1 - steps * count :]
    ends = len(run.t) - 1 - steps * np.arange(count, -1, -1)
    moved = np.diff(run.position(head)[ends], axis=0)
    distance = np.linalg.norm(moved, axis=1)
    direction = moved / np.maximum(distance, 1e-300)[:, None]
    water = [k for k, load in enumerate(run.system.robot.loads) if load.account == "water"]
    forces = [_flow_forces(run, k) for k in water]
    thrust, drag, power = (np.zeros(count) for _ in range(3))
    motors = powers(run).motors
    for k, (low, high) in enumerate(pairwise(ends.tolist())):
        power[k] = float(_mean(motors[low : high + 1]))
        for force in forces:
            along = _mean(force[low : high + 1] @ direction[k])
            thrust[k] += float(np.sum(np.maximum(along, 0.0)))
            drag[k] -= float(np.sum(np.minimum(along, 0.0)))
    return Strides(run.t[ends[1:]], moved, distance / period, power, thrust, drag, run.mass)


def _flow_forces(run: Trajectory, number: int) -> Array:
    """Forces (time, k, 3) [N] of a load of water, without buoyancy."""
    frames = run.system.blank.frames
    mine = np.flatnonzero(np.array(run.system.tables.frame_loads) == number)
    with run.acting():
        gravity = run.system.robot.gravity_values(run.t)
    lift = -frames.data[mine, DISPLACED][None, :, None] * gravity[:, None, :]
    return run.exerted(run.system.robot.loads[number]).wrench[:, :, 3:] - lift


def _mean(values: Array) -> Array:
    """Mean over a stride of equal steps: the trapezoidal rule, which is spectral for periodic functions."""
    return np.asarray(np.mean(0.5 * (values[1:] + values[:-1]), axis=0))


@public
def torque_envelope(
    run: Trajectory, rod: RodHandle, X: ArrayLike | None = None, *, since: float = 0.0
) -> TorqueEnvelope:
    """Return the largest and the mean-square torques of the motors of a prescribed shape, section by section.

    Args:
        run: a motion.
        rod: a rod with a prescribed shape.
        X: arc lengths [m]; 40 equally spaced ones if not given.
        since: leave out the start of the motion before this time [s].

    """
    run = as_trajectory(run)
    points = np.linspace(0.0, rod.length, 40) if X is None else np.atleast_1d(np.asarray(X, dtype=float))
    late = run.t >= since - 1e-9
    if not np.any(late):
        raise DescriptionError(f"since must lie within the motion, which ends at {run.t[-1]:g} s; got {since:g} s.")
    run = run[int(np.argmax(late)) :]
    torque = run.control_torque(rod, points)
    own = run.system.robot.parts[rod.index]
    assert isinstance(own, RodHandle)
    rate = strain_field(run.system, own, points, run.v) - own.rod.rest.strain(points)
    power = np.sum(torque * rate, axis=2)
    return TorqueEnvelope(
        points, np.max(np.abs(torque), axis=0), np.sqrt(np.mean(torque**2, axis=0)), np.max(power, axis=0)
    )
