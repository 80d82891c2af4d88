"""Facts that every file of a result tells: what it is, who wrote it, how the solver ended."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anguilla.errors import DescriptionError
from anguilla.store.record import Record

__all__ = ["facts_of", "kind_of", "status_of", "whole_result"]

FORMAT = 1


def facts_of(kind: str, title: str, status: Any = None) -> dict[str, Any]:
    """Return the facts about a result.

    Args:
        kind: what says how to read it.
        title: what it is, in words.
        status: the solver's Status, if it has one.

    """
    facts = {
        "Conventions": "CF-1.8",
        "title": title,
        "anguilla_format": FORMAT,
        "anguilla_version": str(sys.modules["anguilla"].__version__),
        "kind": kind,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if status is not None:
        facts |= {
            "success": int(status.success),
            "message": status.message,
            "counters": json.dumps(status.counters),
            "seconds": float(status.seconds),
        }
    return facts


def kind_of(record: Record, path: Path) -> str:
    """Return the kind of a record read from a file, or raise an error if this version cannot read it."""
    found, facts = record.facts.get("anguilla_format", "none"), record.facts
    if isinstance(found, int) and found > FORMAT:
        raise DescriptionError(
            f"{str(path)!r} was written by a newer Anguilla ({facts.get('anguilla_version', 'unknown')}): it has format "
            f"{found}, and this one reads {FORMAT}. Install a newer Anguilla."
        )
    if not isinstance(found, int) or found != FORMAT or "kind" not in facts:
        raise DescriptionError(
            f"{str(path)!r} is not a result this version can read: it has format {found}, and {FORMAT} is needed."
        )
    return str(facts["kind"])


def status_of(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of Status."""
    return {
        "success": bool(facts["success"]),
        "message": str(facts["message"]),
        "counters": json.loads(facts["counters"]),
        "seconds": float(facts["seconds"]),
    }


@contextmanager
def whole_result(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong while a record becomes a result into one error that names the file."""
    try:
        yield
    except KeyError as lack:
        raise DescriptionError(f"{str(path)!r} does not hold a whole result: it lacks {lack}.") from None
    except DescriptionError as error:
        if str(path) in str(error):
            raise
        raise DescriptionError(f"{str(path)!r} does not hold a whole result: {error}") from None
    except (ValueError, TypeError, IndexError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise DescriptionError(f"{str(path)!r} does not hold a whole result: {error}.") from None
