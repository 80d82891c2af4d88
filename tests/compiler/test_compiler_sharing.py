"""Compiling takes long: processes share the work, people are told, kernels that came along are used where they fit."""

import io
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from anguilla.compiler import claims, helper, jit, telling

HOLDER = """
import sys, time
from pathlib import Path
from anguilla.compiler.claims import Claim
claim = Claim(Path(sys.argv[1]))
claim.take()
print("held", flush=True)
time.sleep(60.0)
"""

needs_locks = pytest.mark.skipif(not claims.AVAILABLE, reason="this system has no locks")


@pytest.fixture
def held(tmp_path):
    """A claim that another process has."""
    path = tmp_path / "deep" / "kernel.claim"
    sources = str(Path(jit.__file__).parents[2])
    code = f"import sys; sys.path.insert(0, {sources!r}){HOLDER}"
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "held"
    yield path, process
    process.kill()
    process.wait()
    process.stdout.close()


@needs_locks
def test_who_has_other_things_to_do_does_not_wait(held):
    path, _ = held
    with pytest.raises(claims.BusyError), claims.unhurried():
        claims.Claim(path).take()


@needs_locks
def test_a_claim_ends_with_its_process(held):
    path, process = held
    process.kill()
    claim = claims.Claim(path)
    claim.take()  # or it would wait for minutes
    assert claim.file is not None
    claim.drop()
    assert not path.exists()


@needs_locks
def test_who_waits_too_long_goes_on_without(held, monkeypatch):
    monkeypatch.setattr(claims, "PATIENCE", 0.2)
    claim, began = claims.Claim(held[0]), time.monotonic()
    claim.take()
    assert claim.file is None and time.monotonic() - began >= 0.2


def test_where_nothing_can_be_written_nothing_is_claimed(tmp_path):
    (tmp_path / "file").touch()
    claim = claims.Claim(tmp_path / "file" / "kernel.claim")
    claim.take()
    assert claim.file is None
    claim.drop()


# what people are told --------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def fresh(monkeypatch):
    """As in a new process that may speak."""
    monkeypatch.delenv("ANGUILLA_COMPILING", raising=False)
    for name in ("_AHEAD", "_RUNNING"):
        monkeypatch.setattr(telling, name, {})
    monkeypatch.setattr(telling, "_TOLD", [])
    monkeypatch.setattr(telling, "_SAID", set())
    monkeypatch.setattr(telling, "_PACE", [1.0])
    monkeypatch.setattr(telling, "_TEAM", [1])


def compile_two():
    telling.ahead("stepping.run", "evaluate.linearise", processes=2)
    for name in ("stepping.run", "evaluate.linearise"):
        telling.began(name)
        telling.ended(name)


def test_one_line_where_there_is_no_terminal(fresh, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    compile_two()
    assert stream.getvalue() == "anguilla: compiling kernels, about 15 s; they are kept.\n"


def test_small_kernels_and_the_silent_are_not_spoken_of(fresh, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    telling.began("own.twice")
    telling.ended("own.twice")
    monkeypatch.setenv("ANGUILLA_COMPILING", "silent")
    compile_two()
    telling.say_once("nothing")
    assert stream.getvalue() == ""


def test_a_line_that_moves_on_a_terminal(fresh, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(telling, "TICK", 0.02)
    telling.ahead("stepping.run", "evaluate.linearise")
    telling.began("stepping.run")
    until = time.monotonic() + 5.0
    while stream.getvalue().count("about 30 s left") < 2 and time.monotonic() < until:
        time.sleep(0.01)
    telling.ended("stepping.run")
    telling.ended("evaluate.linearise")
    while not stream.getvalue().endswith("\r\033[K") and time.monotonic() < until:
        time.sleep(0.01)
    assert "compiling kernels, once" in stream.getvalue() and stream.getvalue().endswith("\r\033[K")


def test_a_slow_machine_is_taken_into_account(fresh, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(telling.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("ANGUILLA_COMPILING", "silent")
    telling.ahead("stepping.run", "evaluate.linearise")
    telling.began("stepping.run")
    assert telling.left() == pytest.approx(30.0)
    now[0] += 45.0  # three times as long as usual
    telling.ended("stepping.run")
    assert telling.left() == pytest.approx(45.0)


# a second process -------------------------------------------------------------------------------------------------------


def cache(name, there):
    return SimpleNamespace(_cache=SimpleNamespace(name=name, is_there=lambda: there))


@pytest.mark.parametrize(
    ("there", "names", "helped"),
    [
        (False, ("stepping.run", "evaluate.linearise", "evaluate.descend"), True),
        (True, ("stepping.run", "evaluate.linearise", "evaluate.descend"), False),
        (False, ("observe.balances", "evaluate.descend"), False),
    ],
    ids=["all is missing", "all is there", "little is missing"],
)
def test_help_comes_when_much_is_to_be_compiled(fresh, monkeypatch, there, names, helped):
    started = []
    monkeypatch.setattr(helper, "_start", lambda: bool(started.append(1) or True))
    entry, *needed = (cache(name, there) for name in names)
    with helper.beside(entry, [SimpleNamespace(compiled=one) for one in needed]):
        assert telling._TEAM[0] == 1 + helped
    assert bool(started) == helped and not telling._AHEAD


@pytest.mark.parametrize("setting", ["1", "helper"])
def test_no_help_where_it_is_not_wanted(monkeypatch, setting):
    monkeypatch.setenv("ANGUILLA_COMPILERS", setting)
    monkeypatch.setattr(helper.subprocess, "Popen", lambda *_, **__: pytest.fail("started"))
    assert not helper._start()


# kernels that came along -------------------------------------------------------------------------------------------------


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "SHIPPED", tmp_path)
    (tmp_path / "made_for.txt").write_text(jit.made_for_here() + "\n")
    return tmp_path


def test_kernels_that_came_along_are_used_where_they_fit(shipped, monkeypatch):
    file = Path(jit.__file__).parents[1] / "lie.py"
    features = dict.fromkeys(jit._ABLE.split(), True)
    monkeypatch.setattr(jit.llvm, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(jit, "misfit", jit.misfit.__wrapped__)
    monkeypatch.setattr(jit.numba.config, "CPU_NAME", None)
    assert jit._shipped_folder(file) is None  # none for these sources
    folder = shipped / jit._folder_name(file, f"{jit.BASELINE} {jit.FEATURES}")
    folder.mkdir()
    assert jit._shipped_folder(file) == folder
    features["avx2"] = False
    assert jit.misfit() == "this processor lacks avx2" and jit._shipped_folder(file) is None
    features["avx2"] = True
    monkeypatch.setenv("ANGUILLA_NATIVE", "1")
    assert jit._shipped_folder(file) is None


@pytest.mark.parametrize("other", ["Python 3.9", "Numba 0.1", "Windows"])
def test_kernels_of_another_python_numba_or_system_are_not_used(shipped, other):
    kind = other.split()[0]
    words = jit.made_for_here().split(", ")
    at = 2 if kind == "Windows" else [word.split()[0] for word in words].index(kind)
    words[at] = other
    (shipped / "made_for.txt").write_text(", ".join(words))
    assert jit.misfit.__wrapped__() == f"they are for {', '.join(words)}, and this is {jit.made_for_here()}"
