"""Kernels: the same numbers compiled and interpreted, one compilation for all robots, a cache that notices edits."""

import json
import os
import shutil
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import anguilla as ag
from anguilla.compiler import jit

PACKAGE = Path(ag.__file__).parent

SMALL_ROBOT = """
import json
import numpy as np
import anguilla as ag

material = ag.Material(young=2e3, poisson=0.4, density=1100.0, damping=0.03)
robot = ag.Robot("small")
arm = robot.add(ag.Rod(0.5, ag.Ellipse(0.03, 0.05), material, ag.reissner(1), ag.Helix(0.2, 0.1), intervals=2), at=robot.ground)
twig = robot.add(ag.Rod(0.3, ag.Circle(0.02), material, ag.planar(2), intervals=1), at=arm.section(0.2))
robot.load(ag.TipWrench(twig, force=(0.1, 0.2, 0.3), moment=(0.01, 0.02, 0.03), follower=True))
robot.load(ag.DistributedWrench(arm, force=(0.1, 0.2, 0.3)))
system = ag.Model(robot)
q, v, a = (np.linspace(-k, k + 1.0, system.size) for k in (0.4, 2.0, 7.0))
print(json.dumps([system.residual(q, v, a).tolist(), system.tangent(q, v, a, alpha=3.0, beta=20.0).tolist()]))
"""  # noqa: E501


