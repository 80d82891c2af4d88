"""What is wrong in a file: every problem with its place, all of them in one error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from anguilla.errors import DescriptionError

__all__ = ["FileError", "Problem", "Problems"]

MOST_SHOWN = 30
ARGUMENTS = "(arguments)"  # in place of a file: what was given beside it


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a file.

    Attributes:
        file: the file, as the user named it.
        line, column: where, counted from 1.
        field: path of the field, such as "parts.arm.rod.length"; "(file)" for the file as a whole.
        message: what is wrong, with what was given.
        suggestion: what would be right.

    """

    file: str
    line: int
    column: int
    field: str
    message: str
    suggestion: str

    def __str__(self) -> str:
        place = "" if self.file == ARGUMENTS else f"{self.file}:{self.line}:{self.column}: "
        return f"{place}{self.field}: {self.message} {self.suggestion}".rstrip()

    def as_dict(self) -> dict[str, str | int]:
        """The fields by name, for machines."""
        return {name: getattr(self, name) for name in self.__slots__}


class FileError(DescriptionError):
    """A file cannot be read as a robot; its text has one line for each problem.

    Attributes:
        problems: all the problems found, in the order of their places.

    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.file, p.line, p.column)))
        lines = [str(problem) for problem in self.problems[:MOST_SHOWN]]
        hidden = len(self.problems) - len(lines)
        if hidden:
            lines.append(f"and {hidden} more problems.")
        super().__init__("\n".join(lines))


class Problems(list[Problem]):
    """A collector: `add` notes a problem once and lets the work go on.

    Attributes:
        folder: where files that a robot file names may lie, or below; its own folder if None.

    """

    folder: Path | None = None

    def add(self, place: tuple[str, int, int], field: str, message: str, suggestion: str) -> None:
        """Note a problem at (file, line, column)."""
        problem = Problem(*place, field or "(file)", message, suggestion)
        if problem not in self:
            self.append(problem)

    def check(self) -> None:
        """Raise all that was noted."""
        if self:
            raise FileError(self)
