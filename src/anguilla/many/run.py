"""Many runs of a function of parameters."""

from __future__ import annotations

import multiprocessing
import os
import queue
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from anguilla._doors import public
from anguilla.errors import DescriptionError, SolverError, as_count, as_positive, refuse, warn
from anguilla.many.keep import Folder, fingerprint
from anguilla.many.parameters import Parameters, as_rows, check_call, name_of
from anguilla.many.table import Run, Sweep
from anguilla.many.workers import Crew, Given, Here, Processes, StartError, Threads, payload_of
from anguilla.solve.newton.progress import progress_bar

__all__ = ["sweep"]


@public
def sweep(
    job: Callable[..., Any], parameters: Parameters, *, file: str | os.PathLike[str] | None = None,
    workers: int | None = None, executor: str | Executor | None = None, shard: tuple[int, int] | None = None,
    retries: int = 2, timeout: float | None = None, again: bool | None = None, progress: bool | None = None,
) -> Sweep:  # fmt: skip
    """Run a function for many values of its parameters, on all cores or on other machines.

    A run that fails does not stop the others. With `file`, every finished run is kept at once, and calling the same sweep
    again makes only the runs that are missing or failed.

    Args:
        job: a function that takes the parameters by name, and returns a number, an array, or a dictionary of them.
        parameters: `ag.grid(...)`, `ag.sample(...)`, a list of dictionaries, or a dictionary of columns of equal length.
        file: a folder to keep the runs in; made if it is not there. `ag.load` reads it.
        workers: how many run at once; all cores by default. 1 runs all in this process, which is best for jobs that
            take milliseconds: processes take a few seconds to start.
        executor: "processes", "threads", or an object with `submit` as those of concurrent.futures, such as
            `dask.distributed.Client(...).get_executor()`. By default processes, or threads if the job cannot be sent to
            another process.
        shard: (k, n) makes every n-th run, from number k = 0 ... n - 1; the n shards share one `file`.
        retries: how often a run is tried again whose process was killed.
        timeout: longest time of a run [s]; its process is then ended. Only with processes.
        again: what to do if `file` has runs: True runs all again; False keeps them even if the function has changed; by
            default they are kept, and a change of the function is an error.
        progress: show a progress bar; by default when the work takes long, on a terminal or in a notebook.

    Returns:
        A Sweep: columns by name, runs by number.

    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(1)  # a worker reads a script that calls sweep outside `if __name__ == "__main__"`; its parent says so
    rows, axes = as_rows(parameters)
    check_call(job, rows[0])
    retries = as_count(retries, "retries", minimum=0)
    count = _cores() if workers is None else as_count(workers, "workers")
    timeout = None if timeout is None else as_positive(timeout, "timeout", "s")
    _check_executor(executor, timeout)
    mine = _shard(shard, len(rows), file)
    if shard is not None and again is True:
        raise DescriptionError("again=True with shard would remove the runs of other shards; remove the folder first.")
    name = name_of(job)
    folder = None if file is None else Folder(file, name, fingerprint(job), rows, axes, again=again)
    runs: list[Run] = [Run(row) for row in rows]
    for k, run in (folder.done() if folder is not None else {}).items():
        runs[k] = Run(rows[k], run.outputs, run.error, run.trace, run.seconds)
    todo = [k for k in mine if not runs[k].ok]

    def keep(k: int, run: Run) -> None:
        runs[k] = Run(rows[k], run.outputs, run.error, run.trace, run.seconds)
        if folder is not None:
            folder.add(k, runs[k])

    try:
        if todo:
            crew = _crew(job, executor, workers, min(count, len(todo)), timeout)
            with progress_bar(f"running {name}", len(mine), progress) as tick:
                work = _Work(job, rows, crew, retries, timeout, keep, lambda left: tick(len(mine) - left))
                work.run(todo)
    except BrokenExecutor as error:
        table = Sweep(name, runs, axes)
        advice = "What has ended is in the result" + (", and in the file: call the sweep again." if file else ".")
        raise SolverError(f"The executor broke down: {error}", table, advice) from None
    finally:
        if folder is not None:
            folder.close()
    table = Sweep(name, runs, axes)
    failed = [k for k in todo if runs[k].status == "failed"]
    if failed:
        told = f"{len(failed)} of {len(todo)} runs failed; run {failed[0]} says: {runs[failed[0]].error}"
        warn(f"{told} (table.failed has all).")
    return table


class _Work:
    """The loop that hands out jobs and takes in runs."""

    def __init__(
        self, job: Callable[..., Any], rows: Sequence[Mapping[str, Any]], crew: Crew, retries: int, timeout: float | None,
        keep: Callable[[int, Run], None], left: Callable[[int], None],
    ) -> None:  # fmt: skip
        self.job, self.rows, self.crew, self.retries, self.timeout = job, rows, crew, retries, timeout
        self.keep, self.left = keep, left
        self.running: dict[Future[Run], tuple[int, float]] = {}
        self.ended: queue.SimpleQueue[Future[Run]] = queue.SimpleQueue()
        self.lost: Counter[int] = Counter()
        self.doubtful: deque[int] = deque()
        self.alone: set[int] = set()

    def run(self, todo: Sequence[int]) -> None:
        """Run all; when it is interrupted, end what is under way."""
        self.waiting = deque(todo)
        try:
            while self.waiting or self.running or self.doubtful:
                self._hand_out()
                self._take_in()
                self.left(len(self.waiting) + len(self.running) + len(self.doubtful))
        except BaseException:
            self.crew.stop()
            self._keep_the_ended()
            raise
        self.crew.close()

    def _keep_the_ended(self) -> None:
        """Keep what ended while we were being interrupted."""
        for future, (k, _) in self.running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                self.keep(k, future.result())

    def _hand_out(self) -> None:
        if self.doubtful and not self.waiting and not self.running:
            self.alone.add(self.doubtful[0])
            self.waiting.append(self.doubtful.popleft())
        while self.waiting and len(self.running) < self.crew.limit:
            k = self.waiting.popleft()
            future = self.crew.submit(self.job, self.rows[k])
            self.running[future] = (k, time.monotonic())
            future.add_done_callback(self.ended.put)

    def _take_in(self) -> None:
        try:
            future = self.ended.get(timeout=0.5)  # not longer: Ctrl-C is heard on every system
        except queue.Empty:
            self.crew.look_after()
            return
        k, began = self.running.pop(future)
        seconds = time.monotonic() - began
        try:
            run = future.result()
        except BrokenExecutor:
            if not self.crew.renews:
                raise
            self._lost(k, seconds, self.crew.end_of(future))
        except Exception as error:  # the executor's own: workers were lost, an output cannot be sent
            if type(error).__name__ == "KilledWorker" and self.retries and k not in self.alone:
                self.doubtful.append(k)  # Dask also blames jobs that only waited there: alone it is known
            else:
                self.keep(k, Run(self.rows[k], None, f"{type(error).__name__}: {error}", "", seconds))
        else:
            self.keep(k, run)
        self.crew.returned(future)

    def _lost(self, k: int, seconds: float, end: str) -> None:
        """The process of a job is gone: it took too long, or was killed."""
        self.lost[k] += 1
        if end == "late":
            self.keep(k, Run(self.rows[k], None, f"it took longer than the timeout, {self.timeout:g} s", "", seconds))
        elif self.lost[k] > self.retries:
            times = "once" if self.lost[k] == 1 else f"{self.lost[k]} times"
            self.keep(k, Run(self.rows[k], None, f"its process died {times}: {end}", "", seconds))
        else:
            self.waiting.append(k)


def _cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _check_executor(executor: Any, timeout: float | None) -> None:
    if isinstance(executor, str):
        if executor not in ("processes", "threads"):
            raise refuse("executor", '"processes", "threads", or an object with submit', executor)
    elif executor is not None and not callable(getattr(executor, "submit", None)):
        raise refuse("executor", '"processes", "threads", or an object with submit', executor)
    if timeout is not None and executor not in (None, "processes"):
        raise DescriptionError("timeout needs executor='processes': other workers cannot be stopped from here.")


def _shard(shard: Any, size: int, file: Any) -> range:
    if shard is None:
        return range(size)
    if not isinstance(shard, (tuple, list)) or len(shard) != 2:
        raise refuse("shard", "a pair (k, n) with 0 <= k < n", shard)
    k, n = as_count(shard[0], "shard[0]", minimum=0), as_count(shard[1], "shard[1]")
    if k >= n:
        raise refuse("shard", "a pair (k, n) with 0 <= k < n", shard)
    if file is None:
        raise DescriptionError("shard needs file: the folder in which the shards meet.")
    return range(k, size, n)


def _crew(job: Callable[..., Any], executor: Any, workers: int | None, count: int, timeout: float | None) -> Crew:
    """Choose who does the work."""
    if executor is not None and not isinstance(executor, str):
        return Given(executor, workers)
    if executor == "threads":
        return Threads(count)
    if executor is None and workers == 1 and timeout is None:
        return Here()
    try:
        return Processes(payload_of(job), count, timeout)
    except StartError as error:
        if executor == "processes" or timeout is not None:
            raise DescriptionError(f"{error}, or use executor='threads'.") from None
        warn(f"threads are used: {error}.")
        return Threads(count)
