"""Copies and pickles of systems and results: they give the same numbers, from memory of their own."""

import copy
import pickle

import numpy as np
import pytest

import anguilla as ag

COPIES = {"copy": copy.deepcopy, "pickle": lambda what: pickle.loads(pickle.dumps(what))}


def loop():
    """Two rods that close a loop, one pulled by a tendon: tables of every kind have rows."""
    robot = ag.Robot("loop", gravity=(0.0, -9.81, 0.0))
    material = ag.Material(young=1e6, poisson=0.4, density=1000.0, damping=0.01)
    rod = ag.Rod(0.5, ag.Circle(0.02), material, ag.planar(2), intervals=3)
    hinge = ag.Revolute((0.0, 0.0, 1.0))
    left = robot.add(rod, at=robot.ground, joint=hinge, name="left")
    right = robot.add(rod, at=robot.ground.offset_by((0.3, 0.0, 0.0)), joint=hinge, name="right")
    robot.close(left.tip, right.tip, joint=hinge)
    robot.actuate("pull", ag.Tendon(left, ag.parallel(y=0.01)))
    return robot


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copied_system_has_memory_of_its_own(copied):
    system = ag.Model(loop())
    twin = copied(system)
    q = np.linspace(-0.5, 0.5, system.size)
    here, there = system.residual(q, inputs={"pull": 2.0}), twin.residual(q, inputs={"pull": 2.0})
    np.testing.assert_array_equal(here, there)
    np.testing.assert_array_equal(system.tangent(q), twin.tangent(q))
    for one, two in ((system.tree, twin.tree), (system.workspace, twin.workspace), (system.blank, twin.blank)):
        assert one.address != two.address
    assert not np.shares_memory(system.workspace.node, twin.workspace.node)


@pytest.mark.filterwarnings("ignore:.*redundant.*:anguilla.AnguillaWarning")
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copied_results_answer_like_the_results(copied):
    robot = loop()
    start = ag.statics(robot, inputs={"pull": 2.0}, start=np.array([1.2, 0.0, 0.0, 1.9, 0.0, 0.0]))
    motion = ag.simulate(robot, duration=0.02, dt=0.01, start=start)
    for result in (start, motion):
        twin = copied(result)
        one, two = (each.wrench(each.robot.parts[0], [0.1, 0.4]) for each in (result, twin))
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(result.energy["total"], twin.energy["total"])
