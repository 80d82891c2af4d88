"""Files of meshes, and fitting a material."""

import numpy as np
import pytest
from fem_bodies import bar

import anguilla as ag
from anguilla import fem


@pytest.mark.parametrize("ending", ["vtk", "vtu", "msh", "inp", "mesh"])
def test_a_mesh_comes_back_from_a_file(ending, tmp_path):
    pytest.importorskip("meshio")
    mesh = fem.finger(cells=(4, 2, 2))
    path = fem.write_mesh(tmp_path / f"finger.{ending}", mesh, unit="mm")
    again = fem.read_mesh(path, unit="mm")
    np.testing.assert_allclose(again.points, mesh.points, atol=1e-9)
    assert again.volume == pytest.approx(mesh.volume, rel=1e-9)
    assert list(again.surfaces) == ["cavity_1"]
    body = fem.SoftBody("b", again, ag.Material(young=1e6, density=1000.0))
    body.actuate("air", fem.Chamber("cavity_1"))


def test_a_file_in_the_wrong_unit_is_noticed(tmp_path):
    pytest.importorskip("meshio")
    path = fem.write_mesh(tmp_path / "large.vtk", fem.block((1.0, 0.1, 0.1), (4, 1, 1)), unit="mm")
    with pytest.warns(ag.AnguillaWarning, match="is its unit right"):
        fem.read_mesh(path)


def test_bad_files_are_refused(tmp_path):
    meshio = pytest.importorskip("meshio")
    with pytest.raises(ag.DescriptionError, match="no file"):
        fem.read_mesh(tmp_path / "none.vtk")
    flat = meshio.Mesh(np.eye(3), [("triangle", np.array([[0, 1, 2]]))])
    flat.write(tmp_path / "flat.vtk")
    with pytest.raises(ag.DescriptionError, match="holds no tetrahedra; it holds: triangle"):
        fem.read_mesh(tmp_path / "flat.vtk")
    (tmp_path / "broken.vtk").write_text("nonsense")
    with pytest.raises(ag.DescriptionError, match="could not be read"):
        fem.read_mesh(tmp_path / "broken.vtk")
    with pytest.raises(ag.DescriptionError, match="unit must be one of"):
        fem.read_mesh(tmp_path / "flat.vtk", unit="mile")


def loaded(force, young=3.3e5, poisson=0.42):
    body = bar((8, 1, 1), material=ag.Material(young=young, poisson=poisson, density=1000.0))
    body.load(fem.PointForce((0.1, 0, 0), force))
    return fem.statics(body).position("tip")


def test_young_and_poisson_come_back_from_deflections():
    forces = [(0.0, 0.0, -2e-3), (0.5, 0.0, 0.0), (0.0, 1e-3, 1e-3)]
    guess = bar((8, 1, 1), material=ag.Material(young=1e6, poisson=0.3, density=1000.0))
    cases = [fem.Measurement({"tip": loaded(f)}, loads=[fem.PointForce((0.1, 0, 0), f)]) for f in forces]
    fit = fem.fit_material(guess, cases, ["young", "poisson"])
    assert fit.values["young"] == pytest.approx(3.3e5, rel=1e-4)
    assert fit.values["poisson"] == pytest.approx(0.42, abs=1e-3)
    assert fit.rms < 1e-7
    assert fit.body.material.young == pytest.approx(3.3e5, rel=1e-4)


def test_noise_shows_in_the_deviation():
    rng = np.random.default_rng(0)
    forces = [(0.0, 0.0, -1e-3 * k) for k in range(1, 5)]
    guess = bar((8, 1, 1), material=ag.Material(young=1e6, poisson=0.42, density=1000.0))
    cases = [
        fem.Measurement({"tip": loaded(f) + 1e-4 * rng.standard_normal(3)}, loads=[fem.PointForce((0.1, 0, 0), f)])
        for f in forces
    ]
    fit = fem.fit_material(guess, cases)
    assert abs(fit.values["young"] - 3.3e5) < 4 * fit.deviation["young"]
    assert fit.deviation["young"] < 0.1 * 3.3e5


def test_bad_fits_are_refused():
    body = bar((4, 1, 1))
    with pytest.raises(ag.DescriptionError, match="some of young"):
        fem.fit_material(body, [fem.Measurement({"tip": (0.1, 0, 0)})], ["color"])
    with pytest.raises(ag.DescriptionError, match="at least one measurement"):
        fem.fit_material(body, [])
    with pytest.raises(ag.DescriptionError, match="no effector 'hand'"):
        fem.fit_material(body, [fem.Measurement({"hand": (0.1, 0, 0)})])
    with pytest.raises(ag.DescriptionError, match="do not tell"):
        fem.fit_material(body, [fem.Measurement({"tip": (0.1, 0, 0)})])
