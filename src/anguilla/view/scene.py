"""The geometry of a result: every rod as a tube of its true cross-sections, every body as its shape, at every instant.

Nothing is drawn here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe import BodyHandle, Frame, Obstacle, Rod, RodHandle, Shape
from anguilla.describe.volumes import WELDED, refuse_volumes
from anguilla.errors import DescriptionError, as_count
from anguilla.results.observe import S_X
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.view.obstacles import Carried, obstacles_of

__all__ = [
    "Plane",
    "Scene",
    "Tube",
    "as_computed",
    "enough_sections",
    "only_rods",
    "plane_of_motion",
    "rods_of",
    "scene",
    "thin",
]

Array = NDArray[np.float64]
Result = Trajectory | Equilibrium
AnyResult = TypeVar("AnyResult", bound=Trajectory | Equilibrium)

BALL_DENSITY = 3000.0  # [kg/m^3] of the ball drawn for a body without a shape
A_TURN = 24  # sections of a full turn of the rest shape
JUMP = 1e-9  # of the length: how far before a breakpoint the section "before" it is taken


@dataclass(frozen=True, slots=True)
class Tube:
    """A rod, or a rigid body, swept by its cross-sections along its x axis.

    Attributes:
        name: name of the part.
        X: (m,) rest arc lengths of the drawn sections [m]; where the section jumps, one arc length stands twice.
        position: (time, m, 3) centreline, world axes [m].
        rotation: (time, m, 3, 3) section frames; the columns are t1, t2, t3 in world axes.
        outline: (m, k, 2) polygon (y, z) around every section, in section axes [m]; not closed.
        clamped: whether the root is fixed to the ground, without a joint that moves.
        free: whether no other part is attached to the tip.

    """

    name: str
    X: Array
    position: Array
    rotation: Array
    outline: Array
    clamped: bool
    free: bool

    def surface(self, index: int = -1) -> Array:
        """Return the points (m, k, 3) [m] of the surface at one instant, world axes."""
        cross = self.rotation[index][:, :, 1:]  # t2 and t3
        return self.position[index][:, None, :] + np.einsum("mij,mkj->mki", cross, self.outline)

    @property
    def radius(self) -> Array:
        """Largest distance (m,) [m] from the centreline to the outline."""
        return np.sqrt(np.max(np.sum(self.outline**2, axis=2), axis=1))


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything there is to draw.

    Attributes:
        name: name of the robot.
        t: (time,) instants [s].
        tubes: the rods, then the bodies, in the order they were added.
        obstacles: what they may touch, fixed in space.
        carried: what they may touch and bodies carry, without ends.

    """

    name: str
    t: Array
    tubes: tuple[Tube, ...]
    obstacles: tuple[Obstacle, ...] = ()
    carried: tuple[Carried, ...] = ()

    @property
    def bounds(self) -> Array:
        """Smallest and largest coordinates (2, 3) [m] of all tubes at all instants, to the thickness of a section."""
        low = [np.min(tube.position - tube.radius[:, None], axis=(0, 1)) for tube in self.tubes]
        high = [np.max(tube.position + tube.radius[:, None], axis=(0, 1)) for tube in self.tubes]
        return np.array([np.min(low, axis=0), np.max(high, axis=0)])

    @property
    def points(self) -> Array:
        """All centreline points at all instants (n, 3) [m]."""
        return np.concatenate([tube.position.reshape(-1, 3) for tube in self.tubes])

    @property
    def azimuth(self) -> float:
        """Angle [rad] about z of a good place to look from: across the widest horizontal extent, a little aside."""
        flat = self.points[:, :2] - self.points[:, :2].mean(axis=0)
        x, y = np.linalg.svd(flat, full_matrices=False)[2][0] if flat.any() else np.array([1.0, 0.0])
        across = np.arctan2(y, x) - np.pi / 2.0
        if np.sin(across) > 0.0:  # of the two sides, the one that keeps +x to the right
            across += np.pi
        return float((across + np.radians(35.0)) % (2.0 * np.pi))


@dataclass(frozen=True, slots=True)
class Plane:
    """The plane nearest to a cloud of points.

    Attributes:
        origin: (3,) a point of the plane [m].
        axes: (2, 3) its horizontal and vertical direction, world axes.
        offset: largest distance of a point from the plane, as a part of the largest extent in it [-].

    """

    origin: Array
    axes: Array
    offset: float

    @property
    def normal(self) -> Array:
        """The direction (3,) the plane is looked at along, pointing to the viewer."""
        return np.cross(self.axes[0], self.axes[1])

    def project(self, points: ArrayLike) -> Array:
        """Return the coordinates (..., 2) [m] of points (..., 3) in the plane, counted from the world origin."""
        return np.asarray(points) @ self.axes.T


