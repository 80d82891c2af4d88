"""Compiled lines (tendons, strings) and closed surfaces (chambers): length or volume, gradient, and curvature.

A line is a chain of straight segments between guide points; the vector of a segment is a linear form of the nodes, sum of
w_i x_i plus a constant, so length, gradient and Hessian need nothing about elements (002 (5), (6)).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from anguilla.compiler.jit import inline, kernel
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
    """Closed surfaces of faces with k = 3 or 6 nodes; normals point out of the enclosed space. See `faces`."""

    face_at: Ints  # (surfaces + 1,)
    face: Ints  # (f, k) nodes
    kind: Ints  # (f,) which terms make up the volume behind a face
    slot: Ints  # (f, k, k) block of each pair of nodes, which has the smaller node first
    term_at: Ints  # (kinds + 1,)
    term: Ints  # (t, 3) places in the face of the nodes of a determinant
    weight: Floats  # (t,) its part in the volume
    lift: Floats  # (t, k) its part in the first moment of the volume, for each node
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
def add_weight(weights, gravity, x, gradient):
    """Energy [J] of the weight of nodes of masses (n,) [kg] in gravity (3,) [m/s^2]; its slope is added."""
    a, b, c = gravity[0], gravity[1], gravity[2]
    energy = 0.0
    for n in range(len(weights)):
        energy -= weights[n] * (a * x[n, 0] + b * x[n, 1] + c * x[n, 2])
        gradient[n, 0] -= weights[n] * a
        gradient[n, 1] -= weights[n] * b
        gradient[n, 2] -= weights[n] * c
    return energy


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


@inline
def _stiffen(lines, s, factor, d, blocks):
    """Blocks += factor (1 - d d^T) for all pairs of nodes of a segment."""
    slot = lines.slot_at[s]
    for i in range(lines.part_at[s], lines.part_at[s + 1]):
        for j in range(i, lines.part_at[s + 1]):
            block = lines.slot[slot]
            slot += 1
            if block < 0:
                continue
            w = factor * lines.weight[i] * lines.weight[j]
            for a in range(3):
                for b in range(3):
                    blocks[block, 3 * a + b] -= w * d[a] * d[b]
                blocks[block, 4 * a] += w


@kernel
def pull_lines(lines, x, tension, share, gradient, blocks, stiffness):
    """Energy [J] of the first lines under tension (k,) [N]; its slope is added, and with stiffness its curvature.

    Each segment has a part `share` (segments,) of the tension; the Hessian of its length l is (1 - d d^T) / l.
    """
    energy = 0.0
    for k in range(len(tension)):
        if tension[k] == 0.0:
            continue
        for s in range(lines.segment_at[k], lines.segment_at[k + 1]):
            length, d = _segment(lines, s, x)
            energy += tension[k] * length
            f = tension[k] * share[s]
            for i in range(lines.part_at[s], lines.part_at[s + 1]):
                n, w = lines.node[i], f * lines.weight[i]
                gradient[n, 0] += w * d[0]
                gradient[n, 1] += w * d[1]
                gradient[n, 2] += w * d[2]
            if stiffness == 1 and length > 0.0:
                _stiffen(lines, s, f / length, d, blocks)
    return energy


@kernel
def volumes(surfaces, x, out):
    """Enclosed volumes [m^3] into out (surfaces,)."""
    for k in range(len(surfaces.face_at) - 1):
        total = 0.0
        for f in range(surfaces.face_at[k], surfaces.face_at[k + 1]):
            node = surfaces.face[f]
            for t in range(surfaces.term_at[surfaces.kind[f]], surfaces.term_at[surfaces.kind[f] + 1]):
                i, j, l = surfaces.term[t, 0], surfaces.term[t, 1], surfaces.term[t, 2]
                a, b, c = load3(x, node[i], 0), load3(x, node[j], 0), load3(x, node[l], 0)
                total += surfaces.weight[t] * dot(a, cross(b, c))
        out[k] = total


@kernel
def add_volume(surfaces, k, x, factor, row):
    """row (n, 3) += factor times the gradient of the volume inside surface k."""
    for f in range(surfaces.face_at[k], surfaces.face_at[k + 1]):
        node = surfaces.face[f]
        for t in range(surfaces.term_at[surfaces.kind[f]], surfaces.term_at[surfaces.kind[f] + 1]):
            i, j, l = node[surfaces.term[t, 0]], node[surfaces.term[t, 1]], node[surfaces.term[t, 2]]
            a, b, c = load3(x, i, 0), load3(x, j, 0), load3(x, l, 0)
            u, v, w = cross(b, c), cross(c, a), cross(a, b)
            part = factor * surfaces.weight[t]
            for m in range(3):
                row[i, m] += part * u[m]
                row[j, m] += part * v[m]
                row[l, m] += part * w[m]


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
def _add_outer(blocks, block, s, u, v):
    """Add s u v^T to a block."""
    if block >= 0:
        for i in range(3):
            for j in range(3):
                blocks[block, 3 * i + j] += s * u[i] * v[j]


@inline
def _add_weight(surfaces, f, t, gravity, s, det, grads, force, blocks, stiffness):
    """The part s (g . x_d) det of the energy that differs by x_d: its gradient, and with stiffness its mixed curvature."""
    for d in range(surfaces.face.shape[1]):
        part = s * surfaces.lift[t, d]
        if part == 0.0:
            continue
        n = surfaces.face[f, d]
        for m in range(3):
            force[n, m] += part * det * gravity[m]
        if stiffness == 1:
            for e in range(3):
                o = surfaces.face[f, surfaces.term[t, e]]
                block = surfaces.slot[f, d, surfaces.term[t, e]]
                if n <= o:
                    _add_outer(blocks, block, part, gravity, grads[e])
                if o <= n:
                    _add_outer(blocks, block, part, grads[e], gravity)


@kernel
def add_fluid(surfaces, k, x, pressure, gravity, force, blocks, stiffness):
    """The fluid in surface k: returns its potential energy [J]; adds gradient to force (n, 3) and curvature to blocks.

    Energy - (p V + rho int g . (x - x0) dV): a closed surface makes pressure and weight conservative. Hydraulic weight as in
    002 II-C.
    """
    rho = surfaces.fluid[k, 0]
    level = pressure - rho * dot(gravity, load3(surfaces.fluid, k, 1))
    nodes = surfaces.face.shape[1]
    energy = 0.0
    for f in range(surfaces.face_at[k], surfaces.face_at[k + 1]):
        node, slot = surfaces.face[f], surfaces.slot[f]
        for t in range(surfaces.term_at[surfaces.kind[f]], surfaces.term_at[surfaces.kind[f] + 1]):
            p, q, r = surfaces.term[t, 0], surfaces.term[t, 1], surfaces.term[t, 2]
            i, j, l = node[p], node[q], node[r]
            a, b, c = load3(x, i, 0), load3(x, j, 0), load3(x, l, 0)
            u, v, w = cross(b, c), cross(c, a), cross(a, b)
            det = dot(a, u)
            s = -surfaces.weight[t] * level
            if rho != 0.0:
                for d in range(nodes):
                    s -= rho * surfaces.lift[t, d] * dot(gravity, load3(x, node[d], 0))
                _add_weight(surfaces, f, t, gravity, -rho, det, (u, v, w), force, blocks, stiffness)
            energy += s * det
            for m in range(3):
                force[i, m] += s * u[m]
                force[j, m] += s * v[m]
                force[l, m] += s * w[m]
            if stiffness == 1:
                # d2 det / da db = -[c]x and cyclic; the stored block has the smaller node first
                _add_skew(blocks, slot[p, q], (-s if i < j else s), c)
                _add_skew(blocks, slot[q, r], (-s if j < l else s), a)
                _add_skew(blocks, slot[r, p], (-s if l < i else s), b)
    return energy
