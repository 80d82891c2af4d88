"""``anguilla new``: a robot file to begin with."""

from __future__ import annotations

from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from anguilla.cli.common import DONE, check_target
from anguilla.errors import DescriptionError


class Template(StrEnum):
    """The templates, by name."""

    rod = "rod"
    tendon = "tendon"
    arm = "arm"


def new(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="File to write (.yaml).")],
    template: Annotated[
        Template, typer.Option(help="rod; arm: a rod with a hand; tendon: an arm of three sections.")
    ] = (Template.rod),
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> int:
    """Write a commented robot file to start from."""
    from anguilla.store.whole import whole_file

    check_target(path, (".yaml", ".yml"), "FILE")
    if path.exists() and not force:
        raise DescriptionError(f"{str(path)!r} is already there; choose another name or give --force.")
    text = files("anguilla.cli").joinpath("templates", f"{template.value}.yaml").read_text(encoding="utf-8")
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")
    print(f"{path}   try: anguilla check {path}; anguilla simulate {path} --plot motion.png")
    return DONE
