"""A pneumatic finger of five chambers against its measured bending curve, and what its mesh is worth, as one picture.

The finger is an example of the design tool for soft pneumatic actuators of EPFL's Reconfigurable Robotics Laboratory (P. Moseley,
2015; repository HARSHAL-IITB/spa-design-tool, MIT licence). Every number below comes from its public files, none from memory; no
paper about it was at hand:

- sizes, supports, loads and the angle: abq_create_geom.py, create_result_plots.py;
- Ecoflex 00-30, Ogden's law fitted to tension and planar tests, Poisson's ratio 0.48: ogden3--FINAL--UniaxialPlanar.mat;
- measured angles: actuator--bendingU/chamber8x8-c5-w7.csv, a slow ramp of 1 kPa in 6 s, read at whole kPa.

Nothing is fitted here. The film of silk is a cloth: it bears tension along and across, and no compression (as a stiff sheet
without bending stiffness it would wrinkle between the nodes of any mesh). Its stiffness is a tenth of theirs, which changes the
angle by 0.6 %; it does not stretch either way. Gravity is left out, as they do.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np

import anguilla as ag
from anguilla import fem
from anguilla.errors import SolverError
from anguilla.fem.lattice import lattice

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Floats = np.ndarray
CHAMBER = 2e-3, 8e-3, 8e-3  # length, width, height [m]
TUNNEL = 2e-3, 2e-3  # width and height of the tunnel between the chambers [m]
WALL = 7e-3  # around, above and between the chambers [m]
SKIN = 1e-4  # [m] of rubber under the chambers, which carries the threads of the cloth
CLOTH = 0.5e-3 * 410e6  # [N/m] stiffness of the film, per width; 4.1 GPa and 0.5 mm in the tool
OGDEN = (24.3610418119e3, 1.71377656933), (66.7031796838, 7.0678724376), (453.810089515, -3.36588070882)  # [Pa], [-]
MEASURED = np.array(
    [
        (12, 1.20), (14, 1.41), (16, 1.71), (17, 1.91), (23, 3.61), (25, 4.32), (28, 5.82), (29, 6.43), (31, 8.24),
        (32, 9.48), (33, 11.12), (34, 13.64), (35, 18.92), (36, 31.30), (37, 40.90), (38, 47.00), (40, 54.95),
        (42, 60.36), (45, 68.50),
    ]
)  # fmt: skip
PRESSURES = (5.0, 10.0, 14.0, 17.0, 20.0, 23.0, 26.0, 29.0, 31.0, 33.0, 34.0, 35.0)  # [kPa]; then by volumes
KNEE = 34.0  # [kPa] below which the chambers do not balloon yet


class Cells(NamedTuple):
    """Number of boxes along each piece of the finger."""

    chamber: int = 1
    wall: int = 2
    tunnel: int = 1  # half its width
    beside: int = 1  # from the tunnel to the side of a chamber
    side: int = 2
    low: int = 1  # height of the tunnel
    high: int = 2  # from there to the top of a chamber
    top: int = 2


COARSE, MIDDLE, FINE = Cells(), Cells(2, 3, 1, 2, 3, 1, 3, 3), Cells(2, 4, 1, 3, 4, 2, 4, 4)


def planes(*pieces: tuple[float, int]) -> Floats:
    """Positions of the planes of a lattice, by lengths [m] and numbers of boxes."""
    parts = [np.full(count, length / count) for length, count in pieces]
    return np.append(0.0, np.cumsum(np.concatenate(parts)))


def build(chambers: int = 5, cells: Cells = COARSE) -> tuple[fem.SoftBody, float]:
    """Half of the finger (y > 0) along x, with its film at z = 0, and its length [m]."""
    c, length = cells, CHAMBER[0]
    x = planes((WALL, c.wall), *[piece for _ in range(chambers) for piece in ((length, c.chamber), (WALL, c.wall))])
    half, rest = 0.5 * TUNNEL[0], 0.5 * (CHAMBER[1] - TUNNEL[0])
    y = planes((half, c.tunnel), (rest, c.beside), (WALL, c.side))
    z = np.append(-SKIN, planes((TUNNEL[1], c.low), (CHAMBER[2] - TUNNEL[1], c.high), (WALL, c.top)))
    a, b, h = np.meshgrid(*(0.5 * (p[1:] + p[:-1]) for p in (x, y, z)), indexing="ij")
    begin = WALL + (WALL + length) * np.arange(chambers)
    within = ((a[..., None] > begin) & (a[..., None] < begin + length)).any(axis=-1)
    hollow = within & (b < 0.5 * CHAMBER[1]) & (h > 0.0) & (h < CHAMBER[2])
    hollow |= (a > WALL) & (a < x[-1] - WALL) & (b < half) & (h > 0.0) & (h < TUNNEL[1])
    number = np.indices(tuple(n + 1 for n in hollow.shape))

    def place(g: Floats) -> Floats:
        i, j, k = g.astype(int).T
        return np.stack([x[i], y[j], z[k]], axis=1)

    mesh = lattice(hollow.shape, place, keep=~hollow, nodes={"base": number[0] == 0, "middle": number[1] == 0})
    cloth = np.flatnonzero(mesh.points[mesh.tets][:, :, 2].max(axis=1) < 1e-9)
    mesh = fem.TetMesh(mesh.points, mesh.tets, mesh.nodes, {}, {"cloth": cloth})
    law = fem.Ogden([(2.0 * mu / alpha, alpha) for mu, alpha in OGDEN])  # the tool counts 2 mu / alpha^2
    rubber = ag.Material(young=3.0 * law.shear, poisson=0.48, density=1070.0)
    body = fem.SoftBody("finger", mesh, rubber, law=law, element="quadratic", gravity=(0.0, 0.0, 0.0))
    body.fix("base")
    body.fix("middle", "y")
    for thread in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        body.reinforce(fem.Fibres(thread, 0.25 * CLOTH / SKIN, region="cloth"))
    body.actuate("air", fem.Chamber(inside(mesh), pressure=(0.0, 1e6)))
    body.effector("tip", (x[-1], 0.0, 0.0))
    return body, float(x[-1])


def inside(mesh: fem.TetMesh) -> np.ndarray:
    """Triangles (k, 3) of the hollow: its walls, and a lid on the plane of symmetry, on which the pressure does no work."""
    corners = mesh.points[mesh.boundary]
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    flat = [np.abs(corners[:, :, k] - end[k]).max(axis=1) < 1e-9 for k in range(3) for end in (low, high)]
    walls = mesh.boundary[~np.any(flat, axis=0)][:, ::-1]
    edges = {(int(i), int(j)) for t in walls for i, j in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))}
    after = {j: i for i, j in edges if (j, i) not in edges}  # the lid runs along the rim the other way round
    rim = [next(iter(after))]
    while (following := after[rim[-1]]) != rim[0]:
        rim.append(following)
    return np.concatenate([walls, [[rim[0], rim[k], rim[k + 1]] for k in range(1, len(rim) - 1)]])


def angle(state: fem.SoftEquilibrium) -> float:
    """Angle [deg] of the line from the base to the tip, as the tool measures it."""
    place = state.position("tip")
    return -float(np.degrees(np.arctan2(place[2], place[0])))


def curve(
    cells: Cells = COARSE, *, chambers: int = 5, pressures: tuple[float, ...] = PRESSURES, balloon: bool = True
) -> Floats:
    """Rows (k, 3): pressure [kPa], angle [deg], volume gained by the whole finger [mm^3].

    Beyond the last pressure the volume is given, in steps of an eighth, until the pressure rises no more: the chambers
    balloon, and no greater pressure has an equilibrium nearby.
    """
    system, rows, state = fem.SoftSystem(build(chambers, cells)[0]), [], None

    def note(found: fem.SoftEquilibrium) -> None:
        rows.append((1e-3 * found.efforts[0], angle(found), 2e9 * found.stroke("air")))
        print(f"  {rows[-1][0]:7.2f} kPa {rows[-1][1]:7.2f} deg {rows[-1][2]:9.0f} mm^3", flush=True)

    for pressure in pressures:
        state = fem.statics(system, inputs={"air": 1e3 * pressure}, start=state)
        note(state)
    while balloon and (len(rows) == len(pressures) or rows[-1][0] > rows[-2][0] + 0.1):
        try:
            state = fem.statics(system, strokes={"air": 1.125 * state.stroke("air")}, start=state)
        except SolverError as error:
            print(f"  {error}")
            break
        note(state)
    found = np.array(rows)
    return found[: int(np.argmax(found[:, 0])) + 1]


def compare(rows: Floats) -> dict[str, float]:
    """Print the measured points beside the computed ones; returns how far off before the knee, and where the knee is."""
    seen = MEASURED[MEASURED[:, 0] <= rows[:, 0].max()]
    here = np.interp(seen[:, 0], rows[:, 0], rows[:, 1])
    print("pressure [kPa], measured [deg], here [deg], difference [deg]")
    for (pressure, told), found in zip(seen, here, strict=True):
        print(f"  {pressure:5.0f} {told:7.2f} {found:7.2f} {found - told:+7.2f}")
    off = (here - seen[:, 1])[seen[:, 0] <= KNEE]
    steepest = int(np.argmax(np.diff(MEASURED[:, 1]) / np.diff(MEASURED[:, 0])))
    knee = float(MEASURED[steepest : steepest + 2, 0].mean())
    report = {
        f"finger of five chambers: rms of the angle up to {KNEE:.0f} kPa [deg]": float(np.sqrt(np.mean(off**2))),
        f"finger of five chambers: it balloons, over {knee:.1f} kPa measured": float(rows[-1, 0] / knee),
    }
    for name, value in report.items():
        print(f"{name}: {value:.3g}")
    return report


def figures(folder: str | Path) -> dict[str, float]:
    """Draw `pneunet.png` into the folder; returns the numbers of the report. About a minute."""
    rows = curve()
    draw(rows, Path(folder) / "pneunet.png", "coarse")
    return compare(rows)


def meshes() -> None:
    """Angles of a piece of two chambers on three meshes."""
    pressures = (10.0, 17.0, 25.0, 31.0)
    for name, cells in (("coarse", COARSE), ("middle", MIDDLE), ("fine", FINE)):
        print(f"two chambers, {name} mesh: {cells}", flush=True)
        curve(cells, chambers=2, pressures=pressures, balloon=False)


def main(path: str = "docs/figures/volumes/pneunet.png", mesh: str = "coarse") -> None:
    if path == "meshes":
        meshes()
        return
    began = time.process_time()
    rows = curve({"coarse": COARSE, "middle": MIDDLE}[mesh])
    compare(rows)
    print(f"{time.process_time() - began:.0f} s of processor time")
    draw(rows, path, mesh)


def draw(rows: Floats, path: str | Path, mesh: str) -> None:
    """The measured points and the computed curve, as a picture."""
    figure, axes = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    axes.plot(MEASURED[:, 0], MEASURED[:, 1], "o", color="#D55E00", ms=4, label="measured (EPFL)")
    axes.plot(rows[:, 0], rows[:, 1], color="#0072B2", label=f"soft volume, {mesh} mesh, nothing fitted")
    axes.plot(*rows[-1, :2], "x", color="#0072B2", label="the chambers balloon")
    axes.set(xlabel="pressure [kPa]", ylabel="bending angle [deg]", xlim=(0.0, 47.0), ylim=(0.0, 75.0))
    axes.legend(frameon=False)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
