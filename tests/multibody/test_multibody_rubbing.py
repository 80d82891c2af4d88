"""Friction of tendons: closed forms of capstans, hysteresis, and energy that is only taken."""

import numpy as np
import pytest

import anguilla as ag

RUBBER = ag.Material(young=1e6, poisson=0.45, density=1000.0)


def two_discs(mu, stiffness=200.0, damping=4.0, mass=0.05):
    """A line from the ground over two fixed points, turning by 60 and 90 degrees, to a sledge on a spring."""
    robot = ag.Robot("discs", gravity=(0, 0, 0))
    ground = robot.ground
    first, second = ground.offset_by((0.1, 0, 0)), ground.offset_by((0.15, 0.05 * np.sqrt(3), 0))
    away = np.array([-np.sqrt(3) / 2, 0.5, 0.0])  # across the way from the first point to the second
    slide = ag.Prismatic(tuple(away), stiffness=stiffness, damping=damping)
    sledge = robot.add(ag.RigidBody.sphere(0.005, mass=mass), at=second.offset_by(tuple(0.1 * away)), joint=slide)
    robot.actuate("pull", ag.Tendon([ground, first, second, sledge.frame], [], friction=mu))
    return robot


TURNED = np.radians(150.0)


@pytest.mark.parametrize("mu", [0.0, 0.2, 0.7])
def test_a_line_over_two_discs(mu):
    """What is left is exp(-mu x 150 degrees) of the tension, and pulls the sledge against its spring."""
    eq = ag.statics(two_discs(mu), inputs={"pull": 3.0})
    assert eq.q[0] == pytest.approx(-3.0 * np.exp(-mu * TURNED) / 200.0, rel=1e-10)


def test_a_line_over_two_discs_is_drawn_in_and_let_out():
    """A loop of hysteresis: exp(-mu theta) of the tension on the way in, exp(+mu theta) on the way out."""
    mu, robot = 0.1, two_discs(0.1)
    wave = lambda t: 3.0 + 1.5 * np.sin(np.pi * t)
    held = ag.statics(robot, inputs={"pull": 3.0})
    run = ag.simulate(robot, duration=2.5, dt=1e-3, inputs={"pull": wave}, start=held)
    left = -(200.0 * run.q[:, 0] + 4.0 * run.v[:, 0]) / wave(run.t)  # spring and damper of the slide
    inward, outward = (run.t > 0.25) & (run.t < 0.45), (run.t > 1.3) & (run.t < 1.45)
    np.testing.assert_allclose(left[inward], np.exp(-mu * TURNED), rtol=5e-3)
    np.testing.assert_allclose(left[outward], np.exp(mu * TURNED), rtol=5e-3)
    np.testing.assert_allclose(left[(run.t > 2.25) & (run.t < 2.45)], np.exp(-mu * TURNED), rtol=5e-3)


KEPT = 0.5 * 1e-3 * 0.4  # [m] energy that bristles keep and give back is this x friction x tension x turned angle


def arm(friction, modes=4, **options):
    robot = ag.Robot("arm", gravity=(0, 0, 0))
    rod = robot.add(ag.Rod(0.4, ag.Circle(0.01), RUBBER, ag.planar(modes)), at=robot.ground, name="rod")
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=0.006), friction=friction, **options))
    return robot


def test_a_capstan_along_a_rod():
    """At rest under a tension: exp(-mu x angle turned by then) of it bends the rod at every section."""
    robot = arm(0.3, modes=8)
    eq = ag.statics(robot, inputs={"pull": 8.0})
    rod = robot.parts[0]
    X = np.linspace(0.0, 0.4, 201)
    bend = eq.strain(rod, X)[:, 2]
    turned = np.concatenate([[0.0], np.cumsum(0.5 * np.abs(bend[1:] + bend[:-1]) * np.diff(X))])
    EI = 1e6 * np.pi * 0.01**4 / 4
    np.testing.assert_allclose(np.abs(bend), 0.006 * 8.0 * np.exp(-0.3 * turned) / EI, rtol=5e-3)
    assert turned[-1] > 1.5


def test_a_capstan_along_an_arc():
    """A rod of one curvature: the mean over its length of exp(-mu x angle turned by then) of the tension bends it."""
    robot, mu = ag.Robot("arc", gravity=(0, 0, 0)), 0.3
    rod = robot.add(ag.Rod(0.4, ag.Circle(0.01), RUBBER, ag.planar(1), intervals=6), at=robot.ground)
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=0.006), friction=mu))
    turned = 0.4 * abs(ag.statics(robot, inputs={"pull": 8.0}).strain(rod, [0.2])[0, 2])
    moment = 1e6 * np.pi * 0.01**4 / 4 * turned / 0.4
    assert moment == pytest.approx(0.006 * 8.0 * -np.expm1(-mu * turned) / (mu * turned), rel=1e-7)
    assert turned > 1.5


