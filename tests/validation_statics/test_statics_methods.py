"""Newton, load increments and the damped flow reach the same equilibria; loads are taken at the given time."""

import numpy as np
import pytest
from statics_oracles import elastica_tip

import anguilla as ag

LENGTH, RADIUS, YOUNG = 0.5, 0.005, 1e6
EI = YOUNG * np.pi * RADIUS**4 / 4
MATERIAL = ag.Material(young=YOUNG, density=1000, poisson=0.45)


def loaded(strains, force, *, gravity=(0.0, 0.0, -9.81), intervals=40, follower=False):
    robot = ag.Robot(gravity=gravity)
    arm = robot.add(ag.Rod(LENGTH, ag.Circle(RADIUS), MATERIAL, strains, intervals=intervals), at=robot.ground)
    robot.load(ag.TipWrench(arm, force=force, follower=follower))
    return robot, arm


def plain_newton(system, iterations=40):
    """Undamped Newton from the rest shape at the full load; returns the coordinates, or None without convergence."""
    q = np.zeros(system.size)
    for _ in range(iterations):
        step = np.linalg.solve(system.tangent(q), -system.residual(q))
        q = q + step
        size = np.linalg.norm(step * system.tree.scale)
        if not size < 1e6:
            return None
        if size < 1e-10:
            return q
    return None


@pytest.mark.parametrize("follower", [False, True])
def test_flow_and_newton_agree(follower):
    robot, arm = loaded(ag.reissner(4), (0.0, 0.004, 0.002), follower=follower)
    newton = ag.statics(robot)
    flow = ag.statics(robot, method=ag.Flow())
    assert flow.status.success and flow.status.counters["steps"] == 200
    np.testing.assert_allclose(flow.position(arm.tip), newton.position(arm.tip), atol=1e-6 * LENGTH)
    scale = newton.system.tree.scale
    assert np.linalg.norm((flow.q - newton.q) * scale) < 1e-6


def test_flow_that_is_too_short_says_so():
    robot, _ = loaded(ag.reissner(4), (0.0, 0.004, 0.002))
    with pytest.raises(ag.SolverError, match="flow"):
        ag.statics(robot, method=ag.Flow(mu=1.0, dt=1e-3, steps=5))


@pytest.mark.parametrize("alpha", [10.0, 40.0])
def test_load_steps_succeed_where_plain_newton_fails(alpha):
    robot, arm = loaded(ag.planar(14), (0, alpha * EI / LENGTH**2, 0), gravity=(0, 0, 0), intervals=100)
    eq = ag.statics(robot)
    plain = plain_newton(ag.Model(robot))  # none, or by luck an equilibrium, of a small load the same one
    assert alpha < 20.0 or plain is None or np.linalg.norm((plain - eq.q) * eq.system.tree.scale) > 1.0
    steps = eq.status.counters["load_steps"]
    assert eq.status.success and steps > 1
    assert f"{steps} load increments" in eq.status.message
    np.testing.assert_allclose(eq.position(arm.tip)[:2] / LENGTH, elastica_tip(alpha)[:2], rtol=0, atol=1e-8)


def test_one_load_step_is_enough_for_a_light_load():
    robot, _ = loaded(ag.planar(4), (0, EI / LENGTH**2, 0), gravity=(0, 0, 0))
    assert ag.statics(robot).status.counters["load_steps"] == 1


def test_a_start_near_the_answer_needs_fewer_iterations():
    robot, arm = loaded(ag.planar(10), (0, 10 * EI / LENGTH**2, 0), gravity=(0, 0, 0))
    first = ag.statics(robot)
    again = ag.statics(robot, start=first)
    assert again.status.counters["iterations"] <= 2 < first.status.counters["iterations"]
    np.testing.assert_allclose(again.position(arm.tip), first.position(arm.tip), atol=1e-10)


def test_loads_are_taken_at_the_given_time():
    force = lambda t: (0.0, t * EI / LENGTH**2, 0.0)
    robot, arm = loaded(ag.planar(10), force, gravity=(0, 0, 0), intervals=120)
    for t in (0.0, 1.0, 2.0):
        eq = ag.statics(robot, t=t)
        exact = elastica_tip(t)[:2] if t else (1.0, 0.0)
        assert eq.t == t
        np.testing.assert_allclose(eq.position(arm.tip)[:2] / LENGTH, exact, atol=1e-8)
        np.testing.assert_allclose(eq.wrench(arm, [LENGTH / 2])[0, 3:] @ [0, 0, 1], 0, atol=1e-12)
        assert np.linalg.norm(eq.wrench(arm, [0.0])[0, 3:]) == pytest.approx(t * EI / LENGTH**2, abs=1e-14)


def test_time_dependent_gravity_is_taken_at_the_given_time():
    heavy, arm = loaded(ag.planar(5), (0, 0, 0), gravity=(0, -2.0, 0))
    swung, same = loaded(ag.planar(5), (0, 0, 0), gravity=lambda t: (0, -t, 0))
    tip = ag.statics(heavy).position(arm.tip)
    np.testing.assert_allclose(ag.statics(swung, t=2.0).position(same.tip), tip, atol=1e-12)


def test_failure_keeps_the_last_good_state():
    """A tendon that would press a rod to less than nothing."""
    robot = ag.Robot(gravity=(0, 0, 0))
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.03), MATERIAL, ag.extensible_kirchhoff(3)), at=robot.ground)
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.006)))
    pull = {"pull": 1.5 * YOUNG * np.pi * 0.03**2}
    eq = ag.statics(robot, inputs=pull, raise_on_failure=False)
    assert not eq.status.success and np.all(np.isfinite(eq.q))
    with pytest.raises(ag.SolverError) as error:
        ag.statics(robot, inputs=pull)
    assert error.value.result is not None and "start=" in str(error.value)
