"""Tangents of closures, twist constraints, lengths of tendons and motion-dependent loads, against differences.

The bordered matrix [[dR/dq + alpha dR/dv + beta dR/da, dR/dlambda], [J, dphi/dlambda]] is compared block by block with
central differences of fourth order, in units of angles and relative displacements, at a moving state far from closed.
"""

import numpy as np
import pytest
from multibody_oracles import random_inertia, random_rotation

import anguilla as ag
from anguilla.lie import exp6
from anguilla.model.evaluation import Evaluation
from anguilla.model.user import move
from anguilla.results.reactions import evaluate

# Soft, so that the loads and not the elasticity make most of the tangent.
SOFT = ag.Material(young=2e3, poisson=0.4, density=1100.0, damping=0.03)
AXIS, OTHER = (1.0, 2.0, 0.5), (0.3, -1.0, 2.0)  # not at right angles


def random_pose(rng):
    pose = np.eye(4)
    pose[:3, :3] = random_rotation(rng)
    pose[:3, 3] = 0.1 * rng.normal(size=3)
    return pose


class Bench:
    """A free body with two rods, one on a hinge, and a hand on a cardan joint: every kind of coordinate on both sides."""

    def __init__(self):
        rng = np.random.default_rng(2)
        self.rng, self.robot = rng, ag.Robot("bench", gravity=(1.0, -2.0, -9.0))
        add = self.robot.add
        section = ag.Ellipse(0.03, 0.05)
        body = ag.RigidBody(0.4, random_inertia(rng), 0.1 * rng.normal(size=3))
        self.base = add(body, at=self.robot.ground, joint=ag.Free(), name="base")
        self.left = add(
            ag.Rod(0.5, section, SOFT, ag.reissner(1), intervals=3), at=self.base.at(random_pose(rng)), name="left"
        )
        self.right = add(
            ag.Rod(0.4, section, SOFT, ag.kirchhoff(2), intervals=3), at=self.base.at(random_pose(rng)),
            joint=ag.Revolute(AXIS), name="right",
        )  # fmt: skip
        self.hand = add(body, at=self.left.tip, joint=ag.Universal(AXIS, OTHER), name="hand")
        self.ball = add(body, at=self.hand.at(random_pose(rng)), joint=ag.Spherical(), name="ball")
        self.a, self.b = self.ball.at(random_pose(rng)), self.right.tip.offset_by(random_pose(rng))
        self.inside = self.right.section(0.17).offset_by(random_pose(rng))
        self.pose = random_pose(rng)


def differences(f, x, weight, step):
    """Columns of the derivative of f, by central differences of fourth order; step(x, dx) moves x."""
    columns = []
    for k in range(len(weight)):
        h = 1e-3 / weight[k]
        at = lambda s, k=k, h=h: f(step(x, s * h * np.eye(len(weight))[k]))
        columns.append((8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h))
    return np.array(columns).T if columns else np.zeros((len(f(x)), 0))


def check(robot, inputs=None, dt=0.02, seed=1, slack=False):
    """Every block of the bordered tangent; returns its blocks (K, C, M) with the constraints below and beside."""
    system = ag.Model(robot)
    n, m = system.size, system.rows
    rng = np.random.default_rng(seed)
    scale = system.tree.scale
    q, v, a = 0.4 * rng.normal(size=n) / scale, 1.5 * rng.normal(size=n) / scale, 5.0 * rng.normal(size=n) / scale
    lam = (-1.0 if slack else 1.0) * (4.0 + rng.normal(size=m))
    loads = system.loads(0.3, inputs).loads
    loads.row[0] = dt
    R = lambda q, v, a, lam: evaluate(system, loads, q, v, a, lam).copy()
    here = Evaluation(system, loads, q, v, a, lam)
    flat, spin, heavy = (here.bordered(*x) for x in ((0, 0), (1, 0), (0, 1)))
    plus = lambda x, dx: x + dx
    blocks = {
        "q": (flat[:, :n], differences(lambda x: R(x, v, a, lam), q, scale, lambda x, dx: move(system.tree, x, dx))),
        "v": ((spin - flat)[:, :n], differences(lambda x: R(q, x, a, lam), v, scale, plus)),
        "a": ((heavy - flat)[:, :n], differences(lambda x: R(q, v, x, lam), a, scale, plus)),
        "lambda": (flat[:, n:], differences(lambda x: R(q, v, a, x), lam, np.ones(m), plus)),
    }
    for name, (given, found) in blocks.items():
        right = scale if name != "lambda" else np.ones(m)
        for rows, left in ((slice(0, n), scale), (slice(n, n + m), np.ones(m))):
            x, y = (each[rows] / np.outer(left, right) for each in (given, found))
            if x.size:
                assert np.max(np.abs(x - y)) < 1e-7 * max(np.max(np.abs(y)), 1e-2), (name, rows)
    return [given for given, _ in blocks.values()]


