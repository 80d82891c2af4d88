"""The equations of motion about one state: what a robot may do there, and its exact matrices.

Small changes of the state are `q (+) place y` and `v + rate w`. For an open robot place and rate are the identity; prescribed
coordinates are left out; with loops their columns span what the constraints leave free, and twist constraints take
directions from the rates alone. At a state that balances with accelerations a and multipliers lambda,

    M da + C dv + K dq = B du + forces of the constraints,

with K, C, M = dR/dq, dR/dv, dR/da at that state, lambda included: the second variation of the Lagrangian. A ball whose
child turns with w has d(dq)/dt = dv - w x dq. Friction that holds is a spring along the surface, a part of K.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe import Robot
from anguilla.describe.volumes import refuse_volumes
from anguilla.errors import DescriptionError, SolverError, as_named, as_number, refuse
from anguilla.interact.kernels.friction import ROLLS, RUBS, WHERE
from anguilla.interact.kernels.table import CONTACT, DT, INPUT, KIND, TWIST, Loads
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.evaluation import Evaluation
from anguilla.model.model import Inputs, Model
from anguilla.model.slopes import balance_slope, input_slopes, named
from anguilla.results.reactions import evaluate, grasps, straighten
from anguilla.results.states import Equilibrium, Status
from anguilla.solve.modes.lagrangian import UNITS, forward_dynamics
from anguilla.solve.newton.closing import close
from anguilla.solve.newton.gaps import RANK
from anguilla.solve.statics.statics import statics
from anguilla.solve.steps.motion import recall

__all__ = [
    "AT_REST",
    "At",
    "Local",
    "actuator_slopes",
    "free_directions",
    "grip",
    "input_forces",
    "local",
    "localise",
    "reference",
]

At = Equilibrium | tuple[ArrayLike, ArrayLike] | ArrayLike | None

AT_REST = 1e-6  # [rad/s, rad/s^2] a robot that moves less is at rest
LARGEST = 3000  # coordinates of a robot whose matrices are made
HELD = 1.0  # [s] any step but zero: twist constraints hold
WITHIN = 1.0 - 1e-6  # of a bristle: what rests at Coulomb's limit counts as held


@dataclass(frozen=True)
class Local:
    """The equations of motion linearised at a state, and the directions in which it may change.

    Attributes:
        result: the state, as a result of one instant.
        v, a: (n,) its rates and accelerations.
        K, C, M: (n, n) dR/dq, dR/dv, dR/da, soft constraints (elastic tendons) included.
        B: (n, k) generalised force per unit of each input.
        inputs: names of the inputs (k,).
        held: inputs that are held, by name, each with the reason.
        column: (n, h) dR/dlambda of the hard constraints.
        by_place, by_rate: (h, n) their derivatives with respect to q and to v.
        place, rate: (n, f), (n, g) bases of the changes of q and v that all constraints allow.
        place_inverse, rate_inverse: (f, n), (g, n) their left inverses.

    """

    result: Equilibrium
    v: Floats
    a: Floats
    K: Floats
    C: Floats
    M: Floats
    B: Floats
    inputs: list[str]
    held: dict[str, str]
    column: Floats
    by_place: Floats
    by_rate: Floats
    place: Floats
    rate: Floats
    place_inverse: Floats
    rate_inverse: Floats

    @property
    def system(self) -> Model:
        """The compiled robot."""
        return self.result.system

    @property
    def q(self) -> Floats:
        """Coordinates (n,)."""
        return self.result.q

    @property
    def is_open(self) -> bool:
        """Whether no constraint couples coordinates: bases are columns of the identity."""
        return not len(self.column.T)


def _default(robot: Robot | Model, inputs: Inputs | None, t: float) -> Equilibrium:
    """The equilibrium that `statics` finds; of a floating robot, which has many, its rest shape if that balances."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The equilibrium of .* is (not unique|unstable)")
            return statics(robot, inputs=inputs, t=t)
    except SolverError:
        found, _, a = reference(robot, np.zeros(model_of(robot).size), inputs, t)
        if np.linalg.norm(a * found.system.tree.scale) > AT_REST:
            raise
        return found


