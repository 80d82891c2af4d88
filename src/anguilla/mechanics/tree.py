"""The frozen numeric tree that kernels walk, and the workspace they write to.

Frames are nodes. Node 0 is the ground; node i > 0 hangs on `parent[i]` by link i. Links come in *segments*: a segment is
a chain of consecutive nodes that owns a block of coordinates (a rod: its root, then one node per interval). Segments are
numbered depth first, so the coordinates of a subtree are contiguous.

Coordinates travel in packs of four lanes, one strain to a pack (unused lanes are zero). The columns that a node's motion
depends on are those of its *path* (packs of the segments it hangs on) and its own; the columns that the wrench below a
node depends on are path, own and everything further down: [path | subtree], all whole packs. The columns of a segment are
stored pack by pack, node by node along the chain, so that a node's record follows its parent's at a constant distance.

A small robot is one *block*: its tangent is one matrix. The tree of a large one is cut into blocks, each a few segments. All
that a block feels of what it hangs on passes through the motion of one node, its *face*: the small rotation, the displacement
and their two time derivatives are columns of the block like those of its own coordinates, before them: [face | own]. All that
it gives back is one wrench. Columns of all blocks, one after the other, are the *extended* ones; their records share one
memory, since a block is done with before the next is begun.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anguilla.compiler.lanes import LANES, field
from anguilla.compiler.table import Arrays
from anguilla.mechanics.rodmap import JETS, LENGTH, RECORD

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FIXED, ROD, JOINT, BALL = 0, 1, 2, 3  # kinds of link; all but FIXED have a record in Workspace.local

# One record per node, world axes.
N_R = 0  # rotation, nine numbers
N_W = 9  # angular velocity
N_AL = 12  # angular acceleration
N_X = 15  # position
N_V = 18  # velocity
N_A = 21  # acceleration
N_F = 24  # force from this node on (inertia minus external), accumulated upwards
N_M = 27  # its moment about this node
N_MI = 30  # the node's own inertia moment
N_R0 = 33  # vector from the parent's origin, and its two rates
N_R1 = 36
N_R2 = 39
NODE_SIZE = 42

# What the tangent needs of a node besides, in memory of its own, which blocks of a large robot share (Workspace.turning).
T_I = 0  # world inertia, nine numbers
T_G = 9  # gyroscopic matrix [w] I - I [w] - [I w]
TURNING = 18

# Fields of the columns record of one node and one pack: three-vectors of columns.
TH0, TH1, TH2 = field(0), field(3), field(6)  # rotation and its two time derivatives
P2 = field(9)  # second time derivative of the position
DR, DF, DM = field(12), field(15), field(18)  # vector from the parent; accumulated force and moment
BX, BY = field(21), field(24)  # moment and force with the parent's rotation removed
PHI, PSI = field(27), field(28)  # values of the own coordinates at Gauss points 1 and 2 (constant)
G1, G2 = field(3), field(4)  # going up: strain-force columns, two fields per active strain, over TH1..DR
PACK_SIZE = field(29)
MOTION_FIELDS = 12 * LANES  # TH0 to P2
COLUMN_FIELDS = 27 * LANES  # all but the constant ones

# Fields of the places record of one node and one pack: columns of the position and of the velocity.
P0, P1 = field(0), field(3)
PLACE_SIZE = field(6)


TERM = 2 * LANES * LANES  # numbers of a term

# Lanes of a face: small rotation and its rates, second rate of the displacement, displacement and its rate; two are empty.
# The first three packs are all that matters where nothing depends on places.
F_TH0, F_TH1, F_TH2, F_P2, F_P0, F_P1, FACE = 0, 3, 6, 9, 12, 15, 18
FACE_PACKS, NARROW = 5, 3


class Tree(Arrays):
    """Everything about a robot that does not change while it moves (arrays are read-only, C-contiguous)."""

    flat: Ints  # (1,) 1 if the robot stays in the plane x-y
    parent: Ints  # (nodes,)
    kind: Ints  # (nodes,) FIXED, ROD, JOINT or BALL
    segment: Ints  # (nodes,) owner of the link
    fixed: Floats  # (nodes, 12) FIXED: rotation (9), translation (3); JOINT: axis (3), turn and slide per unit
    length: Floats  # (nodes,) interval length [m] of ROD links
    record_at: npt.NDArray[np.uint64]  # (nodes,) offset of a ROD link in Workspace.local
    prescribed: Floats  # flat, four intervals side by side: strains not driven by q
    term_at: Ints  # (records + 1,) first term of each record of four links
    term: npt.NDArray[
        np.uint64
    ]  # (terms, 3) strain field of a record that a pack of coordinates feeds, its first lane, and where its values begin
    term_value: Floats  # flat, TERM numbers: of each lane the basis at Gauss points 1 of the four links, then at 2
    basis: Floats  # flat: per ROD link, values of the own coordinates at Gauss point 1, then at 2
    basis_at: Ints  # (nodes,) offset into basis
    mass: Floats  # (nodes,) [kg]
    inertia: Floats  # (nodes, 3) principal inertia in the node's axes [kg m^2]
    turning: Floats  # (nodes,) of a flat robot: inertia about the normal of the plane [kg m^2]
    first: Ints  # (segments,) first node
    last: Ints  # (segments,) last node
    own_pack: Ints  # (segments,) first own pack
    own_packs: Ints  # (segments,) number of own packs
    own_at: Ints  # (segments,) place of the first own pack among those of the block
    block: Ints  # (segments,) block it belongs to
    member: Ints  # (segments - 1,) segments but the ground, block by block
    member_at: Ints  # (blocks + 1,) first of a block's
    child: Ints  # blocks that hang on others, host by host
    child_at: Ints  # (blocks + 1,) first of a block's
    root: Ints  # (blocks,) first segment
    host: Ints  # (blocks,) block that it hangs on by its face, or -1
    face: Ints  # (blocks,) packs of the face, FACE_PACKS, or 0 of what hangs on the ground
    packs: Ints  # (blocks,) own packs
    extended_at: Ints  # (blocks,) first of its extended packs
    block_at: Ints  # (blocks,) offset of its matrix in Workspace.matrix
    lead: Ints  # (blocks + 1,) first of its coordinates in `coordinate`
    coordinate: Ints  # (n,) coordinates, block by block
    extended: Ints  # (n,) extended lane of coordinate k
    of_lane: Ints  # (extended lanes,) coordinate of a lane, or -1
    port_at: Ints  # (blocks,) offset of the motion of its face in Workspace.ports
    ready: Ints  # (blocks, 2) first node and first record of four links that this block or a later one needs
    sub_packs: Ints  # (segments,) number of packs of the subtree in the block, own included
    path_packs: Ints  # (segments,) number of path packs
    path_at: Ints  # (segments,) offset into path
    path: Ints  # flat list of packs, by their place in the block
    strain_count: Ints  # (segments,) active strains
    strains: Ints  # (segments, 6) active strain numbers
    pack_slot: Ints  # (packs,) which active strain of its segment
    ball: Ints  # (balls, 2) first of the three coordinates of an SO(3) block, and its BALL node
    lane: Ints  # (n,) padded position of coordinate k
    stiffness: Floats  # flat: per segment, own padded block (modal stiffness)
    stiffness_at: Ints  # (segments,)
    viscosity: Floats  # (segments,) Kelvin-Voigt time [s]: damping = viscosity x stiffness
    friction: Floats  # (lanes,) viscous friction of joint coordinates
    preload: Floats  # (lanes,) force of springs at zero coordinate
    columns_at: npt.NDArray[np.uint64]  # (segments,) offset of a segment's columns in Workspace.columns
    scale: Floats  # (n,) size of a unit of coordinate k as an angle or a relative displacement
    strain_scale: Floats  # (n,) the same for strain coordinates, zero for those of joints
    weight: Floats  # (n,) scale, larger for stiff strains: measure of Newton's corrections


class Elimination(Arrays):
    """A factorised tangent of a tree cut into blocks (linear/tree.py); without blocks there is none."""

    at: Ints  # (blocks,) where those of a block begin in `factor`
    factor: Floats  # flat: of each block (own x (own + FACE)) the factors of its matrix, and what its face moves it by
    pivot: Ints  # (n,)
    held: Ints  # (n,) 1 for coordinates whose motion is given
    schur: Floats  # (blocks, 6, FACE) what a block gives back to its host when its face moves
    back: Floats  # (n, 6) and when its coordinates do, in the order of Tree.coordinate
    port: Floats  # flat: of each block (own lanes of its host x FACE) what coordinates of its host move its face by
    port_at: Ints  # (blocks,) where that begins
    arm: Floats  # (blocks, 9) from the face of its host to its own, and its two rates
    wrench: Floats  # (blocks, 6) scratch
    motion: Floats  # (blocks, FACE) scratch
    good: Ints  # (2,) 1 if no block is singular; 1 if all are positive definite, so that the whole is
    spare: Floats  # flat scratch: matrix of a block
    matrix: Floats  # flat scratch: tangent of a block in padded lanes, as in Workspace.matrix
    roots: Floats  # flat scratch: what a block gives back, as in Workspace.roots


class Workspace(Arrays):
    """Scratch memory of one evaluation; one per thread."""

    padded: Floats  # flat (4 x lanes) q, v, a and q + viscosity v in padded lanes
    node: Floats  # (nodes, NODE_SIZE)
    local: Floats  # flat records of the rod intervals, four side by side
    jets: Floats  # flat: of the last `ring` records, what the tangent needs of them (rodmap.JETS)
    jets_at: npt.NDArray[np.uint64]  # (nodes,) offset of a link there
    ring: Ints  # (1,) a record stands where the one so many before it stood
    turning: Floats  # (ring of nodes, TURNING) what the tangent needs of the inertia of nodes
    turning_at: Ints  # (nodes,) row of a node there
    columns: Floats  # flat records of the tangent's columns
    rows: Floats  # (lanes,) residual in padded lanes
    matrix: Floats  # flat: of each block (own lanes x lanes) the tangent in padded lanes
    roots: Floats  # flat: of each block (6 x lanes) the moment and force that it gives back, on its host
    ports: Floats  # flat: of each block (FACE x lanes of its host) the motion of its face
    moved: Floats  # (extended lanes,) a small motion
    pushed: Floats  # (extended lanes,) forces that answer it
    column: Floats  # (n + m,) a column of a whole tangent
    none: Elimination  # empty
    increment: Floats  # (nodes, 3) rotation of BALL nodes since the start of the time step
    places: Floats  # flat records of position columns; empty if nothing asks for them


def own_tables(links: Ints, packs: Ints, basis: Floats, basis_at: Ints) -> tuple[Ints, Ints, Floats]:
    """Tables of the own coordinates of some links, pack by pack.

    Args:
        links: (m,) nodes.
        packs: (m,) number of own packs of each.
        basis: flat, as in Tree.
        basis_at: (nodes,) as in Tree.

    Returns:
        Of each link and pack the place (e,) of the link in `links`, the number (e,) of the pack among the own ones, and the
        values (e, 2, 4) at the two Gauss points.

    """
    which = np.repeat(np.arange(len(links)), packs)
    k = np.arange(len(which)) - np.repeat(np.cumsum(packs) - packs, packs)
    start = basis_at[links[which]] + LANES * k
    at = start[:, None] + LANES * packs[which, None] * np.arange(2)
    return which, k, basis[at[:, :, None] + np.arange(LANES)]


def columns_of(tree: Tree, nodes: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Columns of the motion of nodes (m,), one entry for each node and pack of coordinates that moves it.

    Returns (e,) each: the place of the node in `nodes`, the extended pack, and where its record begins in Workspace.columns
    and in Workspace.places.
    """
    segment = tree.segment[nodes]
    packs = tree.path_packs[segment] + tree.own_packs[segment]
    which = np.repeat(np.arange(len(nodes)), packs)
    k = np.arange(len(which)) - np.repeat(np.cumsum(packs) - packs, packs)
    s = segment[which]
    own = k - tree.path_packs[s]
    pack = tree.face[tree.block[s]] + tree.own_at[s] + own
    above = own < 0
    pack[above] = tree.path[tree.path_at[s[above]] + k[above]]
    pack += tree.extended_at[tree.block[s]]
    first, count = tree.first[s], tree.last[s] - tree.first[s] + 1
    record = tree.columns_at[s].astype(np.int64) // int(PACK_SIZE) + k * count + nodes[which] - first
    return which, pack, record * int(PACK_SIZE), record * int(PLACE_SIZE)