# Closures -------------------------------------------------------------------------------------------------------------

CLOSING = {
    "fixed": (lambda **k: ag.Fixed(**k), 0),
    "revolute": (lambda **k: ag.Revolute(AXIS, **k), 1),
    "prismatic": (lambda **k: ag.Prismatic(AXIS, **k), 1),
    "cylindrical": (lambda **k: ag.Cylindrical(AXIS, **k), 2),
    "universal": (lambda **k: ag.Universal(AXIS, OTHER, **k), 2),
    "planar": (lambda **k: ag.Planar(AXIS, **k), 3),
    "spherical": (lambda **k: ag.Spherical(**k), 3),
}


@pytest.mark.parametrize("ends", ["branches", "section", "ground", "same rod"])
@pytest.mark.parametrize("name", CLOSING)
def test_closures(name, ends):
    bench = Bench()
    a, b = {
        "branches": (bench.a, bench.b),
        "section": (bench.inside, bench.a),
        "ground": (bench.robot.ground, bench.b),
        "same rod": (bench.right.section(0.11), bench.right.tip),
    }[ends]
    joint, free = CLOSING[name]
    bench.robot.close(a, b, joint=joint(), pose=bench.pose)
    assert ag.Model(bench.robot).rows == 6 - free
    K, _, _, columns = check(bench.robot)
    n = bench.robot.size
    np.testing.assert_allclose(columns[:n], -K[n:].T, atol=1e-12)  # forces of constraints are workless


def test_closures_that_move_with_time():
    bench = Bench()
    turn = lambda t: exp6(np.array([0.3, t, -0.2, 0.1, 0.0, t**2]))
    bench.robot.close(bench.robot.ground, bench.b, joint=ag.Revolute(AXIS), pose=turn)
    check(bench.robot)


@pytest.mark.parametrize("name", ["revolute", "prismatic", "helical"])
def test_closing_joints_with_coordinates_of_their_own(name):
    bench = Bench()
    own = dict(stiffness=3.0, rest=0.2, damping=0.1, effort=0.7)
    joint = ag.Helical(AXIS, 0.1) if name == "helical" else CLOSING[name][0](**own)
    bench.robot.close(bench.a, bench.b, joint=joint, pose=bench.pose, name="active")
    assert bench.robot.coordinates()[-1].startswith("active.")
    check(bench.robot)


def test_closing_joint_of_several_coordinates():
    bench = Bench()
    joint = ag.Universal(AXIS, OTHER, stiffness=(1.0, 2.0), damping=(0.1, 0.3), effort=(0.2, lambda t: np.sin(t)))
    bench.robot.close(bench.a, bench.b, joint=joint, pose=bench.pose)
    bench.robot.close(bench.robot.ground, bench.inside, joint=ag.Planar(OTHER, damping=(1.0, 2.0, 3.0)))
    check(bench.robot)


# Constraints on velocities and on lengths -----------------------------------------------------------------------------


@pytest.mark.parametrize("one", [True, False], ids=["one frame", "two frames"])
def test_twist_constraints(one):
    bench = Bench()
    first = (1.0, -2.0, 3.0, 0.4, 5.0, -0.6)
    more = () if one else (bench.b, (0.3, 0.2, 0.1, 1.0, 2.0, -1.0))
    bench.robot.constrain(ag.TwistConstraint(bench.a, first, *more, rate=lambda t: np.cos(t)))
    _, C, _, columns = check(bench.robot)
    n = bench.robot.size
    np.testing.assert_allclose(columns[:n], -C[n:].T, atol=1e-12)


def test_twist_constraints_at_rest_hold_nothing():
    bench = Bench()
    bench.robot.constrain(ag.no_slip(bench.a, (1, 2, 3)))
    K, _, _, columns = check(bench.robot, dt=0.0)
    assert not K[-1].any() and columns[-1] == 1.0


