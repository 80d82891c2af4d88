"""Small vibrations of robots with soft volumes about an equilibrium."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from anguilla._doors import public
from anguilla.describe.robot import Robot
from anguilla.errors import DescriptionError, SolverError, as_count
from anguilla.fem.mesh import Floats
from anguilla.fem.vibrations import SLOW, WHOLE
from anguilla.mixed.half import Half
from anguilla.mixed.model import MixedModel
from anguilla.mixed.results import MixedEquilibrium
from anguilla.mixed.statics import Balance, Factored, Known, balance_of, factored, solved, statics, stiffnesses
from anguilla.results.reactions import refuse_relaxing

__all__ = ["MixedModes", "modes"]


@public
@dataclass(frozen=True)
class MixedModes:
    """Modes of vibration of a robot with soft volumes, undamped, sorted by frequency.

    Attributes:
        frequencies: (k,) natural frequencies [Hz].
        shapes: (n, k) changes of the coordinates of rods and bodies.
        nodes: by volume, (nodes, 3, k) displacements of its nodes [m]; both for a modal mass of 1 kg.
        result: the equilibrium they are about.

    """

    frequencies: Floats
    shapes: Floats
    nodes: dict[str, Floats] = field(repr=False)
    result: MixedEquilibrium = field(repr=False)

    def __len__(self) -> int:
        return len(self.frequencies)


def modes(
    robot: Robot | MixedModel, at: object = None, *, inputs: object = None, t: float = 0.0, count: int | None = None
) -> MixedModes:
    """`ag.modes` of a robot with soft volumes: the lowest ones, 10 if count is not given, without damping.

    A robot that nothing holds, and nothing loads, moves as a whole in modes of frequency zero.
    """
    count = 10 if count is None else as_count(count, "count")
    if at is not None and not isinstance(at, MixedEquilibrium):
        raise DescriptionError("at must be an equilibrium of the robot with its volumes, as ag.statics returns it.")
    if at is not None and inputs is not None:
        raise DescriptionError("inputs are those of the equilibrium given as `at`; leave them out.")
    result = statics(robot, inputs=inputs, t=t) if at is None else at  # type: ignore[arg-type]
    refuse_relaxing(result.system.blank, "modes")
    with ExitStack() as desks:
        problem, known = balance_of(result, desks)
        whole, shift = factored(problem.model, problem.carrier, known.carrier.bordered(), known, problem.loads), 0.0
        if whole is None or _is_loose(problem, whole):
            shift = SLOW * min(_slow(half) for half in problem.model.halves)
            whole = _shifted(problem, known, shift)
        if whole is None or whole.negative:
            raise SolverError(
                f"{problem.model.name!r} is not held, or not stable: modes need an equilibrium that stays."
            )
        return _found(problem, known, whole, result, count, shift)


def _is_loose(problem: Balance, whole: Factored) -> bool:
    """Whether nothing holds some motion of the whole."""
    values, zero = stiffnesses(problem.carrier, whole)
    return bool(np.any(np.abs(values) < zero))


def _slow(half: Half) -> float:
    """The square of the pulsation of a wave through a volume [1/s^2]."""
    el = half.system.elements
    mass = float(half.system.density @ el.weight.sum(axis=1))
    return float(el.mu @ el.weight.sum(axis=1)) / (mass * half.size**2)


def _shifted(problem: Balance, known: Known, shift: float) -> Factored | None:
    """The tangent with the masses times a shift [1/s^2] added."""
    blocks = [each.copy() for each in known.blocks]
    for each, half in zip(blocks, problem.model.halves, strict=True):
        each[:, [0, 4, 8]] += shift * half.mass[:, None]
    matrix, n = known.carrier.bordered(), problem.carrier.size
    matrix[:n, :n] += shift * known.carrier.M
    return factored(problem.model, problem.carrier, matrix, known._replace(blocks=blocks), problem.loads)


def _found(
    problem: Balance, known: Known, whole: Factored, result: MixedEquilibrium, count: int, shift: float
) -> MixedModes:
    """Lanczos on (K + shift M)^-1 M, in coordinates and nodes; constraints are kept by the inverse."""
    model, carrier = problem.model, problem.carrier
    n, sizes = carrier.size, [3 * len(half.free) for half in model.halves]
    ends = np.cumsum([n, *sizes])
    mass = known.carrier.M.copy()
    driven = problem.loads.driven
    mass[driven], mass[:, driven] = 0.0, 0.0

    def split(z: Floats) -> list[Floats]:
        return [z[a:b] for a, b in pairwise(ends.tolist())]

    def weigh(z: Floats) -> Floats:
        out = [mass @ z[:n]]
        for half, own in zip(model.halves, split(z), strict=True):
            whole_field = np.zeros((len(half.system.rest.x), 3))
            whole_field[half.free] = own.reshape(-1, 3)
            out.append((half.matrix @ whole_field)[half.free].ravel())
        return np.concatenate(out)

    def solve(b: Floats) -> Floats:
        right = np.concatenate([b[:n], np.zeros(carrier.rows)])[:, None]
        step, nodes = solved(model, whole, right, [own[None] for own in split(b)])
        return np.concatenate([step[:n, 0], *(own[0] for own in nodes)])

    total = int(ends[-1])
    count = min(count, total - 2)
    shape = (total, total)
    operators = [LinearOperator(shape, matvec=f, dtype=float) for f in (weigh, weigh, solve)]
    begin = solve(np.ones(total))
    values, vectors = eigsh(operators[0], k=count, M=operators[1], sigma=-shift, OPinv=operators[2], v0=begin)
    values[np.abs(values) < WHOLE * shift] = 0.0
    order = np.argsort(values)
    frequencies = np.sqrt(np.maximum(values[order], 0.0)) / (2.0 * np.pi)
    nodes = {}
    for k, half in enumerate(model.halves):
        field_of = np.zeros((len(half.system.rest.x), 3, count))
        for j, column in enumerate(order):
            twists = (known.lead.J[model.rows_of(half)] @ vectors[:n, column]).reshape(-1, 6)
            field_of[..., j] = half.velocities(known.state.x[k], known.lead.poses, twists)
            field_of[half.free, :, j] = split(vectors[:, column])[k].reshape(-1, 3)
        nodes[half.name] = field_of
    return MixedModes(frequencies, vectors[:n, order], nodes, result)
