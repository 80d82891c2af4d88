"""Random drops, pinches and whips of parts that touch each other, from a seed: `scene(seed, index)` is always the same.

Specifications are those of `describe.py`, with the kind of scene, the radii of rods and the sizes of bodies. Nothing overlaps
at the start. Forces are constant, so that their work is known without integrating over time.
"""

from __future__ import annotations

import math

import numpy as np
from describe import build
from generate import Dice, short
from passing import overlaps
from scipy.spatial.transform import Rotation

from anguilla.model.model import Model

G = 9.81
KINDS = ("drop", "pinch", "whip")
MATERIALS = {
    "silicone": (1e5, 3e6, 1100.0, 0.5),
    "rubber": (3e6, 3e7, 1200.0, 0.49),
    "plastic": (3e8, 3e9, 1100.0, 0.4),
}


def scene(seed: int, index: int) -> dict:
    """The specification of scene number `index`."""
    for again in range(50):
        dice = Dice(seed, index, again)
        spec, speeds = SCENES[KINDS[index % 3]](dice, f"{KINDS[index % 3]}_{seed}_{index}")
        made = build(spec)
        if overlaps(made):
            continue
        _start(spec, speeds, Model(made.robot))
        return spec
    raise RuntimeError(f"no scene {index} of seed {seed} without an overlap.")


def _start(spec: dict, speeds: dict, model: Model) -> None:
    """Rest, but for given rates of joints."""
    v = np.zeros(model.size)
    for layout in model.layout.parts:
        if layout.part.name in speeds:
            v[layout.joint] = speeds[layout.part.name]
    spec["motion"]["start"] = {"q": [0.0] * model.size, "v": v.tolist()}


def _blank(dice: Dice, name: str, weightless: float) -> tuple[dict, dict]:
    length = dice.scale(0.02, 1.0)
    soft, hard, density, poisson = MATERIALS[dice.pick(silicone=0.5, rubber=0.3, plastic=0.2)]
    sizes = {
        "length": length, "radius": short(length * dice.scale(1 / 60, 1 / 12)), "young": dice.scale(soft, hard),
        "density": density, "friction": dice.between(0.1, 1.2) if dice.chance(0.65) else 0.0,
        "damping": dice.chance(0.6), "poisson": poisson, "loss": dice.pick(none=0.3, light=0.4, heavy=0.3),
    }  # fmt: skip
    area, bending = math.pi * sizes["radius"] ** 2, sizes["young"] * math.pi * sizes["radius"] ** 4 / 4.0
    sizes["pace"] = length**2 * math.sqrt(density * area / bending) / 3.5
    sizes["mass"], sizes["bending"] = density * area * length, bending
    gravity = 0.0 if dice.chance(weightless) else -G
    spec: dict = {
        "name": name, "gravity": [0.0, 0.0, gravity], "parts": [], "closures": [], "loads": [], "actuators": [],
        "statics": False, "motion": {"dt": 0.0, "steps": 0, "start": "rest"}, "length": length, "pace": short(sizes["pace"]),
        "radii": {}, "shapes": {},
    }  # fmt: skip
    return spec, sizes


def _add(spec: dict, what: dict, turn: list, place: list, joint: dict | None, reach: float) -> str:
    name = f"p{len(spec['parts'])}"
    pose = {"call": "place", "args": [[short(x) for x in turn], [short(x) for x in place]]}
    part = {"name": name, "what": what, "at": "robot.ground", "pose": pose, "reach": short(reach)}
    if joint:
        part["joint"] = joint
    spec["parts"].append(part)
    return name


def _rod(
    dice: Dice, spec: dict, sizes: dict, turn: list, place: list, joint: dict | None = None, modes: int = 3
) -> str:
    """A rod with a length and a radius about those of the scene, from `place` on."""
    length, radius = short(sizes["length"] * dice.between(0.6, 1.2)), short(sizes["radius"] * dice.between(0.6, 1.2))
    material = {"call": "Material", "young": sizes["young"], "density": sizes["density"], "poisson": sizes["poisson"]}
    if sizes["loss"] != "none":
        low, high = {"light": (1e-3, 0.03), "heavy": (0.03, 0.5)}[sizes["loss"]]
        material["damping"] = short(sizes["pace"] * dice.scale(low, high))
    strains = {"call": f"strains.{dice.pick(kirchhoff=0.7, reissner=0.3)}", "args": [modes]}
    what = {"call": "Rod", "args": [length, {"call": "Circle", "args": [radius]}, material, strains]}
    name = _add(spec, what, turn, place, joint, length)
    spec["radii"][name] = radius
    return name


