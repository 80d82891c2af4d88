"""Contact between parts of a robot cut into blocks: the sparse way gives what the dense one gives."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.interact.kernels.touch import HITS

ACROSS = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def two_chains(slip, count=4):
    """Two chains of rods, one across the other in the middle, that touch and fall."""
    robot, chains = ag.Robot("chains"), ([], [])
    rubber = ag.Material(3e6, 1000.0, poisson=0.5, damping=0.01)
    second = np.eye(4)
    second[:3, :3], second[:3, 3] = ACROSS, (0.075 * count, -0.075 * count, 0.019)
    for chain, place in zip(chains, (np.eye(4), second), strict=True):
        at, pose = robot.ground, place
        for _ in range(count):
            name = f"rod{len(robot.parts)}"
            part = robot.add(ag.Rod(0.15, ag.Circle(0.01), rubber, ag.kirchhoff(3)), at=at, pose=pose, name=name)
            chain.append(part)
            at, pose = part.tip, None
    for a in chains[0]:
        for b in chains[1]:
            robot.load(ag.Contact(a, b, 2e5, friction=0.3, damping=0.5, slip=slip))
    return robot


@pytest.mark.filterwarnings("ignore::anguilla.errors.AnguillaWarning")
@pytest.mark.parametrize("slip", [None, 0.01], ids=["holds", "slips"])
def test_motions_are_the_same(slip):
    runs = []
    for linear in ("dense", "sparse"):
        model = ag.Model(two_chains(slip), linear)
        runs.append(ag.simulate(model, duration=0.05, dt=1e-3, tolerance=1e-10))
    dense, sparse = runs
    assert sum(dense.contacts(load).points.max() for load in dense.robot.loads) > 0
    np.testing.assert_allclose(sparse.q, dense.q, rtol=0, atol=1e-10 * np.abs(dense.q).max())


@pytest.mark.parametrize("slip", [None, 0.01], ids=["holds", "slips"])
def test_tangents_are_the_same(slip):
    models = [ag.Model(two_chains(slip, 2), linear) for linear in ("dense", "sparse")]
    q, v, a = np.random.default_rng(3).normal(size=(3, models[0].size)) / models[0].tree.scale
    dense, sparse = (model.evaluate(1e-3 * q, 0.1 * v, a) for model in models)
    assert all(model.loads(0.0, {}).loads.touches.count[HITS] > 0 for model in models)
    for weights in ((0.0, 0.0), (50.0, 2000.0)):
        matrix = dense.bordered(*weights)
        np.testing.assert_allclose(sparse.bordered(*weights), matrix, rtol=0, atol=1e-12 * np.abs(matrix).max())
