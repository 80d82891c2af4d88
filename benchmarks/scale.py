"""Scale and contact, side by side with other programs: chain, net, gripper and what touches, in one command.

    python benchmarks/scale.py                      # all of it, about fifteen minutes on a quiet machine
    python benchmarks/scale.py --only chain gripper
    python benchmarks/scale.py --only snake coil knot plectoneme gripper      # what touches, about five minutes
    python benchmarks/scale.py --only net --cells 15  # one net; of several, also how the times grow
    python benchmarks/scale.py --quick              # a chain of four, a net of 5 x 5, one round: whether it works

Nothing is searched here: every program runs the settings that were the fastest, or next to it, in the searches of `large.py`,
`touching.py` and `grasping.py`, and these are printed. Programs take turns, round after round, each on one thread; a peer that
needs more than ten seconds has one run. Times are seconds of the loop alone (best and median of all runs) and of the whole call
a user makes, warm: description, solution, reading. Of chain, net and gripper, "times Anguilla" compares the fastest setting
within 1 % of the reference (of the gripper: within the error that is told there); of snake, coil, knot and plectoneme it compares
with the cheapest of Anguilla's settings that is at most as far off.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import contact
import grasping
import links
import net
import numpy as np
import touching
from environments import InstallError, python_of

HERE = Path(__file__).resolve().parent
LONG = 10.0  # [s]: a peer that takes longer runs once
LIMIT = 600.0  # [s] of one call of a peer


@dataclass(frozen=True, slots=True)
class Peer:
    """A program, its script and arguments; the script prints a line of JSON per setting."""

    name: str
    script: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A problem: how Anguilla solves it (repeat -> records), who else does, and why others do not."""

    title: str
    own: Callable[[int], list[dict]]
    peers: tuple[Peer, ...] = ()
    error: Callable[[np.ndarray, np.ndarray], float] | None = None  # of what a peer followed, if its script cannot tell
    within: float | None = 0.01  # error at which the fastest are compared; None compares at the error of each peer
    absent: dict[str, str] = field(default_factory=dict)  # program -> reason
    net: tuple[int, bool] | None = None  # of a net: meshes a side, and whether it moves


def chosen(settings: list[dict]) -> tuple[str, ...]:
    """Arguments with settings."""
    return ("--settings", json.dumps(settings))


def chain(count: int) -> Case:
    """A second of motion of a hanging chain of flexible links."""
    own = (replace(links.COARSE, step=1 / 6), links.COARSE, replace(links.COARSE, stretch=1, step=0.1))
    exudyn = [
        {"elements": 1, "step": h, "spectral_radius": r, "tolerance": 1e-3}
        for h, r in ((0.025, 0.7), (0.02, 0.7), (0.04, 0.9))
    ]
    size = "--links", str(count)
    return Case(
        f"Chain of {count} links, a second of motion",
        lambda repeat: [links.measure(count, each, repeat=5 * repeat) for each in own],
        (
            Peer("exudyn", "exudyn_links", (*size, *chosen(exudyn))),
            Peer("mujoco", "mujoco_links", size),
            Peer("pyelastica", "pyelastica_links", size),
        ),
    )


def nets(cells: int, *, motion: bool) -> Case:
    """Equilibrium, or a second of motion, of a net of rods pinned where they cross."""
    if motion:
        own = (net.QUICK, replace(net.LEAN, step=0.025), net.LEAN)
        exudyn = [
            {"elements": 1, "step": h, "spectral_radius": r, "tolerance": t}
            for h, r, t in (
                (0.025, 0.6, 1e-2),
                (0.025, 0.7, 1e-2),
                (0.02, 0.7, 1e-2),
                (0.02, 0.7, 1e-3),
                (0.01, 0.7, 1e-3),
            )
        ]
    else:
        own = (net.COARSE, net.QUOTED)
        exudyn = [{"elements": e, "load_steps": 4, "tolerance": 1e-3} for e in ((1, 2) if cells < 10 else (1,))]
    many = "--cells", str(cells), *chosen(exudyn), *(() if motion else ("--static",))
    return Case(
        f"Net of {cells} x {cells} meshes, {'a second of motion' if motion else 'equilibrium'}",
        lambda repeat: [net.measure(cells, each, repeat=repeat, motion=motion) for each in own],
        (Peer("exudyn", "exudyn_net", many),),
        absent={
            "mujoco": "closes loops by soft constraints only: the pins of a net would give way, and there is no static solver",
            "pyelastica": "has no joint that pins two rods at a crossing and leaves their angle free, and no static solver",
        },
        net=(cells, motion),
    )


