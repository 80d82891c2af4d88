"""Compiled multifrontal LU of a sparse matrix, with pivots chosen inside dense fronts, and its triangular solves.

Unknowns come in the order of elimination; a front eliminates some of them and updates others, which come later. Its rows and
columns stand [own pivots | late ones | updated]. A pivot must not be small beside what it eliminates: one that is waits for
the next front (it is *late* there), where more rows and columns are complete. Rows and columns of late pivots need not be
the same unknowns.

Of every front `made` tells: pivots, width, where its factors begin, where its rows and columns begin in their lists, and the
pivots before it. Its factors are the rows of its pivots, (pivots, width), with the unit lower triangle left of the diagonal,
then the multipliers of the other rows, pivot by pivot (pivots, width - pivots).
"""

from __future__ import annotations

from anguilla.compiler.jit import inline, kernel, part
from anguilla.compiler.lanes import FOUR, U
from anguilla.compiler.simd import lay, take, total

PANEL = 8  # pivots between two updates of everything
PIVOT = 1e-2  # least part of the largest entry of its column that a pivot may be
LEAST = 1e-10  # least pivot of a matrix with entries of order one, unless it is the last chance
DONE, SINGULAR, CRAMPED = 0, 1, 2  # outcomes; cramped: the memory does not suffice
PIVOTS, WIDTH, FACTORS, LISTS, BEFORE, MADE = 0, 1, 2, 3, 4, 5  # columns of `made`, and their number


@inline
def _bring(a, width, begin, k):
    """Make column k of a front current: pivots begin to k - 1 are not yet subtracted from it."""
    for t in range(begin + 1, k):
        x = a[t * width + k]
        for s in range(begin, t):
            x -= a[t * width + s] * a[s * width + k]
        a[t * width + k] = x
    for i in range(k, width):
        x = a[i * width + k]
        for t in range(begin, k):
            x -= a[i * width + t] * a[t * width + k]
        a[i * width + k] = x


@inline
def _swap_rows(a, width, i, j):
    """Swap two rows of a front."""
    x, y = i * width, j * width
    for k in range(width):
        a[x + k], a[y + k] = a[y + k], a[x + k]


@inline
def _subtract_one(a, width, i, t, begin):
    """Row i -= its multiplier times pivot row t, from column `begin` on."""
    to, of, x, j = i * width, t * width, a[i * width + t], begin
    while j + 4 <= width:
        lay(a, to + j, take(a, to + j) - x * take(a, of + j))
        j += 4
    while j < width:
        a[to + j] -= x * a[of + j]
        j += 1


@part
def _subtract_four(a, width, t, first, begin):
    """All rows from `first` on -= their multipliers times four pivot rows, two rows at a time, from column `begin` on."""
    p, q, r, s = U(t * width), U((t + 1) * width), U((t + 2) * width), U((t + 3) * width)
    i = first
    while i < width:
        two = i + 1 < width
        x = U(i * width)
        y = U((i + 1) * width) if two else x
        u, v = x + U(t), y + U(t)
        x0, x1, x2, x3 = a[u], a[u + U(1)], a[u + U(2)], a[u + U(3)]
        y0, y1, y2, y3 = a[v], a[v + U(1)], a[v + U(2)], a[v + U(3)]
        j, end = U(begin), U(width)
        while j + FOUR <= end:
            b0, b1, b2, b3 = take(a, p + j), take(a, q + j), take(a, r + j), take(a, s + j)
            one = take(a, x + j) - x0 * b0 - x1 * b1 - x2 * b2 - x3 * b3
            if two:
                lay(a, y + j, take(a, y + j) - y0 * b0 - y1 * b1 - y2 * b2 - y3 * b3)
            lay(a, x + j, one)
            j += FOUR
        while j < end:
            b0, b1, b2, b3 = a[p + j], a[q + j], a[r + j], a[s + j]
            one = a[x + j] - x0 * b0 - x1 * b1 - x2 * b2 - x3 * b3
            if two:
                a[y + j] -= y0 * b0 + y1 * b1 + y2 * b2 + y3 * b3
            a[x + j] = one
            j += U(1)
        i += 2


