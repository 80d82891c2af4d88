"""Objects whose fields are formulas of the arc length."""

from __future__ import annotations

from typing import Any

from anguilla.errors import DescriptionError
from anguilla.files.expressions import Expression
from anguilla.files.registry import candidates

__all__ = ["Template"]


class Template:
    """A function that makes an object whose fields are formulas: ``Template("circle", radius="0.02 - 0.03 * X")``.

    Args:
        type: name of the type in files, such as "circle".
        fields: its fields: numbers, formulas of the variable, or Expressions.

    """

    def __init__(self, type: str, **fields: Any) -> None:
        from anguilla.describe.section import CrossSection

        found = candidates((CrossSection,))
        if type not in found:
            raise DescriptionError(f"Template.type must be one of {', '.join(found)}; got {type!r}.")
        self.type, self.maker = type, found[type]
        wrapped = {name: Expression(value) if isinstance(value, str) else value for name, value in fields.items()}
        self.fields: dict[str, Any] = wrapped
        self(0.0)

    def __call__(self, X: float) -> Any:
        """Return the object at the arc length X [m]."""

        def at(value: Any) -> Any:
            return value(*(X for _ in value.arguments)) if callable(value) else value

        return self.maker.make(**{name: at(value) for name, value in self.fields.items()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and (self.type, self.fields) == (other.type, other.fields)

    __hash__ = None  # type: ignore[assignment]
