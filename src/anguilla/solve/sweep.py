"""The backward sweep of the discrete adjoint: gradients of a cost with respect to everything a motion was made of.

A step (stepping.py) is q1 = q (+) d, a1 = (d - dt v)/(beta dt^2) - (1/(2 beta) - 1) a,
v1 = v + dt ((1 - gamma) a + gamma a1), A1 = ((1 - am) a1 + am a - af A)/(1 - af), with R(q1, v1, A1, lambda1) = 0 and
phi(q1) = 0. Let a hat be the gradient of the cost from here on. With multipliers (mu, nu) of balance and constraints,
    g_q = q1^ - K^T mu - J^T nu,    g_v = v1^ - C^T mu,    g_A = A1^ - M^T mu,
    g_a = a1^ + g_A (1 - am)/(1 - af) + dt gamma g_v,
and d is free: B^T g_a/(beta dt^2) + g_q = 0, which with the columns of lambda is one bordered linear system, the transpose of
Newton's. B = T(d)^-1 for balls, the identity otherwise. Then the hats of the state before follow, and the cost changes by
-mu . dR - nu . dphi with the loads of the step.
"""

from __future__ import annotations

import math

from anguilla._jit import inline, kernel, merge
from anguilla.assemble.evaluate import residual, tangent
from anguilla.loads.pairs import span
from anguilla.loads.table import (
    DT,
    EFFORT,
    GRAVITY,
    INPUT,
    KIND,
    LENGTH,
    RATES,
    STRESS,
    TIME,
    TWIST,
    WHICH,
    WRENCH,
)
from anguilla.loads.tendon import line_force
from anguilla.mechanics.joints import compose
from anguilla.mechanics.lanes import U, get3
from anguilla.mechanics.motion import move
from anguilla.mechanics.rodmap import JET, RATE, SIX, STRAIN, stumpff
from anguilla.mechanics.tree import N_R, N_V, N_W
from anguilla.mechanics.vec import dot, iso_hat, load3, load9, matvec, outer_add, tmatvec
from anguilla.solve.linear import factorise, solve_factorised
from anguilla.solve.newton import equilibrate


@merge
def row_gradient(tree, ws, loads, mu, nu, out):
    """out (row,) = -mu . dR/drow - nu . dphi/drow: powers of unit loads for the virtual rates mu.

    The motion in the workspace must be that of the rates mu (motion.move).
    """
    node, local, at = ws.node, ws.local, loads.at
    out[:] = 0.0
    for i in range(len(tree.parent)):
        for c in range(3):
            out[GRAVITY + c] += tree.mass[i] * node[i, N_V + c]
    for k in range(len(loads.wrench)):
        i, j = loads.wrench[k, 0], at[WRENCH] + 6 * k
        w, v = load3(node, i, N_W), load3(node, i, N_V)
        if loads.wrench[k, 1] == 1:
            r = load9(node, i, N_R)
            w, v = tmatvec(r, w), tmatvec(r, v)
        out[j], out[j + 1], out[j + 2], out[j + 3], out[j + 4], out[j + 5] = w[0], w[1], w[2], v[0], v[1], v[2]
    for k in range(len(mu)):
        out[at[EFFORT] + k] = mu[k]
    cables, pairs, c = loads.cables, loads.pairs, loads.constraints
    for k in range(len(cables.link)):
        if c.input_row[cables.link[k, 1]] < 0:
            for gauss in range(2):
                moment, force = line_force(tree.record_at, local, cables, k, gauss)
                u = tree.record_at[cables.link[k, 0]] + STRAIN + RATE
                if gauss == 1:
                    u = u + SIX
                rate = dot(moment, get3(local, u)) + dot(force, get3(local, u + JET))
                out[at[INPUT] + cables.link[k, 1]] -= cables.factor[k, gauss] * rate
    for k in range(len(pairs.span)):
        if c.input_row[pairs.span[k, 1]] < 0:
            t, _, rate = span(node, pairs, pairs.span[k, 0])
            out[at[INPUT] + pairs.span[k, 1]] -= dot(t, rate)
    for k in range(len(loads.muscles.link)):
        u = tree.record_at[loads.muscles.link[k]] + STRAIN + RATE
        for j in range(12):
            out[at[STRESS] + 12 * k + j] = -local[u + U(4 * j)]
    for k in range(len(c.table)):
        if c.table[k, KIND] == LENGTH and c.slack[k] == 0:
            out[at[INPUT] + c.table[k, WHICH]] = nu[k]
        elif c.table[k, KIND] == TWIST:
            out[at[RATES] + c.table[k, WHICH]] = nu[k]


