"""What the recursions of `motion`, `forces` and `tangent` do at a node of a robot that stays in the plane x-y.

Rods bend about z, stretch and shear along y; joints turn about z or slide in the plane. Loads may point anywhere, and frames
on which nothing hangs may lie anywhere: what acts out of the plane moves nothing. Records are the same, so that loads and
results need not know; what vanishes in the plane is zero in a new workspace and is never written, except where other fields
have been laid over it.
"""

from __future__ import annotations

from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import FOUR, U
from anguilla.compiler.simd import lay, lay2, take, take2
from anguilla.mechanics.flatmap import NORMAL, SINE
from anguilla.mechanics.rodmap import (
    FRAME,
    GAUSS_2,
    JACOBIAN,
    JET,
    NINE,
    Q0,
    Q1,
    Q2,
    RATE,
    RHO,
    SPIN,
    TURN,
    U0,
    U2,
    WRENCH,
)
from anguilla.mechanics.tree import (
    BX,
    BY,
    DF,
    DM,
    DR,
    FIXED,
    G1,
    G2,
    N_A,
    N_AL,
    N_F,
    N_M,
    N_MI,
    N_R,
    N_R0,
    N_R1,
    N_R2,
    N_V,
    N_W,
    N_X,
    P2,
    PHI,
    PSI,
    TH0,
    TH1,
    TH2,
)
from anguilla.mechanics.vec2 import (
    add2,
    axpy2,
    back,
    cross2,
    dot2,
    get2,
    load2,
    put2,
    scale2,
    store2,
    swing,
    times,
)

Z = 2  # place of the normal component in a node's three-vectors
ZERO = (0.0, 0.0)


@inline
def node_motion_flat(tree, ws, i):
    """Motion of node i from that of its parent (`motion.move`)."""
    node, local, p = ws.node, ws.local, tree.parent[i]
    turn = node[p, N_R], node[p, N_R + 3]
    w, al = node[p, N_W + Z], node[p, N_AL + Z]
    if tree.kind[i] != FIXED:
        o = tree.record_at[i]
        r = times(turn, get2(local, o + RHO))
        p1, p2 = times(turn, get2(local, o + RHO + JET)), times(turn, get2(local, o + RHO + JET + JET))
        r1 = add2(swing(w, r), p1)
        r2 = add2(add2(swing(al, r), p2), add2(scale2(-w * w, r), swing(2.0 * w, p1)))
        turn = times(turn, (local[o + TURN], local[o + TURN + SINE]))
        store2(node, i, N_R, (turn[0], -turn[1]))
        store2(node, i, N_R + 3, (turn[1], turn[0]))
        w += local[o + SPIN + NORMAL]
        al += local[o + SPIN + JET + NORMAL]
    else:
        r = times(turn, load2(tree.fixed, i, 9))
        r1 = swing(w, r)
        r2 = add2(swing(al, r), scale2(-w * w, r))
        for k in range(3):  # a frame on which nothing hangs may point anywhere, off the plane
            e = times(turn, (tree.fixed[i, k], tree.fixed[i, 3 + k]))
            node[i, N_R + k], node[i, N_R + 3 + k], node[i, N_R + 6 + k] = e[0], e[1], tree.fixed[i, 6 + k]
        node[i, N_R0 + Z] = tree.fixed[i, 9 + Z]
        node[i, N_X + Z] = node[p, N_X + Z] + tree.fixed[i, 9 + Z]
    store2(node, i, N_R0, r)
    store2(node, i, N_R1, r1)
    store2(node, i, N_R2, r2)
    node[i, N_W + Z], node[i, N_AL + Z] = w, al
    store2(node, i, N_X, add2(load2(node, p, N_X), r))
    store2(node, i, N_V, add2(load2(node, p, N_V), r1))
    store2(node, i, N_A, add2(load2(node, p, N_A), r2))


@inline
def node_inertia_flat(tree, ws, i, gravity):
    """Inertia force and moment of node i (`forces.inertia_and_gravity`)."""
    node, m = ws.node, tree.mass[i]
    moment = tree.turning[i] * node[i, N_AL + Z]
    node[i, N_F], node[i, N_F + 1] = m * (node[i, N_A] - gravity[0]), m * (node[i, N_A + 1] - gravity[1])
    node[i, N_MI + Z], node[i, N_M + Z] = moment, moment


@inline
def node_wrench_flat(tree, ws, i):
    """Wrench of node i on its link, and carried to its parent (`forces.carry_up`)."""
    node, local, p = ws.node, ws.local, tree.parent[i]
    force, moment = load2(node, i, N_F), node[i, N_M + Z]
    if tree.kind[i] != FIXED:
        o = tree.record_at[i] + WRENCH
        local[o + NORMAL] = moment
        put2(local, o + JET, back((node[p, N_R], node[p, N_R + 3]), force))
    node[p, N_M + Z] += moment + cross2(load2(node, i, N_R0), force)
    store2(node, p, N_F, add2(load2(node, p, N_F), force))


@inline
def frame_flat(tree, ws, i):
    """Motion of the parent of a rod link, for its Jacobian (`tangent.linearise_locally`)."""
    node, jets, p = ws.node, ws.jets, tree.parent[i]
    o = ws.jets_at[i] + FRAME
    jets[o], jets[o + SINE] = node[p, N_R], node[p, N_R + 3]
    jets[o + NINE + NORMAL], jets[o + RATE + NORMAL] = node[p, N_W + Z], node[p, N_AL + Z]


