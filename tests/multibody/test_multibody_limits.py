"""Rigid robots with loops: linkages, tops and arms against textbook mechanics, in plain NumPy and SciPy."""

from itertools import pairwise

import numpy as np
import pytest
from multibody_oracles import double_pendulum, random_inertia, random_rotation
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import anguilla as ag

Y = (0.0, 1.0, 0.0)
G = 9.81


def bar(length, mass):
    return ag.RigidBody.box((abs(length), 0.02, 0.02), mass=mass, com=(length / 2, 0.0, 0.0))


# Planar linkages in the x-z plane; a hinge turns about +y, so that a bar at the angle q points along (cos q, -sin q) ---

LENGTHS, MASSES = (0.3, 0.8, 0.7, 0.9), (0.5, 1.2, 0.9)  # crank, coupler, rocker, ground [m]; [kg]


def four_bar_angles(q, lengths=LENGTHS):
    """Absolute angles of crank, coupler and rocker from the angle of the crank: intersection of two circles."""
    a, b, c, d = lengths
    e = lambda t: np.array([np.cos(t), -np.sin(t)])
    way = np.array([d, 0.0]) - a * e(q)
    s = np.linalg.norm(way)
    coupler = np.arctan2(-way[1], way[0]) - np.arccos((b**2 + s**2 - c**2) / (2 * b * s))
    back = a * e(q) + b * e(coupler) - [d, 0.0]
    return np.array([q, coupler, np.arctan2(-back[1], back[0])])


def four_bar(cut="rocker", **drive):
    """A four-bar linkage cut at one of its pins: the robot, its three bars and its closure.

    cut: where the tree of bars ends: at the pin of coupler and rocker, of crank and coupler, or of crank and ground.
    drive: motion or effort of the hinge of the crank.
    """
    a, b, c, d = LENGTHS
    crank, coupler, rocker = (bar(l, m) for l, m in zip(LENGTHS, MASSES, strict=False))
    robot = ag.Robot("four_bar")
    far, hinge, driven = robot.ground.offset_by((d, 0, 0)), ag.Revolute(Y), ag.Revolute(Y, **drive)
    if cut == "rocker":  # crank and coupler from the left, the rocker from the right
        first = robot.add(crank, at=robot.ground, joint=driven, name="crank")
        second = robot.add(coupler, at=first.at((a, 0, 0)), joint=hinge, name="coupler")
        third = robot.add(rocker, at=far, joint=hinge, name="rocker")
        pin = robot.close(second.at((b, 0, 0)), third.at((c, 0, 0)), joint=hinge, name="pin")
        return robot, (first, second, third), pin
    # from the right: the frame of the coupler (and of the crank) is at its far end
    third = robot.add(rocker, at=far, joint=hinge, name="rocker")
    second = robot.add(bar(-b, MASSES[1]), at=third.at((c, 0, 0)), joint=hinge, name="coupler")
    if cut == "coupler":
        first = robot.add(crank, at=robot.ground, joint=driven, name="crank")
        pin = robot.close(first.at((a, 0, 0)), second.at((-b, 0, 0)), joint=hinge, name="pin")
    else:
        first = robot.add(bar(-a, MASSES[0]), at=second.at((-b, 0, 0)), joint=hinge, name="crank")
        pin = robot.close(robot.ground, first.at((-a, 0, 0)), joint=driven, name="pin")
    return robot, (first, second, third), pin


def coordinates(angles, cut="rocker"):
    """Coordinates of the linkage, in the order of its parts, from the absolute angles of crank, coupler and rocker."""
    crank, coupler, rocker = angles
    return {
        "rocker": np.array([crank, coupler - crank, rocker]),
        "coupler": np.array([rocker, coupler - rocker, crank]),
        "crank": np.array([rocker, coupler - rocker, crank - coupler]),
    }[cut]


