"""The backward sweep of the discrete adjoint: gradients of a cost with respect to everything a motion was made of.

A step (stepping.py) is q1 = q (+) d, a1 = (d - dt v)/(beta dt^2) - (1/(2 beta) - 1) a,
v1 = v + dt ((1 - gamma) a + gamma a1), A1 = ((1 - am) a1 + am a - af A)/(1 - af), with R(q1, v1, A1, lambda1) = 0 and
phi(q1) = 0. Let a hat be the gradient of the cost from here on. With multipliers (mu, nu) of balance and constraints,
    g_q = q1^ - K^T mu - J^T nu,    g_v = v1^ - C^T mu,    g_A = A1^ - M^T mu,
    g_a = a1^ + g_A (1 - am)/(1 - af) + dt gamma g_v,
and d is free: B^T g_a/(beta dt^2) + g_q = 0, which with the columns of lambda is one bordered linear system, the transpose of
Newton's. B = T(d)^-1 for balls, the identity otherwise. Then the hats of the state before follow, and the cost changes by
-mu . dR - nu . dphi with the loads of the step.

Two tangents are enough: K, and N = dt gamma C + (1 - am)/(1 - af) M from Newton's own. M is symmetric as a rule, so M^T mu is
a difference of two residuals, and C^T mu the rest of N^T mu. (A load written by a user may depend on accelerations as
it likes: then M comes from a third tangent.)

A thruster has an integral z. With y1 = z + dt/2 e, e its error at the start of the step, the balance of the step sees y1 +
dt/2 e1, and the next one has y2 = y1 + dt e1. So y^ gathers the power of kI on the virtual motion mu going back, and
the error e of every state adds dt (de)^T y^ to q^ and v^.
"""

from __future__ import annotations

import math

from anguilla._jit import inline, kernel, merge
from anguilla.assemble.evaluate import descend, residual, tangent
from anguilla.loads.pairs import span
from anguilla.loads.table import (
    DT,
    EFFORT,
    GRAVITY,
    INPUT,
    KIND,
    LENGTH,
    NODE,
    RATES,
    ROW,
    STRESS,
    THRUSTER,
    TIME,
    TWIST,
    WHICH,
    WRENCH,
)
from anguilla.loads.tendon import line_force
from anguilla.loads.wrench import row3
from anguilla.mechanics.joints import compose
from anguilla.mechanics.lanes import U, get3
from anguilla.mechanics.rodmap import JET, RATE, SIX, STRAIN, stumpff
from anguilla.mechanics.tree import N_A, N_AL, N_R, N_V, N_W, N_X
from anguilla.mechanics.vec import (
    add,
    cross,
    dot,
    iso_hat,
    load3,
    load9,
    matvec,
    outer_add,
    scale,
    store3,
    sub,
    tmatvec,
)
from anguilla.solve.linear import factorise, solve_factorised
from anguilla.solve.newton import equilibrate

HEAVY = 1e8  # [rad/s^2] accelerations so large that the forces they take lose no digits among the others


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
def take_instant(loads, column, table, dt, step, integral):
    """Loads of an instant, with the integrals of thrusters (f, 6) as the balance of that instant sees them."""
    for j in range(len(column)):
        loads.row[column[j]] = table[step, j]
    loads.row[DT], loads.row[TIME] = dt, step * dt
    for f in range(len(integral)):
        for c in range(6):
            loads.frames.state[f, 0, c], loads.frames.state[f, 1, c] = integral[f, c], 0.0


@merge
def _error_cotangents(ws, loads, weight, cot):
    """Per frame: what weight . e does with changes of rotation, place, angular velocity and velocity, and the spin itself."""
    node, frames = ws.node, loads.frames
    for f in range(len(frames.table)):
        for c in range(15):
            cot[f, c] = 0.0
        if frames.table[f, KIND] == THRUSTER:
            i, j = frames.table[f, NODE], frames.table[f, ROW]
            r, w = load9(node, i, N_R), load3(node, i, N_W)
            x_d, w_d, v_d = row3(loads.row, j), row3(loads.row, j + 3), row3(loads.row, j + 6)
            turn = sub(w_d, w)
            slide = sub(add(v_d, cross(sub(x_d, load3(node, i, N_X)), w_d)), load3(node, i, N_V))
            u1, u2 = matvec(r, load3(weight, f, 0)), matvec(r, load3(weight, f, 3))
            store3(cot, f, 0, scale(-1.0, add(cross(turn, u1), cross(slide, u2))))
            store3(cot, f, 3, cross(u2, w_d))
            store3(cot, f, 6, scale(-1.0, u1))
            store3(cot, f, 9, scale(-1.0, u2))
            store3(cot, f, 12, w)


