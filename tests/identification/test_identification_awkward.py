"""Measurements as they come: arrays turned over, lost markers, old files; and fits that begin at a bound."""

import re
from dataclasses import replace

import numpy as np
import pytest

import anguilla as ag
from anguilla.describe.paths import changed, number_at
from anguilla.identification.parameters import as_free, made_robot
from anguilla.identification.trial import Trial

PULL = np.linspace(0.0, 3.0, 6)
YOUNG = "arm.material.young"


def arm(young=1e6, length=0.3):
    robot = ag.Robot("arm")
    rod = ag.Rod(length, ag.Circle(0.01), ag.Material(young, 1100.0, poisson=0.5), ag.kirchhoff(2))
    robot.actuate("t1", ag.Tendon(robot.add(rod, at=robot.ground, name="arm"), ag.parallel(y=0.008)))
    return robot


@pytest.fixture(scope="module")
def tip():
    robot = arm(1.3e6)
    return np.array([ag.statics(robot, inputs={"t1": u}).position(robot.part("arm").tip) for u in PULL])


def test_values_on_the_way_are_no_slips_of_units():
    robot, beyond_all = arm(), np.array([1e14])
    free = as_free(robot, [YOUNG])
    with pytest.warns(ag.AnguillaWarning, match=r"1e\+14 Pa"):
        made_robot(robot, free, beyond_all, {})
    assert (
        number_at(Trial(robot, free, pulls(np.zeros((6, 3)))).made(beyond_all), YOUNG) == 1e14
    )  # warnings are errors here


def pulls(tip, **options):
    return ag.Measurements(positions={"arm.tip": tip}, inputs={"t1": PULL}, **options)


@pytest.mark.parametrize("idle", ["arm.material.damping", "t1.friction"])
def test_what_begins_at_its_bound_does_not_stop_the_others(tip, idle):
    """The search used to end where it began, without a word of Young's modulus."""
    robot = arm() if idle == "arm.material.damping" else changed(arm(), {idle: 0.0})
    free = [idle, YOUNG]
    with pytest.warns(ag.AnguillaWarning):
        found = ag.identify(robot, pulls(tip), free)
    assert found.values[YOUNG] == pytest.approx(1.3e6, rel=1e-5)


def test_what_has_no_effect_does_not_make_steps_too_long(tip):
    """Of a combination that is not determined SciPy takes steps as long as it may."""
    robot = changed(arm(), {"gravity[0]": 0.0, "gravity[1]": 0.0, "gravity[2]": 0.0})
    weightless = changed(robot, {YOUNG: 1.3e6})
    seen = np.array([ag.statics(weightless, inputs={"t1": u}).position(weightless.part("arm").tip) for u in PULL])
    alone = ag.identify(robot, pulls(seen), [YOUNG])
    with pytest.warns(ag.AnguillaWarning, match=r"do not depend on arm\.material\.density"):
        found = ag.identify(robot, pulls(seen), [YOUNG, "arm.material.density"])
    assert found.values[YOUNG] == pytest.approx(1.3e6, rel=1e-9)
    assert found.evaluations <= alone.evaluations + 2


def test_a_damping_that_was_nothing_is_found():
    t = np.arange(0.0, 0.4001, 0.01)

    def whip(damping):
        robot = ag.Robot("whip")
        rod = ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1100.0, damping=damping), ag.kirchhoff(2))
        robot.add(rod, at=robot.ground, name="arm")
        return robot

    truth = whip(0.01)
    run = ag.simulate(truth, duration=0.4, dt=0.0025)
    data = ag.Measurements(
        positions={"arm.tip": run.position(truth.part("arm").tip)[::4]}, t=t, motion=True, held=None, dt=0.0025
    )
    found = ag.identify(whip(0.0), data, ["arm.material.damping"])
    assert found.values["arm.material.damping"] == pytest.approx(0.01, rel=1e-3)


def test_arrays_that_are_turned_over_are_refused(tip):
    """They used to be read row by row, whatever their numbers meant."""
    with pytest.raises(ag.DescriptionError, match=r"3 numbers in each row.*\.T"):
        pulls(tip.T)
    with pytest.raises(ag.DescriptionError, match="9 numbers in each row"):
        ag.Measurements(turns={"arm.tip": np.zeros((3, 3, 6))})
    for shape in ((6, 3, 3), (6, 9)):
        assert ag.Measurements(turns={"arm.tip": np.zeros(shape)}).rows == 6
    assert ag.Measurements(positions={"arm.tip": tip[0]}).rows == 1
    assert ag.Measurements(lengths={"t1": PULL[:, None]}).rows == ag.Measurements(lengths={"t1": PULL}).rows == 6


def test_nothing_but_gaps_is_refused(tip):
    with pytest.raises(ag.DescriptionError, match="nothing was measured"):
        pulls(np.nan * tip)


