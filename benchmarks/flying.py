"""The soft beam of Simo that flies after a push and a twist at one end: what every program solves, and its error.

    python benchmarks/flying.py --repeat 10          # Anguilla at its quoted setting
    python benchmarks/flying.py --path --repeat 5    # from too coarse to fine
    python benchmarks/flying.py --refine             # how far refinement moves the quoted setting

No gravity, no damping. At one end act the force (T/10, 0, 0) and the moment (0, T/2, T), fixed in space, with T rising to
200 at 2.5 s and back to 0 at 5 s. The error is the largest distance of the two ends from the reference at 1, 2, ..., 5 s,
over the length. The reference is a run of another program with 64 exact beam elements and a step of 1 ms
(reference/README.md); Anguilla with 8 modes of each strain and a step of 2.5 ms ends 0.02 % of the length from it.
Only NumPy above the imports of Anguilla: the scripts of the peers read the beam from here.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from cases import interpolate
from measure import record, repeats, rounded, show, whole_call

REFERENCE = Path(__file__).resolve().parent / "reference" / "flying_soft_ge64_1e-3.npz"
LENGTH, EA, GA, EI, GJ = 10.0, 1e4, 1e4, 500.0, 500.0  # [m], [N], [N], [N m^2], [N m^2]
MASS, INERTIA = 1.0, 10.0  # [kg/m], [kg m] about every axis
FIRST, LAST = np.array([6.0, 0.0, 0.0]), np.array([0.0, 8.0, 0.0])  # [m] ends at rest; the load is on the first
DURATION = 5.0  # [s]
CHECK = np.array([1.0, 2.0, 3.0, 4.0, 5.0])  # [s]


def load(t: float) -> float:
    """T(t)."""
    return 80.0 * t if t <= 2.5 else max(0.0, 400.0 - 80.0 * t)


def force(t: float) -> list[float]:
    """Force on the first end [N]."""
    return [0.1 * load(t), 0.0, 0.0]


def moment(t: float) -> list[float]:
    """Moment on the first end [N m]."""
    return [0.0, 0.5 * load(t), load(t)]


def axes() -> np.ndarray:
    """Rotation (3, 3) of the beam at rest: its axis, a normal in the plane, the world's z."""
    along = (LAST - FIRST) / LENGTH
    return np.stack([along, [-along[1], along[0], 0.0], [0.0, 0.0, 1.0]], axis=1)


def error(t: np.ndarray, ends: np.ndarray) -> float:
    """Largest distance of the ends (m, 2, 3) [m] at times t (m,) from the reference, over the length."""
    if not np.isfinite(ends).all():
        return float("inf")
    if t[-1] < DURATION - 1e-6:
        raise ValueError(f"the motion stops at {t[-1]:g} s, the last check time is {DURATION:g} s")
    with np.load(REFERENCE) as data:
        true = interpolate(CHECK, data["t"], np.concatenate([data["A"], data["B"]], axis=1))
    gap = interpolate(CHECK, t, ends.reshape(len(t), 6)) - true
    return float(np.linalg.norm(gap.reshape(-1, 2, 3), axis=2).max() / LENGTH)


@dataclass(frozen=True, slots=True)
class Setting:
    """Modes of Anguilla's strains and its step."""

    twist: int
    bend: int
    stretch: int
    shear: int
    intervals: int
    dt: float  # [s]
    rho_inf: float = 0.9
    tolerance: float = 1e-5

    def refined(self) -> "Setting":
        """Half the step, twice the modes and intervals, a tenth of the tolerance; a strain without modes gets one."""
        twice = {name: max(1, 2 * getattr(self, name)) for name in ("twist", "bend", "stretch", "shear", "intervals")}
        return replace(self, dt=self.dt / 2, tolerance=self.tolerance / 10, **twice)


# The cheapest found that is off by less than 1 % and moves by less than 0.3 % when everything is refined.
QUOTED = Setting(3, 4, 1, 0, 6, 0.0625, tolerance=3e-5)