@part
def _flush(a, width, begin, end, column):
    """Subtract pivots begin to end - 1 from everything behind them, from a column on."""
    for t in range(begin + 1, end):
        for s in range(begin, t):
            _subtract_one(a, width, t, s, column)
    t = begin
    while t + 4 <= end:
        _subtract_four(a, width, t, end, column)
        t += 4
    while t < end:
        for i in range(end, width):
            _subtract_one(a, width, i, t, column)
        t += 1


@inline
def _best(a, width, full, k, anything):
    """Row of the pivot of column k, or -1 if there is none that will do."""
    p, most, largest = -1, 0.0, 0.0
    for i in range(k, full):
        x = abs(a[i * width + k])
        if x > most:
            p, most = i, x
    if anything:
        return p
    for i in range(full, width):
        largest = max(largest, abs(a[i * width + k]))
    return p if most > LEAST and most >= PIVOT * largest else -1


@part
def _eliminate(a, width, full, rows, columns, at, anything):
    """Factorise a front in place as far as pivots are found among its first rows and columns. Returns how many."""
    k, last, tried = 0, full, 0
    while True:
        begin, refused = k, False
        while k < last and k - begin < PANEL:
            _bring(a, width, begin, k)
            p = _best(a, width, full, k, anything)
            if p < 0:
                refused = True
                break
            if p != k:
                _swap_rows(a, width, k, p)
                rows[at + k], rows[at + p] = rows[at + p], rows[at + k]
            inverse = 1.0 / a[k * width + k]
            for i in range(k + 1, width):
                a[i * width + k] *= inverse
            k += 1
        _flush(a, width, begin, k, k + 1 if refused else k)
        if refused:  # to be tried again, once others are eliminated
            last -= 1
            for i in range(width if last > k else 0):
                x, y = i * width + k, i * width + last
                a[x], a[y] = a[y], a[x]
            columns[at + k], columns[at + last] = columns[at + last], columns[at + k]
        if k == last:
            if last == full or k == tried:
                return k
            last, tried = full, k


@inline
def _late(parent, heads, start, made, f):
    """(pivots that wait for front f, first front below it)."""
    late, c = 0, f - 1
    while c >= 0 and parent[c] == f:
        late += made[c, WIDTH] - made[c, PIVOTS] - (start[c + 1] - start[c])
        c = heads[c] - 1
    return late, c + 1


@part
def _take_up(front, width, own, late, parent, heads, start, relative, stack, top, made, place, rows, columns, at, f):
    """Add what the fronts below f have left on the stack, and their late pivots. Returns the new top of the stack."""
    c, to = f - 1, own
    while c >= 0 and parent[c] == f:
        left, lists = made[c, WIDTH] - made[c, PIVOTS], made[c, LISTS] + made[c, PIVOTS]
        waits = left - (start[c + 1] - start[c])
        for i in range(waits):
            place[i] = to + i
            rows[at + to + i], columns[at + to + i] = rows[lists + i], columns[lists + i]
        to += waits
        for i in range(waits, left):
            r = relative[start[c] + i - waits]
            place[i] = r if r < own else r + late
        top -= left * left
        for i in range(left):
            into, of = place[i] * width, top + i * left
            for j in range(left):
                front[into + place[j]] += stack[of + j]
        c = heads[c] - 1
    return top


@part
def _put_down(front, width, pivots, factor, at, stack, top):
    """Keep the factors of a front, and leave the rest on the stack."""
    for i in range(pivots * width):
        factor[at + i] = front[i]
    at += pivots * width
    left = width - pivots
    for i in range(left):
        of = (pivots + i) * width
        for j in range(pivots):
            factor[at + j * left + i] = front[of + j]
        for j in range(left):
            stack[top + i * left + j] = front[of + pivots + j]


