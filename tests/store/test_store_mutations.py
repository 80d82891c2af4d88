"""Files of every format, damaged in a thousand ways: each loads or is refused in a sentence, soon and in little memory."""

import json
import subprocess
import sys
import time

import mutations
import pytest

import anguilla as ag
from anguilla.store.hdf5 import MARK

FEW, MANY = 8, 1000


@pytest.fixture(scope="session")
def valid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("valid")
    mutations.make(folder)
    return folder


def told(valid, first, count, most, *kinds):
    """What another process that reads damaged files says of each, and how it ended."""
    command = [sys.executable, mutations.__file__, str(valid), str(first), str(count), *kinds]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=most, errors="replace")
        text, end = done.stdout, f"it died with {done.returncode}: {done.stderr[-600:]}"
    except subprocess.TimeoutExpired as late:
        text, end = (late.stdout or b"").decode(errors="replace"), "it never ended"
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")], end


@pytest.fixture(scope="module")
def few(valid):
    """Facts of a few damaged files of each kind, all read by one process; what it does not get to is read alone."""
    found, facts = {}, []
    for fact in told(valid, 0, FEW, 120, *mutations.KINDS)[0]:
        facts.append(fact)
        if "done" in fact:
            found[fact["done"]], facts = facts, []
    return found


def read_all(valid, kind, first, count, most, facts=None):
    """Read damaged files in other processes; the one that dies is followed by another."""
    wrong, outcomes, at, end = [], {"loaded": 0, "refused": 0}, first, ""
    while at < first + count:
        if not facts:
            facts, end = told(valid, at, first + count - at, most, kind)
        wrong += [fact for fact in facts if "wrong" in fact]
        if facts and "done" in facts[-1]:
            outcomes = {name: outcomes[name] + facts[-1][name] for name in outcomes}
            break
        seen = facts[-1]["seed"] if facts else at
        wrong.append({"seed": seen, "wrong": end})
        assert facts and len(wrong) < 20, wrong
        at, facts = seen + 1, None
    assert not wrong, "\n".join(json.dumps(fact, indent=1) for fact in wrong[:5])
    return outcomes


@pytest.mark.parametrize("kind", mutations.KINDS)
def test_some_damaged_files(valid, few, kind):
    found = read_all(valid, kind, 0, FEW, 120, few.get(kind))
    assert found["refused"] > 0 and sum(found.values()) == FEW


@pytest.mark.parametrize("seed", [434])
def test_damage_on_which_hdf5_once_never_ended_is_refused_without_a_seal_too(valid, tmp_path, seed, monkeypatch):
    monkeypatch.setattr("anguilla.store.netcdf.PATIENCE", 4.0)
    path = tmp_path / "equilibrium.nc"
    path.write_bytes((valid / path.name).read_bytes())
    mutations.damaged(path, path.name, seed)
    path.write_bytes(path.read_bytes().split(MARK)[0])
    began = time.monotonic()
    with pytest.raises(ag.DescriptionError, match=r"does not finish reading|or is damaged"):
        ag.load(path)
    assert time.monotonic() - began < 30.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", mutations.KINDS)
def test_a_thousand_damaged_files(valid, kind):
    found = read_all(valid, kind, 1000, MANY, 1200)
    assert found["refused"] > 0.2 * MANY and sum(found.values()) == MANY, found
