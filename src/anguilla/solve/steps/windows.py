"""Windows of a motion, computed again with other steps: what they tell of the error of the whole.

Windows are at the start of the motion and where it is fastest, from the stored
state at their beginning, with steps twice as long. A method of second order is then off by three times
the error of the motion itself in that window. How the difference grows from the first half of a window to the second tells
how errors add up: in proportion to time where nothing forgets them (an undamped swing), hardly where damping or a given
motion does. A window grows until it is clear what it says of the whole motion: of most motions a few per cent suffice, and
those whose local errors add up to little are not computed again at all. Steps twice as long may be too long for what the
steps of the motion still follow; so before a word is said, the window is computed with steps half as long.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anguilla.errors import SolverError
from anguilla.linear.choice import DENSE, SPARSE
from anguilla.mechanics.tree import Floats, Ints
from anguilla.results.quality import TIME
from anguilla.results.reactions import integrates
from anguilla.solve.newton.newton import FACTORISATIONS, ITERATIONS, STARTING
from anguilla.solve.steps.events import SNAP
from anguilla.solve.steps.measured import (
    INSTANTS,
    TimeError,
    apart,
    errors_of_steps,
    length_of,
    nodes_of,
    spins,
    touches,
)
from anguilla.solve.steps.pieces import CUT
from anguilla.solve.steps.stepping import stored

if TYPE_CHECKING:
    from anguilla.results.states import Trajectory
    from anguilla.solve.steps.motion import OngoingMotion

SHARE, LEAST = 0.08, 4  # part of a motion that a window takes at first, and least number of its long steps
LIVELIER = 2.0  # square of the speed, or of accelerations, beside those of the start, that a window of its own is worth
# estimates (parts of the length) below which a window need not grow, as parts of what is told above which it need not, and
# by which they are raised: schemes at the edge of what they resolve are off by a little more than their order says
CLEAR, CERTAIN, CAREFUL = 0.008, 1.5, 1.2
# sum of local errors (part of the length) of a motion that need not be looked at closer, and the part of it that lasts
SMALL, TYPICAL = 0.1, 0.15
NOTHING = 1e-12  # part of the length: smaller errors are round-off, as of a robot that rests, and do not grow
WHOLE = 0.9  # part of a motion that stands for all of it
# of the work of a large robot's motion, that windows may take; corrections that a factorisation is worth; work for each
# correction where steps are cut into pieces
BUDGET, FACTOR, CUT_WORK = 0.1, 8, 3
MOST_PIECES = 16  # of steps that were cut, which shorter steps halve


def windows_error(motion: OngoingMotion, run: Trajectory, dt: float, every: int) -> TimeError | None:
    """From windows at the start, and where the robot is fastest or hit hardest."""
    stride = every if every % 2 == 0 else 2 * every  # steps between states that both motions have
    rows = stride // every  # stored states in a stride
    count = (len(run.t) - 1) // rows
    if count < 2:
        return None
    touching = run.system.once(touches)
    joints, everything, _ = errors_of_steps(run, dt)
    if every == 1 and everything < SMALL and joints < 0.5 * TIME and not touching and not spins(run, dt):
        return TimeError(max(joints, TYPICAL * everything), float(run.t[-1]), len(run.system.tree.mass) - 1)
    way = np.cumsum(np.sqrt(np.einsum("ti,i->t", run.v**2, run.system.tree.scale**2)))
    counters = run.status.counters  # a start that these steps do not follow, longer ones do not follow either
    uneven = counters["eased"] > 0 or motion.cutting[CUT] > 0 or counters["halvings"] > counters["steps"]
    places, tumbles = run.system.once(nodes_of), joints > CLEAR
    found: list[TimeError] = []
    again = motion.again()
    budget = math.inf if run.system.linear == DENSE else BUDGET * work(motion)
    again.limit = budget / CUT_WORK
    for number, (first, last) in enumerate(_starts(motion, run, rows, count, touching)):
        if found and work(again) > budget:
            break
        window = _Window(again, run, first * rows, 2.0 * dt, stride // 2, rows, places, 1.0 / 3.0)
        short = length = min(max(math.ceil(SHARE * count), LEAST if every == 1 else 2), last - first)
        while window.add(length) and window.reached < last - first:
            enough = CERTAIN * TIME < window.size or work(again) > budget
            if enough or (window.expected(way) < CLEAR and not (tumbles and number == 0)):
                break
            length = min(window.reached, last - first - window.reached)
        if window.reached:
            at = float(run.t[min((first + window.reached) * rows, len(run.t) - 1)])
            size = CAREFUL * window.expected(way)
            if (size > TIME or (uneven and number == 0)) and work(again) <= budget:
                each = _pieces(motion, dt, float(run.t[first * rows]), float(run.t[-1]) if size > TIME else at)
                share = each**2 / (each**2 - 1.0)
                finer = _Window(again, run, first * rows, dt / each, each * stride, rows, places, share)
                size = finer.settle(way, window.reached if size > TIME else short, last - first, size)
            found.append(TimeError(size, at, window.where))
            if window.reached > WHOLE * count:
                return found[-1]  # nothing is left to guess
    return max(found, key=lambda one: one.size) if found else None


def _pieces(motion: OngoingMotion, dt: float, begin: float, end: float) -> int:
    """How many pieces of a step are shorter than all that steps between two instants [s] were cut into."""
    cut = [round(dt / shortest) for t, shortest in motion.pieces if begin - 0.5 * dt < t < end]
    return 2 * min(max(cut, default=1), MOST_PIECES)


def work(motion: OngoingMotion) -> int:
    """Newton's work so far, in corrections."""
    counters = motion.memory.counters
    return int(counters[ITERATIONS] + FACTOR * counters[FACTORISATIONS])


