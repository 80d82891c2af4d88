"""Ties in the boundary-value problem: their equations, their wrenches, and the derivatives of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from anguilla import lie
from anguilla.describe import Frame
from anguilla.mechanics.tree import Floats
from anguilla.shooting.ties import Join

if TYPE_CHECKING:
    from anguilla.shooting.problem import BoundaryProblem

Block = Callable[[int, int, Floats], None]


def tie_residual(problem: BoundaryProblem, k: int, tie: Join, multipliers: Floats, slack: Floats) -> None:
    """Equations of a tie, and its wrenches in the balance of the segments it holds."""
    ga, gb = problem.frame_pose(tie.a), problem.frame_pose(tie.b)
    problem.residual[problem.tie_slice[k]] = (
        tie.held.T @ (tie.gap(ga, gb) - slack) - _softness(problem, k) * multipliers
    )
    wrench = tie.held @ multipliers  # at the origin of a, axes of b
    for frame, on in _tie_wrenches(tie, wrench, ga, gb):
        s = problem.network.end_at(frame.bare)
        if s >= 0:
            at = s * problem.nd + problem.xdim
            problem.residual[at : at + 6] -= on


def _softness(problem: BoundaryProblem, k: int) -> Floats:
    """Compliance of the components of a tie, zero unless a solver is on its way to closing it."""
    own = problem.tie_slice[k]
    return problem.soft * problem.units[0][own] / problem.units[1][own]


def _tie_wrenches(tie: Join, wrench: Floats, ga: Floats, gb: Floats) -> Iterator[tuple[Frame, Floats]]:
    """Wrenches on the segment ends of a and b: +w on a, -w on b; w acts at the origin of a, in the axes of b."""
    turn = ga[:3, :3].T @ gb[:3, :3]
    on_a = np.concatenate([turn @ wrench[:3], turn @ wrench[3:]])
    arm = gb[:3, :3].T @ (ga[:3, 3] - gb[:3, 3])
    on_b = -np.concatenate([wrench[:3] + np.cross(arm, wrench[3:]), wrench[3:]])
    for frame, on in ((tie.a, on_a), (tie.b, on_b)):
        yield frame, lie.Ad(lie.inverse(frame.offset_pose)).T @ on


def tie_blocks(problem: BoundaryProblem, block: Block, k: int, tie: Join, multipliers: Floats) -> None:
    """Derivatives of a tie by the end poses of its frames (through `transfer`) and by its multipliers."""
    ga, gb = problem.frame_pose(tie.a), problem.frame_pose(tie.b)
    own, held, wrench = problem.tie_slice[k], tie.held, tie.held @ multipliers
    pieces = {}
    for name, frame in (("a", tie.a), ("b", tie.b)):
        s = problem.network.end_at(frame.bare)
        if s >= 0:
            offset = lie.Ad(lie.inverse(frame.offset_pose))
            pieces[name] = s, offset, offset @ problem.transfer[s, :6]
    relative = lie.inverse(gb) @ ga
    turn = relative[:3, :3].T
    block(own.start, own.start, -np.diag(_softness(problem, k)))
    for name, (s, _, moved) in pieces.items():
        if name == "a":  # d gap = -(J theta, R d)
            J = lie.dexp3_inv(lie.log3(relative[:3, :3]), side="right")
            d = -np.vstack([np.hstack([J, np.zeros((3, 3))]), np.hstack([np.zeros((3, 3)), relative[:3, :3]])])
        else:
            J = lie.dexp3_inv(lie.log3(relative[:3, :3]), side="left")
            top = np.hstack([J, np.zeros((3, 3))])
            d = np.vstack([top, np.hstack([-lie.hat3(relative[:3, 3]), np.eye(3)])])
        block(own.start, s * problem.nd, held.T @ d @ moved)
    # wrenches: columns of the multipliers, then of both poses
    for row, (s, offset, _) in pieces.items():
        unit = [dict(_sided(tie, held[:, j], ga, gb))[row] for j in range(held.shape[1])]
        block(s * problem.nd + problem.xdim, own.start, -np.array(unit).T)
        for col, (s2, _, moved) in pieces.items():
            change = np.zeros((6, 6))
            if row == "a":
                on = np.concatenate([turn @ wrench[:3], turn @ wrench[3:]])
                side = -np.vstack([-lie.hat3(on[:3]), -lie.hat3(on[3:])])  # d on = on x theta_a
                if col == "a":
                    change[:, :3] = side
                else:
                    change[:, :3] = -side @ turn
            else:
                arm_a = np.hstack([np.zeros((3, 3)), relative[:3, :3]])
                arm_b = np.hstack([lie.hat3(relative[:3, 3]), -np.eye(3)])
                change[:3] = lie.hat3(wrench[3:]) @ (arm_a if col == "a" else arm_b)
            block(s * problem.nd + problem.xdim, s2 * problem.nd, -offset.T @ change @ moved)


def _sided(tie: Join, wrench: Floats, ga: Floats, gb: Floats) -> Iterator[tuple[str, Floats]]:
    for name, (_, on) in zip("ab", _tie_wrenches(tie, wrench, ga, gb), strict=True):
        yield name, on
