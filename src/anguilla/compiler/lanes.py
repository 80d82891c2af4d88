"""Four lanes: how work that comes in independent copies is laid out.

The local maps of rod intervals and the columns of the tangent come in independent copies. Four copies lie side by side in one
flat array, field by field, four numbers each; kernels work on all four at once (`simd.py`). The functions here read and
write a single lane: an offset is that of the record plus the number of the lane. Offsets are unsigned, so that no test for
negative indices is compiled.
"""

from __future__ import annotations

import numpy as np

from anguilla.compiler.jit import inline

U = np.uint64
LANES = 4
FOUR = U(LANES)
SECOND, THIRD = U(LANES), U(2 * LANES)
ROW_2, ROW_3 = U(3 * LANES), U(6 * LANES)


def field(number: int) -> np.uint64:
    """Offset of a field (a number per lane) in a record."""
    return U(LANES * number)


@inline
def get3(a, o):
    """A three-vector at field offset o."""
    return a[o], a[o + SECOND], a[o + THIRD]


@inline
def put3(a, o, x):
    """Write a three-vector at field offset o."""
    a[o] = x[0]
    a[o + SECOND] = x[1]
    a[o + THIRD] = x[2]


@inline
def get9(a, o):
    """A 3x3 matrix at field offset o."""
    x, y, z = get3(a, o), get3(a, o + ROW_2), get3(a, o + ROW_3)
    return x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]


@inline
def put9(a, o, m):
    """Write a 3x3 matrix at field offset o."""
    put3(a, o, (m[0], m[1], m[2]))
    put3(a, o + ROW_2, (m[3], m[4], m[5]))
    put3(a, o + ROW_3, (m[6], m[7], m[8]))


@inline
def get_column(a, o, k):
    """Column k of the 3x3 matrix at field offset o."""
    at = o + FOUR * U(k)
    return a[at], a[at + ROW_2], a[at + ROW_3]


@inline
def put_column(a, o, x):
    """Write the first column of the 3x3 matrix at field offset o."""
    a[o] = x[0]
    a[o + ROW_2] = x[1]
    a[o + ROW_3] = x[2]
