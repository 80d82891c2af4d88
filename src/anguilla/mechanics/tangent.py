"""The exact tangent of the recursion: columns down the tree, rows up the tree (004 (48)-(58)).

In world axes the rotation column Theta of a node is a plain sum over the links above it, and with dv = alpha dq,
da = beta dq (the time integrator) its time derivatives Theta', Theta'' are columns too. Everything else is linear in
them. The tangent is affine in (alpha, beta): T = K + alpha C + beta M.
"""

from __future__ import annotations

from anguilla._jit import inline, kernel
from anguilla.mechanics import packs
from anguilla.mechanics.packs import U
from anguilla.mechanics.rodmap import (
    L_R,
    MAGNUS,
    differential_jets,
    hessian_pair,
    magnus_column,
    wrench_gradients,
    wrench_to_strains,
)
from anguilla.mechanics.tree import (
    DF,
    DM,
    DR,
    N_AL,
    N_F,
    N_M,
    N_MI,
    N_R,
    N_W,
    P0,
    P1,
    P2,
    PACK_SIZE,
    ROD,
    TH0,
    TH1,
    TH2,
)
from anguilla.mechanics.vec import (
    add,
    axpy,
    cross_columns,
    dot,
    iso_hat,
    load3,
    load9,
    madd,
    matmul,
    matvec,
    maxpy,
    scale,
    store3,
    tmatvec,
)

ZERO_PACK = (0.0, 0.0, 0.0, 0.0)
ZERO_VEC = (ZERO_PACK, ZERO_PACK, ZERO_PACK)


@inline
def _world_jets(rotation, w, al, x0, x1, x2, alpha, beta):
    """R X and its two time derivatives, with the integrator's alpha and beta folded in."""
    y0, p1 = matmul(rotation, x0), matmul(rotation, x1)
    wy = cross_columns(w, y0)
    y1 = madd(wy, p1)
    y2 = madd(cross_columns(al, y0), madd(cross_columns(w, maxpy(2.0, p1, wy)), matmul(rotation, x2)))
    return y0, maxpy(alpha, y0, y1), maxpy(2.0 * alpha, y1, maxpy(beta, y0, y2))


@kernel
def link_jacobian(tree, ws, i, alpha, beta):
    """Q0 Q1 Q2 (rotation) and U0 U1 U2 (translation) of every active strain at both Gauss points of rod link i."""
    node, link, jacobian = ws.node, ws.link, ws.jacobian
    p, s = tree.parent[i], tree.segment[i]
    h2, c = 0.5 * tree.length[i], MAGNUS * tree.length[i] ** 2
    rotation, w, al = load9(node, p, N_R), load3(node, p, N_W), load3(node, p, N_AL)
    t0, t1, t2, n0, n1, n2 = differential_jets(link, i)
    w0, w1, w2 = _world_jets(rotation, w, al, t0, t1, t2, alpha, beta)
    v0, v1, v2 = _world_jets(rotation, w, al, n0, n1, n2, alpha, beta)
    for gauss in range(2):
        o = 6 * (1 - gauss)  # the other Gauss point
        k0, g0 = load3(link, i, o), load3(link, i, o + 3)
        k1, g1 = load3(link, i, o + 12), load3(link, i, o + 15)
        k2, g2 = load3(link, i, o + 24), load3(link, i, o + 27)
        for slot in range(tree.strain_count[s]):
            strain = tree.strains[s, slot]
            at = 12 * i + 2 * slot + gauss
            c0, d0 = magnus_column(strain, gauss, h2, c, k0, g0)
            c1, d1 = magnus_column(strain, gauss, 0.0, c, k1, g1)
            c2, d2 = magnus_column(strain, gauss, 0.0, c, k2, g2)
            # U_j: jets of N C + T D
            u0 = matvec(w0, d0)
            u1 = add(matvec(w1, d0), matvec(w0, d1))
            u2 = add(matvec(w2, d0), add(scale(2.0, matvec(w1, d1)), matvec(w0, d2)))
            if strain < 3:
                # Q_j: jets of T C
                store3(jacobian, at, 0, matvec(w0, c0))
                store3(jacobian, at, 3, add(matvec(w1, c0), matvec(w0, c1)))
                store3(jacobian, at, 6, add(matvec(w2, c0), axpy(2.0, matvec(w1, c1), matvec(w0, c2))))
                u0 = add(u0, matvec(v0, c0))
                u1 = add(u1, add(matvec(v1, c0), matvec(v0, c1)))
                u2 = add(u2, add(matvec(v2, c0), axpy(2.0, matvec(v1, c1), matvec(v0, c2))))
            else:
                for k in range(9):
                    jacobian[at, k] = 0.0
            store3(jacobian, at, 9, u0)
            store3(jacobian, at, 12, u1)
            store3(jacobian, at, 15, u2)


