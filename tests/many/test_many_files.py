"""A sweep in a folder: kept at once, continued, shared by shards, never mixed with another function's."""

import functools
import json
import subprocess
import sys

import many_jobs as jobs
import numpy as np
import pytest

import anguilla as ag
from anguilla.many.keep import fingerprint
from anguilla.many.values import decode, encode, key_of

XS = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.fixture
def marks(tmp_path):
    folder = tmp_path / "marks"
    folder.mkdir()
    return str(folder)


@pytest.fixture
def study(tmp_path):
    return tmp_path / "study"


def test_what_is_done_is_not_done_again(marks, study):
    first = ag.sweep(jobs.marked, ag.grid(x=XS[:4], folder=[marks]), file=study, workers=1)
    again = ag.sweep(jobs.marked, ag.grid(x=XS[:4], folder=[marks]), file=study, workers=1)
    assert jobs.calls(marks) == dict.fromkeys(XS[:4], 1)
    assert np.array_equal(first["value"], again["value"]) and np.array_equal(first.seconds, again.seconds)
    more = ag.sweep(jobs.marked, [{"x": x, "folder": marks} for x in (5, 3, 4)], file=study, workers=1)
    assert jobs.calls(marks) == dict.fromkeys(XS, 1)  # 3 is 3.0
    assert more["value"].tolist() == [10.0, 6.0, 8.0]
    anew = ag.sweep(jobs.marked, ag.grid(x=XS[:4], folder=[marks]), file=study, workers=1, again=True)
    assert jobs.calls(marks) == dict.fromkeys(XS[:4], 2) | dict.fromkeys(XS[4:], 1)
    assert np.array_equal(first["value"], anew["value"])


def test_the_folder_reads_back_as_the_table(study):
    rows = ag.grid(x=[0.1, 1 / 3, 1e-300], y=[2, 7])
    table = ag.sweep(jobs.pair, rows, file=study, workers=1)
    loaded = ag.load(study)
    assert loaded.name == "pair" and loaded.axes == table.axes and len(loaded) == 6
    for name in ("x", "y", "sum", "vector", "where"):
        assert np.array_equal(loaded[name], table[name]) and loaded[name].dtype == table[name].dtype, name
    assert np.array_equal(loaded.seconds, table.seconds)
    assert loaded.to_xarray().equals(table.to_xarray())


def test_failed_runs_are_tried_again_and_told_by_the_folder(study):
    for _ in range(2):
        with pytest.warns(ag.AnguillaWarning, match=r"2 of [24] runs failed"):
            ag.sweep(jobs.troubled, ag.grid(x=[0, 1, 2, 3]), file=study, workers=1)
    loaded = ag.load(study)
    assert loaded.ok.tolist() == [True, False, False, True]
    assert loaded.failed[0].error == "SolverError: It did not converge. Take smaller steps."


def test_an_interrupted_sweep_goes_on_with_the_rest(marks, study):
    rows = ag.grid(x=XS, folder=[marks])
    with pytest.raises(KeyboardInterrupt):
        ag.sweep(jobs.interrupted, rows, file=study, workers=1)
    assert ag.load(study).missing == [3, 4, 5] and "3 not run" in repr(ag.load(study))
    table = ag.sweep(jobs.interrupted, rows, file=study, workers=1)
    assert table["value"].tolist() == XS
    assert jobs.calls(marks) == dict.fromkeys(XS, 1) | {3.0: 2}


def test_a_line_that_was_cut_short_is_run_again(marks, study):
    rows = ag.grid(x=XS, folder=[marks])
    ag.sweep(jobs.marked, rows, file=study, workers=1)
    (file,) = study.glob("runs-*.jsonl")
    whole = file.read_bytes()
    file.write_bytes(whole[: whole.rindex(b'"outputs"')])
    assert ag.load(study).missing == [5]
    assert ag.sweep(jobs.marked, rows, file=study, workers=1)["value"].tolist() == [0, 2, 4, 6, 8, 10]
    assert jobs.calls(marks) == dict.fromkeys(XS, 1) | {5.0: 2}


