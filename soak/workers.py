"""Processes that judge robots, watched: one that dies or takes too long is replaced, and its robot is recorded."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from typing import Any

PATIENCE = 60.0  # [s] a robot may take, on a machine that has its cores for the campaign
WARM_UP = 900.0  # [s] a worker may take to load or compile all kernels


def one(seed: int, index: int) -> dict:
    """The record of robot `index`."""
    import generate
    import verify

    began = time.perf_counter()
    try:
        spec = generate.robot(seed, index)
    except Exception as error:  # the generator describes legal robots only
        record: dict[str, Any] = {"outcome": "crash", "reason": f"generator: {type(error).__name__}: {error}"}
    else:
        record = verify.judge(spec)
    return {"index": index, "seed": seed, **record, "seconds": round(time.perf_counter() - began, 3)}


Work = Callable[[Any, int], None]


def _work(pipe: Any, seed: int) -> None:
    """A worker: warms up, says so, then answers numbers by records."""
    for index in (0, 15, 3):
        one(1, index)
    pipe.send("ready")
    while (index := pipe.recv()) is not None:
        pipe.send(one(seed, index))


class Worker:
    """One process and what it is doing."""

    def __init__(self, seed: int, work: Work, patience: float) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, far = context.Pipe()
        self.process = context.Process(target=work, args=(far, seed), daemon=True)
        self.seed, self.patience = seed, patience
        self.process.start()
        far.close()
        self.index: int | None = None
        self.ready, self.since = False, time.monotonic()

    def give(self, index: int | None) -> None:
        """A number to judge; None ends the worker."""
        self.index, self.since = index, time.monotonic()
        self.pipe.send(index)

    @property
    def late(self) -> bool:
        """Whether it takes too long."""
        busy = self.index is not None or not self.ready
        return busy and time.monotonic() - self.since > (self.patience if self.ready else WARM_UP)

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def records(
    seed: int, indices: list[int], workers: int, *, until: float = float("inf"), patience: float = PATIENCE,
    work: Work = _work,
) -> Iterator[dict]:  # fmt: skip
    """Records of the robots in the order they are done; none is begun after `until` (time.monotonic)."""
    todo = list(reversed(indices))
    crew = [Worker(seed, work, patience) for _ in range(min(workers, len(todo)))]
    stillborn = 0
    try:
        while crew:
            heard = wait([worker.pipe for worker in crew], timeout=0.2)
            more = bool(todo) and time.monotonic() < until
            for worker in list(crew):
                record, dead = _news(worker, worker.pipe in heard)
                if dead:
                    stillborn += not worker.ready
                    if stillborn > 3:
                        raise RuntimeError("the workers end before they begin.")
                    crew.remove(worker)
                    crew += [Worker(seed, work, patience)] if more else []
                elif worker.ready and worker.index is None:
                    worker.give(todo.pop() if todo and time.monotonic() < until else None)
                    if worker.index is None:
                        worker.process.join(10.0)
                        crew.remove(worker)
                if record is not None:
                    yield record
    finally:
        for worker in crew:
            worker.kill()


def _news(worker: Worker, heard: bool) -> tuple[dict | None, bool]:
    """A record, if there is one, and whether the worker is no more."""
    if heard:
        try:
            said = worker.pipe.recv()
        except (EOFError, OSError):
            return _lost(worker, "crash"), True
        worker.ready, worker.index = True, None
        return (None if said == "ready" else said), False
    return (_lost(worker, "hang"), True) if worker.late else (None, False)


def _lost(worker: Worker, outcome: str) -> dict | None:
    """The record of the robot that a worker was at when it died or had to be killed."""
    worker.kill()
    if worker.index is None:
        return None
    why = (
        f"no answer in {worker.patience:g} s" if outcome == "hang" else f"the process died ({worker.process.exitcode})"
    )
    seconds = round(time.monotonic() - worker.since, 3)
    return {"index": worker.index, "seed": worker.seed, "outcome": outcome, "reason": why, "seconds": seconds}
