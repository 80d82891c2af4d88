"""One state of a model and everything that is known there."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from anguilla._words import numbered
from anguilla.describe import Frame, FrameMotion
from anguilla.errors import DescriptionError
from anguilla.interact.kernels.table import Loads
from anguilla.linear.choice import DENSE, TREE
from anguilla.mechanics.tree import Floats, Workspace, elimination
from anguilla.model.desk import Desk
from anguilla.model.evaluate import linearise, residual, tangent
from anguilla.model.operator import BlockOperator, DenseOperator, Operator, net_of
from anguilla.model.user import frame_motion

if TYPE_CHECKING:
    from anguilla.model.model import Model

__all__ = ["ACCELERATION", "RATE", "Evaluation", "at_rest"]

# Weights of dR/dv and dR/da in the tangent when they are asked for alone: so large that subtracting dR/dq costs no digits.
RATE, ACCELERATION = 1e8, 1e16


class Evaluation:
    """A state of a model, evaluated: R(q, v, a) is inertia plus internal minus external generalised forces.

    It does not matter what is computed between two questions: what a question needs is evaluated again if the memory of the
    desk was used for another state. (What loads remember from step to step is that of the desk.)

    Args:
        model: the model.
        loads: what acts, at one instant; their row is copied.
        q: (n,) coordinates.
        v: (n,) rates.
        a: (n,) accelerations.
        multipliers: (m,) forces of the constraints.

    Attributes:
        values: (n + m,) the residual, then the constraints.

    """

    def __init__(self, model: Model, loads: Loads, q: Floats, v: Floats, a: Floats, multipliers: Floats) -> None:
        self.model, self.q, self.v, self.a, self.multipliers = model, q.copy(), v.copy(), a.copy(), multipliers.copy()
        self._desk: Desk = model.desk()
        self._loads = loads._replace(row=loads.row.copy())
        self.values = self._evaluated()[2]

    def __repr__(self) -> str:
        count, most = numbered(self.model.size, "coordinate"), np.max(np.abs(self.values), initial=0.0)
        return f"<evaluation of {self.model.robot.name!r}: {count}, residual of at most {most:.3g}>"

    def _evaluated(self) -> tuple[Workspace, Loads, Floats]:
        """Evaluate the state at its desk."""
        model, space, out = self.model, self._desk.held(self), np.zeros(self.model.size + self.model.rows)
        kernel = self._desk.user.residual if self._desk.user else residual
        kernel(model.tree, space, self._loads, self.q, self.v, self.a, self.multipliers, out)
        return space, self._loads, out

    def _here(self) -> tuple[Workspace, Loads]:
        """Workspace and loads with this state in them, at the desk of the thread that asks."""
        desk = self.model.desk()
        if desk is not self._desk:
            self._desk, self._loads = desk, self._loads.copied()
            return self._evaluated()[:2]
        if desk.holder is not self:
            return self._evaluated()[:2]
        return desk.held(self), self._loads

    def is_at(self, loads: Loads, q: Floats, multipliers: Floats) -> bool:
        """Whether it is that of given loads, coordinates (n,) and forces of the constraints (m,); rates are not compared."""
        pairs = (self._loads.row, loads.row), (self.q, q), (self.multipliers, multipliers)
        return all(one.tobytes() == other.tobytes() for one, other in pairs)

    @property
    def residual(self) -> Floats:
        """R (n,)."""
        return self.values[: self.model.size]

    @property
    def constraints(self) -> Floats:
        """Values (m,) of the constraints."""
        return self.values[self.model.size :]

    def bordered(self, alpha: float = 0.0, beta: float = 0.0) -> Floats:
        """dR/dq + alpha dR/dv + beta dR/da with rows and columns of the constraints (n + m, n + m), exact."""
        space, loads = self._here()
        size = self.model.size + self.model.rows
        space.increment[:], out = 0.0, np.zeros((size, size))
        kernel = self._desk.user.tangent if self._desk.user else tangent
        kernel(self.model.tree, space, loads, float(alpha), float(beta), self.multipliers, out)  # one compilation
        return out

    def operator(self, alpha: float = 0.0, beta: float = 0.0) -> Operator:
        """`bordered`, without its entries: what it makes of vectors, and its inverse. Of a large robot the only way."""
        if self.model.linear == DENSE:
            return DenseOperator(self.bordered(alpha, beta), self._loads.driven)
        space, loads = self._here()
        space.increment[:] = 0.0
        linearise(self.model.tree, space, loads, space.none, float(alpha), float(beta), self.multipliers)
        return BlockOperator(self.model.tree, self.model.once(net_of), space, loads)

    def is_definite(self, alpha: float = 0.0, beta: float = 0.0) -> bool:
        """Whether `tangent` has a positive definite symmetric part, of an open tree: it has if its blocks do, eliminated."""
        if self.model.linear != TREE:
            raise ValueError("is_definite is for trees in blocks")
        (space, loads), memory = self._here(), elimination(self.model.tree)
        memory.held[loads.driven], memory.good[:], space.increment[:] = 1, 1, 0.0
        linearise(self.model.tree, space, loads, memory, float(alpha), float(beta), self.multipliers)
        return bool(np.all(memory.good))

    def tangent(self, alpha: float = 0.0, beta: float = 0.0) -> Floats:
        """dR/dq + alpha dR/dv + beta dR/da (n, n), exact; alpha in [1/s], beta in [1/s^2]."""
        n = self.model.size
        return self.bordered(alpha, beta)[:n, :n]

    @cached_property
    def flat(self) -> Floats:
        """Derivative (n + m, n + m) with respect to coordinates and multipliers."""
        return self.bordered()

    @cached_property
    def by_rate(self) -> Floats:
        """Derivative (n + m, n) of residual and constraints with respect to v."""
        return (self.bordered(RATE) - self.flat)[:, : self.model.size] / RATE

    @cached_property
    def by_acceleration(self) -> Floats:
        """The same with respect to a; its first n rows are the mass matrix."""
        return (self.bordered(0.0, ACCELERATION) - self.flat)[:, : self.model.size] / ACCELERATION

    @property
    def K(self) -> Floats:
        """Stiffness dR/dq (n, n)."""
        return self.flat[: self.model.size, : self.model.size]

    @property
    def C(self) -> Floats:
        """Damping dR/dv (n, n)."""
        return self.by_rate[: self.model.size]

    @property
    def M(self) -> Floats:
        """Mass matrix dR/da (n, n)."""
        return self.by_acceleration[: self.model.size]

    @property
    def J(self) -> Floats:
        """Gradient (m, n) of the constraints."""
        return self.flat[self.model.size :, : self.model.size]

    @property
    def node(self) -> Floats:
        """(nodes, NODE_SIZE) records of all nodes, a copy."""
        return self._here()[0].node.copy()

    def motion(self, frame: Frame) -> FrameMotion:
        """Motion of a frame that has a node."""
        node = self.model.layout.node(frame)
        if node is None:
            raise DescriptionError(f"no node sits at {frame.label}: results observe frames anywhere.")
        return frame_motion(self._here()[0].node[node])


def at_rest(model: Model, loads: Loads, q: Floats, multipliers: Floats | None = None) -> Evaluation:
    """A state without rates and accelerations, evaluated; the multipliers are zero if not given."""
    zero = np.zeros(model.size)
    return Evaluation(model, loads, q, zero, zero, np.zeros(model.rows) if multipliers is None else multipliers)
