"""Files for other programs hold strains, internal forces and tensions, with units: compared with a loaded cantilever."""

import base64
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import anguilla as ag
from anguilla.store.netcdf import read_netcdf
from anguilla.view.export import export

LENGTH, FORCE, PULL, ARM = 0.5, 0.01, 2.0, 0.004


@pytest.fixture(scope="module")
def held():
    """A stiff cantilever, with a force across its tip, a tendon along its side, and a ball that weighs nothing here."""
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    rod = ag.Rod(LENGTH, ag.Circle(0.005), ag.Material(2e11, 7800, poisson=0.3), ag.kirchhoff(4))
    beam = robot.add(rod, at=robot.ground, name="beam")
    robot.add(ag.RigidBody.sphere(0.01, mass=0.1), at=beam.tip, name="ball")
    robot.load(ag.TipWrench(beam, force=(0, 0, FORCE)))
    robot.actuate("pull", ag.Tendon(beam, ag.parallel(y=ARM)))
    return ag.statics(robot, inputs={"pull": PULL})


def arrays(path):
    """Arrays of a .vtp by name."""
    found = {}
    for node in ET.parse(path).iter("DataArray"):
        raw = base64.b64decode(node.text)
        kind = {"Float32": "<f4", "Int32": "<i4"}[node.get("type")]
        assert int.from_bytes(raw[:4], "little") == len(raw) - 4
        values = np.frombuffer(raw[4:], dtype=kind)
        found[node.get("Name")] = values.reshape(-1, int(node.get("NumberOfComponents"))).squeeze()
    return found


def test_paraview_shows_strains_forces_and_tensions(held, tmp_path):
    export(held, tmp_path / "beam.pvd")
    found = arrays(tmp_path / "beam" / "beam_0.vtp")
    beam, X = found["part"] == 0, found["X"]
    assert beam.sum() and (~beam).sum()
    moment, force = found["internal moment [N m]"], found["internal force [N]"]
    bending = 2e11 * np.pi * 0.005**4 / 4
    # a force up bends about -y, falling to zero at the tip; small deflections, so the closed form is that of a straight beam
    np.testing.assert_allclose(np.abs(moment[beam, 1]), FORCE * (LENGTH - X[beam]), atol=1e-4 * FORCE * LENGTH)
    np.testing.assert_allclose(force[beam, 2], FORCE, rtol=1e-4)
    np.testing.assert_allclose(
        found["curvature [rad per m]"][beam, 1] * bending, moment[beam, 1], atol=2e-3 * FORCE * LENGTH
    )
    assert np.isnan(moment[~beam]).all() and np.isnan(found["stretch and shear"][~beam]).all()
    assert found["input pull [N]"] == found["tension pull [N]"] == PULL


def test_netcdf_holds_them_with_units(held, tmp_path):
    record = read_netcdf(held.save(tmp_path / "beam.nc"))
    places = record["section_place"]
    np.testing.assert_allclose(places, np.linspace(0, LENGTH, 5))
    assert record["section"].tolist() == ["beam.root", "beam[0.125]", "beam[0.25]", "beam[0.375]", "beam.tip"]
    np.testing.assert_allclose(np.abs(record["internal_moment"][0, :, 1]), FORCE * (LENGTH - places), atol=1e-4 * FORCE)
    np.testing.assert_allclose(record["internal_force"][0, :, 2], FORCE, rtol=1e-4)
    np.testing.assert_allclose(record["stretch"][0, :, 0], 1.0)
    assert record["tension"].tolist() == record["input"].tolist() == [[PULL]]
    assert record["actuator_unit"].tolist() == ["N"]
    units = {
        name: record.variables[name].unit for name in ("curvature", "internal_moment", "internal_force", "tension")
    }
    assert units == {"curvature": "rad/m", "internal_moment": "N m", "internal_force": "N", "tension": "N"}
    assert ag.load(tmp_path / "beam.nc").inputs == {"pull": PULL}
    assert "input pull [N]" in held.save(tmp_path / "beam.csv").read_text().splitlines()[0]