@inline
def _differential(x):
    """T(x)^-1, with T the right differential of the rotation exponential (see mechanics/joints.py)."""
    s = dot(x, x)
    _, c2, c3, c4, _, _, _, _, _ = stumpff(s)
    k = 0.5 * (c3 - 2.0 * c4) / c2
    return outer_add(k, x, x, iso_hat(1.0 - k * s, 0.5, x))


@inline
def _matrices(tree, ws, loads, lam, stiff, damp, mass):
    """Bordered K, and plain C and M (n, n), at the state of the last residual."""
    n = len(tree.lane)
    ws.increment[:] = 0.0
    tangent(tree, ws, loads, 0.0, 0.0, lam, stiff)
    tangent(tree, ws, loads, 1.0, 0.0, lam, damp)
    tangent(tree, ws, loads, 0.0, 1.0, lam, mass)
    for i in range(len(stiff)):
        for j in range(n):
            damp[i, j] -= stiff[i, j]
            mass[i, j] -= stiff[i, j]


@inline
def _times_transposed(matrix, x, rows, out):
    """out (n,) = matrix[:rows]^T x."""
    for j in range(len(out)):
        total = 0.0
        for i in range(rows):
            total += matrix[i, j] * x[i]
        out[j] = total


@merge
def _turned_back(tree, q0, q1, g):
    """Blocks of g that belong to balls, turned by E(d) in place; d = log(q0^-1 q1)."""
    for b in range(len(tree.ball)):
        k = tree.ball[b, 0]
        d = compose((-q0[k], -q0[k + 1], -q0[k + 2]), (q1[k], q1[k + 1], q1[k + 2]))
        s = dot(d, d)
        angle = math.sqrt(s)
        c1 = math.sin(angle) / angle if angle > 1e-6 else 1.0 - s / 6.0
        c2 = (1.0 - math.cos(angle)) / s if angle > 1e-4 else 0.5 - s / 24.0
        e = outer_add(c2, d, d, iso_hat(1.0 - c2 * s, c1, d))
        x = matvec(e, (g[k], g[k + 1], g[k + 2]))
        g[k], g[k + 1], g[k + 2] = x[0], x[1], x[2]


