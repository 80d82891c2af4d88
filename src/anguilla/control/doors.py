"""Doors through which another program, or a board on the bench, drives a twin: datagrams, or lines on a serial port.

Both carry JSON. A message with commands, ``{"inputs": {"left": 2.5}}``, is answered after the next step by one with the
state of the twin, ``{"t": 0.125, "readings": {"tip.x": 0.31, ...}, "inputs": {"left": 2.5}}``, or by ``{"error": "..."}``.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any, Protocol

from anguilla.errors import AnguillaError, refuse

__all__ = ["Door", "SerialDoor", "UdpDoor"]

LARGEST = 65_000  # bytes of a message


class Door(Protocol):
    """What a twin needs of a door."""

    def take(self) -> list[tuple[Any, bytes]]:
        """Messages that have arrived, each with who sent it; never waits."""

    def answer(self, who: Any, data: bytes) -> None:
        """Send a message back; one that cannot be sent is lost."""

    def close(self) -> None:
        """Close the door."""


class UdpDoor:
    """Datagrams on a UDP socket.

    Args:
        host: address to listen on; the default is this machine only.
        port: port to listen on; one that is free if zero.

    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((host, port))
        except OSError as error:
            self._socket.close()
            raise AnguillaError(f"the twin cannot listen on {host}:{port}: {error.strerror}.") from None
        self._socket.setblocking(False)
        self.port = int(self._socket.getsockname()[1])

    def take(self) -> list[tuple[Any, bytes]]:
        """Datagrams that have arrived, each with its sender's address."""
        found: list[tuple[Any, bytes]] = []
        while True:
            try:
                data, who = self._socket.recvfrom(LARGEST)
            except (BlockingIOError, ConnectionError):
                return found
            found.append((who, data))

    def answer(self, who: Any, data: bytes) -> None:
        """Send a datagram to an address; whoever is gone misses it."""
        try:
            self._socket.sendto(data, who)
        except OSError:
            return

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class SerialDoor:
    """Lines on a serial port, one message each; for boards that speak UART. Needs Linux or macOS.

    Args:
        path: the port, such as "/dev/ttyUSB0".
        baud: its speed [bit/s].

    """

    def __init__(self, path: str, baud: int = 115_200) -> None:
        self._file = _open_port(path, baud)
        self._rest = b""

    def take(self) -> list[tuple[Any, bytes]]:
        """Lines that are complete."""
        while len(self._rest) <= LARGEST:
            try:
                data = os.read(self._file, 4096)
            except (BlockingIOError, OSError):
                break  # nothing more has arrived, or the other side is unplugged
            if not data:
                break
            self._rest += data
        *lines, self._rest = self._rest.split(b"\n")
        if len(self._rest) > LARGEST:  # noise without an end
            self._rest = b""
        return [(None, line) for line in lines if line.strip()]

    def answer(self, who: Any, data: bytes) -> None:
        """Send a line; what the port cannot take at once is dropped, so that the loop stays in time."""
        try:
            os.write(self._file, data + b"\n")
        except (BlockingIOError, OSError):
            return

    def close(self) -> None:
        """Close the port."""
        os.close(self._file)


def _open_port(path: str, baud: int) -> int:
    """A serial port, opened raw and without waiting."""
    if sys.platform == "win32":
        raise AnguillaError("serial doors need Linux or macOS; on Windows use a UdpDoor.")
    import termios
    import tty

    speed = getattr(termios, f"B{baud}", None)
    if speed is None:
        known = sorted(int(name[1:]) for name in dir(termios) if name[:1] == "B" and name[1:].isdigit())
        raise refuse("baud", f"one of {', '.join(str(b) for b in known if b >= 9600)} bit/s", baud)
    try:
        port = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        raise AnguillaError(f"the serial port {path} cannot be opened: {error.strerror}.") from None
    try:
        tty.setraw(port)
        settings = termios.tcgetattr(port)
        settings[4] = settings[5] = speed
        termios.tcsetattr(port, termios.TCSANOW, settings)
    except termios.error:
        os.close(port)
        raise AnguillaError(f"{path} is not a serial port.") from None
    return port
