"""What statics answers is balanced, in units of the loads, and stable; or it is said, or refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import anguilla as ag
from anguilla.lie import pose, rotation
from anguilla.model.user import move
from anguilla.solve.statics.judging import contradiction

RUBBER = ag.Material(1e6, 1000, poisson=0.45)
STEEL = ag.Material(2e11, 7800, poisson=0.3)
UP = pose(rotation((0, 1, 0), -np.pi / 2))

# Stability without a potential ----------------------------------------------------------------------------------------


def _mast(extra: str) -> tuple[ag.Robot, ag.RodHandle, dict]:
    """A mast too heavy for itself, bent a little at rest, and beside it a rod with something that has no potential."""
    robot = ag.Robot("field")
    bent = ag.ConstantCurvature(bend_y=0.001, bend_z=0.002)
    mast = robot.add(
        ag.Rod(1.0, ag.Circle(0.012), RUBBER, ag.kirchhoff(4), bent), at=robot.ground, pose=UP, name="mast"
    )
    beside = robot.ground.offset_by((0.5, 0, 0))
    other = robot.add(ag.Rod(0.1, ag.Circle(0.01), RUBBER, ag.kirchhoff(2)), at=beside, name="other")
    inputs: dict = {}
    if extra == "follower":
        robot.load(ag.TipWrench(other, force=(0, 1e-3, 0), follower=True))
    elif extra == "moment":
        robot.load(ag.TipWrench(other, moment=(1e-7, 0, 0)))
    elif extra == "twist":
        robot.constrain(ag.TwistConstraint(other.tip, (1, 0, 0, 0, 0, 0)))
    else:
        friction = {"friction": 0.1} if extra == "friction" else {}
        by = {"by": "length"} if extra in ("slack", "taut") else {}
        robot.actuate("line", ag.Tendon(other, ag.parallel(y=0.005), **friction, **by))
        inputs = {"line": {"slack": 0.2, "taut": 0.099, "friction": 0.1}[extra]}
    return robot, mast, inputs


@pytest.mark.parametrize("extra", ["follower", "moment", "twist", "slack", "taut", "friction"])
def test_a_mast_too_heavy_for_itself_falls_whatever_stands_beside_it(extra: str) -> None:
    robot, mast, inputs = _mast(extra)
    eq = ag.statics(robot, inputs=inputs)
    assert eq.position(mast.tip)[2] == pytest.approx(-0.8453, abs=1e-3)
    alone = ag.Robot("alone")
    part = alone.add(mast.rod, at=alone.ground, pose=UP)
    tip = ag.statics(alone).position(part.tip)
    assert np.allclose(eq.position(mast.tip), tip, atol=1e-8)


@pytest.mark.parametrize("extra", ["follower", "taut"])
def test_a_chosen_start_stays_upright_and_says_so(extra: str) -> None:
    robot, mast, inputs = _mast(extra)
    eq = ag.statics(robot, inputs=inputs, start=np.zeros(robot.size))
    assert eq.position(mast.tip)[2] > 0.9
    assert "unstable" in eq.status.message


@pytest.mark.parametrize(("load", "stays"), [(0.95, True), (1.05, False)])
def test_a_column_beside_a_follower_load_at_eulers_load(load: float, stays: bool) -> None:
    """The judgement changes where Euler says: pi^2 EI / (4 l^2)."""
    robot = ag.Robot("column", gravity=(0, 0, 0))
    column = robot.add(ag.Rod(1.0, ag.Circle(0.002), RUBBER, ag.planar(5)), at=robot.ground)
    other = robot.add(ag.Rod(0.3, ag.Circle(0.02), STEEL, ag.planar(2)), at=robot.ground)
    robot.load(ag.TipWrench(other, force=(0, 1.0, 0), follower=True))
    critical = np.pi**2 / 4 * 1e6 * np.pi * 0.002**4 / 4
    robot.load(ag.TipWrench(column, force=(-load * critical, 0, 0)))
    assert ("unstable" not in ag.statics(robot, start=np.zeros(robot.size)).status.message) == stays


@pytest.mark.parametrize(("load", "stays"), [(19.0, True), (21.5, False)])
def test_becks_column_flutters_above_its_load(load: float, stays: bool) -> None:
    """A thrust along the tip of a cantilever: no divergence, flutter above 20.05 EI / l^2."""
    robot = ag.Robot("beck", gravity=(0, 0, 0))
    material = ag.Material(1e6, 1000, poisson=0.45, damping=1e-7)
    rod = robot.add(ag.Rod(1.0, ag.Circle(0.01), material, ag.planar(8), intervals=20), at=robot.ground)
    robot.load(ag.TipWrench(rod, force=(-load * 1e6 * np.pi * 0.01**4 / 4, 0, 0), follower=True))
    if stays:
        assert "unstable" not in ag.statics(robot).status.message
    else:
        with pytest.warns(ag.AnguillaWarning, match="flutter"):
            assert "flutter" in ag.statics(robot).status.message


def _in_a_stream(speed: float, damping: float = 0.0) -> ag.Robot:
    """A rod on a soft hinge in a stream that comes from its tip: elongated-body theory feeds its swing."""
    robot = ag.Robot("weathervane", gravity=(0, 0, 0))
    material = ag.Material(2e6, 1000, poisson=0.5, damping=damping)
    hinge = ag.Revolute(axis=(0, 0, 1), stiffness=0.02)
    rod = robot.add(ag.Rod(0.15, ag.Circle(0.007), material, ag.planar(2)), at=robot.ground, joint=hinge)
    robot.load(ag.Lighthill(rod, density=1000, current=(-speed, 0, 0)))
    return robot


def test_a_stream_that_feeds_a_vibration_is_said() -> None:
    """The stiffness is positive, but not the damping: `modes` solves the same motion by another way."""
    robot = _in_a_stream(0.3)
    with pytest.warns(ag.AnguillaWarning, match=r"flutter.*ag\.modes"):
        eq = ag.statics(robot)
    found = ag.modes(robot, eq)
    assert np.min(found.frequencies) > 0.0
    assert np.min(found.damping) < -0.01
    still = ag.statics(_in_a_stream(0.0))
    assert "unstable" not in still.status.message


def test_a_vibration_that_light_damping_would_stop_is_in_the_message_only() -> None:
    """A vibration grows by less than a hundredth a radian, but much in the time of a slow wheel beside it."""
    robot = _in_a_stream(0.002)
    wheel = ag.RigidBody.sphere(0.03, mass=0.1)
    robot.add(wheel, at=robot.ground, joint=ag.Revolute(axis=(0, 0, 1), stiffness=1e-7))
    eq = ag.statics(robot)
    assert -0.01 < np.min(ag.modes(robot, eq).damping) < 0.0
    assert "no damping" in eq.status.message


def test_coordinates_of_an_equilibrium_with_a_taut_tendon_lead_back_to_it() -> None:
    """Newton starts from the tension that the shape needs; taken as slack, the tendon led to another branch."""
    robot, material = ag.Robot("two"), ag.Material(196600, 984.1, poisson=0.5)
    hinge = ag.Revolute(axis=(-0.5281, 0.09811, 0.8435), stiffness=0.6136)
    bends = ag.PiecewisePolynomial(3, degree=1)
    bent = ag.Strains(bend_y=bends, bend_z=bends, twist=1)
    first = robot.add(ag.Rod(0.2258, ag.Circle(0.01189), material, bent), at=robot.ground, joint=hinge)
    second = robot.add(ag.Rod(0.2057, ag.Circle(0.01189), material, ag.universal(3)), at=first.tip)
    robot.actuate("line", ag.Tendon(first, ag.parallel(z=0.009512), by="length"))
    robot.actuate("pull", ag.Tendon(second, ag.helical(radius=0.009512, pitch=0.3511)))
    robot.load(ag.Wrench(second.tip, moment=(0, 0, 0.0005535)))
    inputs = {"line": 0.223566, "pull": 0.1665}
    eq = ag.statics(robot, inputs=inputs)
    assert eq.multipliers[0] > 1.0
    again = ag.statics(robot, inputs=inputs, start=eq.q)
    assert again.status.counters["iterations"] <= 3
    assert np.allclose(again.position(second.tip), eq.position(second.tip), atol=1e-9)


# Balance --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1e-3, 1e-2, 0.1, 1.0])
@pytest.mark.parametrize("strains", [ag.kirchhoff(2), ag.extensible_kirchhoff(2)])
def test_a_falling_bar_is_refused_at_any_size(length: float, strains: ag.Strains) -> None:
    robot = ag.Robot("bar", base="free")
    robot.add(ag.Rod(length, ag.Circle(length / 20), STEEL, strains), at=robot.ground)
    with pytest.raises(ag.SolverError, match="nothing holds"):
        ag.statics(robot)


def test_a_small_body_that_falls_beside_a_stiff_rod_is_refused() -> None:
    robot = ag.Robot("pair")
    heavy = robot.add(ag.Rod(1.0, ag.Circle(0.05), STEEL, ag.extensible_kirchhoff(2)), at=robot.ground)
    robot.load(ag.TipWrench(heavy, force=(0, 0, -1e4)))
    robot.add(ag.RigidBody.sphere(1e-3, mass=1e-6), at=robot.ground, joint=ag.Free(), name="speck")
    with pytest.raises(ag.SolverError):
        ag.statics(robot)


def test_a_speck_on_a_soft_joint_hangs_beside_a_stiff_rod() -> None:
    robot = ag.Robot("pair")
    heavy = robot.add(ag.Rod(1.0, ag.Circle(0.05), STEEL, ag.extensible_kirchhoff(2)), at=robot.ground)
    robot.load(ag.TipWrench(heavy, force=(0, 0, -1e4)))
    spring = ag.Prismatic((0, 0, 1), stiffness=1e-3)
    robot.add(ag.RigidBody.sphere(1e-3, mass=1e-6), at=robot.ground, joint=spring, name="speck")
    assert ag.statics(robot).q[-1] == pytest.approx(-1e-6 * 9.81 / 1e-3, rel=1e-9)


@pytest.mark.parametrize("force", [0.0, 3.0])
def test_a_free_rod_in_balance_is_found(force: float) -> None:
    """Pulled at both ends alike, or not at all: it stretches by F l / EA, wherever it is."""
    robot = ag.Robot("rod", base="free", gravity=(0, 0, 0))
    rod = robot.add(ag.Rod(0.1, ag.Circle(0.002), RUBBER, ag.extensible_kirchhoff(2)), at=robot.ground)
    robot.load(ag.Wrench(rod.tip, force=(force, 0, 0)))
    robot.load(ag.Wrench(rod.root, force=(-force, 0, 0)))
    with pytest.warns(ag.AnguillaWarning, match="not unique"):
        eq = ag.statics(robot)
    longer = 1 + force / (1e6 * np.pi * 0.002**2)
    assert np.linalg.norm(eq.position(rod.tip) - eq.position(rod.root)) == pytest.approx(0.1 * longer, rel=1e-9)


def test_a_jump_along_what_nothing_holds_is_no_convergence() -> None:
    """A body on a ball under a soft rod may spin about the plumb line: the tangent is singular, corrections are huge.

    After a huge one, the next looks as if they converged. Found by random robots.
    """
    robot = ag.Robot("bell")
    soft = ag.Material(2e5, 1000, poisson=0.4)
    rod = robot.add(
        ag.Rod(0.04, ag.Circle(0.0008), soft, ag.planar(3)), at=robot.ground, pose=pose(rotation((1, 0, 0), 1.2))
    )
    body = ag.RigidBody.box((0.03, 0.005, 0.005), mass=3e-4, com=(0.015, 0, 0))
    bell = robot.add(body, at=rod.tip, joint=ag.Spherical(), name="bell")
    robot.load(ag.TipWrench(rod, force=(8e-4, 6e-4, 2e-4)))
    with pytest.warns(ag.AnguillaWarning, match="not unique"):
        eq = ag.statics(robot)
    down = eq.position(bell.at((0.015, 0, 0))) - eq.position(bell.frame)
    assert np.allclose(down, (0, 0, -0.015), atol=1e-8)
    assert np.allclose(eq.system.residual(eq.q), 0.0, atol=1e-12)


# Ways to an equilibrium -----------------------------------------------------------------------------------------------


def hook(joint: ag.Joint, strains: ag.Strains) -> ag.Robot:
    """A bent rod that hangs from the ground."""
    robot = ag.Robot("hook")
    rubber = ag.Material(young=2e6, density=1100, poisson=0.5)
    rod = ag.Rod(0.3, ag.Circle(0.01), rubber, strains, rest=ag.ConstantCurvature(bend_y=4.0))
    robot.add(rod, at=robot.ground, joint=joint, name="rod")
    return robot


def test_what_may_turn_about_the_vertical_is_said_though_newton_converges() -> None:
    robot = hook(ag.Spherical(), ag.kirchhoff(3))
    with pytest.warns(ag.AnguillaWarning, match=r"not unique: nothing holds rod\.turn_x, rod\.turn_z") as said:
        eq = ag.statics(robot)
    assert len(said) == 1 and "(not unique: nothing holds rod.turn_x" in eq.status.message
    system, tip = eq.system, eq.position(robot.parts[0].tip)
    turned = move(system.tree, eq.q, np.array([*(eq.pose(robot.parts[0].root)[:3, :3].T @ (0, 0, 0.7)), *np.zeros(9)]))
    assert np.max(np.abs(system.residual(turned))) < 1e-9  # as much in balance, elsewhere
    with pytest.warns(ag.AnguillaWarning, match="not unique"):
        other = ag.statics(robot, start=turned)
    assert np.linalg.norm(other.position(robot.parts[0].tip) - tip) > 0.01


@pytest.mark.parametrize("joint", [ag.Revolute((0, 1, 0)), ag.Fixed()])
def test_what_holds_in_every_direction_is_quiet(joint: ag.Joint) -> None:
    assert "not unique" not in ag.statics(hook(joint, ag.kirchhoff(3))).status.message


def test_coordinates_that_move_nothing_are_no_other_equilibria() -> None:
    """Eight powers of x are so alike that some sum of them has no stiffness."""
    eq = ag.statics(hook(ag.Fixed(), ag.kirchhoff(8, basis="monomial")))
    assert "not unique" not in eq.status.message


def test_a_ball_comes_to_rest_on_a_floor_and_in_a_bowl() -> None:
    """Its depth carries its weight: k (depth - smooth / 2) = m g beyond the smooth beginning."""
    for obstacle, place in (
        (ag.HalfSpace((0, 0, 1), -0.3), (0, 0, -0.25)),
        (ag.Sphere((0.1, 0, 0), 0.5, inside=True), (0.1, 0, -0.45)),
    ):
        robot = ag.Robot("ball")
        ball = robot.add(ag.RigidBody.sphere(0.05, mass=0.2), at=robot.ground, joint=ag.Free(), name="ball")
        robot.load(ag.Contact(ball, obstacle, 1e4))
        with pytest.warns(ag.AnguillaWarning, match="not unique: nothing holds ball"):
            eq = ag.statics(robot)
        assert "came to rest" in eq.status.message
        assert np.allclose(eq.position(ball.frame), place, atol=6e-4)
        assert np.allclose(eq.system.residual(eq.q), 0.0, atol=1e-7)


def test_what_falls_for_ever_is_named() -> None:
    robot = ag.Robot("pair")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.kirchhoff(2)), at=robot.ground, name="arm")
    robot.add(ag.RigidBody.sphere(0.01, mass=0.01), at=arm.tip, joint=ag.Free(), name="apple")
    with pytest.raises(ag.SolverError, match="nothing holds 'apple' against its loads"):
        ag.statics(robot)


def test_tensions_that_do_not_settle_are_no_equilibrium(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tensions along a tendon that rubs are found by passes; too few of them were taken for enough."""
    import anguilla.solve.statics.finding as module

    robot = ag.Robot("arm")
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.kirchhoff(3)), at=robot.ground)
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=0.007), friction=0.4))
    eq = ag.statics(robot, inputs={"pull": 3.0})
    system = ag.Model(robot)
    loads, q = system.loads(0.0, {"pull": 3.0}).loads, eq.q.copy()
    loads.cables.factor[:] = 1.0
    assert "do not settle" in contradiction(system, loads, q, np.zeros(0))
    monkeypatch.setattr(module, "MOST_FRICTION", 2)
    assert module.LoadedNewton(system, 1e-10, 40)(loads, q, np.zeros(0)) != module.CONVERGED


