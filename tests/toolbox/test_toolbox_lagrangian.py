"""The terms of the equations of motion: identities between them, and against differences of the mass matrix."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.lie import pose
from anguilla.model.user import move

SOFT = ag.Material(young=2e4, poisson=0.4, density=1100.0, damping=0.03)
GRAVITY = (1.0, -2.0, -9.0)


def rod(strains=None, length=0.6):
    return ag.Rod(length, ag.Ellipse(0.03, 0.05), SOFT, strains or ag.kirchhoff(2), intervals=4)


def body(rng):
    root = rng.normal(size=(3, 3))
    return ag.RigidBody(0.4, inertia=0.01 * (root @ root.T + 9 * np.eye(3)), com=0.1 * rng.normal(size=3))


def robots():
    rng = np.random.default_rng(5)
    arm = ag.Robot("arm", gravity=GRAVITY)
    one = arm.add(rod(ag.reissner(2)), at=arm.ground)
    arm.add(body(rng), at=one.tip, joint=ag.Universal((1, 2, 0), (0, 1, -1), damping=(0.1, 0.2), stiffness=(1, 2)))
    arm.actuate("pull", ag.Tendon(one, ag.parallel(y=0.01, z=0.02)))
    arm.actuate("blow", ag.Chamber(one, ag.parallel(z=-0.02), area=2e-4))
    yield arm
    swimmer = ag.Robot("swimmer", gravity=GRAVITY)
    head = swimmer.add(body(rng), at=swimmer.ground, joint=ag.Free())
    tail = swimmer.add(rod(), at=head.at((0.1, 0, 0)), joint=ag.Spherical(damping=(0.01, 0.02, 0.03)))
    swimmer.add(body(rng), at=tail.tip, joint=ag.Prismatic((1, 1, 0)))
    swimmer.actuate("pull", ag.Tendon(tail, ag.helical(0.02, 0.3)))
    yield swimmer


ROBOTS = {robot.name: robot for robot in robots()}
INPUTS = {"arm": {"pull": 3.0, "blow": 2e4}, "swimmer": {"pull": 3.0}}


def state(system, seed=1):
    q, v, a = np.random.default_rng(seed).normal(size=(3, system.size)) / system.tree.scale
    return 0.3 * q, 2.0 * v, 10.0 * a


@pytest.fixture(params=ROBOTS)
def case(request):
    system = ag.Model(ROBOTS[request.param])
    return (system, *state(system))


def scaled(system, matrix):
    return matrix / np.outer(system.tree.scale, system.tree.scale)


def test_mass_matrix_is_symmetric_and_positive(case):
    system, q, v, _ = case
    mass = scaled(system, ag.mass_matrix(system, q))
    assert np.max(np.abs(mass - mass.T)) < 1e-13 * np.max(np.abs(mass))
    assert np.min(np.linalg.eigvalsh(mass)) > 0.0
    assert np.allclose(mass, scaled(system, ag.mass_matrix(system.robot, q, v)), rtol=1e-12, atol=1e-15)


def test_kinetic_energy_is_half_v_m_v(case):
    system, q, v, _ = case
    run = ag.simulate(system.robot, duration=1e-6, dt=1e-6, start=(q, v))
    assert 0.5 * v @ ag.mass_matrix(system, q) @ v == pytest.approx(run.energy["kinetic"][0], rel=1e-12)


def mass_slopes(system, q):
    """dM[i, j] along each coordinate k (n, n, n), by central differences of fourth order."""
    slopes = []
    for k in range(system.size):
        h = 2e-3 / system.tree.scale[k]
        e = np.eye(system.size)[k]
        at = lambda s, h=h, e=e: ag.mass_matrix(system, move(system.tree, q, s * h * e))
        slopes.append((8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h))
    return np.stack(slopes, axis=2)


def test_coriolis_matrix_is_that_of_christoffel_symbols(case):
    """Koszul's formula, with the brackets of the balls, from differences of M."""
    system, q, v, _ = case
    n, slopes, mass = system.size, mass_slopes(system, q), ag.mass_matrix(system, q)
    bracket = np.zeros((n, n, n))  # [e_j, e_k] = bracket[:, j, k]
    for b in system.tree.ball[:, 0]:
        for j in range(3):
            for k in range(3):
                bracket[b : b + 3, b + j, b + k] = np.cross(np.eye(3)[j], np.eye(3)[k])
    low = np.einsum("ia,ajk->ijk", mass, bracket)  # <e_i, [e_j, e_k]>
    want = 0.5 * np.einsum(
        "ijk,k->ij", slopes + slopes.transpose(0, 2, 1) - slopes.transpose(2, 0, 1), v
    )  # the last term: derivative along i of M_jk
    want += 0.5 * (np.einsum("ikj,k->ij", low, v) - np.einsum("kji,k->ij", low, v) + np.einsum("jik,k->ij", low, v))
    given = ag.coriolis_matrix(system, q, v)
    assert np.max(np.abs(scaled(system, given - want))) < 1e-8 * np.max(np.abs(scaled(system, want)))


