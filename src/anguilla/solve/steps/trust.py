"""The judge of motions: what can be checked at a small part of the cost of a motion is checked always.

What the time steps miss is carried along the motion by its linearised equations (carried.py). Where that is much, or a line
became slack or taut, the motion is computed once more with shorter steps (finer.py) before a word is said.

Of a motion whose steps are not all stored, windows are computed again (windows.py). Energies are looked at where errors are
not small beside the motion (gains.py), modes and intervals at the instant that asks most of them (results/resolution.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anguilla.errors import SolverError
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.results.passing import gives_way
from anguilla.results.quality import ENERGY, IMPACTS, TIME, TOLD, Quality
from anguilla.results.reactions import grasps
from anguilla.results.resolution import like_a_good_one, most_doubtful
from anguilla.solve.steps.carried import Carried, carry
from anguilla.solve.steps.finer import MOSTLY, finer, seen
from anguilla.solve.steps.gains import (
    STILL,
    Some,
    all_of,
    energy_gain,
    gain_of_touching,
    kept_by_bristles,
    momentum_change,
    passive,
    penetration,
    some_of,
)
from anguilla.solve.steps.measured import (
    TimeError,
    added_up,
    apart,
    errors_of_steps,
    has_strains,
    length_of,
    nodes_of,
    spins,
    touches,
)
from anguilla.solve.steps.motion import may_remember
from anguilla.solve.steps.pieces import CUT, MANY
from anguilla.solve.steps.windows import CAREFUL, CERTAIN, LEAST, TYPICAL, WHOLE, windows_error

if TYPE_CHECKING:
    from anguilla.results.states import Trajectory
    from anguilla.solve.steps.events import Jump
    from anguilla.solve.steps.motion import OngoingMotion

# sum of local errors (part of the length) of a motion with all steps stored that need not be looked at closer, for half of it
# and three halves of what joints miss: of 2,200 random motions below it none was off by more than 0.005; and of robots that
# touch obstacles
QUIET, QUIET_CONTACT = 0.01, 0.003
# parts of the length below which carried errors need no second look: of 170 random motions that were off by more than 0.02
# none had less than 0.01; of smooth ones, which Newton follows without help, one in thousands was off by 1.8 times as much as
# carried;
# where steps were cut, a start was eased or loads jump, up to 4 times; where obstacles are touched; and where a line becomes
# slack or taut: linear equations see obstacles only where matrices are taken, and such lines not at all
SUSPICIOUS, SMOOTH, ROUGH_ONES, TOUCHING, SNAPPING = 0.01, 0.0125, 0.004, 0.0035, 0.0005
# sum of local errors (part of the length) above which rough motions are computed again in any case: of 14,000 random ones six
# were off by more than 4 times what was carried, all of them above it
WILD = 0.5
# sum of local errors of joints (part of the length), which nothing holds back, above which rough motions are computed again
# too: a bar that tumbled on a universal joint was off by three times that sum, a rod that water brakes by ten times
LOOSE = 0.002
# [rad] of a ball in a step, above which matrices here and there say little; the same then
FAST_TURN, TUMBLING = 0.2, 0.001
# parts of what is told between which shorter steps are halved once more: of smooth motions, and after a rough start
CLOSE_CALL, CLOSER_CALL = (0.85, 1.5), (0.45, 1.5)
# looks at rough motions, (into how many steps each shorter one is cut, whether starts are sharp), that may outvote the first
# together: of 445 random motions that were off by more than 2 % none passed all of them, of 162 that were not 65 did; and
# the states of a motion up to which they are asked
APPEAL, SHORT = ((2, False), (4, False), (4, True)), 301
ENOUGH = 0.25  # part of a motion that tells of the rest, where shorter steps take too long
# the same where linear equations have no answer; parts of a motion, after each of which this is asked; and how far below what
# is told the difference to shorter steps must be, times the square of the growth to expect: of 180 looks at 106 such random
# motions, 143 of them bad, 9 ended so, all rightly, and no difference grew to more than half of that
SOME, PARTS, BEYOND = 0.2, 16, 5.0
# local errors beside the way of the robot, below which it gains no energy if Newton needs no help: 0.1 % in 800 motions
CALM = 0.1
# states (and those of robots that touch things: a window tells little of other hits) and coordinates: motions of more are
# judged by windows
LONGEST, LONGEST_CONTACT, WIDEST = 1001, 4001, 150
STRUGGLE = 4  # halvings in a step, on average, that are worth a word


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
    system, states, told = motion.system, all_of(run), []
    steps = every * (len(states.t) - 1)
    cut, halved = min(motion.cutting.item(CUT), steps), run.status.counters["halvings"]
    if system.once(touches) and (soft := gives_way(system)):
        told.append(soft)
    remembered = [(array, array.copy()) for array in motion.by_loads] if system.once(may_remember) else ()
    time = None if controlled else _time_error(motion, run, dt, every)
    lacking = _lacking(run, states)
    for array, value in remembered:
        array[:] = value
    some = some_of(states)
    calm, held = time is not None and time.calm, grasps(system.blank)
    gained = None if calm and not held else energy_gain(some())
    if held and gained is not None and (gained[0] or 0.0) > ENERGY:
        gained = energy_gain(some(), kept_by_bristles(run, some()))
    if time is not None and time.size > (TOLD if time.sure else TIME):
        told.append(_say_time(system, time, dt))
    if gained is not None and gained[0] is not None and gained[0] > ENERGY:
        told.append(_say_energy(run.robot.name, gained[0], gained[1], dt))
    elif system.once(touches) and (won := _gained_by_touching(run, states))[0] > IMPACTS:
        told.append(
            f"{run.robot.name!r}, which touches something, gains {100 * won[0]:.2g} % of its energy from nothing until "
            f"t = {won[1]:.4g} s: take a smaller dt, such as {nice_step(0.25 * dt):g}."
        )
    if not calm and (lost := momentum_change(system, some)) > TIME:
        told.append(
            f"The momentum of {run.robot.name!r}, on which nothing acts from outside, changes by {_percent(lost)} of its "
            f"mass times its speed: take a smaller dt, such as {nice_step(dt * math.sqrt(0.5 * TIME / lost)):g}."
        )
    sure = time is not None and time.sure
    unsure = time is None or (time.size > 0.5 * TIME and not sure)
    if halved > STRUGGLE * steps and unsure and not told and not cut:
        told.append(
            f"Newton found the steps of {run.robot.name!r} only by halving its corrections {halved} times: the motion may be "
            f"wrong. Compare with a smaller dt, such as {nice_step(0.5 * dt):g}."
        )
    if (2 * cut > steps and not sure) or (cut > MANY * steps and (told or unsure)):
        told.append(
            f"{cut} of {steps} steps of {run.robot.name!r} were too long for Newton and cut into pieces: the motion may be "
            "wrong. Compare with a smaller dt, or give error=1e-3."
        )
    told += lacking
    size = None if time is None else time.size
    # without the motion itself, which keeps this: its memory is free for the next one as soon as nobody needs it
    find = partial(_completed, run.robot.name, dt, some, gained, size, motion.jumps, cut, steps, told)
    return find, " ".join(told)


def _completed(
    name: str, dt: float, some: Callable[[], Some], gained: tuple[float | None, float] | None, size: float | None,
    jumps: list[Jump], cut: int, steps: int, told: list[str],
) -> Quality:  # fmt: skip
    """The quality, with what no warning needs: that is found when it is read."""
    energy, until = energy_gain(some()) if gained is None else gained
    if gained is None and energy is not None and energy > ENERGY:  # a calm motion, against all expectation
        told = [*told, _say_energy(name, energy, until, dt)]
    events = tuple(jump.at for jump in jumps)
    return Quality(size, energy, penetration(some()), events, cut, steps, tuple(told))


def _say_energy(name: str, gain: float, until: float, dt: float) -> str:
    return (
        f"{name!r} gains {100 * gain:.2g} % of its energy from nothing until t = {until:.4g} s: take a smaller dt, "
        f"such as {nice_step(0.25 * dt):g}."
    )


def _lacking(run: Trajectory, states: Some) -> list[str]:
    """That a rod has too few modes or intervals, in a sentence; maybe nothing. Of the same motion again, the same."""
    system, q, v = states.system, states.q, states.v
    if not system.once(has_strains):
        return []
    k, doubt = most_doubtful(system, q)
    if doubt <= 1.0:
        return []
    kept = system.desk().kept.setdefault("moving", {})
    motion = q[k].tobytes(), v[k].tobytes(), q[-1].tobytes()  # others may begin as it does, and do not end there
    last: tuple[tuple[bytes, ...], list[str]] | None = kept.get("lacking")
    if last is None or last[0] != motion:
        some, weight = np.concatenate([q[k], v[k], q[-1]]), system.tree.strain_scale
        good = like_a_good_one(kept, some, q[k], weight, lambda: run.resolution.want)
        last = motion, [] if good else [f"The motion of {run.robot.name!r}: {run.resolution.words}"]
        kept["lacking"] = last
    return list(last[1])


def _gained_by_touching(run: Trajectory, states: Some) -> tuple[float, float]:
    """Gain of energy of a robot that touches something, and its end [s]; nothing where that is not known."""
    return gain_of_touching(run, states, IMPACTS) if passive(run.system, run.inputs) else (0.0, 0.0)


def _say_time(system: Model, time: TimeError, dt: float) -> str:
    part = _part(system, time.where)
    remedy = nice_step(dt * math.sqrt(0.5 * TIME / max(time.size, TIME)))
    return (
        f"The time steps of {system.robot.name!r} make an error of {_percent(time.size)} of its length, most at {part} "
        f"around t = {time.at:.3g} s: try dt={remedy:g}, or error=1e-3."
    )


def _percent(size: float) -> str:
    """A part of the whole, in words."""
    return f"about {100 * size:.2g} %" if size < 0.3 else "a large part"


def _part(system: Model, node: int) -> str:
    """Name of the part that a node belongs to."""
    before = [layout for layout in system.layout.parts if layout.entry <= node]
    return repr(max(before, key=lambda layout: layout.entry).part.name) if before else "its root"


def nice_step(dt: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is no longer than dt."""
    power = 10.0 ** math.floor(math.log10(dt))
    return max(k * power for k in (1.0, 2.0, 5.0) if k * power <= dt * (1.0 + 1e-9))


