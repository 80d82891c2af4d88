"""A robot in the browser whose states come from a loop of one's own."""

from __future__ import annotations

from anguilla.results.states import Equilibrium, Trajectory
from anguilla.view.props import Props
from anguilla.view.scene import scene
from anguilla.view.shown import AROUND, SECTIONS, Shown, open_server

__all__ = ["Monitor"]


class Monitor(Shown):
    """A page that shows the state it was last given.

    Args:
        first: what to begin with; of a trajectory its first instant.
        host: address to listen on; the default is this machine only.
        port: port to listen on; the next free one if it is taken.

    """

    def __init__(self, first: Trajectory | Equilibrium, *, host: str = "127.0.0.1", port: int = 8080) -> None:
        self._result = first
        picture = scene(first, sections=SECTIONS, around=AROUND)
        server, address = open_server(first.robot.name, host, port)
        super().__init__(server, Props(server, first.robot, picture), first.robot, address)
        self._settings()

    def show(self, result: Trajectory | Equilibrium) -> None:
        """Show another state of the same robot."""
        with self._lock:
            self._result = result
            self._draw()

    def _draw(self) -> None:
        picture = scene(self._result, sections=SECTIONS, around=AROUND)
        self.props.move(self._result, picture, 0)
