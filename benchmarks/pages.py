"""The page docs/benchmarks.md and its figure, from the numbers that `run.py` measured: the rods. More in pages_more.py."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

from entries import NAMES
from guard import whole_ratio
from pages_more import at_its_error, crossings, goals, growth, other_cases, profile
from words import listed, milliseconds, percent, times, wrapped

DOCS = Path(__file__).resolve().parents[1] / "docs"
FIGURE = "figures/benchmarks/work_precision.png"

# Okabe and Ito's colours, told apart by everybody; the markers differ as well.
BLUE, ORANGE, GREEN, PINK, BROWN, GREY = "#0072B2", "#D55E00", "#009E73", "#AA4499", "#8C6D1F", "#6E6E6E"
# Other peers of the figure: name, mark, colour, points above the mark.
MORE = {
    "soromox": ("SoRoMoX", "^", GREEN, 9),
    "mujoco": ("MuJoCo", "v", PINK, -16),
    "pyelastica": ("PyElastica", "P", BROWN, 9),
}
CASES = {
    "soft": "soft rod, 10 m",
    "stiff200": "steel rod, 0.4 m",
    "stiff": "stiff rod as printed, 0.4 m",
    "flying": "flying beam, 10 m",
}
# Where the names of Exudyn's elements stand clear of the marks: alignment, points above the last mark.
LABELS = {("soft", "cable"): ("left", -14), ("soft", "beam"): ("right", 9)}


def machine() -> dict[str, str]:
    """Processor, cores and system of this machine."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {"processor": model, "cores": str(os.cpu_count()), "system": f"{platform.system()} {platform.machine()}"}


def versions(result: dict) -> dict[str, str]:
    """Versions of the programs that were compared and of what Anguilla runs on."""
    found = {"Python": platform.python_version(), "NumPy": version("numpy"), "Numba": version("numba")}
    rods = [row for rows in result["cases"].values() for row in rows.values()]
    for row in (*rods, *(row for rows in result["others"].values() for row in rows)):
        if "version" in row:
            found[NAMES[row["peer"]]] = row["version"]
    return found


