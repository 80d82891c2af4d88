"""Equilibria that Newton cannot reach from the rest shape: it has no stiffness there, or the load comes all at once."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

import anguilla as ag
from anguilla.lie import pose, rotation

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
    with pytest.warns(
        ag.AnguillaWarning, match="unstable: only symmetry"
    ):  # a dead moment does not keep it in its plane
        assert np.allclose(ag.statics(robot).position(rod.tip), 0.0, atol=1e-9)

    loose = ag.Robot("loose")
    loose.add(ag.Rod(1.0, ag.Circle(0.01), RUBBER, ag.kirchhoff(3)), at=loose.ground, joint=ag.Free())
    with pytest.raises(ag.SolverError, match=r"nothing holds rod\.x.*Attach it to the ground"):
        ag.statics(loose)


# Newton finds equilibria whether they are stable or not ---------------------------------------------------------------


def _tip_of_elastica(force: np.ndarray, stiffness: float) -> np.ndarray:
    """Tip of a cantilever of length 1 along x under a dead force, bent all to one side: by shooting from its tip."""

    def rates(_, y: np.ndarray) -> list[float]:
        c, s = np.cos(y[2]), np.sin(y[2])
        return [-c, -s, -y[3], (c * force[1] - s * force[0]) / stiffness]

    def back(angle: float) -> np.ndarray:
        return solve_ivp(rates, (0.0, 1.0), [0.0, 0.0, angle, 0.0], rtol=1e-10, atol=1e-12).y[:, -1]

    return -back(brentq(lambda angle: back(angle)[2], 0.5, 2.8, xtol=1e-12))[:2]


@pytest.mark.parametrize("factor", [1.5, 3.0])
def test_a_column_with_a_small_side_force_buckles_to_its_side(factor: float) -> None:
    """Beyond Euler's load there is also an unstable equilibrium next to straight, leaning against the side force."""
    robot = ag.Robot("column", gravity=(0, 0, 0))
    column = robot.add(ag.Rod(1.0, ag.Circle(0.002), RUBBER, ag.planar(9), intervals=30), at=robot.ground)
    stiffness = 1e6 * np.pi * 0.002**4 / 4
    force = factor * np.pi**2 / 4 * stiffness * np.array([-1.0, 1e-2])
    robot.load(ag.TipWrench(column, force=(*force, 0)))
    found = ag.statics(robot)
    assert np.allclose(found.position(column.tip)[:2], _tip_of_elastica(force, stiffness), atol=2e-5)
    assert "slid downhill" in found.status.message
    assert ag.stability(robot, found).stable


@pytest.mark.parametrize("tilt", [1.2, 1.5])
def test_what_leans_from_the_upright_falls_over(tilt: float) -> None:
    """A rod on a hinge ends below it, and a soft one in a clamp, too long to stand, on the side to which it leans."""
    up = pose(rotation((0, 0, 1), tilt))
    rod = ag.Rod(0.5, ag.Circle(0.005), RUBBER, ag.planar(6))
    hinged = ag.Robot("hinged", gravity=(0, -9.81, 0))
    part = hinged.add(rod, at=hinged.ground, joint=ag.Revolute((0, 0, 1)), pose=up)
    assert np.allclose(ag.statics(hinged).position(part.tip), (0, -0.5, 0), atol=1e-9)
    clamped = ag.Robot("clamped", gravity=(0, -9.81, 0))
    part = clamped.add(rod, at=clamped.ground, pose=up)
    found = ag.statics(clamped)
    assert found.position(part.tip)[0] > 0.05
    assert found.position(part.tip)[1] < -0.4
    assert ag.stability(clamped, found).stable


def test_a_chain_between_two_hooks_hangs_down() -> None:
    """The catenary; the same line upside down, an arch, is an equilibrium as well."""
    length, span = 1.0, 0.7
    robot = ag.Robot("chain", gravity=(0, -9.81, 0))
    line = ag.Rod(length, ag.Circle(0.002), RUBBER, ag.planar(14), stiffness=(0,) * 6)
    chain = robot.add(line, at=robot.ground, joint=ag.Revolute((0, 0, 1)))
    hook = robot.close(robot.ground, chain.tip, joint=ag.Revolute((0, 0, 1)), pose=(span, 0, 0))
    found = ag.statics(robot)
    a = brentq(lambda a: 2 * a * np.sinh(span / 2 / a) - length, 0.05, 5.0)
    assert -found.position(chain.section(length / 2))[1] == pytest.approx(a * (np.cosh(span / 2 / a) - 1), rel=5e-5)
    weight = 1070 * np.pi * 0.002**2 * 9.81
    assert np.linalg.norm(found.reaction(hook)[3:]) == pytest.approx(weight * np.hypot(a, length / 2), rel=5e-5)


