"""Three tendon fingers grasp a ball and lift it (examples/gripper.py): what every program solves, and its error.

    python benchmarks/grasping.py                # Anguilla, from coarse to fine

Soft fingers hang from a palm around a ball on a table; tendons bend them for 0.7 s, then the palm rises by 8 cm in a second.
Friction alone lifts the ball. The error is the largest distance of the ball's middle from the reference at five instants, over
its diameter; the reference is Anguilla with six modes of each bending and a step of 1 ms. The laws of contact and friction of the
programs differ, so that they settle apart from each other: ratios are told at WITHIN of the diameter. Only NumPy above the
imports of Anguilla: the script of the peer reads the gripper from here.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import sys
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
from cases import interpolate
from measure import looped, record, show

FINGER, THICK, APART, PALM = (
    0.12,
    0.006,
    0.045,
    0.125,
)  # length, radius, distance from the middle, height of the palm [m]
YOUNG, DENSITY, DAMPING = 1.5e6, 1100.0, 0.02  # of the fingers [Pa], [kg/m^3], [s]
BALL, MASS = 0.03, 0.03  # radius [m], mass [kg]
FRICTION, TABLE = 0.8, 0.5  # of the fingers, of the table
PULL, OFFSET, LIFT = 3.8, 0.0042, 0.08  # of each tendon [N] at this distance from the axis [m], way of the palm [m]
GRASP, RAISE, DURATION = (0.0, 0.7), (1.0, 2.0), 2.2  # from, until [s]
CHECK = np.array([0.7, 1.0, 1.5, 2.0, 2.2])  # [s]
WITHIN = 0.02  # of the diameter


def smoothly(t: float, when: tuple[float, float]) -> float:
    """From 0 to 1 between two instants."""
    s = min(max((t - when[0]) / (when[1] - when[0]), 0.0), 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


@dataclass(frozen=True, slots=True)
class Setting:
    """Modes of each bending of a finger, the step, and what else is chosen; None stands for the default of the library."""

    modes: int
    step: float  # [s]
    tolerance: float | None = None
    spacing: float | None = None  # of what touches along a finger [m]; a fifth of its radius by default
    left: float = 0.9  # of the highest frequencies after a step


PATH = (Setting(2, 2e-2, 1e-2, 6e-3, 0.5), Setting(2, 2e-2), Setting(3, 4e-3))
FINEST = Setting(6, 1e-3)


def lift(setting: Setting):
    """The motion, and the middle of the ball (m, 3) [m]."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
    import gripper

    import anguilla as ag

    run = gripper.grasp(
        "ball", duration=DURATION, dt=setting.step, modes=setting.modes, spacing=setting.spacing,
        tolerance=setting.tolerance, method=ag.GeneralisedAlpha(setting.left),
    )  # fmt: skip
    return run, run.position(run.robot.part("ball").frame)


@cache
def reference() -> np.ndarray:
    """Middle of the ball (5, 3) [m] at the check times."""
    run, ball = lift(FINEST)
    return interpolate(CHECK, run.t, ball)


def error(t: np.ndarray, ball: np.ndarray) -> float:
    """Largest distance of the ball's middle (m, 3) [m] at times t (m,) from the reference, over its diameter."""
    if not np.isfinite(ball).all():
        return float("inf")
    return float(np.linalg.norm(interpolate(CHECK, t, ball) - reference(), axis=1).max() / (2 * BALL))


def measure(setting: Setting, *, repeat: int = 1) -> dict:
    """The record of one setting: seconds of the loop, and of the whole call."""
    import anguilla as ag

    own = lambda found: found[0].status.seconds
    runs, loops, whole = zip(*(looped(lambda: lift(setting), own) for _ in range(repeat)), strict=True)
    run, ball = runs[0]
    return record(peer="anguilla", version=ag.__version__, case="gripper", settings=asdict(setting), error=error(run.t, ball),
                  seconds=list(loops), simulated=DURATION, coordinates=run.system.size, whole=min(whole))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    for setting in PATH:
        show(measure(setting, repeat=arguments.repeat))


if __name__ == "__main__":
    main()
