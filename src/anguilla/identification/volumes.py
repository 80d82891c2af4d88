"""Experiments with soft volumes: equilibria of a body, what its effectors show, and how that changes with parameters.

At an equilibrium the imbalance r(x, p) vanishes, so K dx/dp = -dr/dp: one factorisation of a row, whatever the number of
parameters; dr/dp is a difference between bodies in the same place, which no search for an equilibrium blurs.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from anguilla.describe.paths import steps_of
from anguilla.errors import DescriptionError, as_number
from anguilla.fem.body import SoftBody
from anguilla.fem.equilibrium import statics
from anguilla.fem.results import SoftEquilibrium
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.identification.measurements import Marker
from anguilla.identification.trial import Driven
from anguilla.lie import log3
from anguilla.mechanics.tree import Floats

__all__ = ["VolumeStates", "VolumeTrial", "body_number", "put_body_number"]

STEP = 1e-4  # relative, of a difference between bodies
FIELDS = ("young", "poisson", "density", "shear")


@dataclass
class VolumeStates:
    """Where the effectors of a body are in the rows of an experiment.

    Attributes:
        values: (k,) the parameters.
        inputs: (rows,) by actuator.
        places: (rows, 3) [m] by name of what was measured.
        turns: (rows, 3, 3) by the same names.
        found: equilibria of the rows; None where nothing was measured.

    """

    values: Floats
    inputs: dict[str, Floats]
    places: dict[str, Floats]
    turns: dict[str, Floats]
    found: list[SoftEquilibrium | None]


class MarkerShift(NamedTuple):
    """How a marker's effector moves with parameters: shift (rows, 3, k) [m] and turn (rows, 3, k) [rad], the world's axes."""

    shift: Floats
    turn: Floats


class Twin(NamedTuple):
    """A step h of a parameter, and the body with it more and less."""

    h: float
    both: tuple[SoftSystem, SoftSystem]


@dataclass
class VolumeTrial(Driven):
    """One experiment with a soft body whose parameters are to be found."""

    last: VolumeStates | None = None
    inexact: str = ""  # why derivatives are differences between equilibria, if they are

    def __post_init__(self) -> None:
        super().__post_init__()
        data = self.data
        if data.motion or data.turns or data.lengths or data.tensions:
            raise DescriptionError(f"{data.name!r}: soft volumes are fitted to positions at rest only.")

    def states(self, values: Floats) -> VolumeStates:
        """Places for values (k,) of all parameters."""
        self.last = self._found(values, self.last)
        return self.last

    def changes(self, here: VolumeStates) -> dict[str, MarkerShift]:
        """How places and turns change with all parameters, by name: exact, but where nothing smooth is known of a body."""
        count, rows = len(self.parameters), self.data.rows
        by = {name: MarkerShift(np.zeros((rows, 3, count)), np.zeros((rows, 3, count))) for name in here.places}
        first = next(eq.system for eq in here.found if eq is not None)
        self.inexact = _not_smooth(first)
        twins = {} if self.inexact else {k: self._twins(here.values, k, first) for k in self.own}
        if any(_reshapes(first, one) for twin in twins.values() for one in twin.both):
            self.inexact = "a parameter changes the mesh of a body with rigid parts, or how many nodes it has."
        if self.inexact:
            self._by_differences(here, by)
            return by
        driven = {k: self._driven(here.values, k) for k in self.driving}
        for row, eq in enumerate(here.found):
            if eq is not None:
                efforts = {
                    k: np.array([u[n][row] if n in u else 0.0 for n in eq.system.names]) for k, u in driven.items()
                }
                self._exact(row, eq, twins, efforts, by)
        return by

    def _twins(self, values: Floats, k: int, like: SoftSystem) -> Twin:
        """The body with a parameter a little more and a little less."""
        h = STEP * abs(values[k]) or STEP
        more, less = values.copy(), values.copy()
        more[k], less[k] = more[k] + h, less[k] - h
        return Twin(h, (SoftSystem(self.made(more), like=like), SoftSystem(self.made(less), like=like)))

    def _exact(
        self,
        row: int,
        eq: SoftEquilibrium,
        twins: dict[int, Twin],
        driven: dict[int, Floats],
        by: dict[str, MarkerShift],
    ) -> None:
        """Derivatives of one row: what changes with all nodes carried along with their rest, then what gives way."""
        system, u, x = eq.system, eq.system.unknowns, eq.x
        _, force, blocks = system.evaluate(eq.state, eq.efforts, stiffness=True)
        system.solver.factor(u.fold(x, blocks, force))
        pushes = {k: -np.tensordot(efforts, system.actuator_rows(eq.state), 1) for k, efforts in driven.items()}
        for k, twin in twins.items():
            places = [SoftState(x + (one.rest.x - system.rest.x), eq.state.rotations) for one in twin.both]
            pulls = [one.evaluate(at, eq.efforts)[1] for one, at in zip(twin.both, places, strict=True)]
            pushes[k] = (pulls[0] - pulls[1]) / (2.0 * twin.h)
            for name, moving in by.items():
                e = self._effector(system, name)
                ends = [(one.frames.position(at.x, e), one.frames.rotation(at.x, e))
                        for one, at in zip(twin.both, places, strict=True)]  # fmt: skip
                moving.shift[row, :, k], moving.turn[row, :, k] = _between(*ends[0], *ends[1], 2.0 * twin.h)
        if not pushes:
            return
        steps = system.solver.solve(-u.gather(x, np.array(list(pushes.values()))))
        rows, first = system.frames.gradient(x), np.concatenate([[0], np.cumsum(system.frames.rows)])
        for k, step in zip(pushes, steps, strict=True):
            moved = np.einsum("enj,nj->e", rows, u.spread(x, step.reshape(-1, 3)))
            for name, moving in by.items():
                e = self._effector(system, name)
                mine = moved[first[e] : first[e + 1]]
                moving.shift[row, :, k] += mine[:3]
                moving.turn[row, :, k] += mine[3:] if len(mine) == 6 else 0.0

    def _by_differences(self, here: VolumeStates, by: dict[str, MarkerShift]) -> None:
        """Derivatives between equilibria, where nothing smooth is known of a body."""
        for k in [*self.own, *self.driving]:
            h = STEP * abs(here.values[k]) or STEP
            more, less = here.values.copy(), here.values.copy()
            more[k], less[k] = more[k] + h, less[k] - h
            high, low = self._found(more, here), self._found(less, here)
            for name, moving in by.items():
                for row, eq in enumerate(here.found):
                    if eq is not None:
                        ends = [(there.places[name][row], there.turns[name][row]) for there in (high, low)]
                        moving.shift[row, :, k], moving.turn[row, :, k] = _between(*ends[0], *ends[1], 2.0 * h)

    def _found(self, values: Floats, near: VolumeStates | None) -> VolumeStates:
        data, inputs = self.data, self.inputs(values)
        body = self.made(values)
        if not isinstance(body, SoftBody):
            raise DescriptionError("identify: the function returned a SoftBody first, and something else later.")
        starts = [None] * data.rows if near is None else near.found
        like = next((eq.system for eq in starts if eq is not None), None)
        system, found = SoftSystem(body, like=like), list[SoftEquilibrium | None]()
        places = {name: np.full((data.rows, 3), np.nan) for name in data.positions}
        turns = {name: np.tile(np.eye(3), (data.rows, 1, 1)) for name in data.positions}
        for row, start in enumerate(starts):
            if not data.seen[row]:
                found.append(None)
                continue
            given = {name: float(u[row]) for name, u in inputs.items()}
            eq = statics(system, inputs=given, start=None if start is None else start.state)
            found.append(eq)
            for name in places:
                e = self._effector(system, name)
                places[name][row] = system.frames.position(eq.x, e)
                turns[name][row] = self._turn(eq, name, e)
        return VolumeStates(values.copy(), inputs, places, turns, found)

    def _marker(self, name: str) -> Marker:
        marker = self.data.markers[name]
        assert isinstance(marker, Marker)
        return marker

    def _effector(self, system: SoftSystem, name: str) -> int:
        """Number of the effector that a marker sits on."""
        effector = str(self._marker(name).frame)
        if effector not in system.frames.names:
            there = ", ".join(system.frames.names) or "none"
            raise DescriptionError(f"{self.data.name!r}: the body has no effector {effector!r}; it has: {there}.")
        return system.frames.names.index(effector)

    def _turn(self, eq: SoftEquilibrium, name: str, e: int) -> Floats:
        """Rotation (3, 3) of the effector of a marker, which a marker away from it needs."""
        marker = self._marker(name)
        if np.any(marker.offset) or marker.free:
            return eq.rotation(str(marker.frame))
        return eq.system.frames.rotation(eq.x, e)

    def actuators(self, here: VolumeStates) -> list[str]:
        """Names of the actuators."""
        return list(next(eq for eq in here.found if eq is not None).system.names)

    def size(self, here: VolumeStates) -> float:
        """How large the body is [m]."""
        first = next(eq for eq in here.found if eq is not None)
        return float(np.linalg.norm(np.ptp(first.system.rest.x, axis=0)))

    def arms(self, here: VolumeStates, name: str, free: Floats) -> Floats:
        """(rows, 3) [m] from the effector to its marker, with what is unknown of its offset."""
        return here.turns[name] @ (np.asarray(self._marker(name).offset) + free)


def _between(place: Floats, turn: Floats, low: Floats, below: Floats, step: float) -> tuple[Floats, Floats]:
    """Rates (3,), (3,) of a place and of its turning, the world's axes."""
    return (place - low) / step, log3(turn @ below.T) / step


def _not_smooth(system: SoftSystem) -> str:
    """Why a body has no exact derivatives; nothing if it has."""
    if system.body.contacts:
        return "the body may touch something."
    if any(getattr(part, "friction", 0.0) for part in system.body.actuators.values()):
        return "tendons of the body rub at their guides."
    return "points of the body are moved." if len(system.driven) else ""


def _reshapes(system: SoftSystem, other: SoftSystem) -> bool:
    """Whether another body of the same kind has a mesh that cannot be carried along."""
    if system.rest.x.shape != other.rest.x.shape:
        return True
    return bool(system.unknowns.parts) and not np.array_equal(system.rest.x, other.rest.x)


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
