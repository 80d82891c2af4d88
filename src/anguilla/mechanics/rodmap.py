"""The local map of a rod interval: from the strains at its two Gauss points to the relative motion of its ends.

Fourth-order Magnus: g_child = g_parent exp(Omega, V) with
    Omega = h/2 (K1 + K2) + c K1 x K2,    V = h/2 (G1 + G2) + c (K1 x G2 - K2 x G1),    c = sqrt(3) h^2 / 12.
T(Omega) y = c1 y + c2 Omega x y + c3 Omega (Omega . y) is the left differential of the rotation exponential, so the
relative translation is rho = T V and the relative angular velocity is T Omega'. The c_k are Stumpff functions of
s = |Omega|^2; their derivative is c_k' = (k c_{k+2} - c_{k+1}) / 2: no branch, no trigonometry, smooth at zero angle.

A *jet* is a value with its first and second time derivatives. Four intervals share a record (see lanes.py).
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import field
from anguilla.compiler.simd import lay3, lay9, take, take3, take9
from anguilla.mechanics.vec import (
    add,
    axpy,
    cross,
    cross_columns,
    cross_rows,
    dot,
    iso_hat,
    madd,
    matmul,
    maxpy,
    mscale,
    outer_add,
    scale,
    transpose,
)

MAGNUS = math.sqrt(3.0) / 12.0
MAX_ANGLE = 3.0  # [rad] an interval may turn by this much; the series below holds up to about pi

# Fields of the record of an interval.
STRAIN = field(0)  # K1 G1 K2 G2; rates 12 fields further; accelerations 24 fields further
LENGTH = field(36)
OMEGA = field(37)  # jet
VEE = field(46)  # jet
COEF = field(55)  # c1 c2 c3, then their first and second derivatives with respect to s
TURN = field(64)  # E = exp(Omega), nine numbers
RHO = field(73)  # jet of the relative translation, parent's axes
SPIN = field(82)  # relative angular velocity and its rate, parent's axes
WRENCH = field(88)  # moment and force at the child, parent's axes
FORCE = field(94)  # generalised forces on K1 G1 K2 G2
RECORD = field(106)
# Fields of what the tangent needs besides, in memory of its own, which blocks of a large robot share (Workspace.jets).
JACOBIAN = field(0)  # per Gauss point: Q0 Q1 Q2 U0 U1 U2, 3x3 each, world axes (columns: K strains)
HESSIAN = field(108)  # per pair of Gauss points (11, 12, 21, 22): KK, KG, GK, GG, 3x3 each
FRAME = field(252)  # rotation, angular velocity and acceleration of the parent, world axes
JETS = field(267)
Q0, Q1, Q2, U0, U1, U2 = (field(9 * k) for k in range(6))
GAUSS_2 = field(54)  # from the Jacobian of Gauss point 1 to that of 2
PAIR = field(36)  # from one pair of Gauss points to the next in the Hessian
KK, KG, GK, GG = (field(9 * k) for k in range(4))
JET, SIX, NINE, RATE = field(3), field(6), field(9), field(12)

_E0, _E1, _E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9 = ((-1.0) ** j / math.factorial(8 + 2 * j) for j in range(10))
_O0, _O1, _O2, _O3, _O4, _O5, _O6, _O7, _O8, _O9 = ((-1.0) ** j / math.factorial(9 + 2 * j) for j in range(10))
_F1, _F2, _F3, _F4, _F5, _F6, _F7 = (1.0 / math.factorial(k) for k in range(1, 8))


@inline
def stumpff(s):
    """c1..c9 at s: series for the two top orders, then c_k = 1/k! - s c_{k+2} downwards."""
    c8 = _E0 + s * (_E1 + s * (_E2 + s * (_E3 + s * (_E4 + s * (_E5 + s * (_E6 + s * (_E7 + s * (_E8 + s * _E9))))))))
    c9 = _O0 + s * (_O1 + s * (_O2 + s * (_O3 + s * (_O4 + s * (_O5 + s * (_O6 + s * (_O7 + s * (_O8 + s * _O9))))))))
    c7 = _F7 - s * c9
    c6 = _F6 - s * c8
    c5 = _F5 - s * c7
    c4 = _F4 - s * c6
    c3 = _F3 - s * c5
    c2 = _F2 - s * c4
    c1 = _F1 - s * c3
    return c1, c2, c3, c4, c5, c6, c7, c8, c9


@inline
def _slopes(c2, c3, c4, c5):
    """Derivatives of c1, c2, c3 with respect to s; the same rule takes a derivative of the derivatives."""
    return 0.5 * (c3 - c2), 0.5 * (2.0 * c4 - c3), 0.5 * (3.0 * c5 - c4)


@inline
def _rates(p1, p2, p3, q1, q2, q3, st, stt):
    """First and second time derivatives of three functions of s with slopes p and curvatures q."""
    x = st * st
    return p1 * st, p2 * st, p3 * st, q1 * x + p1 * stt, q2 * x + p2 * stt, q3 * x + p3 * stt


@inline
def _bilinear(h2, c, a1, a2, b1, b2):
    """h/2 (b1 + b2) + c (a1 x b2 - a2 x b1)."""
    return axpy(c, cross(a1, b2), axpy(-c, cross(a2, b1), scale(h2, add(b1, b2))))


@inline
def _add_cross(s, a, b, y):
    """s a x b + y."""
    return axpy(s, cross(a, b), y)


@part
def rod_motion(a, i):
    """Relative motion over four intervals, from their strains: E, the jet of rho, the relative spin and its rate."""
    h2 = 0.5 * take(a, i + LENGTH)
    c = 4.0 * MAGNUS * h2 * h2
    u = i + STRAIN
    k1, g1, k2, g2 = take3(a, u), take3(a, u + JET), take3(a, u + SIX), take3(a, u + NINE)
    u = u + RATE
    k1t, g1t, k2t, g2t = take3(a, u), take3(a, u + JET), take3(a, u + SIX), take3(a, u + NINE)
    u = u + RATE
    k1tt, g1tt, k2tt, g2tt = take3(a, u), take3(a, u + JET), take3(a, u + SIX), take3(a, u + NINE)

    w0 = _add_cross(c, k1, k2, scale(h2, add(k1, k2)))
    w1 = _add_cross(c, k1t, k2, _add_cross(c, k1, k2t, scale(h2, add(k1t, k2t))))
    w2 = _add_cross(c, k1tt, k2, _add_cross(c, k1, k2tt, scale(h2, add(k1tt, k2tt))))
    w2 = _add_cross(2.0 * c, k1t, k2t, w2)
    v0 = _bilinear(h2, c, k1, k2, g1, g2)
    v1 = add(_bilinear(h2, c, k1, k2, g1t, g2t), _bilinear(0.0, c, k1t, k2t, g1, g2))
    v2 = add(_bilinear(h2, c, k1, k2, g1tt, g2tt), _bilinear(0.0, c, k1tt, k2tt, g1, g2))
    v2 = axpy(2.0, _bilinear(0.0, c, k1t, k2t, g1t, g2t), v2)

    s, ww1, w11, ww2 = dot(w0, w0), dot(w0, w1), dot(w1, w1), dot(w0, w2)
    c1, c2, c3, c4, c5, c6, c7, _, _ = stumpff(s)
    p1, p2, p3 = _slopes(c2, c3, c4, c5)
    p4, p5 = 0.5 * (4.0 * c6 - c5), 0.5 * (5.0 * c7 - c6)
    q1, q2, q3 = _slopes(p2, p3, p4, p5)
    c1t, c2t, c3t, c1tt, c2tt, c3tt = _rates(p1, p2, p3, q1, q2, q3, 2.0 * ww1, 2.0 * (w11 + ww2))

    # relative angular velocity T Omega' and its rate
    cr = cross(w0, w1)
    spin = axpy(c1, w1, axpy(c2, cr, scale(c3 * ww1, w0)))
    rate = axpy(c1, w2, axpy(c1t + c3 * ww1, w1, _add_cross(c2, w0, w2, scale(c2t, cr))))
    rate = axpy(c3t * ww1 + c3 * (w11 + ww2), w0, rate)

    # relative translation T V and its two rates
    e, et = dot(w0, v0), dot(w1, v0) + dot(w0, v1)
    ett = dot(w2, v0) + 2.0 * dot(w1, v1) + dot(w0, v2)
    x0, x1 = cross(w0, v0), add(cross(w1, v0), cross(w0, v1))
    rho0 = axpy(c1, v0, axpy(c2, x0, scale(c3 * e, w0)))
    rho1 = axpy(c1, v1, axpy(c1t, v0, axpy(c2, x1, axpy(c2t, x0, scale(c3 * et + c3t * e, w0)))))
    rho1 = axpy(c3 * e, w1, rho1)
    rho2 = axpy(c1, v2, axpy(2.0 * c1t, v1, axpy(c1tt, v0, axpy(2.0 * c2t, x1, scale(c2tt, x0)))))
    rho2 = _add_cross(c2, w2, v0, _add_cross(2.0 * c2, w1, v1, _add_cross(c2, w0, v2, rho2)))
    rho2 = axpy(c3 * ett + 2.0 * c3t * et + c3tt * e, w0, axpy(2.0 * (c3 * et + c3t * e), w1, rho2))
    rho2 = axpy(c3 * e, w2, rho2)

    lay3(a, i + OMEGA, w0)
    lay3(a, i + OMEGA + JET, w1)
    lay3(a, i + OMEGA + JET + JET, w2)
    lay3(a, i + VEE, v0)
    lay3(a, i + VEE + JET, v1)
    lay3(a, i + VEE + JET + JET, v2)
    lay9(a, i + COEF, (c1, c2, c3, p1, p2, p3, q1, q2, q3))
    lay3(a, i + RHO, rho0)
    lay3(a, i + RHO + JET, rho1)
    lay3(a, i + RHO + JET + JET, rho2)
    lay3(a, i + SPIN, spin)
    lay3(a, i + SPIN + JET, rate)
    # E = 1 + c1 [Omega] + c2 [Omega]^2 = (1 - c2 s) 1 + c1 [Omega] + c2 Omega Omega^T
    lay9(a, i + TURN, outer_add(c2, w0, w0, iso_hat(1.0 - c2 * s, c1, w0)))


@inline
def _wrench_on_map(a, i):
    """(y, z) = (T^T m + N^T f, T^T f): moment m and force f at the child as seen by Omega and V.

    N = dT(Omega)V/dOmega, so N^T f is the gradient of f . T V with respect to Omega.
    """
    m, f = take3(a, i + WRENCH), take3(a, i + WRENCH + JET)
    w, v = take3(a, i + OMEGA), take3(a, i + VEE)
    c1, c2, c3, p1, p2, p3, _, _, _ = take9(a, i + COEF)
    wf, wv, vxf = dot(w, f), dot(w, v), cross(v, f)
    y = axpy(c1, m, _add_cross(-c2, w, m, scale(c3 * dot(w, m), w)))
    y = axpy(2.0 * (p1 * dot(f, v) + p2 * dot(w, vxf) + p3 * wf * wv), w, y)
    y = axpy(c2, vxf, axpy(c3 * wv, f, axpy(c3 * wf, v, y)))
    z = axpy(c1, f, _add_cross(-c2, w, f, scale(c3 * wf, w)))
    return y, z


@part
def rod_forces(a, i):
    """Generalised forces on (K1, G1, K2, G2) of four intervals: C^T y + D^T z with C = dOmega/du, D = dV/du."""
    h2 = 0.5 * take(a, i + LENGTH)
    c = 4.0 * MAGNUS * h2 * h2
    y, z = _wrench_on_map(a, i)
    u = i + STRAIN
    k1, g1, k2, g2 = take3(a, u), take3(a, u + JET), take3(a, u + SIX), take3(a, u + NINE)
    lay3(a, i + FORCE, _add_cross(c, k2, y, _add_cross(c, g2, z, scale(h2, y))))
    lay3(a, i + FORCE + JET, _add_cross(c, k2, z, scale(h2, z)))
    lay3(a, i + FORCE + SIX, _add_cross(-c, k1, y, _add_cross(-c, g1, z, scale(h2, y))))
    lay3(a, i + FORCE + NINE, _add_cross(-c, k1, z, scale(h2, z)))


@inline
def _differential_jets(a, i):
    """Matrices T, T', T'' and N, N', N'' of an interval, parent's axes."""
    w0, w1, w2 = take3(a, i + OMEGA), take3(a, i + OMEGA + JET), take3(a, i + OMEGA + JET + JET)
    v0, v1, v2 = take3(a, i + VEE), take3(a, i + VEE + JET), take3(a, i + VEE + JET + JET)
    c1, c2, c3, c4, c5, c6, c7, c8, c9 = stumpff(dot(w0, w0))
    st, stt = 2.0 * dot(w0, w1), 2.0 * (dot(w1, w1) + dot(w0, w2))
    p1, p2, p3 = _slopes(c2, c3, c4, c5)
    p4, p5, p6, p7 = 0.5 * (4.0 * c6 - c5), 0.5 * (5.0 * c7 - c6), 0.5 * (6.0 * c8 - c7), 0.5 * (7.0 * c9 - c8)
    q1, q2, q3 = _slopes(p2, p3, p4, p5)
    q4, q5 = 0.5 * (4.0 * p6 - p5), 0.5 * (5.0 * p7 - p6)
    r1, r2, r3 = _slopes(q2, q3, q4, q5)
    c1t, c2t, c3t, c1tt, c2tt, c3tt = _rates(p1, p2, p3, q1, q2, q3, st, stt)
    p1t, p2t, p3t, p1tt, p2tt, p3tt = _rates(q1, q2, q3, r1, r2, r3, st, stt)

    # T = c1 1 + c2 [Omega] + c3 Omega Omega^T
    t0 = outer_add(c3, w0, w0, iso_hat(c1, c2, w0))
    t1 = outer_add(c3t, w0, w0, iso_hat(c1t, 1.0, axpy(c2t, w0, scale(c2, w1))))
    t1 = outer_add(c3, w1, w0, outer_add(c3, w0, w1, t1))
    t2 = iso_hat(c1tt, 1.0, axpy(c2tt, w0, axpy(2.0 * c2t, w1, scale(c2, w2))))
    t2 = outer_add(c3tt, w0, w0, outer_add(2.0 * c3t, w0, w1, outer_add(2.0 * c3t, w1, w0, t2)))
    t2 = outer_add(c3, w2, w0, outer_add(2.0 * c3, w1, w1, outer_add(c3, w0, w2, t2)))

    # N = 2 g Omega^T - c2 [V] + c3 (Omega V^T + (Omega.V) 1) with g = c1' V + c2' Omega x V + c3' (Omega.V) Omega
    e, et = dot(w0, v0), dot(w1, v0) + dot(w0, v1)
    ett = dot(w2, v0) + 2.0 * dot(w1, v1) + dot(w0, v2)
    x0, x1 = cross(w0, v0), add(cross(w1, v0), cross(w0, v1))
    x2 = axpy(2.0, cross(w1, v1), add(cross(w2, v0), cross(w0, v2)))
    b, bt, btt = p3 * e, p3t * e + p3 * et, p3tt * e + 2.0 * p3t * et + p3 * ett
    g0 = axpy(p1, v0, axpy(p2, x0, scale(b, w0)))
    g1 = axpy(p1, v1, axpy(p1t, v0, axpy(p2, x1, axpy(p2t, x0, axpy(b, w1, scale(bt, w0))))))
    g2 = axpy(p1, v2, axpy(2.0 * p1t, v1, axpy(p1tt, v0, axpy(p2, x2, axpy(2.0 * p2t, x1, scale(p2tt, x0))))))
    g2 = axpy(b, w2, axpy(2.0 * bt, w1, axpy(btt, w0, g2)))
    n0 = outer_add(2.0, g0, w0, outer_add(c3, w0, v0, iso_hat(c3 * e, -c2, v0)))
    n1 = iso_hat(c3t * e + c3 * et, -1.0, axpy(c2, v1, scale(c2t, v0)))
    n1 = outer_add(2.0, g1, w0, outer_add(2.0, g0, w1, n1))
    n1 = outer_add(1.0, axpy(c3t, w0, scale(c3, w1)), v0, outer_add(c3, w0, v1, n1))
    n2 = iso_hat(c3tt * e + 2.0 * c3t * et + c3 * ett, -1.0, axpy(c2, v2, axpy(2.0 * c2t, v1, scale(c2tt, v0))))
    n2 = outer_add(2.0, g2, w0, outer_add(4.0, g1, w1, outer_add(2.0, g0, w2, n2)))
    n2 = outer_add(1.0, axpy(c3tt, w0, axpy(2.0 * c3t, w1, scale(c3, w2))), v0, outer_add(c3, w0, v2, n2))
    n2 = outer_add(2.0, axpy(c3t, w0, scale(c3, w1)), v1, n2)
    return t0, t1, t2, n0, n1, n2


