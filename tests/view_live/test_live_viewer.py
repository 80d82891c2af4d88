"""The viewer as a server, and as a person meets it: a real browser, a real click, and a look at the pixels."""

import io
import time
from pathlib import Path

import numpy as np
import pytest

import anguilla as ag
from anguilla.cli import main

pytest.importorskip("viser")
from anguilla.view.live import drive, play


@pytest.fixture(scope="module")
def run(arm):
    return ag.simulate(arm, duration=0.5, dt=0.01, inputs={"a1": 10.0, "c3": 5.0})


def until(condition, seconds=20.0):
    """Wait for something to happen."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


def listening(port):
    """Addresses (hex) on which a port is open for listening."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:] + Path("/proc/net/tcp6").read_text().splitlines()[1:]
    columns = [line.split() for line in lines]
    return {c[1].split(":")[0] for c in columns if c[3] == "0A" and int(c[1].split(":")[1], 16) == port}


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="no /proc")
def test_only_this_machine_is_served(run, capsys):
    shown = play(run, port=8311)
    try:
        port = shown.server.get_port()
        assert shown.address.startswith("http://127.0.0.1:")
        assert listening(port) == {"0100007F"}
    finally:
        shown.close()
    assert not capsys.readouterr().out


def test_the_player_shows_what_was_computed(run):
    shown = play(run, port=8312)
    try:
        shown._play(False)
        shown.seek(0.3)
        tube = shown.picture.tubes[-1]
        mesh = shown.props.meshes["c"].vertices
        np.testing.assert_allclose(mesh[-1], run.position(run.robot.part("c").tip)[30], atol=1e-6)
        assert len(mesh) == tube.outline.shape[0] * tube.outline.shape[1] + 2
        assert shown.slider.value == pytest.approx(0.3)
        shown.speed, shown.index = 5.0, 0
        shown._play(True)
        until(lambda: shown.index > 0)
    finally:
        shown.close()


def test_an_equilibrium_can_be_looked_at(arm):
    shown = play(ag.statics(arm), port=8313)
    shown.close()


def test_a_stand_alone_page(run, tmp_path):
    shown = play(run, port=8314)
    try:
        path = shown.save_page(tmp_path / "run.html")
        text = path.read_text(encoding="utf-8")
        assert "__VISER_EMBED_DATA__" in text and path.stat().st_size < 20e6
        with pytest.raises(ag.DescriptionError, match=r"\.html"):
            shown.save_page(tmp_path / "run.txt")
    finally:
        shown.close()


def test_driving_moves_the_robot(arm):
    shown = drive(arm, port=8315, inputs={"a2": lambda t: 1.0})
    try:
        assert shown.sliders["a2"].value == 1.0
        until(lambda: shown.stepper.t > 0.2)
        before = shown.props.meshes["c"].vertices[-1].copy()
        shown.clock.wanted["a1"] = 20.0
        until(lambda: np.linalg.norm(shown.props.meshes["c"].vertices[-1] - before) > 0.02)
        until(lambda: "real time" in shown.report.content)
        shown._pause()
        time.sleep(0.1)
        t = shown.stepper.t
        time.sleep(0.2)
        assert shown.stepper.t == t
    finally:
        shown.close()


def test_the_command_serves_both(run, tmp_path, capsys):
    path = run.save(tmp_path / "run.nc")
    assert main(["view", str(path), "--port", "8316", "--seconds", "0.3"]) == 0
    assert "open http://127.0.0.1:8316" in capsys.readouterr().out
    robot = tmp_path / "arm.yaml"
    assert main(["new", str(robot), "--template", "arm"]) == 0
    assert main(["view", str(robot), "--port", "8317", "--seconds", "0.3"]) == 0
    assert "open http://127.0.0.1:8317" in capsys.readouterr().out


# in a browser ---------------------------------------------------------------------------------------------------------


def pixels(page):
    from PIL import Image

    with Image.open(io.BytesIO(page.screenshot())) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def coloured(image):
    """Which pixels of the left part show the third section of the arm, which is green."""
    left = image[:, :640]
    return (left[:, :, 1] > left[:, :, 0] + 40) & (left[:, :, 1] > left[:, :, 2] + 10)


def wait_for_robot(page):
    end = time.monotonic() + 40
    while time.monotonic() < end:
        image = pixels(page)
        if coloured(image).sum() > 200:
            return image
        page.wait_for_timeout(500)
    raise AssertionError("the robot never appeared")


