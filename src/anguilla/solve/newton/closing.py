"""Closing a robot: mounting its loops and finding redundant constraints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anguilla.describe import Closure, Frame, RodHandle
from anguilla.errors import SolverError, warn
from anguilla.interact.kernels.table import (
    AXIS_A,
    AXIS_B,
    DT,
    INPUT,
    KIND,
    LENGTH,
    MOTION,
    POSE,
    ROTATION,
    TRANSLATION,
    TWIST,
    WHICH,
    Loads,
)
from anguilla.lie import exp3, exp6, inverse, log6
from anguilla.linear.choice import DENSE, TREES
from anguilla.mechanics.tree import N_R, N_X, Floats, Ints
from anguilla.model.evaluate import residual
from anguilla.model.evaluation import at_rest
from anguilla.model.model import Inputs, LoadTable, Model
from anguilla.model.user import between, move
from anguilla.results.fields import strains_of
from anguilla.results.passing import refuse_coinciding
from anguilla.results.reactions import evaluate
from anguilla.solve.newton.gaps import APART, NEARLY, RANK, Gaps, gaps_at, rate_gaps_at
from anguilla.solve.newton.spectrum import unheld, yielding

CLOSED = 1e-9  # [m, rad] largest gap of a closed robot
SINGULAR_START = (
    "They were left out because they followed from the others at the start. If that shape is singular (a straight rod, "
    "a dead centre), start from another one (start=...), or let the rods stretch (extensible_kirchhoff)."
)
KEPT = (
    1e-6  # [m, rad, m/s] by which constraints that were left out may miss; of robots below 1 m, a part of their length
)
FAST = 0.2  # part of a gap that is left after a step with a gradient that is kept
NO_GAP = 1e-13  # [m, rad]; of robots below 1 m, a part of their length
PIECE = 0.2  # [rad, or relative displacement] of a gap that is closed at once
CRUSHED = 1e-3  # of its length: a rod is squeezed to nothing
NUDGE = 0.03  # [rad, or relative displacement] to see whether a closed shape can be left
HARDLY = 2e-3  # [rad, or relative displacement] by which a shape that cannot give way may bend all the same
PUSHED = 1e-9  # of the forces: less does not push it
TRIES = 5  # of mounting, with growing kicks
STUCK = 1e-8  # of a kick: what is left of it where nothing is free


def drive(loads: Loads, q: Floats) -> Floats:
    """Coordinates with the prescribed ones set."""
    out = q.copy()
    at = int(loads.at[MOTION])
    out[loads.driven] = loads.row[at : at + 3 * len(loads.driven) : 3]
    return out


def relative_poses(system: Model, loads: Loads, q: Floats) -> list[Floats]:
    """Pose (4, 4) of frame b in frame a of every closure."""
    zero = np.zeros(system.size)
    evaluate(system, loads, q, zero, zero, np.zeros(system.rows))
    ends = system.workspace.node[loads.pairs.table[loads.constraints.closure, :2]]
    turned, at = ends[..., N_R : N_R + 9].reshape(-1, 2, 3, 3), ends[..., N_X : N_X + 3]
    poses, back = np.tile(np.eye(4), (len(ends), 1, 1)), turned[:, 0].transpose(0, 2, 1)
    poses[:, :3, :3] = back @ turned[:, 1]
    poses[:, :3, 3] = (back @ (at[:, 1] - at[:, 0])[:, :, None])[:, :, 0]
    return list(poses)


@dataclass
class LoadPath:
    """A path of loads from what holds at a start configuration to the full ones, for continuation.

    At s = 0 the forces are those of `row`, and every closure, prescribed coordinate and tendon is where the start has it.
    """

    table: LoadTable
    full: Floats
    start: Floats
    target: list[Floats]
    gap: list[Floats]
    row: Floats
    lengths: Floats  # (actuators,) at the start

    def at(self, s: float) -> Loads:
        """Loads at a part s of the path."""
        loads = self.table.loads
        row = self.full.copy()
        row[self.table.forces] = (s * self.full + (1.0 - s) * self.row)[self.table.forces]
        for c, gap in enumerate(self.gap if s < 1.0 else ()):  # closed ones are in the full row
            if np.any(gap):
                at, pose = int(loads.at[POSE]) + 12 * c, self.target[c] @ exp6((1.0 - s) * gap)
                row[at : at + 12] = np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]])
        at = int(loads.at[MOTION])
        for k, coordinate in enumerate(loads.driven):
            row[at + 3 * k] = s * self.full[at + 3 * k] + (1.0 - s) * self.start[coordinate]
            row[at + 3 * k + 1 : at + 3 * k + 3] = 0.0  # at rest, however the motion goes on
        at = int(loads.at[INPUT])
        for k in np.flatnonzero(loads.constraints.input_row >= 0).tolist():
            row[at + k] = s * self.full[at + k] + (1.0 - s) * max(self.lengths[k], self.full[at + k])
        loads.row[:] = row
        return loads


def _held(closure: Closure, target: Floats, relative: Floats) -> Floats:
    """A pose of the joint of a closure, near its target, that holds frame b where it is; all poses (4, 4) in frame a.

    It is that of b, but for a joint whose two axes are not one (universal): its first one then turns as little as it must.
    """
    axes, cosine = closure.holds.axes, closure.holds.cosine
    if axes is None or axes[0] == axes[1]:
        return relative
    e, b = target[:3, 0], relative[:3, 0]
    across = e - (e @ b) * b
    if np.linalg.norm(across) < 1e-9:
        across = relative[:3, 1]
    wanted = cosine * b + np.sqrt(1.0 - cosine**2) * across / np.linalg.norm(across)
    turn = np.cross(e, wanted)
    sine = float(np.linalg.norm(turn))
    held = target.copy()
    held[:3, 3] = relative[:3, 3]
    if sine > 0.0:
        held[:3, :3] = exp3(turn * np.arctan2(sine, e @ wanted) / sine) @ target[:3, :3]
    return held


def path_from(system: Model, table: LoadTable, q: Floats, row: Floats | None = None) -> LoadPath:
    """The path of loads that starts at configuration q, with the forces of another row of loads, or none."""
    loads = table.loads
    full = loads.row.copy()
    targets, gaps, closures = [], [], list(system.robot.closures.values())
    for c, relative in enumerate(relative_poses(system, loads, q) if system.rows else ()):
        at = int(loads.at[POSE]) + 12 * c
        target = np.eye(4)
        target[:3, :3], target[:3, 3] = full[at : at + 9].reshape(3, 3), full[at + 9 : at + 12]
        held = _held(closures[c], target, relative)
        targets.append(target)
        gaps.append(np.zeros(6) if np.max(np.abs(held - target)) <= NO_GAP else log6(inverse(target) @ held))
    forces = np.zeros_like(full) if row is None else row
    return LoadPath(table, full, q.copy(), targets, gaps, forces, loads.constraints.length.copy())


def _holonomic(loads: Loads) -> Ints:
    """Rows that hold a configuration: not twists, nor tendons (which may be slack)."""
    kinds = loads.constraints.table[:, KIND]
    return np.flatnonzero((kinds != TWIST) & (kinds != LENGTH))


def _gap(system: Model, loads: Loads, q: Floats, weight: Floats, rank: float = RANK) -> tuple[Floats, Gaps]:
    """Values of the holonomic rows, and their gradient, in the metric of `weight`."""
    here, rows = at_rest(system, loads, q), _holonomic(loads)
    return here.constraints[rows], gaps_at(system, loads, here, rows, weight, rank)


def _missed(system: Model, loads: Loads, q: Floats) -> Floats:
    """Values of the holonomic rows."""
    zero = np.zeros(system.size)
    return evaluate(system, loads, q, zero, zero, np.zeros(system.rows))[system.size :][_holonomic(loads)]


def gap_at(system: Model, loads: Loads, q: Floats) -> float:
    """Largest gap [m, rad] of the loops of a configuration."""
    return float(np.max(np.abs(_missed(system, loads, q)), initial=0.0))


def _project(system: Model, loads: Loads, q: Floats, weight: Floats, most: int = 50) -> tuple[Floats, float]:
    """Nearest closed configuration by Gauss-Newton, in the metric of `weight` (scaled coordinates); and its gap.

    A gradient of a large robot is kept while gaps shrink fast.
    """
    gaps, before, unit = None, np.inf, units(system, loads.constraints.table[_holonomic(loads), KIND])
    for _ in range(most):
        phi = _missed(system, loads, q)
        gap = float(np.max(np.abs(phi) / unit, initial=0.0))
        if gap < NO_GAP:
            break
        if gaps is None or system.size <= TREES or gap > FAST * before:
            phi, gaps = _gap(system, loads, q, weight)
        before = gap
        step = -gaps.least(phi)
        length = float(np.linalg.norm(step))
        if length < 1e-15:
            break
        q = move(system.tree, q, min(1.0, 0.5 / length) * step / system.tree.scale)
    return q, gap_at(system, loads, q)


def metric(system: Model) -> Floats:
    """Square roots of the elastic stiffness of scaled coordinates: soft ones move first."""
    stiffness = system.elastic_diagonal / system.tree.scale**2
    largest = float(np.max(stiffness, initial=0.0))
    if largest == 0.0:
        return np.ones(system.size)
    return np.sqrt(np.maximum(stiffness / largest, 1e-6))


def settle(system: Model, loads: Loads, q: Floats) -> Floats:
    """Nearest configuration to q with its loops closed and its prescribed motions made, moving what is soft first."""
    return _project(system, loads, drive(loads, q), metric(system))[0]


def _mounted(system: Model, table: LoadTable, q: Floats) -> tuple[Floats, float]:
    """Follow the gaps of a configuration to zero; the configuration reached and its gap."""
    path, weight, gap = path_from(system, table, q), metric(system), np.inf
    unit = np.repeat([1.0, 1.0 / system.layout.length], 3)  # gaps as angles and relative displacements
    largest = max((float(np.linalg.norm(unit * gap)) for gap in path.gap), default=0.0)
    pieces = max(1, int(np.ceil(largest / PIECE)))
    for k in range(1, pieces + 1):
        q, gap = _project(system, path.at(k / pieces), drive(path.at(k / pieces), q), weight)
    path.at(1.0)
    return q, gap


def mount(system: Model, table: LoadTable, q: Floats) -> Floats:
    """Close all loops of an open configuration q, by continuation along the gaps; refuse what cannot be closed."""
    loads = table.at(0)
    q = start = drive(loads, q)
    if not len(_holonomic(loads)):
        return q
    rng, gap = np.random.default_rng(0), np.inf
    for attempt in range(TRIES):  # a straight rod, say, can only be shortened after a kick
        kick = np.zeros(system.size) if attempt == 0 else 0.05 * 2.0**attempt * rng.standard_normal(system.size)
        kick[loads.driven] = 0.0
        q, gap = _mounted(system, table, move(system.tree, start, kick / (system.tree.scale * np.sqrt(system.size))))
        if gap <= CLOSED:
            return q
    phi = np.abs(_missed(system, table.loads, q))
    names = list(dict.fromkeys(system.tables.row_names[k] for k in _holonomic(loads)[phi > CLOSED]))
    miss = "misses" if len(names) == 1 else "miss"
    raise SolverError(
        f"{system.robot.name!r} cannot be closed: {', '.join(names)} {miss} by {gap:.2g} (m or rad).",
        advice="Check the frames and poses of robot.close, or start nearer to the closed shape (start=...).",
    )


def redundant_rows(system: Model, table: LoadTable, q: Floats, *, only_here: bool = False) -> Ints:
    """Closures and twist constraints that depend on the others, at a closed configuration q and at others nearby."""
    loads = table.loads
    rows = np.flatnonzero(loads.constraints.table[:, KIND] != LENGTH)
    if not len(rows):
        return rows
    kept: set[int] = set()
    rng = np.random.default_rng(0)
    best: list[int] = []
    for _ in range(3):
        chosen = rate_gaps_at(system, loads, q, rows).independent(NEARLY if only_here else APART)
        if len(chosen) > len(best):
            best = chosen
        if len(best) == len(rows) or only_here:
            break
        # a singular configuration (a straight rod, say) is left by moving a little along what is free
        kick = rng.standard_normal(system.size)
        kick[loads.driven] = 0.0
        step = _gap(system, loads, q, np.ones(system.size))[1].free(kick)
        size = float(np.linalg.norm(step))
        if size <= STUCK * np.linalg.norm(kick):
            break
        step *= NUDGE / size
        q, gap = _project(system, loads, move(system.tree, q, step / system.tree.scale), np.ones(system.size))
        if gap > CLOSED:
            break
    kept = set(best)
    return np.array([rows[k] for k in range(len(rows)) if k not in kept], dtype=np.int64)


def units(system: Model, kinds: Ints) -> Floats:
    """What gaps of constraints of these kinds (m,) are measured by: the length [m] of a small robot, if they are lengths."""
    return np.where((kinds == TRANSLATION) | (kinds == LENGTH), min(1.0, system.layout.length), 1.0)


def broken(system: Model, inputs: Inputs, times: Floats, q: Floats, v: Floats) -> str:
    """What is wrong with constraints that were left out: they follow from the others only if states (nt, n) keep them."""
    if system.left_out is None:
        return ""
    full, rows, names = system.left_out
    table, n, balance = system.loads(times, inputs), system.size, system.user.residual if system.user else residual
    loads = table.loads._replace(constraints=full.copied())
    loads.row[DT] = 1.0
    out, lam, zero = np.zeros(n + len(full.table)), np.zeros(len(full.table)), np.zeros(n)
    gaps = np.zeros((len(times), len(rows)))
    for k in range(len(times)):
        table.at(k)  # the same row
        balance(system.tree, system.workspace, loads, q[k], v[k], zero, lam, out)
        gaps[k] = out[n:][rows]
    off = np.abs(gaps) / units(system, full.table[rows, KIND]) > KEPT
    if not off.any():
        return ""
    k = int(np.argmax(off.any(axis=1)))
    worst = int(np.argmax(np.abs(gaps[k]) / units(system, full.table[rows, KIND])))
    when, miss = f"at t = {times[k]:g} s", f"it misses by {abs(gaps[k, worst]):.2g}"
    return f"{names[worst]} cannot hold with the other constraints: {when} {miss}"


def crushed(system: Model, q: Floats) -> str:
    """Name of a rod that is squeezed to nothing or turned inside out somewhere; Hooke's law does not mind. Maybe none."""
    for name, at, rest, values in system.once(_stretches):
        if np.min(rest + values @ q[at]) < CRUSHED:
            return name
    return ""


