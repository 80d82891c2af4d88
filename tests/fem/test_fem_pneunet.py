"""The finger of five chambers of `validation/pneunet.py`: its drawing, its law, strokes that go on from an equilibrium."""

from __future__ import annotations

import numpy as np
import pytest
from script_modules import ROOT, script

import anguilla as ag
from anguilla import fem


def test_its_hollow_and_its_rubber_are_those_of_the_drawing():
    body, length = script(ROOT / "validation" / "pneunet.py", "pneunet").build()
    air = 5 * 8.0 * 8.0 * 2.0 + 4 * 7.0 * 2.0 * 2.0  # chambers, and the tunnel between them [mm^3]
    assert 1e3 * length == pytest.approx(52.0)
    hollow = body.surface(body.actuators["air"].surface, "air")
    points, triangles = body.mesh.points, hollow
    volume = (
        np.einsum("ki,ki->", points[triangles[:, 0]], np.cross(points[triangles[:, 1]], points[triangles[:, 2]])) / 6
    )
    assert 2e9 * volume == pytest.approx(air, rel=1e-12)
    assert 2e9 * body.mesh.volume == pytest.approx(52.0 * 22.0 * 15.1 - air, rel=1e-12)
    assert body.law.shear == pytest.approx(24.8816e3, rel=1e-5)  # the sum of the tool's three moduli


def test_a_stroke_that_goes_on_from_an_equilibrium_takes_its_pressure_along():
    soft = ag.Material(young=1e5, poisson=0.45, density=1000.0)
    body = fem.SoftBody("finger", fem.finger(cells=(8, 2, 2)), soft, law="neo_hookean")
    body.fix("base")
    body.actuate("air", fem.Chamber("chamber"))
    state = None
    for gained in (8e-6, 1.6e-5, 2e-5, 2.4e-5):  # it balloons: hardly more pressure
        state = fem.statics(body if state is None else state.system, strokes={"air": gained}, start=state)
    assert state.stroke("air") == pytest.approx(2.4e-5, rel=1e-9)
    assert state.status.counters["iterations"] <= 6  # 8 if each began without pressure
