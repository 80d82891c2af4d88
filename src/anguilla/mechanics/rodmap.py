"""The local map of one rod interval: from the strains at its two Gauss points to the relative motion of its ends.

Fourth-order Magnus: g_child = g_parent exp(Omega, V) with
    Omega = h/2 (K1 + K2) + c K1 x K2,    V = h/2 (G1 + G2) + c (K1 x G2 - K2 x G1),    c = sqrt(3) h^2 / 12.
T(Omega) y = c1 y + c2 Omega x y + c3 Omega (Omega . y) is the left differential of the rotation exponential, so the
relative translation is rho = T V and the relative angular velocity is T Omega'. The c_k are Stumpff functions of
s = |Omega|^2; their derivative is c_k' = (k c_{k+2} - c_{k+1}) / 2: no branch, no trigonometry, smooth at zero angle.
A *jet* is a value with its first and second time derivatives. All vectors here are in the parent's axes.
"""

from __future__ import annotations

import math


from anguilla._jit import inline, kernel
from anguilla.mechanics.vec import (
    add,
    axpy,
    cross,
    dot,
    iso_hat,
    load3,
    maxpy,
    outer_add,
    scale,
    store3,
)

MAGNUS = math.sqrt(3.0) / 12.0
MAX_ANGLE = 3.0  # [rad] an interval may turn by this much; the series below holds up to about pi

# One record per interval (offsets of its parts).
L_U = 0  # strains (K1, G1, K2, G2), their rates at +12, accelerations at +24
L_OM = 36  # Omega jet
L_VE = 45  # V jet
L_C = 54  # c1 c2 c3, then their first, second and third derivatives with respect to s
L_S = 66  # s', s'' (time derivatives)
L_R = 68  # relative translation in world axes: jet
LINK_SIZE = 80

_SERIES = tuple((-1.0) ** j / math.factorial(8 + 2 * j) for j in range(10))
_SERIES_ODD = tuple((-1.0) ** j / math.factorial(9 + 2 * j) for j in range(10))
_E0, _E1, _E2, _E3, _E4, _E5, _E6, _E7, _E8, _E9 = _SERIES
_O0, _O1, _O2, _O3, _O4, _O5, _O6, _O7, _O8, _O9 = _SERIES_ODD
_F = tuple(1.0 / math.factorial(k) for k in range(8))
_F1, _F2, _F3, _F4, _F5, _F6, _F7 = _F[1:]


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
def _bilinear(h2, c, a1, a2, b1, b2):
    """h/2 (b1 + b2) + c (a1 x b2 - a2 x b1)."""
    x, y = cross(a1, b2), cross(a2, b1)
    return (
        h2 * (b1[0] + b2[0]) + c * (x[0] - y[0]),
        h2 * (b1[1] + b2[1]) + c * (x[1] - y[1]),
        h2 * (b1[2] + b2[2]) + c * (x[2] - y[2]),
    )


@inline
def _add_cross(s, a, b, y):
    """s a x b + y."""
    return axpy(s, cross(a, b), y)


