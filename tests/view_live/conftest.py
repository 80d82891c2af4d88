"""A soft arm of three sections with nine tendons, for the viewer; a real browser."""

import shutil
from importlib.resources import as_file, files

import pytest

import anguilla as ag
from anguilla.files import read_robot

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
GRAPHICS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]


@pytest.fixture(scope="session")
def arm() -> ag.Robot:
    with as_file(files("anguilla.cli").joinpath("templates", "tendon.yaml")) as path:
        return read_robot(path)


@pytest.fixture
def page():
    sync = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no chromium")
    with sync.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=GRAPHICS)
        opened = browser.new_page(viewport={"width": 960, "height": 640})
        opened.asked = []
        opened.on("request", lambda request: opened.asked.append(request.url))
        yield opened
        browser.close()
