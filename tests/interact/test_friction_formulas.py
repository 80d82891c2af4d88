"""Formulas of friction between parts, against vector algebra."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from anguilla.interact.kernels import table, touch, touch_steps
from anguilla.interact.kernels.friction import HELD, ROLLS, RUBS, WHERE, _resist, scale_parts, slot_of

N, U, SPIN, Z = np.array([[0.0, 0.6, 0.8], [0.3, -0.4, 0.3], [0.5, 1.0, -2.0], [2e-3, 0.0, 1e-3]])


def memory(places=(0.0, 0.0)):
    """One point, with a bristle Z for rubbing at each of the places that is not zero."""
    held = np.zeros((1, 2, HELD))
    held[0, :, WHERE] = places
    held[0, :, RUBS : RUBS + 3] = Z
    return SimpleNamespace(held=held)


def resisted(most, grip, slip, dt=1e-3):
    given = [tuple(x) for x in (N, U, SPIN)]
    return [np.array(x) for x in _resist(memory((3.5, 0.0)), 0, 2.5, RUBS, *given, most, grip, slip, dt)]


@pytest.mark.parametrize("slip", [1e-3, 0.5, 20.0])
def test_friction_with_a_slip_grows_with_speed_up_to_its_most(slip):
    force, bristle = resisted(7.0, 1e3, slip)
    np.testing.assert_allclose(force, 7.0 * U / np.hypot(np.linalg.norm(U), slip), rtol=1e-13)
    assert not bristle.any()


@pytest.mark.parametrize("most", [1e-3, 1e3], ids=["slips", "holds"])
def test_a_bristle_turns_along_and_is_bent_by_sliding(most):
    """The turn exp(dt [w]) is taken up to its second order."""
    grip, dt = 1e3, 1e-3
    bent = (np.eye(3) - np.outer(N, N)) @ Rotation.from_rotvec(dt * SPIN).apply(Z) + dt * U
    expected = bent * min(1.0, most / (grip * np.linalg.norm(bent)))
    force, bristle = resisted(most, grip, 0.0, dt)
    np.testing.assert_allclose(bristle, expected, rtol=1e-7)
    np.testing.assert_allclose(force, grip * expected, rtol=1e-7)


@pytest.mark.parametrize("slip", [0.0, 0.01])
@pytest.mark.parametrize("speed", [-0.3, -1e-3, 2e-3, 0.5])
def test_scales_rub_forward_or_backward_and_sideways(slip, speed):
    """The coefficient goes from backward to forward, at once or smoothly with a slip; its slope by differences."""
    law = np.zeros((1, 32))
    law[0, [table.FORWARD, table.BACKWARD, table.SIDEWAYS, table.SLIP]] = 0.3, 0.7, 0.45, slip
    touches, h = SimpleNamespace(law=law), 1e-6
    more, slope, side = scale_parts(touches, 0, speed)
    assert more + side == pytest.approx(0.5 - 0.2 * speed / np.hypot(speed, slip), rel=1e-12)
    assert side == 0.45
    two = [scale_parts(touches, 0, speed + s * h)[0] for s in (-1, 1)]
    assert slope == pytest.approx((two[1] - two[0]) / (2 * h), rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("moved, known", [(0.0, True), (0.99, True), (-0.99, True), (1.01, False), (-1.01, False)])
def test_an_accepted_bristle_is_found_within_one_interval(moved, known):
    """On interval 4 at s = 0.3, from where the contact then moves along the rod."""
    touches = memory()
    touches.count = np.zeros(8, np.int64)
    touches.count[touch.HITS] = 1
    touches.hits, touches.hit = np.array([[0, 0, 0, 4]]), np.arange(float(touch.HIT))[None]
    touches.hit[0, touch.S] = 0.3
    touches.table, touches.cluster = np.zeros((1, 16), np.int64), np.zeros((1, 4), np.int64)
    getattr(touch_steps.keep_bristles, "py_func", touch_steps.keep_bristles)(touches)
    assert (slot_of(touches, 0, 4.3 + moved) == 0) == known
    for at, column in ((RUBS, touch.BRISTLE), (ROLLS, touch.ROLLED)):
        np.testing.assert_array_equal(touches.held[0, 0, at : at + 3], column + np.arange(3.0))