def test_an_axis_that_nobody_saw(tip):
    flat = tip.copy()
    flat[:, 1] = np.nan
    assert ag.identify(arm(), pulls(flat), [YOUNG]).values[YOUNG] == pytest.approx(1.3e6, rel=1e-6)


def test_a_marker_at_zero_was_lost(tip):
    lost = tip.copy()
    lost[[1, 4]] = 0.0
    with pytest.warns(ag.AnguillaWarning, match=r"marker arm\.tip of experiment is at \(0, 0, 0\) in 2 of 6 rows"):
        ag.identify(arm(), pulls(lost), [YOUNG])


def swapped(tip):
    return pulls(tip[:, [1, 0, 2]]), arm()


def half_as_long(tip):
    return pulls(tip), arm(length=0.15)


@pytest.mark.parametrize(("make", "off"), [(swapped, "5[0-9]"), (half_as_long, "(9|10|11)[0-9]")])
def test_a_model_that_does_not_describe_the_data_says_so(make, off, tip):
    data, robot = make(tip)
    words = (
        rf"does not describe experiment: positions are off by {off} % of the robot's length \(axes\? lengths\? base\?\)"
    )
    with pytest.warns(ag.AnguillaWarning, match=words):
        found = ag.identify(robot, data, [YOUNG])
    assert re.search(r"experiment: mean 0\.\d+ m, rms 0\.\d+ m, worst 0\.\d+ m\nnote: ", str(found))


def test_an_input_that_nobody_gives_is_noted(tip):
    robot = arm()
    robot.actuate("t2", ag.Tendon(robot.parts[0], ag.parallel(z=0.008)))
    with pytest.warns(ag.AnguillaWarning, match="no values are given for input t2; 0 is assumed"):
        found = ag.identify(robot, pulls(tip), [YOUNG])
    assert found.notes == ["no values are given for input t2; 0 is assumed"]
    data = pulls(tip)
    assert ag.identify(robot, replace(data, inputs={**data.inputs, "t2": 0.0}), [YOUNG]).notes == []


def test_deviations_of_lost_markers(tip):
    lost, sigma = tip.copy(), np.full(6, 1e-3)
    lost[2], sigma[2] = np.nan, np.nan
    data = pulls(lost, sigma={"arm.tip": sigma})
    assert ag.identify(arm(), data, [YOUNG]).values[YOUNG] == pytest.approx(1.3e6, rel=1e-6)
    with pytest.raises(ag.DescriptionError, match="must be positive"):
        ag.identify(arm(), pulls(tip, sigma={"arm.tip": sigma}), [YOUNG])
    with pytest.raises(ag.DescriptionError, match="a number, or 6 of them"):
        pulls(tip, sigma={"arm.tip": [1e-3, 2e-3]})


def test_parameters_of_some_experiments(tip):
    data = [pulls(tip, name="one"), pulls(tip, name="two", group="all")]
    with pytest.warns(ag.AnguillaWarning, match="the model does not describe two: positions are off by 11 %"):
        found = ag.identify(arm(), data, [ag.Unknown(YOUNG, only=["one"])])  # nothing is free in the other
    assert found.values[YOUNG] == pytest.approx(1.3e6, rel=1e-6)
    with pytest.raises(ag.DescriptionError, match=r"only of 'tow' \(did you mean 'two'\?\)"):
        ag.identify(arm(), data, [ag.Unknown(YOUNG, only=["tow"])])
    ag.identify(arm(), replace(data[1], name="here"), [ag.Unknown(YOUNG, only=["all"])])


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_files_of_older_programs(tip, tmp_path, encoding):
    rows = ["t1;arm.tip_x (µm);arm.tip_y (µm);arm.tip_z (µm)"]
    rows += [";".join(f"{x:.9g}" for x in (u, *(1e6 * place))) for u, place in zip(PULL, tip, strict=True)]
    path = tmp_path / "run.csv"
    path.write_bytes("\n".join(rows).replace(".", ",").replace("arm,", "arm.").encode(encoding))
    data = ag.Measurements.read(path, inputs=["t1"])
    np.testing.assert_allclose(data.positions["arm.tip"], tip, atol=1e-12)


def test_tables_parted_by_spaces_and_unknown_units(tip, tmp_path):
    path = tmp_path / "run.txt"
    lines = ["  ".join(f"{x:.12g}" for x in (u, *place)) for u, place in zip(PULL, tip, strict=True)]
    path.write_text("\n".join(["t1 arm.tip_x arm.tip_y\tarm.tip_z".replace("\t", "   "), *lines]))
    data = ag.Measurements.read(path, inputs=["t1"])
    np.testing.assert_allclose(data.positions["arm.tip"], tip, atol=1e-12)
    path.write_text("t1,tip_x (inch),tip_y (inch),tip_z (inch)\n0,1,2,3\n")
    with pytest.raises(ag.DescriptionError, match=r"unit of column 'tip_x \(inch\)'"):
        ag.Measurements.read(path, inputs=["t1"])
