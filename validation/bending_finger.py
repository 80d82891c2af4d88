"""A thread-wound pneumatic finger against the bending formula that makers of such fingers published, as one picture.

Polygerinos and others (IEEE Transactions on Robotics 31, 2015) balance the moment of the pressure on the end of a half-round
chamber with that of the stresses in its walls. A sheet under the floor does not stretch, a thread around the finger keeps its
section. With z the height over the sheet and c the curvature, the wall is stretched by l = 1 + z c, and as it keeps its width,
neo-Hookean rubber bears mu (l - 1/l^3). Formula, sizes and modulus are written down as remembered, without the text at hand; their
measurements are not used. The round finger has the same moments, worked out here. The soft volume assumes nothing of its section.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np

import anguilla as ag
from anguilla import fem

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RADIUS, WALL = 8e-3, 2e-3  # of the chamber, of wall and floor [m]
OUTER = RADIUS + WALL
CAP, WHOLE = 3e-3, 0.16  # thickness of the ends, length of the finger [m]
PIECE = (
    0.06  # [m] computed of the round one, whose section is the same everywhere; the floor of the half-round one bulges
)
SHEAR = 0.314e6  # [Pa] of the silicone
THREAD = 4e7  # [Pa] stiffness of the thread, spread over the wall
CURVATURES = (2.0, 6.0, 12.0, 20.0)  # [1/m]
Floats = np.ndarray


def published(curvature: float, half: bool) -> float:
    """Pressure [Pa] at which the finger has a curvature [1/m], by moments about the sheet."""
    at, weight = np.polynomial.legendre.leggauss(32)
    moment = lambda z: SHEAR * ((1.0 + z * curvature) - (1.0 + z * curvature) ** -3) * z
    turn = 0.5 * np.pi if half else np.pi
    r, angle = RADIUS + 0.5 * WALL * (at + 1.0), turn * (at + 1.0)
    middle = WALL if half else OUTER  # height of the centre of the circles
    bears = 0.5 * WALL * turn * (weight @ (moment(middle + r[:, None] * np.sin(angle)) * r[:, None]) @ weight)
    if not half:
        return float(bears / (np.pi * RADIUS**2 * OUTER))
    bears += 0.5 * WALL * weight @ (moment(0.5 * WALL * (at + 1.0)) * 2.0 * OUTER)
    return float(bears / ((4.0 * RADIUS**3 + 3.0 * np.pi * RADIUS**2 * WALL) / 6.0))


def rounded(y: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Points of a square moved so that squares about its centre become circles."""
    size = np.maximum(np.maximum(np.abs(y), np.abs(z)), 1e-12)
    side = np.abs(y) >= np.abs(z)
    angle = np.where(side, 0.25 * np.pi * z / size, np.sign(z) * 0.25 * np.pi * (2.0 - np.abs(y) / size))
    return np.where(y < 0.0, -1.0, 1.0) * size * np.cos(angle), size * np.sin(angle)


def build(half: bool, cells: tuple[int, int]) -> fem.SoftBody:
    """A piece of the finger along x, with its sheet at z = 0; cells along it and across it."""
    height, centre = (OUTER + WALL, WALL) if half else (2.0 * OUTER, OUTER)
    count = (cells[0], cells[1], cells[1] // 2 if half else cells[1])
    box = fem.finger((_length(half) + 2.0 * CAP, 2.0 * OUTER, height), wall=WALL, cap=CAP, offset=0.0, cells=count)
    points = box.points - [CAP, 0.0, box.points[:, 2].min()]
    bent = points[:, 2] > centre + 1e-9 if half else np.ones(len(points), dtype=bool)
    y, z = rounded(points[bent, 1], points[bent, 2] - centre)
    points[bent, 1], points[bent, 2] = y, z + centre
    mesh = fem.TetMesh(points, box.tets, box.nodes, box.surfaces)
    silicone = ag.Material(young=3.0 * SHEAR, poisson=0.49, density=1130.0)
    law, still = fem.Yeoh(0.5 * SHEAR), (0.0, 0.0, 0.0)
    body = fem.SoftBody("finger", mesh, silicone, law=law, element="quadratic", gravity=still)
    body.fix("base")
    low = points[mesh.boundary][:, :, 2].max(axis=1) < (1e-9 if half else OUTER * (1.0 - np.cos(0.3)) + 1e-9)
    body.cover(fem.Layer(mesh.boundary[low], 1e-4, ag.Material(2e9, 1000.0, poisson=0.0)))
    body.reinforce(fem.Fibres(around(half, centre), THREAD))
    body.actuate("air", fem.Chamber("chamber", pressure=(0.0, 3e5)))
    return body


def around(half: bool, centre: float) -> Callable[[Floats], Floats]:
    """Directions (m, 3) of the thread at places (m, 3): round the chamber, and along a floor."""

    def along(place: Floats) -> Floats:
        out = np.stack([np.zeros(len(place)), centre - place[:, 2], place[:, 1]], axis=1)
        if half:
            out[place[:, 2] < centre] = 0.0, 1.0, 0.0
        return out / np.linalg.norm(out, axis=1, keepdims=True)

    return along


def _length(half: bool) -> float:
    return WHOLE if half else PIECE


def curvature_of(state: fem.SoftEquilibrium, length: float) -> float:
    """Curvature [1/m] of the sheet in the middle of the piece."""
    rest = state.system.rest.x
    line = np.flatnonzero((np.abs(rest[:, 1]) < 1e-9) & (rest[:, 2] < 1e-9))
    line = line[np.argsort(rest[line, 0])]
    line = line[(rest[line, 0] > 0.3 * length) & (rest[line, 0] < 0.7 * length)]
    step = np.diff(state.x[line], axis=0)
    turn = np.unwrap(np.arctan2(step[:, 2], step[:, 0]))
    return abs(float(np.polyfit(0.5 * (rest[line[1:], 0] + rest[line[:-1], 0]), turn, 1)[0]))


def measure(half: bool, cells: tuple[int, int], curvatures: tuple[float, ...] = CURVATURES) -> Floats:
    """Rows (k, 3): pressure [Pa], angle of the whole finger by the formula and here [rad]."""
    system, rows, state = fem.SoftSystem(build(half, cells)), [], None
    for curvature in curvatures:
        pressure = published(curvature, half)
        state = fem.statics(system, inputs={"air": pressure}, start=state)
        rows.append([pressure, WHOLE * curvature, WHOLE * curvature_of(state, _length(half))])
    return np.array(rows)


def main(path: str = "docs/figures/volumes/bending_finger.png") -> None:
    figure, axes = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    for half, name, colour in ((True, "half-round", "#D55E00"), (False, "round", "#0072B2")):
        line = np.linspace(0.1, 22.0, 60)
        axes.plot(
            [1e-3 * published(c, half) for c in line], np.degrees(WHOLE * line), color=colour, label=f"{name}, formula"
        )
        rows = measure(half, (16, 6) if half else (10, 6))
        axes.plot(1e-3 * rows[:, 0], np.degrees(rows[:, 2]), "o", color=colour, label=f"{name}, soft volume")
        print(f"{name}: pressure [kPa], angle by the formula [deg], here [deg], error [%]")
        for pressure, told, here in rows:
            print(
                f"  {1e-3 * pressure:6.1f}  {np.degrees(told):6.1f}  {np.degrees(here):6.1f}  {100 * (here / told - 1):6.1f}"
            )
    axes.set(xlabel="pressure [kPa]", ylabel="bending angle of 160 mm [deg]")
    axes.legend(frameon=False)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
