"""Linear models of a robot about a state (`local.py`): continuous, held, or the linearised step of our own integrators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag, expm

from anguilla._doors import public
from anguilla._words import numbered
from anguilla.describe import Frame, Robot
from anguilla.errors import DescriptionError, SolverError, as_array, as_positive, refuse
from anguilla.lie import dexp3, exp3
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Inputs, Model
from anguilla.model.user import between, move
from anguilla.results.reactions import refuse_relaxing
from anguilla.results.states import Equilibrium, Status
from anguilla.solve.modes.lagrangian import spins
from anguilla.solve.modes.local import At, Local, localise, reference
from anguilla.solve.newton.dense import least
from anguilla.solve.steps.dynamics import simulate
from anguilla.solve.steps.schemes import Coefficients, Scheme, as_scheme, ended, factors, unmoved

__all__ = ["LinearModel", "linearise"]

Outputs = Frame | str | Callable[[Floats, Floats], ArrayLike] | Sequence["Frame | str"] | None


@public
@dataclass(frozen=True)
class LinearModel:
    """A linear model about a state: x' = drift + A x + B u, y = C x + D u; x(k+1) instead of x' when it is discrete.

    x and u are changes from the reference, y changes of the outputs.

    Attributes:
        A, B, C, D: (s, s), (s, k), (o, s), (o, k) matrices.
        drift: (s,) rate, or change in one step, of the reference itself; zero at an equilibrium.
        states, inputs, outputs: names.
        dt: step [s], or None for a continuous model.
        local: the state it is about; changes of q are ``local.place @ x[:f]``.

    """

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    drift: Floats
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    dt: float | None
    local: Local

    @property
    def held(self) -> dict[str, str]:
        """Inputs of the robot that are held in this model, by name, each with the reason."""
        return dict(self.local.held)

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of A (s,): [1/s] of a continuous model, factors of one step of a discrete one."""
        return np.linalg.eigvals(self.A)

    def discrete(self, dt: float) -> LinearModel:
        """The exact discrete model of a continuous one whose inputs are held over steps of dt [s]."""
        if self.dt is not None:
            raise DescriptionError("The model is discrete already.")
        dt = as_positive(dt, "dt", "s")
        s, k = self.B.shape
        whole = np.zeros((s + k + 1, s + k + 1))
        whole[:s] = dt * np.column_stack([self.A, self.B, self.drift])
        flow = expm(whole)
        return replace(self, A=flow[:s, :s], B=flow[:s, s : s + k], drift=flow[:s, -1], dt=dt)

    def __repr__(self) -> str:
        kind = "continuous" if self.dt is None else f"dt = {self.dt:g} s"
        sizes = f"{len(self.states)} states, {numbered(len(self.inputs), 'input')}, {len(self.outputs)} outputs"
        held = f", held: {', '.join(self.held)}" if self.held else ""
        return f"<linear model of {self.local.system.robot.name!r}: {sizes}, {kind}{held}>"


def _first_order(at: Local) -> tuple[Floats, Floats, Floats]:
    """(A, B, drift) of x = (y, w)."""
    P, V, left, right = at.place, at.rate, at.place_inverse, at.rate_inverse
    mass = V.T @ at.M @ V
    try:
        gain = -np.linalg.solve(mass, V.T)
    except np.linalg.LinAlgError:
        gain = np.full(V.T.shape, np.inf)
    if not np.all(np.isfinite(gain)):
        raise SolverError(
            f"The mass matrix of {at.system.robot.name!r} is singular: some coordinate moves no mass.",
            advice="Use fewer modes, more intervals, or a section with mass.",
        )
    top = np.hstack([-left @ spins(at.system, at.v) @ P, left @ V])
    A = np.vstack([top, gain @ np.hstack([at.K @ P, at.C @ V])])
    B = np.vstack([np.zeros((P.shape[1], at.B.shape[1])), -gain @ at.B])
    return A, B, np.concatenate([left @ at.v, right @ at.a])


def _names(at: Local, blocks: Sequence[str]) -> list[str]:
    labels = at.system.robot.coordinates()
    free = [int(np.argmax(column)) for column in at.place.T] if at.is_open else []
    places = [labels[k] for k in free] if at.is_open else [f"free[{k}]" for k in range(at.place.shape[1])]
    rates = places if at.is_open else [f"free[{k}]" for k in range(at.rate.shape[1])]
    return [(f"{block}{name}") for block in blocks for name in (rates if block else places)]


