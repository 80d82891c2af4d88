"""The judge of motions: what can be checked at a small part of the cost of a motion is checked always.

What the time steps miss is carried along the motion by its linearised equations (carried.py). Where that is much, or a line
became slack or taut, the motion is computed once more with shorter steps (finer.py) before a word is said.

Of a motion whose steps are not all stored, windows are computed again, at its start and where it is fastest, from the stored
state at their beginning, with steps twice as long. A method of second order is then off by three times
the error of the motion itself in that window. How the difference grows from the first half of a window to the second tells
how errors add up: in proportion to time where nothing forgets them (an undamped swing), hardly where damping or a given
motion does. A window grows until it is clear what it says of the whole motion: of most motions a few per cent suffice, and
those whose local errors add up to little are not computed again at all. Steps twice as long may be too long for what the
steps of the motion still follow; so before a word is said, the window is computed with steps half as long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anguilla.describe import Robot, RodHandle
from anguilla.errors import SolverError
from anguilla.linear.choice import DENSE, SPARSE
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.model import Inputs, Model
from anguilla.results.contacts import depths
from anguilla.results.observe import S_X
from anguilla.results.quality import ENERGY, TIME, Quality
from anguilla.results.reactions import integrates
from anguilla.solve.newton.newton import FACTORISATIONS, ITERATIONS, STARTING
from anguilla.solve.steps.carried import apart, carry, displacements, local_errors, motion_of
from anguilla.solve.steps.events import SNAP
from anguilla.solve.steps.finer import finer, seen
from anguilla.solve.steps.pieces import CUT, MANY
from anguilla.solve.steps.stepping import stored

if TYPE_CHECKING:
    from anguilla.results.states import Status, Trajectory
    from anguilla.solve.steps.motion import OngoingMotion

SHARE, LEAST = 0.08, 4  # part of a motion that a window takes at first, and least number of its long steps
PLACES = 12  # of the robot, and as many ends of its parts, at which motions are compared
THIN = 0.02  # of the length: turns of what reaches no farther do not matter
LIVELIER = 2.0  # square of the speed, or of accelerations, beside those of the start, that a window of its own is worth
INSTANTS = 16  # of a window or of a motion at which states are looked at
# estimates (parts of the length) below which a window need not grow, as parts of what is told above which it need not, and
# by which they are raised: schemes at the edge of what they resolve are off by a little more than their order says
CLEAR, CERTAIN, CAREFUL = 0.008, 1.5, 1.2
# sum of local errors (part of the length) of a motion that need not be looked at closer, and the part of it that lasts
SMALL, TYPICAL = 0.1, 0.15
# the same with all steps stored, for half of it and three halves of what joints miss: of 2,200 random motions below it none
# was off by more than 0.005; and of robots that touch obstacles
QUIET, QUIET_CONTACT = 0.01, 0.003
# parts of the length below which carried errors need no second look: of 170 random motions that were off by more than 0.02
# none had less than 0.01; of smooth ones, which Newton follows without help, none was off by 1.6 times as much as carried;
# where steps were cut or a start was eased, up to 3 times; where obstacles are touched; and where a line becomes slack or
# taut: linear equations see obstacles only where matrices are taken, and such lines not at all
SUSPICIOUS, SMOOTH, ROUGH_ONES, TOUCHING, SNAPPING = 0.01, 0.0125, 0.005, 0.003, 0.0005
FAST_TURN, TUMBLING = (
    0.2,
    0.001,
)  # [rad] of a ball in a step, above which matrices here and there say little; the same then
CLOSE_CALL = 0.6, 1.5  # parts of what is told between which shorter steps after a rough start are halved once more
ENOUGH = 0.25  # part of a motion that tells of the rest, where shorter steps take too long
CALM = 0.1  # local errors beside the way of the robot below which it gains no energy: of 800 motions 0.1 % at most
LONGEST, WIDEST = 1001, 150  # states and coordinates: motions of more are judged by windows
NOTHING = 1e-12  # part of the length: smaller errors are round-off, as of a robot that rests, and do not grow
WHOLE = 0.9  # part of a motion that stands for all of it
# of the work of a large robot's motion, that windows may take; corrections that a factorisation is worth; work for each
# correction where steps are cut into pieces
BUDGET, FACTOR, CUT_WORK = 0.1, 8, 3
ENERGIES = 64  # instants at which energies are looked at
STILL, ROUND_OFF = 1e-6, 1e-9  # [rad] a robot that moves by less stands still; energies to which others are round-off
STRUGGLE = 4  # halvings in a step, on average, that are worth a word


class TimeError(NamedTuple):
    """Estimated error of the time steps."""

    size: float  # part of the length
    at: float  # instant [s] around which it arises
    where: int  # node at which it is largest
    sure: bool = False  # whether all steps were looked at
    calm: bool = False  # whether it is so small beside the motion that energies need not be looked at


def judge(
    motion: OngoingMotion, run: Trajectory, dt: float, every: int, *, controlled: bool
) -> tuple[Callable[[], Quality], str]:
    """The quality of a motion that reached its end, to be asked when somebody reads it, and a sentence to warn with, or none.

    Args:
        motion: what the time loop leaves; its system may be used.
        run: the motion.
        dt: step [s].
        every: steps between stored states.
        controlled: whether steps were chosen by their error.

    """
    steps, told = every * (len(run.t) - 1), []
    cut, halved = min(int(motion.cutting[CUT]), steps), run.status.counters["halvings"]
    left = [array.copy() for array in motion.state[5:]]  # what loads remember
    time = None if controlled else _time_error(motion, run, dt, every)
    for array, value in zip(motion.state[5:], left, strict=True):
        array[:] = value
    some = _some(run)
    gained = None if time is not None and time.calm else _energy_gain(some()) if _passive(run) else (None, 0.0)
    if time is not None and time.size > TIME:
        told.append(_say_time(run.system, time, dt))
    if gained is not None and gained[0] is not None and gained[0] > ENERGY:
        told.append(
            f"{run.robot.name!r} gains {100 * gained[0]:.2g} % of its energy from nothing until t = {gained[1]:.4g} s: take "
            f"a smaller dt, such as {_nice(0.25 * dt):g}."
        )
    sure = time is not None and time.sure
    unsure = time is None or (time.size > 0.5 * TIME and not sure)
    if halved > STRUGGLE * steps and unsure and not told and not cut:
        told.append(
            f"Newton found the steps of {run.robot.name!r} only by halving its corrections {halved} times: the motion may be "
            f"wrong. Compare with a smaller dt, such as {_nice(0.5 * dt):g}."
        )
    if (2 * cut > steps and not sure) or (cut > MANY * steps and (told or unsure)):
        told.append(
            f"{cut} of {steps} steps of {run.robot.name!r} were too long for Newton and cut into pieces: the motion may be "
            "wrong. Compare with a smaller dt, or give error=1e-3."
        )
    events = tuple(jump.at for jump in motion.jumps)
    quality = Quality(None if time is None else time.size, None, None, events, cut, steps, tuple(told))
    return partial(_completed, quality, some, gained), " ".join(told)


def _completed(quality: Quality, some: Callable[[], Trajectory], gained: tuple[float | None, float] | None) -> Quality:
    """The quality with what no warning needs, which is found when it is read."""
    energy = (_energy_gain(some()) if gained is None else gained)[0]
    return replace(quality, energy_error=energy, penetration=_penetration(some()))


def _some(run: Trajectory) -> Callable[[], Trajectory]:
    """A motion at the instants at which energies are looked at, made when it is needed; it does not keep a long one."""
    states = run.robot, run.system, run.status, run.t, run.q, run.v, run.stored.lam, run.inputs
    if len(run.t) <= LONGEST:
        return partial(_thinned, type(run), *states)
    some = _thinned(type(run), *states)
    return lambda: some


def _thinned(
    kind: type[Trajectory], robot: Robot, system: Model, status: Status, t: Floats, q: Floats, v: Floats, lam: Floats,
    inputs: Inputs,
) -> Trajectory:  # fmt: skip
    count = min(ENERGIES, len(t))
    rows = np.arange(count) * (len(t) - 1) // max(count - 1, 1)
    return kind(robot, system, status, t[rows], q[rows], v[rows], None, lam[rows], inputs)


def _say_time(system: Model, time: TimeError, dt: float) -> str:
    part = _part(system, time.where)
    size = f"about {100 * time.size:.2g} %" if time.size < 0.3 else "a large part"
    remedy = _nice(dt * math.sqrt(0.5 * TIME / max(time.size, TIME)))
    return (
        f"The time steps of {system.robot.name!r} make an error of {size} of its length, most at {part} around "
        f"t = {time.at:.3g} s: try dt={remedy:g}, or error=1e-3."
    )


def _part(system: Model, node: int) -> str:
    """Name of the part that a node belongs to."""
    before = [layout for layout in system.layout.parts if layout.entry <= node]
    return repr(max(before, key=lambda layout: layout.entry).part.name) if before else "its root"


def _nice(dt: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is no longer than dt."""
    power = 10.0 ** math.floor(math.log10(dt))
    return max(k * power for k in (1.0, 2.0, 5.0) if k * power <= dt * (1.0 + 1e-9))


