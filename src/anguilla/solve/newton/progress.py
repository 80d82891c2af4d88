"""A progress bar that appears only when work turns out to be long, and a way to stop work in other threads."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

PATIENCE = 1.0  # [s] before a bar is shown

__all__ = ["progress_bar", "stopped_by"]

_THREAD = threading.local()


@contextmanager
def stopped_by(stop: threading.Event) -> Iterator[None]:
    """Work inside, in this thread, ends with KeyboardInterrupt when it next tells how much is done, once `stop` is set."""
    before = getattr(_THREAD, "stop", None)
    _THREAD.stop = stop
    try:
        yield
    finally:
        _THREAD.stop = before


class ProgressBar:
    """A context that is called with the work done so far."""

    def __init__(self, title: str, total: int, show: bool | None = None) -> None:
        self.title, self.total, self.show = title, total, show
        self.began = time.perf_counter()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> ProgressBar:
        """Start waiting."""
        return self

    def __call__(self, done: int) -> None:
        """Tell how much is done."""
        stop = getattr(_THREAD, "stop", None)
        if stop is not None and stop.is_set():
            raise KeyboardInterrupt
        if self.bar is None:
            late = time.perf_counter() - self.began > PATIENCE
            if not (self.show or (self.show is None and late and sys.stderr.isatty())):
                return
            from rich.console import Console
            from rich.progress import Progress

            self.bar = Progress(console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=self.total)
        self.bar.update(self.task, completed=done)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.stop()


def progress_bar(title: str, total: int, show: bool | None = None) -> ProgressBar:
    """Give a context with a function tick(done). With show=None a bar appears on a terminal after a second."""
    return ProgressBar(title, total, show)
