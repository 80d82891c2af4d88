"""Every table, one after the other, into docs/benchmarks_full.md; `make bench-full`.

    python benchmarks/full.py                       # all of it, about 35 minutes on a quiet machine
    python benchmarks/full.py --resume              # go on with a run that was stopped: tables that are done are kept
    python benchmarks/full.py --only calls judge    # these tables again; page and record keep the others
    python benchmarks/full.py --quick               # all in their short forms, printed: whether they work
    python benchmarks/full.py --long                # with the searches for the best settings and the slowest peers, hours
    python benchmarks/full.py --redraw              # the page from the record

The most important tables come first, and each is written as soon as it is done: a run that is stopped keeps what it has. A table
is what its script prints, kept with its command, the seconds it took, its day and the load of the machine. Without --long no
settings are searched: every program runs those that were found the best before. Ratios to other programs are read from the tables
(columns "times Anguilla") and, of `run.py`, from what it measured. The record, docs/benchmarks_full.json, keeps the last two runs of
every table, and the page says how far these are apart. If a ratio fell by more than a third, the run ends with status 1 and
the record of that table is left alone, unless told --accept.
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

import guard
from environments import InstallError, python_of
from pages import machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OUT = ROOT / "out" / "benchmarks" / "full"
MAIN = ROOT / "out" / "benchmarks" / "results.json"  # what run.py measured last
RECORD = ROOT / "docs" / "benchmarks_full.json"
PAGE = ROOT / "docs" / "benchmarks_full.md"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
AGREE = 0.25  # two runs on different days should differ by less than this share
COLUMNS = {"times Anguilla": "", "whole, times Anguilla": ", whole call"}


@dataclass(frozen=True, slots=True)
class Table:
    """A script that prints a table."""

    name: str
    title: str
    script: str  # below the root
    options: tuple[str, ...] = ()
    quick: tuple[str, ...] | None = None  # options of its short form; None: it is short
    long: tuple[str, ...] | None = None  # options of its long form
    only_long: bool = False
    peer: str | None = None  # the script gets the interpreter of this peer as its last option
    minutes: float = 15.0  # after which it is stopped; eight times that with --long

    def arguments(self, mode: str) -> tuple[str, ...]:
        """Options of the mode: "usual", "quick" or "long"."""
        given = self.quick if mode == "quick" else self.long if mode == "long" else None
        return self.options if given is None else given


TABLES = (
    Table("main", "Rods against other programs", "benchmarks/run.py", quick=("--smoke",), long=("--full",), minutes=25),
    Table("scale", "Chain, net, gripper, rods that meet, snake and coil against other programs", "benchmarks/scale.py", quick=("--quick",),
          long=("--rounds", "5"), minutes=20),
    Table("batch", "Many copies of an arm against MuJoCo: growth and memory", "benchmarks/batch.py", ("--growth", "--peer"),
          ("--growth", "--quick", "--peer"), peer="mujoco"),
    Table("calls", "Single calls in a loop", "benchmarks/calls.py"),
    Table("judge", "What the judge costs", "benchmarks/judge.py", quick=("--repeat", "2")),
    Table("cases", "Peers' own cases", "validation/peers/run.py", quick=("--quick",), long=("--peers",)),
    Table("learning", "Environments and loops at a fixed rate", "benchmarks/learning.py", ("--seconds", "3", "--loop", "30"),
          ("--seconds", "0.5", "--loop", "1"), ("--loop", "60")),
    Table("ways", "Batches, single runs and one long run", "benchmarks/batch.py", quick=("--arms", "16", "--steps", "50", "--repeat", "1")),
    Table("gradient", "Gradients of motions", "benchmarks/gradient.py"),
    Table("growth", "Growth with the rods of a chain", "benchmarks/growth.py"),
    Table("step", "One time step and its parts", "benchmarks/step_time.py", ("--seconds", "0.2"), ("--seconds", "0.01")),
    Table("prediction", "How well the last steps predict the next one", "benchmarks/prediction.py"),
    Table("volume", "Inverse kinematics of a reduced volume", "benchmarks/reduced_volume.py"),
    Table("description", "From a description to arrays", "benchmarks/description.py", ("--seconds", "0.2"), ("--seconds", "0.02")),
    Table("idle", "Contact that touches nothing", "benchmarks/contact.py", ("--idle",), ("--idle", "--repeat", "2")),
    Table("shapes", "Contact with obstacles of any shape", "benchmarks/shapes.py"),
    Table("reading", "Reading long motions", "benchmarks/reading.py"),
    Table("large", "Search: large robots", "benchmarks/large.py", only_long=True),
    Table("touching", "Search: contact against PyElastica", "benchmarks/touching.py", ("--repeat", "3", "--peer"), only_long=True,
          peer="pyelastica"),
)  # fmt: skip


def run(table: Table, mode: str = "usual", more: tuple[str, ...] = ()) -> dict:
    """What a table's script prints, how long it took, how it ended, on which day, under which load, and its ratios."""
    options = [*more, *table.arguments(mode)]
    found = {"command": " ".join(["python", table.script, *options, *([f"({table.peer}'s Python)"] if table.peer else [])]),
             "date": date.today().isoformat(), "load": load(), "machine": machine()["processor"]}  # fmt: skip
    if table.peer:
        try:
            options.append(str(python_of(table.peer)))
        except InstallError as error:
            return {
                **found,
                "text": str(error),
                "seconds": 0.0,
                "status": "the peer could not be installed",
                "ratios": {},
            }
    began, started = time.perf_counter(), time.time()
    minutes = table.minutes * (8 if mode == "long" else 1)
    OUT.mkdir(parents=True, exist_ok=True)
    log = OUT / f"{table.name}.log"  # what it says beside its table, to be watched
    try:
        with log.open("w") as beside:
            done = subprocess.run(
                [sys.executable, str(ROOT / table.script), *options], cwd=ROOT, env={**os.environ, **ONE_THREAD},
                stdout=subprocess.PIPE, stderr=beside, text=True, check=False, timeout=60 * minutes,
            )  # fmt: skip
        status = "done" if done.returncode == 0 else f"ended with status {done.returncode}"
        text = done.stdout if done.returncode == 0 else f"{done.stdout}\n{log.read_text()[-2000:]}"
    except subprocess.TimeoutExpired as stopped:
        status, text = f"stopped after {minutes:.0f} minutes", (stopped.stdout or b"").decode()
    now = ratios(text)
    if table.name == "main" and MAIN.exists() and MAIN.stat().st_mtime > started:  # not of its short form
        now |= guard.ratios(json.loads(MAIN.read_text()))
    return {
        **found,
        "text": text.strip(),
        "seconds": round(time.perf_counter() - began, 1),
        "status": status,
        "ratios": now,
    }


