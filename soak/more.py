"""What the first generator left out, from dice of its own, so that the robots it drew stay what they were.

Springs between parts, lines over several rods, obstacles that are hollow, loads written in Python.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from generate import Dice

CHANCE = 0.07  # of each


def add_more(dice: Dice, spec: dict, sizes: dict, end_of, place_of) -> None:
    """Add some of it; `end_of` gives the text of a part's end, `place_of` its position [m] at the start."""
    if dice.chance(CHANCE):
        _tie(dice, spec, sizes, end_of)
    if dice.chance(CHANCE):
        _thread(dice, spec, sizes)
    if dice.chance(CHANCE) and "touch" not in spec:
        _enclose(dice, spec, sizes, end_of, place_of)
    if dice.chance(0.3 * CHANCE) and len(spec["parts"]) == 1:  # as slow as Python
        _push(dice, spec, sizes, end_of)


def _short(x: float) -> float:
    return float(f"{float(x):.3e}")


def _tie(dice: Dice, spec: dict, sizes: dict, end_of) -> None:
    """A spring between the ends of two parts, where there are two."""
    if len(spec["parts"]) < 2:
        return
    k = dice.whole(0, len(spec["parts"]) - 2)
    a, b = spec["parts"][k], spec["parts"][dice.whole(k + 1, len(spec["parts"]) - 1)]
    reach, grip = sizes["length"], sizes["grip"] * dice.scale(0.03, 1.0)
    load = {
        "call": "Spring",
        "args": [{"code": end_of(a)}, {"code": end_of(b)}],
        "stiffness": _short(grip / reach**2),
        "rest": _short(dice.between(0.0, 0.5) * reach),
    }
    if dice.chance(0.5):
        load["damping"] = _short(0.2 * math.sqrt(load["stiffness"] * sizes["mass"]))
    spec["loads"].append(load)


def _thread(dice: Dice, spec: dict, sizes: dict) -> None:
    """A tendon through rods that follow each other, tip to root."""
    rods = {part["name"]: part for part in spec["parts"] if part["what"]["call"] == "Rod"}
    pairs = [(part["at"].removesuffix(".tip"), name) for name, part in rods.items() if part["at"].endswith(".tip")]
    pairs = [pair for pair in pairs if pair[0] in rods]
    if not pairs:
        return
    first, second = dice.of(pairs)
    away = _short(0.8 * sizes["radius"])
    what = {
        "call": "Tendon",
        "args": [{"code": f"({first}, {second})"}, {"call": "parallel", dice.of(["y", "z"]): away}],
    }
    pull = _short(dice.scale(0.03, 0.5) * sizes["grip"] / away)
    rate = _short(dice.between(0.3, 2.0) / sizes["pace"])
    given = pull if dice.chance(0.5) else {"signal": "swing", "value": pull, "rate": rate}
    spec["actuators"].append({"name": "through", "what": what, "input": given})


def _enclose(dice: Dice, spec: dict, sizes: dict, end_of, place_of) -> None:
    """The end of a part inside a hollow ball, near its bottom."""
    part = dice.of(spec["parts"])
    reach, weight = sizes["length"], np.array(spec["gravity"])
    down = weight / np.linalg.norm(weight) if np.any(weight) else np.array([0.0, 0.0, -1.0])
    thick, radius = _short(0.02 * reach), _short(dice.between(0.3, 1.5) * reach)
    gap = thick + dice.between(0.0, 0.08) * reach
    centre = [_short(x) for x in place_of(end_of(part)) - down * (radius - gap)]
    press, sink = max(sizes["weight"], sizes["grip"] / reach), dice.scale(0.003, 0.03) * reach
    load = {
        "call": "Contact",
        "args": [
            {"code": end_of(part)},
            {"call": "Sphere", "args": [centre, radius], "inside": True},
            _short(press / sink),
        ],
        "radius": thick,
        "smooth": _short(0.3 * sink),
    }
    if dice.chance(0.5):
        load["friction"], load["slip"] = dice.between(0.1, 0.8), _short(0.05 * reach / sizes["pace"])
    spec["loads"].append(load)
    spec["touch"] = _short(math.sqrt(sizes["mass"] * sink / press))


def _push(dice: Dice, spec: dict, sizes: dict, end_of) -> None:
    """A viscous brake on the end of a part, written in Python."""
    drag = _short(0.3 * sizes["mass"] / sizes["pace"] * dice.scale(0.1, 1.0))
    brake = f"lambda motion, t: np.concatenate([np.zeros(3), -{drag!r} * motion.velocity])"
    spec["loads"].append({"call": "UserLoad", "args": [{"code": end_of(dice.of(spec["parts"]))}, {"code": brake}]})
