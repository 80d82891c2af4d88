"""DisMech's examples, remade. Files are in `examples` of its repository dismech-rods."""

from __future__ import annotations

import numpy as np
from case import Case, Numbers
from pyelastica_cases import sliding

import anguilla as ag

BETA = 1.8751040687
WAVE = (np.cosh(BETA) + np.cos(BETA)) / (np.sinh(BETA) + np.sin(BETA))


def curvature(x):
    """Curvature of the first bending mode of a cantilever of length 1 that has the deflection 1 at its tip."""
    size = np.cosh(BETA) - np.cos(BETA) - WAVE * (np.sinh(BETA) - np.sin(BETA))
    x = BETA * x
    return BETA**2 * (np.cosh(x) + np.cos(x) - WAVE * (np.sinh(x) + np.sin(x))) / size


def dynamic_cantilever() -> Numbers:
    """Tip of a cantilever pushed in its first mode by 5 mm/s, at 3.15875 s and 6.3175 s."""
    robot = ag.Robot("cantilever", gravity=(0, 0, 0))
    modes = 5
    rod = ag.Rod(1.0, ag.Circle(0.02), ag.Material(young=1e5, poisson=0.5, density=500), ag.planar(modes))
    arm = robot.add(rod, at=robot.ground)
    x = np.linspace(0, 1, 201)
    rates = np.linalg.lstsq(ag.Legendre(modes)(x), 5e-3 * curvature(x), rcond=None)[0]
    run = ag.simulate(robot, duration=6.3175, dt=6.3175 / 1000, start=(np.zeros(modes), rates))
    tip = run.position(arm.tip)[:, 1]
    return {"tip": [float(tip[500]), float(tip[1000])]}


CASES = (
    Case("dynamic cantilever", "cantilever_case", "tip after a quarter and half of its period", dynamic_cantilever,
         {"tip": [1.005551889858700976e-02, 2.844615824591517475e-06]}, 5e-3, origin="Euler and Bernoulli's, as published"),
    Case("pulled along itself", "friction_case", "kinetic energy after 1 s", lambda: sliding(
        9.0, 0.4, mass=np.pi * 0.025**2 * 509.2985, gravity=9.8, duration=1.0),
         {"moving": (9.0 - 0.4 * 9.8) ** 2 / 2}, 5e-3, origin="closed form of the authors"),
    Case("helix under its weight", "helix_case", "tip in time", note="starts from a polyline with a kink of 90 degrees between its "
         "stem and its coils, without a radius; no numbers are published"),
    Case("active entanglement", "active_entanglement_case", "picture", note="five limbs that tangle: self-contact of many rods with "
         "curvatures driven to many turns; no numbers are published"),
)  # fmt: skip
