"""Motion of frames in many states, and how it depends on the coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from anguilla.describe import Frame, FrameMotion
from anguilla.describe.load import Seat
from anguilla.errors import DescriptionError
from anguilla.mechanics.tree import Floats, Ints
from anguilla.model.model import Model
from anguilla.results.blocks import parts
from anguilla.results.observe import S_A, S_AL, S_V, S_W, S_X, SNAPSHOT, jacobians, snapshots

TOO_COARSE = "an interval of a rod turns by more than 3 rad: give the rod more intervals."


def motions(model: Model, frames: Sequence[Frame], q: Floats, v: Floats, a: Floats) -> Iterator[tuple[slice, Floats]]:
    """Motion (nb, m, SNAPSHOT) of frames, world axes, of one block of states (nt, n) after the other.

    A frame between two nodes gets a node of its own first.
    """
    nodes = [model.layout.node(frame.bare) for frame in frames]
    if None in nodes:
        model = model.observing(frames)
        nodes = [model.layout.node(frame.bare) for frame in frames]
    for at, out in node_motions(model, np.array(nodes, dtype=np.int64), q, v, a):
        for k, frame in enumerate(frames):
            if frame.offset is not None:
                shift(out[:, k], frame.offset_pose)
        yield at, out


def node_motions(model: Model, nodes: Ints, q: Floats, v: Floats, a: Floats) -> Iterator[tuple[slice, Floats]]:
    """Motion (nb, m, SNAPSHOT) of nodes, world axes, of one block of states (nt, n) after the other."""
    # one compilation serves slices and read-only arrays
    states = [x if _is_ready(x) else np.require(x, np.float64, ["C", "W"]) for x in (q, v, a)]
    for at in parts(len(q), SNAPSHOT * len(nodes)):
        out = np.zeros((at.stop - at.start, len(nodes), SNAPSHOT))
        if snapshots(model.tree, model.workspace, nodes, *(x[at] for x in states), out):
            raise DescriptionError(TOO_COARSE)
        yield at, out


def _is_ready(states: Floats) -> bool:
    """Whether states can go to a kernel as they are."""
    flags = states.flags
    return states.dtype == np.float64 and flags.c_contiguous and flags.writeable


def as_motion(snapshot: Floats) -> FrameMotion:
    """Motions (nt, m) from snapshots (nt, m, SNAPSHOT)."""
    three = (snapshot[:, :, k : k + 3] for k in (S_X, S_W, S_V, S_AL, S_A))
    return FrameMotion(snapshot[:, :, :9].reshape(*snapshot.shape[:2], 3, 3), *three)


def seat_motions(model: Model, seat: Seat, q: Floats) -> Iterator[tuple[slice, FrameMotion]]:
    """Motion (nb, k) of the nodes a load acts on, at rest in one block of states q (nt, n) after the other."""
    zero = np.zeros_like(q)
    for at, motion in node_motions(model, seat.nodes, q, zero, zero):
        yield at, as_motion(motion)


def motion_of(model: Model, frames: Sequence[Frame], q: Floats, v: Floats, a: Floats) -> Floats:
    """Motion (nt, m, SNAPSHOT) of frames, world axes, in states (nt, n)."""
    out = np.zeros((len(q), len(frames), SNAPSHOT))
    for at, motion in motions(model, frames, q, v, a):
        out[at] = motion
    return out


def shift(motion: Floats, offset: Floats) -> None:
    """Move the motion (nt, SNAPSHOT) of a frame to another one at a fixed pose from it, in place."""
    rotation = motion[:, :9].reshape(-1, 3, 3)
    arm = rotation @ offset[:3, 3]
    w, al = motion[:, S_W : S_W + 3], motion[:, S_AL : S_AL + 3]
    motion[:, S_X : S_X + 3] += arm
    motion[:, S_V : S_V + 3] += np.cross(w, arm)
    motion[:, S_A : S_A + 3] += np.cross(al, arm) + np.cross(w, np.cross(w, arm))
    motion[:, :9] = (rotation @ offset[:3, :3]).reshape(-1, 9)


def body_jacobian(model: Model, frame: Frame, q: Floats) -> Floats:
    """Jacobian (nt, 6, n) of the twist of a frame in its own axes, in states q (nt, n)."""
    observer, n = model.observing([frame]), model.size
    node, pose = observer.layout.node(frame.bare), np.asarray(frame.offset_pose)
    out, motion = np.zeros((len(q), 6, n)), np.zeros((len(q), 12))
    jacobians(observer.tree, observer.workspace, node, np.ascontiguousarray(q), np.zeros(n), np.zeros(n), out, motion)
    bare = motion[:, :9].reshape(-1, 3, 3)
    arm = bare @ pose[:3, 3]
    out[:, 3:] += np.cross(out[:, :3], arm[:, :, None], axis=1)  # of the point at the offset: v + w x arm
    turn = np.swapaxes(bare @ pose[:3, :3], 1, 2)
    out[:, :3], out[:, 3:] = turn @ out[:, :3], turn @ out[:, 3:]
    return out
