"""What contact refuses, and its way through files."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.files import FileError, read_text_file, robot_schema, robot_text
from anguilla.interact.kernels.contact import SMOOTH

RUBBER = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=0.01)
FLOOR = ag.HalfSpace((0, 0, 1), -0.05)


def parts():
    robot = ag.Robot("door")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.kirchhoff(2)), at=robot.ground, name="arm")
    hand = robot.add(ag.RigidBody.box((0.04, 0.02, 0.02), mass=0.1), at=arm.tip, name="hand")
    bare = robot.add(ag.RigidBody.point_mass(0.1), at=hand.frame, name="bare")
    wheel = robot.add(ag.RigidBody.cylinder(0.02, 0.01, mass=0.1), at=hand.frame, name="wheel")
    return robot, arm, hand, bare, wheel


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ag.HalfSpace((0, 0, 0)), "HalfSpace.normal must be a direction"),
        (lambda: ag.HalfSpace((0, 1)), "HalfSpace.normal must be a vector of 3 finite numbers"),
        (lambda: ag.HalfSpace(offset=np.nan), r"HalfSpace.offset must be a finite number \[m\]"),
        (lambda: ag.Sphere((0, 0, 0), -1.0), r"Sphere.radius must be a positive number \[m\]"),
        (lambda: ag.Sphere((0, 0, 0), 1.0, inside=1), "Sphere.inside must be True or False"),
        (lambda: ag.Pillar((0, 0, 0), (0, 0, 0), 1.0), "Pillar.axis must be a direction"),
        (lambda: ag.Pillar((0, 0), (0, 0, 1), 1.0), "Pillar.point must be a vector of 3"),
    ],
)
def test_obstacles_refuse(make, text):
    with pytest.raises(ag.DescriptionError, match=text):
        make()


def test_contact_refuses():
    robot, arm, hand, bare, wheel = parts()
    wrong = [
        (("arm", FLOOR, 1e3), {}, "Contact.where must be a rod or a body"),
        ((robot.ground, FLOOR, 1e3), {}, "the ground does not move"),
        (
            (arm, (0, 0, 1), 1e3),
            {},
            "Contact.obstacle must be an obstacle such as a HalfSpace, a Sphere, a Box or a Mesh",
        ),
        ((arm, FLOOR, 0.0), {}, r"Contact.stiffness must be a positive number \[N/m, or N/m\^2 along a rod\]"),
        ((arm, FLOOR, 1e3), {"damping": -1.0}, r"Contact.damping must be a number, zero or positive"),
        ((arm, FLOOR, 1e3), {"friction": -0.1}, "Contact.friction must be"),
        ((arm, FLOOR, 1e3), {"slip": 0.0}, r"Contact.slip must be a positive number \[m/s\]"),
        ((arm, FLOOR, 1e3), {"smooth": 0.0}, r"Contact.smooth must be a positive number \[m\]"),
        ((arm, FLOOR, 1e3), {"radius": -1.0}, "Contact.radius must be"),
        ((hand, FLOOR, 1e3), {"radius": 0.1}, "the radius is for rods and frames; body 'hand' has a shape"),
        ((bare, FLOOR, 1e3), {}, "'bare' has no shape: name frames instead"),
        ((wheel, FLOOR, 1e3), {}, "'wheel' has the shape of a cylinder shorter than wide: name frames instead"),
        (
            (arm, ag.Sphere((0, 0, 0), 0.005, inside=True), 1e3),
            {},
            "a radius of 0.01 m does not fit inside one of 0.005 m",
        ),
    ]
    for given, options, text in wrong:
        with pytest.raises(ag.DescriptionError, match=text):
            ag.Contact(*given, **options)
    contact = ag.Contact(arm, FLOOR, 1e3, friction=0.2)
    with pytest.raises(ag.DescriptionError, match=r"Contact\.friction"):
        contact.friction = -1.0
    assert contact.friction == 0.2
    other, *_ = parts()
    with pytest.raises(ag.DescriptionError, match="Contact on arm"):
        other.load(contact)
    robot.load(contact)
    with pytest.raises(ag.DescriptionError, match="expected a contact of robot 'door'; it has: Contact on arm"):
        ag.statics(robot).depth(ag.Contact(arm, FLOOR, 1e3))


def test_what_touches():
    """A rod with the radius of its section, a box with its corners, a sphere with its surface."""
    _, arm, hand, bare, _ = parts()
    tapered = ag.taper(ag.Circle(0.02), ag.Circle(0.01), 0.3)
    arm.rod.section = tapered
    np.testing.assert_allclose(ag.Contact(arm, FLOOR, 1e3).radii(np.array([0.0, 0.15, 0.3])), [0.02, 0.015, 0.01])
    assert len(ag.Contact(hand, FLOOR, 1e3).points()) == 8
    sizes = np.abs([frame.offset_pose[:3, 3] for frame in ag.Contact(hand, FLOOR, 1e3).points()])
    np.testing.assert_allclose(sizes, np.tile([0.02, 0.01, 0.01], (8, 1)))
    frame = ag.Contact(arm.tip, FLOOR, 1e3)
    assert frame.radii(np.zeros(1))[0] == 0.0 and frame.constants(np.zeros(1), np.ones(1))[0, SMOOTH] == pytest.approx(
        1e-4
    )
    assert ag.Contact(bare.frame, FLOOR, 1e3).constants(np.zeros(1), np.ones(1))[0, SMOOTH] > 0.0


FILE = """
parts:
  arm:
    rod: {length: 0.4, section: {type: circle, radius: 0.01}, material: {young: 1e6, density: 1000}, strains: {bend_y: 4}}
    at: ground
  ball:
    body: {type: sphere, radius: 0.02, mass: 0.05}
    at: arm.tip
