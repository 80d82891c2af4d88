"""From YAML text to a tree of nodes that know their places. Nothing is constructed, so nothing can be executed."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anguilla.files.problems import FileError, Problem

__all__ = ["Node", "parse_text", "read_text"]

MOST_BYTES = 100_000_000
MOST_YAML = 500_000  # characters; the parser takes some ten seconds for so many. A file in JSON may be larger
MOST_JSON = 2_000_000  # values in a JSON file; each takes some 250 bytes of memory
MOST_OPEN = 200  # brackets open at once: the parser takes quadratic time over them
MOST_NODES = 200_000  # after aliases are followed: a small file must not unfold into a large one
MOST_DEPTH = 40

ADVICE = "Check indentation, colons, brackets and quotes near this place."
# What the parser says, and the same for people.
PLAIN = {
    "'\\t'": ("has a tab here, which YAML does not allow", "Replace tabs with spaces."),
    "<block end>": ("has a line here that is indented differently from those it belongs to", ADVICE),
    "mapping values are not allowed": (
        "has a colon here that does not fit",
        "Look for a missing colon in the line above, or wrong indentation.",
    ),
    "could not find expected ':'": (
        "has a name without a colon, here or in the line above",
        "Write 'name: value', or 'name:' above indented lines.",
    ),
    "another document": ("has a second document here", "Remove the line '---': a file holds one robot."),
}

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL: dict[str, float | bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_SPECIAL |= {".inf": float("inf"), "-.inf": -float("inf"), ".nan": float("nan")}
_TAGS = ("map", "seq", "str", "int", "float", "bool", "null", "merge", "timestamp", "value")


@dataclass(slots=True)
class Node:
    """A value of a file with its place.

    Attributes:
        value: a dictionary of nodes, a list of nodes, or a text, number, truth value or None.
        place: (file, line, column), counted from 1.
        keys: places of the keys of a dictionary.

    """

    value: Any
    place: tuple[str, int, int]
    keys: dict[str, tuple[str, int, int]] = field(default_factory=dict)

    @property
    def plain(self) -> Any:
        """The value without places."""
        if isinstance(self.value, dict):
            return {key: node.plain for key, node in self.value.items()}
        return [node.plain for node in self.value] if isinstance(self.value, list) else self.value


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return the text of a file of so many bytes at most; raise a FileError if it cannot be read."""
    advice = "Give the path of a text file in UTF-8."
    try:
        with open(path, "rb") as stream:
            raw = stream.read(most + 1)
        if len(raw) > most:
            raise ValueError(f"with all that it includes it has more than {MOST_BYTES} bytes")
        if path.suffix.lower() == ".nc" or raw.startswith((b"\x89HDF", b"CDF")):
            raise ValueError("it is a result, not a robot")
        return raw.decode("utf-8-sig")
    except FileNotFoundError:
        if "\n" in str(path):
            raise FileError(
                [Problem("(text)", 1, 1, "(file)", "is the text of a robot.", "Give the path of a file.")]
            ) from None
        raise FileError(
            [
                Problem(
                    str(path),
                    1,
                    1,
                    "(file)",
                    "cannot be read: there is no such file.",
                    "Give the path of a robot file.",
                )
            ]
        ) from None
    except OSError as error:
        reason = error.strerror or str(error)
    except UnicodeDecodeError:
        reason, advice = "it is not a text in UTF-8", "Save it as UTF-8 in your editor."
    except ValueError as error:
        reason = str(error)
    except MemoryError:
        reason = "it does not fit into the memory"
    raise FileError([Problem(str(path), 1, 1, "(file)", f"cannot be read: {reason}.", advice)])


