"""What the judge of motions asks of soft bodies: what acts on them and where it jumps, and their energies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from anguilla.errors import DescriptionError
from anguilla.fem.mesh import Floats
from anguilla.fem.moves import Moves, moved_to, moves_of
from anguilla.fem.parts import Tendon
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.solve.steps.events import Sampler, jumps_of_signals

__all__ = ["functions_of", "is_passive", "jumps_of", "potential", "samples_of"]


def functions_of(systems: Sequence[SoftSystem]) -> list[object]:
    """Forces and stresses on bodies that may be functions of time."""
    bodies = [system.body for system in systems]
    return [load.force for body in bodies for load in body.loads] + [
        load.stress for body in bodies for load in body.tractions
    ]


def samples_of(systems: Sequence[SoftSystem], efforts: Callable[[float], Sequence[Floats]], varies: bool) -> Sampler:
    """What acts on bodies, (nt, w) at times (nt,) [s]: efforts, forces, stresses; nothing if that does not vary."""

    def sample(times: Floats) -> Floats:
        if not varies:
            return np.zeros((len(times), 0))
        rows = []
        for t in times.tolist():
            loads = [load.at(t) for system in systems for load in system.body.loads]
            loads += [load.at(t) for system in systems for load in system.body.tractions]
            rows.append(np.concatenate([*efforts(t), *loads, np.zeros(0)]))
        return np.array(rows)

    return sample


def jumps_of(
    system: SoftSystem, inputs: Mapping[str, object], efforts: Callable[[float], Floats], moves: Moves | None, dt: float,
    steps: int,
) -> tuple[tuple[float, float], ...]:  # fmt: skip
    """Instants [s] just before and just after each jump of what acts on a body; positions that jump are refused."""
    name = system.body.name
    functions = [one for one in [*inputs.values(), *functions_of([system])] if callable(one)]
    found = jumps_of_signals(name, samples_of([system], lambda t: [efforts(t)], bool(functions)), functions, dt, steps)
    goals = moves_of(system, moves)
    for what, goal in goals.items():
        if callable(goal):
            nodes = system.moved_nodes[what][:4]
            path = lambda times, own=nodes, to=goal, called=what: np.array(
                [moved_to(system.rest.x[own], to, t, called).ravel() for t in times.tolist()]
            )
            if jumps := jumps_of_signals(name, path, [goal], dt, steps):
                raise DescriptionError(
                    f"moves[{what!r}] jumps at t = {jumps[0][1]:.6g} s: let it move there in some time."
                )
    return tuple(sorted(found))


def is_passive(system: SoftSystem) -> bool:
    """Whether nothing that works on a body lacks a potential, but for its inputs: nothing that rubs, is moved, or varies.

    What is kept inside material that relaxes is not counted.
    """
    body = system.body
    rubs = any(isinstance(part, Tendon) and part.friction for part in body.actuators.values())
    varies = any(callable(one) for one in functions_of([system]))
    return not (rubs or varies or body.moves or len(body.material.terms) or system.touching is not None)


def potential(system: SoftSystem, x: Floats, efforts: Floats) -> Floats:
    """Energy (nt,) [J] of elements, springs, weight, dead forces and constant efforts, for nodes at x (nt, n, 3)."""
    return np.array([system.evaluate(SoftState(nodes, system.rest.rotations), efforts)[0] for nodes in x])
