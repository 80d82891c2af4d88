"""Where things touch, and the forces there, in results and pictures."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import anguilla as ag
from anguilla.view.page import contacts_of
from anguilla.view.scene import as_computed, scene
from anguilla.view.stage import Tracks, contact_forces, load_forces

pytestmark = pytest.mark.xdist_group("view_contacts")
MASS = 0.05


@pytest.fixture(scope="module")
def seat():
    """A ball that rests on a bar, which lies on the floor at its end."""
    robot = ag.Robot("seat")
    stiff = ag.Material(young=1e7, density=1000.0, damping=0.05)
    bar = robot.add(ag.Rod(0.3, ag.Circle(0.01), stiff, ag.kirchhoff(2)), at=robot.ground, name="bar")
    place = np.eye(4)
    place[:3, 3] = 0.15, 0.0, 0.04
    ball = robot.add(ag.RigidBody.sphere(0.03, mass=MASS), at=robot.ground, joint=ag.Free(), pose=place, name="ball")
    touch = robot.load(ag.Contact(bar, ball, friction=0.5, damping=1.0, name="touch"))
    robot.load(ag.Contact(bar.tip, ag.HalfSpace(offset=-0.02), 1e4, radius=0.01, damping=5.0, name="floor"))
    robot.load(ag.Wrench(bar.tip, force=(0.0, 0.1, 0.0), name="push"))
    return ag.simulate(robot, duration=0.3, dt=2e-3), touch


def test_points_add_up_to_the_contact(seat):
    run, touch = seat
    told, points = run.contacts(touch), run.contact_points(touch)
    assert len(points) == len(run.t) and told.points.max() > 0
    for force, place, count, at in zip(told.force, told.place, told.points, points, strict=True):
        assert len(at.place) == len(at.force) == count
        np.testing.assert_allclose(at.force.sum(axis=0), force, atol=1e-12)
        if count:
            share = np.linalg.norm(at.force, axis=1)
            np.testing.assert_allclose(share @ at.place / share.sum(), place, atol=1e-12)


def test_points_lie_between_what_touches(seat):
    run, touch = seat
    at, ball = run.contact_points(touch)[-1], run.position(run.robot.part("ball").frame)[-1]
    np.testing.assert_allclose(np.linalg.norm(at.place - ball, axis=1), 0.03, atol=1e-3)


def test_points_of_some_instants_are_those_of_all(seat):
    """Bristles are remembered: a picked motion gives the same forces."""
    run, touch = seat
    rows = [40, 100, 150]
    for k, at in zip(rows, run.picked(rows).contact_points(touch), strict=True):
        np.testing.assert_array_equal(at.force, run.contact_points(touch)[k].force)


def test_a_model_with_more_nodes_knows_the_contacts(seat):
    """The viewer of a driven robot reads results through one."""
    run, touch = seat
    seen = replace(run, _system=run.system.observing([run.robot.part("bar").section(0.111)]))
    assert seen.system is not run.system
    np.testing.assert_array_equal(seen.contacts(touch).force, run.contacts(touch).force)
    np.testing.assert_array_equal(seen.contact_points(touch)[-1].force, run.contact_points(touch)[-1].force)


def test_forces_of_contacts_are_drawn_once(seat):
    """Those side by side as one, with their sum; not among the other loads."""
    run = as_computed(seat[0])
    picture, tracks, last = scene(run), Tracks(run), len(run.t) - 1
    size = float(np.linalg.norm(np.ptp(picture.bounds, axis=0)))
    place, force = contact_forces(tracks, last, size)
    all_places, all_forces = tracks.touching(last)
    assert 2 <= len(place) < len(all_places)
    np.testing.assert_allclose(force.sum(axis=0), all_forces.sum(axis=0), atol=1e-12)
    floor = place[np.argmin(place[:, 2])]
    assert floor[2] == pytest.approx(-0.02, abs=1e-3)  # on the floor, not in the middle of the rod
    tails, _ = load_forces(tracks, picture, last)
    assert len(tails) == 1  # the push


def test_pages_have_arrows(seat, tmp_path):
    run, _ = seat
    found = contacts_of(as_computed(run), scene(run))
    frames, most, six = found["shape"]
    assert frames == len(run.t) and most >= 2 and six == 6
    text = ag.animate(run, tmp_path / "seat.html").read_text(encoding="utf-8")
    assert '"contacts":{"shape":' in text
    free = ag.Robot("free")
    arm = free.add(
        ag.Rod(0.3, ag.Circle(0.01), ag.Material(young=1e7, density=1000.0), ag.kirchhoff(1)), at=free.ground
    )
    data = re.search(r'"contacts":(\w+)', ag.animate(ag.statics(free), tmp_path / "free.html").read_text())
    assert json.loads(data.group(1)) is None and arm.name


@pytest.mark.parametrize("view", ["plane", "3d"])
def test_figures_have_arrows(seat, view):
    from anguilla.view.plots import snapshots

    ax = snapshots(seat[0], count=3, view=view).axes[0]
    names = {type(drawn).__name__ for drawn in ax.get_children()}
    assert ("Quiver" if view == "plane" else "Line3DCollection") in names
