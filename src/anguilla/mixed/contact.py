"""Soft volumes that touch obstacles, and bodies, rods and other volumes (`pairs`) of their robot.

A force F on a node depends on its place y = R^T (x - r) in the axes of what it touches, and on nothing else. With h = -R^T F
the force on what is touched in its own axes, and B = R^T dF/dx R, a motion (dw, dv) of that frame and dx of the node change

    y  by  R^T dx - dv + y x dw,    -h  by  B dy,    the wrench (y x h, h)  by  -([h] + [y] B, B) dy,

so that no other derivative is needed. All of it enters the balance as forces of the volume on its frames do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anguilla.describe.frames import BodyHandle, Frame, Part, RodHandle
from anguilla.describe.obstacles import Capsule, Obstacle
from anguilla.describe.volumes import VolumeHandle
from anguilla.errors import DescriptionError
from anguilla.fem.contact import (
    Grip,
    Piece,
    Places,
    Pressed,
    Touched,
    Touching,
    impulses,
    obstacle_pieces,
    row_of,
    weight_of,
)
from anguilla.fem.mesh import Floats, Ints
from anguilla.interact.volume_contact import VolumeContact
from anguilla.mixed.half import Half, hats
from anguilla.mixed.pairs import Met, VolumePair
from anguilla.solve.steps.schemes import Coefficients

if TYPE_CHECKING:
    from anguilla.mixed.model import MixedModel

__all__ = [
    "Push",
    "VolumeTouches",
    "contact_frames",
    "couple",
    "grips_of",
    "meets_of",
    "pairs_of",
    "press",
    "pushed",
    "refuse_contact",
    "touched_of",
]

SLENDER, MOST = 4.0, 24  # length of the capsules of a rod over its radius, and how many at most


class VolumeTouches(NamedTuple):
    """A volume that touches, at a state: what its points feel, and the wrenches (F, 6) of the contact on all frames."""

    found: Pressed
    x: Floats
    wrenches: Floats


class Push(NamedTuple):
    """Accelerations by contact: of the coordinates (n,), and of the nodes (nodes, 3) of each volume; and multipliers (m,)."""

    q: Floats
    nodes: list[Floats]
    lam: Floats


def chain(rod: RodHandle) -> list[tuple[Frame, Capsule]]:
    """A rod as capsules, each with the frame in the middle that it moves with, in the axes of that."""
    thick = 0.5 * rod.rod.section.thickness(np.linspace(0.0, rod.length, 33))
    count = int(np.clip(np.ceil(rod.length / (SLENDER * float(thick.min()))), 1, MOST))
    half, found = 0.5 * rod.length / count, []
    for k in range(count):
        X = (2 * k + 1) * half
        radius = float(0.5 * rod.rod.section.thickness(np.array([X]))[0])
        found.append((rod.section(X), Capsule((-half, 0.0, 0.0), (half, 0.0, 0.0), radius)))
    return found


def shapes_of(contact: VolumeContact) -> list[tuple[Frame, Obstacle]]:
    """Shapes that a contact with a part touches, and the frames that they move with, whose axes they are in."""
    part = contact.other
    if isinstance(part, BodyHandle):
        assert part.body.solid is not None
        return [(part.frame, part.body.solid)]
    return list(chain(part))


def contact_frames(volume: VolumeHandle) -> list[Frame]:
    """Frames of what a volume touches."""
    parts = [contact for contact in volume.contacts if isinstance(contact.other, Part)]
    return [frame for contact in parts for frame, _ in shapes_of(contact)]


def pieces_of(volume: VolumeHandle, number: Any) -> tuple[list[Piece], Floats]:
    """What a volume touches; number(frame) is that of a frame in the model."""
    own: list[VolumeContact] = [*volume.volume.contacts, *volume.contacts]  # type: ignore[attr-defined]
    pieces, flat = obstacle_pieces([contact for contact in own if contact.obstacles])
    grids = [flat]
    for contact in own:
        if isinstance(contact.other, Part):
            shapes = shapes_of(contact)
            frames = np.array([number(frame) for frame, _ in shapes], dtype=np.int64)
            pieces.append(Piece(contact, np.array([row_of(shape, grids) for _, shape in shapes]), frames))
    return pieces, np.concatenate(grids)


def pairs_of(volumes: Sequence[VolumeHandle], halves: Sequence[Half]) -> list[VolumePair]:
    """Volumes that may touch each other."""
    numbers = {volume.name: k for k, volume in enumerate(volumes)}
    found = [contact for volume in volumes for contact in volume.contacts if isinstance(contact.other, VolumeHandle)]
    return [VolumePair(each, (numbers[each.volume.name], numbers[each.other.name]), halves) for each in found]


def grips_of(
    model: MixedModel, x: list[Floats], poses: Places, touched: Sequence[Touched | None], *,
    rate: float = 0.0, weight: float = 1.0,
) -> list[Grip | None]:  # fmt: skip
    """What the points of all volumes, and of pairs of them, remember at a state, of which is known what touched."""
    found: list[Grip | None] = []
    told_of = [*touched, *[None] * (len(model.halves) + len(model.pairs) - len(touched))]
    for half, nodes, told in zip(model.halves, x, told_of, strict=False):
        if half.touching is None:
            found.append(None)
            continue
        root = None if told is None or len(told.root) != len(half.touching.nodes) else told.root
        found.append(half.touching.grip(nodes, poses, root, rate, weight))
    for pair, told in zip(model.pairs, told_of[len(model.halves) :], strict=True):
        found.append(pair.grip(x, None if told is None else told.root, rate, weight))
    return found


def touched_of(model: MixedModel, x: list[Floats], poses: Places, grips: list[Grip | None]) -> list[Touched | None]:
    """What touches at a state: of each volume, then of each pair of them."""
    own = [
        None if half.touching is None else half.touching.touched(nodes, poses, grip)
        for half, nodes, grip in zip(model.halves, x, grips, strict=False)
    ]
    return own + [pair.touched(x, grip) for pair, grip in zip(model.pairs, grips[len(own) :], strict=True)]


def meets_of(model: MixedModel, x: list[Floats], grips: list[Grip | None], *, wants: bool = True) -> list[Met]:
    """What pairs of volumes do to each other at a state; grips are those of volumes, then of pairs."""
    own = grips[len(model.halves) :]
    return [pair.press(x, grip, wants=wants) for pair, grip in zip(model.pairs, own, strict=True)]


def press(
    half: Half, x: Floats, poses: Places, grip: Grip | None, gradient: Floats, blocks: Floats | None
) -> VolumeTouches | None:
    """Add what a volume touches to the gradient (n, 3) and the blocks of its nodes."""
    touching = half.touching
    if touching is None:
        return None
    found, own = touching.press(x, poses, grip), np.zeros_like(gradient)
    half.system.press(touching, found, own, blocks)
    gradient += own
    return VolumeTouches(found, x, _wrenches(half, touching, found, x, poses))


def _wrenches(half: Half, touching: Touching, found: Pressed, x: Floats, poses: Places) -> Floats:
    """Wrenches (F, 6) of the contact forces on frames that are touched, in their axes, moment [N m] first."""
    out = np.zeros((len(poses.r), 6))
    on, frame = _active(touching, found)
    R = poses.R[frame]
    h = -np.einsum("kji,kj->ki", R, found.force[on])
    y = np.einsum("kji,kj->ki", R, touching.places(x, on) - poses.r[frame])
    np.add.at(out, frame, np.hstack([np.cross(y, h), h]))
    return out


def _active(touching: Touching, found: Pressed) -> tuple[Ints, Ints]:
    """Points (k,) that touch something that moves, and the number of its frame."""
    frame = touching.frames[found.state[:, 1]]
    on = np.flatnonzero((found.state[:, 0] > 0) & (frame >= 0))
    return on, frame[on]


def couple(half: Half, touches: VolumeTouches, poses: Places, cross: Floats, own: Floats) -> tuple[Floats, Floats]:
    """Add to what couples nodes and frames; (how minus the wrenches change with the nodes, how the nodes do with twists).

    cross (6 F, 3 f) is both of elastic forces, own (6 F, 6 F) is added to; both become unsymmetric where things slide.
    """
    touching, found = half.touching, touches.found
    assert touching is not None
    on, number = _active(touching, found)
    if not len(on):
        return cross, cross
    R = poses.R[number]
    y = np.einsum("kji,kj->ki", R, touching.places(touches.x, on) - poses.r[number])
    h = hats(-np.einsum("kji,kj->ki", R, found.force[on]))
    B = np.swapaxes(R, 1, 2) @ found.change[on].reshape(-1, 3, 3) @ R
    by_place = np.concatenate([h + hats(y) @ B, B], axis=1)  # of minus the wrench, by y
    moves = np.concatenate([hats(y), np.broadcast_to(-np.eye(3), B.shape)], axis=2)  # of y, by twists
    left = by_place @ np.swapaxes(R, 1, 2)
    right = -R @ (B @ moves + np.concatenate([h, np.zeros_like(h)], axis=2))
    both = by_place @ moves
    b = np.searchsorted(half.frames, number)
    left_all, right_all = cross.copy(), cross.copy()
    for k, point in enumerate(on.tolist()):
        at = slice(6 * int(b[k]), 6 * int(b[k]) + 6)
        own[at, at] += both[k]
        nodes = touching.nodes[point]
        first, leader, T = half.system.unknowns.first[nodes], half.leaders(nodes), half.lever(nodes, poses)
        for j, weight in enumerate(touching.weights[point].tolist()):
            if first[j] >= 0:
                mine = slice(3 * int(first[j]), 3 * int(first[j]) + 3)
                left_all[at, mine] += weight * left[k]
                right_all[at, mine] += weight * right[k].T
            elif leader[j] >= 0:
                by = slice(6 * int(leader[j]), 6 * int(leader[j]) + 6)
                own[at, by] += weight * left[k] @ T[j]
                own[by, at] += weight * T[j].T @ right[k]
    return left_all, right_all


def contact_wrenches(model: MixedModel, x: list[Floats], poses: Places, touched: Sequence[Touched | None]) -> Floats:
    """Wrenches (F, 6) on all frames by what touched: on what was touched, and on frames that lead nodes that touch."""
    out = np.zeros((len(poses.r), 6))
    for half, gradient in zip(model.halves, _node_forces(model, x, touched), strict=True):
        out[half.frames] += half.wrenches(-gradient, poses)
    for half, told in zip(model.halves, touched, strict=False):
        touching = half.touching
        if touching is None or told is None:
            continue
        frame = touching.frames[told.shape]
        on = frame >= 0
        R, place = poses.R[frame[on]], told.place[on]
        h = np.einsum("kji,kj->ki", R, told.force[on])
        y = np.einsum("kji,kj->ki", R, place - poses.r[frame[on]])
        np.add.at(out, frame[on], np.hstack([np.cross(y, h), h]))
    return out


def _node_forces(model: MixedModel, x: list[Floats], touched: Sequence[Touched | None]) -> list[Floats]:
    """Forces (nodes, 3) [N] on the nodes of each volume by what touched."""
    out = [np.zeros_like(nodes) for nodes in x]
    count = len(model.halves)
    for half, told, force in zip(model.halves, touched, out, strict=False):
        if half.touching is not None and told is not None:
            half.touching.spread(-told.force, told.point, force)
    for pair, told in zip(model.pairs, touched[count:], strict=False):
        if told is not None:
            both = np.concatenate([-told.force[:, None], told.corners], axis=1)
            for k in sorted(set(pair.numbers)):
                pair.spread(k, told.point, told.shape, both, out[k])
    return out


def node_pushes(model: MixedModel, x: list[Floats], touched: Sequence[Touched | None]) -> list[Floats]:
    """Accelerations (nodes, 3) [m/s^2] of the nodes of each volume by what touched them."""
    out = []
    for half, force in zip(model.halves, _node_forces(model, x, touched), strict=True):
        pushed = np.zeros_like(force)
        if force.any():
            pushed[half.free] = half.masses.solve(force[half.free].reshape(1, -1))[0].reshape(-1, 3)
        out.append(pushed)
    return out


def pushed(scheme: Coefficients, dt: float, push: Push, rates: tuple[Floats, Floats, Floats], dx: list[Any]) -> Any:
    """Rates, accelerations and true ones of coordinates and nodes, after contact acted as an impulse (`weight_of`)."""
    own = tuple(x + add for x, add in zip(rates, impulses(scheme, dt, push.q), strict=True))
    nodes = [
        tuple(x + add for x, add in zip(each, impulses(scheme, dt, by), strict=True))
        for each, by in zip(dx, push.nodes, strict=True)
    ]
    return own, nodes, (weight_of(scheme, dt) - 1.0) * push.lam


def refuse_contact(model: MixedModel, what: str) -> None:
    """Refuse a robot whose volumes touch something."""
    if model.touches:
        raise DescriptionError(
            f"Contact of the soft volumes of robot {model.name!r} is not available for {what} yet: leave it out."
        )
