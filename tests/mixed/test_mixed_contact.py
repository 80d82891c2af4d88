"""Volumes of robots that touch bodies, rods and obstacles: tangents, balance, momentum, friction."""

from functools import cache

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.mixed.contact import contact_wrenches
from anguilla.mixed.dynamics import MixedStep, MixedStepper
from anguilla.mixed.model import mixed_of
from anguilla.mixed.projection import MixedRobotModel
from anguilla.mixed.statics import Mixed, coupled
from anguilla.model.user import move
from anguilla.solve.steps.schemes import as_scheme

SOFT = ag.Material(young=1e5, poisson=0.3, density=1000, damping=0.005)
G = 9.81


def on_mat(body, height, friction=0.5, damping=0.5, cells=(3, 3, 1), gravity=(0, 0, -G), **options):
    """A free body on a soft mat, which is clamped from below."""
    robot = ag.Robot("mat", gravity=gravity)
    mat = ag.Volume(ag.fem.block((0.06, 0.06, 0.02), cells), SOFT, name="mat")
    mat = robot.add(mat, at=robot.ground, patch=lambda x: x[:, 2] < -0.01 + 1e-9)
    pose = np.eye(4)
    pose[:3, 3] = 0.03, 0.002, 0.01 + height
    body = robot.add(body, at=robot.ground, joint=ag.Free(), pose=pose, name="body")
    contact = robot.load(ag.Contact(mat, body, friction=friction, damping=damping, **options))
    return robot, mat, body, contact


def pressed(friction, slide):
    """A step in which a ball that slides and turns sinks into the mat: the step, a state in it, what is known there."""
    robot, _, _, _ = on_mat(ag.RigidBody.sphere(0.03, mass=0.2), 0.03, friction)
    model = mixed_of(robot)
    carrier, half = model.carrier, model.halves[0]
    stepper = MixedStepper(model, carrier, as_scheme("newmark").coefficients, 2e-3, 1e-8)
    loads = carrier.loads(2e-3 * np.arange(3), {}, pulling=True).at(1)
    q, v = np.zeros(6), np.array([slide, 0.5 * slide, -0.3, 0.5, 0.3, 2.0])
    x = [half.started(model.lead(q).poses, model.axes_of(0, q), np.zeros(3))]
    now, _ = stepper.begin(q, v, x, loads, [np.zeros(0)])
    step = MixedStep(stepper, now, loads, [np.zeros(0)], 2e-3)
    guess = step.guess(0.0)
    guess.q[2] -= 1e-3
    guess.x[0][half.free] += 1e-5 * np.random.default_rng(0).standard_normal((len(half.free), 3))
    return step, guess, model, carrier


@pytest.mark.parametrize(("friction", "slide"), [(0.0, 0.5), (0.5, 0.0), (0.5, 0.5)])
def test_tangent_of_a_step(friction, slide):
    """Against differences: rows of the body by everything, rows of the nodes by the motion of the body."""
    step, state, model, carrier = pressed(friction, slide)
    half, rng = model.halves[0], np.random.default_rng(1)
    with carrier.apart():
        here = step.evaluate(state)
        touches = here.touches[0].found.state[:, 0]
        assert (touches == (2 if friction and slide else 1)).sum() >= 2
        matrix = here.matrix()
        seam = coupled(model, matrix, here)[0]

        def left(dq, dx):
            nodes = state.x[0].copy()
            nodes[half.free] += dx
            found = step.evaluate(Mixed(move(carrier.tree, state.q, dq), state.lam, [nodes]))
            return found.left, found.gradients[0][half.free].ravel()

        dq, dx = rng.standard_normal(6) * [0.03, 0.03, 0.03, 1, 1, 1], 0.01 * rng.standard_normal((len(half.free), 3))
        e = 1e-6
        for part in (dx, 0.0 * dx):
            ahead, behind = left(e * dq, e * part), left(-e * dq, -e * part)
            slope = [(a - b) / (2 * e) for a, b in zip(ahead, behind, strict=True)]
            exact = matrix @ dq + seam.J.T @ (seam.cross @ part.ravel())
            np.testing.assert_allclose(slope[0], exact, atol=1e-7 * np.abs(exact).max())
        nodes = seam.right.T @ (seam.J @ dq)
        np.testing.assert_allclose(slope[1], nodes, atol=1e-7 * np.abs(nodes).max())


@cache
def resting():
    robot, _, body, contact = on_mat(ag.RigidBody.box((0.03, 0.03, 0.02), mass=0.2), 0.01)
    return robot, body, contact, ag.simulate(robot, duration=0.12, dt=2e-3, method=ag.GeneralisedAlpha(0.5))


