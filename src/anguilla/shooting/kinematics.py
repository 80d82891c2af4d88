"""The reconstruction equations (49): poses, twists and accelerations from strains and their time derivatives."""

from __future__ import annotations

import numpy as np

from anguilla.mechanics.tree import Floats
from anguilla.shooting.joints import Relative, fixed_motion
from anguilla.shooting.march import Segments, march
from anguilla.shooting.point import StepSlopes
from anguilla.shooting.problem import BoundaryProblem, flat, square
from anguilla.shooting.state import ACC, ETA, LAM, STATE


def reconstruct(
    problem: BoundaryProblem, xi: Floats, rate: Floats, second: Floats, bases: dict, start: Floats,
    joints: dict[int, Relative] | None = None,
) -> None:  # fmt: skip
    """Integrate (49) and the accelerations of (45) along all segments, from the motion of their parents.

    Strains are prescribed by locking them; with 1/a = 1 and f = xi - xi-dot-dot the scheme (58) gives the accelerations.

    Args:
        problem: the problem, with moving = True; its fields are borrowed, its stages and nodes hold the result.
        xi: (points, 6) strains.
        rate: (points, 6) their rates.
        second: (points, 6) their accelerations.
        bases: by segment without parent, its pose (4, 4), twist (6,) and rate of the twist (6,), the latter two optional.
        start: (S, 30) written: the start states.
        joints: by segment behind a joint, the motion of the joint.

    """
    f = problem.fields
    saved = [array.copy() for array in (f.compliance, f.rest, f.past, f.past_rate)]
    f.compliance[:], f.rest[:], f.past[:], f.past_rate[:] = 0.0, xi, xi - second, rate - second
    problem.set_scheme(StepSlopes(1.0, 1.0, -1.0))
    problem.kept.state[:] = 0.0
    for s, segment in enumerate(problem.network.segments):
        pose, *given = bases.get(s, (problem.fixed[s],))
        twist, acceleration = np.concatenate([*given, np.zeros(12)])[:12].reshape(2, 6)
        motion = fixed_motion(pose, twist, acceleration)
        if segment.parent >= 0:
            parent = problem.end[segment.parent]
            motion = fixed_motion(square(parent), parent[ETA:ACC], parent[ACC:LAM]).then(fixed_motion(segment.place))
        if joints and s in joints:
            motion = motion.then(joints[s])
        start[s] = np.concatenate([flat(motion.pose), motion.twist, motion.rate, np.zeros(6)])
        own = slice(s, s + 1)
        g = problem.segments
        one = Segments(g.first[own], g.node[own], g.intervals[own], g.step[own])
        march(
            f, one, problem.pulls[own], problem.scheme, problem.rule, problem.kept, start[own], problem.node_states,
            problem.end[own], problem.transfer[own], True, False, problem.work,
        )  # fmt: skip
    for array, value in zip((f.compliance, f.rest, f.past, f.past_rate), saved, strict=True):
        array[:] = value


__all__ = ["STATE", "reconstruct"]
