"""Contact with boxes, capsules, cylinders, meshes and height fields: forces, energies, files."""

import numpy as np
import pytest
from contact_surfaces import ball, bend, block, stl, straight

import anguilla as ag
from anguilla.files import FileError, read_text_file, robot_text

RUBBER = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=0.01)
STEEL = ag.Material(young=5e8, poisson=0.4, density=1200.0, damping=0.02)


def thrown(obstacle, radius=0.02, mass=0.1, gravity=(0, 0, 0), stiffness=1e5, **options):
    robot = ag.Robot("ball", gravity=gravity)
    body = robot.add(ag.RigidBody.sphere(radius, mass=mass), at=robot.ground, joint=ag.Free(), name="ball")
    robot.load(ag.Contact(body, obstacle, stiffness, **options))
    return robot


def start(x, v):
    return np.concatenate([x, np.zeros(3)]), np.concatenate([v, np.zeros(3)])


def sagging(obstacle):
    """A rod of 0.4 m that is held at its root on the axis of a tube, and lies down in it."""
    robot = ag.Robot("rod")
    rod = ag.Rod(0.4, ag.Circle(0.008), RUBBER, ag.kirchhoff(6), intervals=24)
    arm = robot.add(rod, at=robot.ground.offset_by((0.03, 0, 0)), name="arm")
    return robot, robot.load(ag.Contact(arm, obstacle, 1e4, smooth=1e-4))


def test_a_mesh_tube_holds_a_rod_as_a_pillar_does(tmp_path):
    """All along, force by force, of what is read from a file; and 1 % of the largest."""
    (tmp_path / "tube.stl").write_bytes(stl(*straight(0.02, 0.5, 96, 40)))
    found = []
    for tube in (ag.Pillar((0, 0, 0), (1, 0, 0), 0.02, inside=True), ag.Mesh(tmp_path / "tube.stl", inside=True)):
        robot, touch = sagging(tube)
        eq = ag.statics(robot)
        found.append(eq.exerted(touch).wrench[:, 3:])
    plain, mesh = found
    assert np.sum(plain[:, 2] > 0.0) >= 10
    assert np.max(np.abs(mesh - plain)) < 0.01 * np.abs(plain).max()
    np.testing.assert_allclose(mesh.sum(axis=0), plain.sum(axis=0), atol=0.005 * np.abs(plain[:, 2].sum()))


# bounces at all angles are chaotic: the energy is what matters here
@pytest.mark.filterwarnings("ignore:The time steps of 'ball':anguilla.errors.AnguillaWarning")
@pytest.mark.parametrize(
    "room",
    [
        ag.Box((0, 0, 0), (0.3, 0.2, 0.25), (0.2, 0.4, -0.1), inside=True, round=0.03),
        ag.Cylinder((0, 0, 0), (1, 2, 0), 0.12, 0.3, inside=True, round=0.03),
        ag.Capsule((-0.1, 0, 0), (0.1, 0.05, 0), 0.1, inside=True),
        ag.Mesh(None, *ball(0.15, 5), inside=True),
    ],
    ids=["box", "cylinder", "capsule", "mesh"],
)
def test_a_ball_in_a_room_keeps_its_energy(room):
    """Some fifteen bounces at all angles, without damping, in about six steps an impact."""
    robot = thrown(room)
    run = ag.simulate(robot, duration=1.0, dt=5e-4, start=start((0, 0, 0), (2.0, 1.3, 0.9)), method=ag.Newmark())
    energy = run.energy["total"]
    assert np.sum(np.diff(np.sign(run.v[:, 0])) != 0) >= 4
    assert energy.max() < 1.02 * energy[0] and energy[-1] > 0.98 * energy[0]
    assert run.depth(robot.loads[0]).max() < 0.015


@pytest.mark.parametrize(
    "solid",
    [
        ag.Box((0, 0, 0), (0.01, 0.2, 0.2)),
        ag.Cylinder((0, 0, 0), (1, 0, 0), 0.1, 0.01),
        ag.Capsule((0, -0.1, 0), (0, 0.1, 0), 0.005),
        ag.Mesh(None, *block((0.01, 0.2, 0.2)), spacing=0.0025, margin=0.006),
    ],
    ids=["box", "coin", "bar", "mesh"],
)
def test_nothing_fast_goes_through_something_thin(solid):
    """10 m/s against 10 mm, in steps in which the ball goes 20 mm."""
    robot = thrown(solid, radius=0.005, mass=0.01, stiffness=1e6)
    run = ag.simulate(robot, duration=0.02, dt=2e-3, start=start((-0.1, 0.002, 0.001), (10.0, 0, 0)))
    assert run.v[-1, 0] < -9.0 and run.q[:, 0].max() < -0.005
    assert np.linalg.norm(run.v[-1, :3]) == pytest.approx(10.0, rel=0.02)


