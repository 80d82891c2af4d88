"""Rods in space against Cosserat's equations solved in strong form: position to 1e-6 L, internal wrench to 1e-6."""

import numpy as np
import pytest
from statics_oracles import CosseratProblem, constant

import anguilla as ag

INF = np.inf


def stiffness_of(rod):
    """X (m,) -> (6, m) of the strains that may vary, infinite for the others."""
    active = np.array([name in rod.strains for name in ag.STRAIN_NAMES])
    return lambda X: np.where(active[:, None], rod.hooke(np.asarray(X)).T, INF)


def rest_of(rod):
    return lambda X: rod.rest.strain(np.asarray(X)).T


def check(eq, arm, solution, *, wrench=True):
    """Centreline and internal wrench along the rod against a solution of the boundary value problem."""
    X = np.linspace(0.0, arm.length, 13)
    centerline = np.array([eq.position(arm.section(float(x))) for x in X])
    assert np.max(np.linalg.norm(centerline - solution.position(X), axis=1)) < 1e-6 * arm.length
    if wrench:
        exact, ours = solution.wrench(X), eq.wrench(arm, X)
        for part in (slice(0, 3), slice(3, 6)):
            size = np.max(np.abs(exact[:, part]))
            assert np.max(np.abs(ours[:, part] - exact[:, part])) < 1e-6 * size


# Bathe & Bolourchi's bend, Int. J. Numer. Meth. Eng. 14 (1979): an eighth of a circle of radius 100, unit square
# section, E = 1e7, nu = 0, dead force across its plane. Tip positions printed in the literature, where authors differ
# by about 1 % of the displacements, which are 40 and more.
LITERATURE = {300.0: (22.33, 58.84, 40.08), 600.0: (15.79, 47.23, 53.37)}


@pytest.mark.parametrize("force", [300.0, 450.0, 600.0])
def test_bend_of_45_degrees(force):
    radius = 100.0
    length = radius * np.pi / 4
    material = ag.Material(young=1e7, density=1000.0, poisson=0.0)
    section = ag.GeneralSection(area=1.0, second_y=1 / 12, second_z=1 / 12, torsion=1 / 6)
    rest = ag.ConstantCurvature(bend_z=1 / radius)
    robot = ag.Robot(gravity=(0, 0, 0))
    arm = robot.add(ag.Rod(length, section, material, ag.reissner(10), rest=rest, intervals=60), at=robot.ground)
    robot.load(ag.TipWrench(arm, force=(0, 0, force)))
    eq = ag.statics(robot)
    problem = CosseratProblem(length, stiffness_of(arm.rod), rest_of(arm.rod), force=(0, 0, force))
    check(eq, arm, problem.solve())
    if force in LITERATURE:
        along, across, up = eq.position(arm.tip)  # the literature starts along its y axis
        np.testing.assert_allclose([across, along, up], LITERATURE[force], rtol=0, atol=0.4)


def test_bend_of_45_degrees_hardly_feels_the_torsion_constant():
    """The literature's J = 1/6 is the polar moment; Saint-Venant's 0.1406 moves the tip by less than 1 % of R."""
    radius, force = 100.0, 600.0
    material = ag.Material(young=1e7, density=1000.0, poisson=0.0)
    rest = ag.ConstantCurvature(bend_z=1 / radius)
    robot = ag.Robot(gravity=(0, 0, 0))
    rod = ag.Rod(radius * np.pi / 4, ag.Rectangle(1.0, 1.0), material, ag.reissner(10), rest=rest, intervals=60)
    arm = robot.add(rod, at=robot.ground)
    robot.load(ag.TipWrench(arm, force=(0, 0, force)))
    along, across, up = ag.statics(robot).position(arm.tip)
    np.testing.assert_allclose([across, along, up], LITERATURE[force], rtol=0, atol=0.01 * radius)


@pytest.mark.parametrize("amount", [2.0, 6.0])
def test_follower_tip_force_in_space(amount):
    length, young, radius = 0.5, 1e7, 0.005
    unit = young * np.pi * radius**4 / 4 / length**2
    force = (0.3 * amount * unit, amount * unit, 0.5 * amount * unit)
    robot = ag.Robot(gravity=(0, 0, 0))
    material = ag.Material(young=young, density=1000, poisson=0.4)
    arm = robot.add(ag.Rod(length, ag.Circle(radius), material, ag.kirchhoff(11), intervals=60), at=robot.ground)
    robot.load(ag.TipWrench(arm, force=force, follower=True))
    problem = CosseratProblem(length, stiffness_of(arm.rod), rest_of(arm.rod), follower_force=force)
    check(ag.statics(robot), arm, problem.solve())


