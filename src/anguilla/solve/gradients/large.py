"""Sweeps over the steps of a large robot, by operators: as `sweep_back` and `sensitivities`, without their matrices.

The letters are those of sweep.py. T = K + N is Newton's tangent, N = ca1 (share M + gamma dt C). Balls turn rates by B, so
that K + N B is the matrix of a step: B is close to one, and a few corrections with T solve it.
"""

from __future__ import annotations

import numpy as np

from anguilla.errors import SolverError
from anguilla.interact.kernels.table import Loads
from anguilla.lie import dexp3, exp3, log3
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import RATE, Evaluation
from anguilla.model.model import Model
from anguilla.model.operator import Operator
from anguilla.solve.gradients.instants import take_instant
from anguilla.solve.gradients.record import Tape
from anguilla.solve.gradients.sweep import Swept, linear_part
from anguilla.solve.gradients.thruster_errors import gather_integrals, pull_errors
from anguilla.solve.steps.origin import Origin

__all__ = ["Step", "Turns", "start_back", "start_forth", "step_forth", "sweep_large"]

HEAVY = 1e30  # [1/s^2] so large that nothing but the mass is left of the tangent
EXACT, ROUND_OFF, MOST = 1e-14, 1e-10, 100  # a correction is the last one: so small; so small and no longer shrinking
SINGULAR = "The adjoint has a singular matrix."


class Turns:
    """What balls do in a step from q0 to q1: an increment d changes by B (dq1 - P dq)."""

    def __init__(self, system: Model, q0: Floats, q1: Floats) -> None:
        self._blocks = []
        for k in system.tree.ball[:, 0]:
            block = slice(k, k + 3)
            d = log3(exp3(q0[block]).T @ exp3(q1[block]))
            self._blocks.append((block, np.linalg.inv(dexp3(d, side="right")), exp3(-d)))

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def rates(self, x: Floats, transposed: bool = False) -> Floats:
        """B x, or B^T x."""
        out = x.copy()
        for block, B, _ in self._blocks:
            out[block] = (B.T if transposed else B) @ x[block]
        return out

    def places(self, x: Floats, transposed: bool = False) -> Floats:
        """P x, or P^T x."""
        out = x.copy()
        for block, _, P in self._blocks:
            out[block] = (P.T if transposed else P) @ x[block]
        return out


class Step:
    """The matrices of a step, as operators: K, N, M and the one to be solved."""

    def __init__(self, found: Tape, step: int) -> None:
        am, af, beta, gamma, _ = found.scheme
        self.system, dt, loads = found.system, found.dt, found.table.loads
        self.n, self.driven = self.system.size, loads.driven
        self.ca1, self.share, self.lead = 1.0 / (beta * dt * dt), (1.0 - am) / (1.0 - af), gamma * dt
        states = [x[step] for x in found.states]
        here = Evaluation(self.system, loads, *states)
        self._stiff = here.operator()
        self._newton = here.operator(self.ca1 * self.lead, self.ca1 * self.share)
        self._heavy = here.operator(0.0, self.ca1)
        self.turns = Turns(self.system, found.states[0][step - 1], states[0])

    def K(self, x: Floats, transposed: bool = False) -> Floats:
        """K (n + m, n + m), with the constraints, times x."""
        return self._stiff.times(x, transposed)

    def _rest(self, operator: Operator, x: Floats, transposed: bool) -> Floats:
        """(operator - K) times x, of (n + m, n): x (n,), or (n + m,) if transposed."""
        if transposed:
            return (operator.times(x, True) - self.K(x, True))[: self.n]
        whole = np.zeros((operator.size, *x.shape[1:]))
        whole[: self.n] = x
        return operator.times(whole) - self.K(whole)

    def N(self, x: Floats, transposed: bool = False) -> Floats:
        """N (n + m, n) times x."""
        return self._rest(self._newton, x, transposed)

    def M(self, x: Floats, transposed: bool = False) -> Floats:
        """M (n + m, n) times x."""
        return self._rest(self._heavy, x, transposed) / self.ca1

    def _leftover(self, x: Floats, transposed: bool) -> Floats:
        """What N (B - 1) adds to T, or its transpose to T^T."""
        if transposed:
            out = np.zeros_like(x)
            rates = self.N(x, True)
            out[: self.n] = self.turns.rates(rates, True) - rates
            return out
        return self.N(self.turns.rates(x[: self.n]) - x[: self.n])

    def solve(self, right: Floats, transposed: bool = False) -> Floats:
        """Solution (n + m,) or (n + m, k) for right, of K + N B or its transpose; prescribed coordinates are zero."""
        right = right.copy()
        right[self.driven] = 0.0
        try:
            x, before = self._newton.solve(right, transposed), np.inf
            for _ in range(MOST if self.turns else 0):
                rest = right - self._leftover(x, transposed)
                rest[self.driven] = 0.0
                better = self._newton.solve(rest, transposed)
                change, x = float(np.max(np.abs(better - x))), better
                size = float(np.max(np.abs(x), initial=1e-300))
                if change <= EXACT * size or (change > 0.5 * before and change <= ROUND_OFF * size):
                    return x
                before = change
        except np.linalg.LinAlgError as error:
            raise SolverError(SINGULAR, advice="Try a smaller dt.") from error
        if self.turns or not np.isfinite(x).all():
            wrong = "A ball turns too far in a step for derivatives of the motion." if self.turns else SINGULAR
            raise SolverError(wrong, advice="Try a smaller dt.")
        return x


