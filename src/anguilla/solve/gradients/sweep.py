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
the error e of every state adds dt (de)^T y^ to q^ and v^. What bristles of contacts add stands in holding.py.
"""

from __future__ import annotations

import math

from anguilla.compiler.distant import entry
from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import U, get3
from anguilla.compiler.table import Arrays
from anguilla.interact.kernels.pairs import span
from anguilla.interact.kernels.table import (
    EFFORT,
    GRAVITY,
    INPUT,
    KIND,
    LENGTH,
    RATES,
    STRESS,
    TWIST,
    WHICH,
    WRENCH,
)
from anguilla.interact.kernels.tendon import line_force
from anguilla.mechanics.joints import compose
from anguilla.mechanics.rodmap import JET, RATE, SIX, STRAIN, stumpff
from anguilla.mechanics.tree import N_R, N_V, N_W, Floats, Ints
from anguilla.mechanics.vec import (
    dot,
    iso_hat,
    load3,
    load9,
    matvec,
    outer_add,
    tmatvec,
)
from anguilla.model.evaluate import descend, residual, tangent
from anguilla.solve.gradients.holding import add_slopes, hold_back, is_held, note_parts, obstacle_cotangents, recall
from anguilla.solve.gradients.instants import take_instant
from anguilla.solve.gradients.thruster_errors import gather_integrals, pull_cotangents, pull_errors
from anguilla.solve.newton.linear import factorise, solve_factorised
from anguilla.solve.newton.newton import equilibrate

HEAVY = 1e8  # [rad/s^2] accelerations so large that the forces they take lose no digits among the others


@part
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
            out[at[INPUT] + pairs.span[k, 1]] -= pairs.factor[k] * dot(t, rate)
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


@part
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


@part
def _transpose_newton(tree, loads, q0, q1, stiff, inert, matrix, qh, ga, x):
    """Newton's matrix transposed, and the right-hand side x; N into inert, which holds K + N. B acts on rates."""
    n, size = len(q1), len(matrix)
    for i in range(size):
        for j in range(n):
            inert[i, j] -= stiff[i, j]
            matrix[j, i] = inert[i, j]
    for b in range(len(tree.ball)):
        k = tree.ball[b, 0]
        d = compose((-q0[k], -q0[k + 1], -q0[k + 2]), (q1[k], q1[k + 1], q1[k + 2]))
        t = _differential(d)
        y = tmatvec(t, (ga[k], ga[k + 1], ga[k + 2]))
        ga[k], ga[k + 1], ga[k + 2] = y[0], y[1], y[2]
        for i in range(size):
            y = tmatvec(t, (matrix[k, i], matrix[k + 1, i], matrix[k + 2, i]))
            matrix[k, i], matrix[k + 1, i], matrix[k + 2, i] = y[0], y[1], y[2]
    for k in range(n):
        x[k] = qh[k] + ga[k]
        for i in range(size):
            matrix[k, i] += stiff[i, k]
    for k in range(n, size):
        x[k] = 0.0
        for i in range(size):
            matrix[k, i] = stiff[i, k]
    for b in range(len(loads.driven)):
        k = loads.driven[b]
        for i in range(size):
            matrix[k, i] = 0.0
        matrix[k, k], x[k] = 1.0, 0.0


@part
def _heavy_product(tree, ws, loads, q, v, a, lam, mu, base, work, out):
    """out (n,) = M mu by a difference of two residuals; base is that of the state."""
    size = 0.0
    for k in range(len(q)):
        size = max(size, abs(mu[k]) * tree.scale[k])
    if size > 0.0:
        size = HEAVY / size
        for k in range(len(q)):
            work[k] = a[k] + size * mu[k]
        residual(tree, ws, loads, q, v, work[: len(q)], lam, out)
        for k in range(len(q)):
            out[k] = (out[k] - base[k]) / size
    else:
        for k in range(len(q)):
            out[k] = 0.0


