"""Robots of the campaign that were answered wrongly without a word, or taken for it by the verifier."""

import json
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import verify
from describe import build

import anguilla as ag
from anguilla.solve.steps import trust

FOUND = Path(__file__).parent / "found"


def judged(name):
    return verify.judge(json.loads((FOUND / f"{name}.json").read_text()))


@pytest.mark.parametrize(
    "name",
    [
        "20261119_14",  # round-off beside the forces of a loop
        pytest.param("20261119_1649", marks=pytest.mark.slow),  # halves and quarters of its steps agree by chance
        "20261119_3121",  # a beam held at its full length, closed again when it was started from its own answer
        "20261119_3368",  # what a closure holds that bears 6e-22 N m
        "20270402_17",  # a taut line over a joint whose ends meet: its length turns around within micrometres
        "20270402_1343",  # the same in steel
        "20291118_5063",  # momentum by a line that snaps: one of several steps hits it badly
    ],
)
def test_what_is_right_is_found_to_be_right(name):
    record = judged(name)
    assert record["outcome"] == "right", record["reason"]


@pytest.mark.parametrize(
    "name",
    [
        "20261120_5494",  # a straight rod as long as its ends are apart seemed free to buckle, though it cannot stretch
        "20261120_7064",  # slow vibrations that faster ones than the first twelve keep from growing
        "20280106_93",  # a line pulls at a rod that cannot give way: its moment is borne by a loop, not by bending
        "20290101_1200",  # a bowed rod with a second shape, to which Newton goes from nearby
        "20261120_9305",  # rounding of the length of a line, where nothing else acts
        "20291118_6689",  # a loop of 2 mm, whose gaps are lengths beside angles
        "20291118_3612",  # a rod held at its full length that hardly bends: started from its answer, it was pulled straight
        "20290101_3340",  # the same beside others that bend: 4e13 N were found to balance it
    ],
)
def test_an_equilibrium_that_is_right_is_found_to_be_right(name):
    made = build(json.loads((FOUND / f"{name}.json").read_text()))
    eq, heard = verify.listen(lambda: ag.statics(made.robot, inputs=made.inputs))
    assert verify.equilibrium_faults(made, eq, heard, {}) == []


@pytest.mark.parametrize(
    "name",
    [
        "20261119_243",  # hits the ground: no step agrees with a shorter one, and 0.5 % was told
        "20270316_62",  # off by 2.03 % after a start that was eased; 1 % was carried, and taken as it was
        "20270315_23",  # 26 of 55 steps were cut, and halves were cut into the same pieces: off by 2.5 %, told 1.1 %
        "20290101_2460",  # a joint that turns by 17 rad in a step, with a force that turns with it
        "20290707_576",  # a bar that tumbles on a universal joint: off by 3.9 %, and 0.24 % was carried
        "20291118_6816",  # a loop near a dead centre: off by 5.7 %, and 1 % was carried
        "20291118_6018",  # a rod that water brakes at the start: off by 4.4 %, and 0.27 % was carried
        "20291502_2411",  # a joint that snaps at the start: off by 33 %, and eighths of the first step went wrong as it did
        "20291224_572",  # a rod that a current seizes: off by 2.5 %, and 0.5 % was carried
        "2000_1483",  # a bowed thread that spins on a ball: off by 2.4 %, and 1.3 % was carried
        "20261119_3588",  # off by 2.4 %; halves of its steps after a rough start showed 1.9 %
    ],
)
def test_a_motion_whose_steps_are_too_long_is_told(name):
    record = judged(name)
    assert record["motion"]["flagged"] and record["motion"]["time_error"] > 0.02
    assert record["outcome"] in ("said", "undecided")


def test_cut_steps_without_a_second_opinion_are_told():
    """20 of 34 steps are cut; eighths go wrong in the same way behind a jump, and halves do not get past it."""
    record = judged("20291231_2083")
    assert record["outcome"] == "said" and record["motion"]["error"] > 0.02
    assert "20 of 34 steps of 'robot_20291231_2083' were too long for Newton" in record["motion"]["warnings"][0]


