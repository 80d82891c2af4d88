"""The gripper: ball and box are carried by the fingers, do not creep, and slip with little friction."""

import numpy as np
import pytest

pytestmark = [pytest.mark.xdist_group("gripper"), pytest.mark.slow]
THINGS = ("ball", "box")


@pytest.fixture(scope="module")
def gripper(example):
    return example("gripper")


def held(gripper, run):
    """When the swing of the turn has died down, until it is put down."""
    p, until = gripper.module, gripper.module.lower(gripper.result.hold)[0]
    return np.flatnonzero((run.t > p.TWIST[1] + 2.2) & (run.t < until))


@pytest.mark.parametrize("thing", THINGS)
def test_it_is_lifted_turned_and_put_down(gripper, thing):
    p, run = gripper.module, gripper.result.runs[thing]
    frame, size = run.robot.part(thing).frame, p.THINGS[thing].size
    height, at = p.height(run, thing), held(gripper, run)
    assert abs(height[at[0]] - 0.5 * size - p.LIFT) < 0.04 * size  # the fingers raise it a little as they close
    turned = run.pose(frame)[at[0]]
    angle = np.arctan2(turned[1, 0], turned[0, 0])
    assert angle == pytest.approx(p.TURN, rel=0.02)  # some points slip a little while the palm turns
    assert np.hypot(*run.position(frame)[at[0], :2]) < 0.03 * size
    assert abs(height[-1] - 0.5 * size) < 0.01 * size  # on the table again
    assert all(run.contacts(run.robot.loads[k]).points[-1] == 0 for k in range(3))  # nobody holds it


@pytest.mark.parametrize("thing", THINGS)
def test_it_does_not_creep(gripper, thing):
    """Less than 1e-6 of its size in 10 s, in any direction; here it is held for 3 s."""
    p, run = gripper.module, gripper.result.runs[thing]
    at = held(gripper, run)
    place = run.position(run.robot.part(thing).frame)[at]
    assert np.ptp(place, axis=0).max() < 1e-6 * p.THINGS[thing].size * (run.t[at[-1]] - run.t[at[0]]) / 10.0


@pytest.mark.parametrize("thing", THINGS)
def test_the_fingers_carry_its_weight(gripper, thing):
    p, run, forces = gripper.module, gripper.result.runs[thing], gripper.result.forces[thing]
    total = forces.sum(axis=0)[held(gripper, run)[-1]]
    np.testing.assert_allclose(total, [0.0, 0.0, 9.81 * p.MASS], atol=1e-6 * 9.81 * p.MASS)


@pytest.mark.parametrize("thing", THINGS)
def test_a_tenth_of_the_friction_lets_it_slip(gripper, thing):
    p, run = gripper.module, gripper.result.slipping[thing]
    size = p.THINGS[thing].size
    assert p.height(run, thing).max() < 0.55 * size
    assert run.t[-1] > p.RAISE[1] and abs(p.height(run, thing)[-1] - 0.5 * size) < 0.01 * size


@pytest.mark.parametrize("thing", THINGS)
def test_half_the_step_gives_the_same_pose(gripper, thing):
    """By less than 0.1 % of its size, and of a radian."""
    p, run = gripper.module, gripper.result.runs[thing]
    fine = p.grasp(thing, duration=p.TWIST[1] + 2.0, dt=0.5 * p.STEP)
    at = np.argmin(np.abs(run.t - fine.t[-1]))
    coarse, fine = (one.pose(one.robot.part(thing).frame)[k] for one, k in ((run, at), (fine, -1)))
    assert np.abs(coarse[:3, 3] - fine[:3, 3]).max() < 1e-3 * p.THINGS[thing].size
    assert np.abs(coarse[:3, :3] - fine[:3, :3]).max() < 1e-3
