"""A robot as plain data, and as Python text: `source` prints it, `build` runs that text, so that both are the same robot.

A specification (JSON) has the keys

    gravity   [x, y, z]; falls: a function of t in its place, if there is one
    parts     [{name, what, at, joint, pose}]: what and joint are calls, at is the text of a frame, pose (4, 4) or a call
    closures  [{a, b, joint, pose}]
    loads     [call]
    actuators [{name, what, input}]; drives: [[name of an input, call]], if there are any
    constraints [call], if there are any
    statics   whether an equilibrium is asked for
    motion    {dt, steps, start, method}: start is "rest", "equilibrium", {"held": call} or {"q": [...], "v": [...]};
              method is a call, if there is one
    length    the robot's size [m], the unit of all errors
    quiet     what the verifier may rely on (see generate.py)

A call is {"call": name in anguilla, "args": [...], **keywords}; a signal {"signal": kind, ...} is a function of t; text
that names something is {"code": "p0.tip"}.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

HEADER = '''import numpy as np

import anguilla as ag
from anguilla.lie import exp6


def place(turn, position):
    """Pose (4, 4): a rotation vector [rad] and a position [m]."""
    pose = exp6(np.array([*turn, 0.0, 0.0, 0.0]))
    pose[:3, 3] = position
    return pose
'''


def text(value: Any) -> str:
    """A value of a specification as Python."""
    if isinstance(value, dict):
        if "code" in value:
            return str(value["code"])
        return _signal(value) if "signal" in value else _call(value)
    if isinstance(value, list | tuple):
        inner = ", ".join(text(v) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


def _call(call: dict) -> str:
    name = call["call"]
    given = [text(v) for v in call.get("args", [])]
    given += [f"{key}={text(v)}" for key, v in call.items() if key not in ("call", "args")]
    return f"{name if name == 'place' else 'ag.' + name}({', '.join(given)})"


def _signal(signal: dict) -> str:
    """A function of t; a list of values gives an array, a number a number."""
    value = signal["value"]
    size = f"np.array({list(value)})" if isinstance(value, list) else repr(value)
    kind, given = signal["signal"], "X, t" if signal.get("along") else "t"
    if kind == "sine":
        return f"lambda {given}: {size} * np.sin({signal['rate']!r} * t + {signal.get('phase', 0.0)!r})"
    if kind == "swing":  # starts at rest
        return f"lambda {given}: {size} * 0.5 * (1.0 - np.cos({signal['rate']!r} * t))"
    if kind == "ramp":
        return f"lambda {given}: {size} * min(t / {signal['over']!r}, 1.0)"
    if kind == "jump":
        return f"lambda {given}: {size} * (1.0 if t >= {signal['at']!r} else 0.0)"
    if kind == "draw":  # from a value to another, smoothly
        return f"lambda {given}: {size} + {signal['by']!r} * 0.5 * (1.0 - np.cos(np.pi * min(t / {signal['over']!r}, 1.0)))"
    raise ValueError(f"no signal {kind!r}")


def _pose(pose: Any) -> str:
    return text(pose) if isinstance(pose, dict) else f"np.array({pose!r})"


def source(spec: dict, held: bool = False) -> str:
    """Python lines that make `robot`, its parts by name and `inputs`; `held` adds the load that holds the start."""
    lines = [f"robot = ag.Robot({spec.get('name', 'robot')!r}, gravity={text(spec.get('falls', spec['gravity']))})"]
    for part in spec["parts"]:
        more = "".join(
            f", {key}={shown}"
            for key, shown in (
                ("joint", part.get("joint") and text(part["joint"])),
                ("pose", part.get("pose") and _pose(part["pose"])),
            )
            if shown
        )
        lines.append(f"{part['name']} = robot.add({text(part['what'])}, at={part['at']}{more}, name={part['name']!r})")
    for closure in spec["closures"]:
        pose = f", pose={_pose(closure['pose'])}" if closure.get("pose") else ""
        lines.append(f"robot.close({closure['a']}, {closure['b']}, joint={text(closure['joint'])}{pose})")
    loads = list(spec["loads"])
    start = spec["motion"]["start"]
    if held and isinstance(start, dict) and "held" in start:
        loads.append(start["held"])
    lines += [f"robot.load({text(load)})" for load in loads]
    lines += [f"robot.actuate({a['name']!r}, {text(a['what'])})" for a in spec["actuators"]]
    lines += [f"robot.constrain({text(constraint)})" for constraint in spec.get("constraints", [])]
    lines += [f"robot.drive({name!r}, {text(drive)})" for name, drive in spec.get("drives", [])]
    shown = ", ".join(f"{a['name']!r}: {text(a['input'])}" for a in spec["actuators"])
    return "\n".join([*lines, f"inputs = {{{shown}}}"]) + "\n"


def build(spec: dict, held: bool = False) -> SimpleNamespace:
    """The robot of a specification: `robot`, `inputs`, `ends` (frames to compare), `spec`."""
    space: dict[str, Any] = {}
    exec(HEADER, space)
    exec(source(spec, held), space)
    ends = [frame for part in spec["parts"] for frame in _ends(space[part["name"]], part)]
    named = spec["motion"].get("method")
    method = {"method": eval(text(named), space)} if named else {}
    return SimpleNamespace(robot=space["robot"], inputs=space["inputs"], ends=ends, spec=spec, method=method)


def _ends(handle: Any, part: dict) -> list:
    """Frames of a part whose positions are compared."""
    if part["what"]["call"] == "Rod":
        return [handle.section(0.5 * handle.length), handle.tip]
    return [handle.frame, handle.at((part["reach"], 0.0, 0.0)), handle.at((0.0, _across(part["what"]), 0.0))]


def _across(body: dict) -> float:
    """How far [m] a rigid body reaches across its axis: there a turn about the axis is seen, too."""
    if "radius" in body:
        return float(body["radius"])
    sizes = next(iter(body.get("args", [])), None)
    return 0.5 * sizes[1] if isinstance(sizes, list | tuple) else 0.0


def names_in(value: Any) -> set[str]:
    """Names of the parts (p0, p1, ...) that a piece of a specification speaks of."""
    return set(re.findall(r"\bp\d+\b", text(value) if isinstance(value, dict | list) else str(value)))


def finer(spec: dict, times: int) -> dict:
    """The same robot with so many times the intervals on every rod."""
    from anguilla.model.model import Model

    grids = [layout.grid for layout in Model(build(spec).robot).layout.parts]
    parts = []
    for part, grid in zip(spec["parts"], grids, strict=False):
        if grid is not None and part["what"]["call"] == "Rod":
            part = {**part, "what": {**part["what"], "intervals": times * (len(grid.X) - 1)}}
        parts.append(part)
    return {**spec, "parts": parts}
