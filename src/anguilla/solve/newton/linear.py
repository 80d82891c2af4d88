"""Dense factorisation inside kernels: no allocation, no call out; faster than LAPACK for the sizes of one robot."""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, kernel
from anguilla.compiler.simd import lay, take, total

INVERTED = 32  # unknowns up to which a matrix that is used again and again is inverted, not factorised


@inline
def _subtract(a, i, k, factor, first, n):
    """Row i -= factor x row k, from column `first` on."""
    into, source, j = i * n, k * n, first
    while j + 4 <= n:
        lay(a, into + j, take(a, into + j) - factor * take(a, source + j))
        j += 4
    while j < n:
        a[i, j] -= factor * a[k, j]
        j += 1


@inline
def row_times(a, i, x, first, last):
    """Row i times x, columns first to last - 1."""
    n, j, found = len(a), first, 0.0
    if j + 4 <= last:
        four = take(a, i * n + j) * take(x, j)
        j += 4
        while j + 4 <= last:
            four = four + take(a, i * n + j) * take(x, j)
            j += 4
        found = total(four)
    while j < last:
        found += a[i, j] * x[j]
        j += 1
    return found


@kernel
def factorise(a, pivot):
    """LU factors of a (n, n) in place with partial pivoting; pivot (n,). Returns False if a is singular."""
    n = len(a)
    for k in range(n):
        p = k
        largest = abs(a[k, k])
        for i in range(k + 1, n):
            if abs(a[i, k]) > largest:
                p, largest = i, abs(a[i, k])
        if not largest > 0.0:  # zero or NaN
            return False
        pivot[k] = p
        if p != k:
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
        inverse = 1.0 / a[k, k]
        for i in range(k + 1, n):
            factor = a[i, k] * inverse
            a[i, k] = factor
            if factor != 0.0:
                _subtract(a, i, k, factor, k + 1, n)
    return True


@kernel
def solve_factorised(a, pivot, x):
    """Solve in place for the right-hand side x (n,), with a and pivot from `factorise`."""
    n = len(a)
    for k in range(n):
        p = pivot[k]
        x[k], x[p] = x[p], x[k]
    for i in range(n):
        x[i] -= row_times(a, i, x, 0, i)
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - row_times(a, i, x, i + 1, n)) / a[i, i]


@kernel
def invert(a, pivot):
    """The inverse of a (n, n) in place, with partial pivoting; pivot (n,). Returns False if a is singular.

    It takes about twice the time of `factorise`; but to multiply by it takes a fifth of that of `solve_factorised`, in which
    every number waits for the one before.
    """
    n = len(a)
    for k in range(n):
        p = k
        largest = abs(a[k, k])
        for i in range(k + 1, n):
            if abs(a[i, k]) > largest:
                p, largest = i, abs(a[i, k])
        if not largest > 0.0:  # zero or NaN
            return False
        pivot[k] = p
        inverse = 1.0 / a[p, k]
        a[p, k] = 1.0
        for j in range(n):
            above = a[k, j] if p != k else 0.0
            a[k, j] = inverse * a[p, j]
            if p != k:
                a[p, j] = above
        for i in range(n):
            if i != k:
                factor = a[i, k]
                a[i, k] = 0.0
                if factor != 0.0:
                    _subtract(a, i, k, factor, 0, n)
    for k in range(n - 1, -1, -1):
        p = pivot[k]
        if p != k:
            for i in range(n):
                a[i, k], a[i, p] = a[i, p], a[i, k]
    return True


@inline
def multiply(a, x, out):
    """a (n, n) times x (n,) into out (n,)."""
    for i in range(len(a)):
        out[i] = row_times(a, i, x, 0, len(a))


@kernel
def is_definite(matrix, n):
    """Whether the symmetric part of matrix[:n, :n] is positive definite, by Cholesky; overwrites the lower half."""
    for i in range(n):
        for j in range(i + 1):
            total = 0.5 * (matrix[i, j] + matrix[j, i])
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                matrix[i, i] = math.sqrt(total)
            else:
                matrix[i, j] = total / matrix[j, j]
    return True
