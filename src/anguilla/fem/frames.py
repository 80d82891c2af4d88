"""Effectors of a soft body: positions inside elements, mean rotations, and the rows that belong to them."""

from __future__ import annotations

import numpy as np

from anguilla.errors import DescriptionError
from anguilla.fem.body import SoftBody
from anguilla.fem.elements import Grid, held_by, shape_functions
from anguilla.fem.mesh import Floats, Ints, locate
from anguilla.fem.parts import Effector
from anguilla.lie import hat3, log3

__all__ = ["Frames"]

ON_PART = 1e-6  # share of a node in an effector: less is round-off of its place


def _holders(body: SoftBody, grid: Grid, effector: Effector, name: str) -> tuple[Ints, Floats]:
    """Nodes and weights that carry an effector."""
    if effector.radius is None:
        tet, bary = locate(body.mesh, effector.point, f"The place of effector {name!r}")
        return grid.cells[tet[0]], shape_functions(bary, grid.cells.shape[1])[0]
    held = held_by(grid.points, effector.point, effector.radius)
    if held is None or np.linalg.norm(held[1] @ grid.points[held[0]] - effector.point) > 1e-6 * effector.radius:
        raise DescriptionError(
            f"Effector {name!r}: too few nodes within {effector.radius} m of it to hold it; enlarge radius."
        )
    return held


def _rank(arms: Floats) -> int:
    return int(np.linalg.matrix_rank(arms, tol=1e-9 * np.abs(arms).max()))


def _rigid_nodes(body: SoftBody, grid: Grid, nodes: Ints, weights: Floats) -> Ints | None:
    """Nodes of the rigid part that carries an effector: the ones near it if they are not on a line; None without one."""
    held = nodes[np.abs(weights) > ON_PART]
    for part in body.rigid_parts.values():
        own = grid.with_middles(part)
        if np.isin(held, own).all():
            near = nodes[np.isin(nodes, own)]
            return near if _rank(grid.points[near] - grid.points[near].mean(axis=0)) > 1 else own
    return None


class Frames:
    """All effectors of a body.

    The position is an interpolation of nodes (002 (4)). The rotation is that of the polar decomposition of
    A = sum_i x_i d_i^T, with d_i the rest vectors of the surrounding nodes from their centre: the rotation that fits their
    displacement best. An effector on a rigid part sees the nodes of that part alone: it turns as the part does.
    """

    def __init__(self, body: SoftBody, grid: Grid) -> None:
        self.names = list(body.effectors)
        self.rows = [effector.rows for effector in body.effectors.values()]
        self.size = sum(self.rows)
        self._nodes: list[Ints] = []
        self._weights: list[Floats] = []
        self._around: list[tuple[Ints, Floats] | None] = []
        for name, effector in body.effectors.items():
            nodes, weights = _holders(body, grid, effector, name)
            self._nodes.append(nodes)
            self._weights.append(weights)
            near = None
            if effector.orientation:
                rigid = _rigid_nodes(body, grid, nodes, weights)
                nodes = nodes if rigid is None else rigid
                arms = grid.points[nodes] - grid.points[nodes].mean(axis=0)
                if rigid is None and (len(nodes) < 4 or _rank(arms) < 3):
                    raise DescriptionError(
                        f"Effector {name!r}: too few nodes within {effector.radius} m to see a rotation; enlarge radius."
                    )
                near = nodes, np.linalg.pinv(arms, rcond=1e-9).T  # so that A is the mean deformation gradient
            self._around.append(near)

    def position(self, x: Floats, k: int) -> Floats:
        """Position (3,) [m] of effector k."""
        return self._weights[k] @ x[self._nodes[k]]

    def rotation(self, x: Floats, k: int) -> Floats:
        """Rotation (3, 3) since rest of effector k; identity if it has none."""
        return np.eye(3) if self._around[k] is None else self._polar(x, k)[0]

    def _polar(self, x: Floats, k: int) -> tuple[Floats, Floats]:
        near = self._around[k]
        assert near is not None
        nodes, arms = near
        u, s, vt = np.linalg.svd(x[nodes].T @ arms)
        sign = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
        return u @ sign @ vt, vt.T @ np.diag(s) @ sign @ vt

    def values(self, x: Floats) -> Floats:
        """Positions of all effectors, each followed by zeros for its rotation rows: (size,) [m]."""
        out = []
        for k, rows in enumerate(self.rows):
            out.append(self.position(x, k))
            if rows == 6:
                out.append(np.zeros(3))
        return np.concatenate(out) if out else np.zeros(0)

    def errors(self, x: Floats, positions: list[Floats], rotations: list[Floats | None]) -> Floats:
        """Where each effector is, seen from where it should be: (size,) [m, rad], world axes."""
        out = []
        for k, rows in enumerate(self.rows):
            out.append(self.position(x, k) - positions[k])
            if rows == 6:
                goal = rotations[k]
                out.append(np.zeros(3) if goal is None else log3(self.rotation(x, k) @ goal.T))
        return np.concatenate(out) if out else np.zeros(0)

    def gradient(self, x: Floats, out: Floats | None = None) -> Floats:
        """H_e (size, n, 3): derivative of positions, and of rotations as world angular displacements [rad].

        It is written to `out`, zeros, if that is given.
        """
        out = np.zeros((self.size, *x.shape)) if out is None else out
        at = 0
        for k, rows in enumerate(self.rows):
            for axis in range(3):
                out[at + axis, self._nodes[k], axis] = self._weights[k]
            if rows == 6:
                near = self._around[k]
                assert near is not None
                nodes, arms = near
                rotation, stretch = self._polar(x, k)
                # world angular displacement: R Y^-1 sum_i (R^T dx_i seen by d_i as an axial vector), Y = tr(U) 1 - U
                inverse = np.linalg.inv(np.trace(stretch) * np.eye(3) - stretch)
                for node, arm in zip(nodes, arms, strict=True):
                    out[at + 3 : at + 6, node] += rotation @ inverse @ hat3(arm) @ rotation.T
            at += rows
        return out
