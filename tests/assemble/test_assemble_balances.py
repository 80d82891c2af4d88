"""Energy, power and momentum against quadrature of the fields and against each other."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.results.states import Status, Trajectory

MATERIAL = ag.Material(young=2e4, poisson=0.4, density=1000.0, damping=0.05)
GRAVITY = np.array([0.5, -1.0, -9.0])
FIRST = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0


def bush(strains=None, gravity=GRAVITY, intervals=6, rest=None):
    """Two rods in series and a side branch."""
    robot = ag.Robot("bush", gravity=gravity)
    section = ag.taper(ag.Ellipse(0.04, 0.03), ag.Ellipse(0.02, 0.01), 0.6)
    strains = strains or ag.reissner(2)
    thick = ag.Rod(0.6, section, MATERIAL, strains, rest or ag.Helix(0.3, 0.2), intervals=intervals)
    trunk = robot.add(thick, at=robot.ground)
    thin = ag.Rod(0.4, ag.Circle(0.02), MATERIAL, strains, intervals=intervals)
    robot.add(thin, at=trunk.tip)
    pose = np.array([[0.0, -1.0, 0.0, 0.02], [1.0, 0.0, 0.0, 0.05], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    robot.add(thin, at=trunk.section(0.25), pose=pose)
    return robot


def random_state(system, seed):
    rng = np.random.default_rng(seed)
    q, v, a = rng.normal(size=(3, system.size)) / system.tree.scale
    return 0.2 * q, 2.0 * v, 10.0 * a


def states(robot, q, v, system=None):
    q, v = np.atleast_2d(q), np.atleast_2d(v)
    return Trajectory(robot, system or ag.Model(robot), Status(True, "given"), np.zeros(len(q)), q, v, 0.0 * q)


def rate_of_energy(robot, q, v, a, h=1e-5):
    t = h * np.arange(-3, 4)[:, None]
    return FIRST @ states(robot, q + t * v + 0.5 * t * t * a, v + t * a).energy["total"] / h


def free_acceleration(system, q, v):
    return np.linalg.solve(system.matrices(q, v)[2], -system.residual(q, v))


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), GRAVITY], ids=["weightless", "heavy"])
def test_energy_is_lost_to_damping_only(gravity):
    robot = bush(gravity=gravity)
    system = ag.Model(robot)
    q, v, _ = random_state(system, 1)
    lost = MATERIAL.damping * v @ system.elastic_stiffness() @ v
    rate = rate_of_energy(robot, q, v, free_acceleration(system, q, v))
    assert lost > 1e-2
    assert rate == pytest.approx(-lost, rel=1e-8)


def test_energy_also_changes_by_the_power_of_loads():
    robot = bush()
    _, twig, side = robot.parts
    robot.load(ag.TipWrench(twig, force=(0.5, 0.2, -0.4), moment=(0.05, 0.02, 0.01), follower=True))
    robot.load(ag.Wrench(side.section(0.1), force=(0.1, 0.8, -0.4)))
    system = ag.Model(robot)
    q, v, _ = random_state(system, 2)
    run = states(robot, q, v)
    power = np.array([0.05, 0.02, 0.01, 0.5, 0.2, -0.4]) @ run.twist(twig.tip)[0]
    frame = side.section(0.1)
    power += np.array([0.1, 0.8, -0.4]) @ run.pose(frame)[0, :3, :3] @ run.twist(frame)[0, 3:]
    lost = MATERIAL.damping * v @ system.elastic_stiffness() @ v
    assert rate_of_energy(robot, q, v, free_acceleration(system, q, v)) == pytest.approx(power - lost, rel=1e-8)


def test_residual_times_rates_is_the_power_that_is_missing():
    # v . R = dE/dt + dissipation for any acceleration, not only the one of a free motion
    robot = bush()
    system = ag.Model(robot)
    q, v, a = random_state(system, 3)
    lost = MATERIAL.damping * v @ system.elastic_stiffness() @ v
    assert v @ system.residual(q, v, a) == pytest.approx(rate_of_energy(robot, q, v, a) + lost, rel=1e-8)


def test_kinetic_energy_is_half_the_mass_matrix():
    robot = bush()
    system = ag.Model(robot)
    q, v, _ = random_state(system, 4)
    kinetic = states(robot, q, v).energy["kinetic"][0]
    assert kinetic == pytest.approx(0.5 * v @ system.matrices(q, v)[2] @ v, rel=1e-10)


def quadrature(robot, run, points=10):
    """Yield (weight, position, rotation, body twist, inertia, strain departure, stiffness) along all rods."""
    y, w = np.polynomial.legendre.leggauss(points)
    for part in robot.parts:
        s, ds = 0.5 * part.length * (1.0 + y), 0.5 * part.length * w
        departure = run.strain(part, s)[0] - part.rod.rest.strain(s)
        inertia, hooke = part.rod.inertia(s), part.rod.hooke(s)
        for k, X in enumerate(s):
            frame = part.section(float(X))
            pose = run.pose(frame)[0]
            yield ds[k], pose[:3, 3], pose[:3, :3], run.twist(frame)[0], inertia[k], departure[k], hooke[k]


def test_energies_and_momenta_are_quadratures_of_the_fields():
    # constant strains: the poses between the nodes are exact
    robot = bush(ag.reissner(1), intervals=12, rest=ag.ConstantCurvature(0.5, 1.0, -1.0))
    q, v, _ = random_state(ag.Model(robot), 5)
    run = states(robot, q, v)
    expected = dict.fromkeys(("kinetic", "elastic", "gravitational"), 0.0)
    momentum, spin = np.zeros(3), np.zeros(3)
    for weight, x, rotation, twist, inertia, departure, hooke in quadrature(robot, run):
        expected["kinetic"] += 0.5 * weight * twist @ (inertia * twist)
        expected["elastic"] += 0.5 * weight * departure @ (hooke * departure)
        expected["gravitational"] -= weight * inertia[3] * GRAVITY @ x
        p = rotation @ (inertia[3:] * twist[3:])
        momentum += weight * p
        spin += weight * (np.cross(x, p) + rotation @ (inertia[:3] * twist[:3]))
    for name, value in expected.items():
        assert run.energy[name][0] == pytest.approx(value, rel=1e-8), name
    assert run.energy["total"][0] == pytest.approx(sum(expected.values()), rel=1e-8)
    assert run.momentum[0] == pytest.approx(momentum, abs=1e-8 * np.max(np.abs(momentum)))
    assert run.angular_momentum[0] == pytest.approx(spin, abs=1e-8 * np.max(np.abs(spin)))


def test_generalised_gravity_is_the_slope_of_the_gravitational_energy():
    robot = bush()
    system = ag.Model(robot)
    q, _, _ = random_state(system, 6)
    expected = np.zeros(system.size)
    for j in range(system.size):
        e = np.zeros(system.size)
        e[j] = 1e-2 / system.tree.scale[j]
        rows = q + np.arange(-3, 4)[:, None] * e
        expected[j] = FIRST @ states(robot, rows, 0 * rows, system).energy["gravitational"] / e[j]
    given = system.residual(q) - system.elastic_stiffness() @ q
    assert np.max(np.abs(given - expected) / system.tree.scale) < 1e-9 * np.max(np.abs(expected) / system.tree.scale)


def test_results_keep_their_energy_when_the_robot_is_changed_afterwards():
    robot = bush()
    system = ag.Model(robot)
    q, v, _ = random_state(system, 7)
    run = states(robot, q, v)
    before = run.energy["gravitational"][0]
    robot.gravity = (0.0, 0.0, 0.0)
    assert run.energy["gravitational"][0] == before
