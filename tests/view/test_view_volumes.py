"""Soft volumes in figures, pages and ParaView's files: what is drawn is where it is, and has the colour of its number."""

import base64
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.cli.app import main
from anguilla.fem.fields import cauchy, equivalent_strain, green_strain, nodal, von_mises
from anguilla.view.export import export
from anguilla.view.video import write_video
from anguilla.view.volume_page import split_at_edges
from anguilla.view.volume_plots import sharp_edges
from anguilla.view.volumes import volume

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
RUBBER = ag.Material(young=1e5, poisson=0.4, density=1000.0)


@pytest.fixture(scope="module")
def finger():
    body = fem.SoftBody("finger", fem.finger(cells=(6, 2, 2)), RUBBER)
    body.fix("base")
    guides = [(0.01, 0.0, 0.009), (0.05, 0.0, 0.0112), (0.09, 0.0, 0.009)]  # the second one is held by a bracket
    body.actuate("pull", fem.Tendon(guides, origin=(-0.02, 0.0, 0.012), pad=0.008))
    body.actuate("air", fem.Chamber("chamber"))
    body.effector("tip", (0.1, 0.0, 0.0))
    return body


@pytest.fixture(scope="module")
def bent(finger):
    return fem.statics(finger, inputs={"pull": 0.1, "air": 300.0})


@pytest.fixture(scope="module")
def run(finger):
    return fem.simulate(finger, duration=0.1, dt=0.01, inputs={"pull": lambda t: 2.0 * t, "air": 200.0})


def stretched(law, element):
    """A body and nodes that stretch it evenly by three factors, then turn it."""
    body = fem.SoftBody("block", fem.block((0.1, 0.1, 0.1), (2, 2, 2)), RUBBER, law=law, element=element)
    body.fix("base")
    system = fem.SoftSystem(body)
    turn = ag.lie.exp3(np.array([0.3, -0.5, 0.2]))
    return system, system.rest.x @ np.diag([1.3, 0.9, 0.8]) @ turn.T, turn


@pytest.mark.parametrize("element", ["linear", "averaged", "quadratic"])
def test_fields_of_an_even_stretch(element):
    system, x, turn = stretched("neo_hookean", element)
    mu, lam = RUBBER.shear_modulus, 1e5 * 0.4 / (1.4 * 0.2)
    squares, volume_ratio = np.array([1.3, 0.9, 0.8]) ** 2, 1.3 * 0.9 * 0.8
    own = (mu * (squares - 1.0) + lam * np.log(volume_ratio)) / volume_ratio  # principal Cauchy stresses
    expected = turn @ np.diag(own) @ turn.T
    assert np.allclose(cauchy(system, x), expected, rtol=0, atol=1e-9 * 1e5)
    a, b, c = own
    mises = np.sqrt(0.5 * ((a - b) ** 2 + (b - c) ** 2 + (c - a) ** 2))
    assert von_mises(system, x) == pytest.approx(mises, rel=1e-12)
    assert np.allclose(green_strain(system, x), np.diag(0.5 * (squares - 1.0)), atol=1e-13)


def test_the_equivalent_strain_of_a_bar_of_constant_volume_is_the_logarithm_of_its_stretch():
    system, _, turn = stretched("corotational", "linear")
    x = system.rest.x @ np.diag([1.5, 1.5**-0.5, 1.5**-0.5]) @ turn.T
    assert equivalent_strain(system, x) == pytest.approx(np.log(1.5), rel=1e-12)


def test_tendons_are_drawn_where_they_pull(bent, run):
    picture = volume(bent)
    line = picture.lines["pull"][0]
    length = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
    assert length == pytest.approx(bent.length("pull"), rel=1e-12)
    assert np.allclose(line[0], (-0.02, 0.0, 0.012))
    moving = volume(run).lines["pull"]
    lengths = np.linalg.norm(np.diff(moving, axis=1), axis=2).sum(axis=1)
    assert lengths == pytest.approx([run.system.cable_lengths(x)[0] for x in run.x], rel=1e-12)


def test_the_outside_encloses_body_and_cavity(finger, bent):
    picture = volume(bent)
    x, faces = picture.x[0], picture.faces
    enclosed = np.einsum("ij,ij->", x[faces[:, 0]], np.cross(x[faces[:, 1]], x[faces[:, 2]])) / 6.0
    own = bent.deformed().volume + bent.volume("air")
    assert enclosed == pytest.approx(own, rel=1e-12)
    quadratic = fem.SoftBody("finger", finger.mesh, RUBBER, element="quadratic")
    assert volume(quadratic).faces.shape == (4 * len(faces), 3)