def test_weight_is_carried():
    """A body comes to rest on the mat; at rest the contact carries its weight exactly, and it stays where it is."""
    robot, body, contact, run = resting()
    force = run.contacts(contact)
    assert force.points[-1] >= 3
    assert force.force[-1, 2] == pytest.approx(0.2 * G, rel=2e-2)
    still = ag.statics(robot, start=run)
    np.testing.assert_allclose(still.contacts(contact).force, [0, 0, 0.2 * G], atol=1e-9)
    points = still.contact_points(contact)
    np.testing.assert_allclose(points.force.sum(axis=0), [0, 0, 0.2 * G], atol=1e-9)
    moved = still.position(body.frame) - run.position(body.frame)[-1]
    assert np.linalg.norm(moved) < 3e-4
    assert len(run[::10].touched) == len(run[::10].t)
    assert np.isfinite(run.energy["total"]).all()


def test_forces_on_both_sides_are_opposite():
    """The wrench on the body is that of the forces of the points, moments included, to round-off."""
    _, body, contact, run = resting()
    model, k = run.mixed, -1
    poses = model.lead(run.q[k]).poses
    wrench = contact_wrenches(model, [run.volumes["mat"].x[k]], poses, run.touched[k])
    told = run.contact_points(contact)[k]
    R, r = poses.R[0], poses.r[0]
    np.testing.assert_allclose(R @ wrench[0, 3:], told.force.sum(axis=0), atol=1e-12)
    moment = np.cross(told.place - r, told.force).sum(axis=0)
    np.testing.assert_allclose(R @ wrench[0, :3], moment, atol=1e-12)
    np.testing.assert_allclose(r, run.position(body.frame)[k], atol=1e-12)


def test_momentum_of_two_that_hit_each_other():
    """Without gravity a ball hits a soft block that floats: what one loses the other gains, and nothing gains energy."""
    robot = ag.Robot("hit", gravity=(0, 0, 0))
    soft = robot.add(ag.Volume(ag.fem.block((0.04, 0.04, 0.04), (2, 2, 2)), SOFT, name="soft"), at=robot.ground)
    soft.frame("under", lambda x: x[:, 2] < -0.02 + 1e-9)
    pose = np.eye(4)
    pose[:3, 3] = 0.02, 0.0, 0.0405
    ball = robot.add(ag.RigidBody.sphere(0.02, mass=0.05), at=robot.ground, joint=ag.Free(), pose=pose, name="ball")
    contact = robot.load(ag.Contact(soft, ball))
    v = np.zeros(robot.size)
    v[robot.coordinates().index("ball.z")] = -0.1
    run = ag.simulate(robot, duration=0.04, dt=5e-4, start=(np.zeros(robot.size), v), tolerance=1e-11)
    assert run.contacts(contact).points.max() > 0 and run.contacts(contact).points[-1] == 0
    np.testing.assert_allclose(run.momentum[:, 2], -0.1 * 0.05, rtol=1e-6)
    assert run.v[-1, robot.coordinates().index("ball.z")] > -0.05  # it has given most of it away
    total = run.energy["total"]
    assert total.max() < total[0] * (1 + 1e-9)


def test_slips_or_holds_on_a_tilted_mat():
    """Gravity is turned by 0.3 in tangent: a block holds with a friction of 0.4, and slides with 0.2."""
    gravity = G * np.array([0.3, 0.0, -1.0]) / np.hypot(1.0, 0.3)
    ends = []
    for friction in (0.4, 0.2):
        block = ag.RigidBody.box((0.03, 0.03, 0.01), mass=0.1)
        robot, _, block, contact = on_mat(block, 0.005, friction, gravity=gravity)
        run = ag.simulate(robot, duration=0.1, dt=2e-3, method=ag.GeneralisedAlpha(0.5))
        along = run.position(block.frame)[:, 0]
        ends.append(along[-1] - along[0])
        force = run.contacts(contact).force[-1]
    assert ends[0] < 1e-3 < 3e-3 < ends[1]
    assert -force[0] / force[2] == pytest.approx(0.2, rel=0.05)  # the mat pulls the sliding block back


