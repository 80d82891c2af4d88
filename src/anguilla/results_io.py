"""Results from files: `ag.load("run.nc")` gives back what `run.save("run.nc")` wrote, with nothing else needed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anguilla._doors import public
from anguilla.describe.robot import Robot
from anguilla.errors import DescriptionError, SolverError, as_path
from anguilla.files import read_text_file
from anguilla.many.keep import read_sweep
from anguilla.model.door import model_of
from anguilla.model.model import Model
from anguilla.results.blocks import Remembered
from anguilla.results.states import Equilibrium, Status, Trajectory
from anguilla.store.facts import kind_of, status_of, whole_result
from anguilla.store.inputs import read_inputs
from anguilla.store.netcdf import read_netcdf
from anguilla.store.record import Record

if TYPE_CHECKING:
    from anguilla.fem.body import SoftBody

__all__ = ["load"]

KINDS: dict[str, type[Trajectory] | type[Equilibrium]] = {"trajectory": Trajectory, "equilibrium": Equilibrium}


@public
def load(path: str | os.PathLike[str], *, robot: Robot | Model | SoftBody | None = None) -> Any:
    """Load a result from a file.

    Args:
        path: a file written by ``run.save("run.nc")``, or the folder of ``ag.sweep(..., file="study")``.
        robot: the robot, its model, or the soft body, for a file that could not hold it (a type of the user's own); else
            the file's own.

    Returns:
        What was saved: a Trajectory or an Equilibrium, of a robot with volumes too; a fem.SoftTrajectory or a
        fem.SoftEquilibrium, a control.Run, a Sweep.
        ``run.robot.part("arm")`` gives the handles of the parts of a robot.

    """
    target = as_path(path)
    if target.is_dir():
        return read_sweep(target)
    if target.suffix.lower() in (".yaml", ".yml", ".urdf"):
        raise DescriptionError(f"{str(target)!r} is a robot file: ag.read_robot reads it. load takes results (.nc).")
    record = read_netcdf(target)
    kind = kind_of(record, target)
    if kind in KINDS:
        own = None if robot is None else model_of(robot)  # type: ignore[arg-type]
        with whole_result(target):
            return _of_robot(record, target, own)
    if kind.startswith("mixed"):
        from anguilla.mixed.keep import restore

        with whole_result(target):
            return restore(record, str(target), robot)  # type: ignore[arg-type]
    return _of_volume(record, kind, target, robot)


def _of_volume(record: Record, kind: str, path: Path, body: Any) -> Any:
    """A result of a soft volume, or of a closed loop."""
    from anguilla.control.loop import CLOSED_LOOP
    from anguilla.control.loop import restore as restore_run
    from anguilla.fem.body import as_body
    from anguilla.fem.keep import EQUILIBRIUM, MOTION, restore

    if kind == CLOSED_LOOP:
        with whole_result(path):
            return restore_run(record)
    if kind not in (EQUILIBRIUM, MOTION):
        raise DescriptionError(f"{str(path)!r} holds a result of a kind this version does not know: {kind!r}.")
    given = None if body is None else as_body(body)
    with whole_result(path):
        return restore(record, given)


def _of_robot(record: Record, path: Path, model: Model | None) -> Trajectory | Equilibrium:
    labels = [str(label) for label in record["coordinate"]]
    system = Model(_robot(record, path)) if model is None else model
    own = system.robot.coordinates()
    if sorted(own) != sorted(labels):
        raise DescriptionError(f"the robot of {str(path)!r} has other coordinates: {', '.join(labels[:4])}, ...")
    facts = record.facts
    kind = KINDS[facts["kind"]]
    order = [labels.index(label) for label in own]  # a closure's own coordinates may have come before others
    t = record.times()
    q, v, a = (record.floats(name, 2)[:, order] if name in record else None for name in ("q", "v", "a"))
    lam = record.floats("multipliers", 2) if "multipliers" in record else np.zeros((len(t), system.rows))
    if q is None or v is None or any(part is not None and len(part) != len(t) for part in (q, v, a, lam)):
        raise DescriptionError("the numbers of its states and of its times differ.")
    balance = None if a is not None else _refuse(facts)
    robot = system.robot if model is None else model.source
    known = _noted(record, system, len(t))
    states = t, q, v, a, lam, read_inputs(record), balance
    return kind(robot, system, Status(**status_of(facts)), *states, _memory=known.pop(0, None), _known=known)


def _noted(record: Record, system: Model, count: int) -> dict[int, Remembered]:
    """What forces remember at some states, by their number."""
    if "memory" not in record or "noted" not in record:
        return {}
    like, memory, rows = Remembered.of(system.blank), record.floats("memory", 2), record.floats("noted", 1)
    fits = memory.shape == (len(rows), len(like.flat)) and np.all((rows >= 0) & (rows < count) & (rows % 1 == 0))
    if not fits:
        raise DescriptionError("its stored memory of forces (friction, contact) does not fit its robot.")
    return {int(row): like.shaped(numbers) for row, numbers in zip(rows, memory, strict=True)}


def _robot(record: Record, path: Path) -> Robot:
    text = str(record["robot_file"].item()) if "robot_file" in record else ""
    if not text:
        reason = record.facts.get("no_robot_file", "it has none")
        raise DescriptionError(
            f"{str(path)!r} does not hold its robot ({reason}): give it with load(path, robot=robot)."
        )
    return read_text_file(text, name=f"{path}:robot_file").robot


def _refuse(facts: dict[str, Any]) -> Any:
    def balance(*states: Any) -> Any:
        raise SolverError(f"The file holds no accelerations: {facts.get('no_accelerations', 'they were not written')}")

    return balance
