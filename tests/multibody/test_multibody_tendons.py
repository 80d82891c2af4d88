"""Tendons and chambers against the pointwise balance of a rod, quadrature and virtual work."""

from itertools import pairwise

import numpy as np
import pytest
from multibody_oracles import tendon_shape

import anguilla as ag
from anguilla.view.scene import scene

# The beam of 000, test 1, one hundred times softer; R_b is a radius (errata).
LENGTH, RADIUS, YOUNG, POISSON = 1.0, 0.01, 1e6, 0.3
SECOND = np.pi * RADIUS**4 / 4.0
STIFFNESS = np.array([YOUNG / (2.0 * (1.0 + POISSON)) * 2.0 * SECOND, YOUNG * SECOND, YOUNG * SECOND])
HALF = RADIUS / 2.0
AXIS = HALF * np.array([0.0, 1.0, 1.0]) / np.sqrt(2.0)
MATERIAL = ag.Material(young=YOUNG, poisson=POISSON, density=1000.0)
STEP = ag.PiecewiseConstant((0.5,))


def flat(y, slope):
    return lambda X: (np.array([0.0, y(X), 0.0]), np.array([0.0, slope(X), 0.0]))


def spiral(X):
    s, c = HALF * np.sin(2.0 * np.pi * X), HALF * np.cos(2.0 * np.pi * X)
    return np.array([0.0, s, c]), 2.0 * np.pi * np.array([0.0, c, -s])


# Table I: (routing here, span, strains, intervals, routing of the other solution).
SMOOTH = ag.kirchhoff(10)
TABLE = {
    "parallel": (ag.parallel(y=AXIS[1], z=AXIS[2]), None, SMOOTH, 64, lambda X: (AXIS, np.zeros(3))),
    "convergent": (
        ag.convergent((HALF, 0.0), (0.0, 0.0), LENGTH), None, SMOOTH, 64, flat(lambda X: HALF * (1 - X), lambda X: -HALF)
    ),
    "cross": (
        ag.convergent((HALF, 0.0), (-HALF, 0.0), LENGTH), None, SMOOTH, 64,
        flat(lambda X: HALF * (1 - 2 * X), lambda X: -2 * HALF),
    ),
    # (sin, cos) is a helix that starts on z and turns towards y: left-handed.
    "spiral": (ag.helical(HALF, -1.0, np.pi / 2.0), None, ag.kirchhoff(12), 120, spiral),
    "truncated": (
        ag.parallel(y=HALF), (0.0, 0.5), ag.Strains(twist=STEP, bend_y=STEP, bend_z=STEP), 64,
        flat(lambda X: HALF, lambda X: 0.0),
    ),
}  # fmt: skip


def beam(strains=SMOOTH, intervals=64, gravity=(0.0, 0.0, 0.0)):
    robot = ag.Robot("beam", gravity=gravity)
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), MATERIAL, strains, intervals=intervals)
    return robot, robot.add(rod, at=robot.ground, name="beam")


SOLVED = {
    "statics": lambda robot, inputs: ag.statics(robot, inputs=inputs),
    "simulate": lambda robot, inputs: ag.simulate(robot, duration=0.02, dt=0.01, inputs=inputs),
    "simulate, a function": lambda robot, inputs: ag.simulate(
        robot, duration=0.02, dt=0.01, inputs={name: lambda t, length=length: length for name, length in inputs.items()}
    ),
}


@pytest.mark.parametrize("solve", SOLVED.values(), ids=SOLVED)
def test_a_length_in_millimetres_is_told_once(solve):
    robot, rod = beam(ag.planar(2), 8)
    robot.actuate("line", ag.Tendon(rod, ag.parallel(y=HALF), by="length"))
    solve(robot, {"line": 1.5})  # let out: nothing to tell
    with pytest.warns(
        ag.AnguillaWarning, match=r"'line' is a length of 995 m .* millimetres\? 995 mm are 0.995 m"
    ) as told:
        solve(robot, {"line": 995.0})
    assert len(told) == 1


