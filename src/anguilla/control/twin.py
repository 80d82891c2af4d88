"""A robot that runs in real time: a loop at a fixed rate, and a door through which another program drives it.

The doors, and the messages that go through them, are in `control.doors`.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla._doors import public
from anguilla.control.doors import LARGEST, Door, UdpDoor
from anguilla.errors import AnguillaError, DescriptionError, SolverError, as_count, as_positive
from anguilla.solve.steps.stepper import Stepper

__all__ = ["FixedRate", "Timing", "Twin", "ask_twin"]

SPIN = 0.0005  # [s] before an instant at which sleeping ends and waiting begins


@dataclass
class Timing:
    """How well a loop kept its rate.

    Attributes:
        period: wanted time between two rounds [s].
        lateness: (rounds,) how late each round began [s].
        work: (rounds,) how long it took [s].

    """

    period: float
    lateness: NDArray[np.float64]
    work: NDArray[np.float64]

    @property
    def in_time(self) -> float:
        """Part of the rounds that were over before the next one was due."""
        return float(np.mean(self.lateness + self.work < self.period)) if len(self.work) else 1.0

    @property
    def jitter(self) -> float:
        """Standard deviation of the lateness [s]."""
        return float(np.std(self.lateness)) if len(self.lateness) else 0.0

    def __str__(self) -> str:
        if not len(self.work):
            return "no rounds"
        worst, share = 1e3 * float(np.max(self.lateness)), 100 * float(np.mean(self.work)) / self.period
        return (
            f"{len(self.work)} rounds at {1 / self.period:g} Hz: {100 * self.in_time:.2f} % in time, jitter "
            f"{1e3 * self.jitter:.3f} ms, latest {worst:.2f} ms, busy {share:.0f} % of the time"
        )


class FixedRate:
    """A loop at a fixed rate: ``for k in loop: ...`` begins its rounds on time; a late round does not move the next ones.

    Args:
        rate: rounds per second [Hz].
        rounds: how many.

    """

    def __init__(self, rate: float, rounds: int) -> None:
        self.period, self.rounds = 1.0 / as_positive(rate, "rate", "Hz"), as_count(rounds, "rounds")
        self._late: list[float] = []
        self._work: list[float] = []

    def __iter__(self) -> Iterator[int]:
        began = time.perf_counter()
        for k in range(self.rounds):
            due = began + k * self.period
            left = due - time.perf_counter()
            if left > SPIN:
                time.sleep(left - SPIN)
            while time.perf_counter() < due:
                pass
            start = time.perf_counter()
            self._late.append(start - due)
            yield k
            self._work.append(time.perf_counter() - start)

    @property
    def timing(self) -> Timing:
        """How well it kept its rate so far."""
        return Timing(self.period, np.array(self._late[: len(self._work)]), np.array(self._work))


class Twin:
    """A robot that is stepped in real time, in a thread of its own, and driven through a door.

    Args:
        stepper: the robot on its way; its dt is the period of the loop.
        door: a `UdpDoor`, which listens on this machine only unless told otherwise, or a `SerialDoor`.

    Attributes:
        port: of a UdpDoor.
        failure: why the robot could not be stepped further; empty if it could.
        timing: how well the loop kept its rate, when it has ended.

    """

    def __init__(self, stepper: Stepper, door: Door | None = None) -> None:
        self.stepper = stepper
        self._door = UdpDoor() if door is None else door
        self.port = self._door.port if isinstance(self._door, UdpDoor) else 0
        self.failure = ""
        self.timing: Timing | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        state = self.failure or ("running" if self._thread is not None and self._thread.is_alive() else "not running")
        place = f"port {self.port}" if self.port else type(self._door).__name__
        return f"<twin of {self.stepper.robot.name!r}: {1.0 / self.stepper.dt:g} Hz, {place}, {state}>"

    def __enter__(self) -> Twin:
        """Start to run."""
        self._thread = threading.Thread(target=self._run, name="twin", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(5.0)
        self._door.close()

    def _run(self) -> None:
        loop = FixedRate(1.0 / self.stepper.dt, 2**31)
        for _ in loop:
            if self._stop.is_set():
                break
            asked = [(who, self._obey(data)) for who, data in self._door.take()]
            try:
                self.stepper.step()
            except SolverError as error:
                self.failure = str(error)
            for who, problem in asked:
                self._answer(who, problem or self.failure)
            if self.failure:
                break
        self.timing = loop.timing

    def _obey(self, data: bytes) -> str:
        """Set the inputs of a message; what is wrong with it, if anything."""
        try:
            message = json.loads(data.decode("utf-8"))
        except (UnicodeDecodeError, ValueError, RecursionError):
            return 'a message must be JSON such as {"inputs": {"left": 2.5}}.'
        inputs = message.get("inputs", {}) if isinstance(message, dict) else None
        if not isinstance(inputs, dict):
            return 'a message must be JSON such as {"inputs": {"left": 2.5}}.'
        try:
            self.stepper.set_inputs(inputs)
        except DescriptionError as error:
            return str(error)
        return ""

    def _answer(self, who: Any, problem: str) -> None:
        stepper = self.stepper
        told: dict[str, Any] = {"error": problem}
        if not problem:
            readings = dict(zip(stepper.reading_labels, stepper.read().tolist(), strict=True))
            told = {"t": stepper.t, "readings": readings, "inputs": stepper.inputs}
        data = json.dumps(told).encode()
        if len(data) > LARGEST:
            data = json.dumps({"error": f"the answer has {len(data)} bytes, more than a message holds."}).encode()
        self._door.answer(who, data)


@public
def ask_twin(inputs: dict[str, float], port: int, host: str = "127.0.0.1", timeout: float = 1.0) -> dict[str, Any]:
    """Send commands to a twin and return its answer: its time, readings and inputs.

    Args:
        inputs: commands by name; {} only asks.
        port: of the twin.
        host: of the twin.
        timeout: how long to wait [s].

    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.settimeout(timeout)
        door.sendto(json.dumps({"inputs": inputs}).encode(), (host, port))
        try:
            answer: dict[str, Any] = json.loads(door.recvfrom(LARGEST)[0])
        except (TimeoutError, ConnectionError):
            raise AnguillaError(f"no twin answers at {host}:{port}.") from None
    if "error" in answer:
        raise AnguillaError(f"the twin refused: {answer['error']}")
    return answer
