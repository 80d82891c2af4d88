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
    assert FULL.ratios(LARGE) == {"Chain of 64 links, a second of motion, exudyn": 19.42}


def test_the_least_ratio_of_a_program_counts_with_its_whole_call():
    text = """Chain

| program | setting | error | times Anguilla | whole, times Anguilla |
|---|---|---|---|---|
| anguilla | modes 2 | 0.48% |  |  |
| exudyn | elements 1 | 0.9% | 20 | 5 |
| exudyn | elements 2 | 0.5% | 15 | 6 |
| mujoco | | not modelled: no loops | | |
"""
    assert FULL.ratios(text) == {"Chain, exudyn": 15.0, "Chain, exudyn, whole call": 5.0}


@pytest.mark.parametrize(("factor", "fails"), [(0.65, True), (0.68, False), (1.5, False)])
def test_the_guard_sees_a_stored_ratio_that_fell_by_a_third(factor, fails):
    stored = json.loads((ROOT / "docs" / "benchmarks.json").read_text())["ratios"]
    assert stored
    for name in stored:
        lost = GUARD.worse(stored, {**stored, name: factor * stored[name]})
        assert bool(lost) == fails
        assert not lost or name in lost[0]


@pytest.fixture
def record(tmp_path, monkeypatch):
    """An empty record, whose files are aside."""
    monkeypatch.setattr(FULL, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(FULL, "PAGE", tmp_path / "page.md")
    return {"tables": {}, "before": {}}


def result(ratio, day, status="done"):
    text = LARGE.replace("19.42", f"{ratio}")
    return {"text": text, "seconds": 1.0, "status": status, "date": day, "load": 0.1, "machine": "a machine",
            "command": "python large.py",
            "ratios": FULL.ratios(text)}  # fmt: skip


def test_a_table_that_fell_leaves_its_record_alone_unless_told(record, tmp_path):
    assert FULL.keep("large", result(19.42, "2026-01-01"), record, accept=False) == []
    kept = (tmp_path / "record.json").read_text()
    assert len(FULL.keep("large", result(12.0, "2026-01-02"), record, accept=False)) == 1
    assert (tmp_path / "record.json").read_text() == kept
    assert FULL.keep("large", result(17.0, "2026-01-03"), record, accept=False) == []
    assert len(FULL.keep("large", result(11.0, "2026-01-04"), record, accept=True)) == 1
    stored = json.loads((tmp_path / "record.json").read_text())
    assert stored["tables"]["large"]["date"] == "2026-01-04" and stored["before"]["large"]["date"] == "2026-01-03"
    text = (tmp_path / "page.md").read_text()
    assert "of 1 ratios to other programs that were measured twice, 0 agree within 25%, 1 differ by more" in text
    assert "2026-01-03 and 2026-01-04, 1 ratios, apart by 35% in the median" in text


def test_a_table_that_failed_is_told_but_does_not_replace_one_that_did_not(record, tmp_path):
    FULL.keep("calls", result(19.42, "2026-01-01", "ended with status 1"), record, accept=False)
    assert "ended with status 1" in (tmp_path / "page.md").read_text()
    FULL.keep("large", result(19.42, "2026-01-01"), record, accept=False)
    FULL.keep("large", result(19.0, "2026-01-02", "stopped after 15 minutes"), record, accept=False)
    assert record["tables"]["large"]["date"] == "2026-01-01" and not record["before"]


def test_a_run_that_was_stopped_goes_on_where_it_was(record, tmp_path, monkeypatch):
    monkeypatch.setattr(FULL, "OUT", tmp_path)
    monkeypatch.setattr(FULL, "TABLES", FULL.TABLES[1:4])
    asked = []

    def run(table, mode, more):
        asked.append(table.name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return result(10.0, "2026-01-01")

    monkeypatch.setattr(FULL, "run", run)
    monkeypatch.setattr(sys, "argv", ["full.py"])
    with pytest.raises(KeyboardInterrupt):
        FULL.main()
    monkeypatch.setattr(sys, "argv", ["full.py", "--resume"])
    assert FULL.main() == 0
    first, second, third = (table.name for table in FULL.TABLES)
    assert asked == [first, second, second, third]
    assert set(json.loads((tmp_path / "record.json").read_text())["tables"]) == {first, second, third}
