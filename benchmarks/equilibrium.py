"""Static equilibrium of a cantilever bent and twisted in space: what Anguilla and Exudyn solve, and the error.

    python benchmarks/equilibrium.py                # Anguilla, the quoted settings
    python benchmarks/equilibrium.py --reference    # compute the reference again

A round rod along x, clamped, with a dead force and a dead moment at its tip and no gravity: P L^2 / (E I) is about 5, the
moment 1.5 E I / L. The error is the distance of the tip from the reference over the length. The reference is Anguilla with
ten modes of each strain and 80 intervals; Exudyn tends to it with the square of its elements (its extrapolated tip is 9e-9 away).
Only NumPy above the imports of Anguilla: the script of the peer reads the rod from here.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import math

import numpy as np
from measure import record, rounded, show, whole_call

LENGTH, RADIUS, YOUNG, POISSON, DENSITY = 1.0, 0.01, 1e7, 0.3, 1000.0  # SI
EI = YOUNG * math.pi * RADIUS**4 / 4  # [N m^2]
FORCE = 0.0, 2.0 * EI, -5.0 * EI  # [N] on the tip, world axes
MOMENT = 1.5 * EI, 0.0, 0.5 * EI  # [N m]
TIP = np.array([0.55696729, 0.50136385, -0.53350691])  # [m], of the reference

# Modes of twist and bending, of stretch and shear, intervals; the first is the quoted one.
SETTINGS = ((3, 1, 6), (4, 1, 8), (5, 2, 12), (6, 3, 20))


def error(tip: np.ndarray) -> float:
    """Distance from the reference over the length."""
    return float(np.linalg.norm(np.asarray(tip) - TIP) / LENGTH)


def solve(modes: int, others: int, intervals: int):
    """The equilibrium, and the frame of the tip."""
    import anguilla as ag

    names = {"twist": modes, "bend_y": modes, "bend_z": modes, "stretch": others, "shear_y": others, "shear_z": others}
    strains = ag.Strains(**{name: ag.Legendre(count) for name, count in names.items() if count})
    material = ag.Material(young=YOUNG, poisson=POISSON, density=DENSITY)
    robot = ag.Robot("cantilever", gravity=(0, 0, 0))
    rod = robot.add(ag.Rod(LENGTH, ag.Circle(RADIUS), material, strains, intervals=intervals), at=robot.ground)
    robot.load(ag.TipWrench(rod, force=FORCE, moment=MOMENT))
    return ag.statics(robot), rod.tip


def measure(setting: tuple[int, int, int], *, repeat: int) -> dict:
    """The record of one setting; its times are those of single equilibria."""
    import anguilla as ag

    rest, tip = solve(*setting)
    calls = [whole_call(lambda: solve(*setting)) for _ in range(repeat)]
    seconds, (rest, tip) = [rest.status.seconds for (rest, _), _ in calls], calls[0][0]
    settings = dict(zip(("modes", "stretch_and_shear", "intervals"), setting, strict=True))
    return record(peer="anguilla", version=ag.__version__, case="equilibrium", settings=settings,
                  error=error(rest.position(tip)), seconds=seconds, simulated=1.0, whole_seconds=rounded(min(taken for _, taken in calls)),
                  coordinates=rest.system.size)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--reference", action="store_true", help="print the tip of the reference")
    arguments = parser.parse_args()
    if arguments.reference:
        for setting in ((10, 10, 80), (8, 8, 40)):
            rest, tip = solve(*setting)
            print(setting, rest.position(tip).tolist())
        return
    for setting in SETTINGS:
        show(measure(setting, repeat=arguments.repeat))


if __name__ == "__main__":
    main()
