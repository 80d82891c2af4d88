"""Statics by shooting against the strain-mode core, closed forms and another formulation."""

import numpy as np
import pytest
from shooting_cases import random_case

import anguilla as ag
from anguilla.solve import shooting


@pytest.mark.parametrize("seed", range(10))
def test_ten_random_rods_agree_with_the_core(seed):
    robot, arm, inputs = random_case(seed)
    ours, core = shooting.statics(robot, inputs=inputs), ag.statics(robot, inputs=inputs)
    X = np.linspace(0, arm.length, 9)
    for x in X:
        assert np.linalg.norm(ours.position(arm.section(x)) - core.position(arm.section(x))) < 1e-8 * arm.length
    straight = np.linalg.norm(ours.position(arm.tip) - robot.parts[0].pose[:3, 3])
    assert straight < 0.99 * arm.length  # it is bent
    size = np.max(np.abs(core.wrench(arm, X)[:, 3:]))
    assert np.max(np.abs(ours.wrench(arm, X)[:, 3:] - core.wrench(arm, X)[:, 3:])) < 1e-6 * size
