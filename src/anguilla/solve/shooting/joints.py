"""Joints between segments: their motion, its Jacobian, and what both do to the balance of wrenches."""

from __future__ import annotations

import numpy as np

from anguilla import lie
from anguilla.describe import Ball, BodyHandle, Free, Part, RodHandle
from anguilla.mechanics.tree import Floats


def joint_pose(part: Part, q: Floats) -> tuple[Floats, Floats]:
    """Motion (4, 4) of a joint at coordinates q, and its body Jacobian (6, nq)."""
    g, k = np.eye(4), 0
    columns: list[Floats] = []
    for axis in part.joint.axes:
        if isinstance(axis, Ball):
            step = lie.pose(lie.exp3(q[k : k + 3]), None)
            block = np.eye(6)[:, :3]  # rates of a ball are the angular velocity in the axes of the child
        else:
            direction = np.array(axis.direction)
            screw = np.concatenate([axis.turn * direction, axis.slide * direction])
            step, block = lie.exp6(screw * q[k]), screw[:, None]
        back = lie.Ad(lie.inverse(step))
        columns = [back @ c for c in columns] + [block]
        g, k = g @ step, k + axis.size
    jacobian = np.hstack(columns) if columns else np.zeros((6, 0))
    return g, jacobian


def is_free(part: Part) -> bool:
    """Whether a part floats."""
    return isinstance(part.joint, Free)


def coadjoint_matrix(stress: Floats) -> Floats:
    """Matrix B with B delta = ad_delta^T Lambda."""
    c, n = lie.hat3(stress[:3]), lie.hat3(stress[3:])
    return np.block([[c, n], [n, np.zeros((3, 3))]])


def joint_tangent(part: RodHandle | BodyHandle, q: Floats, stress: Floats) -> Floats:
    """d(J^T Lambda - spring)/dq at fixed Lambda: an axis is turned by those after it, dJ_j/dq_k = -ad_{J_k} J_j."""
    out = -np.diag(part.joint.stiffness_values)
    jacobian = joint_pose(part, q)[1]
    order = np.repeat(np.arange(len(part.joint.axes)), [axis.size for axis in part.joint.axes])
    for j in range(len(q)):
        for k in range(len(q)):
            if order[k] > order[j]:
                out[j, k] -= stress @ (lie.ad(jacobian[:, k]) @ jacobian[:, j])
    return out


def joint_moved(part: RodHandle | BodyHandle, q: Floats, step: Floats) -> Floats:
    """Coordinates after an increment; a ball composes rotations."""
    new, k = q + step, 0
    for axis in part.joint.axes:
        if axis.size == 3:
            new[k : k + 3] = lie.log3(lie.exp3(q[k : k + 3]) @ lie.exp3(step[k : k + 3]))
        k += axis.size
    return new
