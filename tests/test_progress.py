"""The progress bar: shown when asked for, or on a terminal when work takes long."""

import sys

import pytest

from anguilla.solve.newton import progress
from anguilla.solve.newton.progress import progress_bar


@pytest.mark.parametrize(
    ("show", "terminal", "patience", "seen"),
    [(True, False, 9.0, True), (False, True, 0.0, False), (None, True, 0.0, True), (None, True, 9.0, False),
     (None, False, 0.0, False)],
)  # fmt: skip
def test_bar_appears_when_it_should(monkeypatch, show, terminal, patience, seen):
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with progress_bar("working", 10, show) as tick:
        for done in range(1, 11):
            tick(done)
        assert (tick.bar is not None) is seen
        if seen:
            assert tick.bar.finished
