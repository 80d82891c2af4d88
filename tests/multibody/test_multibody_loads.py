"""Loads that depend on the motion, and constraints on velocities and lengths, against closed forms and other equations."""

from itertools import pairwise

import numpy as np
import pytest
from multibody_oracles import rotation
from scipy.integrate import solve_bvp, solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq
from scipy.special import ellipk

import anguilla as ag

Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
WEIGHTLESS = (0.0, 0.0, 0.0)
RUBBER = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=0.01)
EI = 1e6 * np.pi * 0.01**4 / 4


def soft_arm(strains=None, length=0.3, gravity=WEIGHTLESS, material=RUBBER, **options):
    robot = ag.Robot("arm", gravity=gravity)
    return robot, robot.add(
        ag.Rod(length, ag.Circle(0.01), material, strains or ag.kirchhoff(4), **options), at=robot.ground
    )


def floating(body, gravity=WEIGHTLESS):
    robot = ag.Robot("floating", gravity=gravity)
    return robot, robot.add(body, at=robot.ground, joint=ag.Free(), name="body")


# Thrusters ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turning", [False, True], ids=["velocity", "spin"])
def test_thruster_is_a_proportional_and_integral_controller(turning):
    """m e' = -kp e - ki z - d, z' = e, with a constant disturbance d: by the exponential of its matrix."""
    mass, inertia, kp, ki, goal, push = 0.8, 0.02, 3.0, 40.0, 0.7, 1.5
    robot, body = floating(ag.RigidBody(mass, (inertia,) * 3))
    wanted = dict(spin=(goal, 0, 0)) if turning else dict(velocity=(goal, 0, 0))
    scale = inertia / mass if turning else 1.0
    robot.load(ag.Thruster(body.frame, kp=scale * kp, ki=scale * ki, **wanted))
    robot.load(ag.Wrench(body.frame, **{"moment" if turning else "force": (scale * push, 0, 0)}))
    A = np.zeros((3, 3))  # e, z, 1
    A[0], A[1, 0] = np.array([-kp, -ki, -push]) / mass, 1.0
    errors = []
    for dt in (8e-3, 4e-3, 2e-3, 1e-3):
        run = ag.simulate(robot, duration=1.6, dt=dt, tolerance=1e-11)
        exact = goal - np.array([(expm(A * t) @ [goal, 0.0, 1.0])[0] for t in run.t[:: round(0.16 / dt)]])
        errors.append(np.abs(run.twist(body.frame)[:: round(0.16 / dt), 0 if turning else 3] - exact).max())
    assert errors[-1] < 1e-4
    assert all(3.7 < a / b < 4.3 for a, b in pairwise(errors))


def test_thruster_leads_a_body_around_a_point():
    """A wanted spin about a place far away is a wanted motion on a circle."""
    robot, body = floating(ag.RigidBody.sphere(0.1, mass=1.0))
    robot.load(ag.Thruster(body.frame, kp=(5e3,) * 6, spin=(0, 0, 2.0), place=(0.0, 1.0, 0.0)))
    run = ag.simulate(robot, duration=4.0, dt=0.01)
    away = np.linalg.norm(run.position(body.frame) - [0.0, 1.0, 0.0], axis=1)
    exact = np.stack([np.sin(2 * run.t), 1 - np.cos(2 * run.t), 0 * run.t], axis=1)
    assert np.abs(away - 1.0).max() < 0.02
    np.testing.assert_allclose(run.position(body.frame), exact, atol=0.02)
    np.testing.assert_allclose(run.twist(body.frame)[-1, :3], [0, 0, 2.0], atol=1e-3)


def test_results_know_the_integral_of_a_thruster():
    """The stress at the end of a rod is the thrust kp e + ki z, with z summed over the run."""
    robot, arm = soft_arm(ag.reissner(1), gravity=(0, 0, -9.81))
    goal = np.array([0.0, 0.05, 0.0])
    robot.load(ag.Thruster(arm.tip, kp=(0, 0, 0, 0.5, 0.5, 0.5), ki=(0, 0, 0, 2.0, 2.0, 2.0), velocity=goal))
    run = ag.simulate(robot, duration=0.3, dt=1e-3)
    pose, twist = run.pose(arm.tip), run.twist(arm.tip)
    e = np.einsum("tji,j->ti", pose[:, :3, :3], goal) - twist[:, 3:]
    z = np.vstack([np.zeros(3), np.cumsum(0.5e-3 * (e[1:] + e[:-1]), axis=0)])
    np.testing.assert_allclose(run.wrench(arm, [arm.length])[:, 0, 3:], 0.5 * e + 2.0 * z, atol=1e-9)
    assert np.abs(2.0 * z).max() > 0.02


