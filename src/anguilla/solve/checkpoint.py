"""Checkpoints of long simulations: everything the time loop remembers, so that it can go on as if nothing had happened.

The state is more than (q, v, a): Newton's solver carries a factorised tangent from step to step, so its memory is kept
too. A resumed run ends bit-identical to an uninterrupted one.
"""

from __future__ import annotations

import hashlib
import os
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anguilla._table import Table
from anguilla.errors import DescriptionError
from anguilla.store.whole import whole_file

__all__ = ["Checkpoint", "kept"]

SECONDS = 5.0  # between two checkpoints, at least
SHARE = 0.02  # of the time may be spent on writing them
FORMAT = 1


class Checkpoint:
    """Keeps a simulation in a file while it runs.

    Args:
        path: the file; if it is there and belongs to the same simulation, the run goes on from it.
        identity: arrays and numbers that tell this simulation from all others.
        memory: arrays the loop goes on with, changed in place; they are read back in place.
        rows: arrays (rows, ...) of stored results, of which a growing part is filled.
        every: steps per stored row.
        counter: an object and the name of a whole number it counts in, kept too.
        seconds: least wall time between two checkpoints [s]; a few by default.

    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        identity: Iterable[Any],
        memory: dict[str, np.ndarray],
        rows: tuple[np.ndarray, ...],
        every: int,
        counter: tuple[Any, str],
        seconds: float | None = None,
    ) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise DescriptionError(
                f"checkpoint must lie in an existing folder; there is none {str(self.path.parent)!r}."
            )
        if self.path.is_dir():
            raise DescriptionError(f"checkpoint must name a file; {str(self.path)!r} is a folder.")
        self.identity = fingerprint(identity)
        self.memory, self.rows, self.every, self.counter = memory, rows, every, counter
        self.seconds, self.cost, self.last = SECONDS if seconds is None else seconds, 0.0, time.perf_counter()
        self.saved = -1
        self.latest: tuple[int, dict[str, Any]] | None = None  # a consistent state in memory, for an interruption

    def restore(self) -> int:
        """Read the file back into the memory and the rows; return the steps done, 0 if there is no file."""
        if not self.path.exists():
            return 0
        try:
            with open(self.path, "rb") as stream, np.load(stream, allow_pickle=False) as kept:
                if int(kept["format"]) != FORMAT or str(kept["identity"]) != self.identity:
                    raise DescriptionError(
                        f"checkpoint {str(self.path)!r} belongs to another simulation (another robot, load, input, start, "
                        f"step, duration or version): delete it to begin anew, or name another file."
                    )
                done = int(kept["done"])
                for name, array in self.memory.items():
                    array[...] = kept[f"memory_{name}"]
                for k, array in enumerate(self.rows):
                    array[: done // self.every + 1] = kept[f"rows_{k}"]
                setattr(*self.counter, int(kept["counter"]))
        except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
            if isinstance(error, DescriptionError):
                raise
            raise DescriptionError(
                f"checkpoint {str(self.path)!r} cannot be read ({error}): delete it to begin anew."
            ) from None
        self.saved = done
        return done

    def save(self) -> None:
        """Write the latest state, complete or not at all."""
        if self.latest is None or self.latest[0] == self.saved:
            return
        began = time.perf_counter()
        done, arrays = self.latest
        rows = {f"rows_{k}": array[: done // self.every + 1] for k, array in enumerate(self.rows)}
        with whole_file(self.path) as part, open(part, "wb") as stream:
            np.savez(stream, format=FORMAT, identity=self.identity, done=done, **arrays, **rows)  # type: ignore[arg-type]
        self.saved, self.last = done, time.perf_counter()
        self.cost = self.last - began

    def watch(self, tick: Callable[[int], None]) -> Callable[[int], None]:
        """Return tick(done) that also notes the state, and writes it when that is due."""

        def watched(done: int) -> None:
            copies = {f"memory_{name}": array.copy() for name, array in self.memory.items()}
            self.latest = done, copies | {"counter": getattr(*self.counter)}
            if time.perf_counter() - self.last > max(self.seconds, self.cost / SHARE):
                self.save()
            tick(done)

        return watched

    def finish(self) -> None:
        """Remove the file: the simulation has reached its end."""
        self.path.unlink(missing_ok=True)


@contextmanager
def kept(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Write the latest state when the work inside is interrupted."""
    try:
        yield
    except BaseException:
        if checkpoint is not None:
            checkpoint.save()
        raise


def fingerprint(things: Iterable[Any]) -> str:
    """Return a hash of arrays, numbers and texts, in (nested) tuples, tables and dataclasses."""
    digest = hashlib.sha256()

    def feed(thing: Any) -> None:
        if isinstance(thing, np.ndarray):
            digest.update(f"{thing.dtype}{thing.shape}".encode())
            digest.update(np.ascontiguousarray(thing).tobytes())
        elif isinstance(thing, (tuple, list, Table)):
            digest.update(b"(")
            for item in thing:
                feed(item)
            digest.update(b")")
        elif is_dataclass(thing) and not isinstance(thing, type):
            for field in fields(thing):
                feed(getattr(thing, field.name))
        else:
            digest.update(repr(thing).encode())

    feed(tuple(things))
    return digest.hexdigest()
