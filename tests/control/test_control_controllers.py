"""Closed loops and controllers: against closed forms, other methods and the numbers of their own linear models."""

import numpy as np
import pytest
from scipy.optimize import minimize

import anguilla as ag
from anguilla import control, sensors

RUBBER = ag.Material(young=3e6, density=1100, damping=0.01)


def pendulum(**drive):
    """A soft pendulum, x up, with a motor, an encoder and a marker."""
    robot = ag.Robot("pendulum", gravity=(-9.81, 0, 0))
    motor = robot.input("motor", "N m", drive=ag.Drive(**drive))
    rod = ag.Rod(0.4, ag.Circle(0.008), RUBBER, ag.planar(2), intervals=4)
    part = robot.add(rod, at=robot.ground, joint=ag.Revolute("z", effort=motor, damping=1e-3), name="pendulum")
    robot.sense("angle", sensors.JointPosition(part, noise=1e-4))
    robot.sense("tip", sensors.Position(part.tip, noise=1e-4))
    return robot, part


def carts(count=2):
    """Carts on springs, a linear robot, each with a motor."""
    robot = ag.Robot("carts", gravity=(0, 0, 0))
    at = robot.ground
    for k in range(count):
        motor = robot.input(f"motor{k}", "N")
        joint = ag.Prismatic("x", effort=motor, stiffness=20.0 + 5 * k, damping=0.3)
        at = robot.add(ag.RigidBody(1.0 + k, (1e-3,) * 3), at=at, joint=joint, name=f"cart{k}").frame
    return robot


class Told:
    """A controller that tells a number."""

    def __init__(self, value):
        self.value, self.times = value, []

    def update(self, reading, t):
        self.times.append(t)
        return self.value(t) if callable(self.value) else self.value


# run ------------------------------------------------------------------------------------------------------------------


def test_a_loop_leaves_a_trajectory_commands_readings_and_times():
    robot, _ = pendulum(rate=1.0)
    stepper = ag.Stepper(robot, dt=0.005, history=True)
    controller = Told(lambda t: [0.1 * np.sin(5 * t)])
    loop = control.run(stepper, controller, duration=0.5, period=0.02)
    assert np.allclose(controller.times, 0.02 * np.arange(25)) and np.allclose(loop.t, controller.times)
    assert np.allclose(loop.command("motor"), 0.1 * np.sin(5 * loop.t))
    assert loop.readings.shape == (25, 4) and loop.labels[0] == "angle.angle"
    assert loop.seconds.shape == (25,) and np.all(loop.seconds > 0) and loop.rate > 1
    assert len(loop.run.t) == 101
    assert np.max(np.abs(np.diff(loop.run.inputs["motor"].values))) <= 0.005 + 1e-12  # the drive
    true = loop.run.readings[::4][:25]
    assert 0 < np.std(loop.readings - true) < 3e-4
    assert np.max(np.abs(ag.powers(loop.run).motors)) > 0


def test_bad_loops_are_refused():
    robot, _ = pendulum()
    with pytest.raises(ag.DescriptionError, match="keeps no history"):
        control.run(ag.Stepper(robot, dt=0.01), Told([0.0]), duration=0.1)
    stepper = ag.Stepper(robot, dt=0.01, history=True)
    with pytest.raises(ag.DescriptionError, match="period must be a whole number of steps"):
        control.run(stepper, Told([0.0]), duration=0.1, period=0.015)
    with pytest.raises(ag.DescriptionError, match="what the controller told"):
        control.run(stepper, Told([0.0, 1.0]), duration=0.1)
    with pytest.raises(ag.DescriptionError, match="what the controller told"):
        control.run(stepper, Told([np.nan]), duration=0.1)
    with pytest.raises(ag.DescriptionError, match="there is no input 'x'"):
        control.run(stepper, Told({"x": 1.0}), duration=0.1)
    with pytest.raises(ag.DescriptionError, match=r"update\(reading, t\)"):
        control.run(stepper, object(), duration=0.1)


@pytest.mark.parametrize(("period", "dt"), [(0.1, 0.01), (None, 0.005), (0.01 * (1 + 1e-7), 0.01)])
def test_a_controller_runs_only_with_the_period_it_is_made_for(period, dt):
    robot = carts(1)
    stepper = ag.Stepper(robot, dt=dt, history=True)
    lqr = control.LQR(robot, np.zeros(1), period=0.01)
    with pytest.raises(ag.DescriptionError, match=f"LQR is made for a period of 0.01 s.* every {period or dt:g} s"):
        control.run(stepper, lqr, duration=0.2, period=period, observe=control.full_state)
    assert len(control.run(stepper, lqr, duration=0.02, period=0.01, observe=control.full_state).t) == 2


