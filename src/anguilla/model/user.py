"""Loads written in Python: the same residual and tangent, with a pause between the phases to ask the user's functions."""

from __future__ import annotations

import numpy as np

from anguilla.compiler.jit import kernel
from anguilla.describe import FrameMotion
from anguilla.errors import DescriptionError, as_array
from anguilla.interact import UserForce, UserLoad
from anguilla.interact.kernels.table import KIND, NODE, TIME, USER
from anguilla.lie import exp3
from anguilla.mechanics.joints import compose
from anguilla.mechanics.tree import N_A, N_AL, N_R, N_V, N_W, N_X, Floats, Tree
from anguilla.model.evaluate import ascend, descend
from anguilla.model.evaluate import tangent as compiled_tangent
from anguilla.model.tables import Tables

STEP = 1e-6  # of a difference, relative to the size of the motion
FEW = 8  # balls that are turned without a compiled loop
WRONG = 1e-4  # a given tangent may differ from differences by this much of its size


def frame_motion(node: Floats) -> FrameMotion:
    """Motion of a node from its record."""
    three = lambda k: node[k : k + 3].copy()
    rotation = node[N_R : N_R + 9].reshape(3, 3).copy()
    return FrameMotion(rotation, three(N_X), three(N_W), three(N_V), three(N_AL), three(N_A))


