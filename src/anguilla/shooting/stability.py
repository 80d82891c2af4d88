"""Second-order conditions: conjugate points of a static solution, Jacobi's test of stability (003, remark 1).

A variation that keeps the equations obeys (77). Those that also keep the conditions at the far end form a six-
dimensional space of pairs (zeta, dLambda). Where a member of it has zeta = 0 the rod has a conjugate point: cut
there, it could buckle. The equilibrium is a minimum of the potential energy if there is none between the far end and
the root (Legendre's condition holds, the stiffness being positive); their number, with multiplicity, is the number of
directions in which it falls.

With p = dLambda - 1/2 ad_zeta^T Lambda the pairs (zeta, p) are canonical: p = W zeta with a symmetric W along the
rod. For a segment with the transfer ((a, b), (c, d)) in these pairs, d b^-1 is the stiffness of its far end, and the
energy falls in as many directions as d b^-1 - W has negative eigenvalues, summed over the segments. Double conjugate
points are not missed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anguilla import lie
from anguilla._doors import public
from anguilla.describe import Fixed, Spherical
from anguilla.errors import DescriptionError, SolverError, as_count
from anguilla.mechanics.tree import Floats
from anguilla.shooting.problem import BoundaryProblem, Unknowns, coadjoint_matrix
from anguilla.shooting.shape import StaticShape
from anguilla.shooting.solver import WORDS, newton
from anguilla.shooting.state import LAM, POS
from anguilla.solve.newton.rules import CONVERGED

__all__ = ["Stability", "judged", "stability"]

NOT_SYMMETRIC = 1e-5
ALMOST_LOCKED = 1e-6
LEVEL = (
    1e-6  # of a segment's own stiffness: what falls off less is level, as a round column that may buckle to any side
)
UNSTABLE, NOT_JUDGED = "unstable: the robot would leave it by itself", "stability not judged"


@dataclass(frozen=True)
class Stability:
    """Result of Jacobi's test.

    Attributes:
        stable: whether the equilibrium is a minimum of the potential energy.
        index: number of directions in which the energy falls.
        conjugate_points: arc lengths from the root of the chain [m], one for each of them.
        margin: distance of the root from being a conjugate point itself; 0 at a bifurcation.

    """

    stable: bool
    index: int
    conjugate_points: tuple[float, ...]
    margin: float


@public
def stability(shape: StaticShape, *, segments: int = 60) -> Stability:
    """Test whether an equilibrium of a chain of rods and bodies is stable.

    Args:
        shape: an equilibrium of `shooting.statics`: a clamped chain, free at its far end or held there (`Hold`, fixed or
            spherical), under conservative loads.
        segments: pieces of each rod between which conjugate points are told apart.

    """
    if not isinstance(shape, StaticShape) or shape.problem is None:
        raise DescriptionError("shape must be an equilibrium found by shooting.statics.")
    return _jacobi(*_refined(shape, as_count(segments, "segments")))


def judged(problem: BoundaryProblem, u: Unknowns) -> str:
    """UNSTABLE or NOT_JUDGED if an equilibrium is so, or nothing; with the segments that it was found with."""
    f = problem.fields
    kept = f.compliance.copy(), f.hooke.copy()
    try:
        _refuse_trees(problem)
        _loosen(problem)
        problem.evaluate(u, True)
        return "" if _jacobi(problem, u, LEVEL).stable else UNSTABLE
    except (DescriptionError, np.linalg.LinAlgError):  # not that kind of robot or load; segments too long for it
        return NOT_JUDGED
    finally:
        f.compliance[:], f.hooke[:] = kept


def _jacobi(problem: BoundaryProblem, u: Unknowns, level: float = 0.0) -> Stability:
    """Jacobi's test of an equilibrium whose transfers have been evaluated."""
    last = problem.count - 1
    Z, L = _far_end(problem, u, last)
    scale, energy = problem.scale[:6], problem.force_scale * problem.length
    at, found, margin = _chain_ends(problem), [], np.inf
    for s in range(last, -1, -1):
        if s < last:  # across the node between s and its child
            carry = lie.Ad(lie.inverse(lie.pose(*_placed(problem, s + 1))))
            Z, L = np.linalg.solve(carry, Z).astype(float), carry.T @ L
            L = np.asarray(L + _load_tangent(problem, s) @ Z)
        T = problem.transfer[s][[*range(6), *range(18, 24)]]
        if problem.segments.intervals[s]:
            P = L - 0.5 * coadjoint_matrix(problem.end[s, LAM:]) @ Z
            _, b, _, d = _canonical(T, u.start[s, LAM:], problem.end[s, LAM:])
            stiffness = (d @ np.linalg.inv(b)) * np.outer(scale, scale) / energy
            if np.linalg.cond(Z / scale[:, None]) < 1e12:  # else the far end is fixed: it cannot move
                W = (P @ np.linalg.inv(Z)) * np.outer(scale, scale) / energy
                skew = np.max(np.abs(W - W.T)) / max(1.0, np.max(np.abs(W)))
                if skew > NOT_SYMMETRIC:
                    raise DescriptionError(
                        "stability needs conservative loads: no follower forces, no moments fixed in the world."
                    )
                hessian = stiffness - W
                # in units of the segment's own stiffness, so that small eigenvalues keep their digits
                root = np.linalg.inv(np.linalg.cholesky(0.5 * (stiffness + stiffness.T)))
                values = np.linalg.eigvalsh(root @ (0.5 * (hessian + hessian.T)) @ root.T)
                found += [float(at[s])] * int(np.sum(values < -level))
        Y = np.linalg.solve(T, np.vstack([Z, L]))
        Y = Y / np.max(np.abs(Y), axis=0)
        Z, L = Y[:6], Y[6:]
    plane, _ = np.linalg.qr(np.vstack([Z / scale[:, None], L * scale[:, None] / energy]))
    margin = float(np.min(np.linalg.svd(plane[:6], compute_uv=False)))
    return Stability(not found, len(found), tuple(sorted(found)), margin)


