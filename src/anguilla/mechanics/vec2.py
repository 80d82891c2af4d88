"""Vectors and turns of a plane as complex numbers (x, y), for compiled kernels; angles and moments are plain numbers."""

from __future__ import annotations

from anguilla.compiler.jit import inline
from anguilla.compiler.lanes import SECOND


@inline
def add2(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1]


@inline
def scale2(s, a):
    """s a for a number s."""
    return s * a[0], s * a[1]


@inline
def axpy2(s, a, b):
    """s a + b for a number s."""
    return s * a[0] + b[0], s * a[1] + b[1]


@inline
def times(a, b):
    """a b: b turned and stretched by a."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


@inline
def back(a, b):
    """conj(a) b: b turned back and stretched by a."""
    return a[0] * b[0] + a[1] * b[1], a[0] * b[1] - a[1] * b[0]


@inline
def swing(w, a):
    """w i a: the cross product of an angular velocity w, normal to the plane, with a."""
    return -w * a[1], w * a[0]


@inline
def dot2(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1]


@inline
def cross2(a, b):
    """Normal component of a x b."""
    return a[0] * b[1] - a[1] * b[0]


@inline
def get2(a, o):
    """A vector at field offset o."""
    return a[o], a[o + SECOND]


@inline
def put2(a, o, x):
    """Write a vector at field offset o."""
    a[o] = x[0]
    a[o + SECOND] = x[1]


@inline
def load2(array, i, j):
    """The two numbers array[i, j:j+2]."""
    return array[i, j], array[i, j + 1]


@inline
def store2(array, i, j, a):
    """array[i, j:j+2] = a."""
    array[i, j] = a[0]
    array[i, j + 1] = a[1]
