"""Cases that Anguilla solves alone, one thread: a swimmer and a step of inverse kinematics of a soft volume.

    python benchmarks/alone.py

The swimmer is a free elastic eel of 1 m in the plane, driven by a travelling wave of muscle moments, in water with Morison's drag
and added mass: seconds per simulated second, and how far its head is from a run with twice the modes and intervals and half the
step. The volume is the parallel robot of paper 002 (examples/fem_speed.py): assemble, factor, project, quadratic programme, move.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import sys
from pathlib import Path

import numpy as np
from measure import record, show

import anguilla as ag

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
DURATION, PERIOD = 4.0, 1.0  # [s]
STIFFNESS, DENSITY = 2e5, 1000.0  # [Pa], [kg/m^3]


def muscle(X: float, t: float) -> tuple[float, float, float]:
    """Active moment [N m]: a wave towards the tail that grows along the body and over the first second."""
    grown = min(t, 1.0)
    return 0.0, 0.0, 0.4 * grown * (0.3 + 0.7 * X) * np.sin(2 * np.pi * (X - t / PERIOD)) * (1.0 - X**4)


def swim(modes: int, intervals: int, dt: float) -> ag.Trajectory:
    """The motion of the eel from rest."""
    robot = ag.Robot("eel", gravity=(0, 0, 0))
    material = ag.Material(young=STIFFNESS, poisson=0.5, density=DENSITY, damping=0.05)
    strains = ag.Strains(bend_z=ag.Legendre(modes))
    rod = ag.Rod(1.0, ag.Ellipse(0.03, 0.05), material, strains, intervals=intervals)
    eel = robot.add(rod, at=robot.ground, joint=ag.Planar(normal=(0, 0, 1)), name="eel")
    robot.load(ag.Morison(eel, density=DENSITY))
    robot.load(ag.Muscle(eel, moment=muscle))
    return ag.simulate(robot, duration=DURATION, dt=dt, method=ag.GeneralisedAlpha(0.9), tolerance=1e-5)


def swimmer(*, repeat: int) -> dict:
    """The record of the swimmer."""
    setting = 6, 16, 0.01
    swim(*setting)
    runs = [swim(*setting) for _ in range(repeat)]
    fine = swim(12, 32, 0.005)
    head, true = (run.position(run.robot.parts[0].root) for run in (runs[0], fine))
    gap = np.linalg.norm(head - true[::2], axis=1).max()
    way = float(np.linalg.norm(true[-1] - true[0]))
    settings = dict(zip(("modes", "intervals", "dt"), setting, strict=True))
    return record(peer="anguilla", version=ag.__version__, case="swimmer", settings=settings, error=float(gap),
                  seconds=[run.status.seconds for run in runs], simulated=DURATION, coordinates=runs[0].system.size,
                  way=way)  # fmt: skip


def volume(*, steps: int) -> list[dict]:
    """Records of the step of inverse kinematics, by size of the mesh; its time is in `ratio` [s]."""
    sys.path.insert(0, str(EXAMPLES))
    import fem_speed

    lines = []
    for row in fem_speed.main(steps=steps):
        lines.append({
            "peer": "anguilla", "version": ag.__version__, "case": "volume", "nodes": row.nodes,
            "tetrahedra": row.tetrahedra, "settings": {"solver": row.solver}, "ratio": row.best, "median": row.median,
            "kept": row.reused,
        })  # fmt: skip
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    show(swimmer(repeat=arguments.repeat))
    for line in volume(steps=8 * arguments.repeat):
        show(line)


if __name__ == "__main__":
    main()
