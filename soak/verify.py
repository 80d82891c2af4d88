"""Verification of what the solvers answer, independent of their word: finer grids, half steps, energy, restarts.

`judge(spec)` asks the questions of a specification and returns a record: an outcome for the equilibrium, for the motion,
and for the robot (the worst of the two), with reasons, warnings and numbers.

    right      verified
    said       wrong, but a warning, the status or the judge of the library says just that
    refused    the library raised an AnguillaError
    undecided  finer answers do not agree with each other either (chaos), or could not be had
    wrong      a silent failure
    crash      any other exception
"""

from __future__ import annotations

import dataclasses
import re
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
from describe import build, finer
from stability import instability

import anguilla as ag
from anguilla.interact.kernels.rubbing import set_friction
from anguilla.model.model import Model
from anguilla.model.user import move
from anguilla.results.reactions import evaluate
from anguilla.solve.steps import dynamics

LIMIT = 0.02  # of the length (or of the energy in play): beyond, an answer is wrong
BALANCED = 1e-4  # of the loads
CLOSED = 1e-5  # of the length, or [rad]
CUTS = (2, 4, 8, 16, 32)  # pieces of a step, for finer motions
LONGEST = 5.0  # [s] of finer motions: what takes longer stays undecided
ORDER = ("crash", "hang", "wrong", "refused", "said", "undecided", "right")  # of outcomes, the worst first


def judge(spec: dict) -> dict:
    """The record of a robot."""
    began = time.perf_counter()
    record: dict[str, Any] = {}
    eq = None
    if spec["statics"]:
        record["statics"], eq = _asked(check_statics, spec)
    record["motion"], _ = _asked(check_motion, spec, eq)
    outcomes = [part["outcome"] for part in record.values()]
    record["outcome"] = min(outcomes, key=ORDER.index)
    worst = next(name for name, part in record.items() if name != "outcome" and part["outcome"] == record["outcome"])
    record["reason"] = "" if record["outcome"] == "right" else f"{worst}: {record[worst]['reason']}"
    record["seconds"] = round(time.perf_counter() - began, 3)
    return record


def _asked(check: Callable, *given: Any) -> tuple[dict, Any]:
    """The verdict of a check; errors of the library are refusals, any other exception is a crash."""
    began = time.perf_counter()
    numbers: dict[str, Any] = {}
    result = None
    try:
        outcome, reason, result = check(*given, numbers)
    except ag.AnguillaError as error:
        outcome, reason = "refused", str(error)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        outcome, reason = "crash", f"{type(error).__name__}: {error} ({place.name}, line {place.lineno})"
    verdict = {"outcome": outcome, "reason": reason, "seconds": round(time.perf_counter() - began, 3), **numbers}
    return verdict, result