@inline
def _world_jets(r, w, al, x0, x1, x2, alpha, beta):
    """R X and its two time derivatives, with dv = alpha dq and da = beta dq folded in."""
    y0, p1 = matmul(r, x0), matmul(r, x1)
    wy = cross_columns(w, y0)
    y1 = madd(wy, p1)
    y2 = madd(cross_columns(al, y0), madd(cross_columns(w, maxpy(2.0, p1, wy)), matmul(r, x2)))
    return y0, maxpy(alpha, y0, y1), maxpy(2.0 * alpha, y1, maxpy(beta, y0, y2))


@inline
def _gauss_jacobian(a, other, jets, q, h2, c, t0, t1, t2, n0, n1, n2):
    """Jacobian jets at one Gauss point, at offset q of `jets`; `other` is the offset of the strains at the other point."""
    k0, g0 = take3(a, other), take3(a, other + JET)
    k1, g1 = take3(a, other + RATE), take3(a, other + RATE + JET)
    k2, g2 = take3(a, other + RATE + RATE), take3(a, other + RATE + RATE + JET)
    lay9(jets, q + Q0, maxpy(c, cross_rows(t0, k0), mscale(h2, t0)))
    x = madd(cross_rows(t1, k0), cross_rows(t0, k1))
    lay9(jets, q + Q1, maxpy(c, x, mscale(h2, t1)))
    x = madd(cross_rows(t2, k0), maxpy(2.0, cross_rows(t1, k1), cross_rows(t0, k2)))
    lay9(jets, q + Q2, maxpy(c, x, mscale(h2, t2)))
    x = madd(cross_rows(n0, k0), cross_rows(t0, g0))
    lay9(jets, q + U0, maxpy(c, x, mscale(h2, n0)))
    x = madd(madd(cross_rows(n1, k0), cross_rows(n0, k1)), madd(cross_rows(t1, g0), cross_rows(t0, g1)))
    lay9(jets, q + U1, maxpy(c, x, mscale(h2, n1)))
    x = madd(cross_rows(n2, k0), maxpy(2.0, cross_rows(n1, k1), cross_rows(n0, k2)))
    x = madd(x, madd(cross_rows(t2, g0), maxpy(2.0, cross_rows(t1, g1), cross_rows(t0, g2))))
    lay9(jets, q + U2, maxpy(c, x, mscale(h2, n2)))


