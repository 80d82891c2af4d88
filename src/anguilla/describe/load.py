"""What every load answers: where it acts, how it enters the tables, its values in time, its energy, its pictures.

Solvers, results, viewer and files ask these questions of all loads alike, and never ask what kind of load it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.description import Description, as_name
from anguilla.describe.frames import Frame, Part, RodHandle
from anguilla.describe.obstacles import Obstacle
from anguilla.errors import DescriptionError, refuse

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Values = Callable[[Array], Array]  # times (nt,) [s] -> values (nt, ...)

ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class FrameMotion:
    """Motion of a frame, world axes; of k frames at nt instants, with two more dimensions (nt, k) in front.

    Attributes:
        rotation: (3, 3).
        position: (3,) [m].
        spin: (3,) angular velocity [rad/s].
        velocity: (3,) [m/s].
        spin_rate: (3,) angular acceleration [rad/s^2].
        acceleration: (3,) [m/s^2].

    """

    rotation: Array
    position: Array
    spin: Array
    velocity: Array
    spin_rate: Array
    acceleration: Array

    def one(self, t: int, k: int) -> FrameMotion:
        """Motion of the k-th frame at the t-th instant."""
        parts = self.rotation, self.position, self.spin, self.velocity, self.spin_rate, self.acceleration
        return FrameMotion(*(part[t, k].copy() for part in parts))

    def turned(self, vector: Array) -> Array:
        """Vectors (..., 3) in the axes of the frames, in world axes."""
        return np.asarray(np.einsum("...ij,...j->...i", self.rotation, vector))

    def own(self, vector: Array) -> Array:
        """Vectors (..., 3) in world axes, in the axes of the frames."""
        return np.asarray(np.einsum("...ji,...j->...i", self.rotation, vector))


@dataclass(frozen=True)
class Seat:
    """Where a load acts in the numeric tree.

    Attributes:
        nodes: (k,) nodes.
        X: (k,) arc lengths on its rod [m]; zero for frames.
        weights: (k,) shares of the length [m]; one for frames.

    """

    nodes: Ints
    X: Array
    weights: Array

    @classmethod
    def on(cls, nodes: Sequence[int]) -> Seat:
        """The seat of a load on single frames."""
        return cls(np.array(nodes, dtype=np.int64), np.zeros(len(nodes)), np.ones(len(nodes)))


@dataclass(frozen=True)
class Side:
    """One of two things that may touch each other: a rod, or a body or another frame with points or a shape of its own.

    Attributes:
        where: the rod; or the frame that the points and the shape move with.
        radii: of a rod, X (m,) [m] -> radii (m,) [m].
        spacing: [m] of the points along a rod that touch.
        ring: whether the tip of a rod is held at its root, so that they are neighbours.
        points: (k, 3) [m] that touch, in the axes of the frame.
        radius: [m] of the balls around them, or one for each (k,).
        glide: (3,) [m] by which points glide at most, to either side, to where they are deepest in what they touch.
        shares: of the stiffness of a point, or one for each (k,).
        shape: as `interact/kernels/distance.py` reads it, in the axes of the frame; None if there is no surface to touch.
        size: [m] radius of a ball around the origin of the frame that contains it; infinite for what has no ends.
        grid: coefficients of the grid of distances of the shape, if it has one.

    """

    where: Frame | RodHandle
    radii: Callable[[Array], Array] = np.zeros_like
    spacing: float = 0.0
    ring: bool = False
    points: Array = field(default_factory=lambda: np.zeros((0, 3)))
    radius: float | Array = 0.0
    glide: Array = field(default_factory=lambda: np.zeros(3))
    shares: float | Array = 1.0
    shape: Array | None = None
    size: float = 0.0
    grid: Array | None = None

    @property
    def on_rod(self) -> bool:
        """Whether it is a rod."""
        return isinstance(self.where, RodHandle)

    @property
    def has_points(self) -> bool:
        """Whether it has points that touch."""
        return self.on_rod or len(self.points) > 0

    @property
    def has_surface(self) -> bool:
        """Whether points may touch it."""
        return self.on_rod or self.shape is not None


class Book(Protocol):
    """The tables that loads write themselves into (`model/tables.py`), by the family of their kernels."""

    def seat(self, where: Frame | RodHandle | Sequence[Frame]) -> Seat:
        """Where to act: on a frame, on several, or all along a rod."""

    def gauss(self, part: RodHandle) -> Seat:
        """The Gauss points of the intervals of a rod, two for each: X and weights (2 m,), nodes (m,)."""

    def integrals(self, part: RodHandle, density: Callable[[Array], Array]) -> tuple[Seat, Array]:
        """All nodes of a rod, and the integrals (k, c) around them of a density X (m,) -> (m, c)."""

    def wrenches(self, nodes: Ints, follower: bool, constant: bool, values: Values) -> None:
        """Wrenches that are given in time: values (nt, k, 6), in world axes, or those of the nodes (follower)."""

    def stresses(self, nodes: Ints, gains: Array, constant: bool, values: Values) -> None:
        """Strain loads on intervals: values + gains (m, 12) x strain, at their two Gauss points, times the weights."""

    def on_frames(
        self, kernel: str, nodes: Ints, constants: Array, *, values: Values | None = None, numbers: int = 0,
        constant: bool = True, force: bool = False, spread: bool = True,
    ) -> None:  # fmt: skip
        """Frame loads: what `kernel` does with the constants (k, c) and, from the row, with values (nt, numbers) in time.

        With `force`, a load factor multiplies the values. `spread` is false of what acts at points of a rod, though the load
        says that it is known as a density along it (`density_on`).
        """

    def grid(self, coefficients: Array) -> int:
        """Place of the coefficients of a grid of distances among all of them; the same ones are kept once."""

    def streams(self, part: RodHandle, which: Ints, constants: Array) -> None:
        """Streams along a rod, on its strains, at some of its nodes; constants (k, c)."""

    def spring(self, a: Frame, b: Frame, constants: Sequence[float]) -> Seat:
        """A pair load: stiffness, rest length and damping of a spring between two frames."""

    def touch(self, a: Side, b: Side, law: tuple[float, ...], thinnest: float) -> Seat:
        """Contact between two parts; law is as in `Touches`, scales on a."""

    def user_frames(self, load: Any, seat: Seat) -> None:
        """A load written in Python, on frames."""

    def user_force(self, load: Any) -> None:
        """Generalised forces written in Python."""


class Load(Description):
    """Base class of loads.

    Attributes:
        account: where `powers` counts it: "motors", "water", "others", or "stored" for what keeps or takes energy only.
        touches: whether it is contact, which sets in at once.
        is_passive: whether it only keeps or takes energy.
        has_arrows: whether its forces are drawn.
        in_files: whether a robot file may name it (asked of the class itself, not of its bases).
        variables: variables of the functions in its fields by the name of the field, "" for the others; t if not given.

    """

    name: str | None

    account: ClassVar[str] = "others"
    touches: ClassVar[bool] = False
    meets: ClassVar[bool] = False  # whether it is contact between parts of the robot
    of_volume: ClassVar[bool] = False  # whether it is contact of a soft volume
    is_passive: ClassVar[bool] = False
    has_arrows: ClassVar[bool] = False
    in_files: ClassVar[bool] = False
    variables: ClassVar[dict[str, tuple[str, ...]]] = {}

    @property
    def is_constant(self) -> bool:
        """Whether the load does not depend on time."""
        return True

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        raise NotImplementedError

    def repeats(self, other: Load) -> bool:
        """Whether it says once more what another load says, as when a cell of a notebook is run twice."""
        return False

    @property
    def holder(self) -> Any:
        """The soft volume that keeps the load; None if the robot itself does."""
        return None

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Frames the load refers to; they must belong to the robot it is put on."""
        raise NotImplementedError

    @property
    def stations(self) -> tuple[Frame, ...]:
        """Frames at which it needs a node that can be moved."""
        return self.frames

    @property
    def finest(self) -> tuple[RodHandle, float] | None:
        """A rod and its longest interval [m] that the load sees well, infinite if any; None where it does not matter."""
        return None

    def enter(self, book: Book) -> Seat:
        """Write the load into the tables of its family of kernels; its values in time are given there too."""
        raise DescriptionError(
            f"{self.label}: a load of type {type(self).__name__} does not say how it enters a model."
        )

    @property
    def remembers(self) -> bool:
        """Whether it has a state of its own, integrated along the motion."""
        return False

    @property
    def functions(self) -> tuple[Callable[..., Any] | None, ...]:
        """Functions of the user that are asked at every instant."""
        return ()

    def file_form(self, fields: dict[str, Any]) -> dict[str, Any]:
        """How a robot file writes it, from its fields."""
        return fields

    # What it exerts

    @property
    def wrench_on(self) -> Frame | None:
        """The frame of a wrench that is given in time (`given_wrench`)."""
        return None

    def given_wrench(self, times: Array, rotation: Array) -> Array:
        """Wrench (nt, 6), world axes, on a frame turned by rotation (nt, 3, 3)."""
        raise NotImplementedError

    @property
    def density_on(self) -> RodHandle | None:
        """The rod along which it is known as a wrench per length (`wrench_density`)."""
        return None

    def wrench_density(self, X: Array, times: Array, motion: FrameMotion, gravity: Array) -> Array:
        """Wrench per length (nt, m, 6), world axes, at X (m,) [m]; of the motion (nt, m) and gravity (nt, 3)."""
        raise DescriptionError(
            f"{self.label}: a load of type {type(self).__name__} along a rod does not say its wrench per length "
            "(wrench_density), which the forces in the rod need."
        )

    def advected(self, X: Array, motion: FrameMotion) -> Array | float:
        """Momentum (nt, m, 6) that a stream carries past sections, section axes."""
        return 0.0

    @property
    def stress_on(self) -> RodHandle | None:
        """The rod on whose strains it works (`stress`)."""
        return None

    def stress(self, X: Array, times: Array, strain: Array) -> Array:
        """Active stress (nt, m, 6) at X (m,) [m] and strains (nt, m, 6), section axes."""
        raise NotImplementedError

    # Energy

    @property
    def brakes(self) -> bool:
        """Whether it takes energy and keeps none."""
        return False

    @property
    def dead_force(self) -> Array | None:
        """The force (3,) [N], world axes, of a load on one frame that is such a force and nothing else."""
        return None

    def energy(self, seat: Seat, motion: FrameMotion) -> Array:
        """Potential energy (nt,) [J] in a motion (nt, k) of its seat."""
        return np.zeros(len(motion.position))

    def stored_power(self, seat: Seat, motion: FrameMotion) -> Array:
        """Rate (nt,) [W] of its energy; asked of what is counted as "stored"."""
        return np.zeros(len(motion.position))

    def lost_power(self, seat: Seat, motion: FrameMotion) -> Array:
        """What its dampers take (nt,) [W]; asked of what is counted as "stored"."""
        return np.zeros(len(motion.position))

    # Contact

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """Solids fixed in space that it knows."""
        return ()

    def radii(self, X: Array) -> Array:
        """Radii (m,) [m] of what touches."""
        return np.zeros(len(X))

    def depths(self, seat: Seat, place: Array) -> Array:
        """How deep (nt, k) [m] the places (nt, k, 3) [m] of its seat are in its obstacle; negative ones are distances."""
        return np.zeros((len(place), 0))

    def passes(self, seat: Seat, place: Array) -> bool:
        """Whether a place could have gone through its obstacle between two states, place (2, k, 3) [m]."""
        return False

    def _check_name(self) -> None:
        if self.name is not None:
            self.name = as_name(self.name, f"{type(self).__name__}.name")