# Time steps -------------------------------------------------------------------------------------------------------------


def _time_error(motion: OngoingMotion, run: Trajectory, dt: float, every: int) -> TimeError | None:
    """Error of the time steps."""
    fits = LEAST < len(run.t) <= LONGEST and run.system.size <= WIDEST
    if every == 1 and run.integrated is not None and fits:
        return _carried_error(motion, run, dt)
    return _windows_error(motion, run, dt, every)


def _carried_error(motion: OngoingMotion, run: Trajectory, dt: float) -> TimeError:
    """From what the steps miss; from the motion with shorter steps where that is much."""
    joints, everything, way = _local_errors(run, dt)
    snaps, touches = _snaps(run), any(load.touches for load in run.robot.loads)
    calm = everything < CALM * min(way, 1.0) or way < STILL
    sum_of_all = 1.5 * joints + 0.5 * everything
    if sum_of_all < (QUIET_CONTACT if touches else QUIET) and not snaps:  # it cannot add up to much
        size = max(joints, TYPICAL * everything)
        return TimeError(size, float(run.t[-1]), len(run.system.tree.mass) - 1, True, calm)
    found = _estimated(motion, run, dt)
    if found.error.size < _suspicious(motion, run, snaps, touches, dt):
        return found.error._replace(calm=calm or found.error.size < 0.01 * CALM * min(way, 1.0))
    return _verified(motion, run, dt, found)


