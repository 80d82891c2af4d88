"""What a swimmer achieves and what it takes: powers, stride averages, thrust and drag, torques of its motors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.assemble.fields import strain_field
from anguilla.describe import Contact, Fluid, Frame, Hull, Muscle, RodHandle, Wrench
from anguilla.errors import DescriptionError, as_count, as_positive, refuse
from anguilla.mechanics.tree import N_A, N_AL, N_R, N_V, N_W
from anguilla.results import Trajectory

Array = NDArray[np.float64]

__all__ = ["Powers", "Strides", "TorqueEnvelope", "powers", "strides", "torque_envelope"]


@dataclass(frozen=True)
class Powers:
    """Where the power goes, at each instant (time,) [W]: motors + water + others = kinetic + stored + dissipated.

    Attributes:
        t: times [s].
        motors: of imposed motions and shapes, efforts of joints, tendons, chambers and muscles.
        water: of fluids on the robot; negative takes energy away.
        others: of given wrenches and of contact with obstacles.
        kinetic: rate of the kinetic energy of the robot.
        stored: rate of the elastic energy and of that in gravity.
        dissipated: in the damping of rods and joints.

    """

    t: Array
    motors: Array
    water: Array
    others: Array
    kinetic: Array
    stored: Array
    dissipated: Array

    def __repr__(self) -> str:
        means = ", ".join(
            f"{name} {float(np.mean(getattr(self, name))):.4g}" for name in ("motors", "water", "dissipated")
        )
        return f"<powers at {len(self.t)} instants, means in W: {means}>"

    @property
    def imbalance(self) -> Array:
        """What is missing (time,) [W]: zero but for round-off, unless springs between frames or user-written loads work."""
        return self.motors + self.water + self.others - self.kinetic - self.stored - self.dissipated


@dataclass(frozen=True)
class Strides:
    """Averages over strides, each array (strides, ...).

    Attributes:
        t: end of each stride [s].
        displacement: of the head frame (strides, 3) [m].
        speed: distance between the ends of a stride over its time [m/s].
        power: mean power of the motors [W].
        thrust: sum of the mean forces of the water over the sections that it pushes along the displacement [N].
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


def _as_trajectory(run: object) -> Trajectory:
    if not isinstance(run, Trajectory):
        raise refuse("run", "a Trajectory, as simulate returns it", run)
    return run


def powers(run: Trajectory) -> Powers:
    """Return the power of motors and water, the rates of the energies, and what is dissipated, at every stored state.

    Args:
        run: a motion.

    """
    run = _as_trajectory(run)
    system, q, v = run.system, run.q, run.v
    rest = np.zeros(system.size)
    for layout in system.model.parts:
        rest[layout.joint] = layout.part.joint.rest_values
    K, efforts = system.elastic_stiffness(), np.zeros(len(run.t))
    stored = np.einsum("ti,ij,tj->t", v, K, q - rest)
    dissipated = np.einsum("ti,ij,tj->t", v, _damping(run, K), v)
    kinetic, gravity = np.zeros(len(run.t)), run.system.robot.gravity_values(run.t)
    driven, tree, node = system._loads.driven, system.tree, system.workspace.node
    for k, _, residual in run._evaluations():
        efforts[k] = residual[driven] @ v[k, driven]
        rotation = node[:, N_R : N_R + 9].reshape(-1, 3, 3)
        speed, spin, push, turn = (node[:, c : c + 3] for c in (N_V, N_W, N_A, N_AL))
        w, al = (np.einsum("nji,nj->ni", rotation, x) for x in (spin, turn))
        kinetic[k] = np.sum(tree.mass[:, None] * speed * push) + np.sum(tree.inertia * w * al)
        stored[k] -= gravity[k] @ (tree.mass @ speed)
    water, others = np.zeros(len(run.t)), np.zeros(len(run.t))
    for load in system.robot.loads:
        if isinstance(load, Fluid | Hull):
            water += run.exerted(load).power
        elif isinstance(load, Contact):
            others += run.exerted(load).power
        elif isinstance(load, Wrench):
            others += _wrench_power(run, load)
    return Powers(run.t, efforts + _motor_power(run), water, others, kinetic, stored, dissipated)


def _damping(run: Trajectory, K: Array) -> Array:
    """D (n, n) of rods and joints."""
    D = np.zeros_like(K)
    for layout in run.system.model.parts:
        D[layout.joint, layout.joint] = np.diag(layout.part.joint.damping_values)
        if isinstance(layout.part, RodHandle):
            own = layout.coordinates
            D[own, own] = layout.part.rod.material.damping * K[own, own]
    return D


def _motor_power(run: Trajectory) -> Array:
    """Power (nt,) of efforts of joints, of tendons and chambers, and of muscles."""
    system, robot = run.system, run.system.robot
    total = np.zeros(len(run.t))
    for layout in system.model.parts:
        total += np.sum(layout.part.joint.effort_values(run.t) * run.v[:, layout.joint], axis=1)
    for k, name in enumerate(robot.actuators):
        total += run.tension(name) * np.einsum("tn,tn->t", run.actuation()[:, :, k], run.v)
    for load in robot.loads:
        if isinstance(load, Muscle):
            total += _muscle_power(run, load)
    return total