@pytest.mark.parametrize("tension", [2.0, 5.0])
@pytest.mark.parametrize("name", TABLE)
def test_table_1_of_paper_000(name, tension):
    routing, span, strains, intervals, other = TABLE[name]
    robot, arm = beam(strains, intervals)
    robot.actuate("pull", ag.Tendon(arm, routing, span=span))
    eq = ag.statics(robot, inputs={"pull": tension})
    X = np.linspace(0.0, LENGTH, 9)
    places, K = tendon_shape(STIFFNESS, tension, other, LENGTH, X, span)
    np.testing.assert_allclose(eq.centerline(arm, 9), places, atol=1e-6)
    np.testing.assert_allclose(eq.strain(arm, X)[:, :3], K, atol=2e-4 * max(1.0, np.abs(K).max()))


def test_parallel_tendon_makes_a_circle():
    robot, arm = beam(ag.kirchhoff(3), 8)
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.004, z=0.003)))
    eq = ag.statics(robot, inputs={"pull": 2.0})
    K = 2.0 * np.array([0.0, -0.003, 0.004]) / (YOUNG * SECOND)  # it bends towards the tendon
    np.testing.assert_allclose(eq.strain(arm)[:, :3], np.tile(K, (60, 1)), atol=1e-9)
    size = np.linalg.norm(K)
    aside = np.cross(K, [1.0, 0.0, 0.0]) / size
    exact = (np.sin(size) * np.array([1.0, 0.0, 0.0]) + (1.0 - np.cos(size)) * aside) / size
    np.testing.assert_allclose(eq.position(arm.tip), exact, atol=1e-8)
    assert eq.position(arm.tip) @ [0.0, 0.004, 0.003] > 0.0


def spiral_error(modes, intervals, tension=3.0):
    routing, _, _, _, other = TABLE["spiral"]
    robot, arm = beam(ag.kirchhoff(modes), intervals)
    robot.actuate("pull", ag.Tendon(arm, routing))
    exact = tendon_shape(STIFFNESS, tension, other, LENGTH, np.array([LENGTH]))[0][-1]
    return np.linalg.norm(ag.statics(robot, inputs={"pull": tension}).position(arm.tip) - exact)


def test_error_of_the_intervals_is_of_fourth_order():
    errors = [spiral_error(12, intervals) for intervals in (16, 32, 64)]
    assert errors[-1] < 2e-6
    assert all(a / b > 12.0 for a, b in pairwise(errors))


def test_error_of_the_modes_falls_fast():
    errors = [spiral_error(modes, 64) for modes in (3, 5, 7, 9)]
    assert all(a / b > 5.0 for a, b in pairwise(errors))
    assert errors[1] < 4e-3


def turns_error(turns):
    """How far the intervals taken by default are from many, for a helix of so many turns."""
    tips = []
    for intervals in (None, 200):
        robot, arm = beam(ag.kirchhoff(5), intervals)
        robot.actuate("pull", ag.Tendon(arm, ag.helical(HALF, LENGTH / turns)))
        tips.append(ag.statics(robot, inputs={"pull": 3.0}).position(arm.tip))
    return np.linalg.norm(tips[0] - tips[1])


def test_default_intervals_suffice_for_one_turn():
    assert turns_error(1) < 2e-3


@pytest.mark.parametrize("turns", [4, 10, 20])
def test_default_intervals_suffice_for_many_turns(turns):
    assert turns_error(turns) < 2e-3


# Length, actuation matrix, virtual work -------------------------------------------------------------------------------


