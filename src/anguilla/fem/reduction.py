"""Soft bodies of few coordinates: shapes learnt from equilibria, elements chosen so that their forces stay right.

The nodes move as x = x0 + Phi q. Phi holds the answers of the body to its actuators and at its effectors (Schur projection)
and the main shapes of equilibria under sampled inputs (proper orthogonal decomposition). The elastic energy is a sum over few
elements with weights, not negative, that give the forces along Phi of the sampled shapes (hyper-reduction after Farhat and
others). Forces and stiffness are the exact derivatives of this energy; tendons and chambers are not approximated beyond Phi.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from anguilla._doors import public
from anguilla.errors import DescriptionError, SolverError, as_count, as_named, as_positive, as_range, refuse
from anguilla.fem.assembly import FORCES, STIFFNESS, Elements, assemble
from anguilla.fem.body import SoftBody
from anguilla.fem.contact import forbid
from anguilla.fem.elements import pairs_of
from anguilla.fem.equilibrium import statics
from anguilla.fem.hyperelastic import Rubber
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.parts import Chamber, Tendon
from anguilla.fem.projection import Projection
from anguilla.fem.results import SoftEquilibrium, Status
from anguilla.fem.rows import add_volume
from anguilla.fem.shape_kernels import add_lines, few_tets
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.fem.vibrations import modes as modes_of

__all__ = ["ReducedModel", "reduce"]

FEW = 400  # elements at most
ALIKE = 1e-2  # modes that differ by less than this part count once
SWING = 0.03  # of the size of the body: displacement along a mode at which its forces are learnt
NO_STIFFNESS = np.zeros((0, 0))
MOST, HALVINGS, STEPS = 50, 12, 8  # iterations, halvings of one of them, steps of the load


@dataclass(frozen=True)
class Quality:
    """How well a reduced body follows the whole one, on inputs it has not seen.

    Attributes:
        nodes: largest distance of a node from where the whole body has it [m].
        effectors: largest distance of an effector [m].
        motion: largest displacement of a node in these equilibria [m], to compare with.
        count: number of equilibria.

    """

    nodes: float
    effectors: float
    motion: float
    count: int


def _check(body: SoftBody) -> None:
    """Refuse what a reduced body cannot hold."""
    heavy = any(isinstance(p, Chamber) and p.fluid_density for p in body.actuators.values())
    rough = any(isinstance(p, Tendon) and p.friction for p in body.actuators.values())
    turned = any(effector.orientation for effector in body.effectors.values())
    for wrong, what in (
        (body.rigid_parts, "rigid parts"), (body.moves, "moved points"), (body.layers, "layers"), (body.fibres, "fibres"),
        (body.springs, "springs"), (isinstance(body.law, Rubber), "laws of rubber"), (heavy, "heavy fluids"),
        (rough, "friction of tendons"), (turned, "orientations of effectors"),
        (body.element == "averaged", 'element="averaged"'),
    ):  # fmt: skip
        if wrong:
            raise DescriptionError(f"reduce: body {body.name!r} has {what}, which a reduced body cannot hold yet.")
    if not body.actuators:
        raise DescriptionError(f"reduce: body {body.name!r} has no actuator: there is nothing to learn from.")


@public
def reduce(
    body: SoftBody, *, inputs: Mapping[str, tuple[float, float]], samples: int = 40, held_out: int = 10,
    coordinates: int = 20, tolerance: float = 1e-3, seed: int = 0, modes: int = 0,
) -> ReducedModel:  # fmt: skip
    """Make a reduced body from equilibria under sampled inputs, and measure its error on other inputs.

    Args:
        body: the body.
        inputs: range (lowest, highest) of the tension [N] or pressure [Pa] of each actuator, in which it is to be right.
        samples: equilibria to learn from.
        held_out: equilibria to test on.
        coordinates: most coordinates.
        tolerance: error of the forces of the chosen elements along the shapes, over those of all elements.
        seed: of the samples.
        modes: slowest modes of vibration that it shall have too, for motions: equilibria alone do not tell how stiff the body
            is along these.

    """
    if not isinstance(body, SoftBody):
        raise refuse("body", "a SoftBody", body)
    _check(body)
    system = SoftSystem(body)
    ranges = _ranges(system, inputs)
    rng = np.random.default_rng(seed)
    draw = lambda count: ranges[:, 0] + (ranges[:, 1] - ranges[:, 0]) * rng.random((count, len(ranges)))
    forbid(system.body, "reduced volumes")
    learnt = _solved(system, draw(as_count(samples, "samples", 2)))
    tested = _solved(system, draw(as_count(held_out, "held_out")))
    base = statics(system)
    shapes, number = [x for _, x in learnt], as_count(modes, "modes", 0)
    swings = [] if not number else [_swings(eq, number) for eq in (base, *_found(system, learnt))]
    basis = _basis(
        system, base.x, shapes, [one for _, some in swings for one in some], as_count(coordinates, "coordinates")
    )
    near = [x + part for x, some in swings for swing in some for part in (swing, -swing)]
    chosen, weight = _elements(system, base.x, basis, shapes + near, as_positive(tolerance, "tolerance"))
    model = ReducedModel(system, base.x, basis, chosen, weight)
    model.quality = _judge(model, tested)
    model.restart()
    return model


def _ranges(system: SoftSystem, inputs: Mapping[str, tuple[float, float]]) -> Floats:
    out = np.zeros((len(system.names), 2))
    for name, given in as_named(inputs).items():
        pair = as_range(given, f"inputs[{name!r}]")
        for k in (0, 1):
            out[system.names.index(name) if name in system.names else 0, k] = pair[k]
            system.efforts({name: pair[k]})
    return out


def _solved(system: SoftSystem, efforts: Floats) -> list[tuple[Floats, Floats]]:
    """(efforts, nodes) of equilibria, found one from another, the nearest first."""
    found: list[tuple[Floats, Floats]] = []
    start = None
    for row in efforts[np.argsort(np.linalg.norm(efforts, axis=1))]:
        start = statics(system, inputs=dict(zip(system.names, row.tolist(), strict=True)), start=start)
        found.append((row, start.x))
    return found


def _found(system: SoftSystem, learnt: list[tuple[Floats, Floats]]) -> list[SoftEquilibrium]:
    """The middle one and the last of the equilibria that were learnt from."""
    some = [learnt[len(learnt) // 2], learnt[-1]]
    turns = system.rest.rotations
    return [SoftEquilibrium(system.body, system, SoftState(x, turns), e, Status(True, "", {})) for e, x in some]


def _swings(eq: SoftEquilibrium, count: int) -> tuple[Floats, Floats]:
    """Places (n, 3) of an equilibrium, and its slowest modes (count, n, 3) as small displacements [m]."""
    found = modes_of(eq, count=count).shapes
    size = SWING * float(np.linalg.norm(np.ptp(eq.system.rest.x, axis=0)))
    return eq.x, found * (size / np.abs(found).max(axis=(1, 2)))[:, None, None]


def _basis(system: SoftSystem, x0: Floats, shapes: list[Floats], swings: list[Floats], most: int) -> Floats:
    """Orthonormal shapes (r, n, 3): answers to actuators and at effectors, modes, then the main parts of the shapes."""
    u, state = system.unknowns, SoftState(x0, system.rest.rotations)
    _, gradient, blocks = system.evaluate(state, np.zeros(len(system.names)), stiffness=True)
    system.solver.factor(u.fold(x0, blocks, gradient))
    rows = np.concatenate([system.actuator_rows(state), system.frames.gradient(x0)])
    answers = np.array([u.spread(x0, row.reshape(-1, 3)) for row in system.solver.solve(u.gather(x0, rows))])
    answers = answers.reshape(len(answers), -1)
    answers /= np.linalg.norm(answers, axis=1, keepdims=True)
    first = np.linalg.qr(answers.T)[0][:, : min(most, len(answers))]
    if swings:  # modes of several equilibria are much alike
        more = np.array(swings).reshape(len(swings), -1)
        more = more - (more @ first) @ first.T
        _, size, main = np.linalg.svd(more, full_matrices=False)
        first = np.hstack([first, main[size > ALIKE * size[0]].T])[:, :most]
    rest = np.array([(x - x0).ravel() for x in shapes])
    rest = rest - (rest @ first) @ first.T
    _, size, main = np.linalg.svd(rest, full_matrices=False)
    keep = min(most - first.shape[1], int(np.sum(size > 1e-7 * size[0])))
    return np.concatenate([first.T, main[:keep]]).reshape(-1, *x0.shape)


def _exploded(system: SoftSystem, chosen: Ints, weight: Floats) -> Elements:
    """Elements that share no nodes, each with weights of its own."""
    el = system.elements
    k = el.nodes.shape[1]
    nodes = np.arange(k * len(chosen)).reshape(-1, k)
    pairs = k * (k + 1) // 2
    slot = np.arange(pairs * len(chosen)).reshape(-1, pairs)
    return Elements(
        nodes, np.ascontiguousarray(el.gradient[chosen]), el.weight[chosen] * weight[:, None], el.mu[chosen],
        el.lam[chosen], el.law[chosen], slot,
    )  # fmt: skip


def _elements(
    system: SoftSystem, x0: Floats, basis: Floats, shapes: list[Floats], tolerance: float
) -> tuple[Ints, Floats]:
    """Numbers and weights of elements that give the elastic forces of all, along the basis, in all the shapes."""
    every, one = np.arange(len(system.elements.nodes)), np.ones(len(system.elements.nodes))
    el = _exploded(system, every, one)
    own = basis[:, system.elements.nodes]  # (r, m, k, 3)
    columns = []
    for x in [x0, *shapes]:
        near = x0 + np.einsum("rni,r->ni", basis, np.einsum("rni,ni->r", basis, x - x0))
        force = np.zeros((el.nodes.size, 3))
        places = near[system.elements.nodes].reshape(-1, 3)
        assemble(
            el, system.stars, places, system.node_pressure, 1.0, system.no_history, force, system.nothing_pulled, 0
        )
        columns.append(np.einsum("rmki,mki->rm", own, force.reshape(*system.elements.nodes.shape, 3)))
    table = np.concatenate(columns)  # (r shapes, m)
    chosen, weight = sparse_weights(table, table.sum(axis=1), tolerance)
    return chosen, weight


def sparse_weights(table: Floats, goal: Floats, tolerance: float) -> tuple[Ints, Floats]:
    """Few columns of a table and positive weights whose sum is the goal to a tolerance (Lawson and Hanson, stopped early)."""
    size = float(np.linalg.norm(goal))
    chosen: list[int] = []
    weight: Floats = np.zeros(0)
    left = goal.copy()
    while np.linalg.norm(left) > tolerance * size and len(chosen) < min(FEW, table.shape[1]):
        score = table.T @ left
        score[chosen] = -np.inf
        best = int(np.argmax(score))
        if not score[best] > 0.0:
            break
        chosen.append(best)
        weight = np.append(weight, 0.0)
        while True:
            trial: Floats = np.asarray(np.linalg.lstsq(table[:, chosen], goal, rcond=None)[0], dtype=np.float64)
            if np.all(trial > 0.0):
                weight = trial
                break
            falling = trial <= 0.0
            part = float(np.min(weight[falling] / np.maximum(weight[falling] - trial[falling], 1e-300)))
            weight = weight + part * (trial - weight)
            keep = weight > 1e-12 * weight.max()
            keep &= ~(falling & (weight <= 1e-12 * weight.max()))
            if keep.all():
                keep[np.argmin(np.where(falling, weight, np.inf))] = False
            chosen, weight = [c for c, k in zip(chosen, keep, strict=True) if k], weight[keep]
        left = goal - table[:, chosen] @ weight
    return np.array(chosen, dtype=np.int64), weight


def _judge(model: ReducedModel, tested: list[tuple[Floats, Floats]]) -> Quality:
    frames, off, apart, far = model.system.frames, 0.0, 0.0, 0.0
    for efforts, x in tested:
        model.efforts = efforts.copy()
        model.relax()
        mine = model.x
        off = max(off, float(np.linalg.norm(mine - x, axis=1).max()))
        far = max(far, float(np.linalg.norm(x - model.system.rest.x, axis=1).max()))
        for k in range(len(frames.names)):
            apart = max(apart, float(np.linalg.norm(frames.position(mine, k) - frames.position(x, k))))
    return Quality(off, apart, far, len(tested))


@public
class ReducedModel:
    """A soft body of few coordinates, with a present state, as `control` uses it (see `fem.SoftModel`).

    Attributes:
        q: (r,) coordinates.
        efforts: (actuators,) tensions [N] and pressures [Pa].
        quality: its error on inputs that it has not seen.
        elements: (k,) numbers of the tetrahedra whose energy counts.

    """

    quality: Quality

    def __init__(self, system: SoftSystem, x0: Floats, basis: Floats, chosen: Ints, weight: Floats) -> None:
        self.system, self.x0, self.basis, self.elements = system, x0, basis, chosen
        self.size = float(np.linalg.norm(np.ptp(system.rest.x, axis=0)))
        self._el = _exploded(system, chosen, weight)
        own = system.elements.nodes[chosen]
        k, r = own.shape[1], len(basis)
        self._place = x0[own].reshape(-1, 3)
        self._ways = np.ascontiguousarray(basis[:, np.unique(own)]).reshape(r, -1)
        self._tets = few_tets(self._el, x0[own], basis[:, own])
        self._along = np.ascontiguousarray(np.moveaxis(basis[:, own], 0, -1)).reshape(len(own) * k * 3, r)
        self._fronts = self._along.reshape(len(own), 3 * k, r)
        self._force = np.zeros_like(self._place)
        self._blocks = np.zeros((self._el.slot.size, 9))
        a, b = (side[0] for side in pairs_of(np.arange(k)[None]))
        self._pairs, self._nodes = (a, b), k
        self._dense = np.zeros((len(own), k, 3, k, 3))
        loads = np.zeros_like(x0)
        system.external_forces(x0, np.zeros(len(system.names)), 1.0, 0.0, loads, system.nothing_pulled, False)
        self._load = np.einsum("rni,ni->r", basis, loads)
        self._parts = list(system.body.actuators.values())
        self._spans, self._change = self._lines()
        self._segment_at = np.ascontiguousarray(system.lines.segment_at)
        pulls = np.array([isinstance(part, Tendon) for part in self._parts], dtype=bool)
        self._tendons: Ints | slice = np.flatnonzero(pulls)
        self._chambers: list[int] = np.flatnonzero(~pulls).tolist()
        self._pulling = len(self._tendons)  # lines that are tendons; those that follow are sensors
        if not self._chambers:
            self._tendons = slice(None)
        self._cavities = [self._cavity(k) for k in range(len(system.surfaces.face_at) - 1)]
        names = range(len(system.frames.names))
        self._seen0 = np.concatenate([*(system.frames.position(x0, k) for k in names), np.zeros(0)])
        self._seen = np.array([
            np.concatenate([*(system.frames.position(shape, k) for k in names), np.zeros(0)]) for shape in basis
        ]).T  # fmt: skip
        self._effectors = dict.fromkeys(system.frames.names, 3)
        self._limits = system.limits()
        self.restart()

    def restart(self) -> None:
        """Go to the equilibrium without inputs."""
        self.q, self.efforts = np.zeros(len(self.basis)), np.zeros(len(self._parts))
        self._stiff: Any = None
        self._factors: Any = None

    # What it is made of ------------------------------------------------------------------------------------------------

    def _lines(self) -> tuple[Floats, Floats]:
        """Segments (s, 3) of all lines, tendons first, at x0, and how they change (3 s, r)."""
        lines, zero, change = self.system.lines, np.zeros((0, 3)), np.zeros((0, len(self.basis)))
        for s in range(len(lines.offset)):
            at = slice(int(lines.part_at[s]), int(lines.part_at[s + 1]))
            nodes, weight = lines.node[at], lines.weight[at]
            zero = np.vstack([zero, weight @ self.x0[nodes] + lines.offset[s]])
            change = np.vstack([change, np.einsum("k,rki->ir", weight, self.basis[:, nodes])])
        return zero, change

    def _cavity(self, k: int) -> tuple[float, Floats, Floats, Floats]:
        """Volume of a chamber as a polynomial of q, exact: its value, slope (r,), curvature (r, r) and third derivative."""
        r = len(self.basis)

        def slope(q: Floats) -> Floats:
            row = np.zeros_like(self.x0)
            add_volume(self.system.surfaces, k, self.x0 + np.einsum("rni,r->ni", self.basis, q), 1.0, row)
            return np.einsum("rni,ni->r", self.basis, row)

        step = 0.1 * self.size
        unit, first = step * np.eye(r), slope(np.zeros(r))
        plus, minus = np.array([slope(e) for e in unit]), np.array([slope(-e) for e in unit])
        second = (plus - minus) / (2.0 * step)
        third = np.zeros((r, r, r))
        for i in range(r):
            third[i, i] = (plus[i] + minus[i] - 2.0 * first) / step**2
            for j in range(i):
                both = slope(unit[i] + unit[j])
                third[i, j] = third[j, i] = (both - plus[i] - plus[j] + first) / step**2
        return float(self.system.cavity_volumes(self.x0)[k]), first, 0.5 * (second + second.T), third

    @property
    def actuators(self) -> list[str]:
        """Names of the actuators."""
        return self.system.names

    @property
    def sensors(self) -> list[str]:
        """Names of the sensors."""
        return self.system.sensors

    @property
    def effectors(self) -> dict[str, int]:
        """Number of rows of each effector."""
        return self._effectors

    def limits(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Smallest and largest effort, smallest and largest stroke: (actuators,) each."""
        return self._limits

    # Where it is -------------------------------------------------------------------------------------------------------

    @property
    def x(self) -> Floats:
        """Positions (n, 3) [m] of all nodes."""
        return self.x0 + np.einsum("rni,r->ni", self.basis, self.q)

    def positions(self) -> list[Floats]:
        """Present position (3,) [m] of each effector."""
        return list((self._seen0 + self._seen @ self.q).reshape(-1, 3))

    def position(self, effector: str) -> Floats:
        """Present position (3,) [m] of an effector."""
        return self.positions()[self.system.frames.names.index(effector)]

    def errors(self, positions: list[Floats], rotations: list[Floats | None]) -> Floats:
        """Effectors as seen from where they should be: (rows,) [m]."""
        goal = positions[0] if len(positions) == 1 else np.concatenate(positions)
        return self._seen0 + self._seen @ self.q - goal

    def _tight(self, stiff: Floats) -> tuple[Floats, Floats]:
        """Lengths (lines,) and slopes (lines, r) of the lines; what tendons do is added to a stiffness (r, r) or (0, 0)."""
        count, r = len(self._segment_at) - 1, len(self.q)
        lengths, slopes, tension = np.empty(count), np.empty((count, r)), self.efforts[self._tendons]
        add_lines(self._spans, self._change, self._segment_at, tension, self.q, lengths, slopes, stiff, np.empty(r))
        return lengths, slopes

    def strokes(self) -> Floats:
        """Present strokes (actuators,) [m, m^3]."""
        return self._stroked(self._tight(NO_STIFFNESS)[0])

    def _stroked(self, lengths: Floats) -> Floats:
        """Strokes (actuators,), for lengths of all lines."""
        lines, cavities = self.system.rest_strokes
        shorter = (lines - lengths)[: self._pulling]
        if not self._chambers:
            return shorter
        out, q = np.zeros(len(self._parts)), self.q
        out[self._tendons] = shorter
        for k, rest, (value, one, two, three) in zip(self._chambers, cavities, self._cavities, strict=True):
            out[k] = value + one @ q + 0.5 * q @ two @ q + q @ (three @ q) @ q / 6.0 - rest
        return out

    def readings(self) -> Floats:
        """Present lengths (sensors,) [m]."""
        return self._tight(NO_STIFFNESS)[0][self._pulling :]

    def remember(self) -> tuple[Floats, Floats]:
        """Coordinates and efforts, to come back to with `restore`."""
        return self.q.copy(), self.efforts.copy()

    def restore(self, memory: tuple[Floats, Floats]) -> None:
        """Go back to a remembered state."""
        self.q, self.efforts = memory[0].copy(), memory[1].copy()

    # Mechanics ---------------------------------------------------------------------------------------------------------

    def evaluate(self, *, stiffness: bool = True) -> tuple[float, Floats, Floats, Floats]:
        """(elastic energy [J], slope (r,), stiffness (r, r), rows of the actuators (a, r)) at present.

        The slope is that of the whole energy, with loads and actuators. Without `stiffness` the last one is given.
        """
        energy, slope, curves = self._elastic(stiffness)
        self._seen_lines = self._tight(curves if stiffness else NO_STIFFNESS)
        rows = np.zeros((len(self._parts), len(self.q)))
        rows[self._tendons] = -self._seen_lines[1][: self._pulling]
        for k, (_, one, two, three) in zip(self._chambers, self._cavities, strict=True):
            bent = three @ self.q
            rows[k] = one + (two + 0.5 * bent) @ self.q
            if stiffness:
                curves = curves - self.efforts[k] * (two + bent)
        if stiffness:
            self._stiff, self._factors = curves, None
        return energy, slope + self._load - self.efforts @ rows, self._stiff, rows

    def _elastic(self, stiffness: bool) -> tuple[float, Floats, Floats]:
        """Elastic energy [J] of the chosen elements, its slope (r,) and, if asked for, its stiffness (r, r)."""
        if self._tets is not None:
            energy, bad, slope, curves = self._tets.evaluate(self.q, stiffness)
        else:
            energy, bad, slope, curves = self._assembled(stiffness)
        if bad >= 0:
            raise SolverError("Elements turned inside out.", advice="Make smaller steps.")
        return float(energy), slope, curves

    def _assembled(self, stiffness: bool) -> tuple[float, int, Floats, Floats]:
        """As `FewTets.evaluate`, for elements of any kind."""
        self._force[:] = 0.0
        self._blocks[:] = 0.0
        x = self._place + (self._along @ self.q).reshape(-1, 3)
        system = self.system
        energy, bad = assemble(
            self._el, system.stars, x, system.node_pressure, 1.0, system.no_history, self._force, self._blocks,
            STIFFNESS if stiffness else FORCES,
        )  # fmt: skip
        slope = self._force.ravel() @ self._along
        return energy, bad, slope, self._condensed() if stiffness else NO_STIFFNESS

    def _condensed(self) -> Floats:
        """Stiffness (r, r) of the chosen elements, from the blocks of the last assembly."""
        (a, b), m = self._pairs, len(self._el.nodes)
        blocks = self._blocks.reshape(m, -1, 3, 3)
        self._dense[:, a, :, b] = blocks.swapaxes(0, 1)
        self._dense[:, b, :, a] = blocks.transpose(1, 0, 3, 2)
        pulled = self._dense.reshape(m, 3 * self._nodes, -1) @ self._fronts
        return self._along.T @ pulled.reshape(self._along.shape)

    def project(self, *, reuse: bool = False) -> Projection:
        """Linearise at the present state; `reuse` keeps the last stiffness."""
        from scipy.linalg import lapack

        _, slope, stiff, rows = self.evaluate(stiffness=not reuse or self._stiff is None)
        lengths, slopes = self._seen_lines
        sensed = slice(self._pulling, None)
        whole = np.concatenate([self._seen, rows, slopes[sensed], -slope[None]])
        if self._factors is None:
            lu, pivots, bad = lapack.dgetrf(stiff)
            if bad:
                raise SolverError("The stiffness of the reduced body is singular.", advice="Make smaller steps.")
            self._factors = lu, pivots
        answers = lapack.dgetrs(*self._factors, whole.T)[0]
        w = whole @ answers
        count = (len(self._seen), len(rows), len(self.sensors))
        pulls = answers[:, count[0] : count[0] + count[1]]
        finish = lambda change: answers[:, -1] + pulls @ change
        return Projection(
            w[:-1, :-1],
            w[:-1, -1],
            self._stroked(lengths),
            lengths[sensed],
            self.efforts.copy(),
            count,
            finish,
            float(w[-1, -1]),
        )

    def advance(self, projection: Projection, change: Floats, *, reach: float = np.inf) -> float:
        """Change the efforts and move along; returns the largest displacement [m] of a node of the chosen elements."""
        step = projection.finish(change)
        length = float(np.abs(step @ self._ways).max())
        part = min(1.0, reach / max(length, 1e-300))
        self.q = self.q + part * step
        self.efforts = projection.efforts + part * change
        return length

    def relax(self, *, tolerance: float = 1e-10, strokes: bool = False) -> Any:
        """Find the equilibrium at the present efforts and go there: from the present state, else in steps from no inputs."""
        goal = self.efforts.copy()
        if self._newton(tolerance):
            return self
        self.q = np.zeros_like(self.q)
        for part in np.linspace(0.0, 1.0, STEPS + 1)[1:]:
            self.efforts = part * goal
            if not self._newton(tolerance):
                self.efforts = goal
                raise SolverError(
                    f"No equilibrium of the reduced {self.system.body.name!r}: Newton's corrections do not shrink.",
                    advice="Stay within the efforts it was reduced from.",
                )
        return self

    def _newton(self, tolerance: float) -> bool:
        """Newton's method at the present efforts, with steps that leave less than before; whether it came to an end."""
        known = self._known()
        for _ in range(MOST):
            if known is None:
                return False
            slope, stiff = known
            step = -np.linalg.solve(stiff, slope)
            length, begin, part = float(np.linalg.norm(step)), self.q, 1.0
            if length < tolerance * self.size:
                self.q = begin + step
                return True
            for _ in range(HALVINGS):
                self.q = begin + part * step
                known = self._known()
                if known is not None and np.linalg.norm(known[0]) < np.linalg.norm(slope):
                    break
                part *= 0.5
            else:
                self.q = begin
                return length < 1e-7 * self.size
        return False

    def _known(self) -> tuple[Floats, Floats] | None:
        """Slope and stiffness at present; None where an element is inside out."""
        try:
            return self.evaluate()[1:3]
        except SolverError:
            return None

    def statics(self, inputs: Mapping[str, float]) -> ReducedModel:
        """Go to the equilibrium under tensions [N] and pressures [Pa] by name; returns itself."""
        self.efforts = self.system.efforts(inputs)
        self.relax()
        return self

    def __repr__(self) -> str:
        quality = getattr(self, "quality", None)
        off = "" if quality is None else f", off by {1e3 * quality.nodes:.3g} of {1e3 * quality.motion:.3g} mm"
        return f"<reduced {self.system.body.name!r}: {len(self.q)} coordinates, {len(self.elements)} tetrahedra{off}>"
