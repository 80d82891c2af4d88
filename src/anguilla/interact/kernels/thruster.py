"""A velocity-controlled body (004 (68)-(69)): body wrench kP e + kI z, z' = e, with e the error of its twist.

e = Ad(g^-1 g_d) eta_d - eta. In world axes, with the desired position x_d, angular velocity w_d and velocity v_d of g_d,
    R e = (w_d - w, v_d + (x_d - x) x w_d - v).
The integral z is stepped by the trapezoidal rule and condensed: z1 = z + dt/2 (e + e1).
"""

from __future__ import annotations

from anguilla.compiler.jit import inline, part
from anguilla.interact.kernels.table import DT, KIND, NODE, ROW, THRUSTER
from anguilla.interact.kernels.wrench import has_kind, row3
from anguilla.mechanics.tree import N_R, N_V, N_W, N_X
from anguilla.mechanics.vec import (
    add,
    cross,
    iso_hat,
    load3,
    load9,
    matmul,
    matvec,
    maxpy,
    store3,
    sub,
    tmatvec,
    transpose,
)


@inline
def _errors(node, row, frames, f):
    """Errors of the angular velocity and of the velocity, world axes."""
    i, j = frames.table[f, NODE], frames.table[f, ROW]
    x, w, v = load3(node, i, N_X), load3(node, i, N_W), load3(node, i, N_V)
    x_d, w_d, v_d = row3(row, j), row3(row, j + 3), row3(row, j + 6)
    return sub(w_d, w), sub(add(v_d, cross(sub(x_d, x), w_d)), v)


@inline
def thruster_wrench(node, row, frames, f):
    """World wrench of thruster f: R (kP e + kI z1); keeps the error, the rate of the integral."""
    rotation = load9(node, frames.table[f, NODE], N_R)
    turn, slide = _errors(node, row, frames, f)
    state, data, wrench = frames.state, frames.data, frames.wrench
    store3(state[f], 2, 0, tmatvec(rotation, turn))
    store3(state[f], 2, 3, tmatvec(rotation, slide))
    for c in range(6):
        z = state[f, 0, c] + 0.5 * row[DT] * (state[f, 1, c] + state[f, 2, c])
        wrench[f, c] = data[f, c] * state[f, 2, c] + data[f, 6 + c] * z
    store3(wrench, f, 0, matvec(rotation, load3(wrench, f, 0)))
    store3(wrench, f, 3, matvec(rotation, load3(wrench, f, 3)))


@inline
def put_block(block, f, r, c, m):
    """Write a 3x3 matrix at row r and column c of a block."""
    block[f, r, c], block[f, r, c + 1], block[f, r, c + 2] = m[0], m[1], m[2]
    block[f, r + 1, c], block[f, r + 1, c + 1], block[f, r + 1, c + 2] = m[3], m[4], m[5]
    block[f, r + 2, c], block[f, r + 2, c + 1], block[f, r + 2, c + 2] = m[6], m[7], m[8]


@inline
def thruster_block(node, row, frames, f):
    """d(R y) = Theta x R y + R k R^T (d(R e) - Theta x R e), with k = kP + dt/2 kI and d(R e) by the motion."""
    rotation = load9(node, frames.table[f, NODE], N_R)
    errors = _errors(node, row, frames, f)
    half, data = 0.5 * row[DT], frames.data
    w_d = row3(row, frames.table[f, ROW] + 3)
    for side in range(2):
        k = 3 * side
        g1 = data[f, k] + half * data[f, 6 + k]
        g2 = data[f, k + 1] + half * data[f, 7 + k]
        g3 = data[f, k + 2] + half * data[f, 8 + k]
        r = rotation
        rk = (r[0] * g1, r[1] * g2, r[2] * g3, r[3] * g1, r[4] * g2, r[5] * g3, r[6] * g1, r[7] * g2, r[8] * g3)
        gain = matmul(rk, transpose(r))
        # -[R y] + gain [R e], as matrices acting on Theta
        turn = maxpy(1.0, matmul(gain, iso_hat(0.0, 1.0, errors[side])),
                     iso_hat(0.0, -1.0, load3(frames.wrench, f, k)))  # fmt: skip
        put_block(frames.block, f, k, 0, turn)
        if side == 0:
            put_block(frames.block, f, k, 6, maxpy(-1.0, gain, iso_hat(0.0, 0.0, w_d)))
        else:  # d(v_d + (x_d - x) x w_d) = w_d x dx
            put_block(frames.block, f, k, 3, matmul(gain, iso_hat(0.0, 1.0, w_d)))
            put_block(frames.block, f, k, 9, maxpy(-1.0, gain, iso_hat(0.0, 0.0, w_d)))


@inline
def has_states(frames):
    """Whether some load has an internal state."""
    return has_kind(frames, THRUSTER)


@part
def step_states(frames, dt):
    """Accept a step: integrals of the thrusters by the trapezoidal rule."""
    for f in range(len(frames.table)):
        for c in range(6 if frames.table[f, KIND] == THRUSTER else 0):
            frames.state[f, 0, c] += 0.5 * dt * (frames.state[f, 1, c] + frames.state[f, 2, c])
            frames.state[f, 1, c] = frames.state[f, 2, c]
