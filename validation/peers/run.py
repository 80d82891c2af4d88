"""Peers' own cases, remade with Anguilla: agreement and times, one line each; writes docs/peers_cases.md.

    python validation/peers/run.py                 # compare, print, write the page; about a minute
    python validation/peers/run.py --quick         # cases of less than a second, without the page
    python validation/peers/run.py --only exudyn   # cases of one peer, without the page
    python validation/peers/run.py --peers         # first solve the cases with Exudyn, PyElastica and SoRoMoX; ten minutes

What the authors publish, or the closed form they compare with, stands in the tables of cases; what their programs give when
they are run, in `reference.json`. Fails if a case disagrees by more than its tolerance.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import dismech_cases
import exudyn_cases
import iftomm_cases
import pyelastica_cases
import soromox_cases
from case import Outcome, compare

REFERENCE = HERE / "reference.json"
PAGE = ROOT / "docs" / "peers_cases.md"
TABLES = {
    "Exudyn": exudyn_cases.CASES,
    "PyElastica": pyelastica_cases.CASES,
    "IFToMM": iftomm_cases.CASES,
    "DisMech": dismech_cases.CASES,
    "SoRoMoX": soromox_cases.CASES,
}
PROGRAMS = {"exudyn": "peer_exudyn.py", "pyelastica": "peer_pyelastica.py", "soromox": "peer_soromox.py"}


def stored() -> dict:
    """What the peers' programs gave, by case."""
    return json.loads(REFERENCE.read_text())["cases"]


def asked_on() -> str:
    """The day on which the peers' programs were run."""
    return json.loads(REFERENCE.read_text())["date"]