def _muscle_power(run: Trajectory, load: Muscle) -> Array:
    """Minus the active stress times the rate of the strains, at the points at which the solver takes it."""
    links = run.system.tables.links(load.part, 0.0, load.part.length)
    X = np.concatenate([points for _, points, _ in links])
    weight = np.repeat([0.5 * length for _, _, length in links], 2)
    strain = strain_field(run.system, load.part, X, run.q)
    rate = strain_field(run.system, load.part, X, run.v) - load.part.rod.rest.strain(X)
    stress = load.values(X, run.t) + load.gains(X) * strain
    return -np.einsum("m,tmk,tmk->t", weight, stress, rate)


def _wrench_power(run: Trajectory, load: Wrench) -> Array:
    """Power (nt,) of a given wrench."""
    twist, value = run.twist(load.frame), load.values(run.t)
    if not load.follower:
        rotation = run.pose(load.frame)[:, :3, :3]
        value = np.concatenate([np.einsum("tji,tj->ti", rotation, value[:, k : k + 3]) for k in (0, 3)], axis=1)
    return np.sum(twist * value, axis=1)


def strides(run: Trajectory, head: Frame, *, period: float, last: int | None = None) -> Strides:
    """Return averages over the strides of a motion, counted back from its end.

    Args:
        run: a motion with equal steps, a whole number of them in a period.
        head: the frame whose displacement counts.
        period: time of a stride [s].
        last: how many of the last strides; all if not given.

    Returns:
        Speed, mean power, thrust, drag, cost of transport and efficiency of each stride. The force of the water on every
        node is averaged over the stride, then summed over the nodes that it pushes and over those that it holds back: in
        steady swimming thrust and drag are equal.

    """
    run, period = _as_trajectory(run), as_positive(period, "period", "s")
    dt = float(run.t[1] - run.t[0]) if len(run.t) > 1 else period
    steps = round(period / dt)
    if steps < 1 or abs(steps * dt - period) > 1e-6 * period:
        raise DescriptionError(f"period must be a whole number of stored steps of {dt:g} s; got {period:g} s.")
    count = (len(run.t) - 1) // steps
    if count < 1:
        raise DescriptionError(f"the motion of {run.t[-1]:g} s is shorter than one period of {period:g} s.")
    count = count if last is None else min(count, as_count(last, "last"))
    run = _end_of(run, len(run.t) - 1 - steps * count)
    ends = len(run.t) - 1 - steps * np.arange(count, -1, -1)
    moved = np.diff(run.position(head)[ends], axis=0)
    distance = np.linalg.norm(moved, axis=1)
    direction = moved / np.maximum(distance, 1e-300)[:, None]
    forces = [run.exerted(load).wrench[:, :, 3:] for load in run.system.robot.loads if isinstance(load, Fluid | Hull)]
    thrust, drag, power = (np.zeros(count) for _ in range(3))
    motors = powers(run).motors
    for k, (low, high) in enumerate(pairwise(ends.tolist())):
        power[k] = float(_mean(motors[low : high + 1]))
        for force in forces:
            along = _mean(force[low : high + 1] @ direction[k])
            thrust[k] += float(np.sum(np.maximum(along, 0.0)))
            drag[k] -= float(np.sum(np.minimum(along, 0.0)))
    mass = float(np.sum(run.system.tree.mass))
    return Strides(run.t[ends[1:]], moved, distance / period, power, thrust, drag, mass)


def _end_of(run: Trajectory, first: int) -> Trajectory:
    """The motion from a stored state on."""
    states = {name: getattr(run, name)[first:] for name in ("_t", "_q", "_v", "_lam")}
    return replace(run, **states, _a=run.a[first:])


def _mean(values: Array) -> Array:
    """Mean over a stride of equal steps: the trapezoidal rule, which is spectral for periodic functions."""
    return np.asarray(np.mean(0.5 * (values[1:] + values[:-1]), axis=0))


def torque_envelope(
    run: Trajectory, rod: RodHandle, X: ArrayLike | None = None, *, since: float = 0.0
) -> TorqueEnvelope:
    """Return the largest and the mean-square torques of the motors of an imposed shape, section by section.

    Args:
        run: a motion.
        rod: a rod with an imposed shape.
        X: arc lengths [m]; 40 equally spaced ones if not given.
        since: leave out the start of the motion before this time [s].

    """
    run = _as_trajectory(run)
    points = np.linspace(0.0, rod.length, 40) if X is None else np.atleast_1d(np.asarray(X, dtype=float))
    late = run.t >= since - 1e-9
    if not np.any(late):
        raise DescriptionError(f"since must lie within the motion, which ends at {run.t[-1]:g} s; got {since:g} s.")
    run = _end_of(run, int(np.argmax(late)))
    torque = run.control_torque(rod, points)
    own = run.system.robot.parts[rod.index]
    assert isinstance(own, RodHandle)
    rate = strain_field(run.system, own, points, run.v) - own.rod.rest.strain(points)
    power = np.sum(torque * rate, axis=2)
    return TorqueEnvelope(
        points, np.max(np.abs(torque), axis=0), np.sqrt(np.mean(torque**2, axis=0)), np.max(power, axis=0)
    )
