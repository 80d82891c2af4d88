"""From descriptions back to plain values: the fields that differ from their defaults, with the type's name."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.describe.basis import Legendre
from anguilla.describe.frames import Frame, Part
from anguilla.describe.load import Load
from anguilla.describe.obstacles import Obstacle
from anguilla.describe.piecewise import FunctionBasis
from anguilla.describe.ports import Along, Port, Spread
from anguilla.describe.rod import Rod
from anguilla.describe.section import CrossSection
from anguilla.describe.strains import Strains
from anguilla.describe.varying import Tapered, taper
from anguilla.errors import DescriptionError
from anguilla.files.expressions import Expression, Table
from anguilla.files.places import MovingPose
from anguilla.files.registry import Maker, makers, snake, variables
from anguilla.files.template import Template

__all__ = ["Unmaker", "frame_text", "pose_text", "same"]

SAMPLES_ALONG = 201  # of a function of arc length that is written as a table


class Unmaker:
    """Turns objects into plain values of a file.

    Args:
        times: instants (nt,) [s] at which functions of time are sampled; None to refuse functions written in Python.
        names: names of definitions by the identity of the objects they stand for.

    Attributes:
        sampled: the fields that were replaced by tables.

    """

    def __init__(self, times: NDArray[np.float64] | None = None) -> None:
        self.times = times
        self.names: dict[int, str] = {}
        self.sampled: list[str] = []
        self.length = 1.0  # of the rod a function of X belongs to [m]

    def value(self, value: Any, path: str, given: tuple[str, ...] = ("t",)) -> Any:
        """Return the plain value of a field."""
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, (int, np.integer)):
            return int(value)
        if isinstance(value, (float, np.floating)):
            return float(value)
        if isinstance(value, np.ndarray):
            return value.tolist()
        if isinstance(value, Expression):
            return value.text
        if isinstance(value, Table):
            return {
                "type": "table",
                **{k: p.tolist() for k, p in value.points.items()},
                "values": value.values.tolist(),
            }
        if isinstance(value, MovingPose):
            fields = {k: self.value(v, f"{path}.{k}") for k, v in value.fields.items()}
            return fields["pose"] if "pose" in fields else fields
        if isinstance(value, Template):
            return {"type": value.type, **{k: self.value(v, f"{path}.{k}") for k, v in value.fields.items()}}
        if isinstance(value, Along):
            return self.value(value.port, path) | {"along": list(value.direction)}
        if isinstance(value, Spread):
            raise DescriptionError(f"{path} is an input spread along a rod, which a file cannot hold.")
        if isinstance(value, Port):
            return {"input": value.name} | ({"unit": value.unit} if value.unit else {})
        if isinstance(value, Frame):
            return frame_text(value)
        if isinstance(value, Part):
            return value.name
        if isinstance(value, (list, tuple)):
            return [self.value(item, f"{path}[{k}]", given) for k, item in enumerate(value)]
        if type(value).__module__.startswith("anguilla.") or dataclasses.is_dataclass(value):
            return self.object(value, path)
        if callable(value):
            return self._function(value, path, given)
        raise DescriptionError(f"{path} holds a {type(value).__name__}, which a file cannot hold.")

    def object(self, thing: Any, path: str) -> Any:
        """Return the dictionary of an object, or the name of its definition."""
        if id(thing) in self.names:
            return self.names[id(thing)]
        if isinstance(thing, Strains):
            bases = {name: self.object(basis, f"{path}.{name}") for name, basis in thing.items()}
            return bases
        if type(thing) is Legendre:
            return thing.n
        if isinstance(thing, FunctionBasis):
            return self._function_basis(thing, path)
        if isinstance(thing, Tapered):
            return self._tapered(thing, path)
        fields = self._fields(thing, path)
        return thing.file_form(fields) if isinstance(thing, Load | Obstacle) else fields

    def _fields(self, thing: Any, path: str) -> dict[str, Any]:
        known = {maker.make: maker for maker in makers()}
        if type(thing) not in known or not dataclasses.is_dataclass(thing):
            raise DescriptionError(f"{path} is a {type(thing).__name__}, a type that files do not know.")
        maker: Maker = known[type(thing)]
        found: dict[str, Any] = {"type": maker.name}
        for field in dataclasses.fields(thing):
            value = getattr(thing, field.name)
            if not field.init or same(value, _default(field)):
                continue
            if field.name == "strains" and isinstance(thing, Rod) and thing.strains_from_shape:
                continue
            found[field.name] = self.value(value, f"{path}.{field.name}", variables(maker, field.name))
            takes = maker.fields.get(field.name)
            if takes and takes.form.body and isinstance(value, Frame) and found[field.name] == value.part.name:
                found[field.name] += ".frame"  # the name alone would be the body
        return found

    def _function(self, function: Callable[..., Any], path: str, given: tuple[str, ...]) -> Any:
        """A function written in Python: a table of its values, or a refusal."""
        if self.times is None:
            raise DescriptionError(
                f"{path} is a function written in Python, which a file cannot hold: give it as an Expression, such as "
                f"ag.Expression('5 * sin(t)'), or as an ag.Table."
            )
        count = len(inspect.signature(function).parameters)
        names = given if len(given) == 1 else tuple(given[:count])
        axes: dict[str, NDArray[np.float64]] = {}
        if "t" in names:
            axes["t"] = np.asarray(self.times, dtype=np.float64)
        for name, end in (("X", self.length), ("x", 1.0)):
            if name in names:
                axes[name] = np.linspace(0.0, end, SAMPLES_ALONG)
        self.sampled.append(path)
        return {"type": "table", **{k: p.tolist() for k, p in axes.items()}, "values": _sample(function, names, axes)}

    def _function_basis(self, basis: FunctionBasis, path: str) -> dict[str, Any]:
        functions = [self.value(f, f"{path}.functions[{k}]", ("x",)) for k, f in enumerate(basis.functions)]
        found: dict[str, Any] = {"type": "function_basis", "functions": functions, "degree": basis.degree}
        return found | ({"breakpoints": list(basis.breakpoints)} if basis.breakpoints else {})

    def _tapered(self, section: Tapered, path: str) -> dict[str, Any]:
        if isinstance(section.function, Template):
            found: dict[str, Any] = {"type": "tapered", "function": self.value(section.function, f"{path}.function")}
            return found | ({"breakpoints": list(section.breakpoints)} if section.breakpoints else {})
        ends = _linear_taper(section)
        if ends is not None:
            root, tip, length = ends
            return {"type": "taper", "root": self.object(root, path), "tip": self.object(tip, path), "length": length}
        return self._sampled_section(section, path)

    def _sampled_section(self, section: Tapered, path: str) -> dict[str, Any]:
        """A section known only to a function in Python: tables of the dimensions it takes."""
        if self.times is None:
            raise DescriptionError(
                f"{path}.function is a function written in Python, which a file cannot hold: use taper(), or give the "
                f"dimensions as formulas, as in Tapered(Template('circle', radius='0.02 - 0.03 * X'))."
            )
        X = np.linspace(0.0, self.length, SAMPLES_ALONG)
        made = [section.section(float(x)) for x in X]
        kind = type(made[0])
        if any(type(one) is not kind for one in made) or not dataclasses.is_dataclass(kind):
            raise DescriptionError(f"{path} changes its type along the rod, which a file cannot hold.")
        self.sampled.append(f"{path}.function")
        names = [f.name for f in dataclasses.fields(kind) if getattr(made[0], f.name) is not None]
        table = {n: {"type": "table", "X": X.tolist(), "values": [getattr(one, n) for one in made]} for n in names}
        found = {"type": "tapered", "function": {"type": snake(kind.__name__), **table}}
        return found | ({"breakpoints": list(section.breakpoints)} if section.breakpoints else {})


def _sample(function: Callable[..., Any], names: Sequence[str], axes: dict[str, NDArray[np.float64]]) -> list[Any]:
    def at(t: float | None, place: float | None) -> Any:
        values = [t if name == "t" else place for name in names]
        return np.asarray(function(*values), dtype=np.float64).tolist()

    along = axes.get("X", axes.get("x"))
    if "t" not in axes:
        return [at(None, float(place)) for place in along] if along is not None else []
    if along is None:
        return [at(float(t), None) for t in axes["t"]]
    return [[at(float(t), float(place)) for place in along] for t in axes["t"]]


def _linear_taper(section: Tapered) -> tuple[CrossSection, CrossSection, float] | None:
    """(root, tip, length) if a section is what taper() makes of them, to the last digit at many places."""
    if len(section.breakpoints) != 1:
        return None
    (length,) = section.breakpoints
    root, tip = section.section(0.0), section.section(length)
    try:
        again = taper(root, tip, length)
    except DescriptionError:
        return None
    places = np.linspace(0.0, 1.2 * length, 41)
    return (root, tip, length) if all(again.section(x) == section.section(x) for x in places) else None


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else dataclasses.MISSING


def same(a: Any, b: Any) -> bool:
    """Whether two values of a field are the same; zero stands for as many zeros."""
    if callable(a) or callable(b):
        return a is b
    try:
        if isinstance(a, (tuple, list, np.ndarray)) and isinstance(b, (int, float)):
            return all(same(item, b) for item in a)
        return bool(np.all(a == b)) and np.shape(a) == np.shape(b)
    except (TypeError, ValueError):
        return False


def frame_text(frame: Frame) -> Any:
    """A frame as a file names it."""
    if frame.is_ground:
        name = "ground"
    elif isinstance(frame.place, str):
        name = frame.part.name if frame.place == "frame" else f"{frame.part.name}.{frame.place}"
    else:
        name = f"{frame.part.name}[{frame.place!r}]"
    if frame.offset is None:
        return name
    pose = pose_text(frame.offset_pose)
    return {"frame": name, **(pose if isinstance(pose, dict) else {"position": pose})}


def pose_text(pose: NDArray[np.float64]) -> Any:
    """A pose as a position, with a matrix if it turns."""
    position = [float(x) for x in pose[:3, 3]]
    if np.array_equal(pose[:3, :3], np.eye(3)):
        return position
    return {"position": position, "matrix": [[float(x) for x in row] for row in pose[:3, :3]]}