def _body(
    dice: Dice, spec: dict, sizes: dict, place: list, joint: dict, big: float = 1.0, kind: str | None = None
) -> str:
    kind = kind or dice.pick(sphere=0.5, box=0.3, cylinder=0.2)
    size = short(big * sizes["radius"] * dice.scale(1.0, 4.0))
    args: list = [size]
    if kind == "box":
        args = [[short(2.0 * size * dice.between(0.7, 1.5)) for _ in range(3)]]
    if kind == "cylinder":
        args = [size, short(size * dice.between(1.5, 4.0))]
    mass = short(sizes["mass"] * dice.scale(0.05, 3.0))
    turn = [0.0, 0.0, 0.0] if kind == "sphere" else dice.vector(dice.between(0.0, 2.0))
    name = _add(spec, {"call": f"RigidBody.{kind}", "args": args, "mass": mass}, turn, place, joint, size)
    spec["shapes"][name] = [kind, *args]
    return name


FREE = {"call": "Free"}


def _touch(dice: Dice, spec: dict, sizes: dict, press: float, speed: float) -> None:
    """Contact of everything with everything but two bodies of corners, and of rods with themselves."""
    law: dict = {"friction": sizes["friction"]} if sizes["friction"] else {}
    if sizes["damping"]:
        law["damping"] = short(dice.between(0.05, 0.6) / max(speed, 1e-3))
    names = [part["name"] for part in spec["parts"]]
    sink = 0.05 * sizes["radius"]
    for k, a in enumerate(names):
        if a in spec["radii"] and dice.chance(0.5):
            spec["loads"].append({"call": "SelfContact", "args": [{"code": a}], **law})
        for b in names[k + 1 :]:
            shapes = [spec["shapes"].get(x, ["rod"])[0] for x in (a, b)]
            if "rod" not in shapes and "sphere" not in shapes:
                continue
            args: list = [{"code": a}, {"code": b}]
            if "rod" not in shapes:
                args.append(short(press / sink))
            spec["loads"].append({"call": "Contact", "args": args, **law})


def _pace(dice: Dice, spec: dict, duration: float) -> None:
    """About 80 to 300 steps, and not fewer than the first mode of a rod asks for."""
    steps = max(dice.whole(80, 300), min(int(30.0 * duration / spec["pace"]), 1200))
    spec["motion"]["dt"], spec["motion"]["steps"] = short(duration / steps), steps


def _lying(dice: Dice, spec: dict, sizes: dict, height: float) -> str:
    """A rod that lies across, clamped at its root or at a joint."""
    angle = dice.between(0.0, 2.0 * math.pi)
    along = np.array([math.cos(angle), math.sin(angle), 0.0])
    start = -dice.between(0.3, 0.7) * sizes["length"] * along + [0.0, 0.0, height]
    return _rod(dice, spec, sizes, [0.0, 0.0, angle], start.tolist())


def drop(dice: Dice, name: str) -> tuple[dict, dict]:
    """Rods and bodies fall on a floor or an obstacle, on rods that are clamped, and on each other."""
    spec, sizes = _blank(dice, name, 0.0)
    length, radius = sizes["length"], sizes["radius"]
    fall = dice.scale(0.05, 1.0) * length
    speed = math.sqrt(2.0 * G * fall)
    floor = dice.chance(0.6)
    for k in range(dice.whole(0 if floor else 1, 2)):
        _lying(dice, spec, sizes, 3.0 * radius * (k + 1))
    base, speeds = 3.0 * radius * (len(spec["parts"]) + 1), {}
    for k in range(dice.whole(1, 2)):
        x = [
            length * dice.between(-0.3, 0.3),
            length * dice.between(-0.3, 0.3),
            base + fall * (1.0 + 0.5 * k) + 6 * k * radius,
        ]
        if dice.chance(0.5):
            turn = dice.vector(dice.between(0.0, 0.5)) if dice.chance(0.5) else [0.0, 0.0, dice.between(0.0, 6.0)]
            part = _rod(dice, spec, sizes, turn, [x[0] - 0.5 * length, x[1], x[2] + 0.5 * length], FREE, 2)
        else:
            part = _body(dice, spec, sizes, x, FREE)
        speeds[part] = [
            short(v) for v in [*dice.rng.normal(size=3) * 0.3 * speed, *dice.rng.normal(size=3) * speed / length]
        ]
    weight = G * sizes["mass"]
    _touch(dice, spec, sizes, 3.0 * weight * max(1.0, fall / radius), speed)
    if floor:
        for part in spec["parts"]:
            if "joint" in part and spec["shapes"].get(part["name"], [""])[0] != "cylinder":
                rod = part["name"] in spec["radii"]
                stiff = 3.0 * weight * max(1.0, fall / radius) / (0.05 * radius) / (length if rod else 1.0)
                load = {"call": "Contact", "args": [{"code": part["name"]}, {"call": "HalfSpace"}, short(stiff)]}
                load |= (
                    {k: v for k, v in spec["loads"][-1].items() if k in ("friction", "damping")}
                    if spec["loads"]
                    else {}
                )
                spec["loads"].append(load)
    _pace(dice, spec, (2.0 + dice.between(0.0, 3.0)) * speed / G)
    return spec, speeds


