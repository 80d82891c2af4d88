"""Jumps of what acts on a robot during a motion: found in its samples, and placed among the time steps.

A step across a jump is of first order only. So a motion steps onto each jump under the loads before it, and begins anew
behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.errors import DescriptionError, as_array, warn
from anguilla.interact.kernels.table import INPUT, MOTION, POSE, RATES, STRESS
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.model import Inputs, Model
from anguilla.solve.steps.named import instants_named_by, named_instants

ODD = 0.3  # part of the differences around it by which one misses their mean, if it may hide a jump
LEFT = 0.4  # part of it that stays, however short the interval, if it does
SMALL = 1e-3  # part of the range of a signal below which a jump does not matter
ROUND_OFF = 1e-9  # the same as a part of its size
HIDDEN = 0.1  # part of the range of a signal by which it may miss what lies between its samples
LOOKED_AT = 2.0 ** -np.arange(1.0, 5.0)  # of the rest of a step behind an instant that a function names
FELT = 1e-7  # part of the range of a prescribed motion by which a jump of its rates must move it in a step to matter
LEAST = 1e-12  # [rad, relative displacement] the same of any prescribed motion: its own range may be rounding
NARROW = 1e-9  # width of the interval that a jump is narrowed down to, as a part of the step
SNAP = 1e-4  # of a step: a jump so near to its end lies there
HALVINGS = 60  # more than a jump needs

Sampler = Callable[[Floats], Floats]


class Jump(NamedTuple):
    """A jump among time steps; one at t = 0 is in step -1."""

    step: int  # number of the step in which, or at whose end, it lies
    at: float  # instant [s]
    before: float  # instants just before and just after it [s], at which loads are taken
    after: float


def find_jumps(sample: Sampler, t: Floats, y: Floats, least: Floats | float = 0.0) -> list[tuple[float, float, int]]:
    """(before, after, column) of the jumps of signals y (nt, w), known at the times t (nt,) [s]; `sample` gives more of them.

    Suspicious is a difference of two neighbouring samples that the differences beside it do not explain. Then the interval
    is halved, and halved again: the change of a steep smooth signal gets smaller, a jump stays. Jumps smaller than `least`
    (w,) are none.
    """
    if len(t) < 2 or not y.shape[1]:
        return []
    suspects, columns, miss = _suspects(y, least)
    ends = np.stack([t[suspects], t[suspects + 1]])
    values = np.stack([y[suspects, columns], y[suspects + 1, columns]])
    width = np.maximum(NARROW * (ends[1] - ends[0]), 4.0 * np.spacing(np.abs(ends[1])))
    found: list[tuple[float, float, int]] = []
    # first beside the ends: jumps like to lie on samples
    beside = np.stack([ends[1] - width, ends[0] + width])
    near = _values(sample, beside.ravel(), np.tile(columns, 2)).reshape(2, -1) if len(columns) else beside
    for k in range(HALVINGS):
        if not len(columns):
            break
        if k < 2:
            cut, value = beside[k], near[k]
        else:
            cut = 0.5 * (ends[0] + ends[1])
            value = _values(sample, cut, columns)
        side = np.where(np.abs(value - values[0]) > np.abs(values[1] - value), 1, 0)  # the end that moves to the cut
        here = np.arange(len(columns))
        ends[side, here], values[side, here] = cut, value
        keep = np.abs(values[1] - values[0]) > LEFT * miss
        done = keep & (ends[1] - ends[0] <= 1.5 * width)
        sure = done & _stays(sample, ends, values[0], columns, LEFT * miss) if np.any(done) else done
        found += zip(*ends[:, sure].tolist(), columns[sure].tolist(), strict=True)
        keep &= ~done
        ends, values, columns, miss, width = ends[:, keep], values[:, keep], columns[keep], miss[keep], width[keep]
        beside, near = beside[:, keep], near[:, keep]
    return sorted(found)


def _stays(sample: Sampler, ends: Floats, before: Floats, columns: Ints, least: Floats) -> NDArray[np.bool_]:
    """Whether what lies between the ends (2, k) [s] is more than `least` (k,), depends on t alone, and not on chance.

    Both ends are looked at together: rates by differences depend a little on the times that are asked for with them.
    """
    again, both = _values(sample, ends[0], columns), _values(sample, ends.ravel(), np.tile(columns, 2))
    return np.asarray((again == before) & (np.abs(np.diff(both.reshape(2, -1), axis=0)[0]) > least))


def _suspects(y: Floats, least: Floats | float) -> tuple[Ints, Ints, Floats]:
    """Numbers of intervals and columns whose differences may hide a jump, and how large it would be."""
    d = np.diff(y, axis=0)
    before, after = np.roll(d, 1, axis=0), np.roll(d, -1, axis=0)
    if len(d) > 1:
        before[0], after[-1] = d[1], d[-2]
    else:
        before[:], after[:] = 0.0, 0.0
    miss = np.abs(d - 0.5 * (before + after))
    around = np.maximum(np.abs(d), np.maximum(np.abs(before), np.abs(after)))
    size = np.maximum(least, np.maximum(SMALL * np.ptp(y, axis=0), ROUND_OFF * np.max(np.abs(y), axis=0)))
    odd = (miss > ODD * around) & (np.abs(d) > size)
    intervals, columns = np.nonzero(odd)
    return intervals, columns, np.minimum(miss, np.abs(d))[odd]


def _values(sample: Sampler, times: Floats, columns: Ints) -> Floats:
    """Values of some columns, each at its own time; equal times are sampled once."""
    each, back = np.unique(times, return_inverse=True)
    rows = sample(each if len(each) > 1 else np.repeat(each, 2))  # two, so that the signals count as varying
    return rows[back.reshape(-1), columns]


def place(found: Sequence[tuple[float, float]], dt: float, steps: int) -> list[Jump]:
    """Jumps (before, after) [s] among steps of length dt, in order; those at one instant become one."""
    jumps: list[Jump] = []
    for before, after in sorted(found):
        at = 0.5 * (before + after)
        grid = round(at / dt)
        on_grid = abs(at - grid * dt) < SNAP * dt
        jump = Jump(int(at // dt), at, before, after)
        if on_grid:
            jump = Jump(grid - 1, grid * dt, min(before, grid * dt), max(after, grid * dt))
        if jumps and jump.at - jumps[-1].at < SNAP * dt:
            last = jumps.pop()
            jump = last._replace(before=min(last.before, jump.before), after=max(last.after, jump.after))
        if jump.step < steps:
            jumps.append(jump)
    return jumps


def events_of(
    system: Model,
    inputs: Inputs,
    dt: float,
    steps: int,
    declared: ArrayLike | None,
    known: tuple[Floats, Floats] | None,
) -> list[Jump]:
    """The jumps of a motion: as declared, or found in the samples (times (nt,), values (nt, w)) of all that acts.

    Args:
        system: the compiled robot.
        inputs: inputs of its actuators.
        dt: step [s].
        steps: number of steps.
        declared: instants [s], or None to find them.
        known: samples inside the motion that exist already, or None.

    """
    end = steps * dt
    if declared is not None:
        instants = np.sort(np.atleast_1d(as_array(declared, "events", "instants [s] of jumps")).ravel())
        if not len(instants):
            return []
        if np.any(instants < 0.0) or np.any(instants > end * (1.0 + 1e-9)):
            raise DescriptionError(f"events must lie between 0 and the duration, {end:g} s; got {instants.tolist()}.")
        width = np.maximum(NARROW * dt, 4.0 * np.spacing(instants))
        return place(list(zip((instants - width).tolist(), (instants + width).tolist(), strict=True)), dt, steps)
    if system.is_steady(inputs):
        return []
    sample = lambda times: system.loads(times, inputs).table
    t, y = known if known is not None else (dt * np.arange(1, steps + 1, dtype=np.float64), None)
    y = sample(t if len(t) > 1 else np.repeat(t, 2))[: len(t)] if y is None or len(t) < 2 else y
    outer = [0.0] if t[-1] > end * (1.0 - 1e-9) else [0.0, end]
    outermost = system.loads(np.array([0.0, end]), inputs)
    ends, places = outermost.table, outermost.column
    t = np.concatenate([np.zeros(1), t, np.array(outer[1:], dtype=np.float64)])
    y = np.concatenate([ends[:1], y, ends[1 : len(outer)]])
    named = named_instants(system, inputs, float(t[-1]) - SNAP * dt)
    t, y, hidden = _with_named(named, sample, t, y, dt, _noise(system, places, y, dt))
    if hidden is not None and known is not None:  # else steps are chosen by their error
        warn(
            f"{system.robot.name!r}: what acts around t = {hidden:.6g} s is over between two steps, which do not see it: "
            f"take a dt well below {dt:g} s."
        )
    found = find_jumps(sample, t, y, _noise(system, places, y, dt))
    if found:
        _refuse_impossible(system, sample, places, found)
    return place([(before, after) for before, after, _ in found], dt, steps)


def jumps_of_signals(
    name: str, sample: Sampler, functions: Sequence[object], dt: float, steps: int
) -> list[tuple[float, float]]:
    """(before, after) [s] of the jumps of the signals of a sampler during a motion; what its functions name is looked at.

    Args:
        name: of the robot, for warnings.
        sample: gives values (nt, w) at times (nt,) [s].
        functions: those behind the signals.
        dt: step [s].
        steps: number of steps.

    """
    t = dt * np.arange(steps + 1, dtype=np.float64)
    y = sample(t)
    if not y.shape[1]:
        return []
    t, y, hidden = _with_named(instants_named_by(functions, t[-1] - SNAP * dt), sample, t, y, dt, np.zeros(y.shape[1]))
    if hidden is not None:
        warn(
            f"{name!r}: what acts around t = {hidden:.6g} s is over between two steps, which do not see it: take a dt well "
            f"below {dt:g} s."
        )
    return [(before, after) for before, after, _ in find_jumps(sample, t, y)]


def _with_named(
    instants: Sequence[float], sample: Sampler, t: Floats, y: Floats, dt: float, least: Floats
) -> tuple[Floats, Floats, float | None]:
    """Samples (times (nt,), values (nt, w)) with more of them where functions name instants, and what steps would not see.

    If nothing there is other than what lies around it, the samples are as they were. Last, the instant [s] of what is over
    within a step without a jump; None if nothing is.
    """
    named = np.array(instants)
    if not len(named):
        return t, y, None
    between = named[np.abs(named / dt - np.round(named / dt)) > SNAP]
    behind = np.minimum(np.append(named[1:], np.inf), t[np.searchsorted(t, named + SNAP * dt)])[:, None]
    sides = np.concatenate([between - NARROW * dt, between + NARROW * dt])
    inner = (named[:, None] + LOOKED_AT * (behind - named[:, None])).ravel()
    more = np.concatenate([sides, inner])
    values = sample(more)
    after = np.searchsorted(t, more)
    share = ((more - t[after - 1]) / (t[after] - t[after - 1]))[:, None]
    away = np.abs(values - (1.0 - share) * y[after - 1] - share * y[after])
    size = np.maximum(np.ptp(y, axis=0), np.max(away, axis=0))
    odd = (away > np.maximum(HIDDEN * size, least)) & (size > ROUND_OFF * np.max(np.abs(values)))
    if not np.any(odd):
        return t, y, None
    before, beyond = values[: len(between)], values[len(between) : 2 * len(between)]
    jumps = np.any(np.abs(beyond - before) > SMALL * size, axis=0)
    alone = odd & (np.abs(y[after] - y[after - 1]) < 0.1 * HIDDEN * size) & ~jumps
    worst = int(np.argmax(np.max(np.where(alone, away / np.where(size > 0.0, size, 1.0), 0.0), axis=1)))
    whole = np.concatenate([t, more])
    order = np.argsort(whole, kind="stable")
    return whole[order], np.concatenate([y, values])[order], float(more[worst]) if np.any(alone) else None


def _noise(system: Model, places: Ints, y: Floats, dt: float) -> Floats:
    """Jumps (w,) of prescribed motions and poses that do not matter: rates may come from differences, all from rounding."""
    at, scale = [int(x) for x in system.blank.at], system.tree.scale
    least = np.zeros(len(places))
    for column in np.flatnonzero((places >= at[POSE]) & (places < at[STRESS])):
        k, order = divmod(int(places[column]) - at[MOTION], 3)
        if k < 0:
            least[column] = LEAST
            continue
        range_of = FELT * np.ptp(y[:, column - order]) if order else 0.0
        least[column] = max(range_of, LEAST / scale[system.blank.driven[k]]) / dt**order
    return least


def _refuse_impossible(system: Model, sample: Sampler, places: Ints, found: list[tuple[float, float, int]]) -> None:
    """Refuse positions that jump, which nothing can follow; warn of velocities that do, which takes a blow."""
    at, robot = [int(x) for x in system.blank.at], system.robot
    blows: dict[str, float] = {}
    for before, after, column in found:
        row, position, velocity = int(places[column]), "", ""
        if at[POSE] <= row < at[MOTION]:
            position = f"the prescribed pose of {list(robot.closures)[(row - at[POSE]) // 12]!r}"
        elif at[MOTION] <= row < at[STRESS]:
            k, order = divmod(row - at[MOTION], 3)
            name = robot.coordinates()[system.blank.driven[k]]
            position = f"the prescribed motion of {name}" if order == 0 else ""
            velocity = f"the prescribed velocity of {name}" if order == 1 else ""
        elif at[RATES] <= row < at[RATES] + len(robot.constraints):
            velocity = f"the rate of {robot.constraints[row - at[RATES]].label}"
        elif at[INPUT] <= row < at[POSE] and _shortens(
            system, row - at[INPUT], sample(np.array([before, after])), column
        ):
            velocity = f"the length of tendon {list(robot.actuators)[row - at[INPUT]]!r}"
        if position:
            raise DescriptionError(f"{position} jumps at t = {after:.6g} s: let it move there over some time.")
        if velocity:
            blows.setdefault(velocity, after)
    for what, when in blows.items():
        warn(
            f"{robot.name!r}: {what} jumps at t = {when:.6g} s, which needs an infinite force: "
            "the motion after it depends on dt. Let it change over some time.",
        )


def _shortens(system: Model, actuator: int, values: Floats, column: int) -> bool:
    """Whether an inextensible tendon is driven by a length that becomes shorter."""
    held = system.blank.constraints
    row = int(held.input_row[actuator])
    return row >= 0 and held.value[row] == 0.0 and bool(values[1, column] < values[0, column])