def listen(ask: Callable) -> tuple[Any, list[str]]:
    """What a solver returns, and its warnings."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = ask()
    return found, [str(w.message) for w in heard if issubclass(w.category, ag.AnguillaWarning)]


# What has to be said of a fault, so that it does not count as a silent one; of others nothing can be said but an error
UNSURE, JUDGED = "unstable|not unique", "^quality: "
EXCUSES = {
    "unstable": UNSURE, "a restart": UNSURE, "a start beside": UNSURE, "finer grids": f"{UNSURE}|intervals|modes",
    "off by": JUDGED, "gains": JUDGED, "momentum": JUDGED, "a loop opens": JUDGED, "going on": JUDGED, "starts": "rates",
}  # fmt: skip


def _excused(fault: str, said: list[str]) -> bool:
    words = [words for begin, words in EXCUSES.items() if fault.startswith(begin)]
    return bool(words) and any(re.search(words[0], word) for word in said)


def _verdict(faults: list[str], said: list[str]) -> tuple[str, str]:
    if not faults:
        return "right", ""
    return ("said" if all(_excused(fault, said) for fault in faults) else "wrong"), "; ".join(faults)


def of_steps(result: Any) -> str:
    """What the library says against the steps of a motion, which finer ones judge; not against its modes and intervals."""
    quality = getattr(result, "quality", None)
    return "" if quality is None else " ".join(word for word in quality.messages if " has too few " not in word)


def flagged(result: Any, heard: list[str]) -> list[str]:
    """Whatever the library says against its own answer: warnings, its judge, the message of the status.

    That redundant constraints were left out, which does not affect the answer, says nothing against it; nor does it say
    anything of the steps of a motion that its modes or intervals are too few.
    """
    said = [word for word in heard if "is not affected" not in word]
    if told := of_steps(result):
        said.append(f"quality: {told}"[:200])
    if re.search(r"\(unstable|not unique", result.status.message):  # one that was left is none
        said.append(result.status.message)
    return said


# Equilibria -----------------------------------------------------------------------------------------------------------


def check_statics(spec: dict, numbers: dict) -> tuple[str, str, Any]:
    """Outcome, reason and equilibrium."""
    made = build(spec)
    eq, heard = listen(lambda: ag.statics(made.robot, inputs=made.inputs))
    said = flagged(eq, heard)
    numbers["warnings"] = said
    for name in ("error_estimate",):
        if getattr(eq, name, None) is not None:
            numbers[name] = _plain(getattr(eq, name))
    faults = equilibrium_faults(made, eq, said, numbers)
    outcome, reason = _verdict(faults, said)
    return outcome, reason, eq


def equilibrium_faults(made: SimpleNamespace, eq: Any, said: list[str], numbers: dict) -> list[str]:
    """What is wrong with an equilibrium, in words."""
    spec, length = made.spec, made.spec["length"]
    if not np.all(np.isfinite(eq.q)):
        return ["numbers are not finite"]
    faults = []
    _draw_in(made, eq)
    grips = any(load["call"] == "PartContact" and "friction" in load for load in spec["loads"])  # by what it remembers
    unbalanced = 0.0 if grips else imbalance(made, eq)
    numbers["imbalance"] = _plain(unbalanced)
    if unbalanced > BALANCED:
        faults.append(f"unbalanced by {unbalanced:.1e} of the loads")
    gap = open_by(made, eq)
    if gap > CLOSED:
        faults.append(f"a loop is open by {gap:.1e}")
    unsure = any(re.search("unstable|not unique", word) for word in said)
    growth = 0.0 if spec.get("constraints") else instability(made, eq)  # which hold what moves
    numbers["growth"] = _plain(growth)
    if growth > 0.05 and not unsure:
        faults.append(f"unstable: grows by exp({growth:.2g}) in 1 / the rate of the first mode")
    here = positions(made, eq)
    wander = _moved(made, here, lambda: ag.statics(made.robot, inputs=made.inputs, start=eq))
    numbers["restart"] = _plain(wander)
    if wander is not None and wander > 1e-4 and not unsure:
        faults.append(f"a restart from the answer moves by {wander:.1e} of the length")
    if growth < 1e-3 and not unsure and not faults and not grips:
        back = _beside(made, eq, here)
        numbers["perturbed"] = _plain(back)
        if back is not None and back > 1e-3:
            faults.append(f"a start beside the answer ends {back:.1e} of the length away")
    errors = []
    for times in (2, 4):
        other = build(finer(spec, times))
        errors.append(_moved(other, here, lambda: ag.statics(other.robot, inputs=other.inputs, start=eq.q)))  # noqa: B023
    numbers["grid"] = [_plain(e) for e in errors]
    if not unsure and None not in errors and min(errors) > LIMIT and abs(errors[1] - errors[0]) < 0.5 * max(errors):
        faults.append(f"finer grids differ by {max(errors):.1e} of the length")
    numbers["error"] = _plain(max((e for e in errors if e is not None), default=None))
    numbers["size"] = len(eq.q)
    assert length > 0.0
    return faults


def _beside(made: SimpleNamespace, eq: Any, here: np.ndarray) -> float | None:
    """How far [length] from the answer starts beside it end: if the first one is led elsewhere, of ever nearer ones.

    Where several equilibria are stable, Newton may go from the neighbourhood of one to another; from near enough it may not.
    """
    back: float | None = None
    for far in (1e-3, 1e-4, 1e-5):
        q = move(eq.system.tree, eq.q, far / eq.system.tree.scale * np.cos(1.0 + np.arange(len(eq.q))))
        back = _moved(made, here, lambda: ag.statics(made.robot, inputs=made.inputs, start=q))  # noqa: B023
        if back is None or back <= 1e-3:
            return back
    return back


def _moved(made: SimpleNamespace, here: np.ndarray, ask: Callable) -> float | None:
    """How far [length] another equilibrium is; None if there is none."""
    try:
        other, _ = listen(ask)
    except ag.AnguillaError:
        return None
    return float(np.max(np.linalg.norm(positions(made, other) - here, axis=-1))) / made.spec["length"]


def positions(made: SimpleNamespace, result: Any) -> np.ndarray:
    """Positions (..., frames, 3) [m] of the ends and middles of all parts."""
    return np.stack([result.position(frame) for frame in made.ends], axis=-2)


def load_size(made: SimpleNamespace, system: Model, t: float = 0.0) -> float:
    """What acts on the robot, as a moment [N m]: weight and forces times the length, and moments."""
    length, loads = made.spec["length"], system.loads(t, made.inputs).loads
    still = np.zeros(system.size)
    force = system.residual(still, t=t, inputs=made.inputs)
    weight = float(np.linalg.norm(made.robot.gravity_values([t])[0])) * _mass(made)
    given = sum(_size(load, t, length) for load in made.robot.loads)
    assert loads is not None
    return weight * length + given + float(np.max(np.abs(force / system.tree.scale), initial=0.0))


def _size(load: Any, t: float, length: float) -> float:
    if isinstance(load, ag.Wrench):
        moment, force = load.values([t])[0][:3], load.values([t])[0][3:]
        return float(np.linalg.norm(moment) + length * np.linalg.norm(force))
    return 0.0


def _mass(made: SimpleNamespace) -> float:
    parts = made.robot.parts
    return sum(
        p.rod.mass if hasattr(p, "rod") else p.body.mass for p in parts if hasattr(p, "rod") or hasattr(p, "body")
    )


def _draw_in(made: SimpleNamespace, eq: Any) -> None:
    """Let the residual of a model have the friction of lines that were drawn in to an equilibrium, as statics takes it."""
    system, loads = eq.system, eq.system.loads(eq.t, made.inputs).loads
    if np.any(loads.cables.friction > 0.0):
        zero = np.zeros(system.size)
        evaluate(system, loads, eq.q, zero, zero, eq.multipliers)
        set_friction(system.tree, system.workspace, loads.cables, loads.pairs)


def imbalance(made: SimpleNamespace, eq: Any) -> float:
    """Largest generalised force left, as a part of the loads, and of the elastic and held forces on the same coordinate."""
    system = eq.system
    force = lambda lam: system.residual(eq.q, t=eq.t, inputs=made.inputs, multipliers=lam) / system.tree.scale
    left, free = force(eq.multipliers), force(0.0 * eq.multipliers)
    held = sum(np.abs(force(lam) - free) for lam in np.diag(eq.multipliers))  # by lines and loops, each by itself
    left[system.blank.driven] = 0.0
    rest = np.zeros(system.size)
    for layout in system.layout.parts:
        rest[layout.joint] = layout.part.joint.rest_values
    elastic = np.abs(system.elastic_stiffness() @ (eq.q - rest)) / system.tree.scale
    stiff = np.abs(np.diag(system.elastic_stiffness())) / system.tree.scale**2  # rounding, where nothing acts
    unit = elastic + load_size(made, system, eq.t) + 1e-9 * stiff + 1e-12 * float(np.max(stiff, initial=0.0))
    unit += held + 1e-8 * float(np.max(elastic, initial=0.0))  # rounding of what bends other coordinates
    return float(np.max(np.abs(left) / np.where(unit > 0.0, unit, 1.0), initial=0.0))


# Loops ----------------------------------------------------------------------------------------------------------------


def open_by(made: SimpleNamespace, result: Any) -> float:
    """Largest gap of a closure: lengths as a part of the robot's, angles in [rad]."""
    worst = 0.0
    for closure in made.robot.closures.values():
        if callable(closure.pose):
            continue
        a, b = (np.atleast_3d(result.pose(f)).reshape(-1, 4, 4) for f in (closure.a, closure.b))
        between = np.linalg.inv(a @ np.asarray(closure.pose)) @ b
        worst = max(worst, _joint_gap(closure.joint, between, made.spec["length"]))
    return worst


