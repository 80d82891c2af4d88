"""A sweep in a folder: every finished run is written at once, and many machines may write side by side.

``sweep.json`` says which function was run with which parameters. Each call of `sweep` appends what it finishes to a file of
its own, one line of JSON for each run; reading the folder is reading all of them. A line that was cut short is as if it had
not been written.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import os
import textwrap
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import FileIO
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from anguilla.errors import DescriptionError, warn
from anguilla.many.parameters import Grid
from anguilla.many.table import Run, Sweep
from anguilla.many.values import decode, encode, key_of
from anguilla.store.whole import whole_file

__all__ = ["Folder", "fingerprint", "keys_of", "read_sweep"]

HEAD, FORMAT = "sweep.json", 1
MOST_RUNS, MOST_BYTES = 1_000_000, 500_000_000  # of a sweep that is read
FORCED = 1.0  # [s] between forcing lines to the disk


# What a function is -----------------------------------------------------------------------------------------------------


def fingerprint(job: Callable[..., Any]) -> dict[str, str]:
    """Hashes of all that makes a function what it is, by name.

    Its source text, the plain values it reads from outside (globals, closures, arguments of a partial), and the functions of
    its own module that it calls. Other modules are not looked into.
    """
    found: dict[str, str] = {}
    _mark(job, found, None)
    return found


def _mark(job: Any, found: dict[str, str], module: str | None) -> None:
    if isinstance(job, partial):
        for place, value in [*enumerate(job.args), *job.keywords.items()]:
            _mark_value(f"argument {place}", value, found)
        return _mark(job.func, found, module)
    if isinstance(job, MethodType):
        job = job.__func__
    job = inspect.unwrap(job) if callable(job) else job
    if not isinstance(job, (FunctionType, type)):
        for place, value in getattr(job, "__dict__", {}).items():
            _mark_value(f"{type(job).__name__}.{place}", value, found)
        job = type(job)
    name = job.__qualname__
    if name in found:
        return None
    found[name] = _hash(_text(job))
    if isinstance(job, FunctionType):
        for place, value in [*enumerate(job.__defaults__ or ()), *(job.__kwdefaults__ or {}).items()]:
            _mark_value(f"default {place} of {name}", value, found)
        home = module or job.__module__
        outside = inspect.getclosurevars(job)
        for place, value in {**outside.globals, **outside.nonlocals}.items():
            if isinstance(value, FunctionType) and value.__module__ == home:
                _mark(value, found, home)
            elif not callable(value):
                _mark_value(place, value, found)
    return None


def _mark_value(name: str, value: Any, found: dict[str, str]) -> None:
    text = _repeatable(value)
    if text:
        found[name] = _hash(text)


def _repeatable(value: Any) -> str:
    """A text that changes with a value, and not from one process to the next; empty for what has none."""
    with suppress(TypeError, ValueError):
        return json.dumps(encode(value))
    if isinstance(value, Mapping):
        return str({str(key): _repeatable(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return str([_repeatable(item) for item in value])
    text = "" if isinstance(value, ModuleType) else repr(value)
    return "" if " at 0x" in text else text


def _text(job: Any) -> str:
    try:
        lines = textwrap.dedent(inspect.getsource(job)).splitlines()
        return "\n".join(line.rstrip() for line in lines)
    except (OSError, TypeError, SyntaxError, IndentationError):  # typed at a prompt
        return repr(_code(job.__code__)) if isinstance(job, FunctionType) else job.__qualname__


def _code(code: CodeType) -> tuple[Any, ...]:
    constants = tuple(_code(x) if isinstance(x, CodeType) else repr(x) for x in code.co_consts)
    return code.co_code.hex(), constants, code.co_names, code.co_varnames


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def keys_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """One key for each run, or raise an error naming what cannot be kept; equal rows are told apart by a number."""
    seen: Counter[str] = Counter()
    keys = []
    for row in rows:
        try:
            key = key_of(row)
        except (TypeError, ValueError) as error:
            raise DescriptionError(
                f"with file=, parameters must be numbers, texts or arrays; {error}. Name it, and look it up in the job."
            ) from None
        seen[key] += 1
        keys.append(key if seen[key] == 1 else f"{key}#{seen[key]}")
    return keys


# The folder -------------------------------------------------------------------------------------------------------------


class Folder:
    """The folder of a sweep, open for writing.

    Args:
        path: of the folder; made if it is not there.
        name: of the function.
        parts: its fingerprint.
        rows: parameters of all runs.
        axes: if they are a grid.
        again: True forgets what is there; False keeps it though the function has changed; None raises an error then.

    """

    def __init__(
        self, path: str | os.PathLike[str], name: str, parts: dict[str, str], rows: Sequence[Mapping[str, Any]],
        axes: Mapping[str, Sequence[Any]] | None, *, again: bool | None,
    ) -> None:  # fmt: skip
        self.path = _as_folder(path)
        self.keys = keys_of(rows)
        head = _read_head(self.path)
        if head is not None and again is not True:
            _compare(self.path, head, name, parts, keep=again is False)
        elif head is not None:
            for file in _row_files(self.path):
                file.unlink(missing_ok=True)
            (self.path / HEAD).unlink(missing_ok=True)  # last: runs without a head would pass for runs of this function
            head = None
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DescriptionError(f"the folder {str(path)!r} cannot be made: {error.strerror}.") from None
        _write_head(self.path, name, parts, rows, axes, head)
        self._stream: FileIO | None = None
        self._waiting: list[bytes] = []  # lines that the disk has not taken yet
        self._written = 0  # bytes
        self._forced = 0.0
        self._told = False

    def done(self) -> dict[int, Run]:
        """The runs which the folder holds, by their number."""
        found = _read_rows(self.path)
        return {k: found[key] for k, key in enumerate(self.keys) if key in found}

    def add(self, k: int, run: Run) -> None:
        """Append a finished run; it survives the end of this process at once, and that of the machine after a second."""
        outputs = None if run.outputs is None else {name: encode(value) for name, value in run.outputs.items()}
        line: dict[str, Any] = {
            "key": self.keys[k],
            "parameters": {name: encode(x) for name, x in run.parameters.items()},
        }
        line |= {"outputs": outputs, "error": run.error, "trace": run.trace, "seconds": run.seconds, "at": time.time()}
        self._waiting.append(json.dumps(line).encode() + b"\n")
        self._write(force=time.monotonic() - self._forced > FORCED)

    def _write(self, *, force: bool) -> None:
        """Write the lines that wait. If the disk does not take them, they wait for the next time: no run is lost by that."""
        data = b"".join(self._waiting)
        try:
            if self._stream is None:
                self._stream = open(self.path / f"runs-{uuid.uuid4().hex[:12]}.jsonl", "xb", buffering=0)
            self._stream.seek(self._written)  # over what was written of a line that did not fit
            rest = memoryview(data)
            while rest:
                rest = rest[self._stream.write(rest) or 0 :]
            if force:
                os.fsync(self._stream.fileno())
                self._forced = time.monotonic()
        except OSError as error:
            if not self._told:
                self._told = True
                told = f"runs cannot be written to {str(self.path)!r} ({error.strerror}): they are kept in memory"
                warn(f"{told}, and written when there is room.")
            return
        self._waiting.clear()
        self._written += len(data)

    def close(self) -> None:
        """Force everything to the disk."""
        if self._stream is not None or self._waiting:
            self._write(force=True)
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def read_sweep(path: str | os.PathLike[str]) -> Sweep:
    """Read the folder of a sweep: all runs of the last call, those of all shards together."""
    folder = Path(path)
    head = _read_head(folder)
    if head is None:
        raise DescriptionError(f"{str(folder)!r} is not the folder of a sweep: it has no {HEAD}.")
    try:
        axes = head["axes"]
        if axes is not None:
            axes = {name: [decode(value) for value in values] for name, values in axes.items()}
            _check_count(math.prod(len(values) for values in axes.values()))
            rows: Sequence[Mapping[str, Any]] = Grid(axes)
        else:
            _check_count(len(head["rows"]))
            rows = [{name: decode(value) for name, value in row.items()} for row in head["rows"]]
        found = _read_rows(folder)
        runs = [found.get(key, Run(row)) for key, row in zip(keys_of(rows), rows, strict=True)]
        return Sweep(str(head["function"]), runs, axes)
    except KeyError as lack:
        raise DescriptionError(f"{str(folder)!r} does not hold a whole sweep: it lacks {lack}.") from None
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise DescriptionError(f"{str(folder)!r} does not hold a whole sweep: {error}.") from None


def _check_count(runs: int) -> None:
    if runs > MOST_RUNS:
        raise DescriptionError(f"it claims {runs} runs; at most {MOST_RUNS} are read")


def _as_folder(path: Any) -> Path:
    folder = Path(path)
    if folder.suffix.lower() in (".csv", ".nc", ".json", ".jsonl", ".npz"):
        raise DescriptionError(
            f"file names a folder, such as 'study'; got {str(folder)!r}. table.to_csv writes a .csv."
        )
    if folder.exists() and not folder.is_dir():
        raise DescriptionError(f"file must name a folder; {str(folder)!r} is a file.")
    others = folder.is_dir() and any(not file.name.startswith(".") for file in folder.iterdir())
    if others and not (folder / HEAD).exists() and not _row_files(folder):
        raise DescriptionError(f"file must name a new folder or that of a sweep; {str(folder)!r} holds other files.")
    return folder


def _row_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("runs-*.jsonl"))


def _read_head(folder: Path) -> dict[str, Any] | None:
    try:
        if (folder / HEAD).stat().st_size > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES} bytes")
        head = json.loads((folder / HEAD).read_text(encoding="utf-8"))
        found = head["anguilla_sweep"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, RecursionError, OSError) as error:
        raise DescriptionError(f"{str(folder / HEAD)!r} is damaged: {error}.") from None
    if found != FORMAT:
        raise DescriptionError(
            f"{str(folder)!r} was written by another version of Anguilla: format {found}, not {FORMAT}."
        )
    return dict(head)


def _write_head(
    folder: Path, name: str, parts: dict[str, str], rows: Sequence[Mapping[str, Any]],
    axes: Mapping[str, Sequence[Any]] | None, before: dict[str, Any] | None,
) -> None:  # fmt: skip
    head: dict[str, Any] = {"anguilla_sweep": FORMAT, "function": name, "parts": parts}
    if axes is not None:
        head |= {"axes": {key: [encode(x) for x in values] for key, values in axes.items()}, "rows": None}
    else:
        head |= {"axes": None, "rows": [{key: encode(x) for key, x in row.items()} for row in rows]}
    if head == before:
        return
    with whole_file(folder / HEAD) as part:  # shards on other machines may write the same at the same time
        part.write_text(json.dumps(head), encoding="utf-8")


def _compare(folder: Path, head: dict[str, Any], name: str, parts: dict[str, str], *, keep: bool) -> None:
    """Refuse to mix runs of different functions."""
    before: dict[str, str] = head["parts"]
    if head["function"] != name and not keep:
        raise DescriptionError(
            f"{str(folder)!r} holds a sweep of another function, {head['function']!r}; this one is {name!r}. "
            "Give another file, or again=True to write over it, or again=False to keep its runs."
        )
    changed = sorted(key for key in before.keys() | parts.keys() if before.get(key) != parts.get(key))
    if changed and not keep:
        raise DescriptionError(
            f"the function {name!r} is not the one whose runs are in {str(folder)!r}; changed: {', '.join(changed)}. "
            "again=True runs everything again, again=False keeps the finished runs, another file keeps both."
        )


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with open(file, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            with suppress(ValueError, KeyError, TypeError, RecursionError):  # a line that was cut short
                yield json.loads(line)


def _read_rows(folder: Path) -> dict[str, Run]:
    """The best run of each key: one with outputs before one that failed, a later one before an earlier one."""
    best: dict[str, tuple[bool, float]] = {}
    found: dict[str, Run] = {}
    for file in _row_files(folder):
        for line in _lines(file):
            with suppress(ValueError, KeyError, TypeError, AttributeError):
                key, outputs = line["key"], line["outputs"]
                rank = (outputs is not None, float(line["at"]))
                if key in best and best[key] >= rank:
                    continue
                read = None if outputs is None else {name: decode(value) for name, value in outputs.items()}
                parameters = {name: decode(value) for name, value in line["parameters"].items()}
                found[key] = Run(parameters, read, str(line["error"]), str(line["trace"]), float(line["seconds"]))
                best[key] = rank
    return found
