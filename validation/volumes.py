"""Soft volumes against beam theory and against rods: how a cantilever of each element converges, as one picture."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import anguilla as ag
from anguilla import fem

matplotlib.use("Agg")
import matplotlib.pyplot as plt

LENGTH, SIDE, YOUNG, LOAD = 0.1, 0.01, 1e6, 1e-3
BOXES = {"linear": (2, 4, 8), "averaged": (2, 4, 6), "quadratic": (1, 2)}  # through the thickness
FINEST = 4  # of quadratic elements: what all of them tend to
STYLE = {"linear": ("#0072B2", "o"), "averaged": ("#D55E00", "s"), "quadratic": ("#009E73", "^")}


def beam(poisson: float) -> float:
    """Deflection [m] of the tip by Timoshenko, shear factor 5/6."""
    shear = YOUNG / (2 * (1 + poisson))
    return LOAD * LENGTH**3 / (3 * YOUNG * SIDE**4 / 12) + LOAD * LENGTH / (5 / 6 * shear * SIDE**2)


def bent(boxes: int, element: str, poisson: float) -> float:
    """Deflection of a block over that of the beam."""
    mesh = fem.block((LENGTH, SIDE, SIDE), (10 * boxes, boxes, boxes))
    material = ag.Material(young=YOUNG, poisson=poisson, density=1000.0)
    body = fem.SoftBody("block", mesh, material, element=element, gravity=(0, 0, 0))
    body.fix("base")
    body.effector("tip", (LENGTH, 0, 0))
    body.load(fem.PointForce((LENGTH, 0, 0), (0, 0, -LOAD)))
    return -float(fem.statics(body).position("tip")[2]) / beam(poisson)


def against_rod(boxes: int) -> float:
    """Distance of the tips of a heavy block and of its rod, over the way of the tip."""
    material, length, gravity = ag.Material(young=YOUNG, poisson=0.0, density=1000.0), 2 * LENGTH, (0, 0, -9.81)
    mesh = fem.block((length, SIDE, SIDE), (10 * boxes, boxes, boxes))
    body = fem.SoftBody("block", mesh, material, element="quadratic", gravity=gravity)
    body.fix("base")
    body.effector("tip", (length, 0, 0))
    robot = ag.Robot("rod", gravity=gravity)
    arm = robot.add(ag.Rod(length, ag.Rectangle(SIDE, SIDE), material, ag.reissner(6)), at=robot.ground, name="arm")
    tip = ag.statics(robot).position(arm.tip)
    return float(np.linalg.norm(fem.statics(body).position("tip") - tip) / np.linalg.norm(tip - [length, 0, 0]))


def measure(poisson: float) -> dict[str, list[float]]:
    """What each element lacks of the finest deflection, for all numbers of boxes."""
    limit = bent(FINEST, "quadratic", poisson)
    return {element: [limit - bent(n, element, poisson) for n in boxes] for element, boxes in BOXES.items()}


def _draw(numbers: dict[float, dict[str, list[float]]], path: Path) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 3.4), sharey=True, layout="constrained")
    for axes, (poisson, lacks) in zip(panels, numbers.items(), strict=True):
        for element, lack in lacks.items():
            color, marker = STYLE[element]
            axes.loglog(BOXES[element], lack, marker=marker, color=color, label=element)
        axes.set_xticks([1, 2, 4, 8], ["1", "2", "4", "8"])
        axes.minorticks_off()
        axes.set(xlabel="boxes through the thickness", title=f"Cantilever, Poisson's ratio {poisson:g}")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("lack of deflection")
    panels[0].legend(frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def figures(folder: str | Path) -> dict[str, float]:
    """Draw `volumes_bending.png` into the folder; returns the numbers of the report."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    numbers = {poisson: measure(poisson) for poisson in (0.3, 0.49)}
    _draw(numbers, folder / "volumes_bending.png")
    report: dict[str, float] = {}
    for element, boxes in BOXES.items():
        lack = numbers[0.3][element]
        report[f"bent block, {element}: order in the boxes"] = float(
            np.log(lack[-2] / lack[-1]) / np.log(boxes[-1] / boxes[-2])
        )
    for element in BOXES:
        gap = abs(bent(2, element, 0.49) - 1.0)
        report[f"bent block, nu = 0.49, two {element} boxes: gap to the beam"] = gap
    report["heavy block and rod: distance of the tips / way"] = against_rod(2)
    return report


if __name__ == "__main__":
    for name, value in figures("out/validation").items():
        print(f"{name:60s} {value:.3g}")
