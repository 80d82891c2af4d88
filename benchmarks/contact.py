"""Two rods that meet: one falls on the other and bounces; what every program solves, its error, and the ratio of times.

    python benchmarks/contact.py --repeat 5                       # Anguilla at its quoted setting
    python benchmarks/contact.py --path                           # from coarse to fine
    python benchmarks/contact.py --peer PYTHON --repeat 3         # in turns with PyElastica, run by that Python
    python benchmarks/contact.py --idle                           # what contact costs an arm that touches nothing

Two soft cantilevers that are clamped at right angles sag under their weight. The upper one falls on the lower one, presses it
down and springs back, without friction or damping. The error is the largest distance of the two tips from the reference at
five instants, over the length. The reference is Anguilla with 9 modes and a step of 0.2 ms; half the step moves it by 0.02 %
of the length, 12 modes by 0.6 %, and PyElastica's finest setting ends 1 % from it (its rods stretch and shear, and the laws of
contact differ): what is below that says nothing. Times are those of whole calls, the judging of the motion included.
Only NumPy above the imports of Anguilla: the script of the peer reads the rods from here.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
from cases import interpolate
from measure import looped, record, rounded, show, timed

LENGTH, RADIUS, YOUNG, POISSON, DENSITY = 0.4, 0.01, 1e7, 0.5, 1000.0  # [m], [m], [Pa], -, [kg/m^3]
LOWER, UPPER = np.array([0.0, 0.0, 0.0]), np.array([0.25, -0.3, 0.05])  # roots [m]: along x, and along y above it
GRAVITY, DURATION = 9.81, 0.3  # [m/s^2], [s]
CHECK = np.array([0.1, 0.15, 0.2, 0.25, 0.3])  # [s]


@dataclass(frozen=True, slots=True)
class Setting:
    """Modes of bending of each rod, and the step."""

    modes: int
    dt: float  # [s]


QUOTED = Setting(5, 3e-3)
PATH = (Setting(2, 1e-2), Setting(3, 5e-3), Setting(4, 2e-3), QUOTED, Setting(5, 1e-3))
FINEST = Setting(9, 2e-4)


def fall(setting: Setting):
    """The motion, and the tips (m, 2, 3) [m]."""
    import anguilla as ag

    robot = ag.Robot("crossing", gravity=(0, 0, -GRAVITY))
    material = ag.Material(YOUNG, DENSITY, poisson=POISSON)
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), material, ag.strains.kirchhoff(setting.modes))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], UPPER
    lower = robot.add(rod, at=robot.ground, name="lower")
    upper = robot.add(rod, at=robot.ground, name="upper", pose=pose)
    robot.load(ag.Contact(lower, upper))
    run = ag.simulate(robot, duration=DURATION, dt=setting.dt, progress=False)
    return run, np.stack([run.position(lower.tip), run.position(upper.tip)], axis=1)


@cache
def reference() -> np.ndarray:
    """Tips (5, 6) [m] at the check times."""
    run, tips = fall(FINEST)
    return interpolate(CHECK, run.t, tips.reshape(-1, 6))


def error(t: np.ndarray, tips: np.ndarray) -> float:
    """Largest distance of the tips (m, 2, 3) [m] at times t (m,) from the reference, over the length."""
    gap = interpolate(CHECK, t, tips.reshape(len(t), 6)) - reference()
    return float(np.linalg.norm(gap.reshape(-1, 2, 3), axis=2).max() / LENGTH)


def measure(setting: Setting, *, repeat: int) -> dict:
    """The record of `setting`."""
    import anguilla as ag

    fall(setting)
    runs = [looped(lambda: fall(setting), lambda fallen: fallen[0].status.seconds) for _ in range(repeat)]
    (run, tips), _, _ = runs[0]
    _, loops, whole = zip(*runs, strict=True)
    return record(
        peer="anguilla", version=ag.__version__, case="crossing", settings=asdict(setting), error=error(run.t, tips),
        seconds=list(loops), simulated=DURATION, coordinates=run.system.size, whole_seconds=rounded(min(whole)),
    )  # fmt: skip


def idle(*, repeat: int) -> dict:
    """Processor time of a step [us] of an arm that swings, without contact and with a contact of its own that never touches."""
    import anguilla as ag

    def arm(touch: bool):
        robot = ag.Robot("arm")
        material = ag.Material(1e6, 1000.0, damping=0.01)
        rod = robot.add(ag.Rod(0.3, ag.Circle(0.01), material, ag.strains.kirchhoff(3)), at=robot.ground)
        if touch:
            robot.load(ag.SelfContact(rod, friction=0.3))
        return ag.Model(robot)

    models, steps = (arm(False), arm(True)), 2000
    swing = lambda model: ag.simulate(model, duration=1e-3 * steps, dt=1e-3, every=steps, progress=False)
    for model in models:
        swing(model)
    plain, touching = np.min([[timed(lambda: swing(m))[1] for m in models] for _ in range(repeat)], axis=0) / steps  # noqa: B023
    return {
        "case": "idle",
        "plain": rounded(1e6 * plain),
        "touching": rounded(1e6 * touching),
        "times": rounded(touching / plain),
    }


def peer(python: str, *, repeat: int) -> list[dict]:
    """Records of PyElastica, with the error from the same reference."""
    script = Path(__file__).resolve().parent / "peers" / "pyelastica_contact.py"
    out = subprocess.run(
        [python, str(script), "--repeat", str(repeat)], capture_output=True, text=True, check=True
    ).stdout
    lines = [json.loads(line) for line in out.splitlines()]
    for line in lines:
        t, tips = np.array(line.pop("t")), np.array(line.pop("tips"))
        line["error"] = rounded(error(t, tips))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--path", action="store_true", help="settings from coarse to fine, one line each")
    parser.add_argument("--peer", help="a Python that has PyElastica: runs it in turns, and prints ratios")
    parser.add_argument("--idle", action="store_true", help="an arm that may touch itself and does not, instead")
    arguments = parser.parse_args()
    if arguments.idle:
        return show(idle(repeat=arguments.repeat))
    mine = [measure(each, repeat=arguments.repeat) for each in (PATH if arguments.path else [QUOTED])]
    for line in mine:
        show(line)
    if arguments.peer:
        best = min((line for line in mine if line["error"] < 0.01), key=lambda line: min(line["seconds"]))
        for line in peer(arguments.peer, repeat=arguments.repeat):
            again = measure(Setting(**best["settings"]), repeat=arguments.repeat)
            times = rounded(min(line["seconds"]) / min(again["seconds"]))
            show(
                {
                    **line,
                    "times_anguilla": times,
                    "whole_times_anguilla": rounded(line["whole_seconds"] / again["whole_seconds"]),
                }
            )


if __name__ == "__main__":
    sys.exit(main())