@kernel
def rod_motion(link, i, h):
    """Relative motion over interval i from the strains stored in link[i].

    Returns E (nine numbers), rho, rho', rho'', and the relative angular velocity T Omega' with its rate, all in the
    parent's axes; stores what the wrench pass and the tangent need.
    """
    h2 = 0.5 * h
    c = MAGNUS * h * h
    k1, g1, k2, g2 = load3(link, i, 0), load3(link, i, 3), load3(link, i, 6), load3(link, i, 9)
    k1t, g1t, k2t, g2t = load3(link, i, 12), load3(link, i, 15), load3(link, i, 18), load3(link, i, 21)
    k1tt, g1tt, k2tt, g2tt = load3(link, i, 24), load3(link, i, 27), load3(link, i, 30), load3(link, i, 33)

    o = _add_cross(c, k1, k2, scale(h2, add(k1, k2)))
    ot = _add_cross(c, k1t, k2, _add_cross(c, k1, k2t, scale(h2, add(k1t, k2t))))
    ott = _add_cross(c, k1tt, k2, _add_cross(2.0 * c, k1t, k2t, _add_cross(c, k1, k2tt, scale(h2, add(k1tt, k2tt)))))
    zero = (0.0, 0.0, 0.0)
    v = _bilinear(h2, c, k1, k2, g1, g2)
    vt = add(_bilinear(h2, c, k1, k2, g1t, g2t), _bilinear(0.0, c, k1t, k2t, g1, g2))
    vtt = add(_bilinear(h2, c, k1, k2, g1tt, g2tt), _bilinear(0.0, c, k1tt, k2tt, g1, g2))
    vtt = axpy(2.0, _bilinear(0.0, c, k1t, k2t, g1t, g2t), vtt)

    s = dot(o, o)
    a, b, d = dot(o, ot), dot(ot, ot), dot(o, ott)
    st, stt = 2.0 * a, 2.0 * (b + d)
    c1, c2, c3, c4, c5, c6, c7, c8, c9 = stumpff(s)
    # first, second and third derivatives with respect to s
    p1, p2, p3 = 0.5 * (c3 - c2), 0.5 * (2.0 * c4 - c3), 0.5 * (3.0 * c5 - c4)
    p4, p5, p6, p7 = 0.5 * (4.0 * c6 - c5), 0.5 * (5.0 * c7 - c6), 0.5 * (6.0 * c8 - c7), 0.5 * (7.0 * c9 - c8)
    q1, q2, q3 = 0.5 * (p3 - p2), 0.5 * (2.0 * p4 - p3), 0.5 * (3.0 * p5 - p4)
    q4, q5 = 0.5 * (4.0 * p6 - p5), 0.5 * (5.0 * p7 - p6)
    r1, r2, r3 = 0.5 * (q3 - q2), 0.5 * (2.0 * q4 - q3), 0.5 * (3.0 * q5 - q4)
    c1t, c2t, c3t = p1 * st, p2 * st, p3 * st
    c1tt, c2tt, c3tt = q1 * st * st + p1 * stt, q2 * st * st + p2 * stt, q3 * st * st + p3 * stt

    # relative angular velocity T Omega' and its rate
    oxot = cross(o, ot)
    w = axpy(c1, ot, axpy(c2, oxot, scale(c3 * a, o)))
    wt = axpy(c1, ott, axpy(c1t + c3 * a, ot, _add_cross(c2, o, ott, axpy(c2t, oxot, zero))))
    wt = axpy(c3t * a + c3 * (b + d), o, wt)

    # relative translation T V and its two rates
    e, et = dot(o, v), dot(ot, v) + dot(o, vt)
    ett = dot(ott, v) + 2.0 * dot(ot, vt) + dot(o, vtt)
    oxv = cross(o, v)
    oxvt = add(cross(ot, v), cross(o, vt))
    rho = axpy(c1, v, axpy(c2, oxv, scale(c3 * e, o)))
    rhot = axpy(c1, vt, axpy(c1t, v, axpy(c2, oxvt, axpy(c2t, oxv, scale(c3 * et + c3t * e, o)))))
    rhot = axpy(c3 * e, ot, rhot)
    rhott = axpy(c1, vtt, axpy(2.0 * c1t, vt, axpy(c1tt, v, axpy(2.0 * c2t, oxvt, scale(c2tt, oxv)))))
    rhott = _add_cross(c2, ott, v, _add_cross(2.0 * c2, ot, vt, _add_cross(c2, o, vtt, rhott)))
    rhott = axpy(c3 * ett + 2.0 * c3t * et + c3tt * e, o, axpy(2.0 * (c3 * et + c3t * e), ot, axpy(c3 * e, ott, rhott)))

    store3(link, i, L_OM, o)
    store3(link, i, L_OM + 3, ot)
    store3(link, i, L_OM + 6, ott)
    store3(link, i, L_VE, v)
    store3(link, i, L_VE + 3, vt)
    store3(link, i, L_VE + 6, vtt)
    store3(link, i, L_C, (c1, c2, c3))
    store3(link, i, L_C + 3, (p1, p2, p3))
    store3(link, i, L_C + 6, (q1, q2, q3))
    store3(link, i, L_C + 9, (r1, r2, r3))
    link[i, L_S] = st
    link[i, L_S + 1] = stt

    # E = 1 + c1 [Omega] + c2 [Omega]^2 = (1 - c2 s) 1 + c1 [Omega] + c2 Omega Omega^T
    rotation = outer_add(c2, o, o, iso_hat(1.0 - c2 * s, c1, o))
    return rotation, rho, rhot, rhott, w, wt


@inline
def wrench_to_strains(link, i, m, f):
    """(y, z) = (T^T m + N^T f, T^T f): moment m and force f at the child, in the parent's axes, seen by Omega and V.

    N = dT(Omega)V/dOmega, so N^T f is the gradient of f . T V with respect to Omega.
    """
    o, v = load3(link, i, L_OM), load3(link, i, L_VE)
    c1, c2, c3 = load3(link, i, L_C)
    p1, p2, p3 = load3(link, i, L_C + 3)
    om, of, ov = dot(o, m), dot(o, f), dot(o, v)
    vxf = cross(v, f)
    y = axpy(c1, m, _add_cross(-c2, o, m, scale(c3 * om, o)))
    y = axpy(2.0 * (p1 * dot(f, v) + p2 * dot(o, vxf) + p3 * of * ov), o, y)
    y = axpy(c2, vxf, axpy(c3 * ov, f, axpy(c3 * of, v, y)))
    z = axpy(c1, f, _add_cross(-c2, o, f, scale(c3 * of, o)))
    return y, z


