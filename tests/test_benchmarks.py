"""The error measure of the benchmarks and the tables of their page."""

import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not (BENCHMARKS / "pages.py").exists():
    pytest.skip("the benchmarks are not shipped with the tests", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

import description  # noqa: E402
import equilibrium  # noqa: E402
import flying  # noqa: E402
import judge as judging  # noqa: E402
from cases import CANTILEVERS, interpolate, reference, tip_error  # noqa: E402
from chain import equilibrium as chain_equilibrium  # noqa: E402
from entries import ENTRIES, OTHERS  # noqa: E402
from guard import RECORD, best_of, ratios, worse  # noqa: E402
from measure import aside, exponent, looped, whole_call  # noqa: E402
from pages import at_its_error, settings_table, table  # noqa: E402
from pages_more import crossings, goals, other_table  # noqa: E402
from run import merged  # noqa: E402
from words import milliseconds, percent, times  # noqa: E402

import anguilla as ag  # noqa: E402


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
        "anguilla": row("Anguilla", 0.004, 2e-4, halved=0.0041, whole_seconds=3e-3, simulated=3.0),
        "fastest": row("Exudyn, fastest", 0.008, 1.6e-3, halved=0.012, whole_seconds=5e-3, simulated=2.0),
        "soromox": {"title": "SoRoMoX", "failure": "no equilibrium", "settings": {"modes": 4}},
    }
    path = [{"error": 0.007, "ratio": 1e-4}, {"failure": "stopped"}, {"error": 0.002, "ratio": 4e-4}]
    return {"cases": {"soft": rows}, "paths": {"soft": {"anguilla": path}}}


def test_table_gives_the_ratio_to_the_quoted_setting_and_at_the_peers_error():
    lines = table(result())
    assert lines[2] == "| soft | Anguilla | 0.4 % | 0.41 % | 0.2 | 0.22 |  |  | 1 |  |"
    assert lines[3] == "| soft | Exudyn, fastest | 0.8 % | 1.2 % | 1.6 | 1.76 | 8.0 | 16 | 2.5 | 2.5 |"
    assert lines[4] == "| soft | SoRoMoX | no equilibrium | | | | | | | |"
    assert len({line.count("|") for line in lines}) == 1


def test_a_whole_call_is_timed_without_what_is_done_aside():
    found, seconds = whole_call(lambda: (aside(lambda: spend(0.05)), spend(0.02)))
    assert found == (0.05, 0.02)
    assert 0.018 < seconds < 0.05
    assert whole_call(lambda: spend(0.0))[1] < 0.01  # what another call did aside is forgotten


def test_a_pause_aside_does_not_make_a_whole_call_shorter():
    """A pause counts by the wall clock alone: it was taken from processor time, and calls took less than nothing."""
    _, seconds = whole_call(lambda: (aside(lambda: time.sleep(0.015)), spend(0.01)))
    assert seconds >= 0.0099


