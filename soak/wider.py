"""The campaign with what its generator leaves out: `python soak/wider.py`, with the options of `python soak/run.py`.

Viscous memory, other schemes, screws, springs along a direction of the world, boxes, capsules and cylinders to lie on, parts
that touch each other, shapes, sections and routings given as functions, tendons along a piece of a rod, gravity that turns,
ends that are led along a path, muscles that follow a gait, magnets in a gradient, constraints of velocities, drives.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from contact import _campaign
from generate import JOINTS, Dice, robot, short

Change = Callable[[Dice, dict, dict], None]


def wide(seed: int, index: int) -> dict:
    """The specification of robot number `index`: one of the campaign's robots, with one to three changes."""
    dice = Dice(seed, index, 2)

    def also(spec: dict, sizes: dict) -> None:
        for change in dice.rng.choice(len(CHANGES), size=dice.whole(1, 3), replace=False):
            CHANGES[change](dice, spec, sizes)

    spec = robot(seed, index, also)
    if dice.chance(0.3):
        spec["motion"]["method"] = dice.of(SCHEMES)
    return spec


SCHEMES = [
    {"call": "HHT", "alpha": -0.1},
    {"call": "Newmark"},
    {"call": "GeneralisedAlpha", "rho_inf": 0.5},
    {"call": "GeneralisedAlpha", "rho_inf": 0.0},
    {"call": "GeneralisedAlpha", "rho_inf": 1.0},
    {"call": "Midpoint"},
]


def _rods(spec: dict) -> list[dict]:
    return [part for part in spec["parts"] if part["what"]["call"] == "Rod"]


def _end(part: dict) -> dict:
    reach = "tip" if part["what"]["call"] == "Rod" else f"at(({part['reach']!r}, 0.0, 0.0))"
    return {"code": f"{part['name']}.{reach}"}


def _remember(dice: Dice, spec: dict, sizes: dict) -> None:
    """Rods of a material that relaxes, or with the same loss at all rates."""
    more: dict[str, Any]
    if dice.chance(0.6):
        times = [short(sizes["pace"] * dice.scale(0.1, 10.0)) for _ in range(dice.whole(1, 2))]
        more = {"viscosity": [{"call": "Prony", "args": [dice.between(0.05, 0.4), time]} for time in times]}
    else:
        rate = 1.0 / sizes["pace"]
        more = {"loss": dice.between(0.02, 0.3), "band": [short(0.1 * rate), short(10.0 * rate)]}
    for part in _rods(spec):
        part["what"]["material"] = {**part["what"]["material"], **more}


def _screw(dice: Dice, spec: dict, sizes: dict) -> None:
    """Hinges become screws."""
    for part in spec["parts"]:
        joint = part.get("joint", {})
        if joint.get("call") == "Revolute":
            joint |= {"call": "Helical", "pitch": short(dice.of([-1.0, 1.0]) * sizes["length"] * dice.scale(0.01, 0.5))}


def _hang(dice: Dice, spec: dict, sizes: dict) -> None:
    """A spring along a direction of the world."""
    part = dice.of(spec["parts"])
    stiffness = short(sizes["grip"] / sizes["length"] ** 2 * dice.scale(0.1, 10.0))
    load = {"call": "WorldSpring", "args": [_end(part), stiffness, dice.direction()]}
    if dice.chance(0.5):
        load["damping"] = short(0.2 * math.sqrt(stiffness * sizes["mass"]))
    spec["loads"].append(load)


