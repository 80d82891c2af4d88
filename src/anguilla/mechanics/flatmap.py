"""The local map of a rod interval (`rodmap.py`) when the rod stays in the plane x-y of its axes.

Turns are then angles, which add, and vectors are complex numbers. With K = (0, 0, k) and G = g in the plane,
    Omega = h/2 (k1 + k2),    V = h/2 (g1 + g2) + i c (k1 g2 - k2 g1),    rho = f(Omega) V,    E = exp(i Omega),
where f(x) = (exp(i x) - 1) / (i x) has the derivatives f^(n) = i^n (integral of t^n exp(i x t) from 0 to 1), sums of
Stumpff functions. The fields of the record are those of rodmap; what vanishes in the plane is neither written nor read.
"""

from __future__ import annotations

from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import THIRD, field
from anguilla.compiler.simd import lay, lay2, take, take2
from anguilla.mechanics.rodmap import (
    COEF,
    FORCE,
    FRAME,
    GAUSS_2,
    GG,
    GK,
    HESSIAN,
    JACOBIAN,
    JET,
    KG,
    KK,
    LENGTH,
    MAGNUS,
    NINE,
    OMEGA,
    PAIR,
    Q0,
    Q1,
    Q2,
    RATE,
    RHO,
    SIX,
    SPIN,
    STRAIN,
    TURN,
    U0,
    U1,
    U2,
    VEE,
    WRENCH,
    stumpff,
)
from anguilla.mechanics.vec2 import add2, axpy2, back, cross2, dot2, scale2, swing, times

NORMAL = THIRD  # place of the normal component in a three-vector
SINE = field(3)  # place of the sine in a rotation; the cosine is first
MAP, SLOPE = COEF, COEF + THIRD  # f, and f' V
ENTRY = tuple(field(k) for k in range(9))  # entries of a 3x3 matrix, row by row


@inline
def _bilinear(h2, c, k1, k2, g1, g2):
    """h/2 (g1 + g2) + i c (k1 g2 - k2 g1)."""
    x, y = k1 * g2[0] - k2 * g1[0], k1 * g2[1] - k2 * g1[1]
    return h2 * (g1[0] + g2[0]) - c * y, h2 * (g1[1] + g2[1]) + c * x


@inline
def _strains(a, u):
    """k1, g1, k2, g2 at field offset u."""
    return take(a, u + NORMAL), take2(a, u + JET), take(a, u + SIX + NORMAL), take2(a, u + NINE)


@inline
def _steps(a, i):
    """h/2 and the Magnus constant c of an interval."""
    h2 = 0.5 * take(a, i + LENGTH)
    return h2, 4.0 * MAGNUS * h2 * h2


@part
def flat_motion(a, i):
    """Relative motion over four intervals, from their strains: turn, jet of rho, relative spin and its rate."""
    h2, c = _steps(a, i)
    k1, g1, k2, g2 = _strains(a, i + STRAIN)
    k1t, g1t, k2t, g2t = _strains(a, i + STRAIN + RATE)
    k1tt, g1tt, k2tt, g2tt = _strains(a, i + STRAIN + RATE + RATE)
    w0, w1, w2 = h2 * (k1 + k2), h2 * (k1t + k2t), h2 * (k1tt + k2tt)
    v0 = _bilinear(h2, c, k1, k2, g1, g2)
    v1 = add2(_bilinear(h2, c, k1, k2, g1t, g2t), _bilinear(0.0, c, k1t, k2t, g1, g2))
    v2 = add2(_bilinear(h2, c, k1, k2, g1tt, g2tt), _bilinear(0.0, c, k1tt, k2tt, g1, g2))
    v2 = axpy2(2.0, _bilinear(0.0, c, k1t, k2t, g1t, g2t), v2)

    s = w0 * w0
    c1, c2, c3, c4, _, _, _, _, _ = stumpff(s)
    f = c1, w0 * c2
    f1 = -w0 * (c2 - c3), c1 - c2
    f2 = 2.0 * (c2 - c3) - c1, -w0 * (c2 - 2.0 * (c3 - c4))
    slope = times(f1, v0)
    # rho = f V ;  rho' = f' w V + f V' ;  rho'' = (f'' w^2 + f' w') V + 2 f' w V' + f V''
    rho1 = axpy2(w1, slope, times(f, v1))
    rho2 = add2(times(f, v2), axpy2(w2, slope, scale2(2.0 * w1, times(f1, v1))))
    rho2 = axpy2(w1 * w1, times(f2, v0), rho2)

    lay(a, i + OMEGA + NORMAL, w0)
    lay(a, i + OMEGA + JET + NORMAL, w1)
    lay(a, i + OMEGA + JET + JET + NORMAL, w2)
    lay2(a, i + VEE, v0)
    lay2(a, i + VEE + JET, v1)
    lay2(a, i + VEE + JET + JET, v2)
    lay2(a, i + MAP, f)
    lay2(a, i + SLOPE, slope)
    lay2(a, i + RHO, times(f, v0))
    lay2(a, i + RHO + JET, rho1)
    lay2(a, i + RHO + JET + JET, rho2)
    lay(a, i + SPIN + NORMAL, w1)
    lay(a, i + SPIN + JET + NORMAL, w2)
    lay(a, i + TURN, 1.0 - c2 * s)
    lay(a, i + TURN + SINE, w0 * c1)