# Time steps -------------------------------------------------------------------------------------------------------------


def _time_error(motion: OngoingMotion, run: Trajectory, dt: float, every: int) -> TimeError | None:
    """Error of the time steps."""
    longest = LONGEST_CONTACT if motion.system.once(touches) else LONGEST
    fits = LEAST < len(run.t) <= longest and motion.system.size <= WIDEST
    if every == 1 and fits and run.integrated is not None:
        return _carried_error(motion, run, dt)
    return windows_error(motion, run, dt, every)


def _carried_error(motion: OngoingMotion, run: Trajectory, dt: float) -> TimeError:
    """From what the steps miss; from the motion with shorter steps where that is much."""
    system = motion.system
    joints, everything, way = errors_of_steps(run, dt)
    snaps, touching = _snaps(run) if system.rows else False, system.once(touches)
    helped = _is_helped(motion, run)
    calm = (everything < CALM * min(way, 1.0) or way < STILL) and not helped
    sum_of_all = 1.5 * joints + 0.5 * everything
    quiet = sum_of_all < (QUIET_CONTACT if touching else QUIET)
    if quiet and not snaps and not spins(run, dt):  # it cannot add up to much
        size = max(joints, TYPICAL * everything)
        return TimeError(size, float(run.t[-1]), len(system.tree.mass) - 1, True, calm)
    found = _estimated(motion, run, dt)
    rough = _is_rough(motion, run)
    wild, loose = everything > WILD and rough, joints > LOOSE and rough
    size = found.error.size
    if not wild and not loose and size < _suspicious(run, rough, snaps, touching, dt):
        calm = calm or (size < 0.01 * CALM * min(way, 1.0) and not helped)
        return found.error._replace(calm=True) if calm else found.error
    verdict = _verified(motion, run, dt, found, wild)
    if verdict.size > TOLD and helped and len(run.t) <= SHORT:
        return _appealed(motion, run, dt, found, verdict)
    return verdict


