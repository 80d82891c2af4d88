"""Motions as videos: shaded pictures drawn one after another, written by ffmpeg (.mp4) or Pillow (.gif)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from anguilla.errors import as_positive, missing, require
from anguilla.results.states import Trajectory
from anguilla.store.whole import as_target, whole_file
from anguilla.view.panels import draw_flat, draw_solid
from anguilla.view.scene import Scene, only_rods, plane_of_motion, scene
from anguilla.view.style import figure, figure_style

if TYPE_CHECKING:
    from anguilla.fem.dynamics import SoftTrajectory

__all__ = ["ffmpeg", "write_video"]

MOST_PICTURES = 3000


NEEDS_FFMPEG = "a .mp4 needs the program ffmpeg or"


def ffmpeg() -> str | None:
    """Path of the program ffmpeg: the one installed, or the one in the package imageio-ffmpeg; None if there is neither."""
    found = shutil.which("ffmpeg")
    if found is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe

            found = get_ffmpeg_exe()
        except (ImportError, RuntimeError):
            return None
    return found


def write_video(
    run: Trajectory | SoftTrajectory,
    path: str | os.PathLike[str],
    *,
    fps: float = 25.0,
    speed: float = 1.0,
    colour: str | None = None,
    tick: Callable[[int], None] | None = None,
) -> Path:
    """Write a motion as a video.

    Args:
        run: a motion, of rods or of a soft volume.
        path: file to write, .mp4 (needs ffmpeg, or the extra `video`) or .gif.
        fps: pictures per second of the video [1/s].
        speed: 1 for real time, less for slow motion.
        colour: of a soft volume: "displacement" (if not given), "stress" or "strain".
        tick: called with the per cent done.

    Returns:
        The path of the file.

    """
    matplotlib = require("matplotlib", "videos need", "plot")
    from matplotlib.animation import FFMpegWriter, PillowWriter

    target = as_target(path, (".mp4", ".gif"))
    as_positive(fps, "fps", "1/s")
    as_positive(speed, "speed")
    count = int(np.clip(round((run.t[-1] - run.t[0]) / speed * fps) + 1, 2, MOST_PICTURES))
    nearest = np.abs(np.linspace(run.t[0], run.t[-1], count)[:, None] - run.t[None, :]).argmin(axis=1)
    draw = _drawing(run.picked(nearest), colour)
    video = target.suffix.lower() == ".mp4"
    program = ffmpeg() if video else ""
    if program is None:
        raise missing(NEEDS_FFMPEG, "imageio-ffmpeg", "video", "or write a .gif")
    # pixels in pairs of numbers and the commonest coding: what every player shows
    writer = FFMpegWriter(round(fps), "h264", extra_args=["-pix_fmt", "yuv420p"]) if video else PillowWriter(round(fps))
    with figure_style(), matplotlib.rc_context({"animation.ffmpeg_path": program}), whole_file(target) as part:
        fig = figure(6.4, 4.8)
        with writer.saving(fig, str(part), dpi=100):
            for k in range(count):
                draw(fig, k)
                writer.grab_frame()
                if tick is not None:
                    tick(round(100 * (k + 1) / count))
    return target


def _drawing(run: Trajectory | SoftTrajectory, colour: str | None) -> Callable[[object, int], None]:
    """A function that draws the instant k of a motion into a figure."""
    from anguilla.view.volumes import is_soft, volume

    if is_soft(run):
        from anguilla.view.volume_plots import draw_frame

        soft = volume(run, colour or "displacement")  # type: ignore[arg-type]
        return lambda fig, k: draw_frame(fig, soft, k)
    from anguilla.view.mixed import drawing, is_mixed

    if is_mixed(run):
        return drawing(run, colour)  # type: ignore[arg-type]
    picture = scene(only_rods(run, colour), sections=32, around=16)
    return lambda fig, k: _draw(fig, picture, k)


def _draw(fig: object, picture: Scene, k: int) -> None:
    """One instant, with the axes of the whole motion."""
    fig.clear()  # type: ignore[attr-defined]
    tubes = tuple(replace(t, position=t.position[k : k + 1], rotation=t.rotation[k : k + 1]) for t in picture.tubes)
    carried = tuple(one.at(slice(k, k + 1)) for one in picture.carried)
    still = Scene(picture.name, picture.t[k : k + 1], tubes, picture.obstacles, carried)
    plane = plane_of_motion(picture.points)
    if plane.offset < 0.02:
        ax = fig.add_subplot()  # type: ignore[attr-defined]
        draw_flat(ax, still, plane, [])
        low, high = plane.project(picture.points).min(axis=0), plane.project(picture.points).max(axis=0)
        scale = 1.0 if "[m]" in ax.get_xlabel() else 100.0 if "[cm]" in ax.get_xlabel() else 1000.0
        margin = 0.06 * np.max(high - low)
        ax.set_aspect("equal", adjustable="box")
        ax.set_xlim(scale * (low[0] - margin), scale * (high[0] + margin))
        ax.set_ylim(scale * (low[1] - margin), scale * (high[1] + margin))
    else:
        ax = fig.add_subplot(projection="3d")  # type: ignore[attr-defined]
        everything = replace(still, tubes=tubes)
        draw_solid(ax, everything, [])
        low, high = picture.bounds
        scale = 1.0 if "[m]" in ax.get_xlabel() else 100.0 if "[cm]" in ax.get_xlabel() else 1000.0
        size = np.maximum(high - low, 0.2 * np.max(high - low))
        middle = 0.5 * (low + high)
        for setter, centre, width in zip((ax.set_xlim, ax.set_ylim, ax.set_zlim), middle, size, strict=True):
            setter(scale * (centre - 0.52 * width), scale * (centre + 0.52 * width))
        ax.set_box_aspect(size, zoom=1.12)
        ax.view_init(elev=20.0, azim=np.degrees(picture.azimuth))
    ax.set_title(f"{picture.name}, t = {picture.t[k]:.3f} s", loc="left")
