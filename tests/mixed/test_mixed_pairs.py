"""Soft volumes that touch each other: closest places, tangents, balance, symmetry, Hertz, momentum, friction."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial import cKDTree

import anguilla as ag
from anguilla.mixed.contact import grips_of
from anguilla.mixed.model import mixed_of
from anguilla.mixed.statics import Balance, Mixed, factored, solved
from anguilla.model.user import move

SOFT = ag.Material(young=1e5, poisson=0.3, density=1000, damping=0.005)
G = 9.81
BOTTOM, TOP = (lambda x: x[:, 2] < -0.01 + 1e-9), (lambda x: x[:, 2] > 0.01 - 1e-9)


def placed(x=0.0, y=0.0, z=0.0, turned=False):
    pose = np.diag([1.0, -1.0, -1.0, 1.0]) if turned else np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def slab(cells, size=(0.04, 0.04, 0.02), name="slab"):
    return ag.Volume(ag.fem.block(size, cells), SOFT, name=name)


def two_slabs(gap, cells=(3, 3, 2), other=(2, 2, 2), shift=(0.0, 0.0), led=False, turned=False, **options):
    """A slab on the ground, and one above it that hangs on a plate which moves up and down."""
    robot = ag.Robot("two", gravity=(0, 0, 0))
    low = robot.add(slab(other, name="low"), at=robot.ground, patch=BOTTOM)
    plate = robot.add(
        ag.RigidBody.box((0.04, 0.04, 0.005), mass=0.1), at=robot.ground, joint=ag.Prismatic((0, 0, 1)), name="plate",
        pose=placed(z=0.03 + gap),
    )  # fmt: skip
    up = robot.add(slab(cells, name="up"), at=robot.ground, pose=placed(*shift, 0.02 + gap, turned=turned))
    up.clamp(BOTTOM if turned else TOP, plate.frame)
    if led:  # some of what touches is led by frames
        up.frame("foot", lambda x: BOTTOM(x) & (x[:, 0] < 0.02))
        low.frame("head", lambda x: TOP(x) & (x[:, 0] > 0.015))
    return robot, plate, up, low, robot.load(ag.Contact(up, low, **options))


def shaken(friction, slide, led=False, size=2e-4, dent=0.0):
    """The balance of two slabs in each other, with nodes moved by chance, bristles bent by `slide`; and the state."""
    robot, *_ = two_slabs(-5e-4 - dent, shift=(0.003, 0.004), led=led, friction=friction, damping=2.0)
    model = mixed_of(robot)
    carrier, rng, q = model.carrier, np.random.default_rng(0), np.zeros(model.carrier.size)
    problem = Balance(model, carrier, model.table(0.0, {}, carrier).loads, [np.zeros(0)] * 2, 0.0)
    poses = model.lead(q).poses
    x = [half.started(poses, model.axes_of(k, q), np.zeros(3)) for k, half in enumerate(model.halves)]
    for half, nodes in zip(model.halves, x, strict=True):
        nodes[half.free] += size * rng.standard_normal((len(half.free), 3))
    x[0][np.argmin(np.linalg.norm(x[0] - [0.02, 0.0, 0.01], axis=1)), 2] -= dent
    before = [x[0], x[1] - slide * np.array([1.0, 0.4, 0.1])]
    problem.grips = grips_of(model, before, poses, [None] * 3, rate=100.0)
    return problem, Mixed(q, np.zeros(carrier.rows), x)


def inside(x, tets, places):
    """Whether places (k, 3) lie in some tetrahedron."""
    corner = x[tets]
    inverse = np.linalg.inv(np.swapaxes(corner[:, 1:] - corner[:, :1], 1, 2))
    bary = np.einsum("eij,kej->kei", inverse, places[:, None] - corner[None, :, 0])
    return ((bary.min(axis=2) >= 0.0) & (bary.sum(axis=2) <= 1.0)).any(axis=1)


def distances(x, faces, places, fine=30):
    """Distances (k,) of places from many points of a surface, and the most that is between these."""
    i, j = np.meshgrid(np.arange(fine + 1), np.arange(fine + 1), indexing="ij")
    s, t = (i[i + j <= fine] / fine, j[i + j <= fine] / fine)
    bary = np.stack([1 - s - t, s, t], axis=1)
    cloud = np.einsum("ba,faj->fbj", bary, x[faces]).reshape(-1, 3)
    return cKDTree(cloud).query(places)[0], 0.03 / fine


def test_closest_places():
    """Depths are distances from the surface, and positive inside, with dents and edges; by brute force."""
    problem, state = shaken(0.0, 0.0, size=1.5e-3)
    pair, low = problem.model.pairs[0], state.x[0]
    pair.reach = 8e-3
    found, depth = pair._found(state.x[1], low)
    seen = found[:, 0] >= 0
    assert len(np.unique(found[seen, 1] >= 1)) == 2  # edges and corners are among them
    places = pair.places(state.x[1])[seen]
    tets = problem.model.halves[0].system.grid.cells
    np.testing.assert_array_equal(depth[seen] > 0.0, inside(low, tets, places))
    near, apart = distances(low, pair.surface.faces, places)
    assert np.all(np.abs(depth[seen]) < near * (1 + 1e-12))
    assert np.all(np.hypot(depth[seen], apart) > near)
    far, _ = distances(low, pair.surface.faces, pair.places(state.x[1])[~seen])
    assert far.min() > pair.reach


@pytest.mark.parametrize(("friction", "slide"), [(0.0, 0.0), (0.5, 1e-5), (0.1, 1e-3)])
@pytest.mark.parametrize("led", [False, True])
def test_tangent(friction, slide, led):
    """The factorised tangent undoes differences of the balance, all cross terms between the volumes included."""
    problem, state = shaken(friction, slide, led)
    model, carrier, rng, e = problem.model, problem.carrier, np.random.default_rng(1), 1e-6
    dq = 0.01 * rng.standard_normal(carrier.size)
    dx = [0.01 * rng.standard_normal((len(half.free), 3)) for half in model.halves]
    with model.alone, carrier.apart():
        at = problem.evaluate(state)
        kinds = np.bincount(at.meets[0].mode, minlength=3)
        assert kinds[2 if slide > 1e-4 else 1] > 20
        by = factored(model, carrier, at.carrier.bordered(), at, problem.loads, definite=False)

        def left(s):
            x = [nodes.copy() for nodes in state.x]
            for half, nodes, change in zip(model.halves, x, dx, strict=True):
                nodes[half.free] += s * change
            known = problem.evaluate(Mixed(move(carrier.tree, state.q, s * dq), state.lam, x), stiffness=False)
            rows = [g[half.free].ravel() for half, g in zip(model.halves, known.gradients, strict=True)]
            return np.concatenate([known.left, *rows])

        slope, n = (left(e) - left(-e)) / (2 * e), carrier.size
        ends = np.cumsum([n, *(3 * len(half.free) for half in model.halves)])
        rows = [slope[None, a:b] for a, b in pairwise(ends)]
        step, nodes = solved(model, by, slope[:n, None], rows)
    np.testing.assert_allclose(step[:, 0], dq, atol=1e-9)
    for found, change in zip(nodes, dx, strict=True):
        np.testing.assert_allclose(found[0].reshape(-1, 3), change, atol=1e-9)


def test_directions_in_which_energy_falls():
    """What ties between volumes add to their number, against the eigenvalues of the whole, for stiff and pulling ties."""
    problem, state = shaken(0.0, 0.0)
    model, carrier = problem.model, problem.carrier
    with model.alone, carrier.apart():
        at = problem.evaluate(state)
        by = factored(model, carrier, at.carrier.bordered(), at, problem.loads, definite=False)
        sizes = [carrier.size, *(3 * len(half.free) for half in model.halves)]
        ends = np.cumsum([0, *sizes])
        unit = np.eye(ends[-1])
        rows = [unit[:, a:b] for a, b in pairwise(ends[1:])]
        step, alone = solved(model, by._replace(ties=None), unit[: carrier.size], rows)
    T, S = np.linalg.inv(np.hstack([step.T, *alone])), by.ties.moved(unit[: carrier.size], rows)
    for size in (1.0, 1.5, -1.0, -3.0):
        ties = by.ties._replace(E=size * by.ties.E)
        values = [np.linalg.eigvalsh(0.5 * (K + K.T)) for K in (T, T + S.T @ ties.E @ S)]
        assert ties.falling() == np.sum(values[1] < 0.0) - np.sum(values[0] < 0.0)
    assert np.sum(values[1] < 0.0) > np.sum(values[0] < 0.0) == 0


@pytest.mark.parametrize(("friction", "slide"), [(0.0, 0.0), (0.5, 1e-5), (0.1, 1e-3)])
def test_action_is_reaction(friction, slide):
    """Forces and moments on both volumes cancel, those of each point by themselves; so does what is told of them."""
    problem, state = shaken(friction, slide, dent=3e-3)
    pair = problem.model.pairs[0]
    met = pair.press(state.x, problem.grips[2])
    places = pair.places(state.x[1], met.on)
    corners = state.x[0][pair.surface.faces[met.state[met.on, 0]]]
    assert (met.state[met.on, 1] > 0).any()  # some at edges
    size = np.abs(met.force).max()
    np.testing.assert_allclose(met.force.sum(axis=1), 0.0, atol=1e-14 * size)
    moments = np.cross(places, met.force[:, 0]) + np.cross(corners, met.force[:, 1:]).sum(axis=1)
    np.testing.assert_allclose(moments, 0.0, atol=1e-12 * size * 0.04)
    nodal = [np.zeros_like(x) for x in state.x]
    for k, out in enumerate(nodal):
        pair.spread(k, met.on, met.state[met.on, 0], met.force, out)
    np.testing.assert_allclose(sum(out.sum(axis=0) for out in nodal), 0.0, atol=1e-12 * size)
    turn = sum(np.cross(x, out).sum(axis=0) for x, out in zip(state.x, nodal, strict=True))
    np.testing.assert_allclose(turn, 0.0, atol=1e-12 * size * 0.04)


def test_forces_come_from_an_energy():
    """Without friction, forces on both are minus the slope of the energy, at edges too."""
    problem, state = shaken(0.0, 0.0, dent=3e-3)
    pair, rng, e = problem.model.pairs[0], np.random.default_rng(2), 1e-9
    d = [rng.standard_normal(x.shape) for x in state.x]
    met = pair.press(state.x, None)
    ahead, behind = (pair.press([x + s * e * c for x, c in zip(state.x, d, strict=True)], None) for s in (1, -1))
    assert (met.state[met.on, 1] > 0).any()
    nodal = [np.zeros_like(x) for x in state.x]
    for k, out in enumerate(nodal):
        pair.spread(k, met.on, met.state[met.on, 0], met.force, out)
    power = sum(float(np.sum(out * change)) for out, change in zip(nodal, d, strict=True))
    assert (ahead.kept.sum() - behind.kept.sum()) / (2 * e) == pytest.approx(-power, rel=1e-6)


def pushed_together(force=-2.0, **options):
    robot, plate, up, low, contact = two_slabs(-1e-5, **options)
    robot.load(ag.Wrench(plate.frame, force=(0, 0, force)))
    return robot, plate, up, low, contact


def test_two_blocks_are_one_on_a_plane():
    """Two equal blocks that are pressed together, one upside down: each as if on a rigid plane, with half of the depth."""
    stiff, smooth = 1e9, 1e-9
    robot, *_, contact = pushed_together(cells=(4, 4, 2), other=(4, 4, 2), turned=True, stiffness=stiff, smooth=smooth)
    both = ag.statics(robot)
    assert both.contacts(contact).force[2] == pytest.approx(-2.0, abs=1e-10)
    robot = ag.Robot("one", gravity=(0, 0, 0))
    plate = robot.add(
        ag.RigidBody.box((0.04, 0.04, 0.005), mass=0.1), at=robot.ground, joint=ag.Prismatic((0, 0, 1)), name="plate",
        pose=placed(z=0.02 - 0.5e-5),
    )  # fmt: skip
    up = robot.add(slab((4, 4, 2), name="up"), at=robot.ground, pose=placed(z=0.01 - 0.5e-5, turned=True))
    up.clamp(BOTTOM, plate.frame)
    robot.load(ag.Contact(up, ag.HalfSpace(), 2 * stiff, smooth=0.5 * smooth))
    robot.load(ag.Wrench(plate.frame, force=(0, 0, -2.0)))
    one = ag.statics(robot)
    assert both.q[0] == pytest.approx(2 * one.q[0], rel=1e-3)
    wide = [np.ptp(found.volume("up").x[:, 0]) - 0.04 for found in (both, one)]
    assert wide[0] == pytest.approx(wide[1], rel=5e-3)


def free(robot, cells, x, y, z, name, size=(0.03, 0.03, 0.02)):
    """A block that floats: a corner of its top is its frame."""
    block = robot.add(slab(cells, size, name), at=robot.ground, pose=placed(x, y, z))
    block.frame(f"{name}_top", TOP)
    return block


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_momentum_of_two_that_hit_each_other(friction):
    """Two blocks that float hit each other askew: momenta are kept, nothing gains energy."""
    robot = ag.Robot("hit", gravity=(0, 0, 0))
    free(robot, (2, 2, 1), 0.0, 0.0, 0.0, "low")
    up = free(robot, (2, 2, 1), 0.007, 0.004, 0.0203, "up")
    contact = robot.load(ag.Contact(up, robot.volumes[0], friction=friction))
    names, v = list(robot.coordinates()), np.zeros(robot.size)
    v[names.index("up_top.z")], v[names.index("up_top.x")] = -0.1, 0.05
    run = ag.simulate(robot, duration=0.02, dt=5e-4, start=(np.zeros(robot.size), v), tolerance=1e-11)
    points = run.contacts(contact).points
    assert points.max() > 10 and points[-1] == 0
    p = run.momentum
    np.testing.assert_allclose(p, np.broadcast_to(p[0], p.shape), atol=1e-7 * np.abs(p).max())
    force = run.contacts(contact).force
    assert np.abs(force[:, 0]).max() > 0.05 * np.abs(force[:, 2]).max() if friction else True
    total = run.energy["total"]
    assert total.max() < total[0] * (1 + 1e-9) and total[-1] < 0.999 * total[0]


@cache
def on_slope(tangent, friction, duration=0.15):
    """A free block on a mat, gravity turned."""
    angle = np.arctan(tangent)
    robot = ag.Robot("slope", gravity=G * np.array([np.sin(angle), 0.0, -np.cos(angle)]))
    mat = robot.add(slab((3, 3, 1), (0.06, 0.06, 0.02), "mat"), at=robot.ground, patch=BOTTOM)
    block = free(robot, (2, 2, 1), 0.0, 0.001, 0.02, "block")
    contact = robot.load(ag.Contact(block, mat, friction=friction, damping=1.0))
    return robot, contact, ag.simulate(robot, duration=duration, dt=2e-3, method=ag.GeneralisedAlpha(0.5)), angle


def test_holds_on_a_slope(tmp_path):
    """Below the angle of friction a block stays, without creeping; the mat carries its weight."""
    robot, contact, run, angle = on_slope(0.3, 0.4, 0.2)
    x = run.volume("block").x.mean(axis=1)[:, 0]
    assert x[-1] - x[0] < 1e-3
    assert abs(x[-1] - x[-15]) < 2e-6
    weight = 1000 * 0.03 * 0.03 * 0.02 * G * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    np.testing.assert_allclose(run.contacts(contact).force[-1], weight, atol=2e-3 * np.linalg.norm(weight))
    still = ag.statics(robot, start=run)
    np.testing.assert_allclose(still.contacts(contact).force, weight, atol=1e-8 * np.linalg.norm(weight))
    assert np.abs(still.volume("block").x - run.volume("block").x[-1]).max() < 1e-4
    still.save(tmp_path / "still.nc")
    kept = ag.load(tmp_path / "still.nc", robot=robot)
    np.testing.assert_array_equal(kept.contacts(contact).force, still.contacts(contact).force)
    again = ag.statics(robot, start=kept)  # bristles are as they were: without them the block would slide
    np.testing.assert_allclose(again.volume("block").x, still.volume("block").x, atol=1e-9)


def test_slides_down_a_steeper_slope():
    """Above it, the block slides with g (sin - friction cos), in the mean over what the two swing."""
    _, contact, run, angle = on_slope(0.5, 0.2)
    v = run.volume("block").v.mean(axis=1)[:, 0]
    slope = np.polyfit(run.t[20:], v[20:], 1)[0]
    assert slope == pytest.approx(G * (np.sin(angle) - 0.2 * np.cos(angle)), rel=0.03)
    force = run.contacts(contact).force[20:].mean(axis=0)
    assert -force[0] / force[2] == pytest.approx(0.2, rel=0.01)


def test_touches_itself():
    """The rigid tips of a soft clip are pressed onto each other: stiffness times area times depth; nothing before that."""
    leg, radius, thick, wide, tip = 0.03, 0.01, 0.004, 0.006, 0.0102
    length = 2 * leg + np.pi * radius
    mesh = ag.fem.block((length, wide, thick), (18, 1, 1))
    s, y, z = mesh.points.T
    turn = np.clip((s - leg) / radius, 0.0, np.pi)
    along = np.clip(s, 0.0, leg) - np.clip(s - leg - np.pi * radius, 0.0, leg)
    places = np.stack([along + (radius - z) * np.sin(turn), y, (z - radius) * np.cos(turn)], axis=1)
    robot = ag.Robot("clip", gravity=(0, 0, 0))
    clip = robot.add(
        ag.Volume(ag.fem.TetMesh(places, mesh.tets), SOFT, name="clip"), at=robot.ground, patch=np.flatnonzero(s < tip)
    )
    gap, depth, stiff = 2 * radius - thick, 2e-4, 1e7
    slide = ag.Prismatic((0, 0, 1), motion=lambda t: -t * (gap + depth))
    jaw = robot.add(ag.RigidBody(0.1), at=robot.ground, joint=slide, name="jaw")
    clip.clamp(np.flatnonzero(s > length - tip), jaw.frame)
    contact = robot.load(ag.Contact(clip, clip, stiff, smooth=1e-6))
    open_, half = ag.statics(robot), ag.statics(robot, t=0.5)
    assert open_.contacts(contact).points == half.contacts(contact).points == 0
    near = ag.statics(robot, t=0.9, start=half)
    closed = ag.statics(robot, t=1.0, start=near)
    area = wide * np.max(s[s < tip])
    assert near.contacts(contact).points == 0
    forces = closed.contact_points(contact).force  # points of both sides push
    assert abs(forces[:, 2].sum()) < 1e-9
    tips = closed.contact_points(contact).place[:, 0] < area / wide  # soft faces beside them touch a little
    pushed = stiff * area * (depth - 0.5e-6)
    assert forces[tips & (forces[:, 2] > 0.0), 2].sum() == pytest.approx(pushed, rel=1e-6)


@pytest.mark.slow
def test_two_balls_are_hertz():
    """Two equal caps of radius R, of meshes that are fine where they touch: 4/3 E* (R/2)^0.5 depth^1.5, E* of both."""
    radius, depth, n, power = 0.1, 1e-4, 5, 2.0
    length = 10 * np.sqrt(radius * depth)
    mesh = ag.fem.block((1.0, 1.0, 1.0), (2 * n, 2 * n, n))
    x = (mesh.points - mesh.points.min(axis=0)) / np.ptp(mesh.points, axis=0)
    u = 2 * x[:, :2] - 1
    flat, z = length * np.sign(u) * np.abs(u) ** power, -length * (1 - x[:, 2]) ** power
    z = z - 0.5 * np.sum(flat**2, axis=1) / radius * np.exp(3 * z / length)
    cap = ag.fem.TetMesh(np.column_stack([flat, z]), mesh.tets)
    base = lambda x: x[:, 2] < -length + 1e-9
    robot = ag.Robot("hertz", gravity=(0, 0, 0))
    volumes = [ag.Volume(cap, SOFT, name=name, element="quadratic") for name in ("low", "up")]
    low = robot.add(volumes[0], at=robot.ground, patch=base)
    up = robot.add(volumes[1], at=robot.ground, pose=placed(z=-depth, turned=True))
    hold = robot.add(ag.RigidBody(1.0), at=robot.ground, joint=ag.Prismatic((0, 0, 1), motion=0.0), name="hold")
    up.clamp(base, hold.frame)
    contact = robot.load(ag.Contact(up, low))
    force = -ag.statics(robot).contacts(contact).force[2]
    hertz = 4 / 3 * 1e5 / (1 - 0.3**2) / 2 * np.sqrt(radius / 2) * depth**1.5
    assert force == pytest.approx(hertz, rel=0.03)
