"""An eased start (stepping.py) and what it depends on.

The first step of a motion that starts with a jolt takes the accelerations b, T b = ca M a, instead of those that balance the
start, a; T = K + cv C + ca M stands at the start, at rest as to inertia, under the loads of the first step. So b changes by

    T db = ca M da + dV,    V = ca M a - T b  at fixed a and b,

where V is zero, and changes with the place and rates of the start, the loads and the design.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from anguilla.errors import DescriptionError
from anguilla.interact.kernels.table import DT, INPUT
from anguilla.lie import exp3, log3
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import LoadTable, Model
from anguilla.model.slopes import InputSlope
from anguilla.model.user import move
from anguilla.results.states import Trajectory
from anguilla.solve.newton.dense import solve_bordered
from anguilla.solve.steps.origin import FOURTH, STEP
from anguilla.solve.steps.schemes import Coefficients, ended, factors

__all__ = ["Easing", "easing"]


@dataclass(frozen=True)
class Easing:
    """An eased start, of an open robot.

    Attributes:
        system: the robot.
        table: loads of all instants.
        dt: step [s].
        factors: (cv, ca) of the scheme.
        q, v, a: (n,) the start, with its own accelerations.
        eased: (n,) the accelerations b that the first step takes.

    """

    system: Model
    table: LoadTable
    dt: float
    factors: tuple[float, float]
    q: Floats
    v: Floats
    a: Floats
    eased: Floats

    def matrices(self, q: Floats, v: Floats, change: Floats | None = None) -> tuple[Floats, Floats]:
        """(T, ca M) (n, n) at a state, maybe with a change (row,) of the loads."""
        loads, none, n = self.table.at(1), np.zeros(0), self.system.size
        loads.row[DT] = self.dt
        if change is not None:
            loads.row[:] += change
        loads.relaxing.over[:] = self.dt  # of rods that relax: as stiff as in that step
        here, (cv, ca) = Evaluation(self.system, loads, q, v, np.zeros(n), none), self.factors
        found = here.bordered(cv, ca), here.bordered(0.0, ca) - here.flat
        loads.relaxing.over[:] = np.inf
        return found

    def miss(self, q: Floats, v: Floats, change: Floats | None = None) -> Floats:
        """V (n,)."""
        T, heavy = self.matrices(q, v, change)
        return heavy @ self.a - T @ self.eased

    def on(self, system: Model, table: LoadTable) -> Floats:
        """V (n,) of a robot of another design."""
        return replace(self, system=system, table=table).miss(self.q, self.v)

    def slopes(self) -> tuple[Floats, Floats]:
        """Derivatives (n, n) of V with respect to q and v."""
        tree, n = self.system.tree, self.system.size
        by_q, by_v = np.zeros((2, n, n))
        for k in range(n):
            h = STEP / tree.scale[k]
            unit = h * np.eye(n)[k]
            for step, weight in FOURTH:
                by_q[:, k] += weight / h * self.miss(move(tree, self.q, step * unit), self.v)
                by_v[:, k] += weight / h * self.miss(self.q, self.v + step * unit)
        return by_q, by_v

    def by_inputs(self, slopes: Sequence[InputSlope] = ()) -> Floats:
        """Derivatives (n, inputs) of V, linear in the inputs of the first step; slopes of those made by `Robot.input`."""
        row = self.table.at(1).row
        changes = np.eye(len(row))[int(self.system.blank.at[INPUT]) + np.arange(len(self.system.robot.actuators))]
        changes = np.vstack([changes, *(slope.rows[1] for slope in slopes)])
        columns = []
        for change in changes:
            unit = max(1.0, float(np.max(np.abs(row[change != 0.0]), initial=0.0)))
            ends = [self.miss(self.q, self.v, sign * unit * change) for sign in (-1.0, 1.0)]
            columns.append((ends[1] - ends[0]) / (2.0 * unit))
        return np.array(columns).reshape(len(columns), self.system.size).T

    def back(self, hat: Floats) -> tuple[Floats, Floats]:
        """(mu, gradient by a) (n,) of a gradient by b: mu = T^-T hat weighs V."""
        T, heavy = self.matrices(self.q, self.v)
        mu = solve_bordered(self.system, T.T, hat)
        return mu, heavy.T @ mu

    def forth(self, change: Floats, miss: Floats) -> Floats:
        """Changes (n, k) of b for those of a and of V."""
        T, heavy = self.matrices(self.q, self.v)
        return solve_bordered(self.system, T, heavy @ change + miss)


def easing(
    run: Trajectory, table: LoadTable, dt: float, scheme: Coefficients, states: tuple[Floats, ...], what: str
) -> Easing | None:
    """The eased start of a motion with states Q, V, A (N + 1, n); None if it has none. Refuse what was eased later."""
    count = run.status.counters.get("eased", 0)
    if not count:
        return None
    plain = run.system.is_plain
    q, v, a = (np.ascontiguousarray(x[0]) for x in states)
    found = Easing(run.system, table, dt, factors(scheme, dt)[1:], q, v, a, a)
    if plain:
        found = replace(found, eased=found.forth(a[:, None], np.zeros((len(a), 1)))[:, 0])
    if (
        count > 1
        or not plain
        or _misfit(run.system, scheme, dt, states, found.eased) >= _misfit(run.system, scheme, dt, states, a)
    ):
        raise DescriptionError(
            f"{what} needs a motion without abrupt accelerations, on the way or at a start with constraints: simulate(..., "
            "smooth_start=False), or a smaller dt."
        )
    return found


def _misfit(system: Model, scheme: Coefficients, dt: float, states: tuple[Floats, ...], b: Floats) -> float:
    """By how much the first step of a motion misses its scheme if it began with the accelerations b (n,)."""
    am, af = scheme.am, scheme.af
    Q, V, A = (x[:2] for x in states[:3])
    d = Q[1] - Q[0]
    for k in system.tree.ball[:, 0]:
        d[k : k + 3] = log3(exp3(Q[0, k : k + 3]).T @ exp3(Q[1, k : k + 3]))
    after = ended(scheme, dt, d, V[0], b, b)[1]
    return float(np.linalg.norm(system.tree.weight * ((1.0 - am) * after + (am - af) * b - (1.0 - af) * A[1])))
