"""Units that are not SI, and what they are in SI. Numbers are in SI everywhere; only measured data may come in others."""

from __future__ import annotations

import math
import re
import unicodedata

from anguilla.errors import DescriptionError

__all__ = ["FACTORS", "WORDS", "check_unit", "in_si"]

# unit -> (factor to SI, unit of SI)
UNITS = {
    "m": (1.0, "m"), "mm": (1e-3, "m"), "cm": (1e-2, "m"), "um": (1e-6, "m"), "inch": (0.0254, "m"), "ft": (0.3048, "m"),
    "s": (1.0, "s"), "ms": (1e-3, "s"), "us": (1e-6, "s"), "min": (60.0, "s"),
    "N": (1.0, "N"), "mN": (1e-3, "N"), "kN": (1e3, "N"),
    "Nm": (1.0, "N m"), "Nmm": (1e-3, "N m"), "Ncm": (1e-2, "N m"), "mNm": (1e-3, "N m"), "kNm": (1e3, "N m"),
    "Pa": (1.0, "Pa"), "kPa": (1e3, "Pa"), "MPa": (1e6, "Pa"), "GPa": (1e9, "Pa"), "mbar": (1e2, "Pa"), "bar": (1e5, "Pa"),
    "psi": (6894.757293168, "Pa"),
    "rad": (1.0, "rad"), "deg": (math.pi / 180.0, "rad"), "rpm": (math.pi / 30.0, "rad/s"),
    "kg": (1.0, "kg"), "g": (1e-3, "kg"), "mg": (1e-6, "kg"), "mT": (1e-3, "T"),
}  # fmt: skip
FACTORS = {unit: factor for unit, (factor, _) in UNITS.items()}
WORDS = {
    "seconds": "s", "sec": "s", "millimeters": "mm", "meters": "m", "degrees": "deg", "degree": "deg", "°": "deg",
    "\N{MICRO SIGN}m": "um", "\N{GREEK SMALL LETTER MU}m": "um", "\N{MICRO SIGN}s": "us", "\N{GREEK SMALL LETTER MU}s": "us",
    "kpa": "kPa",
}  # fmt: skip


def in_si(unit: str) -> tuple[float, str]:
    """Factor to SI of a unit such as "kN/m" or "g/cm^3", and its unit of SI: (1000.0, "N/m"). Unknown units stay."""
    factor, below = 1.0, False

    def one(found: re.Match[str]) -> str:
        nonlocal factor, below
        if found[0] == "/":
            below = True  # and with it all that follows
            return "/"
        name = WORDS.get(found[1].lower(), found[1])
        size, si = UNITS.get(name, (1.0, found[1]))
        power = int(found[2] or 1)
        factor *= size ** (-power if below else power)
        return si + found[0][len(found[1]) :]

    text = re.sub(r"/|([^\W\d_]+|°)(?:\^?(-?\d))?", one, unicodedata.normalize("NFKC", unit))
    return factor, text


def check_unit(unit: str, what: str) -> None:
    """Refuse a unit that is not SI: a unit is told beside a number, and converts nothing."""
    factor, si = in_si(unit)
    if abs(factor - 1.0) > 1e-12:
        raise DescriptionError(
            f"{what} has the unit {unit!r}, but all numbers are in SI units: give it in {si} (1 {unit} is {factor:.6g} {si})."
        )
