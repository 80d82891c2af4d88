"""Two parts that may touch each other: the points and surfaces that do, and the law between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from anguilla.describe.frames import BodyHandle, Frame, Part, RodHandle
from anguilla.describe.load import Array, Side
from anguilla.describe.obstacles import Obstacle, Sphere
from anguilla.describe.solids import Box, Cylinder
from anguilla.errors import DescriptionError

SOFTENING = 0.01  # of the smaller radius: depth over which the stiffness rises, if not given
SPACING = 0.2  # of the smaller radius: distance of the points along a rod that touch, if not given
RIM = 12  # points of the rim of a cylinder
MOST = 1000  # points along a rod
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
            if isinstance(x, BodyHandle):
                kind = None if x.body.shape is None else x.body.shape.kind
                if kind not in SURFACES:
                    given = "has no shape" if kind is None else f"has the shape of a {kind}"
                    raise DescriptionError(
                        f"{self.label}: a body touches if it has the shape of a {' or a '.join(SURFACES)}, but {x.name!r} "
                        f"{given}: give it one, as RigidBody.sphere(...) does, or name a frame of it and a radius."
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

    def thickness(self, x: Frame | Part) -> float:
        """Radius [m] that things are measured by: of a rod at its thinnest, of a ball, half the least width of a body."""
        if isinstance(x, RodHandle):
            return float(np.min(self.radii(x, np.linspace(0.0, x.length, 33))))
        if isinstance(x, BodyHandle):
            assert x.body.shape is not None
            return 0.5 * min(x.body.shape.size) if x.body.shape.kind == "box" else float(min(x.body.shape.size))
        return float(self.radius or 0.0)

    @property
    def thinnest(self) -> float:
        """The smaller of the two [m], of what has any."""
        return min(size for size in (self.thickness(self.a), self.thickness(self.b)) if size > 0.0)

    def radii(self, rod: RodHandle, X: Array) -> Array:
        """Radii (m,) [m] of a rod at X (m,) [m]: the given one, or half of the largest width of its section."""
        return (
            np.full(len(X), self.radius) if self.radius is not None else np.asarray(0.5 * rod.rod.section.thickness(X))
        )

    def side(self, x: Frame | Part) -> Side:
        """Points and surface of one of the two."""
        if isinstance(x, RodHandle):
            spacing = max(self.spacing or SPACING * self.thinnest, x.length / MOST)
            return Side(x, radii=partial(self.radii, x), spacing=spacing)
        if isinstance(x, BodyHandle):
            assert x.body.shape is not None
            return SURFACES[x.body.shape.kind](x)
        assert isinstance(x, Frame)
        return Side(x, points=np.zeros((1, 3)), radius=float(self.radius or 0.0))

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
        if isinstance(other, RodHandle):
            return float(modulus * np.sqrt(np.sqrt(r * R) / (2.0 * (r + R))))
        if isinstance(other, BodyHandle) and other.body.shape is not None and other.body.shape.kind != "sphere":
            return FLAT * modulus
        across = R * r / (R + r)  # the ball is round along the rod, and both are across it
        return float(modulus * (R * across) ** 0.25 / np.sqrt(2.0 * (R + r)))


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


def _side(body: BodyHandle, surface: Obstacle, points: Array, radius: float) -> Side:
    """A body with points that touch and a surface, both in its axes."""
    far = float(np.max(np.linalg.norm(points, axis=1))) + radius
    return Side(body.frame, points=points, radius=radius, shape=surface.constants(), size=far)


def _ball(body: BodyHandle) -> Side:
    """A sphere: one point with its radius."""
    com, (radius,) = np.asarray(body.body.com), body.body.shape.size  # type: ignore[union-attr]
    return _side(body, Sphere(com, radius), com[None], radius)


def _box(body: BodyHandle) -> Side:
    """A box, which touches others with its corners."""
    com, size = np.asarray(body.body.com), np.asarray(body.body.shape.size)  # type: ignore[union-attr]
    corners = np.stack(np.meshgrid(*[[-0.5, 0.5]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    return _side(body, Box(com, size), com + corners * size, 0.0)


def _cylinder(body: BodyHandle) -> Side:
    """A cylinder along x, which touches others with points of its rims."""
    com, (radius, length) = np.asarray(body.body.com), body.body.shape.size  # type: ignore[union-attr]
    angle = 2.0 * np.pi * np.arange(RIM) / RIM
    ring = np.stack([0.0 * angle, radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    end = np.array([0.5 * length, 0.0, 0.0])
    rims = np.concatenate([ring - end, ring + end])
    return _side(body, Cylinder(com, (1.0, 0.0, 0.0), radius, length), com + rims, 0.0)


SURFACES = {"sphere": _ball, "box": _box, "cylinder": _cylinder}
