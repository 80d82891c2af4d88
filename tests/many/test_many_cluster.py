"""Runs on a Dask cluster of two processes, one of which is killed: pip install 'dask[distributed]', pytest -m cluster."""

import faulthandler
import logging
from concurrent.futures import Executor, Future

import many_jobs as jobs
import numpy as np
import pytest

import anguilla as ag
from anguilla.many import workers
from anguilla.many.workers import client_of, fetched

pytestmark = pytest.mark.cluster
PATIENCE = 240  # [s]


@pytest.fixture(autouse=True)
def ends():
    """A test that hangs is ended, with the places where its threads stand."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


class Lost:
    """Stands for a future of Dask whose job has ended, and whose result is gone with its worker."""

    def add_done_callback(self, tell):
        tell(self)

    def result(self):
        raise OSError("the worker is gone")


def test_a_result_that_is_lost_before_it_is_fetched_is_an_error_and_no_hang():
    assert isinstance(fetched(Lost()).exception(timeout=5), OSError)


class Deserted(Executor):
    """Stands for a client of Dask whose workers are gone after the first job."""

    begun = 0

    def submit(self, job, *arguments):
        self.begun += 1
        future = Future()
        if self.begun == 1:
            future.set_result(job(*arguments))
        return future

    def scheduler_info(self):
        return {"workers": {}}


def test_a_cluster_without_workers_is_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr(workers, "LOOK", 0.1)
    monkeypatch.setattr(workers, "DESERTED", 1.0)
    with pytest.raises(ag.SolverError, match="all workers of the cluster are gone") as caught:
        ag.sweep(jobs.square, ag.grid(x=[1.0, 2.0]), executor=Deserted())
    assert caught.value.result.ok.tolist() == [True, False]


def test_a_cluster_is_asked_directly(executor):
    assert client_of(executor) is executor._client


@pytest.fixture(scope="module")
def executor():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client.get_executor()


@pytest.fixture
def marks(tmp_path):
    folder = tmp_path / "marks"
    folder.mkdir()
    return str(folder)


def test_a_cluster_gives_what_direct_calls_give(executor, marks):
    table = ag.sweep(lambda x, y: jobs.pair(x, y), ag.grid(x=np.linspace(0, 1, 10), y=[1, 2]), executor=executor)
    assert np.array_equal(table["sum"], table["x"] + table["y"])
    alike = ag.sweep(jobs.marked, [{"x": 1.0, "folder": marks}] * 3, executor=executor)
    assert alike["value"].tolist() == [2.0] * 3 and jobs.calls(marks) == {1.0: 3}
    expected = jobs.tips([0.01, 0.02], 1.0)
    robots = ag.sweep(jobs.tip, ag.grid(radius=[0.01, 0.02], tension=[1.0]), executor=executor)
    assert np.array_equal(robots["tip"], expected)


def test_a_killed_worker_is_survived(executor, marks, tmp_path):
    rows = ag.grid(x=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], folder=[marks], times=[1])
    table = ag.sweep(jobs.killed, rows, executor=executor, file=tmp_path / "study")
    assert table["value"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert jobs.calls(marks)[2.0] == 2
    assert np.array_equal(ag.load(tmp_path / "study")["value"], table["value"])


def test_a_job_that_always_kills_its_worker_fails_alone(executor, marks):
    rows = ag.grid(x=[1.0, 2.0, 3.0, 4.0], folder=[marks], times=[99])
    with pytest.warns(ag.AnguillaWarning, match="1 of 4 runs failed; run 1 says: KilledWorker"):
        table = ag.sweep(jobs.killed, rows, executor=executor)
    assert table.ok.tolist() == [True, False, True, True]
