"""SoRoMoX's examples, remade. Files are in `examples/simulation` of its repository."""

from __future__ import annotations

import numpy as np
from case import Case, Numbers
from scipy.integrate import solve_ivp

import anguilla as ag
from anguilla.lie import pose, rotation

Z = (0, 0, 1)
MASS, INERTIA, LENGTH, CENTRE = (10.0, 6.0), (3.0, 2.0), (2.0, 1.0), (1.0, 0.5)
START = (np.pi / 8, -np.pi / 4)


def double_pendulum() -> Numbers:
    """Angles of two links at 1, 2 and 3 s."""
    robot = ag.Robot("double", gravity=(0, -9.81, 0))
    place = robot.ground
    for k in range(2):
        body = ag.RigidBody(MASS[k], (INERTIA[k] / 2, INERTIA[k], INERTIA[k]), com=(CENTRE[k], 0, 0), name=f"link_{k}")
        place = robot.add(body, at=place, joint=ag.Revolute(Z)).at((LENGTH[k], 0, 0))
    run = ag.simulate(robot, duration=3.0, dt=1e-3, start=np.array(START))
    return {"angles": [float(x) for k in (1000, 2000, 3000) for x in run.q[k]]}


def double_pendulum_by_lagrange() -> Numbers:
    """The same by its equations, integrated to 1e-10."""

    def rates(_, y):
        a, b, da, db = y
        tip = MASS[1] * LENGTH[0] * CENTRE[1]
        own = INERTIA[1] + MASS[1] * CENTRE[1] ** 2
        all_ = INERTIA[0] + MASS[0] * CENTRE[0] ** 2 + MASS[1] * LENGTH[0] ** 2 + own + 2 * tip * np.cos(b)
        M = np.array([[all_, own + tip * np.cos(b)], [own + tip * np.cos(b), own]])
        far = MASS[1] * CENTRE[1] * 9.81 * np.cos(a + b)
        near = (MASS[0] * CENTRE[0] + MASS[1] * LENGTH[0]) * 9.81 * np.cos(a)
        push = np.array([tip * np.sin(b) * (2 * da * db + db**2) - near - far, -tip * np.sin(b) * da**2 - far])
        return [da, db, *np.linalg.solve(M, push)]

    found = solve_ivp(rates, (0, 3), [*START, 0, 0], "DOP853", [1, 2, 3], rtol=1e-11, atol=1e-12)
    return {"angles": [float(x) for x in found.y[:2].T.ravel()]}


def planar_pcs() -> Numbers:
    """Tip of two sections of constant strain that fall from a line across their weight, at 0.2, 0.4 ... 1 s."""
    robot = ag.Robot("pcs", gravity=(-9.81, 0, 0))
    rod = ag.Rod(0.3, ag.Circle(0.03), ag.Material(young=1e6, shear=3.333333e5, density=1000),
                 ag.planar(1, stretch_modes=1, shear_modes=1), intervals=8)  # fmt: skip
    first = robot.add(rod, at=robot.ground, pose=pose(rotation(Z, np.pi / 2), (0, 0, 0)), name="first")
    second = robot.add(rod, at=first.tip, name="second")
    # A damping matrix on the strains, 1e-2 (2, 1e3, 1e3) L, as the example has it.
    names = ["bend_z", "stretch", "shear_y"]
    share = {"bend_z": 2e-2 * 0.3, "stretch": 10 * 0.3, "shear_y": 10 * 0.3}
    rates = np.array([share[name] for _ in range(2) for name in names])
    robot.load(ag.UserForce(lambda q, v, t: -rates * v))
    run = ag.simulate(robot, duration=1.0, dt=1e-3)
    tip = run.position(second.tip)[200::200]
    return {"x": list(tip[:, 0]), "y": list(tip[:, 1])}


CASES = (
    Case("double pendulum", "pendulum/simulate_pendulum.py", "angles at 1, 2 and 3 s", double_pendulum,
         double_pendulum_by_lagrange, 2e-3, origin="its equations, integrated apart"),
    Case("planar arm of two constant strains", "Benchmarking/Scripts_SoRoMoX/simulate_Planar_PCS.py", "tip at five instants",
         planar_pcs, slow=True, scale={"x": 0.6, "y": 0.6}),
)  # fmt: skip
