"""The derivative of the end conditions, by the tangent initial-value problems, against differences."""

import numpy as np
import pytest
from shooting_cases import loose_robot, swimmer_robot

import anguilla as ag
from anguilla.shooting.loop import Loop
from anguilla.shooting.problem import BoundaryProblem, flat, square


def check(problem, u, size=5e-7):
    """Columns against differences of fourth order, in natural units.

    The tangent is that of the continuous equations: it differs from that of the discrete ones by O(h^6).
    """
    rows, cols = problem.units
    assert problem.evaluate(u, True)
    exact = problem.matrix(u)
    exact = (exact if isinstance(exact, np.ndarray) else exact.toarray()) * cols / rows[:, None]

    def residual(k, factor):
        step = np.zeros(problem.size)
        step[k] = factor * size * cols[k]
        assert problem.evaluate(problem.move(u, step), False)
        return problem.residual / rows

    for k in range(0, problem.size, 5):  # 5 and the 6 components of a block have no common divisor
        column = (8 * (residual(k, 1) - residual(k, -1)) - (residual(k, 2) - residual(k, -2))) / (12 * size)
        assert np.max(np.abs(column - exact[:, k])) < 3e-5 * max(1.0, np.max(np.abs(exact[:, k]))), k


@pytest.mark.parametrize("ball", [True, False])
def test_statics_with_joints_bodies_tendons_and_loops(ball):
    robot, ties = loose_robot(ball=ball)
    problem = BoundaryProblem(robot, shoots=2, intervals=24, ties=ties)
    problem.load(0.0, {"pull": 2.0})
    problem.soft = 0.3
    step = 0.3 * np.random.default_rng(1).standard_normal(problem.size) * problem.units[1]
    u = problem.move(problem.rest_guess(), step)
    for _ in range(problem.count):  # close the gaps between segments, from the root on
        assert problem.evaluate(u, False)
        for s, parent in enumerate(problem.nodes.parent):
            before = np.eye(4) if parent < 0 else square(problem.end[parent])
            u.start[s, :12] = flat(before @ square(problem.nodes.place[s]))
    check(problem, u)


@pytest.mark.parametrize("full", [True, False])
def test_dynamics_of_a_manipulator(full):
    robot, _ = loose_robot(moving=True)
    problem = BoundaryProblem(robot, shoots=2, intervals=24, moving=True)
    loop = Loop(problem, 0.01, ag.Newmark(), full, {"pull": lambda t: 200 * t}, 1e-10, 20)
    loop.begin(None)
    for _ in range(3):
        assert loop.advance() == ""
    check(problem, loop.u)


def test_dynamics_of_a_swimmer():
    robot, _, added, stress = swimmer_robot()
    problem = BoundaryProblem(robot, shoots=3, intervals=24, moving=True, added=added, stress=stress)
    loop = Loop(problem, 0.02, ag.Newmark(), True, None, 1e-10, 20)
    loop.begin(None)
    for _ in range(8):
        assert loop.advance() == ""
    assert np.linalg.norm(problem.end[0, 12:18]) > 1e-3
    check(problem, loop.u)