@kernel
def sweep(
    tree, ws, loads, column, table, scheme, dt, Q, V, A, LAM, cost_q, cost_v, matrices, vectors, pivot, MU, ROWS, DRIVEN,
    hats,
):  # fmt: skip
    """Backward sweep over steps N..1. Returns False if a step has a singular matrix.

    Q, V, A (N + 1, n) and LAM (N + 1, m) are all states, A the true accelerations; cost_q, cost_v (N + 1, n) the direct
    derivatives of the cost (of balls: with respect to small rotations in the axes of the child). matrices
    (4, n + m, n + m), vectors (8, n + m) and pivot (n + m,) are scratch. Filled: MU (N + 1, n + m), ROWS (N + 1, row),
    DRIVEN (N + 1, driven, 3) and hats (4, n): gradients with respect to q, v, a, A of the start.
    """
    am, af, beta, gamma, _ = scheme
    steps, n = len(Q) - 1, Q.shape[1]
    m = LAM.shape[1]
    stiff, damp, mass, matrix = matrices[0], matrices[1], matrices[2], matrices[3]
    x, gq, gv, ga, gacc, left, right = (
        vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5], vectors[6],
    )  # fmt: skip
    qh, vh, ah, acch = hats[0], hats[1], hats[2], hats[3]
    back, ca1, share = 0.5 / beta - 1.0, 1.0 / (beta * dt * dt), (1.0 - am) / (1.0 - af)
    for k in range(n):
        qh[k], vh[k], ah[k], acch[k] = cost_q[steps, k], cost_v[steps, k], 0.0, 0.0
    for step in range(steps, 0, -1):
        for j in range(len(column)):
            loads.row[column[j]] = table[step - 1, j]
        loads.row[DT], loads.row[TIME] = dt, step * dt
        residual(tree, ws, loads, Q[step], V[step], A[step], LAM[step], x)
        _matrices(tree, ws, loads, LAM[step], stiff, damp, mass)
        # right-hand side and the transpose of Newton's matrix; B acts on the columns of rates
        for k in range(n):
            ga[k] = ca1 * (ah[k] + share * acch[k] + gamma * dt * vh[k])
        for i in range(n + m):
            for j in range(n):
                matrix[j, i] = ca1 * (gamma * dt * damp[i, j] + share * mass[i, j])
        for b in range(len(tree.ball)):
            k = tree.ball[b, 0]
            d = compose((-Q[step - 1, k], -Q[step - 1, k + 1], -Q[step - 1, k + 2]),
                        (Q[step, k], Q[step, k + 1], Q[step, k + 2]))  # fmt: skip
            t = _differential(d)
            y = tmatvec(t, (ga[k], ga[k + 1], ga[k + 2]))
            ga[k], ga[k + 1], ga[k + 2] = y[0], y[1], y[2]
            for i in range(n + m):
                y = tmatvec(t, (matrix[k, i], matrix[k + 1, i], matrix[k + 2, i]))
                matrix[k, i], matrix[k + 1, i], matrix[k + 2, i] = y[0], y[1], y[2]
        for k in range(n):
            x[k] = qh[k] + ga[k]
            for i in range(n + m):
                matrix[k, i] += stiff[i, k]
        for k in range(m):
            x[n + k] = 0.0
            for i in range(n + m):
                matrix[n + k, i] = stiff[i, n + k]
        for b in range(len(loads.driven)):
            k = loads.driven[b]
            for i in range(n + m):
                matrix[k, i] = 0.0
            matrix[k, k], x[k] = 1.0, 0.0
        equilibrate(tree, matrix, left, right)
        if not factorise(matrix, pivot):
            return False
        for k in range(n + m):
            x[k] *= left[k]
        solve_factorised(matrix, pivot, x)
        for k in range(n + m):
            MU[step, k] = x[k] * right[k]
        mu = MU[step]
        _times_transposed(stiff, mu, n + m, gq[:n])
        _times_transposed(damp, mu, n + m, gv[:n])
        _times_transposed(mass, mu, n, gacc[:n])
        for k in range(n):
            gq[k], gv[k], gacc[k] = qh[k] - gq[k], vh[k] - gv[k], acch[k] - gacc[k]
            ga[k] = ah[k] + share * gacc[k] + gamma * dt * gv[k]
        for b in range(len(loads.driven)):
            k = loads.driven[b]
            DRIVEN[step, b, 0], DRIVEN[step, b, 1] = gq[k], gv[k]
            DRIVEN[step, b, 2] = gacc[k] + ah[k]  # both accelerations are the imposed one
            gq[k], gv[k], gacc[k], ga[k] = 0.0, 0.0, 0.0, 0.0
        _turned_back(tree, Q[step - 1], Q[step], gq)
        for k in range(n):
            qh[k] = gq[k] + cost_q[step - 1, k]
            vh[k] = gv[k] - dt * ca1 * ga[k] + cost_v[step - 1, k]
            ah[k] = dt * (1.0 - gamma) * gv[k] - back * ga[k] + gacc[k] * am / (1.0 - af)
            acch[k] = -gacc[k] * af / (1.0 - af)
        for k in range(n):
            x[k] = 0.0
        move(tree, ws, Q[step], mu[:n], x[:n])
        row_gradient(tree, ws, loads, mu[:n], mu[n:], ROWS[step])
    return True


@kernel
def weigh(tree, ws, loads, column, table, dt, Q, V, A, LAM, MU, first, out):
    """Sum over the states first.. of MU . (R, phi): the balance of a motion, weighed by the multipliers of a sweep."""
    total = 0.0
    for step in range(first, len(Q)):
        for j in range(len(column)):
            loads.row[column[j]] = table[step, j]
        loads.row[DT], loads.row[TIME] = dt, step * dt
        residual(tree, ws, loads, Q[step], V[step], A[step], LAM[step], out)
        for k in range(len(out)):
            total += MU[step, k] * out[k]
    return total


@kernel
def linear_part(tree, ws, loads, mu, nu, q, zero, out):
    """Row gradient of one state: the loads stand as they are."""
    move(tree, ws, q, mu, zero)
    row_gradient(tree, ws, loads, mu, nu, out)
