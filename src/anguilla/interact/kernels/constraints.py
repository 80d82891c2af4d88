"""Constraints and their multipliers: closures of loops, twist constraints, lengths of tendons (004 (2)-(7), (19)).

A closure holds a node B on a frame A* = A G, with G a pose that may depend on time. With e_k the axes of A*, b_l those of B
and d the vector from A* to B, its rows are
    TRANSLATION k: e_k . d = 0,      ROTATION (k, l): e_k . b_l = value.
A fixed closure has all three translations and the rotations (x, y), (y, z), (z, x); other joints leave rows out. The
multiplier of a row is the force along e_k, or minus the moment along e_k x b_l, that A exerts on B.

A TWIST row is c_A . eta_A + c_B . eta_B = rate, not integrable in general (004 (7)).

A LENGTH row holds the length of a tendon; its multiplier is the tension T. A tendon does not push, so its row turns into
T = 0 where it would. With a compliance c it is length - c T = input.
"""

from __future__ import annotations

from anguilla.compiler.jit import inline, part
from anguilla.compiler.simd import lay, take
from anguilla.interact.kernels.pairs import HALF, PLACES, ROTATIONS, SPINS, add_block, add_force, add_moment, span
from anguilla.interact.kernels.pairs import RATES as RATE_ROWS
from anguilla.interact.kernels.table import (
    AXIS_A,
    AXIS_B,
    DT,
    INPUT,
    KIND,
    POSE,
    RATES,
    ROTATION,
    TRANSLATION,
    TWIST,
    WHICH,
)
from anguilla.interact.kernels.tendon import line_force, line_length
from anguilla.interact.kernels.wrench import row3
from anguilla.mechanics.tree import N_R, N_V, N_W, N_X
from anguilla.mechanics.vec import add, cross, cross_columns, dot, iso_hat, load3, load9, matvec, scale, sub

SLACK_TEST = 1e3  # [N/m] weighs length against tension when deciding whether a tendon is slack


@part
def set_tensions(node, local, record_at, row, at, cables, pairs, c, lam, tension):
    """Lengths of lines; which held ones are slack; tensions from the inputs, or from the multipliers of held lengths."""
    if len(lam) > 0:
        c.length[:] = 0.0
        for k in range(len(cables.link)):
            c.length[cables.link[k, 1]] += line_length(record_at, local, cables, k)
        for k in range(len(pairs.span)):
            c.length[pairs.span[k, 1]] += span(node, pairs, pairs.span[k, 0])[1]
    for k in range(len(tension)):
        i, given = c.input_row[k], row[at[INPUT] + k]
        if i < 0:
            tension[k] = given
        else:
            gap = c.length[k] - given - c.value[i] * lam[i]
            c.slack[i] = 1 if lam[i] + SLACK_TEST * gap <= 0.0 else 0
            tension[k] = lam[i] if c.slack[i] == 0 else 0.0


@inline
def _closure_axis(node, row, at, pairs, c, k):
    """Axis e_k of the frame A* = A G of the closure of row k, world axes."""
    which, axis = c.table[k, WHICH], c.table[k, AXIS_A]
    j = at[POSE] + 12 * which
    i = pairs.table[c.closure[which], 0]
    return matvec(load9(node, i, N_R), (row[j + axis], row[j + 3 + axis], row[j + 6 + axis]))


@inline
def _node_axis(node, i, axis):
    return node[i, N_R + axis], node[i, N_R + 3 + axis], node[i, N_R + 6 + axis]


@inline
def _twist_axes(node, c, which, i, side):
    """Coefficients of a twist constraint on the spin and on the velocity of one of its nodes, world axes."""
    r = load9(node, i, N_R)
    return matvec(r, load3(c.twist_data, which, 6 * side)), matvec(r, load3(c.twist_data, which, 6 * side + 3))


@part
def add_constraint_forces(node, row, at, pairs, c, lam):
    """Wrenches of closures and twist constraints on their nodes (lengths act through the tensions)."""
    for k in range(len(c.table)):
        kind, which = c.table[k, KIND], c.table[k, WHICH]
        if kind == TRANSLATION:
            i, j = pairs.table[c.closure[which], 0], pairs.table[c.closure[which], 1]
            force = scale(lam[k], _closure_axis(node, row, at, pairs, c, k))
            add_force(node, j, scale(-1.0, force))
            add_force(node, i, force)
            add_moment(node, i, cross(sub(load3(node, j, N_X), load3(node, i, N_X)), force))
        elif kind == ROTATION:
            i, j = pairs.table[c.closure[which], 0], pairs.table[c.closure[which], 1]
            moment = cross(_closure_axis(node, row, at, pairs, c, k), _node_axis(node, j, c.table[k, AXIS_B]))
            add_moment(node, j, scale(lam[k], moment))
            add_moment(node, i, scale(-lam[k], moment))
        elif kind == TWIST:
            for side in range(2):
                i = pairs.table[c.twist[which], side]
                a, f = _twist_axes(node, c, which, i, side)
                add_moment(node, i, scale(-lam[k], a))
                add_force(node, i, scale(-lam[k], f))


