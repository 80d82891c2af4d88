"""Water against closed forms, conservation laws and the strong form of the papers."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

import anguilla as ag

WEIGHTLESS = (0.0, 0.0, 0.0)
RHO = 1000.0
STIFF = ag.Material(young=1e9, poisson=0.3, density=RHO)


def towed(direction, speed, section, load, length=1.5, **rod):
    """Force of the water on a straight rod along x that moves without turning, by a current against it."""
    robot = ag.Robot("towed", gravity=WEIGHTLESS)
    strains = ag.Strains(bend_z=2)
    part = robot.add(ag.Rod(length, section, STIFF, strains, **rod), at=robot.ground, name="body")
    water = robot.load(load(part, tuple(-speed * np.asarray(direction))))
    system = ag.Model(robot)
    zero = np.zeros(system.size)
    from anguilla.results.states import Equilibrium, Status

    straight = Equilibrium(robot, system, Status(True, ""), np.zeros(1), zero[None], zero[None])
    return straight.exerted(water)


# Drag and lift of a straight body -------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.2, np.pi / 2, 2.5])
def test_drag_and_lift_of_a_towed_cylinder(angle):
    """C1 on the wetted surface along the axis, the cross-flow principle across it (001 (9))."""
    b, c, speed, length = 0.03, 0.05, 0.8, 1.5
    direction = np.array([np.cos(angle), 0.0, np.sin(angle)])
    force = towed(
        direction, speed, ag.Ellipse(b, c), lambda part, current: ag.Morison(part, current=current, normal=1.1)
    ).force
    along, across = speed * np.cos(angle), speed * np.sin(angle)
    friction = -0.5 * RHO * 0.01 * np.pi * (b + c) * length * abs(along) * along
    normal = -0.5 * RHO * 1.1 * 2 * b * length * abs(across) * across
    drag = force @ direction
    lift = force @ np.array([-np.sin(angle), 0.0, np.cos(angle)])
    assert drag == pytest.approx(friction * np.cos(angle) + normal * np.sin(angle), rel=1e-12)
    assert lift == pytest.approx(-friction * np.sin(angle) + normal * np.cos(angle), rel=1e-12, abs=1e-12)
    assert force[1] == pytest.approx(0.0, abs=1e-12)


def test_round_ends_cost_no_accuracy():
    """An ellipsoid of revolution: its outline starts like a square root, its side area is pi a c / 2 each quarter."""
    a, c = 0.75, 0.05

    def outline(X):
        return ag.Circle(max(c * np.sqrt(max(X * (2 * a - X), 0.0)) / a, 1e-12))

    load = lambda part, current: ag.Morison(part, current=current)
    force = towed((0, 0, 1), 0.6, ag.Tapered(outline), load, 2 * a, intervals=6).force
    assert force[2] == pytest.approx(-0.5 * RHO * np.pi * a * c * 0.6**2, rel=1e-10)
    force = towed((1, 0, 0), 0.6, ag.Tapered(outline), load, 2 * a, intervals=6).force
    perimeter = quad(lambda X: 2 * np.pi * outline(X).radius, 0, 2 * a, epsabs=1e-12)[0]
    assert force[0] == pytest.approx(-0.5 * RHO * 0.01 * perimeter * 0.6**2, rel=1e-7)


def test_added_mass_of_a_slender_ellipsoid():
    """(001 IV) Across its axis a slender ellipsoid of revolution carries the water it displaces; along it, nothing."""
    a, c = 1.0, 0.05
    outline = ag.Tapered(lambda X: ag.Circle(max(c * np.sqrt(max(X * (2 * a - X), 0.0)) / a, 1e-12)))
    robot = ag.Robot("ellipsoid", gravity=WEIGHTLESS)
    strains = ag.Strains(bend_z=1)
    part = robot.add(ag.Rod(2 * a, outline, STIFF, strains), at=robot.ground, joint=ag.Free(), name="body")
    dry = ag.mass_matrix(robot, np.zeros(7))
    robot.load(ag.Morison(part))
    added = ag.mass_matrix(robot, np.zeros(7)) - dry
    displaced = RHO * 4 / 3 * np.pi * a * c**2
    np.testing.assert_allclose(np.diag(added)[:3], [0.0, displaced, displaced], rtol=1e-9, atol=1e-9)
    # about its middle: integral of x^2 times pi rho c^2 (1 - x^2/a^2); the frame is at its nose
    np.testing.assert_allclose(np.diag(added)[4:6], displaced * (a**2 / 5 + a**2), rtol=1e-9)


def test_a_circular_section_is_the_cable_of_a_submarine():
    """(001 appendix) D = 2b = 2c: half rho C pi D along, half rho C D across, added mass rho pi D^2/4, no moment."""
    D = 0.08
    robot = ag.Robot("cable")
    part = robot.add(ag.Rod(1.0, ag.Circle(D / 2), STIFF, ag.kirchhoff(1)), at=robot.ground)
    row = ag.Morison(part).coefficients(np.array([0.4]))[0]
    np.testing.assert_allclose(row[:3], 0.5 * RHO * np.array([0.01 * np.pi * D, D, D]), rtol=1e-14)
    np.testing.assert_allclose(row[12:15], RHO * np.pi * D**2 / 4 * np.array([0.0, 1.0, 1.0]), rtol=1e-14)
    assert not np.any(row[[3, 15]])


# Potential flow -------------------------------------------------------------------------------------------------------


def test_kirchhoffs_body_keeps_its_impulse_and_energy():
    """A rigid body in an ideal fluid (Kirchhoff): energy and impulse of body and fluid together are constant."""
    mass, inertia = 1.3, np.array([0.02, 0.05, 0.04])
    m, j = np.array([0.2, 1.1, 1.7]), np.array([0.01, 0.03, 0.06])
    robot = ag.Robot("ellipsoid", gravity=WEIGHTLESS)
    body = robot.add(ag.RigidBody(mass, inertia), at=robot.ground, joint=ag.Free(), name="body")
    robot.load(ag.Hull(body.frame, added=np.concatenate([m, j])))
    begin = np.array([1.0, 2.0, -3.0, 0.5, -0.4, 0.8])
    drifts = []
    for dt in (4e-3, 2e-3, 1e-3):
        run = ag.simulate(robot, duration=2.0, dt=dt, method=ag.Newmark(), tolerance=1e-12, start=(np.zeros(6), begin))
        pose, twist = run.pose(body.frame), run.twist(body.frame)
        impulse = np.concatenate([(inertia + j) * twist[:, :3], (mass + m) * twist[:, 3:]], axis=1)
        energy = 0.5 * np.sum(impulse * twist, axis=1)
        world = np.einsum("tij,tj->ti", pose[:, :3, :3], impulse[:, 3:])
        angular = np.einsum("tij,tj->ti", pose[:, :3, :3], impulse[:, :3]) + np.cross(pose[:, :3, 3], world)
        kept = np.concatenate([energy[:, None], world, angular], axis=1)
        drifts.append(np.max(np.abs(kept - kept[0])))
    assert drifts[-1] < 1e-4 * np.max(np.abs(kept[0]))
    assert all(3.5 < x / y < 4.5 for x, y in pairwise(drifts))


def test_water_of_lighthill_does_the_work_of_its_strong_form():
    """(003 (90)) -M_a eta' + ad^T M_a eta + Phi' - ad_xi^T Phi along a clamped rod with all six strains, by quadrature."""
    section = ag.taper(ag.Ellipse(0.03, 0.06), ag.Ellipse(0.02, 0.04), 0.8)
    soft = ag.Material(young=1e4, density=RHO)
    forces = []
    for wet in (False, True):
        robot = ag.Robot("fish", gravity=WEIGHTLESS)
        part = robot.add(ag.Rod(0.8, section, soft, ag.reissner(3), intervals=24), at=robot.ground, name="body")
        water = ag.Lighthill(part)
        if wet:
            robot.load(water)
        system = ag.Model(robot)
        rng = np.random.default_rng(4)
        q, v, a = rng.normal(size=(3, system.size)) / system.tree.scale * np.array([[0.3], [2.0], [5.0]])
        forces.append(system.residual(q, v, a))
    given = forces[1] - forces[0]
    from anguilla.results.states import Status, Trajectory

    motion = Trajectory(robot, system, Status(True, ""), np.zeros(1), q[None], v[None], a[None])

    def momentum(X):
        """Phi and M_a eta at section X, in its axes."""
        row = water.coefficients(np.array([X]))[0]
        M = np.concatenate([row[15:18], row[12:15]])
        eta = motion.twist(part.section(X))[0]
        flow = eta[3] * M * eta
        flow[3] -= 0.5 * eta @ (M * eta)
        return flow, M, eta

    def coadjoint(x, wrench):
        """ad_x^T wrench, twists as (angular, linear)."""
        return np.concatenate([np.cross(wrench[:3], x[:3]) + np.cross(wrench[3:], x[3:]), np.cross(wrench[3:], x[:3])])

    x, w = np.polynomial.legendre.leggauss(14)
    total = np.zeros(system.size)
    for X, weight in zip(0.4 * (1 + x), 0.4 * w, strict=True):
        flow, M, eta = momentum(X)
        rotation = motion.pose(part.section(X))[0, :3, :3]
        world = motion.acceleration(part.section(X))[0]
        rate = np.concatenate([rotation.T @ world[:3], rotation.T @ world[3:] - np.cross(eta[:3], eta[3:])])
        h = 1e-4
        slope = (8 * (momentum(X + h)[0] - momentum(X - h)[0]) - momentum(X + 2 * h)[0] + momentum(X - 2 * h)[0]) / (
            12 * h
        )
        xi = motion.strain(part, [X])[0, 0]
        density = -M * rate + coadjoint(eta, M * eta) + slope - coadjoint(xi, flow)
        total -= weight * motion.jacobian(part.section(X))[0].T @ density
    np.testing.assert_allclose(given, total, atol=2e-6 * np.max(np.abs(total)))


# Balance of power, buoyancy, slow swimming ----------------------------------------------------------------------------

FLUIDS = {
    "morison": ag.Morison,
    "lighthill": ag.Lighthill,
    "resistive": lambda part: ag.ResistiveForce.slender(part, viscosity=5.0),
}


@pytest.mark.parametrize("fluid", FLUIDS.values(), ids=FLUIDS)
def test_power_of_the_water_is_the_loss_of_energy(fluid):
    """A bent rod is let go in water: d(kinetic + elastic)/dt is what the water gives and friction in the rod takes."""
    robot = ag.Robot("released", gravity=WEIGHTLESS)
    soft = ag.Material(young=2e5, density=RHO)
    rod = ag.Rod(0.5, ag.Ellipse(0.01, 0.02), soft, ag.kirchhoff(3))
    part = robot.add(rod, at=robot.ground, joint=ag.Free(), name="body")
    water = robot.load(fluid(part))
    system = ag.Model(robot)
    q = 0.4 * np.random.default_rng(0).normal(size=system.size) / system.tree.scale
    gaps = []
    for dt in (2e-3, 1e-3, 5e-4):
        run = ag.simulate(robot, duration=0.2, dt=dt, method=ag.Newmark(), tolerance=1e-11, start=(q, 0.0 * q))
        power, energy = run.exerted(water).power, run.energy["total"]
        work = np.concatenate([[0.0], np.cumsum(0.5 * dt * (power[1:] + power[:-1]))])
        gaps.append(np.max(np.abs(energy - energy[0] - work)) / energy[0])
    assert energy[-1] < 0.9 * energy[0]
    assert gaps[-1] < 2e-3
    assert all(3.3 < x / y < 4.7 for x, y in pairwise(gaps))


def test_a_neutrally_buoyant_arm_does_not_sag():
    robot = ag.Robot("arm")
    soft = ag.Material(young=1e5, density=RHO)
    section = ag.taper(ag.Circle(0.02), ag.Circle(0.01), 0.5)
    arm = robot.add(ag.Rod(0.5, section, soft, ag.kirchhoff(3)), at=robot.ground)
    sagging = ag.statics(robot)
    robot.load(ag.Buoyancy(arm, density=RHO))
    floating = ag.statics(robot)
    assert sagging.position(arm.tip)[2] < -0.05
    assert np.abs(floating.q).max() < 1e-10


def test_a_ball_falls_at_its_terminal_speed():
    """(m - m_w) g = 1/2 rho C A v^2, and it starts with (m - m_w) g / (m + m_w/2)."""
    radius, mass = 0.05, 2.0
    robot = ag.Robot("ball")
    ball = robot.add(ag.RigidBody.sphere(radius, mass=mass), at=robot.ground, joint=ag.Free(), name="ball")
    displaced = RHO * 4 / 3 * np.pi * radius**3
    drag = 0.5 * RHO * 0.47 * np.pi * radius**2
    robot.load(ag.Hull(ball.frame, drag=(drag,) * 3, added=(displaced / 2,) * 3, displaced=displaced))
    run = ag.simulate(robot, duration=8.0, dt=5e-3)
    weight = (mass - displaced) * 9.81
    assert run.acceleration(ball.frame)[0, 5] == pytest.approx(-weight / (mass + displaced / 2), rel=1e-9)
    assert run.twist(ball.frame)[-1, 5] == pytest.approx(-np.sqrt(weight / drag), rel=1e-9)


def test_water_bends_an_arm_in_a_current():
    """Statics feel a current: small deflection w L^4 / (8 EI) of a cantilever under a uniform drag w."""
    L, r, young, speed = 0.5, 0.005, 1e7, 0.005
    robot = ag.Robot("weed", gravity=WEIGHTLESS)
    arm = robot.add(ag.Rod(L, ag.Circle(r), ag.Material(young, RHO), ag.Strains(bend_y=4)), at=robot.ground)
    robot.load(ag.Morison(arm, current=(0, 0, speed)))
    tip = ag.statics(robot).position(arm.tip)[2]
    assert tip == pytest.approx(0.5 * RHO * 2 * r * speed**2 * L**4 / (8 * young * np.pi * r**4 / 4), rel=1e-4)


# Doors ----------------------------------------------------------------------------------------------------------------


def test_refusals_name_what_is_wrong():
    robot = ag.Robot("r")
    rod = robot.add(ag.Rod(0.5, ag.Circle(0.01), STIFF, ag.kirchhoff(2)), at=robot.ground, name="arm")
    body = robot.add(ag.RigidBody.sphere(0.1, mass=1.0), at=rod.tip, name="ball")
    with pytest.raises(ag.DescriptionError, match=r"Morison.part.*rod or a rigid body"):
        ag.Morison(rod.tip)
    with pytest.raises(ag.DescriptionError, match="section and a span"):
        ag.Morison(body)
    with pytest.raises(ag.DescriptionError, match="a rod has its own"):
        ag.Morison(rod, section=ag.Circle(0.1))
    with pytest.raises(ag.DescriptionError, match=r"Lighthill.*no tail"):
        ag.Lighthill(body, section=ag.Circle(0.1), span=(0, 0.1), tail=True)
    with pytest.raises(ag.DescriptionError, match=r"Morison\.normal"):
        ag.Morison(rod, normal=-1.0)
    with pytest.raises(ag.DescriptionError, match=r"Hull\.drag"):
        ag.Hull(body.frame, drag=(1.0, 2.0))
    with pytest.raises(ag.DescriptionError, match="loads that act on frames and depend on the motion"):
        push = robot.load(ag.TipWrench(rod, force=(0, 0, 1)))
        ag.statics(robot).exerted(push)