def _turn(run: Trajectory, dt: float) -> float:
    """The largest angle [rad] by which a ball turns in a step, about one axis."""
    balls = run.system.tree.ball
    turns = (run.v[:, k : k + 3] for k in balls[:, 0].tolist())
    return dt * max((max(float(turn.max()), -float(turn.min())) for turn in turns), default=0.0)


def _suspicious(run: Trajectory, rough: bool, snaps: bool, touching: bool, dt: float) -> float:
    """Carried error, as a part of the length, below which a motion is taken as it is."""
    if snaps or touching:
        return SNAPPING if snaps else TOUCHING
    if spins(run, dt):
        return 0.0
    system = run.system
    if len(system.tree.ball) and _turn(run, dt) > FAST_TURN:
        return TUMBLING
    # a loop near a dead centre: 1 % carried, 5.7 % true; a rod that a current seizes, by halved corrections: 0.5 and 2.5 %
    if rough or system.rows or run.status.counters["halvings"]:
        return ROUGH_ONES
    steady = system.is_steady(run.inputs)  # else there may be loads between the steps, which nobody has seen
    return SMOOTH if steady else SUSPICIOUS


def _is_rough(motion: OngoingMotion, run: Trajectory) -> bool:
    """Whether steps were cut, a start was eased, or loads jump."""
    return bool(motion.cutting.item(CUT) > 0 or run.status.counters["eased"] > 0 or motion.jumps)