def load() -> float | str:
    """Load of the machine, mean of the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else "unknown"


def ratios(text: str) -> dict[str, float]:
    """Ratios of a table's markdown, by heading and program: least of the numbers of its columns "times Anguilla"."""
    found: dict[str, float] = {}
    heading, names = "", []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            if line.strip():
                heading, names = line.strip(), []
        elif set(cells) & set(COLUMNS):
            names = cells
        elif names and cells[0] not in ("anguilla", "") and set(cells[0]) != {"-"}:
            for column, suffix in COLUMNS.items():
                if column in names:
                    try:
                        ratio = float(cells[names.index(column)])
                    except (ValueError, IndexError):
                        continue  # a program without a setting that is good enough
                    name = f"{heading}, {cells[0]}{suffix}"
                    found[name] = min(ratio, found.get(name, ratio))
    return found


def apart(before: dict[str, float], now: dict[str, float]) -> dict[str, float]:
    """How far the ratios that both runs have are apart, as a share of the larger one."""
    return {name: abs(now[name] - before[name]) / max(now[name], before[name]) for name in before if name in now}


def stored() -> dict:
    """The record: conditions, and by table its last run and the one before."""
    return json.loads(RECORD.read_text()) if RECORD.exists() else {"tables": {}, "before": first_before()}


def first_before() -> dict:
    """Ratios of the main table that `make bench` recorded before there was a full run."""
    if not guard.RECORD.exists():
        return {}
    known = json.loads(guard.RECORD.read_text())
    return {"main": {"date": known["date"], "machine": known["machine"]["processor"], "ratios": known["ratios"]}}


def keep(name: str, result: dict, record: dict, *, accept: bool) -> list[str]:
    """Put a table into the record unless a ratio fell by a third, or it failed and an earlier one did not; what fell."""
    last = record["tables"].get(name)
    lost = guard.worse(last["ratios"] if last else record["before"].get(name, {}).get("ratios", {}), result["ratios"])
    if (lost and not accept) or (result["status"] != "done" and last and last["status"] == "done"):
        return lost
    if last and last["status"] == "done":
        record["before"][name] = {key: last[key] for key in ("date", "machine", "ratios")}
    record["tables"][name] = result
    record |= {"machine": machine(), "python": sys.version.split()[0]}
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    PAGE.write_text(page(record))
    return lost


