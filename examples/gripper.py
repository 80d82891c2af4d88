"""Three soft fingers, each bent by a tendon, grasp a ball and a box, lift them, turn them, hold them and put them down.

The fingers touch the thing all along, with friction that holds: it does not creep. The palm goes up and turns by given
motions of its joints; the thing is a free body on a table. With a tenth of the friction it stays there. Slender fingers wrap
the ball. The box is pinched between three tips, by thicker ones: between slender ones it would turn away.
"""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.panels import draw_solid
from anguilla.view.scene import scene
from anguilla.view.style import COLOURS, figure, figure_style

FINGER, MASS = 0.12, 0.03  # length of a finger [m], mass of the thing [kg]
LIFT, TURN = 0.08, 1.0  # of the palm [m], [rad]
GRASP, RAISE, TWIST = (0.0, 0.7), (1.0, 2.0), (2.0, 3.0)  # from, until [s]
HOLD, STEP = 12.2, 4e-3  # in the air after that, time step [s]
SMALL = {"hold": 5.2}  # for the tests
FRICTION = 0.8


@dataclass
class Thing:
    body: ag.RigidBody
    size: float  # [m]
    palm: float  # height above the table [m]
    thick: float  # radius of the fingers [m]
    apart: float  # distance of the fingers from the middle [m]
    pull: float  # of each tendon [N]


THINGS = {
    "ball": Thing(ag.RigidBody.sphere(0.03, mass=MASS), 0.06, palm=0.125, thick=0.006, apart=0.045, pull=3.8),
    "box": Thing(ag.RigidBody.box((0.05, 0.05, 0.05), mass=MASS), 0.05, palm=0.14, thick=0.01, apart=0.05, pull=12.0),
}


@dataclass
class Result:
    hold: float  # how long they are held in the air [s]
    runs: dict[str, ag.Trajectory]  # of each thing
    slipping: dict[str, ag.Trajectory]  # with a tenth of the friction
    forces: dict[str, np.ndarray]  # of each finger on the thing (3, time, 3) [N]


def lower(hold):
    """From, until [s]."""
    return TWIST[1] + hold, TWIST[1] + hold + 1.0


def release(hold):
    """From, until [s]."""
    return lower(hold)[1], lower(hold)[1] + 0.7


def smoothly(t, when, derivative=0):
    """From 0 to 1 between two instants; or its first or second derivative."""
    long = when[1] - when[0]
    s = min(max((t - when[0]) / long, 0.0), 1.0)
    if derivative == 0:
        return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    return 30.0 * (s * (1.0 - s)) ** 2 / long if derivative == 1 else 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / long**2


def pose(place, rotation=None):
    out = np.eye(4)
    out[:3, 3] = place
    if rotation is not None:
        out[:3, :3] = rotation
    return out


def gripper(thing, friction, hold, modes=3, spacing=None):
    """The robot, with a thing on the table below it."""
    given = THINGS[thing]
    robot = ag.Robot("gripper")
    silicone = ag.Material(young=1.5e6, density=1100.0, poisson=0.5, damping=0.02)
    # motions with their rates and accelerations, which would be found by differences, in five times as many calls
    rise = [lambda t, k=k: LIFT * (smoothly(t, RAISE, k) - smoothly(t, lower(hold), k)) for k in range(3)]
    turn = [lambda t, k=k: TURN * smoothly(t, TWIST, k) for k in range(3)]
    up, around = ag.Prismatic((0, 0, 1), motion=tuple(rise)), ag.Revolute((0, 0, 1), motion=tuple(turn))
    slide = robot.add(
        ag.RigidBody.box((0.02, 0.02, 0.02), mass=0.1), at=robot.ground, joint=up, pose=pose((0, 0, given.palm))
    )
    palm = robot.add(ag.RigidBody.box((0.12, 0.12, 0.01), mass=0.2), at=slide.frame, joint=around, name="palm")
    free = robot.add(given.body, at=robot.ground, joint=ag.Free(), pose=pose((0, 0, 0.5 * given.size)), name=thing)
    for k in range(3):
        out = np.array([np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3), 0.0])
        down = np.array([0.0, 0.0, -1.0])
        axes = np.stack([down, -out, np.cross(down, -out)], axis=1)  # along the finger, inwards, sideways
        rod = ag.Rod(FINGER, ag.Circle(given.thick), silicone, ag.strains.kirchhoff(modes))
        finger = robot.add(rod, at=palm.frame, pose=pose(given.apart * out, axes), name=f"finger{k}")
        robot.actuate(f"tendon{k}", ag.Tendon(finger, ag.routings.parallel(y=0.7 * given.thick)))
        robot.load(ag.Contact(finger, free, friction=friction, damping=1.0, spacing=spacing, name=f"touch{k}"))
    robot.load(ag.Contact(free, ag.HalfSpace(), 5e3, friction=0.5, damping=2.0, name="table"))
    return robot


