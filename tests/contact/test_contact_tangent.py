"""The law of contact against plain NumPy, and its exact tangent against differences."""

import numpy as np
import pytest
from contact_surfaces import ball

import anguilla as ag
from anguilla import lie
from anguilla.interact.kernels.table import DT
from anguilla.model.evaluate import residual, tangent
from anguilla.model.user import move

RUBBER = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=0.01)
REACH, SMOOTH, STIFF, DAMPING, FRICTION, SLIP = 0.02, 4e-3, 300.0, 2.0, 0.4, 0.05

# obstacles that the place (0.3, -0.2, 0.5) touches with a radius of 0.02, and the normal there
PLACE = np.array([0.3, -0.2, 0.5])
TILTED = np.array([0.6, -0.48, 0.64])
AXIS = np.array([2.0, 1.0, -1.0]) / np.sqrt(6.0)
ACROSS = np.cross(AXIS, [0.0, 0.6, 0.8]) / np.linalg.norm(np.cross(AXIS, [0.0, 0.6, 0.8]))
SIZE = (0.2, 0.3, 0.4)
TURN = lie.exp3([0.5, -0.8, 0.3])  # axes of boxes and cylinders
EDGE, CORNER = TURN @ [0.6, 0.8, 0.0], TURN @ [0.48, 0.64, 0.6]
INTO = np.cross(TILTED, AXIS) - 0.5 * TILTED  # away from PLACE: an end of a capsule touches


def obstacles(depth):
    """Obstacles of every kind that the ball around PLACE enters by a depth, with their normals."""
    gap = REACH - depth
    return {
        "floor": (ag.HalfSpace(2.0 * TILTED, TILTED @ PLACE - gap), TILTED),
        "sphere": (ag.Sphere(PLACE - (0.15 + gap) * TILTED, 0.15), TILTED),
        "hollow": (ag.Sphere(PLACE + (0.15 - gap) * TILTED, 0.15, inside=True), TILTED),
        "pillar": (ag.Pillar(PLACE - (0.1 + gap) * ACROSS + 0.7 * AXIS, -3.0 * AXIS, 0.1), ACROSS),
        "tube": (ag.Pillar(PLACE + (0.1 - gap) * ACROSS - 0.2 * AXIS, AXIS, 0.1, inside=True), ACROSS),
        "capsule": (ag.Capsule(PLACE - (0.1 + gap) * TILTED, PLACE - (0.1 + gap) * TILTED + 0.3 * INTO, 0.1), TILTED),
        "face": (ag.Box(PLACE - (0.1 + gap) * TURN[:, 0] + 0.02 * TURN[:, 1], SIZE, TURN), TURN[:, 0]),
        "edge": (ag.Box(PLACE - TURN @ [0.05, 0.1, 0.02] - (0.05 + gap) * EDGE, SIZE, TURN, round=0.05), EDGE),
        "corner": (ag.Box(PLACE - TURN @ [0.05, 0.1, 0.15] - (0.05 + gap) * CORNER, SIZE, TURN, round=0.05), CORNER),
        "room": (ag.Box(PLACE - TURN @ [0.05, 0.1, 0] + (-0.05 + gap) * EDGE, SIZE, TURN, inside=True, round=0.05), -EDGE),
        "end": (ag.Cylinder(PLACE - (0.1 + gap) * TURN[:, 0] + 0.03 * TURN[:, 1], TURN[:, 0], 0.1, 0.2), TURN[:, 0]),
        "rim": (ag.Cylinder(PLACE - TURN @ [0.1, 0.05, 0] - (0.05 + gap) * EDGE, TURN[:, 0], 0.1, 0.3, round=0.05), EDGE),
        "can": (ag.Cylinder(PLACE - TURN @ [0.1, 0.05, 0] - (0.05 - gap) * EDGE, TURN[:, 0], 0.1, 0.3, inside=True,
                            round=0.05), -EDGE),
    }  # fmt: skip


KINDS, GRIDS = sorted(obstacles(0.0)), ("mesh", "lumen", "hills")
BALL = None, *ball(0.15)
HILLS = 0.02 * np.sin(np.arange(10)[:, None] / 2.0) * np.cos(np.arange(9) / 3.0)