def agreement(record: dict) -> list[str]:
    """How far the last two runs of each table are apart, in sentences."""
    lines, total, far = [], 0, 0
    for table in TABLES:
        last, before = record["tables"].get(table.name), record["before"].get(table.name)
        gaps = apart(before["ratios"], last["ratios"]) if last and before else {}
        if gaps:
            worst = max(gaps, key=gaps.__getitem__)
            total, far = total + len(gaps), far + sum(gap > AGREE for gap in gaps.values())
            other = (
                ""
                if before["machine"] == last["machine"]
                else f", on other machines ({before['machine']}; {last['machine']})"
            )
            middle = sorted(gaps.values())[len(gaps) // 2]
            lines.append(f"- {table.title}: {before['date']} and {last['date']}{other}, {len(gaps)} ratios, apart by {middle:.0%} in the median and "
                         f"{gaps[worst]:.0%} at most ({worst}).")  # fmt: skip
            lines += [
                f"    - {name}: {before['ratios'][name]:.3g} and {last['ratios'][name]:.3g}"
                for name, gap in gaps.items()
                if gap > AGREE
            ]
    if not lines:
        return ["There is no earlier run to compare with.", ""]
    return [f"Two runs: of {total} ratios to other programs that were measured twice, {total - far} agree within {AGREE:.0%}, {far} differ "
            "by more.", "", *lines, ""]  # fmt: skip


def page(record: dict) -> str:
    """The page: conditions, how far two runs are apart, and every table with its command."""
    here = record["machine"]
    lines = ["---", "orphan: true", "---", "", "# All tables", "",
             f"Measured with {here['processor']}, {here['cores']} cores, {here['system']}, Python {record['python']}, by `make bench-full`; the command below",
             "a heading repeats that table alone, and the day and the load of the machine when it began stand beside it (0 is idle, other",
             "programs make it more than 1). One thread unless a table says otherwise; tables run one after the other. Nothing is searched:",
             "every program has the settings that a search found best before (`python benchmarks/full.py --long` searches anew). Best and",
             "median of all runs are told, programs take turns, and *whole call* is what a user waits for in a warm process: description,",
             "solution and reading of the result; the first call of a process compiles or loads kernels besides.", ""]  # fmt: skip
    lines += agreement(record)
    for table in TABLES:
        result = record["tables"].get(table.name)
        if result is None:
            if not table.only_long:
                lines += [f"## {table.title}", "", "Not run yet.", ""]
            continue
        lines += [f"## {table.title}", "", f"`{result['command']}`: {result['status']}, {result['date']}, load {result['load']}, {result['seconds']:.0f} s.",
                  "", "```text", result["text"], "```", ""]  # fmt: skip
    return "\n".join(lines)


def chosen(names: list[str] | None, mode: str) -> list[Table]:
    """The tables of a run, the most important first."""
    if names:
        return [table for table in TABLES if table.name in names]
    return [table for table in TABLES if mode == "long" or not table.only_long]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=[table.name for table in TABLES], help="these tables")
    parser.add_argument("--resume", action="store_true", help="keep the tables that a run that was stopped has done")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--quick", action="store_true", help="short forms, printed; page and record are left alone")
    modes.add_argument("--long", action="store_true", help="with searches and the slowest peers")
    modes.add_argument("--redraw", action="store_true", help="the page from the record")
    parser.add_argument("--accept", action="store_true", help="record ratios that fell")
    arguments = parser.parse_args()
    mode = "quick" if arguments.quick else "long" if arguments.long else "usual"
    record = stored()
    if arguments.redraw:
        PAGE.write_text(page(record))
        return 0
    progress = OUT / "done.json"  # tables of the run that is under way
    done = set(json.loads(progress.read_text())) if arguments.resume and progress.exists() else set()
    failed = False
    for table in chosen(arguments.only, mode):
        if table.name in done:
            continue
        print(f"{table.title} ...", file=sys.stderr, flush=True)
        own = [f"--{name}" for name in ("accept", "resume") if getattr(arguments, name) and table.name == "main"]
        result = run(table, mode, tuple(own))
        print(f"  {result['status']}, {result['seconds']:.0f} s", file=sys.stderr, flush=True)
        failed |= result["status"] != "done"
        if mode == "quick":
            print(f"## {table.title}\n\n{result['text']}\n", flush=True)
            continue
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / f"{table.name}.json").write_text(json.dumps(result, indent=1) + "\n")
        lost = keep(table.name, result, record, accept=arguments.accept)
        for line in lost:
            print(line, file=sys.stderr)
        if lost and not arguments.accept:
            failed = True
            print(f"The record of {table.name!r} is left alone; if the machine was quiet and the change is wanted: "
                  f"--only {table.name} --accept.", file=sys.stderr)  # fmt: skip
        done.add(table.name)
        progress.write_text(json.dumps(sorted(done)) + "\n")
    if mode != "quick" and not arguments.only:
        progress.unlink(missing_ok=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
