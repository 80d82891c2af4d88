"""The same robot in other units of mass and time.

With powers of two every product and quotient has the same digits, so that answers agree to the last one, unless something
is compared with a number that should have had a unit.
"""

from __future__ import annotations

from typing import Any

FORCE, RATE, FORCE_RATE, DENSITY = (1, -2), (0, -1), (1, -1), (1, 0)
JOINT = {"stiffness": FORCE, "damping": FORCE_RATE, "effort": FORCE}
FLUID = {"density": DENSITY, "current": RATE}
# powers of mass and of time in what a call is given by name, or by the number of the argument; all others have none
POWERS: dict[str, dict[str | int, tuple[int, int]]] = {
    "Material": {"young": FORCE, "density": DENSITY, "damping": (0, 1)},
    "RigidBody.box": {"mass": DENSITY}, "RigidBody.cylinder": {"mass": DENSITY}, "RigidBody.sphere": {"mass": DENSITY},
    **dict.fromkeys(("Revolute", "Prismatic", "Cylindrical", "Planar", "Universal", "Spherical", "Free"), JOINT),
    "Spring": {"stiffness": FORCE, "damping": FORCE_RATE}, "Contact": {2: FORCE, "damping": (0, 1), "slip": RATE},
    "Wrench": {"force": FORCE, "moment": FORCE}, "DistributedWrench": {"force": FORCE, "moment": FORCE},
    "Buoyancy": FLUID, "Lighthill": FLUID, "Morison": FLUID,
    "Hull": {"drag": DENSITY, "added": DENSITY, "displaced": DENSITY, "current": RATE},
    "ResistiveForce": {"tangential": FORCE_RATE, "normal": FORCE_RATE, "current": RATE},
    "Thruster": {"kp": FORCE_RATE, "ki": FORCE, "velocity": RATE}, "Magnet": {1: FORCE}, "Muscle": {"moment": FORCE},
    "Tendon": {"compliance": (-1, 2)},
}  # fmt: skip
UNKNOWN = ("UserLoad",)


def scaled(spec: dict, mass: float, time: float) -> dict | None:
    """The specification with `mass` times the masses and `time` times the times; None if there is something unknown in it."""
    if any(call in str(spec) for call in UNKNOWN):
        return None

    def times(powers: tuple[int, int]) -> float:
        return mass ** powers[0] * time ** powers[1]

    def of(value: Any, factor: float = 1.0) -> Any:
        if isinstance(value, list):
            return [of(v, factor) for v in value]
        if isinstance(value, dict):
            return value if "code" in value else signal(value, factor) if "signal" in value else call(value)
        return value if isinstance(value, str | bool | int) or value is None else factor * value

    def signal(told: dict, factor: float) -> dict:
        powers = {"value": factor, "by": factor, "rate": 1.0 / time, "over": time, "at": time}
        return {key: of(v, powers[key]) if key in powers else v for key, v in told.items()}

    def call(told: dict) -> dict:
        powers = POWERS.get(told["call"], {})
        found = {key: of(v, times(powers.get(key, (0, 0)))) for key, v in told.items() if key not in ("call", "args")}
        given = [of(v, times(powers.get(k, (0, 0)))) for k, v in enumerate(told.get("args", []))]
        return {"call": told["call"], **({"args": given} if given else {}), **found}

    def driven(actuator: dict) -> dict:
        length = actuator["what"].get("by") == "length" or actuator["what"]["call"] == "Muscle"
        return {
            **actuator,
            "what": call(actuator["what"]),
            "input": of(actuator["input"], 1.0 if length else times(FORCE)),
        }

    def begun(start: Any) -> Any:
        if not isinstance(start, dict):
            return start
        if "held" in start:
            return {"held": call(start["held"])}
        return {**start, **({"v": of(start["v"], 1.0 / time)} if "v" in start else {})}

    def built(part: dict) -> dict:
        joint = {"joint": call(part["joint"])} if part.get("joint") else {}
        return {**part, "what": call(part["what"]), **joint}

    motion = spec["motion"]
    return {
        **spec,
        "gravity": of(spec["gravity"], time**-2),
        "parts": [built(part) for part in spec["parts"]],
        "closures": [{**closure, "joint": call(closure["joint"])} for closure in spec["closures"]],
        "loads": [call(load) for load in spec["loads"]],
        "actuators": [driven(actuator) for actuator in spec["actuators"]],
        "motion": {**motion, "dt": motion["dt"] * time, "start": begun(motion["start"])},
    }  # fmt: skip
