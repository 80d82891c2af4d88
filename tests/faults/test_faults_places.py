"""Full disks, a clock that jumps, and Ctrl-C where work runs in threads or on the command line."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from disks import full_disk

import anguilla as ag
from anguilla.compiler import jit
from anguilla.compiler.interrupts import held_back
from anguilla.solve.steps import checkpoint
from anguilla.store.whole import whole_file

ROOT = Path(__file__).parents[2]
FORMATS = [".nc", ".csv", ".npz", ".mat"]


def arm():
    robot = ag.Robot("arm")
    rubber = ag.Material(young=1e6, density=1000, damping=0.01)
    robot.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.planar(4)), at=robot.ground, name="arm")
    return robot


@pytest.fixture(scope="module")
def run():
    return ag.simulate(arm(), duration=0.2, dt=0.001)


# Full disks -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_full_disk_leaves_the_old_file_and_the_result(run, tmp_path, suffix):
    path = tmp_path / f"run{suffix}"
    run.save(path)
    before = path.read_bytes()
    with full_disk(), pytest.raises(ag.AnguillaError, match=r"could not be written \(File too large\); what was there"):
        run.save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    run.save(path)


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small disk")
    options = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if subprocess.run(options, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_disk_without_room_is_one_error(run, small_disk, suffix):
    (small_disk / "filler").write_bytes(bytes(65_536))
    with pytest.raises(ag.AnguillaError, match=r"could not be written \(No space left on device\)"):
        run.save(small_disk / f"run{suffix}")
    assert [file.name for file in small_disk.iterdir()] == ["filler"]


def heavy(x):
    return {"x2": x * x, "data": np.full(300, x)}


def test_a_sweep_on_a_full_disk_keeps_its_runs_and_writes_them_when_there_is_room(tmp_path):
    rows = ag.grid(x=np.arange(8.0))

    def job(x):
        if x == 5.0:  # somebody makes room
            resource.setrlimit(resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE)[1:] * 2)
        return heavy(x)

    with (
        full_disk(5000),
        pytest.warns(ag.AnguillaWarning, match=r"runs cannot be written to .* they are kept in memory") as told,
    ):
        table = ag.sweep(job, rows, file=tmp_path / "study", workers=1)
    assert len(told) == 1 and np.array_equal(table["x2"], np.arange(8.0) ** 2)
    kept = ag.load(tmp_path / "study")
    assert kept.ok.all() and np.array_equal(kept["data"], table["data"])


def test_a_sweep_on_a_disk_that_stays_full_returns_all_runs_and_keeps_what_fits(tmp_path):
    rows = ag.grid(x=np.arange(8.0))
    with full_disk(10_000), pytest.warns(ag.AnguillaWarning, match="kept in memory"):
        table = ag.sweep(heavy, rows, file=tmp_path / "study", workers=1)
    assert table.ok.all()
    found = ag.load(tmp_path / "study")
    done = int(found.ok.sum())
    assert 0 < done < 8 and found.ok[:done].all()
    assert ag.sweep(heavy, rows, file=tmp_path / "study", workers=1).ok.all()


def test_the_command_line_saves_elsewhere_when_the_disk_is_full(run, tmp_path, monkeypatch):
    from anguilla.cli import common

    (tmp_path / "full").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr(common.tempfile, "tempdir", str(tmp_path / "elsewhere"))
    original = type(run).save

    def save(self, path):
        if "full" not in Path(path).parts:
            return original(self, path)
        with full_disk():
            return original(self, path)

    monkeypatch.setattr(type(run), "save", save)
    with pytest.raises(ag.AnguillaError, match=r"could not be written .* The result is in '.*run\.nc'") as caught:
        common.save(run, tmp_path / "full" / "run.nc")
    place = re.search(r"result is in '(.*)'", str(caught.value)).group(1)
    assert np.array_equal(ag.load(place).q, run.q)


# What is left by processes that were killed ---------------------------------------------------------------------------------


def test_what_killed_processes_left_is_removed_and_what_others_write_is_not(tmp_path):
    target = tmp_path / "run[1].nc"
    abandoned = tmp_path / ".run[1].0123abcd.part.nc"
    abandoned.write_bytes(b"half")
    foreign = tmp_path / ".run2.0123abcd.part.nc"
    foreign.write_bytes(b"half of another")
    with whole_file(target) as one:
        one.write_bytes(b"one")
        with whole_file(target) as two:
            two.write_bytes(b"two")
        assert one.exists() and not abandoned.exists()
    assert target.read_bytes() == b"one" and sorted(tmp_path.iterdir()) == sorted([foreign, target])


def test_a_sweep_killed_before_its_first_line_can_begin_again(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / ".sweep.0123abcd.part.json").write_text("{")
    assert ag.sweep(heavy, ag.grid(x=[1.0]), file=tmp_path / "study", workers=1).ok.all()


def test_defaults_of_a_job_are_part_of_it(tmp_path):
    def made(gain):
        def job(x, k=gain):
            return k * x

        return job

    ag.sweep(made(1.0), ag.grid(x=[1.0]), file=tmp_path / "study", workers=1)
    with pytest.raises(ag.DescriptionError, match="changed: default 0 of"):
        ag.sweep(made(2.0), ag.grid(x=[1.0]), file=tmp_path / "study", workers=1)


# A clock that jumps ---------------------------------------------------------------------------------------


def test_a_clock_that_runs_backwards_changes_nothing(run, tmp_path, monkeypatch):
    clock = iter(np.linspace(2e9, 0.0, 100_000))
    monkeypatch.setattr(time, "time", lambda: next(clock))
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    again = ag.simulate(arm(), duration=0.2, dt=0.001, checkpoint=tmp_path / "c", progress=True)
    assert np.array_equal(again.q, run.q) and (tmp_path / "c").exists()
    tries = []

    def job(x):
        tries.append(x)
        if len(tries) == 2:
            raise ValueError("first")
        return x

    rows = ag.grid(x=[1.0, 2.0])
    with pytest.warns(ag.AnguillaWarning, match="1 of 2 runs failed"):
        ag.sweep(job, rows, file=tmp_path / "study", workers=1, again=False)
    assert ag.sweep(job, rows, file=tmp_path / "study", workers=1, again=False).ok.all() and tries == [1.0, 2.0, 2.0]
    assert ag.load(tmp_path / "study")["value"].tolist() == [1.0, 2.0]


def test_kernels_from_the_future_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("ANGUILLA_CACHE", str(tmp_path))
    later = tmp_path / "0123456789abcdef"
    later.mkdir()
    os.utime(later, (4e9, 4e9))
    jit.forget_unused(tmp_path)
    assert later.exists()


# Ctrl-C ---------------------------------------------------------------------------------------------------


def press_soon(seconds, pressed):
    def press():
        time.sleep(seconds)
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()


@pytest.mark.parametrize("how", ["batch", "threads"])
def test_ctrl_c_ends_motions_in_threads_at_once(how):
    robot, pressed = arm(), []
    ag.simulate(robot, duration=0.01, dt=0.01)
    before = set(threading.enumerate())

    def long(x):
        return ag.simulate(arm(), duration=x, dt=1e-3).t[-1]

    press_soon(0.5, pressed)
    with pytest.raises(KeyboardInterrupt):
        if how == "batch":
            ag.simulate_batch(robot, duration=1e3, dt=1e-3, count=6, threads=2)
        else:
            ag.sweep(long, ag.grid(x=[1e3] * 6), executor="threads", workers=2)
    while set(threading.enumerate()) - before and time.monotonic() < pressed[0] + 20.0:
        time.sleep(0.01)
    assert time.monotonic() - pressed[0] < 10.0, "it takes a fraction of a second on an idle machine"


def test_ctrl_c_waits_while_it_is_held_back():
    done = []
    with pytest.raises(KeyboardInterrupt), held_back():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        done.append(True)
    assert done and signal.getsignal(signal.SIGINT) is signal.default_int_handler


ROBOT = """
anguilla: 1
name: long
parts:
  arm:
    rod:
      length: 0.4
      section: {type: circle, radius: 0.01}
      material: {young: 1e6, poisson: 0.45, density: 1000, damping: 0.005}
      strains: {type: reissner, modes: 3}
    at: ground
