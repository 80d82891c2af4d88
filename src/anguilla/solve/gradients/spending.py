"""Costs of inputs and of the energy that they take, with exact derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anguilla.errors import DescriptionError
from anguilla.interact.kernels.table import INPUT
from anguilla.mechanics.tree import Floats
from anguilla.model.evaluation import Evaluation
from anguilla.model.ports import port_map
from anguilla.model.slopes import input_slopes, named
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.solve.gradients.costs import Cost, Terms

__all__ = ["Energy", "InputEffort"]


def _shares(t: Floats) -> Floats:
    """Time (nt,) [s] that each instant stands for; 1 of an equilibrium."""
    if len(t) < 2:
        return np.ones(len(t))
    steps = np.diff(t)
    return 0.5 * (np.append(steps, 0.0) + np.append(0.0, steps))


def _names(result: Trajectory | Equilibrium, inputs: Sequence[str] | None) -> list[str]:
    known = list(result.system.robot.inputs)
    for name in inputs or ():
        if name not in known:
            raise DescriptionError(f"inputs: there is no input {name!r}; there are: {', '.join(known) or 'none'}.")
    return known if inputs is None else list(inputs)


def input_values(result: Trajectory | Equilibrium, name: str) -> Floats:
    """Values (nt,) of an input at the instants of a result."""
    t, given = result.stored.t, result.inputs.get(name, 0.0)
    return np.array([float(given(x)) for x in t.tolist()]) if callable(given) else np.full(len(t), float(given))


@dataclass(frozen=True)
class InputEffort(Cost):
    """Integral over time of weight/2 u^2, summed over inputs.

    Attributes:
        weight: a number.
        inputs: names of the inputs that count; all if not given.

    """

    weight: float = 1.0
    inputs: Sequence[str] | None = None

    def terms(self, result: Trajectory | Equilibrium) -> Terms:
        """Value and derivatives: none of the states."""
        share, nothing = _shares(result.stored.t), np.zeros_like(result.stored.q)
        value = sum(float(share @ input_values(result, name) ** 2) for name in _names(result, self.inputs))
        return 0.5 * self.weight * value, nothing, nothing.copy()

    def by_inputs(self, result: Trajectory | Equilibrium) -> dict[str, Floats]:
        """Derivatives (nt,) by input."""
        share = _shares(result.stored.t)
        return {name: self.weight * share * input_values(result, name) for name in _names(result, self.inputs)}


@dataclass(frozen=True)
class Energy(Cost):
    """Integral over time of weight times the mechanical power that inputs give to the robot [J].

    Attributes:
        weight: a number [1/J].
        inputs: names of the inputs that count, forces; all if not given.
        recovered: True counts power that the robot gives back as regained; False as lost: only positive power counts.
        smooth: [W] power over which the change between the two is smoothed, when it is lost.

    """

    weight: float = 1.0
    inputs: Sequence[str] | None = None
    recovered: bool = True
    smooth: float = 1e-3

    def terms(self, result: Trajectory | Equilibrium) -> Terms:
        """Value and derivatives."""
        value, by_q, by_v, _ = self._found(result)
        return value, by_q, by_v

    def by_inputs(self, result: Trajectory | Equilibrium) -> dict[str, Floats]:
        """Derivatives (nt,) by input."""
        return self._found(result)[3]

    def _counted(self, power: float) -> tuple[float, float]:
        """What counts of a power, and its derivative."""
        if self.recovered:
            return power, 1.0
        size = float(np.hypot(power, self.smooth))
        return 0.5 * (power + size - self.smooth), 0.5 * (1.0 + power / size)

    def _rows(self, result: Trajectory | Equilibrium) -> dict[str, Floats]:
        """How the row of the loads changes (nt, row) with each input that counts."""
        system, t = result.system, result.stored.t
        names, ports = _names(result, self.inputs), system.robot.ports
        slopes = {slope.name: slope for slope in input_slopes(system, t, result.inputs)}
        reasons, first = named(list(slopes.values())), int(system.blank.at[INPUT])
        found = {}
        for name in names:
            if name in ports:
                if name in reasons:
                    raise DescriptionError(f"Energy counts the power of forces: {reasons[name]}")
                if slopes[name].asked or not system.once(port_map).linear:
                    raise DescriptionError(
                        f"Energy counts the power of forces; the input {name!r} is none, or not linear."
                    )
                found[name] = slopes[name].rows
            else:
                k = list(system.robot.actuators).index(name)
                if system.blank.constraints.input_row[k] >= 0:
                    raise DescriptionError(f"Energy counts the power of forces; the input {name!r} is a length.")
                found[name] = np.zeros((len(t), len(system.blank.row)))
                found[name][:, first + k] = 1.0
        return found

    def _found(self, result: Trajectory | Equilibrium) -> tuple[float, Floats, Floats, dict[str, Floats]]:
        """Value, derivatives by q and v (nt, n), and by inputs."""
        system, (t, q, v, lam) = result.system, result.stored
        n, share, rows = system.size, _shares(t), self._rows(result)
        values = {name: input_values(result, name) for name in rows}
        table, still = system.loads(t, result.inputs), np.zeros(n)
        total, by_q, by_v = 0.0, np.zeros_like(q), np.zeros_like(v)
        by_u = {name: np.zeros(len(t)) for name in rows}
        for k in range(len(t)):
            loads = table.at(k)
            here = Evaluation(system, loads, q[k], v[k], still, lam[k])
            for name, change in rows.items():
                u = values[name][k]
                # R is linear in a force: without this input, the balance and its tangent show what it does
                without = Evaluation(system, loads._replace(row=loads.row - change[k]), q[k], v[k], still, lam[k])
                unit = (without.values - here.values)[:n]  # generalised force of one unit
                power, slope = self._counted(u * float(unit @ v[k]))
                part = self.weight * share[k]
                total += part * power
                by_v[k] += part * slope * u * unit
                by_q[k] += part * slope * u * (without.flat - here.flat)[:n, :n].T @ v[k]
                by_u[name][k] = part * slope * float(unit @ v[k])
        return total, by_q, by_v, by_u
