"""What is published: one version, extras that exist, hints that can be followed, a wheel that works where no sources are."""

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import venv
from pathlib import Path

import pytest

import anguilla as ag
from anguilla import errors
from anguilla.view.video import write_video

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "anguilla"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]


def name_of(requirement):
    return re.match(r"[\w.-]+", requirement)[0]


def test_the_version_stands_once():
    assert "version" not in PROJECT["project"] and PROJECT["tool"]["hatch"]["version"]["path"].endswith("__init__.py")
    assert re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)[1] == ag.__version__
    command = ["git", "tag", "--points-at", "HEAD", "v*"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    for tag in found.stdout.split():
        assert tag == f"v{ag.__version__}"


def test_hints_name_packages_and_extras_that_exist():
    """No index has this package yet: pip install anguilla[...] would fail, or bring something else."""
    offered = {name_of(requirement) for group in EXTRAS.values() for requirement in group}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"pip install [^\n]*anguilla", text), path
        for module, extra, package in re.findall(r'require\("(\w+)", ["\'].*?["\'], "(\w+)"(?:, "([\w -]+)")?\)', text):
            assert extra in EXTRAS and set((package or module).split()) <= offered, path
        for package, extra in re.findall(r'missing\([^,]+, "([\w-]+)", "(\w+)"', text):
            assert extra in EXTRAS and package in offered, path


def test_the_page_names_all_extras():
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    for extra in set(EXTRAS) - {"dev", "docs", "browser"}:
        assert f"`{extra}`" in page


def test_the_conda_recipe_wants_what_the_wheel_wants():
    recipe = (ROOT / "packaging/conda/meta.yaml").read_text(encoding="utf-8")
    run = recipe[recipe.index("  run:") : recipe.index("\ntest:")].replace("matplotlib-base", "matplotlib")
    wanted = [*PROJECT["project"]["dependencies"], *EXTRAS["plot"], *EXTRAS["netcdf"]]
    assert {line.strip("- ").replace(" ", "") for line in run.splitlines()[1:] if "python" not in line} == set(wanted)
    assert f"python {PROJECT['project']['requires-python']}" in run


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("matplotlib", lambda run, path: ag.plot(run, path / "a.png")),
        ("matplotlib", lambda run, path: write_video(run, path / "a.gif")),
        ("h5py", lambda run, path: run.save(path / "a.nc")),
        ("xarray", lambda run, path: run.to_xarray()),
    ],
)
def test_what_is_not_installed_is_named_with_its_package(tmp_path, monkeypatch, module, call):
    robot = ag.Robot("arm")
    robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(young=1e6, density=1000), ag.planar(1)), at=robot.ground)
    run = ag.simulate(robot, duration=0.02, dt=0.01)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(errors.MissingPackageError, match=rf"need {module}: pip install {module}, or .* '\.\[\w+\]'"):
        call(run, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("figures", [True, False], ids=["with figures", "plain"])
def test_the_demo_needs_none_of_what_plain_use_does_without(tmp_path, figures):
    """In a process that cannot import the packages of other extras."""
    others = sorted({"h5py", "h5netcdf", "xarray", "pandas", "viser", "meshio", "imageio_ffmpeg", "cvxpy", "gymnasium"})
    others += [] if figures else ["matplotlib", "PIL"]
    code = f"""
import sys
for name in {others}:
    sys.modules[name] = None
from anguilla.cli import main
sys.exit(main(["demo", "--no-open", "--out", {str(tmp_path)!r}]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=here())
    assert done.returncode == 0, done.stderr
    assert {file.name for file in tmp_path.iterdir()} == {"demo.html", *(["demo.png"] if figures else [])}
    assert ("figures need matplotlib: pip install matplotlib" in done.stdout) == (not figures)


def here(**more):
    """The environment of a process that sees the same package."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(SOURCE.parent), os.environ.get("PYTHONPATH", "")])} | more


# a wheel --------------------------------------------------------------------------------------------------------------

FIRST = """
import time
began = time.perf_counter()
import anguilla as ag
robot = ag.Robot("arm")
arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(young=1e6, density=1000), ag.planar(4)), at=robot.ground)
eq = ag.statics(robot)
took = time.perf_counter() - began
from anguilla.solve.steps.stepping import run
print(took, sum(run.compiled.stats.cache_misses.values()), ag.__file__)
"""
ONE_KERNEL = """
import numpy as np
from anguilla.solve.newton.linear import factorise
assert factorise(np.eye(2), np.zeros(2, np.int64))
print(sum(factorise.stats.cache_misses.values()))
"""


@pytest.mark.slow
def test_the_wheel_serves_where_no_sources_are(tmp_path):
    """Built, installed in an empty environment elsewhere, tried; then with another Numba than it was made for."""
    subprocess.run([sys.executable, ROOT / "packaging/wheel.py", tmp_path], check=True, env=here())
    (wheel,) = tmp_path.glob("anguilla-*.whl")
    place = tmp_path / "env"
    venv.create(place, with_pip=True)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-compile", f"{wheel}[plot]"]
    subprocess.run(install, check=True, cwd=tmp_path)
    dropped = ("PYTHONPATH", "ANGUILLA_COMPILING", "NUMBA_DISABLE_JIT")
    clean = {name: value for name, value in os.environ.items() if name not in dropped}
    clean["ANGUILLA_CACHE"] = str(tmp_path / "cache")

    def run(*command):
        done = subprocess.run([python, *command], capture_output=True, text=True, check=False, cwd=tmp_path, env=clean)
        assert done.returncode == 0, done.stderr
        return done

    run("-c", "import numba, scipy.linalg")  # writes their bytecode
    done = run("-c", FIRST)
    took, misses, file = done.stdout.split()
    assert float(took) < 15.0 and misses == "0" and Path(file).is_relative_to(place) and done.stderr == ""
    began = time.perf_counter()
    done = run("-m", "anguilla", "demo", "--no-open")
    assert (tmp_path / "out/demo.png").stat().st_size > 1e4 and time.perf_counter() - began < 30.0
    assert not list((tmp_path / "cache").rglob("*.nbc"))
    made_for = Path(file).parent / "kernels" / "made_for.txt"
    usual = made_for.read_text(encoding="utf-8")
    made_for.write_text(re.sub(r"Numba [\d.]+", "Numba 0.1", usual), encoding="utf-8")
    done = run("-c", ONE_KERNEL)
    assert done.stdout.strip() == "1" and len(done.stderr.splitlines()) == 1
    assert "do not serve here and are compiled anew: they are for" in done.stderr and "Numba 0.1" in done.stderr
    assert run("-c", ONE_KERNEL).stderr == ""  # kept
    made_for.write_text(usual, encoding="utf-8")
    shutil.rmtree(tmp_path / "cache")
    assert run("-c", ONE_KERNEL).stdout.strip() == "0"
    clean["ANGUILLA_NATIVE"] = "1"
    assert run("-c", ONE_KERNEL).stdout.strip() == "1"