@pytest.mark.parametrize(
    "strains", [ag.planar(12, stretch_modes=3), ag.extensible_kirchhoff(12)], ids=["plane", "space"]
)
def test_a_strip_pushed_together_buckles_though_it_could_be_squeezed(strains: ag.Strains) -> None:
    """Euler's strip between two clamps: span / l = 2 E / K - 1, force 16 K^2 EI / l^2, height k l / K."""
    robot = ag.Robot("strip", gravity=(0, 0, 0))
    strip = robot.add(ag.Rod(1.0, ag.Circle(0.001), RUBBER, strains), at=robot.ground)
    clamp = robot.close(robot.ground, strip.tip, pose=(0.9, 0, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)  # in the plane, rows out of it are redundant
        found = ag.statics(robot)
    m = brentq(lambda m: 2 * ellipe(m) / ellipk(m) - 1.9, 1e-6, 0.9)
    stiffness = 1e6 * np.pi * 0.001**4 / 4
    assert -found.reaction(clamp)[3] == pytest.approx(16 * ellipk(m) ** 2 * stiffness, rel=1e-4)
    height = np.linalg.norm(found.position(strip.section(0.5))[1:])
    assert height == pytest.approx(np.sqrt(m) / ellipk(m), rel=1e-4)


@pytest.mark.parametrize("strains", [ag.planar(6, stretch_modes=3), ag.reissner(5)], ids=["plane", "space"])
def test_a_rod_is_not_squeezed_to_a_point(strains: ag.Strains) -> None:
    """Straight, it can only be shortened towards its own root, which Hooke's law allows; from a bent start it is a ring.

    In space it may leave its line by itself, to a ring with a turn of twist: (EI + GJ) (2 pi)^2 / 2 l.
    """
    robot = ag.Robot("ring", gravity=(0, 0, 0))
    rod = robot.add(ag.Rod(1.0, ag.Circle(0.002), RUBBER, strains, name="hoop"), at=robot.ground)
    robot.close(robot.ground, rod.tip)
    start = np.zeros(robot.size)
    start[robot.coordinates().index("hoop.bend_z[0]")] = 2 * np.pi
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)
        try:  # what rounding does to the symmetry of the start decides
            found = ag.statics(robot)
        except ag.SolverError as error:
            assert "'hoop' would be squeezed to nothing" in str(error)
        else:
            bending = 1e6 * np.pi * 0.002**4 / 4
            assert found.energy["elastic"] == pytest.approx(2 * np.pi**2 * bending * (1 + 1 / 1.49), rel=5e-3)
            assert ag.stability(robot, found).stable
        assert ag.statics(robot, start=start).position(rod.section(0.5))[1] == pytest.approx(1 / np.pi, rel=1e-3)


def test_a_straight_column_stays_and_says_so() -> None:
    """Nothing tells it to which side to fall: `trace` finds where it could."""
    robot = ag.Robot("column", gravity=(0, 0, 0))
    column = robot.add(ag.Rod(1.0, ag.Circle(0.002), RUBBER, ag.planar(4)), at=robot.ground)
    robot.load(ag.TipWrench(column, force=(-3 * np.pi**2 / 4 * 1e6 * np.pi * 0.002**4 / 4, 0, 0)))
    with pytest.warns(ag.AnguillaWarning, match="'column' is unstable: only symmetry holds it there"):
        found = ag.statics(robot)
    assert np.array_equal(found.q, np.zeros(4))
    assert "unstable" in found.status.message


def test_a_start_that_was_chosen_is_kept() -> None:
    robot = ag.Robot("pendulum")
    body = ag.RigidBody(1.0, (0.01, 0.01, 0.01), com=(0, 0, 0.3))
    robot.add(body, at=robot.ground, joint=ag.Revolute((0, 1, 0)), name="link")
    found = ag.statics(robot, start=[0.2])
    assert found["link.angle"] == pytest.approx(0.0, abs=1e-9)
    assert "unstable" in found.status.message
