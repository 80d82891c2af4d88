"""A stand-alone page in which the robot moves: one HTML file that asks nothing of the network."""

from __future__ import annotations

import base64
import html
import json
import math
import os
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import public
from anguilla.describe import Frame
from anguilla.errors import refuse
from anguilla.results.states import Trajectory
from anguilla.store.whole import as_target, whole_file
from anguilla.view.obstacles import Carried, Shell, shell, shell_of
from anguilla.view.scene import Result, Scene, Tube, as_computed, only_rods, scene, thin
from anguilla.view.stage import ARROW, Tracks, contact_forces
from anguilla.view.style import COLOURS, SOLID, scaled

if TYPE_CHECKING:
    from anguilla.view.volumes import SoftResult

__all__ = ["Animation", "animate", "inline", "page_of"]

BUDGET = 2.0e6  # characters of embedded poses; the page around them takes 0.03e6
FRAMES_PER_SECOND = 60.0  # more than this is not seen, even in slow motion: the page interpolates
FEWEST_FRAMES, MOST_FRAMES = 120, 1200
MOST_CONTACTS = 12  # arrows of contacts at an instant


@overload
def animate(run: Result | SoftResult, path: str | os.PathLike[str], *, colour: str | None = None) -> Path: ...


@overload
def animate(run: Result | SoftResult, path: None = None, *, colour: str | None = None) -> Animation: ...


@public
def animate(
    run: Result | SoftResult, path: str | os.PathLike[str] | None = None, *, colour: str | None = None
) -> Path | Animation:
    """Make a page in which a motion can be played, turned and looked at closely, in any browser.

    Args:
        run: a Trajectory; an Equilibrium gives a still picture that can be turned. Or those of a soft volume, or a SoftBody.
        path: file to write, .html; stored instants are thinned so that it stays below about 3 MB. With .gif or .mp4, a
            video of a Trajectory (`anguilla.view.video.write_video` has its options). Without a path nothing is written.
        colour: of a soft volume: "displacement" (if not given), "stress" (von Mises) or "strain" (equivalent).

    Returns:
        The path of the file; without a path, an `Animation`, which a notebook shows.

    """
    if path is None:
        return Animation(page_of(run, colour=colour))
    target = as_target(path, (".html", ".htm", ".gif", ".mp4"))
    if target.suffix.lower() in (".gif", ".mp4"):
        from anguilla.view.video import write_video

        if not hasattr(run, "t") or np.ndim(run.t) == 0:
            raise refuse("run", "a Trajectory, for a video", run)
        return write_video(run, target, colour=colour)  # type: ignore[arg-type]
    return Animation(page_of(run, colour=colour)).save(target)