# Magnets --------------------------------------------------------------------------------------------------------------


def compass(**options):
    robot = ag.Robot("compass", gravity=WEIGHTLESS)
    body = ag.RigidBody.box((0.1, 0.02, 0.02), mass=0.1)
    needle = robot.add(body, at=robot.ground, joint=ag.Revolute(Z), name="needle")
    robot.load(ag.Magnet(needle.frame, (0.3, 0.0, 0.0), **options))
    return robot, needle, body.inertia[2]


def test_magnet_feels_the_sine_of_its_angle():
    robot, _, _ = compass(field=(0.0, 0.5, 0.0))
    system = ag.Model(robot)
    for angle in (-2.0, 0.0, 0.7, 1.5, 3.0):  # the moment turns it towards +y
        assert system.residual([angle])[0] == pytest.approx(-0.3 * 0.5 * np.cos(angle), abs=1e-14)
        assert system.tangent([angle])[0, 0] == pytest.approx(0.3 * 0.5 * np.sin(angle), abs=1e-14)


@pytest.mark.parametrize("swing", [0.1, 2.0])
def test_period_of_a_compass(swing):
    robot, _, inertia = compass(field=(0.5, 0.0, 0.0))
    period = 4.0 * np.sqrt(inertia / 0.15) * ellipk(np.sin(swing / 2.0) ** 2)
    run = ag.simulate(robot, duration=period, dt=period / 4000, start=[swing], method=ag.Midpoint(), tolerance=1e-10)
    assert run.q[-1, 0] == pytest.approx(swing, abs=1e-6 * swing)
    assert run.q[2000, 0] == pytest.approx(-swing, abs=2e-5 * swing)


def test_energy_of_a_magnet_in_a_gradient():
    """Kinetic energy - m . B is kept: the force is the gradient of what the moment turns in."""
    gradient = np.array([[1.0, 0.2, 0.3], [0.2, -3.0, 0.4], [0.3, 0.4, 2.0]])
    robot, body = floating(ag.RigidBody.box((0.1, 0.05, 0.02), mass=0.1))
    frame = body.at((0.02, 0.01, 0.0))
    moment, field = np.array([0.3, 0.1, -0.2]), np.array([0.1, 0.3, -0.5])
    robot.load(ag.Magnet(frame, moment, field, gradient))
    drifts = []
    for dt in (2e-3, 1e-3):
        run = ag.simulate(robot, duration=0.5, dt=dt, method=ag.Midpoint(), tolerance=1e-11)
        pose = run.pose(frame)
        energy = -np.einsum("tij,j,ti->t", pose[:, :3, :3], moment, field + pose[:, :3, 3] @ gradient)
        total = energy + run.energy["kinetic"]
        drifts.append(np.ptp(total) / np.ptp(energy))
    assert drifts[1] < 2e-4 and 3.5 < drifts[0] / drifts[1] < 4.5


def test_magnetic_rod_against_the_strong_form():
    """A rod magnetised along itself in a field across it: EI theta'' + m B cos(theta) = 0, free at its tip."""
    robot, arm = soft_arm(ag.planar(8), intervals=40)
    pull = 3.0 * EI / 0.3**2
    robot.load(ag.Magnet(arm, (1.0, 0.0, 0.0), (0.0, pull, 0.0)))
    eq = ag.statics(robot)
    s = np.linspace(0, 0.3, 61)
    rates = lambda s, y: np.vstack([y[1], -pull / EI * np.cos(y[0])])
    exact = solve_bvp(rates, lambda a, b: np.array([a[0], b[1]]), s, np.vstack([s, 1 + 0 * s]), tol=1e-10)
    tip = solve_ivp(
        lambda x, y: [np.cos(exact.sol(x)[0]), np.sin(exact.sol(x)[0])], (0, 0.3), [0, 0], rtol=1e-10, atol=1e-12
    )
    assert exact.y[0, -1] > 0.8
    np.testing.assert_allclose(eq.position(arm.tip)[:2], tip.y[:, -1], atol=1e-6 * 0.3)


