"""Soft volumes in robot files: plain values to a volume, and back.

A mesh is a file, or what one of our shapes makes of a few numbers: ``mesh: finger.msh``, ``mesh: {type: block, size: [...],
cells: [...]}``. Parts of the volume are dictionaries with a type and the fields of their class.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from anguilla.describe.description import did_you_mean
from anguilla.describe.material import Material
from anguilla.errors import DescriptionError
from anguilla.fem import shapes
from anguilla.fem.body_file import PARTS as CLASSES
from anguilla.fem.files import read_mesh
from anguilla.fem.mesh import TetMesh
from anguilla.fem.parts import beyond
from anguilla.files.registry import snake
from anguilla.mixed.volume import Volume

__all__ = ["FIELDS", "check_input", "make_volume", "volume_document"]

PARTS = {snake(name): kind for name, kind in CLASSES.items()}
SHAPES = ("block", "cylinder", "tube", "finger", "parallel_robot", "trunk")
NAMED = {"actuators": "actuate", "sensors": "sense", "effectors": "effector"}
LISTS = {"loads": "load", "layers": "cover", "fibres": "reinforce"}
FIELDS = ("mesh", "material", "law", "element", "materials", "laws", "prestrain", *NAMED, *LISTS)
HELD_BY_FRAMES = ("moves", "rigid_parts")  # in a robot, frames do that


def make_volume(name: str, given: Mapping[str, Any], folder: Path | None) -> Volume:
    """A volume from the plain values of its fields; files are looked for in a folder."""
    for key in ("mesh", "material"):
        if key not in given:
            raise DescriptionError(f"volume {name!r}: {key} is missing.")
    mesh, material = _mesh(given["mesh"], folder), _part(given["material"], "material", Material)
    law = given.get("law", "corotational")
    law = law if isinstance(law, str) else _part(law, "law")
    body = Volume(mesh, material, name=name, law=law, element=given.get("element", "linear"))
    laws = given.get("laws", {})
    for region, painted in given.get("materials", {}).items():
        own = _part(laws[region], f"laws.{region}") if region in laws else None
        body.paint(region, _part(painted, f"materials.{region}", Material), law=own)
    for region in laws:
        if region not in body.materials:
            raise DescriptionError(f"laws.{region}: the region has no material of its own in materials.")
    for k, grown in enumerate(given.get("prestrain", [])):
        if not isinstance(grown, Mapping) or "natural" not in grown or set(grown) - {"natural", "region"}:
            raise DescriptionError(f"prestrain[{k}] must be {{natural: [...], region: ...}}; got {grown!r}.")
        body.prestrain(grown["natural"], grown.get("region", ""))
    for section, method in NAMED.items():
        for key, value in given.get(section, {}).items():
            getattr(body, method)(key, _part(value, f"{section}.{key}"))
    for section, method in LISTS.items():
        for k, value in enumerate(given.get(section, [])):
            getattr(body, method)(_part(value, f"{section}[{k}]"))
    return body


def check_input(volume: Volume, name: str, value: float) -> None:
    """Refuse an input of a volume, a number, beyond the limits of its actuator."""
    part = volume.actuators[name]
    if not part.force[0] <= value <= part.force[1]:
        raise DescriptionError(f"{beyond(name, part, value)}.")


def _mesh(given: Any, folder: Path | None) -> TetMesh:
    if isinstance(given, str):
        given = {"file": given}
    if not isinstance(given, Mapping) or ("file" in given) == ("type" in given):
        raise DescriptionError("mesh must be the name of a file, or {type: block, size: [...], cells: [...]}.")
    if "file" in given:
        if folder is None:
            raise DescriptionError("mesh: a text cannot name files; read it from a file.")
        path = (folder / str(given["file"])).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise DescriptionError(f"mesh: {given['file']!r} must lie in the folder of the robot file, or below.")
        mesh = read_mesh(path, **{key: value for key, value in given.items() if key != "file"})
        object.__setattr__(mesh, "source", dict(given))
        return mesh
    rest = {key: value for key, value in given.items() if key != "type"}
    if given["type"] not in SHAPES:
        raise DescriptionError(
            f"mesh: type must be one of {', '.join(SHAPES)}; got {given['type']!r}{did_you_mean(str(given['type']), SHAPES)}."
        )
    found: TetMesh = getattr(shapes, given["type"])(**rest)
    return found


def _part(given: Any, path: str, kind: type | None = None) -> Any:
    """An object from a dictionary with its type and fields."""
    if not isinstance(given, Mapping):
        raise DescriptionError(f"{path} must be a dictionary with a type and its fields; got {given!r}.")
    name = given.get("type", None if kind is None else snake(kind.__name__))
    if name not in PARTS:
        close = did_you_mean(str(name), PARTS)
        raise DescriptionError(f"{path}: type must be one of {', '.join(PARTS)}; got {name!r}{close}.")
    rest = {key: value for key, value in given.items() if key != "type"}
    known = inspect.signature(PARTS[name]).parameters
    for key in rest:
        if key not in known:
            raise DescriptionError(
                f"{path}: {name} has no field {key!r}{did_you_mean(key, known)}; it has: {', '.join(known)}."
            )
    try:
        return PARTS[name](**rest)
    except TypeError as error:
        raise DescriptionError(f"{path}: {error}.") from None


# back -----------------------------------------------------------------------------------------------------------------


def volume_document(body: Volume) -> dict[str, Any]:
    """The fields of a volume as plain values; what a file cannot hold is refused."""
    name = body.name
    for what in HELD_BY_FRAMES:
        if getattr(body, what):
            raise DescriptionError(f"volume {name!r}: robot files do not hold its {what.replace('_', ' ')} yet.")
    found: dict[str, Any] = {"mesh": _source(body), "material": _plain(body.material, f"volume {name!r}: material")}
    found["material"].pop("type")
    if body.law != "corotational":
        found["law"] = body.law if isinstance(body.law, str) else _plain(body.law, f"volume {name!r}: law")
    if body.element != "linear":
        found["element"] = body.element
    title = lambda section, key: f"volume {name!r}: {section}.{key}"
    found["materials"] = {key: _plain(value, title("materials", key)) for key, value in body.materials.items()}
    found["laws"] = {key: _plain(value, title("laws", key)) for key, value in body.laws.items()}
    grown = [{"natural": _plain(value, name)} | ({"region": key} if key else {}) for key, value in body.natural.items()]
    found["prestrain"] = grown
    for section in NAMED:
        found[section] = {key: _plain(value, title(section, key)) for key, value in getattr(body, section).items()}
    loads = [*body.loads, *body.tractions, *body.springs, *body.masses]
    lists: dict[str, list[Any]] = {"loads": loads, "layers": list(body.layers), "fibres": list(body.fibres)}
    for section, values in lists.items():
        found[section] = [_plain(value, title(section, k)) for k, value in enumerate(values)]
    return {key: value for key, value in found.items() if value not in ({}, [])}


def _source(body: Volume) -> dict[str, Any]:
    """What the mesh was made of, if it is still as it was made."""
    source = body.mesh.source
    if source is None:
        raise DescriptionError(
            f"volume {body.name!r}: its mesh is neither one of our shapes nor read from a file: write it with fem.write_mesh "
            "and read it with fem.read_mesh, then the robot file can name it."
        )
    if "type" in source:
        again = getattr(shapes, source["type"])(**{key: value for key, value in source.items() if key != "type"})
        if not (np.array_equal(again.points, body.mesh.points) and np.array_equal(again.tets, body.mesh.tets)):
            raise DescriptionError(f"volume {body.name!r}: its mesh was changed after it was made.")
    return dict(source)


def _plain(value: Any, title: str) -> Any:
    """A value as files hold it: objects are dictionaries with the fields that are not as by default."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (np.integer, np.floating)):
        return value.item()
    if isinstance(value, (tuple, list)):
        return [_plain(item, title) for item in value]
    if callable(value) or PARTS.get(snake(type(value).__name__)) is not type(value):
        kind = "a function written in Python" if callable(value) else f"an object of type {type(value).__name__}"
        raise DescriptionError(f"{title}: a robot file cannot hold {kind}.")
    found = {"type": snake(type(value).__name__)}
    for item in dataclasses.fields(value):
        own, default = getattr(value, item.name), item.default
        if item.default_factory is not dataclasses.MISSING:
            default = item.default_factory()
        if default is dataclasses.MISSING or not _same(own, default):
            found[item.name] = _plain(own, title)
    return found


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is not None and b is not None and np.array_equal(a, b)
    return bool(type(a) is type(b) and a == b) or a is b
