"""Motions of soft bodies are judged: long steps are told, jumps of what acts are stepped onto, damping is of second order."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.errors import AnguillaWarning, DescriptionError


def bar(damping: float = 0.0) -> fem.SoftBody:
    """A clamped bar of 0.1 m, which swings at about 8 Hz."""
    soft = ag.Material(young=1e6, poisson=0.0, density=1000.0, damping=damping)
    body = fem.SoftBody("bar", fem.block((0.1, 0.01, 0.01), (4, 1, 1)), soft, gravity=(0, 0, 0), element="quadratic")
    body.fix("base")
    body.effector("end", (0.1, 0.0, 0.0))
    return body


def errors(body: fem.SoftBody, steps: tuple[float, ...], duration: float, **given) -> list[float]:
    """Errors [m] of the end, beside steps an eighth as long as the shortest."""
    paths, each = [], steps[0]
    for dt in (*steps, steps[-1] / 8.0):
        run = fem.simulate(body, duration=duration, dt=dt, every=round(each / dt), **given)
        paths.append(run.position("end"))
    return [float(np.linalg.norm(path - paths[-1], axis=1).max()) for path in paths[:-1]]


def test_long_steps_are_told_and_short_ones_are_not():
    body = bar()
    body.load(fem.PointForce((0.1, 0.0, 0.0), (0.0, 0.0, -0.04)))
    start = fem.statics(body)
    body = bar()
    fine = fem.simulate(body, duration=0.4, dt=1e-3, start=start, every=20)
    assert fine.quality is not None and fine.quality.ok and fine.quality.energy_error < 1e-3
    with pytest.warns(AnguillaWarning, match="time steps of 'bar' make an error"):
        coarse = fem.simulate(body, duration=0.4, dt=2e-2, start=start)
    error = np.linalg.norm(coarse.x - fine.x, axis=2).max() / np.linalg.norm([0.1, 0.01, 0.01])
    assert 0.5 * error < coarse.quality.time_error < 2.0 * error


def test_a_jump_is_stepped_onto_at_second_order():
    body = bar(2e-3)
    body.load(fem.PointForce((0.1, 0.0, 0.0), lambda t: (0.0, 0.0, 0.0 if t < 0.0213 else -0.02)))
    found = errors(body, (2e-3, 1e-3), 0.06, method=ag.GeneralisedAlpha(0.6))
    assert 3.0 < found[0] / found[1] < 6.0
    assert fem.simulate(body, duration=0.06, dt=2e-3).quality.events == pytest.approx((0.0213,), abs=1e-6)


def test_damping_of_the_material_is_of_second_order():
    body = bar(2e-2)
    body.load(
        fem.PointForce((0.1, 0.0, 0.0), lambda t: (0.0, 0.0, -5e-3 * (1.0 - np.cos(2.0 * np.pi * t / 0.08)) ** 2))
    )
    found = errors(body, (4e-3, 2e-3), 0.08)
    assert 3.2 < found[0] / found[1] < 5.0


def test_moved_points_that_jump_are_refused():
    body = bar()
    body.move("far", "tip", lambda t: (0.0, 0.0, 0.0 if t < 0.01 else 0.01))
    with pytest.raises(DescriptionError, match=r"moves\['far'\] jumps at t = 0.01 s"):
        fem.simulate(body, duration=0.02, dt=2e-3)
