"""The examples of the toolbox give the right numbers."""

import numpy as np
import pytest
from script_modules import load


def run(name):
    module = load(name)
    return module, module.main()


def test_euler_column(tmp_path):
    module, result = run("euler_column")
    assert result.critical == pytest.approx([1.0, 9.0], rel=1e-4)
    assert result.error < 1e-5
    assert all(np.all(branch.stable[1:]) for branch in result.bent[:2])
    assert not any(np.any(branch.stable[1:]) for branch in result.bent[2:])
    module.figures(tmp_path, result)
    assert (tmp_path / "euler_column.png").stat().st_size < 150_000


def test_snap_through_arch(tmp_path):
    """Both limit loads against the boundary-value problem; the four special points in their order, told apart."""
    module, result = run("snap_through_arch")
    kinds = [point.kind for point in result.symmetric.special]
    assert kinds == ["bifurcation", "limit", "limit", "bifurcation"]
    assert result.limits == pytest.approx(result.bvp, rel=5e-5)
    assert result.symmetric.stable[0]
    assert result.symmetric.stable[-1]
    assert "came back" in result.crooked.status.message
    # the loop of crooked shapes runs through both bifurcations
    ends = [point.factor for point in result.symmetric.bifurcations]
    assert np.max(result.crooked.factors) == pytest.approx(ends[0], rel=1e-6)
    assert np.min(result.crooked.factors) == pytest.approx(ends[1], rel=0.1)
    module.figures(tmp_path, result)
    assert (tmp_path / "snap_through_arch.png").stat().st_size < 150_000


def test_modes_of_an_arm(tmp_path):
    module, result = run("modes_of_an_arm")
    first = result.modes[0]
    assert first.frequencies[0] == pytest.approx(first.frequencies[1], rel=1e-9)  # a round arm that hangs straight
    assert np.all(first.damping > 0.0)
    size = np.max(np.abs(result.simulated))
    assert np.max(np.abs(result.linear - result.simulated)) < 0.01 * size
    module.figures(tmp_path, result)
    assert (tmp_path / "modes_of_an_arm.png").stat().st_size < 150_000


def test_twisted_ring(tmp_path):
    """Michell's turn; the ring snaps: the turn falls along the branch that leaves the plane, which is unstable."""
    module, result = run("twisted_ring")
    assert result.turn == pytest.approx(1.0, rel=2e-5)
    assert result.imbalance < 1e-4
    assert np.all(result.plane.unstable == np.where(result.plane.factors < 1.0, 0, 2))
    assert np.all(np.diff(result.writhed.factors[3:]) < 0.0)
    assert np.all(result.writhed.unstable[3:] >= 1)
    assert result.heights[-1] > 0.08
    assert result.heights[0] < 0.02
    module.figures(tmp_path, result)
    assert (tmp_path / "twisted_ring.png").stat().st_size < 150_000
