"""The balance of all instants of a motion, each with its loads and the integrals of thrusters that it saw."""

from __future__ import annotations

from anguilla.compiler.distant import entry
from anguilla.compiler.jit import part
from anguilla.interact.kernels.table import DT, TIME
from anguilla.model.evaluate import residual
from anguilla.solve.gradients.holding import is_held, recall, weigh_bristles


@part
def take_instant(loads, column, table, dt, step, integral):
    """Loads of an instant, with the integrals of thrusters (f, 6) as the balance of that instant sees them."""
    for j in range(len(column)):
        loads.row[column[j]] = table[step, j]
    loads.row[DT], loads.row[TIME] = dt, step * dt
    for f in range(len(integral)):
        for c in range(6):
            loads.frames.state[f, 0, c], loads.frames.state[f, 1, c] = integral[f, c], 0.0


@entry(residual)
def integrals(tree, ws, loads, column, table, dt, Q, V, A, LAM, out, Y):
    """Integrals of thrusters as the balance of each state sees them, Y (N + 1, f, 6): y1 = dt/2 e0, then y2 = y1 + dt e1."""
    for step in range(len(Q)):
        take_instant(loads, column, table, dt, step, Y[step])
        residual(tree, ws, loads, Q[step], V[step], A[step], LAM[step], out)
        if step + 1 < len(Q):
            part = 0.5 * dt if step == 0 else dt
            for f in range(Y.shape[1]):
                for c in range(6):
                    Y[step + 1, f, c] = Y[step, f, c] + part * loads.frames.state[f, 2, c]


@entry(residual)
def weigh(tree, ws, loads, column, table, dt, Q, V, A, LAM, Y, MU, YH, hold, out):
    """The balance of a motion, weighed: sum over the states 1.. of MU . (R, phi), less YH . changes of the integrals.

    And less the weighed bristles of contacts (holding.py).
    """
    total = 0.0
    first = 0 if Y.shape[1] > 0 else 1
    for step in range(first, len(Q)):
        take_instant(loads, column, table, dt, step, Y[step])
        recall(loads, hold, step)
        residual(tree, ws, loads, Q[step], V[step], A[step], LAM[step], out)
        if step > 0:
            for k in range(len(out)):
                total += MU[step, k] * out[k]
            if is_held(hold):
                total -= weigh_bristles(loads, hold, step)
        part = 0.5 * dt if step == 0 else dt
        for f in range(Y.shape[1]):
            for c in range(6):
                total -= part * YH[step + 1, f, c] * loads.frames.state[f, 2, c]
    return total


@entry(residual)
def balance_rows(tree, ws, loads, column, table, dt, Q, V, A, LAM, Y, out, errors):
    """(R, phi) of every state into out (N + 1, n + m), and the errors of thrusters into errors (N + 1, f, 6)."""
    for step in range(len(Q)):
        take_instant(loads, column, table, dt, step, Y[step])
        residual(tree, ws, loads, Q[step], V[step], A[step], LAM[step], out[step])
        for f in range(Y.shape[1]):
            for c in range(6):
                errors[step, f, c] = loads.frames.state[f, 2, c]
