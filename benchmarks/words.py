"""Numbers and paragraphs as the page of the benchmarks shows them."""

import textwrap


def wrapped(text: str, *, indent: str = "") -> str:
    """A paragraph in lines of the width of these pages."""
    return textwrap.fill(text, 124, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def percent(value: float | None) -> str:
    """A share as percent with two digits; nothing for what was not measured."""
    return "" if value is None else f"{100 * value:.2g} %"


def times(value: float | None) -> str:
    """A ratio: one digit after the point below ten, none above."""
    return "" if value is None else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def milliseconds(value: float) -> str:
    """A time in milliseconds with three digits."""
    shown = 1e3 * value
    return f"{shown:.3g}" if shown < 1000 else f"{shown:.0f}"


def listed(settings: dict) -> str:
    """Settings by name, without what is off."""
    shown = ", ".join(f"{name} {value}" for name, value in settings.items() if value not in (0, False))
    return shown.replace("_", " ")
