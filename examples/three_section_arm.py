"""An arm of three sections with nine tendons, shaped by the lengths of its tendons alone.

Each section bends by three tendons that run through the sections before it. The lengths are those which constant
curvatures would need, with all tendons tight; the arm follows, up to the give of its tendons, its weight and a payload.
Their tensions are found.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.linalg import expm

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, OFFSET = 0.2, 0.015  # of a section, of the tendons [m]
STRETCH = (0.94, 0.96, 0.98)  # of each section, so that all its tendons pull
RUBBER = ag.Material(young=2e6, poisson=0.49, density=1000, damping=0.02)
GOALS = np.array([[0.0, 5.0], [6.0, -3.0], [-4.0, -6.0]])  # wanted curvature about y and z of each section [1/m]
GIVE = 2e-5  # of a tendon [m/N]


@dataclass
class Result:
    free: ag.Equilibrium  # without weight
    loaded: ag.Equilibrium  # with weight and payload
    run: ag.Trajectory  # from straight to the goals
    rods: list
    tips: tuple  # without weight and with it (3,) each [m]
    wanted: np.ndarray  # tip of an arm of constant curvatures (3,) [m]


def places(section):
    """(y, z) of the three tendons of a section, turned by 40 degrees from one section to the next."""
    angles = np.radians(40 * section) + np.radians([0, 120, 240])
    return OFFSET * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def lengths(goals):
    """Lengths of the tendons (name: m) for constant curvatures: a line at (y, z) measures L (s + Ky z - Kz y)."""
    out = {}
    for last in range(3):
        for k, (y, z) in enumerate(places(last)):
            out[f"t{last + 1}{k + 1}"] = sum(
                LENGTH * (s + K[0] * z - K[1] * y) for s, K in zip(STRETCH[: last + 1], goals, strict=False)
            )
    return out


def build(payload=0.0, gravity=(0.0, 0.0, 0.0)):
    robot = ag.Robot("three_sections", gravity=gravity)
    rods, at = [], robot.ground
    for k in range(3):
        rod = ag.Rod(LENGTH, ag.Circle(0.008), RUBBER, ag.extensible_kirchhoff(3, twist_modes=1, stretch_modes=1))
        rods.append(robot.add(rod, at=at, name=f"section_{k + 1}"))
        at = rods[-1].tip
    if payload:
        robot.add(ag.RigidBody.sphere(0.015, mass=payload), at=at, name="payload")
    for last in range(3):
        for k, (y, z) in enumerate(places(last)):
            path = ag.Tendon(rods[: last + 1], ag.parallel(y=y, z=z), by="length", compliance=GIVE)
            robot.actuate(f"t{last + 1}{k + 1}", path)
    return robot, rods


def arc_tip():
    """Tip of three arcs of constant curvature: products of exponentials."""
    pose = np.eye(4)
    for stretch, (ky, kz) in zip(STRETCH, GOALS, strict=True):
        twist = np.zeros((4, 4))
        twist[:3, :3] = [[0, -kz, ky], [kz, 0, 0], [-ky, 0, 0]]
        twist[0, 3] = stretch
        pose = pose @ expm(LENGTH * twist)
    return pose[:3, 3]


def main(dt=5e-3, duration=1.5):
    robot, rods = build()
    free = ag.statics(robot, inputs=lengths(GOALS))
    tip = free.position(rods[-1].tip)
    robot, rods = build(payload=0.01, gravity=(9.81, 0.0, 0.0))  # it hangs
    loaded = ag.statics(robot, inputs=lengths(GOALS))
    ramp = lambda t: 1.0 if t > 1.0 else t - np.sin(2 * np.pi * t) / (2 * np.pi)
    inputs = {name: (lambda t, name=name: lengths(ramp(t) * GOALS)[name]) for name in lengths(GOALS)}
    begin = ag.statics(robot, inputs=lengths(0 * GOALS))
    run = ag.simulate(robot, duration=duration, dt=dt, inputs=inputs, start=begin)
    return Result(free, loaded, run, rods, (tip, loaded.position(rods[-1].tip)), arc_tip())


def figures(folder, result=None):
    result = result or main()
    run = result.run
    with figure_style():
        fig = figure(9.0, 4.2)
        space, right = fig.add_subplot(1, 2, 1, projection="3d"), fig.add_subplot(1, 2, 2)
        for k in np.linspace(0, len(run.t) - 1, 6).astype(int):
            for c, rod in enumerate(result.rods):
                line = run.centerline(rod, 30)[k]
                space.plot(
                    line[:, 1], line[:, 2], -line[:, 0], color=COLOURS[c], lw=2.5 if k == len(run.t) - 1 else 0.8
                )
        space.set(xlabel="y [m]", ylabel="z [m]", zlabel="-x [m]", title="From straight to the goal")
        space.locator_params(nbins=4)
        space.set_aspect("equal")
        space.set_box_aspect(None, zoom=0.85)
        space.view_init(15, -50)
        for k, name in enumerate(lengths(GOALS)):
            right.plot(run.t, run.tension(name), color=COLOURS[k // 3], lw=1.2, ls=("-", "--", ":")[k % 3], label=name)
        right.set(xlabel="t [s]", ylabel="[N]", title="Tensions, found from the lengths")
        right.legend(frameon=False, ncols=3, fontsize=8)
        fig.savefig(Path(folder) / "three_section_arm.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.free, result.loaded, result.run, sep="\n")
    print(f"tip without weight {result.tips[0].round(4)} m, three arcs {result.wanted.round(4)} m")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
