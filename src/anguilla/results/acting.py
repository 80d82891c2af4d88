"""Reading of what acts on a robot: actuators, loads, closures, prescribed motions; energies and momenta."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from anguilla.describe import Closure, Load, Part, Robot
from anguilla.describe.description import did_you_mean
from anguilla.errors import DescriptionError, show
from anguilla.interact.kernels.table import INPUT
from anguilla.mechanics.tree import N_R, Floats
from anguilla.model.model import Model
from anguilla.results.base import ByName, Computed
from anguilla.results.blocks import parts
from anguilla.results.contacts import (
    PartForces,
    TouchPoints,
    bristle_energy,
    depths,
    load_energy,
    touch_points,
    touching,
)
from anguilla.results.lines import cable_length, line_lengths
from anguilla.results.observe import balances
from anguilla.results.reactions import Exerted, closure_wrench, exerted, grasps, relaxes

__all__ = ["OfActions", "OfEnergies"]


def closure_name(robot: Robot, closure: object) -> str:
    """The name of a closure of a robot, given as itself or by its name; an empty text if it is none."""
    if isinstance(closure, Closure):
        return closure.name if closure.robot is robot else ""
    return closure if isinstance(closure, str) else ""


class OfActions(Computed):
    """Tensions, wrenches and efforts."""

    @cached_property
    def _found(self) -> tuple[Floats, Floats, Floats]:
        """Inputs (time, actuators), wrenches of closures (time, closures, 6), efforts of prescribed coordinates (time, k).

        One pass over the motion serves all actuators, closures and parts.
        """
        system = self.system
        loads, closures = system.blank, list(system.robot.closures.values())
        count = len(self._t)
        tension, effort = np.zeros((count, len(loads.tension))), np.zeros((count, len(loads.driven)))
        wrench = np.zeros((count, len(closures), 6))
        for block in self.evaluations.blocks(None if closures else np.zeros(0, np.int64)):
            tension[block.at], effort[block.at] = block.tension, block.residual[:, loads.driven]
            for number, closure in enumerate(closures):
                b, *parts = closure_wrench(block, number)
                rotation = block.node[:, b, N_R : N_R + 9].reshape(-1, 3, 3) @ closure.sides[1][:3, :3].T
                wrench[block.at, number] = np.einsum("tji,ktj->tki", rotation, parts).reshape(-1, 6)
        return tension, wrench, effort

    @property
    def multipliers(self) -> Floats:
        """Multipliers of the constraints (time, m); `reaction` and `tension` give them a meaning."""
        return self._pick(self._lam)

    def reaction(self, closure: Closure | str) -> Floats:
        """Wrench that a closure exerts on its frame b, about b's origin, in b's axes: (time, 6), moment [N m], force [N].

        The closure is what robot.close returned, or its name.
        """
        names = list(self.system.robot.closures)
        name = closure_name(self.robot, closure)
        if name not in names:
            hint, known = did_you_mean(closure, names) if isinstance(closure, str) else "", ", ".join(names) or "none"
            raise DescriptionError(
                f"expected a closure of robot {self.robot.name!r}, as returned by robot.close, or its name; "
                f"got {show(closure)}{hint}; it has: {known}. "
                "The moment and force in a rod, at its root for example, are wrench(arm, 0.0)."
            )
        return self._pick(self._found[1][:, names.index(name)])

    def effort(self, part: Part) -> Floats:
        """Efforts that the prescribed motion of a part's joint takes [N m or N], springs and dampers included: (time, size).

        Of a rod with a prescribed shape also those of its strain coordinates, elasticity included; `control_torque` spreads
        them along the rod. Zero for coordinates that are not prescribed.
        """
        layout = self.system.layout.parts[self.own(part).index]
        last = layout.coordinates.stop if part.index in self.system.shapes else layout.joint.stop
        driven = self.system.blank.driven
        mine = np.flatnonzero((driven >= layout.joint.start) & (driven < last))
        out = np.zeros((len(self._t), last - layout.joint.start))
        if len(mine):
            out[:, driven[mine] - layout.joint.start] = self._found[2][:, mine]
        return self._pick(out)

    def tension(self, actuator: str) -> Any:
        """Tension of a tendon [N], given or found from its length: (time,)."""
        names = list(self.system.robot.actuators)
        if actuator not in names:
            raise DescriptionError(f"there is no actuator {actuator!r}; there are: {', '.join(names) or 'none'}.")
        k = names.index(actuator)
        found = self._found[0] if self.system.blank.constraints.input_row[k] >= 0 else self._pulls
        return self._pick(found[:, k])

    @cached_property
    def _pulls(self) -> Floats:
        """Inputs (time, actuators) as they act: zero where a tendon is slack; lengths of those driven by length."""
        table = self.system.loads(self._t, self.inputs_at_states)
        first, count = int(table.loads.at[INPUT]), len(table.loads.tension)
        pulls = np.tile(table.loads.row[first : first + count], (len(self._t), 1))
        mine = (table.column >= first) & (table.column < first + count)
        pulls[:, table.column[mine] - first] = table.table[:, mine]
        return pulls

    def exerted(self, load: Load) -> Exerted:
        """What a load that depends on the motion (water, thruster, magnet, contact, user-written) exerts on the robot.

        Returns (force (time, 3) [N], moment (time, 3) about the world origin [N m], power (time,) [W], place (time, k, 3)
        [m], wrench (time, k, 6)), world axes; the last two where it acts.
        """
        numbers = self._numbers(load)
        if not numbers or numbers[0] not in self.system.tables.frame_loads:
            known = [own.label for k, own in enumerate(self.robot.loads) if k in self.system.tables.frame_loads]
            more = f" {load.label!r} is none of them." if numbers else ""
            raise DescriptionError(
                f"exerted tells of loads that act on frames and depend on the motion; robot {self.robot.name!r} has: "
                f"{', '.join(known) or 'none'}.{more}"
            )
        out = exerted(self.system, numbers[0], self.evaluations.blocks())
        return Exerted(*(self._pick(array) for array in out))

    def contacts(self, contact: Load) -> PartForces:
        """What two parts that touch each other give to each other, of a contact between parts.

        Returns (force (time, 3) [N] of its part a on its part b, world axes, place (time, 3) [m] where it acts on average,
        energy (time,) [J] that the contact keeps, points (time,), how many touch); places are NaN where nothing does.
        """
        number = self._meeting(contact)
        return PartForces(*(self._pick(array) for array in touching(self.system, number, self.evaluations.blocks())))

    def contact_points(self, contact: Load) -> Any:
        """Every place where two parts touch each other, of a contact between parts: one answer for each instant.

        Each has place (k, 3) [m] and force (k, 3) [N] there of its part a on its part b, world axes.
        """
        number = self._meeting(contact)
        found: Any = [points[number] for points in self.all_contact_points]
        return self._pick(found)

    @cached_property
    def all_contact_points(self) -> list[dict[int, TouchPoints]]:
        """Places where parts touch at each instant, by the number of their load."""
        return list(touch_points(self.evaluations))

    def _meeting(self, contact: Load) -> int:
        """Number of a contact between parts."""
        numbers = self._numbers(contact)
        if not numbers or numbers[0] not in self.system.tables.touch_loads:
            labels = [own.label for k, own in enumerate(self.robot.loads) if k in self.system.tables.touch_loads]
            raise DescriptionError(
                f"expected a contact between parts of robot {self.robot.name!r}; it has: {', '.join(labels) or 'none'}."
            )
        return numbers[0]

    def depth(self, contact: Load) -> Floats:
        """How deep each place of a contact is in its obstacle [m], in the order of `exerted`: (time, k).

        Negative where it does not touch: minus the distance. Along a rod, the places are its nodes.
        """
        numbers = self._numbers(contact)
        if not numbers or not contact.touches:
            known = ", ".join(own.label for own in self.robot.loads if own.touches) or "none"
            raise DescriptionError(f"expected a contact of robot {self.robot.name!r}; it has: {known}.")
        return self._pick(depths(self.system, numbers[0], self._q))

    def _numbers(self, load: Load) -> list[int]:
        """Number of a load of the robot, in a list, empty if it is none."""
        numbers = [k for k, own in enumerate(self.robot.loads) if own is load]
        return numbers or [k for k, own in enumerate(self.system.robot.loads) if own is load]

    def length(self, actuator: str) -> Any:
        """Length of a tendon, inside the rods and between them, or of the centre line of a chamber [m]: (time,)."""
        return self._pick(line_lengths(self.system, [actuator], self._q)[:, 0])

    @property
    def lengths(self) -> Floats:
        """Lengths of the lines of all actuators [m]: (time, actuators)."""
        return self._pick(line_lengths(self.system, list(self.system.robot.actuators), self._q))

    def actuation(self) -> Floats:
        """Actuation matrix L(q): generalised force per unit of each input, (time, n, actuators) (000 (28))."""
        actuators = self.system.robot.actuators
        out = np.zeros((*self._q.shape, len(actuators)))
        for k, (name, actuator) in enumerate(actuators.items()):
            out[:, :, k] = -actuator.tension_per_input * cable_length(self.system, name, self._q)[1]
        return self._pick(out)


class OfEnergies(Computed):
    """Energies, momenta and the centre of mass."""

    @property
    def energy(self) -> dict[str, Any]:
        """Energies [J]: kinetic, elastic, gravitational (zero at the world origin), total.

        Elastic is that of rods, joint springs, springs between frames, and contacts with the bristles of friction that holds;
        other loads (muscles, magnets, ...) keep none.
        """
        rows = self._balances
        elastic = self.system.elastic_energy(self._q) + load_energy(self.system, self._q)
        if grasps(self.system.blank):
            elastic = elastic + bristle_energy(self.evaluations)
        if relaxes(self.system.blank):
            z, weight, _ = self.evaluations.inside()
            elastic = elastic + 0.5 * np.einsum("tpn,pn,nm,tpm->t", z, weight, self.system.elastic_stiffness(), z)
        total = rows[:, 0] + rows[:, 1] + elastic
        named = {"kinetic": rows[:, 0], "elastic": elastic, "gravitational": rows[:, 1], "total": total}
        return ByName({name: self._pick(value) for name, value in named.items()})

    @property
    def momentum(self) -> Floats:
        """Linear momentum [kg m/s]: (time, 3)."""
        return self._pick(self._balances[:, 2:5])

    @property
    def angular_momentum(self) -> Floats:
        """Angular momentum about the world origin [kg m^2/s]: (time, 3)."""
        return self._pick(self._balances[:, 5:8])

    @property
    def center_of_mass(self) -> Floats:
        """Centre of mass of the robot [m], world axes: (time, 3), or (3,) of an equilibrium."""
        if self.mass == 0.0:
            raise DescriptionError(f"robot {self.robot.name!r} has no mass, so it has no centre of mass.")
        return self._pick(self._balances[:, 8:11] / self.mass)

    @property
    def mass(self) -> float:
        """Mass of the robot [kg]."""
        return float(np.sum(self.system.tree.mass))

    @cached_property
    def _balances(self) -> Floats:
        """Kinetic and gravitational energy, momentum, angular momentum and moment of the masses (time, 11)."""
        with self.acting():
            return balances_of(self.system, self._t, self._q, self._v)


def balances_of(system: Model, t: Floats, q: Floats, v: Floats) -> Floats:
    """Energies and momenta as in `OfEnergies`, (nt, 11), of states q, v (nt, n) at times t (nt,) [s]."""
    out, zero, constant = np.zeros((len(t), 11)), np.zeros(system.size), system.robot.gravity_is_constant
    for at in parts(len(t), max(system.size, 11)):
        gravity = np.array(system.robot.gravity_values(t[:1] if constant else t[at]), order="C")
        # copies: locked or strided ones would be other types for the kernel
        balances(system.tree, system.workspace, gravity, q[at].copy(), v[at].copy(), zero, out[at])
    return out


def energies(system: Model, t: Floats, q: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Kinetic, elastic and gravitational energy (nt,) [J] of states q, v (nt, n) at times t (nt,) [s]."""
    rows = balances_of(system, t, q, v)
    return rows[:, 0], system.elastic_energy(q) + load_energy(system, q), rows[:, 1]
