"""The documentation is built without a warning, from the sources as they are, and asks nothing of the network."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PHONE = 390  # pixels


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """The folder of the pages."""
    for package in ("sphinx", "furo", "myst_parser", "latex2mathml"):
        pytest.importorskip(package)
    tmp_path = tmp_path_factory.mktemp("docs")
    source = tmp_path / "source"
    shutil.copytree(ROOT / "docs", source / "docs", ignore=shutil.ignore_patterns("_build", "generated"))
    for folder in ("examples", "notebooks"):
        shutil.copytree(ROOT / folder, source / folder)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(source / "docs"), str(tmp_path / "html")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return tmp_path / "html"


@pytest.mark.slow
def test_pages_are_built_and_load_nothing_from_elsewhere(html):
    pages = list(html.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|iframe|source)[^>]+src="(?:https?:)?//', text), page.name
        assert not re.findall(r'<link[^>]+href="(?:https?:)?//[^>]+(?:stylesheet|preload|icon)', text), page.name
    for sheet in html.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.findall(r"url\([\"']?(?:https?:)?//|@import", text), sheet.name
    reference = (html / "generated" / "api" / "solve.html").read_text(encoding="utf-8")
    assert "Find a static equilibrium" in reference and "anguilla.simulate" in reference
    gallery = (html / "generated" / "gallery.html").read_text(encoding="utf-8")
    for example in (ROOT / "examples").glob("*.py"):
        assert f"examples/{example.name}" in gallery, example.name
    showcase = (html / "generated" / "showcase.html").read_text(encoding="utf-8")
    assert showcase.count("<img") >= 20
    for page in (gallery, showcase):  # every card leads to a page
        cards = page.split('class="card docutils container"')[1:]
        assert cards and all(re.search(r'<a class="reference internal" href="[^"#]+\.html"', card) for card in cards)
    for page in pages:  # types are written by their names, formulas are typeset
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"TypeAliasForwardRef|_SupportsArray|&lt;factory|dtype(&lt;|\[)", text), page.name
    assert "<math" in (html / "lagrangian.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_every_page_fits_a_phone_and_asks_nothing_of_the_network(html):
    sync = pytest.importorskip("playwright.sync_api")
    wide, asked = [], []
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": PHONE, "height": 800})
        page.on("request", lambda request: asked.append(request.url))
        for file in html.rglob("*.html"):
            page.goto(file.as_uri(), wait_until="domcontentloaded")
            if page.evaluate("document.documentElement.scrollWidth") > PHONE:
                wide.append(file.name)
        browser.close()
    assert not wide and asked
    assert all(url.startswith(("file:", "data:")) for url in asked)
