"""The panels of a figure: each function draws one thing into given axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.describe import Frame, RodHandle
from anguilla.describe.strains import STRAIN_NAMES
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.view.obstacles import placed, shell, shell_of
from anguilla.view.scene import Array, Plane, Scene, Tube, plane_of_motion
from anguilla.view.style import COLOURS, FAINT, INK, SOLID, TIME_MAP, label_ends, scaled

__all__ = [
    "box_axes",
    "draw_contacts",
    "draw_energies",
    "draw_flat",
    "draw_phase",
    "draw_solid",
    "draw_strain_map",
    "draw_strains",
    "draw_tip",
    "draw_wrench_map",
]

WRENCH_NAMES = ("moment_x", "moment_y", "moment_z", "force_x", "force_y", "force_z")
SYMBOL = {
    "twist": "twist $K_1$", "bend_y": "bend_y $K_2$", "bend_z": "bend_z $K_3$",
    "stretch": "stretch $\\Gamma_1 - 1$", "shear_y": "shear_y $\\Gamma_2$", "shear_z": "shear_z $\\Gamma_3$",
}  # fmt: skip
ELEVATION = 20.0  # [degrees] of the eye above the robot
ARROW = 0.12  # length of the arrow of the largest force, as a part of the size of the scene
CONTACT = "#D62728"  # forces of contacts
LIGHT = np.array([0.35, -0.5, 0.8]) / np.linalg.norm([0.35, -0.5, 0.8])


def time_colours(t: Array) -> Array:
    """Return colours (n, 4) of instants, dark for early; a light end that would vanish on white is left out."""
    import matplotlib
    from matplotlib.colors import to_rgba_array

    if len(t) == 1:
        return to_rgba_array(COLOURS[0])
    span = max(float(t[-1] - t[0]), 1e-300)
    return matplotlib.colormaps[TIME_MAP](0.9 * (t - t[0]) / span)


def part_colours(scene: Scene, of_time: Array) -> Array:
    """Return colours (parts, 4): that of an instant, or of the parts themselves if there is only one instant."""
    from matplotlib.colors import to_rgba_array

    if len(scene.t) > 1:
        return np.tile(of_time, (len(scene.tubes), 1))
    return to_rgba_array([COLOURS[k % len(COLOURS)] for k in range(len(scene.tubes))])


def colour_bar(fig: Any, ax: Any, t: Array, pad: float) -> None:
    """Add the scale of time beside axes."""
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    shades = LinearSegmentedColormap.from_list("time", matplotlib.colormaps[TIME_MAP](np.linspace(0.0, 0.9, 64)))
    scale = ScalarMappable(Normalize(float(t[0]), float(t[-1])), shades)
    bar = fig.colorbar(scale, ax=ax, shrink=0.55, aspect=24, pad=pad)
    bar.set_label("t [s]")
    bar.outline.set_visible(False)


def draw_flat(ax: Any, scene: Scene, plane: Plane, trail: list[Array]) -> None:
    """Draw the silhouettes of all tubes in a plane, early ones behind."""
    unit, name = scaled(float(np.max(np.ptp(plane.project(scene.points), axis=0))))
    colours = time_colours(scene.t)
    for path in trail:
        ax.plot(*(unit * plane.project(path)).T, color=FAINT, linewidth=0.8, zorder=1)
    for k, colour in enumerate(colours):
        for tube, own in zip(scene.tubes, part_colours(scene, colour), strict=True):
            contour = unit * _silhouette(tube, k, plane)
            ax.fill(*contour.T, facecolor=own, edgecolor="white", linewidth=0.5, zorder=2)
    _cut(ax, scene, plane, unit)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel(f"{_axis_name(plane.axes[0])} [{name}]")
    ax.set_ylabel(f"{_axis_name(plane.axes[1])} [{name}]")
    ax.grid(True)


def _cut(ax: Any, scene: Scene, plane: Plane, unit: float) -> None:
    """Draw where the plane cuts obstacles; those that are carried at the last instant."""
    if not (scene.obstacles or scene.carried):
        return
    limits, known = np.array([ax.get_xlim(), ax.get_ylim()]), ax.dataLim.get_points().copy()
    beyond = 0.5 * float(np.max(np.ptp(limits, axis=1)))  # axes of equal scales may show more
    u, v = (np.linspace(low - beyond, high + beyond, 401) for low, high in limits)
    flat = np.stack(np.meshgrid(u, v), axis=-1) / unit
    points = flat @ plane.axes + float(plane.origin @ plane.normal) * plane.normal
    for deep in [one.distance(points) for one in scene.obstacles] + [one.distance(points) for one in scene.carried]:
        if deep.min() < 0.0 < deep.max():
            ax.contourf(u, v, deep, levels=[deep.min(), 0.0], colors=[SOLID], alpha=0.3, zorder=0)
            ax.contour(u, v, deep, levels=[0.0], colors=[SOLID], linewidths=0.8, zorder=0)
    ax.dataLim.set_points(known)
    ax.autoscale_view(tight=False)


def draw_contacts(ax: Any, scene: Scene, plane: Plane | None, place: Array, force: Array) -> None:
    """Draw dots where things touch (n, 3) [m], and arrows of the forces (n, 3) [N] that end there, over a scene."""
    if not len(place):
        return
    low, high = scene.bounds
    arrow = ARROW * float(np.linalg.norm(high - low)) * force / np.max(np.linalg.norm(force, axis=1))
    style = {"color": CONTACT, "zorder": 5}
    if plane is None:
        ax.computed_zorder = False  # or they are hidden by what they act on
        unit, _ = scaled(float(np.max(high - low)))
        ax.scatter(*(unit * place).T, s=7, depthshade=False, **style)
        ax.quiver(*(unit * (place - arrow)).T, *(unit * arrow).T, linewidth=1.1, arrow_length_ratio=0.25, **style)
        return
    unit, _ = scaled(float(np.max(np.ptp(plane.project(scene.points), axis=0))))
    ax.plot(*(unit * plane.project(place)).T, "o", ms=3, **style)
    options = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.004}
    ax.quiver(*(unit * plane.project(place - arrow)).T, *(unit * plane.project(arrow)).T, **options, **style)


def _axis_name(direction: Array) -> str:
    k = int(np.argmax(np.abs(direction)))
    if abs(direction[k]) > 1.0 - 1e-9:
        return ("" if direction[k] > 0.0 else "-") + "xyz"[k]
    return "along (" + ", ".join(f"{c:.2f}" for c in direction) + ")"


def _silhouette(tube: Tube, index: int, plane: Plane) -> Array:
    """Contour (2 m, 2) of a tube seen along the normal of a plane: out on one side, back on the other."""
    middle = plane.project(tube.position[index])
    along = np.gradient(middle, axis=0)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    reach = np.einsum("mkj,mj->mk", plane.project(tube.surface(index)) - middle[:, None], across)
    left = middle + across * reach.max(axis=1)[:, None]
    right = middle + across * reach.min(axis=1)[:, None]
    return np.concatenate([left, right[::-1]])


def draw_solid(ax: Any, scene: Scene, trail: list[Array]) -> None:
    """Draw shaded tubes in three dimensions; one collection, so that what is in front covers what is behind."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    low, high = scene.bounds
    unit, name = scaled(float(np.max(high - low)))
    colours = time_colours(scene.t)
    quads, shades = [], []
    for k, colour in enumerate(colours):
        for tube, own in zip(scene.tubes, part_colours(scene, colour), strict=True):
            faces = _faces(tube.surface(k))
            quads.append(unit * faces)
            shades.append(_shade(faces, own))
    shade = np.concatenate(shades)
    solid = Poly3DCollection(np.concatenate(quads), facecolors=shade, edgecolors=shade, linewidths=0.25)
    solid.set_rasterized(True)  # thousands of facets: an image inside a vector file
    ax.add_collection3d(solid)
    pieces = [shell(obstacle, scene.bounds) for obstacle in scene.obstacles]
    for piece in pieces + [placed(shell_of(one, scene.bounds), one) for one in scene.carried]:
        facets = unit * piece.vertices[piece.faces[piece.outward @ _eye(scene) > 0.0]]
        ax.add_collection3d(Poly3DCollection(facets, facecolors=SOLID, linewidths=0.0, alpha=0.16))
    for path in trail:
        ax.plot(*(unit * path).T, color=INK, linewidth=0.7, alpha=0.55)
    box_axes(ax, unit * low, unit * high, name)
    ax.view_init(elev=ELEVATION, azim=np.degrees(scene.azimuth))
    ax.set_proj_type("persp", focal_length=1.6)


