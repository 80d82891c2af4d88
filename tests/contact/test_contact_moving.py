"""Obstacles that move: bodies whose shape is an obstacle and whose joint is prescribed."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.lie import exp3, pose

UPRIGHT = np.array([[0.0, -1.0, 0.0, 0.02], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])

MASS, RADIUS, STIFF = 0.05, 0.02, 2e3
SINK = MASS * 9.81 / STIFF + 0.5 * 0.01 * RADIUS  # of a ball at rest, with the default smoothing


def on_belt(shape, motion, **options):
    """A ball that rests on something that moves along x."""
    robot = ag.Robot("belt")
    belt = robot.add(shape, at=robot.ground, joint=ag.Prismatic((1, 0, 0), motion=motion))
    ball = robot.add(
        ag.RigidBody.sphere(RADIUS, mass=MASS),
        at=robot.ground,
        joint=ag.Free(),
        pose=(0, 0, RADIUS - SINK),
        name="ball",
    )
    load = robot.load(ag.Contact(ball, belt, STIFF, **options))
    return robot, ball, load


def hills():
    """Uneven ground around the origin."""
    x = np.linspace(-0.15, 0.15, 61)
    heights = 0.002 * np.cos(40.0 * x)[:, None] * np.cos(30.0 * x)[None, :]
    return ag.HeightField(heights, x[1] - x[0], pose=(-0.15, -0.15, -0.002))


SHAPES = {
    "half-space": ag.HalfSpace(),
    "box": ag.Box((0, 0, -0.05), (0.6, 0.4, 0.1)),
    "ground": hills(),
    "sphere": ag.Sphere((0, 0, -0.3), 0.3),
}


@pytest.mark.parametrize("name", SHAPES)
def test_what_moves_evenly_is_what_stands_still_seen_from_a_train(name):
    speed, duration = 0.3, 0.1
    places = []
    for motion, start in ((lambda t: speed * t, 0.0), (0.0, -speed)):
        robot, ball, _ = on_belt(SHAPES[name], motion, friction=0.3, damping=2.0)
        rates = np.zeros(robot.size)
        rates[1] = start
        run = ag.simulate(robot, duration=duration, dt=5e-4, start=(np.zeros(robot.size), rates))
        places.append(run.position(ball.frame) - run.t[:, None] * np.array([speed + start, 0.0, 0.0]))
    assert np.ptp(places[0][:, 0]) > 0.2 * speed * duration  # it slips, then rolls along
    assert np.max(np.abs(places[0] - places[1])) < 1e-9


def test_a_ball_on_a_belt_that_gets_faster_rolls():
    faster = 2.0
    robot, ball, load = on_belt(ag.HalfSpace(), lambda t: 0.5 * faster * t * t, friction=0.5)
    run = ag.simulate(robot, duration=0.4, dt=1e-3)
    arm = 1.0 - SINK / RADIUS  # where friction acts, over the radius
    expected = faster / (1.0 + 2.5 * arm**2)  # 2/7 for what does not sink in
    assert run.position(ball.frame)[-1, 0] == pytest.approx(0.5 * expected * 0.4**2, rel=2e-3)
    assert run.contacts(load).force[-1, 0] == pytest.approx(-MASS * expected, rel=1e-2)


def test_what_a_belt_does_is_counted_as_power_of_its_motor():
    """A ball that slips: the belt takes mu w v, of which only a part moves the ball."""
    speed, friction = 1.0, 0.2
    robot, _, _ = on_belt(ag.HalfSpace(), lambda t: speed * t, friction=friction)
    run = ag.simulate(robot, duration=0.05, dt=2e-4)
    powers = ag.powers(run)
    late = slice(50, None)
    assert powers.motors[late] == pytest.approx(friction * MASS * 9.81 * speed, rel=1e-3)
    assert np.max(np.abs(powers.imbalance)[late]) < 1e-6 * np.max(powers.motors)
    assert np.all(-powers.others[late] > 0.5 * powers.motors[late])  # what friction takes


@pytest.mark.parametrize("of_rod", [False, True])
def test_what_is_at_rest_leaves_a_bat_with_twice_its_speed(of_rod):
    """As it bounces off a wall, seen from the bat. Steps were refused: nothing else moved, so no error was small enough."""
    speed, mass, k = 1.0, 0.05, 1e5
    robot = ag.Robot("bat", gravity=(0, 0, 0))
    bat = robot.add(ag.HalfSpace((1, 0, 0)), at=robot.ground, joint=ag.Prismatic((1, 0, 0), motion=lambda t: speed * t))
    if of_rod:
        section, stiff = ag.Circle(0.01), ag.Material(1e9, mass / (np.pi * 0.01**2 * 0.1))
        rod = ag.Rod(0.1, section, stiff, ag.Strains(bend_z=1), intervals=4)
        hit = robot.add(rod, at=robot.ground, joint=ag.Prismatic((0, 1, 0)), pose=UPRIGHT)
    else:
        hit = robot.add(ag.RigidBody.sphere(0.01, mass=mass), at=robot.ground, joint=ag.Free(), pose=(0.02, 0, 0))
    robot.load(ag.Contact(hit, bat, k / 0.1 if of_rod else k, smooth=1e-6))
    run = ag.simulate(robot, duration=0.02, dt=2e-5)
    np.testing.assert_allclose(run.momentum[-1], (2.0 * mass * speed, 0.0, 0.0), rtol=3e-3, atol=1e-6)
    gone = np.flatnonzero(run.momentum[:, 0] > 1e-6)
    assert run.t[gone[0]] == pytest.approx(0.01 / speed, abs=5e-5)
    work = np.trapezoid(ag.powers(run).motors, run.t)
    assert work == pytest.approx(2.0 * mass * speed**2, rel=5e-3)


def test_what_lies_on_a_shaker_leaves_it_where_that_falls_faster():
    size, pulsation = 0.01, 50.0  # 2.5 g
    robot = ag.Robot("shaker")
    plate = robot.add(
        ag.HalfSpace(),
        at=robot.ground,
        joint=ag.Prismatic((0, 0, 1), motion=lambda t: size * np.sin(pulsation * t)),
    )
    stiff = 2e5
    sink = MASS * 9.81 / stiff
    ball = robot.add(
        ag.RigidBody.sphere(RADIUS, mass=MASS),
        at=robot.ground,
        joint=ag.Prismatic((0, 0, 1)),
        pose=(0, 0, RADIUS - sink),
    )
    load = robot.load(ag.Contact(ball, plate, stiff, damping=5.0, smooth=1e-9))
    rates = np.array([size * pulsation, size * pulsation])
    run = ag.simulate(robot, duration=0.06, dt=5e-5, start=(np.zeros(2), rates))
    touching = run.contacts(load).points > 0
    left = run.t[np.argmin(touching)]
    assert left == pytest.approx(np.arcsin(9.81 / (size * pulsation**2)) / pulsation, abs=4e-4)
    since = run.t[~touching][:200] - left  # then it flies
    height = run.position(ball.frame)[~touching][:200, 2]
    falls = np.polyfit(since, height, 2)
    assert 2.0 * falls[0] == pytest.approx(-9.81, rel=1e-3)


def test_a_body_that_turns_carries_what_lies_on_it():
    """A block held by friction on a turntable goes around with it, pushed inwards by m w^2 r."""
    spin, far = 2.0, 0.1
    robot = ag.Robot("turntable")
    table = robot.add(ag.HalfSpace(), at=robot.ground, joint=ag.Revolute((0, 0, 1), motion=lambda t: spin * t))
    block = robot.add(
        ag.RigidBody.box((0.02, 0.02, 0.02), mass=MASS), at=robot.ground, joint=ag.Free(), pose=(far, 0, 0.01 - 1e-4)
    )
    load = robot.load(ag.Contact(block, table, 2e3, friction=0.6, damping=2.0, smooth=1e-5))
    rates = np.zeros(robot.size)
    rates[[0, 2, 6]] = spin, spin * far, spin
    run = ag.simulate(robot, duration=0.5, dt=5e-4, start=(np.zeros(robot.size), rates))
    place, late = run.position(block.frame), slice(600, None)
    x, y, _ = place[-1]
    assert np.hypot(x, y) == pytest.approx(far, rel=5e-3)
    assert np.arctan2(y, x) == pytest.approx(spin * 0.5, abs=1e-2)
    outwards = place[late, :2] / far  # the force is that of the block on the table; bristles swing a little
    inwards = np.sum(run.contacts(load).force[late, :2] * outwards, axis=1).mean()
    assert inwards == pytest.approx(MASS * spin**2 * far, rel=2e-2)


def test_an_input_moves_an_obstacle_as_a_function_does():
    def robot_of(motion=None):
        robot = ag.Robot("driven")
        way = robot.input("way", "m") if motion is None else motion
        belt = robot.add(ag.HalfSpace(), at=robot.ground, joint=ag.Prismatic((1, 0, 0), motion=way))
        ball = robot.add(
            ag.RigidBody.sphere(RADIUS, mass=MASS), at=robot.ground, joint=ag.Free(), pose=(0, 0, RADIUS - SINK)
        )
        robot.load(ag.Contact(ball, belt, STIFF, friction=0.5, damping=1.0))
        return robot

    path = lambda t: 0.05 * np.sin(8.0 * t) ** 2
    options = {"duration": 0.1, "dt": 1e-3}
    told = ag.simulate(robot_of(), inputs={"way": path}, **options)
    known = ag.simulate(robot_of(path), **options)
    assert np.array_equal(told.q, known.q)
    stepper = ag.Stepper(robot_of(), dt=1e-3)
    for k in range(100):
        stepper.step({"way": path(1e-3 * (k + 1))})
    assert stepper.q[1:4] == pytest.approx(known.q[-1, 1:4], abs=1e-4)  # its rates are taken from the values


def test_a_tube_that_is_pulled_back_drags_the_rod_inside():
    robot = ag.Robot("tube", gravity=(0, 0, 0))
    tube = robot.add(
        ag.Pillar((0, 0, 0), (1, 0, 0), 0.01, inside=True),
        at=robot.ground,
        joint=ag.Prismatic((0, 1, 0), motion=lambda t: 0.004 * min(t / 0.1, 1.0) ** 2 * (3 - 2 * min(t / 0.1, 1.0))),
    )
    soft = ag.Material(young=1e6, poisson=0.4, density=1100, damping=0.05)
    slide = ag.Prismatic((0, 1, 0), damping=5.0)
    rod = robot.add(ag.Rod(0.1, ag.Circle(0.008), soft, ag.kirchhoff(modes=2)), at=robot.ground, joint=slide)
    robot.load(ag.Contact(rod, tube, 2e4, damping=1.0))
    run = ag.simulate(robot, duration=0.3, dt=1e-3)
    tip = run.position(rod.tip)[-1, 1]
    assert 0.0017 < tip < 0.0023  # the tube has moved by 4 mm, and 2 mm of play are used up first


def corner_mesh(**options):
    """A cube of 4 cm as a mesh."""
    corners = 0.02 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    faces = np.array(
        [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
         [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    )  # fmt: skip
    return ag.Mesh(vertices=corners, faces=faces, **options)


@pytest.mark.parametrize("mover", [False, True])
def test_a_body_in_the_shape_of_a_mesh_lands_as_a_box_does(mover):
    """On a floor fixed in space, and on one that is a body; a body's corners are the same eight."""
    heights = []
    inertia = ag.RigidBody.box((0.04, 0.04, 0.04), mass=MASS).inertia
    for body in (ag.RigidBody.box((0.04, 0.04, 0.04), mass=MASS), ag.RigidBody(MASS, inertia, shape=corner_mesh())):
        robot = ag.Robot("lands")
        thrown = robot.add(body, at=robot.ground, joint=ag.Free(), pose=pose(exp3((0.3, 0.2, 0.1)), (0, 0, 0.04)))
        floor = robot.add(ag.HalfSpace(), at=robot.ground) if mover else ag.HalfSpace()
        robot.load(ag.Contact(thrown, floor, 5e3, friction=0.4, damping=1.0, smooth=1e-4))
        heights.append(ag.simulate(robot, duration=0.15, dt=5e-4).position(thrown.frame))
    assert np.min(heights[0][:, 2]) < 0.035
    assert np.max(np.abs(heights[0] - heights[1])) < 1e-9