def _turn(run: Trajectory, dt: float) -> float:
    """The largest angle [rad] by which a ball turns in a step."""
    ball = run.system.tree.ball[:, 0]
    turns = run.v[:, (ball[:, None] + np.arange(3)).ravel()] if len(ball) else np.zeros((1, 0))
    return float(np.max(np.abs(turns), initial=0.0)) * dt


def _suspicious(motion: OngoingMotion, run: Trajectory, snaps: bool, touches: bool, dt: float) -> float:
    """Carried error, as a part of the length, below which a motion is taken as it is."""
    if snaps or touches:
        return SNAPPING if snaps else TOUCHING
    if _turn(run, dt) > FAST_TURN:
        return TUMBLING
    if motion.cutting[CUT] > 0 or run.status.counters["eased"] > 0:
        return ROUGH_ONES
    steady = run.system.is_steady(run.inputs)  # else there may be loads between the steps, which nobody has seen
    return SMOOTH if steady and run.status.counters["halvings"] == 0 else SUSPICIOUS


class _Estimate(NamedTuple):
    """An error carried along a motion."""

    error: TimeError
    rows: Ints  # (k,) some states
    curve: Floats  # (k,) largest error at each


def _estimated(motion: OngoingMotion, run: Trajectory, dt: float) -> _Estimate:
    """The error by the linearised equations of motion; the whole length where these have no answer."""
    nodes, radii = run.system.once(_nodes)
    carried = carry(motion, run, dt)
    if not carried.certain:  # what grows beyond all bounds is looked at closer
        ends = np.array([0, len(run.t) - 1])
        return _Estimate(TimeError(1.0, float(run.t[-1]), int(nodes[-1]), True), ends, np.ones(2))
    moved, room = displacements(run, carried, nodes, radii)
    curve = moved / max(run.system.length, 0.0 if run.system.once(_has_strains) else room)
    row, place = divmod(int(curve.argmax()), len(nodes))
    found = TimeError(float(curve[row, place]), float(run.t[carried.rows[row]]), int(nodes[place]), True)
    return _Estimate(found, carried.rows, curve.max(axis=1))


