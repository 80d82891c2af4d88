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
    for case, coarse, fine in (("weak", 2e-3, 1e-3), ("soft", 1e-2, 5e-3)):
        assert found.differences[case, coarse] > 2 * found.differences[case, fine]
        assert found.same_step[case, coarse] > 2.5 * found.same_step[case, fine]
        assert found.same_step[case, fine] < 0.002 * 0.4
        assert 0 < found.reduced[case] < 0.005 * 0.4
    assert 0.007 < found.chi < 0.02  # the paper: about 1/100
    for name, exponent in (("E", -0.5), ("rho", 0.5), ("l", 2.0)):
        assert abs(found.exponents[name] - exponent) < 0.08  # the threshold is a transition of some per cent
    assert found.real_time < 1.0


@pytest.mark.slow
def test_flying_stick():
    found = result("paper003_test3_flying_stick")
    steps = sorted(found.tip_difference, reverse=True)
    gaps = np.array([found.tip_difference[dt] for dt in steps])
    assert np.all(np.log2(gaps[:-1] / gaps[1:]) > 1.8)  # second order
    early = found.t <= 1.0
    assert np.max(np.linalg.norm((found.centre - found.exact)[early], axis=1)) < 0.02
    assert found.seconds < 5.0


@pytest.mark.slow
def test_swimmer():
    found = result("paper003_test4_swimmer")
    inverse = np.interp(found.t, found.inverse_t, found.inverse["riccati"])
    last = found.t > 1.0
    errors = {k: np.mean(np.abs(v - inverse)[last]) / np.mean(np.abs(inverse[last])) for k, v in found.forward.items()}
    assert errors[50.0] < 0.04 and errors[200.0] < 0.4 * errors[50.0]  # tends to the inverse result with the stiffness
    assert found.tracking[50.0] < 0.02
    assert inverse[-1] < -0.2  # it swims forward, head first
    assert np.allclose(found.inverse["riccati, 0.1 s"], found.inverse["two-pass, 0.1 s"], atol=1e-5)