def test_shards_together_are_the_whole(marks, study):
    rows = ag.grid(x=XS, folder=[marks])
    second = ag.sweep(jobs.marked, rows, file=study, workers=1, shard=(1, 3))
    assert second.missing == [0, 2, 3, 5] and second[4]["value"] == 8.0
    for k in (2, 0):
        last = ag.sweep(jobs.marked, rows, file=study, workers=1, shard=(k, 3))
    assert last.missing == [] and jobs.calls(marks) == dict.fromkeys(XS, 1)
    assert np.array_equal(ag.load(study)["value"], [jobs.SCALE * x for x in XS])
    assert len(list(study.glob("runs-*.jsonl"))) == 3
    with pytest.raises(ag.DescriptionError, match="again=True with shard"):
        ag.sweep(jobs.marked, rows, file=study, shard=(0, 3), again=True)


def test_shards_in_processes_of_their_own_share_a_folder(study):
    code = """
import sys, many_jobs, anguilla as ag
ag.sweep(many_jobs.square, ag.grid(x=range(200)), file=sys.argv[1], workers=1, shard=(int(sys.argv[2]), 2))
"""
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}", str(study)]
    both = [subprocess.Popen([*command, k]) for k in "01"]
    assert [one.wait() for one in both] == [0, 0]
    assert np.array_equal(ag.load(study)["value"], np.arange(200) ** 2)


def test_a_changed_function_is_noticed(study, monkeypatch):
    rows = ag.grid(x=[1.0, 2.0], folder=[str(study.parent)])
    ag.sweep(jobs.marked, rows, file=study, workers=1)
    monkeypatch.setattr(jobs, "SCALE", 3.0)
    with pytest.raises(
        ag.DescriptionError, match=r"changed: SCALE\. again=True runs everything again, again=False keeps"
    ):
        ag.sweep(jobs.marked, rows, file=study, workers=1)
    assert ag.sweep(jobs.marked, rows, file=study, workers=1, again=False)["value"].tolist() == [2.0, 4.0]
    assert ag.sweep(jobs.marked, rows, file=study, workers=1)["value"].tolist() == [2.0, 4.0]  # said once
    assert ag.sweep(jobs.marked, rows, file=study, workers=1, again=True)["value"].tolist() == [3.0, 6.0]
    assert ag.load(study)["value"].tolist() == [3.0, 6.0]
    with pytest.raises(ag.DescriptionError, match="holds a sweep of another function, 'marked'; this one is 'square'"):
        ag.sweep(jobs.square, ag.grid(x=[1.0]), file=study, workers=1)


def made(text, **names):
    names["__name__"] = "typed"
    exec(text, names)
    return names["job"]


@pytest.mark.parametrize(
    ("one", "other", "changed"),
    [
        ("def job(x): return x", "def job(x): return 2 * x", {"job"}),
        ("def job(x): return 1.0", "def job(x): return 2.0", {"job"}),
        ("def job(x): return x", "def job(x):  # a note\n return x", set()),
        ("def f(x): return x\ndef job(x): return f(x)", "def f(x): return -x\ndef job(x): return f(x)", {"f"}),
        ("A = [1, 2]\ndef job(x): return A", "A = [1, 3]\ndef job(x): return A", {"A"}),
        ("A = {'young': 1e5}\ndef job(x): return A", "A = {'young': 2e5}\ndef job(x): return A", {"A"}),
    ],
)
def test_what_makes_a_function(one, other, changed):
    first, second = fingerprint(made(one)), fingerprint(made(other))
    assert {key for key in first.keys() | second.keys() if first.get(key) != second.get(key)} == changed


