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
from typing import TYPE_CHECKING

import numpy as np

from anguilla.compiler.distant import entry
from anguilla.compiler.jit import interpreted, kernel, part
from anguilla.interact.kernels.table import TIME
from anguilla.mechanics.tree import Floats, Ints
from anguilla.mechanics.vec import store3
from anguilla.model.evaluate import residual, tangent
from anguilla.model.model import Model
from anguilla.results.observe import S_X, SNAPSHOT, snapshots
from anguilla.solve.newton.linear import factorise, solve_factorised

if TYPE_CHECKING:
    from anguilla.results.states import Trajectory
    from anguilla.solve.steps.motion import OngoingMotion

THETA = 0.55  # of a step at which the linear equations are balanced: more than one half, so that fast modes decay
LEAST, EACH = 5, 50  # matrices are taken so often at least, and every so many steps
ROUGH = 0.1  # [rad] change by accelerations alone in a step, above which those of fast modes are taken out at a start
AT_START = 2  # steps after a rough start that take the matrices there
SMALL = 1e-2  # [rad] errors are turned into displacements at this size: they are linear


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


def _matrices(run: Trajectory, rows: Ints, a: Floats, rate: float) -> Floats:
    """What `_tangents` gives at stored states with accelerations a (rows, n)."""
    system = run.system
    size = system.size + system.rows
    table, out = system.loads(run.t[rows], run.inputs), np.zeros((len(rows), 3, size, size))
    find = _tangents
    if system.user:
        find = interpreted(_tangents, {"residual": system.user.residual, "tangent": system.user.tangent})
    find(
        system.tree, system.workspace, table.loads, table.column, table.table, table.times, rate, run.q[rows], run.v[rows], a,
        run.stored.lam[rows], out, np.zeros(size),
    )  # fmt: skip
    return out


