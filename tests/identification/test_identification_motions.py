"""Motions are fitted on exact derivatives: the same as differences, and faster; what has none says why."""

from dataclasses import replace

import numpy as np
import pytest

import anguilla as ag
from anguilla.identification.parameters import as_free
from anguilla.identification.trial import Trial

T = np.arange(0.0, 0.3001, 0.01)
PULL = 1.0 + np.sin(6.0 * T) ** 2
FREE = [
    "arm.material.young",
    "arm.material.damping",
    "arm.material.density",
    "arm.length",
    "ball.mass",
    "inputs.pull.gain",
]


def arm(young=1e6, damping=0.02, mass=0.02, length=0.3, **material):
    robot = ag.Robot("arm")
    rubber = ag.Material(young=young, density=1100.0, damping=damping, **material)
    rod = robot.add(ag.Rod(length, ag.Circle(0.01), rubber, ag.kirchhoff(2)), at=robot.ground, name="arm")
    robot.add(ag.RigidBody.sphere(0.01, mass=mass), at=rod.tip, name="ball")
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=0.008)))
    robot.load(ag.TipWrench(rod, force=(0.0, 0.0, 0.0), name="hand"))
    return robot


def measured(held):
    """The tip of the true arm, from rest, from its equilibrium, or let go by a hand."""
    truth, start = arm(), None
    if held is not None:
        first = arm()
        first.loads[0].force = (0.0, 0.0, held.get("hand.force[2]", 0.0))
        start = ag.statics(first, inputs={"pull": PULL[0]}).q
    run = ag.simulate(
        truth, duration=0.3, dt=0.0025, start=start, inputs={"pull": lambda t: float(np.interp(t, T, PULL))}
    )
    seen = run.position(truth.part("arm").tip)[::4]
    return ag.Measurements(positions={"arm.tip": seen}, t=T, inputs={"pull": PULL}, motion=True, held=held, dt=0.0025)


LOSING = {"loss": 0.1, "band": (0.5, 50.0)}


@pytest.mark.parametrize("material", [{}, LOSING], ids=["elastic", "losing"])
@pytest.mark.parametrize("held", [None, {}, {"hand.force[2]": 0.1}])
def test_derivatives_of_motions_are_those_of_differences(held, material):
    wrong = arm(1.1e6, 0.03, 0.022, **material)
    free = [*FREE, "inputs.pull.offset", "inputs.pull.lag", *(["arm.material.loss"] if material else [])]
    trial = Trial(wrong, as_free(wrong, free), measured(held))
    values = np.array([p.value for p in trial.parameters])
    states = trial.states(values)
    exact = trial.changes(states)
    assert trial.inexact == ""
    zeros = np.zeros((*states.q.shape, len(values))), np.zeros((*states.lam.shape, len(values)))
    near = trial._by_differences(states, *zeros)
    for k, p in enumerate(trial.parameters):
        # a lag shifts kinks of the input, of which a difference sees the mean over its step
        off = 0.02 if p.name.endswith("lag") else 2e-6
        assert np.allclose(exact.q[..., k], near.q[..., k], rtol=0, atol=off * np.abs(near.q[..., k]).max()), p.name


def test_a_motion_from_its_equilibrium_is_fitted():
    wrong = arm(1.1e6, 0.03, 0.022)
    found = ag.identify(wrong, measured({}), ["arm.material.young", "arm.material.damping", "ball.mass"])
    assert found.by_differences == {} and "differences" not in str(found)
    for name, value in (("arm.material.young", 1e6), ("arm.material.damping", 0.02), ("ball.mass", 0.02)):
        assert found.values[name] == pytest.approx(value, rel=2e-3)  # inputs with kinks are stepped over otherwise


def test_what_has_no_exact_derivatives_says_so():
    wrong = arm(1.02e6, 0.02, 0.02)
    wrong.actuate("other", ag.Tendon(wrong.part("arm"), ag.parallel(y=-0.008), friction=0.1))
    data = measured({})
    still = replace(data, inputs={**data.inputs, "other": 0.0})
    found = ag.identify(wrong, still, ["arm.material.young"], tolerance=1e-2)
    assert "friction" in found.by_differences["experiment"] and "derivatives by differences" in str(found)
    wrong = arm(1.02e6, 0.0, 0.02, **LOSING)
    wrong.add(ag.RigidBody.sphere(0.01, mass=0.001), at=wrong.part("arm").tip, joint=ag.Spherical())
    found = ag.identify(wrong, measured(None), ["arm.material.young"], tolerance=1e-2)
    assert "viscoelastic rods" in found.by_differences["experiment"]


def test_experiments_with_the_same_robot_share_its_models(monkeypatch):
    from anguilla.identification import trial

    made = []
    model = trial.Model
    monkeypatch.setattr(trial, "Model", lambda robot: made.append(robot) or model(robot))
    still = ag.Measurements(positions={"arm.tip": measured({}).positions["arm.tip"][:1]}, inputs={"pull": PULL[:1]})
    other = replace(still, name="other", given={"ball.mass": 0.03})
    alone = ag.identify(arm(1.1e6), replace(measured(None), name="swing"), ["arm.material.young"], tolerance=1e-3)
    once = len(made)
    assert once == alone.evaluations
    made.clear()
    data = [replace(measured(None), name="swing"), replace(still, name="still"), other]
    found = ag.identify(arm(1.1e6), data, ["arm.material.young"], tolerance=1e-3)
    assert len(made) == 2 * found.evaluations  # two robots, not three


def test_a_step_to_values_that_nobody_can_have_is_taken_back():
    """A search that runs off, to an infinite damping here, comes back; it used to stop with an error."""
    from anguilla.identification.search import Search

    wrong = arm(1.1e6, 0.03, 0.022)
    search = Search(wrong, as_free(wrong, ["arm.material.damping"]), [measured({})])
    search.residual(np.zeros(1))
    for far in (1e4, 2e4):  # twice in a row
        assert np.all(search.residual(np.array([far])) == 1e3)
    assert np.all(np.abs(search.residual(np.zeros(1))) < 1e3)
