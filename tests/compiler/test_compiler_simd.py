"""Four numbers at a time, against numpy."""

from __future__ import annotations

import numpy as np

from anguilla.compiler.jit import kernel
from anguilla.compiler.simd import lay, take, turned

ROWS = np.array([0, 4, 8, 12], dtype=np.uint64)


@kernel
def transpose(a, rows, out):
    """Write the transpose of a (4, 4), whose rows begin at the given places."""
    i, j, k, l = rows[0], rows[1], rows[2], rows[3]
    x, y, z, w = turned(take(a, i), take(a, j), take(a, k), take(a, l))
    lay(out, i, x)
    lay(out, j, y)
    lay(out, k, z)
    lay(out, l, w)


def test_four_rows_are_turned():
    a, out, plain = np.arange(16.0).reshape(4, 4), np.zeros((4, 4)), np.zeros((4, 4))
    transpose(a, ROWS, out)
    np.testing.assert_array_equal(out, a.T)
    getattr(transpose, "py_func", transpose)(a, ROWS, plain)
    np.testing.assert_array_equal(plain, a.T)
