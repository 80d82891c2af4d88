"""Derivatives of states with respect to parameters, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from anguilla.describe import Frame
from anguilla.errors import DescriptionError
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Model
from anguilla.results.kinematics import motion_of
from anguilla.results.observe import S_X
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.solve.gradients.costs import Cost
from anguilla.solve.gradients.designs import Make, Twins, design_slopes

__all__ = ["Sensitivities"]


@dataclass(frozen=True)
class Sensitivities:
    """Derivatives of a motion or of an equilibrium (then without the axis of time) with respect to parameters.

    Attributes:
        run: the motion or the equilibrium.
        names: (k,) of the parameters: paths, or "design[0]", "pull[0]" (shapes of an input), "start of <coordinate>",
            "rate of ...".
        q, v, a: (nt, n, k) of coordinates (balls: small rotations in the axes of the child), rates and accelerations.
        multipliers: (nt, m, k) of the multipliers of constraints.

    """

    run: Trajectory | Equilibrium
    names: list[str]
    q: Floats
    v: Floats
    a: Floats
    multipliers: Floats
    _design: tuple[Make, Floats] | Twins | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"<derivatives of {self.run!r} by {', '.join(self.names)}>"

    def position(self, frame: Frame) -> Floats:
        """Derivative (nt, 3, k) of the position of a frame [m per unit of each parameter], world axes."""
        run = self.run
        turn = run.pose(frame)[..., :3, :3]
        out = np.einsum("...ij,...jn,...nk->...ik", turn, run.jacobian(frame)[..., 3:, :], self.q)
        states = run.stored.q

        def place(model: Model) -> Floats:
            there = Frame(model.robot, frame.part_index, frame.place, frame.offset)
            zero = np.zeros_like(states)
            return motion_of(model, [there], states, zero, zero)[:, 0, S_X : S_X + 3].reshape(out.shape[:-1])

        for k, slope in enumerate(self._directly(place)):
            out[..., k] += slope
        return out

    def of(self, cost: Cost) -> Floats:
        """Derivative (k,) of a cost."""
        run = self.run
        _, by_q, by_v = cost.terms(run)
        if cost.by_inputs(run):
            raise DescriptionError(
                "Sensitivities.of takes costs of states; for costs of inputs or energy use `gradient`."
            )
        out = np.einsum("tn,tnk->k", by_q, self.q.reshape(*by_q.shape, -1))
        out += np.einsum("tn,tnk->k", by_v, self.v.reshape(*by_v.shape, -1))

        def value(model: Model) -> Floats:
            t, q, v, lam = run.stored
            twin = type(run)(model.robot, model, run.status, t, q, v, None, lam, run.inputs)
            return np.array(cost.on(model.robot).terms(twin)[0])

        direct = self._directly(value, everywhere=not cost.of_places)
        out[: len(direct)] += np.array(direct)
        return out

    def _directly(self, of: Callable[[Model], Floats], everywhere: bool = False) -> list[Floats]:
        """Derivatives with respect to the design of what a model gives in the same states, zero for what moves nothing."""
        if self._design is None:
            return []
        if not isinstance(self._design, Twins):
            return design_slopes(self._design, lambda robot: of(model_of(robot)))
        found = self._design
        if everywhere:
            found = found.whole()
        return [found.slope(k, of) if everywhere or moved else np.zeros(()) for k, moved in enumerate(found.placed)]
