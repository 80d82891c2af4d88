"""Robots with soft volumes in the browser (viser): on a timeline, and driven by sliders."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.describe import Robot
from anguilla.errors import AnguillaError
from anguilla.mixed.model import mixed_of
from anguilla.mixed.results import MixedTrajectory
from anguilla.mixed.stepper import MixedRobotStepper
from anguilla.results.states import Equilibrium, Status, Trajectory
from anguilla.view.driver import Driver
from anguilla.view.mixed import bare, skins_of
from anguilla.view.player import Player
from anguilla.view.props import rgb
from anguilla.view.recording import Recording, between
from anguilla.view.scene import Scene, scene
from anguilla.view.shown import AROUND, SECTIONS
from anguilla.view.soft import coloured, suggested_efforts
from anguilla.view.style import COLOURS
from anguilla.view.volumes import Volume, volume

__all__ = ["MixedDriver", "MixedPlayer", "suggested_for_volumes"]

Array = NDArray[np.float64]
CHAMBER, TENDON = (86, 180, 233), (40, 44, 52)


@dataclass(frozen=True, slots=True)
class _Wide(Scene):
    """Rods and bodies, as wide as with the skins of the volumes (k, 3) [m]."""

    skin: Array = field(default_factory=lambda: np.zeros((0, 3)))

    @property
    def bounds(self) -> Array:
        """Smallest and largest coordinates (2, 3) [m] of everything."""
        low, high = Scene.bounds.fget(self)  # type: ignore[attr-defined]
        return np.array([np.minimum(low, self.skin.min(axis=0)), np.maximum(high, self.skin.max(axis=0))])

    @property
    def points(self) -> Array:
        """Centreline points and nodes of the skins (n, 3) [m]."""
        return np.concatenate([Scene.points.fget(self), self.skin])  # type: ignore[attr-defined]


def _picture(result: Trajectory | Equilibrium, skins: list[Volume]) -> _Wide:
    found = scene(result, sections=SECTIONS, around=AROUND)
    if not found.tubes:
        raise AnguillaError(
            "this robot has no rods and bodies to draw: ag.view shows its volumes, result.volume(name), alone."
        )
    nodes = np.concatenate([skin.x[:, np.unique(skin.faces)].reshape(-1, 3) for skin in skins])
    return _Wide(found.name, found.t, found.tubes, found.obstacles, found.carried, nodes)


class _Skins:
    """The volumes in a scene: surfaces that are made once and moved, and ones of many colours, made for every picture."""

    def __init__(self, server: Any, size: float) -> None:
        self.server, self.size = server, size
        self._made: dict[str, Any] = {}

    def move(self, skins: list[Volume], index: int, stress: bool) -> None:
        """Draw them as they are at one instant, coloured by stress or not."""
        top = max([1e-300, *(skin.limits[1] for skin in skins)]) if stress else 1.0
        add, solid = self.server.scene, {"flat_shading": False, "side": "double"}
        with self.server.atomic():
            for k, skin in enumerate(skins):
                x, name = skin.x[index].astype(np.float32), skin.name
                if stress:
                    add.add_mesh_trimesh(f"/volumes/{name}", coloured(x, skin.faces, skin.values[index] / top))
                else:
                    self._put(f"/volumes/{name}", x, skin.faces, color=rgb(COLOURS[(1 + k) % len(COLOURS)]), **solid)
                for own, faces in skin.chambers.items():
                    self._put(f"/chambers/{name}/{own}", x, faces, color=CHAMBER, opacity=0.35, side="double")
                for own, line in skin.lines.items():
                    self._draw_line(f"/lines/{name}/{own}", line[index])

    def _put(self, name: str, x: Array, faces: NDArray[np.int64], **look: Any) -> None:
        if name in self._made:
            self._made[name].vertices = x
        else:
            self._made[name] = self.server.scene.add_mesh_simple(name, x, faces, **look)

    def _draw_line(self, name: str, line: Array) -> None:
        pieces = np.stack([line[:-1], line[1:]], axis=1).astype(np.float32)
        if name in self._made:
            self._made[name].points = pieces
        else:
            thick = 0.003 * self.size
            self._made[name] = self.server.scene.add_line_segments(
                name, pieces, TENDON, thickness=thick, thickness_units="world"
            )


class MixedPlayer(Player):
    """A result of a robot with soft volumes on a timeline; volumes are coloured by stress."""

    most = 300  # instants

    def _drawn(self, result: Any) -> tuple[Trajectory | Equilibrium, Scene]:
        self.skins = skins_of(result, None)
        rods = bare(result)
        return rods, _picture(rods, self.skins)

    def _move(self, index: int) -> None:
        super()._move(index)
        if not hasattr(self, "drawn"):
            self.drawn = _Skins(self.server, self.props.size)
        self.drawn.move(self.skins, index, True)


class MixedDriver(Driver):
    """A robot with soft volumes driven in real time."""

    stepper: MixedRobotStepper

    def _present(self) -> tuple[Trajectory, Scene]:
        self.whole = self.stepper.result()
        self.skins = [volume(each, "displacement") for each in self.whole.volumes.values()]
        rods = bare(self.whole, self.system)
        assert isinstance(rods, Trajectory)
        return rods, _picture(rods, self.skins)

    def _draw(self) -> None:
        with self._lock:
            super()._draw()
            if not hasattr(self, "drawn"):
                self.drawn = _Skins(self.server, self.props.size)
            self.drawn.move(self.skins, 0, False)

    def _recorded(self, result: Trajectory) -> Trajectory:
        return self.whole

    def _new_recording(self) -> Recording:
        return _MixedRecording()


class _MixedRecording(Recording):
    """Pictures of a driven robot with soft volumes."""

    states: list[Any]

    def motion(self) -> MixedTrajectory:
        """The states as one motion that begins at 0 s, with the inputs they had."""
        plain = super().motion()
        first, t = self.states[0], plain.t
        volumes = {}
        for name, each in first.volumes.items():
            x, v = (np.concatenate([getattr(s.volumes[name], key) for s in self.states]) for key in ("x", "v"))
            told = [state.volumes[name].inputs for state in self.states]
            inputs = {
                key: between(t, np.array([one.get(key, 0.0) for one in told])) for key in {k for o in told for k in o}
            }
            volumes[name] = replace(each, t=t, x=x, v=v, inputs=inputs)
        _, q, v, lam = plain.stored
        touched = [state.touched[0] for state in self.states]
        return MixedTrajectory(
            first.robot, first.system, Status(True, "recorded"), t, q, v, None, lam, plain.inputs, volumes=volumes,
            mixed=first.mixed, touched=touched,
        )  # fmt: skip


def suggested_for_volumes(robot: Robot) -> dict[str, tuple[float, float]]:
    """Range (lowest, highest) of the inputs of the volumes of a robot, for sliders."""
    model = mixed_of(robot)
    with model.alone:
        return {
            f"{half.name}.{name}": limits
            for half in model.halves
            for name, limits in suggested_efforts(half.system).items()
        }
