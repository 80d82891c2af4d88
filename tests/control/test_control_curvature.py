"""Constant-curvature and vertebra models against geometry and rods."""

import numpy as np
import pytest

import anguilla as ag
from anguilla import control
from anguilla.control.curvature import ANGLES


def lengths_of_arc(theta, phi, length, radius):
    """Lengths of three lines parallel to an arc, by geometry: each is an arc of its own radius."""
    return length - radius * theta * np.cos(ANGLES - phi)


@pytest.mark.parametrize("theta", [0.0, 1e-9, 1e-4, 0.3, 1.5, 2.4])
@pytest.mark.parametrize("phi", [0.0, 1.0, -2.5])
def test_arc_pose_is_a_circle(theta, phi):
    length, radius = 0.1, 0.04
    pose = control.arc_pose(lengths_of_arc(theta, phi, length, radius), radius)
    axis = np.array([-np.sin(phi), np.cos(phi), 0.0])
    from anguilla.lie import exp3

    np.testing.assert_allclose(pose[:3, :3], exp3(theta * axis), atol=1e-12)
    s = (np.arange(2000) + 0.5) / 2000  # the middle line integrates its own direction
    line = length * np.mean(exp3(theta * s[:, None] * axis)[:, :, 2], axis=0)
    np.testing.assert_allclose(pose[:3, 3], line, atol=1e-7 * length * (1 + theta**2))


def test_arc_pose_is_the_printed_matrix():
    l = np.array([0.09, 0.1, 0.115])
    d = 0.04
    D = 2 * np.sqrt(l[0] ** 2 + l[1] ** 2 + l[2] ** 2 - l[0] * l[1] - l[0] * l[2] - l[1] * l[2])  # 002 (18)
    theta, r = D / (3 * d), l.sum() * d / D
    phi = np.arctan2(np.sqrt(3) * (l[2] - l[1]), l[1] + l[2] - 2 * l[0])
    c, s, ct, st = np.cos(phi), np.sin(phi), np.cos(theta), np.sin(theta)
    T = np.array(
        [
            [c * c * ct + s * s, c * s * (ct - 1), c * st, r * c * (1 - ct)],
            [c * s * (ct - 1), s * s * ct + c * c, s * st, r * s * (1 - ct)],
            [-c * st, -s * st, ct, r * st],
            [0, 0, 0, 1],
        ]
    )
    np.testing.assert_allclose(control.arc_pose(l, d), T, atol=1e-12)


def test_an_arc_bends_towards_its_shortest_side():
    for k in range(3):
        lengths = np.full(3, 0.1)
        lengths[k] = 0.09
        tip = control.arc_pose(lengths, 0.04)[:2, 3]
        assert tip @ [np.cos(ANGLES[k]), np.sin(ANGLES[k])] == pytest.approx(np.linalg.norm(tip), rel=1e-12)


def test_a_vertebra_gives_its_legs_back():
    legs = np.array([0.012, 0.0105, 0.011])
    pose = control.vertebra_pose(legs, 0.05, 0.048)
    circle = np.stack([np.cos(ANGLES), np.sin(ANGLES), np.zeros(3)])
    found = np.linalg.norm(pose[:3, :3] @ (0.048 * circle) + pose[:3, 3:] - 0.05 * circle, axis=0)
    np.testing.assert_allclose(found, legs, atol=1e-13)
    assert pose[1, 0] == 0.0  # no turn about the long axis (19)
    np.testing.assert_allclose(pose[:2, 3], 0.0, atol=0)


def test_many_vertebrae_approach_the_arc():
    lengths = np.tile(lengths_of_arc(0.6, 0.4, 0.1, 0.04), 1)
    arc = control.arc_pose(lengths, 0.04)[:3, 3]
    errors = [
        np.linalg.norm(control.VertebraModel((0.04, 0.04), joints=n).pose(lengths)[:3, 3] - arc) for n in (4, 8, 16)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[1] / errors[2] == pytest.approx(2.0, abs=0.2)  # each turns at its upper plate: first order


def test_a_fit_finds_the_model_that_made_the_data():
    rng = np.random.default_rng(0)
    lengths = 0.1 + 0.01 * rng.standard_normal((20, 6))
    truth = control.ArcModel((0.05, 0.04), (1.0, 1.0), (0.01, 0.002))
    tips = np.array([truth.pose(row)[:3, 3] for row in lengths])
    model, rms = control.fit_model(control.ArcModel.of((0.03, 0.03)), lengths, tips)
    assert rms < 1e-9
    np.testing.assert_allclose(model.parameters(), truth.parameters(), atol=1e-7)


def test_bad_lengths_are_refused():
    with pytest.raises(ag.DescriptionError, match="lengths"):
        control.arc_pose((0.1, 0.1), 0.04)
    with pytest.raises(ag.DescriptionError, match="lengths"):
        control.ArcModel.of((0.04, 0.04)).pose(np.ones(3))
    with pytest.raises(ag.SolverError, match="No pose"):
        control.vertebra_pose((0.01, 0.01, 0.5), 0.05, 0.05)
