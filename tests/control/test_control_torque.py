"""Inverse dynamics and computed torque: on a robot with a loop and on an eel, to the tolerance of the solver."""

import numpy as np

import anguilla as ag
from anguilla import control

DT = 0.005


def smooth(t, to, over):
    """From zero to `to` in a time, with rate and acceleration zero at both ends."""
    s = np.clip(t / over, 0.0, 1.0)
    return to * s**3 * (10 - 15 * s + 6 * s**2)


def four_bar(young=1e6):
    """A crank, a soft coupler and a rocker: a loop with one motor."""
    robot = ag.Robot("four_bar", gravity=(0, -9.81, 0))
    bar = lambda mass, length: ag.RigidBody(mass, (1e-4, 1e-3, 1e-3), com=(0.5 * length, 0, 0))
    motor = robot.input("motor", "N m")
    joint = ag.Revolute("z", effort=motor, damping=1e-3)
    crank = robot.add(bar(0.2, 0.1), at=robot.ground, joint=joint, name="crank")
    rubber = ag.Material(young=young, density=1000, damping=0.01)
    rod = ag.Rod(0.3, ag.Circle(0.012), rubber, ag.planar(2, stretch_modes=1), intervals=4)
    coupler = robot.add(rod, at=crank.at([0.1, 0, 0]), joint=ag.Revolute("z", damping=1e-3), name="coupler")
    rocker = robot.add(
        bar(0.3, 0.25), at=robot.ground, joint=ag.Revolute("z", damping=1e-3), pose=[0.3, 0, 0], name="rocker"
    )
    robot.close(coupler.tip, rocker.at([0.25, 0, 0]), joint=ag.Revolute("z"), name="pin")
    return robot


def eel(young=3e5):
    """A floating rod in water whose muscles bend it: three inputs, one for each shape."""
    robot = ag.Robot("eel", gravity=(0, 0, 0))
    pulls = [robot.input(f"muscle{k}", "N m") for k in range(3)]
    material = ag.Material(young=young, density=1000, damping=0.02)
    rod = ag.Rod(0.6, ag.Ellipse(0.015, 0.03), material, ag.planar(3), intervals=8)
    body = robot.add(rod, at=robot.ground, joint=ag.Free(), name="eel")
    robot.load(ag.Morison(body, name="water"))

    def moment(X, t):
        s = 2 * X / 0.6 - 1
        return (0.0, 0.0, sum(f * pull(t) for f, pull in zip((1.0, s, 1.5 * s * s - 0.5), pulls, strict=True)))

    robot.load(ag.Muscle(body, moment=moment))
    return robot


def wave(t):
    return smooth(t, 1.0, 0.4) * np.sin(2 * np.pi * t)


GAIT = {
    "eel.bend_z[0]": lambda t: 0.5 * wave(t),
    "eel.bend_z[1]": lambda t: 1.5 * wave(t),
    "eel.bend_z[2]": lambda t: smooth(t, 1.0, 0.4) * np.cos(2 * np.pi * t),
}


def turned(robot):
    """A start of the four-bar at rest, and a turn of its crank."""
    start = ag.statics(robot, inputs={"motor": 0.0}).q
    return start, {"crank.angle": lambda t: start[0] + smooth(t, 1.0, 0.4)}


def miss(run, motion):
    wanted = np.array([[law(t) for law in motion.values()] for t in run.t])
    which = [run.robot.coordinates().index(name) for name in motion]
    return float(np.max(np.abs(run.q[:, which] - wanted)))


def followed(robot, model, motion, start, duration=0.5, kp=400.0, kd=40.0):
    """Largest error of computed torque, with some model of the robot."""
    inputs = list(robot.inputs)
    controller = control.ComputedTorque(model, motion, inputs, dt=DT, start=start, kp=kp, kd=kd)
    hold = controller.hold
    stepper = ag.Stepper(robot, dt=DT, start=start, inputs=hold, history=True, tolerance=1e-12)
    loop = control.run(stepper, controller, duration=duration, observe=control.full_state)
    return miss(loop.run, motion), loop


def test_a_robot_with_a_loop_follows_to_the_tolerance_of_the_solver():
    robot = four_bar()
    start, motion = turned(robot)
    error, loop = followed(robot, robot, motion, start)
    assert error < 1e-10
    assert np.ptp(loop.run["rocker.angle"]) > 0.1 and np.ptp(loop.run["coupler.bend_z[0]"]) > 0.1


def test_the_eel_follows_to_the_tolerance_of_the_solver():
    robot = eel()
    error, loop = followed(robot, robot, GAIT, np.zeros(robot.size))
    assert error < 1e-8
    assert abs(loop.run.q[-1, :2]).max() > 1e-3  # it swims


def test_an_error_dies_out_as_the_gains_say():
    """Errors obey e'' + kd e' + kp e = 0, here critically damped, whatever the robot."""
    robot = four_bar()
    start, _ = turned(robot)
    motion = {"crank.angle": lambda t: start[0]}
    controller = control.ComputedTorque(robot, motion, ["motor"], dt=0.001, start=start, kp=400.0, kd=40.0)
    off = ag.simulate(
        robot, duration=0.05, dt=0.001, start=start, inputs={"motor": lambda t: -2.0 * np.sin(20 * np.pi * t)}
    )
    stepper = ag.Stepper(robot, dt=0.001, start=off, inputs=controller.hold, history=True, tolerance=1e-12)
    run = control.run(stepper, controller, duration=0.3, observe=control.full_state).run
    e, rate = run.q[:, 0] - start[0], run.v[0, 0]
    exact = (e[0] + (rate + 20.0 * e[0]) * run.t) * np.exp(-20.0 * run.t)
    assert abs(e[0]) > 1e-3 and abs(rate) > 0.05
    assert np.max(np.abs(e - exact)) < 0.02 * np.max(np.abs(exact))


def test_inputs_of_inverse_dynamics_move_the_robot_so():
    """By `simulate` alone, without feedback; and the work of the motor is that of the motion."""
    robot = four_bar()
    start, motion = turned(robot)
    found = control.inverse_dynamics(robot, motion, ["motor"], duration=0.5, dt=DT, start=start)
    run = ag.simulate(
        robot, duration=0.5, dt=DT, start=start, inputs=found.signals(), tolerance=1e-12, events=[], smooth_start=False
    )
    assert miss(run, motion) < 1e-7
    assert np.max(np.abs(run.q - found.q)) < 1e-6
    power = found.inputs["motor"] * found.v[:, 0]
    assert np.allclose(ag.powers(run).motors, power, rtol=0, atol=1e-4 * np.max(np.abs(power)))
