"""Robots with soft volumes in constraint space, as `control` uses them: effectors and actuators of rods and volumes alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from anguilla._doors import public
from anguilla.describe.frames import Frame
from anguilla.describe.robot import Robot
from anguilla.errors import DescriptionError, SolverError, refuse
from anguilla.fem.mesh import Floats
from anguilla.fem.projection import Projection
from anguilla.fem.unknowns import take_nodes
from anguilla.interact.kernels.table import INPUT
from anguilla.lie import log3
from anguilla.mixed.contact import refuse_contact
from anguilla.mixed.half import Half, cross
from anguilla.mixed.model import MixedModel, kinematics, mixed_of
from anguilla.mixed.results import MixedEquilibrium
from anguilla.mixed.statics import (
    Balance,
    Correction,
    Inverse,
    Known,
    Mixed,
    Seam,
    coupled,
    factor_definite,
    inverted,
    opened,
    present,
    statics,
)
from anguilla.results.lines import LineLengths

__all__ = ["MixedRobotModel"]

Limits = Mapping[str, tuple[float, float]]


@public
class MixedRobotModel:
    """A robot of rods, bodies and soft volumes with a present state, as `control` uses it.

    Strokes are shortenings [m] of tendons, and gains of volume [m^3] of chambers.

    Args:
        robot: the robot, with its tendons and chambers; actuators of volumes go by names such as "finger.pull".
        effectors: by name, frames of the robot, or effectors of volumes as texts such as "finger.tip".
        orientation: names of effectors, given as frames, whose orientation counts too.
        efforts: limits (smallest, largest) by actuator; those of rods default to (0, inf), those of volumes to their own.

    """

    def __init__(
        self, robot: Robot | MixedModel, effectors: Mapping[str, Frame | str], *, orientation: Sequence[str] = (),
        efforts: Limits | None = None,
    ) -> None:  # fmt: skip
        if not (isinstance(robot, MixedModel) or (isinstance(robot, Robot) and robot.volumes)):
            raise refuse("MixedRobotModel.robot", "a Robot with soft volumes", robot)
        self.model = model = mixed_of(robot)
        refuse_contact(model, "control")
        with ExitStack() as desks:
            problem, self.state, _ = opened(model, desks, self._given(None), None, 0.0)
        self.carrier = problem.carrier
        self._places = [self._place(name, where, name in orientation) for name, where in effectors.items()]
        self._seen: dict[
            tuple[int, Any], tuple[bytes, Floats, Floats]
        ] = {}  # by frame: coordinates, and what they give
        self._names = list(effectors)
        self._own = list(model.robot.actuators)
        soft = [(half, name) for half in model.halves for name in half.system.names]
        self.actuators = self._own + [f"{half.name}.{name}" for half, name in soft]
        self.sensors: list[str] = []
        self._limits = self._make_limits(efforts or {})
        self._gain = np.array([a.tension_per_input for a in model.robot.actuators.values()])
        self.efforts = np.zeros(len(self.actuators))
        lengths = [part.length for part in model.robot.parts]
        self.size = float(sum(lengths) + sum(half.size for half in model.halves))
        self._rest = self._lines(self.state.q)[0]
        self._kept: tuple[Inverse, list[Seam]] | None = None
        self._factored: tuple[int, ...] = ()  # by whom the factors are that are kept
        self.negative = 0
        self._desk = self.carrier.new_desk()
        with self.carrier.at(self._desk):
            self._problem = Balance(model, self.carrier, self.carrier.loads(0.0, {}).loads, [], 0.0)

    def _given(self, efforts: Floats | None) -> dict[str, float]:
        names = getattr(self, "actuators", [])
        return {} if efforts is None else dict(zip(names, efforts.tolist(), strict=True))

    def _place(self, name: str, where: Frame | str, turns: bool) -> tuple[Any, ...]:
        """(frame, its model, its node, whether it turns), or (volume, number of its effector)."""
        if isinstance(where, Frame):
            own = Frame(self.carrier.robot, where.part_index, where.place, where.offset)
            seen = self.carrier.observing([own])
            return own, seen, seen.layout.node(own.bare), turns
        volume, _, effector = str(where).partition(".")
        for half in self.model.halves:
            if half.name == volume and effector in half.system.frames.names:
                return half, half.system.frames.names.index(effector)
        known = [f"{half.name}.{each}" for half in self.model.halves for each in half.system.frames.names]
        raise DescriptionError(
            f"effectors[{name!r}] must be a frame of the robot, or an effector of a volume; got {where!r}, and volumes "
            f"have: {', '.join(known) or 'none'}."
        )

    def _make_limits(self, efforts: Limits) -> tuple[Floats, Floats, Floats, Floats]:
        for name in efforts:
            if name not in self.actuators:
                raise DescriptionError(
                    f"efforts: there is no actuator {name!r}; there are: {', '.join(self.actuators)}."
                )
        table = np.array([[0.0, np.inf, -np.inf, np.inf]] * len(self._own)).reshape(-1, 4)
        table = np.vstack([table, *(np.column_stack(half.system.limits()) for half in self.model.halves)])
        for name, (low, high) in efforts.items():
            table[self.actuators.index(name), :2] = low, high
        return table[:, 0], table[:, 1], table[:, 2], table[:, 3]

    def limits(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Smallest and largest effort, smallest and largest stroke."""
        return self._limits

    @property
    def effectors(self) -> dict[str, int]:
        """Number of rows (3 or 6) of each effector."""
        rows = [p[0].system.frames.rows[p[1]] if isinstance(p[0], Half) else 6 if p[3] else 3 for p in self._places]
        return dict(zip(self._names, rows, strict=True))

    @property
    def inputs(self) -> dict[str, float]:
        """Present efforts by name."""
        return self._given(self.efforts)

    # Where it is -------------------------------------------------------------------------------------------------------

    def _x(self, half: Half) -> Floats:
        return self.state.x[self.model.halves.index(half)]

    def _motion(self, place: tuple[Any, ...]) -> tuple[Floats, Floats]:
        """World Jacobian (6, n) and motion (12,) of a frame, kept until the coordinates change."""
        here, key = self.state.q.tobytes(), (id(place[1]), place[2])
        found = self._seen.get(key)
        if found is None or found[0] != here:
            found = self._seen[key] = here, *kinematics(place[1], place[2], self.state.q)
        return found[1], found[2]

    def _pose(self, place: tuple[Any, ...]) -> tuple[Floats, Floats]:
        """Position (3,) and rotation (3, 3) of an effector."""
        if isinstance(place[0], Half):
            frames, x = place[0].system.frames, self._x(place[0])
            return frames.position(x, place[1]), frames.rotation(x, place[1])
        _, motion = self._motion(place)
        bare, offset = motion[:9].reshape(3, 3), place[0].offset_pose
        return motion[9:] + bare @ offset[:3, 3], bare @ offset[:3, :3]

    def positions(self) -> list[Floats]:
        """Present positions of the effectors [m]."""
        return [self._pose(place)[0] for place in self._places]

    def errors(self, positions: list[Floats], rotations: list[Floats | None]) -> Floats:
        """Effectors as seen from where they should be: (rows,) [m, rad], world axes."""
        out = []
        for k, (place, rows) in enumerate(zip(self._places, self.effectors.values(), strict=True)):
            position, rotation = self._pose(place)
            out.append(position - positions[k])
            if rows == 6:
                goal = rotations[k]
                out.append(np.zeros(3) if goal is None else log3(rotation @ goal.T))
        return np.concatenate(out) if out else np.zeros(0)

    def _lines(self, q: Floats) -> tuple[Floats, Floats]:
        """Lengths (k,) [m] of the lines of rods, and their slopes (k, n)."""
        if not self._own:
            return np.zeros(0), np.zeros((0, len(q)))
        found: tuple[Floats, Floats] = self.carrier.once(LineLengths).at(q)
        return found[0].copy(), found[1]

    def strokes(self) -> Floats:
        """Present strokes (actuators,) [m, m^3]."""
        return self._stroked(self._lines(self.state.q)[0])

    def _stroked(self, lengths: Floats) -> Floats:
        """Present strokes (actuators,), for lengths (k,) of the lines of rods."""
        own = -self._gain * (lengths - self._rest)
        soft = [half.system.strokes(half.state(x)) for half, x in zip(self.model.halves, self.state.x, strict=True)]
        return np.concatenate([own, *soft])

    def readings(self) -> Floats:
        """No sensor is read."""
        return np.zeros(0)

    def remember(self) -> tuple[Mixed, Floats]:
        """State and efforts, to come back to with `restore`."""
        q, lam, x = self.state
        return Mixed(q.copy(), lam.copy(), [nodes.copy() for nodes in x]), self.efforts.copy()

    def restore(self, memory: tuple[Mixed, Floats]) -> None:
        """Go back to a remembered state."""
        (q, lam, x), self.efforts = memory[0], memory[1].copy()
        self.state = Mixed(q.copy(), lam.copy(), [nodes.copy() for nodes in x])

    # Mechanics ---------------------------------------------------------------------------------------------------------

    def _rows(self, known: Known, slopes: Floats) -> tuple[Floats, list[Floats]]:
        """H: effectors (world axes), then actuators: (m, n) of the coordinates, and of the nodes of each volume.

        The latter are (6 F + m + 1, 3 f): room for what a volume and its frames have to do with each other comes first, and
        for its imbalance last.
        """
        n, lead = self.carrier.size, known.lead
        m = sum(self.effectors.values()) + len(self.actuators)
        own = np.zeros((m, n))
        nodes = [np.zeros((6 * len(half.frames) + m + 1, 3 * len(half.free))) for half in self.model.halves]

        def add(at: int, half: Half, by_node: Floats) -> None:
            """Rows of a volume by derivatives (r, nodes, 3): led nodes move with the coordinates."""
            k, first = self.model.halves.index(half), 6 * len(half.frames) + at
            own[at : at + len(by_node)] = half.by_twists(by_node, lead.poses) @ lead.J[self.model.rows_of(half)]
            take_nodes(by_node, half.free, nodes[k][first : first + len(by_node)].reshape(len(by_node), -1, 3))

        at, gradients = 0, {}
        for place, count in zip(self._places, self.effectors.values(), strict=True):
            if isinstance(place[0], Half):
                half, frames = place[0], place[0].system.frames
                if half not in gradients:
                    gradients[half] = frames.gradient(self._x(half))
                first = int(np.sum(frames.rows[: place[1]]))
                add(at, half, gradients[half][first : first + count])
            else:
                world, motion = self._motion(place)
                arm = motion[:9].reshape(3, 3) @ place[0].offset_pose[:3, 3]
                own[at : at + 3] = world[3:] + cross(world[:3].T, arm).T
                own[at + 3 : at + count] = world[: count - 3]
            at += count
        own[at : at + len(self._own)] = -self._gain[:, None] * slopes
        at += len(self._own)
        for half, x in zip(self.model.halves, self.state.x, strict=True):
            if half.system.names:
                add(at, half, half.system.actuator_rows(half.state(x)))
                at += len(half.system.names)
        return own, nodes

    def _known(self, stiffness: bool) -> tuple[Balance, Known]:
        """The present state, evaluated."""
        soft, at = [], len(self._own)
        for half in self.model.halves:
            soft.append(self.efforts[at : at + len(half.system.names)])
            at += len(half.system.names)
        problem = self._problem
        self._desk.refresh()
        first = int(problem.loads.at[INPUT])
        problem.loads.row[first : first + len(self._own)] = self.efforts[: len(self._own)]
        problem.efforts = soft
        known = problem.evaluate(self.state, stiffness)
        if known is None:
            raise SolverError("Elements turned inside out.", advice="Make smaller steps.")
        return problem, known

    def project(self, *, reuse: bool = False) -> Projection:
        """Linearise at the present state; `reuse` keeps the last factorisation."""
        reuse = reuse and self._kept is not None and self._factored == self.model.factored
        with self.carrier.at(self._desk):
            problem, known = self._known(stiffness=not reuse)
            lines, slopes = self._lines(self.state.q)
            own, rows = self._rows(known, slopes)
            whole = np.zeros((0, 0)) if reuse else known.carrier.bordered()
        halves, m, n = self.model.halves, len(own), self.carrier.size
        seams = self._kept[1] if self._kept is not None and reuse else self._factor(problem, known, whole)
        for half, gradient, seam, each in zip(halves, known.gradients, seams, rows, strict=True):
            each[: len(seam.cross)], each[-1] = seam.cross, -gradient[half.free].ravel()
        grams = [half.system.solver.gram(each) for half, each in zip(halves, rows, strict=True)]
        if not reuse:
            for seam, (g, _) in zip(seams, grams, strict=True):
                c = len(seam.cross)
                whole[:n, :n] -= seam.J.T @ g[:c, :c] @ seam.J
            inverse = inverted(self.carrier, whole, problem.loads.driven)
            if inverse is None:
                self._kept = None
                raise SolverError(f"The stiffness of {self.model.name!r} is singular.", advice="Is it held?")
            self._kept = inverse, seams
            self._factored = self.model.factored
        assert self._kept is not None
        right = np.zeros((n + self.carrier.rows, m + 1))
        right[:n, :m], right[:, m] = own.T, -known.left
        for seam, (g, _) in zip(seams, grams, strict=True):
            right[:n] -= seam.J.T @ g[: len(seam.cross), len(seam.cross) :]
        step = self._kept[0](right)
        w = np.vstack([own @ step[:n], -known.left @ step])
        for seam, (g, _) in zip(seams, grams, strict=True):
            c = len(seam.cross)
            w += g[c:, c:] - g[c:, :c] @ (seam.J @ step[:n])
        e, a = sum(self.effectors.values()), len(self.actuators)

        def finish(change: Floats) -> tuple[Known, Correction]:
            by = np.concatenate([np.zeros(e), change, [1.0]])
            both = step @ by
            moved = [
                back(np.concatenate([-(seam.J @ both[:n]), by])).reshape(-1, 3)
                for seam, (_, back) in zip(seams, grams, strict=True)
            ]
            return known, Correction(both[:n], both[n:], moved)

        free, lack, efforts = w[:m, m], float(w[m, m]), self.efforts.copy()
        return Projection(w[:m, :m], free, self._stroked(lines), np.zeros(0), efforts, (e, a, 0), finish, lack)

    def _factor(self, problem: Balance, known: Known, whole: Floats) -> list[Seam]:
        """Factorise the stiffness of the nodes; what frames feel if no node moves is added to the matrix of the carrier."""
        seams, self.negative = coupled(self.model, whole, known), 0
        for half, blocks, seam in zip(self.model.halves, known.blocks, seams, strict=True):
            seam.J[:, problem.loads.driven] = 0.0
            self.negative += factor_definite(half, blocks)
        return seams

    def advance(self, projection: Projection, change: Floats, *, reach: float = np.inf) -> float:
        """Change the efforts and move along; returns how far any node of a volume, or end of a part, goes [m]."""
        known, step = projection.finish(change)
        ways = [float(np.abs(nodes).max(initial=0.0)) for nodes in step.x]
        twists = (known.lead.J @ step.q).reshape(-1, 6)
        length = max([*ways, float(np.abs(twists[:, 3:]).max(initial=0.0))])
        part = min(1.0, reach / max(length, 1e-300))
        self.state = self._problem.move(known, step, part)
        self.efforts = projection.efforts + part * change
        return length

    def relax(self, *, tolerance: float = 1e-10, strokes: bool = False) -> MixedEquilibrium:
        """Go to the equilibrium at the present efforts."""
        begin = present(self.model, self.carrier, self.state)
        result = statics(self.model, inputs=self.inputs, start=begin, tolerance=tolerance)
        self.state = Mixed(result.q.copy(), result.multipliers.copy(), [v.x.copy() for v in result.volumes.values()])
        return result
