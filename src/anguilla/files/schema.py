"""The JSON schema of robot files, for editors: made of the same registry that reads them."""

from __future__ import annotations

from typing import Any

from anguilla._doors import public
from anguilla.describe.actuators import Actuator
from anguilla.describe.bodies import RigidBody
from anguilla.describe.joints import Joint
from anguilla.describe.rod import Rod
from anguilla.files.places import POSE
from anguilla.files.read import CHOICES, METHODS, NAMED, OBJECTS, SETTINGS, VERSION, kinds_of
from anguilla.files.registry import Form, Maker, candidates, makers, snake

__all__ = ["robot_schema"]

NUMBER = {"type": ["number", "string"], "description": "a number, or a formula of the parameters"}
FRAME = {"$ref": "#/$defs/frame"}


@public
def robot_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of robot files, with units and descriptions of all fields."""
    kinds: dict[str, tuple[type, ...]] = {}
    for maker in makers():
        for field in maker.fields.values():
            for group in (field.form.kinds, field.form.template):
                for kind in group:
                    kinds[snake(kind.__name__)] = (kind,)
    given = [kind for method in OBJECTS.values() for kind in kinds_of(method)]
    for kind in (Rod, RigidBody, Joint, Actuator, *(kind for _, kind in NAMED.values()), *given):
        kinds[snake(kind.__name__)] = (kind,)
    definitions = {name: _union(kind) for name, kind in kinds.items()}
    definitions |= {_key(maker): _object(maker) for maker in makers()}
    definitions["frame"] = {
        "description": "ground, arm.root, arm.tip, arm[0.25], hand; or a frame with an offset",
        "oneOf": [
            {"type": "string"},
            {"type": "object", "properties": {"frame": {}, **_pose()}, "required": ["frame"]},
        ],
    }
    definitions["pose"] = {
        "oneOf": [_numbers("x, y, z [m], or a 4x4 matrix"), {"type": "object", "properties": _pose()}]
    }
    definitions["table"] = _table()
    definitions["input"] = _input()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Robot file of Anguilla",
        "type": "object",
        "additionalProperties": False,
        "properties": _sections(),
        "$defs": definitions,
    }


def _key(maker: Maker) -> str:
    return f"{snake(maker.kind.__name__)}.{maker.name}"


def _union(kinds: tuple[type, ...]) -> dict[str, Any]:
    named = {"type": "string", "description": "the name of a definition, or of a type without fields"}
    options = [{"$ref": f"#/$defs/{_key(maker)}"} for maker in candidates(kinds).values()]
    return {"anyOf": [named, *options]}


def _object(maker: Maker) -> dict[str, Any]:
    properties: dict[str, Any] = {"type": {"const": maker.name}}
    for name, field in maker.fields.items():
        described = dict(_field(field.form))
        if field.text:
            described["description"] = field.text
        if field.unit:
            described["x-unit"] = field.unit
        if isinstance(field.default, (bool, int, float, str)):
            described["default"] = field.default
        properties[name] = described
    own = maker.make is maker.kind
    required = [name for name, field in maker.fields.items() if field.required] + ([] if own else ["type"])
    rest = False if maker.rest is None else _field(maker.rest)
    schema = {"type": "object", "description": maker.title, "properties": properties, "additionalProperties": rest}
    return schema | ({"required": required} if required else {})


def _field(form: Form) -> dict[str, Any]:
    options: list[dict[str, Any]] = []
    if form.number or form.function:
        options.append({"type": ["integer", "string"]} if form.integer else NUMBER)
        if not form.integer:
            options.append(_numbers("numbers or formulas"))
    if form.functions:
        options.append({"type": "array", "items": NUMBER})
    if form.function:
        options += [{"$ref": "#/$defs/table"}, {"$ref": "#/$defs/input"}]
    if form.text:
        options.append({"type": "string"})
    if form.words:
        options.append({"enum": list(form.words)})
    if form.flag:
        options.append({"type": "boolean"})
    if form.frame:
        options.append(FRAME)
    if form.part:
        options.append({"type": "string", "description": "the name of a part"})
    options += [{"$ref": f"#/$defs/{snake(kind.__name__)}"} for kind in (*form.kinds, *form.template)]
    if form.many:
        options += [{"type": "array", "items": option} for option in list(options)]
    if form.none:
        options.append({"type": "null"})
    return options[0] if len(options) == 1 else {"anyOf": options}


def _numbers(text: str) -> dict[str, Any]:
    return {"type": "array", "description": text, "items": {"type": ["number", "string", "array"]}}


def _pose() -> dict[str, Any]:
    return {name: {"type": ["array", "number", "string"]} for name in POSE}


def _table() -> dict[str, Any]:
    axes = {name: _numbers("increasing numbers") for name in ("t", "X", "x")}
    properties = {"type": {"const": "table"}, "values": {"type": "array"}, **axes}
    return {"type": "object", "required": ["values"], "properties": properties, "additionalProperties": False}


def _input() -> dict[str, Any]:
    along = _numbers("direction of a vector that is as long as the input says")
    properties = {"input": {"type": "string"}, "unit": {"type": "string"}, "along": along}
    return {"type": "object", "required": ["input"], "properties": properties, "additionalProperties": False}


def _sections() -> dict[str, Any]:
    parameter = {
        "anyOf": [
            NUMBER,
            {
                "type": "object",
                "required": ["default"],
                "additionalProperties": False,
                "properties": {
                    "default": NUMBER,
                    "unit": {"type": "string"},
                    "description": {"type": "string"},
                    "min": NUMBER,
                    "max": NUMBER,
                },
            },
        ]
    }
    part = {
        "type": "object",
        "required": ["at"],
        "properties": {
            "rod": {"$ref": "#/$defs/rod"},
            "body": {"$ref": "#/$defs/rigid_body"},
            "at": FRAME,
            "joint": {"$ref": "#/$defs/joint"},
            "pose": {"$ref": "#/$defs/pose"},
        },
    }
    signal = _field(Form(number=True, function=True))
    sections: dict[str, Any] = {
        "anguilla": {"const": VERSION, "description": "version of the format"},
        "name": {"type": "string", "description": "name of the robot"},
        "description": {"type": "string"},
        "include": {"type": ["string", "array"], "description": "other robot files, relative to this one"},
        "parameters": {"type": "object", "additionalProperties": parameter},
        "gravity": {**signal, "x-unit": "m/s^2", "description": "acceleration of gravity in world axes [m/s^2]"},
        "define": {"type": "object", "description": "named objects, to be used by name"},
        "urdf": {"type": ["object", "array"], "description": "rigid links from a URDF file"},
        "parts": {"type": "object", "additionalProperties": part},
        "volumes": {
            "type": "object",
            "description": "soft volumes by name",
            "additionalProperties": {"type": "object", "required": ["mesh", "material", "at"]},
        },
        "actuators": {"type": "object", "additionalProperties": {"$ref": "#/$defs/actuator"}},
        "inputs": {"type": "object", "additionalProperties": signal},
    }
    sections |= {
        name: {"type": "object", "additionalProperties": {"$ref": f"#/$defs/{snake(kind.__name__)}"}}
        for name, (_, kind) in NAMED.items()
    }
    for name, method in OBJECTS.items():
        entry = {"$ref": f"#/$defs/{snake(kinds_of(method)[0].__name__)}"}
        sections[name] = {
            "anyOf": [{"type": "array", "items": entry}, {"type": "object", "additionalProperties": entry}]
        }
    sections |= {name: {"type": ["array", "object"]} for name in METHODS}
    for name, forms in SETTINGS.items():
        fields = {key: _field(form) for key, form in forms.items()}
        fields |= {key: {"enum": list(CHOICES[key])} for key in fields if key in CHOICES}
        sections[name] = {"type": "object", "properties": fields, "additionalProperties": False}
    return sections
