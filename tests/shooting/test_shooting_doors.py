"""The doors of a robot in shooting: closures, muscles and streams, and what is refused rather than left out."""

from dataclasses import dataclass

import numpy as np
import pytest
from shooting_cases import paper_rod

import anguilla as ag
from anguilla import lie, shooting
from anguilla.describe import Load, RodHandle


def two_legs(joint, force=(0.5, -0.3, 0.2), pose=None, modes=9):
    robot = ag.Robot("legs", gravity=(0, 0, 0))
    material = ag.Material(young=2e8, poisson=0.3, density=1000, damping=5e-3)
    legs = []
    for side in (-1, 1):
        place, angle = np.eye(4), np.pi / 2 - 0.3 * side
        place[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        place[0, 3] = 0.2 * side
        rod = ag.Rod(0.6, ag.Circle(0.005), material, ag.kirchhoff(modes), intervals=60)
        legs.append(robot.add(rod, at=robot.ground, pose=place))
    load = robot.load(ag.TipWrench(legs[0], force=force))
    closure = robot.close(legs[0].tip, legs[1].tip, joint=joint, pose=pose)
    return robot, legs, load, closure


TURN = np.array([[0.0, -1, 0, 0.02], [1, 0, 0, 0.01], [0, 0, 1, 0], [0, 0, 0, 1]])


@pytest.mark.parametrize(
    "joint",
    [ag.Fixed(), ag.Spherical(), ag.Revolute(axis=(0, 0, 1)), ag.Cylindrical(axis=(0, 0.2, 1)), ag.Planar((0, 0, 1))],
    ids=lambda j: type(j).__name__,
)
def test_closures_agree_with_the_core(joint):
    robot, legs, _, closure = two_legs(joint, pose=None if isinstance(joint, ag.Planar) else TURN)
    ours, core = shooting.statics(robot), ag.statics(robot, tolerance=1e-12)
    for leg in legs:
        assert np.linalg.norm(ours.position(leg.tip) - core.position(leg.tip)) < 1e-6 * 0.6
    assert np.allclose(ours.reaction(closure), core.reaction(closure), atol=1e-5)
    assert np.linalg.norm(core.reaction(closure)) > 0.05
    assert np.array_equal(ours.reaction(closure.name), ours.reaction(closure))


def test_a_platform_on_six_legs_agrees_with_the_core():
    robot = ag.Robot("platform", gravity=(0, 0, -9.81))
    material = ag.Material(young=2e8, poisson=0.3, density=1000)
    rod = ag.Rod(0.4, ag.Circle(0.003), material, ag.kirchhoff(9), intervals=50)
    up = np.array([[0.0, 0, -1], [0, 1, 0], [1, 0, 0]])
    legs, feet = [], []
    for k in range(6):
        low, high = (np.deg2rad(120 * (k // 2) + (1 if k % 2 else -1) * angle) for angle in (15, 40))
        legs.append(robot.add(rod, at=robot.ground, pose=lie.pose(up, (0.12 * np.cos(low), 0.12 * np.sin(low), 0))))
        feet.append(np.array([0.1 * np.cos(high), 0.1 * np.sin(high), 0.0]))
    place = lie.pose(up.T, None) @ lie.pose(None, -feet[0])
    plate = robot.add(ag.RigidBody(0.05, (1e-4, 1e-4, 2e-4)), at=legs[0].tip, pose=place)
    closures = [robot.close(plate.at(feet[k]), legs[k].tip, joint=ag.Spherical()) for k in range(1, 6)]
    robot.load(ag.Wrench(plate.frame, force=(0.3, 0.2, -0.5), moment=(0.01, 0.02, 0.03)))
    ours, core = shooting.statics(robot), ag.statics(robot, tolerance=1e-12)
    assert np.linalg.norm(ours.position(plate.frame) - core.position(plate.frame)) < 1e-6 * 0.4
    for closure in closures:
        assert np.allclose(ours.reaction(closure), core.reaction(closure), atol=1e-5)


def held_rod(pose):
    robot = ag.Robot(gravity=(0, 0, -9.81))
    material = ag.Material(young=1e9, poisson=0.3, density=1000, damping=0.01)
    rod = ag.Rod(0.4, ag.Circle(1e-3), material, ag.kirchhoff(12), rest=ag.ConstantCurvature(0, 0, 2.0), intervals=60)
    arm = robot.add(rod, at=robot.ground)
    return robot, arm, robot.close(robot.ground, arm.tip, pose=pose)


def moving_pose(t):
    g = np.eye(4)
    g[:3, :3] = [[np.cos(0.5), -np.sin(0.5), 0], [np.sin(0.5), np.cos(0.5), 0], [0, 0, 1]]
    g[:3, 3] = 0.36, 0.13 + 0.03 * np.sin(6 * t), 0.02
    return g


def test_a_pose_imposed_by_a_closure():
    robot, arm, closure = held_rod(moving_pose)
    ours, core = shooting.statics(robot, t=0.1), ag.statics(robot, t=0.1, tolerance=1e-12)
    assert np.allclose(ours.pose(arm.tip), moving_pose(0.1), atol=1e-9)
    size = np.linalg.norm(ours.reaction(closure))
    assert np.allclose(ours.reaction(closure), core.reaction(closure), atol=1e-4 * size)
    # in motion the tip goes where it is told
    motion = shooting.simulate(robot, duration=0.1, dt=0.01, start=shooting.statics(robot))
    assert np.allclose(motion.pose(arm.tip)[-1], moving_pose(0.1), atol=1e-8)


@pytest.mark.slow
def test_a_straight_rod_is_pushed_together():
    # inextensible: it has to buckle on the way, and no small gap may be closed before
    robot = ag.Robot(gravity=(0, 0, 0))
    arm = robot.add(ag.Rod(0.4, ag.Circle(1e-3), ag.Material(1e9, 1000, 0.3), ag.kirchhoff(8)), at=robot.ground)
    goal = np.eye(4)
    goal[:3, 3] = 0.2, 0.0, 0.01
    shape = shooting.statics(robot, ties=[shooting.Hold(arm.tip, goal)], shoots=5, intervals=30)
    assert np.allclose(shape.pose(arm.tip), goal, atol=1e-9)
    line = shape.centerline(arm, 400)
    assert np.sum(np.linalg.norm(np.diff(line, axis=0), axis=1)) == pytest.approx(0.4, rel=1e-4)


def test_loops_in_motion_agree_with_the_core():
    robot, legs, load, closure = two_legs(ag.Revolute(axis=(0, 0, 1)), modes=5)
    held, core_held = shooting.statics(robot, shoots=2, intervals=12), ag.statics(robot)
    load.force = lambda t: (0.5 * np.cos(12 * t), -0.3, 0.2 * np.cos(9 * t))
    core = ag.simulate(robot, duration=0.2, dt=0.001, start=core_held, every=10)
    errors = []
    for dt in (0.01, 0.005):
        ours = shooting.simulate(robot, duration=0.2, dt=dt, start=held, shoots=2, intervals=12, every=round(0.01 / dt))
        errors.append(np.max(np.linalg.norm(ours.position(legs[0].tip) - core.position(legs[0].tip), axis=1)))
    assert errors[1] < 1e-4 and errors[0] > 3.0 * errors[1], errors
    gap = ours.position(legs[0].tip) - ours.position(legs[1].tip)
    assert np.max(np.abs(gap)) < 1e-9
    size = np.max(np.abs(core.reaction(closure)))
    assert np.max(np.abs(ours.reaction(closure)[2:] - core.reaction(closure)[2:])) < 0.05 * size


def muscled(gain=(0.0, 0.3, 0.2, 0, 0, 0)):
    robot = ag.Robot("muscled", gravity=(0, 0, -9.81))
    material = ag.Material(young=1e6, poisson=0.4, density=1000, damping=0.02)
    rod = ag.Rod(
        0.5, ag.Circle(0.02), material, ag.kirchhoff(9), rest=ag.ConstantCurvature(0.2, 0.4, -0.3), intervals=90
    )
    arm = robot.add(rod, at=robot.ground)
    goal = lambda X, t: (0.0, 2 * np.sin(8 * t + 4 * X), 1.0 + X)
    robot.load(ag.Muscle(arm, moment=(0.01, 0.02, -0.03), gain=gain, curvature=goal))
    return robot, arm


def test_muscles_agree_with_the_core():
    robot, arm = muscled()
    ours, core = shooting.statics(robot, t=0.3), ag.statics(robot, t=0.3)
    assert np.linalg.norm(ours.position(arm.tip) - core.position(arm.tip)) < 1e-8 * 0.5
    assert np.allclose(ours.wrench(arm, [0.1]), core.wrench(arm, [0.1]), atol=1e-7)
    core = ag.simulate(robot, duration=0.2, dt=0.001, every=10, method=ag.Newmark())
    errors = []
    for dt in (0.01, 0.005):
        ours = shooting.simulate(robot, duration=0.2, dt=dt, shoots=2, intervals=12, every=round(0.01 / dt))
        errors.append(np.max(np.linalg.norm(ours.position(arm.tip) - core.position(arm.tip), axis=1)))
    assert errors[1] < 2e-3 * 0.5 and errors[0] > 3.0 * errors[1], errors
    # what acts already is not asked for again
    nothing = shooting.inverse_dynamics(robot, ours)
    assert np.max(np.abs(nothing.stress(arm))) < 1e-5 * np.max(np.abs(nothing.wrench(arm)))
    robot, _ = muscled(gain=(0.0, -1e3, 0, 0, 0, 0))
    with pytest.raises(ag.DescriptionError, match="must be positive"):
        shooting.statics(robot)


@dataclass(eq=False)
class Stream(Load):
    """A stand-in for the potential flow along a rod: a table of coefficients and a wake."""

    part: RodHandle
    current: tuple = (0.0, 0.0, 0.0)
    name: str | None = None
    kirchhoff, tail, is_constant, label = True, True, True, "stream"

    @property
    def frames(self):
        return (self.part.root,)

    def coefficients(self, X):
        X = np.atleast_1d(X)
        out = np.zeros((len(X), 19))
        out[:, 13], out[:, 14], out[:, 15] = 1.0, 3.0 + X, 2e-3
        return out


def test_a_stream_is_added_inertia_with_a_wake():
    answers = []
    for described in (True, False):
        robot = ag.Robot(gravity=(0, 0, 0))
        material = ag.Material(young=1e6, poisson=0.4, density=1000)
        rod = robot.add(
            ag.Rod(1.0, ag.Ellipse(0.04, 0.06), material, ag.kirchhoff(4)), at=robot.ground, joint=ag.Free()
        )
        robot.load(ag.TipWrench(rod, force=lambda t: (0.3, np.sin(5 * t), 0.5), moment=(0.01, 0, 0)))
        added = {rod: lambda X: np.stack([0 * X + 2e-3, 0 * X, 0 * X, 0 * X, 0 * X + 1, 3 + X], axis=1)}
        if described:
            robot.load(Stream(rod))
        options = {} if described else {"added": added}
        motion = shooting.simulate(robot, duration=0.4, dt=0.02, shoots=2, intervals=12, **options)
        answers.append(motion.position(rod.tip))
    assert np.allclose(*answers, atol=1e-13)
    robot = ag.Robot()
    rod = robot.add(paper_rod(), at=robot.ground)
    robot.load(Stream(rod, current=(1.0, 0, 0)))
    with pytest.raises(ag.DescriptionError, match="still water"):
        shooting.statics(robot)


def test_what_is_not_known_is_refused():
    def arm():
        robot = ag.Robot()
        return robot, robot.add(paper_rod(), at=robot.ground)

    robot, rod = arm()
    robot.actuate("line", ag.Tendon(rod, ag.parallel(y=0.01), by="length"))
    with pytest.raises(ag.DescriptionError, match="'line' is given by its length"):
        shooting.statics(robot)
    robot, rod = arm()
    robot.actuate("line", ag.Tendon(rod, ag.parallel(y=0.01), friction=0.1))
    with pytest.raises(ag.DescriptionError, match="has friction"):
        shooting.statics(robot)
    robot, rod = arm()
    robot.actuate("line", ag.Tendon([robot.ground.offset_by((0.0, 0.1, 0.0)), rod], ag.parallel(y=0.01)))
    with pytest.raises(ag.DescriptionError, match="through the air"):
        shooting.simulate(robot, duration=0.1, dt=0.1)
    robot, rod = arm()
    robot.load(ag.Spring(robot.ground, rod.tip, stiffness=1.0))
    with pytest.raises(ag.DescriptionError, match="got Spring"):
        shooting.statics(robot)
    robot, rod = arm()
    robot.constrain(ag.no_slip(rod.tip, (0, 1, 0)))
    with pytest.raises(ag.DescriptionError, match="does not support constraints on velocities"):
        shooting.statics(robot)
    robot, rod = arm()
    robot.close(robot.ground, rod.tip, joint=ag.Universal((0, 1, 0), (0, 0, 1)))
    with pytest.raises(ag.DescriptionError, match="The joint of a loop"):
        shooting.statics(robot)
    robot, _ = muscled()
    with pytest.raises(ag.DescriptionError, match="got Muscle"):
        shooting.strain_form(robot)
    hinged = ag.Robot()
    rod = hinged.add(paper_rod(), at=hinged.ground, joint=ag.Revolute(axis=(0, 0, 1), stiffness=10.0))
    with pytest.raises(ag.DescriptionError, match="inverse dynamics by shooting is for"):
        shooting.inverse_dynamics(hinged, {})


def test_an_imposed_shape_is_refused_not_left_out():
    """The strains are unknowns here: before, the rod stayed straight without a word."""
    robot = ag.Robot("eel", gravity=(0, 0, 0))
    bend = ag.StrainOffset(3.0, ramp=None)
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(3e6, 1100), shape=bend), at=robot.ground)
    with pytest.raises(ag.DescriptionError, match="prescribed shape"):
        shooting.statics(robot)
    with pytest.raises(ag.DescriptionError, match="prescribed shape"):
        shooting.simulate(robot, duration=0.1, dt=0.01)
    with pytest.raises(ag.DescriptionError, match="prescribed shape"):
        shooting.strain_form(robot)
    given = shooting.inverse_statics(robot, {rod: lambda X: np.tile([0, 0, 3.0, 1, 0, 0], (len(X), 1))})
    np.testing.assert_allclose(given.stress(rod)[:, 2], -3.0 * 3e6 * np.pi * 0.01**4 / 4, rtol=1e-9)


def test_strains_of_inverse_dynamics_come_by_rod():
    robot = ag.Robot("arm")
    robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(3e6, 1100), ag.planar(2)), at=robot.ground)
    with pytest.raises(ag.DescriptionError, match="dictionary from rods"):
        shooting.inverse_dynamics(robot, ag.simulate(robot, duration=0.02, dt=0.01))