def table(result: dict) -> list[str]:
    """Markdown: one row per program and case."""
    lines = [
        "| case | program, setting | error | with half the step | best | median | time / ours | at its error | whole call | whole / ours |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for case, rows in result["cases"].items():
        ours = rows["anguilla"]
        for key, row in rows.items():
            if "failure" in row:
                lines.append(f"| {case} | {row['title']} | {row['failure']} | | | | | | | |")
                continue
            path = [ours, *result["paths"].get(case, {}).get("anguilla", [])]
            equal = at_its_error(row["error"], path)
            ratio = None if key == "anguilla" else row["ratio"] / ours["ratio"]
            fair = None if key == "anguilla" or equal is None else row["ratio"] / equal
            whole = whole_ratio(row, ours)
            cells = (
                case, row["title"], percent(row["error"]) + _until(row), percent(row.get("halved")), milliseconds(row["ratio"]),
                milliseconds(row["median"]), times(ratio), times(fair),
                "" if "whole_seconds" not in row else milliseconds(row["whole_seconds"] / row["simulated"]),
                times(None if key == "anguilla" else whole),
            )  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _until(row: dict) -> str:
    """Note on a run that was judged by its first check times only."""
    return f" (to {row['judged_until']:g} s)" if "judged_until" in row else ""


def settings_table(result: dict) -> list[str]:
    """Markdown: the settings behind the rows of the first table."""
    lines = ["| case | program | setting |", "|---|---|---|"]
    for case, rows in result["cases"].items():
        for row in rows.values():
            lines.append(f"| {case} | {row['title']} | {listed(row['settings'])} |")
    return lines


def draw(result: dict, path: Path) -> None:
    """Work-precision diagram: error against time, one panel per case."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cases = list(result["paths"])
    rows = (len(cases) + 1) // 2
    figure, panels = plt.subplots(
        rows, min(2, len(cases)), figsize=(9.6, 3.9 * rows), layout="constrained", sharey=True, squeeze=False
    )
    for axes in panels.flat[len(cases) :]:
        axes.set_visible(False)
    for axes, case in zip(panels.flat, cases, strict=False):
        named, taken = result["cases"][case], result["paths"][case]
        axes.axhline(0.01, color="0.75", linewidth=1.0, linestyle=(0, (4, 3)), zorder=0)
        axes.annotate("1 %", (1.0, 0.01), xycoords=("axes fraction", "data"), xytext=(-2, 3),
                      textcoords="offset points", color=GREY, ha="right", fontsize=9)  # fmt: skip
        _anguilla(axes, taken["anguilla"], named["anguilla"])
        _exudyn(axes, case, taken.get("exudyn", []), named)
        for key, (title, marker, colour, up) in MORE.items():
            some = [line for line in (*taken.get(key, []), named.get(key, {})) if "error" in line]
            if not some:
                continue
            axes.plot([line["ratio"] for line in some], [line["error"] for line in some], marker, color=colour,
                      markersize=8 if len(some) == 1 else 5, linestyle="none")  # fmt: skip
            place = max(some, key=lambda line: line["ratio"])
            axes.annotate(title, (place["ratio"], place["error"]), xytext=(0, up), textcoords="offset points",
                          color=colour, ha="center")  # fmt: skip
        axes.set_title(CASES.get(case, case), loc="left", fontsize=11)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("seconds per simulated second", color="0.25")
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color("0.6")
        axes.tick_params(which="both", color="0.6", labelcolor="0.25")
        left, right = axes.get_xlim()
        axes.set_xlim(min(left, named["anguilla"]["ratio"] / 9), 3 * right)
    for first in panels[:, 0]:
        first.set_ylabel("error / length", color="0.25")
    panels[0][0].set_ylim(1e-4, 0.12)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _anguilla(axes, path: list[dict], quoted: dict) -> None:
    good = [line for line in path if "error" in line]
    axes.plot([line["ratio"] for line in good], [line["error"] for line in good], "o-", color=BLUE, linewidth=1.6,
              markersize=4.5)  # fmt: skip
    axes.plot(
        quoted["ratio"], quoted["error"], "o", color=BLUE, markersize=10, markerfacecolor="none", markeredgewidth=1.6
    )
    axes.annotate("Anguilla", (quoted["ratio"], quoted["error"]), xytext=(-10, 0), textcoords="offset points",
                  color=BLUE, ha="right", va="center")  # fmt: skip


def _exudyn(axes, case: str, path: list[dict], rows: dict[str, dict]) -> None:
    named = [rows[key] for key in ("plain", "damped", "fastest", "settled", "beam") if "error" in rows.get(key, {})]
    everything = [line for line in (*path, *named) if "error" in line]
    for element, marker in (("cable", "s"), ("beam", "D")):
        some = [line for line in everything if line["settings"].get("element", "beam") == element]
        if not some:
            continue
        axes.plot([line["ratio"] for line in some], [line["error"] for line in some], marker, color=ORANGE,
                  markersize=4.5 if element == "cable" else 5, linestyle="none",
                  markerfacecolor=ORANGE if element == "cable" else "white")  # fmt: skip
        place = max(some, key=lambda line: line["ratio"])
        align, up = LABELS.get((case, element), ("right", -14))
        axes.annotate(f"Exudyn, {element}s", (place["ratio"], place["error"]), textcoords="offset points", color=ORANGE,
                      ha=align, xytext=(8 if align == "right" else -8, up))  # fmt: skip
    for row in named:
        axes.plot(row["ratio"], row["error"], "o", color=ORANGE, markersize=10, markerfacecolor="none",
                  markeredgewidth=1.4)  # fmt: skip


def write(result: dict, folder: Path = DOCS) -> None:
    """Write the page and its figure."""
    draw(result, folder / FIGURE)
    target = folder / "benchmarks.md"
    target.write_text("\n".join([*page(result), *_large(target)]) + "\n")


def _large(written: Path) -> list[str]:
    """The section on large robots, the last of the page, as it stands: `large.py` takes too long for every run."""
    old = written.read_text() if written.exists() else ""
    start = old.find("## Large robots")
    return ["", old[start:].rstrip()] if start >= 0 else []


def page(result: dict) -> list[str]:
    """Lines of docs/benchmarks.md."""
    from step_time import table as step_table

    here, full = result["machine"], result["full"]
    runs = "`make bench-full`" if full else "`make bench`"
    left_out = "SoRoMoX on `stiff` and PyElastica on `soft` and `stiff200` take minutes: `make bench-full` has them."
    return [
        "# Benchmarks",
        "",
        wrapped(
            f"Measured on {result['date']} by {runs}, which also writes this page: {here['processor']}, {here['cores']} "
            f"cores, {here['system']}, one thread. Versions: "
            + ", ".join(f"{name} {number}" for name, number in result["versions"].items())
            + ". Each peer runs in an environment of its own, which the command makes. The ratios are also in "
            "`docs/benchmarks.json`; the next run compares its own with them and fails if one fell by a third."
        ),
        "",
        "## Goals",
        "",
        *goals(result),
        "",
        *COMPARISON,
        "",
        *table(result),
        "",
        *([] if full else [wrapped(left_out), ""]),
        *READING,
        "",
        *ratios(result),
        "",
        *stability(result),
        "",
        *apart(result),
        "",
        "## Work and precision",
        "",
        f"![Error of the tip against computing time for the four rods]({FIGURE})",
        "",
        *FIGURE_TEXT,
        "",
        *crossings(result),
        "",
        *other_cases(result),
        "## One step",
        "",
        *STEP,
        "",
        *step_table(result["steps"]),
        "",
        *growth(result["steps"]),
        "",
        *profile(result["steps"], result["cases"]),
        "",
        "## Settings of the rods",
        "",
        *settings_table(result),
    ]


COMPARISON = (
    "## Rods: release of a cantilever, flying beam",
    "",
    "A rod (paper 004, X.A; `benchmarks/cases.py`) hangs in the equilibrium under gravity and a horizontal force at its tip;",
    "the force vanishes and the rod swings without damping. The error is the largest distance of the tip from the converged",
    "motion at five or six check times, as a share of the length. Times are milliseconds per simulated second, of the time",
    "integration alone, up to the last check time. The flying beam (`benchmarks/flying.py`) is pushed and twisted at one end for",
    "five seconds; its error is that of both ends at five check times.",
)
READING = (
    "*With half the step* is the error of the same setting with its step halved. *Time / ours* compares with the row of",
    "Anguilla as it stands; *at its error* compares with the cheapest setting on Anguilla's path of refinement (below) that is",
    "at most as far off as that peer. The programs took turns; *best* is the shortest of all runs. *Whole call* is all that a",
    "user calls for a robot described anew, in a process that is warm: description, its compilation or assembly, motion, reading",
    "of the tip, also per simulated second; *whole / ours* its ratio. Not in it are the equilibrium that a motion starts from, and",
    "what JAX and Numba compile in the first call.",
    "",
    "Exudyn is compared in five settings, found by sweeps (`benchmarks/peers/exudyn_cantilever.py`, `exudyn_flying.py`):",
    "",
    "- *plain exact beam*: geometrically exact beams with usual options: the ordinary build, modified Newton, tolerance 1e-8 (1e-6",
    "  on `flying`), the sparse solver and the numerical damping as they come. Elements and step are the fastest found within 1 %",
    "  (1.1 % on `stiff`, where the next finer mesh takes longer).",
    "- *plain, damped*: the same with the numerical damping that lets the steps be longest.",
    "- *fastest*: the fastest found within 1 %, whatever the elements, solvers and tolerances. Part of the error of its coarse mesh",
    "  is made up for by the error of its long step: with half the step it is off by more than 1 %, except on `flying`.",
    "- *settled*: the fastest found that passes the two tests of Anguilla's own settings: within 1 %, and moved by less than 0.3 %",
    "  of the length by half the step, twice the elements and a tenth of the tolerance.",
    "- *settled, exact beam*: the same among geometrically exact beams, the element nearest to Anguilla's rods; on `stiff` the",
    "  settled setting has them anyway.",
    "",
    wrapped(
        "SoRoMoX has strain modes too, but an explicit integrator with error control; its compilation, some ten seconds, is not "
        "counted. MuJoCo's rod is a chain of vertices with edges of fixed length (springs on `stiff`), PyElastica's an explicit "
        "Cosserat rod whose step is bounded by the speed of shear waves. Anguilla's settings (`benchmarks/settings.py`) were searched "
        "for as well: they are the cheapest found that pass two tests, an error below 1 % and the stability stated below. The peers' "
        "settings are the work of outsiders: their authors may know better ones."
    ),
)
FIGURE_TEXT = (
    "Circles mark the settings of the table. Anguilla's line refines modes, intervals and step together; Exudyn's marks are the",
    "settings of its sweep that no other beats in both time and error, and finer ones. Errors do not fall evenly along either.",
    "The reference of `stiff` is the mean of the finest runs of both programs, which are 0.04 % apart",
    "(`benchmarks/stiff_reference.py`); errors below that say nothing. The one before was 0.12 % off.",
)
STEP = (
    "Anguilla alone (`benchmarks/step_time.py`), best of many, in microseconds. A step is predict, then three Newton iterations",
    "of residual, exact tangent, factorisation and solve, called from Python once per step; the cost of the call is contained",
    "and given. To do equal work every time, the iterations are forced by a tolerance of zero: the compiled entry then does",
    "three from each of its two predictions, and the step is the call plus half of the rest. Residual and tangent alone are timed",
    "in a compiled loop. In `simulate` the loop is compiled too, and a factorised tangent serves several steps.",
)


def ratios(result: dict) -> list[str]:
    """Sentences with the ratio to each peer."""
    names = {"plain": "Exudyn's plain exact beams", "damped": "the same with more damping", "fastest": "its fastest setting", "settled": "its settled one",
             "beam": "its settled exact beams", "soromox": "SoRoMoX", "mujoco": "MuJoCo",
             "pyelastica": "PyElastica"}  # fmt: skip
    lines = []
    for case, rows in result["cases"].items():
        ours = rows["anguilla"]["ratio"]
        parts = [
            f"{times(rows[key]['ratio'] / ours)} times as fast as {name}"
            for key, name in names.items()
            if "ratio" in rows.get(key, {})
        ]
        if parts:
            lines.append(wrapped(f"- `{case}`: Anguilla is {', '.join(parts)}.", indent="  "))
    return lines


def stability(result: dict) -> list[str]:
    """How far Anguilla's own settings move under refinement."""
    moves = [f"{percent(rows['anguilla']['moved'])} (`{case}`)" for case, rows in result["cases"].items()]
    halves = [
        f"{percent(rows['anguilla']['error'])} to {percent(rows['anguilla']['halved'])} (`{case}`)"
        for case, rows in result["cases"].items()
    ]
    return [
        wrapped(
            "How stable are Anguilla's own settings? With half the step, twice the modes and intervals and a tenth of the tolerance, the tip moves at "
            f"the check times by at most {', '.join(moves)} of the length; `tests/validation_dynamics` and `tests/test_benchmarks.py` keep "
            f"this below 0.3 %. With half the step alone, the error goes from {', '.join(halves)}: it stays within 1 %, but it is not "
            "free of cancellation either."
        )
    ]


def apart(result: dict) -> list[str]:
    """What is not in the times, and the ratio of whole calls."""
    parts, whole = [], []
    cases = {case: rows for case, rows in result["cases"].items() if "new_seconds" in rows["anguilla"]}
    for case, rows in cases.items():
        row, settled = rows["anguilla"], rows.get("settled", {})
        compiling, rest = row["new_seconds"] - row["call_seconds"], row["call_seconds"] - min(row["seconds"])
        parts.append(f"{milliseconds(rest)} and {milliseconds(compiling)} ms (`{case}`)")
        if "call_seconds" in settled:
            known, new = (times(settled["call_seconds"] / row[key]) for key in ("call_seconds", "new_seconds"))
            whole.append(f"{known} and {new} (`{case}`)")
    readings = ", ".join(f"{milliseconds(rows['anguilla']['tip_seconds'])} ms" for rows in cases.values())
    text = (
        "Not in the times: what else a call of `simulate` does, above all judging its motion, and the compilation of a robot "
        f"that is described anew, {', '.join(parts)}; reading the tip from the result, {readings}. Exudyn's assembly is not in "
        "its times either, its recording of the tip is."
    )
    if whole:
        text += (
            " These motions are so short that this counts: the whole call of `simulate`, for a robot simulated before and for "
            f"one described anew, against Exudyn's settled assembly and solve gives a ratio of {', '.join(whole)}."
        )
    return [wrapped(text)]
