"""The cases of contact that are compared with PyElastica are what they are said to be; ratios are those at equal error."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not (BENCHMARKS / "touching.py").exists():
    pytest.skip("the benchmarks are not shipped with the tests", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

import touching  # noqa: E402


def test_the_couples_of_the_snake_are_the_slope_of_its_wave():
    case, t, h = touching.SNAKE, 2.3, 1e-6
    for X in (0.03, 0.2, 0.34):
        s = np.array([1.0 - (X + h) / case.length, 1.0 - (X - h) / case.length])
        couple = sum(case.couple(X, part)[2] * case.swing(t, part) for part in ("sine", "cosine"))
        assert couple == pytest.approx(np.diff(case.wave(s, t))[0] / (2.0 * h), rel=1e-6)  # - d / dX


def test_the_coil_is_a_helix_of_its_length():
    case, s = touching.COIL, np.linspace(0.0, 1.0, 2001)
    x, axes = case.shape(s)
    assert np.sum(np.linalg.norm(np.diff(x, axis=0), axis=1)) == pytest.approx(case.length, rel=1e-4)
    np.testing.assert_allclose(axes[:, :, 0], np.gradient(x, s * case.length, axis=0, edge_order=2), atol=5e-4)
    np.testing.assert_allclose(np.linalg.det(axes), 1.0, rtol=1e-12)


def test_the_end_of_the_plectoneme_is_turned_before_it_comes_nearer_and_rests_in_the_end():
    case = touching.PLECTONEME
    assert case.angle(case.turned) == pytest.approx(case.turn) and case.way(case.turned) == 0.0
    assert case.slack[0] + case.way(case.nearing[1]) == pytest.approx(case.slack[1])
    assert case.nearing[1] + 1.0 < case.check[0]


def test_ratios_are_those_at_equal_error():
    mine = [
        {"error": 0.02, "seconds": [0.1]},
        {"error": 0.01, "seconds": [0.5, 0.4]},
        {"error": 0.001, "seconds": [2.0]},
    ]
    loop = touching.TIMES["times_anguilla"]
    assert touching.ratio({"error": 0.015, "seconds": [8.0, 9.0]}, mine, loop) == 20.0
    assert touching.ratio({"error": 0.0001, "seconds": [8.0]}, mine, loop) is None


def test_the_table_has_a_row_for_each_run():
    mine = {
        "case": "snake",
        "peer": "anguilla",
        "settings": {"modes": 4, "tolerance": None},
        "error": 0.04,
        "seconds": [0.1],
        "whole_seconds": 0.2,
    }
    other = mine | {
        "peer": "pyelastica",
        "settings": {"elements": 50},
        "seconds": [2.5, 2.4],
        "whole_seconds": 2.6,
        "times_anguilla": 24.0,
        "whole_times_anguilla": 13.0,
    }
    failed = {"case": "knot", "peer": "pyelastica", "settings": {"elements": 100}, "failure": "it blew up"}
    rows = touching.table([mine, other, failed]).splitlines()[2:]
    assert rows[0] == "| snake | anguilla | modes 4 | 4.00 % | 0.1 | 0.2 |  |  |"
    assert rows[1] == "| snake | pyelastica | elements 50 | 4.00 % | 2.4 | 2.6 | 24x | 13x |"
    assert rows[2] == "| knot | pyelastica | elements 100 | it blew up |  |  |  |  |"
