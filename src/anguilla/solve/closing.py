"""Closing a robot: mounting its loops, finding redundant constraints, and states consistent with all constraints."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from anguilla.assemble.reactions import evaluate
from anguilla.assemble.system import Inputs, LoadTable, System
from anguilla.assemble.user import move
from anguilla.errors import AnguillaWarning, SolverError
from anguilla.lie import exp6, inverse, log6
from anguilla.loads.table import KIND, LENGTH, MOTION, POSE, TWIST, Loads
from anguilla.mechanics.tree import N_R, N_X, Floats, Ints

CLOSED = 1e-9  # [m, rad] largest gap of a closed robot
RANK = 1e-9  # singular values of the scaled constraint gradient below this part of the largest are zero
STEP = 1e-4  # of differences in time, relative


def drive(loads: Loads, q: Floats) -> Floats:
    """Coordinates with the imposed ones set."""
    out = q.copy()
    at = int(loads.at[MOTION])
    out[loads.driven] = loads.row[at : at + 3 * len(loads.driven) : 3]
    return out


def relative_poses(system: System, loads: Loads, q: Floats) -> list[Floats]:
    """Pose (4, 4) of frame b in frame a of every closure."""
    zero = np.zeros(system.size)
    evaluate(system, loads, q, zero, zero, np.zeros(system.rows))
    poses = []
    for pair in loads.constraints.closure:
        ends = []
        for node in loads.pairs.table[pair, :2]:
            pose = np.eye(4)
            pose[:3, :3] = system.workspace.node[node, N_R : N_R + 9].reshape(3, 3)
            pose[:3, 3] = system.workspace.node[node, N_X : N_X + 3]
            ends.append(pose)
        poses.append(inverse(ends[0]) @ ends[1])
    return poses


@dataclass
class Path:
    """A path of loads from what holds at a start configuration to the full ones, for continuation.

    At s = 0 there are no forces, and every closure and imposed coordinate is where the start configuration has it.
    """

    table: LoadTable
    full: Floats
    start: Floats
    target: list[Floats]
    gap: list[Floats]

    def at(self, s: float) -> Loads:
        """Loads at a part s of the path."""
        loads = self.table.loads
        row = self.full.copy()
        row[self.table.forces] *= s
        for c, (target, gap) in enumerate(zip(self.target, self.gap, strict=True)):
            at = int(loads.at[POSE]) + 12 * c
            pose = target @ exp6((1.0 - s) * gap) if s < 1.0 else target
            row[at : at + 12] = np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]])
        at = int(loads.at[MOTION])
        for k, coordinate in enumerate(loads.driven):
            row[at + 3 * k] = s * self.full[at + 3 * k] + (1.0 - s) * self.start[coordinate]
            row[at + 3 * k + 1 : at + 3 * k + 3] = 0.0  # at rest, however the motion goes on
        loads.row[:] = row
        return loads


def path_from(system: System, table: LoadTable, q: Floats) -> Path:
    """The path of loads that starts at configuration q."""
    loads = table.loads
    full = loads.row.copy()
    targets, gaps = [], []
    for c, relative in enumerate(relative_poses(system, loads, q)):
        at = int(loads.at[POSE]) + 12 * c
        target = np.eye(4)
        target[:3, :3], target[:3, 3] = full[at : at + 9].reshape(3, 3), full[at + 9 : at + 12]
        targets.append(target)
        gaps.append(log6(inverse(target) @ relative))
    return Path(table, full, q.copy(), targets, gaps)


def _holonomic(loads: Loads) -> Ints:
    """Rows that hold a configuration: not twists, nor tendons (which may be slack)."""
    kinds = loads.constraints.table[:, KIND]
    return np.flatnonzero((kinds != TWIST) & (kinds != LENGTH))


def _gap(system: System, loads: Loads, q: Floats) -> tuple[Floats, Floats]:
    """Values of the holonomic rows and their gradient in scaled coordinates, imposed ones fixed."""
    zero = np.zeros(system.size)
    lam = np.zeros(system.rows)
    out = evaluate(system, loads, q, zero, zero, lam)
    rows = _holonomic(loads)
    jacobian = system._bordered(loads, lam, 0.0, 0.0)[system.size :, : system.size][rows] / system.tree.scale
    jacobian[:, loads.driven] = 0.0
    return out[system.size :][rows], jacobian


def _project(system: System, loads: Loads, q: Floats, weight: Floats, most: int = 50) -> tuple[Floats, float]:
    """Nearest closed configuration by Gauss-Newton, in the metric of `weight` (scaled coordinates); and its gap."""
    size = np.inf
    for _ in range(most):
        phi, jacobian = _gap(system, loads, q)
        size = float(np.max(np.abs(phi), initial=0.0))
        if size < 1e-13:
            break
        u, s, vt = np.linalg.svd(jacobian / weight, full_matrices=False)
        keep = s > RANK * max(float(s[0]), 1e-300) if len(s) else np.zeros(0, bool)
        step = -(vt[keep].T @ ((u.T @ phi)[keep] / s[keep])) / weight
        length = float(np.linalg.norm(step))
        if length < 1e-15:
            break
        q = move(system.tree, q, min(1.0, 0.5 / length) * step / system.tree.scale)
    return q, float(np.max(np.abs(_gap(system, loads, q)[0]), initial=0.0))


def _metric(system: System) -> Floats:
    """Square roots of the elastic stiffness of scaled coordinates: soft ones move first."""
    stiffness = np.diag(system.elastic_stiffness()) / system.tree.scale**2
    largest = float(np.max(stiffness, initial=0.0))
    if largest == 0.0:
        return np.ones(system.size)
    return np.sqrt(np.maximum(stiffness / largest, 1e-6))


def mount(system: System, table: LoadTable, q: Floats) -> Floats:
    """Close all loops of an open configuration q, by continuation along the gaps; refuse what cannot be closed."""
    loads = table.at(0)
    q = drive(loads, q)
    if not len(_holonomic(loads)):
        return q
    path, weight = path_from(system, table, q), _metric(system)
    largest = max((float(np.linalg.norm(gap)) for gap in path.gap), default=0.0)
    pieces = max(1, int(np.ceil(largest / 0.2)))
    for k in range(1, pieces + 1):
        q, gap = _project(system, path.at(k / pieces), drive(path.at(k / pieces), q), weight)
    loads = path.at(1.0)
    if gap > CLOSED:
        phi = np.abs(_gap(system, loads, q)[0])
        names = [system.tables.row_names[k] for k in _holonomic(loads)[phi > CLOSED]]
        raise SolverError(
            f"{system.robot.name!r} cannot be closed: {', '.join(dict.fromkeys(names))} miss by {gap:.2g} (m or rad).",
            advice="Check the frames and poses of robot.close, or start nearer to the closed shape (start=...).",
        )
    return q


def redundant_rows(system: System, table: LoadTable, q: Floats) -> Ints:
    """Holonomic rows that depend on the others, at a closed configuration q and at another one nearby."""
    loads = table.loads
    rows = _holonomic(loads)
    if not len(rows):
        return rows
    kept: set[int] = set()
    rng = np.random.default_rng(0)
    best: list[int] = []
    for _ in range(3):
        _, jacobian = _gap(system, loads, q)
        chosen = _independent(jacobian)
        if len(chosen) > len(best):
            best = chosen
        if len(best) == len(rows):
            break
        # a singular configuration (a straight rod, say) is left by moving a little along what is free
        _, s, vt = np.linalg.svd(jacobian, full_matrices=True)
        free = vt[np.sum(s > RANK * max(float(s[0]), 1e-300)) :]
        if not len(free):
            break
        step = free.T @ rng.standard_normal(len(free))
        step[loads.driven] = 0.0
        step *= 0.03 / max(float(np.linalg.norm(step)), 1e-300)
        q, gap = _project(system, loads, move(system.tree, q, step / system.tree.scale), np.ones(system.size))
        if gap > CLOSED:
            break
    kept = set(best)
    return np.array([rows[k] for k in range(len(rows)) if k not in kept], dtype=np.int64)


def _independent(jacobian: Floats) -> list[int]:
    """Rows that are independent of those before them."""
    basis = np.zeros((0, jacobian.shape[1]))
    size = max(float(np.max(np.linalg.norm(jacobian, axis=1), initial=0.0)), 1e-300)
    chosen = []
    for k, row in enumerate(jacobian):
        rest = row - basis.T @ (basis @ row)
        rest = rest - basis.T @ (basis @ rest)
        length = float(np.linalg.norm(rest))
        if length > 1e-7 * size:
            basis = np.vstack([basis, rest / length])
            chosen.append(k)
    return chosen


def close(system: System, inputs: Inputs, t: float, q: Floats) -> Floats:
    """Mount the robot from q and drop redundant constraints, with a warning that names them. Returns the closed q."""
    table = system.loads(t, inputs)
    q = mount(system, table, q)
    rows = redundant_rows(system, table, q)
    if len(rows):
        names = dict.fromkeys(system.tables.row_names[k] for k in rows)
        counts = [f"{name} ({sum(system.tables.row_names[k] == name for k in rows)})" for name in names]
        warnings.warn(
            f"{system.robot.name!r}: {len(rows)} of {system.rows} constraints are redundant and left out: "
            f"{', '.join(counts)}. The motion is not affected; reactions of the loops they belong to are not unique.",
            AnguillaWarning,
            stacklevel=4,
        )
        system.drop_rows(rows)
    return q


def consistent(
    system: System, inputs: Inputs, t: float, q: Floats, v: Floats, dt: float
) -> tuple[Floats, Floats, Floats]:
    """(v, a, multipliers): rates that keep the constraints, nearest to v, and accelerations that balance and keep them.

    Time derivatives of the constraints come from central differences along the motion.
    """
    n, m = system.size, system.rows
    scale = system.tree.scale
    table = system.loads([t - STEP, t, t + STEP], inputs)
    loads = table.at(1)
    loads.row[0] = max(dt, STEP)  # not at rest: twists are held
    zero, lam = np.zeros(n), np.zeros(m)
    driven, at = loads.driven, int(loads.at[MOTION])
    v = v.copy()
    v[driven] = loads.row[at + 1 : at + 3 * len(driven) : 3]
    given = loads.row[at + 2 : at + 3 * len(driven) : 3].copy()
    twist = loads.constraints.table[:, KIND] == TWIST

    def values(k: int, q: Floats, v: Floats) -> Floats:
        other = table.at(k)
        other.row[0] = max(dt, STEP)
        return evaluate(system, other, q, v, zero, lam)[n:].copy()

    def gradient() -> Floats:
        """J with respect to rates, of all rows."""
        loads = table.at(1)
        loads.row[0] = max(dt, STEP)
        evaluate(system, loads, q, v, zero, lam)
        flat, steep = (system._bordered(loads, lam, alpha, 0.0)[n:, :n] for alpha in (0.0, 1.0))
        return np.where(twist[:, None], steep - flat, flat)

    J = gradient()
    free = np.setdiff1d(np.arange(n), driven)
    # rates: J v = -phi_t; twists psi(q, v) = 0 are linear in v
    late = values(2, q, 0 * v), values(0, q, 0 * v)
    explicit = np.where(twist, values(1, q, 0 * v), (late[0] - late[1]) / (2.0 * STEP))
    miss = J @ v + explicit
    if m and np.max(np.abs(miss), initial=0.0) > 0.0:
        correction = np.linalg.lstsq(J[:, free] / scale[free], -miss, rcond=1e-10)[0]
        v[free] += correction / scale[free]
    # accelerations: J a = -(second derivative at a = 0)
    ahead, back = move(system.tree, q, STEP * v), move(system.tree, q, -STEP * v)
    second = (values(2, ahead, v) - 2.0 * values(1, q, v) + values(0, back, v)) / STEP**2
    first = (values(2, ahead, v) - values(0, back, v)) / (2.0 * STEP)
    bias = np.where(twist, first, second)
    J = gradient()
    loads = table.at(1)
    loads.row[0] = 0.0
    a = np.zeros(n)
    a[driven] = given
    force = evaluate(system, loads, q, v, a, lam)[:n]
    flat, steep = (system._bordered(loads, lam, 0.0, beta) for beta in (0.0, 1.0))
    mass, column = (steep - flat)[:n, :n], flat[:n, n:]
    loads.row[0] = max(dt, STEP)
    column = np.where(twist[None, :], system._bordered(loads, lam, 0.0, 0.0)[:n, n:], column)
    slack = (loads.constraints.table[:, KIND] == LENGTH) & (loads.constraints.slack == 1)
    matrix = np.zeros((len(free) + m, len(free) + m))
    matrix[: len(free), : len(free)] = mass[np.ix_(free, free)] / np.outer(scale[free], scale[free])
    matrix[: len(free), len(free) :] = column[free] / scale[free][:, None]
    matrix[len(free) :, : len(free)] = J[:, free] / scale[free]
    right = np.concatenate([-force[free] / scale[free], -bias - J[:, driven] @ given])
    for k in np.flatnonzero(slack):
        matrix[len(free) + k] = 0.0
        matrix[len(free) + k, len(free) + k], right[len(free) + k] = 1.0, 0.0
    balance = float(np.max(np.abs(np.diag(matrix)[: len(free)]), initial=0.0)) or 1.0
    grade = np.concatenate([np.full(len(free), 1.0), np.full(m, balance)])
    solution, _, rank, _ = np.linalg.lstsq(matrix * grade / np.maximum(_row_sizes(matrix * grade), 1e-300)[:, None],
                                           right / np.maximum(_row_sizes(matrix * grade), 1e-300), rcond=1e-13)  # fmt: skip
    if rank < len(right):
        raise SolverError(
            f"The mass matrix of {system.robot.name!r} is singular: some coordinate moves no mass and nothing holds it.",
            advice="Use fewer modes, more intervals, a section with mass, or fix the coordinate.",
        )
    solution = solution * grade
    a[free] = solution[: len(free)] / scale[free]
    return v, a, solution[len(free) :]


def _row_sizes(matrix: Floats) -> Floats:
    return np.max(np.abs(matrix), axis=1)
