"""Bodies with flat faces: they lie on each other though no corner of one is inside a face of the other."""

import numpy as np
import pytest

import anguilla as ag

MASS, STIFF = 0.2, 1e5


def rest(lower, upper, x, height, *, turn=0.0, spacing=None):
    """Height [m] of the middle of a body half a second after it fell by 0.1 mm on a fixed one."""
    robot = ag.Robot("stack")
    below = robot.add(lower, at=robot.ground, name="below")
    pose = ag.lie.pose(ag.lie.rotation((0, 0, 1), turn), (x, 0.0, height + 1e-4))
    body = robot.add(upper, at=robot.ground, joint=ag.Free(), pose=pose, name="upper")
    load = robot.load(ag.Contact(body, below, STIFF, friction=0.5, damping=5.0, spacing=spacing))
    run = ag.simulate(robot, duration=0.5, dt=1e-3)
    weight = run.contacts(load).force[-1]
    assert np.abs(weight - np.array([0.0, 0.0, -MASS * 9.81])).max() < 0.02 * MASS * 9.81  # it rests, or nearly
    return run.position(body.frame)[-1, 2]


def cube(size=0.05, **options):
    return ag.RigidBody.box((size,) * 3, mass=MASS, **options)


def mesh_cube(size=0.05):
    corners = size * (np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]) - 0.5)
    faces = [(0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
             (1, 5, 7), (1, 7, 3)]  # fmt: skip
    shape = ag.Mesh(vertices=corners, faces=faces, spacing=2e-3)
    return ag.RigidBody(MASS, cube(size).inertia, shape=shape)


@pytest.mark.parametrize("spacing", [None, 5e-3])
@pytest.mark.parametrize(
    ("lower", "upper", "x", "turn"),
    [
        (cube(), cube(), 0.0, 0.0),
        (cube(), cube(), 0.005, 0.0),
        (cube(), cube(), 0.0, np.pi / 4),
        (cube(), cube(0.049), 0.0, 0.0),
        (ag.RigidBody.box((0.3, 0.05, 0.05), mass=1.0), cube(), 0.02, 0.0),  # a plank of its width
        (ag.RigidBody.box((0.3, 0.05, 0.05), mass=1.0), ag.RigidBody.box((0.3, 0.05, 0.05), mass=MASS), 0.0, np.pi / 2),
        (mesh_cube(), mesh_cube(), 0.0, 0.0),
    ],
)
def test_bodies_with_flush_faces_lie_on_each_other(lower, upper, x, turn, spacing):
    half = 0.0245 if getattr(upper.shape, "size", (0.05,))[-1] == 0.049 else 0.025
    height = rest(lower, upper, x, 0.025 + half, turn=turn, spacing=spacing)
    sunk = 0.025 + half - height
    assert 0.0 < sunk < 4e-4, sunk  # smooth / 2 and weight / stiffness of the points


def test_coins_lie_on_each_other():
    coin = ag.RigidBody.cylinder(0.02, 0.005, mass=MASS)
    upright = ag.lie.pose(ag.lie.rotation((0, 1, 0), 0.5 * np.pi), (0, 0, 0))
    robot = ag.Robot("coins")
    below = robot.add(coin, at=robot.ground, pose=upright, name="below")
    upright[2, 3] = 0.0051
    above = robot.add(coin, at=robot.ground, joint=ag.Free(), pose=upright, name="above")
    robot.load(ag.Contact(above, below, STIFF, friction=0.5, damping=5.0))
    height = ag.simulate(robot, duration=0.2, dt=5e-4).position(above.frame)[-1, 2]
    assert 0.0 < 0.005 - height < 2e-4


@pytest.mark.parametrize(
    "shape",
    [
        ag.Sphere((0, 0, 0), 0.03),
        ag.Pillar((0, 0, 0), (0, 1, 0), 0.03),
        ag.Capsule((0, -0.2, 0), (0, 0.2, 0), 0.03),
        ag.Box((0, 0, 0), (0.06, 0.06, 0.06)),
        ag.Box((0, 0, 0), (0.1, 0.1, 0.06)),
    ],
)
def test_a_box_lands_on_a_part_of_any_shape_and_is_refused_where_it_would_fall_through(shape):
    robot = ag.Robot("drop")
    slide = ag.Prismatic((0, 0, 1))
    box = robot.add(
        ag.RigidBody.box((0.1, 0.1, 0.05), mass=0.1), at=robot.ground, joint=slide, pose=(0, 0, 0.0555), name="box"
    )
    with pytest.raises(ag.DescriptionError, match="with its corners alone, and could fall through"):
        robot.load(ag.Contact(box, shape, STIFF))
    robot.load(ag.Contact(box, robot.add(shape, at=robot.ground), STIFF, damping=5.0))
    height = ag.simulate(robot, duration=0.4, dt=1e-3).position(box.frame)[-1, 2]
    assert height == pytest.approx(0.055, abs=2e-4)


@pytest.mark.parametrize("fixed", [True, False])
def test_a_box_lands_on_a_hill_under_its_middle(fixed):
    x = 0.01 * (np.arange(31) - 15.0)
    hill = ag.HeightField(0.02 * np.exp(-(x[:, None] ** 2 + x**2) / 0.06**2), 0.01, pose=(-0.15, -0.15, 0.0))
    robot = ag.Robot("hill")
    slide = ag.Prismatic((0, 0, 1))
    box = robot.add(
        ag.RigidBody.box((0.1, 0.1, 0.05), mass=0.1), at=robot.ground, joint=slide, pose=(0, 0, 0.046), name="box"
    )
    robot.load(ag.Contact(box, hill if fixed else robot.add(hill, at=robot.ground), STIFF, damping=5.0))
    height = ag.simulate(robot, duration=0.3, dt=5e-4).position(box.frame)[-1, 2]
    assert height == pytest.approx(0.045, abs=1e-3)  # the ground is rounded over about a spacing
