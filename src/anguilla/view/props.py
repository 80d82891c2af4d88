"""The objects of a viewer's scene (viser): made once, moved for every picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anguilla.describe import Robot
from anguilla.results import Equilibrium, Trajectory
from anguilla.view.page import quaternions_wxyz
from anguilla.view.scene import Array, Scene, Tube
from anguilla.view.stage import faces_of, load_arrows, tendon_lines, tip_frames, vertices_of
from anguilla.view.style import COLOURS

__all__ = ["Props"]

TENDON, FORCE = (40, 44, 52), (214, 39, 40)
THROUGH = 0.62  # opacity of a rod with a tendon inside
FLOOR_CELL, FLOOR_LINE = (214, 219, 225), (180, 188, 197)


def rgb(colour: str) -> tuple[int, int, int]:
    """(r, g, b), 0 to 255, of "#rrggbb"."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def upright(robot: Robot) -> Array:
    """Rotation (3, 3) whose third column points up: against gravity if it is constant and not zero, else along z."""
    gravity = np.zeros(3) if callable(robot.gravity) else np.asarray(robot.gravity, dtype=np.float64)
    size = float(np.linalg.norm(gravity))
    up = np.array([0.0, 0.0, 1.0]) if size == 0.0 else -gravity / size
    if up[2] > 1.0 - 1e-12:
        return np.eye(3)
    first = np.array([0.0, 0.0, 1.0]) - up[2] * up if abs(up[2]) < 0.9 else np.array([1.0, 0.0, 0.0]) - up[0] * up
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(up, first), up], axis=1)


class Props:
    """Everything that is drawn of a robot in a viser scene.

    Args:
        server: the viser server.
        robot: the robot.
        picture: a scene that shows the size of things: the floor and the camera are fitted to it.

    """

    def __init__(self, server: Any, robot: Robot, picture: Scene) -> None:
        self.server, self.robot = server, robot
        low, high = picture.bounds
        self.size = float(np.linalg.norm(high - low)) or 1.0
        self.upright = upright(robot)
        self.show = {"tendons": True, "loads": True, "frames": False}
        self._light()
        self._floor(picture)
        self._camera(picture, 0.5 * (low + high))
        self.inside = {part.name for a in robot.actuators.values() for part, *_ in getattr(a, "stretches", ())}
        self.meshes = {tube.name: self._tube(tube, k) for k, tube in enumerate(picture.tubes)}
        self.lines: dict[str, Any] = {}
        self.arrows: Any = None
        self.frames: dict[str, Any] = {}

    def _light(self) -> None:
        scene = self.server.scene
        scene.set_up_direction(tuple(self.upright[:, 2]))
        scene.configure_environment_map(hdri=None)  # nothing is fetched; three lamps of our own
        scene.configure_default_lights(enabled=False)
        scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(170, 176, 186), intensity=1.9)
        for name, intensity, place in (("key", 2.6, (1.0, -1.6, 2.6)), ("fill", 0.7, (-2.0, 1.0, 0.8))):
            where = tuple(self.upright @ np.array(place))
            scene.add_light_directional(
                f"/light/{name}", intensity=intensity, cast_shadow=name == "key", position=where
            )

    def _floor(self, picture: Scene) -> None:
        cell = 10.0 ** np.floor(np.log10(self.size / 4.0))
        width = 20.0 * cell * np.ceil(self.size / (4.0 * cell))
        thick = max(float(tube.radius.max()) for tube in picture.tubes)
        above = picture.points @ self.upright  # coordinates with the third axis up
        place = 0.5 * (above.min(axis=0) + above.max(axis=0))
        place[2] = above[:, 2].min() - thick - 0.02 * self.size
        self.server.scene.add_grid(
            "/floor", width=width, height=width, plane="xy", cell_size=cell, section_size=5.0 * cell,
            cell_color=FLOOR_CELL, section_color=FLOOR_LINE, fade_distance=8.0 * self.size, shadow_opacity=0.18,
            position=tuple(self.upright @ place), wxyz=tuple(quaternions_wxyz(self.upright)),
        )  # fmt: skip

    def _camera(self, picture: Scene, centre: Array) -> None:
        """Look across the widest extent, a little from above, with the robot left of the panel."""
        turned = tuple(replace(tube, position=tube.position @ self.upright) for tube in picture.tubes)
        azimuth = Scene(picture.name, picture.t, turned).azimuth
        away = self.upright @ np.array([np.cos(azimuth), np.sin(azimuth), 0.42])
        away /= np.linalg.norm(away)
        right = np.cross(self.upright[:, 2], away)
        right /= np.linalg.norm(right)
        centre = centre + 0.22 * self.size * right
        camera = self.server.initial_camera
        camera.position, camera.look_at = tuple(centre + 1.55 * self.size * away), tuple(centre)
        camera.up = tuple(self.upright[:, 2])
        camera.fov = np.radians(50.0)
        camera.near, camera.far = 0.002 * self.size, 60.0 * self.size

    def _tube(self, tube: Tube, k: int) -> Any:
        return self.server.scene.add_mesh_simple(
            f"/robot/{tube.name}", vertices_of(tube, 0), faces_of(tube), color=rgb(COLOURS[k % len(COLOURS)]),
            flat_shading=False, side="double", opacity=THROUGH if tube.name in self.inside else None,
        )  # fmt: skip

    def move(self, result: Trajectory | Equilibrium, picture: Scene, index: int) -> None:
        """Put everything where it is at one instant, in one go."""
        with self.server.atomic():
            for tube in picture.tubes:
                self.meshes[tube.name].vertices = vertices_of(tube, index)
            self._move_tendons(picture, index)
            self._move_loads(result, picture, index)
            self._move_frames(picture, index)

    def _move_tendons(self, picture: Scene, index: int) -> None:
        shown = tendon_lines(self.robot, picture, index) if self.show["tendons"] else {}
        for name, line in shown.items():
            if name not in self.lines:
                self.lines[name] = self.server.scene.add_line_segments(
                    f"/tendons/{name}", line, TENDON, thickness=0.004 * self.size, thickness_units="world"
                )
            self.lines[name].points = line
        for name, handle in self.lines.items():
            handle.visible = name in shown

    def _move_loads(self, result: Trajectory | Equilibrium, picture: Scene, index: int) -> None:
        points = load_arrows(result, picture, index, self.size) if self.show["loads"] and self.robot.loads else None
        if points is None or not len(points):
            if self.arrows is not None:
                self.arrows.visible = False
            return
        if self.arrows is None or len(self.arrows.points) != len(points):
            if self.arrows is not None:
                self.arrows.remove()
            radius = 0.004 * self.size
            self.arrows = self.server.scene.add_arrows(
                "/loads", points, FORCE, shaft_radius=radius, head_radius=2.6 * radius, head_length=7.0 * radius
            )
        self.arrows.points = points
        self.arrows.visible = True

    def _move_frames(self, picture: Scene, index: int) -> None:
        if not self.show["frames"]:
            for handle in self.frames.values():
                handle.visible = False
            return
        for name, (position, rotation) in tip_frames(picture, index).items():
            if name not in self.frames:
                self.frames[name] = self.server.scene.add_frame(
                    f"/frames/{name}", axes_length=0.08 * self.size, axes_radius=0.003 * self.size
                )
            handle = self.frames[name]
            handle.visible = True
            handle.position, handle.wxyz = position, quaternions_wxyz(rotation)
