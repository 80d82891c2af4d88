"""Every table, one after the other, into docs/benchmarks_full.md; `make bench-full`.

    python benchmarks/full.py                       # all of it, an hour or two on a quiet machine
    python benchmarks/full.py --only calls judge    # some tables, printed; page and record are left alone
    python benchmarks/full.py --redraw              # the page from the last run

A table is what its script prints, kept with its command, the seconds it took and the conditions of the machine. Ratios to other
programs are read from the tables (columns "times Anguilla") and, of `run.py`, from docs/benchmarks.json. They are compared with
those of the last recorded run: if one fell by more than a third, the run ends with status 1 and leaves the record alone, unless
told --accept. The page says how far two runs are apart.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from environments import InstallError, python_of
from guard import RECORD as MAIN
from guard import worse
from pages import machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OUT = ROOT / "out" / "benchmarks" / "full"
RECORD = ROOT / "docs" / "benchmarks_full.json"
PAGE = ROOT / "docs" / "benchmarks_full.md"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
AGREE = 0.25  # two runs on different days should differ by less than this share


@dataclass(frozen=True, slots=True)
class Table:
    """A script that prints a table."""

    name: str
    title: str
    script: str  # below the root
    options: tuple[str, ...] = ()
    peer: str | None = None  # the script gets the interpreter of this peer as its last option
    minutes: float = 30.0  # after which it is stopped


TABLES = (
    Table("main", "Rods against other programs", "benchmarks/run.py", ("--full",), minutes=120),
    Table("large", "Large robots against other programs", "benchmarks/large.py", minutes=90),
    Table("contact", "Two rods that meet", "benchmarks/contact.py", ("--peer",), "pyelastica"),
    Table("idle", "Contact that touches nothing", "benchmarks/contact.py", ("--idle",)),
    Table("shapes", "Contact with obstacles of any shape", "benchmarks/shapes.py"),
    Table("batch", "Many copies of an arm", "benchmarks/batch.py"),
    Table("learning", "Environments and loops at a fixed rate", "benchmarks/learning.py", ("--loop", "60")),
    Table("calls", "Single calls in a loop", "benchmarks/calls.py"),
    Table("description", "From a description to arrays", "benchmarks/description.py"),
    Table("step", "One time step and its parts", "benchmarks/step_time.py"),
    Table("judge", "What the judge costs", "benchmarks/judge.py"),
    Table("gradient", "Gradients of motions", "benchmarks/gradient.py"),
    Table("growth", "Growth with the rods of a chain", "benchmarks/growth.py"),
    Table("reading", "Reading long motions", "benchmarks/reading.py"),
    Table("volume", "Inverse kinematics of a reduced volume", "benchmarks/reduced_volume.py"),
    Table("cases", "Peers' own cases", "validation/peers/run.py"),
)


def run(table: Table) -> dict:
    """What a table's script prints, how long it took, and how it ended."""
    command = [sys.executable, str(ROOT / table.script), *table.options]
    if table.peer:
        try:
            command.append(str(python_of(table.peer)))
        except InstallError as error:
            return {"text": str(error), "seconds": 0.0, "status": "the peer could not be installed"}
    began = time.perf_counter()
    try:
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=False,
            timeout=60 * table.minutes,
        )  # fmt: skip
        status = "done" if done.returncode == 0 else f"ended with status {done.returncode}"
        text = done.stdout if done.stdout.strip() else done.stderr[-2000:]
    except subprocess.TimeoutExpired:
        status, text = f"stopped after {table.minutes:.0f} minutes", ""
    return {"text": text.strip(), "seconds": round(time.perf_counter() - began, 1), "status": status}


def ratios(name: str, text: str) -> dict[str, float]:
    """Ratios of a table's markdown, by heading and program: the numbers of its columns "times Anguilla"."""
    found: dict[str, float] = {}
    heading, column = "", None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            if line.strip():
                heading = line.strip()
            column = None
        elif "times Anguilla" in cells:
            column = cells.index("times Anguilla")
        elif column is not None and cells[0] not in ("anguilla", "") and set(cells[0]) != {"-"}:
            try:
                found[f"{name}, {heading}, {cells[0]}"] = float(cells[column])
            except ValueError:
                continue  # a program without a setting that is good enough
    return found