def ball_on(obstacle, **options):
    robot = ag.Robot("ball", gravity=(0.0, 0.0, 0.0))
    body = robot.add(ag.RigidBody.sphere(REACH, mass=0.3), at=robot.ground, joint=ag.Free(), name="ball")
    given = dict(damping=DAMPING, friction=FRICTION, smooth=SMOOTH, slip=SLIP) | options
    return robot, body, robot.load(ag.Contact(body, obstacle, STIFF, **given))


def state(robot, q, v):
    """A result that holds one state."""
    system = ag.Model(robot)
    return ag.Trajectory(robot, system, None, np.zeros(1), np.atleast_2d(q), np.atleast_2d(v))


def law(depth, n, v, w, friction=FRICTION):
    """Moment and force by the words of the description."""
    if depth <= 0.0:
        return np.zeros(6)
    x = depth / SMOOTH
    g = depth - SMOOTH / 2 if x > 1 else SMOOTH * (x**3 - x**4 / 2)
    rate = DAMPING * -(n @ v)
    f = STIFF * g * (1 + rate if rate > 0 else 1 / (1 - rate + rate**2))
    arm = -REACH * n
    u = v + np.cross(w, arm)
    u = u - n * (n @ u)
    force = f * n - friction * f * u / np.sqrt(u @ u + SLIP**2)
    return np.concatenate([np.cross(arm, force), force])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [-1e-3, 1e-3, 9e-3])
@pytest.mark.parametrize("leaving", [False, True])
def test_wrench_is_the_law(kind, depth, leaving):
    obstacle, n = obstacles(depth)[kind]
    robot, _, contact = ball_on(obstacle)
    v = np.array([0.3, 0.2, -0.4]) + (0.7 if leaving else -0.7) * n
    spin = np.array([5.0, -3.0, 8.0])
    start = np.concatenate([PLACE, np.zeros(3)])
    run = state(robot, start, np.concatenate([v, spin]))
    found = run.exerted(contact)
    np.testing.assert_allclose(run.depth(contact)[0, 0], depth, atol=3e-16)
    np.testing.assert_allclose(found.place[0, 0], PLACE, atol=1e-15)
    np.testing.assert_allclose(found.wrench[0, 0], law(depth, n, v, spin), atol=1e-12 * STIFF)
    assert (depth > 0.0) == bool(np.any(found.wrench[0]))


def differences(system, q, v, a, alpha, beta, h=2e-6):
    """Central differences of the residual with dv = alpha dq, da = beta dq, of fourth order."""
    out = np.zeros((system.size, system.size))
    for k in range(system.size):
        step = h * np.eye(system.size)[k]
        at = lambda s, step=step: system.residual(
            move(system.tree, q, s * step), v + s * alpha * step, a + s * beta * step
        )
        out[:, k] = (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * h)
    return out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [1.7e-3, 9e-3])