@pytest.mark.parametrize("length", [1.0, 2.7e-3])
def test_constraints_that_contradict_each_other_are_refused_at_any_size(length: float) -> None:
    """A rod that is held straight at its ends, with a line along it that should be a little shorter."""
    robot = ag.Robot("bow", gravity=(0, 0, 0))
    section = ag.Circle(0.006 * length)
    rod = robot.add(ag.Rod(length, section, STEEL, ag.extensible_kirchhoff(1)), at=robot.ground, name="rod")
    robot.close(robot.ground, rod.tip, joint=ag.Spherical(), pose=pose(np.eye(3), (length, 0, 0)))
    robot.actuate("line", ag.Tendon(rod, ag.parallel(z=0.005 * length), by="length"))
    with pytest.raises(ag.SolverError, match="No equilibrium of 'bow'"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ag.statics(robot, inputs={"line": (1.0 - 4.8e-5) * length})


def test_a_closure_turned_over_is_seen() -> None:
    """Right angles between axes do not mind half a turn: a bar in a fixed closure the wrong way round has no gap."""
    robot = ag.Robot("bar", gravity=(0, 0, 0))
    bar = robot.add(ag.RigidBody.box((0.3, 0.02, 0.02), mass=0.1), at=robot.ground, joint=ag.Spherical(), name="bar")
    robot.close(robot.ground, bar.frame, joint=ag.Fixed(), name="clamp")
    system = ag.Model(robot)
    loads, lam = system.loads(0.0).loads, np.zeros(system.rows)
    assert contradiction(system, loads, np.zeros(3), lam) == ""
    assert "clamp is turned over" in contradiction(system, loads, np.array([0.0, 0.0, np.pi]), lam)
