"""What the scripts of PyElastica share: the timed loop of steps."""

import math
import sys
from collections.abc import Callable
from pathlib import Path

import elastica
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measure import aside, timed


def march(
    simulator: elastica.BaseSystemCollection,
    read: Callable[[], np.ndarray],
    *,
    until: float,
    step: float,
    samples: int,
    first: float,
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Times (m,) [s], what `read` gave at them (m, ...), the seconds it took and those of the first step, which compiles.

    `first` is the length of that step [s], so short that it changes nothing. RuntimeError when the motion blows up.
    """
    stepper = elastica.PositionVerlet()
    _, compiling = aside(lambda: timed(lambda: stepper.step(simulator, np.float64(0.0), np.float64(first))))
    steps = math.ceil(until / step)
    exact, every = np.float64(until / steps), max(1, steps // samples)
    t, found = [0.0], [read()]

    def loop() -> None:
        now = np.float64(0.0)
        for k in range(steps):
            now = stepper.step(simulator, now, exact)
            if (k + 1) % every == 0 or k == steps - 1:
                t.append(float(now))
                found.append(read())
                if not np.isfinite(found[-1]).all():
                    raise RuntimeError(f"the motion blew up at t = {now:.3g} s")

    _, seconds = timed(loop)
    return np.array(t), np.array(found), seconds, compiling
