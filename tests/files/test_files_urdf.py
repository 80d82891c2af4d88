"""URDF: the motion of an imported arm is that of the equations written by hand; odd files are refused."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import anguilla as ag
from anguilla.files import FileError, add_urdf, read_file, read_urdf

LINK = """<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{child}_joint" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{at}" rpy="{rpy}"/><axis xyz="{axis}"/></joint>"""


def joint(child, kind, parent, at="0 0 0"):
    return JOINT.format(child=child, kind=kind, parent=parent, at=at, rpy="0 0 0", axis="0 0 1")


def robot_xml(*elements):
    return f'<?xml version="1.0"?><robot name="test">{"".join(elements)}</robot>'


def write(tmp_path, text):
    path = tmp_path / "test.urdf"
    path.write_text(text)
    return path


def test_a_compound_pendulum_falls_as_it_should(tmp_path):
    m, d, i = 0.7, 0.2, 0.003
    text = robot_xml(
        '<link name="world"/>',
        LINK.format(name="bob", com=f"{d} 0 0", mass=m, i=i),
        JOINT.format(child="bob", kind="continuous", parent="world", at="0.1 0.2 0.3", rpy="0 0 0", axis="0 1 0"),
    )
    robot = read_urdf(write(tmp_path, text))
    run = ag.simulate(robot, duration=1.0, dt=1e-3, method="midpoint")
    # about +y the bob falls towards -z: (i + m d^2) theta'' = m g d cos(theta)
    exact = solve_ivp(
        lambda t, s: (s[1], m * 9.81 * d * np.cos(s[0]) / (i + m * d**2)),
        (0, 1),
        (0, 0),
        t_eval=run.t,
        rtol=1e-10,
        atol=1e-12,
    ).y[0]
    assert np.abs(run["bob.angle"] - exact).max() < 2e-4
    tip = run.position(robot.part("bob").frame)[-1]
    np.testing.assert_allclose(tip, (0.1, 0.2, 0.3), atol=1e-12)


def test_poses_follow_fixed_axis_angles_and_massless_links_are_frames(tmp_path):
    text = robot_xml(
        '<link name="base"/>', '<link name="mid"/>', LINK.format(name="end", com="0 0 0", mass=1, i=1),
        JOINT.format(child="mid", kind="fixed", parent="base", at="1 0 0", rpy=f"0 0 {np.pi / 2}", axis="0 0 1"),
        JOINT.format(child="end", kind="prismatic", parent="mid", at="0 2 0", rpy=f"{np.pi / 2} 0 0", axis="0 0 1"),
    )  # fmt: skip
    robot = ag.Robot("r", gravity=(0, 0, 0))
    frames = add_urdf(robot, write(tmp_path, text), at=robot.ground, prefix="my_")
    assert set(frames) == {"my_base", "my_mid", "my_end"} and frames["my_mid"].is_ground
    run = ag.simulate(robot, duration=0.01, dt=0.01, start=([0.5], [0.0]))
    pose = run.pose(frames["my_end"])[0]
    # base -> (1, 0, 0), turned to x' = y; 2 along y' = -x; then turned about x': z'' = -y' = x; slide 0.5 along it
    np.testing.assert_allclose(pose[:3, 3], (1 - 2 + 0.5, 0, 0), atol=1e-12)


def test_inertia_is_turned_with_its_origin(tmp_path):
    link = """<link name="a"><inertial><origin xyz="0 0 0" rpy="0 0 1.5707963267948966"/><mass value="1"/>
    <inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    body = read_urdf(write(tmp_path, robot_xml(link))).part("a").body
    np.testing.assert_allclose(body.inertia_matrix, np.diag([2.0, 1.0, 2.5]), atol=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<!DOCTYPE robot [<!ENTITY a "b">]><robot name="x"/>', "document type"),
        ("<robot><link></robot>", "not XML"),
        ("<sdf/>", "<sdf>"),
        (robot_xml(), "0 root links"),
        (robot_xml('<link name="a"/><link name="b"/>'), "2 root links"),
        (robot_xml('<link name="a"/><link name="b"/>', joint("b", "hinge", "a")), "'hinge'"),
        (robot_xml('<link name="a"/><link name="b"/>', joint("b", "revolute", "a")), "no mass"),
        (robot_xml('<link name="a"/>', joint("c", "fixed", "a")), "'c'"),
        (robot_xml('<link name="a"/><link name="b"/>', joint("b", "fixed", "z")), "hang on no root"),
        (robot_xml('<link name="a"/><link name="b"/>', joint("b", "fixed", "a", at="0 nan 0")), "3 numbers"),
        (robot_xml(LINK.format(name="a", com="0 0 0", mass=-1, i=1)), "RigidBody.mass"),
    ],
)  # fmt: skip
def test_odd_files_are_refused_with_a_reason(text, words, tmp_path):
    with pytest.raises(FileError) as caught:
        read_file(write(tmp_path, text))
    assert words in str(caught.value) and "test.urdf:" in str(caught.value)
