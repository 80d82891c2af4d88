"""Compiled multifrontal L D L^T of a symmetric matrix of 3x3 blocks, without pivoting, and its triangular solves.

Fronts are dense and row-major; only their upper triangles matter. A panel holds the rows of L^T of its pivots, unit
diagonal understood, and d the pivots. A negative pivot is allowed (the matrix is then not positive definite; the count is
returned), a zero one is not.

Offsets of inner loops are unsigned: Numba then drops its test for negative indices and the loops become vector
instructions.
"""

from __future__ import annotations

import numpy as np

from anguilla.compiler.jit import inline, kernel

U = np.uint64
ONE, TWO, THREE, SIX = U(1), U(2), U(3), U(6)


@inline
def _eliminate(a, width, k):
    """Make rows k, k+1, k+2 of the front final, among themselves."""
    p, q, r = k * width, (k + ONE) * width, (k + TWO) * width
    inverse = 1.0 / a[p + k]
    x, y = a[p + k + ONE] * inverse, a[p + k + TWO] * inverse
    for j in range(k + ONE, width):
        a[q + j] -= x * a[p + j]
    for j in range(k + TWO, width):
        a[r + j] -= y * a[p + j]
    z = a[q + k + TWO] / a[q + k + ONE]
    for j in range(k + TWO, width):
        a[r + j] -= z * a[q + j]


@inline
def _subtract(a, width, k, begin, end):
    """Subtract the contribution of the pivot rows k, k+1, k+2 from rows begin to end."""
    p, q, r = k * width, (k + ONE) * width, (k + TWO) * width
    dp, dq, dr = 1.0 / a[p + k], 1.0 / a[q + k + ONE], 1.0 / a[r + k + TWO]
    for i in range(begin, end):
        to = i * width
        x, y, z = a[p + i] * dp, a[q + i] * dq, a[r + i] * dr
        for j in range(i, width):
            a[to + j] -= x * a[p + j] + y * a[q + j] + z * a[r + j]


@inline
def _subtract_six(a, width, k):
    """Subtract the contribution of six pivot rows from all rows below, two rows at a time."""
    p0, p1, p2 = k * width, (k + ONE) * width, (k + TWO) * width
    p3, p4, p5 = p0 + THREE * width, p1 + THREE * width, p2 + THREE * width
    d0, d1, d2 = 1.0 / a[p0 + k], 1.0 / a[p1 + k + ONE], 1.0 / a[p2 + k + TWO]
    l = k + THREE
    d3, d4, d5 = 1.0 / a[p3 + l], 1.0 / a[p4 + l + ONE], 1.0 / a[p5 + l + TWO]
    odd = (width - k) % TWO
    if odd == ONE:
        i = k + SIX
        x = i * width
        x0, x1, x2 = a[p0 + i] * d0, a[p1 + i] * d1, a[p2 + i] * d2
        x3, x4, x5 = a[p3 + i] * d3, a[p4 + i] * d4, a[p5 + i] * d5
        for j in range(i, width):
            a[x + j] -= (
                x0 * a[p0 + j] + x1 * a[p1 + j] + x2 * a[p2 + j] + x3 * a[p3 + j] + x4 * a[p4 + j] + x5 * a[p5 + j]
            )
    for i in range(k + SIX + odd, width, TWO):
        x, y = i * width, (i + ONE) * width
        x0, x1, x2 = a[p0 + i] * d0, a[p1 + i] * d1, a[p2 + i] * d2
        x3, x4, x5 = a[p3 + i] * d3, a[p4 + i] * d4, a[p5 + i] * d5
        y0, y1, y2 = a[p0 + i + ONE] * d0, a[p1 + i + ONE] * d1, a[p2 + i + ONE] * d2
        y3, y4, y5 = a[p3 + i + ONE] * d3, a[p4 + i + ONE] * d4, a[p5 + i + ONE] * d5
        for j in range(i, width):
            u0, u1, u2, u3, u4, u5 = a[p0 + j], a[p1 + j], a[p2 + j], a[p3 + j], a[p4 + j], a[p5 + j]
            a[x + j] -= x0 * u0 + x1 * u1 + x2 * u2 + x3 * u3 + x4 * u4 + x5 * u5
            a[y + j] -= y0 * u0 + y1 * u1 + y2 * u2 + y3 * u3 + y4 * u4 + y5 * u5


