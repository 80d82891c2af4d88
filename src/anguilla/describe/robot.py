"""The robot: parts attached to frames, and the loads on them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._lazy import ShowsItself
from anguilla._words import numbered
from anguilla.describe.actuators import Actuator
from anguilla.describe.bodies import RigidBody
from anguilla.describe.constraints import Closure, Pose, TwistConstraint, as_pose_signal
from anguilla.describe.description import as_name, did_you_mean
from anguilla.describe.frames import GROUND, BodyHandle, Frame, JointHandle, Part, RodHandle
from anguilla.describe.joints import Fixed, Free, Joint
from anguilla.describe.load import Load
from anguilla.describe.obstacles import Obstacle
from anguilla.describe.plausible import check_gravity, check_place
from anguilla.describe.ports import Drive, Port
from anguilla.describe.rod import Rod
from anguilla.describe.sensors import Sensor
from anguilla.describe.signals import Signal, as_time_signal, sample
from anguilla.describe.volumes import SoftPart, VolumeHandle
from anguilla.errors import DescriptionError, as_pose, refuse, warn

AnyLoad = TypeVar("AnyLoad", bound=Load)
AnyActuator = TypeVar("AnyActuator", bound=Actuator)
AnySensor = TypeVar("AnySensor", bound=Sensor)
MOST_PARTS, MOST_COORDINATES = 10_000, 20_000
FEATHER = 1e-9  # [kg] of an obstacle whose motion is prescribed


class Robot(ShowsItself):
    """A robot: a tree of parts that starts at the ground, gravity, and loads.

    Args:
        name: name of the robot.
        gravity: acceleration of gravity in world axes [m/s^2], a 3-vector or a function t [s] -> 3-vector.
        base: "fixed", or "free" for a robot that flies or swims: its first part on the ground gets a ``Free()`` joint
            if none is given.

    """

    __slots__ = (
        "__weakref__",
        "_actuators",
        "_base",
        "_closures",
        "_constraints",
        "_drives",
        "_gravity",
        "_loads",
        "_name",
        "_parts",
        "_ports",
        "_sensors",
        "_volumes",
        "kept",
    )
    UNWATCHED = ("kept",)  # not part of the description

    def __init__(self, name: str = "robot", gravity: Signal = (0.0, 0.0, -9.81), base: str = "fixed") -> None:
        self.name = name
        if base not in ("fixed", "free"):
            raise refuse("Robot.base", "'fixed' or 'free'", base)
        self._base = base
        self.gravity = gravity
        self._parts: tuple[Part, ...] = ()
        self._loads: list[Load] = []
        self._actuators: dict[str, Actuator] = {}
        self._closures: dict[str, Closure] = {}
        self._constraints: list[TwistConstraint] = []
        self._ports: dict[str, Port] = {}
        self._drives: dict[str, Drive] = {}
        self._sensors: dict[str, Sensor] = {}
        self._volumes: tuple[VolumeHandle, ...] = ()
        self.kept: object = None  # what solvers keep beside it

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            object.__setattr__(self, name, value)
        except AttributeError:
            if hasattr(type(self), name):  # what can only be read
                raise
            hint = did_you_mean(name, ("gravity", "name"))
            raise AttributeError(
                f"Robot has no attribute {name!r}{hint}; what can be set is gravity and name."
            ) from None

    def __getstate__(self) -> object:
        """What a copy or a pickle takes along."""
        state: Any = object.__getstate__(self)
        plain, slots = state
        return plain, {name: value for name, value in slots.items() if name != "kept"} | {"kept": None}

    def __copy__(self) -> Self:
        """A robot of its own: parts and loads know their robot, so two robots cannot share them."""
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = object.__new__(type(self))
        memo[id(self)] = twin
        for name in Robot.__slots__[1:]:
            setattr(twin, name, None if name == "kept" else copy.deepcopy(getattr(self, name), memo))
        if hasattr(self, "__dict__"):  # of a user's own subclass
            vars(twin).update(copy.deepcopy(vars(self), memo))
        return twin

    def stripped(self) -> Self:
        """A copy without gravity, loads, actuators, closures and constraints: nothing but its parts."""
        twin = copy.deepcopy(self)
        twin.gravity = (0.0, 0.0, 0.0)
        twin._loads, twin._actuators, twin._closures, twin._constraints = [], {}, {}, []
        twin._drives, twin._sensors, twin._volumes = {}, {}, ()
        return twin

    def without_volumes(self) -> Self:
        """A copy without its soft volumes, whose frames stay."""
        twin = object.__new__(type(self))
        memo: dict[int, Any] = {id(self): twin}
        for name in Robot.__slots__[1:]:
            empty: dict[str, Any] = {"kept": None, "_volumes": ()}
            setattr(twin, name, empty[name] if name in empty else copy.deepcopy(getattr(self, name), memo))
        return twin

    def __repr__(self) -> str:
        return f"<robot {self.name!r}: {self.summary}>"

    @property
    def summary(self) -> str:
        """What there is: "arm, hand; 7 coordinates", "pad; 0 coordinates and a soft volume of 84 points"."""
        names = ", ".join([*(part.name for part in self._parts), *(one.name for one in self._volumes)]) or "no parts"
        soft = [f"a soft volume of {len(one.volume.places)} points" for one in self._volumes]
        return f"{names}; {' and '.join([numbered(self.size, 'coordinate'), *soft])}"

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        self._name = as_name(value, "Robot.name")

    @property
    def gravity(self) -> Signal:
        """Acceleration of gravity in world axes [m/s^2], a 3-vector or a function t [s] -> 3-vector."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: Signal) -> None:
        if value is None or isinstance(value, (bool, int, float)):
            wanted = "a vector of 3 finite numbers [m/s^2], (0, 0, -9.81) on earth and (0, 0, 0) for none"
            raise refuse("Robot.gravity", f"{wanted}, or a function of the time t returning one", value)
        self._gravity = as_time_signal(value, "Robot.gravity", "m/s^2")
        if not callable(self._gravity):
            check_gravity(self._gravity)

    @property
    def gravity_is_constant(self) -> bool:
        """Whether gravity does not depend on time."""
        return not callable(self._gravity)

    def gravity_values(self, times: ArrayLike) -> NDArray[np.float64]:
        """Return gravity (nt, 3) [m/s^2] in world axes at the times (nt,) [s]."""
        return sample(self._gravity, times, f"Gravity of robot {self.name!r}")

    @property
    def ground(self) -> Frame:
        """The fixed frame of the world."""
        return Frame(self, GROUND)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Handles of the parts, in the order they were added; a parent comes before its children."""
        return self._parts

    @property
    def loads(self) -> tuple[Load, ...]:
        """The loads, in the order they were added; contacts of soft volumes are kept by these (`VolumeHandle.contacts`)."""
        return tuple(self._loads)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return sum(part.size for part in self._parts)

    def check_size(self) -> None:
        """Raise an error if the robot is too large to be computed: its matrices are full."""
        if self.size > MOST_COORDINATES:
            need = 8e-9 * self.size**2
            raise DescriptionError(
                f"Robot {self.name!r} has {self.size} coordinates, and one matrix of it takes {need:.3g} GB; at most "
                f"{MOST_COORDINATES} are computed. Use fewer modes or fewer parts."
            )

    def coordinates(self) -> list[str]:
        """Return the labels of all coordinates in order.

        By part; in a part those of its joint, then by strain (twist to shear_z), then by mode.
        """
        return [label for part in self._parts for label in part.coordinates()]

    def part(self, name: str) -> Part:
        """Return the part of a name."""
        for part in self._parts:
            if part.name == name:
                return part
        names = ", ".join(part.name for part in self._parts) or "none"
        hint = did_you_mean(str(name), [part.name for part in self._parts])
        raise DescriptionError(f"Robot {self.name!r} has no part {name!r}{hint}; its parts are: {names}.")

    @overload
    def add(
        self, part: Rod, *, at: Frame, joint: Joint | None = ..., pose: ArrayLike | None = ..., name: str | None = ...
    ) -> RodHandle: ...

    @overload
    def add(
        self, part: SoftPart, *, at: Frame, pose: ArrayLike | None = ..., name: str | None = ..., patch: Any = ...
    ) -> VolumeHandle: ...

    @overload
    def add(
        self,
        part: RigidBody | Obstacle,
        *,
        at: Frame,
        joint: Joint | None = ...,
        pose: ArrayLike | None = ...,
        name: str | None = ...,
    ) -> BodyHandle: ...

    def add(
        self,
        part: Rod | RigidBody | Obstacle | SoftPart,
        *,
        at: Frame,
        joint: Joint | None = None,
        pose: ArrayLike | None = None,
        name: str | None = None,
        patch: Any = None,
    ) -> RodHandle | BodyHandle | VolumeHandle:
        """Attach the root of a rod, the frame of a rigid body, or some points of a soft volume, to a frame.

        From the frame ``at``, the fixed ``pose`` leads to the joint, and the motion of the joint to the root of the rod
        or to the body frame.

        Args:
            part: the rod, the rigid body or the volume; the same description may be added several times. An obstacle such
                as ``HalfSpace()`` is a body without weight: its joint is prescribed, ``Prismatic(axis, motion=...)``, or
                fixed, and others touch it by ``Contact(ball, belt, ...)``.
            at: frame to attach to, such as ``robot.ground``, ``arm.tip`` or ``hand.at(position)``.
            joint: joint between them, such as ``Revolute(axis=(0, 0, 1))``; ``Fixed()`` if not given (but see ``base``).
            pose: fixed pose (4, 4) of the joint in the frame ``at``, translation in [m], or its position (3,) [m]; the
                identity if not given.
            name: unique name of the part; by default its own name, or "rod" or "body", with "_2", "_3", ... if taken.
            patch: of a volume, the points welded to the frame: a named set of the mesh, numbers, a mask, or a function of
                positions (n, 3). None places the volume there (``pose`` is that of its axes in the frame) and welds
                nothing: ``clamp`` and ``frame`` of the handle do.

        Returns:
            A handle: for a rod with the frames ``root``, ``tip`` and ``section(X)``, for a body with ``frame`` and
            ``at(position)``, for a volume with ``clamp``, ``frame`` and ``embed``. An offset of ``at`` is found in its
            ``pose``, not in its ``parent``.

        """
        if isinstance(part, SoftPart):
            return self._add_volume(part, at, joint, pose, name, patch)
        if patch is not None:
            raise DescriptionError("Robot.add patch is for volumes: a rod or a body is attached by its root.")
        if not isinstance(part, (Rod, RigidBody, Obstacle)):
            raise refuse("Robot.add part", "a Rod, a RigidBody, a Volume or an obstacle", part)
        if isinstance(part, Obstacle):
            if joint is not None and joint.size and None in joint.motions:
                raise DescriptionError(
                    "Robot.add: an obstacle has no mass, so all of its motion must be prescribed, as by Prismatic((1, 0, 0), "
                    f"motion=...); with {type(joint).__name__} add RigidBody(mass, inertia, shape={type(part).__name__}(..))."
                )
            part, joint = RigidBody(FEATHER, name="obstacle", shape=part), Fixed() if joint is None else joint
        if len(self._parts) >= MOST_PARTS:
            raise DescriptionError(f"Robot {self.name!r} has {MOST_PARTS} parts, which is the limit.")
        name = self._name_for(part, name)
        frame = self.own_frame(at, f"Part {name!r}: Robot.add at")
        if joint is None:
            floats = self._base == "free" and not self._parts and frame.is_ground
            joint = Free() if floats else Fixed()
        if not isinstance(joint, Joint):
            raise refuse(f"Part {name!r}: Robot.add joint", "a joint such as Revolute(axis=(0, 0, 1))", joint)
        place = frame.offset_pose @ (np.eye(4) if pose is None else as_pose(pose, "Robot.add pose"))
        check_place(f"Part {name!r}", place[:3, 3], part.length if isinstance(part, Rod) else part.extent)
        index, parent = len(self._parts), frame.bare
        handle: RodHandle | BodyHandle
        if isinstance(part, Rod):
            handle = RodHandle(self, index, name, parent, place, joint, part)
        else:
            handle = BodyHandle(self, index, name, parent, place, joint, part)
        self._parts += (handle,)
        return handle

    def _add_volume(
        self, part: SoftPart, at: Frame, joint: Joint | None, pose: ArrayLike | None, name: str | None, patch: Any
    ) -> VolumeHandle:
        """`add`, of a volume."""
        if not part.is_part:
            raise DescriptionError(
                f"Robot.add part: {part.name!r} is a robot of its own; an ag.Volume(mesh, material) can be added."
            )
        name = self._new_name(part.name) if name is None else as_name(name, "Robot.add name")
        if name in self._taken():
            raise DescriptionError(f"Robot.add name must be new; {name!r} is taken in robot {self.name!r}.")
        if joint is not None:
            raise DescriptionError(
                f"Volume {name!r} takes no joint: add a light RigidBody with that joint, and the volume at its frame."
            )
        frame = self.own_frame(at, f"Volume {name!r}: Robot.add at")
        place = np.eye(4) if pose is None else as_pose(pose, "Robot.add pose")
        handle = VolumeHandle(self, name, part, frame, place)
        if patch is not None:
            handle.clamp(patch, frame, place)
        self._volumes += (handle,)
        return handle

    def add_floating(self, name: str, at: Frame, pose: NDArray[np.float64]) -> JointHandle:
        """Add a frame without mass that is free to move; from ``at``, ``pose`` (4, 4) leads to where it is at rest."""
        if as_name(name, "frame: name") in self._taken():
            raise DescriptionError(f"frame: name must be new; {name!r} is taken in robot {self.name!r}.")
        handle = JointHandle(self, len(self._parts), name, at.bare, at.offset_pose @ pose, Free())
        self._parts += (handle,)
        return handle

    @property
    def volumes(self) -> tuple[VolumeHandle, ...]:
        """Handles of the soft volumes, in the order they were added."""
        return self._volumes

    def load(self, load: AnyLoad) -> AnyLoad:
        """Put a load on the robot and return it."""
        if not isinstance(load, Load):
            raise refuse("Robot.load load", "a load such as TipWrench(arm, force=(0, 0, -1))", load)
        for frame in load.frames:
            self.own_frame(frame, f"The frame of {load.label}")
        known = [*self._loads, *(contact for volume in self._volumes for contact in volume.contacts)]
        if any(load is other for other in known):
            raise DescriptionError(f"{load.label} is already on robot {self.name!r}.")
        if load.name is not None and any(load.name == other.name for other in known):
            raise DescriptionError(f"Robot {self.name!r} already has a load named {load.name!r}: choose another name.")
        if load.holder is not None:
            if not any(load.holder is volume for volume in self._volumes):
                raise DescriptionError(f"{load.label}: the volume {load.holder.name!r} is not of robot {self.name!r}.")
            load.holder.contacts += (load,)
            return load
        if any(load.repeats(other) for other in self._loads):
            warn(f"{load.label} is on robot {self.name!r} a second time, and both act: were these lines run twice?")
        self._loads.append(load)
        return load

    @property
    def actuators(self) -> dict[str, Actuator]:
        """The actuators by the name of their input, in the order they were added."""
        return dict(self._actuators)

    def actuate(self, name: str, actuator: AnyActuator) -> AnyActuator:
        """Put an actuator on the robot and return it.

        Args:
            name: what its input is called, such as "pull".
            actuator: what acts, after its name, such as ``Tendon(arm, parallel(y=0.01))``.

        """
        if not isinstance(actuator, Actuator):
            raise refuse("Robot.actuate actuator", "an actuator such as Tendon(arm, parallel(y=0.01))", actuator)
        self._free_input(as_name(name, "Robot.actuate name"))
        for frame in actuator.frames:
            self.own_frame(frame, f"The rod of actuator {name!r}")
        self._actuators[name] = actuator
        return actuator

    def input(
        self,
        name: str,
        unit: str = "",
        *,
        drive: Drive | None = None,
        along: ArrayLike | Callable[[float], ArrayLike] | None = None,
    ) -> Callable[..., Any]:
        """Make a named input, to be put wherever a function of the time t may stand: an effort, a force, a motion, a field.

        Its values are given where the robot moves: ``simulate(robot, inputs={name: ...})``, ``Stepper.step({name: ...})``;
        an input that is not given is zero.

        Args:
            name: its name, which no other input or actuator has.
            unit: its unit, to be told beside its values: one of SI ("rad", "N m"), or one of your own ("counts").
            drive: limits, rate, delay, lag, dead zone, play.
            along: a direction (3,): the input then stands for this vector times its value, as forces and fields need it; or
                a function of the arc length X [m] that gives one, for loads along rods.

        Returns:
            The input, a function of t, or of (X, t) if its direction is a function of X. It may be called within functions
            of the user's own too.

        """
        self._free_input(as_name(name, "Robot.input name"))
        port = self._ports[name] = Port(name, unit, drive)
        return port if along is None else port.along(along)

    def drive(self, name: str, drive: Drive) -> Drive:
        """Say how the input of an actuator or a port follows its command; returns the drive."""
        if name not in self._actuators and name not in self._ports:
            raise DescriptionError(f"there is no input {name!r}; {self._told_inputs()}.")
        if not isinstance(drive, Drive):
            raise refuse("Robot.drive drive", "a Drive(...)", drive)
        self._drives[name] = drive
        return drive

    def _free_input(self, name: str) -> None:
        if name in self._actuators or name in self._ports:
            what = "an actuator" if name in self._actuators else "an input"
            raise DescriptionError(f"Robot {self.name!r} already has {what} {name!r}: choose another name.")

    def _told_inputs(self) -> str:
        return f"robot {self.name!r} has: {', '.join(self.inputs) or 'none'}"

    @property
    def has_inputs(self) -> bool:
        """Whether it has an actuator or an input made by `input`."""
        return bool(self._actuators or self._ports)

    @property
    def ports(self) -> dict[str, Port]:
        """The inputs made by `input`, by name."""
        return dict(self._ports)

    @property
    def inputs(self) -> dict[str, str]:
        """Units of all inputs by name: those of the actuators, those made by `input`, those of soft volumes."""
        return (
            {name: actuator.unit for name, actuator in self._actuators.items()}
            | {name: port.unit for name, port in self._ports.items()}
            | {name: unit for volume in self._volumes for name, unit in volume.inputs.items()}
        )

    @property
    def drives(self) -> dict[str, Drive]:
        """How each input follows its command, by name, in the order of `inputs`."""
        own = {name: port.drive for name, port in self._ports.items()}
        return {name: self._drives.get(name, own.get(name, Drive())) for name in self.inputs}

    @property
    def sensors(self) -> dict[str, Sensor]:
        """The sensors by name, in the order they were added."""
        return dict(self._sensors)

    def sense(self, name: str, sensor: AnySensor) -> AnySensor:
        """Put a sensor on the robot: ``robot.sense("tip", Position(arm.tip, noise=1e-4))``. Returns the sensor."""
        if not isinstance(sensor, Sensor):
            raise refuse("Robot.sense sensor", "a sensor such as Position(arm.tip)", sensor)
        if as_name(name, "Robot.sense name") in self._sensors:
            raise DescriptionError(f"Robot {self.name!r} already has a sensor {name!r}: choose another name.")
        for frame in sensor.frames:
            self.own_frame(frame, f"The frame of sensor {name!r}")
        self._sensors[name] = sensor
        return sensor

    @property
    def closures(self) -> dict[str, Closure]:
        """The closures of loops by name, in the order they were made."""
        return dict(self._closures)

    @property
    def constraints(self) -> tuple[TwistConstraint, ...]:
        """The constraints on velocities, in the order they were added."""
        return tuple(self._constraints)

    def close(
        self, a: Frame, b: Frame, *, joint: Joint | None = None, pose: Pose | None = None, name: str | None = None
    ) -> Closure:
        """Close a loop: connect frame b to frame a by a joint. To prescribe the pose of a frame, close it with the ground.

        The robot need not be closed as described: solvers close it first (*mounting*).

        Args:
            a: the frame that carries the joint.
            b: the frame held on it.
            joint: joint between them; ``Fixed()`` if not given.
            pose: pose (4, 4) of the joint in frame a, translation in [m], or its position (3,) [m], or a function of t [s]
                returning one; the identity if not given. At zero coordinates of the joint, frame b is there.
            name: unique name; "loop", "loop_2", ... by default.

        Returns:
            The closure: ``result.reaction(closure)`` is the wrench it takes.

        """
        name = self._closure_name(name)
        a, b = self.own_frame(a, f"Closure {name!r}: a"), self.own_frame(b, f"Closure {name!r}: b")
        joint = Fixed() if joint is None else joint
        if not isinstance(joint, Joint):
            raise refuse(f"Closure {name!r}: joint", "a joint such as Revolute(axis=(0, 0, 1))", joint)
        if a.bare == b.bare or (a.part_index == b.part_index and not isinstance(self._part_of(a), RodHandle)):
            raise DescriptionError(f"Closure {name!r} joins {a.label} to itself, {b.label}: a loop needs two frames.")
        if isinstance(joint, Free):
            raise DescriptionError(f"Closure {name!r}: a Free joint holds nothing, so it cannot close a loop.")
        placed = as_pose_signal(pose, f"Closure {name!r}: pose")
        active = any(np.any(v) for v in (joint.stiffness_values, joint.damping_values)) or joint.motion is not None
        if joint.closing is None or active or not joint.effort_is_constant or np.any(joint.effort_values(0.0)):
            if callable(placed):
                raise DescriptionError(
                    f"Closure {name!r}: a pose that depends on time needs a passive joint without spring or effort."
                )
            place = a.offset_pose @ np.asarray(placed, dtype=np.float64)
            handle = JointHandle(self, len(self._parts), self._new_name(name), a.bare, place, joint)
            self._parts += (handle,)
            a, joint, placed = handle.root, Fixed(), np.eye(4)
        closure = Closure(self, name, a, b, joint, placed)
        self._closures[name] = closure
        return closure

    def constrain(self, constraint: TwistConstraint) -> TwistConstraint:
        """Put a constraint on velocities on the robot, such as ``no_slip(needle.tip, (0, 1, 0))``, and return it."""
        if not isinstance(constraint, TwistConstraint):
            raise refuse("Robot.constrain constraint", "a constraint such as no_slip(arm.tip, (0, 1, 0))", constraint)
        for frame in constraint.frames:
            self.own_frame(frame, f"The frame of {constraint.label}")
        self._constraints.append(constraint)
        return constraint

    def _part_of(self, frame: Frame) -> Part | None:
        return None if frame.is_ground else self._parts[frame.part_index]

    def _closure_name(self, name: str | None) -> str:
        if name is not None:
            if as_name(name, "Robot.close name") in self._closures:
                raise DescriptionError(f"Robot {self.name!r} already has a closure {name!r}: choose another name.")
            return name
        number, candidate = 1, "loop"
        while candidate in self._closures:
            number += 1
            candidate = f"loop_{number}"
        return candidate

    def own_frame(self, frame: Frame, what: str) -> Frame:
        """Check that a frame is one of this robot."""
        if isinstance(frame, Part):
            meant = ".frame" if isinstance(frame, BodyHandle) else ".tip"
            raise DescriptionError(f"{what} must be a frame; got the part {frame.name!r}: did you mean its {meant}?")
        if not isinstance(frame, Frame):
            raise refuse(what, "a frame such as robot.ground or arm.tip", frame)
        if frame.robot is not self:
            raise DescriptionError(
                f"{what} must be a frame of robot {self.name!r}; got {frame.label!r} of another robot, "
                f"{frame.robot.name!r}."
            )
        return frame

    def _name_for(self, part: Rod | RigidBody, name: str | None) -> str:
        if name is not None:
            if as_name(name, "Robot.add name") in self._taken():
                raise DescriptionError(f"Robot.add name must be new; {name!r} is taken in robot {self.name!r}.")
            return name
        return self._new_name(part.name or ("rod" if isinstance(part, Rod) else "body"))

    def _taken(self) -> set[str]:
        return {"ground", *(other.name for other in self._parts), *(volume.name for volume in self._volumes)}

    def _new_name(self, stem: str) -> str:
        taken = self._taken()
        candidate, number = stem, 1
        while candidate in taken:
            number += 1
            candidate = f"{stem}_{number}"
        return candidate
