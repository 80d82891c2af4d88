"""A small part of the campaign, and its generator."""

import json

import describe
import generate
import pytest
import verify
import volumes
import wider


@pytest.mark.parametrize("index", range(12))
def test_a_robot_is_answered_right_or_refused_or_said(index):
    record = verify.judge(generate.robot(2026, index))
    assert record["outcome"] not in ("wrong", "crash", "hang"), record["reason"]


def test_a_seed_gives_the_same_robots_everywhere_and_they_are_plain_data():
    for index in range(8):
        spec = generate.robot(3, index)
        assert json.loads(json.dumps(spec)) == spec == generate.robot(3, index)
        made = describe.build(spec)
        assert len(made.robot.parts) >= len(spec["parts"])
    assert generate.robot(3, 0) != generate.robot(4, 0)


def test_a_finer_robot_has_the_same_coordinates():
    spec = generate.robot(3, 1)
    fine = describe.finer(spec, 3)
    assert describe.build(fine).robot.coordinates() == describe.build(spec).robot.coordinates()
    assert fine != spec


@pytest.mark.parametrize("index", range(4))
def test_a_robot_of_the_wider_campaign_is_answered_right_or_refused_or_said(index):
    record = verify.judge(wider.wide(2026, index))
    assert record["outcome"] not in ("wrong", "crash", "hang"), record["reason"]


@pytest.mark.parametrize("index", [1, 2])
def test_a_soft_volume_is_answered_right_or_refused_or_said(index):
    record = volumes.judge(2026, index)
    assert record["outcome"] not in ("wrong", "crash", "hang"), record["reason"]
