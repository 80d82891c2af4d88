"""Kinematics, energy and momentum of many states, from the same recursion as the residual."""

from __future__ import annotations

from anguilla.compiler.distant import entry
from anguilla.mechanics.motion import too_coarse
from anguilla.mechanics.tree import N_A, N_AL, N_R, N_V, N_W, N_X
from anguilla.mechanics.vec import add, cross, dot, load3, load9, scale, tmatvec
from anguilla.model.evaluate import descend

# What is kept of a node: rotation (9), position, angular velocity, velocity, angular acceleration, acceleration.
SNAPSHOT = 24
S_X, S_W, S_V, S_AL, S_A = 9, 12, 15, 18, 21


@entry(descend)
def snapshots(tree, ws, nodes, q, v, a, out):
    """Motion of the nodes (m,) for states q, v, a (nt, n) into out (nt, m, SNAPSHOT), world axes.

    Returns the number of states in which some interval turned too far for its series.
    """
    coarse = 0
    for t in range(len(q)):
        descend(tree, ws, q[t], v[t], a[t])
        if too_coarse(ws):
            coarse += 1
        for j in range(len(nodes)):
            i = nodes[j]
            for k in range(9):
                out[t, j, k] = ws.node[i, N_R + k]
            for k in range(3):
                out[t, j, S_X + k] = ws.node[i, N_X + k]
                out[t, j, S_W + k] = ws.node[i, N_W + k]
                out[t, j, S_V + k] = ws.node[i, N_V + k]
                out[t, j, S_AL + k] = ws.node[i, N_AL + k]
                out[t, j, S_A + k] = ws.node[i, N_A + k]
    return coarse


@entry(descend)
def balances(tree, ws, gravity, q, v, zero, out):
    """Kinetic and gravitational energy [J], momentum [kg m/s], angular momentum about the origin [kg m^2/s].

    gravity (nt or 1, 3); q, v (nt, n); zero (n,) zeros; out (nt, 8).
    """
    for t in range(len(q)):
        g = load3(gravity, t if len(gravity) > 1 else 0, 0)
        descend(tree, ws, q[t], v[t], zero)
        kinetic, potential = 0.0, 0.0
        p, h = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for i in range(len(tree.parent)):
            m = tree.mass[i]
            j1, j2, j3 = load3(tree.inertia, i, 0)
            x, vel = load3(ws.node, i, N_X), load3(ws.node, i, N_V)
            r = load9(ws.node, i, N_R)
            w = tmatvec(r, load3(ws.node, i, N_W))
            jw = (j1 * w[0], j2 * w[1], j3 * w[2])
            kinetic += 0.5 * (m * dot(vel, vel) + dot(w, jw))
            potential -= m * dot(g, x)
            linear = scale(m, vel)
            spin = (
                r[0] * jw[0] + r[1] * jw[1] + r[2] * jw[2],
                r[3] * jw[0] + r[4] * jw[1] + r[5] * jw[2],
                r[6] * jw[0] + r[7] * jw[1] + r[8] * jw[2],
            )
            p = add(p, linear)
            h = add(h, add(spin, cross(x, linear)))
        out[t, 0], out[t, 1] = kinetic, potential
        for k in range(3):
            out[t, 2 + k] = p[k]
            out[t, 5 + k] = h[k]


@entry(descend)
def jacobian(tree, ws, node, q, v, zero, out):
    """World Jacobian of one node at q (n,): out (6, n), angular velocity first, then velocity of its origin.

    Velocities are linear in v: column j is the velocity for v = e_j. v and zero (n,) hold zeros.
    """
    for j in range(len(q)):
        v[j] = 1.0
        descend(tree, ws, q, v, zero)
        v[j] = 0.0
        for k in range(3):
            out[k, j] = ws.node[node, N_W + k]
            out[3 + k, j] = ws.node[node, N_V + k]
