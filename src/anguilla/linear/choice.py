"""Which linear algebra fits a robot: one dense matrix, the elimination of a tree in blocks, or one sparse matrix."""

from __future__ import annotations

from anguilla.describe import Robot
from anguilla.errors import DescriptionError

__all__ = ["DENSE", "SPARSE", "TREE", "chosen"]

DENSE, TREE, SPARSE = "dense", "tree", "sparse"
# Coordinates above which blocks are faster than one matrix (benchmarks/large.py).
CROSSOVER = 60


def chosen(robot: Robot, wanted: str | None) -> str:
    """The linear algebra of a robot: what is wanted, or what is fastest for its size."""
    if wanted not in (None, DENSE, TREE, SPARSE):
        raise DescriptionError(f"linear must be 'dense', 'tree' or 'sparse', or None for the fastest; got {wanted!r}.")
    return wanted or DENSE