def spend(seconds):
    """Compute for so long."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return seconds


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


def test_the_flying_beam_is_within_one_percent_and_stays_there_when_everything_is_refined():
    run, ends = flying.fly(flying.QUOTED)
    assert flying.error(run.t, ends) < 0.01
    assert run.status.counters["substeps"] == 0
    assert flying.moved(flying.QUOTED) < 0.003


def test_the_beam_flies_from_its_two_ends_and_the_reference_has_no_error():
    with np.load(flying.REFERENCE) as data:
        np.testing.assert_allclose([data["A"][0], data["B"][0]], [flying.FIRST, flying.LAST], atol=1e-12)
        ends = np.stack([data["A"], data["B"]], axis=1)
        assert flying.error(data["t"], ends) == 0.0
        assert flying.error(data["t"], ends + np.array([0.0, 0.3, 0.4])) == pytest.approx(0.05)


def test_the_equilibrium_in_space_is_that_of_exact_beams():
    # Exudyn's tip with 48 and 96 beam elements, extrapolated with the square of the element [m].
    peer = 0.556967297, 0.501363845, -0.533506913
    assert equilibrium.error(peer) < 2e-8
    rest, tip = equilibrium.solve(5, 2, 12)
    assert np.linalg.norm(rest.position(tip) - peer) < 1e-5
    rough, tip = equilibrium.solve(*equilibrium.SETTINGS[0])
    assert equilibrium.error(rough.position(tip)) < 1e-3


@pytest.mark.parametrize("held", [False, True])
def test_a_chain_of_elements_tends_to_the_elastica(held):
    from settings import SETTINGS, robots

    import anguilla as ag

    case = CANTILEVERS["soft"]
    _, robot = robots(case, SETTINGS["soft"].refined())
    rest = ag.statics(robot)
    down, aside, _ = rest.position(rest.robot.parts[0].tip)
    off = []
    for n in (40, 80):
        vertices, angles = chain_equilibrium(case, n, held=held)
        assert (vertices.shape, angles.shape) == ((n + 1, 2), (n,))
        off.append(np.linalg.norm(vertices[-1] - [aside, -down]))
    # A held first element is a clamp in its middle: first order; a half spring is second order.
    assert np.log2(off[0] / off[1]) == pytest.approx(1.0 if held else 2.0, abs=0.25)
    assert off[1] < (0.03 if held else 0.002) * case.length


def test_every_script_exists_and_every_entry_has_a_case():
    batch = "batch.py"
    for script in {entry.script for entry in ENTRIES} | {source.script for source in OTHERS} - {batch}:
        assert (BENCHMARKS / script).exists(), script
    assert all(entry.cases for entry in ENTRIES)


def test_ratios_and_what_got_worse():
    data = {**result(), "others": {"tendon": [
        {"peer": "anguilla", "error": 0.004, "ratio": 0.001}, {"peer": "anguilla", "error": 0.02, "ratio": 0.0005},
        {"peer": "soromox", "error": 0.009, "ratio": 0.5}, {"peer": "soromox", "error": 0.05, "ratio": 0.1},
    ]}}  # fmt: skip
    now = ratios(data)
    assert now == {"soft, Exudyn, fastest": 8.0, "soft, Exudyn, fastest, whole call": 2.5, "tendon, best peer": 500.0}
    assert worse({"soft, Exudyn, fastest": 11.9, "gone": 5.0}, now) == []
    assert len(worse({"soft, Exudyn, fastest": 12.1}, now)) == 1
    assert best_of(data["others"]["tendon"], own=False, error=0.001) is None


def test_goals_say_what_is_met_and_what_is_not():
    data = {**result(), "others": {}}
    data["cases"]["soft"]["plain"] = row("Exudyn, plain exact beam", 0.006, 0.04)
    lines = goals(data)
    assert "| soft | 150 | 200, met (Exudyn, plain exact beam) |  |  |  | 8.0, not met (Exudyn, fastest) |" in lines
    data["cases"]["soft"]["settled"] = {**row("Exudyn, settled", 0.003, 0.0102), "whole_seconds": 0.1, "simulated": 3.0}
    data["cases"]["soft"]["anguilla"] |= {"whole_seconds": 0.005, "simulated": 3.0}
    assert any("| 51, met (goal 50) | 20 |" in line for line in goals(data))


def test_crossings_compare_every_setting_of_a_peer_with_the_line_at_its_error():
    data = result()
    ours = data["cases"]["soft"]["anguilla"]["ratio"]
    data["paths"] = {"soft": {"anguilla": [{"error": 0.001, "ratio": 20 * ours}],
                              "exudyn": [{"error": 0.0015, "ratio": 60 * ours}, {"error": 0.05, "ratio": 1e-9}]}}  # fmt: skip
    text = " ".join(" ".join(crossings(data)).split())
    assert "No setting of any peer does." in text and "3.0 (`soft`, 2 settings)" in text
    data["paths"]["soft"]["exudyn"][0]["ratio"] = 10 * ours  # faster than what Anguilla needs at 0.15 %
    assert "On `soft` some setting does." in " ".join(crossings(data))


def test_other_cases_compare_with_the_fastest_of_ours_within_one_percent():
    timed = lambda whole: {"whole_seconds": whole, "simulated": 2.0}
    rows = [
        {
            "peer": "anguilla",
            "settings": {"modes": 3},
            "error": 0.002,
            "ratio": 0.001,
            "median": 0.0012,
            **timed(0.004),
        },
        {"peer": "exudyn", "settings": {"elements": 8}, "error": 0.005, "ratio": 0.02, "median": 0.03, **timed(0.06)},
        {"peer": "exudyn", "settings": {"elements": 4}, "failure": "did not converge"},
    ]
    assert ratios({"cases": {}, "others": {"equilibrium": rows}})["equilibrium, best peer, whole call"] == 15.0
    lines = other_table("equilibrium", rows)
    assert lines[2:] == [
        "| Anguilla, modes 3 | 0.2 % | 1 | 1.2 |  | 2 |  |",
        "| Exudyn, elements 8 | 0.5 % | 20 | 30 | 20 | 30 | 15 |",
        "| Exudyn, elements 4 | did not converge | | | | | |",
    ]
    batch = [{"batch": {"best": 1000.0, "median": 900.0}, "copies": {"best": 2e3, "median": 1e3}},
             {"peer": "mujoco", "coordinates": 12, "step": 0.01, "best": 50.0,
                                                           "median": 40.0}]  # fmt: skip
    assert other_table("batch", batch)[2:] == [
        "| Anguilla, `simulate_batch` | 12 | 5 | 1000 | 900 | 5 |",
        "| Anguilla, `BatchStepper` | 12 | 5 | 2000 | 1000 | 10 |",
        "| MuJoCo | 12 | 10 | 50 | 40 | 0.5 |",
    ]


def test_the_recorded_ratios_are_those_of_the_page():
    if not RECORD.exists():
        pytest.skip("no ratios are recorded yet")
    page = (RECORD.parent / "benchmarks.md").read_text().splitlines()
    for name, ratio in json.loads(RECORD.read_text())["ratios"].items():
        case, title = name.split(", ", 1)
        if not title.startswith("best peer"):
            program, column = title.removesuffix(", whole call"), 10 if title.endswith(", whole call") else 7
            line = next(line for line in page if line.startswith(f"| {case} | {program} |"))
            assert float(line.split("|")[column]) == pytest.approx(ratio, rel=0.06)


def test_costs_of_a_description_are_measured():
    one, three = (description.cost(n, lambda n=n: description.chain(n), seconds=0.02) for n in (1, 3))
    assert 0.0 < one.kept <= one.memory and one.model > 0.0 and one.describe > 0.0
    assert one.memory < three.memory < 5.0 * one.memory  # scratch memory, which grows with the square, is apart
    assert three.desk > 2.5 * one.desk
    made = description.tendons(2), description.bodies(5, 2)
    assert [len(robot.parts) for robot in made] == [3, 5] and len(made[0].actuators) == len(made[0].loads) == 2


def test_what_the_judge_costs_is_measured():
    robot = judging.arm("short", modes=2)[0]
    asked = {
        "motion": lambda: ag.simulate(robot, duration=0.02, dt=0.005, progress=False),
        "equilibrium": lambda: ag.statics(robot),
    }
    with judging.without_judge():
        assert asked["motion"]().quality is None
    assert asked["motion"]().quality.ok  # as before
    costs = {name: judging.cost(ask, 2) for name, ask in asked.items()}
    assert all(0.0 < one.without < math.inf and 0.0 < one.judged < math.inf for one in costs.values())
    assert not any(one.again for one in costs.values())
    lines = judging.table({"it": judging.Cost(2e-3, 2.5e-3, False)}, 10.0)
    assert lines[2] == "| it | 2.00 | 0.500 | 25.0 %, too much |"


def test_a_loop_takes_what_it_says_and_never_more_than_the_call():
    work = lambda: sum(range(200_000))
    _, loop, whole = looped(work, lambda result: 100.0)  # delayed by others
    assert loop == whole
    _, loop, whole = looped(work, lambda result: 1e-6)
    assert 0.0 < loop <= 1.01e-6 < whole


def test_a_pause_outside_of_the_loop_does_not_make_it_shorter():
    def work() -> None:
        sum(range(200_000))
        time.sleep(0.05)

    _, loop, whole = looped(work, lambda result: 1e-3)
    assert loop == 1e-3 < whole
