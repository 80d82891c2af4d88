"""Kernels where nothing can be written: without a home, on a read-only or full disk, two processes at once."""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"
STRANGER = 54321  # a user without an entry

KERNELS = """
import anguilla
from anguilla.compiler.jit import kernel

@kernel
def twice(x):
    return 2.0 * x

@kernel
def thrice(x):
    return 3.0 * x
"""
CALL = """
import sys; sys.path.insert(0, sys.argv[1])
{before}
from small_kernels import thrice, twice
{between}
print(twice(21.0), thrice(7.0), sum(sum(k.stats.cache_hits.values()) for k in (twice, thrice)))
"""

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")


@pytest.fixture
def place():
    """A folder that others may read, with a module of kernels."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    (folder / "small_kernels.py").write_text(KERNELS)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def start(place, before="", between="", **environment):
    names = (
        "PATH",
        "LD_LIBRARY_PATH",
        "COVERAGE_PROCESS_START",
        "PYTHONPYCACHEPREFIX",
    )  # the last: see tests/conftest.py
    kept = {name: os.environ[name] for name in names if name in os.environ}
    kept |= {"PYTHONPATH": str(SOURCES), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", CALL.format(before=before, between=between), str(place)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": place}
    return subprocess.Popen(command, env=kept | environment, **options)


def run(*arguments, **options):
    """What it prints on both streams."""
    process = start(*arguments, **options)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return out.split(), errors


def cached(place):
    return sorted(file.relative_to(place) for file in (place / "cache").rglob("*") if file.is_file())


def not_kept(errors, why):
    """One warning, which names the remedy."""
    told = re.findall(r"AnguillaWarning: (.*)", errors)
    assert len(told) == 1 and why in told[0] and "set ANGUILLA_CACHE to a folder that can be written" in told[0], errors
    return True


NO_ENTRY = (
    "import os, pwd\nos.environ.pop('HOME', None)\ndef nobody(number): raise KeyError(number)\npwd.getpwuid = nobody"
)


def test_without_a_home_kernels_are_compiled_and_one_warning_says_so(place):
    out, errors = run(place, before=NO_ENTRY)
    assert out == ["42.0", "21.0", "0"] and not_kept(errors, "there is no home folder")


@pytest.mark.slow
def test_without_a_home_the_chosen_folder_is_used(place):
    assert run(place, before=NO_ENTRY, ANGUILLA_CACHE=str(place / "cache")) == (["42.0", "21.0", "0"], "")
    assert run(place, before=NO_ENTRY, ANGUILLA_CACHE=str(place / "cache")) == (["42.0", "21.0", "2"], "")


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param({"HOME": "/dev/null"}, marks=pytest.mark.slow, id="home"),
        pytest.param({"ANGUILLA_CACHE": "/dev/null/cache"}, id="chosen"),
    ],
)
def test_a_folder_that_cannot_be_written_costs_time_only(place, setting):
    out, errors = run(place, **setting)
    assert out == ["42.0", "21.0", "0"] and not_kept(errors, "Not a directory: '/dev/null/")


@pytest.mark.slow
def test_a_read_only_folder_of_kernels_is_used(place):
    cache = place / "cache"
    run(place, ANGUILLA_CACHE=str(cache))
    for folder in (cache, *cache.rglob("*")):
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) & ~0o222)
    # root may write anywhere; another user may not read where Python is installed
    other = f"import anguilla.compiler.jit, numba, os; numba.njit(lambda x: 2 * x)(1.0); os.setuid({STRANGER})"
    other = other if os.geteuid() == 0 else ""
    before = cached(place)
    assert run(place, before=other, HOME="/nonexistent", ANGUILLA_CACHE=str(cache)) == (["42.0", "21.0", "2"], "")
    (place / "small_kernels.py").write_text(KERNELS + "# edited\n")
    out, errors = run(place, before=other, ANGUILLA_CACHE=str(cache))
    assert out == ["42.0", "21.0", "0"] and not_kept(errors, "Permission denied")
    assert cached(place) == before
    for folder in (cache, *cache.rglob("*")):
        folder.chmod(0o755)


def test_a_full_disk_costs_time_only(place):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    out, errors = run(place, between=full, ANGUILLA_CACHE=str(place / "cache"))
    assert out == ["42.0", "21.0", "0"] and not_kept(errors, "File too large")
    assert all((place / file).stat().st_size > 0 for file in cached(place))
    assert run(place, ANGUILLA_CACHE=str(place / "cache")) == (["42.0", "21.0", "0"], "")
    assert run(place, ANGUILLA_CACHE=str(place / "cache")) == (["42.0", "21.0", "2"], "")


@pytest.mark.parametrize(("suffix", "left"), [("nbi", 0), pytest.param("nbc", 40, marks=pytest.mark.slow)])
def test_a_kernel_that_was_cut_short_is_compiled_again(place, suffix, left):
    run(place, ANGUILLA_CACHE=str(place / "cache"))
    for file in (place / "cache").rglob(f"*.{suffix}"):
        file.write_bytes(file.read_bytes()[:left])
    assert run(place, ANGUILLA_CACHE=str(place / "cache")) == (["42.0", "21.0", "0"], "")
    assert run(place, ANGUILLA_CACHE=str(place / "cache")) == (["42.0", "21.0", "2"], "")


def test_processes_that_compile_at_once_do_not_disturb_each_other(place):
    processes = [start(place, ANGUILLA_CACHE=str(place / "cache")) for _ in range(3)]
    loaded = 0
    for process in processes:
        out, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, "") and out.startswith("42.0 21.0")
        loaded += int(out.split()[-1])
    assert loaded == 4  # of each kernel, one process compiled it and two waited for that
    assert run(place, ANGUILLA_CACHE=str(place / "cache")) == (["42.0", "21.0", "2"], "")
    assert not [file for file in cached(place) if ".tmp." in file.name]


def as_stranger(*command):
    """A command for a user without an entry."""
    return ["setpriv", f"--reuid={STRANGER}", "--clear-groups", *command]


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="another user is needed")
@pytest.mark.parametrize("home", ["/nonexistent", None])
def test_a_user_without_an_entry_and_a_home_solves_statics(place, home):
    if subprocess.run(as_stranger(sys.executable, "-c", ""), capture_output=True, check=False).returncode:
        pytest.skip("others may not run this interpreter")
    code = """
import anguilla as ag
robot = ag.Robot("arm")
arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000), ag.planar(4)), at=robot.ground)
print(ag.statics(robot).position(arm.tip))
"""
    environment = {"PYTHONPATH": str(SOURCES), "PATH": os.environ["PATH"]} | ({"HOME": home} if home else {})
    options = {"capture_output": True, "text": True, "cwd": place, "env": environment}
    done = subprocess.run(as_stranger(sys.executable, "-c", code), **options, timeout=600, check=False)
    assert done.returncode == 0 and done.stdout.startswith("[") and not_kept(done.stderr, ""), done.stderr
