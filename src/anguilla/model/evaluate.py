"""The residual R(q, v, a, lambda) of the equations of motion and its exact tangent: three phases, down, loads, up.

R = M(q) a + C(q, v) v + K q + D v - external forces - J^T lambda (004 (17)), followed by the constraints phi. R = 0 is the
motion, v = a = 0 the equilibrium.
"""

from __future__ import annotations

import math

from anguilla.compiler.distant import MATRIX, NUMBER, VECTOR, compiled, distant
from anguilla.compiler.jit import part
from anguilla.interact.kernels.constraints import (
    add_constraint_blocks,
    add_constraint_forces,
    add_line_gradients,
    constraint_gradients,
    constraint_values,
    set_tensions,
)
from anguilla.interact.kernels.contact import contact_blocks, contact_wrenches, has_contacts
from anguilla.interact.kernels.frames import add_frame_columns, add_frame_loads
from anguilla.interact.kernels.impact import judge_impacts, note_touching
from anguilla.interact.kernels.muscle import add_muscle_forces, add_muscle_hessians
from anguilla.interact.kernels.pairs import add_pair_tangent, add_spring_blocks, add_spring_forces, gather_pairs
from anguilla.interact.kernels.rubbing import rub, rubs
from anguilla.interact.kernels.stream import add_stream_forces, add_stream_rows, gather_streams
from anguilla.interact.kernels.table import DT, EFFORT, GRAVITY, Loads, has_more, may_touch
from anguilla.interact.kernels.tendon import add_tendon_forces, add_tendon_hessians
from anguilla.interact.kernels.touch import add_touching, find_touching, silent
from anguilla.interact.kernels.touch_change import add_touching_tangent, gather_touching, mark_touching
from anguilla.interact.kernels.touch_steps import judge_meeting, note_meeting
from anguilla.interact.kernels.wrench import add_wrench_columns, add_wrenches, row3
from anguilla.linear.ahead import fetch_block
from anguilla.linear.tree import eliminate, gather_forces, load_host, push_blocks, solve_tree, spread_motion
from anguilla.mechanics.forces import add_elasticity, carry_up, collect_forces, inertia_and_gravity
from anguilla.mechanics.motion import move
from anguilla.mechanics.rodmap import RECORD
from anguilla.mechanics.tangent import (
    add_elastic_tangent,
    block_width,
    clear_below,
    collect_rows,
    columns_down,
    columns_up,
    keep_port,
    linearise_locally,
    matters,
    places_down,
)
from anguilla.mechanics.tree import F_P0, FACE, Elimination, Tree, Workspace, is_cut


@distant(Tree, Workspace, VECTOR, VECTOR, VECTOR)
def descend(tree, ws, q, v, a):
    """First phase of the residual: the motion of all nodes, after which loads written in Python are asked."""
    move(tree, ws, q, v, a)


# What robots of rods and tendons alone do not need: compiled for the first robot that does.


@distant(Workspace, Loads)
def touch(ws, loads):
    """Wrenches of contacts, at the present motion."""
    contact_wrenches(ws.node, loads.frames, loads.row[DT])


@distant(Workspace, Loads)
def touch_changes(ws, loads):
    """How the wrenches of contacts change."""
    contact_blocks(ws.node, loads.frames, loads.row[DT])


@distant(Tree, Workspace, Loads, NUMBER, VECTOR)
def meet_judge(tree, ws, loads, dt, out):
    """The same as `judge_touch`, of contacts between parts."""
    judge_meeting(tree, ws.node, loads.touches, dt, out)


@distant(Workspace, Loads, NUMBER, VECTOR)
def meet_note(ws, loads, known, out):
    """The same as `note_touch`, of contacts between parts."""
    note_meeting(ws.node, loads.touches, known, out)


@distant(Tree, Workspace, Loads, NUMBER, NUMBER, VECTOR)
def judge_touch(tree, ws, loads, dt, mid, out):
    """out[0] = 1 if a step of length dt, balanced at the part `mid` of it, missed an impact, else 0."""
    out[0] = 0.0
    if has_contacts(loads.frames):
        judge_impacts(tree, ws, loads.frames, dt, mid, out)
    if len(loads.touches.table) > 0 and out[0] == 0.0:
        meet_judge(tree, ws, loads, dt, out)


@distant(Workspace, Loads, NUMBER, VECTOR)
def note_touch(ws, loads, known, out):
    """Keep the motion of what may touch as the start of the next step, with known = 1, or forget it.

    out[1] is the time [s] before which nothing can touch.
    """
    out[1] = math.inf
    if has_contacts(loads.frames):
        note_touching(ws.node, loads.frames, known, out)
    if len(loads.touches.table) > 0:
        meet_note(ws, loads, known, out)


