"""How many strain modes do the benchmarks of beams take? A circle, a bow pushed out of its plane, the Princeton beam.

Rods of strain modes (Renda et al. 2020, and the review of Armanini et al. 2023) are compared with beams of finite elements on
classical cases:

- a cantilever rolled up to a circle by a moment at its tip: its curvature is constant, so one mode is exact;
- a bow of 45 degrees pushed out of its plane (Bathe and Bolourchi 1979): Simo and Vu-Quoc 1986 give the tip at (58.84, 22.33,
  40.08) under 300 and (47.23, 15.79, 53.37) under 600;
- the Princeton beam (Dowell and Traybill 1975), a strip loaded at its tip at angles between its stiff and its soft side: here
  against the geometrically exact beams of Exudyn's test model.

What agrees: four modes of each strain are within a thousandth of the length of what eight give, in all cases. What does not:
the published tips of the bow were found with eight linear elements and stay 0.2 % of the length away from the settled ones.
With one mode the library itself says that there are too few.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, figure, figure_style

MODES = (1, 2, 3, 4, 6, 8)
ARC = 100 * np.pi / 4
BOW = {300.0: (58.84, 22.33, 40.08), 600.0: (47.23, 15.79, 53.37)}  # tip of the bow, whose radius is 100
ANGLES = np.radians([0, 15, 30, 45, 60, 75, 90])
# Tip of the Princeton beam under 13.345 N: down the stiff side and across, 64 exact beams of Exudyn 1.13 [m]
STRIP = np.array([
    [0.01606020, 0.0], [0.01657636, 0.06472954], [0.01698805, 0.11817193], [0.01561933, 0.15676560], [0.01196210, 0.18199412],
    [0.00646955, 0.19612878], [0.0, 0.20067392],
])  # fmt: skip


@dataclass
class Result:
    modes: tuple[int, ...]
    circle: list[float]  # distance of the tip from the root / length, for every number of modes
    bow: dict[float, list[float]]  # distance of the tip from the settled one / length, by force
    published: dict[float, float]  # distance of the settled tip from the published one / length, by force
    strip: list[float]  # largest distance of the tip from Exudyn's / length
    told: list[int]  # how many equilibria were said to have too few modes
    tips: np.ndarray  # of the Princeton beam with most modes (angles, 3) [m]


def rolled_up(modes: int) -> float:
    """Gap of a rod that a moment 2 pi E I / L should close, over its length."""
    rod = ag.Rod(1.0, ag.Circle(0.01), ag.Material(young=1e7, density=1000), ag.planar(modes))
    robot = ag.Robot("circle", gravity=(0, 0, 0))
    arm = robot.add(rod, at=robot.ground)
    robot.load(ag.TipWrench(arm, moment=(0, 0, 2 * np.pi * 1e7 * np.pi * 0.01**4 / 4)))
    return float(np.linalg.norm(ag.statics(robot).position(arm.tip)))


def bow(modes: int, force: float) -> np.ndarray:
    """Tip of the bow (3,), in the order of the publication: along its root, across in its plane, out of it."""
    young = 1e7
    stiffness = [young / 2 / 6, young / 12, young / 12, young, young / 2, young / 2]  # a unit square, Poisson's ratio 0
    rod = ag.Rod(
        ARC, ag.Rectangle(1.0, 1.0), ag.Material(young=young, poisson=0.0, density=1000), ag.reissner(modes),
        rest=ag.ConstantCurvature(bend_z=0.01), stiffness=stiffness,
    )  # fmt: skip
    robot = ag.Robot("bow", gravity=(0, 0, 0))
    arm = robot.add(rod, at=robot.ground)
    robot.load(ag.TipWrench(arm, force=(0, 0, force)))
    return ag.statics(robot).position(arm.tip)


def strip(modes: int, angle: float, force: float = 13.345) -> np.ndarray:
    """Displacement of the tip of the Princeton beam (3,) [m], with Exudyn's torsion constant."""
    height, width = 12.3777e-3, 3.2024e-3
    second_y, second_z = height * width**3 / 12, width * height**3 / 12
    section = ag.GeneralSection(height * width, second_y, second_z, 0.198 * (second_y + second_z))
    rod = ag.Rod(0.508, section, ag.Material(young=71.7e9, poisson=0.31, density=2700), ag.reissner(modes))
    robot = ag.Robot("princeton", gravity=(0, 0, 0))
    arm = robot.add(rod, at=robot.ground)
    robot.load(ag.TipWrench(arm, force=(0, -force * np.cos(angle), force * np.sin(angle))))
    return ag.statics(robot).position(arm.tip) - (0.508, 0, 0)


def main(modes=MODES):
    settled = {force: bow(10, force) for force in BOW}
    result = Result(tuple(modes), [], {force: [] for force in BOW}, {}, [], [], np.zeros((len(ANGLES), 3)))
    for count in modes:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", ag.AnguillaWarning)
            result.circle.append(rolled_up(count))
            for force in BOW:
                result.bow[force].append(float(np.linalg.norm(bow(count, force) - settled[force]) / ARC))
            result.tips = np.array([strip(count, angle) for angle in ANGLES])
        result.strip.append(float(np.linalg.norm(result.tips[:, 1:] - STRIP * (-1, 1), axis=1).max() / 0.508))
        result.told.append(sum("too few modes" in str(one.message) for one in said))
    result.published = {force: float(np.linalg.norm(settled[force] - want) / ARC) for force, want in BOW.items()}
    return result


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.0, 3.4)
        left, right = fig.subplots(1, 2)
        for k, (force, errors) in enumerate(result.bow.items()):
            left.semilogy(result.modes, errors, "-o", ms=4, color=COLOURS[k], label=f"bow, force {force:.0f}")
        left.semilogy(result.modes, result.strip, "-s", ms=4, color=COLOURS[2], label="Princeton beam, against Exudyn")
        left.set(xlabel="modes of each strain", ylabel="distance of the tip / length", title="Few modes do")
        left.legend(frameon=False)
        angles = np.degrees(ANGLES)
        for k, name in ((0, "down the stiff side"), (1, "across")):
            right.plot(angles, np.abs(result.tips[:, k + 1]), color=COLOURS[k], label=name)
            right.plot(angles, STRIP[:, k], "k.", ms=5, label="Exudyn" if k else None)
        right.set(xlabel="angle of the force [degrees]", ylabel="tip [m]", title="Princeton beam, 13.345 N")
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "renda2020_strain_modes.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print("modes                     ", *(f"{count:8d}" for count in result.modes))
    print("circle, gap / length      ", *(f"{gap:8.1e}" for gap in result.circle))
    for force, errors in result.bow.items():
        print(
            f"bow, {force:.0f}: tip / length   ",
            *(f"{error:8.1e}" for error in errors),
            f"; published {result.published[force]:.2%} away",
        )
    print("Princeton: tip / length   ", *(f"{error:8.1e}" for error in result.strip))
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
