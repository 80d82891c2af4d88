"""A killed simulation goes on from its last checkpoint and ends bit-identical to one that was never stopped."""

import functools
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from disks import full_disk

import anguilla as ag
from anguilla.solve.steps import checkpoint as module
from anguilla.solve.steps.identity import Identity
from anguilla.store.spare import leave_spares

ROOT = Path(__file__).parents[2]

# A swinging arm with a time-dependent load, slow enough to be killed on the way.
BUILD = """
import sys
import numpy as np
import anguilla as ag
from anguilla.solve.steps import checkpoint as module

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


@pytest.mark.slow  # tests/faults kills, too
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


@contextmanager
def interruption(monkeypatch, blocks=2):
    """Motions inside are interrupted after so many blocks of steps; gives the steps that each of these ended with."""
    count = []

    class Interrupting(module.Checkpoint):
        def watch(self, tick):
            watched = super().watch(tick)

            def stop(done):
                watched(done)
                count.append(done)
                if len(count) == blocks:
                    raise KeyboardInterrupt

            return stop

    monkeypatch.setattr("anguilla.solve.steps.dynamics.Checkpoint", Interrupting)
    with pytest.raises(KeyboardInterrupt):
        yield count
    monkeypatch.undo()


def test_an_interrupted_simulation_loses_nothing_it_had(simulation, tmp_path, monkeypatch):
    path, steps = tmp_path / "run.checkpoint", 4000
    whole = simulation["run"](steps)
    module.SECONDS = 1e9  # no checkpoint is due: only the interruption writes one
    with interruption(monkeypatch) as count:
        simulation["run"](steps, checkpoint=path)
    with np.load(path) as kept:
        assert int(kept["done"]) == count[-1]
    assert same(whole, simulation["run"](steps, checkpoint=path))


@pytest.mark.parametrize("linear", ["dense", "tree", "sparse"])
def test_whatever_solves_newtons_equations_is_kept_or_made_anew(linear, tmp_path, monkeypatch):
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000, damping=0.005)
    robot, at = ag.Robot("chain"), None
    for _ in range(3):
        rod = robot.add(ag.Rod(0.2, ag.Circle(0.01), rubber, ag.kirchhoff(2)), at=at or robot.ground)
        at = rod.tip
    model, path = ag.Model(robot, linear=linear), tmp_path / "run.checkpoint"
    run = lambda **more: ag.simulate(model, duration=0.3, dt=1e-3, progress=False, **more)
    whole = run()
    with interruption(monkeypatch, 1):
        run(checkpoint=path)
    resumed = run(checkpoint=path)
    if linear == "dense":
        assert same(whole, resumed)
    else:  # factors are not kept: equal to what Newton leaves
        assert resumed.q == pytest.approx(whole.q, abs=1e-6 * np.max(np.abs(whole.q)))


def test_an_interruption_while_the_motion_is_judged_loses_nothing(simulation, tmp_path, monkeypatch):
    """All steps are done, and nobody has the result yet: the last checkpoint went with it."""
    path, steps = tmp_path / "run.checkpoint", 400

    def press(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("anguilla.solve.steps.dynamics.judge", press)
    with pytest.raises(KeyboardInterrupt):
        simulation["run"](steps, checkpoint=path)
    gc.collect()
    monkeypatch.undo()
    with np.load(path) as kept:
        assert int(kept["done"]) > 0
    assert same(simulation["run"](steps), simulation["run"](steps, checkpoint=path))


def interrupted(simulation, path, steps=2000):
    """Leave a checkpoint behind."""
    kept = simulation["run"](steps, checkpoint=path)
    leave_spares()
    assert kept.status.success
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


# The checkpoint stays as long as the result is only in memory -------------------------------------------------------------


def test_the_checkpoint_goes_when_the_result_is_saved(simulation, tmp_path):
    path = tmp_path / "run.checkpoint"
    found = simulation["run"](1000, checkpoint=path)
    assert path.exists()
    found.save(tmp_path / "run.csv")  # not all of it
    assert path.exists()
    found.save(tmp_path / "run.nc")
    assert not path.exists()


def test_the_checkpoint_goes_when_nobody_has_the_result(simulation, tmp_path):
    path = tmp_path / "run.checkpoint"
    found = simulation["run"](1000, checkpoint=path)
    again = simulation["run"](500, checkpoint=path)  # another simulation may use its file
    assert path.exists() and len(again.t) == 51
    del found, again
    gc.collect()
    assert not path.exists()


def test_the_checkpoint_stays_when_the_result_cannot_be_saved(simulation, tmp_path):
    path = tmp_path / "run.checkpoint"
    found = simulation["run"](1000, checkpoint=path)
    (tmp_path / "full").mkdir()
    with full_disk(5000), pytest.raises(ag.AnguillaError, match=r"'.*run\.nc' could not be written \(File too large\)"):
        found.save(tmp_path / "full" / "run.nc")
    assert not list((tmp_path / "full").iterdir())
    del found
    gc.collect()
    assert path.exists()


@pytest.mark.parametrize(("end", "stays"), [("", False), ("raise ValueError", True)])
def test_the_checkpoint_stays_when_the_program_ends_with_an_error(tmp_path, end, stays):
    code = BUILD + f"found = run(100, checkpoint={str(tmp_path / 'c')!r})\n{end}"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == stays, done.stderr
    assert (tmp_path / "c").exists() == stays


def test_a_full_disk_costs_the_checkpoint_not_the_run(simulation, tmp_path):
    whole = simulation["run"](2000)
    with (
        full_disk(5000),
        pytest.warns(ag.AnguillaWarning, match="goes on, but its checkpoint is not up to date") as told,
    ):
        found = simulation["run"](2000, checkpoint=tmp_path / "run.checkpoint")
    assert same(whole, found) and sum("too few modes" not in str(one.message) for one in told) == 1
    assert not list(tmp_path.iterdir())


# Loads written in Python are part of what a simulation is ------------------------------------------------------------------

GAIN = 5.0


class Motor:
    """Pulls back."""

    def __init__(self, gain):
        self.gains = {"q": np.array([gain])}

    def __call__(self, q, v, t):
        return -self.gains["q"] * q - 0.1 * v


def closed_over(gain):
    return lambda q, v, t: -gain * q - 0.1 * v


def with_default(gain):
    def force(q, v, t, *, k=gain):
        return -k * q - 0.1 * v

    return force


def from_globals(gain):
    names = {}
    exec(f"GAIN = {gain}\ndef inner(q): return GAIN * q\ndef force(q, v, t): return -inner(q) - 0.1 * v", names)
    return names["force"]


def with_constant(gain):
    return eval(f"lambda q, v, t: -{gain} * q - 0.1 * v")


def bound(gain):
    return Motor(gain).__call__


def as_partial(gain):
    return functools.partial(lambda k, q, v, t: -k * q - 0.1 * v, gain)


MAKERS = [closed_over, with_default, from_globals, with_constant, Motor, bound, as_partial]


def swinging(force, path, steps=60):
    robot = ag.Robot("motor")
    body = ag.RigidBody.box((0.3, 0.02, 0.02), mass=0.5, com=(0.15, 0, 0))
    robot.add(body, at=robot.ground, joint=ag.Revolute((0, 1, 0)), name="link")
    robot.load(ag.UserForce(force))
    return ag.simulate(robot, duration=steps * 1e-3, dt=1e-3, checkpoint=path)


@pytest.mark.parametrize("make", MAKERS)
def test_a_load_written_in_python_that_changed_is_another_simulation(make, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.0)
    first = swinging(make(5.0), tmp_path / "c")
    leave_spares()
    before = (tmp_path / "c").read_bytes()
    with pytest.raises(ag.DescriptionError, match="belongs to another simulation"):
        swinging(make(50.0), tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == before
    again = swinging(make(5.0), tmp_path / "c")
    assert np.array_equal(first.q, again.q)


def test_a_load_that_cannot_be_compared_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.0)
    lock = threading.Lock()

    def force(q, v, t):
        with lock:
            return -5.0 * q

    with pytest.warns(ag.AnguillaWarning, match="holds what cannot be compared with another run: lock"):
        found = swinging(force, tmp_path / "c")
    assert found.status.success and not (tmp_path / "c").exists()


def test_a_load_with_a_memory_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.0)
    seen = []

    def force(q, v, t):
        seen.append(t)
        return -5.0 * q - 0.1 * v

    with pytest.warns(ag.AnguillaWarning, match="changes what it holds while it runs"):
        found = swinging(force, tmp_path / "c")
    assert found.status.success and not (tmp_path / "c").exists()


IDENTITIES = """
import random, numpy as np, anguilla as ag
from collections import OrderedDict
from anguilla.solve.steps.identity import Identity

