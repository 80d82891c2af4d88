"""Reduced volumes: exact derivatives, the whole body on inputs that were not learnt, inverse kinematics."""

import numpy as np
import pytest

import anguilla as ag
from anguilla import control, fem
from anguilla.fem.reduction import sparse_weights


def finger(element="linear"):
    body = fem.SoftBody("finger", fem.finger(cells=(10, 2, 2)), ag.Material(2e5, 1000.0, poisson=0.4), element=element)
    body.fix("base")
    body.actuate("up", fem.Tendon([(0.0, 0.0, 0.0095), (0.05, 0.0, 0.0095), (0.095, 0.0, 0.0095)]))
    body.actuate("left", fem.Tendon([(0.0, 0.0095, 0.0), (0.05, 0.0095, 0.0), (0.095, 0.0095, 0.0)]))
    body.actuate("air", fem.Chamber("chamber"))
    body.sense("string", fem.String([(0.0, 0.0, 0.0095), (0.09, 0.0, 0.0095)]))
    body.load(fem.PointForce((0.1, 0, 0), (0.0, 0.0, -0.01)))
    body.effector("tip", (0.1, 0, 0))
    return body


RANGES = {"up": (0.0, 1.0), "left": (0.0, 1.0), "air": (0.0, 3000.0)}


@pytest.fixture(scope="module")
def small():
    return fem.reduce(finger(), inputs=RANGES, samples=25, held_out=6, coordinates=20, tolerance=1e-3)


def test_few_positive_weights_sum_to_the_goal():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((12, 200))
    goal = table @ rng.random(200)
    chosen, weight = sparse_weights(table, goal, 1e-9)
    assert len(chosen) <= 12 and np.all(weight > 0)
    assert table[:, chosen] @ weight == pytest.approx(goal, abs=1e-8 * np.linalg.norm(goal))


def test_it_follows_the_whole_body_where_it_was_not_taught(small):
    assert len(small.elements) < 0.4 * len(small.system.elements.nodes) and len(small.q) <= 20
    assert small.quality.motion > 0.01
    assert small.quality.nodes < 0.03 * small.quality.motion
    # the number it tells is true: other inputs, the whole body
    rng = np.random.default_rng(99)
    body, worst = finger(), 0.0
    for _ in range(4):
        inputs = {name: float(low + (high - low) * rng.random()) for name, (low, high) in RANGES.items()}
        eq = fem.statics(body, inputs=inputs)
        small.statics(inputs)
        worst = max(worst, float(np.linalg.norm(small.x - eq.x, axis=1).max()))
        assert small.strokes() == pytest.approx([eq.stroke(n) for n in RANGES], abs=0.05 * 0.01, rel=0.1)
    assert worst < 3.0 * small.quality.nodes
    small.restart()


@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_derivatives_are_exact(element):
    model = fem.reduce(finger(element), inputs=RANGES, samples=6, held_out=1, coordinates=10, tolerance=2e-2)
    rng = np.random.default_rng(3)
    model.efforts = np.array([0.4, 0.2, 1500.0])
    q, d = 2e-3 * rng.standard_normal(len(model.q)), rng.standard_normal(len(model.q))

    def at(s, what):
        model.q = q + s * d
        energy, slope, stiff, rows = model.evaluate()
        whole = energy + model._load @ model.q - model.efforts @ model.strokes()
        return {"energy": whole, "slope": slope, "stiff": stiff, "strokes": model.strokes(), "rows": rows}[what]

    def slope(what, h=1e-5):
        return (8 * (at(h, what) - at(-h, what)) - (at(2 * h, what) - at(-2 * h, what))) / (12 * h)

    assert slope("energy") == pytest.approx(at(0, "slope") @ d, rel=1e-7)
    assert slope("slope") == pytest.approx(at(0, "stiff") @ d, rel=1e-6, abs=1e-7 * np.abs(at(0, "stiff") @ d).max())
    assert slope("strokes") == pytest.approx(at(0, "rows") @ d, rel=1e-6, abs=1e-10)
    assert at(0, "stiff") == pytest.approx(at(0, "stiff").T, abs=1e-9 * np.abs(at(0, "stiff")).max())


def test_tetrahedra_eight_at_a_time_are_those_one_by_one(small):
    rng = np.random.default_rng(5)
    for far in (0.0, 0.01):
        small.q = far * rng.standard_normal(len(small.q))
        energy, _, slope, stiff = small._assembled(True)
        assert small._elastic(True)[0] == pytest.approx(energy, rel=1e-12)
        assert small._elastic(True)[1] == pytest.approx(slope, abs=1e-11 * np.abs(slope).max())
        assert small._elastic(False)[1] == pytest.approx(slope, abs=1e-11 * np.abs(slope).max())
        assert small._elastic(True)[2] == pytest.approx(stiff, abs=1e-11 * np.abs(stiff).max())
    small.restart()


def test_inverse_kinematics_of_the_small_one_serves_the_whole(small):
    small.restart()
    goal = fem.statics(finger(), inputs={"up": 0.5, "left": 0.3}).position("tip")
    inverse = control.InverseKinematics(small)
    for _ in range(25):
        inverse.step({"tip": goal})
    assert small.position("tip") == pytest.approx(goal, abs=1e-5)
    found = dict(zip(small.actuators, np.maximum(small.efforts, 0.0).tolist(), strict=True))
    there = fem.statics(finger(), inputs=found).position("tip")
    assert np.linalg.norm(there - goal) < 2.0 * small.quality.effectors + 1e-5
    small.restart()


def test_refusals():
    body = finger()
    with pytest.raises(ag.DescriptionError, match="no actuator 'down'"):
        fem.reduce(body, inputs={"down": (0, 1)})
    body.cover(fem.Layer("boundary", 1e-4, body.material))
    with pytest.raises(ag.DescriptionError, match="has layers, which a reduced body cannot hold"):
        fem.reduce(body, inputs=RANGES)