def planar_pins(angles, rates, torque=0.0):
    """Angular accelerations (3,) of a four-bar and the forces (2,) on the rocker at its pin, by Newton and Euler.

    Nine balances of three free bars and eight closures of four pins, solved as they stand.
    """
    a, b, c, _ = LENGTHS
    e = np.stack([np.cos(angles), -np.sin(angles)], axis=1)
    half = np.array([a, b, c]) / 2
    inertia = [m * (l**2 + 0.02**2) / 12 for m, l in zip(MASSES, LENGTHS, strict=False)]
    # pins: (bar, place along it from its centre) on both sides; bar -1 is the ground. The force acts on the second.
    pins = [(-1, 0.0, 0, -half[0]), (0, half[0], 1, -half[1]), (1, half[1], 2, half[2]), (-1, 0.0, 2, -half[2])]
    A, y = np.zeros((17, 17)), np.zeros(17)
    for i in range(3):
        A[3 * i, 3 * i] = A[3 * i + 1, 3 * i + 1] = MASSES[i]
        A[3 * i + 2, 3 * i + 2] = inertia[i]
        y[3 * i + 1] = -MASSES[i] * G
    y[2] = torque
    for p, (i, at, j, there) in enumerate(pins):
        f, row = 9 + 2 * p, 9 + 2 * p
        for body, place, sign in ((i, at, -1.0), (j, there, 1.0)):
            if body < 0:
                continue
            r = place * e[body]
            A[3 * body, f] -= sign
            A[3 * body + 1, f + 1] -= sign
            A[3 * body + 2, f] -= sign * r[1]  # moment about y: z fx - x fz
            A[3 * body + 2, f + 1] += sign * r[0]
            A[row, 3 * body], A[row, 3 * body + 2] = sign, sign * r[1]
            A[row + 1, 3 * body + 1], A[row + 1, 3 * body + 2] = sign, -sign * r[0]
            y[row : row + 2] += sign * rates[body] ** 2 * r
    x = np.linalg.solve(A, y)
    return x[[2, 5, 8]], x[9 + 4 : 9 + 6]


def redundant(rows="3 of 5"):
    return pytest.warns(ag.AnguillaWarning, match=f"{rows} constraints are redundant and left out: pin")


@pytest.fixture(scope="module")
def falling():
    """A four-bar falling freely for 10^4 steps."""
    robot, bars, pin = four_bar()
    with redundant():
        run = ag.simulate(robot, duration=10.0, dt=1e-3, start=coordinates(four_bar_angles(0.5)))
    return run, bars, pin


def test_four_bar_stays_closed_and_keeps_its_energy(falling):
    run, (_, coupler, rocker), _ = falling
    gap = run.position(coupler.at((LENGTHS[1], 0, 0))) - run.position(rocker.at((LENGTHS[2], 0, 0)))
    assert len(run.t) == 10_001
    assert np.abs(gap).max() < 1e-10
    energy = run.energy
    assert np.ptp(energy["total"]) < 1e-3 * np.ptp(energy["kinetic"])
    assert np.ptp(run["crank.angle"]) > 1.0


def test_four_bar_turns_as_two_circles_say(falling):
    run, _, _ = falling
    q = run.q[::500]
    exact = np.array([coordinates(four_bar_angles(angle)) for angle in q[:, 0]])
    np.testing.assert_allclose(np.exp(1j * q), np.exp(1j * exact), atol=1e-9)


def test_forces_of_its_pins_are_those_of_the_plane(falling):
    """Accelerations and the reaction at the pin solve Newton's and Euler's equations of three bars in the plane."""
    run, (_, _, rocker), pin = falling
    turn = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1.0]])
    wrench = run.reaction(pin)
    pose = run.pose(rocker.frame)
    assert np.abs(wrench[:, [0, 1, 2, 4]]).max() < 1e-12  # the plane carries nothing else
    for k in (0, 10, 2000, 9000):
        alpha, force = planar_pins(turn @ run.q[k], turn @ run.v[k])
        found = pose[k, :3, :3] @ wrench[k, 3:]
        allowed = 1e-5 if k == 0 else 3e-3
        np.testing.assert_allclose(turn @ run.a[k], alpha, atol=allowed * np.abs(alpha).max())
        np.testing.assert_allclose(found[[0, 2]], force, atol=allowed * np.abs(force).max())


