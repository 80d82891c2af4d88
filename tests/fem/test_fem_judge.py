"""Equilibria of volumes are judged: balance in units of the loads, stability, elements inside out."""

import numpy as np
import pytest
from fem_bodies import RUBBER, bar, everything

import anguilla as ag
from anguilla import fem
from anguilla.fem.elements import inside_out

EULER = np.pi**2 / 4 * 1e6 * 0.009 * 0.006**3 / 12 / 0.1**2  # [N] of a clamped column of 0.1 m, 6 by 9 mm


def column(load, element="quadratic", side=0.0):
    body = bar((20, 2, 2), (0.1, 0.006, 0.009), element=element)
    body.load(fem.PointForce((0.1, 0, 0), (-load, side, 0.0)))
    return body


@pytest.mark.parametrize("solver", ["ldl", "splu"])
def test_a_column_beyond_its_buckling_load_is_told(solver):
    below = fem.statics(column(0.9 * EULER), solver=solver)
    assert below.status.counters["unstable"] == 0
    with pytest.warns(ag.AnguillaWarning, match="in balance but would not stay so: its energy falls in 1 direction"):
        above = fem.statics(column(1.15 * EULER), solver=solver)
    assert "unstable" in above.status.message
    assert above.position("tip")[1] == pytest.approx(0.0, abs=1e-9)


def test_what_it_takes_instead_is_found_as_the_advice_says():
    aside = fem.statics(column(1.15 * EULER, side=0.02 * EULER))
    found = fem.statics(column(1.15 * EULER), start=aside)
    assert found.status.counters["unstable"] == 0
    assert abs(found.position("tip")[1]) > 0.02
    assert found.balance < 1e-9


def test_a_stroke_holds_what_its_tension_would_not():
    """Inertia on what the strokes leave free: of K alone a direction falls, which the held tendon closes."""
    body = column(1.15 * EULER)
    body.actuate("left", fem.Tendon([(0.1, 0.003, 0)], origin=(0.1, 0.2, 0)))
    held = fem.statics(body, strokes={"left": 0.0})
    assert held.status.counters["unstable"] == 0
    assert abs(held.efforts[0]) < 1e-6
    with pytest.warns(ag.AnguillaWarning, match="falls in 1 direction,"):
        fem.statics(body, inputs={"left": 0.0})


@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_balance_is_in_units_of_the_loads(element):
    eq = fem.statics(everything(element=element), inputs={"pull": 1.0, "air": 3e3})
    assert eq.balance < 1e-9
    node = int(np.argmax(eq.system.unknowns.first))
    x = eq.x.copy()
    x[node] += 1e-5
    off = fem.SoftEquilibrium(eq.body, eq.system, fem.SoftState(x, eq.state.rotations), eq.efforts, eq.status)
    assert off.balance > 1e-4


def test_steps_that_end_without_balance_are_no_equilibrium(monkeypatch):
    from anguilla.fem import equilibrium
    from anguilla.solve.newton.continuation import Attempt

    monkeypatch.setattr(equilibrium, "solve", lambda system, start, task, **_: Attempt(start, 0, 1))
    body = column(0.5 * EULER)
    with pytest.raises(ag.SolverError, match=r"without balance: 1 of the loads are left"):
        fem.statics(body)


def test_elements_inside_out_at_a_corner_are_found():
    body = bar((6, 1, 1), element="quadratic")
    system = fem.SoftSystem(body)
    assert len(inside_out(system.grid, system.rest.x)) == 0
    x = system.rest.x.copy()
    cell = system.grid.cells[20]
    corner = x[cell[0]].copy()
    x[cell[4]] = corner - 0.2 * (x[cell[1]] - corner)  # the middle of an edge beyond its end
    assert 20 in inside_out(system.grid, x)


def test_a_load_on_a_point_that_digs_in_is_told():
    body = fem.SoftBody("pad", fem.block((0.02, 0.02, 0.02), (4, 4, 4)), RUBBER, element="quadratic", gravity=(0, 0, 0))
    body.fix("base")
    body.load(fem.PointForce((0.02, 0, 0), (-14.0, 0, 0)))
    with pytest.warns(ag.AnguillaWarning, match="inside out at a corner"):
        fem.statics(body)
