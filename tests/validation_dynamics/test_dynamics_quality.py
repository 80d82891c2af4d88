"""How far a motion can be trusted: estimates against refinement, energy out of nothing, cut steps, events, words."""

import warnings

import numpy as np
import pytest

import anguilla as ag
from anguilla.results.quality import Quality

RUBBER = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=0.0)


def pendulum():
    robot = ag.Robot("pendulum")
    body = ag.RigidBody(mass=0.3, inertia=np.diag([1e-4, 2e-3, 2e-3]), com=(0.15, 0, 0))
    link = robot.add(body, at=robot.ground, joint=ag.Revolute((0, 1, 0)), name="link")
    return robot, link.at((0.3, 0, 0)), {"duration": 4.0, "start": ([1.2], [0.0])}


def spinning():
    """A body that turns about its unstable axis."""
    robot = ag.Robot("handle", gravity=(0, 0, 0))
    body = robot.add(
        ag.RigidBody(mass=1.0, inertia=np.diag([1e-3, 2e-3, 3e-3])), at=robot.ground, joint=ag.Free(), name="handle"
    )
    rates = np.array([0.0, 0.0, 0.0, 0.05, 10.0, 0.05])
    return robot, body.at((0.0, 0.05, 0.0)), {"duration": 4.0, "start": (np.zeros(6), rates)}


def arm(damping=0.0):
    """An arm that falls from its straight shape."""
    robot = ag.Robot("arm")
    material = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=damping)
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.01), material, ag.kirchhoff(3)), at=robot.ground, name="arm")
    return robot, rod.tip, {"duration": 1.0}


def quiet(robot, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)
        return ag.simulate(robot, **keywords)


@pytest.mark.parametrize(
    ("make", "dt"), [(pendulum, 0.04), (pendulum, 0.01), (spinning, 0.04), (arm, 0.02), (arm, 0.01)]
)
def test_the_estimate_is_near_the_error(make, dt):
    robot, frame, how = make()
    run = quiet(robot, dt=dt, **how)
    fine = quiet(robot, dt=dt / 16, every=16, **how)
    length = 0.3 if make is not spinning else run.system.layout.length
    error = np.max(np.linalg.norm(run.position(frame) - fine.position(frame), axis=1)) / length
    assert error / 5 < run.quality.time_error < 5 * error
    if error > 0.03:
        assert not run.quality.ok


def test_spinning_bodies_with_too_long_steps_are_told():
    robot, _, how = spinning()
    told = r"time steps of 'handle' make an error .* at 'handle' around t = .* s: try dt=0\.0"
    with pytest.warns(ag.AnguillaWarning, match=told):
        run = ag.simulate(robot, dt=0.04, **how)
    assert not run.quality.ok
    assert "try dt=" in str(run.quality)


def test_the_step_that_is_told_serves():
    robot, _, how = pendulum()
    with pytest.warns(ag.AnguillaWarning, match="try dt=") as caught:
        ag.simulate(robot, dt=0.04, **how)
    remedy = float(str(caught[0].message).split("try dt=")[1].split(",")[0])
    run = ag.simulate(robot, dt=remedy, **how)  # without a warning, which would be an error here
    assert run.quality.ok
    assert 0.0 < run.quality.time_error < 0.02


def test_resolved_motions_are_quiet_and_say_so():
    robot, _, how = arm(damping=0.02)
    run = ag.simulate(robot, dt=0.005, **how)
    assert run.quality.ok
    assert run.quality.time_error < 0.01
    assert run.quality.energy_error < 1e-3
    assert "No problems found" in str(run.quality)
    assert run.quality.penetration is None


@pytest.mark.parametrize("every", [1, 2, 3, 25])
def test_sparse_storage_tells_the_same(every):
    robot, _, how = pendulum()
    run = quiet(robot, dt=4.0 / 150, every=every, **how)
    whole = quiet(robot, dt=4.0 / 150, **how)
    assert whole.quality.time_error / 4.0 < run.quality.time_error < 4.0 * whole.quality.time_error


def test_the_judge_changes_nothing():
    robot, frame, how = spinning()
    run = quiet(robot, dt=0.04, **how)
    stepper = ag.Stepper(robot, dt=0.04, start=how["start"])
    stepper.step(100)
    assert np.array_equal(stepper.q, run.q[-1])
    assert np.all(np.isfinite(run.a)) and np.all(np.isfinite(run.position(frame)))


