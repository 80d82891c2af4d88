"""Inverse dynamics and computed torque: on a robot with a loop and on an eel, to the tolerance of the solver."""

import numpy as np
import pytest
import script_modules

import anguilla as ag
from anguilla import control

robots = script_modules.load("computed_torque")
DT = robots.DT


def test_a_robot_with_a_loop_follows_to_the_tolerance_of_the_solver():
    robot = robots.four_bar()
    error, loop = robots.computed(robot, robot)
    assert error < 1e-10
    assert np.ptp(loop.run["rocker.angle"]) > 0.1 and np.ptp(loop.run["coupler.bend_z[0]"]) > 0.1


def test_the_eel_follows_to_the_tolerance_of_the_solver():
    robot = robots.eel()
    error, loop = robots.computed(robot, robot)
    assert error < 1e-8
    assert abs(loop.run.q[-1, :2]).max() > 1e-3  # it swims


def test_an_error_dies_out_as_the_gains_say():
    """Errors obey e'' + kd e' + kp e = 0, here critically damped, whatever the robot."""
    robot = robots.four_bar()
    start, _ = robots.task(robot)
    motion = {"crank.angle": lambda t: start[0]}
    controller = control.ComputedTorque(robot, motion, ["motor"], dt=0.001, start=start, kp=400.0, kd=40.0)
    push = {"motor": lambda t: -2.0 * np.sin(20 * np.pi * t)}
    off = ag.simulate(robot, duration=0.05, dt=0.001, start=start, inputs=push)
    stepper = ag.Stepper(robot, dt=0.001, start=off, inputs=controller.hold, history=True, tolerance=1e-12)
    run = control.run(stepper, controller, duration=0.3, observe=control.full_state).run
    e, rate = run.q[:, 0] - start[0], run.v[0, 0]
    exact = (e[0] + (rate + 20.0 * e[0]) * run.t) * np.exp(-20.0 * run.t)
    assert abs(e[0]) > 1e-3 and abs(rate) > 0.05
    assert np.max(np.abs(e - exact)) < 0.02 * np.max(np.abs(exact))


def test_inputs_of_inverse_dynamics_move_the_robot_so():
    """By `simulate` alone, without feedback; and the work of the motor is that of the motion."""
    robot = robots.four_bar()
    start, motion = robots.task(robot)
    found = control.inverse_dynamics(robot, motion, ["motor"], duration=0.5, dt=DT, start=start)
    run = ag.simulate(
        robot, duration=0.5, dt=DT, start=start, inputs=found.signals(), tolerance=1e-12, events=[], smooth_start=False
    )
    assert robots.miss(run, motion) < 1e-7
    assert np.max(np.abs(run.q - found.q)) < 1e-6
    power = found.inputs["motor"] * found.v[:, 0]
    assert np.allclose(ag.powers(run).motors, power, rtol=0, atol=1e-4 * np.max(np.abs(power)))


def test_what_inverse_dynamics_does_not_serve_is_refused():
    robot = robots.four_bar()
    start, motion = robots.task(robot)
    options = {"duration": 0.1, "dt": DT, "start": start}
    with pytest.raises(ag.DescriptionError, match="as many inputs as coordinates"):
        control.inverse_dynamics(robot, motion, [], **options)
    with pytest.raises(ag.DescriptionError, match="there is no coordinate"):
        control.inverse_dynamics(robot, {"crank.angel": lambda t: 0.0}, ["motor"], **options)
    soft = robots.four_bar(0.5)
    with pytest.raises(ag.DescriptionError, match="cannot hold"):
        control.inverse_dynamics(soft, motion, ["motor"], **options)
    with pytest.raises(ag.DescriptionError, match="not Midpoint"):
        control.inverse_dynamics(robot, motion, ["motor"], method="midpoint", **options)
