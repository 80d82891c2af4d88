"""The residual of robots with joints and bodies against closed forms and other codes."""

import numpy as np
import pytest
from multibody_oracles import double_pendulum, newton_euler, random_inertia, random_rotation, tip_mass_frequency
from numpy.polynomial import legendre
from scipy.linalg import eigh

import anguilla as ag

Z = (0.0, 0.0, 1.0)


def test_planar_double_pendulum():
    m1, m2, l1, l2 = 1.0, 2.0, 0.7, 0.5
    robot = ag.Robot("pendulum")
    a = robot.add(ag.RigidBody.point_mass(m1, com=(l1, 0, 0)), at=robot.ground, joint=ag.Revolute((0, 1, 0)))
    robot.add(ag.RigidBody.point_mass(m2, com=(l2, 0, 0)), at=a.at((l1, 0, 0)), joint=ag.Revolute((0, 1, 0)))
    system = ag.Model(robot)
    for q, v in np.random.default_rng(1).normal(size=(20, 2, 2)) * 3.0:
        exact = double_pendulum(m1, m2, l1, l2, 9.81, q, v)
        np.testing.assert_allclose(system.residual(q, v, exact), 0.0, atol=1e-11)
        free = np.linalg.solve(system.matrices(q, v)[2], -system.residual(q, v))
        np.testing.assert_allclose(free, exact, atol=1e-10)


def serial_arm(rng, slides):
    """The same arm as a robot and as links for the recursion in link axes."""
    gravity = tuple(rng.normal(size=3))
    robot, links = ag.Robot("serial", gravity=gravity), []
    at = robot.ground
    for slide in slides:
        pose, axis, com = np.eye(4), rng.normal(size=3), 0.3 * rng.normal(size=3)
        pose[:3, :3], pose[:3, 3] = random_rotation(rng), rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        mass, inertia = float(rng.uniform(0.5, 2.0)), random_inertia(rng, 0.3)
        joint = ag.Prismatic(axis) if slide else ag.Revolute(axis)
        at = robot.add(ag.RigidBody(mass, inertia=inertia, com=com), at=at, pose=pose, joint=joint).frame
        links.append((pose, axis, slide, mass, com, inertia))
    return robot, links, gravity


@pytest.mark.parametrize("slides", [(0, 0, 0, 0), (0, 1, 0, 1), (1, 0, 1, 0), (1, 1, 0, 0)])
def test_serial_arm_against_newton_and_euler(slides):
    rng = np.random.default_rng(2)
    robot, links, gravity = serial_arm(rng, slides)
    system = ag.Model(robot)
    for q, v, a in rng.normal(size=(10, 3, 4)):
        expected = newton_euler(links, gravity, q, v, a)
        np.testing.assert_allclose(system.residual(q, v, a), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_chains_of_axes_are_joints_of_several_coordinates():
    """Cylindrical, universal and planar joints, and a screw, against the single axes they are made of."""
    rng = np.random.default_rng(3)
    body = ag.RigidBody(1.3, inertia=random_inertia(rng), com=(0.1, 0.2, -0.1))
    # A massless link is not a body: a very light one stands for it.
    light = ag.RigidBody.point_mass(1e-15)
    x, y, z = np.eye(3)
    cases = [
        (ag.Cylindrical(z), [ag.Prismatic(z), ag.Revolute(z)]),
        (ag.Universal(y, z), [ag.Revolute(y), ag.Revolute(z)]),
        (ag.Planar(z), [ag.Prismatic(x), ag.Prismatic(y), ag.Revolute(z)]),
    ]
    for joint, single in cases:
        one, many = ag.Robot("one"), ag.Robot("many")
        one.add(body, at=one.ground, joint=joint)
        at = many.ground
        for k, axis in enumerate(single):
            at = many.add(body if k == len(single) - 1 else light, at=at, joint=axis).frame
        q, v, a = rng.normal(size=(3, one.size))
        np.testing.assert_allclose(ag.Model(one).residual(q, v, a), ag.Model(many).residual(q, v, a), atol=1e-12)
    # A screw of pitch p is a cylindrical joint with slide = p turn / (2 pi): virtual work adds the two rows.
    screw, shaft = ag.Robot("screw"), ag.Robot("shaft")
    screw.add(body, at=screw.ground, joint=ag.Helical((1, 2, 3), pitch=0.4))
    shaft.add(body, at=shaft.ground, joint=ag.Cylindrical((1, 2, 3)))
    tie = np.array([0.4 / (2.0 * np.pi), 1.0])
    q, v, a = rng.normal(size=3)
    expected = tie @ ag.Model(shaft).residual(tie * q, tie * v, tie * a)
    assert ag.Model(screw).residual([q], [v], [a])[0] == pytest.approx(expected, abs=1e-12)


def test_springs_dampers_and_efforts_add_to_the_residual():
    def robot(**options):
        robot = ag.Robot("body")
        body = ag.RigidBody.box((0.1, 0.2, 0.3), mass=1.0, com=(0.1, 0.0, 0.2))
        robot.add(body, at=robot.ground, joint=ag.Planar((1, 1, 0), **options))
        return ag.Model(robot)

    q, v, a = np.random.default_rng(4).normal(size=(3, 3))
    k, rest, d = np.array([3.0, 4.0, 5.0]), np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.6, 0.7])
    both = robot(stiffness=k, rest=rest, damping=d, effort=lambda t: (t, 2.0, -t))
    expected = robot().residual(q, v, a) + k * (q - rest) + d * v - [0.7, 2.0, -0.7]
    np.testing.assert_allclose(both.residual(q, v, a, t=0.7), expected, atol=1e-12)
    assert both.elastic_energy(q[None])[0] == pytest.approx(0.5 * k @ (q - rest) ** 2)


