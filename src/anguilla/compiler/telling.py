"""Tells people that kernels are being compiled, and how long it may take: a line that moves on a terminal, else one line."""

from __future__ import annotations

import os
import sys
import threading
import time

__all__ = ["ahead", "began", "cost", "ended", "say_once"]

# Processor time on a core of 2024 [s]; kernels that are not named here take a moment.
COSTS = {
    "evaluate.linearise": 15.0, "stepping.run": 15.0, "sweep.sweep_back": 6.0, "evaluate.more_columns": 5.0,
    "evaluate.more_tangents": 4.5, "evaluate.descend": 4.0, "evaluate.ascend": 4.0, "evaluate.more_forces": 2.0,
    "copying.run_copies": 2.0,
}  # fmt: skip
MOMENT, WORTH_TELLING, TICK = 0.2, 3.0, 0.5  # [s]
_LOCK = threading.Lock()
_AHEAD: dict[str, float] = {}
_RUNNING: dict[str, float] = {}
_SAID: set[str] = set()
_TOLD: list[threading.Event] = []
_PACE, _TEAM = [1.0], [1]


def say_once(text: str) -> None:
    """A line, once in a process."""
    if text not in _SAID and os.environ.get("ANGUILLA_COMPILING") != "silent":
        _SAID.add(text)
        print(f"anguilla: {text}", file=sys.stderr, flush=True)


def cost(name: str) -> float:
    """What a kernel takes [s], about."""
    return COSTS.get(name, MOMENT)


def ahead(*names: str, processes: int = 1) -> None:
    """Kernels that will be compiled, by so many processes."""
    with _LOCK:
        _TEAM[0] = processes
        _AHEAD.update({name: cost(name) for name in names})


def began(name: str) -> None:
    """A kernel is being compiled, or waited for."""
    with _LOCK:
        _AHEAD[name] = cost(name)
        _RUNNING[name] = time.monotonic()
        total = sum(_AHEAD.values()) / _TEAM[0]
        if total < WORTH_TELLING or os.environ.get("ANGUILLA_COMPILING") == "silent":
            return
        if sys.stderr is None or not sys.stderr.isatty():
            if not _TOLD:
                _TOLD.append(threading.Event())
                print(f"anguilla: compiling kernels, about {total:.0f} s; they are kept.", file=sys.stderr, flush=True)
        elif not _TOLD or _TOLD[-1].is_set():
            _TOLD.append(threading.Event())
            threading.Thread(target=_show, args=(_TOLD[-1],), daemon=True).start()


def ended(name: str) -> None:
    """A kernel is there."""
    with _LOCK:
        usual, start = _AHEAD.pop(name, 0.0), _RUNNING.pop(name, None)
        if start is not None and usual > 1.0:
            _PACE[0] = max(0.3, (time.monotonic() - start) / usual)
        if not _AHEAD and _TOLD:
            _TOLD[-1].set()


def left() -> float:
    """Time that is left [s], from what has been seen of this machine."""
    now = time.monotonic()
    with _LOCK:
        each = {name: _PACE[0] * usual for name, usual in _AHEAD.items()}
        alone = sum(max(0.0, usual - (now - _RUNNING.get(name, now))) for name, usual in each.items())
        return alone / _TEAM[0]


def _show(done: threading.Event) -> None:
    start = time.monotonic()
    most = 0.0
    while not done.wait(TICK):
        remaining, spent = left(), time.monotonic() - start
        most = max(most, spent / max(spent + remaining, 1e-9))
        bar = "#" * round(20 * most)
        text = f"compiling kernels, once  [{bar:<20}]  {spent:.0f} s, about {remaining:.0f} s left"
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()
    sys.stderr.write("\r\033[K")
    sys.stderr.flush()
