"""Experiments with soft volumes: equilibria of a body, what its effectors show, and differences between them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anguilla.describe.paths import steps_of
from anguilla.errors import DescriptionError, as_number
from anguilla.fem.body import SoftBody
from anguilla.fem.equilibrium import statics
from anguilla.fem.system import SoftSystem
from anguilla.identification.measurements import Marker
from anguilla.identification.trial import Driven
from anguilla.mechanics.tree import Floats

__all__ = ["VolumeStates", "VolumeTrial", "body_number", "put_body_number"]

STEP = 1e-4  # relative, of a difference between equilibria
FIELDS = ("young", "poisson", "density", "shear")


@dataclass
class VolumeStates:
    """Where the effectors of a body are in the rows of an experiment.

    Attributes:
        values: (k,) the parameters.
        inputs: (rows,) by actuator.
        places: (rows, 3) [m] by name of what was measured.
        turns: (rows, 3, 3) by the same names, where markers have offsets.
        starts: states to begin from next time.

    """

    values: Floats
    inputs: dict[str, Floats]
    places: dict[str, Floats]
    turns: dict[str, Floats]
    starts: list[Any]


@dataclass
class VolumeTrial(Driven):
    """One experiment with a soft body whose parameters are to be found."""

    last: VolumeStates | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        data = self.data
        if data.motion or data.turns or data.lengths or data.tensions:
            raise DescriptionError(f"{data.name!r}: soft volumes are fitted to positions at rest only.")

    def states(self, values: Floats) -> VolumeStates:
        """Places for values (k,) of all parameters."""
        self.last = self._found(values, self.last)
        return self.last

    def changes(self, here: VolumeStates) -> dict[str, Floats]:
        """Derivatives (rows, 3, k) of the places by all parameters, by name."""
        by = {name: np.zeros((*places.shape, len(self.parameters))) for name, places in here.places.items()}
        for k in [*self.own, *self.driving]:
            h = STEP * abs(here.values[k]) or STEP
            more, less = here.values.copy(), here.values.copy()
            more[k], less[k] = more[k] + h, less[k] - h
            high, low = self._found(more, here), self._found(less, here)
            for name in by:
                one, two = (self.seen(there, name, np.zeros(3))[0] for there in (high, low))
                by[name][:, :, k] = (one - two) / (2.0 * h)
        return by

    def seen(self, here: VolumeStates, name: str, free: Floats) -> tuple[Floats, Floats]:
        """Place (rows, 3) of a marker with what is unknown of its offset, and the axes (rows, 3, 3) of that offset."""
        marker = self.data.markers[name]
        assert isinstance(marker, Marker)
        turn = here.turns.get(name, np.tile(np.eye(3), (len(here.places[name]), 1, 1)))
        return here.places[name] + turn @ (np.asarray(marker.offset) + free), turn

    def _found(self, values: Floats, near: VolumeStates | None) -> VolumeStates:
        data, inputs = self.data, self.inputs(values)
        body = self.made(values)
        if not isinstance(body, SoftBody):
            raise DescriptionError("identify: the function returned a SoftBody first, and something else later.")
        system = SoftSystem(body)
        starts: list[Any] = []
        places = {name: np.full((data.rows, 3), np.nan) for name in data.positions}
        turns = {name: np.tile(np.eye(3), (data.rows, 1, 1)) for name in data.positions if self._turns(name)}
        for row in range(data.rows):
            if not data.seen[row]:
                starts.append(None)
                continue
            given = {name: float(u[row]) for name, u in inputs.items()}
            eq = statics(system, inputs=given, start=None if near is None else near.starts[row])
            starts.append(eq.state)
            for name in places:
                marker = data.markers[name]
                assert isinstance(marker, Marker)
                effector = str(marker.frame)
                if effector not in body.effectors:
                    there = ", ".join(body.effectors) or "none"
                    raise DescriptionError(f"{data.name!r}: the body has no effector {effector!r}; it has: {there}.")
                places[name][row] = eq.position(effector)
                if name in turns:
                    turns[name][row] = eq.rotation(effector)
        return VolumeStates(values.copy(), inputs, places, turns, starts)

    def _turns(self, name: str) -> bool:
        """Whether a marker sits away from its effector, and turns with it."""
        marker = self.data.markers[name]
        assert isinstance(marker, Marker)
        return bool(np.any(marker.offset) or marker.free)


def body_number(body: SoftBody, path: str) -> float:
    """The number of a soft body at a path: "material.young", "gravity[2]", "materials.<region>.poisson"."""
    *_, item, step = _way(body, path)
    found = item[step] if isinstance(step, int) else getattr(item, step)
    if step == "poisson" and found is None:
        found = item.young / (2.0 * item.shear_modulus) - 1.0
    return as_number(found, f"path {path!r}: what it leads to")


def put_body_number(body: SoftBody, path: str, value: float) -> None:
    """Set it, in place."""
    steps, item, step = _way(body, path)
    if isinstance(step, int):
        body.gravity = np.array([value if k == step else x for k, x in enumerate(np.asarray(body.gravity).tolist())])
        return
    other = {"poisson": "shear", "shear": "poisson"}.get(step)
    new = replace(item, **{step: value}, **({other: None} if other else {}))
    if len(steps) == 3:
        body.materials[str(steps[1])] = new
    else:
        body.material = new


def _way(body: SoftBody, path: str) -> tuple[Any, Any, Any]:
    """(steps, what holds the number, its name or index)."""
    steps = steps_of(path)
    if len(steps) == 2 and steps[0] == "gravity" and isinstance(steps[1], int) and steps[1] < 3:
        return steps, np.asarray(body.gravity), steps[1]
    if len(steps) == 2 and steps[0] == "material" and steps[1] in FIELDS:
        return steps, body.material, steps[1]
    if len(steps) == 3 and steps[0] == "materials" and steps[1] in body.materials and steps[2] in FIELDS:
        return steps, body.materials[str(steps[1])], steps[2]
    known = f"material.{', material.'.join(FIELDS)}, gravity[0] to gravity[2], materials.<region>.young, ..."
    raise DescriptionError(f"path {path!r}: soft body {body.name!r} has {known}.")


def made_body(source: SoftBody, asked: Mapping[str, float], given: Mapping[str, Any]) -> SoftBody:
    """A copy of the body with other numbers."""
    body = copy.copy(source)
    body.materials = dict(source.materials)
    for path, value in {**asked, **given}.items():
        put_body_number(body, path, float(value))
    return body