def _stretches(system: Model) -> list[tuple[str, slice, Floats, Floats]]:
    """(name, own coordinates, stretch at rest (9,), its derivative (9, own)) along every rod that stretches."""
    found = []
    for part in system.robot.parts:
        if isinstance(part, RodHandle) and "stretch" in part.rod.strains:
            at = system.layout.parts[part.index].coordinates
            some = np.eye(1 + at.stop - at.start, at.stop - at.start, -1)  # none, then each of its own
            field = strains_of(part.rod, np.linspace(0.0, part.length, 9), some)[:, :, 3]
            found.append((part.name, at, field[0], (field[1:] - field[0]).T))
    return found


def loose(system: Model, matrix: Floats) -> str:
    """Names of the coordinates (and constraints) along which a singular tangent does not resist; maybe none."""
    n, right = system.size, np.ones(len(matrix))
    right[:n] = 1.0 / system.tree.scale
    scaled = matrix * np.outer(right, right)
    tau = float(np.max(np.abs(np.diag(scaled)[:n]), initial=0.0)) or 1.0
    scaled[:n, :n] /= tau
    if not np.all(np.isfinite(scaled)) or not len(scaled):
        return ""
    _, s, vt = np.linalg.svd(scaled)
    if s[-1] > RANK * s[0]:
        return ""
    part = np.linalg.norm(vt[s <= RANK * s[0]], axis=0)
    if np.max(part[:n], initial=0.0) > 0.1 * np.max(part):  # a motion; else only reactions are undetermined
        part[n:] = 0.0
    return names_of(system, part)


