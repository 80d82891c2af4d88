"""A sweep gives what direct calls give, in order; failures stay in their rows."""

import csv
import itertools
from concurrent.futures import Future, ThreadPoolExecutor

import many_jobs as jobs
import numpy as np
import pytest

import anguilla as ag

RADII, TENSIONS = np.linspace(0.01, 0.02, 3), [1, 2.5]


@pytest.mark.parametrize("options", [{"workers": 1}, {"workers": 2, "executor": "threads"}], ids=["here", "threads"])
def test_a_sweep_of_robots_equals_direct_calls(options):
    table = ag.sweep(jobs.tip, ag.grid(radius=RADII, tension=TENSIONS), **options)
    direct = [jobs.tip(radius, tension) for radius, tension in itertools.product(RADII, TENSIONS)]
    assert np.array_equal(table["tip"], [one["tip"] for one in direct])
    assert np.array_equal(table["energy"], [one["energy"] for one in direct])
    assert np.array_equal(table["radius"], np.repeat(RADII, 2))
    assert np.array_equal(table["tension"], np.tile(TENSIONS, 3))
    assert table.ok.all() and table.failed == [] and table.missing == []
    assert table.seconds.shape == (6,) and (table.seconds > 0).all()


def test_a_grid_is_shaped():
    table = ag.sweep(jobs.pair, ag.grid(x=[1.0, 2.0], y=[3, 4, 5]), workers=1)
    assert np.array_equal(table.shaped("sum"), [[4, 5, 6], [5, 6, 7]])
    assert table.shaped("vector").shape == (2, 3, 3)
    data = table.to_xarray()
    assert data["sum"].dims == ("x", "y") and data["vector"].dims == ("x", "y", "vector_0")
    assert float(data["vector"].sel(x=2.0, y=5)[2]) == 10.0
    assert data["run_ok"].all() and data["run_seconds"].shape == (2, 3)


def test_columns_lists_and_samples_give_the_same_kind_of_table():
    columns = ag.sweep(jobs.pair, {"x": [1.0, 2.0], "y": np.array([5.0, 7.0])}, workers=1)
    listed = ag.sweep(jobs.pair, [{"x": 1.0, "y": 5.0}, {"y": 7.0, "x": 2.0}], workers=1)
    assert np.array_equal(columns["sum"], [6.0, 9.0]) and np.array_equal(listed["sum"], [6.0, 9.0])
    assert columns.axes is None and columns.to_xarray()["vector"].dims == ("run", "vector_0")
    points = ag.sample(8, seed=3, x=(-1.0, 1.0), y=(10.0, 20.0))
    assert points == ag.sample(8, seed=3, x=(-1.0, 1.0), y=(10.0, 20.0)) != ag.sample(8, seed=4, x=(-1, 1), y=(10, 20))
    for name, low, high in (("x", -1.0, 1.0), ("y", 10.0, 20.0)):
        part = [int(8 * (point[name] - low) / (high - low)) for point in points]
        assert sorted(part) == list(range(8))  # one in each eighth: what makes it a Latin hypercube
    assert ag.sweep(jobs.pair, points, workers=1)["sum"] == pytest.approx([p["x"] + p["y"] for p in points])


def test_vectors_and_texts_may_be_parameters():
    table = ag.sweep(lambda force, name: np.sum(force), ag.grid(force=np.eye(3)[:2], name=["a", "b"]), workers=1)
    assert table["force"].shape == (4, 3) and table["name"].tolist() == ["a", "b", "a", "b"]
    data = table.to_xarray()
    assert data["value"].dims == ("force", "name") and data["force_values"].dims == ("force", "force_0")


