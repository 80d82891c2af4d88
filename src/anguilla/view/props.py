"""The objects of a viewer's scene (viser): made once, moved for every picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anguilla.describe import Robot
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.view.obstacles import shell, shell_of
from anguilla.view.page import quaternions_wxyz
from anguilla.view.painting import Paint
from anguilla.view.scene import Array, Scene, Tube
from anguilla.view.stage import (
    ARROW,
    Lines,
    Tracks,
    arrows,
    contact_forces,
    faces_of,
    load_forces,
    plate,
    reaction_forces,
    tip_frames,
    trail,
    vertices_of,
)
from anguilla.view.style import COLOURS, SOLID

__all__ = ["Props"]

FORCE, REACTION, CONTACT, TRAIL = (214, 39, 40), (96, 30, 160), (176, 18, 43), (120, 130, 145)
ARROWS = {"loads": FORCE, "reactions": REACTION, "contacts": CONTACT}
HISTORY = 600  # pictures of a trail of a driven robot
THROUGH = 0.62  # opacity of a rod with a tendon inside
MOUNT = (92, 102, 115)
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
        floating = any(part.joint.size == 6 for part in robot.parts)
        self.show = {"frames": False, "trail": floating}
        if robot.actuators:
            self.show["tendons"] = True
        if any(load.has_arrows and not load.touches and not load.meets for load in robot.loads):
            self.show["loads"] = True
        if any(load.touches or load.meets for load in robot.loads):
            self.show["contacts"] = True
        if robot.closures:
            self.show["reactions"] = True
        self._light()
        self._floor(picture)
        self._camera(picture, 0.5 * (low + high))
        self.inside = {part.name for a in robot.actuators.values() for part, *_ in a.stretches}
        self.meshes = {tube.name: self._tube(tube, k) for k, tube in enumerate(picture.tubes)}
        self.paint = Paint(server, robot)
        self._mounts(picture)
        self._obstacles(picture)
        self.lines: dict[str, Any] = {}
        self.arrows: dict[str, Any] = {}
        self.frames: dict[str, Any] = {}
        self.path: Any = None
        self.dots: Any = None
        self._tracks: Tracks | None = None
        self._largest = 0.0  # force so far [N]: the scale of the arrows
        self._history: list[Array] = []
        self._routes = Lines(robot)

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

    def _obstacles(self, picture: Scene) -> None:
        for k, obstacle in enumerate(picture.obstacles):
            piece = shell(obstacle, picture.bounds)
            self.server.scene.add_mesh_simple(
                f"/obstacles/{k}", piece.vertices.astype(np.float32), piece.faces, color=rgb(SOLID),
                flat_shading=False, side="front", opacity=0.3, cast_shadow=False,
            )  # fmt: skip
        self.carried = []
        for k, one in enumerate(picture.carried):
            piece = shell_of(one, picture.bounds)
            self.carried.append(self.server.scene.add_mesh_simple(
                f"/carried/{k}", piece.vertices.astype(np.float32), piece.faces, color=rgb(SOLID),
                flat_shading=False, side="front", opacity=0.3, cast_shadow=False,
            ))  # fmt: skip

    def _mounts(self, picture: Scene) -> None:
        """A plate behind every clamped root."""
        for tube in picture.tubes:
            if tube.clamped:
                vertices, faces = plate(tube)
                self.server.scene.add_mesh_simple(
                    f"/mounts/{tube.name}", vertices, faces, color=MOUNT, flat_shading=True
                )

    def _tube(self, tube: Tube, k: int) -> Any:
        return self.server.scene.add_mesh_simple(
            f"/robot/{tube.name}", vertices_of(tube, 0), faces_of(tube), color=rgb(COLOURS[k % len(COLOURS)]),
            flat_shading=False, side="double", opacity=THROUGH if tube.name in self.inside else None,
        )  # fmt: skip

    def move(self, result: Trajectory | Equilibrium, picture: Scene, index: int) -> None:
        """Put everything where it is at one instant, in one go."""
        with self.server.atomic():
            painted = self.paint.move(result, picture, index)
            for tube in picture.tubes:
                self.meshes[tube.name].visible = tube.name not in painted
                if tube.name not in painted:
                    self.meshes[tube.name].vertices = vertices_of(tube, index)
            for handle, one in zip(self.carried, picture.carried, strict=True):
                handle.position, handle.wxyz = one.position[index], quaternions_wxyz(one.rotation[index])
            if self._tracks is None or self._tracks.result is not result:
                self._tracks = Tracks(result)
            self._move_tendons(self._tracks, picture, index)
            self._move_forces(self._tracks, picture, index)
            self._move_trail(picture, index)
            self._move_frames(picture, index)

    def _move_tendons(self, tracks: Tracks, picture: Scene, index: int) -> None:
        shown = self._routes.at(picture, index, tracks) if self.show.get("tendons") else {}
        for name, line in shown.items():
            if name not in self.lines:
                actuator = self.robot.actuators[name]
                thick, colour = actuator.thickness or 0.004 * self.size, tuple(int(255 * c) for c in actuator.colour)
                self.lines[name] = self.server.scene.add_line_segments(
                    f"/tendons/{name}", line, colour, thickness=thick, thickness_units="world"
                )
            self.lines[name].points = line
        for name, handle in self.lines.items():
            handle.visible = name in shown

    def _move_forces(self, tracks: Tracks, picture: Scene, index: int) -> None:
        none = np.zeros((0, 3)), np.zeros((0, 3))
        wanted = {
            "loads": load_forces(tracks, picture, index) if self.show.get("loads") else none,
            "reactions": reaction_forces(tracks, index) if self.show.get("reactions") else none,
        }
        if self.show.get("contacts"):
            wanted["contacts"] = contact_forces(tracks, index, self.size)
        self._draw_dots(wanted.setdefault("contacts", none)[0])
        for _, force in wanted.values():
            self._largest = max(self._largest, float(np.max(np.linalg.norm(force, axis=1), initial=0.0)))
        for name, (tail, force) in wanted.items():
            points = arrows(tail, force, ARROW * self.size, self._largest)
            if name == "contacts":  # heads where things touch: what they push at is not seen through
                points = points - (points[:, 1:] - points[:, :1])
            self._draw_arrows(name, points)

    def _draw_dots(self, places: Array) -> None:
        """Places that touch, seen through what is before them."""
        if self.dots is not None:
            self.dots.remove()
            self.dots = None
        if len(places):
            self.dots = self.server.scene.add_point_cloud(
                "/touching", places.astype(np.float32), CONTACT, point_size=0.018 * self.size, point_shape="circle"
            )

    def _draw_arrows(self, name: str, points: Array) -> None:
        handle = self.arrows.get(name)
        if not len(points):
            if handle is not None:
                handle.visible = False
            return
        if handle is None or len(handle.points) != len(points):
            if handle is not None:
                handle.remove()
            radius = 0.004 * self.size
            self.arrows[name] = handle = self.server.scene.add_arrows(
                f"/{name}", points, ARROWS[name], shaft_radius=radius,
                head_radius=2.6 * radius, head_length=7.0 * radius,
            )  # fmt: skip
        handle.points = points
        handle.visible = True

    def _move_trail(self, picture: Scene, index: int) -> None:
        """The way so far: of a stored motion from its beginning, of a driven robot the last pictures."""
        line = trail(picture, index)
        if len(picture.t) == 1:
            self._history = [*self._history[-HISTORY:], line[-1]]
            line = np.array(self._history)
        if not self.show["trail"] or len(line) < 2:
            if self.path is not None:
                self.path.visible = False
            return
        points = np.stack([line[:-1], line[1:]], axis=1).astype(np.float32)
        if self.path is None:
            self.path = self.server.scene.add_line_segments(
                "/trail", points, TRAIL, thickness=0.003 * self.size, thickness_units="world"
            )
        self.path.points = points
        self.path.visible = True

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
