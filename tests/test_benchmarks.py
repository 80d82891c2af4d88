"""The error measure of the benchmarks and the tables of their page."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not (BENCHMARKS / "pages.py").exists():
    pytest.skip("the benchmarks are not shipped with the tests", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

from cases import CANTILEVERS, interpolate, reference, tip_error  # noqa: E402
from pages import at_its_error, milliseconds, percent, settings_table, table, times  # noqa: E402
from run import merged  # noqa: E402
from step_time import exponent  # noqa: E402


@pytest.mark.parametrize("name", CANTILEVERS)
def test_the_reference_has_no_error(name):
    case = CANTILEVERS[name]
    assert tip_error(case, *reference(case)) == 0.0


@pytest.mark.parametrize("name", CANTILEVERS)
def test_an_offset_of_the_tip_is_its_share_of_the_length(name):
    case = CANTILEVERS[name]
    t, tip = reference(case)
    offset = 0.02 * case.length * np.array([0.6, -0.8])
    assert tip_error(case, t, tip + offset) == pytest.approx(0.02, rel=1e-12)


def test_the_largest_error_over_the_check_times_counts():
    case = CANTILEVERS["soft"]
    t, tip = reference(case)
    late = tip + 0.01 * case.length * (t / case.last_check)[:, None] * [1.0, 0.0]
    assert tip_error(case, t, late) == pytest.approx(0.01, rel=1e-6)


def test_a_motion_that_stops_too_early_is_refused_and_one_that_is_not_finite_is_infinitely_wrong():
    case = CANTILEVERS["soft"]
    t, tip = reference(case)
    early = t < 0.9 * case.last_check
    with pytest.raises(ValueError, match="check times"):
        tip_error(case, t[early], tip[early])
    assert tip_error(case, t, np.where(t[:, None] > 1.0, np.nan, tip)) == np.inf


def test_interpolation_is_exact_for_cubics():
    t = np.linspace(0.0, 1.0, 9) ** 1.3
    values = np.stack([t**3 - t, 2 * t**2], axis=1)
    times_between = np.array([0.0, 0.13, 0.5, 0.99, 1.0])
    expected = np.stack([times_between**3 - times_between, 2 * times_between**2], axis=1)
    np.testing.assert_allclose(interpolate(times_between, t, values), expected, atol=1e-13)


def row(title, error, ratio, **more):
    return {"title": title, "error": error, "ratio": ratio, "median": 1.1 * ratio, "settings": {"dt": 0.1}, **more}


def result():
    rows = {
        "anguilla": row("Anguilla", 0.004, 2e-4, halved=0.0041),
        "fastest": row("Exudyn, fastest", 0.008, 1.6e-3, halved=0.012),
        "soromox": {"title": "SoRoMoX", "failure": "no equilibrium", "settings": {"modes": 4}},
    }
    path = [{"error": 0.007, "ratio": 1e-4}, {"failure": "stopped"}, {"error": 0.002, "ratio": 4e-4}]
    return {"cases": {"soft": rows}, "paths": {"soft": {"anguilla": path}}}


def test_table_gives_the_ratio_to_the_quoted_setting_and_at_the_peers_error():
    lines = table(result())
    assert lines[2] == "| soft | Anguilla | 0.4 % | 0.41 % | 0.2 | 0.22 |  |  |"
    assert lines[3] == "| soft | Exudyn, fastest | 0.8 % | 1.2 % | 1.6 | 1.76 | 8.0 | 16 |"
    assert lines[4] == "| soft | SoRoMoX | no equilibrium | | | | | |"
    assert len({line.count("|") for line in lines}) == 1


def test_settings_are_listed_by_name_without_what_is_off():
    data = result()
    data["cases"]["soft"]["anguilla"]["settings"] = {"bend_modes": 5, "stretch_modes": 0, "modified_newton": False}
    assert settings_table(data)[2] == "| soft | Anguilla | bend modes 5 |"


def test_numbers_are_short():
    assert [percent(x) for x in (None, 0.00431, 0.05)] == ["", "0.43 %", "5 %"]
    assert [times(x) for x in (None, 7.26, 11.2)] == ["", "7.3", "11"]
    assert [milliseconds(x) for x in (1.54e-4, 0.0466, 2.199)] == ["0.154", "46.6", "2199"]


def test_no_setting_of_the_path_may_be_good_enough():
    assert at_its_error(1e-3, result()["paths"]["soft"]["anguilla"]) is None


def test_records_of_several_rounds_are_merged():
    one = {"seconds": [0.2, 0.3], "simulated": 2.0, "ratio": 0.1, "call_seconds": 0.4}
    two = {"seconds": [0.1, 0.4], "simulated": 2.0, "ratio": 0.05, "call_seconds": 0.5}
    both = merged([one, two])
    assert both["seconds"] == [0.2, 0.3, 0.1, 0.4]
    assert (both["ratio"], both["median"], both["call_seconds"]) == (0.05, 0.125, 0.4)
    assert merged([one, {"failure": "stopped"}]) == {"failure": "stopped"}


def test_exponent_of_a_power():
    assert exponent([1.0, 2.0, 4.0], [3.0, 12.0, 48.0]) == pytest.approx(2.0)