def _obstruct(dice: Dice, spec: dict, sizes: dict) -> None:
    """Floors become boxes, capsules, cylinders, or hilly."""
    size = 4.0 * sizes["length"]
    boxes = {part["name"] for part in spec["parts"] if part["what"]["call"] == "RigidBody.box"}
    for load in spec["loads"]:
        if load["call"] != "Contact" or load["args"][1]["call"] != "HalfSpace":
            continue
        if load["args"][0]["code"] in boxes:  # their corners alone could miss what is no plane
            load["args"][0], load["radius"] = {"code": f"{load['args'][0]['code']}.frame"}, short(0.02 * size)
        up, height = load["args"][1]["normal"], load["args"][1]["offset"]
        kind = dice.pick(box=0.4, capsule=0.3, cylinder=0.3)
        if kind == "box":
            centre = [short(x * (height - 0.5 * size), 8) for x in up]
            shape = {"call": "Box", "args": [centre, [short(size)] * 3]}
            if max(abs(x) for x in up) < 1.0 - 1e-9:  # a box that is turned has edges on top
                shape["rotation"] = {"code": f"exp6(np.array({[*dice.vector(0.5), 0.0, 0.0, 0.0]}))[:3, :3]"}
                shape["args"][0] = [short(x * (height - 0.8 * size)) for x in up]
        else:
            radius = short(0.3 * size)
            across = (
                [up[1], up[2], up[0]] if abs(up[0] * up[1] + up[1] * up[2] + up[2] * up[0]) < 0.9 else [1.0, 0.0, 0.0]
            )
            side = [
                b - sum(x * y for x, y in zip(up, across, strict=True)) * a for a, b in zip(up, across, strict=True)
            ]
            centre = [x * (height - radius) for x in up]
            if kind == "capsule":
                ends = [[short(c + s * 0.5 * size * x, 8) for c, x in zip(centre, side, strict=True)] for s in (-1, 1)]
                shape = {"call": "Capsule", "args": [*ends, radius]}
            else:
                shape = {"call": "Cylinder", "args": [[short(c, 8) for c in centre], side, radius, short(size)]}
        load["args"][1] = shape


def _meet(dice: Dice, spec: dict, sizes: dict) -> None:
    """Two parts that are not neighbours may touch."""
    parts = spec["parts"]
    pairs = [
        (a["name"], b["name"])
        for i, a in enumerate(parts)
        for b in parts[:i]
        if b["name"] not in a["at"] and a["name"] not in b["at"] and a["at"] != b["at"]
    ]
    if not pairs:
        return
    a, b = dice.of(pairs)
    load = {"call": "PartContact", "args": [{"code": a}, {"code": b}]}
    if not {a, b} & {part["name"] for part in _rods(spec)}:
        load["stiffness"] = short(max(sizes["weight"], sizes["grip"] / sizes["length"]) / (0.01 * sizes["length"]))
    if dice.chance(0.5):
        load["friction"] = dice.between(0.1, 0.8)
    spec["loads"].append(load)


def _shape(dice: Dice, spec: dict, sizes: dict) -> None:
    """A rest shape given as a function, with a corner in it or without."""
    part = dice.of(_rods(spec) or [None])
    if part is None or spec["closures"]:
        return
    length = part["what"]["length"]
    turn = short(dice.between(0.3, 2.0) / length)
    bend = f"{turn!r} * np.sin({short(3.0 / length)!r} * X)"
    if dice.chance(0.5):
        at = short(length * dice.between(0.3, 0.7))
        bend = f"({turn!r} if X < {at!r} else {-turn!r})"
        rest = {"call": "RestFunction", "args": [{"code": f"lambda X: np.array([0.0, {bend}, 0.0, 1.0, 0.0, 0.0])"}]}
        rest["breakpoints"] = {"code": f"({at!r},)"}
    else:
        rest = {"call": "RestFunction", "args": [{"code": f"lambda X: np.array([0.0, {bend}, 0.0, 1.0, 0.0, 0.0])"}]}
    part["what"]["rest"] = rest


