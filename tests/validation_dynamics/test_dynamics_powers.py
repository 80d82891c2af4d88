"""The balance of powers with every load, actuator, joint and fluid there is, in random motions; thrust without buoyancy."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.describe.actuators import Actuator
from anguilla.describe.joint import Joint
from anguilla.describe.load import Load

RUBBER = ag.Material(young=1e6, poisson=0.45, density=1100.0, damping=0.02)
GRADIENT = ((0.3, 0.1, 0.0), (0.1, -0.1, 0.2), (0.0, 0.2, -0.2))


def bench(joint=None, gravity=(1.0, 2.0, -9.81), **rod):
    """A rod with a body at its tip."""
    robot = ag.Robot("bench", gravity=gravity)
    arm = robot.add(
        ag.Rod(0.3, ag.Circle(0.02), RUBBER, ag.reissner(2), **rod), at=robot.ground, joint=joint or ag.Fixed()
    )
    box = robot.add(ag.RigidBody.box((0.04, 0.06, 0.05), mass=0.1), at=arm.tip, name="box")
    return robot, arm, box


def beside(arm):
    """A ball that turns about its middle, pressed into the side of the rod."""
    ball, place = ag.RigidBody.sphere(0.03, mass=0.02), np.eye(4)
    place[:3, 3] = 0.15, 0.0, 0.03
    return arm.robot.add(ball, at=arm.robot.ground, joint=ag.Spherical(), pose=place, name="ball")


def wave(t):
    return 1.0 + np.sin(20.0 * t)


def vector(t):
    return (0.2 * np.sin(9 * t), 0.3 * np.cos(7 * t), 0.1)


def spread(X, t):
    return (0.5 * X, np.sin(9 * t), 1.0)


LOADS = {
    "Wrench": lambda arm, box: ag.Wrench(box.at((0.01, 0.02, 0.0)), force=vector, moment=(0.01, 0.0, 0.02)),
    "TipWrench": lambda arm, box: ag.TipWrench(arm, force=vector, moment=(0.01, 0.0, 0.02), follower=True),
    "DistributedWrench": lambda arm, box: ag.DistributedWrench(arm, force=spread, moment=(0.1, 0.0, 0.1)),
    "DistributedWrench following": lambda arm, box: ag.DistributedWrench(arm, force=spread, follower=True),
    "Muscle": lambda arm, box: ag.Muscle(arm, moment=lambda X, t: (0.0, 0.01 * wave(t), X), gain=(0.01,) * 6),
    "Thruster": lambda arm, box: ag.Thruster(box.frame, 0.1, velocity=vector, spin=(0.1, 0.2, 0.3)),
    "Thruster with an integral": lambda arm, box: ag.Thruster(box.frame, 0.1, 2.0, velocity=vector),
    "Magnet": lambda arm, box: ag.Magnet(box.frame, (0.1, 0.5, 0.2), field=vector, gradient=GRADIENT),
    "Magnet along a rod": lambda arm, box: ag.Magnet(arm, (0.1, 0.5, 0.2), field=vector, gradient=GRADIENT),
    "Spring": lambda arm, box: ag.Spring(arm.robot.ground, box.at((0, 0.1, 0)), stiffness=30.0, rest=0.1, damping=0.5),
    "WorldSpring": lambda arm, box: ag.WorldSpring(box.at((0, 0.1, 0)), 30.0, (1, 2, 3), 0.1, damping=0.5),
    "WorldSpring along a rod": lambda arm, box: ag.WorldSpring(arm, 100.0, "z", 0.02, damping=2.0),
    "UserLoad": lambda arm, box: ag.UserLoad(box.frame, lambda m, t: np.append(-0.01 * m.spin, -0.3 * m.velocity)),
    "UserForce": lambda arm, box: ag.UserForce(lambda q, v, t: -0.001 * v),
    "Contact": lambda arm, box: ag.Contact(box, ag.HalfSpace((0, 0, 1), 0.0), 200.0, damping=1.0, friction=0.5),
    "PartContact": lambda arm, box: ag.Contact(arm, beside(arm), 2e3, damping=1.0, friction=0.5),
    "PartContact that fades": lambda arm, box: ag.Contact(arm, beside(arm), 2e3, damping=1.0, friction=0.5, slip=0.01),
    "Morison": lambda arm, box: ag.Morison(arm, current=(0.1, 0.2, 0.0)),
    "Lighthill": lambda arm, box: ag.Lighthill(arm),
    "ResistiveForce": lambda arm, box: ag.ResistiveForce(arm, tangential=0.5, normal=1.0),
    "Buoyancy": lambda arm, box: ag.Buoyancy(arm),
    "Hull": lambda arm, box: ag.Hull(box.frame, (1.0,) * 6, (0.1,) * 6, (0.05,) * 6, 0.1, potential=True),
}  # fmt: skip

ACTUATORS = {
    "Tendon": lambda arm, box: ag.Tendon([arm, box.at((0.02, 0.01, 0.0))], ag.parallel(y=0.01)),
    "Tendon by length": lambda arm, box: ag.Tendon(arm, ag.parallel(y=0.01), by="length"),
    "Tendon by length, elastic": lambda arm, box: ag.Tendon(arm, ag.parallel(y=0.01), by="length", compliance=1e-3),
    "Tendon with friction": lambda arm, box: ag.Tendon(arm, ag.helical(0.01, 0.5), friction=0.3),
    "Chamber": lambda arm, box: ag.Chamber(arm, ag.parallel(y=0.01), area=1e-5),
}  # fmt: skip


def held(size):
    """Springs and dampers of a joint."""
    one = {"stiffness": 2.0, "damping": 0.05}
    return {name: value if size == 1 else (value,) * size for name, value in one.items()}


JOINTS = {
    "Fixed": ag.Fixed,
    "Revolute": lambda: ag.Revolute((0, 1, 0), effort=lambda t: 0.1 * wave(t), **held(1)),
    "Prismatic": lambda: ag.Prismatic((0, 1, 0), effort=0.5, stiffness=20.0, damping=0.05, rest=0.01),
    "Helical": lambda: ag.Helical((0, 1, 0), pitch=0.1, effort=0.1, **held(1)),
    "Cylindrical": lambda: ag.Cylindrical((0, 1, 0), effort=(0.1, 0.2), **held(2)),
    "Universal": lambda: ag.Universal((0, 1, 0), (0, 0, 1), effort=(0.1, lambda t: 0.1 * wave(t)), **held(2)),
    "Planar": lambda: ag.Planar((0, 0, 1), effort=(0.1, 0.2, 0.1), **held(3)),
    "Spherical": lambda: ag.Spherical(effort=(0.1, 0.05, 0.1), damping=(0.05,) * 3),
    "Free": lambda: ag.Free(effort=(0.1, 0.2, 0.3, 0.1, 0.2, 0.1), stiffness=(5, 5, 5, 0, 0, 0), damping=(0.05,) * 6),
    "Revolute driven": lambda: ag.Revolute((0, 1, 0), motion=lambda t: 0.3 * np.sin(9 * t)),
}  # fmt: skip


def moving(robot, inputs=None, dt=2e-6, size=0.05):
    """A short motion from a random state."""
    rng = np.random.default_rng(7)
    n = len(robot.coordinates())
    start = size * rng.normal(size=n), 5.0 * size * rng.normal(size=n)
    return ag.simulate(robot, duration=20 * dt, dt=dt, inputs=inputs, start=start, tolerance=1e-12)


def check(run, rates=True, tolerance=1e-6):
    """All powers add up; the rates of the energies are those of the energies."""
    powers = ag.powers(run)
    size = max(np.abs(getattr(powers, name)).max() for name in ("motors", "water", "others", "kinetic", "stored"))
    assert np.abs(powers.imbalance).max() < tolerance * size
    if rates:
        energy, h = run.energy["total"], run.t[1] - run.t[0]
        slope = (8.0 * (energy[3:-1] - energy[1:-3]) - (energy[4:] - energy[:-4])) / (12.0 * h)
        assert (powers.kinetic + powers.stored)[2:-2] == pytest.approx(slope, abs=2e-3 * size)
    return powers


@pytest.mark.parametrize("name", LOADS)
def test_loads(name):
    robot, arm, box = bench()
    load = robot.load(LOADS[name](arm, box))
    powers = check(moving(robot), rates="Contact" not in name)
    term = "dissipated" if load.account == "stored" else load.account
    assert np.abs(getattr(powers, term)).max() > 1e-4


def test_where_loads_are_counted():
    accounts = {name.split()[0]: LOADS[name](*bench()[1:]).account for name in LOADS}
    counted = {account: {name for name in accounts if accounts[name] == account} for account in accounts.values()}
    assert counted["motors"] == {"Muscle", "Thruster"}
    assert counted["stored"] == {"Spring", "WorldSpring"}
    assert counted["water"] == {"Morison", "Lighthill", "ResistiveForce", "Buoyancy", "Hull"}


@pytest.mark.parametrize("name", ACTUATORS)
def test_actuators(name):
    robot, arm, box = bench()
    robot.actuate("line", ACTUATORS[name](arm, box))
    given = (lambda t: 5000.0 * wave(t)) if name == "Chamber" else (lambda t: 2.0 * wave(t))
    if "length" not in name:
        assert np.abs(check(moving(robot, {"line": given})).motors).max() > 1e-4
        return
    held = ag.statics(robot, inputs={"line": 0.29})
    run = ag.simulate(
        robot, duration=0.002, dt=1e-4, start=held, inputs={"line": lambda t: 0.29 - 2.0 * t**2}, tolerance=1e-12
    )
    assert run.tension("line").min() > 0.1
    assert np.abs(check(run).motors).max() > 1e-6


@pytest.mark.parametrize("name", JOINTS)
def test_joints(name):
    robot, _, _ = bench(JOINTS[name]())
    check(moving(robot))


def test_imposed_shapes_poses_and_rates():
    gait = ag.TravellingWave(2.0, wavelength=0.3, period=0.5, ramp=None)
    robot = ag.Robot("fish")
    fish = robot.add(ag.Rod(0.3, ag.Circle(0.02), RUBBER, shape=gait, intervals=12), at=robot.ground, joint=ag.Free())
    robot.load(ag.Morison(fish))
    assert np.abs(check(ag.simulate(robot, duration=0.1, dt=0.005)).motors).max() > 1e-4
    robot, _, box = bench()
    robot.close(robot.ground, box.frame, joint=ag.Spherical(), pose=lambda t: (0.28, 0.05 * np.sin(9 * t), 0.0))
    run = ag.simulate(robot, duration=0.05, dt=0.001, start=ag.statics(robot), smooth_start=False, tolerance=1e-12)
    assert np.abs(check(run, rates=False).motors).max() > 1e-4
    robot, _, box = bench()
    robot.constrain(ag.TwistConstraint(box.frame, (0, 0, 0, 0, 1, 0), rate=lambda t: 0.1 * wave(t)))
    assert np.abs(check(ag.simulate(robot, duration=0.02, dt=0.001), rates=False).motors).max() > 1e-4


def test_nothing_is_left_out():
    """Every load, actuator and joint of the library is in the lists above: a new one must be given an example."""

    def below(kind):
        return {kind}.union(*(below(sub) for sub in kind.__subclasses__()))

    for base, cases in ((Load, LOADS), (Actuator, ACTUATORS), (Joint, JOINTS)):
        named = {kind.__name__ for kind in below(base) if kind.__module__.startswith("anguilla.")}
        abstract = {"Load", "FrameLoad", "PlacedLoad", "RodLoad", "Fluid", "Actuator", "Joint"}
        abstract |= {"VolumeContact"}  # of soft volumes: its energy is in tests/mixed/test_mixed_contact.py
        abstract |= {"_Felt"}  # what volumes do to frames, no load of the robot
        assert named - abstract == {name.split()[0].rstrip(",") for name in cases}


def test_buoyancy_is_no_thrust():
    """A float that rises: what the flow does is drag."""
    robot = ag.Robot("float", gravity=(0, 0, -9.81))
    ball = robot.add(ag.RigidBody.sphere(0.05, mass=0.3), at=robot.ground, joint=ag.Free(), name="ball")
    robot.load(ag.Hull(ball.frame, drag=(2.0, 2.0, 2.0), displaced=0.5))
    run = ag.simulate(robot, duration=4.0, dt=0.01)
    swum = ag.strides(run, ball.frame, period=1.0)
    speed = np.sqrt((0.5 - 0.3) * 9.81 / 2.0)  # drag carries what buoyancy lifts
    assert swum.speed[-1] == pytest.approx(speed, rel=1e-3)
    assert swum.drag[-1] == pytest.approx(0.2 * 9.81, rel=1e-3)
    assert np.abs(swum.thrust).max() < 1e-12
