"""Results of robots with soft volumes in files: those of rods and bodies, and the nodes of each volume."""

from __future__ import annotations

from typing import Any

import numpy as np

from anguilla.describe.robot import Robot
from anguilla.errors import DescriptionError
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
    if names:
        record.add("volume_actuator", ("volume_actuator",), np.array(names, dtype=object), "", "inputs of volumes")
        record.add("volume_input", ("time", "volume_actuator"), np.array(columns).T, "", "their values [N, Pa]")
    return record


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
    found = kind(source, model.carrier, status, t, q, v, a, lam, inputs, volumes=volumes, mixed=model)
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
