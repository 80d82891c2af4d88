"""Tangent inverse dynamics (004 VII.B, VIII): the exact variation of the residual for variations of all inputs.

Derivatives are taken for k directions side by side: a variation of a vector has k columns, one of a field (m, 6) is
(m, 6, k). A pose varies by dzeta = g^-1 dg, in body axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anguilla import lie
from anguilla.reference import spectral
from anguilla.reference.newton_euler import Balance, Motion, closure, times, transposed
from anguilla.reference.robots import Chi, Link, Loop, Lumped, Robot, Soft, coordinate_slices, multiplier_slices
from anguilla.reference.rod import Array, tendon_stress_tangent


def coad(y: Array) -> Array:
    """Matrix (m, 6, 6) of the map x -> ad_x^T y for wrenches y (m, 6)."""
    c, f = lie.hat3(y[:, :3]), lie.hat3(y[:, 3:])
    return np.block([[c, f], [f, np.zeros_like(f)]])


def weight_tangent(M: Array, R: Array, gravity: Array) -> Array:
    """Derivative (m, 6, 6) of `weight` by dzeta: d(R^T gravity) = (R^T gravity)^ dtheta (004, Appendix 2)."""
    turn = np.zeros((len(R), 6, 6))
    turn[:, 3:, :3] = lie.hat3(transposed(R) @ gravity)
    return M @ turn


@dataclass(frozen=True)
class Variation:
    """k variations of the motion along a joint: dzeta = (g^-1 dg), of eta and of deta, (m, 6, k); relative ones too."""

    zeta: Array
    eta: Array
    deta: Array
    zeta_rel: Array
    xi: Array


def _relative_tangent(robot: Robot, link: Link, at: Motion, q: Array, v: Array, a: Array) -> tuple[Array, ...]:
    """Variations (dzeta, deta, d deta)_j/k along a joint for k columns of (dq, dv, da): (49) or (50); and dxi."""
    joint = link.joint
    if isinstance(joint, Lumped):
        A = np.zeros((6, 0)) if joint.A is None else np.array(joint.A, dtype=float)[:, None]
        return (A @ q)[None], (A @ v)[None], (A @ a)[None], np.zeros((1, 6, q.shape[1]))
    grid = spectral.chebyshev_grid(robot.points, joint.rod.length)
    phi = joint.rod.basis(at.X)
    dxi, d_rate, d_acceleration = phi @ q, phi @ v, phi @ a
    ad_eta, ad_deta, ad_rate = lie.ad(at.eta_rel), lie.ad(at.deta_rel), lie.ad(at.dxi)
    zeta = spectral.twists(grid, at.xi, dxi)
    eta = spectral.twists(grid, at.xi, ad_eta @ dxi + d_rate)
    deta = spectral.twists(grid, at.xi, -ad_rate @ eta + ad_eta @ d_rate + ad_deta @ dxi + d_acceleration)
    return zeta, eta, deta, dxi


def forward_tangent(robot: Robot, motions: list[Motion], delta: Chi) -> list[Variation]:
    """Variations of all motions (004 (48)) for k columns of inputs."""
    k = delta.q.shape[1]
    nothing = np.zeros((1, 6, k))
    variations = [Variation(delta.g0[None], delta.eta0[None], delta.deta0[None], nothing, nothing)]
    for j, (link, own) in enumerate(zip(robot.links, coordinate_slices(robot), strict=True), 1):
        at, k_at, before = motions[j], motions[link.parent], variations[link.parent]
        zeta_rel, eta_rel, deta_rel, dxi = _relative_tangent(robot, link, at, delta.q[own], delta.v[own], delta.a[own])
        Ad = lie.Ad(lie.inverse(at.g_rel))
        zeta = Ad @ before.zeta[-1] + zeta_rel
        eta = Ad @ before.eta[-1] + lie.ad(Ad @ k_at.eta[-1]) @ zeta_rel + eta_rel
        deta = Ad @ before.deta[-1] + lie.ad(Ad @ k_at.deta[-1]) @ zeta_rel - lie.ad(at.eta_rel) @ eta
        deta += lie.ad(at.eta) @ eta_rel + deta_rel
        variations.append(Variation(zeta, eta, deta, zeta_rel, dxi))
    return variations


def _external_tangent(robot: Robot, chi: Chi, delta: Chi, motions: list[Motion], moved: list[Variation], t: float):
    """Variations (6, k) of `_external` on each body, and of Phi (m, k)."""
    k = delta.q.shape[1]
    out = [np.zeros((6, k)) for _ in motions]
    for wrench in robot.wrenches:
        if not wrench.follower:
            R, value = motions[wrench.body].g[-1, :3, :3], np.asarray(wrench.value(t), dtype=float)
            turn = np.concatenate([lie.hat3(R.T @ value[:3]), lie.hat3(R.T @ value[3:])])
            out[wrench.body] += turn @ moved[wrench.body].zeta[-1, :3]
    d_Phi = [np.zeros((0, k))]
    for loop, rows in zip(robot.loops, multiplier_slices(robot), strict=True):
        _, J, relative = closure(loop, motions)
        to_s, to_p = lie.Ad(lie.inverse(loop.follower_pose)), lie.Ad(lie.inverse(loop.leader_pose))
        Ad = lie.Ad(lie.inverse(relative))  # of s+_g_p+
        zeta = to_s @ moved[loop.follower].zeta[-1] - Ad @ to_p @ moved[loop.leader].zeta[-1]  # (59)
        d_Phi.append(J @ zeta)
        lam = chi.lam[rows]
        F = J.T @ lam
        dF = J.T @ delta.lam[rows] + _closure_curvature(loop, relative, lam) @ zeta  # (56), (57)
        # (58) corrected: d Ad^T of the inverse pose is -Ad^T ad^T
        dF_leader = -Ad.T @ dF + Ad.T @ coad(F[None])[0] @ zeta
        out[loop.follower] += to_s.T @ dF
        out[loop.leader] += to_p.T @ dF_leader
    return out, np.concatenate(d_Phi)


def _closure_curvature(loop: Loop, relative: Array, lam: Array) -> Array:
    """Derivative (6, 6) of J^T lambda by dzeta_s+/p+: d(T^-T y) and dR = R (dtheta)^ (57, whose print has R T)."""
    theta, full = lie.log3(relative[:3, :3]), loop.blocked.T @ lam
    out = np.zeros((6, 6))
    xi, y = np.concatenate([theta, np.zeros(3)]), np.concatenate([full[:3], np.zeros(3)])
    second = lie.ddexp6_inv_T(xi, y, side="right")[:3, :3]
    out[:3, :3] = second @ lie.dexp3_inv(theta, side="right")
    out[3:, :3] = lie.hat3(relative[:3, :3].T @ full[3:])
    return out


def tidm(
    robot: Robot, chi: Chi, delta: Chi, balance: Balance, motions: list[Motion], t: float = 0.0
) -> tuple[Array, Array, Array]:
    """TIDM* (004 VII.B, VIII.C): variations (6, k), (n, k), (m, k) of (R0, Rq, Phi) for k variations delta of chi.

    balance and motions are what `idm` returned at chi. In delta, g0 holds dzeta_0 (6, k).
    """
    moved = forward_tangent(robot, motions, delta)
    external, d_Phi = _external_tangent(robot, chi, delta, motions, moved, t)
    own = coordinate_slices(robot)
    k = delta.q.shape[1]
    gravity = np.asarray(robot.gravity, dtype=float)
    inertias = [robot.base_inertia, *(link.inertia for link in robot.links)]
    dF = [np.zeros((6, k)) for _ in motions]
    dRq = np.zeros((len(chi.q), k))
    for j in range(len(motions) - 1, -1, -1):
        at, by, M = motions[j], moved[j], inertias[j][None]
        dF[j] += _inertia_tangent(M, at.g[-1:], at.eta[-1:], by.zeta[-1:], by.eta[-1:], by.deta[-1:], gravity)[0]
        dF[j] -= external[j]  # (51)
        if j == 0:
            continue
        link = robot.links[j - 1]
        if isinstance(link.joint, Lumped):
            turned = dF[j] - coad(balance.F[j][None])[0] @ by.zeta_rel[0]  # (53)
            dF[link.parent] += lie.Ad(lie.inverse(at.g_rel[0])).T @ turned
            if link.joint.A is not None:
                dRq[own[j - 1]] = np.array(link.joint.A)[None] @ dF[j]  # (65)
        else:
            d_Lambda, rows = _stress_tangent(
                robot,
                link.joint,
                at,
                by,
                balance.Lambda[j],
                dF[j],
                delta.q[own[j - 1]],
                delta.v[own[j - 1]],
                gravity,
                t,
            )
            dF[link.parent] -= lie.Ad(lie.inverse(link.pose)).T @ d_Lambda[0]
            dRq[own[j - 1]] = rows
    return dF[0], dRq, d_Phi


def _inertia_tangent(M: Array, g: Array, eta: Array, zeta: Array, d_eta: Array, d_deta: Array, gravity: Array) -> Array:
    """Variation (m, 6, k) of M deta - ad_eta^T M eta - weight."""
    gyroscopic = transposed(lie.ad(eta)) @ M @ d_eta + coad(times(M, eta)) @ d_eta
    force: Array = M @ d_deta - gyroscopic - weight_tangent(M, g[:, :3, :3], gravity) @ zeta
    return force


def _stress_tangent(
    robot: Robot, joint: Soft, at: Motion, by: Variation, Lambda: Array, tip: Array, q: Array, v: Array,
    gravity: Array, t: float,
) -> tuple[Array, Array]:  # fmt: skip
    """Variations of `_stress`: (54) and (66)."""
    rod, X = joint.rod, at.X
    grid = spectral.chebyshev_grid(robot.points, rod.length)
    M = np.eye(6) * rod.inertia(X)[:, :, None]
    b = _inertia_tangent(M, at.g, at.eta, by.zeta, by.eta, by.deta, gravity) + coad(Lambda) @ by.xi
    d_Lambda = spectral.wrenches(grid, at.xi, b, -tip)
    phi = rod.basis(X)
    elastic = rod.hooke(X)[:, :, None] * (phi @ (q + rod.damping * v))
    active = np.zeros((len(X), 6, 6))
    for tendon, T in zip(joint.tendons, joint.tensions(t), strict=True):
        active += T * tendon_stress_tangent(tendon, X, at.xi)  # (62)
    return d_Lambda, spectral.integral(grid, transposed(phi) @ (active @ by.xi + elastic - d_Lambda))
