"""Exact gradients of equilibria of robots with soft volumes, by the adjoint of the whole stiffness."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np

from anguilla.describe.robot import Robot
from anguilla.errors import DescriptionError, SolverError
from anguilla.fem.mesh import Floats
from anguilla.mixed.model import MixedModel
from anguilla.mixed.motion_gradients import motion_gradient
from anguilla.mixed.results import MixedEquilibrium, MixedTrajectory
from anguilla.mixed.statics import Balance, Known, Mixed, balance_of, factored, solved
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.solve.gradients.adjoint import Gradient, by_input, direct_cost, refuse_rubbing, static_ports
from anguilla.solve.gradients.costs import Cost
from anguilla.solve.gradients.designs import Design, as_design, design_slopes, with_same_rows
from anguilla.solve.gradients.sweep import linear_part
from anguilla.solve.steps.schemes import Scheme

__all__ = ["gradient"]


def gradient(
    result: Trajectory | Equilibrium, cost: Cost, *, method: Scheme | str | None = None, design: Design | None = None,
    start: Equilibrium | None = None,
) -> Gradient:  # fmt: skip
    """`ag.gradient` of an equilibrium or a motion of a robot with soft volumes."""
    if not cost.of_places:
        raise DescriptionError("gradient of a robot with soft volumes takes costs of its frames and coordinates only.")
    if isinstance(result, MixedTrajectory) and result.mixed is not None:
        if start is not None:
            raise DescriptionError(
                "start is not available for robots with soft volumes yet: leave it out, the start then counts as given."
            )
        return motion_gradient(result, cost, method=method, design=design)
    if not isinstance(result, MixedEquilibrium) or result.mixed is None:
        raise DescriptionError("gradient needs a result that ag.statics or ag.simulate returned.")
    if method is not None or start is not None:
        raise DescriptionError("method and start are for motions; the result is an equilibrium.")
    refuse_rubbing(result.system, "gradient")
    value, by_q, _ = cost.terms(result)
    with ExitStack() as desks:
        problem, known = balance_of(result, desks)
        mu, nodes = _multipliers(problem, known, by_q[0])
        system, n = result.system, result.system.size
        row = np.zeros(len(problem.loads.row))
        linear_part(
            system.tree, system.workspace, problem.loads, mu[:n].copy(), mu[n:].copy(), result.q, np.zeros(n), row
        )
        inputs = by_input(result, row[None], *static_ports(result, mu, row))
        hidden = {name for names in result.mixed.ports for name in names}
        found = {name: slope for name, slope in inputs.items() if name not in hidden}
        found |= _by_efforts(problem, known, mu[:n], nodes)
    slopes = np.zeros(0)
    if design is not None:
        make, p, _ = as_design(design, result.robot)
        slopes = np.array(design_slopes((make, p), lambda robot: _weighed(result, cost, robot, mu, nodes)))
    return Gradient(value, found, by_q[0], 0.0 * by_q[0], slopes, mu[None])


def _multipliers(problem: Balance, known: Known, by_q: Floats) -> tuple[Floats, list[Floats]]:
    """Multipliers (n + m,) of the coordinates and (3 f,) of the nodes of each volume, for a derivative by_q (n,)."""
    model, carrier = problem.model, problem.carrier
    whole = factored(model, carrier, known.carrier.bordered(), known, problem.loads)
    if whole is None or whole.negative:
        raise SolverError(
            "The equilibrium has a singular stiffness.", advice="Gradients need an equilibrium that is held in place."
        )
    right = np.concatenate([by_q, np.zeros(carrier.rows)])[:, None]
    right[problem.loads.driven] = 0.0
    mu, nodes = solved(
        model, whole, right, [np.zeros((1, 3 * len(half.free))) for half in model.halves], transposed=True
    )
    return np.ascontiguousarray(mu[:, 0]), [each[0] for each in nodes]


def _by_efforts(problem: Balance, known: Known, mu: Floats, nodes: list[Floats]) -> dict[str, Floats]:
    """Derivatives (1,) by the inputs of the volumes."""
    found = {}
    for half, x, own in zip(problem.model.halves, known.state.x, nodes, strict=True):
        if half.system.names:
            rows = half.system.actuator_rows(half.state(x), friction=True)
            J = known.lead.J[problem.model.rows_of(half)]
            slopes = half.by_twists(rows, known.lead.poses) @ (J @ mu) + rows[:, half.free].reshape(len(rows), -1) @ own
            for name, slope in zip(half.system.names, slopes.tolist(), strict=True):
                found[f"{half.name}.{name}"] = np.array([slope])
    return found


def _weighed(result: MixedEquilibrium, cost: Cost, robot: Robot, mu: Floats, nodes: list[Floats]) -> float:
    """The cost of the same state in a robot of another design, less its balance weighed by the multipliers."""
    model = MixedModel(robot)
    carrier, (t, q, _, lam) = with_same_rows(model.carrier, result.system), result.stored
    with carrier.apart():
        loads = carrier.loads(float(t[0]), result.inputs).loads
        problem = Balance(model, carrier, loads, [v.efforts for v in result.volumes.values()], float(t[0]))
        known = problem.evaluate(
            Mixed(q[0].copy(), lam[0].copy(), [v.x.copy() for v in result.volumes.values()]), stiffness=False
        )
        if known is None:
            raise SolverError("The design cannot be changed: elements would turn inside out.")
        total = float(mu @ known.left)
        for half, gradient, own in zip(model.halves, known.gradients, nodes, strict=True):
            total += float(gradient[half.free].ravel() @ own)
        plain = Equilibrium(result.robot, result.system, result.status, t, q, 0.0 * q, None, lam, result.inputs)
        return direct_cost(cost, robot, carrier, plain) - total
