"""Contact between parts of a robot cut into blocks: the sparse way gives what the dense one gives."""

import numpy as np
import pytest

import anguilla as ag

ACROSS = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def two_chains(slip):
    """Two chains of rods, one across the other, that touch and fall."""
    robot, chains = ag.Robot("chains"), ([], [])
    rubber = ag.Material(3e6, 1000.0, poisson=0.5, damping=0.01)
    second = np.eye(4)
    second[:3, :3], second[:3, 3] = ACROSS, (0.3, -0.3, 0.019)
    for chain, place in zip(chains, (np.eye(4), second), strict=True):
        at, pose = robot.ground, place
        for _ in range(4):
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
