"""Results in files: what is read back is what was computed, to the last bit; other programs' formats hold the same."""

import base64
import csv
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import h5netcdf
import h5py
import numpy as np
import pytest
from scipy.io import loadmat

import anguilla as ag
from anguilla.store.netcdf import read_netcdf, write_netcdf
from anguilla.store.record import Record
from anguilla.view.export import export
from anguilla.view.scene import scene


@pytest.fixture(scope="module")
def path(run, tmp_path_factory):
    return run.save(tmp_path_factory.mktemp("store") / "run.nc")


@pytest.fixture(scope="module")
def again(path):
    return ag.load(path)


def test_states_come_back_to_the_last_bit(run, again):
    for name in "tqva":
        assert np.array_equal(getattr(run, name), getattr(again, name)), name
    assert again.coordinates == run.coordinates
    assert again.status == run.status
    assert repr(again) == repr(run)


def test_everything_derived_comes_back(run, again):
    arm, mine = again.robot.part("arm"), run.robot.part("arm")
    hand, my_hand = again.robot.part("hand"), run.robot.part("hand")
    assert np.array_equal(again.pose(hand.frame), run.pose(my_hand.frame))
    assert np.array_equal(again.acceleration(arm.tip), run.acceleration(mine.tip))
    assert np.array_equal(again.strain(arm), run.strain(mine))
    for kind, value in run.energy.items():
        assert np.array_equal(again.energy[kind], value)
    assert np.array_equal(again.length("pull"), run.length("pull"))
    # the force on the hand is a function in Python: at the stored times its table gives the same
    np.testing.assert_allclose(again.wrench(arm), run.wrench(mine), rtol=1e-12, atol=1e-14)


def test_inputs_come_back(run, again):
    assert again.inputs["push"] == 0.5
    np.testing.assert_allclose([again.inputs["pull"](t) for t in run.t], 2.0 * run.t, atol=1e-15)


