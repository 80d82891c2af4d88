"""Time Anguilla against its peers on the cantilevers of `cases.py` and write docs/benchmarks.md.

    python benchmarks/run.py            # under three minutes, once the peers are installed and have compiled
    python benchmarks/run.py --full     # more rounds, and SoRoMoX on the stiff rod, which takes minutes
    python benchmarks/run.py --redraw   # the page and its figure from the last measurement

Every measurement is a process of its own with one thread. Anguilla and the peers take turns, round after round, so that a
busy moment of the machine spoils no single one of them; the best and the median of all runs are kept.
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median

from cases import CANTILEVERS
from environments import ROOT, InstallError, python_of
from measure import rounded
from pages import machine, table, versions, write

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "out" / "benchmarks" / "results.json"
JAX_CACHE = ROOT / "jax"  # of what SoRoMoX compiles, which no time contains
CASES = ("soft", "stiff200", "stiff")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

# Runs given settings of Exudyn: arguments are the case, the repetitions and the settings as JSON.
EXUDYN_SETTINGS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import exudyn_cantilever as peer
case = peer.CANTILEVERS[sys.argv[2]]
for values in json.loads(sys.argv[4]):
    peer.show(peer.measure(case, peer.Setting(**values), until=case.last_check, repeat=int(sys.argv[3])))
"""

