"""A controller that steers an effector from equilibrium to equilibrium, by its measured place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.control.feedback import Goal, Pick, as_goal, as_picker
from anguilla.control.inverse import InverseKinematics
from anguilla.control.loop import impedance_step
from anguilla.control.model import ConstraintModel, as_model
from anguilla.errors import DescriptionError, as_positive, as_vector
from anguilla.mechanics.tree import Floats

__all__ = ["Steer"]


@public
class Steer:
    """Brings an effector to its goal by one step of inverse kinematics at every update, or makes it yield like a spring.

    For motions that are slow against the vibrations of the robot. What the measured robot differs from its model by is taken
    up little by little, so that a wrong stiffness leaves no lasting error.

    Args:
        model: the controller's own model: a SoftBody, a fem.SoftModel, a fem.ReducedModel, a RodModel or a mixed robot's.
        goal: place (3,) [m], or a function of t.
        measure: which three numbers of the reading are the measured place; the first three by default.
        effector: its name in the model; the first by default.
        stiffness: (3, 3) [N/m] of the spring around the goal; if not given, the effector is brought to the goal.
        gain: part of what robot and model differ by, or of the correction of a spring, that an update takes up, in (0, 1].

    Attributes:
        model: where the model is.

    """

    def __init__(
        self, model: Any, goal: Goal, *, measure: Pick = None, effector: str | None = None,
        stiffness: ArrayLike | None = None, gain: float = 0.2,
    ) -> None:  # fmt: skip
        self.model: ConstraintModel = as_model(model)
        names = list(self.model.effectors)
        self.effector = names[0] if effector is None and names else effector
        if self.effector not in names:
            raise DescriptionError(f"there is no effector {effector!r}; there are: {', '.join(names) or 'none'}.")
        self.goal, self.measure = as_goal(goal, 3, "goal"), as_picker(slice(0, 3) if measure is None else measure)
        self.stiffness, self.gain = stiffness, as_positive(gain, "gain")
        self.names = list(self.model.actuators)
        self._begin = self.model.remember()
        self.reset()

    def reset(self) -> None:
        """Bring the model back to where it was first."""
        self.model.restore(self._begin)
        self._kinematics = InverseKinematics(self.model)
        self._off = np.zeros(3)

    def update(self, reading: Floats, t: float) -> dict[str, float]:
        """Inputs from now on."""
        place = as_vector(self.measure(reading), 3, "the measured place in the reading", "m")
        if self.stiffness is not None:
            impedance_step(self.model, place, self.goal(t), self.stiffness, gain=self.gain)
        else:
            here = self.model.positions()[list(self.model.effectors).index(str(self.effector))]
            self._off = self._off + self.gain * (place - here - self._off)
            self._kinematics.step({str(self.effector): self.goal(t) - self._off})
        low, high, _, _ = self.model.limits()
        return dict(zip(self.names, np.clip(self.model.efforts, low, high).tolist(), strict=True))
