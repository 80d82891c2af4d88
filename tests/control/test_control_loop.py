"""Closed loop: settling, no steady error, disturbance, saturation, delay, dead zone, impedance."""

import numpy as np
import pytest
from control_bodies import finger, rod

import anguilla as ag
from anguilla import control, fem

KP, KI = 0.14, 0.0003


def models(young=1.3e6):
    """Controller's model, and a plant that is stiffer than it thinks; both at rest under gravity."""
    own, plant = fem.SoftModel(finger(cells=(6, 1, 1))), fem.SoftModel(finger(young, cells=(6, 1, 1)))
    own.relax()
    plant.relax()
    return own, plant


def goal_lengths(young=1.3e6, inputs=None):
    eq = fem.statics(finger(young, cells=(6, 1, 1)), inputs=inputs or {"pull_0": 0.4, "pull_1": 0.5})
    return np.array([eq.length(name) for name in eq.body.sensors])


@pytest.fixture(scope="module")
def run():
    own, plant = models()
    first, second = goal_lengths(), goal_lengths(inputs={"pull_1": 0.5, "pull_2": 0.3})
    return control.run_loop(
        control.SensorControl(own, kp=KP, ki=KI), control.Plant(plant), [(0, first), (80, second)], 160
    )


def test_lengths_settle_without_steady_error(run):
    for stop in (80, 160):
        error = np.abs(run.lengths - run.goals)[stop - 1].max()
        start = np.abs(run.lengths - run.goals)[stop - 80].max()
        assert error < 0.01 * start
    assert 10 < run.settling(0, 80) < 50


def test_the_error_decays_as_designed():
    """With a perfect model e_k follows (32): e_k+1 = (1 - kp) e_k - ki h_k."""
    own, plant = models(1e6)
    goal = goal_lengths(1e6)
    start = plant.readings() - goal
    run = control.run_loop(control.SensorControl(own, kp=KP, ki=KI), control.Plant(plant), [(0, goal)], 25)
    e, h, expected = 1.0, 0.0, []
    for _ in range(25):
        e, h = e - KP * e - KI * h, h + e
        expected.append(e)
    worst = int(np.argmax(np.abs(start)))
    np.testing.assert_allclose((run.lengths - goal)[:, worst] / start[worst], expected, atol=0.04)


def test_an_unknown_force_is_rejected():
    own, plant = models()
    goal = goal_lengths()
    pushed = fem.SoftModel(finger(1.3e6, cells=(6, 1, 1), load=(0, 0.01, 0.02)))

    def push(k, machine):
        if k == 60:
            machine.model.state = fem.SoftState(machine.model.state.x, machine.model.state.rotations)
            pushed.restore(machine.model.remember())
            machine.model = pushed
            machine.model.relax()

    run = control.run_loop(
        control.SensorControl(own, kp=KP, ki=KI), control.Plant(plant), [(0, goal)], 140, disturb=push
    )
    error = np.abs(run.lengths - goal).max(axis=1)
    assert error[60] > 20 * error[59]
    assert error[139] < 0.02 * error[60]


@pytest.mark.slow
def test_what_is_left_dies_out_with_the_integral_term():
    """After a push, long runs: the error falls for ever, at the slow pole of (32), which is near ki / kp."""
    own, plant = models()
    pushed = fem.SoftModel(finger(1.3e6, cells=(6, 1, 1), load=(0, 0.01, 0.02)))

    def push(k, machine):
        if k == 60:
            pushed.restore(machine.model.remember())
            machine.model = pushed
            pushed.relax()

    run = control.run_loop(
        control.SensorControl(own, kp=KP, ki=KI), control.Plant(plant), [(0, goal_lengths())], 1400, disturb=push
    )
    error = np.abs(run.lengths - run.goals).max(axis=1)
    pole = np.abs(np.linalg.eigvals([[1 - KP, -KI], [1, 1]])).max()
    rate = -np.log(error[1399] / error[500]) / 899
    assert rate == pytest.approx(-np.log(pole), rel=0.05)
    assert error[1399] < 2e-4 * error[0]


def test_saturation_keeps_commands_in_their_limits():
    own, plant = models()
    body = finger(cells=(6, 1, 1))
    for actuator in body.actuators.values():
        actuator.force = (0.0, 0.2)
    own = fem.SoftModel(body)
    own.relax()
    run = control.run_loop(control.SensorControl(own, kp=KP, ki=KI), control.Plant(plant), [(0, goal_lengths())], 40)
    assert run.commands.max() <= 0.2 + 1e-12
    assert run.commands.min() >= 0.0
    assert run.saturated[-1]
    assert np.all(np.isfinite(run.lengths))


def test_poor_sensors_valves_and_delay_leave_a_small_error():
    own, plant = models()
    rough = control.Plant(plant, noise=2e-6, resolution=2e-5, dead_zone=2e-3, delay=2)
    run = control.run_loop(control.SensorControl(own, kp=KP, ki=KI), rough, [(0, goal_lengths())], 90)
    error = np.abs(run.lengths - run.goals).max(axis=1)
    assert error[-20:].max() < 4e-5
    assert np.all(np.isclose(run.measured / 2e-5, np.round(run.measured / 2e-5)))


def test_the_loop_runs_on_rods_too():
    def model(young):
        robot, arm = rod(young)
        m = control.RodModel(robot, {"tip": arm.tip}, sensors=["pull_0", "pull_1"])
        m.relax()
        return m

    own, plant = model(1e6), model(1.3e6)
    wanted = model(1.3e6)
    wanted.efforts = np.array([0.4, 0.5, 0.0, 0.0])
    wanted.relax()
    run = control.run_loop(control.SensorControl(own, kp=KP, ki=KI), control.Plant(plant), [(0, wanted.readings())], 60)
    error = np.abs(run.lengths - run.goals).max(axis=1)
    assert error[-1] < 0.02 * error[0]


def test_the_tip_yields_like_the_spring_asked_for():
    """Softer than the body is by itself along y: 0.6 of its own stiffness."""
    force = np.array([0.0, 0.004, 0.0])
    model = fem.SoftModel(finger(cells=(6, 1, 1)))
    model.efforts = np.array([0.3, 0.3, 0.3, 0.3])
    model.relax()
    target = model.positions()[0]
    own = np.linalg.inv(model.project().W("e", "e"))
    wanted = np.diag([own[0, 0], 0.6 * own[1, 1], own[2, 2]])
    plant = fem.SoftModel(finger(cells=(6, 1, 1), load=force))
    plant.restore(model.remember())
    for _ in range(25):
        plant.efforts = model.efforts.copy()
        plant.relax()
        control.impedance_step(model, plant.positions()[0], target, wanted, energy=1e-9)
    moved = (plant.positions()[0] - target)[1]
    assert moved == pytest.approx(0.004 / wanted[1, 1], rel=0.03)


def test_bad_loops_are_refused():
    own, plant = models()
    with pytest.raises(ag.DescriptionError, match="set point at step 0"):
        control.run_loop(control.SensorControl(own), control.Plant(plant), [(5, goal_lengths())], 10)
    with pytest.raises(ag.DescriptionError, match="kp"):
        control.SensorControl(own, kp=-1.0)
    with pytest.raises(ag.DescriptionError, match="lengths"):
        control.SensorControl(own).update([0.1], [0.1])
