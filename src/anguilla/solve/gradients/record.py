"""A motion as sweeps need it: its states, loads, integrals of thrusters, and kernels that ask user-written loads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from anguilla.compiler.jit import interpreted
from anguilla.errors import DescriptionError
from anguilla.interact.kernels.friction import HELD
from anguilla.interact.kernels.table import CONTACT, KIND
from anguilla.linear.choice import DENSE
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import LoadTable, Model
from anguilla.model.user import between
from anguilla.results.blocks import Remembered
from anguilla.results.reactions import grasps, integrates, refuse_holding, refuse_relaxing, relaxes
from anguilla.results.states import Trajectory
from anguilla.solve.gradients.fading import can_fade
from anguilla.solve.gradients.holding import HOLD, Holding
from anguilla.solve.gradients.instants import integrals
from anguilla.solve.newton.closing import mount
from anguilla.solve.steps.easing import Easing, easing
from anguilla.solve.steps.schemes import Coefficients, Scheme, as_scheme

SYMMETRIC = 1e-9  # relative, of a mass matrix


@dataclass(frozen=True)
class Tape:
    """A motion with equal steps, all stored.

    Attributes:
        run: the motion.
        scheme: its integrator.
        dt: step [s].
        table: loads of all instants.
        states: Q, V, A (N + 1, n), LAM (N + 1, m); A the true accelerations.
        Y: (N + 1, f, 6) integrals of thrusters as each balance sees them; f = 0 if none has an integral gain.
        ease: the eased start, if it is one.
        hold: bristles of contacts whose friction holds.

    """

    run: Trajectory
    scheme: Coefficients
    dt: float
    table: LoadTable
    states: tuple[Floats, Floats, Floats, Floats]
    Y: Floats
    ease: Easing | None
    hold: Holding

    @property
    def system(self) -> Model:
        """The compiled robot."""
        return self.run.system

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.run.t) - 1

    def place(self, system: Model | None = None) -> tuple[Any, ...]:
        """First arguments of a kernel: the robot, or one of another design, and its loads at all instants."""
        if system is None:
            return self.system.tree, self.system.workspace, self.table.loads, self.table.column, self.table.table
        table = self.loads_of(system)
        return system.tree, system.workspace, table.loads, table.column, table.table

    def forget(self, system: Model) -> None:
        """Let contacts of the robot, or of one of another design, remember what they did before the motion."""
        if len(self.hold.held):
            memory, start = Remembered.of(system.blank), self.run.evaluations.memory
            memory.held[:] = 0.0 if start is None else start.held
            contacts = system.blank.frames.table[:, KIND] == CONTACT
            memory.state[contacts] = 0.0 if start is None else start.state[contacts]

    def loads_of(self, system: Model) -> LoadTable:
        """Loads of all instants on a robot of another design; the same if that differs in its tree alone."""
        return self.table if system.robot is self.system.robot else system.loads(self.run.t, self.run.inputs)

    @property
    def was_open(self) -> bool:
        """Whether loops were open where the start was given: it then moves with all that closes them."""
        if self.run.opened is None and self.run.status.counters.get("closed"):
            raise DescriptionError(
                "The loops of this motion were open where its start was given, which files do not keep: simulate it again, "
                "or start it at a closed shape, such as start=run.q[0]."
            )
        return self.run.opened is not None

    def closed_again(self, system: Model) -> Floats:
        """How far (n,) a robot of another design starts from this one, if the loops were open where its start was given."""
        given, begin = self.run.opened, self.states[0][0]
        assert given is not None
        change = between(system.tree, begin, mount(system, system.loads(self.run.t[0], self.run.inputs), given))
        change[system.blank.driven] = 0.0  # these are prescribed
        return change

    def has_symmetric_mass(self) -> bool:
        """Whether the mass matrix is symmetric; user-written loads may depend on accelerations as they like."""
        system = self.system
        loads = self.table.at(self.steps)
        mass = Evaluation(system, loads, *(x[-1] for x in self.states)).M
        mass = mass / np.outer(system.tree.scale, system.tree.scale)
        return bool(np.max(np.abs(mass - mass.T)) <= SYMMETRIC * np.max(np.abs(mass)))


def door(system: Model, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that evaluates the balance: compiled, or asking the user-written loads of a system."""
    if not system.user:
        return kernel
    return interpreted(kernel, {"residual": system.user.residual, "tangent": system.user.tangent})


