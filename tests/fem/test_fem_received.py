"""Files of meshes that somebody sends: no more is read than they hold, and nothing beyond them."""

import time
import tracemalloc

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.fem import files

meshio = pytest.importorskip("meshio")


@pytest.mark.parametrize("name", ["mesh.xdmf", "mesh.XMF", "mesh.vtu.gz", "mesh.gz"])
def test_files_that_name_others_or_unfold_are_refused(name, tmp_path):
    (tmp_path / name).write_bytes(b"<Xdmf/>")
    with pytest.raises(ag.DescriptionError, match="convert it to"):
        fem.read_mesh(tmp_path / name)


def test_a_file_that_is_too_long_is_not_opened(tmp_path):
    with open(tmp_path / "mesh.msh", "wb") as file:
        file.truncate(2_000_000_001)  # without a byte on the disk
    with pytest.raises(ag.DescriptionError, match="at most 2000000000"):
        fem.read_mesh(tmp_path / "mesh.msh")


def replaced(path, old, new):
    raw = path.read_bytes()
    assert raw.count(old) >= 1
    path.write_bytes(raw.replace(old, new, 1))


def large(path, kind, number):
    """Write a file of Gmsh, one of whose numbers is large: the number of its last point, a count of blocks, of cells."""
    mesh = fem.block((0.1, 0.03, 0.03), (3, 1, 1))
    data = meshio.Mesh(mesh.points, [("tetra", mesh.tets)], field_data={"soft": np.array([7, 3])})
    data.cell_data = {
        "gmsh:physical": [np.full(len(mesh.tets), 7)],
        "gmsh:geometrical": [np.full(len(mesh.tets), 1)],
    }
    points, cells = len(mesh.points), len(mesh.tets)
    version, text = kind.split()[:2]
    meshio.write(path, data, file_format="gmsh22" if version == "2.2" else "gmsh", binary=text == "binary")
    word = (lambda n: np.array(n, "u8").tobytes()) if text == "binary" else (lambda n: f"{n}".encode())
    if kind == "2.2 text point":
        replaced(path, f"\n{points} ".encode(), f"\n{number} ".encode())
    elif kind.endswith("point"):
        between = b"" if text == "binary" else b"\n"
        replaced(
            path,
            word(points - 1) + between + word(points) + between,
            word(points - 1) + between + word(number) + between,
        )
    elif kind == "4.1 binary blocks":
        replaced(path, b"$Elements\n" + word(1), b"$Elements\n" + word(number))
    else:  # cells of a group with a name
        head = np.array([3, 1, 4], "i4").tobytes()
        replaced(path, head + word(cells), head + word(number))
    return path


GMSH = ["2.2 text point", "4.1 text point", "4.1 binary point", "4.1 binary blocks", "4.1 binary cells"]


@pytest.mark.parametrize("number", [20_000_000, 2**31 - 1, 2**40])
@pytest.mark.parametrize("kind", GMSH)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_in_a_file_of_gmsh_take_no_memory(kind, number, tmp_path):
    path = large(tmp_path / "mesh.msh", kind, number)
    tracemalloc.start()
    began = time.process_time()
    try:
        with pytest.raises(ag.DescriptionError, match=r"mesh\.msh"):
            fem.read_mesh(path)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 2.0


@pytest.mark.parametrize("kind", GMSH[:3])
@pytest.mark.filterwarnings("ignore:.*are left out")
def test_a_tetrahedron_whose_point_is_not_there_is_refused_and_not_given_the_last_one(kind, tmp_path):
    points = len(fem.block((0.1, 0.03, 0.03), (3, 1, 1)).points)
    assert len(fem.read_mesh(large(tmp_path / "mesh.msh", kind, points)).tets) == 18
    with pytest.raises(ag.DescriptionError, match="points that do not exist"):
        fem.read_mesh(large(tmp_path / "mesh.msh", kind, points + 9))


@pytest.mark.parametrize("counts", ["999999999\n", "1\nname\n999999999\n", "1\nname\n1\n0.0\n999999999\n"])
def test_counts_beyond_the_end_of_a_file_of_gmsh_are_not_waited_for(counts, tmp_path):
    path = tmp_path / "mesh.msh"
    fem.write_mesh(tmp_path / "plain.vtk", fem.block((0.1, 0.03, 0.03), (3, 1, 1)))
    meshio.write(path, meshio.read(tmp_path / "plain.vtk"), file_format="gmsh", binary=False)
    with open(path, "a") as file:
        file.write("$NodeData\n" + counts)
    began = time.process_time()
    with pytest.raises(ag.DescriptionError, match=r"mesh\.msh"):
        fem.read_mesh(path)
    assert time.process_time() - began < 2.0


def test_meshio_itself_is_left_alone():
    assert meshio.gmsh._gmsh41.np is np and files._Frugal(1).pi == np.pi
