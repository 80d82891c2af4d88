"""Time Anguilla against its peers on the same problems and write docs/benchmarks.md.

    python benchmarks/run.py                # about ten minutes, once the peers are installed and have compiled
    python benchmarks/run.py --full         # more rounds, and the slowest peers
    python benchmarks/run.py --redraw       # the page and its figures from the last measurement
    python benchmarks/run.py --only flying  # one case, printed; the page is left alone
    python benchmarks/run.py --smoke        # everything once, to see that it works; the page goes to out/benchmarks
    python benchmarks/run.py --resume       # go on with a run that was stopped: cases that are done are kept

Every measurement is a process of its own, with one thread except for batches. Anguilla and the peers take turns, round after
round, so that a busy moment of the machine spoils no single one of them; the best and the median of all runs are kept. The
ratios are compared with those of the recorded page (docs/benchmarks.json): if one got worse by more than a third, the run ends
with status 1 and leaves the record alone, unless told --accept.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from statistics import median

from entries import ANGUILLA, ENTRIES, EXUDYN_FRONT, FLYING, OTHERS, PEERS, RODS, Entry, Source
from environments import ROOT, InstallError, python_of
from guard import RECORD, ratios, worse
from measure import rounded
from pages import apart, machine, table, versions, write
from pages_more import other_table

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "out" / "benchmarks" / "results.json"
PARTIAL = RESULTS.with_name("partial.json")  # of a run that is under way
JAX_CACHE = ROOT / "jax"  # of what JAX compiles, which no time contains
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
CASES = (*RODS, *dict.fromkeys(source.case for source in OTHERS), "steps")

# Runs given settings of Exudyn: arguments are the folder, the case, the repetitions and the settings as JSON.
EXUDYN_SETTINGS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import exudyn_cantilever as peer
case = peer.CANTILEVERS[sys.argv[2]]
for values in json.loads(sys.argv[4]):
    peer.show(peer.measure(case, peer.Setting(**values), until=case.last_check, repeat=int(sys.argv[3])))
"""

Pythons = dict[str | None, Path]


