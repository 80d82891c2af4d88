"""Prescribed motions of points of a soft body: where they are at a time, or under a part of the load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from anguilla.describe.description import did_you_mean
from anguilla.errors import DescriptionError, refuse
from anguilla.fem.inertia import multiply
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.parts import Goal, as_goal
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.lie import exp3, log3

__all__ = ["Goal", "Moves", "Placed", "lifted", "moved_to", "moves_of", "placed", "positions"]

Moves = Mapping[str, Goal]


@dataclass(frozen=True)
class Placed:
    """Where the driven points are.

    Attributes:
        nodes: (k,) their numbers.
        x: (k, 3) positions [m].
        v: (k, 3) velocities [m/s].
        a: (k, 3) accelerations [m/s^2].

    """

    nodes: Ints
    x: Floats
    v: Floats
    a: Floats


def moves_of(system: SoftSystem, given: Moves | None) -> dict[str, Goal]:
    """The motions of a body by name: its own, and over them those that are given."""
    own: dict[str, Goal] = {name: part.to for name, part in system.body.moves.items()}
    if given is None:
        return own
    if not isinstance(given, Mapping):
        raise refuse("moves", "a dictionary from names of moved sets to displacements", given)
    for name, value in given.items():
        if name not in own:
            known = ", ".join(own) or "none"
            raise DescriptionError(
                f"moves: body {system.body.name!r} moves no set {name!r}{did_you_mean(str(name), own)}; it moves: {known}."
            )
        own[name] = as_goal(value, f"moves[{name!r}]")
    return own


def _at(rest: Floats, goal: Goal, t: float, factor: float, name: str) -> Floats:
    """Positions (k, 3) of points, after a part of their motion: turns on the shortest way."""
    value: Any = as_goal(goal(t), f"moves[{name!r}] at t = {t:g} s") if callable(goal) else goal
    if np.shape(value) == (3,):
        return np.asarray(rest + factor * value)
    turn, shift = value[:3, :3], value[:3, 3]
    if factor != 1.0:
        turn, shift = exp3(factor * log3(turn)), factor * shift
    return np.asarray(rest @ turn.T + shift)


def moved_to(rest: Floats, goal: Goal, t: float, name: str) -> Floats:
    """Positions (k, 3) [m] at a time [s] of points that rest at some others."""
    return _at(rest, goal, t, 1.0, name)


def positions(system: SoftSystem, goals: Mapping[str, Goal], t: float = 0.0, factor: float = 1.0) -> Floats:
    """Positions (driven, 3) [m] of the driven nodes, in the order of `SoftSystem.driven`."""
    parts = [_at(system.rest.x[nodes], goals[name], t, factor, name) for name, nodes in system.moved_nodes.items()]
    return np.concatenate([*parts, np.zeros((0, 3))])


def placed(system: SoftSystem, goals: Mapping[str, Goal], t: float, h: float) -> Placed:
    """Where the driven nodes are at a time, how fast and how accelerated: functions of t by differences over h [s]."""
    now = positions(system, goals, t)
    if not any(callable(goal) for goal in goals.values()):
        return Placed(system.driven, now, np.zeros_like(now), np.zeros_like(now))
    before, after = positions(system, goals, t - h), positions(system, goals, t + h)
    return Placed(system.driven, now, (after - before) / (2.0 * h), (after - 2.0 * now + before) / h**2)


def lifted(system: SoftSystem, state: SoftState, efforts: Floats, goal: Floats, factor: float) -> SoftState:
    """The state with its driven nodes at their goal (driven, 3), and the others where the stiffness takes them along."""
    far = goal - state.x[system.driven]
    if not len(far) or not np.abs(far).max() > 0.0:
        return state
    u = system.unknowns
    shift = np.zeros_like(state.x)
    shift[system.driven] = far
    energy, gradient, blocks = system.evaluate(state, efforts, factor=factor, stiffness=True)
    if np.isfinite(energy):
        left = u.gather(state.x, multiply(system, blocks, shift)[None])  # before fold, which may write into the blocks
        system.solver.factor(u.fold(state.x, blocks, gradient))
        state = SoftState(*u.move(state.x, state.rotations, system.solver.solve(-left)[0].reshape(-1, 3)))
    x = state.x.copy()
    x[system.driven] = goal
    return SoftState(x, state.rotations)
