"""What the examples of paper 003 find."""

import importlib.util
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def result(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.main()


def test_tendon_arm():
    found = result("paper003_test1_tendon_arm")
    assert max(max(n) for n in found.iterations.values()) <= 6  # "a few iterations"
    for routing, modes, limit in (("convergent", 5, 1e-7), ("convergent", 12, 2e-8), ("spiral", 12, 2e-6)):
        assert found.core[routing, modes] < limit
    assert found.core["spiral", 3] > 10 * found.core["spiral", 5] > 100 * found.core["spiral", 8]
    # the paper: exact for the convergent tendon, 1.4 % for the spiral one, with the tendon at the rest strain
    assert found.frozen_error["convergent"] < 5e-4
    assert 0.004 < found.frozen_error["spiral"] < 0.02


@pytest.mark.slow
def test_release():
    found = result("paper003_test2_release")
    for case, steps in (("weak", (2e-3, 1e-3, 5e-4)), ("soft", (1e-2, 5e-3, 2.5e-3))):
        for dt in steps:  # the same steps and scheme: only the core's modes are left, and they converge
            gaps = [found.modes[case, dt, m] for m in (5, 8, 12, 16)]
            assert np.all(np.diff(gaps) < 0)
            assert gaps[-1] < 4e-5 * 0.4 and gaps[-1] < 0.02 * gaps[0]
        assert found.exact[case, steps[0]] > found.exact[case, steps[1]] > 2.0 * found.exact[case, steps[2]]
        assert 0 < found.reduced[case] < 0.01 * 0.4
    # figure 3 (b): 0.5 ms is below the critical step of an explicit method along the rod, 1 ms is not
    ends = {key: t[-1] for key, (t, _) in found.waves.items()}
    assert ends["explicit", 5e-4] < 0.4 and ends["explicit", 1e-3] == pytest.approx(0.6)
    rough = {key: r for key, (_, r) in found.waves.items()}
    assert rough["explicit", 5e-4][-1] > 1e3 * np.median(rough["gauss", 5e-4])
    for dt in (1e-3, 5e-4):
        assert np.max(rough["gauss", dt][100:]) < 3 * np.median(rough["gauss", dt])
    assert 0.007 < found.chi < 0.02  # the paper: about 1/100
    for name, exponent in (("E", -0.5), ("rho", 0.5), ("l", 2.0)):
        assert abs(found.exponents[name] - exponent) < 0.08  # the threshold is a transition of some per cent


@pytest.mark.slow
def test_flying_stick():
    found = result("paper003_test3_flying_stick")
    steps = sorted(found.tip_difference, reverse=True)
    gaps = np.array([found.tip_difference[dt] for dt in steps])
    assert np.all(np.log2(gaps[:-1] / gaps[1:]) > 1.8)  # second order
    early = found.t <= 1.0
    assert np.max(np.linalg.norm((found.centre - found.exact)[early], axis=1)) < 0.02
    assert found.seconds < 5.0
    # with the same steps both methods are one until the shortest waves, which nothing damps, part them
    assert found.same_steps[0.1] < 2e-8 and found.same_steps[0.2] < 2e-6 and found.same_steps[1.0] < 5e-3
    assert found.drift[0.01] > 2.5 * found.drift[0.005]


@pytest.mark.slow
def test_swimmer():
    found = result("paper003_test4_swimmer")
    # the forward swimmer tends to the inverse one as the control stiffens, over the whole window of 10 s
    apart = [found.apart[k] for k in (50.0, 200.0, 800.0)]
    assert apart[0] < 0.04
    assert apart[0] > 3 * apart[1] and apart[1] > 2.5 * apart[2], apart
    assert found.tracking[50.0] < 0.03 and found.tracking[800.0] < 0.002
    assert found.t[-1] == pytest.approx(10.0)
    assert found.inverse["riccati"][-1] < -0.6  # it swims forward, head first
    assert max(found.seconds.values()) < 10.0
    assert np.allclose(found.inverse["riccati, 0.1 s"], found.inverse["two-pass, 0.1 s"], atol=1e-5)
