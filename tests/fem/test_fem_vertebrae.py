"""Rigid vertebrae: the volumes between them can be eliminated one by one (002 IV-D2)."""

import numpy as np
import pytest
from fem_bodies import RUBBER, bar, dense
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import anguilla as ag
from anguilla import fem
from anguilla.lie import exp3, log3


def spine():
    body = bar((9, 2, 2))
    body.rigid("middle", lambda p: np.abs(p[:, 0] - 0.05) < 0.006)
    body.rigid("end", "tip")
    body.actuate("pull", fem.Tendon([(0.0, 0, 0.004), (0.05, 0, 0.004), (0.1, 0, 0.004)]))
    return body


def test_domain_by_domain_gives_the_same_compliance():
    model = fem.SoftModel(spine())
    model.efforts = np.array([0.5])
    model.relax()
    system, u = model.system, model.system.unknowns
    _, gradient, blocks = system.evaluate(model.state, model.efforts, stiffness=True)
    K = dense(system, u.fold(model.state.x, blocks, gradient))
    rigid = np.arange(3 * len(u.free), 3 * u.size)
    graph = coo_array((np.ones(len(u.rows)), (u.rows, u.cols)), shape=(u.size, u.size)).tocsr()
    inner = np.arange(len(u.free))
    count, label = connected_components(graph[inner][:, inner], directed=False)
    assert count == 2  # from the clamp to the middle, from the middle to the end
    rows = np.vstack([u.gather(model.state.x, system.frames.gradient(model.state.x)),
                      u.gather(model.state.x, system.actuator_rows(model.state))])  # fmt: skip
    S, right, W = K[np.ix_(rigid, rigid)].copy(), rows[:, rigid].copy(), np.zeros((4, 4))
    for k in range(count):
        own = (3 * inner[label == k][:, None] + np.arange(3)).ravel()
        local = np.linalg.solve(K[np.ix_(own, own)], np.hstack([K[np.ix_(own, rigid)], rows[:, own].T]))
        coupling, inside = local[:, : len(rigid)], local[:, len(rigid) :]
        S -= K[np.ix_(rigid, own)] @ coupling
        right -= rows[:, own] @ coupling
        W += rows[:, own] @ inside
    W += right @ np.linalg.solve(S, right.T)
    np.testing.assert_allclose(model.project().compliance, W, atol=1e-9 * np.abs(W).max())


def test_rigid_parts_make_a_bar_stiffer_and_agree_with_stiff_material():
    soft = bar((9, 2, 2))
    soft.load(fem.PointForce((0.1, 0, 0), (0, 0, -2e-3)))
    rigid = bar((9, 2, 2))
    rigid.rigid("middle", lambda p: np.abs(p[:, 0] - 0.05) < 0.006)
    rigid.load(fem.PointForce((0.1, 0, 0), (0, 0, -2e-3)))
    mesh = soft.mesh
    inside = np.abs(mesh.points[mesh.tets][:, :, 0] - 0.05).max(axis=1) < 0.006
    painted = fem.TetMesh(mesh.points, mesh.tets, mesh.nodes, {}, {"bone": np.flatnonzero(inside)})
    stiff = fem.SoftBody("bar", painted, soft.material, gravity=(0, 0, 0))
    stiff.fix("base")
    stiff.effector("tip", (0.1, 0, 0))
    stiff.paint("bone", ag.Material(young=1e10, poisson=0.3, density=1000.0))
    stiff.load(fem.PointForce((0.1, 0, 0), (0, 0, -2e-3)))
    a, b, c = (fem.statics(body).position("tip")[2] for body in (soft, rigid, stiff))
    assert a < b < 0
    assert abs(b - c) < 1e-3 * abs(b)


@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_an_effector_on_a_rigid_part_turns_as_the_part_does(element):
    """A twisted bar: an element behind its end is turned by half a cell's twist less, which was taken for the end's."""
    body = fem.SoftBody("bar", fem.cylinder(0.2, 0.01, (10, 4)), RUBBER, element=element, gravity=(0, 0, 0))
    body.fix("base")
    body.rigid("end", "tip")
    for name, place in (("middle", (0.2, 0.0, 0.0)), ("rim", (0.2, 0.0, 0.01)), ("between", (0.2, 0.003, 0.002))):
        body.effector(name, fem.Effector(place, orientation=True))
    for side in (1.0, -1.0):
        body.load(fem.PointForce((0.2, 0.0, side * 0.0099), (0.0, side * 0.2, 0.05)))
    eq = fem.statics(body)
    turned = eq.state.rotations[0]
    assert np.linalg.norm(log3(turned)) > 0.09
    for name in body.effectors:
        assert np.allclose(eq.rotation(name), turned, rtol=0, atol=1e-12)
    x, h = eq.x, 1e-6
    rows, (goal, places) = eq.system.frames.gradient(x), ([turned] * 3, [eq.position(name) for name in body.effectors])
    end = eq.system.grid.with_middles(body.mesh.nodes["tip"])
    turn, moved = np.array([0.3, -0.5, 0.2]), x.copy()
    moved[end] = x[end].mean(axis=0) + (x[end] - x[end].mean(axis=0)) @ exp3(h * turn).T
    slope = eq.system.frames.errors(moved, places, goal).reshape(3, 6)[:, 3:] / h
    assert np.allclose(slope, turn, rtol=0, atol=1e-5)
    told = np.einsum("rni,ni->r", rows[:, end], np.cross(turn, x[end] - x[end].mean(axis=0))).reshape(3, 6)[:, 3:]
    assert np.allclose(told, turn, rtol=0, atol=1e-9)
