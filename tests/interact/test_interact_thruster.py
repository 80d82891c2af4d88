"""Thrusters within a step: the integral of the error is counted by the trapezoidal rule, and so is its tangent."""

import numpy as np

import anguilla as ag
from anguilla.interact.kernels.table import DT
from anguilla.model.evaluation import Evaluation


def test_tangent_of_proportional_and_integral_gains():
    """By central differences of fourth order, with six unlike gains of each kind, at a moving state in a step of 0.4 s."""
    robot = ag.Robot("arm", gravity=(0, 0, 0))
    at, link = robot.ground, ag.RigidBody(0.3, inertia=(0.02, 0.03, 0.04))
    for axis in ((1.0, 2.0, -0.5), (0.3, -1.0, 2.0), (2.0, 0.1, 1.0)):
        at = robot.add(link, at=at, joint=ag.Revolute(axis), pose=(0.2, -0.1, 0.3)).frame
    end = robot.add(link, at=at, joint=ag.Prismatic((1.0, -1.0, 0.5)), pose=(0.1, 0.2, 0.0)).frame
    gains = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    robot.load(ag.Thruster(end, kp=gains, ki=10.0 * gains[::-1], velocity=(0.5, -0.2, 0.3), spin=(0.4, 0.7, -0.6)))
    system = ag.Model(robot)
    q, v, a = np.random.default_rng(7).standard_normal((3, system.size))
    loads = system.loads(0.0, {}).loads
    loads.row[DT] = 0.4

    def at_state(dq, dv):
        return Evaluation(system, loads, q + dq, v + dv, a, np.zeros(0))

    def slopes(which, h=1e-3):
        columns = []
        for e in np.eye(system.size):
            r = [at_state(*(s * h * e * k for k in which)).residual.copy() for s in (-2, -1, 1, 2)]
            columns.append((8.0 * (r[2] - r[1]) - (r[3] - r[0])) / (12.0 * h))
        return np.array(columns).T

    here = at_state(0.0, 0.0)
    stiffness, damping = np.array(here.K), np.array(here.C)
    for found, true in ((stiffness, slopes((1.0, 0.0))), (damping, slopes((0.0, 1.0)))):
        np.testing.assert_allclose(found, true, atol=1e-7 * np.abs(true).max())
    loads.row[DT] = 0.0
    assert np.abs(np.array(at_state(0.0, 0.0).C) - damping).max() > 0.1 * np.abs(damping).max(), "the integral matters"