def two_rods(strains=None, intervals=24):
    robot = ag.Robot("two", gravity=(0.0, 0.0, 0.0))
    strains = strains or ag.reissner(3)
    rods, at = [], robot.ground
    for length in (0.5, 0.4):
        rods.append(robot.add(ag.Rod(length, ag.Circle(RADIUS), MATERIAL, strains, intervals=intervals), at=at))
        at = rods[-1].tip
    a, b = rods
    robot.actuate("parallel", ag.Tendon(rods, ag.parallel(y=0.008, z=0.002)))
    robot.actuate("helix", ag.Tendon(a, ag.helical(0.007, 0.3, 0.3)))
    robot.actuate(
        "short", ag.Tendon(rods, (ag.parallel(z=0.005), ag.convergent((0, 0.005), (0.004, 0), 0.4)), (0, 0.23))
    )
    robot.actuate("middle", ag.Tendon(b, ag.parallel(z=-0.005), span=(0.11, 0.3)))
    robot.actuate("chamber", ag.Chamber(b, ag.convergent((0.005, 0), (0, 0.004), 0.4), area=1e-5))
    kinked = ag.FunctionRouting(function=lambda X: (0.004 + 0.01 * abs(X - 0.2), 0.0), breakpoints=(0.2,))
    robot.actuate("function", ag.Tendon(a, kinked))
    return robot, a, b


INPUTS = dict(parallel=1.0, helix=0.5, short=0.7, middle=0.9, chamber=3e4, function=0.4)


def chain(tube, routing, low, high):
    """Length [m] of a chain of points on the routing, in world axes: no strain enters."""
    inside = (tube.X > low - 1e-9) & (tube.X < high + 1e-9)
    D = routing.offset(tube.X[inside])
    world = tube.position[0][inside] + np.einsum("mij,mj->mi", tube.rotation[0][inside], D)
    return np.linalg.norm(np.diff(world, axis=0), axis=1).sum()


def test_length_is_that_of_the_line_in_space():
    robot, a, _ = two_rods(ag.kirchhoff(3))
    eq = ag.statics(robot, inputs=INPUTS)
    tubes = scene(eq, sections=401).tubes
    for name in ("parallel", "helix", "short", "middle"):
        stretches = robot.actuators[name].stretches
        expected = sum(chain(tubes[rod is not a], routing, *span) for rod, routing, *span in stretches)
        assert eq.length(name) == pytest.approx(expected, rel=3e-6)


def test_length_of_a_straight_rod():
    robot, _, _ = two_rods()
    system = ag.Model(robot)
    eq = ag.Equilibrium(robot, system, None, np.zeros(1), *np.zeros((3, 1, system.size)))
    assert eq.length("parallel") == pytest.approx(0.9, rel=1e-14)
    assert eq.length("middle") == pytest.approx(0.19, rel=1e-14)
    assert eq.length("helix") == pytest.approx(0.5 * np.hypot(1.0, 0.007 * 2.0 * np.pi / 0.3), rel=1e-14)
    assert eq.length("chamber") == pytest.approx(0.4 * np.sqrt(1.0 + (0.005**2 + 0.004**2) / 0.4**2), rel=1e-14)
    assert eq.length("function") == pytest.approx(0.5 * np.hypot(1.0, 0.01), rel=1e-9)


def states(robot, q):
    """Results at given coordinates (nt, n)."""
    q = np.atleast_2d(q)
    return ag.Trajectory(robot, ag.Model(robot), None, np.arange(len(q)) * 1.0, q, 0 * q, 0 * q)


def test_actuation_is_minus_the_slope_of_the_length():
    robot, _, _ = two_rods(ag.reissner(2), 8)
    system = ag.Model(robot)
    q = 0.2 * np.random.default_rng(1).normal(size=system.size) / system.tree.scale
    given = states(robot, q).actuation()[0]
    steps = 1e-3 * np.diag(1.0 / system.tree.scale)
    run = states(robot, np.concatenate([q + k * steps for k in (1, -1, 2, -2)]))
    for k, (name, actuator) in enumerate(robot.actuators.items()):
        plus, minus, plus2, minus2 = run.length(name).reshape(4, -1)
        slope = (8.0 * (plus - minus) - (plus2 - minus2)) / 0.012  # per scaled coordinate
        gain = actuator.tension_per_input
        np.testing.assert_allclose(given[:, k] / system.tree.scale, -gain * slope, atol=1e-10 * abs(gain))


