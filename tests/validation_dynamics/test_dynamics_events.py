"""Jumps of loads inside a motion: found, stepped onto, and passed at second order."""

from functools import partial

import numpy as np
import pytest

import anguilla as ag
from anguilla.model.model import Model
from anguilla.solve.steps.events import Jump, find_jumps, place
from anguilla.solve.steps.named import named_instants

SILICONE = ag.Material(young=4e5, poisson=0.5, density=1070, damping=0.03)


def readme_arm(force):
    """The arm of the README, with any force at its tip."""
    robot = ag.Robot("arm")
    rod = ag.Rod(length=0.4, section=ag.Circle(radius=0.012), material=SILICONE, strains=ag.kirchhoff(modes=4))
    arm = robot.add(rod, at=robot.ground)
    robot.load(ag.TipWrench(arm, force=force))
    return robot, arm


def release(at, closed=False):
    """A force that goes at an instant; `closed` if it still acts then."""
    return lambda t: (0, 0.3, 0.6) if t < at or (closed and t == at) else (0, 0, 0)


@pytest.mark.parametrize("closed", [False, True])
def test_readme_example_is_right_at_its_own_step(closed):
    robot, arm = readme_arm(release(0.5, closed))
    held = ag.statics(robot)
    first = ag.simulate(readme_arm((0, 0.3, 0.6))[0], duration=0.5, dt=0.01, start=held)
    free, tip = readme_arm((0, 0, 0))
    fine = ag.simulate(free, duration=1.5, dt=0.01 / 16, every=16, start=first)  # no jump inside: two runs
    run = ag.simulate(robot, duration=2.0, dt=0.01, start=held)
    error = np.linalg.norm(run.position(arm.tip)[50:] - fine.position(tip.tip), axis=1)
    assert run.status.counters["events"] == 1
    assert np.max(error) < 0.005 * 0.4
    two = ag.simulate(free, duration=1.5, dt=0.01, start=first)
    np.testing.assert_allclose(run.q[50:], two.q, atol=1e-9)  # the same as two runs


def test_second_order_with_a_jump_between_two_steps():
    robot, arm = readme_arm(release(0.2137))
    held = ag.statics(robot)
    fine = ag.simulate(robot, duration=0.6, dt=0.02 / 64, every=64, start=held).position(arm.tip)
    runs = [ag.simulate(robot, duration=0.6, dt=0.02 / n, every=n, start=held) for n in (1, 2, 4)]
    error = [np.max(np.linalg.norm(run.position(arm.tip) - fine, axis=1)) for run in runs]
    assert error[0] / error[1] > 3.3
    assert error[1] / error[2] > 3.3


def test_many_jumps_gravity_inputs_and_efforts():
    robot = ag.Robot("switched", gravity=lambda t: (0, 0, -9.81) if t < 0.05 else (0, 0, 0))
    arm = robot.add(
        ag.Rod(0.3, ag.Circle(0.01), SILICONE, ag.kirchhoff(3)), at=robot.ground,
        joint=ag.Revolute((0, 1, 0), stiffness=1.0, effort=lambda t: 0.02 * (t > 0.0313)),
    )  # fmt: skip
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.007)))
    pull = {"pull": lambda t: 1.0 if 0.0312 <= t < 0.08 else 0.0}
    fine = ag.simulate(robot, duration=0.1, dt=0.0001, every=50, inputs=pull)
    run = ag.simulate(robot, duration=0.1, dt=0.005, inputs=pull)
    old = ag.simulate(robot, duration=0.1, dt=0.005, inputs=pull, events=[])
    error = [np.max(np.abs(other.position(arm.tip) - fine.position(arm.tip))) for other in (run, old)]
    assert run.status.counters["events"] == 4
    assert error[0] < 0.05 * error[1]


def test_declared_events_do_what_found_ones_do():
    robot, _ = readme_arm(release(0.2137))
    found = ag.simulate(robot, duration=0.4, dt=0.01)
    declared = ag.simulate(robot, duration=0.4, dt=0.01, events=[0.2137])
    np.testing.assert_allclose(declared.q, found.q, atol=1e-10)
    with pytest.raises(ag.DescriptionError, match="events must lie between 0 and the duration"):
        ag.simulate(robot, duration=0.4, dt=0.01, events=[0.5])


