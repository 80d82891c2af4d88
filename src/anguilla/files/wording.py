"""Problems in words: what a field takes, what a type has, what an error of a description says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from anguilla.files.registry import Form, Maker, candidates, kind_name

__all__ = ["field_in", "fields_of", "split_error", "wanted"]


def wanted(form: Form) -> str:
    """What a form takes, in words."""
    parts = []
    if form.number or form.function:
        kind = "a whole number" if form.integer else "numbers" if form.function else "a number or numbers"
        parts.append(f"{kind}, or a formula such as '0.3 * sin(t)'" if form.function else kind)
    if form.functions:
        parts.append("a list of formulas")
    if form.flag:
        parts.append("true or false")
    if form.text:
        parts.append("a text")
    if form.words:
        parts.append(f"one of {', '.join(form.words)}")
    if form.frame:
        parts.append("a frame such as ground, arm.tip, arm[0.25] or hand")
    if form.part:
        parts.append("the name of a part")
    for kinds in (form.kinds, form.template):
        if kinds:
            name, known = kind_name(kinds), list(candidates(kinds))
            parts.append(name if known == [name.split()[-1]] else f"{name} ({', '.join(known)})")
    if form.none:
        parts.append("left out")
    return " or ".join(parts) or "left out"


def split_error(text: str, otherwise: str) -> tuple[str, str]:
    """Split "X must be A; got B." into what was given and what is valid; other texts get the suggestion `otherwise`."""
    head, allowed, tail = text.partition("; allowed are ")
    if allowed:
        return head + ".", "Allowed are " + tail
    match = re.fullmatch(r"(?P<name>.{0,120}?) must (?P<wanted>.+); got (?P<given>.+?)\.?", text, re.S)
    if match is None:
        return text, otherwise
    return f"got {match['given']}.", f"{match['name']} must {match['wanted']}."


def field_in(text: str, given: Mapping[str, Any]) -> str | None:
    """The given field that an error names first."""
    found = {name: re.search(rf"(?<=[. ]){re.escape(name)}\b", text) for name in given}
    places = {name: match.start() for name, match in found.items() if match}
    return min(places, key=lambda name: places[name]) if places else None


def fields_of(maker: Maker) -> str:
    """The fields of a type, in words."""
    names = ", ".join(maker.fields) or "none"
    more = ", and any of its kind" if maker.rest else ""
    return f"The fields of {maker.name} are: {names}{more}."
