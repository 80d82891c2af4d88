"""Steps of many copies of a robot in one call: the compiled core of batches."""

from __future__ import annotations

from anguilla.compiler.distant import entry
from anguilla.compiler.pointing import table_at
from anguilla.model.evaluate import residual, tangent
from anguilla.solve.steps.stepping import run

_run = getattr(run, "compiled", run)


@entry(residual, tangent)
def run_copies(
    tree, ws, s, loads, x, out, where, which, column, rows, none, nothing, numbers, t, dt, first, count, begin, wanted,
    done, status,
):  # fmt: skip
    """Do `count` steps with each of some copies, one copy after the other.

    Args:
        tree: the robot.
        ws: scratch memory, of this thread.
        s: the solver's memory of any copy; with the next two it says what those of all copies look like.
        loads: the loads of any copy.
        x: the state of any copy.
        out: history that nothing is stored in.
        where: (copies, 3) addresses of the solver's memory, loads and state of each copy.
        which: (k,) numbers of the copies that are stepped here.
        column: (w,) places in the row of the loads that depend on inputs.
        rows: (copies, w) what stands there.
        none: (0,) places in the row that change from step to step.
        nothing: (count, 0) what stands there.
        numbers: `Coefficients` as a tuple.
        t: (copies,) time [s] of each.
        dt: step [s].
        first: 0, number of the first step.
        count: number of steps.
        begin: False. This and `first` are arguments, so that the one compilation of `run` serves.
        wanted: `Goal` as a tuple.
        done: (copies,) gets the number of steps done.
        status: (copies,) gets Newton's status.

    """
    for k in range(len(which)):
        c = which[k]
        own, acting, state = table_at(where[c, 0], s), table_at(where[c, 1], loads), table_at(where[c, 2], x)
        for j in range(len(column)):
            acting.row[column[j]] = rows[c, j]
        span = (t[c], dt, first, count, count + 1)
        done[c], status[c] = _run(tree, ws, own, acting, none, nothing, numbers, span, begin, state, wanted, out)
