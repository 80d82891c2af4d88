"""How bristles of contacts that hold change along a motion, with a few parameters (see holding.py for the way back).

Bristles after a state are Z(q, v, z) of those before it. Their changes, and what they do to the balance, are differences of
fourth order along the change of the motion itself: two of these a step and a parameter, whatever the number of contacts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anguilla.interact.kernels.friction import HELD, WHERE
from anguilla.interact.kernels.table import CONTACT, KIND, Loads
from anguilla.interact.kernels.touch_steps import keep_bristles
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.model.user import move
from anguilla.results.reactions import evaluate
from anguilla.solve.gradients.instants import take_instant
from anguilla.solve.gradients.record import Tape

__all__ = ["Bristles"]

BENT = [c for c in range(HELD) if c != WHERE]  # columns of Touches.held
STEP = 1e-6  # of the length of the robot, that the largest change is made


class Bristles:
    """Changes (b, k) of all bristles of a motion by k parameters, as they are after the state before; none if none holds."""

    def __init__(self, found: Tape, columns: int) -> None:
        self.found, self.holds = found, len(found.hold.held) > 0
        self.change = np.zeros((self.count(found), columns))

    @staticmethod
    def count(found: Tape) -> int:
        """How many numbers bristles are."""
        hold = found.hold
        return hold.held.shape[1] * 2 * len(BENT) + hold.grip[:1].size if len(hold.held) else 0

    def recall(self, step: int, loads: Loads | None = None, more: Floats | None = None) -> None:
        """Let contacts remember what the balance of a state sees, with some more (b,)."""
        if not self.holds:
            return
        hold, loads = self.found.hold, self.found.table.loads if loads is None else loads
        held, grip = hold.held[step - 1].copy(), hold.grip[step - 1].copy()
        if more is not None:
            split = held.shape[0] * 2 * len(BENT)
            held[..., BENT] += more[:split].reshape(*held.shape[:2], len(BENT))
            grip += more[split:].reshape(grip.shape)
        loads.touches.held[:] = held
        contacts = loads.frames.table[: len(grip), KIND] == CONTACT
        loads.frames.state[: len(grip), 1, 3:][contacts] = grip[contacts]

    def _after(self, loads: Loads) -> Floats:
        """Bristles (b,) after the state that was evaluated last."""
        keep_bristles(loads.touches)
        contacts = loads.frames.table[:, KIND] == CONTACT
        grip = np.where(contacts[:, None], loads.frames.state[:, 2, 3:], 0.0)
        return np.concatenate([loads.touches.held[..., BENT].ravel(), grip.ravel()])

    def rows_of(self, system: Model, rows: Floats, errors: Floats, bristles: Floats) -> None:
        """As `balance_rows`, of a robot of another design; and bristles (N + 1, b) after each state."""
        found = self.found
        _, _, loads, column, table = found.place(system)
        found.forget(system)
        for step in range(found.steps + 1):
            take_instant(loads, column, table, found.dt, step, found.Y[step])
            if step > 0:
                self.recall(step, loads)
            rows[step] = evaluate(system, loads, *(x[step] for x in found.states))
            errors[step] = loads.frames.state[: errors.shape[1], 2]
            if step > 0:
                bristles[step] = self._after(loads)

    def _slope(self, of: Callable[[float], Floats], size: float) -> Floats:
        """Derivative of a function at zero, whose argument of one is a change by `size` [m]."""
        h = STEP * self.found.system.layout.length / max(size, 1e-300)
        return (8.0 * (of(h) - of(-h)) - (of(2.0 * h) - of(-2.0 * h))) / (12.0 * h)

    def forces(self, step: int) -> Floats:
        """Change (n + m, k) of the balance by the bristles before a state, whose loads stand."""
        found = self.found
        out = np.zeros((found.system.size + found.system.rows, self.change.shape[1]))
        state = [x[step] for x in found.states]
        for k in range(out.shape[1] if self.holds else 0):
            change = self.change[:, k]
            if np.any(change):

                def balance(h: float, change: Floats = change) -> Floats:
                    self.recall(step, more=h * change)
                    return evaluate(found.system, found.table.loads, *state)

                out[:, k] = self._slope(balance, float(np.abs(change).max()))
        self.recall(step)
        return out

    def advance(self, step: int, dq: Floats, dv: Floats, explicit: Floats) -> None:
        """Changes after a state, with those (n, k) of the state and the explicit ones (b, k)."""
        if not self.holds:
            return
        found, system = self.found, self.found.system
        Q, V, A, LAM = (x[step] for x in found.states)
        scale, length = system.tree.scale, system.layout.length
        after = np.zeros_like(self.change)
        for k in range(after.shape[1]):

            def bent(h: float, k: int = k) -> Floats:
                self.recall(step, more=h * self.change[:, k])
                evaluate(system, found.table.loads, move(system.tree, Q, h * dq[:, k]), V + h * dv[:, k], A, LAM)
                return self._after(found.table.loads)

            motion = np.abs(scale * dq[:, k]).max() + found.dt * np.abs(scale * dv[:, k]).max()
            size = length * motion + np.abs(self.change[:, k]).max(initial=0.0)
            if size > 0.0:
                after[:, k] = self._slope(bent, float(size))
        self.change = after + explicit
        self.recall(step)
