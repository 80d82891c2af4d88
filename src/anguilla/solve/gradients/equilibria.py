"""How equilibria change with parameters, by the theorem of implicit functions: K dq = -dR, bordered by the constraints.

One factorisation serves all parameters; the explicit change dR is that of the balance in the same state, between twins of the
model (designs.py) or between inputs, in which it is linear.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from anguilla.errors import DescriptionError
from anguilla.interact.kernels.table import DT, INPUT, Loads
from anguilla.linear.choice import DENSE
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import Evaluation, at_rest
from anguilla.model.model import Model
from anguilla.model.slopes import InputSlope, balance_slope, input_slopes, named
from anguilla.results.reactions import evaluate
from anguilla.results.states import Equilibrium
from anguilla.solve.gradients.adjoint import refuse_rubbing, solve_at_rest, static_balance
from anguilla.solve.gradients.changes import Sensitivities
from anguilla.solve.gradients.designs import Design, twins
from anguilla.solve.gradients.edges import away_from_edges

__all__ = ["check_input", "of_equilibrium", "slope_of_input"]


def of_equilibrium(result: Equilibrium, design: Design | None, inputs: Iterable[str] | None) -> Sensitivities:
    """Derivatives of an equilibrium with respect to a design, then to some inputs."""
    system = result.system
    refuse_rubbing(system, "sensitivities")
    found = None if design is None else twins(system, design)
    names = [] if found is None else list(found.names)
    table = system.loads(result.t, result.inputs)
    loads = table.loads
    loads.row[DT] = 0.0
    lam = np.ascontiguousarray(result.stored.lam[0])
    apart = away_from_edges(table, result.q, lam) if found else table
    columns = [found.slope(k, lambda m: static_balance(m, result, apart)) for k in range(len(names))] if found else []
    here = at_rest(system, loads, result.q, lam)
    actuators = list(system.robot.actuators)
    zero = np.zeros(system.size)
    state = result.q, zero, zero, lam
    made = {slope.name: slope for slope in input_slopes(system, np.array([result.t]), result.inputs if inputs else {})}
    for name in inputs or ():
        check_input(name, actuators, list(made.values()))
        if name in made:
            columns.append(balance_slope(system, loads, made[name].rows[0], state))
        else:
            column = slope_of_input(system, loads, actuators.index(name), list(state), here.values.copy())
            columns.append(0.0 * column if name in system.slack(result.t, result.inputs) else column)
        names.append(name)
    if not names:
        raise DescriptionError("sensitivities needs parameters: give design, or the names of inputs.")
    changes = _solved(here, -np.stack(columns, axis=1))
    n = system.size
    still = np.zeros((n, len(names)))
    return Sensitivities(result, names, changes[:n], still, still.copy(), changes[n:], found)


def check_input(name: str, actuators: list[str], slopes: list[InputSlope]) -> None:
    """Refuse an input that there is not, or by which nothing can be differentiated."""
    known = [*actuators, *(slope.name for slope in slopes)]
    if name not in known:
        raise DescriptionError(f"inputs: there is no input {name!r}; there are: {', '.join(known) or 'none'}.")
    if reason := named(slopes).get(name):
        raise DescriptionError(f"inputs: {reason}")


def _solved(here: Evaluation, right: Floats) -> Floats:
    """Solve for all columns of right (n + m, k) with the bordered stiffness; those of a large robot one after the other."""
    if here.model.linear == DENSE:
        return solve_at_rest(here, right, transposed=False)
    return np.stack([solve_at_rest(here, column, transposed=False) for column in right.T], axis=1)


def slope_of_input(system: Model, loads: Loads, actuator: int, state: list[Floats], base: Floats) -> Floats:
    """d(R, phi)/dinput (n + m,) in the state whose balance is base."""
    row, at = int(loads.constraints.input_row[actuator]), int(loads.at[INPUT]) + actuator
    if row >= 0:  # length - input - compliance x tension = 0, unless it is slack
        column = np.zeros(len(base))
        column[system.size + row] = -1.0 if loads.constraints.slack[row] == 0 else 0.0
        return column
    kept = loads.row[at]
    unit = max(1.0, abs(kept))
    loads.row[at] = kept + unit
    column = (evaluate(system, loads, *state) - base) / unit
    loads.row[at] = kept
    return column