def test_closures_partials_and_descriptions_are_part_of_a_function():
    def close(value):
        return lambda x: (x, value)

    assert fingerprint(close(1.0)) == fingerprint(close(1.0)) != fingerprint(close(2.0))
    soft, hard = (ag.Material(young=young, poisson=0.4, density=1000.0) for young in (1e5, 2e5))
    assert fingerprint(close(soft)) != fingerprint(close(hard))
    assert fingerprint(close(object())) == fingerprint(close(object()))  # has no text to compare
    add = functools.partial(jobs.pair, y=1.0)
    assert fingerprint(add) != fingerprint(functools.partial(jobs.pair, y=2.0))
    assert fingerprint(jobs.pair).items() <= fingerprint(add).items()


def test_equal_rows_are_run_each(marks, study):
    rows = [{"x": 1.0, "folder": marks}] * 3
    assert ag.sweep(jobs.marked, rows, file=study, workers=1)["value"].tolist() == [2.0] * 3
    ag.sweep(jobs.marked, rows, file=study, workers=1)
    assert jobs.calls(marks) == {1.0: 3}


@pytest.mark.parametrize(
    "value",
    [
        0.1, -0.0, 1e-323, float("nan"), float("inf"), 3, 2**62, True, "text", None, np.array([1.5, np.nan]), np.arange(5),
        np.array([True, False]), np.linspace(0, 1, 100).reshape(10, 10), np.array([1 + 2j]), np.float32([0.1]),
        np.zeros((0, 3)),
    ],
    ids=str,
)  # fmt: skip
def test_values_are_kept_exactly(value):
    text = json.dumps(encode(value), allow_nan=False)
    back = decode(json.loads(text))
    assert type(back) is type(value)
    assert np.array_equal(back, value, equal_nan=not isinstance(value, (str, type(None))))
    if isinstance(value, np.ndarray):
        assert back.dtype == value.dtype and back.shape == value.shape


def test_keys_follow_the_values():
    assert key_of({"a": 1, "b": 2.0}) == key_of({"b": 2, "a": 1.0}) != key_of({"a": 1, "b": 2.5})
    assert key_of({"a": True}) != key_of({"a": 1}) and key_of({"a": 0.0}) == key_of({"a": -0.0})
    assert key_of({"a": (1, 2)}) == key_of({"a": np.array([1.0, 2.0])})


def test_folders_that_are_something_else_are_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(ag.DescriptionError, match="holds other files"):
        ag.sweep(jobs.square, ag.grid(x=[1]), file=tmp_path / "mine", again=True)
    (tmp_path / "paper").touch()
    with pytest.raises(ag.DescriptionError, match="is a file"):
        ag.sweep(jobs.square, ag.grid(x=[1]), file=tmp_path / "paper")
    with pytest.raises(ag.DescriptionError, match=r"is not the folder of a sweep: it has no sweep\.json"):
        ag.load(tmp_path)
    with pytest.raises(ag.DescriptionError, match="with file=, parameters must be numbers, texts or arrays"):
        ag.sweep(lambda x: 1, ag.grid(x=[ag.Circle(0.1)]), file=tmp_path / "study", workers=1)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "sweep.json").write_text("{")
    with pytest.raises(ag.DescriptionError, match="is damaged"):
        ag.load(tmp_path / "broken")


def test_a_sweep_that_announces_too_many_runs_is_refused(study):
    ag.sweep(jobs.pair, ag.grid(x=[1.0, 2.0], y=[1.0]), file=study, workers=1)
    head = json.loads((study / "sweep.json").read_text())
    head["axes"] = {"x": list(range(2000)), "y": list(range(2000))}
    (study / "sweep.json").write_text(json.dumps(head))
    with pytest.raises(ag.DescriptionError, match="4000000 runs"):
        ag.load(study)


def test_a_sweep_with_too_many_bytes_of_parameters_is_not_read(study):
    ag.sweep(jobs.pair, ag.grid(x=[1.0], y=[1.0]), file=study, workers=1)
    with open(study / "sweep.json", "r+b") as file:
        file.truncate(500_000_001)  # without a byte more on the disk
    with pytest.raises(ag.DescriptionError, match="more than 500000000 bytes"):
        ag.load(study)
