"""Compiled lines (tendons, strings) and closed surfaces (chambers): length or volume, gradient, and curvature.

A line is a chain of straight segments between guide points; the vector of a segment is a linear form of the nodes, sum of
w_i x_i plus a constant, so length, gradient and Hessian need nothing about elements (002 (5), (6)).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from anguilla._jit import inline, kernel
from anguilla.fem.mesh import Floats, Ints
from anguilla.mechanics.vec import cross, dot, load3


class Lines(NamedTuple):
    """Lines through the body."""

    segment_at: Ints  # (lines + 1,)
    part_at: Ints  # (segments + 1,)
    node: Ints  # nodes of each segment, increasing
    weight: Floats  # their weights in the vector of the segment, end minus start
    offset: Floats  # (segments, 3) constant part [m], of points fixed in the world
    slot_at: Ints  # (segments + 1,)
    slot: Ints  # blocks of the pairs of nodes of a segment, row by row of the upper triangle


class Surfaces(NamedTuple):
    """Closed surfaces; normals point out of the enclosed space."""

    triangle_at: Ints  # (surfaces + 1,)
    triangle: Ints  # (t, 3)
    slot: Ints  # (t, 6) blocks of (a,a), (b,b), (c,c), (a,b), (b,c), (c,a); the last three always with the smaller node first
    fluid: Floats  # (surfaces, 4) density [kg/m^3] of the fluid, and the place [m] where its pressure is the input


@inline
def _segment(lines, s, x):
    """(length, unit vector) of a segment."""
    a, b, c = lines.offset[s, 0], lines.offset[s, 1], lines.offset[s, 2]
    for i in range(lines.part_at[s], lines.part_at[s + 1]):
        n, w = lines.node[i], lines.weight[i]
        a += w * x[n, 0]
        b += w * x[n, 1]
        c += w * x[n, 2]
    length = math.sqrt(a * a + b * b + c * c)
    inverse = 1.0 / length if length > 0.0 else 0.0
    return length, (a * inverse, b * inverse, c * inverse)


@kernel
def lengths(lines, x, out):
    """Length of every line [m] into out (lines,)."""
    for k in range(len(lines.segment_at) - 1):
        out[k] = 0.0
        for s in range(lines.segment_at[k], lines.segment_at[k + 1]):
            length, _ = _segment(lines, s, x)
            out[k] += length


@kernel
def directions(lines, x, out):
    """Unit vector of every segment into out (segments, 3)."""
    for s in range(len(lines.part_at) - 1):
        _, d = _segment(lines, s, x)
        out[s, 0], out[s, 1], out[s, 2] = d[0], d[1], d[2]


@kernel
def add_line(lines, k, x, factor, share, row):
    """row (n, 3) += factor times the gradient of the length of line k, each segment counted `share` (segments,) times."""
    for s in range(lines.segment_at[k], lines.segment_at[k + 1]):
        _, d = _segment(lines, s, x)
        f = factor * share[s]
        for i in range(lines.part_at[s], lines.part_at[s + 1]):
            n, w = lines.node[i], f * lines.weight[i]
            row[n, 0] += w * d[0]
            row[n, 1] += w * d[1]
            row[n, 2] += w * d[2]


@kernel
def add_line_stiffness(lines, k, x, factor, share, blocks):
    """Blocks += factor times the Hessian of the length of line k: (1 - d d^T) / l for each segment."""
    for s in range(lines.segment_at[k], lines.segment_at[k + 1]):
        length, d = _segment(lines, s, x)
        if not length > 0.0:
            continue
        f = factor * share[s] / length
        slot = lines.slot_at[s]
        for i in range(lines.part_at[s], lines.part_at[s + 1]):
            for j in range(i, lines.part_at[s + 1]):
                block = lines.slot[slot]
                slot += 1
                if block < 0:
                    continue
                w = f * lines.weight[i] * lines.weight[j]
                for a in range(3):
                    for b in range(3):
                        blocks[block, 3 * a + b] -= w * d[a] * d[b]
                    blocks[block, 4 * a] += w


@kernel
def volumes(surfaces, x, out):
    """Enclosed volumes [m^3] into out (surfaces,)."""
    for k in range(len(surfaces.triangle_at) - 1):
        total = 0.0
        for t in range(surfaces.triangle_at[k], surfaces.triangle_at[k + 1]):
            tri = surfaces.triangle
            a, b, c = load3(x, tri[t, 0], 0), load3(x, tri[t, 1], 0), load3(x, tri[t, 2], 0)
            total += dot(a, cross(b, c)) / 6.0
        out[k] = total


@kernel
def add_volume(surfaces, k, x, factor, row):
    """row (n, 3) += factor times the gradient of the volume inside surface k."""
    f = factor / 6.0
    tri = surfaces.triangle
    for t in range(surfaces.triangle_at[k], surfaces.triangle_at[k + 1]):
        a, b, c = load3(x, tri[t, 0], 0), load3(x, tri[t, 1], 0), load3(x, tri[t, 2], 0)
        u, v, w = cross(b, c), cross(c, a), cross(a, b)
        for i in range(3):
            row[tri[t, 0], i] += f * u[i]
            row[tri[t, 1], i] += f * v[i]
            row[tri[t, 2], i] += f * w[i]


@inline
def _add_skew(blocks, block, s, a):
    """Add s [a]x to a block."""
    if block >= 0:
        blocks[block, 1] -= s * a[2]
        blocks[block, 2] += s * a[1]
        blocks[block, 3] += s * a[2]
        blocks[block, 5] -= s * a[0]
        blocks[block, 6] -= s * a[1]
        blocks[block, 7] += s * a[0]


@inline
def _add_outer(blocks, block, u, v):
    """Add u v^T to a block."""
    if block >= 0:
        for i in range(3):
            for j in range(3):
                blocks[block, 3 * i + j] += u[i] * v[j]


@kernel
def add_fluid(surfaces, k, x, pressure, gravity, force, blocks, stiffness):
    """The fluid in surface k: returns its potential energy [J]; adds gradient to force (n, 3) and curvature to blocks.

    Energy - (p V + rho int g . (x - x0) dV): a closed surface makes pressure and weight conservative. Hydraulic weight as in
    002 II-C.
    """
    rho = surfaces.fluid[k, 0]
    origin = load3(surfaces.fluid, k, 1)
    level = dot(gravity, origin)
    quarter = (0.25 * gravity[0], 0.25 * gravity[1], 0.25 * gravity[2])
    tri, slot = surfaces.triangle, surfaces.slot
    energy = 0.0
    for t in range(surfaces.triangle_at[k], surfaces.triangle_at[k + 1]):
        i, j, l = tri[t, 0], tri[t, 1], tri[t, 2]
        a, b, c = load3(x, i, 0), load3(x, j, 0), load3(x, l, 0)
        u, v, w = cross(b, c), cross(c, a), cross(a, b)
        volume = dot(a, u) / 6.0
        head = dot(quarter, a) + dot(quarter, b) + dot(quarter, c) - level
        p = pressure + rho * head
        energy -= volume * p
        f, g = -p / 6.0, -rho * volume
        for m in range(3):
            force[i, m] += f * u[m] + g * quarter[m]
            force[j, m] += f * v[m] + g * quarter[m]
            force[l, m] += f * w[m] + g * quarter[m]
        if stiffness == 1:
            # d2 V / da db = -[c]x / 6 and cyclic; the stored block has the smaller node first
            _add_skew(blocks, slot[t, 3], (-f if i < j else f), c)
            _add_skew(blocks, slot[t, 4], (-f if j < l else f), a)
            _add_skew(blocks, slot[t, 5], (-f if l < i else f), b)
            if rho != 0.0:
                s = -rho / 6.0
                us, vs, ws = (
                    (s * u[0], s * u[1], s * u[2]),
                    (s * v[0], s * v[1], s * v[2]),
                    (s * w[0], s * w[1], s * w[2]),
                )
                _add_outer(blocks, slot[t, 0], us, quarter)
                _add_outer(blocks, slot[t, 0], quarter, us)
                _add_outer(blocks, slot[t, 1], vs, quarter)
                _add_outer(blocks, slot[t, 1], quarter, vs)
                _add_outer(blocks, slot[t, 2], ws, quarter)
                _add_outer(blocks, slot[t, 2], quarter, ws)
                for side in range(3):
                    first, second = (us, vs) if side == 0 else ((vs, ws) if side == 1 else (ws, us))
                    m, n = (i, j) if side == 0 else ((j, l) if side == 1 else (l, i))
                    if m > n:
                        first, second = second, first
                    _add_outer(blocks, slot[t, 3 + side], first, quarter)
                    _add_outer(blocks, slot[t, 3 + side], quarter, second)
    return energy
