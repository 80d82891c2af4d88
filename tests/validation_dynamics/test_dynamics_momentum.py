"""Momentum: the impulse of a load over time is the momentum it leaves and the impulse of the reaction.

`wrench` finds the reaction from the motion, so that its balance tests the fields along the rod. The last test takes the
reaction from the strains instead, and tests the equations of motion.
"""

import numpy as np
import pytest
from dynamics_oracles import pulse, triangle

import anguilla as ag

LENGTH, PULSE = 0.4, 0.2
PEAK = (-0.05, 0.3, 0.2)


def struck(gravity, strains=None, follower=False):
    """A soft rod with a triangular force at its tip; it starts at rest, straight."""
    robot = ag.Robot(gravity=gravity)
    material = ag.Material(young=4e5, density=1000, poisson=0.45, damping=5e-3)
    strains = strains or ag.Strains(twist=1, bend_y=3, bend_z=3, stretch=1)
    arm = robot.add(ag.Rod(LENGTH, ag.Ellipse(0.012, 0.009), material, strains, intervals=32), at=robot.ground)
    robot.load(ag.TipWrench(arm, force=triangle(PEAK, PULSE), follower=follower))
    return robot, arm


def balances(robot, arm, steps, follower=False):
    """Gaps of the linear and angular balance over the impulse, about the clamp, and the shares of the reaction."""
    duration = 0.4
    run = ag.simulate(robot, duration=duration, dt=duration / steps, method=ag.Newmark(), tolerance=1e-9)
    t = run.t
    force = np.array([triangle(PEAK, PULSE)(x) for x in t])
    if follower:
        force = np.einsum("tij,tj->ti", run.pose(arm.tip)[:, :3, :3], force)
    weight = arm.rod.mass * np.array(robot.gravity)
    centres, w = np.polynomial.legendre.leggauss(6)
    line = np.stack([run.position(arm.section(LENGTH * (1 + x) / 2)) for x in centres], axis=1)
    centre = np.einsum("m,tmi->ti", w / 2, line)  # of mass
    root = run.wrench(arm, [0.0])[:, 0]  # what the rod exerts on the ground, whose axes are the world's
    external = force + weight
    torque = np.cross(run.position(arm.tip), force) + np.cross(centre, weight)
    impulse, turning = np.trapezoid(external, t, axis=0), np.trapezoid(torque, t, axis=0)
    reaction, twisting = np.trapezoid(root[:, 3:], t, axis=0), np.trapezoid(root[:, :3], t, axis=0)
    linear = np.linalg.norm(impulse - reaction - run.momentum[-1]) / np.linalg.norm(impulse)
    angular = np.linalg.norm(turning - twisting - run.angular_momentum[-1]) / np.linalg.norm(turning)
    shares = [np.linalg.norm(run.momentum[-1]), np.linalg.norm(reaction)] / np.linalg.norm(impulse)
    return linear, angular, shares


@pytest.mark.parametrize("follower", [False, True])
@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.0, 0.0, -9.81)])
def test_impulse_is_momentum_and_impulse_of_the_reaction(gravity, follower):
    robot, arm = struck(gravity, follower=follower)
    linear, angular, shares = balances(robot, arm, 2000, follower)
    assert np.all(shares > 0.03)  # every term counts
    assert linear < 2e-5 and angular < 2e-5


def test_momentum_is_mass_times_the_velocity_of_the_centre():
    robot, arm = struck((0.0, 0.0, -9.81))
    run = ag.simulate(robot, duration=0.3, dt=1e-3, method=ag.Newmark(), tolerance=1e-9)
    x, w = np.polynomial.legendre.leggauss(10)
    velocity = np.zeros((len(run.t), 3))
    for point, weight in zip(x, w, strict=True):
        frame = arm.section(LENGTH * (1 + point) / 2)
        velocity += weight / 2 * np.einsum("tij,tj->ti", run.pose(frame)[:, :3, :3], run.twist(frame)[:, 3:])
    scale = np.abs(run.momentum).max()
    np.testing.assert_allclose(run.momentum / scale, arm.rod.mass * velocity / scale, atol=2e-6)


def test_the_first_instants_are_those_of_a_free_body():
    """Before the wave of stress reaches the clamp it carries nothing: a stretching bar pulled at its tip."""
    robot = ag.Robot(gravity=(0, 0, 0))
    material = ag.Material(young=1e6, density=1000)
    arm = robot.add(ag.Rod(1.0, ag.Circle(0.01), material, ag.Strains(stretch=24), intervals=80), at=robot.ground)
    speed = np.sqrt(1e6 / 1000)
    pulse = 0.2 / speed
    robot.load(ag.TipWrench(arm, force=triangle((0.02, 0, 0), pulse)))
    run = ag.simulate(robot, duration=0.8 / speed, dt=0.8 / speed / 800, method=ag.Newmark(), tolerance=1e-9)
    impulse = 0.5 * 0.02 * pulse
    assert run.momentum[-1, 0] == pytest.approx(impulse, rel=1e-3)
    # and the energy is that of a wave: half kinetic, half elastic
    assert run.energy["kinetic"][-1] == pytest.approx(run.energy["elastic"][-1], rel=1e-2)


def test_impulse_is_momentum_and_impulse_of_the_elastic_and_viscous_stress_at_the_clamp():
    """Here the reaction is the stress of the strain field, which knows the loads through the equations of motion only.

    The rod is flat and thick and is twisted while it bends both ways, so that gyroscopic moments count.
    """
    length, damping, duration = 0.5, 5e-3, 0.3
    robot = ag.Robot(gravity=(0.0, 0.0, -9.81))
    material = ag.Material(young=1e6, density=1000, poisson=0.45, damping=damping)
    rod = ag.Rod(length, ag.Rectangle(0.12, 0.04), material, ag.reissner(10), intervals=32)
    arm = robot.add(rod, at=robot.ground)
    force, moment = pulse((-0.5, 10.0, 3.0), 0.2), pulse((2.5, 0.0, 0.0), 0.2)
    robot.load(ag.TipWrench(arm, force=force, moment=moment))
    run = ag.simulate(robot, duration=duration, dt=duration / 1000, start=ag.statics(robot), method=ag.Newmark())
    t = run.t
    rates = ag.Trajectory(robot, run.system, run.status, t, run.v, run.v, run.v).strain(arm, [0.0])
    straight = rod.rest.strain([0.0])
    stress = (rod.hooke([0.0]) * (run.strain(arm, [0.0]) - straight + damping * (rates - straight)))[:, 0]
    pushes, twists = np.array([force(x) for x in t]), np.array([moment(x) for x in t])
    weight = rod.mass * np.array(robot.gravity)
    x, w = np.polynomial.legendre.leggauss(8)
    line = np.stack([run.position(arm.section(length * (1 + point) / 2)) for point in x], axis=1)
    torque = np.cross(run.position(arm.tip), pushes) + twists + np.cross(np.einsum("m,tmi->ti", w / 2, line), weight)
    impulse = np.trapezoid(pushes + weight - stress[:, 3:], t, axis=0)
    turning = np.trapezoid(torque - stress[:, :3], t, axis=0)
    linear, angular = np.abs(run.momentum).max(), np.abs(run.angular_momentum).max()
    np.testing.assert_allclose(impulse / linear, run.momentum[-1] / linear, atol=2e-3)
    np.testing.assert_allclose(turning / angular, run.angular_momentum[-1] / angular, atol=2e-3)
    assert np.ptp(run.position(arm.tip), axis=0).max() > 0.3 * length  # large
