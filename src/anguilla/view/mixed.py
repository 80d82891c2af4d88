"""Robots with soft volumes in pictures and pages: rods and bodies as they are drawn alone, and the skins of the volumes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.errors import DescriptionError
from anguilla.mixed.results import MixedEquilibrium, MixedTrajectory
from anguilla.model.model import Model
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.view import panels
from anguilla.view.scene import Scene, scene
from anguilla.view.stage import Tracks, contact_forces
from anguilla.view.style import COLOURS, figure, scaled
from anguilla.view.volumes import Volume, volume

__all__ = ["bare", "bounds_of", "drawing", "is_mixed", "overview", "skins_of"]

Array = NDArray[np.float64]
Result = MixedEquilibrium | MixedTrajectory
SKIN = 0.9  # opacity


def is_mixed(result: object) -> bool:
    """Whether something is a result of a robot with soft volumes."""
    return isinstance(result, MixedEquilibrium | MixedTrajectory)


def bare(result: Result, system: Model | None = None) -> Equilibrium | Trajectory:
    """The result without its volumes: rods and bodies, under the wrenches of the volumes; seen by `system` if given."""
    system = system or result.system
    t, q, v, a, lam = result.states
    kind = Trajectory if isinstance(result, MixedTrajectory) else Equilibrium
    return kind(system.robot, system, result.status, t, q, v, a, lam, result.inputs)


def skins_of(result: Result, colour: str | None) -> list[Volume]:
    """The volumes to draw, coloured by stress or strain: displacements would be those from where the mesh was made."""
    if colour not in (None, "stress", "strain"):
        raise DescriptionError(f"colour must be 'stress' or 'strain' for a robot with soft volumes; got {colour!r}.")
    return [volume(each, colour or "stress") for each in result.volumes.values()]


def bounds_of(picture: Scene, skins: list[Volume]) -> Array:
    """Smallest and largest coordinates (2, 3) [m] of everything."""
    both = [*([picture.bounds] if picture.tubes else []), *(skin.bounds for skin in skins)]
    return np.array([np.min([b[0] for b in both], axis=0), np.max([b[1] for b in both], axis=0)])


def picture_of(result: Result) -> Scene:
    """The rods and bodies to draw."""
    found = scene(bare(result), around=24)
    if not found.tubes:
        raise DescriptionError(
            f"robot {result.robot.name!r} has no rods and bodies to draw: draw its volumes, result.volume(name), alone."
        )
    return found


def overview(result: Result, colour: str | None) -> Any:
    """A figure: the shape, that at the start and at the end of a motion, and its energies."""
    moving = isinstance(result, MixedTrajectory)
    picked = result.picked([0, len(result.t) - 1]) if isinstance(result, MixedTrajectory) else result
    skins, whole = skins_of(picked, colour), picture_of(picked)
    fig = figure(11.0 if moving else 6.0, 4.6)
    columns = 3 if moving else 1
    for k in range(2 if moving else 1):
        ax = fig.add_subplot(1, columns, k + 1, projection="3d")
        _draw(ax, scene_at(whole, k), skins, k, picked)
        if moving:
            ax.set_title(f"t = {whole.t[k]:.3g} s")
    if isinstance(result, MixedTrajectory):
        panels.draw_energies(fig.add_subplot(1, columns, 3), result)
    fig.suptitle(result.robot.name, x=0.01, ha="left", fontsize=12.0, fontweight="bold")
    return fig


def scene_at(picture: Scene, k: int) -> Scene:
    """One instant of a scene."""
    at = slice(k, k + 1)
    tubes = (replace(tube, position=tube.position[at], rotation=tube.rotation[at]) for tube in picture.tubes)
    carried = tuple(one.at(at) for one in picture.carried)
    return replace(picture, t=picture.t[at], tubes=tuple(tubes), carried=carried)


def drawing(run: MixedTrajectory, colour: str | None) -> Callable[[Any, int], None]:
    """A function that draws the instant k of a motion into a figure."""
    skins, whole = skins_of(run, colour), picture_of(run)

    def draw(fig: Any, k: int) -> None:
        fig.clear()
        _draw(fig.add_subplot(projection="3d"), scene_at(whole, k), skins, k, run, bounds_of(whole, skins))

    return draw


def _draw(ax: Any, picture: Scene, skins: list[Volume], k: int, result: Result, bounds: Array | None = None) -> None:
    """Rods and bodies, then the skins at instant k and the forces where they touch, in one box."""
    import matplotlib
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    panels.draw_solid(ax, picture, [])
    low, high = bounds_of(picture, skins) if bounds is None else bounds
    unit, name = scaled(float(np.max(picture.bounds[1] - picture.bounds[0])))
    for skin in skins:
        shade = matplotlib.colormaps["viridis"](skin.shown(k)[skin.faces].mean(axis=1)) if skin.quantity else COLOURS[1]
        ax.add_collection3d(
            Poly3DCollection(unit * skin.x[k][skin.faces], facecolors=shade, linewidths=0.1, alpha=SKIN)
        )
    if result.touches:
        tracks = Tracks(bare(result), result.touching_at)
        panels.draw_contacts(ax, picture, None, *contact_forces(tracks, k, float(np.linalg.norm(high - low))))
    panels.box_axes(ax, unit * low, unit * high, name)
