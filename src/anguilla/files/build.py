"""From nodes of a file to descriptions: every value by the form of its field, every problem noted with its place."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from anguilla.describe.description import did_you_mean
from anguilla.errors import AnguillaWarning, DescriptionError, show
from anguilla.files.expressions import Expression, Table
from anguilla.files.problems import Problems
from anguilla.files.registry import Form, Maker, candidates, kind_name, variables
from anguilla.files.sources import included_path
from anguilla.files.template import Template
from anguilla.files.text import Node
from anguilla.files.wording import field_in, fields_of, split_error, wanted

__all__ = ["BAD", "RobotBuilder"]

LARGEST_COUNT = 10_000  # of modes, pieces, intervals: beyond it a number is a mistake, and costs memory before it shows


class _Bad:
    def __repr__(self) -> str:
        return "BAD"


BAD: Any = _Bad()  # stands for a value whose problem has been noted


class Places(Protocol):
    """What finds parts and frames of the robot on its way."""

    def part(self, node: Node, path: str) -> Any:
        """Return the handle of a part."""

    def frame(self, node: Node, path: str) -> Any:
        """Return a frame."""

    def input(self, node: Node, path: str) -> Any:
        """Return an input of the robot."""

    def is_part(self, name: str, *, bodies: bool) -> bool:
        """Whether this is the name of a rod or, if bodies count, of a body."""


class RobotBuilder:
    """Makes values from nodes.

    Args:
        problems: where problems go.
        names: values of the parameters.
        definitions: named nodes of the file.
        places: finds parts and frames.
        notes: where warnings go, as texts with their places.
        path: the robot file, in whose folder other files may be named; None for a text, which names none.

    """

    def __init__(
        self,
        problems: Problems,
        names: Mapping[str, float],
        definitions: Mapping[str, Node],
        places: Places,
        notes: list[str],
        path: Path | None = None,
    ) -> None:
        self.problems, self.names, self.definitions = problems, dict(names), definitions
        self.places, self.notes, self.path = places, notes, path
        self.made_of: dict[tuple[str, tuple[type, ...]], Any] = {}
        self._open: list[str] = []

    def problem(self, node: Node, path: str, message: str, suggestion: str) -> Any:
        """Note a problem and return BAD."""
        self.problems.add(node.place, path, message, suggestion)
        return BAD

    # values -----------------------------------------------------------------------------------------------------------

    def value(self, node: Node, form: Form, path: str, given: tuple[str, ...] = ("t",)) -> Any:
        """Return the value of a field of a form; its formulas may use the variables `given`."""
        raw = node.value
        if raw is None:
            return None if form.none else self._unfit(node, form, path)
        if isinstance(raw, bool):
            return raw if form.flag else self._unfit(node, form, path)
        if isinstance(raw, (int, float)):
            return self._number(node, form, path) if form.number or form.function else self._unfit(node, form, path)
        if isinstance(raw, str):
            return self._text(node, form, path, given)
        if isinstance(raw, list):
            return self._list(node, form, path, given)
        return self._dictionary(node, form, path, given)

    def _number(self, node: Node, form: Form, path: str) -> Any:
        if abs(node.value) > 1e300 or node.value != node.value:
            return self.problem(node, path, f"got {show(node.value)}.", "It must be a finite number below 1e300.")
        if form.whole and not isinstance(node.value, float) and abs(node.value) > LARGEST_COUNT:
            return self.problem(node, path, f"got {node.value}.", f"It must be at most {LARGEST_COUNT}.")
        if form.integer:
            if node.value != int(node.value):
                return self.problem(node, path, f"got {node.value}.", "It must be a whole number.")
            return int(node.value)
        return node.value

    def _text(self, node: Node, form: Form, path: str, given: tuple[str, ...]) -> Any:
        if form.part and (not form.frame or self.places.is_part(node.value, bodies=form.body)):
            return self.places.part(node, path)
        if form.frame:
            return self.places.frame(node, path)
        if form.kinds and (node.value in self.definitions or node.value in candidates(form.kinds)):
            return self.object(node, form.kinds, path)
        if form.text or node.value in form.words:
            return node.value
        if form.words:
            return self._unfit(node, form, path)
        if form.number or form.function:
            return self.formula(node, form, path, given)
        return self.object(node, form.kinds, path) if form.kinds else self._unfit(node, form, path)

    def _list(self, node: Node, form: Form, path: str, given: tuple[str, ...]) -> Any:
        if form.each:
            items = [self.value(item, form, f"{path}[{k}]", given) for k, item in enumerate(node.value)]
            return BAD if any(item is BAD for item in items) else tuple(items)
        if form.functions or form.many:
            single = replace(form, many=False, functions=False, function=form.functions or form.function)
            items = [self.value(item, single, f"{path}[{k}]", given) for k, item in enumerate(node.value)]
            return BAD if any(item is BAD for item in items) else tuple(items)
        if form.number or form.function:
            return self.formula(node, form, path, given)
        return self._unfit(node, form, path)

    def _dictionary(self, node: Node, form: Form, path: str, given: tuple[str, ...]) -> Any:
        if form.frame:
            return self.places.frame(node, path)
        kind = node.value.get("type")
        if form.function and ((kind is not None and kind.value == "table") or "values" in node.value):
            return self._table(node, path, given)
        if form.function and "input" in node.value:
            return self.places.input(node, path)
        if form.template:
            return self._template(node, form, path, given)
        return self.object(node, form.kinds, path) if form.kinds else self._unfit(node, form, path)

    def _unfit(self, node: Node, form: Form, path: str) -> Any:
        given = "a dictionary" if isinstance(node.value, dict) else show(node.plain)
        return self.problem(node, path, f"got {given}.", f"It must be {wanted(form)}.")

    # formulas ---------------------------------------------------------------------------------------------------------

    def formula(self, node: Node, form: Form, path: str, given: tuple[str, ...]) -> Any:
        """Return numbers, or an Expression if a formula uses a variable."""
        before = len(self.problems)
        text = self._formulas(node, path)
        if len(self.problems) > before:
            return BAD
        if not _has_text(text):
            return text
        try:
            expression = Expression(text, names=self.names)
            extra = [name for name in expression.arguments if not form.function or name not in given]
            if extra:
                usable = ", ".join([*self.names, *(given if form.function else ())]) or "numbers only"
                note = f"the formula {show(node.plain)} uses {', '.join(extra)}, which has no meaning here."
                return self.problem(node, path, note, f"It may use: {usable}.")
            if expression.arguments:
                return expression
            return self._constant(node, form, path, expression())
        except DescriptionError as error:
            return self.problem(node, path, *split_error(str(error), f"It must be {wanted(form)}."))

    def _constant(self, node: Node, form: Form, path: str, value: Any) -> Any:
        if form.whole and isinstance(value, float) and value == int(value):
            value = int(value)
        return self._number(Node(value, node.place), form, path) if isinstance(value, (int, float)) else value

    def _formulas(self, node: Node, path: str) -> Any:
        """Nested lists of numbers and texts."""
        if isinstance(node.value, list):
            return [self._formulas(item, f"{path}[{k}]") for k, item in enumerate(node.value)]
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float, str)):
            given = "a dictionary" if isinstance(node.value, dict) else show(node.value)
            return self.problem(node, path, f"got {given}.", "It must be a number or a formula.")
        if not isinstance(node.value, str) and (abs(node.value) > 1e300 or node.value != node.value):
            return self.problem(node, path, f"got {show(node.value)}.", "It must be a finite number below 1e300.")
        return node.value

    def _table(self, node: Node, path: str, given: tuple[str, ...]) -> Any:
        allowed, fields, fine = ("values", *given), {}, True
        for key, child in node.value.items():
            if key == "type":
                continue
            if key not in allowed:
                hint = f"A table has the fields {', '.join(allowed)}{did_you_mean(key, allowed)}."
                self.problems.add(node.keys[key], f"{path}.{key}", f"a table has no field {key!r} here.", hint)
                fine = False
                continue
            fields[key] = self.formula(child, Form(number=True), f"{path}.{key}", ())
            fine = fine and fields[key] is not BAD
        if fine and "values" not in fields:
            fine = self.problem(node, path, "the table has no 'values'.", "Give values and the times t.") is None
        if not fine:
            return BAD
        try:
            return Table(**fields)
        except DescriptionError as error:
            return self.problem(node, path, *split_error(str(error), "A table has values and the times t."))

    def _template(self, node: Node, form: Form, path: str, given: tuple[str, ...]) -> Any:
        maker = self._maker(node, form.template, path)
        if maker is BAD:
            return BAD
        fields = {}
        for key, child in node.value.items():
            if key != "type":
                if key not in maker.fields:
                    return self._unknown(node, key, maker, path)
                fields[key] = self.formula(child, Form(number=True, function=True), f"{path}.{key}", given)
        if any(value is BAD for value in fields.values()):
            return BAD
        try:
            return Template(maker.name, **fields)
        except (DescriptionError, TypeError) as error:
            return self.problem(node, path, *split_error(str(error), fields_of(maker)))

    # objects ----------------------------------------------------------------------------------------------------------

    def object(self, node: Node, kinds: tuple[type, ...], path: str) -> Any:
        """Return an object of one of some classes, from a dictionary, the name of a definition, or that of a type."""
        if isinstance(node.value, str):
            return self._named(node, kinds, path)
        if not isinstance(node.value, dict):
            form = Form(kinds=kinds)
            return self._unfit(node, form, path)
        maker = self._maker(node, kinds, path)
        return BAD if maker is BAD else self.make(maker, node, path)

    def _named(self, node: Node, kinds: tuple[type, ...], path: str) -> Any:
        name, types = node.value, candidates(kinds)
        if name not in self.definitions:
            if name in types:
                return self.make(types[name], Node({}, node.place), path)
            known = [*self.definitions, *types]
            hint = f"It must be {kind_name(kinds)}: a definition ({', '.join(self.definitions) or 'none'}) or a type"
            hint = f"{hint} ({', '.join(types)}){did_you_mean(name, known)}."
            return self.problem(node, path, f"there is no {name!r}.", hint)
        if name in self._open:
            around = " -> ".join([*self._open, name])
            return self.problem(node, path, f"definition {name!r} contains itself ({around}).", "Break the circle.")
        if (name, kinds) not in self.made_of:
            self._open.append(name)
            self.made_of[name, kinds] = self.object(self.definitions[name], kinds, f"define.{name}")
            self._open.pop()
        return self.made_of[name, kinds]

    def _maker(self, node: Node, kinds: tuple[type, ...], path: str) -> Any:
        types = candidates(kinds)
        given = node.value.get("type")
        if given is None:
            for maker in types.values():
                if maker.make in kinds:
                    return maker
            hint = f"Give one of: {', '.join(types)}."
            return self.problem(node, path, "the type is missing.", hint)
        if not isinstance(given.value, str) or given.value not in types:
            close = did_you_mean(str(given.value), types)
            hint = f"For {kind_name(kinds)} it must be one of: {', '.join(types)}{close}."
            return self.problem(given, f"{path}.type", f"got {show(given.plain)}.", hint)
        return types[given.value]

    def make(self, maker: Maker, node: Node, path: str, **fixed: Any) -> Any:
        """Return what a maker makes from the fields of a dictionary, and from fixed ones."""
        fine, broken, given, harmless = True, False, dict(fixed), set[str]()
        for key, child in node.value.items():
            if key == "type":
                continue
            form = maker.fields[key].form if key in maker.fields else maker.rest
            if form is None or key in fixed:
                self._unknown(node, key, maker, path)
                broken = True
                continue
            given[key] = self.value(child, form, f"{path}.{key}" if path else key, variables(maker, key))
            if isinstance(given[key], str) and key in getattr(maker.kind, "file_fields", {}):
                given[key] = self._file(child, f"{path}.{key}", maker.kind.file_fields[key])  # type: ignore[attr-defined]
            if given[key] is BAD:
                fine = False
                if not form.number or form.kinds:
                    broken = True
                    continue
                given[key] = 1 if form.whole else 1.0
                harmless.add(key)
        if not self._missing(maker, given, node, path) or broken:
            return BAD
        made = self._construct(maker, given, node, path, harmless)
        return made if fine else BAD

    def _file(self, node: Node, path: str, suffixes: tuple[str, ...]) -> Any:
        """Where a file lies that the robot file names, in its folder or below."""
        if self.path is None:
            return self.problem(node, path, "a text cannot name files.", "Read it from a file.")
        found = included_path(node, path, self.path, self.path.resolve().parent, self.problems, suffixes)
        return BAD if found is None else str(found)

    def _missing(self, maker: Maker, given: Mapping[str, Any], node: Node, path: str) -> bool:
        """Note the fields that must be given and are not; return whether there is none."""
        fine = True
        for name, field in maker.fields.items():
            if field.required and name not in given:
                unit = f" [{field.unit}]" if field.unit else ""
                form, text = wanted(field.form), (field.text or maker.title).rstrip(".")
                more = "" if text.replace("-", " ") in form else f": {text}"
                hint = f"Give {name}{unit}, {form}{more}."
                self.problem(node, f"{path}.{name}" if path else name, f"{maker.name} needs it.", hint)
                fine = False
        return fine

    def _unknown(self, node: Node, key: str, maker: Maker, path: str) -> Any:
        close = did_you_mean(key, maker.fields)
        if key.strip().isdigit():
            close = " (a number is written with a decimal point: 0.3, not 0,3)"
        hint = f"{fields_of(maker).rstrip('.')}{close}."
        self.problems.add(node.keys.get(key, node.place), f"{path}.{key}", f"{maker.name} has no such field.", hint)
        return BAD

    def note(self, node: Node, path: str, warning: warnings.WarningMessage) -> None:
        """Keep a warning with its place."""
        file, line, column = node.place
        self.notes.append(f"{file}:{line}:{column}: {path}: {warning.message}")

    @contextmanager
    def noting(self, node: Node, path: str) -> Iterator[None]:
        """Keep the warnings of this block, with the place of a node."""
        with told() as caught:
            yield
        for warning in caught:
            self.note(node, path, warning)

    def _construct(self, maker: Maker, given: dict[str, Any], node: Node, path: str, harmless: set[str]) -> Any:
        """Make the object. A bad number is replaced by a harmless one, to see what else is wrong: all problems at once."""
        while True:
            try:
                with told() as caught:
                    made = maker.make(**given)
            except (DescriptionError, ArithmeticError, ValueError, TypeError) as error:
                text = str(error)
                if any(re.search(rf"[. ]{name}\b", text) for name in harmless):
                    return BAD
                field = field_in(text, given)
                place = node.value[field] if field is not None and field in node.value else node
                where = f"{path}.{field}" if field is not None and path else field or path
                self.problem(place, where, *split_error(text, fields_of(maker)))
                simple = field is not None and isinstance(given[field], (int, float)) and field not in harmless
                if field is None or not simple:
                    return BAD
                harmless.add(field)
                given[field] = 1 if isinstance(given[field], int) else 1.0
                continue
            for warning in caught:
                field = field_in(str(warning.message), given)
                self.note(node.value[field] if field is not None and field in node.value else node, path, warning)
            return BAD if harmless else made


@contextmanager
def told() -> Iterator[list[warnings.WarningMessage]]:
    """Collect the warnings of this block."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AnguillaWarning)
        yield caught


def _has_text(value: Any) -> bool:
    return any(_has_text(item) for item in value) if isinstance(value, list) else isinstance(value, str)
