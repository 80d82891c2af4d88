"""Motions for ParaView: one surface file (.vtp) per instant and a list of them (.pvd).

Points have the number of their part and their arc length, and on rods the strains and the internal forces, in section axes;
each instant has the inputs and tensions of the actuators. Names hold the units.
"""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from anguilla.describe import RodHandle
from anguilla.store.whole import as_target, whole_file
from anguilla.view.scene import Result, Scene, Tube, scene

__all__ = ["HEAD", "Piece", "data_array", "surface_piece", "write_pieces", "write_vtk"]

Array = NDArray[np.float64]
# What a result reads along a rod, and the names of its two halves
FIELDS = {
    "strain": ("curvature [rad per m]", "stretch and shear"),
    "wrench": ("internal moment [N m]", "internal force [N]"),
}
HEAD = '<?xml version="1.0"?>\n<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt32">\n'


def write_vtk(result: Result, path: str | os.PathLike[str], *, sections: int = 48, around: int = 24) -> Path:
    """Write a result for ParaView.

    Args:
        result: a Trajectory or an Equilibrium.
        path: file to write, .pvd; the surfaces go into a folder of the same name beside it.
        sections: number of drawn sections of every rod.
        around: number of points around every section.

    Returns:
        The path of the .pvd file; open this one.

    """
    target = as_target(path, (".pvd",))
    picture, piece = surface_piece(result, sections=sections, around=around)
    return write_pieces(target, picture.t, [piece])


class Piece(NamedTuple):
    """What ParaView shows of a result at every instant, or a part of it."""

    name: str  # at the end of the names of its files
    ending: str  # .vtp, .vtu
    text_of: Callable[[int], str]  # what the file of an instant holds, by its number


def surface_piece(result: Result, *, sections: int = 48, around: int = 24) -> tuple[Scene, Piece]:
    """What is drawn of the rods and bodies of a result, and its surfaces."""
    picture = scene(result, sections=sections, around=around)
    fields, acting = _fields(result, picture), _acting(result, picture)
    return picture, Piece("", ".vtp", lambda k: _surface(picture, k, fields, acting))


def write_pieces(target: Path, t: NDArray[np.float64], pieces: Sequence[Piece]) -> Path:
    """Write a .pvd and, into a folder of the same name beside it, a file of each piece for every instant t (time,) [s]."""
    folder = target.with_suffix("")
    fresh = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    try:
        digits = len(str(len(t)))
        names = [[f"{folder.name}{piece.name}_{k:0{digits}d}{piece.ending}" for piece in pieces] for k in range(len(t))]
        for k, row in enumerate(names):
            for name, piece in zip(row, pieces, strict=True):
                (fresh / name).write_text(piece.text_of(k), encoding="ascii")
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    with whole_file(target) as part:
        entries = "".join(
            f'  <DataSet timestep="{now!r}" part="{part_of}" file={quoteattr(f"{folder.name}/{name}")}/>\n'
            for now, row in zip(t.tolist(), names, strict=True)
            for part_of, name in enumerate(row)
        )
        text = HEAD.format(kind="Collection") + f"<Collection>\n{entries}</Collection>\n</VTKFile>\n"
        part.write_text(text, encoding="utf-8")
    return target


def _fields(result: Result, picture: Scene) -> dict[str, list[Array]]:
    """Fields along every tube (time, m, 3), by name; of bodies, which have none, not a number."""
    rods = {part.name: part for part in result.robot.parts if isinstance(part, RodHandle)}
    found: dict[str, list[Array]] = {name: [] for pair in FIELDS.values() for name in pair}
    for quantity, pair in FIELDS.items():
        for tube in picture.tubes:
            values = np.full((len(picture.t), len(tube.X), 6), np.nan)
            if tube.name in rods:
                X, place = np.unique(np.clip(tube.X, 0.0, rods[tube.name].length), return_inverse=True)
                read = np.reshape(getattr(result, quantity)(rods[tube.name], X), (-1, len(X), 6))
                values = read[:, np.ravel(place)]
            for name, part in zip(pair, (values[..., :3], values[..., 3:]), strict=True):
                found[name].append(part)
    return found


