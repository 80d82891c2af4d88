"""``anguilla plot`` and ``anguilla video``: pictures of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from anguilla.cli.common import (
    DONE,
    FIGURES,
    JsonOption,
    Output,
    ResultArgument,
    check_target,
    load_result,
    units,
)
from anguilla.errors import DescriptionError, missing

ColourOption = Annotated[
    str | None, typer.Option("--colour", help="Colours of a soft volume: displacement, stress or strain.")
]
VIDEOS = (".mp4", ".gif", ".html")


def plot_command(
    result: ResultArgument,
    out: Annotated[Path, typer.Argument(metavar="FIGURE", help="File to write (.png, .svg, .pdf).")],
    colour: ColourOption = None,
    machine: JsonOption = False,
) -> int:
    """Write a figure of a result: shapes, path of the tip, energies, strains."""
    from anguilla.view.plots import plot

    output = Output(machine)
    check_target(out, FIGURES, "FIGURE")
    plot(load_result(result), out, colour=colour)
    output.wrote("figure", out)
    output.close()
    return DONE


def video(
    result: ResultArgument,
    out: Annotated[Path, typer.Argument(metavar="VIDEO", help="File to write (.mp4, .gif, .html).")],
    fps: Annotated[float, typer.Option(help=units("Frames per second [1/s]."), min=1.0, max=120.0)] = 25.0,
    speed: Annotated[float, typer.Option(help="Speed: 1 is real time, 0.1 ten times slower.", min=1e-3)] = 1.0,
    colour: ColourOption = None,
    machine: JsonOption = False,
) -> int:
    """Write a motion as a video (.mp4; needs ffmpeg or the extra 'video'), a GIF (.gif) or a page (.html)."""
    output = Output(machine)
    check_target(out, VIDEOS, "VIDEO")
    if out.suffix.lower() == ".mp4":
        from anguilla.view.video import NEEDS_FFMPEG, ffmpeg

        if ffmpeg() is None:
            raise missing(NEEDS_FFMPEG, "imageio-ffmpeg", "video", "or write a .gif or .html")
    run = load_result(result)
    if out.suffix.lower() == ".html":
        from anguilla.view.page import animate

        animate(run, out, colour=colour)
    else:
        from anguilla.results.states import Equilibrium
        from anguilla.view.video import write_video

        if isinstance(run, Equilibrium) or not hasattr(run, "t"):
            raise DescriptionError("a video needs a motion; this is an equilibrium: use 'anguilla plot'.")
        with _progress(machine) as tick:
            write_video(run, out, fps=fps, speed=speed, colour=colour, tick=tick)
    output.wrote("video", out)
    output.close()
    return DONE


def _progress(machine: bool) -> Any:
    from anguilla.solve.newton.progress import progress_bar

    return progress_bar("drawing", 100, False if machine else None)
