"""The campaign: random robots from a seed, each judged independently of the solver's word.

    python soak/run.py --robots 10000 --seed 1 --out soak.jsonl [--resume] [--workers 2] [--minutes 45]
    python soak/run.py --seed 1 --only 17

One JSON line per robot; a killed campaign goes on with --resume. Ends with a table, and with 1 if there was any silent
failure, crash or hang.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):  # before numpy: one core per worker
    os.environ.setdefault(name, "1")

sys.path.insert(0, str(Path(__file__).parent))

PAGE = """# Random robots

`python soak/run.py` draws robots of 1 to 6 parts from a seed: rods of all strain sets, bases, sections and materials, rigid
bodies, all joints, loops, tendons, chambers, muscles, magnets, thrusters, springs, also between parts, loads that jump or
are written in Python, contact, also with hollows, and water. It
asks each for what a sensible user would ask, an equilibrium where one can exist and a short motion, and judges the answers
independently of the solver: what is left of the balance, the gaps of loops, stability by differences of the residual, grids
2 and 4 times finer, restarts; motions with 1/2 to 1/32 of the step, energy, momentum, going on from the middle.

An answer is *wrong* when it is off by more than 2 % of the robot's length (or gains as much of the energy in play) and
nothing says so, *said* when a warning, the status or the quality of the result says so, *refused* when the library raised an
error, *undecided* when ever smaller steps do not agree with each other. `python soak/run.py --seed S --only K` shows one
robot, `python soak/shrink.py --seed S --index K` writes the smallest one that fails in the same way as a script.

"""

BAD = ("wrong", "crash", "hang")


def done(out: Path, seed: int) -> dict[int, dict]:
    """Records of an earlier campaign by index; a line cut by a kill is dropped from the file."""
    if not out.exists():
        return {}
    lines = out.read_text().splitlines()
    found, kept = {}, []
    for line in lines:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if record["seed"] != seed:
            raise SystemExit(f"{out} belongs to seed {record['seed']}, not {seed}: give another --out.")
        found[record["index"]] = record
        kept.append(line)
    if len(kept) < len(lines) or (lines and not out.read_text().endswith("\n")):
        out.write_text("".join(line + "\n" for line in kept))
    return found


def campaign(options: argparse.Namespace, more: dict) -> int:
    """Judge all robots, write a line for each, print the table."""
    from report import table
    from workers import records

    from anguilla.solve.newton.progress import progress_bar

    out = Path(options.out)
    if not options.resume and out.exists() and out.stat().st_size:
        raise SystemExit(f"{out} exists: give --resume to go on with it, or another --out.")
    found = done(out, options.seed)
    todo = [k for k in range(options.first, options.first + options.robots) if k not in found]
    began = time.monotonic()
    until = began + 60.0 * options.minutes if options.minutes else float("inf")
    with out.open("a") as file, progress_bar("soaking", len(todo), None) as tick:
        for count, record in enumerate(
            records(options.seed, todo, options.workers, until=until, patience=options.patience, **more), 1
        ):
            file.write(json.dumps(record) + "\n")
            file.flush()
            found[record["index"]] = record
            if record["outcome"] in BAD:
                print(f"{record['index']}: {record['outcome']}: {record['reason']}", flush=True)
            tick(count)
    seconds = time.monotonic() - began
    if len(found) > len(todo):  # some were judged by an earlier campaign
        seconds = sum(record["seconds"] for record in found.values()) / options.workers
    text = table(list(found.values()), options.seed, seconds, options.workers)
    print(text)
    if options.page:
        Path(options.page).write_text(PAGE + text + "\n")
    return int(any(record["outcome"] in BAD for record in found.values()))


def only(seed: int, index: int) -> int:
    """Judge one robot here, and show it."""
    import generate
    import verify
    from describe import source

    spec = generate.robot(seed, index)
    print(source(spec))
    print(json.dumps(spec["motion"]), "length", spec["length"], "pace", spec["pace"])
    record = verify.judge(spec)
    print(json.dumps(record, indent=1))
    return int(record["outcome"] in BAD)


def main(alone: Callable = only, **more: Callable) -> int:
    """The campaign, of other robots with another `work` and judged alone by `alone`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robots", type=int, default=2000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="index of the first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="soak.jsonl", help="where the records go, one line each")
    parser.add_argument("--resume", action="store_true", help="go on with the records that are there")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--minutes", type=float, default=0.0, help="begin no robot after so many minutes")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds that a robot may take")
    parser.add_argument("--page", help="write the table as a page of the documentation, such as docs/soak.md")
    parser.add_argument("--only", type=int, default=None, help="judge this robot here, and show it")
    options = parser.parse_args()
    return campaign(options, more) if options.only is None else alone(options.seed, options.only)


if __name__ == "__main__":
    sys.exit(main())