@inline
def _inertia_matrices(tree, node, i):
    """World inertia I and gyroscopic matrix G = [w] I - I [w] - [I w] of node i."""
    r = load9(node, i, N_R)
    j1, j2, j3 = load3(tree.inertia, i, 0)
    rj = (r[0] * j1, r[1] * j2, r[2] * j3, r[3] * j1, r[4] * j2, r[5] * j3, r[6] * j1, r[7] * j2, r[8] * j3)
    inertia = matmul(rj, (r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]))
    w = load3(node, i, N_W)
    spin = iso_hat(0.0, 1.0, w)
    gyro = maxpy(-1.0, matmul(inertia, spin), matmul(spin, inertia))
    return inertia, maxpy(-1.0, iso_hat(0.0, 1.0, matvec(inertia, w)), gyro)


@kernel
def columns_down(tree, ws, i, alpha, beta, with_positions):
    """Columns of node i's motion from its parent's, and of its inertia force and moment."""
    node, link, columns, jacobian = ws.node, ws.link, ws.columns, ws.jacobian
    p, s = tree.parent[i], tree.segment[i]
    path, own = tree.path_packs[s], tree.own_packs[s]
    is_rod = tree.kind[i] == ROD
    same = tree.segment[p] == s
    r, r1, r2 = load3(link, i, L_R), scale(2.0, load3(link, i, L_R + 3)), load3(link, i, L_R + 6)
    mass, mi = tree.mass[i], load3(node, i, N_MI)
    inertia, gyro = _inertia_matrices(tree, node, i)
    if is_rod:
        link_jacobian(tree, ws, i, alpha, beta)
    at_p, at_i = tree.columns_at[p], tree.columns_at[i]
    basis1 = U(tree.basis_at[i])
    basis2 = basis1 + U(4 * own)
    for k in range(path + own):
        o, c = at_p + U(k) * PACK_SIZE, at_i + U(k) * PACK_SIZE
        mine = k >= path
        th0, th1, th2, p0, p1, p2 = ZERO_VEC, ZERO_VEC, ZERO_VEC, ZERO_VEC, ZERO_VEC, ZERO_VEC
        dr = ZERO_VEC
        if same or not mine:
            th0 = packs.load_vec(columns, o + TH0)
            th1 = packs.load_vec(columns, o + TH1)
            th2 = packs.load_vec(columns, o + TH2)
            # P2 += Theta2 x r + 2 Theta1 x r' + Theta0 x r''
            p2 = packs.add_cross(th0, r2, packs.load_vec(columns, o + P2))
            p2 = packs.add_cross(th2, r, packs.add_cross(th1, r1, p2))
            dr = packs.cross(th0, r)
            if with_positions:
                p0 = packs.plus_vec(packs.load_vec(columns, o + P0), dr)
                p1 = packs.add_cross(th0, scale(0.5, r1), packs.load_vec(columns, o + P1))
                p1 = packs.add_cross(th1, r, p1)
        if mine and is_rod:
            b = 12 * i + 2 * tree.pack_slot[tree.own_pack[s] + k - path]
            phi = packs.load(tree.basis, basis1 + U(4 * (k - path)))
            psi = packs.load(tree.basis, basis2 + U(4 * (k - path)))
            th0 = packs.add_scaled(load3(jacobian, b, 0), phi, packs.add_scaled(load3(jacobian, b + 1, 0), psi, th0))
            th1 = packs.add_scaled(load3(jacobian, b, 3), phi, packs.add_scaled(load3(jacobian, b + 1, 3), psi, th1))
            th2 = packs.add_scaled(load3(jacobian, b, 6), phi, packs.add_scaled(load3(jacobian, b + 1, 6), psi, th2))
            own0 = packs.add_scaled(
                load3(jacobian, b, 9), phi, packs.add_scaled(load3(jacobian, b + 1, 9), psi, ZERO_VEC)
            )
            dr = packs.plus_vec(dr, own0)
            p2 = packs.add_scaled(load3(jacobian, b, 15), phi, packs.add_scaled(load3(jacobian, b + 1, 15), psi, p2))
            if with_positions:
                p0 = packs.plus_vec(p0, own0)
                p1 = packs.add_scaled(
                    load3(jacobian, b, 12), phi, packs.add_scaled(load3(jacobian, b + 1, 12), psi, p1)
                )
        packs.store_vec(columns, c + TH0, th0)
        packs.store_vec(columns, c + TH1, th1)
        packs.store_vec(columns, c + TH2, th2)
        packs.store_vec(columns, c + P2, p2)
        packs.store_vec(columns, c + DR, dr)
        if with_positions:
            packs.store_vec(columns, c + P0, p0)
            packs.store_vec(columns, c + P1, p1)
        # df = m P2 ;  dmo = I Theta2 + G Theta1 + Theta0 x mo
        packs.store_vec(columns, c + DF, packs.scale_vec(mass, p2))
        dm = packs.add_matvec(inertia, th2, packs.add_matvec(gyro, th1, packs.cross(th0, mi)))
        packs.store_vec(columns, c + DM, dm)
    for k in range(path + own, path + tree.sub_packs[s]):  # nothing above depends on coordinates further down
        c = at_i + U(k) * PACK_SIZE
        packs.store_vec(columns, c + DF, ZERO_VEC)
        packs.store_vec(columns, c + DM, ZERO_VEC)


