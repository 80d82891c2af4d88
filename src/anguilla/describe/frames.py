"""Frames of a robot and handles of its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anguilla.describe.rod import Rod
from anguilla.errors import DescriptionError, as_number, refuse

if TYPE_CHECKING:
    from anguilla.describe.robot import Robot

GROUND = -1


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a robot: the ground, or a section of one of its rods.

    Frames come from ``robot.ground``, ``part.root``, ``part.tip`` and ``part.section(X)``. Two frames are equal when
    they name the same place of the same robot; the tip stays the tip when the length of the rod is changed.

    Attributes:
        robot: the robot it belongs to.
        part_index: index of its part in ``robot.parts``; -1 for the ground.
        place: "root", "tip" or an arc length [m] strictly between them.

    """

    robot: Robot = field(repr=False)
    part_index: int
    place: str | float = "root"

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
        """Rest arc length [m]: 0 at the root (and for the ground), the length of the rod at the tip."""
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
        """Readable name: "ground", "arm.root", "arm.tip" or "arm[0.25]"."""
        if self.is_ground:
            return "ground"
        name = self.part.name
        return f"{name}.{self.place}" if isinstance(self.place, str) else f"{name}[{self.place:g}]"

    def __str__(self) -> str:
        return self.label


class Part:
    """Handle of a part of a robot, as returned by ``robot.add``.

    Attributes:
        robot: the robot.
        index: index in ``robot.parts``.
        name: unique name in the robot.
        parent: the frame the part is attached to.
        pose: fixed pose (4, 4) of the root of the part in the parent frame, read-only; translation in [m].

    """

    def __init__(self, robot: Robot, index: int, name: str, parent: Frame, pose: NDArray[np.float64]) -> None:
        self.robot = robot
        self.index = index
        self.name = name
        self.parent = parent
        self.pose = pose
        self.pose.setflags(write=False)

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
        """Number of coordinates of the part."""
        raise NotImplementedError

    def coordinates(self) -> list[str]:
        """Return the labels of the coordinates of the part."""
        raise NotImplementedError


class RodHandle(Part):
    """Handle of a rod in a robot.

    Attributes:
        rod: the description of the rod.

    """

    def __init__(self, robot: Robot, index: int, name: str, parent: Frame, pose: NDArray[np.float64], rod: Rod) -> None:
        super().__init__(robot, index, name, parent, pose)
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
        """Number of coordinates of the rod."""
        return self.rod.size

    def coordinates(self) -> list[str]:
        """Return the labels of the coordinates, such as "arm.bend_z[0]"."""
        return [f"{self.name}.{strain}[{k}]" for strain, basis in self.rod.strains.items() for k in range(basis.size)]
