"""Statics as the rest of an artificial, heavily damped motion (000 VIII.A).

The first flow holds a rod clamped at its root under loads; the second also prescribes the pose of the tip, by projecting the
flow on the motions which the tip allows. A flow asks for the static forces many times: along X they are found on the
Chebyshev grid of 004 IX, twenty times faster than by the integration of `idm`, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp
from scipy.linalg import null_space

from anguilla import lie
from anguilla.errors import SolverError
from anguilla.reference import spectral
from anguilla.reference.idm import Loads
from anguilla.reference.rod import Array, Rod, Tendon, actuation, stiffness

POINTS = 24  # of the Chebyshev grid
RUNAWAY = 1e4  # a flow with larger rates will not come back
MU = 1.0  # [s] of the artificial damping D_ee = MU K_ee: its time is only a label


def static_forces(rod: Rod, q: Array, loads: Loads | None = None, *, points: int = POINTS) -> Array:
    """Q_c (n,), the generalised forces that hold the loads (000 (33), clamped root), by (40) and (43) without motion."""
    loads = loads or Loads()
    grid = spectral.chebyshev_grid(points, rod.length)
    phi = rod.basis(grid.X)
    xi = rod.rest(grid.X) + phi @ q
    g = spectral.poses(grid, xi, np.eye(4))
    R = g[:, :3, :3]
    fall = np.concatenate([np.zeros((points, 3)), np.asarray(loads.gravity) @ R], axis=1)  # (0, R^T gravity)
    F1 = np.asarray(loads.tip, dtype=float)
    if not loads.follower:
        F1 = np.concatenate([F1[:3] @ R[-1], F1[3:] @ R[-1]])
    if loads.tip_inertia is not None:
        F1 = F1 + np.asarray(loads.tip_inertia) @ fall[-1]
    Lambda = spectral.wrenches(grid, xi, -rod.inertia(grid.X) * fall, F1)  # (40)
    return -spectral.integral(grid, np.einsum("mki,mk->mi", phi, Lambda))  # (43)


def tip_pose_and_jacobian(rod: Rod, q: Array, *, points: int = POINTS) -> tuple[Array, Array]:
    """Pose g(l) (4, 4) of the tip and J_1 (6, n), eta(l) = J_1 v, of a rod clamped at the identity (000 (51) to (53))."""
    grid = spectral.chebyshev_grid(points, rod.length)
    phi = rod.basis(grid.X)
    xi = rod.rest(grid.X) + phi @ q
    return spectral.poses(grid, xi, np.eye(4))[-1], spectral.twists(grid, xi, phi)[-1]  # (52)


def static_flow(
    rod: Rod, loads: Loads | None = None, *, q: Array | None = None, tendons: Sequence[Tendon] = (),
    tensions: ArrayLike = (), duration: float = 500.0, tolerance: float = 1e-9,
) -> Array:  # fmt: skip
    """Coordinates (n,) of the equilibrium, where the flow D_ee q' + K_ee q = Q_ad - Q_c(q) (000 (45), (59)) comes to rest.

    duration is the artificial time [s] (the damping time is 1 s), tolerance the largest rate left, relative to 1 rad.
    """
    K, T = stiffness(rod), np.asarray(tensions, dtype=float).reshape(len(tendons))

    def rate(_: float, q: Array) -> Array:
        force = actuation(rod, tendons, q) @ T - static_forces(rod, q, loads) - K @ q
        return np.asarray(np.linalg.solve(MU * K, force))

    return _come_to_rest(rate, np.zeros(rod.size) if q is None else q, duration, tolerance)


def projective_flow(
    rod: Rod, g1: Array, loads: Loads | None = None, *, q: Array, gain: float = 1.0, duration: float = 500.0,
    tolerance: float = 1e-9,
) -> Array:  # fmt: skip
    """Coordinates (n,) of an equilibrium of a rod clamped at both ends (000 (55) to (58)).

    Args:
        rod: the rod, its root clamped at the identity.
        g1: the pose of the tip (4, 4).
        loads: external loads.
        q: where to start (n,): the flow follows the branch it starts from.
        gain: k_p [1/s] of the feedback that brings the tip to its pose.
        duration: largest artificial time [s], with a damping time of 1 s.
        tolerance: largest rate left.

    """
    K = stiffness(rod)
    D = MU * K

    def rate(_: float, q: Array) -> Array:
        g, J = tip_pose_and_jacobian(rod, q)
        psi = lie.log6(lie.inverse(g1) @ g)
        # (58) prints + k_p psi: that error grows
        eta1 = lie.dexp6(psi, side="right") @ (-gain * psi)
        H = null_space(J)  # (56)
        held = H @ np.linalg.solve(H.T @ D @ H, H.T)
        particular = np.linalg.pinv(J) @ eta1
        weight = static_forces(rod, q, loads) if loads else 0.0
        flow: Array = -held @ (K @ q + weight) + particular - held @ D @ particular  # (57)
        return flow

    return _come_to_rest(rate, q, duration, tolerance)


def tip_reaction(rod: Rod, q: Array, loads: Loads | None = None) -> Array:
    """Lambda_1 (6,), the wrench on the tip that balances K q + Q_g = J_1^T Lambda_1 (000 (55)) best."""
    force = stiffness(rod) @ q + (static_forces(rod, q, loads) if loads else 0.0)
    _, J = tip_pose_and_jacobian(rod, q)
    return np.asarray(np.linalg.lstsq(J.T, force, rcond=None)[0])


def _come_to_rest(rate: Callable[[float, Array], Array], q: Array, duration: float, tolerance: float) -> Array:
    """Follow a flow in longer and longer stretches of artificial time until its rate is small.

    Only the end matters: each stretch is integrated no more accurately than its starting rate deserves.
    """
    t, left = 0.0, np.max(np.abs(rate(0.0, q)))
    while t < duration:
        stretch, error = min(max(1.0, t), duration - t), float(np.clip(0.03 * left, 0.1 * tolerance, 1e-3))
        run = solve_ivp(rate, (0.0, stretch), q, method="RK45", rtol=error, atol=error)
        if not run.success:
            break
        q, t = run.y[:, -1], t + stretch
        left = np.max(np.abs(rate(0.0, q)))
        if left < tolerance:
            return q
        if left > RUNAWAY:
            break
    raise SolverError(
        f"The flow has not come to rest after {t:g} s: rates up to {left:.2g} are left.", q,
        "Move the load or the tip in smaller steps, or give more time.",
    )  # fmt: skip
