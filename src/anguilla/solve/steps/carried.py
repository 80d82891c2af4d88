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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anguilla.compiler.distant import compiled, direct, entry
from anguilla.compiler.jit import interpreted, kernel, part
from anguilla.compiler.table import Arrays
from anguilla.interact.kernels.table import DT, TIME
from anguilla.mechanics.joints import compose
from anguilla.mechanics.tree import N_R, N_X, Floats, Ints
from anguilla.mechanics.vec import cross, store3
from anguilla.model.evaluate import descend, residual, tangent
from anguilla.model.model import Model
from anguilla.solve.newton.linear import INVERTED, factorise, invert, multiply, row_times, solve_factorised
from anguilla.solve.steps.measured import nodes_of, touches

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
BOUND = 1e6  # [rad] errors that grow beyond it are of no use


class Carried(NamedTuple):
    """Errors of the coordinates of a motion; the arrays are used again for the next motion at the same desk."""

    memory: Memory
    peaks: int  # number of states at which they are large; none if the errors are not finite
    row: int  # of the state where they move a node farthest
    node: int  # and its column
    largest: float  # [m]
    room: float  # [m] diagonal of the box that the nodes stay in

    @property
    def errors(self) -> Floats:
        """(nt, n)."""
        return self.memory.errors

    @property
    def rows(self) -> Ints:
        """Numbers (k,) of the states at which they are large, in ascending order, with the first and the last."""
        return self.memory.peaks[: self.peaks]

    @property
    def moved(self) -> Floats:
        """How far (k, nodes) [m] they move nodes there, turns included."""
        return self.memory.moved[: self.peaks]


class Memory(Arrays):
    """What `_carried` works in, and where it leaves what it finds."""

    at: Floats  # (k, 3, n + m, n + m) matrices at some states; rough starts are the last
    rows: Ints  # (k,) numbers of these states
    of: Ints  # (steps,) number of the matrices that a step takes
    a: Floats  # (steps + 1, n) accelerations without those of fast modes at rough starts, if there are such
    whole: Floats  # (n + m, n + m)
    pivot: Ints  # (n + m,)
    work: Floats  # (9, n + m)
    turn: Floats  # (n, 3)
    errors: Floats  # (steps + 1, n)
    peaks: Ints  # (PEAKS + 2,) states at which they are large
    place: Floats  # (nodes, 12)
    room: Floats  # (2, 3) corners of the box that the nodes stay in
    moved: Floats  # (PEAKS + 2, nodes)


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


@entry(residual, tangent, descend)
def _carried(tree, ws, loads, column, table, dt, begin, count, starts, pieces, nodes, radii, states, m):
    """Errors of a `History` from the step `begin` on, as `_follow`, with matrices at `count` states, and at rough starts.

    What fast modes do at starts (r,) must not be taken for what slow ones do: accelerations are changed there.

    Returns (number of rows in m.peaks and m.moved, state and column of the largest there, its size [m], room that the nodes
    take [m]); no rows if the errors are of no use.
    """
    driven, a, zero = loads.driven, states.a, m.work[8][: len(tree.scale)]
    zero[:] = 0.0
    _choose_instants(begin, count, starts, m)
    _tangents(
        tree, ws, loads, column, table, dt, 1.0 / (THETA * dt), m.rows, count, states.q, states.v, a, states.lam, zero, m.at,
        m.work[0],
    )  # fmt: skip
    if len(m.rows) > count:
        a = m.a
        for t in range(len(a)):
            for i in range(a.shape[1]):
                a[t, i] = states.a[t, i]
        for k in range(count, len(m.rows)):
            if not _followed(driven, m.at[k], a[m.rows[k]], m.whole, m.pivot, m.work[0]):
                return 0, 0, 0, 0.0, 0.0
    if not _follow(tree.ball, driven, tree.scale, begin, pieces, states.q, states.v, a, dt, m):
        return 0, 0, 0, 0.0, 0.0
    found = _ascending(m.peaks, len(m.of))
    row, place = _displaced(tree, ws, nodes, radii, found, states.q, m)
    size = 0.0
    for i in range(3):
        size += (m.room[1, i] - m.room[0, i]) ** 2
    return found, m.peaks[row], place, m.moved[row, place], math.sqrt(size)


@part
def _choose_instants(begin, count, starts, m):
    """States in the middle of equal parts of the steps from `begin` on, and rough starts; which of them a step takes."""
    steps = len(m.of) - begin
    for k in range(count):
        m.rows[k] = begin + ((2 * k + 1) * steps + count) // (2 * count)
    for k in range(steps):
        m.of[begin + k] = k * count // steps
    for p in range(len(m.rows) - count):
        m.rows[count + p] = starts[p]
        for k in range(starts[p], min(starts[p] + AT_START, len(m.of))):
            m.of[k] = count + p


@part
def _ascending(peaks, steps):
    """Leave the first state, those peaks that there are, and the last (steps) in peaks (k,); returns their number."""
    found = 1
    for k in range(1, PEAKS + 1):
        if 0 < peaks[k] < steps:
            peaks[found] = peaks[k]
            found += 1
    peaks[0], peaks[found] = 0, steps
    return found + 1


