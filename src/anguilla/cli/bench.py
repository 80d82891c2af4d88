"""``anguilla bench``: the speed of a robot on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from anguilla._words import numbered
from anguilla.cli.common import DONE, InputOption, JsonOption, Output, SetOption, inputs_of, read, units


def bench(
    robot: Annotated[
        Path | None, typer.Argument(metavar="ROBOT", help="A robot file; by default a tendon arm of three sections.")
    ] = None,
    dt: Annotated[float | None, typer.Option("--dt", help=units("Time step [s]."))] = None,
    steps: Annotated[int, typer.Option(help="Time steps per round.", min=1)] = 500,
    rounds: Annotated[int, typer.Option(help="Number of rounds; the fastest counts.", min=1)] = 5,
    settings: SetOption = None,
    inputs: InputOption = None,
    machine: JsonOption = False,
) -> int:
    """Measure the time per step of a robot on this machine, with compiled kernels."""
    from importlib.resources import as_file, files

    output = Output(machine)
    if robot is None:
        with as_file(files("anguilla.cli").joinpath("templates", "tendon.yaml")) as path:
            file = read(path, settings, output)
    else:
        file = read(robot, settings, output)
    step = dt if dt is not None else file.simulate.get("dt", 0.01)
    times = _rounds(file, inputs_of(file, inputs), step, steps, rounds)
    best, middle = min(times), sorted(times)[rounds // 2]
    output.table(
        [
            ("robot", f"{file.robot.name}, {numbered(file.robot.size, 'coordinate')}"),
            ("step", f"{1e6 * best / steps:.0f} us, the best of {rounds} (median {1e6 * middle / steps:.0f} us)"),
            ("speed", f"{step * steps / best:.1f} times real time with dt = {step:g} s"),
        ]
    )
    output.facts |= {"coordinates": file.robot.size, "dt": step, "microseconds_per_step": 1e6 * best / steps}
    output.fact("times_real_time", step * steps / best)
    output.close()
    return DONE


def _rounds(file: Any, inputs: dict[str, Any], dt: float, steps: int, rounds: int) -> list[float]:
    from anguilla.solve.steps.dynamics import simulate

    found = []
    simulate(file.robot, duration=dt, dt=dt, inputs=inputs, progress=False)
    for _ in range(rounds):
        run = simulate(file.robot, duration=steps * dt, dt=dt, every=steps, inputs=inputs, progress=False)
        found.append(run.status.seconds)
    return found
