"""Where things stand in a state and in its tangent, and the small algebra on them that compiled code shares.

The state along a segment is 30 numbers: rotation R (9, row by row), position r (3), twist eta (6), its rate (6),
stress Lambda (6). Its tangent is 24 numbers: zeta (R^T dR and R^T dr), d eta, d eta-dot, d Lambda. A pose is the first 12
numbers of a state.
"""

from __future__ import annotations

from anguilla.compiler.jit import inline

POS, ETA, ACC, LAM, STATE = 9, 12, 18, 24, 30
T_ETA, T_ACC, T_LAM, TANGENT = 6, 12, 18, 24


@inline
def get3(y, k):
    """The three numbers y[k:k+3]."""
    return y[k], y[k + 1], y[k + 2]


@inline
def put3(y, k, v):
    """y[k:k+3] = v."""
    y[k], y[k + 1], y[k + 2] = v[0], v[1], v[2]


@inline
def column3(Y, i, j):
    """The three numbers Y[i:i+3, j]."""
    return Y[i, j], Y[i + 1, j], Y[i + 2, j]


@inline
def put_column3(Y, i, j, v):
    """Y[i:i+3, j] = v."""
    Y[i, j], Y[i + 1, j], Y[i + 2, j] = v[0], v[1], v[2]


@inline
def unit3(j):
    """The unit vector along axis j."""
    return 1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0


@inline
def to_section(y, v):
    """R^T v, with R at the head of a state or of a pose."""
    return (
        y[0] * v[0] + y[3] * v[1] + y[6] * v[2],
        y[1] * v[0] + y[4] * v[1] + y[7] * v[2],
        y[2] * v[0] + y[5] * v[1] + y[8] * v[2],
    )


@inline
def to_world(y, v):
    """R v."""
    return (
        y[0] * v[0] + y[1] * v[1] + y[2] * v[2],
        y[3] * v[0] + y[4] * v[1] + y[5] * v[2],
        y[6] * v[0] + y[7] * v[1] + y[8] * v[2],
    )


@inline
def _row6(M, i, o, v):
    return M[i, 0] * o[0] + M[i, 1] * o[1] + M[i, 2] * o[2] + M[i, 3] * v[0] + M[i, 4] * v[1] + M[i, 5] * v[2]


@inline
def times6(M, o, v):
    """M (o, v) of a matrix (6, 6), as its two halves."""
    return (
        (_row6(M, 0, o, v), _row6(M, 1, o, v), _row6(M, 2, o, v)),
        (_row6(M, 3, o, v), _row6(M, 4, o, v), _row6(M, 5, o, v)),
    )
