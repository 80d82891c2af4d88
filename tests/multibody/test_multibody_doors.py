"""Impossible robots and wrong arguments: refused with one sentence that names the part and what would be right."""

import re

import numpy as np
import pytest

import anguilla as ag

Y = (0.0, 1.0, 0.0)
RUBBER = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=0.01)


class Bench:
    """An arm with a box on a hinge."""

    def __init__(self, name="bench"):
        self.robot = ag.Robot(name)
        self.arm = self.robot.add(
            ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.kirchhoff(2)), at=self.robot.ground, name="arm"
        )
        box = ag.RigidBody.box((0.1,) * 3, mass=0.2)
        self.box = self.robot.add(box, at=self.arm.tip, joint=ag.Revolute(Y, stiffness=1.0), name="box")
        self.ground, self.close = self.robot.ground, self.robot.close


def at(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def simulate(robot, **options):
    return ag.simulate(robot, duration=0.05, dt=0.01, **options)


# What is described wrongly --------------------------------------------------------------------------------------------

DESCRIBED = {
    "a body closed on itself": (
        lambda b: b.close(b.box.frame, b.box.at((0.1, 0, 0))),
        "Closure 'loop' joins box.frame to itself, box.frame + (0.1, 0, 0): a loop needs two frames.",
    ),
    "a frame closed on itself": (lambda b: b.close(b.arm.tip, b.arm.tip), "joins arm.tip to itself"),
    "the ground closed on itself": (
        lambda b: b.close(b.ground, b.ground.offset_by((1, 0, 0))),
        "joins ground to itself",
    ),
    "a closure that holds nothing": (
        lambda b: b.close(b.ground, b.box.frame, joint=ag.Free(), name="loose"),
        "Closure 'loose': a Free joint holds nothing",
    ),
    "a frame of another robot": (
        lambda b: b.close(b.ground, Bench("other").box.frame),
        "Closure 'loop': b must be a frame of robot 'bench'; got 'box.frame' of another robot, 'other'.",
    ),
    "a part for a frame": (
        lambda b: b.close(b.ground, b.box),
        "b must be a frame; got the part 'box': did you mean its .frame?",
    ),
    "a rod for a frame": (lambda b: b.close(b.arm, b.box.frame), "got the part 'arm': did you mean its .tip?"),
    "no joint": (
        lambda b: b.close(b.ground, b.box.frame, joint="fixed"),
        "Closure 'loop': joint must be a joint such as",
    ),
    "no pose": (lambda b: b.close(b.ground, b.box.frame, pose=np.ones((4, 4))), "Closure 'loop': pose must be"),
    "a pose of two arguments": (
        lambda b: b.close(b.ground, b.box.frame, pose=lambda t, x: np.eye(4)),
        "pose must be a pose or a function of the time t",
    ),
    "a moving pose with a spring": (
        lambda b: b.close(b.ground, b.box.frame, pose=lambda t: np.eye(4), joint=ag.Revolute(Y, stiffness=1.0)),
        "Closure 'loop': a pose that depends on time needs a passive joint",
    ),
    "a closure twice": (
        lambda b: [b.close(b.ground, b.box.frame, name="pin") for _ in range(2)],
        "Robot 'bench' already has a closure 'pin'",
    ),
    "the motion of a ball": (
        lambda b: ag.Spherical(motion=lambda t: (t, 0, 0)),
        "Spherical.motion: the motion of a ball is prescribed by robot.close",
    ),
    "the motion of a fixed joint": (lambda b: ag.Fixed(motion=1.0), "Fixed.motion must be 0 items"),
    "one motion for two axes": (
        lambda b: ag.Universal((1, 0, 0), Y, motion=lambda t: t),
        "Universal.motion must be 2 items",
    ),
    "three numbers for a motion": (
        lambda b: ag.Revolute(Y, motion=(1, 2, 3)),
        "Revolute.motion must be a number, a function",
    ),
    "an axis without a direction": (lambda b: ag.Revolute((0, 0, 0)), "Revolute.axis must be a direction"),
    "no slip along nothing": (lambda b: ag.no_slip(b.box.frame, (0, 0, 0)), "no_slip direction must be a direction"),
    "an axle without a direction": (
        lambda b: ag.rolling(b.box.frame, b.arm.tip, radius=1.0, axle=(0, 0, 0)),
        "rolling axle must be a direction",
    ),
    "a wheel that rolls nowhere": (
        lambda b: ag.rolling(b.box.frame, b.arm.tip, radius=1.0, forward=(0, 0, 0)),
        "rolling forward must be a direction",
    ),
    "a wheel of negative radius": (
        lambda b: ag.rolling(b.box.frame, b.arm.tip, radius=-1.0),
        "rolling radius must be a positive number [m]",
    ),
    "a twist constraint on a part": (
        lambda b: ag.TwistConstraint(b.box, (1,) * 6),
        "TwistConstraint.frame must be a frame",
    ),
    "a twist constraint on nothing": (lambda b: ag.TwistConstraint(b.box.frame, (0,) * 6), "must not all be zero"),
    "a constraint that is none": (lambda b: b.robot.constrain("x"), "Robot.constrain constraint must be a constraint"),
    "a constraint of another robot": (
        lambda b: b.robot.constrain(ag.no_slip(Bench("other").box.frame, Y)),
        "got 'box.frame' of another robot, 'other'",
    ),
    "a spring to itself": (lambda b: ag.Spring(b.box.frame, b.box.frame, 1.0), "joins a place to itself"),
    "a spring of another robot": (
        lambda b: b.robot.load(ag.Spring(b.ground, Bench("other").box.frame, 1.0)),
        "another robot, 'other'",
    ),
    "a tendon by something": (
        lambda b: ag.Tendon(b.arm, ag.parallel(), by="len"),
        'Tendon.by must be "tension" or "length"',
    ),
    "a compliance without a length": (lambda b: ag.Tendon(b.arm, ag.parallel(), compliance=1.0), "matters only when"),
    "a tendon of one point": (lambda b: ag.Tendon([b.box.frame], ag.parallel()), "Tendon.part must be"),
    "a tendon that stays": (
        lambda b: ag.Tendon([b.box.frame, b.box.frame], ag.parallel()),
        "Tendon.part passes box.frame twice in a row",
    ),
    "a tendon twice through a rod": (
        lambda b: ag.Tendon([b.arm, b.box.frame, b.arm], ag.parallel()),
        "Tendon.part must be",
    ),
    "a chamber through the air": (lambda b: ag.Chamber([b.arm, b.box.frame], ag.parallel()), "Chamber.part must be"),
    "a body without mass": (lambda b: ag.RigidBody(0.0), "RigidBody.mass must be a positive number [kg]"),
    "a field with sources": (
        lambda b: ag.Magnet(b.box.frame, (1, 0, 0), gradient=np.eye(3)),
        "Magnet.gradient must be a symmetric 3x3 matrix of trace zero",
    ),
    "a thruster on a rod": (lambda b: ag.Thruster(b.arm, kp=1.0), "Thruster.frame must be a frame"),
    "gains of two numbers": (lambda b: ag.Thruster(b.arm.tip, kp=(1, 2)), "Thruster.kp must be a vector of 6"),
    "a muscle in a box": (lambda b: ag.Muscle(b.box), "Muscle.part must be a rod of the robot"),
    "a load of one argument": (
        lambda b: ag.UserLoad(b.box.frame, lambda motion: np.zeros(6), name="wind"),
        "The wrench of wind must be a function of (motion, t)",
    ),
    "a load along a rod without X": (
        lambda b: ag.UserLoad(b.arm, lambda motion, t: np.zeros(6)),
        "The wrench of UserLoad on arm must be a function of (motion, t, X)",
    ),
    "a force of one argument": (lambda b: ag.UserForce(lambda q: q), "must be a function of (q, v, t)"),
}


@pytest.mark.parametrize("case", DESCRIBED)
def test_refused_when_described(case):
    make, text = DESCRIBED[case]
    with pytest.raises(ag.DescriptionError, match=re.escape(text)):
        make(Bench())


def test_the_same_part_may_be_added_twice():
    robot, box = ag.Robot(), ag.RigidBody.box((0.1,) * 3, mass=1.0)
    names = [robot.add(box, at=robot.ground, joint=ag.Free()).name for _ in range(2)]
    assert names == ["body", "body_2"]


# What only a solver can see -------------------------------------------------------------------------------------------


def with_load(load):
    bench = Bench()
    bench.robot.load(load(bench))
    return bench.robot


def short_tendon(**options):
    bench = Bench()
    bench.robot.actuate("line", ag.Tendon(bench.arm, ag.parallel(y=0.008), by="length"))
    return simulate(bench.robot, **options)


def on_a_table():
    bench = Bench()
    bench.close(bench.ground, bench.box.frame, joint=ag.Planar((0, 0, 1)))
    return bench.robot


def driven(motion, **closure):
    robot = ag.Robot("crank")
    body = robot.add(
        ag.RigidBody.box((0.1,) * 3, mass=1.0, com=(0.1, 0, 0)),
        at=robot.ground,
        joint=ag.Revolute(Y, motion=motion),
        name="disc",
    )
    if closure:
        robot.close(robot.ground, body.frame, **closure)
    return robot


SOLVED = {
    "a load of five numbers": (
        lambda: simulate(with_load(lambda b: ag.UserLoad(b.box.frame, lambda m, t: np.zeros(5), name="wind"))),
        "The wrench of wind at t = 0 s must have 6 numbers, moment then force; got the shape (5,).",
    ),
    "a load that is not a number": (
        lambda: simulate(with_load(lambda b: ag.UserLoad(b.box.frame, lambda m, t: np.full(6, np.nan), name="wind"))),
        "The wrench of wind at t = 0 s must be 6 finite numbers",
    ),
    "a force of two numbers": (
        lambda: simulate(with_load(lambda b: ag.UserForce(lambda q, v, t: np.zeros(2)))),
        "The force of UserForce must have the shape (7,); got (2,).",
    ),
    "a pose that is none": (
        lambda: simulate(driven(None, pose=lambda t: np.ones(4), name="hold")),
        "The pose of closure 'hold' at t = 0 s must be a 4x4 homogeneous matrix",
    ),
    "a motion that is none": (
        lambda: simulate(driven(lambda t: "x")),
        "The motion of Revolute, angle, at t = 0 s must be a finite number; got 'x'.",
    ),
    "a length that is not given": (
        short_tendon,
        "inputs: tendon 'line' is driven by its length [m]: give {'line': length}.",
    ),
    "an unknown input": (lambda: short_tendon(inputs={"lime": 1.0}), "has no input 'lime'"),
    "a midpoint with a loop": (
        lambda: simulate(on_a_table(), method="midpoint"),
        "Midpoint supports open robots",
    ),
    "a midpoint with an integral": (
        lambda: simulate(with_load(lambda b: ag.Thruster(b.box.frame, 1.0, 1.0)), method="midpoint"),
        "Midpoint does not support the integral of a Thruster",
    ),
    "a flow with a loop": (
        lambda: ag.statics(on_a_table(), method=ag.Flow()),
        "Flow supports open robots",
    ),
}


@pytest.mark.filterwarnings("ignore::anguilla.AnguillaWarning")
@pytest.mark.parametrize("case", SOLVED)
def test_refused_when_solved(case):
    solve, text = SOLVED[case]
    with pytest.raises(ag.DescriptionError, match=re.escape(text)) as caught:
        solve()
    assert len(str(caught.value)) < 300


def test_a_body_without_rotary_inertia():
    robot = ag.Robot("dust")
    robot.add(ag.RigidBody.point_mass(1.0), at=robot.ground, joint=ag.Free(), name="grain")
    with pytest.raises(ag.SolverError, match=r"mass matrix of 'dust' is singular: grain\.turn_x, .* moves no mass"):
        simulate(robot)


def test_a_coordinate_without_mass():
    """A closing joint that nothing holds: a disc that may turn about its own axis between two balls."""
    robot = ag.Robot("dust")
    robot.add(ag.RigidBody.point_mass(1.0, com=(0.2, 0, 0)), at=robot.ground, joint=ag.Spherical(), name="bob")
    with pytest.raises(ag.SolverError, match=r"bob\.turn_x moves no mass"):
        simulate(robot)


def test_an_equilibrium_that_nothing_holds():
    robot = ag.Robot("loose")
    robot.add(ag.RigidBody.box((0.1,) * 3, mass=1.0), at=robot.ground, joint=ag.Revolute(Y), name="wheel")
    with pytest.warns(ag.AnguillaWarning, match=r"not unique: nothing holds wheel\.angle"):
        assert ag.statics(robot).status.success


def test_a_flow_of_what_nothing_holds():
    robot = ag.Robot("loose")
    robot.add(ag.RigidBody.box((0.1,) * 3, mass=1.0), at=robot.ground, joint=ag.Revolute(Y), name="wheel")
    with pytest.raises(ag.SolverError, match=r"nothing holds wheel\.angle"):
        ag.statics(robot, method=ag.Flow())


def test_a_loop_out_of_reach():
    bench = Bench()
    bench.close(bench.ground, bench.box.frame, pose=at(2.0), name="far")
    with pytest.raises(ag.SolverError, match=r"'bench' cannot be closed: far misses by 1\.7 \(m or rad\)"):
        ag.statics(bench.robot)


def test_a_loop_without_anything_that_moves():
    robot = ag.Robot("rock")
    body = robot.add(ag.RigidBody.box((0.1,) * 3, mass=1.0), at=robot.ground)
    robot.close(robot.ground, body.frame)
    with pytest.warns(ag.AnguillaWarning, match="6 of 6 constraints are redundant"):
        assert simulate(robot).status.success
    robot.close(robot.ground, body.at((0.1, 0, 0)), name="gap")
    with pytest.raises(ag.SolverError, match=r"'rock' cannot be closed: gap misses by 0\.1"):
        simulate(robot)


def test_a_motion_against_a_lock():
    robot = driven(lambda t: t**2, name="lock")
    with (
        pytest.warns(ag.AnguillaWarning, match="lock"),
        pytest.raises(
            ag.SolverError, match=r"impossible: lock cannot hold .* at t = 0\.01 s it misses by 0\.0001"
        ) as caught,
    ):
        simulate(robot)
    assert len(caught.value.result.t) == 6


def test_constraints_that_contradict_each_other():
    robot = ag.Robot("sled")
    sled = robot.add(ag.RigidBody.box((0.1,) * 3, mass=1.0), at=robot.ground, joint=ag.Planar((0, 0, 1)), name="sled")
    robot.constrain(ag.no_slip(sled.frame, (1, 0, 0), name="brake"))
    robot.constrain(ag.TwistConstraint(sled.frame, (0, 0, 0, 1, 0, 0), rate=1.0, name="engine"))
    with pytest.warns(ag.AnguillaWarning, match="engine"), pytest.raises(ag.SolverError, match="engine cannot hold"):
        simulate(robot)


def test_a_constraint_that_nothing_can_move():
    """The tip of a straight inextensible rod does not move along it, at first order."""
    bench = Bench()
    bench.robot.constrain(ag.no_slip(bench.arm.tip, (1, 0, 0), name="stop"))
    with pytest.raises(ag.SolverError, match="start of 'bench' is singular: nothing there can move what stop holds"):
        simulate(bench.robot)


def test_a_tendon_too_short_to_start_with():
    with pytest.raises(ag.SolverError, match=r"length of 'line' should be 0\.29 m at the start; it is 0\.01 m longer"):
        short_tendon(inputs={"line": 0.29})


def test_multipliers_one_per_constraint():
    bench = Bench()
    bench.close(bench.ground.offset_by((0.3, 0.0, 0.0)), bench.box.frame, joint=ag.Planar(Y))
    system = ag.Model(bench.robot)
    q = np.zeros(system.size)
    for ask in (system.residual, system.tangent, system.matrices):
        for given in (1.0, [1.0], np.ones(4)):
            with pytest.raises(ag.DescriptionError, match=r"multipliers must have shape \(3,\), one per constraint"):
                ask(q, multipliers=given)


# What is asked of results ---------------------------------------------------------------------------------------------


def test_results_know_their_robot():
    bench, other = Bench(), Bench("other")
    closure = other.close(other.ground, other.box.frame, joint=ag.Planar(Y), name="table")
    eq = ag.statics(bench.robot)
    for ask, text in (
        (
            lambda: eq.reaction(closure),
            "expected a closure of robot 'bench', as returned by robot.close, or its name; got ",
        ),
        (
            lambda: eq.reaction("table"),
            "it has: none. The moment and force in a rod, at its root for example, are wrench(arm, 0.0).",
        ),
        (lambda: eq.effort(other.box), "expected a part of robot 'bench'"),
        (lambda: eq.effort("box"), "expected a part of robot 'bench'"),
        (lambda: eq.tension("line"), "there is no actuator 'line'; there are: none."),
        (lambda: eq.position(other.box.frame), "frame box.frame belongs to another robot, 'other'"),
    ):
        with pytest.raises(ag.DescriptionError, match=re.escape(text)):
            ask()
