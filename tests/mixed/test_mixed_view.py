"""Pictures and pages of robots with soft volumes."""

from __future__ import annotations

import base64
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.errors import DescriptionError
from anguilla.view.export import export
from anguilla.view.mixed import bare, bounds_of, picture_of, skins_of


@pytest.fixture(scope="module")
def robot() -> ag.Robot:
    robot = ag.Robot("finger")
    soft = ag.Material(young=1e6, poisson=0.3, density=1000.0)
    arm = robot.add(ag.Rod(0.1, ag.Circle(0.005), soft, ag.kirchhoff(2)), at=robot.ground, name="arm")
    pad = ag.Volume(fem.block((0.05, 0.02, 0.02), (3, 2, 2)), soft, name="pad")
    robot.add(pad, at=arm.tip, patch="base").frame("end", "tip")
    return robot


def test_figures_and_pages_show_rods_and_volumes(robot, tmp_path):
    rest = ag.statics(robot)
    run = ag.simulate(robot, duration=0.03, dt=0.01)
    for result in (rest, run):
        skins, picture = skins_of(result, None), picture_of(result)
        low, high = bounds_of(picture, skins)
        nodes = np.asarray(result.volume("pad").x).reshape(-1, 3)
        assert np.all(nodes >= low - 1e-12) and np.all(nodes <= high + 1e-12)
        assert [tube.name for tube in picture.tubes] == ["arm"]  # masses of welded points are not drawn
        ag.plot(result, tmp_path / "figure.png")
        page = ag.animate(result, tmp_path / "page.html").read_text(encoding="utf-8")
        assert '"rods":[{"name":"arm"' in page
        assert '"volumes":[{"name":"pad"' in page
        assert "finger" in result._repr_html_()
    with pytest.raises(DescriptionError, match="colour must be"):
        ag.plot(rest, colour="displacement")


def test_rods_alone_are_the_same_states(robot):
    rest = ag.statics(robot)
    alone = bare(rest)
    assert np.array_equal(alone.q, rest.q)
    arm = robot.part("arm")
    assert np.allclose(alone.position(alone.robot.part("arm").tip), rest.position(arm.tip))


def test_the_carrier_of_volumes_is_not_taken_for_the_robot(robot):
    rest = ag.statics(robot)
    with pytest.raises(DescriptionError, match="only the rods and bodies"):
        ag.simulate(rest.system, duration=0.01, dt=0.01)
    with pytest.raises(DescriptionError, match="soft volumes"):
        ag.linearise(rest.system, rest)


def test_paraview_gets_rods_and_volumes(robot, tmp_path):
    meshio = pytest.importorskip("meshio")
    run = ag.simulate(robot, duration=0.03, dt=0.01)
    target = export(run, tmp_path / "run.pvd")
    sets = [
        (float(s.get("timestep")), s.get("part"), s.get("file")) for s in ET.parse(target).getroot().iter("DataSet")
    ]
    assert [t for t, _, _ in sets] == pytest.approx(np.repeat(run.t, 2))
    assert [(part, file) for _, part, file in sets[-2:]] == [("0", "run/run_3.vtp"), ("1", "run/run_pad_3.vtu")]
    grid = meshio.read(tmp_path / "run" / "run_pad_3.vtu")  # another program's reader
    assert np.allclose(grid.points, run.volume("pad").x[-1], rtol=0, atol=1e-15)
    assert np.allclose(np.ravel(grid.cell_data["von Mises stress [Pa]"]), run.volume("pad").stress()[-1])
    tip = run.position(robot.part("arm").tip)[-1]
    surface = ET.parse(tmp_path / "run" / "run_3.vtp").getroot()
    points = next(a for a in surface.iter("Points")).find("DataArray")
    places = np.frombuffer(base64.b64decode(points.text)[4:], dtype="<f4").reshape(-1, 3)
    assert np.linalg.norm(places - tip, axis=1).min() < 0.00501  # the rod is 5 mm thick
    assert export(run, tmp_path / "run.csv").read_text() == run.save(tmp_path / "again.csv").read_text()
