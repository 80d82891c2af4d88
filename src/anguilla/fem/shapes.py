"""Built-in shapes: block, cylinder, tube, a finger with a chamber, a parallel robot, a bellows trunk."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe.plausible import check_volume
from anguilla.errors import DescriptionError, as_array, as_count, as_positive, refuse
from anguilla.fem.lattice import lattice
from anguilla.fem.mesh import Floats, TetMesh

P = ParamSpec("P")

__all__ = ["block", "cylinder", "finger", "parallel_robot", "trunk", "tube"]


def _counts(cells: object, n: int, name: str) -> tuple[int, ...]:
    values = np.atleast_1d(np.asarray(cells)).tolist()
    if len(values) != n:
        raise refuse(name, f"{n} integers", cells)
    return tuple(as_count(value, name) for value in values)


def _sizes(size: ArrayLike, n: int, name: str) -> Floats:
    values = as_array(size, name, f"{n} positive numbers [m]")
    if values.shape != (n,) or np.any(values <= 0.0):
        raise refuse(name, f"{n} positive numbers [m]", size)
    return values


def _ends(shape: tuple[int, int, int], axis: int = 0, closed: bool = False) -> dict[str, np.ndarray]:
    """Masks of the first and last layer of lattice points along an axis: "base" and "tip"."""
    points = tuple(n + 1 - (closed and a == 1) for a, n in enumerate(shape))
    number = np.indices(points)[axis]
    return {"base": number == 0, "tip": number == shape[axis]}


def _recorded(make: Callable[P, TetMesh]) -> Callable[P, TetMesh]:
    """Let a mesh remember the shape and the arguments that it was made of."""
    signature = inspect.signature(make)

    @wraps(make)
    def made(*args: P.args, **named: P.kwargs) -> TetMesh:
        mesh, given = make(*args, **named), signature.bind(*args, **named).arguments
        check_volume(f"The mesh of fem.{make.__name__}", float(np.ptp(mesh.points, axis=0).max()))
        plain = {key: np.asarray(value).tolist() for key, value in given.items() if value is not None}
        object.__setattr__(mesh, "source", {"type": make.__name__, **plain})
        return mesh

    return made


@_recorded
@public
def block(size: ArrayLike, cells: ArrayLike) -> TetMesh:
    """A box along x from 0 to its length, centred in y and z; named points "base" (x = 0) and "tip".

    Args:
        size: length, width (y) and height (z) [m].
        cells: number of boxes along each; every box is cut into six tetrahedra.

    """
    length = _sizes(size, 3, "block.size")
    count = np.array(_counts(cells, 3, "block.cells"))
    shape = (int(count[0]), int(count[1]), int(count[2]))
    return lattice(shape, lambda g: (g / count - [0.0, 0.5, 0.5]) * length, nodes=_ends(shape))


@_recorded
@public
def cylinder(length: float, radius: float, cells: tuple[int, int] = (20, 4)) -> TetMesh:
    """A round bar along x from 0 to its length [m]; named points "base" and "tip".

    Args:
        length: length [m].
        radius: radius [m].
        cells: number of boxes along the axis, and across the diameter (even).

    """
    length, radius = as_positive(length, "cylinder.length", "m"), as_positive(radius, "cylinder.radius", "m")
    along, across = _counts(cells, 2, "cylinder.cells")
    if across % 2:
        raise refuse("cylinder.cells[1]", "an even number of boxes across the diameter", across)
    shape = (along, across, across)

    def place(g: Floats) -> Floats:
        u = 2.0 * g[:, 1:] / across - 1.0
        edge, norm = np.abs(u).max(axis=1, keepdims=True), np.linalg.norm(u, axis=1, keepdims=True)
        # squares become circles towards the rim; the core stays square, so that no cell degenerates
        disc = u * np.where(norm > 0.0, 1.0 - edge + edge * edge / np.maximum(norm, 1e-300), 1.0)
        return np.concatenate([g[:, :1] / along * length, radius * disc], axis=1)

    side = (np.arange(across) < across // 2).astype(np.int64)  # cuts run from the axis to the corners of the square
    return lattice(shape, place, flips=(np.arange(along) % 2, side, side), nodes=_ends(shape))


@_recorded
@public
def tube(length: float, inner: float, outer: float, cells: tuple[int, int, int] = (20, 12, 2)) -> TetMesh:
    """A tube along x from 0 to its length [m]; named points "base" and "tip".

    Args:
        length: length [m].
        inner: inner radius [m].
        outer: outer radius [m].
        cells: number of boxes along the axis, around (even) and through the wall.

    """
    length, inner = as_positive(length, "tube.length", "m"), as_positive(inner, "tube.inner", "m")
    outer = as_positive(outer, "tube.outer", "m")
    if outer <= inner:
        raise refuse("tube.outer", f"greater than the inner radius {inner:g} m", outer)
    along, around, through = _counts(cells, 3, "tube.cells")
    if around % 2 or around < 4:
        raise refuse("tube.cells[1]", "an even number of boxes, at least 4", around)

    def place(g: Floats) -> Floats:
        r, angle = inner + (outer - inner) * g[:, 2] / through, 2.0 * np.pi * g[:, 1] / around
        return np.stack([g[:, 0] / along * length, r * np.cos(angle), r * np.sin(angle)], axis=1)

    shape = (along, around, through)
    return lattice(shape, place, closed=True, nodes=_ends(shape, closed=True))


@_recorded
@public
def finger(
    size: ArrayLike = (0.1, 0.02, 0.02), *, wall: float = 3e-3, cap: float = 8e-3, offset: float = 2e-3,
    cells: tuple[int, int, int] = (20, 2, 2),
) -> TetMesh:  # fmt: skip
    """A box along x with one closed chamber inside, above its middle; pressure bends the finger down.

    Named points "base", "tip"; named surface "chamber".

    Args:
        size: length, width (y) and height (z) [m].
        wall: thickness of the side and upper walls [m].
        cap: thickness of the two ends [m].
        offset: how much thicker the lower wall is than the upper one [m].
        cells: boxes along the chamber, across its width and across its height; walls are one box thick.

    """
    length, width, height = _sizes(size, 3, "finger.size")
    wall, cap = as_positive(wall, "finger.wall", "m"), as_positive(cap, "finger.cap", "m")
    inside = np.array([length - 2 * cap, width - 2 * wall, height - 2 * wall - offset])
    if np.any(inside <= 0.0) or wall + offset <= 0.0:
        raise DescriptionError(f"finger: walls leave no room for the chamber; it would be {inside.tolist()} m.")
    count = _counts(cells, 3, "finger.cells")
    low = [0.0, -width / 2, -height / 2]
    first = [cap, -width / 2 + wall, -height / 2 + wall + offset]
    high = [length, width / 2, height / 2]
    lines = [
        np.concatenate([[low[a]], np.linspace(first[a], first[a] + inside[a], count[a] + 1), [high[a]]])
        for a in range(3)
    ]
    shape = (count[0] + 2, count[1] + 2, count[2] + 2)
    hole = np.zeros(shape, dtype=bool)
    hole[1:-1, 1:-1, 1:-1] = True

    def place(g: Floats) -> Floats:
        return np.stack([lines[a][g[:, a].astype(int)] for a in range(3)], axis=1)

    return lattice(shape, place, keep=~hole, nodes=_ends(shape), holes={"chamber": hole})


@_recorded
@public
def parallel_robot(
    size: ArrayLike = (0.18, 0.18, 0.13), *, hub: float = 0.03, thickness: float = 0.014, along: int = 16, across: int = 2,
) -> TetMesh:  # fmt: skip
    """The four-legged parallel robot of 002 figure 11: two hubs, one above the other, joined by four bent legs.

    Each leg leaves the lower hub outwards, turns at an elbow, and comes back to the upper hub. Named points: "base"
    (underside of the lower hub), "top" (upper face of the upper hub), and "elbow_east", "elbow_north", "elbow_west",
    "elbow_south".

    Args:
        size: outer size along x, y and z [m]; 002 gives 180 x 180 x 130 mm.
        hub: side of the square hubs, and width of the legs [m].
        thickness: height of the legs [m].
        along: boxes along each half of a leg.
        across: boxes across the width, and across the thickness, of a leg.

    """
    width, depth, height = _sizes(size, 3, "parallel_robot.size")
    hub, thickness = (
        as_positive(hub, "parallel_robot.hub", "m"),
        as_positive(thickness, "parallel_robot.thickness", "m"),
    )
    along, across = as_count(along, "parallel_robot.along", 3), as_count(across, "parallel_robot.across")
    if hub > 0.4 * min(width, depth) or 3 * thickness > height:
        raise DescriptionError("parallel_robot: hub and thickness must be small against the size.")
    side = 2 * along + across
    ends = 2  # boxes at the end of a leg that join its two halves
    shape = (side, side, 2 * across + 1)
    i, j, k = np.indices(shape)
    middle = lambda n: (n >= along) & (n < along + across)
    keep = (middle(i) | middle(j)) & (k != across)
    for n, other in ((i, j), (j, i)):
        keep |= ((n < ends) | (n >= side - ends)) & middle(other)

    def radius(n: Floats, size: float) -> Floats:
        """Position along one axis: boxes of the hub in the middle, of the legs on both sides."""
        c = n - side / 2
        leg = (np.abs(c) - across / 2) / along
        return np.sign(c) * np.where(leg <= 0.0, np.abs(c) / across * hub, hub / 2 + leg * (size - hub) / 2)

    def place(g: Floats) -> Floats:
        x, y = radius(g[:, 0], width), radius(g[:, 1], depth)
        reach = np.maximum((np.abs(x) - hub / 2) / (width - hub), (np.abs(y) - hub / 2) / (depth - hub)) * 2.0
        inner = 1.0 - ends / along
        # a gap of one thickness at the elbow
        rise = np.clip(reach / inner, 0.0, 1.0) * (height - 3.0 * thickness) / 2.0
        lower = rise + thickness * np.minimum(g[:, 2], across) / across
        upper = height - rise - thickness * np.minimum(2 * across + 1 - g[:, 2], across) / across
        return np.stack([x, y, np.where(g[:, 2] <= across, lower, upper)], axis=1)

    pi, pj, pk = np.indices((side + 1, side + 1, 2 * across + 2))
    in_hub = (abs(pi - side / 2) <= across / 2) & (abs(pj - side / 2) <= across / 2)
    nodes = {"base": in_hub & (pk == 0), "top": in_hub & (pk == 2 * across + 1)}
    for name, mask in (("east", pi == side), ("north", pj == side), ("west", pi == 0), ("south", pj == 0)):
        nodes[f"elbow_{name}"] = mask
    return lattice(shape, place, keep=keep, nodes=nodes)


@_recorded
@public
def trunk(
    *, length: float = 0.206, base: float = 0.05, tip: float = 0.04, inner: float = 0.014, wall: float = 1.5e-3,
    depth: float = 5e-3, folds: int = 5, around: int = 3,
) -> TetMesh:  # fmt: skip
    """A bellows trunk along z in two sections of three chambers each, of the size of the CBHA of 002 figure 4.

    Each chamber is a bellows of its own, folded on all sides; those of a section are joined by plates at its ends. Named
    points "base", "middle" (between the sections), "tip"; named surfaces "chamber_1" to "chamber_6", 1 to 3 in the lower
    section at 0, 120 and 240 degrees from x, 4 to 6 in the upper one.

    Args:
        length: total length [m]; each section has half of it.
        base: outer radius at the base [m].
        tip: outer radius at the tip [m].
        inner: radius of the hollow in the middle [m].
        wall: thickness of the walls [m]; the plates are three times as thick.
        depth: depth of the folds [m].
        folds: folds of a section.
        around: boxes around the inside of each chamber (odd).

    """
    length, base, tip = (
        as_positive(v, f"trunk.{n}", "m") for v, n in ((length, "length"), (base, "base"), (tip, "tip"))
    )
    inner, wall = as_positive(inner, "trunk.inner", "m"), as_positive(wall, "trunk.wall", "m")
    depth, folds = as_positive(depth, "trunk.depth", "m"), as_count(folds, "trunk.folds")
    sector = as_count(around, "trunk.around") + 3  # two side walls, and the gap to the next chamber
    if sector % 2:
        raise refuse("trunk.around", "an odd number of boxes", around)
    if min(base, tip) - inner - 2 * depth <= 3 * wall:
        raise DescriptionError("trunk: inner, wall and depth leave no room for the chambers.")
    plate, half = 3 * wall, length / 2
    section = np.concatenate([[0.0], np.linspace(plate, half - plate, 2 * folds + 1)])
    z = np.concatenate([section, half + section, [length]])
    waist = np.concatenate([[0.0], np.arange(2 * folds + 1) % 2])
    waist = np.concatenate([waist, waist, [0.0]]) * depth
    shape = (len(z) - 1, 3 * sector, 3)
    k, t, r = np.indices(shape)
    layer = 2 * folds + 2  # boxes of a section
    in_plate = (k % layer == 0) | (k % layer == layer - 1)
    gap = ~in_plate & (t % sector == sector - 1)
    inside = ~in_plate & (t % sector >= 1) & (t % sector <= around) & (r == 1)
    holes = {}
    for number in range(6):
        mine = (k < layer) == (number < 3)
        holes[f"chamber_{number + 1}"] = inside & mine & (t // sector == number % 3)

    def place(g: Floats) -> Floats:
        level, ring, step = g[:, 0].astype(int), g[:, 2].astype(int), g[:, 1].astype(int)
        outside = base + (tip - base) * z[level] / length - waist[level]
        hollow = inner + waist[level]
        radius = np.choose(ring, [hollow, hollow + wall, outside - wall, outside])
        # half angle of a chamber and of its inside, both drawn in at the waists
        middle = 0.5 * (base + tip) / 2.0 + inner / 2.0
        whole = np.pi / 3 - (0.5 * wall + waist[level]) / middle
        bore = whole - wall / middle
        place_in = step % sector
        part = np.clip((place_in - 1) / around, 0.0, 1.0)
        angle = np.where(place_in == 0, -whole, np.where(place_in > around + 1, whole, bore * (2.0 * part - 1.0)))
        angle = angle + 2 * np.pi / 3 * (step // sector)
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), z[level]], axis=1)

    points = np.indices((shape[0] + 1, shape[1], 4))[0]
    nodes = {"base": points == 0, "middle": points == layer, "tip": points == shape[0]}
    return lattice(shape, place, keep=~(inside | gap), closed=True, nodes=nodes, holes=holes)
