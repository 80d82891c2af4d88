"""Worker processes: they give the same numbers, are replaced when they die, and leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import many_jobs as jobs
import numpy as np
import pytest

import anguilla as ag


@pytest.fixture
def marks(tmp_path):
    folder = tmp_path / "marks"
    folder.mkdir()
    return str(folder)


def test_processes_give_what_direct_calls_give():
    table = ag.sweep(jobs.pair, ag.grid(x=np.linspace(0, 1, 20), y=[1, 2]), workers=2)
    assert np.array_equal(table["sum"], table["x"] + table["y"])
    assert np.array_equal(table["vector"][:, 2], table["x"] * table["y"])
    assert len(set(table["where"].tolist()) - {os.getpid()}) == 2


def test_robots_in_a_process_give_the_same_bits():
    expected = jobs.tips([0.01, 0.02], 1.0)
    table = ag.sweep(jobs.tip, ag.grid(radius=[0.01, 0.02], tension=[1.0]), workers=1, executor="processes")
    assert np.array_equal(table["tip"], expected)
    assert np.allclose(expected, [jobs.tip(0.01, 1.0)["tip"], jobs.tip(0.02, 1.0)["tip"]], rtol=1e-12, atol=1e-15)


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_the_first_job_goes_alone_only_while_nothing_is_compiled(tmp_path, monkeypatch):
    from anguilla.many.workers import _nothing_compiled

    jobs.tip(0.01, 1.0)
    assert not _nothing_compiled()
    monkeypatch.setenv("ANGUILLA_CACHE", str(tmp_path / "empty"))
    assert _nothing_compiled()


def test_a_killed_process_is_replaced_and_its_job_done_again(marks):
    rows = ag.grid(x=[0.0, 1.0, 2.0, 3.0, 4.0], folder=[marks], times=[1])
    table = ag.sweep(jobs.killed, rows, workers=2)
    assert table["value"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert jobs.calls(marks) == {0.0: 1, 1.0: 1, 2.0: 2, 3.0: 1, 4.0: 1}


def test_a_job_that_always_kills_its_process_fails_alone(marks):
    rows = ag.grid(x=[0.0, 1.0, 2.0, 3.0, 4.0], folder=[marks], times=[99])
    with pytest.warns(ag.AnguillaWarning, match=r"run 2 says: its process died 2 times: it was killed \(SIGKILL\)"):
        table = ag.sweep(jobs.killed, rows, workers=2, retries=1)
    assert table.ok.tolist() == [True, True, False, True, True]
    assert jobs.calls(marks) == {0.0: 1, 1.0: 1, 2.0: 2, 3.0: 1, 4.0: 1}


def test_a_job_that_takes_too_long_is_ended():
    began = time.monotonic()
    with pytest.warns(ag.AnguillaWarning, match=r"run 1 says: it took longer than the timeout, 1 s"):
        table = ag.sweep(jobs.slow, ag.grid(x=[0, 1, 2]), workers=1, timeout=1.0)
    assert table.ok.tolist() == [True, False, True] and time.monotonic() - began < 20


def test_a_job_that_leaves_is_told_from_one_that_is_late():
    with pytest.warns(
        ag.AnguillaWarning, match="run 0 says: its process died once: it crashed or left, with exit code 7"
    ):
        ag.sweep(jobs.leaves, ag.grid(code=[7]), workers=1, timeout=30, retries=0)


def test_an_executor_that_breaks_ends_the_sweep_with_what_there_is(marks, tmp_path):
    rows = ag.grid(x=[0.0, 1.0, 2.0, 3.0], folder=[marks], times=[1])
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(ag.SolverError, match=r"The executor broke down.*in the file: call the sweep again") as caught,
    ):
        ag.sweep(jobs.killed, rows, executor=pool, file=tmp_path / "study")
    assert caught.value.result.ok.tolist() == [True, True, False, False]
    assert ag.sweep(jobs.killed, rows, workers=1, file=tmp_path / "study").ok.all()
    assert jobs.calls(marks) == {0.0: 1, 1.0: 1, 2.0: 2, 3.0: 1}


SCRIPT = """
import sys, time
import anguilla as ag

def job(x):
    time.sleep(0.0 if x < 2 else 60.0)
    return x

{guard}table = ag.sweep(job, ag.grid(x=range({count})), file="study", workers=2)
{guard}print(table["value"].tolist())
"""


def start(folder, guard, count):
    (folder / "script.py").write_text(SCRIPT.format(guard=guard, count=count))
    options = {"cwd": folder, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "script.py"], start_new_session=True, **options)


def test_ctrl_c_leaves_a_usable_file_and_no_processes(tmp_path):
    script = start(tmp_path, "if __name__ == '__main__': ", 6)
    deadline = time.monotonic() + 30
    while (
        time.monotonic() < deadline and len(ag.load(tmp_path / "study").missing if _there(tmp_path) else range(6)) > 4
    ):
        time.sleep(0.1)
    os.killpg(script.pid, signal.SIGINT)
    _, errors = script.communicate(timeout=20)
    assert script.returncode != 0 and errors.count("Traceback") == 1 and "KeyboardInterrupt" in errors
    table = ag.load(tmp_path / "study")
    assert table["value"][:2].tolist() == [0.0, 1.0] and table.missing == [2, 3, 4, 5]
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _alive(script.pid):
        time.sleep(0.1)
    assert not _alive(script.pid)


def _there(folder):
    return (folder / "study" / "sweep.json").exists()


def _alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_workers_do_not_outlive_a_killed_parent(tmp_path):
    script = start(tmp_path, "if __name__ == '__main__': ", 4)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not list((tmp_path / "study").glob("runs-*")):
        time.sleep(0.1)
    script.kill()
    script.communicate(timeout=20)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _alive(script.pid):
        time.sleep(0.1)
    assert not _alive(script.pid)


@pytest.mark.slow
def test_a_piped_program_sends_its_job_by_value(tmp_path):
    pytest.importorskip("cloudpickle")
    command = [sys.executable, "-W", "error", "-"]
    text = SCRIPT.format(guard="", count=2) + "import os; print(os.getpid())"
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=tmp_path, timeout=30)
    assert done.returncode == 0 and done.stderr == "" and done.stdout.startswith("[0, 1]\n")


def test_a_script_without_a_guard_runs_on_threads_and_says_why(tmp_path):
    script = start(tmp_path, "", 2)
    out, errors = script.communicate(timeout=30)
    assert script.returncode == 0 and out == "[0, 1]\n"
    assert "threads are used: worker processes cannot start" in errors and "if __name__ == '__main__'" in errors
    assert "Traceback" not in errors
