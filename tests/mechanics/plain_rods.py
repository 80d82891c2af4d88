"""An independent model of a robot of rods, in plain NumPy: matrix exponentials, energies, Lagrange's equations.

It shares nothing with the kernels but the description and the place of the nodes. Poses are 4x4 matrices; an interval
turns by expm of its Magnus exponent; a derivative is a complex step, or the upper right block of
expm([[A, dA], [0, A]]). The kinetic energy of a node is 1/2 tr(g' J g'^T) with its pseudo-inertia J.
"""

from itertools import pairwise

import numpy as np
from scipy.linalg import expm

from anguilla.describe import STRAIN_NAMES
from anguilla.interact import DistributedWrench, Wrench

STEP = 1e-30  # of complex differentiation


def hat(xi):
    """se(3) matrix (..., 4, 4) of a strain or twist (..., 6), rotation first."""
    out = np.zeros((*xi.shape[:-1], 4, 4), dtype=xi.dtype)
    for (i, j), k, sign in [((2, 1), 0, 1), ((0, 2), 1, 1), ((1, 0), 2, 1)]:
        out[..., i, j], out[..., j, i] = sign * xi[..., k], -sign * xi[..., k]
    out[..., :3, 3] = xi[..., 3:]
    return out


def vee(matrix):
    """Rotation vector (..., 3) of the antisymmetric part of a matrix (..., 3, 3)."""
    m = 0.5 * (matrix - np.swapaxes(matrix, -1, -2))
    return np.stack([m[..., 2, 1], m[..., 0, 2], m[..., 1, 0]], axis=-1)


def commutator(a, b):
    return a @ b - b @ a


def strain_table(part, X, columns, size):
    """Linear map (m, 6, size) from all coordinates of a robot to the strains of one rod at X (m,)."""
    table = np.zeros((len(X), 6, size))
    at = columns.start
    for name, basis in part.rod.strains.items():
        table[:, STRAIN_NAMES.index(name), at : at + basis.size] = basis(X / part.length)
        at += basis.size
    return table


