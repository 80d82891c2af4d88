"""Comparison of robots by what they compile to."""

import numpy as np

import anguilla as ag

TIMES = np.array([0.0, 0.013, 0.05, 0.0999, 0.249, 0.251, 1.7])


def agree(a, b, times=TIMES, rtol=1e-15):
    """Two robots have the same coordinates, the same compiled tree and the same loads."""
    assert a.coordinates() == b.coordinates()
    assert a.name == b.name and list(a.actuators) == list(b.actuators)
    one, two = ag.System(a), ag.System(b)
    for name, left, right in zip(one.tree._fields, one.tree, two.tree, strict=True):
        size = np.max(np.abs(left), initial=0.0)
        np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol * size, err_msg=name)
    left, right = one.loads(times), two.loads(times)
    for name in ("where", "follower", "gravity", "wrench", "effort"):
        np.testing.assert_allclose(getattr(left, name), getattr(right, name), rtol=rtol, atol=1e-15, err_msg=name)
