"""Timing and reporting shared by every simulator of the comparison. Needs NumPy only."""

import json
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Result of `work()` and its duration [s]: wall clock or processor time, whichever is smaller.

    On a busy machine the wall clock also counts the time of other programs, the processor time does not; the
    processor time counts every thread, the wall clock only once.
    """
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, min(time.perf_counter() - wall, time.process_time() - processor)


def record(
    *, peer: str, version: str, case: str, settings: dict, error: float, seconds: list[float], simulated: float, **extra
) -> dict:
    """The record that a script prints for one case: error as a share of the length, best time per simulated time."""
    return {
        "peer": peer,
        "version": version,
        "case": case,
        "settings": settings,
        "error": rounded(error),
        "seconds": [rounded(value) for value in seconds],
        "simulated": simulated,
        "ratio": rounded(min(seconds) / simulated),
        **extra,
    }


def rounded(value: float) -> float:
    """`value` with four significant digits."""
    return float(f"{value:.4g}")


def show(line: dict) -> None:
    """Print `line` as one line of JSON."""
    print(json.dumps(line), flush=True)
