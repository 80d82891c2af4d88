"""Figures and videos of soft volumes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.fem.body import SoftBody
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.view.panels import ELEVATION, LIGHT, box_axes
from anguilla.view.style import COLOURS, FAINT, TIME_MAP, figure, label_ends, scaled
from anguilla.view.volumes import CHAMBER, TENDON, SoftResult, Volume, volume

__all__ = ["draw_volume", "overview"]

Array = NDArray[np.float64]
TITLES = {"displacement": "displacement", "stress": "von Mises stress", "strain": "equivalent strain"}


def overview(result: SoftResult, colour: str | None) -> Any:
    """The figure of a soft volume: an equilibrium by its displacement and stress, a motion also by its effectors."""
    if isinstance(result, SoftTrajectory):
        return _motion(result, colour or "displacement")
    wanted = [colour or "displacement"] if isinstance(result, SoftBody) or colour else ["displacement", "stress"]
    fig = figure(5.6 * len(wanted), 4.6)
    grid = fig.add_gridspec(1, len(wanted), wspace=0.04)
    for k, name in enumerate(wanted):
        picture = volume(result, name)
        ax = fig.add_subplot(grid[0, k], projection="3d")
        draw_volume(ax, picture, 0)
        if picture.quantity:
            scale_bar(fig, ax, picture)
    state = "at rest" if isinstance(result, SoftBody) else "equilibrium"
    fig.suptitle(f"{_name(result)}, {state}", x=0.01, ha="left", fontsize=12.0, fontweight="bold")
    return fig


def _name(result: SoftResult) -> str:
    return result.name if isinstance(result, SoftBody) else result.body.name


def _motion(run: SoftTrajectory, colour: str) -> Any:
    picture = volume(run, colour)
    names = run.system.frames.names[:2]
    fig = figure(11.0, 5.2)
    grid = fig.add_gridspec(len(names) + 1, 2, width_ratios=(1.5, 1.0), wspace=0.03)
    ax = fig.add_subplot(grid[:, 0], projection="3d")
    far = int(np.argmax(np.linalg.norm(picture.x - picture.x[0], axis=2).max(axis=1)))
    draw_volume(ax, picture, far)
    ax.set_title(f"t = {run.t[far]:.3g} s, where it is farthest from its start")
    scale_bar(fig, ax, picture)
    for k, name in enumerate(names):
        _path(fig.add_subplot(grid[k, 1]), run.t, run.position(name), name)
    _energy(fig.add_subplot(grid[len(names), 1]), run)
    fig.suptitle(f"{run.body.name}, {run.t[-1]:g} s", x=0.01, ha="left", fontsize=12.0, fontweight="bold")
    return fig


def _path(ax: Any, t: Array, path: Array, name: str) -> None:
    unit, metre = scaled(float(np.max(np.abs(path))))
    lines = [(letter, unit * path[:, k], COLOURS[k]) for k, letter in enumerate("xyz")]
    for _, values, colour in lines:
        ax.plot(t, values, color=colour)
    _over_time(ax, t)
    label_ends(ax, lines, t)
    ax.set_ylabel(f"position [{metre}]")
    ax.set_title(f"position of {name}")


def _energy(ax: Any, run: SoftTrajectory) -> None:
    energy = run.kinetic_energy
    size = float(energy.max())
    unit, name = (1.0, "J") if size >= 1.0 else (1e3, "mJ") if size >= 1e-3 else (1e6, "µJ")
    ax.plot(run.t, unit * energy, color=COLOURS[2])
    _over_time(ax, run.t)
    ax.set_ylabel(f"energy [{name}]")
    ax.set_title("kinetic energy")


def _over_time(ax: Any, t: Array) -> None:
    if t[-1] > t[0]:
        ax.set_xlim(float(t[0]), float(t[-1]))
    ax.grid(True)
    ax.set_xlabel("t [s]")


def draw_volume(ax: Any, picture: Volume, index: int) -> None:
    """Draw a volume at one instant in three dimensions: the shaded outside, chambers seen through it, tendons on top."""
    import matplotlib
    from matplotlib.colors import to_rgb
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    low, high = picture.bounds
    for line in picture.lines.values():
        low, high = np.minimum(low, line.min(axis=(0, 1))), np.maximum(high, line.max(axis=(0, 1)))
    unit, name = scaled(float(np.max(high - low)))
    x = picture.x[index]
    corners = x[picture.faces]
    if picture.quantity:
        colour = matplotlib.colormaps[TIME_MAP](picture.shown(index)[picture.faces].mean(axis=1))
    else:
        colour = np.tile([*to_rgb(COLOURS[0]), 1.0], (len(corners), 1))
    shade = _shaded(corners, colour)
    ax.computed_zorder = False
    body = Poly3DCollection(unit * corners, facecolors=shade, edgecolors=shade, linewidths=0.3, zorder=1)
    body.set_rasterized(True)
    ax.add_collection3d(body)
    if len(picture.t) > 1 or picture.quantity:
        _ghost(ax, picture, unit)
    for triangles in picture.chambers.values():
        glass = Poly3DCollection(unit * x[triangles], facecolors=CHAMBER, linewidths=0.0, alpha=0.14, zorder=2)
        glass.set_rasterized(True)
        ax.add_collection3d(glass)
    for line in picture.lines.values():
        ax.plot(*(unit * line[index]).T, color=TENDON, linewidth=1.4, zorder=3)
    box_axes(ax, unit * low, unit * high, name)
    ax.view_init(elev=ELEVATION, azim=azimuth(picture))
    ax.set_proj_type("persp", focal_length=1.6)
    ax.set_box_aspect(np.maximum(high - low, 0.2 * np.max(high - low)), zoom=1.0)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.labelpad = 8.0


def _ghost(ax: Any, picture: Volume, unit: float) -> None:
    """Draw the sharp edges of the shape at rest, faint."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    edges = sharp_edges(picture.rest, picture.faces)
    if len(edges):
        ax.add_collection3d(
            Line3DCollection(unit * picture.rest[edges], colors=FAINT, linewidths=0.6, zorder=0, alpha=0.9)
        )