def test_a_user_load_jumps_where_declared():
    given, arm = readme_arm(release(0.1))
    mine = ag.Robot("arm")
    own = mine.add(arm.rod, at=mine.ground)
    mine.load(ag.UserLoad(own.tip, lambda motion, t: (0, 0, 0, *release(0.1)(t))))
    one = ag.simulate(given, duration=0.2, dt=0.01)
    two = ag.simulate(mine, duration=0.2, dt=0.01, events=[0.1])
    np.testing.assert_allclose(two.q, one.q, atol=1e-7)


def test_error_controlled_steps_land_on_jumps():
    robot, arm = readme_arm(release(0.1037))
    fine = ag.simulate(robot, duration=0.2, dt=0.0002, every=50)
    run = ag.simulate(robot, duration=0.2, dt=0.01, error=1e-6)
    assert np.max(np.abs(run.position(arm.tip) - fine.position(arm.tip))) < 2e-5
    across = ag.simulate(robot, duration=0.2, dt=0.01, error=1e-6, events=[])
    assert run.status.counters["substeps"] < across.status.counters["substeps"]


@pytest.mark.parametrize("at", [0.0, 0.05, 0.0537])
def test_midpoint_and_a_jump(at):
    robot, arm = readme_arm(release(at, closed=True))
    held = ag.statics(robot)
    fine = ag.simulate(robot, duration=0.2, dt=0.0002, every=50, start=held)
    run = ag.simulate(robot, duration=0.2, dt=0.01, start=held, method="midpoint")
    assert np.max(np.abs(run.position(arm.tip) - fine.position(arm.tip))) < 0.005 * 0.4


def parallel_arms(force):
    """Two rods joined at their tips by a plate: a loop."""
    robot = ag.Robot("pair")
    rod = ag.Rod(0.3, ag.Circle(0.006), SILICONE, ag.extensible_kirchhoff(3))
    one = robot.add(rod, at=robot.ground)
    two = robot.add(rod, at=robot.ground.offset_by((0, 0.1, 0)))
    plate = robot.add(ag.RigidBody.box((0.02, 0.12, 0.02), mass=0.02), at=one.tip)
    robot.close(plate.at((0, 0.1, 0)), two.tip)
    robot.load(ag.Wrench(plate.frame, force=force))
    return robot, plate


def test_a_loop_and_a_jump():
    robot, plate = parallel_arms(lambda t: (0, 0, 0.05) if t < 0.1 else (0, 0, 0))
    held = ag.statics(robot)
    fine = ag.simulate(robot, duration=0.3, dt=0.0005, every=20, start=held)
    run = ag.simulate(robot, duration=0.3, dt=0.01, start=held)
    old = ag.simulate(robot, duration=0.3, dt=0.01, start=held, events=[])
    error = [np.max(np.abs(other.position(plate.frame) - fine.position(plate.frame))) for other in (run, old)]
    assert error[0] < 0.3 * error[1]


class _StopError(Exception):
    pass


@pytest.mark.parametrize("stop", [9, 10, 11, 21])
def test_a_checkpoint_goes_on_bit_identical(tmp_path, monkeypatch, stop):
    from anguilla.solve.steps import marching

    robot, _ = readme_arm(lambda t: (0, 0.3, 0.6) if t < 0.1 else (0, 0, 0.1) if t < 0.2137 else (0, 0, 0))
    whole = ag.simulate(robot, duration=0.4, dt=0.01)
    file = tmp_path / "run.checkpoint"
    across, count = marching.across, [0]

    def failing(m, step, *rest):
        if step >= stop and count[0] == 0:
            count[0] = 1
            raise _StopError
        return across(m, step, *rest)

    monkeypatch.setattr(marching, "across", failing)
    with pytest.raises(_StopError):
        ag.simulate(robot, duration=0.4, dt=0.01, checkpoint=file)
    assert file.exists()
    again = ag.simulate(robot, duration=0.4, dt=0.01, checkpoint=file)
    assert np.array_equal(again.q, whole.q)
    assert np.array_equal(again.v, whole.v)


