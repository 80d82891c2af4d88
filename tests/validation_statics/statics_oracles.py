"""Independent answers for statics: Euler's elastica in closed form, Cosserat's equations as a boundary value problem.

Nothing here uses the solver under test. The boundary value problem is the strong form

    r' = R Gamma,   Q' = Q (0, K) / 2,   n' + f = 0,   m' + r' x n + l = 0,   (K, Gamma) = xi_o + H^-1 R^T (m, n)

with the pose given at X = 0 and the wrench at X = L; n, m, f, l in world axes, R the rotation of the quaternion Q.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_bvp, solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

Field = Callable[[np.ndarray], np.ndarray]


def elastica_tip(alpha: float) -> np.ndarray:
    """Tip (x, y) / L and slope of an inextensible cantilever along x under a dead tip force alpha EI / L^2 along y.

    EI theta'^2 / 2 = P (sin theta_tip - sin theta). With m = (1 + sin theta_tip) / 2 and 2 m sin^2 phi = 1 + sin theta
    the length is sqrt(alpha) = F(pi/2 | m) - F(phi_root | m), and the root has sin theta = 0.
    """
    m_of = lambda slope: 0.5 * (1.0 + np.sin(slope))
    root = lambda slope: np.arcsin(1.0 / np.sqrt(2.0 * m_of(slope)))
    length = lambda slope: ellipk(m_of(slope)) - ellipkinc(root(slope), m_of(slope))
    slope = brentq(lambda s: length(s) - np.sqrt(alpha), 1e-3, np.pi / 2 - 1e-12, xtol=1e-15)
    m = m_of(slope)
    x = np.sqrt(2.0 * np.sin(slope) / alpha)
    y = 1.0 - 2.0 / np.sqrt(alpha) * (ellipe(m) - ellipeinc(root(slope), m))
    return np.array([x, y, slope])


def elastica_tip_by_shooting(alpha: float) -> np.ndarray:
    """The same by integrating theta'' = -alpha cos theta from the root with the curvature that leaves the tip free."""

    def tip(curvature: float) -> np.ndarray:
        rates = lambda s, y: [y[1], -alpha * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]
        start = [0.0, curvature, 0.0, 0.0]
        return solve_ivp(rates, (0.0, 1.0), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]

    # sin theta_tip < 1, so theta_root'^2 = 2 alpha sin theta_tip < 2 alpha; theta_root' < alpha, the arm being < L.
    most = min(alpha, 0.9999999 * np.sqrt(2.0 * alpha))
    curvature = brentq(lambda k: tip(k)[1], 0.2 * most, most, xtol=1e-15)
    slope, _, x, y = tip(curvature)
    return np.array([x, y, slope])


def constant(value: tuple[float, ...]) -> Field:
    """A field (3, m) with the same value at every X (m,)."""
    return lambda X: np.tile(np.asarray(value, dtype=float)[:, None], (1, len(X)))


def rotations(quaternions: np.ndarray) -> np.ndarray:
    """(3, 3, m) rotation matrices of quaternions wxyz (4, m), not necessarily of unit length."""
    w, x, y, z = quaternions / np.linalg.norm(quaternions, axis=0)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


NOTHING = constant((0.0, 0.0, 0.0))


@dataclass
class CosseratProblem:
    """A clamped-free rod. Lengths [m], forces [N].

    Attributes:
        length: rest length.
        stiffness: X (m,) -> (6, m) diagonal of H; np.inf for a strain that keeps its rest value.
        rest: X (m,) -> (6, m) rest strains.
        quaternion: wxyz of the root.
        force, moment: dead wrench at the tip, world axes.
        follower_force, follower_moment: wrench at the tip in section axes.
        dead, dead_moment, follower: X (m,) -> (3, m) wrench per length; the last in section axes.

    """

    length: float
    stiffness: Field
    rest: Field
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    moment: tuple[float, float, float] = (0.0, 0.0, 0.0)
    follower_force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    follower_moment: tuple[float, float, float] = (0.0, 0.0, 0.0)
    dead: Field = NOTHING
    dead_moment: Field = NOTHING
    follower: Field = NOTHING

    def rates(self, X: np.ndarray, y: np.ndarray, load: float) -> np.ndarray:
        """Right-hand side (13, m): r, Q, n, m."""
        n, m = y[7:10], y[10:13]
        R = rotations(y[3:7])
        stress = np.concatenate([np.einsum("jim,jm->im", R, m), np.einsum("jim,jm->im", R, n)])
        xi = self.rest(X) + stress / self.stiffness(X)
        w, q1, q2, q3 = y[3:7]
        k1, k2, k3 = xi[:3]
        turn = 0.5 * np.array(
            [
                -q1 * k1 - q2 * k2 - q3 * k3,
                w * k1 + q2 * k3 - q3 * k2,
                w * k2 + q3 * k1 - q1 * k3,
                w * k3 + q1 * k2 - q2 * k1,
            ]
        )
        tangent = np.einsum("ijm,jm->im", R, xi[3:])
        f = load * (self.dead(X) + np.einsum("ijm,jm->im", R, self.follower(X)))
        couple = np.cross(tangent, n, axis=0) + load * self.dead_moment(X)
        return np.concatenate([tangent, turn, -f, -couple])

    def ends(self, root: np.ndarray, tip: np.ndarray, load: float) -> np.ndarray:
        """The 13 boundary conditions."""
        R = rotations(tip[3:7, None])[:, :, 0]
        n = load * (np.asarray(self.force) + R @ self.follower_force)
        m = load * (np.asarray(self.moment) + R @ self.follower_moment)
        return np.concatenate([root[:3], root[3:7] - self.quaternion, tip[7:10] - n, tip[10:13] - m])

    def solve(self, *, steps: int = 4, tolerance: float = 1e-9, nodes: int = 41) -> CosseratSolution:
        """Solve by load increments from the rest shape; the last one to the tolerance."""
        X = np.linspace(0.0, self.length, nodes)
        start = np.zeros(13)
        start[3:7] = self.quaternion
        rest = lambda s, y: self.rates(np.array([s]), y[:, None], 0.0)[:, 0]
        guess = solve_ivp(rest, (0.0, self.length), start, t_eval=X, rtol=1e-8).y
        for k in range(1, steps + 1):
            load, last = k / steps, k == steps
            answer = solve_bvp(
                lambda s, y, load=load: self.rates(s, y, load),
                lambda a, b, load=load: self.ends(a, b, load),
                X, guess, tol=tolerance if last else 1e-3, bc_tol=1e-10 if last else None, max_nodes=20000,
            )  # fmt: skip
            assert answer.success, answer.message
            X, guess = answer.x, answer.y
        return CosseratSolution(answer.sol)


@dataclass
class CosseratSolution:
    """The solution as functions of the arc lengths X (m,) [m]."""

    state: Callable[[np.ndarray], np.ndarray]

    def position(self, X: np.ndarray) -> np.ndarray:
        """Centreline (m, 3), world axes."""
        return self.state(X)[:3].T

    def wrench(self, X: np.ndarray) -> np.ndarray:
        """(m, 6) moment and force in section axes."""
        y = self.state(X)
        R = rotations(y[3:7])
        return np.concatenate([np.einsum("jim,jm->im", R, y[10:13]), np.einsum("jim,jm->im", R, y[7:10])]).T