@part
def constraint_values(node, row, at, pairs, c, lam, out, n):
    """Values of the constraints into out, after the n coordinates; lengths are those of `set_tensions`."""
    for k in range(len(c.table)):
        kind, which = c.table[k, KIND], c.table[k, WHICH]
        value = 0.0
        if kind == TRANSLATION:
            i, j = pairs.table[c.closure[which], 0], pairs.table[c.closure[which], 1]
            place = add(load3(node, i, N_X), matvec(load9(node, i, N_R), row3(row, at[POSE] + 12 * which + 9)))
            value = dot(_closure_axis(node, row, at, pairs, c, k), sub(load3(node, j, N_X), place))
        elif kind == ROTATION:
            j = pairs.table[c.closure[which], 1]
            value = dot(_closure_axis(node, row, at, pairs, c, k), _node_axis(node, j, c.table[k, AXIS_B])) - c.value[k]
        elif kind == TWIST:
            value = lam[k]  # at rest there is nothing to hold
            if row[DT] > 0.0:
                value = -row[at[RATES] + which]
                for side in range(2):
                    i = pairs.table[c.twist[which], side]
                    a, f = _twist_axes(node, c, which, i, side)
                    value += dot(a, load3(node, i, N_W)) + dot(f, load3(node, i, N_V))
        elif c.slack[k] == 1:
            value = lam[k]
        else:
            value = c.length[which] - row[at[INPUT] + which] - c.value[k] * lam[k]
        out[n + k] = value


@inline
def _translation_blocks(block, p, f, r):
    """d of (force on B, force and moment on A): the force f turns with A, r goes from A to B."""
    hat = iso_hat(0.0, -1.0, f)  # Theta_A x f
    add_block(block, p, 9, ROTATIONS, -1.0, hat)
    add_block(block, p, 3, ROTATIONS, 1.0, hat)
    add_block(block, p, 0, ROTATIONS, 1.0, cross_columns(r, hat))
    add_block(block, p, 0, PLACES, -1.0, hat)  # dr x f
    add_block(block, p, 0, HALF + PLACES, 1.0, hat)


@inline
def _rotation_blocks(block, p, size, e, b):
    """d(e x b) = (Theta_A x e) x b + e x (Theta_B x b)."""
    by_a = cross_columns(b, iso_hat(0.0, 1.0, e))
    by_b = cross_columns(e, iso_hat(0.0, -1.0, b))
    add_block(block, p, 6, ROTATIONS, size, by_a)
    add_block(block, p, 6, HALF + ROTATIONS, size, by_b)
    add_block(block, p, 0, ROTATIONS, -size, by_a)
    add_block(block, p, 0, HALF + ROTATIONS, -size, by_b)


@part
def add_constraint_blocks(node, row, at, pairs, c, lam):
    """Derivatives of the constraint wrenches with the multipliers frozen."""
    block = pairs.block
    for k in range(len(c.table)):
        kind, which = c.table[k, KIND], c.table[k, WHICH]
        if kind == TRANSLATION or kind == ROTATION:
            p = c.closure[which]
            i, j = pairs.table[p, 0], pairs.table[p, 1]
            e = _closure_axis(node, row, at, pairs, c, k)
            if kind == TRANSLATION:
                _translation_blocks(block, p, scale(lam[k], e), sub(load3(node, j, N_X), load3(node, i, N_X)))
            else:
                _rotation_blocks(block, p, lam[k], e, _node_axis(node, j, c.table[k, AXIS_B]))
        elif kind == TWIST:
            p = c.twist[which]
            for side in range(2):
                a, f = _twist_axes(node, c, which, pairs.table[p, side], side)
                add_block(block, p, 6 * side, HALF * side, lam[k], iso_hat(0.0, 1.0, a))
                add_block(block, p, 6 * side + 3, HALF * side, lam[k], iso_hat(0.0, 1.0, f))


@inline
def _dot_rows(jac, b, row, l, x):
    return jac[b, row, l] * x[0] + jac[b, row + 1, l] * x[1] + jac[b, row + 2, l] * x[2]


@inline
def _lanes_times(jac, b, row, x):
    """Three rows of the Jacobian of a pair times a vector, four lanes."""
    at = 4 * (2 * HALF * b + row)
    return x[0] * take(jac, at) + x[1] * take(jac, at + 4) + x[2] * take(jac, at + 8)


