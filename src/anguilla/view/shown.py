"""What pages in the browser (viser) share: the server, the switches, plots."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.describe import Frame, Robot, RodHandle
from anguilla.errors import AnguillaError, require
from anguilla.view.guard import Guard
from anguilla.view.painting import QUANTITIES
from anguilla.view.props import Props, rgb
from anguilla.view.style import COLOURS

__all__ = [
    "AROUND",
    "RATE",
    "SECTIONS",
    "Page",
    "Shown",
    "add_chart",
    "open_server",
    "plotted_tip",
    "screenshot",
    "stop",
]

Array = NDArray[np.float64]
SECTIONS, AROUND = 32, 24
RATE = 30.0  # pictures per second


class Page:
    """A page in the browser.

    Attributes:
        address: what to open in a browser; it has the token in it, without which the page is not served.
        server: the viser server, for additions of one's own.

    """

    def __init__(self, server: Any, address: str) -> None:
        self.server = server
        self.address = address
        self._end = threading.Event()
        self._lock = threading.RLock()

    def wait(self, seconds: float | None = None) -> None:
        """Return after so many seconds [s], or when the page is closed by `close`."""
        self._end.wait(seconds)

    def close(self) -> None:
        """End the page."""
        self._end.set()
        stop(self.server)


class Shown(Page):
    """A page with a robot that is being shown.

    Attributes:
        address: what to open in a browser.
        server: the viser server, for additions of one's own.

    """

    def __init__(self, server: Any, props: Props, robot: Robot, address: str) -> None:
        super().__init__(server, address)
        self.props, self.robot = props, robot

    def _settings(self) -> None:
        """Switches for what is drawn, and a button for a picture."""
        gui = self.server.gui
        with gui.add_folder("Show"):
            for name in self.props.show:
                box = gui.add_checkbox(name.capitalize(), initial_value=self.props.show[name])
                box.on_update(self._switch(name))
            if self.props.paint.rods:
                names = ("none", *QUANTITIES)
                colour = gui.add_dropdown("Colour", names, initial_value="none", hint="What the colours of rods show.")
                colour.on_update(self._colour)
                self._legend = gui.add_markdown("", visible=False)
            picture = gui.add_button("Screenshot", hint="Download a picture of what you see.")
        picture.on_click(screenshot)

    def _colour(self, event: Any) -> None:
        """Colour rods by the chosen quantity."""
        chosen = str(event.target.value)
        with self._lock:
            self.props.paint.choose("" if chosen == "none" else chosen)
            self._draw()
            self._legend.visible = chosen != "none"
            self._tell_colours()

    def _tell_colours(self) -> None:
        """Say what the colours mean, if that has changed."""
        paint = self.props.paint
        if paint.quantity and self._legend.content != paint.legend:
            self._legend.content = paint.legend

    def _switch(self, name: str) -> Any:
        def update(event: Any) -> None:
            with self._lock:
                self.props.show[name] = bool(event.target.value)
            self._draw()

        return update

    def _draw(self) -> None:
        raise NotImplementedError


def screenshot(event: Any) -> None:
    """Send a picture of what the browser shows to the one who asked."""
    from PIL import Image

    if event.client is None:
        return
    picture = event.client.get_render(height=1080, width=1920)
    stream = BytesIO()
    Image.fromarray(picture).save(stream, format="png")
    event.client.send_file_download("anguilla.png", stream.getvalue())


def open_server(title: str, host: str, port: int) -> tuple[Any, str]:
    """A viser server in our style, guarded, and the address to open."""
    viser = require("viser", "the viewer needs", "view")
    guard = Guard(host, f"Anguilla - {title}")
    with redirect_stdout(StringIO()), guard.installed():  # its greeting; the address is told by our own commands
        server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    try:
        guard.verify(server)
    except AnguillaError:
        stop(server)
        raise
    server.gui.configure_theme(
        control_layout="floating",
        control_width="medium",
        show_logo=False,
        show_share_button=False,
        brand_color=rgb(COLOURS[0]),
    )
    server.gui.set_panel_label(title)
    return server, guard.address(server.get_port())


def stop(server: Any) -> None:
    """End a server without its farewell."""
    with redirect_stdout(StringIO()):
        server.stop()


def add_chart(server: Any, columns: tuple[Array, ...], labels: Sequence[str], title: str) -> Any:
    """Add a plot over time; the first of the columns is t [s], and each other one has a label."""
    import viser.uplot as uplot

    lines = tuple(uplot.Series(label=label, stroke=COLOURS[k], width=2) for k, label in enumerate(labels))
    seconds = {"x": uplot.Scale(time=False)}  # or the axis shows dates
    named = (uplot.Axis(label="t [s]", labelSize=18), uplot.Axis())
    series = (uplot.Series(label="t [s]"), *lines)
    return server.gui.add_uplot(columns, series, title=title, aspect=1.6, scales=seconds, axes=named)


def plotted_tip(robot: Robot) -> Frame:
    """The frame whose path is plotted: the tip of the last rod, or the last body."""
    rods = [part for part in robot.parts if isinstance(part, RodHandle)]
    return rods[-1].tip if rods else robot.parts[-1].root