# PID, impedance -------------------------------------------------------------------------------------------------------


def test_pid_of_a_linear_robot_is_the_closed_form():
    """m x'' + (c + kd) x' + (k + kp) x = kp goal."""
    robot = carts(1)
    stepper = ag.Stepper(robot, dt=0.001, history=True)
    pid = control.PID(robot, 0.1, kp=30.0, kd=4.0, period=0.001, measure=[0])
    run = control.run(stepper, pid, duration=1.0, observe=control.full_state).run
    w, damp = np.sqrt(50.0), 4.3 / 2
    shake = np.sqrt(w**2 - damp**2)
    exact = 0.06 * (1 - np.exp(-damp * run.t) * (np.cos(shake * run.t) + damp / shake * np.sin(shake * run.t)))
    # the rate of the error is known one period late, and the first period has none
    assert np.max(np.abs(run.q[:, 0] - exact)) < 2e-3 * 0.06 * 10


def test_an_integral_leaves_no_error_and_does_not_wind_up():
    robot = carts(1)
    pid = control.PID(robot, lambda t: [1.0 if t < 3 else 0.05], kp=30.0, ki=60.0, kd=6.0, period=0.005, measure=[0],
                      limits={"motor0": (-5.0, 5.0)})  # fmt: skip
    stepper = ag.Stepper(robot, dt=0.005, history=True)
    run = control.run(stepper, pid, duration=8.0, observe=control.full_state).run
    assert np.max(run.q[:600, 0]) < 0.6  # 1 m is too far for 5 N
    assert abs(run.q[-1, 0] - 0.05) < 1e-4
    assert np.max(np.abs(run.q[run.t > 4.5, 0] - 0.05)) < 0.02  # soon after it can


def test_pid_in_task_space():
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))
    part = robot.add(ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.kirchhoff(2), intervals=4), at=robot.ground)
    for k in range(3):
        angle = 2 * np.pi * k / 3
        robot.actuate(f"pull{k}", ag.Tendon(part, ag.parallel(y=0.008 * np.cos(angle), z=0.008 * np.sin(angle))))
    robot.sense("tip", sensors.Position(part.tip))
    hold = dict.fromkeys(robot.inputs, 5.0)
    eq = ag.statics(robot, inputs=hold)
    gain = control.steady_gain(eq, part.tip)
    h = 1e-3
    moved = [ag.statics(robot, inputs=hold | {name: 5.0 + h}, start=eq).position(part.tip) for name in robot.inputs]
    assert np.allclose(gain.T, (np.array(moved) - eq.position(part.tip)) / h, rtol=0, atol=1e-3 * np.max(np.abs(gain)))
    goal = eq.position(part.tip)[1:] + np.array([0.01, -0.005])
    pid = control.PID(robot, goal, kp=0.2, ki=1.5, kd=0.1, lag=0.01, period=0.01, measure=slice(1, 3), feed=[5.0] * 3,
                      allocation=np.linalg.pinv(gain[1:]))  # fmt: skip
    stepper = ag.Stepper(robot, dt=0.005, start=eq, inputs=hold, history=True)
    run = control.run(stepper, pid, duration=5.0, period=0.01).run
    assert np.max(np.abs(run.position(part.tip)[-1, 1:] - goal)) < 2e-4


def two_links():
    robot = ag.Robot("links", gravity=(0, -9.81, 0))
    at = robot.ground
    for k in range(2):
        joint = ag.Revolute("z", effort=robot.input(f"motor{k}", "N m"), damping=0.05)
        body = robot.add(ag.RigidBody(0.5, (1e-3,) * 3, com=(0.15, 0, 0)), at=at, joint=joint, name=f"link{k}")
        at = body.at([0.3, 0, 0])
    force = robot.input("push", "N", along=(0, 1, 0))
    robot.load(ag.Wrench(at, force=force))
    return robot, at


def test_impedance_yields_like_a_spring():
    robot, tip = two_links()
    start = np.array([0.3, 1.0])
    still = robot.size
    goal = ag.Stepper(robot, dt=0.01, start=start).position(tip)
    stiff = np.diag([200.0, 100.0, 100.0])
    controller = control.Impedance(robot, tip, goal, stiffness=stiff, damping=20.0, limits={"push": (0.0, 0.0)})

    class Pushed:
        def update(self, reading, t):
            told = controller.update(reading, t)
            told[-1] = 2.0
            return told

    stepper = ag.Stepper(robot, dt=0.005, start=start, history=True)
    run = control.run(stepper, Pushed(), duration=3.0, observe=control.full_state).run
    assert still == 2
    assert np.allclose(run.position(tip)[-1] - goal, [0.0, 0.02, 0.0], rtol=0, atol=2e-5)


