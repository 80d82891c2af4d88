"""The residual R(q, v, a) of the equations of motion and its exact tangent: three phases, down, loads, up.

R = M(q) a + C(q, v) v + K q + D v - external forces (004 (17)); R = 0 is the motion, v = a = 0 the equilibrium.
"""

from __future__ import annotations

from typing import NamedTuple

from anguilla._jit import kernel
from anguilla.loads.tendon import add_tendon_forces, add_tendon_hessians
from anguilla.loads.wrench import add_wrench_columns, add_wrenches
from anguilla.mechanics.forces import add_elasticity, carry_up, collect_forces, inertia_and_gravity
from anguilla.mechanics.motion import move
from anguilla.mechanics.tangent import (
    add_elastic_tangent,
    clear_below,
    collect_rows,
    columns_down,
    columns_up,
    linearise_locally,
)
from anguilla.mechanics.tree import Floats, Ints


class Forces(NamedTuple):
    """External loads at one instant."""

    gravity: Floats  # (3,) [m/s^2]
    wrench_node: Ints  # (m,)
    wrench_follower: Ints  # (m,) 1 if the wrench turns with its node
    wrench: Floats  # (m, 6) moment [N m], force [N]
    effort: Floats  # (n,) generalised forces on the coordinates (torques and forces of joint motors)
    tension: Floats  # (actuators,) inputs of tendons [N] and chambers [Pa]


@kernel
def residual(tree, ws, forces, q, v, a, out):
    """R(q, v, a) into out (n,)."""
    move(tree, ws, q, v, a)
    inertia_and_gravity(tree, ws, forces.gravity)
    add_wrenches(ws, forces.wrench_node, forces.wrench_follower, forces.wrench)
    carry_up(tree, ws)
    add_tendon_forces(tree, ws, forces.tension)
    collect_forces(tree, ws)
    add_elasticity(tree, ws)
    for k in range(len(q)):
        out[k] = ws.rows[tree.lane[k]] - forces.effort[k]


@kernel
def tangent(tree, ws, forces, alpha, beta, out):
    """dR/dq + alpha dR/dv + beta dR/da into out (n, n), at the state of the last call of `residual`."""
    ws.matrix[:] = 0.0
    linearise_locally(tree, ws, alpha, beta)
    add_tendon_hessians(tree, ws, forces.tension)
    for s in range(1, len(tree.first)):
        for k in range(tree.path_packs[s] + tree.own_packs[s]):
            columns_down(tree, ws, s, k)
        for k in range(tree.path_packs[s] + tree.own_packs[s], tree.path_packs[s] + tree.sub_packs[s]):
            clear_below(tree, ws, s, k)
    add_wrench_columns(tree, ws, forces.wrench_node, forces.wrench_follower, forces.wrench)
    for s in range(len(tree.first) - 1, 0, -1):
        for k in range(tree.path_packs[s] + tree.sub_packs[s]):
            columns_up(tree, ws, s, k)
            collect_rows(tree, ws, s, k)
    add_elastic_tangent(tree, ws, alpha)
    width = len(ws.rows)
    n = len(tree.lane)
    for i in range(n):
        row = tree.lane[i] * width
        for j in range(n):
            out[i, j] = ws.matrix[row + tree.lane[j]]
