"""A small part of the campaign of contact, and its own verifier of what passes through what."""

import contact
import numpy as np
import passing
import pytest
import scenes


@pytest.mark.parametrize("index", [5, 14, 19, 21, 29])
def test_a_scene_is_answered_right_or_refused_or_said(index):
    record = contact.judge(scenes.scene(1, index))
    assert record["outcome"] not in ("wrong", "crash", "hang"), record["reason"]


@pytest.mark.parametrize("index", [62, 167, 249])
def test_parts_that_hit_each_other_are_judged_as_those_that_hit_obstacles(index):
    """Off by 6 to 8 % of the length: motions whose parts alone touch were judged as if nothing did."""
    record = contact.judge(scenes.scene(20311117, index))
    assert record["outcome"] == "said", record["reason"]


@pytest.mark.parametrize("index", [503, 783])
def test_bristles_are_counted_once(index):
    """They are part of the elastic energy; counted twice, they were a gain of 0.4 and 1.4 % that nobody said."""
    record = contact.judge(scenes.scene(20310923, index), quick=True)
    assert record["outcome"] == "right", record["reason"]


def test_scenes_are_the_same_everywhere():
    assert scenes.scene(2, 7) == scenes.scene(2, 7) != scenes.scene(3, 7)


def test_distances_of_lines():
    """Crossed lines 0.3 apart, and a point beside one."""
    x = np.linspace(-1.0, 1.0, 7)
    a = np.stack([x, 0 * x, 0 * x], axis=1)[None]
    b = np.stack([0 * x + 0.05, x, 0 * x + 0.3], axis=1)[None]
    assert passing.apart(a, b)[0] == pytest.approx(0.3)
    assert passing.apart(a, np.array([[[0.2, 0.0, 0.4]]]))[0] == pytest.approx(0.4)


def test_a_ball_in_a_box_is_seen():
    pose = np.eye(4)[None]
    inside = passing.in_shape(["box", [1.0, 2.0, 3.0]], pose, np.array([[[0.3, 0.0, 0.0], [2.0, 0.0, 0.0]]]))
    np.testing.assert_allclose(inside, [[-0.2, 1.5]])
