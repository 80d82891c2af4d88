"""Packs: four columns of the tangent side by side, the unit of vector arithmetic.

A three-vector of columns is a triple of packs. All packs of one frame lie in one flat array with compile-time row
offsets, so that four lanes become one vector instruction. Offsets are unsigned: Numba then drops its test for negative
indices.
"""

from __future__ import annotations

import numpy as np

from anguilla._jit import inline

U = np.uint64
LANES = 4


@inline
def load(a, o):
    """One pack at offset o."""
    return a[o], a[o + U(1)], a[o + U(2)], a[o + U(3)]


@inline
def store(a, o, x):
    """Write one pack at offset o."""
    a[o] = x[0]
    a[o + U(1)] = x[1]
    a[o + U(2)] = x[2]
    a[o + U(3)] = x[3]


@inline
def load_vec(a, o):
    """A three-vector of packs at offset o."""
    return load(a, o), load(a, o + U(4)), load(a, o + U(8))


@inline
def store_vec(a, o, x):
    """Write a three-vector of packs at offset o."""
    store(a, o, x[0])
    store(a, o + U(4), x[1])
    store(a, o + U(8), x[2])


@inline
def mul(s, x):
    """s x, s a number."""
    return s * x[0], s * x[1], s * x[2], s * x[3]


@inline
def fma(s, x, y):
    """s x + y, s a number."""
    return s * x[0] + y[0], s * x[1] + y[1], s * x[2] + y[2], s * x[3] + y[3]


@inline
def plus(x, y):
    """x + y."""
    return x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]


@inline
def plus_vec(x, y):
    """x + y, three-vectors of packs."""
    return plus(x[0], y[0]), plus(x[1], y[1]), plus(x[2], y[2])


@inline
def add_scaled(v, x, y):
    """v x + y: v a vector of numbers, x one pack, y a three-vector of packs."""
    return fma(v[0], x, y[0]), fma(v[1], x, y[1]), fma(v[2], x, y[2])


@inline
def add_cross(x, v, y):
    """x x v + y: the cross product of columns x with the vector v of numbers, added to y."""
    return (
        fma(v[2], x[1], fma(-v[1], x[2], y[0])),
        fma(v[0], x[2], fma(-v[2], x[0], y[1])),
        fma(v[1], x[0], fma(-v[0], x[1], y[2])),
    )


@inline
def cross(x, v):
    """x x v."""
    return (
        fma(v[2], x[1], mul(-v[1], x[2])),
        fma(v[0], x[2], mul(-v[2], x[0])),
        fma(v[1], x[0], mul(-v[0], x[1])),
    )


@inline
def dot(v, x):
    """v . x, one pack."""
    return fma(v[0], x[0], fma(v[1], x[1], mul(v[2], x[2])))


@inline
def add_dot(v, x, y):
    """v . x + y, one pack."""
    return fma(v[0], x[0], fma(v[1], x[1], fma(v[2], x[2], y)))


@inline
def add_matvec(m, x, y):
    """m x + y, m nine numbers."""
    return (
        add_dot((m[0], m[1], m[2]), x, y[0]),
        add_dot((m[3], m[4], m[5]), x, y[1]),
        add_dot((m[6], m[7], m[8]), x, y[2]),
    )


@inline
def scale_vec(s, x):
    """s x, three-vector of packs."""
    return mul(s, x[0]), mul(s, x[1]), mul(s, x[2])