@inline
def _wrench_on_map(a, i):
    """(y, z): moment and force at the child, parent's axes, as seen by Omega and V."""
    moment, force = take(a, i + WRENCH + NORMAL), take2(a, i + WRENCH + JET)
    return moment + dot2(take2(a, i + SLOPE), force), back(take2(a, i + MAP), force)


@part
def flat_forces(a, i):
    """Generalised forces on (k1, g1, k2, g2) of four intervals.

    Lines and muscles add to all six: those out of the plane, which move nothing, begin at zero as well, or what a state that
    is not finite left there would stay for ever.
    """
    h2, c = _steps(a, i)
    y, z = _wrench_on_map(a, i)
    k1, g1, k2, g2 = _strains(a, i + STRAIN)
    f = i + FORCE
    lay2(a, f, (0.0, 0.0))
    lay(a, f + JET + NORMAL, 0.0)
    lay2(a, f + SIX, (0.0, 0.0))
    lay(a, f + NINE + NORMAL, 0.0)
    lay(a, f + NORMAL, h2 * y + c * cross2(g2, z))
    lay2(a, f + JET, add2(scale2(h2, z), swing(c * k2, z)))
    lay(a, f + SIX + NORMAL, h2 * y - c * cross2(g1, z))
    lay2(a, f + NINE, add2(scale2(h2, z), swing(-c * k1, z)))


@inline
def _world_jets(r, w, al, x0, x1, x2, alpha, beta):
    """R x and its two time derivatives, with dv = alpha dq and da = beta dq folded in (rodmap._world_jets)."""
    y0, p1 = times(r, x0), times(r, x1)
    y1 = add2(swing(w, y0), p1)
    y2 = add2(add2(swing(al, y0), times(r, x2)), add2(scale2(-w * w, y0), swing(2.0 * w, p1)))
    return y0, axpy2(alpha, y0, y1), axpy2(2.0 * alpha, y1, axpy2(beta, y0, y2))


@inline
def _put_columns(a, turn, move, spin, bend, pull):
    """One jet at one Gauss point: of bending, and of stretch; that of shear is the latter, turned by a right angle."""
    lay(a, turn + ENTRY[8], spin)
    lay(a, move + ENTRY[2], bend[0])
    lay(a, move + ENTRY[5], bend[1])
    lay(a, turn + ENTRY[0], pull[0])
    lay(a, turn + ENTRY[3], pull[1])
    lay(a, turn + ENTRY[1], -pull[1])
    lay(a, turn + ENTRY[4], pull[0])


@inline
def _gauss_jacobian(a, other, jets, q, h2, c, place, t, n, alpha, beta):
    """Jacobian jets at one Gauss point, at offset q of `jets`; `other` is the offset of the strains at the other point.

    At point 1, dV/dk1 = i c g2 and dV/dg1 = h/2 - i c k2; at 2 the sign of c changes and the points swap.
    """
    r, w, al = place
    t0, t1, t2 = t
    n0, n1, n2 = n
    g0, g1, g2 = take2(a, other + JET), take2(a, other + RATE + JET), take2(a, other + RATE + RATE + JET)
    k0, k1, k2 = take(a, other + NORMAL), take(a, other + RATE + NORMAL), take(a, other + RATE + RATE + NORMAL)
    x0 = add2(scale2(h2, n0), swing(c, times(t0, g0)))
    x1 = add2(scale2(h2, n1), swing(c, add2(times(t1, g0), times(t0, g1))))
    x2 = add2(scale2(h2, n2), swing(c, add2(times(t2, g0), axpy2(2.0, times(t1, g1), times(t0, g2)))))
    b0, b1, b2 = _world_jets(r, w, al, x0, x1, x2, alpha, beta)
    x0 = add2(scale2(h2, t0), swing(-c * k0, t0))
    x1 = add2(scale2(h2, t1), add2(swing(-c * k0, t1), swing(-c * k1, t0)))
    x2 = add2(scale2(h2, t2), add2(swing(-c * k0, t2), add2(swing(-2.0 * c * k1, t1), swing(-c * k2, t0))))
    p0, p1, p2 = _world_jets(r, w, al, x0, x1, x2, alpha, beta)
    _put_columns(jets, q + Q0, q + U0, h2, b0, p0)
    _put_columns(jets, q + Q1, q + U1, alpha * h2, b1, p1)
    _put_columns(jets, q + Q2, q + U2, beta * h2, b2, p2)