def test_stored_instants_stay_the_grid():
    robot, _ = readme_arm(release(0.1037))
    run = ag.simulate(robot, duration=0.4, dt=0.01, every=4)
    whole = ag.simulate(robot, duration=0.4, dt=0.01)
    np.testing.assert_allclose(run.t, 0.04 * np.arange(11), atol=1e-15)
    assert np.array_equal(run.q, whole.q[::4])


def test_accelerations_of_a_loop_at_a_jump_are_those_of_the_loads_read_there():
    for closed in (False, True):
        robot, _ = parallel_arms(lambda t, closed=closed: (0, 0, 0.05 * (t < 0.1 or (closed and t == 0.1))))
        run = ag.simulate(robot, duration=0.2, dt=0.01, start=ag.statics(robot))
        left = run.system.residual(run.q[10], run.v[10], run.a[10], t=run.t[10], multipliers=run.multipliers[10])
        assert np.max(np.abs(left)) < 1e-4 * 0.05


def test_gradients_of_a_motion_with_jumps_are_refused():
    robot, arm = readme_arm(release(0.1))
    run = ag.simulate(robot, duration=0.2, dt=0.01)
    with pytest.raises(ag.DescriptionError, match=r"events=\[\]"):
        ag.gradient(run, ag.Reach(arm.tip, (0.3, 0, 0)))


def test_imposed_positions_that_jump_are_refused_and_velocities_said():
    robot = ag.Robot("swing")
    rod = ag.Rod(0.3, ag.Circle(0.01), SILICONE, ag.kirchhoff(2))
    robot.add(rod, at=robot.ground, joint=ag.Revolute((0, 1, 0), motion=lambda t: 0.5 * (t > 0.1)), name="whip")
    with pytest.raises(ag.DescriptionError, match=r"whip.*jumps at t = 0\.1 s"):
        ag.simulate(robot, duration=0.2, dt=0.01)
    robot = ag.Robot("swing")
    ramp = (lambda t: max(0.0, t - 0.1), lambda t: float(t > 0.1), lambda t: 0.0)
    robot.add(rod, at=robot.ground, joint=ag.Revolute((0, 1, 0), motion=ramp), name="whip")
    with pytest.warns(ag.AnguillaWarning, match=r"velocity of whip.* jumps at t = 0\.1 s"):
        ag.simulate(robot, duration=0.2, dt=0.01)


# The detector alone -----------------------------------------------------------------------------------------------------


def detected(signal, dt=0.01, end=1.0):
    """Jumps of a signal, and how often it was asked for."""
    asked = []

    def sample(times):
        asked.append(len(times))
        return np.array([[signal(t)] for t in times.tolist()])

    t = dt * np.arange(round(end / dt) + 1)
    found = find_jumps(sample, t, sample(t))
    return [(before, after) for before, after, _ in found], sum(asked) - len(t)


@pytest.mark.parametrize(
    "signal",
    [
        lambda t: np.sin(2 * np.pi * 5 * t),
        lambda t: np.tanh((t - 0.4321) / 1e-4),  # steep, far below a step
        lambda t: np.tanh((t - 0.4321) / 1e-6),
        lambda t: abs(t - 0.377),
        lambda t: min(max((t - 0.4) / 1e-3, 0.0), 1.0),  # a ramp within a step
        lambda t: np.exp(-t / 1e-3),
        lambda t: np.interp(t, [0.0, 0.3, 0.31, 1.0], [0.0, 0.0, 1.0, 0.0]),
        lambda t: 3.0,
        lambda t: 1e-14 * np.sin(1e5 * t) + 1.0,
    ],
)
def test_smooth_and_kinked_signals_have_no_jumps(signal):
    found, asked = detected(signal)
    assert found == []
    assert asked < 200