robot = ag.Robot("motor")
link = robot.add(ag.RigidBody.box((0.3, 0.02, 0.02), mass=0.5), at=robot.ground, joint=ag.Revolute((0, 1, 0)), name="link")
system = ag.Model(robot)
random_numbers = np.random.default_rng(3)

class Tuned:
    words = frozenset({"slow", "fast", "middle"})
    __slots__ = ("gain", "own")
    def __init__(self): self.gain, self.own = 2.0, self
    def __call__(self, q, v, t): return self.gain * q if "slow" in {"slow", "fast", "x"} else np.sin(q)

def force(q, v, t, *, tuned=Tuned()):
    return tuned(q, v, t) + link.root.label.count("l") * system.size + random_numbers.bit_generator.state["has_uint32"]

things = [force, Tuned(), {"a": {1, 2, "b"}}, OrderedDict(x=np.arange(3)), iter([1, 2]), np.float32(2.0), force.__call__]
made = [Identity() for _ in things]
print([one.of(thing) for one, thing in zip(made, things)], [one.unknown for one in made])
"""


def test_an_identity_is_the_same_in_every_process():
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    told = {
        subprocess.run(
            [sys.executable, "-c", IDENTITIES], env=environment | {"PYTHONHASHSEED": seed}, capture_output=True, text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(told) == 1
    identities, unknown = eval(told.pop().replace("] [", "], ["))
    assert len(set(identities)) == len(identities) and unknown == [[]] * len(identities)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (True, 1),
        ("1", 1),
        ([1], (1,)),
        (0.0, -0.0),
        (np.zeros(2), np.zeros((2, 1))),
        ({1: 2}, {2: 1}),
        ([[1], 2], [1, [2]]),
    ],
)
def test_unlike_things_have_unlike_identities(one, other):
    assert Identity().of(one) != Identity().of(other)


def test_springs_are_part_of_what_a_simulation_is():
    def identity(**options):
        robot = ag.Robot("tied")
        body = ag.RigidBody.box((0.3, 0.02, 0.02), mass=0.5)
        link = robot.add(body, at=robot.ground, joint=ag.Revolute((0, 1, 0)), name="link")
        robot.load(ag.Spring(robot.ground, link.root, **options))
        return Identity().of(module.constants(ag.Model(robot).loads().loads))

    usual = {"stiffness": 3.0, "rest": 0.1}
    assert identity(**usual) == identity(**usual) != identity(**usual | {"stiffness": 4.0})