class FrameLoad(Load):
    """Base class of loads on one frame."""

    frame: Frame

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        return self.name or f"{type(self).__name__} on {self.frame.label}"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frame."""
        return (self.frame,)


class PlacedLoad(Load):
    """Base class of loads on a frame, or all along a rod."""

    where: Frame | RodHandle

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        place = self.where.name if isinstance(self.where, RodHandle) else self.where.label
        return self.name or f"{type(self).__name__} on {place}"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The frame, or the root of the rod."""
        return (self.where.root,) if isinstance(self.where, RodHandle) else (self.where,)

    @property
    def density_on(self) -> RodHandle | None:
        """The rod, if it is one."""
        return self.where if isinstance(self.where, RodHandle) else None


class RodLoad(Load):
    """Base class of loads all along a rod."""

    part: RodHandle

    @property
    def label(self) -> str:
        """The name of the load, or its type and place."""
        return self.name or f"{type(self).__name__} on {self.part.name}"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The root of the rod."""
        return (self.part.root,)


def as_frame(value: object, name: str) -> Frame:
    """Check that a field is a frame."""
    if isinstance(value, Part) or not isinstance(value, Frame):
        raise refuse(name, "a frame such as arm.tip or body.frame", value)
    return value


def as_rod(value: object, name: str) -> RodHandle:
    """Check that a field is a rod of a robot."""
    if not isinstance(value, RodHandle):
        raise refuse(name, "a rod of the robot, as returned by robot.add(rod, ...)", value)
    return value


def repeated(values: Values, count: int, times: ArrayLike) -> Array:
    """Values (nt, n) at the times (nt,) for each of several seats: (nt, count n)."""
    return np.tile(values(np.asarray(times, dtype=np.float64)), (1, count))