def test_a_ball_on_a_mesh_that_moves_is_one_on_a_box_that_moves():
    ends = []
    box = ag.Box((0, 0, -0.02), (0.04, 0.04, 0.04), round=1e-4)
    for shape in (box, corner_mesh(spacing=1e-3, pose=(0, 0, -0.02), margin=0.025)):
        robot, ball, _ = on_belt(shape, lambda t: 0.1 * t * t, friction=0.5, damping=1.0, smooth=2e-4)
        ends.append(ag.simulate(robot, duration=0.2, dt=5e-4).position(ball.frame)[-1])
    assert ends[1] == pytest.approx(ends[0], abs=3e-5)


def test_a_box_that_lands_with_its_edge_on_a_bar_touches_along_it():
    """A bar under the middle of an edge: none of the corners is near it."""

    def lowest(spacing):
        robot = ag.Robot("edge")
        bar = robot.add(ag.Pillar((0, 0, -0.01), (0, 1, 0), 0.01), at=robot.ground)
        tilted = pose(exp3((np.pi / 4, 0, 0)), (0, 0, 0.02 * np.sqrt(2.0) + 0.002))  # an edge along x is lowest
        box = robot.add(
            ag.RigidBody.box((0.08, 0.04, 0.04), mass=MASS), at=robot.ground, joint=ag.Prismatic((0, 0, 1)), pose=tilted
        )
        robot.load(ag.Contact(box, bar, 5e3, damping=20.0, spacing=spacing))
        return ag.simulate(robot, duration=0.1, dt=5e-4).position(box.frame)[:, 2].min()

    slides = np.sqrt(2.0) * 0.02
    assert lowest(None) > slides - 0.002
    assert lowest(0.005) > slides - 0.001


