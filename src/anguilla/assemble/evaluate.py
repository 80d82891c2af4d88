"""The residual R(q, v, a) of the equations of motion and its exact tangent: three phases, down, loads, up.

R = M(q) a + C(q, v) v + K q + D v - external forces (004 (17)); R = 0 is the motion, v = a = 0 the equilibrium.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anguilla._jit import kernel
from anguilla.loads.wrench import add_wrench_columns, add_wrenches
from anguilla.mechanics.forces import add_elasticity, inertia_and_gravity, project
from anguilla.mechanics.motion import move
from anguilla.mechanics.tangent import add_elastic_tangent, columns_down, rows_up
from anguilla.mechanics.tree import Floats, Ints


class Forces(NamedTuple):
    """External loads at one instant."""

    gravity: Floats  # (3,) [m/s^2]
    wrench_node: Ints  # (m,)
    wrench_follower: Ints  # (m,) 1 if the wrench turns with its node
    wrench: Floats  # (m, 6) moment [N m], force [N]


@kernel
def residual(tree, ws, forces, q, v, a, out):
    """R(q, v, a) into out (n,)."""
    move(tree, ws, q, v, a)
    inertia_and_gravity(tree, ws, forces.gravity)
    add_wrenches(ws, forces.wrench_node, forces.wrench_follower, forces.wrench)
    project(tree, ws)
    add_elasticity(tree, ws)
    for k in range(len(q)):
        out[k] = ws.rows[tree.lane[k]]


@kernel
def tangent(tree, ws, forces, alpha, beta, out):
    """dR/dq + alpha dR/dv + beta dR/da into out (n, n), at the state of the last call of `residual`."""
    hessian = np.empty((12, 12))
    nodes = len(tree.parent)
    ws.matrix[:] = 0.0
    for i in range(1, nodes):
        columns_down(tree, ws, i, alpha, beta, False)
    add_wrench_columns(tree, ws, forces.wrench_node, forces.wrench_follower, forces.wrench)
    for i in range(nodes - 1, 0, -1):
        rows_up(tree, ws, i, hessian)
    add_elastic_tangent(tree, ws, alpha)
    width = len(ws.rows)
    n = len(tree.lane)
    for i in range(n):
        row = tree.lane[i] * width
        for j in range(n):
            out[i, j] = ws.matrix[row + tree.lane[j]]