def test_actuation_is_the_residual_per_input():
    """-dR/du; the residual takes two points an interval, the matrix many more."""
    robot, _, _ = two_rods(intervals=48)
    system = ag.Model(robot)
    q = 0.2 * np.random.default_rng(2).normal(size=system.size) / system.tree.scale
    given = states(robot, q).actuation()[0]
    for k, name in enumerate(robot.actuators):
        change = system.residual(q) - system.residual(q, inputs={name: 1.0})
        size = np.abs(given[:, k] / system.tree.scale).max()
        np.testing.assert_allclose(change / system.tree.scale, given[:, k] / system.tree.scale, atol=2e-6 * size)


def test_equilibrium_balances_stiffness_and_tension():
    """000 (59): K q = L(q) T."""
    robot, _, _ = two_rods(intervals=64)
    eq = ag.statics(robot, inputs=INPUTS)
    pull = eq.actuation() @ np.array([INPUTS[name] for name in robot.actuators])
    gap = (eq.system.elastic_stiffness() @ eq.q - pull) / eq.system.tree.scale
    assert np.abs(gap).max() < 1e-6 * np.abs(pull / eq.system.tree.scale).max()


def test_work_of_a_tendon_becomes_energy():
    """A slow pull: the work of the tension along its shortening is the elastic energy."""
    robot, arm = beam(ag.kirchhoff(4), 16)
    robot.actuate("pull", ag.Tendon(arm, ag.helical(HALF, 1.0)))
    nodes, weights = np.polynomial.legendre.leggauss(6)
    # integral of T dl = T l - integral of l dT
    tensions = 1.5 * (1.0 + nodes)
    lengths = [ag.statics(robot, inputs={"pull": float(T)}).length("pull") for T in tensions]
    end = ag.statics(robot, inputs={"pull": 3.0})
    work = -(3.0 * end.length("pull") - 1.5 * weights @ lengths)
    assert end.energy["elastic"] == pytest.approx(work, rel=1e-4)


def test_input_power_of_a_moving_arm():
    robot, arm = beam(ag.kirchhoff(3), 12)
    robot.actuate("pull", ag.Tendon(arm, ag.convergent((HALF, 0.0), (0.0, HALF), LENGTH)))
    tension = lambda t: 2.0 * np.sin(3.0 * t) ** 2
    run = ag.simulate(robot, duration=1.0, dt=1e-3, inputs={"pull": tension}, method=ag.Midpoint(), tolerance=1e-10)
    length = run.length("pull")
    T = np.array([tension(t) for t in run.t])
    work = -np.concatenate([[0.0], np.cumsum(0.5 * (T[1:] + T[:-1]) * np.diff(length))])
    np.testing.assert_allclose(run.energy["total"], work, atol=2e-4 * np.ptp(work))


@pytest.mark.filterwarnings("ignore:.*too few modes")
def test_rod_in_two_with_one_tendon_is_one_rod():
    strains = lambda n: ag.Strains(bend_y=ag.PiecewiseConstant(n), bend_z=ag.PiecewiseConstant(n))
    one, arm = beam(strains(2), 16, gravity=(0.0, 0.0, -0.5))
    one.actuate("pull", ag.Tendon(arm, ag.parallel(y=HALF)))
    two = ag.Robot("two", gravity=(0.0, 0.0, -0.5))
    half = ag.Rod(LENGTH / 2, ag.Circle(RADIUS), MATERIAL, strains(1), intervals=8)
    first = two.add(half, at=two.ground)
    second = two.add(half, at=first.tip)
    two.actuate("pull", ag.Tendon((first, second), ag.parallel(y=HALF)))
    a, b = (ag.statics(robot, inputs={"pull": 3.0}) for robot in (one, two))
    np.testing.assert_allclose(a.position(arm.tip), b.position(second.tip), atol=1e-9)
    assert a.length("pull") == pytest.approx(b.length("pull"), rel=1e-9)


# Stretch and chambers -------------------------------------------------------------------------------------------------