def path() -> Iterator[Setting]:
    """From too coarse to fine, through the quoted setting."""
    yield Setting(2, 2, 1, 0, 3, 0.125)
    yield Setting(2, 3, 1, 0, 4, 0.125)
    yield Setting(3, 3, 1, 0, 4, 0.1)
    yield replace(QUOTED, dt=0.1)
    yield QUOTED
    yield Setting(3, 4, 2, 2, 6, 0.05)
    yield Setting(4, 5, 3, 3, 8, 0.025, 0.95, 1e-6)
    yield Setting(5, 6, 4, 4, 12, 0.0125, 0.98, 1e-6)
    yield Setting(6, 6, 6, 6, 16, 0.005, 1.0, 1e-7)


@cache
def simo() -> type:
    """The class of the rod, made once."""
    import anguilla as ag

    @dataclass
    class Simo(ag.Rod):
        """Its stiffness is given as such: the numbers are not those of any one material."""

        def hooke(self, X):
            return np.tile([GJ, EI, EI, EA, GA, GA], (np.size(X), 1))

    return Simo


def beam(setting: Setting):
    """The robot and its rod."""
    import anguilla as ag

    modes = {"twist": setting.twist, "bend_y": setting.bend, "bend_z": setting.bend, "stretch": setting.stretch,
             "shear_y": setting.shear, "shear_z": setting.shear}  # fmt: skip
    strains = ag.Strains(**{name: ag.Legendre(count) for name, count in modes.items() if count})
    section = ag.GeneralSection(MASS, INERTIA, INERTIA, INERTIA, polar=INERTIA, width=0.5)
    material = ag.Material(50.0, 1.0, shear=50.0)  # its density is 1: the section holds mass and inertia per length
    rod = simo()(LENGTH, section, material, strains, intervals=setting.intervals)
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes(), FIRST
    flyer = robot.add(rod, at=robot.ground, joint=ag.Free(), pose=pose)
    robot.load(ag.Wrench(flyer.root, force=force, moment=moment))
    return robot, flyer


def fly(setting: Setting):
    """The motion, and its ends (m, 2, 3) [m]."""
    import anguilla as ag

    robot, rod = beam(setting)
    steps = round(DURATION / setting.dt + 0.499)
    method = ag.GeneralisedAlpha(setting.rho_inf)
    run = ag.simulate(
        robot, duration=steps * setting.dt, dt=setting.dt, method=method, tolerance=setting.tolerance, events=()
    )  # nothing jumps, so nobody has to look for it
    return run, np.stack([run.position(rod.root), run.position(rod.tip)], axis=1)


def moved(setting: Setting) -> float:
    """How far the ends move at the check times when everything is refined, over the length."""
    (one, rough), (two, fine) = fly(setting), fly(setting.refined())
    gap = interpolate(CHECK, one.t, rough.reshape(-1, 6)) - interpolate(CHECK, two.t, fine.reshape(-1, 6))
    return float(np.linalg.norm(gap.reshape(-1, 2, 3), axis=2).max() / LENGTH)


def measure(setting: Setting, *, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    import anguilla as ag

    label = {"peer": "anguilla", "version": ag.__version__, "case": "flying", "settings": asdict(setting)}
    try:
        fly(setting)
        calls = [whole_call(lambda: fly(setting)) for _ in repeats(repeat)]
    except ag.AnguillaError as failure:
        return {**label, "failure": str(failure)}
    runs = [found for found, _ in calls]
    run, ends = runs[0]
    seconds = [run.status.seconds for run, _ in runs]
    return record(**label, error=error(run.t, ends), seconds=seconds, simulated=float(run.t[-1]),
                  coordinates=run.system.size, whole_seconds=rounded(min(seconds for _, seconds in calls)))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--dt", type=float, help="another step than the quoted one [s]")
    parser.add_argument("--path", action="store_true", help="settings from too coarse to fine, one line each")
    parser.add_argument("--refine", action="store_true", help="add how far refinement moves the ends")
    arguments = parser.parse_args()
    setting = replace(QUOTED, dt=arguments.dt) if arguments.dt else QUOTED
    for each in path() if arguments.path else [setting]:
        line = measure(each, repeat=arguments.repeat)
        if arguments.refine and "failure" not in line:
            line["moved"] = rounded(moved(each))
        show(line)


if __name__ == "__main__":
    main()