def test_the_loop_may_be_cut_anywhere():
    """Cut at any pin: the same motion, once the error of the steps is taken off."""
    motions, angles = [], four_bar_angles(0.5)
    for cut in ("rocker", "coupler", "crank"):
        found = []
        for dt in (2e-3, 1e-3):
            robot, bars, _ = four_bar(cut)
            with redundant():
                run = ag.simulate(robot, duration=1.0, dt=dt, start=coordinates(angles, cut))
            found.append(np.stack([run.position(body.at(body.body.com)) for body in bars])[:, :: round(2e-3 / dt)])
        motions.append(found[1] + (found[1] - found[0]) / 3.0)  # to dt = 0
        assert np.abs(found[1] - found[0]).max() > 1e-5
    assert np.ptp(motions[0], axis=1).max() > 0.3
    assert np.abs(motions[1] - motions[0]).max() < 1e-6
    assert np.abs(motions[2] - motions[0]).max() < 1e-6


TURN = (
    lambda t: 0.5 + 2.0 * t + 0.3 * np.sin(3 * t),
    lambda t: 2.0 + 0.9 * np.cos(3 * t),
    lambda t: -2.7 * np.sin(3 * t),
)


def virtual_power(t):
    """Torque on the crank by virtual power: rate of energy of the linkage over the rate of the crank, all closed form."""
    a, b, c, d = LENGTHS

    def energy(t):
        h = 1e-4
        places = lambda t: four_bar_angles(TURN[0](t))
        angles = places(t)
        rates = (8 * (places(t + h) - places(t - h)) - places(t + 2 * h) + places(t - 2 * h)) / (12 * h)
        e = np.stack([np.cos(angles), -np.sin(angles)], axis=1)
        n = np.stack([-np.sin(angles), -np.cos(angles)], axis=1) * rates[:, None]
        centre = [a / 2 * e[0], a * e[0] + b / 2 * e[1], [d, 0] + c / 2 * e[2]]
        speed = [a / 2 * n[0], a * n[0] + b / 2 * n[1], c / 2 * n[2]]
        inertia = [m * (l**2 + 0.02**2) / 12 for m, l in zip(MASSES, (a, b, c), strict=True)]
        parts = zip(MASSES, inertia, centre, speed, rates, strict=True)
        return sum(m * G * x[1] + 0.5 * m * (v @ v) + 0.5 * i * w**2 for m, i, x, v, w in parts)

    h = 1e-3
    rate = (8 * (energy(t + h) - energy(t - h)) - energy(t + 2 * h) + energy(t - 2 * h)) / (12 * h)
    return rate / TURN[1](t)


@pytest.mark.parametrize("cut", ["rocker", "crank"])
def test_effort_of_a_driven_crank_is_that_of_virtual_power(cut):
    """The crank is driven by a joint of the tree, or by the joint that closes the loop."""
    robot, _, pin = four_bar(cut, motion=TURN)
    with redundant("3 of 5" if cut == "rocker" else "3 of 6"):
        run = ag.simulate(
            robot, duration=1.0, dt=1e-3, start=np.append(coordinates(four_bar_angles(0.5), cut), [0.5])[: robot.size]
        )
    part = robot.part("crank" if cut == "rocker" else pin.name)
    effort = run.effort(part)[:, 0]
    np.testing.assert_allclose(run.q[:, run.coordinates.index(f"{part.name}.angle")], TURN[0](run.t), atol=1e-14)
    when = [*range(12), *range(100, 1001, 100)]  # from the first step on
    exact = np.array([virtual_power(t) for t in run.t[when]])
    np.testing.assert_allclose(effort[when], exact, atol=1e-4 * np.abs(exact).max())
    assert np.abs(exact).max() > 2.0


