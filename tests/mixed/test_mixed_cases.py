"""Mixed robots of less usual shapes, against what holds for all: superposition, reciprocity, work, turns, a free fall."""

from __future__ import annotations

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.lie import exp3
from anguilla.mixed import MixedRobotModel

SOFT = ag.Material(young=1e6, poisson=0.3, density=1000.0)
FIRM = ag.Material(young=5e6, poisson=0.3, density=1100.0)
ASIDE = np.array([[0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


def bar(name: str, length: float = 0.04) -> ag.Volume:
    volume = ag.Volume(fem.block((length, 0.01, 0.01), (round(100 * length), 2, 2)), SOFT, name=name)
    volume.actuate("pull", fem.Tendon([(0.0, 0.0, 0.004), (0.5 * length, 0.0, 0.004), (length, 0.0, 0.004)]))
    return volume


def rod(length: float, radius: float = 0.004) -> ag.Rod:
    return ag.Rod(length, ag.Circle(radius=radius), FIRM, strains=ag.reissner(3))


def branched(gravity=(0.0, 0.0, 0.0), pose=None, loads=()) -> tuple[ag.Robot, list[ag.Frame]]:
    """An arm with a volume at its middle and one at its tip, which holds a body; loads are (which volume, force)."""
    robot = ag.Robot("branched", gravity=tuple(gravity))
    arm = robot.add(rod(0.1), at=robot.ground, pose=np.eye(4) if pose is None else pose, name="arm")
    robot.actuate("line", ag.Tendon(arm, ag.parallel(y=0.003)))
    one = robot.add(bar("one"), at=arm.section(0.05), pose=ASIDE, patch="base")
    two = robot.add(bar("two"), at=arm.tip, patch="base")
    ends = [one.frame("end_one", "tip"), two.frame("end_two", "tip")]
    robot.add(ag.RigidBody(0.002, inertia=(1e-7, 1e-7, 1e-7)), at=ends[1])
    for which, force in loads:
        robot.load(ag.Wrench(ends[which], force=tuple(force)))
    return robot, ends


def test_small_loads_on_two_volumes_of_an_arm_add_up_and_work_alike():
    def moved(*loads) -> np.ndarray:
        robot, ends = branched(loads=loads)
        found = ag.statics(robot, tolerance=1e-13)
        return np.array([found.position(end) for end in ends])

    rest, forces = moved(), (np.array([1e-6, 2e-6, 3e-6]), np.array([-2e-6, 1e-6, 4e-6]))
    first, second = (moved((k, forces[k])) - rest for k in (0, 1))
    both = moved((0, forces[0]), (1, forces[1])) - rest
    assert np.abs(both - first - second).max() < 1e-5 * np.abs(both).max()
    assert first[1] @ forces[1] == pytest.approx(second[0] @ forces[0], rel=1e-4)  # Betti


def test_a_robot_turned_with_its_gravity_does_the_same_turned():
    gravity, inputs = np.array([3.0, -5.0, -7.0]), {"line": 0.3, "one.pull": 0.1}
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = exp3(np.array([0.5, 1.0, 1.5])), [0.1, 0.2, -0.3]
    rests, runs = [], []
    for own in (np.eye(4), pose):
        robot, ends = branched(own[:3, :3] @ gravity, own)
        back = lambda x, own=own: (x - own[:3, 3]) @ own[:3, :3]
        rest = ag.statics(robot, inputs=inputs, tolerance=1e-12)
        run = ag.simulate(robot, duration=6e-3, dt=2e-3, inputs=inputs)
        rests.append(back(np.array([rest.position(end) for end in ends])))
        runs.append(back(np.array([run.position(end) for end in ends])))
    assert np.abs(rests[1] - rests[0]).max() < 1e-12
    assert np.abs(runs[1] - runs[0]).max() < 1e-12
    assert np.abs(runs[0] - runs[0][:, :1]).max() > 1e-4


def test_a_volume_between_two_rods_bends_as_in_a_mirror():
    ends = []
    for sign in (1.0, -1.0):
        robot = ag.Robot("between", gravity=(1.0, -3.0 * sign, -8.0))
        low = robot.add(rod(0.05), at=robot.ground, name="low")
        pad = robot.add(bar("pad"), at=low.tip, patch="base")
        high = robot.add(rod(0.05), at=pad.frame("end", "tip"), name="high")
        robot.actuate("line", ag.Tendon(high, ag.parallel(y=0.003 * sign, z=0.001)))
        robot.load(ag.Wrench(high.tip, force=(1e-3, 2e-3 * sign, -1e-3), moment=(1e-5 * sign, 2e-5, -1e-5 * sign)))
        found = ag.statics(robot, inputs={"line": 0.3, "pad.pull": 0.1}, tolerance=1e-12)
        ends.append(found.position(high.tip) * [1.0, sign, 1.0])
        outside = found.mass * np.array([1.0, -3.0, -8.0]) + [1e-3, 2e-3, -1e-3]
        assert np.linalg.norm(found.wrench(low, [0.0])[0, 3:]) == pytest.approx(np.linalg.norm(outside), rel=1e-9)
    assert np.abs(ends[1] - ends[0]).max() < 1e-12
    assert np.abs(ends[0] - [0.14, 0.0, 0.0]).max() > 0.01


def run_through(force=(0.0, 0.0, 0.0)) -> MixedRobotModel:
    """A rod through a volume, with a tendon through both."""
    robot = ag.Robot("through", gravity=(0.0, 0.0, 0.0))
    spine = robot.add(rod(0.08, 0.002), at=robot.ground, name="spine")
    flesh = robot.add(bar("flesh", 0.08), at=robot.ground, patch="base")
    off_axis = lambda x, at: (np.abs(x[:, 0] - at) < 1e-9) & (np.linalg.norm(x[:, 1:], axis=1) > 1e-6)
    middle = flesh.frame("middle", lambda x: off_axis(x, 0.04))
    flesh.clamp(lambda x: off_axis(x, 0.08), spine.tip)
    flesh.embed(spine)
    guides = middle.offset_by((-0.01, 0.004, 0.0)), spine.tip.offset_by((0.0, 0.004, 0.0))
    robot.actuate("line", ag.Tendon([spine, *guides], ag.parallel(y=0.0015)))
    robot.load(ag.Wrench(middle, force=tuple(force)))
    return MixedRobotModel(robot, {"middle": middle})


def test_a_tendon_through_a_rod_in_a_volume_and_a_force_work_alike():
    force, pull = np.array([1e-5, 2e-5, -1e-5]), 1e-4
    models = run_through(), run_through(force), run_through()
    models[2].efforts[0] = pull
    for model in models:
        model.relax(tolerance=1e-13)
    rest, pushed, pulled = models
    by_pull = (pulled.positions()[0] - rest.positions()[0]) @ force
    assert by_pull == pytest.approx((pushed.strokes() - rest.strokes())[0] * pull, rel=1e-4)


def test_the_work_of_that_tendon_is_stored():
    model, tensions, strokes, stored = run_through(), np.linspace(0.0, 0.4, 9), [], []
    for tension in tensions:
        model.efforts[0] = tension
        stored.append(model.relax(tolerance=1e-12).energy["elastic"])
        strokes.append(model.strokes()[0])
    h = np.diff(
        strokes
    )  # the tension is nearly a parabola of the stroke: trapezia, and the same with steps twice as long
    fine = np.sum(0.5 * h * (tensions[1:] + tensions[:-1]))
    coarse = np.sum(0.5 * (h[::2] + h[1::2]) * (tensions[2::2] + tensions[:-2:2]))
    assert stored[-1] - stored[0] == pytest.approx((4.0 * fine - coarse) / 3.0, rel=1e-5)


def test_a_free_robot_with_two_volumes_falls_as_it_should_while_it_moves():
    gravity = np.array([2.0, -4.0, -6.0])
    errors = []
    for dt in (2e-3, 1e-3):
        robot = ag.Robot("flyer", gravity=tuple(gravity), base="free")
        hub = robot.add(ag.RigidBody.box((0.02, 0.03, 0.04), mass=0.05), at=robot.ground, name="hub")
        arm = robot.add(rod(0.06), at=hub.frame, name="arm")
        robot.add(bar("one"), at=arm.tip, patch="base")
        two = robot.add(bar("two"), at=hub.frame, pose=ASIDE, patch="base")
        robot.add(rod(0.03), at=two.frame("end", "tip"), name="leg")
        robot.actuate("line", ag.Tendon(arm, ag.parallel(y=0.003)))
        v = np.zeros(robot.size)
        v[:6] = [0.3, -0.2, 0.1, 2.0, 3.0, -1.0]
        inputs = {"line": lambda t: 20.0 * t, "one.pull": lambda t: 10.0 * t}
        run = ag.simulate(robot, duration=0.02, dt=dt, start=(np.zeros(robot.size), v), inputs=inputs)
        p = run.momentum
        missed = p - p[0] - run.t[:, None] * run.mass * gravity
        errors.append(float(np.abs(missed).max() / np.linalg.norm(p[0])))
    assert errors[0] < 1e-5
    assert errors[0] > 3.2 * errors[1]  # of second order in dt: momenta are kept to the last digits where nothing acts