# LQR, LQG -------------------------------------------------------------------------------------------------------------


def test_lqr_spends_what_its_riccati_matrix_says():
    robot, _ = pendulum()
    lqr = control.LQR(robot, np.zeros(robot.size), period=0.01, state_weight=[10, 1, 1, 1, 0.1, 0.1], input_weight=5.0)
    assert np.max(np.abs(lqr.poles)) < 1.0 < np.max(np.abs(np.linalg.eigvals(lqr.model.A)))
    start = np.array([0.02, 0.0, 0.0])
    stepper = ag.Stepper(robot, dt=0.0005, start=start, history=True)
    loop = control.run(stepper, lqr, duration=4.0, period=0.01, observe=control.full_state)
    weights = np.array([10, 1, 1, 1, 0.1, 0.1])
    spent = np.sum(loop.readings**2 * weights) + 5.0 * np.sum(loop.commands**2)
    x = np.concatenate([start, np.zeros(3)])
    assert abs(spent - x @ lqr.cost @ x) < 5e-3 * spent  # inputs that jump are late by half a step of 0.5 ms
    assert np.max(np.abs(loop.run.q[-1])) < 1e-5


def test_lqr_refuses_what_it_cannot_hold():
    robot, _ = pendulum()
    with pytest.raises(ag.DescriptionError, match="holds an equilibrium"):
        control.LQR(robot, np.array([0.5, 0.0, 0.0]), period=0.01)
    idle = ag.Robot("idle", gravity=(-9.81, 0, 0))
    idle.input("none")
    idle.add(ag.Rod(0.4, ag.Circle(0.008), RUBBER, ag.planar(1)), at=idle.ground, joint=ag.Revolute("z"))
    with pytest.raises(ag.SolverError, match="The regulator has no solution"):
        control.LQR(idle, np.zeros(2), period=0.01)


def test_lqg_finds_the_state_from_noisy_sensors():
    robot, _ = pendulum()
    weight = [10, 1, 1, 1, 0.1, 0.1]
    lqg = control.LQG(robot, np.zeros(3), period=0.01, state_weight=weight, input_weight=5.0, disturbance=1e-3)
    stepper = ag.Stepper(robot, dt=0.001, start=np.array([0.02, 0.0, 0.0]), history=True, seed=4)
    estimates = []

    class Watched:
        def update(self, reading, t):
            told = lqg.update(reading, t)
            estimates.append(lqg.estimate)
            return told

    loop = control.run(stepper, Watched(), duration=4.0, period=0.01)
    run = loop.run
    assert np.max(np.abs(run.q[run.t > 3.0, 0])) < 5e-3
    true = np.hstack([run.q, run.v])[:-1:10]
    error = np.array(estimates)[300:] - true[300:]
    spread = np.sqrt(np.diag(lqg.covariance))  # with a disturbance, which this robot does not have
    assert np.all(np.std(error, axis=0) < 1.2 * spread) and spread[0] < 1e-4


def test_lqg_refuses_sensors_that_it_does_not_serve():
    robot, part = pendulum()
    robot.sense("felt", sensors.Accelerometer(part.tip, noise=0.1))
    with pytest.raises(ag.DescriptionError, match=r"'felt\.ax', which shows accelerations"):
        control.LQG(robot, np.zeros(3), period=0.01, disturbance=0.01)
    robot, part = pendulum()
    robot.sense("exact", sensors.JointRate(part))
    with pytest.raises(ag.DescriptionError, match="'exact' has none"):
        control.LQG(robot, np.zeros(3), period=0.01, disturbance=0.01)
    robot, part = pendulum()
    robot.sense("old", sensors.JointRate(part, noise=1e-3, delay=0.1))
    with pytest.raises(ag.DescriptionError, match="'old' shows what is older"):
        control.LQG(robot, np.zeros(3), period=0.01, disturbance=0.01)


# iLQR, MPC ------------------------------------------------------------------------------------------------------------