def touch(name: str, *, quick: bool) -> Case:
    """Snake, coil, knot or plectoneme; when quick, one coarse setting of each program."""
    case, start = touching.CASES[name], ()
    if name == "knot":
        file = HERE.parent / "out" / "benchmarks" / "knot.npz"
        file.parent.mkdir(parents=True, exist_ok=True)
        _, _, places, axes = touching.tied()
        np.savez(file, places=places, axes=axes)
        start = ("--start", str(file))
    given = chosen([{"elements": 50, "step": 1e-4 if name == "snake" else 2e-5}]) if quick else ()
    return Case(
        f"{name.capitalize()}, {case.check[-1]:g} s",
        lambda repeat: [
            touching.measure(name, each, repeat=repeat) for each in (case.path[:1] if quick else case.path)
        ],
        (Peer("pyelastica", "pyelastica_touching", (name, *given, *start)),),
        lambda t, followed: touching.error(name, t, followed),
        within=None,
        absent=ABSENT[name],
    )


ABSENT = {
    "snake": {
        "exudyn": "its contact of beams with the ground has no friction that differs forwards and backwards",
        "mujoco": "its friction has no difference of forwards and backwards, by which this snake moves",
    },
    "coil": {
        "exudyn": "its beams in space do not touch themselves",
        "mujoco": "its cables are straight or bent chains of rigid pieces; a wire of this curvature was not modelled",
    },
    "knot": {
        "exudyn": "its beams in space do not touch themselves",
        "mujoco": "the knot needs a start with stress, tied by a motion of its own; no script of it was written",
    },
    "plectoneme": {
        "exudyn": "its beams in space do not touch themselves",
        "mujoco": "no script of it was written",
    },
}


def crossing() -> Case:
    """A soft rod falls on another one and springs back."""
    return Case(
        f"Two rods that meet, {contact.DURATION:g} s",
        lambda repeat: [
            contact.measure(each, repeat=repeat) for each in (contact.PATH[1], contact.QUOTED, contact.PATH[-1])
        ],
        (Peer("pyelastica", "pyelastica_contact"),),
        contact.error,
        absent={
            "exudyn": "its beams in space do not touch each other",
            "mujoco": "no script of it was written",
        },
    )


def gripper() -> Case:
    """Three tendon fingers grasp a ball and lift it."""
    return Case(
        f"Gripper lifts a ball, {grasping.DURATION:g} s",
        lambda repeat: [grasping.measure(each, repeat=repeat) for each in grasping.PATH],
        (Peer("mujoco", "mujoco_gripper"),),
        grasping.error,
        within=grasping.WITHIN,
        absent={
            "exudyn": "its beams in space touch neither each other nor rigid bodies",
            "pyelastica": "has no tendons, and no friction between rods and spheres that holds",
        },
    )


def cases(names: list[str], cells: list[int], *, quick: bool) -> list[Case]:
    """The cases of some names; nets of so many meshes a side."""
    found = []
    for name in names:
        if name == "chain":
            found.append(chain(4 if quick else 64))
        elif name == "net":
            sizes = [5] if quick else cells
            found += [nets(size, motion=motion) for size in sizes for motion in (False, True)]
        else:
            made = {"gripper": gripper, "crossing": crossing}.get(name, lambda name=name: touch(name, quick=quick))
            found.append(made())
    return found


def ask(peer: Peer, extra: tuple[str, ...] = ()) -> list[dict]:
    """Records that the script of a peer prints; one that says why there are none."""
    label = {"peer": peer.name, "settings": {}}
    command = [HERE / "peers" / f"{peer.script}.py", *peer.arguments, "--repeat", "1", *extra]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        done = subprocess.run([python_of(peer.name), *command], capture_output=True, text=True, check=False,
                              timeout=LIMIT, env=environment)  # fmt: skip
    except subprocess.TimeoutExpired:
        return [{**label, "failure": f"stopped after {LIMIT:.0f} s"}]
    except InstallError as error:
        return [{**label, "failure": str(error)}]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode:
        print(done.stderr[-1500:], file=sys.stderr)
        found.append({**label, "failure": f"ended with status {done.returncode}"})
    return found


def judged(line: dict, case: Case) -> dict:
    """A peer's record with its error."""
    if case.error is None or "failure" in line:
        return line
    followed = line.pop("followed" if "followed" in line else "tips")
    return {**line, "error": case.error(np.array(line.pop("t")), np.array(followed))}


def measured(case: Case, rounds: int) -> list[list[dict]]:
    """Records of all rounds, those of one setting together: Anguilla's first."""
    rows: dict[str, list[dict]] = {}
    slow: set[str] = set()
    case.own(1)  # compiles
    for _ in range(rounds):
        lines = case.own(1)
        for peer in case.peers:
            if peer.name in slow:
                continue
            given = [judged(line, case) for line in ask(peer)]
            if sum(line["seconds"][0] for line in given if "seconds" in line) > LONG or not given:
                slow.add(peer.name)
            lines += given
        for line in lines:
            rows.setdefault(f"{line['peer']} {line['settings']}", []).append(line)
    return list(rows.values())


