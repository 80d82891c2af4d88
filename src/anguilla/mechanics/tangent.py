"""The exact tangent of the recursion: columns down the tree, rows up the tree (004 (48)-(58)).

In world axes the rotation column Theta of a node is a plain sum over the links above it, and with dv = alpha dq,
da = beta dq (the time integrator) its time derivatives Theta', Theta'' are columns too. Everything else is linear in
them. The tangent is affine in (alpha, beta): T = K + alpha C + beta M.
"""

from __future__ import annotations

from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import FOUR, U, get_column, put3, put9
from anguilla.compiler.simd import lay, lay3, spread, take, take3
from anguilla.mechanics.flat import frame_flat, node_columns_flat, node_wrench_columns_flat, strain_rows_flat
from anguilla.mechanics.flatmap import flat_hessian, flat_jacobian
from anguilla.mechanics.joints import ball_jacobian, joint_jacobian
from anguilla.mechanics.relaxing import stiffening
from anguilla.mechanics.rodmap import (
    FRAME,
    GAUSS_2,
    GG,
    GK,
    HESSIAN,
    JACOBIAN,
    JETS,
    KG,
    KK,
    NINE,
    PAIR,
    Q0,
    Q1,
    Q2,
    RATE,
    RECORD,
    U0,
    U1,
    U2,
    rod_hessian,
    rod_jacobian,
)
from anguilla.mechanics.tree import (
    BALL,
    BX,
    BY,
    COLUMN_FIELDS,
    DF,
    DM,
    DR,
    F_P0,
    F_P2,
    FACE,
    FACE_PACKS,
    FIXED,
    G1,
    G2,
    JOINT,
    MOTION_FIELDS,
    N_AL,
    N_F,
    N_M,
    N_MI,
    N_R,
    N_R0,
    N_R1,
    N_R2,
    N_W,
    NARROW,
    P0,
    P1,
    P2,
    PACK_SIZE,
    PHI,
    PLACE_SIZE,
    PSI,
    ROD,
    T_G,
    T_I,
    TH0,
    TH1,
    TH2,
)
from anguilla.mechanics.vec import (
    add,
    axpy,
    cross,
    dot,
    iso_hat,
    load3,
    load9,
    matmul,
    matvec,
    maxpy,
    scale,
    store9,
    sub,
    transpose,
)

ZERO = (0.0, 0.0, 0.0)
GROUP = U(8)  # two fields: the strain-force columns of one active strain


@inline
def block_width(tree, b):
    """Lanes of the columns of block b."""
    return 4 * (tree.face[b] + tree.packs[b])


@part
def columns_of(tree, s, k, i):
    """Offset of the columns of pack k (in the segment's own order) at node i of segment s."""
    count = tree.last[s] - tree.first[s] + 1
    return tree.columns_at[s] + U(k * count + i - tree.first[s]) * PACK_SIZE


@part
def places_of(tree, s, k, i):
    """Offset of the places of pack k (in the segment's own order) at node i of segment s."""
    return columns_of(tree, s, k, i) // PACK_SIZE * PLACE_SIZE


@inline
def _turning_inertia(tree, ws, i):
    """World inertia of node i, and its gyroscopic matrix."""
    node = ws.node
    r, w = load9(node, i, N_R), load3(node, i, N_W)
    j1, j2, j3 = load3(tree.inertia, i, 0)
    rj = (r[0] * j1, r[1] * j2, r[2] * j3, r[3] * j1, r[4] * j2, r[5] * j3, r[6] * j1, r[7] * j2, r[8] * j3)
    inertia = matmul(rj, transpose(r))
    spin = iso_hat(0.0, 1.0, w)
    gyro = maxpy(-1.0, matmul(inertia, spin), matmul(spin, inertia))
    at = ws.turning_at[i]
    store9(ws.turning, at, T_I, inertia)
    store9(ws.turning, at, T_G, maxpy(-1.0, iso_hat(0.0, 1.0, matvec(inertia, w)), gyro))


@inline
def _frame(tree, ws, i):
    """Motion of the parent of a rod link, for its Jacobian."""
    node, jets, p = ws.node, ws.jets, tree.parent[i]
    o = ws.jets_at[i] + FRAME
    put9(jets, o, load9(node, p, N_R))
    put3(jets, o + NINE, load3(node, p, N_W))
    put3(jets, o + RATE, load3(node, p, N_AL))