# Muscles --------------------------------------------------------------------------------------------------------------


def test_muscle_with_a_constant_couple_makes_a_circle():
    robot, arm = soft_arm(ag.kirchhoff(2))
    robot.load(ag.Muscle(arm, moment=(0.0, 0.02, -0.05)))
    K = eq = ag.statics(robot)
    K = eq.strain(arm)[:, :3]
    np.testing.assert_allclose(K, np.tile([0.0, -0.02 / EI, 0.05 / EI], (60, 1)), atol=1e-9)


def test_muscle_that_tracks_a_curvature():
    """003 (92): K = H Kd / (EI + H) pointwise, which tends to Kd as the gain grows."""
    misses = []
    for gain in (0.1 * EI, EI, 10 * EI, 1000 * EI):
        robot, arm = soft_arm(ag.planar(6), intervals=60)
        goal = lambda X, t: (0.0, 0.0, 5.0 + 30.0 * X**2 * (1 + t))
        robot.load(ag.Muscle(arm, gain=(0, 0, gain, 0, 0, 0), curvature=goal))
        eq = ag.statics(robot, t=0.5)
        X = np.linspace(0.0, 0.3, 60)
        wanted = np.array([goal(x, 0.5)[2] for x in X])
        np.testing.assert_allclose(eq.strain(arm)[:, 2], wanted * gain / (EI + gain), atol=1e-5)
        misses.append(np.abs(eq.strain(arm)[:, 2] - wanted).max())
    assert misses[-1] < 0.02 and all(a > b for a, b in pairwise(misses))


def test_muscle_stress_is_the_balance_of_the_rod():
    """In equilibrium under weight, elastic + active stress is what the part beyond carries."""
    robot, arm = soft_arm(ag.planar(8), gravity=(0.0, -9.81, 0.0), intervals=24)
    robot.load(ag.Muscle(arm, moment=lambda X: (0.0, 0.0, -0.1 * X), gain=lambda X: (0, 0, EI, 0, 0, 0)))
    eq = ag.statics(robot)
    X = np.linspace(0.0, 0.28, 8)
    K = eq.strain(arm, X)[:, 2]
    np.testing.assert_allclose(EI * K - 0.1 * X + EI * K, eq.wrench(arm, X)[:, 2], atol=2e-5)


# Springs --------------------------------------------------------------------------------------------------------------


def two_bodies(damping=0.0):
    robot = ag.Robot("pair", gravity=WEIGHTLESS)
    one = robot.add(ag.RigidBody.box((0.1, 0.2, 0.05), mass=1.0), at=robot.ground, joint=ag.Free(), name="one")
    two = robot.add(ag.RigidBody.box((0.1, 0.1, 0.05), mass=0.5), at=robot.ground, joint=ag.Free(), name="two")
    robot.load(ag.Spring(one.at((0.05, 0.1, 0.0)), two.at((0.0, 0.05, 0.02)), 80.0, rest=0.2, damping=damping))
    start = np.zeros(12)
    start[6:9] = 0.5, 0.1, 0.05
    return robot, start


def test_energy_and_momentum_of_two_bodies_on_a_spring():
    robot, start = two_bodies()
    drifts = []
    for dt in (2e-3, 1e-3):
        run = ag.simulate(robot, duration=2.0, dt=dt, start=start, method=ag.Midpoint(), tolerance=1e-11)
        energy = run.energy
        drifts.append(np.ptp(energy["total"]) / np.ptp(energy["elastic"]))
        np.testing.assert_allclose(run.momentum, 0.0, atol=1e-10)
        turned = np.abs(run.angular_momentum).max() / np.abs(run.v[:, 3:6]).max()
        assert turned < 1e-4
    assert drifts[1] < 2e-3 and 3.5 < drifts[0] / drifts[1] < 4.5


