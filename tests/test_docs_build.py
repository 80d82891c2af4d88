"""The documentation is built without a warning, from the sources as they are, and asks nothing of the network."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_pages_are_built_and_load_nothing_from_elsewhere(tmp_path):
    for package in ("sphinx", "furo", "myst_parser", "latex2mathml"):
        pytest.importorskip(package)
    source = tmp_path / "source"
    shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("_build", "generated"))
    for folder in ("examples", "notebooks"):
        shutil.copytree(ROOT / folder, source / folder)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(source / "docs"), str(tmp_path / "html")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "html").rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|iframe|source)[^>]+src="(?:https?:)?//', text), page.name
        assert not re.findall(r'<link[^>]+href="(?:https?:)?//[^>]+(?:stylesheet|preload|icon)', text), page.name
    for sheet in (tmp_path / "html").rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.findall(r"url\([\"']?(?:https?:)?//|@import", text), sheet.name
    reference = (tmp_path / "html" / "generated" / "api" / "solve.html").read_text(encoding="utf-8")
    assert "Find a static equilibrium" in reference and "anguilla.simulate" in reference
    gallery = (tmp_path / "html" / "generated" / "gallery.html").read_text(encoding="utf-8")
    for example in (ROOT / "examples").glob("*.py"):
        assert f"examples/{example.name}" in gallery, example.name
    showcase = (tmp_path / "html" / "generated" / "showcase.html").read_text(encoding="utf-8")
    assert showcase.count("<img") >= 20
    for page in (gallery, showcase):  # every card leads to a page
        cards = page.split('class="card docutils container"')[1:]
        assert cards and all(re.search(r'<a class="reference internal" href="[^"#]+\.html"', card) for card in cards)
    for page in pages:  # types are written by their names, formulas are typeset
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"TypeAliasForwardRef|_SupportsArray|&lt;factory|dtype<", text), page.name
    assert "<math" in (tmp_path / "html" / "lagrangian.html").read_text(encoding="utf-8")