@pytest.mark.parametrize("leaving", [False, True])
@pytest.mark.parametrize("friction", [FRICTION, (0.2, 0.7, 0.5)], ids=["plain", "scales"])
def test_tangent_of_a_spinning_ball(kind, depth, leaving, friction):
    obstacle, n = obstacles(depth)[kind]
    robot, _, _ = ball_on(obstacle, friction=friction)
    system = ag.Model(robot)
    q = np.concatenate([PLACE, [0.4, -0.3, 0.6]])
    v = np.concatenate([np.array([0.3, 0.2, -0.4]) + (0.7 if leaving else -0.7) * n, [5.0, -3.0, 8.0]])
    a = np.array([0.3, 0.1, -0.5, 2.0, -1.0, 0.5])
    for alpha, beta in ((0.0, 0.0), (30.0, 0.0)):
        exact = system.tangent(q, v, a, alpha=alpha, beta=beta)
        np.testing.assert_allclose(exact, differences(system, q, v, a, alpha, beta), atol=1e-7 * np.abs(exact).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "friction, bent", [(FRICTION, 1e-6), (FRICTION, 1e-2), (0.0, 0.0)], ids=["held", "slips", "none"]
)
def test_tangent_of_a_ball_on_a_bristle(kind, friction, bent):
    """Over a step that starts with a bent bristle."""
    robot, _, _ = ball_on(obstacles(1.7e-3)[kind][0], friction=friction, slip=None)
    system = ag.Model(robot)
    loads, nothing, q = system.loads(0.0, {}).loads, np.zeros(0), np.concatenate([PLACE, [0.4, -0.3, 0.6]])
    v, a = np.random.default_rng(7).normal(size=(2, 6)) * [0.3, 0.3, 0.3, 5.0, 5.0, 5.0]
    loads.row[DT], loads.frames.state[0, 1, 3:6] = 1e-3, bent * np.array([0.6, -0.5, 0.8])

    def forces(x, alpha):
        out = np.zeros(6)
        residual(system.tree, system.workspace, loads, move(system.tree, q, x), v + alpha * x, a, nothing, out)
        return out

    for alpha in (0.0, 30.0):
        at = lambda x, alpha=alpha: forces(x, alpha)
        found = [(8.0 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / 24e-6 for e in 2e-6 * np.eye(6)]
        at(np.zeros(6))
        exact = np.zeros((6, 6))
        tangent(system.tree, system.workspace, loads, alpha, 0.0, nothing, exact)
        np.testing.assert_allclose(exact, np.transpose(found), atol=1e-7 * np.abs(exact).max())


@pytest.mark.parametrize("kind", [*KINDS, *GRIDS])
@pytest.mark.parametrize("friction", [0.5, (0.2, 0.7, 0.5)], ids=["plain", "scales"])
def test_tangent_of_a_rod(kind, friction):
    """A bent, twisted, stretched rod with a joint at its root, all along in contact or not."""
    robot = ag.Robot("rod", gravity=(0.0, 0.0, -9.81))
    post = robot.add(ag.RigidBody.sphere(0.03, mass=0.1), at=robot.ground, joint=ag.Revolute((0, 0, 1)), name="post")
    rod = ag.Rod(0.4, ag.Circle(0.01), RUBBER, ag.reissner(2), intervals=8)
    arm = robot.add(rod, at=post.frame, name="arm")
    rng = np.random.default_rng(3)
    system = ag.Model(robot)
    q, v = 2.0 * rng.normal(size=system.size), rng.normal(size=system.size)
    q[7:] *= 0.02
    a = rng.normal(size=system.size)
    q[0] = 0.4
    where = state(robot, q, v).position(arm.section(0.25))[0]
    gap = 0.005
    obstacle = {
        "floor": ag.HalfSpace(TILTED, TILTED @ where - gap),
        "sphere": ag.Sphere(where - (0.15 + gap) * TILTED, 0.15),
        "hollow": ag.Sphere(where + (0.3 - gap) * TILTED, 0.3, inside=True),
        "pillar": ag.Pillar(where - (0.1 + gap) * ACROSS, AXIS, 0.1),
        "tube": ag.Pillar(where + (0.2 - gap) * ACROSS, AXIS, 0.2, inside=True),
        "capsule": ag.Capsule(where - (0.15 + gap) * TILTED, where - 0.1 * TILTED + 0.3 * INTO, 0.15),
        "face": ag.Box(where - (0.1 + gap) * TURN[:, 0], SIZE, TURN),
        "edge": ag.Box(where - TURN @ [0.05, 0.1, 0.02] - (0.05 + gap) * EDGE, SIZE, TURN, round=0.05),
        "corner": ag.Box(where - TURN @ [0.05, 0.1, 0.15] - (0.05 + gap) * CORNER, SIZE, TURN, round=0.05),
        "room": ag.Box(
            where - TURN @ [0.2, 0.2, 0] + (-0.1 + gap) * EDGE, (0.6, 0.6, 0.8), TURN, inside=True, round=0.1
        ),
        "end": ag.Cylinder(where - (0.1 + gap) * TURN[:, 0], TURN[:, 0], 0.1, 0.2),
        "rim": ag.Cylinder(where - TURN @ [0.1, 0.05, 0] - (0.05 + gap) * EDGE, TURN[:, 0], 0.1, 0.3, round=0.05),
        "can": ag.Cylinder(
            where - TURN @ [0.2, 0.2, 0] + (-0.1 + gap) * EDGE, TURN[:, 0], 0.3, 0.6, inside=True, round=0.1
        ),
        "mesh": ag.Mesh(*BALL, pose=where - (0.15 + gap) * TILTED, spacing=0.02),
        "lumen": ag.Mesh(*BALL, pose=where + (0.15 - gap) * TILTED, inside=True, spacing=0.02),
        "hills": ag.HeightField(HILLS, 0.05, lie.pose(TURN, where - TURN @ [0.2, 0.15, 0.02 + gap])),
    }[kind]
    contact = robot.load(ag.Contact(arm, obstacle, 1e4, damping=2.0, friction=friction, smooth=0.02, slip=0.05))
    system = ag.Model(robot)
    assert np.sum(state(robot, q, v).depth(contact) > 0.0) >= (1 if kind in ("corner", "rim") else 2)
    for alpha, beta in ((0.0, 0.0), (30.0, 500.0)):
        exact = system.tangent(q, v, a, alpha=alpha, beta=beta)
        found = differences(system, q, v, a, alpha, beta)
        weak = np.sqrt(np.outer(np.abs(exact).max(axis=1), np.abs(exact).max(axis=0)))
        assert np.max(np.abs(exact - found) / weak) < 1e-7


def test_stiffness_without_friction_is_symmetric():
    """Contact comes from an energy: its stiffness is symmetric, round obstacles, moment arms and grids included."""
    mesh = ag.Mesh(None, *ball(0.15, 5), pose=PLACE - 0.16 * TILTED, spacing=0.02)
    K = ag.Model(ball_on(mesh, friction=0.0)[0]).tangent(np.concatenate([PLACE, np.zeros(3)]))
    assert np.linalg.norm(K[:3, :3], 2) == pytest.approx(STIFF, rel=0.02)
    np.testing.assert_allclose(K, K.T, atol=1e-12 * STIFF)
    for obstacle, n in obstacles(5e-3).values():
        robot, _, _ = ball_on(obstacle, friction=0.0)
        K = ag.Model(robot).tangent(np.concatenate([PLACE, np.zeros(3)]))
        np.testing.assert_allclose(K, K.T, atol=1e-12 * STIFF)
        assert n @ K[:3, :3] @ n == pytest.approx(STIFF)


def test_scales_rub_in_each_direction_with_their_own_coefficient():
    """Forward, backward and sideways on a floor; with the axis across the floor, as sideways."""
    depth, fast = 9e-3, 1e3 * SLIP
    robot, _, contact = ball_on(ag.HalfSpace((0, 0, 1), depth - REACH), friction=(0.2, 0.7, 0.5))
    f = STIFF * (depth - SMOOTH / 2)
    turn = np.array([0.0, 0.0, 0.5])  # about z, and then upright about y
    ahead, aside = np.array([np.cos(0.5), np.sin(0.5), 0]), np.array([-np.sin(0.5), np.cos(0.5), 0])
    for u, wanted in ((ahead, -0.2 * ahead), (-ahead, 0.7 * ahead), (aside, -0.5 * aside), (-aside, 0.5 * aside)):
        run = state(robot, np.concatenate([np.zeros(3), turn]), np.concatenate([fast * u, np.zeros(3)]))
        np.testing.assert_allclose(run.exerted(contact).force[0] - [0, 0, f], f * wanted, atol=2e-6 * f)
    up = np.array([0.0, -np.pi / 2, 0.0])
    run = state(robot, np.concatenate([np.zeros(3), up]), np.concatenate([fast * ahead, np.zeros(3)]))
    np.testing.assert_allclose(run.exerted(contact).force[0] - [0, 0, f], -0.5 * f * ahead, atol=1e-6 * f)


def test_friction_alone_takes_power():
    """Friction opposes the sliding of the touched point: never more than mu f times its speed, and close to it when fast."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        obstacle, n = obstacles(6e-3)["pillar"]
        robot, _, contact = ball_on(obstacle)
        v, w = rng.normal(size=3), 30.0 * rng.normal(size=3)
        v -= n * (n @ v)
        start = np.concatenate([PLACE, np.zeros(3)])
        run = state(robot, start, np.concatenate([v, w]))
        u = v - REACH * np.cross(w, n)
        u -= n * (n @ u)
        f = STIFF * (6e-3 - SMOOTH / 2)
        wanted = -FRICTION * f * (u @ u) / np.sqrt(u @ u + SLIP**2)
        assert run.exerted(contact).power[0] == pytest.approx(wanted, rel=1e-9)