def test_ball_is_not_pushed_aside():
    """A ball lies on a coarse mat, wherever between its rows of points: hardly anything pushes it sideways."""
    weight, aside = 0.047 * G, []
    for y in (0.0033, 0.0117):
        robot = ag.Robot("ball")
        mat = robot.add(
            ag.Volume(ag.fem.block((0.06, 0.06, 0.02), (2, 2, 1)), SOFT, name="mat"), at=robot.ground,
            patch=lambda x: x[:, 2] < -0.01 + 1e-9,
        )  # fmt: skip
        ball = robot.add(
            ag.RigidBody.sphere(0.02, mass=0.047), at=robot.ground, joint=ag.Prismatic((0, 0, 1)),
            pose=(0.03, y, 0.03 - 3e-4), name="ball",
        )  # fmt: skip
        contact = robot.load(ag.Contact(mat, ball))
        force = ag.statics(robot).contacts(contact).force
        assert force[2] == pytest.approx(weight, rel=1e-8)
        aside.append(np.linalg.norm(force[:2]))
    assert max(aside) < 0.01 * weight


def test_rod_on_a_volume():
    """A cantilever lies on a soft pad: the pad carries about what a support there would, by theory of beams."""
    robot = ag.Robot("rod")
    stiff = ag.Material(young=1e9, poisson=0.3, density=4000)
    rod = robot.add(ag.Rod(0.2, ag.Circle(0.004), stiff, ag.kirchhoff(3)), at=robot.ground, name="rod")
    pad = ag.Volume(ag.fem.block((0.04, 0.03, 0.02), (4, 3, 1)), SOFT, name="pad")
    place = np.eye(4)
    place[:3, 3] = 0.15, 0.8e-3, -0.0141  # the rod lies between two rows of points
    pad = robot.add(pad, at=robot.ground, pose=place, patch=lambda x: x[:, 2] < -0.01 + 1e-9)
    contact = ag.contacts(robot)[-1]
    assert contact.other is rod and contact.volume is pad
    found = ag.statics(robot)
    force = found.contacts(contact)
    load, EI = 4000 * np.pi * 0.004**2 * G, 1e9 * np.pi / 4 * 0.004**4
    X, L = force.place[0], 0.2
    sag = load * X**2 * (6 * L**2 - 4 * L * X + X**2) / (24 * EI)  # of the free cantilever there
    low = -found.position(rod.section(X))[2]
    assert force.force[2] == pytest.approx(3 * EI * (sag - low) / X**3, rel=0.05)
    assert 0.2 * load * L < force.force[2] < 0.5 * load * L
    assert found.contact_points(contact).force[:, 2].sum() == pytest.approx(force.force[2])


def test_obstacle_and_start():
    """A block that hangs on a spring of the robot is laid on a floor; a motion goes on from another as if there were none."""
    robot = ag.Robot("go_on")
    plate = robot.add(ag.RigidBody.box((0.04, 0.04, 0.005), mass=0.1), at=robot.ground, joint=ag.Prismatic((0, 0, 1)))
    soft = robot.add(
        ag.Volume(ag.fem.block((0.04, 0.04, 0.02), (2, 2, 1)), SOFT, name="soft"),
        at=plate.at((-0.02, 0.0, -0.0125)), patch=lambda x: x[:, 2] > 0.01 - 1e-9,
    )  # fmt: skip
    contact = robot.load(ag.Contact(soft, ag.HalfSpace(offset=-0.0226), friction=0.3))
    whole = ag.simulate(robot, duration=0.04, dt=1e-3)
    half = ag.simulate(robot, duration=0.02, dt=1e-3)
    rest = ag.simulate(robot, duration=0.02, dt=1e-3, start=half)
    np.testing.assert_allclose(rest.q[-1], whole.q[-1], atol=2e-6)
    found = ag.statics(robot, start=whole)
    weight = (0.1 + 1000 * 0.04 * 0.04 * 0.02) * G
    assert -found.contacts(contact).force[2] == pytest.approx(weight, rel=1e-9)


def test_refusals():
    robot, mat, body, contact = on_mat(ag.RigidBody.sphere(0.03, mass=0.2), 0.03)
    with pytest.raises(ag.DescriptionError, match="already on robot"):
        robot.load(contact)
    with pytest.raises(ag.DescriptionError, match="touch each other in a robot"):
        ag.Contact(mat, mat.volume)
    point = robot.add(ag.RigidBody.point_mass(0.1), at=robot.ground, joint=ag.Free(), name="point")
    with pytest.raises(ag.DescriptionError, match="has no shape"):
        ag.Contact(mat, point)
    held = robot.add(ag.RigidBody.sphere(0.01, mass=0.1), at=robot.ground, name="held")
    mat.clamp(lambda x: (x[:, 2] > 0.0) & (x[:, 0] < 1e-9), held.frame)
    with pytest.raises(ag.DescriptionError, match="is welded to"):
        ag.Contact(mat, held)
    other = ag.Robot("other")
    ball = other.add(ag.RigidBody.sphere(0.01, mass=0.1), at=other.ground, name="ball")
    with pytest.raises(ag.DescriptionError, match="different robots"):
        ag.Contact(mat, ball)
    robot, mat, body, contact = on_mat(ag.RigidBody.sphere(0.03, mass=0.2), 0.029, gravity=(0, 0, 0))
    del body
    with pytest.raises(ag.DescriptionError, match="is not available for"):
        MixedRobotModel(robot, {})
    assert contact in mat.contacts and not robot.loads


