"""A robot with soft volumes, compiled: an ordinary model of its rods and bodies, and its volumes.

The model of rods and bodies (the carrier) feels each volume as wrenches on the frames that hold it. They stand in its row
of loads, in the axes of the frames, so that its residual and its tangent have all but the change of the wrenches.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from threading import RLock
from typing import Any, ClassVar, NamedTuple
from weakref import ref

import numpy as np

from anguilla.describe.bodies import RigidBody
from anguilla.describe.frames import Frame
from anguilla.describe.joints import Fixed
from anguilla.describe.robot import Robot
from anguilla.describe.volumes import WELDED, VolumeHandle, WithVolumes
from anguilla.errors import DescriptionError, as_number, refuse
from anguilla.fem.body import SoftBody
from anguilla.fem.contact import Touching
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.parts import slackened
from anguilla.interact import Wrench
from anguilla.interact.kernels.table import Loads
from anguilla.lie import inverse
from anguilla.linear.choice import DENSE
from anguilla.mixed.contact import contact_frames, pairs_of, pieces_of
from anguilla.mixed.half import Half, Poses, Weld
from anguilla.mixed.pairs import VolumePair
from anguilla.model.model import LoadTable, Model
from anguilla.model.watch import Watch
from anguilla.results.observe import jacobians

__all__ = ["MixedModel", "mixed_of"]

AXES = ("mx", "my", "mz", "fx", "fy", "fz")


class _Pull:
    """Three inputs as a vector, a function of t."""

    def __init__(self, ports: list[Any]) -> None:
        self.ports = ports

    def __call__(self, t: float) -> Floats:
        return np.array([port(t) for port in self.ports])


class _Felt(Wrench):
    """What volumes do to a frame: no load of the robot, so no arrow is drawn of it."""

    has_arrows: ClassVar[bool] = False


class Lead(NamedTuple):
    """Where the frames that hold volumes are, and how they move: Jacobian (6 F, n) of their twists in their own axes."""

    poses: Poses
    J: Floats


class MixedModel(WithVolumes):
    """A robot with soft volumes compiled for computation.

    Args:
        robot: the robot.
        solver: of the volumes: "ldl", "mkl" (extra `mkl`), "splu", or "auto": by size.

    Attributes:
        carrier: the model of its rods and bodies, with the wrenches of the volumes as loads.
        halves: its volumes.
        pairs: those that may touch each other.
        places: (F, 6) where the wrenches on the frames stand in the row of the loads.
        alone: a lock: volumes are computed in memory of their model, so that one thread at a time does so.

    """

    def __init__(self, robot: Robot, *, solver: str = "auto") -> None:
        if not isinstance(robot, Robot):
            raise refuse("robot", "a Robot", robot)
        self._source, self.name = ref(robot), robot.name
        self.volumes = copy.deepcopy(robot).volumes
        self.gravity = robot.gravity_values
        carrier = self.robot = robot.without_volumes()
        if not carrier.parts:
            raise DescriptionError(
                f"Robot {robot.name!r} has no part but volumes: ag.fem.statics and ag.fem.simulate take one by itself, and "
                "a frame of a volume (volume.frame) makes a part to hold others by."
            )
        self.frames: list[Frame] = []
        for volume in self.volumes:
            _check(volume)
            for patch in volume.patches:
                if not patch.frame.is_ground:
                    self._add_frame(patch.frame)
            for frame in contact_frames(volume):
                self._add_frame(frame)
        self.carrier = Model(carrier, linear=DENSE)  # where frames are is asked of it before it knows what it carries
        self._axes: list[Floats] = []  # of the volumes in the world, at zero coordinates
        self._note_nodes()
        self.halves = [self._half(volume, solver) for volume in self.volumes]
        self.pairs = pairs_of(self.volumes, self.halves)
        self._add_masses()
        self.ports = [[f"_volumes_{k}_{axis}" for axis in AXES] for k in range(len(self.frames))]
        for names, frame in zip(self.ports, self.frames, strict=True):
            made = [carrier.input(name, "N m" if name[-2] == "m" else "N") for name in names]
            carrier.load(_Felt(frame, _Pull(made[3:]), _Pull(made[:3]), follower=True))
        self.carrier = Model(carrier, linear=DENSE)
        self.carrier.carries = True
        self.places = self._find_places()
        self._note_nodes()
        self.alone = RLock()  # held while the memory of its volumes is in use

    @property
    def length(self) -> float:
        """What errors of motions are measured by [m]: the length of its rods and bodies, and the size of a volume."""
        return self.carrier.length + max(half.size for half in self.halves)

    @property
    def touchers(self) -> list[Touching | VolumePair | None]:
        """What touches: of each volume, then of each pair of them, in the order in which results tell it."""
        return [*(half.touching for half in self.halves), *self.pairs]

    @property
    def touches(self) -> bool:
        """Whether a volume may touch something."""
        return any(one is not None for one in self.touchers)

    def _note_nodes(self) -> None:
        """Find the nodes of the frames; the carrier is compiled so that they have some."""
        frames = [Frame(self.carrier.robot, frame.part_index, frame.place) for frame in self.frames]
        self._seen = self.carrier.observing(frames)
        self.nodes = [self._seen.layout.node(frame) for frame in frames]
        self._led: tuple[bytes, Lead] | None = None  # the last coordinates, and where the frames are there

    def _add_masses(self) -> None:
        """Give the frames the masses of the nodes that they lead."""
        for half in self.halves:
            for k, mass, centre, inertia in half.bodies():
                body = RigidBody(mass, inertia=inertia if np.trace(inertia) > 0.0 else None, com=centre)
                self.robot.add(body, at=self.frames[k], joint=Fixed(), name=f"{WELDED}{half.name}_{k}")

    @property
    def source(self) -> Robot:
        """The robot that it was made of; its rods and bodies alone if that is gone."""
        return self._source() or self.robot

    def _add_frame(self, held: Frame) -> None:
        frame = Frame(self.robot, held.part_index, held.bare.place)
        if not any((frame.part_index, frame.X) == (other.part_index, other.X) for other in self.frames):
            self.frames.append(frame)

    def _find_places(self) -> Ints:
        """Where each wrench stands in the row: it is asked with one of its numbers set."""
        if not self.frames:
            return np.zeros((0, 6), dtype=np.int64)
        lengths = {name: 1.0 for name, a in self.carrier.robot.actuators.items() if a.slack is not None}
        rest = self.carrier.loads(0.0, lengths).loads.row.copy()
        found = []
        for name in chain(*self.ports):
            changed = self.carrier.loads(0.0, lengths | {name: 1.0}).loads.row - rest
            found.append(int(np.flatnonzero(changed)[0]))
        return np.array(found, dtype=np.int64).reshape(-1, 6)

    def _half(self, volume: VolumeHandle, solver: str) -> Half:
        """Compile a volume; patches of one frame are one seat."""
        lead = self.lead(np.zeros(self.carrier.size))
        at = volume.at.bare
        axes = self._pose(at, lead) @ volume.at.offset_pose @ volume.pose
        self._axes.append(axes)
        merged: dict[tuple[int, bytes], Weld] = {}
        for patch in volume.patches:
            k = -1 if patch.frame.is_ground else self._number(patch.frame)
            if patch.pose is None:
                frame = np.eye(4) if k < 0 else _matrix(lead.poses, k)
                pose = inverse(frame) @ axes
            else:
                pose = patch.frame.offset_pose @ patch.pose
            key = k, np.round(pose, 12).tobytes()
            points = patch.points if key not in merged else np.union1d(merged[key].points, patch.points)
            merged[key] = Weld(k, points, pose)
        body = volume.volume
        assert isinstance(body, SoftBody)
        body.springs = [
            spring if spring.anchor is not None else replace(spring, anchor=axes[:3, :3] @ spring.point + axes[:3, 3])
            for spring in body.springs
        ]
        return Half(volume.name, body, list(merged.values()), solver, *pieces_of(volume, self._number))

    def _number(self, frame: Frame) -> int:
        wanted = frame.part_index, frame.X
        return next(k for k, other in enumerate(self.frames) if (other.part_index, other.X) == wanted)

    def _pose(self, frame: Frame, lead: Lead) -> Floats:
        """Pose (4, 4) of a frame without offset when all coordinates are zero."""
        if frame.is_ground:
            return np.eye(4)
        return self.pose_of(frame, np.zeros(self.carrier.size))

    def pose_of(self, frame: Frame, q: Floats) -> Floats:
        """Pose (4, 4) of a frame of a part, without its offset."""
        own = Frame(self.carrier.robot, frame.part_index, frame.place)
        observer = self.carrier.observing([own])
        _, motion = kinematics(observer, observer.layout.node(own), q)
        out = np.eye(4)
        out[:3, :3], out[:3, 3] = motion[:9].reshape(3, 3), motion[9:]
        return out

    def axes_of(self, k: int, q: Floats) -> Floats:
        """Pose (4, 4) in the world of the axes of volume k, if it goes along with its first frame from zero to q."""
        if not len(self.halves[k].frames):
            return self._axes[k]
        frame = int(self.halves[k].frames[0])
        before, now = (_matrix(self.lead(x).poses, frame) for x in (np.zeros_like(q), q))
        return now @ inverse(before) @ self._axes[k]

    def lead(self, q: Floats) -> Lead:
        """Where the frames are in a configuration, and their Jacobians: to be read, for they are kept until it changes."""
        here, kept = q.tobytes(), self._led
        if kept is not None and kept[0] == here:
            return kept[1]
        count, n = len(self.frames), self.carrier.size
        poses, J = Poses(np.zeros((count, 3, 3)), np.zeros((count, 3))), np.zeros((6 * count, n))
        for k, node in enumerate(self.nodes):
            world, motion = kinematics(self._seen, node, q)
            R = motion[:9].reshape(3, 3)
            poses.R[k], poses.r[k] = R, motion[9:]
            J[6 * k : 6 * k + 3], J[6 * k + 3 : 6 * k + 6] = R.T @ world[:3], R.T @ world[3:]
        lead = Lead(poses, J)
        self._led = here, lead
        return lead

    @property
    def factored(self) -> tuple[int, ...]:
        """How often the matrix of each volume was factorised: whoever keeps factors sees if they are still theirs."""
        return tuple(half.system.solver.count for half in self.halves)

    def rows_of(self, half: Half) -> Ints:
        """Rows of the Jacobian that belong to the frames of a volume."""
        return (6 * half.frames[:, None] + np.arange(6)).ravel()

    def split(
        self, inputs: Mapping[str, Any] | None, t: float = 0.0, told: set[str] | None = None
    ) -> tuple[dict[str, Any], list[Floats]]:
        """Inputs of rods and bodies, as given, and efforts of each volume at time t; `told` has its slack tendons."""
        if inputs is not None and not isinstance(inputs, Mapping):
            raise refuse("inputs", "a dictionary from names of inputs to numbers or functions of t", inputs)
        rest, own = dict(inputs or {}), []
        for half in self.halves:
            names = {f"{half.name}.{name}": name for name in half.system.names}
            given = {name: rest.pop(key) for key, name in names.items() if key in rest}
            numbers = {k: as_number(v(t) if callable(v) else v, f"inputs: {half.name}.{k}") for k, v in given.items()}
            asked = {f"{half.name}.{k}": v for k, v in numbers.items() if callable(given[k])}
            tendons = {f"{half.name}.{k}": part for k, part in half.system.body.actuators.items()}
            acting = slackened(tendons, asked, f"at t = {t:g} s", set() if told is None else told)
            own.append(half.system.efforts(numbers | {names[key]: v for key, v in acting.items()}))
        hidden = {name for names in self.ports for name in names}
        for name in rest:
            if name not in self.robot.inputs or name in hidden:
                known = [name for name in self.robot.inputs if name not in hidden]
                known += [f"{half.name}.{name}" for half in self.halves for name in half.system.names]
                raise DescriptionError(
                    f"inputs: robot {self.name!r} has no input {name!r}; it has: {', '.join(known) or 'none'}."
                )
        return rest, own

    def pulled(self, loads: Loads, wrenches: Floats) -> Loads:
        """Loads with wrenches (F, 6) of the volumes in them, in place."""
        loads.row[self.places.ravel()] = wrenches.ravel()
        return loads

    def told(self, inputs: Mapping[str, Any], wrenches: Floats) -> dict[str, Any]:
        """Inputs of the carrier with the wrenches (F, 6) of the volumes among them."""
        return dict(inputs) | dict(zip(chain(*self.ports), wrenches.ravel().tolist(), strict=True))

    def table(self, t: float, inputs: Mapping[str, Any], carrier: Model | None = None) -> LoadTable:
        """Loads of the carrier at one time, without those of the volumes."""
        return (carrier or self.carrier).loads(t, inputs, pulling=True)


def _matrix(poses: Poses, k: int) -> Floats:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = poses.R[k], poses.r[k]
    return out


def kinematics(model: Model, node: int | None, q: Floats) -> tuple[Floats, Floats]:
    """World Jacobian (6, n) of a node, angular first, and its rotation and position (12,)."""
    n = model.size
    out, motion = np.zeros((1, 6, n)), np.zeros((1, 12))
    jacobians(model.tree, model.workspace, node, np.ascontiguousarray(q)[None], np.zeros(n), np.zeros(n), out, motion)
    return out[0], motion[0]


def _check(volume: VolumeHandle) -> None:
    """Refuse what a volume as a part cannot have."""
    body, name = volume.volume, volume.name
    assert isinstance(body, SoftBody)
    if not volume.patches:
        raise DescriptionError(
            f"Nothing holds volume {name!r}: give robot.add(..., patch=...), or weld points of it to a frame (clamp), or "
            "make a frame of it (frame)."
        )
    if body.fixed.any():
        raise DescriptionError(
            f"Volume {name!r}: a part is not fixed (fix) but clamped: {name}.clamp(where, robot.ground)."
        )
    if body.rigid_parts:
        raise DescriptionError(f"Volume {name!r}: a rigid region of a part is a frame: {name}.frame(name, where).")


class _Kept(NamedTuple):
    """The last model of a robot, and what the robot looked like then."""

    model: MixedModel
    watch: Watch


def mixed_of(robot: Robot | MixedModel) -> MixedModel:
    """The model of a robot with volumes, kept beside it as long as its description is unchanged; or the given one."""
    if isinstance(robot, MixedModel):
        return robot
    kept = robot.kept
    if isinstance(kept, _Kept) and kept.watch.unchanged:
        return kept.model
    model = MixedModel(robot)
    robot.kept = _Kept(model, Watch(robot))
    return model
