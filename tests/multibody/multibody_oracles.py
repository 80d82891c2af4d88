"""Independent truths for rigid bodies, joints and tendons, in plain NumPy and SciPy; nothing comes from the kernels."""

from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq, root


def skew(x):
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def cross(a, b):
    """np.cross of two vectors, in a tenth of its time."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def rotation(axis, angle):
    return expm(angle * skew(np.asarray(axis)))


def random_rotation(rng):
    return expm(skew(rng.normal(size=3)))


def random_inertia(rng, size=0.01):
    """Inertia (3, 3) of a cloud of point masses: always one that a body can have."""
    points = rng.normal(size=(8, 3))
    second = points.T @ points / 8.0
    return size * (np.trace(second) * np.eye(3) - second)


# Rigid arms -----------------------------------------------------------------------------------------------------------


def newton_euler(links, gravity, q, v, a):
    """Joint efforts (n,) of a serial arm, by the recursion of Luh, Walker and Paul in link axes.

    links: (pose of the joint in the parent, axis, slides, mass, centre of mass, inertia about it) of each body. The base
    is accelerated by minus gravity.
    """
    frames = []
    w, al, acc = np.zeros(3), np.zeros(3), -np.asarray(gravity, dtype=float)
    for (pose, axis, slides, mass, com, inertia), q0, q1, q2 in zip(links, q, v, a, strict=True):
        turn = pose[:3, :3] if slides else pose[:3, :3] @ rotation(axis, q0)
        arm = pose[:3, 3] + pose[:3, :3] @ axis * (q0 if slides else 0.0)  # in axes of the parent
        acc = turn.T @ (acc + np.cross(al, arm) + np.cross(w, np.cross(w, arm)))
        w, al = turn.T @ w, turn.T @ al
        if slides:
            acc = acc + axis * q2 + 2.0 * np.cross(w, axis * q1)
        else:
            w, al = w + axis * q1, al + axis * q2 + np.cross(w, axis * q1)
        centre = acc + np.cross(al, com) + np.cross(w, np.cross(w, com))
        force, moment = mass * centre, inertia @ al + np.cross(w, inertia @ w)
        frames.append((turn, arm, force, moment + np.cross(com, force)))
    efforts = np.zeros(len(links))
    f, m = np.zeros(3), np.zeros(3)
    for k in range(len(links) - 1, -1, -1):
        turn, arm, force, moment = frames[k]
        f, m = f + force, m + moment
        axis, slides = links[k][1:3]
        efforts[k] = axis @ (f if slides else m)
        f, m = turn @ f, turn @ m + np.cross(arm, turn @ f)
    return efforts


def double_pendulum(m1, m2, l1, l2, g, q, v):
    """Accelerations (2,) of point masses on massless links; q: angle below the horizontal, then relative angle."""
    t1, t2, w1, w2 = q[0], q[0] + q[1], v[0], v[0] + v[1]
    c, s = m2 * l1 * l2 * np.cos(t1 - t2), m2 * l1 * l2 * np.sin(t1 - t2)
    mass = np.array([[(m1 + m2) * l1**2, c], [c, m2 * l2**2]])
    force = np.array([-s * w2**2 + (m1 + m2) * g * l1 * np.cos(t1), s * w1**2 + m2 * g * l2 * np.cos(t2)])
    first, second = np.linalg.solve(mass, force)
    return np.array([first, second - first])


def tip_mass_frequency(ratio):
    """First root beta L of a cantilever with a tip mass of `ratio` times its own, Euler and Bernoulli."""
    return brentq(
        lambda b: 1.0 + np.cos(b) * np.cosh(b) + ratio * b * (np.cos(b) * np.sinh(b) - np.sin(b) * np.cosh(b)),
        0.1,
        1.9,
    )


# Tendons in an unloaded inextensible Kirchhoff rod --------------------------------------------------------------------


def curvature(stiffness, tension, D, slope, guess):
    """K (3,) of the pointwise balance H K + T D x t(K) = 0, t the direction of E1 + K x D + D' (000 (13)-(16))."""

    def balance(K):
        line = np.array([1.0, 0.0, 0.0]) + cross(K, D) + slope
        return K + tension * cross(D, line / np.linalg.norm(line)) / stiffness

    found = root(balance, guess, tol=1e-13)
    assert np.max(np.abs(balance(found.x))) < 1e-11
    return found.x


def tendon_shape(stiffness, tension, routing, length, X, span=None):
    """Centreline (m, 3) and curvatures (m, 3) at X (m,); routing: X -> (D, D'), each (3,)."""
    span = span or (0.0, length)
    ends = [0.0, *(x for x in span if 0.0 < x < length), length]

    def K(x, inside):
        return curvature(stiffness, tension, *routing(x), np.zeros(3)) if inside else np.zeros(3)

    def rate(x, state, inside):
        R = state[:9].reshape(3, 3)
        return np.concatenate([(R @ skew(K(x, inside))).ravel(), R[:, 0]])

    state, places, K_all = np.concatenate([np.eye(3).ravel(), np.zeros(3)]), [], []
    for low, high in pairwise(ends):
        inside = span[0] <= 0.5 * (low + high) <= span[1]
        wanted = np.array([x for x in X if low <= x < high or x == high == length])
        stops = np.unique([*wanted, high])
        options = dict(method="DOP853", rtol=1e-10, atol=1e-11, t_eval=stops, args=(inside,))
        run = solve_ivp(rate, (low, high), state, **options)
        places.append(run.y[9:, : len(wanted)].T)
        K_all.append([K(x, inside) for x in wanted])
        state = run.y[:, -1]
    return np.concatenate(places), np.concatenate([np.reshape(k, (-1, 3)) for k in K_all])
