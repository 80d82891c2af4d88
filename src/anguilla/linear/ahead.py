"""What `linearise` needs of a block, asked for while it works on the one before: large robots do not fit in fast memory."""

from __future__ import annotations

from anguilla.compiler.fetching import fetch, fetch_all
from anguilla.compiler.jit import part
from anguilla.mechanics.rodmap import RECORD
from anguilla.mechanics.tree import FACE, NODE_SIZE

__all__ = ["fetch_block"]

SIZE = int(RECORD)
FURTHER = 8  # blocks ahead: what is read below of a block has to be there


@part
def fetch_block(tree, ws, e, b, node, record):
    """Ask for what block b needs; nodes from `node` on and records from `record` on are there."""
    first, last, s = tree.ready[b, 0], node, tree.member[tree.member_at[b]]
    fetch_all((ws.node,), first * NODE_SIZE, last * NODE_SIZE)
    fetch_all((ws.local,), tree.ready[b, 1] * SIZE, record * SIZE)
    fetch_all((tree.parent, tree.kind, tree.record_at, tree.basis_at, tree.mass), first, last)
    fetch_all((ws.jets_at, ws.turning_at), first, last)
    fetch_all((tree.inertia,), 3 * first, 3 * last)
    fetch((tree.first, tree.last, tree.block, tree.path_at, tree.path_packs, tree.sub_packs, tree.columns_at), s)
    fetch((tree.own_pack, tree.own_packs, tree.own_at, tree.strain_count, tree.stiffness_at, tree.viscosity), s)
    fetch((tree.strains,), 6 * s)
    fetch_all((tree.stiffness,), tree.stiffness_at[s], tree.stiffness_at[s] + (4 * tree.own_packs[s]) ** 2)
    fetch_all((tree.friction,), 4 * tree.own_pack[s], 4 * (tree.own_pack[s] + tree.own_packs[s]))
    far = max(b - FURTHER, 0)
    fetch((tree.member_at, tree.child_at, tree.root, tree.host, tree.face, tree.packs, tree.extended_at), far)
    fetch((tree.lead, tree.block_at, tree.member, tree.child), far)
    fetch((tree.ready,), 2 * far)
    if len(e.at) > 0:
        begin, end = tree.lead[b], tree.lead[b + 1]
        fetch_all((tree.coordinate, tree.extended, tree.scale, e.held, e.pivot), begin, end)
        fetch_all((tree.of_lane,), 4 * tree.extended_at[b], 4 * tree.extended_at[b + 1])
        fetch_all((e.factor,), e.at[b], e.at[b + 1])
        fetch_all((e.port,), e.port_at[b], e.port_at[b + 1])
        fetch_all((e.back,), 6 * begin, 6 * end)
        fetch_all((e.schur,), 6 * FACE * b, 6 * FACE * (b + 1))
        fetch_all((e.arm,), 9 * b, 9 * (b + 1))
        fetch((e.at, e.port_at), far)
