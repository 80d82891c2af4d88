"""The frozen numeric tree that kernels walk, and the workspace they write to.

Frames are nodes. Node 0 is the ground; node i > 0 hangs on `parent[i]` by link i. Links come in *segments*: a segment is
a chain of consecutive nodes that owns a block of coordinates (a rod: its root, then one node per interval). Segments are
numbered depth first, so the coordinates of a subtree are contiguous.

Coordinates travel in packs of four lanes, one strain to a pack (unused lanes are zero). The columns that a node's motion
depends on are those of its *path* (packs of the segments it hangs on) and its own; the columns that the wrench below a
node depends on are path, own and everything further down: [path | subtree], all whole packs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anguilla.mechanics.packs import LANES, U
from anguilla.mechanics.rodmap import LINK_SIZE

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FIXED, ROD = 0, 1  # kinds of link

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
NODE_SIZE = 33

# Rows of one pack of columns at one node: three-vectors of packs.
TH0, TH1, TH2 = U(0), U(12), U(24)  # rotation column and its two time derivatives
P0, P1, P2 = U(36), U(48), U(60)  # position column and its two time derivatives
DR, DF, DM = U(72), U(84), U(96)  # link vector, accumulated force and moment
PACK_ROWS = 27
PACK_SIZE = U(PACK_ROWS * LANES)

JAC_SIZE = 18  # Q0 Q1 Q2 U0 U1 U2 of one strain at one Gauss point


class Tree(NamedTuple):
    """Everything about a robot that does not change while it moves (arrays are read-only, C-contiguous)."""

    parent: Ints  # (nodes,)
    kind: Ints  # (nodes,) FIXED or ROD
    segment: Ints  # (nodes,) owner of the link
    fixed: Floats  # (nodes, 12) rotation (9) and translation (3) of FIXED links
    length: Floats  # (nodes,) interval length [m] of ROD links
    prescribed: Floats  # (nodes, 36) strains at both Gauss points not driven by q, with their two rates
    basis: Floats  # flat: per ROD link, values of the own coordinates at Gauss point 1, then at 2
    basis_at: Ints  # (nodes,) offset into basis
    mass: Floats  # (nodes,) [kg]
    inertia: Floats  # (nodes, 3) principal inertia in the node's axes [kg m^2]
    first: Ints  # (segments,) first node
    last: Ints  # (segments,) last node
    own_pack: Ints  # (segments,) first own pack
    own_packs: Ints  # (segments,) number of own packs
    sub_packs: Ints  # (segments,) number of packs of the subtree, own included
    path_packs: Ints  # (segments,) number of path packs
    path_at: Ints  # (segments,) offset into path
    path: Ints  # flat list of pack numbers
    strain_count: Ints  # (segments,) active strains
    strains: Ints  # (segments, 6) active strain numbers
    pack_slot: Ints  # (packs,) which active strain of its segment
    lane: Ints  # (n,) padded position of coordinate k
    stiffness: Floats  # flat: per segment, own padded block (modal stiffness)
    stiffness_at: Ints  # (segments,)
    viscosity: Floats  # (segments,) Kelvin-Voigt time [s]: damping = viscosity x stiffness
    columns_at: npt.NDArray[np.uint64]  # (nodes,) offset of a node's packs in Workspace.columns
    scale: Floats  # (n,) size of a unit of coordinate k as an angle or a relative displacement


class Workspace(NamedTuple):
    """Scratch memory of one evaluation; one per thread."""

    padded: Floats  # (3, lanes) q, v, a in padded lanes
    node: Floats  # (nodes, NODE_SIZE)
    link: Floats  # (nodes, LINK_SIZE)
    jacobian: Floats  # (nodes * 12, JAC_SIZE)
    columns: Floats  # flat packs
    rows: Floats  # (lanes,) residual in padded lanes
    matrix: Floats  # flat (lanes x lanes) tangent in padded lanes


def workspace(tree: Tree) -> Workspace:
    """Allocate the scratch memory of a tree."""
    nodes = len(tree.parent)
    lanes = len(tree.pack_slot) * LANES
    sizes = (tree.path_packs + tree.sub_packs)[tree.segment]
    return Workspace(
        padded=np.zeros((3, lanes)),
        node=np.zeros((nodes, NODE_SIZE)),
        link=np.zeros((nodes, LINK_SIZE)),
        jacobian=np.zeros((nodes * 12, JAC_SIZE)),
        columns=np.zeros(int(sizes.sum()) * int(PACK_SIZE)),
        rows=np.zeros(lanes),
        matrix=np.zeros(lanes * lanes),
    )
