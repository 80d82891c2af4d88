"""Whether a time step follows what touches: impacts that it misses, and obstacles that it jumps over.

A scheme of the Newmark family takes the work of a contact over a step by the trapezoidal rule. That is exact while the force
grows in proportion to the depth, and so at rest and in sliding, however stiff the contact. It is wrong where a place starts
or ceases to touch within the step, by up to about k (e dt)^2 / 10 with e the normal velocity: lost on the way in, gained on
the way out. A step is too long where that is more than a small part of the energy of the normal motion, both of the place
itself and of the robot. For a ball that is so with less than about fourteen steps in an impact. The mass behind a place is
the impulse of the contact over the change of its normal velocity. What all contacts gain in a step, counted with their
damping, is a far smaller part of the energy of the motion at most, and so is what those without damping lose.
"""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, part
from anguilla.interact.kernels.contact import DAMPING, SMOOTH, STIFFNESS, damped, normal, pressed, stored
from anguilla.interact.kernels.distance import GRID, HALF_SPACE, SHAPE, SIDE, SIZE
from anguilla.interact.kernels.table import CONTACT, KIND, NODE
from anguilla.mechanics.tree import N_V, N_X
from anguilla.mechanics.vec import axpy, dot, load3, store3, sub

LOCAL, WHOLE = 0.005, 0.005  # energy that contact gets wrong, as a part of that of a place, and of the robot
GAIN = 3e-4  # energy that contacts gain in a step, or lose without damping, as a part of that of the motion
EDGE = 0.05  # energy got wrong where a place starts or ceases to touch, as a part of k (e dt)^2
PLACES, THIRDS = 8, 12  # of the way from the start to the end of a step: places that are looked at, and closer looks
SUNK = 1  # where in the third row of Frames.state stands how deep a place has been since the motion began
AROUND = 0.5  # cosine of the angle by which the normal turns where a place may have jumped over an obstacle


@inline
def force_of(depth, stiffness, smooth):
    """Elastic force of a contact."""
    return stiffness * pressed(depth, smooth)[0] if depth > 0.0 else 0.0


@inline
def gained(d0, e0, d1, e1, way, k, smooth, damping):
    """Energy that a contact gains by the trapezoidal rule, from depths and their rates at both ends of a step."""
    f0 = force_of(d0, k, smooth) * damped(damping * e0)[0]
    f1 = force_of(d1, k, smooth) * damped(damping * e1)[0]
    return k * (stored(d1, smooth) - stored(d0, smooth)) - 0.5 * (f0 + f1) * way


@inline
def too_wrong(tree, node, n, wrong, gain, loss, energy, pushed):
    """Whether contacts got too much energy wrong, gained or lost too much of it, beside what they keep and what moves.

    Of what moves it is `pushed` [J] at least: what hits a driven part may be at rest.
    """
    change = max(gain, loss)
    if not (wrong > WHOLE * energy or change > GAIN * energy):
        return False
    across, moving = 0.0, 0.0
    for i in range(len(tree.mass)):
        v = load3(node, i, N_V)
        across += 0.5 * tree.mass[i] * dot(n, v) ** 2
        moving += 0.5 * tree.mass[i] * dot(v, v)
    return wrong > WHOLE * (max(across, pushed) + energy) or change > GAIN * (max(moving, pushed) + energy)


@inline
def _ends(node, frames, f, mid):
    """Places and velocities of what touches at the start and at the end of a step; the node is at the part `mid` of it."""
    i, before = frames.table[f, NODE], frames.state[f]
    x0, v0 = load3(before, 0, 0), load3(before, 0, 3)
    x1, v1 = load3(node, i, N_X), load3(node, i, N_V)
    return x0, v0, axpy(1.0 / mid - 1.0, sub(x1, x0), x1), axpy(1.0 / mid - 1.0, sub(v1, v0), v1)


