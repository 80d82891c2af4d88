"""Friction that holds is remembered: what cannot remember refuses it, with a word on what to do."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla.identification import Observer


def ball(part, **options):
    """A ball that slides along x on a floor that it is pressed to by 10 N, against a spring of 50 N/m."""
    robot = ag.Robot("ball", gravity=(0, 0, 0))
    slide = ag.Prismatic((1, 0, 0), stiffness=50.0)
    body = robot.add(ag.RigidBody.sphere(0.02, mass=0.1), at=robot.ground, joint=slide, pose=(0, 0, 0.019), name="ball")
    floor = robot.add(ag.HalfSpace(), at=robot.ground, name="floor") if part else ag.HalfSpace()
    load = robot.load(ag.Contact(body, floor, 1e4, smooth=1e-9, **options))
    robot.load(ag.Wrench(body.frame, force=lambda t: (t, 0, 0)))
    return robot, body, load


DOORS = {
    "simulate_explicit": lambda robot: ag.simulate_explicit(robot, duration=0.01, dt=1e-3),
    "trace": lambda robot: ag.trace(robot, factors=(0.0, 1.0)),
    "Observer": lambda robot: Observer(robot, dt=1e-3, markers={"mark": "ball"}),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("part", "kept"), [(False, {"friction": 0.5}), (True, {"friction": 0.5}), (True, {"rolling": 1e-3})]
)
def test_what_cannot_remember_refuses_friction_that_holds(door, part, kept):
    """It was dropped without a word: a ball went on sliding forever, and a branch followed a spring alone."""
    with pytest.raises(ag.AnguillaError, match=rf"{door} does not support friction that holds.*slip=1e-3"):
        DOORS[door](ball(part, **kept)[0])


@pytest.mark.parametrize("part", [False, True])
def test_explicit_motions_are_braked_with_a_slip(part):
    """x'' = -w^2 (x + d), with d the way that friction of 5 N presses the spring."""
    robot, _, _ = ball(part, friction=0.5, slip=1e-3)
    run = ag.simulate_explicit(robot, duration=0.01, dt=1e-3, start=([0.0], [1.0]))
    w, d = np.sqrt(500.0), 0.1
    np.testing.assert_allclose(run.v[-1, 0], np.cos(0.01 * w) - w * d * np.sin(0.01 * w), atol=1e-3)


def test_contacts_needs_a_robot():
    with pytest.raises(ag.AnguillaError, match=r"contacts\.robot must be a Robot"):
        ag.contacts("r")
