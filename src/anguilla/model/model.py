"""A compiled robot with its loads: the residual, its tangent, and what follows from them."""

from __future__ import annotations

import copy
import math
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix

from anguilla._words import did_you_mean, numbered
from anguilla.compiler.lanes import LANES
from anguilla.describe import Frame, Robot
from anguilla.describe.actuators import warn_slack
from anguilla.describe.plausible import check_length
from anguilla.describe.ports import acting
from anguilla.describe.volumes import refuse_volumes
from anguilla.errors import DescriptionError, as_array, as_number, refuse, warn
from anguilla.interact.kernels.table import INPUT, TIME, Constraints, Loads
from anguilla.linear.choice import DENSE, chosen, in_pieces
from anguilla.mechanics.compile import Layout, compile_robot
from anguilla.mechanics.tree import FIXED, JOINT, ROD, Floats, Ints, Tree, Workspace, lay_lengths, workspace
from anguilla.model.desk import At, Desk
from anguilla.model.evaluate import prepare
from anguilla.model.evaluation import Evaluation
from anguilla.model.tables import Samples, build, some_rows, with_lines
from anguilla.model.user import UserLoads

__all__ = ["Inputs", "LoadTable", "Model", "System"]

SHAPE_ERROR = 1e-6  # part of a prescribed shape that the bases of its rod may miss without a warning

T = TypeVar("T")
OBSERVERS = 32  # sets of frames that are kept
HELD = ("_here", "_free", "_less", "_observers", "_found", "_source", "_like")  # what a model holds beside what it is
SMALL = 60  # coordinates up to which whole matrices take less time than sparse ones
OF_TREE = ("spatial", "elastic", "_elastic_stiffness")  # what follows from its tree, found once

Inputs = Mapping[str, float | Callable[[float], float]]


@dataclass(frozen=True, slots=True)
class LoadTable:
    """Loads sampled at given times.

    Attributes:
        loads: the loads, with their row at the first time.
        column: (w,) places in the row that change with time.
        table: (nt, w) their values.
        times: (nt,) [s].
        system: the system they act on.
        given: (nt or 1, actuators) inputs as they were given, also where tendons are slack; None where that is not known.

    """

    loads: Loads
    column: Ints
    table: Floats
    times: Floats
    system: Model
    given: Floats | None = None

    @property
    def forces(self) -> Ints:
        """(k,) Places in the row that hold forces: gravity, wrenches, efforts, tensions, stresses, magnetic fields."""
        return self.system.force_places

    def at(self, k: int = 0) -> Loads:
        """Set the loads to the k-th time and return them."""
        self.loads.row[self.column] = self.table[k]
        self.loads.row[TIME] = self.times[k]
        return self.loads


def as_robot(robot: object) -> Robot:
    """Check that a solver got a robot."""
    if not isinstance(robot, Robot):
        wanted = "a Robot"
        if type(robot).__name__ == "SoftBody":
            wanted += " (soft volumes go to ag.fem.statics and ag.fem.simulate)"
        elif isinstance(getattr(robot, "robot", None), Robot):
            wanted += " (that of a result or a part is its .robot)"
        elif isinstance(robot, (str, os.PathLike)):
            wanted += " (ag.read_robot reads one from a file)"
        raise refuse("robot", wanted, robot)
    refuse_volumes(robot.volumes, robot.name)
    return robot


