"""A robot driven in real time in the browser."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from anguilla.describe import Frame, RodHandle
from anguilla.errors import AnguillaError
from anguilla.model.model import Model
from anguilla.results.states import Trajectory
from anguilla.solve.steps.stepper import Stepper
from anguilla.view.props import Props
from anguilla.view.realtime import RealTime
from anguilla.view.recording import Recording
from anguilla.view.scene import Scene, enough_sections, scene
from anguilla.view.shown import AROUND, RATE, SECTIONS, Shown, add_chart, open_server, plotted_tip

__all__ = ["Driver"]

HISTORY = 10.0  # [s] of a live plot


class Driver(Shown):
    """A robot driven in real time.

    Attributes:
        clock: the real-time loop, with its `pace`.
        sliders: the sliders by the names of the inputs.
        presets: values of inputs by the name of the preset.

    """

    def __init__(
        self, stepper: Stepper, begin: dict[str, float], limits: dict[str, tuple[float, float]], host: str, port: int,
        presets: Mapping[str, Mapping[str, float]] | None = None,
    ) -> None:  # fmt: skip
        self.stepper = stepper
        self.system = _observer(stepper.system)
        _, picture = self._present()
        server, address = open_server(stepper.robot.name, host, port)
        super().__init__(server, Props(server, self.system.robot, picture), stepper.robot, address)
        self.tip, self.history = plotted_tip(self.system.robot), np.zeros((0, 4))
        self.presets: dict[str, dict[str, float]] = {"zero": dict.fromkeys(self.robot.inputs, 0.0)}
        if any(begin.values()):
            self.presets["start"] = dict(begin)
        self.presets |= {name: dict(values) for name, values in (presets or {}).items()}
        self.recording: Recording | None = None
        self.clock = RealTime(stepper, self._draw, RATE, self._tell)
        self._drawn = 0.0
        self._controls(begin, limits)
        self._settings()
        self._plot()
        self.clock.start()

    def _controls(self, begin: dict[str, float], limits: dict[str, tuple[float, float]]) -> None:
        gui = self.server.gui
        self.sliders: dict[str, Any] = {}
        with gui.add_folder("Inputs"):
            for name, unit in self.robot.inputs.items():
                low, high = limits[name]
                value = begin.get(name, 0.0)
                low, high = min(low, value), max(high, value)
                label, step = f"{name} [{unit}]" if unit else name, (high - low) / 200.0
                slider = gui.add_slider(label, min=low, max=high, step=step, initial_value=value)
                slider.on_update(self._want(name))
                self.sliders[name] = slider
            if not self.sliders:
                gui.add_markdown("This robot has no inputs.")
            else:
                names = tuple(self.presets)
                self.chosen = gui.add_dropdown("Preset", names, initial_value="start" if "start" in names else "zero")
                apply = gui.add_button("Apply preset")
                keep = gui.add_button("Save as preset", hint="Remember where the sliders are.")
                apply.on_click(lambda _: self.apply(str(self.chosen.value)))
                keep.on_click(lambda _: self._keep())
        with gui.add_folder("Simulation"):
            self.pause = gui.add_button("Pause")
            again = gui.add_button("Restart")
            self.record = gui.add_button("Record", hint="Record the motion; a second click saves it.")
            kinds = ("page (.html)", "video (.mp4)")
            self.kind = gui.add_dropdown("Save as", kinds, initial_value=kinds[0])
            self.report = gui.add_markdown("starting ...")
        self.record.on_click(self._record)
        self.pause.on_click(lambda _: self._pause())
        again.on_click(lambda _: self.clock.restart())

    def _want(self, name: str) -> Any:
        def update(event: Any) -> None:
            self.clock.wanted[name] = float(event.target.value)

        return update

    def apply(self, preset: str) -> None:
        """Move the sliders to a preset, by its name in `presets`; inputs that it does not name stay."""
        for name, value in self.presets[preset].items():
            slider = self.sliders[name]
            slider.value = float(np.clip(value, slider.min, slider.max))
            self.clock.wanted[name] = slider.value

    def _keep(self) -> None:
        """Remember where the sliders are."""
        name = f"preset {sum(known.startswith('preset ') for known in self.presets) + 1}"
        self.presets[name] = {name: float(slider.value) for name, slider in self.sliders.items()}
        self.chosen.options = tuple(self.presets)
        self.chosen.value = name

    def _record(self, event: Any) -> None:
        """Begin to record, or end and send the file to the one who clicked."""
        with self._lock:
            recording, self.recording = self.recording, None if self.recording else self._new_recording()
        self.record.label = "Stop and save" if recording is None else "Record"
        if recording is None or event.client is None:
            return
        video = str(self.kind.value).startswith("video")
        try:
            data = recording.video() if video else recording.page()
        except AnguillaError as error:
            self.report.content = f"**not saved:** {error}"
            return
        event.client.send_file_download(f"{self.robot.name}{'.mp4' if video else '.html'}", data)

    def _new_recording(self) -> Recording:
        return Recording()

    def _pause(self) -> None:
        self.clock.paused = not self.clock.paused
        self.pause.label = "Resume" if self.clock.paused else "Pause"

    def _plot(self) -> None:
        columns = tuple(np.zeros(2) for _ in range(4))
        with self.server.gui.add_folder("Plot"):
            self.chart = add_chart(self.server, columns, [f"{x} [m]" for x in "xyz"], self.tip.label)

    def _present(self) -> tuple[Trajectory, Scene]:
        """The present state, and what is to be drawn of it."""
        result = self.stepper.result(self.system)
        return result, scene(result, sections=SECTIONS, around=AROUND)

    def _draw(self) -> None:
        with self._lock:
            result, picture = self._present()
            self.props.move(result, picture, 0)
            if self.recording is not None:
                self.recording.add(self._recorded(result))
            self._remember(result)

    def _recorded(self, result: Trajectory) -> Trajectory:
        """The state as it is kept in a recording."""
        return result

    def _tell(self, failure: str) -> None:
        """Say on the page and on the terminal why the motion stopped."""
        self.report.content = f"t = {self.stepper.t:.2f} s; **stopped:** {failure}"
        print(f"the motion stopped: {failure}", file=sys.stderr, flush=True)

    def _remember(self, result: Trajectory) -> None:
        """Add to the plot, a few times a second."""
        now = time.perf_counter()
        if now - self._drawn < 0.2:
            return
        self._drawn = now
        self._tell_colours()
        row = np.concatenate([[self.stepper.t], result.position(self.tip)[0]])
        if len(self.history) and row[0] < self.history[-1, 0]:
            self.history = np.zeros((0, 4))
        self.history = np.concatenate([self.history[self.history[:, 0] > row[0] - HISTORY], row[None]])
        if len(self.history) > 1:
            self.chart.data = tuple(np.ascontiguousarray(column) for column in self.history.T)
        failure = self.clock.failure
        state = f"**stopped:** {failure}" if failure else str(self.clock.pace)
        self.report.content = f"t = {self.stepper.t:.2f} s; {state}"

    def close(self) -> None:
        """End the simulation and the page."""
        self.clock.stop()
        super().close()


def _observer(system: Model) -> Model:
    """The robot compiled with a node at every drawn section, so that a picture needs no compilation."""
    robot, frames = system.robot, []
    for part in robot.parts:
        if isinstance(part, RodHandle):
            inner = [b for b in part.rod.section.breakpoints if b < part.length]
            X = np.unique(np.concatenate([np.linspace(0.0, part.length, enough_sections(part.rod, SECTIONS)), inner]))
            frames += [Frame(robot, part.index, float(x)) for x in X if 0.0 < x < part.length * (1.0 - 1e-12)]
    return system.observing(frames)
