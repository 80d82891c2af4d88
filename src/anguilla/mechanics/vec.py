"""Three-vectors and 3x3 matrices as tuples of numbers, for compiled kernels (they live in registers).

A vector is (x, y, z); a matrix is nine numbers, row by row.
"""

from __future__ import annotations

from anguilla.compiler.jit import inline


@inline
def add(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inline
def sub(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline
def scale(s, a):
    """s a."""
    return s * a[0], s * a[1], s * a[2]


@inline
def axpy(s, a, b):
    """s a + b."""
    return s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2]


@inline
def dot(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def cross(a, b):
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inline
def matvec(m, a):
    """m a."""
    return (
        m[0] * a[0] + m[1] * a[1] + m[2] * a[2],
        m[3] * a[0] + m[4] * a[1] + m[5] * a[2],
        m[6] * a[0] + m[7] * a[1] + m[8] * a[2],
    )


@inline
def tmatvec(m, a):
    """m^T a."""
    return (
        m[0] * a[0] + m[3] * a[1] + m[6] * a[2],
        m[1] * a[0] + m[4] * a[1] + m[7] * a[2],
        m[2] * a[0] + m[5] * a[1] + m[8] * a[2],
    )


@inline
def matmul(m, n):
    """m n."""
    x = matvec(m, (n[0], n[3], n[6]))
    y = matvec(m, (n[1], n[4], n[7]))
    z = matvec(m, (n[2], n[5], n[8]))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@inline
def madd(m, n):
    """m + n."""
    return (
        m[0] + n[0], m[1] + n[1], m[2] + n[2],
        m[3] + n[3], m[4] + n[4], m[5] + n[5],
        m[6] + n[6], m[7] + n[7], m[8] + n[8],
    )  # fmt: skip


@inline
def maxpy(s, m, n):
    """s m + n."""
    return (
        s * m[0] + n[0], s * m[1] + n[1], s * m[2] + n[2],
        s * m[3] + n[3], s * m[4] + n[4], s * m[5] + n[5],
        s * m[6] + n[6], s * m[7] + n[7], s * m[8] + n[8],
    )  # fmt: skip


@inline
def cross_columns(a, m):
    """[a]x m: the cross product of a with every column of m."""
    return (
        a[1] * m[6] - a[2] * m[3], a[1] * m[7] - a[2] * m[4], a[1] * m[8] - a[2] * m[5],
        a[2] * m[0] - a[0] * m[6], a[2] * m[1] - a[0] * m[7], a[2] * m[2] - a[0] * m[8],
        a[0] * m[3] - a[1] * m[0], a[0] * m[4] - a[1] * m[1], a[0] * m[5] - a[1] * m[2],
    )  # fmt: skip


@inline
def outer_add(s, a, b, m):
    """s a b^T + m."""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return (
        x * b[0] + m[0], x * b[1] + m[1], x * b[2] + m[2],
        y * b[0] + m[3], y * b[1] + m[4], y * b[2] + m[5],
        z * b[0] + m[6], z * b[1] + m[7], z * b[2] + m[8],
    )  # fmt: skip


@inline
def iso_hat(d, s, a):
    """d 1 + s [a]x."""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return d, -z, y, z, d, -x, -y, x, d


@inline
def load3(array, i, j):
    """The three numbers array[i, j:j+3]."""
    return array[i, j], array[i, j + 1], array[i, j + 2]


@inline
def store3(array, i, j, a):
    """array[i, j:j+3] = a."""
    array[i, j] = a[0]
    array[i, j + 1] = a[1]
    array[i, j + 2] = a[2]


@inline
def load9(array, i, j):
    """The nine numbers array[i, j:j+9]."""
    return (
        array[i, j], array[i, j + 1], array[i, j + 2],
        array[i, j + 3], array[i, j + 4], array[i, j + 5],
        array[i, j + 6], array[i, j + 7], array[i, j + 8],
    )  # fmt: skip


@inline
def store9(array, i, j, m):
    """array[i, j:j+9] = m."""
    store3(array, i, j, (m[0], m[1], m[2]))
    store3(array, i, j + 3, (m[3], m[4], m[5]))
    store3(array, i, j + 6, (m[6], m[7], m[8]))


@inline
def cross_rows(m, a):
    """m [a]x: every row of m crossed with a."""
    x = cross((m[0], m[1], m[2]), a)
    y = cross((m[3], m[4], m[5]), a)
    z = cross((m[6], m[7], m[8]), a)
    return x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]


@inline
def mscale(s, m):
    """s m."""
    return s * m[0], s * m[1], s * m[2], s * m[3], s * m[4], s * m[5], s * m[6], s * m[7], s * m[8]


@inline
def transpose(m):
    """m^T."""
    return m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]