class Model:
    """A robot compiled for computation.

    It is made once and never changes: threads may share it. `residual` and `tangent` are the two functions everything else
    uses; sizes are checked here, at the door. They compute at a desk (`desk`), memory that each thread has for itself.

    Args:
        robot: the robot.
        linear: how Newton's equations are solved: "dense" (one matrix), "tree" (an open robot, part by part) or "sparse";
            what is fastest for its size if not given.

    Attributes:
        linear: the way that was chosen.

    """

    def __init__(self, robot: Robot, linear: str | None = None) -> None:
        self.carries = False  # whether soft volumes hang on it, which it does not know of
        self.robot = copy.deepcopy(as_robot(robot))  # what was computed stays what it was when the description changes
        self._source = ref(robot)  # weak: models are kept beside their robots
        self._compile(linear)
        self.size = self.layout.size
        self.rows = len(self._empty.constraints.table)  # constraints
        self.shapes = self.tables.shapes
        self._warned: set[int] = set()
        self.told_slack: set[str] = (
            set()
        )  # tendons that were told to be slack or too long, in this motion or equilibrium
        self.left_out: tuple[Constraints, Ints, list[str]] | None = None  # all constraints; rows left out, their names
        self._clear()
        _ = self._steady, self._constant, self.force_places  # found once for all threads

    def _compile(self, wanted: str | None) -> None:
        """Make the tables, and choose the linear algebra."""
        cut = in_pieces(self.robot, wanted)
        self.layout: Layout = compile_robot(self.robot, cut)
        loads, self.tables = build(self.layout)
        written = bool(self.tables.users or self.tables.forces)
        self.linear = chosen(self.robot, loads, written, self.layout.size, wanted) if cut else DENSE
        if cut and self.linear == DENSE:
            self.layout = self.layout.whole()
            loads, self.tables = build(self.layout)
        self.tree = self.layout.tree
        self._empty = loads  # what every desk begins with; nobody writes to it
        prepare(self.tree, loads)

    def _clear(self) -> None:
        """No desks yet."""
        self._here, self._free = threading.local(), list[Desk]()
        self._less: dict[bytes, Model] = {}
        self._observers: dict[tuple, Model] = {}
        self._found: dict[Callable[[Model], Any], Any] = {}
        self._like: Model | None = None  # at whose desks it computes

    def __repr__(self) -> str:
        rows = f", {self.rows} constraints" if self.rows else ""
        return f"<model of {self.robot.name!r}: {numbered(self.size, 'coordinate')}{rows}>"

    def __getstate__(self) -> dict[str, Any]:
        """What a copy or a pickle takes along: all but the desks."""
        return {name: value for name, value in self.__dict__.items() if name not in HELD}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Come from a copy or a pickle, maybe into another process."""
        self.__dict__.update(state)
        self._source = ref(self.robot)
        self._clear()
        prepare(self.tree, self._empty)

    @property
    def source(self) -> Robot:
        """The robot that it was made of, whose frames and parts results understand; its own copy if that is gone."""
        return self._source() or self.robot

    def once(self, find: Callable[[Model], T]) -> T:
        """What a function finds out about this model; it is asked once."""
        try:
            found: T = self._found[find]
        except KeyError:
            found = self._found[find] = find(self)
        return found

    def new_desk(self) -> Desk:
        """Fresh memory to compute in."""
        loads = self._empty.copied()
        places = bool(len(loads.frames.table) or len(loads.pairs.table))
        whole = bool(len(loads.cables.link) or len(loads.muscles.link))
        return Desk(workspace(self.tree, places, self.rows, whole), loads, UserLoads(self.tables, self.size))

    def desk(self) -> Desk:
        """The desk at which the present thread works with this model."""
        if self._like is not None:
            return self._borrowed(self._like.desk())
        try:
            found: Desk = self._here.desk
        except AttributeError:
            found = self._here.desk = self._free_desk()
        return found

    def _free_desk(self) -> Desk:
        """Memory to compute in, as new: where somebody worked before, if there is such a place."""
        try:
            desk = self._free.pop()
            desk.refresh()
        except IndexError:
            desk = self.new_desk()
        return desk

    def _borrowed(self, lender: Desk) -> Desk:
        """The desk of a renewed model: scratch memory and states of the other one's, lengths and lines of its own."""
        found: Desk | None = getattr(self._here, "desk", None)
        if found is None or found.lender is not lender:
            loads, work = lender.loads, lender.workspace
            local = work.local.copy()
            lay_lengths(self.tree, local)
            if self.robot.loads:
                loads, user = self._empty.copied(), UserLoads(self.tables, self.size)
            else:
                cables = loads.cables._replace(data=self._empty.cables.data)
                relaxing = loads.relaxing._replace(term=self._empty.relaxing.term)
                loads = loads._replace(cables=cables, relaxing=relaxing)
                user = lender.user
            found = self._here.desk = Desk(work._replace(local=local), loads, user)
            found.lender = lender
        found.holder = lender.holder = None  # whose state lies there will not be known
        return found

    def at(self, desk: Desk) -> At:
        """`with model.at(desk):` computes there."""
        return At(self._here, desk)

    def apart(self) -> At:
        """`with model.apart():` computes in memory of its own, as new; nothing that was computed before matters."""
        return At(self._here, self._free_desk(), self._free)

    @property
    def workspace(self) -> Workspace:
        """Scratch memory of this thread's desk."""
        return self.desk().workspace

    @property
    def blank(self) -> Loads:
        """The tables of the loads at this thread's desk, with an empty row."""
        return self.desk().loads

    @property
    def user(self) -> UserLoads:
        """The loads written in Python, at this thread's desk."""
        return self.desk().user

    @cached_property
    def spatial(self) -> Tree:
        """The tree, computed in space: to find wrenches out of the plane of a flat robot."""
        return self.tree._replace(flat=np.zeros(1, np.int64))

    @cached_property
    def length(self) -> float:
        """The longest way along the parts of the robot, from one on the ground to a tip [m]: its length, as users say."""
        tree = self.tree
        way = np.where(tree.kind == ROD, tree.length, 0.0)
        fixed = (tree.kind == FIXED) & (tree.parent > 0)
        way[fixed] = np.linalg.norm(tree.fixed[fixed, 9:12], axis=1)
        for i in range(1, len(way)):
            way[i] += way[tree.parent[i]]
        return max(float(self.layout.length), float(np.max(way)))

    def observing(self, frames: Sequence[Frame], *, keep: bool = True) -> Model:
        """Return this model, or one with the same coordinates and motion in which every given frame has a node.

        Nothing is compiled again: nodes that nothing acts on are added to the tree. The last ones are kept, if they shall be.
        """
        bare = [frame.bare for frame in frames]
        if all(self.layout.node(frame) is not None for frame in bare):
            return self
        key = tuple((frame.part_index, self.layout.place(frame)) for frame in bare)
        found = self._observers.get(key)
        if found is None:
            found = copy.copy(self)
            found._source, found.layout = self._source, self.layout.observing(bare)
            found.tree, found.tables = found.layout.tree, replace(self.tables, model=found.layout)
            found.tables.touching = self.tables.touching
            found.__dict__.pop("spatial", None)
            while keep and len(self._observers) >= OBSERVERS:
                self._observers.pop(next(iter(self._observers)), None)
            if keep:
                self._observers[key] = found
        return found

    def with_tree(self, tree: Tree) -> Model:
        """The same model with other stiffnesses and masses in its tree, at the same desks: they hold nothing of these."""
        twin = object.__new__(Model)
        twin.__dict__.update({name: value for name, value in self.__dict__.items() if name not in OF_TREE})
        twin.tree, twin._less, twin._observers, twin._found = tree, {}, {}, {}
        return twin

    def renewed(self, layout: Layout, lines: Collection[str], longer: Mapping[int, float]) -> Model:
        """A model of a robot with the same nodes, coordinates and kinds of loads, which computes at the desks of this one.

        lines: actuators that run elsewhere; longer: by number, how many times as long rods are.
        """
        twin = self.with_tree(layout.tree)
        twin.robot, twin.layout, twin._source = layout.robot, layout, ref(layout.robot)
        if twin.robot.loads:
            twin._empty, twin.tables = build(layout)
            for name in ("_steady", "_constant", "force_places"):
                twin.__dict__.pop(name, None)
        else:
            twin._empty = with_lines(self._empty, self.tables, layout, lines, longer)
            twin.tables = replace(self.tables, model=layout)
        twin.__dict__.pop("length", None)
        twin._clear()
        twin._like = self
        return twin

    def elastic_stiffness(self) -> Floats:
        """The constant stiffness K_ee (n, n) of rods (000 (26)) and joint springs, read-only; `elastic` for large robots."""
        found: Floats = self._elastic_stiffness
        return found

    @cached_property
    def _elastic_stiffness(self) -> Floats:
        values, places = self._elastic_entries()
        found = np.zeros((self.size, self.size))
        found[places] = values
        found.setflags(write=False)
        return found

    @cached_property
    def elastic(self) -> csr_matrix:
        """The same as a sparse matrix: segments have their own coordinates alone."""
        return csr_matrix(self._elastic_entries(), shape=(self.size, self.size))

    @cached_property
    def elastic_diagonal(self) -> Floats:
        """Its diagonal (n,)."""
        if self.size <= SMALL:
            return self.elastic_stiffness().diagonal()
        values, (rows, columns) = self._elastic_entries()
        found, own = np.zeros(self.size), rows == columns
        found[rows[own]] = values[own]
        return found

    def _elastic_entries(self) -> tuple[Floats, tuple[Ints, Ints]]:
        """Values (k,) of the entries of the stiffness that are not zero, with their rows and columns (k,)."""
        tree = self.tree
        widths, segments = LANES * tree.own_packs[1:], np.arange(1, len(tree.first))
        count = widths**2
        which = np.repeat(segments - 1, count)
        k = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
        row, column = np.divmod(k, widths[which])
        start = LANES * tree.own_pack[1:][which]
        of_lane = np.full(LANES * len(tree.pack_slot), -1)
        of_lane[tree.lane] = np.arange(len(tree.lane))
        values = tree.stiffness[tree.stiffness_at[1:][which] + k]
        rows, columns = of_lane[start + row], of_lane[start + column]
        there = (rows >= 0) & (columns >= 0) & (values != 0.0)
        return values[there], (rows[there], columns[there])

    def elastic_energy(self, q: Floats) -> Floats:
        """Elastic energy (nt,) [J] of rods and joint springs in states q (nt, n)."""
        bent = q - self.rest
        if self.size > SMALL:
            return np.asarray(0.5 * np.sum((self.elastic @ bent.T).T * bent, axis=1), dtype=float)
        found: Floats = 0.5 * np.einsum("ti,ti->t", bent @ self.elastic_stiffness(), bent)
        return found

    @cached_property
    def rest(self) -> Floats:
        """Coordinates (n,) in which rods and joint springs are at rest."""
        rest = np.zeros(self.size)
        for layout in self.layout.parts:
            rest[layout.joint] = layout.part.joint.rest_values
        return rest

    def _tensions(self, times: Floats, inputs: Inputs | None) -> Floats:
        """Inputs of the actuators (nt or 1, actuators) at the given times [s]; absent ones are zero."""
        names, lengths = self._names
        inputs = {} if inputs is None else inputs
        if not isinstance(inputs, Mapping):
            raise refuse("inputs", "a dictionary from names of actuators to numbers or functions of t", inputs)
        ports = self.robot.ports
        for name in inputs:
            if name not in names and name not in ports:
                known = ", ".join([*names, *ports]) or "none, until robot.actuate(name, ...) gives it one"
                hint = did_you_mean(str(name), self.robot.inputs)
                raise DescriptionError(
                    f"inputs: robot {self.robot.name!r} has no input {name!r}{hint}; it has: {known}."
                )
        if ports:
            inputs = {name: value for name, value in inputs.items() if name in names}
        for name in lengths:
            if name not in inputs:
                raise DescriptionError(
                    f"inputs: tendon {name!r} is driven by its length [m]: give {{{name!r}: length}}."
                )
        if all(type(value) is float and math.isfinite(value) for value in inputs.values()):  # as a stepper has them
            return np.array([[inputs.get(name, 0.0) for name in names]])
        steady = not any(callable(value) for value in inputs.values())
        table = np.zeros((1 if steady else len(times), len(names)))
        sampled: dict[int, str] = {}  # functions that several inputs share are asked once
        for name, value in inputs.items():
            if (first := sampled.setdefault(id(value), name)) != name:
                table[:, names[name]] = table[:, names[first]]
                continue
            what = f"inputs: the input of actuator {name!r}"
            if isinstance(value, str):
                raise DescriptionError(
                    f"{what} must be a number or a function of the time t, such as lambda t: 2.0 * sin(t); got {value!r}"
                    f"{'' if not value else f', of which ag.Expression({value!r}) makes one'}."
                )
            at_times = getattr(value, "at_times", None)  # all instants at once, as `Sampled` gives them
            if at_times is not None:
                values = as_array(at_times(times), what, "finite numbers, one per instant")
                if values.shape != times.shape:
                    raise DescriptionError(f"{what} must have the shape {times.shape}; got {values.shape}.")
                table[:, names[name]] = values
            elif callable(value):
                takes = getattr(value, "arguments", ("t",))  # of a formula or a table
                if takes not in ((), ("t",)):
                    raise DescriptionError(
                        f"{what} must be a function of the time t alone; {value!r} uses {', '.join(takes)}."
                    )
                try:
                    formula: Any = value
                    column = [formula(t) for t in times.tolist()] if takes else [formula()] * len(times)
                except TypeError as error:
                    raise DescriptionError(f"{what} must be a number or a function of the time t; {error}.") from error
                if not ({type(x) for x in column} <= {float, np.float64} and np.isfinite(column).all()):
                    column = [as_number(x, f"{what} at t = {t:g} s") for x, t in zip(column, times, strict=True)]
                table[:, names[name]] = column
            else:
                if np.ndim(value) == 1:
                    advice = "ag.Sampled(values, dt) makes one of values at equal steps"
                    raise DescriptionError(f"{what} must be a number or a function of t; {advice}.")
                table[:, names[name]] = as_number(value, what)
        return table

    @cached_property
    def _names(self) -> tuple[dict[str, int], tuple[str, ...]]:
        """Places of the inputs by name; the names of tendons driven by their length."""
        actuators = self.robot.actuators
        lengths = tuple(name for name, actuator in actuators.items() if actuator.slack is not None)
        return {name: k for k, name in enumerate(actuators)}, lengths

    def _slacken(self, table: Floats, times: Floats, inputs: Inputs, pulling: bool) -> None:
        """Let tendons be slack where functions among the inputs would make them push; refuse numbers if `pulling`.

        The table (nt or 1, actuators) holds the inputs at the times (nt,) [s] and is changed. Before t = 0, where starts
        look, functions are taken as they are unless `pulling`.
        """
        for k, (name, actuator) in enumerate(self.robot.actuators.items()):
            value = inputs.get(name)
            if callable(value):
                below = actuator.pushing(table[:, k])
                below = below if pulling else below[times[below] >= 0.0]
                if pulling and len(below) and name not in self.told_slack:
                    self.told_slack.add(name)
                    warn_slack(name, float(table[below[0], k]), f"at t = {times[below[0]]:g} s")
                table[below, k] = 0.0
            elif pulling:
                actuator.refuse_pushing(name, table[:, k], times)

    def _check_lengths(self, table: Floats) -> None:
        """Tell, once in a motion, of a tendon that the inputs (nt or 1, actuators) make far longer than the robot.

        Parts that slide may go anywhere: of a robot that has some, the length says nothing.
        """
        names, lengths = self._names
        if lengths and np.any(self.tree.fixed[self.tree.kind == JOINT, 4]):
            return
        for name in lengths:
            if name not in self.told_slack and check_length(name, float(table[:, names[name]].max()), self.length):
                self.told_slack.add(name)

    def slack(self, times: ArrayLike, inputs: Inputs) -> dict[str, Ints]:
        """Numbers of the instants, of times (nt,) [s], at which functions among the inputs leave tendons slack, by name."""
        if not any(callable(value) for value in inputs.values()):
            return {}
        table = self._tensions(_instants(times), inputs)
        found = {name: a.pushing(table[:, k]) for k, (name, a) in enumerate(self.robot.actuators.items())}
        return {name: below for name, below in found.items() if len(below) and callable(inputs.get(name))}

    def loads(
        self,
        times: ArrayLike = 0.0,
        inputs: Inputs | None = None,
        *,
        pulling: bool = False,
        into: LoadTable | None = None,
    ) -> LoadTable:
        """Sample gravity, all loads, constraints and the inputs of the actuators at the given times [s].

        A tendon is slack where a function gives it a negative tension. With `pulling` that is told, once in a motion, and
        a number that is a negative tension is refused; without, such a number is only one of the model.
        `into` is a table of the same desk and times, which is written to if nothing depends on time and there are no inputs.
        """
        if into is not None and self._constant and not (inputs or self.robot.has_inputs):
            into.loads.row[:] = self._steady
            into.loads.row[TIME] = into.times[0]
            return into
        times = _instants(times)
        row = self._steady.copy()
        column: list[Ints] = []
        table: list[Floats] = []
        pieces: list[tuple[int, Floats]] = []
        given = None
        if inputs or self.robot.has_inputs:
            given = tensions = self._tensions(times, inputs)
            if inputs and (tensions < 0.0).any():
                tensions = given.copy()
                self._slacken(tensions, times, inputs, pulling)
            if pulling:
                self._check_lengths(tensions)
            pieces.append((int(self._empty.at[INPUT]), tensions))
        if not self._constant:
            with acting(self.robot.name, {} if inputs is None else inputs):
                pieces += self._pieces(times, varying=True)
                self._check_shapes(times)
        for start, values in pieces:
            row[start : start + values.shape[1]] = values[0]
            if len(values) > 1:
                column.append(np.arange(start, start + values.shape[1]))
                table.append(values)
        row[TIME] = times[0]
        columns = np.concatenate(column) if column else np.zeros(0, np.int64)
        values = np.ascontiguousarray(np.concatenate(table, axis=1)) if table else np.zeros((len(times), 0))
        return LoadTable(self.desk().loads._replace(row=row), columns, values, times, self, given)

    def loads_like(self, table: LoadTable) -> Loads | None:
        """The loads of a twin with the same signals at the first time of a table; None if it has others.

        They are to be read, until it is asked again: they lie in the table itself, or in memory that is used again.
        """
        other = table.system
        if other._here is self._here:
            return table.loads
        if other._steady is not self._steady:
            return None
        desk = self.desk()
        known: Loads | None = desk.kept.get("like")
        if known is None:
            known = desk.kept["like"] = desk.loads._replace(row=table.loads.row.copy())
        known.row[:] = table.loads.row
        return known

    def _check_shapes(self, times: Floats) -> None:
        """Warn, once for each rod, when its bases cannot follow its prescribed shape."""
        for index, shape in self.shapes.items():
            if index not in self._warned and (error := shape.error(times)) > SHAPE_ERROR:
                self._warned.add(index)
                name, names = self.robot.parts[index].name, ", ".join(shape.gait.names)
                warn(
                    f"The bases of {name!r} miss its prescribed shape ({names}) by {error:.2g} of its size: give them more "
                    "modes, or leave Rod.strains out so that they fit exactly.",
                )

    @cached_property
    def _steady(self) -> Floats:
        """The row with all that does not depend on time."""
        row = np.zeros(len(self._empty.row))
        for start, values in self._pieces(np.zeros(1), varying=False):
            row[start : start + values.shape[1]] = values[0]
        return row

    @cached_property
    def _constant(self) -> bool:
        return all(sampled.constant for sampled in self.tables.sampled)

    def is_steady(self, inputs: Inputs) -> bool:
        """Whether nothing that acts depends on time."""
        return self._constant and not (inputs and any(map(callable, inputs.values())))

    @cached_property
    def force_places(self) -> Ints:
        """Places in the row that hold forces, which a load factor multiplies."""
        rows = self._empty.constraints.input_row
        pulled = int(self._empty.at[INPUT]) + np.flatnonzero(rows < 0)
        forces = [self._place(s) + np.arange(s.width, dtype=np.int64) for s in self.tables.sampled if s.width]
        return np.concatenate([*forces, pulled])

    def _place(self, sampled: Samples) -> int:
        """Where in the row values begin."""
        return sampled.start + (0 if sampled.family is None else int(self._empty.at[sampled.family]))

    def _pieces(self, times: Floats, varying: bool) -> list[tuple[int, Floats]]:
        """(place in the row, values (nt, width)) of everything that depends on time (varying), or of all the rest."""
        found = [sampled for sampled in self.tables.sampled if sampled.constant != varying]
        return [(self._place(sampled), sampled.values(times).reshape(len(times), -1)) for sampled in found]

    def vector(self, value: ArrayLike | None, name: str) -> Floats:
        """Check a vector of coordinates, rates or accelerations; None is zero."""
        if value is None:
            return np.zeros(self.size)
        array = as_array(value, name, self._wanted)
        if array.shape != (self.size,):
            raise DescriptionError(f"{name} must have shape ({self.size},), one per coordinate; got {array.shape}.")
        return array

    @cached_property
    def _wanted(self) -> str:
        return f"{self.size} finite numbers, one per coordinate"

    def _multipliers(self, value: ArrayLike | None) -> Floats:
        """Check multipliers of the constraints; None is zero."""
        if value is None:
            return np.zeros(self.rows)
        array = as_array(value, "multipliers", f"{self.rows} finite numbers, one per constraint")
        if array.shape != (self.rows,):
            raise DescriptionError(
                f"multipliers must have shape ({self.rows},), one per constraint; got {array.shape}."
            )
        return array

    def without(self, rows: Ints) -> Model:
        """The same model without some of its constraints, which follow from the others; made once for each choice."""
        if not len(rows):
            return self
        key = np.asarray(rows, dtype=np.int64).tobytes()
        if key in self._less:
            return self._less[key]
        keep = np.setdiff1d(np.arange(self.rows), rows)
        loads = self._empty
        old = loads.constraints
        less = copy.copy(self)
        less._source = self._source
        less._empty = loads._replace(constraints=some_rows(old, keep))
        less.tables = copy.copy(self.tables)
        less.tables.row_names = [self.tables.row_names[k] for k in keep]
        less.left_out = old, rows, [self.tables.row_names[k] for k in rows]
        less.rows = len(keep)
        less.__dict__.pop("force_places")
        _ = less.force_places
        return self._less.setdefault(key, less)

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing but an open tree: no constraint, no prescribed motion."""
        return not self.rows and not len(self._empty.driven)

    def evaluate(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, multipliers: ArrayLike | None = None,
        *, t: float = 0.0, inputs: Inputs | None = None,
    ) -> Evaluation:  # fmt: skip
        """Evaluate one state.

        Args:
            q: (n,) coordinates.
            v: (n,) rates; zero if not given.
            a: (n,) accelerations; zero if not given.
            multipliers: (m,) forces of the constraints; zero if not given.
            t: time [s] at which loads are taken.
            inputs: inputs of the actuators by name; absent ones are zero.

        """
        state = self.vector(q, "q"), self.vector(v, "v"), self.vector(a, "a"), self._multipliers(multipliers)
        return Evaluation(self, self.loads(t, inputs).loads, *state)

    def residual(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *,
        t: float = 0.0, inputs: Inputs | None = None, multipliers: ArrayLike | None = None,
    ) -> Floats:  # fmt: skip
        """R(q, v, a) (n,): inertia plus internal minus external generalised forces; the arguments are those of `evaluate`."""
        return self.evaluate(q, v, a, multipliers, t=t, inputs=inputs).residual

    def constraints(self, q: ArrayLike, v: ArrayLike | None = None, *, t: float = 0.0, inputs: Inputs | None = None):
        """Values (m,) of the constraints and their gradient J (m, n); the arguments are those of `evaluate`."""
        found = self.evaluate(q, v, t=t, inputs=inputs)
        return found.constraints, found.J

    def tangent(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *, alpha: float = 0.0,
        beta: float = 0.0, t: float = 0.0, inputs: Inputs | None = None, multipliers: ArrayLike | None = None,
    ) -> Floats:  # fmt: skip
        """dR/dq + alpha dR/dv + beta dR/da (n, n), exact; alpha in [1/s], beta in [1/s^2], the rest as in `evaluate`."""
        alpha, beta = as_number(alpha, "alpha", "1/s"), as_number(beta, "beta", "1/s^2")
        return self.evaluate(q, v, a, multipliers, t=t, inputs=inputs).tangent(alpha, beta)

    def matrices(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, *,
        t: float = 0.0, inputs: Inputs | None = None, multipliers: ArrayLike | None = None,
    ) -> tuple[Floats, Floats, Floats]:  # fmt: skip
        """(K, C, M): dR/dq, dR/dv and the mass matrix, (n, n) each; the arguments are those of `evaluate`."""
        found = self.evaluate(q, v, a, multipliers, t=t, inputs=inputs)
        return found.K, found.C, found.M


System = Model  # its former name


def _instants(times: ArrayLike) -> Floats:
    """Times (nt,) [s], checked; a single one quickly, as a stepper asks for it at every step."""
    if isinstance(times, float) and math.isfinite(times):
        return np.array([times])
    found = np.atleast_1d(np.asarray(times, dtype=float))
    if not np.isfinite(found).all():
        raise DescriptionError(f"t must be finite [s]; got {found[~np.isfinite(found)][0]}.")
    return found
