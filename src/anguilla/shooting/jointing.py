"""Joints in the boundary-value problem: their equations, what they do to the motion, and the derivatives of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from anguilla import lie
from anguilla.describe import Part
from anguilla.mechanics.tree import Floats
from anguilla.shooting.joints import (
    Relative,
    coadjoint_matrix,
    fixed_motion,
    imposed,
    joint_moved,
    joint_pose,
    joint_tangent,
)
from anguilla.shooting.state import ACC, ETA, LAM

if TYPE_CHECKING:
    from anguilla.shooting.problem import BoundaryProblem, Unknowns

Block = Callable[[int, int, Floats], None]


def _motion(problem: BoundaryProblem, s: int, part: Part, u: Floats) -> tuple[Relative, Floats, Floats]:
    """Motion of a joint at its unknowns, its body Jacobian (6, nq), and d(coordinates, small turns)/du."""
    if problem.moving:
        relative, turned = problem.joint_steps[s].motion(u)
        jacobian: Floats = np.linalg.solve(turned.T, relative.by_pose.T).T.astype(float)
        return relative, jacobian, turned
    pose, jacobian = joint_pose(part, u)
    zero, none = np.zeros(6), np.zeros_like(jacobian)
    return Relative(pose, zero, zero, jacobian, none, none), jacobian, np.eye(len(u))


def joint_efforts(problem: BoundaryProblem, u: Unknowns, k: int) -> Floats:
    """Efforts (nq,) that balance a joint beyond its spring and damper [N m, N]."""
    s, part = problem.jointed[k]
    joint, q = part.joint, u.joints[s]
    resisted = joint.stiffness_values * (q - joint.rest_values)
    if problem.moving:
        resisted = resisted + joint.damping_values * problem.joint_steps[s].rates(q)[0]
    return resisted - _motion(problem, s, part, q)[1].T @ u.start[s, LAM:]


def joint_residual(problem: BoundaryProblem, u: Unknowns) -> None:
    """Place the segments behind joints, and write the balance of each coordinate, or its prescribed value."""
    for k, (s, part) in enumerate(problem.jointed):
        relative, jacobian, _ = _motion(problem, s, part, u.joints[s])
        g = problem.fixed[s] @ relative.pose
        problem.nodes.place[s] = np.concatenate([g[:3, :3].ravel(), g[:3, 3]])
        problem.nodes.drive[s] = np.concatenate([relative.twist, relative.rate])
        joint, q, own = part.joint, u.joints[s], problem.joint_slice[k]
        row = jacobian.T @ u.start[s, LAM:] + problem.efforts[k] - joint.stiffness_values * (q - joint.rest_values)
        given = problem.given[k]
        if problem.moving:
            row -= joint.damping_values * problem.joint_steps[s].rates(q)[0]
            given = problem.joint_steps[s].given[:, 0]
        problem.residual[own] = np.where(imposed(part), _units(problem, own) * (given - q), row)


def _units(problem: BoundaryProblem, own: slice) -> Floats:
    """Efforts per unit of coordinates, so that all equations of a joint are told in the same units."""
    return problem.units[0][own] / problem.units[1][own]


def joint_blocks(problem: BoundaryProblem, block: Block, u: Unknowns) -> None:
    """Derivatives by the unknowns of the joints, and of their equations."""
    nd, xdim = problem.nd, problem.xdim
    for k, (s, part) in enumerate(problem.jointed):
        relative, jacobian, turned = _motion(problem, s, part, u.joints[s])
        own, stress, held = problem.joint_slice[k], u.start[s, LAM:], imposed(part)
        p, carry = int(problem.nodes.parent[s]), lie.Ad(lie.inverse(problem.fixed[s]))
        before = fixed_motion(problem.fixed[s])
        if problem.moving and p >= 0:
            end = problem.end[p]
            before = fixed_motion(problem.fixed[s], carry @ end[ETA:ACC], carry @ end[ACC:LAM])
        whole = before.then(relative)
        columns = [whole.by_pose, whole.by_twist, whole.by_rate] if problem.moving else [whole.by_pose]
        block(s * nd, own.start, np.vstack(columns))
        block(own.start, s * nd + xdim, np.where(held[:, None], 0.0, jacobian.T))
        balance = joint_tangent(part, jacobian, stress) @ turned - np.diag(part.joint.stiffness_values)
        if problem.moving:
            step = problem.joint_steps[s]
            balance -= np.diag(part.joint.damping_values * step.b / step.a)
        block(own.start, own.start, np.where(held[:, None], -np.diag(_units(problem, own)), balance))
        if p >= 0:  # the wrench on the parent turns with the joint: -d(Ad^T Lambda)
            carried = lie.Ad(lie.inverse(problem.fixed[s] @ relative.pose)).T
            block(p * nd + xdim, own.start, carried @ coadjoint_matrix(stress) @ relative.by_pose)


def moved_joint(problem: BoundaryProblem, part: Part, q: Floats, step: Floats) -> Floats:
    """Unknowns of a joint after a correction; in motion those of a ball are the turn of a step and add up."""
    return q + step if problem.moving else joint_moved(part, q, step)