def interpreters(peers: Sequence[str] = PEERS) -> Pythons:
    """Interpreter of every environment; a peer that cannot be installed is left out, with a message."""
    found: Pythons = {None: Path(sys.executable)}
    for peer in peers:
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
    folder = RESULTS.parent  # some programs write logs where they run
    folder.mkdir(parents=True, exist_ok=True)
    command = [python, *arguments]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{Path(arguments[0]).name} failed:\n{done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def merged(lines: list[dict]) -> dict:
    """Records of the same setting as one: all their times, the best and the median per simulated second."""
    failed = [line for line in lines if "failure" in line]
    if failed:
        return failed[0]
    if "seconds" not in lines[0]:
        return min(lines, key=lambda line: line.get("ratio", 0.0))
    seconds = [value for line in lines for value in line["seconds"]]
    best = {
        key: min(line[key] for line in lines)
        for key in ("call_seconds", "new_seconds", "tip_seconds", "whole_seconds")
        if key in lines[0]
    }
    per = lines[0]["simulated"]
    return {
        **lines[0], **best, "seconds": seconds, "ratio": rounded(min(seconds) / per),
        "median": rounded(median(seconds) / per),
    }  # fmt: skip


def compare(case: str, pythons: Pythons, *, rounds: int, full: bool, smoke: bool = False) -> dict[str, dict]:
    """Records of every entry on one rod; Anguilla and the peers take turns."""
    lines: dict[str, list[dict]] = {}
    titles = {}
    for turn in range(rounds):
        for entry in ENTRIES:
            if entry.peer not in pythons or case not in entry.cases:
                continue
            if (entry.seldom and turn % 5) or (case in entry.full and not full):
                continue
            say(f"{case}: {entry.title}, round {turn + 1}")
            try:
                got = once(replace(entry, repeat=1) if smoke else entry, case, pythons)
            except RuntimeError as error:
                say(str(error))
                got = [{"case": case, "peer": entry.peer, "settings": {}, "failure": "the program stopped"}]
            lines.setdefault(entry.key, []).extend(got)
            titles[entry.key] = entry.title
    return {key: {**merged(got), "title": titles[key]} for key, got in lines.items()}


def once(entry: Entry, case: str, pythons: Pythons) -> list[dict]:
    """One run of an entry."""
    script = HERE / entry.script
    return records(pythons[entry.peer], script, *entry.arguments(case), own=entry.peer is None)


def halve(case: str, rows: dict[str, dict], pythons: Pythons) -> None:
    """Add to every row with a fixed step its error with half that step, and to Anguilla's how far refinement moves it."""
    own, entry = rows["anguilla"], FLYING if case == "flying" else ANGUILLA
    named = () if case == "flying" else (case,)
    script, brief = HERE / entry.script, ("--repeat", "1")
    if "failure" in own:
        raise RuntimeError(f"Anguilla failed on {case}: {own['failure']}")
    own["moved"] = records(pythons[None], script, *named, *brief, "--refine", own=True)[0]["moved"]
    half = str(own["settings"]["dt"] / 2)
    own["halved"] = records(pythons[None], script, *named, *brief, "--dt", half, own=True)[0].get("error")
    steps = [key for key in ("plain", "damped", "fastest", "settled", "beam") if "error" in rows.get(key, {})]
    settings = [{**rows[key]["settings"], "step": rows[key]["settings"]["step"] / 2} for key in steps]
    if steps:
        for key, line in zip(steps, exudyn(case, settings, pythons, repeat=1), strict=True):
            rows[key]["halved"] = line.get("error")


def exudyn(case: str, settings: list[dict], pythons: Pythons, *, repeat: int) -> list[dict]:
    """Records of Exudyn with the given settings; if it stops, records that say so."""
    given = json.dumps(settings)
    try:
        if case == "flying":
            script = HERE / "peers" / "exudyn_flying.py"
            return records(pythons["exudyn"], script, "--settings", given, "--repeat", str(repeat))
        return records(pythons["exudyn"], "-c", EXUDYN_SETTINGS, str(HERE / "peers"), case, str(repeat), given)
    except RuntimeError as error:
        say(str(error))
        return [{"settings": values, "failure": "the program stopped"} for values in settings]


def paths(case: str, pythons: Pythons, *, rounds: int, repeat: int) -> dict[str, list[dict]]:
    """Records of many settings, for the figure: Anguilla's and the peers', in turns."""
    few = str(max(1, repeat // 5))
    taken: dict[str, list[list[dict]]] = {"anguilla": []}
    for turn in range(rounds):
        say(f"{case}: finer and coarser settings, round {turn + 1}")
        entry, named = (FLYING, ()) if case == "flying" else (ANGUILLA, (case,))
        more = "--path", "--repeat", str(repeat)
        taken["anguilla"].append(records(pythons[None], HERE / entry.script, *named, *more, own=True))
        if case == "flying":
            for peer in ("exudyn", "pyelastica"):
                if peer in pythons:
                    script = HERE / "peers" / f"{peer}_flying.py"
                    taken.setdefault(peer, []).append(records(pythons[peer], script, "--path", "--repeat", few))
        elif "exudyn" in pythons:
            linear = "sparse" if case == "stiff" else "dense"
            names = "element", "elements", "step", "spectral_radius", "linear_solver"
            front = [dict(zip(names, (*values, linear), strict=True)) for values in EXUDYN_FRONT[case]]
            taken.setdefault("exudyn", []).append(exudyn(case, front, pythons, repeat=int(few)))
    return {key: [merged(list(lines)) for lines in zip(*turns, strict=True)] for key, turns in taken.items()}


def others(case: str, pythons: Pythons, *, full: bool, smoke: bool = False) -> list[dict]:
    """Rows of one of the other cases; its programs take turns. One that fails is reported and left out."""
    taken: dict[Source, list[list[dict]]] = {}
    sources = [s for s in OTHERS if s.case == case and (full or not s.full) and (HERE / s.script).exists()]
    factor = 2 if full else 1
    for turn in range(1 if smoke else factor * max((source.rounds for source in sources), default=0)):
        for source in sources:
            if source.peer not in pythons or turn >= source.rounds * factor:
                continue
            say(f"{case}: {Path(source.script).stem}, round {turn + 1}")
            options = *source.options, "--repeat", str(1 if smoke else source.repeat)
            try:
                got = records(pythons[source.peer], HERE / source.script, *options, own=source.peer is None)
            except RuntimeError as error:
                say(str(error))
                continue
            taken.setdefault(source, []).append(got)
    return [merged(list(lines)) for turns in taken.values() for lines in zip(*turns, strict=True)]


def measure(
    cases: list[str], pythons: Pythons, *, full: bool, smoke: bool = False, partial: Path | None = None
) -> dict:
    """Everything that the page shows; with `smoke`, each thing once. What is in `partial` is kept, and the rest added to it."""
    result: dict = {"date": date.today().isoformat(), "full": full, "machine": machine(), "cases": {}, "paths": {},
                    "others": {}}  # fmt: skip
    if partial and partial.exists():
        kept = json.loads(partial.read_text())
        result = kept if kept["full"] == full else result
    for case in cases:
        if case in (*result["paths"], *result["others"], *result):
            continue
        if case in RODS:
            rows = compare(case, pythons, rounds=1 if smoke else 6 if full else 2, full=full, smoke=smoke)
            halve(case, rows, pythons)
            result["cases"][case] = rows
            result["paths"][case] = paths(case, pythons, rounds=3 if full else 1, repeat=1 if smoke else 10)
        elif case == "steps":
            say("time of one step")
            seconds = "1.0" if full else "0.02" if smoke else "0.15"
            result["steps"] = records(pythons[None], HERE / "step_time.py", "--json", "--seconds", seconds, own=True)[0]
        else:
            result["others"][case] = others(case, pythons, full=full, smoke=smoke)
        if partial:
            partial.write_text(json.dumps(result) + "\n")
    result["versions"] = versions(result)
    return result


def say(text: str) -> None:
    """Report progress beside the results."""
    print(text, file=sys.stderr, flush=True)


def guarded(result: dict, *, accept: bool) -> int:
    """Compare the ratios with the recorded ones; record the new ones unless some got worse. Returns the exit status."""
    now, lost = ratios(result), []
    if RECORD.exists():
        lost = worse(json.loads(RECORD.read_text())["ratios"], now)
    for line in lost:
        say(line)
    if lost and not accept:
        say("The record is left alone. If the machine was quiet and the change is wanted: --redraw --accept.")
        return 1
    stored = {"date": result["date"], "machine": result["machine"], "ratios": now}
    RECORD.write_text(json.dumps(stored, indent=1) + "\n")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="more rounds, and the slowest peers")
    parser.add_argument("--redraw", action="store_true", help="write the page from the last measurement")
    parser.add_argument("--smoke", action="store_true", help="everything once; leave the page and the record alone")
    parser.add_argument("--only", choices=CASES, help="this case only, and leave the page alone")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=PEERS, help="only these, all by default")
    parser.add_argument("--accept", action="store_true", help="record ratios that got worse")
    parser.add_argument("--resume", action="store_true", help="keep the cases that a run that was stopped has done")
    arguments = parser.parse_args()
    if arguments.redraw:
        if not RESULTS.exists():
            parser.error("nothing has been measured yet: run without --redraw")
        result = json.loads(RESULTS.read_text())
    else:
        cases = [arguments.only] if arguments.only else list(CASES)
        # JSRM has a row of the full run only.
        wanted = [peer for peer in arguments.peers if peer != "jsrm" or arguments.full or arguments.only]
        partial = None if arguments.only or arguments.smoke else PARTIAL
        if partial and not arguments.resume:
            partial.unlink(missing_ok=True)
        result = measure(cases, interpreters(wanted), full=arguments.full, smoke=arguments.smoke, partial=partial)
    if result["cases"]:
        print("\n".join([*table(result), "", *apart(result)]))
    for case, rows in result["others"].items():
        print("\n".join(other_table(case, rows)))
    if arguments.only:
        if "steps" in result:
            print(json.dumps(result["steps"]["exponents"], indent=1))
        return 0
    if arguments.smoke:
        (RESULTS.parent / "smoke.json").write_text(json.dumps(result, indent=1) + "\n")
        write(result, RESULTS.parent)
        return 0
    if not arguments.redraw:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")
        PARTIAL.unlink(missing_ok=True)
    write(result)
    return guarded(result, accept=arguments.accept)


if __name__ == "__main__":
    sys.exit(main())