@part
def rod_jacobian(a, i, jets, at, alpha, beta):
    """Jets of Q = R T C (rotation) and U = R (N C + T D) (translation), four intervals.

    At Gauss point 1, dOmega/dK1 = h/2 - c [K2] and dV/dK1 = -c [G2]; at 2 the sign of c changes and the points swap.
    With respect to the G strains Q vanishes and U is the Q of the K strains.
    """
    h2 = 0.5 * take(a, i + LENGTH)
    c = 4.0 * MAGNUS * h2 * h2
    frame = at + FRAME
    r, w, al = take9(jets, frame), take3(jets, frame + NINE), take3(jets, frame + RATE)
    t0, t1, t2, n0, n1, n2 = _differential_jets(a, i)
    t0, t1, t2 = _world_jets(r, w, al, t0, t1, t2, alpha, beta)
    n0, n1, n2 = _world_jets(r, w, al, n0, n1, n2, alpha, beta)
    u, q = i + STRAIN, at + JACOBIAN
    _gauss_jacobian(a, u + SIX, jets, q, h2, -c, t0, t1, t2, n0, n1, n2)
    _gauss_jacobian(a, u, jets, q + GAUSS_2, h2, c, t0, t1, t2, n0, n1, n2)


@inline
def _wrench_gradients(a, i):
    """(B, X): B = d(T^T m + N^T f)/dOmega and X = d(T^T f)/dOmega, with m and f frozen."""
    m, f = take3(a, i + WRENCH), take3(a, i + WRENCH + JET)
    w, v = take3(a, i + OMEGA), take3(a, i + VEE)
    _, c2, c3, p1, p2, p3, q1, q2, q3 = take9(a, i + COEF)
    wm, wf, wv, fv, vxf = dot(w, m), dot(w, f), dot(w, v), dot(f, v), cross(v, f)
    # d(T^T y)/dOmega = 2 (c1' y - c2' Omega x y + c3' (Omega.y) Omega) Omega^T + c2 [y] + c3 (Omega y^T + (Omega.y) 1)
    gm = axpy(p1, m, _add_cross(-p2, w, m, scale(p3 * wm, w)))
    gf = axpy(p1, f, _add_cross(-p2, w, f, scale(p3 * wf, w)))
    # Hessian of f . T V with respect to Omega
    slope = p1 * fv + p2 * dot(w, vxf) + p3 * wf * wv
    curve = q1 * fv + q2 * dot(w, vxf) + q3 * wf * wv
    k = axpy(p2, vxf, axpy(p3 * wv, f, scale(p3 * wf, v)))
    b = outer_add(2.0, gm, w, outer_add(c3, w, m, iso_hat(c3 * wm + 2.0 * slope, c2, m)))
    b = outer_add(4.0 * curve, w, w, outer_add(2.0, w, k, outer_add(2.0, k, w, b)))
    b = outer_add(c3, f, v, outer_add(c3, v, f, b))
    x = outer_add(2.0, gf, w, outer_add(c3, w, f, iso_hat(c3 * wf, c2, f)))
    return b, x


