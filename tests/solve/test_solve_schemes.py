"""Steps of the integrators, against the rules as they are written down."""

from types import SimpleNamespace

import numpy as np
import pytest

import anguilla as ag
from anguilla.solve.steps import stepping
from anguilla.solve.steps.schemes import coasting, ended, factors

SCHEMES = [ag.Newmark(), ag.Newmark(0.3, 0.6), ag.HHT(-0.1), ag.GeneralisedAlpha(0.5)]
DT = 0.3


@pytest.fixture
def numbers():
    """Rates, accelerations, true accelerations, and accelerations at the end of a step: (4, 3)."""
    return np.random.default_rng(24).standard_normal((4, 3))


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_a_step_ends_where_newmark_says(scheme, numbers):
    c, (v, a, true, after) = scheme.coefficients, numbers
    way = DT * v + DT**2 * ((0.5 - c.beta) * a + c.beta * after)
    v1, a1, true1 = ended(c, DT, way, v, a, true)
    np.testing.assert_allclose(a1, after, rtol=1e-12)
    np.testing.assert_allclose(v1, v + DT * ((1.0 - c.gamma) * a + c.gamma * after), rtol=1e-12)
    np.testing.assert_allclose((1.0 - c.am) * a1 + c.am * a, (1.0 - c.af) * true1 + c.af * true, rtol=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_a_step_that_coasts_ends_without_acceleration(scheme, numbers):
    c, (v, a, true, _) = scheme.coefficients, numbers
    way, rate = coasting(c, DT, v, a)
    v1, a1, _ = ended(c, DT, way, v, a, true)
    np.testing.assert_allclose(a1, 0.0, atol=1e-12)
    np.testing.assert_allclose(rate, v1, rtol=1e-12)


def test_the_midpoint_rule_is_balanced_in_the_middle():
    """At ((q + q1) / 2, (v + v1) / 2, (v1 - v) / dt), with v1 = 2 d / dt - v."""
    assert factors(ag.Midpoint().coefficients, DT) == pytest.approx((0.5, 1.0 / DT, 2.0 / DT**2), rel=1e-14)


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_factors_are_the_slopes_of_the_end(scheme, numbers):
    c, (v, a, true, way) = scheme.coefficients, numbers
    one, two = ended(c, DT, way, v, a, true), ended(c, DT, way + 1.0, v, a, true)
    cq, cv, ca = factors(c, DT)
    assert cq == 1.0
    np.testing.assert_allclose(two[0] - one[0], cv, rtol=1e-12)
    np.testing.assert_allclose(two[2] - one[2], ca, rtol=1e-12)


@pytest.mark.parametrize(("part", "rough"), [(0.9, False), (1.1, True)])
def test_a_step_is_rough_if_it_bows_further_than_the_limit(part, rough, monkeypatch):
    """By dt^2 / 2 times the acceleration, in units of the coordinates; what the step does then is switched off."""
    eased = []
    for name in ("may_touch", "rubs", "has_contacts"):
        monkeypatch.setattr(stepping, name, lambda *_: False)
    monkeypatch.setattr(stepping, "_ease", lambda *_: bool(eased.append(1)))
    monkeypatch.setattr(stepping, "_attempt", lambda *_: stepping.CONVERGED)
    monkeypatch.setattr(stepping, "_accept", lambda *_: None)
    x = SimpleNamespace(q=np.zeros(2), v=np.zeros(2), a=np.zeros(2), acc=np.zeros(2), lam=np.zeros(0))
    x.a[1] = part * stepping.ROUGH / (0.5 * DT**2) / 4.0
    empty = SimpleNamespace(term=(), table=())
    loads = SimpleNamespace(relaxing=empty, touches=empty, cables=None, frames=None)
    tree, scratch = SimpleNamespace(weight=np.full(2, 4.0)), SimpleNamespace(memory=np.zeros(10))
    assert stepping._advance(tree, None, loads, scratch, ag.Newmark().coefficients, DT, x, None) == stepping.CONVERGED
    assert bool(eased) == rough