@pytest.mark.parametrize("dt", [0.005, 0.001])
def test_a_rod_at_rest_stays_there(dt):
    robot = arm(0.3)
    held = ag.statics(robot, inputs={"pull": 8.0})
    run = ag.simulate(robot, duration=5.0, dt=dt, inputs={"pull": 8.0}, start=held)
    assert np.abs(run.q - held.q).max() < 1e-7 * np.abs(held.q).max()


def test_friction_only_takes_energy():
    """Elastic, kinetic and -T x line drawn in: what a rod under constant tension keeps, friction lowers and never raises."""
    for seed in range(3):
        robot = arm(0.3)
        rng = np.random.default_rng(seed)
        held = ag.statics(robot, inputs={"pull": 8.0})
        start = held.q, 30.0 * rng.normal(size=robot.size)
        run = ag.simulate(robot, duration=3.0, dt=1e-3, inputs={"pull": 8.0}, start=start)
        total = run.energy["total"] + 8.0 * run.length("pull")
        swing = run.energy["kinetic"].max()
        assert np.max(total - np.minimum.accumulate(total)) < KEPT * 0.3 * 8.0 * 2.0
        assert total[-1] < total[0] - 0.5 * swing
        frictionless = ag.simulate(arm(0.0), duration=3.0, dt=1e-3, inputs={"pull": 8.0}, start=start)
        kept = frictionless.energy["total"] + 8.0 * frictionless.length("pull")
        assert np.ptp(kept) < 0.02 * swing


