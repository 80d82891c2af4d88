"""Impacts that are shorter than a time step: closed forms of what bounces, slides and hits, at any dt."""

import warnings

import numpy as np
import pytest

import anguilla as ag

G = 9.81
MASS, RADIUS = 0.2, 0.05
FLOOR = ag.HalfSpace((0, 0, 1), 0.0)


def ball(obstacle=FLOOR, stiffness=1e6, gravity=(0, 0, -G), radius=RADIUS, mass=MASS, **options):
    robot = ag.Robot("ball", gravity=gravity)
    body = robot.add(ag.RigidBody.sphere(radius, mass=mass), at=robot.ground, joint=ag.Free(), name="ball")
    robot.load(ag.Contact(body, obstacle, stiffness, **options))
    return robot


def state(*values):
    return np.concatenate([values, np.zeros(6 - len(values))])


def heights(run):
    """Highest points above the floor between bounces [m], from parabolas through the stored states."""
    z, v = run.q[:, 2] - RADIUS, run.v[:, 2]
    tops = np.flatnonzero((v[:-1] > 0.0) & (v[1:] <= 0.0))
    return (z + v**2 / (2 * G))[tops]


# heights are what matters here; what a scheme that damps loses in an impact puts the next ones off in time, and it says so
@pytest.mark.filterwarnings("ignore:The time steps of 'ball':anguilla.errors.AnguillaWarning")
@pytest.mark.parametrize("dt", [1e-2, 3e-3, 1e-3, 3e-4])
@pytest.mark.parametrize(
    "method",
    [ag.GeneralisedAlpha(0.9), ag.Newmark(), ag.Midpoint(), ag.HHT(-0.05), ag.GeneralisedAlpha(0.5)],
    ids=["alpha", "newmark", "midpoint", "hht", "damped"],
)
def test_a_ball_returns_to_its_height(method, dt):
    """Without damping it loses nothing: an impact of pi sqrt(m/k) = 1.4 ms, in steps of up to seven times that."""
    run = ag.simulate(ball(), duration=2.4, dt=dt, start=state(0, 0, RADIUS + 0.5), method=method)
    tops = heights(run)
    assert len(tops) == 3
    lossy = {ag.HHT(-0.05): 0.03, ag.GeneralisedAlpha(0.5): 0.06}.get(method, 0.015)  # schemes that take energy
    assert np.all(tops < 1.015 * 0.5) and np.all(tops > (1.0 - lossy) * 0.5)
    np.testing.assert_allclose(run.q[:, :2], 0.0, atol=1e-12)


def test_bounces_converge_with_the_step():
    """The way of a ball over three bounces, against parabolas joined at the duration of an impact."""
    errors = []
    for dt in (1e-2, 1e-4, 1e-5):
        run = ag.simulate(ball(smooth=1e-6), duration=1.5, dt=dt, every=round(1e-2 / dt), start=state(0, 0, 0.55))
        errors.append(np.max(np.abs(run.q[:, 2] - _bouncing(run.t, 0.5))))
    assert errors[0] < 0.02 * 0.5 and errors[1] < 5e-3 * 0.5 and errors[2] < 2e-4 * 0.5


def _bouncing(t, height, stiffness=1e6):
    """Centre of a ball that falls on a linear spring without loss [m]."""
    fall, speed, w = np.sqrt(2 * height / G), np.sqrt(2 * G * height), np.sqrt(stiffness / MASS)
    sag = G / w**2
    touch = 2 * (np.pi - np.arctan2(speed / w, sag))  # w x duration of contact
    t = np.mod(t + fall, 2 * fall + touch / w)  # from the last start upwards
    inside = t - 2 * fall
    below = -sag + sag * np.cos(w * inside) - speed / w * np.sin(w * inside)
    return RADIUS + np.where(inside < 0.0, speed * t - G * t**2 / 2, below)


@pytest.mark.filterwarnings(
    "ignore:The time steps of 'ball':anguilla.errors.AnguillaWarning"
)  # heights matter here too
@pytest.mark.parametrize("dt", [1e-2, 3e-3, 1e-3])
def test_restitution_does_not_depend_on_the_step(dt):
    """What hits at v0 with a damping c leaves with v1: v0/c - ln(1 + c v0)/c^2 = v1^2/2 + c v1^3/3 + c^2 v1^4/4."""
    c, v0 = 0.1, np.sqrt(2 * G * 0.5)
    lost = v0 / c - np.log1p(c * v0) / c**2
    v1 = np.roots([c**2 / 4, c / 3, 0.5, 0.0, -lost])
    v1 = float(v1[(np.abs(v1.imag) < 1e-12) & (v1.real > 0)].real[0])
    run = ag.simulate(ball(damping=c), duration=1.2, dt=dt, start=state(0, 0, RADIUS + 0.5))
    assert heights(run)[0] == pytest.approx(v1**2 / (2 * G), rel=0.02)