def pinch(dice: Dice, name: str) -> tuple[dict, dict]:
    """Two rods, or two bodies on slides, are pushed against what stands between them, which is free or a rod."""
    spec, sizes = _blank(dice, name, 0.5)
    length, radius = sizes["length"], sizes["radius"]
    push = sizes["bending"] / length**2 * dice.scale(0.3, 5.0)
    gap = dice.between(0.1, 2.0) * radius
    thick = 2.0 * radius
    if dice.chance(0.6):
        place = [dice.between(0.5, 0.9) * length, 0.0, 0.0]
        what = _body(dice, spec, sizes, place, FREE)
        shape = spec["shapes"][what]
        thick = {"sphere": 1.0, "box": 0.87, "cylinder": 1.0}[shape[0]] * float(np.max(shape[1]))
        thick = math.hypot(shape[1], 0.5 * shape[2]) if shape[0] == "cylinder" else thick
    else:
        what = _rod(
            dice, spec, sizes, [0.0, -0.5 * math.pi, 0.0], [dice.between(0.5, 0.9) * length, 0.0, -0.5 * length]
        )
    fingers = dice.pick(rods=0.7, bodies=0.3)
    for side in (1.0, -1.0):
        y = side * (thick + 1.2 * radius + gap)
        if fingers == "rods":
            part = _rod(dice, spec, sizes, [0.0, 0.0, 0.0], [0.0, y, 0.0])
            at = f"{part}.tip"
        else:
            y += side * 4.0 * radius
            joint = {"call": "Prismatic", "args": [[0.0, 1.0, 0.0]]}
            part = _body(dice, spec, sizes, [spec["parts"][0]["pose"]["args"][1][0], y, 0.0], joint, kind="sphere")
            at = f"{part}.frame"
        force = {"code": f"np.array([0.0, {short(-side * push)}, 0.0])"}
        spec["loads"].append({"call": "Wrench", "args": [{"code": at}], "force": force})
    speed = math.sqrt(2.0 * push * (gap + radius) / sizes["mass"])
    _touch(dice, spec, sizes, 2.0 * push, speed)
    _pace(dice, spec, dice.between(3.0, 15.0) * math.sqrt(2.0 * gap * sizes["mass"] / push + sizes["pace"] ** 2))
    return spec, {}


def whip(dice: Dice, name: str) -> tuple[dict, dict]:
    """A rod swings fast, or flies, and hits rods and bodies, or itself."""
    spec, sizes = _blank(dice, name, 0.7)
    length, radius = sizes["length"], sizes["radius"]
    speed = length / sizes["pace"] * dice.scale(0.05, 0.6)
    speeds: dict = {}
    if dice.chance(0.5):
        joint = {"call": "Revolute", "args": [[0.0, 0.0, 1.0]]}
        part = _rod(dice, spec, sizes, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], joint)
        speeds[part] = [short(speed / length)]
        place = [dice.between(0.5, 0.95) * length, dice.between(0.1, 0.4) * length, 0.0]
    else:
        part = _rod(dice, spec, sizes, dice.vector(dice.between(0.0, 0.5)), [-0.5 * length, 0.0, 0.0], FREE)
        speeds[part] = [0.0, short(speed), 0.0, *[short(x) for x in dice.rng.normal(size=3) * 0.3 * speed / length]]
        place = [dice.between(-0.4, 0.4) * length, dice.between(0.1, 0.4) * length, 0.0]
    for k in range(dice.whole(1, 2)):
        at = np.array(place) + k * np.array([-0.3 * length, 0.1 * length, 0.0])
        if dice.chance(0.6):
            angle = 0.5 * math.pi + dice.between(-0.4, 0.4)
            along = Rotation.from_rotvec([0.0, angle, 0.0]).as_matrix()[:, 0]
            _rod(
                dice,
                spec,
                sizes,
                [0.0, angle, 0.0],
                (at - 0.5 * length * along).tolist(),
                FREE if dice.chance(0.4) else None,
            )
        else:
            _body(dice, spec, sizes, at.tolist(), FREE)
    _touch(dice, spec, sizes, sizes["mass"] * speed**2 / radius, speed)
    _pace(dice, spec, dice.between(0.7, 2.0) * length / speed)
    return spec, speeds


SCENES = {"drop": drop, "pinch": pinch, "whip": whip}