def _joint_gap(joint: Any, pose: np.ndarray, length: float) -> float:
    """How far poses (nt, 4, 4) are from what a joint allows."""
    R, x = pose[:, :3, :3], pose[:, :3, 3] / length
    kind = type(joint).__name__
    turned, shifted = [], x
    if kind in ("Fixed", "Prismatic"):
        turned.append(np.linalg.norm(R - np.eye(3), axis=(1, 2)))
    if kind in ("Revolute", "Cylindrical", "Prismatic", "Planar"):
        axis = np.asarray(joint.normal if kind == "Planar" else joint.axis, dtype=float)
        along = (x @ axis)[:, None] * axis
        if kind in ("Revolute", "Cylindrical", "Planar"):
            turned.append(np.linalg.norm(R @ axis - axis, axis=1))
        shifted = x if kind == "Revolute" else along if kind == "Planar" else x - along
    if kind == "Universal":
        first, second = np.asarray(joint.first, dtype=float), np.asarray(joint.second, dtype=float)
        turned.append(np.abs(R @ second @ first - second @ first))
    return float(max([np.max(np.linalg.norm(shifted, axis=1)), *(np.max(v) for v in turned)]))


# Motions --------------------------------------------------------------------------------------------------------------


def check_motion(spec: dict, eq: Any, numbers: dict) -> tuple[str, str, Any]:
    """Outcome, reason and motion."""
    made = build(spec)
    start = _start(spec, made, eq)
    dt, steps = spec["motion"]["dt"], spec["motion"]["steps"]
    method = made.method

    def run(cut: int, begin: Any = start, count: int = steps) -> Any:
        with nullcontext() if cut == 1 else mock.patch.object(dynamics, "judge", lambda *_, **__: (None, "")):
            return ag.simulate(
                made.robot, duration=count * dt, dt=dt / cut, every=cut, inputs=made.inputs, start=begin, progress=False,
                **method,
            )  # fmt: skip

    result, heard = listen(lambda: run(1))
    said = flagged(result, heard)
    numbers["warnings"] = said
    quality = getattr(result, "quality", None)
    if quality is not None:
        numbers["flagged"] = bool(of_steps(result))
        numbers["space_error"] = _plain(getattr(quality, "space_error", None))
        numbers["time_error"] = _plain(getattr(quality, "time_error", None))
    error, sure = true_error(made, result, run)
    numbers["error"] = _plain(error)
    faults = motion_faults(made, result, start, numbers, run)
    if error is not None and sure and error > LIMIT:
        faults.insert(0, f"off by {error:.1e} of the length")
    if not faults and not sure:
        return "undecided", "finer steps do not agree with each other", result
    if _is_steady(spec) and not faults and error is not None and error < LIMIT:
        gone = _restart(made, result, run, steps)
        numbers["restart"] = _plain(gone)
        if gone is not None and gone > max(LIMIT, 4.0 * error):
            faults.append(f"going on from the middle ends {gone:.1e} of the length away")
    outcome, reason = _verdict(faults, said)
    return outcome, reason, result


