"""Friction that holds, going backward: what the cost changes by with the bristles of contacts.

In a step the bristles z of a contact become Z(q1, v1, z), cut to Coulomb's limit (friction.py), and the force is T = -k_t Z.
With z1^ the gradient of the cost by the bristles after the step, q1^ and v1^ gain (dZ/dq1)^T z1^ and
(dZ/dv1)^T z1^, and with the multipliers mu of the balance, whose virtual motion slides the two surfaces by y,

    z^ = (dZ/dz)^T (z1^ - k_t y).

Between parts dZ follows from the tangent of the contacts, lane by lane, as dP / k_t; with scales y is cut like P, and the
bristles of rolling go the same way, with the sliding of the lever. On obstacles dZ is written down here.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.compiler.table import Arrays
from anguilla.interact.kernels.contact import (
    DAMPING,
    FRICTION,
    GRIP,
    REACH,
    SMOOTH,
    STIFFNESS,
    damped,
    holds,
    normal,
    pressed,
)
from anguilla.interact.kernels.distance import shape_curvature
from anguilla.interact.kernels.friction import (
    HELD,
    ROLLS,
    RUBS,
    along_surface,
    carried,
    grip_of,
    rolling,
    scale_parts,
    sliding,
    slot_of,
    turning_with,
)
from anguilla.interact.kernels.table import CONTACT, HITS, KIND, NODE, PAIR, ROLLING, SCALES
from anguilla.interact.kernels.table import FRICTION as MU
from anguilla.interact.kernels.table import SLIP as FADING
from anguilla.interact.kernels.touch import BRISTLE, ROLLED, S, meeting, own_row, pushing, scales_axis
from anguilla.interact.kernels.touch_change import D_ROLL, D_RUB, changes_of, lanes_of
from anguilla.mechanics.tree import N_V, N_W, N_X, Floats
from anguilla.mechanics.vec import (
    add,
    axpy,
    cross,
    cross_columns,
    dot,
    load3,
    matvec,
    maxpy,
    mscale,
    outer_add,
    scale,
    store3,
    sub,
    tmatvec,
)

# Columns of Holding.hold: normal, direction of the bristle, spin that it turns with, part of it that is left, 1 if it slips,
# k_t; axis of scales along the surface, c - s and s (`friction.py`)
NORMAL, ALONG, SPIN, LEFT, SLIPS, STIFF, AXIS, MORE, SIDE, HOLD = 0, 3, 6, 9, 10, 11, 12, 15, 16, 17


class Holding(Arrays):
    """Bristles along a motion of N steps and the gradient by them, as they are after each state; no states if none holds."""

    held: Floats  # (N + 1, h, 2, 7) between parts, as in Touches.held
    grip: Floats  # (N + 1, f, 3) on obstacles
    by_held: Floats  # (N + 1, h, 2, 6) bristles of sliding, then of rolling
    by_grip: Floats  # (N + 1, f, 3)
    cot: Floats  # (f, 15) scratch, see `thruster_errors.py`
    hold: Floats  # (f + 2 contacts at once, HOLD) scratch: of parts sliding and rolling, in turn
    slopes: Floats  # (2, n) scratch


@inline
def is_held(hold):
    """Whether friction of some contact holds."""
    return len(hold.held) > 0


@inline
def _holds_frame(frames, f):
    """Whether a frame load is a contact whose friction holds."""
    return frames.table[f, KIND] == CONTACT and holds(frames.data, f) and frames.data[f, FRICTION] > 0.0


@part
def recall(loads, hold, step):
    """Bristles as the balance of a state sees them: those after the state before."""
    if not is_held(hold) or step == 0:
        return
    for row in range(hold.held.shape[1]):
        for slot in range(2):
            for c in range(HELD):
                loads.touches.held[row, slot, c] = hold.held[step - 1, row, slot, c]
    for f in range(hold.grip.shape[1]):
        if loads.frames.table[f, KIND] == CONTACT:
            for c in range(3):
                loads.frames.state[f, 1, 3 + c] = hold.grip[step - 1, f, c]


@inline
def _rows(touches, e):
    """Where the memory of contact e stands, and its number along b."""
    t, c, k, m = touches.hits[e, 0], touches.hits[e, 1], touches.hits[e, 2], touches.hits[e, 3]
    return own_row(touches, t, c, k), m + touches.hit[e, S]


@inline
def _slot_after(touches, e):
    """Which of the two bristles of a point `keep_bristles` makes of contact e, or -1."""
    row, count = _rows(touches, e)[0], 0
    for d in range(e):
        if _rows(touches, d)[0] == row:
            count += 1
    return count if count < 2 else -1


@inline
def _note(hold, k, n, z, spin, most, stiffness):
    """What a bristle z, before it slips, does with changes; most is mu f."""
    length = math.sqrt(dot(z, z))
    slips = stiffness * length > most
    store3(hold.hold, k, NORMAL, n)
    store3(hold.hold, k, ALONG, scale(1.0 / max(length, 1e-300), z))
    store3(hold.hold, k, SPIN, spin)
    hold.hold[k, LEFT] = most / (stiffness * length) if slips else 1.0
    hold.hold[k, SLIPS], hold.hold[k, STIFF] = 1.0 if slips else 0.0, stiffness
    hold.hold[k, MORE], hold.hold[k, SIDE] = 0.0, 1.0
    store3(hold.hold, k, AXIS, (0.0, 0.0, 0.0))


@inline
def _through(hold, k, c):
    """What c, on the bristle, is on the bristle before it slips."""
    if hold.hold[k, SLIPS] == 1.0:
        along = load3(hold.hold, k, ALONG)
        return scale(hold.hold[k, LEFT], axpy(-dot(along, c), along, c))
    return c


@part
def obstacle_cotangents(node, frames, hold, step, dt):
    """Per frame load: what z1^ . Z does with changes of the place, angular velocity and velocity of its node."""
    data = frames.data
    for f in range(len(hold.cot)):
        for c in range(15):
            hold.cot[f, c] = 0.0
        hold.hold[f, STIFF] = 0.0
        i = frames.table[f, NODE]
        x, v, w = load3(node, i, N_X), load3(node, i, N_V), load3(node, i, N_W)
        if not _holds_frame(frames, f):
            continue
        depth, n = normal(x, frames, f)
        if depth <= 0.0:
            continue
        k, reach, damping, mu = data[f, STIFFNESS], data[f, REACH], data[f, DAMPING], data[f, FRICTION]
        g, g1 = pressed(depth, data[f, SMOOTH])
        h, h1 = damped(-damping * dot(n, v))
        z0, u = load3(frames.state[f], 1, 3), sliding(n, v, w, (0.0, 0.0, 0.0), reach, 1.0, 0.0)
        z = axpy(dt, u, axpy(-dot(n, z0), n, z0))
        _note(hold, f, n, z, (0.0, 0.0, 0.0), mu * k * g * h, GRIP * k)
        N, after = shape_curvature(x, n, data, f, frames.grid), load3(hold.by_grip[step], f, 0)
        Nv, here = matvec(N, v), _through(hold, f, after)
        u_x = outer_add(-1.0, n, Nv, maxpy(-dot(n, v), N, cross_columns(scale(-reach, w), N)))
        z_x = maxpy(dt, u_x, mscale(-1.0, outer_add(1.0, n, matvec(N, z0), mscale(dot(n, z0), N))))
        push = 0.0
        if hold.hold[f, SLIPS] == 1.0:
            push = mu / (GRIP * k) * dot(load3(hold.hold, f, ALONG), after)
        by_x = axpy(-push * k * g1 * h, n, axpy(-push * k * g * h1 * damping, Nv, tmatvec(z_x, here)))
        by_v = axpy(-push * k * g * h1 * damping, n, scale(dt, axpy(-dot(n, here), n, here)))
        store3(hold.cot, f, 3, by_x)
        store3(hold.cot, f, 6, scale(dt * reach, cross(here, n)))
        store3(hold.cot, f, 9, by_v)
        store3(hold.cot, f, 12, w)


@part
def note_parts(node, touches, hold, dt):
    """Keep what the bristles of all contacts between parts do with changes, at the present motion."""
    first = len(hold.cot)
    for e in range(min(touches.count[HITS], len(touches.hits))):
        t, c, k, m = touches.hits[e, 0], touches.hits[e, 1], touches.hits[e, 2], touches.hits[e, 3]
        rubs, rolls, mu, lever = first + 2 * e, first + 2 * e + 1, touches.law[t, MU], touches.law[t, ROLLING]
        hold.hold[rubs, STIFF], hold.hold[rolls, STIFF] = 0.0, 0.0
        if touches.law[t, FADING] > 0.0:
            continue
        _, n, depth, v, spin_a, spin_b, reach, part_a, part_b = meeting(node, touches, c, k, m, touches.hit[e, S])
        f, grip = pushing(touches, t, k, depth, -dot(n, v))[0], grip_of(touches, t, k)
        row, where = _rows(touches, e)
        spin = turning_with(touches, t, n, spin_a, spin_b)
        if mu > 0.0:
            z = carried(touches, row, where, RUBS, spin, dt)
            u = sliding(n, v, spin_a, spin_b, reach, part_a, part_b)
            z = axpy(dt, u, axpy(-dot(n, z), n, z))
            _note(hold, rubs, n, z, spin, mu * f, grip)
            if touches.law[t, SCALES] != 0.0:
                axis = along_surface(n, scales_axis(node, touches, t, c, k, m, touches.hit[e, S]))[0]
                store3(hold.hold, rubs, AXIS, axis)
                hold.hold[rubs, MORE], _, hold.hold[rubs, SIDE] = scale_parts(touches, t, dot(axis, z))
        if lever > 0.0:
            z = carried(touches, row, where, ROLLS, spin, dt)
            z = axpy(dt, rolling(n, spin_a, spin_b, lever), axpy(-dot(n, z), n, z))
            _note(hold, rolls, n, z, spin, f, grip)


@part
def _add_lanes(tree, pairs, touches, e, by, at, out):
    """out (n,) += by . the change of P of contact e, sliding or rolling, for every coordinate."""
    pair = touches.table[touches.hits[e, 0], PAIR]
    first = pairs.table[pair, 2]
    for b in range(first, pairs.table[pair, 3]):
        for l in range(pairs.lanes[b]):
            k = tree.of_lane[4 * pairs.pack[b] + l]
            if k >= 0:
                for x in range(3):
                    out[k] += by[x] * touches.change[b - first, at + x, l]


@part
def add_slopes(tree, node, pairs, touches, dt, hold, step, out):
    """out (n,) += z1^ . dZ of contacts between parts, for every coordinate, as the last tangent took its columns."""
    first = len(hold.cot)
    for e in range(min(touches.count[HITS], len(touches.hits))):
        slot = _slot_after(touches, e)
        if slot < 0:
            continue
        rubs, rolls = hold.hold[first + 2 * e, STIFF], hold.hold[first + 2 * e + 1, STIFF]
        by, about = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if rubs > 0.0:
            by = scale(1.0 / rubs, load3(hold.by_held[step, _rows(touches, e)[0]], slot, 0))
        if rolls > 0.0:
            about = scale(1.0 / rolls, load3(hold.by_held[step, _rows(touches, e)[0]], slot, 3))
        if dot(by, by) + dot(about, about) == 0.0:
            continue
        lanes_of(node, pairs, touches, e)
        changes_of(node, pairs, touches, e, dt)
        _add_lanes(tree, pairs, touches, e, by, D_RUB, out)
        _add_lanes(tree, pairs, touches, e, about, D_ROLL, out)


@inline
def _before(hold, k, after, y, dt):
    """z^ of a bristle, from z1^ and the virtual sliding y."""
    n, spin, axis = load3(hold.hold, k, NORMAL), load3(hold.hold, k, SPIN), load3(hold.hold, k, AXIS)
    y = axpy(hold.hold[k, MORE] * dot(axis, y), axis, scale(hold.hold[k, SIDE], y))
    c = _through(hold, k, axpy(-hold.hold[k, STIFF], y, after))
    c = axpy(-dot(n, c), n, c)
    turned = scale(-dt, cross(spin, c))
    return add(add(c, turned), scale(-0.5 * dt, cross(spin, turned)))


@part
def hold_back(node, loads, hold, step, dt):
    """The gradients by the bristles before a step; the motion is that of the multipliers."""
    frames, touches, first = loads.frames, loads.touches, len(hold.cot)
    for f in range(first):
        store3(hold.by_grip[step - 1], f, 0, (0.0, 0.0, 0.0))
        if hold.hold[f, STIFF] > 0.0:
            i, n = frames.table[f, NODE], load3(hold.hold, f, NORMAL)
            y = sub(load3(node, i, N_V), cross(load3(node, i, N_W), scale(frames.data[f, REACH], n)))
            store3(hold.by_grip[step - 1], f, 0, _before(hold, f, load3(hold.by_grip[step], f, 0), y, dt))
    hold.by_held[step - 1] = 0.0
    for e in range(min(touches.count[HITS], len(touches.hits))):
        row, where = _rows(touches, e)
        slot, after = slot_of(touches, row, where), _slot_after(touches, e)
        if slot < 0:
            continue
        c, k, m, here = touches.hits[e, 1], touches.hits[e, 2], touches.hits[e, 3], hold.by_held[step - 1, row]
        _, n, _, v, spin_a, spin_b, reach, part_a, part_b = meeting(node, touches, c, k, m, touches.hit[e, S])
        for kind in range(2):
            by = (0.0, 0.0, 0.0)
            if hold.hold[first + 2 * e + kind, STIFF] > 0.0:
                if kind == 0:
                    y = sliding(n, v, spin_a, spin_b, reach, part_a, part_b)
                else:
                    y = rolling(n, spin_a, spin_b, touches.law[touches.hits[e, 0], ROLLING])
                if after >= 0:
                    by = load3(hold.by_held[step, row], after, 3 * kind)
                more = _before(hold, first + 2 * e + kind, by, y, dt)
                store3(here, slot, 3 * kind, add(load3(here, slot, 3 * kind), more))


@part
def weigh_bristles(loads, hold, step):
    """Sum of z1^ . Z of all contacts in a state, at the present motion."""
    frames, touches, total = loads.frames, loads.touches, 0.0
    for f in range(len(hold.cot)):
        if _holds_frame(frames, f):
            for c in range(3):
                total += hold.by_grip[step, f, c] * frames.state[f, 2, 3 + c]
    for e in range(min(touches.count[HITS], len(touches.hits))):
        slot = _slot_after(touches, e)
        if slot >= 0:
            by = hold.by_held[step, _rows(touches, e)[0]]
            total += dot(load3(by, slot, 0), load3(touches.hit, e, BRISTLE))
            total += dot(load3(by, slot, 3), load3(touches.hit, e, ROLLED))
    return total
