"""``anguilla identify``: find numbers of a robot file from measurements."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from anguilla.cli.common import (
    DONE,
    JsonOption,
    Output,
    PlotOption,
    RobotArgument,
    SetOption,
    check_target,
    pairs,
    read,
)
from anguilla.errors import AnguillaWarning

RUNS = "Measurements (.csv, .nc, .c3d): columns t, MARKER_x, MARKER_y, MARKER_z, and inputs by the names of actuators."


def identify_command(
    robot: RobotArgument,
    data: Annotated[list[Path], typer.Argument(metavar="DATA...", help=RUNS)],
    free: Annotated[
        list[str],
        typer.Option("--free", metavar="PATH", help="Parameter to fit, such as arm.material.young; repeatable."),
    ],
    marker: Annotated[
        list[str] | None,
        typer.Option("--marker", metavar="NAME=FRAME", help="Frame of a marker: tip=arm.tip, mid=arm[[0.1]]."),
    ] = None,
    unit: Annotated[str, typer.Option("--unit", help="Unit of positions that do not say their own: m, cm, mm.")] = "m",
    rename: Annotated[
        list[str] | None,
        typer.Option("--rename", metavar="OLD=NEW", help="Other name of a column or marker: servo_4=t1; repeatable."),
    ] = None,
    motion: Annotated[
        bool | None,
        typer.Option("--motion/--equilibria", help="What the rows are; by default guessed from the columns."),
    ] = None,
    held_out: Annotated[
        list[Path] | None, typer.Option("--held-out", metavar="DATA", help="Measurements used for validation only.")
    ] = None,
    base: Annotated[str, typer.Option("--base", help="What is unknown about the base: position or pose.")] = "",
    loss: Annotated[
        str, typer.Option("--loss", help="Loss function: linear, soft_l1, huber, cauchy or arctan.")
    ] = "linear",
    starts: Annotated[int, typer.Option("--starts", help="Number of starting points.")] = 1,
    settings: SetOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the fitted robot (.yaml).")] = None,
    plot: PlotOption = None,
    machine: JsonOption = False,
) -> int:
    """Fit parameters of a robot to measurements, with 95 % intervals, and say what the data do not determine."""
    output = Output(machine)
    check_target(out, (".yaml", ".yml"), "--out")
    check_target(plot, (".png", ".svg", ".pdf"), "--plot")
    file = read(robot, settings, output)
    from anguilla.identification import Measurements, identify

    options: dict[str, Any] = {"markers": pairs(marker, "--marker"), "base": base}
    options |= {} if motion is None else {"motion": motion}
    known = list(file.robot.actuators)

    def measured(path: Path) -> Measurements:
        run = Measurements.read(path, unit=unit, columns=pairs(rename, "--rename"), **options)
        others = [name for name in run.inputs if name not in known]
        if others:
            output.facts.setdefault("left_out", {})[path.name] = others
            output.line(
                f"{path.name}: {', '.join(others)} left out: the robot's inputs are {', '.join(known) or 'none'}"
            )
        return replace(run, inputs={name: u for name, u in run.inputs.items() if name in known})

    runs, kept = [measured(path) for path in data], [measured(path) for path in held_out or []]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnguillaWarning)  # its notes are printed
        found = identify(file.robot, runs, free, held_out=kept, loss=loss, starts=starts)
    output.line(str(found))
    output.facts |= {
        "values": found.values, "intervals": {name: list(ends) for name, ends in found.interval.items()},
        "correlation": found.correlation, "notes": found.notes, "held_out": found.held_out, "seconds": found.seconds,
        "errors": {run.name: found.error(run) for run in runs},
    }  # fmt: skip
    if out is not None:
        output.wrote("robot", found.save(out))
    if plot is not None:
        found.plot(plot)
        output.wrote("plot", plot)
    output.close()
    return DONE
