"""Tendons do not push, and limits of efforts and strokes hold wherever a body is driven."""

import numpy as np
import pytest
from fem_bodies import bar

import anguilla as ag
from anguilla import control, fem


def pulled(**limits):
    body = bar((8, 1, 1))
    body.actuate("pull", fem.Tendon([(0.0, 0, 0.004), (0.1, 0, 0.004)], **limits))
    return body


def test_a_tendon_does_not_push():
    with pytest.raises(ag.DescriptionError, match=r"tension of 'pull' .* got -1 \(a tendon cannot push\)"):
        fem.statics(pulled(), inputs={"pull": -1.0})
    with pytest.raises(ag.DescriptionError, match="cannot push"):
        fem.simulate(pulled(), duration=0.01, dt=0.005, inputs={"pull": -1.0})
    with pytest.raises(ag.DescriptionError, match="no actuator 'push'"):
        fem.simulate(pulled(), duration=0.01, dt=0.005, inputs={"push": lambda t: 1.0})


def test_a_tendon_is_slack_where_a_function_or_a_step_drops_below_zero():
    """The same bits as with max(0, ...), and one warning with tendon, instant and remedy."""
    body, given = pulled(), {"duration": 0.03, "dt": 0.005}
    right = fem.simulate(body, inputs={"pull": lambda t: max(0.0, 0.5 - 60 * t)}, **given)
    with pytest.warns(ag.AnguillaWarning) as told:
        run = fem.simulate(body, inputs={"pull": lambda t: 0.5 - 60 * t}, **given)
    assert len(told) == 1 and "pushes" not in str(told[0].message)
    assert all(word in str(told[0].message) for word in ("'pull'", "at t = 0.01 s", "slack", "max(0, ...)"))
    np.testing.assert_array_equal(run.x, right.x)
    stepper, other = (fem.Stepper(body, dt=0.005, inputs={"pull": 0.5}) for _ in range(2))
    with pytest.warns(ag.AnguillaWarning) as told:
        for k in range(1, 7):
            stepper.step({"pull": 0.5 - 60 * 0.005 * k})
            other.step({"pull": max(0.0, 0.5 - 60 * 0.005 * k)})
    assert len(told) == 1 and stepper.inputs == {"pull": 0.0}
    np.testing.assert_array_equal(stepper.x, other.x)
    with pytest.raises(ag.DescriptionError, match=r"between 0\.1 and 2 N"):
        fem.simulate(pulled(force=(0.1, 2.0)), inputs={"pull": lambda t: 0.5 - 60 * t}, **given)


def test_limits_of_efforts_and_strokes_are_kept():
    body = pulled(force=(0.1, 2.0), stroke=(0.0, 1e-3))
    for wrong in (0.05, 2.1):
        with pytest.raises(ag.DescriptionError, match=r"between 0\.1 and 2 N, the limits in its force="):
            fem.statics(body, inputs={"pull": wrong})
    with pytest.raises(ag.DescriptionError, match=r"between 0 and 0\.001 m, the limits in its stroke="):
        fem.statics(body, strokes={"pull": 2e-3})
    assert fem.statics(body, inputs={"pull": 2.0}).status.success
    finger = fem.SoftBody("finger", fem.finger(cells=(4, 2, 2)), ag.Material(young=1e6, density=1000.0))
    finger.fix("base")
    finger.actuate("air", fem.Chamber("chamber", pressure=(0.0, 1e4)))
    for wrong in (-1.0, 2e4):
        with pytest.raises(ag.DescriptionError, match="between 0 and 10000 Pa, the limits in its pressure="):
            fem.statics(finger, inputs={"air": wrong})


def test_a_stroke_that_needs_a_push_is_refused():
    """A tendon that is given more line hangs loose: no tension of its own makes it longer."""
    with pytest.raises(ag.SolverError, match=r"tension of 'pull' .* cannot push"):
        fem.statics(pulled(), strokes={"pull": -1e-3})
    with pytest.raises(ag.SolverError, match=r"tension of 'pull' .* between 0 and 0.1 N"):
        fem.statics(pulled(force=(0.0, 0.1)), strokes={"pull": 2e-3})
    assert abs(fem.statics(pulled(), strokes={"pull": 0.0}).inputs["pull"]) < 1e-9


def test_a_plant_and_a_workspace_keep_the_limits():
    plant = control.Plant(fem.SoftModel(pulled(force=(0.0, 1.0))))
    for command, given in ((5.0, 1.0), (-3.0, 0.0)):
        plant.apply(np.array([command]))
        assert plant.model.efforts[0] == given
    with pytest.raises(ag.DescriptionError, match="those of 'pull' must lie between 0 and 1"):
        control.workspace(pulled(force=(0.0, 1.0)), [[-1.0, 1.0]], samples=2)
