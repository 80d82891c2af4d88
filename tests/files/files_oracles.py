"""Comparison of robots by what they compile to."""

import numpy as np

import anguilla as ag

TIMES = np.array([0.0, 0.013, 0.05, 0.0999, 0.249, 0.251, 1.7])


def agree(a, b, times=TIMES, rtol=1e-15):
    """Two robots have the same coordinates, the same compiled tree, and at many times the same balance of forces."""
    assert a.coordinates() == b.coordinates()
    assert a.name == b.name and list(a.actuators) == list(b.actuators)
    one, two = ag.Model(a), ag.Model(b)
    for name, left, right in zip(one.tree._fields, one.tree, two.tree, strict=True):
        size = np.max(np.abs(left), initial=0.0)
        np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol * size, err_msg=name)
    rng = np.random.default_rng(3)
    for t in times:
        q, v, acc = 0.1 * rng.normal(size=(3, one.size)) / max(one.tree.scale.max(), 1.0)
        inputs = dict(zip(a.actuators, rng.uniform(0.5, 2.0, len(a.actuators)), strict=True))
        left, right = (system.residual(q, v, acc, t=float(t), inputs=inputs) for system in (one, two))
        size = np.max(np.abs(right), initial=0.0)
        np.testing.assert_allclose(left, right, rtol=100 * rtol, atol=100 * rtol * size, err_msg=f"t = {t}")
