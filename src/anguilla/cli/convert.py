"""``anguilla convert``: results for other programs; robot files without includes; URDF to robot files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from anguilla.cli.common import DONE, FIGURES, JsonOption, Output, SetOption, check_target, load_result, read
from anguilla.errors import DescriptionError

ROBOTS = (".yaml", ".yml", ".urdf", ".json")
RESULTS = (".csv", ".npz", ".mat", ".pvd", ".nc", ".html", *FIGURES)


def convert(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="A result (.nc) or a robot (.yaml, .urdf).")],
    target: Annotated[
        Path, typer.Argument(metavar="TO", help="Results: .csv .npz .mat .pvd .nc .html .png; robots: .yaml .json.")
    ],
    settings: SetOption = None,
    machine: JsonOption = False,
) -> int:
    """Convert a result for another program, or a robot file into one without includes and parameters."""
    output = Output(machine)
    kind = target.suffix.lower()
    if source.exists() and target.exists() and source.samefile(target):
        raise DescriptionError(f"TO must be another file than FROM, {str(source)!r}, which would be overwritten.")
    if source.suffix.lower() in ROBOTS:
        check_target(target, (".yaml", ".yml", ".json"), "TO")
        _robot(source, target, settings, output)
    elif settings:
        raise DescriptionError("--set is for robot files; a result is what it is.")
    else:
        check_target(target, RESULTS, "TO")
        result = load_result(source)
        if kind == ".html":
            from anguilla.view.page import animate

            animate(result, target)
        elif kind in FIGURES:
            from anguilla.view.plots import plot

            plot(result, target)
        else:
            from anguilla.view.export import export

            export(result, target)
    output.wrote(kind[1:], target)
    output.close()
    return DONE


def _robot(source: Path, target: Path, settings: list[str] | None, output: Output) -> None:
    from anguilla.files import robot_document, write_robot
    from anguilla.store.whole import whole_file

    file = read(source, settings, output)
    if target.suffix.lower() == ".json":
        document, _ = robot_document(file.robot, inputs=file.inputs, simulate=file.simulate)
        with whole_file(target) as part:
            part.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    else:
        write_robot(file.robot, target, inputs=file.inputs, simulate=file.simulate)
