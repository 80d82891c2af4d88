"""Computed torque on a robot with a loop and on an eel, beside simpler controllers, with true and wrong models.

A four-bar with a soft coupler turns its crank by one motor; an eel that floats in water bends by muscles, three inputs for
three shapes of bending. The controllers are: PD of the coordinates, inverse dynamics as feed-forward, both together, and
computed torque. With the true model all but the first follow to the tolerance of the solver. Then all take the stiffness 10 %
too low.
"""

from dataclasses import dataclass

import numpy as np

import anguilla as ag
from anguilla import control

DT, DURATION = 0.005, 0.5  # [s]


@dataclass
class Result:
    errors: dict[tuple[str, float], dict[str, float]]  # by robot and factor of the stiffness, by controller [rad, 1/m]
    motions: dict[str, float]  # largest value of what is wanted [rad, 1/m]


def smooth(t, to, over):
    """From zero to `to` in a time, with rate and acceleration zero at both ends."""
    s = np.clip(t / over, 0.0, 1.0)
    return to * s**3 * (10 - 15 * s + 6 * s**2)


def four_bar(stiff=1.0):
    robot = ag.Robot("four_bar", gravity=(0, -9.81, 0))
    bar = lambda mass, length: ag.RigidBody(mass, (1e-4, 1e-3, 1e-3), com=(0.5 * length, 0, 0))
    hinge = lambda **keywords: ag.Revolute("z", damping=1e-3, **keywords)
    motor = robot.input("motor", "N m")
    crank = robot.add(bar(0.2, 0.1), at=robot.ground, joint=hinge(effort=motor), name="crank")
    rubber = ag.Material(young=1e6 * stiff, density=1000, damping=0.01)
    rod = ag.Rod(0.3, ag.Circle(0.012), rubber, ag.planar(2, stretch_modes=1), intervals=4)
    coupler = robot.add(rod, at=crank.at([0.1, 0, 0]), joint=hinge(), name="coupler")
    rocker = robot.add(bar(0.3, 0.25), at=robot.ground, joint=hinge(), pose=[0.3, 0, 0], name="rocker")
    robot.close(coupler.tip, rocker.at([0.25, 0, 0]), joint=ag.Revolute("z"), name="pin")
    return robot


def eel(stiff=1.0):
    robot = ag.Robot("eel", gravity=(0, 0, 0))
    pulls = [robot.input(f"muscle{k}", "N m") for k in range(3)]
    material = ag.Material(young=3e5 * stiff, density=1000, damping=0.02)
    rod = ag.Rod(0.6, ag.Ellipse(0.015, 0.03), material, ag.planar(3), intervals=8)
    body = robot.add(rod, at=robot.ground, joint=ag.Free(), name="eel")
    robot.load(ag.Morison(body, name="water"))

    def moment(X, t):
        s = 2 * X / 0.6 - 1
        return (0.0, 0.0, sum(f * pull(t) for f, pull in zip((1.0, s, 1.5 * s * s - 0.5), pulls, strict=True)))

    robot.load(ag.Muscle(body, moment=moment))
    return robot


def gait():
    """Bending of the eel: a wave that grows."""
    grown = lambda t: smooth(t, 1.0, 0.4)
    return {
        "eel.bend_z[0]": lambda t: 0.5 * grown(t) * np.sin(2 * np.pi * t),
        "eel.bend_z[1]": lambda t: 1.5 * grown(t) * np.sin(2 * np.pi * t),
        "eel.bend_z[2]": lambda t: grown(t) * np.cos(2 * np.pi * t),
    }


def task(robot):
    """Where a robot begins at rest, and how its coordinates should move from there."""
    if robot.name == "eel":
        return np.zeros(robot.size), gait()
    start = ag.statics(robot, inputs={"motor": 0.0}).q
    return start, {"crank.angle": lambda t: start[0] + smooth(t, 1.0, 0.4)}


def miss(run, motion):
    """Largest error of the coordinates that are wanted."""
    which = [run.robot.coordinates().index(name) for name in motion]
    return float(np.max(np.abs(run.q[:, which] - np.array([[law(t) for law in motion.values()] for t in run.t]))))


def computed(robot, model, dt=DT, kp=2500.0, kd=100.0):
    """The closed loop of computed torque with some model of a robot, and its error."""
    start, motion = task(robot)
    controller = control.ComputedTorque(model, motion, list(robot.inputs), dt=dt, start=start, kp=kp, kd=kd)
    stepper = ag.Stepper(robot, dt=dt, start=start, inputs=controller.hold, history=True, tolerance=1e-12)
    loop = control.run(stepper, controller, duration=DURATION, observe=control.full_state)
    return miss(loop.run, motion), loop


def compared(robot, model):
    """Errors of all controllers, which have a model of the robot."""
    start, motion = task(robot)
    begin, own = task(model)
    names = list(robot.inputs)
    feed = control.inverse_dynamics(model, own, names, duration=DURATION, dt=DT, start=begin)
    which = [robot.coordinates().index(name) for name in motion]
    forces = control.input_forces(model, begin, 0.0 * begin, 0.0, {})[which]
    goal = lambda t: [law(t) for law in motion.values()]
    # as stiff as the rod is against bending; of the motor, of the same size as the weight of the bars
    gain = 5.0 * np.diag(ag.stiffness(model, begin))[which] if robot.name == "eel" else np.array([5.0])
    pd = {"kp": gain, "kd": 0.02 * gain, "period": DT, "measure": which, "allocation": np.linalg.inv(forces)}
    later = lambda t: np.array([signal(t + DT) for signal in feed.signals().values()])  # balanced where the step ends
    cases = {
        "PD": control.PID(robot, goal, **pd),
        "feed-forward": control.FeedForward({n: lambda t, k=k: later(t)[k] for k, n in enumerate(names)}),
        "PD and feed-forward": control.PID(robot, goal, feed=later, **pd),
    }
    errors = {}
    for name, controller in cases.items():
        stepper = ag.Stepper(
            robot, dt=DT, start=start, inputs={n: x[0] for n, x in feed.inputs.items()}, history=True, tolerance=1e-12
        )
        loop = control.run(stepper, controller, duration=DURATION, observe=control.full_state)
        errors[name] = miss(loop.run, motion)
    return errors | {"computed torque": computed(robot, model)[0]}


def main():
    errors, motions = {}, {}
    for make in (four_bar, eel):
        robot = make()
        start, motion = task(robot)
        offset = [start[robot.coordinates().index(name)] for name in motion]
        laws = [[law(t) for law in motion.values()] for t in np.arange(0.0, DURATION, DT)]
        motions[robot.name] = float(np.max(np.abs(np.array(laws) - offset)))
        for stiff in (1.0, 0.9):
            errors[robot.name, stiff] = compared(robot, make(stiff) if stiff != 1.0 else robot)
    return Result(errors, motions)


def report(result):
    names = list(next(iter(result.errors.values())))
    rows = [f"{'largest error, over the motion':<32}" + "".join(f"{name:>21}" for name in names)]
    for (robot, stiff), found in result.errors.items():
        title = f"{robot}, {'true model' if stiff == 1.0 else 'stiffness 10 % too low'}"
        rows.append(f"{title:<32}" + "".join(f"{found[name] / result.motions[robot]:>21.2g}" for name in names))
    return "\n".join(rows)


if __name__ == "__main__":
    print(report(main()))
