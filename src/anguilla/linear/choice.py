"""Which linear algebra fits a robot: one dense matrix, the elimination of a tree in blocks, or one sparse matrix."""

from __future__ import annotations

from anguilla.describe import Robot
from anguilla.errors import DescriptionError
from anguilla.interact.kernels.table import Loads
from anguilla.mechanics.blocks import LONG, SHORT

__all__ = ["DENSE", "NETS", "SPARSE", "TREE", "TREES", "chosen", "in_pieces"]

DENSE, TREE, SPARSE = "dense", "tree", "sparse"
# Coordinates above which a tree in blocks is faster than one matrix; coordinates and constraints above which a sparse matrix
# is (benchmarks/large.py).
TREES, NETS = 60, 200


def in_pieces(robot: Robot, wanted: str | None) -> int:
    """How the tree of a robot is cut into blocks (`cut_blocks`): as wanted, or if it may be large enough for them."""
    if wanted not in (None, DENSE, TREE, SPARSE):
        raise DescriptionError(f"linear must be 'dense', 'tree' or 'sparse', or None for the fastest; got {wanted!r}.")
    if wanted == DENSE or (wanted is None and sum(part.size for part in robot.parts) <= TREES):
        return 0
    return LONG if robot.closures else SHORT


def chosen(robot: Robot, loads: Loads, written: bool, size: int, wanted: str | None) -> str:
    """The linear algebra of a robot whose tree is cut into blocks.

    Args:
        robot: the robot.
        loads: its tables.
        written: whether loads are written in Python, which is asked in the middle of an evaluation.
        size: number of coordinates.
        wanted: what is wanted, if anything.

    """
    if written:
        if wanted in (TREE, SPARSE):
            raise DescriptionError(f"{robot.name!r} has loads written in Python, which need linear='dense'.")
        return DENSE
    rows = len(loads.constraints.table)
    open_tree = not rows and not len(loads.pairs.table) and not len(loads.streams.table)
    if wanted == TREE and not open_tree:
        raise DescriptionError(
            f"linear='tree' supports trees; {robot.name!r} has loops, constraints or loads between two parts: take 'sparse'."
        )
    if wanted is not None:
        return wanted
    if open_tree:
        return TREE
    return SPARSE if size + rows > NETS else DENSE