@inline
def _hessian_columns(k, g, h2, c, b, x):
    """B C + X^T D for the K strains, X^T D for the G strains, X C: columns of one Gauss point (k, g of the other)."""
    xt = transpose(x)
    by = maxpy(c, madd(cross_rows(b, k), cross_rows(xt, g)), mscale(h2, b))
    return by, maxpy(c, cross_rows(xt, k), mscale(h2, xt)), maxpy(c, cross_rows(x, k), mscale(h2, x))


@inline
def _hessian_rows(jets, at, k, g, h2, c, columns, pair, y, z):
    """C^T and D^T of one Gauss point on the columns of another, plus the bilinear terms of the pair."""
    by, bg, xc = columns
    kk = maxpy(c, madd(cross_columns(k, by), cross_columns(g, xc)), mscale(h2, by))
    lay9(jets, at + KK, madd(kk, iso_hat(0.0, pair, y)))
    lay9(jets, at + KG, madd(maxpy(c, cross_columns(k, bg), mscale(h2, bg)), iso_hat(0.0, pair, z)))
    lay9(jets, at + GK, madd(maxpy(c, cross_columns(k, xc), mscale(h2, xc)), iso_hat(0.0, pair, z)))
    lay9(jets, at + GG, iso_hat(0.0, 0.0, z))