# Rods with joints and bodies ------------------------------------------------------------------------------------------

ROD = dict(length=0.8, radius=0.02, young=5e5, density=1200.0)


def planar_rod(q, v, a, modes, body, gravity, points=40):
    """Residual of a hinged planar rod with a hinged body at its tip, from angles and quadrature over the whole length."""
    L, r = ROD["length"], ROD["radius"]
    x, w = legendre.leggauss(points)
    integral = np.stack([legendre.legint(row, lbnd=-1) / 2 for row in np.eye(points)], axis=1)
    along = L * legendre.legvander(x, points) @ integral @ np.linalg.inv(legendre.legvander(x, points - 1))
    x, w = (x + 1) / 2, L * w / 2
    phi = ag.Legendre(modes)(x)
    n, inner = modes + 2, slice(1, modes + 1)
    psi = np.zeros((points, n))
    psi[:, 0], psi[:, inner] = 1.0, along @ phi
    area, second = np.pi * r**2, np.pi * r**4 / 4

    def field(psi):
        """Jacobian (m, 2, n) and acceleration (m, 2) of the direction at the angles psi q."""
        angle, spin, rate = psi @ q, psi @ v, psi @ a
        t = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        side = np.stack([-t[:, 1], t[:, 0]], axis=1)
        return side[:, :, None] * psi[:, None, :], side * rate[:, None] - t * (spin**2)[:, None]

    J, acc = field(psi)
    Jx, ax = np.einsum("mk,kin->min", along, J), np.einsum("mk,ki->mi", along, acc)
    out = ROD["density"] * area * np.einsum("m,min,mi->n", w, Jx, ax - gravity)
    out += ROD["density"] * second * psi.T @ (w * (psi @ a))
    out[inner] += ROD["young"] * second * (phi.T @ (w[:, None] * phi)) @ q[inner]
    # The body: its frame at the tip, turned by the last coordinate.
    turn = np.ones((1, n))
    turn[0, inner] = w @ phi
    Jb, accb = field(turn)
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    mass, inertia, com = body
    place = lambda f: com[0] * f + com[1] * quarter @ f
    J = np.einsum("m,min->in", w, field(psi)[0]) + place(Jb[0])
    acceleration = w @ acc + place(accb[0])
    out += mass * J.T @ (acceleration - gravity) + inertia * turn[0] * (turn[0] @ a)
    return out


def test_hinged_rod_with_a_hinged_body():
    """Exact in the plane: what remains is the fourth-order error of the intervals."""
    modes, gravity = 4, np.array([2.0, -9.0])
    mass, inertia, com = 0.7, 0.02, np.array([0.1, 0.05])
    rng, errors = np.random.default_rng(5), []
    states = rng.normal(size=(3, modes + 2)) * np.array([[0.5], [2.0], [5.0]])
    for intervals in (16, 32):
        robot = ag.Robot("plane", gravity=(*gravity, 0.0))
        material = ag.Material(young=ROD["young"], poisson=0.3, density=ROD["density"])
        rod = ag.Rod(ROD["length"], ag.Circle(ROD["radius"]), material, ag.planar(modes), intervals=intervals)
        arm = robot.add(rod, at=robot.ground, joint=ag.Revolute(Z))
        body = ag.RigidBody(mass, inertia=(inertia, inertia, inertia), com=(*com, 0.0))
        robot.add(body, at=arm.tip, joint=ag.Revolute(Z))
        system = ag.Model(robot)
        expected = planar_rod(*states, modes, (mass, inertia, com), gravity)
        errors.append(np.abs(system.residual(*states) - expected).max() / np.abs(expected).max())
    assert errors[1] < 1e-5
    assert 12.0 < errors[0] / errors[1] < 20.0


