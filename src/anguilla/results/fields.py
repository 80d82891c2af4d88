"""Fields along a rod: strains, and the internal wrench by integrating densities at high order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anguilla.describe import STRAIN_NAMES, Frame, FrameMotion, Load, RodHandle
from anguilla.describe.load import Seat
from anguilla.describe.shaping import strain_places
from anguilla.errors import DescriptionError
from anguilla.mechanics.tree import N_F, N_M, N_X, Floats, Ints
from anguilla.model.model import Inputs, Model
from anguilla.results.observe import S_A, S_AL, S_V, S_W, S_X, SNAPSHOT, jacobian, snapshots
from anguilla.results.reactions import node_wrenches, replay

States = tuple[Floats, Floats, Floats, Floats, Floats]  # times (nt,), q, v, a (nt, n), multipliers (nt, m)

GAUSS_POINTS = 6  # per piece between requested sections: exact to degree 11
WET_POINTS = 8  # the same in water


def strain_field(system: Model, part: RodHandle, X: Floats, q: Floats) -> Floats:
    """Strains (nt, m, 6) of a rod at arc lengths X (m,) [m] for coordinates q (nt, n)."""
    layout = system.layout.parts[part.index]
    own = q[:, layout.coordinates]
    field = np.broadcast_to(part.rod.rest.strain(X), (len(q), len(X), 6)).copy()
    at = 0
    for name, basis in part.rod.strains.items():
        field[:, :, STRAIN_NAMES.index(name)] += own[:, at : at + basis.size] @ basis(X / part.length).T
        at += basis.size
    return field


def cable_length(system: Model, name: str, q: Floats) -> tuple[Floats, Floats]:
    """Length (nt,) [m] of an actuator's line inside the rods and its gradient (nt, n), for states q (nt, n)."""
    actuators = system.robot.actuators
    if name not in actuators:
        raise DescriptionError(f"there is no actuator {name!r}; there are: {', '.join(actuators) or 'none'}.")
    x, w = np.polynomial.legendre.leggauss(2 * GAUSS_POINTS)
    length, gradient = np.zeros(len(q)), np.zeros((len(q), system.size))
    for part, routing, low, high in actuators[name].stretches:
        layout = system.layout.parts[part.index]
        assert layout.grid is not None
        ends = np.unique([low, high, *(X for X in layout.grid.X if low < X < high)])
        half = 0.5 * np.diff(ends)[:, None]
        X, weights = (ends[:-1, None] + half * (1.0 + x)).ravel(), (half * w).ravel()
        strain, D = strain_field(system, part, X, q), routing.offset(X)
        line = strain[:, :, 3:] + np.cross(strain[:, :, :3], D) + routing.slope(X)
        stretch = np.linalg.norm(line, axis=2)
        t = line / stretch[:, :, None]
        slope = np.concatenate([np.cross(D, t), t], axis=2) * weights[:, None]  # dl/dxi
        length += stretch @ weights
        columns = [slope[:, :, STRAIN_NAMES.index(k)] @ basis(X / part.length) for k, basis in part.rod.strains.items()]
        gradient[:, layout.coordinates] += np.concatenate(columns, axis=1)
    for a, b in actuators[name].spans:
        line, arm = _span_motion(system, a, b, q)
        distance = np.linalg.norm(line, axis=1)
        length += distance
        gradient += np.einsum("ti,tin->tn", line / distance[:, None], arm)
    return length, gradient


def _span_motion(system: Model, a: Frame, b: Frame, q: Floats) -> tuple[Floats, Floats]:
    """Vector (nt, 3) from frame a to frame b, world axes, and its gradient (nt, 3, n)."""
    zero, n = np.zeros(system.size), system.size
    ends = [(system.layout.node(frame) or 0) for frame in (a, b)]
    lines, arms = np.zeros((len(q), 3)), np.zeros((len(q), 3, n))
    for k in range(len(q)):
        for sign, node in zip((-1.0, 1.0), ends, strict=True):
            out = np.zeros((6, n))
            jacobian(system.tree, system.workspace, node, q[k], np.zeros(n), zero, out)
            arms[k] += sign * out[3:]
            lines[k] += sign * system.workspace.node[node, N_X : N_X + 3]
    return lines, arms


def _pieces(system: Model, part: RodHandle, X: Floats) -> Floats:
    """Ends of the pieces to integrate over: requested sections, breakpoints, panel ends and sections carrying something."""
    layout = system.layout.parts[part.index]
    assert layout.grid is not None
    ends = np.concatenate([X, layout.grid.X, [0.0, part.length]])
    ends = np.unique(ends)
    return ends[np.concatenate([[True], np.diff(ends) > 1e-12 * part.length])]


def _spread_on(system: Model, part: RodHandle) -> list[Load]:
    """Loads that are known as a wrench per length along a rod."""
    found = [(load, load.density_on) for load in system.robot.loads]
    return [load for load, rod in found if rod is not None and rod.index == part.index]