@distant(Workspace, Loads)
def meet(ws, loads):
    """Contacts between parts, and their wrenches."""
    find_touching(ws.node, loads.touches)
    add_touching(ws.node, loads.row[DT], loads.touches)


@distant(Workspace, Loads, NUMBER)
def meet_columns(ws, loads, block):
    """What contacts between parts need of the columns of a block; the first block that is asked for is the last one."""
    b = int(block)
    if b == len(loads.wrench_at) - 2:
        mark_touching(loads.touches)
    gather_touching(ws.columns, ws.places, loads.touches, b)


@distant(Tree, Workspace, Loads)
def meet_changes(tree, ws, loads):
    """How contacts between parts change, into the matrix."""
    whole, width = len(tree.root) == 1, len(ws.rows)
    add_touching_tangent(ws.node, loads.pairs, loads.touches, loads.row[DT], ws.matrix, width, whole)


@distant(Tree, Workspace, Loads)
def rub_lines(tree, ws, loads):
    """Part of their tension that tendons keep along their lines, at the present motion."""
    rub(tree, ws, loads.cables, loads.pairs, True)


@distant(Workspace, Loads, VECTOR)
def more_forces(ws, loads, lam):
    """Wrenches of frame loads, springs, spans and constraints, into the balance of their nodes."""
    if len(loads.frames.table) > 0:
        if has_contacts(loads.frames):
            touch(ws, loads)
        add_frame_loads(ws.node, loads.row, loads.frames)
    if len(loads.pairs.spring) + len(loads.pairs.span) > 0:
        add_spring_forces(ws.node, loads.pairs, loads.tension)
    if len(lam) > 0:
        add_constraint_forces(ws.node, loads.row, loads.at, loads.pairs, loads.constraints, lam)
    if len(loads.touches.table) > 0 and not silent(loads.touches):
        meet(ws, loads)


@distant(Workspace, Loads, VECTOR, VECTOR)
def more_rows(ws, loads, lam, out):
    """Forces of streams into the rows; the constraints into out (m,)."""
    if len(loads.streams.table) > 0:
        add_stream_forces(ws.node, loads.streams, ws.rows)
    if len(lam) > 0:
        constraint_values(ws.node, loads.row, loads.at, loads.pairs, loads.constraints, lam, out, 0)


@distant(Workspace, Loads, NUMBER)
def more_columns(ws, loads, block):
    """How frame loads on a block change, into the columns of their nodes; what pairs and streams need of the columns.

    The first block that is asked for is the last one.
    """
    b = int(block)
    if len(ws.places) > 0:
        if b == len(loads.wrench_at) - 2:
            loads.pairs.block[:] = 0.0
            if has_contacts(loads.frames):
                touch_changes(ws, loads)
        if len(loads.frames.table) > 0:  # empty tables are the same for all robots
            add_frame_columns(ws.node, ws.columns, ws.places, loads.row, loads.frames, b)
        if len(loads.pairs.table) > 0:
            gather_pairs(ws.columns, ws.places, loads.pairs, b)
        if len(loads.streams.table) > 0:
            gather_streams(ws.node, ws.columns, ws.places, loads.streams, b)
        if len(loads.touches.table) > 0:
            meet_columns(ws, loads, block)


@distant(Tree, Workspace, Loads, VECTOR)
def more_tangents(tree, ws, loads, lam):
    """How springs, spans, streams and constraints change, into the matrix; gradients of the constraints."""
    pairs, c, whole = loads.pairs, loads.constraints, len(tree.root) == 1
    if len(ws.places) > 0:
        add_spring_blocks(ws.node, pairs, loads.tension)
        add_constraint_blocks(ws.node, loads.row, loads.at, pairs, c, lam)
        pairs.far[:] = 0.0
        for p in range(len(pairs.block)):
            if whole:
                add_pair_tangent(pairs, p, ws.matrix, 0, len(ws.rows), True)
            else:
                width = pairs.lane_at[pairs.table[p, 3]] - pairs.lane_at[pairs.table[p, 2]]
                add_pair_tangent(pairs, p, pairs.far, pairs.far_at[p], width, False)
        if len(loads.touches.table) > 0:
            meet_changes(tree, ws, loads)
        add_stream_rows(tree, ws, loads.streams)
    if len(lam) > 0:
        constraint_gradients(ws.node, loads.row, loads.at, pairs, c)
        own = tree.segment, tree.own_pack, tree.own_packs, tree.pack_slot, tree.strains
        values = tree.basis, tree.basis_at, tree.record_at, ws.local
        add_line_gradients(*own, *values, loads.cables, c)


