"""Frames of a robot and handles of its parts."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.bodies import RigidBody
from anguilla.describe.description import copied
from anguilla.describe.joints import Joint
from anguilla.describe.rod import Rod
from anguilla.errors import DescriptionError, as_number, as_pose, refuse

if TYPE_CHECKING:
    from anguilla.describe.robot import Robot

GROUND = -1

Offset = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a robot: the ground, a section of one of its rods, one of its bodies, or a place fixed to these.

    Frames come from ``robot.ground``, ``arm.root``, ``arm.tip``, ``arm.section(X)``, ``hand.frame`` and
    ``hand.at(position)``; ``frame.offset_by(pose)`` gives a place fixed to any of them. Two frames are equal when they
    name the same place of the same robot; the tip stays the tip when the length of the rod is changed.

    Attributes:
        robot: the robot it belongs to.
        part_index: index of its part in ``robot.parts``; -1 for the ground.
        place: "root", "tip" or an arc length [m] strictly between them; "frame" for a body.
        offset: fixed pose of this frame in the frame without offset, as 4 rows of 4 numbers, translation in [m]; None
            for no offset.

    """

    robot: Robot = field(repr=False)
    part_index: int
    place: str | float = "root"
    offset: Offset | None = None

    def __repr__(self) -> str:
        return f"<frame {self.label} of robot {self.robot.name!r}>"

    @property
    def is_ground(self) -> bool:
        """Whether this is the fixed frame of the world."""
        return self.part_index == GROUND

    @property
    def part(self) -> Part:
        """The part this frame belongs to."""
        if self.is_ground:
            raise DescriptionError("The ground belongs to no part.")
        return self.robot.parts[self.part_index]

    @property
    def X(self) -> float:
        """Rest arc length [m]: 0 at the root (and for the ground and a body), the length of the rod at the tip."""
        if self.is_ground or self.place == "root":
            return 0.0
        length = self.part.length
        if isinstance(self.place, str):
            return length
        if self.place >= length:
            raise DescriptionError(f"Frame {self.label} lies beyond the tip: the rod is now {length:g} m long.")
        return self.place

    @property
    def label(self) -> str:
        """Readable name: "ground", "arm.root", "arm.tip", "arm[0.25]", "hand.frame", "hand.frame + (0.1, 0, 0)"."""
        if self.is_ground:
            name = "ground"
        elif isinstance(self.place, str):
            name = f"{self.part.name}.{self.place}"
        else:
            name = f"{self.part.name}[{self.place:g}]"
        if self.offset is None:
            return name
        pose = self.offset_pose
        turned = "" if np.array_equal(pose[:3, :3], np.eye(3)) else ", turned"
        return f"{name} + ({', '.join(f'{x:g}' for x in pose[:3, 3])}){turned}"

    @property
    def offset_pose(self) -> NDArray[np.float64]:
        """Fixed pose (4, 4) of this frame in the frame without offset, translation in [m]; maybe the identity."""
        return np.eye(4) if self.offset is None else np.array(self.offset, dtype=np.float64)

    @property
    def bare(self) -> Frame:
        """The frame without offset."""
        return self if self.offset is None else Frame(self.robot, self.part_index, self.place)

    def offset_by(self, pose: ArrayLike) -> Frame:
        """Return a frame fixed to this one.

        Args:
            pose: its pose (4, 4) in this frame, translation in [m]; or its position (3,) [m], with the same axes.

        """
        return self._moved(as_pose(pose, f"{self.label}.offset_by pose"))

    def _moved(self, pose: NDArray[np.float64]) -> Frame:
        total = self.offset_pose @ pose
        offset = None if np.array_equal(total, np.eye(4)) else tuple(tuple(row) for row in total.tolist())
        return Frame(self.robot, self.part_index, self.place, offset)

    def __str__(self) -> str:
        return self.label

    def __deepcopy__(self, memo: dict[int, Any]) -> Frame:
        return Frame(copy.deepcopy(self.robot, memo), self.part_index, self.place, self.offset)