@pytest.mark.filterwarnings("ignore:The time steps of")  # bodies that tumble for seconds; energy is what counts
def test_damper_takes_the_energy():
    robot, start = two_bodies(damping=0.5)
    run = ag.simulate(robot, duration=8.0, dt=4e-3, start=start)
    energy = run.energy["total"]
    assert np.all(np.diff(energy) < 2e-4 * energy[0]) and energy[-1] < 0.2 * energy[0]


def test_spring_of_no_length_is_an_oscillator_in_space():
    robot, body = floating(ag.RigidBody.sphere(0.05, mass=2.0), gravity=(0.0, 0.0, -3.0))
    robot.load(ag.Spring(robot.ground, body.frame, 50.0))
    run = ag.simulate(robot, duration=1.0, dt=1e-3)  # from where the spring has no direction
    exact = -2.0 * 3.0 / 50.0 * (1.0 - np.cos(5.0 * run.t))
    np.testing.assert_allclose(run.position(body.frame)[:, 2], exact, atol=1e-5)


# Tendons through the air ----------------------------------------------------------------------------------------------


def elbow(a=0.2, b=0.15, stiffness=0.0, **options):
    """A forearm on a hinge and a tendon from the upper arm, at -a from the hinge, to the forearm, at b."""
    robot = ag.Robot("elbow", gravity=WEIGHTLESS)
    bone = ag.RigidBody.box((0.3, 0.02, 0.02), mass=0.2, com=(0.15, 0, 0))
    arm = robot.add(bone, at=robot.ground, joint=ag.Revolute(Z, stiffness=stiffness), name="forearm")
    path = [robot.ground.offset_by((-a, 0.02, 0.0)), arm.at((b, 0.0, 0.0))]
    robot.actuate("biceps", ag.Tendon(path, ag.parallel(), **options))
    return robot, arm


def elbow_length(q, a=0.2, b=0.15):
    return np.hypot(b * np.cos(q) + a, b * np.sin(q) - 0.02)


def test_tendon_across_a_hinge_has_the_moment_arm_of_the_textbook():
    """Torque = tension x distance of the line from the hinge; length by Pythagoras."""
    robot, _ = elbow()
    system = ag.Model(robot)
    for q in (-1.0, 0.2, 1.0, 2.5):
        one, two = np.array([-0.2, 0.02]), 0.15 * np.array([np.cos(q), np.sin(q)])
        arm = (one[0] * two[1] - one[1] * two[0]) / np.linalg.norm(two - one)  # signed
        assert system.residual([q], inputs={"biceps": 7.0})[0] == pytest.approx(7.0 * arm, abs=1e-12)
        slope = (elbow_length(q + 1e-6) - elbow_length(q - 1e-6)) / 2e-6
        assert slope == pytest.approx(arm, abs=1e-9)


def test_tendon_pulls_the_elbow_to_a_stop():
    robot, _ = elbow(stiffness=1.0)
    eq = ag.statics(robot, inputs={"biceps": 5.0})
    slope = lambda q: (elbow_length(q + 1e-6) - elbow_length(q - 1e-6)) / 2e-6
    assert eq.q[0] == pytest.approx(brentq(lambda q: q + 5.0 * slope(q), 0.01, 2.5), abs=1e-7)
    assert eq.length("biceps") == pytest.approx(elbow_length(eq.q[0]), abs=1e-12)


def test_a_length_is_the_inverse_of_a_tension():
    """The tension found for a length gives that length; and so along a soft arm, through the air and back."""
    robot, _ = elbow(stiffness=1.0, by="length")
    found = ag.statics(robot, inputs={"biceps": 0.3})
    pulled = ag.statics(elbow(stiffness=1.0)[0], inputs={"biceps": found.tension("biceps")})
    assert found.tension("biceps") > 1.0
    assert pulled.q[0] == pytest.approx(found.q[0], abs=1e-9)
    tension, q = 0.0, None
    for by in ("length", "tension"):
        robot, arm = soft_arm(ag.kirchhoff(3), gravity=(0, 0, -9.81))
        hand = robot.add(ag.RigidBody.sphere(0.02, mass=0.05), at=arm.tip)
        path = [robot.ground.offset_by((-0.02, 0.03, 0.0)), arm, hand.at((0.02, 0.0, 0.0))]
        robot.actuate("line", ag.Tendon(path, ag.parallel(y=0.008), by=by))
        eq = ag.statics(robot, inputs={"line": 0.33 if by == "length" else tension})
        if by == "length":
            tension, q = eq.tension("line"), eq.q
            assert eq.length("line") == pytest.approx(0.33, abs=1e-7) and tension > 0.1
    np.testing.assert_allclose(eq.q, q, atol=1e-8)
    assert eq.length("line") == pytest.approx(0.33, abs=1e-7)


