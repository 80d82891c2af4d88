"""Statics in terms of strains (55): the explicit form when the active stress depends on the strain (remark 4).

The state along X is (g, Lambda_c, eps). It needs the derivatives of the stiffness and of the active stress along X.
The main solver inverts the constitutive law at each point instead; this form is kept as the paper has it, for one
rod, in plain NumPy, and serves as a check.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import root

from anguilla import lie
from anguilla._doors import public
from anguilla.describe import STRAIN_NAMES, Robot, RodHandle
from anguilla.errors import DescriptionError, SolverError
from anguilla.interact import DistributedWrench, Wrench
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.shooting.door import robot_of
from anguilla.shooting.network import check_known, refuse_shapes
from anguilla.shooting.problem import Inputs, coadjoint_matrix

__all__ = ["StrainSolution", "strain_form"]

DIFFERENCE = 1e-3  # of the length, for slopes along X of sections and rest shapes


@dataclass(frozen=True)
class StrainSolution:
    """The shape of one rod: positions (m, 3) [m], strains (m, 6) and wrenches (m, 6) at arc lengths X (m,) [m]."""

    X: Floats
    position: Floats
    strain: Floats
    wrench: Floats


@public
def strain_form(
    robot: Robot | Model, *, inputs: Inputs | None = None, steps: int = 1, intervals: int = 100
) -> StrainSolution:
    """Equilibrium of one clamped rod by single shooting on (55), with tendons over its whole length.

    Args:
        robot: one rod on the ground, with tip wrenches, distributed wrenches and tendons; or its model.
        inputs: inputs of the actuators by name.
        steps: load increments.
        intervals: of the classical Runge-Kutta method along the rod.

    """
    robot = robot_of(robot)
    check_known(robot, muscles=False)
    refuse_shapes(robot)
    rods = [part for part in robot.parts if isinstance(part, RodHandle)]
    if len(robot.parts) != 1 or len(rods) != 1 or rods[0].joint.size:
        raise DescriptionError("strain_form is for one rod clamped to the ground.")
    if robot.closures or any(isinstance(x, Wrench) and x.frame != rods[0].tip for x in robot.loads):
        raise DescriptionError("strain_form is for wrenches at the tip and along the rod, without loops.")
    form = _Form(robot, rods[0], inputs, intervals)
    unknown = np.zeros(6)
    for k in range(1, steps + 1):
        form.factor = k / steps
        answer = root(form.tip_error, unknown, tol=1e-12)
        unknown = answer.x
        if np.max(np.abs(form.tip_error(unknown))) > 1e-9:
            raise SolverError(f"No equilibrium of {robot.name!r} in the form (55): {answer.message}.")
    y = form.integrate(unknown)
    stresses = [form.stress(2 * k, row)[:2] for k, row in enumerate(y)]
    xi, wrench = (np.array([s[i] for s in stresses]) for i in (0, 1))
    return StrainSolution(form.X[::2], y[:, 9:12], xi, wrench)


class _Form:
    """The equations (55), with the fields of the rod and their slopes at nodes and midpoints."""

    def __init__(self, robot: Robot, arm: RodHandle, inputs: Inputs | None, intervals: int) -> None:
        self.robot, self.arm, rod = robot, arm, arm.rod
        self.active = np.array([name in rod.strains for name in STRAIN_NAMES])
        self.h = arm.length / intervals
        self.X = np.linspace(0.0, arm.length, 2 * intervals + 1)
        self.rest, self.rest_slope = rod.rest.strain(self.X), self.along(rod.rest.strain)
        self.hooke, self.hooke_slope = rod.hooke(self.X), self.along(rod.hooke)
        self.tendons = []
        for name, actuator in robot.actuators.items():
            value = (inputs or {}).get(name, 0.0)
            value = value(0.0) if callable(value) else float(value)
            for _, routing, _, _ in actuator.stretches:
                fields = routing.offset(self.X), routing.slope(self.X), self.along(routing.slope)
                self.tendons.append((actuator.tension_per_input * value, fields))
        gravity = robot.gravity_values([0.0])[0]
        self.dead = np.hstack([np.zeros((len(self.X), 3)), rod.inertia(self.X)[:, 3:4] * gravity])
        self.own = np.zeros_like(self.dead)
        for load in robot.loads:
            if isinstance(load, DistributedWrench):
                (self.own if load.follower else self.dead)[:] += load.values(self.X, [0.0])[0]
        self.factor = 1.0
        force = self.hooke[0, 1] / arm.length**2
        self.units = np.repeat([force * arm.length, force], 3)
        self.scale = np.where(self.active, self.units / self.hooke[0], self.units)  # of the unknowns at the root

    def along(self, function) -> Floats:
        """StepSlopes of a field at the points, by one-sided differences of fourth order at the ends, central ones inside."""
        h = DIFFERENCE * self.arm.length
        low = np.clip(self.X - 2 * h, 0.0, self.arm.length - 4 * h)
        nodes = [np.asarray(function(low + k * h)) for k in range(5)]
        t = (self.X - low) / h
        out = np.zeros_like(nodes[0])
        for k in range(5):  # derivative of Lagrange's polynomials at t
            others = [j for j in range(5) if j != k]
            scale = np.prod([k - j for j in others])
            terms = [np.prod([t - j for j in others if j != i], axis=0) for i in others]
            out += (np.sum(terms, axis=0) / scale / h)[:, None] * nodes[k]
        return out

    def stress(self, p: int, y: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """xi, Lambda (53), H + d Lambda_ad / d eps and the partial slope of Lambda_ad + H eps (54), at point p."""
        eps = np.where(self.active, y[12:18], 0.0)
        xi = self.rest[p] + eps
        law, stiff, slope = self.hooke[p] * eps, np.diag(self.hooke[p]), self.hooke_slope[p] * eps
        for T, (offset, first, second) in self.tendons:
            T, D, D1, D2 = self.factor * T, offset[p], first[p], second[p]
            line = xi[3:] + np.cross(xi[:3], D) + D1
            # d line / dX at constant eps, and d line / d xi
            along = self.rest_slope[p, 3:] + np.cross(self.rest_slope[p, :3], D) + np.cross(xi[:3], D1) + D2
            by_xi = np.hstack([-lie.hat3(D), np.eye(3)])
            n = np.linalg.norm(line)
            t = line / n
            A = (np.eye(3) - np.outer(t, t)) / n
            law = law + T * np.concatenate([np.cross(D, t), t])
            turn = A @ by_xi
            stiff = stiff + T * np.vstack([lie.hat3(D) @ turn, turn])
            slope = slope + T * np.concatenate([np.cross(D1, t) + np.cross(D, A @ along), A @ along])
        stress = np.where(self.active, law, y[12:18])  # locked components carry Lambda_c
        return xi, stress, stiff, slope

    def rates(self, p: int, y: Floats) -> Floats:
        """StepSlopes of (g, and eps or Lambda_c by component) (55)."""
        xi, stress, stiff, slope = self.stress(p, y)
        R, dead = y[:9].reshape(3, 3), self.dead[p]
        force = self.factor * (self.own[p] + np.concatenate([R.T @ dead[:3], R.T @ dead[3:]]))
        change = coadjoint_matrix(stress) @ xi - force
        a = self.active
        out = change.copy()
        out[a] = np.linalg.solve(stiff[np.ix_(a, a)], (change - slope)[a])
        return np.concatenate([(R @ lie.hat3(xi[:3])).ravel(), R @ xi[3:], out])

    def integrate(self, unknown: Floats) -> Floats:
        """States at the nodes from the scaled unknowns at the root."""
        pose, h = self.arm.pose, self.h
        y = np.concatenate([pose[:3, :3].ravel(), pose[:3, 3], self.scale * unknown])
        rows = [y]
        for p in range(0, len(self.X) - 1, 2):
            k1 = self.rates(p, y)
            k2 = self.rates(p + 1, y + 0.5 * h * k1)
            k3 = self.rates(p + 1, y + 0.5 * h * k2)
            k4 = self.rates(p + 2, y + h * k3)
            y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            rows.append(y)
        return np.array(rows)

    def tip_error(self, unknown: Floats) -> Floats:
        """Lambda(l) - F+, scaled: implicit in eps(l) (errata 003.12)."""
        y = self.integrate(unknown)[-1]
        R, force = y[:9].reshape(3, 3), np.zeros(6)
        for load in self.robot.loads:
            if isinstance(load, Wrench):
                w = load.values([0.0])[0]
                force += w if load.follower else np.concatenate([R.T @ w[:3], R.T @ w[3:]])
        return (self.stress(len(self.X) - 1, y)[1] - self.factor * force) / self.units
