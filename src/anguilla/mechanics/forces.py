"""Inertia at the nodes and the pass up the tree: generalised forces of everything below each link (004 (42)-(47))."""

from __future__ import annotations

from anguilla.compiler.jit import inline, part
from anguilla.compiler.lanes import FOUR, U, put3
from anguilla.compiler.simd import blend, lay, take, total
from anguilla.mechanics.flat import node_inertia_flat, node_wrench_flat
from anguilla.mechanics.flatmap import flat_forces
from anguilla.mechanics.joints import ball_force, joint_force
from anguilla.mechanics.relaxing import add_overstress
from anguilla.mechanics.rodmap import FORCE, JET, RECORD, SIX, STRAIN, WRENCH, rod_forces
from anguilla.mechanics.tree import BALL, FIXED, JOINT, N_A, N_AL, N_F, N_M, N_MI, N_R, N_R0, N_W
from anguilla.mechanics.vec import add, cross, load3, load9, matvec, store3, sub, tmatvec


@inline
def _node_inertia(tree, ws, i, gravity):
    """Force m (a - g) and moment I al + w x I w of node i, in world axes."""
    node, m = ws.node, tree.mass[i]
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
def inertia_and_gravity(tree, ws, gravity):
    """Inertia and weight of every node."""
    flat = tree.flat[0] == 1
    for i in range(len(tree.parent)):
        if flat:
            node_inertia_flat(tree, ws, i, gravity)
        else:
            _node_inertia(tree, ws, i, gravity)


@inline
def _node_wrench(tree, ws, i):
    """Wrench of node i on its link, and carried to its parent."""
    node, local, p = ws.node, ws.local, tree.parent[i]
    force, moment = load3(node, i, N_F), load3(node, i, N_M)
    if tree.kind[i] != FIXED:  # a link feels the wrench about its child node, before it is carried to the parent
        rotation = load9(node, p, N_R)
        o = tree.record_at[i] + WRENCH
        put3(local, o, tmatvec(rotation, moment))
        put3(local, o + JET, tmatvec(rotation, force))
    store3(node, p, N_M, add(load3(node, p, N_M), add(moment, cross(load3(node, i, N_R0), force))))
    store3(node, p, N_F, add(load3(node, p, N_F), force))


@part
def carry_up(tree, ws):
    """Carry node wrenches up the tree and turn them into forces on every link's strains."""
    local, flat = ws.local, tree.flat[0] == 1
    chunk = len(local) // RECORD  # one behind that of the next four intervals
    for i in range(len(tree.parent) - 1, 0, -1):
        if flat:
            node_wrench_flat(tree, ws, i)
        else:
            _node_wrench(tree, ws, i)
        if tree.kind[i] != FIXED and chunk > 0 and tree.record_at[i] == U(chunk - 1) * U(RECORD):  # the first of four
            chunk -= 1
            if flat:
                flat_forces(local, U(chunk) * U(RECORD))
            else:
                rod_forces(local, U(chunk) * U(RECORD))
    for i in range(1, len(tree.parent)):
        if tree.kind[i] == JOINT:
            joint_force(tree, local, i)
        elif tree.kind[i] == BALL:
            ball_force(tree, local, i)


@part
def collect_forces(tree, ws):
    """Rows of the residual: the strain forces of all links, projected on the bases (004 (47))."""
    local, rows, value = ws.local, ws.rows, tree.term_value
    rows[:] = 0.0
    for chunk in range(len(tree.term_at) - 1):
        at = U(chunk) * U(RECORD) + FORCE
        for t in range(tree.term_at[chunk], tree.term_at[chunk + 1]):
            f, j, b = at + tree.term[t, 0] - STRAIN, tree.term[t, 1], tree.term[t, 2]
            one, two = take(local, f), take(local, f + SIX)
            for l in range(FOUR):
                rows[j + l] += total(take(value, b) * one + take(value, b + FOUR) * two)
                b = b + FOUR + FOUR


@part
def add_elasticity(tree, ws, relaxing):
    """Rows += K (q + mu v), the Kelvin-Voigt law of rods (000 (12), 004 (33)) and the springs and dampers of joints.

    With the Prony terms of viscoelastic rods, K (q + mu v + sum of g z).
    """
    padded, rows, lanes = ws.padded, ws.rows, len(ws.rows)
    for s in range(len(tree.first)):
        start, width, mu = 4 * tree.own_pack[s], 4 * tree.own_packs[s], tree.viscosity[s]
        for j in range(start, start + width, 4):
            rate = take(padded, lanes + j)
            lay(padded, 3 * lanes + j, take(padded, j) + mu * rate)
            lay(rows, j, take(rows, j) + take(tree.friction, j) * rate - take(tree.preload, j))
        if len(relaxing.term) > 0:
            add_overstress(relaxing, padded, lanes, s, start, width)
        for j in range(tree.own_packs[s]):  # K is symmetric, and has a block for each strain
            for i in range(tree.own_packs[s]):
                if tree.pack_slot[tree.own_pack[s] + i] == tree.pack_slot[tree.own_pack[s] + j]:
                    into, at = start + 4 * i, tree.stiffness_at[s] + 4 * j * width + 4 * i
                    force = blend(tree.stiffness, U(at), U(width), padded, U(3 * lanes + start + 4 * j))
                    lay(rows, into, take(rows, into) + force)