def _is_helped(motion: OngoingMotion, run: Trajectory) -> bool:
    """Whether Newton found steps only with help: steps were cut, corrections halved, or a start eased."""
    counters = run.status.counters
    return counters["eased"] + counters["halvings"] + motion.cutting.item(CUT) > 0


class _Estimate(NamedTuple):
    """An error carried along a motion."""

    error: TimeError
    carried: Carried
    length: float  # [m] that it is a part of

    @property
    def certain(self) -> bool:
        """Whether it stays within bounds."""
        return self.carried.peaks > 0

    def curve(self, count: int) -> Floats:
        """The largest error (count,) at each of so many states."""
        if not self.certain:
            return np.ones(count)
        return np.interp(np.arange(count), self.carried.rows, self.carried.moved.max(axis=1) / self.length)


def _estimated(motion: OngoingMotion, run: Trajectory, dt: float) -> _Estimate:
    """The error by the linearised equations of motion; the whole length where these have no answer."""
    system, carried = motion.system, carry(motion, run, dt)
    nodes, _ = system.once(nodes_of)
    if not carried.peaks:  # what grows beyond all bounds is looked at closer
        return _Estimate(TimeError(1.0, float(run.t[-1]), int(nodes[-1]), True), carried, 1.0)
    length = system.length if system.once(has_strains) else max(system.length, carried.room)
    error = TimeError(carried.largest / length, run.t.item(carried.row), nodes.item(carried.node), True)
    return _Estimate(error, carried, length)


def _snaps(run: Trajectory) -> bool:
    """Whether a line that is held by its length becomes slack or taut."""
    held = run.system.blank.constraints.input_row
    slack = run.stored.lam[:, held[held >= 0]] == 0.0
    return bool(np.any(slack[1:] != slack[:-1]))


