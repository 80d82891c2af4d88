"""Damped flows to an equilibrium, in a fictitious time: 000 (45) for open robots, 000 (55)-(58) with loops.

The second needs no tangent stiffness:
D q' + K q + Q(q) = J^T lambda,   J q' = eta,   with D = mu K an artificial damping and eta a feedback that closes the loops.
Every rate is a particular solution of the constraints plus a motion in their kernel H (000 (56)); projecting the balance on
H removes lambda (000 (57)). Where Newton meets a singular tangent (a bifurcation, a symmetry of the robot), D keeps the
flow regular.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anguilla.errors import DescriptionError, as_count, as_positive
from anguilla.interact.kernels.table import DT, KIND, LENGTH, ROTATION, TWIST, Loads
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluate import residual, tangent
from anguilla.model.evaluation import at_rest
from anguilla.model.model import Model
from anguilla.model.user import move
from anguilla.results.passing import passes
from anguilla.solve.newton.closing import drive, loose
from anguilla.solve.newton.gaps import RANK
from anguilla.solve.statics.downhill import advanced

__all__ = ["Flow", "ProjectiveFlow"]

SETTLED = 1e-6  # [rad, m]: what may be left of the gaps, and of the motion in one relaxation time
SMALLEST_STEP, MOST_STEPS = 1e-9, 1000  # of the duration; tries for each of the longest stable steps in it
STABLE = 1.0  # step times rate of the damping: tensioned rods relax up to 2.5 times faster, where the pair stays stable
SHARE = 0.1  # of a step, that its error may be
PASSING = "parts would pass through each other in a step"
LONGEST_MOVE = 1.0  # [rad]: change of the coordinates in one step


@dataclass(frozen=True)
class Flow:
    """The damped static balance of 000 (45): mu K q' + K q = -Q_c(q), followed in a fictitious time by implicit Euler.

    Attributes:
        mu: relaxation time of the artificial damping D = mu K [s].
        dt: step of the fictitious time [s].
        steps: number of steps.

    """

    mu: float = 1e-3
    dt: float = 1e-3
    steps: int = 200

    def __post_init__(self) -> None:
        as_positive(self.mu, "Flow.mu", "s")
        as_positive(self.dt, "Flow.dt", "s")
        as_count(self.steps, "Flow.steps")


def relax(system: Model, forces: Loads, q: Floats, flow: Flow) -> tuple[Floats, bool, str, dict[str, int]]:
    """Implicit Euler on mu K_e q' = -R(q), K_e the elastic stiffness: one Newton correction a step."""
    if not system.is_plain:
        raise DescriptionError(
            'Flow supports open robots; a robot with loops or prescribed motions needs "newton" or ProjectiveFlow().'
        )
    none = np.zeros(0)
    out, matrix = np.zeros(system.size), np.zeros((system.size, system.size))
    elastic = system.elastic_stiffness()
    gain = flow.mu / flow.dt
    size = np.inf
    for _ in range(flow.steps):
        residual(system.tree, system.workspace, forces, q, 0 * q, 0 * q, none, out)
        tangent(system.tree, system.workspace, forces, 0.0, 0.0, none, matrix)
        try:
            dq = np.linalg.solve(matrix + gain * elastic, -out)
        except np.linalg.LinAlgError:
            return q, False, f"the tangent is singular, nothing holds {loose(system, matrix)}", {"steps": flow.steps}
        size = float(np.linalg.norm(dq * system.tree.scale))
        if not np.isfinite(size):
            return q + dq, False, "the flow diverged", {"steps": flow.steps}
        q = advanced(system, q, np.asarray(min(1.0, 1.0 / max(size, 1e-300)) * dq, dtype=np.float64))
    ok = size < 1e-6
    return q, ok, f"the flow moves by {size:.1e} a step at its end", {"steps": flow.steps}


@dataclass(frozen=True)
class ProjectiveFlow:
    """The damped static balance of a robot with closed loops (000 (55)-(58)), followed in a fictitious time.

    The robot starts where it is, open or closed; its loops close at the rate of the gains while it relaxes. Explicit
    integration with steps that control their error. It needs no tangent, so that it passes bifurcations, along which it
    chooses the stable branch.

    Attributes:
        mu: relaxation time of the artificial damping D = mu K [s].
        turn_gain: rate at which gaps of orientation close [1/s].
        slide_gain: rate at which gaps of position close [1/s].
        duration: fictitious time [s].
        error: local error of a step, as an angle [rad] or a relative displacement.

    """

    mu: float = 1e-3
    turn_gain: float = 1e3
    slide_gain: float = 2e2
    duration: float = 0.1
    error: float = 1e-4

    def __post_init__(self) -> None:
        units = {"mu": "s", "turn_gain": "1/s", "slide_gain": "1/s", "duration": "s", "error": ""}
        for name, unit in units.items():
            as_positive(getattr(self, name), f"ProjectiveFlow.{name}", unit)


