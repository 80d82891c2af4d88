"""Numbers of the examples of paper 002."""

import numpy as np
import pytest
from script_modules import load

pytestmark = pytest.mark.slow


def test_the_parallel_robot_reaches_its_goals():
    result = load("paper002_parallel_robot").main()
    assert len(result.goals) == 28
    np.testing.assert_allclose(np.ptp(result.goals, axis=0), [0.025, 0.025, 0.05])
    assert result.model_error.max() < 1e-4  # the relaxed model, within 0.1 mm
    assert 1e-4 < result.plant_error.mean() < 5e-3  # another mesh and stiffness: millimetres, as in figure 12
    softer, finer, rough = result.rubbing.values()
    assert softer.mean() < finer.mean() < rough.mean() < 5e-3
    assert 0 < result.stroke_difference < result.force_difference < 0.3  # IV.D: forces differ more than strokes
    assert np.all(np.diff(result.deflection, axis=0) > 0)


def test_the_trunk_is_known_best_by_finite_elements():
    result = load("paper002_trunk").main()
    assert len(result.tips) == 50
    assert result.rms("fem") < 0.6 * min(result.rms("arcs"), result.rms("vertebrae"))
    assert result.rms("arcs") < 5e-3
    assert np.abs(result.length_error).mean() < 6e-3
    np.testing.assert_allclose(result.deflection[0], 0.0)
    assert np.all(result.deflection[1:, 1] < result.deflection[1:, 0])  # the real one is stiffer


def test_the_loop_settles_and_rejects_a_push():
    module = load("paper002_closed_loop")
    result = module.main(steps=130)
    error = np.abs(result.clean.lengths - result.clean.goals).max(axis=1)
    assert error[49] < 0.03 * error[0]
    assert error[module.PUSH] > 2 * error[module.PUSH - 1]
    assert error[-1] < 0.4 * error[module.PUSH]
    assert result.exact == pytest.approx(0.98687, abs=1e-5)
    assert result.gamma == pytest.approx(result.exact, abs=1e-5)
    rough = np.abs(result.run.lengths - result.run.goals).max(axis=1)
    assert rough[-10:].max() < 4e-4  # two marks of the scale


def test_a_step_of_inverse_kinematics_is_fast():
    rows = load("fem_speed").main(sizes=((13, 2),), steps=15)
    assert rows[0].nodes == pytest.approx(1000, rel=0.05)
    assert rows[0].best < 0.01  # three times what is measured, for busy machines
    assert rows[0].imbalance < 1e-3