def test_ilqr_of_a_linear_robot_is_the_optimum_of_its_quadratic_cost():
    """Against a quasi-Newton method on the same steps, within limits that hold."""
    robot, dt, steps = carts(), 0.05, 12
    goal, final = np.array([0.1, -0.05, 0.0, 0.0]), np.array([50.0, 50.0, 5.0, 5.0])
    limits = {"motor0": (-0.5, 0.6), "motor1": (-1.0, 1.0)}
    plan = control.ilqr(robot, goal, duration=steps * dt, dt=dt, final_weight=final, input_weight=0.02, limits=limits,
                        tolerance=1e-10)  # fmt: skip
    stepper = ag.Stepper(robot, dt=dt)

    def cost(flat):
        u = flat.reshape(steps, 2)
        stepper.set_inputs({"motor0": 0.0, "motor1": 0.0})
        stepper.reset()
        for row in u:
            stepper.step({"motor0": row[0], "motor1": row[1]})
        x = np.concatenate([stepper.q, stepper.v]) - goal
        return 0.01 * np.sum(u**2) + 0.5 * np.sum(final * x**2)

    best = minimize(
        cost, np.zeros(2 * steps), bounds=[limits["motor0"], limits["motor1"]] * steps, options={"ftol": 1e-13}
    )
    assert len(plan.costs) <= 8
    assert abs(plan.costs[-1] - best.fun) < 1e-5 * best.fun
    assert np.isclose(cost(plan.inputs.ravel()), plan.costs[-1], rtol=1e-9)
    assert np.max(plan.inputs[:, 0]) == 0.6  # a limit holds


def test_tangents_of_ilqr_are_those_of_the_steps():
    robot, _ = pendulum()
    start = np.array([2.0, 0.3, -0.2])
    plan = control.ilqr(robot, np.zeros(6), duration=0.3, dt=0.03, start=start, iterations=1, guess=0.05)
    A, B = plan._problem.tangents(plan.run)[-1]
    h, ends = 1e-4, []
    for sign in (1, -1):
        u = plan.inputs.copy()
        u[-1] += sign * h
        ends.append(plan._problem.roll(u, None, None)[0][-1])
    assert np.allclose(((ends[0] - ends[1]) / (2 * h)).ravel(), B[:, 0], rtol=1e-5, atol=1e-6 * np.max(np.abs(B)))
    u, ends = plan.inputs.copy(), []
    for sign in (1, -1):
        u = plan.inputs.copy()
        u[-2] += sign * h
        states = plan._problem.roll(u, None, None)[0]
        ends.append((states[-2], states[-1]))
    before, after = (((ends[0][k] - ends[1][k]) / (2 * h)).ravel() for k in (0, 1))
    assert np.allclose(after, A @ before, rtol=1e-4, atol=1e-5 * np.max(np.abs(after)))


@pytest.mark.slow
def test_a_plan_is_followed_in_spite_of_another_start():
    robot, _ = pendulum(low=-0.3, high=0.3)
    start = np.array([np.pi, 0.0, 0.0])
    weight = [20.0, 1.0, 1.0, 2.0, 0.1, 0.1]
    plan = control.ilqr(robot, np.zeros(6), duration=1.2, dt=0.02, start=start, guess=0.05, final_weight=weight,
                        input_weight=0.05, tolerance=1e-3)  # fmt: skip
    off = start + np.array([0.05, 0.0, 0.0])
    ends = []
    for controller in (plan, control.FeedForward({"motor": lambda t: plan.inputs[min(round(t / 0.02), 59), 0]})):
        stepper = ag.Stepper(robot, dt=0.02, start=off, history=True)
        ends.append(control.run(stepper, controller, duration=1.2, observe=control.full_state).run.q[-1, 0])
    assert abs(plan.run.q[-1, 0]) < 0.05
    assert abs(ends[0]) < 0.5 * abs(ends[1])


def test_mpc_keeps_limits_and_rates_and_leaves_no_lasting_error():
    def arm(load=0.0):
        robot, tip = two_links()
        if load:
            robot.add(ag.RigidBody(load, (1e-6,) * 3), at=tip, name="payload")
        return robot, tip

    model, tip = arm()
    robot, end = arm(0.3)
    start = np.array([-0.6, 1.2])
    hold = {"motor0": 0.0, "motor1": 0.0}
    place = ag.Stepper(model, dt=0.01, start=start).position(tip)
    goal = place + np.array([0.0, 0.1, 0.0])
    mpc = control.MPC(model, tip, goal, period=0.02, horizon=15, moves=5, goal_weight=[1.0, 1.0, 0.0], inputs=hold,
                      change_weight=1e-6, rates={"motor0": 50.0, "motor1": 50.0},
                      limits={"motor0": (-6.0, 6.0), "motor1": (-2.0, 2.0), "push": (0.0, 0.0)})  # fmt: skip
    stepper = ag.Stepper(robot, dt=0.005, start=start, inputs=hold, history=True)
    loop = control.run(stepper, mpc, duration=3.0, period=0.02, observe=control.full_state)
    assert np.max(np.abs(loop.run.position(end)[-1] - goal)) < 1e-3
    assert np.max(np.abs(np.diff(loop.commands, axis=0))) <= 1.0 + 1e-9
    assert np.all(np.abs(loop.commands) <= [6.0, 2.0, 0.0])
