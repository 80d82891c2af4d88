"""The example of the README runs, and what the README points to is there."""

import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs(tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    assert len([line for line in code.splitlines() if line.strip()]) <= 16
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert np.isfinite(names["run"].position(names["arm"].tip)).all()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["arm.html", "arm.png"]
    assert capsys.readouterr().out


def test_links_and_pictures_exist():
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", TEXT) if "://" not in target]
    assert targets
    for target in targets:
        assert (ROOT / target).exists(), target
    for picture in (ROOT / "docs" / "images").glob("*.png"):
        assert picture.stat().st_size < 300_000


def test_commands_are_targets_of_make():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", TEXT, re.M):
        assert re.search(rf"^{target}:", makefile, re.M), target