@kernel
def factorise(
    first,
    start,
    index,
    parent,
    relative,
    entry_at,
    entry,
    data,
    front,
    stack,
    place,
    heads,
    factor,
    rows,
    columns,
    made,
):
    """Factor a matrix whose entries `data` stand front by front; entry (e, 2) is the place of each in its front.

    Args are those of `Plan`, then scratch, then what is made. Returns an outcome.
    """
    top, at, lists, before = 0, 0, 0, 0
    for f in range(len(parent)):
        own, update = first[f + 1] - first[f], start[f + 1] - start[f]
        late, head = _late(parent, heads, start, made, f)
        full = own + late
        width = full + update
        if width * width > len(front) or lists + width > len(rows) or width > len(place):
            return CRAMPED
        for i in range(width * width):
            front[i] = 0.0
        for i in range(own):
            rows[lists + i], columns[lists + i] = first[f] + i, first[f] + i
        for i in range(update):
            rows[lists + full + i], columns[lists + full + i] = index[start[f] + i], index[start[f] + i]
        for e in range(entry_at[f], entry_at[f + 1]):
            i, j = entry[e, 0], entry[e, 1]
            front[(i if i < own else i + late) * width + (j if j < own else j + late)] += data[e]
        top = _take_up(
            front, width, own, late, parent, heads, start, relative, stack, top, made, place, rows, columns, lists, f
        )
        heads[f] = head
        pivots = _eliminate(front, width, full, rows, columns, lists, parent[f] < 0)
        if parent[f] < 0 and pivots < full:
            return SINGULAR
        left = width - pivots
        if at + pivots * (width + left) > len(factor) or top + left * left > len(stack):
            return CRAMPED
        _put_down(front, width, pivots, factor, at, stack, top)
        made[f, PIVOTS], made[f, WIDTH], made[f, FACTORS], made[f, LISTS], made[f, BEFORE] = (
            pivots, width, at, lists, before
        )  # fmt: skip
        top, at, lists, before = top + left * left, at + pivots * (width + left), lists + width, before + pivots
    return DONE


@inline
def _dot(a, i, x, first, last):
    """Sum of a[i + j] x[j] for first <= j < last."""
    j, found = first, 0.0
    if j + 4 <= last:
        four = take(a, i + j) * take(x, j)
        j += 4
        while j + 4 <= last:
            four = four + take(a, i + j) * take(x, j)
            j += 4
        found = total(four)
    while j < last:
        found += a[i + j] * x[j]
        j += 1
    return found


@inline
def _less(x, first, last, factor, a, i):
    """x[j] -= factor a[i + j] for first <= j < last."""
    j = first
    while j + 4 <= last:
        lay(x, j, take(x, j) - factor * take(a, i + j))
        j += 4
    while j < last:
        x[j] -= factor * a[i + j]
        j += 1


@part
def _subtract_rows(x, first, last, a, at, step, count):
    """x[j] -= sum of x[i] a[at + i step + j - first] over i < count, for first <= j < last: four rows at a time."""
    i = 0
    while i + 4 <= count:
        p = at + i * step - first
        q, r, s = p + step, p + 2 * step, p + 3 * step
        x0, x1, x2, x3, j = x[i], x[i + 1], x[i + 2], x[i + 3], first
        while j + 4 <= last:
            one, two = x0 * take(a, p + j) + x1 * take(a, q + j), x2 * take(a, r + j) + x3 * take(a, s + j)
            lay(x, j, take(x, j) - (one + two))
            j += 4
        while j < last:
            x[j] -= x0 * a[p + j] + x1 * a[q + j] + x2 * a[r + j] + x3 * a[s + j]
            j += 1
        i += 4
    while i < count:
        _less(x, first, last, x[i], a, at + i * step - first)
        i += 1


@part
def _dot_rows(x, first, last, a, at, step, count):
    """x[i] -= sum of a[at + i step + j] x[j] over first <= j < last, for i < count: four rows at a time."""
    i = 0
    while i + 4 <= count and first + 4 <= last:
        p = at + i * step
        q, r, s, j = p + step, p + 2 * step, p + 3 * step, first + 4
        v = take(x, first)
        y0, y1, y2, y3 = take(a, p + first) * v, take(a, q + first) * v, take(a, r + first) * v, take(a, s + first) * v
        while j + 4 <= last:
            v = take(x, j)
            y0, y1 = y0 + take(a, p + j) * v, y1 + take(a, q + j) * v
            y2, y3 = y2 + take(a, r + j) * v, y3 + take(a, s + j) * v
            j += 4
        t0, t1, t2, t3 = total(y0), total(y1), total(y2), total(y3)
        while j < last:
            t0, t1, t2, t3 = t0 + a[p + j] * x[j], t1 + a[q + j] * x[j], t2 + a[r + j] * x[j], t3 + a[s + j] * x[j]
            j += 1
        x[i], x[i + 1], x[i + 2], x[i + 3] = x[i] - t0, x[i + 1] - t1, x[i + 2] - t2, x[i + 3] - t3
        i += 4
    while i < count:
        x[i] -= _dot(a, at + i * step, x, first, last)
        i += 1


