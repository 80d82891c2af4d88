"""Soft volumes in the browser (viser): their surface, coloured by stress or by displacement; tendons; the timeline."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.errors import refuse
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.parts import Tendon
from anguilla.fem.results import SoftEquilibrium
from anguilla.view.shown import RATE, Page, open_server, screenshot
from anguilla.view.style import TIME_MAP

__all__ = ["SoftShown", "coloured", "play_soft"]

Array = NDArray[np.float64]
MOST_INSTANTS = 300
QUANTITIES = ("stress", "displacement")


def play_soft(
    result: SoftEquilibrium | SoftTrajectory, *, colour: str = "stress", host: str = "127.0.0.1", port: int = 8080
) -> SoftShown:
    """Show a soft volume in the browser.

    Args:
        result: what `fem.statics` or `fem.simulate` returned.
        colour: "stress" (von Mises [Pa], of an equilibrium) or "displacement" [m].
        host: address to listen on; the default is this machine only.
        port: port to listen on; the next free one if it is taken.

    Returns:
        The page; it stays until `close`.

    """
    if not isinstance(result, (SoftEquilibrium, SoftTrajectory)):
        raise refuse("result", "what fem.statics or fem.simulate returned", result)
    if colour not in QUANTITIES:
        raise refuse("colour", " or ".join(f'"{name}"' for name in QUANTITIES), colour)
    if isinstance(result, SoftTrajectory):
        colour = "displacement"
    return SoftShown(result, colour, host, port)


def coloured(x: Array, faces: NDArray[np.int64], part: Array) -> Any:
    """A surface whose nodes have colours of a map, by numbers (n,) from 0 to 1: a texture of one line, so that it is matt."""
    import matplotlib
    import trimesh
    from PIL import Image

    strip = matplotlib.colormaps[TIME_MAP](np.linspace(0.0, 1.0, 256), bytes=True)[None, :, :3]
    material = trimesh.visual.material.PBRMaterial(
        baseColorTexture=Image.fromarray(np.ascontiguousarray(strip)), metallicFactor=0.0, roughnessFactor=0.8
    )
    uv = np.stack([0.002 + 0.996 * np.clip(part, 0.0, 1.0), np.full(len(part), 0.5)], axis=1)
    visual = trimesh.visual.TextureVisuals(uv=uv, material=material)
    return trimesh.Trimesh(x, faces, visual=visual, process=False)


def nodal(result: SoftEquilibrium, per_tet: Array) -> Array:
    """Values at the nodes (n,): means of the tetrahedra around each."""
    nodes = result.system.elements.nodes
    total, count = np.zeros(len(result.x)), np.zeros(len(result.x))
    for column in nodes.T:
        np.add.at(total, column, per_tet)
        np.add.at(count, column, 1.0)
    return total / np.maximum(count, 1.0)


class SoftShown(Page):
    """A page with a soft volume.

    Attributes:
        address: what to open in a browser.
        values: (n,) what the colours show at the nodes, at the present instant.

    """

    def __init__(self, result: SoftEquilibrium | SoftTrajectory, colour: str, host: str, port: int) -> None:
        self.result, self.colour = result, colour
        self.rest: Array = result.system.grid.points
        moving = isinstance(result, SoftTrajectory)
        self.t = np.asarray(result.t) if isinstance(result, SoftTrajectory) else np.zeros(1)
        keep = np.unique(np.linspace(0, len(self.t) - 1, min(len(self.t), MOST_INSTANTS)).round().astype(int))
        self.t = self.t[keep]
        self.x: Array = result.x[keep] if moving else result.x[None]
        self.faces = result.system.grid.refine(result.body.mesh.boundary)
        self.fields = self._fields()
        # a few elements at corners and supports would take all the colours
        self.low, self.high = float(self.fields.min()), float(np.percentile(self.fields, 99.0))
        super().__init__(*open_server(result.body.name, host, port))
        self.index, self.playing = 0, moving
        self._stage()
        self._controls()
        self._draw()
        self._thread = threading.Thread(target=self._run, name="anguilla-soft", daemon=True)
        self._thread.start()

    def _fields(self) -> Array:
        if self.colour == "stress" and isinstance(self.result, SoftEquilibrium):
            return nodal(self.result, self.result.stress())[None]
        return np.linalg.norm(self.x - self.rest, axis=2)

    @property
    def values(self) -> Array:
        """What the colours show at the nodes."""
        return self.fields[self.index]

    def _stage(self) -> None:
        scene = self.server.scene
        low, high = self.x.min(axis=(0, 1)), self.x.max(axis=(0, 1))
        self.size = float(np.linalg.norm(high - low))
        scene.configure_environment_map(hdri=None)
        scene.configure_default_lights(enabled=False)
        scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(170, 176, 186), intensity=2.2)
        scene.add_light_directional("/light/key", intensity=2.0, position=(1.0, -1.6, 2.6), cast_shadow=True)
        cell = 10.0 ** np.floor(np.log10(self.size / 4.0))
        width = 20.0 * cell * np.ceil(self.size / (4.0 * cell))
        middle = 0.5 * (low + high)
        scene.add_grid(
            "/floor", width=width, height=width, cell_size=cell, section_size=5.0 * cell, cell_color=(214, 219, 225),
            section_color=(180, 188, 197), fade_distance=8.0 * self.size,
            position=(middle[0], middle[1], low[2] - 0.03 * self.size),
        )  # fmt: skip
        camera = self.server.initial_camera
        away = np.array([0.5, -0.8, 0.42])
        centre = middle + 0.2 * self.size * np.array([0.8, 0.5, 0.0])
        camera.position, camera.look_at = tuple(middle + 1.6 * self.size * away), tuple(centre)
        camera.up, camera.fov = (0.0, 0.0, 1.0), np.radians(50.0)
        camera.near, camera.far = 0.002 * self.size, 60.0 * self.size

    def _controls(self) -> None:
        gui, unit = self.server.gui, "Pa" if self.colour == "stress" else "m"
        with gui.add_folder("Colours"):
            gui.add_markdown(f"{self.colour}: {self.low:.3g} (dark) to {self.high:.3g} {unit} and more (light)")
            picture = gui.add_button("Screenshot")
        picture.on_click(screenshot)
        if len(self.t) > 1:
            with gui.add_folder("Motion"):
                self.button = gui.add_button("Pause")
                step = float(self.t[-1] - self.t[0]) / 1000.0
                self.slider = gui.add_slider("t [s]", float(self.t[0]), float(self.t[-1]), step, float(self.t[0]))
            self.button.on_click(lambda _: self._play(not self.playing))
            self.slider.on_update(self._scrub)

    def _play(self, playing: bool) -> None:
        with self._lock:
            self.playing = playing
            self.button.label = "Pause" if playing else "Play"

    def _scrub(self, event: Any) -> None:
        if event.client is not None:
            self._play(False)
            self.seek(float(event.target.value))

    def seek(self, t: float) -> None:
        """Show the instant nearest to the time t [s]."""
        with self._lock:
            self.index = int(np.argmin(np.abs(self.t - t)))
            if len(self.t) > 1:
                self.slider.value = float(self.t[self.index])
            self._draw()

    def _draw(self) -> None:
        x = self.x[self.index]
        mesh = coloured(x, self.faces, (self.values - self.low) / max(self.high - self.low, 1e-300))
        with self._lock, self.server.atomic():
            self.server.scene.add_mesh_trimesh("/body", mesh)
            for name, actuator in self.result.body.actuators.items():
                if isinstance(actuator, Tendon):
                    line = self._line(actuator, x)
                    self.server.scene.add_line_segments(
                        f"/tendons/{name}", np.stack([line[:-1], line[1:]], axis=1).astype(np.float32), (40, 44, 52),
                        thickness=0.004 * self.size, thickness_units="world",
                    )  # fmt: skip

    def _line(self, tendon: Tendon, x: Array) -> Array:
        """Guide points (k, 3) [m] of a tendon, moved with the nearest node of the mesh."""
        rest, guides = self.rest, np.asarray(tendon.points, dtype=float)
        near = np.array([int(np.argmin(np.linalg.norm(rest - guide, axis=1))) for guide in guides])
        moved = guides + x[near] - rest[near]
        return moved if tendon.origin is None else np.concatenate([np.asarray(tendon.origin)[None], moved])

    def _run(self) -> None:
        last, now = time.perf_counter(), float(self.t[0])
        while not self._end.wait(1.0 / RATE):
            clock = time.perf_counter()
            if self.playing:
                now = now + clock - last
                now = float(self.t[0]) if now > self.t[-1] else now
                self.seek(now)
            else:
                now = float(self.t[self.index])
            last = clock

    def wait(self, seconds: float | None = None) -> None:
        """Return after so many seconds [s], or when the page is closed by `close`."""
        self._end.wait(seconds)

    def close(self) -> None:
        """End the page."""
        self._end.set()
        self._thread.join(timeout=5.0)
        super().close()
