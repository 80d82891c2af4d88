"""Descriptions of soft bodies in files of results: a text (JSON) beside the arrays of the mesh, no pickle."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np

from anguilla.describe.material import Material
from anguilla.errors import DescriptionError
from anguilla.fem.body import SoftBody
from anguilla.fem.hyperelastic import Fibres, MooneyRivlin, Ogden, Yeoh
from anguilla.fem.mesh import Floats, Ints, TetMesh
from anguilla.fem.parts import Chamber, Effector, Layer, Moved, PointForce, PointMass, Spring, String, Tendon, Traction
from anguilla.fem.sensing import KINDS as SENSORS
from anguilla.files import Table
from anguilla.store.record import Record

__all__ = ["add_body", "read_body"]

KINDS = (Material, Tendon, Chamber, String, Effector, PointForce, Layer, Traction, Spring, PointMass, Moved)
PARTS = {part.__name__: part for part in (*KINDS, MooneyRivlin, Yeoh, Ogden, Fibres, *SENSORS)}
SETS = ("nodes", "surfaces", "regions")


def add_body(record: Record, body: SoftBody) -> None:
    """Add a body to a record that has its times; forces that are functions become tables at these times.

    If a part is of the user's own type, the facts say why there is no body.
    """
    mesh = body.mesh
    record.add("mesh_points", ("point", "axis"), mesh.points, "m", "points of the mesh at rest")
    record.add("mesh_tets", ("tetrahedron", "corner"), mesh.tets, "", "points at the corners of the tetrahedra")
    record.add("fixed", ("point", "axis"), body.fixed.astype(np.int8), "", "1 where a point is held along an axis")
    text = ""
    try:
        text = json.dumps(_document(body, _Writer(record)))
    except DescriptionError as error:
        record.facts["no_robot_file"] = str(error)
    record.add("body_file", (), np.array(text, dtype=object), "", "the rest of the body: material, parts, named sets")


def _document(body: SoftBody, pack: _Writer) -> dict[str, Any]:
    if body.contacts:
        raise DescriptionError(f"body {body.name!r} touches obstacles, which files of soft bodies do not keep yet.")
    return {
        "name": body.name,
        "law": pack(body.law, "law"),
        "element": body.element,
        "gravity": np.asarray(body.gravity, dtype=np.float64).tolist(),
        "material": pack(body.material, "material"),
        "materials": {key: pack(value, f"material of {key}") for key, value in body.materials.items()},
        "laws": {key: pack(value, f"law of {key}") for key, value in body.laws.items()},
        "natural": {key: value.tolist() for key, value in body.natural.items()},
        "fibres": [pack(value, f"fibres {k}") for k, value in enumerate(body.fibres)],
        "others": [pack(value, f"load {k}") for k, value in enumerate([*body.tractions, *body.springs, *body.masses])],
        "moves": {key: pack(value, f"motion of {key}") for key, value in body.moves.items()},
        "rigid": {key: pack.numbers(value, f"rigid part {key}") for key, value in body.rigid_parts.items()},
        "actuators": {key: pack(value, f"actuator {key}") for key, value in body.actuators.items()},
        "sensors": {key: pack(value, f"sensor {key}") for key, value in body.sensors.items()},
        "effectors": {key: pack(value, f"effector {key}") for key, value in body.effectors.items()},
        "instruments": {key: pack(value, f"sensor {key}") for key, value in body.instruments.items()},
        "loads": [pack(value, f"load {k}") for k, value in enumerate(body.loads)],
        "layers": [pack(value, f"layer {k}") for k, value in enumerate(body.layers)],
        **{
            kind: {key: pack.numbers(value, f"{kind} {key}") for key, value in getattr(body.mesh, kind).items()}
            for kind in SETS
        },
    }


class _Writer:
    """Turns values into what JSON holds; arrays of numbers of points go into the record, and their names stand for them."""

    def __init__(self, record: Record) -> None:
        self.record, self.count = record, 0

    def __call__(self, value: Any, title: str) -> Any:
        if isinstance(value, float) and not np.isfinite(value):
            return {"number": str(value)}  # JSON has no infinity
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, np.ndarray):
            return {"array": self.numbers(value, title)} if value.dtype.kind in "iu" else value.tolist()
        if isinstance(value, (tuple, list)):
            return [self(item, title) for item in value]
        if callable(value):
            t = self.record["time"]
            return {"table": self.numbers(np.array([value(x) for x in t.tolist()], dtype=np.float64), title, "time")}
        if PARTS.get(type(value).__name__) is not type(value):
            raise DescriptionError(f"{title}: a file cannot hold an object of type {type(value).__name__}")
        return {"type": type(value).__name__} | {
            item.name: self(getattr(value, item.name), title) for item in fields(value)
        }

    def numbers(self, values: Floats | Ints, title: str, first: str = "") -> str:
        """Add an array to the record; return its name there."""
        name = f"body_{self.count}"
        self.count += 1
        axes = [f"{name}_{axis}" for axis in range(values.ndim)]
        self.record.add(name, (first, *axes[1:]) if first else tuple(axes), values, "", title)
        return name


def read_body(record: Record) -> SoftBody:
    """Return the body of a record, checked again as when it was described."""
    text = str(record["body_file"].item())
    if not text:
        reason = record.facts.get("no_robot_file", "it has none")
        raise DescriptionError(f"the body is not in the file ({reason}): give it with load(path, robot=body).")
    found = json.loads(text)
    sets = {kind: {key: record[name] for key, name in found[kind].items()} for kind in SETS}
    mesh = TetMesh(record["mesh_points"], record["mesh_tets"], **sets)
    material = _read(found["material"], record)
    law = _read(found["law"], record)
    body = SoftBody(found["name"], mesh, material, law=law, element=found["element"], gravity=found["gravity"])
    body.fixed[:] = record["fixed"] != 0
    for region, value in found["materials"].items():
        own = found.get("laws", {}).get(region)
        body.paint(region, _read(value, record), law=None if own is None else _read(own, record))
    for region, natural in found.get("natural", {}).items():
        body.prestrain(natural, region)
    for value in found.get("fibres", []):
        body.reinforce(_read(value, record))
    for name, value in found.get("moves", {}).items():
        moved = _read(value, record)
        body.move(name, moved.nodes, moved.to)
    for name, value in found["rigid"].items():
        body.rigid(name, record[value])
        body.rigid_parts[name] = record[value]  # in the order in which it was computed
    for kind, add in (("actuators", body.actuate), ("sensors", body.sense), ("effectors", body.effector)):
        for name, value in found[kind].items():
            add(name, _read(value, record))
    for name, value in found.get("instruments", {}).items():
        body.sense(name, _read(value, record))
    for value in [*found["loads"], *found.get("others", [])]:
        body.load(_read(value, record))
    for value in found["layers"]:
        body.cover(_read(value, record))
    return body


def _read(value: Any, record: Record) -> Any:
    """A value as _Writer wrote it."""
    if isinstance(value, list):
        return [_read(item, record) for item in value]
    if not isinstance(value, dict):
        return value
    if "number" in value:
        return float(value["number"])
    if "array" in value:
        return record[value["array"]]
    if "table" in value:
        return Table(record[value["table"]], t=record["time"])
    part = PARTS[value["type"]]
    return part(**{key: _read(item, record) for key, item in value.items() if key != "type"})
