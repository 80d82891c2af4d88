"""Compiled laws of rubber in principal stretches, and fibres: energy, stress and exact tangent.

With C = sum l_i^2 N_i N_i, n_i = F N_i / l_i and t_i = dW/d(ln l_i), the principal second Piola-Kirchhoff stresses are
s_i = t_i / l_i^2. Between nodes with shape gradients a and b, of components a_i and b_i along N_i, the stiffness in the axes
n_i is

    l_i l_j (C_ij a_i b_j + g_ij a_j b_i) + delta_ij sum_k (l_i^2 g_ik + s_k) a_k b_k,      g_ii = 0,
    C_ij = (dt_i/d(ln l_j) - 2 t_i delta_ij) / (l_i l_j)^2,      g_ij = (s_j - s_i) / (l_j^2 - l_i^2).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from anguilla.compiler.jit import inline, kernel
from anguilla.fem.assembly import STIFFNESS, U, add_history, deformation, determinant, put
from anguilla.fem.hyperelastic import NUMBERS
from anguilla.fem.laws import gram
from anguilla.fem.mesh import Floats, Ints
from anguilla.mechanics.vec import matvec

__all__ = ["Families", "add_fibres", "assemble_rubber", "fibre_stresses", "rubber_stresses"]

# Places in the scratch array of a point.
MATRIX, AXES, TURNED, STRETCH, FORCE, SLOPE, SECOND, CURVE, CROSS, WORK = 0, 9, 18, 27, 30, 33, 42, 45, 54, 63
SWEEPS = 12
CLOSE = (
    1e-5  # squares of stretches nearer than this, over their sum, count as equal: the error is their distance squared
)


class Families(NamedTuple):
    """Fibres, element by element."""

    element: Ints  # (f,)
    along: Floats  # (f, 3) at rest
    stiffness: Floats  # (f,) [Pa]
    hardening: Floats  # (f,)


@inline
def _rotate(w, p, q):
    """One rotation of Jacobi's method on the matrix and the axes, which makes the element (p, q) zero."""
    apq = w[MATRIX + 3 * p + q]
    if apq == 0.0:
        return
    theta = (w[MATRIX + 4 * q] - w[MATRIX + 4 * p]) / (2.0 * apq)
    t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for k in range(3):
        u, v = w[MATRIX + 3 * k + p], w[MATRIX + 3 * k + q]
        w[MATRIX + 3 * k + p], w[MATRIX + 3 * k + q] = c * u - s * v, s * u + c * v
    for k in range(3):
        u, v = w[MATRIX + 3 * p + k], w[MATRIX + 3 * q + k]
        w[MATRIX + 3 * p + k], w[MATRIX + 3 * q + k] = c * u - s * v, s * u + c * v
        u, v = w[AXES + 3 * k + p], w[AXES + 3 * k + q]
        w[AXES + 3 * k + p], w[AXES + 3 * k + q] = c * u - s * v, s * u + c * v


@inline
def _principal(f, w):
    """Stretches, their axes N (columns) at rest and n (columns) in the world, of F."""
    c = gram(f)
    for k in range(9):
        w[MATRIX + k] = c[k]
        w[AXES + k] = 1.0 if k % 4 == 0 else 0.0
    for _ in range(SWEEPS):
        off = w[MATRIX + 1] * w[MATRIX + 1] + w[MATRIX + 2] * w[MATRIX + 2] + w[MATRIX + 5] * w[MATRIX + 5]
        size = w[MATRIX] * w[MATRIX] + w[MATRIX + 4] * w[MATRIX + 4] + w[MATRIX + 8] * w[MATRIX + 8]
        if off <= 1e-33 * size:
            break
        _rotate(w, 0, 1)
        _rotate(w, 0, 2)
        _rotate(w, 1, 2)
    for i in range(3):
        w[STRETCH + i] = math.sqrt(w[MATRIX + 4 * i])
        d = matvec(f, (w[AXES + i], w[AXES + 3 + i], w[AXES + 6 + i]))
        for k in range(3):
            w[TURNED + 3 * k + i] = d[k] / w[STRETCH + i]


