"""Joints: their axes, springs, damping and efforts."""

import pickle

import numpy as np
import pytest

from anguilla.describe import Axis, Cylindrical, Fixed, Helical, Joint, Planar, Prismatic, Revolute, Universal
from anguilla.errors import DescriptionError

ALL = [
    (Fixed(), ()),
    (Revolute((0, 0, 1)), ("angle",)),
    (Prismatic((0, 0, 1)), ("slide",)),
    (Helical((0, 0, 1), pitch=0.01), ("angle",)),
    (Cylindrical((0, 0, 1)), ("slide", "turn")),
    (Universal((0, 1, 0), (0, 0, 1)), ("angle_1", "angle_2")),
    (Planar((0, 0, 1)), ("slide_1", "slide_2", "turn")),
]


def motion(joint, u):
    """Pose of the child in the frame of the joint: the product over the axes of a rotation with a translation."""
    pose = np.eye(4)
    for axis, value in zip(joint.axes, u, strict=True):
        d, angle = np.array(axis.direction), axis.turn * value
        K = np.array([[0, -d[2], d[1]], [d[2], 0, -d[0]], [-d[1], d[0], 0]])
        step = np.eye(4)
        step[:3, :3] += np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
        step[:3, 3] = axis.slide * value * d
        pose = pose @ step
    return pose


@pytest.mark.parametrize(("joint", "names"), ALL)
def test_size_names_and_defaults(joint, names):
    n = len(names)
    assert isinstance(joint, Joint) and joint.size == len(joint.axes) == n and joint.names == names
    for values in (joint.stiffness_values, joint.rest_values, joint.damping_values):
        np.testing.assert_array_equal(values, np.zeros(n))
    assert joint.effort_is_constant
    assert joint.effort_values([0.0, 1.0]).shape == (2, n) and joint.effort_values([]).shape == (0, n)
    assert not joint.effort_values([0.0, 1.0]).any()
    assert pickle.loads(pickle.dumps(joint)) == joint


def test_axes():
    assert Revolute((0, 0, 2)).axes == (Axis((0, 0, 1), turn=1.0),)
    assert Prismatic([0, -3, 0]).axes == (Axis((0, -1, 0), slide=1.0),)
    assert Helical((1, 0, 0), pitch=2 * np.pi).axes == (Axis((1, 0, 0), turn=1.0, slide=1.0),)
    assert Cylindrical((1, 0, 0)).axes == (Axis((1, 0, 0), slide=1.0), Axis((1, 0, 0), turn=1.0))
    assert Universal((0, 1, 0), (0, 0, 1)).axes == (Axis((0, 1, 0), turn=1.0), Axis((0, 0, 1), turn=1.0))


def test_axes_are_normalised_once():
    joint = Revolute((1, 2, 3))
    before = joint.axis
    np.testing.assert_allclose(before, np.array([1, 2, 3]) / np.sqrt(14), rtol=1e-15)
    for stiffness in (1, 2, 3):
        joint.stiffness = stiffness
    assert joint.axis == before == joint.axes[0].direction
    for scale in (1e-320, 1e-200, 1e200):
        np.testing.assert_allclose(Revolute((0, scale, scale)).axis, [0, np.sqrt(0.5), np.sqrt(0.5)], rtol=1e-14)


def test_a_screw_advances_by_its_pitch_in_a_turn():
    pose = motion(Helical((0, 2, 0), pitch=0.03), [2 * np.pi])
    np.testing.assert_allclose(pose[:3, 3], [0, 0.03, 0], atol=1e-16)
    np.testing.assert_allclose(pose[:3, :3], np.eye(3), atol=1e-15)
    np.testing.assert_allclose(motion(Helical((0, 1, 0), pitch=-0.03), [np.pi])[:3, 3], [0, -0.015, 0])


def test_the_second_axis_of_a_universal_joint_is_carried_by_the_first():
    pose = motion(Universal((0, 0, 1), (0, 1, 0)), [np.pi / 2, np.pi / 2])
    # The first turn carries the second axis from y to -x, and x to y; the second, about -x, carries that y to -z.
    np.testing.assert_allclose(pose[:3, :3], [[0, -1, 0], [0, 0, 1], [-1, 0, 0]], atol=1e-15)


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 0, 0), (0, -2, 0), (1, 1, 1), (0.1, -0.9, 0.3)])
@pytest.mark.parametrize("along", [None, (1, 2, -0.5)])
def test_planar_axes_are_a_right_handed_frame(normal, along):
    frame = np.array([axis.direction for axis in Planar(normal, along).axes])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(frame) == pytest.approx(1.0)
    np.testing.assert_allclose(frame[2], np.array(normal) / np.linalg.norm(normal), atol=1e-15)
    if along is not None:
        assert frame[0] @ along > 0 and abs(frame[1] @ along) < 1e-15


