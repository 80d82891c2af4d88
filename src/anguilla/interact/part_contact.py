"""Contact between parts of a robot: rods, bodies and frames that touch each other, and rods that touch themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe.frames import BodyHandle, Frame, Part, RodHandle
from anguilla.describe.load import Book, Load, Seat
from anguilla.describe.robot import Robot
from anguilla.describe.volumes import VolumeHandle
from anguilla.errors import DescriptionError, as_array, as_nonnegative, as_positive, refuse
from anguilla.interact.touching import SOFTENING, Meeting, joined
from anguilla.interact.volume_contact import VolumeContact

__all__ = ["PartContact", "SelfContact", "contacts"]

EXCLUDED = "pairs of parts or volumes such as [(arm, ball), (arm, base)], and rods that shall not touch themselves"


@dataclass(eq=False)
class PartContact(Load):
    """Contact between two parts of a robot, with friction that holds. ``Contact(a, b)`` makes one.

    The two push each other with k g(depth) along the line between their nearest points, never pull, and rub. g is the depth
    less half of `smooth`, and starts smoothly from zero. Along a rod the nearest points are found on its smooth centreline,
    not on nodes, and balls of its radius are spread along it, `spacing` apart, each of which stands for a share of its
    length. Ends of rods are round.

    What touches with friction holds, up to Coulomb's limit, by bristles that bend a little: friction x force / (2/3
    stiffness) at most. It does not creep. Bristles are remembered from step to step; `gradient` and `sensitivities` of a
    motion go through them. `statics` moves them on its way from the start to the equilibrium, which is one of many; if the
    start is an equilibrium or a motion, parts whose motion is given take along what they hold. With a `slip` there are none:
    friction fades below that speed, and there is none in `statics`.

    Attributes:
        a, b: a rod, which touches all along; a body with a shape, which may be any obstacle; or a frame, which touches as a
            ball of the given radius. They may not be joined to each other. A rod may touch itself. Of two bodies, balls
            touch all around, two capsules at one place, where they are nearest, capsules and others with balls along the
            axis, a radius apart if no `spacing` is given, cylinders with points of their rims and, unless they are shorter
            than wide, balls inside, on which they roll (shorter ones roll as polygons
            do), others with their corners; where the other one has faces too, also with points along edges and on faces,
            half of the smaller width apart. Each of these has the given stiffness, but the points on a face of a box share
            that of four.
            An obstacle that moves is a body whose joint is prescribed:
            ``robot.add(HalfSpace(), at=robot.ground, joint=Prismatic((1, 0, 0), motion=...))``.
        stiffness: per length [N/m^2] along rods, [N/m] between bodies. If not given, that of the rods' materials: as Hertz
            says for two rods that cross at right angles and for a ball on a rod, pi/4 E / (1 - nu^2) for a rod on something
            flat.
        damping: loss while sinking [s/m]: the force is multiplied by 1 + damping x speed of sinking, and less than one while
            leaving. What hits at a low speed v leaves with about (1 - 2/3 damping v) v.
        friction: Coulomb's coefficient [-]; or three of the skin of a, if it has scales: for its sliding forward on b (along
            +x of the frame or section), backward, and sideways. Which of the two comes first matters then.
        radius: [m] of rods, if not half of the largest width of their section, and of the balls of frames.
        smooth: depth over which the stiffness rises from zero [m]; 1 % of the smaller radius if not given.
        slip: speed [m/s] below which friction fades, if it shall not hold.
        spacing: [m] of what touches along a rod, a fifth of the smaller radius if not given; and along edges and on faces
            of boxes, meshes and cylinders. Rods that cross and hardly sink
            into each other feel single points if these are too far apart: the force varies by 10 % at a depth of 2 % of the
            radius with a quarter of it, by 2 % with an eighth.
        rolling: [m] arm of the resistance against rolling, which is a moment of at most rolling x force, and holds as
            friction does; tan(angle) x radius of the steepest slope on which a ball stays.
        name: name of the load.

    """

    a: Frame | RodHandle | BodyHandle
    b: Frame | RodHandle | BodyHandle
    stiffness: float | None = None
    damping: float = field(default=0.0, kw_only=True)
    friction: ArrayLike = field(default=0.0, kw_only=True)
    radius: float | None = field(default=None, kw_only=True)
    smooth: float | None = field(default=None, kw_only=True)
    slip: float | None = field(default=None, kw_only=True)
    spacing: float | None = field(default=None, kw_only=True)
    rolling: float = field(default=0.0, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    is_passive: ClassVar[bool] = True
    meets: ClassVar[bool] = True

    def _check(self) -> None:
        wanted = "a rod or a body, as returned by robot.add, or a frame such as arm.tip"
        for which in ("a", "b"):
            if not isinstance(getattr(self, which), Frame | RodHandle | BodyHandle):
                raise refuse(f"Contact.{which}", wanted, getattr(self, which))
        self._check_name()
        if self.a.robot is not self.b.robot:
            raise DescriptionError(
                f"{self.label}: the two parts belong to different robots; contact is between parts of one robot."
            )
        self.damping = as_nonnegative(self.damping, "Contact.damping", "s/m")
        self.friction = as_friction(self.friction)
        self.rolling = as_nonnegative(self.rolling, "Contact.rolling", "m")
        if self.a is self.b and isinstance(self.friction, tuple):
            raise DescriptionError(
                f"{self.label}: scales are those of the first of two parts; a rod that touches itself has one coefficient."
            )
        for which, unit in (
            ("stiffness", "N/m^2 along a rod, N/m else"),
            ("radius", "m"),
            ("smooth", "m"),
            ("slip", "m/s"),
            ("spacing", "m"),
        ):
            if getattr(self, which) is not None:
                setattr(self, which, as_positive(getattr(self, which), f"Contact.{which}", unit))
        self.meeting.check()
        if self.stiffness is None:
            self.meeting.stiffness()

    @property
    def meeting(self) -> Meeting:
        """What touches."""
        return Meeting(self.a, self.b, self.radius, self.spacing, self.label)

    @property
    def label(self) -> str:
        """The name of the load, or its type and places."""
        places = [x.name if isinstance(x, Part) else x.label for x in (self.a, self.b)]
        return self.name or (
            f"SelfContact of {places[0]}" if self.a is self.b else f"Contact of {places[0]} and {places[1]}"
        )

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Roots of rods, and frames."""
        return tuple(x.root if isinstance(x, Part) else x for x in (self.a, self.b))

    @property
    def law(self) -> tuple[float, ...]:
        """Numbers of the law, for the kernels: see `Touches`."""
        from anguilla.interact.kernels.contact import GRIP  # kernels are not imported before a robot is compiled

        meeting = self.meeting
        stiffness = meeting.stiffness() if self.stiffness is None else self.stiffness
        smooth = SOFTENING * meeting.thinnest if self.smooth is None else self.smooth
        apart = (
            np.pi * max(meeting.radii(self.a, np.linspace(0.0, self.a.length, 33)))
            if isinstance(self.a, RodHandle)
            else 0.0
        )
        scales, friction = float(isinstance(self.friction, tuple)), np.broadcast_to(np.asarray(self.friction), 3)
        most = float(np.max(friction))
        return (
            stiffness, smooth, self.damping, most, self.slip or 0.0, GRIP, float(apart),
            *(friction / most if most else np.ones(3)), scales, self.rolling,
        )  # fmt: skip

    def enter(self, book: Book) -> Seat:
        """Points of either against the surface of the other."""
        meeting = self.meeting
        return book.touch(meeting.side(self.a), meeting.side(self.b), self.law, meeting.thinnest)


