"""The computed-torque algorithm of the eel (001 V to VIII): a prescribed shape in time gives motion and control torques.

Vectors are in inertial axes unless said otherwise: omega and the velocity and acceleration of the section centres, the
internal force n. The control torque M is in section axes. n and M are what the part before X (the head) exerts on the part
behind it, so M = -Lambda of the other papers. t1 points from head to tail: swimming forward means V1 < 0.

Once the orientations are known, all fields but M are plain integrals along X, taken in the order of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from anguilla import lie
from anguilla.errors import SolverError
from anguilla.reference.gaits import Gait
from anguilla.reference.idm import quaternion_rate
from anguilla.reference.rod import Array
from anguilla.reference.spectral import quaternion_body_rate
from anguilla.reference.water import Body, Grid, Sections, Water, drag, gauss_grid, integrate, sections, solve


@dataclass(frozen=True)
class Eel:
    """A body, its water, its gait, and the grid they are evaluated on."""

    gait: Gait
    grid: Grid
    own: Sections
    head_drag: float
    head_mass: float


@dataclass(frozen=True)
class Head:
    """State of the head: pose, velocity of its origin and angular velocity, inertial axes."""

    r: Array
    R: Array
    dr: Array
    omega: Array


@dataclass(frozen=True)
class Swim:
    """Everything at one instant; fields are (p, m, ...) over the points of the grid.

    Attributes:
        K, K_rate: curvature [rad/m] and its rate, section axes.
        R, r: orientation (p, m, 3, 3) and position [m].
        omega, dr: angular velocity [rad/s] and velocity [m/s].
        d_omega, ddr: their time derivatives.
        force, moment: drag per length, inertial axes [N/m], [N].
        n: internal force [N]; inertial axes.
        M: control torque [N m]; section axes.
        n_tail, M_tail: n and M at X = L, which should be zero.
        head_force: what the water exerts on the nose [N].
        ddr_o, d_omega_o: acceleration of the head.

    """

    K: Array
    K_rate: Array
    R: Array
    r: Array
    omega: Array
    dr: Array
    d_omega: Array
    ddr: Array
    force: Array
    moment: Array
    n: Array
    M: Array
    n_tail: Array
    M_tail: Array
    head_force: Array
    ddr_o: Array
    d_omega_o: Array


def make_eel(body: Body, water: Water, gait: Gait, *, points: int = 16) -> Eel:
    """An eel on a grid of so many Gauss points per panel."""
    grid = gauss_grid(body, points)
    return Eel(gait, grid, sections(body, water, grid), water.head_drag, water.head_mass)


def _rotate(R: Array, x: Array) -> Array:
    return np.einsum("...ij,...j->...i", R, x)


def _rotate_back(R: Array, x: Array) -> Array:
    return np.einsum("...ji,...j->...i", R, x)


def _along(R: Array, diagonal: Array) -> Array:
    """Tensor (..., 3, 3) in inertial axes of one with this diagonal (..., 3) in section axes."""
    return np.einsum("...ik,...k,...jk->...ij", R, diagonal, R)


def _axial(x: Array) -> Array:
    """Vectors (x, 0, 0) along t1 in section axes."""
    return np.stack([x, np.zeros_like(x), np.zeros_like(x)], axis=-1)


def instant(eel: Eel, head: Head, t: float) -> Swim:
    """Both space loops at time t (001 VIII)."""
    grid, own = eel.grid, eel.own
    K, dK, ddK = eel.gait(grid.X, t)
    zero = np.zeros(3)

    # First loop: configuration, velocities, and accelerations for a head that does not accelerate
    Q, _ = solve(grid, 0.5 * quaternion_body_rate(K.reshape(-1, 3)).reshape(*K.shape[:2], 4, 4),
                 np.zeros((*K.shape[:2], 4)), np.array([1.0, 0.0, 0.0, 0.0]))  # fmt: skip
    R = head.R @ lie.rotation_from_wxyz(Q)  # (48)
    t1 = R[..., 0]
    r, _ = integrate(grid, t1, head.r)  # (49)
    RdK = _rotate(R, dK)
    omega, _ = integrate(grid, RdK, head.omega)  # (50)
    dr, _ = integrate(grid, np.cross(omega, t1), head.dr)  # (51)
    d_omega_e, _ = integrate(grid, _rotate(R, ddK) + np.cross(omega, RdK), zero)  # (52)
    centripetal = np.cross(omega, np.cross(omega, t1))
    gamma_e, _ = integrate(grid, np.cross(d_omega_e, t1) + centripetal, zero)  # (53)

    # Water and inertia: added mass ADDS to the mass of the section
    force, moment = (_rotate(R, x) for x in drag(own, _rotate_back(R, dr), _rotate_back(R, omega)[..., 0]))  # (14)
    mass = own.area[..., None, None] * np.eye(3) + _along(R, own.added)  # rho A + c_lm
    inertia = _along(R, own.inertia)
    turning = inertia + _along(R, _axial(own.added_turn))  # rho I + c_am
    gyroscopic = np.cross(omega, _rotate(inertia, omega))
    t1_o, V1_o = head.R[:, 0], head.R[:, 0] @ head.dr
    head_drag = -eel.head_drag * V1_o * abs(V1_o) * t1_o  # (16)
    head_mass = eel.head_mass * np.outer(t1_o, t1_o)

    # Head dynamics (34): integrals (54) to (56) with the initial values (57), (58)
    arm = lie.hat3(r - head.r)
    density = np.block([[mass, -mass @ arm], [arm @ mass, turning - arm @ mass @ arm]])  # (54)
    at_head = np.block([[head_mass, np.zeros((3, 3))], [np.zeros((3, 6))]])
    _, I = integrate(grid, density, at_head)
    _, F_e = integrate(grid, _wrench(arm, _rotate(mass, gamma_e), _rotate(turning, d_omega_e) + gyroscopic),
                       np.zeros(6))  # (55)  # fmt: skip
    _, F_dl = integrate(grid, _wrench(arm, force, moment), np.concatenate([head_drag, zero]))  # (56)
    ddr_o, d_omega_o = np.split(np.linalg.solve(I, F_dl - F_e), 2)

    # Second loop: accelerations, internal force, control torque
    d_omega, _ = integrate(grid, _rotate(R, ddK) + np.cross(omega, RdK), d_omega_o)  # (61)
    ddr, _ = integrate(grid, np.cross(d_omega, t1) + centripetal, ddr_o)  # (62)
    head_force = head_drag - head_mass @ ddr_o
    n, n_tail = integrate(grid, -_rotate(mass, ddr) + force, head_force)  # (63) with + c_lm, (44)
    torque = -_rotate(turning, d_omega) - gyroscopic - np.cross(t1, n) + moment  # (64) with + c_am
    M, M_tail = solve(grid, -lie.hat3(K), _rotate_back(R, torque), zero)
    return Swim(K, dK, R, r, omega, dr, d_omega, ddr, force, moment, n, M, n_tail, M_tail, head_force, ddr_o, d_omega_o)


def _wrench(arm: Array, force: Array, moment: Array) -> Array:
    """(f, r x f + c) (..., 6) at the head."""
    return np.concatenate([force, _rotate(arm, force) + moment], axis=-1)


def unpack(y: Array) -> Head:
    """The head of a state y = (r_o, Q_o, r_o', omega_o) (13,)."""
    return Head(y[:3], lie.rotation_from_wxyz(y[3:7]), y[7:10], y[10:])


AT_REST = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # straight along +E1


def rate(eel: Eel, t: float, y: Array) -> Array:
    """Time derivative (13,) of the state of the head."""
    now = instant(eel, unpack(y), t)
    turning = 0.5 * quaternion_rate(y[10:]) @ y[3:7]
    return np.concatenate([y[7:10], turning, now.ddr_o, now.d_omega_o])


def swim(eel: Eel, times: ArrayLike, *, start: Array = AT_REST, tolerance: float = 1e-8) -> Array:
    """The time loop: states (t, 13) of the head at increasing times [s], from `start` at the first."""
    times = np.asarray(times, dtype=float)
    span = float(times[0]), float(times[-1])
    options = dict(method="DOP853", rtol=tolerance, atol=tolerance, t_eval=times)
    run = solve_ivp(lambda t, y: rate(eel, t, y), span, start, **options)
    if not run.success:
        raise SolverError(f"The eel stopped at t = {run.t[-1]:g} s: {run.message}")
    states: Array = run.y.T
    return states


# What can be checked --------------------------------------------------------------------------------------------------


def momentum(eel: Eel, now: Swim) -> Array:
    """Linear momentum [kg m/s] and angular momentum about the inertial origin [kg m^2/s], (6,): constant in vacuum."""
    own = eel.own
    linear = own.area[..., None] * now.dr
    angular = _rotate(_along(now.R, own.inertia), now.omega) + np.cross(now.r, linear)
    return integrate(eel.grid, np.concatenate([linear, angular], axis=-1), np.zeros(6))[1]


def kinetic_energy(eel: Eel, now: Swim) -> float:
    """Kinetic energy of the body alone [J]."""
    own = eel.own
    spin = _rotate_back(now.R, now.omega)
    density = own.area * np.sum(now.dr**2, axis=-1) + np.sum(own.inertia * spin**2, axis=-1)
    return 0.5 * float(integrate(eel.grid, density, np.zeros(()))[1])


def powers(eel: Eel, now: Swim) -> tuple[float, float]:
    """Power [W] of the control torques, + the integral of M . dK/dt, and of all forces of the water."""
    own = eel.own
    control = np.sum(now.M * now.K_rate, axis=-1)
    force = now.force - _rotate(_along(now.R, own.added), now.ddr)
    moment = now.moment - _rotate(_along(now.R, _axial(own.added_turn)), now.d_omega)
    water = np.sum(force * now.dr + moment * now.omega, axis=-1)
    total = [float(integrate(eel.grid, x, np.zeros(()))[1]) for x in (control, water)]
    # the nose: velocity of the head is that of X = 0
    first = now.dr[0, 0] - eel.grid.slope[0] * eel.grid.inner[0] @ np.cross(now.omega[0], now.R[0, :, :, 0])
    return total[0], total[1] + float(now.head_force @ first)
