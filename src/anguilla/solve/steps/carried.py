"""The error of the time steps of a motion, carried along it by the linearised equations of motion.

What the steps miss can be seen: the change of the coordinates in a step is not the integral of the rates, by a formula of
fourth order, nor the change of the rates that of the accelerations. With these misses per time, alpha and beta, the errors e
of the coordinates and w of the rates obey

    e' = w - v x e + alpha  (v x e on balls alone),    M w' + C w + K e + J^T mu = M beta,    J e = 0,

where M, C, K, J are those of the motion itself. So errors grow, oscillate and decay as they do in it, also where it is
unstable; fast modes that steps do not follow weigh little, as they are stiff. The matrices are taken at a few instants.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anguilla.compiler.distant import direct, entry
from anguilla.compiler.jit import interpreted, kernel, part
from anguilla.interact.kernels.table import DT, TIME
from anguilla.mechanics.joints import compose
from anguilla.mechanics.tree import N_R, N_X, Floats, Ints
from anguilla.mechanics.vec import cross, store3
from anguilla.model.evaluate import descend, residual, tangent
from anguilla.model.model import Model
from anguilla.results.observe import S_X, SNAPSHOT, snapshots
from anguilla.solve.newton.linear import INVERTED, factorise, invert, multiply, row_times, solve_factorised

if TYPE_CHECKING:
    from anguilla.results.states import Trajectory
    from anguilla.solve.steps.motion import OngoingMotion

# of a step at which the linear equations are balanced: more than one half, so that fast modes decay, but not those of some
# steps a period, whose errors add up (with 0.55 these were estimated at half of their size)
THETA = 0.52
# matrices are taken so often at least, every so many steps of a short motion, so often in one of 80 (and in one of 100 with
# jumps of loads or obstacles), and every so many steps
LEAST, CLOSE, ENOUGH, ROUGHER, EACH = 3, 20, 4, 5, 50
# [rad] change by accelerations alone in a step, below which a robot that has not moved before misses nothing
STILL = 1e-9
ROUGH = 0.1  # [rad] change by accelerations alone in a step, above which those of fast modes are taken out at a start
AT_START = 2  # steps after a rough start that take the matrices there
SMALL = 1e-2  # [rad] errors are turned into displacements at this size: they are linear
PEAKS = 8  # equal parts of a motion; the error is looked at where it is largest in each
NOWHERE = np.array([[np.inf] * 3, [-np.inf] * 3])  # corners of a box with nothing in it
BOUND = 1e6  # [rad] errors that grow beyond it are of no use


class Carried(NamedTuple):
    """Errors of the coordinates of a motion."""

    errors: Floats  # (nt, n)
    rows: Ints  # (k,) numbers of the states at which they are large, in ascending order, with the first and the last
    certain: bool  # whether they are finite


@kernel
def local_errors(q, a, weight, turns, dt):
    """Sums of the local errors of joints, and of all coordinates, and how far the robot moves; all as angles [rad].

    q and a (nt, n), weights (n,) of all coordinates and of joints alone.
    """
    joints, everything, way = 0.0, 0.0, 0.0
    for t in range(len(a) - 1):
        one, whole = 0.0, 0.0
        for i in range(a.shape[1]):
            change = a[t + 1, i] - a[t, i]
            one += (turns[i] * change) ** 2
            whole += (weight[i] * change) ** 2
        joints += math.sqrt(one)
        everything += math.sqrt(whole)
    for t in range(1, len(q)):
        whole = 0.0
        for i in range(q.shape[1]):
            whole += (weight[i] * (q[t, i] - q[0, i])) ** 2
        way = max(way, whole)
    return dt * dt / 12.0 * joints, dt * dt / 12.0 * everything, math.sqrt(way)


@part
def _tangents(tree, ws, loads, column, table, dt, rate, rows, smooth, q, v, a, lam, zero, out, work):
    """K, rate^2 M and K + rate C + rate^2 M at stored states, with constraints, into out (rows, 3, n + m, n + m).

    With the loads of the steps that end there. Those of the rows from `smooth` on are taken without accelerations.
    """
    loads.row[DT] = 0.0
    for k in range(len(rows)):
        row = rows[k]
        for j in range(len(column)):
            loads.row[column[j]] = table[max(row - 1, 0), j]
        loads.row[TIME] = row * dt
        for b in range(len(tree.ball)):
            store3(ws.increment, tree.ball[b, 1], 0, (0.0, 0.0, 0.0))
        residual(tree, ws, loads, q[row], v[row], a[row] if k < smooth else zero, lam[row], work)
        tangent(tree, ws, loads, 0.0, 0.0, lam[row], out[k, 0])
        tangent(tree, ws, loads, rate, 0.0, lam[row], out[k, 1])
        tangent(tree, ws, loads, rate, rate * rate, lam[row], out[k, 2])
        for i in range(len(work)):
            for j in range(len(work)):
                out[k, 1, i, j] = out[k, 2, i, j] - out[k, 1, i, j]


@entry(residual, tangent)
def _carried(
    tree, ws, loads, column, table, dt, smooth, begin, rows, of, pieces, q, v, a, lam, errors, peaks, at, whole, pivot, work,
    turn,
):  # fmt: skip
    """Errors into errors (steps + 1, n), as `_follow`; False if they are of no use.

    Rows (k,) from `smooth` on are rough starts: what fast modes do there must not be taken for what slow ones do, so their
    accelerations (nt, n) are changed.
    """
    driven, certain = loads.driven, True
    zero = work[8][: q.shape[1]]
    zero[:] = 0.0
    _tangents(tree, ws, loads, column, table, dt, 1.0 / (THETA * dt), rows, smooth, q, v, a, lam, zero, at, work[0])
    for k in range(smooth, len(rows)):
        certain = _followed(driven, at[k], a[rows[k]], whole, pivot, work[0]) and certain
    return certain and _follow(
        tree.ball, driven, tree.scale, at, begin, rows, of, pieces, q, v, a, dt, errors, peaks, whole, pivot, work, turn
    )


def _memory(system: Model, count: int) -> tuple[Floats, ...]:
    """What `_carried` works in: matrices at so many states, a matrix, pivots, some vectors, turns; kept at the desk."""
    size, kept = system.size + system.rows, system.desk().kept
    if "carried" not in kept or len(kept["carried"][0]) != count:
        matrices = np.zeros((count, 3, size, size)), np.zeros((size, size)), np.zeros(size, dtype=np.int64)
        kept["carried"] = *matrices, np.zeros((9, size)), np.zeros((system.size, 3))
    found: tuple[Floats, ...] = kept["carried"]
    return found


def carry(motion: OngoingMotion, run: Trajectory, dt: float) -> Carried:
    """Errors of a motion with all its steps stored."""
    a, system, steps = run.integrated, run.system, len(run.t) - 1
    assert a is not None
    pieces = _whole_pieces(motion, steps, dt)
    starts = np.empty(len(pieces), dtype=np.int64)
    begin, rough = _starts(a, system.tree.weight, pieces, dt, starts)
    uneven = len(pieces) > 1 or any(load.touches for load in run.robot.loads)
    rows, of = _instants(steps - begin, ROUGHER if uneven else ENOUGH)
    rows, count = rows + begin, len(rows)
    if rough:
        a, of = a.copy(), of.copy()
        for k, row in enumerate(starts[:rough].tolist(), count):
            of[max(row - begin, 0) : max(row - begin, 0) + AT_START] = k
        rows = np.concatenate([rows, starts[:rough]])  # of the steps from `begin` on
    errors, peaks, table = np.zeros((steps + 1, system.size)), np.zeros(PEAKS, dtype=np.int64), motion.acting
    find = direct(_carried)
    if system.user:
        find = interpreted(_carried, {"residual": system.user.residual, "tangent": system.user.tangent})
    certain = find(
        system.tree, system.workspace, table.loads, table.column, table.table, dt, count, begin, rows, of, pieces, run.q,
        run.v, a, run.stored.lam, errors, peaks, *_memory(system, len(rows)),
    )  # fmt: skip
    return Carried(errors, np.array(sorted({0, *peaks.tolist(), steps}), dtype=np.int64), bool(certain))


@kernel
def _starts(a, weight, pieces, dt, starts):
    """The step before which there is nothing to carry, and the number of rough starts; these into starts (p,)."""
    begin, rough, moves = 0, 0, False
    while begin < len(a) - 1 and not moves:
        change = 0.0
        for i in range(len(weight)):
            change += weight[i] * abs(a[begin + 1, i])
        moves = 0.5 * dt * dt * change > STILL
        begin += 0 if moves else 1
    for p in range(len(pieces)):
        change = 0.0
        for i in range(len(weight)):
            change += (weight[i] * a[pieces[p, 0], i]) ** 2
        if 0.5 * dt * dt * math.sqrt(change) > ROUGH:
            starts[rough] = pieces[p, 0]
            rough += 1
            begin = min(begin, pieces[p, 0])
    return begin if begin < len(a) - 1 else 0, rough


@lru_cache(maxsize=64)
def _instants(steps: int, enough: int) -> tuple[Ints, Ints]:
    """(k,) States of so many steps at which matrices are taken, and (steps,) the number of those that a step takes."""
    count = min(max(LEAST, min(steps // CLOSE, enough), steps // EACH), steps)
    middles = ((np.arange(count) + 0.5) * steps / count + 0.5).astype(np.int64)
    return middles, np.arange(steps) * count // steps


@part
def _turned(ball, turn, x):
    """Turn what x (n,) says of balls, in place."""
    for b in range(len(ball)):
        k = ball[b, 0]
        y0, y1, y2 = x[k], x[k + 1], x[k + 2]
        for i in range(3):
            x[k + i] = turn[k + i, 0] * y0 + turn[k + i, 1] * y1 + turn[k + i, 2] * y2


@part
def _level(matrix, x):
    """Divide every row of a matrix, and x (n,), by the largest number in the row."""
    for i in range(len(matrix)):
        largest = 1e-300
        for j in range(len(matrix)):
            largest = max(largest, abs(matrix[i, j]))
        x[i] /= largest
        for j in range(len(matrix)):
            matrix[i, j] /= largest


@part
def _prepare(ball, driven, at, v, step, whole, pivot, scale, turn):
    """Inverse or factors of M / step + C + step K, constrained, of the errors at THETA of a step; False if it is singular."""
    size, n = len(whole), len(v)
    for i in range(size):
        for j in range(size):
            whole[i, j] = step * at[2, i, j] if j < n else at[2, i, j]
    for b in range(len(ball)):  # (1 + step W)^-1 on its coordinates, W the cross product with its angular velocity
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
    scale[:] = 1.0
    _level(whole, scale)
    return invert(whole, pivot) if size <= INVERTED else factorise(whole, pivot)


@part
def _missed(ball, driven, q, v, a, k, first, last, dt, alpha, beta):
    """What step k, in a piece of smooth ones first..last-1, misses of coordinates and of rates; turns of balls, own axes.

    Rates and accelerations are integrated by the cubic through four states of the piece, if it has so many.
    """
    n, whole, row, c0, c1, c2, c3 = q.shape[1], last - first >= 3, k - 1, -1.0, 13.0, 13.0, -1.0
    if whole and k == first:
        row, c0, c1, c2, c3 = k, 9.0, 19.0, -5.0, 1.0
    elif whole and k == last - 1:
        row, c0, c1, c2, c3 = k - 2, 1.0, -5.0, 19.0, 9.0
    c0, c1, c2, c3 = dt / 24.0 * c0, dt / 24.0 * c1, dt / 24.0 * c2, dt / 24.0 * c3
    for i in range(n):
        if whole:
            alpha[i] = c0 * v[row, i] + c1 * v[row + 1, i] + c2 * v[row + 2, i] + c3 * v[row + 3, i]
            beta[i] = c0 * a[row, i] + c1 * a[row + 1, i] + c2 * a[row + 2, i] + c3 * a[row + 3, i]
        else:
            alpha[i], beta[i] = 0.5 * dt * (v[k, i] + v[k + 1, i]), 0.5 * dt * (a[k, i] + a[k + 1, i])
    for b in range(len(ball)):
        c = ball[b, 0]
        turn = compose((-q[k, c], -q[k, c + 1], -q[k, c + 2]), (q[k + 1, c], q[k + 1, c + 1], q[k + 1, c + 2]))
        more = cross((v[k, c], v[k, c + 1], v[k, c + 2]), (v[k + 1, c], v[k + 1, c + 1], v[k + 1, c + 2]))
        for i in range(3):  # so that what is left below is the miss
            alpha[c + i] += dt * dt / 12.0 * more[i] - turn[i] + q[k + 1, c + i] - q[k, c + i]
    for i in range(n):
        alpha[i], beta[i] = q[k + 1, i] - q[k, i] - alpha[i], v[k + 1, i] - v[k, i] - beta[i]
    for b in range(len(driven)):
        alpha[driven[b]], beta[driven[b]] = 0.0, 0.0


@kernel
def _follow(ball, driven, weight, at, begin, rows, of, pieces, q, v, a, dt, out, peaks, whole, pivot, work, turn):
    """Errors into out (steps + 1, n), step by step, with the matrices at[of[k - begin]]; False if singular or beyond bounds.

    They are zero up to the step `begin`. peaks (k,) get the states where they are largest, by their weights (n,), in equal
    parts of the motion. Steps outside of all pieces (p, 2), which jumps of loads cut in two, miss nothing.
    """
    n, steps, step = out.shape[1], begin + len(of), THETA * dt
    scale, e, w, base, push, x, alpha, beta, found = (
        work[0], work[1], work[2], work[3], work[4], work[5], work[6], work[7], work[8],
    )  # fmt: skip
    e[:], w[:] = 0.0, 0.0
    p, peak, largest = 0, -1, 0.0
    for k in range(begin, steps):
        number = of[k - begin]
        here = at[number]
        if (k == begin or number != of[k - begin - 1]) and not _prepare(
            ball, driven, here, v[rows[number]], step, whole, pivot, scale, turn
        ):
            return False
        while p + 1 < len(pieces) and k >= pieces[p, 1]:
            p += 1
        if len(pieces) > 0 and pieces[p, 0] <= k < pieces[p, 1]:
            _missed(ball, driven, q, v, a, k, pieces[p, 0], pieces[p, 1], dt, alpha, beta)
        else:
            alpha[:], beta[:] = 0.0, 0.0
        for i in range(n):
            base[i] = e[i] + THETA * alpha[i]
            push[i] = step * (w[i] + THETA * beta[i])
        _turned(ball, turn, base)
        for i in range(len(x)):
            x[i] = scale[i] * (row_times(here[1], i, push, 0, n) - row_times(here[0], i, base, 0, n))
        for b in range(len(driven)):
            x[driven[b]] = 0.0
        if len(x) <= INVERTED:
            multiply(whole, x, found)
        else:
            for i in range(len(x)):
                found[i] = x[i]
            solve_factorised(whole, pivot, found)
        for i in range(n):
            w[i] += (found[i] - w[i]) / THETA
            push[i] = step * found[i]
        _turned(ball, turn, push)
        size = 0.0
        for i in range(n):
            e[i] += (base[i] + push[i] - e[i]) / THETA
            out[k + 1, i] = e[i]
            size += (weight[i] * e[i]) ** 2
        if not size < BOUND * BOUND:
            return False
        own = k * len(peaks) // steps
        if own > peak or size > largest:
            peak, largest, peaks[own] = own, size, k + 1
    return True


def _whole_pieces(motion: OngoingMotion, steps: int, dt: float) -> Ints:
    """Runs of steps (p, 2): first, behind the last; without a jump inside, and with accelerations of one side of jumps."""
    if not motion.jumps:
        return np.array([[0, steps]], dtype=np.int64)
    jumps: set[int] = set()
    for jump in motion.jumps:
        at_end = abs(jump.at - (jump.step + 1) * dt) < 1e-9 * dt and (jump.step + 1) * dt < jump.after
        jumps.add(jump.step + at_end)  # the state at its end is stored as it was before the jump
    cuts = [-1, *sorted(step for step in jumps if 0 <= step < steps), steps]
    found = [(a + 1, b) for a, b in pairwise(cuts) if b > a + 1]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


@kernel
def _followed(driven, at, a, whole, pivot, x):
    """Leave in a (n,) the part of accelerations that steps can follow, about as an eased start takes them (stepping.py).

    at (3, n + m, n + m) are the matrices there. False if they are singular.
    """
    n = len(a)
    for i in range(len(x)):
        x[i] = row_times(at[1], i, a, 0, n) if i < n else 0.0
        for j in range(len(x)):
            whole[i, j] = at[2, i, j]
    for b in range(len(driven)):
        x[driven[b]] = a[driven[b]]
        for j in range(len(x)):
            whole[driven[b], j] = 1.0 if j == driven[b] else 0.0
    _level(whole, x)
    if not factorise(whole, pivot):
        return False
    solve_factorised(whole, pivot, x)
    for i in range(n):
        a[i] = x[i]
    return True


# Displacements ------------------------------------------------------------------------------------------------------------


@entry(descend)
def _displaced(tree, ws, nodes, radii, rows, q, errors, zero, moved, place, out, room):
    """How far (rows, nodes) [m] errors (nt, n) move nodes, turns at their radii included, at states q (nt, n).

    They are made small for it: it is linear. place (nodes, 12) and moved (n,) are memory; room (2, 3) gets the corners [m] of
    the box that the nodes stay in, whose diagonal is returned.
    """
    largest = SMALL
    for k in range(len(rows)):
        for i in range(len(moved)):
            largest = max(largest, abs(tree.scale[i] * errors[rows[k], i]))
    share = SMALL / largest
    for k in range(len(rows)):
        row = rows[k]
        for i in range(len(moved)):
            moved[i] = q[row, i] + share * errors[row, i]
        for b in range(len(tree.ball)):
            c = tree.ball[b, 0]
            turn = share * errors[row, c], share * errors[row, c + 1], share * errors[row, c + 2]
            turned = compose((q[row, c], q[row, c + 1], q[row, c + 2]), turn)
            moved[c], moved[c + 1], moved[c + 2] = turned[0], turned[1], turned[2]
        descend(tree, ws, q[row], zero, zero)
        for j in range(len(nodes)):
            for i in range(9):
                place[j, i] = ws.node[nodes[j], N_R + i]
            for i in range(3):
                x = ws.node[nodes[j], N_X + i]
                place[j, 9 + i] = x
                room[0, i], room[1, i] = min(room[0, i], x), max(room[1, i], x)
        descend(tree, ws, moved, zero, zero)
        for j in range(len(nodes)):
            out[k, j] = _farthest(ws.node, nodes[j], place[j], radii[j]) / share
    return math.sqrt((room[1, 0] - room[0, 0]) ** 2 + (room[1, 1] - room[0, 1]) ** 2 + (room[1, 2] - room[0, 2]) ** 2)


@part
def _farthest(node, at, before, radius):
    """How far [m] a node, and places at a radius around it along its axes, are from where they were: before (12,)."""
    shift = node[at, N_X] - before[9], node[at, N_X + 1] - before[10], node[at, N_X + 2] - before[11]
    farthest = shift[0] ** 2 + shift[1] ** 2 + shift[2] ** 2
    if radius > 0.0:
        for axis in range(3):
            there, back = 0.0, 0.0
            for i in range(3):
                turn = radius * (node[at, N_R + 3 * i + axis] - before[3 * i + axis])
                there += (shift[i] + turn) ** 2
                back += (shift[i] - turn) ** 2
            farthest = max(farthest, there, back)
    return math.sqrt(farthest)


def displacements(run: Trajectory, found: Carried, nodes: Ints, radii: Floats) -> tuple[Floats, float]:
    """How far (rows, nodes) [m] errors of the coordinates move nodes, turns included; and the room [m] these move in."""
    tree, n = run.system.tree, run.system.size
    out, room = np.zeros((len(found.rows), len(nodes))), NOWHERE.copy()
    memory = np.zeros(n), np.zeros(n), np.zeros((len(nodes), 12))
    size = direct(_displaced)(
        tree, run.system.workspace, nodes, radii, found.rows, run.q, found.errors, *memory, out, room
    )
    return out, size


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