def test_random_pulls_never_give_back_more_than_they_gave():
    """The work of the drawn end covers what is stored and moves, at every instant."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        robot = arm(0.4)
        knots = 4.0 + 3.0 * rng.uniform(-1.0, 1.0, 12)
        pull = lambda t, knots=knots: float(np.interp(t, np.linspace(0.0, 2.0, 12), knots))
        run = ag.simulate(
            robot, duration=2.0, dt=1e-3, inputs={"pull": pull}, start=ag.statics(robot, inputs={"pull": knots[0]})
        )
        T, drawn = np.array([pull(t) for t in run.t]), -np.diff(run.length("pull"))
        work = np.concatenate([[0.0], np.cumsum(0.5 * (T[1:] + T[:-1]) * drawn)])
        lost = work - (run.energy["total"] - run.energy["total"][0])
        assert np.max(np.maximum.accumulate(lost) - lost) < KEPT * 0.4 * 7.0 * 2.0
        assert lost[-1] > 3.0 * KEPT * 0.4 * 7.0 * 2.0


@pytest.mark.parametrize(
    "method", [ag.GeneralisedAlpha(0.9), ag.Midpoint(), ag.Newmark()], ids=["alpha", "mid", "newmark"]
)
def test_friction_converges_with_the_step(method):
    robot = arm(0.3, modes=2)
    pull = lambda t: 6.0 + 2.0 * np.sin(8.0 * t)
    start = ag.statics(robot, inputs={"pull": 6.0})
    ends = [
        ag.simulate(robot, duration=1.0, dt=dt, inputs={"pull": pull}, start=start, method=method).q[-1]
        for dt in (4e-3, 2e-3, 2.5e-4)
    ]
    size = np.abs(ends[-1]).max()
    assert np.abs(ends[0] - ends[2]).max() < 0.02 * size
    assert np.abs(ends[1] - ends[2]).max() < 0.01 * size


def test_a_stepper_and_a_batch_remember_the_line():
    robot = arm(0.3)
    start = ag.statics(robot, inputs={"pull": 8.0})
    start = start.q, 1.0 * np.ones(robot.size)
    run = ag.simulate(robot, duration=0.2, dt=2e-3, inputs={"pull": 8.0}, start=start)
    stepper = ag.Stepper(robot, dt=2e-3, inputs={"pull": 8.0}, start=start)
    for _ in range(100):
        stepper.step()
        stepper.position(robot.parts[0].tip)
    np.testing.assert_array_equal(stepper.q, run.q[-1])
    pair = ag.simulate_batch(robot, duration=0.2, dt=2e-3, inputs=[{"pull": 8.0}] * 2, starts=[start, start])
    for one in pair:
        np.testing.assert_array_equal(one.q, run.q)


def test_explicit_steps_refuse_friction():
    with pytest.raises(ag.DescriptionError, match="friction"):
        ag.simulate_explicit(arm(0.1), duration=0.1, dt=0.01, inputs={"pull": 1.0})


def test_equilibria_one_after_the_other_go_through_the_loop_of_a_capstan():
    """Drawn in, exp(-mu theta) of the tension is left; let out, exp(+mu theta), as soon as bristles have turned over."""
    mu, robot, left = 0.1, two_discs(0.1), []
    pulls = [3.0, 4.5, 4.4, 3.0, 1.5, 1.6, 3.0, 4.5]
    eq = None
    for pull in pulls:
        eq = ag.statics(robot, inputs={"pull": pull}, start=eq)
        left.append(-200.0 * eq.q[0] / pull)
    inward, outward = np.exp(-mu * TURNED), np.exp(mu * TURNED)
    np.testing.assert_allclose(np.array(left)[[0, 1, 7]], inward, rtol=1e-6)
    assert left[6] == pytest.approx(inward, rel=2e-3)  # bristles have nearly turned over
    assert left[4] == pytest.approx(outward, rel=1e-6)
    assert all(inward < left[k] < outward for k in (2, 3, 5))  # held: little moves where it turns round
    assert left[2] == pytest.approx(left[1] * 4.5 / 4.4, rel=0.02)
    assert "one of many" in eq.status.message


def test_equilibria_of_a_rod_let_out_have_the_other_capstan():
    robot = arm(0.3, modes=8)
    drawn = ag.statics(robot, inputs={"pull": 8.0})
    out = ag.statics(robot, inputs={"pull": 3.0}, start=drawn)
    rod, X = robot.parts[0], np.linspace(0.0, 0.4, 201)
    bend = out.strain(rod, X)[:, 2]
    turned = np.concatenate([[0.0], np.cumsum(0.5 * np.abs(bend[1:] + bend[:-1]) * np.diff(X))])
    EI = 1e6 * np.pi * 0.01**4 / 4
    near = X < 0.2  # the line slides little by the tip, and bristles have not turned over there
    np.testing.assert_allclose(np.abs(bend[near]), 0.006 * 3.0 * np.exp(0.3 * turned[near]) / EI, rtol=5e-3)
    assert np.abs(ag.statics(robot, inputs={"pull": 3.0}).q - out.q).max() > 0.1 * np.abs(out.q).max()


def test_equilibria_on_a_path_are_those_of_a_slow_motion():
    robot = arm(0.3, modes=2)
    robot.parts[0].rod.material = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=0.5)
    knots = [8.0, 3.0, 5.0, 4.0]
    drawn = ag.statics(robot, inputs={"pull": knots[0]})
    path, eq = [], drawn
    for pull in knots[1:]:
        eq = ag.statics(robot, inputs={"pull": pull}, start=eq)
        path.append(eq.q)
    times, pulls = [0.0, 25.0, 30.0, 55.0, 60.0, 85.0], np.repeat(knots, 2)[1:7]
    slow = ag.simulate(
        robot, duration=90.0, dt=0.02, start=drawn, inputs={"pull": lambda t: float(np.interp(t, times, pulls))}
    )
    for k, q in enumerate(path):
        np.testing.assert_allclose(q, slow.q[1499 * (k + 1)], atol=5e-3 * np.abs(q).max())


def test_equilibria_go_on_from_a_motion():
    """Let out from 4 N to 2 N in a slow motion: exp(+mu theta) is left, not exp(-mu theta)."""
    mu, robot = 0.1, two_discs(0.1)
    slow = lambda t: 4.0 * min(t / 0.5, 1.0) - 2.0 * max(min(t - 1.0, 1.0), 0.0)
    run = ag.simulate(robot, duration=3.0, dt=2e-3, inputs={"pull": slow})
    eq = ag.statics(robot, inputs={"pull": 2.0}, start=run)
    assert eq.q[0] == pytest.approx(-2.0 * np.exp(mu * TURNED) / 200.0, rel=1e-2)
    assert eq.q[0] == pytest.approx(run.q[-1, 0], rel=1e-6)


def test_a_loop_takes_energy_and_a_motion_goes_on_from_it():
    robot = arm(0.3, modes=3)
    start = eq = ag.statics(robot, inputs={"pull": 6.0})
    pulls = [*np.linspace(6.0, 2.0, 11), *np.linspace(2.0, 6.0, 11)]
    for _ in range(2):  # the second time it closes
        before, lengths = eq, []
        for pull in pulls:
            eq = ag.statics(robot, inputs={"pull": pull}, start=eq)
            lengths.append(eq.length("pull"))
    np.testing.assert_allclose(eq.q, before.q, atol=1e-3 * np.abs(eq.q).max())
    assert -float(np.trapezoid(pulls, lengths)) > 0.1 * 6.0 * np.ptp(lengths)
    half = ag.statics(robot, inputs={"pull": 4.0}, start=start)
    run = ag.simulate(robot, duration=1.0, dt=5e-3, inputs={"pull": 4.0}, start=half)
    assert np.abs(run.q - half.q).max() < 1e-6 * np.abs(half.q).max()


@pytest.mark.parametrize("compliance", [0.0, 1e-4])
def test_tendons_of_given_length_remember_too(compliance):
    robot = arm(0.3, modes=3, by="length", compliance=compliance)
    eq = ag.statics(robot, inputs={"pull": 0.395})
    tense = eq.tension("pull")
    back = ag.statics(robot, inputs={"pull": 0.397}, start=eq)
    fresh = ag.statics(robot, inputs={"pull": 0.397})
    assert back.tension("pull") < 0.95 * fresh.tension("pull") < tense
