"""The large robots of the examples, in a small size: two descriptions of a net, its symmetry, and what each robot shows."""

from itertools import pairwise

import numpy as np
import pytest
import script_modules

import anguilla as ag

net_module = script_modules.load("hanging_net")
SIDES = 3  # of the net that is written down in both ways


@pytest.fixture(scope="module")
def nets():
    """The same net with floating crossings and as a spanning tree, with their equilibria."""
    built = [net_module.build(SIDES, shallow=shallow) for shallow in (True, False)]
    return [(net, ag.statics(net.robot)) for net in built]


def knots_of(net, state, cells):
    """Positions (cells + 1, cells + 1, 3) [m] of the crossings."""
    across = range(cells + 1)
    return np.array([[net.place(state, (i, j)) for j in across] for i in across])


def test_floating_crossings_and_a_spanning_tree_are_the_same_net(nets):
    (shallow, one), (deep, two) = nets
    assert shallow.robot.size > deep.robot.size and len(shallow.robot.closures) > len(deep.robot.closures)
    a, b = (knots_of(net, state, SIDES) for net, state in nets)
    assert -a[..., 2].min() > 0.1 * net_module.SIDE
    np.testing.assert_allclose(a, b, atol=1e-9)
    for key, rod in list(shallow.rods.items())[::9]:
        np.testing.assert_allclose(one.centerline(rod, 5), two.centerline(deep.rods[key], 5), atol=1e-9)


def test_both_descriptions_move_alike():
    """They differ by the error of the steps alone, of second order: their coordinates are not the same."""
    gaps = []
    for dt in (4e-3, 2e-3):
        ends = []
        for shallow in (True, False):
            net = net_module.build(2, shallow=shallow)
            run = ag.simulate(net.robot, duration=0.1, dt=dt)
            ends.append(np.array([[net.place(run, (i, j))[-1] for j in range(3)] for i in range(3)]))
        assert np.abs(ends[0][1, 1, 2]) > 0.02
        gaps.append(np.abs(ends[0] - ends[1]).max())
    assert gaps[0] < 1e-4 and gaps[1] < gaps[0] / 3


def test_a_hanging_net_has_the_symmetry_of_a_square(nets):
    knots = knots_of(*nets[0], SIDES) - [net_module.SIDE / 2, net_module.SIDE / 2, 0]
    np.testing.assert_allclose(knots[::-1] * [-1, 1, 1], knots, atol=1e-9)
    np.testing.assert_allclose(knots[:, ::-1] * [1, -1, 1], knots, atol=1e-9)
    np.testing.assert_allclose(knots.transpose(1, 0, 2)[..., [1, 0, 2]], knots, atol=1e-9)


def test_the_corners_carry_the_net(nets):
    """Each corner a quarter of the weight, by symmetry; from the forces in the holds of the spanning tree."""
    net, state = nets[1]
    side, cells = net_module.SIDE, SIDES
    rods = 2 * (cells + 1) * side * net_module.DENSITY * np.pi * net_module.RADIUS**2
    weight = 9.81 * (rods + 2 * (cells + 1) ** 2 * net_module.CLAMP)
    for closure in net.robot.closures.values():
        if closure.name.startswith("hold"):
            force = state.pose(closure.b)[:3, :3] @ state.reaction(closure)[3:]
            assert abs(force[2]) == pytest.approx(weight / 4, rel=1e-7)


@pytest.mark.slow
@pytest.mark.xdist_group("grid_shell")
def test_the_grid_shell_rises_and_keeps_its_symmetry(example):
    shell = example("grid_shell").result
    assert np.all(np.diff(shell.top) > 0) and shell.top[-1] > 0.5 * 0.3 * 0.75
    places = lambda keys: np.array([shell.net.place(shell.risen[-1], key) for key in keys])
    keys = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (0, 1, "end"), (1, -1, "end"), (1, -1, "start")]
    knots = places(keys)
    mirrored = [(0, 0), (-1, 0), (1, 0), (0, 1), (0, -1), (0, 1, "start"), (1, 1, "end"), (1, 1, "start")]
    np.testing.assert_allclose(places(mirrored) * [-1, 1, 1], knots, atol=1e-8)
    turned = [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1, "end"), (0, -1, "end"), (0, -1, "start")]
    np.testing.assert_allclose(places(turned)[:, [1, 0, 2]], knots, atol=1e-8)


@pytest.mark.slow
@pytest.mark.xdist_group("grid_shell")
def test_a_lath_of_the_grid_shell_keeps_its_length_between_its_feet(example):
    ran = example("grid_shell")
    net, state = ran.result.net, ran.result.risen[-1]
    stops = [(0, 0, "start"), (-1, 0), (0, 0), (1, 0), (0, 0, "end")]
    rods = [net.rods[ends] for ends in pairwise(stops)]
    line = np.concatenate([state.centerline(rod, 60) for rod in rods])
    arc = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
    reach = ran.module.SPACING * 1.5
    assert arc == pytest.approx(2 * reach, rel=1e-3)
    chord = line[-1, 0] - line[0, 0]
    assert chord == pytest.approx(2 * (reach - (2 / 3) * ran.module.HEIGHT**2 * reach), rel=1e-9)


@pytest.mark.xdist_group("snake_vertebrae")
def test_the_snake_crawls_towards_its_head_and_lies_on_the_ground(example):
    ran = example("snake_vertebrae")
    snake = ran.result
    assert 0.05 < snake.way < ran.module.WAVE
    radius = ran.module.RADIUS
    assert np.all(np.abs(snake.line[..., 2] - radius) < 0.05 * radius)
    weight = 9.81 * ran.module.DENSITY * np.pi * radius**2 * ran.module.LENGTH
    lift = sum(snake.run.exerted(load).force[-50:, 2] for load in snake.run.robot.loads)
    np.testing.assert_allclose(lift, weight, rtol=0.02)


@pytest.mark.xdist_group("snake_vertebrae")
def test_the_work_of_the_snake_goes_into_friction(example):
    powers = ag.powers(example("snake_vertebrae").result.run)
    size = np.abs(powers.others).max()
    assert np.abs(powers.imbalance[2:]).max() < 1e-6 * size


@pytest.mark.xdist_group("disc_arm")
def test_discs_come_near_to_continuous_tendons_with_the_square_of_their_distance(example):
    arm = example("disc_arm").module
    smooth, tip = arm.continuous(gravity=(0, 0, 0))
    goal, gaps = ag.statics(smooth, inputs=arm.PULLS).position(tip), []
    for discs in (10, 20, 40):
        robot, bodies = arm.build(discs, gravity=(0, 0, 0))
        gaps.append(np.linalg.norm(ag.statics(robot, inputs=arm.PULLS).position(bodies[-1].frame) - goal))
    orders = np.log2(np.array(gaps[:-1]) / gaps[1:])
    assert gaps[-1] < 5e-3 * arm.LENGTH
    np.testing.assert_allclose(orders, 2.0, atol=0.15)
