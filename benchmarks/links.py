"""A hanging chain of flexible links on ball joints, pushed aside by its weight: what every program solves, and its error.

    python benchmarks/links.py --links 64               # Anguilla
    python benchmarks/links.py --links 64 --reference   # refine, and store the reference

Each link is a rod of 0.1 m; the first hangs on the ground by a ball joint. At the start all are straight along x, at rest and
without stress, and weight acts at 45 degrees to x. After a second the chain has swung by half of its length. The error is
the largest distance of four joints (a quarter, half, three quarters and the whole chain down) from the reference at 0.25,
0.5, 0.75 and 1 s, over the length of the chain. Only NumPy above the imports of Anguilla: the peers read the chain from here.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from cases import interpolate
from measure import looped, record, show

HERE = Path(__file__).resolve().parent
LENGTH, RADIUS, YOUNG, DENSITY, POISSON, SHEAR = 0.1, 2.5e-3, 1e7, 1000.0, 0.3, 1.0  # of a link, SI; shear factor
AREA, SECOND = math.pi * RADIUS**2, math.pi * RADIUS**4 / 4  # [m^2], [m^4]
GRAVITY = (9.81 * math.sqrt(0.5), 0.0, -9.81 * math.sqrt(0.5))  # [m/s^2]
DURATION = 1.0  # [s]
CHECK = np.array([0.25, 0.5, 0.75, 1.0])  # [s]


def watched(links: int) -> list[int]:
    """Links whose far ends are compared."""
    return [max(1, k * links // 4) - 1 for k in (1, 2, 3, 4)]


def reference(links: int) -> np.ndarray:
    """Ends (4, 4, 3) [m] at the check times, as stored."""
    with np.load(HERE / "reference" / f"links_{links}.npz") as data:
        return data["swinging"]


def error(links: int, t: np.ndarray, ends: np.ndarray) -> float:
    """Largest distance of the ends (m, 4, 3) [m] at times t (m,) from the reference, over the length of the chain."""
    if not np.isfinite(ends).all():
        return float("inf")
    if t[-1] < DURATION - 1e-6:
        raise ValueError(f"the motion stops at {t[-1]:g} s, the last check time is {DURATION:g} s")
    return float(np.linalg.norm(at_check(t, ends) - reference(links), axis=2).max() / (links * LENGTH))


def at_check(t: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Ends (4, 4, 3) [m] at the check times."""
    return interpolate(CHECK, t, ends.reshape(len(t), -1)).reshape(-1, 4, 3)


@dataclass(frozen=True, slots=True)
class Setting:
    """Modes of the strains of a link, step and damping."""

    bend: int = 3
    twist: int = 2
    stretch: int = 1
    shear: int = 0
    step: float = 0.02  # [s]
    rho_inf: float = 0.8
    tolerance: float = 1e-5
    intervals: int | None = None


QUOTED = Setting()  # 9 coordinates of each link, besides its joint
COARSE = Setting(1, 1, 0, step=0.125, intervals=1, tolerance=1e-3)  # 3 coordinates of each link, besides its joint
PATH = (
    replace(COARSE, step=1 / 6), COARSE, replace(COARSE, step=0.05), replace(COARSE, stretch=1, step=0.1),
    replace(COARSE, stretch=1, step=0.05), Setting(step=0.1), Setting(step=0.05), Setting(step=0.025), QUOTED,
)  # fmt: skip
FINE = Setting(4, 2, 2, 2, step=5e-4, rho_inf=0.95, tolerance=1e-8)


def build(links: int, setting: Setting):
    """The robot and its rods."""
    import anguilla as ag

    modes = {"twist": setting.twist, "bend_y": setting.bend, "bend_z": setting.bend, "stretch": setting.stretch,
             "shear_y": setting.shear, "shear_z": setting.shear}  # fmt: skip
    material = ag.Material(YOUNG, DENSITY, POISSON)
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), material, ag.Strains(**modes), intervals=setting.intervals)
    robot = ag.Robot("links", gravity=GRAVITY)
    at, rods = robot.ground, []
    for k in range(links):
        rods.append(robot.add(rod, at=at, joint=ag.Spherical(), name=f"link_{k + 1}"))
        at = rods[-1].tip
    return robot, rods


def swing(links: int, setting: Setting):
    """The motion, and the watched ends (m, 4, 3) [m] in it."""
    import anguilla as ag

    robot, rods = build(links, setting)
    method = ag.GeneralisedAlpha(setting.rho_inf)
    run = ag.simulate(robot, duration=DURATION, dt=setting.step, method=method, tolerance=setting.tolerance)
    return run, np.stack([run.position(rods[k].tip) for k in watched(links)], axis=1)


def measure(links: int, setting: Setting, *, repeat: int = 1) -> dict:
    """The record of one setting: seconds of the loop, and of the whole call."""
    import anguilla as ag

    own = lambda found: found[0].status.seconds
    runs, loops, whole = zip(*(looped(lambda: swing(links, setting), own) for _ in range(repeat)), strict=True)
    run, ends = runs[0]
    return record(peer="anguilla", version=ag.__version__, case=f"links {links}", settings=asdict(setting),
                  error=error(links, run.t, ends), seconds=list(loops), simulated=DURATION,
                  coordinates=run.system.size, iterations=run.status.counters["iterations"],
                  factorisations=run.status.counters["factorisations"], whole=min(whole))  # fmt: skip


def store(links: int) -> None:
    """Compute the reference."""
    run, ends = swing(links, FINE)
    np.savez(HERE / "reference" / f"links_{links}.npz", swinging=at_check(run.t, ends))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, nargs="+", default=[64])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--reference", action="store_true", help="compute and store the reference")
    arguments = parser.parse_args()
    for links in arguments.links:
        if arguments.reference:
            store(links)
        for setting in PATH:
            show(measure(links, setting, repeat=arguments.repeat))


if __name__ == "__main__":
    main()