@part
def _deepest(x0, x1, frames, f):
    """Depth where the way from x0 to x1 is deepest in the obstacle: the best of some places, and then around that."""
    way, best, deepest = sub(x1, x0), 0, -math.inf
    for k in range(PLACES + 1):
        depth = normal(axpy(k / PLACES, way, x0), frames, f)[0]
        if depth > deepest:
            best, deepest = k, depth
    low, high = max(best - 1.0, 0.0) / PLACES, min(best + 1.0, PLACES) / PLACES
    for _ in range(THIRDS):
        a, b = (2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0
        at_a, at_b = normal(axpy(a, way, x0), frames, f)[0], normal(axpy(b, way, x0), frames, f)[0]
        deepest = max(deepest, at_a, at_b)
        if at_a > at_b:
            high = b
        else:
            low = a
    return deepest


@inline
def _may_pass(x0, x1, n0, n1, data, f):
    """Whether a place may have jumped over an obstacle: over a round one, or over something in a grid."""
    if data[f, SHAPE] == HALF_SPACE:
        return False
    way = sub(x1, x0)
    if data[f, SHAPE] == GRID and dot(way, way) > data[f, SIZE + 4] ** 2:
        return True
    return data[f, SIDE] > 0.0 and dot(n0, n1) < AROUND


@inline
def _steep(n):
    """How fast the distance changes: by 1, and less between two walls of a grid."""
    return math.sqrt(dot(n, n))


@inline
def _misfit(node, frames, f, dt, mid):
    """(energy that contact f may have got wrong in the step, that it gained, that is stored at its end, normal)."""
    data = frames.data
    x0, v0, x1, v1 = _ends(node, frames, f, mid)
    d0, n0 = normal(x0, frames, f)
    d1, n1 = normal(x1, frames, f)
    k, smooth, wrong, gain = data[f, STIFFNESS], data[f, SMOOTH], 0.0, 0.0
    u0, u1 = k * stored(d0, smooth), k * stored(d1, smooth)
    if _may_pass(x0, x1, n0, n1, data, f):
        wrong = max(k * stored(_deepest(x0, x1, frames, f), smooth) - max(u0, u1), 0.0)
    dm, nm = normal(load3(node, frames.table[f, NODE], N_X), frames, f)
    if d0 > 0.0 or d1 > 0.0 or dm > 0.0:
        if mid < 1.0:  # the rule takes the force of the middle
            push, twice = _steep(nm) * force_of(dm, k, smooth), 2.0 * k * stored(dm, smooth)
            slower = damped(-0.5 * data[f, DAMPING] * (dot(n0, v0) + dot(n1, v1)))[0]
            gain = u1 - u0 - slower * force_of(dm, k, smooth) * (d1 - d0)
        else:
            push = 0.5 * (_steep(n0) * force_of(d0, k, smooth) + _steep(n1) * force_of(d1, k, smooth))
            twice = 0.5 * (u0 + u1)
            gain = gained(d0, -dot(n0, v0), d1, -dot(n1, v1), d1 - d0, k, smooth, data[f, DAMPING])
        e0, e1 = dot(n0, v0), dot(n1, v1)
        speed, error = max(e0 * e0, e1 * e1), abs(push * (d1 - d0) - (u1 - u0))
        if d0 <= 0.0 or d1 <= 0.0:
            error = max(error, EDGE * (push * dt) ** 2 / max(twice, 1e-300) * speed)  # k = push^2 / twice
        if push == 0.0 or error * abs(e1 - e0) > LOCAL * 0.5 * push * dt * speed:
            wrong += error
    return wrong, gain, u1, n1


@part
def judge_impacts(tree, ws, frames, dt, mid, out):
    """out[0] = 1 if the step of length dt that ended here missed an impact, else 0; to be called before `note_touching`."""
    wrong, gain, loss, stored, most, n = 0.0, 0.0, 0.0, 0.0, 0.0, (0.0, 0.0, 0.0)
    for f in range(len(frames.table)):
        if frames.table[f, KIND] == CONTACT:
            more, won, energy, towards = _misfit(ws.node, frames, f, dt, mid)
            wrong, gain, stored = wrong + more, gain + won, stored + energy
            if frames.data[f, DAMPING] == 0.0:
                loss -= won
            if more > most:
                most, n = more, towards
    out[0] = 1.0 if too_wrong(tree, ws.node, n, wrong, gain, loss, stored, 0.0) else 0.0


@part
def note_touching(node, frames, known, out):
    """Keep where all places that may touch are now, and how they move, as the start of the next step.

    known is 1, 0 if they are not exactly there, or -1 of a step that is taken back. out[1] is the time [s] before which none
    can touch, at their speeds.
    """
    soonest = math.inf
    for f in range(len(frames.table)):
        if frames.table[f, KIND] == CONTACT:
            x, v = load3(node, frames.table[f, NODE], N_X), load3(node, frames.table[f, NODE], N_V)
            store3(frames.state[f], 0, 0, x)
            store3(frames.state[f], 0, 3, v)
            frames.state[f, 1, 0] = max(known, 0.0)
            gap = -normal(x, frames, f)[0]
            if known >= 0.0:
                frames.state[f, 2, SUNK] = max(frames.state[f, 2, SUNK], -gap)
            if gap < frames.data[f, SMOOTH]:
                soonest = 0.0
            soonest = min(soonest, gap / max(math.sqrt(dot(v, v)), 1e-300))
    out[1] = soonest


@inline
def touching_unknown(frames):
    """Whether nothing is known of the start of a step.

    So it is of the first one, after one that missed an impact (its pieces may be far shorter than the error of Newton), and
    where the balance is not taken at the end of steps.
    """
    found = False
    for f in range(len(frames.table)):
        if frames.table[f, KIND] == CONTACT and frames.state[f, 1, 0] == 0.0:
            found = True
    return found
