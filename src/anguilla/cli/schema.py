"""``anguilla schema``: the JSON schema of robot files, for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from anguilla.cli.common import DONE, check_target


def schema(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write (.json); by default it is printed.")
    ] = None,
) -> int:
    """Print the JSON schema of robot files, for editors."""
    from anguilla.files import robot_schema
    from anguilla.store.whole import whole_file

    check_target(out, (".json",), "--out")
    text = json.dumps(robot_schema(), indent=1)
    if out is None:
        print(text)
        return DONE
    with whole_file(out) as part:
        part.write_text(text + "\n", encoding="utf-8")
    print(out)
    return DONE
