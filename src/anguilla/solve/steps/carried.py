"""The error of the time steps of a motion, carried along it by the linearised equations of motion.

What the steps miss can be seen: the change of the coordinates in a step is not the integral of the rates, by a formula of
fourth order, nor the change of the rates that of the accelerations. With these misses per time, alpha and beta, the errors e
of the coordinates and w of the rates obey

    e' = w - v x e + alpha  (v x e on balls alone),    M w' + C w + K e + J^T mu = M beta,    J e = 0,

where M, C, K, J are those of the motion itself. So errors grow, oscillate and decay as they do in it, also where it is
unstable; fast modes that steps do not follow weigh little, as they are stiff. The matrices are taken at a few instants.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anguilla.compiler.jit import kernel
from anguilla.lie import exp3, hat3, log3
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.model import Model
from anguilla.model.user import move
from anguilla.results.observe import S_X, SNAPSHOT, snapshots

if TYPE_CHECKING:
    from anguilla.results.states import Trajectory
    from anguilla.solve.steps.dynamics import _Motion

THETA = 0.55  # of a step at which the linear equations are balanced: more than one half, so that fast modes decay
LEAST, EACH = 5, 40  # matrices are taken so often at least, and every so many steps
ROUGH = 0.1  # [rad] change by accelerations alone in a step, above which those of fast modes are taken out at a start
SMALL = 1e-2  # [rad] errors are turned into displacements at this size: they are linear


class Matrices(NamedTuple):
    """Of the linearised motion at an instant; all (n, n) but `whole` (n + m, n + m) and J (m, n)."""

    K: Floats
    C: Floats
    M: Floats
    whole: Floats  # K with its constraints
    J: Floats


def matrices(run: Trajectory, row: int, step: float, pushed: bool = True) -> Matrices:
    """Those at a stored state; their differences are taken with a step [s] for which all three matter.

    `pushed` is whether accelerations count: K then has the change of the inertia of the state.
    """
    system, n, rate = run.system, run.system.size, 1.0 / step
    loads = system.loads(float(run.t[row]), run.inputs).loads
    a = run._integrated[row] if pushed and run._integrated is not None else None
    _, lam = system._evaluate(loads, run.q[row], run.v[row], a, run._lam[row])
    whole = system._bordered(loads, lam, 0.0, 0.0)
    K, damped = whole[:n, :n], system._bordered(loads, lam, rate, 0.0)[:n, :n]
    M = (system._bordered(loads, lam, rate, rate**2)[:n, :n] - damped) / rate**2
    return Matrices(K, (damped - K) / rate, M, whole, whole[n:, :n])


def carry(motion: _Motion, run: Trajectory, dt: float) -> Floats:
    """Errors (nt, n) of the coordinates of a motion with all its steps stored."""
    n, steps, step = run.system.size, len(run.t) - 1, THETA * dt
    count = min(max(LEAST, steps // EACH), steps)
    edges = np.linspace(0, steps, count + 1).round().astype(np.int64)
    misses = _misses(motion, run, dt)
    errors, state = np.zeros((steps + 1, n)), np.zeros(2 * n)
    for begin, end in pairwise(edges.tolist()):
        middle = (begin + end + 1) // 2
        flow, given = _step(run.system, run.v[middle], matrices(run, middle, step), step)
        _follow(flow, misses[begin:end] @ given.T, state, errors[begin + 1 : end + 1])
    return errors


def _step(system: Model, v: Floats, at: Matrices, step: float) -> tuple[Floats, Floats]:
    """(A, B), (2n, 2n) each, of x1 = A x + B (alpha, beta) with x = (e, w), over a time of step / THETA."""
    n, m = system.size, system.rows
    turn = np.eye(n)
    for k in system.tree.ball[:, 0]:
        turn[k : k + 3, k : k + 3] = np.linalg.inv(np.eye(3) + step * hat3(v[k : k + 3]))
    stiff = at.K @ turn if len(system.tree.ball) else at.K
    whole = at.whole.copy()
    whole[:n, :n] = at.M / step + at.C + step * stiff
    whole[n:, :n] = step * (at.J @ turn)
    driven = system.blank.driven
    whole[driven] = 0.0
    whole[driven, driven] = 1.0
    size = 1.0 / np.maximum(np.max(np.abs(whole), axis=1), 1e-300)
    inverse = np.linalg.inv(whole * size[:, None])[:n] * size
    inverse[:, driven] = 0.0
    P = inverse[:, :n] @ at.M
    Q = inverse[:, :n] @ stiff + (inverse[:, n:] @ (at.J @ turn) if m else 0.0)
    # rates at THETA of the step are P (w / step + beta) - Q (e + step alpha)
    wide = np.hstack([-Q, P / step, -step * Q, P])
    place = step * wide
    place[:, :n] += np.eye(n)
    place[:, 2 * n : 3 * n] += step * np.eye(n)
    place = turn @ place if len(system.tree.ball) else place
    place[:, :n] -= (1.0 - THETA) * np.eye(n)
    wide[:, n : 2 * n] -= (1.0 - THETA) * np.eye(n)
    both = np.vstack([place, wide]) / THETA
    return np.ascontiguousarray(both[:, : 2 * n]), both[:, 2 * n :]


@kernel
def _follow(flow, given, state, out):
    """x = flow x + given[k], from `state` on, in place; out (steps, n) gets the first half of each x; given is changed."""
    n = len(state)
    for k in range(len(given)):
        for i in range(n):
            total = given[k, i]
            for j in range(n):
                total += flow[i, j] * state[j]
            given[k, i] = total
        for i in range(n):
            state[i] = given[k, i]
        for i in range(out.shape[1]):
            out[k, i] = state[i]


# Misses of the steps ------------------------------------------------------------------------------------------------------


def _misses(motion: _Motion, run: Trajectory, dt: float) -> Floats:
    """alpha and beta (steps, 2n) of all steps; none in those that jumps of loads cut in two."""
    assert run._integrated is not None
    q, v, n, steps = run.q, run.v, run.system.size, len(run.t) - 1
    moved, gained = np.zeros((2, steps, n))
    for begin, end in _whole_pieces(motion, steps):
        a = run._integrated[begin : end + 1]
        if 0.5 * dt**2 * np.linalg.norm(a[0] * run.system.tree.weight) > ROUGH:
            a = a.copy()
            a[0] = _followed(run, dt, matrices(run, begin, dt, pushed=False), a[0])
        moved[begin:end] = _increments(run.system, q[begin : end + 1], v[begin : end + 1], dt)
        gained[begin:end] = np.diff(v[begin : end + 1], axis=0) - _integrals(a, dt)
    out = np.hstack([moved, gained]) / dt
    driven = run.system.blank.driven
    out[:, driven], out[:, n + driven] = 0.0, 0.0
    return out


def _whole_pieces(motion: _Motion, steps: int) -> list[tuple[int, int]]:
    """Runs of steps (first, behind the last) without a jump inside."""
    cuts = [-1, *sorted({jump.step for jump in motion.jumps if 0 <= jump.step < steps}), steps]
    return [(a + 1, b) for a, b in pairwise(cuts) if b > a + 1]


def _increments(system: Model, q: Floats, v: Floats, dt: float) -> Floats:
    """Changes of the coordinates beyond the integrals of the rates (steps, n); of balls, as turns in their own axes."""
    change, expected = np.diff(q, axis=0), _integrals(v, dt)
    for k in system.tree.ball[:, 0]:
        own = slice(k, k + 3)
        turns = [exp3(x) for x in q[:, own]]
        change[:, own] = [log3(a.T @ b) for a, b in pairwise(turns)]
        expected[:, own] += dt**2 / 12.0 * np.cross(v[:-1, own], v[1:, own])
    return change - expected


def _integrals(y: Floats, dt: float) -> Floats:
    """Integrals (steps, n) of y (steps + 1, n) over each step, by the cubic through four states."""
    if len(y) < 4:
        return 0.5 * dt * (y[1:] + y[:-1])
    out = np.empty((len(y) - 1, y.shape[1]))
    out[1:-1] = 13.0 * (y[1:-2] + y[2:-1]) - y[:-3] - y[3:]
    out[0] = 9.0 * y[0] + 19.0 * y[1] - 5.0 * y[2] + y[3]
    out[-1] = 9.0 * y[-1] + 19.0 * y[-2] - 5.0 * y[-3] + y[-4]
    return out * (dt / 24.0)


def _followed(run: Trajectory, dt: float, at: Matrices, a: Floats) -> Floats:
    """The part of accelerations (n,) that steps of dt can follow, as an eased start takes it (stepping.py)."""
    n, whole = len(a), at.whole.copy()
    heavy = at.M * (4.0 / dt**2)
    whole[:n, :n] += at.C * (2.0 / dt) + heavy
    right = np.concatenate([heavy @ a, np.zeros(len(whole) - n)])
    driven = run.system.blank.driven
    whole[driven] = 0.0
    whole[driven, driven], right[driven] = 1.0, a[driven]
    size = 1.0 / np.maximum(np.max(np.abs(whole), axis=1), 1e-300)
    return np.linalg.solve(whole * size[:, None], right * size)[:n]


# Displacements ------------------------------------------------------------------------------------------------------------


def displacements(run: Trajectory, errors: Floats, rows: Ints, nodes: Ints, radii: Floats) -> Floats:
    """How far (rows, nodes) [m] errors (nt, n) of the coordinates move nodes at some stored states, turns included."""
    tree = run.system.tree
    q, e = run.q[rows], errors[rows]
    part = min(1.0, SMALL / max(float(np.max(np.abs(e * tree.scale), initial=0.0)), 1e-300))
    moved = np.array([move(tree, a, part * b) for a, b in zip(q, e, strict=True)])
    return apart(run.system, nodes, radii, q, moved) / part


def apart(system: Model, nodes: Ints, radii: Floats, one: Floats, two: Floats) -> Floats:
    """How far (nt, nodes) [m] nodes, and places at radii [m] around them, are from each other in states (nt, n)."""
    change = motion_of(system, nodes, two) - motion_of(system, nodes, one)
    moved, turned = change[:, :, S_X : S_X + 3], change[:, :, :9].reshape(*change.shape[:2], 3, 3)
    around = [moved + sign * radii[:, None] * turned[:, :, :, k] for k in range(3) for sign in (-1.0, 1.0)]
    return np.max(np.linalg.norm(around, axis=3), axis=0)


def motion_of(system: Model, nodes: Ints, q: Floats) -> Floats:
    """Poses (nt, nodes, SNAPSHOT) of nodes in states q (nt, n)."""
    out, zero = np.zeros((len(q), len(nodes), SNAPSHOT)), np.zeros_like(q)
    snapshots(system.tree, system.workspace, nodes, np.ascontiguousarray(q), zero, zero, out)
    return out