@inline
def _link_hessian(tree, ws, i, hessian):
    """Second derivative block of link i: d/du of its strain forces with the child's wrench frozen, active strains only.

    H = C^T (B C + X^T D) + D^T X C + (the constant curvature of the Magnus formula).
    """
    node, link = ws.node, ws.link
    p, s = tree.parent[i], tree.segment[i]
    h2, c = 0.5 * tree.length[i], MAGNUS * tree.length[i] ** 2
    rotation = load9(node, p, N_R)
    moment, force = tmatvec(rotation, load3(node, i, N_M)), tmatvec(rotation, load3(node, i, N_F))
    b, x = wrench_gradients(link, i, moment, force)
    y, z = wrench_to_strains(link, i, moment, force)
    count = 2 * tree.strain_count[s]
    for col in range(count):
        gauss, strain = col % 2, tree.strains[s, col // 2]
        o = 6 * (1 - gauss)
        cj, dj = magnus_column(strain, gauss, h2, c, load3(link, i, o), load3(link, i, o + 3))
        bj, xj = add(matvec(b, cj), tmatvec(x, dj)), matvec(x, cj)
        for row in range(count):
            gauss_r, strain_r = row % 2, tree.strains[s, row // 2]
            o = 6 * (1 - gauss_r)
            ci, di = magnus_column(strain_r, gauss_r, h2, c, load3(link, i, o), load3(link, i, o + 3))
            value = dot(ci, bj) + dot(di, xj)
            if gauss_r == 0 and gauss == 1:
                value += hessian_pair(strain_r, strain, y, z, c)
            elif gauss_r == 1 and gauss == 0:
                value += hessian_pair(strain, strain_r, y, z, c)
            hessian[row, col] = value


@kernel
def rows_up(tree, ws, i, hessian):
    """Tangent rows of link i, then its wrench columns are carried to the parent."""
    node, link, columns, jacobian, matrix = ws.node, ws.link, ws.columns, ws.jacobian, ws.matrix
    p, s = tree.parent[i], tree.segment[i]
    path, own, sub = tree.path_packs[s], tree.own_packs[s], tree.sub_packs[s]
    same = tree.segment[p] == s
    is_rod = tree.kind[i] == ROD
    parent_path = tree.path_packs[tree.segment[p]]
    shift = tree.own_pack[s] - tree.own_pack[tree.segment[p]]
    force, moment, r = load3(node, i, N_F), load3(node, i, N_M), load3(link, i, L_R)
    at_p, at_i = tree.columns_at[p], tree.columns_at[i]
    first = 4 * tree.own_pack[s]
    width = 4 * len(tree.pack_slot)
    basis1 = tree.basis_at[i]
    basis2 = basis1 + 4 * own
    if is_rod:
        _link_hessian(tree, ws, i, hessian)
    for k in range(path + sub):
        c = at_i + U(k) * PACK_SIZE
        df, dm = packs.load_vec(columns, c + DF), packs.load_vec(columns, c + DM)
        if is_rod:
            x, y = dm, df
            if k < path or (same and k < path + own):
                th0 = packs.load_vec(columns, at_p + U(k) * PACK_SIZE + TH0)
                x = packs.add_cross(th0, scale(-1.0, moment), x)
                y = packs.add_cross(th0, scale(-1.0, force), y)
            mine = path <= k < path + own
            col = tree.path[tree.path_at[s] + k] if k < path else tree.own_pack[s] + k - path
            phi, psi, b = ZERO_PACK, ZERO_PACK, 0
            if mine:
                b = 2 * tree.pack_slot[col]
                phi = packs.load(tree.basis, U(basis1 + 4 * (k - path)))
                psi = packs.load(tree.basis, U(basis2 + 4 * (k - path)))
            q = 0
            for slot in range(tree.strain_count[s]):
                j = 12 * i + 2 * slot
                g1 = packs.add_dot(load3(jacobian, j, 0), x, packs.dot(load3(jacobian, j, 9), y))
                g2 = packs.add_dot(load3(jacobian, j + 1, 0), x, packs.dot(load3(jacobian, j + 1, 9), y))
                if mine:
                    a = 2 * slot
                    g1 = packs.fma(hessian[a, b], phi, packs.fma(hessian[a, b + 1], psi, g1))
                    g2 = packs.fma(hessian[a + 1, b], phi, packs.fma(hessian[a + 1, b + 1], psi, g2))
                while q < own and tree.pack_slot[tree.own_pack[s] + q] == slot:
                    for l in range(4 * q, 4 * q + 4):
                        m = U((first + l) * width + 4 * col)
                        total = packs.fma(tree.basis[basis1 + l], g1, packs.load(matrix, m))
                        packs.store(matrix, m, packs.fma(tree.basis[basis2 + l], g2, total))
                    q += 1
        if p > 0:
            # dMo += dMo + dr x F + r x dF ;  dF += dF
            if k < path + own:
                dr = packs.load_vec(columns, c + DR)
                dm = packs.add_cross(dr, force, dm)
            dm = packs.add_cross(df, scale(-1.0, r), dm)
            k_parent = k if (same or k < path) else k - path + parent_path + shift
            o = at_p + U(k_parent) * PACK_SIZE
            packs.store_vec(columns, o + DF, packs.plus_vec(packs.load_vec(columns, o + DF), df))
            packs.store_vec(columns, o + DM, packs.plus_vec(packs.load_vec(columns, o + DM), dm))


@kernel
def add_elastic_tangent(tree, ws, alpha):
    """Matrix += (1 + alpha mu) K of every rod."""
    matrix = ws.matrix
    width = 4 * len(tree.pack_slot)
    for s in range(len(tree.first)):
        own, start, at = 4 * tree.own_packs[s], 4 * tree.own_pack[s], tree.stiffness_at[s]
        factor = 1.0 + alpha * tree.viscosity[s]
        for i in range(own):
            for j in range(own):
                matrix[(start + i) * width + start + j] += factor * tree.stiffness[at + i * own + j]


