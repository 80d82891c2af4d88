"""Formulas of joints, against other ways to write them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from anguilla.mechanics.joints import compose


@pytest.mark.parametrize("sizes", [(0.0, 0.0), (1e-12, 0.7), (0.7, 1e-12), (1e-3, 1e-3), (1.3, 0.4), (3.0, 2.9)])
def test_rotation_vectors_follow_each_other(sizes):
    """Also beyond half a turn, where the shorter way round is given."""
    directions = np.random.default_rng(2).normal(size=(2, 3))
    a, b = (size * x / np.linalg.norm(x) for size, x in zip(sizes, directions, strict=True))
    expected = (Rotation.from_rotvec(a) * Rotation.from_rotvec(b)).as_rotvec()
    np.testing.assert_allclose(compose(tuple(a), tuple(b)), expected, rtol=1e-9, atol=1e-12)