@part
def _solve_step(tree, ws, loads, scheme, dt, before, q, lam, symmetric, room, hats, mu, hold, step):
    """Multipliers mu (n + m,) of one step, from the motion in the workspace; False if the matrix is singular.

    Left in matrices: K, then ca1 (share M + gamma dt C), then, without symmetry, K + ca1 M.
    """
    am, af, beta, gamma, _ = scheme
    matrices, vectors, pivot = room.matrices, room.vectors, room.pivot
    stiff, inert, mass, matrix = matrices[0], matrices[1], matrices[2], matrices[3]
    x, ga, left, right = vectors[0], vectors[3], vectors[5], vectors[6]
    qh, vh, ah, acch = hats[0], hats[1], hats[2], hats[3]
    ca1, share = 1.0 / (beta * dt * dt), (1.0 - am) / (1.0 - af)
    ws.increment[:] = 0.0
    hold.slopes[:] = 0.0
    tangent(tree, ws, loads, 0.0, 0.0, lam, stiff)
    if is_held(hold):
        note_parts(ws.node, loads.touches, hold, dt)
        add_slopes(tree, ws.node, loads.pairs, loads.touches, dt, hold, step, hold.slopes[0])
    tangent(tree, ws, loads, ca1 * gamma * dt, ca1 * share, lam, inert)
    if is_held(hold):
        add_slopes(tree, ws.node, loads.pairs, loads.touches, dt, hold, step, hold.slopes[1])
        for k in range(len(q)):
            qh[k] += hold.slopes[0, k]
            vh[k] += (hold.slopes[1, k] - hold.slopes[0, k]) / (ca1 * gamma * dt)
    if not symmetric:
        tangent(tree, ws, loads, 0.0, ca1, lam, mass)
    for k in range(len(q)):
        ga[k] = ca1 * (ah[k] + share * acch[k] + gamma * dt * vh[k])
    _transpose_newton(tree, loads, before, q, stiff, inert, matrix, qh, ga, x)
    equilibrate(tree, matrix, left, right)
    if not factorise(matrix, pivot):
        return False
    for k in range(len(mu)):
        x[k] *= left[k]
    solve_factorised(matrix, pivot, x)
    for k in range(len(mu)):
        mu[k] = x[k] * right[k]
    return True


@part
def _pull_back(scheme, dt, n, mu, symmetric, matrices, vectors, hats):
    """g_q, g_v, g_a and g_A of one step into vectors 1 to 4, from its multipliers; with symmetry M mu is in vectors[7]."""
    am, af, beta, gamma, _ = scheme
    stiff, inert, mass = matrices[0], matrices[1], matrices[2]
    gq, gv, ga, gacc, gm = vectors[1], vectors[2], vectors[3], vectors[4], vectors[7]
    qh, vh, ah, acch = hats[0], hats[1], hats[2], hats[3]
    ca1, share = 1.0 / (beta * dt * dt), (1.0 - am) / (1.0 - af)
    _times_transposed(stiff, mu, len(mu), gq[:n])
    _times_transposed(inert, mu, len(mu), ga[:n])  # ca1 (share M + gamma dt C)^T mu
    if not symmetric:
        for i in range(n):
            for j in range(n):
                mass[i, j] = (mass[i, j] - stiff[i, j]) / ca1
        _times_transposed(mass, mu, n, gm[:n])
    for k in range(n):
        gq[k], gacc[k] = qh[k] - gq[k], acch[k] - gm[k]
        gv[k] = vh[k] - (ga[k] / ca1 - share * gm[k]) / (gamma * dt)
        ga[k] = ah[k] + share * gacc[k] + gamma * dt * gv[k]


@part
def _step_back(tree, loads, scheme, dt, before, q, cost_q, cost_v, vectors, hats, driven):
    """The hats of the state before, from the gradients of the step; driven (b, 3) takes those of its imposed motions."""
    am, af, beta, gamma, _ = scheme
    gq, gv, ga, gacc = vectors[1], vectors[2], vectors[3], vectors[4]
    qh, vh, ah, acch = hats[0], hats[1], hats[2], hats[3]
    back, ca1 = 0.5 / beta - 1.0, 1.0 / (beta * dt * dt)
    for b in range(len(loads.driven)):
        k = loads.driven[b]
        driven[b, 0], driven[b, 1] = gq[k], gv[k]
        driven[b, 2] = gacc[k] + ah[k]  # both accelerations are the imposed one
        gq[k], gv[k], gacc[k], ga[k] = 0.0, 0.0, 0.0, 0.0
    _turned_back(tree, before, q, gq)
    for k in range(len(q)):
        qh[k] = gq[k] + cost_q[k]
        vh[k] = gv[k] - dt * ca1 * ga[k] + cost_v[k]
        ah[k] = dt * (1.0 - gamma) * gv[k] - back * ga[k] + gacc[k] * am / (1.0 - af)
        acch[k] = -gacc[k] * af / (1.0 - af)


@part
def _add_errors(tree, ws, loads, share, q, v, after, weight, cot, vectors, hats):
    """What the errors of thrusters in a state do to its q^ and v^: share (de)^T y^, with y^ (f, 6) after it."""
    for f in range(len(cot)):
        for c in range(6):
            weight[f, c] = share * after[f, c]
    pull_errors(tree, ws, loads, q, v, weight, cot, vectors[10:12], vectors[8, : len(q)], hats[0], hats[1])