def _profile(dice: Dice, spec: dict, sizes: dict) -> None:
    """Sections of a form of their own, some of which change along the rod."""
    for part in _rods(spec):
        r, length = sizes["radius"], part["what"]["length"]
        kind = dice.pick(general=0.4, function=0.3, steps=0.3)
        if kind == "general":
            area, second = math.pi * r**2, math.pi * r**4 / 4.0
            ratio = dice.between(0.5, 1.5)
            part["what"]["section"] = {
                "call": "GeneralSection", "area": short(area), "second_y": short(second), "second_z": short(ratio * second),
                "torsion": short((1.0 + ratio) * second * dice.between(0.5, 1.0)), "shear_y": 0.83, "shear_z": 0.83,
            }  # fmt: skip
        elif kind == "function":
            slope = short(dice.between(0.1, 0.6) / length)
            code = f"lambda X: ag.Circle(radius={r!r} * (1.0 - {slope!r} * X))"
            part["what"]["section"] = {"call": "Tapered", "args": [{"code": code}]}
        else:
            at, thin = short(length * dice.between(0.3, 0.7)), short(r * dice.between(0.6, 0.9))
            code = f"lambda X: ag.Circle(radius={r!r} if X < {at!r} else {thin!r})"
            part["what"]["section"] = {
                "call": "Tapered", "args": [{"code": code}], "breakpoints": {"code": f"({at!r},)"},
            }  # fmt: skip


def _route(dice: Dice, spec: dict, sizes: dict) -> None:
    """Lines along a piece of their rod, or routed by a function."""
    rods = {part["name"]: part["what"] for part in _rods(spec)}
    for actuator in spec["actuators"]:
        what = actuator["what"]
        name = what["args"][0]["code"]
        if name not in rods or what.get("by") == "length":
            continue
        length, away = rods[name]["length"], 0.8 * sizes["radius"]
        if dice.chance(0.5):
            begin, end = sorted(dice.between(0.0, 1.0) for _ in range(2))
            if end - begin > 0.1:
                what["span"] = {"code": f"({short(begin * length)!r}, {short(end * length)!r})"}
        else:
            code = f"lambda X: ({short(away)!r} * np.cos({short(2.0 / length)!r} * X), {short(0.3 * away)!r})"
            what["args"][1] = {"call": "FunctionRouting", "function": {"code": code}}


def _tilt(dice: Dice, spec: dict, sizes: dict) -> None:
    """Gravity that turns, as of a robot on a platform that tilts."""
    if any(spec["gravity"]):
        turn = f"{dice.between(0.1, 0.8)!r} * np.sin({short(dice.between(0.1, 1.0) / sizes['pace'])!r} * t)"
        axis = dice.direction()
        code = f"lambda t: place({turn} * np.array({axis!r}), (0.0, 0.0, 0.0))[:3, :3] @ np.array({spec['gravity']!r})"
        spec["falls"] = {"code": code}


def _lead(dice: Dice, spec: dict, sizes: dict) -> None:
    """A closure with the ground that is led along a path."""
    for closure in spec["closures"]:
        if closure["a"] == "robot.ground" and "stiffness" not in closure["joint"]:
            way = dice.vector(0.05 * sizes["length"])
            rate = short(dice.between(0.3, 1.0) / sizes["pace"])
            moved = f"0.5 * (1.0 - np.cos({rate!r} * t)) * np.array({way!r})"
            code = f"lambda t: np.array({closure['pose']!r}) @ place((0.0, 0.0, 0.0), {moved})"
            closure["pose"] = {"code": code}


def _flex(dice: Dice, spec: dict, sizes: dict) -> None:
    """A muscle whose moment pulls its rod to a travelling wave."""
    rods = _rods(spec)
    if not rods:
        return
    part = dice.of(rods)
    length = part["what"]["length"]
    wave = {
        "call": "TravellingWave", "envelope": [short(dice.between(0.1, 0.5) / length)], "wavelength": length,
        "period": short(6.0 * sizes["pace"] * dice.scale(0.5, 3.0)), "strain": dice.of(["bend_y", "bend_z"]),
        "ramp": [0.0, short(3.0 * sizes["pace"])],
    }  # fmt: skip
    gain = short(0.5 * sizes["bending"])
    spec["loads"].append(
        {
            "call": "Muscle",
            "args": [{"code": part["name"]}],
            "gain": [0.0, gain, gain, 0.0, 0.0, 0.0],
            "curvature": wave,
        }
    )


