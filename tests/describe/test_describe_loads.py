"""Wrenches on frames and along rods, constant or as functions."""

import functools

import numpy as np
import pytest

from anguilla.describe import Circle, Load, Material, Robot, Rod, kirchhoff
from anguilla.errors import DescriptionError
from anguilla.interact import DistributedWrench, TipWrench, Wrench

ROBOT = Robot("one")
ROD = Rod(length=0.5, section=Circle(0.01), material=Material(1e6, 1000), strains=kirchhoff(2))
ARM = ROBOT.add(ROD, at=ROBOT.ground, name="arm")


def test_wrench_has_the_moment_first():
    load = Wrench(ARM.tip, force=(1, 2, 3), moment=[4, 5, 6])
    assert isinstance(load, Load) and load.is_constant and load.follower is False
    np.testing.assert_array_equal(load.values([0.0, 1.0]), [[4, 5, 6, 1, 2, 3]] * 2)
    assert load.values(0.0).shape == (1, 6) and load.values([]).shape == (0, 6)
    assert load.label == "Wrench on arm.tip" and Wrench(ARM.tip, name="pull").label == "pull"


def test_wrench_of_time():
    load = Wrench(ARM.section(0.2), force=lambda t: (t, 0, 0), follower=True)
    assert not load.is_constant and load.follower
    np.testing.assert_array_equal(load.values([0, 3])[:, 3], [0, 3])
    np.testing.assert_array_equal(load.values([0, 3])[:, :3], 0)
    assert not Wrench(ARM.tip, moment=lambda t: np.zeros(3)).is_constant


def scaled(gain, t):
    return 0.0, gain * t, 0.0


def test_extra_optional_arguments_of_a_function_are_left_alone():
    load = Wrench(ARM.tip, force=lambda t, gain=2: (gain * t, 0, 0), moment=functools.partial(scaled, 2.0))
    np.testing.assert_array_equal(load.values([3.0]), [[0, 6, 0, 6, 0, 0]])
    field = DistributedWrench(ARM, force=lambda X, gain=2: (gain * X, 0, 0))
    assert field.is_constant
    np.testing.assert_array_equal(field.values([0.5], [7.0])[0, 0], [0, 0, 0, 1, 0, 0])


def test_tip_wrench_is_a_wrench_at_the_tip():
    load = TipWrench(ARM, force=(0, 0, -1), moment=(1, 0, 0), follower=True, name="push")
    assert isinstance(load, Wrench) and load.frame == ARM.tip
    assert load.follower and load.name == "push"
    np.testing.assert_array_equal(load.values(0), [[1, 0, 0, 0, 0, -1]])
    load.force = (1, 0, 0)
    assert load.values(0)[0, 3] == 1


