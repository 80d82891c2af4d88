"""Kinematics, energy and momentum of many states, from the same recursion as the residual."""

from __future__ import annotations

from anguilla.compiler.distant import entry
from anguilla.compiler.jit import inline, kernel
from anguilla.interact.kernels.table import GRAVITY
from anguilla.mechanics.motion import too_coarse
from anguilla.mechanics.tree import N_A, N_AL, N_F, N_M, N_R, N_V, N_W, N_X
from anguilla.mechanics.vec import add, axpy, cross, dot, load3, load9, matvec, scale, store3, sub, tmatvec
from anguilla.model.evaluate import descend, more_forces

# What is kept of a node: rotation (9), position, angular velocity, velocity, angular acceleration, acceleration.
SNAPSHOT = 24
S_X, S_W, S_V, S_AL, S_A = 9, 12, 15, 18, 21


@inline
def _keep(node, i, out):
    """Motion of node i into out (SNAPSHOT,)."""
    for k in range(9):
        out[k] = node[i, N_R + k]
    for k in range(3):
        out[S_X + k] = node[i, N_X + k]
        out[S_W + k] = node[i, N_W + k]
        out[S_V + k] = node[i, N_V + k]
        out[S_AL + k] = node[i, N_AL + k]
        out[S_A + k] = node[i, N_A + k]


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
            _keep(ws.node, nodes[j], out[t, j])
    return coarse


@entry(descend)
def resultants(tree, ws, points, inertia, loads, gravity, given, turning, q, v, a, sections, first, end, motion, out):
    """Inertia minus external forces beyond sections of rods, one rod after the other, summed over points along each.

    Args:
        tree: the robot.
        ws: its workspace.
        points: (p,) nodes along the rods.
        inertia: (p, 4) principal moments and mass that they stand for.
        loads: its frame loads are those along the rods that depend on the motion, on the points; its row gets gravity.
        gravity: (nt, 3) [m/s^2].
        given: (nt or 0, p, 6) other wrenches on the points, world axes.
        turning: (nt or 0, p, 6) the same in section axes.
        q: (nt, n) coordinates.
        v: (nt, n) rates.
        a: (nt, n) accelerations.
        sections: (m,) nodes.
        first: (m,) first point beyond each of them, in ascending order.
        end: (m,) number of points up to the end of its rod.
        motion: (nt, m, SNAPSHOT) gets the motion of the sections.
        out: (nt, m, 6) gets moments about the world origin, and forces.

    Returns the number of states in which some interval turned too far for its series.

    """
    coarse, node, none = 0, ws.node, q[0, :0]
    for t in range(len(q)):
        descend(tree, ws, q[t], v[t], a[t])
        if too_coarse(ws):
            coarse += 1
        for k in range(3):
            loads.row[GRAVITY + k] = gravity[t, k]
        for p in range(len(points)):
            store3(node, points[p], N_M, (0.0, 0.0, 0.0))
            store3(node, points[p], N_F, (0.0, 0.0, 0.0))
        if len(loads.frames.table) > 0:
            more_forces(ws, loads, none)
        m, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        p = len(points)
        for s in range(len(sections) - 1, -1, -1):
            if s == len(sections) - 1 or end[s] < end[s + 1]:  # the last section of a rod
                m, f, p = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), end[s]
            while p > first[s]:
                p -= 1
                i = points[p]
                r = load9(node, i, N_R)
                w, al = tmatvec(r, load3(node, i, N_W)), tmatvec(r, load3(node, i, N_AL))
                j1, j2, j3 = load3(inertia, p, 0)
                moment = add((j1 * al[0], j2 * al[1], j3 * al[2]), cross(w, (j1 * w[0], j2 * w[1], j3 * w[2])))
                force = (0.0, 0.0, 0.0)
                if len(turning) > 0:
                    moment, force = sub(moment, load3(turning[t], p, 0)), sub(force, load3(turning[t], p, 3))
                moment, force = matvec(r, moment), matvec(r, force)
                force = axpy(inertia[p, 3], sub(load3(node, i, N_A), load3(gravity, t, 0)), force)
                if len(given) > 0:
                    moment, force = sub(moment, load3(given[t], p, 0)), sub(force, load3(given[t], p, 3))
                moment, force = add(moment, load3(node, i, N_M)), add(force, load3(node, i, N_F))
                f = add(f, force)
                m = add(m, add(moment, cross(load3(node, i, N_X), force)))
            store3(out[t], s, 0, m)
            store3(out[t], s, 3, f)
            _keep(node, sections[s], motion[t, s])
    return coarse


@kernel
def take_places(motion, place, rotation, twist):
    """Positions (nt, m, 3), rotations (nt, m, 9) and twists in their own axes (nt, m, 6) from motions (nt, m, SNAPSHOT)."""
    for t in range(len(motion)):
        for j in range(motion.shape[1]):
            r = load9(motion[t], j, 0)
            store3(place[t], j, 0, load3(motion[t], j, S_X))
            for k in range(9):
                rotation[t, j, k] = r[k]
            store3(twist[t], j, 0, tmatvec(r, load3(motion[t], j, S_W)))
            store3(twist[t], j, 3, tmatvec(r, load3(motion[t], j, S_V)))


@kernel
def in_section_axes(total, motion):
    """Turn moments about the world origin and forces (nt, m, 6) into minus those about moving sections, in their axes."""
    for t in range(len(total)):
        for s in range(total.shape[1]):
            r, x = load9(motion[t], s, 0), load3(motion[t], s, S_X)
            m, f = load3(total[t], s, 0), load3(total[t], s, 3)
            store3(total[t], s, 0, tmatvec(r, sub(cross(x, f), m)))
            store3(total[t], s, 3, tmatvec(r, scale(-1.0, f)))


@entry(descend)
def balances(tree, ws, gravity, q, v, zero, out):
    """Kinetic and gravitational energy [J], momentum [kg m/s], angular momentum [kg m^2/s] and moment of the masses [kg m].

    gravity (nt or 1, 3); q, v (nt, n); zero (n,) zeros; out (nt, 11), about the origin.
    """
    for t in range(len(q)):
        g = load3(gravity, t if len(gravity) > 1 else 0, 0)
        descend(tree, ws, q[t], v[t], zero)
        kinetic, potential = 0.0, 0.0
        p, h, c = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
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
            c = axpy(m, x, c)
        out[t, 0], out[t, 1] = kinetic, potential
        for k in range(3):
            out[t, 2 + k] = p[k]
            out[t, 5 + k] = h[k]
            out[t, 8 + k] = c[k]


@entry(descend)
def jacobians(tree, ws, node, q, v, zero, out, place):
    """World Jacobian of one node in states q (nt, n): out (nt, 6, n), angular velocity first, then velocity of its origin.

    Velocities are linear in v: column j is the velocity for v = e_j. v and zero (n,) hold zeros. place (nt, 12) gets the
    rotation and the position.
    """
    for t in range(len(q)):
        for j in range(len(v)):
            v[j] = 1.0
            descend(tree, ws, q[t], v, zero)
            v[j] = 0.0
            for k in range(3):
                out[t, k, j] = ws.node[node, N_W + k]
                out[t, 3 + k, j] = ws.node[node, N_V + k]
        for k in range(9):
            place[t, k] = ws.node[node, N_R + k]
        for k in range(3):
            place[t, 9 + k] = ws.node[node, N_X + k]