def loose_at(system: Model, loads: Loads, q: Floats, lam: Floats) -> str:
    """The same for the stiffness at a state of rest, of a robot of any size."""
    here = at_rest(system, loads, q, lam)
    if system.linear == DENSE:
        return loose(system, here.flat)
    part = unheld(here, loads.driven)
    return "" if part is None else names_of(system, np.concatenate([part, np.zeros(system.rows)]))


def names_of(system: Model, part: Floats) -> str:
    """Names of the coordinates (and constraints) that have the largest parts in a direction."""
    labels = [*system.robot.coordinates(), *system.tables.row_names]
    names = dict.fromkeys(labels[k] for k in np.flatnonzero(part > 0.3 * np.max(part)))
    return ", ".join(list(names)[:4])


def _out_of_plane(system: Model, loads: Loads, q: Floats) -> Ints:
    """Rows of the closures of a flat robot, which stays in the plane x-y, that hold it there: it is made so."""
    if not system.tree.flat[0] or not system.size:
        return np.zeros(0, dtype=np.int64)
    zero, c, found = np.zeros(system.size), loads.constraints, []
    evaluate(system, loads, q, zero, zero, np.zeros(system.rows))
    turns = system.workspace.node[:, N_R : N_R + 9].reshape(-1, 3, 3)
    for k in np.flatnonzero((c.table[:, KIND] == TRANSLATION) | (c.table[:, KIND] == ROTATION)):
        which, at = c.table[k, WHICH], int(loads.at[POSE]) + 12 * int(c.table[k, WHICH])
        first, second = loads.pairs.table[c.closure[which], :2]
        e = turns[first] @ loads.row[at : at + 9].reshape(3, 3)[:, c.table[k, AXIS_A]]
        if c.table[k, KIND] == TRANSLATION:
            part = np.linalg.norm(e[:2])  # of the plane in what it holds
        else:
            part = abs(np.cross(e, turns[second][:, c.table[k, AXIS_B]])[2])
        if part < RANK:
            found.append(k)
    return np.array(found, dtype=np.int64)


