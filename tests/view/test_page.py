import base64
import copy
import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import anguilla as ag
from anguilla.view.page import quaternions_wxyz
from anguilla.view.scene import scene, thin

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def data_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def decode(array):
    values = np.frombuffer(base64.b64decode(array["data"]), dtype="<f4")
    return values.reshape(array["shape"])


@pytest.fixture(scope="module")
def page(case, tmp_path_factory):
    return ag.animate(case.run, tmp_path_factory.mktemp("page") / "run.html")


def test_page_asks_nothing_of_the_network(page):
    text = page.read_text(encoding="utf-8")
    assert "http://" not in text and "https://" not in text
    assert not re.search(r"""(src|href)\s*=\s*["'](?!data:)""", text)
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|EventSource|importScripts)\b|@import|url\(", text)
    assert "default-src 'none'" in text
    assert not re.search(r"@[A-Z]+@", text)


def test_page_holds_the_positions(case, page):
    data = data_of(page)
    picture = scene(case.run, sections=40)
    np.testing.assert_allclose(decode(data["t"]), case.run.t, atol=1e-6)
    for rod, tube in zip(data["rods"], picture.tubes, strict=True):
        position = decode(rod["position"])
        assert position.shape == (data["frames"], rod["sections"], 3)
        np.testing.assert_allclose(position, tube.position, atol=1e-6)
        assert decode(rod["outline"]).shape == (rod["sections"], rod["around"], 2)
        q = decode(rod["rotation"])
        np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0, atol=1e-6)
    # the camera's sphere holds all points
    points = picture.points - np.array(data["centre"])
    assert np.max(np.linalg.norm(points, axis=1)) <= data["radius"]


def test_quaternions_give_the_rotations_back():
    # from half turns, where the scalar part vanishes, to no turn at all
    rng = np.random.default_rng(1)
    q = np.concatenate([rng.normal(size=(50, 4)), np.eye(4), [[1e-9, 1.0, 0.0, 0.0], [0.0, 0.6, 0.8, 0.0]]])
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    w, v = q[:, 0], q[:, 1:]
    hat = np.zeros((len(q), 3, 3))
    hat[:, 0, 1], hat[:, 0, 2], hat[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    hat -= hat.transpose(0, 2, 1)
    rotation = np.eye(3) + 2.0 * w[:, None, None] * hat + 2.0 * hat @ hat
    found = quaternions_wxyz(rotation)
    np.testing.assert_allclose(np.abs(np.sum(found * q, axis=1)), 1.0, atol=1e-14)


def test_long_runs_are_thinned(case, tmp_path):
    many = thin(case.run, 2)
    n = 20_000
    columns = {name: np.repeat(getattr(many, name)[:1], n, axis=0) for name in ("_q", "_v")}
    long = ag.Trajectory(case.robot, case.run.system, case.run.status, np.linspace(0, 200, n), **columns)
    path = ag.animate(long, tmp_path / "long.html")
    assert path.stat().st_size < 3e6
    t = decode(data_of(path)["t"])
    assert t[0] == 0.0 and t[-1] == 200.0


def test_names_cannot_break_out(case, tmp_path):
    nasty = '</script><script>alert("x")</script>&'
    system = copy.copy(case.eq.system)
    system.robot = copy.deepcopy(system.robot)
    system.robot._name = nasty  # as no door lets through
    eq = ag.Equilibrium(case.robot, system, case.eq.status, case.eq._t, case.eq._q, case.eq._v, case.eq._a)
    text = ag.animate(eq, tmp_path / "nasty.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert f"<title>{html.escape(nasty)}</title>" in text
    assert data_of(tmp_path / "nasty.html")["name"] == nasty


def test_other_formats_are_refused(case, tmp_path):
    with pytest.raises(ag.DescriptionError, match=r"\.html"):
        ag.animate(case.run, tmp_path / "run.avi")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_a_browser_draws_the_tip_where_it_is(case, page, tmp_path):
    moment = 0.2
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    graphics = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=600,400"]
    mode = ["--headless", "--no-sandbox", f"--user-data-dir={tmp_path}", "--virtual-time-budget=3000", "--dump-dom"]
    command = [CHROMIUM, *mode, *quiet, *graphics, f"{page.as_uri()}#t={moment}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    body = re.search(r"<body[^>]*>", done.stdout)[0]
    assert 'data-state="ready"' in body, body
    assert float(re.search(r'data-time="([^"]*)"', body)[1]) == moment
    tip = json.loads(re.search(r'data-tip="([^"]*)"', body)[1])
    index = int(np.argmin(np.abs(case.run.t - moment)))
    np.testing.assert_allclose(tip, scene(case.run, sections=40).tubes[-1].position[index, -1], atol=2e-6)


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_a_picture_that_is_no_longer_drawn_comes_back_on_a_click(case):
    sync = pytest.importorskip("playwright.sync_api")
    graphics = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=graphics)
        notebook = browser.new_page()
        notebook.set_content(ag.animate(case.run)._repr_html_())
        cell = notebook.frame_locator("iframe")
        cell.locator("body[data-state=ready]").wait_for()
        lose = "view => view.getContext('webgl2').getExtension('WEBGL_lose_context').loseContext()"
        cell.locator("#view").evaluate(lose)
        told = cell.locator("#message")
        told.wait_for()
        assert "Click to draw it again" in told.inner_text()
        cell.locator("body").click()
        told.wait_for(state="hidden")
        cell.locator("body[data-state=ready]").wait_for()
        browser.close()


def test_tendons_of_the_page_are_where_they_are(tmp_path):
    robot = ag.Robot("crane", gravity=(0, 0, 0))
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000)
    boom = robot.add(ag.Rod(0.4, ag.Circle(0.01), rubber, ag.kirchhoff(3)), at=robot.ground, name="boom")
    hand = robot.add(
        ag.RigidBody.box((0.05, 0.03, 0.03), mass=0.01), at=boom.tip, joint=ag.Revolute((0, 1, 0)), name="hand"
    )
    robot.actuate("pull", ag.Tendon(boom, ag.helical(0.006, 0.2)))
    robot.actuate("stay", ag.Tendon([robot.ground.offset_by((0, 0, 0.3)), hand.at((0, 0, 0.02))], ag.parallel()))
    run = ag.simulate(robot, duration=0.1, dt=0.01, inputs={"pull": 1.0, "stay": 0.05})
    data = data_of(ag.animate(run, tmp_path / "crane.html"))
    tubes = scene(run, sections=40).tubes

    def line(cable, instant):
        points = []
        for number, section, offset in zip(cable["tube"], cable["section"], decode(cable["offset"]), strict=True):
            if number < 0:
                points.append(offset)
            else:
                tube = tubes[number]
                points.append(tube.position[instant, section] + tube.rotation[instant, section] @ offset)
        return np.array(points).reshape(-1, 2, 3)

    pull, stay = data["cables"]
    for instant in (0, 10):
        lengths = [np.linalg.norm(np.diff(line(cable, instant), axis=1), axis=2).sum() for cable in (pull, stay)]
        assert lengths[0] == pytest.approx(run.length("pull")[instant], rel=1e-3)
        assert lengths[1] == pytest.approx(run.length("stay")[instant], rel=1e-5)
    assert np.ptp(run.length("stay")) > 1e-3