def reference(
    robot: Robot | Model, at: At, inputs: Inputs | None = None, t: float = 0.0
) -> tuple[Equilibrium, Floats, Floats]:
    """The state meant by `at`, as a result of one instant, with its rates and accelerations (those that balance it)."""
    for each in (robot, at.robot if isinstance(at, Equilibrium) else None):
        if isinstance(each, Robot):
            refuse_volumes(each.volumes, each.name)
    if at is None:
        at, inputs = _default(robot, inputs, t), None
    if isinstance(at, Equilibrium):
        if inputs is not None:
            raise DescriptionError("inputs are those of the equilibrium given as `at`; leave them out.")
        if robot not in (at.robot, at.system, at.system.robot) and at.robot is not getattr(robot, "source", None):
            raise DescriptionError(f"at is an equilibrium of another robot, {at.robot.name!r}.")
        zero = np.zeros(at.system.size)
        return at, zero, zero
    if isinstance(at, tuple) and len(at) != 2:
        raise refuse("at", "an Equilibrium, coordinates q, or a pair (q, v)", at)
    system = model_of(robot)
    first, second = at if isinstance(at, tuple) else (at, None)
    q, v = system.vector(first, "q"), system.vector(second, "v")
    t = as_number(t, "t", "s")
    if not system.is_plain:
        system, q = close(system, as_named(inputs), t, q)
    a, lam, v = forward_dynamics(system, q, v, t, inputs)
    states = np.array([t]), q[None], v[None], a[None], lam[None]
    return Equilibrium(system.source, system, Status(True, "given state"), *states, as_named(inputs)), v, a


def local(robot: Robot | Model, at: At = None, *, inputs: Inputs | None = None, t: float = 0.0) -> Local:
    """Linearise the equations of motion at a state (see `linearise` for the arguments)."""
    return localise(*reference(robot, at, inputs, t))


def localise(result: Equilibrium, v: Floats, a: Floats) -> Local:
    """Linearise the equations of motion at a state that balances."""
    system, n, lam = result.system, result.system.size, result.multipliers
    if n > LARGEST:
        raise DescriptionError(
            f"{system.robot.name!r} has {n} coordinates: full linear models and all modes are computed up to {LARGEST}; "
            "ask modes for a few (count=10)."
        )
    loads = system.loads(result.t, result.inputs).loads
    grip(result)
    loads.row[DT] = HELD
    here = Evaluation(system, loads, result.q, v, a, lam)
    flat, steep = here.flat, here.by_rate
    K, C, M = here.K, here.C, here.M
    if grasps(loads):  # bristles that hold bend by DT v, so that their part of C grows with DT: it is a stiffness
        loads.row[DT] = 2.0 * HELD
        bristles = (Evaluation(system, loads, result.q, v, a, lam).C - C) / HELD
        K, C = K + bristles, C - HELD * bristles
        loads.row[DT] = HELD
    column, J, J_rate = flat[:n, n:], flat[n:, :n], steep[n:]
    diagonal = np.diag(flat)[n:]
    B = _actuation(system, loads, result.q, v, a, lam)
    taut = loads.constraints.slack == 0
    inputs, columns, held = [], [], {}
    for k, (name, row) in enumerate(zip(system.robot.actuators, loads.constraints.input_row, strict=True)):
        if row >= 0 and diagonal[row] == 0.0:
            held[name] = f"the input {name!r} is the length of a tendon that does not stretch."
            continue
        if row >= 0 and taut[row]:  # length - input - compliance x tension = 0
            columns.append(-column[:, row] / diagonal[row])
        else:
            columns.append(B[:, k])
        inputs.append(name)
    slopes = input_slopes(system, np.array([result.t]), result.inputs)
    held |= named(slopes)
    for slope in slopes:
        if slope.name not in held:
            columns.append(-balance_slope(system, loads, slope.rows[0], (result.q, v, a, lam))[:n])
            inputs.append(slope.name)
    soft, hard = np.flatnonzero(diagonal != 0.0), np.flatnonzero(diagonal == 0.0)
    K = K - (column[:, soft] / diagonal[soft]) @ J[soft]
    twist = loads.constraints.table[hard, KIND] == TWIST
    if len(hard) and np.linalg.norm(np.concatenate([v, a]) * np.tile(system.tree.scale, 2)) > AT_REST:
        raise DescriptionError(
            f"{system.robot.name!r} has constraints: a linear model needs it at rest in equilibrium, not moving."
        )
    free = np.setdiff1d(np.arange(n), loads.driven)
    place, place_inverse = free_directions(J[hard][~twist], free, system.tree.scale)
    rate, rate_inverse = free_directions(np.where(twist[:, None], J_rate[hard], J[hard]), free, system.tree.scale)
    forces = np.array(columns).reshape(-1, n).T
    bases = place, rate, place_inverse, rate_inverse
    return Local(result, v, a, K, C, M, forces, inputs, held, column[:, hard], J[hard], J_rate[hard], *bases)


