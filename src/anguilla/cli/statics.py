"""``anguilla statics``: the equilibrium of a robot file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anguilla.cli.common import (
    DONE,
    InputOption,
    JsonOption,
    Output,
    RobotArgument,
    SetOption,
    check_target,
    inputs_of,
    point,
    read,
    tips,
    units,
)


def statics_command(
    robot: RobotArgument,
    settings: SetOption = None,
    inputs: InputOption = None,
    t: Annotated[float | None, typer.Option("--t", help=units("Time at which loads are taken [s]."))] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the result (.nc).")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw it (.png, .svg, .pdf).")] = None,
    machine: JsonOption = False,
) -> int:
    """Find the equilibrium of a robot."""
    output = Output(machine)
    check_target(out, (".nc",), "--out")
    check_target(plot, (".png", ".svg", ".pdf"), "--plot")
    file = read(robot, settings, output)
    from anguilla.solve.statics import statics

    options = dict(file.statics) | ({} if t is None else {"t": t})
    moment = options.get("t", 0.0)
    given = {name: value(moment) if callable(value) else value for name, value in inputs_of(file, inputs).items()}
    result = statics(file.robot, inputs=given, **options)
    output.table(
        [
            ("robot", f"{file.robot.name}, {result.system.size} coordinates"),
            ("equilibrium", result.status.message),
            *((name, point(place)) for name, place in tips(result).items()),
        ]
    )
    output.facts |= {"q": dict(zip(result.coordinates, result.q.tolist(), strict=True)), "positions": tips(result)}
    output.facts |= {"energy": result.energy, "counters": result.status.counters, "message": result.status.message}
    if out is not None:
        output.wrote("result", result.save(out))
    if plot is not None:
        from anguilla.view.plots import plot as draw

        draw(result, plot)
        output.wrote("figure", plot)
    output.close()
    return DONE
