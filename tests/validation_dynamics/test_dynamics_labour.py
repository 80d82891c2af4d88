"""What would hardly end is given up by its work, not by the clock, with a clear word: motions, their judge, and statics."""

from __future__ import annotations

import pytest

import anguilla as ag
from anguilla.lie import pose, rotation
from anguilla.solve.newton.continuation import Attempt, Continuation
from anguilla.solve.newton.newton import ITERATIONS
from anguilla.solve.newton.rules import CONVERGED, DIVERGED, ENDLESS
from anguilla.solve.statics import flow
from anguilla.solve.steps import pieces
from anguilla.solve.steps.motion import LEAST_AGAIN, OngoingMotion
from anguilla.solve.steps.pieces import CALMEST, FEW, LABOUR


def _flail() -> ag.Robot:
    """Two heavy and very soft rods without damping, let go straight and level: they whip, ever faster."""
    robot = ag.Robot("flail")
    soft = ag.Material(171200, 1101, poisson=0.5)
    hinge = ag.Universal(first=(1, 0, 0), second=(0, 0, 1), stiffness=(1092, 1092), rest=(-0.2467, -0.4362))
    first = robot.add(ag.Rod(1.261, ag.Ellipse(0.1158, 0.09509), soft, ag.kirchhoff(5)), at=robot.ground, joint=hinge)
    slide = ag.Cylindrical(axis=(1, 0, 0), stiffness=(33180, 6303))
    bends = ag.PiecewisePolynomial(1, degree=1)
    turned = pose(rotation((1, 0, 0), -1.475) @ rotation((0, 1, 0), 0.4158))
    whip = ag.Rod(1.821, ag.Circle(0.1158), soft, ag.Strains(bend_y=bends, bend_z=bends, twist=1))
    robot.add(whip, at=first.tip, joint=slide, pose=turned)
    return robot


def test_a_motion_in_endless_pieces_is_given_up() -> None:
    """Before, each step was cut into as many as 65,536 pieces, and the motion took a minute to end wrong."""
    robot = _flail()
    with pytest.raises(ag.SolverError, match=r"stopped at t = .*pieces.*try a dt like that") as caught:
        ag.simulate(robot, duration=49 * 0.09, dt=0.09)
    run = caught.value.result
    assert 0.0 < run.t[-1] < 49 * 0.09
    assert run.status.counters["iterations"] < LABOUR * FEW + 24 * CALMEST
    stepper = ag.Stepper(robot, dt=0.09)
    with pytest.raises(ag.SolverError, match="hardly end"):
        stepper.step(49)


def test_the_judge_works_no_more_than_the_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its windows are computed with steps twice as long, which may need more pieces than the motion itself."""
    seen = []
    plain = OngoingMotion.again
    monkeypatch.setattr(OngoingMotion, "again", lambda m, *given: seen.append(plain(m, *given)) or seen[-1])
    with pytest.warns(ag.AnguillaWarning):
        run = ag.simulate(_flail(), duration=6 * 0.09, dt=0.09)
    most = max(LEAST_AGAIN, run.status.counters["iterations"] // 4)
    assert seen
    for again in seen:
        assert again.allowed == most
        assert again.memory.counters[ITERATIONS] < 4 * most + 24 * CALMEST


def test_an_error_goal_that_would_hardly_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a hundredth of the work that is allowed."""
    monkeypatch.setattr(pieces, "CONTROLLED_LABOUR", pieces.CONTROLLED_LABOUR // 100)
    with pytest.raises(ag.SolverError, match="hardly end") as caught:
        ag.simulate(_flail(), duration=4.0, dt=1.0, error=1e-6)
    assert caught.value.result.status.counters["iterations"] < 50 * FEW + 12


def test_load_steps_that_would_hardly_end_are_given_up() -> None:
    """Newton that never takes more than 1e-4 of the load: 1,000 tries, not 16,000."""
    tried = []

    def newton(start: float, last: float, goal: float) -> Attempt[float]:
        tried.append(goal)
        return Attempt(goal, CONVERGED if goal - last < 1e-4 else DIVERGED, 40)

    found = Continuation().follow(0.0, newton, None)
    assert found.status == ENDLESS
    assert 0.0 < found.factor < 0.1
    assert len(tried) == Continuation().most == 1000


def test_a_flow_that_would_hardly_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """An arch of two rods; the same flow ends by itself with the tries that it is allowed."""
    robot = ag.Robot("arch")
    bent = ag.ConstantCurvature(bend_y=2.0)
    rod = ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000, poisson=0.45), ag.kirchhoff(2), bent)
    first = robot.add(rod, at=robot.ground)
    second = robot.add(rod, at=first.tip)
    robot.close(robot.ground, second.tip, joint=ag.Spherical(), pose=pose(p=(0.5, 0, 0)))
    ended = ag.statics(robot, method=ag.ProjectiveFlow(duration=0.02), raise_on_failure=False).status
    assert "still moves" in ended.message and ended.counters["steps"] > 20
    monkeypatch.setattr(flow, "MOST_STEPS", 1)
    with pytest.raises(ag.SolverError, match="steps too small to take"):
        ag.statics(robot, method=ag.ProjectiveFlow(duration=0.02))
