"""Friction that holds keeps energy in its bristles."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import anguilla as ag

ALONG = 2 / 3 * 1e4


def swinging(part):
    """A ball of 0.1 kg pressed to a floor by 10 N, which swings along x on its bristle."""
    robot = ag.Robot("swing", gravity=(0, 0, 0))
    slide, place = ag.Prismatic((1, 0, 0)), (0, 0, 0.019)
    body = robot.add(ag.RigidBody.sphere(0.02, mass=0.1), at=robot.ground, joint=slide, pose=place, name="body")
    floor = robot.add(ag.HalfSpace(), at=robot.ground, name="floor") if part else ag.HalfSpace()
    return robot, robot.load(ag.Contact(body, floor, 1e4, friction=0.5, smooth=1e-12))


@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("dt", [1e-3, 1e-4, 1e-5])
def test_a_swing_on_a_bristle_gains_nothing(part, dt):
    """It was told to gain 48 % of its energy from nothing."""
    robot, load = swinging(part)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*from nothing")
        run = ag.simulate(robot, duration=0.05, dt=dt, start=([0.0], [0.01]))
    assert (run.quality.energy_error or 0.0) < 1e-2
    pressing = 0.5 * 1e4 * 1e-3**2
    force = run.contact_force(load)[:, 0]
    bent = run.energy["elastic"] - pressing
    np.testing.assert_allclose(bent, force**2 / (2 * ALONG), rtol=1e-6, atol=1e-11)
    if dt == 1e-5:
        np.testing.assert_allclose(bent, 0.5 * ALONG * run.q[:, 0] ** 2, atol=2e-8)
        np.testing.assert_allclose(run.energy["total"] - pressing, 0.5 * 0.1 * 0.01**2, rtol=0.02)


@pytest.mark.parametrize("part", [False, True])
def test_what_is_lost_in_sliding_is_the_work_of_friction(part):
    robot, _ = swinging(part)
    run = ag.simulate(robot, duration=0.005, dt=1e-4, start=([0.0], [10.0]))
    work = 5.0 * (run.q[-1, 0] - run.q[0, 0])
    assert run.energy["total"][0] - run.energy["total"][-1] == pytest.approx(work, rel=1e-6)
    assert run.energy["elastic"][-1] == pytest.approx(0.5 * 1e4 * 1e-3**2 + 5.0**2 / (2 * ALONG), rel=1e-6)


@pytest.mark.parametrize("part", [False, True])
def test_an_equilibrium_has_the_energy_of_its_bristles(part):
    robot, _ = swinging(part)
    robot.load(ag.Wrench(robot.part("body").frame, force=(3.0, 0, 0)))
    eq = ag.statics(robot)
    assert eq.energy["elastic"] == pytest.approx(0.5 * 1e4 * 1e-3**2 + 3.0**2 / (2 * ALONG), rel=1e-6)