def ask_peers() -> None:
    """Solve the cases with the peers' programs, each in its environment, and write `reference.json`."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from environments import python_of

    found = {}
    (ROOT / ".bench").mkdir(exist_ok=True)  # some programs write logs where they run
    for peer, script in PROGRAMS.items():
        done = subprocess.run(
            [python_of(peer), HERE / script], capture_output=True, text=True, check=True, cwd=ROOT / ".bench"
        )
        for text in done.stdout.splitlines():
            if text.startswith("{"):
                line = json.loads(text)
                if "failure" in line:
                    raise SystemExit(f"{peer}, {line['case']}: {line['failure']}")
                found[line.pop("case")] = {"program": peer, **line}
    write_reference(found)


def write_reference(found: dict) -> None:
    """Write what the programs gave, with the command that gives it."""
    head = {
        "command": "python validation/peers/run.py --peers",
        "date": date.today().isoformat(),
        "machine": platform.machine(),
    }
    REFERENCE.write_text(json.dumps({**head, "cases": found}, indent=1) + "\n")


def seconds(value: float | None) -> str:
    """A time with two digits."""
    return "" if value is None else f"{value:.2g} s"


def share(value: float | None) -> str:
    """A difference in percent, with one digit."""
    return "" if value is None else f"{100 * value:.1g} %" if value < 0.1 else f"{100 * value:.0f} %"


def told(peer: str, outcome: Outcome) -> str:
    """One line for a terminal."""
    case = outcome.case
    if case.solve is None:
        return f"--    {peer}, {case.name}: not remade: {case.note}"
    parts = []
    if outcome.off is not None:
        parts.append(f"{share(outcome.off)} from {case.origin}")
    if outcome.off_peer is not None:
        parts.append(f"{share(outcome.off_peer)} from its program")
    times = f"{seconds(outcome.seconds)}" + (
        f", its program {seconds(outcome.seconds_peer)}" if outcome.seconds_peer else ""
    )
    return f"{'ok' if outcome.agrees else 'OFF':5s} {peer}, {case.name}: {', '.join(parts)}; {times}"


def page(found: list[tuple[str, Outcome]]) -> str:
    """The page of the documentation."""
    solved = [outcome for _, outcome in found if outcome.case.solve]
    lines = [
        "# Cases of other programs",
        "",
        "Examples and test models of other programs, and problems of the IFToMM benchmark library, remade with Anguilla from their",
        "data. Each is compared with what its authors publish, or with the closed form that they compare with, and, where their",
        "program was run, with what it gives. *Difference* is the largest of all compared numbers, over the largest of its kind (or",
        "over the length of the rod).",
        "",
        f"{len(solved)} cases, {sum(o.agrees for o in solved)} of which agree within their tolerances; {len(found) - len(solved)} "
        "more are named that were not remade, with the reason.",
        "Times are processor time of one warm call that describes, solves and reads, on one thread; the programs' times are those of",
        "their solver alone, with settings that settle three digits (equilibria of PyElastica by damping), as they were run here on",
        f"{asked_on()}, beside other work: their order of magnitude is what they tell. Where there is none, what the authors publish was enough",
        "and their program was not run, or there is no program (IFToMM). `python validation/peers/run.py --peers` repeats all of it, without",
        "the option only this library's part.",
        "",
    ]
    for peer in TABLES:
        lines += [f"## {peer}", "", "| case | compared | from what is published | from its program | time | its program | |",
                  "|---|---|---|---|---|---|---|"]  # fmt: skip
        for name, outcome in found:
            if name == peer:
                case = outcome.case
                if case.solve is None:
                    lines.append(f"| {case.name} (`{case.source}`) | {case.what} | | | | | not remade: {case.note} |")
                    continue
                off = f"{share(outcome.off)} ({case.origin})" if outcome.off is not None else ""
                note = ("" if outcome.agrees else "**disagrees** ") + case.note
                cells = (f"{case.name} (`{case.source}`)", case.what, off, share(outcome.off_peer), seconds(outcome.seconds),
                         seconds(outcome.seconds_peer), note)  # fmt: skip
                lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join([*lines, *cosserat(), *FINDS, ""])


def cosserat() -> list[str]:
    """Section on cosseratbench, from what `cosserat.py` printed."""
    kept = json.loads((HERE / "cosserat.json").read_text())
    lines = ["## cosseratbench", "", f"A benchmark suite for ropes and rods ({kept['package']}) with an adapter, `validation/peers/cosserat.py`: its own",
             "metrics of its experiments at their usual resolution. In brackets PyElastica's, which the package brings along. Kept numbers,",
             f"`{kept['command']}` and `{kept['pyelastica_command']}` repeat them.", "", "| experiment | metrics | seconds |", "|---|---|---|"]  # fmt: skip
    for row in kept["anguilla"]:
        theirs = kept["pyelastica"].get(row["experiment"], {})
        told = [f"{name} {row[name]:.2g}" + (f" ({theirs[name]:.2g})" if name in theirs else "")
                for name in row if name not in ("experiment", "elements", "seconds")]  # fmt: skip
        taken = f"{row['seconds']:.2g}" + (f" ({theirs['seconds']:.2g})" if theirs else "")
        lines.append(f"| {row['experiment']} | {', '.join(told)} | {taken} |")
    return [*lines, "", "Of `capstan`, a rope over a cylinder, 0.8 of the overhang that friction holds must stay and 1.1 must slide: it does. `pile`, a",
            "rope that heaps up on a floor, did not end in eight minutes. In `twist` rods do not touch themselves. The reference\nof `crossing`, two ropes that rest on each other at their middles without friction, is not the only equilibrium: gravity tilted by\n0.4 degrees, or 24 modes in place of 16, lets the upper rope slide to one side, where the potential is 0.5 mJ lower. Seconds are\nof processor time here, and as its command line tells them for PyElastica, on a busy machine.", ""]  # fmt: skip


FINDS = (
    "## What came out",
    "",
    "- **Following distributed load.** The table that PyElastica's example compares with is off by up to 0.6 % at all loads, and its",
    "  seventh number (x = 0.0705 L) is no neighbour of the others. The boundary value problem, solved apart, gives 0.09806; so does",
    "  this library.",
    "- **Spatial slider-crank.** The submitted solutions differ among each other by 0.3 % after one second; this one is within 0.03 %",
    "  of González's. Exudyn's test model puts the centre of the crank on its axis, the submitted solutions in its middle.",
    "- **Grid of beams.** The number that Exudyn's test suite stores is that of one element a bay, 10 % from the settled motion.",
    "- **Stretch.** PyElastica's rods thin as they stretch, at constant volume; here the stress is linear in the strain. Of a rod that",
    "  stretches by 5 % that is 5 % of the elongation.",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only cases of less than a second")
    parser.add_argument("--only", choices=[name.lower() for name in TABLES], help="cases of one peer")
    parser.add_argument("--peers", action="store_true", help="first solve the cases with the other programs")
    arguments = parser.parse_args()
    if arguments.peers:
        ask_peers()
    theirs = stored()
    found = []
    for peer, cases in TABLES.items():
        for case in cases:
            if (arguments.only and arguments.only != peer.lower()) or (arguments.quick and case.slow):
                continue
            found.append((peer, compare(case, theirs)))
            print(told(*found[-1]), flush=True)
    if not (arguments.quick or arguments.only):
        PAGE.write_text(page(found))
    return int(not all(outcome.agrees for _, outcome in found))


if __name__ == "__main__":
    sys.exit(main())