def test_distributed_wrench_constant_of_x_and_of_x_and_t():
    X, times = [0.0, 0.25, 0.5], [0.0, 2.0]
    constant = DistributedWrench(ARM, force=(0, 0, -3), moment=(1, 0, 0))
    of_x = DistributedWrench(ARM, force=lambda X: (X, 0, 0))
    of_both = DistributedWrench(ARM, force=lambda s, time: (s * time, 0, 0), moment=lambda X, t=0.0: (0, t, 0))
    for load, is_constant in ((constant, True), (of_x, True), (of_both, False)):
        assert load.is_constant is is_constant
        assert load.values(X, times).shape == (2, 3, 6)
        assert load.values([], times).shape == (2, 0, 6)
        assert load.values(X, []).shape == (0, 3, 6)
    np.testing.assert_array_equal(constant.values(X, times)[1, 2], [1, 0, 0, 0, 0, -3])
    np.testing.assert_array_equal(of_x.values(X, times)[..., 3], [X, X])
    np.testing.assert_array_equal(of_both.values(X, times)[..., 3], np.outer(times, X))
    np.testing.assert_array_equal(of_both.values(X, times)[..., 1], np.outer(times, [1, 1, 1]))
    assert constant.label == "DistributedWrench on arm"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Wrench(ARM), "Wrench.frame must be a frame; got the part 'arm': did you mean its .tip?"),
        (lambda: Wrench("tip"), "Wrench.frame must be a frame such as arm.tip; got 'tip'."),
        (lambda: Wrench(ARM.tip, force=3), "Wrench.force must be a vector of 3 finite numbers [N] or a function of"),
        (lambda: Wrench(ARM.tip, moment=(1, 2)), "Wrench.moment must be a vector of 3 finite numbers [N m] or"),
        (lambda: Wrench(ARM.tip, force=lambda x, t: x), "Wrench.force must be"),
        (lambda: Wrench(ARM.tip, force=lambda x, t: x), "got a function of (x, t)."),
        (lambda: Wrench(ARM.tip, force=lambda: 0), "Wrench.force must be"),
        (lambda: Wrench(ARM.tip, force=lambda t, *, gain: 0), "got a function (t, *, gain)."),
        (lambda: Wrench(ARM.tip, follower="yes"), "Wrench.follower must be True or False; got 'yes'."),
        (lambda: Wrench(ARM.tip, name=""), "Wrench.name must be a name"),
        (lambda: TipWrench(ARM.tip), "TipWrench.part must be a rod of the robot"),
        (lambda: TipWrench(ARM, force=(0, 0, "1")), "TipWrench.force must be"),
        (lambda: TipWrench(ARM, follower=1), "TipWrench.follower must be"),
        (lambda: DistributedWrench(ROD), "DistributedWrench.part must be a rod of the robot, as returned by"),
        (lambda: DistributedWrench(ARM, force=1), "DistributedWrench.force must be a vector of 3 finite numbers [N/m]"),
        (lambda: DistributedWrench(ARM, moment="no"), "DistributedWrench.moment must be a vector of 3 finite numbers"),
        (lambda: DistributedWrench(ARM, force=lambda t: t), "got a function of (t)."),
        (lambda: DistributedWrench(ARM, force=lambda a, b, c: a), "got a function of (a, b, c)."),
        (lambda: DistributedWrench(ARM, force=max), "the arguments of <built-in function max> cannot be read."),
        (lambda: DistributedWrench(ARM, force=dict), "got <class 'dict'>."),
        (lambda: DistributedWrench(ARM, follower=None), "DistributedWrench.follower must be"),
        (lambda: DistributedWrench(ARM, name="a b"), "DistributedWrench.name must be"),
    ],
)
def test_bad_loads(make, text):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("sample", "text"),
    [
        (
            lambda: Wrench(ARM.tip, force=lambda t: (0, 0, np.sqrt(1.0 - t) if t <= 1 else np.nan)).values([0, 2]),
            "The force of Wrench on arm.tip at t = 2 s must be a vector of 3 finite numbers; got",
        ),
        (
            lambda: Wrench(ARM.tip, moment=lambda t: t, name="motor").values([0.5]),
            "The moment of motor at t = 0.5 s must be a vector of 3 finite numbers; got 0.5.",
        ),
        (
            lambda: DistributedWrench(ARM, force=lambda X, t: (0, np.inf, 0)).values([0.1], [0.5]),
            "The force of DistributedWrench on arm at X = 0.1 m, t = 0.5 s must be",
        ),
        (
            lambda: DistributedWrench(ARM, moment=lambda X: None).values([0.1], [0.5]),
            "The moment of DistributedWrench on arm at X = 0.1 m, at every t, must be",
        ),
    ],
)
def test_functions_that_return_nonsense_are_named_with_the_time(sample, text):
    with pytest.raises(DescriptionError) as caught:
        sample()
    assert text in str(caught.value)


def test_a_distributed_wrench_belongs_to_the_robot_of_its_rod():
    robot = Robot("two")
    arm = robot.add(ROD, at=robot.ground)
    load = DistributedWrench(arm, force=(0, 0, -1))
    assert robot.load(load) is load
    with pytest.raises(DescriptionError, match="The frame of DistributedWrench on arm must be a frame of robot 'two'"):
        robot.load(DistributedWrench(ARM))