def _start(spec: dict, made: SimpleNamespace, eq: Any) -> Any:
    start = spec["motion"]["start"]
    if start == "equilibrium":
        return eq
    if isinstance(start, dict) and "held" in start:
        held = build(spec, held=True)
        try:
            return listen(lambda: ag.statics(held.robot, inputs=held.inputs))[0].q
        except ag.AnguillaError:
            return eq
    if isinstance(start, dict):
        size = made.robot.size
        if len(start["q"]) != size:
            return None
        return (start["q"], start["v"]) if "v" in start else start["q"]
    return None


def true_error(made: SimpleNamespace, result: Any, run: Callable) -> tuple[float | None, bool]:
    """Largest distance [length] from the motion with ever smaller steps, and whether those agree among themselves.

    Two in a row may agree by chance, so that a motion is wrong only if a third one says so too, or if they are the shortest.
    The length is the longest way along the parts; of bodies alone, the room that their motion takes, if that is more. So does
    the library.
    """
    length, (mine, last, error) = result.system.length, (positions(made, result), None, None)
    if not any(hasattr(part, "rod") for part in made.robot.parts):
        length = max(length, float(np.linalg.norm(np.ptp(mine.reshape(-1, 3), axis=0))))
    away = lambda a, b: float(np.max(np.linalg.norm(a - b, axis=-1))) / length
    began, agreed = time.perf_counter(), 0
    for cut in CUTS:
        if time.perf_counter() - began > LONGEST:
            return error, False
        try:
            other = positions(made, listen(lambda: run(cut))[0])  # noqa: B023
        except ag.AnguillaError:
            return error, False
        error = away(mine, other)
        agreed = agreed + 1 if last is not None and away(last, other) < 0.25 * max(error, LIMIT) else 0
        if agreed:
            best = away(mine, other + (other - last) / 3.0)
            if agreed > 1 or best < LIMIT or cut == CUTS[-1]:
                return best, True
        last = other
    return error, False


