"""Soft volumes on a page that moves by itself: see `page`."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.fem.dynamics import SoftTrajectory
from anguilla.view.mixed import bounds_of, skins_of
from anguilla.view.page import BUDGET, FEWEST_FRAMES, FRAMES_PER_SECOND, MOST_FRAMES, encode, filled, round_number
from anguilla.view.scene import Scene
from anguilla.view.style import COLOURS, TIME_MAP, scaled
from anguilla.view.volume_plots import TITLES, azimuth, scale_of
from anguilla.view.volumes import CHAMBER, TENDON, SoftResult, Volume, thinned, volume

__all__ = ["page_of", "pieces"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
STEPS = 65535  # places along the longest side of the box of the motion: a node is told by three of them
SHARP = 40.0  # [degrees]: faces that meet at more have an edge between them


def page_of(result: SoftResult, colour: str) -> str:
    """The text of the page of a soft volume."""
    if isinstance(result, SoftTrajectory):
        seen = len(np.unique(result.system.grid.refine(result.body.mesh.boundary)))
        afford = int(BUDGET / (seen * 7 * 4 / 3))
        wanted = int(FRAMES_PER_SECOND * float(result.t[-1] - result.t[0])) + 1
        result = thinned(result, max(2, min(afford, max(wanted, FEWEST_FRAMES), MOST_FRAMES)))
    picture = volume(result, colour)
    return filled(picture.name, _told(picture))


def _told(picture: Volume) -> dict[str, Any]:
    low, high = picture.bounds
    for line in picture.lines.values():
        low, high = np.minimum(low, line.min(axis=(0, 1))), np.maximum(high, line.max(axis=(0, 1)))
    size, centre = float(np.linalg.norm(high - low)), 0.5 * (low + high)
    cell = round_number(size / 10.0)
    unit, name = scaled(cell)
    told = {
        "name": picture.name,
        "frames": len(picture.t),
        "t": encode(picture.t),
        "size": size,
        "radius": 0.5 * size,
        "centre": centre.tolist(),
        "low": low.tolist(),
        "azimuth": float(np.radians(azimuth(picture))),
        "cell": cell,
        "cellText": f"{unit * cell:g} {name}",
        "rods": [],
        "solids": [],
        "cables": [],
        "contacts": None,
        "volumes": pieces(picture),
        "lines": [{"colour": TENDON, "points": encode(line)} for line in picture.lines.values()],
        "ramp": _ramp(),
    }
    if picture.quantity:
        factor, text = scale_of(picture)
        least, most = (f"{factor * value:.3g} {text}" for value in picture.limits)
        told["scale"] = {"text": TITLES[picture.quantity], "low": least, "high": most}
    return told


def skins_told(picture: Scene, result: Any, colour: str | None) -> dict[str, Any]:
    """What the page of a robot is told of its soft volumes."""
    skins = skins_of(result, colour)
    low, high = bounds_of(picture, skins)
    size, lines = float(np.linalg.norm(high - low)), [line for skin in skins for line in skin.lines.values()]
    cell = round_number(size / 10.0)
    unit, name = scaled(cell)
    return {
        "size": size, "radius": 0.5 * size, "centre": (0.5 * (low + high)).tolist(), "low": low.tolist(), "cell": cell,
        "cellText": f"{unit * cell:g} {name}", "volumes": [piece for skin in skins for piece in pieces(skin)],
        "lines": [{"colour": TENDON, "points": encode(line)} for line in lines], "ramp": _ramp(),
    }  # fmt: skip


def _ramp() -> list[str]:
    import matplotlib
    from matplotlib.colors import to_hex

    return [to_hex(colour) for colour in matplotlib.colormaps[TIME_MAP](np.linspace(0.0, 1.0, 9))]


def pieces(picture: Volume) -> list[dict[str, Any]]:
    """The outside and the chambers of a volume, as the page draws them."""
    found = [_piece(picture, picture.faces, picture.name, COLOURS[0], glass=False)]
    return found + [
        _piece(picture, faces, name, CHAMBER, glass=True) for name, faces in picture.chambers.items() if len(faces)
    ]


def _piece(picture: Volume, faces: Ints, name: str, colour: str, *, glass: bool) -> dict[str, Any]:
    nodes, local = np.unique(faces, return_inverse=True)
    local = local.reshape(-1, 3)
    index, of = split_at_edges(picture.rest[nodes], local)
    x = picture.x[:, nodes]
    low = x.min(axis=(0, 1))
    step = max(float((x.max(axis=(0, 1)) - low).max()), 1e-300) / STEPS
    moved = np.linalg.norm(x - x[0], axis=2).max(axis=0)
    probe = int(np.argmax(moved if len(picture.t) > 1 else np.linalg.norm(x[0] - picture.rest[nodes], axis=1)))
    told = {
        "name": name,
        "colour": colour,
        "glass": glass,
        "nodes": len(nodes),
        "probe": probe,
        "low": low.tolist(),
        "step": step,
        "index": whole(index, "<u4"),
        "of": whole(of, "<u4"),
        "position": whole(np.round((x - low) / step), "<u2"),
    }
    if picture.quantity and not glass:
        shown = np.stack([picture.shown(k)[nodes] for k in range(len(picture.t))])
        told["values"] = whole(np.round(255.0 * shown), "u1")
    return told


def split_at_edges(points: Array, faces: Ints) -> tuple[Ints, Ints]:
    """Corners (k, 3) of faces as drawn vertices, and the point of each vertex: a point has several where edges are sharp.

    Corners of two faces at a common point are one vertex if the faces share an edge there that is not sharp.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    normal = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    corner = np.arange(3 * len(faces)).reshape(-1, 3)
    ends = corner[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    sides = faces.ravel()[ends]
    turned = sides[:, 0] > sides[:, 1]
    ends[turned], sides[turned] = ends[turned][:, ::-1], sides[turned][:, ::-1]
    order = np.lexsort(sides.T[::-1])
    same = np.flatnonzero(np.all(np.diff(sides[order], axis=0) == 0, axis=1))
    one, two = order[same], order[same + 1]
    flat = np.einsum("ki,ki->k", normal[one // 3], normal[two // 3]) >= np.cos(np.radians(SHARP))
    left, right = ends[one[flat]].ravel(), ends[two[flat]].ravel()
    count = corner.size
    label = connected_components(coo_array((np.ones(len(left)), (left, right)), shape=(count, count)), directed=False)[
        1
    ]
    _, first, vertex = np.unique(label, return_index=True, return_inverse=True)
    return vertex.reshape(-1, 3), faces.ravel()[first]


def whole(array: Any, kind: str) -> dict[str, Any]:
    """Return the shape of an array and its values as unsigned integers of a kind such as "<u2", in base64."""
    values = np.ascontiguousarray(array, dtype=kind)
    return {"shape": list(values.shape), "kind": kind[-2:], "data": base64.b64encode(values.tobytes()).decode("ascii")}