def frequencies(robot):
    stiffness, _, mass = ag.Model(robot).matrices(np.zeros(robot.size))
    return np.sqrt(eigh(stiffness, mass, eigvals_only=True))


@pytest.mark.parametrize("ratio", [0.1, 1.0, 10.0])
def test_cantilever_with_a_tip_mass(ratio):
    length, radius, young, density = 1.0, 1e-3, 1e9, 1000.0
    robot = ag.Robot("cantilever", gravity=(0, 0, 0))
    rod = ag.Rod(length, ag.Circle(radius), ag.Material(young=young, density=density), ag.planar(8), intervals=32)
    arm = robot.add(rod, at=robot.ground)
    robot.add(ag.RigidBody.point_mass(ratio * rod.mass), at=arm.tip)
    bending, per_length = young * np.pi * radius**4 / 4.0, density * np.pi * radius**2
    expected = tip_mass_frequency(ratio) ** 2 * np.sqrt(bending / per_length) / length**2
    assert frequencies(robot)[0] == pytest.approx(expected, rel=1e-5)


def test_stiff_hinged_rod_is_a_compound_pendulum():
    length, radius, density = 0.5, 0.005, 2000.0
    robot = ag.Robot("rod", gravity=(9.81, 0.0, 0.0))  # it hangs along x
    material = ag.Material(young=1e12, poisson=0.3, density=density)
    robot.add(ag.Rod(length, ag.Circle(radius), material, ag.kirchhoff(2)), at=robot.ground, joint=ag.Revolute(Z))
    inertia = length**2 / 3.0 + radius**2 / 4.0  # per mass
    assert frequencies(robot)[0] == pytest.approx(np.sqrt(9.81 * length / 2.0 / inertia), rel=1e-6)


def cut(pieces):
    """A rod in two pieces of constant strain: one rod, or two rods joined by Fixed."""
    robot = ag.Robot("cut")
    material = ag.Material(young=1e6, poisson=0.4, density=1000.0, damping=0.01)

    def rod(length, basis, intervals):
        strains = ag.Strains(twist=basis, bend_y=basis, bend_z=basis, stretch=basis)
        return ag.Rod(length, ag.Ellipse(0.02, 0.01), material, strains, intervals=intervals)

    if pieces == 1:
        last = robot.add(rod(0.6, ag.PiecewiseConstant(2), 8), at=robot.ground)
        order = np.arange(8).reshape(4, 2).T.ravel()  # by piece, then by strain
    else:
        first = robot.add(rod(0.3, ag.PiecewiseConstant(1), 4), at=robot.ground)
        last = robot.add(rod(0.3, ag.PiecewiseConstant(1), 4), at=first.tip, joint=ag.Fixed())
        order = np.arange(8)
    robot.add(ag.RigidBody.box((0.1, 0.02, 0.03), mass=0.1), at=last.tip)
    robot.load(ag.TipWrench(last, force=(0.1, 0.2, 0.3), follower=True))
    return robot, last, order


def test_rod_cut_in_two_moves_the_same():
    (one, end1, order), (two, end2, _) = cut(1), cut(2)
    q, v, a = np.random.default_rng(6).normal(size=(3, 8))
    whole = ag.Model(one).residual(*(put(x, order) for x in (q, v, a)))[order]
    np.testing.assert_allclose(whole, ag.Model(two).residual(q, v, a), atol=1e-12 * np.abs(whole).max())
    runs = [ag.simulate(robot, duration=0.3, dt=0.005) for robot in (one, two)]
    np.testing.assert_allclose(runs[0].q[:, order], runs[1].q, atol=1e-7)
    np.testing.assert_allclose(runs[0].position(end1.tip), runs[1].position(end2.tip), atol=1e-8)


def put(values, order):
    out = np.zeros_like(values)
    out[order] = values
    return out


def test_a_body_in_pieces_is_one_body():
    """Two boxes side by side, fixed, have the mass matrix of the box they make."""

    def robot(halves):
        robot = ag.Robot("box")
        widths = (0.1, 0.2, 0.3) if halves == 1 else (0.05, 0.2, 0.3)
        com = (0.05, 0.0, 0.0) if halves == 1 else (0.025, 0.0, 0.0)
        joint = ag.Universal((0, 1, 0), (1, 0, 1))
        first = robot.add(ag.RigidBody.box(widths, density=500.0, com=com), at=robot.ground, joint=joint)
        if halves == 2:
            robot.add(ag.RigidBody.box(widths, density=500.0, com=com), at=first.at((0.05, 0.0, 0.0)))
        return ag.Model(robot)

    state = np.random.default_rng(7).normal(size=(3, 2))
    np.testing.assert_allclose(robot(1).residual(*state), robot(2).residual(*state), atol=1e-13)
