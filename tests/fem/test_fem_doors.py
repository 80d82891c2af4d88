"""What cannot be done is said: singular, hinged, contradictory and impossible requests; cavities driven by volume."""

import numpy as np
import pytest
from fem_bodies import RUBBER, bar

import anguilla as ag
from anguilla import fem

CORNER = 0.01 * np.vstack([np.zeros(3), np.eye(3)])


def inflated(cells=(6, 2, 2), **options):
    body = fem.SoftBody("finger", fem.finger(cells=cells), RUBBER)
    body.fix("base")
    body.actuate("air", fem.Chamber("chamber", **options))
    body.effector("tip", (0.1, 0, 0))
    return body


def test_a_mesh_that_hangs_by_a_point_or_an_edge_is_refused():
    point = np.vstack([CORNER, -CORNER[1:]])
    with pytest.raises(ag.DescriptionError, match="by a point or an edge only"):
        fem.TetMesh(point, np.array([[0, 1, 2, 3], [0, 4, 5, 6]]))
    edge = np.vstack([CORNER, [[-0.01, 0, 0], [0, -0.01, 0]]])
    with pytest.raises(ag.DescriptionError, match="by a point or an edge only"):
        fem.TetMesh(edge, np.array([[0, 1, 2, 3], [0, 3, 4, 5]]))


@pytest.mark.parametrize("solver", ["ldl", "mkl", "splu"])
@pytest.mark.parametrize("held", [[0], [0, 1]])
def test_a_body_that_can_turn_is_named_singular(solver, held):
    if solver == "mkl":
        pytest.importorskip("pypardiso")
    body = fem.SoftBody("loose", fem.block((0.1, 0.01, 0.01), (8, 1, 1)), RUBBER)
    body.fix(held)
    with pytest.raises(ag.SolverError, match="Hold more points"):
        fem.statics(body, solver=solver)


def test_strokes_that_contradict_each_other_are_no_equilibrium():
    body = bar((8, 1, 1))
    line = [(x, 0, 0.004) for x in (0.0, 0.05, 0.1)]
    body.actuate("one", fem.Tendon(line))
    body.actuate("two", fem.Tendon(line))
    with pytest.raises(ag.SolverError, match="cannot hold together") as caught:
        fem.statics(body, strokes={"one": 1e-3, "two": 2e-3})
    result = caught.value.result
    assert result.stroke("one") == pytest.approx(1.5e-3, rel=1e-3)  # the best there is, in the middle
    assert not result.status.success
    agreed = fem.statics(body, strokes={"one": 1e-3, "two": 1e-3})
    assert agreed.status.success
    body.actuate("dead", fem.Tendon([(0, 0, 0.004), (0, 0, -0.004)]))  # between points that are held
    with pytest.raises(ag.SolverError, match="'dead' is off"):
        fem.statics(body, strokes={"dead": 1e-3})


def test_a_cavity_driven_by_volume_finds_its_pressure():
    by_volume = fem.statics(inflated(), strokes={"air": 2e-6})
    assert by_volume.stroke("air") == pytest.approx(2e-6, rel=1e-9)
    pressure = by_volume.inputs["air"]
    assert pressure > 0
    by_pressure = fem.statics(inflated(), inputs={"air": pressure})
    np.testing.assert_allclose(by_pressure.x, by_volume.x, atol=1e-10)


def test_more_air_than_there_is_cannot_be_taken_out():
    with pytest.raises(ag.SolverError, match="stopped at") as caught:
        fem.statics(inflated((4, 2, 2)), strokes={"air": -1e-3})
    assert np.all(np.isfinite(caught.value.result.x))


def test_gravity_may_be_set():
    body = fem.SoftBody(
        "bar", fem.block((0.1, 0.02, 0.02), (3, 1, 1)), ag.Material(young=1e6, density=1000.0, poisson=0.4)
    )
    body.fix("base")
    body.effector("tip", (0.1, 0.0, 0.0))
    down = fem.statics(body).position("tip")
    body.gravity = (0.0, 0.0, 9.81)
    assert fem.statics(body).position("tip")[2] == pytest.approx(-down[2], rel=1e-3)
    with pytest.raises(ag.DescriptionError, match=r"SoftBody.gravity must be .*m/s\^2"):
        body.gravity = "down"
