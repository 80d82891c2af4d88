"""A simulation that keeps pace with the clock on the wall."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from anguilla.errors import AnguillaError
from anguilla.solve.steps.stepper import Stepper

__all__ = ["Pace", "RealTime"]

LATE = 0.25  # [s] behind the clock at which the simulation gives up catching up
PATIENCE = 0.02  # [s] of computing between two looks at the clock


@dataclass
class Pace:
    """How well a simulation kept pace.

    Attributes:
        simulated, elapsed: simulated time and wall time since it began [s].
        late: how far it is behind the clock now [s].
        worst: how far it has been behind at most [s].
        lost: time that was skipped because it could not be caught up [s].
        busy: part of the time spent computing and drawing [-].

    """

    simulated: float = 0.0
    elapsed: float = 0.0
    late: float = 0.0
    worst: float = 0.0
    lost: float = 0.0
    busy: float = 0.0

    @property
    def factor(self) -> float:
        """Simulated time per wall time [-]; 1 is real time."""
        return self.simulated / self.elapsed if self.elapsed > 0.0 else 1.0

    def __str__(self) -> str:
        lost = f", skipped {self.lost:.2f} s" if self.lost else ""
        return (
            f"{self.factor:.2f} x real time, late by {1e3 * self.late:.0f} ms (at most {1e3 * self.worst:.0f} ms){lost}"
        )


class RealTime:
    """Steps at a fixed rate in a thread of its own: as many steps as the clock asks for, then one picture.

    Args:
        stepper: the motion.
        draw: called after the steps of every picture.
        rate: pictures per second [1/s].
        tell: called with the text of the error that stops the motion.

    Attributes:
        wanted: inputs for the next steps, by name; change them at any time.
        paused: True stops the clock.
        failure: the text of the error that stopped the motion, or "".

    """

    def __init__(
        self, stepper: Stepper, draw: Callable[[], None], rate: float = 30.0, tell: Callable[[str], object] = str
    ) -> None:
        self.stepper, self.draw, self.period, self.tell = stepper, draw, 1.0 / rate, tell
        self.wanted: dict[str, float] = {}
        self.paused = False
        self.speed = 1.0
        self.failure = ""
        self.pace = Pace()
        self._again = False
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="anguilla-realtime", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for it."""
        self._end.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)

    def restart(self) -> None:
        """Go back to the start of the motion."""
        self._again = True

    def _run(self) -> None:
        try:
            self._keep_pace()
        except Exception as error:  # whatever it is, the one who watches is told
            self._fail(f"{type(error).__name__}: {error}")

    def _fail(self, failure: str) -> None:
        self.failure = failure
        self.tell(failure)

    def _try_first_step(self) -> None:
        """Load the kernels before the clock starts."""
        try:
            self.stepper.step(1, dict(self.wanted))
            self.stepper.reset()
        except AnguillaError as error:
            self._fail(str(error))

    def _keep_pace(self) -> None:
        self._try_first_step()
        began = last = time.perf_counter()
        due, busy = 0.0, 0.0  # simulated time the clock asks for; time spent working
        self.pace = Pace()
        while not self._end.is_set():
            now = time.perf_counter()
            if self._again:
                self._again, self.failure, due, busy, began = False, "", 0.0, 0.0, now
                self._begin_again()
            moving = not self.paused and not self.failure
            if moving:
                due += (now - last) * self.speed
            else:
                began += now - last
            last = now
            if moving:
                self._advance(due)
                behind = due - self.stepper.t
                if behind > LATE * max(self.speed, 1.0):
                    self.pace.lost += behind
                    due = self.stepper.t
                self._note(behind - self.stepper.dt, now - began, busy)
            self.draw()
            busy += time.perf_counter() - now
            self._end.wait(max(0.0, self.period - (time.perf_counter() - now)))

    def _begin_again(self) -> None:
        self.pace = Pace()
        try:
            self.stepper.set_inputs(dict(self.wanted))  # before the first acceleration is found
            self.stepper.reset()
        except AnguillaError as error:
            self._fail(str(error))

    def _advance(self, due: float) -> None:
        """Do the steps that are due, or as many as fit between two pictures."""
        until = time.perf_counter() + max(PATIENCE, self.period)
        try:
            while self.stepper.t + self.stepper.dt <= due and time.perf_counter() < until:
                self.stepper.step(1, dict(self.wanted))
        except AnguillaError as error:
            self._fail(str(error))

    def _note(self, behind: float, elapsed: float, busy: float) -> None:
        pace = self.pace
        pace.simulated, pace.elapsed = self.stepper.t, max(elapsed * self.speed, 1e-9)
        pace.late = max(behind, 0.0)
        pace.worst = max(pace.worst, pace.late)
        pace.busy = busy / max(elapsed, 1e-9)