def test_a_motion_and_an_effort_are_each_others_inverse():
    """The effort found for a motion, applied as an effort, gives the motion."""
    robot, _, _ = four_bar(motion=TURN)
    q0 = coordinates(four_bar_angles(0.5))
    with redundant():
        driven = ag.simulate(robot, duration=0.5, dt=1e-3, start=q0)
    effort = driven.effort(robot.part("crank"))[:, 0]
    robot, _, _ = four_bar(effort=lambda t: np.interp(t, driven.t, effort))
    with redundant():
        pushed = ag.simulate(robot, duration=0.5, dt=1e-3, start=(q0, driven.v[0]))
    np.testing.assert_allclose(pushed.q, driven.q, atol=1e-5)


def test_what_cannot_be_closed_is_refused():
    robot, _, _ = four_bar()
    robot.close(
        robot.part("crank").at((LENGTHS[0], 0, 0)), robot.part("rocker").frame, joint=ag.Spherical(), name="brace"
    )
    with pytest.raises(ag.SolverError, match=r"'four_bar' cannot be closed: .*brace.* miss(es)? by"):
        ag.statics(robot)


def test_redundant_constraints_that_contradict_are_refused():
    """Left out because they seem to follow from the others at the start, they turn out not to."""
    robot, _, _ = four_bar(motion=lambda t: 0.5 + t)
    other = robot.add(
        bar(0.3, 0.1), at=robot.ground.offset_by((0, 0.1, 0)), joint=ag.Revolute(Y, motion=lambda t: 0.5 + t**2)
    )
    robot.close(robot.part("crank").at((0.3, 0, 0)), other.at((0.3, -0.1, 0)), joint=ag.Spherical(), name="tie")
    q = np.append(coordinates(four_bar_angles(0.5)), 0.5)
    with (
        pytest.warns(ag.AnguillaWarning, match="tie"),
        pytest.raises(ag.SolverError, match=r"impossible: tie cannot hold"),
    ):
        ag.simulate(robot, duration=0.1, dt=0.01, start=q)


# Slider and crank -----------------------------------------------------------------------------------------------------


def slider_crank(a=0.2, b=0.6, **drive):
    robot = ag.Robot("engine")
    crank = robot.add(bar(a, 0.4), at=robot.ground, joint=ag.Revolute(Y, **drive), name="crank")
    rod = robot.add(bar(b, 0.7), at=crank.at((a, 0, 0)), joint=ag.Revolute(Y), name="rod")
    piston = robot.add(
        ag.RigidBody.box((0.1,) * 3, mass=0.9), at=robot.ground, joint=ag.Prismatic((1, 0, 0)), name="piston"
    )
    robot.close(rod.at((b, 0, 0)), piston.frame, joint=ag.Revolute(Y), name="pin")
    return robot, crank, piston


def test_slider_and_crank():
    a, b, w = 0.2, 0.6, 7.0
    robot, crank, piston = slider_crank(a, b, motion=lambda t: w * t)
    with redundant():
        run = ag.simulate(robot, duration=2.0, dt=1e-3, start=[0.0, 0.0, a + b])
    x = lambda t: a * np.cos(w * t) + np.sqrt(b**2 - (a * np.sin(w * t)) ** 2)
    np.testing.assert_allclose(run["piston.slide"], x(run.t), atol=1e-9)
    h = 1e-4
    np.testing.assert_allclose(run.twist(piston.frame)[:, 3], (x(run.t + h) - x(run.t - h)) / (2 * h), atol=2e-4)
    # power of the crank = rate of energy
    power, energy = run.effort(crank)[:, 0] * w, run.energy["total"]
    rate = (energy[2:] - energy[:-2]) / (run.t[2:] - run.t[:-2])
    np.testing.assert_allclose(power[1:-1], rate, atol=5e-5 * np.abs(power).max())  # from the first step on


