"""Points against a surface of triangles that deforms: the closest place, and what the two do to each other.

A point p touches where it lies behind the closest place c of the surface: inside a triangle, on an edge or at a corner. Its
depth d is the distance |p - c|, so that d is continuous, and all of its force f n, with n = (c - p) / d, comes from an energy
of the depth. Edges and corners have normals of their own, which tell on which side of them p lies.

Friction is a force t along the plane of the triangle, with normal m. It acts on p, which is seen from the triangle at

    p = sum_j b_j x_j - e m,    so that corner j feels   -b_j t - e (t . g_j) m,    g_j = grad b_j:

forces and moments are those of -t at p. Bristles are rooted in a point r that goes with a triangle in the same way.

Forces depend on seven points: p, the corners of the triangle, and those of the one that the bristle is rooted in. They are
written for complex numbers: a small imaginary part of one coordinate gives exact derivatives, without differences.
"""

from __future__ import annotations

import math

import numpy as np

from anguilla.compiler.jit import inline, kernel, part
from anguilla.fem.pressing import DAMPING, FRICTION, HOLDS, SLIDES, SMOOTH, STIFFNESS, point_place
from anguilla.interact.kernels.contact import GRIP, damped, pressed, stored
from anguilla.mechanics.vec import add, axpy, cross, dot, load3, scale, store3, sub

# What of a triangle is closest: the inside, its edges ab, bc, ca, its corners a, b, c
INSIDE, EDGE, CORNER = 0, 1, 4
SHARP = 1e-60  # imaginary step: its square is nothing


@inline
def _face(x, faces, f):
    """Corners of a triangle."""
    return load3(x, faces[f, 0], 0), load3(x, faces[f, 1], 0), load3(x, faces[f, 2], 0)


@inline
def _unit(a):
    return scale(1.0 / max(math.sqrt(dot(a, a)), 1e-300), a)


@inline
def _angle(a, b):
    c = cross(a, b)
    return math.atan2(math.sqrt(dot(c, c)), dot(a, b))


@kernel
def normals(x, faces, normal, around):
    """Unit normals (f, 3) of triangles, and those of corners (n, 3): the sum of the former weighted with their angles."""
    around[:] = 0.0
    for f in range(len(faces)):
        a, b, c = _face(x, faces, f)
        ab, bc, ca = sub(b, a), sub(c, b), sub(a, c)
        n = _unit(cross(ab, bc))
        store3(normal, f, 0, n)
        angle = _angle(ab, scale(-1.0, ca)), _angle(bc, scale(-1.0, ab)), _angle(ca, scale(-1.0, bc))
        for k in range(3):
            i = faces[f, k]
            store3(around, i, 0, axpy(angle[k], n, load3(around, i, 0)))


@kernel
def boxes(x, faces, start, box):
    """Boxes (nodes, 6) around the triangles of a binary tree: those of leaf l are start[l] to start[l + 1]."""
    leaves = len(start) - 1
    for node in range(len(box) - 1, -1, -1):
        for i in range(3):
            box[node, i], box[node, 3 + i] = math.inf, -math.inf
        if node >= leaves - 1:
            leaf = node - leaves + 1
            for f in range(start[leaf], start[leaf + 1]):
                for k in range(3):
                    for i in range(3):
                        box[node, i] = min(box[node, i], x[faces[f, k], i])
                        box[node, 3 + i] = max(box[node, 3 + i], x[faces[f, k], i])
        else:
            for child in (2 * node + 1, 2 * node + 2):
                for i in range(3):
                    box[node, i] = min(box[node, i], box[child, i])
                    box[node, 3 + i] = max(box[node, 3 + i], box[child, 3 + i])


@inline
def _far(p, box, node):
    """Square of the distance of a point from a box."""
    u = max(box[node, 0] - p[0], p[0] - box[node, 3], 0.0)
    v = max(box[node, 1] - p[1], p[1] - box[node, 4], 0.0)
    w = max(box[node, 2] - p[2], p[2] - box[node, 5], 0.0)
    return u * u + v * v + w * w


@part
def _closest(p, a, b, c):
    """(What of a triangle is closest to p, the place there)."""
    ab, ac, ap = sub(b, a), sub(c, a), sub(p, a)
    d1, d2 = dot(ab, ap), dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return CORNER, a
    bp = sub(p, b)
    d3, d4 = dot(ab, bp), dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return CORNER + 1, b
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return EDGE, axpy(d1 / (d1 - d3), ab, a)
    cp = sub(p, c)
    d5, d6 = dot(ab, cp), dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return CORNER + 2, c
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return EDGE + 2, axpy(d2 / (d2 - d6), ac, a)
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        return EDGE + 1, axpy((d4 - d3) / ((d4 - d3) + (d5 - d6)), sub(c, b), b)
    all_ = va + vb + vc
    return INSIDE, axpy(vc / all_, ac, axpy(vb / all_, ab, a))