def test_planar_axes_follow_the_cycle_by_default():
    x, y, z = np.eye(3)
    for normal, first, second in ((x, y, z), (y, z, x), (z, x, y)):
        directions = [axis.direction for axis in Planar(normal).axes]
        np.testing.assert_array_equal(directions, [first, second, normal])
    assert [(axis.turn, axis.slide) for axis in Planar(z).axes] == [(0, 1), (0, 1), (1, 0)]


def test_springs_and_dampers():
    hinge = Revolute((0, 0, 1), stiffness=3, rest=-0.5, damping=0.1)
    assert (hinge.stiffness, hinge.rest, hinge.damping) == (3.0, -0.5, 0.1)
    assert hinge.stiffness_values.tolist() == [3.0] and hinge.rest_values.tolist() == [-0.5]
    assert Revolute((0, 0, 1), stiffness=[3]).stiffness == 3.0
    sleeve = Cylindrical((0, 0, 1), stiffness=(1, 2), rest=[0.1, 0], damping=np.array([3, 4]))
    assert sleeve.stiffness == (1.0, 2.0) and sleeve.damping == (3.0, 4.0)
    np.testing.assert_array_equal(sleeve.rest_values, [0.1, 0])
    sleeve.stiffness = 0
    np.testing.assert_array_equal(sleeve.stiffness_values, [0, 0])


def test_constant_efforts():
    assert Revolute((0, 0, 1), effort=2).effort_values([0, 1]).tolist() == [[2], [2]]
    joint = Cylindrical((0, 0, 1), effort=(1, 2))
    assert joint.effort_is_constant and joint.effort_values(3.0).tolist() == [[1, 2]]


def test_efforts_of_time():
    for effort in (lambda t: 2 * t, lambda t: [2 * t], [lambda t: 2 * t], lambda t, gain=2: gain * t):
        joint = Revolute((0, 0, 1), effort=effort)
        assert not joint.effort_is_constant and joint.effort_values([0, 3]).tolist() == [[0], [6]]
        assert joint.effort_values([]).shape == (0, 1)
    for effort in (lambda t: (1, t), (1, lambda t: t), [1, lambda time: time]):
        joint = Cylindrical((0, 0, 1), effort=effort)
        assert not joint.effort_is_constant and joint.effort_values([0, 3]).tolist() == [[1, 0], [1, 3]]
        joint.damping = (1, 1)
        assert not joint.effort_is_constant


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Revolute((0, 0, 0)), "Revolute.axis must be a direction, a vector of 3 numbers that are not all zero"),
        (lambda: Prismatic((0, 0, 0)), "Prismatic.axis must be a direction"),
        (lambda: Helical((0, 0, 0), 1), "Helical.axis must be a direction"),
        (lambda: Cylindrical((0.0, 0, 0)), "Cylindrical.axis must be a direction"),
        (lambda: Universal((1, 0, 0), (0, 0, 0)), "Universal.second must be a direction"),
        (lambda: Planar((0, 0, 0)), "Planar.normal must be a direction"),
        (lambda: Planar((0, 0, 1), along=(0, 0, 0)), "Planar.along must be a direction"),
        (lambda: Revolute((0, 1)), "Revolute.axis must be a vector of 3 finite numbers; got (0, 1)."),
        (
            lambda: Revolute("up"),
            "Revolute.axis must be a vector of 3 numbers, or one of x, y, z, -x, -y, -z; got 'up'.",
        ),
        (lambda: Helical((0, 0, 1), np.inf), "Helical.pitch must be a finite number [m]"),
        (lambda: Universal((1, 0, 0), (-2, 0, 0)), "Universal.second must not be parallel to Universal.first; got"),
        (lambda: Planar((0, 0, 1), along=(0, 0, 3)), "Planar.along must not be parallel to Planar.normal; got"),
        (lambda: Axis((0, 0, 0), turn=1), "Axis.direction must be a direction"),
        (lambda: Axis((0, 0, 1)), "Axis must turn or slide; got turn = 0 and slide = 0."),
        (lambda: Fixed(stiffness=1), "Fixed.stiffness must be left out, as the joint has no coordinates; got 1."),
        (lambda: Fixed(effort=lambda t: 1), "Fixed.effort must be left out, as the joint has no coordinates; got"),
        (lambda: Revolute((0, 0, 1), stiffness=-1), "Revolute.stiffness must be a number, zero or positive, [N m/rad]"),
        (
            lambda: Helical((0, 0, 1), 1, stiffness=-1),
            "Helical.stiffness must be a number, zero or positive, [N m/rad]",
        ),
        (lambda: Prismatic((0, 0, 1), damping=-1), "Prismatic.damping must be a number, zero or positive, [N s/m]"),
        (lambda: Prismatic((0, 0, 1), rest="a"), "Prismatic.rest must be a finite number [m]; got 'a'."),
        (lambda: Revolute((0, 0, 1), rest=(1, 2)), "Revolute.rest must be a finite number [rad]; got (1, 2)."),
        (
            lambda: Cylindrical((0, 0, 1), stiffness=1),
            "Cylindrical.stiffness must be 2 numbers, zero or positive: slide [N/m], turn [N m/rad]; got 1.",
        ),
        (
            lambda: Cylindrical((0, 0, 1), rest=False),
            "Cylindrical.rest must be 2 finite numbers: slide [m], turn [rad]",
        ),
        (
            lambda: Cylindrical((0, 0, 1), effort=3),
            "Cylindrical.effort must be 2 finite numbers: slide [N], turn [N m]",
        ),
        (lambda: Cylindrical((0, 0, 1), effort=(lambda t: 1,)), "Cylindrical.effort must be 2 finite numbers"),
        (lambda: Cylindrical((0, 0, 1), effort=("a", lambda t: 1)), "Cylindrical.effort must be"),
        (lambda: Revolute((0, 0, 1), effort="motor"), "Revolute.effort must be a finite number [N m]"),
        (lambda: Revolute((0, 0, 1), effort=lambda t, x: 0), "got a function of (t, x)."),
        (lambda: Revolute((0, 0, 1), effort=lambda: 0), "Revolute.effort must be a finite number [N m], or a function"),
    ],
)
def test_bad_joints(make, text):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("joint", "text"),
    [
        (
            Revolute((0, 0, 1), effort=lambda t: np.nan if t > 1 else 0.0),
            "The effort of Revolute at t = 2 s must be a finite number [N m]; got nan.",
        ),
        (
            Planar((0, 0, 1), effort=lambda t: (1, 2)),
            "The effort of Planar at t = 0 s must be 3 finite numbers: slide_1 [N], slide_2 [N], turn [N m]; got (1, 2).",
        ),
        (
            Cylindrical((0, 0, 1), effort=(lambda t: "a", 0)),
            "The effort of Cylindrical, slide, at t = 0 s must be a finite number [N]; got 'a'.",
        ),
    ],
)
def test_efforts_that_return_nonsense_name_the_time(joint, text):
    with pytest.raises(DescriptionError) as caught:
        joint.effort_values([0.0, 2.0])
    assert text in str(caught.value)


