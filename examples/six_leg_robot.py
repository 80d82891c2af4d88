"""A continuum parallel robot: a platform on six elastic legs that are pushed and pulled through holes of a base.

Each leg is a steel rod, clamped in a slider at the base and in the platform. The sliders are prescribed; the platform goes
where the six rods agree. The tree goes through one leg to the platform; five closures hold it on the others. First the
sliders are set and the equilibrium is found; then a load is dropped from the platform and it swings.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, BASE, TOP = 0.4, 0.09, 0.06  # of the legs, radii of the circles of holes [m]
SPREAD = (np.radians(15), np.radians(45))  # half angle between the two holes of a pair, base and platform
STEEL = ag.Material(young=207e9, poisson=0.3, density=7800, damping=2e-4)
LOAD = np.array([3.0, 0.0, -6.0])  # [N]
UP = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])  # turns x, the axis of a rod, to z
SLIDES = np.array([0.02, 0.02, 0.0, -0.01, -0.01, 0.0])  # of the sliders [m]


@dataclass
class Result:
    equilibrium: ag.Equilibrium
    level: list  # centre lines of the legs with level sliders and no load (40, 3) each [m]
    run: ag.Trajectory
    platform: ag.Frame
    legs: list
    closures: list
    place: np.ndarray  # of the loaded platform (3,) [m]
    balance: np.ndarray  # forces on the platform, legs and load and weight (3,) [N]
    gap: float  # of the closures during the motion, at most [m]


def holes(radius, spread):
    """Angles and places (6, 3) of three pairs of holes."""
    angles = np.repeat(np.radians([0, 120, 240]), 2) + np.tile([-spread, spread], 3)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), 0 * angles], axis=1)


def pose(place, turn=UP):
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = turn, place
    return out


def build(load, slides=SLIDES, modes=4):
    """Return the robot, its platform, legs and closures; load: force on the platform, constant or a function of t."""
    robot = ag.Robot("six_legs")
    rod = ag.Rod(LENGTH, ag.Circle(1e-3), STEEL, ag.kirchhoff(modes, twist_modes=1))
    low, high = holes(BASE, SPREAD[0]), holes(TOP, SPREAD[1])
    legs = [
        robot.add(
            rod,
            at=robot.ground,
            pose=pose(place),
            joint=ag.Prismatic((1, 0, 0), motion=float(slide)),
            name=f"leg_{k + 1}",
        )
        for k, (place, slide) in enumerate(zip(low, slides, strict=True))
    ]
    plate = ag.RigidBody.cylinder(0.07, 0.01, mass=0.15)  # its axis along x, like the legs
    to_body = lambda place: UP.T @ place
    platform = robot.add(plate, at=legs[0].tip.offset_by(-to_body(high[0])), name="platform")
    closures = [
        robot.close(leg.tip, platform.at(to_body(place))) for leg, place in zip(legs[1:], high[1:], strict=True)
    ]
    robot.load(ag.Wrench(platform.frame, force=load, name="load"))
    return robot, platform, legs, closures


def main(modes=4, dt=1e-3, duration=0.4):
    robot, _, legs, _ = build((0.0, 0.0, 0.0), 0 * SLIDES, modes)
    rest = ag.statics(robot)
    level = [rest.centerline(leg, 40) for leg in legs]
    robot, platform, legs, closures = build(tuple(LOAD), modes=modes)
    start = ag.statics(robot)
    forces = [start.pose(platform.frame)[:3, :3] @ start.reaction(c)[3:] for c in closures]
    own = (
        start.pose(legs[0].tip)[:3, :3] @ start.wrench(legs[0], [LENGTH * (1 - 1e-9)])[0, 3:]
    )  # platform on the first leg
    place = start.position(platform.frame)
    balance = sum(forces) - own + LOAD + [0, 0, -0.15 * 9.81]
    robot, platform, legs, closures = build((0.0, 0.0, 0.0), modes=modes)
    run = ag.simulate(robot, duration=duration, dt=dt, start=start.q)
    gap = max(np.abs(run.position(c.a) - run.position(c.b)).max() for c in closures)
    return Result(start, level, run, platform.frame, legs, closures, place, balance, gap)


def figures(folder, result=None):
    result = result or main()
    run = result.run
    with figure_style():
        fig = figure(9.0, 4.0)
        space, right = fig.add_subplot(1, 2, 1, projection="3d"), fig.add_subplot(1, 2, 2)
        for lines, style in (([run.centerline(leg, 40)[0] for leg in result.legs], "-"), (result.level, "--")):
            tips = []
            for k, line in enumerate(lines):
                space.plot(*line.T, style, color=COLOURS[k % 6], lw=1.8 if style == "-" else 0.8)
                tips.append(line[-1])
            space.plot(*np.array([*tips, tips[0]]).T, style, color="k", lw=1.4 if style == "-" else 0.8)
        space.plot(*np.vstack([holes(BASE, SPREAD[0]), holes(BASE, SPREAD[0])[:1]]).T, color="0.6", lw=1.0)
        space.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", title="Sliders set and loaded; dashed: level")
        space.locator_params(nbins=4)
        space.set_aspect("equal")
        space.set_box_aspect(None, zoom=0.85)
        space.view_init(18, -60)
        way = 1e3 * (run.position(result.platform) - run.position(result.platform)[0])
        for k, name in enumerate("xyz"):
            right.plot(run.t, way[:, k], color=COLOURS[k], label=name)
        right.set(xlabel="t [s]", ylabel="[mm]", title="Way of the platform after the load is dropped")
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "six_leg_robot.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.equilibrium, result.run, sep="\n")
    print(f"platform at {result.place.round(4)} m, largest gap {result.gap:.1e} m")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
