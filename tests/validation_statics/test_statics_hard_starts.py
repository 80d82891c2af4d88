"""Equilibria that Newton cannot reach from the rest shape: it has no stiffness there, or the load comes all at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import anguilla as ag

RUBBER = ag.Material(young=1e6, poisson=0.49, density=1070)


def _link() -> ag.RigidBody:
    return ag.RigidBody.box((0.5, 0.02, 0.02), mass=1.0, com=(0.25, 0, 0))


def test_a_level_pendulum_is_found_hanging() -> None:
    """Level, its weight has no stiffness at all."""
    robot = ag.Robot("pendulum")
    robot.add(_link(), at=robot.ground, joint=ag.Revolute((0, 1, 0)), name="link")
    assert ag.statics(robot)["link.angle"] == pytest.approx(np.pi / 2, abs=1e-9)


def test_a_chain_of_links_is_found_hanging() -> None:
    robot = ag.Robot("chain")
    first = robot.add(_link(), at=robot.ground, joint=ag.Universal((0, 1, 0), (0, 0, 1)))
    last = robot.add(_link(), at=first.at((0.5, 0, 0)), joint=ag.Revolute((0, 1, 0)))
    assert np.allclose(ag.statics(robot).position(last.at((0.5, 0, 0))), (0, 0, -1.0), atol=1e-9)


@pytest.mark.parametrize("strains", [ag.kirchhoff(4), ag.reissner(3)])
def test_a_hand_on_a_hinge_hangs_from_its_arm(strains: ag.Strains) -> None:
    """At rest the hand passes no moment to the arm, and hangs plumb under its hinge."""
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), RUBBER, strains), at=robot.ground)
    body = ag.RigidBody.box((0.06, 0.02, 0.02), mass=0.02, com=(0.03, 0, 0))
    hand = robot.add(body, at=arm.tip, joint=ag.Revolute((0, 1, 0)))
    found = ag.statics(robot)
    assert np.allclose(found.position(hand.at((0.03, 0, 0))) - found.position(hand.frame), (0, 0, -0.03), atol=1e-9)
    assert found.position(hand.frame)[2] < -0.05


def test_a_strong_magnet_turns_the_tip_into_the_field() -> None:
    """The bending moment is the same everywhere: EI theta / l = m B cos(theta) in a field across the rod."""
    robot = ag.Robot("catheter", gravity=(0, 0, 0))
    rod = robot.add(ag.Rod(0.05, ag.Circle(5e-4), RUBBER, ag.kirchhoff(4)), at=robot.ground)
    robot.load(ag.Magnet(rod.tip, moment=(1e-3, 0, 0), field=(0, 0.02, 0)))
    bending = 1e6 * np.pi * 5e-4**4 / 4
    angle = brentq(lambda x: bending * x / 0.05 - 2e-5 * np.cos(x), 0, np.pi / 2)
    place = 0.05 * np.array([np.sin(angle) / angle, (1 - np.cos(angle)) / angle, 0])
    assert np.allclose(ag.statics(robot).position(rod.tip), place, rtol=0, atol=1e-9)


def test_a_stretched_spring_bends_a_wire() -> None:
    """Euler's elastica with the force of the spring at its end: the balance of moments, integrated along the rod."""
    robot = ag.Robot("bow", gravity=(0, 0, 0))
    steel = ag.Material(young=2e11, poisson=0.3, density=7800)
    rod = robot.add(ag.Rod(0.3, ag.Circle(3e-4), steel, ag.planar(10), intervals=40), at=robot.ground)
    hook = np.array([0.09, 0.15, 0])
    bending = 2e11 * np.pi * 3e-4**4 / 4
    stiffness = 40 * bending / 0.3**3
    robot.load(ag.Spring(robot.ground.offset_by(hook), rod.tip, stiffness=stiffness, rest=0.0))
    found = ag.statics(robot)
    tip = found.position(rod.tip)
    force = stiffness * (hook - tip)
    root = tip[0] * force[1] - tip[1] * force[0]  # moment about z that the spring makes at the root
    assert found.wrench(rod, 0.0)[0, 2] == pytest.approx(root, rel=1e-5)
    bend = quad(lambda X: found.strain(rod, X)[0, 2] ** 2, 0, 0.3)[0]  # EI k^2 / 2 - F . t is the same all along
    heading = found.pose(rod.tip)[:3, 0]
    first = bending * found.strain(rod, 0.0)[0, 2] ** 2 / 2 + force @ (1, 0, 0)
    assert first == pytest.approx(force @ heading, rel=1e-4)
    assert bend > 1.0
    assert np.linalg.norm(tip - hook) < 0.1


def test_the_advice_fits_the_failure() -> None:
    robot = ag.Robot("spiral", gravity=(0, 0, 0))
    rod = robot.add(ag.Rod(1.0, ag.Circle(0.01), RUBBER, ag.kirchhoff(3)), at=robot.ground)
    robot.load(ag.TipWrench(rod, moment=(0, 0, 10 * np.pi * 1e6 * np.pi * 1e-8 / 4)))
    with pytest.raises(ag.SolverError, match=r"Rod\(\.\.\., intervals=32\)"):
        ag.statics(robot)
    rod.rod.intervals = 32
    assert np.allclose(ag.statics(robot).position(rod.tip), 0.0, atol=1e-9)

    loose = ag.Robot("loose")
    loose.add(ag.Rod(1.0, ag.Circle(0.01), RUBBER, ag.kirchhoff(3)), at=loose.ground, joint=ag.Free())
    with pytest.raises(ag.SolverError, match=r"nothing holds rod\.x.*Attach it to the ground"):
        ag.statics(loose)