def plane_of_motion(points: ArrayLike) -> Plane:
    """Return the plane nearest to points (n, 3) [m], by principal components, with its second axis pointing up.

    A normal within a degree of a world axis becomes that axis, so that a robot made to be planar is drawn in its plane.
    """
    cloud = np.asarray(points, dtype=float)
    origin = cloud.mean(axis=0)
    _, size, rows = np.linalg.svd(cloud - origin, full_matrices=False)
    if size[1] <= 1e-9 * max(size[0], 1e-300):  # points on a line leave the plane open: take a vertical one
        along = rows[0]
        other = np.array([0.0, 0.0, 1.0]) if abs(along[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
        normal = np.cross(along, other) / np.linalg.norm(np.cross(along, other))
    else:
        normal = rows[2]
    nearest = int(np.argmax(np.abs(normal)))
    if abs(normal[nearest]) > np.cos(np.radians(1.0)):
        normal = np.eye(3)[nearest]
    # up: the world z as far as it lies in the plane; world y when the plane is horizontal
    guide = np.array([0.0, 0.0, 1.0]) if abs(normal[2]) < 0.99 else np.array([0.0, 1.0, 0.0])
    up = guide - normal * (guide @ normal)
    up /= np.linalg.norm(up)
    right = np.cross(up, normal)
    if right[int(np.argmax(np.abs(right)))] < 0.0:
        right, normal = -right, -normal
    flat = (cloud - origin) @ np.array([right, up]).T
    extent = float(np.max(np.ptp(flat, axis=0)))
    away = float(np.max(np.abs((cloud - origin) @ normal)))
    return Plane(origin, np.array([right, up]), away / max(extent, 1e-300))


def _check(result: object) -> None:
    if not isinstance(result, Trajectory | Equilibrium):
        soft = " Soft volumes are shown by ag.plot, ag.animate and ag.view." * type(result).__name__.startswith("Soft")
        raise DescriptionError(
            f"a picture needs what ag.simulate or ag.statics returned; got an object of type {type(result).__name__}.{soft}"
        )
    refuse_volumes(result.robot.volumes, result.robot.name)


def rods_of(result: Result) -> list[RodHandle]:
    """Return the rods of the robot, or raise an error that says what a picture needs."""
    _check(result)
    rods = [part for part in result.robot.parts if isinstance(part, RodHandle)]
    if not rods:
        raise DescriptionError(f"robot {result.robot.name!r} has no rods to draw.")
    return rods


def only_rods(result: Any, colour: str | None) -> Any:
    """Return the result of a robot of rods; colours of fields are of soft volumes only."""
    if colour is not None:
        raise DescriptionError(f"colour={colour!r} is for soft volumes; rods have a colour each.")
    return result


def as_computed(result: AnyResult) -> AnyResult:
    """Return the result with its robot as it was computed, whatever became of the description since."""
    _check(result)
    return replace(result, robot=result.system.robot)


def thin(run: Trajectory, most: int) -> Trajectory:
    """Return the motion with at most so many instants, equally spaced; the first and the last stay."""
    n = len(run.t)
    if n <= most:
        return run
    keep = np.unique(np.linspace(0, n - 1, as_count(most, "most", minimum=2)).round().astype(int))
    return run.picked(keep)


def scene(result: Result, *, sections: int = 48, around: int = 32) -> Scene:
    """Return the geometry of a result.

    Args:
        result: a Trajectory or an Equilibrium.
        sections: number of drawn sections of every rod, more if it is coiled; those at breakpoints come on top.
        around: number of points around every section.

    Returns:
        A Scene; an equilibrium has one instant.

    """
    result = as_computed(result)
    as_count(sections, "sections", minimum=2)
    occupied = {(part.parent.part_index, part.parent.place) for part in result.robot.parts}
    tubes = []
    for handle in result.robot.parts:
        if not isinstance(handle, RodHandle):
            continue
        rod = handle.rod
        X, side = _stations(rod.length, enough_sections(rod, sections), rod.section.breakpoints)
        last = rod.length * (1.0 - 1e-12)
        places = ["root" if x == 0.0 else "tip" if x >= last else float(x) for x in X]
        motion = result.motion([Frame(result.robot, handle.index, place) for place in places])
        outline = np.stack([rod.section.outline(float(x), around) for x in side])
        rotation = motion[:, :, :9].reshape(*motion.shape[:2], 3, 3)
        position = motion[:, :, S_X : S_X + 3]
        tip_taken = (handle.index, "tip") in occupied
        clamped = handle.parent.is_ground and handle.joint.size == 0
        tubes.append(Tube(handle.name, X, position, rotation, outline, clamped, not tip_taken))
    bodies = [part for part in result.robot.parts if isinstance(part, BodyHandle) and not part.name.startswith(WELDED)]
    endless = [part for part in bodies if part.body.solid is not None and not part.body.solid.has_ends]
    seen = [part for part in bodies if part not in endless]
    tubes += [_body_tube(result, handle, around) for handle in (seen if tubes or seen else bodies)]
    carried = tuple(_carried(result, handle) for handle in endless)
    instants = np.atleast_1d(np.asarray(result.t, dtype=float))
    return Scene(result.robot.name, instants, tuple(tubes), obstacles_of(result.robot), carried)


def _carried(result: Result, handle: BodyHandle) -> Carried:
    """An obstacle without ends, with the motion of its body."""
    motion = result.motion([handle.frame])[:, 0]
    assert handle.body.solid is not None
    return Carried(handle.body.solid, motion[:, S_X : S_X + 3], motion[:, :9].reshape(-1, 3, 3))


def enough_sections(rod: Rod, least: int) -> int:
    """Number of sections to draw of a rod: more where its rest shape winds, so that a coil is round."""
    X = np.linspace(0.0, rod.length, 33)
    turns = rod.length * float(np.mean(np.linalg.norm(rod.rest.strain(X)[:, 1:3], axis=1))) / (2.0 * np.pi)
    return max(least, min(400, int(np.ceil(A_TURN * turns)) + 1))


def _body_tube(result: Result, handle: BodyHandle, around: int) -> Tube:
    """A rigid body as a tube along the x axis of its frame; one without a shape is a ball of its mass in a dense stuff."""
    body = handle.body
    ball = (3.0 * body.mass / (4.0 * np.pi * BALL_DENSITY)) ** (1.0 / 3.0)
    kind = body.shape.kind if isinstance(body.shape, Shape) else "sphere"
    size: tuple[float, ...] = body.shape.size if isinstance(body.shape, Shape) else (ball,)
    com = np.asarray(body.com)
    angle = 2.0 * np.pi * np.arange(around) / around
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if isinstance(body.shape, Obstacle) and body.shape.has_ends:
        com, x, outline = _slices(body.shape, circle)
    elif kind == "box":
        x = 0.5 * size[0] * np.array([-1.0, 1.0])
        square = circle / np.max(np.abs(circle), axis=1, keepdims=True)
        outline = np.stack([0.5 * square * np.array(size[1:])] * 2)
    elif kind == "cylinder":
        x = 0.5 * size[1] * np.array([-1.0, 1.0])
        outline = np.stack([size[0] * circle] * 2)
    else:
        polar = np.linspace(0.02, np.pi - 0.02, 17)
        x = -size[0] * np.cos(polar)
        outline = size[0] * np.sin(polar)[:, None, None] * circle
    motion = result.motion([handle.frame])[:, 0]
    rotation = motion[:, :9].reshape(-1, 3, 3)
    local = com + x[:, None] * np.array([1.0, 0.0, 0.0])
    position = motion[:, None, S_X : S_X + 3] + np.einsum("tij,mj->tmi", rotation, local)
    turned = np.repeat(rotation[:, None], len(x), axis=1)
    return Tube(handle.name, x - x[0], position, turned, outline, False, False)


def _slices(solid: Obstacle, circle: Array) -> tuple[Array, Array, Array]:
    """Middle (3,), places (m,) along x and outlines (m, k, 2) of a solid, cut across x, in k directions (k, 2)."""
    points = solid.surface(np.zeros(3), 1.0)[0]
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    x = -half[0] * np.cos(np.linspace(0.02, np.pi - 0.02, 33))
    far = np.linspace(0.0, float(np.hypot(half[1], half[2])), 65)[1:]
    ray = np.concatenate([np.zeros((len(circle), 1)), circle], axis=1)
    start = middle + x[:, None] * np.array([1.0, 0.0, 0.0])
    inside = solid.distance(start[:, None, None] + far[:, None] * ray[:, None]) < 0.0
    last = len(far) - 1 - np.argmax(inside[..., ::-1], axis=2)  # the outermost place inside on each ray
    near = np.where(inside.any(axis=2), far[last], 0.0)
    beyond = near + far[0]
    for _ in range(16):
        between = 0.5 * (near + beyond)
        within = solid.distance(start[:, None] + between[..., None] * ray) < 0.0
        near, beyond = np.where(within, between, near), np.where(within, beyond, between)
    return middle, x, near[..., None] * circle


def _stations(length: float, sections: int, breakpoints: tuple[float, ...]) -> tuple[Array, Array]:
    """Arc lengths to draw, and where to take the section: a breakpoint comes twice, from before and from beyond."""
    inner = [b for b in breakpoints if JUMP * length < b < (1.0 - JUMP) * length]
    X = np.sort(np.concatenate([np.linspace(0.0, length, sections), inner, inner]))
    side = X.copy()
    for b in inner:
        side[np.flatnonzero(X == b)[0]] = b - JUMP * length
    return X, side
