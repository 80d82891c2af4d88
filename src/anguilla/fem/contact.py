"""The surface of a soft volume that touches: its nodes, their shares of the area, what they may touch, what they remember."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from anguilla.describe.obstacles import Obstacle
from anguilla.errors import DescriptionError
from anguilla.fem.body import SoftBody
from anguilla.fem.elements import Grid, Pattern
from anguilla.fem.linear import Finish, LinearSolver
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.pressing import SLIDES, depths, press
from anguilla.interact.kernels.distance import (
    AXES,
    BOX,
    CYLINDER,
    GRID,
    HALF_SPACE,
    POINT,
    ROUND,
    SHAPE,
    SHAPE_SIZE,
    SIDE,
    SIZE,
    SPHERE,
)
from anguilla.interact.volume_contact import VolumeContact
from anguilla.results.contacts import TouchPoints
from anguilla.solve.steps.schemes import Coefficients, factors

__all__ = [
    "Grip",
    "Piece",
    "Places",
    "Points",
    "Pressed",
    "SlidingSolver",
    "Touched",
    "Touching",
    "forbid",
    "law_of",
    "obstacle_pieces",
    "surface_points",
]

STIFF = 10.0  # times E / (1 - nu^2) / size of a face
SMOOTH = 1e-3  # of the size of a face: depth over which the stiffness rises
FINE, FINEST = 1.0 / 3.0, 6  # distance of points over the radius of what is touched; most parts of the side of a face
BALL = 0.5  # as much finer are balls seen: they touch at a small spot, which must not jump from point to point
MOST_TILTED = 400  # points that slide at once of which the solver knows that friction follows the pressing force


class Places(NamedTuple):
    """Where frames are: rotations (F, 3, 3) and positions (F, 3) [m]."""

    R: Floats
    r: Floats


NOWHERE = Places(np.zeros((0, 3, 3)), np.zeros((0, 3)))


class Piece(NamedTuple):
    """What a contact touches: shapes (s, 19) in the axes of frames (s,), numbers of these; -1 for the world."""

    contact: VolumeContact
    shapes: Floats
    frames: Ints


class Grip(NamedTuple):
    """What points remember at the start of a step: roots of bristles (p, 3) [m], depths (p,) [m], frames; and 1 / dt.

    `weight` is that of their forces in the balance of a step (see `impulses`).
    """

    root: Floats
    depth: Floats
    places: Places
    rate: float
    weight: float = 1.0


class Pressed(NamedTuple):
    """Points at a state: forces on them (p, 3) [N], their derivatives (p, 9), tilts, states, roots afterwards, energies."""

    force: Floats
    change: Floats
    tilt: Floats
    state: Ints
    root: Floats
    kept: Floats


class Touched(NamedTuple):
    """What touches at an instant, to be read and to start from.

    Attributes:
        contact: (k,) number of the contact of each point that touches.
        place: (k, 3) where [m], world axes.
        force: (k, 3) of the volume on what it touches [N], world axes.
        slides: (k,) whether it slides.
        energy: (contacts,) that they keep [J].
        root: (p, 3) where the bristles of all points are rooted [m].
        point: (k,) numbers of the points that touch, and shape: (k,) those of what they touch.
        corners: (k, 3, 3) forces [N] on the corners of the triangles that are touched, of another volume; else empty.

    """

    contact: Ints
    place: Floats
    force: Floats
    slides: np.ndarray
    energy: Floats
    root: Floats
    point: Ints
    shape: Ints
    corners: Floats = np.zeros((0, 3, 3))


def weight_of(scheme: Coefficients, dt: float) -> float:
    """Weight of contact forces F in the balance of a step, so that they act as impulses dt F at its end.

    A penalty that is averaged over a step, as elastic forces are, gives more than it took when a node leaves. As an impulse
    of the force at the end of the step it never does: q1 gets dt^2/2 M^-1 F, v1 gets dt M^-1 F, and the accelerations that
    the scheme carries on are those without contact.
    """
    return 0.5 * factors(scheme, dt)[2] * dt * dt


def impulses(scheme: Coefficients, dt: float, pushed: Floats) -> tuple[Floats, Floats, Floats]:
    """What to add to rates, accelerations and true ones that `ended` gives; pushed are accelerations M^-1 F."""
    rest = 0.5 / scheme.beta
    return dt * (1.0 - scheme.gamma * rest) * pushed, -rest * pushed, -weight_of(scheme, dt) * pushed


def row_of(obstacle: Obstacle, grids: list[Floats]) -> Floats:
    """An obstacle as a row (19,) for kernels; its grid of distances, if it has one, is put behind the others."""
    row = np.array(obstacle.constants(), dtype=np.float64)
    if obstacle.grid is not None:
        row[SIZE] = sum(part.size for part in grids)
        grids.append(np.asarray(obstacle.grid).ravel())
    return row


def obstacle_pieces(contacts: Sequence[VolumeContact]) -> tuple[list[Piece], Floats]:
    """Obstacles that are touched, and the grids of distances of all of them, one behind the other."""
    grids = [np.zeros(0)]
    world = np.array([-1], dtype=np.int64)
    pieces = [Piece(contact, row_of(contact.other, grids)[None], world) for contact in contacts]
    return pieces, np.concatenate(grids)


class Touching:
    """The points of a volume that may touch.

    Attributes:
        contacts: the contacts, as described.
        nodes, weights: (p, 3) nodes of each point, in increasing order, and its weights: a point of a face is their mean.
        number: (p,) number of its contact.
        frames: (s,) number of the frame of each shape, or -1.
        rubs: whether some contact has friction.

    """

    def __init__(self, body: SoftBody, grid: Grid, pattern: Pattern, pieces: Sequence[Piece], grids: Floats) -> None:
        self.contacts = [piece.contact for piece in pieces]
        self.rubs = any(contact.friction > 0.0 for contact in self.contacts)
        self.frames = np.concatenate([piece.frames for piece in pieces]).astype(np.int64)
        self._own = np.ascontiguousarray(np.concatenate([piece.shapes for piece in pieces]).reshape(-1, SHAPE_SIZE))
        self._grids, self._turns = grids, np.flatnonzero(self.frames >= 0)
        nodes, weights, laws, ranges, number, first = [], [], [], [], [], 0
        modulus = plane_modulus(body, grid)
        for k, piece in enumerate(pieces):
            finest = FINEST if np.all(piece.shapes[:, SHAPE] != SPHERE) else round(FINEST / BALL)
            points = surface_points(body, grid, piece.contact, _spacing(piece), modulus, finest=finest)
            nodes.append(points.nodes)
            weights.append(points.weights)
            laws.append(law_of(piece.contact, points))
            ranges.append(np.tile([first, first + len(piece.shapes)], (len(points.nodes), 1)))
            number.append(np.full(len(points.nodes), k))
            first += len(piece.shapes)
        self.nodes, self.weights = np.concatenate(nodes), np.concatenate(weights)
        self.law, self.number = np.concatenate(laws), np.concatenate(number)
        self.ranges = np.concatenate(ranges).astype(np.int64)
        self._pairs = np.triu_indices(3)
        one, two = self.nodes[:, self._pairs[0]], self.nodes[:, self._pairs[1]]
        self._share = self.weights[:, self._pairs[0]] * self.weights[:, self._pairs[1]]
        self._slot = np.where(self._share == 0.0, -1, pattern.slots(one, two))

    def places(self, x: Floats, which: Ints | slice = slice(None)) -> Floats:
        """Where points are (p, 3) [m]."""
        return np.asarray(np.einsum("pa,pai->pi", self.weights[which], x[self.nodes[which]]))

    def spread(self, force: Floats, which: Ints | slice, out: Floats) -> None:
        """Add forces (k, 3) on some points to those of nodes (n, 3)."""
        np.add.at(out, self.nodes[which], self.weights[which][:, :, None] * force[:, None])

    def shapes(self, places: Places) -> Floats:
        """Shapes (s, 19) in world axes."""
        out, turns = self._own.copy(), self._turns
        if len(turns):
            R, r = places.R[self.frames[turns]], places.r[self.frames[turns]]
            out[turns, POINT : POINT + 3] = np.einsum("sij,sj->si", R, self._own[turns, POINT : POINT + 3]) + r
            axes = self._own[turns, AXES : AXES + 9].reshape(-1, 3, 3)
            out[turns, AXES : AXES + 9] = np.einsum("sai,sji->saj", axes, R).reshape(-1, 9)
            flat = turns[self._own[turns, SHAPE] == HALF_SPACE]  # told by its normal and its offset
            out[flat, SIZE] += np.sum(out[flat, AXES : AXES + 3] * places.r[self.frames[flat]], axis=1)
        return out

    def _moved(self, places: Places, grip: Grip) -> Floats:
        """Rotation and shift (s, 12) of the shapes since the start of a step."""
        out = np.zeros((len(self.frames), 12))
        out[:, [0, 4, 8]] = 1.0
        if len(self._turns):
            at = self.frames[self._turns]
            turn = places.R[at] @ np.swapaxes(grip.places.R[at], 1, 2)
            out[self._turns, :9] = turn.reshape(-1, 9)
            out[self._turns, 9:] = places.r[at] - np.einsum("sij,sj->si", turn, grip.places.r[at])
        return out

    def grip(
        self, x: Floats, places: Places = NOWHERE, root: Floats | None = None, rate: float = 0.0, weight: float = 1.0
    ) -> Grip:
        """What points remember at a state; bristles are rooted where they are, if not told."""
        depth = np.zeros(len(self.nodes))
        depths(x, self.nodes, self.weights, self.ranges, self.shapes(places), self._grids, depth)
        copied = Places(places.R.copy(), places.r.copy())
        return Grip(self.places(x) if root is None else root, depth, copied, rate, weight)

    def press(self, x: Floats, places: Places = NOWHERE, grip: Grip | None = None) -> Pressed:
        """Forces on the points, and their derivatives; without friction and damping if nothing is remembered."""
        p = len(self.nodes)
        force, change, tilt, root = np.zeros((p, 3)), np.zeros((p, 9)), np.zeros((p, 6)), np.zeros((p, 3))
        state, past = np.zeros((p, 2), dtype=np.int64), grip
        if past is None:
            past = Grip(np.zeros((p, 3)), np.zeros(p), places, 0.0)
        kept = np.zeros(p)
        press(
            x, self.nodes, self.weights, self.ranges, self.law, self.shapes(places), self._moved(places, past), self._grids,
            past.root, past.depth, float(past.rate), grip is not None, force, change, tilt, state, root, kept,
        )  # fmt: skip
        if past.weight != 1.0:
            force, change = past.weight * force, past.weight * change
            tilt[:, :3] *= past.weight
        return Pressed(force, change, tilt, state, root, kept)

    def add(self, found: Pressed, gradient: Floats, blocks: Floats | None) -> None:
        """Add forces to the gradient (n, 3), and a symmetric stiffness to the blocks: tilts belong to the solver."""
        on = np.flatnonzero(found.state[:, 0] > 0)
        self.spread(-found.force[on], on, gradient)
        if blocks is None:
            return
        stiff = -found.change[on].reshape(-1, 3, 3) - found.tilt[on, :3, None] * found.tilt[on, None, 3:]
        even = 0.5 * (stiff + np.swapaxes(stiff, 1, 2)).reshape(-1, 1, 9) * self._share[on][:, :, None]
        slot = self._slot[on]
        np.add.at(blocks, slot[slot >= 0], even[slot >= 0])

    def tilts(self, found: Pressed, first: Ints) -> tuple[Ints, Floats, Floats]:
        """Unknowns (k, 3), weights (k, 3) and tilts (k, 6) of points that slide; first (n,) is that of a node, or -1."""
        on = np.flatnonzero(found.state[:, 0] == SLIDES)
        at = first[self.nodes[on]]
        return np.maximum(at, 0), np.where(at >= 0, self.weights[on], 0.0), found.tilt[on]

    def touched(self, x: Floats, places: Places = NOWHERE, grip: Grip | None = None) -> Touched:
        """What touches."""
        found = self.press(x, places, grip and grip._replace(weight=1.0))
        on = np.flatnonzero(found.state[:, 0] > 0)
        energy = np.bincount(self.number, found.kept, minlength=len(self.contacts)).astype(np.float64)
        slides = found.state[on, 0] == SLIDES
        return Touched(
            self.number[on], self.places(x, on), -found.force[on], slides, energy, found.root, on, found.state[on, 1]
        )


def plane_modulus(body: SoftBody, grid: Grid) -> Floats:
    """E / (1 - nu^2) (n,) [Pa] at the nodes, that of the softest tetrahedron there."""
    mu, lam, _ = body.lame()
    plane = 4.0 * mu * (lam + mu) / (lam + 2.0 * mu)
    out = np.full(len(grid.points), np.inf)
    np.minimum.at(out, grid.cells, np.broadcast_to(plane[:, None], grid.cells.shape))
    return out


class Points(NamedTuple):
    """Points of a surface: nodes (p, 3), weights (p, 3), areas (p,) [m^2]."""

    nodes: Ints
    weights: Floats
    area: Floats
    stiffness: Floats  # by default [N/m]
    size: Floats  # of faces there [m]


def surface_points(
    body: SoftBody, grid: Grid, contact: VolumeContact, spacing: float, modulus: Floats, *, inside: bool = False,
    finest: int = FINEST,
) -> Points:  # fmt: skip
    """Points of the faces that may touch, so many that what is touched does not slip through.

    They are nodes and places between them; or, if `inside`, inside of the faces, where no edge of the surface is near.
    """
    faces = np.sort(grid.refine(body.mesh.boundary if contact.surface is None else body.patch(contact.surface)), axis=1)
    a, b, c = (grid.points[faces[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    size = np.sqrt(2.0 * area)
    soft = STIFF * modulus[faces].min(axis=1) / size
    longest = np.max([np.linalg.norm(u - v, axis=1) for u, v in ((a, b), (b, c), (c, a))], axis=0)
    parts = np.clip(np.ceil(longest / spacing - 1e-9), 1, finest).astype(np.int64) if np.isfinite(spacing) else 1
    parts = np.broadcast_to(parts, len(faces))
    rows: list[Floats] = []
    for n in np.unique(parts).tolist():
        mine = np.flatnonzero(parts == n)
        bary, share = _inside(n) if inside else _divided(n)
        each = np.repeat(mine, len(bary))
        weight, part = np.tile(bary, (len(mine), 1)), np.tile(share, len(mine)) * area[each]
        rows.append(np.column_stack([faces[each], weight, part, part * soft[each], part * size[each]]))
    return _merged(np.concatenate(rows))


def _spacing(piece: Piece) -> float:
    """Distance [m] of points: as given, or a third of the radius of what is touched; nodes are enough for half-spaces."""
    if piece.contact.spacing is not None:
        return piece.contact.spacing
    sizes = [_radius(row) for row in piece.shapes]
    return FINE * min(sizes)


def _radius(row: Floats) -> float:
    """What tells how finely a shape must be seen [m]: its radius, the least half width of a box, the spacing of a grid."""
    kind = row[SHAPE]
    if kind == HALF_SPACE or row[SIDE] < 0.0:
        return np.inf
    if kind == BOX:
        return float(row[SIZE : SIZE + 3].min() + row[ROUND])
    if kind == CYLINDER:
        return float(row[SIZE : SIZE + 2].min() + row[ROUND])
    if kind == GRID:
        return float(2.0 * row[SIZE + 4] / FINE)
    return float(row[SIZE]) * (BALL if kind == SPHERE else 1.0)


def _divided(n: int) -> tuple[Floats, Floats]:
    """Corners (k, 3), as means of those of a triangle that is divided into n^2 equal ones, and shares of its area (k,)."""
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    inside = i + j <= n
    i, j = i[inside], j[inside]
    on = (i == 0).astype(int) + (j == 0) + (i + j == n)
    small = np.where(on == 2, 1.0, np.where(on == 1, 3.0, 6.0))  # of the small triangles around it
    return np.stack([n - i - j, i, j], axis=1) / n, small / (3.0 * n * n)


def _inside(n: int) -> tuple[Floats, Floats]:
    """Points (3 n^2, 3) inside the n^2 equal triangles that one is divided into, three in each, and shares of its area.

    Products of two linear functions are summed up exactly.
    """
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    up, down = i + j < n, i + j < n - 1
    a = np.stack([i, j], axis=1)
    corners = np.concatenate(
        [a[up, None] + [[0, 0], [1, 0], [0, 1]], a[down, None] + [[1, 1], [0, 1], [1, 0]]]
    )  # (n^2, 3, 2)
    rule = np.full((3, 3), 1.0 / 6.0) + 0.5 * np.eye(3)
    places = (rule @ corners / n).reshape(-1, 2)
    return np.column_stack([1.0 - places.sum(axis=1), places]), np.full(3 * n * n, 1.0 / (3.0 * n * n))


def _merged(rows: Floats) -> Points:
    """The points of rows (r, 9), those of neighbouring faces taken together: nodes, weights, areas, stiffness, sizes."""
    nodes, weights = rows[:, :3].astype(np.int64), rows[:, 3:6]
    nodes = np.where(weights > 0.0, nodes, -1)
    order = np.argsort(nodes, axis=1)
    key = np.column_stack([np.take_along_axis(nodes, order, 1), np.take_along_axis(weights, order, 1).round(9)])
    found, first, where = np.unique(key, axis=0, return_index=True, return_inverse=True)
    total = np.zeros((len(found), 3))
    np.add.at(total, where.ravel(), rows[:, 6:])
    held, weights = found[:, :3].astype(np.int64), np.take_along_axis(weights, order, 1)[first]
    held = np.where(held < 0, held[:, 2:], held)  # the largest node stands for those that have no weight
    order = np.argsort(held, axis=1)
    area, stiffness, size = total.T
    return Points(
        np.ascontiguousarray(np.take_along_axis(held, order, 1)),
        np.ascontiguousarray(np.take_along_axis(weights, order, 1)), area, stiffness, size / area,
    )  # fmt: skip


def law_of(contact: VolumeContact, points: Points) -> Floats:
    """Stiffness [N/m], smooth, damping and friction (k, 4) of points."""
    stiffness = points.stiffness if contact.stiffness is None else contact.stiffness * points.area
    smooth = SMOOTH * points.size if contact.smooth is None else np.full(len(points.area), contact.smooth)
    rest = np.tile([contact.damping, contact.friction], (len(stiffness), 1))
    return np.column_stack([stiffness, smooth, rest])


def points_of(touching: Any, touched: Touched | None, contact: VolumeContact) -> TouchPoints:
    """Places (k, 3) [m] and forces (k, 3) [N] of one contact of a volume, on what it touches."""
    known = [] if touching is None else touching.contacts
    tokens = [own.token for own in known]
    if getattr(contact, "token", None) not in tokens:
        labels = ", ".join(own.label for own in known) or "none"
        raise DescriptionError(f"expected a contact of this volume; it has: {labels}.")
    if touched is None:
        raise DescriptionError(f"{contact.label}: this result does not tell what touched, as it was read from a file.")
    mine = touched.contact == tokens.index(contact.token)
    return TouchPoints(touched.place[mine], touched.force[mine])


class SlidingSolver:
    """A symmetric solver that also knows the tilts U V^T of points that slide, by Woodbury's formula."""

    def __init__(self, base: LinearSolver, size: int) -> None:
        self.base, self.name, self._size = base, base.name, size
        self.count, self.worth = base.count, base.worth
        none = np.zeros((0, 3), dtype=np.int64)
        self.tilts: tuple[Ints, Floats, Floats] = none, np.zeros((0, 3)), np.zeros((0, 6))
        self._at, self._V = none, np.zeros((0, 3, 3))
        self._Y: Floats = np.zeros((0, 3 * size))
        self._inner: Floats = np.zeros((0, 0))

    def factor(self, values: Floats) -> int:
        """Factor the symmetric part; returns its negative pivots."""
        negative = self.base.factor(values)
        self.count = self.base.count
        at, weights, tilt = self.tilts
        if len(at) > MOST_TILTED:
            at, weights, tilt = at[:0], weights[:0], tilt[:0]
        self._at = 3 * at[:, :, None] + np.arange(3)
        self._V = weights[:, :, None] * tilt[:, None, 3:]
        U = np.zeros((len(at), 3 * self._size))
        row = np.broadcast_to(np.arange(len(at))[:, None, None], self._at.shape)
        np.add.at(U, (row, self._at), weights[:, :, None] * tilt[:, None, :3])
        self._Y = self.base.solve(U) if len(at) else U
        self._inner = np.asarray(np.linalg.inv(np.eye(len(at)) + self._across(self._Y).T), dtype=np.float64)
        return negative

    def _across(self, rows: Floats) -> Floats:
        """V^T (m, k) of rows (m, n)."""
        return np.asarray(np.einsum("mkaj,kaj->mk", rows[:, self._at], self._V))

    def solve(self, b: Floats) -> Floats:
        """K^-1 b for the rows of b."""
        out = self.base.solve(b)
        return out - self._across(out) @ self._inner.T @ self._Y if len(self._at) else out

    def gram(self, b: Floats) -> tuple[Floats, Finish]:
        """That of the symmetric part."""
        return self.base.gram(b)


def forbid(body: SoftBody, what: str) -> None:
    """Refuse a body that touches."""
    if body.contacts:
        raise DescriptionError(f"Contact of soft body {body.name!r} is not available for {what} yet: leave it out.")
