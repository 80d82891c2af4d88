"""Obstacles of any shape: closed surfaces of triangles and height fields, known by a grid of signed distances."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe.obstacles import Obstacle, with_edges
from anguilla.describe.splines import coefficients, interpolate
from anguilla.describe.triangles import SUFFIXES, check_closed, outward, read_triangles, welded
from anguilla.errors import DescriptionError, as_array, as_flag, as_nonnegative, as_pose, as_positive, refuse

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

__all__ = ["Gridded", "HeightField", "Mesh"]

MOST_POINTS = 8_000_000  # of a grid; each takes 8 bytes, and some microseconds
USUAL_POINTS = 1_000_000  # of a grid whose spacing is not given
FINE = 8.0  # spacings in the mean thickness of what a surface encloses, if they are not too many
COARSE = 1.5  # below so many spacings a grid does not see walls
AROUND_SOLID, AROUND_HOLLOW = 8, 3  # spacings beyond a surface that a grid covers, if `margin` is not given
MOST_ON_FACES = 2000  # points of a mesh that touch others with faces
PLAY = 2.0  # spacings by which what touches must be thinner than a hollow
MOST_WRITTEN = 8_000  # triangles of a mesh in a robot file
MOST_LOOKS = 64  # at the way of a place between two states


@dataclass(frozen=True, eq=False)
class Distances:
    """Signed distances on a grid, as splines.

    Attributes:
        low: (3,) first point of the grid [m], in the axes of the obstacle.
        spacing: [m].
        values: coefficients of the splines (nx + 2, ny + 2, nz + 2) [m].
        deepest: largest distance [m] from the surface among the points on its inner side.

    """

    low: Array
    spacing: float
    values: Array
    deepest: float

    @classmethod
    def of(cls, low: Array, spacing: float, distances: Array) -> Distances:
        """The field of distances at points."""
        return cls(low, spacing, coefficients(distances), -float(distances.min()))

    @property
    def counts(self) -> Array:
        """Numbers (3,) of points."""
        return np.array(self.values.shape) - 2.0

    def at(self, places: Array) -> Array:
        """Distances (m,) [m] at places (m, 3) [m]; beyond the grid at least so much."""
        u = (places - self.low) / self.spacing
        nearest = np.clip(u, 0.0, self.counts - 1.0)
        found, away = interpolate(self.values, nearest), self.spacing * np.linalg.norm(u - nearest, axis=1)
        return np.where(found > 0.0, np.hypot(found, away), found + away)


class _Kept:
    """A field that is computed when it is first asked for, and shared by all copies of an obstacle."""

    def __init__(self) -> None:
        self.field: Distances | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> _Kept:
        return self

    def get(self, make: Callable[[], Distances]) -> Distances:
        """The field."""
        if self.field is None:
            self.field = make()
        return self.field


class Gridded(Obstacle):
    """Base class of obstacles that are known by a grid of distances."""

    _kept: _Kept

    def _compute(self) -> Distances:
        raise NotImplementedError

    @property
    def _axes(self) -> Array:
        """Pose (4, 4) of the axes of the grid."""
        return np.eye(4)

    @property
    def measured(self) -> Distances:
        """The grid of distances from the surface, negative on its inner side; computed once."""
        return self._kept.get(self._compute)

    @property
    def grid(self) -> Array:
        """Coefficients of the splines."""
        return self.measured.values

    def distance(self, points: ArrayLike) -> Array:
        """Distance (...) [m] of points (..., 3) [m] from the surface, world axes; negative in the solid.

        Beyond the grid, farther than the margin, it is a lower bound.
        """
        x, axes = np.asarray(points, dtype=float), self._axes
        found = self.measured.at((x.reshape(-1, 3) - axes[:3, 3]) @ axes[:3, :3]).reshape(x.shape[:-1])
        return -found if self.inside else found

    @property
    def room(self) -> float:
        """Radius [m] of the largest ball inside, to half a spacing."""
        return self.measured.deepest + 0.5 * self.measured.spacing

    @property
    def advice(self) -> str:
        """What to do about what is thicker."""
        return f"distances are known up to {self.reach:g} m from it, give more by margin=..."

    def may_pass(self, start: Array, end: Array, radii: Array) -> bool:
        """Whether places could have gone through something on straight ways from start to end (k, 3) [m]."""
        way = float(np.max(np.linalg.norm(end - start, axis=1), initial=0.0))
        looks = min(int(np.ceil(way / self.measured.spacing)), MOST_LOOKS)
        if looks < 2:
            return False
        along = start + np.linspace(0.0, 1.0, looks + 1)[:, None, None] * (end - start)
        deep = -self.distance(along)
        ends = np.maximum(np.maximum(deep[0], deep[-1]), 0.0)
        return bool(np.any(deep[1:-1] > ends + self.measured.spacing) or way > MOST_LOOKS * self.measured.spacing)

    def constants(self) -> Array:
        """Shape and sizes (19,); the place of the grid is 0."""
        kept, axes = self.measured, self._axes
        point = axes[:3, 3] + axes[:3, :3] @ kept.low
        return self._row(6, point, axes[:3, :3].T, 0.0, *kept.counts, kept.spacing)

    def __eq__(self, other: object) -> bool:
        """Whether all fields are the same."""
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = ([getattr(x, f.name) for f in dataclasses.fields(x)] for x in (self, other))  # type: ignore[arg-type]
        return all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))

    __hash__ = None  # type: ignore[assignment]


def _check_points(counts: Array, name: str, advice: str) -> None:
    if np.prod(counts) > MOST_POINTS:
        raise DescriptionError(
            f"{name}: its grid would have {np.prod(counts):.3g} points, at most {MOST_POINTS} are possible: {advice}."
        )


@dataclass(eq=False)
class Mesh(Gridded):
    """A solid of any shape, or the space around a hollow one: a closed surface of triangles.

    Distances from the surface are computed once on a regular grid, and interpolated smoothly: edges are rounded over about
    a spacing. Triangles may face outward or inward, all alike. Ends of a lumen must be closed too.

    Attributes:
        path: a file in STL or OBJ; or give the triangles.
        vertices: (n, 3) corners, in the unit of `scale`.
        faces: (m, 3) the corners of each triangle, counted from 0.
        inside: True for a hollow: the robot is inside, and the solid is all around.
        scale: metres per unit of the coordinates; 0.001 for a file in millimetres.
        pose: where it stands: a pose (4, 4) or a position (3,) [m], world axes.
        spacing: [m] of the grid of distances; an eighth of the mean thickness, or more if that is too fine, if not given.
        margin: how far [m] outside of a solid the grid goes on; what touches must not be thicker. 8 spacings if not given.
        digest: hash of its triangles: of two meshes of one path, whether the file has changed.

    """

    path: str | None = None
    vertices: ArrayLike | None = None
    faces: ArrayLike | None = None
    inside: bool = field(default=False, kw_only=True)
    scale: float = field(default=1.0, kw_only=True)
    pose: ArrayLike | None = field(default=None, kw_only=True)
    spacing: float | None = field(default=None, kw_only=True)
    margin: float | None = field(default=None, kw_only=True)
    digest: str = field(default="", init=False, repr=False)

    file_fields: ClassVar[dict[str, tuple[str, ...]]] = {"path": SUFFIXES}  # files that a robot file may name

    def _check(self) -> None:
        self.inside = as_flag(self.inside, "Mesh.inside")
        self.scale = as_positive(self.scale, "Mesh.scale", "m")
        if self.pose is not None:
            self.pose = as_pose(self.pose, "Mesh.pose")
        if self.spacing is not None:
            self.spacing = as_positive(self.spacing, "Mesh.spacing", "m")
        if self.margin is not None:
            self.margin = as_nonnegative(self.margin, "Mesh.margin", "m")
        given = (self.path is not None, self.vertices is not None, self.faces is not None)
        if given == (True, False, False):
            self.path = _as_text(self.path)
            corners, faces = read_triangles(self.path)
        elif given == (False, True, True):
            corners, faces = self._given()
        else:
            raise DescriptionError("Mesh must have either a path, or vertices and faces.")
        self._keep(corners, faces)

    def _given(self) -> tuple[Array, Ints]:
        corners = as_array(self.vertices, "Mesh.vertices", "corners (n, 3)")
        faces = as_array(self.faces, "Mesh.faces", "triangles (m, 3) of whole numbers")
        if corners.ndim != 2 or corners.shape[1] != 3:
            raise refuse("Mesh.vertices", "corners (n, 3)", self.vertices)
        whole = faces.astype(np.int64)
        good = faces.ndim == 2 and faces.shape[1] == 3 and np.array_equal(whole, faces)
        if not good or np.any(whole < 0) or np.any(whole >= len(corners)):
            raise refuse("Mesh.faces", f"triangles (m, 3) of whole numbers from 0 to {len(corners) - 1}", self.faces)
        self.vertices, self.faces = corners, whole
        return corners, whole

    def _keep(self, corners: Array, faces: Ints) -> None:
        """Check the surface, and keep it in metres, facing outward."""
        name = "Mesh" if self.path is None else f"Mesh: {self.path!r}"
        if not len(faces) or not np.isfinite(corners).all() or np.abs(corners).max() > 1e6 / self.scale:
            raise DescriptionError(f"{name} has no triangles, or coordinates that are not finite or beyond 1000 km.")
        corners, faces = welded(self.scale * corners[np.unique(faces)], np.searchsorted(np.unique(faces), faces))
        if not len(faces):
            raise DescriptionError(f"{name} has no triangles that enclose anything.")
        check_closed(corners, faces, name)
        faces, volume, area = outward(corners, faces)
        if volume < 1e-9 * area * float(np.ptp(corners, axis=0).max()):
            raise DescriptionError(f"{name} encloses nothing: its volume is {volume:.3g} m^3.")
        self.digest = hashlib.sha256(corners.tobytes() + faces.tobytes()).hexdigest()
        self.__dict__.update(_triangles=(corners, faces), _thickness=2.0 * volume / area, _kept=_Kept())

    @property
    def _axes(self) -> Array:
        return np.eye(4) if self.pose is None else np.asarray(self.pose)

    @property
    def triangles(self) -> tuple[Array, Ints]:
        """Corners (n, 3) [m], in its own axes, each once, and triangles (m, 3), counter-clockwise seen from outside."""
        return self.__dict__["_triangles"]

    def _compute(self) -> Distances:
        from anguilla.describe.measuring import distances_of_grid  # compiled: only where there is a mesh

        corners, faces = self.triangles
        h, margin = self._sizes()
        low = corners.min(axis=0) - margin
        counts = np.ceil((np.ptp(corners, axis=0) + 2.0 * margin) / h).astype(int) + 1
        _check_points(counts, "Mesh", "give a larger spacing, or a smaller margin")
        low -= 0.5 * (h * (counts - 1) - np.ptp(corners, axis=0) - 2.0 * margin)
        return Distances.of(low, h, distances_of_grid(corners, faces, low, tuple(counts.tolist()), h))

    def _sizes(self) -> tuple[float, float]:
        """Spacing and margin [m]."""
        size, thickness = np.ptp(self.triangles[0], axis=0), self.__dict__["_thickness"]
        around = AROUND_HOLLOW if self.inside else AROUND_SOLID
        h = thickness / FINE if self.spacing is None else self.spacing
        more = lambda h: around * h if self.margin is None else self.margin
        if self.spacing is None:
            while np.prod((size + 2.0 * more(h)) / h) > USUAL_POINTS:
                h *= 1.02
            if h > thickness / COARSE:
                raise DescriptionError(
                    f"Mesh: what it encloses is about {thickness:.3g} m thick, too thin for a grid of {USUAL_POINTS} points: "
                    f"give a spacing of {thickness / 3.0:.2g} m or so, or the surface of the channel alone with inside=True."
                )
        return h, max(more(h), 3.0 * h)

    @property
    def solid_radius(self) -> float:
        """Half of its mean thickness [m]; infinite for a hollow."""
        return np.inf if self.inside else 0.5 * self.__dict__["_thickness"]

    @property
    def inner_radius(self) -> float:
        """Radius [m] of the largest ball inside the solid."""
        return np.inf if self.inside else self.measured.deepest

    @property
    def reach(self) -> float:
        """Radius [m] of the thickest thing that may touch it: in a hollow the grid must see the play that is left."""
        return self.room - PLAY * self.measured.spacing if self.inside else self._sizes()[1]

    @property
    def advice(self) -> str:
        """What to do about what is thicker."""
        if not self.inside:
            return super().advice
        return f"the play inside is not seen on a grid of {self.measured.spacing:.3g} m, give a smaller spacing"

    def corners(self, spacing: float | None = None) -> Array:
        """Corners of its triangles, and points along their sides."""
        if not self.has_ends:
            return np.zeros((0, 3))
        (corners, faces), axes = self.triangles, self._axes
        sides = np.unique(np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
        return with_edges(corners, sides, spacing) @ axes[:3, :3].T + axes[:3, 3]

    def on_faces(self, spacing: float, inset: float) -> tuple[Array, Array]:
        """The middles of its triangles, if these are not too many."""
        (corners, triangles), axes = self.triangles, self._axes
        if not self.has_ends or len(triangles) > MOST_ON_FACES:
            return super().on_faces(spacing, inset)
        return corners[triangles].mean(axis=1) @ axes[:3, :3].T + axes[:3, 3], np.ones(len(triangles))

    def surface(self, middle: Array, reach: float) -> tuple[Array, Array, Ints]:
        """All of its triangles."""
        corners, faces = self.triangles
        a, b, c = np.moveaxis(corners[faces], 1, 0)
        flat, normals = np.cross(b - a, c - a), np.zeros_like(corners)
        for k in range(3):
            np.add.at(normals, faces[:, k], flat)
        normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
        axes = self._axes
        if self.inside:
            normals, faces = -normals, faces[:, ::-1]
        return corners @ axes[:3, :3].T + axes[:3, 3], normals @ axes[:3, :3].T, faces

    def file_form(self, fields: dict[str, Any]) -> dict[str, Any]:
        """With its triangles in place of the path, since a robot file is read elsewhere too."""
        corners, faces = self.triangles
        if len(faces) > MOST_WRITTEN:
            raise DescriptionError(
                f"a mesh of {len(faces)} triangles is too large for a robot file, at most {MOST_WRITTEN}: write the path of "
                "its file by hand."
            )
        kept = {key: value for key, value in fields.items() if key not in ("path", "scale")}
        return kept | {"vertices": corners.tolist(), "faces": faces.tolist()}

    def __repr__(self) -> str:
        """Short, whatever its size."""
        source = repr(self.path) if self.path is not None else f"{len(self.triangles[1])} triangles"
        return f"Mesh({source}{', inside=True' if self.inside else ''})"


def _as_text(value: object) -> str:
    try:
        return str(value.__fspath__()) if hasattr(value, "__fspath__") else str(value)
    except TypeError:
        raise refuse("Mesh.path", "a path", value) from None


@dataclass(eq=False)
class HeightField(Gridded):
    """Uneven ground: heights above the plane z = 0 of its pose, on a regular grid; everything below is solid.

    Between the points the ground is made of triangles, rounded over about a spacing. Beyond the edges it falls off.

    Attributes:
        heights: (nx, ny) [m], at x = 0, spacing, 2 spacing, ... and y likewise.
        spacing: distance of the points along x and y [m].
        pose: where the first point stands: a pose (4, 4) or a position (3,) [m], world axes.
        margin: how far [m] above the ground distances are known; what touches must not be thicker. 8 spacings if not given.

    """

    heights: ArrayLike
    spacing: float
    pose: ArrayLike | None = None
    margin: float | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        wanted = "heights (nx, ny) [m], at least 2 x 2"
        heights = as_array(self.heights, "HeightField.heights", wanted)
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise refuse("HeightField.heights", wanted, self.heights)
        self.heights, self.spacing = heights, as_positive(self.spacing, "HeightField.spacing", "m")
        if self.pose is not None:
            self.pose = as_pose(self.pose, "HeightField.pose")
        if self.margin is not None:
            self.margin = as_nonnegative(self.margin, "HeightField.margin", "m")
        _check_points(np.array(self._counts()), "HeightField", "give fewer heights, or a smaller margin")
        self.__dict__["_kept"] = _Kept()

    @property
    def _axes(self) -> Array:
        return np.eye(4) if self.pose is None else np.asarray(self.pose)

    @property
    def reach(self) -> float:
        """Radius [m] of the thickest thing that may touch it."""
        return max(AROUND_SOLID * self.spacing if self.margin is None else self.margin, 3.0 * self.spacing)

    def _counts(self) -> tuple[int, int, int]:
        heights = np.asarray(self.heights)
        nx, ny = heights.shape
        return nx, ny, int(np.ceil((np.ptp(heights) + self.reach) / self.spacing)) + AROUND_SOLID + 1

    def _triangles(self) -> tuple[Array, Ints]:
        heights = np.asarray(self.heights)
        nx, ny = heights.shape
        x, y = np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij")
        corners = np.stack([self.spacing * x, self.spacing * y, heights], axis=2).reshape(-1, 3)
        here = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)).ravel()
        faces = np.concatenate(
            [np.stack([here, here + ny, here + ny + 1], 1), np.stack([here, here + ny + 1, here + 1], 1)]
        )
        return corners, faces.astype(np.int64)

    def _compute(self) -> Distances:
        from anguilla.describe.measuring import heights_of_grid

        heights, counts = np.asarray(self.heights), self._counts()
        low = np.array([0.0, 0.0, float(heights.min()) - AROUND_SOLID * self.spacing])
        found = heights_of_grid(*self._triangles(), low, counts, self.spacing, heights)
        return Distances.of(low, self.spacing, found)

    @property
    def has_ends(self) -> bool:
        """It has none: everything below is solid."""
        return False

    def surface(self, middle: Array, reach: float) -> tuple[Array, Array, Ints]:
        """All of it."""
        corners, faces = self._triangles()
        slopes = np.stack(np.gradient(np.asarray(self.heights), self.spacing), axis=2).reshape(-1, 2)
        normals = np.concatenate([-slopes, np.ones((len(slopes), 1))], axis=1)
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        axes = self._axes
        return corners @ axes[:3, :3].T + axes[:3, 3], normals @ axes[:3, :3].T, faces

    def __repr__(self) -> str:
        """Short, whatever its size."""
        nx, ny = np.asarray(self.heights).shape
        return f"HeightField({nx} x {ny} heights, spacing={self.spacing:g})"
