"""Compiled triangular solves with the factors of `ldl`, and products of what they give.

Right-hand sides stand side by side, `lanes` of them, a multiple of four; or one by one, in rows.
"""

from __future__ import annotations

from anguilla.compiler.fused import less
from anguilla.compiler.jit import inline, kernel
from anguilla.compiler.simd import lay, take
from anguilla.fem.ldl import EIGHT, FOUR, ONE, SIXTEEN, THREE, TWELVE, TWO, U, less_4, less_8, less_12, less_16, padded


@kernel
def fullest(b, count, rows):
    """Rows of b (m, n) that are not zero into rows (m,), those with most numbers first; returns how many there are."""
    kept = 0
    for r in range(len(b)):
        found = 0
        for i in range(b.shape[1]):
            found += 1 if b[r, i] != 0.0 else 0
        if found == 0:
            continue
        count[r], k = found, kept
        while k > 0 and count[rows[k - 1]] < found:
            rows[k] = rows[k - 1]
            k -= 1
        rows[k] = r
        kept += 1
    return kept


@kernel
def spread_lanes(b, order, rows, y):
    """y (n, lanes): rows of b (m, n), those that are numbered, by node in the order of elimination; zeros beside them."""
    for i in range(len(order)):
        of, to = 3 * order[i], 3 * i
        for j in range(3):
            for k in range(len(rows)):
                y[to + j, k] = b[rows[k], of + j]
            for k in range(len(rows), y.shape[1]):
                y[to + j, k] = 0.0


@inline
def _empty(b, at, lanes, rows, columns):
    """Whether a part of b is zero: the given number of rows and columns from `at` on."""
    for _ in range(rows):
        for l in range(at, at + columns):
            if b[l] != 0.0:
                return False
        at += lanes
    return True


@inline
def _less_lanes(b, to, lanes, p, pt, w, own, pivots, columns):
    """Three rows of right-hand sides, 4, 8, 12 or 16 columns, less what the pivots of a front do, whose rows are at `own`."""
    if columns == SIXTEEN:
        less_16(b, to, p, pt, w, b, own, lanes, pivots, b, to, lanes)
    elif columns == TWELVE:
        less_12(b, to, p, pt, w, b, own, lanes, pivots, b, to, lanes)
    elif columns == EIGHT:
        less_8(b, to, p, pt, w, b, own, lanes, pivots, b, to, lanes)
    else:
        less_4(b, to, p, pt, w, b, own, lanes, pivots, b, to, lanes)


