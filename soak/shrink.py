"""From a robot that fails to the smallest one that fails in the same way, as a script of its own.

python soak/shrink.py --seed 1 --index 17 [--minutes 2] [--out soak/found]
"""

from __future__ import annotations

import argparse
import copy
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

sys.path.insert(0, str(Path(__file__).parent))

from describe import HEADER, names_in, source
from report import reason_kind

Failure = tuple[str, str, str]  # question, outcome, kind of reason


def failure(record: dict) -> Failure | None:
    """What failed first, without numbers; None if nothing did."""
    for question in ("statics", "motion"):
        part = record.get(question)
        if part and part["outcome"] in ("wrong", "crash", "hang", "refused"):
            return question, part["outcome"], reason_kind(part["reason"]).split(" by #")[0][:60]
    return None


def shrink(spec: dict, fails: Callable[[dict], bool], seconds: float = 120.0) -> dict:
    """The smallest specification found that still fails, by leaving out and simplifying one thing after another."""
    until, smaller = time.monotonic() + seconds, True
    while smaller:
        smaller = False
        for trial in simpler(spec):
            if time.monotonic() > until:
                return spec
            if fails(trial):
                spec, smaller = trial, True
                break
    return spec


def simpler(spec: dict) -> Iterator[dict]:
    """Specifications with one thing less, the largest first."""
    for part in reversed(spec["parts"]):
        if len(spec["parts"]) > 1:
            yield without(spec, part["name"])
    for key in ("closures", "actuators", "loads"):
        for k in range(len(spec[key])):
            yield {**spec, key: spec[key][:k] + spec[key][k + 1 :]}
    motion = spec["motion"]
    if motion["start"] != "rest":
        yield {**spec, "motion": {**motion, "start": "rest"}}
    if motion["steps"] > 4:
        yield {**spec, "motion": {**motion, "steps": motion["steps"] // 2}}
    if any(spec["gravity"]):
        yield {**spec, "gravity": [0.0, 0.0, 0.0]}
    for k, part in enumerate(spec["parts"]):
        for changed in simpler_parts(part):
            if changed != part:
                yield {**spec, "parts": [*spec["parts"][:k], changed, *spec["parts"][k + 1 :]]}
    for key in ("loads", "actuators", "closures"):
        for k, item in enumerate(spec[key]):
            for changed in simpler_items(item):
                yield {**spec, key: [*spec[key][:k], changed, *spec[key][k + 1 :]]}


def without(spec: dict, name: str) -> dict:
    """The robot without a part, what hangs on it, and what acts on those."""
    gone = {name}
    for part in spec["parts"]:  # parents come first
        if names_in(part["at"]) & gone:
            gone.add(part["name"])
    out = {**spec, "parts": [part for part in spec["parts"] if part["name"] not in gone]}
    for key in ("loads", "actuators", "closures"):
        out[key] = [item for item in spec[key] if not _mentions(item, gone)]
    start = spec["motion"]["start"]
    if isinstance(start, dict) and _mentions(start.get("held", {}), gone):
        out["motion"] = {**spec["motion"], "start": "rest"}
    return out


def _mentions(item: object, gone: set[str]) -> bool:
    if isinstance(item, dict):
        return any(_mentions(value, gone) for value in item.values())
    if isinstance(item, list):
        return any(_mentions(value, gone) for value in item)
    return isinstance(item, str) and bool(names_in(item) & gone)


def simpler_parts(part: dict) -> Iterator[dict]:
    """A part with a simpler joint, place, section, rest shape or fewer modes."""
    if "joint" in part:
        yield {k: v for k, v in part.items() if k != "joint"}
        for key in ("damping", "rest", "effort", "motion"):
            if key in part["joint"]:
                yield {**part, "joint": {k: v for k, v in part["joint"].items() if k != key}}
    if "pose" in part:
        yield {k: v for k, v in part.items() if k != "pose"}
    what = part["what"]
    if what["call"] != "Rod":
        return
    if "rest" in what:
        yield {**part, "what": {k: v for k, v in what.items() if k != "rest"}}
    if what["section"]["call"] != "Circle":
        size = what["section"].get("outer") or what["section"].get("semi_y") or what["section"].get("size_y", 0.0) / 2.0
        if what["section"]["call"] == "taper":
            size = what["section"]["args"][0]["radius"]
        yield {**part, "what": {**what, "section": {"call": "Circle", "radius": size}}}
    if "damping" in what["material"]:
        yield {**part, "what": {**what, "material": {k: v for k, v in what["material"].items() if k != "damping"}}}
    strains = what["strains"]
    if "basis" in strains:
        yield {**part, "what": {**what, "strains": {k: v for k, v in strains.items() if k != "basis"}}}
    if strains.get("args", [1])[0] > 1:
        yield {**part, "what": {**what, "strains": {**strains, "args": [strains["args"][0] - 1]}}}
    for kind in ("planar", "kirchhoff"):
        if strains["call"] not in ("planar", "kirchhoff"):
            yield {**part, "what": {**what, "strains": {"call": kind, "args": strains.get("args", [2])}}}


def simpler_items(item: dict) -> Iterator[dict]:
    """A load, actuator or closure without one of its extras, or constant in time."""
    what = item.get("what") or item.get("joint") or item
    for key in ("friction", "damping", "moment", "follower", "current", "ki", "compliance", "stiffness"):
        if key in what and (what is not item or key not in ("stiffness",)):
            trial = copy.deepcopy(item)
            del (trial.get("what") or trial.get("joint") or trial)[key]
            yield trial
    for key, value in item.items():
        if isinstance(value, dict) and "signal" in value:
            yield {**item, key: value["value"]}


# Scripts --------------------------------------------------------------------------------------------------------------

STATICS = """
eq = ag.statics(robot, inputs=inputs)
print(eq.status.message)
left = eq.system.residual(eq.q, inputs=inputs, multipliers=eq.multipliers) / eq.system.tree.scale
print(f"left over, as moments: {abs(left).max():.1e} N m")
print(ag.stability(robot, eq))
for part in robot.parts:
    print(part.name, eq.position(part.tip if hasattr(part, "tip") else part.root).round(5))
"""

MOTION = """
for cut in (1, 2, 4, 8):
    run = ag.simulate(robot, duration={duration!r}, dt={dt!r} / cut, every=cut, inputs=inputs, start=start)
    ends = {{part.name: run.position(part.tip if hasattr(part, "tip") else part.root)[-1].round(5) for part in robot.parts}}
    total = run.energy["total"]
    print(f"dt / {{cut}}: ends", ends, f"energy {{total[0]:.5g}} J, at most {{total.max():.5g}} J", run.status.counters)
"""


def script(spec: dict, found: Failure, said: str) -> str:
    """A stand-alone script that builds the robot in plain calls and shows the failure."""
    question, outcome, _ = found
    head = f'"""{question}, {outcome}: {said[:300]}"""\n\n{HEADER}\n'
    start = spec["motion"]["start"]
    lines = [head]
    if question == "motion" and isinstance(start, dict) and "held" in start:
        lines += ["# held, to start from", source(spec, held=True), "start = ag.statics(robot, inputs=inputs).q", ""]
    lines.append(source(spec))
    if question == "statics":
        return "\n".join([*lines, STATICS])
    if start == "rest":
        lines.append("start = None")
    elif start == "equilibrium":
        lines.append("start = ag.statics(robot, inputs=inputs)")
    elif "q" in start:
        lines.append(f"start = ({start['q']}, {start['v']})" if "v" in start else f"start = {start['q']}")
    motion = spec["motion"]
    return "\n".join([*lines, MOTION.format(duration=motion["steps"] * motion["dt"], dt=motion["dt"])])


def main() -> int:
    import generate
    import verify

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--index", type=int, required=True)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--out", default=str(Path(__file__).parent / "found"))
    options = parser.parse_args()
    spec = generate.robot(options.seed, options.index)
    wanted = failure(verify.judge(spec))
    if wanted is None:
        print("this robot does not fail.")
        return 0
    if wanted[0] == "statics":
        spec = {**spec, "motion": {**spec["motion"], "steps": 1, "start": "rest"}}

    def fails(trial: dict) -> bool:
        try:
            trial["closures"] = generate.closed(trial)
            return failure(verify.judge(trial)) == wanted
        except Exception:  # a trial that cannot even be built is no reproduction
            return False

    spec = {**spec, "closures": [{**closure, "at_rest": "mounted" not in spec} for closure in spec["closures"]]}
    small = shrink(spec, fails, 60.0 * options.minutes)
    said = verify.judge(small)[wanted[0]]["reason"]
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{wanted[0]}_{wanted[1]}_{options.seed}_{options.index}.py"
    path.write_text(script(small, wanted, said))
    print(f"{path}: {said}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
