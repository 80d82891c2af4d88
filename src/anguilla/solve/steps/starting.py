"""The start of a motion: rates that keep the constraints, accelerations and multipliers that balance and keep them.

Time derivatives of the constraints are those of origin.py. A tendon held at a length is taut or
slack: its tension T and the acceleration of its length satisfy T >= 0, l'' <= input'', T (l'' - input'') = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anguilla.errors import SolverError, warn
from anguilla.interact.kernels.table import DT, INPUT, KIND, LENGTH, MOTION, TWIST, WHICH, Loads
from anguilla.linear.choice import DENSE
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import Inputs, LoadTable, Model
from anguilla.model.user import move
from anguilla.results.reactions import evaluate
from anguilla.solve.steps.beginning import BlockBalance, DenseBalance, solve
from anguilla.solve.steps.origin import SAMPLES, Origin, instants
from anguilla.solve.steps.schemes import Coefficients, factors

SMOOTH = (
    0.3  # part by which the change of the accelerations may change over a step, and which a step may fail to follow
)
NONE: Ints = np.zeros(0, dtype=np.int64)
TAUT, ROUGH = 1e-6, 1e-2  # part of its length by which a tendon may be off the length it is held at
CHANGED, RESTING = 1e-3, 1e-6  # part of the given rates, and [rad/s], by which they are changed in silence
STILL = 1e-7  # [m/s] at which a tendon does not lengthen


@dataclass
class _Start:
    """A state on its way to being consistent."""

    system: Model
    table: LoadTable  # about the start
    h: float  # [s] between its instants
    q: Floats
    v: Floats
    dt: float
    redundant: Ints = field(default_factory=lambda: NONE)  # rows that follow from others

    def __post_init__(self) -> None:
        kinds = self.system.blank.constraints.table[:, KIND]
        self.twist, self.length = kinds == TWIST, kinds == LENGTH
        # multipliers for which a tendon at its length counts as taut, and an elastic one when it is longer
        elastic = self.system.blank.constraints.value > 0.0
        self.test = np.where(self.length, np.where(elastic, 1e-12, 1.0), 0.0)
        self._balance: BlockBalance | None = None

    def loads(self, moving: bool = True) -> Loads:
        """Loads at the start; twists are held when moving."""
        loads = self.table.at(SAMPLES)
        loads.row[DT] = max(self.dt, self.h) if moving else 0.0
        return loads

    def values(self, q: Floats, v: Floats) -> Floats:
        """Values of all constraints."""
        zero = np.zeros(self.system.size)
        return evaluate(self.system, self.loads(), q, v, zero, self.test)[self.system.size :].copy()

    def origin(self) -> Origin:
        """The same start with no accelerations yet, for the time derivatives of its constraints."""
        zero = np.zeros(self.system.size)
        return Origin(self.system, self.table, self.h, max(self.dt, self.h), self.q, self.v, zero, self.test)

    def balance(self, free: Ints) -> DenseBalance | BlockBalance:
        """The equations of accelerations and multipliers."""
        if self._balance is not None:
            return self._balance
        zero = np.zeros(self.system.size)
        here = Evaluation(self.system, self.loads(), self.q, self.v, zero, self.test)
        if self.system.linear != DENSE:
            self._balance = BlockBalance(here, free)  # rates, which may change, do not matter
            return self._balance
        still = Evaluation(self.system, self.loads(moving=False), self.q, self.v, zero, 0.0 * self.test)
        return DenseBalance(here, still, self.twist, free)

    def tendons(self, allowed: float) -> tuple[Ints, Floats]:
        """Rows of stiff tendons that are at their length, up to a part of it, and the tensions (m,) of compliant ones."""
        c = self.system.blank.constraints
        wanted = np.zeros(self.system.rows)
        wanted[self.length] = self.loads().row[self._at(INPUT) + c.table[self.length, WHICH]]
        values = self.values(self.q, 0.0 * self.v)
        gap = values + c.value * self.test
        slack = (c.slack == 1) & self.length
        stiff = self.length & (c.value == 0.0) & ~slack
        for k in np.flatnonzero(stiff & (gap > allowed * wanted)):
            name = self.system.tables.row_names[k]
            raise SolverError(
                f"The {name} should be {wanted[k]:g} m at the start; it is {gap[k]:.3g} m longer.",
                advice="Start from statics(robot, inputs=...), or give the tendon a compliance.",
            )
        elastic = self.length & (c.value > 0.0) & ~slack
        tension = np.where(elastic, np.maximum(gap, 0.0) / np.where(elastic, c.value, 1.0), 0.0)
        return np.flatnonzero(stiff & (gap > -allowed * wanted)), tension

    def _at(self, place: int) -> int:
        return int(self.system.blank.at[place])


def _start(system: Model, inputs: Inputs, t: float, q: Floats, v: Floats, dt: float) -> _Start:
    times, h = instants(t, dt)
    return _Start(system, system.loads(times, inputs), h, q, v, dt)


def consistent(
    system: Model, inputs: Inputs, t: float, q: Floats, v: Floats, dt: float, *, rough: bool = False,
    redundant: Ints = NONE,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """(v, a, multipliers): rates that keep the constraints, nearest to v, and accelerations that balance and keep them.

    A rough state, a guess of one to come, may miss the lengths of tendons a little. Redundant rows get no multiplier.
    """
    start = _start(system, inputs, t, q, v.copy(), dt)
    driven, at = system.blank.driven, int(system.blank.at[MOTION])
    row = start.loads().row.copy()
    start.v[driven] = row[at + 1 : at + 3 * len(driven) : 3]
    taut, tension = start.tendons(ROUGH if rough else TAUT)
    free = np.setdiff1d(np.arange(system.size), driven)
    taut = _rates(start, taut, free)
    start.redundant = redundant
    a, lam = _accelerations(start, taut, tension, free, row[at + 2 : at + 3 * len(driven) : 3].copy())
    return start.v, a, lam


def _rates(start: _Start, taut: Ints, free: Ints) -> Ints:
    """Change the rates as little as keeps J v = -phi_t, tendons only if they would lengthen; returns those still taut."""
    if not start.system.rows:
        return taut
    explicit, held = start.origin().rates(start.q, 0.0 * start.v), ~start.length
    if not len(taut) and not np.any(start.v) and not np.any(explicit):
        return taut
    balance = start.balance(free)
    for _ in range(len(taut) + 1):
        miss = balance.push(start.v) + explicit
        if 0.0 < np.max(np.abs(miss[held]), initial=0.0) < np.inf:
            start.v += balance.least(np.flatnonzero(held), -miss[held])
            miss = balance.push(start.v) + explicit
        longer = [k for k in taut if not held[k] and miss[k] > STILL]
        if not longer:
            break
        held[longer] = True
    return np.array([k for k in taut if held[k] or miss[k] > -STILL], dtype=np.int64)


def tell_changed(system: Model, inputs: Inputs, t: float, q: Floats, given: Floats, v: Floats, dt: float) -> None:
    """Warn if rates (n,) that were given became v by more than a small part, to keep the constraints."""
    scale, driven = system.tree.scale, system.blank.driven
    given = given.copy()
    given[driven] = v[driven]
    change, size = scale * (v - given), float(np.linalg.norm(np.delete(scale * given, driven)))
    part = float(np.linalg.norm(change)) / max(size, 1e-300)
    if size == 0.0 or part < CHANGED or np.linalg.norm(change) < RESTING:
        return
    worst, at = int(np.argmax(np.abs(change))), _start(system, inputs, t, q, v, dt).origin()
    miss = np.abs(at.rates(q, given) - at.rates(q, v))
    names = dict.fromkeys(system.tables.row_names[k] for k in np.flatnonzero(miss > 0.1 * np.max(miss)))
    warn(
        f"The rates with which {system.robot.name!r} should start break {', '.join(names)}: they were changed by "
        f"{100.0 * part:.2g} %, {system.robot.coordinates()[worst]} from {given[worst]:.3g} to {v[worst]:.3g}. "
        "forward_dynamics(robot, q, v).v are the nearest rates that keep all constraints.",
    )


def tightened(system: Model, inputs: Inputs, t: float, state: tuple[Floats, ...], dt: float) -> Floats | None:
    """Rates (n,) behind the impact of lines that became taut, which then lengthen as they are asked to; None if they did.

    An impulse along the lines, and along all else that is held, stops what would lengthen them: they do not rebound.
    """
    q, v, lam = state
    start = _start(system, inputs, t, q, v.copy(), dt)
    free = np.setdiff1d(np.arange(system.size), system.blank.driven)
    balance = start.balance(free)
    missed = balance.push(v) + start.origin().rates(q, 0.0 * v)
    let_go = np.flatnonzero(start.twist | (start.length & ((lam == 0.0) | (system.blank.constraints.value > 0.0))))
    missed[let_go] = 0.0
    if np.max(np.abs(missed[start.length]), initial=0.0) <= STILL:
        return None
    start.v += balance.solve(np.zeros(system.size), -missed, let_go, np.zeros(len(let_go)))[0]
    return start.v


def _accelerations(start: _Start, taut: Ints, tension: Floats, free: Ints, given: Floats) -> tuple[Floats, Floats]:
    """Accelerations and multipliers: M a + dR/dlambda lambda = -R, J a = -(second derivative at a = 0)."""
    system = start.system
    imposed, lam = np.zeros(system.size), np.zeros(system.rows)
    imposed[system.blank.driven] = given
    bias = start.origin().second(start.q, start.v) if system.rows else lam
    balance = start.balance(free)
    force = Evaluation(system, start.loads(moving=False), start.q, start.v, imposed, lam).residual
    shift = balance.push(imposed)
    a, pulling = imposed, set(taut.tolist())
    for _ in range(2 * len(taut) + 1):
        slack = [row for row in np.flatnonzero(start.length) if row not in pulling]
        known = np.concatenate([np.array(slack, dtype=np.int64), start.redundant])
        change, lam = balance.solve(-force, -bias - shift, known, tension[known])
        lam[known] = tension[known]  # without round-off: a slack line has no tension
        a = imposed + change
        wrong = {row for row in pulling if lam[row] < 0.0}
        slope = balance.push(a) + bias if len(taut) else lam
        lengthening = {row for row in taut.tolist() if row not in pulling and slope[row] > 1e-9}
        if not wrong and not lengthening:
            break
        pulling = pulling - wrong if wrong else pulling | lengthening
    return a, lam


def settled(
    system: Model, inputs: Inputs, t: float, state: tuple[Floats, ...], dt: float, scheme: Coefficients
) -> tuple[Floats, Floats]:
    """Changes of the rates and of the averaged accelerations with which the multipliers of a scheme start smoothly.

    A scheme that keeps q in time follows a = A + (1/2 - gamma) dt A' and, along the constraints,
    v + (1/6 - beta - (1/2 - gamma)/2) dt^2 A'. Without these offsets the multipliers swing, by a part of dt, for a while.
    A motion that is not smooth over a step, or excites modes that the step cannot resolve, gets none.
    """
    q, v, a, lam = state
    _, _, beta, gamma, _ = scheme
    scale, delay, none = system.tree.scale, 0.5 - gamma, (np.zeros(system.size), np.zeros(system.size))
    rates = []
    for h in (dt, 0.5 * dt):
        try:
            guess = move(system.tree, q, h * v + 0.5 * h**2 * a), v + h * a
            rates.append((consistent(system, inputs, t + h, *guess, dt, rough=True)[1] - a) / h)
        except SolverError:
            return none
    jerk = 2.0 * rates[1] - rates[0]
    if not np.linalg.norm(scale * (rates[1] - rates[0])) < SMOOTH * np.linalg.norm(scale * jerk):
        return none
    start = _start(system, inputs, t, q, v, dt)
    free = np.setdiff1d(np.arange(system.size), system.blank.driven)
    if not _followed(start, lam, jerk, free, scheme):
        return none
    loose_rows = np.flatnonzero(start.twist | (start.length & ((lam == 0.0) | (system.blank.constraints.value > 0.0))))
    jerk[system.blank.driven] = 0.0
    balance = start.balance(free)
    nothing = np.zeros(len(loose_rows))
    change = balance.solve(np.zeros(system.size), balance.push(jerk), loose_rows, nothing)[0]
    return (1.0 / 6.0 - beta - 0.5 * delay) * dt**2 * change, delay * dt * jerk


def _followed(start: _Start, lam: Floats, jerk: Floats, free: Ints, scheme: Coefficients) -> bool:
    """Whether a linear step of the scheme, T x = ca M jerk with T = K + cv C + ca M, follows a change of accelerations.

    What it misses is weighed by T, as energy: a little of a mode much faster than dt is too much. A heavily damped one
    passes for smooth, since its acceleration changes in proportion to the time looked ahead.
    """
    system, loads, n, inner = start.system, start.loads(), start.system.size, len(free)
    _, cv, ca = factors(scheme, start.dt)
    here = Evaluation(system, loads, start.q, start.v, np.zeros(n), lam)
    if system.linear != DENSE:
        return _largely_followed(here, cv, ca, np.where(np.isin(np.arange(n), free), jerk, 0.0))
    places = np.concatenate([free, n + np.arange(system.rows)])
    whole = here.bordered(cv, ca)[np.ix_(places, places)]
    slow = here.bordered(cv)[np.ix_(free, free)]
    scale = np.concatenate([system.tree.scale[free], np.ones(system.rows)])
    right = np.concatenate([-slow @ jerk[free], np.zeros(system.rows)]) / scale
    try:
        missed = solve(system, whole / np.outer(scale, scale), right, free)[:inner] / scale[:inner]
    except SolverError:
        return False
    T = whole[:inner, :inner]
    return bool(0.0 <= missed @ T @ missed < SMOOTH**2 * (jerk[free] @ T @ jerk[free]))


def _largely_followed(here: Evaluation, cv: float, ca: float, jerk: Floats) -> bool:
    """`_followed` of a large robot; jerk (n,) of free coordinates."""
    n, none = len(jerk), np.zeros(here.model.rows)
    whole, x = here.operator(cv, ca), np.concatenate([jerk, none])
    right = -here.operator(cv).times(x)
    right[n:] = 0.0
    right[:n][here.model.blank.driven] = 0.0
    try:
        missed = np.concatenate([whole.solve(right)[:n], none])
    except np.linalg.LinAlgError:
        return False
    energy = lambda y: float(y[:n] @ whole.times(y)[:n])
    return 0.0 <= energy(missed) < SMOOTH**2 * energy(x)
