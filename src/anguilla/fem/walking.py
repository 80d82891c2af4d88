"""A soft body that walks through its motion with steps of any length, for the motion itself and for its judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anguilla.errors import SolverError
from anguilla.fem.inertia import mass_matrix
from anguilla.fem.judging import is_passive, potential
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.moves import Moves
from anguilla.fem.results import SoftEquilibrium
from anguilla.fem.stepping import Motion
from anguilla.fem.system import SoftSystem
from anguilla.fem.viscosity import Prony, Rayleigh
from anguilla.results.quality import Quality
from anguilla.solve.steps.events import Jump, place
from anguilla.solve.steps.schemes import Coefficients
from anguilla.solve.steps.walked import Energies, Path, judged, some_rows

if TYPE_CHECKING:
    from anguilla.fem.dynamics import SoftTrajectory

__all__ = ["Walked"]


@dataclass
class Walked:
    """A motion, to be walked; the arguments of `fem.simulate`.

    Attributes:
        efforts: (actuators,) as a function of t [s].
        jumps: instants [s] just before and just after each jump of what acts.

    """

    system: SoftSystem
    scheme: Coefficients
    start: SoftEquilibrium | None
    efforts: Callable[[float], Floats]
    moves: Moves | None
    viscosity: Sequence[Prony] | None
    rayleigh: Rayleigh | None
    tolerance: float
    jumps: tuple[tuple[float, float], ...] = ()

    @property
    def size(self) -> float:
        """What errors are measured by [m]."""
        return float(np.linalg.norm(np.ptp(self.system.rest.x, axis=0)))

    def steps(self, dt: float, count: int) -> Iterator[Motion]:
        """The motion at t = 0 and after each step."""
        motion = Motion(self.system, dt, self.scheme, self.viscosity, self.rayleigh, self.tolerance)
        jumps: dict[int, list[Jump]] = {}
        for jump in place(self.jumps, dt, count):
            jumps.setdefault(jump.step, []).append(jump)
        motion.begin(self.start, self.efforts(jumps[-1][-1].after if -1 in jumps else 0.0), self.moves)
        yield motion
        for k in range(count):
            ok, words = motion.across(self.efforts, jumps[k]) if k in jumps else motion.step(self.efforts)
            if not ok:
                raise SolverError(words)
            yield motion

    def judge(self, path: Path, some: Ints, run: SoftTrajectory) -> Quality:
        """The quality of a motion that reached its end."""

        def walk(dt: float, count: int) -> Iterator[Floats]:
            for motion in self.steps(dt, count):
                yield motion.x[some]

        def part(place: int) -> str:
            x, y, z = 1e3 * self.system.rest.x[some[place]]
            return f"the node that rests at ({x:.3g}, {y:.3g}, {z:.3g}) mm"

        events = tuple(0.5 * (before + after) for before, after in self.jumps)
        return judged(run.body.name, path, walk, part, self._energies(run), events)

    def _energies(self, run: SoftTrajectory) -> Energies | None:
        """Energies of a motion on which nothing works but what has a potential; else None."""
        steady = not any(callable(value) for value in run.inputs.values())
        if not steady or self.viscosity or not is_passive(self.system):
            return None
        rows, matrix = some_rows(len(run.t)), mass_matrix(self.system, run.mass)
        kinetic = np.array([0.5 * float(np.sum(each * (matrix @ each))) for each in run.v[rows]])
        return Energies(run.t[rows], kinetic, potential(self.system, run.x[rows], self.efforts(0.0)))
