"""Parameters of soft volumes from measurements, through the same door as those of robots."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.identification.parameters import as_free
from anguilla.identification.search import Search
from anguilla.identification.volumes import MarkerShift


def bar(young: float = 3.3e5, poisson: float = 0.42, pull: float = 0.0) -> fem.SoftBody:
    material = ag.Material(young=young, poisson=poisson, density=1000.0)
    body = fem.SoftBody("bar", fem.block((0.1, 0.01, 0.01), (8, 1, 1)), material, element="quadratic")
    body.fix("base")
    body.actuate("pull", fem.Tendon([(0.0, 0.0, 0.004), (0.1, 0.0, 0.004)]))
    body.effector("tip", fem.Effector((0.1, 0.0, 0.0), orientation=True))
    if pull:
        body.load(fem.PointForce((0.1, 0.0, 0.0), (pull, 0.0, 0.0)))
    return body


def experiment(**options) -> ag.Measurements:
    seen = [fem.statics(bar(), inputs={"pull": t}) for t in (0.0, 0.05, 0.1)]
    arm = np.array([0.0, 0.0, 0.02])
    places = {
        "tip": np.array([eq.position("tip") for eq in seen]),
        "side": np.array([eq.position("tip") + eq.rotation("tip") @ arm for eq in seen]),
    }
    markers = {"side": ag.Marker("tip", arm, free="z", sigma=5e-3)}
    return ag.Measurements(positions=places, inputs={"pull": [0.0, 0.05, 0.1]}, markers=markers, **options)


@pytest.mark.slow
def test_young_and_a_gain_are_found_again():
    free = [ag.Unknown("material.young", start=4e5), ag.Unknown("inputs.pull.gain", start=0.9)]
    found = ag.identify(bar(1e6), experiment(), free, tolerance=1e-6)
    assert found.values["material.young"] == pytest.approx(3.3e5, rel=1e-4)
    assert found.values["inputs.pull.gain"] == pytest.approx(1.0, rel=1e-4)
    assert found.error(experiment())["worst"] < 1e-7
    assert isinstance(found.robot, fem.SoftBody) and found.robot.material.young == found.values["material.young"]


def test_a_function_that_makes_a_body_and_an_unknown_base():
    def made(stiff, pull):
        return bar(3.3e5 * stiff, pull=pull)

    shift = np.array([0.01, -0.02, 0.03])
    data = []
    for pull in (0.0, 0.2):
        eq = fem.statics(bar(pull=pull))
        data.append(ag.Measurements(positions={"tip": eq.position("tip")[None] + shift}, given={"pull": pull},
                                    base="position", name=f"pulled {pull}"))  # fmt: skip
    found = ag.identify(made, data, [ag.Unknown("stiff", start=1.4)])
    assert found.values["stiff"] == pytest.approx(1.0, rel=1e-3)
    assert np.allclose(list(found.offsets.values()), shift, atol=1e-6)


def test_derivatives_are_those_of_differences_between_equilibria():
    def made(young, poisson, length, angle):
        arm = bar(young, poisson)
        body = fem.SoftBody("bar", fem.block((length, 0.01, 0.01), (8, 1, 1)), arm.material, element="quadratic")
        body.fix("base")
        c, s = 0.004 * np.cos(angle), 0.004 * np.sin(angle)
        body.actuate("pull", fem.Tendon([(0.0, s, c), (length, s, c)]))
        body.effector("tip", fem.Effector((length, 0.0, 0.0), orientation=True))
        return body

    free = {"young": 3.3e5, "poisson": 0.42, "length": 0.1, "angle": 0.3, "inputs.pull.gain": 1.1}
    search = Search(made, as_free(made, free), [experiment().at(slice(1, 3))])
    trial, x = search.trials[0], np.concatenate([np.zeros(5), [2e-3]])  # an unknown offset that is not zero
    exact = search.jacobian(x)
    assert trial.inexact == ""
    trial.changes = lambda here: _differences(trial, here)
    differences = search.jacobian(x)
    assert np.all(np.abs(exact - differences).max(axis=0) < 1e-5 * np.abs(differences).max(axis=0))


def _differences(trial, here):
    shape = (*here.places["tip"].shape, len(trial.parameters))
    by = {name: MarkerShift(np.zeros(shape), np.zeros(shape)) for name in here.places}
    trial._by_differences(here, by)
    return by


def test_what_rubs_or_touches_is_fitted_by_differences_and_says_so():
    body = bar()
    body.actuate("rubbing", fem.Tendon([(0.0, 0.0, -0.004), (0.05, 0.0, -0.004), (0.1, 0.0, -0.004)], friction=0.2))
    seen = fem.statics(body, inputs={"rubbing": 0.1}).position("tip")
    data = ag.Measurements(positions={"tip": seen[None]}, inputs={"rubbing": 0.1, "pull": 0.0})
    found = ag.identify(body, data, {"material.young": 3.5e5}, tolerance=1e-6)
    assert "rub" in found.by_differences["experiment"]
    assert found.values["material.young"] == pytest.approx(3.3e5, rel=1e-4)


def test_what_a_body_has_not_is_refused():
    with pytest.raises(ag.DescriptionError, match=r"material\.young"):
        ag.identify(bar(), experiment(), ["material.color"])
    with pytest.raises(ag.DescriptionError, match="no effector 'hand'"):
        ag.identify(bar(), ag.Measurements(positions={"hand": np.zeros((1, 3))}), ["material.young"])
    with pytest.raises(ag.DescriptionError, match="positions at rest"):
        ag.identify(bar(), ag.Measurements(lengths={"pull": [0.1]}), ["material.young"])
    with pytest.warns(ag.AnguillaWarning, match="density"):  # the ratio alone is told by its weight
        seen = fem.statics(bar()).position("tip")
        ag.identify(bar(), ag.Measurements(positions={"tip": seen[None]}), ["material.young", "material.density"])
