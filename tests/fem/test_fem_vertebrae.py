"""Rigid vertebrae: the volumes between them can be eliminated one by one (002 IV-D2)."""

import numpy as np
from fem_bodies import bar, dense
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import anguilla as ag
from anguilla import fem


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
