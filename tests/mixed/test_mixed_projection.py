"""Inverse kinematics of rods and soft volumes together: the compliance against differences of equilibria, and a target."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.errors import DescriptionError
from anguilla.mixed import MixedRobotModel


def arm_with_finger(length: float = 0.06, cells: tuple[int, int, int] = (6, 2, 2)) -> tuple[ag.Robot, ag.Frame]:
    """A tendon arm with a soft finger of three tendons at its tip, and a plate at the end of the finger."""
    robot = ag.Robot("arm")
    firm = ag.Material(young=5e7, poisson=0.3, density=1200.0)
    up = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    arm = robot.add(
        ag.Rod(0.2, ag.Circle(radius=0.004), firm, strains=ag.kirchhoff(2)), at=robot.ground, pose=up, name="arm"
    )
    silicone = ag.Material(young=3e5, poisson=0.4, density=1070.0)
    finger = ag.Volume(fem.block((length, 0.02, 0.02), cells), silicone, name="finger")
    for k in range(3):
        y, z = 0.01 * np.cos(2.0 * np.pi * k / 3.0), 0.01 * np.sin(2.0 * np.pi * k / 3.0)
        robot.actuate(f"t{k}", ag.Tendon(arm, ag.parallel(y=y, z=z)))
        finger.actuate(f"p{k}", fem.Tendon([(x, 0.8 * y, 0.8 * z) for x in np.linspace(0.0, length, 4)]))
    finger.effector("middle", fem.Effector((0.04, 0.0, 0.0), orientation=True))
    held = robot.add(finger, at=arm.tip, patch="base")
    return robot, held.frame("plate", "tip")


def test_the_compliance_is_that_of_differences_of_equilibria():
    robot, plate = arm_with_finger()
    model = MixedRobotModel(
        robot, {"plate": plate.offset_by((0.0, 0.0, 0.01)), "middle": "finger.middle"}, orientation=["plate"]
    )
    assert model.effectors == {"plate": 6, "middle": 6}
    model.efforts[:] = [0.5, 1.0, 0.2, 0.4, 0.1, 0.3]
    model.relax(tolerance=1e-12)
    found = model.project()
    assert np.abs(found.free).max() < 1e-9
    assert found.compliance == pytest.approx(found.compliance.T, rel=1e-6, abs=1e-9 * np.abs(found.compliance).max())
    here, strokes = model.remember(), model.strokes()
    places = [pose.copy() for pose in model.positions()]
    turns = [model._pose(place)[1] for place in model._places]
    h = 1e-3
    for k in range(len(model.actuators)):
        moved = []
        for sign in (1.0, -1.0):
            model.efforts[k] += sign * h
            model.relax(tolerance=1e-12)
            moved.append(np.concatenate([model.errors(places, turns), model.strokes() - strokes]))
            model.restore(here)
        slope = (moved[0] - moved[1]) / (2.0 * h)
        expected = np.concatenate([found.W("e", "a")[:, k], found.W("a", "a")[:, k]])
        assert np.abs(slope - expected).max() < 1e-6 * np.abs(expected).max()


def test_a_kept_factorisation_gives_the_same_compliance_where_nothing_changed():
    robot, plate = arm_with_finger()
    model = MixedRobotModel(robot, {"plate": plate})
    model.efforts[:] = 0.3
    model.relax()
    fresh = model.project()
    kept = model.project(reuse=True)
    assert kept.compliance == pytest.approx(fresh.compliance, rel=1e-10, abs=1e-14)


def test_the_lack_is_twice_the_energy_that_the_way_to_balance_sets_free():
    robot, plate = arm_with_finger()
    model = MixedRobotModel(robot, {"plate": plate})
    model.efforts[:] = 0.3
    model.relax(tolerance=1e-12)
    there = model.project()
    assert abs(there.lack) < 1e-15
    push = np.array([1.0, -2.0, 0.5, 1.0, 0.3, -1.0]) * 1e-3
    model.efforts += push  # out of balance by these efforts: their work on the way, to the first order of the way
    assert model.project().lack == pytest.approx(push @ there.W("a", "a") @ push, rel=1e-3)


def test_inverse_kinematics_finds_efforts_that_bring_both_effectors_to_their_targets():
    robot, plate = arm_with_finger()
    truth = {"t0": 0.6, "t1": 0.1, "t2": 0.3, "finger.p0": 0.4, "finger.p1": 0.1, "finger.p2": 0.2}
    rest = ag.statics(robot, inputs=truth)
    goals = {"plate": rest.position(plate), "middle": rest.volume("finger").position("middle")}
    model = MixedRobotModel(robot, {"plate": plate, "middle": "finger.middle"})
    found = ag.control.inverse_kinematics(model, goals)
    assert found.status.success
    check = ag.statics(robot, inputs=model.inputs)
    assert np.linalg.norm(check.position(plate) - goals["plate"]) < 1e-5
    assert np.linalg.norm(check.volume("finger").position("middle") - goals["middle"]) < 1e-5


def test_efforts_found_with_kept_factors_do_not_lag_behind_a_moving_target():
    """The stiffness of a slender finger turns with it: factors kept too long let efforts lag by most of a step."""
    robot, plate = arm_with_finger(0.1, (12, 2, 2))
    model = MixedRobotModel(robot, {"wrist": robot.part("arm").tip, "plate": plate})
    model.efforts[:] = [2.0, 2.0, 2.0, 0.2, 0.2, 0.2]
    model.relax()
    inverse, way = ag.control.InverseKinematics(model, reuse=10), 3e-4
    wrist, centre = (place.copy() for place in model.positions())
    kept, found = 0, []
    for k in range(27):
        shift = 10.0 * way * np.array([np.cos(0.1 * k), np.sin(0.1 * k), 0.0])
        inverse.step({"wrist": wrist + shift / 3.0, "plate": centre + shift})
        kept += inverse._kept > 0
        if k >= 15:
            found.append((centre + shift, model.inputs))
    assert kept >= 10
    start = None
    for goal, inputs in found:  # afterwards: statics of the same robot would make the factors anew
        start = ag.statics(robot, inputs=inputs, start=start)
        assert np.linalg.norm(start.position(plate) - goal) < 0.1 * way


def test_wrong_calls_are_refused():
    robot, plate = arm_with_finger()
    with pytest.raises(DescriptionError, match=r"volumes have: finger\.middle"):
        MixedRobotModel(robot, {"tip": "finger.tip"})
    with pytest.raises(DescriptionError, match="there is no actuator 'p0'"):
        MixedRobotModel(robot, {"plate": plate}, efforts={"p0": (0.0, 1.0)})
    with pytest.raises(DescriptionError, match="MixedRobotModel"):
        ag.control.InverseKinematics(robot)
