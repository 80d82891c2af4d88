"""Reading of frames and of the shapes and inner forces of rods."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe import Frame, RodHandle
from anguilla.errors import as_count
from anguilla.mechanics.tree import Floats
from anguilla.results.base import Computed, sections
from anguilla.results.fields import control_torque, internal_wrench, internal_wrenches, strain_field
from anguilla.results.kinematics import body_jacobian, node_motions, shift
from anguilla.results.observe import S_A, S_AL, S_V, S_W, S_X, SNAPSHOT, take_places

__all__ = ["OfFrames", "OfRods"]

# One reading follows the motion of the whole robot. So after a few of them all frames, or all rods, are read at once, which
# keeps the readings of a large robot linear in its parts; unless they are too many numbers to keep.
FEW, KEPT = 8, 8_000_000
GROUPS = 8  # in which wrenches of all rods are found: points along many rods take memory


class OfFrames(Computed):
    """Motion of frames."""

    def _frame(self, frame: Frame, take: Callable[[Floats], Floats], accelerations: bool = False) -> Floats:
        """What `take` makes of the motion (nb, 24) of a frame, of all states."""
        found = self.motions([frame], accelerations)  # checks it
        self._asked.append(frame)
        node, count = self.system.layout.node(frame.bare), len(self.system.tree.parent)
        if accelerations or node is None or len(self._asked) <= FEW or len(self._q) * count * SNAPSHOT > KEPT:
            return np.concatenate([take(motion[:, 0]) for _, motion in found])
        motion = self._of_nodes[:, node].copy()
        if frame.offset is not None:
            shift(motion, frame.offset_pose)
        return take(motion).copy()

    @cached_property
    def _asked(self) -> list[Frame]:
        """Frames that were read one by one."""
        return []

    @cached_property
    def _of_nodes(self) -> Floats:
        """Motion (time, nodes, 24) of all nodes, without accelerations."""
        system, still = self.system, np.zeros_like(self._q)
        every = np.arange(len(system.tree.parent))
        return np.concatenate([motion for _, motion in node_motions(system, every, self._q, self._v, still)])

    def position(self, frame: Frame) -> Floats:
        """Position of a frame [m], world axes: (time, 3), or (3,) of an equilibrium."""
        return self._pick(self._frame(frame, lambda motion: motion[:, S_X : S_X + 3]))

    def pose(self, frame: Frame) -> Floats:
        """Pose of a frame: (time, 4, 4), or (4, 4) of an equilibrium."""
        motion = self._frame(frame, lambda motion: motion[:, : S_X + 3])
        pose = np.tile(np.eye(4), (len(motion), 1, 1))
        pose[:, :3, :3] = motion[:, :9].reshape(-1, 3, 3)
        pose[:, :3, 3] = motion[:, S_X:]
        return self._pick(pose)

    def twist(self, frame: Frame) -> Floats:
        """Body twist of a frame: angular velocity [rad/s] then velocity [m/s], in its own axes: (time, 6)."""
        return self._pick(self._frame(frame, _body_twist))

    def acceleration(self, frame: Frame) -> Floats:
        """Angular acceleration [rad/s^2] and acceleration of the origin [m/s^2], world axes: (time, 6)."""
        assert S_A == S_AL + 3
        return self._pick(self._frame(frame, lambda motion: motion[:, S_AL : S_AL + 6], accelerations=True))

    def placed(self, frames: list[Frame]) -> tuple[Floats, Floats, Floats]:
        """Positions (time, m, 3) [m], axes as columns (time, m, 3, 3) and body twists (time, m, 6) of frames, at once."""
        shape = len(self._t), len(frames)
        place, rotation, twist = np.empty((*shape, 3)), np.empty((*shape, 9)), np.empty((*shape, 6))
        for at, motion in self.motions(frames):
            take_places(motion, place[at], rotation[at], twist[at])
        return place, rotation.reshape(*shape, 3, 3), twist

    def jacobian(self, frame: Frame) -> Floats:
        """Body Jacobian of a frame, twist = J v: (time, 6, n)."""
        self.motions([frame])  # checks it
        return self._pick(body_jacobian(self.system, frame, self._q))


def _body_twist(motion: Floats) -> Floats:
    """Angular velocity and velocity (nb, 6) in the axes of a frame, from its motion (nb, 24)."""
    rotation = motion[:, :9].reshape(-1, 3, 3)
    return np.concatenate([np.einsum("tji,tj->ti", rotation, motion[:, k : k + 3]) for k in (S_W, S_V)], axis=1)


def _alike(X: ArrayLike | None, rod: RodHandle, other: RodHandle) -> Floats | None:
    """Arc lengths [m] of another rod, the same parts of its length as X of a rod."""
    return None if X is None else np.minimum(np.atleast_1d(X) / rod.length * other.length, other.length)


class OfRods(Computed):
    """Shapes and inner forces of rods."""

    def centerline(self, rod: RodHandle, points: int = 60) -> Floats:
        """Positions of equally spaced sections [m]: (time, points, 3)."""
        part, points = self.own_rod(rod), as_count(points, "points", minimum=2)
        rods = [p for p in self.system.robot.parts if isinstance(p, RodHandle)]
        read, lines = self._lines.setdefault(points, (set(), {}))
        read.add(part.index)
        if len(read) <= FEW or len(self._t) * len(rods) * points * SNAPSHOT > KEPT:
            return self._pick(self._places([part], points)[:, 0])
        if not lines:
            found = np.moveaxis(self._places(rods, points), 1, 0)
            lines.update(zip((p.index for p in rods), found, strict=True))
        return self._pick(lines[part.index].copy())

    @cached_property
    def _lines(self) -> dict[int, tuple[set[int], dict[int, Floats]]]:
        """By the number of points: which rods were read, by number, and the centre lines (time, points, 3) of all."""
        return {}

    def _places(self, rods: list[RodHandle], points: int) -> Floats:
        """Positions (time, rods, points, 3) [m] of equally spaced sections."""
        frames = [rod.section(float(X)) for rod in rods for X in np.linspace(0.0, rod.length, points)]
        out = np.zeros((len(self._t), len(frames), 3))
        for at, motion in self.motions(frames):
            out[at] = motion[:, :, S_X : S_X + 3]
        return out.reshape(len(self._t), len(rods), points, 3)

    def strain(self, rod: RodHandle, X: ArrayLike | None = None) -> Floats:
        """Strains xi = (K, Gamma) at arc lengths X [m] (default 60 equally spaced): (time, points, 6) [1/m, -]."""
        part = self.own_rod(rod)
        return self._pick(strain_field(self.system, part, sections(part, X), self._q))

    def wrench(self, rod: RodHandle, X: ArrayLike | None = None) -> Floats:
        """Internal wrench Lambda, what the part beyond X exerts on the part before it, in section axes.

        (time, points, 6): moment [N m], force [N]; X defaults to 60 equally spaced arc lengths [m].
        """
        part = self.own_rod(rod)
        with self.acting():
            return self._pick(self._wrench(part, X))

    def wrenches(self, rods: list[RodHandle], X: list[Floats]) -> list[Floats]:
        """Internal wrenches (time, points, 6) of many rods at arc lengths X [m] of each: a few are followed at once."""
        parts, found = [self.own_rod(rod) for rod in rods], []
        size = max(FEW, -(-len(rods) // GROUPS))
        with self.acting():
            for k in range(0, len(parts), size):
                found += internal_wrenches(self.evaluations, parts[k : k + size], X[k : k + size])
        return found

    @cached_property
    def _wrenches(self) -> dict[object, tuple[set[int], dict[int, tuple[Floats, Floats]]]]:
        """By the sections, in parts of the length: which rods were read, by number, and sections and wrenches of many."""
        return {}

    def _wrench(self, part: RodHandle, asked: ArrayLike | None) -> Floats:
        """Internal wrench (time, points, 6) of a rod; after a few, those of its neighbours are found with it."""
        X = sections(part, asked)
        rods = [p for p in self.system.robot.parts if isinstance(p, RodHandle)]
        key = None if asked is None else tuple((X / part.length).tolist())
        read, found = self._wrenches.setdefault(key, (set(), {}))
        read.add(part.index)
        if len(read) > FEW and 0 < len(self._t) * len(rods) * len(X) * SNAPSHOT <= KEPT:
            if part.index not in found:
                for other, (_, old) in self._wrenches.items():
                    if other != key:  # one kind of reading is kept
                        old.clear()
                size = max(FEW, -(-len(rods) // GROUPS))
                first = [p.index for p in rods].index(part.index) // size * size
                group = rods[first : first + size]
                places = [X if p.length == part.length else sections(p, _alike(asked, part, p)) for p in group]
                wrenches = internal_wrenches(self.evaluations, group, places)
                found.update(zip((p.index for p in group), zip(places, wrenches, strict=True), strict=True))
            places_there, wrench = found[part.index]
            if np.array_equal(places_there, X):
                return wrench.copy()
        return internal_wrench(self.evaluations, part, X)

    def control_torque(self, rod: RodHandle, X: ArrayLike | None = None) -> Floats:
        """What the motors along a rod with a prescribed shape must give, in section axes: M of 001 (64), elasticity included.

        (time, points, 6): moments [N m], forces [N], positive along the strains (so their power is M . dK/dt); zero for
        strains that are not prescribed, whose reactions are in `wrench`. X defaults to 60 equally spaced arc lengths [m].
        """
        part = self.own_rod(rod)
        with self.acting():
            return self._pick(control_torque(self.evaluations, part, sections(part, X)))
