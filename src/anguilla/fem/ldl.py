"""Compiled multifrontal L D L^T of a symmetric matrix of 3x3 blocks, without pivoting; `substitution` solves with it.

Fronts are dense and row-major, their rows rounded up to fours; only upper triangles matter. Rows become final three at a
time, from the top: what all pivots above do to them is subtracted at once from up to twelve columns, which stay in registers.
A panel holds the rows of L^T of its pivots, unit diagonal understood, and d the pivots. A negative pivot is allowed (the
matrix is then not positive definite; the count is returned), a zero one is not.

Offsets are unsigned: Numba then drops its test for negative indices.
"""

from __future__ import annotations

import numpy as np

from anguilla.compiler.fused import first_three, first_two, less
from anguilla.compiler.jit import inline, kernel, part
from anguilla.compiler.simd import lay, take

U = np.uint64
ONE, TWO, THREE, FOUR, EIGHT, TWELVE, SIXTEEN = U(1), U(2), U(3), U(4), U(8), U(12), U(16)
LANES = 4
SINGULAR = 1e-15  # smallest pivot of a matrix that is not, over its largest
MANY = 60  # pivots at a time
NEAR = U(3000)  # numbers of their rows at a time, of which the first cache holds 4000


@inline
def padded(width):
    """Length of a row of that many numbers: fours."""
    return 4 * ((width + 3) // 4)


# Three rows less what pivots do to them: out <- c - sum over k of p[k] a[k]^T, p[k] three numbers. Rows of p are `ps` apart,
# those of c and a are w apart, those of out are `step` apart.


@inline
def _take_3(c, of, w):
    """Four columns of three rows that are w apart."""
    return take(c, of), take(c, of + w), take(c, of + TWO * w)


@inline
def _lay_3(out, to, step, v):
    """Write four columns of three rows."""
    lay(out, to, v[0])
    lay(out, to + step, v[1])
    lay(out, to + TWO * step, v[2])


@inline
def _less_3(v, p, l, u):
    """Four columns of three rows less what a pivot does, of which these columns are u."""
    return less(v[0], p[l], u), less(v[1], p[l + ONE], u), less(v[2], p[l + TWO], u)


@inline
def less_4(c, of, p, pt, ps, a, at, w, pivots, out, to, step):
    """Four columns."""
    x = _take_3(c, of, w)
    for k in range(pivots):
        x = _less_3(x, p, pt + k * ps, take(a, at + k * w))
    _lay_3(out, to, step, x)


@inline
def less_8(c, of, p, pt, ps, a, at, w, pivots, out, to, step):
    """Eight columns."""
    x, y = _take_3(c, of, w), _take_3(c, of + FOUR, w)
    for k in range(pivots):
        j, l = at + k * w, pt + k * ps
        x, y = _less_3(x, p, l, take(a, j)), _less_3(y, p, l, take(a, j + FOUR))
    _lay_3(out, to, step, x)
    _lay_3(out, to + FOUR, step, y)


@inline
def less_12(c, of, p, pt, ps, a, at, w, pivots, out, to, step):
    """Twelve columns."""
    x, y, z = _take_3(c, of, w), _take_3(c, of + FOUR, w), _take_3(c, of + EIGHT, w)
    for k in range(pivots):
        j, l = at + k * w, pt + k * ps
        x, y = _less_3(x, p, l, take(a, j)), _less_3(y, p, l, take(a, j + FOUR))
        z = _less_3(z, p, l, take(a, j + EIGHT))
    _lay_3(out, to, step, x)
    _lay_3(out, to + FOUR, step, y)
    _lay_3(out, to + EIGHT, step, z)


@inline
def less_16(c, of, p, pt, ps, a, at, w, pivots, out, to, step):
    """Sixteen columns: as many as the registers hold."""
    x, y = _take_3(c, of, w), _take_3(c, of + FOUR, w)
    z, t = _take_3(c, of + EIGHT, w), _take_3(c, of + TWELVE, w)
    for k in range(pivots):
        j, l = at + k * w, pt + k * ps
        x, y = _less_3(x, p, l, take(a, j)), _less_3(y, p, l, take(a, j + FOUR))
        z, t = _less_3(z, p, l, take(a, j + EIGHT)), _less_3(t, p, l, take(a, j + TWELVE))
    _lay_3(out, to, step, x)
    _lay_3(out, to + FOUR, step, y)
    _lay_3(out, to + EIGHT, step, z)
    _lay_3(out, to + TWELVE, step, t)


@inline
def _less(a, w, p, pt, k, pivots, i, j, end, out, to, before, step):
    """Rows i to i+2 of a front, columns j to end, less what pivots from k on do; column `before` of row i goes to `to`."""
    of, pt, at = i * w, pt + k * w + i, k * w
    while j + TWELVE <= end:
        less_12(a, of + j, p, pt, w, a, at + j, w, pivots, out, to + j - before, step)
        j += TWELVE
    if j + EIGHT <= end:
        less_8(a, of + j, p, pt, w, a, at + j, w, pivots, out, to + j - before, step)
        j += EIGHT
    if j < end:
        less_4(a, of + j, p, pt, w, a, at + j, w, pivots, out, to + j - before, step)


@inline
def _eliminate(a, w, k, panels, pt):
    """Make rows k, k+1, k+2 final among themselves, and write their panel."""
    p, q, r = k * w, (k + ONE) * w, (k + TWO) * w
    one = 1.0 / a[p + k]
    x, y = a[p + k + ONE] * one, a[p + k + TWO] * one
    two = 1.0 / (a[q + k + ONE] - x * a[p + k + ONE])
    z = (a[q + k + TWO] - x * a[p + k + TWO]) * two
    three = 1.0 / (a[r + k + TWO] - y * a[p + k + TWO] - z * (a[q + k + TWO] - x * a[p + k + TWO]))
    for j in range(FOUR * (k // FOUR), w, FOUR):
        u = take(a, p + j)
        v = take(a, q + j) - x * u
        t = take(a, r + j) - y * u - z * v
        lay(a, q + j, v)
        lay(a, r + j, t)
        lay(panels, pt + p + j, one * u)
        lay(panels, pt + q + j, two * v)
        lay(panels, pt + r + j, three * t)


@part
def _pivot_rows(a, w, p, pt, begin, end):
    """Make the rows of pivots begin to end final, those above have been subtracted, and write their panel."""
    for i in range(begin, end, THREE):
        _less(a, w, p, pt, begin, i - begin, i, FOUR * (i // FOUR), w, a, i * w, U(0), w)
        _eliminate(a, w, i, p, pt)


@part
def _update(a, w, p, pt, begin, end, width, out, to, before, step):
    """The rows below pivots begin to end less what these do to them, as many columns at a time as their rows stay near."""
    pivots = end - begin
    columns = TWELVE * max(ONE, NEAR // (TWELVE * pivots))
    left = FOUR * (end // FOUR)
    while left < w:
        right, of = min(w, left + columns), to
        for i in range(end, min(width, right), THREE):
            _less(a, w, p, pt, begin, pivots, i, max(left, FOUR * (i // FOUR)), right, out, of, before, step)
            of += THREE * step
        left = right


@inline
def _reduce(a, width, p, pt, pivots, out, to):
    """Make the pivots of a front final, some at a time, and leave the rest of it to the front above."""
    w, parts = U(padded(width)), 1 + (pivots - 1) // MANY
    begin = U(0)
    for k in range(1, parts + 1):
        end = THREE * U(pivots // 3 * k // parts)
        _pivot_rows(a, w, p, pt, begin, end)
        if k < parts:
            _update(a, w, p, pt, begin, end, U(width), a, end * w, U(0), w)
        else:
            before = FOUR * (end // FOUR)
            _update(a, w, p, pt, begin, end, U(width), out, to, before, w - before)
        begin = end


@inline
def _clear(front, w, width):
    """Set a front to zero, each row from the diagonal on."""
    for i in range(width):
        for j in range(FOUR * (i // FOUR), w, FOUR):
            lay(front, i * w + j, 0.0)


@inline
def _add_four(front, to, stack, of):
    """Add four numbers of a child to the front."""
    lay(front, to, take(front, to) + take(stack, of))


@part
def _extend(front, w, stack, of, size, relative, base, piece, fours, twos, ones, end):
    """Add the update matrix of a child, rows of `size` numbers on the stack, into the front.

    relative: places in the front of its nodes, from `base` on. piece (r, 2): columns that follow each other in both, first in
    the child and in the front: those of four nodes from `fours` on, of two from `twos` on, of one from `ones` on. Each is
    taken down to the diagonal at once: row by row would be many short loops, whose ends no processor foresees.
    """
    for t in range(fours, twos):
        x, column = of + U(piece[t, 0]), U(piece[t, 1])
        for n in range(piece[t, 0] // 3 + 4):
            y = U(3 * relative[base + n]) * w + column
            for _ in range(3):
                _add_four(front, y, stack, x)
                _add_four(front, y + FOUR, stack, x + FOUR)
                _add_four(front, y + EIGHT, stack, x + EIGHT)
                x += size
                y += w
    for t in range(twos, ones):
        x, column = of + U(piece[t, 0]), U(piece[t, 1])
        for n in range(piece[t, 0] // 3 + 2):
            y = U(3 * relative[base + n]) * w + column
            for _ in range(3):
                _add_four(front, y, stack, x)
                lay(front, y + FOUR, take(front, y + FOUR) + first_two(take(stack, x + FOUR)))
                x += size
                y += w
    for t in range(ones, end):
        x, column = of + U(piece[t, 0]), U(piece[t, 1])
        for n in range(piece[t, 0] // 3 + 1):
            y = U(3 * relative[base + n]) * w + column
            for _ in range(3):
                lay(front, y, take(front, y) + first_three(take(stack, x)))
                x += size
                y += w


@inline
def _enter(front, width, entry, begin, end, values):
    """Add the blocks of the matrix that belong to a front."""
    for e in range(begin, end):
        b, at = entry[e, 0], entry[e, 1]
        if entry[e, 2] == 1:
            for i in range(3):
                for j in range(3):
                    front[at + i * width + j] += values[b, 3 * j + i]
        else:
            for i in range(3):
                for j in range(3):
                    front[at + i * width + j] += values[b, 3 * i + j]


@kernel
def factorise(
    first, start, relative, piece_at, piece, parent, panel_at, entry_at, entry, values, front, stack, panels, d, heads
):
    """Factor; returns the number of negative pivots, or -1 if a pivot is not finite, or next to the largest as good as zero.

    entry_at (s + 1,), entry (e, 3): for each front the blocks of the matrix that enter it: number of the block, place in the
    front (row times length of a row plus column), 1 if transposed. values (blocks, 9). heads (s,) is scratch.
    """
    negative = 0
    least, most = np.inf, 0.0
    top = 0
    for s in range(len(first) - 1):
        pivots = 3 * (first[s + 1] - first[s])
        width = 3 * (start[s + 1] - start[s])
        row = padded(width)
        w = U(row)
        _clear(front, w, U(width))
        _enter(front, row, entry, entry_at[s], entry_at[s + 1], values)
        c = s - 1  # children wait on the stack, the last one on top
        while c >= 0 and parent[c] == s:
            own = first[c + 1] - first[c]
            rest = start[c + 1] - start[c] - own
            left = 3 * own % 4
            size = padded(3 * (own + rest)) - 3 * own + left
            top -= 3 * rest * size
            _extend(
                front, w, stack, U(top + left), U(size), relative, start[c] + own, piece, piece_at[3 * c],
                piece_at[3 * c + 1], piece_at[3 * c + 2], piece_at[3 * c + 3],
            )  # fmt: skip
            c = heads[c] - 1
        heads[s] = c + 1  # first front of the subtree of s
        _reduce(front, width, panels, U(panel_at[s]), pivots, stack, U(top))
        for k in range(pivots):
            pivot = front[k * row + k]
            if not (pivot != 0.0 and abs(pivot) < 1e300):
                return -1
            if pivot < 0.0:
                negative += 1
            least, most = min(least, abs(pivot)), max(most, abs(pivot))
            d[3 * first[s] + k] = pivot
        top += (width - pivots) * (row - pivots // 4 * 4)
    return negative if least >= SINGULAR * most else -1
