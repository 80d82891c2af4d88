"""Soft volumes in the viewer: the colours are those of the numbers."""

import time

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.cli.app import main

pytest.importorskip("viser")
from anguilla.fem.fields import nodal
from anguilla.view.soft import coloured, drive_soft, play_soft


@pytest.fixture(scope="module")
def bar():
    """A bar pulled along itself: one stress everywhere."""
    body = fem.SoftBody(
        "bar", fem.block((0.1, 0.02, 0.02), (6, 2, 2)), ag.Material(1e6, 1000, poisson=0.0), gravity=(0, 0, 0)
    )
    body.fix("base")
    for point in body.mesh.points[body.mesh.nodes["tip"]]:
        pad = np.prod([0.5 if abs(abs(c) - 0.01) < 1e-9 else 1.0 for c in point[1:]])
        body.load(fem.PointForce(point, (1.0 * pad / 4.0, 0.0, 0.0)))
    return fem.statics(body)


def test_nodes_take_the_mean_of_their_tetrahedra(bar):
    stress = nodal(bar.system, bar.stress())
    assert stress[bar.x[:, 0] < 0.06] == pytest.approx(
        1.0 / 4e-4, rel=2e-3
    )  # force over area [Pa], away from the forces
    # a linear field at the tetrahedra is met in the middle of the bar, where its surroundings are symmetric
    middle = bar.x[bar.system.elements.nodes].mean(axis=1)[:, 0]
    inner = np.abs(bar.x[:, 0] - 0.05) < 1e-3
    assert nodal(bar.system, middle)[inner] == pytest.approx(0.05, abs=2e-3)


def test_the_ends_of_the_scale_have_the_ends_of_the_colours():
    mesh = coloured(np.eye(3), np.array([[0, 1, 2]]), np.array([0.0, 1.0, 7.0]))
    strip = np.asarray(mesh.visual.material.baseColorTexture)[0]
    place = (mesh.visual.uv[:, 0] * 256).astype(int)
    assert place.tolist() == [0, 255, 255]
    assert strip[0].sum() < 200 < 400 < strip[-1].sum()  # dark to light


def test_a_motion_is_played(bar):
    run = fem.simulate(bar.body, duration=0.02, dt=0.005)
    shown = play_soft(run, port=8331)
    try:
        assert shown.colour == "displacement" and len(shown.t) == 5
        shown._play(False)
        shown.seek(0.02)
        assert np.allclose(shown.values, np.linalg.norm(run.x[-1] - run.system.grid.points, axis=1))
    finally:
        shown.close()


def test_a_body_follows_its_sliders(bar):
    body = fem.SoftBody("finger", fem.finger(cells=(4, 2, 2)), ag.Material(1e5, 1000, poisson=0.4))
    body.fix("base")
    body.actuate("pull", fem.Tendon([(0.0, 0.0, 0.009), (0.095, 0.0, 0.009)], force=(0.0, 0.7)))
    body.actuate("air", fem.Chamber("chamber"))
    body.effector("tip", (0.1, 0.0, 0.0))
    shown = ag.view(body, wait=False, browser=False, port=8334)
    try:
        assert shown.sliders["pull"].max == 0.7  # its own limit
        most = shown.sliders["air"].max  # some tenths of the size, to first order
        far = np.abs(fem.statics(body, inputs={"air": most}).x - fem.statics(body).x).max()
        assert 0.02 < far / 0.1 < 1.0
        shown.drive(pull=0.2, air=500.0)
        for _ in range(200):
            if shown.result.inputs == {"pull": 0.2, "air": 500.0}:
                break
            time.sleep(0.02)
        goal = fem.statics(body, inputs={"pull": 0.2, "air": 500.0})
        assert np.allclose(shown.result.x, goal.x, atol=1e-9)
        assert np.allclose(shown.picture.x[0], goal.x, atol=1e-9)
        shown.show_colour("strain")
        assert np.allclose(shown.values, nodal(goal.system, goal.strain()), atol=1e-8)
        shown.drive(air=-3.0)  # no vacuum: said on the page, and the body stays
        for _ in range(200):
            if shown.failure:
                break
            time.sleep(0.02)
        assert "vacuum" in shown.failure and np.allclose(shown.result.x, goal.x, atol=1e-9)
    finally:
        shown.close()
    with pytest.raises(ag.DescriptionError, match="no actuator 'push'"):
        drive_soft(body, limits={"push": (0.0, 1.0)})


def test_wrong_things_are_refused(bar):
    with pytest.raises(ag.DescriptionError, match=r"fem\.statics"):
        play_soft("finger")
    with pytest.raises(ag.DescriptionError, match="stress"):
        play_soft(bar, colour="red")


def test_a_file_is_shown(bar, tmp_path, capsys):
    path = bar.save(tmp_path / "bar.nc")
    assert main(["view", str(path), "--port", "8333", "--seconds", "0.1", "--no-open"]) == 0
    assert "open http://127.0.0.1:" in capsys.readouterr().out
