"""The tangent of a robot in blocks is that of one dense matrix: what it makes of vectors, and its entries."""

import numpy as np
import pytest

import anguilla as ag

JOINTS = {"fixed": ag.Fixed, "hinge": lambda: ag.Revolute("y"), "ball": ag.Spherical, "free": ag.Free}


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("linear", ["tree", "sparse"])
def test_tangent_in_blocks_is_that_of_one_matrix(joint, linear):
    """Blocks of a joint alone hand the motion of their face on; what is never laid down there must not be read."""
    rod = ag.Rod(0.1, ag.Circle(2.5e-3), ag.Material(1e7, 1000.0), ag.extensible_kirchhoff(2))
    robot = ag.Robot("chain", gravity=(6.9, 0.0, -6.9))
    at = robot.ground
    for _ in range(4):
        at = robot.add(rod, at=at, joint=JOINTS[joint]()).tip
    dense, blocks = ag.Model(robot, linear="dense"), ag.Model(robot, linear=linear)
    rng = np.random.default_rng(1)
    state = [size * rng.normal(size=robot.size) for size in (0.1, 0.3, 0.5)]
    one, two = dense.evaluate(*state), blocks.evaluate(*state)
    np.testing.assert_allclose(two.residual, one.residual, atol=1e-12 * np.abs(one.residual).max())
    for alpha, beta in ((0.0, 0.0), (100.0, 1e4), (0.0, 1.0)):
        matrix, other = one.tangent(alpha, beta), two.tangent(alpha, beta)
        np.testing.assert_allclose(other, matrix, atol=1e-12 * np.abs(matrix).max())
        x = rng.normal(size=robot.size)
        np.testing.assert_allclose(
            two.operator(alpha, beta).times(x), matrix @ x, atol=1e-12 * np.abs(matrix).max() * len(x)
        )
