"""Many copies of one robot, stepped together: for learning, sampling and model-predictive control."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from anguilla.compiler.pointing import address_of
from anguilla.describe import Drive, Load, Robot
from anguilla.describe.actuators import warn_slack
from anguilla.describe.ports import Following
from anguilla.errors import DescriptionError, as_array, as_count, as_positive
from anguilla.interact.kernels.table import Loads
from anguilla.linear.choice import DENSE
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.desk import Desk
from anguilla.model.door import model_of
from anguilla.model.model import Inputs, LoadTable, Model
from anguilla.model.ports import PortMap, map_at, moving_ports, only_ports, port_map
from anguilla.results.blocks import Remembered
from anguilla.results.feeling import Feeler
from anguilla.results.reading import Instruments, Reader, Seen
from anguilla.results.states import Status, Trajectory
from anguilla.solve.newton.closing import close
from anguilla.solve.newton.rules import CONVERGED, TIGHTENED
from anguilla.solve.steps.copying import run_copies
from anguilla.solve.steps.dynamics import DEFAULT_METHOD, check_serves
from anguilla.solve.steps.motion import OngoingMotion, Start, newton_tolerance, start_of
from anguilla.solve.steps.pieces import whole
from anguilla.solve.steps.schemes import Scheme, as_scheme
from anguilla.solve.steps.stepping import stored

__all__ = ["BatchStepper"]

UNTRIED = -1  # status of a step that was not tried


class BatchStepper:
    """Copies of a robot that go step by step, all in one compiled call on all cores; each gives what a `Stepper` gives.

    Args:
        robot: the robot, or its model; at most about 60 coordinates, no loads written in Python.
        copies: how many.
        dt: time step [s].
        inputs: inputs (k,) or (copies, k) at the start, in the order of `names`, or by name; zero if not given.
        start: where all copies start, as in `Stepper`; `reset` takes others.
        method: Newmark(), HHT(), GeneralisedAlpha(), Midpoint() or their names.
        tolerance: Newton's error as a part of a step's increment; as in `simulate` if not given.
        threads: how many run at once; all cores by default.
        seed: of the noise of sensors.

    Attributes:
        names: of the inputs, in their order.
        count: (copies,) steps done since the last reset.
        failed: (copies,) whether a copy could not be stepped further; it stands still until it is reset.

    """

    def __init__(
        self,
        robot: Robot | Model,
        copies: int,
        *,
        dt: float,
        inputs: Mapping[str, float] | ArrayLike | None = None,
        start: Start = None,
        method: Scheme | str = DEFAULT_METHOD,
        tolerance: float | None = None,
        threads: int | None = None,
        seed: int | None = 0,
    ) -> None:
        model = model_of(robot)
        self.copies, self.dt, self.robot = as_count(copies, "copies"), as_positive(dt, "dt", "s"), model.source
        _refuse_slow(model)
        self.names = list(model.robot.inputs)
        self._scheme = as_scheme(method).coefficients
        check_serves(self._scheme, method, model)
        self._tolerance = newton_tolerance(model, tolerance)
        self._inputs = np.zeros((self.copies, len(self.names)))
        self._actuators = model.robot.actuators  # their inputs come first
        self._slack: set[str] = set()  # tendons that were told to be slack
        self.count = np.zeros(self.copies, dtype=np.int64)
        self._give(inputs)
        for k, (name, actuator) in enumerate(self._actuators.items()):
            actuator.refuse_pushing(name, self._inputs[:, k], np.zeros(self.copies))
        q, v = start_of(model, start)
        if not model.is_plain:
            with model.apart():
                model, q = close(model, self._named(0), 0.0, q)
        self.model, self._start, self._begin = model, start, (q, v)
        self._map: PortMap = model.once(port_map)
        self._steady = self._map.steady and model.once(only_ports)
        if not self._map.linear:
            raise DescriptionError(
                "BatchStepper needs inputs that act linearly on loads and motions, and these do not: use Stepper."
            )
        drives = list(model.robot.drives.values())
        self._drives = (
            [Following(drives, row, dt) for row in self._inputs] if any(d != Drive() for d in drives) else None
        )
        self._moving = np.array([name in model.once(moving_ports) for name in self.names], dtype=bool)
        self._reader = model.once(Reader)
        self._instruments = Instruments(self._reader.sensors, self.dt, self.copies, seed)
        self._make_copies(os.cpu_count() or 1 if threads is None else as_count(threads, "threads"))
        self.reset()

    def __repr__(self) -> str:
        return f"<{self.copies} copies of {self.model.robot.name!r}: steps of {self.dt:g} s>"

    def _make_copies(self, threads: int) -> None:
        """A motion for each copy; those of one thread share its scratch memory."""
        model, shape = self.model, (self.copies, self.model.size)
        self._q, self._v, self._acc = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self._groups: list[Ints] = [group for group in np.array_split(np.arange(self.copies), threads) if len(group)]
        self._scratch = [model.new_desk().workspace for _ in self._groups]
        self._desks: list[Desk] = []
        self._motions: list[OngoingMotion] = []
        row = model.loads(0.0, dict.fromkeys(self.names, 0.0)).loads.row
        for group, workspace in zip(self._groups, self._scratch, strict=True):
            for k in group.tolist():
                desk = model.new_desk()
                desk = Desk(workspace, desk.loads._replace(row=row.copy()), desk.user)
                with model.at(desk):
                    m = OngoingMotion(model, self._scheme, self._tolerance, self._q[k], self._v[k], {})
                m.stand_in(self._q[k], self._v[k], self._acc[k])
                self._motions.append(m)
                self._desks.append(desk)
        each = zip(self._motions, self._desks, strict=True)
        self._tables = [(m.memory, desk.loads, m.carried) for m, desk in each]
        self._where = np.array([[address_of(table) for table in tables] for tables in self._tables], dtype=np.int64)
        self._pool = ThreadPoolExecutor(len(self._groups) - 1) if len(self._groups) > 1 else None
        self.failed = np.zeros(self.copies, dtype=bool)
        self._before, self._rate = np.zeros_like(self._inputs), np.zeros_like(self._inputs)

    # State

    @property
    def t(self) -> Floats:
        """Time (copies,) [s] of each copy since its last reset."""
        return np.asarray(self.count * self.dt, dtype=np.float64)

    @property
    def q(self) -> Floats:
        """Coordinates (copies, n), a copy."""
        return self._q.copy()

    @property
    def v(self) -> Floats:
        """Rates (copies, n), a copy."""
        return self._v.copy()

    @property
    def inputs(self) -> Floats:
        """Inputs, or commands of drives (copies, k), in the order of `names`, a copy."""
        return self._inputs.copy()

    def set_inputs(self, inputs: Mapping[str, ArrayLike] | ArrayLike | None) -> None:
        """Change inputs: all of them as an array (k,) or (copies, k), or some by name, numbers or (copies,).

        A tendon whose tension is negative is slack.
        """
        self._give(inputs)
        if self._drives is None:
            self._slacken(self._inputs)

    def _give(self, inputs: Mapping[str, ArrayLike] | ArrayLike | None) -> None:
        """Write down inputs, or commands of drives, as they are given."""
        if inputs is None:
            return
        if isinstance(inputs, Mapping):
            for name, value in inputs.items():
                if name not in self.names:
                    told = ", ".join(self.names) or "none"
                    raise DescriptionError(f"there is no input {name!r}; there are: {told}.")
                given = as_array(value, f"the input {name!r}", "finite numbers")
                if given.shape not in ((), (self.copies,)):
                    shapes = f"one number, or one for each of the {self.copies} copies"
                    raise DescriptionError(f"the input {name!r} must be {shapes}; got the shape {given.shape}.")
                self._inputs[:, self.names.index(name)] = given
        else:
            given = as_array(inputs, "inputs", "finite numbers")
            if given.shape not in ((len(self.names),), self._inputs.shape):
                shapes = f"({len(self.names)},) or {self._inputs.shape}: one number for each of {', '.join(self.names)}"
                raise DescriptionError(f"inputs must have the shape {shapes}; got {given.shape}.")
            self._inputs[:] = given

    def _slacken(self, values: Floats) -> Floats:
        """The inputs (copies, k), changed in place: tendons with a negative tension are slack, which is told once."""
        for k, (name, actuator) in enumerate(self._actuators.items()):
            if values[:, k].min() < 0.0:
                below = actuator.pushing(values[:, k])
                if len(below) and name not in self._slack:
                    self._slack.add(name)
                    warn_slack(name, values[below[0], k], f"in copy {below[0]} at t = {self.t[below[0]]:g} s")
                values[below, k] = 0.0
        return values

    def _named(self, k: int) -> dict[str, float]:
        return dict(zip(self.names, self._inputs[k].tolist(), strict=True))

    def reset(
        self, which: ArrayLike | None = None, *, starts: Sequence[Start] | None = None, inputs: ArrayLike | None = None
    ) -> None:
        """Bring copies back to the start, at t = 0 s.

        Args:
            which: (copies,) which of them, true or false, or their numbers; all if not given.
            starts: one start for each of these, as in `Stepper`; the common one if not given.
            inputs: (k,) or (copies, k) their inputs; as they are if not given.

        """
        chosen = np.arange(self.copies) if which is None else np.arange(self.copies)[np.asarray(which)]
        if starts is not None and len(starts) != len(chosen):
            raise DescriptionError(f"starts must be {len(chosen)}, one for each copy that is reset; got {len(starts)}.")
        mask = np.zeros(self.copies, dtype=bool)
        mask[chosen] = True
        if inputs is not None:
            before = self._inputs[~mask]
            self.set_inputs(inputs)
            self._inputs[~mask] = before
        self.count[chosen], self.failed[chosen] = 0, False
        self._instruments.reset(mask)
        first = -1
        for number, k in enumerate(chosen.tolist()):
            if self._drives is not None:
                self._drives[k].reset(self._inputs[k])
            alike = starts is None and first >= 0 and np.array_equal(self._inputs[k], self._inputs[first])
            if alike:
                self._take(k, first)
            else:
                start = self._start if starts is None else starts[number]
                self._begin_one(k, self._begin if starts is None else start_of(self.model, start), start)
                first = k
        self._before[chosen], self._rate[chosen] = self._followed()[chosen], 0.0

    def _begin_one(self, k: int, state: tuple[Floats, Floats], start: Start) -> None:
        """Let a copy stand at a state, with its accelerations there, and what is remembered where it starts from."""
        m = self._motions[k]
        with self.model.at(self._desks[k]):
            values = self._inputs[k] if self._drives is None else self._slacken(self._drives[k].value[None].copy())[0]
            m.inputs = dict(zip(self.names, values.tolist(), strict=True))
            m.restart(*state)
            m.take_over(start)
            m.begin(0.0, self.dt)

    def _take(self, k: int, other: int) -> None:
        """Let a copy stand where another one does, which has just begun."""
        here, there = self._motions[k], self._motions[other]
        with self.model.at(self._desks[k]):
            here.inputs = there.inputs
            here.restart(there.q, there.v)
        with self.model.at(self._desks[other]):
            saved = [array.copy() for array in there.state]
        with self.model.at(self._desks[k]):
            here.restore(saved)
        here.memory.memory[:], here.held = there.memory.memory, there.held

    # Steps

    def step(self, inputs: Mapping[str, ArrayLike] | ArrayLike | None = None, count: int = 1) -> None:
        """Do some steps with all copies that have not failed; a step that fails is cut into smaller ones.

        Args:
            inputs: new inputs, or commands of drives: (k,), (copies, k), or some by name; as they are if not given.
            count: number of steps.

        """
        self.set_inputs(inputs)
        count = as_count(count, "count")
        at_once = self._drives is None and self._steady and not self._moving.any()
        for _ in range(1 if at_once else count):
            self._advance(count if at_once else 1)

    def _followed(self) -> Floats:
        """Inputs (copies, k) that acted last."""
        return (
            self._inputs if self._drives is None else self._slacken(np.array([drive.value for drive in self._drives]))
        )

    def _rows(self) -> tuple[Ints, Floats]:
        """Places in the row that inputs act on, and what stands there in each copy."""
        values = self._inputs
        if self._drives is not None:
            values = np.array([drive.follow(row) for drive, row in zip(self._drives, values, strict=True)])
            self._slacken(values)
        rates = accelerations = None
        if self._moving.any():
            rates = (values - self._before) / self.dt
            accelerations = (rates - self._rate) / self.dt
            self._before, self._rate = values.copy(), rates
        if self._steady:
            return self._map.columns, self._map.rows(values, rates, accelerations)
        return self._rows_at(self.t + self._scheme.mid * self.dt, values, rates, accelerations)

    def _rows_at(self, times: Floats, values: Floats, *changes: Floats | None) -> tuple[Ints, Floats]:
        """The whole row under inputs (copies, k), with their rates and accelerations, at times (copies,) [s]."""
        out, column = np.zeros((self.copies, 0)), np.zeros(0, np.int64)
        for t in np.unique(times):
            here, mine = map_at(self.model, float(t), whole=True), times == t
            if not len(column):
                column, out = here.columns, np.zeros((self.copies, len(here.columns)))
            out[mine] = here.rows(values[mine], *(None if x is None else x[mine] for x in changes))
        return column, out

    def _advance(self, count: int) -> None:
        """Some steps of all copies under the same inputs."""
        column, rows = self._rows()
        dt, numbers, goal = self.dt, tuple(self._scheme), self._motions[0].goal(self.dt)
        done, status = np.zeros(self.copies, np.int64), np.full(self.copies, UNTRIED)
        none, nothing, unused = np.zeros(0, np.int64), np.zeros((count, 0)), stored(1, 0, 0)
        ready = ~self.failed & np.array([whole(m) for m in self._motions])

        def work(group: int) -> None:
            which = self._groups[group][ready[self._groups[group]]]
            run_copies(
                self.model.tree, self._scratch[group], *self._tables[0], unused, self._where, which, column, rows, none,
                nothing, numbers, self.t, dt, 0, count, False, goal, done, status,
            )  # fmt: skip

        waiting = [self._pool.submit(work, k) for k in range(1, len(self._groups))] if self._pool else []
        work(0)
        for one in waiting:
            one.result()
        for k in np.flatnonzero((status != CONVERGED) & ~self.failed).tolist():
            self._go_on(k, int(done[k]), count, int(status[k]), column, rows[k])
        self.count[~self.failed] += count

    def _go_on(self, k: int, done: int, count: int, status: int, column: Ints, row: Floats) -> None:
        """The rest of the steps of a copy whose next one cannot be done as a whole."""
        m, desk, t = self._motions[k], self._desks[k], float(self.t[k])
        desk.loads.row[column] = row
        m.inputs = dict(zip(self.names, self._followed()[k].tolist(), strict=True))
        with self.model.at(desk):
            m.wired = partial(_held, self.model, desk.loads)
            if status == TIGHTENED:
                m.tighten(t + done * self.dt, self.dt)
            for step in range(done, count):
                m.passed = step
                if m.one_step(t + step * self.dt, self.dt) != CONVERGED:
                    self.failed[k] = True
                    break
            m.wired = None

    def result(self, k: int) -> Trajectory:
        """The present state of one copy as a motion of one instant, to be read or drawn."""
        m, desk = self._motions[k], self._desks[k]
        state = self.t[k : k + 1], m.q[None].copy(), m.v[None].copy(), m.acc[None].copy(), m.lam[None].copy()
        memory = Remembered.of(desk.loads).copy() if self.count[k] else m.held
        inputs = dict(zip(self.names, self._followed()[k].tolist(), strict=True))
        return Trajectory(self.robot, self.model, Status(True, "on its way"), *state, inputs, _memory=memory)

    # Sensors

    @property
    def reading_labels(self) -> list[str]:
        """Names of the numbers that `read` gives, such as "tip.x"."""
        return list(self._reader.labels)

    def read(self) -> Floats:
        """What the sensors of all copies show: (copies, numbers)."""
        return self._instruments.show(self._reader.true(self.seen()))

    @cached_property
    def _feeler(self) -> Feeler:
        return Feeler(self.model, [desk.loads for desk in self._desks])

    def _rows_now(self) -> tuple[Ints, Floats]:
        """Places in the row that are not as the last step left them, and what stands there now."""
        if self._steady:
            return self._map.columns, self._map.rows(self._followed())
        return self._rows_at(self.t, self._followed())

    def seen(self) -> Seen:
        """The present states as sensors see them."""

        def gravity() -> Floats:
            return self.model.robot.gravity_values(self.t)

        def effort() -> Floats:
            found, known = np.array([desk.loads.tension for desk in self._desks]), dict[bytes, Floats]()
            for k in np.flatnonzero(self.count == 0).tolist():  # no step has left them there; many copies start alike
                key = np.concatenate([self._q[k], self._v[k], self._followed()[k]]).tobytes()
                if key not in known:
                    start = self.result(k)
                    known[key] = np.array([start.tension(name)[0] for name in self.model.robot.actuators])
                found[k] = known[key]
            return found

        @cache
        def forces() -> Callable[[Load], Floats]:
            fresh = self.dt * ((self.count == 0) & np.array([m.held is None for m in self._motions]))
            return self._feeler.forces(self.t, self._q, self._v, fresh, *self._rows_now())

        def contact(load: Load) -> Floats:
            return forces()(load)

        return Seen(self._reader, self.t, self._q, self._v, self._acc, effort, contact, gravity)


def _held(model: Model, loads: Loads, _inputs: Inputs, times: ArrayLike) -> LoadTable:
    """Loads that stay as they are."""
    at = np.atleast_1d(np.asarray(times, dtype=np.float64))
    return LoadTable(loads, np.zeros(0, np.int64), np.zeros((len(at), 0)), at, model)


def _refuse_slow(model: Model) -> None:
    """Refuse what cannot be stepped in one compiled call."""
    if model.user:
        raise DescriptionError("BatchStepper does not support loads written in Python: use simulate_batch.")
    if model.linear != DENSE:
        raise DescriptionError(
            f"copies are stepped together of robots that are solved densely, and {model.robot.name!r} with its "
            f"{model.size} coordinates is not: use simulate_batch, or Model(robot, linear='dense')."
        )