def test_chamber_elongates_and_tendon_shortens():
    area, rod_area = 5e-5, np.pi * RADIUS**2
    robot, arm = beam(ag.Strains(bend_z=1, stretch=1), 8)
    robot.actuate("air", ag.Chamber(arm, ag.parallel(), area=area))
    robot.actuate("pull", ag.Tendon(arm, ag.parallel()))
    inflated = ag.statics(robot, inputs={"air": 2e4})
    assert inflated.position(arm.tip)[0] == pytest.approx(LENGTH * (1.0 + 2e4 * area / (YOUNG * rod_area)), rel=1e-10)
    assert inflated.length("air") == pytest.approx(inflated.position(arm.tip)[0], rel=1e-10)
    pulled = ag.statics(robot, inputs={"pull": 3.0})
    assert pulled.position(arm.tip)[0] == pytest.approx(LENGTH * (1.0 - 3.0 / (YOUNG * rod_area)), rel=1e-10)
    both = ag.statics(robot, inputs={"pull": 1.0, "air": 1.0 / area})
    assert both.position(arm.tip)[0] == pytest.approx(LENGTH, rel=1e-10)


def test_chamber_bends_away_from_itself():
    robot, arm = beam(ag.kirchhoff(1), 8)
    robot.actuate("air", ag.Chamber(arm, ag.parallel(y=HALF), area=5e-5))
    eq = ag.statics(robot, inputs={"air": 2e4})
    assert eq.position(arm.tip)[1] < 0.0
    assert eq.strain(arm, [0.5])[0, 2] == pytest.approx(-2e4 * 5e-5 * HALF / (YOUNG * SECOND), rel=1e-9)


def test_tension_inside_an_extensible_rod():
    """000 (14): pointwise, the rod carries minus the tension; a bent rod keeps the direction of the tendon."""
    robot, arm = beam(ag.reissner(4), 64)
    robot.actuate("pull", ag.Tendon(arm, ag.convergent((HALF, 0.0), (0.0, HALF), LENGTH)))
    eq = ag.statics(robot, inputs={"pull": 2.0})
    X = np.linspace(0.1, 0.9, 9)
    xi, D, slope = eq.strain(arm, X), np.zeros((9, 3)), np.zeros((9, 3))
    D[:, 1], D[:, 2], slope[:, 1], slope[:, 2] = HALF * (1 - X), HALF * X, -HALF, HALF
    line = xi[:, 3:] + np.cross(xi[:, :3], D) + slope
    t = line / np.linalg.norm(line, axis=1)[:, None]
    stress = arm.rod.hooke(X) * (xi - [0, 0, 0, 1, 0, 0])
    np.testing.assert_allclose(stress[:, 3:], -2.0 * t, atol=2e-5)
    np.testing.assert_allclose(stress[:, :3], -2.0 * np.cross(D, t), atol=2e-7)
    np.testing.assert_allclose(eq.wrench(arm, X), 0.0, atol=1e-10)  # rod and tendon together carry nothing


def test_a_line_whose_guides_meet_at_a_joint_bends_both_rods():
    """At the joint the line has no length and pulls in no direction; along each rod the curvature is T z / E I."""
    robot = ag.Robot("two", gravity=(0, 0, 0))
    material, tension, offset = ag.Material(young=2e5, density=1000.0), 8.0, 0.03
    first = robot.add(ag.Rod(0.45, ag.Circle(0.04), material, ag.kirchhoff(2)), at=robot.ground)
    rod = ag.Rod(0.5, ag.Circle(0.05), material, ag.kirchhoff(2))
    second = robot.add(rod, at=first.tip, joint=ag.Prismatic("x", stiffness=2000.0, damping=1.0))
    robot.actuate("through", ag.Tendon((first, second), ag.parallel(z=offset)))
    held = ag.statics(robot, inputs={"through": tension})
    for part, radius in ((first, 0.04), (second, 0.05)):
        curvature = -tension * offset / (2e5 * np.pi * radius**4 / 4.0)
        np.testing.assert_allclose(held.strain(part)[:, 1], curvature, rtol=1e-9)
    run = ag.simulate(robot, duration=0.02, dt=1e-3, start=held, inputs={"through": tension})
    assert np.abs(run.q - held.q).max() < 1e-6
