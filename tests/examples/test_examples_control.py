"""Closed loops of the examples: a pole is held, a pendulum swings up, an arm draws, and what wrong models cost."""

import numpy as np
import pytest


@pytest.mark.xdist_group("flexible_pole")
def test_lqg_holds_a_flexible_pole(example):
    ran = example("flexible_pole")
    result, p = ran.result, ran.module
    assert np.max(np.abs(result.controller.poles)) < 1.0
    assert abs(result.without["pole.angle"][-1]) > 1.0  # left alone it falls
    assert np.max(np.abs(result.loop.run["pole.angle"])) < 0.3 and result.late < 0.02
    assert result.sag > 0.01  # it bends
    assert np.max(np.abs(result.loop.command("push"))) <= 15.0
    assert p.report(result)


@pytest.mark.xdist_group("swing_up")
def test_ilqr_swings_a_soft_pendulum_up(example):
    result, p = example("swing_up").result, example("swing_up").module
    assert p.MOTOR < 0.75 * result.lift
    assert np.max(np.abs(result.plan.inputs)) <= p.MOTOR
    assert abs(result.plan.run.q[-1, 0]) < 0.02 and abs(result.plan.run.v[-1, 0]) < 0.05
    assert result.late < 0.01
    assert p.report(result)


@pytest.mark.xdist_group("track_eight")
def test_mpc_draws_with_a_payload_that_it_does_not_know(example):
    result, p = example("track_eight").result, example("track_eight").module
    rms = {name: error[0] for name, error in result.errors.items()}
    assert rms["MPC"] < 1e-3 and rms["MPC"] < 0.2 * min(x for name, x in rms.items() if name != "MPC")
    assert np.max(result.loops["MPC"].commands) <= p.MOST and np.min(result.loops["MPC"].commands) >= 0.0
    assert result.rate > 50.0 or np.median(result.loops["MPC"].seconds) < 0.02
    assert p.report(result)


@pytest.mark.xdist_group("computed_torque")
def test_true_and_wrong_models(example):
    result, p = example("computed_torque").result, example("computed_torque").module
    for robot in ("four_bar", "eel"):
        true, wrong = result.errors[robot, 1.0], result.errors[robot, 0.9]
        assert all(error < 1e-8 for name, error in true.items() if name != "PD")
        assert all(wrong[name] > 1e-4 for name in wrong)
        assert wrong["computed torque"] < wrong["feed-forward"]
        assert wrong["PD and feed-forward"] < wrong["PD"]
    assert p.report(result)
