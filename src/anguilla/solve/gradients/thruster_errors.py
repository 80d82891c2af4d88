"""How the errors of velocity-controlled bodies change with the state, and the power of their integral gains."""

from __future__ import annotations

from anguilla.compiler.jit import part
from anguilla.interact.kernels.table import KIND, NODE, ROW, THRUSTER
from anguilla.interact.kernels.wrench import row3
from anguilla.mechanics.tree import N_A, N_AL, N_R, N_V, N_W, N_X
from anguilla.mechanics.vec import add, cross, dot, load3, load9, matvec, scale, store3, sub, tmatvec
from anguilla.model.evaluate import descend


@part
def _error_cotangents(ws, loads, weight, cot):
    """Per frame: what weight . e does with changes of rotation, place, angular velocity and velocity, and the spin itself."""
    node, frames = ws.node, loads.frames
    for f in range(len(frames.table)):
        for c in range(15):
            cot[f, c] = 0.0
        if frames.table[f, KIND] == THRUSTER:
            i, j = frames.table[f, NODE], frames.table[f, ROW]
            r, w = load9(node, i, N_R), load3(node, i, N_W)
            x_d, w_d, v_d = row3(loads.row, j), row3(loads.row, j + 3), row3(loads.row, j + 6)
            turn = sub(w_d, w)
            slide = sub(add(v_d, cross(sub(x_d, load3(node, i, N_X)), w_d)), load3(node, i, N_V))
            u1, u2 = matvec(r, load3(weight, f, 0)), matvec(r, load3(weight, f, 3))
            store3(cot, f, 0, scale(-1.0, add(cross(turn, u1), cross(slide, u2))))
            store3(cot, f, 3, cross(u2, w_d))
            store3(cot, f, 6, scale(-1.0, u1))
            store3(cot, f, 9, scale(-1.0, u2))
            store3(cot, f, 12, w)


@part
def pull_errors(tree, ws, loads, q, v, weight, cot, spare, zero, by_q, by_v):
    """by_q, by_v += derivatives of weight . e with respect to q and v, e (f, 6) the errors of thrusters in body axes.

    How velocities change with q follows, without differences, from accelerations at a = 0, which are quadratic in v: for
    rates v and v', (a(v + v') - a(v - v'))/4 is half the sum of the derivatives of J v along v' and of J v' along v. They
    differ by the turn of the axes, and for balls by the bracket of their rates.
    """
    descend(tree, ws, q, v, zero)
    _error_cotangents(ws, loads, weight, cot)
    pull_cotangents(tree, ws, loads.frames, q, v, cot, spare, zero, by_q, by_v)


@part
def pull_cotangents(tree, ws, frames, q, v, cot, spare, zero, by_q, by_v):
    """by_q, by_v += derivatives of what cot (f, 15) says of the motion of the nodes of frame loads."""
    node, n = ws.node, len(q)
    size = 1.0
    for k in range(n):
        size = max(size, abs(v[k]) * tree.scale[k])
    slope, rate = spare[0], spare[1]
    for k in range(n):
        slope[k], rate[k] = 0.0, 0.0
        h = size / tree.scale[k]
        kept = v[k]
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            v[k] = kept + sign * h
            descend(tree, ws, q, v, zero)
            for f in range(len(frames.table)):
                i = frames.table[f, NODE]
                w, vel = load3(node, i, N_W), load3(node, i, N_V)
                cw, cv = load3(cot, f, 6), load3(cot, f, 9)
                along = dot(load3(cot, f, 0), w) + dot(load3(cot, f, 3), vel)
                turned = dot(cw, load3(node, i, N_AL)) + dot(cv, load3(node, i, N_A))
                turned += dot(cross(load3(cot, f, 12), cw), w)
                slope[k] += sign / (2.0 * h) * (along + 0.5 * turned)
                rate[k] += sign / (2.0 * h) * (dot(cw, w) + dot(cv, vel))
        v[k] = kept
    for k in range(n):
        by_q[k] += slope[k]
        by_v[k] += rate[k]
    for b in range(len(tree.ball)):
        k = tree.ball[b, 0]
        x = cross((v[k], v[k + 1], v[k + 2]), (rate[k], rate[k + 1], rate[k + 2]))
        for c in range(3):
            by_q[k + c] += 0.5 * x[c]


@part
def gather_integrals(ws, loads, after, here):
    """Sum here (f, 6) = after + kI x body twist of the virtual motion in the workspace."""
    node, frames = ws.node, loads.frames
    for f in range(len(here)):
        for c in range(6):
            here[f, c] = after[f, c]
        if frames.table[f, KIND] == THRUSTER:
            i = frames.table[f, NODE]
            r = load9(node, i, N_R)
            w, v = tmatvec(r, load3(node, i, N_W)), tmatvec(r, load3(node, i, N_V))
            for c in range(3):
                here[f, c] += frames.data[f, 6 + c] * w[c]
                here[f, 3 + c] += frames.data[f, 9 + c] * v[c]
