"""Statics against Euler's elastica: how the tip error falls with the modes and with the intervals, as two pictures."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

import anguilla as ag

matplotlib.use("Agg")
import matplotlib.pyplot as plt

YOUNG, RADIUS = 1e9, 0.01
EI = YOUNG * np.pi * RADIUS**4 / 4

# Okabe and Ito's colours, told apart by everybody; the markers differ as well.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#6E6E6E"

MODES = range(1, 13)
INTERVALS = (8, 10, 14, 20, 28, 40, 56, 80, 112)
FLOOR = 1e-10  # below it, what is left is the space error of the finest grid


def elastica_tip(alpha: float) -> np.ndarray:
    """Tip (x, y) / L of an inextensible cantilever along x under a dead tip force alpha EI / L^2 along y.

    With m = (1 + sin(tip slope)) / 2 and sin(phi) = 1 / sqrt(2 m) at the root, sqrt(alpha) = K(m) - F(phi | m).
    """

    def root(m: float) -> float:
        return float(np.arcsin(1.0 / np.sqrt(2.0 * m)))

    m = brentq(lambda m: ellipk(m) - ellipkinc(root(m), m) - np.sqrt(alpha), 0.5 + 1e-6, 1.0 - 1e-12, xtol=1e-15)
    y = 1.0 - 2.0 / np.sqrt(alpha) * (ellipe(m) - ellipeinc(root(m), m))
    return np.array([np.sqrt(2.0 * (2.0 * m - 1.0) / alpha), y])


def tip_error(alpha: float, strains: ag.Strains, intervals: int) -> float:
    """Distance of the computed tip from Euler's, over the length."""
    robot = ag.Robot(gravity=(0.0, 0.0, 0.0))
    material = ag.Material(young=YOUNG, density=1000.0)
    arm = robot.add(ag.Rod(1.0, ag.Circle(RADIUS), material, strains, intervals=intervals), at=robot.ground)
    robot.load(ag.TipWrench(arm, force=(0.0, alpha * EI, 0.0)))
    tip = ag.statics(robot, tolerance=1e-13).position(arm.tip)
    return float(np.hypot(*(tip[:2] - elastica_tip(alpha))))


def measure() -> dict[str, list[float]]:
    """Tip errors over L: against the modes (240 intervals), and against the intervals (12 modes)."""
    numbers: dict[str, list[float]] = {"modes": list(MODES), "intervals": list(INTERVALS)}
    for basis in ("legendre", "free_tip"):
        for alpha in (1, 10):
            key = f"modes_{basis}_{alpha}"
            numbers[key] = [tip_error(alpha, ag.planar(n, basis=basis), 240) for n in MODES]
    for alpha in (1, 10):
        numbers[f"intervals_{alpha}"] = [tip_error(alpha, ag.planar(12), n) for n in INTERVALS]
    pieces = (2, 4, 8, 16, 32)
    numbers["pieces"] = list(pieces)
    numbers["pieces_10"] = [tip_error(10, ag.planar(k, basis="piecewise_constant"), 2 * k) for k in pieces]
    return numbers


def _axes(title: str):
    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.92", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", color="0.6", labelcolor="0.25")
    axes.spines[["left", "bottom"]].set_color("0.6")
    axes.set_yscale("log")
    axes.set_ylabel("tip error / length", color="0.25")
    return figure, axes


