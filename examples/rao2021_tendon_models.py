"""Four models of one tendon arm: an arc per section, an arc per piece, a rod, and a rod with tendons straight between discs.

Rao, Peyron, Lilge and Burgner-Kahrs 2021 compare models of tendon arms on a robot of two sections of 200 mm with ten discs
each, a backbone of 1.4 mm, and tendons at 10 mm from it. All their models are cases of one here:

- constant curvature (CC): one value of each bending for a section, which the tendons still bend in equilibrium;
- constant curvature between discs (CCsub): ten values a section;
- variable curvature (VC): a Kirchhoff rod with smooth strains, tendons at a fixed distance from it;
- their reference (VCref): every piece between two discs is a rod, and tendons are straight from disc to disc.

A force at the tip is raised from zero. What agrees with the paper: without a load all models are alike, a quarter percent
of the length from the reference; with one, those that let curvature vary along a section stay within 0.6 percent, and one
arc for a section is off by four percent. What does not: their constant-curvature model takes the lengths of the tendons and
knows no loads at all, so that its error is not the same number.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, DISCS, OFFSET, RADIUS = 0.2, 10, 0.01, 0.7e-3  # of a section, in it, of the tendons, of the backbone [m]
NITINOL = ag.Material(young=54e9, poisson=0.3, density=6450.0)
ANGLES = np.radians([90.0, -30.0, 210.0])  # of the three tendons of a section
PULLS = {"near_1": 2.0, "far_2": 1.0}  # [N]
FORCES = (0.0, 0.05, 0.1, 0.15, 0.2)  # at the tip, across [N]
SMOOTH = {
    "CC": ag.kirchhoff(1),
    "CCsub": ag.kirchhoff(DISCS, basis="piecewise_constant", twist_modes=1),
    "VC": ag.kirchhoff(6, twist_modes=3),
}


@dataclass
class Result:
    tips: dict[str, np.ndarray]  # by model (forces, 3) [m]
    errors: dict[str, np.ndarray]  # distance from the reference over the length of the arm (forces,)
    seconds: dict[str, float]  # of an equilibrium, one after the other
    lines: dict[str, np.ndarray]  # shapes under the largest force (points, 3) [m]


def holes():
    """Places of the three tendons of a section in its plane (3, 2) [m]."""
    return OFFSET * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def smooth(strains: ag.Strains, force: float):
    """The arm as two rods with tendons at a fixed distance; the robot, and the frames of its centreline."""
    robot = ag.Robot("smooth", gravity=(0, 0, 0))
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), NITINOL, strains)
    near = robot.add(rod, at=robot.ground, name="near_section")
    far = robot.add(rod, at=near.tip, name="far_section")
    for k, (y, z) in enumerate(holes()):
        robot.actuate(f"near_{k + 1}", ag.Tendon(near, ag.parallel(y=y, z=z)))
        robot.actuate(f"far_{k + 1}", ag.Tendon([near, far], ag.parallel(y=y, z=z)))
    robot.load(ag.TipWrench(far, force=(0, 0, -force)))
    frames = [part.section(x) for part in (near, far) for x in np.linspace(0, LENGTH, DISCS + 1)]
    return robot, frames


def jointed(force: float):
    """The reference: pieces of backbone between discs, tendons straight from disc to disc."""
    robot = ag.Robot("discs", gravity=(0, 0, 0))
    piece = ag.Rod(LENGTH / DISCS, ag.Circle(RADIUS), NITINOL, ag.kirchhoff(3, twist_modes=1))
    at, discs = robot.ground, [robot.ground]
    for k in range(2 * DISCS):
        at = robot.add(piece, at=at, name=f"piece_{k + 1}").tip
        discs.append(at)
    for k, (y, z) in enumerate(holes()):
        line = [disc.offset_by((0, y, z)) for disc in discs]
        robot.actuate(f"near_{k + 1}", ag.Tendon(line[: DISCS + 1], ()))
        robot.actuate(f"far_{k + 1}", ag.Tendon(line, ()))
    robot.load(ag.Wrench(at, force=(0, 0, -force)))
    return robot, discs


def main(forces=FORCES):
    tips, seconds, lines = {}, {}, {}
    for name in ("VCref", *SMOOTH):
        found = []
        robots = [jointed(force) if name == "VCref" else smooth(SMOOTH[name], force) for force in forces]
        began = perf_counter()
        for robot, frames in robots:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ag.AnguillaWarning)  # that one arc is too few modes is the subject
                eq = ag.statics(robot, inputs=PULLS)
            found.append(eq.position(frames[-1]))
        seconds[name] = (perf_counter() - began) / len(forces)
        tips[name] = np.array(found)
        lines[name] = np.array([eq.position(frame) for frame in frames])
    errors = {name: np.linalg.norm(tips[name] - tips["VCref"], axis=1) / (2 * LENGTH) for name in SMOOTH}
    return Result(tips, errors, seconds, lines)


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.0, 3.6)
        left, right = fig.subplots(1, 2)
        for k, (name, line) in enumerate(result.lines.items()):
            style = {"color": "k", "lw": 2.5, "alpha": 0.5} if name == "VCref" else {"color": COLOURS[k]}
            left.plot(line[:, 0], line[:, 2], label=name, **style)
        left.set(xlabel="x [m]", ylabel="z [m]", title=f"{FORCES[-1]} N at the tip")
        left.set_aspect("equal")
        left.legend(frameon=False)
        for k, (name, error) in enumerate(result.errors.items()):
            right.plot(FORCES[: len(error)], 100 * error, "-o", ms=4, color=COLOURS[k + 1], label=name)
        right.set(
            xlabel="force at the tip [N]",
            ylabel="tip from the reference [% of the length]",
            title="One arc is not enough",
        )
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "rao2021_tendon_models.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print("force at the tip [N]   ", *(f"{force:8.2f}" for force in FORCES))
    for name, error in result.errors.items():
        print(
            f"{name:6s} % of the length  ",
            *(f"{100 * e:8.2f}" for e in error),
            f"  {1e3 * result.seconds[name]:.1f} ms",
        )
    print(f"VCref                  {1e3 * result.seconds['VCref']:.1f} ms")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
