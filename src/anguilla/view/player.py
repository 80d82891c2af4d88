"""A result on a timeline in the browser."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from anguilla.results.states import Equilibrium, Trajectory
from anguilla.store.whole import as_target, whole_file
from anguilla.view.props import Props
from anguilla.view.scene import Scene, scene, thin
from anguilla.view.shown import AROUND, RATE, SECTIONS, Shown, add_chart, open_server, plotted_tip

__all__ = ["Player"]

MOST_INSTANTS = 1500
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5")


class Player(Shown):
    """A result on a timeline."""

    most = MOST_INSTANTS

    def __init__(self, result: Trajectory | Equilibrium, host: str, port: int) -> None:
        self.told = thin(result, self.most) if isinstance(result, Trajectory) else result
        self.result, self.picture = self._drawn(self.told)
        server, address = open_server(result.robot.name, host, port)
        robot = self.result.robot
        super().__init__(server, Props(server, robot, self.picture), robot, address)
        self.index, self.playing, self.speed = 0, len(self.picture.t) > 1, 1.0
        self._timeline()
        self._settings()
        self._plots()
        self._draw()
        self._thread = threading.Thread(target=self._run, name="anguilla-player", daemon=True)
        self._thread.start()

    def _timeline(self) -> None:
        gui, t = self.server.gui, self.picture.t
        self.slider: Any = None
        if len(t) < 2:
            gui.add_markdown(f"Equilibrium of **{self.robot.name}**.")
            return
        with gui.add_folder("Motion"):
            self.button = gui.add_button("Pause" if self.playing else "Play")
            last, step = float(t[-1]), float(max((t[-1] - t[0]) / 1000.0, 1e-6))
            self.slider = gui.add_slider("t [s]", min=float(t[0]), max=last, step=step, initial_value=float(t[0]))
            speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
            page = gui.add_button("Save as a page", hint="Download one HTML file with the motion.")
        self.button.on_click(lambda _: self._play(not self.playing))
        self.slider.on_update(self._scrub)
        speed.on_update(lambda event: setattr(self, "speed", float(event.target.value)))
        page.on_click(self._download)

    def _play(self, playing: bool) -> None:
        with self._lock:
            self.playing = playing
            self.button.label = "Pause" if playing else "Play"

    def _scrub(self, event: Any) -> None:
        if event.client is None:  # moved by us
            return
        self._play(False)
        self.seek(float(event.target.value))

    def seek(self, t: float) -> None:
        """Show the instant nearest to the time t [s]."""
        with self._lock:
            self.index = int(np.argmin(np.abs(self.picture.t - t)))
            if self.slider is not None:
                self.slider.value = float(self.picture.t[self.index])
            self._draw()

    def close(self) -> None:
        """End the page."""
        self._end.set()
        self._thread.join(timeout=5.0)
        super().close()

    def _run(self) -> None:
        t, last = self.picture.t, time.perf_counter()
        now = float(t[self.index])
        while not self._end.wait(1.0 / RATE):
            clock = time.perf_counter()
            with self._lock:  # a click that pauses is not overtaken by a last picture
                if self.playing:
                    now = now + self.speed * (clock - last)
                    if now > t[-1]:
                        now = float(t[0])
                    self.seek(now)
                else:
                    now = float(t[self.index])
            last = clock

    def _drawn(self, result: Trajectory | Equilibrium) -> tuple[Trajectory | Equilibrium, Scene]:
        """What is drawn of a result."""
        return result, scene(result, sections=SECTIONS, around=AROUND)

    def _draw(self) -> None:
        with self._lock:
            self._move(self.index)

    def _move(self, index: int) -> None:
        """Put everything where it is at one instant."""
        self.props.move(self.result, self.picture, index)

    def _plots(self) -> None:
        if not isinstance(self.result, Trajectory) or not isinstance(self.told, Trajectory):
            return
        t = np.ascontiguousarray(self.result.t)
        with self.server.gui.add_folder("Plots", expand_by_default=False):
            tip = plotted_tip(self.robot)
            path = self.result.position(tip)
            columns = (t, *(np.ascontiguousarray(path[:, k]) for k in range(3)))
            add_chart(self.server, columns, [f"{x} [m]" for x in "xyz"], tip.label)
            energy = self.told.energy
            names = ("total", "elastic", "kinetic", "gravitational")
            columns = (t, *(np.ascontiguousarray(energy[name]) for name in names))
            add_chart(self.server, columns, [f"{name} [J]" for name in names], "energy")

    def save_page(self, path: str | os.PathLike[str]) -> Path:
        """Write the scene with its motion as one HTML file that needs no server; return its path."""
        target = as_target(path, (".html", ".htm"))
        text = self._page()
        with whole_file(target) as part:
            part.write_text(text, encoding="utf-8")
        return target

    def _page(self) -> str:
        serializer = self.server.get_scene_serializer()
        t = self.picture.t
        count = int(np.clip(round((t[-1] - t[0]) * RATE) + 1, 1, 600))
        times = np.linspace(t[0], t[-1], count)
        with self._lock:
            for moment in times:
                self._move(int(np.argmin(np.abs(t - moment))))
                serializer.insert_sleep(float((t[-1] - t[0]) / max(count - 1, 1)))
        return str(serializer.as_html())

    def _download(self, event: Any) -> None:
        if event.client is not None:
            event.client.send_file_download(f"{self.robot.name}.html", self._page().encode("utf-8"))
