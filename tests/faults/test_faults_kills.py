"""kill -9 and Ctrl-C at random instants: what is on the disk is whole, and the work goes on to the same end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("fault_work.py")
KINDS = ["simulate", "checkpoint", "save", "sweep"]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are needed")


def hit(kind, count, number, folder, seed=17):
    command = [sys.executable, SCRIPT, kind, str(count), str(seed), str(int(number)), str(folder)]
    environment = os.environ | {"PYTHONPATH": str(SCRIPT.parents[2] / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"hit {count} times" in done.stdout and done.stderr == ""


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_kills_lose_nothing(kind, tmp_path):
    hit(kind, 5, signal.SIGKILL, tmp_path)


@pytest.mark.parametrize("kind", ["simulate", "save"])
def test_a_few_interruptions_lose_nothing(kind, tmp_path):
    hit(kind, 5, signal.SIGINT, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=["kill", "interrupt", "terminate"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_hits_lose_nothing(kind, number, tmp_path):
    hit(kind, 100, number, tmp_path)