simulate: {duration: 10.0, dt: 0.001}
"""


def test_ctrl_c_that_comes_through_exec_is_an_exit_code_too(tmp_path):
    """Dataclasses are made by exec: CPython remembers what came through it, and ended by the signal, after a clean exit."""
    (tmp_path / "program.py").write_text(
        """
import sys
import anguilla.cli.app as app
from anguilla.cli import main

def interrupted(argv):
    exec("raise KeyboardInterrupt")

app.main = interrupted
sys.exit(main([]))
"""
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "program"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "anguilla: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, pytest.param(30, marks=pytest.mark.slow)])
def test_ctrl_c_on_the_command_line_is_one_line_and_the_same_command_goes_on(tmp_path, count):
    (tmp_path / "robot.yaml").write_text(ROBOT)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}

    def simulate(out, wait=None):
        """The exit code and what it says, when Ctrl-C is pressed after a while [s]."""
        command = [sys.executable, "-m", "anguilla", "simulate", "robot.yaml", "--out", out]
        options = {"cwd": tmp_path, "env": environment, "text": True, "start_new_session": True}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
            if wait is not None:
                time.sleep(wait)
                process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=200)
        return process.returncode, [line for line in errors.splitlines() if not line.startswith("resuming from")]

    ag.simulate(arm(), duration=0.002, dt=0.001)  # a process that compiles kernels may differ in the last bits
    began = time.monotonic()
    assert simulate("whole.nc") == (0, [])
    usual = time.monotonic() - began
    chance, codes = np.random.default_rng(17), []
    for _ in range(count):
        code, lines = simulate("run.nc", chance.uniform(0.3, 1.0) * usual)
        assert code in (0, 130, -signal.SIGINT)  # the last while Python itself begins or ends
        told = ["anguilla: interrupted"]
        if (tmp_path / "run.nc.checkpoint").exists() and any(
            "goes on" in line for line in lines
        ):  # not before it is known
            told = ["anguilla: interrupted; the same command goes on from run.nc.checkpoint"]
        assert lines == told * (code == 130)
        codes.append(code)
    assert (any(codes) or count == 1) and simulate("run.nc") == (0, [])
    found, whole = ag.load(tmp_path / "run.nc"), ag.load(tmp_path / "whole.nc")
    assert np.array_equal(found.q, whole.q) and np.array_equal(found.v, whole.v)
    assert not list(tmp_path.glob("*.checkpoint"))
