"""``anguilla check``: the mistakes in robot files, or what they describe."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from anguilla.cli.common import DONE, WRONG_INPUT, JsonOption, Output, SetOption, read


def check(
    files: Annotated[list[Path], typer.Argument(metavar="ROBOT...", help="Robot files (.yaml, .urdf).")],
    settings: SetOption = None,
    machine: JsonOption = False,
) -> int:
    """Check robot files and summarise them; every problem is listed with its line."""
    from anguilla.files import FileError

    output = Output(machine)
    found: list[dict[str, Any]] = []
    wrong = 0
    for path in files:
        try:
            file = read(path, settings, output)
        except FileError as error:
            wrong += len(error.problems)
            found.append({"file": str(path), "ok": False, "problems": [p.as_dict() for p in error.problems]})
            if not machine:
                print(error, file=sys.stderr)
            continue
        robot = file.robot
        about = f"robot {robot.name!r}: {robot.summary}"
        inputs = ", ".join(robot.inputs)
        output.line(
            f"{path}: {about}; {len(robot.loads)} load{'s' * (len(robot.loads) != 1)}; inputs: {inputs or 'none'}"
        )
        for name, parameter in file.parameters.items():
            text = f"{parameter.value:g} {parameter.unit}".rstrip()
            output.line(f"  {name} = {text}" + (f"   {parameter.description}" if parameter.description else ""))
        about_one: dict[str, Any] = {
            "file": str(path),
            "ok": True,
            "robot": robot.name,
            "coordinates": robot.coordinates(),
        }
        about_one |= {"inputs": list(robot.inputs), "notes": list(file.notes)}
        about_one["parameters"] = {name: p.value for name, p in file.parameters.items()}
        found.append(about_one)
    if wrong:
        if not machine:
            print(f"anguilla: {wrong} problem{'s' if wrong > 1 else ''}.", file=sys.stderr)
    output.facts = {"ok": not wrong, "files": found}
    output.close()
    return WRONG_INPUT if wrong else DONE
