"""Water around rods and bodies: Morison, Lighthill, resistive-force theory, buoyancy, and the hulls of hull.py.

Every one of them is a set of coefficients per length (or, for a hull, on one frame) of the same wrench, which
`kernels/fluid.py` writes down. Columns of a table of coefficients: drag (3), drag on turning (3), friction (3), friction on
turning (3), added mass (3), added inertia (3), mass of displaced fluid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.description import as_points
from anguilla.describe.frames import BodyHandle, Frame, RodHandle
from anguilla.describe.load import ZERO, Array, Book, FrameMotion, Load, Seat
from anguilla.describe.plausible import check_fluid
from anguilla.describe.section import CrossSection
from anguilla.errors import (
    DescriptionError,
    as_flag,
    as_nonnegative,
    as_number,
    as_positive,
    as_vector,
    refuse,
)

__all__ = ["Buoyancy", "Fluid", "Lighthill", "Morison", "ResistiveForce"]

COLUMNS = 19
DRAG, DRAG_TURN, VISCOUS, VISCOUS_TURN, ADDED, ADDED_TURN = (slice(k, k + 3) for k in range(0, 18, 3))
DISPLACED = 18
BODY_POINTS = 8  # along a rigid body


@dataclass(eq=False)
class Fluid(Load):
    """Base class of fluids along a part: a rod, or a rigid body with a span and a section.

    A rigid body lies in the water from X = span[0] to span[1] of the x axis of its frame, with the given section.
    """

    part: RodHandle | BodyHandle
    density: float = 1000.0
    current: ArrayLike = ZERO
    section: CrossSection | None = field(default=None, kw_only=True)
    span: tuple[float, float] | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    account: ClassVar[str] = "water"
    in_files: ClassVar[bool] = False

    def _check(self) -> None:
        kind = type(self).__name__
        if not isinstance(self.part, RodHandle | BodyHandle):
            raise refuse(f"{kind}.part", "a rod or a rigid body, as returned by robot.add", self.part)
        self._check_name()
        self.density = as_nonnegative(self.density, f"{kind}.density", "kg/m^3")
        check_fluid(f"{kind}.density", self.density)
        self.current = tuple(as_vector(self.current, 3, f"{kind}.current", "m/s").tolist())
        if isinstance(self.part, RodHandle):
            if self.section is not None or self.span is not None:
                raise DescriptionError(f"{self.label}: section and span are for rigid bodies; a rod has its own.")
            return
        if not isinstance(self.section, CrossSection) or self.span is None:
            raise DescriptionError(
                f"{self.label}: a rigid body needs a section and a span, for example section=Ellipse(0.02, 0.05), "
                "span=(0.0, 0.3); or use Hull, with coefficients for the whole body."
            )
        low, high = as_vector(self.span, 2, f"{kind}.span", "m").tolist()
        if not low < high:
            raise refuse(f"{kind}.span", "two increasing numbers [m]", self.span)
        self.span = (low, high)

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        part = self.part if isinstance(self.part, Frame) else getattr(self.part, "name", "?")
        return self.name or f"{type(self).__name__} on {part}"

    def repeats(self, other: Load) -> bool:
        """Whether another one of its kind is along the same rod; a body may have several, with unlike sections."""
        return type(other) is type(self) and isinstance(self.part, RodHandle) and other.part is self.part

    @property
    def kirchhoff(self) -> bool:
        """Whether the added mass is that of a potential flow, which turns with the body."""
        return False

    @property
    def has_tail(self) -> bool:
        """Whether the flow leaves the part at its end with a wrench."""
        return False

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Those of a rigid body, or the root of a rod."""
        return tuple(frame for frame, _ in self.points()) or (self.part.root,)

    def points(self) -> list[tuple[Frame, Array]]:
        """Frames of a rigid body with the integrals (19,) of the coefficients around them; none for a rod."""
        if isinstance(self.part, RodHandle):
            return []
        assert self.span is not None
        x, w = np.polynomial.legendre.leggauss(BODY_POINTS)
        angle = 0.5 * np.pi * (1.0 + x)  # towards the ends the outline may be round
        low, high = self.span
        X = low + 0.5 * (high - low) * (1.0 - np.cos(angle))
        weight = 0.25 * np.pi * (high - low) * np.sin(angle) * w
        return [
            (self.part.at((float(p), 0.0, 0.0)), row)
            for p, row in zip(X, weight[:, None] * self.coefficients(X), strict=True)
        ]

    def _wet_section(self) -> CrossSection:
        section = self.part.rod.section if isinstance(self.part, RodHandle) else self.section
        assert section is not None
        return section

    def _semi_axes(self, X: ArrayLike) -> tuple[Array, Array]:
        b, c = self._wet_section().semi_axes(X).T
        return b, c

    def coefficients(self, X: ArrayLike) -> Array:
        """Coefficients per length (m, 19) at the arc lengths X (m,) [m]."""
        raise NotImplementedError

    def enter(self, book: Book) -> Seat:
        """A frame load on every node in the water; the stream along a fish; the wake of its tail."""
        if not isinstance(self.part, RodHandle):
            points = self.points()
            seat = book.seat([frame for frame, _ in points])
            book.on_frames("fluid", seat.nodes, self._water(np.array([integrals for _, integrals in points])))
            return seat
        seat, table = book.integrals(self.part, self.coefficients)
        wet = np.flatnonzero(np.any(table != 0.0, axis=1))
        constants = self._water(table[wet])
        book.on_frames("fluid", seat.nodes[wet], constants)
        if self.kirchhoff:
            book.streams(self.part, wet, constants)
        if self.has_tail:
            tail = self._water(self.coefficients([self.part.length]))
            book.on_frames("tail", seat.nodes[-1:], tail, spread=False)
        return Seat(seat.nodes[wet], seat.X[wet], seat.weights[wet])

    def _water(self, integrals: Array) -> Array:
        return water(integrals, np.array([self.kirchhoff, False]), self.current)

    @property
    def density_on(self) -> RodHandle | None:
        """The rod, if it is one."""
        return self.part if isinstance(self.part, RodHandle) else None

    def wrench_density(self, X: Array, times: Array, motion: FrameMotion, gravity: Array) -> Array:
        """Wrench per length (nt, m, 6), world axes, at X (m,) [m]; of the motion (nt, m) and gravity (nt, 3)."""
        c = self.coefficients(X)
        w, v = motion.own(motion.spin), motion.own(motion.velocity - np.asarray(self.current))
        al, a = motion.own(motion.spin_rate), motion.own(motion.acceleration)
        speed = np.linalg.norm(v[..., 1:], axis=-1, keepdims=True)
        speed = np.concatenate([np.abs(v[..., :1]), speed, speed], axis=-1)
        m, j = c[:, ADDED], c[:, ADDED_TURN]
        force = -(c[:, DRAG] * speed + c[:, VISCOUS]) * v - m * a
        moment = -(c[:, DRAG_TURN] * np.abs(w) + c[:, VISCOUS_TURN]) * w - j * al
        if self.kirchhoff:
            force -= np.cross(w, m * v) - m * np.cross(w, v)
            moment -= np.cross(w, j * w) + np.cross(v, m * v)
        lift = c[None, :, DISPLACED, None] * gravity[:, None, :]
        return np.concatenate([motion.turned(moment), motion.turned(force) - lift], axis=-1)


