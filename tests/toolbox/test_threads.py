"""One result, one system, one stepper, read by several threads at once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import anguilla as ag


@pytest.fixture(scope="module")
def arm():
    rubber = ag.Material(1e6, 1000, poisson=0.45, damping=0.01)
    robot = ag.Robot("arm")
    rod = robot.add(ag.Rod(0.4, ag.Circle(0.012), rubber, ag.kirchhoff(4)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=0.005)))
    return robot, rod, ag.simulate(robot, duration=1.0, dt=0.002)


def together(*jobs, times=60):
    """Run each job some times, all jobs at once; returns what each gave."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        running = [pool.submit(lambda job=job: [job() for _ in range(times)]) for job in jobs]
        return [one.result() for one in running]


def test_threads_that_read_one_result_get_what_one_thread_gets(arm):
    _, rod, run = arm
    jobs = (
        lambda: run.position(rod.tip),
        lambda: run.energy["kinetic"],
        lambda: run.tension("pull"),
        lambda: run.a[::50],
    )
    alone = [job() for job in jobs]
    for found, right in zip(together(*jobs), alone, strict=True):
        assert all(np.array_equal(one, right) for one in found)


def test_threads_share_one_compiled_system(arm):
    robot, _, run = arm
    system = ag.Model(robot)
    jobs = [lambda k=k: ag.mass_matrix(system, run.q[k]) for k in (0, -1)]
    jobs += [lambda: system.residual(run.q[7]), lambda: system.tangent(run.q[9])]
    alone = [job() for job in jobs]
    for found, right in zip(together(*jobs, times=300), alone, strict=True):
        assert all(np.array_equal(one, right) for one in found)


def test_a_stepper_is_read_while_another_thread_steps_it(arm):
    robot, rod, run = arm
    stepper = ag.Stepper(robot, dt=0.002)
    states = [stepper.result()]
    found = together(lambda: stepper.step(5), lambda: states[0].position(rod.tip)[0], times=100)
    assert np.array_equal(stepper.q, run.q[-1])
    assert all(np.array_equal(place, found[1][0]) for place in found[1])


def test_what_a_stepper_showed_keeps_its_inputs(arm):
    robot, _, _ = arm
    stepper = ag.Stepper(robot, dt=0.002)
    stepper.step({"pull": 3.0})
    shown = stepper.result()
    stepper.set_inputs({"pull": 0.0})
    again = ag.Stepper(robot, dt=0.002)
    again.step({"pull": 3.0})
    assert np.array_equal(shown.a, again.result().a)
