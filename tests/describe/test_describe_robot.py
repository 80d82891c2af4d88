"""Robots: parts, frames, names, gravity."""

import copy
import pickle

import numpy as np
import pytest

import anguilla as ag
from anguilla.describe import (
    BodyHandle,
    Circle,
    Cylindrical,
    Fixed,
    Material,
    Planar,
    Revolute,
    RigidBody,
    Robot,
    Rod,
    RodHandle,
    Strains,
    kirchhoff,
)
from anguilla.errors import DescriptionError
from anguilla.interact import TipWrench, Wrench


def make_rod(**changes):
    fields = {
        "length": 0.5,
        "section": Circle(0.01),
        "material": Material(1e6, 1000),
        "strains": kirchhoff(2),
        **changes,
    }
    return Rod(**fields)


def translation(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = (x, y, z)
    return pose


def quarter_turn_about_z():
    pose = np.eye(4)
    pose[:2, :2] = [[0, -1], [1, 0]]
    return pose


@pytest.fixture
def robot():
    return Robot("arm")


def test_add_returns_a_handle(robot):
    rod = make_rod()
    handle = robot.add(rod, at=robot.ground)
    assert isinstance(handle, RodHandle) and handle.rod is rod and handle.index == 0
    assert handle.parent == robot.ground
    np.testing.assert_array_equal(handle.pose, np.eye(4))
    assert robot.parts == (handle,) and robot.part("rod") is handle
    assert robot.size == handle.size == 6
    assert "rod" in repr(robot) and "ground" in repr(handle)


def test_pose_is_copied_and_read_only(robot):
    offset = np.eye(4)
    offset[:3, 3] = (1, 2, 3)
    handle = robot.add(make_rod(), at=robot.ground, pose=offset)
    offset[0, 3] = 9
    assert handle.pose[0, 3] == 1
    with pytest.raises(ValueError, match="read-only"):
        handle.pose[0, 3] = 5


def test_frames_know_their_part_arc_length_and_label(robot):
    arm = robot.add(make_rod(), at=robot.ground, name="arm")
    places = [robot.ground, arm.root, arm.section(0.25), arm.tip]
    assert [f.label for f in places] == ["ground", "arm.root", "arm[0.25]", "arm.tip"]
    assert [str(f) for f in places] == [f.label for f in places]
    assert [f.X for f in places] == [0.0, 0.0, 0.25, 0.5]
    assert [f.part_index for f in places] == [-1, 0, 0, 0]
    assert [f.is_ground for f in places] == [True, False, False, False]
    assert arm.tip.part is arm
    with pytest.raises(DescriptionError, match="The ground belongs to no part"):
        _ = robot.ground.part


def test_frames_are_equal_by_place_and_hashable(robot):
    arm = robot.add(make_rod(), at=robot.ground)
    assert arm.section(0.5) == arm.tip and arm.section(0) == arm.root
    assert arm.section(0.5 - 1e-14) == arm.tip
    assert len({arm.tip, arm.section(0.5), arm.section(0.2), arm.section(0.2), robot.ground}) == 3
    other = Robot("arm")
    assert other.add(make_rod(), at=other.ground).tip != arm.tip
    with pytest.raises(AttributeError):
        arm.tip.part_index = 3


def test_the_tip_follows_the_length_of_the_rod(robot):
    arm = robot.add(make_rod(), at=robot.ground)
    tip, inside = arm.tip, arm.section(0.4)
    arm.rod.length = 0.3
    assert tip.X == 0.3 and tip.label == "rod.tip"
    with pytest.raises(DescriptionError, match=r"Frame rod\[0\.4\] lies beyond the tip: the rod is now 0\.3 m long"):
        _ = inside.X


@pytest.mark.parametrize("X", [-0.1, 0.6, float("nan"), "tip"])
def test_sections_outside_the_rod(robot, X):
    arm = robot.add(make_rod(), at=robot.ground, name="arm")
    with pytest.raises(DescriptionError, match=r"X of arm\.section must be"):
        arm.section(X)


def test_names_are_made_unique(robot):
    rod, named = make_rod(), make_rod(name="leg")
    ground = robot.ground
    names = [robot.add(r, at=ground).name for r in (rod, rod, named, named, rod)]
    assert names == ["rod", "rod_2", "leg", "leg_2", "rod_3"]
    assert robot.add(named, at=ground, name="tail").name == "tail"
    assert robot.add(make_rod(name="ground"), at=ground).name == "ground_2"


def test_trees_and_coordinates(robot):
    trunk = robot.add(make_rod(strains=Strains(bend_z=2, twist=1)), at=robot.ground, name="trunk")
    left = robot.add(make_rod(strains=Strains(shear_y=1)), at=trunk.tip, name="left")
    right = robot.add(make_rod(strains=Strains(stretch=1)), at=trunk.section(0.2), name="right")
    assert left.parent.label == "trunk.tip" and right.parent.label == "trunk[0.2]"
    assert robot.coordinates() == [
        "trunk.twist[0]",
        "trunk.bend_z[0]",
        "trunk.bend_z[1]",
        "left.shear_y[0]",
        "right.stretch[0]",
    ]
    assert len(robot.coordinates()) == robot.size == 5


def test_gravity():
    robot = Robot()
    assert robot.name == "robot" and robot.gravity == (0.0, 0.0, -9.81) and robot.gravity_is_constant
    np.testing.assert_array_equal(robot.gravity_values([0, 1]), [[0, 0, -9.81]] * 2)
    robot.gravity = lambda t: (0, t, 0)
    assert not robot.gravity_is_constant
    np.testing.assert_array_equal(robot.gravity_values([0, 2]), [[0, 0, 0], [0, 2, 0]])
    assert robot.gravity_values(3.0).shape == (1, 3)


@pytest.mark.parametrize("gravity", [-9.81, (0, 0), (0, 0, float("nan")), None, lambda: (0, 0, 0), lambda t, x: 0])
def test_bad_gravity(gravity):
    with pytest.raises(DescriptionError, match=r"Robot\.gravity must be a vector of 3 finite numbers \[m/s\^2\]"):
        Robot(gravity=gravity)


def test_gravity_that_returns_nonsense_names_the_time():
    robot = Robot("eel", gravity=lambda t: (0, 0, np.nan if t > 1 else 0.0))
    with pytest.raises(DescriptionError, match=r"Gravity of robot 'eel' at t = 2 s must be a vector of 3"):
        robot.gravity_values([0.0, 2.0])


def test_bad_arguments(robot):
    arm = robot.add(make_rod(), at=robot.ground, name="arm")
    other = Robot("other")
    stranger = other.add(make_rod(), at=other.ground)

    def refused(function, text):
        with pytest.raises(DescriptionError) as caught:
            function()
        assert text in str(caught.value)

    refused(lambda: Robot("my robot"), "Robot.name must be a name of letters")
    refused(lambda: robot.add(0.5, at=robot.ground), "Robot.add part must be a Rod, a RigidBody, a Volume or an")
    refused(lambda: robot.add(make_rod(), at=arm), "Robot.add at must be a frame; got the part 'arm': did you mean")
    refused(lambda: robot.add(make_rod(), at="tip"), "Robot.add at must be a frame such as robot.ground or arm.tip")
    refused(lambda: robot.add(make_rod(), at=stranger.tip), "got 'rod.tip' of another robot, 'other'.")
    refused(lambda: robot.add(make_rod(), at=arm.tip, pose=np.eye(3)), "Robot.add pose must be a 4x4")
    refused(lambda: robot.add(make_rod(), at=arm.tip, name="arm"), "Robot.add name must be new; 'arm' is taken")
    refused(lambda: robot.add(make_rod(), at=arm.tip, name="ground"), "'ground' is taken")
    refused(lambda: robot.add(make_rod(), at=arm.tip, name="a b"), "Robot.add name must be a name of letters")
    refused(lambda: robot.part("leg"), "Robot 'arm' has no part 'leg'; its parts are: arm.")
    refused(lambda: robot.load((0, 0, 1)), "Robot.load load must be a load such as TipWrench")
    refused(lambda: robot.load(TipWrench(stranger)), "The frame of TipWrench on rod.tip must be a frame of robot 'arm'")
    assert robot.parts == (arm,) and robot.loads == ()
    with pytest.raises(AttributeError):
        robot.gravty = (0, 0, 0)


def test_loads_are_kept_in_order_and_once(robot):
    arm = robot.add(make_rod(), at=robot.ground)
    first, second = TipWrench(arm, force=(0, 0, 1), name="pull"), Wrench(arm.root)
    assert robot.load(first) is first
    robot.load(second)
    assert robot.loads == (first, second)
    with pytest.raises(DescriptionError, match="pull is already on robot 'arm'"):
        robot.load(first)
    with pytest.raises(DescriptionError, match="already has a load named 'pull'"):
        robot.load(Wrench(arm.root, name="pull"))


def test_a_copied_robot_is_whole_and_independent(robot):
    arm = robot.add(make_rod(), at=robot.ground, name="arm")
    robot.load(TipWrench(arm, force=(0, 0, 1)))
    for twin in (copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        assert twin.loads[0].frame == twin.part("arm").tip != arm.tip
        assert twin.parts[0].parent.robot is twin
        twin.part("arm").rod.length = 2
        assert arm.rod.length == 0.5


def test_add_a_body(robot):
    arm = robot.add(make_rod(), at=robot.ground, name="arm")
    body = RigidBody(0.1, name="hand")
    hand = robot.add(body, at=arm.tip, joint=Revolute((0, 0, 2)), pose=translation(0.1, 0, 0))
    assert isinstance(hand, BodyHandle) and hand.body is body and hand.name == "hand" and hand.index == 1
    assert hand.joint == Revolute((0, 0, 1)) and hand.parent == arm.tip and hand.pose[0, 3] == 0.1
    assert hand.size == 1 and hand.length == 0.0
    assert hand.frame == hand.root and hand.frame.X == 0.0 and hand.frame.part is hand
    assert hand.frame.label == "hand.frame" and "body 'hand'" in repr(hand) and "arm.tip" in repr(hand)
    assert [robot.add(RigidBody(1), at=hand.frame).name for _ in range(2)] == ["body", "body_2"]


def test_a_part_is_fixed_by_default(robot):
    arm, stone = robot.add(make_rod(), at=robot.ground), robot.add(RigidBody(1), at=robot.ground)
    assert arm.joint == stone.joint == Fixed()
    assert stone.size == 0 and stone.coordinates() == [] and arm.size == arm.rod.size


def test_coordinates_of_the_joint_come_first(robot):
    base = robot.add(RigidBody(1), at=robot.ground, joint=Planar((0, 0, 1)), name="base")
    strains = Strains(bend_z=2, twist=1)
    arm = robot.add(make_rod(strains=strains), at=base.frame, joint=Revolute((0, 1, 0)), name="arm")
    hand = robot.add(RigidBody(1), at=arm.tip, joint=Cylindrical((1, 0, 0)), name="hand")
    assert [base.size, arm.size, hand.size] == [3, 4, 2]
    assert robot.coordinates() == [
        "base.slide_1",
        "base.slide_2",
        "base.turn",
        "arm.angle",
        "arm.twist[0]",
        "arm.bend_z[0]",
        "arm.bend_z[1]",
        "hand.slide",
        "hand.turn",
    ]
    assert robot.size == 9


def test_frames_with_an_offset(robot):
    arm = robot.add(make_rod(), at=robot.ground, name="arm")
    hand = robot.add(RigidBody(0.1), at=arm.tip, name="hand")
    finger = hand.at((0.1, 0, -0.02))
    assert finger == hand.at(translation(0.1, 0, -0.02)) == hand.frame.offset_by([0.1, 0, -0.02]) != hand.frame
    assert len({finger, hand.at((0.1, 0, -0.02)), hand.frame, hand.at((0, 0, 0))}) == 2
    assert finger.label == "hand.frame + (0.1, 0, -0.02)" and finger.X == 0.0 and finger.part is hand
    np.testing.assert_array_equal(finger.offset_pose, translation(0.1, 0, -0.02))
    assert finger.bare == hand.frame and hand.frame.bare == hand.frame and hand.frame.offset is None
    np.testing.assert_array_equal(hand.frame.offset_pose, np.eye(4))
    side = arm.section(0.2).offset_by((0, 0.01, 0))
    assert side.X == 0.2 and side.label == "arm[0.2] + (0, 0.01, 0)" and side.bare == arm.section(0.2)
    hook = robot.ground.offset_by((1, 2, 3))
    assert hook.is_ground and hook.label == "ground + (1, 2, 3)"


def test_offsets_compose_in_the_axes_of_the_frame(robot):
    hand = robot.add(RigidBody(0.1), at=robot.ground, name="hand")
    turned = hand.at(quarter_turn_about_z())
    assert turned.label == "hand.frame + (0, 0, 0), turned"
    np.testing.assert_array_equal(turned.offset_by((1, 0, 0)).offset_pose[:3, 3], [0, 1, 0])
    assert hand.at((1, 0, 0)).offset_by((-1, 0, 0)) == hand.frame


def test_the_offset_of_the_parent_goes_into_the_pose(robot):
    hand = robot.add(RigidBody(0.1), at=robot.ground, name="hand")
    finger = robot.add(make_rod(), at=hand.at(quarter_turn_about_z()), pose=translation(0.1, 0, 0))
    assert finger.parent == hand.frame
    np.testing.assert_array_equal(finger.pose, quarter_turn_about_z() @ translation(0.1, 0, 0))


def test_a_robot_with_bodies_and_offsets_is_copied_whole(robot):
    hand = robot.add(RigidBody(0.1), at=robot.ground, joint=Revolute((0, 0, 1)), name="hand")
    robot.load(Wrench(hand.at((0.1, 0, 0)), force=(1, 0, 0)))
    for twin in (copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        assert twin.loads[0].frame == twin.part("hand").at((0.1, 0, 0)) != hand.at((0.1, 0, 0))
        twin.part("hand").joint.stiffness = 2
        assert hand.joint.stiffness == 0.0


def test_bad_bodies_and_joints_in_a_robot(robot):
    hand = robot.add(RigidBody(0.1), at=robot.ground, name="hand")
    other = Robot("other")
    stone = other.add(RigidBody(1), at=other.ground, name="stone")

    def refused(function, text):
        with pytest.raises(DescriptionError) as caught:
            function()
        assert text in str(caught.value)

    body, ground = RigidBody(1, name="palm"), robot.ground
    joint_wanted = "Part 'palm': Robot.add joint must be a joint such as Revolute(axis=(0, 0, 1)); got "
    refused(lambda: robot.add(body, at=ground, joint="revolute"), joint_wanted + "'revolute'.")
    refused(lambda: robot.add(body, at=ground, joint=Fixed), joint_wanted)
    refused(lambda: robot.add(body, at=ground, joint=(0, 0, 1)), joint_wanted)
    refused(lambda: robot.add(body, at=stone.frame), "Part 'palm': Robot.add at must be a frame of robot 'arm'; got")
    refused(lambda: robot.add(body, at=stone.at((1, 0, 0))), "'stone.frame + (1, 0, 0)' of another robot, 'other'.")
    refused(lambda: robot.add(body, at=hand), "got the part 'hand': did you mean its .frame?")
    refused(
        lambda: robot.add(Material(1e6, 1000), at=ground), "Robot.add part must be a Rod, a RigidBody, a Volume or an"
    )
    refused(lambda: hand.at((1, 2)), "hand.at pose must be a 4x4 homogeneous matrix or a position of 3 finite numbers")
    refused(lambda: hand.at(2 * np.eye(4)), "The last row of hand.at pose must be (0, 0, 0, 1)")
    refused(lambda: hand.frame.offset_by("up"), "hand.frame.offset_by pose must be a 4x4")
    refused(lambda: TipWrench(hand), "TipWrench.part must be a rod of the robot")
    assert robot.parts == (hand,)


def test_a_free_base_lets_the_first_part_float():
    material = ag.Material(young=1e6, density=1000)
    rod = ag.Rod(0.2, ag.Circle(0.01), material, ag.kirchhoff(2))
    robot = ag.Robot("eel", base="free")
    head, fixed = robot.add(rod, at=robot.ground), robot.add(rod, at=robot.ground)
    tail = robot.add(rod, at=head.tip)
    assert [type(part.joint) for part in (head, fixed, tail)] == [ag.Free, ag.Fixed, ag.Fixed]
    held = ag.Robot("held", base="free")
    assert isinstance(held.add(rod, at=held.ground, joint=ag.Fixed()).joint, ag.Fixed)
    with pytest.raises(ag.DescriptionError, match=r"Robot\.base must be 'fixed' or 'free'"):
        ag.Robot(base="floating")


@pytest.mark.parametrize("name", ["my arm", "2arm", "", "arm/left", None])
def test_a_name_is_checked_when_it_is_changed_too(name):
    robot = ag.Robot("arm")
    with pytest.raises(ag.DescriptionError, match=r"Robot\.name must be a name of letters"):
        ag.Robot(name)
    with pytest.raises(ag.DescriptionError, match=r"Robot\.name must be a name of letters"):
        robot.name = name
    robot.name = "left_arm"
    assert robot.name == "left_arm"
