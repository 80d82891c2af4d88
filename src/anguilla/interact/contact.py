"""Contact of rods, bodies and frames with obstacles fixed in space."""

from __future__ import annotations

from dataclasses import dataclass, field
from inspect import signature
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.bodies import Shape
from anguilla.describe.frames import BodyHandle, Frame, Part, RodHandle
from anguilla.describe.gridded import HeightField
from anguilla.describe.load import Array, Book, FrameMotion, Load, Seat
from anguilla.describe.obstacles import HalfSpace, Obstacle
from anguilla.describe.solids import Cylinder
from anguilla.describe.volumes import SoftPart, VolumeHandle
from anguilla.errors import DescriptionError, as_nonnegative, as_positive, refuse
from anguilla.interact.part_contact import PartContact, as_friction
from anguilla.interact.volume_contact import VolumeContact

__all__ = ["Contact"]

SOFTENING = 0.01  # of the radius: depth over which the stiffness rises, if not given
SCALES_SLIP = 1e-3  # [m/s] of a skin with scales, if not given
POINT_SIZE = 1e-3  # [m] of a body of which nothing tells its size


@dataclass(eq=False)
class Contact(Load):
    """Contact of a rod, a body or one of their frames with an obstacle fixed in space, with friction.

    With another part of the robot in the place of the obstacle, Contact(a, b) is a `PartContact`; with a soft volume, which
    touches obstacles, bodies and rods at the nodes of its surface, Contact(volume, other, stiffness=None, damping, friction,
    smooth, surface, spacing) has a default stiffness [Pa/m], of its material.

    The obstacle pushes back with k g(depth) along its normal, never pulls, and rubs. g is the depth less half of `smooth`,
    and starts smoothly from zero. There is no default stiffness, because it decides how deep things sink and how small the
    time steps must be: a weight w sinks by w / stiffness. The side of a soft rod has about its Young's modulus.

    A rod touches at its nodes only, each with its share of the length, and as a circle around its centreline: what lies
    between two nodes is not seen. Rod(..., intervals=...) says how finely contact is seen; an obstacle smaller than an
    interval may slip between them. A rod that leaves it open gets 24 intervals, or up to 96 for thin obstacles. An end of a
    rod is a point of it, and sinks deep under a force: to press with it, add a contact of the frame arm.tip.

    What touches with friction holds, up to Coulomb's limit, by bristles that bend a little, by friction x force / (2/3
    stiffness) at most: it does not creep. Bristles are remembered from step to step, and `gradient` and
    `sensitivities` go through them. With a `slip`, and with scales, friction is regularised: it needs sliding, and what
    should stick creeps at less than that speed.

    Attributes:
        where: a rod, which touches all along; a body whose shape is a sphere, a capsule, a cylinder that is not shorter than
            wide, a box or a mesh, which touches with its surface or its corners; or a frame, which touches as a ball of the
            given radius around its origin.
        obstacle: a HalfSpace, Sphere, Pillar, Capsule, Box, Cylinder, Mesh or HeightField.
        stiffness: [N/m] of a frame and of each corner of a body; per length [N/m^2] along a rod.
        damping: loss while sinking [s/m]: the force is multiplied by 1 + damping x speed of sinking, and less than one while
            leaving. What hits at a low speed v leaves with about (1 - 2/3 damping v) v.
        friction: Coulomb's coefficient [-]; or three of a skin with scales, for sliding forward (along +x of the frame or
            section), backward, and sideways.
        radius: [m] of the circle or ball that touches. For a rod, if not given, half of the largest width of its section
            (the radius of a circle or a tube); for a frame 0, its origin.
        smooth: depth over which the stiffness rises from zero [m]; 1 % of the radius if not given.
        slip: speed [m/s] below which friction fades, if it shall not hold; at it, 71 % is left. 1 mm/s for scales.
        name: name of the load.

    """

    where: Frame | RodHandle | BodyHandle
    obstacle: Obstacle
    stiffness: float
    damping: float = field(default=0.0, kw_only=True)
    friction: ArrayLike = field(default=0.0, kw_only=True)
    radius: float | None = field(default=None, kw_only=True)
    smooth: float | None = field(default=None, kw_only=True)
    slip: float | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    touches: ClassVar[bool] = True
    is_passive: ClassVar[bool] = True
    has_arrows: ClassVar[bool] = True

    def __new__(cls, where: Any = None, obstacle: Any = None, *args: Any, **options: Any) -> Any:
        """Between two parts of the robot it is a `PartContact`, of a soft volume a `VolumeContact`."""
        if cls is Contact and any(isinstance(x, VolumeHandle | SoftPart) for x in (where, obstacle)):
            wrong = next((name for name in ("slip", "radius", "rolling") if options.get(name) is not None), None)
            if wrong is not None:
                raise DescriptionError(
                    f"Contact of a soft volume takes no {wrong}: it touches as it is, and friction holds."
                )
            return VolumeContact(where, obstacle, *args, **options)
        if cls is Contact and isinstance(obstacle, Frame | Part):
            return PartContact(where, cast(Any, obstacle), *args, **options)
        if cls is Contact and options.get("rolling"):
            raise DescriptionError(
                "Contact: rolling is for contact between parts; make the obstacle one, plane = robot.add(HalfSpace(), "
                "at=robot.ground), and give Contact(ball, plane, rolling=...)."
            )
        return super().__new__(cls)

    def _check(self) -> None:
        wanted = "a rod or a body, as returned by robot.add, or a frame such as arm.tip"
        if not isinstance(self.where, Frame | RodHandle | BodyHandle):
            raise refuse("Contact.where", wanted, self.where)
        self._check_name()
        if isinstance(self.where, Frame) and self.where.is_ground:
            raise DescriptionError(f"Contact.where must be {wanted}; the ground does not move.")
        if not isinstance(self.obstacle, Obstacle):
            raise refuse(
                "Contact.obstacle", "an obstacle such as a HalfSpace, a Sphere, a Box or a Mesh", self.obstacle
            )
        self.stiffness = as_positive(self.stiffness, "Contact.stiffness", "N/m, or N/m^2 along a rod")
        self.damping = as_nonnegative(self.damping, "Contact.damping", "s/m")
        self.friction = as_friction(self.friction)
        if self.slip is not None:
            self.slip = as_positive(self.slip, "Contact.slip", "m/s")
        if self.radius is not None:
            self.radius = as_nonnegative(self.radius, "Contact.radius", "m")
        if self.smooth is not None:
            self.smooth = as_positive(self.smooth, "Contact.smooth", "m")
        if isinstance(self.where, BodyHandle):
            self._check_body(self.where)
        self._check_room()

    def _check_body(self, body: BodyHandle) -> None:
        solid = body.body.solid
        flat = isinstance(solid, Cylinder) and not solid.balls()[1].any()
        if solid is None or flat or not solid.has_ends:
            kind = "no shape" if solid is None else f"the shape of a {type(solid).__name__.lower()}"
            kind += " shorter than wide" if flat else ""
            raise DescriptionError(
                f"{self.label}: a body touches if its shape is a sphere, a box, a capsule, a cylinder as long as wide or a "
                f"mesh, but {body.name!r} has {kind}: name frames instead, such as Contact({body.name}.at((0.1, 0, 0)), ..., "
                "radius=0.02)."
            )
        if self.radius is not None:
            raise DescriptionError(f"{self.label}: the radius is for rods and frames; body {body.name!r} has a shape.")
        kind = type(self.obstacle).__name__
        solid_one = not self.obstacle.inside and not isinstance(self.obstacle, HalfSpace | HeightField)
        if solid.ball == 0.0 and solid_one:
            raise DescriptionError(
                f"{self.label}: {body.name!r} would touch a {kind} that is fixed in space with its corners alone, and could "
                f"fall through. Make that a part of the robot: it = robot.add({kind}(...), at=robot.ground), and give "
                f"Contact({body.name}, it, ...)."
            )

    def _check_room(self) -> None:
        along = np.linspace(0.0, self.where.length, 9) if isinstance(self.where, RodHandle) else np.zeros(1)
        widest, obstacle = float(np.max(self.radii(along))), self.obstacle
        if obstacle.inside and widest >= obstacle.room:
            raise DescriptionError(
                f"{self.label}: a radius of {widest:g} m does not fit inside one of {obstacle.room:.6g} m."
            )
        if widest > obstacle.reach:
            raise DescriptionError(
                f"{self.label}: a radius of {widest:g} m is too large for {obstacle}: {obstacle.advice}."
            )

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        place = self.where.name if isinstance(self.where, Part) else self.where.label
        return self.name or f"Contact on {place}"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The root of a rod, or what touches."""
        return (self.where.root,) if isinstance(self.where, RodHandle) else tuple(self.points())

    @property
    def finest(self) -> tuple[RodHandle, float] | None:
        """The rod and its longest interval [m] of which several nodes touch the obstacle at once."""
        if not isinstance(self.where, RodHandle):
            return None
        room = self.obstacle.solid_radius
        return self.where, 0.5 * (room + float(self.radii(np.zeros(1))[0])) if np.isfinite(room) else np.inf

    def points(self) -> list[Frame]:
        """Frames that touch: the frame itself, or those of a body; none for a rod."""
        if isinstance(self.where, Frame):
            return [self.where]
        if isinstance(self.where, RodHandle):
            return []
        assert self.where.body.solid is not None
        return [self.where.at(middle) for middle in self._balls()[0]]

    def _balls(self) -> tuple[Array, Array, Array]:
        """Middles (m, 3) [m] and radii (m,) [m] of what touches of a body, and shares (m,) of the stiffness."""
        assert isinstance(self.where, BodyHandle) and self.where.body.solid is not None
        points, radii = self.where.body.solid.balls()
        more, shares = np.zeros((0, 3)), np.zeros(0)
        if isinstance(self.obstacle, HeightField):  # which may be higher between the corners
            more, shares = self.where.body.solid.on_faces(0.5 * self.where.body.solid.solid_radius, 0.0)
        none = np.zeros(len(more))
        return (
            np.concatenate([points, more]),
            np.concatenate([radii, none]),
            np.concatenate([np.ones(len(points)), shares]),
        )

    def radii(self, X: Array) -> Array:
        """Radii (m,) [m] of what touches, at arc lengths X (m,) [m] of a rod, or at all points of a body."""
        if self.radius is not None:
            return np.full(len(X), self.radius)
        if isinstance(self.where, RodHandle):
            return 0.5 * self.where.rod.section.thickness(X)
        radii = self._balls()[1] if isinstance(self.where, BodyHandle) else np.zeros(1)
        return radii if len(radii) == len(X) else np.full(len(X), np.max(radii))

    def constants(self, X: Array, weights: Array) -> Array:
        """Numbers (m, 27) of what touches at arc lengths X (m,) [m], with shares of the length (m,), for the kernels."""
        radii = self.radii(X)
        size = np.where(radii > 0.0, radii, self._size(X))
        smooth = SOFTENING * size if self.smooth is None else np.full(len(X), self.smooth)
        forward, backward, sideways = np.broadcast_to(np.asarray(self.friction), 3)
        rubbing = np.tile([self.damping, sideways, self._slip, forward, backward], (len(X), 1))
        if isinstance(self.where, BodyHandle):
            weights = weights * self._balls()[2]
        pressing = np.stack([radii, self.stiffness * weights, smooth], axis=1)
        return np.hstack([np.tile(self.obstacle.constants(), (len(X), 1)), pressing, rubbing])

    @property
    def _slip(self) -> float:
        """Speed [m/s], or 0 for friction that holds."""
        return self.slip if self.slip is not None else SCALES_SLIP if isinstance(self.friction, tuple) else 0.0

    def enter(self, book: Book) -> Seat:
        """A frame load on what touches."""
        seat = book.seat(self.where if isinstance(self.where, RodHandle) else self.points())
        constants = self.constants(seat.X, seat.weights)
        if self.obstacle.grid is not None:
            from anguilla.interact.kernels.distance import SIZE  # kernels are not imported before a robot is compiled

            constants[:, SIZE] = book.grid(self.obstacle.grid)
        book.on_frames("contact", seat.nodes, constants)
        return seat

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """The one it touches."""
        return (self.obstacle,)

    def depths(self, seat: Seat, place: Array) -> Array:
        """How deep (nt, k) [m] the places (nt, k, 3) [m] of its seat are in the obstacle; negative ones are distances."""
        return self.radii(seat.X) - self.obstacle.distance(place)

    def energy(self, seat: Seat, motion: FrameMotion) -> Array:
        """The integral (nt,) [J] of k g over the depth."""
        from anguilla.interact.kernels.contact import SMOOTH, STIFFNESS

        stiffness, smooth = self.constants(seat.X, seat.weights)[:, [STIFFNESS, SMOOTH]].T
        deep = np.maximum(self.depths(seat, motion.position), 0.0)
        x = np.minimum(deep / smooth, 1.0)
        beyond = np.maximum(deep - smooth, 0.0)
        rise = smooth**2 * x**4 * (0.25 - 0.1 * x) + 0.5 * beyond * (smooth + beyond)
        return np.asarray(rise @ stiffness)

    def passes(self, seat: Seat, place: Array) -> bool:
        """Whether a place could have gone through the obstacle between two states, place (2, k, 3) [m]."""
        return self.obstacle.may_pass(place[0], place[1], self.radii(seat.X))

    def _size(self, X: Array) -> Array:
        """Sizes (m,) [m] of what a point without a radius belongs to."""
        part = self.where if isinstance(self.where, Part) else self.where.part
        if isinstance(part, RodHandle):
            places = np.full(len(X), self.where.X) if isinstance(self.where, Frame) else X
            return 0.5 * part.rod.section.thickness(places)
        if isinstance(part, BodyHandle):
            if isinstance(part.body.shape, Shape):
                return np.full(len(X), 0.5 * min(part.body.shape.size))
            if part.body.solid is not None and np.isfinite(part.body.solid.solid_radius):
                return np.full(len(X), part.body.solid.solid_radius)
            gyration = float(np.sqrt(np.trace(part.body.inertia_matrix) / (2.0 * part.body.mass)))
            return np.full(len(X), gyration or POINT_SIZE)
        return np.full(len(X), POINT_SIZE)


# robot files read the fields from the signature
_given = signature(Contact.__init__)
setattr(Contact, "__signature__", _given.replace(parameters=list(_given.parameters.values())[1:]))  # noqa: B010
