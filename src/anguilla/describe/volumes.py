"""Soft volumes as parts of a robot: they hang on its frames by patches of their points.

The points of a patch move with a frame as if they were welded to it. All that a volume and the rest of a robot do to each
other goes through the poses of such frames: no constraint is needed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.frames import Frame, RodHandle
from anguilla.errors import DescriptionError, as_pose, refuse

if TYPE_CHECKING:
    from anguilla.describe.robot import Robot

__all__ = ["Patch", "SoftPart", "VolumeHandle", "WithVolumes", "refuse_volumes", "solvers_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WELDED = "_welded_"  # how names of masses begin that stand for welded points: they are not drawn
EMBEDDED = 1e-6  # of the size of a volume: a point as near to the axis of a rod lies on it


class SoftPart:
    """What can be added to a robot as a volume: something with points, some of which are clamped to frames."""

    name: str
    is_part: ClassVar[bool] = False  # whether robots take it

    @property
    def places(self) -> Floats:
        """Its points (n, 3) at rest [m], in its own axes."""
        raise NotImplementedError

    def points_of(self, where: Any, what: str) -> Ints:
        """Numbers of the points that a user means."""
        raise NotImplementedError

    @property
    def units(self) -> dict[str, str]:
        """Units of its inputs, by name."""
        raise NotImplementedError

    @property
    def solvers(self) -> Any:
        """What solves robots with such parts: an object with `statics`, `simulate`, ..."""
        raise NotImplementedError


class WithVolumes:
    """The model of a robot with volumes."""

    volumes: tuple[VolumeHandle, ...]


@dataclass(frozen=True)
class Patch:
    """Points of a volume that move with a frame.

    Attributes:
        frame: the frame.
        points: (k,) numbers of the points.
        pose: pose (4, 4) of the axes of the volume in the frame, for these points; None if they are welded to it as they
            lie at rest, when all coordinates of the robot are zero.

    """

    frame: Frame
    points: Ints
    pose: Floats | None


class VolumeHandle:
    """Handle of a soft volume in a robot, as returned by ``robot.add``.

    Attributes:
        robot: the robot.
        name: unique name in the robot.
        volume: the description.
        at: the frame that the volume was placed in.
        pose: pose (4, 4) of its axes in that frame, translation in [m].
        patches: what holds it.
        contacts: what it touches.

    """

    def __init__(self, robot: Robot, name: str, volume: SoftPart, at: Frame, pose: Floats) -> None:
        self.robot, self.name, self.volume, self.at, self.pose = robot, name, volume, at, pose
        self.patches: tuple[Patch, ...] = ()
        self.contacts: tuple[Any, ...] = ()

    def clamp(self, where: Any, frame: Frame, pose: ArrayLike | None = None) -> None:
        """Weld points to a frame of the robot.

        Args:
            where: a named set of the mesh, numbers, a mask, or a function of positions (n, 3) returning a mask.
            frame: any frame of the robot: ``robot.ground``, ``arm.tip``, ``plate.at(...)``.
            pose: pose (4, 4) of the axes of the volume in that frame, or a position (3,) [m]: points that do not lie there
                at rest are pulled there. If not given, they are welded as they lie when all coordinates are zero.

        """
        frame = self.robot.own_frame(frame, f"Volume {self.name!r}: clamp frame")
        points = self._loose(where, "clamp")
        placed = None if pose is None else as_pose(pose, "clamp pose")
        self.patches += (Patch(frame, points, placed),)

    def frame(self, name: str, where: Any, at: ArrayLike | None = None) -> Frame:
        """Make some points one rigid region, and return its frame.

        The frame moves with the volume and carries what any frame does: rods, bodies, joints, guides of tendons, loads,
        sensors. It has six coordinates of its own, and no mass but that of the points.

        Args:
            name: its name; the coordinates go by it.
            where: the points of the region, at least three that are not on one line.
            at: position (3,) or pose (4, 4) of the frame in the axes of the volume; the middle of the points if not given.

        """
        points = self._loose(where, f"frame {name!r}")
        places = self.volume.places[points]
        middle = places.mean(axis=0)
        if np.linalg.matrix_rank(places - middle, tol=1e-9 * max(float(np.ptp(places)), 1e-300)) < 2:
            raise DescriptionError(
                f"Volume {self.name!r}: frame {name!r} needs at least three points that are not on one line."
            )
        own = as_pose(middle if at is None else at, f"frame {name!r}: at")
        frame = self.robot.add_floating(name, self.at, self.pose @ own).root
        self.clamp(points, frame, np.linalg.inv(own))
        return frame

    def _loose(self, where: Any, what: str) -> Ints:
        """Points that a user means, none of which may be welded to something."""
        points = self.volume.points_of(where, f"Volume {self.name!r}: {what}")
        for other in self.patches:
            if len(np.intersect1d(other.points, points)):
                raise DescriptionError(
                    f"Volume {self.name!r}: {what}: some of these points are already welded to {other.frame.label}."
                )
        return points

    def embed(self, rod: RodHandle, pose: ArrayLike | None = None) -> None:
        """Let points of the volume that lie on the axis of a straight rod move with it: the rod runs through the volume.

        Points that something else holds stay with it.

        Args:
            rod: a rod of the robot, straight at rest.
            pose: pose (4, 4) of the root of the rod in the axes of the volume, its x along the rod; or its position (3,).

        """
        if not isinstance(rod, RodHandle) or rod.robot is not self.robot:
            raise refuse(f"Volume {self.name!r}: embed rod", f"a rod of robot {self.robot.name!r}", rod)
        root = np.eye(4) if pose is None else as_pose(pose, "embed pose")
        places = self.volume.places
        own = (places - root[:3, 3]) @ root[:3, :3]
        near = EMBEDDED * float(np.linalg.norm(np.ptp(places, axis=0)))
        welded = (
            np.concatenate([patch.points for patch in self.patches]) if self.patches else np.zeros(0, dtype=np.int64)
        )
        inside = (np.linalg.norm(own[:, 1:], axis=1) <= near) & (own[:, 0] >= -near) & (own[:, 0] <= rod.length + near)
        if not inside.any():
            raise DescriptionError(
                f"Volume {self.name!r}: embed: no point of the mesh lies on the axis of {rod.name!r}; make a mesh that has "
                "points there."
            )
        for k in np.setdiff1d(np.flatnonzero(inside), welded).tolist():
            X = float(np.clip(own[k, 0], 0.0, rod.length))
            shift = np.eye(4)
            shift[0, 3] = -X
            self.clamp([k], rod.section(X), shift @ np.linalg.inv(root))

    @property
    def inputs(self) -> dict[str, str]:
        """Units of its inputs by their name in the robot, such as "finger.pull"."""
        return {f"{self.name}.{name}": unit for name, unit in self.volume.units.items()}

    def __deepcopy__(self, memo: dict[int, Any]) -> VolumeHandle:
        robot, at = copy.deepcopy(self.robot, memo), copy.deepcopy(self.at, memo)
        twin = memo[id(self)] = VolumeHandle(robot, self.name, copy.deepcopy(self.volume, memo), at, self.pose)
        twin.contacts = copy.deepcopy(self.contacts, memo)
        twin.patches = tuple(Patch(copy.deepcopy(p.frame, memo), p.points, p.pose) for p in self.patches)
        return twin

    def __repr__(self) -> str:
        frames = ", ".join(dict.fromkeys(patch.frame.label for patch in self.patches)) or "nothing"
        return f"<volume {self.name!r} of robot {self.robot.name!r}, held by {frames}>"


def solvers_of(robot: object) -> Any:
    """What solves a robot that has soft volumes, or its model; None if it has none."""
    volumes = getattr(robot, "volumes", ())
    return volumes[0].volume.solvers if volumes and isinstance(volumes, tuple) else None


def refuse_volumes(volumes: Sequence[VolumeHandle], robot: str) -> None:
    """Refuse a robot with soft volumes where only rods and bodies are computed."""
    if volumes:
        names = ", ".join(repr(volume.name) for volume in volumes)
        raise DescriptionError(
            f"Robot {robot!r} has soft volumes ({names}), which are not supported here yet; "
            "ag.statics, ag.simulate and ag.modes support them."
        )
