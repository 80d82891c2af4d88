"""The campaign of contact: random drops, pinches and whips of parts that touch, each judged independently of the solver.

    python soak/contact.py --robots 1000 --seed 1 --out contact.jsonl [--resume] [--workers 2] [--minutes 45]
    python soak/contact.py --seed 1 --only 17

With --quick, motions are not computed again with shorter steps: four times quicker, and nothing is said of their error.

A motion is wrong when numbers are not finite, when parts pass through each other (by the places of their middles), when it
gains more than 1e-3 of the energy in play (the work of weight and forces, and the energy that it starts with; nothing puts in
more); unless an error or the judge of the library says so. It is *off* when steps 2 to 32 times shorter agree with each other
and differ by more than 2 % of the length, and the judge does not see it.
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

from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from types import SimpleNamespace
from typing import Any

import numpy as np
from describe import build, source
from passing import DEEP, deepest
from scenes import scene
from verify import LIMIT, _asked, _plain, flagged, listen, mock, true_error

import anguilla as ag
from anguilla.results.kinematics import seat_motions
from anguilla.solve.steps import dynamics

GAIN = 1e-3  # of the energy in play


def _campaign() -> Any:
    """The module `run` beside this one; by its path, since other folders have one of this name."""
    spec = spec_from_file_location("soak_run", Path(__file__).with_name("run.py"))
    assert spec is not None and spec.loader is not None
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def judge(spec: dict, quick: bool = False) -> dict:
    """The record of a scene."""
    record, _ = _asked(partial(check, quick=quick), spec)
    return {
        "kind": spec["name"].split("_")[0],
        "motion": record,
        "outcome": record["outcome"],
        "reason": record["reason"],
    }


def check(spec: dict, numbers: dict, quick: bool = False) -> tuple[str, str, Any]:
    """Outcome, reason and motion."""
    made = build(spec)
    start = tuple(np.array(spec["motion"]["start"][key]) for key in ("q", "v"))
    dt, steps = spec["motion"]["dt"], spec["motion"]["steps"]

    def run(cut: int, every: int | None = None) -> Any:
        def ask() -> Any:
            return ag.simulate(
                made.robot, duration=steps * dt, dt=dt / cut, every=every or cut, inputs={}, start=start, progress=False
            )

        if cut == 1:
            return ask()
        with mock.patch.object(dynamics, "judge", lambda *_, **__: (None, "")):
            return ask()

    result, heard = listen(lambda: run(1))
    said = flagged(result, heard)
    numbers["warnings"] = said
    if not (np.all(np.isfinite(result.q)) and np.all(np.isfinite(result.v))):
        return "wrong", "numbers are not finite", result
    depth, where = deepest(made, result)
    numbers["closeness"] = _plain(depth)
    gained = energy_gained(made, result)
    numbers["gained"] = _plain(gained)
    error, sure = (None, True) if quick else true_error(made, result, run)
    numbers["error"] = _plain(error)
    faults = [f"passes: {where}, closeness {depth:.2g}"] if depth < DEEP else []
    faults += [f"gains {gained:.1e} of the energy in play"] if gained > GAIN else []
    if faults:
        return ("said" if said else "wrong"), "; ".join(faults), result
    if error is not None and sure and error > LIMIT:
        return ("said" if said else "off"), f"off by {error:.1e} of the length", result
    return ("right", "", result) if sure else ("undecided", "finer steps do not agree with each other", result)


def energy_gained(made: SimpleNamespace, run: Any) -> float:
    """Growth of the total energy as a part of the energy in play: that at the start and all work of weight and forces.

    Means over a twenty-fifth of the motion are compared, since steps trade a little energy back and forth with fast modes,
    and only with later ones in which contacts keep as much or more: what a step misses of a contact as it is
    compressed is made up for as it opens.
    """
    energy = run.energy
    terms = [energy["kinetic"], energy["elastic"], energy["gravitational"]]
    for load in made.robot.loads:
        if type(load).__name__ == "Wrench":
            terms.append(-run.position(load.frame) @ np.asarray(load.force, dtype=float))
    play = float(terms[0][0]) + sum(float(np.sum(np.abs(np.diff(term)))) for term in terms[2:])
    total = np.sum(terms, axis=0)
    wide = max(5, len(total) // 25)
    mean = lambda x: np.convolve(x, np.ones(wide) / wide, "valid")
    means, kept = mean(total), mean(_contact_energy(made, run))
    later = np.triu(kept[:, None] <= kept[None, :] + 1e-4 * play)
    gained = float(np.max(np.where(later, means[None, :] - means[:, None], 0.0)))
    return max(gained, float(np.max(means)) - float(total[0])) / play


def _contact_energy(made: SimpleNamespace, run: Any) -> np.ndarray:
    """Energy (nt,) [J] of contacts, a part of the elastic one; bristles on obstacles are left out."""
    system, kept = run.system, np.zeros(len(run.t))
    for load in made.robot.loads:
        if getattr(load, "meets", False):
            kept += run.contacts(load).energy
    for load, seat in zip(system.robot.loads, system.tables.seats, strict=True):
        if load.touches:
            for at, motion in seat_motions(system, seat, run.q):
                kept[at] += load.energy(seat, motion)
    return kept


def one(seed: int, index: int, quick: bool = False) -> dict:
    """The record of scene `index`."""
    began = time.perf_counter()
    record = judge(scene(seed, index), quick)
    return {"index": index, "seed": seed, **record, "seconds": round(time.perf_counter() - began, 3)}


def work(pipe: Any, seed: int, quick: bool = False) -> None:
    """A worker: warms up, says so, then answers numbers by records."""
    for index in range(3):
        one(1, index)
    pipe.send("ready")
    while (index := pipe.recv()) is not None:
        pipe.send(one(seed, index, quick))


def only(seed: int, index: int) -> int:
    """Judge one scene here, and show it."""
    spec = scene(seed, index)
    print(source(spec))
    print(json.dumps(spec["motion"]), "length", spec["length"], "pace", spec["pace"])
    record = judge(spec)
    print(json.dumps(record, indent=1))
    return int(record["outcome"] in _campaign().BAD)


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    if quick:
        sys.argv.remove("--quick")
    sys.exit(_campaign().main(only, work=partial(work, quick=quick)))
