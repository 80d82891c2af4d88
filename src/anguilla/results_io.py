"""Results from files: `ag.load("run.nc")` gives back what `run.save("run.nc")` wrote, with nothing else needed."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.assemble.system import System, as_robot
from anguilla.describe.files import Table, read_text_file
from anguilla.describe.robot import Robot
from anguilla.errors import DescriptionError, SolverError
from anguilla.results import Equilibrium, Status, Trajectory
from anguilla.store.gather import FORMAT
from anguilla.store.netcdf import read_netcdf
from anguilla.store.record import Record

__all__ = ["load"]


def load(path: str | os.PathLike[str], *, robot: Robot | None = None) -> Trajectory | Equilibrium:
    """Load a result from a file.

    Args:
        path: a file written by ``run.save("run.nc")``.
        robot: the robot, for a file that could not hold it (a type of the user's own); else the file's own robot.

    Returns:
        A Trajectory or an Equilibrium. ``run.robot.part("arm")`` gives the handles of its parts.

    """
    target = Path(path)
    if target.suffix.lower() in (".yaml", ".yml", ".urdf"):
        raise DescriptionError(f"{str(target)!r} is a robot file: ag.read_robot reads it. load takes results (.nc).")
    record = read_netcdf(target)
    if record.facts.get("anguilla_format") != FORMAT or "q" not in record:
        found = record.facts.get("anguilla_format", "none")
        raise DescriptionError(
            f"{str(target)!r} is not a result this version can read: it has format {found}, and {FORMAT} is needed."
        )
    system = System(_robot(record, target) if robot is None else as_robot(robot))
    labels, own = [str(label) for label in record["coordinate"]], system.robot.coordinates()
    if sorted(own) != sorted(labels):
        raise DescriptionError(f"the robot of {str(target)!r} has other coordinates: {', '.join(labels[:4])}, ...")
    facts = record.facts
    status = Status(
        bool(facts["success"]), str(facts["message"]), json.loads(facts["counters"]), float(facts["seconds"])
    )
    kind = Equilibrium if facts["kind"] == "equilibrium" else Trajectory
    order = [labels.index(label) for label in own]  # a closure's own coordinates may have come before others
    states: dict[str, Any] = {
        f"_{name}": np.ascontiguousarray(_array(record, name)[:, order]) for name in ("q", "v", "a") if name in record
    }
    if "multipliers" in record and "_lam" in {field.name for field in fields(kind)}:
        states["_lam"] = _array(record, "multipliers")
    balance = None if "_a" in states else _refuse(facts)
    rest: dict[str, Any] = {"_t": _array(record, "time"), "inputs": _inputs(record), "_balance": balance}
    return kind(robot=robot or system.robot, system=system, status=status, **rest, **states)


def _array(record: Record, name: str) -> NDArray[np.float64]:
    return np.ascontiguousarray(record[name], dtype=np.float64)


def _robot(record: Record, path: Path) -> Robot:
    text = str(record["robot_file"].item()) if "robot_file" in record else ""
    if not text:
        reason = record.facts.get("no_robot_file", "it has none")
        raise DescriptionError(
            f"{str(path)!r} does not hold its robot ({reason}): give it with load(path, robot=robot)."
        )
    return read_text_file(text, name=f"{path}:robot_file").robot


def _inputs(record: Record) -> dict[str, Any]:
    """Inputs by name: a number where constant, else a table over time."""
    found: dict[str, Any] = {}
    for k, name in enumerate(record["actuator"].tolist() if "actuator" in record else []):
        column = record["input"][:, k]
        found[str(name)] = float(column[0]) if np.all(column == column[0]) else Table(column, t=record["time"])
    return found


def _refuse(facts: dict[str, Any]) -> Any:
    def balance(t: Any, q: Any, v: Any) -> Any:
        raise SolverError(f"The file holds no accelerations: {facts.get('no_accelerations', 'they were not written')}")

    return balance
