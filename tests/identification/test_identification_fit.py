"""Parameters are found again from synthetic measurements; what data do not determine is named."""

from __future__ import annotations

import numpy as np
import pytest
from identification_robots import MARKERS, filmed, pulls, tendon_arm

import anguilla as ag
from anguilla.describe.paths import changed, number_at, put_number
from anguilla.identification.parameters import as_free
from anguilla.identification.search import Search

SIX = ["arm.material.young", "arm.material.density", "t1.offset", "payload.force[2]", "t2.angle", "inputs.t3.gain"]
WRONG = {
    "arm.material.young": 1.6e6, "arm.material.density": 900.0, "t1.offset": 0.007, "payload.force[2]": -0.01,
    "t2.angle": 2.6,
}  # fmt: skip
TRUE = [1e6, 1100.0, 0.008, -0.03, 2.4, 1.0]


def experiment(noise: float = 0.0, rows: int = 12, seed: int = 1, **options) -> ag.Measurements:
    rng = np.random.default_rng(seed)
    inputs = pulls(rows, rng)
    places = filmed(tendon_arm(), inputs, noise, rng)
    return ag.Measurements(positions=places, inputs=inputs, markers=MARKERS, **options)


def test_six_parameters_are_found_again():
    found = ag.identify(changed(tendon_arm(), WRONG), experiment(), SIX)
    assert np.allclose(found.found, TRUE, rtol=1e-5)
    assert found.error(experiment(seed=7))["worst"] < 1e-7
    assert found.notes == []
    assert ag.identify(tendon_arm(), experiment(), ["arm.material.young"]).robot.part("arm").rod.material.young > 0.0


def test_noisy_measurements_with_gaps_within_one_per_cent():
    data = experiment(2e-4, rows=60)
    data.positions["tip"][::7] = np.nan
    start = changed(tendon_arm(), {"arm.material.young": 1.6e6, "t1.offset": 0.007})
    found = ag.identify(start, data, ["arm.material.young", "t1.offset", "inputs.t3.gain"])
    assert np.allclose(found.found, [1e6, 0.008, 1.0], rtol=0.01)
    for name, truth in (("arm.material.young", 1e6), ("t1.offset", 0.008), ("inputs.t3.gain", 1.0)):
        low, high = found.interval[name]
        assert low < truth < high
        assert high - low < 0.02 * truth
    assert found.uncertain.scatter == pytest.approx(0.2, rel=0.15)  # of the assumed 1 mm


@pytest.mark.parametrize("by", ["tension", "length"])
def test_derivatives_against_differences(by):
    rng, robot = np.random.default_rng(3), tendon_arm(by)
    rows = 4
    inputs = (
        pulls(rows, rng) if by == "tension" else {n: 0.3 - rng.uniform(0.0, 0.02, rows) for n in ("t1", "t2", "t3")}
    )
    states = [ag.statics(robot, inputs={n: u[k] for n, u in inputs.items()}) for k in range(rows)]
    tip = robot.part("arm").tip
    data = ag.Measurements(
        positions={"m": np.array([eq.position(tip) for eq in states]) + 0.01},
        turns={"arm.tip": np.array([eq.pose(tip)[:3, :3] for eq in states])},
        lengths={"t1": np.full(rows, 0.29)},
        tensions={"t2": np.ones(rows)} if by == "length" else {},
        inputs=inputs, t=np.arange(rows) * 0.7, base="pose", group="a",
        markers={"m": ag.Marker("arm[0.2]", (0.01, 0.02, -0.01), "xz", 0.01)},
    )  # fmt: skip
    free = [
        "arm.material.young",
        "arm.length",
        "t1.angle",
        "inputs.t1.gain",
        "inputs.t2.offset",
        "inputs.lag",
        "gravity[1]",
    ]
    parameters = as_free(robot, [*free[:-1], ag.Unknown("gravity[1]", start=0.3, prior=(0.0, 0.5))])
    search = Search(robot, parameters, [data])
    x = np.zeros(len(parameters) + len(search.nuisances.values))
    x[len(parameters) :] = rng.normal(0.0, 0.01, len(search.nuisances.values))
    x[len(parameters) + 5 :] = 0.0  # small turns: derivatives of turns are those without a miss
    found = search.jacobian(x)
    for k in range(len(x)):
        h = 1e-5 if k != 5 else 1e-4
        more, less = x.copy(), x.copy()
        more[k], less[k] = more[k] + h, less[k] - h
        truth = (search.residual(more) - search.residual(less)) / (2 * h)
        assert np.allclose(found[:, k], truth, rtol=2e-3, atol=2e-4 * np.max(np.abs(truth)) + 1e-6), (k, by)


