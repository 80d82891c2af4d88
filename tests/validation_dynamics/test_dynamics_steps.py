"""Steps that adapt themselves, steps that are cut after a failure, storing and restarting, slow loads."""

from contextlib import nullcontext

import numpy as np
import pytest
from dynamics_oracles import exact_motion, order

import anguilla as ag

LENGTH, RADIUS = 0.3, 0.008


def soft(force=None, damping=0.0, young=4e5, strains=None, gravity=(0, -9.81, 0)):
    robot = ag.Robot(gravity=gravity)
    material = ag.Material(young=young, density=1000, poisson=0.45, damping=damping)
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), material, strains or ag.planar(3), intervals=10)
    arm = robot.add(rod, at=robot.ground)
    if force is not None:
        robot.load(ag.TipWrench(arm, force=force))
    return robot, arm


def late_blow(t):
    """Nothing but a slow push for 1.8 s, then a blow of 20 ms."""
    blow = np.sin(np.pi * (t - 1.8) / 0.02) ** 2 if 1.8 <= t <= 1.82 else 0.0
    return (0.0, 0.02 * (1.0 - np.cos(np.pi * t)) + 2.0 * blow, 0.0)


@pytest.fixture(scope="module")
def blow():
    """The rod, its duration and the true tip at eleven instants, the last of them in the fast phase."""
    robot, arm = soft(late_blow, damping=2e-3, gravity=(9.81, 0, 0))
    system = ag.Model(robot)
    times = np.linspace(0.0, 2.0, 11)
    zero = np.zeros(system.size)
    first = exact_motion(system, np.append(times[times < 1.8], 1.8), zero, zero, rtol=1e-8)
    at = first[-1]
    middle = exact_motion(system, np.array([1.8, 1.82]), at[:3], at[3:], rtol=1e-8)[-1]
    last = exact_motion(system, np.array([1.82, 2.0]), middle[:3], middle[3:], rtol=1e-8)[-1:]
    states = np.vstack([first, last])
    with (
        pytest.warns(ag.AnguillaWarning, match="time steps"),
        pytest.warns(ag.AnguillaWarning, match="between two steps"),
    ):
        run = ag.simulate(robot, duration=2.0, dt=0.2)
    exact = ag.Trajectory(robot, system, run.status, times, *(np.ascontiguousarray(states[:, :3]),) * 3)
    return robot, arm, exact.position(arm.tip)


def tip_error(run, arm, exact):
    return float(np.linalg.norm(run.position(arm.tip) - exact, axis=1).max() / LENGTH)


@pytest.mark.parametrize("goal", [1e-3, 1e-4, 1e-5])
def test_error_control_meets_its_goal(blow, goal):
    robot, arm, exact = blow
    run = ag.simulate(robot, duration=2.0, dt=0.2, error=goal, tolerance=1e-8)
    assert np.ptp(exact[:, 1]) > 0.2 * LENGTH
    # the goal is for one step; errors of all steps add up, and are damped
    assert tip_error(run, arm, exact) < 30 * goal