def _attract(dice: Dice, spec: dict, sizes: dict) -> None:
    """A magnet in a field with a gradient that is symmetric and traceless."""
    part = dice.of(spec["parts"])
    moment = short(sizes["grip"] / 0.05 * dice.scale(0.05, 1.0))
    g = 0.05 / sizes["length"] * dice.between(0.1, 1.0)
    gradient = [[short(g), short(0.3 * g), 0.0], [short(0.3 * g), short(-0.5 * g), 0.0], [0.0, 0.0, short(g) - 0.0]]
    gradient[2][2] = -(gradient[0][0] + gradient[1][1])
    spec["loads"].append(
        {"call": "Magnet", "args": [_end(part), dice.vector(moment)], "field": dice.vector(0.05), "gradient": gradient}
    )


def _steer(dice: Dice, spec: dict, sizes: dict) -> None:
    """A wheel or a skate at the end of a part: it does not move sideways."""
    if spec["closures"] or any(a["what"].get("by") == "length" for a in spec["actuators"]):
        return
    part = dice.of(spec["parts"])
    row = [0.0] * 6
    row[3 + dice.whole(1, 2)] = 1.0
    spec["constraints"] = [{"call": "TwistConstraint", "args": [_end(part), row]}]


def _motor(dice: Dice, spec: dict, sizes: dict) -> None:
    """Efforts on all coordinates of joints of several."""
    for part in spec["parts"]:
        joint = part.get("joint")
        if joint is None or "motion" in joint or "effort" in joint or JOINTS.get(joint["call"], 1) == 1:
            continue
        size = JOINTS[joint["call"]]
        slides = {"Cylindrical": [1, 0], "Planar": [1, 1, 0], "Free": [0, 0, 0, 1, 1, 1]}.get(joint["call"], [0] * size)
        amount = [
            short(0.2 * sizes["turn"] * dice.between(-1.0, 1.0) / (sizes["length"] if s else 1.0)) for s in slides
        ]
        rate = short(dice.between(0.3, 1.5) / sizes["pace"])
        joint["effort"] = {"signal": "sine", "value": amount, "rate": rate} if dice.chance(0.5) else amount


def _gear(dice: Dice, spec: dict, sizes: dict) -> None:
    """Tendons behind a motor with its limits."""
    for actuator in spec["actuators"]:
        kind = dice.pick(delay=0.25, lag=0.25, rate=0.2, backlash=0.15, dead_zone=0.15)
        value = actuator["input"]
        size = abs(value["value"] if isinstance(value, dict) else value)
        if actuator["what"].get("by") == "length" or not size:
            continue
        amount = {"delay": 0.5 * sizes["pace"], "lag": 0.5 * sizes["pace"], "rate": size / sizes["pace"]}.get(
            kind, 0.1 * size
        )
        spec.setdefault("drives", []).append([actuator["name"], {"call": "Drive", kind: short(amount)}])


CHANGES: list[Change] = [
    _remember, _screw, _hang, _obstruct, _meet, _shape, _profile, _route, _tilt, _lead, _flex, _attract, _motor,
    _steer, _gear,
]  # fmt: skip


def one(seed: int, index: int) -> dict:
    """The record of robot `index`."""
    import verify

    began = time.perf_counter()
    try:
        spec = wide(seed, index)
    except Exception as error:
        record: dict[str, Any] = {"outcome": "crash", "reason": f"generator: {type(error).__name__}: {error}"}
    else:
        record = verify.judge(spec)
    return {"index": index, "seed": seed, **record, "seconds": round(time.perf_counter() - began, 3)}


def work(pipe: Any, seed: int) -> None:
    """A worker: warms up, says so, then answers numbers by records."""
    for index in range(3):
        one(1, index)
    pipe.send("ready")
    while (index := pipe.recv()) is not None:
        pipe.send(one(seed, index))


def only(seed: int, index: int) -> int:
    """Judge one robot here, and show it."""
    import verify
    from describe import source

    spec = wide(seed, index)
    print(source(spec))
    print(json.dumps(spec["motion"]), "length", spec["length"], "pace", spec["pace"])
    record = verify.judge(spec)
    print(json.dumps(record, indent=1))
    return int(record["outcome"] in _campaign().BAD)


if __name__ == "__main__":
    sys.exit(_campaign().main(only, work=work))