def test_derivatives_where_a_tendon_is_about_to_become_slack():
    """A tension of 5e-6 N is gone after 1e-8 m: a longer difference would be one across the jump."""
    robot, rest = tendon_arm("length"), {"t2": 0.29, "t3": 0.295}
    edge = ag.statics(robot, inputs={"t1": 0.35, **rest}, tolerance=1e-13).length("t1")
    given = {"t1": edge - 1e-8, **rest}
    assert 0.0 < ag.statics(robot, inputs=given).tension("t1") < 1e-5
    data = ag.Measurements(
        positions={"tip": np.zeros((1, 3))},
        markers={"tip": "arm.tip"},
        inputs={n: np.array([u]) for n, u in given.items()},
    )
    search = Search(robot, as_free(robot, ["inputs.t1.offset", "inputs.t2.offset", "arm.length"]), [data])
    found = search.jacobian(np.zeros(3))
    taut = {**given, "t1": given["t1"] - 1e-5}  # well within what is taut, where nothing jumps nearby
    beside = ag.Measurements(
        positions=data.positions, markers=data.markers, inputs={n: np.array([u]) for n, u in taut.items()}
    )
    other = Search(robot, as_free(robot, ["inputs.t1.offset", "inputs.t2.offset", "arm.length"]), [beside])
    for k in range(3):
        ends = [other.residual(sign * 1e-6 * np.eye(3)[k]) for sign in (1.0, -1.0)]
        truth = (ends[0] - ends[1]) / 2e-6
        assert np.allclose(found[:, k], truth, rtol=5e-3, atol=5e-3 * np.abs(truth).max()), k


def test_unknown_offsets_and_base_are_found_along():
    rng = np.random.default_rng(5)
    robot, inputs = tendon_arm(), pulls(15, rng)
    arm = robot.part("arm")
    offset, pose = np.array([0.0, 0.012, -0.007]), np.eye(4)
    c, s = np.cos(0.2), np.sin(0.2)
    pose[:3, :3], pose[:3, 3] = [[c, -s, 0], [s, c, 0], [0, 0, 1]], [0.1, -0.2, 0.3]
    eqs = [ag.statics(robot, inputs={n: u[k] for n, u in inputs.items()}) for k in range(15)]
    tip = np.array([eq.position(arm.tip.offset_by(offset)) for eq in eqs]) @ pose[:3, :3].T + pose[:3, 3]
    mid = np.array([eq.position(arm.section(0.15)) for eq in eqs]) @ pose[:3, :3].T + pose[:3, 3]
    data = ag.Measurements(
        positions={"tip": tip, "mid": mid}, inputs=inputs, base="pose",
        markers={"tip": ag.Marker("arm.tip", free="yz"), "mid": "arm[0.15]"},
    )  # fmt: skip
    found = ag.identify(changed(robot, {"arm.material.young": 1.3e6}), data, ["arm.material.young"])
    assert found.values["arm.material.young"] == pytest.approx(1e6, rel=1e-5)
    assert found.offsets["offset of tip.y"] == pytest.approx(0.012, abs=1e-6)
    assert found.offsets["turn of the base.z"] == pytest.approx(0.2, abs=1e-6)
    assert found.offsets["place of the base.y"] == pytest.approx(-0.2, abs=1e-6)
    new = experiment(seed=9)  # a new camera: its own pose is found on the way
    seen = {name: x @ pose[:3, :3] + 1.0 for name, x in new.positions.items()}
    again = ag.Measurements(positions=seen, inputs=new.inputs, markers=MARKERS, base="pose", group="other")
    assert found.error(again)["worst"] < 1e-6


def test_outliers_matter_less_to_a_robust_loss():
    data = experiment(1e-4, rows=25)
    data.positions["tip"][5] += 0.05
    start = changed(tendon_arm(), {"arm.material.young": 1.4e6})
    plain = ag.identify(start, data, ["arm.material.young"]).values["arm.material.young"]
    robust = ag.identify(start, data, ["arm.material.young"], loss="cauchy").values["arm.material.young"]
    assert abs(plain / 1e6 - 1) > 0.005
    assert abs(robust / 1e6 - 1) < 0.002


def test_priors_and_bounds():
    data = experiment()
    strong = ag.Unknown("arm.material.young", prior=(2e6, 1.0), start=1.9e6)
    with pytest.warns(ag.AnguillaWarning, match="the model does not describe experiment: positions are off by 21 %"):
        assert ag.identify(tendon_arm(), data, [strong]).values["arm.material.young"] == pytest.approx(2e6, rel=1e-3)
    with pytest.warns(ag.AnguillaWarning, match="ended at its bound 1.2e"):
        bound = ag.Unknown("arm.material.young", start=1.4e6, bounds=(1.2e6, 2e6))
        assert ag.identify(tendon_arm(), data, [bound]).values["arm.material.young"] == pytest.approx(1.2e6, rel=1e-4)


def test_several_starts_find_the_best_of_several_minima():
    data = experiment()
    wide = ag.Unknown("t2.angle", start=2.4 + np.pi, bounds=(0.0, 2 * np.pi))
    found = ag.identify(tendon_arm(), data, [wide], starts=6)
    assert found.values["t2.angle"] == pytest.approx(2.4, rel=1e-5)


