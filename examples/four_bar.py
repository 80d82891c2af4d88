"""A four-bar linkage: a crank turned at a constant speed drives a rocker through a coupler.

The tree of parts goes from the ground through crank and coupler, and from the ground through the rocker; a hinge between
coupler and rocker closes the loop. In space three of its five constraints follow from the others, and the library leaves
them out with a warning. The torque of the crank and the force in the pin are results.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, FAINT, figure, figure_style

CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.8, 0.7, 0.9  # [m]
SPEED = 2 * np.pi  # of the crank [rad/s]
HINGE = (0, -1, 0)  # turns x towards z


@dataclass
class Result:
    run: ag.Trajectory
    pin: ag.Closure
    gap: float  # of the loop, at most [m]
    effort: np.ndarray  # torque of the crank (time,) [N m]
    force: np.ndarray  # in the pin, on the rocker (time, 3) [N]
    curve: np.ndarray  # of a point of the coupler (time, 3) [m]
    warning: str


def build():
    """Return the robot and its closure."""
    bar = lambda length, mass: ag.RigidBody.box((length, 0.03, 0.03), mass=mass, com=(length / 2, 0, 0))
    turn = (lambda t: SPEED * t, lambda t: SPEED, lambda t: 0.0)
    robot = ag.Robot("four_bar")
    crank = robot.add(bar(CRANK, 0.5), at=robot.ground, joint=ag.Revolute(HINGE, motion=turn), name="crank")
    coupler = robot.add(bar(COUPLER, 1.2), at=crank.at((CRANK, 0, 0)), joint=ag.Revolute(HINGE), name="coupler")
    rocker = robot.add(
        bar(ROCKER, 0.9), at=robot.ground.offset_by((GROUND, 0, 0)), joint=ag.Revolute(HINGE), name="rocker"
    )
    pin = robot.close(coupler.at((COUPLER, 0, 0)), rocker.at((ROCKER, 0, 0)), joint=ag.Revolute(HINGE), name="pin")
    return robot, pin


def main(duration=2.0, dt=2e-3):
    robot, pin = build()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ag.AnguillaWarning)
        run = ag.simulate(robot, duration=duration, dt=dt, start=[0.0, 1.0, 2.0])  # near enough to be mounted
    coupler, rocker = robot.part("coupler"), robot.part("rocker")
    gap = np.abs(run.position(coupler.at((COUPLER, 0, 0))) - run.position(rocker.at((ROCKER, 0, 0)))).max()
    effort = run.effort(robot.part("crank"))[:, 0]
    force = np.einsum("tij,tj->ti", run.pose(rocker.frame)[:, :3, :3], run.reaction(pin)[:, 3:])
    curve = run.position(coupler.at((COUPLER / 2, 0, 0.25)))
    return Result(run, pin, gap, effort, force, curve, str(said[0].message))


def figures(folder, result=None):
    result = result or main()
    run = result.run
    parts = {name: run.robot.part(name) for name in ("crank", "coupler", "rocker")}
    ends = dict(zip(parts, (CRANK, COUPLER, ROCKER), strict=True))
    turn = slice(0, round(2 * np.pi / SPEED / (run.t[1] - run.t[0])) + 1)
    with figure_style():
        fig = figure(9.0, 3.6)
        left, right = fig.subplots(1, 2, width_ratios=(1.1, 1))
        for k in np.linspace(0, turn.stop - 1, 9).astype(int)[:-1]:
            for c, (name, part) in enumerate(parts.items()):
                line = np.array([run.position(part.frame)[k], run.position(part.at((ends[name], 0, 0)))[k]])
                left.plot(
                    line[:, 0],
                    line[:, 2],
                    "-o",
                    color=COLOURS[c],
                    ms=3,
                    lw=2.0 if k == 0 else 0.8,
                    alpha=1.0 if k == 0 else 0.5,
                )
        left.plot(result.curve[turn, 0], result.curve[turn, 2], color="k", lw=1.2)
        left.plot([0, GROUND], [0, 0], "s", color=FAINT, ms=8, zorder=0)
        left.set(xlabel="x [m]", ylabel="z [m]", title="One turn; black: a point of the coupler")
        left.set_aspect("equal")
        right.plot(run.t, result.effort, color=COLOURS[0], label="torque of the crank [N m]")
        right.plot(run.t, np.linalg.norm(result.force, axis=1), color=COLOURS[1], label="force in the pin [N]")
        right.set(xlabel="t [s]", title="What it takes")
        right.legend(frameon=False, loc="upper right")
        fig.savefig(Path(folder) / "four_bar.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.warning)
    print(f"largest gap {result.gap:.1e} m, torque up to {np.abs(result.effort).max():.2f} N m")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
