"""Checkpoints of long simulations: everything the time loop remembers, so that it can go on as if nothing had happened.

The state is more than (q, v, a): Newton's solver carries a factorised tangent from step to step, so its memory is kept
too. A resumed run ends bit-identical to an uninterrupted one; of a large robot,
whose tangent in blocks is made anew, to within Newton's tolerance.

A disk that cannot be written costs the checkpoint, not the run. Loads written in Python are part of what a simulation is: one
that has changed makes it another. One that cannot be compared, or that remembers what it did, cannot be kept; that is said.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from anguilla.compiler.table import Arrays
from anguilla.errors import AnguillaError, DescriptionError, warn
from anguilla.solve.steps.identity import Identity
from anguilla.store.spare import drop_spare
from anguilla.store.whole import whole_file, write_archive

__all__ = ["Checkpoint", "constants", "kept"]

SECONDS = 5.0  # between two checkpoints, at least; less at the beginning
FIRST = 0.5  # [s] before the first one; the time between them then doubles
SHARE = 0.02  # of the time may be spent on writing them
FORMAT = 3
# Fields of tables of loads that are scratch memory, inputs of an instant, or part of the state
SCRATCH = {
    "Loads": {"row", "tension"},
    "Cables": {"factor"},
    "Frames": {"wrench", "block", "state"},
    "Streams": {"stress", "change"},
    "Pairs": {"jacobian", "block", "far"},
    "Touches": {
        *("held", "before", "deep", "ball", "anchor", "near", "count", "hits", "hit", "used", "wrench", "told"),
        *("jacobian", "lane", "change"),
    },
    "Constraints": {"jacobian", "column", "diagonal", "slack", "length"},
    "Relaxing": {"past", "over"},
}


def constants(table: Arrays) -> tuple[Any, ...]:
    """All of a table of loads that does not change while a robot moves."""
    scratch = SCRATCH.get(type(table).__name__, set())
    kept = (getattr(table, name) for name in table._fields if name not in scratch)
    return tuple(constants(value) if isinstance(value, Arrays) else value for value in kept)


class Checkpoint:
    """Keeps a simulation in a file while it runs.

    Args:
        path: the file; if it is there and belongs to the same simulation, the run goes on from it.
        identity: arrays and numbers that tell this simulation from all others.
        user: functions and objects of the user that are asked while it runs.
        memory: arrays the loop goes on with, changed in place; they are read back in place.
        rows: arrays (rows, ...) of stored results, of which a growing part is filled.
        every: steps per stored row.
        counter: an object and the name of a whole number it counts in, kept too.
        seconds: least wall time between two checkpoints [s], once the run is old; a few by default.

    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        identity: tuple[Any, ...],
        user: tuple[Any, ...],
        memory: dict[str, np.ndarray],
        rows: tuple[np.ndarray, ...],
        every: int,
        counter: tuple[Any, str],
        seconds: float | None = None,
    ) -> None:
        self.path, self.told = Path(path), False
        if not self.path.parent.is_dir():
            raise DescriptionError(
                f"checkpoint must lie in an existing folder; there is none {str(self.path.parent)!r}."
            )
        if self.path.is_dir():
            raise DescriptionError(f"checkpoint must name a file; {str(self.path)!r} is a folder.")
        drop_spare(self.path)  # of an earlier result of this process
        self.user, asked = user, Identity()
        self.user_identity = asked.of(user)
        self.identity = Identity().of((*identity, self.user_identity))
        self.given_up = bool(asked.unknown)
        if asked.unknown:
            self._give_up(
                f"a load written in Python holds what cannot be compared with another run: {asked.unknown[0]}"
            )
        self.memory, self.rows, self.every, self.counter = memory, rows, every, counter
        self.seconds, self.cost, self.last = SECONDS if seconds is None else seconds, 0.0, time.perf_counter()
        self.wait, self.began = min(FIRST, self.seconds), self.last
        self.saved = -1
        self.latest: tuple[int, dict[str, Any]] | None = None  # a consistent state in memory, for an interruption

    def restore(self) -> int:
        """Read the file back into the memory and the rows; return the steps done, 0 if there is no file."""
        if self.given_up or not self.path.exists():
            return 0
        try:
            with open(self.path, "rb") as stream, np.load(stream, allow_pickle=False) as kept:
                if int(kept["format"]) != FORMAT or str(kept["identity"]) != self.identity:
                    raise DescriptionError(
                        f"checkpoint {str(self.path)!r} belongs to another simulation (another robot, load, input, start, "
                        f"step, duration or version): delete it to start over, or name another file."
                    )
                done = int(kept["done"])
                self._check_sizes(kept, done)
                for name, array in self.memory.items():
                    array[...] = kept[f"memory_{name}"]
                for k, array in enumerate(self.rows):
                    array[: done // self.every + 1] = kept[f"rows_{k}"]
                setattr(*self.counter, int(kept["counter"]))
        except DescriptionError:
            raise
        except Exception:  # a damaged archive fails in many ways
            raise DescriptionError(
                f"checkpoint {str(self.path)!r} cannot be read, it is damaged or no checkpoint: delete it to start over."
            ) from None
        self.saved = done
        return done

    def _check_sizes(self, kept: Any, done: int) -> None:
        """Raise an error, before they are read, if the arrays of a file are not those of this simulation."""
        count = done // self.every + 1
        wanted = sum(array.nbytes for array in self.memory.values()) + sum(array[:count].nbytes for array in self.rows)
        held = sum(info.file_size for info in kept.zip.infolist())
        if done < 0 or count > min(len(array) for array in self.rows) or held > wanted + 1000 * (len(kept.files) + 1):
            raise ValueError(f"it has {held} bytes, but {wanted} are needed")

    def save(self) -> None:
        """Write the latest state, complete or not at all; if that is impossible, say so once."""
        if self.given_up or self.latest is None or self.latest[0] == self.saved:
            return
        began = time.perf_counter()
        done, arrays = self.latest
        rows = {f"rows_{k}": array[: done // self.every + 1] for k, array in enumerate(self.rows)}
        if Identity().of(self.user) != self.user_identity:
            return self._give_up("a load written in Python changes what it holds while it runs, which would be lost")
        try:
            with whole_file(self.path) as part, open(part, "wb") as stream:
                about = {"format": FORMAT, "identity": self.identity, "done": done}
                write_archive(stream, np.savez, about | arrays | rows)
            self.saved = done
        except AnguillaError as error:
            self._tell(f"the simulation goes on, but its checkpoint is not up to date: {error}")
        self.last = time.perf_counter()
        self.cost = self.last - began
        return None

    def finish(self) -> None:
        """Write the last state, if it took some time to get there: the result is nowhere but in memory until it is saved."""
        if time.perf_counter() - self.began > min(FIRST, self.seconds):
            self.save()

    def _give_up(self, why: str) -> None:
        self.given_up = True
        self._tell(f"the simulation is not kept in {str(self.path)!r}: {why}.")

    def _tell(self, text: str) -> None:
        if not self.told:
            self.told = True
            warn(text)

    def watch(self, tick: Callable[[int], None]) -> Callable[[int], None]:
        """Return tick(done) that also notes the state, and writes it when that is due."""

        def watched(done: int) -> None:
            copies = {f"memory_{name}": array.copy() for name, array in self.memory.items()}
            self.latest = done, copies | {"counter": getattr(*self.counter)}
            if time.perf_counter() - self.last > max(self.wait, self.cost / SHARE):
                self.save()
                self.wait = min(2.0 * self.wait, self.seconds)
            tick(done)

        return watched


@contextmanager
def kept(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Write the latest state when the work inside is interrupted."""
    try:
        yield
    except BaseException:
        if checkpoint is not None:
            checkpoint.save()
        raise
