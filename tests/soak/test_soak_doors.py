"""The campaign of doors: it passes what is right, and sees answers that differ."""

from unittest import mock

import doors
import generate
import numpy as np
import units

import anguilla as ag


def test_all_doors_give_the_same_answer():
    record = doors.judge(generate.robot(7, 2))
    assert record["outcome"] == "right", record["reason"]
    told = record["motion"]
    assert all(told[door] is not None for door in ("file", "saved", "every", "batch", "stepper", "sparse", "gradient"))
    assert max(told[unit] for unit in doors.UNITS) < 1e-12


def test_a_door_that_answers_otherwise_is_seen():
    spec = generate.robot(7, 2)
    plain = ag.simulate_batch

    def late(*given, **named):
        return plain(*given, **(named | {"starts": [1e-3 + np.zeros(len(named["starts"][0])) for _ in range(2)]}))

    with (
        mock.patch.object(doors, "_start", lambda spec, made, eq: np.zeros(made.robot.size)),
        mock.patch.object(ag, "simulate_batch", late),
    ):
        record = doors.judge(spec)
    assert record["outcome"] == "wrong" and "batch differs" in record["motion"]["reason"]


def test_other_units_change_every_number_that_has_them():
    spec = generate.robot(7, 9)
    other = units.scaled(spec, 4.0, 2.0)
    material = next(part["what"]["material"] for part in spec["parts"])
    changed = next(part["what"]["material"] for part in other["parts"])
    assert changed["young"] == material["young"] and changed["density"] == 4.0 * material["density"]
    assert changed["damping"] == 2.0 * material["damping"] and changed["poisson"] == material["poisson"]
    assert other["motion"]["dt"] == 2.0 * spec["motion"]["dt"] and np.allclose(
        np.array(other["gravity"]) * 4.0, spec["gravity"]
    )
