"""What contacts between parts remember from step to step, and whether a step follows them (as `impact.py` for obstacles)."""

from __future__ import annotations

import math

from anguilla.compiler.jit import inline, kernel, part
from anguilla.interact.kernels.contact import stored
from anguilla.interact.kernels.friction import ROLLS, RUBS, WHERE
from anguilla.interact.kernels.gliding import SHARE
from anguilla.interact.kernels.impact import AROUND, EDGE, LOCAL, force_of, gained, too_wrong
from anguilla.interact.kernels.table import (
    BENT,
    DAMPING,
    FRICTION,
    HITS,
    PUSHED,
    QUIET,
    ROLLING,
    SEEN,
    SINCE,
    SLIP,
    SMOOTH,
    STIFF,
    UNTIL,
)
from anguilla.interact.kernels.touch import (
    BRISTLE,
    NOWHERE,
    ROLLED,
    ROOM,
    S,
    as_far,
    find_touching,
    may_have_met,
    meeting,
    own_row,
)
from anguilla.mechanics.tree import N_V, N_W
from anguilla.mechanics.vec import dot, load3, store3, sub

# Columns of Touches.deep: depth, its rate, normal; and of Touches.before, the same at the start of a step, and the largest
# depth since the motion began. The first row also says whether that is known, and whether anything was near
DEPTH, RATE, NORMAL, NOTED, ANY, DEEPEST, BEFORE = 0, 1, 2, 5, 6, 7, 8


@inline
def holds(touches):
    """Whether some contact has friction that holds."""
    found = False
    for t in range(len(touches.table)):
        if (touches.law[t, FRICTION] > 0.0 or touches.law[t, ROLLING] > 0.0) and touches.law[t, SLIP] == 0.0:
            found = True
    return found


@kernel
def keep_bristles(touches):
    """Accept a step: bristles at its end start the next one; those of points that no longer touch are gone."""
    touches.held[:] = 0.0
    for e in range(min(touches.count[HITS], len(touches.hits))):
        row = own_row(touches, touches.hits[e, 0], touches.hits[e, 1], touches.hits[e, 2])
        slot = 0 if touches.held[row, 0, WHERE] == 0.0 else 1
        if touches.held[row, slot, WHERE] == 0.0:
            store3(touches.held[row], slot, RUBS, load3(touches.hit, e, BRISTLE))
            store3(touches.held[row], slot, ROLLS, load3(touches.hit, e, ROLLED))
            touches.held[row, slot, WHERE] = 1.0 + touches.hits[e, 3] + touches.hit[e, S]


@inline
def may_hold(touches):
    """At the start of some steps: bristles may be anywhere."""
    touches.count[BENT] = 1


@inline
def keep_touching(touches):
    """`keep_bristles`, if there are any now or were before the step."""
    if touches.count[BENT] == 1 or touches.count[HITS] > 0:
        keep_bristles(touches)
        touches.count[BENT] = 1 if touches.count[HITS] > 0 else 0


@part
def fastest(node, touches):
    """The most that the speed of two things that may touch can be, against each other."""
    low, high, turning, reach = (math.inf, math.inf, math.inf), (-math.inf, -math.inf, -math.inf), 0.0, 0.0
    clusters, curves = len(touches.cluster), len(touches.curve)
    for k in range(clusters + curves + len(touches.body)):
        if k < clusters:
            i, reach = touches.cluster[k, 3], max(reach, touches.reach[k, 1])
        elif k < clusters + curves:
            i = touches.curve[k - clusters, 1]
            if k - clusters < clusters and i == touches.cluster[k - clusters, 3]:
                continue
        else:
            i, size = touches.body[k - clusters - curves], touches.size[k - clusters - curves]
            if size == math.inf:
                size = 0.0
                for c in range(clusters):
                    size = max(size, as_far(node, touches, c, i))
            reach = max(reach, size)
        v, w = load3(node, i, N_V), load3(node, i, N_W)
        low = min(low[0], v[0]), min(low[1], v[1]), min(low[2], v[2])
        high = max(high[0], v[0]), max(high[1], v[1]), max(high[2], v[2])
        turning = max(turning, dot(w, w))
    between = sub(high, low)
    return math.sqrt(dot(between, between)) + 2.0 * reach * math.sqrt(turning)


@part
def note_meeting(node, touches, known, out):
    """Keep how deep all points are, as the start of the next step.

    known is 1, 0 if that is not exactly so, or -1 of a step that is taken back.
    out[1] becomes at most the time [s] before which nothing can touch, about.
    """
    gap, speed = ROOM * touches.skin[0] if touches.count[QUIET] != 0 else 0.0, touches.skin[1]
    if speed < 0.0:  # the step was not judged
        speed = fastest(node, touches)
    touches.skin[1] = -1.0
    if touches.count[SEEN] == 1 or touches.before[0, ANY] == 1.0:
        for row in range(len(touches.deep)):
            for x in range(5):
                touches.before[row, x] = touches.deep[row, x]
            if known >= 0.0:
                touches.before[row, DEEPEST] = max(touches.before[row, DEEPEST], touches.deep[row, DEPTH])
            gap = min(gap, max(-touches.deep[row, DEPTH], 0.0))
    elif touches.before[0, DEPTH] == 0.0:  # new memory: nothing is near
        for row in range(len(touches.before)):
            touches.before[row, DEPTH] = NOWHERE
    touches.before[0, NOTED], touches.before[0, ANY] = max(known, 0.0), float(touches.count[SEEN])
    out[1] = min(out[1], gap / max(speed, 1e-300))