def _taut(system: Model, loads: Loads, q: Floats) -> bool:
    """Whether loads push a robot in a closed shape that only seems to give way, as a rod pulled straight.

    To first order it may bend out of its line; but a shape that follows the loads that way is closed by going back alone.
    Where it hardly bends, it does so as if its ends gave way by that little. Elsewhere an error is raised.
    """
    zero, scale = np.zeros(system.size), system.tree.scale
    rods = [part for part in system.robot.parts if isinstance(part, RodHandle) and "stretch" not in part.rod.strains]
    if not rods:
        return False
    gaps = _gap(system, loads, q, np.ones(system.size), NEARLY)[1]
    if not gaps.null.shape[1]:
        return False
    rows = _holonomic(loads)[np.max(np.abs(gaps.null), axis=1) > 0.5]
    around = _around(system, loads, rows)
    force = evaluate(system, loads, q, zero, zero, np.zeros(system.rows))[: system.size] / scale
    force[loads.driven] = 0.0
    step = np.where(around, -gaps.free(force), 0.0)
    size = float(np.linalg.norm(step))
    rests = size <= PUSHED * float(np.linalg.norm(force))
    if rests:  # perhaps because it has hardly bent already, and is not quite where constraints depend on each other
        if gaps.null.shape[1] == _gap(system, loads, q, np.ones(system.size))[1].null.shape[1]:
            return False
        step = np.where(around, gaps.free(np.ones(system.size)), 0.0)
        size = max(float(np.linalg.norm(step)), 1e-300)
    there, gap = _project(system, loads, move(system.tree, q, NUDGE / size * step / scale), np.ones(system.size))
    if gap <= CLOSED and np.linalg.norm(((there - q) * scale)[around]) > 0.3 * NUDGE:
        return False
    if rests or _hardly_bends(system, loads, q, force):
        return True
    held = ", ".join(dict.fromkeys(system.tables.row_names[k] for k in rows))
    parts = system.layout.parts
    names = " and ".join(repr(rod.name) for rod in rods if np.any(around[parts[rod.index].coordinates]))
    raise SolverError(
        f"{system.robot.name!r} starts singular: {held} holds it where {names} cannot give way to the loads without "
        "stretching, as a straight rod held at its full length.",
        advice="Let the rod stretch (ag.extensible_kirchhoff), or shorten the distance it is held at (robot.close).",
    )