@pytest.mark.browser
def test_a_click_on_a_slider_bends_the_arm_on_the_screen(arm, page):
    shown = drive(arm, port=8318)
    try:
        page.goto(shown.address)
        before = wait_for_robot(page)
        box = page.locator(".mantine-Slider-track, .mantine-Slider-root").first.bounding_box()
        page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + box["height"] / 2)
        page.wait_for_timeout(3000)
        after = pixels(page)
        assert shown.clock.wanted["a1"] == pytest.approx(0.6 * shown.sliders["a1"].max, rel=0.1)
        changed = coloured(before) != coloured(after)
        assert changed.sum() > 0.3 * coloured(before).sum(), "the section has moved on the screen"
        pace = shown.clock.pace
        assert pace.lost == 0.0 and pace.factor == pytest.approx(1.0, abs=0.03), str(pace)
        assert all("127.0.0.1" in url or url.startswith(("data:", "blob:")) for url in page.asked), page.asked
    finally:
        shown.close()


@pytest.mark.browser
def test_the_timeline_plays_and_stops(run, page):
    shown = play(run, port=8319)
    try:
        page.goto(shown.address)
        wait_for_robot(page)
        page.get_by_role("button", name="Pause").click()
        page.wait_for_timeout(1500)
        assert not shown.playing
        still = shown.index
        page.wait_for_timeout(500)
        assert shown.index == still
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_timeout(1500)
        assert shown.playing
    finally:
        shown.close()


def count(image, red, green, blue, near=50):
    """How many pixels of the left part have about a colour."""
    return int(np.sum(np.max(np.abs(image[:, :640] - [red, green, blue]), axis=2) < near))


@pytest.mark.browser
def test_a_click_hides_the_reactions(page):
    robot = ag.Robot("bridge")
    rubber = ag.Material(young=5e6, poisson=0.45, density=1000)
    arch = robot.add(ag.Rod(0.4, ag.Circle(0.01), rubber, ag.kirchhoff(3)), at=robot.ground, name="arch")
    robot.close(robot.ground.offset_by((0.36, 0.05, 0.0)), arch.tip, name="pier")
    shown = play(ag.statics(robot, start=np.r_[np.zeros(3), -2.0, 4.0, 0.0, np.zeros(3)]), port=8321)

    def purple(image):
        left = image[:, :640]
        return int(np.sum((left[:, :, 2] > left[:, :, 1] + 30) & (left[:, :, 0] > left[:, :, 1] + 15)))

    try:
        page.goto(shown.address)
        end = time.monotonic() + 40
        while purple(pixels(page)) < 40:
            assert time.monotonic() < end, "the reaction never appeared"
            page.wait_for_timeout(500)
        page.get_by_role("checkbox", name="Reactions").click()
        page.wait_for_timeout(2000)
        assert shown.props.show["reactions"] is False
        assert purple(pixels(page)) < 10
    finally:
        shown.close()


@pytest.mark.browser
def test_a_soft_volume_is_dark_where_it_rests_and_light_where_it_is_pulled(page):
    from anguilla import fem
    from anguilla.view.soft import play_soft

    body = fem.SoftBody("block", fem.block((0.1, 0.03, 0.03), (10, 3, 3)), ag.Material(5e5, 1050, poisson=0.4))
    body.fix("base")
    body.actuate("pull", fem.Tendon([(0.0, 0.0, 0.014), (0.05, 0.0, 0.014), (0.095, 0.0, 0.014)]))
    shown = play_soft(fem.statics(body, inputs={"pull": 5.0}), colour="displacement", port=8322)
    try:
        page.goto(shown.address)
        end = time.monotonic() + 40
        while (found := (count(pixels(page), 55, 20, 90), count(pixels(page), 230, 220, 40, 70))) and min(found) < 100:
            assert time.monotonic() < end, f"dark and light pixels: {found}"
            page.wait_for_timeout(500)
    finally:
        shown.close()


def test_an_obstacle_that_moves_is_moved():
    robot = ag.Robot("belt")
    belt = robot.add(ag.HalfSpace(), at=robot.ground, joint=ag.Prismatic((1, 0, 0), motion=lambda t: 0.1 * t))
    ball = robot.add(ag.RigidBody.sphere(0.02, mass=0.1), at=robot.ground, joint=ag.Free(), pose=(0, 0, 0.02))
    robot.load(ag.Contact(ball, belt, 1e3, damping=1.0))
    shown = play(ag.simulate(robot, duration=0.1, dt=1e-3), port=8327)
    try:
        shown._play(False)
        shown.seek(0.1)
        (handle,) = shown.props.carried
        assert np.asarray(handle.position) == pytest.approx((0.01, 0.0, 0.0))
    finally:
        shown.close()
