"""Gradients of large robots: those of the dense way."""

import sys
from pathlib import Path

import numpy as np
import pytest
from any_robots import made

import anguilla as ag

sys.path.insert(0, str(Path(__file__).parents[1] / "gradients"))
from gradients_robots import ROBOTS, cost_at, shape

METHOD = ag.GeneralisedAlpha(0.8)
OPTIONS = {"method": METHOD, "tolerance": 1e-13, "smooth_start": False, "events": []}
WAYS = ("sparse", "dense")


def alike(one, two):
    """Arrays that are equal to 1e-9 of the largest entry."""
    size = max(float(np.max(np.abs(two), initial=0.0)), 1e-300)
    np.testing.assert_allclose(one / size, two / size, rtol=0.0, atol=1e-9)


def same(few, whole, scale):
    """Two gradients that are equal."""
    alike(few.q / scale, whole.q / scale)
    alike(few.v / scale, whole.v / scale)
    alike(few.design, whole.design)
    for name in whole.inputs:
        alike(few.inputs[name], whole.inputs[name])
    for name in whole.start_inputs:
        alike(few.start_inputs[name], whole.start_inputs[name])


def moved(name, way, steps=8):
    """A motion of a robot of the tests of gradients, and its cost."""
    make, p = ROBOTS[name]
    robot, tip = make(p)
    start = shape(robot)
    start = start.q if isinstance(start, ag.Equilibrium) else start
    inputs = {key: lambda t: 2.0 + t for key in robot.actuators}
    if name == "arm":
        inputs["cable"] = lambda t: 0.28 - 0.1 * t
    model = ag.Model(robot, linear=way)
    return ag.simulate(model, duration=0.01 * steps, dt=0.01, inputs=inputs, start=start, **OPTIONS), cost_at(tip)


@pytest.mark.parametrize("name", ROBOTS)
def test_gradients_and_sensitivities_of_motions(name):
    runs = [moved(name, way) for way in WAYS]
    few, whole = (ag.gradient(run, cost, method=METHOD) for run, cost in runs)
    scale = runs[0][0].system.tree.scale
    same(few, whole, scale)
    few, whole = (ag.sensitivities(run, state=True, method=METHOD) for run, _ in runs)
    alike(few.q * scale[:, None], whole.q * scale[:, None])
    alike(few.v * scale[:, None], whole.v * scale[:, None])


FEW, OTHERS = (4, 24, 42), (2, 6, 9, 22, 26, 36, 46)  # motors, shapes, balls, floating bases, lines through the air


@pytest.mark.parametrize("index", [*FEW, *(pytest.param(k, marks=pytest.mark.slow) for k in OTHERS)])
def test_gradients_of_random_robots(index):
    found = made(index)
    runs = []
    for way in WAYS:
        model = ag.Model(found.robot, linear=way)
        runs.append(ag.simulate(model, duration=0.05, dt=0.01, inputs=found.inputs, **OPTIONS))
    scale = runs[0].system.tree.scale
    tip = next(part for part in reversed(found.robot.parts) if hasattr(part, "tip")).tip
    cost = ag.Reach(tip, (0.1, 0.2, 0.3)) + ag.Rest(1e-2)
    same(*(ag.gradient(run, cost, method=METHOD) for run in runs), scale)


def arm(p, count):
    """Rods clamped end to end, pulled by tendons; p: Young's modulus [Pa], mass at the tip [kg]."""
    robot = ag.Robot("arm")
    rod = ag.Rod(0.6 / count, ag.Circle(4e-3), ag.Material(p[0], 1000.0, damping=0.02), ag.kirchhoff(2), intervals=2)
    parts = [robot.add(rod, at=robot.ground)]
    for _ in range(count - 1):
        parts.append(robot.add(rod, at=parts[-1].tip))
    robot.add(ag.RigidBody.sphere(5e-3, mass=p[1]), at=parts[-1].tip)
    robot.actuate("pull", ag.Tendon(parts, ag.parallel(z=3e-3)))
    return robot, parts[-1].tip


def test_gradients_of_equilibria_and_of_motions_from_them():
    p, make = (2e7, 2e-3), lambda p: arm(p, 6)[0]
    robot, tip = arm(p, 6)
    cost, found = ag.Reach(tip, (0.4, 0.1, 0.1)), []
    for way in WAYS:
        model = ag.Model(robot, linear=way)
        rest = ag.statics(model, inputs={"pull": 0.5}, tolerance=1e-13)
        run = ag.simulate(model, duration=0.05, dt=0.01, inputs={"pull": lambda t: 0.5 + t}, start=rest, **OPTIONS)
        options = {"design": (make, p)}
        found.append((ag.gradient(rest, cost, **options), ag.gradient(run, cost, method=METHOD, start=rest, **options)))
    for few, whole in zip(*found, strict=True):
        same(few, whole, model.tree.scale)