def motion_faults(made: SimpleNamespace, result: Any, start: Any, numbers: dict, run: Callable) -> list[str]:
    """What is wrong with a motion, in words, apart from its error."""
    if not (np.all(np.isfinite(result.q)) and np.all(np.isfinite(result.v))):
        return ["numbers are not finite"]
    faults = []
    gap = open_by(made, result)
    if gap > CLOSED:
        faults.append(f"a loop opens by {gap:.1e}")
    jumped = start_moved(made, result, start)
    numbers["jumped"] = _plain(jumped)
    if jumped > 1e-3:
        faults.append(f"starts {jumped:.1e} of the length beside the closed start it was given")
    gained = energy_gained(made, result)
    numbers["gained"] = _plain(gained)
    if gained is not None and gained > LIMIT:
        faults.append(f"gains {gained:.1e} of the energy in play")
    lost = momentum_lost(made, result)
    numbers["momentum"] = _plain(lost)
    if lost is not None and lost > 1e-3 and (lost > LIMIT or not _fades(made, lost, run)):
        faults.append(f"momentum changes by {lost:.1e} without a cause")
    return faults


def _fades(made: SimpleNamespace, lost: float, run: Callable) -> bool:
    """Whether the momentum that is lost goes away with the step; a line that snaps may hit one of them badly."""
    for cut in (4, 8, 16):
        try:
            left = momentum_lost(made, listen(lambda: run(cut))[0])  # noqa: B023
        except ag.AnguillaError:
            return False
        if left is not None and left < 0.4 * lost:
            return True
    return False


def start_moved(made: SimpleNamespace, result: Any, start: Any) -> float:
    """How far [length] a motion begins from a start that already keeps all loops and imposed motions."""
    if not made.spec["closures"] or "motion" in str(made.spec["parts"]) or start is not None or "mounted" in made.spec:
        return 0.0
    q = np.zeros((1, result.system.size))
    rest = dataclasses.replace(result, _t=np.zeros(1), _q=q, _v=q, _a=q, _lam=np.zeros((1, result.system.rows)))
    if any(a["what"].get("by") == "length" for a in made.spec["actuators"]) or open_by(made, rest) > CLOSED:
        return 0.0
    return (
        float(np.max(np.linalg.norm(positions(made, rest)[0] - positions(made, result)[0], axis=-1)))
        / made.spec["length"]
    )