def crank():
    """A bent rod of steel that a stiff spring turns about the rod's own axis, where it has next to no inertia."""
    robot = ag.Robot("crank", gravity=(0, -9.81, 0))
    steel = ag.Material(young=2e11, poisson=0.3, density=7800.0, damping=0.0)
    joint = ag.Revolute((1, 0, 0), stiffness=8481.0, rest=0.4)
    robot.add(ag.Rod(2.0, ag.Circle(0.0136), steel, ag.planar(1)), at=robot.ground, joint=joint, name="rod")
    return robot


def test_energy_from_nothing_is_told():
    """Nothing works on the crank; steps longer than the period of its spring give it more energy than it had."""
    with pytest.warns(ag.AnguillaWarning, match=r"'crank' gains .* % of its energy from nothing until t = 0\.0"):
        run = ag.simulate(crank(), duration=0.05, dt=2e-3)
    total = run.energy["total"]
    assert np.max(total) > 1.5 * total[0]
    assert run.quality.energy_error > 0.3
    assert not run.quality.ok
    fine = quiet(crank(), duration=0.05, dt=2e-5, every=100)
    assert np.max(fine.energy["total"]) < 1.01 * total[0]
    assert fine.quality.energy_error < 0.01


def test_the_depth_of_contact_is_measured():
    """A ball falls on a floor of 2 kN/m: it sinks in by what stops it, m g (h + d) = k d^2 / 2."""
    robot = ag.Robot("ball")
    place = robot.ground.offset_by((0, 0, 0.2))
    ball = robot.add(ag.RigidBody.sphere(0.05, mass=0.3), at=place, joint=ag.Prismatic((0, 0, 1)), name="ball")
    robot.load(ag.Contact(ball, ag.HalfSpace((0, 0, 1), 0.0), 2000.0))
    run = ag.simulate(robot, duration=0.25, dt=5e-4)
    weight = 0.3 * 9.81
    deep = (weight + np.sqrt(weight**2 + 2.0 * 2000.0 * weight * 0.15)) / 2000.0
    # looked at 16 instants: at most one half of 1/60 s away from the deepest, of a cosine of 82 rad/s
    assert 0.7 * deep / 0.1 < run.quality.penetration < 1.01 * deep / 0.1
    assert run.quality.energy_error < 0.01


def test_all_steps_cut_is_told():
    """A stiff spring, and 20 steps far longer than its period: hardly one of them works as a whole."""
    robot = ag.Robot("buffer", gravity=(0, 0, 0))
    joint = ag.Prismatic((1, 0, 0), stiffness=300.0**2)
    robot.add(ag.RigidBody.sphere(0.05, mass=1.0), at=robot.ground, joint=joint, name="buffer")
    run = quiet(robot, duration=0.4, dt=0.02, start=([0.1], [0.0]))
    assert run.quality.steps == 20
    assert run.quality.cut_steps > 10
    assert not run.quality.ok
    assert "steps of 'buffer' were too long for Newton and cut into pieces" in str(run.quality)


def test_events_and_words():
    robot, _, _ = arm(damping=0.03)
    robot.load(ag.TipWrench(robot.parts[0], force=lambda t: (0, 0.05, 0) if t < 0.1037 else (0, 0, 0)))
    run = ag.simulate(robot, duration=0.3, dt=0.005)
    assert run.quality.events == pytest.approx([0.1037], abs=1e-9)
    assert "Loads jump once, at t = 0.1037 s" in str(run.quality)
    controlled = ag.simulate(robot, duration=0.3, dt=0.005, error=1e-4)
    assert controlled.quality.time_error is None and controlled.quality.ok
    assert str(Quality(messages=("It is wrong.",))).startswith("It is wrong.")
    assert not Quality(messages=("It is wrong.",)).ok


@pytest.mark.parametrize("modes", [3, 4])
def test_modes_left_out_of_a_motion_are_told(modes):
    """A soft arm that falls under its weight, against the same arm with many modes."""

    def falling(modes):
        robot = ag.Robot("arm")
        material = ag.Material(young=4e5, poisson=0.5, density=1070, damping=0.03)
        arm = robot.add(ag.Rod(0.4, ag.Circle(0.012), material, ag.planar(modes), intervals=24), at=robot.ground)
        robot.gravity = (0, -9.81, 0)
        return quiet(robot, duration=0.3, dt=1e-3), arm

    (run, arm), (fine, other) = falling(modes), falling(9)
    at = int(np.argmin(np.abs(run.t - 0.3)))
    miss = np.linalg.norm(run.centerline(arm, 30)[at] - fine.centerline(other, 30)[at], axis=1).max() / 0.4
    assert miss / 3 < run.resolved(0.3).total < 3 * miss
    assert run.space_error >= run.resolved(0.3).total > 10 * fine.space_error


