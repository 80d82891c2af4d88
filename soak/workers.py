"""Processes that judge robots, watched: one that dies or takes too long is replaced, and its robot is recorded."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import Any

PATIENCE = 60.0  # [s] a robot may take
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


def _work(pipe: Any, seed: int) -> None:
    """A worker: warms up, says so, then answers numbers by records."""
    for index in (0, 15, 3):
        one(1, index)
    pipe.send("ready")
    while (index := pipe.recv()) is not None:
        pipe.send(one(seed, index))


class Worker:
    """One process and what it is doing."""

    def __init__(self, seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, far = context.Pipe()
        self.process = context.Process(target=_work, args=(far, seed), daemon=True)
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
        return busy and time.monotonic() - self.since > (PATIENCE if self.ready else WARM_UP)

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def records(seed: int, indices: list[int], workers: int, until: float = float("inf")) -> Iterator[dict]:
    """Records of the robots in the order they are done; none is begun after `until` (time.monotonic)."""
    todo = list(reversed(indices))
    crew = [Worker(seed) for _ in range(min(workers, max(1, len(todo))))]
    failures = 0
    try:
        while crew:
            ready = wait([worker.pipe for worker in crew], timeout=0.5)
            for worker in list(crew):
                record, dead = None, worker.late
                if worker.pipe in ready:
                    try:
                        said = worker.pipe.recv()
                        record = None if said == "ready" else said
                        worker.ready, worker.index = True, None
                    except (EOFError, OSError):
                        dead = True
                if dead:
                    index, late = worker.index, worker.late
                    worker.kill()
                    crew.remove(worker)
                    if index is None:
                        failures += 1
                        if failures > 3:
                            raise RuntimeError("workers end before they begin.")
                    else:
                        why = (
                            f"no answer in {PATIENCE:g} s" if late else f"the process died ({worker.process.exitcode})"
                        )
                        record = {"index": index, "seed": seed, "outcome": "hang" if late else "crash", "reason": why,
                                  "seconds": round(time.monotonic() - worker.since, 3)}  # fmt: skip
                    if todo and time.monotonic() < until:
                        crew.append(Worker(seed))
                elif worker.ready and worker.index is None:
                    if todo and time.monotonic() < until:
                        worker.give(todo.pop())
                    else:
                        worker.give(None)
                        worker.process.join(10.0)
                        crew.remove(worker)
                if record is not None:
                    yield record
    finally:
        for worker in crew:
            worker.kill()
