"""One look for all figures: colours that colour-blind readers can tell apart, thin axes, names written at the lines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.errors import require

__all__ = ["COLOURS", "INK", "TIME_MAP", "figure", "figure_style", "label_ends", "scaled"]

# Okabe and Ito's palette: blue, vermillion, bluish green, orange, sky blue, reddish purple.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7")
INK = "#333333"
FAINT = "#B8BEC6"
SOLID = "#8A94A0"  # obstacles
TIME_MAP = "viridis"

SETTINGS: Any = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 7.0,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#E6E8EB",
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "lines.linewidth": 1.5,
    "lines.solid_capstyle": "round",
    "figure.dpi": 110.0,
    "savefig.dpi": 160.0,
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,  # text stays text in pdf and svg
    "svg.fonttype": "none",
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Use the settings of this page; the user's own come back afterwards."""
    matplotlib = require("matplotlib", "figures need", "plot")
    with matplotlib.rc_context(SETTINGS):
        yield


def figure(width: float, height: float) -> Any:
    """Return an empty figure of a size [inch], without pyplot and its list of open windows."""
    from anguilla.view.drawing import Drawing

    return Drawing(figsize=(width, height), layout="constrained")


def label_ends(ax: Any, lines: list[tuple[str, NDArray[np.float64], str]], t: NDArray[np.float64]) -> None:
    """Write names (name, values, colour) at the right ends of curves over t, moved apart where they would touch."""
    low, high = ax.get_ylim()
    gap = 0.11 * (high - low)
    order = sorted(lines, key=lambda line: float(line[1][-1]))
    places = [float(values[-1]) for _, values, _ in order]
    for _ in range(60):  # neighbours push each other apart
        for i in range(len(places) - 1):
            lack = gap - (places[i + 1] - places[i])
            if lack > 0.0:
                places[i] -= 0.5 * lack
                places[i + 1] += 0.5 * lack
    shift = max(0.0, low - places[0]) - max(0.0, places[-1] - high)
    for (name, _, colour), place in zip(order, places, strict=True):
        ax.annotate(
            name, (float(t[-1]), place + shift), xytext=(5, 0), textcoords="offset points", color=colour,
            va="center", ha="left", annotation_clip=False,
        )  # fmt: skip


def scaled(size: float) -> tuple[float, str]:
    """Return the factor and the unit that make a length of this size [m] easy to read: metres, cm or mm."""
    if not math.isfinite(size) or size >= 1.0 or size <= 0.0:
        return 1.0, "m"
    return (100.0, "cm") if size >= 0.02 else (1000.0, "mm")