@inline
def strain_forces(link, i, h, y, z):
    """Generalised forces on (K1, G1, K2, G2): C^T y + D^T z with C = dOmega/du, D = dV/du."""
    h2 = 0.5 * h
    c = MAGNUS * h * h
    k1, g1, k2, g2 = load3(link, i, 0), load3(link, i, 3), load3(link, i, 6), load3(link, i, 9)
    on_k1 = _add_cross(c, k2, y, _add_cross(c, g2, z, scale(h2, y)))
    on_k2 = _add_cross(-c, k1, y, _add_cross(-c, g1, z, scale(h2, y)))
    on_g1 = _add_cross(c, k2, z, scale(h2, z))
    on_g2 = _add_cross(-c, k1, z, scale(h2, z))
    return on_k1, on_g1, on_k2, on_g2


@inline
def differential_jets(link, i):
    """Matrices T, T', T'' and N, N', N'' of interval i (nine numbers each), parent's axes."""
    o, ot, ott = load3(link, i, L_OM), load3(link, i, L_OM + 3), load3(link, i, L_OM + 6)
    v, vt, vtt = load3(link, i, L_VE), load3(link, i, L_VE + 3), load3(link, i, L_VE + 6)
    c1, c2, c3 = load3(link, i, L_C)
    p1, p2, p3 = load3(link, i, L_C + 3)
    q1, q2, q3 = load3(link, i, L_C + 6)
    r1, r2, r3 = load3(link, i, L_C + 9)
    st, stt = link[i, L_S], link[i, L_S + 1]
    c1t, c2t, c3t = p1 * st, p2 * st, p3 * st
    c1tt, c2tt, c3tt = q1 * st * st + p1 * stt, q2 * st * st + p2 * stt, q3 * st * st + p3 * stt
    p1t, p2t, p3t = q1 * st, q2 * st, q3 * st
    p1tt, p2tt, p3tt = r1 * st * st + q1 * stt, r2 * st * st + q2 * stt, r3 * st * st + q3 * stt

    # T = c1 1 + c2 [Omega] + c3 Omega Omega^T
    t0 = outer_add(c3, o, o, iso_hat(c1, c2, o))
    t1 = outer_add(c3t, o, o, maxpy(c2t, iso_hat(0.0, 1.0, o), iso_hat(c1t, c2, ot)))
    t1 = outer_add(c3, ot, o, outer_add(c3, o, ot, t1))
    t2 = maxpy(c2tt, iso_hat(0.0, 1.0, o), maxpy(2.0 * c2t, iso_hat(0.0, 1.0, ot), iso_hat(c1tt, c2, ott)))
    t2 = outer_add(c3tt, o, o, outer_add(2.0 * c3t, o, ot, outer_add(2.0 * c3t, ot, o, t2)))
    t2 = outer_add(c3, ott, o, outer_add(2.0 * c3, ot, ot, outer_add(c3, o, ott, t2)))

    # N = 2 g Omega^T - c2 [V] + c3 (Omega V^T + (Omega.V) 1) with g = c1' V + c2' Omega x V + c3' (Omega.V) Omega
    e, et = dot(o, v), dot(ot, v) + dot(o, vt)
    ett = dot(ott, v) + 2.0 * dot(ot, vt) + dot(o, vtt)
    oxv, oxvt = cross(o, v), add(cross(ot, v), cross(o, vt))
    oxvtt = axpy(2.0, cross(ot, vt), add(cross(ott, v), cross(o, vtt)))
    x, xt, xtt = p3 * e, p3t * e + p3 * et, p3tt * e + 2.0 * p3t * et + p3 * ett
    g = axpy(p1, v, axpy(p2, oxv, scale(x, o)))
    gt = axpy(p1, vt, axpy(p1t, v, axpy(p2, oxvt, axpy(p2t, oxv, axpy(x, ot, scale(xt, o))))))
    gtt = axpy(p1, vtt, axpy(2.0 * p1t, vt, axpy(p1tt, v, axpy(p2, oxvtt, axpy(2.0 * p2t, oxvt, scale(p2tt, oxv))))))
    gtt = axpy(x, ott, axpy(2.0 * xt, ot, axpy(xtt, o, gtt)))
    n0 = outer_add(2.0, g, o, outer_add(c3, o, v, iso_hat(c3 * e, -c2, v)))
    n1 = outer_add(2.0, gt, o, outer_add(2.0, g, ot, iso_hat(c3t * e + c3 * et, -c2, vt)))
    n1 = maxpy(-c2t, iso_hat(0.0, 1.0, v), outer_add(c3t, o, v, outer_add(c3, ot, v, outer_add(c3, o, vt, n1))))
    n2 = iso_hat(c3tt * e + 2.0 * c3t * et + c3 * ett, -c2, vtt)
    n2 = maxpy(-2.0 * c2t, iso_hat(0.0, 1.0, vt), maxpy(-c2tt, iso_hat(0.0, 1.0, v), n2))
    n2 = outer_add(2.0, gtt, o, outer_add(4.0, gt, ot, outer_add(2.0, g, ott, n2)))
    n2 = outer_add(c3tt, o, v, outer_add(2.0 * c3t, ot, v, outer_add(2.0 * c3t, o, vt, n2)))
    n2 = outer_add(c3, ott, v, outer_add(2.0 * c3, ot, vt, outer_add(c3, o, vtt, n2)))
    return t0, t1, t2, n0, n1, n2


