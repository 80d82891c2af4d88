"""A round point of a node against an obstacle fixed in space: a smooth penalty, damping that never pulls, friction.

With n the outward normal of the obstacle, y the touched point (on the surface of a ball of radius r around the node), d the
depth, e = -n . v its rate and u the sliding velocity of the material point that touches,

    force = f (n - p),    f = k g(d) h(c e),    moment about the node = -r n x force.

g is 0 outside, d - s/2 beyond the depth s, and joins them twice differentiably; h(z) = 1 + z while sinking and
1 / (1 - z + z^2) while leaving, twice differentiable and positive: contact never sticks. Coulomb's friction holds, by
bristles z (`friction.py`): p = k_t z / f, at most mu. With a slip it has no memory: p = mu u / sqrt(|u|^2 + slip^2). With
scales, p = (mu u + e l t) / sqrt(|u|^2 + slip^2), where t is the axis of the section along the surface, l = u . t, and mu + e
goes from one coefficient, of sliding backward, to another, forward, as l does from minus to plus. All obstacles are known by
their distance, its gradient n and the matrix N = dn/dx.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.interact.kernels.distance import SHAPE_SIZE, shape_curvature, shape_distance
from anguilla.interact.kernels.table import CONTACT, KIND, NODE
from anguilla.interact.kernels.thruster import put_block
from anguilla.interact.kernels.wrench import has_kind
from anguilla.mechanics.tree import N_R, N_V, N_W, N_X
from anguilla.mechanics.vec import (
    axpy,
    cross,
    cross_columns,
    cross_rows,
    dot,
    iso_hat,
    load3,
    madd,
    matmul,
    matvec,
    maxpy,
    mscale,
    outer_add,
    scale,
    store3,
    sub,
)

# Places in Frames.data, behind the shape of the obstacle (`distance.py`)
REACH, STIFFNESS, SMOOTH, DAMPING, FRICTION, SLIP, FORWARD, BACKWARD = range(SHAPE_SIZE, SHAPE_SIZE + 8)
GRIP = 2.0 / 3.0  # stiffness along the surface over that across it, of incompressible solids (Mindlin)
UPRIGHT = 1e-3  # sine of the angle to the normal below which a section has no axis along the surface


@inline
def normal(x, frames, f):
    """(depth of the point nearest to the obstacle, outward normal)."""
    distance, n = shape_distance(x, frames.data, f, frames.grid)
    return frames.data[f, REACH] - distance, n


@inline
def pressed(depth, smooth):
    """g and its slope."""
    if depth >= smooth:
        return depth - 0.5 * smooth, 1.0
    x = depth / smooth
    return smooth * x * x * x * (1.0 - 0.5 * x), x * x * (3.0 - 2.0 * x)


@inline
def stored(depth, smooth):
    """Energy of a contact per stiffness: the integral of g over the depth."""
    if depth <= 0.0:
        return 0.0
    if depth >= smooth:
        beyond = depth - smooth
        return 0.15 * smooth * smooth + 0.5 * beyond * (smooth + beyond)
    x = depth / smooth
    return smooth * smooth * x * x * x * x * (0.25 - 0.1 * x)


@inline
def damped(z):
    """h and its slope."""
    if z >= 0.0:
        return 1.0 + z, 1.0
    h = 1.0 / (1.0 - z + z * z)
    return h, h * h * (1.0 - 2.0 * z)


@inline
def _sliding(v, w, n, reach):
    """Velocity of the material point that touches, along the surface."""
    return sub(axpy(-dot(n, v), n, v), cross(w, scale(reach, n)))


@inline
def _has_scales(data, f):
    return data[f, FORWARD] != data[f, FRICTION] or data[f, BACKWARD] != data[f, FRICTION]


@inline
def _along(node, i, n):
    """Axis d of the section, its direction t along the surface, and its length there."""
    d = node[i, N_R], node[i, N_R + 3], node[i, N_R + 6]
    flat = axpy(-dot(n, d), n, d)
    length = math.sqrt(dot(flat, flat) + UPRIGHT * UPRIGHT)
    return d, scale(1.0 / length, flat), length


@inline
def _scales(l, data, f):
    """e(l) and its slope."""
    slip, half = data[f, SLIP], 0.5 * (data[f, FORWARD] - data[f, BACKWARD])
    speed = math.sqrt(l * l + slip * slip)
    mean = 0.5 * (data[f, FORWARD] + data[f, BACKWARD]) - data[f, FRICTION]
    return mean + half * l / speed, half * slip * slip / (speed * speed * speed)


@inline
def _rubbing(node, i, u, n, data, f):
    """p, and the sliding speed."""
    speed = math.sqrt(dot(u, u) + data[f, SLIP] * data[f, SLIP])
    p = scale(data[f, FRICTION] / speed, u)
    if _has_scales(data, f):
        t = _along(node, i, n)[1]
        l = dot(u, t)
        p = axpy(_scales(l, data, f)[0] * l / speed, t, p)
    return p, speed


@inline
def holds(data, f):
    """Whether friction holds, or there is none."""
    return data[f, SLIP] == 0.0


@inline
def _bristle(frames, f, n, u, dt):
    """(bristle from the start of the step, bent by it) of contact f, before it slips."""
    z = frames.state[f, 1, 3], frames.state[f, 1, 4], frames.state[f, 1, 5]
    return z, axpy(dt, u, axpy(-dot(n, z), n, z))


@inline
def _keep(frames, f, z):
    frames.state[f, 2, 3], frames.state[f, 2, 4], frames.state[f, 2, 5] = z


@part
def contact_wrench(node, frames, f, dt):
    """World wrench of contact f."""
    i, data = frames.table[f, NODE], frames.data
    depth, n = normal(load3(node, i, N_X), frames, f)
    if depth <= 0.0:
        store3(frames.wrench, f, 0, (0.0, 0.0, 0.0))
        store3(frames.wrench, f, 3, (0.0, 0.0, 0.0))
        _keep(frames, f, (0.0, 0.0, 0.0))
        return
    v, w, reach = load3(node, i, N_V), load3(node, i, N_W), data[f, REACH]
    g, _ = pressed(depth, data[f, SMOOTH])
    h, _ = damped(-data[f, DAMPING] * dot(n, v))
    size, u = data[f, STIFFNESS] * g * h, _sliding(v, w, n, reach)
    if holds(data, f):
        _, z = _bristle(frames, f, n, u, dt)
        grip = GRIP * data[f, STIFFNESS]
        bent = grip * math.sqrt(dot(z, z))
        z = scale(min(1.0, data[f, FRICTION] * size / max(bent, 1e-300)), z)
        _keep(frames, f, z)
        force = axpy(size, n, scale(-grip, z))
    else:
        force = scale(size, sub(n, _rubbing(node, i, u, n, data, f)[0]))
    store3(frames.wrench, f, 0, cross(scale(-reach, n), force))
    store3(frames.wrench, f, 3, force)


@inline
def _put(block, f, arm, push, N, change):
    """Block of a force that changes by the matrices `change`, with its moment; push is reach x force."""
    F_th, F_x, F_w, F_v = change
    put_block(block, f, 3, 0, F_th)
    put_block(block, f, 3, 3, F_x)
    put_block(block, f, 3, 6, F_w)
    put_block(block, f, 3, 9, F_v)
    put_block(block, f, 0, 0, cross_columns(arm, F_th))
    put_block(block, f, 0, 3, madd(cross_columns(arm, F_x), cross_columns(push, N)))
    put_block(block, f, 0, 6, cross_columns(arm, F_w))
    put_block(block, f, 0, 9, cross_columns(arm, F_v))


@part
def _held_block(frames, f, n, N, u, u_x, push, dt):
    """The same as `contact_block` with bristles: T = -k_t z, or -mu f z / |z|; z changes by dt du - d(n n^T) z_0."""
    size, f_x, f_v = push
    data, reach, mu = frames.data, frames.data[f, REACH], frames.data[f, FRICTION]
    z0, z = _bristle(frames, f, n, u, dt)
    grip, length = GRIP * data[f, STIFFNESS], math.sqrt(dot(z, z))
    z_x = maxpy(dt, u_x, mscale(-1.0, outer_add(1.0, n, matvec(N, z0), mscale(dot(n, z0), N))))
    q, T, S = n, scale(-grip, z), iso_hat(grip, 0.0, n)  # dF = q df + f dn - S dz
    if mu == 0.0:
        T, S = (0.0, 0.0, 0.0), iso_hat(0.0, 0.0, n)
    elif grip * length > mu * size:
        along = scale(1.0 / length, z)
        q, T = axpy(-mu, along, n), scale(-mu * size, along)
        S = outer_add(-mu * size / length, along, along, iso_hat(mu * size / length, 0.0, n))
    F_x = outer_add(1.0, q, f_x, maxpy(size, N, mscale(-1.0, matmul(S, z_x))))
    F_v = outer_add(1.0, q, f_v, mscale(-dt, outer_add(-1.0, matvec(S, n), n, S)))
    F_w = mscale(-dt * reach, cross_rows(S, n))
    none = iso_hat(0.0, 0.0, n)
    _put(frames.block, f, scale(-reach, n), scale(reach, axpy(size, n, T)), N, (none, F_x, F_w, F_v))


@part
def contact_block(node, frames, f, dt):
    """Derivative of the wrench of contact f by the rotation, place, angular velocity and velocity of its node."""
    i, data, block = frames.table[f, NODE], frames.data, frames.block
    x, v, w, reach = load3(node, i, N_X), load3(node, i, N_V), load3(node, i, N_W), data[f, REACH]
    depth, n = normal(x, frames, f)
    none = iso_hat(0.0, 0.0, n)
    if depth <= 0.0:
        for c in (0, 3, 6, 9):
            put_block(block, f, 0, c, none)
            put_block(block, f, 3, c, none)
        return
    N, damping = shape_curvature(x, n, data, f, frames.grid), data[f, DAMPING]
    g, g1 = pressed(depth, data[f, SMOOTH])
    h, h1 = damped(-damping * dot(n, v))
    k = data[f, STIFFNESS]
    size = k * g * h
    # change of f: dd = -n . dx, de = -n . dv - (N v) . dx
    Nv = matvec(N, v)
    f_x = axpy(-k * g1 * h, n, scale(-k * g * h1 * damping, Nv))
    f_v = scale(-k * g * h1 * damping, n)
    # change of u: (1 - n n^T) dv + r [n] dw - (r [w] N + n (N v)^T + (n . v) N) dx
    u = _sliding(v, w, n, reach)
    u_x = outer_add(-1.0, n, Nv, maxpy(-dot(n, v), N, cross_columns(scale(-reach, w), N)))
    if holds(data, f):
        _held_block(frames, f, n, N, u, u_x, (size, f_x, f_v), dt)
        return
    p, speed = _rubbing(node, i, u, n, data, f)
    p_u = outer_add(-1.0 / (speed * speed), p, u, iso_hat(data[f, FRICTION] / speed, 0.0, u))
    p_x, p_th = none, none
    if _has_scales(data, f):
        # dp = p_t dt = A d(d - n (n . d)), with d(d) = Theta x d, dn = N dx
        d, t, length = _along(node, i, n)
        l = dot(u, t)
        e, e1 = _scales(l, data, f)
        rise = (e + l * e1) / speed
        p_u = outer_add(rise, t, t, p_u)
        p_t = outer_add(rise, t, u, iso_hat(e * l / speed, 0.0, u))
        A = mscale(1.0 / length, outer_add(-1.0, matvec(p_t, t), t, p_t))
        p_x = mscale(-1.0, matmul(A, outer_add(1.0, n, matvec(N, d), mscale(dot(n, d), N))))
        p_th = mscale(-1.0, cross_rows(outer_add(-1.0, matvec(A, n), n, A), d))
    q = sub(n, p)
    p_x = madd(p_x, matmul(p_u, u_x))
    F_th = mscale(-size, p_th)
    F_x = outer_add(1.0, q, f_x, maxpy(size, N, mscale(-size, p_x)))
    F_v = outer_add(1.0, q, f_v, mscale(-size, outer_add(-1.0, matvec(p_u, n), n, p_u)))
    F_w = mscale(-size * reach, cross_rows(p_u, n))
    _put(block, f, scale(-reach, n), scale(size * reach, q), N, (F_th, F_x, F_w, F_v))


@inline
def has_contacts(frames):
    """Whether some load is a contact."""
    return has_kind(frames, CONTACT)


@part
def contact_wrenches(node, frames, dt):
    """World wrenches of all contacts."""
    for f in range(len(frames.table)):
        if frames.table[f, KIND] == CONTACT:
            contact_wrench(node, frames, f, dt)


@part
def contact_blocks(node, frames, dt):
    """Derivatives of the wrenches of all contacts."""
    for f in range(len(frames.table)):
        if frames.table[f, KIND] == CONTACT:
            contact_block(node, frames, f, dt)


@inline
def grips(frames):
    """Whether friction of some contact holds."""
    found = False
    for f in range(len(frames.table)):
        if frames.table[f, KIND] == CONTACT and holds(frames.data, f) and frames.data[f, FRICTION] > 0.0:
            found = True
    return found


@part
def keep_grips(frames):
    """Accept a step: bristles at its end start the next one."""
    for f in range(len(frames.table)):
        if frames.table[f, KIND] == CONTACT:
            for x in range(3, 6):
                frames.state[f, 1, x] = frames.state[f, 2, x]
