"""Computing time over simulated time of the rods of paper 004, table I, by shooting (paper 003), steps of 10 ms.

    python benchmarks/shooting.py            # best of three runs, one thread
    python benchmarks/shooting.py --rounds 1

The paper's own program in MATLAB took 71.9 (stiff cantilever) and 52.2 (stiff flying rod), and failed on the soft ones
(the soft flying rod, whose rotary inertia is large, needs 40 shoots). The literal stiff cantilever (2 GPa under 10 N, folded) is listed with the time it reached, beside the one of steel.
"""

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from cases import CANTILEVERS

import anguilla as ag
from anguilla import shooting

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import paper004_flying_rods as flying

DT = 0.01  # [s]


@dataclass
class Row:
    name: str
    matlab: str  # of 004, table I
    ratio: float  # computing time over simulated time
    reached: float  # [s]
    duration: float  # [s]
    apart: float  # largest distance of the tips from the core with the same steps, up to 0.5 s, over the length


def cantilever(name, strains):
    """A cantilever, its robot and the load that is let go."""
    case = CANTILEVERS[name]
    robot = ag.Robot(name, gravity=(9.81, 0, 0))
    material = ag.Material(case.young, case.density, case.poisson)
    arm = robot.add(ag.Rod(case.length, ag.Circle(case.diameter / 2), material, strains), at=robot.ground)
    return robot, arm, robot.load(ag.TipWrench(arm, force=(0, case.tip_force, 0))), case.duration


def measure(name, matlab, build, shoots, intervals, rounds):
    """Run one rod by shooting, and for half a second by the core with the same steps."""
    robot, arm, load, duration = build(ag.kirchhoff(10))
    options = {"shoots": shoots, "intervals": intervals}
    start = core_start = None
    if load is not None:
        start, core_start = shooting.statics(robot, **options), ag.statics(robot)
        load.force = (0, 0, 0)
    best = np.inf
    for _ in range(rounds):
        began = time.process_time()
        run = shooting.simulate(
            robot, duration=duration, dt=DT, start=start, tolerance=1e-6, raise_on_failure=False, **options
        )
        best = min(best, time.process_time() - began)
    reached = float(run.t[-1])
    apart, short = np.nan, min(0.5, reached)
    if short > 2 * DT:
        options = {"dt": DT, "method": ag.Newmark(), "raise_on_failure": False}
        if load is None:  # loads are functions of time
            both = ag.simulate(robot, duration=short, **options).position(arm.tip)[1:]
        else:  # the first step of shooting has Newmark's parameters (1/2, 1)
            first = ag.simulate(robot, duration=DT, start=core_start, **(options | {"method": ag.Newmark(0.5, 1.0)}))
            rest = ag.simulate(robot, duration=short - DT, start=(first.q[-1], first.v[-1]), **options)
            both = rest.position(arm.tip)
        apart = float(np.max(np.linalg.norm(run.position(arm.tip)[1 : 1 + len(both)] - both, axis=1)) / arm.length)
    return Row(name, matlab, best / max(reached, DT), reached, duration, apart)


def flyer(which):
    def build(strains):
        robot = which(strains)
        return robot, robot.part("rod"), None, 10.0

    return build


def table(rounds=3):
    cases = (
        ("stiff cantilever, 200 GPa", "71.9", lambda s: cantilever("stiff200", s), 4, 16),
        ("stiff cantilever, 2 GPa as printed", "71.9", lambda s: cantilever("stiff", s), 20, 60),
        ("soft cantilever", "fails", lambda s: cantilever("soft", s), 10, 40),
        ("stiff flying rod", "52.2", flyer(flying.stiff), 3, 12),
        ("soft flying rod", "fails", flyer(flying.soft), 40, 120),
    )
    return [measure(*case, rounds) for case in cases]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="runs of each rod, of which the best counts")
    print(f"{'rod':36} {'MATLAB':>8} {'ratio':>8} {'reached':>16} {'from the core':>14}")
    for row in table(parser.parse_args().rounds):
        reached = f"{row.reached:g} of {row.duration:g} s"
        print(f"{row.name:36} {row.matlab:>8} {row.ratio:8.2f} {reached:>16} {row.apart:14.1e}")


if __name__ == "__main__":
    main()
