"""A soft pendulum swings up with a motor too weak to lift it, and is held at the top.

iLQR finds the torques of two seconds, within the limits of the motor, by exact tangents of the steps. The plan is followed
with the feedback that it comes with, by a pendulum whose start is a little off; a linear regulator takes over at the top.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla import control
from anguilla.view.style import COLOURS, figure, figure_style

DT, SWING, HELD = 0.02, 2.0, 3.0  # [s]
MOTOR = 0.12  # [N m]


@dataclass
class Result:
    plan: control.ILQR
    loop: control.ClosedLoop
    lift: float  # [N m] it takes to hold the pendulum level
    late: float  # [m] largest distance of the tip from the top in the last second


def build():
    robot = ag.Robot("soft_pendulum", gravity=(-9.81, 0, 0))  # x is up
    motor = robot.input("motor", "N m", drive=ag.Drive(low=-MOTOR, high=MOTOR))
    rubber = ag.Material(young=3e6, density=1100, damping=0.01)
    rod = ag.Rod(0.4, ag.Circle(0.008), rubber, ag.planar(2), intervals=4)
    pendulum = robot.add(rod, at=robot.ground, joint=ag.Revolute("z", effort=motor, damping=1e-4), name="pendulum")
    return robot, pendulum


class Swing:
    """The plan first, then the regulator."""

    def __init__(self, plan, regulator):
        self.plan, self.regulator = plan, regulator

    def reset(self):
        self.plan.reset()

    def update(self, reading, t):
        return (self.plan if t < SWING - 0.5 * DT else self.regulator).update(reading, t)


def main():
    robot, pendulum = build()
    n = robot.size
    hanging = np.zeros(n)
    hanging[0] = np.pi
    plan = control.ilqr(
        robot, np.zeros(2 * n), duration=SWING, dt=DT, start=hanging, guess=0.01, tolerance=1e-3,
        final_weight=[20.0, 1.0, 1.0, 2.0, 0.1, 0.1], input_weight=1.0,
    )  # fmt: skip
    weight = [10.0, 0.1, 0.1, 1.0, 0.01, 0.01]
    regulator = control.LQR(robot, np.zeros(n), period=DT, state_weight=weight, input_weight=0.1)
    start = hanging.copy()
    start[0] += 0.02
    stepper = ag.Stepper(robot, dt=DT, start=start, history=True)
    loop = control.run(stepper, Swing(plan, regulator), duration=SWING + HELD, observe=control.full_state)
    away = np.linalg.norm(loop.run.position(pendulum.tip) - [0.4, 0.0, 0.0], axis=1)
    weighs = 9.81 * 1100 * np.pi * 0.008**2 * 0.4
    return Result(plan, loop, 0.2 * weighs, float(np.max(away[loop.run.t > SWING + HELD - 1.0])))


def report(result):
    plan = result.plan
    return "\n".join([
        f"motor {MOTOR:g} N m; {result.lift:.3f} N m would lift the pendulum",
        f"iLQR: {len(plan.costs) - 1} iterations, {plan.seconds:.1f} s of the processor",
        f"ends {1e3 * abs(plan.run.q[-1, 0]):.1f} mrad from the top at {abs(plan.run.v[-1, 0]):.3f} rad/s",
        f"held: the tip stays within {1e3 * result.late:.2f} mm of the top in the last second",
    ])  # fmt: skip


def figures(folder, result=None):
    result = result or main()
    run = result.loop.run
    with figure_style():
        fig = figure(9.0, 3.2)
        left, right = fig.subplots(1, 2)
        left.plot(run.t, run["pendulum.angle"], color=COLOURS[0])
        right.plot(result.loop.t, result.loop.command("motor"), color=COLOURS[1])
        left.set(xlabel="t [s]", ylabel="[rad]", title="Angle from the top at the hinge")
        right.set(xlabel="t [s]", ylabel="[N m]", title="Torque of the motor")
        fig.savefig(Path(folder) / "swing_up.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(report(result))
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