@kernel
def pull_errors(tree, ws, loads, q, v, weight, cot, spare, zero, by_q, by_v):
    """by_q, by_v += derivatives of weight . e with respect to q and v, e (f, 6) the errors of thrusters in body axes.

    How velocities change with q follows, without differences, from accelerations at a = 0, which are quadratic in v: for
    rates v and v', (a(v + v') - a(v - v'))/4 is half the sum of the derivatives of J v along v' and of J v' along v. They
    differ by the turn of the axes, and for balls by the bracket of their rates.
    """
    descend(tree, ws, q, v, zero)
    _error_cotangents(ws, loads, weight, cot)
    frames, node, n = loads.frames, ws.node, len(q)
    size = 1.0
    for k in range(n):
        size = max(size, abs(v[k]) * tree.scale[k])
    slope, rate = spare[0], spare[1]
    for k in range(n):
        slope[k], rate[k] = 0.0, 0.0
        h = size / tree.scale[k]
        kept = v[k]
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            v[k] = kept + sign * h
            descend(tree, ws, q, v, zero)
            for f in range(len(frames.table)):
                i = frames.table[f, NODE]
                w, vel = load3(node, i, N_W), load3(node, i, N_V)
                cw, cv = load3(cot, f, 6), load3(cot, f, 9)
                along = dot(load3(cot, f, 0), w) + dot(load3(cot, f, 3), vel)
                turned = dot(cw, load3(node, i, N_AL)) + dot(cv, load3(node, i, N_A))
                turned += dot(cross(load3(cot, f, 12), cw), w)
                slope[k] += sign / (2.0 * h) * (along + 0.5 * turned)
                rate[k] += sign / (2.0 * h) * (dot(cw, w) + dot(cv, vel))
        v[k] = kept
    for k in range(n):
        by_q[k] += slope[k]
        by_v[k] += rate[k]
    for b in range(len(tree.ball)):
        k = tree.ball[b, 0]
        x = cross((v[k], v[k + 1], v[k + 2]), (rate[k], rate[k + 1], rate[k + 2]))
        for c in range(3):
            by_q[k + c] += 0.5 * x[c]


@merge
def _gather_integrals(ws, loads, after, here):
    """Sum here (f, 6) = after + kI x body twist of the virtual motion in the workspace."""
    node, frames = ws.node, loads.frames
    for f in range(len(here)):
        for c in range(6):
            here[f, c] = after[f, c]
        if frames.table[f, KIND] == THRUSTER:
            i = frames.table[f, NODE]
            r = load9(node, i, N_R)
            w, v = tmatvec(r, load3(node, i, N_W)), tmatvec(r, load3(node, i, N_V))
            for c in range(3):
                here[f, c] += frames.data[f, 6 + c] * w[c]
                here[f, 3 + c] += frames.data[f, 9 + c] * v[c]


@inline
def _largest(tree, mu):
    size = 0.0
    for k in range(len(tree.scale)):
        size = max(size, abs(mu[k]) * tree.scale[k])
    return size


