"""The benchmarks of batches and gradients run, and count what they say they count."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
if not (BENCHMARKS / "batch.py").exists():
    pytest.skip("the benchmarks are not shipped with the tests", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

import batch  # noqa: E402
import gradient  # noqa: E402


def test_batch():
    found = batch.report(arms=3, steps=10, repeat=1, threads=2)
    assert found["batch"]["best"] > 0.0
    assert set(found["ratios"]) == {"single runs", "long run"}


def test_gradient():
    found = gradient.report(steps=9, tendons=2, repeat=1)
    assert found["inputs"] == 20
    assert found["ratios"]["simulate"]["best"] > 0.0
