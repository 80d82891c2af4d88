"""The one sparse matrix of a net, at the service of the compiled Newton solver, which asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from anguilla.compiler.asking import answered
from anguilla.linear.sparse import ROUGH, Solved, Store
from anguilla.model.model import Model
from anguilla.model.operator import net_of

if TYPE_CHECKING:
    from anguilla.solve.newton.newton import Scratch

__all__ = ["attend", "told"]

_SOLVERS: WeakKeyDictionary[Scratch, Solver] = WeakKeyDictionary()


class Solver:
    """Factorises and solves, in the memory of a Newton solver, at the desk of the thread that asks."""

    def __init__(self, system: Model, scratch: Scratch) -> None:
        self._system, self._step = system, scratch.step
        self._solved: Solved | None = None
        self._store = Store()
        self.error: BaseException | None = None

    def failed(self, error: BaseException) -> None:
        """Keep what went wrong."""
        self.error = error

    def factorise(self) -> int:
        """Factorise the tangent that lies at the desk; 0 if that went well."""
        desk = self._system.desk()
        net = self._system.once(net_of)
        self._solved = net.factorise(net.data(desk.workspace, desk.loads), self._store)
        return 1 if self._solved is None or self._solved.singular else 0

    def solve(self) -> int:
        """Solve for the right-hand side in the memory, in place; 0 if that went well."""
        if self._solved is None:
            return 1
        self._step[:] = self._solved.solve(self._step, exact=ROUGH)
        return 0


def told(scratch: Scratch) -> None:
    """Raise what went wrong while a Newton solver asked: no exception passes through a kernel."""
    solver = _SOLVERS.get(scratch)
    if solver is not None and solver.error is not None:
        error, solver.error = solver.error, None
        raise error


def attend(system: Model, scratch: Scratch) -> None:
    """Answer the questions of a Newton solver."""
    solver = _SOLVERS[scratch] = Solver(system, scratch)
    scratch.question[:] = answered(solver.factorise), answered(solver.solve)