@inline
def meeting_unknown(touches):
    """Whether nothing is known of the start of a step."""
    return len(touches.before) > 0 and touches.before[0, NOTED] == 0.0


@inline
def _misfit(touches, t, row, k, dt):
    """(energy that the contacts of a point may have got wrong in the step, that they gained, that is stored at its end)."""
    d0, d1, smooth, wrong, gain = touches.before[row, DEPTH], touches.deep[row, DEPTH], touches.law[t, SMOOTH], 0.0, 0.0
    u0, u1 = k * stored(d0, smooth), k * stored(d1, smooth)
    if d0 > 0.0 or d1 > 0.0:
        push, twice = 0.5 * (force_of(d0, k, smooth) + force_of(d1, k, smooth)), 0.5 * (u0 + u1)
        e1 = touches.deep[row, RATE] if d1 > NOWHERE else touches.before[row, RATE]
        e0 = touches.before[row, RATE] if d0 > NOWHERE else e1
        speed = max(e0 * e0, e1 * e1)
        way = d1 - d0 if d0 > NOWHERE and d1 > NOWHERE else 0.5 * (e0 + e1) * dt
        error = abs(push * way - (u1 - u0))
        gain = gained(d0, e0, d1, e1, way, k, smooth, touches.law[t, DAMPING])
        if d0 <= 0.0 or d1 <= 0.0:
            error = max(error, EDGE * (push * dt) ** 2 / max(twice, 1e-300) * speed)
        if error * abs(e1 - e0) > LOCAL * 0.5 * push * dt * speed:
            wrong = error
    return wrong, gain, u1


@inline
def _seen_from(touches, t, row):
    """Energy [J] of a part that a driven one pushes at a point, as seen from there; zero of all others."""
    rate = 0.0
    if touches.law[t, PUSHED] > 0.0:
        for at in (touches.before, touches.deep):
            if at[row, DEPTH] > NOWHERE:
                rate = max(rate, abs(at[row, RATE]))
    return 0.5 * touches.law[t, PUSHED] * rate * rate


@part
def _held_up(node, touches, t, k, n):
    """Whether a point still touches something on the side of the normal n: then it lies between two others."""
    for e in range(min(touches.count[HITS], len(touches.hits))):
        if touches.hits[e, 0] == t and touches.hits[e, 2] == k:
            _, now, _, _, _, _, _, _, _ = meeting(
                node, touches, touches.hits[e, 1], k, touches.hits[e, 3], touches.hit[e, S]
            )
            if dot(n, now) > -AROUND:
                return True
    return False


@part
def judge_meeting(tree, node, touches, dt, out):
    """out[0] = 1 if the step of length dt that ended here missed an impact between parts, or jumped over one.

    A step may not move things by more than they are thick, where they may have met on the way.
    """
    if touches.count[QUIET] == 3:  # contacts were left out
        find_touching(node, touches)
        if touches.count[HITS] > 0:
            out[0] = 1.0
        if touches.count[QUIET] == 1:  # nothing moved by more than 0.7 of the skin: speeds do not matter
            touches.skin[1] = 0.0
            return
    wrong, gain, loss, energy, pushed, most, n = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, (0.0, 0.0, 0.0)
    touched = touches.count[SEEN] == 1 or touches.before[0, ANY] == 1.0
    for t in range(len(touches.table) if touched else 0):
        for c in range(touches.table[t, SINCE], touches.table[t, UNTIL]):
            for k in range(touches.cluster[c, 0], touches.cluster[c, 1]):
                row = own_row(touches, t, c, k)
                more, won, kept = _misfit(touches, t, row, touches.law[t, STIFF] * touches.point[k, SHARE], dt)
                wrong, gain, energy = wrong + more, gain + won, energy + kept
                if touches.law[t, DAMPING] == 0.0:
                    loss -= won
                if more > most:
                    most, n = more, load3(touches.deep, row, NORMAL)
                if kept > 0.0 or more > 0.0 or won != 0.0:
                    pushed = max(pushed, _seen_from(touches, t, row))
                both = touches.before[row, DEPTH] > 0.0 and touches.deep[row, DEPTH] > 0.0
                before = load3(touches.before, row, NORMAL)
                if both and dot(before, load3(touches.deep, row, NORMAL)) < -AROUND:
                    if not _held_up(node, touches, t, k, before):
                        out[0] = 1.0  # through each other
    touches.skin[1] = fastest(node, touches)
    if touches.skin[1] * dt > touches.skin[0] and may_have_met(node, touches, dt):
        out[0] = 1.0
    if too_wrong(tree, node, n, wrong, gain, loss, energy, pushed):
        out[0] = 1.0
