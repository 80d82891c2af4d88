"""Every robot file in examples/robots is the robot of a Python example: the compiled systems and their loads agree."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from files_oracles import agree
from script_modules import load

import anguilla as ag
from anguilla.files import read_file, read_text_file, robot_text

ROOT = Path(__file__).parents[2]
ROBOTS = ROOT / "examples" / "robots"
FRAGMENTS = {"materials", "paper000_beam"}


def follower_force():
    e = load("paper000_test2_follower_force")
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    material = ag.Material(e.YOUNG, 1000)
    rod = ag.Rod(e.LENGTH, ag.Circle(e.RADIUS), material, ag.Strains(bend_z=e.BASES["8 modes"]), intervals=e.INTERVALS)
    robot.load(ag.TipWrench(robot.add(rod, at=robot.ground), force=(0, e.FORCES[2], 0), follower=True))
    return robot


def release():
    e = load("paper000_test4_release")
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    material = ag.Material(e.YOUNG, e.DENSITY, damping=e.MU)
    rod = ag.Rod(e.LENGTH, ag.Circle(e.RADIUS), material, ag.Strains(bend_z=ag.Chebyshev(5)), intervals=40)
    beam = robot.add(rod, at=robot.ground, name="beam")
    robot.load(ag.TipWrench(beam, moment=(0.0, 0.0, e.TORQUES[1])))
    return robot


def finger():
    rubber = ag.Material(young=1e6, poisson=0.49, density=1000, damping=0.01)
    robot = ag.Robot("soft_finger")
    hinge = ag.Revolute((0, 1, 0), damping=0.02)
    upper = ag.RigidBody(0.8, (0.006, 0.006, 0.0004), (0, 0, -0.15))
    lower = ag.RigidBody(0.4, (0.0014, 0.0014, 0.0001), (0, 0, -0.1))
    first = robot.add(upper, at=robot.ground.offset_by((0, 0, 0.5)), joint=hinge, name="upper")
    second = robot.add(lower, at=first.at((0, 0, -0.3)), joint=hinge, name="lower")
    down = np.array([[0, 0, 1.0, 0], [0, 1, 0, 0], [-1, 0, 0, -0.2], [0, 0, 0, 1]])
    rod = ag.Rod(0.12, ag.Rectangle(0.012, 0.008), rubber, ag.kirchhoff(3))
    soft = robot.add(rod, at=second.at(down), name="finger")
    robot.actuate("curl", ag.Tendon(soft, ag.parallel(z=0.003)))
    return robot


def cable(routing):
    e = load("paper000_tendons")
    strains = ag.Strains(twist=e.CUT, bend_y=e.CUT, bend_z=e.CUT) if routing == "truncated" else ag.kirchhoff(5)
    return e.build(routing, strains)


def catheter():
    e = load("magnetic_catheter")
    across, spin = e.FIELD * np.sin(e.CONE), 2 * np.pi * e.TURNS
    return e.build(
        lambda t: (
            e.FIELD * np.cos(e.CONE),
            across * min(1, t) * np.cos(spin * t),
            across * min(1, t) * np.sin(spin * t),
        )
    )[0]


PYTHON = (
    {
        "arm_release": lambda: load("arm_release").build()[0],
        "tendon_arm": lambda: load("tendon_arm").build()[0],
        "paper000_test1_tip_torque": lambda: load("paper000_test1_tip_torque").build()[0],
        "paper000_test2_follower_force": follower_force,
        "paper000_test4_release": release,
        "soft_finger": finger,
        "four_bar": lambda: load("four_bar").build()[0],
        "six_leg_robot": lambda: load("six_leg_robot").build(tuple(load("six_leg_robot").LOAD))[0],
        "three_section_arm": lambda: load("three_section_arm").build(payload=0.01, gravity=(9.81, 0, 0))[0],
        "gripper_on_arm": lambda: load("gripper_on_arm").build()[0],
        "antagonistic_pair": lambda: load("antagonistic_pair").build()[0],
        "rolling_wheel": lambda: load("rolling_wheel").build()[0],
        "steered_needle": lambda: load("steered_needle").build()[0],
        "magnetic_catheter": catheter,
        "snake_on_the_ground": lambda: load("snake_on_the_ground").build(8.0)[0],
        "drones": lambda: load("paper004_drones").robot_of(),
        "parallel_robot": lambda: load("paper004_parallel_robot").robot_of(),
    }
    | dict(load("showcase").ROBOTS)
    | {f"paper000_tendon_{r}": lambda r=r: cable(r) for r in ("parallel", "convergent", "cross", "spiral", "truncated")}
)


def test_every_file_has_its_example():
    assert {path.stem for path in ROBOTS.glob("*.yaml")} - FRAGMENTS == set(PYTHON)
    assert len(PYTHON) >= 20


@pytest.mark.parametrize("name", PYTHON)
def test_a_file_is_its_example(name):
    file = read_file(ROBOTS / f"{name}.yaml")
    expected = PYTHON[name]()
    agree(file.robot, expected, rtol=1e-14)
    assert not file.notes or name == "soft_finger"


@pytest.mark.parametrize("name", PYTHON)
def test_a_file_reads_back_as_it_was_written(name):
    file = read_file(ROBOTS / f"{name}.yaml")
    text = robot_text(file.robot, inputs=file.inputs, simulate=file.simulate)
    again = read_text_file(text)
    agree(again.robot, file.robot, rtol=0.0)
    assert again.inputs == file.inputs and again.simulate == file.simulate
    assert robot_text(again.robot, inputs=again.inputs, simulate=again.simulate) == text


# Robots that cannot rest: they float, turn about themselves, or are held by constraints on velocities.
MOVING = {"drones", "eel", "swimmer", "flying_gripper", "rolling_wheel", "steered_needle", "four_bar",
          "pendulum_string", "snake_on_the_ground"}  # fmt: skip
PLANAR = {"four_bar"}  # its hinges constrain more than its plane, x-z, needs, which is said


@pytest.mark.parametrize("name", PYTHON)
def test_a_file_can_be_solved(name):
    file = read_file(ROBOTS / f"{name}.yaml")
    said = pytest.warns(ag.AnguillaWarning, match="redundant") if name in PLANAR else nullcontext()
    with said:
        if name in MOVING:
            dt = file.simulate["dt"]
            result = ag.simulate(file.robot, duration=10 * dt, dt=dt, inputs=file.inputs)
        else:
            last = file.simulate.get("duration", 0.0)
            inputs = {key: value(last) if callable(value) else value for key, value in file.inputs.items()}
            result = ag.statics(file.robot, inputs=inputs, **file.statics)
    assert result.status.success
    for part in result.robot.parts:
        assert np.all(np.isfinite(result.position(part.root)))
