"""Gauss' principle of least constraint (28)-(36): the acceleration energy, the acceleration power, and their difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe import Robot
from anguilla.errors import DescriptionError
from anguilla.mechanics.tree import Floats
from anguilla.shooting.inverse import Passes, check_tree, coadjoint, tendon_stress
from anguilla.shooting.problem import BoundaryProblem
from anguilla.shooting.shape import Motion
from anguilla.shooting.state import ACC, ETA, LAM

__all__ = ["GaussConstraint", "gauss_constraint"]


@dataclass(frozen=True)
class GaussConstraint:
    """The Gauss constraint of a frozen state (xi, xi-dot) as a function of the strain accelerations u.

    Among all accelerations, the true ones make `value` smallest (33). Velocity-only terms are left out.

    Attributes:
        robot: the robot.
        u: (points, 6) strain accelerations of the motion it was made from.
        root: (6,) rate of the twist of the root of that motion; zero on the ground.

    """

    robot: Robot
    u: Floats
    root: Floats
    _problem: BoundaryProblem
    _strain: Floats
    _rate: Floats
    _bases: dict

    def _states(self, u: ArrayLike, root: ArrayLike | None) -> tuple[Passes, Floats, Floats]:
        second = np.where(self._problem.compliance > 0.0, np.asarray(u, dtype=float), 0.0)
        passes = Passes(self._problem, [self._strain, self._rate, second], self._bases)
        acceleration = self.root if root is None else np.asarray(root, dtype=float)
        states = passes.motion({s: acceleration for s in self._problem.roots})
        return passes, states, second

    def _weights(self) -> Floats:
        p = self._problem
        return np.concatenate(
            [np.tile(h * p.rule.b, int(n)) for h, n in zip(p.segments.step, p.segments.intervals, strict=True)]
        )

    def energy(self, u: ArrayLike, root: ArrayLike | None = None) -> float:
        """Acceleration energy T_acc (30) [kg m^2/s^4], for strain accelerations u (points, 6) and that of the root."""
        _, states, _ = self._states(u, root)
        eta, acc, M = states[:, ETA:ACC], states[:, ACC:LAM], self._problem.fields.inertia
        density = 0.5 * np.sum(acc * M * acc, axis=1) - np.sum(acc * coadjoint(eta, M * eta), axis=1)
        total = float(self._weights() @ density)
        for s in np.flatnonzero(self._problem.nodes.heavy).tolist():
            eta, acc, M = (*self._end(s), self._problem.nodes.mass[s])
            total += float(0.5 * acc @ M @ acc - acc @ coadjoint(eta[None], (M @ eta)[None])[0])
        return total

    def power(self, u: ArrayLike, root: ArrayLike | None = None) -> float:
        """Acceleration power P_acc (31)-(32) of external and internal forces (errata 003.5), for the same arguments."""
        passes, states, second = self._states(u, root)
        p = self._problem
        eta, acc = states[:, ETA:ACC], states[:, ACC:LAM]
        force = passes.external(states) - coadjoint(eta, p.fields.inertia * eta)
        stress = p.fields.stress + tendon_stress(p, self._strain)
        stress = stress + p.hooke * (self._strain - p.rest) + p.damping[:, None] * p.elastic * self._rate
        total = float(self._weights() @ np.sum(acc * force - second * stress, axis=1))
        for s in range(p.count):
            eta, acc = self._end(s)
            force = passes.end_force(s) - coadjoint(eta[None], (p.nodes.mass[s] @ eta)[None])[0]
            total += float(acc @ force)
        return total

    def value(self, u: ArrayLike, root: ArrayLike | None = None) -> float:
        """T_acc - P_acc (33)."""
        return self.energy(u, root) - self.power(u, root)

    def _end(self, s: int) -> tuple[Floats, Floats]:
        return self._problem.end[s, ETA:ACC], self._problem.end[s, ACC:LAM]


@public
def gauss_constraint(motion: Motion, step: int = -1, inputs=None) -> GaussConstraint:
    """The Gauss constraint at one stored step of a motion, with the inputs of its actuators at that time."""
    if not isinstance(motion, Motion) or motion.problem is None:
        raise DescriptionError("motion must be a Motion of shooting.simulate.")
    old = motion.problem
    problem = BoundaryProblem(
        old.robot, shoots=old.shoots, intervals=old.intervals, stress=old.stress, added=old.added, moving=True
    )
    check_tree(problem, "the Gauss constraint")
    problem.load(float(motion.t[step]), inputs)
    bases, root = {}, np.zeros(6)
    for s in problem.roots:
        state = motion.states[step, motion.network.node[s]]
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = state[:9].reshape(3, 3), state[9:12]
        bases[s], root = (pose, state[ETA:ACC]), state[ACC:LAM].copy()
    return GaussConstraint(
        old.robot,
        motion.strain_acceleration[step],
        root,
        problem,
        motion.point_strains[step],
        motion.strain_rate[step],
        bases,
    )