@part
def linearise_locally(tree, ws, alpha, beta, first, last, record, end):
    """What the columns need of nodes first..last - 1 and of records record..end - 1: inertia, Jacobian jets, Hessians."""
    local, jets, flat = ws.local, ws.jets, tree.flat[0] == 1
    for i in range(first, last):
        if not flat:
            _turning_inertia(tree, ws, i)
        if tree.kind[i] == ROD and flat:
            frame_flat(tree, ws, i)
        elif tree.kind[i] == ROD:
            _frame(tree, ws, i)
    for chunk in range(record, end):
        at, into = U(chunk) * U(RECORD), U(chunk % ws.ring[0]) * U(JETS)
        if flat:
            flat_jacobian(local, at, jets, into, alpha, beta)
            flat_hessian(local, at, jets, into)
        else:
            rod_jacobian(local, at, jets, into, alpha, beta)
            rod_hessian(local, at, jets, into)
    for i in range(first, last):
        if tree.kind[i] == JOINT:
            joint_jacobian(tree, ws, i, alpha, beta)
        elif tree.kind[i] == BALL:
            ball_jacobian(tree, ws, i, alpha, beta)


@inline
def _lay_motion(a, c, th0, th1, th2, p2, dr, mass, inertia, gyro, moment):
    """Columns of a node, and of its inertia force and moment: df = m P2, dmo = I Theta2 + G Theta1 + Theta0 x mo."""
    lay3(a, c + TH0, th0)
    lay3(a, c + TH1, th1)
    lay3(a, c + TH2, th2)
    lay3(a, c + P2, p2)
    lay3(a, c + DR, dr)
    lay3(a, c + DF, scale(mass, p2))
    lay3(a, c + DM, add(add(matvec(inertia, th2), matvec(gyro, th1)), cross(th0, moment)))


@part
def _node_columns(tree, ws, i, p, c, strain):
    """Columns of node i at record c from those at record p of its parent; strain < 0: they do not move link i itself."""
    node, jets, a = ws.node, ws.jets, ws.columns
    r0, r1, r2 = load3(node, i, N_R0), load3(node, i, N_R1), load3(node, i, N_R2)
    at = ws.turning_at[i]
    body = tree.mass[i], load9(ws.turning, at, T_I), load9(ws.turning, at, T_G), load3(node, i, N_MI)
    th0, th1, th2 = take3(a, p + TH0), take3(a, p + TH1), take3(a, p + TH2)
    # P2 += Theta2 x r + 2 Theta1 x r' + Theta0 x r''
    dr = cross(th0, r0)
    p2 = add(take3(a, p + P2), add(cross(th2, r0), axpy(2.0, cross(th1, r1), cross(th0, r2))))
    if strain >= 0:  # Theta_j += Q_j Psi ;  P2 += U2 Psi
        o = ws.jets_at[i] + JACOBIAN
        phi, psi = take(a, c + PHI), take(a, c + PSI)
        qa0, qa1, qa2, ua0, ua2 = _strain_columns(jets, o, strain)
        qb0, qb1, qb2, ub0, ub2 = _strain_columns(jets, o + GAUSS_2, strain)
        dr = add(dr, axpy(phi, ua0, scale(psi, ub0)))
        p2 = axpy(phi, ua2, axpy(psi, ub2, p2))
        th0 = axpy(phi, qa0, axpy(psi, qb0, th0))
        th1 = axpy(phi, qa1, axpy(psi, qb1, th1))
        th2 = axpy(phi, qa2, axpy(psi, qb2, th2))
    _lay_motion(a, c, th0, th1, th2, p2, dr, *body)


@inline
def _strain_columns(jets, o, strain):
    """Q0 Q1 Q2 U0 U2 of one strain at one Gauss point (record offset o)."""
    k = strain % 3
    q0, q1, q2 = get_column(jets, o + Q0, k), get_column(jets, o + Q1, k), get_column(jets, o + Q2, k)
    if strain < 3:
        return q0, q1, q2, get_column(jets, o + U0, k), get_column(jets, o + U2, k)
    return ZERO, ZERO, ZERO, q0, q2


@inline
def begins(tree, s):
    """Whether segment s begins a block with a face."""
    b = tree.block[s]
    return tree.root[b] == s and tree.face[b] > 0


@inline
def matters(tree, s, k):
    """Whether pack k of segment s matters where nothing depends on places: the last packs of a face do not."""
    return k >= FACE_PACKS or k < NARROW or tree.face[tree.block[s]] == 0