def test_rate_of_mass_minus_twice_coriolis_is_skew(case):
    system, q, v, _ = case
    h = 2e-3 / np.linalg.norm(v * system.tree.scale)
    at = lambda s: ag.mass_matrix(system, move(system.tree, q, s * h * v))
    rate = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
    matrix = scaled(system, rate - 2 * ag.coriolis_matrix(system, q, v))
    assert np.max(np.abs(matrix + matrix.T)) < 1e-7 * np.max(np.abs(matrix))


def test_the_terms_add_up_to_the_residual(case):
    system, q, v, a = case
    inputs = INPUTS[system.robot.name]
    given = np.array(list(inputs.values()))
    rest = np.zeros(system.size)
    total = ag.mass_matrix(system, q) @ a + ag.coriolis_matrix(system, q, v) @ v
    total += system.elastic_stiffness() @ q + ag.damping(system, q) @ v
    total -= ag.gravity_forces(system, q) + ag.actuation_matrix(system, q) @ given
    residual = system.residual(q, v, a, inputs=inputs)
    assert np.max(np.abs((total - residual) / system.tree.scale)) < 1e-12 * np.max(np.abs(residual / system.tree.scale))
    assert np.allclose(ag.bias_forces(system, q, v), ag.coriolis_matrix(system, q, v) @ v, rtol=1e-11, atol=1e-13)
    assert np.allclose(ag.bias_forces(system, q, rest), 0.0, atol=1e-15)


def test_gravity_force_is_minus_the_slope_of_the_potential(case):
    system, q, _, _ = case
    want = []
    for k in range(system.size):
        h = 1e-3 / system.tree.scale[k]
        moved = np.array([move(system.tree, q, s * h * np.eye(system.size)[k]) for s in (-2, -1, 1, 2)])
        run = ag.simulate(system.robot, duration=1e-6, dt=1e-6)
        U = ag.Trajectory(system.robot, system, run.status, np.zeros(4), moved, 0 * moved).energy["gravitational"]
        want.append(-(8 * (U[2] - U[1]) - (U[3] - U[0])) / (12 * h))
    force = ag.gravity_forces(system, q)
    assert np.max(np.abs((force - want) / system.tree.scale)) < 1e-9 * np.max(np.abs(force / system.tree.scale))


def test_damping_of_a_moving_robot_has_twice_the_coriolis_matrix():
    system = ag.Model(ROBOTS["arm"])
    q, v, _ = state(system)
    want = ag.damping(system, q) + 2 * ag.coriolis_matrix(system, q, v)
    assert np.allclose(scaled(system, ag.damping(system, q, v)), scaled(system, want), rtol=1e-9, atol=1e-12)


def test_forward_dynamics_balances(case):
    system, q, v, _ = case
    inputs = INPUTS[system.robot.name]
    a, multipliers, rates = ag.forward_dynamics(system, q, v, inputs=inputs)
    force = np.abs(system.residual(q, v, inputs=inputs) / system.tree.scale)
    assert np.max(np.abs(system.residual(q, v, a, inputs=inputs) / system.tree.scale)) < 1e-10 * np.max(force)
    assert multipliers.shape == (0,)
    assert np.array_equal(rates, v)


# Constrained robots ---------------------------------------------------------------------------------------------------


def pendulum_loop():
    """Two bars hanging from two pins, tied by a third: a parallelogram, one degree of freedom."""
    robot = ag.Robot("parallelogram", gravity=(0, -9.81, 0))
    bar = ag.RigidBody(0.7, inertia=0.02 * np.eye(3), com=(0.25, 0, 0))
    one = robot.add(bar, at=robot.ground, joint=ag.Revolute((0, 0, 1)), name="one")
    two = robot.add(bar, at=one.at((0.5, 0, 0)), joint=ag.Revolute((0, 0, 1)), name="two")
    robot.add(bar, at=robot.ground, joint=ag.Revolute((0, 0, 1)), pose=pose(p=(0.0, 0.5, 0)), name="three")
    robot.close(two.at((0.5, 0, 0)), robot.part("three").at((0.5, 0, 0)), joint=ag.Revolute((0, 0, 1)))
    return robot