def water(integrals: Array, flags: Array, current: ArrayLike) -> Array:
    """Constants (k, 24) of nodes in a fluid: integrals (k, 19), flags (2,) for the kernel, current (3,) [m/s]."""
    rest = np.concatenate([flags.astype(np.float64), np.asarray(current, dtype=np.float64)])
    each = np.tile(rest, (len(integrals), 1))
    return np.hstack([integrals[:, :DISPLACED], each[:, :2], integrals[:, DISPLACED:], each[:, 2:]])


def _ellipse_added(density: float, b: Array, c: Array) -> tuple[Array, Array, Array]:
    """Added mass along t2 and t3 and added inertia about t1 of an ellipse with semi-axes b and c (001 IV)."""
    return density * np.pi * c**2, density * np.pi * b**2, density * np.pi / 8.0 * (c**2 - b**2) ** 2


def _pair(value: ArrayLike, name: str) -> tuple[float, float]:
    if np.ndim(value) == 0:
        one = as_nonnegative(value, name)
        return one, one
    two = as_vector(value, 2, name)
    return as_nonnegative(two[0], name), as_nonnegative(two[1], name)


@dataclass(eq=False)
class Morison(Fluid):
    """Drag and added mass on the sections of a slender body that moves fast through water (001 (9)-(16), IX.A).

    Sections are ellipses with the half dimensions of the part's section. The added mass feels the acceleration of the
    section, without convective terms.

    Attributes:
        part: a rod, or a rigid body (with section= and span=).
        density: density of the fluid [kg/m^3].
        current: velocity of the fluid [m/s], world axes.
        axial: drag coefficient of the wetted perimeter, along the axis.
        normal: drag coefficient across the axis: one number, or two, along t2 and t3.
        spin: drag coefficient on turning about the axis.
        added: coefficient of added mass across the axis: one number, or two, along t2 and t3.
        added_spin: coefficient of added inertia about the axis.
        name: name of the load.

    """

    axial: float = field(default=0.01, kw_only=True)
    normal: ArrayLike = field(default=1.0, kw_only=True)
    spin: float = field(default=1.0, kw_only=True)
    added: ArrayLike = field(default=1.0, kw_only=True)
    added_spin: float = field(default=1.0, kw_only=True)

    def _check(self) -> None:
        super()._check()
        for name in ("axial", "spin", "added_spin"):
            setattr(self, name, as_nonnegative(getattr(self, name), f"Morison.{name}"))
        for name in ("normal", "added"):
            setattr(self, name, _pair(getattr(self, name), f"Morison.{name}"))

    def coefficients(self, X: ArrayLike) -> Array:
        """Coefficients per length (m, 19) at the arc lengths X (m,) [m]."""
        b, c = self._semi_axes(X)
        out, half = np.zeros((len(b), COLUMNS)), 0.5 * self.density
        y, z, turn = _ellipse_added(self.density, b, c)
        normal, added = np.asarray(self.normal), np.asarray(self.added)
        out[:, DRAG] = half * np.stack([self.axial * np.pi * (b + c), normal[0] * 2 * c, normal[1] * 2 * b], axis=1)
        out[:, 3] = half * self.spin * (b**2 - c**2) ** 2
        out[:, 13], out[:, 14], out[:, 15] = added[0] * y, added[1] * z, self.added_spin * turn
        return out


