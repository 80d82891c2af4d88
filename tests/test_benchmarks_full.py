"""All tables in one run (benchmarks/full.py): ratios are read from them, and the guard sees one that fell by a third."""

import json
import sys
from pathlib import Path

import pytest
from script_modules import script

ROOT = Path(__file__).parents[1]
if str(ROOT / "benchmarks") not in sys.path:
    sys.path.insert(0, str(ROOT / "benchmarks"))
FULL = script(ROOT / "benchmarks" / "full.py", "benchmarks_full")
GUARD = script(ROOT / "benchmarks" / "guard.py", "benchmarks_guard")

LARGE = """
Chain of 64 links, a second of motion

| program | error | seconds of the loop | times Anguilla | setting |
|---|---|---|---|---|
| anguilla | 0.48% | 0.0103 | 1.00 | modes 2 |
| exudyn | 0.91% | 0.2 | 19.42 | elements 1 |
| pyelastica | none within 1% | - | - | tried: fails |

anguilla, equilibrium: grows with power 2.00 of the meshes a side
"""


def test_every_script_of_a_table_exists():
    for table in FULL.TABLES:
        assert (ROOT / table.script).exists(), table.script
    assert len({table.name for table in FULL.TABLES}) == len(FULL.TABLES)


def test_ratios_are_read_from_a_table():
    found = FULL.ratios("large", LARGE)
    assert found == {"large, Chain of 64 links, a second of motion, exudyn": 19.42}


@pytest.mark.parametrize(("factor", "fails"), [(0.65, True), (0.68, False), (1.5, False)])
def test_the_guard_sees_a_stored_ratio_that_fell_by_a_third(factor, fails):
    stored = json.loads((ROOT / "docs" / "benchmarks.json").read_text())["ratios"]
    assert stored
    for name in stored:
        lost = GUARD.worse(stored, {**stored, name: factor * stored[name]})
        assert bool(lost) == fails
        assert not lost or name in lost[0]


def test_a_run_that_fell_leaves_the_record_alone_unless_told(tmp_path, monkeypatch):
    monkeypatch.setattr(FULL, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(FULL, "PAGE", tmp_path / "page.md")
    conditions = {"date": "2026-01-01", "machine": "a machine", "python": "3.11", "load": 0.1}
    first = {"large": {"text": LARGE, "seconds": 1.0, "status": "done"}}
    slower = {"large": {"text": LARGE.replace("19.42", "12.0"), "seconds": 1.0, "status": "done"}}
    near = {"large": {"text": LARGE.replace("19.42", "17.0"), "seconds": 1.0, "status": "done"}}
    assert FULL.guarded(first, conditions, accept=False) == 0
    record = (tmp_path / "record.json").read_text()
    assert FULL.guarded(slower, conditions, accept=False) == 1
    assert (tmp_path / "record.json").read_text() == record
    assert "1 of which differ by more than 25%" in (tmp_path / "page.md").read_text()
    assert FULL.guarded(near, conditions, accept=False) == 0
    assert FULL.guarded(slower, conditions, accept=True) == 0
    assert json.loads((tmp_path / "record.json").read_text())["ratios"] == FULL.ratios("large", slower["large"]["text"])


def test_a_table_that_failed_makes_the_run_fail_and_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(FULL, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(FULL, "PAGE", tmp_path / "page.md")
    conditions = {"date": "2026-01-01", "machine": "a machine", "python": "3.11", "load": 0.1}
    broken = {"calls": {"text": "Traceback", "seconds": 1.0, "status": "ended with status 1"}}
    assert FULL.guarded(broken, conditions, accept=False) == 1
    assert "ended with status 1" in (tmp_path / "page.md").read_text()