@part
def rod_hessian(a, i, jets, record):
    """d/du of the strain forces of four intervals with the child's wrench frozen in the parent's axes.

    H = C^T (B C + X^T D) + D^T X C + (second derivatives of Omega and V, which are bilinear in the strains).
    """
    h2 = 0.5 * take(a, i + LENGTH)
    c = 4.0 * MAGNUS * h2 * h2
    b, x = _wrench_gradients(a, i)
    y, z = _wrench_on_map(a, i)
    k1, g1, k2, g2 = i + STRAIN, i + STRAIN + JET, i + STRAIN + SIX, i + STRAIN + NINE
    at = record + HESSIAN
    for_1 = _hessian_columns(take3(a, k2), take3(a, g2), h2, -c, b, x)
    for_2 = _hessian_columns(take3(a, k1), take3(a, g1), h2, c, b, x)
    _hessian_rows(jets, at, take3(a, k2), take3(a, g2), h2, c, for_1, 0.0, y, z)
    _hessian_rows(jets, at + PAIR, take3(a, k2), take3(a, g2), h2, c, for_2, -c, y, z)
    _hessian_rows(jets, at + PAIR + PAIR, take3(a, k1), take3(a, g1), h2, -c, for_1, c, y, z)
    _hessian_rows(jets, at + PAIR + PAIR + PAIR, take3(a, k1), take3(a, g1), h2, -c, for_2, 0.0, y, z)