@part
def keep_port(tree, ws, b, wide):
    """Keep the motion of the face of block b, as columns of the block that it hangs on; those that matter (`matters`)."""
    s = tree.root[b]
    parent, columns, places, ports = tree.parent[tree.first[s]], ws.columns, ws.places, ws.ports
    h = tree.segment[parent]
    hb = tree.block[h]
    width, path = U(block_width(tree, hb)), tree.path_packs[h]
    for k in range(path + tree.own_packs[h]):
        col = tree.path[tree.path_at[h] + k] if k < path else tree.face[hb] + tree.own_at[h] + k - path
        c, o, into = columns_of(tree, h, k, parent), places_of(tree, h, k, parent), U(tree.port_at[b] + 4 * col)
        if not (wide or matters(tree, h, k)):  # what lies there is of another block; here it stays zero
            continue
        for x in range(U(12)):  # TH0, TH1, TH2, P2
            lay(ports, into + x * width, take(columns, c + FOUR * x))
        for x in range(U(6)):  # P0, P1
            lay(ports, into + (U(12) + x) * width, take(places, o + FOUR * x))


@part
def _lay_face(tree, ws, c, o, k):
    """Columns of the motion of a face, pack k of it, at records c and, of places, o: a lane is one number of that motion."""
    for j in range(MOTION_FIELDS):
        ws.columns[c + U(j)] = 0.0
    for j in range(PLACE_SIZE):
        ws.places[o + U(j)] = 0.0
    for l in range(4):
        lane = 4 * k + l
        x, spins = lane % 3, lane < F_P2
        if lane < FACE and (tree.flat[0] == 0 or (x == 2) == spins):  # a flat robot turns about z and moves in x and y
            at = U(4 * x + l)
            if lane < F_P0:
                ws.columns[c + U(12 * (lane // 3)) + at] = 1.0  # TH0, TH1, TH2, P2 follow each other
            else:
                ws.places[o + U(12 * (lane // 3 - 4)) + at] = 1.0


@part
def columns_down(tree, ws, s, k):
    """Columns of pack k along segment s, from its root to its last node."""
    columns, flat = ws.columns, tree.flat[0] == 1
    path, own = tree.path_packs[s], tree.own_packs[s]
    first = tree.first[s]
    c = columns_of(tree, s, k, first)
    if k < path and begins(tree, s):
        _lay_face(tree, ws, c, places_of(tree, s, k, first), k)
    elif k < path:  # the columns of the frame that the segment hangs on
        parent = tree.parent[first]
        o = columns_of(tree, tree.segment[parent], k, parent)
        for j in range(MOTION_FIELDS):
            columns[c + U(j)] = columns[o + U(j)]
    else:
        for j in range(MOTION_FIELDS):
            columns[c + U(j)] = 0.0
    own_strain = -1
    if path <= k < path + own:
        own_strain = tree.strains[s, tree.pack_slot[tree.own_pack[s] + k - path]]
    p, cut = c, len(tree.root) > 1
    for i in range(first, tree.last[s] + 1):
        strain = own_strain if i > first and tree.kind[i] != FIXED else -1
        if cut and strain >= 0:  # constant, but blocks share their memory
            at = tree.basis_at[i] + 4 * (k - path)
            lay(columns, c + PHI, take(tree.basis, at))
            lay(columns, c + PSI, take(tree.basis, at + 4 * own))
        if flat:
            node_columns_flat(tree, ws, i, p, c, strain)
        else:
            _node_columns(tree, ws, i, p, c, strain)
        p, c = c, c + PACK_SIZE


@inline
def _rate_column(jets, o, strain):
    """U1 of one strain at one Gauss point (record offset o)."""
    return get_column(jets, o + (U1 if strain < 3 else Q1), strain % 3)


@part
def places_down(tree, ws, s, k):
    """Columns of position and velocity of pack k along segment s: P0 += dr, P1 += Theta1 x r + Theta0 x r' + U1 Psi."""
    node, jets, a, places = ws.node, ws.jets, ws.columns, ws.places
    path, own = tree.path_packs[s], tree.own_packs[s]
    first = tree.first[s]
    parent = tree.parent[first]
    zero = spread(0.0)
    before0, before1 = (zero, zero, zero), (zero, zero, zero)
    if k < path and begins(tree, s):
        o = places_of(tree, s, k, first)
        before0, before1 = take3(places, o + P0), take3(places, o + P1)
    elif k < path:
        o = places_of(tree, tree.segment[parent], k, parent)
        before0, before1 = take3(places, o + P0), take3(places, o + P1)
    for i in range(first, tree.last[s] + 1):
        c, o = columns_of(tree, s, k, i), places_of(tree, s, k, i)
        r0, r1 = load3(node, i, N_R0), load3(node, i, N_R1)
        above = c if i == first else c - PACK_SIZE  # a fixed link turns with its parent
        v = add(cross(take3(a, above + TH1), r0), cross(take3(a, above + TH0), r1))
        if i > first and tree.kind[i] != FIXED and path <= k < path + own:
            strain = tree.strains[s, tree.pack_slot[tree.own_pack[s] + k - path]]
            at = ws.jets_at[i] + JACOBIAN
            one, two = _rate_column(jets, at, strain), _rate_column(jets, at + GAUSS_2, strain)
            v = axpy(take(a, c + PHI), one, axpy(take(a, c + PSI), two, v))
        before0, before1 = add(before0, take3(a, c + DR)), add(before1, v)
        lay3(places, o + P0, before0)
        lay3(places, o + P1, before1)


@inline
def _hessian_entry(jets, o, row, col):
    """Hessian entry of one pair of Gauss points (record offset o) for strains row and col."""
    at = FOUR * U(3 * (row % 3) + col % 3)
    if row < 3:
        return jets[o + (KK if col < 3 else KG) + at]
    return jets[o + (GK if col < 3 else GG) + at]


@inline
def _node_wrench_columns(ws, i, p, c):
    """Wrench columns of node i at record c, on its link and carried to record p of its parent."""
    node, columns = ws.node, ws.columns
    force, moment, r = load3(node, i, N_F), load3(node, i, N_M), load3(node, i, N_R0)
    th0, df, dm = take3(columns, p + TH0), take3(columns, c + DF), take3(columns, c + DM)
    lay3(columns, c + BX, sub(dm, cross(th0, moment)))
    lay3(columns, c + BY, sub(df, cross(th0, force)))
    # dMo += dMo + dr x F + r x dF ;  dF += dF
    dm = add(dm, add(cross(take3(columns, c + DR), force), cross(r, df)))
    lay3(columns, p + DF, add(take3(columns, p + DF), df))
    lay3(columns, p + DM, add(take3(columns, p + DM), dm))


@inline
def _strain_rows(jets, a, o, c, g, row):
    """Strain-force columns of one strain at record g, without Hessian: Q0 . (dMo - Theta0 x Mo) + U0 . (dF - Theta0 x F)."""
    q1, _, _, u1, _ = _strain_columns(jets, o + JACOBIAN, row)
    q2, _, _, u2, _ = _strain_columns(jets, o + JACOBIAN + GAUSS_2, row)
    x, y = take3(a, c + BX), take3(a, c + BY)
    lay(a, g + G1, dot(q1, x) + dot(u1, y))
    lay(a, g + G2, dot(q2, x) + dot(u2, y))


@inline
def _add_hessian(jets, a, h, c, g, row, col):
    """Strain-force columns of one strain += Hessian x Psi, for columns of strain col."""
    h11, h12 = _hessian_entry(jets, h, row, col), _hessian_entry(jets, h + PAIR, row, col)
    h = h + PAIR + PAIR
    h21, h22 = _hessian_entry(jets, h, row, col), _hessian_entry(jets, h + PAIR, row, col)
    phi, psi = take(a, c + PHI), take(a, c + PSI)
    lay(a, g + G1, take(a, g + G1) + (h11 * phi + h12 * psi))
    lay(a, g + G2, take(a, g + G2) + (h21 * phi + h22 * psi))


@part
def _hand_over(tree, ws, s, k, c, roots, at):
    """Wrench columns of pack k at record c, the root of segment s, added to those of the node that it hangs on.

    Or kept, at `roots[at:]`, as what a block gives back. There pack k is column k: the path of its first segment is the face.
    """
    node, columns, path, first = ws.node, ws.columns, tree.path_packs[s], tree.first[s]
    parent = tree.parent[first]
    host = tree.segment[parent]
    cut, joins = begins(tree, s), parent > 0 and tree.block[s] == tree.block[host]
    if cut or joins:
        force, r = load3(node, first, N_F), load3(node, first, N_R0)
        df, dm = take3(columns, c + DF), take3(columns, c + DM)
        dm = add(dm, add(cross(take3(columns, c + DR), force), cross(r, df)))
        if cut:
            width, o = U(block_width(tree, tree.block[s])), U(at + 4 * k)
            for x in range(3):
                lay(roots, o + U(x) * width, dm[x])
                lay(roots, o + U(x + 3) * width, df[x])
        else:
            k_host = k if k < path else k - path + tree.path_packs[host] + tree.own_at[s] - tree.own_at[host]
            o = columns_of(tree, host, k_host, parent)
            lay3(columns, o + DF, add(take3(columns, o + DF), df))
            lay3(columns, o + DM, add(take3(columns, o + DM), dm))


@part
def columns_up(tree, ws, s, k, roots, at):
    """Wrench columns of pack k carried from the last node of segment s to its root, with the strain rows on the way.

    What the block of the segment gives back goes to `roots[at:]`.
    """
    jets, columns, flat = ws.jets, ws.columns, tree.flat[0] == 1
    path, own = tree.path_packs[s], tree.own_packs[s]
    own_strain = -1
    if path <= k < path + own:
        own_strain = tree.strains[s, tree.pack_slot[tree.own_pack[s] + k - path]]
    c = columns_of(tree, s, k, tree.last[s])
    for i in range(tree.last[s], tree.first[s], -1):
        p = c - PACK_SIZE
        if flat:
            node_wrench_columns_flat(ws, i, p, c)
        else:
            _node_wrench_columns(ws, i, p, c)
        if tree.kind[i] != FIXED:
            o = ws.jets_at[i]
            for slot in range(tree.strain_count[s]):
                row, g = tree.strains[s, slot], c + GROUP * U(slot)
                if flat:
                    strain_rows_flat(jets, columns, o, c, g, row)
                else:
                    _strain_rows(jets, columns, o, c, g, row)
                if own_strain >= 0:
                    _add_hessian(jets, columns, o + HESSIAN, c, g, row, own_strain)
        c = p
    _hand_over(tree, ws, s, k, c, roots, at)


@part
def clear_below(tree, ws, s, k):
    """Nothing in segment s moves with the coordinates of pack k, further down the tree: zero columns."""
    columns = ws.columns
    c = columns_of(tree, s, k, tree.first[s])
    for _ in range(tree.first[s], tree.last[s] + 1):
        for j in range(COLUMN_FIELDS):
            columns[c + U(j)] = 0.0
        c = c + PACK_SIZE


@part
def collect_rows(tree, ws, s, k, matrix, at):
    """Tangent rows of segment s, columns of pack k: the strain-force columns of all intervals, projected on the bases.

    The matrix of its block is at `matrix[at:]`.
    """
    columns, basis = ws.columns, tree.basis
    path, own, first, b = tree.path_packs[s], tree.own_packs[s], tree.own_pack[s], tree.block[s]
    width = block_width(tree, b)
    col = tree.path[tree.path_at[s] + k] if k < path else tree.face[b] + tree.own_at[s] + k - path
    root = columns_of(tree, s, k, tree.first[s])
    for q in range(own):
        c = root + GROUP * U(tree.pack_slot[first + q])
        x0, x1, x2, x3 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)  # rows of the four lanes of pack q
        for i in range(tree.first[s] + 1, tree.last[s] + 1):
            c = c + PACK_SIZE
            if tree.kind[i] != FIXED:
                one, two = take(columns, c + G1), take(columns, c + G2)
                u = tree.basis_at[i] + 4 * q
                v = u + 4 * own
                x0 = x0 + (basis[u] * one + basis[v] * two)
                x1 = x1 + (basis[u + 1] * one + basis[v + 1] * two)
                x2 = x2 + (basis[u + 2] * one + basis[v + 2] * two)
                x3 = x3 + (basis[u + 3] * one + basis[v + 3] * two)
        m = at + 4 * (tree.own_at[s] + q) * width + 4 * col
        lay(matrix, m, x0)
        lay(matrix, m + width, x1)
        lay(matrix, m + 2 * width, x2)
        lay(matrix, m + 3 * width, x3)


@part
def add_elastic_tangent(tree, relaxing, s, alpha, matrix, at):
    """Matrix += (1 + alpha mu) K of segment s, stiffer in a step if it relaxes, and the friction of its joint.

    The matrix of its block is at `matrix[at:]`.
    """
    b = tree.block[s]
    width = block_width(tree, b)
    own, source = 4 * tree.own_packs[s], tree.stiffness_at[s]
    start = at + 4 * tree.own_at[s] * width + 4 * (tree.face[b] + tree.own_at[s])
    factor = 1.0 + alpha * tree.viscosity[s] + stiffening(relaxing, s)
    for i in range(own):
        row = start + i * width
        for j in range(own):
            matrix[row + j] += factor * tree.stiffness[source + i * own + j]
        matrix[row + i] += alpha * tree.friction[4 * tree.own_pack[s] + i]
