"""Inertia at the nodes and the pass up the tree: generalised forces of everything below each link (004 (42)-(47))."""

from __future__ import annotations

from anguilla._jit import part
from anguilla.mechanics.joints import ball_force, joint_force
from anguilla.mechanics.lanes import U, put3
from anguilla.mechanics.rodmap import FORCE, JET, RECORD, SIX, WRENCH, rod_forces
from anguilla.mechanics.tree import BALL, FIXED, JOINT, N_A, N_AL, N_F, N_M, N_MI, N_R, N_R0, N_W
from anguilla.mechanics.vec import add, cross, load3, load9, matvec, store3, sub, tmatvec


@part
def inertia_and_gravity(tree, ws, gravity):
    """Force m (a - g) and moment I al + w x I w of every node, in world axes."""
    node = ws.node
    for i in range(len(tree.parent)):
        m = tree.mass[i]
        a = sub(load3(node, i, N_A), gravity)
        store3(node, i, N_F, (m * a[0], m * a[1], m * a[2]))
        j1, j2, j3 = load3(tree.inertia, i, 0)
        rotation = load9(node, i, N_R)
        w, al = tmatvec(rotation, load3(node, i, N_W)), tmatvec(rotation, load3(node, i, N_AL))
        jw, jal = (j1 * w[0], j2 * w[1], j3 * w[2]), (j1 * al[0], j2 * al[1], j3 * al[2])
        moment = matvec(rotation, add(jal, cross(w, jw)))
        store3(node, i, N_MI, moment)
        store3(node, i, N_M, moment)


@part
def carry_up(tree, ws):
    """Carry node wrenches up the tree and turn them into forces on every link's strains."""
    node, local = ws.node, ws.local
    for i in range(len(tree.parent) - 1, 0, -1):
        p = tree.parent[i]
        force, moment = load3(node, i, N_F), load3(node, i, N_M)
        if tree.kind[i] != FIXED:  # a link feels the wrench about its child node, before it is carried to the parent
            rotation = load9(node, p, N_R)
            o = tree.record_at[i] + WRENCH
            put3(local, o, tmatvec(rotation, moment))
            put3(local, o + JET, tmatvec(rotation, force))
        store3(node, p, N_M, add(load3(node, p, N_M), add(moment, cross(load3(node, i, N_R0), force))))
        store3(node, p, N_F, add(load3(node, p, N_F), force))
    for chunk in range(len(local) // RECORD):
        rod_forces(local, U(chunk) * U(RECORD))
    for i in range(1, len(tree.parent)):
        if tree.kind[i] == JOINT:
            joint_force(tree, local, i)
        elif tree.kind[i] == BALL:
            ball_force(tree, local, i)


@part
def collect_forces(tree, ws):
    """Rows of the residual: the strain forces of all links, projected on the bases (004 (47))."""
    local, rows = ws.local, ws.rows
    rows[:] = 0.0
    for i in range(1, len(tree.parent)):
        if tree.kind[i] == FIXED:
            continue
        s = tree.segment[i]
        first = tree.own_pack[s]
        at1 = tree.basis_at[i]
        at2 = at1 + 4 * tree.own_packs[s]
        for b in range(tree.own_packs[s]):
            o = tree.record_at[i] + FORCE + U(4 * tree.strains[s, tree.pack_slot[first + b]])
            f1, f2 = local[o], local[o + SIX]
            for l in range(4 * b, 4 * b + 4):
                rows[4 * first + l] += tree.basis[at1 + l] * f1 + tree.basis[at2 + l] * f2


@part
def add_elasticity(tree, ws):
    """Rows += K (q + mu v), the Kelvin-Voigt law of rods (000 (12), 004 (33)) and the springs and dampers of joints."""
    padded, rows = ws.padded, ws.rows
    for s in range(len(tree.first)):
        width = 4 * tree.own_packs[s]
        start = 4 * tree.own_pack[s]
        at = tree.stiffness_at[s]
        mu = tree.viscosity[s]
        for i in range(width):
            total = 0.0
            for j in range(width):
                total += tree.stiffness[at + i * width + j] * (padded[0, start + j] + mu * padded[1, start + j])
            rows[start + i] += total + tree.friction[start + i] * padded[1, start + i] - tree.preload[start + i]
