"""What solvers return: labelled states of a robot, and the fields and balances that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe import Closure, Frame, Load, Part, Robot, RodHandle
from anguilla.errors import DescriptionError, as_array
from anguilla.interact.kernels.table import Loads
from anguilla.mechanics.tree import N_R
from anguilla.model.model import Inputs, Model
from anguilla.results.contacts import depths, load_energy
from anguilla.results.fields import cable_length, control_torque, internal_wrench, motion_of, strain_field
from anguilla.results.observe import S_A, S_AL, S_V, S_W, S_X, balances, jacobian
from anguilla.results.quality import Quality
from anguilla.results.reactions import Exerted, closure_wrench, exerted, replay
from anguilla.results.resolution import Resolution, doubtful, resolution
from anguilla.store.kept import Kept
from anguilla.store.record import Record

Array = NDArray[np.float64]

__all__ = ["Equilibrium", "Trajectory"]


@dataclass(frozen=True)
class Status:
    """How a solver ended.

    Attributes:
        success: whether it reached the end.
        message: one sentence.
        counters: iterations, factorisations, halvings, substeps, steps, ...
        seconds: wall time of the computation [s].

    """

    success: bool
    message: str
    counters: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class _States(Kept):
    """States of a robot over a leading axis, with everything that can be derived from them."""

    robot: Robot
    _system: Model
    status: Status
    _t: Array
    _q: Array
    _v: Array
    _a: Array | None = None
    _lam: Array = field(default_factory=lambda: np.zeros((0, 0)))
    inputs: Inputs = field(default_factory=dict)
    _balance: Callable[[Array, Array, Array], Array] | None = field(default=None, repr=False)
    # accelerations of the integrator, balanced to its tolerance
    _integrated: Array | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("_t", "_q", "_v", "_a", "_lam"):  # as kernels read them: a view may skip numbers
            if (states := getattr(self, name)) is not None:
                object.__setattr__(self, name, np.ascontiguousarray(states, dtype=np.float64))
        if len(self._lam) != len(self._t):
            object.__setattr__(self, "_lam", np.zeros((len(self._t), self.system.rows)))

    @property
    def system(self) -> Model:
        """The model of the robot it was computed with."""
        return self._system

    @cached_property
    def _accelerations(self) -> Array:
        """Accelerations: as given, or those that balance the states, or zero where nothing moves."""
        if self._a is not None:
            return self._a
        return np.zeros_like(self._q) if self._balance is None else self._balance(self._t, self._q, self._v)

    def _resolved(self, k: int) -> Resolution:
        """How well modes and intervals resolve state k."""
        at = slice(k, k + 1)
        if self._a is not None or self._balance is None:
            a = self._accelerations[k]
        else:
            a = self._balance(self._t[at], self._q[at], self._v[at])[0]
        system = self.system
        loads = system.loads(self._t[at], self.inputs).at(0)
        return resolution(system, loads, self._q[k], self._v[k], a, self._lam[k])

    @property
    def coordinates(self) -> list[str]:
        """Labels of the coordinates, the columns of q."""
        return self.system.robot.coordinates()

    def __getitem__(self, label: str) -> Any:
        """Return one coordinate by its label, such as "arm.bend_z[0]"."""
        labels = self.coordinates
        if label not in labels:
            raise KeyError(f"no coordinate {label!r}; there are {', '.join(labels[:6])}, ...")
        return self._pick(self._q[:, labels.index(label)])

    def _pick(self, array: Array) -> Any:
        return array

    def _own(self, rod: RodHandle) -> RodHandle:
        """The rod as it was when the result was computed."""
        if not isinstance(rod, RodHandle) or (rod.robot is not self.robot and rod.robot is not self.system.robot):
            raise DescriptionError(
                f"expected a rod of robot {self.robot.name!r}, as returned by robot.add; got {rod!r}."
            )
        own = self.system.robot.parts[rod.index]
        assert isinstance(own, RodHandle)
        return own

    def _snapshots(self, frames: list[Frame], accelerations: bool = False) -> Array:
        """(nt, m, 24) motion of frames; without `accelerations` those entries mean nothing."""
        for frame in frames:
            if not isinstance(frame, Frame):
                raise DescriptionError(f"expected a frame such as arm.tip or arm.section(X); got {frame!r}.")
            if frame.robot is not self.robot and frame.robot is not self.system.robot:
                name = f".part({frame.part.name!r})" if not frame.is_ground else ".ground"
                raise DescriptionError(
                    f"frame {frame.label} belongs to another robot, {frame.robot.name!r}; a result that was loaded has a "
                    f"robot of its own: take its frames, from run.robot{name}."
                )
        a = self._accelerations if accelerations else np.zeros_like(self._q)
        return motion_of(self.system, frames, self._q, self._v, a)

    def position(self, frame: Frame) -> Array:
        """Position of a frame [m], world axes: (time, 3), or (3,) of an equilibrium."""
        return self._pick(self._snapshots([frame])[:, 0, S_X : S_X + 3])

    def pose(self, frame: Frame) -> Array:
        """Pose of a frame: (time, 4, 4), or (4, 4) of an equilibrium."""
        motion = self._snapshots([frame])[:, 0]
        pose = np.tile(np.eye(4), (len(motion), 1, 1))
        pose[:, :3, :3] = motion[:, :9].reshape(-1, 3, 3)
        pose[:, :3, 3] = motion[:, S_X : S_X + 3]
        return self._pick(pose)

    def twist(self, frame: Frame) -> Array:
        """Body twist of a frame: angular velocity [rad/s] then velocity [m/s], in its own axes: (time, 6)."""
        motion = self._snapshots([frame])[:, 0]
        return self._pick(_to_body(motion, S_W, S_V))

    def acceleration(self, frame: Frame) -> Array:
        """Angular acceleration [rad/s^2] and acceleration of the origin [m/s^2], world axes: (time, 6)."""
        motion = self._snapshots([frame], accelerations=True)[:, 0]
        return self._pick(np.concatenate([motion[:, S_AL : S_AL + 3], motion[:, S_A : S_A + 3]], axis=1))

    def jacobian(self, frame: Frame) -> Array:
        """Body Jacobian of a frame, twist = J v: (time, 6, n)."""
        motion = self._snapshots([frame])[:, 0]
        system = self.system.observing([frame])
        node = system.layout.node(frame.bare)
        n = system.size
        out = np.zeros((len(self._t), 6, n))
        for k, q in enumerate(self._q):
            jacobian(system.tree, system.workspace, node, q, np.zeros(n), np.zeros(n), out[k])
            rotation = motion[k, :9].reshape(3, 3)
            if frame.offset is not None:  # velocity of the offset point: v + w x arm
                arm = rotation @ np.linalg.inv(frame.offset_pose)[:3, 3]
                out[k, 3:] -= np.cross(out[k, :3], arm, axis=0)
            out[k, :3], out[k, 3:] = rotation.T @ out[k, :3], rotation.T @ out[k, 3:]
        return self._pick(out)

    def centerline(self, rod: RodHandle, points: int = 60) -> Array:
        """Positions of equally spaced sections [m]: (time, points, 3)."""
        part = self._own(rod)
        frames = [part.section(float(X)) for X in np.linspace(0.0, part.length, points)]
        return self._pick(self._snapshots(frames)[:, :, S_X : S_X + 3])

    def strain(self, rod: RodHandle, X: ArrayLike | None = None) -> Array:
        """Strains xi = (K, Gamma) at arc lengths X [m] (default 60 equally spaced): (time, points, 6) [1/m, -]."""
        part = self._own(rod)
        return self._pick(strain_field(self.system, part, _sections(part, X), self._q))

    def wrench(self, rod: RodHandle, X: ArrayLike | None = None) -> Array:
        """Internal wrench Lambda, what the part beyond X exerts on the part before it, in section axes.

        (time, points, 6): moment [N m], force [N]; X defaults to 60 equally spaced arc lengths [m].
        """
        part = self._own(rod)
        states = self._t, self._q, self._v, self._accelerations, self._lam
        return self._pick(internal_wrench(self.system, part, _sections(part, X), states, self.inputs))

    @property
    def multipliers(self) -> Array:
        """Multipliers of the constraints (time, m); `reaction` and `tension` give them a meaning."""
        return self._pick(self._lam)

    def reaction(self, closure: Closure) -> Array:
        """Wrench that a closure exerts on its frame b, about b's origin, in b's axes: (time, 6), moment [N m], force [N]."""
        names = list(self.system.robot.closures)
        if not isinstance(closure, Closure) or closure.name not in names or closure.robot is not self.robot:
            known = ", ".join(names) or "none"
            raise DescriptionError(
                f"expected a closure of robot {self.robot.name!r}, as returned by robot.close; it has: {known}."
            )
        number = names.index(closure.name)
        own = self.system.robot.closures[closure.name]
        side = own.sides[1][:3, :3]
        out = np.zeros((len(self._t), 6))
        for k, loads, _ in self._evaluations():
            wrench = closure_wrench(self.system, loads, number, self._lam[k])
            rotation = self.system.workspace.node[wrench.node, N_R : N_R + 9].reshape(3, 3) @ side.T
            out[k] = np.concatenate([rotation.T @ wrench.moment, rotation.T @ wrench.force])
        return self._pick(out)

    def effort(self, part: Part) -> Array:
        """Efforts that the imposed motion of a part's joint takes [N m or N], springs and dampers included: (time, size).

        Of a rod with an imposed shape also those of its strain coordinates, elasticity included; `control_torque` spreads
        them along the rod. Zero for coordinates that are not imposed.
        """
        if not isinstance(part, Part) or (part.robot is not self.robot and part.robot is not self.system.robot):
            raise DescriptionError(
                f"expected a part of robot {self.robot.name!r}, as returned by robot.add; got {part!r}."
            )
        layout = self.system.layout.parts[part.index]
        first, last = layout.joint.start, layout.joint.stop
        if part.index in self.system.shapes:
            last = layout.coordinates.stop
        out = np.zeros((len(self._t), last - first))
        driven = [k for k in self.system.blank.driven if first <= k < last]
        for k, _, residual in self._evaluations():
            out[k, [j - first for j in driven]] = residual[driven]
        return self._pick(out)

    def control_torque(self, rod: RodHandle, X: ArrayLike | None = None) -> Array:
        """What the motors along a rod with an imposed shape must give, in section axes: M of 001 (64), elasticity included.

        (time, points, 6): moments [N m], forces [N], positive along the strains (so their power is M . dK/dt); zero for
        strains that are not imposed, whose reactions are in `wrench`. X defaults to 60 equally spaced arc lengths [m].
        """
        part = self._own(rod)
        points = _sections(part, X)
        states = self._t, self._q, self._v, self._accelerations, self._lam
        return self._pick(control_torque(self.system, part, points, states, self.inputs))

    def tension(self, actuator: str) -> Any:
        """Tension of a tendon [N], given or found from its length: (time,)."""
        names = list(self.system.robot.actuators)
        if actuator not in names:
            raise DescriptionError(f"there is no actuator {actuator!r}; there are: {', '.join(names) or 'none'}.")
        out = np.zeros(len(self._t))
        for k, loads, _ in self._evaluations():
            out[k] = loads.tension[names.index(actuator)]
        return self._pick(out)

    def exerted(self, load: Load) -> Exerted:
        """What a load that depends on the motion (water, thruster, magnet, contact, user-written) exerts on the robot.

        Returns (force (time, 3) [N], moment (time, 3) about the world origin [N m], power (time,) [W], place (time, k, 3)
        [m], wrench (time, k, 6)), world axes; the last two where it acts.
        """
        numbers = self._numbers(load)
        if not numbers or numbers[0] not in self.system.tables.frame_loads:
            known = [own.label for k, own in enumerate(self.robot.loads) if k in self.system.tables.frame_loads]
            raise DescriptionError(
                f"expected a load that depends on the motion, on robot {self.robot.name!r}; it has: "
                f"{', '.join(known) or 'none'}."
            )
        out = exerted(self.system, numbers[0], self._evaluations(), self._v)
        return Exerted(*(self._pick(array) for array in out))

    def depth(self, contact: Load) -> Array:
        """How deep each place of a contact is in its obstacle [m], in the order of `exerted`: (time, k).

        Negative where it does not touch: minus the distance. Along a rod, the places are its nodes.
        """
        numbers = self._numbers(contact)
        if not numbers or not contact.touches:
            known = ", ".join(own.label for own in self.robot.loads if own.touches) or "none"
            raise DescriptionError(f"expected a contact of robot {self.robot.name!r}; it has: {known}.")
        return self._pick(depths(self.system, numbers[0], self._q))

    def _numbers(self, load: Load) -> list[int]:
        """Number of a load of the robot, in a list, empty if it is none."""
        numbers = [k for k, own in enumerate(self.robot.loads) if own is load]
        return numbers or [k for k, own in enumerate(self.system.robot.loads) if own is load]

    def _evaluations(self) -> Iterator[tuple[int, Loads, Array]]:
        """(number, loads, residual) of each state, after evaluating it."""
        states = self._q, self._v, self._accelerations, self._lam
        return replay(self.system, self._t, self.inputs, *states)

    def length(self, actuator: str) -> Any:
        """Length of a tendon, or of the centre line of a chamber, inside the rods [m]: (time,)."""
        return self._pick(cable_length(self.system, actuator, self._q)[0])

    def actuation(self) -> Array:
        """Actuation matrix L(q): generalised force per unit of each input, (time, n, actuators) (000 (28))."""
        columns = [-cable_length(self.system, name, self._q)[1] for name in self.system.robot.actuators]
        gains = [actuator.tension_per_input for actuator in self.system.robot.actuators.values()]
        if not columns:
            return self._pick(np.zeros((*self._q.shape, 0)))
        return self._pick(np.stack([g * c for g, c in zip(gains, columns, strict=True)], axis=2))

    def _record(self) -> Record:
        from anguilla.store.gather import gather

        return gather(self)

    @property
    def energy(self) -> dict[str, Any]:
        """Energies [J]: kinetic, elastic, gravitational (zero at the world origin), total.

        Elastic is that of rods, joint springs, springs between frames and contacts; other loads (muscles, magnets, ...) keep
        none.
        """
        rows = self._balances()
        elastic = self.system.elastic_energy(self._q) + load_energy(self.system, self._q)
        total = rows[:, 0] + rows[:, 1] + elastic
        named = {"kinetic": rows[:, 0], "elastic": elastic, "gravitational": rows[:, 1], "total": total}
        return {name: self._pick(value) for name, value in named.items()}

    @property
    def momentum(self) -> Array:
        """Linear momentum [kg m/s]: (time, 3)."""
        return self._pick(self._balances()[:, 2:5])

    @property
    def angular_momentum(self) -> Array:
        """Angular momentum about the world origin [kg m^2/s]: (time, 3)."""
        return self._pick(self._balances()[:, 5:8])

    def _balances(self) -> Array:
        out = np.zeros((len(self._t), 8))
        gravity = np.ascontiguousarray(self.system.robot.gravity_values(self._t))
        balances(self.system.tree, self.system.workspace, gravity, self._q, self._v, np.zeros(self.system.size), out)
        return out


def _to_body(motion: Array, *parts: int) -> Array:
    rotation = motion[:, :9].reshape(-1, 3, 3)
    return np.concatenate([np.einsum("tji,tj->ti", rotation, motion[:, p : p + 3]) for p in parts], axis=1)


def _sections(rod: RodHandle, X: ArrayLike | None) -> Array:
    wanted = f"arc lengths between 0 and the length {rod.length:g} of {rod.name} [m]"
    points = np.linspace(0.0, rod.length, 60) if X is None else np.atleast_1d(as_array(X, "X", wanted))
    if points.ndim != 1 or not np.all((points >= 0.0) & (points <= rod.length * (1 + 1e-12))):
        raise DescriptionError(f"X must lie between 0 and the length {rod.length:g} m of {rod.name}; got {X!r}.")
    return np.minimum(points, rod.length)


@dataclass(frozen=True)
class Equilibrium(_States):
    """A static equilibrium.

    Attributes:
        q: (n,) coordinates, labelled by `coordinates`.
        status: how the solver ended, with counters.

    """

    @property
    def q(self) -> Array:
        """Coordinates (n,)."""
        return self._q[0]

    @cached_property
    def resolution(self) -> Resolution:
        """How well modes and intervals resolve the equilibrium: the error that more of them would mend, estimated."""
        return self._resolved(0)

    @property
    def error_estimate(self) -> float:
        """Estimated error for want of modes and intervals, as a part of the robot's length; `resolution` has its parts."""
        return self.resolution.total

    @property
    def t(self) -> float:
        """Time [s] at which time-dependent loads were taken."""
        return float(self._t[0])

    def _pick(self, array: Array) -> Any:
        value = array[0]
        return float(value) if np.ndim(value) == 0 else value

    def __repr__(self) -> str:
        return f"<equilibrium of {self.robot.name!r}: {self.status.message}>"


