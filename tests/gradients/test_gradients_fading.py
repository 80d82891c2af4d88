"""Sensitivities of motions of viscoelastic rods, against differences of fourth order between whole motions."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.describe.paths import changed, number_at

STEPS, DT = 60, 0.004
PULL = 0.5 + 0.4 * np.sin(0.2 * np.arange(STEPS + 1))
PATHS = [
    "near.material.young",
    "near.material.damping",
    "near.material.viscosity[0].weight",
    "near.material.viscosity[1].time",
    "far.material.loss",
    "near.length",
]


def arm(*, jolt=False):
    """Two rods of other materials, and a body on a hinge; jolt: one stretches, so that it can start with a jolt."""
    robot = ag.Robot("arm")
    terms = [ag.Prony(0.5, 0.02), ag.Prony(0.3, 0.3)]
    soft = ag.Material(4e5, 1070.0, 0.5, damping=0.003, viscosity=terms)
    hard = ag.Material(6e5, 1070.0, 0.5, loss=0.1, band=(1.0, 20.0))
    strains = ag.reissner(2) if jolt else ag.kirchhoff(2)
    near = robot.add(ag.Rod(0.2, ag.Circle(0.012), soft, strains), at=robot.ground, name="near")
    far = robot.add(ag.Rod(0.15, ag.Circle(0.012), hard, ag.kirchhoff(1)), at=near.tip, name="far")
    body = ag.RigidBody(mass=0.02, inertia=(1e-5, 1e-5, 1e-5), com=(0.02, 0.0, 0.01))
    robot.add(body, at=far.tip, joint=ag.Revolute("y", damping=1e-3))
    robot.actuate("pull", ag.Tendon(near, ag.parallel(y=0.008)))
    return robot


def swing(robot, start=None, pull=PULL):
    inputs = {"pull": ag.Sampled(pull, DT)}
    return ag.simulate(robot, duration=STEPS * DT, dt=DT, inputs=inputs, start=start, tolerance=1e-13)


def slope(of, h):
    return (8.0 * (of(h) - of(-h)) - (of(2.0 * h) - of(-2.0 * h))) / (12.0 * h)


def off(found, truth):
    return np.abs(found - truth).max() / np.abs(truth).max()


@pytest.mark.parametrize("jolt", [False, True])
def test_by_numbers_of_the_description(jolt):
    robot = arm(jolt=jolt)
    k = np.arange(robot.size)
    start = (0.02 * np.cos(k), 0.3 * np.sin(k)) if jolt else None
    run = swing(robot, start)
    assert run.status.counters["eased"] == jolt
    found = ag.sensitivities(run, design=PATHS)
    for k, path in enumerate(PATHS):
        value = number_at(robot, path)

        def states(h, path=path, value=value):
            run = swing(changed(robot, {path: value + h}), start)
            return np.stack([run.q, run.v])

        by_q, by_v = slope(states, 1e-3 * value)
        assert off(found.q[..., k], by_q) < 1e-6, path
        assert off(found.v[..., k], by_v) < 1e-6, path


def test_by_inputs_and_by_the_start():
    robot = arm()
    shape = np.cos(0.1 * np.arange(STEPS + 1))
    q, v = 0.05 * np.cos(np.arange(robot.size)), 0.3 * np.sin(np.arange(robot.size))
    found = ag.sensitivities(swing(robot, (q, v)), inputs={"pull": shape}, state=True)
    truth = slope(lambda h: swing(robot, (q, v), PULL + h * shape).q, 1e-3)
    assert off(found.q[..., 0], truth) < 1e-7
    both, n = np.concatenate([q, v]), robot.size
    for k in (0, 3, n, n + 3):
        unit = np.eye(2 * n)[k]
        truth = slope(lambda h, unit=unit: swing(robot, tuple(np.split(both + h * unit, 2))).q, 1e-3)
        assert off(found.q[..., 1 + k], truth) < 1e-7


def test_from_an_equilibrium_that_changes_too():
    robot = arm()
    path, value = "near.material.young", 4e5
    still = lambda robot: ag.statics(robot, inputs={"pull": 1.0}, tolerance=1e-13)
    begin = still(robot)
    found = ag.sensitivities(swing(robot, begin), design=[path], start=begin)

    def moved(h):
        other = changed(robot, {path: value + h})
        return swing(other, still(other)).q

    assert off(found.q[..., 0], slope(moved, 1e-3 * value)) < 1e-6


def test_what_was_computed_before_does_not_matter():
    robot = arm()
    run = swing(robot)
    first = ag.sensitivities(run, design=PATHS[:1]).q
    model = run.system
    model.blank.relaxing.over[:], model.blank.relaxing.past[:] = DT, 1.0  # as a computation would leave it
    np.testing.assert_array_equal(ag.sensitivities(run, design=PATHS[:1]).q, first)


def test_what_it_does_not_serve_is_refused():
    robot = arm()
    run = swing(robot)
    on = ag.simulate(robot, duration=0.1, dt=DT, start=run, inputs={"pull": 0.5})
    free = arm()
    free.add(ag.RigidBody(0.01, 1e-6 * np.eye(3)), at=free.part("far").tip, joint=ag.Spherical())
    floats = ag.simulate(free, duration=0.02, dt=DT, inputs={"pull": 0.5})
    for call in (
        lambda: ag.sensitivities(on, design=PATHS[:1]),  # goes on with what rods remember
        lambda: ag.sensitivities(floats, design=PATHS[:1]),  # has a ball
        lambda: ag.gradient(run, ag.Reach(robot.part("far").tip, (0.2, 0.1, 0.0))),
    ):
        with pytest.raises(ag.DescriptionError, match="viscoelastic rods"):
            call()
