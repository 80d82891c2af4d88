"""Contact of the surface of a soft volume with obstacles, bodies, rods and other volumes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any, ClassVar

from anguilla.describe.frames import BodyHandle, Frame, Part, RodHandle
from anguilla.describe.load import Book, Load, Seat
from anguilla.describe.obstacles import Obstacle
from anguilla.describe.volumes import SoftPart, VolumeHandle
from anguilla.errors import DescriptionError, as_nonnegative, as_positive, refuse

__all__ = ["VolumeContact"]

TOKENS = count(1)


@dataclass(eq=False)
class VolumeContact(Load):
    """Contact of the surface of a soft volume, with friction that holds. ``Contact(volume, ...)`` makes one.

    The volume touches at points of its surface, each with its share of the area: its nodes and, `spacing` apart, points
    between them. Edges and corners of a body that press between points are not felt. A point is pushed back by k g(depth)
    along the normal of what it touches, never pulled, and rubs; g is the depth less half of `smooth`, and starts smoothly
    from zero. What it touches feels the opposite.

    What touches with friction holds, up to Coulomb's limit, by bristles that bend a little, by friction x pressure / (2/3
    stiffness) at most: it does not creep. Bristles are remembered from step to step. Equilibria know friction from one to the
    next: with ``start=`` a motion or another equilibrium, bristles bend from there; without it there is no friction.

    Two volumes touch one way: points inside the faces of the first against the triangles of the second, so that the finer one
    should be the first. A point is pushed out of the second by the closest place of its surface; one that got past the middle
    leaves on the other side. A volume that touches itself, Contact(volume, volume), does not see what was nearer than about
    an edge of its faces at rest; points of both sides push there, so that it is twice as stiff.

    Attributes:
        volume: a volume of a robot, as returned by robot.add; or a soft body by itself.
        other: an obstacle fixed in space; or a body of the robot with a shape that may touch, or a rod of it, which touches
            as a chain of capsules; or another volume of it, or the same one.
        stiffness: pressure over depth [Pa/m]. If not given, 10 E / (1 - nu^2) / size of the face, of the softest material
            there, of both volumes: ten times what a layer of elements resists, so that what sinks in is a tenth of what that
            layer gives, and vanishes with refinement.
        damping: loss while sinking [s/m]: the force is multiplied by 1 + damping x speed of sinking, and less than one while
            leaving.
        friction: Coulomb's coefficient [-].
        smooth: depth over which the stiffness rises from zero [m]; a thousandth of the size of the face if not given.
        surface: the part of the surface that may touch: name of a surface of the mesh, or points (a named set, numbers, a
            mask, a function of positions) between which faces of the boundary lie; all of it if not given.
        spacing: distance of points on faces [m]. If not given, a sixth of the radius of a ball, a third of that of what else
            is touched (of the least half width of a box or cylinder), an edge of the triangles of a volume; and not less
            than a sixth of a side of a face, a twelfth for balls; nodes alone for half-spaces.
        name: name of the contact.

    """

    volume: Any
    other: Any
    stiffness: float | None = None
    damping: float = field(default=0.0, kw_only=True)
    friction: float = field(default=0.0, kw_only=True)
    smooth: float | None = field(default=None, kw_only=True)
    surface: Any = field(default=None, kw_only=True)
    spacing: float | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)
    token: int = field(default_factory=TOKENS.__next__, init=False, repr=False)  # copies in models are known by it

    is_passive: ClassVar[bool] = True
    of_volume: ClassVar[bool] = True

    def _check(self) -> None:
        if not isinstance(self.volume, VolumeHandle | SoftPart):
            self.volume, self.other = self.other, self.volume
        if isinstance(self.other, SoftPart) or (isinstance(self.other, VolumeHandle) and self.holder is None):
            raise DescriptionError(
                "Contact: soft volumes touch each other in a robot: give them as robot.add returns them."
            )
        if not isinstance(self.other, Obstacle | BodyHandle | RodHandle | VolumeHandle):
            raise refuse("Contact.other", "an obstacle, a body, a rod or a volume, for a volume to touch", self.other)
        self._check_name()
        self.damping = as_nonnegative(self.damping, "Contact.damping", "s/m")
        self.friction = as_nonnegative(self.friction, "Contact.friction", "-")
        for which, unit in (("stiffness", "Pa/m"), ("smooth", "m"), ("spacing", "m")):
            if getattr(self, which) is not None:
                setattr(self, which, as_positive(getattr(self, which), f"Contact.{which}", unit))
        if isinstance(self.other, Part | VolumeHandle):
            self._check_part(self.other)

    def _check_part(self, part: Part | VolumeHandle) -> None:
        if not isinstance(self.volume, VolumeHandle):
            raise DescriptionError(
                f"{self.label}: a soft body by itself touches obstacles; {part.name!r} is of a robot."
            )
        if part.robot is not self.volume.robot:
            raise DescriptionError(f"{self.label}: the two belong to different robots; what touches is of one.")
        if isinstance(part, BodyHandle) and part.body.solid is None:
            raise DescriptionError(
                f"{self.label}: a body touches with its shape, but {part.name!r} has no shape: give it one, as "
                "RigidBody.sphere(...) does."
            )
        if isinstance(part, Part) and any(patch.frame.part_index == part.index for patch in self.volume.patches):
            raise DescriptionError(f"{self.label}: the volume is welded to {part.name!r}, and cannot touch it.")

    @property
    def label(self) -> str:
        """The name of the contact, or its type and places."""
        other = self.other.name if isinstance(self.other, Part | VolumeHandle) else type(self.other).__name__
        return self.name or f"Contact of {self.volume.name} and {other}"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The root of the part that it touches, if any."""
        return (self.other.root,) if isinstance(self.other, Part) else ()

    @property
    def holder(self) -> VolumeHandle | None:
        """The volume of a robot that keeps it."""
        return self.volume if isinstance(self.volume, VolumeHandle) else None

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """The one it touches, if any."""
        return (self.other,) if isinstance(self.other, Obstacle) else ()

    def enter(self, book: Book) -> Seat:
        """Rods and bodies do not feel it by their tables: volumes tell them."""
        raise DescriptionError(f"{self.label} belongs to a volume: put it on its robot by robot.load.")