def _verified(motion: OngoingMotion, run: Trajectory, dt: float, estimate: _Estimate, wild: bool) -> TimeError:
    """What shorter steps say, and still shorter ones if it is a close call.

    After a rough start errors may be of first order: then the differences to two kinds of steps, each half as long as the
    other, tell what is left. Where that alone would be worth a word, steps half as long once more decide. Differences that
    become smaller with the steps are of no order: the larger one counts. If the motion is wild, steps that are all half as
    long are asked too: shorter ones at its rough places may go wrong in the same way. If some steps were cut, so are steps
    shorter than those pieces: others may have been cut into the same ones. Rough starts are looked at twice, the
    second time with steps that are much shorter still.
    """
    rough = _is_helped(motion, run)
    found = _compared(motion, run, dt, estimate, rough, 1)
    if wild and rough and found.size < TOLD:
        halves = _compared(motion, run, dt, estimate, False, 1)
        size = halves.size * seen(motion, len(run.t) - 1, False) / seen(motion, len(run.t) - 1, rough)
        if not halves.sure:  # no second opinion
            found = found._replace(sure=False)
        elif size > found.size:
            found = halves._replace(size=size, sure=found.sure)
    if rough and found.size < TOLD:
        sharp = _compared(motion, run, dt, estimate, rough, 1, sharp=True)
        found = sharp._replace(sure=found.sure) if sharp.sure and sharp.size > found.size else found
    if 0 < len(motion.pieces) <= MOSTLY * len(run.t) and found.size < TOLD:
        recut = _compared(motion, run, dt, estimate, True, 1, recut=True)
        found = recut if recut.sure and recut.size > found.size else found
    doubtful = rough or run.system.once(touches)  # errors of the instant of a hit are of first order too
    low, high = CLOSER_CALL if doubtful else CLOSE_CALL
    if not (found.sure and low * TIME < found.size < high * TIME):
        return found
    for shorter in (2, 4):
        closer = _compared(motion, run, dt, estimate, rough, shorter)
        if not closer.sure:
            return found
        pair = ((shorter // 2, found), (shorter, closer))
        coarse, fine = (one.size * seen(motion, len(run.t) - 1, rough, cut) for cut, one in pair)
        found = found if doubtful and fine < coarse and found.size > closer.size else closer
        if not doubtful or 2.0 * fine - coarse <= TOLD or closer.size > TOLD:
            return found
    return found._replace(size=2.0 * fine - coarse)


def _appealed(motion: OngoingMotion, run: Trajectory, dt: float, estimate: _Estimate, verdict: TimeError) -> TimeError:
    """The verdict, unless steps that are shorter than those it is based on, three kinds of them, all agree with the motion.

    Newton may have led the judge's steps astray, and not the motion's: shorter ones decide.
    """
    looks = []
    for shorter, sharp in APPEAL:
        look = _compared(motion, run, dt, estimate, True, shorter, sharp=sharp)
        if not look.sure or look.size > TOLD:
            return verdict
        looks.append(look)
    return max(looks, key=lambda look: look.size)


def _compared(
    motion: OngoingMotion,
    run: Trajectory,
    dt: float,
    estimate: _Estimate,
    rough: bool,
    shorter: int,
    recut: bool = False,
    sharp: bool = False,
) -> TimeError:
    """The difference to shorter steps.

    Linear equations have no answer where errors seem to grow beyond all bounds. That may be due to the few instants at which
    matrices are taken, as of regularised friction, which holds for less than a step each time that sliding turns round.
    A part of the motion then settles the doubt, if the difference stays far below what is told even if it grows with
    the square of the local errors that are still to come.
    """
    found, curve = estimate.error, estimate.curve(len(run.t))
    nodes, radii = run.system.once(nodes_of)
    length, steps = length_of(run, nodes), len(run.t) - 1
    best = TimeError(0.0, found.at, found.where, True)
    whole = 1.0 / seen(motion, steps, rough, shorter)
    done, missed, rest = 0, None if estimate.certain else added_up(run), _rest(motion, dt, steps, recut)
    try:
        for first, q in finer(motion, run, dt, rough, shorter, recut, sharp, 1 if missed is None else PARTS):
            row, done = first + 1 + np.arange(len(q)), first + len(q)
            error = whole * apart(run.system, nodes, radii, run.q[row], q) / length
            k, place = np.unravel_index(int(np.argmax(error)), error.shape)
            if error[k, place] > best.size:
                best = TimeError(float(error[k, place]), float(run.t[row[k]]), int(nodes[place]), True)
            if best.size > CERTAIN * TIME:
                behind, longer = float(np.max(curve[: row[k] + 1])), len(curve) / int(row[k])
                growth = min(float(np.max(curve)) / behind, longer) if behind * longer > np.max(curve) else longer
                return best._replace(size=best.size * growth)
            if missed is not None and rest <= done < steps:
                growth = max(steps / done, 1.0 / max(float(missed[done]), 1e-150))
                if BEYOND * best.size * growth**2 < TOLD:
                    return best._replace(size=best.size * growth)
    except SolverError:  # they take too long
        if done < ENOUGH * steps:
            return found._replace(size=max(min(found.size, 1.0), best.size), sure=False)
        bounded = estimate.certain and found.size < 1.0  # what grows beyond all bounds may do so in the rest
        enough = 0.5 if bounded else WHOLE
        best = best._replace(size=CAREFUL * best.size, sure=done > enough * steps)
    return best._replace(size=best.size * steps / max(done, 1))


def _rest(motion: OngoingMotion, dt: float, steps: int, recut: bool) -> float:
    """The step from which on the rest of a motion is like what came before: no loads jump, and none is cut anew."""
    jumps = (jump.step + 1.0 for jump in motion.jumps)
    anew = (t / dt + 1.0 for t, _ in motion.pieces if recut)
    return max([SOME * steps, *jumps, *anew])