def _memory(model: Model, kept: dict[str, Any], steps: int, count: int, rough: int, nodes: int) -> Memory:
    """Memory for so many steps and states with matrices, some of them rough starts; kept at the desk."""
    key, found = kept.get("carried", (None, None))
    if key != (steps, count, rough):
        n, size = model.size, model.size + model.rows
        at, whole, pivot = np.zeros((count + rough, 3, size, size)), np.zeros((size, size)), np.zeros(size, np.int64)
        rows, of = np.zeros(count + rough, np.int64), np.zeros(steps, np.int64)
        a, errors = np.zeros((steps + 1 if rough else 0, n)), np.zeros((steps + 1, n))
        work, turn, peaks = np.zeros((9, size)), np.zeros((n, 3)), np.zeros(PEAKS + 2, np.int64)
        place, room, moved = np.zeros((nodes, 12)), np.zeros((2, 3)), np.zeros((PEAKS + 2, nodes))
        found = Memory(at, rows, of, a, whole, pivot, work, turn, errors, peaks, place, room, moved)
        kept["carried"] = (steps, count, rough), found
    assert found is not None
    return found


def carry(motion: OngoingMotion, run: Trajectory, dt: float) -> Carried:
    """Errors of a motion with all its steps stored, and how far they move the robot."""
    system, states, table, steps = motion.system, motion.history, motion.acting, len(run.t) - 1
    tree, desk, (nodes, radii) = system.tree, system.desk(), system.once(nodes_of)
    pieces = _whole_pieces(motion, steps, dt)
    starts = np.empty(len(pieces), dtype=np.int64)
    begin, rough = direct(_starts)(states.a, tree.weight, pieces, dt, starts)
    count = _instants(steps - begin, ROUGHER if len(pieces) > 1 or system.once(touches) else ENOUGH)
    memory, find = _memory(system, desk.kept, steps, count, rough, len(nodes)), direct(_carried)
    if desk.user:
        compiled(descend)
        find = interpreted(_carried, {"residual": desk.user.residual, "tangent": desk.user.tangent})
    found = find(
        tree, desk.workspace, table.loads, table.column, table.table, dt, begin, count, starts, pieces, nodes, radii, states,
        memory,
    )  # fmt: skip
    return Carried(memory, *found)


@entry()
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


def _instants(steps: int, enough: int) -> int:
    """How many states of so many steps matrices are taken at."""
    return min(max(LEAST, min(steps // CLOSE, enough), steps // EACH), steps)


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
def _follow(ball, driven, weight, begin, pieces, q, v, a, dt, m):
    """Errors into m.errors, step by step, with the matrices m.at[m.of[k]]; False if singular or beyond bounds.

    They are zero up to the step `begin`. m.peaks get the states where they are largest, by their weights (n,), in equal
    parts of the motion. Steps outside of all pieces (p, 2), which jumps of loads cut in two, miss nothing.
    """
    out, of, rows, whole, pivot, work, turn = m.errors, m.of, m.rows, m.whole, m.pivot, m.work, m.turn
    n, steps, step = out.shape[1], len(of), THETA * dt
    scale, e, w, base, push, x, alpha, beta, found = (
        work[0], work[1], work[2], work[3], work[4], work[5], work[6], work[7], work[8],
    )  # fmt: skip
    e[:], w[:], out[: begin + 1], m.peaks[:] = 0.0, 0.0, 0.0, 0
    p, peak, largest = 0, -1, 0.0
    for k in range(begin, steps):
        number = of[k]
        here = m.at[number]
        if (k == begin or number != of[k - 1]) and not _prepare(
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
        own = k * PEAKS // steps
        if own > peak or size > largest:
            peak, largest, m.peaks[1 + own] = own, size, k + 1
    return True


def _whole_pieces(motion: OngoingMotion, steps: int, dt: float) -> Ints:
    """Runs of steps (p, 2): first, behind the last; without a jump inside, and with accelerations of one side of jumps."""
    if not motion.jumps:
        return _one_piece(steps)
    jumps: set[int] = set()
    for jump in motion.jumps:
        at_end = abs(jump.at - (jump.step + 1) * dt) < 1e-9 * dt and (jump.step + 1) * dt < jump.after
        jumps.add(jump.step + at_end)  # the state at its end is stored as it was before the jump
    cuts = [-1, *sorted(step for step in jumps if 0 <= step < steps), steps]
    found = [(a + 1, b) for a, b in pairwise(cuts) if b > a + 1]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


@lru_cache(maxsize=64)
def _one_piece(steps: int) -> Ints:
    return np.array([[0, steps]], dtype=np.int64)  # as any other: a locked array would be another type for the kernels


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


@part
def _displaced(tree, ws, nodes, radii, count, q, m):
    """How far [m] the errors at `count` peaks move nodes, turns at their radii included, into m.moved; q (nt, n).

    They are made small for it: it is linear. m.room gets the corners [m] of the box that the nodes stay in. Returns the row
    and the column of the largest.
    """
    errors, rows, place, room = m.errors, m.peaks, m.place, m.room
    moved, zero = m.work[0][: q.shape[1]], m.work[8][: q.shape[1]]
    zero[:], room[0], room[1] = 0.0, math.inf, -math.inf
    largest, best, where, column = SMALL, -1.0, 0, 0
    for k in range(count):
        for i in range(len(moved)):
            largest = max(largest, abs(tree.scale[i] * errors[rows[k], i]))
    share = SMALL / largest
    for k in range(count):
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
            m.moved[k, j] = _farthest(ws.node, nodes[j], place[j], radii[j]) / share
            if m.moved[k, j] > best:
                best, where, column = m.moved[k, j], k, j
    return where, column


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
