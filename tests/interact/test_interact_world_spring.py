"""A spring and damper along a direction fixed in the world, against closed forms and differences."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.files import read_text_file, robot_text
from anguilla.view.scene import scene
from anguilla.view.stage import Tracks, load_forces

RUBBER = ag.Material(young=1e6, poisson=0.45, density=1100.0)
SLANT = np.array([1.0, 2.0, -2.0]) / 3.0


def floating(mass=0.5, gravity=(0, 0, 0)):
    robot = ag.Robot("float", gravity=gravity)
    body = ag.RigidBody.box((0.04, 0.06, 0.05), mass=mass)
    return robot, robot.add(body, at=robot.ground, joint=ag.Free(), name="body")


def jointed():
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.02), RUBBER, ag.reissner(2)), at=robot.ground)
    body = ag.RigidBody.box((0.04, 0.06, 0.05), mass=0.1)
    return robot, arm, robot.add(body, at=arm.tip, joint=ag.Revolute((0, 1, 0)), name="box")


def test_tangent_is_the_derivative_of_the_residual():
    robot, arm, box = jointed()
    robot.load(ag.WorldSpring(box.at((0.01, 0.1, 0.02)), 300.0, SLANT, 0.1, damping=7.0))
    robot.load(ag.WorldSpring(arm, 2000.0, "z", 0.02, damping=11.0))
    model, without = ag.Model(robot), ag.Model(jointed()[0])
    q, v, a = 0.3 * np.random.default_rng(2).normal(size=(3, model.size))
    force = lambda q, v: model.residual(q, v, a) - without.residual(q, v, a)
    h = 1e-5
    by_q = np.stack([(force(q + h * e, v) - force(q - h * e, v)) / (2 * h) for e in np.eye(model.size)], axis=1)
    by_v = np.stack([(force(q, v + h * e) - force(q, v - h * e)) / (2 * h) for e in np.eye(model.size)], axis=1)
    exact = model.tangent(q, v, a, alpha=3.0) - without.tangent(q, v, a, alpha=3.0)
    assert np.abs(by_v).max() > 0.1
    np.testing.assert_allclose(exact, by_q + 3.0 * by_v, atol=1e-7 * np.abs(exact).max())


def test_a_body_oscillates_along_the_direction_and_falls_across():
    """m x" + c x' + k (x - rest) = m g . n along n."""
    mass, k, c, gravity = 0.5, 80.0, 1.5, np.array([0.3, -0.2, -9.81])
    robot, body = floating(mass, gravity)
    load = robot.load(ag.WorldSpring(body.frame, k, 5.0 * SLANT, 0.07, damping=c))
    run = ag.simulate(robot, duration=1.0, dt=1e-3, method=ag.Newmark())
    decay, free, t = c / (2 * mass), 0.07 + mass * gravity @ SLANT / k, run.t
    omega = np.sqrt(k / mass - decay**2)
    wave = np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    place, speed = run.position(body.frame), run.twist(body.frame)[:, 3:]
    np.testing.assert_allclose(place @ SLANT, free * (1.0 - wave), atol=2e-5)
    across = gravity - gravity @ SLANT * SLANT
    np.testing.assert_allclose(place - np.outer(place @ SLANT, SLANT), 0.5 * np.outer(t**2, across), atol=1e-9)
    pull = k * (place @ SLANT - 0.07) + c * speed @ SLANT
    np.testing.assert_allclose(run.exerted(load).force, -np.outer(pull, SLANT), atol=1e-9)


def test_cantilever_on_an_elastic_ground():
    """Small deflections of a clamped beam on Winkler's foundation under a force at its tip: EI d4y/dx4 + k y = 0."""
    length, radius, pull = 0.3, 0.01, 1e-4
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    arm = robot.add(ag.Rod(length, ag.Circle(radius), RUBBER, ag.planar(8), intervals=30), at=robot.ground)
    EI = 1e6 * np.pi * radius**4 / 4.0
    k = 4.0 * EI * (3.0 / length) ** 4  # three characteristic lengths
    robot.load(ag.WorldSpring(arm, k, "y"))
    robot.load(ag.TipWrench(arm, force=(0.0, pull, 0.0)))
    result, X = ag.statics(robot), np.linspace(0.0, length, 7)
    roots = (k / (4.0 * EI)) ** 0.25 * np.array([1 + 1j, 1 - 1j, -1 + 1j, -1 - 1j])
    rows = [np.ones(4), roots, roots**2 * np.exp(roots * length), EI * roots**3 * np.exp(roots * length)]
    shape = np.linalg.solve(np.array(rows), np.array([0, 0, 0, -pull]))
    exact, bend, shear = ((np.exp(np.outer(X, roots)) @ (roots**k * shape)).real for k in (0, 2, 3))
    assert exact[-1] > 1e-6
    np.testing.assert_allclose(result.centerline(arm, 7)[:, 1], exact, atol=1e-4 * exact[-1])
    inside = result.wrench(arm, X)  # between the nodes too
    np.testing.assert_allclose(inside[:, 2], EI * bend, atol=1e-4 * EI * np.abs(bend).max())
    np.testing.assert_allclose(inside[:, 4], -EI * shear, atol=1e-4 * pull)


def test_energy_is_kept():
    robot, body = floating()
    robot.load(ag.WorldSpring(body.frame, 80.0, SLANT, 0.07))
    run = ag.simulate(robot, duration=0.5, dt=1e-3, method=ag.Midpoint())
    assert run.energy["elastic"][0] == pytest.approx(0.5 * 80.0 * 0.07**2, rel=1e-12)
    np.testing.assert_allclose(run.energy["total"], run.energy["total"][0], rtol=1e-8)


def test_arrow_and_file():
    robot, body = floating()
    robot.load(ag.WorldSpring(body.frame, 80.0, "y", 0.07, name="tether"))
    run = ag.simulate(robot, duration=0.01, dt=1e-3)
    tail, force = load_forces(Tracks(run), scene(run), 0)
    np.testing.assert_allclose(tail, [[0, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(force, [[0, 80.0 * 0.07, 0]], atol=1e-12)
    text = robot_text(robot)
    assert "type: world_spring" in text
    again = read_text_file(text).robot.loads[0]
    assert (again.stiffness, again.direction, again.rest, again.damping) == (80.0, (0.0, 1.0, 0.0), 0.07, 0.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [("stiffness", -1.0), ("direction", (0, 0, 0)), ("rest", "low"), ("damping", -1.0), ("where", 3)],
)
def test_bad_fields_are_refused(field, value):
    robot, body = floating()
    load = robot.load(ag.WorldSpring(body.frame, 80.0))
    with pytest.raises(ag.DescriptionError, match=f"WorldSpring.{field}"):
        setattr(load, field, value)
