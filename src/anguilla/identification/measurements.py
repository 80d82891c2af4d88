"""What was measured in one experiment: many equilibria, or one motion."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla.describe import Frame, Robot, RodHandle
from anguilla.describe.description import did_you_mean
from anguilla.describe.frames import BodyHandle
from anguilla.errors import DescriptionError, as_number, as_pose, as_positive, as_vector, refuse
from anguilla.mechanics.tree import Floats

__all__ = ["Marker", "Measurements", "frame_named"]

SIGMA = {"positions": 1e-3, "turns": 1e-2, "lengths": 1e-3, "tensions": 0.1}  # [m, rad, m, N]
WIDTH = {"positions": 3, "turns": 9, "lengths": 1, "tensions": 1}


@dataclass(frozen=True)
class Marker:
    """Where a marker sits.

    Attributes:
        frame: a frame of the robot, or its label: "arm.tip", "arm[0.12]" (an arc length [m]), "hand.frame".
        offset: (3,) [m] in the axes of the frame.
        free: axes along which the offset is not known: "xyz", "x", ...
        sigma: standard deviation of what is not known [m]; None if nothing is known of it.

    """

    frame: Frame | str
    offset: Any = (0.0, 0.0, 0.0)
    free: str = ""
    sigma: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", as_vector(self.offset, 3, "Marker.offset", "m"))
        if not isinstance(self.free, str) or not set(self.free) <= set("xyz"):
            raise refuse("Marker.free", 'axes of the frame such as "xyz" or "x"', self.free)
        if self.sigma is not None:
            as_positive(self.sigma, "Marker.sigma", "m")


def frame_named(robot: Robot, frame: Frame | str) -> Frame:
    """The frame of a robot of a label, or that is where a frame of another robot of the same parts is."""
    if isinstance(frame, Frame):
        return Frame(robot, frame.part_index, frame.place, frame.offset)
    if frame == "ground":
        return robot.ground
    found = re.fullmatch(r"([\w-]+)(?:\.(tip|root|frame)|\[([^\]]+)\])?", frame)
    names = [part.name for part in robot.parts]
    if not found or found[1] not in names:
        meant = did_you_mean(found[1] if found else frame, names)
        if (
            found and found[0] == found[1] and not meant
        ):  # a marker that nobody has placed sits on the frame of its name
            meant = f"; a marker of another name needs its place, markers={{{frame!r}: '{names[0]}.tip'}}"
        raise DescriptionError(
            f"there is no frame {frame!r}: frames are {', '.join(f'{n}.tip' for n in names)}, {names[0]}[0.1]{meant}."
        )
    part = robot.part(found[1])
    if isinstance(part, RodHandle):
        if found[3] is not None:
            return part.section(as_number(float(found[3]), f"frame {frame!r}", "m"))
        if found[2] != "frame":
            return part.root if found[2] == "root" else part.tip
    elif isinstance(part, BodyHandle) and found[3] is None:
        return part.frame
    raise DescriptionError(f"{part.name!r} has no frame {frame!r}.")


@dataclass(frozen=True, eq=False)
class Measurements:
    """One experiment: equilibria, one in each row, or a motion.

    Attributes:
        positions: (rows, 3) [m] of each marker; NaN where it was lost.
        turns: (rows, 3, 3) rotation of frames, by marker; NaN where it was lost.
        lengths: (rows,) [m] of the lines of actuators.
        tensions: (rows,) [N] of tendons driven by their length.
        inputs: (rows,) of each actuator, or one number; absent ones are zero.
        t: (rows,) [s]; needed by motions, and by lags. Equilibria with times are taken as neighbours.
        motion: whether the rows are instants of one motion. Its inputs are straight lines between the rows.
        markers: where the markers sit; those that are not named here sit on the frame of their own name, such as "arm.tip".
        sigma: standard deviation of what was measured, by name, or by kind ("positions": 1e-3 m, ...); a number or one for
            each row. Only ratios matter.
        given: what is known of this experiment, by path: {"weight.force[2]": -0.5}.
        held: of a motion, what was different by path before it began: it starts at the equilibrium with these. None: it
            starts at the rest shape.
        dt: step of the simulation of a motion [s]; a quarter of the least time between rows if not given.
        pose: of the world in the axes of the measurements, (4, 4).
        base: what is not known of that pose: "", "position" or "pose".
        group: experiments of one group share unknown marker offsets and poses.
        name: of the experiment.

    """

    positions: Mapping[str, Any] = field(default_factory=dict)
    turns: Mapping[str, Any] = field(default_factory=dict)
    lengths: Mapping[str, Any] = field(default_factory=dict)
    tensions: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    t: Any = None
    motion: bool = False
    markers: Mapping[str, Any] = field(default_factory=dict)
    sigma: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, float] = field(default_factory=dict)
    held: Mapping[str, float] | None = field(default_factory=dict)
    dt: float | None = None
    pose: ArrayLike = field(default_factory=lambda: np.eye(4))
    base: str = ""
    group: str = ""
    name: str = "experiment"

    def __post_init__(self) -> None:
        rows = None
        for kind, width in WIDTH.items():
            given = getattr(self, kind)
            if not isinstance(given, Mapping):
                raise refuse(f"Measurements.{kind}", "arrays by name", given)
            clean = {}
            for name, value in given.items():
                array = np.array(value, dtype=np.float64)  # a gap is NaN
                own = ((width,), (3, 3)) if width == 9 else ((width,), ()) if width == 1 else ((width,),)
                if array.ndim == 1 or array.shape[1:] in own or array.shape in own:  # else axes are in another order
                    array = array.reshape(-1, width) if array.size % width == 0 else array
                if array.ndim != 2 or array.shape[1] != width or np.isinf(array).any():
                    wanted = f"{width} numbers in each row, NaN in a gap"
                    turned = " (turn it over, with .T)" if array.ndim == 2 and len(array) == width else ""
                    raise refuse(f"Measurements.{kind} of {name!r}", wanted + turned, value)
                rows = len(array) if rows is None else rows
                if len(array) != rows:
                    raise DescriptionError(f"Measurements: {name!r} has {len(array)} rows, others have {rows}.")
                clean[name] = array
            object.__setattr__(self, kind, clean)
        if rows is None:
            raise DescriptionError(
                "Measurements needs something that was measured: positions, turns, lengths or tensions."
            )
        self._check(rows)

    def _check(self, rows: int) -> None:
        inputs = {}
        for name, value in self.inputs.items():
            array = np.asarray(value, dtype=np.float64)
            if array.ndim > 1 or (array.ndim == 1 and len(array) != rows) or not np.isfinite(array).all():
                raise refuse(f"Measurements.inputs of {name!r}", f"a finite number, or {rows} of them", value)
            inputs[name] = np.broadcast_to(array, (rows,)).copy()
        object.__setattr__(self, "inputs", inputs)
        if self.t is not None:
            t = np.asarray(self.t, dtype=np.float64)
            if t.shape != (rows,) or not np.isfinite(t).all() or (self.motion and np.any(np.diff(t) <= 0.0)):
                raise refuse("Measurements.t", f"{rows} times [s], of a motion increasing", self.t)
            object.__setattr__(self, "t", t)
        elif self.motion:
            raise DescriptionError("Measurements of a motion need the times t.")
        if self.base not in ("", "position", "pose"):
            raise refuse("Measurements.base", '"", "position" or "pose": what is not known', self.base)
        markers = {name: at if isinstance(at, Marker) else Marker(at) for name, at in self.markers.items()}
        for name in (*self.positions, *self.turns):
            markers.setdefault(name, Marker(name))
        object.__setattr__(self, "markers", markers)
        object.__setattr__(self, "pose", as_pose(self.pose, "Measurements.pose"))
        known = [*self.positions, *self.turns, *self.lengths, *self.tensions, *WIDTH]
        for name, value in self.sigma.items():
            if name not in known:
                raise DescriptionError(f"Measurements.sigma: {name!r} was not measured{did_you_mean(name, known)}.")
            if np.shape(value) not in ((), (rows,)):
                raise refuse(f"Measurements.sigma of {name!r}", f"a number, or {rows} of them", value)
        if not self.seen.any():
            raise DescriptionError("Measurements: nothing was measured, there are only gaps.")

    @property
    def rows(self) -> int:
        """Number of rows."""
        return next(len(np.asarray(x)) for kind in WIDTH for x in getattr(self, kind).values())

    def deviation(self, kind: str, name: str) -> Floats:
        """Standard deviation (rows,) of what was measured."""
        value = self.sigma.get(name, self.sigma.get(kind, SIGMA[kind]))
        found = np.broadcast_to(np.asarray(value, dtype=np.float64), (self.rows,))
        gap = ~np.isfinite(np.asarray(getattr(self, kind)[name])).any(axis=1)
        found = np.where(gap & np.isnan(found), 1.0, found)  # what was lost has none, and needs none
        if not np.all(found > 0.0):
            raise refuse(f"Measurements.sigma of {name!r}", "positive", value)
        return found

    def at(self, rows: Any, name: str | None = None) -> Measurements:
        """The same experiment, some rows of it alone (of a motion: the first ones)."""
        index = np.arange(self.rows)[rows]
        if self.motion and not np.array_equal(index, np.arange(len(index))):
            raise DescriptionError("rows of a motion belong together: take the first ones, at(slice(n)).")
        new: Any = {
            kind: {n: np.asarray(x)[index] for n, x in getattr(self, kind).items()} for kind in (*WIDTH, "inputs")
        }
        sigma = {n: np.broadcast_to(np.asarray(x, dtype=float), (self.rows,))[index] for n, x in self.sigma.items()}
        t = None if self.t is None else np.asarray(self.t)[index]
        return replace(self, **new, sigma=sigma, t=t, name=self.name if name is None else name)

    def keeping(self, rows: Any, name: str | None = None) -> Measurements:
        """The same experiment, with what was measured in other rows taken as lost: its inputs stay as they were in time."""
        lost = np.ones(self.rows, dtype=bool)
        lost[rows] = False
        new: Any = {
            kind: {n: np.where(lost[:, None], np.nan, x) for n, x in getattr(self, kind).items()} for kind in WIDTH
        }
        return replace(self, **new, name=self.name if name is None else name)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """(rows,) Where anything was measured; equilibria of other rows are not computed."""
        parts = [np.isfinite(np.asarray(x)).any(axis=1) for kind in WIDTH for x in getattr(self, kind).values()]
        return np.any(parts, axis=0)

    @property
    def digest(self) -> str:
        """A short text that tells data apart."""
        total = hashlib.sha256()
        for kind in (*WIDTH, "inputs"):
            for name, value in sorted(getattr(self, kind).items()):
                total.update(f"{kind} {name}".encode() + np.ascontiguousarray(value).tobytes())
        total.update(b"" if self.t is None else np.ascontiguousarray(self.t).tobytes())
        return total.hexdigest()[:16]

    @classmethod
    def read(
        cls, path: str | PathLike[str], *, inputs: Iterable[str] = (), unit: str = "m",
        columns: Mapping[str, str] | None = None, **options: Any,
    ) -> Measurements:  # fmt: skip
        """Read a table (.csv, wide or long), a netCDF file (.nc) or a motion capture (.c3d).

        `identification.reading` says what is understood.

        Args:
            path: the file.
            inputs: columns that are inputs of actuators.
            unit: of positions whose columns do not say their own: "m", "cm", "mm" or "um".
            columns: other names for columns or markers of the file: {"servo_4": "t0", "LED 1": "tip"}.
            options: anything else that Measurements take: markers, given, motion, ...

        """
        from anguilla.identification.reading import read

        return read(path, tuple(inputs), unit, columns or {}, options)

    def __repr__(self) -> str:
        what = [f"{len(getattr(self, kind))} {kind}" for kind in WIDTH if getattr(self, kind)]
        kind = "instants of a motion" if self.motion else "equilibria"
        return f"<measurements {self.name!r}: {self.rows} {kind}, {', '.join(what)}>"
