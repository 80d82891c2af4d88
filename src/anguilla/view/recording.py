"""What a driven robot did, as a motion to be played, saved or sent."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from anguilla.errors import AnguillaError
from anguilla.results.states import Status, Trajectory
from anguilla.view.page import page_of
from anguilla.view.video import write_video

__all__ = ["Recording"]

LONGEST = 120.0  # [s]; what came before is forgotten


class Recording:
    """Pictures of a driven robot, one state each.

    Attributes:
        states: the states so far, each a motion of one instant.

    """

    def __init__(self) -> None:
        self.states: list[Trajectory] = []

    def add(self, state: Trajectory) -> None:
        """Keep a state if time has passed; begin again if it has been turned back."""
        if self.states and state.t[0] < self.states[-1].t[0]:
            self.states = []
        if not self.states or state.t[0] > self.states[-1].t[0]:
            self.states.append(state)
        while self.states[-1].t[0] - self.states[0].t[0] > LONGEST:
            self.states.pop(0)

    def motion(self) -> Trajectory:
        """The states as one motion that begins at 0 s, with the inputs they had."""
        if len(self.states) < 2:
            raise AnguillaError("nothing was recorded: let the robot move first.")
        first = self.states[0]
        t = np.array([state.t[0] for state in self.states])
        q, v = (np.concatenate([getattr(state, name) for state in self.states]) for name in ("q", "v"))
        lam = np.concatenate([state.stored.lam for state in self.states])
        names = {name for state in self.states for name in state.inputs}
        told = {
            name: np.array([state.inputs.get(name, 0.0) for state in self.states], dtype=np.float64) for name in names
        }
        inputs = {name: between(t - t[0], values) for name, values in told.items()}
        return Trajectory(first.robot, first.system, Status(True, "recorded"), t - t[0], q, v, None, lam, inputs)

    def page(self) -> bytes:
        """The motion as a page that plays it."""
        return page_of(self.motion()).encode("utf-8")

    def video(self) -> bytes:
        """The motion as a video, .mp4."""
        with tempfile.TemporaryDirectory() as folder:
            return write_video(self.motion(), Path(folder) / "recording.mp4").read_bytes()


def between(times: np.ndarray, values: np.ndarray) -> Callable[[float], float]:
    """A function of t [s] with straight lines between values."""
    return lambda t: float(np.interp(t, times, values))
