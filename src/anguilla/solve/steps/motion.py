"""A motion on its way: its state, the solver's memory, and how it begins and goes on from jumps of the loads."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anguilla.errors import DescriptionError, SolverError, as_positive
from anguilla.interact.kernels.impact import SUNK
from anguilla.interact.kernels.rubbing import UNKNOWN, keep_rubbing
from anguilla.interact.kernels.table import DT, MOTION, Loads
from anguilla.linear.choice import DENSE, NETS, SPARSE
from anguilla.mechanics.relaxing import keep_relaxing
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.model import Inputs, LoadTable, Model
from anguilla.results.blocks import Remembered
from anguilla.results.passing import refuse_coinciding
from anguilla.results.reactions import bend, evaluate, straighten
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.solve.newton.newton import COUNTERS, FRESH, ITERATIONS, STARTING, Scratch, scratch
from anguilla.solve.newton.rules import CONVERGED, PATIENCE, SINGULAR, TIGHTENED
from anguilla.solve.steps.balance import balance
from anguilla.solve.steps.beginning import massless
from anguilla.solve.steps.events import Jump
from anguilla.solve.steps.pieces import FEW, LABOUR, cut, fresh_cutting, whole
from anguilla.solve.steps.schemes import Coefficients
from anguilla.solve.steps.starting import consistent, settled, tell_changed, tightened
from anguilla.solve.steps.stepping import History, State, runner, stored

Start = Equilibrium | Trajectory | tuple[ArrayLike, ArrayLike] | ArrayLike | None
# error of an increment that is always allowed: what an acceleration [rad/s^2] adds to it, within bounds [rad]; a fixed one
# would be an error of the accelerations that grows as steps get shorter
SLIGHT, ROUND_OFF, FLOOR = 1e-7, 1e-17, 1e-13
# Newton's tolerance times the steps of a motion at most, if these are more than so many: stiff rods were off by 0.3 times
# that product after 1,000 steps, and by as much with a twentieth of it after 20,000
LEFT, BRIEF = 0.05, 200
NET_PATIENCE = 20, 8.0  # iterations of a step with a sparse factorisation, and how many of them it is worth
# the tangent of a small robot costs as much as so many corrections: one for each three coordinates, between one and six; that
# counts above this tolerance: where hardly an error is allowed, the more corrections of an older tangent leave smaller ones
EACH, MOST, LOOSE = 3.0, 6.0, 1e-6
AS_NEW, UNCUT = np.array(FRESH), fresh_cutting()
COPIED = 100_000  # numbers of the states of a motion, up to which they are copied, and their memory serves the next one
NO_TIMES = np.zeros(0)
NEVER, ENDLESSLY = 2**62, (-np.inf, np.inf)  # a step that does not come, and times without one
LEAST_AGAIN = 2000  # Newton's iterations that a piece of a motion may always take when it is computed again


@dataclass
class OngoingMotion:
    """The state on its way and the solver's memory."""

    system: Model
    scheme: Coefficients
    tolerance: float
    q: Floats
    v: Floats
    inputs: Inputs
    substeps: int = 0
    smooth: bool = True  # whether starts are eased
    settles: bool = False  # whether multipliers start with offsets
    kinks: str = ""  # what is said of prescribed motions
    passed: int = 0  # steps done since the start
    allowed: int = LABOUR * FEW  # Newton's iterations, at least, before steps in pieces are given up
    limit: float = np.inf  # the same, at most
    # loads that are linear in inputs which stay the same for a step
    wired: Callable[[Inputs, ArrayLike], LoadTable] | None = None
    pulling: bool = True  # whether tendons that inputs would make push are told of
    _begins: bool = field(init=False, default=False)  # whether the next steps find their accelerations first
    _steady: LoadTable | None = field(init=False, default=None)
    _before: int = field(init=False, default=0)
    _ended: int = field(init=False, default=-1)
    opened: Floats | None = field(init=False, default=None)  # the start as it was given, if its loops were open there
    held: Remembered | None = field(init=False, default=None)  # what contacts that hold remembered at the start
    notes: Floats | None = field(init=False, default=None)  # and at stored rows, as rows (1, numbers) for a checkpoint
    noting: bool = field(init=False, default=False)  # whether that is to be noted
    stopped: str = field(init=False, default="")  # why, if a jump did it
    # [s] instants behind the last jump and before the next, for loads
    bounds: tuple[float, float] = field(init=False, default=ENDLESSLY)

    def __post_init__(self) -> None:
        n, m = self.system.size, self.system.rows
        self._left = left = _memory(self.system)
        self.memory, self.carried, self.unused, here = left.memory, left.state, left.unused, left.state
        here.q[:], here.v[:] = self.q, self.v
        self.q, self.v, self.a, self.acc, self.lam = here.q, here.v, here.a, here.acc, here.lam
        self._run = left.run
        self._is_net = self.system.linear == SPARSE and n + m > NETS
        loose = self.tolerance >= LOOSE and self.system.linear == DENSE
        self._patience = min(max(n / EACH, 1.0), MOST) if loose else PATIENCE
        self.acting: LoadTable  # loads at the ends of its steps, if these are equal
        self.cutting, self.snaps = left.cutting, left.snaps  # (1,) times that lines became taut with an impact
        self.pieces: list[tuple[float, float]] = []  # begin of each step that Newton had cut, its shortest piece [s]
        if len(left.blank.cables.slip):
            left.blank.cables.slip[:] = UNKNOWN
        self.jumps: list[Jump] = []
        # what is remembered at stored rows that were not reached in one step from the one before
        self.known: dict[int, Remembered] = {}

    @property
    def state(self) -> tuple[Floats, ...]:
        """All arrays that a step changes."""
        return self.q, self.v, self.a, self.acc, self.lam, *self.by_loads

    @property
    def by_loads(self) -> tuple[Floats, ...]:
        """Those of them in which loads remember."""
        loads = self.system.blank
        touches = loads.touches
        return loads.frames.state, loads.cables.slip, touches.held, touches.before, loads.relaxing.past

    @property
    def history(self) -> History:
        """The states that the steps of `simulate` store."""
        assert self._left.history is not None
        return self._left.history

    def make_history(self, rows: int, interval: float) -> History:
        """Room for so many of them, an interval [s] apart: that of the last motion at the desk, if it had as many."""
        left, system = self._left, self.system
        if left.history is None or left.spaced != (rows, interval):
            left.times, left.spaced = interval * np.arange(rows, dtype=np.float64), (rows, interval)
            left.history = history = stored(rows, system.size, system.rows)
            left.serves_again = 3 * history.q.size + history.lam.size <= COPIED
        return left.history

    def taken(self, count: int) -> tuple[Floats, ...]:
        """Times (count,), coordinates, rates, accelerations (count, n), multipliers (count, m) of states, for a result."""
        t, states = self._left.times, self.history
        found: tuple[Floats, ...] = t, states.q, states.v, states.a, states.lam
        if count < len(t):
            found = tuple(array[:count] for array in found)
        return tuple([array.copy() for array in found]) if self._left.serves_again else found

    @property
    def labour(self) -> int:
        """Newton's iterations since the start."""
        return self.memory.counters.item(ITERATIONS) - self._before if self._ended < 0 else self._ended

    def leave(self) -> None:
        """Leave the memory at the desk for the next motion there: to make it takes longer than some motions do.

        Nothing but `balance` is to be asked afterwards.
        """
        if self.system.linear == DENSE:
            self.system.desk().kept["motion"] = self._left
            self._ended = self.labour
        if not self._left.serves_again:
            self._left.history = None  # it is the result's

    def take_over(self, start: Start) -> None:
        """Let forces that remember go on as in the result that this starts from, with the multipliers of an equilibrium."""
        self.held = recall(self.system, start)
        self.system.blank.frames.state[:, 2, SUNK] = 0.0  # that was before
        if isinstance(start, Equilibrium) and start.multipliers.shape == self.lam.shape:
            self.lam[:] = start.multipliers

    def restore(self, saved: list[Floats]) -> None:
        """Go back to a copy of the state."""
        for array, value in zip(self.state, saved, strict=True):
            array[:] = value

    def run(
        self,
        table: LoadTable,
        t: float,
        dt: float,
        first: int,
        last: int,
        every: int,
        out: History,
        begin: bool = False,
    ):
        """Steps first..last-1 in compiled code; returns (steps done, status). With `begin`, it finds accelerations first."""
        system, goal, done, status = self.system, self.goal(dt), first, TIGHTENED
        begins, self._begins = self._begins, False
        while status == TIGHTENED:
            done, status = self._run(
                system.tree, system.workspace, self.memory, table.loads, table.column, table.table, tuple(self.scheme),
                (t, dt, int(done), last, every), begin or begins, self.carried, goal, out,
            )  # fmt: skip
            if done < 0 and begins:
                raise self._massless(t)
            if status == TIGHTENED:
                self.tighten(t + done * dt, dt)
                keep_state(self, out, done // every, done % every == 0)
                status = CONVERGED if done == last else TIGHTENED
        return int(done), int(status)

    def goal(self, dt: float) -> tuple[Any, ...]:
        """What Newton must reach in steps of length dt [s]: a `Goal`, with a chord."""
        floor = min(FLOOR, max(ROUND_OFF, SLIGHT * dt * dt))
        most, patience = NET_PATIENCE if self._is_net else (12, self._patience)
        return self.tolerance, floor, most, True, patience

    def tighten(self, t: float, dt: float) -> None:
        """Begin anew behind the impact of a line that became taut."""
        rates = tightened(self.system, self.inputs, t, (self.q, self.v, self.lam), dt)
        if rates is not None:
            self.snaps += 1
            self.v[:] = rates
            self.begin(t, dt)
            self.settle(t, dt)

    def steps(self, t: float, dt: float, count: int) -> tuple[int, int]:
        """Some steps from t, stored nowhere; (how many were done, status). The state is that after the last good one."""
        times = t + (np.arange(count) + self.scheme.mid) * dt
        begin = min(t, self.bounds[1] - (times[-1] - t))  # loads that read the time themselves see that before a jump
        return self.run(self.loads(times), begin, dt, 0, count, count + 1, self.unused)

    def one_step(self, t: float, dt: float) -> int:
        """One step from t, in pieces if it fails as a whole; Newton's status."""
        tried = whole(self)
        status = self.steps(t, dt, 1)[1] if tried else CONVERGED
        if status != CONVERGED or not tried:
            status = cut(self, t, dt, status)
        if self.scheme.mid < 1.0:
            self.drive(np.array([t + dt]), self.q[None], self.v[None])
        return status

    def drive(self, t: Floats, q: Floats, v: Floats) -> None:
        """Set prescribed coordinates of states (nt, n) at times t (nt,) [s]; steps that balance earlier left them there."""
        driven, at = self.system.blank.driven, int(self.system.blank.at[MOTION])
        if len(driven):
            table = self.loads(t)
            for k in range(len(t)):
                row = table.at(k).row[at : at + 3 * len(driven)]
                q[k, driven], v[k, driven] = row[::3], row[1::3]

    def again(self, inputs: Inputs | None = None) -> OngoingMotion:
        """Another motion of the same kind; it does not know of jumps."""
        given = self.inputs if inputs is None else inputs
        other = OngoingMotion(self.system, self.scheme, self.tolerance, self.q.copy(), self.v.copy(), given)
        other.smooth, other.settles = self.smooth, self.settles
        other.allowed, other.pulling = max(LEAST_AGAIN, self.labour // 4), False
        return other

    def stand_in(self, q: Floats, v: Floats, acc: Floats) -> None:
        """Keep coordinates, rates and true accelerations in given rows (n,) from now on."""
        q[:], v[:], acc[:] = self.q, self.v, self.acc
        self.q, self.v, self.acc = q, v, acc
        self.carried = self.carried._replace(q=q, v=v, acc=acc)

    def restart(self, q: Floats, v: Floats) -> None:
        """Forget everything and stand at another state."""
        for array in self.state:
            array[:] = 0.0
        self.system.blank.cables.slip[:], self.system.blank.relaxing.over[:] = UNKNOWN, np.inf
        self.q[:], self.v[:] = q, v
        self.memory.memory[:] = AS_NEW
        self.pieces.clear()
        self.cutting, self._before, self.passed = fresh_cutting(), int(self.memory.counters[ITERATIONS]), 0

    def next_jump(self, step: int) -> int:
        """Number of the first jump in a step or after it."""
        return bisect_left(self.jumps, step, key=lambda jump: jump.step)

    def between(self, step: int) -> int:
        """Take loads on the side of jumps on which a step begins; returns the next step with a jump."""
        if not self.jumps:
            self.bounds = ENDLESSLY
            return NEVER
        k = self.next_jump(step)
        since = self.jumps[k - 1].after if k else -np.inf
        if k == len(self.jumps):
            self.bounds = since, np.inf
            return NEVER
        self.bounds = since, self.jumps[k].before
        return self.jumps[k].step

    def begin_behind(self, jump: Jump, dt: float) -> int:
        """Accelerations and multipliers of the loads behind a jump; Newton's status."""
        k = self.jumps.index(jump, self.next_jump(jump.step)) + 1
        self.bounds = jump.after, self.jumps[k].before if k < len(self.jumps) else np.inf
        try:
            self.begin(jump.after, dt)
        except SolverError as error:
            self.stopped = f"nothing follows the jump at t = {jump.at:.6g} s. {error}".removesuffix(".")
            return SINGULAR
        self.settle(jump.after, dt)
        return CONVERGED

    def begin(self, t: float, dt: float, loads: LoadTable | None = None, at_once: bool = True) -> bool:
        """Starting accelerations and multipliers, and rates that keep the constraints; `loads` at t, if they are known.

        Returns False if they are left to the compiled loop of the next steps, which saves a call: where nothing happens in
        between, and if it need not be `at_once`.
        """
        self.memory.memory[STARTING] = self.smooth
        blank = self._left.blank
        if len(blank.cables.path):
            self._rub(t)
        relaxing, state = blank.relaxing, blank.frames.state
        if len(relaxing.term):  # at rest in its first shape; later as it is
            keep_relaxing(self.system.tree, relaxing, self.q, float(relaxing.over[0]))
        bent = False
        if self.system.is_plain:
            self._steady = self.loads(t) if loads is None else loads
            bent = bend(self.system, self._steady.loads, self.q, self.v, dt)
            self._begins = not at_once and not len(state) and not bent
            if self._begins:
                return False
            if self.run(self._steady, t, dt, 0, 0, 1, self.unused, begin=True)[1] != CONVERGED:
                raise self._massless(t)
        else:
            given = self.v.copy()
            self.v[:], self.a[:], self.lam[:] = consistent(self.system, self.inputs, t, self.q, self.v, dt)
            bent = bend(self.system, self.loads(t).loads, self.q, self.v, dt)
            if bent:
                self.a[:], self.lam[:] = consistent(self.system, self.inputs, t, self.q, self.v, dt)[1:]
            if t == 0.0:  # behind a jump it is the loads that changed them
                tell_changed(self.system, self.inputs, t, self.q, given, self.v, dt)
            self.acc[:] = self.a
        if len(state):
            state[:, 1] = state[:, 2]
        if bent:
            straighten(blank)
        return True

    def _massless(self, t: float) -> SolverError:
        """The error of a start without accelerations."""
        small = self.system.linear == DENSE
        mass = self.system.matrices(self.q, self.v, t=t, inputs=self.inputs)[2] if small else None
        return massless(self.system, mass)

    def _rub(self, t: float) -> None:
        """Friction along tendons at the start: as they were before, or drawn in."""
        loads = self.loads(t).loads
        loads.row[DT] = np.finfo(float).tiny
        evaluate(self.system, loads, self.q, self.v, np.zeros_like(self.q), self.lam)
        keep_rubbing(self.system.blank.cables, 1.0)

    def settle(self, t: float, dt: float) -> bool:
        """Offsets of the scheme at the start, so that multipliers start smoothly; whether there are any."""
        if not self.settles:
            return False
        bent = bend(self.system, self.loads(t).loads, self.q, self.v, dt)
        dv, da = settled(self.system, self.inputs, t, (self.q, self.v, self.acc, self.lam), dt, self.scheme)
        if bent:
            straighten(self.system.blank)
        self.v += dv
        self.a += da
        return bool(np.any(dv) or np.any(da))

    def balance(
        self, t: Floats, q: Floats, v: Floats, guess: Floats | None = None, inputs: Inputs | None = None
    ) -> Floats:
        """Accelerations (nt, n) that balance the states (q, v) (nt, n) at times t (nt,) [s], in memory of their own."""
        with self.system.apart():
            return balance(self.again(inputs), t, q, v, guess)

    def loads(self, times: ArrayLike) -> LoadTable:
        """Loads at the given times [s], on this side of jumps."""
        if self.wired is not None:
            return self.wired(self.inputs, times)
        if self.jumps:
            times = np.clip(times, *self.bounds)
        return self.system.loads(times, self.inputs, pulling=self.pulling)

    def loads_at_start(self) -> LoadTable:
        """Loads at t = 0 [s], in the table that the last motion at the desk had for them."""
        self._left.first = self.system.loads(0.0, self.inputs, pulling=True, into=self._left.first)
        return self._left.first

    def all_loads(self, dt: float, steps: int) -> LoadTable:
        """Loads for a run of some steps from t = 0; steady ones are known from the beginning."""
        if self._steady is None or not self.system.is_steady(self.inputs):
            return self.loads((np.arange(steps) + self.scheme.mid) * dt)
        return self._steady


@dataclass(slots=True)
class _Left:
    """What a motion works in, and leaves at the desk for the next one there: to make it takes longer than some motions do."""

    blank: Loads
    memory: Scratch
    state: State
    run: Callable[..., tuple[int, int]]  # the compiled loop
    unused: History  # room for one more
    cutting: Ints
    snaps: Ints
    used: tuple[Floats, Ints]  # all that has to be as new for the next motion,
    new: tuple[Floats, Ints]  # and what it is then
    first: LoadTable | None = None  # loads at the start
    history: History | None = None
    serves_again: bool = True  # whether its states are copied for a result, so that their memory serves the next motion
    times: Floats = field(default_factory=lambda: NO_TIMES)  # of the history [s]
    spaced: tuple[int, float] = (0, 0.0)  # its rows, and their interval [s]


def _memory(system: Model) -> _Left:
    """Memory as new: what the last motion at the desk left, if it did."""
    left: _Left | None = system.desk().kept.pop("motion", None)
    if left is None:
        return _new_memory(system)
    (floats, ints), (new_floats, new_ints) = left.used, left.new
    floats[:], ints[:] = new_floats, new_ints
    return left


def _new_memory(system: Model) -> _Left:
    n, m = system.size, system.rows
    floats, ints = np.zeros(5 * n + 2 * m + len(AS_NEW)), np.zeros(len(COUNTERS) + len(UNCUT) + 1, np.int64)
    (q, v, a, acc), lam = floats[: 4 * n].reshape(4, n), floats[4 * n : 4 * n + m]
    d, memory = floats[4 * n + m : 5 * n + 2 * m], floats[5 * n + 2 * m :]
    counters, cutting, snaps = ints[: len(COUNTERS)], ints[len(COUNTERS) : -1], ints[-1:]
    memory[:], cutting[:] = AS_NEW, UNCUT
    work = scratch(system)
    if system.linear == DENSE:  # others are not left to anybody
        work = work._replace(d=d, memory=memory, counters=counters)
    new = floats.copy(), ints.copy()
    state, unused = State(q, v, a, acc, lam), stored(1, n, m)
    return _Left(system.blank, work, state, runner(system), unused, cutting, snaps, (floats, ints), new)


def balances_alone(system: Model, scheme: Coefficients) -> bool:
    """Whether states alone tell their accelerations, so that these may be found later: no load remembers what was before."""
    return (system.is_plain or scheme.mid < 1.0) and not system.once(may_remember)


def may_remember(system: Model) -> bool:
    """Whether there are loads that may remember what was before."""
    loads = system.blank
    kinds = loads.frames.table, loads.cables.path, loads.touches.table, loads.relaxing.term
    return any(len(kind) for kind in kinds)


def newton_tolerance(system: Model, given: float | None, steps: int = 0) -> float:
    """Newton's error that is allowed as a part of a step's increment: the given one, or what serves the system.

    What is left adds up, at last with the square of the steps: of many, each may leave less.
    """
    usual = 1e-11 if system.shapes else 1e-10 if system.rows else 1e-8
    allowed = as_positive(usual if given is None else given, "tolerance", "")
    return min(allowed, LEFT / steps, 1000.0 * LEFT / steps**2) if steps > BRIEF else allowed


def recall(system: Model, start: object) -> Remembered | None:
    """Let forces that remember go on as in the result from which something starts; returns what they remember."""
    held = start.remembered if isinstance(start, (Equilibrium, Trajectory)) else None
    if held is None:
        return None
    memory = Remembered.of(system.blank)
    if all(x.shape == y.shape for x, y in zip(held, memory, strict=True)):
        memory.recall(held)
        if isinstance(start, Trajectory):
            system.blank.relaxing.over[:] = 0.0
        return held
    return None


def start_of(system: Model, start: Start) -> tuple[Floats, Floats]:
    """Coordinates and rates (n,) that a motion starts from; of a robot with constraints before it is closed (`close`)."""
    q, v = _given(system, start)
    if system.is_plain:
        refuse_coinciding(system, q)
    return q, v


def refuse_other_start(system: Model, start: Equilibrium | Trajectory) -> None:
    """Refuse a result whose coordinates mean something else, if there are as many or not; names of parts do not count."""
    if start.system.robot is system.robot:
        return
    theirs, ours = (model.robot.coordinates() for model in (start.system, system))
    differs = next((pair for pair in zip_longest(theirs, ours) if _meaning(pair[0]) != _meaning(pair[1])), None)
    if differs is not None:
        kind = "equilibrium" if isinstance(start, Equilibrium) else "motion"
        there, here = (label or "nothing" for label in differs)
        raise DescriptionError(
            f"start is the {kind} of a robot with other coordinates: {there} where {system.robot.name!r} has {here}."
        )


def _meaning(label: str | None) -> str | None:
    """What a coordinate is, without the part that it belongs to."""
    return label if label is None else label.partition(".")[2]


def _given(system: Model, start: Start) -> tuple[Floats, Floats]:
    if isinstance(start, Equilibrium):
        refuse_other_start(system, start)
        return system.vector(start.q, "start"), np.zeros(system.size)
    if isinstance(start, Trajectory):
        refuse_other_start(system, start)
        return system.vector(start.q[-1], "start"), system.vector(start.v[-1], "start")
    if isinstance(start, tuple):
        if len(start) != 2:
            raise DescriptionError(
                "start must be an Equilibrium, a Trajectory (its end), coordinates q, or a pair (q, v)."
            )
        return system.vector(start[0], "start[0]"), system.vector(start[1], "start[1]")
    return system.vector(start, "start"), np.zeros(system.size)


def keep_state(m: OngoingMotion, out: History, row: int, due: bool = True) -> None:
    """Store the present state in a row, if it is due, and what forces remember."""
    if due:
        out.q[row], out.v[row], out.a[row], out.lam[row] = m.q, m.v, m.acc, m.lam
        if row > 0:
            note(m, row)


def note(m: OngoingMotion, row: int) -> None:
    """Note what forces remember at a stored row, if that is wanted."""
    if m.noting:
        m.known[row] = Remembered.of(m.system.blank).copy()
        if m.notes is not None:
            m.notes[row, 0], m.notes[row, 1:] = 1.0, m.known[row].flat
