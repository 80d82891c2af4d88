"""Closed robots let go from a held shape: nothing but their damping may change their energy."""

import numpy as np
import pytest
from test_multibody_limits import coordinates, four_bar, four_bar_angles

import anguilla as ag


def arch(joint, force=None, angle=1.0):
    """Two plastic rods between clamps, maybe held aside by a force; and the first of them."""
    plastic = ag.Material(5e8, 1000, poisson=0.45, damping=0.01)
    robot = ag.Robot("arch", gravity=(0, -9.81, 0))
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    rod = ag.Rod(0.3, ag.Circle(0.01), plastic, ag.kirchhoff(4))
    a = robot.add(rod, at=robot.ground, name="a")
    b = robot.add(rod, at=a.tip, pose=turn, name="b")
    end = turn.copy()
    end[:3, 3] = 0.3 + 0.3 * np.cos(angle), 0.3 * np.sin(angle), 0
    robot.close(robot.ground, b.tip, joint=joint, pose=end)
    if force:
        robot.load(ag.Wrench(a.tip, force=force))
    return robot, a


@pytest.mark.parametrize(
    "joint",
    [ag.Fixed(), ag.Spherical(), ag.Revolute((0, 0, 1)), ag.Prismatic((1, 0, 0))],
    ids=lambda joint: type(joint).__name__,
)
def test_an_arch_let_go_gains_no_energy_at_any_step(joint):
    held = ag.statics(arch(joint, (0, 0, -60.0))[0])
    robot, a = arch(joint)
    for dt in (2e-3, 1e-3, 5e-4, 2e-4):
        runs = [ag.simulate(robot, duration=0.01, dt=dt, start=held.q, smooth_start=smooth) for smooth in (True, False)]
        energy, stored = runs[0].energy["total"], runs[0].energy["elastic"][0]
        assert np.all(
            np.diff(energy) < 1e-6 * stored
        )  # with offsets that dt cannot resolve: up to 8000 times what there was
        tips = [run.position(a.tip)[-1] for run in runs]
        np.testing.assert_allclose(tips[0], tips[1], atol=2e-3)


def test_an_arm_on_a_tendon_of_given_length_gains_no_energy():
    def arm(force=None):
        robot = ag.Robot("arm", gravity=(0, -9.81, 0))
        plastic = ag.Material(5e8, 1000, poisson=0.45, damping=0.01)
        rod = robot.add(ag.Rod(0.3, ag.Circle(0.006), plastic, ag.extensible_kirchhoff(3)), at=robot.ground)
        robot.actuate("line", ag.Tendon(rod, ag.parallel(z=0.005), by="length"))
        if force:
            robot.load(ag.TipWrench(rod, force=force))
        return robot

    held = ag.statics(arm((0, 2.8, -1.7)), inputs={"line": 0.298})
    run = ag.simulate(arm(), duration=0.02, dt=1e-3, inputs={"line": 0.298}, start=held.q)
    assert np.all(np.diff(run.energy["total"]) < 1e-6 * run.energy["elastic"][0])


def test_a_motion_that_dt_resolves_still_starts_smoothly():
    """A linkage caught in full swing: with offsets, the multipliers of the first steps are of order two."""
    robot = four_bar()[0]
    quiet = {"tolerance": 1e-12}
    with pytest.warns(ag.AnguillaWarning, match="redundant"):
        swing = ag.simulate(robot, duration=0.3, dt=1e-4, start=coordinates(four_bar_angles(0.5)), **quiet)
        start = swing.q[-1], swing.v[-1]
        errors = {}
        fine = ag.simulate(robot, duration=0.02, dt=1e-4, start=start, every=20, **quiet).multipliers
        for smooth in (True, False):
            for dt in (4e-3, 2e-3, 1e-3):
                run = ag.simulate(robot, duration=0.02, dt=dt, start=start, smooth_start=smooth, **quiet)
                assert run.status.counters.get("settled", 0) == smooth
                off = run.multipliers[:: round(4e-3 / dt)] - fine[::2]
                errors[smooth, dt] = np.abs(off[1:]).max() / np.abs(fine).max()
    assert errors[True, 1e-3] < 2e-4 and errors[True, 1e-3] < errors[True, 4e-3] / 12.0
    assert errors[False, 1e-3] > 1e-2  # of order one