def test_jumps_are_found_where_they_are():
    for at in (0.0, 0.3, 0.34567, 0.9999):
        for closed in (False, True):
            found, asked = detected(lambda t, at=at, closed=closed: np.sin(t) + (t < at or (closed and t == at)))
            if at == 0.0 and not closed:
                assert found == []  # before the motion
                continue
            ((before, after),) = found
            assert before <= at <= after
            assert after - before < 2e-11
            assert asked < 200
    pulse, _ = detected(lambda t: float(0.5 <= t < 0.51))  # one sample
    assert len(pulse) == 2
    held, asked = detected(lambda t: np.random.default_rng(round(t / 0.01 - 0.5 + 1e-9)).normal(), dt=0.01)
    assert len(held) > 75  # another value in every step; changes like those beside them hide
    assert asked < 20 * 100
    rng = np.random.default_rng(1)
    assert detected(lambda t: rng.normal())[0] == []  # noise: no function of t


def test_jumps_are_placed_among_steps():
    jumps = place([(0.0999999999, 0.1), (0.1, 0.1000000001), (0.25 - 1e-12, 0.25), (0.0, 1e-12), (1.0, 1.0)], 0.1, 10)
    assert [jump.step for jump in jumps] == [-1, 0, 2, 9]
    assert jumps[1] == Jump(0, 0.1, 0.0999999999, 0.1000000001)
    assert jumps[2].at == pytest.approx(0.25, abs=1e-11)


def test_loads_are_not_sampled_more_than_needed():
    calls = [0]

    def force(t):
        calls[0] += 1
        return (0, 0.1 * np.sin(20 * t), 0)

    robot, _ = readme_arm(force)
    ag.simulate(robot, duration=1.0, dt=0.001, start=np.zeros(Model(robot).size))
    assert calls[0] < 1250  # a few per cent more, for the judge


# Prescribed motions and the midpoint rule -----------------------------------------------------------------------------------


def whip():
    robot = ag.Robot("swing")
    rod = ag.Rod(0.3, ag.Circle(0.01), SILICONE, ag.kirchhoff(3))
    joint = ag.Revolute((0, 1, 0), motion=lambda t: 0.5 * np.sin(4 * t))
    return robot, robot.add(rod, at=robot.ground, joint=joint, name="whip")


def test_midpoint_imposes_motions_at_the_instants_that_are_stored():
    robot, rod = whip()
    fine = ag.simulate(robot, duration=0.25, dt=0.0005, every=10)
    run = ag.simulate(robot, duration=0.25, dt=0.005, method="midpoint")
    np.testing.assert_allclose(run.q[:, 0], 0.5 * np.sin(4 * run.t), atol=1e-12)
    np.testing.assert_allclose(run.v[:, 0], 2.0 * np.cos(4 * run.t), atol=1e-9)
    np.testing.assert_allclose(run.a[:, 0], -8.0 * np.sin(4 * run.t), atol=1e-5)
    assert np.max(np.abs(run.position(rod.tip) - fine.position(rod.tip))) < 2e-4
    assert np.max(np.abs(run.effort(rod) - fine.effort(rod))) < 0.02 * np.max(np.abs(fine.effort(rod)))


def test_stepper_checks_what_simulate_checks():
    robot, rod = whip()
    run = ag.simulate(robot, duration=0.05, dt=0.005, method="midpoint")
    stepper = ag.Stepper(robot, dt=0.005, method="midpoint")
    stepper.step(10)
    np.testing.assert_allclose(stepper.q, run.q[-1], atol=1e-14)
    np.testing.assert_allclose(stepper.position(rod.tip), run.position(rod.tip)[-1], atol=1e-14)
    looped, plate = parallel_arms((0, 0, 0.05))
    with pytest.raises(ag.DescriptionError, match="Midpoint supports open robots"):
        ag.Stepper(looped, dt=0.005, method="midpoint")
    looped.load(ag.Thruster(plate.frame, 1.0, 1.0))
    with pytest.raises(ag.DescriptionError, match="Midpoint does not support the integral"):
        ag.Stepper(looped, dt=0.005, method="midpoint")
    with pytest.warns(ag.AnguillaWarning, match="no numerical damping"):
        ag.Stepper(parallel_arms((0, 0, 0.05))[0], dt=0.005, method="newmark")