def sharp_edges(points: Array, faces: NDArray[np.int64], angle: float = 40.0) -> NDArray[np.int64]:
    """Edges (k, 2) of a closed surface between faces whose normals differ by more than an angle [degrees]."""
    normal = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    sides = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    order = np.lexsort(sides.T[::-1])
    same = np.flatnonzero(np.all(np.diff(sides[order], axis=0) == 0, axis=1))
    one, two = order[same] // 3, order[same + 1] // 3
    sharp = np.einsum("ki,ki->k", normal[one], normal[two]) < np.cos(np.radians(angle))
    return np.asarray(sides[order[same[sharp]]])


def _shaded(corners: Array, colour: Array) -> Array:
    """Colours (k, 4) of triangles (k, 3, 3) in a soft light from above."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    bright = np.minimum(0.74 + 0.34 * (normal @ LIGHT), 1.0)
    shaded = np.ones((len(corners), 4))
    shaded[:, :3] = np.clip(colour[:, :3] * bright[:, None], 0.0, 1.0)
    return shaded


def azimuth(picture: Volume) -> float:
    """Angle [degrees] about z to look from: across the widest horizontal extent, a little aside."""
    flat = picture.x[:, :, :2].reshape(-1, 2)
    flat = flat[:: max(1, len(flat) // 5000)]
    x, y = np.linalg.svd(flat - flat.mean(axis=0), full_matrices=False)[2][0]
    across = np.arctan2(y, x) - np.pi / 2.0
    if np.sin(across) > 0.0:
        across += np.pi
    return float(np.degrees(across + np.radians(35.0)) % 360.0)


def scale_of(picture: Volume) -> tuple[float, str]:
    """Factor and unit that make the values easy to read."""
    high = picture.limits[1]
    if picture.quantity == "displacement":
        return scaled(high)
    if picture.quantity == "stress":
        return (1e-6, "MPa") if high >= 1e6 else (1e-3, "kPa") if high >= 1e3 else (1.0, "Pa")
    return (100.0, "%") if picture.quantity == "strain" else (1.0, "")


def scale_bar(fig: Any, ax: Any, picture: Volume) -> None:
    """Add the scale of the colours beside axes."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    unit, name = scale_of(picture)
    low, high = picture.limits
    more = "max" if float(picture.values.max()) > high * (1.0 + 1e-9) else "neither"
    bar = fig.colorbar(
        ScalarMappable(Normalize(unit * low, unit * high), TIME_MAP),
        ax=ax,
        shrink=0.6,
        aspect=24,
        pad=0.14,
        extend=more,
    )
    bar.set_label(f"{TITLES[picture.quantity]} [{name}]")
    bar.outline.set_visible(False)


def draw_frame(fig: Any, picture: Volume, index: int) -> None:
    """One picture of a video, with the axes and colours of the whole motion."""
    fig.clear()
    ax = fig.add_subplot(projection="3d")
    draw_volume(ax, picture, index)
    if picture.quantity:
        scale_bar(fig, ax, picture)
    ax.set_title(f"{picture.name}, t = {picture.t[index]:.3f} s", loc="left")