class PlainRobot:
    """Node poses, energies and equations of motion of a compiled robot, without its kernels."""

    def __init__(self, system):
        self.robot, self.layouts, self.size = system.robot, system.layout.rods, system.size
        self.rods = []
        for layout in self.layouts:
            X, rod = layout.grid.X, layout.part.rod
            h = np.diff(X)
            middle = 0.5 * (X[1:] + X[:-1])
            points = np.stack([middle - h / np.sqrt(12.0), middle + h / np.sqrt(12.0)], axis=1).ravel()
            table = strain_table(layout.part, points, layout.coordinates, self.size).reshape(-1, 2, 6, self.size)
            rest = rod.rest.strain(points).reshape(-1, 2, 6)
            j1, j2, j3, m = (layout.grid.weights[:, None] * rod.inertia(X)).T[:4]
            pseudo = np.stack([0.5 * (-j1 + j2 + j3), 0.5 * (j1 - j2 + j3), 0.5 * (j1 + j2 - j3), m], axis=1)
            self.rods.append((layout.part, X, h, table, rest, pseudo))
        self.stiffness = self._stiffness()

    def _stiffness(self):
        """Integral of B^T H B over all rods, by Gauss quadrature between breakpoints.

        The stress of a constant strain of an even rod is summed at the points of the intervals, where forces work on it:
        that makes a difference to modes of degree four and more.
        """
        out = np.zeros((self.size, self.size))
        x, w = np.polynomial.legendre.leggauss(40)
        for layout in self.layouts:
            part = layout.part
            ends = np.array([0.0, *part.rod.breakpoints, part.length])
            for a, b in pairwise(ends):
                X = a + 0.5 * (b - a) * (1.0 + x)
                table = strain_table(part, X, layout.coordinates, self.size)
                out += np.einsum("m,mk,mki,mkj->ij", 0.5 * (b - a) * w, part.rod.hooke(X), table, table)
        for part, X, h, table, _, _ in self.rods:
            if (
                any(basis.breakpoints for _, basis in part.rod.strains.items())
                or np.ptp(part.rod.hooke(X), axis=0).any()
            ):
                continue
            sums = np.einsum("m,k,mgki,mgkj->ij", 0.5 * h, part.rod.hooke(X)[0], table, table)
            at = next(layout.coordinates.start for layout in self.layouts if layout.part is part)
            for _, basis in part.rod.strains.items():
                if basis.degree > 3:
                    own = slice(at, at + basis.size)
                    out[at, own] = out[own, at] = sums[at, own]
                at += basis.size
        return out

    def motion(self, q, v):
        """Poses and their rates, one pair of arrays (..., m, 4, 4) per rod, for q, v (..., n), real or complex."""
        poses = []
        for part, _, h, table, rest, _ in self.rods:
            xi = hat(rest + np.einsum("kgsn,...n->...kgs", table, q))
            dxi = hat(np.einsum("kgsn,...n->...kgs", table, v))
            a, b, da, db = xi[..., 0, :, :], xi[..., 1, :, :], dxi[..., 0, :, :], dxi[..., 1, :, :]
            h2, c = 0.5 * h[:, None, None], np.sqrt(3.0) / 12.0 * h[:, None, None] ** 2
            exponent = h2 * (a + b) + c * commutator(a, b)
            rate = h2 * (da + db) + c * (commutator(da, b) + commutator(a, db))
            block = np.zeros((*exponent.shape[:-2], 8, 8), dtype=np.result_type(exponent, rate))
            block[..., :4, :4], block[..., 4:, 4:], block[..., :4, 4:] = exponent, exponent, rate
            block = expm(block)
            if part.parent.is_ground:
                g, dg = np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4)), np.zeros((*q.shape[:-1], 4, 4))
            else:
                host = self.rods[part.parent.part_index]
                k = int(np.argmin(np.abs(host[1] - part.parent.X)))
                g, dg = (array[..., k, :, :] for array in poses[part.parent.part_index])
            g, dg = g @ part.pose, dg @ part.pose
            gs, dgs = [g], [dg]
            for k in range(len(h)):
                e, de = block[..., k, :4, :4], block[..., k, :4, 4:]
                g, dg = g @ e, dg @ e + g @ de
                gs.append(g)
                dgs.append(dg)
            poses.append((np.stack(gs, axis=-3), np.stack(dgs, axis=-3)))
        return poses

    def kinetic(self, q, v):
        """T (...)."""
        total = 0.0
        for (_, dg), rod in zip(self.motion(q, v), self.rods, strict=True):
            total = total + 0.5 * np.einsum("...mij,mj,...mij->...", dg, rod[5], dg)
        return total

    def potential(self, q, t):
        """Elastic, gravitational and dead-force energy (...)."""
        total = 0.5 * np.einsum("...i,ij,...j->...", q, self.stiffness, q)
        gravity = self.robot.gravity_values([t])[0]
        poses = self.motion(q, np.zeros(self.size))
        for (g, _), rod in zip(poses, self.rods, strict=True):
            total = total - np.einsum("m,...mi,i->...", rod[5][:, 3], g[..., :3, 3], gravity)
        for k, place, _, force, follower in self._point_loads(t):
            if not follower:
                total = total - poses[k][0][..., place, :3, 3] @ force
        return total

    def _point_loads(self, t):
        """(rod, node, moment, force, follower) of all loads, distributed ones lumped by the quadrature of the grid."""
        for load in self.robot.loads:
            if isinstance(load, Wrench):
                k = load.frame.part_index
                node = int(np.argmin(np.abs(self.rods[k][1] - load.frame.X)))
                value = load.values([t])[0]
                yield k, node, value[:3], value[3:], load.follower
            elif isinstance(load, DistributedWrench):
                grid = self.layouts[load.part.index].grid
                values = load.values(grid.X, [t])[0] * grid.weights[:, None]
                for node, value in enumerate(values):
                    yield load.part.index, node, value[:3], value[3:], load.follower

    def _nonconservative(self, q, t):
        """Generalised forces (n,) of moments and of follower forces, by virtual work."""
        out = np.zeros(self.size)
        poses = self.motion(q + 1j * STEP * np.eye(self.size), np.zeros(self.size))
        for k, place, moment, force, follower in self._point_loads(t):
            g, dg = poses[k][0][0, place].real, poses[k][0][:, place].imag / STEP
            rotation = g[:3, :3]
            turn = vee(dg[:, :3, :3] @ rotation.T)  # world axes
            if follower:
                out += dg[:, :3, 3] @ (rotation @ force)
            out += turn @ (rotation @ moment if follower else moment)
        return out

    def momenta(self, q, v):
        """dT/dv (n,)."""
        return self.kinetic(np.broadcast_to(q, (self.size, self.size)), v + 1j * STEP * np.eye(self.size)).imag / STEP

    def lagrange(self, q, v, a, t=0.0):
        """d/dt dT/dv - dT/dq + dV/dq + D v - Q (n,), the time derivative by differences of sixth order."""
        h = 1e-3
        weights = {1: 0.75, 2: -0.15, 3: 1.0 / 60.0}
        momenta = lambda s: self.momenta(q + s * v + 0.5 * s * s * a, v + s * a)
        rate = sum(weight * (momenta(k * h) - momenta(-k * h)) for k, weight in weights.items()) / h
        varied = q + 1j * STEP * np.eye(self.size)
        lagrangian = self.kinetic(varied, np.broadcast_to(v, varied.shape)) - self.potential(varied, t)
        viscosity = np.zeros(self.size)
        for layout in self.layouts:
            viscosity[layout.coordinates] = layout.part.rod.material.damping
        damping = self.stiffness @ (viscosity * v)
        return rate - lagrangian.imag / STEP + damping - self._nonconservative(q, t)
