"""Pictures of robots with bodies."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.view.plots import tip_history
from anguilla.view.scene import scene


@pytest.fixture(scope="module")
def run():
    robot = ag.Robot("mixed")
    spring = ag.Universal((0, 1, 0), (0, 0, 1), stiffness=(5.0, 5.0), damping=(0.1, 0.1))
    base = robot.add(ag.RigidBody.box((0.2, 0.1, 0.06), mass=1.0, com=(0.1, 0, 0)), at=robot.ground, joint=spring)
    material = ag.Material(young=1e6, poisson=0.4, density=1000.0, damping=0.01)
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.01), material, ag.kirchhoff(2)), at=base.at((0.2, 0, 0)), name="arm")
    hinge = ag.Revolute((0, 1, 0), stiffness=0.1)
    robot.add(ag.RigidBody.sphere(0.05, mass=0.1, com=(0.1, 0, 0)), at=arm.tip, joint=hinge, name="hand")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.008)))
    return ag.simulate(robot, duration=0.3, dt=0.01, inputs={"pull": 3.0})


def test_plots_and_page(run, tmp_path):
    ag.plot(run, tmp_path / "run.png")
    ag.plot(ag.statics(run.robot, start=run.q[-1]), tmp_path / "rest.png")
    ag.animate(run, tmp_path / "run.html")
    assert all((tmp_path / name).stat().st_size > 10_000 for name in ("run.png", "rest.png", "run.html"))


def test_bodies_are_drawn_where_they_are(run):
    tubes = {tube.name: tube for tube in scene(run).tubes}
    assert list(tubes) == ["arm", "body", "hand"]
    centre = run.position(run.robot.part("hand").at((0.1, 0.0, 0.0)))[-1]
    reach = np.linalg.norm(tubes["hand"].surface() - centre, axis=2)
    np.testing.assert_allclose(reach, 0.05, atol=1e-12)
    pose = run.pose(run.robot.part("body").at((0.1, 0.0, 0.0)))[-1]
    corners = (tubes["body"].surface() - pose[:3, 3]) @ pose[:3, :3]
    np.testing.assert_allclose(np.abs(corners).max(axis=(0, 1)), [0.1, 0.05, 0.03], atol=1e-12)


def test_path_of_a_frame_with_an_offset(run):
    frame = run.robot.part("hand").at((0.5, 0.0, 0.0))
    lines = [line.get_ydata() for line in tip_history(run, frame).axes[0].lines]
    drawn = np.array([line for line in lines if len(line) == len(run.t)])
    path = run.position(frame).T
    np.testing.assert_allclose(drawn / np.abs(drawn).max(), path / np.abs(path).max(), atol=1e-9)


def test_robot_of_bodies_alone(tmp_path):
    robot = ag.Robot("pendulum")
    robot.add(
        ag.RigidBody.box((0.2, 0.1, 0.1), mass=1.0, com=(0.1, 0, 0)), at=robot.ground, joint=ag.Revolute((0, 1, 0))
    )
    run = ag.simulate(robot, duration=0.1, dt=0.01)
    assert len(scene(run).tubes) == 1
    ag.animate(run, tmp_path / "run.html")
    ag.plot(run, tmp_path / "run.png")
