"""A loop at a fixed rate keeps time, and a twin is driven through its door."""

import json
import os
import socket
import time

import numpy as np
import pytest

import anguilla as ag
from anguilla import sensors
from anguilla.control import FixedRate, SerialDoor, Twin, ask_twin


def arm():
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))
    rod = robot.add(
        ag.Rod(0.3, ag.Circle(0.01), ag.Material(young=1e6, density=1000, damping=0.05), ag.planar(3)), at=robot.ground
    )
    robot.actuate("up", ag.Tendon(rod, ag.parallel(y=0.008)))
    robot.sense("tip", sensors.Position(rod.tip))
    return robot, rod


def test_rounds_begin_on_time_and_a_late_one_does_not_move_the_others():
    loop, began = FixedRate(100.0, 20), []
    for k in loop:
        began.append(time.perf_counter())
        if k == 5:
            time.sleep(0.025)
    timing, passed = loop.timing, np.array(began) - began[0]
    assert np.all(passed >= 0.01 * np.arange(20) - 1e-3)
    assert timing.lateness[6] > 0.01 and len(timing.work) == 20 and timing.in_time < 1.0
    assert "20 rounds at 100 Hz" in str(timing)


def test_a_twin_is_driven_from_outside():
    robot, rod = arm()
    with Twin(ag.Stepper(robot, dt=0.01)) as twin:
        first = ask_twin({"up": 1.0}, twin.port, timeout=10.0)
        assert first["inputs"] == {"up": 1.0} and set(first["readings"]) == {"tip.x", "tip.y", "tip.z"}
        until = time.monotonic() + 20.0
        settled = ag.statics(robot, inputs={"up": 1.0}).position(rod.tip)
        while time.monotonic() < until:
            now = ask_twin({}, twin.port, timeout=10.0)
            if np.allclose(list(now["readings"].values()), settled, atol=2e-3) and now["t"] > 1.5:
                break
            time.sleep(0.05)
        else:
            pytest.fail("the twin did not come to rest")
        with pytest.raises(ag.AnguillaError, match="there is no input 'left'; there are: up"):
            ask_twin({"left": 1.0}, twin.port, timeout=10.0)
        with pytest.raises(ag.AnguillaError, match="up"):
            ask_twin({"up": float("nan")}, twin.port, timeout=10.0)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
            door.settimeout(10.0)
            for junk in (b"\xff", b"[1", b'"x"', b'{"inputs": 3}', b'{"inputs": {"up": "x"}}', b"[" * 5000):
                door.sendto(junk, ("127.0.0.1", twin.port))
                assert "error" in json.loads(door.recvfrom(65_000)[0])
    assert twin.timing is not None and len(twin.timing.work) > 100 and not twin.failure
    with pytest.raises(ag.AnguillaError, match="no twin answers"):
        ask_twin({}, twin.port, timeout=0.2)


def test_a_twin_is_driven_over_a_serial_port():
    pty = pytest.importorskip("pty")
    board, port = pty.openpty()  # the board's end, the computer's end
    robot, _ = arm()

    def ask(line):
        os.write(board, line)
        data = b""
        while not data.endswith(b"\n"):
            data += os.read(board, 4096)
        return json.loads(data)

    try:
        with Twin(ag.Stepper(robot, dt=0.01), SerialDoor(os.ttyname(port))) as twin:
            os.write(board, b'{"inputs": {')  # a line may come in pieces
            time.sleep(0.03)
            first = ask(b'"up": 1.0}}\n')
            assert first["inputs"] == {"up": 1.0} and set(first["readings"]) == {"tip.x", "tip.y", "tip.z"}
            assert "there is no input 'left'" in ask(b'{"inputs": {"left": 1.0}}\n')["error"]
            assert "JSON" in ask(b"\xff\x00junk\n")["error"]
            until = time.monotonic() + 20.0
            while ask(b"{}\n")["t"] < 0.3 and time.monotonic() < until:
                time.sleep(0.02)
            now = ask(b"{}\n")
        straight = ag.Stepper(robot, dt=0.01)
        while straight.t < now["t"] - 0.005:
            straight.step({"up": 1.0})
        assert now["readings"]["tip.y"] == pytest.approx(straight.read()[1], abs=5e-3)  # the command came a step later
        assert abs(now["readings"]["tip.y"]) > 0.01
    finally:
        os.close(board)
        os.close(port)
    assert not twin.failure
    with pytest.raises(ag.AnguillaError, match="cannot be opened"):
        SerialDoor("no_such_port")
    with pytest.raises(ag.DescriptionError, match="baud must be one of 9600"):
        SerialDoor("no_such_port", baud=12345)


def test_what_is_no_serial_port_is_said(tmp_path):
    pytest.importorskip("termios")
    (tmp_path / "file").write_text("")
    with pytest.raises(ag.AnguillaError, match="is not a serial port"):
        SerialDoor(str(tmp_path / "file"))
