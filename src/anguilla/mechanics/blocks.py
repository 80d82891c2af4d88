"""The tree of a large robot, cut into blocks (tree.py)."""

from __future__ import annotations

import numpy as np

from anguilla.mechanics.tree import FACE_PACKS, Ints

__all__ = ["cut_blocks"]

# Packs on the way from the face of a block to a segment from which on the segment begins another block: blocks that are
# eliminated by themselves are small, those of a sparse matrix have few faces.
SHORT, LONG = 3, 8
LARGE = 4  # times as many packs make a block so large that no segment is added to it


def cut_blocks(parents: Ints, own_packs: Ints, cut: int) -> dict[str, Ints]:
    """Sort segments into blocks: each joins the block of the one it hangs on, or begins a block. Without `cut` there is one.

    Args:
        parents: (segments,) segment that each hangs on; the first is the ground.
        own_packs: (segments,) number of own packs.
        cut: packs on the way to a segment that begins a block, SHORT or LONG; 0 for one block.

    Returns:
        The fields of `Tree` that say which block a segment belongs to, and where its columns stand there.

    """
    count = len(parents)
    block, own_at, sub_packs = [0] * count, [0] * count, own_packs.tolist()
    root, host, face, packs = [0], [-1], [0], [int(own_packs[0])]
    below: list[list[int]] = [[]] * count  # places of the packs that whatever hangs on a segment depends on
    path: list[list[int]] = [[]] * count
    for s, (above, own) in enumerate(zip(parents[1:].tolist(), own_packs[1:].tolist(), strict=True), 1):
        b = block[above]
        grounded = cut > 0 and b == 0  # block 0 is the ground and what is fixed to it
        if cut and own and (grounded or len(below[above]) - face[b] >= cut or packs[b] + own > LARGE * cut):
            root.append(s)
            host.append(-1 if grounded else b)
            face.append(0 if grounded else FACE_PACKS)
            b = len(packs)
            packs.append(0)
            path[s] = list(range(face[b]))
        else:
            path[s] = below[above]
        block[s], own_at[s] = b, packs[b]
        first = face[b] + packs[b]
        below[s] = path[s] + list(range(first, first + own)) if own else path[s]
        packs[b] += own
    for s in range(count - 1, 0, -1):
        if block[parents[s]] == block[s]:
            sub_packs[parents[s]] += sub_packs[s]
    sizes = np.array([len(x) for x in path])
    columns = np.array(face) + np.array(packs)
    fields = dict(
        block=block, own_at=own_at, sub_packs=sub_packs, root=root, host=host, face=face, packs=packs,
        path_packs=sizes, path_at=np.cumsum(sizes) - sizes, extended_at=np.cumsum(columns) - columns,
        path=[k for x in path for k in x],
    )  # fmt: skip
    return {name: np.ascontiguousarray(values, dtype=np.int64) for name, values in fields.items()}