def test_steps_that_were_all_cut_are_judged_by_eighths():
    """Halves agree with it better (0.3 %) than it agrees with the truth (1.3 %); eighths take long, and see it."""
    record = judged("20300117_4308")["motion"]
    assert record["time_error"] > 0.9 * record["error"] > 0.01


def test_momentum_that_changes_without_a_cause_is_told():
    """A robot that floats: its places are right to 0.4 % of the length, its momentum is off by 13 %."""
    record = judged("20291118_4474")
    assert record["outcome"] == "said" and record["motion"]["momentum"] > 0.1
    assert (
        "The momentum of 'robot_20291118_4474', on which nothing acts from outside" in record["motion"]["warnings"][-1]
    )


def test_shorter_steps_that_show_less_do_not_lessen_what_is_told():
    """Off by 2.2 %; halves of its steps after a rough start showed 1.9 %, quarters 1.6 %, which was taken."""
    record = judged("20290101_672")
    assert record["motion"]["flagged"] and record["motion"]["time_error"] > 0.0187
    assert record["outcome"] == "said"


def test_steps_half_as_long_see_what_shorter_ones_at_a_jump_do_not():
    """Off by 2.4 %; 0.3 % was carried, and eighths of the steps behind a jump of the loads went wrong in the same way."""
    record = judged("20290202_2790")
    assert record["motion"]["flagged"] and record["outcome"] == "said"


@pytest.mark.parametrize("name", ["20300606_8385", "20300606_4076"])
def test_steps_of_the_judge_that_go_astray_are_outvoted_by_shorter_ones(name):
    # the judge's first steps ended elsewhere and told 68 and 45 %; the verifier's end within 0.5 % of the motion
    record = judged(name)
    assert record["motion"]["outcome"] == "right" and not record["motion"]["flagged"]
    assert record["motion"]["error"] < 0.01 and record["motion"]["time_error"] < 0.0187


def test_a_vibration_that_the_brake_of_a_joint_does_not_damp_is_told():
    """A moment that turns with the tip of a steel rod feeds it; the joint's damping was taken for that of each vibration."""
    made = build(json.loads((FOUND / "20270510_355.json").read_text()))
    eq, _ = verify.listen(lambda: ag.statics(made.robot, inputs=made.inputs))
    assert verify.instability(made, eq) > 0.05
    assert "unstable: the robot would flutter as long as it has no damping" in eq.status.message


def test_a_fast_vibration_that_grows_slowly_is_told():
    """By exp(0.5) a second at 540 Hz: within 1 % of the rate of the slowest vibration it was passed over."""
    made = build(json.loads((FOUND / "20280101_1693.json").read_text()))
    eq, _ = verify.listen(lambda: ag.statics(made.robot, inputs=made.inputs))
    assert 0.001 < verify.instability(made, eq) < 0.01
    assert "unstable: the robot would flutter as long as it has no damping" in eq.status.message


@pytest.mark.parametrize(
    ("name", "words"),
    [
        # all of its steps were cut; halves of them gave up half way, where 0.9 % was seen of what became 6 %
        ("20270502_65", "cut into pieces"),
        # off by 2.25 %, of first order after an eased start: halves and quarters of steps differ by 1.6 and 1.8 %
        ("20280103_566", "make an error of about 2.3 %"),
    ],
)
def test_a_motion_that_is_wrong_is_told(name, words):
    made = build(json.loads((FOUND / f"{name}.json").read_text()))
    motion = made.spec["motion"]
    duration = motion["dt"] * motion["steps"]
    run, heard = verify.listen(
        lambda: ag.simulate(made.robot, duration=duration, dt=motion["dt"], inputs=made.inputs, progress=False)
    )
    assert not run.quality.ok and words in heard[0]


@pytest.mark.parametrize(
    ("size", "sure", "told"), [(0.0190, True, True), (0.0190, False, False), (0.0180, True, False)]
)
def test_what_may_be_two_per_cent_is_told(size, sure, told):
    """Estimates by shorter steps may be a little too small; those of windows are raised before."""
    robot = ag.Robot("bar")
    bar = ag.RigidBody.box((0.2, 0.02, 0.03), mass=0.3, com=(0.1, 0.0, 0.0))
    robot.add(bar, at=robot.ground, joint=ag.Revolute((0, 1, 0)))
    with mock.patch.object(trust, "_time_error", return_value=trust.TimeError(size, 0.1, 1, sure)):
        run, heard = verify.listen(lambda: ag.simulate(robot, duration=0.1, dt=0.01, progress=False))
    assert bool(heard) is told and run.quality.ok is not told