def _density(system: Model, part: RodHandle, X: Floats, motion: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Moment and force per length, inertia minus external, world axes: (nt, m, 3) each."""
    inertia = part.rod.inertia(X)
    rotation = motion[:, :, :9].reshape(*motion.shape[:2], 3, 3)
    to_body = lambda k: np.einsum("tmji,tmj->tmi", rotation, motion[:, :, k : k + 3])
    w, al = to_body(S_W), to_body(S_AL)
    moment = np.einsum("tmij,tmj->tmi", rotation, inertia[:, :3] * al + np.cross(w, inertia[:, :3] * w))
    gravity = system.robot.gravity_values(times)
    force = inertia[None, :, 3:4] * (motion[:, :, S_A : S_A + 3] - gravity[:, None, :])
    for load in _spread_on(system, part):
        value = load.wrench_density(X, times, as_motion(motion), gravity)
        moment, force = moment - value[:, :, :3], force - value[:, :, 3:]
    return moment, force


def _point_wrenches(
    system: Model, part: RodHandle, states: States, inputs: Inputs
) -> list[tuple[float, Floats, Floats, Floats]]:
    """(X, origin, moment, force), inertia minus external, of point loads and of parts hanging on the rod."""
    times, q, v, a, lam = states
    jumps = []
    for load in system.robot.loads:
        frame = load.wrench_on
        if frame is not None and frame.part_index == part.index:
            motion = motion_of(system, [frame], q, v, a)[:, 0]
            value = load.given_wrench(times, motion[:, :9].reshape(-1, 3, 3))
            jumps.append((frame.X, motion[:, S_X : S_X + 3], -value[:, :3], -value[:, 3:]))
    children = [p for p in system.robot.parts if p.parent.part_index == part.index and not p.parent.is_ground]
    places = _places_on(system, part)
    if not children and not places:
        return jumps
    below = np.zeros((len(q), len(children), 9))
    acting: dict[int, Floats] = {}
    for k, loads, _ in replay(system, times, inputs, q, v, a, lam, in_space=True):
        node = system.workspace.node
        for c, child in enumerate(children):
            row = node[system.layout.parts[child.index].entry]
            below[k, c] = np.concatenate([row[N_X : N_X + 3], row[N_M : N_M + 3], row[N_F : N_F + 3]])
        for i, moment, force in node_wrenches(system, loads, lam[k], points_only=True):
            if i in places:
                record = acting.setdefault(i, np.zeros((len(q), 9)))
                record[k, :3] = node[i, N_X : N_X + 3]
                record[k, 3:6] -= moment
                record[k, 6:] -= force
    records = [(child.parent.X, below[:, c]) for c, child in enumerate(children)]
    records += [(places[i], record) for i, record in acting.items()]
    return jumps + [(X, record[:, :3], record[:, 3:6], record[:, 6:]) for X, record in records]


def _places_on(system: Model, part: RodHandle) -> dict[int, float]:
    """Arc lengths of the nodes of a rod, and of frames fixed to it, that frame loads and constraints act on."""
    loads, layout = system.blank, system.layout.parts[part.index]
    assert layout.grid is not None
    if not len(loads.frames.table) and not len(loads.pairs.table):
        return {}
    places = {int(node): float(X) for node, X in zip(layout.nodes, layout.grid.X, strict=True)}
    for (index, X, _), node in system.layout.extra.items():
        if index == part.index:
            places[node] = X
    return places


def as_motion(snapshot: Floats) -> FrameMotion:
    """Motions (nt, m) from snapshots (nt, m, SNAPSHOT)."""
    three = (snapshot[:, :, k : k + 3] for k in (S_X, S_W, S_V, S_AL, S_A))
    return FrameMotion(snapshot[:, :, :9].reshape(*snapshot.shape[:2], 3, 3), *three)


def seat_motion(system: Model, seat: Seat, q: Floats, v: Floats | None = None) -> FrameMotion:
    """Motion (nt, k) of the nodes a load acts on, in states q (nt, n) with rates v, zero if not given."""
    zero = np.zeros_like(q)
    return as_motion(_motion_at(system, seat.nodes, q, zero if v is None else v, zero))


def _motion_at(system: Model, nodes: Ints, q: Floats, v: Floats, a: Floats) -> Floats:
    """Motion (nt, m, SNAPSHOT) of nodes, world axes."""
    out = np.zeros((len(q), len(nodes), SNAPSHOT))
    # one compilation serves slices and read-only arrays
    states = (np.require(x, np.float64, ["C", "W"]) for x in (q, v, a))
    if snapshots(system.tree, system.workspace, nodes, *states, out):
        raise DescriptionError("an interval of a rod turns by more than 3 rad: give the rod more intervals.")
    return out


def motion_of(system: Model, frames: Sequence[Frame], q: Floats, v: Floats, a: Floats) -> Floats:
    """Motion (nt, m, SNAPSHOT) of frames, world axes; a frame between two nodes gets a node of its own first."""
    observer = system.observing(frames)
    nodes = np.array([observer.layout.node(frame.bare) for frame in frames], dtype=np.int64)
    out = _motion_at(observer, nodes, q, v, a)
    for k, frame in enumerate(frames):
        if frame.offset is not None:
            _shift(out[:, k], frame.offset_pose)
    return out


def _shift(motion: Floats, offset: Floats) -> None:
    """Move the motion (nt, SNAPSHOT) of a frame to another one at a fixed pose from it, in place."""
    rotation = motion[:, :9].reshape(-1, 3, 3)
    arm = rotation @ offset[:3, 3]
    w, al = motion[:, S_W : S_W + 3], motion[:, S_AL : S_AL + 3]
    motion[:, S_X : S_X + 3] += arm
    motion[:, S_V : S_V + 3] += np.cross(w, arm)
    motion[:, S_A : S_A + 3] += np.cross(al, arm) + np.cross(w, np.cross(w, arm))
    motion[:, :9] = (rotation @ offset[:3, :3]).reshape(-1, 9)


def _quadrature(system: Model, part: RodHandle, ends: Floats) -> tuple[Floats, Floats]:
    """Points and weights between the ends of pieces; water on a round nose starts like a square root, which they follow."""
    wet = any(load.account == "water" for load in _spread_on(system, part))
    x, w = np.polynomial.legendre.leggauss(WET_POINTS if wet else GAUSS_POINTS)
    s, weight = 0.5 * (1.0 + x), 0.5 * w
    if wet:
        angle = np.pi * s
        s, weight = 0.5 * (1.0 - np.cos(angle)), 0.5 * np.pi * np.sin(angle) * weight
    length = np.diff(ends)[:, None]
    return (ends[:-1, None] + length * s).ravel(), (length * weight).ravel()


def _sums_from_the_end(x: Floats) -> Floats:
    """Sums (nt, m + 1, 3) of x (nt, m, 3) over all places from each one on; the last is zero."""
    sums = np.zeros((x.shape[0], x.shape[1] + 1, 3))
    sums[:, :-1] = np.cumsum(x[:, ::-1], axis=1)[:, ::-1]
    return sums


def internal_wrench(system: Model, part: RodHandle, X: Floats, states: States, inputs: Inputs) -> Floats:
    """Lambda(X) (nt, m, 6) in section axes: minus the resultant, beyond X, of inertia minus external forces.

    At a section that carries a point load the value is the one just before it.
    """
    times, q, v, a, _ = states
    ends = _pieces(system, part, X)
    points, weights = _quadrature(system, part, ends)
    frames = [part.section(float(p)) for p in points] + [part.section(float(p)) for p in X]
    motion = motion_of(system, frames, q, v, a)
    inner, sections = motion[:, : len(points)], motion[:, len(points) :]
    moment, force = _density(system, part, points, inner, times)
    moment = moment + np.cross(inner[:, :, S_X : S_X + 3], force)  # about the world origin
    jumps = _point_wrenches(system, part, states, inputs)
    out = np.zeros((len(q), len(X), 6))
    beyond_f, beyond_m = (_sums_from_the_end(weights[:, None] * x) for x in (force, moment))
    for k, place in enumerate(X):
        first = int(np.searchsorted(points, place, side="right"))
        f, m = beyond_f[:, first], beyond_m[:, first]
        for at, origin, jump_m, jump_f in jumps:
            if at >= place - 1e-12 * part.length:
                f, m = f + jump_f, m + jump_m + np.cross(origin, jump_f)
        m = m - np.cross(sections[:, k, S_X : S_X + 3], f)
        rotation = sections[:, k, :9].reshape(-1, 3, 3)
        out[:, k, :3] = -np.einsum("tji,tj->ti", rotation, m)
        out[:, k, 3:] = -np.einsum("tji,tj->ti", rotation, f)
    for load in _spread_on(system, part):
        out -= load.advected(X, as_motion(sections))
    return out


def control_torque(system: Model, part: RodHandle, X: Floats, states: States, inputs: Inputs) -> Floats:
    """M(X) (nt, m, 6) of the motors of an imposed shape: the passive stress minus Lambda, along the imposed strains.

    Lambda = H eps + D eps' - M, so M is the effort along the strain, opposite in sign to the Lambda_a of 000.
    """
    if part.index not in system.shapes:
        raise DescriptionError(f"{part.name} has no imposed shape: its strains have no motors. Give Rod.shape a gait.")
    _, q, v, _, _ = states
    rod = part.rod
    strained = strain_field(system, part, X, q) - rod.rest.strain(X)
    rate = strain_field(system, part, X, v) - rod.rest.strain(X)
    passive = rod.hooke(X) * (strained + rod.material.damping * rate)
    out = np.zeros_like(passive)
    places = strain_places(system.shapes[part.index].gait)
    out[:, :, places] = (passive - internal_wrench(system, part, X, states, inputs))[:, :, places]
    return out