def test_a_ball_bounces_on_a_mesh_as_on_a_floor():
    """A block of triangles, in the middle of its face: heights of the bounces, and the same as of a half-space."""
    tops = []
    for floor in (ag.HalfSpace(), ag.Mesh(None, *block((0.4, 0.4, 0.2)), pose=(0, 0, -0.1))):
        robot = thrown(floor, gravity=(0, 0, -9.81))
        run = ag.simulate(robot, duration=0.6, dt=2e-4, start=start((0.01, 0.02, 0.12), (0, 0, 0)))
        tops.append(run.q[:, 2])
    np.testing.assert_allclose(tops[1], tops[0], atol=1e-3)


@pytest.mark.filterwarnings(
    "ignore:The equilibrium of 'ball' is not unique:anguilla.errors.AnguillaWarning"
)  # it may turn
def test_a_ball_comes_to_rest_in_a_hollow_of_the_ground():
    """The weight is carried, where the ground is level."""
    x = 0.05 * (np.arange(21) - 10)
    bowl = ag.HeightField(x[:, None] ** 2 + 2.0 * x**2, 0.05, (-0.5, -0.5, 0.0))
    robot = thrown(bowl, radius=0.05, gravity=(0, 0, -9.81), stiffness=2e3)
    eq = ag.statics(robot, start=start((0.15, -0.1, 0.12), (0, 0, 0))[0])
    np.testing.assert_allclose(eq.q[:2], 0.0, atol=1e-3)
    np.testing.assert_allclose(eq.exerted(robot.loads[0]).force, [0, 0, 0.1 * 9.81], atol=1e-6)


def test_a_rod_in_a_curved_lumen_is_in_balance():
    """Pushed into a bend and let come to rest, without friction: walls and root carry all, and lie within the lumen."""
    lumen = ag.Mesh(None, *bend(0.015, 0.1, 0.08, np.pi / 2), inside=True)
    robot = ag.Robot("catheter", gravity=(0, 0, 0))
    ball = ag.RigidBody.sphere(0.004, mass=0.01)
    hand = robot.add(ball, at=robot.ground.offset_by((0.01, 0, 0)), joint=ag.Prismatic((1, 0, 0)), name="hand")
    wire = robot.add(ag.Rod(0.18, ag.Circle(0.003), STEEL, ag.kirchhoff(8), intervals=48), at=hand.frame, name="wire")
    walls = robot.load(ag.Contact(wire, lumen, 1e5, smooth=3e-4))
    tip = robot.load(ag.Contact(wire.tip, lumen, 1e4, radius=0.003, smooth=3e-4))
    robot.load(ag.Wrench(hand.frame, force=(1.0, 0, 0)))
    eq = ag.statics(robot)
    deepest = max(eq.depth(walls).max(), eq.depth(tip).max())
    assert 1e-4 < deepest < 1e-3 and np.sum(eq.depth(walls) > 0.0) >= 2
    assert eq.position(wire.tip)[2] > 0.01  # it went into the bend
    push = eq.exerted(walls).force + eq.exerted(tip).force
    assert push[0] == pytest.approx(-1.0, abs=1e-6)  # along the way of the hand only the walls hold it


ROOMS = {
    "ball in a sharp box": (ag.Box((0, 0, 0), (0.2, 0.2, 0.2), inside=True), 0.02, "its inner edges are rounded by 0.01 m"),
    "ball that does not fit": (ag.Box((0, 0, 0), (0.2, 0.2, 0.03), inside=True), 0.02, "does not fit inside one of 0.015 m"),
    "ball with little play": (ag.Mesh(None, *ball(0.025, 3), inside=True), 0.022, "give a smaller spacing"),
    "ball too large for a grid": (ag.Mesh(None, *block((0.02, 0.02, 0.02))), 0.02, "give more by margin"),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(ROOMS))
def test_what_cannot_be_right_is_refused(case):
    obstacle, radius, text = ROOMS[case]
    with pytest.raises(ag.DescriptionError, match=text):
        thrown(obstacle, radius=radius)