def _around(system: Model, loads: Loads, rows: Ints) -> NDArray[np.bool_]:
    """Which coordinates (n,) lie on the loops of rows of closures: between their two frames, not below both."""
    found, closures = np.zeros(system.size, dtype=bool), list(system.robot.closures.values())
    for c in np.unique(loads.constraints.table[rows, WHICH]):
        first, second = (_way_down(system, frame) for frame in (closures[c].a, closures[c].b))
        for k in first.keys() | second.keys():
            layout = system.layout.parts[k]
            if k not in first or k not in second:
                found[layout.joint] = True
            if first.get(k) != second.get(k):  # a rod that both stand on is in the loop if it lies between them
                found[layout.coordinates] = True
    return found


def _way_down(system: Model, frame: Frame) -> dict[int, str | float]:
    """The parts from a frame down to the ground, each with the place where the way comes to it."""
    way: dict[int, str | float] = {}
    while not frame.is_ground:
        way[frame.part_index] = frame.place
        frame = system.robot.parts[frame.part_index].parent
    return way


def _hardly_bends(system: Model, loads: Loads, q: Floats, force: Floats) -> bool:
    """Whether scaled forces (n,) move a robot so little along what is free that its loops do not notice."""
    scale = system.tree.scale
    step = yielding(at_rest(system, loads, q), loads.driven, force, NEARLY)
    if step is None:
        return False  # it would leave
    gap = _missed(system, loads, move(system.tree, q, step / scale))
    return bool(np.linalg.norm(step) < HARDLY and np.max(np.abs(gap)) < 0.1 * KEPT)