def all_ratios(results: dict[str, dict]) -> dict[str, float]:
    """Ratios of all tables, and those that the main one recorded."""
    found = {key: value for name, result in results.items() for key, value in ratios(name, result["text"]).items()}
    if results.get("main", {}).get("status") == "done" and MAIN.exists():
        found |= {f"main, {key}": value for key, value in json.loads(MAIN.read_text())["ratios"].items()}
    return found


def apart(before: dict[str, float], now: dict[str, float]) -> dict[str, float]:
    """How far the ratios that both runs have are apart, as a share of the larger one."""
    return {name: abs(now[name] - before[name]) / max(now[name], before[name]) for name in before if name in now}


def page(results: dict[str, dict], conditions: dict, before: dict | None) -> str:
    """The page: conditions, how far two runs are apart, and every table with its command."""
    lines = ["---", "orphan: true", "---", "", "# All tables", "", f"Measured on {conditions['date']}: {conditions['machine']}, Python {conditions['python']}. One thread",
             "unless a table says otherwise; tables are run one after the other, nothing else being run by these scripts. The load",
             f"of the machine was {conditions['load']} when it began. `make bench-full` repeats all of it, the command below a heading",
             "that table alone.", ""]  # fmt: skip
    if before:
        gaps = apart(before["ratios"], all_ratios(results))
        if gaps:
            worst = max(gaps, key=gaps.__getitem__)
            far = sum(gap > AGREE for gap in gaps.values())
            lines += [f"Against the run of {before['date']}: {len(gaps)} ratios to other programs, {far} of which differ by more than "
                      f"{AGREE:.0%}; the largest difference is {gaps[worst]:.0%} ({worst}).", ""]  # fmt: skip
    else:
        lines += ["There is no earlier run to compare with.", ""]
    for table in TABLES:
        if table.name in results:
            result = results[table.name]
            command = " ".join(
                ["python", table.script, *table.options, *([f"({table.peer}'s Python)"] if table.peer else [])]
            )
            lines += [f"## {table.title}", "", f"`{command}`: {result['status']}, {result['seconds']:.0f} s.", "", "```text",
                      result["text"], "```", ""]  # fmt: skip
    return "\n".join(lines)


def guarded(results: dict[str, dict], conditions: dict, *, accept: bool) -> int:
    """Compare with the record, write page and record unless a ratio fell by a third; the exit status."""
    before = json.loads(RECORD.read_text()) if RECORD.exists() else None
    now = all_ratios(results)
    lost = worse(before["ratios"], now) if before else []
    for line in lost:
        print(line, file=sys.stderr)
    PAGE.write_text(page(results, conditions, before))
    failed = [table.name for table in TABLES if results.get(table.name, {}).get("status", "done") != "done"]
    if lost and not accept:
        print(
            "The record is left alone. If the machine was quiet and the change is wanted: --redraw --accept.",
            file=sys.stderr,
        )
        return 1
    RECORD.write_text(json.dumps({**conditions, "ratios": now}, indent=1) + "\n")
    return int(bool(failed))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=[table.name for table in TABLES], help="these tables, printed")
    parser.add_argument("--redraw", action="store_true", help="the page from the last run")
    parser.add_argument("--accept", action="store_true", help="record ratios that fell")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    kept = OUT / "results.json"
    if arguments.redraw:
        stored = json.loads(kept.read_text())
        return guarded(stored["results"], stored["conditions"], accept=arguments.accept)
    conditions = {"date": date.today().isoformat(), "machine": machine(), "python": sys.version.split()[0],
                  "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else "unknown"}  # fmt: skip
    results = {}
    for table in TABLES:
        if arguments.only and table.name not in arguments.only:
            continue
        print(f"{table.title} ...", file=sys.stderr, flush=True)
        results[table.name] = run(table)
        if arguments.only:
            print(f"## {table.title}\n\n{results[table.name]['text']}\n")
        else:
            kept.write_text(json.dumps({"conditions": conditions, "results": results}, indent=1) + "\n")
    if arguments.only:
        return int(any(result["status"] != "done" for result in results.values()))
    return guarded(results, conditions, accept=arguments.accept)


if __name__ == "__main__":
    sys.exit(main())
