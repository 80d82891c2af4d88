"""Forward sensitivities against the adjoint, to 1e-10, and against differences of whole motions."""

import numpy as np
import pytest
from gradients_robots import (
    ARM,
    DT,
    METHOD,
    ROBOTS,
    STEPS,
    arm,
    cost_at,
    differences,
    loop,
    motion,
    pendulum,
    shape,
)

import anguilla as ag


def design_of(name):
    make, given = ROBOTS[name]
    keys = list(given)
    return (lambda values: make(dict(zip(keys, values, strict=True)))[0]), np.array(list(given.values()))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "loop" else pytest.mark.slow) for name in ROBOTS]
)
def test_forward_equals_backward(name):
    make, given = ROBOTS[name]
    robot, tip = make(given)
    start, cost, design = shape(robot), cost_at(tip), design_of(name)
    at = start if isinstance(start, ag.Equilibrium) else None
    run = motion(robot, start)
    back = ag.gradient(run, cost, method=METHOD, design=design, start=at)
    shapes = np.random.default_rng(4).standard_normal((STEPS + 1, 2))
    inputs = {actuator: shapes for actuator in robot.actuators}
    ahead = ag.sensitivities(run, design=design, inputs=inputs, start=at, method=METHOD)
    expected = np.concatenate([back.design, *(shapes.T @ back.inputs[name] for name in inputs)])
    size = np.abs(expected)
    error = np.abs(ahead.of(cost) - expected) / np.maximum(size, 1e-6 * size.max())
    assert np.max(error) < 1e-9
    assert ahead.names[len(given)] == f"{next(iter(inputs))}[0]"


@pytest.mark.parametrize("name", ROBOTS)
def test_starts(name):
    make, given = ROBOTS[name]
    robot, tip = make(given)
    start, cost = shape(robot), cost_at(tip)
    if name == "loop":
        start = start.q, ag.forward_dynamics(robot, start.q, np.linspace(-0.3, 0.3, robot.size)).v
    run = motion(robot, start)
    back = ag.gradient(run, cost, method=METHOD)
    ahead = ag.sensitivities(run, state=True, method=METHOD)
    expected = np.concatenate([back.q, back.v])
    assert np.allclose(ahead.of(cost), expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    assert ahead.names[0].startswith("start of")


def test_a_path_against_differences():
    """The whole path of the tip, its rates and the multipliers of a loop."""
    make, given = ROBOTS["loop"]

    def moved(change):
        robot, tip = make(given | {"length": given["length"] + change})
        run = motion(robot, shape(robot))
        return np.concatenate([run.position(tip).ravel(), run.v.ravel(), run.multipliers.ravel()])

    robot, tip = make(given)
    start = shape(robot)
    design = (lambda p: loop(given | {"length": float(p[0])})[0]), [given["length"]]
    ahead = ag.sensitivities(motion(robot, start), design=design, start=start, method=METHOD)
    found = np.concatenate([ahead.position(tip).ravel(), ahead.v.ravel(), ahead.multipliers.ravel()])
    expected = differences(moved, 1e-3 * given["length"])
    n = 3 * (STEPS + 1)
    last = n + ahead.v.size
    # the multipliers of the start, in the simulations that are compared, come from differences in time (1e-8)
    for part, allowed in ((slice(0, n), 1e-6), (slice(n, last), 1e-6), (slice(last, None), 1e-5)):
        assert np.max(np.abs(found - expected)[part]) < allowed * np.max(np.abs(expected[part]))


def test_imposed_motion():
    p = np.array([0.5, 0.3])

    def made(values):
        robot, tip = pendulum(values)
        robot._loads.clear()  # without its user-written load
        return robot, tip

    robot, tip = made(p)
    run = motion(robot, None)
    design = (lambda values: made([0.5, float(values[0])])[0]), p[1:]
    back = ag.gradient(run, cost_at(tip), method=METHOD, design=design).design[0]
    ahead = ag.sensitivities(run, design=design, method=METHOD)
    assert ahead.of(cost_at(tip))[0] == pytest.approx(back, rel=1e-10)

    def value(h):
        robot, tip = made([0.5, 0.3 + h])
        return cost_at(tip)(motion(robot, None))

    assert back == pytest.approx(differences(value, 3e-4), rel=1e-6)


def test_doors():
    robot, _ = arm(ARM)
    run = motion(robot, shape(robot))
    with pytest.raises(ag.DescriptionError, match="needs parameters"):
        ag.sensitivities(run)
    with pytest.raises(ag.DescriptionError, match="no input 'nea'"):
        ag.sensitivities(run, inputs={"nea": np.zeros(STEPS + 1)})
    with pytest.raises(ag.DescriptionError, match=r"must be \(13,\)"):
        ag.sensitivities(run, inputs={"near": np.zeros(3)})
    with pytest.raises(ag.DescriptionError, match="design must be"):
        ag.sensitivities(run, design=3)
    with pytest.raises(ag.DescriptionError, match="come from simulate"):
        ag.sensitivities(DT, state=True)
