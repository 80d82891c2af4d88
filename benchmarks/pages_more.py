"""The page docs/benchmarks.md: goals, the other cases, the profile of a step and its growth."""

from entries import NAMES
from guard import best_of, whole_of, whole_ratio
from words import listed, milliseconds, percent, times, wrapped

# Ratios that were aimed at, at 1 % of the length, on one thread.
GOALS = {"soft": 150, "stiff200": 60, "stiff": 15, "flying": 10}
TENDON_GOAL = 200
SETTLED_GOALS = {
    "soft": 50,
    "stiff200": 40,
    "stiff": 25,
    "flying": 25,
}  # against settings that stand refinement as ours do

OTHERS = {
    "tendon": (
        "Tendon arm",
        "Two soft sections in space, pulled by one tendon of each (`benchmarks/tendon.py`). The error is that of the tip over the "
        "length of the arm; times are milliseconds per simulated second.",
    ),
    "planar": (
        "Planar tendon arm",
        "The arm in the plane with a constant strain in each section, which is what JSRM models (`benchmarks/planar.py`): six "
        "coordinates, the same equations in both programs. The error is the distance of the tip after a second from the finest run.",
    ),
    "equilibrium": (
        "Equilibrium in space",
        "A cantilever bent and twisted by a dead force and a dead moment (`benchmarks/equilibrium.py`): milliseconds for one "
        "equilibrium from the straight rod. Exudyn's rows have the fewest load steps with which it converges.",
    ),
    "parallel": (
        "Parallel robot",
        "Two flexible legs hinged at their tips, driven by torques for ten seconds (paper 004, X.C; `benchmarks/parallel.py`). "
        "Exudyn's beams are planar and exact. Times are milliseconds per simulated second; the torques are functions of the time in "
        "Python for both, and evaluating them is in the times.",
    ),
}


def goals(result: dict) -> list[str]:
    """Markdown: what was aimed at, against which setting it is reached, and where it is not."""
    lines = [
        "Ratios of computing time at an error of at most 1 % of the length (plain beams on `stiff`: 1.1 %), on one thread.",
        "",
        "| case | goal | against the best peer with usual options | the same with more damping | against Exudyn's settled setting | its whole call | against the fastest peer in any setting |",
        "|---|---:|---|---:|---:|---:|---|",
    ]
    for case, goal in GOALS.items():
        rows = result["cases"].get(case)
        if not rows:
            continue
        ours = rows["anguilla"]["ratio"]
        damped, settled = (
            _verdict(rows.get(key, {}).get("ratio"), ours, aim)
            for key, aim in (("damped", goal), ("settled", SETTLED_GOALS[case]))
        )
        settled += f" (goal {SETTLED_GOALS[case]})" if settled else ""
        whole = times(whole_ratio(rows.get("settled", {}), rows["anguilla"]))
        first, last = (_against(others, ours, goal) for others in (_first_runs(rows), _others(rows)))
        lines.append(f"| {case} | {goal} | {first} | {damped} | {settled} | {whole} | {last} |")
    rows = result["others"].get("tendon", [])
    ours, peer = best_of(rows, own=True), best_of(rows, own=False)
    if ours and peer:
        lines.append(f"| tendon arm | {TENDON_GOAL} | | | | | {_verdict(peer, ours, TENDON_GOAL)} (SoRoMoX) |")
    missed = [
        case for case, goal in GOALS.items() if case in result["cases"] and not _reached(result["cases"][case], goal)
    ]
    text = (
        "The goals were set with measurements of peers with usual options (exact beams of Exudyn, SoRoMoX, MuJoCo, PyElastica), the "
        "first column; its settings of Exudyn are those of these measurements, or faster ones. More numerical damping lets its steps "
        "be longer. A search over all options of Exudyn finds settings that are many times faster than "
        "those, above all its planar cables with dense linear algebra; on `soft` the goal against these would leave less time for a "
        "step than one evaluation of the balance takes. Goals against its settled settings stand beside them. *Its whole call* is the "
        "ratio of what users of both programs wait for in a warm process: description, assembly, motion, reading. "
    )
    text += (
        f"Against the fastest peer in any setting, the goal is missed on {_and(missed)}."
        if missed
        else "All goals are met even so."
    )
    lines += ["", wrapped(text)]
    return lines


def _first_runs(rows: dict[str, dict]) -> dict[str, float]:
    """Times of the peers with usual options, by title; the plain beams may be a little above 1 %."""
    keys = ("plain", "soromox", "mujoco", "pyelastica")
    return {rows[key]["title"]: rows[key]["ratio"] for key in keys if rows.get(key, {}).get("error", 1) <= 0.012}


def _against(others: dict[str, float], ours: float, goal: float) -> str:
    best = min(others, key=lambda title: others[title], default=None)
    return "" if best is None else f"{_verdict(others[best], ours, goal)} ({best})"


