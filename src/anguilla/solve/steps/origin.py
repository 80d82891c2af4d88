"""The start of a motion and what it depends on: the balance that its accelerations satisfy, and its closing.

A motion starts at q and v, closed if there are loops, with the accelerations A and multipliers lambda of

    R(q, v, A, lambda) = 0,    d/dt (J v) = 0 with v' = A  (hard constraints),    phi(q, lambda) = 0  (elastic tendons).

Integrals of thrusters are zero there. The time derivative of J v is J A, and differences of fourth order: of J v along v, by
a displacement of fixed size however fast the robot is, and in time, by a part of dt, where inputs or loads change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anguilla.interact.kernels.table import (
    AXIS_A,
    AXIS_B,
    DT,
    KIND,
    LENGTH,
    MOTION,
    POSE,
    ROTATION,
    THRUSTER,
    TRANSLATION,
    TWIST,
    WHICH,
    Loads,
)
from anguilla.linear.choice import DENSE
from anguilla.mechanics.tree import N_R, N_V, N_W, N_X, Floats, Ints
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import Inputs, LoadTable, Model
from anguilla.model.operator import BlockOperator
from anguilla.model.user import move
from anguilla.results.reactions import evaluate, is_bent
from anguilla.solve.newton.closing import metric
from anguilla.solve.newton.gaps import RANK
from anguilla.solve.steps.beginning import pushed

STEP = 1e-3  # [rad] or relative displacement: of differences of fourth order
PART, LONGEST, UNKNOWN = 0.25, 1e-3, 1e-4  # of those in time: of dt, [s] at most, and [s] where there is no dt
FOURTH = ((-2, 1.0 / 12.0), (-1, -8.0 / 12.0), (1, 8.0 / 12.0), (2, -1.0 / 12.0))
SAMPLES = 4  # instants before and after the start


@dataclass
class Origin:
    """The start of a motion, in a robot or in one of another design.

    `table` holds the loads at the start and h, 2 h, ... before and after it, of `instants`; dt > 0 lets twists be held.
    """

    system: Model
    table: LoadTable
    h: float
    dt: float
    q: Floats
    v: Floats
    a: Floats
    lam: Floats

    def __post_init__(self) -> None:
        loads = self.loads()
        evaluate(self.system, loads, self.q, self.v, self.a, self.lam)
        c = loads.constraints
        kinds, slack = c.table[:, KIND], c.slack == 1
        length = kinds == LENGTH
        self.twist = kinds == TWIST
        self.elastic = length & (c.value > 0.0) & ~slack
        self.hard = ~(length & slack) & ~self.elastic
        self.free: Ints = np.setdiff1d(np.arange(self.system.size), loads.driven)
        self.moving = bool(len(self.table.column))

    def loads(self, k: int = 0) -> Loads:
        """Loads k steps after the start, without integrals of thrusters."""
        loads = self.table.at(SAMPLES + k)
        loads.row[DT] = np.finfo(float).tiny if is_bent(loads) else self.dt  # bristles that are known stay as they are
        thrusters = loads.frames.table[:, KIND] == THRUSTER
        if not thrusters.any():
            return loads
        data = loads.frames.data.copy()
        data[thrusters, 6:12] = 0.0
        return loads._replace(frames=loads.frames._replace(data=data))

    def values(self, q: Floats, v: Floats, k: int = 0) -> Floats:
        """(R, phi) (n + m,) with the accelerations and multipliers of the start."""
        return evaluate(self.system, self.loads(k), q, v, self.a, self.lam)

    def tangents(self) -> tuple[Floats, Floats, Floats]:
        """Bordered dR/dq, and dR/dv and dR/da with the rows of the constraints."""
        here = Evaluation(self.system, self.loads(), self.q, self.v, self.a, self.lam)
        return here.flat, here.by_rate, here.by_acceleration

    def gradient(self, q: Floats, k: int = 0) -> Floats:
        """J (m, n) with respect to rates."""
        here = Evaluation(self.system, self.loads(k), q, self.v, self.a, self.lam)
        if not np.any(self.twist):
            return here.J
        return np.where(self.twist[:, None], here.by_rate[self.system.size :], here.J)

    def push(self, q: Floats, v: Floats, k: int = 0) -> Floats:
        """J v (m,)."""
        if not np.any(v):
            return np.zeros(self.system.rows)
        if self.system.linear == DENSE or not self.system.rows:
            return np.asarray(self.gradient(q, k) @ v, dtype=float)
        kinds = self.system.blank.constraints.table[:, KIND]
        if np.all((kinds == TRANSLATION) | (kinds == ROTATION)):
            loads = self.loads(k)
            evaluate(self.system, loads, q, v, self.a, self.lam)
            return closure_rates(self.system.workspace.node, loads)
        operator = Evaluation(self.system, self.loads(k), q, self.v, self.a, self.lam).operator()
        assert isinstance(operator, BlockOperator)
        return pushed(operator.shifted(np.zeros(self.system.size)), v)

    def rates(self, q: Floats, v: Floats, k: int = 0) -> Floats:
        """Rates (m,) of the constraints: J v and what their own motion adds; of twists, the twists themselves."""
        total = self.push(q, v, k)
        n, rest = self.system.size, 0.0 * v
        if self.moving:
            ends = [weight * self.values(q, rest, k + step)[n:] for step, weight in FOURTH]
            total = total + np.where(self.twist, 0.0, np.sum(ends, axis=0) / self.h)
        if np.any(self.twist):
            total = total + np.where(self.twist, self.values(q, rest, k)[n:], 0.0)
        return total

    def second(self, q: Floats, v: Floats) -> Floats:
        """Time derivative (m,) of the rates of the constraints, at the accelerations of the start."""
        found = self.push(q, self.a)
        speed = float(np.linalg.norm(self.system.tree.scale * v))
        for step, weight in FOURTH:
            if speed > 0.0:
                found += weight * speed / STEP * self.rates(move(self.system.tree, q, step * STEP / speed * v), v)
            if self.moving:
                found += weight / self.h * self.rates(q, v, step)
        return found

    def balance(self, q: Floats, v: Floats) -> Floats:
        """(n + m,): R, then what hard, elastic and slack constraints ask for."""
        n = self.system.size
        out = self.values(q, v)
        if self.system.rows:
            out[n:] = np.where(self.hard, self.second(q, v), np.where(self.elastic, out[n:], 0.0))
        return out

    def matrix(self) -> Floats:
        """Derivative (n + m, n + m) of `balance` with respect to accelerations and multipliers."""
        n = self.system.size
        flat, _, heavy = self.tangents()
        matrix = np.zeros_like(flat)
        matrix[:n, :n], matrix[:n, n:] = heavy[:n, :n], flat[:n, n:]
        if self.system.rows:
            matrix[n:, :n] = np.where(self.hard[:, None], self.gradient(self.q), 0.0)
            diagonal = np.where(self.elastic, np.diag(flat)[n:], np.where(self.hard, 0.0, 1.0))
            matrix[n:, n:] = np.diag(diagonal)
        return matrix

    def slopes(self, weights: Floats) -> tuple[Floats, Floats]:
        """Derivatives (n,) of weights . balance with respect to q and v."""
        n = self.system.size
        flat, steep, _ = self.tangents()
        nu = weights[n:]
        by_q, by_v = flat[:n, :n].T @ weights[:n], steep[:n, :n].T @ weights[:n]
        if not self.system.rows:
            return by_q, by_v
        by_q += flat[n:, :n].T @ np.where(self.elastic, nu, 0.0)
        slope_q, slope_v = self.along(self.second)
        held = np.where(self.hard, nu, 0.0)
        return by_q + slope_q.T @ held, by_v + slope_v.T @ held

    def jacobians(self) -> tuple[Floats, Floats]:
        """Derivatives (n + m, n) of `balance` with respect to q and v."""
        n = self.system.size
        flat, steep, _ = self.tangents()
        if self.system.rows:
            slopes = self.along(self.second)
            elastic, hard = self.elastic[:, None], self.hard[:, None]
            flat[n:, :n] = np.where(hard, slopes[0], np.where(elastic, flat[n:, :n], 0.0))
            steep[n:, :n] = np.where(hard, slopes[1], 0.0)
        return flat[:, :n], steep[:, :n]

    def along(self, function: Callable[[Floats, Floats], Floats], rates: bool = True) -> tuple[Floats, Floats]:
        """Derivatives (m, n) of a function (m,) of (q, v), at most quadratic in v, by differences of fourth order."""
        n, scale = self.system.size, self.system.tree.scale
        by_q, by_v = np.zeros((2, self.system.rows, n))
        faster = max(float(np.linalg.norm(scale * self.v)), STEP / self.h)  # [rad/s] any step is exact: a large one
        for k in range(n):
            place, rate = STEP / scale[k] * np.eye(n)[k], faster / scale[k] * np.eye(n)[k]
            for step, weight in FOURTH:
                by_q[:, k] += weight / place[k] * function(move(self.system.tree, self.q, step * place), self.v)
                if rates:
                    by_v[:, k] += weight / rate[k] * function(self.q, self.v + step * rate)
        return by_q, by_v


def closure_rates(node: Floats, loads: Loads) -> Floats:
    """J v (m,) of robots that have closures only, from the motion of all nodes: the gradients of `constraints.py`."""
    c = loads.constraints
    a, b = loads.pairs.table[c.closure[c.table[:, WHICH]], :2].T
    at = int(loads.at[POSE]) + 12 * c.table[:, WHICH] + c.table[:, AXIS_A]
    turned = node[:, N_R : N_R + 9].reshape(-1, 3, 3)
    e = np.einsum("kij,kj->ki", turned[a], loads.row[at[:, None] + [0, 3, 6]])
    moves = c.table[:, KIND] == TRANSLATION
    apart = np.where(
        moves[:, None],
        node[b, N_X : N_X + 3] - node[a, N_X : N_X + 3],
        np.take_along_axis(turned[b], c.table[:, AXIS_B, None, None], axis=2)[:, :, 0],
    )
    spin, speed = node[:, N_W : N_W + 3], node[:, N_V : N_V + 3]
    turning = np.where(moves[:, None], spin[a], spin[a] - spin[b])
    moving = np.where(moves, np.einsum("ki,ki->k", e, speed[b] - speed[a]), 0.0)
    return np.asarray(np.einsum("ki,ki->k", np.cross(e, apart), turning) + moving, dtype=float)


def instants(t: float, dt: float) -> tuple[Floats, float]:
    """Times [s] about t at which an Origin needs the loads, and the time h [s] between them."""
    h = min(LONGEST, PART * dt) if dt > 0.0 else UNKNOWN
    return t + h * np.arange(-SAMPLES, SAMPLES + 1, dtype=np.float64), h


def origin(system: Model, inputs: Inputs, dt: float, states: tuple[Floats, ...]) -> Origin:
    """The start of a motion with the given states Q, V, A, LAM."""
    times, h = instants(0.0, dt)
    q, v, a, lam = (np.ascontiguousarray(x[0]) for x in states)
    return Origin(system, system.loads(times, inputs), h, dt, q, v, a, lam)


@dataclass(frozen=True)
class StartClosing:
    """How the start that a user gives is closed: to first order q = q_given - right (phi), v likewise with J v.

    Attributes:
        place, rate: (n, m) right inverses of the gradients of the constraints on places and on rates.

    """

    place: Floats
    rate: Floats


def closing(at: Origin) -> StartClosing:
    """The projections of `closing.mount` and `starting.consistent`, linearised."""
    system, n, m = at.system, at.system.size, at.system.rows
    if not m:
        return StartClosing(np.zeros((n, 0)), np.zeros((n, 0)))
    J, scale = at.gradient(at.q), system.tree.scale
    length = at.loads().constraints.table[:, KIND] == LENGTH
    place = _right_inverse(J, ~at.twist & ~length, at.free, scale * metric(system))
    return StartClosing(place, _right_inverse(J, at.hard, at.free, scale))


def _right_inverse(J: Floats, rows: np.ndarray, free: Ints, weight: Floats) -> Floats:
    """(n, m): the change, small in the metric of the weights, of the free coordinates for each row that is held."""
    out = np.zeros(J.T.shape)
    if np.any(rows):
        held = np.flatnonzero(rows)
        found = np.linalg.pinv(J[np.ix_(held, free)] / weight[free], rcond=RANK)
        out[np.ix_(free, held)] = found / weight[free][:, None]
    return out


def driven_values(table: LoadTable, k: int) -> Floats:
    """Prescribed motions (driven, 3) at an instant: places, rates, accelerations."""
    loads = table.at(k)
    at = int(loads.at[MOTION])
    return loads.row[at : at + 3 * len(loads.driven)].reshape(-1, 3).copy()