PATHS = {
    "rod": lambda b: b.right,
    "frames": lambda b: [b.robot.ground, b.hand.at((0.1, 0.0, 0.05)), b.b],
    "mixed": lambda b: [b.base.at((0, 0.1, 0.1)), b.left, b.ball.at((0, 0, 0.1)), b.right],
    "ends on a rod": lambda b: [b.robot.ground.offset_by((0.0, 0.3, 0.1)), b.left],
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", ["tension", "length", "compliant", "slack"])
def test_tendons_through_the_air(path, kind):
    bench = Bench()
    options = {} if kind == "tension" else dict(by="length", compliance=0.02 if kind == "compliant" else 0.0)
    tendon = ag.Tendon(PATHS[path](bench), ag.parallel(y=0.02, z=-0.01), **options)
    bench.robot.actuate("t", tendon)
    value = 3.0 if kind == "tension" else (50.0 if kind == "slack" else 0.1)
    K, _, _, columns = check(bench.robot, {"t": value}, slack=kind == "slack")
    n = bench.robot.size
    if kind in ("length", "compliant"):
        np.testing.assert_allclose(columns[:n], K[n:].T, atol=1e-12)
        assert columns[-1] == (0.0 if kind == "length" else -0.02)


# Loads ----------------------------------------------------------------------------------------------------------------

GRADIENT = ((1.0, 0.2, 0.3), (0.2, -3.0, 0.4), (0.3, 0.4, 2.0))


def by_hand(m, t):
    arm, x = m.rotation @ [0.1, 0.2, 0.3], m.position
    return np.concatenate([np.cross(arm, m.velocity) - 0.3 * m.spin_rate, -2.0 * x - 0.5 * m.acceleration - m.spin])


def by_hand_tangent(m, t):
    cross = lambda u: np.cross(np.eye(3), u)  # row k is e_k x u, so the matrix is [u]
    arm, out = m.rotation @ [0.1, 0.2, 0.3], np.zeros((6, 18))
    out[:3, :3] = cross(m.velocity) @ cross(arm)  # (theta x arm) x v = -v x (theta x arm) = [v][arm] theta
    out[:3, 9:12] = cross(arm)
    out[:3, 12:15] = -0.3 * np.eye(3)
    out[3:, 3:6], out[3:, 15:], out[3:, 6:9] = -2.0 * np.eye(3), -0.5 * np.eye(3), -np.eye(3)
    return out


def along(m, t, X):
    return np.concatenate([X * np.cross(m.rotation[:, 0], m.velocity), -m.velocity * np.linalg.norm(m.velocity)])


LOADS = {
    "follower": lambda b: ag.Wrench(b.a, force=(1, 2, 3), moment=(0.3, -0.2, 0.1), follower=True),
    "follower inside": lambda b: ag.Wrench(b.inside, force=(1, 2, 3), moment=(0.3, -0.2, 0.1), follower=True),
    "spring": lambda b: ag.Spring(b.a, b.b, 30.0, 0.2, 0.7),
    "spring to ground": lambda b: ag.Spring(b.robot.ground, b.inside, 30.0, 0.2, 0.7),
    "thruster": lambda b: ag.Thruster(
        b.a, kp=(1, 2, 3, 4, 5, 6), ki=(10, 20, 30, 40, 50, 60), velocity=lambda t: (1, 2, t), spin=(0.3, 0.2, -0.1),
        place=(0.1, 0.2, 0.3),
    ),
    "magnet": lambda b: ag.Magnet(b.a, (1, 0.2, 0.3), (0.1, 0.3, -0.5), GRADIENT),
    "magnet along": lambda b: ag.Magnet(b.right, (1, 0.2, 0.3), lambda t: (0.1, 0.3, t), GRADIENT),
    "muscle": lambda b: ag.Muscle(
        b.left, moment=lambda X: (X, 1, -X), force=(0, 1, 2), gain=lambda X: (1, 2, 3 * X, 4, 5, 6),
        curvature=lambda X, t: (1, t, X),
    ),
    "user": lambda b: ag.UserLoad(b.a, by_hand),
    "user tangent": lambda b: ag.UserLoad(b.a, by_hand, by_hand_tangent),
    "user along": lambda b: ag.UserLoad(b.right, along),
    "force": lambda b: ag.UserForce(lambda q, v, t: -0.3 * q**2 - np.roll(v, 1) * q),
    "force tangent": lambda b: ag.UserForce(
        lambda q, v, t: -3.0 * v - t * np.roll(v, 2),
        lambda q, v, t: (np.zeros((len(q), len(q))), -3.0 * np.eye(len(q)) - t * np.roll(np.eye(len(q)), 2, axis=0)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOADS)
def test_loads(name):
    bench = Bench()
    bench.robot.load(LOADS[name](bench))
    check(bench.robot)


def test_everything_at_once():
    bench = Bench()
    for name in ("spring", "thruster", "magnet along", "muscle", "user along", "force"):
        bench.robot.load(LOADS[name](bench))
    bench.robot.close(bench.a, bench.b, joint=ag.Universal(AXIS, OTHER), pose=bench.pose)
    bench.robot.close(bench.robot.ground, bench.inside, joint=ag.Helical(AXIS, 0.2, damping=0.3))
    bench.robot.constrain(ag.no_slip(bench.hand.frame, (0, 1, 0)))
    bench.robot.actuate("t", ag.Tendon(PATHS["mixed"](bench), ag.parallel(y=0.02), by="length"))
    check(bench.robot, {"t": 0.1})


def test_a_wrong_tangent_is_refused():
    bench = Bench()

    def wrong(m, t):
        out = by_hand_tangent(m, t)
        out[1, 2] += 0.1
        return out

    bench.robot.load(ag.UserLoad(bench.a, by_hand, wrong, name="mine"))
    with pytest.raises(ag.DescriptionError, match=r"tangent of mine differs .* row 1, column 2"):
        check(bench.robot)