loads:
  - type: contact
    where: arm
    obstacle: {type: half_space, normal: [0, 0, 1], offset: -0.1}
    stiffness: 1e3
    friction: 0.4
    name: floor
  - {type: contact, where: ball, stiffness: 1e3, obstacle: {type: sphere, centre: [0, 0, 0], radius: 0.6, inside: true}}
  - {type: contact, where: "arm[0.2]", stiffness: 1e3, radius: 0.03, damping: 2,
     obstacle: {type: pillar, point: [0.2, 0, -0.1], axis: [0, 1, 0], radius: 0.02}}
  - {type: contact, where: ball.frame, stiffness: 1e3, obstacle: {type: half_space, offset: -2.0}}
"""


def test_robot_files_know_contact():
    robot = read_text_file(FILE).robot
    floor, hollow, peg, centre = robot.loads
    assert floor.name == "floor" and floor.friction == 0.4 and floor.obstacle == ag.HalfSpace((0, 0, 1), -0.1)
    assert hollow.obstacle == ag.Sphere((0, 0, 0), 0.6, inside=True) and hollow.where.name == "ball"
    assert isinstance(hollow.where, ag.BodyHandle) and isinstance(centre.where, ag.Frame)
    assert peg.radius == 0.03 and peg.where.X == 0.2 and isinstance(peg.obstacle, ag.Pillar)
    again = read_text_file(robot_text(robot)).robot
    for old, new in zip(robot.loads, again.loads, strict=True):
        assert old.obstacle == new.obstacle
        same = ("stiffness", "damping", "friction", "radius", "slip", "label")
        assert all(getattr(old, name) == getattr(new, name) for name in same)
    np.testing.assert_array_equal(ag.statics(robot).q, ag.statics(again).q)
    assert robot_schema()["$defs"]["contact.contact"]["properties"]["slip"]["x-unit"] == "m/s"
    with pytest.raises(FileError, match="half_space"):
        read_text_file(FILE.replace("half_space", "halfspace"))
    with pytest.raises(FileError, match=r"Sphere.radius must be a positive number"):
        read_text_file(FILE.replace("radius: 0.6", "radius: -0.6"))


def test_results_come_back_from_disk(tmp_path):
    robot = read_text_file(FILE).robot
    run = ag.simulate(robot, duration=0.05, dt=1e-3)
    run.save(tmp_path / "run.nc")
    again = ag.load(tmp_path / "run.nc")
    for old, new in zip(robot.loads, again.robot.loads, strict=True):
        np.testing.assert_array_equal(run.depth(old), again.depth(new))
        np.testing.assert_allclose(run.exerted(old).wrench, again.exerted(new).wrench, atol=1e-12)
    np.testing.assert_allclose(run.energy["total"], again.energy["total"], atol=1e-14)


def test_copies_of_a_robot_run_side_by_side():
    """A batch, a stepper and a simulation feel the same obstacles."""
    robot = read_text_file(FILE).robot
    run = ag.simulate(robot, duration=0.3, dt=2e-3)
    batch = ag.simulate_batch(robot, count=2, duration=0.3, dt=2e-3)
    assert run.depth(robot.loads[0]).max() > 0.0
    for one in batch:
        np.testing.assert_allclose(one.q, run.q, atol=1e-12)


@pytest.mark.parametrize("ask", [ag.statics, lambda robot: ag.simulate(robot, duration=0.01, dt=1e-3)])
def test_parts_whose_middles_lie_on_each_other_are_refused(ask):
    """Neither side is the nearer one: forces of 8e4 N, along the rods, were called an equilibrium."""
    robot = ag.Robot("robot")
    stuff = ag.Material(young=1.5e9, density=1150.0, poisson=0.4)
    rods = [
        robot.add(ag.Rod(0.5, ag.Circle(0.02), stuff, ag.kirchhoff(2)), at=robot.ground, pose=(x, 0.0, 0.0), name=name)
        for x, name in ((0.0, "a"), (0.3, "b"))
    ]
    robot.load(ag.PartContact(*rods))
    with pytest.raises(ag.SolverError, match="Contact of a and b: at the start their middles lie on each other"):
        ask(robot)


@pytest.mark.parametrize("away", [True, False])
@pytest.mark.parametrize(
    "ask",
    [
        lambda robot, x: ag.statics(robot, inputs=x),
        lambda robot, x: ag.simulate(robot, duration=0.002, dt=1e-3, inputs=x),
        lambda robot, x: ag.Stepper(robot, dt=1e-3, inputs=x),
        lambda robot, x: ag.simulate_explicit(robot, duration=0.002, dt=1e-3, inputs=x),
    ],
    ids=["statics", "simulate", "stepper", "explicit"],
)
def test_what_is_driven_starts_where_its_motion_begins(ask, away):
    """A wall that was told to be away was refused, as if it were at its zero, on the ball; and one on the ball was not."""
    robot = ag.Robot("bat", gravity=(0, 0, 0))
    slide = ag.Prismatic((1, 0, 0), motion=robot.input("way", "m"))
    wall = robot.add(
        ag.Box((0, 0, 0), (0.01, 0.2, 0.2)), at=robot.ground, joint=slide, pose=(0 if away else -0.3, 0, 0), name="wall"
    )
    spring = ag.Prismatic((1, 0, 0), stiffness=10.0)
    ball = robot.add(ag.RigidBody.sphere(0.02, mass=0.1), at=robot.ground, joint=spring, name="ball")
    robot.load(ag.Contact(ball, wall, 1e4))
    if away:
        ask(robot, {"way": -0.3})
        return
    with pytest.raises(ag.SolverError, match="Contact of ball and wall: at the start their middles lie on each other"):
        ask(robot, {"way": 0.3})


def scene():
    """A rod, a ball, a floor and a wall."""
    robot = ag.Robot("scene")
    rubber = ag.Material(1e6, 1000.0)
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.strains.kirchhoff(2)), at=robot.ground, name="arm")
    ball = robot.add(ag.RigidBody.sphere(0.02, mass=0.1), at=robot.ground, joint=ag.Free(), pose=(0, 0, 1), name="ball")
    for name, normal in (("floor", (0, 0, 1)), ("wall", (1, 0, 0))):
        robot.add(ag.HalfSpace(normal, -1.0), at=robot.ground, name=name)
    return robot, arm, ball


def test_everything_touches_everything_but_what_has_no_points():
    """A floor and a wall cannot touch each other, and were refused with all the rest."""
    robot, *_ = scene()
    pairs = {frozenset((load.a.name, load.b.name)) for load in ag.contacts(robot, 1e4)}
    names = {"arm", "ball", "floor", "wall"}
    assert pairs == {frozenset((x, y)) for x in ("arm", "ball") for y in names} - {frozenset({"ball"})}


def test_what_is_excluded_is_left_out_and_nothing_else():
    """A volume and a rod: the rod does not touch itself because of that, as it did not. What means nothing was overheard."""
    robot, arm, ball = scene()
    made = ag.contacts(robot, 1e4, exclude=[(ball, arm), arm])
    assert all({load.a, load.b} not in ({ball, arm}, {arm}) for load in made) and len(made) == 4
    soft = ag.Volume(ag.fem.block((0.06, 0.06, 0.02), (2, 2, 1)), ag.Material(2e5, 1000.0, poisson=0.4), name="pad")
    other, arm, _ = scene()
    pad = other.add(soft, at=other.ground, pose=(0, 0, -0.5), patch=lambda x: x[:, 2] < -0.0099)
    made = ag.contacts(other, 1e4, exclude=[(pad, arm)])
    assert any(isinstance(load, ag.PartContact) and load.a is load.b is arm for load in made)
    assert not any(getattr(load, "volume", None) is pad and load.other is arm for load in made)
    for wrong in (
        (arm, ball),
        ["arm"],
        [("arm", "ball")],
        [ball],
        [(ball,)],
        ball,
        arm,
        1,
        [arm.tip],
        [(arm, ball, arm)],
        [()],
    ):
        with pytest.raises(
            ag.DescriptionError, match=r"exclude must be pairs of parts or volumes such as \[\(arm, ball\)"
        ):
            ag.contacts(scene()[0], 1e4, exclude=wrong)