def _moved(motion: FrameMotion, k: int, h: float) -> FrameMotion:
    """A motion changed by h in component k of (rotation, place, spin, velocity, spin rate, acceleration)."""
    step = h * np.eye(3)[k % 3]
    parts = [motion.rotation, motion.position, motion.spin, motion.velocity, motion.spin_rate, motion.acceleration]
    parts[k // 3] = exp3(step) @ motion.rotation if k < 3 else parts[k // 3] + step
    return FrameMotion(*parts)


def move(tree: Tree, q: Floats, dq: Floats) -> Floats:
    """Coordinates q changed by dq; balls are turned in their own axes."""
    out = q + dq
    if len(tree.ball) > FEW:
        _turn(tree.ball, np.ascontiguousarray(q), np.ascontiguousarray(dq), out)
        return out
    for k in tree.ball[:, 0]:
        out[k : k + 3] = compose(tuple(q[k : k + 3]), tuple(dq[k : k + 3]))
    return out


@kernel
def _turn(ball, q, dq, out):
    """`move` of many balls."""
    for b in range(len(ball)):
        k = ball[b, 0]
        x, y = (q[k], q[k + 1], q[k + 2]), (dq[k], dq[k + 1], dq[k + 2])
        out[k], out[k + 1], out[k + 2] = compose(x, y)


def between(tree: Tree, q0: Floats, q1: Floats) -> Floats:
    """The change dq with q1 = move(tree, q0, dq)."""
    out = q1 - q0
    for k in tree.ball[:, 0]:
        out[k : k + 3] = compose(tuple(-q0[k : k + 3]), tuple(q1[k : k + 3]))
    return out


class UserLoads:
    """The user-written loads of a system: they replace `residual` and `tangent` by versions that ask them."""

    def __init__(self, tables: Tables, size: int) -> None:
        self.loads = tables.users
        self.forces = tables.forces
        self.size = size
        self.checked: set[int] = set()
        self.state: tuple[Floats, Floats] = np.zeros(size), np.zeros(size)

    def __bool__(self) -> bool:
        return bool(self.loads or self.forces)

    def _wrench(self, load: UserLoad, motion: FrameMotion, t: float, X: float) -> Floats:
        value = load.wrench(motion, t) if not hasattr(load.where, "rod") else load.wrench(motion, t, X)
        name = f"The wrench of {load.label} at t = {t:g} s"
        wrench = as_array(value, name, "6 finite numbers: moment, then force, world axes")
        if wrench.shape != (6,):
            raise DescriptionError(f"{name} must have 6 numbers, moment then force; got the shape {wrench.shape}.")
        return wrench

    def _block(self, load: UserLoad, motion: FrameMotion, t: float, X: float) -> Floats:
        if load.tangent is not None and id(load) in self.checked:
            given = load.tangent(motion, t) if not hasattr(load.where, "rod") else load.tangent(motion, t, X)
            return np.asarray(given, dtype=np.float64)
        block = np.zeros((6, 18))
        sizes = (1.0, 1.0, *(max(1.0, float(np.max(np.abs(x)))) for x in
                 (motion.spin, motion.velocity, motion.spin_rate, motion.acceleration)))  # fmt: skip
        for k in range(18):
            h = STEP * sizes[k // 3]
            high, low = (self._wrench(load, _moved(motion, k, sign * h), t, X) for sign in (1.0, -1.0))
            block[:, k] = (high - low) / (2.0 * h)
        if load.tangent is not None:
            self.checked.add(id(load))
            given = np.asarray(self._block(load, motion, t, X))
            name = f"The tangent of {load.label}"
            if given.shape != (6, 18):
                raise DescriptionError(f"{name} must have the shape (6, 18); got {given.shape}.")
            error = float(np.max(np.abs(given - block)))
            if not error <= WRONG * max(float(np.max(np.abs(block))), 1e-12):
                where = np.unravel_index(int(np.argmax(np.abs(given - block))), (6, 18))
                place = f"row {where[0]}, column {where[1]}"
                raise DescriptionError(
                    f"{name} differs from differences of the wrench by {error:.2g}, most in {place}."
                )
            return given
        return block

    def force(self, load: UserForce, q: Floats, v: Floats, t: float) -> Floats:
        """Generalised forces (n,) of a load in one state, checked."""
        value = as_array(load.force(q.copy(), v.copy(), t), f"The force of {load.label}", "one number per coordinate")
        if value.shape != (self.size,):
            raise DescriptionError(f"The force of {load.label} must have the shape ({self.size},); got {value.shape}.")
        return value

    def _force_tangent(self, tree: Tree, load: UserForce, q: Floats, v: Floats, t: float) -> tuple[Floats, Floats]:
        if load.tangent is not None:
            by_q, by_v = load.tangent(q.copy(), v.copy(), t)
            return np.asarray(by_q, dtype=np.float64), np.asarray(by_v, dtype=np.float64)
        by_q, by_v = np.zeros((self.size, self.size)), np.zeros((self.size, self.size))
        for k in range(self.size):
            for matrix, which in ((by_q, 0), (by_v, 1)):
                h = STEP * max(1.0, abs((q, v)[which][k]))
                step = h * np.eye(self.size)[k]
                ends = [(move(tree, q, x), v) if which == 0 else (q, v + x) for x in (step, -step)]
                high, low = (self.force(load, q1, v1, t) for q1, v1 in ends)
                matrix[:, k] = (high - low) / (2.0 * h)
        return by_q, by_v

    def residual(self, tree, ws, loads, q, v, a, lam, out) -> None:
        """Like `evaluate.residual`."""
        descend(tree, ws, q, v, a)
        self.state = q.copy(), v.copy()
        t = float(loads.row[TIME])
        frames = np.flatnonzero(loads.frames.table[:, KIND] == USER)
        for f, (load, X, weight) in zip(frames, self.loads, strict=True):
            loads.frames.wrench[f] = weight * self._wrench(
                load, frame_motion(ws.node[loads.frames.table[f, NODE]]), t, X
            )
        ascend(tree, ws, loads, lam, out)
        for force in self.forces:
            out[: self.size] -= self.force(force, q, v, t)

    def tangent(self, tree, ws, loads, alpha, beta, lam, out) -> None:
        """Like `evaluate.tangent`."""
        t = float(loads.row[TIME])
        frames = np.flatnonzero(loads.frames.table[:, KIND] == USER)
        for f, (load, X, weight) in zip(frames, self.loads, strict=True):
            loads.frames.block[f] = weight * self._block(load, frame_motion(ws.node[loads.frames.table[f, NODE]]), t, X)
        compiled_tangent(tree, ws, loads, alpha, beta, lam, out)
        for force in self.forces:
            by_q, by_v = self._force_tangent(tree, force, *self.state, t)
            out[: self.size, : self.size] -= by_q + alpha * by_v
