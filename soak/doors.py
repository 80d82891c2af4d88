"""The campaign of doors: random robots, each asked the same question in several ways, which must agree.

    python soak/doors.py --robots 1000 --seed 1 --out doors.jsonl [--resume] [--workers 2] [--minutes 45]
    python soak/doors.py --seed 1 --only 17

An equilibrium and a motion are found by the plain call, and again: of the robot written to a file and read, by the other
linear algebra, step by step, as one of a batch, every second state, from the saved result, and in other units of mass and of
time; and gradients are compared with differences. A door may refuse a robot; one that gives another answer is wrong.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):  # before numpy: one core per worker
    os.environ.setdefault(name, "1")

sys.path.insert(0, str(Path(__file__).parent))

import tempfile
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import generate
import numpy as np
from contact import _campaign
from describe import build, source
from units import scaled
from verify import _asked, _start, listen, positions

import anguilla as ag
from anguilla.model.user import move

SAME, NEAR = 1e-12, 1e-6  # of the length: the same steps, and what Newton's tolerance leaves
WAYS = ("dense", "tree", "sparse")
UNITS = {"heavier": (2.0**16, 1.0), "lighter": (2.0**-16, 1.0), "slower": (1.0, 2.0**8), "quicker": (1.0, 2.0**-8)}
SLOPE, NOISE = 1e-3, 1e-2  # of a gradient: its error, and how well differences with two steps have to agree to tell


def judge(spec: dict) -> dict:
    """The record of a robot: the outcome of each door."""
    statics, eq = _asked(check_statics, spec)
    motion, _ = _asked(check_motion, spec, eq)
    worst = max((statics, motion), key=lambda record: ORDER.index(record["outcome"]))
    return {"statics": statics, "motion": motion, "outcome": worst["outcome"], "reason": worst["reason"]}


ORDER = ["right", "refused", "crash", "wrong"]


def check_statics(spec: dict, numbers: dict) -> tuple[str, str, Any]:
    """Outcome, reason and equilibrium."""
    made = build(spec)

    def ask(robot: Any, **more: Any) -> Any:
        return ag.statics(robot, inputs=made.inputs, **more)

    eq, said = listen(lambda: ask(made.robot))
    doors = {
        "file": lambda: _apart(made, eq, listen(lambda: ask(_read(made)))[0]),
        "saved": lambda: _apart(made, eq, _loaded(eq, made)),
        **{
            way: lambda way=way: _apart(made, eq, listen(lambda: ask(ag.Model(made.robot, way)))[0])
            for way in ("dense", "tree", "sparse")
        },
    }
    doors |= {unit: lambda factors=factors: _of_equilibrium(made, eq, *factors) for unit, factors in UNITS.items()}
    limits = {"file": SAME, "saved": SAME}
    if _unsure(said) or _holds(made):
        limits, doors = {"file": SAME, "saved": SAME}, {key: doors[key] for key in ("file", "saved")}
    else:
        doors["gradient"] = lambda: _slope_of_equilibrium(made, eq)
    return _verdict(made, doors, limits, numbers, eq)


def check_motion(spec: dict, eq: Any, numbers: dict) -> tuple[str, str, Any]:
    """Outcome, reason and motion."""
    made = build(spec)
    start = _start(spec, made, eq)
    dt, steps = spec["motion"]["dt"], spec["motion"]["steps"] // 2 * 2

    def ask(robot: Any, begin: Any = start, **more: Any) -> Any:
        return ag.simulate(robot, duration=steps * dt, dt=dt, inputs=made.inputs, start=begin, progress=False, **more)

    run, _ = listen(lambda: ask(made.robot))
    numbers["error"] = getattr(run.quality, "time_error", None)
    same = run.stored.q[0], run.stored.v[0]  # there may be several ways to close loops
    doors = {
        "file": lambda: _apart(made, run, listen(lambda: ask(_read(made)))[0]),
        "saved": lambda: _apart(made, run, _loaded(run, made)),
        "every": lambda: _apart(made, run[::2], listen(lambda: ask(made.robot, every=2))[0]),
        "batch": lambda: _apart(made, run, _of_batch(made, start, dt, steps)),
        "stepper": lambda: _apart(made, run, _by_steps(made, start, dt, steps)),
        **{
            way: lambda way=way: _by_way_in_time(made, run, listen(lambda: ask(ag.Model(made.robot, way), same))[0])
            for way in WAYS
        },
        "gradient": lambda: _slope_of_motion(made, run, ask),
    }  # fmt: skip
    doors |= {unit: lambda factors=factors: _of_motion(made, run, eq, *factors) for unit, factors in UNITS.items()}
    limits = {"file": SAME, "saved": SAME, "every": SAME, "batch": SAME}
    if run.quality.events or any(callable(value) for value in made.inputs.values()):
        del doors["stepper"]  # which does not know of jumps, and takes numbers
    return _verdict(made, doors, limits, numbers, run)


def _verdict(made: SimpleNamespace, doors: dict, limits: dict, numbers: dict, result: Any) -> tuple[str, str, Any]:
    error = numbers.get("error") or 0.0
    near = (
        max(NEAR, 0.1 * error) if error < 1e-3 else 3.0 * error
    )  # what grows within a motion is not the fault of a door
    faults, crashed = [], []
    for door, ask in doors.items():
        try:
            found = ask()
        except ag.AnguillaError as error:
            numbers[door] = str(error)[:120]
            continue
        except Exception as error:
            crashed.append(f"{door}: {type(error).__name__}: {error}"[:300])
            continue
        numbers[door] = None if found is None else float(f"{found:.3g}")
        limit = SLOPE if door == "gradient" else limits.get(door, near)
        if found is not None and not found <= limit:
            faults.append(f"{door} differs by {found:.1e}")
    if faults or crashed:
        return ("wrong" if faults else "crash"), "; ".join([*faults, *crashed]), result
    return "right", "", result


def _apart(made: SimpleNamespace, one: Any, other: Any) -> float:
    """How far apart [length] the ends of all parts are."""
    places = np.stack([other.position(_like(end, other.robot)) for end in made.ends], axis=-2)
    return float(np.max(np.linalg.norm(positions(made, one) - places, axis=-1))) / made.spec["length"]


def _by_way_in_time(made: SimpleNamespace, one: Any, other: Any) -> float:
    """How far apart [length] two motions are; what their steps are told to miss is left out where any was cut."""
    cut = any(run.status.counters["substeps"] for run in (one, other))
    told = max(run.quality.time_error or 0.0 for run in (one, other))
    return max(0.0, _apart(made, one, other) - (3.0 * told if cut else 0.0))


def _like(frame: Any, robot: Any) -> Any:
    """The frame of another robot that is made the same way."""
    return replace(frame, robot=robot)


def _by_way(made: SimpleNamespace, eq: Any, other: Any, said: list[str]) -> float | None:
    """How far apart [length] two equilibria are, if nothing is said against the other one."""
    return None if _unsure(said) else _apart(made, eq, other)


def _unsure(said: list[str]) -> bool:
    return any("unstable" in word or "not unique" in word for word in said)


def _holds(made: SimpleNamespace) -> bool:
    """Whether the answer depends on the way it was reached."""
    return any(getattr(load, "friction", 0.0) for load in made.robot.loads)


def _read(made: SimpleNamespace) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return ag.read_robot(ag.write_robot(made.robot, Path(folder) / "robot.yaml"))


def _loaded(result: Any, made: SimpleNamespace) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.nc"
        result.save(path)
        return ag.load(path, robot=made.robot)


def _of_batch(made: SimpleNamespace, start: Any, dt: float, steps: int) -> Any:
    return listen(
        lambda: ag.simulate_batch(
            made.robot, duration=steps * dt, dt=dt, inputs=[made.inputs] * 2, starts=[start] * 2, progress=False
        )
    )[0][1]


def _of_equilibrium(made: SimpleNamespace, eq: Any, mass: float, time: float) -> float | None:
    """How far [length] the equilibrium in other units is."""
    spec = scaled(made.spec, mass, time)
    if spec is None:
        return None
    other = listen(lambda: build(spec))[0]
    return _apart(made, eq, listen(lambda: ag.statics(other.robot, inputs=other.inputs))[0])


def _of_motion(made: SimpleNamespace, run: Any, eq: Any, mass: float, time: float) -> float | None:
    """How far [length] the motion in other units is, from the same start."""
    spec = scaled(made.spec, mass, time)
    if spec is None:
        return None
    other, dt, steps = listen(lambda: build(spec))[0], spec["motion"]["dt"], len(run.t) - 1
    start = spec["motion"]["start"]
    begin = eq.q if start == "equilibrium" and eq is not None else (run.stored.q[0], run.stored.v[0] / time)
    more = {"inputs": other.inputs, "start": begin, "progress": False}
    return _apart(made, run, listen(lambda: ag.simulate(other.robot, duration=steps * dt, dt=dt, **more))[0])


def _by_steps(made: SimpleNamespace, start: Any, dt: float, steps: int) -> Any:
    stepper = ag.Stepper(made.robot, dt=dt, inputs=made.inputs, start=start, history=True)
    listen(lambda: stepper.step(steps))
    return stepper.trajectory()


def _slope_of_equilibrium(made: SimpleNamespace, eq: Any) -> float | None:
    """Error of the gradient by the modulus of the first rod and the inputs, as a part of it."""
    cost = ag.Reach(made.ends[-1], np.zeros(3))

    def again(spec: dict, inputs: dict) -> Any:
        return listen(lambda: ag.statics(build(spec).robot, inputs=inputs, start=eq))[0]

    found = ag.gradient(eq, cost, design=[f"{name}.material.young"] if (name := _rod(made.spec)) else None)
    return _worst(made, cost, found, again, lambda rates: float(np.sum(rates)))


def _slope_of_motion(made: SimpleNamespace, run: Any, ask: Callable) -> float | None:
    """Error of the gradient by the modulus of the first rod, the inputs and the start, as a part of it."""
    if run.quality.events or run.status.counters["substeps"] or run.status.counters["eased"]:
        return None
    more: dict[str, Any] = {"tolerance": 1e-11, "events": []}
    if run.system.rows:
        more["smooth_start"] = False  # as gradients of closed robots need it
    q0 = np.array(run.q)[0]
    start = (q0, np.array(run.v)[0])
    plain = listen(lambda: ask(made.robot, start, **more))[0]
    if plain.status.counters["eased"]:
        return None
    cost = ag.Reach(made.ends[-1], np.zeros(3), "last")
    found = ag.gradient(plain, cost, design=[f"{name}.material.young"] if (name := _rod(made.spec)) else None)

    def again(spec: dict, inputs: dict) -> Any:
        other = build(spec)
        return listen(
            lambda: ag.simulate(
                other.robot, duration=float(run.t[-1]), dt=made.spec["motion"]["dt"], inputs=inputs, start=start,
                progress=False, **more,
            )
        )[0]  # fmt: skip

    worst = _worst(made, cost, found, again, lambda rates: float(np.sum(rates)))
    along = np.cos(1.0 + np.arange(len(q0))) / plain.system.tree.scale
    if plain.system.rows:
        return worst

    def value(h: float) -> float:
        return _cost(
            made, listen(lambda: ask(made.robot, (move(plain.system.tree, q0, h * along), start[1]), **more))[0]
        )

    return _largest(worst, _off(float(np.asarray(found.q) @ along), value, 1e-4))


def _worst(made: SimpleNamespace, cost: Any, found: Any, again: Callable, total: Callable) -> float | None:
    """The largest error by the modulus and the inputs that are numbers."""
    worst = None
    if (name := _rod(made.spec)) and len(found.design):
        young = next(part for part in made.spec["parts"] if part["name"] == name)["what"]["material"]["young"]
        slope = young * float(found.design[0])
        worst = _off(
            slope, lambda h: _cost(made, again(_changed(made.spec, name, young * (1.0 + h)), made.inputs)), 1e-3
        )
    for key, value in made.inputs.items():
        if isinstance(value, float) and value:
            slope = value * total(found.inputs[key])
            told = _off(slope, lambda h: _cost(made, again(made.spec, {**made.inputs, key: value * (1.0 + h)})), 1e-4)  # noqa: B023
            worst = _largest(worst, told)
    return worst


def _cost(made: SimpleNamespace, result: Any) -> float:
    """Half the square of the distance of the last end; not a number if its start was eased, as that of gradients is not."""
    if hasattr(result, "status") and result.status.counters.get("eased"):
        return np.nan
    place = result.position(_like(made.ends[-1], result.robot))
    return float(0.5 * np.sum(place.reshape(-1, 3)[-1] ** 2))


def _off(slope: float, value: Callable[[float], float], h: float) -> float | None:
    """Error of a slope as a part of it; None if differences cannot tell."""
    coarse, fine = ((value(step) - value(-step)) / (2.0 * step) for step in (h, 0.5 * h))
    size = max(abs(fine), abs(slope))
    floor = 1e-6 * abs(value(0.0))
    if not np.isfinite(fine + coarse) or size < floor or abs(coarse - fine) > NOISE * size:
        return None
    best = fine + (fine - coarse) / 3.0
    return max(0.0, abs(slope - best) - abs(coarse - fine) - floor) / size


def _largest(a: float | None, b: float | None) -> float | None:
    return a if b is None else b if a is None else max(a, b)


def _rod(spec: dict) -> str | None:
    return next((part["name"] for part in spec["parts"] if part["what"]["call"] == "Rod"), None)


def _changed(spec: dict, name: str, young: float) -> dict:
    """The specification with another modulus of a rod."""
    parts = []
    for part in spec["parts"]:
        what = part["what"]
        other = {**what, "material": {**what["material"], "young": young}} if part["name"] == name else what
        parts.append({**part, "what": other})
    return {**spec, "parts": parts}


def one(seed: int, index: int) -> dict:
    """The record of robot `index`."""
    began = time.perf_counter()
    record = judge(generate.robot(seed, index))
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
    spec = generate.robot(seed, index)
    print(source(spec))
    print(json.dumps(spec["motion"]), "length", spec["length"], "pace", spec["pace"])
    record = judge(spec)
    print(json.dumps(record, indent=1))
    return int(record["outcome"] in _campaign().BAD)


if __name__ == "__main__":
    sys.exit(_campaign().main(only, work=work))
