"""The planar parallel robot of paper 004, X.C, with two flexible legs: Anguilla and, by peers/exudyn_parallel.py, Exudyn.

    python benchmarks/parallel.py               # Anguilla: the quoted setting, then finer ones
    python benchmarks/parallel.py --reference   # compute the reference again

The robot is that of examples/paper004_parallel_robot.py. The error is the largest distance of the hinge from the reference
at 2, 4, 5, 6, 7, 8 and 10 s, over the length of a leg. The reference is Anguilla with 8 modes and a step of 0.5 ms.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import math
import sys
from pathlib import Path

import numpy as np
from cases import interpolate
from measure import record, rounded, show, whole_call

REFERENCE = Path(__file__).resolve().parent / "reference" / "parallel_robot.npz"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
LENGTH, HALF, RADIUS, YOUNG, DENSITY, MU = 1.0, 0.4, 1e-3, 2.1e11, 7800.0, 1e-4  # SI; half the distance of the bases
TILT = math.asin(HALF / LENGTH)  # [rad] of the legs at rest
DURATION = 10.0  # [s]
CHECK = np.array([2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0])  # [s]

# Modes, step [s]; the first is the quoted one.
SETTINGS = ((5, 0.00625), (5, 0.01), (6, 0.0025), (8, 0.00125))


def torques(t: float) -> tuple[float, float]:
    """Torques of the two motors [N m]: 0.5 N m are reached at 2 s, the first motor swings from 4 to 7 s."""
    hold = 0.5 * min(max(t - 1.0, 0.0), 1.0)
    swing = 0.07 * (1.0 - math.cos(2.0 * math.pi * (t - 4.0))) if 4.0 < t < 7.0 else 0.0
    return hold + swing, -hold


def error(t: np.ndarray, hinge: np.ndarray) -> float:
    """Largest distance of the hinge (m, 2) [m] at times t (m,) from the reference, over the length of a leg."""
    with np.load(REFERENCE) as data:
        true = interpolate(CHECK, data["t"], data["hinge"])
    return float(np.linalg.norm(interpolate(CHECK, t, hinge) - true, axis=1).max() / LENGTH)


def drive(modes: int, dt: float, *, rho: float = 0.9, tolerance: float = 1e-5):
    """The motion, and the hinge (m, 2) [m]."""
    sys.path.insert(0, str(EXAMPLES))
    import paper004_parallel_robot as example

    import anguilla as ag

    robot = example.robot_of(modes)
    method = ag.GeneralisedAlpha(rho)
    run = example.quietly(ag.simulate, robot, duration=DURATION, dt=dt, method=method, tolerance=tolerance)
    return run, example.Result(run).tip()


def measure(setting: tuple[int, float], *, repeat: int) -> dict:
    """The record of one setting."""
    import anguilla as ag

    drive(*setting)
    calls = [whole_call(lambda: drive(*setting)) for _ in range(repeat)]
    runs = [found for found, _ in calls]
    run, hinge = runs[0]
    return record(peer="anguilla", version=ag.__version__, case="parallel", settings={"modes": setting[0], "dt": setting[1]},
                  error=error(run.t, hinge), seconds=[run.status.seconds for run, _ in runs], simulated=DURATION,
                  coordinates=run.system.size, whole_seconds=rounded(min(taken for _, taken in calls)))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--reference", action="store_true", help="compute and store the reference")
    arguments = parser.parse_args()
    if arguments.reference:
        run, hinge = drive(8, 5e-4, rho=0.98, tolerance=1e-8)
        np.savez(REFERENCE, t=run.t[::10], hinge=hinge[::10])
        rough, other = drive(6, 1e-3, rho=0.98, tolerance=1e-8)
        print(f"6 modes and twice the step are {rounded(error(rough.t, other))} of the length away")
        return
    for setting in SETTINGS:
        show(measure(setting, repeat=arguments.repeat))


if __name__ == "__main__":
    main()