def record(
    run: Trajectory, method: Scheme | str | None, what: str, *, holding: bool = False, fading: bool = False
) -> Tape:
    """Prepare a motion for a sweep; refuse what does not suit `what`.

    That is friction that holds, if it is not for `holding`, and viscoelastic rods, if it is not for `fading`.
    """
    from anguilla.solve.steps.dynamics import DEFAULT_METHOD

    scheme = as_scheme(DEFAULT_METHOD if method is None else method).coefficients
    steps = len(run.t) - 1
    _refuse_unfit(run, scheme, steps, what)
    if relaxes(run.system.blank):
        if not (fading and can_fade(run)):
            refuse_relaxing(run.system.blank, what)
        run.system.blank.relaxing.over[:] = np.inf  # whatever was computed there before
    if not (holding and len(run.system.tree.root) == 1 and run.system.linear == DENSE):
        refuse_holding(run.system.blank, what)
    system, dt = run.system, float(run.t[1] - run.t[0])
    own = run.integrated
    accelerations = run.a if own is None or len(own) != len(run.t) else own
    q, v, a, lam = (np.ascontiguousarray(x, dtype=np.float64) for x in (run.q, run.v, accelerations, run.multipliers))
    table = system.loads(run.t, run.inputs)
    count = len(table.loads.frames.table) if integrates(table.loads) else 0
    ease = easing(run, table, dt, scheme, (q, v, a), what)
    found = Tape(run, scheme, dt, table, (q, v, a, lam), np.zeros((steps + 1, count, 6)), ease, _holding(run))
    if count:
        door(system, integrals)(*found.place(), dt, *found.states, np.zeros(system.size + system.rows), found.Y)
    return found


def _holding(run: Trajectory) -> Holding:
    """Bristles after each state; none if no friction holds."""
    loads, n = run.system.blank, run.system.size
    frames, rows = len(loads.frames.table), len(loads.touches.held)
    held, grip = np.zeros((0, rows, 2, HELD)), np.zeros((0, frames, 3))
    if grasps(loads):
        memory = run.evaluations.remembered()
        held = np.stack([memory[k].held for k in range(len(run.t))])
        grip = np.stack([memory[k].state[:, 1, 3:] for k in range(len(run.t))])
    return Holding(
        held, grip, np.zeros((*held.shape[:3], 6)), np.zeros_like(grip), np.zeros((frames, 15)),
        np.zeros((frames + 2 * len(loads.touches.hits), HOLD)), np.zeros((2, n)),
    )  # fmt: skip


def _refuse_unfit(run: Trajectory, scheme: Coefficients, steps: int, what: str) -> None:
    counters = run.status.counters
    if steps < 1 or counters.get("steps") != steps or counters.get("substeps"):
        raise DescriptionError(
            f"{what} needs a motion with equal steps, all stored: every=1, no error=, no step cut (where things meet: try "
            "a smaller dt)."
        )
    if counters.get("events"):
        raise DescriptionError(
            f"{what} needs equal steps, but loads jump during this motion: "
            "simulate(..., events=[]) takes equal steps across the jumps."
        )
    if counters.get("snaps"):
        raise DescriptionError(
            f"{what} needs equal steps, but a tendon snaps taut during this motion: give it a compliance."
        )
    if counters.get("settled"):
        raise DescriptionError(
            f"{what} needs a motion with constraints to start unsmoothed: simulate(..., smooth_start=False)."
        )
    if scheme.mid < 1.0:
        raise DescriptionError(f"{what} supports Newmark, HHT and GeneralisedAlpha, not Midpoint.")
    if np.any(run.system.blank.cables.friction):
        raise DescriptionError(
            f"{what} does not support tendons with friction: their tensions depend on the step before. Set friction=0."
        )
