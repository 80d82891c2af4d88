"""A flexible pole is balanced upside down on a cart, from noisy sensors: LQG from the linear model of the robot.

The pole is an elastic rod on a hinge that turns freely. The only input is the force on the cart, by a drive with a limit. Two
sensors are read: an encoder of the cart and a camera that sees a marker at half of the pole. The filter finds the rest, the
bending of the pole among it. The pole is let go leaning, and is pushed aside after three seconds.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla import control, sensors
from anguilla.view.style import COLOURS, figure, figure_style

DT, PERIOD, DURATION = 0.0025, 0.01, 8.0  # [s]
LEAN, BLOW = 0.1, (3.0, 0.05, 0.3)  # [rad]; begin and length [s] of a push at the tip [N]
LENGTH = 0.8  # [m]


@dataclass
class Result:
    loop: control.ClosedLoop
    controller: control.LQG
    without: ag.Trajectory
    tip: np.ndarray  # (nt,) [m] of the tip beside the foot of the pole
    late: float  # [rad] largest lean in the last two seconds
    sag: float  # [m] by which the tip leaves the straight line of the pole, at most


def build():
    robot = ag.Robot("flexible_pole", gravity=(-9.81, 0, 0))  # x is up
    push = robot.input("push", "N", drive=ag.Drive(low=-15, high=15))
    blow = robot.input("blow", "N", along=(0, 1, 0))
    cart = ag.RigidBody(0.5, (1e-3,) * 3)
    cart = robot.add(cart, at=robot.ground, joint=ag.Prismatic("y", effort=push, damping=0.2), name="cart")
    plastic = ag.Material(young=3e9, density=1200, damping=2e-3)
    rod = ag.Rod(LENGTH, ag.Circle(0.004), plastic, ag.planar(3), intervals=6)
    pole = robot.add(rod, at=cart.frame, joint=ag.Revolute("z"), name="pole")
    robot.load(ag.Wrench(pole.tip, force=blow))
    robot.sense("cart", sensors.JointPosition(cart, noise=2e-4))
    robot.sense("marker", sensors.Position(pole.section(0.5 * LENGTH), noise=5e-4))
    return robot, pole


def main():
    robot, pole = build()
    upright = np.zeros(robot.size)
    start = upright.copy()
    start[1] = LEAN
    # of the state (q, v): the cart and the lean count, the bending a little
    weight = np.concatenate([[10.0, 10.0], np.full(robot.size - 2, 0.01), [1.0, 1.0], np.full(robot.size - 2, 0.01)])
    controller = control.LQG(
        robot, upright, period=PERIOD, state_weight=weight, input_weight=[0.01, 1e6], disturbance=[0.3, 0.05],
        limits={"blow": (0.0, 0.0)},
    )  # fmt: skip
    stepper = ag.Stepper(robot, dt=DT, start=start, history=True, seed=1)

    class Pushed:
        """The controller, and somebody who pushes the pole."""

        def reset(self):
            controller.reset()

        def update(self, reading, t):
            begin, length, force = BLOW
            return controller.update(reading, t) | {"blow": force if begin <= t < begin + length else 0.0}

    loop = control.run(stepper, Pushed(), duration=DURATION, period=PERIOD)
    without = ag.simulate(robot, duration=1.0, dt=DT, start=start)
    run, lean = loop.run, loop.run["pole.angle"]
    tip = run.position(pole.tip)[:, 1] - run["cart.slide"]
    sag = tip - LENGTH * np.sin(lean)
    late = float(np.max(np.abs(lean[run.t > DURATION - 2.0])))
    return Result(loop, controller, without, tip, late, float(np.max(np.abs(sag))))


def report(result):
    fastest = np.max(np.abs(result.controller.poles))
    return "\n".join([
        f"slowest pole of the loop {fastest:.4f} per period of {1e3 * PERIOD:g} ms",
        f"left alone the pole leans {abs(result.without['pole.angle'][-1]):.2f} rad after 1 s",
        f"held: largest lean of the last two seconds {1e3 * result.late:.1f} mrad",
        f"the tip bends by up to {1e3 * result.sag:.1f} mm",
        f"an update takes {1e6 * np.median(result.loop.seconds):.0f} us",
    ])  # fmt: skip


def figures(folder, result=None):
    result = result or main()
    run = result.loop.run
    with figure_style():
        fig = figure(9.0, 3.2)
        left, right = fig.subplots(1, 2)
        left.plot(run.t, 1e3 * run["pole.angle"], color=COLOURS[0], label="lean [mrad]")
        left.plot(run.t, 1e3 * run["cart.slide"], color=COLOURS[1], label="cart [mm]")
        right.plot(result.loop.t, result.loop.command("push"), color=COLOURS[2])
        left.set(xlabel="t [s]", title="A flexible pole held upright, pushed at 3 s")
        right.set(xlabel="t [s]", ylabel="[N]", title="Force on the cart")
        left.legend(frameon=False)
        fig.savefig(Path(folder) / "flexible_pole.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(report(result))
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
