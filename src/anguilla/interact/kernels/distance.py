"""Shapes: the signed distance of a point from a surface, its gradient and its curvature.

A shape is a row of constants, in the axes in which points are given: those of the world for obstacles, of a body for what it
carries. The distance is negative in the solid. n is its exact gradient, out of the solid, and N = dn/dx the exact second
derivative; N is symmetric. n is a unit vector for all shapes but grids, where it is that of the interpolant: a unit vector
but for the error of interpolation. So forces k g n, with g a function of the distance, always come from an energy.

Boxes and cylinders are a smaller core, all of whose points within `ROUND` belong to the solid: n is continuous but in the
core, where it points to the nearest face. Grids are interpolated by cubic B-splines, twice differentiable. Beyond its box the
distance of a grid is sqrt(d^2 + o^2), with d that at the nearest point of the box and o the distance from there: not more
than the true one, because boxes are convex. (Where d < 0, in solids that a grid cuts off, it is d + o.)
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, kernel, part
from anguilla.mechanics.vec import (
    axpy,
    dot,
    iso_hat,
    load3,
    load9,
    matmul,
    matvec,
    maxpy,
    mscale,
    outer_add,
    scale,
    store3,
    store9,
    sub,
    tmatvec,
    transpose,
)

# Columns of a row. Point and axes of the shape (rows of a rotation; a half-space has the normal as first axis, and no point)
POINT, AXES, SHAPE, SIDE, SIZE = 0, 3, 12, 13, 14
ROUND = SIZE + 3
SHAPE_SIZE = 19  # columns
# Values of SHAPE, with what stands from SIZE on. The first axis is that of pillars, capsules and cylinders.
HALF_SPACE = 0.0  # offset along the normal
SPHERE = 1.0  # radius
PILLAR = 2.0  # radius
CAPSULE = 3.0  # radius, half of the length of its axis
BOX = 4.0  # three half widths of the core; ROUND
CYLINDER = 5.0  # radius and half length of the core; ROUND
GRID = 6.0  # first place in the flat array, three numbers of points, spacing; POINT is the first point of the grid
# SIDE is 1 for a solid, -1 for a hollow one: all around is solid. The flat array holds the coefficients of splines, one more
# than points at both ends of each direction, the last direction running fastest.


@inline
def _away(x, data, k):
    """Vector to x from the nearest point of the centre or axis of a round shape, and whether it is across the axis."""
    y, kind, across = sub(x, load3(data, k, POINT)), data[k, SHAPE], False
    if kind != SPHERE:
        axis = load3(data, k, AXES)
        t = dot(axis, y)
        half = data[k, SIZE + 1] if kind == CAPSULE else math.inf
        across = abs(t) < half
        y = axpy(-min(max(t, -half), half), axis, y)
    return y, across


@inline
def _length(a):
    return max(math.sqrt(dot(a, a)), 1e-150)


@part
def _box(y, b):
    """Distance from the surface of a box of half widths b, and gradient, in its axes."""
    q = abs(y[0]) - b[0], abs(y[1]) - b[1], abs(y[2]) - b[2]
    s = math.copysign(1.0, y[0]), math.copysign(1.0, y[1]), math.copysign(1.0, y[2])
    if max(q[0], q[1], q[2]) > 0.0:
        o = s[0] * max(q[0], 0.0), s[1] * max(q[1], 0.0), s[2] * max(q[2], 0.0)
        r = _length(o)
        return r, scale(1.0 / r, o)
    if q[0] >= q[1] and q[0] >= q[2]:
        return q[0], (s[0], 0.0, 0.0)
    if q[1] >= q[2]:
        return q[1], (0.0, s[1], 0.0)
    return q[2], (0.0, 0.0, s[2])


@part
def _box_curvature(y, b):
    """Second derivative of `_box`."""
    q = max(abs(y[0]) - b[0], 0.0), max(abs(y[1]) - b[1], 0.0), max(abs(y[2]) - b[2], 0.0)
    n = _box(y, b)[1]
    if q[0] + q[1] + q[2] == 0.0:
        return iso_hat(0.0, 0.0, n)
    inside = 1.0 if q[0] > 0.0 else 0.0, 1.0 if q[1] > 0.0 else 0.0, 1.0 if q[2] > 0.0 else 0.0
    D = inside[0], 0.0, 0.0, 0.0, inside[1], 0.0, 0.0, 0.0, inside[2]
    return mscale(1.0 / _length(q), outer_add(-1.0, n, n, D))


@part
def _cylinder(y, radius, half):
    """Distance from the surface of a cylinder with flat ends along the first axis, and gradient, in its axes."""
    r = max(math.sqrt(y[1] * y[1] + y[2] * y[2]), 1e-150)
    q, p, s = r - radius, abs(y[0]) - half, math.copysign(1.0, y[0])
    u, w = y[1] / r, y[2] / r
    if max(q, p) <= 0.0:
        return (q, (0.0, u, w)) if q >= p else (p, (s, 0.0, 0.0))
    q, p = max(q, 0.0), max(p, 0.0)
    away = max(math.sqrt(q * q + p * p), 1e-150)
    return away, (s * p / away, u * q / away, w * q / away)


@part
def _cylinder_curvature(y, radius, half):
    """Second derivative of `_cylinder`: along the ring, and around the edge."""
    away, n = _cylinder(y, radius, half)
    r = max(math.sqrt(y[1] * y[1] + y[2] * y[2]), 1e-150)
    u, w = y[1] / r, y[2] / r
    level = n[1] * u + n[2] * w
    ring = outer_add(level / r, (0.0, -w, u), (0.0, -w, u), iso_hat(0.0, 0.0, n))
    if r > radius and abs(y[0]) > half:
        edge = level, -n[0] * u, -n[0] * w
        ring = outer_add(1.0 / away, edge, edge, ring)
    return ring


@inline
def _weights(t):
    """Four cubic B-splines at t in [0, 1] of a cell."""
    s = 1.0 - t
    return (
        s * s * s / 6.0,
        (4.0 - 3.0 * t * t * (1.0 + s)) / 6.0,
        (4.0 - 3.0 * s * s * (1.0 + t)) / 6.0,
        t * t * t / 6.0,
    )


@inline
def _slopes(t):
    """Their first derivatives."""
    s = 1.0 - t
    return -0.5 * s * s, 0.5 * t * (3.0 * t - 4.0), 0.5 * s * (4.0 - 3.0 * s), 0.5 * t * t


@inline
def _bends(t):
    """Their second derivatives."""
    return 1.0 - t, 3.0 * t - 2.0, 1.0 - 3.0 * t, t


@inline
def _four(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@inline
def _line(grid, at):
    return grid[at], grid[at + 1], grid[at + 2], grid[at + 3]


@part
def _sheet(grid, at, stride, wy, dy, wz, dz):
    """Value of the splines on one layer of a cell, and its derivatives along the layer."""
    a, b = _line(grid, at), _line(grid, at + stride)
    c, d = _line(grid, at + 2 * stride), _line(grid, at + 3 * stride)
    f = _four(a, wz), _four(b, wz), _four(c, wz), _four(d, wz)
    return _four(f, wy), _four(f, dy), _four((_four(a, dz), _four(b, dz), _four(c, dz), _four(d, dz)), wy)


@part
def _sheet_bends(grid, at, stride, ty, tz):
    """The six values of one layer: f, fy, fz, fyy, fyz, fzz."""
    wy, dy, by, wz, dz, bz = _weights(ty), _slopes(ty), _bends(ty), _weights(tz), _slopes(tz), _bends(tz)
    a, b = _line(grid, at), _line(grid, at + stride)
    c, d = _line(grid, at + 2 * stride), _line(grid, at + 3 * stride)
    f = _four(a, wz), _four(b, wz), _four(c, wz), _four(d, wz)
    g = _four(a, dz), _four(b, dz), _four(c, dz), _four(d, dz)
    h = _four(a, bz), _four(b, bz), _four(c, bz), _four(d, bz)
    return _four(f, wy), _four(f, dy), _four(g, wy), _four(f, by), _four(g, dy), _four(h, wy)


@inline
def _inside(y, data, k):
    """The place of the box of a grid that is nearest to y, in its axes."""
    h, n = data[k, SIZE + 4], load3(data, k, SIZE + 1)
    return (
        min(max(y[0], 0.0), h * (n[0] - 1.0)),
        min(max(y[1], 0.0), h * (n[1] - 1.0)),
        min(max(y[2], 0.0), h * (n[2] - 1.0)),
    )


@inline
def _cell(u, count):
    """Cell of a place u >= 0 along a grid, in spacings, and the place in the cell."""
    i = min(math.floor(u), count - 2.0)
    return int(i), u - i


@inline
def _found(p, data, k):
    """First coefficient that counts at a place p of a grid, places in the cell, coefficients of a line and of a layer."""
    h, n = data[k, SIZE + 4], load3(data, k, SIZE + 1)
    i, tx = _cell(p[0] / h, n[0])
    j, ty = _cell(p[1] / h, n[1])
    l, tz = _cell(p[2] / h, n[2])
    line = int(n[2]) + 2
    layer = line * (int(n[1]) + 2)
    return int(data[k, SIZE]) + i * layer + j * line + l, (tx, ty, tz), line, layer


@part
def _spline(y, data, k, grid):
    """Distance and gradient of a grid at a place in its axes."""
    p, h = _inside(y, data, k), data[k, SIZE + 4]
    at, t, line, layer = _found(p, data, k)
    wy, dy, wz, dz = _weights(t[1]), _slopes(t[1]), _weights(t[2]), _slopes(t[2])
    a, b = _sheet(grid, at, line, wy, dy, wz, dz), _sheet(grid, at + layer, line, wy, dy, wz, dz)
    c, d = _sheet(grid, at + 2 * layer, line, wy, dy, wz, dz), _sheet(grid, at + 3 * layer, line, wy, dy, wz, dz)
    wx, f = _weights(t[0]), (a[0], b[0], c[0], d[0])
    g = _four(f, _slopes(t[0])) / h, _four((a[1], b[1], c[1], d[1]), wx) / h, _four((a[2], b[2], c[2], d[2]), wx) / h
    d, o = _four(f, wx), sub(y, p)
    r = math.sqrt(dot(o, o))
    if r == 0.0:
        return d, g
    g = 0.0 if o[0] != 0.0 else g[0], 0.0 if o[1] != 0.0 else g[1], 0.0 if o[2] != 0.0 else g[2]
    if d <= 0.0:
        return d + r, axpy(1.0 / r, o, g)
    away = math.sqrt(d * d + r * r)
    return away, scale(1.0 / away, axpy(d, g, o))


@part
def _spline_curvature(y, data, k, grid):
    """Second derivative of `_spline`."""
    p, h = _inside(y, data, k), data[k, SIZE + 4]
    at, t, line, layer = _found(p, data, k)
    a, b = _sheet_bends(grid, at, line, t[1], t[2]), _sheet_bends(grid, at + layer, line, t[1], t[2])
    c, e = _sheet_bends(grid, at + 2 * layer, line, t[1], t[2]), _sheet_bends(grid, at + 3 * layer, line, t[1], t[2])
    wx, dx, s = _weights(t[0]), _slopes(t[0]), 1.0 / (h * h)
    xx, xy = _four((a[0], b[0], c[0], e[0]), _bends(t[0])) * s, _four((a[1], b[1], c[1], e[1]), dx) * s
    xz, yy = _four((a[2], b[2], c[2], e[2]), dx) * s, _four((a[3], b[3], c[3], e[3]), wx) * s
    yz, zz = _four((a[4], b[4], c[4], e[4]), wx) * s, _four((a[5], b[5], c[5], e[5]), wx) * s
    o = sub(y, p)
    if dot(o, o) == 0.0:
        return xx, xy, xz, xy, yy, yz, xz, yz, zz
    # beyond the box only what lies along it changes, and the way from it
    fx, fy, fz = 1.0 if o[0] == 0.0 else 0.0, 1.0 if o[1] == 0.0 else 0.0, 1.0 if o[2] == 0.0 else 0.0
    xy, xz, yz = fx * fy * xy, fx * fz * xz, fy * fz * yz
    H = fx * xx, xy, xz, xy, fy * yy, yz, xz, yz, fz * zz
    Q = 1.0 - fx, 0.0, 0.0, 0.0, 1.0 - fy, 0.0, 0.0, 0.0, 1.0 - fz
    d, r = _four((a[0], b[0], c[0], e[0]), wx), _length(o)
    if d <= 0.0:
        return maxpy(1.0 / r, outer_add(-1.0 / (r * r), o, o, Q), H)
    g = (
        fx * _four((a[0], b[0], c[0], e[0]), dx) / h,
        fy * _four((a[1], b[1], c[1], e[1]), wx) / h,
        fz * _four((a[2], b[2], c[2], e[2]), wx) / h,
    )
    away = math.sqrt(d * d + r * r)
    n = scale(1.0 / away, axpy(d, g, o))
    return mscale(1.0 / away, outer_add(-1.0, n, n, outer_add(1.0, g, g, maxpy(d, H, Q))))


@inline
def _is_round(kind):
    """Whether the nearest point of a centre or an axis tells it all."""
    return kind == SPHERE or kind == PILLAR or kind == CAPSULE


@part
def _other_distance(x, data, k, grid):
    """Distance and gradient of boxes, cylinders and grids."""
    axes, kind, side = load9(data, k, AXES), data[k, SHAPE], data[k, SIDE]
    y = matvec(axes, sub(x, load3(data, k, POINT)))
    if kind == BOX:
        d, n = _box(y, load3(data, k, SIZE))
        d -= data[k, ROUND]
    elif kind == CYLINDER:
        d, n = _cylinder(y, data[k, SIZE], data[k, SIZE + 1])
        d -= data[k, ROUND]
    else:
        d, n = _spline(y, data, k, grid)
    return side * d, scale(side, tmatvec(axes, n))


@part
def _other_curvature(x, data, k, grid):
    """Second derivative of `_other_distance`."""
    axes, kind = load9(data, k, AXES), data[k, SHAPE]
    y = matvec(axes, sub(x, load3(data, k, POINT)))
    if kind == BOX:
        N = _box_curvature(y, load3(data, k, SIZE))
    elif kind == CYLINDER:
        N = _cylinder_curvature(y, data[k, SIZE], data[k, SIZE + 1])
    else:
        N = _spline_curvature(y, data, k, grid)
    return mscale(data[k, SIDE], matmul(transpose(axes), matmul(N, axes)))


@inline
def shape_distance(x, data, k, grid):
    """Distance of a point x from the surface of the shape data[k], negative in the solid, and its gradient n."""
    if data[k, SHAPE] == HALF_SPACE:
        n = load3(data, k, AXES)
        return dot(n, x) - data[k, SIZE], n
    if _is_round(data[k, SHAPE]):
        y = _away(x, data, k)[0]
        r, side = _length(y), data[k, SIDE]
        return side * (r - data[k, SIZE]), scale(side / r, y)
    return _other_distance(x, data, k, grid)


@inline
def shape_curvature(x, n, data, k, grid):
    """N = dn/dx at the point x, where `shape_distance` gave n."""
    if data[k, SHAPE] == HALF_SPACE:
        return iso_hat(0.0, 0.0, n)
    if _is_round(data[k, SHAPE]):
        y, across = _away(x, data, k)
        flat = outer_add(-1.0, n, n, iso_hat(1.0, 0.0, n))
        if across:
            axis = load3(data, k, AXES)
            flat = outer_add(-1.0, axis, axis, flat)
        return mscale(data[k, SIDE] / _length(y), flat)
    return _other_curvature(x, data, k, grid)


@kernel
def distances(points, data, grid, distance, normal, curvature):
    """Distances (m,), gradients (m, 3) and second derivatives (m, 9) of points (m, 3) from the shape data[0]."""
    for i in range(len(points)):
        x = load3(points, i, 0)
        distance[i], n = shape_distance(x, data, 0, grid)
        store3(normal, i, 0, n)
        store9(curvature, i, 0, shape_curvature(x, n, data, 0, grid))