@kernel
def sweep(
    tree, ws, loads, column, table, scheme, dt, Q, V, A, LAM, Y, cost_q, cost_v, symmetric, matrices, vectors, pivot, cot, MU,
    ROWS, DRIVEN, YH, hats,
):  # fmt: skip
    """Backward sweep over steps N..1. Returns False if a step has a singular matrix.

    Q, V, A (N + 1, n) and LAM (N + 1, m) are all states, A the true accelerations; Y (N + 1, f, 6) the integrals of
    thrusters as each balance sees them (no frames if none has an integral); cost_q, cost_v (N + 1, n) the direct derivatives
    of the cost (of balls: with respect to small rotations in the axes of the child). table (N + 1, w) holds the loads of all
    instants; symmetric says whether M is. matrices (4, n + m, n + m), vectors (12, n + m), cot (f, 15) and pivot (n + m,)
    are scratch. Filled: MU (N + 1, n + m), ROWS (N + 1, row), DRIVEN (N + 1, driven, 3), YH (N + 2, f, 6), of which the
    first is scratch, and hats (4, n): gradients with respect to q, v, a, A of the start.
    """
    am, af, beta, gamma, _ = scheme
    steps, n = len(Q) - 1, Q.shape[1]
    m = LAM.shape[1]
    stiff, inert, mass, matrix = matrices[0], matrices[1], matrices[2], matrices[3]
    x, gq, gv, ga, gacc, left, right, gm, zero, base = (
        vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5], vectors[6], vectors[7], vectors[8],
        vectors[9],
    )  # fmt: skip
    qh, vh, ah, acch = hats[0], hats[1], hats[2], hats[3]
    back, ca1, share = 0.5 / beta - 1.0, 1.0 / (beta * dt * dt), (1.0 - am) / (1.0 - af)
    zero[:] = 0.0
    for k in range(n):
        qh[k], vh[k], ah[k], acch[k] = cost_q[steps, k], cost_v[steps, k], 0.0, 0.0
    for step in range(steps, 0, -1):
        take_instant(loads, column, table, dt, step, Y[step])
        if len(cot) > 0 and step < steps:
            for f in range(len(cot)):
                for c in range(6):
                    YH[0, f, c] = dt * YH[step + 1, f, c]
            pull_errors(tree, ws, loads, Q[step], V[step], YH[0], cot, vectors[10:12], zero[:n], qh, vh)
        residual(tree, ws, loads, Q[step], V[step], A[step], LAM[step], base)
        ws.increment[:] = 0.0
        tangent(tree, ws, loads, 0.0, 0.0, LAM[step], stiff)
        tangent(tree, ws, loads, ca1 * gamma * dt, ca1 * share, LAM[step], inert)
        if not symmetric:
            tangent(tree, ws, loads, 0.0, ca1, LAM[step], mass)
        for i in range(n + m):
            for j in range(n):
                inert[i, j] -= stiff[i, j]
                matrix[j, i] = inert[i, j]
        # right-hand side and the transpose of Newton's matrix; B acts on the columns of rates
        for k in range(n):
            ga[k] = ca1 * (ah[k] + share * acch[k] + gamma * dt * vh[k])
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
        _times_transposed(inert, mu, n + m, ga[:n])  # ca1 (share M + gamma dt C)^T mu
        if symmetric:
            size = _largest(tree, mu)
            if size > 0.0:
                size = HEAVY / size
                for k in range(n):
                    gv[k] = A[step, k] + size * mu[k]
                residual(tree, ws, loads, Q[step], V[step], gv[:n], LAM[step], gm)
                for k in range(n):
                    gm[k] = (gm[k] - base[k]) / size
            else:
                for k in range(n):
                    gm[k] = 0.0
        else:
            for i in range(n):
                for j in range(n):
                    mass[i, j] = (mass[i, j] - stiff[i, j]) / ca1
            _times_transposed(mass, mu, n, gm[:n])
        for k in range(n):
            gq[k], gacc[k] = qh[k] - gq[k], acch[k] - gm[k]
            gv[k] = vh[k] - (ga[k] / ca1 - share * gm[k]) / (gamma * dt)
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
        descend(tree, ws, Q[step], mu[:n], zero[:n])
        row_gradient(tree, ws, loads, mu[:n], mu[n:], ROWS[step])
        if len(cot) > 0:
            _gather_integrals(ws, loads, YH[step + 1], YH[step])
    if len(cot) > 0:
        take_instant(loads, column, table, dt, 0, Y[0])
        for f in range(len(cot)):
            for c in range(6):
                YH[0, f, c] = 0.5 * dt * YH[1, f, c]
        pull_errors(tree, ws, loads, Q[0], V[0], YH[0], cot, vectors[10:12], zero[:n], qh, vh)
    return True


@kernel
def integrals(tree, ws, loads, column, table, dt, Q, V, A, LAM, out, Y):
    """Integrals of thrusters as the balance of each state sees them, Y (N + 1, f, 6): y1 = dt/2 e0, then y2 = y1 + dt e1."""
    for step in range(len(Q)):
        take_instant(loads, column, table, dt, step, Y[step])
        residual(tree, ws, loads, Q[step], V[step], A[step], LAM[step], out)
        if step + 1 < len(Q):
            part = 0.5 * dt if step == 0 else dt
            for f in range(Y.shape[1]):
                for c in range(6):
                    Y[step + 1, f, c] = Y[step, f, c] + part * loads.frames.state[f, 2, c]


@kernel
def weigh(tree, ws, loads, column, table, dt, Q, V, A, LAM, Y, MU, YH, out):
    """The balance of a motion, weighed: sum over the states 1.. of MU . (R, phi), less YH . changes of the integrals."""
    total = 0.0
    first = 0 if Y.shape[1] > 0 else 1
    for step in range(first, len(Q)):
        take_instant(loads, column, table, dt, step, Y[step])
        residual(tree, ws, loads, Q[step], V[step], A[step], LAM[step], out)
        if step > 0:
            for k in range(len(out)):
                total += MU[step, k] * out[k]
        part = 0.5 * dt if step == 0 else dt
        for f in range(Y.shape[1]):
            for c in range(6):
                total -= part * YH[step + 1, f, c] * loads.frames.state[f, 2, c]
    return total


@kernel
def balance_rows(tree, ws, loads, column, table, dt, Q, V, A, LAM, Y, out, errors):
    """(R, phi) of every state into out (N + 1, n + m), and the errors of thrusters into errors (N + 1, f, 6)."""
    for step in range(len(Q)):
        take_instant(loads, column, table, dt, step, Y[step])
        residual(tree, ws, loads, Q[step], V[step], A[step], LAM[step], out[step])
        for f in range(Y.shape[1]):
            for c in range(6):
                errors[step, f, c] = loads.frames.state[f, 2, c]


@kernel
def linear_part(tree, ws, loads, mu, nu, q, zero, out):
    """Row gradient of one state: the loads stand as they are."""
    descend(tree, ws, q, mu, zero)
    row_gradient(tree, ws, loads, mu, nu, out)