def test_a_compliant_tendon_tends_to_a_stiff_one():
    stiff = ag.statics(elbow(stiffness=1.0, by="length")[0], inputs={"biceps": 0.3})
    misses = []
    for compliance in (1e-3, 1e-4, 1e-5):
        eq = ag.statics(elbow(stiffness=1.0, by="length", compliance=compliance)[0], inputs={"biceps": 0.3})
        assert eq.length("biceps") == pytest.approx(0.3 + compliance * eq.tension("biceps"), abs=1e-12)
        misses.append(abs(eq.q[0] - stiff.q[0]))
    assert all(8.0 < a / b < 12.0 for a, b in pairwise(misses))


# lines that go slack and taut: the motion is chaotic (off by 4 % at any such dt), the identities hold all the same
@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.errors.AnguillaWarning")
@pytest.mark.parametrize("compliance", [0.0, 2e-4])
def test_antagonists_pull_or_are_slack_never_push(compliance):
    """Two tendons by length, one released while the other is drawn: T >= 0, gap >= 0, T gap = 0 at all times."""
    robot, arm = soft_arm(ag.planar(3, stretch_modes=1), gravity=(0.0, -9.81, 0.0))
    sides = {"up": 0.008, "down": -0.008}
    for name, y in sides.items():
        robot.actuate(name, ag.Tendon(arm, ag.parallel(y=y), by="length", compliance=compliance))
    draw = lambda t: 0.012 * np.sin(8 * t)
    lengths = {"up": lambda t: 0.3 - draw(t), "down": lambda t: 0.3 + 0.5 * draw(t)}
    start = ag.statics(robot, inputs={name: f(0.0) for name, f in lengths.items()})
    run = ag.simulate(robot, duration=1.0, dt=2e-3, inputs=lengths, start=start)
    slack = {}
    for name, goal in lengths.items():
        tension = run.tension(name)
        gap = goal(run.t) + compliance * tension - run.length(name)
        assert tension.min() >= 0.0 and gap.min() > -1e-9
        assert np.minimum(tension, gap).max() < 1e-9
        np.testing.assert_array_equal(tension, run.multipliers[:, list(lengths).index(name)])
        slack[name] = np.mean(tension == 0.0)
    assert any(0.05 < part < 0.95 for part in slack.values())


def test_a_taut_tendon_starts_still():
    robot, arm = soft_arm(gravity=(0, 0, -9.81))
    robot.actuate("t", ag.Tendon(arm, ag.parallel(z=0.008), by="length"))
    eq = ag.statics(robot, inputs={"t": 0.295})
    run = ag.simulate(robot, duration=0.05, dt=0.005, inputs={"t": 0.295}, start=eq)
    assert eq.tension("t") > 1.0
    np.testing.assert_allclose(run.q, np.tile(eq.q, (11, 1)), atol=1e-9)
    np.testing.assert_allclose(run.tension("t"), eq.tension("t"), rtol=1e-6)


# Constraints on velocities --------------------------------------------------------------------------------------------


def test_chaplygins_sleigh():
    """u' = a w^2, (I + m a^2) w' = -m a u w, with the knife at a from the centre of mass: by another integrator."""
    mass, inertia, a = 2.0, 0.03, 0.15
    robot = ag.Robot("sleigh")
    sleigh = robot.add(
        ag.RigidBody(mass, (0.02, 0.02, inertia), (a, 0, 0)), at=robot.ground, joint=ag.Planar(Z), name="sleigh"
    )
    knife = robot.constrain(ag.no_slip(sleigh.frame, Y, name="knife"))

    def rates(t, y):
        u, w, angle = y[:3]
        slope = [a * w**2, -mass * a * u * w / (inertia + mass * a**2), w]
        return [*slope, u * np.cos(angle), u * np.sin(angle)]

    exact = solve_ivp(rates, (0.0, 2.0), [0.3, 2.0, 0.0, 0.0, 0.0], rtol=1e-11, atol=1e-12, method="DOP853").y[:, -1]
    errors = []
    for dt in (1.6e-2, 8e-3, 4e-3):
        run = ag.simulate(robot, duration=2.0, dt=dt, start=([0, 0, 0], [0.3, 0.0, 2.0]), tolerance=1e-12)
        errors.append(np.abs(run.q[-1] - [exact[3], exact[4], exact[2]]).max())
        assert np.abs(run.twist(sleigh.frame)[:, 4]).max() < 1e-9
    assert errors[-1] < 1e-5 and all(3.5 < a / b < 4.5 for a, b in pairwise(errors))
    kinetic = run.energy["kinetic"]
    assert np.ptp(kinetic) < 1e-5 * kinetic[0]  # the knife does no work
    assert knife in robot.constraints


