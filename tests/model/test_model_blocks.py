"""A tree in blocks is the same tree: stiffness, damping and mass agree with those of one dense matrix."""

import numpy as np
import pytest

import anguilla as ag

SOFT = ag.Material(young=1e6, poisson=0.4, density=1000, damping=0.01)
JOINTS = [
    ag.Fixed(), ag.Revolute((0, 1, 0.2)), ag.Prismatic((1, 0, 0)), ag.Universal((0, 1, 0), (0, 0.2, 1)),
    ag.Cylindrical((0, 0, 1)), ag.Planar((0, 0, 1)), ag.Spherical(),
]  # fmt: skip
STRAINS = {"few": ag.kirchhoff(2), "many": ag.reissner(6)}


@pytest.mark.parametrize("wide", [False, True], ids=["", "wide"])
@pytest.mark.parametrize("strains", STRAINS.values(), ids=STRAINS)
@pytest.mark.parametrize("joint", JOINTS, ids=lambda joint: type(joint).__name__)
def test_blocks_of_different_sizes_do_not_disturb_each_other(joint, strains, wide):
    """Behind a rod, joints alone may be a block of a few nodes, in whose memory a rod was before."""
    robot = ag.Robot("chain", gravity=(0.3, -0.2, -9.81))
    first = robot.add(ag.Rod(0.2, ag.Circle(0.01), SOFT, ag.kirchhoff(2)), at=robot.ground)
    second = robot.add(ag.Rod(0.2, ag.Circle(0.01), SOFT, strains), at=first.tip, joint=joint)
    last = robot.add(ag.RigidBody.sphere(0.01, mass=0.05), at=second.tip, joint=ag.Spherical())
    robot.load(ag.TipWrench(second, force=(0.01, 0.02, -0.03), follower=True))
    if wide:  # something depends on places
        robot.load(ag.WorldSpring(last.frame, direction=(0, 1, 0), stiffness=30.0))
    q, v = np.random.default_rng(1).normal(size=(2, robot.size)) * 0.4
    ours, dense = (ag.Model(robot, linear=kind).matrices(q, v) for kind in ("tree", "dense"))
    for name, one, other in zip("KCM", ours, dense, strict=True):
        soft = np.sqrt(np.abs(np.outer(np.diag(dense[2]), np.diag(dense[2]))))  # lengths and angles on one scale
        np.testing.assert_allclose(
            one / soft, other / soft, rtol=0, atol=1e-11 * np.max(np.abs(other / soft)), err_msg=name
        )