def run_python(code, **environment):
    """Run code in a fresh interpreter that sees the same package, and return what it prints."""
    paths = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    setting = os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | environment
    done = subprocess.run([sys.executable, "-c", code], env=setting, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_compiled_and_interpreted_kernels_agree():
    compiled = json.loads(run_python(SMALL_ROBOT))
    interpreted = json.loads(run_python(SMALL_ROBOT, NUMBA_DISABLE_JIT="1"))
    for one, two in zip(compiled, interpreted, strict=True):
        two = np.array(two)
        assert np.array(one) == pytest.approx(two, rel=1e-12, abs=1e-12 * np.max(np.abs(two)))


def test_importing_the_package_does_not_import_slow_ones():
    code = "import sys, anguilla; print([m for m in ('numba', 'scipy', 'matplotlib', 'rich') if m in sys.modules])"
    assert run_python(code).strip() == "[]"


def test_a_module_of_a_lazy_package_can_be_imported_by_name():
    from anguilla.results import resolution  # asks the package for the name first

    assert resolution.__name__ == "anguilla.results.resolution"
    with pytest.raises(AttributeError, match="has no attribute 'Equilibrum'; did you mean 'Equilibrium'"):
        import_module("anguilla.results").Equilibrum  # noqa: B018


def test_every_public_name_that_is_lazy_can_be_listed_without_importing_it():
    code = "import sys, anguilla; names = dir(anguilla); print('simulate' in names, 'numba' in sys.modules)"
    assert run_python(code).split() == ["True", "False"]


def test_the_cache_folder_lies_below_the_chosen_root(monkeypatch):
    monkeypatch.setenv("ANGUILLA_CACHE", os.path.join(os.sep, "somewhere"))
    assert jit.cache_folder(PACKAGE / "lie.py").parent == Path(os.sep, "somewhere")


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the package whose sources the cache folders are named after."""
    folder = tmp_path / "anguilla"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jit, "__file__", str(folder / "compiler/jit.py"))
    return folder


def test_the_cache_folder_is_named_after_the_sources_not_their_place(copied, monkeypatch):
    there = jit.cache_folder(copied / "solve/steps/stepping.py").name
    monkeypatch.undo()
    assert jit.cache_folder(PACKAGE / "solve/steps/stepping.py").name == there


USERS = ["mechanics/rodmap.py", "model/evaluate.py", "solve/newton/newton.py", "solve/steps/stepping.py"]


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("compiler/jit.py", USERS),
        ("mechanics/vec.py", USERS),
        ("mechanics/rodmap.py", USERS),
        ("interact/kernels/wrench.py", USERS[1:]),
        ("model/evaluate.py", USERS[1:]),
        ("solve/newton/newton.py", USERS[2:]),
        ("solve/steps/stepping.py", USERS[3:]),
    ],
)
def test_one_byte_of_a_source_changes_the_folders_of_what_is_made_of_it(copied, file, changes):
    before = {user: jit.cache_folder(copied / user) for user in USERS}
    source = copied / file
    source.write_bytes(source.read_bytes().replace(b" + ", b" - ", 1) + b"\n")
    assert [user for user in USERS if jit.cache_folder(copied / user) != before[user]] == changes


def test_the_sources_of_a_kernel_are_all_modules_that_importing_its_file_imports():
    """Against the interpreter itself: what it loads for the time stepper is hashed for the time stepper."""
    code = """
import sys
import time
before = set(sys.modules)
import anguilla.solve.steps.stepping
print([sys.modules[m].__file__ for m in sys.modules if m.startswith("anguilla.")])
"""
    loaded = {Path(file) for file in json.loads(run_python(code).replace("'", '"'))}
    hashed = set(jit.sources(PACKAGE / "solve/steps/stepping.py"))
    described = {
        path for path in loaded if path.parent.name in ("describe", "interact")
    }  # through the package root, in no kernel
    packages = {path for path in loaded if path.name == "__init__.py"}
    apart = {PACKAGE / "compiler" / f"{name}.py" for name in ("claims", "helper", "interrupts", "telling")}
    others = {PACKAGE / name for name in ("errors.py", "lie.py", "_lazy.py", "_moved.py")} | apart
    assert loaded - hashed - described - packages - others == set()


def robots():
    """Robots of different sizes, strains, loads and numbers of parts."""
    material = ag.Material(young=1e5, poisson=0.4, density=1000.0, damping=0.01)
    for strains in (ag.planar(1), ag.kirchhoff(3), ag.reissner(2)):
        robot = ag.Robot("one")
        arm = robot.add(ag.Rod(0.5, ag.Circle(0.03), material, strains), at=robot.ground)
        yield robot
        robot.load(ag.TipWrench(arm, force=lambda t: (0.0, 0.0, 0.1 * t), follower=True))
        yield robot
        robot.load(ag.DistributedWrench(arm, force=(0.0, 0.1, 0.0)))
        robot.gravity = lambda t: (0.0, 0.0, -t)
        yield robot
        robot.add(ag.Rod(0.3, ag.Circle(0.02), material, ag.planar(2)), at=arm.section(0.2))
        yield robot


def kernels():
    """All compiled functions of the core, without the helpers they are made of."""
    from numba.core.dispatcher import Dispatcher

    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("anguilla.") and not name.startswith(("anguilla.shooting", "anguilla.fem")):
            for value in vars(module).values():
                value = getattr(value, "compiled", value)  # of an entry
                if isinstance(value, Dispatcher):
                    found[f"{value.py_func.__module__}.{value.py_func.__name__}"] = value
    return found


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
@pytest.mark.parametrize("wrong", [np.zeros(4)[::2], np.zeros(2, np.int64)], ids=["strided", "integers"])
def test_arrays_that_a_kernel_called_by_address_would_misread_are_refused(wrong):
    from numba.core.errors import TypingError

    from anguilla.model.evaluate import residual

    robot = ag.Robot("one")
    material = ag.Material(young=1e5, poisson=0.4, density=1000.0)
    robot.add(ag.Rod(0.5, ag.Circle(0.03), material, ag.planar(2)), at=robot.ground)
    system = ag.Model(robot)
    zero = np.zeros(2)
    with pytest.raises(TypingError, match="give C-contiguous arrays of float64"):
        residual(system.tree, system.workspace, system.loads().loads, wrong, zero, zero, np.zeros(0), np.zeros(2))


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_changing_the_robot_compiles_nothing_new():
    steppers = [ag.Newmark(), ag.HHT(), ag.GeneralisedAlpha(0.5), ag.Midpoint()]
    for k, robot in enumerate(robots()):
        equilibrium = ag.statics(robot, t=1.0)
        motion = ag.simulate(robot, duration=0.02, dt=0.01, start=equilibrium, method=steppers[k % 4])
        ag.simulate(robot, duration=0.01, dt=0.01, start=motion.q[-1], error=1e-2)
        frame = robot.parts[-1].tip
        for result in (equilibrium, motion):
            result.pose(frame), result.jacobian(frame), result.energy, result.wrench(robot.parts[0], [0.1])
        system = ag.Model(robot)
        system.matrices(np.asfortranarray(motion.q)[-1], motion.v[-1].tolist(), motion.a[::-1][0])
    counts = {name: len(kernel.signatures) for name, kernel in kernels().items()}
    assert {name: count for name, count in counts.items() if count > 1} == {}
    assert counts["anguilla.model.evaluate.residual"] == counts["anguilla.solve.steps.stepping.run"] == 1


def test_a_distant_kernel_without_an_address_is_an_error():
    from anguilla.model.evaluate import residual

    robot = ag.Robot("arm")
    robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(young=1e6, density=1000), ag.planar(2)), at=robot.ground)
    ag.simulate(robot, duration=0.01, dt=0.01)
    if not hasattr(residual, "cell"):
        pytest.skip("kernels are interpreted")
    address = int(residual.cell[0])
    assert address != 0
    kept, residual.cell[0] = residual.fill, 0
    residual.fill = lambda: None  # forgotten
    try:
        with pytest.raises(RuntimeError, match=r"anguilla\.residual was called before it was compiled"):
            ag.simulate(robot, duration=0.01, dt=0.01)
    finally:
        residual.fill, residual.cell[0] = kept, address


def test_folders_of_kernels_that_nothing_used_for_long_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("ANGUILLA_CACHE", str(tmp_path))
    wanted = jit.cache_folder(PACKAGE / "lie.py")
    old, recent, foreign = tmp_path / "0123456789abcdef", tmp_path / "fedcba9876543210", tmp_path / "thesis"
    long_ago = time.time() - 100 * 86400.0
    for folder in (wanted, old, recent, foreign):
        (folder / "inside").mkdir(parents=True)
        (folder / "inside" / "kernel.nbi").touch()
    for folder in (wanted, old, foreign):
        os.utime(folder, (long_ago, long_ago))
    assert jit._used_folder(PACKAGE / "lie.py") == wanted  # used again: it is kept from now on
    assert old.exists()  # nothing is removed as long as nothing is new
    assert jit._used_folder(PACKAGE / "errors.py") not in (wanted, old, recent)
    assert {folder.name for folder in tmp_path.iterdir()} == {wanted.name, recent.name, "thesis"}