@inline
def _outward(faces, beside, normal, around, f, what):
    """A normal that tells on which side of the closest place a point lies."""
    n = load3(normal, f, 0)
    if what >= CORNER:
        return load3(around, faces[f, what - CORNER], 0)
    if what >= EDGE and beside[f, what - EDGE] >= 0:
        return add(n, load3(normal, beside[f, what - EDGE], 0))
    return n


@kernel
def find(
    x, nodes, weights, y, faces, beside, normal, around, start, box, reach, away, skips, skip, stack,
    state, depth,
):  # fmt: skip
    """The closest triangle of each point, what of it is closest: state (p, 2); and how deep the point is (p,) [m].

    Points are means, with weights (p, 3), of nodes (p, 3) at x; corners of the triangles (f, 3) are at y. beside (f, 3) are
    the triangles beyond their edges, or -1. Those further than `reach` are not seen: the first state is -1 then. Only
    triangles count of which the normal is against that of the point, away (p, 3), if there are such normals; and those
    between skips[p] and skips[p + 1] of skip do not.
    """
    leaves = len(start) - 1
    for p in range(len(nodes)):
        place = point_place(x, nodes, weights, p)
        state[p, 0], state[p, 1], depth[p] = -1, 0, -reach
        least, top = reach * reach, 1
        stack[0] = 0
        while top > 0:
            top -= 1
            node = stack[top]
            if _far(place, box, node) >= least:
                continue
            if node < leaves - 1:
                one, two = 2 * node + 1, 2 * node + 2
                if _far(place, box, one) < _far(place, box, two):
                    one, two = two, one
                stack[top], stack[top + 1] = one, two
                top += 2
                continue
            for f in range(start[node - leaves + 1], start[node - leaves + 2]):
                if len(away) and dot(load3(away, p, 0), load3(normal, f, 0)) > -0.5:
                    continue
                left_out = False
                for k in range(skips[p], skips[p + 1]):
                    left_out = left_out or skip[k] == f
                if left_out:
                    continue
                a, b, c = _face(y, faces, f)
                what, found = _closest(place, a, b, c)
                u = sub(place, found)
                square = dot(u, u)
                if square < least:
                    least, state[p, 0], state[p, 1] = square, f, what
                    side = dot(u, _outward(faces, beside, normal, around, f, what))
                    depth[p] = -math.copysign(math.sqrt(square), side)


@inline
def _area(a, b, c):
    """(Unit normal of a triangle, twice its area), of complex numbers too."""
    n = cross(sub(b, a), sub(c, a))
    size = np.sqrt(dot(n, n))
    return scale(1.0 / size, n), size


@inline
def _slopes(m, size, a, b, c):
    """Gradients of the barycentric coordinates of a triangle."""
    k = scale(1.0 / size, m)
    return cross(k, sub(c, b)), cross(k, sub(a, c)), cross(k, sub(b, a))


@part
def _pushed(p, a, b, c, m, what):
    """(Depth, normal, shares of the corners) of the normal force at what is closest."""
    if what == INSIDE:
        size = _area(a, b, c)[1]
        _, gb, gc = _slopes(m, size, a, b, c)
        u = sub(p, a)
        s, t = dot(gb, u), dot(gc, u)
        return -dot(m, u), m, (1.0 - s - t, s, t)
    zero = 0.0 * p[0]
    one = zero + 1.0
    if what >= CORNER:
        k = what - CORNER
        u = sub(a, p) if k == 0 else (sub(b, p) if k == 1 else sub(c, p))
        share = (one, zero, zero) if k == 0 else ((zero, one, zero) if k == 1 else (zero, zero, one))
    else:
        k = what - EDGE
        i, j = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
        e = sub(j, i)
        s = dot(sub(p, i), e) / dot(e, e)
        u = sub(axpy(s, e, i), p)
        r = 1.0 - s
        share = (r, s, zero) if k == 0 else ((zero, r, s) if k == 1 else (s, zero, r))
    depth = np.sqrt(dot(u, u))
    return depth, scale(1.0 / depth, u), share


@part
def _react(y, what, mode, law, rooted, force):
    """Forces (4, 3) on a point and three corners, for seven points y (7, 3); and (z, barycentric places, plane depth).

    law: pressing force at a depth, its slope, that depth, stiffness of bristles, friction. rooted: barycentric coordinates
    of the root in its triangle, and its depth there.
    """
    p, a, b, c = load3(y, 0, 0), load3(y, 1, 0), load3(y, 2, 0), load3(y, 3, 0)
    m, size = _area(a, b, c)
    depth, n, share = _pushed(p, a, b, c, m, what)
    f = law[0] + law[1] * (depth - law[2])
    g = _slopes(m, size, a, b, c)
    u = sub(p, a)
    s, t = dot(g[1], u), dot(g[2], u)
    place, low = (1.0 - s - t, s, t), -dot(m, u)
    pull, z = scale(0.0, n), scale(0.0, n)
    if mode > 0:
        i, j, k = load3(y, 4, 0), load3(y, 5, 0), load3(y, 6, 0)
        q = axpy(-rooted[3], _area(i, j, k)[0], axpy(rooted[0], i, axpy(rooted[1], j, scale(rooted[2], k))))
        w = sub(p, q)
        z = axpy(-dot(m, w), m, w)
        pull = scale(-law[3], z) if mode == HOLDS else scale(-law[4] * f / np.sqrt(dot(z, z)), z)
    store3(force, 0, 0, axpy(f, n, pull))
    for k in range(3):
        store3(force, 1 + k, 0, axpy(-f * share[k], n, axpy(-place[k], pull, scale(-low * dot(pull, g[k]), m))))
    return z, place, low