@dataclass(frozen=True)
class Trajectory(_States):
    """A motion.

    Attributes:
        t: (time,) [s].
        q, v, a: (time, n) coordinates, rates and accelerations, labelled by `coordinates`.
        status: how the solver ended, with counters.
        quality: how far the motion can be trusted; None if nobody judged it (it stopped, or was read from a file).

    """

    quality: Quality | None = field(default=None, repr=False)

    @cached_property
    def space_error(self) -> float:
        """Estimated error for want of modes and intervals, at the instant that asks most of them, as a part of the length.

        `quality` judges the time steps alone; this takes a millisecond more.
        """
        return self._resolved(int(np.argmax(doubtful(self.system, self._q)))).total

    def resolved(self, t: float) -> Resolution:
        """How well modes and intervals resolve the state nearest to t [s]: the error that more would mend, estimated."""
        return self._resolved(int(np.argmin(np.abs(self._t - t))))

    def _some(self, count: int) -> Trajectory:
        """The motion at so many of its states at most."""
        rows = np.unique(np.linspace(0, len(self._t) - 1, count).round().astype(np.int64))
        lam = self._lam[rows]
        return Trajectory(
            self.robot, self.system, self.status, self._t[rows], self._q[rows], self._v[rows], None, lam, self.inputs
        )

    @property
    def t(self) -> Array:
        """Times (time,) [s]."""
        return self._t

    @property
    def q(self) -> Array:
        """Coordinates (time, n)."""
        return self._q

    @property
    def v(self) -> Array:
        """Rates of the coordinates (time, n)."""
        return self._v

    @property
    def a(self) -> Array:
        """Accelerations of the coordinates (time, n), those that balance the stored states.

        (The integrator's own accelerations belong to another instant of the step: they are first-order accurate.)
        """
        return self._accelerations

    def __repr__(self) -> str:
        return (
            f"<trajectory of {self.robot.name!r}: {len(self.t)} states to t = {self.t[-1]:g} s, {self.status.message}>"
        )