# For the figure: element, elements, step [s], spectral radius. First those that no other setting of the sweep of
# peers/exudyn_cantilever.py beats in both time and error, then finer ones than the sweep has.
EXUDYN_FRONT = {
    "soft": (
        ("cable", 4, 0.06, 0.4), ("cable", 5, 0.06, 0.7), ("cable", 5, 0.04, 0.7), ("beam", 12, 0.05, 0.4),
        ("beam", 12, 0.06, 0.6), ("beam", 16, 0.04, 0.4), ("beam", 16, 0.05, 0.7),
        ("cable", 8, 0.02, 0.7), ("cable", 12, 0.01, 0.7), ("beam", 32, 0.02, 0.7), ("beam", 48, 0.01, 0.7),
    ),
    "stiff200": (
        ("cable", 4, 1.25e-3, 0.4), ("cable", 4, 1.25e-3, 0.7), ("cable", 4, 8e-4, 0.4), ("cable", 5, 6.25e-4, 0.7),
        ("cable", 5, 5e-4, 0.4), ("cable", 8, 2.5e-4, 0.7), ("cable", 12, 1.25e-4, 0.7), ("cable", 16, 6.25e-5, 0.7),
        ("beam", 12, 1.25e-3, 0.7), ("beam", 16, 8e-4, 0.7), ("beam", 24, 6.25e-4, 0.7), ("beam", 64, 2.5e-4, 0.7),
    ),
    "stiff": (
        ("beam", 32, 2e-3, 0.4), ("beam", 36, 1.25e-3, 0.4), ("beam", 36, 1e-3, 0.6), ("beam", 40, 1e-3, 0.6),
        ("beam", 64, 5e-4, 0.7), ("beam", 96, 2.5e-4, 0.7),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """A program with one of its settings, as a row of the table."""

    key: str
    title: str
    peer: str | None  # whose environment it needs
    script: str
    options: tuple[str, ...] = ()


ANGUILLA = Entry("anguilla", "Anguilla", None, "anguilla_cantilever.py")
ENTRIES = (
    ANGUILLA,
    Entry("fastest", "Exudyn, fastest", "exudyn", "peers/exudyn_cantilever.py"),
    Entry("settled", "Exudyn, settled", "exudyn", "peers/exudyn_cantilever.py", ("--settled",)),
    Entry("beam", "Exudyn, settled, exact beam", "exudyn", "peers/exudyn_cantilever.py", ("--beam",)),
    Entry("soromox", "SoRoMoX", "soromox", "peers/soromox_cantilever.py"),
)


def interpreters() -> dict[str | None, Path]:
    """Interpreter of every environment; a peer that cannot be installed is left out, with a message."""
    found: dict[str | None, Path] = {None: Path(sys.executable)}
    for peer in ("exudyn", "soromox"):
        try:
            found[peer] = python_of(peer)
        except InstallError as error:
            say(f"{error}\n{peer} is left out")
    return found


def records(python: Path, *arguments: str | Path, own: bool = False) -> list[dict]:
    """The JSON lines that a script prints. RuntimeError when it fails."""
    environment = {**os.environ, **ONE_THREAD, "JAX_COMPILATION_CACHE_DIR": str(JAX_CACHE)}
    if not own:
        environment.pop("PYTHONPATH", None)  # a peer sees its own environment only
    done = subprocess.run([python, *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{Path(arguments[0]).name} failed:\n{done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def merged(lines: list[dict]) -> dict:
    """Records of the same setting as one: all their times, the best and the median per simulated second."""
    failed = [line for line in lines if "failure" in line]
    if failed:
        return failed[0]
    seconds = [value for line in lines for value in line["seconds"]]
    best = {key: min(line[key] for line in lines) for key in ("call_seconds", "tip_seconds") if key in lines[0]}
    per = lines[0]["simulated"]
    return {
        **lines[0], **best, "seconds": seconds, "ratio": rounded(min(seconds) / per),
        "median": rounded(median(seconds) / per),
    }  # fmt: skip


def compare(case: str, pythons: dict[str | None, Path], *, rounds: int, full: bool) -> dict[str, dict]:
    """Records of every entry on one case; Anguilla and the peers take turns."""
    lines: dict[str, list[dict]] = {}
    for turn in range(rounds):
        for entry in ENTRIES:
            slow = entry.peer == "soromox"  # to compile: in the first round and, of six, in the last
            if entry.peer not in pythons or (slow and (turn % 5 or (case == "stiff" and not full))):
                continue
            if case == "stiff" and entry.key == "beam":
                continue  # its settled setting has exact beams already
            say(f"{case}: {entry.title}, round {turn + 1}")
            repeat = "--repeat", "40" if entry is ANGUILLA else "8"
            script = HERE / entry.script
            try:
                got = records(pythons[entry.peer], script, case, *entry.options, *repeat, own=entry.peer is None)
            except RuntimeError as error:
                say(str(error))
                got = [{"case": case, "settings": {}, "failure": "the program stopped"}]
            lines.setdefault(entry.key, []).extend(got)
    return {key: {**merged(got), "title": titles()[key]} for key, got in lines.items()}


def titles() -> dict[str, str]:
    """Title of every entry."""
    return {entry.key: entry.title for entry in ENTRIES}


def halve(case: str, rows: dict[str, dict], pythons: dict[str | None, Path]) -> None:
    """Add to every row with a fixed step its error with half that step, and to Anguilla's how far refinement moves it."""
    own = rows["anguilla"]
    script = HERE / ANGUILLA.script
    once = "--repeat", "1"
    own["moved"] = records(pythons[None], script, case, *once, "--refine", own=True)[0]["moved"]
    half = str(own["settings"]["dt"] / 2)
    own["halved"] = records(pythons[None], script, case, *once, "--dt", half, own=True)[0].get("error")
    steps = [key for key in ("fastest", "settled", "beam") if "error" in rows.get(key, {})]
    settings = [{**rows[key]["settings"], "step": rows[key]["settings"]["step"] / 2} for key in steps]
    if steps:
        for key, line in zip(steps, exudyn(case, settings, pythons, repeat=1), strict=True):
            rows[key]["halved"] = line.get("error")


def exudyn(case: str, settings: list[dict], pythons: dict[str | None, Path], *, repeat: int) -> list[dict]:
    """Records of Exudyn with the given settings."""
    peers = str(HERE / "peers")
    return records(pythons["exudyn"], "-c", EXUDYN_SETTINGS, peers, case, str(repeat), json.dumps(settings))


def paths(case: str, pythons: dict[str | None, Path], *, rounds: int) -> dict[str, list[dict]]:
    """Records of many settings, for the figure: Anguilla's and Exudyn's, in turns."""
    linear = "sparse" if case == "stiff" else "dense"
    names = "element", "elements", "step", "spectral_radius", "linear_solver"
    front = [dict(zip(names, (*values, linear), strict=True)) for values in EXUDYN_FRONT[case]]
    taken: dict[str, list[list[dict]]] = {"anguilla": [], "exudyn": []}
    for turn in range(rounds):
        say(f"{case}: finer and coarser settings, round {turn + 1}")
        script = HERE / ANGUILLA.script
        taken["anguilla"].append(records(pythons[None], script, case, "--path", "--repeat", "10", own=True))
        if "exudyn" in pythons:
            taken["exudyn"].append(exudyn(case, front, pythons, repeat=2))
    return {key: [merged(list(lines)) for lines in zip(*turns, strict=True)] for key, turns in taken.items()}


def measure(cases: list[str], *, full: bool) -> dict:
    """Everything that the page shows."""
    pythons = interpreters()
    rounds = 6 if full else 2
    result: dict = {"date": date.today().isoformat(), "full": full, "machine": machine(), "cases": {}, "paths": {}}
    for case in cases:
        rows = compare(case, pythons, rounds=rounds, full=full)
        halve(case, rows, pythons)
        result["cases"][case] = rows
        result["paths"][case] = paths(case, pythons, rounds=3 if full else 1)
    say("time of one step")
    seconds = "1.0" if full else "0.15"
    result["steps"] = records(pythons[None], HERE / "step_time.py", "--json", "--seconds", seconds, own=True)[0]
    result["versions"] = versions(result)
    return result


def say(text: str) -> None:
    """Report progress beside the results."""
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="more rounds, and SoRoMoX on the stiff rod")
    parser.add_argument("--redraw", action="store_true", help="write the page from the last measurement")
    parser.add_argument("--case", choices=sorted(CANTILEVERS), help="this one only, and leave the page alone")
    arguments = parser.parse_args()
    if arguments.redraw:
        if not RESULTS.exists():
            parser.error("nothing has been measured yet: run without --redraw")
        result = json.loads(RESULTS.read_text())
    else:
        result = measure([arguments.case] if arguments.case else list(CASES), full=arguments.full)
        if not arguments.case:
            RESULTS.parent.mkdir(parents=True, exist_ok=True)
            RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print("\n".join(table(result)))
    if not arguments.case:
        write(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