@kernel
def forward_lanes(first, start, index, panel_at, panels, scale, b, lanes):
    """b (n lanes,) <- S L^-1 b for every column of b (n, lanes), in the order of elimination, with a diagonal S (n,).

    Up to sixteen columns at a time. A front whose pivots see only zeros is skipped: a column that begins sparse walks up one
    branch of the tree.
    """
    m = U(lanes)
    for s in range(len(first) - 1):
        pivots = 3 * (first[s + 1] - first[s])
        width = 3 * (start[s + 1] - start[s])
        w, pt, base = U(padded(width)), U(panel_at[s]), start[s]
        own, end = U(3 * first[s]) * m, U(3 * first[s]) * m + m
        while own < end:
            columns = min(SIXTEEN, end - own)
            if not _empty(b, own, m, pivots, columns):
                for i in range(U(0), U(pivots), THREE):
                    at, p = own + i * m, pt + i * w + i
                    _less_lanes(b, at, m, panels, pt + i, w, own, i, columns)
                    for j in range(at, at + columns, FOUR):
                        x = take(b, j)
                        y = less(take(b, j + m), panels[p + ONE], x)
                        lay(b, j + m, y)
                        z = less(take(b, j + m + m), panels[p + TWO], x)
                        lay(b, j + m + m, less(z, panels[p + w + TWO], y))
                for j in range(pivots // 3, width // 3):
                    at = own + U(3 * index[base + j]) * m - U(3 * first[s]) * m
                    _less_lanes(b, at, m, panels, pt + U(3 * j), w, own, U(pivots), columns)
                for k in range(pivots):
                    factor, at = scale[3 * first[s] + k], own + U(k) * m
                    for j in range(at, at + columns, FOUR):
                        lay(b, j, factor * take(b, j))
            own += columns


@inline
def _sum_4(y, d, a, b, m, number, out, width):
    """Products of columns a to a+3 with columns b to b+3 of y (n, m), each row by the sign of its pivot."""
    x = z = t = u = 0.0 * take(y, b)
    for k in range(number):
        s, i = (1.0 if d[k] > 0.0 else -1.0), U(k) * m
        v = take(y, i + b)
        x, z = x + s * y[i + a] * v, z + s * y[i + a + ONE] * v
        t, u = t + s * y[i + a + TWO] * v, u + s * y[i + a + THREE] * v
    lay(out, a * width + b, x)
    lay(out, (a + ONE) * width + b, z)
    lay(out, (a + TWO) * width + b, t)
    lay(out, (a + THREE) * width + b, u)


@inline
def _sum_8(y, d, a, b, m, number, out, width):
    """Products of columns a to a+3 with columns b to b+7 of y (n, m), each row by the sign of its pivot."""
    x0 = x1 = x2 = x3 = z0 = z1 = z2 = z3 = 0.0 * take(y, b)
    for k in range(number):
        s, i = (1.0 if d[k] > 0.0 else -1.0), U(k) * m
        v, w = take(y, i + b), take(y, i + b + FOUR)
        p, q, r, t = s * y[i + a], s * y[i + a + ONE], s * y[i + a + TWO], s * y[i + a + THREE]
        x0, x1, x2, x3 = x0 + p * v, x1 + q * v, x2 + r * v, x3 + t * v
        z0, z1, z2, z3 = z0 + p * w, z1 + q * w, z2 + r * w, z3 + t * w
    o, step = a * width + b, width
    for x, z in ((x0, z0), (x1, z1), (x2, z2), (x3, z3)):
        lay(out, o, x)
        lay(out, o + FOUR, z)
        o += step


@kernel
def products(y, d, lanes, out, rows, gram):
    """gram[rows, rows] = y^T sign(d) y of columns of y (n lanes,), lanes being fours; out (lanes^2,) is scratch."""
    m = U(lanes)
    for a in range(U(0), m, FOUR):
        b = a
        while b + EIGHT <= m:
            _sum_8(y, d, a, b, m, len(d), out, m)
            b += EIGHT
        if b < m:
            _sum_4(y, d, a, b, m, len(d), out, m)
    for i in range(len(rows)):
        for j in range(i, len(rows)):
            gram[rows[i], rows[j]] = gram[rows[j], rows[i]] = out[i * lanes + j]


@kernel
def forward(first, start, index, panel_at, panels, local, b):
    """b (m, n) <- L^-1 b for every row of b, in the order of elimination; local (widest,) is scratch.

    A front whose pivots see only zeros is skipped: a row that begins sparse walks up one branch of the tree.
    """
    for s in range(len(first) - 1):
        pivots = 3 * (first[s + 1] - first[s])
        width = 3 * (start[s + 1] - start[s])
        w = padded(width)
        row = 3 * first[s]
        base = start[s]
        for c in range(len(b)):
            empty = True
            for k in range(pivots):
                local[k] = b[c, row + k]
                if local[k] != 0.0:
                    empty = False
            if empty:
                continue
            for j in range(pivots, width):
                local[j] = 0.0
            for k in range(0, pivots, 3):
                p = U(panel_at[s] + k * w)
                q, r = p + U(w), p + U(2 * w)
                x = local[k]
                y = local[k + 1] - panels[p + U(k + 1)] * x
                z = local[k + 2] - panels[p + U(k + 2)] * x - panels[q + U(k + 2)] * y
                local[k + 1], local[k + 2] = y, z
                for j in range(U(k + 3), U(width)):
                    local[j] -= panels[p + j] * x + panels[q + j] * y + panels[r + j] * z
            for k in range(pivots):
                b[c, row + k] = local[k]
            for j in range(pivots // 3, width // 3):
                to = 3 * index[base + j]
                b[c, to] += local[3 * j]
                b[c, to + 1] += local[3 * j + 1]
                b[c, to + 2] += local[3 * j + 2]


@kernel
def backward(first, start, index, panel_at, panels, local, b):
    """b (m, n) <- L^-T b for every row of b, in the order of elimination; local (widest,) is scratch."""
    for s in range(len(first) - 2, -1, -1):
        pivots = 3 * (first[s + 1] - first[s])
        width = 3 * (start[s + 1] - start[s])
        w = padded(width)
        row = 3 * first[s]
        base = start[s]
        for c in range(len(b)):
            for j in range(width // 3):
                of = 3 * index[base + j]
                local[3 * j], local[3 * j + 1], local[3 * j + 2] = b[c, of], b[c, of + 1], b[c, of + 2]
            for k in range(pivots - 3, -3, -3):
                p = U(panel_at[s] + k * w)
                q, r = p + U(w), p + U(2 * w)
                x, y, z = local[k], local[k + 1], local[k + 2]
                for j in range(U(k + 3), U(width)):
                    x -= panels[p + j] * local[j]
                    y -= panels[q + j] * local[j]
                    z -= panels[r + j] * local[j]
                y -= panels[q + U(k + 2)] * z
                x -= panels[p + U(k + 2)] * z + panels[p + U(k + 1)] * y
                local[k], local[k + 1], local[k + 2] = x, y, z
            for k in range(pivots):
                b[c, row + k] = local[k]