def _outputs(at: Local, outputs: Outputs, width: int) -> tuple[Floats, list[str]]:
    """C (o, states) and the names of the outputs."""
    f, g = at.place.shape[1], at.rate.shape[1]
    pad = lambda rows: np.hstack([rows, np.zeros((len(rows), width - rows.shape[1]))])
    if callable(outputs):
        return pad(_differences(at, outputs)), []
    rows, names, labels = [np.zeros((0, f + g))], [], at.system.robot.coordinates()
    for output in [outputs] if isinstance(outputs, (Frame, str)) else list(outputs or []):
        if isinstance(output, Frame):
            rotation, jacobian = at.result.pose(output)[:3, :3], at.result.jacobian(output)
            rows.append(np.hstack([rotation @ jacobian[3:] @ at.place, np.zeros((3, g))]))
            names += [f"{output.label}.{axis}" for axis in "xyz"]
        elif output in labels:
            rows.append(np.hstack([at.place[[labels.index(output)]], np.zeros((1, g))]))
            names.append(output)
        else:
            raise refuse("outputs", "frames, labels of coordinates, or a function of (q, v)", output)
    return pad(np.vstack(rows)), names


def _differences(at: Local, function: Callable[[Floats, Floats], ArrayLike]) -> Floats:
    """Derivative of a function of (q, v) along the bases, by central differences of fourth order."""
    scale, tree = at.system.tree.scale, at.system.tree
    columns = []

    def value(q: Floats, v: Floats) -> Floats:
        return np.atleast_1d(as_array(function(q.copy(), v.copy()), "outputs", "finite numbers from (q, v)"))

    for which, basis in enumerate((at.place, at.rate)):
        for direction in basis.T:
            h = 1e-3 / max(float(np.linalg.norm(direction * scale)), 1e-300)
            steps = [s * h * direction for s in (-2, -1, 1, 2)]
            states = [(move(tree, at.q, x), at.v) if which == 0 else (at.q, at.v + x) for x in steps]
            y = [value(*state) for state in states]
            columns.append((8.0 * (y[2] - y[1]) - (y[3] - y[0])) / (12.0 * h))
    return np.array(columns).T


@public
def linearise(
    robot: Robot | Model, at: At = None, *, inputs: Inputs | None = None, outputs: Outputs = None, t: float = 0.0,
    dt: float | None = None, method: Scheme | str | None = None,
) -> LinearModel:  # fmt: skip
    """Linear model of a robot about a state.

    Args:
        robot: the robot, or its model.
        at: an Equilibrium, coordinates q (n,), or (q, v); the equilibrium under `inputs` if not given. A robot with loops
            or twist constraints must be at rest in equilibrium.
        inputs: inputs at the reference; those of the Equilibrium when `at` is one.
        outputs: a frame or several (their positions, world axes [m]), labels of coordinates, or a function of (q, v),
            which is differentiated by differences; the states if not given.
        t: time [s] at which time-dependent loads are taken, unless `at` is an Equilibrium.
        dt: step [s] of a discrete model; without `method` the exact one for inputs held over each step.
        method: an integrator such as Newmark(): the model is then the linearised step of `simulate`. Its states are those
            that the integrator remembers: (q, v) and its accelerations; its inputs act at the end of the step.

    Returns:
        A LinearModel. Its inputs are those of the robot, actuators first, except those that prescribe a motion or the length
        of an inextensible tendon: these are held (`held` says why).

    """
    if method is not None and dt is None:
        raise DescriptionError("method makes a discrete model: give its step dt [s] too.")
    refuse_relaxing(model_of(robot).blank, "linearise")
    state = reference(robot, at, inputs, t)
    here = localise(*state)
    if method is not None:
        A, B, drift, blocks = _step(robot, here, as_positive(dt, "dt", "s"), as_scheme(method).coefficients)
        names = _names(here, ("", "rate of ", "acceleration of ", "true acceleration of ")[:blocks])
    else:
        A, B, drift = _first_order(here)
        names = _names(here, ("", "rate of "))
    C, labels = (np.eye(len(A)), names) if outputs is None else _outputs(here, outputs, len(A))
    labels = labels or [f"output[{k}]" for k in range(len(C))]
    D = np.zeros((len(C), B.shape[1]))
    model = LinearModel(A, B, C, D, drift, names, here.inputs, labels, dt if method is not None else None, here)
    return model if dt is None or method is not None else model.discrete(dt)


def _turns(system: Model, q: Floats, d: Floats) -> tuple[Floats, Floats]:
    """(P, T): q (+) d changes by P dq + T dd when q and d change."""
    P, T = np.eye(system.size), np.eye(system.size)
    for k in system.tree.ball[:, 0]:
        block = slice(k, k + 3)
        P[block, block], T[block, block] = exp3(-d[block]), dexp3(d[block], side="right")
    return P, T


