"""Problems of the multibody benchmark library of IFToMM (and of its ancestor MBSbenchmark, A01 to A05), solved here."""

from __future__ import annotations

import numpy as np
from case import Case, Numbers
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import anguilla as ag
from anguilla.lie import pose, rotation

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
DOWN = (0, -9.81, 0)


def bar(mass=1.0, length=1.0, width=0.0):
    """A bar along x from its frame."""
    thin, thick = mass * (length**2 + width**2) / 12, mass * width**2 / 6
    return ag.RigidBody(mass, (thick or 1e-9, thin, thin), com=(length / 2, 0, 0))


def pendulum() -> Numbers:
    """Angle of a point mass on a bar, let go horizontally, after 10 s."""
    robot = ag.Robot("pendulum", gravity=DOWN)
    robot.add(ag.RigidBody.point_mass(1.0, com=(1, 0, 0)), at=robot.ground, joint=ag.Revolute(Z), name="mass")
    run = ag.simulate(robot, duration=10.0, dt=1e-3)
    return {"angle": float(run.q[-1, 0])}


def pendulum_angle(time: float) -> float:
    """The same by Jacobi's functions: sin(theta / 2) = k sn(K - w t), theta from the vertical, k = sin(45 degrees)."""
    sn = ellipj(ellipk(0.5) - np.sqrt(9.81) * time, 0.5)[0]
    return float(2 * np.arcsin(np.sqrt(0.5) * sn) - np.pi / 2)


def four_bars() -> Numbers:
    """Tip of the first bar of the double four-bar after 10 s; it passes the line where its freedom is not unique."""
    robot = ag.Robot("four_bars", gravity=DOWN)
    posts = [robot.add(bar(), at=robot.ground.offset_by((x, 0, 0)), joint=ag.Revolute(Z)) for x in (0, 1, 2)]
    first = robot.add(bar(), at=posts[0].at((1, 0, 0)), joint=ag.Revolute(Z))
    second = robot.add(bar(), at=first.at((1, 0, 0)), joint=ag.Revolute(Z))
    robot.close(posts[1].at((1, 0, 0)), first.at((1, 0, 0)), joint=ag.Revolute(Z))
    robot.close(posts[2].at((1, 0, 0)), second.at((1, 0, 0)), joint=ag.Revolute(Z))
    right = np.pi / 2
    start = ([right, right, right, -right, 0.0], [-1.0, -1.0, -1.0, 1.0, 0.0])
    run = ag.simulate(robot, duration=10.0, dt=2e-3, start=start)
    return {"tip": list(run.position(posts[0].at((1, 0, 0)))[-1][:2])}


def bricard() -> Numbers:
    """Corner between the third and the fourth bar of Bricard's linkage, overconstrained, after 1 s."""
    robot = ag.Robot("bricard", gravity=DOWN)
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    axes = (Y, Z, X, Y, Z, X)
    place, parts = robot.ground, []
    turned = np.eye(3)  # of the last bar
    for k in range(5):
        along = corners[k + 1] - corners[k]
        side = np.array(next(axis for axis in (Y, Z) if abs(np.dot(axis, along)) < 0.5), float)
        own = np.column_stack([along, side, np.cross(along, side)])
        part = robot.add(
            bar(width=0.1),
            at=place,
            pose=pose(turned.T @ own, (0, 0, 0)),
            joint=ag.Revolute(own.T @ axes[k]),
            name=f"bar_{k}",
        )
        parts.append(part)
        place, turned = part.at((1, 0, 0)), own
    robot.close(
        robot.ground.offset_by(corners[5]), place.offset_by(pose(turned.T, (0, 0, 0))), joint=ag.Revolute(axes[5])
    )
    run = ag.simulate(robot, duration=1.0, dt=1e-3)
    return {"corner": list(run.position(parts[3].frame)[-1])}


