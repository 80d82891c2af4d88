"""Where jobs run: here, on threads, in processes of our own, or wherever a given executor sends them.

Processes are the default: a job is a user's Python, which holds the interpreter lock between kernels (a loop of steps from
Python was no faster on two threads than on one, and 1.8 to 1.9 times as fast in two processes), and a job that crashes takes
only its process along.
Each worker is a pool of one process, so that when a process dies it is known which job it was doing.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from anguilla.errors import AnguillaError
from anguilla.many.table import Run
from anguilla.many.values import as_outputs
from anguilla.solve.newton.progress import stopped_by

__all__ = ["Crew", "Given", "Here", "Processes", "StartError", "Threads", "call", "payload_of"]

COMPILING = 120.0  # [s] that others wait for the first job when no kernels are compiled yet
KEPT = 4000  # letters of a trace
LOOK, DESERTED = 5.0, 120.0  # [s] between looks for workers of a cluster, and after which those that were are missed
SINGLE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class StartError(AnguillaError):
    """Worker processes could not start, or could not load the job."""


def call(job: Callable[..., Any], parameters: Mapping[str, Any], _ticket: str = "") -> Run:
    """Run a job. Errors become text where they happen: they may hold what cannot be sent."""
    began = time.perf_counter()
    try:
        outputs = as_outputs(job(**parameters), parameters)
    except (Exception, SystemExit) as error:
        text = f"{type(error).__name__}: {error}".rstrip(": ")
        return Run(parameters, None, text, traceback.format_exc()[-KEPT:], time.perf_counter() - began)
    return Run(parameters, outputs, seconds=time.perf_counter() - began)


class Crew:
    """Those who do the work: at most `limit` jobs at once."""

    limit: float = 1
    renews = False  # whether a worker that died is replaced

    def submit(self, job: Callable[..., Any], parameters: Mapping[str, Any]) -> Future[Run]:
        """Begin a job."""
        raise NotImplementedError

    def returned(self, future: Future[Run]) -> None:
        """Take note that a job ended."""

    def look_after(self) -> None:
        """Raise a BrokenExecutor if nobody is left who could do the work; called now and then while nothing ends."""

    def end_of(self, future: Future[Run]) -> str:
        """How the process of a job ended that is gone: "late", because the job took too long, or in other words."""
        return "for an unknown reason"

    def close(self) -> None:
        """End when all jobs have ended."""

    def stop(self) -> None:
        """End now."""
        self.close()


class Here(Crew):
    """Nobody but this process, one job after the other."""

    def submit(self, job: Callable[..., Any], parameters: Mapping[str, Any]) -> Future[Run]:
        """Run the job."""
        future: Future[Run] = Future()
        future.set_result(call(job, parameters))
        return future


class Given(Crew):
    """An executor that somebody else has made and will close."""

    def __init__(self, executor: Executor, limit: int | None) -> None:
        self.executor = client_of(executor)
        self.limit = float("inf") if limit is None else limit
        self.begun: set[Future[Run]] = set()
        self.seen, self.looked = float("inf"), time.monotonic()  # when there were workers last, when we looked last

    def look_after(self) -> None:
        """Notice that a Dask cluster has lost all of its workers: its jobs would wait for others without end."""
        now = time.monotonic()
        if now < self.looked + LOOK or not callable(getattr(self.executor, "scheduler_info", None)):
            return
        self.looked = now
        if self.executor.scheduler_info()["workers"]:
            self.seen = now
        elif now > self.seen + DESERTED:
            raise BrokenExecutor(f"all workers of the cluster are gone, since {now - self.seen:.0f} s")

    def submit(self, job: Callable[..., Any], parameters: Mapping[str, Any]) -> Future[Run]:
        """Hand the job over."""
        # a ticket, for executors which give the old answer to the same question, also if it was a lost worker
        begun = self.executor.submit(call, job, parameters, uuid.uuid4().hex)
        future = begun if isinstance(begun, Future) else fetched(begun)
        self.begun.add(future)
        return future

    def returned(self, future: Future[Run]) -> None:
        """Forget the job."""
        self.begun.discard(future)
        self.seen = time.monotonic()

    def stop(self) -> None:
        """Cancel what has not begun."""
        for future in self.begun:
            future.cancel()


def client_of(executor: Any) -> Any:
    """The Dask client of an executor that it made, else the executor itself.

    The futures of such an executor never end if a worker dies between the end of a job and the fetching of its result.
    """
    client = getattr(executor, "_client", None)
    ours = type(executor).__module__.startswith("distributed") and not getattr(executor, "_kwargs", None)
    return client if ours and callable(getattr(client, "submit", None)) else executor


def fetched(begun: Any) -> Future[Run]:
    """A future that has the result of one of Dask, once it was fetched, or the error that prevents it."""
    future: Future[Run] = Future()

    def fetch(ended: Any) -> None:
        try:
            run = ended.result()
        except BaseException as error:
            if future.set_running_or_notify_cancel():
                future.set_exception(error)
        else:
            if future.set_running_or_notify_cancel():
                future.set_result(run)

    def cancelled(wanted: Future[Run]) -> None:
        if wanted.cancelled():
            begun.cancel()

    begun.add_done_callback(fetch)
    future.add_done_callback(cancelled)
    return future


class Threads(Given):
    """Threads of this process: nothing to send, nothing to start; side by side only inside kernels."""

    def __init__(self, count: int) -> None:
        super().__init__(ThreadPoolExecutor(count, thread_name_prefix="sweep"), count)
        self.halt = threading.Event()

    def submit(self, job: Callable[..., Any], parameters: Mapping[str, Any]) -> Future[Run]:
        """Hand the job over."""

        def begin() -> Run:
            with stopped_by(self.halt):
                return call(job, parameters)

        return self.executor.submit(begin)

    def close(self) -> None:
        """Wait for all."""
        self.executor.shutdown(wait=True)

    def stop(self) -> None:
        """Begin nothing more; motions under way end at their next block of steps, other work cannot be ended."""
        self.halt.set()
        self.executor.shutdown(wait=False, cancel_futures=True)


# Processes ----------------------------------------------------------------------------------------------------------------


class Processes(Crew):
    """Processes of our own, started afresh (spawn): safe with threads, the same on all systems.

    Args:
        payload: the job, as `payload_of` packs it.
        count: number of processes.
        timeout: time after which a job and its process are ended [s], or None.

    """

    renews = True

    def __init__(self, payload: bytes, count: int, timeout: float | None) -> None:
        self.payload, self.timeout = payload, timeout
        self.idle: list[_Worker] = []
        self.busy: dict[Future[Run], _Worker] = {}
        self.alone_until = time.monotonic() + COMPILING if _nothing_compiled() else 0.0
        try:
            self.idle = [_Worker(payload) for _ in range(count)]
            self.idle[-1].check()
        except BaseException:
            self.stop()
            raise
        self.count = count

    @property
    def limit(self) -> float:  # type: ignore[override]
        """All, but one while it compiles the kernels which the others then find on the disk."""
        return 1 if time.monotonic() < self.alone_until else self.count

    def submit(self, job: Callable[..., Any], parameters: Mapping[str, Any]) -> Future[Run]:
        """Give a job to an idle process, or to a new one in the place of one that died."""
        worker = self.idle.pop()
        try:
            future = worker.begin(parameters, self.timeout)
        except BrokenExecutor:
            worker.close()
            worker = _Worker(self.payload)
            future = worker.begin(parameters, self.timeout)
        self.busy[future] = worker
        return future

    def returned(self, future: Future[Run]) -> None:
        """The process of a job is idle again, or dead."""
        self.idle.append(self.busy.pop(future))
        self.alone_until = 0.0

    def end_of(self, future: Future[Run]) -> str:
        """How the process of a job ended that is gone: "late", because the job took too long, or in other words."""
        worker = self.busy[future]
        seconds = time.monotonic() - worker.began
        worker.close()  # waits for the process, which then has an exit code
        code = None if worker.process is None else worker.process.exitcode
        # half: when the process began with the job is known to us only later
        if self.timeout is not None and code in (1, None) and seconds >= 0.5 * self.timeout:
            return "late"
        if code == -getattr(signal, "SIGKILL", 0):
            return "it was killed (SIGKILL), perhaps for lack of memory"
        return "for an unknown reason" if code is None else f"it crashed or left, with exit code {code}"

    def close(self) -> None:
        """Let the processes end."""
        for worker in self.idle:
            worker.close()

    def stop(self) -> None:
        """End the processes and what they are doing."""
        for worker in (*self.idle, *self.busy.values()):
            worker.kill()


class _Worker:
    """A pool of one process."""

    def __init__(self, payload: bytes) -> None:
        context = multiprocessing.get_context("spawn")
        self.pool = ProcessPoolExecutor(1, mp_context=context, initializer=_prepare, initargs=(payload,))
        self.ready = self.begun = time.monotonic()
        others = set(multiprocessing.active_children())
        with _for_children():
            self.hello = self.pool.submit(_hello)
        self.process = next((child for child in multiprocessing.active_children() if child not in others), None)
        self.hello.add_done_callback(self._is_ready)

    def _is_ready(self, _: Any) -> None:
        self.ready = time.monotonic()

    @property
    def began(self) -> float:
        """When the last job began."""
        return max(self.ready, self.begun)

    def begin(self, parameters: Mapping[str, Any], timeout: float | None) -> Future[Run]:
        """Begin a job."""
        self.begun = time.monotonic()
        return self.pool.submit(_call, parameters, timeout)

    def check(self) -> None:
        """Wait until the process is there and has the job, or raise an error."""
        try:
            _, problem = self.hello.result()
        except BrokenExecutor:
            raise StartError(
                "worker processes cannot start. A script must call ag.sweep below `if __name__ == '__main__':`, because each "
                "worker process reads the script to find the job"
            ) from None
        if problem:
            raise StartError(
                f"worker processes cannot load the job ({problem}). Define it in a module or in a script file"
            )

    def close(self) -> None:
        self.pool.shutdown(wait=True)

    def kill(self) -> None:
        with suppress(Exception):
            os.kill(self.hello.result(timeout=10.0)[0], getattr(signal, "SIGKILL", signal.SIGTERM))
        self.pool.shutdown(wait=self.hello.done(), cancel_futures=True)


@contextmanager
def _for_children() -> Iterator[None]:
    """Processes started meanwhile leave Ctrl-C to us, and use one thread in linear algebra if the user has said nothing."""
    mine = [name for name in SINGLE if name not in os.environ] if "OMP_NUM_THREADS" not in os.environ else []
    os.environ.update(dict.fromkeys(mine, "1"))
    main = threading.current_thread() is threading.main_thread()  # only there signals can be set
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    script = sys.modules["__main__"]
    no_file = None if _is_file(script) else script.__dict__.pop("__file__", None)  # they would try to read "<stdin>"
    try:
        yield
    finally:
        if no_file is not None:
            script.__file__ = no_file
        if main:
            signal.signal(signal.SIGINT, before)
        for name in mine:
            del os.environ[name]


def _is_file(script: Any) -> bool:
    """Whether a program can be read again: it was not typed, nor piped."""
    return Path(getattr(script, "__file__", None) or "").is_file()


def _nothing_compiled() -> bool:
    """Whether neither the kernels that every solver of rods needs are on the disk, nor those of soft volumes."""
    from anguilla.compiler.jit import cache_folder  # a worker that needs no kernels starts faster without

    package = Path(__file__).parents[1]
    folders = (cache_folder(package / file) for file in ("model/evaluate.py", "fem/assembly.py"))
    return not any(folder is not None and folder.is_dir() for folder in folders)


def payload_of(job: Callable[..., Any]) -> bytes:
    """Pack a job so that a new process can unpack it, or raise an error."""
    plain = getattr(job, "__module__", None) != "__main__" or _is_file(sys.modules["__main__"])
    try:
        if plain:
            return pickle.dumps(job)
        why = "it was typed at a prompt or in a notebook"
    except Exception as error:  # pickle raises many kinds
        why = str(error)
    try:
        import cloudpickle
    except ImportError:
        raise StartError(
            f"the job cannot be sent to other processes ({why}). Define it in a module, or pip install cloudpickle"
        ) from None
    try:
        return bytes(cloudpickle.dumps(job))
    except Exception as error:
        raise StartError(
            f"the job cannot be sent to other processes ({error}). It refers to objects that cannot be pickled"
        ) from None


# In a worker process ------------------------------------------------------------------------------------------------------

_STATE: dict[str, Any] = {}


def _prepare(payload: bytes) -> None:
    """Leave Ctrl-C to the parent, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True).start()
    _STATE["payload"] = payload


def _hello() -> tuple[int, str]:
    """The number of this process, and what is wrong with the job, if anything."""
    try:
        _STATE["job"] = pickle.loads(_STATE.pop("payload"))
    except Exception as error:
        return os.getpid(), f"{type(error).__name__}: {error}"
    return os.getpid(), ""


def _call(parameters: Mapping[str, Any], timeout: float | None) -> Run:
    if timeout is None:
        return call(_STATE["job"], parameters)
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(timeout, exit=True, file=nowhere)  # ends the process, also inside a kernel
        try:
            return call(_STATE["job"], parameters)
        finally:
            faulthandler.cancel_dump_traceback_later()
