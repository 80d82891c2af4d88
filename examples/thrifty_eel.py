"""An eel learns to swim a given way with less energy: its cost of transport, made small by exact gradients.

Four muscles along the body bend it, each with a moment over time that is free. The search starts from a travelling wave and
changes 4 x 33 numbers at once; a simulation and its adjoint give the exact gradient of the energy that the muscles spend per
mass and way. Work that the body gives back to a muscle is lost. The head shall arrive where the first wave brought it.
"""

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, SOLID, figure, figure_style

LENGTH, MUSCLES = 0.6, 4
PERIOD, DURATION, STEP, KNOTS = 0.8, 2.4, 0.01, 33
MOMENT = 0.12  # of the first wave [N m]


@dataclass
class Result:
    plan: ag.MotionPlan
    first: ag.Trajectory  # the travelling wave
    mass: float  # [kg]
    spent: tuple[float, float]  # cost of transport before and after [J/(kg m)]


def hat(k, X):
    """Moment of a muscle along the body (3,)."""
    return 0.0, 0.0, max(0.0, 1.0 - abs(X / LENGTH * (MUSCLES + 1) - k - 1))


def eel():
    robot = ag.Robot("eel", gravity=(0, 0, 0))
    body = ag.EllipticProfile(
        lambda X: 0.016 * np.sqrt(np.maximum(1 - (X / LENGTH - 0.5) ** 2 / 0.26, 0.0)),
        lambda X: 0.035 * np.sqrt(np.maximum(1 - (X / LENGTH - 0.6) ** 2 / 0.4, 0.0)),
    )
    flesh = ag.Material(young=2e5, density=1000.0, damping=0.05)
    rod = ag.Rod(LENGTH, body, flesh, ag.strains.planar(5))
    fish = robot.add(rod, at=robot.ground, joint=ag.Planar("z"), name="fish")
    robot.load(ag.Morison(fish, axial=0.02))
    for k in range(MUSCLES):
        robot.load(ag.Muscle(fish, moment=robot.input(f"muscle_{k + 1}", "N m", along=partial(hat, k))))
    return robot, fish


def wave(k):
    """Moment of a muscle at the knots (33,) [N m]: a wave that runs to the tail, from rest in half a beat."""
    t = np.linspace(0.0, DURATION, KNOTS)
    rise = np.clip(2 * t / PERIOD, 0.0, 1.0)
    return MOMENT * rise**2 * (3 - 2 * rise) * np.sin(2 * np.pi * (t / PERIOD - 0.9 * (k + 1) / (MUSCLES + 1)))


def main(iterations=12):
    robot, fish = eel()
    guess = {f"muscle_{k + 1}": wave(k) for k in range(MUSCLES)}
    knots = np.linspace(0.0, DURATION, KNOTS)
    inputs = {name: partial(np.interp, xp=knots, fp=values) for name, values in guess.items()}
    first = ag.simulate(robot, duration=DURATION, dt=STEP, inputs=inputs)
    goal, mass = first.position(fish.root)[-1], first.mass
    spent = ag.Energy(1.0 / mass, recovered=False) / ag.Travel(fish.root, (-1, 0, 0))
    late = 200.0 * np.eye(round(DURATION / STEP) + 1)[-1]
    plan = ag.optimise_motion(
        robot, spent + ag.Reach(fish.root, goal, late), duration=DURATION, dt=STEP, inputs=guess, iterations=iterations
    )
    return Result(plan, first, mass, (spent(first), spent(plan.run)))


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.5, 3.4)
        left, right = fig.subplots(1, 2)
        t = np.linspace(0.0, DURATION, KNOTS)
        for k in range(MUSCLES):
            left.plot(t, wave(k), "--", color=COLOURS[k], lw=0.8)
            left.plot(t, result.plan.inputs[f"muscle_{k + 1}"], color=COLOURS[k], label=f"muscle {k + 1}")
        left.set(xlabel="t [s]", ylabel="moment [N m]", title="Moments: at first (dashed), and found")
        left.legend(frameon=False, fontsize=8, ncols=4, loc="upper center")
        left.set_ylim(-0.14, 0.17)
        for run, colour, label in ((result.first, SOLID, "travelling wave"), (result.plan.run, COLOURS[0], "found")):
            head = run.position(run.robot.part("fish").root)
            right.plot(run.t, -100 * head[:, 0], color=colour, label=label)
        right.set(xlabel="t [s]", ylabel="way of the head [cm]", title="The same way, with less energy")
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "thrifty_eel.png", dpi=110)


if __name__ == "__main__":
    result = main()
    before, after = result.spent
    print(result.plan)
    print(f"cost of transport: {before:.3f} J/(kg m) of the travelling wave, {after:.3f} found")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
