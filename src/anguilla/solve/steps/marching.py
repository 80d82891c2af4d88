"""Steps one after another: equal ones in the compiled loop, or such as keep an error; both land on jumps of the loads."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from anguilla.model.model import LoadTable
from anguilla.solve.newton.rules import CONVERGED
from anguilla.solve.steps.motion import OngoingMotion, keep_state, note
from anguilla.solve.steps.pieces import controlled_step, cut, whole
from anguilla.solve.steps.stepping import History

BLOCK_SECONDS = 0.2  # how often the compiled loop comes up for air
FIRST, SMALL = 256, 30  # steps that it takes before anybody knows how long they last, of robots with so few coordinates


def in_blocks(
    m: OngoingMotion,
    loads: LoadTable,
    dt: float,
    done: int,
    steps: int,
    every: int,
    out: History,
    tick,
    t0: float = 0.0,
) -> tuple[int, int]:
    """Blocks of steps from `done` on, which begin at t0; a failed step is cut into pieces."""
    block = FIRST if len(m.q) <= SMALL else FIRST // 4
    notes = m.noting and every > 1  # what is remembered between stored states is lost with these
    while done < steps:
        jump, due = m.between(done), (done // every + 1) * every if notes else steps
        stop, reached, clock, status = min(steps, done + block, jump, due), done, time.perf_counter(), CONVERGED
        if done == jump:
            keep = partial(keep_state, m, out, (done + 1) // every, (done + 1) % every == 0)
            status = across(m, done, dt, m.one_step, keep)
            if status != CONVERGED:
                return done, status
            reached = stop = done + 1
        elif whole(m):
            reached, status = m.run(loads, t0, dt, done, stop, every, out)
            if notes and reached == stop and stop % every == 0:
                note(m, stop // every)
        clock = time.perf_counter() - clock
        m.passed += reached - done
        if reached < stop:
            status = cut(m, t0 + reached * dt, dt, status)
            if status != CONVERGED:
                return reached, status
            reached += 1
            m.passed += 1
            keep_state(m, out, reached // every, reached % every == 0)
        elif clock < 0.25 * BLOCK_SECONDS:
            block *= 4 if stop - done == block else 1
        elif clock > 2.0 * BLOCK_SECONDS:
            block = max(1, block // 4)
        done = reached
        tick(done)
    return done, CONVERGED


def across(
    m: OngoingMotion, step: int, dt: float, advance: Callable[[float, float], int], keep: Callable[[], None]
) -> int:
    """One step with jumps in it or at its end: onto each under the loads before it, and anew behind it; Newton's status.

    `advance` goes a length of time on from an instant [s], `keep` stores the state at the end. A jump there is behind it if
    loads read there are those behind.
    """
    t, end, status = step * dt, (step + 1) * dt, CONVERGED
    for jump in m.jumps[m.next_jump(step) : m.next_jump(step + 1)]:
        if jump.at > t:
            status = advance(t, jump.at - t)
        if status != CONVERGED:
            return status
        if jump.at == end:
            keep()
        t, status = jump.at, m.begin_behind(jump, dt)
        if status != CONVERGED:
            return status
    if t < end:
        status = advance(t, end - t)
    if t < end or end >= jump.after:
        keep()
    return status


def by_error(
    m: OngoingMotion, dt: float, steps: int, every: int, out: History, tick: Callable[[int], None], goal: float
) -> tuple[int, int]:
    """Steps chosen by their error, landing on multiples of dt."""
    h, largest = dt, np.zeros(len(m.loads(0.0).loads.row))

    def advance(t: float, length: float) -> int:
        nonlocal h
        h, status = controlled_step(m, t, t + length, h, goal, largest)
        return status

    for step in range(steps):
        m.passed = step
        keep = partial(keep_state, m, out, (step + 1) // every, (step + 1) % every == 0)
        if m.between(step) == step:
            status = across(m, step, dt, advance, keep)
        else:
            h, status = controlled_step(m, step * dt, (step + 1) * dt, h, goal, largest)
            keep()
        if status != CONVERGED:
            return step, status
        tick(step + 1)
    return steps, CONVERGED
