"""Newton's method and continuation, on problems whose solutions are known."""

import math
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

import anguilla as ag
from anguilla.solve.newton import newton
from anguilla.solve.newton.continuation import Attempt, Continuation, counted, halted
from anguilla.solve.newton.method import KeptSolver, Newton
from anguilla.solve.newton.rules import CONVERGED, DIVERGED, NOT_FINITE, SINGULAR, TOO_MANY_ITERATIONS, converged


@dataclass
class Scalar:
    """f(x) = 0 for a number."""

    f: object
    slope: object
    reach: float = np.inf
    noise: float = 0.0
    evaluations: list = field(default_factory=list)

    def evaluate(self, x):
        value = self.f(x)
        self.evaluations.append(x)
        return (x, value) if np.isfinite(value) else None

    def factorise(self, at):
        slope = self.slope(at[0])
        return None if slope == 0.0 else lambda now: -now[1] / slope

    def measure(self, at, step):
        return max(abs(step), self.noise), abs(step)

    def move(self, at, step, part):
        return at[0] + part * step

    def improves(self, at, new, step, part, near):
        return near or abs(new[1]) < abs(at[1])


def square(goal=2.0, **options):
    return Scalar(lambda x: x * x - goal, lambda x: 2.0 * x, **options)


def test_the_root_is_found_and_the_error_is_below_the_tolerance():
    for tolerance in (1e-3, 1e-6, 1e-10):
        out = Newton(tolerance, 20).solve(square(), 3.0)
        assert out.status == CONVERGED
        assert abs(out.x - math.sqrt(2.0)) < tolerance


def test_corrections_that_overshoot_are_halved():
    """The arc tangent sends plain Newton away from anywhere beyond 1.39."""
    memory = KeptSolver()
    problem = Scalar(math.atan, lambda x: 1.0 / (1.0 + x * x))
    out = Newton(1e-10, 30).solve(problem, 5.0, memory)
    assert out.status == CONVERGED
    assert abs(out.x) < 1e-9
    assert memory.halvings > 0


def test_a_correction_reaches_no_further_than_it_may():
    problem = square(goal=1e6, reach=10.0)
    out = Newton(1e-8, 200).solve(problem, 1.0)
    assert out.status == CONVERGED and out.x == pytest.approx(1000.0)
    assert np.max(np.abs(np.diff(problem.evaluations))) <= 10.0 + 1e-9


def test_a_chord_factors_less_often_and_ends_as_exactly():
    newton, chord = Newton(1e-10, 40), Newton(1e-10, 40, chord=True)
    full, kept = KeptSolver(), KeptSolver()
    for goal in np.linspace(2.0, 2.1, 11):
        x = newton.solve(square(goal), 1.4, full).x
        y = chord.solve(square(goal), 1.4, kept).x
        assert abs(x - math.sqrt(goal)) < 1e-10
        assert abs(y - math.sqrt(goal)) < 1e-10
    assert kept.factorisations < 0.5 * full.factorisations


@pytest.mark.parametrize(
    ("problem", "start", "status"),
    [
        (square(), 0.0, SINGULAR),
        (Scalar(lambda x: math.nan, lambda x: 1.0), 1.0, NOT_FINITE),
        (Scalar(lambda x: x - 1.0 if x < 0.5 else math.inf, lambda x: 1e-30), 0.0, NOT_FINITE),
        (Scalar(lambda x: x * x + 1.0, lambda x: 2.0 * x or 1e-300), 1e-3, DIVERGED),
        (Scalar(lambda x: math.copysign(abs(x) ** 0.99, x), lambda x: 3.0), 1.0, TOO_MANY_ITERATIONS),
    ],
)
def test_failures_say_why(problem, start, status):
    assert Newton(1e-10, 10).solve(problem, start).status == status


def test_corrections_that_are_round_off_end_it():
    """A problem whose corrections stay at 1e-11 has converged though 1e-12 was asked for, one that stays at 1e-6 has not."""
    for noise, status in ((1e-11, CONVERGED), (1e-6, DIVERGED)):
        assert Newton(1e-12, 15).solve(square(noise=noise), 1.5).status == status


def test_a_huge_correction_does_not_tell_of_the_next():
    assert converged(1e-6, 1e-3, 1e-3, 1e-8)
    assert not converged(1e-6, 1e3, 1e-9, 1e-8)
    assert not converged(1e-6, 1e-6, 0.95, 1e-8)


def follow(continuation, fails, iterations=3):
    """Follow x = factor; (what was asked for, what was reached)."""
    asked = []

    def solve(start, last, goal):
        asked.append((start, goal))
        return Attempt(goal, DIVERGED if fails(start, goal) else CONVERGED, iterations)

    return asked, continuation.follow(0.0, solve, lambda before, now, ratio: now + ratio * (now - before))


def test_steps_grow_and_starts_are_extrapolated():
    asked, found = follow(Continuation(), lambda start, goal: False)
    assert [goal for _, goal in asked] == [0.125, 0.375, 0.875, 1.0]
    assert [start for start, _ in asked] == pytest.approx(
        [0.0, 0.375, 0.875, 1.0]
    )  # the first one has no line to follow
    assert (found.x, found.factor, found.steps, found.status) == (1.0, 1.0, 5, CONVERGED)


def test_hard_steps_do_not_grow():
    asked, _ = follow(Continuation(), lambda start, goal: False, iterations=7)
    assert len(asked) == 8