class Part:
    """Handle of a part of a robot, as returned by ``robot.add``.

    Attributes:
        robot: the robot.
        index: index in ``robot.parts``.
        name: unique name in the robot.
        parent: the frame the part is attached to, without offset.
        pose: fixed pose (4, 4) of the joint in the parent frame, read-only; translation in [m].
        joint: the joint; its motion leads from there to the root of the part.

    """

    def __init__(
        self, robot: Robot, index: int, name: str, parent: Frame, pose: NDArray[np.float64], joint: Joint
    ) -> None:
        self.robot = robot
        self.index = index
        self.name = name
        self.parent = parent
        self.pose = pose
        self.pose.setflags(write=False)
        self.joint = joint

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        if not self.pose.flags.writeable:
            memo[id(self.pose)] = self.pose  # shared
        return copied(self, memo)

    @property
    def root(self) -> Frame:
        """The first frame of the part."""
        return Frame(self.robot, self.index, "root")

    @property
    def length(self) -> float:
        """Extent of the part along its arc length [m]; 0 for a part without one."""
        return 0.0

    @property
    def size(self) -> int:
        """Number of coordinates of the part, those of its joint included."""
        return self.joint.size

    def coordinates(self) -> list[str]:
        """Return the labels of the coordinates of the part, those of its joint first, such as "hand.angle"."""
        return [f"{self.name}.{label}" for label in self.joint.names]


class RodHandle(Part):
    """Handle of a rod in a robot.

    Attributes:
        rod: the description of the rod.

    """

    def __init__(
        self, robot: Robot, index: int, name: str, parent: Frame, pose: NDArray[np.float64], joint: Joint, rod: Rod
    ) -> None:
        super().__init__(robot, index, name, parent, pose, joint)
        self.rod = rod

    def __repr__(self) -> str:
        return f"<rod {self.name!r} of robot {self.robot.name!r}, on {self.parent.label}>"

    @property
    def tip(self) -> Frame:
        """The frame at X = length."""
        return Frame(self.robot, self.index, "tip")

    def section(self, X: float) -> Frame:
        """Return the frame at the rest arc length X [m], between 0 and the length of the rod."""
        name, length = f"X of {self.name}.section", self.length
        X = as_number(X, name, "m")
        slack = 1e-12 * length
        if not -slack <= X <= length + slack:
            raise refuse(name, f"between 0 and the length {length:g} of the rod [m]", X)
        if X <= slack:
            return self.root
        return self.tip if X >= length - slack else Frame(self.robot, self.index, X)

    @property
    def length(self) -> float:
        """Rest length of the rod [m]."""
        return self.rod.length

    @property
    def size(self) -> int:
        """Number of coordinates of the joint and of the rod."""
        return self.joint.size + self.rod.size

    def coordinates(self) -> list[str]:
        """Return the labels of the coordinates: those of the joint, then of the strains, such as "arm.bend_z[0]"."""
        strains = self.rod.strains.items()
        own = [f"{self.name}.{strain}[{k}]" for strain, basis in strains for k in range(basis.size)]
        return super().coordinates() + own


class BodyHandle(Part):
    """Handle of a rigid body in a robot.

    Attributes:
        body: the description of the body.

    """

    def __init__(
        self,
        robot: Robot,
        index: int,
        name: str,
        parent: Frame,
        pose: NDArray[np.float64],
        joint: Joint,
        body: RigidBody,
    ) -> None:
        super().__init__(robot, index, name, parent, pose, joint)
        self.body = body

    def __repr__(self) -> str:
        return f"<body {self.name!r} of robot {self.robot.name!r}, on {self.parent.label}>"

    @property
    def frame(self) -> Frame:
        """The body frame, in which the centre of mass and the inertia are given."""
        return Frame(self.robot, self.index, "frame")

    @property
    def root(self) -> Frame:
        """The body frame."""
        return self.frame

    def at(self, pose: ArrayLike) -> Frame:
        """Return a frame fixed to the body.

        Args:
            pose: its pose (4, 4) in the body frame, translation in [m]; or its position (3,) [m], with the body axes.

        """
        return self.frame.offset_by(as_pose(pose, f"{self.name}.at pose"))


class JointHandle(Part):
    """Handle of a joint that closes a loop and has coordinates of its own: it carries no mass.

    It is made by ``robot.close`` for a joint with a spring, a damper, an effort or a motion, and for a screw.
    """

    def __repr__(self) -> str:
        return f"<joint {self.name!r} of robot {self.robot.name!r}, on {self.parent.label}>"