def grip(result: Equilibrium) -> None:
    """Let contacts remember what they do at a state."""
    loads = result.system.blank
    straighten(loads)
    if grasps(loads) and recall(result.system, result) is not None:
        loads.frames.state[loads.frames.table[:, KIND] == CONTACT, 1, 3:] *= WITHIN
        loads.touches.held[..., RUBS:WHERE] *= WITHIN
        loads.touches.held[..., ROLLS:] *= WITHIN


@public
def input_forces(robot: Robot | Model, q: Floats, v: Floats, t: float, inputs: Inputs) -> Floats:
    """Generalised force (n, k) per unit of every input, in the order of `robot.inputs`; one that is no force is refused."""
    system = model_of(robot)
    loads = system.loads(t, inputs).loads
    state = q, v, np.zeros(system.size), np.zeros(system.rows)
    slopes = input_slopes(system, np.array([t]), inputs)
    for reason in named(slopes).values():
        raise DescriptionError(f"a controller that finds forces needs inputs that are forces: {reason}")
    for name, row in zip(system.robot.actuators, loads.constraints.input_row, strict=True):
        if row >= 0:
            raise DescriptionError(
                f"a controller that finds forces needs inputs that are forces: {name!r} is a length."
            )
    columns = [-balance_slope(system, loads, slope.rows[0], state)[: system.size] for slope in slopes]
    return np.hstack([_actuation(system, loads, *state), np.array(columns).reshape(-1, system.size).T])


def actuator_slopes(system: Model, loads: Loads, q: Floats, v: Floats, a: Floats, lam: Floats) -> Floats:
    """d(R, phi)/dinput (n + m, actuators) in a state."""
    out = np.zeros((system.size + system.rows, len(loads.constraints.input_row)))
    out[: system.size] = -_actuation(system, loads, q, v, a, lam)
    for k, row in enumerate(loads.constraints.input_row):
        if row >= 0:  # length - input - compliance x tension = 0, unless it is slack
            out[system.size + row, k] = -1.0 if loads.constraints.slack[row] == 0 else 0.0
    return out


def _actuation(system: Model, loads: Loads, q: Floats, v: Floats, a: Floats, lam: Floats) -> Floats:
    """-dR/dinput (n, actuators): R is linear in the tensions; a tendon of given length has none."""
    base = evaluate(system, loads, q, v, a, lam)[: system.size]
    columns = np.zeros((system.size, len(loads.constraints.input_row)))
    for k, row in enumerate(loads.constraints.input_row):
        if row < 0:
            at = int(loads.at[INPUT]) + k
            kept = loads.row[at]
            loads.row[at] = kept + UNITS
            columns[:, k] = (base - evaluate(system, loads, q, v, a, lam)[: system.size]) / UNITS
            loads.row[at] = kept
    evaluate(system, loads, q, v, a, lam)
    return columns


def free_directions(J: Floats, free: np.ndarray, scale: Floats) -> tuple[Floats, Floats]:
    """Basis (n, f) of the null space of J (h, n) among the free coordinates, and its left inverse (f, n).

    Orthonormal in units of angles and relative displacements; without constraints, columns of the identity.
    """
    eye = np.eye(len(scale))[:, free]
    if not len(J):
        return eye, eye.T
    _, s, vt = np.linalg.svd(J[:, free] / scale[free], full_matrices=True)
    rank = int(np.sum(s > RANK * max(float(s[0]), 1e-300)))
    null = eye @ vt[rank:].T
    return null / scale[:, None], null.T * scale
