"""Dense factorisation inside kernels: no allocation, no call out; faster than LAPACK for the sizes of one robot."""

from __future__ import annotations

from anguilla._jit import kernel


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
                for j in range(k + 1, n):
                    a[i, j] -= factor * a[k, j]
    return True


@kernel
def solve_factorised(a, pivot, x):
    """Solve in place for the right-hand side x (n,), with a and pivot from `factorise`."""
    n = len(a)
    for k in range(n):
        p = pivot[k]
        x[k], x[p] = x[p], x[k]
    for i in range(n):
        total = x[i]
        for j in range(i):
            total -= a[i, j] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= a[i, j] * x[j]
        x[i] = total / a[i, i]
