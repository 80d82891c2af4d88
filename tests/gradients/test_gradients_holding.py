"""Adjoint gradients through friction that holds, against differences of whole simulations."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.lie import exp3, pose

MASS, TILT, GOAL = 0.05, 0.2, np.array([0.01, 0.02, 0.03])
DESIGN = np.array([2e3, 0.5, MASS])  # stiffness, friction, mass


def block(p=DESIGN, parts=False, ball=False, turning=0.0, scales=False, rolling=0.0):
    """A block or a ball on a slope, fixed in space or a body that may turn, pushed aside by an input."""
    robot = ag.Robot("block")
    push = robot.input("push", "N", along=(1.0, 0.2, 0.0))
    slope, axes = ag.HalfSpace((np.sin(TILT), 0.0, np.cos(TILT))), exp3((0.0, TILT, 0.0))
    body = ag.RigidBody.sphere(0.02, mass=p[2]) if ball else ag.RigidBody.box((0.04, 0.03, 0.02), mass=p[2])
    height = 0.02 - 2.95e-4 if ball else 0.01 - 1.1e-4  # as deep as it sinks in
    free = robot.add(body, at=robot.ground, joint=ag.Free(), pose=pose(axes, axes @ np.array([0.0, 0.0, height])))
    robot.load(ag.Wrench(free.at((0.0, 0.003, 0.004)), force=push))
    if parts:
        turn = ag.Revolute((np.sin(TILT), 0, np.cos(TILT)), motion=lambda t: turning * t * t)
        slope = robot.add(slope, at=robot.ground, joint=turn)
    friction = (0.6 * p[1], p[1], 0.8 * p[1]) if scales else p[1]
    options = {"rolling": rolling} if rolling else {}
    robot.load(ag.Contact(free, slope, p[0], friction=friction, damping=1.0, smooth=1e-4, **options))
    return robot


def pushed(robot, size, more=0.0):
    """The robot after 60 steps."""
    push = lambda t: size * np.sin(40.0 * t) + more * np.cos(30.0 * t)
    return ag.simulate(robot, duration=0.03, dt=5e-4, inputs={"push": push}, events=[], smooth_start=False)


def reach(run):
    free = run.robot.parts[0]
    return ag.Reach(free.at((0.01, 0.0, 0.0)), GOAL)


@pytest.mark.parametrize("size", [0.05, 0.6], ids=["holds", "slips"])
@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"ball": True},
        {"parts": True},
        {"parts": True, "turning": 40.0},
        {"parts": True, "turning": 40.0, "scales": True},
        {"parts": True, "turning": 40.0, "ball": True, "rolling": 2e-3},
    ],
    ids=["box", "ball", "parts", "turns", "scales", "rolls"],
)
def test_bristles_carry_gradients_back(kind, size):
    run = pushed(block(**kind), size)
    found = ag.gradient(run, reach(run), design=(lambda p: block(p, **kind), DESIGN))
    value = lambda run: reach(run).terms(run)[0]
    h = 1e-5
    slope = (value(pushed(block(**kind), size, h)) - value(pushed(block(**kind), size, -h))) / (2.0 * h)
    assert found.inputs["push"] @ np.cos(30.0 * run.t) == pytest.approx(slope, rel=1e-6)
    for k, h in enumerate((1e-2, 1e-6, 1e-8)):
        step = h * np.eye(3)[k]
        slope = (
            value(pushed(block(DESIGN + step, **kind), size)) - value(pushed(block(DESIGN - step, **kind), size))
        ) / (2.0 * h)
        assert found.design[k] * DESIGN[k] == pytest.approx(slope * DESIGN[k], rel=2e-6, abs=1e-11)


@pytest.mark.parametrize("size", [0.05, 0.6], ids=["holds", "slips"])
@pytest.mark.parametrize(
    "kind", [{}, {"parts": True, "ball": True, "rolling": 2e-3, "scales": True}], ids=["obstacle", "parts"]
)
def test_bristles_carry_sensitivities_forth(kind, size):
    """Against differences of whole motions, and the gradient that goes the other way."""
    run = pushed(block(**kind), size)
    make = lambda p: block(p, **kind)
    found = ag.sensitivities(run, design=(make, DESIGN), inputs={"push": np.cos(30.0 * run.t)}, state=True)
    back = ag.gradient(run, reach(run), design=(make, DESIGN))
    cost = found.of(reach(run))
    np.testing.assert_allclose(cost[:3], back.design, rtol=1e-6, atol=1e-10)
    assert cost[3] == pytest.approx(back.inputs["push"] @ np.cos(30.0 * run.t), rel=1e-6)
    np.testing.assert_allclose(cost[4 : 4 + len(back.q)], back.q, rtol=1e-6, atol=1e-9)
    h = 1e-5
    plus, minus = (pushed(block(**kind), size, s * h) for s in (1, -1))
    slope = (plus.position(plus.robot.parts[0].frame)[-1] - minus.position(minus.robot.parts[0].frame)[-1]) / (2 * h)
    place = found.position(run.robot.parts[0].frame)[-1, :, 3]
    np.testing.assert_allclose(place, slope, rtol=1e-6, atol=1e-6 * np.abs(slope).max())


def test_equilibria_that_friction_holds_have_no_gradient():
    """They are one of many; the motion that leads there has one."""
    robot = block()
    eq = ag.statics(robot, inputs={"push": 0.0})
    for what in (lambda: ag.gradient(eq, reach(eq)), lambda: ag.sensitivities(eq, inputs=["push"])):
        with pytest.raises(ag.DescriptionError, match="equilibria that friction holds: they are one of many"):
            what()


def smoothly(t, start, end):
    s = np.clip((t - start) / (end - start), 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


GRASP = np.array([3e6, 0.8, 0.03])  # modulus of the fingers, friction, mass of the ball


def gripper(p=GRASP):
    """Two soft fingers on a palm that goes up, around a ball on a table."""
    robot = ag.Robot("gripper")
    soft = ag.Material(young=p[0], density=1100.0, poisson=0.5, damping=0.02)
    up = ag.Prismatic((0, 0, 1), motion=lambda t: 0.01 * smoothly(t, 0.1, 0.2))
    palm = robot.add(ag.RigidBody.box((0.12, 0.04, 0.01), mass=0.2), at=robot.ground, pose=(0, 0, 0.1), joint=up)
    ball = robot.add(
        ag.RigidBody.sphere(0.02, mass=p[2]), at=robot.ground, joint=ag.Free(), pose=(0, 0, 0.02), name="ball"
    )
    for k, side in enumerate((1.0, -1.0)):
        down, inwards = np.array([0.0, 0.0, -1.0]), np.array([-side, 0.0, 0.0])
        place = pose(np.stack([down, inwards, np.cross(down, inwards)], axis=1), (side * 0.0265, 0.0, 0.0))
        finger = robot.add(ag.Rod(0.08, ag.Circle(0.006), soft, ag.kirchhoff(2)), at=palm.frame, pose=place)
        robot.actuate(f"tendon{k}", ag.Tendon(finger, ag.parallel(y=0.004)))
        robot.load(ag.Contact(finger, ball, 2e5, friction=p[1], damping=2.0))
    robot.load(ag.Contact(ball, ag.HalfSpace(), 2e3, friction=0.5, damping=2.0, smooth=1e-4))
    return robot


def grasp(robot, factor=1.0):
    """The fingers close around the ball and lift it."""
    start = np.zeros(robot.size)
    start[3] = -(GRASP[2] * 9.81 / 2e3 + 5e-5)
    pull = lambda t: factor * 6.0 * smoothly(t, 0.0, 0.08)
    options = {"events": [], "smooth_start": False, "tolerance": 1e-11}
    return ag.simulate(
        robot, duration=0.16, dt=5e-4, start=start, inputs=dict.fromkeys(("tendon0", "tendon1"), pull), **options
    )


def height(run):
    """Square of the distance from a place right above."""
    return ag.Reach(run.robot.part("ball").frame, (0.0, 0.0, 0.1))


def by_differences(make, h=1e-5):
    high, low = (height(run).terms(run)[0] for run in (make(h), make(-h)))
    return (high - low) / (2.0 * h)


def test_the_height_of_what_is_grasped_by_tensions():
    run = grasp(gripper())
    assert run.position(run.robot.part("ball").frame)[-1, 2] > 0.026  # it is lifted off the table
    found = ag.gradient(run, height(run)).inputs
    pull = 6.0 * smoothly(run.t, 0.0, 0.08)
    slope = by_differences(lambda h: grasp(gripper(), 1.0 + h))
    assert (found["tendon0"] + found["tendon1"]) @ pull == pytest.approx(slope, rel=1e-6)


@pytest.mark.slow
def test_the_height_of_what_is_grasped_by_stiffness_friction_and_mass():
    run = grasp(gripper())
    found = ag.gradient(run, height(run), design=(gripper, GRASP)).design
    for k in range(3):
        slope = by_differences(lambda h, k=k: grasp(gripper(GRASP * (1.0 + h * np.eye(3)[k]))))
        assert found[k] * GRASP[k] == pytest.approx(slope, rel=1e-6)