@kernel
def solve(made, factor, rows, columns, local, half, b):
    """b (m, n) <- A^-1 b of every row of b; local (widest,) and half (n,) are scratch."""
    for c in range(len(b)):
        x = b[c]
        for f in range(len(made)):
            pivots, width, at, lists, before = made[f, 0], made[f, 1], made[f, 2], made[f, 3], made[f, 4]
            for i in range(width):
                local[i] = x[rows[lists + i]]
            for i in range(pivots):
                local[i] -= _dot(factor, at + i * width, local, 0, i)
                half[before + i] = local[i]
            _subtract_rows(local, pivots, width, factor, at + pivots * width, width - pivots, pivots)
            for i in range(pivots, width):
                x[rows[lists + i]] = local[i]
        for f in range(len(made) - 1, -1, -1):
            pivots, width, at, lists, before = made[f, 0], made[f, 1], made[f, 2], made[f, 3], made[f, 4]
            for i in range(pivots):
                local[i] = half[before + i]
            for i in range(pivots, width):
                local[i] = x[columns[lists + i]]
            _dot_rows(local, pivots, width, factor, at, width, pivots)
            for i in range(pivots - 1, -1, -1):
                rest = local[i] - _dot(factor, at + i * width, local, i + 1, pivots)
                local[i] = rest / factor[at + i * width + i]
                x[columns[lists + i]] = local[i]


@kernel
def solve_transposed(made, factor, rows, columns, local, half, b):
    """b (m, n) <- A^-T b of every row of b; local (widest,) and half (n,) are scratch."""
    for c in range(len(b)):
        x = b[c]
        for f in range(len(made)):
            pivots, width, at, lists, before = made[f, 0], made[f, 1], made[f, 2], made[f, 3], made[f, 4]
            for i in range(width):
                local[i] = x[columns[lists + i]]
            for i in range(pivots):
                local[i] /= factor[at + i * width + i]
                half[before + i] = local[i]
                _less(local, i + 1, pivots, local[i], factor, at + i * width)
            _subtract_rows(local, pivots, width, factor, at + pivots, width, pivots)
            for i in range(pivots, width):
                x[columns[lists + i]] = local[i]
        for f in range(len(made) - 1, -1, -1):
            pivots, width, at, lists, before = made[f, 0], made[f, 1], made[f, 2], made[f, 3], made[f, 4]
            for i in range(pivots):
                local[i] = half[before + i]
            for i in range(pivots, width):
                local[i] = x[rows[lists + i]]
            _dot_rows(local, pivots, width, factor, at + pivots * width - pivots, width - pivots, pivots)
            for i in range(pivots - 1, -1, -1):
                _less(local, 0, i, local[i], factor, at + i * width)
            for i in range(pivots):
                x[rows[lists + i]] = local[i]


@kernel
def missing(rows, columns, data, x, b, out):
    """out (m, n) = b - A x of every row of x, with A given by its entries."""
    for c in range(len(b)):
        for i in range(b.shape[1]):
            out[c, i] = b[c, i]
        for e in range(len(data)):
            out[c, rows[e]] -= data[e] * x[c, columns[e]]


@kernel
def collect(source, index, sign, into, data):
    """data[into] += sign x source[index]."""
    for e in range(len(index)):
        data[into[e]] += sign[e] * source[index[e]]


@kernel
def equilibrate(rows, columns, data, free, sweeps, tiny, left, right, scaled):
    """Factors of rows and columns that make entries of order one, and the entries times them.

    `right` comes with what columns are measured by first; columns in `free` (n,) take the units of their rows.
    """
    n = len(left)
    for _ in range(sweeps):
        for i in range(n):
            left[i] = tiny
        for e in range(len(data)):
            left[rows[e]] = max(left[rows[e]], abs(data[e]) * right[columns[e]])
        for i in range(n):
            if free[i] == 1:
                right[i] = left[i]
            left[i] = 1.0 / left[i]
    for i in range(n):
        right[i] = tiny
    for e in range(len(data)):
        right[columns[e]] = max(right[columns[e]], abs(data[e]) * left[rows[e]])
    finite = True
    for i in range(n):
        right[i] = 1.0 / right[i]
    for e in range(len(data)):
        scaled[e] = data[e] * left[rows[e]] * right[columns[e]]
        finite = finite and abs(scaled[e]) <= 2.0
    return finite