def crossings(result: dict) -> list[str]:
    """Whether any setting of a peer beats the line of Anguilla in the diagram, between 0.1 % and 3 %."""
    nearest, crossed = [], []
    for case, rows in result["cases"].items():
        paths = result["paths"].get(case, {})
        own = [rows["anguilla"], *paths.get("anguilla", [])]
        points = [row for key, row in rows.items() if key != "anguilla"]
        points += [line for key, lines in paths.items() if key != "anguilla" for line in lines]
        found = []
        for point in points:
            if 1e-3 <= point.get("error", 1.0) <= 0.03:
                ours = at_its_error(point["error"], own)
                found.append(0.0 if ours is None else point["ratio"] / ours)
        if found:
            nearest.append(f"{times(min(found))} (`{case}`, {len(found)} settings)")
            crossed += [case] * (min(found) < 1.0)
    verdict = f"On {_and(crossed)} some setting does." if crossed else "No setting of any peer does."
    text = (
        "Does any setting of a peer lie below Anguilla's line between 0.1 % and 3 %: faster than the cheapest setting of Anguilla "
        f"on the line that is at most as far off? {verdict} The nearest one takes so many times as long: {', '.join(nearest)}."
    )
    return [wrapped(text)] if nearest else []


def at_its_error(error: float, path: list[dict]) -> float | None:
    """Seconds per simulated second of the cheapest setting of `path` that is at most `error` off; None if none is."""
    good = [line["ratio"] for line in path if line.get("error", error + 1.0) <= error]
    return min(good, default=None)


def _others(rows: dict[str, dict]) -> dict[str, float]:
    """Times of the peers within 1 %, by title."""
    return {
        row["title"]: row["ratio"] for key, row in rows.items() if key != "anguilla" and row.get("error", 1) <= 0.01
    }


def _reached(rows: dict[str, dict], goal: float) -> bool:
    return min(_others(rows).values(), default=0.0) >= goal * rows["anguilla"]["ratio"]


