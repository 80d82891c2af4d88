"""The forward march of sensitivities, compiled: robots solved densely, without balls, prescribed motions and integrals."""

from __future__ import annotations

from anguilla.compiler.distant import entry
from anguilla.compiler.jit import part
from anguilla.model.evaluate import residual, tangent
from anguilla.solve.gradients.fading import lean, note_change
from anguilla.solve.gradients.instants import take_instant
from anguilla.solve.newton.linear import factorise, solve_factorised
from anguilla.solve.newton.newton import equilibrate

__all__ = ["march_forth"]


@part
def _right_side(scheme, dt, matrices, force, dq, dv, da, dacc, vectors, n):
    """Right-hand side of one parameter into vectors[0], w into vectors[3]; matrices hold K, T = K + N and K + ca1 M."""
    am, af, beta, gamma, _ = scheme
    ca1, back, share = 1.0 / (beta * dt * dt), 0.5 / beta - 1.0, (1.0 - am) / (1.0 - af)
    right, along, heavy, w = vectors[0], vectors[1], vectors[2], vectors[3]
    for j in range(n):
        w[j] = -ca1 * (dq[j] + dt * dv[j]) - back * da[j]
        x = (dv[j] + dt * (1.0 - gamma) * da[j]) / (gamma * dt)
        along[j] = (w[j] + x) / ca1
        heavy[j] = ((am * da[j] - af * dacc[j]) / (1.0 - af) - share * x) / ca1
    for i in range(len(right)):
        total = -force[i]
        for j in range(n):
            stiff = matrices[0, i, j]
            total -= (matrices[1, i, j] - stiff) * along[j] + (matrices[2, i, j] - stiff) * heavy[j]
        right[i] = total


@entry(residual, tangent)
def march_forth(tree, ws, loads, column, table, scheme, dt, states, rows, da, room, fading, dq, dv, dacc, dlam):
    """Changes of all states after the first; False if a step has a singular matrix (see `sensitivity`).

    Args:
        tree: the robot.
        ws: its workspace.
        loads: its loads; with column and table (N + 1, w) those of all instants.
        column: (w,) places in the row of the loads.
        table: (N + 1, w) what stands there.
        scheme: `Coefficients` as a tuple.
        dt: step [s].
        states: a `Trail`.
        rows: (N + 1, k, n + m) explicit changes of the balance.
        da: (k, n) change of the averaged acceleration at the start; it goes on with the steps.
        room: a `SweepRoom`.
        fading: a `Fading`; the time since the last step stands in the loads.
        dq: (N + 1, k, n), of which the first is given, like those of
        dv: (N + 1, k, n),
        dacc: (N + 1, k, n) true accelerations, and
        dlam: (N + 1, k, m) multipliers.

    """
    am, af, beta, gamma, _ = scheme
    ca1, share = 1.0 / (beta * dt * dt), (1.0 - am) / (1.0 - af)
    matrices, vectors, pivot = room.matrices, room.vectors, room.pivot
    matrix, right, left, scale = matrices[3], vectors[0], vectors[5], vectors[6]
    n, k = dq.shape[2], dq.shape[1]
    size = n + dlam.shape[2]
    for step in range(1, len(dq)):
        lam = states.lam[step]
        take_instant(loads, column, table, dt, step, states.y[step])
        residual(tree, ws, loads, states.q[step], states.v[step], states.a[step], lam, vectors[9])
        ws.increment[:] = 0.0
        tangent(tree, ws, loads, 0.0, 0.0, lam, matrices[0])
        tangent(tree, ws, loads, ca1 * gamma * dt, ca1 * share, lam, matrices[1])
        tangent(tree, ws, loads, 0.0, ca1, lam, matrices[2])
        for i in range(size):
            for j in range(size):
                matrix[i, j] = matrices[1, i, j]
        equilibrate(tree, matrix, left, scale)
        if not factorise(matrix, pivot):
            return False
        for p in range(k):
            before = dacc[step - 1, p] if step > 1 else da[p]
            _right_side(
                scheme, dt, matrices, rows[step, p], dq[step - 1, p], dv[step - 1, p], da[p], before, vectors, n
            )
            if len(fading.weight) > 0:
                lean(fading, p, dq[step - 1, p], vectors[7], vectors[8])
                for i in range(n):
                    right[i] -= vectors[8, i]
            for i in range(size):
                right[i] *= left[i]
            solve_factorised(matrix, pivot, right)
            for j in range(n):
                old = (am * da[p, j] - af * before[j]) / (1.0 - af)
                dq[step, p, j] = right[j] * scale[j]
                new = ca1 * dq[step, p, j] + vectors[3, j]
                dv[step, p, j] = dv[step - 1, p, j] + dt * ((1.0 - gamma) * da[p, j] + gamma * new)
                dacc[step, p, j] = share * new + old
                vectors[4, j] = new
            if len(fading.weight) > 0:
                note_change(fading, p, dq[step - 1, p], dq[step, p])
            for j in range(n):  # `before` may be the row itself
                da[p, j] = vectors[4, j]
            for j in range(n, size):
                dlam[step, p, j - n] = right[j] * scale[j]
    return True