def falling(modes):
    """A soft arm falls under its weight; its tip (nt, 3) [lengths], and the motion."""
    robot = ag.Robot("arm")
    material = ag.Material(young=4e5, poisson=0.5, density=1070, damping=0.01)
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.012), material, ag.planar(modes)), at=robot.ground, name="arm")
    robot.gravity = (0, -9.81, 0)
    run = quiet(robot, duration=0.5, dt=0.005)
    return run.position(arm.tip) / 0.4, run


def test_too_few_modes_speak_against_a_motion():
    (true, fine), (rough, run) = falling(8), falling(2)
    assert np.max(np.linalg.norm(rough - true, axis=1)) > 0.1
    assert not run.quality.ok and run.quality.space_error > 0.03
    assert "The motion of 'arm': rod 'arm' has too few modes" in str(run.quality)
    assert fine.quality.ok and "Error of the modes and intervals: about 0.0" in str(fine.quality)
    with pytest.warns(ag.AnguillaWarning, match=r"rod 'arm' has too few modes; more of them would move it by about"):
        ag.simulate(run.robot, duration=0.5, dt=0.005)


def random_arm(rng):
    """An arm under its weight, a force or a tendon: its tip (nt, 3) [lengths] by modes, and what is said of them."""
    radius, young, damping = 0.004 + 0.016 * rng.random(), 10 ** rng.uniform(4.5, 7), 10 ** rng.uniform(-3, -1)
    stiffness, kind = young * np.pi / 4 * radius**4, rng.integers(3)
    force, pull = 10 ** rng.uniform(-2, 0.5) * rng.normal(size=3) * 3 * stiffness / 0.16, rng.uniform(0, 4) * stiffness
    duration = 0.16 * np.sqrt(1070 * np.pi * radius**2 / stiffness) * rng.uniform(1, 4)

    def moved(modes):
        robot, material = ag.Robot("arm"), ag.Material(young=young, poisson=0.5, density=1070, damping=damping)
        arm = robot.add(ag.Rod(0.4, ag.Circle(radius), material, ag.kirchhoff(modes)), at=robot.ground)
        inputs = {}
        if kind == 0:
            robot.load(ag.TipWrench(arm, force=force))
        elif kind == 1:
            robot.actuate("line", ag.Tendon(arm, routing=ag.parallel(y=0.7 * radius)))
            inputs = {"line": pull / (0.28 * radius)}
        run = quiet(robot, duration=duration, dt=duration / 100, inputs=inputs)
        return run.position(arm.tip) / 0.4, any("too few modes" in word for word in run.quality.messages)

    return moved


@pytest.mark.slow
def test_who_is_said_to_lack_modes():
    """Random arms with 1 to 4 modes against the same with 9: no false word, and one for most of those that are far off."""
    rng, rows = np.random.default_rng(3), []
    for _ in range(20):
        moved = random_arm(rng)
        try:
            true = moved(9)[0]
            for modes in (1, 2, 3, 4):
                tip, said = moved(modes)
                rows.append((np.max(np.linalg.norm(tip - true, axis=1)), said))
        except ag.SolverError:
            continue
    error, said = np.array(rows).T
    assert len(rows) > 40
    assert np.all(error[said > 0] > 0.02)
    assert np.mean(said[error > 0.1]) > 0.7


@pytest.mark.parametrize("order", [(0.0, 3.0), (3.0, 0.0)])
def test_what_is_said_of_modes_does_not_depend_on_motions_before(order):
    """Two motions of one model from the same shape, which asks most of the modes: only the one that is pulled lacks some."""
    robot = ag.Robot("arm", gravity=(0, 0, 0))
    material = ag.Material(young=4e5, density=1070, damping=0.6)
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.012), material, ag.planar(2)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=-0.011)))
    model = ag.Model(robot)
    for pull in order:
        run = quiet(model, duration=0.3, dt=0.005, start=[2.4, -1.2], inputs={"pull": pull})
        assert any("too few modes" in word for word in run.quality.messages) == (pull > 0.0) == (run.space_error > 0.03)
