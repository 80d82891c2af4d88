"""An arm of three segments driven by nine tendon lengths (folder `arm`): slow recordings, fitted and predicted."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np

import anguilla as ag

HELD_OUT = "pair13"  # patterns that are not used: the first and the third segment at once


class Arm:
    """The arm of the folder, with some of its numbers free."""

    def __init__(self, facts: dict) -> None:
        self.facts = facts
        self.names = [f"t{k}" for k in range(9)]
        lengths = np.cumsum(facts["segments_m"])
        self.length = {name: float(lengths[k // 3]) for k, name in enumerate(self.names)}

    def __call__(
        self, young: float, distance: float, compliance: float, turn_1: float = 0.0, turn_2: float = 0.0,
        turn_3: float = 0.0, soft_2: float = 1.0, soft_3: float = 1.0, twisting: float = 0.0,
    ) -> ag.Robot:  # fmt: skip
        """The robot: segments of constant curvature, tendons of given lengths that may be slack, no gravity.

        `twisting` is its torsional stiffness, over that of a Poisson's ratio of 0.3; it cannot twist if that is zero.
        """
        facts, robot = self.facts, ag.Robot("arm", gravity=(0, 0, 0))
        section, bends = (
            ag.Circle(facts["backbone_radius_m"]),
            ag.Strains(bend_y=1, bend_z=1, twist=int(twisting > 0.0)),
        )
        at, rods = robot.ground, []
        up = np.array([[0.0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]])  # t1 along z, t2 along x
        for k, (length, soft) in enumerate(zip(facts["segments_m"], (1.0, soft_2, soft_3), strict=True)):
            material = ag.Material(young * soft, 8000.0, shear=(twisting or 1.0) * young * soft / 2.6)
            rod = ag.Rod(length, section, material, bends)
            rods.append(robot.add(rod, at=at, pose=up if k == 0 else None, name=f"s{k + 1}"))
            at = rods[-1].tip
        for k, name in enumerate(self.names):
            s, j = divmod(k, 3)
            angle = facts["segment_offsets_rad"][s] + facts["tendon_angle_deltas_rad"][s][j] + j * 2 * np.pi / 3
            angle += (turn_1, turn_2, turn_3)[s]
            path = ag.parallel(distance * np.cos(angle), distance * np.sin(angle))
            robot.actuate(name, ag.Tendon(rods[: s + 1], path, by="length", compliance=compliance))
        return robot


def read(folder: Path, name: str, arm: Arm) -> tuple[ag.Measurements, list[str]]:
    """A recording: every row an equilibrium; and what was being done."""
    with (folder / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    wound = {f"t{k}": np.array([float(row[f"servo_{servo}_mm"]) for row in rows]) * 1e-3
             for k, servo in enumerate(arm.facts["tendon_to_servo"])}  # fmt: skip
    tip = np.array([[float(row[f"tip_{axis}"]) for axis in "xyz"] for row in rows]) * 1e-3
    data = ag.Measurements(
        positions={"tip": tip}, markers={"tip": ag.Marker("s3.tip", (arm.facts["tip_marker_m"], 0, 0))},
        inputs={tendon: arm.length[tendon] - x for tendon, x in wound.items()}, base="pose", group=name, given={"young": arm.facts["backbone_young_Pa"]},
        t=np.array([float(row["timestamp"]) for row in rows]), sigma={"positions": 6e-3}, name=name,
    )  # fmt: skip
    return data, [row["pattern_label"] for row in rows]


def unknowns(arm: Arm) -> list[ag.Unknown]:
    """Stiffness, geometry, tension and lag."""
    facts = arm.facts
    compliance = 1.0 / facts["tendon_stiffness_N_per_m"]
    found = [
        ag.Unknown("compliance", start=compliance, prior=(compliance, compliance)),
        ag.Unknown("distance", start=facts["tendon_distance_m"], prior=(facts["tendon_distance_m"], 5e-4)),
        ag.Unknown("soft_2", start=1.0, prior=(1.0, 0.3)), ag.Unknown("soft_3", start=1.0, prior=(1.0, 0.3)),
        ag.Unknown("inputs.lag", start=0.1, prior=(0.1, 0.2)),
    ]  # fmt: skip
    found += [ag.Unknown(f"turn_{s}", start=0.0, prior=(0.0, 0.1)) for s in (1, 2, 3)]
    for s in range(3):
        paths = [f"inputs.{name}.offset" for name in arm.names[3 * s : 3 * s + 3]]
        pull = -compliance * facts["pretension_N"][s]
        found.append(ag.Unknown(paths, start=pull, prior=(pull, 5e-4), name=f"zero of segment {s + 1}"))
    return found


def torsion(arm: Arm, data: ag.Measurements) -> ag.Identified:
    """The torsional stiffness, which nothing in the data depends on."""
    free = [one for one in unknowns(arm) if one.path in ("compliance", "distance")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)  # its notes are what is asked for
        return ag.identify(arm, data, [*free, ag.Unknown("twisting", start=1.0)])