@part
def flat_jacobian(a, i, jets, record, alpha, beta):
    """Jets of the rotation and translation of the child per unit of strain, world axes, four intervals."""
    h2, c = _steps(a, i)
    at = record + FRAME
    place = (take(jets, at), take(jets, at + SINE)), take(jets, at + NINE + NORMAL), take(jets, at + RATE + NORMAL)
    w0, w1, w2 = take(a, i + OMEGA + NORMAL), take(a, i + OMEGA + JET + NORMAL), take(a, i + OMEGA + JET + JET + NORMAL)
    v0, v1, v2 = take2(a, i + VEE), take2(a, i + VEE + JET), take2(a, i + VEE + JET + JET)
    c1, c2, c3, c4, c5, _, _, _, _ = stumpff(w0 * w0)
    f = c1, w0 * c2
    f1 = -w0 * (c2 - c3), c1 - c2
    f2 = 2.0 * (c2 - c3) - c1, -w0 * (c2 - 2.0 * (c3 - c4))
    f3 = w0 * (c2 - 3.0 * c3 + 6.0 * (c4 - c5)), 3.0 * c2 - 6.0 * (c3 - c4) - c1
    x = w1 * w1
    t1, t2 = scale2(w1, f1), axpy2(x, f2, scale2(w2, f1))
    n0 = times(f1, v0)
    n1 = axpy2(w1, times(f2, v0), times(f1, v1))
    n2 = add2(times(axpy2(x, f3, scale2(w2, f2)), v0), axpy2(2.0 * w1, times(f2, v1), times(f1, v2)))
    u, q = i + STRAIN, record + JACOBIAN
    _gauss_jacobian(a, u + SIX, jets, q, h2, c, place, (f, t1, t2), (n0, n1, n2), alpha, beta)
    _gauss_jacobian(a, u, jets, q + GAUSS_2, h2, -c, place, (f, t1, t2), (n0, n1, n2), alpha, beta)


@inline
def _put_hessian(a, at, kk, kg, gk):
    """Blocks of one pair of Gauss points; forces do not change the pull of stretch and shear on themselves."""
    lay(a, at + KK + ENTRY[8], kk)
    lay(a, at + KG + ENTRY[6], kg[0])
    lay(a, at + KG + ENTRY[7], kg[1])
    lay(a, at + GK + ENTRY[2], gk[0])
    lay(a, at + GK + ENTRY[5], gk[1])
    lay(a, at + GG + ENTRY[0], 0.0)
    lay(a, at + GG + ENTRY[1], 0.0)
    lay(a, at + GG + ENTRY[3], 0.0)
    lay(a, at + GG + ENTRY[4], 0.0)


@part
def flat_hessian(a, i, jets, record):
    """d/du of the strain forces of four intervals with the child's wrench frozen in the parent's axes: symmetric here."""
    h2, c = _steps(a, i)
    _, z = _wrench_on_map(a, i)
    force, v, w = take2(a, i + WRENCH + JET), take2(a, i + VEE), take(a, i + OMEGA + NORMAL)
    c1, c2, c3, c4, _, _, _, _, _ = stumpff(w * w)
    f1 = -w * (c2 - c3), c1 - c2
    f2 = 2.0 * (c2 - c3) - c1, -w * (c2 - 2.0 * (c3 - c4))
    x = back(f1, force)  # dz/dOmega
    k1, g1, k2, g2 = _strains(a, i + STRAIN)
    curve = h2 * h2 * dot2(times(f2, v), force)
    one, two = c * h2 * cross2(g2, x), -c * h2 * cross2(g1, x)
    kg1 = scale2(h2, add2(scale2(h2, x), swing(c * k2, x)))
    kg2 = scale2(h2, add2(scale2(h2, x), swing(-c * k1, x)))
    turned = swing(c, z)
    kg12, kg21 = axpy2(-1.0, turned, kg2), add2(kg1, turned)
    at = record + HESSIAN
    _put_hessian(jets, at, curve + 2.0 * one, kg1, kg1)
    _put_hessian(jets, at + PAIR, curve + one + two, kg12, kg21)
    _put_hessian(jets, at + PAIR + PAIR, curve + one + two, kg21, kg12)
    _put_hessian(jets, at + PAIR + PAIR + PAIR, curve + 2.0 * two, kg2, kg2)