def test_a_bad_assignment_is_refused_and_the_old_value_kept():
    joint = Revolute((0, 0, 1), stiffness=2)
    with pytest.raises(DescriptionError, match=r"Revolute\.axis must be a direction"):
        joint.axis = (0, 0, 0)
    with pytest.raises(DescriptionError, match=r"has no field 'stifness' \(did you mean 'stiffness'\?\)"):
        joint.stifness = 1
    assert joint == Revolute((0, 0, 1), stiffness=2)


@pytest.mark.parametrize("frequency", [0.5, 50.0, 200.0, 500.0, 1000.0, 2e4])
@pytest.mark.parametrize("times", [np.linspace(0.0, 1.0, 1001), np.array([0.0]), np.array([0.3])], ids=len)
def test_differences_of_an_imposed_motion_follow_fast_ones(frequency, times):
    """At 1000 Hz a motion looks still from millisecond to millisecond."""
    w = 2 * np.pi * frequency
    joint = Revolute((0, 0, 1), motion=lambda t: 1.0 + 0.1 * np.sin(w * t) + 0.2 * np.cos(w * t))
    found = joint.motion_values(0, times)
    s, c = np.sin(w * times), np.cos(w * times)
    want = np.stack([1 + 0.1 * s + 0.2 * c, w * (0.1 * c - 0.2 * s), -(w**2) * (0.1 * s + 0.2 * c)], axis=1)
    assert np.all(np.abs(found - want).max(axis=0) < 5e-4 * np.array([1.0, w, w**2]))


def test_differences_of_a_motion_with_kinks_are_smeared_over_milliseconds():
    """A ramp that begins and ends suddenly has its rate everywhere else, without round-off."""
    joint = Prismatic((0, 0, 1), motion=lambda t: min(max(t - 0.2, 0.0), 0.3))
    times = np.linspace(0.0, 1.0, 101)
    found = joint.motion_values(0, times)
    apart = np.minimum(np.abs(times - 0.2), np.abs(times - 0.5)) > 4e-3
    assert found[apart, 1] == pytest.approx(((times > 0.2) & (times < 0.5))[apart].astype(float), abs=1e-11)
    assert found[apart, 2] == pytest.approx(np.zeros(np.sum(apart)), abs=1e-8)