def _draw_modes(numbers: dict[str, list[float]], path: Path) -> None:
    figure, axes = _axes("Euler's elastica: the error falls spectrally with the modes")
    n = np.array(numbers["modes"])
    for basis, color, marker in (("legendre", BLUE, "o"), ("free_tip", ORANGE, "s")):
        for alpha, face, line in ((10, color, "-"), (1, "white", "--")):
            e = np.array(numbers[f"modes_{basis}_{alpha}"])
            keep = e > FLOOR
            axes.plot(n[keep], e[keep], line, marker=marker, color=color, markerfacecolor=face, lw=1.6, ms=5.5)
    axes.text(3.25, 1.2e-3, r"$PL^2/EI = 10$", color=GREY)
    axes.text(2.1, 1.2e-7, r"$PL^2/EI = 1$", color=GREY, ha="right")
    for text, color, align, places in (
        ("Legendre", BLUE, "left", ((8.2, 3e-9), (4.62, 2.5e-8))),
        ("free tip", ORANGE, "right", ((7.1, 1.2e-9), (3.5, 1.2e-8))),
    ):
        for at in places:
            axes.text(*at, text, color=color, ha=align)
    axes.set_xlabel("modes of the bending", color="0.25")
    axes.set_xticks(range(1, 10))
    axes.set_xlim(0.7, 9.4)
    axes.set_ylim(FLOOR / 2, 1.0)
    figure.savefig(path, dpi=160)
    plt.close(figure)


def _draw_intervals(numbers: dict[str, list[float]], path: Path) -> None:
    figure, axes = _axes("Euler's elastica: fourth order in the intervals (12 Legendre modes)")
    n = np.array(numbers["intervals"])
    for key, color, marker, text in (
        ("intervals_10", BLUE, "o", r"$PL^2/EI = 10$"),
        ("intervals_1", ORANGE, "s", r"$PL^2/EI = 1$"),
    ):
        e = np.array(numbers[key])
        axes.plot(n, e, marker=marker, color=color, linewidth=1.6, markersize=5.5)
        axes.annotate(text, (n[-1], e[-1]), xytext=(8, 0), textcoords="offset points", color=color, va="center")
    a, b = 34.0, 68.0
    base = 3.6 * numbers["intervals_10"][INTERVALS.index(40)] * (40.0 / a) ** 4  # beside the upper curve
    axes.plot([a, b, b, a], [base, base, base / 16, base], color=GREY, linewidth=1.1)
    axes.text(b * 1.03, base / 4, "4", color=GREY, va="center")
    axes.text(np.sqrt(a * b), base * 1.25, "1", color=GREY, ha="center", va="bottom")
    axes.set_xscale("log")
    ticks = [10, 20, 40, 80]
    axes.set_xticks(ticks, [str(t) for t in ticks])
    axes.minorticks_off()
    axes.set_xlim(7.2, 190)
    axes.set_xlabel("intervals", color="0.25")
    figure.savefig(path, dpi=160)
    plt.close(figure)


def order(n: list[float], errors: list[float]) -> float:
    """Slope of log(error) against log(n), with its sign changed."""
    return -float(np.polyfit(np.log(n), np.log(errors), 1)[0])


def figures(folder: str | Path) -> dict[str, float]:
    """Draw `statics_modes.png` and `statics_intervals.png` into the folder.

    Returns:
        The numbers of the report: errors over L, and fitted orders.

    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    numbers = measure()
    _draw_modes(numbers, folder / "statics_modes.png")
    _draw_intervals(numbers, folder / "statics_intervals.png")
    report: dict[str, float] = {}
    for alpha in (1, 10):
        modal = np.array(numbers[f"modes_legendre_{alpha}"])
        falling = modal > FLOOR
        slope = np.polyfit(np.array(numbers["modes"])[falling], np.log10(modal[falling]), 1)[0]
        report[f"elastica {alpha}: error with 10 Legendre modes"] = float(modal[9])
        report[f"elastica {alpha}: factor gained by one mode"] = float(10.0**-slope)
        errors = numbers[f"intervals_{alpha}"]
        report[f"elastica {alpha}: order in the intervals"] = order(numbers["intervals"][3:], errors[3:])
    report["elastica 10: order of piecewise constant strain"] = order(numbers["pieces"][1:], numbers["pieces_10"][1:])
    return report


if __name__ == "__main__":
    for name, value in figures("out/validation").items():
        print(f"{name:50s} {value:.3g}")