def unicycle(torque=0.0, steer=0.0, radius=0.1):
    robot = ag.Robot("unicycle")
    frame = ag.RigidBody.box((0.1, 0.05, 0.1), mass=1.0)
    carrier = robot.add(frame, at=robot.ground, joint=ag.Planar(Z, effort=(0.0, 0.0, steer)), name="carrier")
    disc = ag.RigidBody.cylinder(radius, 0.02, mass=0.4)
    on_y = np.eye(4)
    on_y[:3, :3] = rotation(Z, np.pi / 2)  # the axis of the cylinder along y
    wheel = robot.add(disc, at=carrier.frame, pose=on_y, joint=ag.Revolute((1, 0, 0), effort=torque), name="wheel")
    robot.constrain(ag.rolling(carrier.frame, wheel.frame, radius=radius, axle=(1, 0, 0)))
    robot.constrain(ag.no_slip(carrier.frame, Y))
    return robot, carrier, wheel, disc, frame


def test_wheel_rolls_with_its_apparent_mass():
    robot, carrier, wheel, disc, frame = unicycle(torque=0.2)
    run = ag.simulate(robot, duration=1.0, dt=5e-3)
    speed = 0.2 / 0.1 / (frame.mass + disc.mass + disc.inertia[0] / 0.1**2)
    np.testing.assert_allclose(run["carrier.slide_1"], 0.5 * speed * run.t**2, atol=1e-9)
    np.testing.assert_allclose(run["wheel.angle"], 0.5 * speed * run.t**2 / 0.1, atol=1e-8)
    assert wheel.frame != carrier.frame


def test_wheel_that_steers_drives_a_clothoid():
    """A constant speed and a constant angular acceleration: the place is the Fresnel integral of the angle."""
    robot, carrier, _, disc, frame = unicycle(steer=0.003)
    inertia = frame.inertia[2] + disc.inertia[1]
    rate = 0.003 / inertia
    speed, ends = 0.5, []
    for dt in (4e-3, 2e-3):
        run = ag.simulate(robot, duration=2.0, dt=dt, start=([0.0] * 4, [speed, 0.0, 0.0, speed / 0.1]))
        ends.append(run.position(carrier.frame)[-1, :2])
    end = solve_ivp(
        lambda t, y: [speed * np.cos(rate * t**2 / 2), speed * np.sin(rate * t**2 / 2)],
        (0, 2.0),
        [0, 0],
        rtol=1e-10,
        atol=1e-12,
    ).y[:, -1]
    errors = [np.abs(x - end).max() for x in ends]
    assert rate * 2.0 > 1.0
    assert errors[1] < 1e-5 and 3.4 < errors[0] / errors[1] < 4.6


def test_two_wheels_on_an_axle_are_redundant():
    robot = ag.Robot("cart")
    cart = robot.add(ag.RigidBody.box((0.2, 0.1, 0.05), mass=1.0), at=robot.ground, joint=ag.Planar(Z), name="cart")
    for side in (0.1, -0.1):
        robot.constrain(ag.no_slip(cart.at((0.0, side, 0.0)), Y, name="left" if side > 0 else "right"))
    with pytest.warns(ag.AnguillaWarning, match="1 of 2 constraints are redundant and left out: right"):
        run = ag.simulate(robot, duration=0.5, dt=0.01, start=([0, 0, 0], [1.0, 0.0, 1.0]))
    assert np.abs(run.twist(cart.frame)[:, 4]).max() < 1e-9