def test_a_failure_stays_in_its_row(tmp_path):
    with pytest.warns(ag.AnguillaWarning, match=r"2 of 4 runs failed; run 1 says: SolverError: It did not converge\."):
        table = ag.sweep(jobs.troubled, ag.grid(x=[0, 1, 2, 3]), workers=1)
    assert table.ok.tolist() == [True, False, False, True]
    assert [run.error for run in table.failed] == [
        "SolverError: It did not converge. Take smaller steps.",
        "SystemExit: enough",
    ]
    assert "many_jobs.py" in table.failed[0].trace and table.failed[0].parameters == {"x": 1}
    assert np.array_equal(table["value"], [0, np.nan, np.nan, 3], equal_nan=True)
    assert table["label"].tolist() == ["even", None, None, "odd"]
    assert table["count"].dtype == float and np.isnan(table["count"][1])
    with pytest.raises(KeyError, match="It did not converge"):
        table[1]["value"]
    with open(table.to_csv(tmp_path / "table.csv"), newline="") as stream:
        lines = list(csv.reader(stream))
    assert lines[0] == ["x", "value", "label", "count", "run_ok", "run_seconds", "run_error"]
    assert lines[1][:4] == ["0", "0.0", "even", "3.0"] and lines[2][6].startswith("SolverError")
    assert repr(table).startswith("Sweep of troubled: 4 runs, 2 ok, 2 failed; ")
    lines = repr(table).splitlines()
    assert len(lines) == 6 and lines[1].split() == ["x", "value", "label", "count", "status"]
    assert lines[3].split()[:4] == ["1", "failed:", "SolverError:", "It"] and lines[5].split() == ["3", "3", "odd", "3"]


def test_a_long_table_is_shown_short():
    table = ag.sweep(jobs.pair, ag.grid(x=np.arange(10.0), y=[0.5, 1.5]), workers=1)
    lines = repr(table).splitlines()
    assert len(lines) == 9 and lines[1].split() == ["x", "y", "sum", "vector", "where"]
    assert "(9, 1.5, 13.5)" in lines[-1]
    assert [run["sum"] for run in table][:2] == [0.5, 1.5] and len(table) == 20 and table[-1]["y"] == 1.5


def test_an_executor_may_be_given():
    with ThreadPoolExecutor(2) as pool:
        table = ag.sweep(jobs.square, ag.grid(x=range(50)), executor=pool)
        assert pool.submit(int).result() == 0  # it is still open: it is not ours
    assert np.array_equal(table["value"], np.arange(50) ** 2)


class KilledWorker(Exception):  # noqa: N818 - the name that Dask's has
    pass


class Careless:
    """An executor that loses jobs: 2 always, the others whenever they are not alone."""

    def __init__(self):
        self.begun, self.open, self.most = [], [], 0

    def submit(self, call, job, parameters, ticket):
        future = Future()
        self.begun.append(parameters["x"])
        self.open.append((future, parameters))
        if len(self.open) == 3 or len(self.begun) > 3:
            alone = len(self.open) == 1
            for other, given in self.open:
                if alone and given["x"] != 2:
                    other.set_result(call(job, given))
                else:
                    other.set_exception(KilledWorker("gone"))
            self.open = []
        return future


def test_jobs_that_were_lost_with_others_are_tried_alone():
    careless = Careless()
    with pytest.warns(ag.AnguillaWarning, match="1 of 3 runs failed; run 1 says: KilledWorker: gone"):
        table = ag.sweep(jobs.square, ag.grid(x=[1, 2, 3]), executor=careless)
    assert careless.begun == [1, 2, 3, 1, 2, 3]
    assert table.ok.tolist() == [True, False, True] and table[2]["value"] == 9


# Wrong input ----------------------------------------------------------------------------------------------------------