@dataclass(frozen=True)
class Animation:
    """A page with a moving robot; a notebook shows it in place.

    Attributes:
        html: the text of the page.
        height: of the frame in a notebook [pixels].

    """

    html: str = field(repr=False)
    height: int = 480

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, .html, and return its path."""
        target = as_target(path, (".html", ".htm"))
        with whole_file(target) as part:
            part.write_text(self.html, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        return inline(self.html, f"width:100%;height:{self.height}px")


def inline(text: str, style: str) -> str:
    """A page inside another one: it may run its own scripts and nothing else."""
    look = f"{style};border:1px solid #dde4ea;border-radius:8px"
    return f'<iframe srcdoc="{html.escape(text)}" sandbox="allow-scripts" style="{look}"></iframe>'


def page_of(run: Result | SoftResult, budget: float = BUDGET, *, colour: str | None = None) -> str:
    """The text of a page; stored instants are thinned so that their poses take no more than a number of characters."""
    from anguilla.view.volumes import is_soft

    if is_soft(run):
        from anguilla.view.volume_page import page_of as page_of_volume

        return page_of_volume(run, colour or "displacement")  # type: ignore[arg-type]
    from anguilla.view.mixed import bare, is_mixed

    whole: Any = run if is_mixed(run) else None
    if whole is not None:
        afford = int(budget / (7 * 4 / 3 * sum(len(each.system.rest.x) for each in whole.volumes.values())))
        whole = thin(whole, max(2, afford)) if isinstance(whole, Trajectory) else whole
    rods: Result = as_computed(bare(whole) if whole is not None else only_rods(run, colour))
    count = len(rods.robot.parts)
    sections = 40 if count <= 8 else 16
    if isinstance(rods, Trajectory):
        afford = int(budget / (count * sections * 7 * 4 * 4 / 3))
        wanted = int(FRAMES_PER_SECOND * float(rods.t[-1] - rods.t[0])) + 1
        most = max(2, min(afford, max(wanted, FEWEST_FRAMES), MOST_FRAMES))
        rods, whole = thin(rods, most), None if whole is None else thin(whole, most)
    picture = scene(rods, sections=sections, around=32 if count <= 8 else 16)
    more = {"cables": cables_of(rods, picture), "contacts": contacts_of(rods, picture, whole)}
    if whole is not None:
        from anguilla.view.volume_page import skins_told

        more |= skins_told(picture, whole, colour)
    return _fill(picture, more)


def cables_of(run: Result, picture: Scene) -> list[dict[str, Any]]:
    """Lines of tendons and chambers as pairs of points fixed to drawn sections, so that they need no data of their own.

    A point is a tube (-1: the world), a section of it, and an offset in its axes [m]; two points make a segment.
    """
    numbers = {tube.name: k for k, tube in enumerate(picture.tubes)}
    tracks = Tracks(run)
    found = []
    for actuator in run.robot.actuators.values():
        points: list[tuple[int, int, NDArray[np.float64]]] = []
        for part, routing, low, high in actuator.stretches:
            tube = picture.tubes[numbers[part.name]]
            inside = np.flatnonzero((tube.X >= low - 1e-9) & (tube.X <= high + 1e-9))
            line = [
                (numbers[part.name], int(k), d) for k, d in zip(inside, routing.offset(tube.X[inside]), strict=True)
            ]
            points += [point for pair in pairwise(line) for point in pair]
        for ends in actuator.spans:
            points += [_fixed(tracks, frame, picture, numbers) for frame in ends]
        if points:
            tubes, sections, offsets = zip(*points, strict=True)
            cable = {"tube": tubes, "section": sections, "offset": encode(np.array(offsets)), "colour": actuator.colour}
            found.append(cable)
    return found


def contacts_of(run: Result, picture: Scene, whole: Any = None) -> dict[str, Any] | None:
    """Arrows of contacts (time, k, 6), places [m] and vectors [m], zero where there are fewer; None if nothing touches.

    `whole` is the result with soft volumes, if there are any.
    """
    soft = whole is not None and whole.touches
    if not soft and not any(load.touches or load.meets for load in run.system.robot.loads):
        return None
    low, high = picture.bounds
    size, tracks = float(np.linalg.norm(high - low)), Tracks(run, whole.touching_at if soft else None)
    found = [np.hstack(contact_forces(tracks, index, size))[:MOST_CONTACTS] for index in range(len(picture.t))]
    out = np.zeros((len(found), max(map(len, found)), 6))
    for row, some in zip(out, found, strict=True):
        row[: len(some)] = some
    strength = np.linalg.norm(out[:, :, 3:], axis=2)
    if not strength.any():
        return None
    out[:, :, 3:] *= ARROW * size / np.percentile(strength[strength > 0.0], 98.0)  # a blow does not hide the rest
    out[:, :, 3:] /= np.maximum(np.linalg.norm(out[:, :, 3:], axis=2, keepdims=True) / (1.5 * ARROW * size), 1.0)
    out[:, :, :3] -= out[:, :, 3:]  # heads where things touch
    return encode(out)


def _fixed(tracks: Tracks, frame: Frame, picture: Scene, numbers: dict[str, int]) -> tuple[int, int, Any]:
    """A frame as a point fixed to the nearest drawn section of its part."""
    place = tracks.pose(frame, 0)[1]
    if frame.is_ground:
        return -1, 0, place
    number = numbers[tracks.result.robot.parts[frame.part_index].name]
    tube = picture.tubes[number]
    near = int(np.argmin(np.linalg.norm(tube.position[0] - place, axis=1)))
    return number, near, tube.rotation[0, near].T @ (place - tube.position[0, near])


def _fill(picture: Scene, more: dict[str, Any]) -> str:
    return filled(picture.name, describe(picture) | more)


def filled(title: str, told: dict[str, Any]) -> str:
    """The text of the page with its title and what it is told."""
    room = files("anguilla.view")
    page = room.joinpath("page.html").read_text(encoding="utf-8")
    player = room.joinpath("player.js").read_text(encoding="utf-8")
    # "<" is written as an escape, so that no name can end the script element
    data = json.dumps(told, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    head, rest = page.split("@TITLE@")
    middle, rest = rest.split("@DATA@")
    before, after = rest.split("@PLAYER@")
    return "".join([head, html.escape(title), middle, data, before, player, after])


def describe(picture: Scene) -> dict[str, Any]:
    """Return what the page is told: names, the fit of the camera, and the arrays of the tubes."""
    low, high = picture.bounds
    size = float(np.linalg.norm(high - low))
    centre = 0.5 * (low + high)
    thickest = max(float(tube.radius.max()) for tube in picture.tubes)
    radius = float(np.max(np.linalg.norm(picture.points - centre, axis=1))) + thickest
    cell = round_number(size / 10.0)
    unit, name = scaled(cell)
    return {
        "name": picture.name,
        "frames": len(picture.t),
        "t": encode(picture.t),
        "size": size,
        "radius": radius,
        "centre": centre.tolist(),
        "low": low.tolist(),
        "azimuth": picture.azimuth,
        "cell": cell,
        "cellText": f"{unit * cell:g} {name}",
        "rods": [_rod(tube, COLOURS[k % len(COLOURS)]) for k, tube in enumerate(picture.tubes)],
        "solids": [_solid(shell(obstacle, picture.bounds)) for obstacle in picture.obstacles]
        + [_solid(shell_of(one, picture.bounds)) | _way(one) for one in picture.carried],
    }


def _rod(tube: Tube, colour: str) -> dict[str, Any]:
    return {
        "name": tube.name,
        "colour": colour,
        "clamped": tube.clamped,
        "free": tube.free,
        "sections": len(tube.X),
        "around": tube.outline.shape[1],
        "rootRadius": float(tube.radius[0]),
        "X": encode(tube.X),
        "outline": encode(tube.outline),
        "position": encode(tube.position),
        "rotation": encode(quaternions_wxyz(tube.rotation)),
    }


def _solid(piece: Shell) -> dict[str, Any]:
    """An obstacle as vertices of 7 numbers (place, normal, no mark) and corners of triangles."""
    mark = np.zeros((len(piece.vertices), 1))
    return {
        "colour": SOLID,
        "vertices": encode(np.hstack([piece.vertices, piece.normals, mark])),
        "index": piece.faces.ravel().tolist(),
    }


def _way(one: Carried) -> dict[str, Any]:
    """Where an obstacle that a body carries is, over time."""
    return {"position": encode(one.position), "rotation": encode(quaternions_wxyz(one.rotation))}


def encode(array: ArrayLike) -> dict[str, Any]:
    """Return the shape of an array and its values, little-endian float32, in base64."""
    values = np.ascontiguousarray(array, dtype="<f4")
    return {"shape": list(values.shape), "data": base64.b64encode(values.tobytes()).decode("ascii")}


def quaternions_wxyz(rotation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return unit quaternions (..., 4), w first, of rotations (..., 3, 3).

    4 q q^T is written down from the rotation; its longest column gives q without a division by a small number.
    """
    r = rotation
    xx, yy, zz = r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]
    outer = np.empty((*r.shape[:-2], 4, 4))
    outer[..., 0, 0] = 1.0 + xx + yy + zz
    outer[..., 1, 1], outer[..., 2, 2], outer[..., 3, 3] = 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz
    for i, (j, k) in enumerate(((2, 1), (0, 2), (1, 0)), start=1):  # w times x, y, z
        outer[..., 0, i] = outer[..., i, 0] = r[..., j, k] - r[..., k, j]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        outer[..., i + 1, j + 1] = outer[..., j + 1, i + 1] = r[..., i, j] + r[..., j, i]
    longest = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(outer, longest[..., None, None], axis=-1)[..., 0]
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def round_number(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that does not exceed a value."""
    power = 10.0 ** math.floor(math.log10(value))
    return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= value * (1.0 + 1e-9))
