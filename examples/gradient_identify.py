"""Young's modulus and damping of a rod from a noisy record of the path of its tip.

A rod is released from a bent shape and swings. Its recorded tip has noise of 1 % of the size of the motion. The modulus
and the Kelvin-Voigt time that explain it best are found by a quasi-Newton method on exact gradients of the
misfit, in logarithms.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

import anguilla as ag

TRUE = np.array([4.3e5, 0.012])  # [Pa], [s]
GUESS = np.array([8e5, 0.03])
DT, STEPS, NOISE = 0.0025, 800, 0.01


@dataclass
class Result:
    found: np.ndarray
    error: np.ndarray
    motions: int


def build(p):
    robot = ag.Robot("sample", gravity=(0, 0, -9.81))
    material = ag.Material(young=float(p[0]), poisson=0.45, density=1050, damping=float(p[1]))
    rod = ag.Rod(0.25, ag.Circle(0.008), material, ag.planar(3), intervals=6)
    robot.add(
        rod, at=robot.ground, pose=np.array([[0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1.0]]), name="rod"
    )
    return robot


def swing(p):
    # a start that is not eased: whether it is may change with p, and the misfit with it
    return ag.simulate(build(p), duration=STEPS * DT, dt=DT, start=[6.0, -1.0, 0.2], smooth_start=False)


def main(seed=0):
    truth = swing(TRUE)
    path = truth.position(truth.robot.parts[0].tip)
    size = np.linalg.norm(np.ptp(path, axis=0))
    record = path + NOISE * size * np.random.default_rng(seed).standard_normal(path.shape)
    motions = 0

    def misfit(logarithms):
        nonlocal motions
        motions += 1
        p = np.exp(logarithms)
        run = swing(p)
        cost = ag.Reach(run.robot.parts[0].tip, record, weight=1.0 / size**2)
        found = ag.gradient(run, cost, design=(build, p))
        return found.value, found.design * p

    best = minimize(misfit, np.log(GUESS), jac=True, method="BFGS", options={"gtol": 1e-6})
    found = np.exp(best.x)
    return Result(found, found / TRUE - 1.0, motions)


if __name__ == "__main__":
    result = main()
    print(f"modulus {result.found[0]:.5g} Pa ({100 * result.error[0]:+.3f} %), damping {result.found[1]:.4g} s "
          f"({100 * result.error[1]:+.2f} %), after {result.motions} motions")  # fmt: skip