def test_steps_are_halved_and_given_up():
    asked, found = follow(Continuation(), lambda start, goal: goal > 0.3)
    assert found.status == DIVERGED
    assert 0.3 - 2e-5 < found.factor <= 0.3
    assert len(asked) < 60
    assert halted(found.factor, "why") == "stopped at 0.3 of the load: why"


def test_a_far_solution_is_refused_and_said():
    found = Continuation(smallest=0.01).follow(0.0, lambda s, x, goal: Attempt(goal, CONVERGED, 1, "too far"), None)
    assert (found.factor, found.far, found.status) == (0.0, "too far", CONVERGED)


def test_extrapolated_starts_that_fail_are_tried_from_the_last_solution():
    astray = lambda start, goal: start > 0.3
    asked, found = follow(Continuation(again=True), astray)
    assert found.factor < 1.0  # in the end the last solution is beyond 0.3 itself
    assert (0.375, 0.375) in [(round(s, 9), round(g, 9)) for s, g in asked]
    assert (0.125, 0.375) in asked


def test_words():
    assert counted(5, 1) == "converged in 5 iterations, 1 load increment"
    assert counted(50, 3) == "converged in 50 iterations, 3 load increments"


@pytest.mark.parametrize(("answer", "mark"), [(0, 1.0), (1, 0.0), (-1, 0.0)])
def test_factors_of_a_large_robot_are_usable_if_its_solver_says_so(answer, mark, monkeypatch):
    """The mark is 1, which is what Newton asks for."""
    for name in ("linearise", "_weigh_multipliers"):
        monkeypatch.setattr(newton, name, lambda *_: None)
    monkeypatch.setattr(newton, "ask", lambda _: answer)
    blocks = SimpleNamespace(held=np.zeros(1), good=np.zeros(1), at=())
    scratch = SimpleNamespace(q=np.zeros(2), d=np.zeros(2), blocks=blocks, memory=np.full(10, np.nan), question=[7])
    getattr(newton.renew_blocks, "py_func", newton.renew_blocks)(None, None, None, scratch, 1.0, 1.0)
    assert scratch.memory[newton.USABLE] == mark


@pytest.mark.parametrize("place", [0.1, 0.6])
def test_a_kept_tangent_tells_what_part_each_correction_leaves(place):
    """Of a pendulum on a spring: that by which the tangent of another place differs from the one where it balances."""
    robot = ag.Robot("pendulum", gravity=(0, -9.81, 0))
    bob, hinge = ag.RigidBody(0.5, com=(0.3, 0.0, 0.0)), ag.Revolute((0, 0, 1), stiffness=2.0)
    robot.add(bob, at=robot.ground, joint=hinge)
    model = ag.Model(robot)
    s, loads, root = newton.scratch(model), model.loads(0.0, {}).loads, ag.statics(model).q[0]
    s.q0[0] = root + place
    for way, allowed in ((0.0, 1e3), (-place - 1e-3, 1e-9)):  # the first takes its tangent there, and is content
        s.d[0], goal = way, newton.Goal(0.0, allowed, 20, True, 99.0)
        status = newton.newton(model.tree, model.workspace, loads, s, (1.0, 0.0, 0.0), goal, True)
        assert status == CONVERGED
    assert s.counters[newton.FACTORISATIONS] == 1
    assert s.q0[0] + s.d[0] == pytest.approx(root, abs=1e-9)
    there, here = (model.tangent([q])[0, 0] for q in (s.q0[0], root))
    assert s.memory[newton.CONTRACTION] == pytest.approx(abs(1.0 - here / there), rel=0.02)


def test_a_large_robot_goes_back_from_where_an_old_tangent_led_it_astray():
    """A pendulum 0.3 rad from where it hangs, with the small stiffness of when it was almost level: it would turn over."""
    robot = ag.Robot("many", gravity=(0, -9.81, 0))
    robot.add(ag.RigidBody(0.5, com=(0.3, 0.0, 0.0)), at=robot.ground, joint=ag.Revolute((0, 0, 1)))
    for _ in range(newton.TREES):
        robot.add(ag.RigidBody(0.5), at=robot.ground, joint=ag.Prismatic((1, 0, 0), stiffness=10.0))
    model = ag.Model(robot, "dense")
    s, loads = newton.scratch(model), model.loads(0.0, {}).loads
    for start, allowed in ((-np.pi + 0.2, 1e3), (-0.5 * np.pi + 0.3, 1e-9)):  # the first takes its tangent there
        s.d[:], s.d[0], goal = 0.0, start, newton.Goal(0.0, allowed, 20, True, 99.0)
        status = newton.newton(model.tree, model.workspace, loads, s, (1.0, 0.0, 0.0), goal, True)
        assert status == CONVERGED
    assert s.counters[newton.FACTORISATIONS] > 1
    assert s.d[0] == pytest.approx(-0.5 * np.pi, abs=1e-8)


def test_patterns_of_slack_tendons_are_told_apart_however_many_there_are():
    """One that changes is seen whatever the others do: the first of 70 were lost beside the last, which counted 2^69."""
    table = np.full((70, newton.KIND + 1), newton.LENGTH)

    def told(slack):
        return newton._slacks(SimpleNamespace(constraints=SimpleNamespace(table=table, slack=slack)))

    for pattern in (np.zeros(70), np.ones(70), np.arange(70.0) % 2.0, np.arange(70.0) // 35.0):
        numbers = {told(np.abs(pattern - change)) for change in np.eye(70)}
        assert len(numbers | {told(pattern)}) == 71
