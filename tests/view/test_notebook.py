"""What a notebook shows of robots, equilibria, motions and figures; tests/test_notebooks.py asks a real kernel."""

import html
import json
import re
import sys

import numpy as np
import pytest

import anguilla as ag
from anguilla.solve.newton import progress
from anguilla.view.plots import busiest_frame
from anguilla.view.scene import scene


def page_in(text):
    """The page inside of what is shown, and its data."""
    page = html.unescape(re.search(r'<iframe srcdoc="([^"]*)"', text)[1])
    return page, json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


def rows_of(text):
    return dict(re.findall(r"<tr><th[^>]*>(.*?)</th><td[^>]*>(.*?)</td></tr>", text))


def test_a_motion_shows_a_page_a_table_and_curves(case):
    text = case.run._repr_html_()
    page, data = page_in(text)
    assert "default-src 'none'" in page and 'sandbox="allow-scripts"' in text
    assert data["name"] == "two_rods" and data["frames"] == len(case.run.t)
    rows = rows_of(text)
    assert rows["time"] == "0 to 0.5 s, 51 states" and rows["coordinates"] == str(case.run.q.shape[1])
    assert "data:image/png;base64," in text
    assert len(text) < 1e6


def test_an_equilibrium_tells_where_its_tips_are(case):
    rows = rows_of(case.eq._repr_html_())
    told = [float(x) for x in rows["blade.tip"].strip("() m").split(",")]
    np.testing.assert_allclose(told, case.eq.position(case.blade.tip), atol=6e-5)


def test_a_robot_shows_its_rest_shape(case):
    text = case.robot._repr_html_()
    assert page_in(text)[1]["frames"] == 1
    rows = rows_of(text)
    assert rows["arm"] == "rod, 0.4 m, 6 coordinates" and rows["loads"] == "TipWrench"


def test_a_robot_without_parts_shows_a_table():
    assert "<iframe" not in ag.Robot("empty")._repr_html_()


def test_a_robot_that_cannot_be_assembled_says_why():
    robot = ag.Robot("open")
    rod = ag.Rod(0.2, ag.Circle(0.01), ag.Material(young=1e6, density=1000), ag.planar(2))
    arm = robot.add(rod, at=robot.ground)
    robot.close(robot.ground.offset_by((3.0, 0, 0)), arm.tip)
    text = robot._repr_html_()
    assert "<iframe" not in text and "cannot be closed" in text


def test_an_animation_without_a_path_is_the_page(case, tmp_path):
    made = ag.animate(case.run)
    written = ag.animate(case.run, tmp_path / "run.html")
    assert made.html == written.read_text(encoding="utf-8")
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', made._repr_html_())[1]) == made.html
    assert made.save(tmp_path / "again.html").read_text(encoding="utf-8") == made.html
    assert len(repr(made)) < 100


def test_only_roots_that_cannot_move_are_drawn_on_a_mount():
    rod = ag.Rod(0.2, ag.Circle(0.01), ag.Material(young=1e6, density=1000), ag.planar(2))
    for joint, clamped in ((None, True), (ag.Free(), False), (ag.Revolute((0, 0, 1)), False)):
        robot = ag.Robot("arm", gravity=(0, 0, 0))
        robot.add(rod, at=robot.ground, joint=joint)
        run = ag.simulate(robot, duration=0.02, dt=0.01)
        assert scene(run).tubes[0].clamped is clamped


def test_the_curve_of_bodies_is_that_of_the_one_that_moves():
    robot = ag.Robot("chain", gravity=(0, 0, 0))
    bar = ag.RigidBody.box((0.3, 0.03, 0.03), mass=1.0, com=(0.15, 0, 0))
    first = robot.add(bar, at=robot.ground, joint=ag.Revolute((0, 0, 1)), name="first")
    robot.add(bar, at=first.at((0.3, 0, 0)), joint=ag.Revolute((0, 0, 1)), name="second")
    robot.add(bar, at=robot.ground, joint=ag.Revolute((0, 0, 1)), name="third")
    run = ag.simulate(robot, duration=0.1, dt=0.01, start=(np.zeros(3), [3.0, 0.0, 0.0]))
    assert busiest_frame(run).part_index == 1


def test_a_bar_in_a_notebook_tells_and_goes(monkeypatch):
    shown = []

    class Handle:
        def update(self, text):
            shown.append(text.data)

    def display(text, display_id):
        shown.append(text.data)
        return Handle()

    module = pytest.importorskip("IPython.display")
    monkeypatch.setattr(module, "display", display)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    with progress.progress_bar("working <hard>", 10) as tick:
        tick(1)
        tick.bar.drawn -= 1.0
        tick(5)
        assert not tick.bar.finished
        tick(10)
        assert tick.bar.finished
    assert "50 %" in shown[1] and "s left" in shown[1] and "&lt;hard&gt;" in shown[1]
    assert shown[-1] == ""


def test_soft_volumes_show_themselves():
    from anguilla import fem

    rubber = ag.Material(young=5e5, poisson=0.45, density=1050)
    body = fem.SoftBody("finger", fem.block((0.1, 0.02, 0.02), (5, 1, 1)), rubber)
    body.fix("base")
    body.effector("tip", (0.1, 0.0, 0.0))
    bent = fem.statics(body)
    run = fem.simulate(body, duration=0.02, dt=0.01)
    for thing in (body, bent, run):
        assert "<iframe srcdoc=" in thing._repr_html_()
    told = [float(x) for x in rows_of(bent._repr_html_())["tip"].strip("() m").split(",")]
    np.testing.assert_allclose(told, bent.position("tip"), atol=6e-5)
    assert rows_of(run._repr_html_())["time"] == "0 to 0.02 s, 3 states"
