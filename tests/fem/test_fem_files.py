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


@pytest.mark.parametrize(("size", "words"), [(40.0, "is 40 m large"), (4e-4, "is 0.0004 m large")])
def test_a_body_of_unusual_size_is_questioned_unless_its_unit_is_given(size, words, tmp_path):
    pytest.importorskip("meshio")
    unit = fem.block((1.0, 0.2, 0.2), (4, 1, 1))
    path = fem.write_mesh(tmp_path / "body.vtk", fem.TetMesh(size * unit.points, unit.tets))
    with pytest.warns(ag.AnguillaWarning, match=words + ": is its unit right"):
        fem.read_mesh(path)
    assert np.ptp(fem.read_mesh(path, unit="m").points[:, 0]) == pytest.approx(size)


GMSH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
3
2 7 "wall"
3 8 "soft"
3 9 "hard"
$EndPhysicalNames
$Nodes
6
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
5 1 1 1
6 9 9 9
$EndNodes
$Elements
5
1 2 2 7 1 1 2 3
2 2 2 7 1 1 4 2
3 2 2 5 1 1 3 4
4 4 2 8 1 1 2 3 4
5 4 2 9 1 2 3 4 5
$EndElements
"""


def test_physical_groups_of_gmsh_are_kept(tmp_path):
    pytest.importorskip("meshio")
    (tmp_path / "two.msh").write_text(GMSH)
    mesh = fem.read_mesh(tmp_path / "two.msh", unit="cm")
    assert {name: list(cells) for name, cells in mesh.regions.items()} == {"soft": [0], "hard": [1]}
    assert list(mesh.nodes["wall"]) == [0, 1, 2, 3]
    assert list(mesh.nodes["hard"]) == [1, 2, 3, 4]
    assert list(mesh.nodes["physical_5"]) == [0, 2, 3]
    assert len(mesh.surfaces["wall"]) == 2
    corner = mesh.points[mesh.surfaces["wall"]]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    assert np.all(normal[:, [2, 1]].diagonal() > 0)  # both into the solid, whichever way the file has them
    body = fem.SoftBody("b", mesh, ag.Material(young=1e6, density=1000.0))
    body.fix("wall")
    body.paint("hard", ag.Material(young=1e8, density=1000.0))


ABAQUS = """*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 0, 1, 0
4, 0, 0, 1
5, 0.5, 0, 0
6, 0.5, 0.5, 0
7, 0, 0.5, 0
8, 0, 0, 0.5
9, 0.5, 0, 0.5
10, 0, 0.5, {top}
*ELEMENT, TYPE=C3D10, ELSET=ALL
1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
*NSET, NSET=FOOT
1, 2, 3, 5
"""


def test_sets_of_abaqus_are_kept_and_curved_edges_are_told(tmp_path):
    pytest.importorskip("meshio")
    (tmp_path / "one.inp").write_text(ABAQUS.format(top=0.5))
    mesh = fem.read_mesh(tmp_path / "one.inp")
    assert mesh.tets.shape == (1, 4)
    assert list(mesh.nodes["FOOT"]) == [0, 1, 2]
    assert list(mesh.regions["ALL"]) == [0]
    (tmp_path / "curved.inp").write_text(ABAQUS.format(top=0.6))
    with pytest.warns(ag.AnguillaWarning, match=r"up to 0\.1 m off the line .* made straight"):
        fem.read_mesh(tmp_path / "curved.inp")


BODY = fem.block((0.1, 0.02, 0.02), (3, 1, 1))
BEYOND = np.array([0.5, 0.0, 0.1])


def rows(values, first=1):
    return "".join(f"{first + k}, " + ", ".join(map(str, row)) + "\n" for k, row in enumerate(values))


def abaqus(tmp_path, text, **options):
    pytest.importorskip("meshio")
    (tmp_path / "bar.inp").write_text(text)
    return fem.read_mesh(tmp_path / "bar.inp", **options)


def test_sets_of_abaqus_grow_name_others_and_follow_their_block(tmp_path):
    points, tets = BODY.points.tolist(), (BODY.tets + 1).tolist()
    mesh = abaqus(
        tmp_path,
        f"*Heading\n** comment\n*Node, nset=Start\n{rows(points[:8])}*Node\n{rows(points[8:], 9)}"
        f"*Element, type=C3D4\n{rows(tets[:6])}*Element, type=C3D4H, elset=Rest\n{rows(tets[6:], 7)}"
        "*Nset, nset=Foot, generate\n1, 3, 1\n*Nset, nset=FOOT\n4\n*Nset, nset=Both\nfoot, 16\n"
        "*Elset, elset=Few\n1, 8\n*Elset, elset=More\nFEW\n 9,\n*Nset, nset=Of, elset=Few\n",
    )
    assert mesh.volume == pytest.approx(BODY.volume) and np.allclose(mesh.points, BODY.points)
    assert list(mesh.nodes["Start"]) == list(range(8)) and list(mesh.nodes["Foot"]) == [0, 1, 2, 3]
    assert list(mesh.nodes["Both"]) == [0, 1, 2, 3, 15]
    assert list(mesh.regions["Rest"]) == list(range(6, 18))  # the second block has the name
    assert list(mesh.regions["Few"]) == [0, 7] and list(mesh.regions["More"]) == [0, 7, 8]
    assert list(mesh.nodes["Of"]) == np.unique(BODY.tets[[0, 7]]).tolist()


def test_surfaces_of_abaqus_are_loaded(tmp_path):
    faces = ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0))
    end = np.isclose(BODY.points[:, 0], 0.1)
    told = [
        (k + 1, f"S{n + 1}")
        for k, tet in enumerate(BODY.tets)
        for n, face in enumerate(faces)
        if end[tet[list(face)]].all()
    ]
    assert len(told) == 2
    lines = "".join(f"{number}, {face}\n" for number, face in told)
    text = f"*NODE\n{rows(BODY.points.tolist())}*ELEMENT, TYPE=C3D4, ELSET=ALL\n{rows((BODY.tets + 1).tolist())}"
    text += f"*SURFACE, TYPE=ELEMENT, NAME=END\n{lines}*SURFACE, NAME=SKIN\nALL,\n*NSET, NSET=BASE, GENERATE\n1, 4\n"
    mesh = abaqus(tmp_path, text)
    body = fem.SoftBody("bar", mesh, ag.Material(young=1e6, poisson=0.0, density=1000.0), gravity=(0, 0, 0))
    body.fix("BASE")
    body.load(fem.Traction("END", (1e3, 0.0, 0.0)))
    body.effector("tip", (0.1, 0.0, 0.0))
    assert fem.statics(body).position("tip")[0] == pytest.approx(0.1 + 1e-3 * 0.1, rel=1e-9)  # sigma / E
    assert fem.mesh.enclosed_volume(mesh.points, mesh.surfaces["SKIN"]) == pytest.approx(
        -BODY.volume
    )  # normals inwards


def part(name, points, extra=""):
    text = f"*PART, NAME={name}\n*NODE\n{rows(points.tolist())}*ELEMENT, TYPE=C3D4, ELSET=E\n"
    return text + f"{rows((BODY.tets + 1).tolist())}*NSET, NSET=FOOT, GENERATE\n1, 4\n{extra}*END PART\n"


def test_parts_of_abaqus_keep_their_numbers_and_go_where_their_instances_are(tmp_path):
    """Numbers of each part begin at 1; of the third there is no instance."""
    text = part("LEFT", BODY.points) + part("RIGHT", BODY.points) + part("SPARE", BODY.points + BEYOND)
    text += (
        "*ASSEMBLY, NAME=A\n*INSTANCE, NAME=L, PART=LEFT\n*END INSTANCE\n*INSTANCE, NAME=R, PART=RIGHT\n0.1, 0., 0.\n"
    )
    text += "*END INSTANCE\n*NSET, NSET=TOP, INSTANCE=R, GENERATE\n13, 16\n"
    text += "*NSET, NSET=ENDS\nL.1, R.16\n*END ASSEMBLY\n"
    with pytest.warns(ag.AnguillaWarning, match=r"groups 'SPARE\.FOOT', 'SPARE\.E' are left out"):
        mesh = abaqus(tmp_path, text, merge=1e-6)
    assert mesh.volume == pytest.approx(2.0 * BODY.volume)
    assert np.ptp(mesh.points, axis=0) == pytest.approx([0.2, 0.02, 0.02])
    assert np.allclose(mesh.points[mesh.nodes["TOP"], 0], 0.2) and np.allclose(
        mesh.points[mesh.nodes["RIGHT.FOOT"], 0], 0.1
    )
    assert sorted(mesh.points[mesh.nodes["ENDS"], 0]) == pytest.approx([0.0, 0.2])
    alone = part("LEFT", BODY.points) + "*INSTANCE, NAME=L, PART=LEFT\n0.5, 0., 0.\n0.5, 0., 0., 0.5, 0., 1., 90.\n"
    turned = abaqus(tmp_path, alone + "*END INSTANCE\n")
    assert np.allclose(turned.points, BODY.points @ [[0, 1, 0], [-1, 0, 0], [0, 0, 1]] + [0.5, 0.0, 0.0])
    again = text.replace("*NSET, NSET=TOP", "*INSTANCE, NAME=L2, PART=LEFT\n*END INSTANCE\n*NSET, NSET=TOP")
    with pytest.raises(ag.DescriptionError, match="'LEFT' is there more than once"):
        abaqus(tmp_path, again)


def test_what_files_of_abaqus_include_lies_beside_them(tmp_path):
    (tmp_path / "nodes.txt").write_text(rows(BODY.points.tolist()))
    tets = f"*ELEMENT, TYPE=C3D4\n{rows((BODY.tets + 1).tolist())}"
    mesh = abaqus(tmp_path, "*NODE, INPUT=nodes.txt\n" + tets)
    assert np.allclose(mesh.points, BODY.points)
    (tmp_path / "below").mkdir()
    for name in ("../nodes.txt", "none.txt"):
        with pytest.raises(ag.DescriptionError, match="must be a file beside it or below"):
            abaqus(tmp_path / "below", f"*INCLUDE, INPUT={name}\n" + tets)
    (tmp_path / "round.txt").write_text("*INCLUDE, INPUT=again.txt\n")
    (tmp_path / "again.txt").write_text("*INCLUDE, INPUT=round.txt\n")
    for name in ("bar.inp", "round.txt"):
        with pytest.raises(ag.DescriptionError, match="more than once"):
            abaqus(tmp_path, f"*INCLUDE, INPUT={name}\n" + tets)
    with pytest.raises(ag.DescriptionError, match=r"\*NGEN makes or moves points by a rule"):
        abaqus(tmp_path, f"*NODE\n{rows(BODY.points.tolist()[:8])}*NGEN\n1, 16, 1\n" + tets)


def test_sets_of_abaqus_that_name_others_twice_do_not_unfold(tmp_path):
    text = f"*NODE\n{rows(BODY.points.tolist())}*ELEMENT, TYPE=C3D4, ELSET=S0\n{rows((BODY.tets + 1).tolist())}"
    text += "".join(f"*ELSET, ELSET=S{k + 1}\nS{k}, S{k}\n" for k in range(60))  # 2^60 elements, each again and again
    mesh = abaqus(tmp_path, text)
    assert mesh.regions["S60"].tolist() == list(range(len(BODY.tets)))


def test_solid_cells_that_are_left_out_are_told(tmp_path):
    meshio = pytest.importorskip("meshio")
    box = 0.02 * np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
    cells = [("tetra", BODY.tets), ("hexahedron", np.arange(8)[None] + len(BODY.points))]
    meshio.Mesh(np.vstack([BODY.points, box + np.array([0.1, -0.01, -0.01])]), cells).write(tmp_path / "both.vtk")
    with pytest.warns(ag.AnguillaWarning, match=r"left out \(1 hexahedron\), so that a part of the body is missing"):
        assert fem.read_mesh(tmp_path / "both.vtk").volume == pytest.approx(BODY.volume)
    meshio.Mesh(box, [("hexahedron", np.arange(8)[None])]).write(tmp_path / "box.vtk")
    with pytest.raises(ag.DescriptionError, match="Mesh the solid with tetrahedra"):
        fem.read_mesh(tmp_path / "box.vtk")


def cracked():
    """A bar whose halves have points of their own in the plane between them, except along one edge: (points, tets)."""
    mesh = fem.block((0.1, 0.02, 0.02), (4, 2, 2))
    points, tets = mesh.points, mesh.tets.copy()
    middle = np.flatnonzero((np.abs(points[:, 0] - 0.05) < 1e-9) & (points[:, 2] > -0.0099))
    right = points[tets].mean(axis=1)[:, 0] > 0.05
    twin = np.arange(len(points))
    twin[middle] = len(points) + np.arange(len(middle))
    tets[right] = twin[tets[right]]
    return np.vstack([points, points[middle]]), tets, len(middle)


def test_a_crack_is_refused_and_merging_mends_it(tmp_path):
    meshio = pytest.importorskip("meshio")
    points, tets, count = cracked()
    words = rf"{2 * count} points lie on one another .* merge"
    with pytest.raises(ag.DescriptionError, match=words):
        fem.TetMesh(points, tets)
    sets = {"all": np.arange(len(points)), "twins": np.arange(len(points) - count, len(points))}
    meshio.Mesh(points, [("tetra", tets)], point_sets=sets).write(tmp_path / "cracked.inp")
    with pytest.raises(ag.DescriptionError, match=words):
        fem.read_mesh(tmp_path / "cracked.inp")
    mesh = fem.read_mesh(tmp_path / "cracked.inp", merge=1e-6)
    assert len(mesh.points) == len(points) - count
    assert len(mesh.nodes["twins"]) == count  # names follow
    assert mesh.volume == pytest.approx(0.1 * 0.02 * 0.02, rel=1e-9)


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