def _eye(scene: Scene) -> Array:
    """The direction (3,) a scene is looked at from."""
    up = np.radians(ELEVATION)
    return np.array([np.cos(up) * np.cos(scene.azimuth), np.cos(up) * np.sin(scene.azimuth), np.sin(up)])


def _faces(surface: Array) -> Array:
    """Four-sided facets (n, 4, 3) between the sections of a surface (m, k, 3), and the two ends as narrow facets."""
    around = np.roll(surface, -1, axis=1)
    sides = np.stack([surface[:-1], around[:-1], around[1:], surface[1:]], axis=2).reshape(-1, 4, 3)
    ends = []
    for ring, after in ((surface[0], around[0]), (around[-1], surface[-1])):
        centre = np.broadcast_to(ring.mean(axis=0), ring.shape)
        ends.append(np.stack([centre, after, ring, centre], axis=1))
    return np.concatenate([sides, *ends])


def _shade(faces: Array, colour: Array) -> Array:
    """Colours (n, 4) of facets in a soft light from above."""
    normal = np.cross(faces[:, 1] - faces[:, 3], faces[:, 2] - faces[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    bright = 0.72 + 0.38 * (normal @ LIGHT)
    shaded = np.ones((len(faces), 4))
    base, gleam = np.minimum(bright, 1.0)[:, None], np.maximum(bright - 0.95, 0.0)[:, None]
    shaded[:, :3] = np.clip(colour[:3] * base + gleam, 0.0, 1.0)
    return shaded


def box_axes(ax: Any, low: Array, high: Array, name: str) -> None:
    """Equal scales on the three axes, and light panes behind."""
    from matplotlib.ticker import MaxNLocator

    size = np.maximum(high - low, 0.2 * np.max(high - low))
    middle = 0.5 * (low + high)
    limits = np.stack([middle - 0.52 * size, middle + 0.52 * size], axis=1)
    ax.set_xlim(*limits[0])
    ax.set_ylim(*limits[1])
    ax.set_zlim(*limits[2])
    _, middling, longest = np.sort(size)
    long = np.clip(longest / middling - 1.0, 0.0, 1.0)  # the labels at the ends need room
    ax.set_box_aspect(size, zoom=1.12 - 0.2 * long)
    for axis, letter, width in zip((ax.xaxis, ax.yaxis, ax.zaxis), "xyz", size, strict=True):
        axis.set_label_text(f"{letter} [{name}]")
        if letter == "z":  # upright, from below to above, wherever it is seen from
            axis.set_rotate_label(False)
            axis.label.set_rotation(90.0)
        axis.labelpad = 8.0
        axis.set_major_locator(MaxNLocator(max(2, round(6 * width / np.max(size))), steps=[1, 2, 5, 10]))
        axis.set_pane_color((0.975, 0.98, 0.985, 1.0))
        axis.line.set_color(FAINT)
        axis._axinfo["grid"].update(color="#E2E5E9", linewidth=0.6)
        axis._axinfo["tick"].update(inward_factor=0.0, outward_factor=0.15)


def draw_tip(ax: Any, run: Trajectory, frame: Frame) -> None:
    """Draw the three coordinates of the origin of a frame over time."""
    path = run.position(frame)
    unit, name = scaled(float(np.max(np.abs(path))))
    lines: list[tuple[str, NDArray[np.float64], str]] = []
    for k, letter in enumerate("xyz"):
        ax.plot(run.t, unit * path[:, k], color=COLOURS[k])
        lines.append((letter, unit * path[:, k], COLOURS[k]))
    _over_time(ax, run, lines)
    ax.set_ylabel(f"position [{name}]")
    ax.set_title(f"position of {frame.label}")


def draw_energies(ax: Any, run: Trajectory) -> None:
    """Draw the energies over time; the gravitational one counts from its lowest value."""
    energy = run.energy
    lowest = float(np.min(energy["gravitational"]))
    size = max(float(np.max(np.abs(energy["total"] - lowest))), float(np.max(energy["elastic"])), 1e-300)
    unit, name = (1.0, "J") if size >= 1.0 else (1e3, "mJ") if size >= 1e-3 else (1e6, "µJ")
    lines = []
    for kind, colour in zip(("total", "elastic", "kinetic", "gravitational"), (INK, *COLOURS), strict=False):
        values = unit * (energy[kind] - (lowest if kind in ("total", "gravitational") else 0.0))
        ax.plot(run.t, values, color=colour, linewidth=2.0 if kind == "total" else 1.3)
        lines.append((kind, values, colour))
    _over_time(ax, run, lines)
    ax.set_ylabel(f"energy [{name}]")
    ax.set_title("energies, gravity from its lowest")


def _over_time(ax: Any, run: Trajectory, lines: list[tuple[str, NDArray[np.float64], str]]) -> None:
    if len(run.t) > 1:
        ax.set_xlim(float(run.t[0]), float(run.t[-1]))
    ax.grid(True)
    ax.set_xlabel("t [s]")
    label_ends(ax, lines, run.t)


def strain_change(result: Trajectory | Equilibrium, rod: RodHandle, strain: str) -> tuple[Array, Array]:
    """Return X (m,) [m] and a strain there; (time, m), or (m,) of an equilibrium. The stretch counts from 1."""
    X = np.linspace(0.0, rod.length, 120)
    return X, result.strain(rod, X)[..., STRAIN_NAMES.index(strain)] - (1.0 if strain == "stretch" else 0.0)


def draw_strain_map(fig: Any, ax: Any, run: Trajectory, rod: RodHandle, strain: str) -> None:
    """Draw a strain over arc length and time, white where it is zero."""
    X, field = strain_change(run, rod, strain)
    _draw_map(fig, ax, run, rod, X, field, "RdBu_r")
    unit_name = "rad/m" if STRAIN_NAMES.index(strain) < 3 else "-"
    ax.set_title(f"{rod.name}: {SYMBOL[strain]} [{unit_name}]")


def draw_wrench_map(fig: Any, ax: Any, run: Trajectory, rod: RodHandle, component: str) -> None:
    """Draw a component of the internal wrench over arc length and time, white where it is zero."""
    X = np.linspace(0.0, rod.length, 120)
    field = run.wrench(rod, X)[:, :, WRENCH_NAMES.index(component)]
    _draw_map(fig, ax, run, rod, X, field, "PuOr_r")
    ax.set_title(f"{rod.name}: {component.replace('_', ' ')} [{'N m' if WRENCH_NAMES.index(component) < 3 else 'N'}]")


def _draw_map(fig: Any, ax: Any, run: Trajectory, rod: RodHandle, X: Any, field: Any, cmap: str) -> None:
    """Draw values (nt, m) at the arc lengths X (m,) [m] over arc length and time, with a bar for their colours."""
    limit = float(np.max(np.abs(field))) or 1.0
    unit, name = scaled(rod.length)
    mesh = ax.pcolormesh(
        run.t, unit * X, field.T, cmap=cmap, vmin=-limit, vmax=limit, shading="gouraud", rasterized=True
    )
    ax.set_xlabel("t [s]")
    ax.set_ylabel(f"X [{name}]")
    bar = fig.colorbar(mesh, ax=ax, pad=0.02, aspect=18)
    bar.outline.set_visible(False)


def draw_phase(fig: Any, ax: Any, run: Trajectory, label: str) -> None:
    """Draw the rate of a coordinate over the coordinate, coloured by time."""
    from matplotlib.collections import LineCollection

    k = run.coordinates.index(label)
    points = np.stack([run.q[:, k], run.v[:, k]], axis=1)
    lines = LineCollection(
        list(np.stack([points[:-1], points[1:]], axis=1)), array=run.t[1:], cmap=TIME_MAP, linewidth=1.6
    )
    ax.add_collection(lines)
    ax.autoscale()
    ax.plot(*points[0], "o", color=INK, markersize=4)
    ax.grid(True)
    ax.set_xlabel(label)
    ax.set_ylabel(f"d/dt {label}")
    ax.set_title(f"phase of {label}; the dot is the start")
    bar = fig.colorbar(lines, ax=ax, pad=0.02, aspect=18, label="t [s]")
    bar.outline.set_visible(False)


def draw_strains(ax: Any, eq: Equilibrium, rod: RodHandle, names: list[str]) -> None:
    """Draw strains of an equilibrium along a rod."""
    unit, name = scaled(rod.length)
    lines: list[tuple[str, NDArray[np.float64], str]] = []
    X = np.zeros(1)
    for strain in names:
        X, values = strain_change(eq, rod, strain)
        colour = COLOURS[STRAIN_NAMES.index(strain) % 3]
        ax.plot(unit * X, values, color=colour)
        lines.append((SYMBOL[strain], values, colour))
    ax.set_xlim(0.0, unit * rod.length)
    ax.grid(True)
    ax.set_xlabel(f"X [{name}]")
    ax.set_ylabel("curvature [rad/m]" if STRAIN_NAMES.index(names[0]) < 3 else "strain [-]")
    ax.set_title(rod.name)
    label_ends(ax, lines, unit * X)


def best_view(scene: Scene, view: str) -> Plane | None:
    """Return the plane to draw in, or None for three dimensions.

    "auto" takes the plane when the motion lies in it, if that is upright or one of two world axes: others are hard to read.
    """
    plane = plane_of_motion(scene.points)
    readable = plane.offset < 0.02 and float(np.max(np.abs(plane.axes[1]))) > 0.999
    return plane if view == "plane" or (view == "auto" and readable) else None
