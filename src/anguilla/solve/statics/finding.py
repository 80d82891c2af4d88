"""Newton for an equilibrium: at once, in load increments, from where the robot slides, down from where it would fall."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from anguilla.errors import warn
from anguilla.interact.kernels.rubbing import set_friction
from anguilla.interact.kernels.table import DT, INPUT, KIND, LENGTH, ROTATION, TRANSLATION, Loads
from anguilla.linear.choice import DENSE, TREES
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import Evaluation, at_rest
from anguilla.model.model import LoadTable, Model
from anguilla.results.contacts import jumps
from anguilla.results.passing import passes
from anguilla.results.reactions import evaluate, grasps
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.solve.newton.closing import CLOSED, LoadPath, drive, gap_at, loose_at, path_from, settle
from anguilla.solve.newton.continuation import Attempt, Continuation, Followed, counted, halted
from anguilla.solve.newton.gaps import gaps_at
from anguilla.solve.newton.newton import COUNTERS, FACTORISATIONS, FRESH, ITERATIONS, USABLE, Goal, scratch
from anguilla.solve.newton.rules import CONVERGED, DIVERGED, EXPLANATION, SINGULAR, TOO_MANY_ITERATIONS
from anguilla.solve.statics.downhill import BALANCED, SLID, balances, level, neutral, nudged, relaxed, slide
from anguilla.solve.statics.judging import adrift, balanced, unbalanced
from anguilla.solve.statics.relaxing import carry, come_to_rest
from anguilla.solve.statics.stability import FALLS, FLUTTERS, LEVEL, MAY_FLUTTER, is_whole, restlessness
from anguilla.solve.steps.stepping import ONCE, STATIC, State, runner, stored

PASSING = "its parts would pass through each other on the way to what Newton finds"
FROM_START = " from the given start, nor does a damped motion from there come to rest"
SNAPPED = "the least step of it turns the rods far, as if they snapped through"
SAME = 1e-3  # [rad, or relative displacement] between two ways to one equilibrium
ROUGHLY = 1e-5  # [rad, or relative displacement] error of a large robot on its way
GAPING = 0.02  # [m, rad] gap that Newton closes by itself on the way of a large robot, without being led astray
DRAWN = 0.01  # of its length, by which a tendon is drawn in one step
TAUT = 1e-3  # of its length, by which a tendon may hang and still be taken as taut in a shape to start from
ANY_PULL = 1.0  # [N]
NEUTRAL = " (not unique"
STAYS = ("", LEVEL)  # a robot at an equilibrium
AGAIN = 4  # times a robot that friction holds is let come to rest
MOST_FRICTION = 60  # times the tensions along tendons are updated
WOUND = 1e6  # [rad, or relative displacement] by which Newton moves only what nothing holds

Held = tuple[Floats, Floats]  # coordinates and multipliers


def _in_balance(system: Model, loads: Loads, q: Floats, lam: Floats) -> bool:
    return balanced(system, loads, q, lam, BALANCED) or unbalanced(system, loads, q, lam)[0] <= BALANCED


@dataclass
class LoadedNewton:
    """Newton under a part of the loads."""

    system: Model
    tolerance: float
    most: int

    def __post_init__(self) -> None:
        n, m, kept = self.system.size, self.system.rows, self.system.desk().kept
        if "statics" not in kept:  # memory is made once for all calls at a desk
            state = State(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(m))
            kept["statics"] = scratch(self.system), state, stored(1, n, m), np.zeros(0, np.int64), np.zeros((1, 0))
        self.memory, self.state, *self.rest = kept["statics"]
        self.memory.memory[:], self.memory.counters[:] = FRESH, 0
        self.run, self.passed = runner(self.system), False

    def __call__(self, loads: Loads, q: Floats, lam: Floats, near: Floats | None = None, chord: bool = False) -> int:
        """Solve from (q, lam), which are updated on success. Returns a status; what does not balance has not converged.

        Nor has what is too far from `near`, if that is given, or where parts pass through each other on the way.
        """
        system, before = self.system, (q.copy(), lam.copy())
        for _ in range(2):  # forces may be left after corrections that are small in all other respects
            status = self.quickly(loads, q, lam, chord=chord)
            if status == CONVERGED and near is not None and _too_far(system, near, q):
                break
            if status == CONVERGED and passes(system, before[0], q):
                self.passed = True
                break
            if status != CONVERGED or _in_balance(system, loads, q, lam):
                return status
        q[:], lam[:] = before
        return DIVERGED

    def on_the_way(self, loads: Loads, q: Floats, lam: Floats, chord: bool) -> int:
        """The same under a part of the loads: a large robot need not be found to the last digit there."""
        rough = max(self.tolerance, ROUGHLY) if self.system.size > TREES else self.tolerance
        return self.quickly(loads, q, lam, rough, chord)

    def quickly(self, loads: Loads, q: Floats, lam: Floats, tolerance: float | None = None, chord: bool = False) -> int:
        """The same, balanced or not, with the tensions along tendons that rub; with `chord`, tangents are kept."""
        system, state, tolerance = self.system, self.state, self.tolerance if tolerance is None else tolerance
        out, none, empty = self.rest
        how = tuple(STATIC), tuple(ONCE), False, state, tuple(Goal(0.0, tolerance, self.most, chord)), out
        loads.row[DT] = 0.0
        for number in range(MOST_FRICTION):
            self.memory.memory[USABLE] = 0.0
            state.q[:], state.v[:], state.a[:], state.acc[:], state.lam[:] = q, 0.0, 0.0, 0.0, lam
            factors = loads.cables.factor, loads.pairs.factor
            before = [factor.copy() for factor in factors]
            _, status = self.run(system.tree, system.workspace, self.memory, loads, none, empty, *how)
            if status == CONVERGED and np.max(np.abs(state.q - q) * system.tree.scale, initial=0.0) > WOUND:
                return SINGULAR
            q[:], lam[:] = state.q, state.lam
            if status != CONVERGED or not len(loads.cables.path):
                return int(status)
            set_friction(system.tree, system.workspace, loads.cables, loads.pairs)
            if all(np.max(np.abs(x - y), initial=0.0) < 1e-12 for x, y in zip(factors, before, strict=True)):
                return CONVERGED
            if number >= MOST_FRICTION // 3:  # they swing: take means
                for x, y in zip(factors, before, strict=True):
                    x[:] = 0.5 * (x + y)
        return TOO_MANY_ITERATIONS


def origin_of(system: Model, start: Equilibrium | Trajectory) -> tuple[Floats, Floats] | None:
    """(q, row of loads) that the present equilibrium can be reached from; None if the start has other loads.

    That is an equilibrium, or the end of a motion with friction that holds.
    """
    if system.is_plain or start.system.rows != system.rows:
        return None
    if isinstance(start, Trajectory) and not grasps(system.blank):
        return None
    row = start.system.loads(start.stored.t[-1:], start.inputs).loads.row
    if row.shape != system.blank.row.shape:
        return None
    return system.vector(start.stored.q[-1], "start"), row


def find(
    system: Model, table: LoadTable, origin: Floats | tuple[Floats, Floats], q: Floats, lam: Floats, tolerance: float,
    iterations: int, *, chosen: bool,
) -> tuple[Floats, int, str, dict[str, int]]:  # fmt: skip
    """Newton under the full loads from the mounted q; if that fails, in load increments, and of mounting from the origin.

    The origin is a configuration, or that of an equilibrium with its row of loads, which is then followed to the new one.
    If nobody has chosen the start, or Newton has left it, the robot does not stay where it would fall. Returns (q, status,
    message, counters).
    """
    solve = LoadedNewton(system, tolerance, iterations)
    begin, plain = q.copy(), system.is_plain
    if grasps(system.blank):
        if isinstance(origin, tuple) and len(table.loads.driven):
            path = path_from(system, table, *origin)
            begin, lam[:], gone = carry(system, path, origin[0], lam)
            if gone < 1.0:
                return (
                    begin,
                    DIVERGED,
                    halted(gone, "what moves as it is told takes along nothing that could follow"),
                    {},
                )
        else:
            path = path_from(system, table, np.zeros(system.size) if plain else q)
        return _held(solve, path.at(1.0), begin, lam)
    at_rest = not np.any(begin) or not plain
    source = origin if isinstance(origin, tuple) else (origin,)
    given = lam.copy()
    path = path_from(system, table, np.zeros(system.size) if plain else q)
    if system.rows and not np.any(lam):
        lam[:] = _first_multipliers(system, path.at(1.0), q)
    drawn = _drawn(path)
    near = (source[0] if len(source) > 1 else begin) if at_rest else None
    status = CONVERGED if drawn else solve(path.at(1.0), q, lam, near)
    pieces, factor, way, away = 1, 1.0, "", ""
    # what the rest shape leads to may be on the other side of parts that meet
    elsewhere = bool(len(system.blank.touches.table)) and plain and not at_rest
    if drawn or status != CONVERGED:
        lam[:] = given if len(source) > 1 else 0.0
        chosen &= len(source) > 1 or not np.any(begin)  # a start of some shape was left
        first = np.zeros(system.size) if plain else source[0].copy()
        path = (
            path if plain or (len(source) == 1 and np.array_equal(first, begin)) else path_from(system, table, *source)
        )
        if elsewhere:
            found = Followed((begin.copy(), lam.copy()), 0.0, 1, status, "")
        else:
            found = _in_steps(solve, path, first, lam)
        (q, lam[:]), factor, pieces, status = found.x, found.factor, found.steps, found.status
        way = "" if at_rest or pieces == 1 else " (from the rest shape: Newton failed from the given start)"
        if factor < 1.0:
            other, away = _other_ways(solve, path, begin, status == SINGULAR)
            if other is not None:
                q, lam[:], way, factor = *other, 1.0
    if factor >= 1.0:
        squeezed = bool(system.rows) and not np.array_equal(begin, source[0])
        q, lam[:], words = _settled(solve, path, begin, (q, lam), squeezed, chosen, NEUTRAL in way)
        way = way + words if words.startswith(NEUTRAL) else words or way
    counters = dict(zip(COUNTERS[:3], solve.memory.counters.tolist(), strict=False))
    counters["load_steps"] = pieces
    if factor >= 1.0:
        return q, CONVERGED, counted(counters["iterations"], pieces) + way, counters
    if status == CONVERGED or solve.passed:
        return q, DIVERGED, halted(factor, PASSING if solve.passed else SNAPPED), counters
    if elsewhere:
        return q, status, f"Newton does not get to one{FROM_START}", counters
    why = EXPLANATION[status] + (_unheld(system, path.at(1.0), q, lam) if status == SINGULAR else "")
    why += f"; nothing holds {away} against its loads: it moves away for ever" if away else ""
    return q, status, halted(factor, why), counters


def _held(solve: LoadedNewton, loads: Loads, begin: Floats, lam: Floats) -> tuple[Floats, int, str, dict[str, int]]:
    """Where a motion without momentum ends whose contacts hold: one of many equilibria."""
    system = solve.system
    q, still = begin, False
    for _ in range(AGAIN):  # near the end first steps are short, and may move less than what is felt before they grow
        q, lam[:], rests = come_to_rest(system, loads, q, lam)
        still = rests and _in_balance(system, loads, q, lam)
        if still or not rests:
            break
    counters = dict(zip(COUNTERS[:3], solve.memory.counters.tolist(), strict=False)) | {"load_steps": 1}
    if still:
        return q, CONVERGED, "came to rest in a damped motion (held by friction: one equilibrium of many)", counters
    away = adrift(system, loads, q, lam)
    why = f"{away} slides on: friction does not hold it" if away else "it slides on: friction does not hold it"
    return q, DIVERGED, why, counters


def _other_ways(
    solve: LoadedNewton, path: LoadPath, begin: Floats, singular: bool
) -> tuple[tuple[Floats, Floats, str] | None, str]:
    """(q, multipliers, words for the message) of an equilibrium that load increments did not reach from `begin`, or None.

    Singular starts, such as a straight rod or a level pendulum, are left by sliding down. What nothing holds may be in
    balance all the same: a closed ring, a free body. Else the robot moves, damped, until it rests; second, the names of
    what does not. A large open robot slides down in just that motion.
    """
    system, loads = solve.system, path.at(1.0)
    down = q, lam = (relaxed if system.rows else slide)(system, loads, begin)
    q, lam = q.copy(), lam.copy()
    if solve(loads, q, lam) == CONVERGED:
        return (q, lam, " (slid downhill: load increments did not get there)"), ""
    moved = not system.rows and not is_whole(system, SLID)
    if (singular or system.rows) and not moved:
        q, lam, free = neutral(system, loads, begin, solve.tolerance)
        if free:
            return (q, lam, _neutral(system, free)), ""
    found, away = _rested(solve, path, begin, down if moved else None)
    if found is None:
        return None, away
    words = _neutral(system, found[2]) if found[2] else ""
    return (*found[:2], " (came to rest in a damped motion: load increments did not get there)" + words), ""


def _rested(
    solve: LoadedNewton, path: LoadPath, begin: Floats, end: tuple[Floats, Floats] | None = None
) -> tuple[tuple[Floats, Floats, str] | None, str]:
    """(q, multipliers, what nothing holds) where a motion without momentum from `begin` ends; or None, and what goes on."""
    system, loads = solve.system, path.at(1.0)
    q, lam = end or come_to_rest(system, loads, begin, np.zeros(system.rows))[:2]
    exact, multipliers = q.copy(), lam.copy()
    if solve(loads, exact, multipliers) == CONVERGED and not _too_far(system, q, exact):
        return (exact, multipliers, ""), ""
    exact, multipliers = relaxed(system, loads, q, lam, exact=True, small=solve.tolerance)
    if not balances(system, loads, exact, multipliers):
        return None, adrift(system, loads, q, lam)
    return (exact, multipliers, loose_at(system, loads, exact, multipliers)), ""


def _neutral(system: Model, free: str) -> str:
    """Words for the message, and a warning, that nothing holds some coordinates."""
    what = f"The equilibrium of {system.robot.name!r} is not unique: nothing holds {free}."
    warn(what)
    return f"{NEUTRAL}: nothing holds {free})"


def _unheld(system: Model, loads: Loads, q: Floats, lam: Floats) -> str:
    """What nothing holds, as the end of a sentence; maybe nothing."""
    names = loose_at(system, loads, q, lam)
    return f", nothing holds {names}" if names else ""


def _drawn(path: LoadPath) -> bool:
    """Whether a tendon is to be drawn so far in that Newton could jump to another shape."""
    loads, at = path.table.loads, int(path.table.loads.at[INPUT])
    if not len(loads.constraints.table):
        return False
    held = np.flatnonzero(loads.constraints.input_row >= 0)
    return bool(np.any(path.lengths[held] - path.full[at + held] > DRAWN * path.lengths[held]))


def _first_multipliers(system: Model, loads: Loads, q: Floats) -> Floats:
    """Multipliers that balance the forces on a closed configuration as well as they can; taut tendons pull."""
    n, zero, lam, c = system.size, np.zeros(system.size), np.zeros(system.rows), loads.constraints
    force = evaluate(system, loads, q, zero, zero, lam)[:n] / system.tree.scale
    lines = np.flatnonzero(c.input_row >= 0)
    lines = lines[c.length[lines] > (1.0 - TAUT) * loads.row[int(loads.at[INPUT]) + lines]]
    taut = c.input_row[lines]
    lam[taut] = ANY_PULL
    found = _bearing(system, loads, at_rest(system, loads, q, lam), force)  # with lines that pull
    kinds = c.table[:, KIND]
    lam = np.where((kinds == TRANSLATION) | (kinds == ROTATION), found, 0.0)
    lam[taut] = np.maximum(found[taut], 0.0)
    return lam


def _bearing(system: Model, loads: Loads, here: Evaluation, force: Floats) -> Floats:
    """Multipliers (m,) that bear scaled forces (n,) as well as they can."""
    n, scale, every = system.size, system.tree.scale, np.arange(system.rows)
    if system.linear != DENSE:
        gaps = gaps_at(system, loads, here, every, np.ones(n))
        return gaps.bearing(force) * np.where(loads.constraints.table[:, KIND] == LENGTH, -1.0, 1.0)
    column = here.flat[:n, n:] / scale[:, None]
    free = np.setdiff1d(np.arange(n), loads.driven)
    return np.asarray(np.linalg.lstsq(column[free], -force[free], rcond=1e-10)[0], dtype=float)


def _settled(
    solve: LoadedNewton,
    path: LoadPath,
    begin: Floats,
    found: tuple[Floats, Floats],
    squeezed: bool,
    chosen: bool,
    told: bool,
) -> tuple[Floats, Floats, str]:
    """(q, multipliers, words for the message) of an equilibrium that was found from `begin`, or of a stable one below it.

    Newton knows no up and down. A robot slides down from where it began; one that symmetry alone holds upright, such as a
    straight column, stays. But a rod that was squeezed to close a loop is nudged out of its line. If somebody has chosen
    the start, or if no stable equilibrium is found below, the robot stays, and the words say so. They also say if it may go
    on to others without resistance, unless that was `told`.
    """
    system = solve.system
    why = restlessness(system, path.at(1.0), *found)
    if why == LEVEL:
        free = "" if told else level(system, path.at(1.0), *found)
        return *found, _neutral(system, free) if free else ""
    if not why or chosen:
        return *found, f" (unstable: {why})" if why else ""
    below = None
    if why == FALLS:
        below = _fallen(solve, path, begin)
        if below is None and squeezed:
            below = _fallen(solve, path, nudged(system, path.at(1.0), *found))
        if below is None and (rest := _rested(solve, path, begin)[0]):
            if restlessness(system, path.at(1.0), *rest[:2]) in STAYS:
                below = rest[:2]
            elif np.linalg.norm((rest[0] - found[0]) * system.tree.scale) < SAME:
                why = "only symmetry holds it there"
    if below is not None:
        words = " (slid downhill: Newton found an unstable equilibrium first)"
        free = level(system, path.at(1.0), *below) if restlessness(system, path.at(1.0), *below) == LEVEL else ""
        return *below, words + (_neutral(system, free) if free else "")
    if why != MAY_FLUTTER:
        other = "A start (start=...) next to another shape leads there."
        remedy = "Damping may stop it; ag.modes tells which vibration grows." if why == FLUTTERS else other
        what = f"The equilibrium of {system.robot.name!r} is unstable: {why}. {remedy}"
        warn(what)
    return *found, f" (unstable: {why})"


def _fallen(solve: LoadedNewton, path: LoadPath, top: Floats) -> tuple[Floats, Floats] | None:
    """(q, multipliers) of a stable equilibrium downhill from a shape; None if that does not lead to one."""
    system, loads = solve.system, path.at(1.0)
    q, lam = slide(system, loads, top)
    if (
        solve(loads, q, lam) != CONVERGED
    ):  # it may be free to turn, as a round rod that buckles to no side in particular
        q, lam = relaxed(system, loads, q, lam, exact=True, small=solve.tolerance)
        if not balances(system, loads, q, lam):
            return None
    return (q, lam) if restlessness(system, loads, q, lam) in STAYS else None


def _in_steps(solve: LoadedNewton, path: LoadPath, q: Floats, lam: Floats) -> Followed[Held]:
    """Follow a path from (q, lam)."""
    system, counters = solve.system, solve.memory.counters
    large = system.size > TREES and system.linear != DENSE
    kind = FACTORISATIONS if large else ITERATIONS  # what costs most

    def attempt(start: Held, last: Held, goal: float) -> Attempt[Held]:
        before, status = counters[kind], TOO_MANY_ITERATIONS
        # balance is checked where it ends; from an extrapolated start a tangent serves for several corrections
        newton = partial(solve.on_the_way if goal < 1.0 else solve, chord=large and start is not last)
        trial, multipliers = drive(path.at(goal), start[0]), start[1].copy()
        gap = 0.0 if system.is_plain else gap_at(system, path.at(goal), trial)
        nearly = system.is_plain or (system.size > TREES and gap < GAPING)
        if nearly:
            status = newton(path.at(goal), trial, multipliers)
        if not nearly or (status != CONVERGED and gap > CLOSED):
            # closed first: stiff rods would answer a gap with forces that lead Newton astray
            trial, multipliers = settle(system, path.at(goal), start[0]), start[1].copy()
            status = newton(path.at(goal), trial, multipliers)
        far = SNAPPED if status == CONVERGED and _too_far(system, last[0], trial) else ""
        return Attempt((trial, multipliers), status, int(counters[kind] - before), far)

    def ahead(before: Held, now: Held, ratio: float) -> Held:
        return now[0] + ratio * (now[0] - before[0]), now[1] + ratio * (now[1] - before[1])

    # a long soft chain unrolls from its clamp under a millionth of its weight
    how = Continuation(cut=0.25, easy=4, smallest=1e-10) if large else Continuation()
    return how.follow((q, lam.copy()), attempt, ahead)


def _too_far(system: Model, before: Floats, after: Floats) -> bool:
    """Whether a load increment turned the rods so much that Newton may have jumped to another branch or over an obstacle."""
    turned = np.linalg.norm((after - before) * system.tree.strain_scale) > 2.0 * np.sqrt(len(system.tree.first) - 1)
    return bool(turned) or jumps(system, before, after)
