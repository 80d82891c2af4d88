"""Random legal robots and what a sensible user would ask of them, from a seed: `robot(seed, index)` is always the same.

Sizes, stiffness and loads belong together: a rod sags by a part of its length, loads bend by about a radian, springs carry
what hangs on them. Steps follow from the lowest frequency of the robot, from its loads and from the time a contact takes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from describe import build, names_in
from more import add_more
from scipy.linalg import eigh

import anguilla as ag
from anguilla.model.model import Model
from anguilla.results.lines import cable_length

G = 9.81
MOST_COORDINATES = 60


class Dice:
    """Random choices of numbers with four digits, so that a reproduction can be read."""

    def __init__(self, *seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def whole(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def between(self, low: float, high: float) -> float:
        return short(self.rng.uniform(low, high))

    def scale(self, low: float, high: float) -> float:
        return short(math.exp(self.rng.uniform(math.log(low), math.log(high))))

    def pick(self, **weights: float) -> str:
        names = list(weights)
        p = np.array(list(weights.values()))
        return names[int(self.rng.choice(len(names), p=p / p.sum()))]

    def of(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def direction(self) -> list[float]:
        """A unit vector, often along an axis."""
        if self.chance(0.5):
            return self.of([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        x = self.rng.normal(size=3)
        return [short(v) for v in x / np.linalg.norm(x)]

    def vector(self, size: float) -> list[float]:
        return [short(size * v) for v in self.direction()]


def short(x: float, digits: int = 4) -> float:
    """A number with so many digits."""
    return float(f"{float(x):.{digits - 1}e}")


def robot(seed: int, index: int, also: Callable[[dict, dict], None] = lambda spec, sizes: None) -> dict:
    """The specification of robot number `index` of a campaign; `also` changes it before it is asked anything."""
    dice = Dice(seed, index)
    spec, sizes = _skeleton(dice, f"robot_{seed}_{index}")
    _close(dice, spec, sizes)
    _pace(spec, sizes)
    _actuate(dice, spec, sizes)
    _load(dice, spec, sizes)
    _water(dice, spec, sizes)
    _touch(dice, spec, sizes)
    add_more(Dice(seed, index, 1), spec, sizes, _end, lambda end: _position(spec, end))
    _drive(dice, spec, sizes)
    also(spec, sizes)
    _ask(dice, spec, sizes)
    return spec


# Parts ----------------------------------------------------------------------------------------------------------------

MATERIALS = {  # Young's modulus [Pa], density [kg/m^3], Poisson's ratio
    "silicone": ((1e5, 2e6), (950.0, 1300.0), 0.5),
    "plastic": ((5e8, 4e9), (900.0, 1400.0), 0.4),
    "steel": ((1.9e11, 2.1e11), (7700.0, 7900.0), 0.3),
}


def _skeleton(dice: Dice, name: str) -> tuple[dict, dict]:
    count = int(dice.rng.choice(6, p=[0.28, 0.27, 0.18, 0.12, 0.08, 0.07])) + 1
    length = dice.scale(1e-3 if dice.chance(0.15) else 0.03, 3.0)
    kinds = ["rod" if dice.chance(0.72) else "body" for _ in range(count)]
    lengths = [short(length * dice.scale(0.4, 1.0)) for _ in kinds]
    family = dice.pick(silicone=0.45, plastic=0.3, steel=0.25)
    (soft, hard), (light, heavy), poisson = MATERIALS[family]
    young, density = dice.scale(soft, hard), dice.between(light, heavy)
    total = sum(lengths)
    fill = 1.0 + 0.5 * kinds.count("body")
    sag = dice.scale(1e-3, 1.0)  # of the robot's length, roughly, if it were one cantilever
    radius = math.sqrt(density * G * total**3 * fill / (2.0 * young * sag))
    radius = short(min(max(radius, length / 150.0), 0.4 * length / 8.0))
    mass = density * math.pi * radius**2 * total * fill
    bending = young * math.pi * radius**4 / 4.0
    gravity = [0.0, 0.0, 0.0] if dice.chance(0.15) else [short(v * G) for v in _down(dice)]
    sizes = {
        "length": total, "one": length, "radius": radius, "mass": mass, "bending": bending, "weight": mass * G,
        "turn": max(bending / total, 0.3 * mass * G * total),  # [N m/rad] of a joint's spring that carries the robot
        "grip": bending / total,  # [N m] that bends the robot by about a radian; less where nothing else holds it
    }  # fmt: skip
    material = {"call": "Material", "young": young, "density": density, "poisson": poisson}
    damping = dice.pick(none=0.3, light=0.4, heavy=0.3)
    pace = total**2 * math.sqrt(density * math.pi * radius**2 / bending) / 3.5  # 1 / rate of the first mode [s]
    if damping != "none":
        material["damping"] = short(pace * dice.scale(*{"light": (1e-3, 0.03), "heavy": (0.03, 1.0)}[damping]))
    spec: dict = {
        "name": name, "gravity": gravity, "parts": [], "closures": [], "loads": [], "actuators": [], "statics": True,
        "motion": {"dt": 0.0, "steps": 0, "start": "rest"}, "length": short(total), "pace": short(pace),
    }  # fmt: skip
    room = MOST_COORDINATES // count  # coordinates of a part
    for k, kind in enumerate(kinds):
        at = _where(dice, spec["parts"])
        what = _rod(dice, lengths[k], material, sizes, room) if kind == "rod" else _body(dice, lengths[k], sizes)
        part = {"name": f"p{k}", "what": what, "at": at, "joint": _joint(dice, sizes, first=at == "robot.ground")}
        part["reach"] = lengths[k] if kind == "rod" else short(0.5 * lengths[k])
        if dice.chance(0.4):
            part["pose"] = {"call": "place", "args": [dice.vector(dice.between(0.2, 3.0)), _offset(dice, at, sizes)]}
        if part["joint"]["call"] == "Fixed":
            del part["joint"]
        spec["parts"].append(part)
    if "rod" not in kinds and not any("joint" in part for part in spec["parts"]):  # something has to move
        spec["parts"][0]["joint"] = {"call": "Revolute", "axis": [0.0, 1.0, 0.0], "stiffness": short(sizes["turn"])}
    if any("joint" in part and "stiffness" not in part["joint"] for part in spec["parts"]):
        sizes["grip"] = min(sizes["grip"], 0.5 * sizes["weight"] * total)
    return spec, sizes


def _down(dice: Dice) -> list[float]:
    if dice.chance(0.7):
        return [0.0, 0.0, -1.0]
    return [-v for v in dice.direction()]


def _offset(dice: Dice, at: str, sizes: dict) -> list[float]:
    """Where a joint sits beside the frame: mostly on it."""
    return dice.vector(dice.between(0.0, 0.3 * sizes["one"])) if dice.chance(0.3) else [0.0, 0.0, 0.0]


def _where(dice: Dice, parts: list[dict]) -> str:
    if not parts or dice.chance(0.1):
        return "robot.ground"
    parent = parts[-1] if dice.chance(0.75) else dice.of(parts)
    if parent["what"]["call"] == "Rod":
        along = dice.between(0.2, 0.9) * parent["what"]["length"]
        return f"{parent['name']}.tip" if dice.chance(0.85) else f"{parent['name']}.section({short(along)!r})"
    return f"{parent['name']}.at(({parent['reach']!r}, 0.0, 0.0))"


def _rod(dice: Dice, length: float, material: dict, sizes: dict, room: int) -> dict:
    rod = {
        "call": "Rod", "length": length, "section": _section(dice, sizes["radius"], length), "material": material,
        "strains": _strains(dice, room),
    }  # fmt: skip
    shape = dice.pick(straight=0.75, arc=0.15, helix=0.1)
    if shape == "arc":
        turn = dice.between(0.2, 3.0) / length
        rod["rest"] = {"call": "ConstantCurvature", dice.of(["bend_y", "bend_z"]): short(turn)}
    elif shape == "helix":
        radius = length / (2.0 * math.pi * dice.between(0.4, 1.5))
        rod["rest"] = {"call": "Helix", "radius": short(0.9 * radius), "pitch": short(0.4 * 2 * math.pi * radius)}
    return rod


def _section(dice: Dice, r: float, length: float) -> dict:
    kind = dice.pick(circle=0.5, tube=0.12, ellipse=0.12, rectangle=0.13, taper=0.13)
    if kind == "tube":
        return {"call": "Tube", "outer": r, "inner": short(r * dice.between(0.3, 0.9))}
    if kind == "ellipse":
        return {"call": "Ellipse", "semi_y": r, "semi_z": short(r * dice.between(0.5, 1.5))}
    if kind == "rectangle":
        return {"call": "Rectangle", "size_y": short(1.8 * r), "size_z": short(1.8 * r * dice.between(0.5, 1.5))}
    if kind == "taper":
        ends = [{"call": "Circle", "radius": r}, {"call": "Circle", "radius": short(r * dice.between(0.4, 0.9))}]
        return {"call": "taper", "args": [*ends, length]}
    return {"call": "Circle", "radius": r}


def _strains(dice: Dice, room: int) -> dict:
    kind = dice.pick(kirchhoff=0.35, extensible_kirchhoff=0.2, reissner=0.2, planar=0.12, universal=0.05, pieces=0.08)
    each = {"kirchhoff": 3, "extensible_kirchhoff": 4, "reissner": 6, "planar": 2, "universal": 2, "pieces": 3}[kind]
    modes = max(1, min(dice.whole(1, 5), room // each))
    if kind == "pieces":
        basis = {"call": "PiecewisePolynomial", "args": [dice.whole(1, 3)], "degree": 1}
        return {"call": "Strains", "bend_y": basis, "bend_z": basis, "twist": 1}
    basis = dice.pick(legendre=0.6, chebyshev=0.1, monomial=0.08, free_tip=0.07, piecewise_constant=0.15)
    if basis == "monomial":
        modes = min(modes, 4)
    strains: dict = {"call": kind, "args": [modes]}
    if basis != "legendre":
        strains["basis"] = basis
    if kind == "planar" and dice.chance(0.5):
        strains["stretch_modes"] = 1
    if kind in ("reissner", "extensible_kirchhoff") and dice.chance(0.4):
        strains["stretch_modes"] = 1
    return strains


def _body(dice: Dice, length: float, sizes: dict) -> dict:
    mass = short(sizes["mass"] * dice.scale(0.03, 0.6))
    kind = dice.pick(box=0.5, cylinder=0.25, sphere=0.25)
    if kind == "box":
        size = [length, short(length * dice.between(0.1, 1.0)), short(length * dice.between(0.1, 1.0))]
        return {"call": "RigidBody.box", "args": [size], "mass": mass}
    if kind == "cylinder":
        return {"call": "RigidBody.cylinder", "radius": short(0.2 * length), "length": length, "mass": mass}
    return {"call": "RigidBody.sphere", "radius": short(0.5 * length), "mass": mass}


# Joints ---------------------------------------------------------------------------------------------------------------

JOINTS = {
    "Fixed": 0,
    "Revolute": 1,
    "Prismatic": 1,
    "Cylindrical": 2,
    "Universal": 2,
    "Planar": 3,
    "Spherical": 3,
    "Free": 6,
}
SLIDES = {"Prismatic": [1], "Cylindrical": [1, 0], "Planar": [1, 1, 0]}  # which coordinates are lengths


def _axes(dice: Dice, kind: str) -> dict:
    if kind in ("Revolute", "Prismatic", "Cylindrical"):
        return {"axis": dice.direction()}
    if kind == "Planar":
        return {"normal": dice.direction()}
    if kind == "Universal":
        return {"first": dice.of([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), "second": [0.0, 0.0, 1.0]}
    return {}


def _joint(dice: Dice, sizes: dict, first: bool) -> dict:
    weights = {
        "Fixed": 0.45,
        "Revolute": 0.2,
        "Prismatic": 0.07,
        "Cylindrical": 0.05,
        "Universal": 0.08,
        "Planar": 0.04,
    }
    weights |= {"Spherical": 0.07}
    kind = dice.pick(**weights, Free=0.08 if first else 0.01)
    joint: dict = {"call": kind, **_axes(dice, kind)}
    size = JOINTS[kind]
    if not size:
        return joint
    slides = SLIDES.get(kind, [0] * size)
    soft = dice.scale(0.5, 5.0)
    reach = sizes["length"]
    springs = [short(soft * sizes["turn"] / (0.02 * reach**2 if s else 1.0)) for s in slides]
    held = kind not in ("Spherical", "Free") and dice.chance(0.9)
    if held:
        joint["stiffness"] = springs[0] if size == 1 else springs
    if dice.chance(0.5):
        ratio, mass, inertia = dice.scale(0.005, 0.5), sizes["mass"], sizes["mass"] * reach**2 / 4.0
        if kind == "Free":
            each = [short(0.05 * mass / math.sqrt(reach))] * 3 + [short(0.05 * inertia)] * 3
        else:
            pairs = zip(springs, slides, strict=True)
            each = [short(2.0 * ratio * math.sqrt(k * (mass if s else inertia))) for k, s in pairs]
        joint["damping"] = each[0] if size == 1 else each
    if held and dice.chance(0.25):
        rest = [dice.between(-0.5, 0.5) * (0.1 * reach if s else 1.0) for s in slides]
        joint["rest"] = short(rest[0]) if size == 1 else [short(r) for r in rest]
    if held and size <= 2 and dice.chance(0.12):  # a motor that imposes its motion; how, is drawn later
        joint["motion"] = 0.0 if size == 1 else [0.0] + [None] * (size - 1)
    return joint


# Loops ----------------------------------------------------------------------------------------------------------------


def _close(dice: Dice, spec: dict, sizes: dict) -> None:
    """Maybe close a loop, where the rest shape or a random configuration has it."""
    rods = [p for p in spec["parts"] if p["what"]["call"] == "Rod"]
    if not rods or not dice.chance(0.3):
        return
    parents = {name for part in spec["parts"] for name in names_in(part["at"])}
    leaves = [p for p in spec["parts"] if p["name"] not in parents]
    b = dice.of(leaves)
    others = [p for p in spec["parts"] if p is not b and p["name"] not in names_in(b["at"])]
    a = _end(dice.of(others)) if others and dice.chance(0.4) else "robot.ground"
    held = _rows_left(spec, a, _end(b))
    kinds = {
        "Fixed": 0.3,
        "Revolute": 0.2,
        "Spherical": 0.2,
        "Prismatic": 0.07,
        "Cylindrical": 0.08,
        "Universal": 0.08,
        "Planar": 0.07,
    }
    rows = {"Fixed": 6, "Revolute": 5, "Spherical": 3, "Prismatic": 5, "Cylindrical": 4, "Universal": 4, "Planar": 3}
    kinds = {kind: p for kind, p in kinds.items() if rows[kind] < held}
    if not kinds:
        return
    kind = dice.pick(**kinds)
    joint = {"call": kind, **_axes(dice, kind)}
    if kind in ("Revolute", "Prismatic") and dice.chance(0.25):
        joint["stiffness"] = short(sizes["turn"] / (1.0 if kind == "Revolute" else 0.02 * sizes["length"] ** 2))
    made, q = _compiled(spec), None
    if dice.chance(0.35):  # closed at a configuration of its own: the rest shape has to be mounted
        q = np.round(dice.rng.normal(size=made.size) * 0.25 / made.tree.scale * _soft(made, sizes), 6)
    else:
        q = np.zeros(made.size)
    ends = _poses(made, [a, _end(b)], spec, q)
    pose = np.linalg.inv(ends[0]) @ ends[1]
    spec["closures"].append({"a": a, "b": _end(b), "joint": joint, "pose": [[float(x) for x in row] for row in pose]})
    if np.any(q):
        spec["mounted"] = [float(x) for x in q]


def closed(spec: dict) -> list[dict]:
    """The closures, with those that hold at rest made to fit the rest shape that the parts have now."""
    out = []
    for closure in spec["closures"]:
        if closure.get("at_rest"):
            bare = _compiled({**spec, "closures": [], "loads": [], "actuators": []})
            ends = _poses(bare, [closure["a"], closure["b"]], spec, np.zeros(bare.size))
            closure = {**closure, "pose": (np.linalg.inv(ends[0]) @ ends[1]).tolist()}
        out.append(closure)
    return out


def _soft(made: Model, sizes: dict) -> np.ndarray:
    """Factors (n,) on random coordinates: stretch and shear of stiff rods stay small."""
    labels = made.robot.coordinates()
    slight = min(1.0, 3.0 * (sizes["radius"] / sizes["length"]) ** 2)
    first = lambda x: 1.0 if "[" not in x or x.endswith("[0]") else 0.1  # higher modes are stiff
    return np.array([slight if ".stretch" in x or ".shear" in x else 0.3 if "slide" in x else first(x) for x in labels])


def _end(part: dict) -> str:
    return (
        f"{part['name']}.tip" if part["what"]["call"] == "Rod" else f"{part['name']}.at(({part['reach']!r}, 0.0, 0.0))"
    )


def _rows_left(spec: dict, a: str, b: str) -> int:
    """How many coordinates are on the way between two frames (strains and joints)."""
    by_name = {p["name"]: p for p in spec["parts"]}

    def ancestors(frame: str) -> list[str]:
        out = []
        while (found := sorted(names_in(frame))) and found:
            out.append(found[0])
            frame = by_name[found[0]]["at"]
        return out

    way = set(ancestors(a)) ^ set(ancestors(b))
    made = build(spec)
    return sum(part.size for part in made.robot.parts if part.name in way)


def _compiled(spec: dict) -> Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Model(build(spec).robot)


def _poses(system: Model, frames: list[str], spec: dict, q: np.ndarray) -> list[np.ndarray]:
    from anguilla.results.kinematics import motion_of

    robot = system.robot
    space = {"robot": robot, **{part.name: part for part in robot.parts}}
    found = motion_of(system, [eval(f, space) for f in frames], q[None], 0 * q[None], 0 * q[None])[0]
    poses = []
    for row in found:
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = row[:9].reshape(3, 3), row[9:12]
        poses.append(pose)
    return poses


# Time -----------------------------------------------------------------------------------------------------------------


def _pace(spec: dict, sizes: dict) -> None:
    """1 / rate of the slowest vibration about the rest shape [s]: what the user would find with `modes`."""
    system = _compiled(spec)
    n = system.size
    free = np.setdiff1d(np.arange(n), system.blank.driven)
    K, _, M = system.matrices(np.zeros(n))
    if system.rows:
        J = system.constraints(np.zeros(n))[1] / system.tree.scale
        _, s, rows = np.linalg.svd(J)
        basis = rows[int(np.sum(s > 1e-9 * s[0])) :].T / system.tree.scale[:, None]
        basis = basis[:, np.linalg.norm(basis[free], axis=0) > 1e-12]
    else:
        basis = np.eye(n)[:, free]
    floor = math.sqrt(sizes["length"] / G)  # of what swings, falls or floats
    sizes["pace"] = floor
    if basis.shape[1]:
        K, M = (basis.T @ X @ basis for X in (K + K.T, M + M.T))
        d = 1.0 / np.sqrt(np.maximum(np.diag(M), 1e-300))
        try:
            squares = eigh(K * np.outer(d, d), M * np.outer(d, d), eigvals_only=True)
        except np.linalg.LinAlgError:
            squares = np.zeros(0)
        squares = squares[np.abs(squares) > 1e-7 * np.max(np.abs(squares), initial=0.0)]
        if len(squares):
            loose = any("joint" in p and "stiffness" not in p["joint"] for p in spec["parts"])
            sizes["pace"] = min(1.0 / math.sqrt(np.min(np.abs(squares))), (0.7 if loose else 3.0) * floor)
    spec["pace"] = short(sizes["pace"], 3)


def _signal(dice: Dice, value: Any, sizes: dict, *, along: bool = False) -> Any:
    """A constant, or a function of time (of place and time) that changes about as fast as the robot moves."""
    found = _in_time(dice, value, sizes)
    return {**found, "along": True} if along and isinstance(found, dict) else found


def _in_time(dice: Dice, value: Any, sizes: dict) -> Any:
    kind = dice.pick(constant=0.5, sine=0.2, ramp=0.15, jump=0.15)
    if kind == "sine":
        return {
            "signal": "sine",
            "value": value,
            "rate": short(dice.between(0.3, 2.0) / sizes["pace"]),
            "phase": dice.of([0.0, 1.0]),
        }
    if kind == "ramp":
        return {"signal": "ramp", "value": value, "over": short(dice.between(0.5, 3.0) * sizes["pace"])}
    if kind == "jump":
        return {"signal": "jump", "value": value, "at": short(dice.between(0.3, 2.0) * sizes["pace"])}
    return value


# Loads, actuators, surroundings -----------------------------------------------------------------------------------------


def _rods(spec: dict) -> list[dict]:
    return [p for p in spec["parts"] if p["what"]["call"] == "Rod"]


def _actuate(dice: Dice, spec: dict, sizes: dict) -> None:
    rods = _rods(spec)
    if not rods or not dice.chance(0.35):
        return
    for k in range(dice.whole(1, 2)):
        rod = dice.of(rods)
        away, length = short(0.8 * sizes["radius"]), rod["what"]["length"]
        route = dice.pick(parallel=0.6, convergent=0.2, helical=0.2)
        if route == "parallel":
            routing = {"call": "parallel", dice.of(["y", "z"]): away}
        elif route == "convergent":
            routing = {"call": "convergent", "args": [[away, 0.0], [0.0, short(0.5 * away)], length]}
        else:
            routing = {"call": "helical", "radius": away, "pitch": short(length * dice.between(0.5, 2.0))}
        path: Any = {"code": rod["name"]}
        kind = dice.pick(tension=0.55, length=0.2, chamber=0.25)
        pull = dice.scale(0.03, 0.7) * sizes["grip"] / away
        name = f"line{k}"
        if kind == "chamber":
            area = short(0.5 * away**2)
            what = {"call": "Chamber", "args": [path, routing], "area": area}
            spec["actuators"].append({"name": name, "what": what, "input": _signal(dice, short(pull / area), sizes)})
            continue
        what = {"call": "Tendon", "args": [path, routing]}
        if dice.chance(0.15) and kind == "tension":
            what["friction"] = dice.between(0.05, 0.3)
        if kind == "tension":
            pulled = _signal(dice, short(pull), sizes)
            if isinstance(pulled, dict) and pulled["signal"] == "sine":  # a tendon cannot push
                pulled = {"signal": "swing", "value": pulled["value"], "rate": pulled["rate"]}
            spec["actuators"].append({"name": name, "what": what, "input": pulled})
            continue
        what["by"] = "length"
        if dice.chance(0.4):
            what["compliance"] = short(0.02 * length / max(pull, 1e-12))
        spec["actuators"].append({"name": name, "what": what, "input": 0.0})
        system = _compiled({**spec, "actuators": spec["actuators"]})
        rest = float(cable_length(system, name, np.zeros((1, system.size)))[0][0])
        drawn = dice.between(0.0, 0.4) * away  # about so many radians of bending
        value: Any = short(rest - drawn, 6)
        if dice.chance(0.4):
            value = {
                "signal": "draw",
                "value": short(rest, 8),
                "by": -short(drawn),
                "over": short(dice.between(1.0, 3.0) * sizes["pace"]),
            }
        spec["actuators"][-1]["input"] = value


def _load(dice: Dice, spec: dict, sizes: dict) -> None:
    for _ in range(int(dice.rng.choice(4, p=[0.3, 0.4, 0.2, 0.1]))):
        part = dice.of(spec["parts"])
        rod, frame = part["what"]["call"] == "Rod", _end(part)
        grip, reach = sizes["grip"] * dice.scale(0.03, 1.0), sizes["length"]
        kind = dice.pick(wrench=0.5, spread=0.14, spring=0.12, muscle=0.08, magnet=0.08, thruster=0.08)
        code, handle = {"code": frame}, {"code": part["name"]}
        if kind == "wrench" or (kind in ("spread", "muscle") and not rod):
            load: dict = {"call": "Wrench", "args": [code]}
            if dice.chance(0.8):
                load["force"] = _signal(dice, dice.vector(grip / reach), sizes)
            if len(load) == 2 or dice.chance(0.25):
                load["moment"] = _signal(dice, dice.vector(grip), sizes)
            if dice.chance(0.25):
                load["follower"] = True
        elif kind == "spread":
            load = {
                "call": "DistributedWrench",
                "args": [handle],
                "force": _signal(dice, dice.vector(grip / reach / part["what"]["length"]), sizes, along=True),
            }
            if dice.chance(0.2):
                load["follower"] = True
        elif kind == "spring":
            anchor = dice.vector(dice.between(0.5, 1.5) * reach)
            load = {
                "call": "Spring",
                "args": [code, {"code": f"robot.ground.offset_by({tuple(anchor)!r})"}],
                "stiffness": short(grip / reach**2),
                "rest": short(dice.between(0.0, 0.5) * reach),
            }
            if dice.chance(0.4):
                load["damping"] = short(0.2 * math.sqrt(load["stiffness"] * sizes["mass"]))
        elif kind == "muscle":
            load = {
                "call": "Muscle",
                "args": [handle],
                "moment": _signal(dice, [0.0, *dice.vector(0.7 * grip)[:2]], sizes, along=True),
            }
        elif kind == "magnet":
            moment = short(grip / 0.05)
            where = handle if rod and dice.chance(0.5) else code
            per = part["what"]["length"] if where is handle else 1.0
            load = {
                "call": "Magnet",
                "args": [where, dice.vector(moment / per)],
                "field": _signal(dice, dice.vector(0.05), sizes),
            }
        else:
            speed = 0.2 * reach / sizes["pace"]
            kp = 0.3 * sizes["mass"] / sizes["pace"]
            turn = kp * reach**2 / 4.0
            load = {
                "call": "Thruster",
                "args": [code],
                "kp": [short(turn)] * 3 + [short(kp)] * 3,
                "velocity": dice.vector(speed),
            }
            if dice.chance(0.4):
                load["ki"] = [0.0] * 3 + [short(0.1 * kp / sizes["pace"])] * 3
        spec["loads"].append(load)


def _water(dice: Dice, spec: dict, sizes: dict) -> None:
    if not dice.chance(0.12):
        return
    current = dice.vector(0.1 * sizes["length"] / sizes["pace"]) if dice.chance(0.3) else None
    kind = dice.pick(Morison=0.5, ResistiveForce=0.3, Lighthill=0.2)
    for part in spec["parts"]:
        handle = {"code": part["name"]}
        more = {"current": current} if current else {}
        if part["what"]["call"] == "Rod":
            if kind == "ResistiveForce":
                drag = short(0.2 * sizes["mass"] / sizes["length"] / sizes["pace"])
                load = {"call": kind, "args": [handle], "tangential": short(0.5 * drag), "normal": drag, **more}
            elif kind == "Lighthill" and part["what"]["section"]["call"] in ("Circle", "Ellipse"):
                load = {"call": kind, "args": [handle], "density": 1000.0, **more}
            else:
                load = {"call": "Morison", "args": [handle], "density": 1000.0, **more}
            spec["loads"].append(load)
            if dice.chance(0.7):
                spec["loads"].append({"call": "Buoyancy", "args": [handle], "density": 1000.0})
        else:
            side = part["reach"]
            drag = [short(500.0 * side**2)] * 3
            added = [short(0.5 * part["what"]["mass"])] * 3
            displaced = short(0.8 * part["what"]["mass"])
            spec["loads"].append(
                {
                    "call": "Hull",
                    "args": [{"code": f"{part['name']}.frame"}],
                    "drag": drag,
                    "added": added,
                    "displaced": displaced,
                    **more,
                }
            )


def _touch(dice: Dice, spec: dict, sizes: dict) -> None:
    """Maybe a floor, a pillar or a ball near the robot, as stiff as its weight asks for."""
    if not dice.chance(0.15):
        return
    system = _compiled(spec)
    q = np.array(spec["mounted"]) if len(spec.get("mounted", [])) == system.size else np.zeros(system.size)
    part = dice.of(spec["parts"])
    rod = part["what"]["call"] == "Rod"
    tip = _poses(system, [_end(part)], spec, q)[0][:3, 3]
    down = np.array(spec["gravity"]) / (np.linalg.norm(spec["gravity"]) or 1.0)
    if not np.any(down):
        down = np.array(dice.direction())
    reach = sizes["length"]
    gap = dice.between(0.0, 0.1) * reach + (sizes["radius"] if rod else 0.0)
    press = max(sizes["weight"], sizes["grip"] / reach)
    sink = dice.scale(0.003, 0.03) * reach
    where: dict = {"code": f"{part['name']}.tip" if rod and dice.chance(0.5) else part["name"]}
    if not rod:
        where = (
            {"code": f"{part['name']}.frame"}
            if part["what"]["call"] == "RigidBody.cylinder" or dice.chance(0.3)
            else where
        )
    kind = dice.pick(floor=0.6, pillar=0.2, ball=0.2)
    if part["what"]["call"] == "RigidBody.box" and kind != "floor":
        where = {"code": f"{part['name']}.frame"}  # its corners alone could miss what is round
    along = rod and not where["code"].endswith(".tip")
    frame = "." in where["code"]
    gap_radius = short(0.02 * reach)
    depth = _touched(system, spec, part, where["code"], q, down) + gap
    if kind == "floor":
        obstacle = {"call": "HalfSpace", "normal": [-float(v) for v in down], "offset": short(-float(depth))}
    else:
        radius = dice.between(0.1, 0.5) * reach
        centre = [short(v) for v in tip + down * (depth - float(tip @ down) + radius)]
        across = np.cross(down, dice.direction())
        if np.linalg.norm(across) < 0.1:
            across = np.cross(down, np.roll(down, 1) + 0.3)
        obstacle = {"call": "Sphere", "args": [centre, short(radius)]}
        if kind == "pillar":
            obstacle = {"call": "Pillar", "args": [centre, [short(v) for v in across], short(radius)]}
    load = {
        "call": "Contact",
        "args": [where, obstacle, short(press / sink / (part["what"]["length"] if along else 1.0))],
    }
    if frame:
        load["radius"] = gap_radius
    load["smooth"] = short(0.3 * sink)
    if dice.chance(0.4):
        load["damping"] = short(dice.between(0.1, 1.0) * sizes["pace"] / reach)
    if dice.chance(0.4):
        load["friction"] = dice.between(0.1, 0.8)
        load["slip"] = short(0.05 * reach / sizes["pace"])
    spec["loads"].append(load)
    spec["touch"] = short(math.sqrt(sizes["mass"] * sink / press))  # 1 / rate of what lies on it [s]


def _position(spec: dict, end: str) -> np.ndarray:
    """Where (3,) [m] a frame is at the start."""
    system = _compiled(spec)
    q = np.array(spec["mounted"]) if len(spec.get("mounted", [])) == system.size else np.zeros(system.size)
    return _poses(system, [end], spec, q)[0][:3, 3]


def _touched(system: Model, spec: dict, part: dict, where: str, q: np.ndarray, down: np.ndarray) -> float:
    """How far down [m] what may touch reaches in the given configuration."""
    name = part["name"]
    if part["what"]["call"] == "Rod":
        length = part["what"]["length"]
        frames = (
            [where]
            if "." in where
            else [f"{name}.section({short(length * s)!r})" for s in (0, 0.25, 0.5, 0.75)] + [f"{name}.tip"]
        )
        return max(float(pose[:3, 3] @ down) for pose in _poses(system, frames, spec, q)) + (
            0.0 if "." not in where else 0.02 * spec["length"]
        )
    pose = _poses(system, [f"{name}.frame"], spec, q)[0]
    return float(pose[:3, 3] @ down) + (0.02 * spec["length"] if "." in where else 1.8 * part["reach"])


def _drive(dice: Dice, spec: dict, sizes: dict) -> None:
    """Motors: efforts and imposed motions of joints."""
    for part in spec["parts"]:
        joint = part.get("joint")
        if joint is None:
            continue
        size, slides = JOINTS[joint["call"]], SLIDES.get(joint["call"], [0] * 6)
        if "motion" in joint:
            amount = dice.between(0.1, 0.6) * (0.1 * sizes["length"] if slides[0] else 1.0)
            kind = dice.pick(constant=0.3, swing=0.5, sine=0.2)
            rate = short(dice.between(0.3, 1.0) / sizes["pace"])
            value: Any = short(amount) if kind == "constant" else {"signal": kind, "value": short(amount), "rate": rate}
            joint["motion"] = value if size == 1 else [value] + [None] * (size - 1)
        elif size == 1 and dice.chance(0.2):
            torque = dice.between(-0.4, 0.4) * sizes["turn"] / (0.2 * sizes["length"] if slides[0] else 1.0)
            joint["effort"] = _signal(dice, short(torque), sizes)


# Questions ------------------------------------------------------------------------------------------------------------


def _ask(dice: Dice, spec: dict, sizes: dict) -> None:
    """Whether an equilibrium can be asked for, and the motion: step, number of steps, start."""
    spec["statics"] = _may_rest(dice, spec)
    if not spec["statics"] or "mounted" in spec:  # a line of given length needs an equilibrium to start from
        spec["actuators"] = [
            a for a in spec["actuators"] if a["what"].get("by") != "length" or "compliance" in a["what"]
        ]
    pace = sizes["pace"]
    dt = 2.0 * math.pi * pace / dice.scale(50.0, 200.0)
    if "touch" in spec:
        dt = min(dt, 2.0 * math.pi * spec["touch"] / 25.0)
    steps = dice.whole(30, 60)
    start: Any = "rest"
    system = _compiled(spec)
    if "mounted" in spec and len(spec["mounted"]) == system.size and (not spec["statics"] or dice.chance(0.5)):
        start = {"q": spec["mounted"]}
    elif spec["statics"]:
        drawn = any(a["what"].get("by") == "length" and "compliance" not in a["what"] for a in spec["actuators"])
        choice = dice.pick(rest=0.0 if drawn else 0.35, equilibrium=0.3, held=0.35)
        start = choice
        if choice == "held":
            part = dice.of(spec["parts"])
            force = dice.vector(dice.scale(0.05, 0.5) * sizes["grip"] / sizes["length"])
            start = {"held": {"call": "Wrench", "args": [{"code": _end(part)}], "force": force}}
    elif not spec["closures"] and dice.chance(0.5):
        speed = 0.3 / pace / system.tree.scale * _soft(system, sizes)
        speed[
            [".stretch" in x or ".shear" in x or ".twist" in x or ".bend" in x for x in system.robot.coordinates()]
        ] = 0.0
        v = [short(x) for x in dice.rng.normal(size=system.size) * speed]
        start = {"q": [0.0] * system.size, "v": v}
    spec["motion"] = {"dt": short(dt, 2), "steps": steps, "start": start}


def _may_rest(dice: Dice, spec: dict) -> bool:
    """Whether something holds every joint, so that an equilibrium exists that a user would ask for."""
    down = np.array(spec["gravity"])
    closed = {name for c in spec["closures"] for name in names_in(c["a"]) | names_in(c["b"])}
    for part in spec["parts"]:
        joint = part.get("joint")
        if joint is None or "stiffness" in joint:
            continue
        if part["name"] in closed and joint["call"] in ("Revolute", "Universal", "Spherical"):
            continue
        hangs = joint["call"] in ("Revolute", "Universal") and np.any(down) and part["at"] == "robot.ground"
        if not hangs or abs(np.dot(joint.get("axis", joint.get("second")), down)) > 0.5 * np.linalg.norm(down):
            return False
    if any(load["call"] == "Thruster" for load in spec["loads"]):
        return dice.chance(0.5)
    return True


__all__ = ["ag", "robot"]
