"""Conditions that close loops or hold a frame: the wrench that enforces them is unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from anguilla import lie
from anguilla.describe import Cylindrical, Fixed, Frame, Joint, Planar, Prismatic, Revolute, Robot, Spherical
from anguilla.describe.constraints import frame_with_x
from anguilla.errors import DescriptionError, as_pose, refuse
from anguilla.mechanics.tree import Floats

__all__ = ["Hold", "Join"]

KNOWN = "Fixed(), Spherical(), Revolute(axis), Prismatic(axis), Cylindrical(axis), Planar(normal)"


@dataclass(frozen=True, eq=False)
class Join:
    """Two frames joined: `Fixed()` (all six components), `Spherical()` (the origins), `Revolute(axis)`, axis in b's axes ...

    Attributes:
        a: frame on which the unknown wrench acts.
        b: frame on which its opposite acts; the ground is fixed.
        joint: which relative motions stay free; also `Prismatic`, `Cylindrical`, `Planar`.
        name: of the closure it stands for.

    """

    a: Frame
    b: Frame
    joint: Joint | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            if not isinstance(getattr(self, name), Frame):
                raise refuse(f"{type(self).__name__}.{name}", "a frame such as arm.tip", getattr(self, name))
        if self.a.is_ground:
            raise DescriptionError(f"{type(self).__name__}.a must be a frame of a part; the ground may be b.")
        self.free  # noqa: B018 - refuses an unknown joint now

    @property
    def free(self) -> Floats:
        """(6, k) twists of a in its own axes, relative to b, that the joint allows."""
        joint = Fixed() if self.joint is None else self.joint
        if isinstance(joint, Fixed):
            return np.zeros((6, 0))
        if isinstance(joint, Spherical):
            return np.eye(6)[:, :3]
        if isinstance(joint, Revolute):
            return np.concatenate([np.array(joint.axis), np.zeros(3)])[:, None]
        none = np.zeros(3)
        if isinstance(joint, Prismatic):
            return np.concatenate([none, np.array(joint.axis)])[:, None]
        if isinstance(joint, Cylindrical):
            along = np.array(joint.axis)
            return np.array([[*along, *none], [*none, *along]]).T
        if isinstance(joint, Planar):
            across = frame_with_x(joint.normal)[:3, 1:3].T
            return np.array([[*np.array(joint.normal), *none], [*none, *across[0]], [*none, *across[1]]]).T
        raise refuse("The joint of a loop", f"one of {KNOWN} in shooting", joint)

    @property
    def held(self) -> Floats:
        """(6, 6 - k) orthonormal basis of the constrained components, also of the wrench."""
        u, _, _ = np.linalg.svd(np.hstack([self.free, np.zeros((6, 1))]))
        basis = u[:, self.free.shape[1] :]
        # keep the axes where they are axes already: multipliers are then plain components
        return np.eye(6)[:, 3:] if isinstance(self.joint, Spherical) else (np.eye(6) if basis.shape[1] == 6 else basis)

    def gap(self, ga: Floats, gb: Floats) -> Floats:
        """(6,) rotation vector and displacement from a to b, in the axes of b, all six components."""
        relative = lie.inverse(gb) @ ga
        return np.concatenate([-lie.log3(relative[:3, :3]), -relative[:3, 3]])


class Hold(Join):
    """A frame held at a pose of the world; the tip of a rod that is clamped, pinned or hinged at its far end too.

    Args:
        frame: the frame, such as arm.tip.
        pose: (4, 4) where it is held, or its position (3,) [m] (then `Spherical()`: the rotation stays free).
        joint: `Fixed()`, `Spherical()` or `Revolute(axis)`.

    """

    def __init__(self, frame: Frame, pose: ArrayLike, joint: Joint | None = None) -> None:
        if not isinstance(frame, Frame):
            raise refuse("Hold.frame", "a frame such as arm.tip", frame)
        given = np.asarray(pose)
        goal = np.eye(4)
        if given.shape == (3,):
            goal[:3, 3] = given
            joint = Spherical() if joint is None else joint
            if not isinstance(joint, Spherical):
                raise DescriptionError("Hold.pose must be a 4x4 pose unless only the position is held.")
        else:
            goal = as_pose(pose, "Hold.pose")
        super().__init__(frame, frame.robot.ground.offset_by(goal), joint)


def closing_ties(robot: Robot, t: float = 0.0) -> list[Join]:
    """The closures of a robot as ties, prescribed poses taken at time t [s]."""
    out = []
    for closure in robot.closures.values():
        pose = closure.pose(t) if callable(closure.pose) else closure.pose
        base, moved = closure.a.offset_by(as_pose(pose, f"The pose of closure {closure.name!r}")), closure.b
        if moved.is_ground:
            if not isinstance(closure.joint, (Fixed, Spherical)):
                raise DescriptionError(f"Closure {closure.name!r}: write the ground first, robot.close(ground, frame).")
            base, moved = moved, base
        out.append(Join(moved, base, closure.joint, closure.name))
    return out
