"""The series of injected faults in one command: every kind of work, hit so many times by every signal.

    python tests/faults/fault_series.py [--count 100] [--kinds save sweep] [--signals kill terminate interrupt] [--seed 17]

Prints a line for each: how often it was hit, or what was lost. Exits with 1 if anything was.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPT = Path(__file__).with_name("fault_work.py")
KINDS = ["simulate", "ending", "checkpoint", "save", "sweep"]
SIGNALS = {"kill": signal.SIGKILL, "terminate": signal.SIGTERM, "interrupt": signal.SIGINT}


def hit(kind: str, count: int, number: int, folder: str | Path, seed: int = 17) -> subprocess.CompletedProcess[str]:
    """Work that is hit `count` times by a signal, in a process of its own, which must end with 0 and say nothing else."""
    command = [sys.executable, SCRIPT, kind, str(count), str(seed), str(int(number)), str(folder)]
    environment = os.environ | {"PYTHONPATH": str(SCRIPT.parents[2] / "src")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1500, check=False)


def lost(done: subprocess.CompletedProcess[str], count: int) -> str:
    """What went wrong in such work; maybe nothing."""
    fine = done.returncode == 0 and f"hit {count} times" in done.stdout and done.stderr == ""
    return "" if fine else f"{done.stdout}{done.stderr}" or f"it ended with {done.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100, help="hits of each")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--signals", nargs="+", default=list(SIGNALS), choices=list(SIGNALS))
    parser.add_argument("--seed", type=int, default=17, help="of the instants")
    options = parser.parse_args()
    failed = 0
    for kind in options.kinds:
        for name in options.signals:
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                done = hit(kind, options.count, SIGNALS[name], folder, options.seed)
            wrong = lost(done, options.count)
            failed += bool(wrong)
            print(f"{name:9} {time.monotonic() - began:5.0f} s  {wrong or done.stdout.strip()}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
