"""The mechanics seen from its constraints: compliance W = H K^-1 H^T and free motion of effectors, actuators, sensors.

`Projection` is what every robot offers to `control`, whatever it is made of; `SoftModel` makes it for soft volumes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from anguilla.errors import SolverError
from anguilla.fem.body import SoftBody
from anguilla.fem.contact import forbid
from anguilla.fem.equilibrium import ADVICE, USUAL_ADVICE, WORDS, Counts, Held, Task, solve
from anguilla.fem.mesh import Floats
from anguilla.fem.parts import Tendon
from anguilla.fem.results import SoftEquilibrium, Status
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.solve.newton.rules import CONVERGED, SINGULAR

__all__ = ["Projection", "SoftModel"]


@dataclass(frozen=True)
class Projection:
    """A model linearised in constraint space (002 (7)-(9)), around its present state and efforts.

    Rows are ordered effectors, actuators, sensors. After a change c of the efforts the rows move by free + W[:, actuators] c.

    Attributes:
        compliance: W (m, m), displacement of row i per unit of effort along row j.
        free: (m,) motion of the rows if the efforts stay: zero at equilibrium.
        strokes: (actuators,) present strokes [m, m^3].
        readings: (sensors,) present lengths [m].
        efforts: (actuators,) present efforts [N, Pa].
        count: numbers of effector, actuator and sensor rows.
        finish: change of efforts (actuators,) -> step of the whole robot.
        lack: twice the energy [J] that the free motion sets free: zero at equilibrium.

    """

    compliance: Floats
    free: Floats
    strokes: Floats
    readings: Floats
    efforts: Floats
    count: tuple[int, int, int]
    finish: Callable[[Floats], Any] = field(repr=False)
    lack: float = 0.0

    def W(self, rows: str, cols: str) -> Floats:
        """A block of the compliance, by letters e, a, s: "e" and "a" give W_ea of 002 (7)."""
        places = _places(*self.count)
        return self.compliance[places[rows], places[cols]]

    def drift(self, rows: str) -> Floats:
        """Motion of the rows "e", "a" or "s" if the efforts stay."""
        return self.free[_places(*self.count)[rows]]


@cache
def _places(e: int, a: int, s: int) -> dict[str, slice]:
    """Where the rows of effectors, actuators and sensors are, for numbers of these."""
    return {"e": slice(0, e), "a": slice(e, e + a), "s": slice(e + a, e + a + s)}


class SoftModel:
    """A soft body with a present state, as `control` uses it.

    Attributes:
        system: the compiled body.
        state: where it is.
        efforts: (actuators,) present tensions [N] and pressures [Pa].
        size: length [m] to which displacements are compared.
        negative: negative pivots of the last stiffness: above zero, the body would leave its state if its efforts were kept
            (a tendon held at its length may keep it there).

    """

    def __init__(self, body: SoftBody | SoftSystem, *, solver: str = "auto") -> None:
        self.system = body if isinstance(body, SoftSystem) else SoftSystem(body, solver=solver)
        forbid(self.system.body, "control")
        self.state = self.system.rest
        self.efforts = np.zeros(len(self.system.names))
        self.size = float(np.linalg.norm(np.ptp(self.system.rest.x, axis=0)))
        self._blocks = np.zeros((len(self.system.pattern.rows), 9))
        self.negative = 0
        self._factored = False

    # What it is made of ------------------------------------------------------------------------------------------------

    @property
    def actuators(self) -> list[str]:
        """Names of the actuators."""
        return self.system.names

    @property
    def sensors(self) -> list[str]:
        """Names of the sensors."""
        return self.system.sensors

    @property
    def effectors(self) -> dict[str, int]:
        """Number of rows (3 or 6) of each effector."""
        return dict(zip(self.system.frames.names, self.system.frames.rows, strict=True))

    def limits(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Smallest and largest effort, smallest and largest stroke: (actuators,) each."""
        return self.system.limits()

    # Where it is -------------------------------------------------------------------------------------------------------

    def errors(self, positions: list[Floats], rotations: list[Floats | None]) -> Floats:
        """Effectors as seen from where they should be: (rows,) [m, rad]."""
        return self.system.frames.errors(self.state.x, positions, rotations)

    def positions(self) -> list[Floats]:
        """Present position (3,) [m] of each effector."""
        return [self.system.frames.position(self.state.x, k) for k in range(len(self.system.frames.names))]

    def strokes(self) -> Floats:
        """Present strokes (actuators,) [m, m^3]."""
        return self.system.strokes(self.state)

    def readings(self) -> Floats:
        """Present lengths (sensors,) [m]."""
        return self.system.readings(self.state)

    def remember(self) -> tuple[SoftState, Floats]:
        """State and efforts, to come back to with `restore`."""
        return self.state, self.efforts.copy()

    def restore(self, memory: tuple[SoftState, Floats]) -> None:
        """Go back to a remembered state."""
        self.state, self.efforts = memory[0], memory[1].copy()

    # Mechanics ---------------------------------------------------------------------------------------------------------

    def project(self, *, reuse: bool = False) -> Projection:
        """Assemble, factor and project at the present state.

        Args:
            reuse: keep the last factorisation (modified Newton): forces and rows are those of the present state, the
                stiffness that of the last one.

        """
        system, u, state = self.system, self.system.unknowns, self.state
        reuse = reuse and self._factored
        energy, gradient, blocks = system.evaluate(state, self.efforts, stiffness=not reuse, blocks=self._blocks)
        if not np.isfinite(energy):
            raise SolverError("Elements turned inside out.", advice="Make smaller steps.")
        if system.can_drift(self.efforts):
            raise SolverError(
                f"Nothing holds {system.body.name!r} as a whole: its stiffness is singular.", advice=ADVICE[SINGULAR]
            )
        if not reuse:
            self.negative = max(0, system.solver.factor(u.fold(state.x, blocks, gradient)))
            self._factored = True
        count = e, a, c = system.frames.size, len(system.names), len(system.sensors)
        rows = np.zeros((e + a + c + 1, *state.x.shape))
        system.frames.gradient(state.x, rows[:e])
        system.actuator_rows(state, out=rows[e : e + a])
        system.sensor_rows(state, rows[e + a : -1])
        np.negative(gradient, out=rows[-1])
        w, finish = system.solver.gram(u.gather(state.x, rows))

        def whole(change: Floats) -> Floats:
            coefficients = np.concatenate([np.zeros(count[0]), change, np.zeros(count[2]), [1.0]])
            return finish(coefficients).reshape(-1, 3)

        return Projection(
            w[:-1, :-1],
            w[:-1, -1],
            self.strokes(),
            self.readings(),
            self.efforts.copy(),
            count,
            whole,
            float(w[-1, -1]),
        )

    def advance(self, projection: Projection, change: Floats, *, reach: float = np.inf) -> float:
        """Change the efforts and move along (002 (10)); returns the largest displacement [m].

        A step that moves a node by more than `reach` [m] is shortened.
        """
        step = projection.finish(change)
        length = self.system.unknowns.length(self.state.x, step)
        part = min(1.0, reach / max(length, 1e-300))
        self.state = SoftState(*self.system.unknowns.move(self.state.x, self.state.rotations, part * step))
        self.efforts = projection.efforts + part * change
        return length

    def relax(self, *, tolerance: float = 1e-10, strokes: bool = False) -> SoftEquilibrium:
        """Find the equilibrium and go there: at the present efforts, or with tight tendons held at their present lengths."""
        tight = [isinstance(part, Tendon) for part in self.system.body.actuators.values()]
        driven = np.flatnonzero(np.array(tight, dtype=bool) & (self.efforts > 0.0) & strokes)
        task = Task(self.efforts, driven, self.strokes()[driven])
        counts = Counts()
        out = solve(self.system, Held(self.state, self.efforts), task, tolerance=tolerance, counts=counts)
        (state, efforts), status = out.x, out.status
        ok = status == CONVERGED
        message = f"{WORDS[status]} in {counts.iterations} iterations"
        result = SoftEquilibrium(self.system.body, self.system, state, efforts, Status(ok, message, vars(counts)))
        if not ok:
            raise SolverError(
                f"No equilibrium of {self.system.body.name!r}: {message}.", result=result,
                advice=ADVICE.get(status, USUAL_ADVICE),
            )  # fmt: skip
        self.state, self.efforts = state, efforts
        return result