@kernel
def root_all(x, nodes, weights, y, faces, state, root):
    """Roots (p, 4) of bristles where points are: a triangle, two barycentric coordinates in it, the depth under it [m]."""
    for p in range(len(nodes)):
        f = state[p, 0]
        root[p, 0] = f
        if f < 0:
            continue
        a, b, c = _face(y, faces, f)
        m, size = _area(a, b, c)
        g = _slopes(m, size, a, b, c)
        u = sub(point_place(x, nodes, weights, p), a)
        root[p, 1], root[p, 2], root[p, 3] = dot(g[1], u), dot(g[2], u), -dot(m, u)


@kernel
def meet(
    x, nodes, weights, law, y, faces, on, state, depth, root, before, rate, rubs, wants, real, complexes, out, outs,
    force, change, mode, corner, rooted, kept,
):  # fmt: skip
    """What points `on` (k,) that touch and triangles do to each other: forces (k, 4, 3) on points and on three corners.

    The first arguments are those of `find`, which gave state and depth, and laws (p, 4). root (p, 4) and before (p,) are
    roots of bristles and depths at the start of the step; rate is 1 / dt, or 0 at rest. With `rubs` there is friction. With
    `wants`, change (k, 12, 21) becomes the derivatives of the forces by the seven points. real, complexes, out and outs are
    memory, (7, 3) and (4, 3) of both kinds of numbers. mode (k,) tells whether a point holds or slides, corner (k, 3) the
    corners of the triangle that its bristle is rooted in, rooted (p, 4) the root afterwards, kept (k,) the energies of depth
    and bristles [J].
    """
    for k in range(len(on)):
        p = on[k]
        f = state[p, 0]
        smooth, stiff, mu, deep = law[p, SMOOTH], law[p, STIFFNESS], law[p, FRICTION], depth[p]
        c = law[p, DAMPING] * rate
        g, g1 = pressed(deep, smooth)
        h, h1 = damped(c * (deep - before[p]))
        size, grip = stiff * g * h, GRIP * stiff
        own = (size, stiff * (g1 * h + g * h1 * c), deep, grip, mu)
        kept[k] = stiff * stored(deep, smooth)
        base = int(root[p, 0])
        rubbing = rubs and mu > 0.0 and base >= 0
        base = base if rubbing else f
        foot = (1.0 - root[p, 1] - root[p, 2], root[p, 1], root[p, 2], root[p, 3])
        store3(real, 0, 0, point_place(x, nodes, weights, p))
        for i in range(3):
            corner[k, i] = faces[base, i]
            store3(real, 1 + i, 0, load3(y, faces[f, i], 0))
            store3(real, 4 + i, 0, load3(y, faces[base, i], 0))
        mode[k] = HOLDS
        z, place, low = _react(real, state[p, 1], HOLDS if rubbing else 0, own, foot, out)
        length = math.sqrt(dot(z, z))
        if rubbing and grip * length > mu * size:
            mode[k] = SLIDES
            z, place, low = _react(real, state[p, 1], SLIDES, own, foot, out)
            z = scale(mu * size / (grip * length), z)
        kept[k] += 0.5 * grip * dot(z, z)
        _keep_root(real, f, z, place, low, p, rooted)
        for i in range(4):
            store3(force[k], i, 0, load3(out, i, 0))
        if wants:
            _differentiate(real, state[p, 1], mode[k] if rubbing else 0, own, foot, complexes, outs, change[k])


@part
def _keep_root(y, f, z, place, low, p, rooted):
    """Root the bristle of a point in the triangle that it touches, z behind it."""
    a, b, c = load3(y, 1, 0), load3(y, 2, 0), load3(y, 3, 0)
    m, size = _area(a, b, c)
    g = _slopes(m, size, a, b, c)
    rooted[p, 0], rooted[p, 1], rooted[p, 2], rooted[p, 3] = f, place[1] - dot(g[1], z), place[2] - dot(g[2], z), low


@part
def _differentiate(y, what, mode, law, rooted, complexes, outs, change):
    """Exact derivatives (12, 21) of the forces, by imaginary steps."""
    for i in range(7):
        for j in range(3):
            complexes[i, j] = y[i, j]
    for i in range(7):
        for j in range(3):
            if i >= 4 and mode == 0:
                for k in range(12):
                    change[k, 3 * i + j] = 0.0
                continue
            complexes[i, j] = complex(y[i, j], SHARP)
            _react(complexes, what, mode, law, rooted, outs)
            complexes[i, j] = y[i, j]
            for k in range(12):
                change[k, 3 * i + j] = outs[k // 3, k % 3].imag / SHARP