def carry(motion: OngoingMotion, run: Trajectory, dt: float) -> Floats:
    """Errors (nt, n) of the coordinates of a motion with all its steps stored."""
    a, n, steps, step = run.integrated, run.system.size, len(run.t) - 1, THETA * dt
    assert a is not None
    count = min(max(LEAST, steps // EACH), steps)
    of = np.arange(steps) * count // steps  # number of the matrices that a step takes
    middles = ((np.arange(count) + 0.5) * steps / count + 0.5).astype(np.int64)
    pieces = _whole_pieces(motion, steps, dt)
    starts = np.array([begin for begin, _ in pieces], dtype=np.int64)
    starts = starts[0.5 * dt**2 * np.linalg.norm(a[starts] * run.system.tree.weight, axis=1) > ROUGH]
    rows = np.concatenate([middles, starts])
    at = _matrices(run, rows, np.concatenate([a[middles], np.zeros((len(starts), n))]), 1.0 / step)
    if len(starts):  # rough: what fast modes do there must not be taken for what slow ones do
        a = a.copy()
        a[starts] = _followed(run.system, step, at[count:], a[starts])
        for k, row in enumerate(starts.tolist()):
            of[row : row + AT_START] = count + k
    misses, errors, size = _misses(run, a, pieces, dt), np.zeros((steps + 1, n)), at.shape[2]
    work = np.zeros((size, size)), np.zeros(size, dtype=np.int64), np.zeros((6, size)), np.zeros((n, 3))
    if not _follow(run.system.tree.ball, run.system.blank.driven, at, run.v[rows], of, misses, step, errors, *work):
        errors[:] = np.inf
    return errors


@part
def _turned(ball, turn, x):
    """Turn what x (n,) says of balls, in place."""
    for b in range(len(ball)):
        k = ball[b, 0]
        y0, y1, y2 = x[k], x[k + 1], x[k + 2]
        for i in range(3):
            x[k + i] = turn[k + i, 0] * y0 + turn[k + i, 1] * y1 + turn[k + i, 2] * y2


@part
def _prepare(ball, driven, at, v, step, whole, pivot, scale, turn):
    """Factors of M / step + C + step K with constraints, all of the errors at THETA of a step; False if it is singular."""
    size, n = len(whole), len(v)
    for i in range(size):
        for j in range(size):
            whole[i, j] = step * at[2, i, j] if j < n else at[2, i, j]
    for b in range(
        len(ball)
    ):  # (1 + step W)^-1 on the coordinates of a ball, W the cross product with its angular velocity
        k = ball[b, 0]
        x, y, z = step * v[k], step * v[k + 1], step * v[k + 2]
        square = 1.0 + x * x + y * y + z * z
        turn[k, 0], turn[k, 1], turn[k, 2] = (1.0 + x * x) / square, (x * y + z) / square, (x * z - y) / square
        turn[k + 1, 0], turn[k + 1, 1], turn[k + 1, 2] = (
            (x * y - z) / square,
            (1.0 + y * y) / square,
            (y * z + x) / square,
        )
        turn[k + 2, 0], turn[k + 2, 1], turn[k + 2, 2] = (
            (x * z + y) / square,
            (y * z - x) / square,
            (1.0 + z * z) / square,
        )
        for i in range(size):
            for j in range(3):
                for l in range(3):
                    change = turn[k + l, j] - (1.0 if l == j else 0.0)
                    whole[i, k + j] += step * at[0, i, k + l] * change
    for b in range(len(driven)):
        for j in range(size):
            whole[driven[b], j] = 1.0 if j == driven[b] else 0.0
    for i in range(size):
        largest = 1e-300
        for j in range(size):
            largest = max(largest, abs(whole[i, j]))
        scale[i] = 1.0 / largest
        for j in range(size):
            whole[i, j] *= scale[i]
    return factorise(whole, pivot)


@kernel
def _follow(ball, driven, at, v, of, misses, step, out, whole, pivot, work, turn):
    """Errors into out (steps + 1, n), step by step, with the matrices at[of[k]] and v[of[k]]; False if some are singular."""
    n = out.shape[1]
    scale, e, w, base, push, x = work[0], work[1], work[2], work[3], work[4], work[5]
    for k in range(len(misses)):
        here = at[of[k]]
        if (k == 0 or of[k] != of[k - 1]) and not _prepare(
            ball, driven, here, v[of[k]], step, whole, pivot, scale, turn
        ):
            return False
        for i in range(n):
            base[i] = e[i] + step * misses[k, i]
            push[i] = step * w[i] + step * step * misses[k, n + i]
        _turned(ball, turn, base)
        for i in range(len(x)):
            total = 0.0
            for j in range(n):
                total += (here[2, i, j] - here[1, i, j]) * push[j] - here[0, i, j] * base[j]
            x[i] = total * scale[i]
        for b in range(len(driven)):
            x[driven[b]] = 0.0
        solve_factorised(whole, pivot, x)
        for i in range(n):
            w[i] += (x[i] - w[i]) / THETA
            push[i] = step * x[i]
        _turned(ball, turn, push)
        for i in range(n):
            e[i] += (base[i] + push[i] - e[i]) / THETA
            out[k + 1, i] = e[i]
    return True


# Misses of the steps ------------------------------------------------------------------------------------------------------


def _misses(run: Trajectory, a: Floats, pieces: list[tuple[int, int]], dt: float) -> Floats:
    """alpha and beta (steps, 2n) of all steps with accelerations a (nt, n); none in those that jumps of loads cut in two."""
    n = run.system.size
    out = np.zeros((len(a) - 1, 2 * n))
    for begin, end in pieces:
        out[begin:end, :n] = _increments(run.system, run.q[begin : end + 1], run.v[begin : end + 1], dt)
        out[begin:end, n:] = np.diff(run.v[begin : end + 1], axis=0) - _integrals(a[begin : end + 1], dt)
    driven = run.system.blank.driven
    out[:, driven], out[:, n + driven] = 0.0, 0.0
    return out / dt


def _whole_pieces(motion: OngoingMotion, steps: int, dt: float) -> list[tuple[int, int]]:
    """Runs of steps (first, behind the last) without a jump inside, and with accelerations of one side of jumps."""
    jumps: set[int] = set()
    for jump in motion.jumps:
        at_end = abs(jump.at - (jump.step + 1) * dt) < 1e-9 * dt and (jump.step + 1) * dt < jump.after
        jumps.add(jump.step + at_end)  # the state at its end is stored as it was before the jump
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


def _followed(system: Model, step: float, at: Floats, a: Floats) -> Floats:
    """The parts of accelerations (instants, n) that steps can follow, about as an eased start takes them (stepping.py)."""
    n, driven, whole = a.shape[1], system.blank.driven, at[:, 2].copy()
    right = np.zeros((*whole.shape[:2], 1))
    right[:, :n] = (at[:, 2, :n, :n] - at[:, 1, :n, :n]) @ a[:, :, None]
    whole[:, driven] = 0.0
    whole[:, driven, driven], right[:, driven, 0] = 1.0, a[:, driven]
    size = 1.0 / np.maximum(np.max(np.abs(whole), axis=2, keepdims=True), 1e-300)
    return np.linalg.solve(whole * size, right * size)[:, :n, 0]


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
    moved = change[:, :, S_X : S_X + 3]
    if not np.any(radii):
        return np.linalg.norm(moved, axis=2)
    turned = change[:, :, :9].reshape(*change.shape[:2], 3, 3)
    around = [moved + sign * radii[:, None] * turned[:, :, :, k] for k in range(3) for sign in (-1.0, 1.0)]
    return np.max(np.linalg.norm(around, axis=3), axis=0)


def motion_of(system: Model, nodes: Ints, q: Floats) -> Floats:
    """Poses (nt, nodes, SNAPSHOT) of nodes in states q (nt, n)."""
    out, zero = np.zeros((len(q), len(nodes), SNAPSHOT)), np.zeros_like(q)
    snapshots(system.tree, system.workspace, nodes, np.ascontiguousarray(q), zero, zero, out)
    return out