@inline
def _lay_motion(a, c, th0, th1, th2, p2, dr, mass, inertia):
    """Columns at a node, and of its inertia force and moment; zeros where strain-force columns have been."""
    lay(a, c + TH0 + NORMAL, th0)
    lay2(a, c + TH1, ZERO)
    lay(a, c + TH1 + NORMAL, th1)
    lay2(a, c + TH2, ZERO)
    lay(a, c + TH2 + NORMAL, th2)
    lay2(a, c + P2, p2)
    lay2(a, c + DR, dr)
    lay2(a, c + DF, scale2(mass, p2))
    lay(a, c + DM + NORMAL, inertia * th2)


@inline
def _carry(a, p, c, r0, r1, r2, mass, inertia):
    """Columns at record c from those at record p, one link vector further."""
    th0, th1, th2 = take(a, p + TH0 + NORMAL), take(a, p + TH1 + NORMAL), take(a, p + TH2 + NORMAL)
    p2 = add2(take2(a, p + P2), add2(swing(th2, r0), add2(swing(2.0 * th1, r1), swing(th0, r2))))
    _lay_motion(a, c, th0, th1, th2, p2, swing(th0, r0), mass, inertia)


@inline
def _carry_own(a, p, c, one, two, r0, r1, r2, mass, inertia):
    """The same along an interval, for columns that move the interval itself."""
    qa0, qa1, qa2, ua0, ua2 = one
    qb0, qb1, qb2, ub0, ub2 = two
    phi, psi = take(a, c + PHI), take(a, c + PSI)
    th0, th1, th2 = take(a, p + TH0 + NORMAL), take(a, p + TH1 + NORMAL), take(a, p + TH2 + NORMAL)
    dr = add2(swing(th0, r0), axpy2(phi, ua0, scale2(psi, ub0)))
    p2 = add2(take2(a, p + P2), add2(swing(th2, r0), add2(swing(2.0 * th1, r1), swing(th0, r2))))
    p2 = axpy2(phi, ua2, axpy2(psi, ub2, p2))
    th0, th1, th2 = th0 + phi * qa0 + psi * qb0, th1 + phi * qa1 + psi * qb1, th2 + phi * qa2 + psi * qb2
    _lay_motion(a, c, th0, th1, th2, p2, dr, mass, inertia)


@inline
def _plane_column(a, o, k):
    """In-plane part of column k of the 3x3 matrix at field offset o."""
    at = o + FOUR * U(k)
    return a[at], a[at + SINE]


@inline
def _strain_columns(jets, o, strain):
    """Q0 Q1 Q2 U0 U2 of one strain at one Gauss point (record offset o)."""
    k = strain % 3
    if strain < 3:
        at = FOUR * U(6 + k)  # row z, column k
        q0, q1, q2 = jets[o + Q0 + at], jets[o + Q1 + at], jets[o + Q2 + at]
        return q0, q1, q2, _plane_column(jets, o + U0, k), _plane_column(jets, o + U2, k)
    return 0.0, 0.0, 0.0, _plane_column(jets, o + Q0, k), _plane_column(jets, o + Q2, k)


@part
def node_columns_flat(tree, ws, i, p, c, strain):
    """Columns of node i at record c from those at record p (`tangent.columns_down`); strain < 0: none that moves link i."""
    node, jets, columns = ws.node, ws.jets, ws.columns
    r0, r1, r2 = load2(node, i, N_R0), load2(node, i, N_R1), load2(node, i, N_R2)
    if strain >= 0:
        o = ws.jets_at[i] + JACOBIAN
        one, two = _strain_columns(jets, o, strain), _strain_columns(jets, o + GAUSS_2, strain)
        _carry_own(columns, p, c, one, two, r0, r1, r2, tree.mass[i], tree.turning[i])
    else:
        _carry(columns, p, c, r0, r1, r2, tree.mass[i], tree.turning[i])


@inline
def node_wrench_columns_flat(ws, i, p, c):
    """Wrench columns of node i at record c, on its link and carried to record p of its parent (`tangent.columns_up`)."""
    node, columns = ws.node, ws.columns
    force, r = load2(node, i, N_F), load2(node, i, N_R0)
    th0, df, dm = take(columns, p + TH0 + NORMAL), take2(columns, c + DF), take(columns, c + DM + NORMAL)
    lay(columns, c + BX + NORMAL, dm)
    lay2(columns, c + BY, axpy2(-1.0, swing(th0, force), df))
    dm = dm + cross2(take2(columns, c + DR), force) + cross2(r, df)
    lay(columns, p + DM + NORMAL, take(columns, p + DM + NORMAL) + dm)
    lay2(columns, p + DF, add2(take2(columns, p + DF), df))


@inline
def strain_rows_flat(jets, a, o, c, g, row):
    """Strain-force columns of one strain at record g, without Hessian: Q0 . dMo + U0 . (dF - Theta0 x F)."""
    q1, _, _, u1, _ = _strain_columns(jets, o + JACOBIAN, row)
    q2, _, _, u2, _ = _strain_columns(jets, o + JACOBIAN + GAUSS_2, row)
    x, y = take(a, c + BX + NORMAL), take2(a, c + BY)
    lay(a, g + G1, q1 * x + dot2(u1, y))
    lay(a, g + G2, q2 * x + dot2(u2, y))