def test_forward_dynamics_of_a_loop():
    robot = pendulum_loop()
    run = ag.simulate(robot, duration=0.2, dt=0.001, start=[-1.0, np.pi / 2 + 1.0, -1.0])
    system, q, v = run.system, run.q[-1], run.v[-1]
    found = ag.forward_dynamics(system, q, v)
    residual = system.residual(q, found.v, found.a, multipliers=found.multipliers)
    assert np.max(np.abs(residual)) < 1e-9
    assert np.allclose(found.a, run.a[-1], rtol=2e-3)
    # one degree of freedom: the acceleration of the crank from Lagrange's equation in its angle
    inertia = 2 * (0.02 + 0.7 * 0.25**2) + 0.7 * 0.5**2
    weight = 9.81 * (2 * 0.7 * 0.25 + 0.7 * 0.5)
    assert found.a[0] == pytest.approx(-weight * np.cos(q[0]) / inertia, rel=1e-6)


def test_the_terms_of_a_loop_add_up():
    """M a + C v - gravity is a force of the closures: it does nothing along what they leave free."""
    robot = pendulum_loop()
    run = ag.simulate(robot, duration=0.2, dt=0.002, start=[-1.0, np.pi / 2 + 1.0, -1.0])
    system, q = run.system, run.q[-1]
    a, _, v = ag.forward_dynamics(system, q, run.v[-1])
    M, C = ag.mass_matrix(system, q), ag.coriolis_matrix(system, q, v)
    assert 0.5 * v @ M @ v == pytest.approx(run.energy["kinetic"][-1], rel=1e-6)
    _, J = system.constraints(q)
    left = M @ a + C @ v - ag.gravity_forces(system, q)
    free = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, tol=1e-9) :]
    assert len(free) == 1
    assert np.max(np.abs(free @ left)) < 1e-6 * np.max(np.abs(left))
    assert np.max(np.abs(left)) > 0.1  # the pins do carry something


def test_bad_states_are_refused():
    robot = pendulum_loop()
    with pytest.raises(ag.DescriptionError, match="violates the constraints"):
        ag.forward_dynamics(robot, [-1.0, 0.3, 0.2])
    with pytest.raises(ag.DescriptionError, match="q must have shape"):
        ag.mass_matrix(robot, [1.0])


def test_elastic_tendon_of_given_length():
    """It pulls with (length - input) / compliance, as the same tendon does whose tension is given."""
    robots = []
    for options in ({"by": "length", "compliance": 1e-4}, {}):
        robot = ag.Robot("arm", gravity=GRAVITY)
        part = robot.add(rod(ag.planar(3)), at=robot.ground)
        robot.actuate("wire", ag.Tendon(part, ag.parallel(y=0.01), **options))
        robots.append(robot)
    q, v = np.array([0.5, -0.3, 0.2]), np.array([1.0, 2.0, -1.0])
    tension = 3.0
    length = 0.6 - 0.6 * 0.01 * 0.5  # of the line: bending at the mean curvature q[0]
    found = ag.forward_dynamics(robots[0], q, v, inputs={"wire": length - 1e-4 * tension})
    want = ag.forward_dynamics(robots[1], q, v, inputs={"wire": tension})
    assert found.multipliers == pytest.approx([tension], rel=1e-9)
    assert np.allclose(found.a, want.a, rtol=1e-9)
    slack = ag.forward_dynamics(robots[0], q, v, inputs={"wire": 0.7})
    assert np.allclose(slack.a, ag.forward_dynamics(robots[1], q, v).a, rtol=1e-9)


def test_an_inextensible_tendon_must_have_its_length():
    robot = ag.Robot("arm", gravity=GRAVITY)
    part = robot.add(rod(ag.planar(3)), at=robot.ground)
    robot.actuate("wire", ag.Tendon(part, ag.parallel(y=0.01), by="length"))
    with pytest.raises(ag.DescriptionError, match="violates the constraints"):
        ag.forward_dynamics(robot, np.zeros(3), inputs={"wire": 0.59})
    taut = ag.forward_dynamics(robot, np.zeros(3), np.array([0.0, 1.0, 2.0]), inputs={"wire": 0.6})
    assert abs(taut.a[0]) < 1e-5
    assert taut.multipliers[0] > 0.0
    # wound in at an accelerating rate: the mean curvature follows, length = 0.6 - 0.6 * 0.01 * q[0]
    wound = ag.forward_dynamics(robot, np.zeros(3), inputs={"wire": lambda t: 0.6 - 0.006 * (2.0 * t + 3.0 * t**2)})
    assert wound.v[0] == pytest.approx(2.0, rel=1e-6)
    assert wound.a[0] == pytest.approx(6.0, rel=1e-4)
