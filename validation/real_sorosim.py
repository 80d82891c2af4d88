"""Equilibria and releases of clamped rods computed by SoRoSim (folder `sorosim`), computed anew."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np

import anguilla as ag

RODS = {
    "tpu": (0.4, 5e-3, ag.Material(70e6, 1200.0, poisson=0.4), 3),
    "steel": (0.6, 0.8e-3, ag.Material(200e9, 7870.0, poisson=0.33), 2),
}
LOADS = ("gravity", "mid_moment", "mid_force", "tip_moment", "tip_force")


class Case:
    """A clamped rod of two halves, whose gravity and wrenches are numbers of a table: row t of it acts at time t."""

    def __init__(
        self, material: str, loads: dict[str, np.ndarray], modes: int, damping: float = 0.0, twist: bool = True
    ) -> None:
        self.length, radius, stuff, _ = RODS[material]
        stuff = ag.Material(stuff.young, stuff.density, poisson=stuff.poisson, damping=damping)
        self.robot = ag.Robot(material, gravity=lambda t: loads["gravity"][round(t)])
        rod = ag.Rod(0.5 * self.length, ag.Circle(radius), stuff, ag.kirchhoff(modes, twist_modes=None if twist else 0))
        self.halves = [self.robot.add(rod, at=self.robot.ground, name="first")]
        self.halves.append(self.robot.add(rod, at=self.halves[0].tip, name="second"))
        for half, name in zip(self.halves, ("mid", "tip"), strict=True):
            self.robot.load(
                ag.TipWrench(
                    half,
                    force=lambda t, n=name: loads[f"{n}_force"][round(t)],
                    moment=lambda t, n=name: loads[f"{n}_moment"][round(t)],
                    name=name,
                )
            )


def shapes(folder: Path, material: str) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """(loads by name (m, 3), stations (14,) of each half, positions (m, 14, 3) [m]) of a file of shapes."""
    with (folder / f"{material}_shapes.csv").open() as file:
        rows = [row for row in csv.reader(file) if row]
    stations = np.array([float(x) for x in rows[1][4:]])
    table = np.array([[float(x) for x in row[1:]] for row in rows[2:]]).reshape(-1, 6, 17)
    loads = {
        "gravity": table[:, 3:, 0], "mid_moment": table[:, :3, 1], "mid_force": table[:, 3:, 1],
        "tip_moment": table[:, :3, 2], "tip_force": table[:, 3:, 2],
    }  # fmt: skip
    return loads, stations, np.swapaxes(table[:, 3:, 3:], 1, 2)


def equilibria(folder: Path, material: str, modes: int = 4) -> dict[str, float | np.ndarray]:
    """Largest distance over the stations of each shape, as a part of the length, and the time for one [s]."""
    loads, stations, truth = shapes(folder, material)
    case = Case(material, loads, modes, twist=False)  # the centreline of a round rod does not depend on it
    half = 0.5 * case.length
    frames = [case.halves[k // 7].section(float(min(x, 1.0)) * half) for k, x in enumerate(stations)]
    model = ag.Model(case.robot)
    ag.statics(model, t=0.0).motion(frames)  # compiled
    worst, failed, began = [], 0, time.process_time()
    for k in range(len(truth)):
        eq = ag.statics(model, t=float(k), raise_on_failure=False)
        failed += not eq.status.success
        place = eq.motion(frames)[0, :, 9:12]
        worst.append(np.max(np.linalg.norm(place - truth[k], axis=1)) / case.length)
    return {"worst": np.array(worst), "failed": failed, "seconds": (time.process_time() - began) / len(truth)}


def releases(folder: Path, material: str, dt: float = 1e-3) -> list[dict[str, float]]:
    """Distance of middle and tip in motions of 10 s, mean and largest, as a part of the length."""
    with (folder / "releases.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["material"] == material]
    found = []
    for row in rows:
        given = {name: np.array([float(row[f"{name}_{axis}"]) for axis in "xyz"]) for name in LOADS}
        held = {name: np.array([x, x if name == "gravity" else 0.0 * x]) for name, x in given.items()}
        free = {name: np.array([x if name == "gravity" else 0.0 * x] * 12) for name, x in given.items()}
        modes, damping = RODS[material][3], float(row["damping_s"])
        start = ag.statics(Case(material, held, modes, damping).robot)
        case = Case(material, free, modes, damping)
        began = time.process_time()
        run = ag.simulate(case.robot, duration=10.0, dt=dt, every=round(5e-3 / dt), start=start.q, progress=False)
        seconds = time.process_time() - began
        table = np.loadtxt(folder / f"{material}_release_{row['release']}.csv", delimiter=",", skiprows=1)
        place = run.motion([half.tip for half in case.halves])[:, :, 9:12]
        truth = table[:, 1:].reshape(len(table), 2, 6)[:, :, 3:]
        count = min(len(truth), len(place))
        far = np.linalg.norm(place[:count] - truth[:count], axis=2) / case.length
        found.append({"mean": float(far.mean()), "worst": float(far.max()), "seconds": seconds})
    return found
