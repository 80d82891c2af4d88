"""A killed simulation goes on from its last checkpoint and ends bit-identical to one that was never stopped."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import anguilla as ag
from anguilla.solve import checkpoint as module

ROOT = Path(__file__).parents[2]

# A swinging arm with a time-dependent load, slow enough to be killed on the way.
BUILD = """
import sys
import numpy as np
import anguilla as ag
from anguilla.solve import checkpoint as module

module.SECONDS = 0.0
def build():
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000, damping=0.005)
    robot = ag.Robot("long")
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.01), rubber, ag.reissner(3)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.005)))
    robot.load(ag.TipWrench(arm, force=lambda t: (0.0, 0.1 * np.sin(7 * t), 0.0)))
    return robot

def run(steps, **options):
    inputs = {"pull": lambda t: 1.0 + np.cos(3 * t)}
    return ag.simulate(build(), duration=steps * 1e-3, dt=1e-3, every=10, inputs=inputs, progress=False, **options)
"""
SCRIPT = (
    BUILD
    + """
found = run(int(sys.argv[2]), checkpoint=sys.argv[1])
counters = np.array(sorted(found.status.counters.items()), dtype=str)
np.savez(sys.argv[3], t=found.t, q=found.q, v=found.v, counters=counters)
"""
)


@pytest.fixture
def simulation():
    names = {}
    exec(BUILD, names)
    yield names
    module.SECONDS = 5.0


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in "tqv")


def test_a_killed_simulation_ends_as_if_nothing_had_happened(tmp_path):
    # three fresh processes, as when the same command is given again: never stopped, killed, resumed
    steps, path = 16_000, tmp_path / "run.checkpoint"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}

    def start(checkpoint, out, steps=steps):
        command = [sys.executable, "-c", SCRIPT, str(checkpoint), str(steps), str(out)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)

    # The process that compiles a kernel links its helpers in another order than those that load it: other last bits.
    assert start(tmp_path / "first.checkpoint", tmp_path / "first.npz", steps=10).wait() == 0
    assert start(tmp_path / "other.checkpoint", tmp_path / "whole.npz").wait() == 0
    process = start(path, tmp_path / "killed.npz")
    try:
        give_up = time.monotonic() + 60
        while not path.exists() and process.poll() is None and time.monotonic() < give_up:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.wait()
    assert process.returncode == -signal.SIGKILL, "it must be killed on its way"
    assert not (tmp_path / "killed.npz").exists()
    with np.load(path) as kept:
        done = int(kept["done"])
    assert 0 < done < steps
    for file in tmp_path.glob(".*.part*"):
        file.unlink()  # what a kill during a write may leave
    assert start(path, tmp_path / "resumed.npz").wait() == 0
    with np.load(tmp_path / "whole.npz") as whole, np.load(tmp_path / "resumed.npz") as resumed:
        for name in ("t", "q", "v", "counters"):
            assert np.array_equal(whole[name], resumed[name]), name
    assert not path.exists(), "a finished simulation needs no checkpoint"


def test_an_interrupted_simulation_loses_nothing_it_had(simulation, tmp_path, monkeypatch):
    path, steps = tmp_path / "run.checkpoint", 4000
    whole = simulation["run"](steps)
    module.SECONDS = 1e9  # no checkpoint is due: only the interruption writes one
    count = []

    class Interrupting(module.Checkpoint):
        def watch(self, tick):
            watched = super().watch(tick)

            def stop(done):
                watched(done)
                count.append(done)
                if len(count) == 2:
                    raise KeyboardInterrupt

            return stop

    monkeypatch.setattr("anguilla.solve.dynamics.Checkpoint", Interrupting)
    with pytest.raises(KeyboardInterrupt):
        simulation["run"](steps, checkpoint=path)
    monkeypatch.undo()
    with np.load(path) as kept:
        assert int(kept["done"]) == count[-1]
    assert same(whole, simulation["run"](steps, checkpoint=path))


def interrupted(simulation, path, steps=2000):
    """Leave a checkpoint behind."""
    original = module.Checkpoint.finish
    module.Checkpoint.finish = lambda self: self.save()
    try:
        simulation["run"](steps, checkpoint=path)
    finally:
        module.Checkpoint.finish = original
    assert path.exists()


def test_a_checkpoint_of_another_simulation_is_refused(simulation, tmp_path):
    path = tmp_path / "run.checkpoint"
    interrupted(simulation, path)
    before = path.read_bytes()
    with pytest.raises(ag.DescriptionError, match="belongs to another simulation"):
        simulation["run"](3000, checkpoint=path)
    with pytest.raises(ag.DescriptionError, match="belongs to another simulation"):
        simulation["run"](2000, checkpoint=path, method="midpoint")
    assert path.read_bytes() == before


def test_a_damaged_checkpoint_is_refused(simulation, tmp_path):
    path = tmp_path / "run.checkpoint"
    interrupted(simulation, path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ag.DescriptionError, match="cannot be read"):
        simulation["run"](2000, checkpoint=path)
    path.write_bytes(b"")
    with pytest.raises(ag.DescriptionError, match="cannot be read"):
        simulation["run"](2000, checkpoint=path)


def test_bad_places_are_refused(simulation, tmp_path):
    with pytest.raises(ag.DescriptionError, match="existing folder"):
        simulation["run"](100, checkpoint=tmp_path / "no" / "run")
    with pytest.raises(ag.DescriptionError, match="is a folder"):
        simulation["run"](100, checkpoint=tmp_path)
    with pytest.raises(ag.DescriptionError, match="leave error out"):
        simulation["run"](100, checkpoint=tmp_path / "run", error=1e-3)
