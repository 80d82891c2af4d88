"""Results of robots with soft volumes in files: those of rods and bodies, and the nodes of each volume."""

from __future__ import annotations

from typing import Any

import numpy as np

from anguilla.describe.robot import Robot
from anguilla.errors import DescriptionError
from anguilla.fem.contact import Touched
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.results import SoftEquilibrium
from anguilla.files import Table, read_text_file
from anguilla.mixed.model import MixedModel, mixed_of
from anguilla.mixed.results import MixedEquilibrium, MixedTrajectory
from anguilla.results.states import Status
from anguilla.store.facts import status_of
from anguilla.store.gather import gather as gather_states
from anguilla.store.gather import robot_file
from anguilla.store.inputs import read_inputs
from anguilla.store.record import Record

__all__ = ["KINDS", "gather", "restore"]

KINDS = ("mixedequilibrium", "mixedtrajectory")
# of points that touch, one behind the other: axes, unit, title
TOUCHED: dict[str, tuple[tuple[str, ...], str, str]] = {
    "contact": ((), "", "number of the contact"),
    "place": (("axis",), "m", "where it touches"),
    "force": (("axis",), "N", "force on what is touched"),
    "slides": ((), "", "whether it slides"),
    "point": ((), "", "number of the point"),
    "shape": ((), "", "number of what is touched"),
    "corners": (("corner", "axis"), "N", "forces on the corners of a triangle that is touched"),
}


def gather(result: MixedEquilibrium | MixedTrajectory) -> Record:
    """Return the record of a result."""
    record = gather_states(result)
    for fact in ("no_robot_file", "sampled"):
        record.facts.pop(fact, None)
    t = result.stored.t
    record.add("robot_file", (), robot_file(result.robot, t, record), "", "the robot, as a robot file")
    names, columns = [], []
    for name, volume in result.volumes.items():
        x, v = (volume.x, volume.v) if isinstance(volume, SoftTrajectory) else (volume.x[None], None)
        axes = ("time", f"{name}_node", "axis")
        record.add(f"{name}_x", axes, x, "m", f"positions of the nodes of {name}")
        if v is not None:
            record.add(f"{name}_v", axes, v, "m/s", f"velocities of the nodes of {name}")
        for key in volume.system.names:
            value = volume.inputs.get(key, 0.0)
            names.append(f"{name}.{key}")
            columns.append([float(value(s)) if callable(value) else float(value) for s in t.tolist()])
    for j in range(len(result.touched[0]) if result.touched else 0):
        _add_touched(record, j, [told[j] for told in result.touched])
    if names:
        record.add("volume_actuator", ("volume_actuator",), np.array(names, dtype=object), "", "inputs of volumes")
        record.add("volume_input", ("time", "volume_actuator"), np.array(columns).T, "", "their values [N, Pa]")
    return record


def _add_touched(record: Record, j: int, told: list[Touched | None]) -> None:
    """What volume j, or pair j of volumes, touched at each instant; those that touch one behind the other."""
    known = [each for each in told if each is not None]
    if not known:
        return
    name = f"touch{j}"
    record.add(f"{name}_count", ("time",), [len(each.point) for each in known], "", "points that touch")
    record.add(f"{name}_energy", ("time", f"{name}_law"), [each.energy for each in known], "J", "energy of contacts")
    every = ("time", f"{name}_of_all", f"{name}_number")
    record.add(f"{name}_root", every, [each.root for each in known], "", "where bristles are rooted")
    for key, (axes, unit, title) in TOUCHED.items():
        rows = np.concatenate([np.asarray(getattr(each, key), dtype=float) for each in known])
        if len(rows):  # only volumes that touch each other have corners
            record.add(f"{name}_{key}", (f"{name}_row", *axes), rows, unit, title)