def test_robot_files_hold_what_moves(tmp_path):
    robot, _, _ = on_belt(hills(), ag.Expression("0.1 * sin(20 * t)"), friction=0.5)
    ag.write_robot(robot, tmp_path / "belt.yaml")
    again = ag.read_robot(tmp_path / "belt.yaml")
    options = {"duration": 0.02, "dt": 1e-3}
    assert np.array_equal(ag.simulate(robot, **options).q, ag.simulate(again, **options).q)


def test_the_moving_tangent_is_exact():
    from anguilla.model.door import model_of
    from anguilla.model.evaluation import Evaluation
    from anguilla.results.reactions import evaluate

    robot, _, _ = on_belt(hills(), lambda t: 0.1 * t, friction=0.3, damping=5.0, slip=1e-2)
    model = model_of(robot)
    rng = np.random.default_rng(1)
    loads = model.loads(0.0, {}).loads
    q = 1e-3 * rng.normal(size=model.size)
    q[3] = -0.002
    v, a, lam = 0.1 * rng.normal(size=model.size), np.zeros(model.size), np.zeros(0)
    exact = Evaluation(model, loads, q, v, a, lam)
    for k in range(1, 4):  # slides of the ball; the row of the belt is prescribed
        h = 1e-7
        for of, matrix in ((0, exact.K), (1, exact.C)):
            state = [q.copy(), v.copy()]
            state[of][k] += h
            more = evaluate(model, loads, *state, a, lam)
            state[of][k] -= 2 * h
            less = evaluate(model, loads, *state, a, lam)
            found = (more - less)[: model.size] / (2 * h)
            assert matrix[:, k] == pytest.approx(found, abs=1e-6 * np.max(np.abs(matrix)))


