"""Rotations and rigid motions: SO(3), SE(3), their exponentials, logarithms and tangents.

Twists are eta = (omega, v) and wrenches Lambda = (moment, force), the angular part first; poses are 4x4 homogeneous
matrices. Angles are in [rad], lengths in [m]. Every function broadcasts over leading axes, written `...` below.

Two facts carry the module. All coefficients are Stumpff functions of s = |w|^2, so nothing is singular at zero angle.
And SE(3) is SO(3) over the dual numbers w + eps v: an SE(3) block is the derivative, along v, of its SO(3) formula.
Functions other than the logarithms and the quaternions also accept complex arrays, for complex-step derivatives.
"""

from __future__ import annotations

from math import factorial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Ad",
    "ad",
    "ddexp3",
    "ddexp3_T",
    "ddexp6_inv_T",
    "dexp3",
    "dexp3_inv",
    "dexp6",
    "dexp6_inv",
    "exp3",
    "exp6",
    "hat3",
    "hat6",
    "inverse",
    "log3",
    "log6",
    "pose",
    "quaternion_wxyz",
    "rotation",
    "rotation_from_wxyz",
    "stumpff",
    "vee3",
    "vee6",
]

Array: TypeAlias = NDArray[Any]
Side: TypeAlias = Literal["left", "right"]

# Below this s the series is used, above it sine and cosine; at 16 (an angle of 4) both are within 3e-15 for k <= 9.
_SWITCH = 16.0
_TERMS = 17


# Vectors and matrices -------------------------------------------------------------------------------------------------


def hat3(w: ArrayLike) -> Array:
    """Return the skew matrix W (..., 3, 3) of a vector w (..., 3): W y is the cross product w x y."""
    w = _checked(w, (3,), "w")
    W = np.zeros((*w.shape, 3), w.dtype)
    W[..., 2, 1], W[..., 0, 2], W[..., 1, 0] = w[..., 0], w[..., 1], w[..., 2]
    return W - W.swapaxes(-1, -2)


def vee3(W: ArrayLike) -> Array:
    """Return the vector (..., 3) of a skew matrix W (..., 3, 3); of any matrix, that of its skew part."""
    W = _checked(W, (3, 3), "W")
    return np.stack([W[..., 2, 1] - W[..., 1, 2], W[..., 0, 2] - W[..., 2, 0], W[..., 1, 0] - W[..., 0, 1]], -1) / 2


def hat6(xi: ArrayLike) -> Array:
    """Return the 4x4 matrix (..., 4, 4) of a twist xi = (omega, v) (..., 6)."""
    w, v = _halves(xi, "xi")
    X = np.zeros((*w.shape[:-1], 4, 4), w.dtype)
    X[..., :3, :3], X[..., :3, 3] = hat3(w), v
    return X


def vee6(X: ArrayLike) -> Array:
    """Return the twist (..., 6) of a matrix X (..., 4, 4) of the form hat6(xi)."""
    X = _checked(X, (4, 4), "X")
    return np.concatenate([vee3(X[..., :3, :3]), X[..., :3, 3]], -1)


def pose(R: ArrayLike | None = None, p: ArrayLike | None = None) -> Array:
    """Return the pose (..., 4, 4) of a rotation R (..., 3, 3) and a position p (..., 3) [m]; identity by default."""
    R = _checked(np.eye(3) if R is None else R, (3, 3), "R")
    p = _checked(np.zeros(3) if p is None else p, (3,), "p")
    g = np.zeros((*np.broadcast_shapes(R.shape[:-2], p.shape[:-1]), 4, 4), np.result_type(R, p))
    g[..., :3, :3], g[..., :3, 3], g[..., 3, 3] = R, p, 1.0
    return g


def inverse(g: ArrayLike) -> Array:
    """Return the inverse (..., 4, 4) of a pose g (..., 4, 4)."""
    R, p = _rotation_position(g)
    Rt = R.swapaxes(-1, -2)
    return pose(Rt, -_times(Rt, p))


