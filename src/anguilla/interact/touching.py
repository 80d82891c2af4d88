"""Two parts that may touch each other: the points and surfaces that do, and the law between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from anguilla.describe.bodies import Shape
from anguilla.describe.frames import BodyHandle, Frame, Part, RodHandle
from anguilla.describe.load import Array, Side
from anguilla.describe.obstacles import Capsule, Obstacle, Sphere
from anguilla.describe.ports import acting
from anguilla.describe.solids import Cylinder
from anguilla.errors import DescriptionError

SOFTENING = 0.01  # of the smaller radius: depth over which the stiffness rises, if not given
SPACING = 0.2  # of the smaller radius: distance of the points along a rod that touch, if not given
MOST = 1000  # points along a rod
POINT_SIZE = 1e-3  # [m] of what nothing tells the size of
FLAT = 0.25 * np.pi  # stiffness per length of a rod on something flat, over its modulus (Hertz, line contact)


@dataclass(frozen=True)
class Meeting:
    """A rod, a body or a frame that may touch another one, or a rod that may touch itself.

    Attributes:
        a, b: the two.
        radius: [m] of rods and of balls around frames, if given.
        spacing: [m] of the points along rods, if given.

    """

    a: Frame | Part
    b: Frame | Part
    radius: float | None
    spacing: float | None
    label: str

    def check(self) -> None:
        """Refuse what cannot touch."""
        for x in (self.a, self.b):
            if isinstance(x, Frame) and x.is_ground:
                raise DescriptionError(
                    f"{self.label}: the ground has no surface; give an obstacle such as HalfSpace()."
                )
            if isinstance(x, BodyHandle) and x.body.shape is None:
                raise DescriptionError(
                    f"{self.label}: a body touches if it has a shape, but {x.name!r} has none: give it one, as "
                    "RigidBody.sphere(...) and RigidBody(..., shape=Mesh(...)) do, or name a frame of it and a radius."
                )
        if isinstance(self.a, Frame) and isinstance(self.b, Frame) and self.radius is None:
            raise DescriptionError(f"{self.label}: two frames touch as balls; give their radius.")
        if self.a is self.b and not isinstance(self.a, RodHandle):
            raise DescriptionError(f"{self.label}: only a rod may touch itself.")
        if self.a is not self.b and joined(self.a, self.b):
            raise DescriptionError(
                f"{self.label}: the two parts are joined and overlap at the joint; "
                "contact is for parts that are not joined to each other."
            )
        self._check_room(self.a, self.b)
        self._check_room(self.b, self.a)

    def _check_room(self, hollow: Frame | Part, other: Frame | Part) -> None:
        """Refuse what does not fit into a hollow, or is too thick for a grid of distances; and two without points."""
        solid = hollow.body.solid if isinstance(hollow, BodyHandle) else None
        if solid is None:
            return
        mine = other.body.solid if isinstance(other, BodyHandle) else None
        if mine is not None and not len(mine.corners()) and not len(solid.corners()):
            raise DescriptionError(f"{self.label}: {solid} and {mine} have no points that could touch each other.")
        if isinstance(other, RodHandle):
            widest = float(np.max(self.radii(other, np.linspace(0.0, other.length, 33))))
        else:
            widest = mine.ball if mine is not None else float(self.radius or 0.0)
        if solid.inside and widest >= solid.room:
            raise DescriptionError(
                f"{self.label}: a radius of {widest:g} m does not fit inside one of {solid.room:.6g} m."
            )
        if widest > solid.reach:
            raise DescriptionError(f"{self.label}: a radius of {widest:g} m is too large for {solid}: {solid.advice}.")

    def thickness(self, x: Frame | Part) -> float:
        """Radius [m] that things are measured by: of a rod at its thinnest, of a ball, half the least width of a body."""
        if isinstance(x, RodHandle):
            return float(np.min(self.radii(x, np.linspace(0.0, x.length, 33))))
        if isinstance(x, BodyHandle):
            if isinstance(x.body.shape, Shape):
                return 0.5 * min(x.body.shape.size) if x.body.shape.kind == "box" else float(min(x.body.shape.size))
            radius = x.body.solid.solid_radius if x.body.solid is not None else 0.0
            return radius if np.isfinite(radius) else 0.0
        return float(self.radius or 0.0)

    @property
    def thinnest(self) -> float:
        """The smaller of the two [m], of what has any."""
        sizes = (self.thickness(self.a), self.thickness(self.b))
        return min((size for size in sizes if size > 0.0), default=POINT_SIZE)

    def _apart(self, x: Frame | Part, other: Frame | Part) -> float:
        """How far points on the faces of a body are apart [m], so that none of the other passes between them."""
        sizes = [size for size in (self.thickness(x), self.thickness(other)) if size > 0.0]
        round_without_balls = (
            isinstance(other, BodyHandle) and other.body.solid is not None and not other.body.solid.has_ends
        )
        return self.spacing or min(sizes, default=POINT_SIZE) * (0.5 if round_without_balls else 1.0)

    def radii(self, rod: RodHandle, X: Array) -> Array:
        """Radii (m,) [m] of a rod at X (m,) [m]: the given one, or half of the largest width of its section."""
        return (
            np.full(len(X), self.radius) if self.radius is not None else np.asarray(0.5 * rod.rod.section.thickness(X))
        )

    def side(self, x: Frame | Part) -> Side:
        """Points and surface of one of the two."""
        if isinstance(x, RodHandle):
            spacing = max(self.spacing or SPACING * self.thinnest, x.length / MOST)
            return Side(x, radii=partial(self.radii, x), spacing=spacing, ring=is_ring(x, self.thinnest))
        if isinstance(x, BodyHandle):
            assert x.body.solid is not None
            other = self.b if x is self.a else self.a
            solid = other.body.solid if isinstance(other, BodyHandle) else None
            return _side(x, x.body.solid, self.spacing, solid, self._apart(x, other))
        assert isinstance(x, Frame)
        if not self.radius:
            return Side(x, points=np.zeros((1, 3)))
        ball = Sphere((0.0, 0.0, 0.0), self.radius)
        return Side(x, points=ball.corners(), radius=ball.ball, shape=ball.constants(), size=ball.radius)

    def stiffness(self) -> float:
        """By theory of elasticity: [N/m^2] along a rod.

        Two rods that cross at right angles, or a rod and a ball, push each other as Hertz says; a rod on something flat about
        as in line contact.
        """
        rods = [x for x in (self.a, self.b) if isinstance(x, RodHandle)]
        if not rods:
            raise DescriptionError(f"{self.label}: between rigid bodies, give a stiffness [N/m].")
        modulus = 1.0 / sum(1.0 / _modulus(x) for x in (rods * 2 if self.a is self.b else rods))
        other = self.b if self.a is rods[0] else self.a
        r, R = self.thickness(rods[0]), self.thickness(other)
        if isinstance(other, Frame) and R == 0.0:
            raise DescriptionError(
                f"{self.label}: a frame without a radius touches a rod as a point: give a stiffness [N/m], or a radius, with "
                "which it is a ball."
            )
        if isinstance(other, RodHandle):
            return float(modulus * np.sqrt(np.sqrt(r * R) / (2.0 * (r + R))))
        if isinstance(other, BodyHandle) and not (isinstance(other.body.solid, Sphere) and not other.body.solid.inside):
            return FLAT * modulus
        across = R * r / (R + r)  # the ball is round along the rod, and both are across it
        return float(modulus * (R * across) ** 0.25 / np.sqrt(2.0 * (R + r)))


def is_ring(rod: RodHandle, near: float) -> bool:
    """Whether a closure holds the tip of a rod at its root at t = 0, with inputs that are zero, up to a distance [m]."""
    for closure in rod.robot.closures.values():
        a, b = closure.a, closure.b
        if rod.tip not in (a.bare, b.bare) or not {rod.root, rod.parent} & {a.bare, b.bare}:
            continue
        with acting(rod.robot.name, {}):
            place = a.offset_pose @ closure.poses(0.0)[0] @ np.linalg.inv(b.offset_pose)  # of b in a, without offsets
        if a.bare == rod.tip:
            place = np.linalg.inv(place)
        root = np.zeros(3) if rod.root in (a.bare, b.bare) else rod.pose[:3, 3]
        if np.linalg.norm(place[:3, 3] - root) < near:
            return True
    return False


def joined(a: Frame | Part, b: Frame | Part) -> bool:
    """Whether one of two things is attached to the other."""
    x, y = (part.index if isinstance(part, Part) else part.part_index for part in (a, b))
    parts = (a if isinstance(a, Part) else a.part).robot.parts
    return x == y or parts[x].parent.part_index == y or parts[y].parent.part_index == x


def _modulus(rod: RodHandle) -> float:
    """E / (1 - nu^2) [Pa]."""
    material = rod.rod.material
    poisson = min(0.5 * material.young / material.shear_modulus - 1.0, 0.5)
    return float(material.young / (1.0 - poisson**2))


def _side(body: BodyHandle, solid: Obstacle, spacing: float | None, other: Obstacle | None, apart: float) -> Side:
    """A body with balls and points that touch the other, if that has a surface, and a surface, all in its axes."""
    if isinstance(solid, Capsule) and isinstance(other, Capsule) and not (solid.inside or other.inside):
        ends = np.array([solid.a, solid.b])
        size = float(np.max(np.linalg.norm(ends, axis=1))) + solid.radius
        middle, glide, shape = np.mean(ends, axis=0)[None], 0.5 * (ends[1] - ends[0]), solid.constants()
        return Side(body.frame, points=middle, radius=solid.radius, glide=glide, shape=shape, size=size)
    faces = other is not None and other.meets_faces
    points, radii = solid.balls(apart if faces and solid.ball == 0.0 and not isinstance(solid, Cylinder) else spacing)
    fits = radii <= (np.inf if other is None else other.reach)
    points, radii, shares = points[fits], radii[fits], np.ones(np.count_nonzero(fits))
    if other is not None and faces:
        more, their = solid.on_faces(apart, other.edge)
        points, radii = np.concatenate([points, more]), np.concatenate([radii, np.zeros(len(more))])
        shares = np.concatenate([shares, their])
    far = np.inf
    if solid.has_ends:
        ends = np.concatenate([solid.corners(spacing), solid.surface(np.zeros(3), 1.0)[0]])
        far = float(np.max(np.linalg.norm(ends, axis=1))) + solid.ball
    shape = solid.constants()
    return Side(body.frame, points=points, radius=radii, shares=shares, shape=shape, size=far, grid=solid.grid)