FILE = """
parts:
  arm:
    rod: {length: 0.3, section: {type: circle, radius: 0.01}, material: {young: 1e6, density: 1000}, strains: {bend_y: 3}}
    at: ground
loads:
  - type: contact
    where: arm
    stiffness: 1e4
    obstacle: {type: box, centre: [0.2, 0, -0.1], size: [0.1, 0.1, 0.05], rotation: [0, 0.2, 0]}
  - type: contact
    where: arm
    stiffness: 1e4
    obstacle: {type: capsule, a: [0.2, 0, -0.1], b: [0.2, 0.1, -0.1], radius: 0.02}
  - type: contact
    where: arm
    stiffness: 1e4
    obstacle: {type: cylinder, centre: [0.2, 0, -0.2], axis: [0, 1, 0], radius: 0.05, length: 0.1}
  - type: contact
    where: arm
    stiffness: 1e4
    obstacle: {type: height_field, heights: [[-0.2, -0.2], [-0.3, -0.2]], spacing: 0.3}
  - type: contact
    where: arm
    stiffness: 1e4
    obstacle: {type: mesh, path: MESH, scale: 0.001, pose: [0, 0, -0.2]}
"""


def test_robot_files_hold_shapes(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "block.stl").write_bytes(stl(1000.0 * block((0.1, 0.1, 0.1))[0], block((1, 1, 1))[1]))
    (tmp_path / "robot.yaml").write_text(FILE.replace("MESH", "parts/block.stl"))
    robot = ag.read_robot(tmp_path / "robot.yaml")
    again = read_text_file(robot_text(robot)).robot
    x = np.random.default_rng(0).uniform(-0.3, 0.3, (20, 3))
    for one, other in zip(robot.loads, again.loads, strict=True):
        assert type(one.obstacle) is type(other.obstacle)
        np.testing.assert_allclose(other.obstacle.distance(x), one.obstacle.distance(x), atol=1e-12)
    eq = ag.statics(robot)
    eq.save(tmp_path / "result.nc")
    back = ag.load(tmp_path / "result.nc")
    for one, other in zip(robot.loads, back.robot.loads, strict=True):
        np.testing.assert_allclose(back.depth(other), eq.depth(one), atol=1e-9)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("../block.stl", "lies outside of the folder"),
        ("/tmp/block.stl", "absolute path"),
        ("secret.txt", r"must end in .stl or .obj"),
        ("none.stl", "there is no file"),
    ],
)
def test_robot_files_name_meshes_in_their_folder_only(tmp_path, path, text):
    (tmp_path / "inner").mkdir()
    (tmp_path / "block.stl").write_bytes(stl(*block((0.1, 0.1, 0.1))))
    (tmp_path / "inner" / "secret.txt").write_text("secret")
    (tmp_path / "inner" / "robot.yaml").write_text(FILE.replace("MESH", path))
    with pytest.raises(FileError, match=text):
        ag.read_robot(tmp_path / "inner" / "robot.yaml")
    with pytest.raises(FileError, match="a text cannot name files"):
        read_text_file(FILE.replace("MESH", path))


@pytest.mark.parametrize(
    "wall",
    [ag.Box((0.2, 0.12, 0), (0.3, 0.2, 0.3), (0, 0, 0.1)), ag.Mesh(None, *ball(0.1, 4), pose=(0.22, 0.122, -0.02))],
    ids=["box", "mesh"],
)
def test_gradients_go_through_shapes(wall):
    """Where a tip ends that a tendon pulls against it, by the adjoint and by differences."""
    robot = ag.Robot("arm", gravity=(0, 0, -1.0))
    rod = ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.Strains(bend_y=3, bend_z=2), intervals=10)
    arm = robot.add(rod, at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.008)))
    touch = robot.load(ag.Contact(arm, wall, 500.0, damping=1.0, friction=0.4, slip=0.05, smooth=1e-3))
    cost = ag.Reach(arm.tip, (0.2, 0.1, -0.1))
    tension = np.linspace(0.0, 3.0, 41)
    move = lambda u: ag.simulate(
        robot, duration=0.2, dt=5e-3, inputs={"pull": ag.Sampled(u, 5e-3)}, smooth_start=False, tolerance=1e-12
    )
    run = move(tension)
    assert run.depth(touch).max() > 1e-3
    found = ag.gradient(run, cost)
    for k in (5, 20, 30, 38):
        step = 1e-4 * np.eye(41)[k]
        high, low = (ag.gradient(move(tension + s * step), cost).value for s in (1, -1))
        assert found.inputs["pull"][k] == pytest.approx((high - low) / 2e-4, rel=1e-5, abs=1e-9)