# Bodies held by constraints alone -------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.1, 2.0])
def test_pendulum_of_a_free_body(angle):
    """Six coordinates and five constraints make the pendulum of one hinge, with the reaction of the textbook."""
    robot = ag.Robot("pendulum")
    body = ag.RigidBody.box((0.1, 0.05, 0.4), mass=0.8, com=(0.0, 0.0, -0.25))
    bob = robot.add(body, at=robot.ground, joint=ag.Free(), name="bob")
    hinge = robot.close(robot.ground, bob.frame, joint=ag.Revolute(Y), name="hinge")
    inertia = body.inertia[1] + 0.8 * 0.25**2
    period = 4.0 * np.sqrt(inertia / (0.8 * G * 0.25)) * ellipk(np.sin(angle / 2.0) ** 2)
    steps = 4000
    run = ag.simulate(robot, duration=period, dt=period / steps, start=[0, 0, 0, 0, angle, 0])
    assert run["bob.turn_y"][-1] == pytest.approx(angle, abs=2e-5)
    assert run["bob.turn_y"][steps // 2] == pytest.approx(-angle, abs=2e-5)
    assert np.abs(run.q[:, [0, 1, 2, 3, 5]]).max() < 1e-10
    q, w = run["bob.turn_y"], run.v[:, 4]
    alpha = -0.8 * G * 0.25 * np.sin(q) / inertia
    # towards the hinge along z of the bob, across it along x: m (l w^2 + g cos q), m (l alpha + g sin q)
    exact = 0.8 * np.stack([-0.25 * alpha - G * np.sin(q), 0.25 * w**2 + G * np.cos(q)], axis=1)
    found = run.reaction(hinge)
    np.testing.assert_allclose(found[:, [3, 5]], exact, atol=2e-4)
    assert np.abs(found[:, [0, 1, 2, 4]]).max() < 1e-8


def test_double_pendulum_with_a_hinge_that_closes():
    m1, m2, l1, l2 = 1.0, 2.0, 0.7, 0.5
    robot = ag.Robot("double")
    small = ag.RigidBody(m2, (1e-9,) * 3, (l2, 0, 0))
    a = robot.add(ag.RigidBody.point_mass(m1, com=(l1, 0, 0)), at=robot.ground, joint=ag.Revolute(Y), name="a")
    b = robot.add(small, at=robot.ground, joint=ag.Free(), name="b")
    robot.close(a.at((l1, 0, 0)), b.frame, joint=ag.Revolute(Y))
    rates = lambda t, y: [*y[2:], *double_pendulum(m1, m2, l1, l2, G, y[:2], y[2:])]
    exact = solve_ivp(rates, (0.0, 0.5), [0.2, 0.3, 0.0, 0.0], rtol=1e-12, atol=1e-12, method="DOP853").y[:2, -1]
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        begin = [0.2, l1 * np.cos(0.2), 0.0, -l1 * np.sin(0.2), 0.0, 0.5, 0.0]
        run = ag.simulate(robot, duration=0.5, dt=dt, start=begin)
        errors.append(np.abs([run["a.angle"][-1] - exact[0], run["b.turn_y"][-1] - exact.sum()]).max())
    assert errors[-1] < 1e-5
    assert all(3.5 < a / b < 4.5 for a, b in pairwise(errors))


@pytest.mark.parametrize("loop", [False, True], ids=["ball in the tree", "ball that closes"])
def test_spinning_top(loop):
    """A heavy top against Euler's equations about its fixed point; it precesses and nods."""
    mass, height, moments = 0.6, 0.1, np.array([2e-3, 2e-3, 1e-3])
    robot = ag.Robot("top")
    body = ag.RigidBody(mass, moments, (0.0, 0.0, height))
    top = robot.add(body, at=robot.ground, joint=ag.Free() if loop else ag.Spherical(), name="top")
    if loop:
        robot.close(robot.ground, top.frame, joint=ag.Spherical())
    inertia = moments + mass * height**2 * np.array([1.0, 1.0, 0.0])
    spin, tilt = np.array([0.0, 0.0, 60.0]), 0.5

    def rates(t, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        torque = np.cross([0, 0, height], R.T @ [0, 0, -mass * G])
        turn = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([(R @ turn).ravel(), (torque - np.cross(w, inertia * w)) / inertia])

    first = np.array([[np.cos(tilt), 0, np.sin(tilt)], [0, 1, 0], [-np.sin(tilt), 0, np.cos(tilt)]])
    begin = np.concatenate([first.ravel(), spin])
    exact = solve_ivp(rates, (0.0, 0.4), begin, rtol=1e-12, atol=1e-12, method="DOP853").y[:9, -1].reshape(3, 3)
    errors, about, drift, slides = [], [], [], [0.0] * 3 * loop
    for dt in (5e-4, 2.5e-4):
        q, v = [*slides, 0.0, tilt, 0.0], [*slides, *spin]
        run = ag.simulate(robot, duration=0.4, dt=dt, start=(q, v), method=ag.GeneralisedAlpha(0.95), tolerance=1e-10)
        errors.append(np.abs(run.pose(top.frame)[-1, :3, 2] - exact[:, 2]).max())
        about.append(np.ptp(run.angular_momentum[:, 2]) / run.angular_momentum[0, 2])
        drift.append(np.ptp(run.energy["total"]) / run.energy["kinetic"][0])
    assert np.abs(exact[:, 2] - first[:, 2]).max() > 0.2
    assert 3.6 < errors[0] / errors[1] < 4.4
    assert abs(errors[1] + (errors[1] - errors[0]) / 3.0) < 1e-6  # by extrapolation
    for kept in (about, drift):  # the moment about the vertical, and the energy
        assert kept[1] < 5e-4 and 3.4 < kept[0] / kept[1] < 4.6


def test_serial_arm_against_pinocchio():
    """Inverse dynamics and mass matrix of a random arm with a free base, hinges and sliders, by another library."""
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(7)
    model, robot = pin.Model(), ag.Robot("arm", gravity=(0.0, 0.0, -9.81))
    parent, at = 0, robot.ground
    for k in range(6):
        place = pin.SE3(random_rotation(rng), rng.normal(size=3) if k else np.zeros(3))
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        slides = k in (2, 4)
        mass, com, inertia = 0.5 + rng.random(), rng.normal(size=3), random_inertia(rng, 0.1)
        joint = pin.JointModelPrismaticUnaligned(axis) if slides else pin.JointModelRevoluteUnaligned(axis)
        parent = model.addJoint(parent, joint, place, f"joint_{k}")
        model.appendBodyToJoint(parent, pin.Inertia(mass, com, inertia), pin.SE3.Identity())
        own = ag.Prismatic(axis) if slides else ag.Revolute(axis)
        at = robot.add(ag.RigidBody(mass, inertia, com), at=at, pose=place.homogeneous, joint=own).frame
    system, data = ag.Model(robot), model.createData()
    for _ in range(5):
        q, v, a = rng.normal(size=(3, 6))
        exact = pin.rnea(model, data, q, v, a)
        np.testing.assert_allclose(system.residual(q, v, a), exact, atol=1e-11 * np.abs(exact).max())
        mass = pin.crba(model, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        np.testing.assert_allclose(system.matrices(q, v, a)[2], mass, atol=1e-11 * np.abs(mass).max())
        pin.computeRNEADerivatives(model, data, q, v, a)
        stiffness, damping, _ = system.matrices(q, v, a)
        np.testing.assert_allclose(stiffness, data.dtau_dq, atol=1e-10 * np.abs(exact).max())
        np.testing.assert_allclose(damping, data.dtau_dv, atol=1e-10 * np.abs(exact).max())
