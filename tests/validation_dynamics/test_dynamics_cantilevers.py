"""The three cantilevers of the benchmark: the quoted settings are accurate, and converged in space and time."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
if not (BENCHMARKS / "settings.py").exists():
    pytest.skip("the benchmarks are not shipped with the tests", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

from cases import CANTILEVERS, interpolate, tip_error  # noqa: E402
from settings import SETTINGS, solve, tip  # noqa: E402


@pytest.mark.parametrize("name", SETTINGS)
def test_tip_is_within_one_percent_of_the_reference_and_converged(name):
    case, setting = CANTILEVERS[name], SETTINGS[name]
    run, _ = solve(case, setting)
    assert tip_error(case, run.t, tip(run)) < 0.01
    finer, _ = solve(case, setting.refined())
    times = np.array(case.check_times)
    moved = interpolate(times, run.t, tip(run)) - interpolate(times, finer.t, tip(finer))
    assert np.linalg.norm(moved, axis=1).max() / case.length < 0.003
    assert run.status.counters["substeps"] == 0


@pytest.mark.parametrize(("name", "most"), [("soft", 3.0), ("stiff200", 2.7), ("stiff", 5.5)])
def test_steps_take_few_corrections(name, most):
    """A new tangent is worth what it costs: with one worth four corrections, as of any robot, two take 3.3 and 3.5."""
    run, _ = solve(CANTILEVERS[name], SETTINGS[name])
    assert run.status.counters["iterations"] < most * run.status.counters["steps"]
