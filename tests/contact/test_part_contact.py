"""Contact between parts of a robot: exact tangents, momenta, Hertz, impacts, and friction that holds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import anguilla as ag
from anguilla.mechanics.grid import numbered
from anguilla.model.evaluate import residual, tangent
from anguilla.solve.newton.rules import IMPACT
from anguilla.solve.steps.dynamics import advice

SILICONE = ag.Material(1e6, 1000.0, poisson=0.5)
ACROSS = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def pose(x, rotation=None):
    out = np.eye(4)
    out[:3, 3], out[:3, :3] = x, np.eye(3) if rotation is None else rotation
    return out


def crossing(joint=None, **options):
    """Two rods, one across the other, that touch."""
    robot = ag.Robot("crossing", gravity=(0, 0, 0))
    strains = ag.strains.reissner(2)
    a = robot.add(ag.Rod(0.4, ag.Circle(0.01), SILICONE, strains, intervals=6), at=robot.ground, name="a")
    b = robot.add(
        ag.Rod(0.4, ag.Circle(0.008), SILICONE, strains, intervals=5), at=robot.ground, name="b", joint=joint,
        pose=pose((0.21, -0.19, 0.012), ACROSS),
    )  # fmt: skip
    robot.load(ag.Contact(a, b, 1e4, smooth=1e-3, **options))
    return robot


def rod_and(body, place, first=False, **options):
    """A rod and a free body that touch; the body may come first, with its scales."""
    robot = ag.Robot("pair", gravity=(0, 0, 0))
    a = robot.add(ag.Rod(0.4, ag.Circle(0.01), SILICONE, ag.strains.reissner(2), intervals=6), at=robot.ground)
    other = robot.add(body, at=robot.ground, joint=ag.Free(), pose=pose(place))
    robot.load(ag.Contact(*((other, a) if first else (a, other)), 1e4, smooth=1e-3, **options))
    return robot


def pinned(**options):
    """Two free boxes that touch with corners."""
    robot = ag.Robot("boxes", gravity=(0, 0, 0))
    turned = Rotation.from_rotvec((0.1, 0.2, 0.3)).as_matrix()
    a = robot.add(ag.RigidBody.box((0.2, 0.2, 0.1), mass=1.0), at=robot.ground, joint=ag.Free(), name="lower")
    place = pose((0.0, 0.0, 0.078), turned)
    b = robot.add(
        ag.RigidBody.box((0.1, 0.08, 0.04), mass=0.3), at=robot.ground, joint=ag.Free(), name="upper", pose=place
    )
    robot.load(ag.Contact(a, b, 1e4, smooth=1e-3, **options))
    return robot


def bars(turn=(0.3, 0.2, 1.1), **options):
    """Two free capsules that touch along their sides, where neither has its middle."""
    robot = ag.Robot("bars", gravity=(0, 0, 0))
    for name, ends, radius, place, turned in (
        ("lower", ((-0.1, 0.01, 0), (0.12, 0, 0.01)), 0.02, (0, 0, 0), (0, 0, 0)),
        ("upper", ((-0.07, 0, 0), (0.09, 0.01, 0)), 0.012, (0.03, 0.01, 0.034), turn),
    ):
        body = ag.RigidBody(0.3, (1e-3, 2e-3, 2e-3), shape=ag.Capsule(*ends, radius))
        turned = Rotation.from_rotvec(turned).as_matrix()
        robot.add(body, at=robot.ground, joint=ag.Free(), name=name, pose=pose(place, turned))
    robot.load(ag.Contact(*robot.parts, 1e4, smooth=1e-3, **options))
    return robot


def coiled(**options):
    """A rod bent to more than a full turn, so that it touches itself."""
    robot = ag.Robot("coil", gravity=(0, 0, 0))
    rod = robot.add(ag.Rod(0.5, ag.Circle(0.01), SILICONE, ag.strains.kirchhoff(2), intervals=12), at=robot.ground)
    robot.load(ag.SelfContact(rod, 1e4, smooth=1e-3, **options))
    return robot


def balls(model):
    """Coordinates of rotation vectors, three each."""
    starts = [p.joint.start + 3 for p in model.layout.parts if isinstance(p.part.joint, ag.Free)]
    return [slice(k, k + 3) for k in starts]


def tangent_error(model, q, v, a, dt, held=0.0):
    """Largest difference between the tangent and differences of the residual, relative to what contact adds."""
    n, rng = model.size, np.random.default_rng(1)
    loads, lam = model.loads(0.0, {}).loads, np.zeros(0)
    loads.row[0] = dt
    loads.touches.held[:, 0, :3], loads.touches.held[:, 0, 4:] = held * rng.normal(size=(2, len(loads.touches.held), 3))

    def forces(x):
        out, moved = np.zeros(n), q + x
        for k in balls(model):  # turns follow each other
            moved[k] = (Rotation.from_rotvec(q[k]) * Rotation.from_rotvec(x[k])).as_rotvec()
        residual(model.tree, model.workspace, loads, moved, v + 30.0 * x, a + 900.0 * x, lam, out)
        return out

    def matrix():
        forces(np.zeros(n))
        out = np.zeros((n, n))
        tangent(model.tree, model.workspace, loads, 30.0, 900.0, lam, out)
        return out

    forces(np.zeros(n))
    for t, c, k, m in loads.touches.hits[: loads.touches.count[1]]:  # bristles of what touches here
        row = loads.touches.table[t, 6] + k - loads.touches.cluster[loads.touches.table[t, 1], 0]
        loads.touches.held[row, 0, 3] = 1.0 + m + 0.5 if c >= 0 else 0.0
    K, h = matrix(), 1e-6 * np.eye(n)
    D = np.stack([8 * (forces(e) - forces(-e)) - (forces(2 * e) - forces(-2 * e)) for e in h], axis=1) / 12e-6
    touching = int(loads.touches.count[1])
    loads.touches.law[:, 0], kept = 0.0, loads.touches.law[:, 0].copy()
    without = matrix()
    loads.touches.law[:, 0] = kept
    return np.abs(K - D).max() / np.abs(K - without).max(), touching


LAWS = [
    ({}, 0.0),
    ({"damping": 2.0}, 0.0),
    ({"friction": 0.3, "slip": 0.01}, 0.0),
    ({"friction": 0.3}, 1e-7),  # holds
    ({"friction": 0.3}, 1e-2),  # slips
    ({"friction": (0.2, 0.7, 0.4)}, 1e-7),
    ({"friction": (0.2, 0.7, 0.4), "rolling": 2e-3}, 1e-2),
    ({"friction": (0.2, 0.7, 0.4), "slip": 0.01, "rolling": 2e-3}, 0.0),
    ({"rolling": 2e-3}, 1e-7),
]
SCENES = {
    "crossing": crossing,
    "ball": lambda **options: rod_and(ag.RigidBody.sphere(0.03, mass=0.1), (0.25, 0.0, 0.032), **options),
    "box": lambda **options: rod_and(ag.RigidBody.box((0.05, 0.08, 0.06), mass=0.1), (0.25, 0.01, 0.032), **options),
    "can": lambda **options: rod_and(ag.RigidBody.cylinder(0.03, 0.1, mass=0.1), (0.25, 0.01, 0.032), **options),
    "boxes": pinned,
    "bars": bars,
    "ends": lambda **options: bars((0.1, 1.2, 0.3), **options),
    "scaly": lambda **options: rod_and(
        ag.RigidBody.box((0.05, 0.08, 0.06), mass=0.1), (0.25, 0.01, 0.032), True, **options
    ),
}


@pytest.mark.parametrize("law", range(len(LAWS)))
@pytest.mark.parametrize("scene", SCENES)
def test_tangents_are_exact(scene, law):
    options, held = LAWS[law]
    model = ag.Model(SCENES[scene](**options))
    rng = np.random.default_rng(8)  # not where friction just slips
    size = 0.01 * np.ones(model.size)
    for k in balls(model):
        size[k.start - 3 : k.start] = 1e-3
    q, v, a = size * rng.normal(size=(3, model.size))
    error, touching = tangent_error(model, q, v, a, 1e-3, held)
    assert touching > 0
    assert error < 1e-8


@pytest.mark.parametrize("options", [{}, {"friction": 0.4}], ids=["smooth", "rough"])
def test_tangent_of_a_rod_on_itself_is_exact(options):
    model = ag.Model(coiled(**options))
    q = np.zeros(model.size)
    at = 0
    for strain, basis in numbered(model.layout.parts[0].part.rod):
        if strain in (0, 2):  # a turn and a quarter, that rises so that the strands lie beside each other
            q[at] = 0.6 if strain == 0 else 2.5 * np.pi / 0.5
        at += basis.size
    error, touching = tangent_error(model, q, 0.01 * np.ones(model.size), np.zeros(model.size), 1e-3)
    assert touching > 0
    assert error < 1e-7


@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.errors.AnguillaWarning")
def test_momenta_are_kept():
    """Free rods and a ball hit each other; what is missed is of second order in dt."""
    robot = ag.Robot("collision", gravity=(0, 0, 0))
    strains = ag.strains.kirchhoff(2)
    a = robot.add(ag.Rod(0.4, ag.Circle(0.01), SILICONE, strains), at=robot.ground, joint=ag.Free(), name="a")
    place = pose((0.25, -0.2, 0.03), ACROSS)
    b = robot.add(
        ag.Rod(0.4, ag.Circle(0.008), SILICONE, strains), at=robot.ground, joint=ag.Free(), name="b", pose=place
    )
    ball = robot.add(
        ag.RigidBody.sphere(0.03, mass=0.05), at=robot.ground, joint=ag.Free(), pose=pose((0.3, 0.02, 0.09))
    )
    for x, y in ((a, b), (a, ball), (b, ball)):
        robot.load(ag.Contact(x, y, friction=0.4))
    model = ag.Model(robot)
    v = np.zeros(model.size)
    v[model.layout.parts[1].joint.start + 2], v[model.layout.parts[2].joint.start + 2] = -1.0, -2.0
    missed = []
    for dt in (4e-4, 2e-4, 1e-4):
        run = ag.simulate(model, start=(np.zeros(model.size), v), duration=0.06, dt=dt)
        change = [np.abs(x - x[0]).max() / np.abs(x[0]).max() for x in (run.momentum, run.angular_momentum)]
        missed.append(max(change))
        energy = run.energy["total"]
        assert energy.max() < 1.001 * energy[0]
    assert np.abs(run.v[-1] - v).max() > 1.0
    assert missed[-1] < 1e-3
    assert missed[0] / missed[2] > 8.0


@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.errors.AnguillaWarning")
@pytest.mark.parametrize("dt", [0.02, 5e-3])
def test_nothing_fast_jumps_over_something_thin(dt):
    """A ball of 20 mm at 10 m/s, which passes a rod of 8 mm within a step, hits it."""
    robot = ag.Robot("shot", gravity=(0, 0, 0))
    stiff = ag.Material(1e7, 1000.0, damping=1e-3)
    a = robot.add(ag.Rod(0.3, ag.Circle(0.004), stiff, ag.strains.kirchhoff(3)), at=robot.ground)
    ball = robot.add(ag.RigidBody.sphere(0.01, mass=0.004), at=robot.ground, joint=ag.Free(), pose=pose((0.2, 0, 0.1)))
    robot.load(ag.Contact(a, ball, friction=0.3))
    model = ag.Model(robot)
    v = np.zeros(model.size)
    v[model.layout.parts[1].joint.start + 2] = -10.0
    run = ag.simulate(model, start=(np.zeros(model.size), v), duration=0.1, dt=dt)
    assert run.position(ball.frame)[-1, 2] > 0.0
    energy = run.energy["total"]
    assert energy.max() < 1.001 * energy[0]


def test_a_rod_that_flies_fast_past_nothing_is_not_held_up():
    """Only speeds of parts against each other count: a rod at 20 m/s, four radii a step, does not meet itself."""
    robot = ag.Robot("arrow", gravity=(0, 0, 0))
    rod = robot.add(ag.Rod(0.4, ag.Circle(0.01), SILICONE, ag.strains.kirchhoff(2)), at=robot.ground, joint=ag.Free())
    robot.load(ag.SelfContact(rod, friction=0.3))
    model = ag.Model(robot)
    v = np.zeros(model.size)
    v[2] = 20.0
    run = ag.simulate(model, start=(np.zeros(model.size), v), duration=0.1, dt=2e-3)
    assert run.status.counters["substeps"] == 0
    np.testing.assert_allclose(run.position(rod.tip)[-1], (0.4, 0.0, 2.0), atol=1e-9)


def test_contacts_that_are_left_out_for_a_while_come_back():
    """A ball that falls slowly on a rod: the same motion as if contacts were looked for in every evaluation."""
    found = []
    for stand_in in (False, True):
        robot = ag.Robot("drop")
        rod = ag.Rod(0.3, ag.Circle(0.01), SILICONE, ag.strains.kirchhoff(2))
        a = robot.add(rod, at=robot.ground, name="a")
        ball = robot.add(
            ag.RigidBody.sphere(0.02, mass=0.01), at=robot.ground, joint=ag.Free(), pose=pose((0.2, 0, 0.06))
        )
        robot.load(ag.Contact(a, ball, damping=1.0))
        if stand_in:  # something that is always near keeps contacts from being left out
            small = ag.RigidBody.sphere(0.02, mass=0.01)
            still = [
                robot.add(small, at=robot.ground, name=f"s{k}", joint=ag.Free(), pose=pose((0.041 * k, 0.0, -1.0)))
                for k in range(2)
            ]
            robot.load(ag.Contact(*still, 1e-9, damping=0.0))
        run = ag.simulate(robot, duration=0.3, dt=1e-3)
        found.append(run.position(ball.frame))
    np.testing.assert_allclose(found[0], found[1], atol=2e-4)


@pytest.mark.parametrize("held", ["ground", "input", "root", "tip", "far", None])
def test_the_ends_of_a_ring_are_neighbours(held):
    """A ring whose ends are joined overlaps there without touching itself; one whose ends just meet does touch."""
    robot, length = ag.Robot("ring", gravity=(0, 0, 0)), 0.5
    joint = ag.Free() if held in ("root", "tip") else ag.Fixed()
    rod = ag.Rod(length, ag.Circle(0.01), SILICONE, ag.strains.kirchhoff(2), intervals=12)
    ring = robot.add(rod, at=robot.ground, joint=joint, pose=pose((0.1, 0, 0)))
    if held == "ground":
        robot.close(robot.ground, ring.tip, pose=lambda t: pose((0.1, 0, 0)))
    elif held == "input":  # a pull apart, by an input
        pull = robot.input("pull", "m")
        robot.close(robot.ground.offset_by((0.1, 0, 0)), ring.tip, pose=lambda t: (pull(t), 0, 0))
    elif held == "far":  # it is to be opened
        robot.close(robot.ground, ring.tip, pose=lambda t: (0.2, 0, 0))
    elif held is not None:
        robot.close(*((ring.root, ring.tip) if held == "root" else (ring.tip, ring.root)))
    robot.load(ag.SelfContact(ring, 1e4))
    model = ag.Model(robot)
    q = np.zeros(model.size)
    q[robot.coordinates().index("rod.bend_z[0]")] = 2.0 * np.pi / length
    loads, zero = model.loads(0.0, {}).loads, np.zeros(model.size)
    multipliers = np.zeros(0 if held is None else 6)
    residual(model.tree, model.workspace, loads, q, zero, zero, multipliers, np.zeros(model.size + len(multipliers)))
    assert (loads.touches.count[1] > 0) == (held in ("far", None))


def test_a_spring_is_pressed_until_its_turns_lie_on_each_other():
    """Turns in the middle touch both neighbours, now one deeper, now the other; they end a diameter apart."""
    radius, around, pitch, turns = 0.002, 0.01, 0.008, 3.0
    robot = ag.Robot("spring", gravity=(0, 0, 0))
    length, slope = turns * np.hypot(2 * np.pi * around, pitch), np.arctan2(pitch, 2 * np.pi * around)
    tangent = np.array([0.0, np.cos(slope), np.sin(slope)])
    axes = np.stack([tangent, (-1.0, 0.0, 0.0), np.cross(tangent, (-1.0, 0.0, 0.0))], axis=1)
    rubber = ag.Material(1e7, 1100.0, poisson=0.5, damping=0.01)
    rod = ag.Rod(length, ag.Circle(radius), rubber, ag.kirchhoff(5), rest=ag.Helix(around, pitch), intervals=24)
    wire = robot.add(rod, at=robot.ground, pose=pose((0, 0, 0), axes), name="wire")
    part = lambda t: np.sin(0.5 * np.pi * min(t / 0.4, 1.0)) ** 4  # starts and ends smoothly
    end = lambda t: pose((0, 0, turns * (pitch - (pitch - 1.95 * radius) * part(t))), axes)
    robot.close(robot.ground, wire.tip, pose=end, name="clamp")
    robot.load(ag.SelfContact(wire, 2e4, damping=5.0, spacing=0.5 * radius))
    for axis in np.eye(3):
        robot.load(ag.WorldSpring(wire, 0.0, axis, damping=0.5))
    run = ag.simulate(robot, duration=0.5, dt=5e-3)
    line = run.centerline(wire, 301)[-1]
    apart = np.linalg.norm(line[100:201] - line[:101], axis=1)
    assert apart[20:80].min() > 1.9 * radius and apart[20:80].max() < 2.15 * radius


def test_a_motion_that_stops_where_parts_touch_says_which():
    robot = coiled()
    run = ag.simulate(robot, duration=2e-3, dt=1e-3)
    assert "SelfContact of rod: try a smaller dt" in advice(IMPACT, run)
