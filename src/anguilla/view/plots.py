"""Figures of results. Every function returns a matplotlib Figure, and saves it when a path is given."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from anguilla._doors import public
from anguilla.describe import Frame, RodHandle
from anguilla.describe.description import did_you_mean
from anguilla.describe.strains import STRAIN_NAMES
from anguilla.errors import DescriptionError, as_count, refuse
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.store.whole import as_target, whole_file
from anguilla.view import panels
from anguilla.view.scene import Result, Scene, as_computed, only_rods, rods_of, scene, thin
from anguilla.view.stage import Tracks, contact_forces
from anguilla.view.style import figure, figure_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from anguilla.view.volumes import SoftResult

__all__ = ["busiest_frame", "energies", "phase", "plot", "snapshots", "strain_map", "tip_history", "wrench_map"]

Path = str | os.PathLike[str]
SUFFIXES = (".png", ".svg", ".pdf")
VIEWS = ("auto", "plane", "3d")
RICH_IN_TIME = 400  # instants of a curve or a map; more than a page can show


def snapshots(result: Result, path: Path | None = None, *, count: int = 9, view: str = "auto") -> Figure:
    """Draw the robot at several instants, coloured by time.

    Args:
        result: a Trajectory or an Equilibrium.
        path: file to write, .png, .svg or .pdf.
        count: number of instants.
        view: "plane" for the plane nearest to the motion, "3d", or "auto" to choose.

    Returns:
        The figure.

    """
    as_count(count, "count", minimum=1)
    _one_of(view, VIEWS, "view")
    with figure_style():
        fig = figure(6.4, 5.2)
        _snapshots(fig, fig.add_gridspec(1, 1)[0, 0], as_computed(result), count, view)
        return _finish(fig, path)


def tip_history(run: Trajectory, frame: Frame | None = None, path: Path | None = None) -> Figure:
    """Draw the position of a frame over time: x, y and z in world axes.

    Args:
        run: a motion.
        frame: the frame; by default the tip that moves most.
        path: file to write, .png, .svg or .pdf.

    Returns:
        The figure.

    """
    run = _motion(run)
    with figure_style():
        fig = figure(5.6, 3.2)
        panels.draw_tip(fig.add_subplot(), run, _own_frame(run, frame))
        return _finish(fig, path)


def strain_map(run: Trajectory, rod: RodHandle, strain: str, path: Path | None = None) -> Figure:
    """Draw a strain of a rod as a field over arc length and time.

    Args:
        run: a motion.
        rod: a rod of its robot, as returned by ``robot.add``.
        strain: one of twist, bend_y, bend_z [rad/m], stretch (shown from 1), shear_y, shear_z [-].
        path: file to write, .png, .svg or .pdf.

    Returns:
        The figure.

    """
    _one_of(strain, STRAIN_NAMES, "strain")
    run.own_rod(rod)
    run = thin(_motion(run), RICH_IN_TIME)
    with figure_style():
        fig = figure(5.6, 3.4)
        panels.draw_strain_map(fig, fig.add_subplot(), run, _same_rod(run, rod), strain)
        return _finish(fig, path)


def wrench_map(run: Trajectory, rod: RodHandle, component: str, path: Path | None = None) -> Figure:
    """Draw a component of the internal wrench of a rod as a field over arc length and time, such as a torque map.

    Args:
        run: a motion.
        rod: a rod of its robot, as returned by ``robot.add``.
        component: one of moment_x (twisting), moment_y, moment_z (bending) [N m], force_x (along), force_y, force_z [N],
            in the axes of the sections.
        path: file to write, .png, .svg or .pdf.

    Returns:
        The figure.

    """
    _one_of(component, panels.WRENCH_NAMES, "component")
    run.own_rod(rod)
    run = thin(_motion(run), RICH_IN_TIME)
    with figure_style():
        fig = figure(5.6, 3.4)
        panels.draw_wrench_map(fig, fig.add_subplot(), run, _same_rod(run, rod), component)
        return _finish(fig, path)


def phase(run: Trajectory, coordinate: str, path: Path | None = None) -> Figure:
    """Draw a coordinate against its rate, coloured by time.

    Args:
        run: a motion.
        coordinate: its label, such as "arm.bend_z[0]" or "hand.angle"; ``run.coordinates`` lists them.
        path: file to write, .png, .svg or .pdf.

    Returns:
        The figure.

    """
    run = _motion(run)
    _one_of(coordinate, tuple(run.coordinates), "coordinate")
    with figure_style():
        fig = figure(4.8, 3.8)
        panels.draw_phase(fig, fig.add_subplot(), run, coordinate)
        return _finish(fig, path)


def energies(run: Trajectory, path: Path | None = None) -> Figure:
    """Draw the kinetic, elastic, gravitational and total energy over time.

    Args:
        run: a motion.
        path: file to write, .png, .svg or .pdf.

    Returns:
        The figure.

    """
    run = _motion(run)
    with figure_style():
        fig = figure(5.6, 3.2)
        panels.draw_energies(fig.add_subplot(), run)
        return _finish(fig, path)


@public
def plot(result: Result | SoftResult, path: Path | None = None, *, colour: str | None = None) -> Figure:
    """Draw an overview of a result.

    A motion is shown by its shapes over time, the path of the tip that moves most, the energies and the strains of that
    rod; an equilibrium by its shape and the strains of its rods. A soft volume is shown by its surface, coloured by
    displacement and by stress, with its tendons and chambers; its motion also by the paths of its effectors. A robot with
    soft volumes is shown in space, at the start and at the end of a motion, with its energies.

    Args:
        result: a Trajectory or an Equilibrium; of a soft volume a SoftTrajectory, a SoftEquilibrium, or the SoftBody.
        path: file to write, .png, .svg or .pdf; nothing is written if not given.
        colour: of a soft volume: "displacement", "stress" (von Mises) or "strain" (equivalent); of soft volumes in a robot
            one of the latter two.

    Returns:
        The figure.

    """
    from anguilla.view.mixed import is_mixed
    from anguilla.view.mixed import overview as overview_of_mixed
    from anguilla.view.volumes import is_soft

    if is_soft(result):
        from anguilla.view.volume_plots import overview

        with figure_style():
            return _finish(overview(result, colour), path)  # type: ignore[arg-type]
    if is_mixed(result):
        with figure_style():
            return _finish(overview_of_mixed(result, colour), path)  # type: ignore[arg-type]
    rods: Result = as_computed(only_rods(result, colour))
    with figure_style():
        fig = _overview_of_motion(rods) if isinstance(rods, Trajectory) else _overview_of_equilibrium(rods)
        return _finish(fig, path)


def _overview_of_motion(run: Trajectory) -> Figure:
    rod = _main_rod(run) if _rods(run) else None
    fig = figure(11.0, 7.6 if rod else 5.4)
    rows = fig.add_gridspec(2 if rod else 1, 1, height_ratios=(2.35, 1.0) if rod else None, hspace=0.04)
    top = rows[0].subgridspec(2, 2, width_ratios=(1.6, 1.0), wspace=0.03)
    _snapshots(fig, top[:, 0], run, 9, "auto")
    panels.draw_tip(fig.add_subplot(top[0, 1]), run, busiest_frame(run))
    panels.draw_energies(fig.add_subplot(top[1, 1]), run)
    if rod:
        names = _telling_strains(run, rod)
        bottom = rows[1].subgridspec(1, len(names), wspace=0.04)
        for k, name in enumerate(names):
            panels.draw_strain_map(fig, fig.add_subplot(bottom[0, k]), thin(run, RICH_IN_TIME), rod, name)
    fig.suptitle(f"{run.robot.name}, {run.t[-1]:g} s", x=0.01, ha="left", fontsize=12.0, fontweight="bold")
    return fig


def _overview_of_equilibrium(eq: Equilibrium) -> Figure:
    kinds = (STRAIN_NAMES[:3], STRAIN_NAMES[3:])
    rods = _rods(eq)[:3]
    panes = [
        [(rod, names) for kind in kinds if (names := [n for n in kind if n in rod.rod.strains.names])] for rod in rods
    ]
    panes = [row for row in panes if row]
    if len(panes) == 1:  # one above the other
        panes = [[pane] for pane in panes[0]]
    wide = max(map(len, panes), default=0)
    fig = figure(6.0 + 4.0 * max(wide, 1), max(4.4, 2.2 * len(panes)))
    columns = fig.add_gridspec(1, 2 if panes else 1, width_ratios=(1.25, wide) if panes else None, wspace=0.15)
    _snapshots(fig, columns[0], eq, 1, "auto")
    right = columns[-1].subgridspec(max(len(panes), 1), max(wide, 1))
    for k, row in enumerate(panes):
        for l, (rod, names) in enumerate(row):
            panels.draw_strains(fig.add_subplot(right[k, l]), eq, rod, names)
    fig.suptitle(f"{eq.robot.name}, equilibrium", x=0.01, ha="left", fontsize=12.0, fontweight="bold")
    return fig


def _snapshots(fig: Any, place: Any, result: Result, count: int, view: str) -> None:
    """Draw the shapes into one place of a grid, with the paths of the free tips behind them."""
    moving = isinstance(result, Trajectory) and len(result.t) > 1
    picked = scene(thin(result, max(count, 2)) if isinstance(result, Trajectory) else result, around=24)
    trail = [result.position(rod.tip) for rod in _free_rods(result)] if moving else []
    plane = panels.best_view(picked, view)
    ax = fig.add_subplot(place, projection=None if plane else "3d")
    if plane:
        panels.draw_flat(ax, picked, plane, trail)
    else:
        panels.draw_solid(ax, picked, trail)
    panels.draw_contacts(ax, picked, plane, *_last_contacts(result, picked))
    if moving:
        panels.colour_bar(fig, ax, picked.t, pad=0.02 if plane else 0.09)


def _last_contacts(result: Result, picked: Scene) -> tuple[Any, Any]:
    """Where things touch at the last instant (n, 3) [m], and the forces there (n, 3) [N]."""
    last = result[len(result.t) - 1 :] if isinstance(result, Trajectory) else result
    low, high = picked.bounds
    return contact_forces(Tracks(last), 0, float(np.linalg.norm(high - low)))


def _free_rods(result: Result) -> list[RodHandle]:
    taken = {part.parent.part_index for part in result.robot.parts if part.parent.place == "tip"}
    return [rod for rod in _rods(result) if rod.index not in taken]


def _rods(result: Result) -> list[RodHandle]:
    return [part for part in result.robot.parts if isinstance(part, RodHandle)]


def _main_rod(run: Trajectory) -> RodHandle:
    """The rod whose tip moves most."""
    return max(rods_of(run), key=lambda rod: float(np.max(np.ptp(run.position(rod.tip), axis=0))))


def busiest_frame(run: Trajectory) -> Frame:
    """The tip that moves most; without rods, the frame of the body that does."""
    if _rods(run):
        return _main_rod(run).tip
    frames = [part.root for part in run.robot.parts]
    return max(frames, key=lambda frame: float(np.max(np.ptp(run.position(frame), axis=0))))


def _telling_strains(run: Trajectory, rod: RodHandle) -> list[str]:
    """The three active strains that deform the rod most, in their usual order; a curvature counts times the length."""
    X = np.linspace(0.0, rod.length, 20)
    weight = np.repeat([rod.length, 1.0], 3)
    size = weight * np.max(np.abs(run.strain(rod, X) - [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]), axis=(0, 1))
    active = [k for k, name in enumerate(STRAIN_NAMES) if name in rod.rod.strains.names]
    best = sorted(active, key=lambda k: -size[k])[:3]
    return [STRAIN_NAMES[k] for k in sorted(best)]


def _motion(run: Trajectory) -> Trajectory:
    if not isinstance(run, Trajectory):
        raise DescriptionError(f"this figure needs a motion, as ag.simulate returns; got a {type(run).__name__}.")
    return as_computed(run)


def _own_frame(run: Trajectory, frame: Frame | None) -> Frame:
    """The same frame of the robot as it was computed."""
    if frame is None:
        return busiest_frame(run)
    if not isinstance(frame, Frame):
        raise refuse("frame", "a frame such as arm.tip", frame)
    return Frame(run.robot, frame.part_index, frame.place, frame.offset)


def _same_rod(run: Trajectory, rod: RodHandle) -> RodHandle:
    own = run.robot.parts[rod.index]
    assert isinstance(own, RodHandle)
    return own


def _one_of(value: str, valid: tuple[str, ...], name: str) -> None:
    if value not in valid:
        hint = did_you_mean(value, valid) if isinstance(value, str) else ""
        raise DescriptionError(f"{name} must be one of {', '.join(map(repr, valid))}; got {value!r}{hint}.")


def _finish(fig: Any, path: Path | None) -> Figure:
    if path is not None:
        target = as_target(path, SUFFIXES)
        with whole_file(target) as part:
            fig.savefig(part, format=target.suffix[1:].lower())
    return fig
