"""Coming to rest: a motion damped so much that it has no momentum, M (q1 - q) / dt^2 + C (q1 - q) / dt + R(q1) = 0.

Each step is one of backward Euler from rest, with the compiled Newton solver of the motions. It goes downhill, passes over
bifurcations, finds obstacles by touching them, and becomes Newton's own step as dt grows. dt stays so short that the robot
leaves a place from which it would fall: with too long a step backward Euler stays on top of any hill.
"""

from __future__ import annotations

import numpy as np

from anguilla.interact.kernels.table import DT, INPUT, KIND, MOTION, TIME, TWIST, Loads
from anguilla.linear.choice import TREE
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import at_rest
from anguilla.model.model import Model
from anguilla.results.contacts import jumps
from anguilla.results.reactions import evaluate, grasps
from anguilla.solve.newton.closing import LoadPath, drive, settle
from anguilla.solve.newton.newton import ITERATIONS, USABLE, Goal, scratch
from anguilla.solve.newton.rules import CONVERGED
from anguilla.solve.newton.spectrum import Stiffness
from anguilla.solve.statics.stability import is_whole, linear
from anguilla.solve.steps.schemes import Newmark
from anguilla.solve.steps.stepping import ONCE, State, runner, stored

__all__ = ["carry", "come_to_rest"]

EULER = tuple(Newmark(1.0, 1.0).coefficients)
GOAL = tuple(Goal(1e-6, 1e-9, 25, chord=False))
FIRST = 0.05  # of the time in which gravity moves a robot by its length
SHORTEST, LONGEST = 1e-7, 1e5  # of that time
STEPS = 400
FARTHEST = 0.5  # [rad, or lengths of the robot] in one step, for each root of the number of parts
WARY = 5  # good steps after one that was too long, before they may grow fast again
DRAWN = 0.01  # of its length, by which a tendon is drawn in one step
AT_REST = 1e-7  # of a step
PIECE, TURN, SLOWLY = 0.005, 5e-4, 0.6  # lengths, and [rad], that what is told moves in one step; its dt, of that time
LEAST = 1e-3  # of such a piece
GRAVITY = 9.81  # [m/s^2] for a first step; any other would do


def come_to_rest(system: Model, loads: Loads, q: Floats, lam: Floats) -> tuple[Floats, Floats, bool]:
    """(q, multipliers, whether it moves no more) after a motion without momentum from q, under constant loads."""
    if np.any(loads.constraints.table[:, KIND] == TWIST):
        return q, lam, False  # twists hold a motion, but not a robot at rest
    q, lam = settle(system, loads, q) if not system.is_plain else q.copy(), lam.copy()
    s, run, n = scratch(system), runner(system), system.size
    state, now = loads.frames.state.copy(), float(loads.row[TIME])
    unit = float(np.sqrt(system.layout.length / GRAVITY))
    dt, before, still, good = FIRST * unit, int(s.counters[ITERATIONS]), 0, WARY
    far = FARTHEST * np.sqrt(len(system.layout.parts))
    none, empty, out = np.zeros(0, np.int64), np.zeros((1, 0)), stored(1, n, system.rows)
    held = np.flatnonzero(loads.constraints.input_row >= 0)
    lines = int(loads.at[INPUT]) + held
    lengths = loads.row[lines].copy()
    for _ in range(STEPS):
        if len(held):  # tendons are drawn by and by
            evaluate(system, loads, q, np.zeros(n), np.zeros(n), lam)
            loads.row[lines] = np.maximum(lengths, (1.0 - DRAWN) * loads.constraints.length[held])
        trial, multipliers = q.copy(), lam.copy()
        ahead = State(trial, np.zeros(n), np.zeros(n), np.zeros(n), multipliers)
        s.memory[USABLE] = 0.0
        before = int(s.counters[ITERATIONS])
        _, status = run(
            system.tree, system.workspace, s, loads, none, empty, EULER, tuple(ONCE._replace(t0=now - dt, dt=dt)), False,
            ahead, GOAL, out,
        )  # fmt: skip
        moved = float(np.linalg.norm(s.d[:n] * system.tree.scale))
        if status != CONVERGED or moved > far or jumps(system, q, trial):
            dt, good = 0.3 * dt, 0
            if dt < SHORTEST * unit:
                break
            continue
        q, lam, good = trial, multipliers, good + 1
        still = still + 1 if moved < AT_REST and np.array_equal(loads.row[lines], lengths) else 0
        if still == 3:
            break
        quick = int(s.counters[ITERATIONS]) - before <= 5 and good >= WARY
        dt = _next(system, loads, q, lam, min(dt * (2.5 if quick else 1.2), LONGEST * unit))
    loads.row[DT], loads.row[TIME], loads.row[lines] = 0.0, now, lengths
    if not grasps(loads):
        loads.frames.state[:] = state
    return q, lam, still == 3