def test_colours_follow_the_numbers(bent, run):
    picture = volume(bent, "stress")
    assert np.allclose(picture.values[0], nodal(bent.system, bent.stress()))
    low, high = picture.limits
    assert picture.shown(0) == pytest.approx(np.clip((picture.values[0] - low) / (high - low), 0, 1))
    assert np.allclose(volume(run, "displacement").values[-1], np.linalg.norm(run.x[-1] - run.system.rest.x, axis=1))
    assert run.stress().shape == (len(run.t), len(run.body.mesh.tets)) == run.strain().shape
    with pytest.raises(ag.DescriptionError, match="'displacement', 'stress', 'strain'; got 'red'"):
        ag.plot(bent, colour="red")


def test_edges_of_a_cube_are_sharp_and_its_faces_smooth():
    mesh = fem.block((0.1, 0.1, 0.1), (2, 2, 2))
    nodes, local = np.unique(mesh.boundary, return_inverse=True)
    index, of = split_at_edges(mesh.points[nodes], local.reshape(-1, 3))
    assert len(of) == 6 * 9  # nine points on each side of the cube, none shared
    assert np.array_equal(of[index], local.reshape(-1, 3))
    edges = sharp_edges(mesh.points, mesh.boundary)
    assert len(edges) == 12 * 2
    middle = mesh.points[edges].mean(axis=1) - mesh.points.mean(axis=0)
    assert np.all(np.sum(np.abs(np.abs(middle) - 0.05) < 1e-9, axis=1) == 2)


def test_figures_of_bodies_equilibria_and_motions(finger, bent, run, tmp_path):
    for what, panes in ((finger, 1), (bent, 2), (run, 3)):  # axes beside the scales of the colours
        figure = ag.plot(what, tmp_path / "soft.png")
        titles = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
        assert len(titles) == panes
        assert (tmp_path / "soft.png").stat().st_size > 10_000
    figure = ag.plot(bent, colour="stress")
    bar = next(ax for ax in figure.axes if ax.get_label() == "<colorbar>")
    assert "von Mises stress" in bar.get_ylabel()
    drawn = figure.axes[0].collections[0]
    assert len(drawn.get_facecolor()) == len(volume(bent).faces)


def data_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def whole(array):
    values = np.frombuffer(base64.b64decode(array["data"]), dtype={"u1": "u1", "u2": "<u2", "u4": "<u4"}[array["kind"]])
    return values.reshape(array["shape"]).astype(float)


