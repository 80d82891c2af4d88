"""What the pages of the viewer show: mounts, colours, titles, seconds, presets, recordings, settings of files."""

import gzip
import html
import json
import re
import time
import urllib.request
from types import SimpleNamespace

import numpy as np
import pytest

import anguilla as ag
from anguilla.errors import AnguillaError
from anguilla.files import read_file
from anguilla.view.live import drive, drive_file, play
from anguilla.view.painting import values_along
from anguilla.view.recording import Recording
from anguilla.view.scene import scene
from anguilla.view.stage import plate

pytest.importorskip("viser")


@pytest.fixture
def robot():
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000, damping=0.01)
    made = ag.Robot("bent_arm")
    arm = made.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.extensible_kirchhoff(2)), at=made.ground, name="arm")
    made.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.007)))
    return made


@pytest.fixture
def driven(robot):
    shown = drive(robot, inputs={"pull": 1.0}, presets={"hard": {"pull": 3.0}}, port=8460)
    yield shown
    shown.close()


def test_the_tab_has_the_name_of_the_robot_and_the_axis_has_seconds(driven):
    for coding in ("identity", "gzip"):
        request = urllib.request.Request(driven.address, headers={"Accept-Encoding": coding})
        with urllib.request.urlopen(request) as answer:
            body = answer.read()
            assert len(body) == int(answer.headers["Content-Length"])
        text = gzip.decompress(body) if coding == "gzip" else body
        assert b"<title>Anguilla - bent_arm</title>" in text
    assert driven.chart.scales["x"].get("time") is False


def test_a_plate_stands_behind_a_clamped_root_and_only_there(robot):
    (tube,) = scene(ag.statics(robot)).tubes
    vertices, faces = plate(tube)
    assert vertices[:, 0].max() == pytest.approx(0.0, abs=1e-9) and vertices[:, 0].min() == pytest.approx(-0.007)
    assert np.linalg.norm(vertices[:, 1:], axis=1).max() == pytest.approx(0.017)
    a, b, c = (vertices[faces[:, k]].astype(float) for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0  # closed, and facing outwards
    assert volume == pytest.approx(np.pi * 0.017**2 * 0.007, rel=0.01)


def test_colours_show_what_the_results_say(robot):
    eq = ag.statics(robot, inputs={"pull": 2.0})
    arm, X = robot.part("arm"), np.array([0.05, 0.2])
    strain, wrench = eq.strain(arm, X), eq.wrench(arm, X)
    np.testing.assert_allclose(values_along(eq, arm, X, "bending")[0], np.hypot(strain[:, 1], strain[:, 2]))
    np.testing.assert_allclose(values_along(eq, arm, X, "stretch")[0], np.abs(strain[:, 3] - 1.0))
    np.testing.assert_allclose(values_along(eq, arm, X, "force")[0], np.linalg.norm(wrench[:, 3:], axis=1))


def test_rods_are_painted_in_bands(robot):
    run = ag.simulate(robot, duration=0.1, dt=0.01)
    shown = play(run, port=8461)
    try:
        shown._play(False)
        shown._colour(SimpleNamespace(target=SimpleNamespace(value="moment")))
        paint, plain = shown.props.paint, shown.props.meshes["arm"]
        bands = paint._bands["arm"]
        assert not plain.visible and all(band.visible for band in bands)
        assert "moment" in shown._legend.content and "N m" in shown._legend.content
        at_root, near = np.linalg.norm(run.wrench(robot.part("arm"), [0.0, 0.02])[:, :, :3], axis=2).max(axis=0)
        assert near < paint.largest < at_root  # in the middle of the first band
        assert len({tuple(band.color) for band in bands}) > 1
        shown._colour(SimpleNamespace(target=SimpleNamespace(value="none")))
        assert plain.visible and not any(band.visible for band in bands)
    finally:
        shown.close()


def test_presets_move_the_sliders(driven):
    assert list(driven.presets) == ["zero", "start", "hard"]
    driven.apply("hard")
    assert driven.sliders["pull"].value == 3.0 and driven.clock.wanted["pull"] == 3.0
    driven._keep()
    driven.apply("zero")
    assert driven.sliders["pull"].value == 0.0
    driven.apply("preset 1")
    assert driven.sliders["pull"].value == 3.0


def test_a_preset_of_an_unknown_input_is_refused(robot):
    with pytest.raises(AnguillaError, match="presets"):
        drive(robot, presets={"x": {"push": 1.0}}, port=8462)


def test_what_was_driven_can_be_saved_as_a_page(driven):
    sent = []
    client = SimpleNamespace(send_file_download=lambda name, data: sent.append((name, data)))
    driven._record(SimpleNamespace(client=client))
    until = time.perf_counter() + 20.0
    while time.perf_counter() < until and len(driven.recording.states) < 5:
        time.sleep(0.05)
    driven._record(SimpleNamespace(client=client))
    ((name, data),) = sent
    assert name == "bent_arm.html"
    stored = json.loads(re.search(r'id="data">(.*?)</script>', html.unescape(data.decode()), re.S)[1])
    assert stored["frames"] >= 5
    assert driven.record.label == "Record"


def test_a_recording_is_the_motion(robot):
    stepper = ag.Stepper(robot, dt=0.01, inputs={"pull": 1.0})
    recording = Recording()
    with pytest.raises(AnguillaError, match="nothing was recorded"):
        recording.motion()
    for _ in range(6):
        recording.add(stepper.result())
        recording.add(stepper.result())  # the same instant, drawn twice
        stepper.step()
    motion = recording.motion()
    run = ag.simulate(robot, duration=0.05, dt=0.01, inputs={"pull": 1.0})
    np.testing.assert_allclose(motion.t, run.t, atol=1e-12)
    np.testing.assert_allclose(motion.q, run.q, atol=1e-9)
    assert motion.inputs["pull"](0.02) == 1.0


def test_a_file_brings_its_time_step_inputs_and_start(robot, tmp_path):
    path = tmp_path / "arm.yaml"
    ag.write_robot(robot, path, inputs={"pull": 2.0}, simulate={"duration": 1, "dt": 0.004, "start": "held"})
    shown = drive_file(read_file(path), port=8463)
    try:
        assert shown.stepper.dt == 0.004 and shown.sliders["pull"].value == 2.0
        shown.clock.stop()
        shown.stepper.reset()
        np.testing.assert_allclose(shown.stepper.result().q[0], ag.statics(robot, inputs={"pull": 2.0}).q, atol=1e-8)
    finally:
        shown.close()
