"""Contact so soft that things go through each other: that is said."""

import warnings

import numpy as np
import pytest

import anguilla as ag

GIVES_WAY = r"Contact .* gives way by (8|9|10)\d % of the thickness there, so that things may go through each other"


def dropped(stiffness, fixed):
    """A ball that falls on a plate of 10 mm, fixed in space or a part."""
    robot = ag.Robot("plate")
    ball = robot.add(
        ag.RigidBody.sphere(0.02, mass=0.1), at=robot.ground, joint=ag.Prismatic((0, 0, 1)), pose=(0, 0, 0.03)
    )
    plate = ag.Box((0, 0, 0), (0.2, 0.2, 0.01))
    robot.load(ag.Contact(ball, plate if fixed else robot.add(plate, at=robot.ground), stiffness, damping=1.0))
    return robot, ball


@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.errors.AnguillaWarning")
@pytest.mark.parametrize("every", [1, 50])
def test_a_ball_that_falls_through_a_plate_says_so(every):
    """Nothing was said, or to take less stiffness: where a plate is a part the motion stops at its middle."""
    robot, ball = dropped(5.0, True)
    with pytest.warns(ag.AnguillaWarning, match=GIVES_WAY):
        run = ag.simulate(robot, duration=0.5, dt=1e-3, every=every)
    assert run.position(ball.frame)[-1, 2] < -0.1 and "gives way" in str(run.quality)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what was before is not said again
        ag.simulate(robot, start=run, duration=0.02, dt=1e-3)
    with pytest.raises(ag.SolverError, match=GIVES_WAY):
        ag.simulate(dropped(50.0, False)[0], duration=0.5, dt=1e-3, every=every)
    robot, ball = dropped(80.0, False)
    with pytest.warns(ag.AnguillaWarning, match=GIVES_WAY):
        run = ag.simulate(robot, duration=0.5, dt=1e-3, every=every)
    assert run.position(ball.frame)[:, 2].min() > 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # another motion of the same model, which has not come as far
        ag.simulate(robot, duration=0.02, dt=1e-3)


@pytest.mark.filterwarnings("ignore:.*(gains|only by halving|too long for Newton):anguilla.errors.AnguillaWarning")
def test_a_rod_that_is_thrown_through_another_one_says_so():
    """Hertz keeps 0.2 J until their middles meet, and it comes with 0.8 J; stored states do not see it inside."""
    robot, material = ag.Robot("rods", gravity=(0, 0, 0)), ag.Material(1e8, 1000.0, poisson=0.4, damping=1e-4)
    rod, across = ag.Rod(0.2, ag.Circle(1e-3), material, ag.kirchhoff(6)), ag.lie.rotation((0, 0, 1), 0.5 * np.pi)
    robot.add(rod, at=robot.ground, pose=(-0.1, 0, 0), name="held")
    thrown = robot.add(rod, at=robot.ground, joint=ag.Free(), pose=ag.lie.pose(across, (0, -0.1, 0.05)), name="thrown")
    robot.load(ag.Contact(*robot.parts))
    v = np.zeros(robot.size)
    v[robot.coordinates().index("thrown.z")] = -50.0
    with pytest.warns(ag.AnguillaWarning, match=GIVES_WAY):
        run = ag.simulate(robot, start=(np.zeros(robot.size), v), duration=1.5e-3, dt=5e-4)
    assert run.position(thrown.section(0.1))[-1, 2] < 0.0


@pytest.mark.parametrize("fixed", [True, False])
def test_what_is_held_is_not_told(fixed):
    """It sinks in by half of both, 12 mm."""
    robot, ball = dropped(150.0, fixed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = ag.simulate(robot, duration=0.5, dt=1e-3)
    assert 0.012 < 0.025 - run.position(ball.frame)[:, 2].min() < 0.02