def test_error_control_takes_fewer_steps_than_equal_ones(blow):
    robot, arm, exact = blow
    adaptive = ag.simulate(robot, duration=2.0, dt=0.2, error=1e-4, tolerance=1e-8)
    error, taken = tip_error(adaptive, arm, exact), adaptive.status.counters["substeps"]
    fixed = {}
    for steps in (100, 200, 400, 800, 1600, 3200):
        unseen = steps == 100  # the blow fills one step, at whose ends it is zero
        with pytest.warns(ag.AnguillaWarning, match="over between two steps") if unseen else nullcontext():
            run = ag.simulate(robot, duration=2.0, dt=2.0 / steps, every=steps // 10, tolerance=1e-8)
        fixed[steps] = tip_error(run, arm, exact)
    enough = min(steps for steps in fixed if fixed[steps] <= error)
    assert taken < 0.6 * enough


def test_error_control_and_equal_steps_agree_in_the_limit(blow):
    robot, arm, exact = blow
    errors = []
    for goal in (1e-4, 1e-5, 1e-6):
        run = ag.simulate(robot, duration=2.0, dt=0.2, error=goal, tolerance=1e-8)
        errors.append((run.status.counters["substeps"], tip_error(run, arm, exact)))
    steps, gaps = np.array(errors).T
    assert order(1 / steps, gaps) > 1.5


def pressed(along, across):
    """A well damped rod under a tip force [N] that grows over one second to many times EI / L^2, and then stays."""
    force = lambda t: (along * min(t, 1.0), across * min(t, 1.0), 0.0)
    return soft(force, damping=0.3, young=2e6, strains=ag.planar(6))


@pytest.mark.filterwarnings("ignore::anguilla.AnguillaWarning")  # long steps on purpose
def test_a_step_that_is_too_long_is_cut():
    robot, arm = pressed(0.0, -60.0)
    run = ag.simulate(robot, duration=4.0, dt=0.1, tolerance=1e-8)
    fine = ag.simulate(robot, duration=4.0, dt=2.5e-3, every=40, tolerance=1e-8)
    assert run.status.success and run.status.counters["substeps"] > 0
    assert fine.status.counters["substeps"] == 0
    np.testing.assert_allclose(run.position(arm.tip)[-1], fine.position(arm.tip)[-1], atol=5e-3 * LENGTH)


@pytest.mark.filterwarnings("ignore::anguilla.AnguillaWarning")  # long steps on purpose
def test_a_step_that_is_far_too_long_is_cut_or_fails():
    robot, arm = pressed(-20.0, -10.0)
    run = ag.simulate(robot, duration=4.0, dt=0.2, tolerance=1e-8, raise_on_failure=False)
    fine = ag.simulate(robot, duration=4.0, dt=0.01, every=20, tolerance=1e-8)
    gap = np.linalg.norm(run.position(arm.tip)[-1] - fine.position(arm.tip)[-1]) / LENGTH
    assert not run.status.success or gap < 0.05


def test_every_stores_a_part_of_the_same_motion():
    robot, arm = soft()
    fine = ag.simulate(robot, duration=0.4, dt=1e-3)
    coarse = ag.simulate(robot, duration=0.4, dt=1e-3, every=8)
    for name in ("t", "q", "v"):
        np.testing.assert_array_equal(getattr(coarse, name), getattr(fine, name)[::8])
    # accelerations are balanced afterwards, from those of the state before, up to the round-off of the mass
    np.testing.assert_allclose(coarse.a, fine.a[::8], rtol=0, atol=1e-8 * np.max(np.abs(fine.a)))
    np.testing.assert_array_equal(coarse.position(arm.tip), fine.position(arm.tip)[::8])


@pytest.mark.parametrize(
    ("method", "gap"),
    [(ag.Newmark(), 1e-8), (ag.Midpoint(), 1e-8), (ag.HHT(-0.1), 5e-5), (ag.GeneralisedAlpha(0.9), 5e-6)],
    ids=repr,
)
def test_two_half_runs_are_one_run(method, gap):
    """Newmark and midpoint restart exactly; the others carry an acceleration that (q, v) does not tell."""
    robot, _ = soft()
    options = {"dt": 1e-3, "method": method, "tolerance": 1e-11}
    whole = ag.simulate(robot, duration=0.4, **options)
    half = ag.simulate(robot, duration=0.2, **options)
    rest = ag.simulate(robot, duration=0.2, start=(half.q[-1], half.v[-1]), **options)
    difference = (rest.q[-1] - whole.q[-1]) * whole.system.tree.scale
    assert np.ptp(whole.q * whole.system.tree.scale) > 1.0  # rad
    np.testing.assert_array_equal(half.q, whole.q[:201])
    np.testing.assert_allclose(difference, 0.0, atol=gap)


@pytest.mark.parametrize("method", [ag.Newmark(), ag.HHT(), ag.GeneralisedAlpha(0.5)], ids=repr)
def test_a_slow_load_gives_statics(method):
    """The motion under a load that grows over T lags behind statics by less and less, as T grows."""
    gaps = []
    for duration in (5.0, 20.0, 80.0):
        ramp = lambda t, T=duration: (0.0, 0.3 * t / T, 0.1 * t / T)
        robot, arm = soft(ramp, damping=0.05, strains=ag.kirchhoff(3))
        start = ag.statics(robot)
        run = ag.simulate(robot, duration=duration, dt=duration / 400, start=start, method=method, every=100)
        still = [ag.statics(robot, t=t, start=q).position(arm.tip) for t, q in zip(run.t, run.q, strict=True)]
        gaps.append(np.abs(run.position(arm.tip) - still).max() / LENGTH)
    assert np.linalg.norm(still[-1] - still[0]) > 0.3 * LENGTH
    assert gaps[-1] < 1e-3
    assert gaps[2] < 0.35 * gaps[1] < 0.35**2 * gaps[0]  # like 1 / T


@pytest.mark.parametrize(("floating", "steps"), [(True, 1000), (True, 4000), (False, 8000)])
def test_newtons_tolerance_does_not_add_up_over_short_steps(floating, steps):
    """A tumbling body, and a falling rod; with errors measured by whole increments they were off by 4e-5 and 2e-6."""
    ends = []
    for tolerance in (None, 1e-13):
        robot = ag.Robot("short_steps", gravity=(0, 0, 0) if floating else (0, 0, -9.81))
        if floating:
            body = ag.RigidBody(mass=1.0, inertia=(1e-2, 2e-2, 3e-2))
            frame, rates = robot.add(body, at=robot.ground, joint=ag.Free()).frame, [0.1, 0.2, 0.3, 1.0, 3.0, 2.0]
        else:
            soft = ag.Material(young=4e5, poisson=0.5, density=1070.0)
            rod = ag.Rod(0.4, ag.Circle(0.012), soft, ag.kirchhoff(modes=4))
            frame, rates = robot.add(rod, at=robot.ground).tip, [0.0] * 12
        duration = 5.0 if floating else 1.0
        options = {"duration": duration, "dt": duration / steps, "every": steps // 10, "tolerance": tolerance}
        run = ag.simulate(robot, start=(np.zeros(len(rates)), rates), method="newmark", **options)
        ends.append(run.pose(frame) if floating else run.position(frame))
    assert np.max(np.abs(ends[0] - ends[1])) < 6e-7