def test_files_keep_contacts(tmp_path):
    """A robot file holds what volumes touch, a result file what touched: read again, both give the same."""
    robot = ag.Robot("mat")
    mat = ag.Volume(
        fem.block((0.06, 0.06, 0.02), (2, 2, 1)), ag.Material(young=1e5, poisson=0.4, density=1000.0), name="mat"
    )
    handle = robot.add(mat, at=robot.ground, patch=lambda x: x[:, 2] < -0.0099)
    pad = ag.Volume(fem.block((0.02, 0.02, 0.01), (1, 1, 1)), mat.material, name="pad")
    place = np.eye(4)
    place[:3, 3] = 0.005, 0.0, 0.01499
    pad = robot.add(pad, at=robot.ground, pose=place)
    pad.frame("lid", lambda x: x[:, 2] > 0.0049)
    place[:3, 3] = 0.04, 0.0, 0.019
    ball = robot.add(ag.RigidBody.sphere(0.01, mass=0.01), at=robot.ground, joint=ag.Free(), pose=place, name="ball")
    top = handle.volume.points_of(lambda x: x[:, 2] > 0.0099, "top")
    contacts = [
        robot.load(ag.Contact(handle, ball, damping=1.0, friction=0.3, surface=top, name="touch")),
        robot.load(ag.Contact(handle, ag.Box((0.0, 0.0, 0.03), (0.01, 0.02, 0.03)), 1e6, spacing=0.01)),
        robot.load(ag.Contact(pad, handle, friction=0.5, damping=1.0)),
    ]
    ag.write_robot(robot, tmp_path / "mat.yaml")
    twin = ag.read_robot(tmp_path / "mat.yaml")
    again = [contact for volume in twin.volumes for contact in volume.contacts]
    assert [contact.label for contact in again] == [contact.label for contact in contacts]
    assert again[2].other is twin.volumes[0] and again[0].other.name == "ball"
    np.testing.assert_array_equal(again[0].surface, top)
    options = {"duration": 0.006, "dt": 0.002, "method": ag.GeneralisedAlpha(0.5)}
    run, other = ag.simulate(robot, **options), ag.simulate(twin, **options)
    np.testing.assert_allclose(other.volume("mat").x, run.volume("mat").x, atol=1e-14)
    run.save(tmp_path / "run.nc")
    kept = ag.load(tmp_path / "run.nc", robot=robot)
    alone = ag.load(tmp_path / "run.nc")
    loaded = [contact for volume in alone.robot.volumes for contact in volume.contacts]
    for contact, its in zip(contacts, loaded, strict=True):
        told, same, twice = run.contacts(contact), kept.contacts(contact), alone.contacts(its)
        for one, two, three in zip(told, same, twice, strict=True):
            np.testing.assert_array_equal(two, one)
            np.testing.assert_array_equal(three, one)
        assert (told.points.max() > 0) == (contact is not contacts[1])
    np.testing.assert_array_equal(kept.energy["total"], run.energy["total"])
    on, back = (ag.simulate(robot, start=start, **options).volume("pad").x for start in (run, kept))
    np.testing.assert_array_equal(back, on)


def test_wrong_contacts_in_files(tmp_path):
    text = """
name: mat
parts:
  ball: {body: {type: sphere, radius: 0.01, mass: 0.01}, at: ground}
volumes:
  mat:
    mesh: {type: block, size: [0.06, 0.06, 0.02], cells: [2, 2, 1]}
    material: {young: 1.0e+5, poisson: 0.4, density: 1000}
    at: ground
    clamps: [{where: base, frame: ground}]
    contacts:
      - WHAT
"""
    path = tmp_path / "mat.yaml"
    for what, match in (
        ("{other: bull}", "bull"),
        ("{friction: 0.3}", "it is missing"),
        ("{other: ball, rubbing: 0.3}", "no such field"),
        ("{other: ball, friction: -0.3}", "friction"),
    ):
        path.write_text(text.replace("WHAT", what), encoding="utf-8")
        with pytest.raises(ag.DescriptionError, match=match):
            ag.read_robot(path)
    path.write_text(text.replace("WHAT", "{other: {type: half_space, offset: -1.0}}"), encoding="utf-8")
    assert isinstance(ag.read_robot(path).volumes[0].contacts[0].other, ag.HalfSpace)
