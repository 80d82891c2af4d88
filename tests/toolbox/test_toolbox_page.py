"""The page of the toolbox runs as it is written."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def test_the_page_runs_as_it_is_written(capsys, tmp_path, monkeypatch):
    text = (ROOT / "docs" / "lagrangian.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= 8
    for number, block in enumerate(blocks):
        needed = re.findall(r"^import (torch|jax)$", block, re.M)
        if all(importlib.util.find_spec(name) for name in needed):
            exec(compile(block, f"lagrangian.md, block {number + 1}", "exec"), names)
    assert (tmp_path / "mode.html").exists()
    euler = np.pi**3 / 16 * 2e11 * 2e-3**4  # pi^2 EI / 4 L^2
    assert names["branch"].bifurcations[0].factor == pytest.approx(euler, rel=1e-3)
    assert "True" in capsys.readouterr().out.splitlines()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / "docs" / target).exists(), target
    for path in re.findall(r"`((?:examples|benchmarks)/\w+\.py)`", text):
        assert (ROOT / path).exists(), path
