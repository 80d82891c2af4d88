"""Joints between segments: their motion, its Jacobian, and what both do to the balance of wrenches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anguilla import lie
from anguilla.describe import Ball, Free, Part
from anguilla.mechanics.tree import Floats
from anguilla.solve.steps.schemes import Coefficients, coasting


def joint_pose(part: Part, q: Floats) -> tuple[Floats, Floats]:
    """Motion (4, 4) of a joint at coordinates q, and its body Jacobian (6, nq)."""
    g, k = np.eye(4), 0
    columns: list[Floats] = []
    for axis in part.joint.axes:
        step, block = _axis(axis, q[k : k + axis.size])
        back = lie.Ad(lie.inverse(step))
        columns = [back @ c for c in columns] + [block]
        g, k = g @ step, k + axis.size
    jacobian = np.hstack(columns) if columns else np.zeros((6, 0))
    return g, jacobian


def _axis(axis, q: Floats) -> tuple[Floats, Floats]:
    """Motion (4, 4) of one axis, and its screws (6, size)."""
    if isinstance(axis, Ball):  # rates of a ball are the angular velocity in the axes of the child
        return lie.pose(lie.exp3(q), None), np.eye(6)[:, :3]
    direction = np.array(axis.direction)
    screw = np.concatenate([axis.turn * direction, axis.slide * direction])
    return lie.exp6(screw * q[0]), screw[:, None]


def is_free(part: Part) -> bool:
    """Whether a part floats."""
    return isinstance(part.joint, Free)


def imposed(part: Part) -> NDArray[np.bool_]:
    """(nq,) whether each coordinate of a joint has a prescribed motion."""
    return np.array([motion is not None for motion in part.joint.motions], dtype=bool)


def imposed_values(part: Part, t: float) -> Floats:
    """(nq, 3) prescribed coordinates, rates and accelerations at a time [s]; zero where free."""
    out = np.zeros((part.joint.size, 3))
    for k in np.flatnonzero(imposed(part)).tolist():
        out[k] = part.joint.motion_values(k, [t])[0]
    return out


def coadjoint_matrix(stress: Floats) -> Floats:
    """Matrix B with B delta = ad_delta^T Lambda."""
    c, n = lie.hat3(stress[:3]), lie.hat3(stress[3:])
    return np.block([[c, n], [n, np.zeros((3, 3))]])


def joint_tangent(part: Part, jacobian: Floats, stress: Floats) -> Floats:
    """d(J^T Lambda)/dq at fixed Lambda: an axis is turned by those after it, dJ_j/dq_k = -ad_{J_k} J_j."""
    n = jacobian.shape[1]
    out = np.zeros((n, n))
    order = np.repeat(np.arange(len(part.joint.axes)), [axis.size for axis in part.joint.axes])
    for j in range(n):
        for k in range(n):
            if order[k] > order[j]:
                out[j, k] -= stress @ (lie.ad(jacobian[:, k]) @ jacobian[:, j])
    return out


def joint_moved(part: Part, q: Floats, step: Floats) -> Floats:
    """Coordinates after an increment; a ball composes rotations."""
    new, k = q + step, 0
    for axis in part.joint.axes:
        if axis.size == 3:
            new[k : k + 3] = lie.log3(lie.exp3(q[k : k + 3]) @ lie.exp3(step[k : k + 3]))
        k += axis.size
    return new


@dataclass(frozen=True)
class Relative:
    """Motion of one frame relative to another, child axes, and its derivatives by n unknowns.

    Attributes:
        pose: (4, 4).
        twist, rate: (6,) w and its time derivative.
        by_pose, by_twist, by_rate: (6, n) the derivatives of the pose (as a body twist), of w and of its rate.

    """

    pose: Floats
    twist: Floats
    rate: Floats
    by_pose: Floats
    by_twist: Floats
    by_rate: Floats

    def then(self, other: Relative) -> Relative:
        """The motion of a third frame, moved by `other` relative to the child.

        w = Ad w1 + w2 and w' = Ad w1' - ad_w2 Ad w1 + w2', with Ad of the inverse pose of `other`.
        """
        carry, turn = lie.Ad(lie.inverse(other.pose)), lie.ad(other.twist)
        x, y = carry @ self.twist, carry @ self.rate
        ad_x, ad_y = lie.ad(x), lie.ad(y)
        A, B, C = other.by_pose, other.by_twist, other.by_rate
        return Relative(
            self.pose @ other.pose, x + other.twist, y - turn @ x + other.rate,
            np.hstack([carry @ self.by_pose, A]),
            np.hstack([carry @ self.by_twist, ad_x @ A + B]),
            np.hstack([carry @ self.by_rate - turn @ carry @ self.by_twist, ad_y @ A - turn @ ad_x @ A + ad_x @ B + C]),
        )  # fmt: skip


def fixed_motion(pose: Floats, twist: Floats | None = None, rate: Floats | None = None) -> Relative:
    """A motion that depends on no unknown."""
    none = np.zeros((6, 0))
    zero = np.zeros(6)
    return Relative(pose, zero if twist is None else twist, zero if rate is None else rate, none, none, none)


@dataclass(frozen=True)
class JointStep:
    """What a time step knows of a joint: its unknowns u are its coordinates, of a ball the turn Theta in this step (70).

    Attributes:
        part: the part behind the joint.
        q: (nq,) coordinates at the start of the step.
        a, b: coefficients of (58).
        past, past_rate: (nq,) f and h of (65), of a ball k and l of (69).
        given: (nq, 3) prescribed coordinates, rates and accelerations at the end of the step.

    """

    part: Part
    q: Floats
    a: float
    b: float
    past: Floats
    past_rate: Floats
    given: Floats

    def guess(self) -> Floats:
        """The unknowns without acceleration."""
        return np.where(imposed(self.part), self.given[:, 0], self.past)

    def rates(self, u: Floats) -> tuple[Floats, Floats]:
        """Rates and accelerations (nq,) of the coordinates."""
        held = imposed(self.part)
        second = np.where(held, self.given[:, 2], (u - self.past) / self.a)
        return np.where(held, self.given[:, 1], self.b * second + self.past_rate), second

    def motion(self, u: Floats) -> tuple[Relative, Floats]:
        """The motion of the joint, and d(coordinates, of balls their small turns)/du (nq, nq)."""
        rate, second = self.rates(u)
        free = (~imposed(self.part)).astype(float)
        out, turned, k = fixed_motion(np.eye(4)), np.eye(len(u)), 0
        for axis in self.part.joint.axes:
            own = slice(k, k + axis.size)
            step, screw = _axis(axis, u[own])
            A = screw
            if isinstance(axis, Ball):
                before, _ = _axis(axis, self.q[own])
                turned[own, own] = lie.dexp3(u[own], side="right")
                step, A = before @ step, screw @ turned[own, own]
            by_twist, by_rate = screw * free[own] * self.b / self.a, screw * free[own] / self.a
            out = out.then(Relative(step, screw @ rate[own], screw @ second[own], A, by_twist, by_rate))
            k += axis.size
        return out, turned

    def end(self, u: Floats) -> tuple[Floats, Floats, Floats]:
        """Coordinates, rates and accelerations (nq,) at the end of the step."""
        q, k = u.copy(), 0
        for axis in self.part.joint.axes:
            own = slice(k, k + axis.size)
            if isinstance(axis, Ball):
                q[own] = lie.log3(lie.exp3(self.q[own]) @ lie.exp3(u[own]))
            k += axis.size
        return (q, *self.rates(u))


def joint_step(part: Part, state: tuple[Floats, Floats, Floats], t: float, scheme: Coefficients, dt: float):
    """The step to time t [s] from coordinates, rates and accelerations at its start."""
    q, v, a = state
    past, rate = coasting(scheme, dt, v, a)
    past = past + np.where([isinstance(x, Ball) for x in part.joint.axes for _ in range(x.size)], 0.0, q)
    return JointStep(part, q, scheme.beta * dt * dt, scheme.gamma * dt, past, rate, imposed_values(part, t))
