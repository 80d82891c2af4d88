"""The terms of the equations of motion at any state, one function each.

With balls (spherical and free joints) rates are angular velocities, so these are the equations of motion in quasi-velocities:

    M(q) a + C(q, v) v + elastic(q) + damping(q, v) = gravity(q) + L(q) u + other loads + J^T lambda.

Every term is exact: it comes from the residual or its tangent, never from differences. Small changes of q are taken as
`q (+) dq`, rotations of balls in their own axes.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe import Robot
from anguilla.describe.ports import acting
from anguilla.errors import DescriptionError, SolverError, as_named, as_number
from anguilla.interact.kernels.table import GRAVITY, INPUT, KIND, LENGTH, MOTION, TWIST, Loads
from anguilla.lie import hat3
from anguilla.linear.choice import DENSE
from anguilla.mechanics.tree import Floats, Tree, Workspace
from anguilla.model.door import model_of
from anguilla.model.evaluate import residual, tangent
from anguilla.model.evaluation import ACCELERATION, RATE, at_rest
from anguilla.model.model import Inputs, Model
from anguilla.results.states import Equilibrium
from anguilla.solve.newton.closing import CLOSED, redundant_rows
from anguilla.solve.steps.starting import consistent

__all__ = [
    "Accelerations",
    "actuation_matrix",
    "bias_forces",
    "coriolis_matrix",
    "damping",
    "forward_dynamics",
    "gravity_forces",
    "mass_matrix",
    "stiffness",
]

HEAVY = 1e30  # [1/s^2] so large that nothing but the mass is left of the tangent
UNITS = 1e8  # of an input, in which the residual is linear: so many that subtracting the rest costs no digits

TAUT = 1e-3  # [m] by which the input of a tendon is shifted to say that it is taut, or slack: only its rates matter

State = ArrayLike | Equilibrium


class Accelerations(NamedTuple):
    """What forward dynamics finds.

    Attributes:
        a: (n,) accelerations.
        multipliers: (m,) multipliers of the constraints.
        v: (n,) rates: those given, or the nearest ones that keep the constraints.

    """

    a: Floats
    multipliers: Floats
    v: Floats


class _Inertia(NamedTuple):
    """A robot stripped of everything but its masses: no stiffness, no load, no constraint, no gravity."""

    tree: Tree
    loads: Loads

    def force(self, space: Workspace, q: Floats, v: Floats, a: Floats, gravity: ArrayLike = 0.0) -> Floats:
        """M a + C v - gravity (n,), computed in some workspace of the robot."""
        out, row = np.zeros(len(q)), np.zeros(len(self.loads.row))
        row[GRAVITY : GRAVITY + 3] = gravity
        residual(self.tree, space, self.loads._replace(row=row), q, v, a, np.zeros(0), out)
        return out

    def tangents(self, space: Workspace, q: Floats, v: Floats, *weights: tuple[float, float]) -> list[Floats]:
        """Tangents (n, n) of that force at zero acceleration, for weights (alpha, beta)."""
        self.force(space, q, v, 0.0 * v)
        found = []
        for alpha, beta in weights:
            out = np.zeros((len(q), len(q)))
            space.increment[:] = 0.0
            tangent(self.tree, space, self.loads, float(alpha), float(beta), np.zeros(0), out)
            found.append(out)
        return found


_STRIPPED: WeakKeyDictionary[Model, _Inertia] = WeakKeyDictionary()


def _inertia(system: Model) -> _Inertia:
    """The masses of a system, on the same grid of nodes."""
    if system not in _STRIPPED:
        nothing = Model(system.robot.stripped()).blank
        zeros = {name: 0.0 * getattr(system.tree, name) for name in ("stiffness", "friction", "preload")}
        for array in zeros.values():
            array.setflags(write=False)  # the same type as before: nothing is compiled again
        tree = system.tree._replace(**zeros)
        loads = nothing._replace(row=np.zeros(len(nothing.row)), driven=np.zeros(0, np.int64))
        _STRIPPED[system] = _Inertia(tree, loads)
    return _STRIPPED[system]


def spins(system: Model, v: Floats) -> Floats:
    """W(v) (n, n): the cross product with the angular velocity on the coordinates of each ball, else zero."""
    out = np.zeros((system.size, system.size))
    for k in system.tree.ball[:, 0]:
        out[k : k + 3, k : k + 3] = hat3(v[k : k + 3])
    return out


def _state(robot: Robot | Model, q: State, v: ArrayLike | None) -> tuple[Model, Floats, Floats]:
    system = model_of(robot)
    given = q.q if isinstance(q, Equilibrium) else q
    return system, system.vector(given, "q"), system.vector(v, "v")


def _multipliers(system: Model, q: State, multipliers: ArrayLike | None) -> Floats:
    if multipliers is None and isinstance(q, Equilibrium):
        multipliers = q.multipliers
    lam = np.zeros(system.rows) if multipliers is None else np.array(multipliers, dtype=np.float64)
    if lam.shape != (system.rows,):
        raise DescriptionError(
            f"multipliers must have the shape ({system.rows},), one per constraint; got {lam.shape}. "
            "(Pass the system of the equilibrium, equilibrium.system, if redundant constraints were left out.)"
        )
    return lam


@public
def mass_matrix(
    robot: Robot | Model, q: State, v: ArrayLike | None = None, t: float = 0.0, inputs: Inputs | None = None
) -> Floats:
    """Mass matrix M = dR/da (n, n), symmetric; added mass of loads included.

    Args:
        robot: a Robot, or a Model compiled from it, which is quicker when asked often.
        q: (n,) coordinates, or an Equilibrium.
        v: (n,) rates; zero if not given.
        t: time [s] at which loads are taken.
        inputs: inputs of the actuators by name; absent ones are zero.

    """
    system, q, v = _state(robot, q, v)
    return system.evaluate(q, v, t=t, inputs=inputs).M


@public
def bias_forces(
    robot: Robot | Model, q: State, v: ArrayLike | None = None, t: float = 0.0, inputs: Inputs | None = None
) -> Floats:
    """Coriolis, centrifugal and gyroscopic forces C(q, v) v (n,): what it takes to hold zero accelerations.

    Of the robot's own masses: what loads do with velocity (drag, added mass) stays in the residual.
    The arguments are those of `mass_matrix`; t and inputs do not matter.
    """
    system, q, v = _state(robot, q, v)
    return _inertia(system).force(system.workspace, q, v, 0.0 * v)


@public
def coriolis_matrix(
    robot: Robot | Model, q: State, v: ArrayLike | None = None, t: float = 0.0, inputs: Inputs | None = None
) -> Floats:
    """Matrix C (n, n) of Christoffel symbols: C v are the bias forces, and dM/dt - 2 C is skew.

    The bias b(v) is quadratic in v. The Christoffel symbols of coordinates are symmetric in their two lower places, so C is
    half of db/dv, which the tangent gives exactly. Balls have quasi-velocities, whose connection has the torsion of the
    bracket [v, e_j] = W(v) e_j: the symmetric part is the same, and half of M W(v) is added.
    The arguments are those of `mass_matrix`; t and inputs do not matter.
    """
    system, q, v = _state(robot, q, v)
    flat, rates, masses = _inertia(system).tangents(
        system.workspace, q, v, (0.0, 0.0), (RATE, 0.0), (0.0, ACCELERATION)
    )
    mass = (masses - flat) / ACCELERATION
    return 0.5 * (rates - flat) / RATE + 0.5 * mass @ spins(system, v)


@public
def gravity_forces(
    robot: Robot | Model, q: State, v: ArrayLike | None = None, t: float = 0.0, inputs: Inputs | None = None
) -> Floats:
    """Generalised forces of gravity (n,), positive where gravity pushes the coordinate up.

    The arguments are those of `mass_matrix`; v and inputs do not matter.
    """
    system, q, v = _state(robot, q, v)
    with acting(system.robot.name, as_named(inputs)):
        gravity = system.robot.gravity_values([as_number(t, "t", "s")])[0]
    return -_inertia(system).force(system.workspace, q, 0.0 * v, 0.0 * v, gravity)


@public
def stiffness(
    robot: Robot | Model, q: State, v: ArrayLike | None = None, t: float = 0.0, inputs: Inputs | None = None, *,
    multipliers: ArrayLike | None = None,
) -> Floats:  # fmt: skip
    """Tangent stiffness dR/dq (n, n) at zero acceleration: elastic, of loads, and of the constraints' forces.

    The arguments are those of `mass_matrix`; `multipliers` (m,) are the forces of the constraints: those of an
    Equilibrium given as q, else zero.
    """
    system, at, v = _state(robot, q, v)
    return system.tangent(at, v, t=t, inputs=inputs, multipliers=_multipliers(system, q, multipliers))


@public
def damping(
    robot: Robot | Model, q: State, v: ArrayLike | None = None, t: float = 0.0, inputs: Inputs | None = None
) -> Floats:
    """dR/dv (n, n): damping of materials, joints and loads; of a moving robot also its gyroscopic terms.

    The arguments are those of `mass_matrix`.
    """
    system, q, v = _state(robot, q, v)
    return system.evaluate(q, v, t=t, inputs=inputs).C


@public
def actuation_matrix(
    robot: Robot | Model, q: State, v: ArrayLike | None = None, t: float = 0.0, inputs: Inputs | None = None
) -> Floats:
    """L(q) (n, actuators): generalised force per unit of each input.

    A tendon whose input is its length has its tension as input here. The arguments are those of `mass_matrix`; v does
    not matter.
    """
    system, q, v = _state(robot, q, v)
    loads = system.loads(t, inputs).loads
    columns = []
    for k, row in enumerate(loads.constraints.input_row):
        ends = []
        for size in (0.0, UNITS):
            lam = np.zeros(system.rows)
            if row < 0:
                loads.row[loads.at[INPUT] + k] = size
            else:
                # a slack tendon transmits nothing: its length is set so that it is taut
                loads.row[loads.at[INPUT] + k] = -UNITS
                lam[row] = size
                at_rest(system, loads, q, lam)
            ends.append(at_rest(system, loads, q, lam).residual)
            loads.row[loads.at[INPUT] + k] = 0.0
        columns.append((ends[0] - ends[1]) / UNITS)
    return np.array(columns).reshape(-1, system.size).T.copy()


@public
def forward_dynamics(
    robot: Robot | Model, q: State, v: ArrayLike | None = None, t: float = 0.0, inputs: Inputs | None = None
) -> Accelerations:
    """Accelerations that balance a state, and the multipliers of its constraints.

    With loops, prescribed motions or twist constraints q must satisfy them (`statics` and `simulate` close a robot); v is
    corrected to the nearest rates that do. Multipliers of constraints that follow from others are zero.
    The arguments are those of `mass_matrix`.

    Returns:
        Accelerations: a (n,), multipliers (m,), v (n,).

    """
    system, q, v = _state(robot, q, v)
    t = as_number(t, "t", "s")
    if not system.is_plain:
        loads = system.loads(t, inputs).loads
        gap = system.evaluate(q, v, t=t, inputs=inputs).constraints
        c = loads.constraints
        length = c.table[:, KIND] == LENGTH
        soft = length & (c.value > 0.0)
        held = (c.table[:, KIND] != TWIST) & ~soft & ~(length & (c.slack == 1))  # (row of a slack tendon: its tension)
        at = loads.at[MOTION]
        shift = q[loads.driven] - loads.row[at : at + 3 * len(loads.driven) : 3]
        miss = float(np.max(np.abs(np.concatenate([gap[held], shift])), initial=0.0))
        if miss > 1e3 * CLOSED:
            raise DescriptionError(
                f"q violates the constraints of {system.robot.name!r} by {miss:.2g} (m or rad): take it from an "
                "equilibrium or a motion of the robot."
            )
        state = system, as_named(inputs), t, q, v, 0.0
        try:
            rates, a, lam = consistent(*state)
        except SolverError:
            rows = redundant_rows(system, system.loads(t, inputs), q)
            if not len(rows):
                raise
            rates, a, lam = consistent(*state, redundant=rows)
        return Accelerations(a, lam, rates)
    if system.linear != DENSE:
        return Accelerations(_of_large(system, q, v, t, inputs), np.zeros(0), v)
    mass = mass_matrix(system, q, v, t, inputs)
    scale = np.sqrt(np.maximum(np.abs(np.diag(mass)), 1e-300))  # of unit mass: slender rods have very light coordinates
    mass = mass / np.outer(scale, scale)
    force = system.residual(q, v, t=t, inputs=inputs)
    pivots = np.abs(np.linalg.eigvalsh(0.5 * (mass + mass.T)))
    if np.min(pivots, initial=1.0) < 1e-15 * np.max(pivots, initial=1.0):
        raise _massless(system)
    return Accelerations(-np.linalg.solve(mass, force / scale) / scale, np.zeros(0), v)


def _massless(system: Model) -> SolverError:
    return SolverError(
        f"The mass matrix of {system.robot.name!r} is singular: some coordinate moves no mass.",
        advice="Use fewer modes, more intervals, or a section with mass.",
    )


def _of_large(system: Model, q: Floats, v: Floats, t: float, inputs: Inputs | None) -> Floats:
    """Accelerations (n,) of an open robot in blocks, without its mass matrix."""
    here = system.evaluate(q, v, t=t, inputs=inputs)
    try:
        a = -HEAVY * here.operator(0.0, HEAVY).solve(here.residual)
    except np.linalg.LinAlgError as error:
        raise _massless(system) from error
    if not np.isfinite(a).all():
        raise _massless(system)
    return a
