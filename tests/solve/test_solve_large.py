"""What surrounds Newton in large robots: sparse algebra gives the answers of the dense one."""

import sys
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import anguilla as ag
from anguilla.model.evaluation import at_rest
from anguilla.model.model import Model
from anguilla.solve.newton.closing import metric, redundant_rows, settle
from anguilla.solve.newton.gaps import gaps_at
from anguilla.solve.newton.spectrum import Stiffness
from anguilla.solve.statics import stability
from anguilla.solve.statics.stability import FALLS, FLUTTERS, restlessness
from anguilla.solve.steps.motion import OngoingMotion
from anguilla.solve.steps.starting import consistent

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

MODES = {"twist": 1, "bend_y": 2, "bend_z": 2, "stretch": 1}
ROD = ag.Rod(0.3, ag.Circle(5e-3), ag.Material(1e7, 1000.0, damping=0.01), ag.Strains(**MODES))


def chain(count=5, rod=ROD, up=False):
    robot = ag.Robot("chain", gravity=(0, 0, 9.81 if up else -9.81))
    tip = robot.ground
    for k in range(count):
        tip = robot.add(rod, at=tip, name=f"rod_{k}", joint=ag.Revolute("y") if k % 2 else ag.Fixed()).tip
    return robot


def links(count=30, up=False):
    """A chain of links that hangs, or stands on its end."""
    robot = ag.Robot("links", gravity=(9.81 * (-1 if up else 1), 0, 0))
    place, weight = robot.ground, ag.RigidBody.box((0.1, 0.01, 0.01), mass=0.1)
    for k in range(count):
        pose = [0.05 if k else 0.0, 0, 0]
        hinge = robot.add(weight, at=place, joint=ag.Revolute("yz"[k % 2]), pose=pose, name=f"hinge_{k}")
        place = robot.add(weight, at=hinge.frame, pose=[0.05, 0, 0], name=f"link_{k}").frame
    return robot


def loop(planar=False):
    """Two rods from the ground, closed on each other; one closure is redundant with the other."""
    robot = ag.Robot("loop")
    strains = ag.Strains(bend_z=3, stretch=1) if planar else ag.Strains(**MODES)
    rod = ag.Rod(0.3, ag.Circle(5e-3), ag.Material(1e7, 1000.0, damping=0.01), strains)
    first = robot.add(rod, at=robot.ground, name="first")
    second = robot.add(rod, at=robot.ground, pose=[0.0, 0.05, 0.0], name="second")
    robot.close(first.tip, second.tip, pose=[0.0, 0.05, 0.0], name="end")
    robot.close(first.tip, second.tip, pose=[0.0, 0.05, 0.0], joint=ag.Spherical(), name="again")
    return robot


@pytest.fixture(scope="module")
def net():
    import hanging_net

    return hanging_net.build(2)


def pair(robot, linear="sparse"):
    return Model(robot, linear="dense"), Model(robot, linear=linear)


def state(model, size=0.02):
    rng = np.random.default_rng(1)
    q = size * rng.standard_normal(model.size) / model.tree.scale
    return q, 0.1 * rng.standard_normal(model.rows)


def test_the_elastic_stiffness_is_the_same_sparse_and_dense(net):
    dense, large = pair(net.robot)
    assert np.array_equal(dense.elastic_stiffness(), large.elastic.toarray())
    q = state(dense)[0][None]
    assert large.elastic_energy(q)[0] == pytest.approx(0.5 * q[0] @ dense.elastic_stiffness() @ q[0], rel=1e-13)


