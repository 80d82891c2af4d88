"""Rod robots in constraint space: rows from Jacobians and actuation, K from the tangent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla._words import numbered
from anguilla.describe import Frame, Robot, RodHandle
from anguilla.describe.description import did_you_mean
from anguilla.errors import DescriptionError, as_named, as_range, refuse
from anguilla.fem.projection import Projection
from anguilla.lie import log3
from anguilla.model.door import model_of
from anguilla.model.model import Model
from anguilla.results.kinematics import TOO_COARSE, body_jacobian
from anguilla.results.lines import LineLengths
from anguilla.results.observe import S_V, S_X, SNAPSHOT, snapshots
from anguilla.results.states import Equilibrium, Status
from anguilla.solve.statics.statics import statics

__all__ = ["RodModel"]

Floats = NDArray[np.float64]
Limits = Mapping[str, tuple[float, float]]


class RodModel:
    """A robot of rods and bodies with a present state, as `control` uses it.

    Strokes are shortenings [m] of tendons, and gains of volume [m^3] (area times lengthening) of chambers.

    Args:
        robot: the robot, with its tendons and chambers, or its model.
        effectors: frames by name.
        orientation: names of effectors whose orientation counts too.
        sensors: names of tendons or chambers whose length is read; an actuator with zero input serves as a string.
        efforts: limits (smallest, largest) by actuator; tendons default to (0, inf), chambers to (0, inf).
        strokes: limits (smallest, largest) by actuator; none by default.

    """

    def __init__(
        self, robot: Robot | Model, effectors: Mapping[str, Frame], *, orientation: Sequence[str] = (),
        sensors: Sequence[str] = (),
        efforts: Limits | None = None, strokes: Limits | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(robot, Robot | Model):
            raise refuse("RodModel.robot", "a Robot or its Model", robot)
        self.system = model_of(robot)
        self.robot = robot = self.system.source
        if not self.system.is_plain:
            raise DescriptionError(
                "RodModel supports open robots, without loops, constraints, lengths of tendons as inputs and prescribed "
                f"motions, which {robot.name!r} is not: use ag.gradient, or a root finder around ag.statics."
            )
        if not robot.actuators:
            raise DescriptionError(
                f"RodModel.robot must have tendons or chambers, and {robot.name!r} has none: add them with robot.actuate."
            )
        if not isinstance(effectors, Mapping):
            raise refuse("RodModel.effectors", "frames by name, such as {'tip': arm.tip}", effectors)
        self.frames = dict(effectors)
        for name, frame in self.frames.items():
            if not isinstance(frame, Frame):
                raise refuse(f"RodModel.effectors[{name!r}]", "a frame such as arm.tip", frame)
        if isinstance(orientation, str) or not all(name in self.frames for name in orientation):
            raise refuse("RodModel.orientation", f"a list of effectors among {list(self.frames)}", orientation)
        self._turns = {name: name in orientation for name in self.frames}
        self._sensors = list(sensors)
        for name in self._sensors:
            if name not in robot.actuators:
                raise DescriptionError(f"RodModel.sensors: robot {robot.name!r} has no actuator {name!r}.")
        self._limits = self._make_limits(efforts or {}, strokes or {})
        self.q = np.zeros(self.system.size)
        self.efforts = np.zeros(len(robot.actuators))
        self._gain = np.array([a.tension_per_input for a in robot.actuators.values()])
        ends = [part.tip if isinstance(part, RodHandle) else part.root for part in robot.parts]
        seen = [frame.bare for frame in (*self.frames.values(), *ends)]
        self._observer = self.system.observing(seen)
        self._nodes = np.array([self._observer.layout.node(frame) for frame in seen], dtype=np.int64)
        self._offsets = np.array([frame.offset_pose for frame in self.frames.values()]).reshape(-1, 4, 4)
        self._read = [list(robot.actuators).index(name) for name in self._sensors]
        self._zero = np.zeros((1, self.system.size))
        self._lines: tuple[bytes, tuple[Floats, Floats]] = (b"", (np.zeros(0), np.zeros((0, 0))))
        self._placed: tuple[bytes, Floats] = (b"", np.zeros((0, 4, 4)))
        self._rest = self._lengths()
        self.size = float(sum(getattr(part, "length", 0.0) for part in robot.parts)) or 1.0
        self._factor: Any = None

    def _make_limits(self, efforts: Limits, strokes: Limits) -> tuple[Floats, Floats, Floats, Floats]:
        names = list(self.robot.actuators)
        for field, given in (("efforts", efforts), ("strokes", strokes)):
            for name, pair in as_named(given, f"RodModel.{field}").items():
                if name not in names:
                    hint = did_you_mean(str(name), names)
                    raise DescriptionError(
                        f"RodModel.{field}: robot {self.robot.name!r} has no actuator {name!r}{hint}."
                    )
                as_range(pair, f"RodModel.{field}[{name!r}]")
        least = {name: -np.inf if a.is_push_rod else 0.0 for name, a in self.robot.actuators.items()}
        effort = np.array([efforts.get(name, (least[name], np.inf)) for name in names], dtype=float).reshape(-1, 2)
        stroke = np.array([strokes.get(name, (-np.inf, np.inf)) for name in names], dtype=float).reshape(-1, 2)
        return effort[:, 0], effort[:, 1], stroke[:, 0], stroke[:, 1]

    def __repr__(self) -> str:
        told = [f"effectors {', '.join(self.frames) or 'none'}", f"actuators {', '.join(self.actuators)}"]
        told += [f"sensors {', '.join(self._sensors)}"] * bool(self._sensors)
        return f"<rod model of {self.robot.name!r}: {'; '.join(told)}; {numbered(self.system.size, 'coordinate')}>"

    @property
    def actuators(self) -> list[str]:
        """Names of the actuators."""
        return list(self.robot.actuators)

    @property
    def sensors(self) -> list[str]:
        """Names of the actuators whose length is read."""
        return self._sensors

    @property
    def effectors(self) -> dict[str, int]:
        """Number of rows (3 or 6) of each effector."""
        return {name: 6 if turns else 3 for name, turns in self._turns.items()}

    def limits(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Smallest and largest effort, smallest and largest stroke."""
        return self._limits

    # Where it is -------------------------------------------------------------------------------------------------------

    def _result(self) -> Equilibrium:
        zero = np.zeros((1, self.system.size))
        return Equilibrium(
            self.robot,
            self.system,
            Status(True, "present state"),
            np.zeros(1),
            self.q[None].copy(),
            zero,
            zero,
            inputs=self.inputs,
        )

    @property
    def inputs(self) -> dict[str, float]:
        """Present efforts by name."""
        return dict(zip(self.actuators, self.efforts.tolist(), strict=True))

    def _cables(self) -> tuple[Floats, Floats]:
        """Lengths (k,) [m] of all lines and their slopes (k, n), at the present state; kept until the state changes."""
        if self._lines[0] != self.q.tobytes():
            self._lines = (self.q.tobytes(), self.system.once(LineLengths).at(self.q))
        return self._lines[1]

    def _motion(self, v: Floats) -> Floats:
        """Motion (frames, SNAPSHOT) of the effectors and of the ends of all parts, without offsets, at rates v (n,)."""
        out = np.zeros((1, len(self._nodes), SNAPSHOT))
        observer = self._observer
        if snapshots(observer.tree, observer.workspace, self._nodes, self.q[None], v[None], self._zero, out):
            raise DescriptionError(TOO_COARSE)
        return out[0]

    def _poses(self) -> Floats:
        """Poses (effectors, 4, 4) [m] at the present state; kept until the state changes."""
        if self._placed[0] != self.q.tobytes():
            motion = self._motion(self._zero[0])[: len(self.frames)]
            poses = np.tile(np.eye(4), (len(motion), 1, 1))
            poses[:, :3, :3], poses[:, :3, 3] = motion[:, :9].reshape(-1, 3, 3), motion[:, S_X : S_X + 3]
            self._placed = (self.q.tobytes(), poses @ self._offsets)
        return self._placed[1]

    def _lengths(self) -> Floats:
        return self._cables()[0].copy()

    def strokes(self) -> Floats:
        """Present strokes: minus the tension per input times the lengthening."""
        return -self._gain * (self._lengths() - self._rest)

    def readings(self) -> Floats:
        """Present lengths (sensors,) [m]."""
        return self._lengths()[self._read]

    def positions(self) -> list[Floats]:
        """Present positions of the effectors [m]."""
        return list(self._poses()[:, :3, 3].copy())

    def errors(self, positions: list[Floats], rotations: list[Floats | None]) -> Floats:
        """Effectors as seen from where they should be: (rows,) [m, rad], world axes."""
        out = []
        for k, (name, pose) in enumerate(zip(self.frames, self._poses(), strict=True)):
            out.append(pose[:3, 3] - positions[k])
            if self._turns[name]:
                goal = rotations[k]
                out.append(np.zeros(3) if goal is None else log3(pose[:3, :3] @ goal.T))
        return np.concatenate(out) if out else np.zeros(0)

    def remember(self) -> tuple[Floats, Floats]:
        """State and efforts, to come back to with `restore`."""
        return self.q.copy(), self.efforts.copy()

    def restore(self, memory: tuple[Floats, Floats]) -> None:
        """Go back to a remembered state."""
        self.q, self.efforts = memory[0].copy(), memory[1].copy()

    # Mechanics ---------------------------------------------------------------------------------------------------------

    def _rows(self) -> Floats:
        """H (m, n): effectors (world axes), actuators, sensors."""
        rows, n = [], len(self.q)
        for frame, turns, pose in zip(self.frames.values(), self._turns.values(), self._poses(), strict=True):
            J = body_jacobian(self._observer, frame, self.q[None])[0]
            rows.append(pose[:3, :3] @ J[3:])
            if turns:
                rows.append(pose[:3, :3] @ J[:3])
        slopes = self._cables()[1]
        rows.append((-self._gain[:, None] * slopes).reshape(-1, n))
        rows.append(slopes[self._read].reshape(-1, n))
        return np.concatenate(rows)

    def project(self, *, reuse: bool = False) -> Projection:
        """Linearise at the present state; `reuse` keeps the last stiffness."""
        from scipy.linalg import lu_factor, lu_solve

        H = self._rows()
        here = self.system.evaluate(self.q, inputs=self.inputs)
        if not (reuse and self._factor is not None):
            self._factor = lu_factor(here.K)
        residual = here.residual
        X = lu_solve(self._factor, np.vstack([H, -residual]).T)
        w = H @ X
        count = (sum(self.effectors.values()), len(self.actuators), len(self._sensors))
        columns = X[:, count[0] : count[0] + count[1]]
        return Projection(
            w[:, :-1], w[:, -1], self.strokes(), self.readings(), self.efforts.copy(), count,
            lambda change: X[:, -1] + columns @ change,
        )  # fmt: skip

    def advance(self, projection: Projection, change: Floats, *, reach: float = np.inf) -> float:
        """Change the efforts and move along; returns the length [m] of the step: how far any end of a part goes."""
        step = projection.finish(change)
        ways = self._motion(step)[len(self.frames) :, S_V : S_V + 3]
        length = float(np.sqrt(np.max(np.einsum("ki,ki->k", ways, ways))))
        part = min(1.0, reach / max(length, 1e-300))
        self.q = self.q + part * step
        self.efforts = projection.efforts + part * change
        return length

    def relax(self, *, tolerance: float = 1e-10, strokes: bool = False) -> Equilibrium:
        """Go to the equilibrium at the present efforts (rods are not held at strokes)."""
        result = statics(self.system, inputs=self.inputs, start=self.q, tolerance=tolerance)
        self.q = result.q.copy()
        return result