def squeezer() -> Numbers:
    """Angles of Andrews' mechanism after 30 ms; data of Schiehlen 1990."""
    mass = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    inertia = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    A, B, C = (-0.06934, -0.00227, 0), (-0.03635, 0.03273, 0), (0.014, 0.072, 0)
    robot = ag.Robot("squeezer", gravity=(0, 0, 0))

    def add(number, com, at, place=(0, 0, 0), effort=0.0):
        body = ag.RigidBody(mass[number - 1], np.array([0.5, 0.5, 1.0]) * inertia[number - 1], (*com, 0), f"K{number}")
        return robot.add(body, at=at, pose=place, joint=ag.Revolute(Z, effort=effort))

    k1 = add(1, (0.00092, 0), robot.ground, effort=0.033)
    k2 = add(2, (-0.0115, 0), k1.at((0.007, 0, 0)))
    k3 = add(3, (0.01043, -0.01874), robot.ground, B)
    k5 = add(5, (0.02308, 0.00916), robot.ground, A)
    k4 = add(4, (0, -0.00579), k5.at((0.04, 0, 0)))
    k7 = add(7, (-0.00449, -0.01228), robot.ground, A)
    k6 = add(6, (0.00579, 0), k7.at((0, -0.04, 0)))
    for body, place in ((k3, (0, -0.035, 0)), (k4, (0, -0.02, 0)), (k6, (0.02, 0, 0))):
        robot.close(k2.at((-0.028, 0, 0)), body.at(place), joint=ag.Revolute(Z))
    robot.load(ag.Spring(k3.at((0.02, -0.018, 0)), robot.ground.offset_by(C), stiffness=4530.0, rest=0.07785))
    start = [-0.0617138900142764, 0.0, 0.455279819163070, 0.487364979543843, 0.222668390165886, 1.23054744454982,
             -0.222668390165886]  # fmt: skip
    run = ag.simulate(robot, duration=0.03, dt=2.5e-5, start=start)
    return {"angles": list(run.q[-1])}


SHAFT, ROD, SLIDER, BALL, HALF = 0.3, 0.3, 3.0, 5.0, 0.05  # [kg], and half the width of the head [m]
STIFF, DAMP, FREE = 8e5, 4e4, 0.5


def governor() -> Numbers:
    """Height of the slider and speed of the shaft of the stiff flyball governor after 2 s."""
    robot = ag.Robot("governor", gravity=(0, 0, -9.81))
    small = lambda mass, size: np.full(3, mass * size**2 / 6)
    shaft = robot.add(ag.RigidBody(SHAFT, small(SHAFT, 0.01)), at=robot.ground, joint=ag.Revolute(Z), name="shaft")
    slider = robot.add(ag.RigidBody(SLIDER, small(SLIDER, 0.1)), at=shaft.frame, joint=ag.Prismatic(Z), name="slider")
    for side, turn in ((1, 0.0), (-1, np.pi)):
        hinge = shaft.frame.offset_by(pose(rotation(Z, turn), (side * HALF, 0, 1)))
        rod = robot.add(bar(ROD), at=hinge, joint=ag.Revolute(Y), name=f"rod_{side}")
        robot.add(ag.RigidBody.point_mass(BALL), at=rod.at((1, 0, 0)))
        robot.load(ag.Spring(slider.at((side * HALF, 0, 0)), rod.at((0.5, 0, 0)), STIFF, rest=FREE, damping=DAMP))
    spin, tilt = 0.16 * 2 * np.pi, np.pi / 6
    run = ag.simulate(robot, duration=2.0, dt=1e-3, start=([0.0, 0.5, tilt, tilt], [spin, 0, 0, 0]))
    return {"height": float(run.q[-1, 1]), "speed": float(run.v[-1, 0])}


def governor_by_lagrange() -> Numbers:
    """The same by Lagrange's equations of two coordinates and a speed, the two rods being mirror images."""
    turning = BALL + ROD / 3  # of a rod about its hinge
    first = BALL + ROD / 2
    own = SHAFT * 0.01**2 / 6 + SLIDER * 0.1**2 / 6

    def about(tilt):
        return own + 2 * ((BALL + ROD) * HALF**2 + 2 * HALF * first * np.cos(tilt) + turning * np.cos(tilt) ** 2)

    def rates(_, y):
        tilt, height, spin, tilting, rising = y
        gap = np.array([0.5 * np.cos(tilt), 1 - 0.5 * np.sin(tilt) - height])
        length = np.hypot(*gap)
        moving = np.array([-0.5 * np.sin(tilt) * tilting, -0.5 * np.cos(tilt) * tilting - rising])
        pull = STIFF * (length - FREE) + DAMP * (gap @ moving) / length
        slope = -4 * np.sin(tilt) * (HALF * first + turning * np.cos(tilt))  # of about(tilt)
        bend = slope * spin**2 / 2 + 2 * first * 9.81 * np.cos(tilt)
        bend -= 2 * pull * (gap @ np.array([-0.5 * np.sin(tilt), -0.5 * np.cos(tilt)])) / length
        return [tilting, rising, -slope * tilting * spin / about(tilt), bend / (2 * turning),
                -9.81 + 2 * pull * gap[1] / length / SLIDER]  # fmt: skip

    start = [np.pi / 6, 0.5, 0.16 * 2 * np.pi, 0, 0]
    found = solve_ivp(rates, (0, 2), start, "Radau", rtol=1e-8, atol=1e-10)
    return {"height": float(found.y[1, -1]), "speed": float(found.y[2, -1])}