def prepare(tree: Tree, loads: Loads) -> None:
    """Compile what a robot and its loads need beyond what every one needs."""
    if is_cut(tree):
        compiled(expand, eliminate, load_host, solve_tree)
    if has_more(loads):
        compiled(more_forces, more_rows, more_columns, more_tangents)
    if has_contacts(loads.frames):
        compiled(touch, touch_changes)
    if may_touch(loads):
        compiled(judge_touch, note_touch)
    if len(loads.touches.table) > 0:
        compiled(meet, meet_columns, meet_changes, meet_judge, meet_note)
    if rubs(loads.cables):
        compiled(rub_lines)


@distant(Tree, Workspace, Loads, VECTOR, VECTOR)
def ascend(tree, ws, loads, lam, out):
    """The other phases of the residual; R and the constraints into out (n + m,)."""
    c = loads.constraints
    if len(loads.tension) > 0:
        lines = ws.node, ws.local, tree.record_at, loads.row, loads.at, loads.cables, loads.pairs
        set_tensions(*lines, c, lam, loads.tension)
        if loads.row[DT] > 0.0 and rubs(loads.cables):  # in statics factors are given
            rub_lines(tree, ws, loads)
    inertia_and_gravity(tree, ws, row3(loads.row, GRAVITY))
    add_wrenches(ws, loads)
    if has_more(loads):
        more_forces(ws, loads, lam)
    carry_up(tree, ws)
    add_tendon_forces(tree, ws, loads)
    add_muscle_forces(tree, ws, loads)
    collect_forces(tree, ws)
    add_elasticity(tree, ws, loads.relaxing)
    effort, n = loads.at[EFFORT], len(tree.lane)
    if has_more(loads) and len(loads.streams.table) + len(lam) > 0:
        more_rows(ws, loads, lam, out[n:])
    for k in range(n):
        out[k] = ws.rows[tree.lane[k]] - loads.row[effort + k]


@distant(Tree, Workspace, Loads, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, needs=(descend, ascend))
def residual(tree, ws, loads, q, v, a, lam, out):
    """R(q, v, a, lam) and the constraints into out (n + m,)."""
    descend(tree, ws, q, v, a)
    ascend(tree, ws, loads, lam, out)


@distant(Tree, Workspace, Loads, Elimination, NUMBER, NUMBER, VECTOR)
def linearise(tree, ws, loads, e, alpha, beta, lam):
    """Blocks of dR/dq + alpha dR/dv + beta dR/da, at the state of the last call of `residual`.

    With an `Elimination`, blocks are eliminated on the way, from the tips to the root: for a robot without constraints and
    without loads between distant parts.
    """
    if len(tree.root) == 1 or len(loads.streams.table) + len(loads.touches.table) > 0:
        ws.matrix[:] = 0.0  # else what is not written below stays zero
    last, end = len(tree.parent), len(ws.local) // RECORD
    if len(loads.cables.link) + len(loads.muscles.link) > 0:
        linearise_locally(tree, ws, alpha, beta, 1, last, 0, end)
        add_tendon_hessians(tree, ws, loads)
        add_muscle_hessians(tree, ws, loads)
        last, end = 1, 0
    wide, more, tips_first = len(loads.frames.table) + len(loads.pairs.table) > 0, has_more(loads), len(e.at) > 0
    matrix, roots = ws.matrix, ws.roots
    if tips_first:  # a block is done with once it is eliminated: all use the same memory
        matrix, roots = e.matrix, e.roots
    for b in range(len(tree.root) - 1, -1, -1):
        if tree.ready[b, 0] < last:  # while it is at hand: the records of a large robot do not fit in fast memory
            linearise_locally(tree, ws, alpha, beta, tree.ready[b, 0], last, tree.ready[b, 1], end)
            last, end = tree.ready[b, 0], tree.ready[b, 1]
        if b > 0:
            fetch_block(tree, ws, e, b - 1, last, end)
        for place in range(tree.member_at[b], tree.member_at[b + 1]):
            s = tree.member[place]
            for k in range(tree.path_packs[s] + tree.own_packs[s]):
                if wide or matters(tree, s, k):
                    columns_down(tree, ws, s, k)
                    if len(ws.places) > 0:
                        places_down(tree, ws, s, k)
            for k in range(tree.path_packs[s] + tree.own_packs[s], tree.path_packs[s] + tree.sub_packs[s]):
                clear_below(tree, ws, s, k)
        at, back_at = tree.block_at[b], 24 * tree.extended_at[b]
        if tips_first:
            at, back_at = 0, 0
            matrix[: 4 * tree.packs[b] * block_width(tree, b)] = 0.0
        add_wrench_columns(tree, ws, loads, b)
        if more:
            more_columns(ws, loads, float(b))
        for place in range(tree.child_at[b], tree.child_at[b + 1]):
            if tips_first:
                load_host(tree, ws, e, float(tree.child[place]), float(FACE if wide else F_P0))
            else:
                keep_port(tree, ws, tree.child[place], wide)
        for place in range(tree.member_at[b + 1] - 1, tree.member_at[b] - 1, -1):
            s = tree.member[place]
            for k in range(tree.path_packs[s] + tree.sub_packs[s]):
                if wide or matters(tree, s, k):
                    columns_up(tree, ws, s, k, roots, back_at)
                    collect_rows(tree, ws, s, k, matrix, at)
            add_elastic_tangent(tree, loads.relaxing, s, alpha, matrix, at)
        if tips_first:
            eliminate(tree, ws, e, float(b), float(FACE if wide else F_P0))
    if has_more(loads):
        more_tangents(tree, ws, loads, lam)


