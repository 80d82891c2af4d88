"""Step by step is the same motion; and it keeps pace with the clock while inputs move."""

import time

import numpy as np
import pytest

import anguilla as ag
from anguilla.solve.steps.stepper import Stepper
from anguilla.view.realtime import Pace, RealTime


def until(condition, seconds=20.0):
    """Wait for something to happen."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


def test_steps_are_those_of_simulate(arm):
    inputs = {"a1": 4.0, "c2": 2.0}
    run = ag.simulate(arm, duration=0.3, dt=0.01, inputs=inputs)
    stepper = Stepper(arm, dt=0.01, inputs=inputs)
    for k in range(1, 31):
        stepper.step()
        assert np.array_equal(stepper.q, run.q[k]) and np.array_equal(stepper.v, run.v[k])
    assert stepper.t == pytest.approx(0.3)
    result = stepper.result()
    assert np.array_equal(result.position(arm.part("c").tip)[0], run.position(arm.part("c").tip)[-1])
    # accelerations are balanced afterwards, each from its own guess, up to the round-off of the mass
    np.testing.assert_allclose(result.a[0], run.a[-1], rtol=0, atol=1e-10 * np.max(np.abs(run.a[-1])))


def test_inputs_may_change_between_steps(arm):
    def staircase(t):
        return 3.0 if t < 0.1025 else 6.0  # between two steps, wherever in a step its inputs are taken

    run = ag.simulate(arm, duration=0.2, dt=0.01, inputs={"b1": staircase}, events=[])
    stepper = Stepper(arm, dt=0.01, inputs={"b1": 3.0})
    stepper.step(10)
    stepper.step(10, {"b1": 6.0})
    assert np.array_equal(stepper.q, run.q[-1])
    stepper.reset()
    assert stepper.t == 0.0 and not stepper.q.any() and stepper.inputs == {"b1": 6.0}


def test_bad_inputs_are_refused(arm):
    stepper = Stepper(arm, dt=0.01)
    with pytest.raises(ag.DescriptionError, match="no input 'a9'"):
        stepper.step(1, {"a9": 1.0})
    with pytest.raises(ag.DescriptionError, match="finite number"):
        stepper.set_inputs({"a1": float("nan")})


def test_a_motion_that_fails_says_so_and_keeps_its_state(arm):
    stepper = Stepper(arm, dt=0.01)
    stepper.step(3)
    before = stepper.q
    with pytest.raises(ag.SolverError, match=r"stopped at t = 0\.03 s") as caught:
        stepper.step(1, {"a1": 1e12})
    assert np.array_equal(stepper.q, before)
    assert np.array_equal(caught.value.result.q[0], before)


def test_the_arm_keeps_real_time_while_inputs_move(arm):
    stepper = Stepper(arm, dt=0.01)
    drawn = []
    clock = RealTime(stepper, lambda: drawn.append(stepper.t), rate=30.0)
    clock.start()
    began = time.perf_counter()
    while (now := time.perf_counter() - began) < 3.0:
        clock.wanted |= {f"{s}{k + 1}": 8.0 * (1.0 + np.sin(3.0 * now + k)) for s in "abc" for k in range(3)}
        time.sleep(0.01)
    clock.stop()
    pace = clock.pace
    assert not clock.failure
    assert pace.lost == 0.0 and pace.worst < 0.1, str(pace)
    assert pace.factor == pytest.approx(1.0, abs=0.03)
    assert len(drawn) > 60  # of 90
    assert np.ptp(stepper.q) > 0.1


def test_a_simulation_that_is_too_slow_reports_its_lateness(arm):
    class Slow(Stepper):
        def step(self, count=1, inputs=None):
            time.sleep(0.03 * count)  # three times the step
            super().step(count, inputs)

    clock = RealTime(Slow(arm, dt=0.01), lambda: None, rate=30.0)
    clock.start()
    time.sleep(2.0)
    clock.stop()
    assert clock.pace.lost > 0.3 and clock.pace.worst > 0.1
    assert 0.15 < clock.pace.factor < 0.6
    assert "skipped" in str(clock.pace)


def test_a_failure_stops_the_clock_and_a_restart_clears_it(arm):
    clock = RealTime(Stepper(arm, dt=0.01), lambda: None)
    clock.start()
    until(lambda: clock.stepper.t > 0.1)
    clock.wanted["a1"] = 1e12
    until(lambda: "stopped at t" in clock.failure)
    clock.wanted["a1"] = 0.0
    clock.restart()
    until(lambda: not clock.failure and clock.stepper.t > 0.1)
    clock.stop()


def test_pace_in_words():
    pace = Pace(simulated=2.0, elapsed=4.0, late=0.01, worst=0.02)
    assert str(pace) == "0.50 x real time, late by 10 ms (at most 20 ms)"
