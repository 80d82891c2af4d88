"""A viewer in the browser (viser): play a result, or drive a robot by sliders in real time.

It listens on this machine only unless told otherwise, and asks nothing of the network.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np

from anguilla.assemble.fields import cable_length
from anguilla.assemble.system import System
from anguilla.describe import Frame, Robot, RodHandle
from anguilla.errors import AnguillaError, as_positive
from anguilla.results import Equilibrium, Trajectory
from anguilla.solve.stepper import Stepper
from anguilla.store.whole import as_target, whole_file
from anguilla.view.props import Props, rgb
from anguilla.view.realtime import RealTime
from anguilla.view.scene import Scene, as_computed, enough_sections, scene, thin
from anguilla.view.stage import suggested_limits
from anguilla.view.style import COLOURS

__all__ = ["Shown", "drive", "play"]

SECTIONS, AROUND = 32, 24
MOST_INSTANTS = 1500
RATE = 30.0  # pictures per second
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5")
HISTORY = 10.0  # [s] of a live plot


class Shown:
    """A page that is being shown.

    Attributes:
        address: what to open in a browser.
        server: the viser server, for additions of one's own.

    """

    def __init__(self, server: Any, props: Props, robot: Robot, host: str) -> None:
        self.server, self.props, self.robot = server, props, robot
        self.address = f"http://{host}:{server.get_port()}"
        self._end = threading.Event()
        self._lock = threading.RLock()

    def wait(self, seconds: float | None = None) -> None:
        """Return after so many seconds [s], or when the page is closed by `close`."""
        self._end.wait(seconds)

    def close(self) -> None:
        """End the page."""
        self._end.set()
        with redirect_stdout(StringIO()):
            self.server.stop()

    def _settings(self) -> None:
        """Switches for what is drawn, and a button for a picture."""
        gui = self.server.gui
        with gui.add_folder("Show"):
            for name in self.props.show:
                box = gui.add_checkbox(name.capitalize(), initial_value=self.props.show[name])
                box.on_update(self._switch(name))
            picture = gui.add_button("Screenshot", hint="Download a picture of what you see.")
        picture.on_click(_screenshot)

    def _switch(self, name: str) -> Any:
        def update(event: Any) -> None:
            with self._lock:
                self.props.show[name] = bool(event.target.value)
            self._draw()

        return update

    def _draw(self) -> None:
        raise NotImplementedError


def _screenshot(event: Any) -> None:
    from PIL import Image

    if event.client is None:
        return
    picture = event.client.get_render(height=1080, width=1920)
    stream = BytesIO()
    Image.fromarray(picture).save(stream, format="png")
    event.client.send_file_download("anguilla.png", stream.getvalue())


def _server(title: str, host: str, port: int) -> Any:
    try:
        import viser
    except ImportError:
        raise AnguillaError("the viewer needs viser: pip install 'anguilla[view]'.") from None
    with redirect_stdout(StringIO()):  # its greeting; the address is told by our own commands
        server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    server.gui.configure_theme(
        control_layout="floating",
        control_width="medium",
        show_logo=False,
        show_share_button=False,  # it would open a tunnel to the outside
        brand_color=rgb(COLOURS[0]),
    )
    server.gui.set_panel_label(title)
    return server


# play -----------------------------------------------------------------------------------------------------------------


def play(result: Trajectory | Equilibrium, *, host: str = "127.0.0.1", port: int = 8080) -> Player:
    """Show a result in the browser, with a timeline.

    Args:
        result: a Trajectory or an Equilibrium.
        host: address to listen on; the default is this machine only.
        port: port to listen on; the next free one if it is taken.

    Returns:
        The page; it stays until `close`.

    """
    return Player(as_computed(result), host, port)


class Player(Shown):
    """A result on a timeline."""

    def __init__(self, result: Trajectory | Equilibrium, host: str, port: int) -> None:
        self.result = thin(result, MOST_INSTANTS) if isinstance(result, Trajectory) else result
        self.picture = scene(self.result, sections=SECTIONS, around=AROUND)
        server = _server(result.robot.name, host, port)
        super().__init__(server, Props(server, result.robot, self.picture), result.robot, host)
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

    def _draw(self) -> None:
        with self._lock:
            self.props.move(self.result, self.picture, self.index)

    def _plots(self) -> None:
        if not isinstance(self.result, Trajectory):
            return
        import viser.uplot as uplot

        t = np.ascontiguousarray(self.result.t)
        with self.server.gui.add_folder("Plots", expand_by_default=False):
            tip = _tip(self.robot)
            path = self.result.position(tip)
            lines = tuple(uplot.Series(label=f"{x} [m]", stroke=COLOURS[k], width=2) for k, x in enumerate("xyz"))
            columns = (t, *(np.ascontiguousarray(path[:, k]) for k in range(3)))
            self.server.gui.add_uplot(columns, (uplot.Series(label="t [s]"), *lines), title=tip.label, aspect=1.6)
            energy = self.result.energy
            names = ("total", "elastic", "kinetic", "gravitational")
            lines = tuple(uplot.Series(label=f"{n} [J]", stroke=COLOURS[k], width=2) for k, n in enumerate(names))
            columns = (t, *(np.ascontiguousarray(energy[name]) for name in names))
            self.server.gui.add_uplot(columns, (uplot.Series(label="t [s]"), *lines), title="energy", aspect=1.6)

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
                self.props.move(self.result, self.picture, int(np.argmin(np.abs(t - moment))))
                serializer.insert_sleep(float((t[-1] - t[0]) / max(count - 1, 1)))
        return str(serializer.as_html())

    def _download(self, event: Any) -> None:
        if event.client is not None:
            event.client.send_file_download(f"{self.robot.name}.html", self._page().encode("utf-8"))


def _tip(robot: Robot) -> Frame:
    """The frame whose path is plotted: the tip of the last rod, or the last body."""
    rods = [part for part in robot.parts if isinstance(part, RodHandle)]
    return rods[-1].tip if rods else robot.parts[-1].root


# drive ----------------------------------------------------------------------------------------------------------------


def drive(
    robot: Robot,
    *,
    dt: float = 0.01,
    inputs: Mapping[str, Any] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    start: Any = None,
    host: str = "127.0.0.1",
    port: int = 8080,
) -> Driver:
    """Simulate a robot in real time in the browser; sliders drive its inputs.

    Args:
        robot: the robot.
        dt: time step [s].
        inputs: where the sliders begin: numbers, or functions of t [s] of which the value at 0 counts.
        limits: range of each slider, (lowest, highest); chosen from the stiffness of the rods if not given.
        start: an Equilibrium, coordinates q, or (q, v); the rest shape at rest if not given.
        host: address to listen on; the default is this machine only.
        port: port to listen on; the next free one if it is taken.

    Returns:
        The page; it runs until `close`.

    """
    as_positive(dt, "dt", "s")
    begin = {name: float(value(0.0)) if callable(value) else float(value) for name, value in (inputs or {}).items()}
    ranges = suggested_limits(robot)
    for name, length in _lines_by_length(robot).items():  # a tendon whose input is a length begins at the one it has
        begin.setdefault(name, length)
        ranges[name] = (0.7 * length, 1.1 * length)
    ranges |= dict(limits or {})
    return Driver(Stepper(robot, dt=dt, inputs=begin, start=start), begin, ranges, host, port)


def _lines_by_length(robot: Robot) -> dict[str, float]:
    """Lengths [m] at rest of the tendons whose input is their length."""
    names = [name for name, actuator in robot.actuators.items() if getattr(actuator, "by", "tension") == "length"]
    if not names:
        return {}
    system = System(robot)
    return {name: float(cable_length(system, name, np.zeros((1, system.size)))[0][0]) for name in names}


class Driver(Shown):
    """A robot driven in real time.

    Attributes:
        clock: the real-time loop, with its `pace`.
        sliders: the sliders by the names of the inputs.

    """

    def __init__(
        self, stepper: Stepper, begin: dict[str, float], limits: dict[str, tuple[float, float]], host: str, port: int
    ) -> None:
        self.stepper = stepper
        self.system = _observer(stepper.system)
        first = stepper.result(self.system)
        picture = scene(first, sections=SECTIONS, around=AROUND)
        server = _server(stepper.robot.name, host, port)
        super().__init__(server, Props(server, self.system.robot, picture), stepper.robot, host)
        self.tip, self.history = _tip(self.system.robot), np.zeros((0, 4))
        self.clock = RealTime(stepper, self._draw, RATE)
        self._drawn = 0.0
        self._controls(begin, limits)
        self._settings()
        self._plot()
        self.clock.start()

    def _controls(self, begin: dict[str, float], limits: dict[str, tuple[float, float]]) -> None:
        gui = self.server.gui
        self.sliders: dict[str, Any] = {}
        with gui.add_folder("Inputs"):
            for name in self.robot.actuators:
                low, high = limits[name]
                value = begin.get(name, 0.0)
                low, high = min(low, value), max(high, value)
                slider = gui.add_slider(name, min=low, max=high, step=(high - low) / 200.0, initial_value=value)
                slider.on_update(self._want(name))
                self.sliders[name] = slider
            if not self.sliders:
                gui.add_markdown("This robot has no actuators.")
            zero = gui.add_button("All to zero")
        with gui.add_folder("Simulation"):
            self.pause = gui.add_button("Pause")
            again = gui.add_button("Start again")
            self.report = gui.add_markdown("starting ...")
        zero.on_click(lambda _: self._zero())
        self.pause.on_click(lambda _: self._pause())
        again.on_click(lambda _: self.clock.restart())

    def _want(self, name: str) -> Any:
        def update(event: Any) -> None:
            self.clock.wanted[name] = float(event.target.value)

        return update

    def _zero(self) -> None:
        for name, slider in self.sliders.items():
            slider.value = float(np.clip(0.0, slider.min, slider.max))
            self.clock.wanted[name] = slider.value

    def _pause(self) -> None:
        self.clock.paused = not self.clock.paused
        self.pause.label = "Go on" if self.clock.paused else "Pause"

    def _plot(self) -> None:
        import viser.uplot as uplot

        lines = tuple(uplot.Series(label=f"{x} [m]", stroke=COLOURS[k], width=2) for k, x in enumerate("xyz"))
        with self.server.gui.add_folder("Plot"):
            self.chart = self.server.gui.add_uplot(
                tuple(np.zeros(2) for _ in range(4)),
                (uplot.Series(label="t [s]"), *lines),
                title=self.tip.label,
                aspect=1.6,
            )

    def _draw(self) -> None:
        with self._lock:
            result = self.stepper.result(self.system)
            picture: Scene = scene(result, sections=SECTIONS, around=AROUND)
            self.props.move(result, picture, 0)
            self._remember(result)

    def _remember(self, result: Trajectory) -> None:
        """Add to the plot, a few times a second."""
        now = time.perf_counter()
        if now - self._drawn < 0.2:
            return
        self._drawn = now
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


def _observer(system: System) -> System:
    """The robot compiled with a node at every drawn section, so that a picture needs no compilation."""
    robot, frames = system.robot, []
    for part in robot.parts:
        if isinstance(part, RodHandle):
            inner = [b for b in part.rod.section.breakpoints if b < part.length]
            X = np.unique(np.concatenate([np.linspace(0.0, part.length, enough_sections(part.rod, SECTIONS)), inner]))
            frames += [Frame(robot, part.index, float(x)) for x in X if 0.0 < x < part.length * (1.0 - 1e-12)]
    return system.observing(frames)