@inline
def _extend(front, width, stack, top, size, relative, base, rest):
    """Add the update matrix of a child, (size, size) on the stack, into the front."""
    for i in range(rest):
        row = U(3 * relative[base + i] * width)
        for j in range(i, rest):
            to = row + U(3 * relative[base + j])
            of = U(top + 3 * i * size + 3 * j)
            for _ in range(3):
                front[to] += stack[of]
                front[to + ONE] += stack[of + ONE]
                front[to + TWO] += stack[of + TWO]
                to += U(width)
                of += U(size)


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
def factorise(first, start, relative, parent, panel_at, entry_at, entry, values, front, stack, panels, d, heads):
    """Factor; returns the number of negative pivots, or -1 if a pivot is zero or not finite.

    entry_at (s + 1,), entry (e, 3): for each front the blocks of the matrix that enter it: number of the block, place in the
    front (row times width plus column), 1 if transposed. values (blocks, 9). heads (s,) is scratch.
    """
    negative = 0
    top = 0
    for s in range(len(first) - 1):
        pivots = 3 * (first[s + 1] - first[s])
        width = 3 * (start[s + 1] - start[s])
        front[: width * width] = 0.0
        _enter(front, width, entry, entry_at[s], entry_at[s + 1], values)
        c = s - 1  # children wait on the stack, the last one on top
        while c >= 0 and parent[c] == s:
            own = first[c + 1] - first[c]
            rest = start[c + 1] - start[c] - own
            top -= 9 * rest * rest
            _extend(front, width, stack, top, 3 * rest, relative, start[c] + own, rest)
            c = heads[c] - 1
        heads[s] = c + 1  # first front of the subtree of s
        w = U(width)
        pairs = 6 * (pivots // 6)
        for k in range(0, pairs, 6):
            _eliminate(front, w, U(k))
            _subtract(front, w, U(k), U(k + 3), U(k + 6))
            _eliminate(front, w, U(k + 3))
            _subtract_six(front, w, U(k))
        if pairs < pivots:
            _eliminate(front, w, U(pairs))
            _subtract(front, w, U(pairs), U(pairs + 3), w)
        for k in range(pivots):
            pivot = front[k * width + k]
            if not (pivot != 0.0 and abs(pivot) < 1e300):
                return -1
            if pivot < 0.0:
                negative += 1
            d[3 * first[s] + k] = pivot
            inverse = 1.0 / pivot
            of, to = U(k * width), U(panel_at[s] + k * width)
            for j in range(U(k + 1), w):
                panels[to + j] = front[of + j] * inverse
        size = width - pivots
        for i in range(size):
            of, to = U((pivots + i) * width + pivots), U(top + i * size)
            for j in range(U(3 * (i // 3)), U(size)):
                stack[to + j] = front[of + j]
        top += size * size
    return negative


@kernel
def forward(first, start, index, panel_at, panels, local, b):
    """b (m, n) <- L^-1 b for every row of b, in the order of elimination; local (widest,) is scratch.

    A front whose pivots see only zeros is skipped: a row that begins sparse walks up one branch of the tree.
    """
    for s in range(len(first) - 1):
        pivots = 3 * (first[s + 1] - first[s])
        width = 3 * (start[s + 1] - start[s])
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
                p = U(panel_at[s] + k * width)
                q, r = p + U(width), p + U(2 * width)
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
        row = 3 * first[s]
        base = start[s]
        for c in range(len(b)):
            for j in range(width // 3):
                of = 3 * index[base + j]
                local[3 * j], local[3 * j + 1], local[3 * j + 2] = b[c, of], b[c, of + 1], b[c, of + 2]
            for k in range(pivots - 3, -3, -3):
                p = U(panel_at[s] + k * width)
                q, r = p + U(width), p + U(2 * width)
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