STILL = {"Wrench", "Spring", "Contact", "ResistiveForce"}  # loads whose work is known or negative


def _is_steady(spec: dict) -> bool:
    """Whether nothing depends on time and nothing keeps a state of its own, so that a run may go on from its end."""
    moves = any(word in str(spec) for word in ("signal", "lambda t", "TravellingWave"))
    return not moves and "drives" not in spec and not any(load["call"] == "Thruster" for load in spec["loads"])


def energy_gained(made: SimpleNamespace, run: Any) -> float | None:
    """Growth of the total energy as a part of the energy in play; None where loads may put energy in."""
    spec = made.spec
    known = all(
        load["call"] in STILL and "moment" not in load and "follower" not in load and "current" not in load
        for load in spec["loads"]
    )
    driven = any("motion" in part.get("joint", {}) or "effort" in part.get("joint", {}) for part in spec["parts"])
    lines = all("friction" not in a["what"] and "compliance" not in a["what"] for a in spec["actuators"])
    relaxes = any(word in str(spec) for word in ("viscosity", "'loss'", "drives", "constraints"))
    if not (known and lines and _is_steady(spec)) or driven or relaxes:
        return None
    energy = run.energy
    terms = [energy["kinetic"], energy["elastic"], energy["gravitational"]]
    for load in made.robot.loads:
        if type(load).__name__ == "Wrench":
            terms.append(-run.position(load.frame) @ np.asarray(load.force, dtype=float))
    for name, actuator in made.robot.actuators.items():
        if getattr(actuator, "by", "tension") == "tension":
            terms.append(actuator.tension_per_input * made.inputs[name] * run.length(name))
    play = float(np.max(terms[0])) + sum(float(np.ptp(term)) for term in terms[1:])
    total = np.sum(terms, axis=0)
    gain = float(np.max(total - np.minimum.accumulate(total)))
    swing = _mass(made) * (spec["length"] / spec["pace"]) ** 2  # of a robot that swings by its length
    floor = 1e-6 * swing + 1e-9 * sum(float(np.max(np.abs(term))) for term in terms)
    return gain / max(play, floor)


def momentum_lost(made: SimpleNamespace, run: Any) -> float | None:
    """Change of the momentum of a robot that nothing outside acts on, as a part of mass times speed."""
    spec = made.spec
    first, others = spec["parts"][0], spec["parts"][1:]
    free = first.get("joint", {}).get("call") == "Free" and not {"damping", "effort"} & set(first["joint"])
    inside = "constraints" not in spec and all(load["call"] == "Muscle" for load in spec["loads"])
    if not free or not inside or np.any(spec["gravity"]) or any(part["at"] == "robot.ground" for part in others):
        return None
    if any("robot.ground" in (c["a"], c["b"]) for c in spec["closures"]):
        return None
    mass = _mass(made)
    speed = np.sqrt(2.0 * np.max(run.energy["kinetic"]) / mass)
    return (
        float(np.max(np.linalg.norm(run.momentum - run.momentum[0], axis=1))) / (mass * speed) if speed > 0.0 else 0.0
    )


def _restart(made: SimpleNamespace, result: Any, run: Callable, steps: int) -> float | None:
    """How far [length] the end is when the motion is stopped in the middle and goes on; None if that is told to be wrong."""
    try:
        half, _ = listen(lambda: run(1, count=steps // 2))
        rest, heard = listen(lambda: run(1, begin=half, count=steps - steps // 2))
    except ag.AnguillaError:
        return None
    if flagged(rest, heard):
        return None
    gone = positions(made, rest)[-1] - positions(made, result)[-1]
    return float(np.max(np.linalg.norm(gone, axis=-1))) / made.spec["length"]


def _plain(value: Any) -> Any:
    """A number for JSON, with three digits."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return float(f"{number:.2e}") if np.isfinite(number) else str(number)