def in_blocks(tree: Tree, nodes: Ints) -> tuple[Ints, Ints]:
    """(order (m,), first (blocks + 1,)): things at nodes (m,), sorted by the block of their node."""
    block = tree.block[tree.segment[nodes]]
    order = np.argsort(block, kind="stable")
    return order, np.searchsorted(block[order], np.arange(len(tree.root) + 1))


def lanes_used(tree: Tree) -> Ints:
    """Number of lanes (extended packs,) that stand for something; they are the first of a pack."""
    used = np.sum(tree.of_lane.reshape(-1, LANES) >= 0, axis=1)
    faces = tree.extended_at[tree.face > 0]
    used[faces[:, None] + np.arange(FACE_PACKS)] = LANES
    return used


def elimination(tree: Tree) -> Elimination:
    """Allocate the memory to factorise the tangent of a tree cut into blocks."""
    own, n, blocks = np.diff(tree.lead), len(tree.lane), len(tree.root)
    sizes, width = own * (own + FACE), LANES * (tree.face + tree.packs)
    ports = np.where(tree.host >= 0, FACE * LANES * tree.packs[tree.host], 0)
    return Elimination(
        at=np.cumsum(sizes) - sizes, factor=np.zeros(int(sizes.sum())), pivot=np.zeros(n, np.int64),
        held=np.zeros(n, np.int64), schur=np.zeros((blocks, 6, FACE)), wrench=np.zeros((blocks, 6)),
        motion=np.zeros((blocks, FACE)), good=np.zeros(2, np.int64), spare=np.zeros(int(np.max(own, initial=0)) ** 2),
        back=np.zeros((n, 6)), port=np.zeros(int(ports.sum())), port_at=np.cumsum(ports) - ports, arm=np.zeros((blocks, 9)),
        matrix=np.zeros(int(np.max(LANES * tree.packs * width))), roots=np.zeros(6 * int(np.max(width))),
    )  # fmt: skip


