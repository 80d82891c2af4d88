"""Soft volumes in the browser (viser): results on a timeline, bodies driven by sliders."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.errors import AnguillaError, refuse, require
from anguilla.fem.body import SoftBody
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.equilibrium import statics
from anguilla.fem.fields import equivalent_strain
from anguilla.fem.parts import Tendon
from anguilla.fem.results import SoftEquilibrium
from anguilla.fem.system import SoftSystem
from anguilla.view.page import round_number
from anguilla.view.shown import RATE, Page, open_server, screenshot
from anguilla.view.style import TIME_MAP
from anguilla.view.volume_plots import TITLES, scale_of
from anguilla.view.volumes import QUANTITIES, Volume, thinned, volume

__all__ = ["SoftDriver", "SoftShown", "coloured", "drive_soft", "play_soft"]

Array = NDArray[np.float64]
MOST_INSTANTS = 300
# how far the full stroke of a slider would move a body that were linear, over its size, and strain nine tenths of it
FAR, STRAINED = 0.4, 0.25


def play_soft(
    result: SoftEquilibrium | SoftTrajectory, *, colour: str | None = None, host: str = "127.0.0.1", port: int = 8080
) -> SoftShown:
    """Show a soft volume in the browser.

    Args:
        result: what `fem.statics` or `fem.simulate` returned.
        colour: "stress" (von Mises [Pa]), "displacement" [m] or "strain" (equivalent [-]); by default the stress of an
            equilibrium, the displacement of a motion. The page has a choice for it.
        host: address to listen on; the default is this machine only.
        port: port to listen on; the next free one if it is taken.

    Returns:
        The page; it stays until `close`.

    """
    if not isinstance(result, (SoftEquilibrium, SoftTrajectory)):
        raise refuse("result", "what fem.statics or fem.simulate returned", result)
    chosen = colour or ("stress" if isinstance(result, SoftEquilibrium) else "displacement")
    return SoftShown(result, _quantity(chosen), host, port)


def drive_soft(
    body: SoftBody, *, inputs: Mapping[str, float] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None, colour: str = "displacement", host: str = "127.0.0.1",
    port: int = 8080,
) -> SoftDriver:  # fmt: skip
    """Drive a soft volume in the browser: a slider for each actuator, and its equilibrium at every move.

    Args:
        body: the body.
        inputs: tensions [N] and pressures [Pa] where the sliders begin; zero if not given.
        limits: range of each slider, (lowest, highest); by default the limits of the actuator, or what would move the body
            by some tenths of its size.
        colour: "displacement", "stress" or "strain"; the page has a choice for it.
        host: address to listen on; the default is this machine only.
        port: port to listen on; the next free one if it is taken.

    Returns:
        The page; it stays until `close`.

    """
    if not isinstance(body, SoftBody):
        raise refuse("body", "a SoftBody", body)
    system = SoftSystem(body)
    begin = statics(system, inputs=inputs)
    ranges = suggested_efforts(system)
    for name, (low, high) in (limits or {}).items():
        if name not in ranges:
            system.efforts({name: 0.0})  # refuses it
        ranges[name] = (float(low), float(high))
    return SoftDriver(begin, _quantity(colour), ranges, host, port)


def _quantity(colour: str) -> str:
    if colour not in QUANTITIES:
        raise refuse("colour", " or ".join(f'"{name}"' for name in QUANTITIES), colour)
    return colour


def suggested_efforts(system: SoftSystem) -> dict[str, tuple[float, float]]:
    """Range of efforts (lowest, highest) by actuator: its own limits, or what moves and strains the body by some part."""
    _, gradient, blocks = system.evaluate(system.rest, np.zeros(len(system.names)), factor=0.0, stiffness=True)
    led = not isinstance(system.inner, slice)  # a volume among rods and bodies: they hold it
    system.solver.factor(blocks[system.inner] if led else system.unknowns.fold(system.rest.x, blocks, gradient))
    rows = system.unknowns.gather(system.rest.x, system.actuator_rows(system.rest))
    steps = system.solver.solve(rows) if len(rows) else rows
    size = float(np.linalg.norm(np.ptp(system.rest.x, axis=0)))
    least, most, _, _ = system.limits()
    out = {}
    for k, name in enumerate(system.names):
        step = system.unknowns.spread(system.rest.x, steps[k].reshape(-1, 3))
        part = 1e-4 * size / max(float(np.abs(step).max()), 1e-300)  # small enough to be linear
        strain = float(np.percentile(equivalent_strain(system, system.rest.x + part * step), 90.0))
        guess = round_number(part * min(FAR / 1e-4, STRAINED / max(strain, 1e-300)))
        out[name] = (
            float(least[k]) if np.isfinite(least[k]) else -guess,
            float(most[k]) if np.isfinite(most[k]) else max(guess, 2.0 * float(least[k])),
        )
    return out


def coloured(x: Array, faces: NDArray[np.int64], part: Array) -> Any:
    """A surface whose nodes have colours of a map, by numbers (n,) from 0 to 1: a texture of one line, so that it is matt."""
    matplotlib = require("matplotlib", "colours need", "plot")
    import trimesh
    from PIL import Image

    strip = matplotlib.colormaps[TIME_MAP](np.linspace(0.0, 1.0, 256), bytes=True)[None, :, :3]
    material = trimesh.visual.material.PBRMaterial(
        baseColorTexture=Image.fromarray(np.ascontiguousarray(strip)), metallicFactor=0.0, roughnessFactor=0.8
    )
    uv = np.stack([0.002 + 0.996 * np.clip(part, 0.0, 1.0), np.full(len(part), 0.5)], axis=1)
    visual = trimesh.visual.TextureVisuals(uv=uv, material=material)
    return trimesh.Trimesh(x, faces, visual=visual, process=False)


class _SoftPage(Page):
    """A page with a soft volume.

    Attributes:
        address: what to open in a browser.
        colour: what the colours show.
        picture: what is drawn.
        index: the instant that is shown.

    """

    def __init__(self, result: SoftEquilibrium | SoftTrajectory, colour: str, host: str, port: int) -> None:
        self.result, self.colour, self.index = result, colour, 0
        self.picture: Volume = volume(result, colour)
        super().__init__(*open_server(result.body.name, host, port))
        self._stage()
        self._colours()

    @property
    def values(self) -> Array:
        """What the colours show at the nodes (n,), at the present instant."""
        return self.picture.values[self.index]

    def _colours(self) -> None:
        gui = self.server.gui
        with gui.add_folder("Colours"):
            choice = gui.add_dropdown("Show", tuple(QUANTITIES), initial_value=self.colour)
            self.scale = gui.add_markdown("")
            picture = gui.add_button("Screenshot")
        choice.on_update(lambda event: self.show_colour(str(event.target.value)))
        picture.on_click(screenshot)

    def show_colour(self, colour: str) -> None:
        """Let the colours show "displacement", "stress" or "strain"."""
        with self._lock:
            self.colour = _quantity(colour)
            self.picture = volume(self.result, colour)
            self._draw()

    def _stage(self) -> None:
        scene = self.server.scene
        low, high = self.picture.bounds
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

    def _draw(self) -> None:
        picture, x = self.picture, self.picture.x[self.index]
        mesh = coloured(x, picture.faces, picture.shown(self.index))
        factor, unit = scale_of(picture)
        low, high = (factor * limit for limit in picture.limits)
        with self._lock, self.server.atomic():
            self.scale.content = f"{TITLES[self.colour]}: {low:.3g} (dark) to {high:.3g} {unit} and more (light)"
            self.server.scene.add_mesh_trimesh("/body", mesh)
            for name, faces in picture.chambers.items():
                self.server.scene.add_mesh_simple(
                    f"/chambers/{name}", x, faces, color=(86, 180, 233), opacity=0.35, side="double"
                )
            for name, line in picture.lines.items():
                now = line[self.index]
                self.server.scene.add_line_segments(
                    f"/tendons/{name}", np.stack([now[:-1], now[1:]], axis=1).astype(np.float32), (40, 44, 52),
                    thickness=0.004 * self.size, thickness_units="world",
                )  # fmt: skip


class SoftShown(_SoftPage):
    """A result of a soft volume on a timeline.

    Attributes:
        t: (time,) instants [s] that are shown.

    """

    def __init__(self, result: SoftEquilibrium | SoftTrajectory, colour: str, host: str, port: int) -> None:
        moving = isinstance(result, SoftTrajectory)
        super().__init__(
            thinned(result, MOST_INSTANTS) if isinstance(result, SoftTrajectory) else result, colour, host, port
        )
        self.t, self.playing = self.picture.t, moving
        self._controls()
        self._draw()
        self._thread = threading.Thread(target=self._run, name="anguilla-soft", daemon=True)
        self._thread.start()

    def _controls(self) -> None:
        if len(self.t) < 2:
            return
        gui = self.server.gui
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


class SoftDriver(_SoftPage):
    """A soft volume driven by sliders: its equilibrium at every move.

    Attributes:
        sliders: the sliders by the names of the actuators.
        wanted: the inputs they ask for.
        failure: why the last ones have no equilibrium, or "".

    """

    def __init__(
        self, begin: SoftEquilibrium, colour: str, limits: dict[str, tuple[float, float]], host: str, port: int
    ) -> None:
        super().__init__(begin, colour, host, port)
        self.wanted, self.failure = begin.inputs, ""
        self.sliders: dict[str, Any] = {}
        self._moved = threading.Event()
        self._controls(limits)
        self._draw()
        self._thread = threading.Thread(target=self._run, name="anguilla-soft-driver", daemon=True)
        self._thread.start()

    def _controls(self, limits: dict[str, tuple[float, float]]) -> None:
        gui = self.server.gui
        with gui.add_folder("Inputs"):
            for name, part in self.result.body.actuators.items():
                low, high = limits[name]
                value = self.wanted[name]
                low, high = min(low, value), max(high, value)
                label = f"{name} [{'N' if isinstance(part, Tendon) else 'Pa'}]"
                slider = gui.add_slider(label, min=low, max=high, step=(high - low) / 200.0, initial_value=value)
                slider.on_update(self._want(name))
                self.sliders[name] = slider
            if not self.sliders:
                gui.add_markdown("This body has no actuators.")
            self.report = gui.add_markdown(self._told())

    def _want(self, name: str) -> Any:
        return lambda event: self.drive(**{name: float(event.target.value)})

    def drive(self, **inputs: float) -> None:
        """Ask for other tensions [N] and pressures [Pa], by name; the page follows."""
        with self._lock:
            self.wanted = self.wanted | inputs
        self._moved.set()

    def _run(self) -> None:
        while not self._end.is_set():
            if self._moved.wait(0.2) and not self._end.is_set():
                self._moved.clear()
                self._follow()

    def _follow(self) -> None:
        """Find the equilibrium that is asked for, from the present one; where there is none the body stays."""
        with self._lock:
            wanted = dict(self.wanted)
        began, now = time.perf_counter(), self.result
        assert isinstance(now, SoftEquilibrium)
        try:
            found = statics(now.system, inputs=wanted, start=now)
            self.failure = ""
        except AnguillaError as error:
            self.failure, found = str(error), now
        with self._lock:
            self.result = found
            self.picture = volume(found, self.colour)
            self._draw()
            self.report.content = self._told(time.perf_counter() - began)

    def _told(self, seconds: float = 0.0) -> str:
        if self.failure:
            return f"**no equilibrium:** {self.failure}"
        names = self.result.system.frames.names
        places = [f"{name}: {1e3 * self.result.position(name)[0]:.2f}, {1e3 * self.result.position(name)[1]:.2f}, "
                  f"{1e3 * self.result.position(name)[2]:.2f} mm" for name in names]  # fmt: skip
        return "\n\n".join([*places, f"{self.result.status.message}, {1e3 * seconds:.0f} ms"])

    def close(self) -> None:
        """End the page."""
        self._end.set()
        self._moved.set()
        self._thread.join(timeout=5.0)
        super().close()
