"""What friction and relaxing material remember goes with results: into motions that start there, and into what is read."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla.solve.steps import marching

DT = 5e-3


def relaxing():
    """A soft arm that creeps under its weight."""
    robot = ag.Robot("arm")
    material = ag.Material(1e6, 1000.0, poisson=0.5, damping=0.02, viscosity=(ag.Prony(0.5, 0.2), ag.Prony(0.3, 0.02)))
    robot.add(ag.Rod(0.3, ag.Circle(0.01), material, ag.kirchhoff(2)), at=robot.ground)
    return robot


def held():
    """A ball on a slope that friction lets roll."""
    robot = ag.Robot("slope", gravity=(2.0, 0.0, -9.6))
    place = np.eye(4)
    place[2, 3] = 0.0498
    ball = robot.add(ag.RigidBody.sphere(0.05, mass=0.5), at=robot.ground, joint=ag.Free(), pose=place, name="ball")
    robot.load(ag.Contact(ball, ag.HalfSpace(), 5e3, friction=0.5, damping=20.0))
    return robot


@pytest.mark.parametrize("make", [relaxing, held])
def test_steps_go_on_from_the_end_of_a_motion_as_simulate_does(make):
    robot = make()
    half = ag.simulate(robot, duration=0.1, dt=DT)
    rest = ag.simulate(robot, duration=0.1, dt=DT, start=half, smooth_start=False, events=[])
    stepper = ag.Stepper(robot, dt=DT, start=half, history=True)
    copies = ag.BatchStepper(robot, 2, dt=DT, start=half)
    for _ in range(2):
        stepper.step(20)
        copies.step(count=20)
        np.testing.assert_array_equal(stepper.q, rest.q[-1])
        np.testing.assert_array_equal(copies.q, [rest.q[-1]] * 2)
        stepper.reset()
        copies.reset()
    anew = ag.simulate(robot, duration=0.1, dt=DT, start=(half.q[-1], half.v[-1]), smooth_start=False)
    assert np.max(np.abs(anew.q[-1] - rest.q[-1])) > 1e-6  # what is forgotten matters


@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.errors.AnguillaWarning")
def test_contact_forces_of_steps_that_go_on_are_those_of_the_motion():
    robot = held()
    half = ag.simulate(robot, duration=0.1, dt=DT)
    stepper = ag.Stepper(robot, dt=DT, start=half, history=True)
    stepper.step(20)
    rest = ag.simulate(robot, duration=0.1, dt=DT, start=half, smooth_start=False)
    load, force = robot.loads[0], half.contact_force(robot.loads[0])
    assert abs(force[-1, 0]) > 0.1
    run = stepper.trajectory()
    np.testing.assert_allclose(run.contact_force(load)[1:], rest.contact_force(load)[1:], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run.contact_force(load)[0], force[-1], rtol=1e-9, atol=1e-9)
    stepper.reset()
    np.testing.assert_allclose(stepper.result().contact_force(load)[0], force[-1], rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.errors.AnguillaWarning")
def test_forces_of_rarely_stored_states_are_those_of_the_steps(tmp_path):
    """They were found again by one long step from stored state to stored state: friction pointed the wrong way."""
    robot = held()
    load = robot.loads[0]
    every, some = (ag.simulate(robot, duration=0.2, dt=DT, every=k) for k in (1, 5))
    np.testing.assert_array_equal(some.q, every.q[::5])
    force = every.contact_force(load)[::5]
    assert np.max(np.abs(force[:, 0])) > 0.3
    np.testing.assert_allclose(some.contact_force(load), force, rtol=0, atol=1e-12)
    for run, rows in ((some, slice(None)), (every[7::10], slice(7, None, 10))):
        back = ag.load(run.save(tmp_path / "run.nc"))
        wanted = force if run is some else every.contact_force(load)[rows]
        np.testing.assert_allclose(back.contact_force(back.robot.loads[0]), wanted, rtol=0, atol=1e-12)


def test_energies_of_rarely_stored_states_of_relaxing_material_are_those_of_the_steps():
    every, some = (ag.simulate(relaxing(), duration=0.2, dt=DT, every=k) for k in (1, 5))
    np.testing.assert_allclose(some.energy["elastic"], every.energy["elastic"][::5], rtol=1e-12)
    np.testing.assert_allclose(ag.powers(some).dissipated, ag.powers(every).dissipated[::5], rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.errors.AnguillaWarning")
def test_a_file_keeps_the_grip_that_a_motion_started_with(tmp_path):
    robot = held()
    half = ag.simulate(robot, duration=0.1, dt=DT)
    rest = ag.simulate(robot, duration=0.1, dt=DT, start=half)
    back = ag.load(rest.save(tmp_path / "rest.nc"))
    force = rest.contact_force(robot.loads[0])
    np.testing.assert_allclose(force[0], half.contact_force(robot.loads[0])[-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(back.contact_force(back.robot.loads[0]), force, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.errors.AnguillaWarning")
def test_a_checkpoint_keeps_what_was_noted(tmp_path, monkeypatch):
    robot, given = held(), dict(duration=0.2, dt=DT, every=5)
    whole, run, file = ag.simulate(robot, **given), marching.OngoingMotion.run, tmp_path / "check.npz"

    def interrupted(self, table, t, dt, first, *more, **others):
        if first >= 20:
            raise KeyboardInterrupt
        return run(self, table, t, dt, first, *more, **others)

    with monkeypatch.context() as patch:
        patch.setattr(marching.OngoingMotion, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ag.simulate(robot, checkpoint=file, **given)
    assert file.exists()
    again = ag.simulate(robot, checkpoint=file, **given)
    load = robot.loads[0]
    np.testing.assert_array_equal(again.contact_force(load), whole.contact_force(load))