def _starts(motion: OngoingMotion, run: Trajectory, rows: int, count: int, touching: bool) -> list[tuple[int, int]]:
    """Strides at which windows begin, and where they end at the latest: the start, and where the robot is fastest.

    A robot that touches obstacles is looked at before it is hit hardest. No window has a jump of loads inside.
    """
    t = run.t[::rows][: count + 1]
    apart = float(t[1] - t[0])
    jumps = np.array([jump.at for jump in motion.jumps if jump.step >= 0])
    ends = np.floor((jumps + SNAP * apart) / apart).astype(
        np.int64
    )  # the last stride that begins before a jump, or at it
    memory = integrates(run.system.blank) or np.any(run.system.blank.cables.friction)
    if memory:  # integrals of thrusters and the friction of lines are known at the start alone
        return [(0, int(min(ends, default=count)))]
    hit, least = run.integrated, max(math.ceil(SHARE * count), 2)
    signal = hit if touching and hit is not None else run.v
    rough = np.einsum("ti,i->t", signal[::rows][: count + 1] ** 2, run.system.tree.scale**2)
    first = float(np.max(rough[: least + 1]))
    rough[:least], rough[max(count // 2, least + 1) :] = -1.0, -1.0  # a window must have room to grow
    peak = int(np.argmax(rough))
    peak = max(peak - (least // 2 if touching else 0), 0) if rough[peak] > LIVELIER * first else 0
    found = []
    for begin in dict.fromkeys((0, peak)):
        behind = int(max((end + 1 for end in ends if end <= begin and end > 0), default=0))
        begin = max(min(begin, count - least), behind)
        last = int(min((end for end in ends if end > begin), default=count))
        if last - begin >= 2:
            found.append((begin, last))
    return found


class _Window:
    """A piece of a motion that is computed again with other steps, twice or half as long, and may grow.

    Args:
        again: another motion of the same robot, which the window may use.
        run: the motion.
        row: stored state at which the window begins.
        step: its step [s].
        each: its steps in a stride, from one compared state to the next.
        rows: stored states in a stride.
        places: nodes at which states are compared, and their radii [m].
        share: error of the motion as a part of the difference to these steps, for a method of second order.

    """

    def __init__(
        self, again: OngoingMotion, run: Trajectory, row: int, step: float, each: int, rows: int, places: tuple[Ints, Floats],
        share: float,
    ) -> None:  # fmt: skip
        self.run, self.row, self.step, self.each, self.rows, self.share = run, row, step, each, rows, share
        self.nodes, self.radii = places
        self.length = length_of(run, self.nodes)
        self.again = again
        again.restart(run.q[row], run.v[row])
        self.reached = 0  # strides
        self.where = int(self.nodes[-1])
        self._errors: list[tuple[int, float]] = []  # stride, error

    def add(self, length: int) -> bool:
        """Go on for so many strides; returns whether that worked."""
        from anguilla.solve.steps.marching import in_blocks

        again, steps = self.again, length * self.each
        t = float(self.run.t[self.row + self.reached * self.rows])
        out = stored(length + 1, len(again.q), len(again.lam))
        try:
            if not self.reached:
                self._begin(t)
            loads = again.loads(t + (np.arange(steps) + again.scheme.mid) * self.step)
            done, _ = in_blocks(again, loads, self.step, 0, steps, self.each, out, lambda _: None, t)
        except SolverError:
            return False
        if done >= self.each:
            self._compare(out.q[1 : done // self.each + 1])
        return done == steps

    def _begin(self, t: float) -> None:
        """Start at t [s]; a net from accelerations and multipliers that its motion had, since new ones take long to find."""
        again, run = self.again, self.run
        if run.system.linear == SPARSE and run.integrated is not None:
            again.a[:], again.lam[:] = run.integrated[self.row], run.stored.lam[self.row]
            again.acc[:] = again.a
            again.memory.memory[STARTING] = again.smooth
            return
        again.begin(t, self.step)
        again.settle(t, self.step)

    def _compare(self, q: Floats) -> None:
        run, some = self.run, np.unique(np.linspace(0, len(q) - 1, INSTANTS).round().astype(np.int64))
        strides = self.reached + 1 + some
        here = run.q[self.row + strides * self.rows]
        error = self.share * apart(run.system, self.nodes, self.radii, here, q[some]) / self.length
        if np.max(error) >= self.size:
            self.where = int(self.nodes[np.argmax(np.max(error, axis=0))])
        self._errors += zip(strides.tolist(), np.max(error, axis=1).tolist(), strict=True)
        self.reached += len(q)

    @property
    def size(self) -> float:
        """The largest error so far."""
        return self.until(self.reached)

    def settle(self, way: Floats, length: int, most: int, before: float) -> float:
        """The expected error of the whole motion, from `length` strides, and more, up to `most`, as long as it is in doubt.

        It is that from before without an answer, and where long steps saw nothing and short ones see little in a while.
        """
        while self.add(length) and self.size < CERTAIN * TIME < CERTAIN * self.expected(way) and self.reached < most:
            if before < TIME and self.size < 0.5 * TIME:
                return max(before, self.size)
            length = min(self.reached, most - self.reached)
        return self.expected(way) if self.reached else before

    def until(self, stride: int) -> float:
        """The largest error up to a stride."""
        return max((error for k, error in self._errors if k <= stride), default=0.0)

    def expected(self, way: Floats) -> float:
        """The error of the whole motion, if it goes on to grow along its way as it did from the first half to the second.

        way (nt,) is that up to each stored state: where a robot has come to rest, errors grow no more.
        """
        early = max((error for k, error in self._errors if 2 * k <= self.reached), default=0.0)
        late = max((error for k, error in self._errors if 2 * k > self.reached), default=0.0)
        if max(early, late) < NOTHING:
            return max(early, late)
        growth = min(max(math.log2(late / early), 0.0), 1.0) if early > 0.0 and late > 0.0 else 1.0
        own = float(way[self.row + self.reached * self.rows] - way[self.row])
        return max(early, late) * max(float(way[-1]) / max(own, 1e-300), 1.0) ** growth
