"""``anguilla statics``: the equilibrium of a robot file."""

from __future__ import annotations

from typing import Annotated

import typer

from anguilla._words import numbered
from anguilla.cli.common import (
    InputOption,
    JsonOption,
    OutOption,
    Output,
    PlotOption,
    RobotArgument,
    SetOption,
    check_targets,
    contacts,
    finish,
    inputs_at,
    inputs_of,
    point,
    pushing,
    read,
    tips,
    units,
)


def statics_command(
    robot: RobotArgument,
    settings: SetOption = None,
    inputs: InputOption = None,
    t: Annotated[float | None, typer.Option("--t", help=units("Time at which loads are evaluated [s]."))] = None,
    out: OutOption = None,
    plot: PlotOption = None,
    machine: JsonOption = False,
) -> int:
    """Find the equilibrium of a robot."""
    output = Output(machine)
    check_targets(out, plot)
    file = read(robot, settings, output)
    from anguilla.solve.statics.statics import statics

    options = dict(file.statics) | ({} if t is None else {"t": t})
    given = inputs_at(inputs_of(file, inputs), options.get("t", 0.0))
    result = statics(file.robot, inputs=given, **options)
    error = result.error_estimate
    output.table(
        [
            ("robot", f"{file.robot.name}, {numbered(result.system.size, 'coordinate')}"),
            ("equilibrium", result.status.message),
            *((name, point(place)) for name, place in tips(result).items()),
            *pushing(result),
            *(
                [("quality", f"More modes and intervals would move it by about {error:.1%} of its length.")]
                if error > 5e-4
                else []
            ),
        ]
    )
    output.facts |= {"q": dict(zip(result.coordinates, result.q.tolist(), strict=True)), "positions": tips(result)}
    output.facts["contacts"] = contacts(result)
    output.facts |= {"energy": result.energy, "counters": result.status.counters, "message": result.status.message}
    output.facts["error_estimate"] = error
    return finish(output, result, out, plot)
