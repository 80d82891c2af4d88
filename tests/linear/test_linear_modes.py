"""A few lowest modes of large robots: those of all matrices, and of beams."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.solve.modes import few as few_modes
from anguilla.solve.modes import local

YOUNG, DENSITY, RADIUS = 2e6, 1000.0, 2e-3
CLAMPED_FREE = np.array([1.875104068711961, 4.694091132974174, 7.854757438237613, 10.995540734875467])


def chain(count, damping=0.0, gravity=(0.0, 0.0, 0.0), stretch=0):
    """Rods clamped end to end, a metre long."""
    robot = ag.Robot("chain", gravity=gravity)
    strains = ag.Strains(twist=1, bend_y=2, bend_z=2, **({"stretch": stretch} if stretch else {}))
    material = ag.Material(YOUNG, DENSITY, damping=damping)
    rod = ag.Rod(1.0 / count, ag.Circle(RADIUS), material, strains, intervals=2)
    parts = [robot.add(rod, at=robot.ground)]
    for _ in range(count - 1):
        parts.append(robot.add(rod, at=parts[-1].tip))
    return robot, parts


def both(robot, count, **options):
    """Modes by a few shapes and by whole matrices."""
    large, dense = ag.Model(robot, linear="sparse"), ag.Model(robot, linear="dense")
    return ag.modes(large, count=count, **options), ag.modes(dense, count=count, **options)


def test_the_chain_of_64_rods_vibrates_as_a_beam():
    found = ag.modes(chain(64)[0], at=np.zeros(320), count=8)
    assert ag.Model(chain(64)[0]).linear == "tree"
    bending, line = YOUNG * np.pi * RADIUS**4 / 4, DENSITY * np.pi * RADIUS**2
    beam = CLAMPED_FREE**2 * np.sqrt(bending / line) / (2 * np.pi)
    np.testing.assert_allclose(found.frequencies, np.repeat(beam, 2), rtol=1e-4)  # both ways; sections turn a little
    assert np.all(found.damping == 0.0)


@pytest.mark.parametrize("damping", [0.0, 0.01, 10.0])
@pytest.mark.parametrize("sag", [0.0, 0.01])
def test_damped_and_bent_as_by_whole_matrices(damping, sag):
    few, whole = both(chain(8, damping, (0.0, 0.0, -sag))[0], 6)
    np.testing.assert_allclose(few.frequencies, whole.frequencies, rtol=1e-8)
    np.testing.assert_allclose(few.damping, whole.damping, rtol=1e-6, atol=1e-9)


def test_shapes_are_those_of_whole_matrices():
    few, whole = both(chain(8, gravity=(0.0, 0.3, -0.1))[0], 4)
    np.testing.assert_allclose(few.frequencies, whole.frequencies, rtol=1e-10)
    np.testing.assert_allclose(few.shapes, np.real(whole.shapes), rtol=1e-5, atol=1e-5)
    assert len(few.motion(0).t) == 61


@pytest.mark.parametrize("damping", [0.0, 0.01])
@pytest.mark.parametrize("seed", [19, 3])
def test_a_floating_robot_has_six_rigid_motions(damping, seed, monkeypatch):
    monkeypatch.setattr(few_modes, "SEED", seed)
    robot, at = ag.Robot("floating", gravity=(0, 0, 0)), None
    for k in range(7):  # damping that differs from rod to rod couples the shapes
        material = ag.Material(YOUNG, DENSITY, damping=damping * (1 + k % 3))
        rod = ag.Rod(0.2, ag.Circle(0.005), material, ag.kirchhoff(2), intervals=2)
        at = (robot.add(rod, at=at) if at else robot.add(rod, at=robot.ground, joint=ag.Free())).tip
    few, whole = both(robot, 9, at=np.zeros(robot.size))
    for found in (few, whole):
        assert np.all(found.frequencies[:6] == 0.0) and np.all(found.frequencies[6:] > 0.0)
        rigid = found.shapes[:, :6] * ag.Model(robot).tree.scale[:, None]
        assert np.linalg.svd(rigid, compute_uv=False)[-1] > 1e-3  # six different ones
    np.testing.assert_allclose(few.frequencies[6:], whole.frequencies[6:], rtol=1e-8)
    np.testing.assert_allclose(few.damping[6:], whole.damping[6:], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("damping", [0.0, 0.01])
def test_constraints_hold_in_the_modes(damping):
    robot, parts = chain(8, damping, stretch=1)
    robot.close(robot.ground, parts[-1].tip, joint=ag.Universal("y", "z"), pose=(1.0, 0.0, 0.0))
    robot.add(ag.RigidBody.sphere(0.01, mass=2e-3), at=parts[3].tip)
    robot.actuate("stay", ag.Tendon([robot.ground.offset_by((0.5, 0.3, 0.0)), parts[3].tip], ag.parallel(), by="length",
                                    compliance=1e-2))  # fmt: skip
    inputs = {"stay": 0.299}
    few, whole = both(robot, 5, inputs=inputs)
    np.testing.assert_allclose(few.frequencies, whole.frequencies, rtol=1e-8)
    np.testing.assert_allclose(few.damping, whole.damping, rtol=1e-6, atol=1e-9)


def test_a_follower_load_couples_modes():
    robot, parts = chain(8, 0.01)
    robot.load(ag.Wrench(parts[-1].tip, force=(-2e-6, 0, 0), follower=True))
    few, whole = both(robot, 6)
    np.testing.assert_allclose(few.frequencies, whole.frequencies, rtol=1e-8)
    np.testing.assert_allclose(few.damping, whole.damping, rtol=1e-6, atol=1e-9)


def test_whole_matrices_of_a_very_large_robot_are_refused(monkeypatch):
    monkeypatch.setattr(local, "LARGEST", 30)
    with pytest.raises(ag.DescriptionError, match=r"40 coordinates.*up to 30.*count=10"):
        ag.linearise(chain(8)[0], np.zeros(40))