@public
def SelfContact(
    rod: RodHandle, stiffness: float | None = None, *, damping: float = 0.0, friction: float = 0.0,
    radius: float | None = None, smooth: float | None = None, slip: float | None = None, spacing: float | None = None,
    rolling: float = 0.0, name: str | None = None,
) -> PartContact:  # fmt: skip
    """Contact of a rod with itself: coils, knots, plectonemes. Arguments are those of `PartContact`."""
    if not isinstance(rod, RodHandle):
        raise refuse("SelfContact.rod", "a rod, as returned by robot.add", rod)
    options: dict[str, Any] = {"damping": damping, "friction": friction, "radius": radius, "smooth": smooth}
    return PartContact(rod, rod, stiffness, slip=slip, spacing=spacing, rolling=rolling, name=name, **options)


@public
def contacts(
    robot: Robot, stiffness: float | None = None, *, exclude: Any = (), **options: Any
) -> list[PartContact | VolumeContact]:
    """Add contact between all parts of a robot, and of each rod with itself; return these loads.

    Parts that are joined to each other are left out, bodies without a shape that may touch, and pairs of which neither has
    points that could, such as a floor and a wall. Soft volumes touch each
    other, and rods and bodies that they are not welded to, with a stiffness by their material.

    Args:
        robot: the robot.
        stiffness: that of all; by the materials if not given, and then bodies do not touch bodies.
        exclude: pairs of parts or volumes that shall not touch, and rods that shall not touch themselves.
        options: those of `PartContact`.

    """
    if not isinstance(robot, Robot):
        raise refuse("contacts.robot", "a Robot", robot)
    if np.ndim(options.get("friction", 0.0)):
        raise DescriptionError(
            "contacts: scales are those of one part; add Contact(scaly, other, friction=(...)) for each pair."
        )
    if not isinstance(exclude, list | tuple | set | frozenset):
        raise refuse("contacts exclude", EXCLUDED, exclude)
    pairs = [_left_out(given) for given in exclude]
    left = [{part.index for part in pair} for pair in pairs if all(isinstance(part, Part) for part in pair)]
    able = [p for p in robot.parts if isinstance(p, RodHandle) or (isinstance(p, BodyHandle) and _has_surface(p))]
    found: list[tuple[RodHandle | BodyHandle, RodHandle | BodyHandle]] = [
        (a, a) for a in able if isinstance(a, RodHandle)
    ]
    found += [(a, b) for a, b in combinations(able, 2) if not joined(a, b) and (_has_points(a) or _has_points(b))]
    soft = [(a, b) for a, b in found if stiffness is not None or isinstance(a, RodHandle) or isinstance(b, RodHandle)]
    kept = [(a, b) for a, b in soft if {a.index, b.index} not in left]
    made: list[PartContact | VolumeContact] = [robot.load(PartContact(a, b, stiffness, **options)) for a, b in kept]
    own = {name: value for name, value in options.items() if name in ("damping", "friction")}
    for volume, part in product(robot.volumes, able):
        welded = any(patch.frame.part_index == part.index for patch in volume.patches)
        if not welded and not any(volume in pair and part in pair for pair in pairs):
            made.append(robot.load(VolumeContact(volume, part, **own)))
    for one, two in combinations(robot.volumes, 2):
        if not any(one in pair and two in pair for pair in pairs):
            coarse, fine = sorted((one, two), key=lambda volume: len(volume.volume.places))
            made.append(robot.load(VolumeContact(fine, coarse, **own)))
    return made


def _left_out(given: Any) -> tuple[Any, ...]:
    """A pair of parts or volumes that shall not touch, or a rod that shall not touch itself."""
    if isinstance(given, RodHandle):
        return (given,)
    pair = tuple(given) if isinstance(given, tuple | list) else ()
    if len(pair) != 2 or not all(isinstance(x, Part | VolumeHandle) for x in pair):
        raise refuse("contacts exclude", EXCLUDED, given)
    return pair


def as_friction(value: object) -> float | tuple[float, ...]:
    """Return one coefficient, or three."""
    wanted = "a coefficient, zero or positive, or three (forward, backward, sideways)"
    given = as_array(value, "Contact.friction", wanted)
    if given.shape not in ((), (3,)) or np.any(given < 0.0):
        raise refuse("Contact.friction", wanted, value)
    return float(given) if given.ndim == 0 else tuple(given.tolist())


def _has_surface(body: BodyHandle) -> bool:
    return body.body.shape is not None


def _has_points(part: RodHandle | BodyHandle) -> bool:
    """Whether it may touch others with its own points: floors, walls and hollows cannot."""
    return isinstance(part, RodHandle) or (part.body.solid is not None and len(part.body.solid.corners()) > 0)