def summed(lines: list[dict]) -> dict:
    """One record of the runs of a setting: best and median of the loop, best whole call (None if its script has none)."""
    if any("failure" in line for line in lines):
        return next(line for line in lines if "failure" in line)
    seconds = [value for line in lines for value in line["seconds"]]
    whole = [line[key] for line in lines for key in ("whole", "whole_seconds") if key in line]
    return {
        **lines[0],
        "best": min(seconds),
        "median": median(seconds),
        "runs": len(seconds),
        "call": min(whole, default=None),
    }


def against(row: dict, own: list[dict], within: float | None, key: str) -> float | None:
    """Its time over Anguilla's: of the fastest within an error, or of the cheapest that is at most as far off."""
    limit = row["error"] if within is None else within
    able = [each[key] for each in own if each["error"] <= limit]
    if row[key] is None or row["error"] > limit or not able:
        return None
    return row[key] / min(able)


def table(case: Case, rows: list[dict]) -> list[str]:
    """Lines of the table of a case."""
    lines = [case.title, "", "| program | setting | error | loop, best [s] | median [s] | runs | whole call [s] | times Anguilla | "
             "whole, times Anguilla |", "|---|---|---:|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    own = [row for row in rows if row["peer"] == "anguilla" and "failure" not in row]
    for row in rows:
        setting = ", ".join(f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
                            for key, value in row["settings"].items() if value is not None)  # fmt: skip
        if "failure" in row:
            lines.append(f"| {row['peer']} | {setting} | {row['failure']} | | | | | | |")
            continue
        ratios = [
            "" if row["peer"] == "anguilla" else _told(against(row, own, case.within, key)) for key in ("best", "call")
        ]
        lines.append(f"| {row['peer']} | {setting} | {row['error']:.2%} | {row['best']:.3g} | {row['median']:.3g} | {row['runs']} | "
                     f"{_told(row['call'])} | {ratios[0]} | {ratios[1]} |")  # fmt: skip
    lines += [f"| {name} | | not modelled: {reason} | | | | | | |" for name, reason in case.absent.items()]
    return [*lines, ""]


def rods(cells: int) -> int:
    """Of a net, between crossings."""
    return 2 * cells * (cells + 1)


def growth(found: dict[bool, dict[int, list[dict]]]) -> list[str]:
    """Lines of a table of how the times of nets grow: the loop [s] of one setting of each program that solves every size.

    found: of equilibria (False) and motions (True) the rows of each size.
    """
    sizes = sorted(found[True])
    lines = ["How nets grow: loop [s], best", "", "| | " + " | ".join(f"{n} x {n}: {rods(n)} rods" for n in sizes)
             + " | exponent, last two | setting |", "|---|" + "---:|" * (len(sizes) + 1) + "---|"]  # fmt: skip
    for motion, rows in found.items():
        for peer in dict.fromkeys(row["peer"] for row in rows[sizes[0]]):
            times = {
                str(row["settings"]): [
                    next((x["best"] for x in rows[n] if x["settings"] == row["settings"] and x["peer"] == peer and "best" in x), None)
                    for n in sizes
                ]
                for row in rows[sizes[0]] if row["peer"] == peer
            }  # fmt: skip
            able = {setting: each for setting, each in times.items() if None not in each}
            if able:
                setting = min(able, key=lambda setting: able[setting][-1])
                last = sizes[-2:]
                slope = np.log(able[setting][-1] / able[setting][-2]) / np.log(rods(last[1]) / rods(last[0]))
                lines.append(f"| {peer}, {'a second of motion' if motion else 'equilibrium'} | "
                             + " | ".join(f"{x:.3g}" for x in able[setting]) + f" | {slope:.2f} | {setting} |")  # fmt: skip
    return [*lines, ""]


def _told(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.3g}"


NAMES = ("chain", "net", "gripper", "crossing", "snake", "coil", "knot", "plectoneme")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cells", type=int, nargs="+", default=[5, 10, 15, 20], help="meshes a side of the nets")
    parser.add_argument("--quick", action="store_true", help="small, one round: whether it works")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", "The time steps of")  # coarse settings are meant to be
    of_nets: dict[bool, dict[int, list[dict]]] = {False: {}, True: {}}
    for case in cases(arguments.only, arguments.cells, quick=arguments.quick):
        rows = [summed(lines) for lines in measured(case, 1 if arguments.quick else arguments.rounds)]
        print("\n".join(table(case, rows)), flush=True)
        if case.net is not None:
            cells, motion = case.net
            of_nets[motion][cells] = rows
    if len(of_nets[True]) > 1:
        print("\n".join(growth(of_nets)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