NOTHING = np.zeros(0)
NONE = np.zeros(0, np.int64)
NO_ELIMINATION = Elimination(
    at=NONE, factor=NOTHING, pivot=NONE, held=NONE, schur=np.zeros((0, 6, FACE)), back=np.zeros((0, 6)), port=NOTHING,
    port_at=NONE, arm=np.zeros((0, 9)), wrench=np.zeros((0, 6)), motion=np.zeros((0, FACE)), good=NONE, spare=NOTHING,
    matrix=NOTHING, roots=NOTHING,
)  # fmt: skip


def _rings(tree: Tree, links: Ints) -> tuple[int, int]:
    """Nodes, and records, after which the next may take the place of the first, as `linearise` goes from block to block."""
    node, record = np.arange(1, len(tree.parent)), tree.record_at[links].astype(np.int64) // int(RECORD)
    ready = tree.ready[tree.block[tree.segment]]  # the last block that needs a record is the first of these
    nodes, records = (int(np.max(x, initial=0)) + 1 for x in (node - ready[1:, 0], record - ready[links, 1]))
    return nodes, records


def lay_lengths(tree: Tree, local: Floats) -> None:
    """Write the lengths of links to their records, where kernels read them."""
    links = np.flatnonzero(tree.kind != FIXED)
    local[tree.record_at[links] + LENGTH] = tree.length[links]