@pytest.mark.parametrize("motion", [lambda t: 7 * t, lambda t: np.sin(3 * t), lambda t: 1000 + t**3])
def test_rounding_in_the_rates_of_an_imposed_motion_is_no_jump(motion):
    robot = ag.Robot("crank")
    robot.add(ag.RigidBody.box((0.1,) * 3, mass=1.0), at=robot.ground, joint=ag.Revolute((0, 1, 0), motion=motion))
    assert "events" not in ag.simulate(robot, duration=1.0, dt=1e-3).status.counters


@pytest.mark.parametrize(
    ("begin", "duration", "dt"),
    [
        (2.0, 2.0, 4e-3),  # rates by differences look ahead of the end, and depended on what else was asked
        (0.6, 0.6, 2e-2),
        (0.41, 0.41, 1e-2),  # 41 steps end 6e-17 s later: a motion of 1e-48 rad
    ],
)
def test_a_smooth_motion_that_begins_where_the_run_ends_does_not_jump(begin, duration, dt):
    def smoothly(t):
        s = np.clip(t - begin, 0.0, 1.0)
        return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)

    robot = ag.Robot("crank")
    robot.add(ag.RigidBody.box((0.1,) * 3, mass=1.0), at=robot.ground, joint=ag.Revolute((0, 1, 0), motion=smoothly))
    assert "events" not in ag.simulate(robot, duration=duration, dt=dt).status.counters


BEGIN, LASTS = 0.101, 0.005


def smooth_blow(at):
    return lambda t: (0, 5.0 * np.sin(np.pi * np.clip((t - at) / LASTS, 0.0, 1.0)) ** 2, 0)


def hammered(force, dt):
    """Angle [rad] after 1 s of a bar on a hinge that is hit at its tip; dt = 20 ms steps from 0.1 s to 0.12 s."""
    robot = ag.Robot("bar", gravity=(0, 0, 0))
    bar = ag.RigidBody.box((0.2, 0.02, 0.03), mass=0.3, com=(0.1, 0.0, 0.0))
    body = robot.add(bar, at=robot.ground, joint=ag.Revolute((0, 0, 1)))
    robot.load(ag.Wrench(body.at((0.2, 0.0, 0.0)), force=force))
    return ag.simulate(robot, duration=1.0, dt=dt).q[-1, 0]


@pytest.mark.parametrize(
    "force",
    [
        lambda t: (0, 3.0, 0) if 0.101 < t < 0.106 else (0, 0, 0),
        lambda t: (0, 3.0, 0) if BEGIN < t < BEGIN + LASTS else (0, 0, 0),  # its end is named nowhere
    ],
)
def test_a_blow_between_two_steps_is_found_where_its_function_names_it(force):
    inertia = 0.3 * (0.2**2 + 0.02**2) / 12.0 + 0.3 * 0.1**2
    rate = 3.0 * 0.2 * 0.005 / inertia
    exact = rate * (1.0 - 0.1035)
    assert hammered(force, 0.02) == pytest.approx(exact, rel=1e-3)


@pytest.mark.parametrize("at", [0.1, BEGIN])
def test_a_smooth_blow_between_two_steps_is_told(at):
    with pytest.warns(
        ag.AnguillaWarning, match=r"around t = 0\.10\d* s is over between two steps.* dt well below 0\.02"
    ):
        assert hammered(smooth_blow(at), 0.02) < 1e-9
    assert hammered(smooth_blow(at), 0.0005) > 0.4  # steps that follow it are quiet


def test_instants_are_read_from_functions_of_all_kinds():
    def made(width):
        def pull(t, begin=0.3):
            return float(begin < t < begin + width or 0.55 < t < late)

        pull.__module__ = None  # as of code that was never imported
        return pull
        late = 0.0  # never reached: an empty cell

    system = ag.Model(readme_arm(lambda t: (0, 0, float(t > 0.41)))[0])
    inputs = {"a": made(0.0123), "b": partial(lambda t, at: t > at, at=0.25), "c": 0.77, "d": lambda t: t > BEGIN}
    assert named_instants(system, inputs, 0.5) == [0.0123, BEGIN, 0.25, 0.3, 0.41]
