"""Down the tree: poses, velocities and accelerations of every node (004 (39)-(41)), in world axes."""

from __future__ import annotations

from anguilla._jit import inline, kernel
from anguilla.mechanics.rodmap import L_R, rod_motion
from anguilla.mechanics.tree import N_A, N_AL, N_R, N_V, N_W, N_X, ROD
from anguilla.mechanics.vec import add, axpy, cross, load3, load9, matmul, matvec, store3, store9


@inline
def pad_coordinates(tree, ws, q, v, a):
    """Spread coordinates, rates and accelerations over the padded lanes."""
    for k in range(len(q)):
        j = tree.lane[k]
        ws.padded[0, j] = q[k]
        ws.padded[1, j] = v[k]
        ws.padded[2, j] = a[k]


@inline
def interval_strains(tree, ws, i, s):
    """u = u_prescribed + Psi q at the two Gauss points of link i, with rates and accelerations, into ws.link[i]."""
    link, padded = ws.link, ws.padded
    for k in range(36):
        link[i, k] = tree.prescribed[i, k]
    width = 4 * tree.own_packs[s]
    at1 = tree.basis_at[i]
    at2 = at1 + width
    start = 4 * tree.own_pack[s]
    for p in range(tree.own_packs[s]):
        strain = tree.strains[s, tree.pack_slot[tree.own_pack[s] + p]]
        for jet in range(3):
            x1 = 0.0
            x2 = 0.0
            for l in range(4):
                value = padded[jet, start + 4 * p + l]
                x1 += tree.basis[at1 + 4 * p + l] * value
                x2 += tree.basis[at2 + 4 * p + l] * value
            link[i, 12 * jet + strain] += x1
            link[i, 12 * jet + 6 + strain] += x2


@kernel
def move(tree, ws, q, v, a):
    """Poses, velocities and accelerations of all nodes, for coordinates q, rates v and accelerations a."""
    node, link = ws.node, ws.link
    pad_coordinates(tree, ws, q, v, a)
    for i in range(1, len(tree.parent)):
        p = tree.parent[i]
        rotation = load9(node, p, N_R)
        w, al = load3(node, p, N_W), load3(node, p, N_AL)
        x, vel, acc = load3(node, p, N_X), load3(node, p, N_V), load3(node, p, N_A)
        if tree.kind[i] == ROD:
            interval_strains(tree, ws, i, tree.segment[i])
            turn, rho, rho1, rho2, wr, wr1 = rod_motion(link, i, tree.length[i])
            p1, wr = matvec(rotation, rho1), matvec(rotation, wr)
            r = matvec(rotation, rho)
            # r' = w x r + R rho' ;  r'' = al x r + w x (w x r + 2 R rho') + R rho''
            wxr = cross(w, r)
            r1 = add(wxr, p1)
            r2 = add(cross(al, r), add(cross(w, axpy(2.0, p1, wxr)), matvec(rotation, rho2)))
            # al += w x (R T Omega') + R (T Omega')' ;  w += R T Omega'
            al = add(al, add(cross(w, wr), matvec(rotation, wr1)))
            w = add(w, wr)
        else:
            turn = load9(tree.fixed, i, 0)
            r = matvec(rotation, load3(tree.fixed, i, 9))
            r1 = cross(w, r)
            r2 = add(cross(al, r), cross(w, r1))
        store3(link, i, L_R, r)
        store3(link, i, L_R + 3, r1)
        store3(link, i, L_R + 6, r2)
        store9(node, i, N_R, matmul(rotation, turn))
        store3(node, i, N_W, w)
        store3(node, i, N_AL, al)
        store3(node, i, N_X, add(x, r))
        store3(node, i, N_V, add(vel, r1))
        store3(node, i, N_A, add(acc, r2))