def Ad(g: ArrayLike) -> Array:
    """Return the adjoint (..., 6, 6) of a pose g (..., 4, 4): it carries twists of the moved frame to the fixed one."""
    R, p = _rotation_position(g)
    return _blocks(R, np.zeros((3, 3)), hat3(p) @ R, R)


def ad(xi: ArrayLike) -> Array:
    """Return the adjoint (..., 6, 6) of a twist xi (..., 6): the matrix of the bracket [xi, .]."""
    w, v = _halves(xi, "xi")
    return _blocks(hat3(w), np.zeros((3, 3)), hat3(v), hat3(w))


# Coefficients ---------------------------------------------------------------------------------------------------------


def stumpff(s: ArrayLike, order: int) -> Array:
    """Return c_k(s) = sum_j (-s)^j / (k + 2j)! for k = 0..order, shape (order + 1, ...), of s (...) >= 0 [rad^2].

    With s = x^2: c_0 = cos x, c_1 = sin x / x, c_2 = (1 - cos x) / x^2, c_3 = (x - sin x) / x^3, and so on.
    """
    s = _checked(s, (), "s")
    top = max(order, 2)
    c = np.empty((top + 1, *s.shape), s.dtype)
    small = s.real < _SWITCH
    if small.any():
        c[:, small] = _stumpff_series(s[small], top)
    if not small.all():
        c[:, ~small] = _stumpff_closed(s[~small], top)
    return c[: order + 1]


def _stumpff_series(s: Array, top: int) -> Array:
    """Return c_0..c_top of a flat array s: the two highest by their series, the others by recurrence downwards."""
    c = np.empty((top + 1, *s.shape), s.dtype)
    # n! c_n = 1 - s/((n+1)(n+2)) (1 - s/((n+3)(n+4)) (1 - ... for the two highest n, innermost first
    m = np.array([top - 1, top]) + 2.0 * np.arange(_TERMS, 0, -1)[:, None]
    tail = np.ones((2, *s.shape), s.dtype)
    for divisor in (m * (m - 1))[..., None]:
        tail = 1 - s * tail / divisor
    c[top - 1], c[top] = tail[0] / factorial(top - 1), tail[1] / factorial(top)
    for k in range(top - 2, -1, -1):
        c[k] = 1 / factorial(k) - s * c[k + 2]
    return c


def _stumpff_closed(s: Array, top: int) -> Array:
    """Return c_0..c_top of a flat array s: the three lowest by sine and cosine, the others by recurrence upwards."""
    c = np.empty((top + 1, *s.shape), s.dtype)
    x = np.sqrt(s)
    # the half angle keeps c_2 accurate near its zero at x = 2 pi, where dexp is singular
    c[0], c[1], c[2] = np.cos(x), np.sin(x) / x, 2 * np.sin(x / 2) ** 2 / s
    for k in range(1, top - 1):
        c[k + 2] = (1 / factorial(k) - c[k]) / s
    return c


def _coefficients(w: Array) -> tuple[Array, Array, Array, Array]:
    """Return a, b of dexp3(w) = 1 + a W + b W^2, then a', b', the derivatives in s = |w|^2; each (...)."""
    _, _, c2, c3, c4, c5 = stumpff(_dot(w, w), 5)
    # c_k' = (k c_{k+2} - c_{k+1}) / 2
    return c2, c3, (2 * c4 - c3) / 2, (3 * c5 - c4) / 2


