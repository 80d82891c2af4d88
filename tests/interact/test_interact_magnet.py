"""A magnet in a field that varies in space: its force is the slope of its energy, and its tangent that of the force."""

import numpy as np

import anguilla as ag

MOMENT, FIELD = np.array([0.3, 0.1, -0.2]), np.array([1.0, 3.0, -5.0])
GRADIENT = np.array([[10.0, 2.0, 3.0], [2.0, -30.0, 4.0], [3.0, 4.0, 20.0]])


def needle(strength):
    """A body on a hinge at the tip of a rod, in a field as strong as said."""
    robot = ag.Robot("needle")
    rubber = ag.Material(young=1e6, poisson=0.45, density=1100.0)
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.02), rubber, ag.reissner(1)), at=robot.ground)
    body = ag.RigidBody.box((0.04, 0.06, 0.05), mass=0.1)
    box = robot.add(body, at=arm.tip, joint=ag.Revolute((0, 1, 0)), name="box")
    frame = box.at((0.01, 0.1, 0.02))
    robot.load(ag.Magnet(frame, MOMENT, strength * FIELD, strength * GRADIENT))
    return robot, frame


def test_force_and_tangent_of_a_magnet_are_slopes_of_its_energy():
    """-m . B, with differences of fourth order; the tangent is symmetric."""
    (robot, frame), (bare, _) = needle(1.0), needle(0.0)
    model, without = ag.Model(robot), ag.Model(bare)
    q, zero = 0.3 * np.random.default_rng(2).normal(size=model.size), np.zeros(model.size)

    def energy(q):
        motion = model.evaluate(q).motion(frame)
        return -(motion.rotation @ MOMENT) @ (FIELD + GRADIENT @ motion.position)

    def slopes(of, h=1e-3):
        columns = [8 * (of(q + e) - of(q - e)) - (of(q + 2 * e) - of(q - 2 * e)) for e in h * np.eye(len(q))]
        return np.stack(columns, axis=-1) / (12 * h)

    force = lambda q: model.residual(q, zero, zero) - without.residual(q, zero, zero)
    np.testing.assert_allclose(force(q), slopes(energy), atol=1e-8 * np.abs(force(q)).max())
    exact = model.tangent(q, zero, zero) - without.tangent(q, zero, zero)
    np.testing.assert_allclose(exact, slopes(force), atol=1e-8 * np.abs(exact).max())
    np.testing.assert_allclose(exact, exact.T, atol=1e-10 * np.abs(exact).max())
