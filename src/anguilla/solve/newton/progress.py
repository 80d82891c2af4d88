"""A progress bar that appears only when work turns out to be long, and a way to stop work in other threads."""

from __future__ import annotations

import html
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

PATIENCE = 1.0  # [s] before a bar is shown

__all__ = ["progress_bar", "stopped_by"]


class _Thread(threading.local):
    """What a thread is told."""

    stop: threading.Event | None = None


_THREAD = _Thread()


@contextmanager
def stopped_by(stop: threading.Event) -> Iterator[None]:
    """Work inside, in this thread, ends with KeyboardInterrupt when it next tells how much is done, once `stop` is set."""
    before, _THREAD.stop = _THREAD.stop, stop
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
        stop = _THREAD.stop
        if stop is not None and stop.is_set():
            raise KeyboardInterrupt
        if self.bar is None:
            late = self.show is None and time.perf_counter() - self.began > PATIENCE
            if not (self.show or late):
                return
            notebook = in_notebook()
            if not (self.show or notebook or sys.stderr.isatty()):
                return
            if notebook:
                self.bar = NotebookBar()
            else:
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


def in_notebook() -> bool:
    """Whether this runs in a kernel, whose front end shows what is displayed."""
    if "ipykernel" not in sys.modules or "IPython" not in sys.modules:
        return False
    return getattr(sys.modules["IPython"].get_ipython(), "kernel", None) is not None


class NotebookBar:
    """A bar in a cell of a notebook, with the methods of `rich.progress.Progress`, which asks for widgets there."""

    def __init__(self) -> None:
        self.began = self.drawn = time.perf_counter()
        self.title, self.total = "", 1
        self.handle: Any = None

    @property
    def finished(self) -> bool:
        """Whether all work is done."""
        return self.done >= self.total

    def start(self) -> None:
        """Nothing is shown before there is something to tell."""
        self.done = 0

    def add_task(self, title: str, total: int) -> int:
        """Tell what is done, and how much there is to do."""
        self.title, self.total = title, total
        self._show(self._text(0.0))
        return 0

    def update(self, task: int, completed: int) -> None:
        """Tell how much is done; the bar is drawn five times a second at most."""
        self.done, now = completed, time.perf_counter()
        if now - self.drawn > 0.2:
            self.drawn = now
            self._show(self._text(now - self.began))

    def stop(self) -> None:
        """Take the bar away."""
        self._show("")

    def _text(self, seconds: float) -> str:
        left = f", about {seconds * (self.total - self.done) / self.done:.0f} s left" if self.done and seconds else ""
        share = 100.0 * self.done / max(self.total, 1)
        bar = f'<progress value="{self.done}" max="{self.total}" style="width:20em"></progress>'
        return f"{bar} {html.escape(self.title)}: {share:.0f} %{left}"

    def _show(self, text: str) -> None:
        from IPython.display import HTML, display

        if self.handle is None:
            self.handle = display(HTML(text), display_id=True)
        else:
            self.handle.update(HTML(text))


def progress_bar(title: str, total: int, show: bool | None = None) -> ProgressBar:
    """Give a context with a function tick(done). With show=None a bar appears after a second, if somebody can see it."""
    return ProgressBar(title, total, show)
