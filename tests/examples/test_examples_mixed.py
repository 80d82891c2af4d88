"""Rods and soft volumes together: the silicone gripper and the platform on flexible legs."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def gripper(example):
    return example("silicone_gripper")


@pytest.mark.xdist_group("silicone_gripper")
def test_air_closes_the_gripper_evenly(gripper):
    result = gripper.result
    assert np.all(np.diff(result.opening) < 0.0)
    assert result.opening[0] == pytest.approx(gripper.module.PALM, rel=0.01)
    assert result.opening[-1] < 0.5 * result.opening[0]
    tips = np.array([result.shapes[-1].volume(finger).position("tip") for finger in result.fingers])
    away = np.linalg.norm(tips[:, :2], axis=1)
    assert np.ptp(away) < 0.05 * away.mean()  # its mesh is not quite symmetric
    assert np.allclose(result.shapes[0].position(result.palm.frame)[:2], 0.0, atol=1e-4)


@pytest.mark.xdist_group("silicone_gripper")
def test_the_arm_carries_all_of_it(gripper):
    rest = gripper.result.shapes[0]
    arm = rest.robot.part("arm")
    below = rest.mass * 9.81
    assert np.linalg.norm(rest.wrench(arm, [0.0])[0, 3:]) == pytest.approx(below, rel=1e-5)


@pytest.mark.xdist_group("silicone_gripper")
def test_the_motion_bends_the_arm_and_closes_the_fingers(gripper):
    run, result = gripper.result.run, gripper.result
    aside = np.linalg.norm(run.position(result.palm.frame)[-1, :2])
    assert aside > 0.02
    tips = np.array([run.volume(finger).position("tip")[-1] for finger in result.fingers])
    assert np.linalg.norm(tips - tips.mean(axis=0), axis=1).mean() < 0.5 * gripper.module.PALM


@pytest.mark.xdist_group("soft_platform")
def test_a_soft_column_stiffens_the_platform(example):
    ran = example("soft_platform")
    p, sway = ran.module, ran.result.sway
    inertia = np.pi / 4.0 * 0.0006**4
    alone = 3 * 12 * p.STEEL.young * inertia / p.HEIGHT**3  # three beams whose ends do not turn
    assert p.FORCES[1] / sway["without"][1] == pytest.approx(alone, rel=0.03)  # the weight of the plate takes some
    column = 12 * p.SILICONE.young * np.pi / 4.0 * 0.015**4 / p.HEIGHT**3
    more = p.FORCES[1] / sway["with"][1] - p.FORCES[1] / sway["without"][1]
    assert 0.8 < more / column < 2.0  # coarse linear elements are too stiff
    assert ran.result.shift[1] > 2e-3


@pytest.mark.slow
@pytest.mark.xdist_group("silicone_grasp")
def test_the_silicone_gripper_lifts_the_ball(example):
    """Held by friction alone: the fingers carry its weight, it does not creep; with a tenth of the friction it is lost."""
    ran = example("silicone_grasp")
    p, result = ran.module, ran.result
    weight = 9.81 * p.MASS
    assert result.height[-1] > 0.02
    assert np.linalg.norm(result.force[-1, 3]) == 0.0  # the mat has lost it
    assert np.linalg.norm(result.force[-1].sum(axis=0) - [0, 0, weight]) < 0.05 * weight
    carried = sum(result.held.contacts(contact).force for contact in result.contacts)
    np.testing.assert_allclose(carried, [0, 0, weight], atol=1e-8)
    palm = result.run.robot.part("palm").frame
    away = np.linalg.norm(result.run.position(result.ball.frame) - result.run.position(palm), axis=1)
    assert abs(away[-1] - away[-40]) < 5e-5  # in 0.2 s
    slipped = p.main(0.1 * p.FRICTION, settle=False)
    assert slipped.height[-1] < result.height[-1] - 0.02


@pytest.mark.slow
@pytest.mark.xdist_group("soft_pinch")
def test_two_soft_fingers_lift_a_soft_ball(example):
    """Held by friction alone: the fingers carry its weight and push alike; with a tenth of the friction it stays below."""
    ran = example("soft_pinch")
    p, result = ran.module, ran.result
    weight = 9.81 * p.FOAM.density * result.run.robot.volumes[0].volume.mesh.volume
    assert result.height[-1] > 0.8 * p.RISE
    assert result.run.contacts(result.contacts[2]).points[-1] == 0  # it left the floor
    fingers = [-result.held.contacts(contact).force for contact in result.contacts[:2]]
    np.testing.assert_allclose(fingers[0] + fingers[1], [0, 0, weight], atol=1e-6 * weight)
    assert fingers[0][1] == pytest.approx(-fingers[1][1], rel=1e-6) and abs(fingers[0][1]) > 3 * weight
    slipped = p.main(0.1 * p.FRICTION, settle=False)
    assert slipped.height[-1] < 0.3 * result.height[-1]