class Trail(Arrays):
    """All states of a motion of N steps."""

    q: Floats  # (N + 1, n)
    v: Floats  # (N + 1, n)
    a: Floats  # (N + 1, n) true accelerations
    lam: Floats  # (N + 1, m)
    y: Floats  # (N + 1, f, 6) integrals of thrusters as each balance sees them (no frames if none has an integral)


class CostSlopes(Arrays):
    """Direct derivatives of a cost (of balls: with respect to small rotations in the axes of the child)."""

    q: Floats  # (N + 1, n)
    v: Floats  # (N + 1, n)


class SweepRoom(Arrays):
    """Scratch."""

    matrices: Floats  # (4, n + m, n + m)
    vectors: Floats  # (12, n + m)
    pivot: Ints  # (n + m,)
    cot: Floats  # (f, 15)


class Swept(Arrays):
    """What the sweep fills."""

    mu: Floats  # (N + 1, n + m) multipliers of the steps
    rows: Floats  # (N + 1, row) gradients with respect to the loads
    driven: Floats  # (N + 1, driven, 3) with respect to imposed motions
    y: Floats  # (N + 2, f, 6) with respect to integrals; the first is scratch
    hats: Floats  # (4, n) with respect to q, v, a, A of the start


@entry(descend, residual, tangent)
def sweep_back(tree, ws, loads, column, table, scheme, dt, states, cost, symmetric, room, found, hold):
    """Backward sweep over steps N..1. Returns False if a step has a singular matrix.

    table (N + 1, w) holds the loads of all instants; symmetric says whether the mass matrix is; hold has the bristles of
    contacts, and takes the gradient by them.
    """
    Q, V, A, LAM, Y = states.q, states.v, states.a, states.lam, states.y
    matrices, vectors, cot, hats = room.matrices, room.vectors, room.cot, found.hats
    cost_q, cost_v, MU, YH = cost.q, cost.v, found.mu, found.y
    steps, n = len(Q) - 1, Q.shape[1]
    gv, gm, zero, base = vectors[2], vectors[7], vectors[8], vectors[9]
    zero[:] = 0.0
    for k in range(n):
        hats[0, k], hats[1, k], hats[2, k], hats[3, k] = cost_q[steps, k], cost_v[steps, k], 0.0, 0.0
    for step in range(steps, 0, -1):
        q, v, a, lam, before, mu = Q[step], V[step], A[step], LAM[step], Q[step - 1], MU[step]
        take_instant(loads, column, table, dt, step, Y[step])
        if len(cot) > 0 and step < steps:
            _add_errors(tree, ws, loads, dt, q, v, YH[step + 1], YH[0], cot, vectors, hats)
        if is_held(hold):
            recall(loads, hold, step)
            descend(tree, ws, q, v, zero[:n])
            obstacle_cotangents(ws.node, loads.frames, hold, step, dt)
            pull_cotangents(tree, ws, loads.frames, q, v, hold.cot, vectors[10:12], zero[:n], hats[0], hats[1])
        residual(tree, ws, loads, q, v, a, lam, base)
        if not _solve_step(tree, ws, loads, scheme, dt, before, q, lam, symmetric, room, hats, mu, hold, step):
            return False
        if symmetric:
            _heavy_product(tree, ws, loads, q, v, a, lam, mu, base, gv, gm)
        _pull_back(scheme, dt, n, mu, symmetric, matrices, vectors, hats)
        _step_back(
            tree, loads, scheme, dt, before, q, cost_q[step - 1], cost_v[step - 1], vectors, hats, found.driven[step]
        )
        descend(tree, ws, q, mu[:n], zero[:n])
        row_gradient(tree, ws, loads, mu[:n], mu[n:], found.rows[step])
        if is_held(hold):
            hold_back(ws.node, loads, hold, step, dt)
        if len(cot) > 0:
            gather_integrals(ws, loads, YH[step + 1], YH[step])
    if len(cot) > 0:
        take_instant(loads, column, table, dt, 0, Y[0])
        _add_errors(tree, ws, loads, 0.5 * dt, Q[0], V[0], YH[1], YH[0], cot, vectors, hats)
    return True


@entry(descend)
def linear_part(tree, ws, loads, mu, nu, q, zero, out):
    """Row gradient of one state: the loads stand as they are."""
    descend(tree, ws, q, mu, zero)
    row_gradient(tree, ws, loads, mu, nu, out)