def carry(system: Model, path: LoadPath, q: Floats, lam: Floats) -> tuple[Floats, Floats, float]:
    """(q, multipliers, part of the way) where a robot gets to whose told parts move slowly from q along a path.

    Friction feels how they move, and takes along what holds. Inertia is a hundredth of the weight or so.
    """
    s, run, n = scratch(system), runner(system), system.size
    loads, at = path.at(1.0), int(path.table.loads.at[MOTION])
    now, dt = float(loads.row[TIME]), SLOWLY * float(np.sqrt(system.layout.length / GRAVITY))
    most = np.full(n, PIECE)  # what turns drifts inwards by half the angle of a step, for each radian
    for layout in system.layout.parts:
        most[layout.joint] = np.where(layout.part.joint.turns, TURN, PIECE)
    pieces = float(np.max(np.abs(drive(loads, q) - q) * system.tree.scale / most))
    piece, far = 1.0 / max(pieces, 1.0), FARTHEST * np.sqrt(len(system.layout.parts))
    none, empty, out = np.zeros(0, np.int64), np.zeros((1, 0)), stored(1, n, system.rows)
    begin, rate, gone, step, last = q.copy(), np.zeros(n), 0.0, piece, piece
    while gone < 1.0 and step > LEAST * piece:
        ahead, multipliers = min(1.0, gone + step), lam.copy()
        loads = path.at(ahead)
        moved = drive(loads, q)[loads.driven] - q[loads.driven]
        loads.row[at + 1 : at + 3 * len(loads.driven) : 3] = moved / dt
        trial = State(
            q.copy(), (ahead - gone) / last * rate, np.zeros(n), np.zeros(n), multipliers
        )  # goes on as it went
        s.memory[USABLE] = 0.0
        _, status = run(
            system.tree, system.workspace, s, loads, none, empty, EULER, tuple(ONCE._replace(t0=now - dt, dt=dt)), False,
            trial, GOAL, out,
        )  # fmt: skip
        reached = np.linalg.norm(s.d[:n] * system.tree.scale) <= far and not jumps(system, q, trial.q)
        if status != CONVERGED or not reached:
            step *= 0.5
            continue
        q, lam, rate, last, gone = trial.q.copy(), multipliers, trial.v.copy(), ahead - gone, ahead
        step = min(2.0 * step, piece)
    loads = path.at(1.0)
    loads.row[DT], loads.row[TIME] = 0.0, now
    return (q if gone > 0.0 else begin), lam, gone


def _next(system: Model, loads: Loads, q: Floats, lam: Floats, dt: float) -> float:
    """A next step, at most dt, that does not stay where the robot would fall: its matrix is definite."""
    loads.row[DT] = 0.0
    if not is_whole(system):
        here = at_rest(system, loads, q, lam)
        for step in (0.3**k * dt for k in range(15)):
            tree, beta = system.linear == TREE, 1.0 / step**2
            if here.is_definite(0.0, beta) if tree else not Stiffness(here, loads.driven, beta=beta).leads_down(0.0):
                break
        return step
    found = linear(system, loads, q, lam)
    if found is None or not len(found.stiffness):
        return dt
    even = 0.5 * (found.stiffness + found.stiffness.T)
    try:
        np.linalg.cholesky(even)
        return dt
    except np.linalg.LinAlgError:
        mass = found.left.T @ at_rest(system, loads, q, lam).M @ found.right
    for _ in range(30):
        try:
            np.linalg.cholesky(even + 0.5 * (mass + mass.T) / dt**2)
            return dt
        except np.linalg.LinAlgError:
            dt *= 0.6
    return dt