def _and(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _verdict(peer: float | None, ours: float, goal: float) -> str:
    return "" if peer is None else f"{times(peer / ours)}, {'met' if peer / ours >= goal else 'not met'}"


def other_table(case: str, rows: list[dict]) -> list[str]:
    """Markdown: one row per program and setting of another case."""
    if case == "batch":
        return _batch(rows)
    if case == "alone":
        return _alone(rows)
    lines = ["| program, setting | error | best | median | time / ours | whole call | whole / ours |",
             "|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    ours, whole_ours = best_of(rows, own=True), best_of(whole_of(rows), own=True)
    for row in rows:
        title = row.get("program") or f"{NAMES[row['peer']]}, {listed(row['settings'])}"
        if "failure" in row:
            lines.append(f"| {title} | {row['failure']} | | | | | |")
            continue
        ratio = None if row["peer"] == "anguilla" or not ours else row["ratio"] / ours
        whole = next((each["ratio"] for each in whole_of([row])), None)
        share = None if row["peer"] == "anguilla" or not whole or not whole_ours else whole / whole_ours
        cells = (
            title, percent(row["error"]), milliseconds(row["ratio"]), milliseconds(row["median"]), times(ratio),
            "" if whole is None else milliseconds(whole), times(share),
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _batch(rows: list[dict]) -> list[str]:
    lines = ["| program | coordinates | step [ms] | robot-steps per second, best | median | robot-seconds per second |",
             "|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    ours = {"batch": "`simulate_batch`", "copies": "`BatchStepper`"}  # of benchmarks/batch.py
    known = {"peer": "anguilla", "coordinates": 12, "step": 0.005}
    split = [{**row[way], **known, "way": f", {title}"} for row in rows for way, title in ours.items() if way in row]
    for row in [*split, *(row for row in rows if "batch" not in row)]:
        cells = (
            NAMES[row["peer"]] + row.get("way", ""), str(row["coordinates"]), f"{1e3 * row['step']:g}", f"{row['best']:.0f}", f"{row['median']:.0f}",
            f"{row['best'] * row['step']:.3g}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _alone(rows: list[dict]) -> list[str]:
    lines = []
    for row in rows:
        if row["case"] == "swimmer":
            lines.append(
                wrapped(
                    f"- Swimmer (`benchmarks/alone.py`): a free planar eel with {row['coordinates']} coordinates, muscles and water "
                    f"takes {milliseconds(row['ratio'])} ms per simulated second (median {milliseconds(row['median'])}), including "
                    f"{row['settings']['intervals']} x 2 muscle moments per step that are functions in Python. Refining everything "
                    f"moves its head by {1e3 * row['error']:.2g} mm, on a way of {row['way']:.2g} m.",
                    indent="  ",
                )
            )
        else:
            lines.append(
                wrapped(
                    f"- Soft volume with {row['nodes']} nodes, {row['tetrahedra']} tetrahedra (`examples/fem_speed.py`): a step of "
                    f"inverse kinematics takes {milliseconds(row['ratio'])} ms (median {milliseconds(row['median'])}), "
                    f"{milliseconds(row['kept'])} ms when it keeps its factorisation.",
                    indent="  ",
                )
            )
    return lines


def other_cases(result: dict) -> list[str]:
    """Sections of all other cases."""
    lines: list[str] = []
    for case, (title, text) in OTHERS.items():
        rows = result["others"].get(case)
        if not rows:
            continue
        lines += [f"## {title}", "", wrapped(text), "", *other_table(case, rows), ""]
        ours, peer = best_of(rows, own=True), best_of(rows, own=False)
        if ours and peer:
            words = f"The fastest setting of Anguilla within 1 % is {times(peer / ours)} times as fast as the fastest of its peer."
            lines += [wrapped(words), ""]
    if result["others"].get("batch"):
        text = (
            "Copies of the tendon arm with random tensions, on all cores: `simulate_batch` (with its judge and its results), `BatchStepper`, MuJoCo's threaded rollout, SoRoMoX by vmap. "
            "MuJoCo's arm is a chain of four rigid links on ball joints, a coarser model without stretch; SoRoMoX takes explicit steps. "
            "The steps differ, so the last column counts what was simulated."
        )
        lines += ["## Batch of 256", "", wrapped(text), "", *other_table("batch", result["others"]["batch"]), ""]
    if result["others"].get("alone"):
        lines += ["## Anguilla alone", "", *other_table("alone", result["others"]["alone"]), ""]
    return lines


def profile(steps: dict, cases: dict) -> list[str]:
    """Where the time of a motion goes, and what the ratio to the peer of a case would be at its floor."""
    lines = [
        wrapped(
            "Where the time goes in `simulate`, by the counters of the run and the times of each part alone; *rest* is prediction, "
            "convergence test, back substitution, storing and functions of the time in Python, *description* the compilation of the "
            "robot before the first step, which the times of this page leave out. The *floor* is the time of one residual for each "
            "step and of nothing else, which no implicit scheme undercuts at these steps; the last column is the ratio to Exudyn's "
            "settled setting that it would give."
        ),
        "",
        "| motion | steps | residuals, factorisations per step | step [us] | residual | tangent | LU | rest | description [ms] "
        "| floor [us] | ratio there |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in steps.get("profile", []):
        shares = " | ".join(f"{100 * row[key]:.0f} %" for key in ("residual", "tangent", "solve", "rest"))
        seconds = cases.get(row["name"], {}).get("settled", {}).get("seconds")
        there = times(1e6 * min(seconds) / row["floor"]) if seconds and "floor" in row else ""
        lines.append(
            f"| {row['name']} | {row['steps']} | {row['iterations']:.1f}, {row['factorisations']:.2f} | {row['step']:.3g} "
            f"| {shares} | {row['description']:.3g} | {row.get('floor', '')} | {there} |"
        )
    lines += [
        "",
        wrapped(
            "The steps are so long that the last ones do not predict the next one (`benchmarks/prediction.py`): Newton begins each "
            "nearly from nothing, and no extrapolation of accelerations or increments is nearer to the truth than a constant "
            "acceleration."
        ),
    ]
    return lines


def growth(steps: dict) -> list[str]:
    """Sentences on how residual and tangent grow."""
    powers = steps["exponents"]
    rods, modes, fixed = powers["rods"], powers["modes"], powers["modes, 20 intervals"]
    first, last = steps["rods"][0], steps["rods"][-1]
    lines = [
        wrapped(
            f"Along a chain of 1 to {last['rods']} rods of 9 coordinates, the residual grows like n^{rods['residual']:.2f} and the "
            f"tangent, which has n^2 entries, like n^{rods['tangent']:.2f} (n^{rods['tangent, largest']:.2f} over the last "
            "three). In one rod with 3 to 48 coordinates and intervals that follow the modes, the residual grows like "
            f"n^{modes['residual']:.2f} (n^{modes['residual, largest']:.2f} over the last three) and the tangent like "
            f"n^{modes['tangent']:.2f} (n^{modes['tangent, largest']:.2f}); with 20 intervals throughout, like "
            f"n^{fixed['residual']:.2f} and n^{fixed['tangent']:.2f}."
        ),
        "",
        wrapped(
            f"The dense factorisation takes {first['solve'] / first['tangent']:.2f} of the time of the tangent for one rod of the "
            f"chain and {last['solve'] / last['tangent']:.2f} for {last['rods']} ({last['coordinates']} coordinates). The tangent of a "
            "serial chain has no zeros to skip; in a branched robot the coordinates of different branches do not meet, and "
            "their columns are neither computed nor stored."
        ),
    ]
    if "intervals" in powers:
        some, batch = powers["intervals"], powers["batch"]
        lines += [
            "",
            wrapped(
                f"With the intervals of one rod of 9 coordinates, from {steps['intervals'][0]['intervals']} to "
                f"{steps['intervals'][-1]['intervals']}, the residual grows like N^{some['residual']:.2f} and the tangent like "
                f"N^{some['tangent']:.2f}. The time of a batch grows like B^{batch['time']:.2f} with its size, from "
                f"{steps['batch'][0]['arms']} to {steps['batch'][-1]['arms']} arms."
            ),
        ]
    return lines
