"""Timing and reporting shared by every simulator of the comparison. Needs NumPy only."""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np

Result = TypeVar("Result")


SHORT = 0.02  # [s] work that is over before another program gets the processor: its clock may stand still so long


WARM = 0.25  # [s] that short work is repeated: the best of a few runs of a fraction of a millisecond is that of a cold processor


def repeats(count: int) -> Iterator[int]:
    """Numbers of the runs: `count`, and more of short ones until a quarter of a second is over; one if one is asked for."""
    began, k = time.perf_counter(), 0
    while k < count or (count > 1 and time.perf_counter() - began < WARM):
        yield k
        k += 1


def looped(work: Callable[[], Result], loop: Callable[[Result], float]) -> tuple[Result, float, float]:
    """Result of `work()`, the seconds of its loop and of the whole call, as `timed` measures them.

    loop(result) are the seconds of the loop that the work itself measures, by the wall clock; they count, but no more of them
    than of the whole. (Its share of the whole would not do: a pause outside of the loop makes that as small as one likes.)
    """
    result, whole = timed(work)
    return result, min(loop(result), whole), whole


class Stretch(NamedTuple):
    """Seconds by the wall clock, and of the processor."""

    wall: float
    processor: float

    def __sub__(self, other: "Stretch") -> "Stretch":
        return Stretch(self.wall - other.wall, self.processor - other.processor)

    @property
    def seconds(self) -> float:
        """Wall clock or, of long work, processor time if that is smaller.

        On a busy machine the wall clock also counts the time of other programs, the processor time does not; the
        processor time counts every thread, the wall clock only once.
        """
        return self.wall if self.wall < SHORT else min(self)


def now() -> Stretch:
    """Both clocks."""
    return Stretch(time.perf_counter(), time.process_time())


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Result of `work()` and its duration [s] (`Stretch.seconds`)."""
    began = now()
    result = work()
    return result, (now() - began).seconds


_ASIDE = [Stretch(0.0, 0.0)]  # that the present call spent on what is not in it


def aside(work: Callable[[], Result]) -> Result:
    """Result of `work()`, whose time is not that of the whole call: the start of a motion, compilation."""
    began = now()
    result = work()
    spent = now() - began
    _ASIDE[0] = Stretch(_ASIDE[0].wall + spent.wall, _ASIDE[0].processor + spent.processor)
    return result


def whole_call(work: Callable[[], Result]) -> tuple[Result, float]:
    """Result of `work()` and the seconds of the call a user makes: description, motion, reading; without what is `aside`.

    What is aside is taken from each clock by itself: the difference of two clocks would say nothing.
    """
    _ASIDE[0] = Stretch(0.0, 0.0)
    began = now()
    result = work()
    return result, (now() - began - _ASIDE[0]).seconds


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


def attempt(
    label: dict,
    run: Callable[[], tuple],
    error: Callable[[np.ndarray, np.ndarray], float],
    *,
    repeat: int,
    simulated: float,
    failures: tuple[type[Exception], ...] = (RuntimeError,),
    **extra,
) -> dict:
    """The record of `repeat` calls of `run`, or one that says why it failed.

    A run gives its times (m,) [s], what was followed (m, ...), its seconds and, where it compiles, the seconds of that.
    `label` has the peer, version, case and settings; `error(times, followed)` judges the first run. `whole_seconds` are those
    of the whole run, from the description to what was followed, but for what it does `aside`.
    """
    try:
        calls = [whole_call(run) for _ in repeats(repeat)]
    except failures as failure:
        return {**label, "failure": str(failure)}
    runs = [found for found, _ in calls]
    t, followed, _, *compiling = runs[0]
    compiled = {"compile_seconds": rounded(compiling[0])} if compiling else {}
    compiled["whole_seconds"] = rounded(min(seconds for _, seconds in calls))
    seconds = [taken for _, _, taken, *_ in runs]
    return record(**label, error=error(t, followed), seconds=seconds, simulated=simulated, **compiled, **extra)


def rounded(value: float) -> float:
    """`value` with four significant digits."""
    return float(f"{value:.4g}")


def exponent(sizes: list[float], times: list[float]) -> float:
    """Power of the size with which the time grows: slope of a line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def parser_of(text: str, *, repeat: int) -> argparse.ArgumentParser:
    """The parser of a script whose docstring is `text`, with the number of runs."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=repeat)
    return parser


def show(line: dict) -> None:
    """Print `line` as one line of JSON."""
    print(json.dumps(line), flush=True)