@dataclass
class _Rates:
    """The right-hand side of the flow, in scaled coordinates."""

    system: Model
    loads: Loads
    flow: ProjectiveFlow

    def __post_init__(self) -> None:
        system, loads = self.system, self.loads
        kinds = loads.constraints.table[:, KIND]
        if np.any(kinds == LENGTH):
            raise DescriptionError('ProjectiveFlow does not support tendons given by length: use method="newton".')
        self.rows = np.flatnonzero(kinds != TWIST)
        self.gain = np.where(kinds[self.rows] == ROTATION, self.flow.turn_gain, self.flow.slide_gain)
        self.free = np.setdiff1d(np.arange(system.size), loads.driven)
        self.scale = system.tree.scale[self.free]
        stiffness = system.elastic_stiffness()[np.ix_(self.free, self.free)] / np.outer(self.scale, self.scale)
        diagonal = np.diag(stiffness)
        if not np.any(diagonal > 0.0):
            raise DescriptionError(
                "ProjectiveFlow needs an elastic part: its damping is proportional to the stiffness."
            )
        # joints without a spring are damped like an average strain
        self.damping = self.flow.mu * (
            stiffness + np.diag(np.where(diagonal > 0.0, 0.0, diagonal[diagonal > 0.0].mean()))
        )
        loads.row[DT] = 0.0
        self.evaluations = 0

    def __call__(self, q: Floats) -> tuple[Floats, Floats, float]:
        """Rates of all coordinates (n,), multipliers (m,), and the largest gap of the constraints."""
        system, n = self.system, self.system.size
        lam, here = np.zeros(system.rows), at_rest(system, self.loads, q)
        out, jacobian = here.values, here.J[np.ix_(self.rows, self.free)] / self.scale
        force, gap = out[:n][self.free] / self.scale, out[n:][self.rows]
        u, s, vt = np.linalg.svd(jacobian)
        rank = int(np.sum(s > RANK * max(float(np.max(s, initial=0.0)), 1e-300)))
        u, s, image, kernel = u[:, :rank], s[:rank], vt[:rank], vt[rank:].T
        particular = image.T @ ((u.T @ (-self.gain * gap)) / s)
        push = kernel.T @ (force + self.damping @ particular)
        rate = particular - kernel @ np.linalg.solve(kernel.T @ self.damping @ kernel, push)
        lam[self.rows] = u @ ((image @ (force + self.damping @ rate)) / s)
        whole = np.zeros(n)
        whole[self.free] = rate / self.scale
        self.evaluations += 1
        return whole, lam, float(np.max(np.abs(gap), initial=0.0))


def follow(
    system: Model, loads: Loads, q: Floats, flow: ProjectiveFlow
) -> tuple[Floats, Floats, bool, str, dict[str, int]]:
    """Follow the flow from q under fixed loads. Returns (q, multipliers, success, message, counters).

    Bogacki and Shampine's pair of orders 3 and 2.
    """
    rates, weight = _Rates(system, loads, flow), system.tree.scale
    q = drive(loads, q)
    longest = STABLE * min(flow.mu, 1.0 / flow.turn_gain, 1.0 / flow.slide_gain)
    t, steps, h = 0.0, 0, 0.1 * longest
    k1, lam, gap = rates(q)
    left = MOST_STEPS * int(np.ceil(flow.duration / longest))
    while t < flow.duration:
        left -= 1
        h = min(h, longest, flow.duration - t, LONGEST_MOVE / max(float(np.linalg.norm(k1 * weight)), 1e-300))
        if left < 0 or (h < SMALLEST_STEP * flow.duration and flow.duration - t > h):
            return q, lam, False, f"the flow needs steps too small to take, at {t:.3g} s", {"steps": steps}
        k2 = rates(move(system.tree, q, 0.5 * h * k1))[0]
        k3 = rates(move(system.tree, q, 0.75 * h * k2))[0]
        ahead = move(system.tree, q, h * (2.0 * k1 + 3.0 * k2 + 4.0 * k3) / 9.0)
        k4, next_lam, next_gap = rates(ahead)
        size = h * float(np.linalg.norm((-5.0 * k1 / 72.0 + k2 / 12.0 + k3 / 9.0 - k4 / 8.0) * weight))
        if not np.isfinite(size):
            h *= 0.1
            continue
        # a part of the motion too, or steps at the edge of stability would keep the flow from settling
        allowed = min(flow.error, SHARE * h * float(np.linalg.norm(k1 * weight)) + 1e-3 * SETTLED)
        if size <= allowed and passes(system, q, ahead):
            return q, lam, False, PASSING, {"steps": steps}
        if size <= allowed:
            q, k1, lam, gap, t, steps = ahead, k4, next_lam, next_gap, t + h, steps + 1
        h *= min(4.0, max(0.2, 0.9 * (allowed / max(size, 1e-300)) ** (1.0 / 3.0)))
    move_left = flow.mu * float(np.linalg.norm(k1 * weight))
    message = f"the flow still moves by {move_left:.1e} in {flow.mu:g} s, its loops miss by {gap:.1e}"
    counters = {"steps": steps, "evaluations": rates.evaluations}
    return q, lam, move_left < SETTLED and gap < SETTLED, message, counters
