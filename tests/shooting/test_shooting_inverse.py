"""Inverse statics and dynamics, Gauss' principle, stability, and the singular form of Appendix 2."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from shooting_cases import paper_rod, random_case

import anguilla as ag
from anguilla import lie, shooting
from anguilla.reference.singular_lq import Section, growth_rate, riccati_growth, singular_lq


def muscle(X, t):
    wave = np.stack(
        [0.5 * np.sin(5 * t + 3 * X), 3 * np.sin(9 * t - 4 * X), 2 * np.cos(7 * t + X) - 2 * np.cos(X)], axis=1
    )
    return np.hstack([wave, np.stack([10 * np.sin(5 * t) * X, 5 * np.sin(6 * t) * X, 0 * X], axis=1)])


def driven(free, **options):
    """A thick rod with a body at its tip, driven by an active stress."""
    robot = ag.Robot(gravity=(0, 0, -3.0))
    material = ag.Material(young=1e6, density=1000, poisson=0.4, damping=0.01)
    rod = ag.Rod(1.0, ag.Circle(0.05), material, ag.reissner(4))
    arm = robot.add(rod, at=robot.ground, joint=ag.Free() if free else None)
    robot.add(ag.RigidBody(mass=0.3, inertia=(1e-3, 2e-3, 2e-3), com=(0.02, 0.01, 0)), at=arm.tip)
    robot.load(ag.TipWrench(arm, force=lambda t: (0, 2 * np.sin(8 * t), 1)))
    motion = shooting.simulate(
        robot, duration=0.2, dt=0.01, stress={arm: muscle}, shoots=2, intervals=66, tolerance=1e-11, **options
    )
    return robot, arm, motion


@pytest.mark.parametrize("free", [False, True])
def test_inverse_dynamics_returns_the_stress_that_made_the_motion(free):
    robot, arm, motion = driven(free)
    riccati = shooting.inverse_dynamics(robot, motion, method="riccati")
    passes = shooting.inverse_dynamics(robot, motion, method="two-pass")
    wanted = muscle(riccati.points(arm), 0.2)
    size = np.max(np.abs(wanted))
    for answer in (riccati, passes):
        assert np.max(np.abs(answer.stress(arm) - wanted)) < 1e-6 * size
    assert np.max(np.abs(riccati.stress(arm) - passes.stress(arm))) < 1e-9 * np.max(np.abs(passes.wrench(arm)))
    assert np.allclose(riccati.wrench(arm), passes.wrench(arm), atol=1e-9 * np.max(np.abs(passes.wrench(arm))))
    if free:
        for answer in (riccati, passes):
            root = answer.root_acceleration["rod"]
            assert np.allclose(root, motion.states[-1, 0, 18:24], atol=1e-7 * np.max(np.abs(root)))
    else:
        assert np.allclose(riccati.base_wrench["rod"], motion.wrench(arm, [0.0])[-1], atol=1e-6 * size)


def test_the_two_algorithms_approach_each_other_with_the_sixth_power():
    robot = ag.Robot()
    rod = robot.add(paper_rod(young=1e9), at=robot.ground, joint=ag.Free())
    fields = [
        {rod: lambda X, k=k: np.stack([k + X, np.sin(9 * X), 2 * np.cos(7 * X + k), 0 * X, 0 * X, 0 * X], 1)}
        for k in (0, 1, 2)
    ]
    fields[0] = {rod: lambda X: np.stack([X, 9 * np.sin(9 * X), 8 * np.cos(7 * X), 0 * X + 1, 0 * X, 0 * X], axis=1)}
    gaps = []
    for n in (6, 12, 24):
        a, b = (
            shooting.inverse_dynamics(robot, *fields, root=(np.eye(4), (1, 2, 3, 0.4, 0.5, 0.6)), intervals=n, method=m)
            for m in ("riccati", "two-pass")
        )
        gaps.append(np.max(np.abs(a.wrench(rod) - b.wrench(rod))) / np.max(np.abs(b.wrench(rod))))
    assert np.all(np.log2(np.array(gaps[:-1]) / gaps[1:]) > 5.0), gaps


def test_inverse_statics_and_tendons():
    robot, arm, inputs = random_case(2)
    shape = shooting.statics(robot, inputs=inputs)
    for method in ("riccati", "two-pass"):
        answer = shooting.inverse_statics(robot, shape, method=method)
        found, left = answer.inputs()
        assert abs(found["tendon"] - inputs["tendon"]) < 1e-6 * inputs["tendon"]
        assert left < 1e-6
    # with the tendon pulling already nothing is left to do
    nothing = shooting.inverse_statics(robot, shape, inputs=inputs)
    assert np.max(np.abs(nothing.stress(arm))) < 1e-8 * np.max(np.abs(answer.stress(arm)))


def test_what_tendons_cannot_do_is_reported():
    robot = ag.Robot(gravity=(0, 0, 0))
    arm = robot.add(paper_rod(), at=robot.ground)
    robot.actuate("up", ag.Tendon(arm, ag.parallel(y=0.02)))
    robot.actuate("down", ag.Tendon(arm, ag.parallel(y=-0.02)))
    constant = {arm: lambda X: np.tile([0.0, 0.0, 1.0, 1.0, 0.0, 0.0], (len(X), 1))}
    found, left = shooting.inverse_statics(robot, constant).inputs()
    # Lambda_ad = -EI K, a tendon at y gives -y T about t3
    assert found["up"] == pytest.approx(arm.rod.hooke([0.0])[0, 2] / 0.02, rel=1e-9)
    assert abs(found["down"]) < 1e-9 and left < 1e-9
    slope = {arm: lambda X: np.stack([0 * X, 0 * X, X, 0 * X + 1, 0 * X, 0 * X], axis=1)}
    found, left = shooting.inverse_statics(robot, slope).inputs()
    assert left == pytest.approx(0.5, rel=1e-6)  # |X - 1/2 l| against |X|, in the mean square
    twisted = {arm: lambda X: np.tile([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], (len(X), 1))}
    assert shooting.inverse_statics(robot, twisted).inputs()[1] == pytest.approx(1.0)


@pytest.mark.parametrize("free", [False, True])
def test_the_true_accelerations_make_the_gauss_constraint_least(free):
    _, _, motion = driven(free)
    gauss = shooting.gauss_constraint(motion)
    rng = np.random.default_rng(7)
    centre = gauss.value(gauss.u, gauss.root)
    for _ in range(3):
        du, droot = rng.standard_normal(gauss.u.shape), (rng.standard_normal(6) if free else np.zeros(6))
        du *= np.max(np.abs(gauss.u))
        ahead, behind = (gauss.value(gauss.u + h * du, gauss.root + h * droot) for h in (1e-3, -1e-3))
        curvature = (ahead + behind - 2 * centre) / 1e-6
        assert curvature > 0
        assert abs(ahead - behind) / 2e-3 < 1e-6 * curvature
    # T_acc without velocities is the kinetic energy with accelerations in the place of velocities
    assert gauss.energy(gauss.u, gauss.root) - gauss.power(gauss.u, gauss.root) == pytest.approx(centre)


def column(load, tie=None):
    robot = ag.Robot(gravity=(0, 0, 0))
    material = ag.Material(young=1e6, poisson=0.4, density=1000)
    strains = ag.kirchhoff(4) if tie is None else ag.extensible_kirchhoff(4)
    arm = robot.add(ag.Rod(1.0, ag.Circle(0.01), material, strains), at=robot.ground)
    EI, EA = arm.rod.hooke([0.0])[0, [1, 3]]
    force = load * np.pi**2 * EI
    if tie is None:
        robot.load(ag.TipWrench(arm, force=(-force, 0, 0)))
        return shooting.statics(robot)
    pose = lie.pose(None, (1 - force / EA, 0, 0))
    return shooting.statics(robot, ties=[shooting.Hold(arm.tip, pose, tie)])


# Euler's loads in units of pi^2 EI / l^2: clamped-free 1/4, 9/4; clamped-clamped 4, 8.183; clamped-pinned 2.0457, 6.0468
@pytest.mark.parametrize(
    ("tie", "loads"),
    [(None, (0.25, 2.25)), (ag.Fixed(), (4.0, 8.1830)), (ag.Spherical(), (2.0457, 6.0468))],
)
@pytest.mark.filterwarnings("ignore:The equilibrium of 'robot' is unstable")
def test_conjugate_points_of_euler_columns(tie, loads):
    for k, load in enumerate(loads):
        below, above = (shooting.stability(column(f * load, tie), segments=40) for f in (0.98, 1.02))
        assert below.index == 2 * k and above.index == 2 * (k + 1)  # a round rod buckles in two planes at once
        assert below.stable is (k == 0) and not above.stable
    # a clamped-free rod of three times its critical load has its conjugate point where the rest is just critical
    if tie is None:
        points = shooting.stability(column(0.75)).conjugate_points
        assert np.allclose(points, 1 - 1 / np.sqrt(3), atol=1 / 60)


def mast(height, gravity=-9.81):
    """A round mast (E = 1 MPa, r = 1 cm, 1000 kg/m^3) that stands, or hangs, clamped at its foot."""
    robot = ag.Robot("mast", gravity=(gravity, 0, 0))
    rod = ag.Rod(height, ag.Circle(0.01), ag.Material(young=1e6, poisson=0.45, density=1000), ag.kirchhoff(4))
    return robot, robot.add(rod, at=robot.ground)


def test_an_equilibrium_says_that_it_is_unstable():
    """Greenhill: a mast of weight w per length stands up to w L^3 / EI = 7.8373."""
    weight, EI = 1000 * np.pi * 1e-4 * 9.81, 1e6 * np.pi * 1e-8 / 4
    limit = (7.8373 * EI / weight) ** (1 / 3)
    stands = shooting.statics(mast(0.99 * limit)[0])
    assert stands.status.message.endswith("1 load increment")
    robot, _ = mast(1.01 * limit)
    with pytest.warns(ag.AnguillaWarning, match="The equilibrium of 'mast' is unstable"):
        heavy = shooting.statics(robot)
    assert "(unstable: the robot would leave it by itself)" in heavy.status.message
    again = shooting.statics(robot, start=heavy)  # a start was chosen: no warning, but it is said
    assert "unstable" in again.status.message
    assert "unstable" not in shooting.statics(mast(3 * limit, gravity=9.81)[0]).status.message  # it hangs


def test_what_cannot_be_judged_is_said():
    robot, arm = mast(0.2)
    robot.load(ag.TipWrench(arm, force=(0, 1e-3, 0), follower=True))
    assert "(stability not judged)" in shooting.statics(robot).status.message
    robot, _ = mast(0.2)
    assert "(stability not judged)" in shooting.statics(robot, shoots=1).status.message


def test_a_buckled_shape_is_stable_and_followers_are_refused():
    robot = ag.Robot(gravity=(0, 0, 0))
    arm = robot.add(paper_rod(), at=robot.ground)
    EI = arm.rod.hooke([0.0])[0, 1]
    load = robot.load(ag.TipWrench(arm, force=(0, 0.2, 0)))
    start = shooting.statics(robot)
    for push in np.linspace(0.05, 0.4, 8):
        load.force = (-push * np.pi**2 * EI / 0.4**2, 0.2, 0)
        start = shooting.statics(robot, start=start)
    assert start.position(arm.tip)[1] > 0.1
    assert shooting.stability(start).stable
    load.follower = True
    load.force = (0, 0.5, 0)
    with pytest.raises(ag.DescriptionError, match="conservative"):
        shooting.stability(shooting.statics(robot))


def test_singular_lq_second_derivative():
    """(106) against differences along X of the stress of a smooth motion."""
    M = np.array([3e-3, 2e-3, 1e-3, 1.0, 1.2, 1.5])
    xi = lambda X: np.array([0.5 + X, np.sin(2 * X), X**2, 1.0, 0.0, 0.0])
    xi_slope = lambda X: np.array([1.0, 2 * np.cos(2 * X), 2 * X, 0.0, 0.0, 0.0])
    rate = lambda X: np.array([X, 1 - X, 0.3 * X, 0.0, 0.0, 0.0])
    u = lambda X: np.array([np.cos(X), X, 0.5, 0.0, 0.0, 0.0])
    force = lambda X, eta: np.array([0.1, 0, X, 0.2, X, -X]) + lie.ad(eta).T @ (M * eta)

    def slopes(X, y):
        eta, acc, stress = y[:6], y[6:12], y[12:]
        ad, ad_rate = lie.ad(xi(X)), lie.ad(rate(X))
        return np.concatenate(
            [rate(X) - ad @ eta, u(X) - ad @ acc - ad_rate @ eta, ad.T @ stress + M * acc - force(X, eta)]
        )

    rng = np.random.default_rng(3)
    sol = solve_ivp(
        slopes, (0, 1), rng.standard_normal(18), method="DOP853", rtol=1e-12, atol=1e-13, dense_output=True
    ).sol
    X, h = 0.4, 1e-3
    stress = lambda x: sol(x)[12:15]
    second = (-stress(X + 2 * h) + 16 * stress(X + h) - 30 * stress(X) + 16 * stress(X - h) - stress(X - 2 * h)) / (
        12 * h * h
    )
    y = sol(X)
    f_slope = (force(X + h, sol(X + h)[:6]) - force(X - h, sol(X - h)[:6])) / (2 * h)
    f_slope = (4 * (force(X + h / 2, sol(X + h / 2)[:6]) - force(X - h / 2, sol(X - h / 2)[:6])) / h - f_slope) / 3
    lq = singular_lq(Section(xi(X), xi_slope(X), rate(X), y[:6], M, 0 * M, force(X, y[:6]), f_slope))
    assert np.allclose(lq.second_derivative(u(X)[:3], y[6:12], y[12:]), second, atol=1e-7)
    assert np.allclose(lq.control(second, y[6:12], y[12:]), u(X)[:3], atol=1e-4)


@pytest.mark.parametrize("radius", [0.1, 0.01, 0.001])
def test_singular_lq_is_ill_conditioned(radius):
    area, second = np.pi * radius**2, np.pi * radius**4 / 4
    M = 1000 * np.array([2 * second, second, second, area, area, area])
    straight = np.array([0, 0, 0, 1.0, 0, 0])
    zero = np.zeros(6)
    lq = singular_lq(Section(straight, zero, zero, zero, M, zero, zero, zero))
    assert growth_rate(lq) == pytest.approx(2 / radius, rel=1e-6)  # sqrt(A / I)
    norms = riccati_growth(lq, 0.4, 4000)
    if radius == 0.1:
        assert np.isfinite(norms[-1])
        grown = np.log(norms[-1] / norms[-1001]) / 0.1
        assert grown == pytest.approx(2 / radius, rel=0.05)
    if radius == 0.001:
        assert np.isinf(norms[-1])  # exp(800)
