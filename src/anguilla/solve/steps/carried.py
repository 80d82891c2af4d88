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

from anguilla.compiler.distant import entry
from anguilla.compiler.jit import interpreted, kernel
from anguilla.interact.kernels.table import TIME
from anguilla.mechanics.tree import Floats, Ints
from anguilla.mechanics.vec import store3
from anguilla.model.evaluate import residual, tangent
from anguilla.model.model import Model
from anguilla.results.observe import S_X, SNAPSHOT, snapshots

if TYPE_CHECKING:
    from anguilla.results.states import Trajectory
    from anguilla.solve.steps.dynamics import _Motion

THETA = 0.55  # of a step at which the linear equations are balanced: more than one half, so that fast modes decay
LEAST, EACH = 5, 40  # matrices are taken so often at least, and every so many steps
ROUGH = 0.1  # [rad] change by accelerations alone in a step, above which those of fast modes are taken out at a start
AT_START = 2  # steps after a rough start that take the matrices there
SMALL = 1e-2  # [rad] errors are turned into displacements at this size: they are linear


class Matrices(NamedTuple):
    """Of the linearised motion at some instants; all (instants, n, n) but `whole` (., n + m, n + m) and J (., m, n)."""

    K: Floats
    C: Floats
    M: Floats
    whole: Floats  # K with its constraints
    J: Floats


@entry(residual, tangent)
def _tangents(tree, ws, loads, column, table, times, rate, q, v, a, lam, out, work):
    """K, K + rate C and K + rate C + rate^2 M at given states, with constraints, into out (instants, 3, n + m, n + m)."""
    for k in range(len(q)):
        for j in range(len(column)):
            loads.row[column[j]] = table[k, j]
        loads.row[TIME] = times[k]
        for b in range(len(tree.ball)):
            store3(ws.increment, tree.ball[b, 1], 0, (0.0, 0.0, 0.0))
        residual(tree, ws, loads, q[k], v[k], a[k], lam[k], work)
        tangent(tree, ws, loads, 0.0, 0.0, lam[k], out[k, 0])
        tangent(tree, ws, loads, rate, 0.0, lam[k], out[k, 1])
        tangent(tree, ws, loads, rate, rate * rate, lam[k], out[k, 2])


def matrices(run: Trajectory, rows: Ints, a: Floats, rate: float) -> Matrices:
    """Those at stored states with accelerations a (rows, n); differences are taken with a rate [1/s] for which all matter."""
    system, n = run.system, run.system.size
    size = n + system.rows
    table, out = system.loads(run.t[rows], run.inputs), np.zeros((len(rows), 3, size, size))
    find = _tangents
    if system.user:
        find = interpreted(_tangents, {"residual": system.user.residual, "tangent": system.user.tangent})
    states = (np.ascontiguousarray(x) for x in (run.q[rows], run.v[rows], a, run._lam[rows]))
    find(
        system.tree, system.workspace, table.loads, table.column, table.table, table.times, rate, *states, out,
        np.zeros(size),
    )  # fmt: skip
    K, damped, heavy = (out[:, k, :n, :n] for k in range(3))
    return Matrices(K, (damped - K) / rate, (heavy - damped) / rate**2, out[:, 0], out[:, 0, n:, :n])


