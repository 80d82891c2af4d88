"""The lightest taper of a rod that holds a weight with a given sag: design by exact gradients of an equilibrium.

The radius of a cantilever falls along a cubic through four unknown values. Its mass is minimised while the tip
sags by 20 mm under a weight; the gradient of the sag comes from the adjoint of the equilibrium, one solve for all four.
"""

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import minimize

import anguilla as ag

LENGTH, WEIGHT, SAG = 0.3, 0.4, 0.02  # [m], [N], [m]
YOUNG, DENSITY = 2e7, 1100.0
PLACES = np.linspace(0.0, LENGTH, 4)


@dataclass
class Result:
    radii: np.ndarray
    sag: float
    mass: float
    uniform_mass: float


def profile(p):
    """Radius [m] along X through the values at PLACES."""
    coefficients = np.polynomial.polynomial.polyfit(PLACES / LENGTH, np.asarray(p, dtype=float), 3)
    return lambda X: float(np.polynomial.polynomial.polyval(X / LENGTH, coefficients))


def build(p):
    radius = profile(p)
    robot = ag.Robot("cantilever", gravity=(0, 0, 0))
    section = ag.Tapered(lambda X: ag.Circle(radius(X)))
    rod = ag.Rod(LENGTH, section, ag.Material(young=YOUNG, density=DENSITY), ag.planar(5), intervals=10)
    arm = robot.add(rod, at=robot.ground, name="arm")
    robot.load(ag.TipWrench(arm, force=(0, -WEIGHT, 0)))
    return robot


def mass(p):
    x, w = np.polynomial.legendre.leggauss(12)
    radius = np.array([profile(p)(0.5 * LENGTH * (1 + s)) for s in x])
    return float(DENSITY * np.pi * 0.5 * LENGTH * np.sum(w * radius**2))


def sag(p):
    """Sag of the tip [m] and its gradient with respect to the radii; the optimiser asks for both at the same ones."""
    return _sag(tuple(p))


@cache
def _sag(p):
    with warnings.catch_warnings():  # a design on the way may be so thin somewhere that five modes are too few
        warnings.simplefilter("ignore", ag.AnguillaWarning)
        eq = ag.statics(build(p))
    y = eq.position(eq.robot.parts[0].tip)[1]
    goal = eq.position(eq.robot.parts[0].tip) - np.array([0, 1, 0])  # so that the derivative of the cost is that of y
    found = ag.gradient(eq, ag.Reach(eq.robot.parts[0].tip, goal), design=(build, p))
    return -y, -found.design


def main():
    start = np.full(4, 0.009)
    step = 1e-6
    mass_slope = lambda p: np.array([(mass(p + step * e) - mass(p - step * e)) / (2 * step) for e in np.eye(4)])
    limit = {"type": "eq", "fun": lambda p: 50 * (sag(p)[0] - SAG), "jac": lambda p: 50 * sag(p)[1]}
    best = minimize(mass, start, jac=mass_slope, method="SLSQP", bounds=[(0.003, 0.02)] * 4, constraints=[limit],
                    options={"ftol": 1e-10})  # fmt: skip
    low, high = 0.004, 0.02
    while high - low > 1e-9:  # the uniform rod with the same sag
        middle = 0.5 * (low + high)
        low, high = (middle, high) if -_tip(np.full(4, middle)) > SAG else (low, middle)
    return Result(best.x, sag(best.x)[0], mass(best.x), mass(np.full(4, high)))


def _tip(p):
    eq = ag.statics(build(p))
    return eq.position(eq.robot.parts[0].tip)[1]


if __name__ == "__main__":
    result = main()
    print(f"radii {np.round(1e3 * result.radii, 2)} mm, sag {1e3 * result.sag:.3f} mm")
    print(f"mass {1e3 * result.mass:.1f} g; uniform with the same sag {1e3 * result.uniform_mass:.1f} g")
