"""Inverse dynamics of trees and loops of rods and rigid bodies (004 V to VIII): the residual of the equations of motion.

A lumped joint is treated as a field with a single point, a rod as one with a Chebyshev grid. All vectors are in body or
section axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anguilla import lie
from anguilla.reference import spectral
from anguilla.reference.robots import Chi, Link, Loop, Lumped, Robot, Soft, coordinate_slices, multiplier_slices, sizes
from anguilla.reference.rod import Array, tendon_stress


@dataclass(frozen=True)
class Motion:
    """Fields along one joint, m points (one for a lumped joint): inertial, and relative to the antecedent (marked rel)."""

    X: Array
    xi: Array
    dxi: Array
    g: Array
    eta: Array
    deta: Array
    g_rel: Array
    eta_rel: Array
    deta_rel: Array


# Pieces of algebra ----------------------------------------------------------------------------------------------------


def times(matrices: Array, x: Array) -> Array:
    """Products of matrices (m, 6, 6) with fields (m, 6) or (m, 6, k)."""
    if x.ndim == 2:
        return np.einsum("mij,mj->mi", matrices, x)
    product: Array = matrices @ x
    return product


def transposed(matrices: Array) -> Array:
    """The transposed matrices (m, b, a) of (m, a, b)."""
    return matrices.swapaxes(-1, -2)


def weight(M: Array, R: Array, gravity: Array) -> Array:
    """F_ext (m, 6) of gravity: M (0, R^T gravity), for inertias M (m, 6, 6) and rotations R (m, 3, 3)."""
    field = np.zeros((len(R), 6))
    field[:, 3:] = transposed(R) @ gravity
    return times(M, field)


# The two passes -------------------------------------------------------------------------------------------------------


def _relative(robot: Robot, link: Link, q: Array, v: Array, a: Array) -> tuple[Array, ...]:
    """X, xi, dxi, and (k_g_j, eta_j/k, deta_j/k) along a joint: (40) if lumped, (41) if soft."""
    joint = link.joint
    if isinstance(joint, Lumped):
        A = np.zeros((1, 6)) if joint.A is None else np.array([joint.A], dtype=float)
        value, rate, acceleration = (x[0] if joint.A is not None else 0.0 for x in (q, v, a))
        return np.zeros(1), A, A, link.pose @ lie.exp6(A * value), A * rate, A * acceleration
    rod = joint.rod
    grid = spectral.chebyshev_grid(robot.points, rod.length)
    phi = rod.basis(grid.X)
    xi, dxi, ddxi = rod.rest(grid.X) + phi @ q, phi @ v, phi @ a
    eta = spectral.twists(grid, xi, dxi)
    deta = spectral.twists(grid, xi, ddxi - times(lie.ad(dxi), eta))
    return grid.X, xi, dxi, spectral.poses(grid, xi, link.pose), eta, deta


def forward(robot: Robot, chi: Chi) -> list[Motion]:
    """Poses, twists and their derivatives of the base (index 0) and of all joints (004 (39))."""
    nothing = np.zeros((1, 6))
    base = chi.g0[None], chi.eta0[None], chi.deta0[None]
    motions = [Motion(np.zeros(1), nothing, nothing, *base, *base)]
    for link, own in zip(robot.links, coordinate_slices(robot), strict=True):
        X, xi, dxi, g_rel, eta_rel, deta_rel = _relative(robot, link, chi.q[own], chi.v[own], chi.a[own])
        before = motions[link.parent]
        Ad = lie.Ad(lie.inverse(g_rel))  # Ad of j_g_k
        eta = Ad @ before.eta[-1] + eta_rel
        # (46) prints another order of Ad and ad along rods; this is the derivative of the line above
        deta = Ad @ before.deta[-1] + times(lie.ad(eta), eta_rel) + deta_rel
        motions.append(Motion(X, xi, dxi, before.g[-1] @ g_rel, eta, deta, g_rel, eta_rel, deta_rel))
    return motions


def _external(robot: Robot, chi: Chi, motions: list[Motion], t: float) -> list[Array]:
    """Wrenches (6,) on each body besides gravity: the given ones and the reactions of the cut joints (45)."""
    out = [np.zeros(6) for _ in motions]
    for wrench in robot.wrenches:
        R = motions[wrench.body].g[-1, :3, :3]
        value = np.asarray(wrench.value(t), dtype=float)
        out[wrench.body] += value if wrench.follower else np.concatenate([R.T @ value[:3], R.T @ value[3:]])
    for loop, rows in zip(robot.loops, multiplier_slices(robot), strict=True):
        _, J, relative = closure(loop, motions)
        F = J.T @ chi.lam[rows]  # on s, in s+; J^T lambda pushes the bodies, as (6) says
        out[loop.follower] += lie.Ad(lie.inverse(loop.follower_pose)).T @ F
        out[loop.leader] += lie.Ad(lie.inverse(loop.leader_pose)).T @ (-lie.Ad(lie.inverse(relative)).T @ F)
    return out


def closure(loop: Loop, motions: list[Motion]) -> tuple[Array, Array, Array]:
    """Phi (m,) of (36), J (m, 6) of (38) and p+_g_s+ (4, 4) of one cut joint."""
    leader, follower = motions[loop.leader].g[-1] @ loop.leader_pose, motions[loop.follower].g[-1] @ loop.follower_pose
    relative = lie.inverse(leader) @ follower
    theta = lie.log3(relative[:3, :3])
    Phi = loop.blocked @ np.concatenate([theta, relative[:3, 3]])
    zero = np.zeros((3, 3))
    J = loop.blocked @ np.block([[lie.dexp3_inv(theta, side="right"), zero], [zero, relative[:3, :3]]])
    return Phi, J, relative


@dataclass(frozen=True)
class Balance:
    """Outputs of IDM*: the residual (9) and the wrenches inside.

    Attributes:
        R0: (6,) wrench that a floating base lacks.
        Rq: (n,) generalised forces that the joints lack.
        Phi: (m,) openings of the cut joints.
        F: F_j (6,) transmitted to each body by its antecedent; index 0 is R0.
        Lambda: stress (points, 6) along each joint; empty for lumped joints.

    """

    R0: Array
    Rq: Array
    Phi: Array
    F: list[Array]
    Lambda: list[Array]


def idm(robot: Robot, chi: Chi, t: float = 0.0) -> tuple[Balance, list[Motion]]:
    """IDM* (004 VIII.C): forward pass (39), backward pass (42) to (44), residual rows (63), (64)."""
    motions = forward(robot, chi)
    external = _external(robot, chi, motions, t)
    n, _ = sizes(robot)
    own = coordinate_slices(robot)
    gravity = np.asarray(robot.gravity, dtype=float)
    inertias = [robot.base_inertia, *(link.inertia for link in robot.links)]
    F: list[Array] = [np.zeros(6) for _ in motions]
    Lambda: list[Array] = [np.zeros((0, 6)) for _ in motions]
    Rq = np.zeros(n)
    for j in range(len(motions) - 1, -1, -1):
        at, M = motions[j], inertias[j]
        eta = at.eta[-1]
        # (27); (42) prints F_ext with the other sign. F[j] already holds what the successors ask for
        F[j] += M @ at.deta[-1] - lie.ad(eta).T @ M @ eta - weight(M[None], at.g[-1:, :3, :3], gravity)[0]
        F[j] -= external[j]
        if j == 0:
            continue
        link = robot.links[j - 1]
        if isinstance(link.joint, Lumped):
            F[link.parent] += lie.Ad(lie.inverse(at.g_rel[0])).T @ F[j]  # (43)
            if link.joint.A is not None:
                Rq[own[j - 1]] = np.array(link.joint.A) @ F[j] - link.joint.torque(t)  # (63)
        else:
            Lambda[j], rows = _stress(robot, link.joint, at, F[j], chi.q[own[j - 1]], chi.v[own[j - 1]], gravity, t)
            F[link.parent] -= lie.Ad(lie.inverse(link.pose)).T @ Lambda[j][0]  # -Lambda(0), moved to the frame of k
            Rq[own[j - 1]] = rows
    Phi = np.concatenate([np.zeros(0), *(closure(loop, motions)[0] for loop in robot.loops)])
    return Balance(F[0], Rq, Phi, F, Lambda), motions


def _stress(
    robot: Robot, joint: Soft, at: Motion, tip: Array, q: Array, v: Array, gravity: Array, t: float
) -> tuple[Array, Array]:
    """Lambda along a rod by (44) from -F_j at its tip, and its rows of the residual (64), with damping (33)."""
    rod, X = joint.rod, at.X
    grid = spectral.chebyshev_grid(robot.points, rod.length)
    M = np.eye(6) * rod.inertia(X)[:, :, None]
    gyroscopic = times(transposed(lie.ad(at.eta)), times(M, at.eta))
    b = times(M, at.deta) - gyroscopic - weight(M, at.g[:, :3, :3], gravity)
    Lambda = spectral.wrenches(grid, at.xi, b, -tip)
    phi = rod.basis(X)
    elastic = rod.hooke(X) * (phi @ (q + rod.damping * v))
    active = sum((T * tendon_stress(d, X, at.xi) for d, T in zip(joint.tendons, joint.tensions(t), strict=True)), 0.0)
    return Lambda, spectral.integral(grid, times(transposed(phi), active + elastic - Lambda))