# A model at the door --------------------------------------------------------------------------------------------------


def _pulled():
    robot = ag.Robot("arm", gravity=(0, -9.81, 0))
    material = ag.Material(young=1e7, poisson=0.3, density=1000, damping=5e-3)
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.005), material, ag.kirchhoff(3)), at=robot.ground, name="arm")
    robot.load(ag.TipWrench(arm, force=lambda t: (0.0, 0.0, 0.05)))
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.003)))
    return robot, arm


QUICK = {"shoots": 4, "intervals": 20}
DOORS = {
    "statics": lambda robot, arm: shooting.statics(robot, inputs={"pull": 0.5}, **QUICK).position(arm.tip),
    "a tie": lambda robot, arm: shooting.statics(
        robot, ties=[shooting.Hold(arm.tip, ag.statics(robot, inputs={"pull": 0.1}).pose(arm.tip))], **QUICK
    ).position(arm.tip),
    "stress": lambda robot, arm: shooting.statics(
        robot, stress={arm: lambda X, t: np.full((len(X), 6), 1e-3)}, **QUICK
    ).position(arm.tip),
    "simulate": lambda robot, arm: shooting.simulate(robot, duration=0.06, dt=0.02, **QUICK).position(arm.tip),
    "a start": lambda robot, arm: shooting.simulate(
        robot, duration=0.04, dt=0.02, start=ag.statics(robot), **QUICK
    ).position(arm.tip),
    "inverse statics": lambda robot, arm: shooting.inverse_statics(
        robot, {arm: lambda X: np.tile([0, 0, 1.0, 1, 0, 0], (len(X), 1))}, intervals=20
    ).stress(arm),
    "inverse dynamics": lambda robot, arm: shooting.inverse_dynamics(
        robot, shooting.statics(robot, **QUICK)
    ).wrench(arm),
    "strain form": lambda robot, arm: shooting.strain_form(robot, inputs={"pull": 0.2}, intervals=20).position,
    "critical step": lambda robot, arm: shooting.critical_step(robot),
}  # fmt: skip


@pytest.mark.parametrize("ask", DOORS.values(), ids=DOORS)
def test_a_model_serves_like_its_robot(ask):
    robot, arm = _pulled()
    np.testing.assert_array_equal(ask(ag.Model(robot), arm), ask(robot, arm))


def test_a_model_stays_what_it_was_when_its_robot_changes():
    robot, arm = _pulled()
    model, before = ag.Model(robot), shooting.statics(robot, **QUICK)
    arm.rod.material.young = 2e7
    after, kept = shooting.statics(robot, **QUICK), shooting.statics(model, **QUICK)
    np.testing.assert_array_equal(kept.position(model.robot.part("arm").tip), before.position(arm.tip))
    assert np.linalg.norm(after.position(arm.tip) - before.position(arm.tip)) > 1e-3
    with pytest.raises(ag.DescriptionError, match="another robot"):  # its frames are not those of then
        kept.position(arm.tip)


@pytest.mark.parametrize("ask", [shooting.statics, shooting.critical_step, shooting.strain_form])
def test_what_is_no_robot_is_refused(ask):
    with pytest.raises(ag.DescriptionError, match="robot must be a Robot"):
        ask("arm")
