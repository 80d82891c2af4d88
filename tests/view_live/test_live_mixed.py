"""Robots with soft volumes in the viewer: driven by sliders, played, recorded."""

import time

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem

pytest.importorskip("viser")
from anguilla.view.live import drive, play
from anguilla.view.mixed_live import MixedDriver, MixedPlayer


@pytest.fixture(scope="module")
def robot():
    robot = ag.Robot("arm")
    soft = ag.Material(young=1e6, poisson=0.3, density=1000.0, damping=0.01)
    arm = robot.add(ag.Rod(0.1, ag.Circle(0.005), soft, ag.kirchhoff(2)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.004)))
    pad = ag.Volume(fem.block((0.05, 0.02, 0.02), (3, 1, 1)), soft, name="pad")
    pad.actuate("bend", fem.Tendon([(x, 0.0, 0.008) for x in (0.0, 0.025, 0.05)]))
    pad.actuate("air", fem.Chamber(pad.mesh.boundary, pressure=(0.0, 2e4)))
    robot.add(pad, at=arm.tip, patch="base")
    return robot


def _until(done, seconds=30.0):
    end = time.time() + seconds
    while not done():
        assert time.time() < end
        time.sleep(0.02)


def test_sliders_drive_rods_and_volumes(robot):
    shown = drive(robot, dt=0.01, port=8341)
    try:
        assert isinstance(shown, MixedDriver)
        assert set(shown.sliders) == {"pull", "pad.bend", "pad.air"}
        assert shown.sliders["pad.air"].max == 2e4
        assert 0.0 < shown.sliders["pad.bend"].max < 100.0
        assert "loads" not in shown.props.show  # what volumes do to rods is no load
        shown._record(type("Event", (), {"client": None})())
        shown.apply("zero")
        shown.clock.wanted["pad.air"] = 1e4
        _until(lambda: shown.stepper.t > 0.05 or shown.clock.failure)
        assert not shown.clock.failure
        shown.clock.stop()
        shown._draw()
        drawn = shown.drawn._made["/volumes/pad"].vertices
        assert drawn == pytest.approx(shown.stepper.volume("pad").x[0], abs=1e-7)
        motion = shown.recording.motion()
        assert motion.volume("pad").x.shape == (len(motion.t), *drawn.shape)
        assert motion.volume("pad").inputs["air"](motion.t[-1]) == 1e4
    finally:
        shown.close()


def test_a_motion_is_played(robot):
    run = ag.simulate(robot, duration=0.02, dt=0.005, inputs={"pull": 0.1})
    shown = play(run, port=8342)
    try:
        assert isinstance(shown, MixedPlayer)
        shown._play(False)
        shown.seek(0.02)
        assert shown.index == 4
        assert np.array_equal(shown.skins[0].x[-1], run.volume("pad").x[-1])
        _, high = shown.picture.bounds
        assert high[0] > 0.14  # the camera sees the volume at the end of the arm
    finally:
        shown.close()