@inline
def _closure_gradient(node, row, at, pairs, c, k):
    """Gradient of a closure: derivatives by small rotations and displacements of A, then of B."""
    p = c.closure[c.table[k, WHICH]]
    i, j = pairs.table[p, 0], pairs.table[p, 1]
    e = _closure_axis(node, row, at, pairs, c, k)
    moves = c.table[k, KIND] == TRANSLATION
    if moves:
        turn = cross(e, sub(load3(node, j, N_X), load3(node, i, N_X)))
    else:
        turn = cross(e, _node_axis(node, j, c.table[k, AXIS_B]))
    shift = c.entry[k] - pairs.table[p, 2]
    for b in range(pairs.table[p, 2], pairs.table[p, 3]):
        a = _lanes_times(pairs.jacobian, b, ROTATIONS, turn)
        if moves:
            x = a + (_lanes_times(pairs.jacobian, b, HALF + PLACES, e) - _lanes_times(pairs.jacobian, b, PLACES, e))
        else:
            x = a - _lanes_times(pairs.jacobian, b, HALF + ROTATIONS, turn)
        lay(c.jacobian, 4 * (shift + b), x)
        lay(c.column, 4 * (shift + b), -x)


@inline
def _twist_gradient(node, pairs, c, k):
    """d(a . w + f . v) = a . Theta1 + f . P1 + Theta0 . (f x v); the force acts along a . Theta0 + f . P0."""
    which = c.table[k, WHICH]
    p, jac = c.twist[which], pairs.jacobian
    shift = c.entry[k] - pairs.table[p, 2]
    for side in range(2):
        i, o = pairs.table[p, side], HALF * side
        a, f = _twist_axes(node, c, which, i, side)
        fv = cross(f, load3(node, i, N_V))
        for b in range(pairs.table[p, 2], pairs.table[p, 3]):
            for l in range(4):
                x = _dot_rows(jac, b, o + SPINS, l, a) + _dot_rows(jac, b, o + RATE_ROWS, l, f)
                c.jacobian[shift + b, l] += x + _dot_rows(jac, b, o + ROTATIONS, l, fv)
                c.column[shift + b, l] -= _dot_rows(jac, b, o + ROTATIONS, l, a) + _dot_rows(jac, b, o + PLACES, l, f)


@part
def _span_gradients(node, pairs, c):
    """Gradients of the lengths of the spans of tendons whose length is held."""
    for b in range(len(pairs.span)):
        k = c.input_row[pairs.span[b, 1]]
        if k >= 0 and c.slack[k] == 0:
            p = pairs.span[b, 0]
            t, shift = span(node, pairs, p)[0], c.span_entry[b] - pairs.table[p, 2]
            for d in range(pairs.table[p, 2], pairs.table[p, 3]):
                for l in range(4):
                    x = _dot_rows(pairs.jacobian, d, HALF + PLACES, l, t) - _dot_rows(pairs.jacobian, d, PLACES, l, t)
                    c.jacobian[shift + d, l] += x
                    c.column[shift + d, l] += x * pairs.factor[b]


@inline
def _pick(moment, force, strain):
    """Component of a generalised force by the number of its strain."""
    x = moment if strain < 3 else force
    return x[0] if strain % 3 == 0 else (x[1] if strain % 3 == 1 else x[2])


@part
def add_line_gradients(segment, own_pack, own_packs, pack_slot, strains, basis, basis_at, record_at, local, cables, c):
    """Gradients of the lengths of tendons inside rods, for those whose length is held."""
    for b in range(len(cables.link)):
        k = c.input_row[cables.link[b, 1]]
        if k < 0 or c.slack[k] == 1:
            continue
        link = cables.link[b, 0]
        s = segment[link]
        first, at, width = own_pack[s], basis_at[link], 4 * own_packs[s]
        for gauss in range(2):
            moment, force = line_force(record_at, local, cables, b, gauss)
            for l in range(width):
                slope = _pick(moment, force, strains[s, pack_slot[first + l // 4]])
                x = slope * basis[at + width * gauss + l]
                c.jacobian[c.link_entry[b] + l // 4, l % 4] += x
                c.column[c.link_entry[b] + l // 4, l % 4] += x * cables.factor[b, gauss]


@part
def constraint_gradients(node, row, at, pairs, c):
    """Rows J of the constraints and columns dR/dlambda, pack by pack, without tendons inside rods."""
    for k in range(len(c.table)):
        kind = c.table[k, KIND]
        c.diagonal[k] = 0.0
        if kind == TRANSLATION or kind == ROTATION:
            _closure_gradient(node, row, at, pairs, c, k)
            continue
        c.jacobian[c.entry[k] : c.entry[k + 1]] = 0.0
        c.column[c.entry[k] : c.entry[k + 1]] = 0.0
        if kind == TWIST:
            _twist_gradient(node, pairs, c, k)
            if row[DT] <= 0.0:
                c.jacobian[c.entry[k] : c.entry[k + 1]] = 0.0
                c.diagonal[k] = 1.0
        elif c.slack[k] == 1:
            c.diagonal[k] = 1.0
        else:
            c.diagonal[k] = -c.value[k]
    _span_gradients(node, pairs, c)
