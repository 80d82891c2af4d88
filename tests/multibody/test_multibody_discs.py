"""The arm of discs against a model of its sub-segments: rods solved as initial value problems, tendons as straight lines.

Each piece of the backbone is integrated from disc to disc by Runge's and Kutta's fourth-order rule from the force and moment
at its beginning; those of all pieces are the unknowns, and the balances of the discs the equations.
"""

import numpy as np
import pytest
import script_modules
from scipy.optimize import root

import anguilla as ag

arm = script_modules.load("disc_arm")
EI = arm.STEEL["young"] * np.pi * arm.RADIUS**4 / 4
GJ = EI / (1 + arm.STEEL["poisson"])
WEIGHT = arm.STEEL["density"] * np.pi * arm.RADIUS**2  # mass per length [kg/m]
STEPS = 12  # of the integration, per piece


def skew(w):
    x, y, z = np.moveaxis(w, -1, 0)
    zero = np.zeros_like(x)
    return np.stack([np.stack([zero, -z, y], -1), np.stack([z, zero, -x], -1), np.stack([-y, x, zero], -1)], -2)


def rate(state, gravity):
    """d/ds of (R, p, n, m) of inextensible rods (batch): R' = R K, p' = R e1, n' = -weight, m' = -p' x n; world axes."""
    R, _, n, m = state
    K = np.einsum("bji,bj->bi", R, m) / [GJ, EI, EI]
    along = R[:, :, 0]
    return R @ skew(K), along, np.broadcast_to(-WEIGHT * gravity, n.shape), -np.cross(along, n)


def grown(state, length, gravity):
    h = length / STEPS
    for _ in range(STEPS):
        move = lambda d, share, start=state: tuple(x + share * h * dx for x, dx in zip(start, d, strict=True))
        k1 = rate(state, gravity)
        k2 = rate(move(k1, 0.5), gravity)
        k3 = rate(move(k2, 0.5), gravity)
        k4 = rate(move(k3, 1.0), gravity)
        state = move([(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True)], 1.0)
    return state


def chain(x, discs, tensions, gravity, tip_force):
    """Missing balance (batch, 6 discs) of forces and moments, and the poses, for wrenches x (batch, 6 discs) at the roots."""
    count = len(x)
    R, p = np.broadcast_to(np.eye(3), (count, 3, 3)), np.zeros((count, 3))
    holes = np.concatenate([np.zeros((3, 1)), arm.places()], axis=1)
    ends, mass = [], arm.DISC["density"] * np.pi * arm.DISC["radius"] ** 2 * arm.DISC["length"]
    guides = [p[:, None, :] + holes @ R.transpose(0, 2, 1)]
    for k in range(discs):
        n, m = np.split(x[:, 6 * k : 6 * k + 6], 2, axis=1)
        R, p, n, m = grown((R, p, n, m), arm.LENGTH / discs, gravity)
        ends.append((R, p, n, m))
        guides.append(p[:, None, :] + holes @ R.transpose(0, 2, 1))
    spans = np.diff(np.stack(guides, axis=1), axis=1)
    pull = tensions[:, None] * spans / np.linalg.norm(spans, axis=3, keepdims=True)
    missing = []
    for k, (_, p, n, m) in enumerate(ends):
        onward = pull[:, k + 1] if k + 1 < discs else np.zeros_like(pull[:, k])
        lines = onward - pull[:, k]
        force, moment = -n + lines.sum(axis=1) + mass * gravity, -m
        moment = moment + np.cross(guides[k + 1] - p[:, None, :], lines).sum(axis=1)
        if k + 1 < discs:
            force, moment = force + x[:, 6 * k + 6 : 6 * k + 9], moment + x[:, 6 * k + 9 : 6 * k + 12]
        else:
            force = force + tip_force
        missing += [force, moment / arm.OFFSET]
    return np.concatenate(missing, axis=1), [(R, p) for R, p, _, _ in ends]


def equilibrium(discs, tensions, gravity, tip_force):
    """Positions of the discs (discs, 3) [m]: root-finding with a Jacobian by differences, all columns in one batch."""

    def both(x, share):
        steps = np.concatenate([np.zeros((1, len(x))), 1e-7 * np.eye(len(x))])
        values = chain(x + steps, discs, share * tensions, share * gravity, share * tip_force)[0]
        return values[0], (values[1:] - values[0]).T / 1e-7

    x = np.zeros(6 * discs)
    for share in (0.5, 1.0):
        found = root(both, x, args=(share,), jac=True, tol=1e-12)
        x = found.x
    assert np.abs(found.fun).max() < 1e-9
    return np.array([p[0] for _, p in chain(x[None], discs, tensions, gravity, tip_force)[1]])


@pytest.mark.parametrize(
    ("gravity", "tip_force"),
    [((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), ((9.81, 0.0, 0.0), (0.0, 0.05, 0.1))],
    ids=["light", "loaded"],
)
def test_discs_are_where_rods_between_straight_tendons_put_them(gravity, tip_force):
    discs, tensions = 5, np.array([8.0, 4.0, 0.0])
    robot, bodies = arm.build(discs, modes=6, twist=3, gravity=gravity)
    robot.load(ag.Wrench(bodies[-1].frame, force=tip_force))
    state = ag.statics(robot, inputs=arm.PULLS)
    mine = np.array([state.position(body.frame) for body in bodies])
    other = equilibrium(discs, tensions, np.array(gravity), np.array(tip_force))
    assert np.abs(mine[:, 1:]).max() > 0.15 * arm.LENGTH  # it bends
    np.testing.assert_allclose(mine, other, atol=2e-6 * arm.LENGTH)