@dataclass(eq=False)
class Lighthill(Fluid):
    """Large-amplitude elongated-body theory: the water that a slender fish sets in motion (003 (90)-(91)).

    The sections carry the added inertia of a potential flow, a stream runs along the body and leaves it at the tail. There
    is no drag: add Morison with added=0, added_spin=0 for it.

    Attributes:
        part: a rod, or a rigid body (with section= and span=).
        density: density of the fluid [kg/m^3].
        current: velocity of the fluid [m/s], world axes.
        tail: whether the flow leaves at the tip of this part (True for a rod if not given). Of several parts in a row only
            the last has a tail; where one ends and the next begins their sections must be equal.
        name: name of the load.

    """

    tail: bool | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        super()._check()
        self.tail = isinstance(self.part, RodHandle) if self.tail is None else as_flag(self.tail, "Lighthill.tail")
        if self.tail and not isinstance(self.part, RodHandle):
            raise DescriptionError(f"{self.label}: the flow leaves at the tip of a rod; a rigid body has no tail.")

    @property
    def kirchhoff(self) -> bool:
        """The added mass is that of a potential flow."""
        return True

    @property
    def has_tail(self) -> bool:
        """Whether the flow leaves at the tip of this part."""
        return bool(self.tail)

    def coefficients(self, X: ArrayLike) -> Array:
        """Coefficients per length (m, 19) at the arc lengths X (m,) [m]."""
        b, c = self._semi_axes(X)
        out = np.zeros((len(b), COLUMNS))
        out[:, 13], out[:, 14], out[:, 15] = _ellipse_added(self.density, b, c)
        return out

    def advected(self, X: Array, motion: FrameMotion) -> Array | float:
        """Momentum (nt, m, 6) that the stream carries past sections, section axes: V1 M_a eta - (0, T e1) (003 (90)).

        The internal wrench that the equations with added inertia know is the true one plus this.
        """
        c = self.coefficients(X)
        w, v = motion.own(motion.spin), motion.own(motion.velocity - np.asarray(self.current))
        turned = np.concatenate([c[:, ADDED_TURN] * w, c[:, ADDED] * v], axis=-1)
        out = v[..., :1] * turned
        out[..., 3] -= 0.5 * np.sum(turned * np.concatenate([w, v], axis=-1), axis=-1)
        return out


