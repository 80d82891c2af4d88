"""Trees and loops of rods and rigid bodies (004 II, VI): what the inverse dynamics works on.

Bodies are numbered from the base B_0 outwards; joint J_j joins body j to its antecedent. A rod is a soft joint between two
sections without inertia.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import numpy as np

from anguilla.reference.rod import Array, Rod, Tendon


@dataclass(frozen=True)
class Lumped:
    """A joint of one coordinate, g = exp(A q): revolute about an axis e for A = (e, 0), prismatic for A = (0, e).

    Attributes:
        A: unit twist (6,); None for a fixed joint, without coordinates.
        torque: tau_d(t) [N m] or [N] of its motor (004 (63)).

    """

    A: tuple[float, ...] | None = None
    torque: Callable[[float], float] = lambda t: 0.0


@dataclass(frozen=True)
class Soft:
    """A rod as a joint, with its tendons.

    Attributes:
        rod: the rod.
        tendons: its tendons (004, remark 9).
        tensions: their tensions T(t) [N], one number per tendon.

    """

    rod: Rod
    tendons: tuple[Tendon, ...] = ()
    tensions: Callable[[float], tuple[float, ...]] = lambda t: ()


@dataclass(frozen=True)
class Link:
    """Body j with the joint J_j before it.

    Attributes:
        parent: a(j), index of the antecedent; 0 is the base.
        joint: the joint.
        pose: fixed pose (4, 4) of the joint in the frame of the antecedent.
        inertia: M_j (6, 6) in the frame of the body (for a rod: of what is fixed to its last section).

    """

    parent: int
    joint: Lumped | Soft
    pose: Array = field(default_factory=lambda: np.eye(4))
    inertia: Array = field(default_factory=lambda: np.zeros((6, 6)))


@dataclass(frozen=True)
class Wrench:
    """An external wrench on a body: (moment, force) (6,) of t [s], in body axes (follower) or in inertial axes (dead)."""

    body: int
    value: Callable[[float], Array]
    follower: bool = False


@dataclass(frozen=True)
class Loop:
    """A joint that was cut (004 VI.F): frame s+ of a follower body must keep to frame p+ of a leader body.

    Attributes:
        leader: index p.
        follower: index s.
        blocked: which of (rotation vector, position) of s+ in p+ are held at zero: rows of the identity (m, 6); six rows
            for a fixed joint, the last three for a ball, all but the third for a hinge about the third axis.
        leader_pose: p g_p+ (4, 4).
        follower_pose: s g_s+ (4, 4).

    """

    leader: int
    follower: int
    blocked: Array = field(default_factory=lambda: np.eye(6))
    leader_pose: Array = field(default_factory=lambda: np.eye(4))
    follower_pose: Array = field(default_factory=lambda: np.eye(4))


@dataclass(frozen=True)
class Robot:
    """A tree of links on a base, cut loops, gravity (3,) [m/s^2] and wrenches.

    Attributes:
        links: bodies 1..N, each after its antecedent.
        free: whether the base floats (a locomotor) or is the ground (a manipulator).
        base_inertia: M_0 (6, 6).
        gravity: acceleration in inertial axes (3,) [m/s^2].
        loops: the cut joints.
        wrenches: external wrenches on bodies.
        points: Chebyshev points on each rod.

    """

    links: tuple[Link, ...]
    free: bool = False
    base_inertia: Array = field(default_factory=lambda: np.zeros((6, 6)))
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    loops: tuple[Loop, ...] = ()
    wrenches: tuple[Wrench, ...] = ()
    points: int = 20


@dataclass(frozen=True)
class Chi:
    """The inputs chi of the IDM (004, remark 3), or k variations of them (then each field has k columns and g0 is dzeta_0).

    Attributes:
        g0, eta0, deta0: pose (4, 4) of the base, its twist (6,), and the time derivative of the twist (6,).
        q, v, a: coordinates (n,), rates, accelerations.
        lam: multipliers of the loops (m,).

    """

    g0: Array
    eta0: Array
    deta0: Array
    q: Array
    v: Array
    a: Array
    lam: Array


def coordinate_slices(robot: Robot) -> list[slice]:
    """Where the coordinates of each link are in q."""
    return _consecutive([_joint_size(link.joint) for link in robot.links])


def multiplier_slices(robot: Robot) -> list[slice]:
    """Where the multipliers of each loop are in lambda."""
    return _consecutive([len(loop.blocked) for loop in robot.loops])


def sizes(robot: Robot) -> tuple[int, int]:
    """(n, m): numbers of coordinates and of multipliers."""
    return sum(_joint_size(link.joint) for link in robot.links), sum(len(loop.blocked) for loop in robot.loops)


def _joint_size(joint: Lumped | Soft) -> int:
    if isinstance(joint, Soft):
        return joint.rod.size
    return 0 if joint.A is None else 1


def _consecutive(lengths: list[int]) -> list[slice]:
    return [slice(a, b) for a, b in pairwise([0, *accumulate(lengths)])]