def workspace(tree: Tree, places: bool = False, constraints: int = 0, whole: bool = True) -> Workspace:
    """Allocate the scratch memory of a tree, with places or without, and write what stays constant in it.

    whole: what the tangent needs of links is asked for of all at once; else blocks share their memory.
    """
    lanes = len(tree.pack_slot) * LANES
    rods = np.flatnonzero(tree.kind != FIXED)
    local = np.zeros(-(-len(rods) // LANES) * int(RECORD))
    lay_lengths(tree, local)
    record, lane = np.divmod(tree.record_at, np.uint64(RECORD))
    shared = not whole and is_cut(tree) and not tree.flat[0]  # in a flat robot, entries that stay zero are not written
    nodes, ring = _rings(tree, rods) if shared else (len(tree.parent), max(1, -(-len(rods) // LANES)))
    counts = tree.last - tree.first + 1
    ends = tree.columns_at.astype(np.int64) + counts * (tree.path_packs + tree.sub_packs) * int(PACK_SIZE)
    columns = np.zeros(int(np.max(ends)))
    inner = rods[rods <= tree.last[tree.segment[rods]]]  # a leaf has no columns
    if not is_cut(tree):
        which, k, values = own_tables(inner, tree.own_packs[tree.segment[inner]], tree.basis, tree.basis_at)
        s = tree.segment[inner[which]]
        row = (tree.path_packs[s] + k) * counts[s] + inner[which] - tree.first[s]
        at = tree.columns_at[s].astype(np.int64) + row * int(PACK_SIZE)
        columns[at[:, None] + (int(PHI) + np.arange(LANES))] = values[:, 0]
        columns[at[:, None] + (int(PSI) + np.arange(LANES))] = values[:, 1]
    node = np.zeros((len(tree.parent), NODE_SIZE))
    node[:, [N_R, N_R + 4, N_R + 8]] = 1.0  # of the ground, and what a flat robot does not turn
    width = LANES * (tree.face + tree.packs)
    return Workspace(
        padded=np.zeros(4 * lanes),
        node=node,
        local=local,
        jets=np.zeros(ring * int(JETS)),
        jets_at=record % np.uint64(ring) * np.uint64(JETS) + lane,
        ring=np.array([ring]),
        turning=np.zeros((nodes, TURNING)),
        turning_at=np.arange(len(tree.parent)) % nodes,
        columns=columns,
        rows=np.zeros(lanes),
        matrix=np.zeros(int(LANES * tree.packs @ width)),
        roots=np.zeros(6 * int(width.sum())),
        ports=np.zeros(FACE * int(width[tree.host[tree.host >= 0]].sum())),
        moved=np.zeros(len(tree.of_lane)),
        pushed=np.zeros(len(tree.of_lane)),
        column=np.zeros(len(tree.lane) + constraints),
        none=NO_ELIMINATION,
        increment=np.zeros((len(tree.parent), 3)),
        places=np.zeros(len(columns) // int(PACK_SIZE) * int(PLACE_SIZE) if places or is_cut(tree) else 0),
    )


def is_cut(tree: Tree) -> bool:
    """Whether the tangent comes in several blocks."""
    return len(tree.root) > 1


# Kernels may be compiled for a robot before its first workspace is made: this one says what workspaces consist of.
Workspace(
    padded=NOTHING, node=np.zeros((0, NODE_SIZE)), local=NOTHING, jets=NOTHING,
    jets_at=np.zeros(0, np.uint64), ring=NONE, turning=np.zeros((0, TURNING)), turning_at=NONE, columns=NOTHING,
    rows=NOTHING, matrix=NOTHING,
    roots=NOTHING, ports=NOTHING, moved=NOTHING, pushed=NOTHING, column=NOTHING, none=NO_ELIMINATION,
    increment=np.zeros((0, 3)), places=NOTHING,
)  # fmt: skip
