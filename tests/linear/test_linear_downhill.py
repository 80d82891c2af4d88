"""The way down from an unstable equilibrium ends at the same shape, whatever the linear algebra."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.model.evaluation import at_rest


def column(count: int) -> ag.Robot:
    """Soft rods on end, a little out of plumb: too tall to stand. Newton finds them standing, leaning over."""
    rubber = ag.Material(young=1e6, poisson=0.5, density=1000, damping=0.01)
    robot, lean = ag.Robot("column"), np.pi / 2 - 0.02
    pose = np.eye(4)
    pose[:3, :3] = [[np.cos(lean), 0, -np.sin(lean)], [0, 1, 0], [np.sin(lean), 0, np.cos(lean)]]
    at = robot.ground
    for k in range(count):
        rod = ag.Rod(0.2, ag.Circle(0.008), rubber, ag.kirchhoff(2), intervals=4)
        at = robot.add(rod, at=at, pose=pose if k == 0 else None, name=f"rod_{k}").tip
    return robot


@pytest.mark.parametrize(
    "count", [2, 26]
)  # 26: whole matrices are no longer sooner there than a few of their eigenvalues
def test_column_falls_to_the_same_shape(count):
    found = {way: ag.statics(ag.Model(column(count), linear=way)) for way in ("dense", "tree", "sparse")}
    for way, rest in found.items():
        assert "slid downhill" in rest.status.message and "unstable:" not in rest.status.message
        np.testing.assert_allclose(rest.q, found["dense"].q, atol=1e-7, err_msg=way)


@pytest.mark.parametrize("beta", [0.0, 1e2, 1e5])
def test_blocks_say_whether_the_whole_is_definite(beta):
    model = ag.Model(column(6), linear="tree")
    here = at_rest(model, model.loads(0.0).loads, np.zeros(model.size))
    whole = here.tangent(0.0, beta) / np.outer(model.tree.scale, model.tree.scale)
    assert here.is_definite(0.0, beta) == (np.linalg.eigvalsh(0.5 * (whole + whole.T))[0] > 0.0)
