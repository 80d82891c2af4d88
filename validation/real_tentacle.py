"""A tapered tentacle with two tendons (folder `tentacle`): poses at rest, fitted and predicted."""

from __future__ import annotations

import csv
import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import anguilla as ag

SIGMA = 5e-3  # [m] what a model of a rod can hope for here
ANGLES = float(np.radians(30.0)), float(np.radians(150.0))
SLOPE = -0.0295 * float(np.cos(ANGLES[0]))  # of the first tendon, along y
MARKERS = ("M1", "M2", "M3", "M4")


def squeezed(X: float, young: float, pull: float) -> tuple[float, ...]:
    """Stiffness of a section of the first part that tendons squeeze with so much force [N].

    A neo-Hookean rod: of a bar that is squeezed to the part l of its length, mu A (l - l^-2) = -pull with mu = young / 3. It
    gets thicker by that, and stiffer: what bending adds to it meets E I (1 + 2 l^-3) / (3 l), by rest length.
    """
    radius = 0.01541 + (0.00642 - 0.01541) * X / 0.305
    area, part = np.pi * radius**2, 1.0
    bend, load = 0.25 * young * area * radius**2, 3.0 * pull / (young * area)
    for _ in range(30):  # l^3 + load l^2 - 1 = 0
        part -= (part**3 + load * part**2 - 1.0) / (3.0 * part**2 + 2.0 * load * part)
    stretch = pull / (1.0 - part) if load > 1e-9 else young * area
    stiff = bend * (1.0 + 2.0 * part**-3) / (3.0 * part)
    return 2.0 / 2.9 * bend / part, stiff, stiff, stretch, young * area, young * area


def robot(
    young: float, angle_1: float = ANGLES[0], angle_2: float = ANGLES[1], slope_1: float = SLOPE,
    pull_1: float = 0.0, pull_2: float = 0.0, density: float = 1318.0,
) -> ag.Robot:  # fmt: skip
    """The tentacle as described, under tensions [N]."""
    tentacle = ag.Robot("tentacle")
    silicone = ag.Material(young, density, poisson=0.45)
    down = np.eye(4)
    down[:3, :3] = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]).T
    section = ag.taper(ag.Circle(0.01541), ag.Circle(0.00642), 0.305)
    stiffness = lambda X: squeezed(X, young, pull_1 + pull_2)
    one = ag.Rod(0.305, section, silicone, ag.extensible_kirchhoff(4), stiffness=stiffness)
    two = ag.Rod(0.055, ag.taper(ag.Circle(0.00642), ag.Circle(0.0048), 0.055), silicone, ag.kirchhoff(1))
    first = tentacle.add(one, at=tentacle.ground, pose=down, name="first")
    tentacle.add(two, at=first.tip, name="second")
    for name, angle, slope in (("t1", angle_1, slope_1), ("t2", angle_2, -0.0295 * np.cos(angle_2))):
        c, s = np.cos(angle), np.sin(angle)
        path = ag.Routing(y=(0.0114 * c, slope), z=(0.0114 * s, -0.0295 * s))
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
                    given={"pull_1": float(run["tension_1_N"]), "pull_2": float(run["tension_2_N"])},
                    group=f"session {run['session']}",
                    base="position",
                    name=run["file"].removesuffix(".csv"),
                )
            )
    return found


def unknowns() -> list[str | ag.Unknown]:
    """What is found: stiffness, gains and routing; density is held, since only ratios can be told."""
    return [
        ag.Unknown("young", start=315e3, prior=(315e3, 100e3)),
        ag.Unknown("inputs.t1.gain", prior=(1.0, 0.15)), ag.Unknown("inputs.t2.gain", prior=(1.0, 0.15)),
        ag.Unknown("inputs.gain", name="gain of session 1", only=["session 1"], prior=(1.0, 0.03)),
        ag.Unknown("angle_1", start=ANGLES[0], prior=(ANGLES[0], 0.1)),
        ag.Unknown("angle_2", start=ANGLES[1], prior=(ANGLES[1], 0.1)),
        ag.Unknown("slope_1", start=SLOPE, prior=(SLOPE, 0.005)),
    ]  # fmt: skip


def ratios(data: list[ag.Measurements]) -> ag.Identified:
    """Young's modulus, density and tension at once, which poses tell the ratios of alone; tendons squeeze nothing here."""
    plain = [replace(one, given={}) for one in data]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)  # its notes are what is asked for
        return ag.identify(robot, plain, {"young": 315e3, "density": 1318.0, "inputs.gain": 1.0})
