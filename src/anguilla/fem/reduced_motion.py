"""Motion of a reduced soft body, linear about any state: M q'' + C q' + forces(q) = rows^T efforts."""

from __future__ import annotations

import numpy as np

from anguilla.errors import SolverError
from anguilla.fem.mesh import Floats
from anguilla.fem.reduction import ReducedModel
from anguilla.fem.results import SoftEquilibrium, Status
from anguilla.fem.system import SoftState
from anguilla.fem.vibrations import matrices, sparse

__all__ = ["ReducedMotion"]


class ReducedMotion:
    """Inertia and damping of a reduced body, those of the whole one at the equilibrium without inputs, along its shapes.

    Attributes:
        model: the reduced body.
        mass: (r, r).
        damping: (r, r), of the material (Kelvin-Voigt).

    """

    def __init__(self, model: ReducedModel) -> None:
        system, x0 = model.system, model.x0
        state, none = SoftState(x0, system.rest.rotations), np.zeros(len(system.names))
        _, mass, damping = matrices(SoftEquilibrium(system.body, system, state, none, Status(True, "", {})))
        along = system.unknowns.gather(x0, model.basis)
        self.model = model
        self.mass, self.damping = (along @ (sparse(system, blocks) @ along.T) for blocks in (mass, damping))

    def linear(self, q: Floats, v: Floats, efforts: Floats) -> tuple[Floats, Floats, Floats]:
        """About a state: x' = A x + B u + drift, with x the changes of (q, v) (2 r,), u those of the efforts."""
        model, r = self.model, len(q)
        model.q, model.efforts = q.copy(), efforts.copy()
        _, slope, stiff, rows = model.evaluate()
        if not np.all(np.isfinite(slope)):
            raise SolverError("The reduced body has no forces in this state.", advice="Make smaller steps.")
        answers = np.linalg.solve(
            self.mass, np.hstack([stiff, self.damping, rows.T, (slope + self.damping @ v)[:, None]])
        )
        A, k = np.zeros((2 * r, 2 * r)), len(rows)
        A[:r, r:], A[r:, :r], A[r:, r:] = np.eye(r), -answers[:, :r], -answers[:, r : 2 * r]
        B = np.vstack([np.zeros((r, k)), answers[:, 2 * r : 2 * r + k]])
        return A, B, np.concatenate([v, -answers[:, -1]])
