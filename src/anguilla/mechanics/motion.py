"""Down the tree: poses, velocities and accelerations of every node (004 (39)-(41)), in world axes."""

from __future__ import annotations

from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import FOUR, LANES, U, get3, get9
from anguilla.compiler.simd import blend, lay, take
from anguilla.mechanics.flat import node_motion_flat
from anguilla.mechanics.flatmap import flat_motion
from anguilla.mechanics.joints import ball_motion, joint_motion
from anguilla.mechanics.rodmap import JET, MAX_ANGLE, OMEGA, RATE, RECORD, RHO, SIX, SPIN, TURN, rod_motion
from anguilla.mechanics.tree import BALL, FIXED, JOINT, N_A, N_AL, N_R, N_R0, N_R1, N_R2, N_V, N_W, N_X
from anguilla.mechanics.vec import add, axpy, cross, dot, load3, load9, matmul, matvec, store3, store9

STRAIN_FIELDS = 12 * LANES
BOTH = FOUR + FOUR  # values of a basis function at both Gauss points of four links


@part
def pad_coordinates(tree, ws, q, v, a):
    """Spread coordinates, rates and accelerations over the padded lanes."""
    padded, lanes = ws.padded, len(ws.rows)
    for k in range(len(q)):
        j = tree.lane[k]
        padded[j], padded[lanes + j], padded[2 * lanes + j] = q[k], v[k], a[k]


@inline
def _interval_strains(tree, ws, chunk):
    """u = u_prescribed + Psi q at the two Gauss points of four intervals, with rates and accelerations."""
    local, padded, value = ws.local, ws.padded, tree.term_value
    lanes, at, source = U(len(ws.rows)), chunk * RECORD, chunk * STRAIN_FIELDS
    for k in range(STRAIN_FIELDS):
        local[at + k] = tree.prescribed[source + k]
    for k in range(STRAIN_FIELDS, 3 * STRAIN_FIELDS):
        local[at + k] = 0.0
    for t in range(tree.term_at[chunk], tree.term_at[chunk + 1]):
        into, j, b = U(at) + tree.term[t, 0], tree.term[t, 1], tree.term[t, 2]
        for _ in range(3):
            lay(local, into, take(local, into) + blend(value, b, BOTH, padded, j))
            lay(local, into + SIX, take(local, into + SIX) + blend(value, b + FOUR, BOTH, padded, j))
            into, j = into + RATE, j + lanes


@inline
def _node_motion(tree, ws, i):
    """Motion of node i from that of its parent."""
    node, local, p = ws.node, ws.local, tree.parent[i]
    rotation = load9(node, p, N_R)
    w, al = load3(node, p, N_W), load3(node, p, N_AL)
    if tree.kind[i] != FIXED:
        o = tree.record_at[i]
        turn = get9(local, o + TURN)
        r = matvec(rotation, get3(local, o + RHO))
        p1, p2 = matvec(rotation, get3(local, o + RHO + JET)), matvec(rotation, get3(local, o + RHO + JET + JET))
        spin, rate = matvec(rotation, get3(local, o + SPIN)), matvec(rotation, get3(local, o + SPIN + JET))
        # r' = w x r + R rho' ;  r'' = al x r + w x (w x r + 2 R rho') + R rho''
        wxr = cross(w, r)
        r1 = add(wxr, p1)
        r2 = add(cross(al, r), add(cross(w, axpy(2.0, p1, wxr)), p2))
        # al += w x (R T Omega') + R (T Omega')' ;  w += R T Omega'
        al = add(al, add(cross(w, spin), rate))
        w = add(w, spin)
    else:
        turn = load9(tree.fixed, i, 0)
        r = matvec(rotation, load3(tree.fixed, i, 9))
        r1 = cross(w, r)
        r2 = add(cross(al, r), cross(w, r1))
    store3(node, i, N_R0, r)
    store3(node, i, N_R1, r1)
    store3(node, i, N_R2, r2)
    store9(node, i, N_R, matmul(rotation, turn))
    store3(node, i, N_W, w)
    store3(node, i, N_AL, al)
    store3(node, i, N_X, add(load3(node, p, N_X), r))
    store3(node, i, N_V, add(load3(node, p, N_V), r1))
    store3(node, i, N_A, add(load3(node, p, N_A), r2))


@part
def move(tree, ws, q, v, a):
    """Poses, velocities and accelerations of all nodes, for coordinates q, rates v and accelerations a."""
    local, flat = ws.local, tree.flat[0] == 1
    pad_coordinates(tree, ws, q, v, a)
    chunk, chunks = 0, len(local) // RECORD
    for i in range(1, len(tree.parent)):
        if chunk < chunks and tree.record_at[i] >= U(chunk) * U(RECORD):  # four intervals, just before their nodes
            _interval_strains(tree, ws, chunk)
            if flat:
                flat_motion(local, U(chunk) * U(RECORD))
            else:
                rod_motion(local, U(chunk) * U(RECORD))
            chunk += 1
        if tree.kind[i] == JOINT:
            joint_motion(tree, local, i)
        elif tree.kind[i] == BALL:
            ball_motion(tree, local, i)
        if flat:
            node_motion_flat(tree, ws, i)
        else:
            _node_motion(tree, ws, i)


@part
def too_coarse(ws):
    """Whether an interval turned further than its series can follow."""
    local = ws.local
    for chunk in range(len(local) // RECORD):
        for lane in range(FOUR):
            w = get3(local, U(chunk) * U(RECORD) + OMEGA + lane)
            if dot(w, w) > MAX_ANGLE * MAX_ANGLE:
                return True
    return False
