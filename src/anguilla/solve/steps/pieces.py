"""A time step in pieces: when it fails as a whole, or to keep its error below a goal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anguilla.mechanics.tree import Floats, Ints
from anguilla.solve.newton.rules import CONVERGED, ENDLESS, IMPACT, TOO_STRICT

if TYPE_CHECKING:
    from anguilla.solve.steps.motion import OngoingMotion

FINEST = 16  # the shortest piece of a failed step is dt / 2^16
CALM, CALMEST = 4, 1024  # pieces in a row, at least and at most, before longer ones are tried
BOUNCE = 16  # the same for an impact, which takes about so many of the longest pieces that follow it
# of the memory: pieces are dt / 2^level; pieces before longer ones are tried; last level that served; steps cut so far where
# Newton failed; 1 while pieces are short because of an impact alone
LEVEL, PATIENCE, GOOD, CUT, STRUCK = range(5)
MANY = 0.1  # part of the steps that may be cut without a word
# Newton's iterations that a step may take on average (whole ones take 3 to 10), in pieces and with an error goal, and the
# least number of steps that the average is taken over: what takes more hardly ends, and has not been seen to end right
LABOUR, CONTROLLED_LABOUR, FEW = 500, 5000, 100
SAMPLES, PULSE = 17, 0.3  # a step is too long if a load leaves the line between its ends by this part of its size


def fresh_cutting() -> Ints:
    """The memory of a motion whose steps have not failed."""
    return np.array([0, CALM, 0, 0, 0], dtype=np.int64)


def whole(m: OngoingMotion) -> bool:
    """Whether the next step may be tried as a whole."""
    return m.cutting.item(LEVEL) == 0


def cut(m: OngoingMotion, t: float, dt: float, status: int = CONVERGED) -> int:
    """One step of length dt in pieces, shorter after a failure, longer again after some that were good.

    A motion with fast and slow parts so gets short steps while the fast ones last. `status` is that of the whole step, if it
    was tried. Returns Newton's status; on failure the state is that at t.
    """
    saved = [array.copy() for array in m.state]
    level, patience, good, count, struck = (int(x) for x in m.cutting)
    if status != CONVERGED:
        struck = status == IMPACT
        patience = BOUNCE if struck else patience
    level = max(level, 1)
    ticks, done, deepest = 2**FINEST, 0, 0
    while done < ticks:
        size = ticks >> level
        many = patience + (patience + done // size) % 2  # so that pieces twice as long fit behind them
        reached, status = m.steps(t + dt * done / ticks, dt / 2**level, min(many, (ticks - done) // size))
        done += reached * size
        m.substeps += reached
        if done < ticks and m.labour > min(max(m.allowed, LABOUR * m.passed), m.limit):
            m.restore(saved)
            return ENDLESS
        if status != CONVERGED:
            if level == FINEST:
                m.restore(saved)
                return status
            struck = struck or status == IMPACT  # Newton fails too in steps that are longer than an impact
            calm = BOUNCE if status == IMPACT else CALM
            patience = min(2 * patience, CALMEST) if level < good and status != IMPACT else calm
            level += 1
            continue
        if level < good:
            patience = CALM  # longer pieces serve
        good, deepest = level, max(deepest, level)
        if done % (2 * size) == 0:
            level -= 1
        if done < ticks:
            level = max(level, 1)
    m.cutting[:] = level, patience, good, count + (not struck), int(struck)
    if not struck:
        m.pieces.append((t, dt / 2**deepest))
    return CONVERGED


def controlled_step(
    m: OngoingMotion, t: float, end: float, h: float, goal: float, largest: Floats
) -> tuple[float, int]:
    """From t to `end` in steps whose local error, (beta - 1/6) h^2 (a1 - a0), stays below the goal.

    The loads of a step are looked at in between too, so that a pulse shorter than the step is not missed; `largest` is what
    was seen of them. Returns (the step to go on with, status), starting with steps of h.
    """
    factor, weight, dt = abs(m.scheme.beta - 1.0 / 6.0), m.system.tree.scale, end - t
    while end - t > 1e-9 * dt:
        if m.labour > CONTROLLED_LABOUR * max(FEW, m.passed):
            return h, ENDLESS
        pieces = max(1, int(np.ceil((end - t) / h - 1e-9)))
        trial = (end - t) / pieces
        if _hides_a_pulse(m, t, trial, largest):
            h = 0.5 * trial
            continue
        saved = [array.copy() for array in m.state]
        _, status = m.steps(t, trial, 1)
        size = np.inf
        if status == CONVERGED:
            size = factor * trial**2 * float(np.linalg.norm((m.a - saved[2]) * weight))
        if size > goal:
            m.restore(saved)
            shrink = 0.5 if not np.isfinite(size) else max(0.2, 0.9 * (goal / size) ** (1.0 / 3.0))
            h = trial * shrink
            if h < 1e-9 * dt:
                return h, TOO_STRICT if status == CONVERGED else status
            continue
        m.substeps += 1
        t += trial
        h = min(dt, trial * min(2.0, 0.9 * (goal / max(size, 1e-300)) ** (1.0 / 3.0)))
    return h, CONVERGED


def _hides_a_pulse(m: OngoingMotion, t: float, h: float, largest: Floats) -> bool:
    """Whether a load leaves the straight line between its values at the ends of a step; `largest` is what was seen."""
    if h < 1e-6:
        return False
    x = np.linspace(0.0, 1.0, SAMPLES)
    sampled = m.loads(t + h * x)
    if not len(sampled.column):
        return False
    table, seen = sampled.table, largest[sampled.column]
    seen = np.maximum(seen, np.max(np.abs(table), axis=0, initial=0.0))
    largest[sampled.column] = seen
    line = table[0] + x[:, None] * (table[-1] - table[0])
    return bool(np.any(np.max(np.abs(table - line), axis=0, initial=0.0) > PULSE * np.maximum(seen, 1e-300)))