DOORS = {
    "empty grid": ("grid: x has no values", lambda: ag.grid(x=[], y=[1])),
    "no axes": ("grid needs at least one parameter", lambda: ag.grid()),
    "empty list": ("parameters are empty", lambda: ag.sweep(jobs.square, [])),
    "empty columns": ("parameters are empty", lambda: ag.sweep(jobs.square, {"x": []})),
    "unequal columns": ("equally long; x has 2, y has 3", lambda: ag.sweep(jobs.pair, {"x": [1, 2], "y": [1, 2, 3]})),
    "number for a column": (r"parameters\['x'\] must be a column", lambda: ag.sweep(jobs.square, {"x": 1.0})),
    "rows of other names": (r"parameters\[1\] has y", lambda: ag.sweep(jobs.square, [{"x": 1}, {"y": 1}])),
    "rows of numbers": (r"parameters\[0\] must be a dictionary", lambda: ag.sweep(jobs.square, [1, 2])),
    "not parameters": ("parameters must be ag.grid", lambda: ag.sweep(jobs.square, 3)),
    "not a function": ("job must be a function", lambda: ag.sweep("square", ag.grid(x=[1]))),
    "another name": (r"job\(x\) cannot be called with the parameters z", lambda: ag.sweep(jobs.square, ag.grid(z=[1]))),
    "no workers": ("workers must be", lambda: ag.sweep(jobs.square, ag.grid(x=[1]), workers=0)),
    "retries": ("retries must be", lambda: ag.sweep(jobs.square, ag.grid(x=[1]), retries=-1)),
    "executor": ("executor must be", lambda: ag.sweep(jobs.square, ag.grid(x=[1]), executor="dask")),
    "timeout": (
        "timeout needs executor='processes'",
        lambda: ag.sweep(jobs.square, ag.grid(x=[1]), timeout=1, executor="threads"),
    ),
    "shard without file": ("shard needs file", lambda: ag.sweep(jobs.square, ag.grid(x=[1]), shard=(0, 2))),
    "shard beyond": ("shard must be a pair", lambda: ag.sweep(jobs.square, ag.grid(x=[1]), shard=(2, 2), file="never")),
    "file is a table": ("file names a folder", lambda: ag.sweep(jobs.square, ag.grid(x=[1]), file="table.csv")),
    "range": ("sample: x must be a pair", lambda: ag.sample(3, x=(2.0, 1.0))),
    "one number for a range": ("sample: x must be a pair", lambda: ag.sample(3, x=2.0)),
    "no ranges": ("sample needs at least one range", lambda: ag.sample(3)),
    "unpicklable": (
        "the job cannot be sent to other processes .* or use executor='threads'",
        lambda: ag.sweep(_holds_a_lock(), ag.grid(x=[1, 2]), executor="processes"),
    ),
}


def _holds_a_lock():
    import threading

    lock = threading.Lock()
    return lambda x: lock and x


@pytest.mark.parametrize(("told", "call"), DOORS.values(), ids=DOORS)
def test_wrong_input_is_refused_in_one_sentence(told, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ag.DescriptionError, match=told):
        call()
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_cannot_be_sent_runs_on_threads_with_a_note():
    with pytest.warns(ag.AnguillaWarning, match="threads are used: the job cannot be sent"):
        table = ag.sweep(_holds_a_lock(), ag.grid(x=[1, 2]), workers=2)
    assert table["value"].tolist() == [1, 2]


def test_outputs_of_different_shapes_have_no_column():
    table = ag.sweep(jobs.ragged, ag.grid(x=[1, 2]), workers=1)
    assert table["fine"].tolist() == [1, 2] and len(table[1]["series"]) == 2
    with pytest.raises(ag.DescriptionError, match=r"'series' has no column: .* \(1,\) in run 0 and \(2,\) in run 1"):
        table["series"]


@pytest.mark.parametrize(
    ("told", "job"),
    [
        ("must return a number, an array, or a dictionary of them; got None", lambda x: None),
        ("must return a number, an array, or a dictionary of them; got <", lambda x: {"run": object()}),
        ("needs another name than the parameter 'x'", lambda x: {"x": x}),
        ("a text as name", lambda x: {1: x}),
    ],
)
def test_outputs_that_make_no_table_fail(told, job):
    with pytest.warns(ag.AnguillaWarning, match=told):
        table = ag.sweep(job, ag.grid(x=[1]), workers=1)
    assert told.split(";")[0] in table.failed[0].error
    with pytest.raises(ag.DescriptionError, match=r"no column 'value'; it has x; no run is ok, the first says: "):
        table["value"]
