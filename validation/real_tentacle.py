"""A tapered tentacle with two tendons (folder `tentacle`): poses at rest, fitted and predicted."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

import anguilla as ag

SIGMA = 5e-3  # [m] what a model of a rod can hope for here
MARKERS = ("M1", "M2", "M3", "M4")


def robot() -> ag.Robot:
    """The tentacle as described, with the parameters that others fitted to it."""
    tentacle = ag.Robot("tentacle")
    silicone = ag.Material(315e3, 1318.0, poisson=0.45)
    down = np.eye(4)
    down[:3, :3] = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]).T
    one = ag.Rod(0.305, ag.taper(ag.Circle(0.01541), ag.Circle(0.00642), 0.305), silicone, ag.extensible_kirchhoff(4))
    two = ag.Rod(0.055, ag.taper(ag.Circle(0.00642), ag.Circle(0.0048), 0.055), silicone, ag.kirchhoff(1))
    first = tentacle.add(one, at=tentacle.ground, pose=down, name="first")
    tentacle.add(two, at=first.tip, name="second")
    for name, angle in (("t1", 30.0), ("t2", 150.0)):
        c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
        path = ag.Routing(y=(0.0114 * c, -0.0295 * c), z=(0.0114 * s, -0.0295 * s))
        tentacle.actuate(name, ag.Tendon(first, path))
    return tentacle


def read(folder: Path) -> list[ag.Measurements]:
    """One experiment for each run: its mean pose, the world's axes, from the root."""
    facts = json.loads((folder / "geometry.json").read_text())
    turn, root = np.array(facts["world_from_camera"], dtype=float), np.array(facts["root_from_base_marker_m"])
    places = dict(zip(MARKERS, zip(facts["marker_arc_lengths_m"], facts["marker_offsets_m"], strict=True), strict=True))
    markers = {
        name: ag.Marker("second.tip" if name == "M4" else f"first[{X}]", offset, "xyz", 4e-3)
        for name, (X, offset) in places.items()
    }
    found = []
    with (folder / "runs.csv").open() as file:
        for run in csv.DictReader(file):
            table = np.loadtxt(folder / run["file"], delimiter=",")[:, 2:].mean(axis=0).reshape(5, 3)
            seen = {name: (table[int(run[name])] - table[int(run["base"])] - root) @ turn.T for name in MARKERS}
            found.append(
                ag.Measurements(
                    positions={name: x[None] for name, x in seen.items()},
                    markers=markers,
                    sigma={"positions": SIGMA},
                    inputs={"t1": float(run["tension_1_N"]), "t2": float(run["tension_2_N"])},
                    group=f"session {run['session']}",
                    base="position",
                    name=run["file"].removesuffix(".csv"),
                )
            )
    return found


def unknowns() -> list[str | ag.Unknown]:
    """What is found: stiffness, gains and routing; density is held, since only ratios can be told."""
    return [
        ag.Unknown("first.material.young", prior=(315e3, 100e3)),
        ag.Unknown("inputs.t1.gain", prior=(1.0, 0.15)), ag.Unknown("inputs.t2.gain", prior=(1.0, 0.15)),
        ag.Unknown("inputs.gain", name="gain of session 1", only=["session 1"], prior=(1.0, 0.03)),
        ag.Unknown("t1.angle", prior=(np.radians(30), 0.1)), ag.Unknown("t2.angle", prior=(np.radians(150), 0.1)),
        ag.Unknown("t1.routing.y[1]", prior=(-0.0295 * np.cos(np.radians(30)), 0.005)),
    ]  # fmt: skip