def test_heavy_helix_hangs_under_its_weight():
    shape = ag.Helix(radius=0.05, pitch=0.02)
    twist, _, bend = shape.strain([0.0])[0, :3]
    rate = np.hypot(twist, bend)
    length = 2.0 * 2 * np.pi / rate
    # the axis of the helix is the direction (a, 0, c) of its Darboux vector; a turn about y lets it hang down
    a, c = twist / rate, bend / rate
    pose = np.eye(4)
    pose[:3, :3] = [[-c, 0, a], [0, 1, 0], [-a, 0, -c]]
    half = 0.5 * np.arctan2(a, -c)
    material = ag.Material(young=2e7, density=1500, poisson=0.45)
    robot = ag.Robot(gravity=(0, 0, -9.81))
    rod = ag.Rod(length, ag.Circle(0.002), material, ag.kirchhoff(22), rest=shape, intervals=140)
    arm = robot.add(rod, at=robot.ground, pose=pose)
    eq = ag.statics(robot)
    weight = 1500 * np.pi * 0.002**2 * 9.81
    root = (np.cos(half), 0, np.sin(half), 0)
    problem = CosseratProblem(length, stiffness_of(rod), rest_of(rod), quaternion=root, dead=constant((0, 0, -weight)))
    solution = problem.solve(nodes=101)
    check(eq, arm, solution)
    assert eq.position(arm.tip)[2] < -2 * 2 * shape.pitch  # the weight at least doubles its height


def test_thick_reissner_beam_with_every_kind_of_load():
    length, radius = 0.5, 0.055
    material = ag.Material(young=2e5, density=1200, poisson=0.45)
    robot = ag.Robot(gravity=(0.5, 1.0, -9.81))
    rod = ag.Rod(length, ag.Circle(radius), material, ag.reissner(9), intervals=60)
    arm = robot.add(rod, at=robot.ground)
    force, moment, follower = (25.0, -35.0, 45.0), (2.0, 1.5, -1.0), (-20.0, 15.0, -10.0)
    robot.load(ag.TipWrench(arm, force=force, moment=moment))
    robot.load(ag.TipWrench(arm, force=follower, moment=(1.0, 0.0, 0.5), follower=True))
    robot.load(ag.DistributedWrench(arm, force=lambda X: (0.0, 60.0 * X, -30.0), follower=True))
    robot.load(ag.DistributedWrench(arm, moment=lambda X: (1.0, 3.0 * np.cos(4 * X), 2.0 * X)))
    eq = ag.statics(robot)
    gravity = 1200 * np.pi * radius**2 * np.array([0.5, 1.0, -9.81])
    problem = CosseratProblem(
        length, stiffness_of(rod), rest_of(rod),
        force=force, moment=moment, follower_force=follower, follower_moment=(1.0, 0.0, 0.5),
        dead=constant(tuple(gravity)),
        follower=lambda X: np.array([0 * X, 60.0 * X, -30.0 + 0 * X]),
        dead_moment=lambda X: np.array([1.0 + 0 * X, 3.0 * np.cos(4 * X), 2.0 * X]),
    )  # fmt: skip
    solution = problem.solve()
    check(eq, arm, solution)
    strain = eq.strain(arm) - rod.rest.strain(np.linspace(0, length, 60))
    assert np.all(np.max(np.abs(strain), axis=0) > [1, 1, 1, 5e-3, 5e-3, 5e-3])  # all six take part


def test_tapered_rod_in_space():
    length = 0.4
    material = ag.Material(young=2e5, density=1100, poisson=0.5)
    robot = ag.Robot(gravity=(0, 0, -9.81))
    section = ag.taper(ag.Circle(0.02), ag.Circle(0.008), length)
    rod = ag.Rod(length, section, material, ag.kirchhoff(12), intervals=60)
    arm = robot.add(rod, at=robot.ground)
    robot.load(ag.TipWrench(arm, force=(0.0, 0.02, 0.01), moment=(1e-3, 0, 0)))
    radius = lambda X: 0.02 - 0.012 * X / length
    second = lambda X: np.pi * radius(X) ** 4 / 4
    problem = CosseratProblem(
        length,
        stiffness=lambda X: np.stack([2e5 / 3 * 2 * second(X), *2 * [2e5 * second(X)], *3 * [INF + 0 * X]]),
        rest=lambda X: np.tile([[0.0], [0.0], [0.0], [1.0], [0.0], [0.0]], (1, len(X))),
        force=(0.0, 0.02, 0.01),
        moment=(1e-3, 0, 0),
        dead=lambda X: np.array([0 * X, 0 * X, -1100 * 9.81 * np.pi * radius(X) ** 2]),
    )
    check(ag.statics(robot), arm, problem.solve())