@pytest.mark.parametrize("make", [chain, links])
def test_the_diagonal_and_the_pivots_of_a_tree(make):
    dense, large = pair(make(), "tree")
    q, lam = state(dense)
    loads = [model.loads(0.0).loads for model in (dense, large)]
    K = at_rest(dense, loads[0], q, lam).K
    operator = at_rest(large, loads[1], q, lam).operator()
    assert operator.own_diagonal() == pytest.approx(np.diag(K), rel=1e-9, abs=1e-9 * np.max(np.abs(K)))
    unit = 1.0 / np.sqrt(np.abs(np.diag(K)))
    even = 0.5 * (K + K.T)
    skew = np.max(np.abs(unit[:, None] * (K - even) * unit))
    pivots = operator.pivots(0.0 * q, unit)
    if skew < 1e-9:
        assert np.sum(pivots < 0.0) == np.sum(np.linalg.eigvalsh(unit[:, None] * even * unit) < 0.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_gaps_of_a_net(net, weighted):
    dense, large = pair(net.robot)
    q, _ = state(dense, 1e-3)
    weight = metric(dense) if weighted else np.ones(dense.size)
    assert metric(large) == pytest.approx(metric(dense), rel=1e-12)
    rows, rng = np.arange(dense.rows), np.random.default_rng(2)
    found = []
    for model in (dense, large):
        loads = model.loads(0.0).loads
        found.append(gaps_at(model, loads, at_rest(model, loads, q), rows, weight))
    b, y = rng.standard_normal(dense.rows), rng.standard_normal(dense.size)
    for ask in (lambda x: x.least(b), lambda x: x.free(y), lambda x: x.bearing(y)):
        assert ask(found[1]) == pytest.approx(ask(found[0]), rel=1e-6, abs=1e-8 * np.max(np.abs(ask(found[0]))))
    assert settle(large, large.loads(0.0).loads, q) == pytest.approx(settle(dense, dense.loads(0.0).loads, q), abs=1e-9)


@pytest.mark.parametrize("planar", [False, True])
def test_redundant_rows_are_those_of_the_dense_way(planar):
    dense, large = pair(loop(planar))
    rows = [redundant_rows(model, model.loads(0.0), np.zeros(model.size)) for model in (dense, large)]
    assert len(rows[0]) == (6 if planar else 3) and np.array_equal(*rows)


def test_the_net_hangs_as_the_dense_one_does(net):
    dense, large = (ag.statics(model) for model in pair(net.robot))
    assert large.q == pytest.approx(dense.q, abs=1e-9)
    assert large.multipliers == pytest.approx(dense.multipliers, abs=1e-8)
    assert large.status.success and dense.status.success


@pytest.mark.parametrize("whole", [0, stability.WHOLE], ids=["iterated", "whole"])
@pytest.mark.parametrize("up", [False, True])
def test_a_chain_of_links_is_stable_only_if_it_hangs(monkeypatch, up, whole):
    monkeypatch.setattr(stability, "WHOLE", whole)
    found = []
    for model in pair(links(up=up), "tree"):
        loads = model.loads(0.0).loads
        found.append(restlessness(model, loads, np.zeros(model.size), np.zeros(0)))
    assert found == 2 * [FALLS if up else ""]


@pytest.mark.parametrize("whole", [0, stability.WHOLE], ids=["iterated", "whole"])
@pytest.mark.parametrize(("times", "why"), [(8.0, ""), (25.0, FLUTTERS)])
def test_becks_column_in_five_pieces(monkeypatch, times, why, whole):
    """A force that turns with the tip pushes a cantilever into flutter: beyond 20.05 EI / l^2, not below 10.9 when damped."""
    monkeypatch.setattr(stability, "WHOLE", whole)
    robot = ag.Robot("column", gravity=(0, 0, 0))
    tip = robot.ground
    for _ in range(5):
        tip = robot.add(ROD, at=tip).tip
    force = times * 1e7 * np.pi * 5e-3**4 / 4 / 1.5**2
    robot.load(ag.Wrench(tip, force=(-force, 0, 0), follower=True))
    found = []
    for model in pair(robot, "tree"):
        found.append(restlessness(model, model.loads(0.0).loads, np.zeros(model.size), np.zeros(0)))
    assert found == 2 * [why]


def test_what_materials_and_joints_alone_resist_is_the_same_in_all_shapes():
    robot = chain()
    robot.load(ag.Wrench(robot.parts[-1].tip, force=(0, 0.1, 0), follower=True))
    model = Model(robot)
    known = stability._resistance(model)
    q = 0.3 * np.cos(np.arange(model.size)) / model.tree.scale
    assert known == pytest.approx(at_rest(model, model.loads(0.0).loads, q).C, abs=1e-12 * np.max(known))
    assert np.sum(np.linalg.eigvalsh(known) > 1e-6) == model.size - 2  # but for two hinges
    robot.load(ag.ResistiveForce(robot.parts[-1], tangential=0.1, normal=0.2))
    assert stability._resistance(Model(robot)) is None


def test_the_lowest_stiffness_of_a_net(net):
    hanging = [ag.statics(model) for model in pair(net.robot)]
    dense, large = (x.system for x in hanging)
    loads = large.loads(0.0).loads
    stiffness = Stiffness(at_rest(large, loads, hanging[1].q, hanging[1].multipliers), loads.driven)
    value, direction = stiffness.lowest(1e-8)
    loads = dense.loads(0.0).loads
    here = at_rest(dense, loads, hanging[0].q, hanging[0].multipliers)
    _, s, vt = np.linalg.svd(here.J)
    free = vt[len(s) :].T
    D = free.T @ (stiffness.weight[:, None] * free)
    from scipy.linalg import eigh

    K = free.T @ here.K @ free
    assert np.max(np.abs(K - K.T)) < 1e-7 * np.max(np.abs(K))
    assert value == pytest.approx(eigh(0.5 * (K + K.T), D, eigvals_only=True)[0], rel=1e-6)
    assert direction @ here.K @ direction == pytest.approx(value * direction @ (stiffness.weight * direction), rel=1e-5)
    assert stiffness.has_potential(1e-8) and stiffness.down(1e-8) is None


def test_the_start_of_a_motion_of_a_net(net):
    found = []
    for model in pair(net.robot):
        q = settle(model, model.loads(0.0).loads, state(model, 1e-3)[0])
        v = np.random.default_rng(3).standard_normal(model.size) / model.tree.scale
        found.append(consistent(model, {}, 0.0, q, v, 1e-3))
    for dense, large in zip(*found, strict=True):
        assert large == pytest.approx(dense, rel=1e-7, abs=1e-8 * np.max(np.abs(dense)))


def test_the_start_of_a_motion_with_imposed_joints_and_a_twist():
    """Rods between hinges, of which one is driven; the tip does not slip sideways."""
    robot = ag.Robot("driven")
    hinge = ag.Revolute("y", motion=lambda t: 0.3 * np.sin(2.0 * t))
    tip = robot.add(ROD, at=robot.ground, joint=hinge, name="first").tip
    for k in range(3):
        tip = robot.add(ROD, at=tip, joint=ag.Revolute("z"), name=f"rod_{k}").tip
    robot.constrain(ag.no_slip(tip, (0, 1, 0)))
    found = []
    for model in pair(robot):
        q, v = state(model, 0.1)[0], state(model, 1.0)[0]
        found.append(consistent(model, {}, 0.1, q, v, 1e-3))
    for dense, large in zip(*found, strict=True):
        assert large == pytest.approx(dense, rel=1e-7, abs=1e-9 * np.max(np.abs(dense)))


def test_a_net_moves_as_the_dense_one_does(net):
    dense, large = (ag.simulate(model, duration=0.02, dt=2e-3) for model in pair(net.robot))
    assert large.q == pytest.approx(dense.q, abs=1e-8 * np.max(np.abs(dense.q)))


def test_redundant_rows_where_constraints_outnumber_coordinates():
    """A square linkage on hinges in space: its closure holds two of three coordinates, by five rows, twice."""
    robot, bar = ag.Robot("square"), ag.RigidBody.box((0.02, 0.3, 0.02), mass=0.1)
    corner = np.eye(4)[[1, 0, 2, 3]] * [[-1], [1], [1], [1]]  # a quarter turn about z
    place = robot.ground
    for k in range(3):
        pose = corner @ np.eye(4)
        pose[:3, 3] = [0.3, 0.0, 0.0] if k else [0.0, 0.0, 0.0]
        place = robot.add(bar, at=place, joint=ag.Revolute("z"), pose=pose, name=f"bar_{k}").frame
    robot.add(bar, at=place, joint=ag.Revolute("y"), name="out_of_plane")  # so that it is no flat robot
    for name in ("end", "again"):
        robot.close(robot.ground, place, joint=ag.Revolute("z"), pose=[-0.3, 0.3, 0.0], name=name)
    dense, large = pair(robot)
    rows = [redundant_rows(model, model.loads(0.0), np.zeros(model.size)) for model in (dense, large)]
    assert len(rows[0]) == 8 and np.array_equal(*rows)


def swinging():
    """Steps so long that most modes of the chain are unresolved: constant accelerations are no guess of the next state."""
    rod = ag.Rod(0.1, ag.Circle(2.5e-3), ag.Material(1e7, 1000.0), ag.Strains(twist=1, bend_y=1, bend_z=1, stretch=1))
    robot = ag.Robot("links", gravity=(7.0, 0.0, -7.0))
    at = robot.ground
    for _ in range(32):
        at = robot.add(rod, at=at, joint=ag.Spherical()).tip
    return ag.simulate(robot, duration=0.5, dt=0.05, method=ag.GeneralisedAlpha(0.8), tolerance=1e-5)


def test_long_steps_of_a_large_robot_take_few_iterations():
    counters = swinging().status.counters
    assert counters["halvings"] == 0
    assert counters["iterations"] <= 8 * counters["steps"]
    assert counters["factorisations"] <= 4 * counters["steps"]


def test_the_judge_of_a_large_robot_takes_a_small_part_of_its_motion():
    import hanging_net

    from anguilla.solve.steps import trust
    from anguilla.solve.steps.windows import work

    seen = []

    def watched(motion, *rest):
        with mock.patch.object(type(motion), "again", lambda self: seen.append(again(self)) or seen[-1]):
            found = judge(motion, *rest)
        seen.append(motion)
        return found

    judge, again = trust.windows_error, OngoingMotion.again
    net = hanging_net.build(4, damping=0.0, drag=0.05)
    with mock.patch.object(trust, "windows_error", watched), warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)
        ag.simulate(net.robot, duration=0.8, dt=0.02, method=ag.GeneralisedAlpha(0.8), tolerance=1e-5)
    windows, motion = seen
    assert 0 < work(windows) < 0.2 * work(motion)