def slider_crank() -> Numbers:
    """Slider of the spatial slider-crank at 0.2, 0.4, ... 1 s."""
    robot = ag.Robot("slider_crank", gravity=(0, 0, -9.81))
    A, B, C = np.array([0, 0.1, 0.12]), np.array([0, 0.1, 0.2]), np.array([0.2, 0, 0])
    crank = robot.add(
        ag.RigidBody(0.12, (1e-4, 1e-5, 1e-4), com=(0, 0, 0.04)),
        at=robot.ground.offset_by(A),
        joint=ag.Revolute(X),
        name="crank",
    )
    slider = robot.add(ag.RigidBody(2.0, (1e-4,) * 3), at=robot.ground, joint=ag.Prismatic(X), name="slider")
    along = (B - C) / 0.3
    side = np.cross(along, X)
    side /= np.linalg.norm(side)
    frame = np.column_stack(
        [along, side, np.cross(along, side)]
    )  # of the rod at the start; the cross of the joint: x and side
    rod = robot.add(
        ag.RigidBody(0.5, (4e-4, 4e-3, 4e-3), com=(0.15, 0, 0)), at=slider.frame, pose=pose(frame, (0, 0, 0)),
        joint=ag.Universal(frame.T @ X, frame.T @ side), name="rod"
    )  # fmt: skip
    robot.close(crank.at((0, 0, 0.08)), rod.at((0.3, 0, 0)), joint=ag.Spherical())
    speeds = np.column_stack([X, np.cross(X, B - C), np.cross(side, B - C)])  # of the pin, by slider and angles
    rates = np.linalg.solve(speeds, np.cross((6.0, 0, 0), B - A))
    run = ag.simulate(robot, duration=1.0, dt=1e-3, start=([0, 0.2, 0, 0], [6.0, *rates]))
    return {"slider": [float(run.q[k, 1]) for k in (200, 400, 600, 800, 1000)]}


CASES = (
    Case("simple pendulum", "A01", "angle after 10 s", pendulum, {"angle": pendulum_angle(10.0)}, 1e-3, origin="closed form"),
    Case("double four-bar", "A02; Exudyn's fourBarMechanismIftomm.py", "tip of the first bar after 10 s", four_bars,
         {"tip": [0.3284573768, 0.9445187937]}, 2e-3),
    Case("Andrews' squeezer", "A03", "seven angles after 30 ms", squeezer,
         {"angles": [15.81077119629904, -15.75637105984298, 0.04082224013073101, 0.5244099658805304, -0.5347301163226948,
                     1.048080741042263, 0.5347301163226948]}, 1e-3),
    Case("Bricard's linkage", "A04; Exudyn's bricardMechanism.py", "a corner after 1 s", bricard),
    Case("stiff flyball governor", "A05", "height of the slider and speed of the shaft after 2 s", governor,
         governor_by_lagrange, 1e-3, origin="Lagrange's equations, integrated apart"),
    Case("spatial slider-crank", "spatial rigid slider-crank mechanism", "slider at 0.2, 0.4, ... 1 s", slider_crank,
         {"slider": [0.263034975, 0.222848664, 0.205149298, 0.272248997, 0.211754668]}, 5e-4, origin="González"),
    Case("uncontrolled bicycle", "uncontrolled bicycle", "lean and steer in time",
         note="wheels that lean as they roll: see Exudyn's rolling disc"),
)  # fmt: skip