@part
def _write(tree, ws, c, out):
    """The tangent of a robot of one block, bordered by the constraints, into out (n + m, n + m)."""
    width, n, m = len(ws.rows), len(tree.lane), len(c.table)
    for i in range(n):
        row = tree.lane[i] * width
        for j in range(n):
            out[i, j] = ws.matrix[row + tree.lane[j]]
        for k in range(m):
            out[i, n + k], out[n + k, i] = 0.0, 0.0
    for k in range(m):
        for l in range(m):
            out[n + k, n + l] = c.diagonal[k] if k == l else 0.0
        for e in range(c.entry[k], c.entry[k + 1]):
            for l in range(4):
                i = tree.of_lane[4 * c.pack[e] + l]
                if i >= 0:
                    out[i, n + k] += c.column[e, l]
                    out[n + k, i] += c.jacobian[e, l]


@distant(Tree, Workspace, Loads, VECTOR, VECTOR)
def times(tree, ws, loads, x, out):
    """The bordered tangent, from `linearise` without elimination, times x (n + m,), into out (n + m,)."""
    c, pairs, n, f = loads.constraints, loads.pairs, len(tree.lane), ws.pushed
    spread_motion(tree, ws, x)
    push_blocks(tree, ws)
    for p in range(len(pairs.table)):
        first, last, at = pairs.table[p, 2], pairs.table[p, 3], pairs.far_at[p]
        for b in range(first, last):
            for l in range(pairs.lanes[b]):
                total = 0.0
                for d in range(first, last):
                    for m in range(pairs.lanes[d]):
                        total += pairs.far[at] * ws.moved[4 * pairs.pack[d] + m]
                        at += 1
                f[4 * pairs.pack[b] + l] += total
    for k in range(len(c.table)):
        total = c.diagonal[k] * x[n + k]
        for e in range(c.entry[k], c.entry[k + 1]):
            for l in range(4):
                total += c.jacobian[e, l] * ws.moved[4 * c.pack[e] + l]
                f[4 * c.pack[e] + l] += c.column[e, l] * x[n + k]
        out[n + k] = total
    gather_forces(tree, ws, out)


@distant(Tree, Workspace, Loads, VECTOR, MATRIX, needs=(times,))
def expand(tree, ws, loads, one, out):
    """The whole tangent of a robot in blocks, one column at a time; one (n + m,) is scratch. `out` is transposed."""
    for j in range(len(one)):
        one[:] = 0.0
        one[j] = 1.0
        times(tree, ws, loads, one, out[j])


@distant(Tree, Workspace, Loads, NUMBER, NUMBER, VECTOR, MATRIX, needs=(linearise,))
def tangent(tree, ws, loads, alpha, beta, lam, out):
    """dR/dq + alpha dR/dv + beta dR/da, bordered by the constraints, into out (n + m, n + m).

    At the state of the last call of `residual`.
    """
    linearise(tree, ws, loads, ws.none, alpha, beta, lam)
    if len(tree.root) == 1:
        _write(tree, ws, loads.constraints, out)
    else:
        expand(tree, ws, loads, ws.column, out)
        for i in range(len(out)):
            for j in range(i):
                out[i, j], out[j, i] = out[j, i], out[i, j]