def test_needle_follows_its_tip():
    """A rod pushed from its root through tissue: its tip moves only along itself."""
    robot = ag.Robot("needle", gravity=WEIGHTLESS)
    rod = ag.Rod(
        0.2,
        ag.Circle(0.002),
        ag.Material(young=5e8, poisson=0.3, density=2000, damping=0.02),
        ag.planar(3),
        rest=ag.ConstantCurvature(bend_z=2.0),
    )
    push = (lambda t: 0.02 * t, lambda t: 0.02, lambda t: 0.0)
    needle = robot.add(rod, at=robot.ground, joint=ag.Prismatic((1, 0, 0), motion=push), name="needle")
    robot.constrain(ag.no_slip(needle.tip, Y))
    run = ag.simulate(robot, duration=2.0, dt=5e-3)
    twist = run.twist(needle.tip)
    assert np.abs(twist[:, 4]).max() < 1e-8 and np.abs(twist[:, 3]).min() > 0.01
    assert np.abs(run.effort(needle)).max() > 0.0
    # the path of the tip is tangent to the tip: integrate its direction
    way = np.diff(run.position(needle.tip), axis=0)
    heading = run.pose(needle.tip)[:, :3, 0]
    across = np.cross(way, 0.5 * (heading[1:] + heading[:-1]))[:, 2] / np.linalg.norm(way, axis=1)
    assert np.abs(across).max() < 1e-4


# Loads written by the user --------------------------------------------------------------------------------------------


def test_a_written_load_equals_the_built_in_one():
    """A magnet, with and without its tangent, along a rod: the same equilibrium and the same motion."""
    pull = 3.0 * EI / 0.3**2
    field, m = np.array([0.0, pull, 0.2 * pull]), np.array([1.0, 0.2, 0.0])
    cross = lambda u: np.cross(np.eye(3), u)

    def wrench(motion, t, X):
        return np.concatenate([np.cross(motion.rotation @ m, field), np.zeros(3)])

    def tangent(motion, t, X):
        out = np.zeros((6, 18))
        out[:3, :3] = cross(field) @ cross(motion.rotation @ m)
        return out

    results = []
    for make in (
        lambda a: ag.Magnet(a, m, field),
        lambda a: ag.UserLoad(a, wrench),
        lambda a: ag.UserLoad(a, wrench, tangent),
    ):
        robot, arm = soft_arm(ag.kirchhoff(2), gravity=(0, 0, -9.81), intervals=2)
        robot.load(make(arm))
        run = ag.simulate(robot, duration=0.025, dt=5e-3, tolerance=1e-10)
        results.append((ag.statics(robot).q, run.q[-1]))
    for other in results[1:]:
        np.testing.assert_allclose(other[0], results[0][0], atol=1e-8)
        np.testing.assert_allclose(other[1], results[0][1], atol=1e-7)


def test_results_ask_a_written_load_at_its_own_time():
    robot, arm = soft_arm(ag.kirchhoff(1), intervals=2)
    robot.load(ag.UserLoad(arm.tip, lambda motion, t: (0, 0, 0, 0, 0.01 * t, 0)))
    run = ag.simulate(robot, duration=0.1, dt=0.01)
    rotation_ = run.pose(arm.tip)[:, :3, :3]
    force = np.einsum("tij,tj->ti", rotation_, run.wrench(arm, [arm.length])[:, 0, 3:])
    np.testing.assert_allclose(force[:, 1], 0.01 * run.t, atol=1e-12)


def test_a_written_controller_holds_an_arm():
    robot = ag.Robot("pendulum")
    robot.add(ag.RigidBody.box((0.3, 0.02, 0.02), mass=0.5, com=(0.15, 0, 0)), at=robot.ground, joint=ag.Revolute(Y))
    weight = 0.5 * 9.81 * 0.15
    hold = lambda q, v, t: -20.0 * (q - 0.4) - 2.0 * v - weight * np.cos(q)
    robot.load(ag.UserForce(hold))
    run = ag.simulate(robot, duration=3.0, dt=0.01)
    assert run.q[-1, 0] == pytest.approx(0.4, abs=1e-4)
    assert ag.statics(robot).q[0] == pytest.approx(0.4, abs=1e-9)