def test_a_straight_rod_held_at_its_full_length_is_refused_beside_one_that_is_free():
    """The free one was what could be left; restarts of the answer moved, with other reactions."""
    made = build(json.loads((FOUND / "20300117_2068.json").read_text()))
    with pytest.raises(
        ag.SolverError, match="loop holds it where 'p1' cannot give way to the loads without stretching"
    ):
        ag.statics(made.robot, inputs=made.inputs)


def test_what_nothing_holds_is_told_after_sliding_downhill_and_not_wound_up():
    """A robot that hangs from a universal joint turns about the vertical: Newton turned it by 1e15 rad, unsaid."""
    made = build(json.loads((FOUND / "20300117_1446.json").read_text()))
    eq, heard = verify.listen(lambda: ag.statics(made.robot, inputs=made.inputs))
    assert any("is not unique: nothing holds p0.angle_1" in word for word in heard)
    beside = eq.q + 1e-6 * np.cos(np.arange(len(eq.q)))
    again, heard = verify.listen(lambda: ag.statics(made.robot, inputs=made.inputs, start=beside))
    assert any("is not unique: nothing holds p0.angle_1" in word for word in heard)
    assert max(np.abs(eq.q[:2]).max(), np.abs(again.q[:2]).max()) < 10.0


def test_energy_from_nothing_is_told_of_small_errors_where_newton_needed_help():
    """Places are right to 0.04 % of the length, but corrections were halved, and 2 % of the energy came from nothing."""
    record = judged("20310222_172")
    assert record["outcome"] == "said" and record["motion"]["gained"] > 0.02 and record["motion"]["error"] < 0.001
    assert "gains 2 % of its energy from nothing" in record["motion"]["warnings"][0]


def test_a_stiffness_that_is_round_off_beside_the_loads_holds_nothing():
    """A box that turns about its own axis, and is pushed along it: 1e-18 N m/rad were taken for what holds it."""
    made = build(json.loads((FOUND / "20310115_6164.json").read_text()))
    with pytest.warns(ag.AnguillaWarning, match=r"not unique: nothing holds p0\.angle"):
        eq = ag.statics(made.robot, inputs=made.inputs)
    assert "nothing holds p0.angle" in eq.status.message


def test_an_equilibrium_with_too_few_modes_is_told():
    """Four modes in a current: 12 modes move the tip by 15 % of the length, and the estimate is 5.6 %."""
    made = build(json.loads((FOUND / "20300117_5322.json").read_text()))
    eq, heard = verify.listen(lambda: ag.statics(made.robot, inputs=made.inputs))
    assert eq.error_estimate == pytest.approx(0.056, abs=0.002)
    assert "rod 'p0' has too few modes; more of them would move it by about 6% of the length" in heard[0]


def test_a_start_that_newton_leaves_does_not_end_where_the_robot_would_fall():
    """A drawn tendon is loaded step by step from the rest shape, whatever the start: that led to an unstable equilibrium."""
    made = build(json.loads((FOUND / "20290303_411.json").read_text()))
    eq = ag.statics(made.robot, inputs=made.inputs)
    again = ag.statics(made.robot, inputs=made.inputs, start=eq.q)
    assert "unstable:" not in again.status.message
    assert verify.positions(made, again) == pytest.approx(verify.positions(made, eq), abs=1e-6)


def test_shorter_steps_are_shorter_than_the_pieces_that_steps_were_cut_into():
    """A muscle that acts at once: the first steps were cut, and their halves into the same pieces (0.4 % told)."""
    made = build(json.loads((FOUND / "wide_11_722.json").read_text()))
    motion = made.spec["motion"]
    run, heard = verify.listen(
        lambda: ag.simulate(made.robot, duration=0.672, dt=motion["dt"], progress=False, **made.method)
    )
    assert not run.quality.ok and "a large part of its length" in heard[0]
