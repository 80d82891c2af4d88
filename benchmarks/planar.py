"""The tendon arm in the plane with a constant strain in each section, which Anguilla and JSRM both model.

    python benchmarks/planar.py

Two sections of benchmarks/tendon.py, bending, stretch and shear constant in each: six coordinates. It hangs, and two tendons on
the same side pull with 5 N from t = 0 on: one to the tip of the first section, one through both, as JSRM routes them. The error is
the distance of the tip after one second from Anguilla's finest step, over the length; of JSRM that contains what its model of the
tendons and of the inertia differs by. Only NumPy above the imports of Anguilla: the script of the peer reads the arm from here.
"""

import argparse
from statistics import median

import numpy as np
from measure import show
from tendon import DAMPING, DENSITY, LENGTH, OFFSET, POISSON, RADIUS, YOUNG

TENSION, DURATION = 5.0, 1.0  # [N], [s]
TIP = np.array([0.600052491, 0.009595648])  # [m] after one second, finest step: down, to the side
SETTINGS = ((0.02, 2), (0.005, 2), (0.001, 4))  # step [s], intervals


def error(tip: np.ndarray) -> float:
    """Distance from the finest run over the length."""
    return float(np.linalg.norm(np.asarray(tip) - TIP) / (2 * LENGTH))


def solve(dt: float, intervals: int):
    """The motion and the frame of the tip."""
    import anguilla as ag

    rubber = ag.Material(young=YOUNG, poisson=POISSON, density=DENSITY, damping=DAMPING)
    strains = ag.Strains(bend_z=1, stretch=1, shear_y=1)
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), rubber, strains, intervals=intervals)
    robot = ag.Robot("planar_arm", gravity=(9.81, 0, 0))
    near = robot.add(rod, at=robot.ground, name="near")
    far = robot.add(rod, at=near.tip, name="far")
    robot.actuate("near", ag.Tendon(near, ag.parallel(y=OFFSET)))
    robot.actuate("far", ag.Tendon((near, far), ag.parallel(y=OFFSET)))
    inputs = {"near": TENSION, "far": TENSION}
    method = ag.GeneralisedAlpha(0.9)
    return ag.simulate(robot, duration=DURATION, dt=dt, inputs=inputs, method=method, tolerance=1e-6), far.tip


def main() -> None:
    import anguilla as ag

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=30)
    repeat = parser.parse_args().repeat
    for dt, intervals in SETTINGS:
        solve(dt, intervals)
        runs = [solve(dt, intervals) for _ in range(repeat)]
        seconds = [run.status.seconds / DURATION for run, _ in runs]
        run, tip = runs[0]
        place = run.position(tip)[-1, :2]
        show({
            "peer": "anguilla", "version": ag.__version__, "case": "planar", "program": f"Anguilla, {1e3 * dt:g} ms",
            "coordinates": run.system.size, "error": error(place),
            "tip": place.tolist(), "ratio": min(seconds), "median": median(seconds),
        })  # fmt: skip


if __name__ == "__main__":
    main()