def test_the_page_holds_the_nodes(run, tmp_path):
    page = ag.animate(run, tmp_path / "run.html", colour="strain")
    text = page.read_text(encoding="utf-8")
    assert "http://" not in text and "https://" not in text and not re.search(r"@[A-Z]+@", text)
    data = data_of(page)
    outside, chamber = data["volumes"]
    assert chamber["glass"] and not outside["glass"]
    nodes = np.unique(volume(run).faces)
    x = np.array(outside["low"]) + outside["step"] * whole(outside["position"])
    size = np.ptp(run.x[:, nodes], axis=(0, 1)).max()
    assert np.abs(x - run.x[:, nodes]).max() < 0.6 * size / 65535
    shown = np.stack([volume(run, "strain").shown(k)[nodes] for k in range(len(run.t))])
    assert np.abs(whole(outside["values"]) / 255 - shown).max() < 0.51 / 255
    assert data["scale"]["text"] == "equivalent strain"
    still = ag.animate(run.body, tmp_path / "body.html")
    assert "scale" not in data_of(still) and "values" not in data_of(still)["volumes"][0]


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_a_browser_draws_the_nodes_where_they_are(run, tmp_path):
    page = ag.animate(run, tmp_path / "run.html")
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    graphics = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=600,400"]
    mode = ["--headless", "--no-sandbox", f"--user-data-dir={tmp_path}", "--virtual-time-budget=3000", "--dump-dom"]
    command = [CHROMIUM, *mode, *quiet, *graphics, f"{page.as_uri()}#t=0.065"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    body = re.search(r"<body[^>]*>", done.stdout)[0]
    assert 'data-state="ready"' in body, body
    tip = json.loads(re.search(r'data-tip="([^"]*)"', body)[1])
    nodes = np.unique(volume(run).faces)
    probe = nodes[data_of(page)["volumes"][0]["probe"]]
    np.testing.assert_allclose(tip, 0.5 * (run.x[6, probe] + run.x[7, probe]), atol=5e-6)  # between two instants


def field(path, kind, name):
    node = next(e for e in ET.parse(path).getroot().iter(kind) for e in e if e.get("Name") == name)
    raw = base64.b64decode(node.text)[4:]
    kinds = {"Float64": "<f8", "Int32": "<i4", "UInt8": "u1"}
    values = np.frombuffer(raw, dtype=kinds[node.get("type")])
    count = int(node.get("NumberOfComponents"))
    return values.reshape(-1, count) if count > 1 else values


def test_paraview_gets_fields_and_time(run, tmp_path):
    target = export(run, tmp_path / "run.pvd")
    sets = list(ET.parse(target).getroot().iter("DataSet"))
    assert [float(s.get("timestep")) for s in sets] == pytest.approx(run.t)
    last = tmp_path / sets[-1].get("file")
    assert np.allclose(field(last, "Points", "Points"), run.x[-1])
    assert np.allclose(field(last, "PointData", "displacement"), run.x[-1] - run.system.rest.x)
    assert np.allclose(field(last, "PointData", "velocity"), run.v[-1])
    assert np.allclose(field(last, "CellData", "stress [Pa]"), cauchy(run.system, run.x[-1]).reshape(-1, 9))
    assert np.allclose(field(last, "CellData", "von Mises stress [Pa]"), run.stress()[-1])
    assert np.allclose(field(last, "CellData", "strain"), green_strain(run.system, run.x[-1]).reshape(-1, 9))
    assert field(last, "PointData", "fixed").sum() == run.body.fixed.any(axis=1).sum()
    assert set(field(last, "Cells", "types")) == {10}
    assert np.array_equal(field(last, "Cells", "connectivity").reshape(-1, 4), run.body.mesh.tets)


def test_quadratic_tetrahedra_keep_their_middles(tmp_path):
    meshio = pytest.importorskip("meshio")
    body = fem.SoftBody("block", fem.block((0.1, 0.1, 0.1), (2, 1, 1)), RUBBER, element="quadratic")
    body.fix("base")
    eq = fem.statics(body)
    export(eq, tmp_path / "eq.pvd")
    read = meshio.read(tmp_path / "eq" / "eq_0.vtu")  # another program's reader
    cells = read.cells_dict["tetra10"]
    pairs = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]  # edges of VTK's quadratic tetrahedron
    rest = read.points - read.point_data["displacement"]
    for k, (i, j) in enumerate(pairs):
        assert np.allclose(rest[cells[:, 4 + k]], 0.5 * (rest[cells[:, i]] + rest[cells[:, j]]))


def test_a_film_of_a_volume(run, tmp_path):
    path = write_video(run[::5], tmp_path / "run.gif", fps=10, speed=1.0)
    from PIL import Image

    with Image.open(path) as film:
        assert film.n_frames == 2
    with pytest.raises(ag.DescriptionError, match="for a video"):
        ag.animate(run.body, tmp_path / "body.gif")


def test_rods_have_no_fields(case, tmp_path):
    with pytest.raises(ag.DescriptionError, match="is for soft volumes"):
        ag.plot(case.eq, colour="stress")
    with pytest.raises(ag.DescriptionError, match="is for soft volumes"):
        ag.animate(case.eq, tmp_path / "eq.html", colour="stress")
    with pytest.raises(ag.DescriptionError, match="SoftBody has no result"):
        export(fem.SoftBody("b", fem.block((0.1, 0.1, 0.1), (1, 1, 1)), RUBBER), tmp_path / "b.csv")


def test_the_command_line_draws_files_of_volumes(bent, run, tmp_path, capsys):
    still, moving = str(bent.save(tmp_path / "bent.nc")), str(run.save(tmp_path / "run.nc"))
    assert main(["plot", still, str(tmp_path / "bent.png"), "--colour", "strain"]) == 0
    assert main(["video", moving, str(tmp_path / "run.html")]) == 0
    assert main(["convert", still, str(tmp_path / "bent.pvd")]) == 0
    assert main(["convert", moving, str(tmp_path / "run.csv")]) == 0
    assert main(["video", still, str(tmp_path / "bent.gif")]) == 3
    assert "a video needs a motion" in capsys.readouterr().err
    for name in ("bent.png", "run.html", "bent.pvd", "run.csv"):
        assert (tmp_path / name).stat().st_size > 100
