"""A progress bar that appears only when work turns out to be long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 1.0  # [s] before a bar is shown


@contextmanager
def progress_bar(title: str, total: int, show: bool | None = None) -> Iterator[Callable[[int], None]]:
    """Give a function tick(done). With show=None a bar appears on a terminal after a second."""
    began = time.perf_counter()
    wanted = sys.stderr.isatty() if show is None else show
    bar: Any = None
    task: Any = None

    def tick(done: int) -> None:
        nonlocal bar, task
        if not wanted:
            return
        if bar is None and (show or time.perf_counter() - began > PATIENCE):
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            bar.start()
            task = bar.add_task(title, total=total)
        if bar is not None:
            bar.update(task, completed=done)

    try:
        yield tick
    finally:
        if bar is not None:
            bar.stop()