def _step(robot: Robot | Model, start: Local, dt: float, scheme: Coefficients) -> tuple[Floats, Floats, Floats, int]:
    """(A, B, drift, blocks) of one step of an integrator (stepping.py), x = (y, w, a, true a) in `blocks` blocks."""
    n, system = start.system.size, start.system
    end, d = start, np.zeros(n)
    if np.linalg.norm((dt * start.v + 0.5 * dt**2 * start.a) * system.tree.scale) > 1e-12:
        end, d = _end_of_step(robot, start, dt, scheme)
    there = StepEnd(end.K, end.C, end.M, end.B, end.column, end.by_place, end.by_rate)
    states = step_change(system, there, start.q, d, dt, scheme)
    blocks = len(states)
    left = block_diag(end.place_inverse, *[end.rate_inverse] * (blocks - 1))
    right = block_diag(start.place, *[start.rate] * (blocks - 1))
    whole = left @ np.vstack(states)
    change = d, end.v - start.v, end.a - start.a, end.a - start.a
    drift = left @ np.concatenate(change[:blocks])
    return whole[:, : blocks * n] @ right, whole[:, 4 * n :], drift, blocks


class StepEnd(NamedTuple):
    """Matrices where a step is balanced, see `Local`."""

    K: Floats
    C: Floats
    M: Floats
    B: Floats
    column: Floats
    by_place: Floats
    by_rate: Floats


def remembered(scheme: Coefficients) -> int:
    """How many of (q, v, a, true a) a scheme takes from step to step."""
    return 2 if scheme.mid < 1.0 else (3 if scheme.am == 0.0 and scheme.af == 0.0 else 4)


def step_change(system: Model, end: StepEnd, q0: Floats, d: Floats, dt: float, scheme: Coefficients) -> list[Floats]:
    """Changes of (q, v, a, true a) after a step, those that the scheme takes on: (n, 4 n + k) each.

    They are over the changes of (q, v, a, true a) before it, and of the inputs of the step. The step goes from q0 by d.
    """
    n, k = system.size, end.B.shape[1]
    # rows over the changes of (q, v, a, A) at the start and of the inputs, then of the increment d
    wide = np.eye(4 * n + k)
    q, v, a, true = (np.hstack([wide[i * n : (i + 1) * n], np.zeros((n, n))]) for i in range(4))
    inc = np.hstack([np.zeros((n, 4 * n + k)), np.eye(n)])
    P, T = _turns(system, q0, d)
    q1, (v1, a1, true1) = P @ q + T @ inc, ended(scheme, dt, inc, v, a, true)
    (cq, cv, ca), (v0, a0) = factors(scheme, dt), unmoved(scheme, dt, v, a, true)
    part, turned = _turns(system, q0, cq * d)
    qe, ve, ae = part @ q + cq * turned @ inc, v0 + cv * inc, a0 + ca * inc
    balance = end.K @ qe + end.C @ ve + end.M @ ae
    balance[:, 4 * n : 4 * n + k] -= end.B
    hold = end.by_place @ qe + end.by_rate @ ve
    free = [int(i) for i in np.setdiff1d(np.arange(n), system.blank.driven)]
    rows, size = np.vstack([balance[free], hold]), 4 * n + k
    border = np.vstack([end.column[free], np.zeros((len(hold), len(hold)))])
    matrix = np.hstack([rows[:, [size + i for i in free]], border])
    solved = -least(matrix, rows[:, :size])[0]
    D = np.zeros((n, size))
    D[free] = solved[: len(free)]
    return [row[:, :size] + row[:, size:] @ D for row in (q1, v1, a1, true1)][: remembered(scheme)]


def _end_of_step(robot: Robot | Model, start: Local, dt: float, scheme: Coefficients) -> tuple[Local, Floats]:
    """The state at the end of a step, or at its middle for the midpoint rule, and the increment of the step."""
    system, result = start.system, start.result
    if result.t != 0.0:
        raise DescriptionError("the linearised step of a moving robot starts at t = 0, as `simulate` does.")
    exact = _Given(scheme)
    run = simulate(
        robot, duration=dt, dt=dt, start=(result.q, start.v), inputs=result.inputs, method=exact, tolerance=1e-12
    )
    d = between(system.tree, result.q, run.q[1])
    q, v, a = run.q[1], run.v[1], run.a[1]
    if scheme.mid < 1.0:
        q, v, a = move(system.tree, result.q, 0.5 * d), d / dt, 2.0 * d / dt**2 - 2.0 * start.v / dt
    states = np.array([dt * scheme.mid]), q[None], v[None], a[None], run.multipliers[1:]
    there = Equilibrium(system.source, system, Status(True, "end of a step"), *states, result.inputs)
    end = localise(there, v, a)
    return (end if scheme.mid == 1.0 else replace(end, v=run.v[1], a=run.a[1])), d


@dataclass(frozen=True)
class _Given(Scheme):
    """A scheme by its numbers."""

    numbers: Coefficients

    @property
    def coefficients(self) -> Coefficients:
        return self.numbers