def _snaps(run: Trajectory) -> bool:
    """Whether a line that is held by its length becomes slack or taut."""
    if not run.system.rows:
        return False
    held = run.system.blank.constraints.input_row
    slack = run.stored.lam[:, held[held >= 0]] == 0.0
    return bool(np.any(slack[1:] != slack[:-1]))


def _verified(motion: OngoingMotion, run: Trajectory, dt: float, estimate: _Estimate) -> TimeError:
    """What shorter steps say; after a rough start, whose errors are of no order, shorter ones still if it is a close call."""
    counters = run.status.counters
    rough = counters["eased"] + counters["halvings"] + int(motion.cutting[CUT]) > 0
    found = _compared(motion, run, dt, estimate, rough, 1)
    low, high = CLOSE_CALL
    if rough and found.sure and low * TIME < found.size < high * TIME:
        closer = _compared(motion, run, dt, estimate, rough, 2)
        found = closer if closer.sure else found
    return found


def _compared(
    motion: OngoingMotion, run: Trajectory, dt: float, estimate: _Estimate, rough: bool, shorter: int
) -> TimeError:
    """The difference to shorter steps."""
    found, curve = estimate.error, np.interp(np.arange(len(run.t)), estimate.rows, estimate.curve)
    nodes, radii = run.system.once(_nodes)
    length, steps = _length(run, nodes), len(run.t) - 1
    best = TimeError(0.0, found.at, found.where, True)
    whole = 1.0 / seen(motion, steps, rough, shorter)
    done = 0
    try:
        for first, q in finer(motion, run, dt, rough, shorter):
            row, done = first + 1 + np.arange(len(q)), first + len(q)
            error = whole * apart(run.system, nodes, radii, run.q[row], q) / length
            k, place = np.unravel_index(int(np.argmax(error)), error.shape)
            if error[k, place] > best.size:
                best = TimeError(float(error[k, place]), float(run.t[row[k]]), int(nodes[place]), True)
            if best.size > CERTAIN * TIME:
                behind, longer = float(np.max(curve[: row[k] + 1])), len(curve) / int(row[k])
                growth = min(float(np.max(curve)) / behind, longer) if behind * longer > np.max(curve) else longer
                return best._replace(size=best.size * growth)
    except SolverError:  # they take too long
        if done < ENOUGH * steps:
            return found._replace(size=max(min(found.size, 1.0), best.size), sure=False)
        best = best._replace(size=CAREFUL * best.size, sure=2 * done > steps)
    return best._replace(size=best.size * steps / max(done, 1))


