"""Formulas of contact kernels, against vector algebra and differences."""

from types import SimpleNamespace

import numpy as np
import pytest

from anguilla.interact.kernels import contact, touch_steps
from anguilla.interact.kernels.contact import _scales
from anguilla.interact.kernels.nearest import BULGE, _steepness_at, cubic, cubic_bend, cubic_slope
from anguilla.interact.kernels.touch import _cluster_ball, _drift
from anguilla.mechanics.tree import N_R, N_V, N_W, N_X


@pytest.mark.parametrize("depth", [-1e-3, 4e-4, 1e-3, 5e-3])
def test_the_energy_of_a_contact_is_the_work_of_its_force(depth):
    """Gauss points on both sides of the depth where the force becomes linear: of cubics and lines they miss nothing."""
    smooth, work = 1e-3, 0.0
    x, w = np.polynomial.legendre.leggauss(3)
    for start, end in ((0.0, min(max(depth, 0.0), smooth)), (smooth, max(depth, smooth))):
        places = 0.5 * (start + end) + 0.5 * (end - start) * x
        work += 0.5 * (end - start) * w @ [contact.pressed(place, smooth)[0] for place in places]
    assert contact.stored(depth, smooth) == pytest.approx(work, rel=1e-12)


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0])
def test_slopes_of_the_cubics_of_an_interval(s):
    h = 1e-3
    for value, slope in ((cubic, cubic_slope), (cubic_slope, cubic_bend)):
        near = [np.array(value(s + k * h, 0.3)) for k in (-2, -1, 1, 2)]
        by_hand = (near[0] - 8.0 * near[1] + 8.0 * near[2] - near[3]) / (12.0 * h)  # exact for cubics
        np.testing.assert_allclose(slope(s, 0.3), by_hand, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("widening", [0.0, 0.02])
def test_the_gap_to_an_interval_changes_at_its_ends_as_differences_say(end, widening):
    """Distance less radius, times the distance, towards smaller s."""
    x, x0, x1, t0, t1 = np.random.default_rng(3).standard_normal((5, 3))
    length, h = 0.3, 1e-5

    def gap(s):
        a0, a1, b0, b1 = cubic(s, length)
        return np.linalg.norm(x - a0 * x0 - a1 * x1 - b0 * t0 - b1 * t1) - widening * s

    node, axis = (x0, t0) if end == 0 else (x1, t1)
    expected = -np.linalg.norm(x - node) * (gap(end + h) - gap(end - h)) / (2 * h)
    assert _steepness_at(tuple(x), tuple(node), tuple(axis), length, widening) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("speed", [-0.3, -1e-3, 0.0, 2e-3, 0.5])
def test_friction_of_scales_goes_from_backward_to_forward(speed):
    """A smooth step between both coefficients, less that across; its slope by differences."""
    data = np.zeros((1, 1 + max(contact.SLIP, contact.FORWARD, contact.BACKWARD, contact.FRICTION)))
    data[0, [contact.SLIP, contact.FORWARD, contact.BACKWARD, contact.FRICTION]] = 1e-2, 0.3, 0.7, 0.45
    value, slope = _scales(speed, data, 0)
    assert value + 0.45 == pytest.approx(0.5 - 0.2 * speed / np.hypot(speed, 1e-2), rel=1e-12)
    h = 1e-5
    two = [_scales(speed + s * h, data, 0)[0] for s in (-1, 1)]
    assert slope == pytest.approx((two[1] - two[0]) / (2 * h), rel=1e-4)


class Near:
    """Two nodes, 0 and 1, with their places, velocities and spins, and what a cluster of points between them needs."""

    def __init__(self, seed=5):
        rng = np.random.default_rng(seed)
        self.node = np.zeros((2, 64))
        self.x = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0]])
        self.v, self.w = rng.standard_normal((2, 2, 3))
        for i in range(2):
            self.node[i, N_X : N_X + 3] = self.x[i]
            self.node[i, N_V : N_V + 3] = self.v[i]
            self.node[i, N_W : N_W + 3] = self.w[i]
            self.node[i, N_R : N_R + 9] = np.eye(3).ravel()
        self.touches = SimpleNamespace(cluster=np.array([[0, 4, 0, 1]]), reach=np.array([[0.3, 0.05]]))


def test_the_ball_around_a_cluster_holds_its_points():
    """Of a straight interval: half the chord, and as far as points are away from the centreline."""
    near = Near()
    centre, radius = _cluster_ball(near.node, near.touches, 0)
    np.testing.assert_allclose(centre, near.x.mean(axis=0), atol=1e-15)
    assert radius == pytest.approx(0.15 + 0.05, rel=1e-12)


def test_what_lies_between_two_nodes_moves_like_their_middle_but_for_a_bound():
    near = Near()
    middle, more = _drift(near.node, 0, 1, 0.3, 0.05)
    np.testing.assert_allclose(middle, near.v.mean(axis=0), rtol=1e-14)
    spin = np.linalg.norm(near.w, axis=1).max()
    assert more == pytest.approx(0.5 * np.linalg.norm(near.v[1] - near.v[0]) + 2.0 * BULGE * 0.3 * spin, rel=1e-12)
    _, more = _drift(near.node, 0, 0, 0.3, 0.05)
    assert more == pytest.approx(0.05 * np.linalg.norm(near.w[0]), rel=1e-12)


@pytest.mark.parametrize("size", [0.02, 0.2], ids=["small", "large"])
def test_two_things_are_no_faster_against_each_other_than_their_nodes_and_spins_allow(size):
    """An interval that ends at node 1, and a body on node 0: their velocities are corners of a box, and both may turn."""
    near = Near()
    near.touches.curve, near.touches.body, near.touches.size = np.array([[0, 1]]), np.array([0]), np.array([size])
    way, spin = np.linalg.norm(near.v[1] - near.v[0]), np.linalg.norm(near.w, axis=1).max()
    expected = way + 2.0 * max(size, 0.05) * spin
    assert touch_steps.fastest(near.node, near.touches) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("across", [True, False])
def test_a_normal_that_turned_round_marks_the_step(across, monkeypatch):
    """The mark is 1, which is what the time loop asks for; other reasons to mark a step are switched off."""
    for name, value in (("_misfit", (0.0, 0.0, 0.0)), ("fastest", 0.0), ("may_have_met", False), ("too_wrong", False)):
        monkeypatch.setattr(touch_steps, name, lambda *_, value=value: value)
    monkeypatch.setattr(touch_steps, "own_row", lambda *_: 0)
    rows = np.zeros((2, 1, 16))
    rows[:, 0, touch_steps.DEPTH] = 1e-3
    rows[:, 0, touch_steps.NORMAL + 2] = 1.0, -1.0 if across else 1.0
    touches = SimpleNamespace(
        count=np.zeros(8, np.int64), before=rows[0], deep=rows[1], law=np.ones((1, 16)), point=np.ones((1, 16)),
        table=np.zeros((1, 16), np.int64), cluster=np.array([[0, 1, 0, 1]]), skin=np.array([1.0, 0.0]),
        hits=np.zeros((0, 4), np.int64),
    )  # fmt: skip
    touches.count[touch_steps.SEEN] = 1
    touches.table[0, touch_steps.UNTIL] = 1
    out = np.zeros(1)
    touch_steps.judge_meeting(None, None, touches, 1e-3, out)
    assert out[0] == float(across)
