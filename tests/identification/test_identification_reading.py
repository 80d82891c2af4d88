"""Measurements: from tables and files, checked at the door."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from identification_robots import MARKERS, filmed, pulls, tendon_arm

import anguilla as ag
from anguilla.identification.trial import between

WIDE = "t,tip_x [mm],tip_y [mm],tip_z [mm],pull,length:t1,remark\n0.0,1,2,3,0.5,0.2,a\n0.1,,,,0.7,0.3,b\n"
LONG = (
    "t,name,x,y,z,value\n0.0,tip,0.001,0.002,0.003,\n0.0,pull,,,,0.5\n0.1,pull,,,,0.7\n"
    "0.0,length:t1,,,,0.2\n0.1,length:t1,,,,0.3\n"
)


def check(data):
    assert np.allclose(data.positions["tip"], [[1e-3, 2e-3, 3e-3], [np.nan] * 3], equal_nan=True)
    assert np.allclose(data.inputs["pull"], [0.5, 0.7])
    assert np.allclose(data.lengths["t1"].ravel(), [0.2, 0.3])
    assert np.allclose(data.t, [0.0, 0.1])


def test_wide_long_and_netcdf_say_the_same(tmp_path):
    for name, text in (("wide", WIDE), ("long", LONG)):
        (tmp_path / f"{name}.csv").write_text(text)
        data = ag.Measurements.read(tmp_path / f"{name}.csv", inputs=["pull"])
        check(data)
        assert not data.motion
        assert data.name == name
    import xarray

    gap = np.array([[1.0, 2.0, 3.0], [np.nan] * 3])
    table = xarray.Dataset(
        {
            "tip": (("time", "axis"), gap, {"units": "mm"}),
            "pull": ("time", [0.5, 0.7]),
            "length:t1": ("time", [0.2, 0.3]),
        },
        {"time": ("time", [0.0, 0.1])},
    )
    table.to_netcdf(tmp_path / "run.nc", engine="h5netcdf")
    check(ag.Measurements.read(tmp_path / "run.nc", inputs=["pull"]))


FOREIGN = {
    "a capture with lines before": "NO_OF_FRAMES\t2\nMARKER_NAMES\ttip\nTime (s)\tTip X (mm)\tTip Y (mm)\tTip Z (mm)"
    "\tTip_sigma\tMotor 1\n0.0\t1\t2\t3\t0.5\t0.5\n0.1\t\t\t\t0.5\t0.7\n",
    "decimal commas": "timestamp;Tip.x_mm;Tip.y_mm;Tip.z_mm;Tip sigma;Motor 1;Bemerkung\n0,0;1,0;2,0;3,0;0,5;0,5;a\n"
    "0,1;-;NaN;;0,5;0,7;b\n",
    "the unit is said": "t,Tip_pos_x,Tip_pos_y,Tip_pos_z,Tip_sigma,Motor 1\n0.0,1,2,3,0.5,0.5\n0.1,,,,0.5,0.7\n",
}


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_tables_as_others_write_them(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    columns = {"Tip": "tip", "Motor 1": "pull"}
    data = ag.Measurements.read(tmp_path / "a.csv", inputs=["pull"], unit="mm", columns=columns)
    assert np.allclose(data.positions["tip"], [[1e-3, 2e-3, 3e-3], [np.nan] * 3], equal_nan=True)
    assert np.allclose(data.inputs["pull"], [0.5, 0.7])
    assert np.allclose(data.deviation("positions", "tip"), 5e-4)
    assert np.allclose(data.t, [0.0, 0.1])


def test_rotations_and_degrees(tmp_path):
    half = 0.5 * np.sqrt(2.0)
    (tmp_path / "q.csv").write_text(f"tip_qw,tip_qx,tip_qy,tip_qz,knee_deg\n{half},0,0,{half},90\n,,,,45\n")
    (tmp_path / "r.csv").write_text("tip_rx [deg],tip_ry [deg],tip_rz [deg],knee [deg]\n0,0,90,90\n,,,45\n")
    for name in ("q", "r"):
        data = ag.Measurements.read(tmp_path / f"{name}.csv")
        assert np.allclose(data.turns["tip"][0].reshape(3, 3), [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
        assert np.isnan(data.turns["tip"][1]).all()
        assert np.allclose(data.inputs["knee"], [np.pi / 2, np.pi / 4])
    (tmp_path / "bad.csv").write_text("tip_qw,tip_qx,tip_qy,tip_qz\n1,1,0,0\n")
    with pytest.raises(ag.DescriptionError, match=r"has the length 1\.41, not 1"):
        ag.Measurements.read(tmp_path / "bad.csv")


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("tip_x,tip_y,tip_z,mid_x,mid_y,pull", "marker 'mid' has mid_x, mid_y, but mid_z is missing"),
        ("tip_x,tip_y,tip_z,Mid.x,Mid.z,pull", "marker 'mid' has mid_x, mid_z, but mid_y is missing"),
        ("tip_x,tip_y,tip_z,mid_qw,mid_qx,mid_qy", "marker 'mid' has mid_qw, mid_qx, mid_qy, but mid_qz is missing"),
        ("mid_x,mid_y,mid_z,mid_rx,mid_ry,tip_x", "marker 'mid' has mid_rx, mid_ry, but mid_rz is missing"),
        ("mit_x,mit_y,mit_z,a,b,pull", r"has no marker 'mid' \(did you mean 'mit'\?\).*there are: mit"),
    ],
)
def test_a_marker_that_is_named_must_be_there(tmp_path, header, words):
    (tmp_path / "a.csv").write_text(f"{header}\n1,2,3,4,5,6\n")
    columns = {"Mid": "mid"} if "Mid" in header else None
    with pytest.raises(ag.DescriptionError, match=words):
        ag.Measurements.read(tmp_path / "a.csv", columns=columns, markers={"mid": "arm[0.1]"})


def test_slips_of_units_labels_and_inputs_are_named():
    robot = tendon_arm()
    inputs = pulls(6, np.random.default_rng(0))
    places = filmed(robot, inputs, 0.0, np.random.default_rng(0))
    data = ag.Measurements(positions=places, inputs=inputs, markers=MARKERS)
    large = {name: 1e3 * x for name, x in places.items()}
    with pytest.warns(ag.AnguillaWarning) as notes:
        ag.identify(robot, replace(data, positions=large), ["arm.material.young"], iterations=3)
    assert any("may be in another unit" in str(note.message) for note in notes)
    (one, a), (two, b) = places.items()
    swap = np.arange(6)[:, None] % 3 == 0
    mixed = replace(data, positions={one: np.where(swap, b, a), two: np.where(swap, a, b)})
    with pytest.warns(ag.AnguillaWarning, match=r"mixed up in 2 of 6 rows \(0, 3\)"):
        found = ag.identify(robot, mixed, ["arm.material.young"])
    right = found.relabelled(mixed)
    assert np.array_equal(right.positions[one], a)
    assert np.array_equal(right.positions[two], b)
    with pytest.raises(ag.DescriptionError, match=r"has an input 'servo', but the robot has t1, t2, t3.*columns="):
        ag.identify(robot, replace(data, inputs={"servo": 1.0}), ["arm.material.young"])
    with pytest.raises(ag.DescriptionError, match=r"needs its place, markers=\{'led': 'arm.tip'\}"):
        ag.identify(robot, ag.Measurements(positions={"led": a}, inputs=inputs), ["arm.material.young"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a_x,a_x\n1,2\n", "two columns are called 'a_x'"),
        ("tip_x [ft],tip_y,tip_z\n1,2,3\n", "unit of column 'tip_x .ft.'"),
        ("tip_x,tip_y,tip_z\n1,2\n", "line 2: 2 cells under 3 names"),
        ("tip_x,tip_y,tip_z\n", "has no rows"),
        ("tip_x,tip_y,tip_z\n1,2,3\n", "has no column 'pull'"),
        ("name,x,y,z\ntip,1,2,3\n", "a long table needs"),
        ("tip_x,tip_y,tip_z,pull\n1,2,oops,1\n2,3,4,1\n", "could not convert string"),
    ],
)
def test_files_that_make_no_sense(tmp_path, text, words):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ag.DescriptionError, match=words):
        ag.Measurements.read(tmp_path / "a.csv", inputs=["pull"])


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ag.DescriptionError, match="there is no file"):
        ag.Measurements.read(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "needs something that was measured"),
        ({"positions": {"a": np.zeros((2, 3)), "b": np.zeros((3, 3))}}, "'b' has 3 rows, others have 2"),
        ({"positions": {"a": np.zeros((2, 2))}}, "3 numbers in each row"),
        ({"positions": {"a": np.zeros((2, 3))}, "inputs": {"u": [1.0, np.nan]}}, "a finite number, or 2"),
        ({"positions": {"a": np.zeros((2, 3))}, "motion": True}, "need the times"),
        ({"positions": {"a": np.zeros((2, 3))}, "t": [1.0, 0.0], "motion": True}, "of a motion increasing"),
        ({"positions": {"a": np.zeros((2, 3))}, "base": "place"}, "what is not known"),
        ({"positions": {"a": np.zeros((2, 3))}, "sigma": {"b": 1.0}}, "'b' was not measured"),
    ],
)
def test_measurements_that_make_no_sense(given, words):
    with pytest.raises(ag.DescriptionError, match=words):
        ag.Measurements(**given)


def test_requests_that_make_no_sense():
    robot = ag.Robot()
    robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1e3), ag.planar(1)), at=robot.ground, name="arm")
    data = ag.Measurements(positions={"arm.tip": np.zeros((1, 3))})
    for free, words in (
        (["arm.material.yung"], "did you mean 'young'"), ([], "paths of what is to be found"),
        (["arm.length", "arm.length"], "appears twice"), (["inputs.t1.gain"], "has no input 't1'"),
        (["inputs.t1.twist"], "a gain, an offset, a lag or a backlash"), (["inputs.lag"], "needs the times"),
        ([ag.Unknown("arm.length", bounds=(0.4, 0.5))], "must begin within its bounds"),
    ):  # fmt: skip
        with pytest.raises(ag.DescriptionError, match=words):
            ag.identify(robot, data, free)
    with pytest.raises(ag.DescriptionError, match=r"there is no frame 'leg\.tip'"):
        ag.identify(robot, ag.Measurements(positions={"leg.tip": np.zeros((1, 3))}), ["arm.length"])
    with pytest.raises(ag.DescriptionError, match="a name of its own"):
        ag.identify(robot, [data, data], ["arm.length"])
    with pytest.raises(ag.DescriptionError, match="must be one of linear"):
        ag.identify(robot, data, ["arm.length"], loss="quadratic")


def test_rows_that_are_kept():
    data = ag.Measurements(
        positions={"a": np.arange(12.0).reshape(4, 3)}, inputs={"u": np.arange(4.0)}, t=np.arange(4.0)
    )
    some = data.keeping([1, 3])
    assert some.seen.tolist() == [False, True, False, True]
    assert np.array_equal(some.inputs["u"], data.inputs["u"])
    assert data.at([1, 3]).rows == 2
    assert data.digest != some.digest


def test_states_between_steps_are_cubic():
    t, times = np.linspace(0.0, 1.0, 5), np.array([0.0, 0.13, 0.5, 0.99, 1.0])
    q, v = np.stack([t**3 - t], axis=1), np.stack([3 * t**2 - 1], axis=1)
    assert np.allclose(between(t, q, v, times)[:, 0], times**3 - times, atol=1e-14)


@pytest.mark.filterwarnings("ignore:No analog data")
def test_motion_capture(tmp_path):
    c3d = pytest.importorskip("c3d")
    writer, path = c3d.Writer(point_rate=50.0), tmp_path / "run.c3d"
    for k in range(4):
        points = np.zeros((2, 5), dtype=np.float32)
        points[:, :3] = [[10.0 * k, 1.0, 2.0], [100.0, 20.0 * k, 3.0]]
        points[1, 3] = -1.0 if k == 2 else 0.0  # the second marker is lost once
        writer.add_frames([(points, np.zeros((0, 0)))])
    writer.set_point_labels(["tip", "mid"])
    with path.open("wb") as file:
        writer.write(file)
    data = ag.Measurements.read(path)
    assert np.allclose(data.t, [0.0, 0.02, 0.04, 0.06]) and data.motion
    assert np.allclose(data.positions["tip"], [[0.01 * k, 1e-3, 2e-3] for k in range(4)])
    assert np.isnan(data.positions["mid"][2]).all() and np.allclose(data.positions["mid"][3], [0.1, 0.06, 3e-3])
    (tmp_path / "junk.c3d").write_bytes(b"no such thing" * 100)
    with pytest.raises(ag.DescriptionError, match=r"junk.c3d cannot be read as a C3D file"):
        ag.Measurements.read(tmp_path / "junk.c3d")