def _acting(result: Result, picture: Scene) -> dict[str, Array]:
    """Numbers of every instant (time,), by name: inputs and tensions of the actuators."""
    found: dict[str, Array] = {}
    given, count = result.inputs_at_states, len(picture.t)
    for name, actuator in result.robot.actuators.items():
        value = given.get(name, 0.0)
        at_times = [float(value(t)) for t in picture.t.tolist()] if callable(value) else value
        found[f"input {name} [{actuator.unit}]"] = np.broadcast_to(np.asarray(at_times, dtype=float), count)
        found[f"tension {name} [N]"] = np.broadcast_to(result.tension(name), count)
    return found


def _surface(picture: Scene, index: int, fields: dict[str, list[Array]], acting: dict[str, Array]) -> str:
    points, quads, part, X, first = [], [], [], [], 0
    for number, tube in enumerate(picture.tubes):
        surface = tube.surface(index)
        m, k, _ = surface.shape
        points.append(surface.reshape(-1, 3))
        quads.append(_quads(m, k) + first)
        part.append(np.full(m * k, number, dtype=np.int32))
        X.append(np.repeat(tube.X, k))
        first += m * k
    caps = _caps(picture.tubes)
    corners = np.concatenate([np.concatenate(quads).ravel(), *caps]).astype(np.int32)
    sizes = [4] * sum(len(q) for q in quads) + [len(cap) for cap in caps]
    where = np.concatenate(points).astype(np.float32)
    polygons = data_array("connectivity", corners) + data_array("offsets", np.cumsum(sizes).astype(np.int32))
    data = data_array("part", np.concatenate(part)) + data_array("X", np.concatenate(X).astype(np.float32))
    around = [tube.outline.shape[1] for tube in picture.tubes]
    for name, tubes in fields.items():
        rows = [np.repeat(values[index], k, axis=0) for values, k in zip(tubes, around, strict=True)]
        data += data_array(name, np.concatenate(rows).astype(np.float32), 3)
    whole = "".join(
        data_array(name, np.full(1, values[index], np.float32), tuples=1) for name, values in acting.items()
    )
    return (
        HEAD.format(kind="PolyData") + f"<PolyData>\n<FieldData>\n{whole}</FieldData>\n"
        f'<Piece NumberOfPoints="{len(where)}" NumberOfVerts="0" '
        f'NumberOfLines="0" NumberOfStrips="0" NumberOfPolys="{len(sizes)}">\n'
        f"<PointData>\n{data}</PointData>\n<Points>\n{data_array('Points', where, 3)}</Points>\n"
        f"<Polys>\n{polygons}</Polys>\n</Piece>\n</PolyData>\n</VTKFile>\n"
    )


def _quads(m: int, k: int) -> NDArray[np.int64]:
    """Corners (n, 4) of the facets between m sections of k points, outwards."""
    here = np.arange((m - 1) * k).reshape(m - 1, k)
    around = np.roll(here, -1, axis=1)
    return np.stack([here, around, around + k, here + k], axis=2).reshape(-1, 4)


def _caps(tubes: tuple[Tube, ...]) -> list[NDArray[np.int64]]:
    """Corners of the first and the last section of every tube, as polygons."""
    caps, first = [], 0
    for tube in tubes:
        m, k = tube.outline.shape[:2]
        caps += [first + np.arange(k)[::-1], first + (m - 1) * k + np.arange(k)]
        first += m * k
    return caps


def data_array(name: str, values: NDArray[np.generic], components: int = 1, tuples: int | None = None) -> str:
    """An array as VTK's XML holds it, in base64; among data of a whole file, with its number of tuples."""
    kind = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "u1": "UInt8"}[values.dtype.str[1:]]
    raw = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()
    text = base64.b64encode(np.array(len(raw), dtype="<u4").tobytes() + raw).decode("ascii")
    count = "" if tuples is None else f' NumberOfTuples="{tuples}"'
    head = f'<DataArray type="{kind}" Name={quoteattr(name)} NumberOfComponents="{components}"{count} format="binary">'
    return f"{head}{text}</DataArray>\n"
