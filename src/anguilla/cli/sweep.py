"""``anguilla sweep``: equilibria or motions of a robot file for many values of its parameters and inputs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from anguilla.cli.common import (
    DONE,
    FAILED,
    InputOption,
    JsonOption,
    Output,
    RobotArgument,
    SetOption,
    check_target,
    inputs_at,
    inputs_of,
    pairs,
    read,
    tips,
    units,
)
from anguilla.errors import DescriptionError

if TYPE_CHECKING:
    from anguilla.files import RobotFile
    from anguilla.many import Sweep


def sweep_command(
    robot: RobotArgument,
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="NAME=VALUES",
            help="A parameter or an input, and its values: LOW:HIGH:COUNT or A,B,C; repeatable.",
        ),
    ],
    motion: Annotated[bool, typer.Option("--motion", help="Simulate motions instead of finding equilibria.")] = False,
    duration: Annotated[float | None, typer.Option("--duration", "-d", help=units("Simulated time [s]."))] = None,
    dt: Annotated[float | None, typer.Option("--dt", help=units("Time step [s]."))] = None,
    settings: SetOption = None,
    inputs: InputOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the table (.csv).")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="Folder for finished runs; later calls compute what is missing.")
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Parallel runs; by default one per core.")] = None,
    shard: Annotated[str | None, typer.Option("--shard", metavar="K/N", help="Every N-th run, from K = 0.")] = None,
    again: Annotated[
        bool | None,
        typer.Option("--again/--keep", help="If the robot has changed: run all again, or keep finished runs."),
    ] = None,
    machine: JsonOption = False,
) -> int:
    """Find equilibria or motions for all combinations of values, on all cores; tabulate tips, bodies and energy."""
    output = Output(machine)
    check_target(out, (".csv",), "--out")
    read_once = read(robot, settings, output)
    inputs_of(read_once, inputs)  # says what is wrong with them before the work begins
    axes = _axes(vary, read_once)
    given = {"duration": duration, "dt": dt}
    options = {name: value for name, value in given.items() if value is not None}
    if motion:
        options = dict(read_once.simulate) | options
        for name in given:
            if name not in options:
                raise DescriptionError(f"give --{name}: the file has no 'simulate: {{duration: ..., dt: ...}}'.")
    elif options:
        raise DescriptionError("--duration and --dt are for motions: add --motion.")
    job: Any = partial(
        simulated if motion else equilibrium,
        _path=str(robot), _folder=Output.folder, _text=_text(robot), _settings=list(settings or ()),
        _inputs=list(inputs or ()), _driven=[name for name in axes if name not in read_once.parameters],
    )  # fmt: skip
    table = _run(
        partial(job, _options=options) if motion else job, axes,
        file=file, workers=workers, shard=None if shard is None else _shard(shard), again=again,
        progress=False if machine else None,
    )  # fmt: skip
    output.line(repr(table))
    columns = {name: table[name] for name in (*table.parameters, *table.outputs)}
    output.facts |= {"runs": len(table), "run_ok": table.ok, "columns": columns, "seconds": table.seconds}
    output.facts |= {"errors": {str(k): run.error for k, run in enumerate(table) if run.status == "failed"}}
    if out is not None:
        output.wrote("table", table.to_csv(out))
    some = bool(table.ok.any()) or not table.failed
    output.close(some)
    return DONE if some else FAILED


def _run(job: Any, axes: dict[str, list[float]], **options: Any) -> Sweep:
    """The sweep, with its errors in words of the command line."""
    from anguilla.many import grid, sweep

    try:
        return sweep(job, grid(**axes), **options)
    except DescriptionError as error:
        words = {"again=True": "--again", "again=False": "--keep", "another file": "another --file"}
        text = str(error)
        for name, option in words.items():
            text = text.replace(name, option)
        raise DescriptionError(text) from None


# The jobs: what they need besides what varies has names that no parameter can have ---------------------------------------


def equilibrium(
    *,
    _path: str,
    _folder: Path | None,
    _text: str,
    _settings: list[str],
    _inputs: list[str],
    _driven: list[str],
    **varied: float,
) -> dict[str, Any]:
    """Places of tips and bodies [m], and the energy [J], at an equilibrium of a robot file."""
    from anguilla.solve.statics.statics import statics

    file, inputs = _read(_path, _folder, _settings, _inputs, _driven, varied)
    result = statics(file.robot, inputs=inputs_at(inputs, file.statics.get("t", 0.0)), **file.statics)
    return {**tips(result), "energy": result.energy["total"]}


def simulated(
    *,
    _path: str,
    _folder: Path | None,
    _text: str,
    _settings: list[str],
    _inputs: list[str],
    _driven: list[str],
    _options: dict[str, Any],
    **varied: float,
) -> dict[str, Any]:
    """Places of tips and bodies [m], and the energy [J], at the end of a motion of a robot file."""
    from anguilla.solve.statics.statics import statics
    from anguilla.solve.steps.dynamics import simulate

    file, inputs = _read(_path, _folder, _settings, _inputs, _driven, varied)
    options = dict(_options)
    begin, first = options.pop("start", "rest"), None
    if begin != "rest":
        first = statics(file.robot, inputs=inputs_at(inputs, 0.0) if begin == "held" else None)
    result = simulate(file.robot, inputs=inputs, start=first, progress=False, **options)
    return {**tips(result), "energy": result.energy["total"][-1]}


def _read(
    path: str, folder: Path | None, settings: list[str], inputs: list[str], driven: list[str], varied: dict[str, float]
) -> tuple[RobotFile, dict[str, Any]]:
    """The file and its inputs with the values of one run."""
    from anguilla.files import Expression, read_file

    values = {name: Expression(text, arguments=())() for name, text in pairs(settings, "--set").items()}
    given = values | {name: x for name, x in varied.items() if name not in driven}
    file = read_file(path, parameters=given, folder=folder)
    return file, inputs_of(file, inputs) | {name: varied[name] for name in driven}


# What the command was given -----------------------------------------------------------------------------------------------


def _axes(vary: Sequence[str], file: RobotFile) -> dict[str, list[float]]:
    axes = {name: _values(text, name) for name, text in pairs(vary, "--vary").items()}
    for name in axes:
        if name not in file.parameters and name not in file.robot.inputs:
            from anguilla.describe.description import did_you_mean

            known = [*file.parameters, *file.robot.inputs]
            have = f"the file has {', '.join(known)}" if known else "the file has no parameters and no inputs"
            raise DescriptionError(f"--vary {name}: {have}{did_you_mean(name, known)}.")
    return axes


def _values(text: str, name: str) -> list[float]:
    """The numbers of LOW:HIGH:COUNT or A,B,C; each may be a formula."""
    from anguilla.files import Expression

    def number(part: str) -> float:
        return float(Expression(part.strip(), arguments=())())

    ends = text.split(":")
    if len(ends) == 1:
        return [number(part) for part in text.split(",")]
    if len(ends) != 3 or not ends[2].strip().isdigit() or int(ends[2]) < 2:
        raise DescriptionError(
            f"--vary {name} must be LOW:HIGH:COUNT with a COUNT of at least 2, or A,B,C; got {text!r}."
        )
    return list(np.linspace(number(ends[0]), number(ends[1]), int(ends[2])).tolist())


def _shard(text: str) -> tuple[int, int]:
    k, _, n = text.partition("/")
    if not k.strip().isdigit() or not n.strip().isdigit():
        raise DescriptionError(f"--shard must be K/N, such as 0/4; got {text!r}.")
    return int(k), int(n)


def _text(path: Path) -> str:
    """What a file and those it includes say: runs that were kept belong to it."""
    if path.suffix.lower() == ".urdf":
        return path.read_text(encoding="utf-8")
    from anguilla.files.problems import Problems
    from anguilla.files.read import SECTIONS
    from anguilla.files.sources import gather

    problems = Problems()
    problems.folder = None if Output.folder is None else Output.folder.resolve()
    return json.dumps(gather(path, SECTIONS, problems).plain, default=str, sort_keys=True)
