"""Memory to compute in: what kernels write while they evaluate a model, and what loads remember from step to step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anguilla.interact.kernels.rubbing import UNKNOWN
from anguilla.interact.kernels.table import QUIET, Loads
from anguilla.mechanics.tree import Workspace

if TYPE_CHECKING:
    from anguilla.model.user import UserLoads

__all__ = ["At", "Desk"]


class Desk:
    """Memory of one computation with a model; the model itself is never written to.

    A thread has one desk of each model to read results at. What remembers (a time loop, a Newton solve) works at a desk of
    its own: `with model.apart():`, or `with model.at(desk):` for one that is kept.

    Attributes:
        loads: the tables of the loads, with scratch memory and internal states of this desk, and an empty row.
        user: the loads written in Python, if there are any.
        kept: what solvers keep there from call to call, memory or what they last found out.

    """

    __slots__ = ("_forgets", "_workspace", "holder", "kept", "lender", "loads", "user")

    def __init__(self, workspace: Workspace, loads: Loads, user: UserLoads) -> None:
        self._workspace, self.loads, self.user = workspace, loads, user
        self.kept: dict[str, Any] = {}
        self.lender: Desk | None = None  # whose scratch memory this is, if it is not its own
        self.holder: object = None  # the evaluation whose state lies in the workspace
        cables, touches, relaxing = loads.cables, loads.touches, loads.relaxing
        memory = cables.factor, cables.path, loads.pairs.factor, loads.frames.state, touches.held, relaxing.term
        self._forgets = any(
            len(array) for array in (*memory, loads.constraints.slack)
        )  # else there is nothing to forget

    @property
    def workspace(self) -> Workspace:
        """Scratch memory of the kernels. Whoever takes it may write to it: no evaluation relies on it afterwards."""
        self.holder = None
        return self._workspace

    def held(self, holder: object) -> Workspace:
        """The scratch memory, for an evaluation that writes its state to it."""
        self.holder = holder
        return self._workspace

    def refresh(self) -> None:
        """Forget what loads remember."""
        if not self._forgets:
            return
        cables, constraints = self.loads.cables, self.loads.constraints
        if len(cables.factor):
            cables.factor[:] = 1.0
        if len(cables.path):
            cables.slip[:], cables.slips[:] = UNKNOWN, 0.0
        if len(self.loads.pairs.factor):
            self.loads.pairs.factor[:] = 1.0
        if len(self.loads.frames.state):
            self.loads.frames.state[:] = 0.0
        if len(self.loads.touches.held):
            self.loads.touches.held[:], self.loads.touches.before[:] = 0.0, 0.0
            self.loads.touches.count[QUIET] = 0  # a step that an error ended may have left contacts out
        if len(self.loads.relaxing.term):
            self.loads.relaxing.past[:], self.loads.relaxing.over[:] = 0.0, np.inf
        if len(constraints.slack):
            constraints.slack[:] = 0


class At:
    """Work at a desk of a model, in this thread, as long as the block lasts."""

    __slots__ = ("_before", "_desk", "_done", "_here")

    def __init__(self, here: Any, desk: Desk, done: list[Desk] | None = None) -> None:
        self._here, self._desk, self._done = here, desk, done
        self._before: Desk | None = None

    def __enter__(self) -> Desk:
        self._before = getattr(self._here, "desk", None)
        self._here.desk = self._desk
        return self._desk

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            del self._here.desk
        else:
            self._here.desk = self._before
        if self._done is not None:
            self._done.append(self._desk)
