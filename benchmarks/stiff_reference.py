"""The reference motion of the cantilever `stiff`: the mean of two programs, and how far they are apart.

    python benchmarks/stiff_reference.py            # compute, compare with what is stored; some minutes
    python benchmarks/stiff_reference.py --write    # and store it: benchmarks/reference/ref_stiff.npz

Anguilla with 45 modes of bending, 8 of stretch and of shear, and no numerical damping; Exudyn with 256 geometrically exact
elements; both with steps of 25 us and tight tolerances.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from cases import CANTILEVERS, GRAVITY, REFERENCE, interpolate, reference
from environments import python_of
from settings import tip

import anguilla as ag

CASE = CANTILEVERS["stiff"]
UNTIL, STEP, SAMPLES = 0.21, 2.5e-5, 2001  # [s], [s]; the check times end at 0.2 s

EXUDYN = """
import sys
sys.path.insert(0, sys.argv[1])
import exudyn_cantilever as peer
import numpy as np
peer.SAMPLES = 4000
until, step = float(sys.argv[2]), float(sys.argv[3])
setting = peer.Setting("beam", 256, step, 0.95, "sparse", 1e-6)
t, tip, _ = peer.run(peer.CANTILEVERS["stiff"], setting, until, [])
np.savez(sys.argv[4], t=t, tip=tip)
"""


def rod(*, held: bool) -> ag.Robot:
    """The rod, free or held by the force it is released from."""
    strains = ag.Strains(bend_z=ag.FreeTip(45), stretch=ag.Legendre(8), shear_y=ag.Legendre(8))
    material = ag.Material(young=CASE.young, poisson=CASE.poisson, density=CASE.density)
    robot = ag.Robot("stiff", gravity=(GRAVITY, 0, 0))
    made = ag.Rod(CASE.length, ag.Circle(CASE.diameter / 2), material, strains, intervals=80)
    part = robot.add(made, at=robot.ground)
    if held:
        robot.load(ag.TipWrench(part, force=(0, CASE.tip_force, 0)))
    return robot


def anguilla() -> tuple[np.ndarray, np.ndarray]:
    """Times (m,) [s] and tip (m, 2) [m]."""
    start = ag.statics(rod(held=True))
    run = ag.simulate(
        rod(held=False), duration=UNTIL, dt=STEP, start=start.q, method=ag.GeneralisedAlpha(1.0), tolerance=1e-9
    )
    return run.t, tip(run)


def exudyn() -> tuple[np.ndarray, np.ndarray]:
    """The same with Exudyn, in its environment."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "tip.npz"
        peers = Path(__file__).resolve().parent / "peers"
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        command = [python_of("exudyn"), "-c", EXUDYN, str(peers), str(UNTIL), str(STEP), str(out)]
        subprocess.run(command, check=True, cwd=folder, env=environment)
        with np.load(out) as data:
            return data["t"], data["tip"]


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Largest distance of two tips (k, 2) [m], over the length."""
    return float(np.linalg.norm(a - b, axis=1).max() / CASE.length)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    times, checks = np.linspace(0.0, UNTIL, SAMPLES), np.array(CASE.check_times)
    own, other = (interpolate(times, *run()) for run in (anguilla, exudyn))
    mean = 0.5 * (own + other)
    before = interpolate(checks, *reference(CASE))
    at = [interpolate(checks, times, each) for each in (own, other, mean)]
    print(f"apart at the check times: {distance(at[0], at[1]):.3%} of the length")
    print(
        f"from what is stored: Anguilla {distance(at[0], before):.3%}, Exudyn {distance(at[1], before):.3%}, mean {distance(at[2], before):.3%}"
    )
    if arguments.write:
        np.savez(REFERENCE / "ref_stiff.npz", t=times, tip=mean)


if __name__ == "__main__":
    main()
