"""A motion once more with shorter steps, to see what its own steps miss: the judge's last word where there is doubt.

Steps are half as long, and much shorter at rough starts: those are where accelerations are eased, Newton's corrections halved
or steps cut, at the beginning and behind jumps of loads. What goes wrong there is of first order, or not of any. They are
much shorter everywhere if many steps of the motion had to be cut: halves may be cut into the same pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from anguilla.errors import SolverError
from anguilla.mechanics.tree import Floats
from anguilla.solve.newton.newton import STARTING
from anguilla.solve.newton.rules import CONVERGED
from anguilla.solve.steps.marching import across, in_blocks
from anguilla.solve.steps.pieces import CUT
from anguilla.solve.steps.stepping import stored

if TYPE_CHECKING:
    from anguilla.results.states import Trajectory
    from anguilla.solve.steps.motion import OngoingMotion

HALF = 2  # pieces of a step
# part of the steps that were cut in pieces, above which halves would be cut into the same ones; pieces then
MOSTLY, CUT_AGAIN = 0.25, 8
# pieces of the steps after a rough start; where a joint snapped, eighths of the first one went wrong as the whole did
ROUGH, SHARP = (8, 4, 4), (64, 8, 4)
FINER, FINEST_AGAIN = 4, 128  # pieces of a step that was cut, for each it was cut into, and at most
MANY = 40  # pieces, for each step of the motion, into which Newton may force shorter steps before they are given up
WORK = 20  # times the iterations of the motion that shorter steps may take, for each piece into which they cut a step
TOGETHER = 8  # steps that are done at once at first, and each time twice as many: most doubts are settled early


def finer(
    motion: OngoingMotion,
    run: Trajectory,
    dt: float,
    rough: bool,
    shorter: int = 1,
    recut: bool = False,
    sharp: bool = False,
    parts: int = 1,
) -> Iterator[tuple[int, Floats]]:
    """Number of the first step and states (steps, n) at the ends of some steps, again and again until the end.

    Args:
        motion: that of the run.
        run: the motion, with all its steps stored.
        dt: its step [s].
        rough: whether starts need care.
        shorter: into how many steps each of the shorter ones is cut.
        recut: whether steps that were cut have pieces shorter than those.
        sharp: whether the first steps after a start are shorter still.
        parts: of the motion, done one after the other at least.

    Raises:
        SolverError: where shorter steps fail.

    """
    again = motion.again()
    again.restart(run.q[0], run.v[0])
    again.limit = WORK * shorter * motion.labour
    plan = _plan(motion, len(run.t) - 1, dt, rough, shorter, recut, SHARP if sharp else ROUGH, parts)
    again.begin(0.0, dt / plan[0][2])
    again.settle(0.0, dt / plan[0][2])
    jumps = {jump.step for jump in motion.jumps}
    before = plan[0][2]
    for begin, end, pieces in plan:
        if pieces < before:  # longer steps cannot follow all that shorter ones did
            again.memory.memory[STARTING] = again.smooth
        before = pieces
        if again.substeps > MANY * shorter * len(run.t):
            raise SolverError("Shorter steps take too long.")
        if begin in jumps:
            yield begin, _over_a_jump(again, motion, begin, dt, pieces)
        else:
            yield begin, _some_steps(again, begin, end, dt, pieces)


def seen(motion: OngoingMotion, steps: int, rough: bool, shorter: int = 1) -> float:
    """Part of the error of a motion that the difference to shorter steps shows.

    Errors of second order are seen but for a quarter by halves of steps. After a rough start, most arise where steps are much
    shorter, and are seen whole: between the two.
    """
    if rough and motion.cutting[CUT] > MOSTLY * steps:
        return 1.0 - 1.0 / (shorter * CUT_AGAIN) ** 2
    hidden = 1.0 / 7.0 if rough else 1.0 / HALF**2
    return 1.0 - hidden / shorter**2


def _plan(
    motion: OngoingMotion,
    steps: int,
    dt: float,
    rough: bool,
    shorter: int,
    recut: bool,
    start_pieces: tuple[int, ...],
    parts: int,
) -> list[tuple[int, int, int]]:
    """(first step, that behind the last, pieces of each) in order; steps with jumps stand alone."""
    pieces = np.full(steps, CUT_AGAIN if rough and motion.cutting[CUT] > MOSTLY * steps else HALF)
    jumps = sorted({jump.step for jump in motion.jumps if 0 <= jump.step < steps})
    if rough:
        for start in [0, *jumps, *(jump + 1 for jump in jumps)]:
            part = pieces[start : start + len(start_pieces)]
            part[:] = np.maximum(part, start_pieces[: len(part)])
    for t, shortest in motion.pieces if recut else ():
        k = min(int(t / dt + 0.5), steps - 1)
        pieces[k] = max(pieces[k], min(FINER * round(dt / shortest), FINEST_AGAIN))
    pieces *= shorter
    edges = {0, steps, *jumps, *(jump + 1 for jump in jumps), *(np.flatnonzero(np.diff(pieces)) + 1).tolist()}
    edges |= {TOGETHER * (2**k - 1) for k in range(steps.bit_length()) if TOGETHER * (2**k - 1) < steps}
    edges |= {steps * k // parts for k in range(parts)}
    ends = sorted(edges)
    return [(a, b, int(pieces[a])) for a, b in pairwise(ends)]


def _some_steps(again: OngoingMotion, begin: int, end: int, dt: float, pieces: int) -> Floats:
    rows, steps, h = end - begin, (end - begin) * pieces, dt / pieces
    out = stored(rows + 1, len(again.q), len(again.lam))
    loads = again.loads(begin * dt + (np.arange(steps) + again.scheme.mid) * h)
    done, status = in_blocks(again, loads, h, 0, steps, pieces, out, lambda _: None, begin * dt)
    if done < steps:
        raise SolverError(f"Shorter steps fail (status {status}).")
    return out.q[1:]


def _over_a_jump(again: OngoingMotion, motion: OngoingMotion, step: int, dt: float, pieces: int) -> Floats:
    def advance(t: float, length: float) -> int:
        for k in range(pieces):
            status = again.one_step(t + k * length / pieces, length / pieces)
            if status != CONVERGED:
                break
        return status

    again.jumps = motion.jumps
    again.between(step)
    status = across(again, step, dt, advance, lambda: None)
    again.jumps, again.bounds = [], (-np.inf, np.inf)
    if status != CONVERGED:
        raise SolverError(f"Shorter steps fail (status {status}).")
    return again.q[None].copy()
