"""``anguilla inverse``: inputs that bring frames of a robot to wanted places."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anguilla._words import numbered
from anguilla.cli.common import (
    JsonOption,
    Output,
    PlotOption,
    RobotArgument,
    SetOption,
    check_targets,
    finish,
    pairs,
    point,
    read,
    units,
)
from anguilla.errors import DescriptionError, as_nonnegative

if TYPE_CHECKING:
    from anguilla.describe import Frame, Robot

OUT_OF_REACH = ": the target is out of reach within the limits"


def inverse_command(
    robot: RobotArgument,
    target: Annotated[
        list[str],
        typer.Option(
            "--target",
            metavar="FRAME=X,Y,Z",
            help=units("Target position [m] of a frame: arm.tip=0.2,0,0.1; repeatable."),
        ),
    ],
    most: Annotated[
        float | None, typer.Option("--max-input", help=units("Upper limit of all inputs [N, Pa]; tendons start at 0."))
    ] = None,
    old_most: Annotated[float | None, typer.Option("--most", hidden=True)] = None,  # its name until version 0.1
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit", metavar="NAME=LOW,HIGH", help="Range of one input; by default tendons pull only, from 0."
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", help=units("Distance [m] from the target that counts as reached."))
    ] = 1e-5,
    settings: SetOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the equilibrium (.nc).")] = None,
    plot: PlotOption = None,
    machine: JsonOption = False,
) -> int:
    """Find the inputs that bring frames to target positions; out of reach, the nearest that the limits allow, and exit 1."""
    output = Output(machine)
    check_targets(out, plot)
    file = read(robot, settings, output)
    goals = {name: _numbers(text, 3, f"--target {name}") for name, text in pairs(target, "--target").items()}
    frames = {name: _frame(file.robot, name) for name in goals}
    most = old_most if most is None else most
    ranges: dict[str, Any] = {name: (0.0, most) for name in file.robot.actuators} if most is not None else {}
    ranges |= {name: _numbers(text, 2, f"--limit {name}") for name, text in pairs(limit, "--limit").items()}
    reach = _solve(file.robot, frames, goals, ranges)
    result = reach.equilibrium
    lowest = {name: -math.inf if a.is_push_rod else 0.0 for name, a in file.robot.actuators.items()}
    found = {name: _within(value, ranges.get(name, (lowest[name], math.inf))) for name, value in reach.inputs.items()}
    small = 1e-9 * max(abs(value) for value in found.values())  # rounding of the solver
    found = {name: 0.0 if abs(value) <= small else value for name, value in found.items()}
    reached = reach.distance <= as_nonnegative(tolerance, "--tolerance", "m")
    output.table(
        [
            ("robot", f"{file.robot.name}, {numbered(result.system.size, 'coordinate')}"),
            ("inverse", reach.status.message),
            *((name, f"{value:.4g} {file.robot.actuators[name].unit}") for name, value in found.items()),
            *((name, f"{point(reach.positions[name])}, wanted {point(goal)}") for name, goal in goals.items()),
            ("distance", f"{1e3 * reach.distance:.4g} mm left" + ("" if reached else OUT_OF_REACH)),
        ]
    )
    output.facts |= {"inputs": found, "strokes": reach.strokes, "positions": reach.positions}
    output.facts |= {"reached": reached, "distance": reach.distance}
    output.facts |= {"message": reach.status.message, "counters": reach.status.counters}
    return finish(output, result, out, plot, ok=reached)


def _solve(robot: Robot, frames: dict[str, Frame], goals: dict[str, Any], ranges: dict[str, Any]) -> Any:
    from anguilla.control import InverseKinematics, RodModel

    if not robot.actuators:
        raise DescriptionError(f"robot {robot.name!r} has no actuators: there is nothing to find.")
    by_length = [name for name, a in robot.actuators.items() if a.slack is not None]
    if by_length:
        raise DescriptionError(f"inverse finds tensions and pressures; {by_length[0]!r} is driven by its length.")
    for name, (low, high) in ranges.items():
        if low > high:
            raise DescriptionError(f"the range of {name!r} must go from low to high; got {low:g} to {high:g}.")
    model = RodModel(robot, frames, efforts=ranges)
    model.relax()
    return InverseKinematics(model).solve(goals)


def _within(value: float, limits: tuple[float, float]) -> float:
    """Without the rounding of the solver beyond a limit."""
    return min(max(value, limits[0]), limits[1])


def _numbers(text: str, count: int, option: str) -> tuple[float, ...]:
    """Numbers or formulas between commas."""
    from anguilla.files import Expression

    parts = text.strip("()[] ").split(",")
    if len(parts) != count:
        raise DescriptionError(f"{option} takes {count} numbers between commas; got {text!r}.")
    return tuple(float(Expression(part.strip(), arguments=())()) for part in parts)


def _frame(robot: Robot, name: str) -> Frame:
    """A frame by the name a robot file gives it: hand, arm.tip, arm.root, arm[0.25]."""
    from anguilla.describe import RodHandle
    from anguilla.describe.description import did_you_mean

    names = [part.name for part in robot.parts]
    match = re.fullmatch(r"([^\W\d][\w-]*)(?:\.(\w+)|\[([^\]]+)\])?", name)
    if match is None or match[1] not in names:
        listed: Sequence[str] = names
        close = did_you_mean(match[1] if match else name, names)
        raise DescriptionError(f"--target {name}: frames begin with one of {', '.join(listed)}{close}.")
    part = robot.part(match[1])
    if not isinstance(part, RodHandle):
        if match[2] is None and match[3] is None:
            return part.root
        raise DescriptionError(f"--target {name}: {part.name} is a body: name it alone.")
    if match[3] is not None:
        return part.section(_numbers(match[3], 1, f"--target {name}")[0])
    if match[2] not in ("root", "tip"):
        raise DescriptionError(f"--target {name}: {part.name} is a rod: say {part.name}.tip or {part.name}[0.1].")
    return part.tip if match[2] == "tip" else part.root