def close(system: Model, inputs: Inputs, t: float, q: Floats) -> tuple[Model, Floats]:
    """Mount the robot from q. Returns a model without its redundant constraints, with a warning that names them, and q."""
    table, given = system.loads(t, inputs), q
    q = mount(system, table, q)
    refuse_coinciding(system, q)
    taut = len(_holonomic(table.loads)) > 0 and _taut(system, table.loads, q)
    rows = redundant_rows(system, table, q, only_here=taut)
    told = np.setdiff1d(rows, _out_of_plane(system, table.loads, q)) if len(rows) else rows
    if len(told):
        names = dict.fromkeys(system.tables.row_names[k] for k in told)
        counts = [f"{name} ({sum(system.tables.row_names[k] == name for k in told)})" for name in names]
        warn(
            f"{system.robot.name!r}: {len(told)} of {system.rows} constraints are redundant and left out: "
            f"{', '.join(counts)}. The motion is not affected; reactions of the loops they belong to are not unique.",
        )
    model = system.without(rows)
    return model, _as_given(model, inputs, t, given, q) if taut else q


def was_open(system: Model, given: Floats, q: Floats) -> bool:
    """Whether loops were open where a start was given, so that other coordinates than prescribed ones had to move to q."""
    moved = np.abs(system.tree.scale * between(system.tree, given, q))
    moved[system.blank.driven] = 0.0
    return bool(np.max(moved, initial=0.0) > CLOSED)


def _as_given(system: Model, inputs: Inputs, t: float, given: Floats, q: Floats) -> Floats:
    """A start that bends by as little as what was left out may miss; else q, where nothing misses."""
    near = settle(system, system.loads(t, inputs).loads, given)
    zero = np.zeros((1, system.size))
    return q if broken(system, inputs, np.array([t]), near[None], zero) else near