def _canonical(T: Floats, before: Floats, after: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Blocks of a transfer in the pairs (zeta, p), from the stresses at its two ends."""
    one, zero = np.eye(6), np.zeros((6, 6))
    start = np.block([[one, zero], [0.5 * coadjoint_matrix(before), one]])  # (zeta, p) -> (zeta, dLambda)
    end = np.block([[one, zero], [-0.5 * coadjoint_matrix(after), one]])
    t = end @ T @ start
    return t[:6, :6], t[:6, 6:], t[6:, :6], t[6:, 6:]


def _refined(shape: StaticShape, segments: int) -> tuple[BoundaryProblem, Unknowns]:
    """The same equilibrium with many short segments."""
    old = shape.problem
    assert old is not None
    _refuse_trees(old)
    problem = BoundaryProblem(
        old.robot,
        shoots=segments,
        intervals=3 * segments,
        ties=old.own_ties,
        t=shape.t,
        follow_strain=old.follow_strain,
        stress=old.stress,
    )
    _loosen(problem)
    u = shape.unknowns_at(problem)
    problem.load(shape.t, shape.inputs)
    out = newton(problem, u, tolerance=1e-9, most=20)
    if out.status != CONVERGED:
        raise SolverError(f"The equilibrium could not be refined: {WORDS[out.status]}.", result=shape)
    problem.evaluate(out.x, True)
    return problem, out.x


def _refuse_trees(problem: BoundaryProblem) -> None:
    parents = problem.nodes.parent
    if problem.jointed or len(set(parents.tolist())) != len(parents):
        raise DescriptionError("stability is for one chain of rods and bodies on fixed joints, clamped at its root.")


def _loosen(problem: BoundaryProblem) -> None:
    """Let a locked strain yield a millionth of a bent rod: without any, some ends could not be moved at all."""
    yields = ALMOST_LOCKED / np.repeat([problem.force_scale * problem.length**2, problem.force_scale], 3)
    f, locked = problem.fields, problem.fields.compliance == 0.0
    f.compliance[:] = np.where(locked, yields, f.compliance)
    f.hooke[:] = 1.0 / f.compliance


def _chain_ends(problem: BoundaryProblem) -> Floats:
    """Arc length along the chain [m] of the start of each segment."""
    lengths = [segment.X1 - segment.X0 for segment in problem.network.segments]
    return np.concatenate([[0.0], np.cumsum(lengths)[:-1]])


def _placed(problem: BoundaryProblem, s: int) -> tuple[Floats, Floats]:
    return problem.nodes.place[s, :9].reshape(3, 3), problem.nodes.place[s, POS : POS + 3]


def _far_end(problem: BoundaryProblem, u: Unknowns, last: int) -> tuple[Floats, Floats]:
    """(zeta, dLambda) of the variations that keep the conditions at the far end."""
    if not problem.ties:
        return np.eye(6), _load_tangent(problem, last)
    if (
        len(problem.ties) > 1
        or problem.network.end_at(problem.ties[0].a.bare) != last
        or not problem.ties[0].b.is_ground
    ):
        raise DescriptionError("stability supports one Hold, at the far end of the chain.")
    tie = problem.ties[0]
    carry = lie.Ad(lie.inverse(tie.a.offset_pose))
    if tie.joint is None or isinstance(tie.joint, Fixed):
        return np.zeros((6, 6)), np.eye(6)
    if not isinstance(tie.joint, Spherical):
        raise DescriptionError("stability supports a far end that is free, fixed or held at a point.")
    force = (problem.frame_pose(tie.b)[:3, :3] @ u.ties[0])[None]
    R = problem.frame_pose(tie.a)[:3, :3]
    turning = np.linalg.solve(carry, np.eye(6)[:, :3])
    held = carry.T @ np.eye(6)[:, 3:]
    dead = np.zeros((6, 3))
    dead[3:] = lie.hat3(R.T @ force[0])
    L = carry.T @ dead + _load_tangent(problem, last) @ turning
    return np.hstack([turning, np.zeros((6, 3))]), np.hstack([L, held])


def _load_tangent(problem: BoundaryProblem, s: int) -> Floats:
    """d(external wrench on the end)/d zeta (6, 6): dead loads turn in section axes."""
    out = np.zeros((6, 6))
    R = problem.end[s, :9].reshape(3, 3)
    for k in np.flatnonzero(problem.nodes.dead_at == s):
        moment, force = R.T @ problem.nodes.dead[k, :3], R.T @ problem.nodes.dead[k, 3:]
        out[:, :3] += problem.nodes.dead_map[k] @ np.vstack([lie.hat3(moment), lie.hat3(force)])
    return out