# What data do not determine ---------------------------------------------------------------------------------------------


def test_density_without_gravity_has_no_effect():
    robot = tendon_arm()
    robot.gravity = (0.0, 0.0, 0.0)
    inputs = pulls(5, np.random.default_rng(0))
    data = ag.Measurements(
        positions=filmed(robot, inputs, 1e-4, np.random.default_rng(1)), inputs=inputs, markers=MARKERS
    )
    with pytest.warns(ag.AnguillaWarning, match=r"do not depend on arm\.material\.density"):
        found = ag.identify(robot, data, ["arm.material.young", "arm.material.density"])
    assert found.values["arm.material.density"] == pytest.approx(1100.0)
    assert found.deviation["arm.material.density"] == np.inf
    assert found.interval["arm.material.density"] == (0.0, np.inf)
    assert found.deviation["arm.material.young"] < 2e4


def test_only_ratios_of_young_density_and_tension():
    robot = tendon_arm()
    robot._loads.clear()
    inputs = pulls(8, np.random.default_rng(0))
    data = ag.Measurements(
        positions=filmed(robot, inputs, 1e-4, np.random.default_rng(1)), inputs=inputs, markers=MARKERS
    )
    free = ["arm.material.young", "arm.material.density", "inputs.gain"]
    with pytest.warns(ag.AnguillaWarning, match="young and arm.material.density and inputs.gain together") as notes:
        found = ag.identify(robot, data, free)
    assert "(arm.material.young by +10 %, arm.material.density by +10 %, inputs.gain by +10 %)" in str(notes[0].message)
    assert all(np.isinf(x) for x in found.deviation.values())
    two = ag.identify(robot, data, free[:2])
    assert two.notes == []
    assert two.values["arm.material.young"] == pytest.approx(1e6, rel=0.01)


def test_torsion_has_no_influence_and_length_goes_with_young():
    robot = ag.Robot("beam")
    rod = ag.Rod(0.1, ag.Rectangle(0.03, 0.03), ag.Material(2.6e5, 1070.0, poisson=0.499), ag.kirchhoff(2))
    beam = robot.add(rod, at=robot.ground, name="beam")
    eq = ag.statics(robot)
    rng = np.random.default_rng(2)
    tip = eq.position(beam.tip) + rng.normal(0.0, 1e-4, (20, 3))
    data = ag.Measurements(positions={"beam.tip": tip})
    with pytest.warns(ag.AnguillaWarning, match=r"do not depend on beam\.material\.poisson"):
        ag.identify(robot, data, ["beam.material.young", "beam.material.poisson"])
    there = ag.Marker("beam.tip", free="x")
    data = ag.Measurements(positions={"beam.tip": tip}, markers={"beam.tip": there})
    with pytest.warns(ag.AnguillaWarning, match=r"beam.material.young and beam.length"):
        found = ag.identify(robot, data, ["beam.material.young", "beam.length"])
    assert found.notes


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say():
    robot, inside, count = tendon_arm(), 0, 200
    names = {"arm.material.young": 1e6, "t1.offset": 0.008, "inputs.t3.gain": 1.0}
    inputs = pulls(5, np.random.default_rng(0))
    exact = filmed(robot, inputs, 0.0, np.random.default_rng(0))
    for seed in range(count):
        rng = np.random.default_rng(1000 + seed)
        places = {name: x + rng.normal(0.0, 1e-3, x.shape) for name, x in exact.items()}
        found = ag.identify(robot, ag.Measurements(positions=places, inputs=inputs, markers=MARKERS), list(names))
        inside += sum(found.interval[name][0] < truth < found.interval[name][1] for name, truth in names.items())
    assert 0.93 <= inside / (3 * count) <= 0.97


def test_a_function_that_makes_the_robot():
    def make(young, distance, weight):
        robot = tendon_arm()
        robot.part("arm").rod.material.young = young
        put_number(robot, "t1.offset", distance)
        put_number(robot, "payload.force[2]", -weight)
        return robot

    data = experiment(given={"weight": 0.03})
    found = ag.identify(make, data, {"young": 1.5e6, "distance": 0.006})
    assert np.allclose(found.found, [1e6, 0.008], rtol=1e-5)
    assert number_at(found.robot, "payload.force[2]") == -0.03
    assert found.robot.part("arm").rod.material.young == found.values["young"]


def test_friction_of_tendons_by_differences():
    robot = tendon_arm()
    put_number(robot, "t1.friction", 0.3)
    inputs = {"t1": np.array([1.0, 2.0, 4.0]), "t2": np.zeros(3), "t3": np.zeros(3)}
    data = ag.Measurements(
        positions=filmed(robot, inputs, 0.0, np.random.default_rng(0)), inputs=inputs, markers=MARKERS
    )
    found = ag.identify(changed(robot, {"t1.friction": 0.1}), data, ["t1.friction", "arm.material.young"])
    assert np.allclose(found.found, [0.3, 1e6], rtol=1e-3)