def _windows_error(motion: OngoingMotion, run: Trajectory, dt: float, every: int) -> TimeError | None:
    """From windows at the start, and where the robot is fastest or hit hardest."""
    stride = every if every % 2 == 0 else 2 * every  # steps between states that both motions have
    rows = stride // every  # stored states in a stride
    count = (len(run.t) - 1) // rows
    if count < 2:
        return None
    touches = any(load.touches for load in run.system.robot.loads)
    joints, everything, _ = _local_errors(run, dt)
    if every == 1 and everything < SMALL and joints < 0.5 * TIME and not touches:
        return TimeError(max(joints, TYPICAL * everything), float(run.t[-1]), len(run.system.tree.mass) - 1)
    way = np.cumsum(np.sqrt(np.einsum("ti,i->t", run.v**2, run.system.tree.scale**2)))
    counters = run.status.counters  # a start that these steps do not follow, longer ones do not follow either
    uneven = counters["eased"] > 0 or motion.cutting[CUT] > 0 or counters["halvings"] > counters["steps"]
    places, tumbles = run.system.once(_nodes), joints > CLEAR
    found: list[TimeError] = []
    again = motion.again()
    budget = math.inf if run.system.linear == DENSE else BUDGET * _work(motion)
    again.limit = budget / CUT_WORK
    for number, (first, last) in enumerate(_starts(motion, run, rows, count, touches)):
        if found and _work(again) > budget:
            break
        window = _Window(again, run, first * rows, 2.0 * dt, stride // 2, rows, places, 1.0 / 3.0)
        short = length = min(max(math.ceil(SHARE * count), LEAST if every == 1 else 2), last - first)
        while window.add(length) and window.reached < last - first:
            enough = CERTAIN * TIME < window.size or _work(again) > budget
            if enough or (window.expected(way) < CLEAR and not (tumbles and number == 0)):
                break
            length = min(window.reached, last - first - window.reached)
        if window.reached:
            at = float(run.t[min((first + window.reached) * rows, len(run.t) - 1)])
            size = CAREFUL * window.expected(way)
            if (size > TIME or (uneven and number == 0)) and _work(again) <= budget:
                finer = _Window(again, run, first * rows, 0.5 * dt, 2 * stride, rows, places, 4.0 / 3.0)
                size = finer.settle(way, window.reached if size > TIME else short, last - first, size)
            found.append(TimeError(size, at, window.where))
            if window.reached > WHOLE * count:
                return found[-1]  # nothing is left to guess
    return max(found, key=lambda one: one.size) if found else None


def _work(motion: OngoingMotion) -> int:
    """Newton's work so far, in corrections."""
    counters = motion.memory.counters
    return int(counters[ITERATIONS] + FACTOR * counters[FACTORISATIONS])


def _local_errors(run: Trajectory, dt: float) -> tuple[float, float, float]:
    """Sums of the local errors of joints, and of all coordinates, as parts of the length; how far the robot moves [rad].

    Errors of joints may add up to this. Those of strains hardly do: most of their accelerations are those of fast modes.
    """
    if run.integrated is None:
        return 0.0, math.inf, math.inf
    return local_errors(run.q, run.integrated, *run.system.once(_weights), dt)


def _weights(system: Model) -> tuple[Floats, Floats]:
    """Weights (n,) that make coordinates angles: of all that are not imposed, and of those of joints among them."""
    weight = system.tree.scale.copy()
    weight[system.blank.driven] = 0.0
    return weight, np.where(system.tree.strain_scale == 0.0, weight, 0.0)


def _starts(motion: OngoingMotion, run: Trajectory, rows: int, count: int, touches: bool) -> list[tuple[int, int]]:
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
    signal = hit if touches and hit is not None else run.v
    rough = np.einsum("ti,i->t", signal[::rows][: count + 1] ** 2, run.system.tree.scale**2)
    first = float(np.max(rough[: least + 1]))
    rough[:least], rough[max(count // 2, least + 1) :] = -1.0, -1.0  # a window must have room to grow
    peak = int(np.argmax(rough))
    peak = max(peak - (least // 2 if touches else 0), 0) if rough[peak] > LIVELIER * first else 0
    found = []
    for begin in dict.fromkeys((0, peak)):
        behind = int(max((end + 1 for end in ends if end <= begin and end > 0), default=0))
        begin = max(min(begin, count - least), behind)
        last = int(min((end for end in ends if end > begin), default=count))
        if last - begin >= 2:
            found.append((begin, last))
    return found


def _spread(nodes: Ints) -> Ints:
    """Some of many nodes, evenly."""
    count = min(len(nodes), PLACES)
    return nodes[(np.arange(count) * (len(nodes) - 1) / max(count - 1, 1) + 0.5).astype(np.int64)]


def _nodes(system: Model) -> tuple[Ints, Floats]:
    """Nodes at which motions are compared, and how far [m] what they carry reaches, by which they feel turns."""
    heavy = np.flatnonzero(system.tree.mass > 0.0)
    entries = np.sort([part.entry for part in system.layout.parts])  # the nodes of a part follow its entry
    last = heavy[np.unique(np.searchsorted(heavy, np.append(entries[1:], len(system.tree.mass))) - 1)]
    nodes = np.union1d(_spread(heavy), _spread(last))  # no body of a few is missed
    radii = np.sqrt(np.sum(system.tree.inertia[nodes], axis=1) / system.tree.mass[nodes])
    for part in system.robot.parts:
        if isinstance(part, RodHandle):  # whose inertia may be given as it is for no section
            thick = part.rod.section.thickness(np.linspace(0.0, part.length, PLACES))
            radii[np.isin(nodes, system.layout.parts[part.index].nodes)] = 0.5 * float(np.max(thick))
    radii[radii < THIN * system.length] = 0.0
    return nodes, radii


def _has_strains(system: Model) -> bool:
    return bool(np.any(system.tree.strain_scale > 0.0))


def _length(run: Trajectory, nodes: Ints) -> float:
    """What errors are measured by [m]: the length of the robot; of bodies alone, the room their motion takes."""
    length = run.system.length
    if run.system.once(_has_strains):
        return length
    place = motion_of(run.system, nodes, np.ascontiguousarray(run.some(INSTANTS).q))[:, :, S_X : S_X + 3]
    return max(length, float(np.linalg.norm(np.ptp(place.reshape(-1, 3), axis=0))))


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
        self.length = _length(run, self.nodes)
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


# Energy and contact -----------------------------------------------------------------------------------------------------


def _energy_gain(some: Trajectory) -> tuple[float | None, float]:
    """Largest gain of energy as a part of that in play, and its end [s]; None where something unknown works on the robot."""
    if not _passive(some):
        return None, 0.0
    energy, system = some.energy, some.system
    stored = np.array([energy["elastic"], energy["gravitational"], *_potentials(some)])
    total = energy["kinetic"] + stored.sum(axis=0)
    gain = total - np.minimum.accumulate(total)
    highest, lowest = stored.max(axis=1), stored.min(axis=1)
    play = float(energy["kinetic"].max() + (highest - lowest).sum())
    size = float(np.maximum(highest, -lowest).sum())
    if play < STILL**2 * system.once(_firmest) + ROUND_OFF * size:
        return 0.0, 0.0  # it stands still
    k = int(gain.argmax())
    return (float(gain[k]) / play if play > 0.0 else 0.0), float(some.t[k])


def _firmest(system: Model) -> float:
    """The largest elastic stiffness of a coordinate, as an angle [N m/rad]."""
    return float(np.max(system.elastic.diagonal() / system.tree.scale**2, initial=0.0))


def _passive(run: Trajectory) -> bool:
    """Whether nothing acts but gravity, springs, contact, damping and loads with a potential, all of them steady."""
    return run.system.is_steady(run.inputs) and run.system.once(_takes_energy)


def _takes_energy(system: Model) -> bool:
    """The same but for its being steady."""
    robot = system.robot
    if len(system.blank.driven):
        return False
    pulled = any(np.any(layout.part.joint.effort_values([0.0])) for layout in system.layout.parts)
    calm = all(load.is_passive or load.brakes or load.dead_force is not None for load in robot.loads)
    lossy = any(getattr(line, "friction", 0.0) or getattr(line, "compliance", 0.0) for line in robot.actuators.values())
    return calm and not pulled and not lossy


def _potentials(some: Trajectory) -> list[Floats]:
    """Energies (nt,) [J] of dead forces, and of lines under constant tension; lines of constant length do no work."""
    robot = some.robot
    forces = [(load.frames[0], load.dead_force) for load in robot.loads]
    found = [-some.position(frame) @ force for frame, force in forces if force is not None]
    for name, line in robot.actuators.items():
        pull = some.inputs.get(name, 0.0)
        if pull and not callable(pull) and getattr(line, "by", "tension") == "tension":
            found.append(line.tension_per_input * pull * some.length(name))
    return found


def _penetration(run: Trajectory) -> float | None:
    """How deep the robot sinks in, as a part of its thickness there; None without contact of something thick."""
    found = []
    for number, load in enumerate(run.system.robot.loads):
        if load.touches:
            radii = load.radii(run.system.tables.seats[number].X)
            if np.all(radii > 0.0):
                deep = np.maximum(depths(run.system, number, run.q), 0.0)
                found.append(float(np.max(deep / (2.0 * radii))))
    return max(found, default=None)
