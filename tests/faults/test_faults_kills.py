"""kill -9 and Ctrl-C at random instants: what is on the disk is whole, and the work goes on to the same end."""

import os
import signal

import fault_series
import pytest
from fault_series import KINDS, SIGNALS

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are needed")


def hit(kind, count, number, folder):
    assert not fault_series.lost(fault_series.hit(kind, count, number, folder), count)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_loses_nothing(kind, tmp_path):
    hit(kind, 1, signal.SIGKILL, tmp_path)


@pytest.mark.parametrize("kind", ["simulate", pytest.param("save", marks=pytest.mark.slow)])
def test_a_few_interruptions_lose_nothing(kind, tmp_path):
    hit(kind, 2, signal.SIGINT, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_hits_lose_nothing(kind, name, tmp_path):
    hit(kind, 100, SIGNALS[name], tmp_path)