def test_a_loaded_run_can_be_continued_and_drawn(again, tmp_path):
    on = ag.simulate(again.robot, duration=0.01, dt=0.005, start=(again.q[-1], again.v[-1]))
    assert on.status.success
    ag.plot(again, tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000


def test_an_equilibrium_comes_back(equilibrium, tmp_path):
    again = ag.load(equilibrium.save(tmp_path / "eq.nc"))
    assert isinstance(again, ag.Equilibrium)
    assert np.array_equal(again.q, equilibrium.q) and again.inputs == {"pull": 1.0}
    arm = again.robot.part("arm")
    assert np.array_equal(again.position(arm.tip), equilibrium.position(equilibrium.robot.part("arm").tip))


def test_the_file_says_what_it_holds(run, path):
    with h5netcdf.File(path, "r") as file:
        assert file.attrs["anguilla_version"] == ag.__version__
        assert file.variables["position"].attrs["units"] == "m"
        assert tuple(file.variables["position"].dimensions) == ("time", "frame", "axis")
        names = [name.decode() if isinstance(name, bytes) else name for name in file.variables["frame"][...]]
        k = names.index("hand.frame")
        here = file.variables["position"][:, k, :]
        assert "arm" in str(file.variables["robot_file"][...])
    assert np.array_equal(here, run.position(run.robot.part("hand").frame))


def test_xarray_opens_it(run, path):
    xr = pytest.importorskip("xarray")
    with xr.open_dataset(path, engine="h5netcdf") as data:
        tip = data.position.sel(frame="arm.tip").values
        assert np.array_equal(tip, run.position(run.robot.part("arm").tip))
        assert np.array_equal(data.q.sel(coordinate="arm.bend_z[0]").values, run["arm.bend_z[0]"])
    table = run.to_xarray()
    assert table.q.dims == ("time", "coordinate") and table.energy_total.attrs["units"] == "J"


def _layout(file):
    """All that an HDF5 file says of its variables, but references, which are numbers in the file, and who wrote it."""
    found = {}
    for name, data in {"/": file, **file}.items():
        attributes = {}
        for key in data.attrs:
            held = data.attrs.get_id(key)
            value = data.attrs[key]
            if key == "REFERENCE_LIST":
                value = sorted((file[at].name, int(axis)) for at, axis in value)
            elif key == "DIMENSION_LIST":
                value = [[file[at].name for at in axis] for axis in value]
            attributes[key] = held.shape, str(held.dtype), np.asarray(value, dtype=object).tolist()
        attributes.pop("_NCProperties", None)
        if name != "/":
            kind = data.dtype, data.shape, data.maxshape, data.compression, data.shuffle, data[...].tolist()
            attributes[""] = kind
        found[name] = attributes
    return found


def test_files_are_laid_out_as_h5netcdf_does_it(tmp_path):
    """Dimensions with labels and without, empty ones, texts, packed and plain numbers, a single text, facts."""
    record = Record()
    record.add("time", ("time",), np.arange(5000.0), "s", "time")
    record.add("axis", ("axis",), np.array(list("xyz"), dtype=object))
    record.add("place", ("time", "axis"), np.random.default_rng(1).normal(size=(5000, 3)), "m", "places")
    record.add("still", ("time", "axis", "column"), np.zeros((5000, 3, 2)), "1")
    record.add("none", ("time", "multiplier"), np.zeros((5000, 0)))
    record.add("count", ("column",), np.array([1, 2], dtype=np.int8))
    record.add("words", (), np.array("robot: {}", dtype=object), "", "a text")
    record.facts = {"title": "Größe", "format": 1, "seconds": 0.5}
    write_netcdf(record, tmp_path / "ours.nc")
    text = h5py.string_dtype(encoding="utf-8")
    with h5netcdf.File(tmp_path / "theirs.nc", "w") as file:
        file.dimensions = record.sizes
        for name, variable in record.variables.items():
            packed = (
                {"compression": "gzip", "compression_opts": 1, "shuffle": True} if name in ("time", "still") else {}
            )
            kind = text if variable.is_text else variable.values.dtype
            made = file.create_variable(name, variable.dimensions, kind, **packed)
            if variable.values.size:
                made[...] = variable.values
            for key, words in (("units", variable.unit), ("long_name", variable.title)):
                if words:
                    made.attrs[key] = words
        file.attrs.update(record.facts)
    with h5py.File(tmp_path / "ours.nc") as ours, h5py.File(tmp_path / "theirs.nc") as theirs:
        assert list(ours) == list(theirs)
        ours, theirs = _layout(ours), _layout(theirs)
        for name in ours:
            assert ours[name] == theirs[name], name


@pytest.mark.parametrize("count", [0, 1, 7, 501, 20_000])
def test_arrays_of_any_size_come_back(tmp_path, count):
    """With and without gain by packing, and along dimensions without entries, which are laid out in pieces."""
    record, chance = Record(), np.random.default_rng(2)
    record.add("time", ("time",), np.arange(float(count)))
    record.add("place", ("time", "axis"), chance.normal(size=(count, 3)))
    record.add("still", ("time", "axis"), np.ones((count, 3)))
    record.add("multipliers", ("time", "multiplier"), np.zeros((count, 0)))
    record.add("corner", ("effector", "time", "axis"), np.zeros((0, count, 3)))
    record.add("names", ("effector",), np.array([], dtype=object))
    write_netcdf(record, tmp_path / "some.nc")
    found = read_netcdf(tmp_path / "some.nc")
    assert {name: v.dimensions for name, v in found.variables.items()} == {
        n: v.dimensions for n, v in record.variables.items()
    }
    for name, variable in record.variables.items():
        assert found[name].shape == variable.values.shape and np.array_equal(found[name], variable.values), name


def test_writing_is_all_or_nothing(run, tmp_path, monkeypatch):
    path = run.save(tmp_path / "run.nc")
    before = path.read_bytes()

    def fail(*_args, **_options):
        raise OSError("disk full")

    monkeypatch.setattr("h5py.File.create_dataset", fail)
    with pytest.raises(OSError, match="disk full"):
        run.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.nc"]


@pytest.mark.parametrize(("name", "words"), [("run.h5", "must end in .nc"), ("no/run.nc", "no folder")])
def test_bad_paths_are_refused(run, name, words, tmp_path):
    with pytest.raises(ag.DescriptionError, match=words):
        run.save(tmp_path / name)


def test_other_files_are_refused(tmp_path, path):
    with pytest.raises(ag.DescriptionError, match="no file"):
        ag.load(tmp_path / "nothing.nc")
    (tmp_path / "text.nc").write_text("hello")
    with pytest.raises(ag.DescriptionError, match="not a netCDF file"):
        ag.load(tmp_path / "text.nc")
    (tmp_path / "cut.nc").write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ag.DescriptionError, match="damaged"):
        ag.load(tmp_path / "cut.nc")
    with h5netcdf.File(tmp_path / "other.nc", "w") as file:
        file.dimensions = {"x": 3}
    with pytest.raises(ag.DescriptionError, match="not a result"):
        ag.load(tmp_path / "other.nc")
    with pytest.raises(ag.DescriptionError, match="robot file"):
        ag.load(tmp_path / "arm.yaml")