@pytest.mark.parametrize("dt", [1e-2, 2e-3])
def test_a_sliding_ball_ends_rolling(dt):
    """At 5/7 of its speed, whatever the friction, though it starts in the air by a fraction of its depth."""
    robot = ball(stiffness=1e5, damping=1.0, friction=0.3)
    start = state(0, 0, RADIUS - MASS * G / 1e5), state(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = ag.simulate(robot, duration=0.4, dt=dt, start=start)
    assert run.v[-1, 0] == pytest.approx(5 / 7, rel=1e-4)
    assert run.v[-1, 4] * RADIUS == pytest.approx(5 / 7, rel=1e-4)
    assert run.energy["kinetic"].max() < 1.001 * run.energy["kinetic"][0]


def test_a_fast_ball_bounces_though_most_of_its_energy_goes_sideways():
    """100 m/s along the floor hold a thousand times the energy of the bounce."""
    run = ag.simulate(ball(stiffness=1e5), duration=1.5, dt=1e-2, start=(state(0, 0, 0.55), state(100.0)))
    np.testing.assert_allclose(heights(run), 0.5, rtol=0.02)
    np.testing.assert_allclose(run.v[:, 0], 100.0, rtol=1e-9)


@pytest.mark.parametrize("dt", [2e-3, 5e-4, 1e-4])
@pytest.mark.parametrize("kind", ["pillar", "sphere"])
def test_a_thin_peg_sends_a_fast_ball_back(kind, dt):
    """In a step of 2 ms the ball goes 20 mm, four times its distance from the peg when they touch."""
    peg = ag.Pillar((0, 0, 0), (0, 1, 0), 0.002) if kind == "pillar" else ag.Sphere((0, 0, 0), 0.002)
    robot = ball(peg, gravity=(0, 0, 0), radius=0.003, mass=0.01)
    run = ag.simulate(robot, duration=0.02, dt=dt, start=(state(-0.1), state(10.0)))
    assert run.v[-1, 0] == pytest.approx(-10.0, rel=0.01)
    gap, w = 0.1 - 0.005, np.sqrt(1e6 / 0.01)  # there and back, and half a period of the contact between
    assert run.q[-1, 0] == pytest.approx(-0.005 - 10.0 * (0.02 - gap / 10.0 - np.pi / w), abs=1e-3)


def test_a_rod_dropped_flat_does_not_gain():
    """All its nodes hit at once, and ring afterwards."""
    material = ag.Material(young=1e7, poisson=0.45, density=1000.0)
    robot = ag.Robot("rod")
    rod = ag.Rod(0.4, ag.Circle(0.01), material, ag.Strains(bend_y=4), intervals=12)
    part = robot.add(rod, at=robot.ground.offset_by((0, 0, 0.11)), joint=ag.Free(), name="rod")
    robot.load(ag.Contact(part, FLOOR, 1e6))
    for dt in (5e-3, 1e-3):
        run = ag.simulate(robot, duration=0.5, dt=dt)
        energy = run.energy["total"] - 0.4 * 1000 * np.pi * 1e-4 * G * 0.01
        assert energy.max() < 1.03 * energy[0]
        assert energy[-1] > 0.9 * energy[0]


def test_resting_and_sliding_are_not_cut():
    """A stiff floor under a ball at rest, or sliding on it: no step is cut, though dt is far too long for it."""
    depth = MASS * G / 1e7 + 0.5e-8
    for speed, friction in ((0.0, 0.0), (2.0, 0.0), (4.0, 0.1)):
        robot = ball(stiffness=1e7, friction=friction, smooth=1e-8)
        run = ag.simulate(robot, duration=0.6, dt=3e-3, start=(state(0, 0, RADIUS - depth), state(speed)))
        assert run.status.counters["substeps"] == 0


def test_a_stepper_bounces_as_simulate_does():
    robot, start = ball(), state(0, 0, RADIUS + 0.1)
    run = ag.simulate(robot, duration=0.5, dt=1e-2, start=start)
    stepper = ag.Stepper(robot, dt=1e-2, start=start)
    for _ in range(50):
        stepper.step()
        stepper.position(robot.parts[0].frame)  # looking at it does not disturb it
    np.testing.assert_array_equal(stepper.q, run.q[-1])
    np.testing.assert_array_equal(stepper.v, run.v[-1])
    assert run.status.counters["substeps"] > 20


def test_a_batch_bounces_as_simulate_does():
    starts = [state(0, 0, RADIUS + h) for h in (0.1, 0.3, 0.2)]
    runs = ag.simulate_batch(ball(), duration=0.6, dt=1e-2, starts=starts)
    for run, start in zip(runs, starts, strict=True):
        np.testing.assert_array_equal(run.q, ag.simulate(ball(), duration=0.6, dt=1e-2, start=start).q)


def test_a_checkpoint_in_the_middle_of_a_bounce(tmp_path):
    robot, start = ball(), state(0, 0, RADIUS + 0.1)
    run = ag.simulate(robot, duration=0.5, dt=1e-2, start=start)
    kept = ag.simulate(robot, duration=0.5, dt=1e-2, start=start, checkpoint=tmp_path / "bounce")
    np.testing.assert_array_equal(kept.q, run.q)


def test_steps_that_adapt_themselves_bounce_too():
    run = ag.simulate(ball(), duration=1.0, dt=1e-2, start=state(0, 0, RADIUS + 0.5), error=1e-2)
    np.testing.assert_allclose(heights(run), 0.5, rtol=0.02)


def test_gradients_refuse_steps_that_were_cut():
    robot = ball()
    run = ag.simulate(robot, duration=0.5, dt=1e-2, start=state(0, 0, RADIUS + 0.1))
    with pytest.raises(ag.DescriptionError, match="no step cut"):
        ag.gradient(run, ag.Reach(robot.parts[0].frame, (0, 0, 0.1)))
