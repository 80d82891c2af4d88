"""Friction that holds, going backward: what the cost changes by with the bristles of contacts.

In a step the bristles z of a contact become Z(q1, v1, z), cut to Coulomb's limit (friction.py), and the force is T = -k_t Z.
With z1^ the gradient of the cost by the bristles after the step, q1^ and v1^ gain (dZ/dq1)^T z1^ and
(dZ/dv1)^T z1^, and with the multipliers mu of the balance, whose virtual motion slides the two surfaces by y,

    z^ = (dZ/dz)^T (z1^ - k_t y).

Between parts dZ follows from the tangent of the contacts, lane by lane, as -dT / k_t. On obstacles it is written down here.
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
from anguilla.interact.kernels.friction import carried, sliding, slot_of
from anguilla.interact.kernels.table import CONTACT, HITS, KIND, NODE, PAIR
from anguilla.interact.kernels.table import FRICTION as MU
from anguilla.interact.kernels.table import GRIP as SHEAR
from anguilla.interact.kernels.table import SLIP as FADING
from anguilla.interact.kernels.table import STIFF as STIFFNESS_OF_PARTS
from anguilla.interact.kernels.touch import BRISTLE, SHARE, S, meeting, own_row, pushing
from anguilla.interact.kernels.touch_change import D_FORCE, changes_of, lanes_of
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

# Columns of Holding.hold: normal, direction of the bristle, spin of b, part of it that is left, 1 if it slips, k_t
NORMAL, ALONG, SPIN, LEFT, SLIPS, STIFF, HOLD = 0, 3, 6, 9, 10, 11, 12


class Holding(Arrays):
    """Bristles along a motion of N steps and the gradient by them, as they are after each state; no states if none holds."""

    held: Floats  # (N + 1, h, 2, 4) between parts, as in Touches.held
    grip: Floats  # (N + 1, f, 3) on obstacles
    by_held: Floats  # (N + 1, h, 2, 3)
    by_grip: Floats  # (N + 1, f, 3)
    cot: Floats  # (f, 15) scratch, see `thruster_errors.py`
    hold: Floats  # (f + contacts at once, HOLD) scratch
    slopes: Floats  # (2, n) scratch


@inline
def is_held(hold):
    """Whether friction of some contact holds."""
    return len(hold.held) > 0


@inline
def _holds_frame(frames, f):
    """Whether a frame load is a contact whose friction holds."""
    return frames.table[f, KIND] == CONTACT and holds(frames.data, f) and frames.data[f, FRICTION] > 0.0


@inline
def _holds_parts(touches, e):
    """Whether the friction of a contact between parts holds."""
    t = touches.hits[e, 0]
    return touches.law[t, MU] > 0.0 and touches.law[t, FADING] == 0.0


@part
def recall(loads, hold, step):
    """Bristles as the balance of a state sees them: those after the state before."""
    if not is_held(hold) or step == 0:
        return
    for row in range(hold.held.shape[1]):
        for slot in range(2):
            for c in range(4):
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
        hold.hold[first + e, STIFF] = 0.0
        if _holds_parts(touches, e):
            _, n, depth, v, spin_a, spin_b, reach, part_a, part_b = meeting(node, touches, c, k, m, touches.hit[e, S])
            f = pushing(touches, t, k, depth, -dot(n, v))[0]
            row, where = _rows(touches, e)
            z, u = (
                carried(touches, row, where, spin_b, dt),
                sliding(n, v, spin_a, spin_b, reach, part_a, part_b),
            )
            z = axpy(dt, u, axpy(-dot(n, z), n, z))
            stiffness = touches.law[t, SHEAR] * touches.law[t, STIFFNESS_OF_PARTS] * touches.point[k, SHARE]
            _note(hold, first + e, n, z, spin_b, touches.law[t, MU] * f, stiffness)


@part
def _add_lanes(tree, pairs, touches, e, by, out):
    """out (n,) += by . the change of the force of contact e, for every coordinate."""
    pair = touches.table[touches.hits[e, 0], PAIR]
    first = pairs.table[pair, 2]
    for b in range(first, pairs.table[pair, 3]):
        for l in range(pairs.lanes[b]):
            k = tree.of_lane[4 * pairs.pack[b] + l]
            if k >= 0:
                out[k] += dot(by, load3(touches.change, 4 * (b - first) + l, D_FORCE))


@part
def add_slopes(tree, node, pairs, touches, dt, hold, step, out):
    """out (n,) += z1^ . dZ of contacts between parts, for every coordinate, as the last tangent took its columns."""
    first = len(hold.cot)
    for e in range(min(touches.count[HITS], len(touches.hits))):
        slot = _slot_after(touches, e)
        if hold.hold[first + e, STIFF] == 0.0 or slot < 0:
            continue
        by = scale(-1.0 / hold.hold[first + e, STIFF], load3(hold.by_held[step, _rows(touches, e)[0]], slot, 0))
        if dot(by, by) == 0.0:
            continue
        t = touches.hits[e, 0]
        lanes_of(node, pairs, touches, e)
        changes_of(node, pairs, touches, e, dt)
        _add_lanes(tree, pairs, touches, e, by, out)
        kept, touches.law[t, MU] = touches.law[t, MU], 0.0  # less what the force changes by without friction
        changes_of(node, pairs, touches, e, dt)
        touches.law[t, MU] = kept
        _add_lanes(tree, pairs, touches, e, scale(-1.0, by), out)


@inline
def _before(hold, k, after, y, dt):
    """z^ of a bristle, from z1^ and the virtual sliding y."""
    n, spin = load3(hold.hold, k, NORMAL), load3(hold.hold, k, SPIN)
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
        if hold.hold[first + e, STIFF] == 0.0 or slot < 0:
            continue
        c, k, m = touches.hits[e, 1], touches.hits[e, 2], touches.hits[e, 3]
        _, n, _, v, spin_a, spin_b, reach, part_a, part_b = meeting(node, touches, c, k, m, touches.hit[e, S])
        y, by = sliding(n, v, spin_a, spin_b, reach, part_a, part_b), (0.0, 0.0, 0.0)
        if after >= 0:
            by = load3(hold.by_held[step, row], after, 0)
        here = hold.by_held[step - 1, row]
        store3(here, slot, 0, add(load3(here, slot, 0), _before(hold, first + e, by, y, dt)))


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
            total += dot(load3(hold.by_held[step, _rows(touches, e)[0]], slot, 0), load3(touches.hit, e, BRISTLE))
    return total
