"""`make validate` judges random robots: a wrong one fails it, and records belong to the sources they were made with."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from script_modules import ROOT, script

run = script(ROOT / "validation" / "run.py", "validation_run")


@pytest.mark.parametrize(("code", "sound"), [(0, True), (1, False)])
def test_the_table_of_the_campaign_is_in_the_report(monkeypatch: pytest.MonkeyPatch, code: int, sound: bool) -> None:
    asked: list[list[str]] = []

    def pretend(command: list[str], **_: object) -> SimpleNamespace:
        asked.append(command)
        return SimpleNamespace(returncode=code, stdout="7: wrong: motion\n5 robots of seed 2000, 1 minutes.\n\n| a |\n")

    monkeypatch.setattr(subprocess, "run", pretend)
    lines, good = run.robots(5)
    assert good is sound
    assert lines[0].startswith("Command: `python soak/run.py --robots 5")
    assert lines[2:] == ["5 robots of seed 2000, 1 minutes.", "", "| a |"]
    out = Path(asked[0][asked[0].index("--out") + 1])
    assert "--resume" in asked[0] and out.match("soak-2000-*.jsonl")  # ignored by git
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"other sources")
    run.robots(5)
    assert asked[1] != asked[0]


def test_a_campaign_that_ends_early_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0, stdout="Traceback"))
    assert run.robots(5)[1] is False