def parse_text(text: str, file: str) -> Node:
    """Return the tree of a YAML text; raise a FileError with the place where it stops being YAML."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if text.lstrip()[:1] == "{" and sum(map(text.count, ",[{")) <= MOST_JSON:
        with suppress(ValueError, RecursionError):
            return _from_json(json.loads(text), (file, 1, 1))
    if len(text) > MOST_YAML:
        raise _error(
            (file, 1, 1),
            f"has {len(text)} characters",
            f"A YAML file may have {MOST_YAML}; use JSON for more, with up to {MOST_JSON} values.",
        )
    if _open_brackets(text) > MOST_OPEN:
        raise _error((file, 1, 1), "is nested too deeply", f"Use at most {MOST_DEPTH} levels.")
    try:
        root = YAML(typ="rt", pure=True).compose(text)
        if root is None:
            raise _error((file, 1, 1), "is empty", "A robot file begins with 'name: ...' and 'parts: ...'.")
        return _Reader(file).node(root, 0)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (file, mark.line + 1, mark.column + 1) if mark else (file, 1, 1)
        reason = str(error.problem or error.context)
        told = next((words for sign, words in PLAIN.items() if sign in reason), (f"is not YAML: {reason}", ADVICE))
        raise _error(place, *told) from None
    except YAMLError as error:
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        reason = " ".join(str(getattr(error, "reason", error)).split())
        raise _error((file, line, 1), f"is not YAML: {reason}", "Remove the special characters.") from None
    except RecursionError:
        raise _error((file, 1, 1), "is nested too deeply", f"Use at most {MOST_DEPTH} levels.") from None
    except FileError:
        raise
    except Exception as error:  # the parser trips over some malformed texts (values out of range, asserts)
        raise _error((file, 1, 1), f"is not YAML: {error!r}", "Check the syntax of the file.") from None


def _open_brackets(text: str) -> int:
    """Most brackets that are open at once, those in texts included."""
    depth = deepest = 0
    for match in re.finditer(r"[\[{]|[\]}]", text):
        depth = depth + 1 if match[0] in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest


def _from_json(value: Any, place: tuple[str, int, int], depth: int = 0) -> Node:
    if depth > MOST_DEPTH:
        raise _error(place, "is nested too deeply", f"Use at most {MOST_DEPTH} levels.")
    if isinstance(value, dict):
        items = {key: _from_json(item, place, depth + 1) for key, item in value.items()}
        return Node(items, place, dict.fromkeys(value, place))
    return Node([_from_json(item, place, depth + 1) for item in value] if isinstance(value, list) else value, place)


def _error(place: tuple[str, int, int], message: str, suggestion: str) -> FileError:
    return FileError([Problem(*place, "(file)", message + ".", suggestion)])


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file
        self.count = 0

    def node(self, raw: Any, depth: int) -> Node:
        place = (self.file, raw.start_mark.line + 1, raw.start_mark.column + 1)
        self.count += 1
        if self.count > MOST_NODES or depth > MOST_DEPTH:
            limit = f"Use at most {MOST_DEPTH} levels and {MOST_NODES} values, and no alias to a parent."
            raise _error(place, "is too large or too deeply nested once its aliases are followed", limit)
        tag = str(raw.tag)
        if tag.removeprefix("tag:yaml.org,2002:") not in _TAGS:
            raise _error(place, f"has the tag {tag!r}", "Tags are not allowed: write plain values.")
        if raw.id == "mapping":
            return self.mapping(raw, place, depth)
        if raw.id == "sequence":
            return Node([self.node(item, depth + 1) for item in raw.value], place)
        return Node(raw.value if raw.style else _scalar(raw.value), place)

    def mapping(self, raw: Any, place: tuple[str, int, int], depth: int) -> Node:
        values: dict[str, Node] = {}
        keys: dict[str, tuple[str, int, int]] = {}
        merged: list[Node] = []
        for raw_key, raw_value in raw.value:
            where = (self.file, raw_key.start_mark.line + 1, raw_key.start_mark.column + 1)
            if raw_key.id != "scalar":
                raise _error(where, "has a key that is a list or a dictionary", "Keys are names.")
            key, node = str(raw_key.value), self.node(raw_value, depth + 1)
            if key == "<<" and not raw_key.style:
                merged += node.value if isinstance(node.value, list) else [node]
            elif key in values:
                first = keys[key][1]
                raise _error(where, f"has the key {key!r} twice, first in line {first}", "Remove one of the two.")
            else:
                values[key], keys[key] = node, where
        for other in merged:
            if not isinstance(other.value, dict):
                raise _error(other.place, "'<<' merges something that is no dictionary", "Write '<<: *name'.")
            for key, node in other.value.items():
                if key not in values:
                    values[key], keys[key] = node, other.keys[key]
        return Node(values, place, keys)


def _scalar(text: str) -> Any:
    """The value of an unquoted scalar: YAML 1.2, with 1e5 a number and yes a text."""
    if text.lower() in _SPECIAL:
        return _SPECIAL[text.lower()]
    if _INTEGER.fullmatch(text) and len(text) < 300:
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
