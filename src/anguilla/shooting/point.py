"""The equations of a rod at one section, compiled: the constitutive law, the slopes of (61) and of its tangent (80).

Statics is the same as dynamics with eta = eta-dot = 0 and a = infinity: (61) becomes (51), (80) becomes (77).

One law serves statics and dynamics. With the integrator (58), u = (xi - f) / a, and Kelvin-Voigt damping mu,

    Lambda_a = Lambda_ad(xi) + H^ (xi - xi^),   H^ = (1 + mu b/a) H,   (1 + mu b/a) xi^ = xi_o + mu (b/a f - h).

A tendon makes Lambda_ad depend on xi; then xi follows from Lambda by Newton (the implicit solver of remark 4).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from anguilla.compiler.jit import inline, kernel
from anguilla.mechanics.tree import Floats
from anguilla.mechanics.vec import add, axpy, cross, dot, load3, scale, sub
from anguilla.shooting.state import (
    ACC,
    ETA,
    LAM,
    POS,
    T_ACC,
    T_ETA,
    T_LAM,
    column3,
    get3,
    put3,
    put_column3,
    times6,
    to_section,
    unit3,
)

LAW_ITERATIONS = 25


class Fields(NamedTuple):
    """What a rod is made of, sampled at the Gauss points of all segments: (points, 6) unless said.

    Attributes:
        hooke: H^, effective stiffness.
        compliance: 1 / H^; zero for a strain that is locked.
        rest: xi^, effective rest strain; the prescribed strain where locked.
        past, past_rate: f and h of (58), so that xi-dot = b/a (xi - f) + h and xi-dot-dot = (xi - f) / a.
        stress: Lambda_ad that does not depend on the strain.
        inertia: diagonal of M per length.
        dead, follower: external wrench per length in world axes, and in section axes.
        past_twist: history of eta in the reduced form (89): eta-dot = c eta + past_twist.
        route: (points, cables, 6) D and D' of the tendons.

    """

    hooke: Floats
    compliance: Floats
    rest: Floats
    past: Floats
    past_rate: Floats
    stress: Floats
    inertia: Floats
    dead: Floats
    follower: Floats
    past_twist: Floats
    route: Floats


class StepSlopes(NamedTuple):
    """StepSlopes of rates and accelerations in a time step: b/a and 1/a of (58); c of (89), negative in the full form."""

    rate: float
    second: float
    reduced: float


STATIC = StepSlopes(0.0, 0.0, -1.0)


@inline
def _invert(matrix, inverse):
    """Gauss-Jordan without pivoting (H^ + d Lambda_ad/d xi is near to positive definite); the matrix is destroyed."""
    for i in range(6):
        for j in range(6):
            inverse[i, j] = 1.0 if i == j else 0.0
    for k in range(6):
        pivot = 1.0 / matrix[k, k]
        for j in range(6):
            matrix[k, j] *= pivot
            inverse[k, j] *= pivot
        for i in range(6):
            if i != k:
                factor = matrix[i, k]
                if factor != 0.0:
                    for j in range(6):
                        matrix[i, j] -= factor * matrix[k, j]
                        inverse[i, j] -= factor * inverse[k, j]


@inline
def _tendons(fields, pull, p, xi, stress, matrix):
    """Add (17) and its derivative T d2l/dxi2, blocks KK = -[D] A [D], KG = [D] A, with A = (1 - t t^T) T / |Gamma_c|."""
    for k in range(len(pull)):
        T = pull[k]
        if T == 0.0:
            continue
        D = load3(fields.route[p], k, 0)
        line = add(get3(xi, 3), add(cross(get3(xi, 0), D), load3(fields.route[p], k, 3)))
        length = math.sqrt(dot(line, line))
        t = scale(1.0 / length, line)
        lever = cross(D, t)
        for i in range(3):
            stress[i] += T * lever[i]
            stress[i + 3] += T * t[i]
        # columns of A and of -A [D] = d t / dK, times T
        for j in range(3):
            e = unit3(j)
            by_gamma = scale(T / length, axpy(-t[j], t, e))
            turn = cross(e, D)
            by_kappa = scale(T / length, axpy(-dot(t, turn), t, turn))
            lever_gamma, lever_kappa = cross(D, by_gamma), cross(D, by_kappa)
            for i in range(3):
                matrix[i, j] += lever_kappa[i]
                matrix[i, j + 3] += lever_gamma[i]
                matrix[i + 3, j] += by_kappa[i]
                matrix[i + 3, j + 3] += by_gamma[i]


@kernel
def law(fields, pull, p, y, w, stage):
    """Strain xi (w.xi) that carries the stress of a state, and its compliance d xi / d Lambda (w.compliance)."""
    xi, compliance = w.xi[stage], w.compliance[stage]
    pulled = False
    for k in range(len(pull)):
        pulled = pulled or pull[k] != 0.0
    for i in range(6):
        xi[i] = fields.rest[p, i]
        if not pulled:
            xi[i] += fields.compliance[p, i] * (y[LAM + i] - fields.stress[p, i])
            for j in range(6):
                compliance[i, j] = 0.0
            compliance[i, i] = fields.compliance[p, i]
    if not pulled:
        return
    matrix, stress = w.matrix, w.stress
    for _ in range(LAW_ITERATIONS):
        for i in range(6):
            stress[i] = fields.stress[p, i] + fields.hooke[p, i] * (xi[i] - fields.rest[p, i])
            for j in range(6):
                matrix[i, j] = 0.0
            matrix[i, i] = fields.hooke[p, i]
        _tendons(fields, pull, p, xi, stress, matrix)
        for i in range(6):
            if fields.compliance[p, i] == 0.0:  # locked
                for j in range(6):
                    matrix[i, j] = 0.0
                    matrix[j, i] = 0.0
                matrix[i, i] = 1.0
        _invert(matrix, compliance)
        largest = 0.0
        for i in range(6):
            if fields.compliance[p, i] == 0.0:
                compliance[i, i] = 0.0
            step = 0.0
            for j in range(6):
                step += compliance[i, j] * (y[LAM + j] - stress[j])
            xi[i] += step
            largest = max(largest, abs(step) / (1.0 + abs(xi[i])))
        if not largest > 1e-13:
            break


class Work(NamedTuple):
    """Scratch of one interval, by stage, and what `slope` leaves for `slope_tangent`."""

    xi: Floats  # (stages, 6)
    compliance: Floats  # (stages, 6, 6)
    load: Floats  # (stages, 6), R^T dead
    matrix: Floats  # (6, 6)
    stress: Floats  # (6,)
    states: Floats  # (stages, STATE)
    trial: Floats  # (STATE,)
    weight: Floats  # (STATE,) h over the scale of a state
    columns: Floats  # (stages, TANGENT, columns)
    transfer: Floats  # (TANGENT, columns)
    change: Floats  # (TANGENT, columns)


@kernel
def slope(fields, pull, scheme, p, y, out, w, stage):
    """StepSlopes of the state at point p (61)."""
    law(fields, pull, p, y, w, stage)
    K, G = get3(w.xi[stage], 0), get3(w.xi[stage], 3)
    for i in range(3):  # R' = R K^, r' = R Gamma
        row = y[3 * i], y[3 * i + 1], y[3 * i + 2]
        turned = cross(row, K)
        out[3 * i], out[3 * i + 1], out[3 * i + 2] = turned
        out[POS + i] = dot(row, G)
    moment = to_section(y, load3(fields.dead, p, 0))
    force = to_section(y, load3(fields.dead, p, 3))
    put3(w.load[stage], 0, moment)
    put3(w.load[stage], 3, force)
    C, N = get3(y, LAM), get3(y, LAM + 3)
    # ad_xi^T Lambda - F
    dC = sub(scale(-1.0, add(cross(K, C), cross(G, N))), add(moment, load3(fields.follower, p, 0)))
    dN = sub(scale(-1.0, cross(K, N)), add(force, load3(fields.follower, p, 3)))
    if scheme.second > 0.0 or scheme.reduced >= 0.0:
        O, V = get3(y, ETA), get3(y, ETA + 3)
        if scheme.reduced >= 0.0:  # (89): no equation for the accelerations
            for i in range(6):
                y[ACC + i] = scheme.reduced * y[ETA + i] + fields.past_twist[p, i]
        dO, dV = get3(y, ACC), get3(y, ACC + 3)
        past, past_rate = fields.past, fields.past_rate
        k = axpy(scheme.rate, sub(K, load3(past, p, 0)), load3(past_rate, p, 0))
        g = axpy(scheme.rate, sub(G, load3(past, p, 3)), load3(past_rate, p, 3))
        # eta' = xi-dot - ad_xi eta
        put3(out, ETA, sub(k, cross(K, O)))
        put3(out, ETA + 3, sub(g, add(cross(G, O), cross(K, V))))
        if scheme.reduced >= 0.0:
            put3(out, ACC, (0.0, 0.0, 0.0))
            put3(out, ACC + 3, (0.0, 0.0, 0.0))
        else:  # eta-dot' = xi-dot-dot - ad_xi eta-dot - ad_xi-dot eta (errata 003.2: the dot)
            kk = scale(scheme.second, sub(K, load3(past, p, 0)))
            gg = scale(scheme.second, sub(G, load3(past, p, 3)))
            put3(out, ACC, sub(kk, add(cross(K, dO), cross(k, O))))
            put3(out, ACC + 3, sub(gg, add(add(cross(G, dO), cross(K, dV)), add(cross(g, O), cross(k, V)))))
        mC, mN = load3(fields.inertia, p, 0), load3(fields.inertia, p, 3)
        pO = mC[0] * O[0], mC[1] * O[1], mC[2] * O[2]
        pV = mN[0] * V[0], mN[1] * V[1], mN[2] * V[2]
        # + M eta-dot - ad_eta^T M eta
        dC = add(dC, add((mC[0] * dO[0], mC[1] * dO[1], mC[2] * dO[2]), add(cross(O, pO), cross(V, pV))))
        dN = add(dN, add((mN[0] * dV[0], mN[1] * dV[1], mN[2] * dV[2]), cross(O, pV)))
    else:
        for i in range(12):
            out[ETA + i] = 0.0
    put3(out, LAM, dC)
    put3(out, LAM + 3, dN)


@kernel
def slope_tangent(fields, scheme, p, y, w, stage, Y, out):
    """StepSlopes of the columns of a tangent (80)-(81), after `slope` at the same state."""
    K, G = get3(w.xi[stage], 0), get3(w.xi[stage], 3)
    C, N = get3(y, LAM), get3(y, LAM + 3)
    moment, force = get3(w.load[stage], 0), get3(w.load[stage], 3)
    moving = scheme.second > 0.0 or scheme.reduced >= 0.0
    O, V = get3(y, ETA), get3(y, ETA + 3)
    dO, dV = get3(y, ACC), get3(y, ACC + 3)
    k = axpy(scheme.rate, sub(K, load3(fields.past, p, 0)), load3(fields.past_rate, p, 0))
    g = axpy(scheme.rate, sub(G, load3(fields.past, p, 3)), load3(fields.past_rate, p, 3))
    mC, mN = load3(fields.inertia, p, 0), load3(fields.inertia, p, 3)
    pO = mC[0] * O[0], mC[1] * O[1], mC[2] * O[2]
    pV = mN[0] * V[0], mN[1] * V[1], mN[2] * V[2]
    c = w.compliance[stage]
    for j in range(Y.shape[1]):
        lC, lN = column3(Y, T_LAM, j), column3(Y, T_LAM + 3, j)
        xC, xN = times6(c, lC, lN)
        th, d = column3(Y, 0, j), column3(Y, 3, j)
        put_column3(out, 0, j, sub(xC, cross(K, th)))
        put_column3(out, 3, j, sub(xN, add(cross(G, th), cross(K, d))))
        # ad_xi^T dLambda + ad_dxi^T Lambda - dF, with d(R^T f) = (R^T f) x theta
        sC = scale(-1.0, add(add(cross(K, lC), cross(G, lN)), add(cross(xC, C), cross(xN, N))))
        sN = scale(-1.0, add(cross(K, lN), cross(xC, N)))
        sC, sN = sub(sC, cross(moment, th)), sub(sN, cross(force, th))
        if moving:
            o, v = column3(Y, T_ETA, j), column3(Y, T_ETA + 3, j)
            do, dv = column3(Y, T_ACC, j), column3(Y, T_ACC + 3, j)
            if scheme.reduced >= 0.0:
                do, dv = scale(scheme.reduced, o), scale(scheme.reduced, v)
            kC, kN = scale(scheme.rate, xC), scale(scheme.rate, xN)
            put_column3(out, T_ETA, j, sub(kC, add(cross(K, o), cross(xC, O))))
            e = add(add(cross(G, o), cross(K, v)), add(cross(xN, O), cross(xC, V)))
            put_column3(out, T_ETA + 3, j, sub(kN, e))
            if scheme.reduced >= 0.0:
                put_column3(out, T_ACC, j, (0.0, 0.0, 0.0))
                put_column3(out, T_ACC + 3, j, (0.0, 0.0, 0.0))
            else:
                e = add(add(cross(K, do), cross(xC, dO)), add(cross(k, o), cross(kC, O)))
                put_column3(out, T_ACC, j, sub(scale(scheme.second, xC), e))
                e = add(add(cross(G, do), cross(K, dv)), add(cross(xN, dO), cross(xC, dV)))
                e = add(e, add(add(cross(g, o), cross(k, v)), add(cross(kN, O), cross(kC, V))))
                put_column3(out, T_ACC + 3, j, sub(scale(scheme.second, xN), e))
            mo = mC[0] * o[0], mC[1] * o[1], mC[2] * o[2]
            mv = mN[0] * v[0], mN[1] * v[1], mN[2] * v[2]
            e = add(add(cross(o, pO), cross(O, mo)), add(cross(v, pV), cross(V, mv)))
            sC = add(sC, add((mC[0] * do[0], mC[1] * do[1], mC[2] * do[2]), e))
            e = add(cross(o, pV), cross(O, mv))
            sN = add(sN, add((mN[0] * dv[0], mN[1] * dv[1], mN[2] * dv[2]), e))
        put_column3(out, T_LAM, j, sC)
        put_column3(out, T_LAM + 3, j, sN)
