"""``anguilla simulate``: the motion of a robot file."""

from __future__ import annotations

import sys
import warnings
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

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
from anguilla.errors import AnguillaWarning, DescriptionError, as_positive

LARGE = 200e6  # bytes of a file that takes long to write
METHODS = "newmark, hht, generalised_alpha, midpoint"


class Start(StrEnum):
    """Where a motion begins."""

    rest = "rest"
    equilibrium = "equilibrium"
    held = "held"


def simulate_command(
    robot: RobotArgument,
    duration: Annotated[float | None, typer.Option("--duration", "-d", help=units("Simulated time [s]."))] = None,
    dt: Annotated[float | None, typer.Option("--dt", help=units("Time step [s]."))] = None,
    settings: SetOption = None,
    inputs: InputOption = None,
    start: Annotated[
        Start | None,
        typer.Option("--start", help="Where to start: rest shape, equilibrium, or held by the inputs at t = 0."),
    ] = None,
    method: Annotated[str | None, typer.Option("--method", help=f"One of {METHODS}.")] = None,
    every: Annotated[int | None, typer.Option("--every", help="Store every n-th time step.")] = None,
    error: Annotated[
        float | None, typer.Option("--error", help="Error tolerance per step; time steps then adapt.")
    ] = None,
    out: OutOption = None,
    plot: PlotOption = None,
    page: Annotated[Path | None, typer.Option("--page", help="Write a page to play it in a browser (.html).")] = None,
    checkpoint: Annotated[
        bool,
        typer.Option("--checkpoint/--no-checkpoint", help="Save the state of a long run in OUT.checkpoint."),
    ] = True,
    machine: JsonOption = False,
) -> int:
    """Simulate the motion of a robot; after an interruption the same command resumes the run."""
    from anguilla.store.gather import size_of

    output = Output(machine)
    check_targets(out, plot, page)
    file = read(robot, settings, output)
    given: dict[str, Any] = {"duration": duration, "dt": dt, "method": method, "every": every, "error": error}
    options = dict(file.simulate) | {name: value for name, value in given.items() if value is not None}
    begin = start.value if start is not None else options.pop("start", "rest")
    options.pop("start", None)
    for name in ("duration", "dt"):
        if name not in options:
            raise DescriptionError(f"give --{name}: the file has no 'simulate: {{duration: ..., dt: ...}}'.")
        as_positive(options[name], f"--{name}" if given[name] is not None else f"simulate.{name} of the file", "s")
    result = _run(file, inputs_of(file, inputs), begin, options, out if checkpoint else None, output)
    _report(output, result)
    if out is not None and not output.machine and (size := size_of(result)) > LARGE:
        print(f"writing up to {size / 1e9:.2g} GB; --every N stores fewer states", file=sys.stderr, flush=True)
    return finish(output, result, out, plot, page)


def _run(
    file: Any, inputs: dict[str, Any], begin: str, options: dict[str, Any], out: Path | None, output: Output
) -> Any:
    from anguilla.solve.statics.statics import statics
    from anguilla.solve.steps.dynamics import simulate

    first = None
    if begin != "rest":
        held = inputs_at(inputs, 0.0)
        first = statics(file.robot, inputs=held if begin == "held" else None)
    if out is not None and "error" not in options and not file.robot.volumes:  # which have no checkpoints yet
        options["checkpoint"] = Output.checkpoint = out.with_name(out.name + ".checkpoint")
        if options["checkpoint"].exists() and not output.machine:
            print(f"resuming from {options['checkpoint']}", file=sys.stderr)
    step = options["dt"]
    with warnings.catch_warnings():  # one step loads the kernels, so that the times reported are those of the work
        warnings.simplefilter("ignore", AnguillaWarning)
        simulate(file.robot, duration=step, dt=step, inputs=inputs, start=first, progress=False, raise_on_failure=False)
    notes: list[warnings.WarningMessage] = []
    known: tuple[str, ...] = ()
    try:
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always", AnguillaWarning)
            result = simulate(
                file.robot, inputs=inputs, start=first, progress=False if output.machine else None, **options
            )
        known = () if result.quality is None else result.quality.messages
    finally:
        for note in notes:
            text = str(note.message)
            for sentence in known:  # which are reported with the result
                text = text.replace(sentence, "").strip()
            if text:
                warnings.warn(AnguillaWarning(text), stacklevel=1)
    return result


def _report(output: Output, result: Any) -> None:
    counters, wall, simulated = result.status.counters, result.status.seconds, float(result.t[-1])
    energy = {name: value[-1] for name, value in result.energy.items()}
    output.table(
        [
            ("robot", f"{result.robot.name}, {numbered(result.system.size, 'coordinate')}"),
            ("motion", f"{simulated:g} s in {numbered(counters['steps'], 'step')}, {result.status.message}"),
            ("", f"{wall:.3f} s of wall time, {simulated / max(wall, 1e-9):.1f} times real time"),
            *((name, f"{point(place)} at the end") for name, place in tips(result).items()),
            *pushing(result),
            ("energy", f"{energy['total']:.4g} J at the end, {energy['kinetic']:.3g} J of motion"),
            *([("quality", str(result.quality))] if result.quality is not None else []),
        ]
    )
    output.facts |= {"duration": simulated, "steps": counters["steps"], "wall_seconds": wall, "counters": counters}
    output.facts |= {"positions": tips(result), "energy": energy, "message": result.status.message}
    output.facts["contacts"] = contacts(result)
    quality = {} if result.quality is None else asdict(result.quality) | {"ok": result.quality.ok}
    output.facts["quality"] = quality | {"space_error": result.space_error}