@inline
def _law(numbers, e, bulk, p, averaged, w):
    """Energy density; t_i into FORCE and their slopes by ln l_j into SLOPE."""
    log = math.log(w[STRETCH] * w[STRETCH + 1] * w[STRETCH + 2])
    alpha, pressure, energy = bulk, bulk * log, 0.5 * bulk * log * log
    if averaged == 1:
        alpha, pressure, energy = 0.0, p, 0.0
    for i in range(3):
        w[FORCE + i] = pressure
        w[CROSS + i] = math.log(w[STRETCH + i]) - log / 3.0  # logarithms of the stretches at constant volume
        for j in range(3):
            w[SLOPE + 3 * i + j] = alpha
    for i in range(3):
        w[WORK + i] = math.exp(2.0 * w[CROSS + i])
    first = w[WORK] + w[WORK + 1] + w[WORK + 2]
    off = first - 3.0
    one, two, three = numbers[e, 0], numbers[e, 1], numbers[e, 2]
    energy += off * (one + off * (two + off * three))
    df, ddf = one + off * (2.0 * two + 3.0 * off * three), 2.0 * two + 6.0 * off * three
    for i in range(3):
        gi = 2.0 * (w[WORK + i] - first / 3.0)
        w[FORCE + i] += df * gi
        for j in range(3):
            gj = 2.0 * (w[WORK + j] - first / 3.0)
            unit = 2.0 / 3.0 if i == j else -1.0 / 3.0
            w[SLOPE + 3 * i + j] += ddf * gi * gj + df * (4.0 * w[WORK + i] * unit - 2.0 / 3.0 * gj)
    for term in range(3, NUMBERS, 2):
        mu, power = numbers[e, term], numbers[e, term + 1]
        if mu == 0.0:
            continue
        for i in range(3):
            w[WORK + i] = math.exp(power * w[CROSS + i])
        total = w[WORK] + w[WORK + 1] + w[WORK + 2]
        energy += mu / power * (total - 3.0)
        for i in range(3):
            w[FORCE + i] += mu * (w[WORK + i] - total / 3.0)
            for j in range(3):
                unit = 2.0 / 3.0 if i == j else -1.0 / 3.0
                w[SLOPE + 3 * i + j] += mu * power * (w[WORK + i] * unit - (w[WORK + j] - total / 3.0) / 3.0)
    return energy


@inline
def _second(w):
    """Principal second Piola-Kirchhoff stresses s_i, and the coefficients C_ij and g_ij of the tangent."""
    for i in range(3):
        w[SECOND + i] = w[FORCE + i] / (w[STRETCH + i] * w[STRETCH + i])
    for i in range(3):
        for j in range(3):
            li, lj = w[STRETCH + i] * w[STRETCH + i], w[STRETCH + j] * w[STRETCH + j]
            own = 2.0 * w[FORCE + i] if i == j else 0.0
            w[CURVE + 3 * i + j] = (w[SLOPE + 3 * i + j] - own) / (li * lj)
    total = w[STRETCH] * w[STRETCH] + w[STRETCH + 1] * w[STRETCH + 1] + w[STRETCH + 2] * w[STRETCH + 2]
    for i in range(3):
        for j in range(3):
            gap = w[STRETCH + j] * w[STRETCH + j] - w[STRETCH + i] * w[STRETCH + i]
            if i == j:
                w[CROSS + 3 * i + j] = 0.0
            elif abs(gap) > CLOSE * total:
                w[CROSS + 3 * i + j] = (w[SECOND + j] - w[SECOND + i]) / gap
            else:  # the mean of the limits from both sides
                w[CROSS + 3 * i + j] = 0.25 * (
                    w[CURVE + 4 * j] + w[CURVE + 4 * i] - w[CURVE + 3 * i + j] - w[CURVE + 3 * j + i]
                )


@inline
def _along(w, at, el, e, q, n):
    """Components of a shape gradient along the axes N into three places."""
    g = el.gradient
    for i in range(3):
        w[at + i] = g[e, q, n, 0] * w[AXES + i] + g[e, q, n, 1] * w[AXES + 3 + i] + g[e, q, n, 2] * w[AXES + 6 + i]


@inline
def _world(w, k):
    """n K n^T of a matrix K in the axes n."""
    out0, out1, out2, out3, out4, out5, out6, out7, out8 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        for j in range(3):
            v = w[k + 3 * i + j]
            x, y, z = v * w[TURNED + j], v * w[TURNED + 3 + j], v * w[TURNED + 6 + j]
            a, b, c = w[TURNED + i], w[TURNED + 3 + i], w[TURNED + 6 + i]
            out0, out1, out2 = out0 + a * x, out1 + a * y, out2 + a * z
            out3, out4, out5 = out3 + b * x, out4 + b * y, out5 + b * z
            out6, out7, out8 = out6 + c * x, out7 + c * y, out8 + c * z
    return out0, out1, out2, out3, out4, out5, out6, out7, out8


@inline
def _add_tangent(el, e, q, scale, w, blocks):
    """Add the tangent of one point to the blocks of its element."""
    A, B, K = WORK, WORK + 3, WORK + 6
    pair = 0
    for a in range(el.nodes.shape[1]):
        _along(w, A, el, e, q, a)
        for b in range(a, el.nodes.shape[1]):
            slot = el.slot[e, pair]
            pair += 1
            if slot < 0:
                continue
            _along(w, B, el, e, q, b)
            for i in range(3):
                for j in range(3):
                    both = w[CURVE + 3 * i + j] * w[A + i] * w[B + j] + w[CROSS + 3 * i + j] * w[A + j] * w[B + i]
                    w[K + 3 * i + j] = scale * w[STRETCH + i] * w[STRETCH + j] * both
                square, own = w[STRETCH + i] * w[STRETCH + i], 0.0
                for k in range(3):
                    own += (square * w[CROSS + 3 * i + k] + w[SECOND + k]) * w[A + k] * w[B + k]
                w[K + 4 * i] += scale * own
            put(blocks, slot, _world(w, K))


