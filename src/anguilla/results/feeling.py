"""Contact forces at the present states of running motions: one compiled call for all copies, which disturbs none of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anguilla.compiler.distant import entry
from anguilla.compiler.pointing import address_of, table_at
from anguilla.describe import Load
from anguilla.interact.kernels.contact import has_contacts
from anguilla.interact.kernels.table import DT, TIME, Loads
from anguilla.interact.kernels.touch import PUSH
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.evaluate import descend, meet, touch
from anguilla.model.model import Model

__all__ = ["Feeler"]

INSTANT = float(np.finfo(np.float64).tiny)  # [s] since a state whose memory is known: bristles stay as they are


@entry(descend)
def feel(tree, ws, loads, where, fresh, column, rows, times, q, v, zero, wrench, told):
    """What contacts give in the states q, v (k, n) of motions, which remember what stands in their own loads.

    Args:
        tree: the robot.
        ws: scratch memory.
        loads: tables to compute in, which are no motion's.
        where: (k,) addresses of the loads of the motions.
        fresh: (k,) [s] the first step of a motion that has just begun and remembers nothing; zero of others.
        column: (w,) places in the row of the loads.
        rows: (k, w) what stands there now.
        times: (k,) [s].
        q: (k, n) coordinates.
        v: (k, n) rates.
        zero: (n,) zeros.
        wrench: (k, f, 6) gets the wrenches of frame loads that are contacts.
        told: (k, t, 10) gets what is known of contacts between parts, as in `Touches.told`.

    """
    for c in range(len(q)):
        own = table_at(where[c], loads)
        for j in range(len(own.row)):  # none, where loads have their row elsewhere
            loads.row[j] = own.row[j]
        for j in range(len(column)):
            loads.row[column[j]] = rows[c, j]
        loads.row[TIME], loads.row[DT] = times[c], fresh[c] if fresh[c] > 0.0 else INSTANT
        known = 0.0 if fresh[c] > 0.0 else 1.0
        for f in range(len(own.frames.state)):
            for j in range(3):
                for x in range(6):
                    loads.frames.state[f, j, x] = known * own.frames.state[f, j, x]
        for h in range(len(own.touches.held)):
            for j in range(2):
                for x in range(7):
                    loads.touches.held[h, j, x] = known * own.touches.held[h, j, x]
        descend(tree, ws, q[c], v[c], zero)
        if has_contacts(loads.frames):
            touch(ws, loads)
        if len(loads.touches.table) > 0:
            meet(ws, loads)
        for f in range(wrench.shape[1]):
            for x in range(6):
                wrench[c, f, x] = loads.frames.wrench[f, x]
        for k in range(told.shape[1]):
            for x in range(told.shape[2]):
                told[c, k, x] = loads.touches.told[k, x]


class Feeler:
    """Contact forces of motions of a model, at a desk of its own.

    Args:
        model: the model.
        loads: tables of the loads of the motions, kept by whoever made them.

    Attributes:
        column: all places in the row of the loads.

    """

    def __init__(self, model: Model, loads: Sequence[Loads]) -> None:
        self._model, self._desk, self._of = model, model.new_desk(), list(loads)
        self._where = np.array([address_of(table) for table in self._of], dtype=np.int64)
        row = model.loads(0.0, dict.fromkeys(model.robot.inputs, 0.0)).loads.row
        self._loads, self.column = self._desk.loads._replace(row=row.copy()), np.arange(len(row))
        self._zero, self._found = np.zeros(model.size), dict[int, tuple[Ints, Floats]]()

    def forces(
        self, t: Floats, q: Floats, v: Floats, fresh: Floats, column: Ints, rows: Floats
    ) -> Callable[[Load], Floats]:
        """A function of a contact that gives its force (k, 3) [N], world axes, as `contact_force` of results does.

        Args:
            t: (k,) [s].
            q: (k, n).
            v: (k, n).
            fresh: (k,) [s] the first step of a motion that has just begun and remembers nothing; zero of others.
            column: (w,) places in the row of the loads that differ from what the last step left there.
            rows: (k, w) what stands there now.

        """
        model, loads = self._model, self._loads
        wrench = np.zeros((len(q), *loads.frames.wrench.shape))
        told = np.zeros((len(q), *loads.touches.told.shape))
        given = self._where, fresh, column, rows, t, q, v, self._zero
        feel(model.tree, self._desk.workspace, loads, *given, wrench, told)

        def force(load: Load) -> Floats:
            mine, on_b = self._rows(load)
            if load.meets:
                return np.einsum("k,tki->ti", on_b, told[:, mine, PUSH : PUSH + 3])
            return np.asarray(wrench[:, mine, 3:].sum(axis=1), dtype=np.float64)

        return force

    def _rows(self, load: Load) -> tuple[Ints, Floats]:
        """Rows of a contact in the table of its kind; signs that turn forces into those on part b, of one between parts."""
        if id(load) not in self._found:
            tables = self._model.tables
            number = [own is load for own in self._model.robot.loads].index(True)
            mine = np.flatnonzero(np.array(tables.touch_loads if load.meets else tables.frame_loads) == number)
            self._found[id(load)] = mine, -np.array(tables.touching.sides)[mine] if load.meets else np.zeros(0)
        return self._found[id(load)]