def _coefficients_inv(w: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Return a, b of dexp3_inv(w) = 1 + a W + b W^2, then a', b' and b'', the derivatives in s = |w|^2; each (...)."""
    _, _, c2, c3, c4, c5, c6, c7, c8 = stumpff(_dot(w, w), 8)
    # b = (1 - (x/2) cot(x/2)) / x^2 with x cot(x/2) = c_1 / c_2, without the division by x^2
    b = (c3 - 2 * c4) / (2 * c2)
    b1 = (5 * c5 - c4 - 8 * c6) / (4 * c2) + b**2
    b2 = (c5 - 9 * c6 + 33 * c7 - 48 * c8) / (8 * c2) + 3 * b * b1 - b**3
    return np.full_like(b, -0.5), b, np.zeros_like(b), b1, b2


# SO(3) ----------------------------------------------------------------------------------------------------------------


def exp3(w: ArrayLike) -> Array:
    """Return the rotation matrix (..., 3, 3) of a rotation vector w (..., 3) [rad]."""
    w = _checked(w, (3,), "w")
    _, c1, c2 = stumpff(_dot(w, w), 2)
    return _polynomial(w, c1, c2)


def log3(R: ArrayLike) -> Array:
    """Return the rotation vector (..., 3) [rad] of R (..., 3, 3), its angle in [0, pi]; at pi, one of the two axes."""
    q = quaternion_wxyz(R)
    n = np.sqrt(_dot(q[..., 1:], q[..., 1:]))
    # q = (cos x/2, sin x/2 axis): w = x axis, where x / sin(x/2) -> 2 at zero angle
    scale = np.divide(2 * np.arctan2(n, q[..., 0]), n, out=np.full_like(n, 2.0), where=n > 0)
    w: Array = scale[..., None] * q[..., 1:]
    return w


def rotation(axis: ArrayLike, angle: ArrayLike) -> Array:
    """Return the rotation matrix (..., 3, 3) about an axis (..., 3) of any length by an angle (...) [rad]."""
    return exp3(_unit(_checked(axis, (3,), "axis"), "axis") * _checked(angle, (), "angle")[..., None])


def quaternion_wxyz(R: ArrayLike) -> Array:
    """Return the unit quaternion (w, x, y, z) (..., 4) of a rotation R (..., 3, 3), with w >= 0."""
    R = _checked(R, (3, 3), "R")
    trace = np.trace(R, axis1=-2, axis2=-1)[..., None]
    diagonal = np.diagonal(R, axis1=-2, axis2=-1)
    # K = 4 q q^T: each row is the quaternion times one of its components; the largest is the safe one
    K = np.empty((*R.shape[:-2], 4, 4), R.dtype)
    K[..., 1:, 1:] = R + R.swapaxes(-1, -2)
    K[..., 0, 1:] = K[..., 1:, 0] = 2 * vee3(R)
    largest = np.concatenate([1 + trace, 1 - trace + 2 * diagonal], -1)
    K[..., range(4), range(4)] = largest
    row = np.argmax(largest, -1)[..., None, None]
    q = np.take_along_axis(K, row, -2)[..., 0, :]
    q = np.where(q[..., :1] < 0, -q, q)
    return q / np.sqrt(_dot(q, q))[..., None]


def rotation_from_wxyz(q: ArrayLike) -> Array:
    """Return the rotation matrix (..., 3, 3) of a quaternion (w, x, y, z) (..., 4) of any length but zero."""
    q = _unit(_checked(q, (4,), "q"), "q")
    # R = 1 + 2 w V + 2 V^2
    return _polynomial(q[..., 1:], 2 * q[..., 0], np.full_like(q[..., 0], 2.0))


def dexp3(w: ArrayLike, *, side: Side = "left") -> Array:
    """Return the tangent J (..., 3, 3) of exp3 at w (..., 3) [rad].

    On the left, d/dt exp3(w) = hat3(J w') exp3(w), a velocity in fixed axes; on the right, exp3(w) hat3(J w').
    """
    w = _sided(_checked(w, (3,), "w"), side)
    a, b, *_ = _coefficients(w)
    return _polynomial(w, a, b)


def dexp3_inv(w: ArrayLike, *, side: Side = "left") -> Array:
    """Return the inverse (..., 3, 3) of dexp3 at w (..., 3) [rad], |w| < 2 pi."""
    w = _sided(_checked(w, (3,), "w"), side)
    a, b, *_ = _coefficients_inv(w)
    return _polynomial(w, a, b)


def ddexp3(w: ArrayLike, y: ArrayLike) -> Array:
    """Return the derivative in w of dexp3(w) y, (..., 3, 3), at w (..., 3) [rad] for a fixed y (..., 3)."""
    w, y = _checked(w, (3,), "w"), _checked(y, (3,), "y")
    return _polynomial_tangent(w, y, *_coefficients(w))


def ddexp3_T(w: ArrayLike, y: ArrayLike) -> Array:
    """Return the derivative in w of dexp3(w)^T y, (..., 3, 3), at w (..., 3) [rad] for a fixed y (..., 3)."""
    w, y = _checked(w, (3,), "w"), _checked(y, (3,), "y")
    a, b, a1, b1 = _coefficients(w)
    return _polynomial_tangent(w, y, -a, b, -a1, b1)


# SE(3) ----------------------------------------------------------------------------------------------------------------


def exp6(xi: ArrayLike) -> Array:
    """Return the pose (..., 4, 4) reached in unit time with the body twist xi = (omega [rad], v [m]) (..., 6)."""
    w, v = _halves(xi, "xi")
    _, c1, c2, c3 = stumpff(_dot(w, w), 3)
    # R = exp3(w), p = dexp3(w) v
    return pose(_polynomial(w, c1, c2), _times(_polynomial(w, c2, c3), v))


def log6(g: ArrayLike) -> Array:
    """Return the twist (omega [rad], v [m]) (..., 6) of a pose g (..., 4, 4), its angle in [0, pi]."""
    R, p = _rotation_position(g)
    w = log3(R)
    return np.concatenate([w, _times(dexp3_inv(w), p)], -1)


def dexp6(xi: ArrayLike, *, side: Side = "left") -> Array:
    """Return the tangent T (..., 6, 6) of exp6 at xi (..., 6).

    On the left, d/dt exp6(xi) = hat6(T xi') exp6(xi), a twist in fixed axes; on the right exp6(xi) hat6(T xi'), the
    body twist.
    """
    w, v = _halves(xi, "xi", side)
    a, b, a1, b1 = _coefficients(w)
    J = _polynomial(w, a, b)
    return _blocks(J, np.zeros((3, 3)), _polynomial_along(w, v, a, b, a1, b1), J)


def dexp6_inv(xi: ArrayLike, *, side: Side = "left") -> Array:
    """Return the inverse (..., 6, 6) of dexp6 at xi (..., 6), its angle below 2 pi."""
    w, v = _halves(xi, "xi", side)
    a, b, a1, b1, _ = _coefficients_inv(w)
    J = _polynomial(w, a, b)
    return _blocks(J, np.zeros((3, 3)), _polynomial_along(w, v, a, b, a1, b1), J)


def ddexp6_inv_T(xi: ArrayLike, Lambda: ArrayLike, *, side: Side = "left") -> Array:
    """Return the derivative in xi of dexp6_inv(xi)^T Lambda, (..., 6, 6), for a fixed wrench Lambda (..., 6).

    It is the geometric stiffness of a closure written with the logarithm (000, remark 10). xi is (..., 6), its angle
    below 2 pi (digits are lost close to it); Lambda = (moment [N m], force [N]).
    """
    w, v = _halves(xi, "xi", side)
    m, f = _halves(Lambda, "Lambda")
    a, b, zero, b1, b2 = _coefficients_inv(w)
    # H(y) = d/dw [dexp3_inv(w)^T y]; the wrench f + eps m is dual too, hence H(m) beside the derivative of H(f)
    Hm = _polynomial_tangent(w, m, -a, b, zero, b1)
    Hf = _polynomial_tangent(w, f, -a, b, zero, b1)
    # derivative along v of H(f) = a F - b (hat(W f) + W F) + 2 b' (W W f) w^T: first of its coefficients, then of w
    W, V, F, rate = hat3(w), hat3(v), hat3(f), 2 * _dot(w, v)
    Wf, Vf = _times(W, f), _times(V, f)
    dHf = _polynomial_tangent(w, f, zero, b1 * rate, zero, b2 * rate)
    dHf = dHf - b[..., None, None] * (hat3(Vf) + V @ F)
    dHf = dHf + 2 * b1[..., None, None] * (_outer(_times(W, Vf) + _times(V, Wf), w) + _outer(_times(W, Wf), v))
    # dexp6_inv(-xi) is the right one: the chain rule turns the sign of the result
    sign = 1.0 if side == "left" else -1.0
    return sign * _blocks(Hm + dHf, Hf, Hf, np.zeros((3, 3)))


# The one polynomial P(w) = 1 + a W + b W^2, a and b functions of s = |w|^2, that all the maps above share -------------


def _polynomial(w: Array, a: Array, b: Array) -> Array:
    W = hat3(w)
    P: Array = np.eye(3) + a[..., None, None] * W + b[..., None, None] * (W @ W)
    return P


def _polynomial_along(w: Array, v: Array, a: Array, b: Array, a1: Array, b1: Array) -> Array:
    """Return the derivative of P(w) along v, a1 and b1 being da/ds and db/ds."""
    W, V, rate = hat3(w), hat3(v), 2 * _dot(w, v)
    a, b, da, db = (c[..., None, None] for c in (a, b, a1 * rate, b1 * rate))
    # a V + b (W V + V W) + 2 w.v (a' W + b' W^2)
    dP: Array = a * V + b * (W @ V + V @ W) + da * W + db * (W @ W)
    return dP


def _polynomial_tangent(w: Array, y: Array, a: Array, b: Array, a1: Array, b1: Array) -> Array:
    """Return the derivative of P(w) y in w, a1 and b1 being da/ds and db/ds."""
    W, Y = hat3(w), hat3(y)
    Wy = _times(W, y)
    # -a Y - b (hat(W y) + W Y) + 2 (a' W y + b' W^2 y) w^T
    radial = 2 * (a1[..., None] * Wy + b1[..., None] * _times(W, Wy))
    dPy: Array = _outer(radial, w) - a[..., None, None] * Y - b[..., None, None] * (hat3(Wy) + W @ Y)
    return dPy


# Array helpers --------------------------------------------------------------------------------------------------------


def _checked(x: ArrayLike, tail: tuple[int, ...], name: str) -> Array:
    """Return x as a float or complex array whose last axes are `tail`."""
    x = np.asarray(x)
    if x.dtype.kind not in "fc":
        x = x.astype(float)
    if x.shape[x.ndim - len(tail) :] != tail:
        expected = ", ".join(["...", *map(str, tail)])
        raise ValueError(f"{name} has shape {x.shape}; give an array of shape ({expected})")
    return x


def _halves(xi: ArrayLike, name: str, side: Side = "left") -> tuple[Array, Array]:
    xi = _sided(_checked(xi, (6,), name), side)
    return xi[..., :3], xi[..., 3:]


def _sided(w: Array, side: Side) -> Array:
    # dexp(w) on the right is dexp(-w) on the left
    if side not in ("left", "right"):
        raise ValueError(f"side is {side!r}; give 'left' (fixed axes) or 'right' (body axes)")
    return w if side == "left" else -w


def _rotation_position(g: ArrayLike) -> tuple[Array, Array]:
    g = _checked(g, (4, 4), "g")
    return g[..., :3, :3], g[..., :3, 3]


def _unit(x: Array, name: str) -> Array:
    n = np.sqrt(_dot(x, x))
    if not np.all((n.real > 0) & np.isfinite(n)):
        raise ValueError(f"{name} has zero length or is not finite; give a direction of any positive length")
    return x / n[..., None]


def _dot(a: Array, b: Array) -> Array:
    # no conjugate: complex steps must stay analytic
    return np.asarray((a * b).sum(-1))


def _outer(a: Array, b: Array) -> Array:
    return a[..., :, None] * b[..., None, :]


def _times(A: Array, x: Array) -> Array:
    return (A @ x[..., None])[..., 0]


def _blocks(A: Array, B: Array, C: Array, D: Array) -> Array:
    """Return the 6x6 matrix [[A, B], [C, D]] of broadcast 3x3 blocks."""
    shape = np.broadcast_shapes(A.shape, B.shape, C.shape, D.shape)[:-2]
    M = np.empty((*shape, 6, 6), np.result_type(A, B, C, D))
    M[..., :3, :3], M[..., :3, 3:], M[..., 3:, :3], M[..., 3:, 3:] = A, B, C, D
    return M
