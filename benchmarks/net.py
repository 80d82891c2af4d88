"""The net of examples/hanging_net.py, n x n meshes of rods pinned where they cross: what every program solves, and its error.

    python benchmarks/net.py --cells 5               # Anguilla: equilibrium and a second of motion
    python benchmarks/net.py --cells 5 --reference   # refine, and store the reference

The net is held at its corners, flat and without stress. Its equilibrium under gravity is one case; the other is the motion
that begins when it is let go from flat, for one second. The error is the largest distance of four knots from the reference
(in motion at 0.25, 0.5, 0.75 and 1 s), over the side. Only NumPy above the imports of Anguilla: the scripts of the peers
read the net from here.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import math
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from cases import interpolate
from measure import looped, record, show

HERE = Path(__file__).resolve().parent
SIDE, RADIUS, YOUNG, DENSITY, POISSON = 1.5, 5e-3, 1e7, 1000.0, 0.3  # SI, as in the example, but without damping
CLAMP, CLAMP_RADIUS, GRAVITY = 2e-3, 1e-2, 9.81  # mass [kg] and radius [m] of the ball on each rod at a crossing
SHEAR = 1.0  # shear factor of a circle, as the library has it
AREA, SECOND = math.pi * RADIUS**2, math.pi * RADIUS**4 / 4  # [m^2], [m^4]
DURATION = 1.0  # [s]
CHECK = np.array([0.25, 0.5, 0.75, 1.0])  # [s]


def drag(cells: int) -> float:
    """Of the air on each crossing but the corners [N s/m]: 5 /s of its share of the mass."""
    return 5.0 * (2 * SIDE / (cells + 1) * DENSITY * AREA + 2 * CLAMP)


def watched(cells: int) -> list[tuple[int, int]]:
    """Knots that are compared: the middle, the middle of a side, and two between."""
    half, quarter = cells // 2, max(1, cells // 4)
    return [(half, half), (half, 0), (quarter, half), (quarter, quarter)]


def reference(cells: int) -> dict[str, np.ndarray]:
    """Knots at rest (4, 3) and at the check times (4, 4, 3) [m], as stored."""
    with np.load(HERE / "reference" / f"net_{cells}.npz") as data:
        return dict(data)


def has_reference(cells: int) -> bool:
    """Whether there is one: it takes hours for a large net, whose growth is shown without."""
    return (HERE / "reference" / f"net_{cells}.npz").exists()


def static_error(cells: int, knots: np.ndarray) -> float:
    """Largest distance of the knots (4, 3) [m] at rest from the reference, over the side; NaN without a reference."""
    if not has_reference(cells):
        return float("nan")
    return float(np.linalg.norm(knots - reference(cells)["hanging"], axis=1).max() / SIDE)


def error(cells: int, t: np.ndarray, knots: np.ndarray) -> float:
    """Largest distance of the knots (m, 4, 3) [m] at times t (m,) from the reference, over the side; NaN without one."""
    if not np.isfinite(knots).all():
        return float("inf")
    if t[-1] < DURATION - 1e-6:
        raise ValueError(f"the motion stops at {t[-1]:g} s, the last check time is {DURATION:g} s")
    if not has_reference(cells):
        return float("nan")
    gap = interpolate(CHECK, t, knots.reshape(len(t), -1)).reshape(-1, 4, 3) - reference(cells)["falling"]
    return float(np.linalg.norm(gap, axis=2).max() / SIDE)


@dataclass(frozen=True, slots=True)
class Setting:
    """Modes of the strains of a rod, step and damping."""

    bend: int = 2
    twist: int = 1
    stretch: int = 1
    shear: int = 0
    step: float = 0.02  # [s]
    rho_inf: float = 0.8
    tolerance: float = 1e-5
    intervals: int | None = None


QUOTED = Setting()
COARSE = Setting(1, intervals=2, tolerance=1e-3)
LEAN = Setting(1, intervals=1, tolerance=1e-2)
QUICK = replace(LEAN, rho_inf=0.6, tolerance=3e-2)
PATH = (
    QUICK, replace(LEAN, step=0.025), replace(LEAN, rho_inf=0.7, tolerance=3e-2), replace(LEAN, rho_inf=0.7),
    LEAN, replace(LEAN, tolerance=3e-3), COARSE, replace(COARSE, step=0.01), QUOTED, Setting(step=0.01),
)  # fmt: skip
FINE = Setting(6, 3, 3, 3, step=2.5e-3, rho_inf=0.95, tolerance=1e-8)


def build(cells: int, setting: Setting):
    """The net of the example with the modes of a setting."""
    sys.path.insert(0, str(HERE.parent / "examples"))
    import hanging_net

    modes = {"twist": setting.twist, "bend_y": setting.bend, "bend_z": setting.bend, "stretch": setting.stretch,
             "shear_y": setting.shear, "shear_z": setting.shear}  # fmt: skip
    return hanging_net.build(cells, modes, intervals=setting.intervals, damping=0.0, drag=drag(cells))


def hang(cells: int, setting: Setting):
    """The equilibrium, and the watched knots (4, 3) [m] in it."""
    import anguilla as ag

    net = build(cells, setting)
    rest = ag.statics(net.robot, tolerance=1e-8)
    return rest, np.array([net.place(rest, knot) for knot in watched(cells)])


def fall(cells: int, setting: Setting):
    """The motion, and the watched knots (m, 4, 3) [m] in it."""
    import anguilla as ag

    net = build(cells, setting)
    method = ag.GeneralisedAlpha(setting.rho_inf)
    run = ag.simulate(net.robot, duration=DURATION, dt=setting.step, method=method, tolerance=setting.tolerance)
    return run, np.stack([net.place(run, knot) for knot in watched(cells)], axis=1)


def measure(cells: int, setting: Setting, *, repeat: int = 1, motion: bool = True) -> dict:
    """The record of the motion or of the equilibrium with one setting: seconds of the loop, and of the whole call."""
    import anguilla as ag

    solve = fall if motion else hang
    own = lambda found: found[0].status.seconds
    runs, loops, whole = zip(*(looped(lambda: solve(cells, setting), own) for _ in range(repeat)), strict=True)
    result, knots = runs[0]
    off = error(cells, result.t, knots) if motion else static_error(cells, knots)
    return record(peer="anguilla", version=ag.__version__, case=f"net {cells}", settings=asdict(setting), error=off,
                  seconds=list(loops), simulated=DURATION, coordinates=result.system.size,
                  iterations=result.status.counters["iterations"], whole=min(whole))  # fmt: skip


def store(cells: int) -> None:
    """Compute the reference, and tell how far half the resolution is from it."""
    _, rest = hang(cells, FINE)
    run, knots = fall(cells, FINE)
    falling = interpolate(CHECK, run.t, knots.reshape(len(run.t), -1)).reshape(-1, 4, 3)
    np.savez(HERE / "reference" / f"net_{cells}.npz", hanging=rest, falling=falling)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="+", default=[5])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--reference", action="store_true", help="compute and store the reference")
    arguments = parser.parse_args()
    for cells in arguments.cells:
        if arguments.reference:
            store(cells)
        for motion in (False, True):
            for setting in PATH:
                show(measure(cells, setting, repeat=arguments.repeat, motion=motion))


if __name__ == "__main__":
    main()
