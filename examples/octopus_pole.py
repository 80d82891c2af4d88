"""An octopus arm winds around a pole, is let go, and holds its own weight by friction.

The arm is tapered. In water, where it weighs nothing, muscles bend and twist it to a helix narrower than the pole, from the
root to the tip, so that it winds around. Then its root is let go and the water runs out: friction on the pole carries all the
weight, and nothing creeps. With a tenth of the friction it slides down.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.lie import rotation
from anguilla.view.panels import draw_solid
from anguilla.view.scene import scene
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, THICK, THIN = 0.7, 0.012, 0.005  # of the arm, radii at its ends [m]
POLE, LEAD = 0.025, 0.1  # radius of the pole, distance from the root to it [m]
YOUNG, DENSITY, FRICTION = 1e6, 1050.0, 0.3
PITCH, GRIP = 0.06, 1.6  # of the helix [m]; its curvature over that of the pole
WIND, EBB, HOLD = 6.0, 1.5, 5.0  # how long it winds, the water runs out, and it holds [s]
WATER, STEP = 0.2, 0.02  # drag per length and speed [N s/m^2], time step [s]


@dataclass
class Result:
    winding: ag.Trajectory
    runs: tuple[ag.Trajectory, ag.Trajectory]  # let go, with friction and a tenth of it
    force: np.ndarray  # of the pole on the arm (time, 3) [N]


def smoothly(s):
    """From 0 to 1."""
    s = min(max(s, 0.0), 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


SECTION = ag.taper(ag.Circle(THICK), ag.Circle(THIN), LENGTH)


def muscles(X, t):
    """Moment of the muscles [N m]: what gives a free arm the helix, ahead of which a wave runs to the tip."""
    radius = THICK + (THIN - THICK) * X / LENGTH
    around, rise = POLE + radius, PITCH / (2 * np.pi)
    both = around**2 + rise**2
    reached = smoothly((LENGTH + 0.3) * t / (0.85 * WIND) / 0.3 - (X - LEAD) / 0.3) * smoothly((X - 0.5 * LEAD) / LEAD)
    bending = YOUNG * np.pi / 4 * radius**4
    return -reached * bending * 2 / 3 * rise / both, 0.0, -reached * bending * GRIP * around / both


def build(held, friction):
    weight = (0, 0, 0) if held else lambda t: (0, 0, -9.81 * smoothly(t / EBB))
    robot = ag.Robot("octopus", gravity=weight)
    silicone = ag.Material(young=YOUNG, density=DENSITY, poisson=0.5, damping=0.05)
    bend, twist = ag.PiecewisePolynomial(9, 2), ag.PiecewisePolynomial(5, 1)
    rod = ag.Rod(LENGTH, SECTION, silicone, ag.Strains(twist=twist, bend_y=bend, bend_z=bend), intervals=72)
    slope = np.arctan2(PITCH / (2 * np.pi), POLE + THICK)  # of the helix
    start = np.eye(4)
    start[:3, :3] = rotation((0, -1, 0), slope)
    start[:3, 3] = -LEAD * np.cos(slope), -POLE - THICK, -LEAD * np.sin(slope)
    joint = ag.Fixed() if held else ag.Free()
    arm = robot.add(rod, at=robot.ground, joint=joint, pose=start, name="arm")
    robot.load(ag.Muscle(arm, moment=muscles if held else lambda X: muscles(X, WIND), name="muscles"))
    pole = ag.Pillar((0, 0, 0), axis=(0, 0, 1), radius=POLE)
    robot.load(ag.Contact(arm, pole, 5e5, friction=friction, damping=1.0, name="pole"))
    robot.load(ag.SelfContact(arm, damping=1.0, friction=friction, spacing=THIN, name="itself"))
    for axis in np.eye(3) if held else ():
        robot.load(ag.WorldSpring(arm, 0.0, axis, damping=WATER))
    return robot, arm


def main():
    robot, _ = build(True, FRICTION)
    winding = ag.simulate(robot, duration=WIND, dt=STEP)
    runs = []
    for friction in (FRICTION, 0.1 * FRICTION):
        robot, _ = build(False, friction)
        start = np.concatenate([np.zeros(6), winding.q[-1]])
        runs.append(ag.simulate(robot, duration=HOLD if friction == FRICTION else EBB, dt=STEP, start=start))
    force = runs[0].exerted(runs[0].robot.loads[1]).force
    return Result(winding, tuple(runs), force)


def weight():
    """Of the arm [N]."""
    X = np.linspace(0.0, LENGTH, 1001)
    return 9.81 * DENSITY * np.pi * np.trapezoid((THICK + (THIN - THICK) * X / LENGTH) ** 2, X)


def height(run):
    """Of the middle of the arm (time,) [m]."""
    return run.centerline(run.robot.part("arm"), 100)[:, :, 2].mean(axis=1)


def figures(folder, result=None):
    result = result or main()
    run, slips = result.runs
    with figure_style():
        fig = figure(9.5, 5.8)
        grid = fig.add_gridspec(2, 3, height_ratios=(1.2, 1.0))
        stills = [(result.winding, 0.45 * WIND, "It winds around a pole,"), (result.winding, 0.68 * WIND, "in water,")]
        for k, (one, when, title) in enumerate([*stills, (run, HOLD, "and holds its weight")]):
            stage = fig.add_subplot(grid[0, k], projection="3d")
            draw_solid(stage, scene(one.picked([np.searchsorted(one.t, when - 1e-6)]), sections=150), [])
            stage.set_axis_off()
            stage.collections[0].set_clip_on(False)
            stage.set_title(title)
        lower = grid[1, :].subgridspec(1, 2)
        left, right = fig.add_subplot(lower[0, 0]), fig.add_subplot(lower[0, 1])
        left.plot(run.t, 100 * height(run), color=COLOURS[0], label=f"friction {FRICTION}")
        left.plot(slips.t, 100 * height(slips), color=COLOURS[1], label="a tenth of it")
        left.set(
            xlabel="t [s]", ylabel="height of the arm [cm]", ylim=(-30, 6), title="Let go, while the water runs out"
        )
        right.plot(run.t, result.force[:, 2], color=COLOURS[0], label="friction of the pole, upwards")
        right.axhline(weight(), ls="--", color="#8A94A0", label="weight")
        right.set(xlabel="t [s]", ylabel="force [N]", title="What carries it")
        for ax in (left, right):
            ax.legend(frameon=False)
        fig.savefig(Path(folder) / "octopus_pole.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.winding)
    line = result.winding.centerline(result.winding.robot.part("arm"), 200)[-1]
    turns = np.ptp(np.unwrap(np.arctan2(line[:, 1], line[:, 0]))) / (2 * np.pi)
    print(f"the arm winds {turns:.1f} times around the pole")
    print(f"the pole carries {result.force[-1, 2]:.6f} N, its weight is {weight():.6f} N")
    print(f"in the last 2 s it creeps by {1e9 * np.ptp(height(result.runs[0])[-round(2 / STEP) :]):.2f} nm")
    print(f"with a tenth of the friction it falls by {-100 * np.diff(height(result.runs[1])[[0, -1]])[0]:.0f} cm")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figures(folder, result)
    ag.animate(result.winding, folder / "octopus_pole.html")