def test_what_cannot_move_or_touch_is_refused():
    robot = ag.Robot("refused")
    with pytest.raises(ag.AnguillaError, match="an obstacle has no mass"):
        robot.add(ag.HalfSpace(), at=robot.ground, joint=ag.Free())
    a = robot.add(ag.HalfSpace(), at=robot.ground)
    b = robot.add(ag.HalfSpace((0, 0, -1)), at=robot.ground, joint=ag.Prismatic((0, 0, 1), motion=0.1))
    with pytest.raises(ag.AnguillaError, match="no points that could touch"):
        ag.Contact(a, b, 1e3)
    tube = robot.add(ag.Pillar((0, 0, 0), (1, 0, 0), 0.01, inside=True), at=robot.ground)
    ball = robot.add(ag.RigidBody.sphere(0.02, mass=0.1), at=robot.ground, joint=ag.Free())
    with pytest.raises(ag.AnguillaError, match="does not fit inside"):
        ag.Contact(ball, tube, 1e3)


def test_copies_of_a_batch_have_obstacles_that_move_on_their_own():
    robot = ag.Robot("belts")
    slide = ag.Prismatic((1, 0, 0), motion=robot.input("way", "m"))
    belt = robot.add(ag.HalfSpace(), at=robot.ground, joint=slide)
    ball = robot.add(ag.RigidBody.sphere(RADIUS, mass=MASS), at=robot.ground, joint=ag.Free(), pose=(0, 0, RADIUS))
    robot.load(ag.Contact(ball, belt, STIFF, friction=0.5, damping=1.0))
    sizes = np.array([0.02, 0.1])
    batch, alone = ag.BatchStepper(robot, 2, dt=1e-3), [ag.Stepper(robot, dt=1e-3) for _ in sizes]
    for k in range(1, 41):
        ways = sizes * np.sin(8e-3 * k) ** 2
        batch.step({"way": ways})
        for stepper, way in zip(alone, ways, strict=True):
            stepper.step({"way": way})
    assert batch.q[1, 1] > 3.0 * batch.q[0, 1] > 0.0
    assert all(np.array_equal(stepper.q, batch.q[k]) for k, stepper in enumerate(alone))