@dataclass(eq=False)
class ResistiveForce(Fluid):
    """Friction of a slender body that moves slowly in a viscous fluid: forces proportional to velocities.

    Attributes:
        part: a rod, or a rigid body (with section= and span=).
        tangential: friction along the axis per length and speed [N s/m^2].
        normal: friction across the axis [N s/m^2].
        turning: friction on turning about the axis [N s].
        current: velocity of the fluid [m/s], world axes.
        name: name of the load.

    """

    density: float = 0.0
    tangential: float = field(default=0.0, kw_only=True)
    normal: float = field(default=0.0, kw_only=True)
    turning: float = field(default=0.0, kw_only=True)

    def _check(self) -> None:
        super()._check()
        for name, unit in (("tangential", "N s/m^2"), ("normal", "N s/m^2"), ("turning", "N s")):
            setattr(self, name, as_nonnegative(getattr(self, name), f"ResistiveForce.{name}", unit))

    @property
    def brakes(self) -> bool:
        """Whether the fluid is at rest."""
        return not np.any(np.asarray(self.current))

    @classmethod
    def slender(
        cls, part: RodHandle, viscosity: float, *, wavelength: float | None = None, **rest: Any
    ) -> ResistiveForce:
        """Coefficients of Gray and Hancock for a thin round filament that bends in waves.

        Args:
            part: the rod; its thickness at the middle counts.
            viscosity: dynamic viscosity of the fluid [Pa s].
            wavelength: of the bending [m]; the length of the rod if not given.
            rest: other attributes.

        """
        mu = as_positive(viscosity, "viscosity", "Pa s")
        wave = part.length if wavelength is None else as_positive(wavelength, "wavelength", "m")
        radius = 0.5 * float(part.rod.section.thickness([0.5 * part.length])[0])
        slender = np.log(2.0 * wave / radius)
        if slender <= 0.5:
            raise DescriptionError(f"a wavelength of {wave:g} m is too short for a radius of {radius:g} m.")
        along, across = 2.0 * np.pi * mu / (slender - 0.5), 4.0 * np.pi * mu / (slender + 0.5)
        return cls(part, tangential=along, normal=across, turning=4.0 * np.pi * mu * radius**2, **rest)

    def coefficients(self, X: ArrayLike) -> Array:
        """Coefficients per length (m, 19) at the arc lengths X (m,) [m]."""
        out = np.zeros((as_points(X).size, COLUMNS))
        out[:, VISCOUS] = self.tangential, self.normal, self.normal
        out[:, 9] = self.turning
        return out


@dataclass(eq=False)
class Buoyancy(Fluid):
    """The weight of the displaced fluid, upwards: it acts where gravity does.

    Attributes:
        part: a rod, or a rigid body (with section= and span=, or by Hull with its volume).
        density: density of the fluid [kg/m^3].
        area: displaced area [m^2], a number or a function of X [m]; that of the section's material if not given (a closed
            tube displaces more).
        name: name of the load.

    """

    area: float | Callable[[float], float] | None = field(default=None, kw_only=True)

    variables: ClassVar[dict[str, tuple[str, ...]]] = {"area": ("X",)}

    def _check(self) -> None:
        super()._check()
        if self.area is not None and not callable(self.area):
            self.area = as_nonnegative(self.area, "Buoyancy.area", "m^2")

    def coefficients(self, X: ArrayLike) -> Array:
        """Coefficients per length (m, 19) at the arc lengths X (m,) [m]."""
        points = as_points(X)
        out = np.zeros((points.size, COLUMNS))
        if self.area is None:
            out[:, DISPLACED] = self.density * self._wet_section().at(points).area
        elif callable(self.area):
            out[:, DISPLACED] = [
                self.density * as_number(self.area(x), "Buoyancy.area", "m^2") for x in points.tolist()
            ]
        else:
            out[:, DISPLACED] = self.density * self.area
        return out