class Star(ag.Circle):
    """A section of the user's own, which a file cannot hold."""


def test_a_robot_that_no_file_can_hold_is_asked_for(tmp_path):
    robot = ag.Robot("own")
    robot.add(ag.Rod(0.4, Star(0.01), ag.Material(1e6, 1000), ag.kirchhoff(2)), at=robot.ground, name="arm")
    run = ag.simulate(robot, duration=0.01, dt=0.005)
    path = run.save(tmp_path / "own.nc")
    with pytest.raises(ag.DescriptionError, match="robot=robot"):
        ag.load(path)
    assert np.array_equal(ag.load(path, robot=robot).q, run.q)


# other formats --------------------------------------------------------------------------------------------------------


def test_csv(run, tmp_path):
    with open(export(run, tmp_path / "run.csv"), newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    table = np.array(rows[1:], dtype=float)
    assert rows[0][0] == "time [s]" and len(rows) == len(run.t) + 1
    assert np.array_equal(table[:, rows[0].index("q arm.bend_z[0] [rad/m]")], run["arm.bend_z[0]"])
    assert np.array_equal(
        table[:, rows[0].index("v hand.turn_x [rad/s]")], run.v[:, run.coordinates.index("hand.turn_x")]
    )
    assert np.array_equal(
        table[:, rows[0].index("position arm.tip z [m]")], run.position(run.robot.part("arm").tip)[:, 2]
    )
    twist = run.twist(run.robot.part("arm").tip)
    np.testing.assert_allclose(table[:, rows[0].index("twist arm.tip omega_z [rad/s]")], twist[:, 2], atol=1e-12)
    np.testing.assert_allclose(table[:, rows[0].index("twist arm.tip v_x [m/s]")], twist[:, 3], atol=1e-12)


def test_numpy_and_matlab(run, tmp_path):
    with np.load(export(run, tmp_path / "run.npz"), allow_pickle=False) as data:
        assert np.array_equal(data["q"], run.q) and list(data["coordinate"]) == run.coordinates
    data = loadmat(export(run, tmp_path / "run.mat"))
    assert np.array_equal(data["q"], run.q)
    assert [str(cell[0][0]) for cell in data["coordinate"]] == run.coordinates


def decode(element):
    raw = base64.b64decode(element.text)
    kind = {"Float32": "<f4", "Int32": "<i4"}[element.get("type")]
    assert int(np.frombuffer(raw[:4], "<u4")[0]) == len(raw) - 4
    return np.frombuffer(raw[4:], kind)


def test_paraview(run, tmp_path):
    path = export(run, tmp_path / "run.pvd")
    listed = ET.parse(path).getroot().findall("Collection/DataSet")
    assert [float(entry.get("timestep")) for entry in listed] == run.t.tolist()
    last = ET.parse(tmp_path / listed[-1].get("file")).getroot()
    arrays = {element.get("Name"): decode(element) for element in last.iter("DataArray")}
    points = arrays["Points"].reshape(-1, 3)
    picture = scene(run, sections=48, around=24)
    expected = np.concatenate([tube.surface(-1).reshape(-1, 3) for tube in picture.tubes])
    np.testing.assert_allclose(points, expected, atol=1e-7)
    assert arrays["connectivity"].max() < len(points) and arrays["offsets"][-1] == len(arrays["connectivity"])
    # the surface of the arm is closed and turned outwards: the flux of x / 3 through it is its volume
    ends = np.split(arrays["connectivity"], arrays["offsets"][:-1])
    arm = arrays["part"] == 0
    volume = 0.0
    for face in ends:
        if arm[face[0]]:
            p = points[face].astype(float)
            for a, b in pairwise(p[1:]):
                volume += np.dot(p[0], np.cross(a, b)) / 6.0
    cone = np.pi * 0.4 / 3 * (0.02**2 + 0.02 * 0.01 + 0.01**2)
    assert volume == pytest.approx(cone, rel=0.03)


def test_exports_replace_what_was_there_and_leave_nothing_else(run, tmp_path):
    for _ in range(2):
        export(run, tmp_path / "run.pvd")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run", "run.pvd"]
    with pytest.raises(ag.DescriptionError, match=re.escape(".csv or .npz")):
        export(run, tmp_path / "run.xlsx")
