"""A robot that runs in real time: a loop at a fixed rate, and a door through which another program drives it.

The door is a UDP socket that speaks JSON, on this machine only unless told otherwise. A datagram with commands,
``{"inputs": {"left": 2.5}}``, is answered after the next step by one with the state of the twin,
``{"t": 0.125, "readings": {"tip.x": 0.31, ...}, "inputs": {"left": 2.5}}``, or by ``{"error": "..."}``.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla._doors import public
from anguilla.errors import AnguillaError, DescriptionError, SolverError, as_count, as_positive
from anguilla.solve.steps.stepper import Stepper

__all__ = ["FixedRate", "Timing", "Twin", "ask_twin"]

LARGEST = 65_000  # bytes of a datagram
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


@dataclass
class Twin:
    """A robot that is stepped in real time, in a thread of its own, and driven through a UDP door.

    Args:
        stepper: the robot on its way; its dt is the period of the loop.
        host: address to listen on; the default is this machine only.
        port: port to listen on; one that is free if zero.

    """

    stepper: Stepper
    host: str = "127.0.0.1"
    port: int = 0
    failure: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((self.host, self.port))
        except OSError as error:
            self._socket.close()
            raise AnguillaError(f"the twin cannot listen on {self.host}:{self.port}: {error.strerror}.") from None
        self._socket.setblocking(False)
        self.port = int(self._socket.getsockname()[1])
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.timing: Timing | None = None

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
        self._socket.close()

    def _run(self) -> None:
        loop = FixedRate(1.0 / self.stepper.dt, 2**31)
        for _ in loop:
            if self._stop.is_set():
                break
            asked = self._take_commands()
            try:
                self.stepper.step()
            except SolverError as error:
                self.failure = str(error)
            for address, problem in asked:
                self._answer(address, problem or self.failure)
            if self.failure:
                break
        self.timing = loop.timing

    def _take_commands(self) -> list[tuple[Any, str]]:
        """Set the inputs that arrived; who asked, and what was wrong."""
        found: list[tuple[Any, str]] = []
        while True:
            try:
                data, address = self._socket.recvfrom(LARGEST)
            except (BlockingIOError, ConnectionError):
                return found
            found.append((address, self._obey(data)))

    def _obey(self, data: bytes) -> str:
        """Set the inputs of a datagram; what is wrong with it, if anything."""
        try:
            message = json.loads(data.decode("utf-8"))
        except (UnicodeDecodeError, ValueError, RecursionError):
            return 'a datagram must be JSON such as {"inputs": {"left": 2.5}}.'
        inputs = message.get("inputs", {}) if isinstance(message, dict) else None
        if not isinstance(inputs, dict):
            return 'a datagram must be JSON such as {"inputs": {"left": 2.5}}.'
        try:
            self.stepper.set_inputs(inputs)
        except DescriptionError as error:
            return str(error)
        return ""

    def _answer(self, address: Any, problem: str) -> None:
        stepper = self.stepper
        told: dict[str, Any] = {"error": problem}
        if not problem:
            readings = dict(zip(stepper.reading_labels, stepper.read().tolist(), strict=True))
            told = {"t": stepper.t, "readings": readings, "inputs": stepper.inputs}
        data = json.dumps(told).encode()
        if len(data) > LARGEST:
            data = json.dumps({"error": f"the answer has {len(data)} bytes, more than a datagram holds."}).encode()
        try:
            self._socket.sendto(data, address)
        except OSError:
            return  # whoever asked is gone


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
