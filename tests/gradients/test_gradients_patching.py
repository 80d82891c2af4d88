"""Twins whose numbers are written into the tables of a model, against twins that are compiled."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.describe.alike import at_path, differences
from anguilla.describe.paths import changed, number_at
from anguilla.model.model import Model
from anguilla.results.kinematics import motion_of
from anguilla.solve.gradients.adjoint import static_balance
from anguilla.solve.gradients.designs import twins
from anguilla.solve.gradients.patching import patched


def arm(*, loaded=False, cut=False, one_rod=False):
    """Two tapered sections with a straight and a helical tendon; loaded: with a load along one, cut: one ends half way."""
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))
    rubber = ag.Material(young=1e6, poisson=0.49, density=1000.0, damping=0.01)
    strains = ag.Strains(twist=2, bend_y=5, bend_z=5, stretch=2)
    first = ag.Rod(0.3, ag.taper(ag.Circle(0.03), ag.Circle(0.02), 0.4), rubber, strains)
    second = first if one_rod else ag.Rod(0.2, ag.Circle(0.02), rubber, strains, ag.ConstantCurvature(bend_y=1.0))
    near = robot.add(first, at=robot.ground, name="near")
    far = robot.add(second, at=near.tip, name="far")
    robot.add(ag.RigidBody(0.05, 1e-5 * np.eye(3)), at=far.tip, name="hand")
    robot.actuate("straight", ag.Tendon((near, far), ag.parallel(y=0.012, z=0.004)))
    robot.actuate("wound", ag.Tendon(near, ag.helical(0.01, 0.5), span=(0.0, 0.15) if cut else None))
    if loaded:
        robot.load(ag.DistributedWrench(far, force=lambda X: (0.0, 0.3 + X, 0.0)))
        robot.load(ag.Wrench(near.tip, (0.0, 0.0, 0.2)))
    return robot, {"straight": 3.0, "wound": 2.0}


QUICK = ["near.length", "far.length", "straight.offset", "straight.angle", "wound.routing.radius", "far.section.radius"]


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("path", QUICK)
def test_balance_and_places_are_those_of_compiled_twins(path, loaded):
    robot, inputs = arm(loaded=loaded)
    at_rest = ag.statics(robot, inputs=inputs)
    model, value = at_rest.system, number_at(robot, path)
    twin = changed(model.robot, {path: 1.01 * value})
    quick, slow = patched(model, twin), Model(twin)
    assert quick is not None
    balances = [static_balance(each, at_rest) for each in (model, quick, slow)]
    change = np.abs(balances[2] - balances[0]).max()
    assert np.abs(balances[1] - balances[2]).max() < 1e-9 * change
    for place in (robot.part("far").tip, robot.part("near").section(0.123)):  # a node, and none
        there = [
            motion_of(each, [ag.Frame(each.robot, place.part_index, place.place)], *3 * (at_rest.q[None],))
            for each in (quick, slow)
        ]
        np.testing.assert_allclose(there[0], there[1], rtol=0.0, atol=1e-12)


def test_lines_that_end_inside_a_longer_rod_need_a_compiled_twin():
    robot, _ = arm(cut=True)
    model = Model(robot)
    assert patched(model, changed(robot, {"near.length": 0.301})) is None
    assert patched(model, changed(robot, {"far.length": 0.201})) is not None
    bent = changed(robot, {"near.length": 0.3})
    bent.part("far").rod.rest = ag.ConstantCurvature(bend_y=1.1)
    assert patched(model, bent) is None


CASES = [(path, False) for path in QUICK] + [(path, True) for path in (*QUICK[:-1], "near.material.young")]


@pytest.mark.parametrize(("path", "one_rod"), CASES)
def test_a_path_tells_what_a_comparison_finds(path, one_rod):
    robot, _ = arm(one_rod=one_rod)
    found = differences(robot, changed(robot, {path: 1.01 * number_at(robot, path)}))
    assert at_path(robot, path) == found


def test_two_names_of_one_number_have_the_same_derivative():
    robot, inputs = arm(one_rod=True)
    at_rest = ag.statics(robot, inputs=inputs)
    cost = ag.Reach(robot.part("far").tip, (0.3, 0.1, 0.2))
    both = ag.gradient(at_rest, cost, design=["near.length", "far.length"]).design
    alone = ag.gradient(at_rest, cost, design=["far.length"]).design
    np.testing.assert_allclose(both, [alone[0], alone[0]], rtol=1e-12)


def test_what_was_evaluated_before_is_not_spoiled_by_twins():
    robot, inputs = arm()
    at_rest = ag.statics(robot, inputs=inputs)
    model, q = at_rest.system, at_rest.q + 0.1
    wanted = model.evaluate(q, inputs=inputs).K.copy()
    here = model.evaluate(q, inputs=inputs)
    _ = here.residual
    found = twins(model, ["near.length", "straight.offset"])
    for k in range(2):
        found.slope(k, lambda each: static_balance(each, at_rest))
    np.testing.assert_array_equal(here.K, wanted)


def test_loads_of_a_twin_are_known_only_if_its_signals_are_the_same():
    robot, inputs = arm()
    model = Model(robot)
    table = model.loads(0.0, inputs)
    longer, lighter = (changed(robot, {path: 1.5 * number_at(robot, path)}) for path in ("far.length", "gravity[0]"))
    twin = patched(model, longer)
    for pull in (3.0, 1.0):  # the second time in memory that is used again
        asked = model.loads(0.0, inputs | {"straight": pull})
        np.testing.assert_array_equal(
            twin.loads_like(asked).row, twin.loads(0.0, inputs | {"straight": pull}).loads.row
        )
    assert Model(lighter).loads_like(table) is None


def test_a_gradient_leaves_no_desk_behind():
    robot, inputs = arm()
    at_rest = ag.statics(robot, inputs=inputs)
    free = len(at_rest.system._free)
    ag.gradient(at_rest, ag.Reach(robot.part("far").tip, (0.3, 0.1, 0.2)), design=["far.length", "near.material.young"])
    assert len(at_rest.system._free) == free == 1
    assert not hasattr(at_rest.system._here, "desk")


class Square(ag.Reach):
    """Twice a Reach, by terms of its own."""

    def __call__(self, result):
        return 2.0 * super().__call__(result)

    def terms(self, result):
        value, by_q, by_v = super().terms(result)
        return 2.0 * value, 2.0 * by_q, 2.0 * by_v


GOAL = (0.4, 0.1, 0.1)
COSTS = {
    "tip": lambda part: ag.Reach(part("far").tip, GOAL),
    "beside": lambda part: ag.Reach(part("far").tip.offset_by((0.02, 0.03, -0.01)), GOAL, 2.0),
    "between": lambda part: ag.Reach(part("far").section(0.123), GOAL),
    "sum": lambda part: ag.Reach(part("near").tip, GOAL) + ag.Reach(part("hand").frame, GOAL) + ag.Rest(),
    "quotient": lambda part: ag.Reach(part("far").tip, GOAL) / ag.Reach(part("near").tip, (0.0, 0.0, 0.1)),
    "own terms": lambda part: Square(part("far").tip, GOAL),
    "of no place": lambda _: ag.StateCost(lambda t, q, v: (0.5 * float(np.sum(q**2)), q, 0.0 * v)),
}


@pytest.mark.parametrize("kind", list(COSTS))
def test_places_that_a_cost_reads_on_twins_against_equilibria_of_changed_robots(kind):
    robot, inputs = arm()
    paths = ["near.length", "far.length", "straight.offset", "near.material.young"]
    found = ag.gradient(ag.statics(robot, inputs=inputs, tolerance=1e-12), COSTS[kind](robot.part), design=paths)

    def value(path, number):
        twin = changed(robot, {path: number})
        return COSTS[kind](twin.part)(ag.statics(twin, inputs=inputs, tolerance=1e-12))

    for path, slope in zip(paths, found.design, strict=True):
        x = number_at(robot, path)
        f = [value(path, (1.0 + k * 1e-3) * x) for k in (-2, -1, 1, 2)]
        assert slope == pytest.approx((f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12e-3 * x), rel=2e-6)
