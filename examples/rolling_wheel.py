"""A cart on two driven wheels, with a soft antenna, rolls without slipping.

The cart moves on a plane. Each wheel rolls (its speed along the cart is its radius times its spin), and the axle does not
move sideways: three constraints on velocities, which no constraint on positions could replace. Torques on the wheels turn
the cart; its path is compared with the equations of such a cart in the plane.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

RADIUS, TRACK = 0.05, 0.2  # of the wheels, between them [m]
CART, CENTRE = 1.5, 0.03  # mass of the cart [kg], its centre ahead of the axle [m]
SIZE, WHEEL = (0.25, 0.15, 0.06), 0.2  # of the cart [m], mass of a wheel [kg]
ALONG_Y = np.array([[0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
RUBBER = ag.Material(young=3e7, poisson=0.48, density=1100, damping=0.01)


@dataclass
class Result:
    run: ag.Trajectory
    cart: ag.BodyHandle
    antenna: ag.RodHandle | None
    slip: float  # largest speed at the wheels that should be zero [m/s]
    exact: np.ndarray  # path of a cart without antenna (time, 3): x, y, heading


def torques(t):
    """Of the left and the right wheel [N m]."""
    return 0.02 - 0.02 * np.cos(2 * t), 0.02 + 0.02 * np.cos(2 * t)


def build(antenna=True):
    robot = ag.Robot("cart")
    body = ag.RigidBody.box(SIZE, mass=CART, com=(CENTRE, 0, 0))
    cart = robot.add(body, at=robot.ground, joint=ag.Planar((0, 0, 1)), name="cart")
    for side, (name, y) in enumerate((("left", TRACK / 2), ("right", -TRACK / 2))):
        drive = ag.Revolute((1, 0, 0), effort=lambda t, side=side: torques(t)[side])
        disc = ag.RigidBody.cylinder(RADIUS, 0.02, mass=WHEEL)
        wheel = robot.add(disc, at=cart.at((0, y, 0)), pose=ALONG_Y, joint=drive, name=name)
        robot.constrain(
            ag.rolling(cart.at((0, y, 0)), wheel.frame, radius=RADIUS, axle=(1, 0, 0), name=f"{name}-rolls")
        )
    robot.constrain(ag.no_slip(cart.frame, (0, 1, 0), name="axle"))
    if not antenna:
        return robot, cart, None
    rod = ag.Rod(0.3, ag.Circle(0.004), RUBBER, ag.kirchhoff(3, twist_modes=1))
    up = np.array([[0.0, 0.0, -1.0, 0.1], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.03], [0.0, 0.0, 0.0, 1.0]])
    return robot, cart, robot.add(rod, at=cart.at(up), name="antenna")


def plane(times):
    """Path of the cart without antenna: energy T = m u^2 / 2 + I w^2 / 2 and a centre of mass off the axle."""
    wheel = WHEEL * RADIUS**2 / 2
    mass = CART + 2 * WHEEL + 2 * wheel / RADIUS**2
    disc = WHEEL * (3 * RADIUS**2 + 0.02**2) / 12
    body = CART * (SIZE[0] ** 2 + SIZE[1] ** 2) / 12 + CART * CENTRE**2
    inertia = body + 2 * (disc + WHEEL * TRACK**2 / 4) + wheel * TRACK**2 / (2 * RADIUS**2)

    def rates(t, y):
        u, w, angle = y[:3]
        left, right = torques(t)
        du = ((left + right) / RADIUS + CART * CENTRE * w**2) / mass
        dw = ((right - left) * TRACK / (2 * RADIUS) - CART * CENTRE * u * w) / inertia
        return [du, dw, w, u * np.cos(angle), u * np.sin(angle)]

    found = solve_ivp(rates, (0, times[-1]), np.zeros(5), t_eval=times, rtol=1e-10, atol=1e-12, method="DOP853")
    return found.y[[3, 4, 2]].T


def main(antenna=True, duration=4.0, dt=5e-3):
    robot, cart, rod = build(antenna)
    run = ag.simulate(robot, duration=duration, dt=dt)
    slips = [np.abs(run.twist(cart.frame)[:, 4]).max()]
    for name, y in (("left", TRACK / 2), ("right", -TRACK / 2)):
        spin = run.v[:, run.coordinates.index(f"{name}.angle")]
        slips.append(np.abs(run.twist(cart.at((0, y, 0)))[:, 3] - RADIUS * spin).max())
    return Result(run, cart, rod, max(slips), plane(run.t))


def figures(folder, result=None):
    result = result or main()
    run, cart = result.run, result.cart
    with figure_style():
        fig = figure(9.0, 3.8)
        left, right = fig.subplots(1, 2, width_ratios=(1.4, 1))
        path = run.position(cart.frame)
        left.plot(path[:, 0], path[:, 1], color=COLOURS[0], label="with antenna")
        left.plot(
            result.exact[:, 0], result.exact[:, 1], "--", color="k", lw=0.8, label="equations of the plane, without"
        )
        corners = np.array([[-0.08, 0.075], [0.16, 0.075], [0.16, -0.075], [-0.08, -0.075], [-0.08, 0.075]])
        for k in np.linspace(0, len(run.t) - 1, 6).astype(int):
            box = np.array([run.pose(cart.frame)[k, :2, :2] @ c + path[k, :2] for c in corners])
            left.plot(box[:, 0], box[:, 1], color=COLOURS[0], lw=0.8)
        left.set(xlabel="x [m]", ylabel="y [m]", title="Path of the axle")
        left.set_aspect("equal")
        left.legend(frameon=False, loc="lower right")
        if result.antenna is not None:
            pose = run.pose(cart.frame)
            away = run.position(result.antenna.tip) - run.position(result.antenna.root)
            for k, name in ((0, "back and forth"), (1, "sideways")):
                right.plot(run.t, 1e3 * np.einsum("ti,ti->t", pose[:, :3, k], away), color=COLOURS[k + 1], label=name)
        right.set(xlabel="t [s]", ylabel="[mm]", title="The tip of the antenna, seen from the cart")
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "rolling_wheel.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.run, f"largest slip {result.slip:.1e} m/s", sep="\n")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