def start_back(at: Origin, hat: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Of an open robot: multipliers (n,) of the starting balance, and its slopes (n,) in q, v and a."""
    here = Evaluation(at.system, at.loads(), at.q, at.v, at.a, at.lam)
    right = hat.copy()
    right[at.loads().driven] = 0.0
    heavy = here.operator(0.0, HEAVY)
    begin = HEAVY * heavy.solve(right, transposed=True)
    by_q = here.operator().times(begin, transposed=True)
    by_v = (here.operator(RATE).times(begin, transposed=True) - by_q) / RATE
    return begin, by_q, by_v, heavy.times(begin, transposed=True) / HEAVY


def start_forth(at: Origin, begin: Floats, dq: Floats, dv: Floats, imposed: Floats) -> Floats:
    """Of an open robot: changes (n, k) of the first accelerations; begin (n, k) is the explicit change of their balance."""
    here = Evaluation(at.system, at.loads(), at.q, at.v, at.a, at.lam)
    driven, flat, heavy = at.loads().driven, here.operator(), here.operator(0.0, HEAVY)
    pushed = np.zeros_like(dq)
    pushed[driven] = imposed
    right = (
        begin + flat.times(dq) + (here.operator(RATE).times(dv) - flat.times(dv)) / RATE + heavy.times(pushed) / HEAVY
    )
    right[driven] = 0.0
    found = -HEAVY * heavy.solve(right)
    found[driven] = imposed
    return found


def step_forth(
    found: Tape, step: int, before: tuple[Floats, ...], forces: Floats, imposed: Floats
) -> tuple[Floats, ...]:
    """Changes (q, v, a, A, lambda) after a step; forces (n + m, k) is the explicit change, prescribed (driven, 3, k)."""
    am, af, beta, gamma, _ = found.scheme
    dt, n, driven, back = found.dt, found.system.size, found.table.loads.driven, 0.5 / beta - 1.0
    dq, dv, da, dacc = before
    here = Step(found, step)
    ca1, share, lead = here.ca1, here.share, here.lead
    w = -ca1 * (here.turns.rates(here.turns.places(dq)) + dt * dv) - back * da
    x = (dv + dt * (1.0 - gamma) * da) / lead
    old = (am * da - af * dacc) / (1.0 - af)
    w[driven], x[driven], old[driven] = 0.0, 0.0, 0.0
    right = -forces - here.N(w + x) / ca1 - here.M(old - share * x)
    if len(driven):
        moves = np.zeros((3, len(forces), forces.shape[1]))
        moves[:, driven] = imposed.transpose(1, 0, 2)
        place, rate, push = moves[0], moves[1, :n], moves[2, :n]
        right -= here.K(place) + (here.N(rate) / ca1 - share * here.M(rate)) / lead + here.M(push)
    solved = here.solve(right)
    dq1, dlam1 = solved[:n], solved[n:]
    da1 = ca1 * here.turns.rates(dq1) + w
    dv1, dacc1 = dv + dt * ((1.0 - gamma) * da + gamma * da1), share * da1 + old
    dq1[driven], dv1[driven], da1[driven], dacc1[driven] = imposed[:, 0], imposed[:, 1], imposed[:, 2], imposed[:, 2]
    return dq1, dv1, da1, dacc1, dlam1


def sweep_large(found: Tape, by_q: Floats, by_v: Floats, out: Swept) -> None:
    """Backward sweep over all steps, into `out`."""
    system, dt, steps, n = found.system, found.dt, found.steps, found.system.size
    am, af, beta, gamma, _ = found.scheme
    tree, ws, loads, column, table = found.place()
    Q = found.states[0]
    back, zero = 0.5 / beta - 1.0, np.zeros(n)
    q, v, a, acc = out.hats
    q[:], v[:], a[:], acc[:] = by_q[steps], by_v[steps], 0.0, 0.0
    for k in range(steps, 0, -1):
        take_instant(loads, column, table, dt, k, found.Y[k])
        if k < steps:
            _add_errors(found, loads, k, dt, out)
        step = Step(found, k)
        ca1, share, lead = step.ca1, step.share, step.lead
        right = np.zeros(n + system.rows)
        right[:n] = q + step.turns.rates(ca1 * (a + share * acc + lead * v), True)
        mu = out.mu[k] = step.solve(right, True)
        heavy = step.M(mu, True)
        gq, gacc = q - step.K(mu, True)[:n], acc - heavy
        gv = v - (step.N(mu, True) / ca1 - share * heavy) / lead
        ga = a + share * gacc + lead * gv
        for b, i in enumerate(loads.driven):
            out.driven[k, b] = gq[i], gv[i], gacc[i] + a[i]  # both accelerations are the prescribed one
        gq[loads.driven], gv[loads.driven], gacc[loads.driven], ga[loads.driven] = 0.0, 0.0, 0.0, 0.0
        q[:] = step.turns.places(gq, True) + by_q[k - 1]
        v[:] = gv - dt * ca1 * ga + by_v[k - 1]
        a[:] = dt * (1.0 - gamma) * gv - back * ga + gacc * am / (1.0 - af)
        acc[:] = -gacc * af / (1.0 - af)
        linear_part(tree, ws, loads, mu[:n].copy(), mu[n:].copy(), Q[k], zero, out.rows[k])
        if found.Y.shape[1]:
            gather_integrals(ws, loads, out.y[k + 1], out.y[k])
    take_instant(loads, column, table, dt, 0, found.Y[0])
    _add_errors(found, loads, 0, 0.5 * dt, out)


def _add_errors(found: Tape, loads: Loads, k: int, share: float, out: Swept) -> None:
    """What the errors of thrusters in a state do to its q^ and v^."""
    frames, n = found.Y.shape[1], found.system.size
    if frames:
        scratch = np.zeros((frames, 15)), np.zeros((2, n)), np.zeros(n)
        q, v = found.states[0][k], found.states[1][k].copy()
        system = found.system
        pull_errors(system.tree, system.workspace, loads, q, v, share * out.y[k + 1], *scratch, *out.hats[:2])