def grasp(thing, friction=FRICTION, duration=None, dt=STEP, hold=HOLD, modes=3, spacing=None, **options):
    robot = gripper(thing, friction, hold, modes, spacing)
    duration = release(hold)[1] + 0.3 if duration is None else duration
    pull = lambda t: THINGS[thing].pull * smoothly(t, GRASP) * (1.0 - smoothly(t, release(hold)))
    return ag.simulate(robot, duration=duration, dt=dt, inputs=dict.fromkeys(robot.actuators, pull), **options)


def main(hold=HOLD):
    runs = {thing: grasp(thing, hold=hold) for thing in THINGS}
    slipping = {thing: grasp(thing, 0.1 * FRICTION, RAISE[1] + 0.2, 0.25 * STEP) for thing in THINGS}
    forces = {
        thing: np.array([run.contacts(run.robot.loads[k]).force for k in range(3)]) for thing, run in runs.items()
    }
    return Result(hold, runs, slipping, forces)


def height(run, thing):
    """Of the middle of the thing [m], over time."""
    return run.position(run.robot.part(thing).frame)[:, 2]


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.5, 6.6)
        grid = fig.add_gridspec(2, 2, height_ratios=(1.25, 1.0))
        for k, (thing, run) in enumerate(result.runs.items()):
            stage = fig.add_subplot(grid[0, k], projection="3d")
            held = scene(run.picked([np.searchsorted(run.t, TWIST[1] + 2.0)]), around=48)
            draw_solid(stage, replace(held, obstacles=()), [])
            stage.set_axis_off()
            stage.set_title(f"A {thing} is held")
        left, right = fig.add_subplot(grid[1, 0]), fig.add_subplot(grid[1, 1])
        for k, thing in enumerate(THINGS):
            run, slips = result.runs[thing], result.slipping[thing]
            left.plot(run.t, 100 * height(run, thing), color=COLOURS[k], label=f"{thing}, friction {FRICTION}")
            left.plot(slips.t, 100 * height(slips, thing), "--", color=COLOURS[k], label=f"{thing}, a tenth of it")
            sizes = np.linalg.norm(result.forces[thing], axis=2)
            right.plot(run.t, sizes.mean(axis=0), color=COLOURS[k], label=f"of a finger on the {thing}")
            carried = result.forces[thing].sum(axis=0)[:, 2]
            right.plot(run.t, carried, ":", color=COLOURS[k], label=f"of all on the {thing}, upwards")
        left.set(xlabel="t [s]", ylabel="height of the middle [cm]", title="Grasp, lift, turn, hold, put down")
        right.set(xlabel="t [s]", ylabel="force [N]", title="What the fingers give")
        for ax in (left, right):
            ax.legend(frameon=False, fontsize=8)
        fig.savefig(Path(folder) / "gripper.png", dpi=110)


if __name__ == "__main__":
    result = main()
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for thing, run in result.runs.items():
        z, held = height(run, thing), np.flatnonzero((run.t > TWIST[1] + 2.0) & (run.t < lower(result.hold)[0]))
        print(run)
        print(
            f"the {thing} is lifted by {100 * (z[held[-1]] - z[0]):.2f} cm, and creeps by {1e9 * np.ptp(z[held]):.2f} nm"
        )
        carried = result.forces[thing][:, held[-1], 2].sum()
        print(f"the fingers carry {carried:.6f} N, its weight is {9.81 * MASS:.6f} N")
        print(
            f"with a tenth of the friction it gets no higher than {100 * height(result.slipping[thing], thing).max():.2f} cm"
        )
        ag.animate(run, folder / ("gripper.html" if thing == "ball" else f"gripper_{thing}.html"))
    figures(folder, result)
