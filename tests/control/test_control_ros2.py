"""The node of ROS 2 in the examples, with stand-ins for what ROS 2 gives."""

from types import SimpleNamespace

import numpy as np
from script_modules import load

import anguilla as ag


class Array:
    def __init__(self, data=()):
        self.data = list(data)


class Point:
    def __init__(self):
        self.header, self.point = SimpleNamespace(), SimpleNamespace()


class Node:
    """Keeps what a node asks of ROS 2."""

    def __init__(self, name):
        self.name, self.warned, self.sent = name, [], {}

    def create_subscription(self, kind, topic, call, depth):
        self.heard = {topic: call}

    def create_publisher(self, kind, topic, depth):
        sent = self.sent.setdefault(topic, [])
        return SimpleNamespace(publish=sent.append)

    def create_timer(self, period, call):
        self.timer = period, call

    def get_logger(self):
        return SimpleNamespace(warning=self.warned.append)

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(to_msg=lambda: "now"))


def test_the_node_steps_the_arm_and_publishes_what_its_sensors_show():
    module = load("ros2_twin")
    node = module.make_node(Node, Array, Point)()
    node.heard["~/command"](Array([2.0, 0.0, 0.0]))
    period, tick = node.timer
    for _ in range(20):
        tick()
    beside = ag.Stepper(module.arm(), dt=period)
    for _ in range(20):
        beside.step({"pull_1": 2.0})
    assert np.allclose(node.sent["~/readings"][-1].data, beside.read(), atol=1e-12)
    assert node.sent["~/tip"][-1].point.y == node.sent["~/readings"][-1].data[1] > 1e-3
    node.heard["~/command"](Array([1.0]))
    node.heard["~/command"](Array([float("nan"), 0.0, 0.0]))
    assert "3 numbers, for pull_1, pull_2, pull_3" in node.warned[0] and len(node.warned) == 2