@kernel
def assemble_rubber(el, numbers, stars, x, pressure, gain, history, work, force, blocks, want):
    """As `assembly.assemble`, for laws of rubber: numbers (m, NUMBERS) of the elements, work (96,) is scratch."""
    averaged = 1 if len(stars.volume) > 0 else 0
    energy = 0.0
    points = el.weight.shape[1]
    for e in range(len(el.nodes)):
        p = 0.0
        if averaged == 1:
            for n in range(4):
                p += 0.25 * pressure[el.nodes[e, n]]
        for q in range(points):
            f = deformation(el.nodes, el.gradient, x, U(e), U(q))
            if not determinant(f) > 0.0:
                return energy, np.int64(e)
            _principal(f, work)
            weight = el.weight[e, q]
            energy += weight * _law(numbers, e, el.lam[e], p, averaged, work)
            _second(work)
            scaled = gain * weight
            for n in range(el.nodes.shape[1]):
                _along(work, WORK, el, e, q, n)
                for k in range(3):
                    total = 0.0
                    for i in range(3):  # P = sum t_i / l_i n_i N_i
                        total += work[FORCE + i] / work[STRETCH + i] * work[TURNED + 3 * k + i] * work[WORK + i]
                    force[el.nodes[e, n], k] += scaled * total
            if want == STIFFNESS:
                _add_tangent(el, e, q, scaled, work, blocks)
            if len(history) > 0:
                add_history(
                    el, np.int64(e), np.int64(q), weight, f, history, np.int64(e * points + q), force, blocks, want
                )
    return energy, np.int64(-1)


@kernel
def rubber_stresses(el, numbers, stars, x, pressure, work, out):
    """As `assembly.stresses`, for laws of rubber."""
    averaged = 1 if len(stars.volume) > 0 else 0
    points = el.weight.shape[1]
    for e in range(len(el.nodes)):
        p = 0.0
        if averaged == 1:
            for n in range(4):
                p += 0.25 * pressure[el.nodes[e, n]]
        for q in range(points):
            f = deformation(el.nodes, el.gradient, x, U(e), U(q))
            if not determinant(f) > 0.0:
                return e
            _principal(f, work)
            _law(numbers, e, el.lam[e], p, averaged, work)
            _second(work)
            for i in range(3):
                for j in range(3):
                    total = 0.0
                    for k in range(3):
                        total += work[SECOND + k] * work[AXES + 3 * i + k] * work[AXES + 3 * j + k]
                    out[e * points + q, 3 * i + j] = total
    return -1


@inline
def _pull(families, r, f):
    """(energy density, dW/dI4, d2W/dI4^2, F a0) of a family at F."""
    along = (families.along[r, 0], families.along[r, 1], families.along[r, 2])
    d = matvec(f, along)
    over = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - 1.0
    k, h = families.stiffness[r], families.hardening[r]
    energy, slope, curve = 0.0, 0.0, 0.0
    if over >= 0.0:
        grown = math.exp(h * over * over)
        energy = 0.5 * k * over * over if h == 0.0 else 0.5 * k / h * (grown - 1.0)
        slope, curve = k * over * grown, k * (1.0 + 2.0 * h * over * over) * grown
    return energy, slope, curve, along, d


@inline
def _dot(gradient, e, q, n, d):
    return gradient[e, q, n, 0] * d[0] + gradient[e, q, n, 1] * d[1] + gradient[e, q, n, 2] * d[2]


@kernel
def add_fibres(el, families, x, force, blocks, want):
    """Energy [J] of the fibres; adds their forces and tangents."""
    energy = 0.0
    for r in range(len(families.element)):
        e = families.element[r]
        for q in range(el.weight.shape[1]):
            f = deformation(el.nodes, el.gradient, x, U(e), U(q))
            w, slope, curve, along, d = _pull(families, r, f)
            if slope == 0.0 and curve == 0.0:
                continue
            weight = el.weight[e, q]
            energy += weight * w
            pair = 0
            for a in range(el.nodes.shape[1]):
                ua = _dot(el.gradient, e, q, a, along)
                for i in range(3):
                    force[el.nodes[e, a], i] += 2.0 * weight * slope * ua * d[i]
                if want != STIFFNESS:
                    continue
                for b in range(a, el.nodes.shape[1]):
                    slot = el.slot[e, pair]
                    pair += 1
                    if slot < 0:
                        continue
                    both = weight * ua * _dot(el.gradient, e, q, b, along)
                    for i in range(3):
                        blocks[slot, 4 * i] += 2.0 * slope * both
                        for j in range(3):
                            blocks[slot, 3 * i + j] += 4.0 * curve * both * d[i] * d[j]
    return energy


@kernel
def fibre_stresses(el, families, x, out):
    """Add the second Piola-Kirchhoff stress of the fibres to out (m * points, 9) [Pa]."""
    points = el.weight.shape[1]
    for r in range(len(families.element)):
        e = families.element[r]
        for q in range(points):
            f = deformation(el.nodes, el.gradient, x, U(e), U(q))
            _, slope, _, along, _ = _pull(families, r, f)
            for i in range(3):
                for j in range(3):
                    out[e * points + q, 3 * i + j] += 2.0 * slope * along[i] * along[j]