def _touched(record: Record, model: MixedModel) -> list[list[Touched | None]]:
    """What touched at each instant; nothing if the file does not tell."""
    t, touchers = record.times(), model.touchers
    if not any(f"touch{j}_count" in record for j in range(len(touchers))):
        return []
    found: list[list[Touched | None]] = [[None] * len(touchers) for _ in t]
    for j, toucher in enumerate(touchers):
        name = f"touch{j}"
        if toucher is None or f"{name}_count" not in record:
            continue
        root, energy = record.floats(f"{name}_root", 3), record.floats(f"{name}_energy", 2)
        if root.shape[1] != len(toucher.nodes) or energy.shape[1] != len(toucher.contacts):
            raise DescriptionError("what its volumes touch is not what those of the robot do.")
        ends = np.cumsum(record.floats(f"{name}_count", 1).astype(np.int64))[:-1]
        rows = {}
        for key, (axes, _, _) in TOUCHED.items():
            shape = (0, *(3 for _ in axes))
            whole = record.floats(f"{name}_{key}", 1 + len(axes)) if f"{name}_{key}" in record else np.zeros(shape)
            rows[key] = np.split(whole, ends) if len(whole) else [whole] * len(t)
        for k in range(len(t)):
            numbers = [rows[key][k].astype(np.int64) for key in ("contact", "point", "shape")]
            found[k][j] = Touched(
                numbers[0], rows["place"][k], rows["force"][k], rows["slides"][k] > 0.0, energy[k], root[k], numbers[1],
                numbers[2], rows["corners"][k],
            )  # fmt: skip
    return found


def restore(record: Record, path: str, robot: Robot | MixedModel | None) -> MixedEquilibrium | MixedTrajectory:
    """Return the result of a record, with its own robot or with one that is given."""
    if robot is None:
        text = str(record["robot_file"].item())
        if not text:
            reason = record.facts.get("no_robot_file", "it has none")
            raise DescriptionError(
                f"{path!r} does not hold its robot ({reason}): give it with load(path, robot=robot)."
            )
        robot = read_text_file(text, name=f"{path}:robot_file").robot
    model = mixed_of(robot)
    labels, own = [str(label) for label in record["coordinate"]], model.carrier.robot.coordinates()
    if sorted(own) != sorted(labels):
        raise DescriptionError(f"the robot of {path!r} has other coordinates: {', '.join(labels[:4])}, ...")
    order, t = [labels.index(label) for label in own], record.times()
    q, v, a = (record.floats(name, 2)[:, order] for name in ("q", "v", "a"))
    lam, status = record.floats("multipliers", 2), Status(**status_of(record.facts))
    inputs, volumes = read_inputs(record), _volumes(record, model, status)
    kind: Any = MixedTrajectory if record.facts["kind"] == "mixedtrajectory" else MixedEquilibrium
    source = robot if isinstance(robot, Robot) else robot.source
    found = kind(
        source, model.carrier, status, t, q, v, a, lam, inputs, volumes=volumes, mixed=model,
        touched=_touched(record, model),
    )  # fmt: skip
    if isinstance(robot, Robot):
        object.__setattr__(found, "robot", robot)  # the model itself does not keep it
    assert isinstance(found, MixedEquilibrium | MixedTrajectory)
    return found


def _volumes(record: Record, model: MixedModel, status: Status) -> dict[str, Any]:
    """The motions, or the equilibria, of the volumes by name."""
    t = record.times()
    given: dict[str, Any] = {}
    found: dict[str, Any] = {}
    if "volume_actuator" in record:
        values = record.floats("volume_input", 2)
        for k, name in enumerate(record["volume_actuator"].tolist()):
            column = values[:, k]
            given[str(name)] = float(column[0]) if np.all(column == column[0]) else Table(column, t=t)
    for half in model.halves:
        x = record.floats(f"{half.name}_x", 3)
        if x.shape != (len(t), *half.system.rest.x.shape):
            raise DescriptionError(f"its nodes are not those of the volume {half.name!r}.")
        own = {name: given.get(f"{half.name}.{name}", 0.0) for name in half.system.names}
        if record.facts["kind"] == "mixedtrajectory":
            speed = record.floats(f"{half.name}_v", 3)
            found[half.name] = SoftTrajectory(half.view.body, half.view, t, x, speed, half.whole_mass, status, own)
        else:
            efforts = half.system.efforts(own)
            found[half.name] = SoftEquilibrium(half.view.body, half.view, half.state(x[0]), efforts, status)
    return found
