"""``anguilla view``: look at a result, or drive a robot, in a browser."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from anguilla.cli.common import (
    DONE,
    MissingPackageError,
    OpenOption,
    Output,
    SetOption,
    load_result,
    open_page,
    read,
    units,
)


def view(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A result (.nc) to play, or a robot (.yaml, .urdf) to drive.")
    ],
    port: Annotated[int, typer.Option(help="Port of the page.", min=0, max=65535)] = 8080,
    host: Annotated[str, typer.Option(help="Address to listen on; the default is this machine only.")] = "127.0.0.1",
    dt: Annotated[
        float | None,
        typer.Option("--dt", help=units("Time step of a driven robot [s]; else that of the file, or 0.01.")),
    ] = None,
    settings: SetOption = None,
    seconds: Annotated[
        float | None, typer.Option(help=units("Stop after this time [s]; by default on Ctrl-C."))
    ] = None,
    opened: OpenOption = None,
) -> int:
    """Open a page in the browser: play a result, or drive a robot by sliders in real time."""
    output = Output(False)
    if find_spec("viser") is None:
        raise MissingPackageError(
            "the viewer needs viser: pip install 'anguilla[view]'; or write a page: anguilla video."
        )
    from anguilla.results.states import Equilibrium, Trajectory
    from anguilla.view.live import drive_file, play
    from anguilla.view.shown import Page

    if file.suffix.lower() == ".nc":
        result = load_result(file)
        if isinstance(result, Trajectory | Equilibrium):
            shown: Page = play(result, host=host, port=port)
        else:
            from anguilla.view.soft import play_soft

            shown = play_soft(result, host=host, port=port)
    else:
        robot = read(file, settings, output)
        shown = drive_file(robot, dt=dt, host=host, port=port)
    output.line(f"open {shown.address}   (stop with Ctrl-C)")
    open_page(shown.address, opened)
    try:
        shown.wait(seconds)
    finally:
        shown.close()
    return DONE