def carry(motion: _Motion, run: Trajectory, dt: float) -> Floats:
    """Errors (nt, n) of the coordinates of a motion with all its steps stored."""
    a, n, steps, step = run._integrated, run.system.size, len(run.t) - 1, THETA * dt
    assert a is not None
    count = min(max(LEAST, steps // EACH), steps)
    of = np.arange(steps) * count // steps  # number of the matrices that a step takes
    middles = ((np.arange(count) + 0.5) * steps / count + 0.5).astype(np.int64)
    pieces = _whole_pieces(motion, steps, dt)
    starts = np.array([begin for begin, _ in pieces], dtype=np.int64)
    starts = starts[0.5 * dt**2 * np.linalg.norm(a[starts] * run.system.tree.weight, axis=1) > ROUGH]
    pushed = np.concatenate([a[middles], np.zeros((len(starts), n))])
    at = matrices(run, np.concatenate([middles, starts]), pushed, 1.0 / step)
    if len(starts):  # rough: what fast modes do there must not be taken for what slow ones do
        a = a.copy()
        a[starts] = _followed(run.system, dt, Matrices(*(x[count:] for x in at)), a[starts])
        for k, row in enumerate(starts.tolist()):
            of[row : row + AT_START] = count + k
    flow, given = _steps(run.system, run.v[np.concatenate([middles, starts])], at, step)
    misses, errors = _misses(run, a, pieces, dt), np.zeros((steps + 1, n))
    for k in range(len(given)):
        misses[of == k] = misses[of == k] @ given[k].T
    _follow(flow, misses, of, np.zeros(2 * n), errors)
    return errors


def _steps(system: Model, v: Floats, at: Matrices, step: float) -> tuple[Floats, Floats]:
    """(A, B), (instants, 2n, 2n) each, of x1 = A x + B (alpha, beta) with x = (e, w), over a time of step / THETA."""
    n, balls, one = system.size, system.tree.ball[:, 0], np.eye(system.size)
    turn = np.broadcast_to(one, at.K.shape)
    if len(balls):
        turn = turn.copy()
        for k in balls:
            turn[:, k : k + 3, k : k + 3] = np.linalg.inv(np.eye(3) + step * _hats(v[:, k : k + 3]))
    stiff, held = (at.K @ turn, at.J @ turn) if len(balls) else (at.K, at.J)
    whole = at.whole.copy()
    whole[:, :n, :n] = at.M / step + at.C + step * stiff
    whole[:, n:, :n] = step * held
    inverse = _inverse(system, whole)[:, :n]
    P = inverse[:, :, :n] @ at.M
    Q = inverse[:, :, :n] @ stiff + inverse[:, :, n:] @ held
    # rates at THETA of the step are P (w / step + beta) - Q (e + step alpha)
    wide = np.concatenate([-Q, P / step, -step * Q, P], axis=2)
    place = step * wide
    place[:, :, :n] += one
    place[:, :, 2 * n : 3 * n] += step * one
    place = turn @ place if len(balls) else place
    place[:, :, :n] -= (1.0 - THETA) * one
    wide[:, :, n : 2 * n] -= (1.0 - THETA) * one
    both = np.concatenate([place, wide], axis=1) / THETA
    return np.ascontiguousarray(both[:, :, : 2 * n]), both[:, :, 2 * n :]


def _inverse(system: Model, whole: Floats) -> Floats:
    """Inverses of matrices (instants, n + m, n + m), with nothing for imposed coordinates."""
    driven = system._loads.driven
    whole[:, driven] = 0.0
    whole[:, driven, driven] = 1.0
    size = 1.0 / np.maximum(np.max(np.abs(whole), axis=2), 1e-300)
    inverse = np.linalg.inv(whole * size[:, :, None]) * size[:, None, :]
    inverse[:, :, driven] = 0.0
    return inverse


def _hats(w: Floats) -> Floats:
    """Cross-product matrices (., 3, 3) of vectors (., 3)."""
    out = np.zeros((len(w), 3, 3))
    out[:, 2, 1], out[:, 0, 2], out[:, 1, 0] = w[:, 0], w[:, 1], w[:, 2]
    return out - out.transpose(0, 2, 1)


@kernel
def _follow(flow, given, of, state, out):
    """x = flow[of[k]] x + given[k], from `state` on; out[k + 1] gets the first half of each x. `given` is changed."""
    n = len(state)
    for k in range(len(given)):
        for i in range(n):
            total = given[k, i]
            for j in range(n):
                total += flow[of[k], i, j] * state[j]
            given[k, i] = total
        for i in range(n):
            state[i] = given[k, i]
        for i in range(out.shape[1]):
            out[k + 1, i] = state[i]


# Misses of the steps ------------------------------------------------------------------------------------------------------


def _misses(run: Trajectory, a: Floats, pieces: list[tuple[int, int]], dt: float) -> Floats:
    """alpha and beta (steps, 2n) of all steps with accelerations a (nt, n); none in those that jumps of loads cut in two."""
    n = run.system.size
    out = np.zeros((len(a) - 1, 2 * n))
    for begin, end in pieces:
        out[begin:end, :n] = _increments(run.system, run.q[begin : end + 1], run.v[begin : end + 1], dt)
        out[begin:end, n:] = np.diff(run.v[begin : end + 1], axis=0) - _integrals(a[begin : end + 1], dt)
    driven = run.system._loads.driven
    out[:, driven], out[:, n + driven] = 0.0, 0.0
    return out / dt


def _whole_pieces(motion: _Motion, steps: int, dt: float) -> list[tuple[int, int]]:
    """Runs of steps (first, behind the last) without a jump inside, and with accelerations of one side of jumps."""
    jumps = {}
    for jump in motion.jumps:
        at_end = abs(jump.at - (jump.step + 1) * dt) < 1e-9 * dt and (jump.step + 1) * dt < jump.after
        jumps[jump.step + at_end] = None  # the state at its end is stored as it was before the jump
    cuts = [-1, *sorted(step for step in jumps if 0 <= step < steps), steps]
    return [(a + 1, b) for a, b in pairwise(cuts) if b > a + 1]


def _increments(system: Model, q: Floats, v: Floats, dt: float) -> Floats:
    """Changes of the coordinates beyond the integrals of the rates (steps, n); of balls, as turns in their own axes."""
    change, expected = np.diff(q, axis=0), _integrals(v, dt)
    for k in system.tree.ball[:, 0]:
        own = slice(k, k + 3)
        change[:, own] = _composed(-q[:-1, own], q[1:, own])
        expected[:, own] += dt**2 / 12.0 * np.cross(v[:-1, own], v[1:, own])
    return change - expected


def _composed(first: Floats, second: Floats) -> Floats:
    """Rotation vectors (., 3) of turns by `first` and then, in the turned axes, by `second`."""
    halves = [0.5 * np.linalg.norm(x, axis=1, keepdims=True) for x in (first, second)]
    (c1, c2), (s1, s2) = map(np.cos, halves), (
        0.5 * np.sinc(half / np.pi) * x for half, x in zip(halves, (first, second), strict=True)
    )  # fmt: skip
    real = c1 * c2 - np.sum(s1 * s2, axis=1, keepdims=True)
    vector = c1 * s2 + c2 * s1 + np.cross(s1, s2)
    vector = np.where(real < 0.0, -vector, vector)
    size = np.linalg.norm(vector, axis=1, keepdims=True)
    return 2.0 * vector * np.where(size > 0.0, np.arctan2(size, np.abs(real)) / np.where(size > 0.0, size, 1.0), 1.0)


def _integrals(y: Floats, dt: float) -> Floats:
    """Integrals (steps, n) of y (steps + 1, n) over each step, by the cubic through four states."""
    if len(y) < 4:
        return 0.5 * dt * (y[1:] + y[:-1])
    out = np.empty((len(y) - 1, y.shape[1]))
    out[1:-1] = 13.0 * (y[1:-2] + y[2:-1]) - y[:-3] - y[3:]
    out[0] = 9.0 * y[0] + 19.0 * y[1] - 5.0 * y[2] + y[3]
    out[-1] = 9.0 * y[-1] + 19.0 * y[-2] - 5.0 * y[-3] + y[-4]
    return out * (dt / 24.0)


def _followed(system: Model, dt: float, at: Matrices, a: Floats) -> Floats:
    """The parts of accelerations (instants, n) that steps of dt can follow, as an eased start takes them (stepping.py)."""
    n = a.shape[1]
    heavy, whole = at.M * (4.0 / dt**2), at.whole.copy()
    whole[:, :n, :n] += at.C * (2.0 / dt) + heavy
    found = (_inverse(system, whole)[:, :n, :n] @ (heavy @ a[:, :, None]))[:, :, 0]
    driven = system._loads.driven
    found[:, driven] = a[:, driven]
    return found


# Displacements ------------------------------------------------------------------------------------------------------------


def displacements(run: Trajectory, errors: Floats, rows: Ints, nodes: Ints, radii: Floats) -> Floats:
    """How far (rows, nodes) [m] errors (nt, n) of the coordinates move nodes at some stored states, turns included."""
    tree, q, e = run.system.tree, run.q[rows], errors[rows]
    part = min(1.0, SMALL / max(float(np.max(np.abs(e * tree.scale), initial=0.0)), 1e-300))
    moved = q + part * e
    for k in tree.ball[:, 0]:
        moved[:, k : k + 3] = _composed(q[:, k : k + 3], part * e[:, k : k + 3])
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
