"""A soft volume of a robot, compiled: its nodes, those that frames lead, and what it does to these frames.

A node that a frame leads is at r + R X. A small motion of the frame, (dw, dv) in its own axes, moves it by
R (dv + dw x X) = T (dw, dv). The wrench of the volume on the frame, in the axes of the frame, moment first, is

    W = sum_j (X_j x h_j, h_j),   h_j = R^T f_j,   f_j = -(gradient of the energy),

and changes by sum_j (X_j x (h_j x dw), h_j x dw) - T^T (K_pp T (dw, dv) + K_pi dx_i).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from anguilla.compiler.jit import kernel
from anguilla.fem.body import SoftBody
from anguilla.fem.contact import Piece, SlidingSolver, Touching
from anguilla.fem.contact import Places as Poses
from anguilla.fem.inertia import mass_blocks, mass_matrix
from anguilla.fem.linear import LinearSolver, make_solver
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.fem.unknowns import add_nodes
from anguilla.mechanics.vec import cross as crossed

__all__ = ["Half", "Poses", "Weld", "hats"]


class Weld(NamedTuple):
    """Points of a volume that a frame leads."""

    frame: int  # number of the frame in the model; -1 for the ground
    points: Ints  # (k,) points of the mesh
    pose: Floats  # (4, 4) axes of the volume in the frame


class Half:
    """A volume among rods and bodies.

    Attributes:
        name: its name in the robot.
        system: the compiled body; its unknowns are the nodes that no frame leads.
        led: (m,) nodes that frames lead.
        frames: numbers of the frames in the model, (F,).

    """

    def __init__(
        self, name: str, body: SoftBody, welds: list[Weld], solver: str, pieces: Sequence[Piece] = (),
        grids: Floats | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self.system = SoftSystem(body, solver=solver, led=[weld.points for weld in welds])
        system, n = self.system, len(self.system.rest.x)
        self.free = system.unknowns.free
        self.size = float(np.linalg.norm(np.ptp(system.rest.x, axis=0)))
        touched = [frame for piece in pieces for frame in piece.frames.tolist()]
        self.frames = np.unique([k for k in [*(weld.frame for weld in welds), *touched] if k >= 0]).astype(np.int64)
        self._of = np.full(n, -1, dtype=np.int64)  # which of these frames leads a node; -1 none, or the ground
        self._arm = np.zeros((n, 3))  # X of the nodes that are led
        still, led = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        for weld in welds:
            nodes = system.grid.with_middles(weld.points)
            led[nodes], still[nodes] = True, weld.frame < 0
            self._of[nodes] = -1 if weld.frame < 0 else np.searchsorted(self.frames, weld.frame)
            self._arm[nodes] = system.rest.x[nodes] @ weld.pose[:3, :3].T + weld.pose[:3, 3]
        self._still, self.led = np.flatnonzero(still), np.flatnonzero(led & ~still)
        self._inner = np.zeros((0 if isinstance(system.inner, slice) else len(system.inner), 9))
        self._leader = self.frames[self._of[self.led]]  # number in the model of the frame that leads each of these
        self._shares = self._find_shares(welds)
        self._share_mass(led)
        self._find_blocks()
        self.touching: Touching | None = None
        if pieces:
            self.touching = Touching(body, system.grid, system.pattern, pieces, np.zeros(0) if grids is None else grids)
            if self.touching.rubs:
                system.solver = SlidingSolver(system.solver, system.unknowns.size)

    @cached_property
    def masses(self) -> LinearSolver:
        """The masses of its free nodes, factorised."""
        system = self.system
        ends = system.unknowns.rows[system.inner], system.unknowns.cols[system.inner]
        solver = make_solver(system.solver.name, system.unknowns.points, *ends)
        blocks = np.zeros((len(self.mass), 9))
        blocks[:, [0, 4, 8]] = self.mass[:, None]
        solver.factor(blocks[system.inner])
        return solver

    def _share_mass(self, led: np.ndarray) -> None:
        """Masses of nodes: those of led ones are masses of their frames, and their weight is felt there.

        The mass of an element with a led node is put on its nodes, so that none is shared between the two.
        """
        system = self.system
        rows, cols = system.pattern.rows, system.pattern.cols
        self.whole_mass = mass_blocks(system, np.asarray(led[system.grid.cells].any(axis=1)))
        self.own = np.zeros(len(led))  # of led nodes [kg]
        shared = np.flatnonzero((rows != cols) & (led[rows] | led[cols]) & (self.whole_mass != 0.0))
        if len(shared):  # point masses on such elements
            onto, total = np.flatnonzero(rows == cols), np.zeros(len(led))
            np.add.at(total, rows[shared], self.whole_mass[shared])
            np.add.at(total, cols[shared], self.whole_mass[shared])
            self.whole_mass[onto] += total[rows[onto]]
            self.whole_mass[shared] = 0.0
        diagonal = (rows == cols) & led[rows]
        self.own[rows[diagonal]] = self.whole_mass[diagonal]
        self.own[self._still] = 0.0
        self.mass = np.where(led[rows] | led[cols], 0.0, self.whole_mass)
        self.matrix = mass_matrix(system, self.mass)
        self.view = copy.copy(system)  # as a user reads it
        system.weights = system.weights - self.own

    @property
    def held_by_ground(self) -> bool:
        """Whether some of its nodes do not move at all."""
        return len(self._still) > 0

    def inner(self, blocks: Floats) -> Floats:
        """Blocks (k, 9) between unknown nodes, of those between all nodes; the array is filled anew by the next call."""
        if isinstance(self.system.inner, slice):
            return blocks[self.system.inner]
        return np.take(blocks, self.system.inner, axis=0, out=self._inner, mode="clip")  # "clip" writes without a copy

    def bodies(self) -> list[tuple[int, float, Floats, Floats]]:
        """Of each frame: its number, and mass [kg], centre (3,) [m] and inertia about it (3, 3) of the nodes it leads."""
        found = []
        for k, frame in enumerate(self.frames.tolist()):
            nodes = np.flatnonzero(self._of == k)
            if not len(nodes):
                continue  # it is touched, and holds nothing
            m, X = self.own[nodes], self._arm[nodes]
            centre = m @ X / m.sum()
            arm = X - centre
            spread = (m[:, None] * arm).T @ arm
            found.append((frame, float(m.sum()), centre, np.trace(spread) * np.eye(3) - spread))
        return found

    def _find_shares(self, welds: list[Weld]) -> Floats:
        """Shares (f, F) of each unknown node in the motion of each frame, for large steps: near ones count most."""
        rest = self.system.rest.x
        far = np.full((len(self.free), len(self.frames) + 1), np.inf)
        for weld in welds:
            k = len(self.frames) if weld.frame < 0 else int(np.searchsorted(self.frames, weld.frame))
            near, _ = cKDTree(rest[self.system.grid.with_middles(weld.points)]).query(rest[self.free])
            far[:, k] = np.minimum(far[:, k], near)
        weight = 1.0 / np.maximum(far, 1e-9 * self.size) ** 2
        return (weight / weight.sum(axis=1, keepdims=True))[:, :-1]

    def carried(self, x: Floats, poses: Poses, twists: Floats) -> Floats:
        """Displacements (f, 3) of the unknown nodes if they went along with twists (F, 6) of their frames, in own axes."""
        out = np.zeros((len(self.free), 3))
        for k, frame in enumerate(self.frames.tolist()):
            w, v = poses.R[frame] @ twists[k, :3], poses.R[frame] @ twists[k, 3:]
            turn = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
            _carry(x, self.free, self._shares, k, turn, v - turn @ poses.r[frame], out)
        return out

    def velocities(self, x: Floats, poses: Poses, twists: Floats) -> Floats:
        """Velocities (n, 3) [m/s] of all nodes if unknown ones go along with twists (F, 6) of their frames, in own axes."""
        out = np.zeros_like(x)
        out[self.free] = self.carried(x, poses, twists)
        for k, frame in enumerate(self.frames.tolist()):
            nodes, R = np.flatnonzero(self._of == k), poses.R[frame]
            out[nodes] = R @ twists[k, 3:] + cross(R @ twists[k, :3], x[nodes] - poses.r[frame])
        return out

    def moved(self, x: Floats, before: Poses, after: Poses, rest: Floats) -> Floats:
        """Nodes after their frames moved: unknown ones by their shares in these motions and by `rest` (f, 3) [m]."""
        out, shift = x.copy(), rest.copy()
        for k, frame in enumerate(self.frames.tolist()):
            turn = after.R[frame] @ before.R[frame].T
            _carry(x, self.free, self._shares, k, turn - np.eye(3), after.r[frame] - turn @ before.r[frame], shift)
        add_nodes(shift, self.free, out)
        self.place(out, after)
        return out

    def _find_blocks(self) -> None:
        """Which blocks of the stiffness couple led nodes to unknowns and to each other, and where they are added."""
        rows, cols, first = self.system.pattern.rows, self.system.pattern.cols, self.system.unknowns.first
        of = self._of
        place = np.full(len(of), -1, dtype=np.int64)  # of a node among the led ones
        place[self.led] = np.arange(len(self.led))
        self._frame = of[self.led]
        right = self._right = np.flatnonzero((first[rows] >= 0) & (of[cols] >= 0))
        left = self._left = np.flatnonzero((of[rows] >= 0) & (first[cols] >= 0))
        self._inner_of_right, self._led_of_right = first[rows[right]], place[cols[right]]
        self._inner_of_left, self._led_of_left = first[cols[left]], place[rows[left]]
        both = self._both = np.flatnonzero((of[rows] >= 0) & (of[cols] >= 0))
        self._ends = np.stack([place[rows[both]], place[cols[both]]], axis=1)

    def place(self, x: Floats, poses: Poses) -> None:
        """Put the nodes that frames lead where they belong, in place."""
        _place(self.led, self._leader, self._arm, poses.R, poses.r, x)
        x[self._still] = self._arm[self._still]

    def started(self, poses: Poses, pose: Floats, gravity: Floats) -> Floats:
        """Positions (n, 3) of all nodes to start from: with its axes at a pose (4, 4), pulled along by its frames."""
        system = self.system
        x = system.rest.x @ pose[:3, :3].T + pose[:3, 3]
        there = x.copy()
        self.place(there, poses)
        shift = there - x
        if np.abs(shift).max() <= 1e-12 * self.size or not len(self.free):
            return there
        system.body.gravity = gravity
        _, _, blocks = system.evaluate(SoftState(x, system.rest.rotations), np.zeros(len(system.names)), stiffness=True)
        pull = self.multiply(blocks, shift)[self.free]
        system.solver.factor(blocks[system.inner])
        there[self.free] -= system.solver.solve(pull.reshape(1, -1))[0].reshape(-1, 3)
        return there

    def elastic_energy(self, x: Floats) -> float:
        """Elastic energy [J] for nodes at x (n, 3)."""
        system, none, scratch = self.system, np.zeros(len(self.system.names)), np.zeros_like(x)
        outside = system.external_forces(x, none, 1.0, 0.0, scratch, system.nothing_pulled, False)
        return system.evaluate(SoftState(x, system.rest.rotations), none)[0] - outside

    def state(self, x: Floats) -> SoftState:
        """A state of the body with nodes at x (n, 3)."""
        return SoftState(x, self.system.rest.rotations)

    def by_twists(self, by_node: Floats, poses: Poses) -> Floats:
        """Derivatives (r, 6 F) by twists of the frames, in their axes, from those by led nodes: rows (r, nodes, 3)."""
        out = np.zeros((len(by_node), len(self.frames), 6))
        _lead(self.led, self._leader, self._of, self._arm, poses.R, by_node, out)
        return out.reshape(len(by_node), -1)

    def multiply(self, blocks: Floats, v: Floats) -> Floats:
        """Blocks between nodes times (n, 3)."""
        rows, cols = self.system.pattern.rows, self.system.pattern.cols
        k, out = blocks.reshape(-1, 3, 3), np.zeros_like(v)
        np.add.at(out, rows, np.einsum("bij,bj->bi", k, v[cols]))
        other = rows != cols
        np.add.at(out, cols[other], np.einsum("bji,bj->bi", k[other], v[rows[other]]))
        return out

    def _own(self, gradient: Floats, poses: Poses) -> Floats:
        """Forces h (m, 3) [N] of the volume on the led nodes, in the axes of their frames."""
        return -np.einsum("kji,kj->ki", poses.R[self._leader], gradient[self.led])

    def wrenches(self, gradient: Floats, poses: Poses) -> Floats:
        """Wrenches (F, 6) of the volume on its frames, in their axes, moment [N m] first, then force [N]."""
        return -self.by_twists(gradient[None], poses).reshape(-1, 6)

    def leaders(self, nodes: Ints) -> Ints:
        """Which of its frames lead nodes (k,); -1 for none."""
        return self._of[nodes]

    def lever(self, nodes: Ints, poses: Poses) -> Floats:
        """T (k, 3, 6): how nodes that frames lead move with twists of these; zero for the others."""
        out, led = np.zeros((len(nodes), 3, 6)), self._of[nodes] >= 0
        R = poses.R[self.frames[self._of[nodes[led]]]]
        out[led, :, :3], out[led, :, 3:] = -np.einsum("kij,kjl->kil", R, hats(self._arm[nodes[led]])), R
        return out

    def coupling(self, blocks: Floats, gradient: Floats, poses: Poses) -> tuple[Floats, Floats]:
        """(T^T K_pi (6 F, 3 f), and how minus the wrenches change with the frames (6 F, 6 F))."""
        count, f = len(self.frames), len(self.free)
        T = self.lever(self.led, poses)
        cross, mine = np.zeros((6 * count, 3 * f)), np.zeros((6 * count, 6 * count))
        _couple(blocks, self._right, self._inner_of_right, self._led_of_right, False, T, self._frame, cross)
        _couple(blocks, self._left, self._inner_of_left, self._led_of_left, True, T, self._frame, cross)
        _join(blocks, self._both, self._ends, T, self._frame, mine)
        h = hats(self._own(gradient, poses))
        turned = np.zeros((count, 6, 3))
        np.add.at(turned, self._of[self.led], np.concatenate([hats(self._arm[self.led]) @ h, h], axis=1))
        for k_frame in range(count):
            at = slice(6 * k_frame, 6 * k_frame + 6)
            mine[at, 6 * k_frame : 6 * k_frame + 3] -= turned[k_frame]
        return cross, mine


@kernel
def _carry(x, nodes, shares, k, turn, shift, out):
    """out (f, 3) += column k of the shares of nodes (f,), times turn x + shift."""
    for i in range(len(nodes)):
        n, s = nodes[i], shares[i, k]
        a, b, c = x[n, 0], x[n, 1], x[n, 2]
        for j in range(3):
            out[i, j] += s * (turn[j, 0] * a + turn[j, 1] * b + turn[j, 2] * c + shift[j])


@kernel
def _place(nodes, leader, arm, R, r, x):
    """Put led nodes at r + R X of the frames that lead them."""
    for i in range(len(nodes)):
        n, f = nodes[i], leader[i]
        for j in range(3):
            x[n, j] = r[f, j] + R[f, j, 0] * arm[n, 0] + R[f, j, 1] * arm[n, 1] + R[f, j, 2] * arm[n, 2]


@kernel
def _lead(nodes, leader, of, arm, R, rows, out):
    """out (r, F, 6) += (X x h, h) of led nodes, h = R^T times rows (r, n, 3)."""
    for row in range(len(rows)):
        for i in range(len(nodes)):
            n, f = nodes[i], leader[i]
            a, b, c = rows[row, n, 0], rows[row, n, 1], rows[row, n, 2]
            h = (
                R[f, 0, 0] * a + R[f, 1, 0] * b + R[f, 2, 0] * c, R[f, 0, 1] * a + R[f, 1, 1] * b + R[f, 2, 1] * c,
                R[f, 0, 2] * a + R[f, 1, 2] * b + R[f, 2, 2] * c,
            )  # fmt: skip
            m = crossed((arm[n, 0], arm[n, 1], arm[n, 2]), h)
            for j in range(3):
                out[row, of[n], j] += m[j]
                out[row, of[n], 3 + j] += h[j]


@kernel
def _couple(blocks, which, inner, led, turned, T, frame, out):
    """out (6 F, 3 f) += T^T K_pi, of blocks K_ip of an unknown node and a led one, or of their transposes."""
    for k in range(len(which)):
        b, n, l = which[k], 3 * inner[k], led[k]
        for i in range(3):
            for c in range(6):
                total = 0.0
                for j in range(3):
                    total += (blocks[b, 3 * j + i] if turned else blocks[b, 3 * i + j]) * T[l, j, c]
                out[6 * frame[l] + c, n + i] += total


@kernel
def _join(blocks, which, ends, T, frame, out):
    """out (6 F, 6 F) += T^T K_pp T, of blocks between led nodes."""
    for k in range(len(which)):
        b, l, m = which[k], ends[k, 0], ends[k, 1]
        for c in range(6):
            for d in range(6):
                total = 0.0
                for i in range(3):
                    for j in range(3):
                        total += T[l, i, c] * blocks[b, 3 * i + j] * T[m, j, d]
                out[6 * frame[l] + c, 6 * frame[m] + d] += total
                if l != m:
                    out[6 * frame[m] + d, 6 * frame[l] + c] += total


def cross(a: Floats, b: Floats) -> Floats:
    """Cross products of vectors (..., 3); a fifth of the time of numpy's."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def hats(v: Floats) -> Floats:
    """Cross products with vectors (k, 3), as matrices (k, 3, 3)."""
    out = np.zeros((len(v), 3, 3))
    out[:, 0, 1], out[:, 0, 2], out[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    out[:, 1, 0], out[:, 2, 0], out[:, 2, 1] = v[:, 2], -v[:, 1], v[:, 0]
    return out
