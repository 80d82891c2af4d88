"""Rods that touch: beams on a floor, rods in tubes and over pegs, energies and powers."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import anguilla as ag

G = 9.81
YOUNG, RADIUS, DENSITY = 1e6, 0.01, 1000.0
RUBBER = ag.Material(young=YOUNG, poisson=0.45, density=DENSITY, damping=0.0)
EI = YOUNG * np.pi * RADIUS**4 / 4
WEIGHT = DENSITY * np.pi * RADIUS**2 * G  # per length


def beam(obstacle, stiffness, length=0.6, strains=None, intervals=60, material=RUBBER, **options):
    """A horizontal cantilever from the origin along x, that touches an obstacle."""
    robot = ag.Robot("beam")
    rod = ag.Rod(length, ag.Circle(RADIUS), material, strains or ag.Strains(bend_y=14), intervals=intervals)
    arm = robot.add(rod, at=robot.ground, name="arm")
    return robot, arm, robot.load(ag.Contact(arm, obstacle, stiffness, **options))


def floor(drop):
    """A floor that a rod touches after it has gone down by so much."""
    return ag.HalfSpace((0, 0, 1), -drop - RADIUS)


def test_a_heavy_beam_lifts_off_a_rigid_floor_where_it_should():
    """Clamped at a height d above the floor: free over l = (72 EI d / q)^(1/4), and the floor carries all but 2/3 q l.

    EI w'''' = q with w = w' = 0 at the root, w = d, w' = w'' = 0 where it lies flat: the root moment is q l^2/6.
    """
    drop, length = 2e-3, 0.4
    free = (72 * EI * drop / WEIGHT) ** 0.25
    errors = []
    for stiffness in (3e4, 3e5):
        robot, arm, contact = beam(floor(drop), stiffness, length, ag.Strains(bend_y=24), intervals=120, smooth=1e-6)
        eq = ag.statics(robot)
        found = eq.exerted(contact)
        carried = found.force[2] / (WEIGHT * (length - 2 * free / 3)) - 1
        held = eq.wrench(arm, [0.0])[0, 1] / (WEIGHT * free**2 / 6) - 1
        errors.append(np.abs([carried, held]))
    assert 0.3 < free / length < 0.5
    assert errors[1][0] < 5e-4 and errors[1][1] < 3e-3
    assert np.all(errors[1] < errors[0])


def test_a_beam_on_a_soft_floor_against_the_strong_form():
    """z' = -sin a, a' = k, EI k' = V cos a, V' = q - q_floor, with large slopes and the same penalty."""
    length, drop, stiffness, smooth = 0.6, 0.05, 800.0, 5e-3
    robot, arm, contact = beam(floor(drop), stiffness, length, intervals=80, smooth=smooth)
    eq = ag.statics(robot)

    def push(z):
        x = np.clip((-drop - z) / smooth, 0.0, None)
        return stiffness * np.where(x > 1, smooth * (x - 0.5), smooth * (x**3 - x**4 / 2))

    def rates(_, y):
        z, a, k, V = y
        return np.vstack([-np.sin(a), k, V * np.cos(a) / EI, WEIGHT - push(z)])

    ends = lambda a, b: np.array([a[0], a[1], b[2], b[3]])
    s = np.linspace(0, length, 200)
    guess = np.vstack([-drop * np.minimum(s / 0.3, 1), 0 * s, 0 * s, 0 * s])
    exact = solve_bvp(rates, ends, s, guess, tol=1e-8, max_nodes=20000)
    assert exact.success
    X = np.linspace(0, length, 25)
    z = np.array([eq.position(arm.section(x))[2] for x in X])
    np.testing.assert_allclose(z, exact.sol(X)[0], atol=2e-5 * length)
    assert np.ptp(eq.depth(contact)) > drop and np.abs(exact.y[1]).max() > 0.2


def test_a_tube_is_a_floor_and_a_ceiling_for_what_stays_in_its_plane():
    drop, k = 0.03, 2e3
    low, high = floor(drop), ag.HalfSpace((0, 0, -1), -drop - RADIUS)
    tube = ag.Pillar((0.7, 0.0, 0.0), (1, 0, 0), drop + RADIUS, inside=True)
    for lift in (0.0, 1.2):  # [N] at the tip
        ends = []
        for obstacles in ((tube,), (low, high)):
            robot, arm, first = beam(obstacles[0], k)
            touching = [first, *(robot.load(ag.Contact(arm, other, k)) for other in obstacles[1:])]
            robot.load(ag.TipWrench(arm, force=(0, 0, lift)))
            eq = ag.statics(robot)
            forces = sum(eq.exerted(x).wrench[:, 5] for x in touching)
            ends.append(np.concatenate([eq.position(arm.tip), forces]))
        np.testing.assert_allclose(ends[0], ends[1], atol=1e-8)
        assert ends[0].max() > 0.05 * WEIGHT and (ends[0].min() < -0.1) == (lift > 0.0)


def test_a_rod_in_a_tube_stays_inside_in_space():
    """Pushed to all sides, it lies against the wall of the tube, whose force goes through the axis."""
    R = 0.03
    tube = ag.Pillar((0.0, 0.0, 0.0), (1, 0, 0), R, inside=True)
    robot, arm, contact = beam(tube, 2e4, strains=ag.kirchhoff(8), intervals=40)
    robot.load(ag.TipWrench(arm, force=(0.0, 0.4, 0.3)))
    eq = ag.statics(robot)
    found, depth = eq.exerted(contact), eq.depth(contact)
    across, force = found.place[:, 1:], found.wrench[:, 4:]
    assert 1e-4 < depth.max() < 3e-3
    assert depth == pytest.approx(np.linalg.norm(across, axis=1) - (R - RADIUS), abs=1e-14)
    touching = depth > 0
    np.testing.assert_allclose(
        across[touching, 0] * force[touching, 1], across[touching, 1] * force[touching, 0], atol=1e-12
    )
    assert np.all(np.sum(across * force, axis=1)[touching] < 0.0)
    root = eq.wrench(arm, [0.0])[0, 3:]
    weight = np.array([0.0, 0.4, 0.3 - WEIGHT * 0.6])
    np.testing.assert_allclose(root, found.force + weight, atol=1e-7)


def test_a_rod_lies_over_a_peg():
    """The peg carries what the root does not."""
    peg = ag.Pillar((0.3, 0.0, -0.03), (0, 1, 0), 0.02)
    robot, arm, contact = beam(peg, 2e5, strains=ag.Strains(bend_y=12), intervals=160)
    eq = ag.statics(robot)
    found = eq.exerted(contact)
    assert found.force[2] > 0.3 * WEIGHT * 0.6
    root = eq.wrench(arm, [0.0])[0, 3:]
    np.testing.assert_allclose(root, found.force - [0, 0, WEIGHT * 0.6], atol=1e-7)
    touching = eq.depth(contact) > 0
    np.testing.assert_allclose(found.place[touching, 0], 0.3, atol=0.03)


def swinging(dt, damping=0.0, friction=0.0, material=RUBBER, scheme=None):
    """A rod that falls on a peg across its way, and hits it."""
    peg = ag.Pillar((0.25, 0.0, -0.08), (0.3, 1, 0), 0.03)
    strains = ag.Strains(bend_y=3, bend_z=2, twist=1)
    robot, _, contact = beam(
        peg,
        2e3,
        0.4,
        strains,
        intervals=24,
        material=material,
        smooth=4e-3,
        damping=damping,
        friction=friction,
        slip=0.02,
    )
    options = dict(method=scheme or ag.Midpoint(), tolerance=1e-11)
    run = ag.simulate(robot, duration=0.25, dt=dt, **options)
    assert run.depth(contact).max() > 2e-3
    return run, contact


def test_a_falling_rod_keeps_its_energy():
    drifts, steps = [], np.array([1e-3, 5e-4, 2.5e-4])
    for dt in steps:
        run, _ = swinging(dt)
        drifts.append(np.ptp(run.energy["total"]) / np.ptp(run.energy["gravitational"]))
    assert drifts[-1] < 1e-3
    assert np.polyfit(np.log(steps), np.log(drifts), 1)[0] > 1.8


def test_loss_is_the_power_of_damping_and_friction():
    """All energy but that of contact changes by what contact gives."""
    gaps, steps = [], np.array([1e-3, 5e-4, 2.5e-4])
    for dt in steps:
        run, contact = swinging(dt, damping=1.0, friction=0.6)
        power, energy = run.exerted(contact).power, run.energy
        stored = energy["total"] - _stored(run, contact)
        work = np.sum(0.5 * dt * (power[1:] + power[:-1]))
        lost = energy["total"][0] - energy["total"][-1]
        gaps.append(abs(stored[-1] - stored[0] - work) / lost)
        assert lost > 0.05 * np.ptp(energy["gravitational"])
    assert gaps[-1] < 2e-3
    assert np.polyfit(np.log(steps), np.log(gaps), 1)[0] > 1.7


def _stored(run, contact):
    """Energy in the contact, by integrating the law."""
    d = run.depth(contact)
    grid = run.system.layout.parts[0].grid
    weights = grid.weights[grid.weights > 0]
    x, w = np.polynomial.legendre.leggauss(24)
    total = np.zeros(d.shape)
    s = contact.smooth
    for lower, upper in ((np.zeros_like(d), np.clip(d, 0, s)), (np.full_like(d, s), np.maximum(d, s))):
        for point, share in zip(x, w, strict=True):
            y = lower + 0.5 * (upper - lower) * (1 + point)
            g = np.where(y > s, y - s / 2, s * ((y / s) ** 3 - (y / s) ** 4 / 2))
            total += 0.5 * (upper - lower) * share * g
    return contact.stiffness * total @ weights


@pytest.mark.parametrize("obstacle", [ag.HalfSpace((-0.2, 1, 0), -0.03), ag.Pillar((0.25, -0.1, 0), (0, 0, 1), 0.08),
                                      ag.Sphere((0.25, -0.05, -0.04), 0.05), ag.Pillar((0.25, -0.1, 0), (1, 0, 1), 0.08)],
                         ids=["wall", "pillar", "sphere beside", "tilted pillar"])  # fmt: skip
def test_flat_robots_feel_what_they_would_in_space(obstacle):
    """A robot in the plane x-y is computed in the plane; one that may leave it has the same residual and tangent in it."""
    pieces = []
    for extra in ({}, {"twist": 1, "bend_y": 1}):
        robot = ag.Robot("flat", gravity=(0, -G, 0))
        hub = robot.add(ag.RigidBody.sphere(0.02, mass=0.1), at=robot.ground, joint=ag.Revolute((0, 0, 1)), name="hub")
        rod = ag.Rod(0.4, ag.Circle(RADIUS), RUBBER, ag.Strains(**extra, bend_z=3, stretch=1), intervals=10)
        arm = robot.add(rod, at=hub.frame, name="arm")
        robot.load(ag.Contact(arm, obstacle, 1e4, damping=1.0, friction=0.5, slip=0.01, smooth=2e-3))
        robot.load(ag.Contact(arm.section(0.25), obstacle, 1e2, radius=0.03, friction=0.2))
        system = ag.Model(robot)
        assert bool(system.tree.flat[0]) == (not extra)
        labels = robot.coordinates()
        inside = [labels.index(x) for x in ("hub.angle", *(f"arm.bend_z[{k}]" for k in range(3)), "arm.stretch[0]")]
        q, v, a = np.zeros((3, len(labels)))
        q[inside], v[inside], a[inside] = [-0.05, -0.6, 0.4, 0.2, 0.01], [1.0, 0.5, -1.0, 2.0, 0.1], [3.0, 1, 1, -2, 0]
        run = ag.Trajectory(robot, system, None, np.zeros(1), q[None], v[None], a[None])
        K = system.tangent(q, v, a, alpha=20.0, beta=300.0)
        forces = [run.exerted(load).force[0] for load in robot.loads]
        pieces.append((system.residual(q, v, a)[inside], K[np.ix_(inside, inside)], *forces))
        assert all(np.linalg.norm(f) > 0.1 for f in forces)
    for flat, space in zip(*pieces, strict=True):
        np.testing.assert_allclose(flat, space, atol=1e-10 * np.abs(space).max())


def test_gradients_go_through_contact():
    """Where a tip ends that a tendon pulls against a wall, by the adjoint and by differences."""
    robot = ag.Robot("arm", gravity=(0, 0, -G))
    rod = ag.Rod(0.3, ag.Circle(RADIUS), RUBBER, ag.Strains(bend_y=3, bend_z=2), intervals=10)
    arm = robot.add(rod, at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.008)))
    wall = robot.load(ag.Contact(arm, ag.HalfSpace((0, -1, 0.1), -0.02), 500.0, damping=1.0, friction=0.4, slip=0.05))
    cost = ag.Reach(arm.tip, (0.2, 0.1, -0.1))
    tension = np.linspace(0.0, 3.0, 41)
    move = lambda u: ag.simulate(
        robot, duration=0.2, dt=5e-3, inputs={"pull": ag.Sampled(u, 5e-3)}, smooth_start=False, tolerance=1e-12
    )
    run = move(tension)
    assert run.depth(wall).max() > 2e-3
    found = ag.gradient(run, cost)
    for k in (5, 20, 30, 38):
        step = 1e-4 * np.eye(41)[k]
        high, low = (ag.gradient(move(tension + s * step), cost).value for s in (1, -1))
        assert found.inputs["pull"][k] == pytest.approx((high - low) / 2e-4, rel=1e-5, abs=1e-9)