@inline
def wrench_gradients(link, i, m, f):
    """(B, X): B = d(T^T m + N^T f)/dOmega and X = d(T^T f)/dOmega, with m and f frozen in the parent's axes."""
    o, v = load3(link, i, L_OM), load3(link, i, L_VE)
    c1, c2, c3 = load3(link, i, L_C)
    p1, p2, p3 = load3(link, i, L_C + 3)
    q1, q2, q3 = load3(link, i, L_C + 6)
    om, of, ov, fv = dot(o, m), dot(o, f), dot(o, v), dot(f, v)
    # d(T^T y)/dOmega = 2 (c1' y - c2' Omega x y + c3' (Omega.y) Omega) Omega^T + c2 [y] + c3 (Omega y^T + (Omega.y) 1)
    gm = axpy(p1, m, _add_cross(-p2, o, m, scale(p3 * om, o)))
    gf = axpy(p1, f, _add_cross(-p2, o, f, scale(p3 * of, o)))
    b = outer_add(2.0, gm, o, outer_add(c3, o, m, iso_hat(c3 * om, c2, m)))
    x = outer_add(2.0, gf, o, outer_add(c3, o, f, iso_hat(c3 * of, c2, f)))
    # Hessian of f . T V with respect to Omega
    vxf = cross(v, f)
    slope = p1 * fv + p2 * dot(o, vxf) + p3 * of * ov
    curve = q1 * fv + q2 * dot(o, vxf) + q3 * of * ov
    k = axpy(p2, vxf, axpy(p3 * ov, f, scale(p3 * of, v)))
    b = outer_add(4.0 * curve, o, o, outer_add(2.0, o, k, outer_add(2.0, k, o, maxpy(1.0, b, iso_hat(2.0 * slope, 0.0, o)))))
    b = outer_add(c3, f, v, outer_add(c3, v, f, b))
    return b, x


@inline
def magnus_column(k, gauss, h2, c, kk, gg):
    """Columns (dOmega/du, dV/du) of strain k (0..5) at Gauss point `gauss`.

    kk, gg: curvature and linear strain at the OTHER Gauss point; pass h2 = 0 and rates to get the column's rate.
    """
    sign = c if gauss == 0 else -c
    zero = (0.0, 0.0, 0.0)
    axis = k % 3
    unit = (1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, 1.0 if axis == 2 else 0.0)
    turn = _add_cross(sign, unit, kk, scale(h2, unit))
    if k < 3:
        return turn, scale(sign, cross(unit, gg))
    return zero, turn


@inline
def hessian_pair(k, l, y, z, c):
    """Second derivative of y . Omega + z . V with respect to strain k at Gauss point 1 and strain l at point 2."""
    i, j = k % 3, l % 3
    if i == j:
        return 0.0
    sign = 1.0 if (j - i) % 3 == 1 else -1.0  # e_i x e_j = sign e_r
    r = 3 - i - j
    if k < 3 and l < 3:
        return c * sign * (y[0] if r == 0 else (y[1] if r == 1 else y[2]))
    if k >= 3 and l >= 3:
        return 0.0
    # V holds c (K1 x G2 - K2 x G1) = c (K1 x G2 + G1 x K2): the same triple product for (K1, G2) and (G1, K2)
    return c * sign * (z[0] if r == 0 else (z[1] if r == 1 else z[2]))


__all__ = [
    "LINK_SIZE",
    "MAX_ANGLE",
    "differential_jets",
    "hessian_pair",
    "magnus_column",
    "rod_motion",
    "strain_forces",
    "stumpff",
    "wrench_gradients",
    "wrench_to_strains",
]
