"""Results that somebody sends: nothing beyond the file is opened, nothing large is unfolded, no number is missing."""

import zlib

import h5py
import numpy as np
import pytest

import anguilla as ag
from anguilla.store.hdf5 import sealed


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    robot = ag.Robot("a")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000), ag.planar(2)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.006)))
    run = ag.simulate(robot, duration=0.05, dt=0.01, inputs={"pull": lambda t: 1.0 + t})
    return run.save(tmp_path_factory.mktemp("hostile") / "small.nc")


@pytest.fixture
def path(small, tmp_path):
    target = tmp_path / "received.nc"
    target.write_bytes(small.read_bytes())
    return target


def replace(path, name, make):
    """Put another variable in the place of one, with its dimensions as they were."""
    with h5py.File(path, "r+") as file:
        scales = [[scale.name for scale in axis.values()] for axis in file[name].dims]
        del file[name]
        made = make(file)
        for axis, names in zip(made.dims, scales, strict=False):
            for scale in names:
                axis.attach_scale(file[scale])


def seal(path):
    """As if it had been written so: a file without a seal is read in another process first."""
    path.write_bytes(sealed(path.read_bytes()))


@pytest.mark.parametrize("name", ["time", "q", "v", "a", "input"])
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_states_that_are_not_finite_are_refused(path, name, value):
    with h5py.File(path, "r+") as file:
        file[name][(-1,) * file[name].ndim] = value
    seal(path)
    with pytest.raises(ag.DescriptionError, match=f"{name}.* holds -?(nan|inf) at"):
        ag.load(path)


def test_times_that_do_not_increase_are_refused(path):
    with h5py.File(path, "r+") as file:
        file["time"][2] = file["time"][1]
    with pytest.raises(ag.DescriptionError, match="increase"):
        ag.load(path)


HUGE = {
    "never written": lambda file: file.create_dataset(
        "q", (100_000_000, 2), "f8", chunks=(1000, 2), compression="gzip"
    ),
    "one piece": lambda file: file.create_dataset("q", (10, 2), "f8", chunks=(10_000_000, 2), maxshape=(None, 2)),
    "texts": lambda file: file.create_dataset("q", (10_000_000,), dtype=h5py.string_dtype(), chunks=(1000,)),
    "structures": lambda file: file.create_dataset("q", (6,), dtype=[("a", "f8"), ("b", "i4")]),
    "lists": lambda file: file.create_dataset("q", (6,), dtype=h5py.vlen_dtype(np.float64)),
    "packed by others": lambda file: file.create_dataset("q", (6, 2), "f8", chunks=(6, 2), compression="lzf"),
}


@pytest.mark.parametrize("kind", HUGE)
def test_what_is_not_in_the_file_is_not_read(path, kind):
    replace(path, "q", HUGE[kind])
    seal(path)
    with pytest.raises(ag.DescriptionError, match="'q'"):
        ag.load(path)


def test_zeros_that_unfold_a_thousand_times_are_refused(path):
    def pack(file):
        made = file.create_dataset("q", (25_000_000, 2), "f8", chunks=(500_000, 2), compression="gzip")
        zeros = zlib.compress(bytes(8_000_000), 9)
        for k in range(0, made.shape[0], 500_000):
            made.id.write_direct_chunk((k, 0), zeros)
        return made

    replace(path, "q", pack)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(ag.DescriptionError, match="would unfold"):
        ag.load(path)


def test_other_files_are_not_opened(path, tmp_path):
    other = tmp_path / "other.nc"
    other.write_bytes(path.read_bytes())
    (tmp_path / "raw").write_bytes(bytes(96))
    layout = h5py.VirtualLayout((6, 2), float)
    layout[...] = h5py.VirtualSource(str(other), "q", (6, 2))
    makers = {
        "link": lambda file: file.__setitem__("q", h5py.ExternalLink(str(other), "q")),
        "another file": lambda file: file.create_virtual_dataset("q", layout),
        "another  file": lambda file: file.create_dataset("q", (6, 2), "f8", external=[(str(tmp_path / "raw"), 0, 96)]),
    }
    for words, make in makers.items():
        target = tmp_path / "received2.nc"
        target.write_bytes(path.read_bytes())
        with h5py.File(target, "r+") as file:
            del file["q"]
            make(file)
        with pytest.raises(ag.DescriptionError, match=words.replace("  ", " ")):
            ag.load(target)


def rewrite(path, change):
    with h5py.File(path, "r+") as file:
        text = change(file["robot_file"][()].decode())
        del file["robot_file"]
        file.create_dataset("robot_file", (), dtype=h5py.string_dtype())[()] = text


def test_a_robot_inside_a_result_names_no_files(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_text(
        '<robot name="a"><link name="b"><inertial><mass value="1"/></inertial></link></robot>'
    )
    rewrite(path, lambda text: text + "urdf: {file: arm.urdf}\n")
    with pytest.raises(ag.DescriptionError, match="cannot name files"):
        ag.load(path)


def test_texts_are_read_piece_by_piece_and_within_limits(path, monkeypatch):
    monkeypatch.setattr("anguilla.store.netcdf.MOST_TEXT", 5 * path.stat().st_size)
    with h5py.File(path, "r+") as file:
        made = file.create_dataset("label", (50,), dtype=h5py.string_dtype())
        made.make_scale("label")
        made[...] = "abc"
    ag.load(path)
    with h5py.File(path, "r+") as file:
        file["label"][...] = "x" * path.stat().st_size
    monkeypatch.setattr("anguilla.store.netcdf.MOST_TEXT", 1_000_000)
    with pytest.raises(ag.DescriptionError, match="1000000 characters"):
        ag.load(path)


def test_a_changed_byte_is_noticed_before_the_file_is_opened(small, tmp_path):
    raw = small.read_bytes()
    for place in range(0, len(raw), 997):
        (tmp_path / "changed.nc").write_bytes(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])
        with pytest.raises(ag.DescriptionError, match="not those that were written"):
            ag.load(tmp_path / "changed.nc")


def test_a_file_that_another_program_has_changed_is_read(path):
    with h5py.File(path, "r+") as file:
        file.attrs["note"] = "looked at"
    assert ag.load(path).status.success


def test_a_file_without_a_seal_on_which_hdf5_never_ends_is_refused(small, tmp_path, monkeypatch):
    monkeypatch.setattr("anguilla.store.netcdf.PATIENCE", 2.0)
    raw = small.read_bytes()[: -len(sealed(b""))]
    heap = raw.index(b"GCOL")  # texts: objects of no size behind each other are looked through for ever
    (tmp_path / "loop.nc").write_bytes(raw[: heap + 16] + bytes(48) + raw[heap + 64 :])
    with pytest.raises(ag.DescriptionError, match="damaged"):
        ag.load(tmp_path / "loop.nc")
