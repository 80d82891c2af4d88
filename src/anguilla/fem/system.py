"""A soft body compiled for computation: energy, gradient and exact stiffness, and the rows of its constraints."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from anguilla.errors import DescriptionError, as_number, refuse
from anguilla.fem.assembly import FORCES, STIFFNESS, Elements, add_averaged_stiffness, assemble, average, stresses
from anguilla.fem.body import SoftBody, as_body
from anguilla.fem.contact import Grip, Pressed, SlidingSolver, Touching, obstacle_pieces
from anguilla.fem.elements import (
    Pattern,
    consistent_weights,
    held_by,
    make_elements,
    make_grid,
    make_stars,
    pairs_of,
    shape_functions,
    star_pairs,
    traction_weights,
)
from anguilla.fem.faces import make_surfaces, pairs_of_faces, with_slots
from anguilla.fem.frames import Frames
from anguilla.fem.hyperelastic import Rubber
from anguilla.fem.lanes import WORK, assemble_lanes, make_lanes
from anguilla.fem.laws import LAWS, MEMBRANE, RUBBER
from anguilla.fem.linear import LinearSolver, make_solver
from anguilla.fem.mesh import Floats, Ints, locate
from anguilla.fem.parts import Chamber, Spring, String, Tendon, beyond
from anguilla.fem.rows import (
    Lines,
    Surfaces,
    add_fluid,
    add_line,
    add_volume,
    add_weight,
    directions,
    lengths,
    pull_lines,
    volumes,
)
from anguilla.fem.rubber import Families, add_fibres, assemble_rubber, rubber_stresses
from anguilla.fem.unknowns import Unknowns

__all__ = ["Efforts", "SoftState", "SoftSystem"]

Efforts = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SoftState:
    """Positions (n, 3) [m] of all nodes, and rotations (k, 3, 3) of the rigid parts."""

    x: Floats
    rotations: Floats


class SoftSystem:
    """A soft body, frozen and ready.

    `gradient` is the imbalance dPi/dx, zero at equilibrium; `stiffness` its exact derivative, K of 002 (1) with the sign that
    makes it positive definite.
    """

    def __init__(
        self, body: SoftBody, *, solver: str = "auto", led: list[Ints] | None = None, like: SoftSystem | None = None,
        free: bool = False,
    ) -> None:  # fmt: skip
        """Compile a body.

        Args:
            body: the body.
            solver: "ldl", "mkl" (extra `mkl`), "splu", or "auto": by size.
            led: sets of points whose places are given from outside, as those of a volume that other parts hold; they are
                no unknowns, but have blocks in the stiffness.
            like: a system that is done with its last factorisation: its solver, whose order is half of a compilation, is
                taken over if the same unknowns meet.
            free: whether it may fly: a body that nothing holds has motions, and vibrations, but no equilibrium under loads.

        """
        self.body = body = copy.deepcopy(as_body(body))
        held = body.fixed.any() or led is not None or body.moves or body.contacts or body.springs
        if not held and not free:
            raise DescriptionError(f"body {body.name!r} is not held: fix some points, else it has no equilibrium.")
        self.grid = make_grid(body.mesh, body.element)
        n = len(self.grid.points)
        mu, lam, density = body.lame()
        self.density = density
        self.rubber = body.rubber()
        law = np.full(len(mu), RUBBER if isinstance(body.law, Rubber) else LAWS[body.law], dtype=np.int64)
        elements = self._prestrained(make_elements(self.grid, mu, lam, law))
        stars = make_stars(self.grid, elements)
        layers = self._make_layers()
        fixed = np.stack([self._spread_mask(body.fixed[:, a]) for a in range(3)], axis=1)
        keep = np.logical_not(fixed.all(axis=1))
        for points in led or ():
            fixed[self.grid.with_middles(points)] = True
        self.names = list(body.actuators)
        self.sensors = list(body.sensors)
        parts = {name: self.grid.with_middles(nodes) for name, nodes in body.rigid_parts.items()}
        chains: list[Tendon | String] = [part for part in body.actuators.values() if isinstance(part, Tendon)]
        chains += list(body.sensors.values())
        lines = self._make_lines(chains)
        surfaces = self._make_surfaces()
        star_i, star_j = star_pairs(stars)
        segments = [lines.node[a:b] for a, b in zip(lines.part_at[:-1], lines.part_at[1:], strict=True)]
        line_pairs = [pairs_of(segment[None, :]) for segment in segments]
        pattern = Pattern(keep, [pairs_of(elements.nodes), (star_i, star_j), pairs_of_faces(surfaces), *line_pairs])
        self.elements = elements._replace(slot=np.ascontiguousarray(pattern.slots(*pairs_of(elements.nodes))))
        self.stars = stars._replace(slot=pattern.slots(star_i, star_j))
        self.layers = layers._replace(slot=np.ascontiguousarray(pattern.slots(*pairs_of(layers.nodes))))
        slots = [pattern.slots(*pair).ravel() for pair in line_pairs]
        self.lines = lines._replace(
            slot_at=np.concatenate([[0], np.cumsum([len(s) for s in slots])]).astype(np.int64),
            slot=np.concatenate([*slots, np.zeros(0, dtype=np.int64)]),
        )
        self.surfaces = with_slots(surfaces, pattern)
        self.moved_nodes = {name: self.grid.with_middles(move.nodes) for name, move in body.moves.items()}
        self.driven = np.concatenate([*self.moved_nodes.values(), np.zeros(0, dtype=np.int64)])
        if len(np.unique(self.driven)) < len(self.driven) or fixed[self.driven].any():
            raise DescriptionError(f"body {body.name!r}: a point is fixed or moved, by one name only.")
        self.unknowns = Unknowns(self.grid.points, fixed, parts, pattern.rows, pattern.cols, self.driven)
        fixed[self.driven] = True
        self.pattern = pattern
        ends = self.unknowns.rows, self.unknowns.cols
        self.inner = (
            slice(None) if led is None else np.flatnonzero((ends[0] >= 0) & (ends[1] >= 0))
        )  # blocks of unknowns
        self.solver: LinearSolver
        if like is not None and like._same_pattern(*ends):
            self.solver = like.solver
        else:
            self.solver = make_solver(solver, self.unknowns.points, *(end[self.inner] for end in ends))
        self.weights = consistent_weights(self.grid, density)
        self.masses = [(*self._point(mass.point), mass.mass) for mass in body.masses]
        for nodes, share, mass in self.masses:
            np.add.at(self.weights, nodes, mass * share)
        self._tractions = [traction_weights(self.grid, body.patch(load.where)) for load in body.tractions]
        self._springs = self._make_springs(pattern)
        self.families = self._make_families()
        self._rubber_work = np.zeros(96)
        self.rest = SoftState(self.grid.points.copy(), self.unknowns.rest_rotations())
        self.frames = Frames(body, self.grid)
        self._loads = [self._point(load.point) for load in body.loads]
        tendon = np.array([isinstance(part, Tendon) for part in body.actuators.values()], dtype=bool)
        self._tendons, self._chambers = np.flatnonzero(tendon), np.flatnonzero(~tendon).tolist()
        self._whole = np.ones(len(self.lines.part_at) - 1)
        self.node_pressure = np.zeros(n if body.element == "averaged" else 0)
        widest = int(np.diff(self.stars.node_at).max()) if len(self.stars.node_at) else 1
        self._star_row = np.zeros((widest, 3))
        self._lanes = None if len(self.node_pressure) else make_lanes(self.elements)
        self._lane_work = np.zeros(WORK)
        self.no_history = np.zeros((0, 9))
        self.nothing_pulled = np.zeros((1, 9))
        rest = self.rest.x
        self._rest_length, self._rest_volume = self.cable_lengths(rest), self.cavity_volumes(rest)
        self._loose = _free_motions(self.rest.x, fixed, body.springs) > 0
        self.touching: Touching | None = None
        if body.contacts and led is None:
            self.touch(Touching(body, self.grid, pattern, *obstacle_pieces(body.contacts)))

    def _same_pattern(self, rows: Ints, cols: Ints) -> bool:
        """Whether these blocks between unknowns are those of this system, whose solver knows nothing else."""
        same = np.array_equal(rows, self.unknowns.rows) and np.array_equal(cols, self.unknowns.cols)
        return same and self.touching is None and isinstance(self.inner, slice)

    def touch(self, touching: Touching) -> None:
        """Let the surface touch; the solver learns of friction."""
        self.touching = touching
        if touching.rubs:
            self.solver = SlidingSolver(self.solver, self.unknowns.size)

    # Compilation -------------------------------------------------------------------------------------------------------

    def _prestrained(self, elements: Elements) -> Elements:
        """The elements seen from the shapes in which they are free of stress."""
        if not self.body.natural:
            return elements
        gradient, weight = elements.gradient.copy(), elements.weight.copy()
        for region, natural in self.body.natural.items():
            where = self.body.mesh.regions[region] if region else slice(None)
            gradient[where] = elements.gradient[where] @ np.linalg.inv(natural)
            weight[where] = elements.weight[where] * np.linalg.det(natural)
        return elements._replace(gradient=gradient, weight=weight)

    def _make_springs(self, pattern: Pattern) -> list[tuple[Ints, Floats, Floats, Floats, Ints]]:
        """Nodes, weights, stiffness (3,), anchor (3,) and blocks of the pairs of nodes of every spring."""
        out = []
        for spring in self.body.springs:
            nodes, weights = self._point(spring.point)
            order = np.argsort(nodes)
            nodes, weights = nodes[order], weights[order]
            anchor = weights @ self.grid.points[nodes] if spring.anchor is None else spring.anchor
            slots = pattern.slots(*pairs_of(nodes[None, :]))[0]
            out.append((nodes, weights, np.asarray(spring.stiffness), np.asarray(anchor), slots))
        return out

    def _make_families(self) -> Families:
        middles = self.body.mesh.points[self.body.mesh.tets].mean(axis=1)
        element, along, stiffness, hardening = (
            [np.zeros(0, dtype=np.int64)],
            [np.zeros((0, 3))],
            [np.zeros(0)],
            [np.zeros(0)],
        )
        for fibres in self.body.fibres:
            own = np.arange(len(middles)) if fibres.region is None else self.body.mesh.regions[fibres.region]
            element.append(own)
            along.append(fibres.along(middles[own], own))
            stiffness.append(np.full(len(own), fibres.stiffness))
            hardening.append(np.full(len(own), fibres.hardening))
        return Families(
            np.concatenate(element), np.concatenate(along), np.concatenate(stiffness), np.concatenate(hardening)
        )

    def _spread_mask(self, mask: np.ndarray) -> np.ndarray:
        out = np.zeros(len(self.grid.points), dtype=bool)
        if mask.any():
            out[self.grid.with_middles(np.flatnonzero(mask))] = True
        return out

    def hold(self, place: Floats, pad: float | None = None) -> tuple[Ints, Floats]:
        """Nodes (k,) and weights (k,) that carry a point of the body, given at rest [m]; see `Tendon.pad`."""
        return self._point(np.asarray(place, dtype=float), pad)

    def _point(self, place: Floats, pad: float | None = None) -> tuple[Ints, Floats]:
        """Nodes (k,) and weights (k,) of a point of the body, held by the nodes within `pad` [m] of it."""
        tet, bary = locate(self.body.mesh, place, "point", pad=pad)
        cell = self.grid.cells[tet[0]]
        held = held_by(self.grid.points, place, pad) if pad else None
        if held is None:
            return cell, shape_functions(bary, len(cell))[0]
        nodes, weights = held
        off = place - weights @ self.grid.points[nodes]
        if np.linalg.norm(off) > 1e-9 * np.linalg.norm(np.ptp(self.grid.points, axis=0)):
            # nodes in a plane do not see what is off it: the element there carries the rest, as a bracket would
            corner = self.grid.points[cell[:4]]
            inner = np.linalg.solve((corner[1:] - corner[0]).T, off)
            nodes, weights = np.r_[nodes, cell[:4]], np.r_[weights, -inner.sum(), inner]
        return nodes, weights

    def _make_layers(self) -> Elements:
        nodes, gradient, weight, mu, lam = [], [], [], [], []
        for layer in self.body.layers:
            triangles = np.sort(self.grid.refine(self.body.layer_triangles(layer)), axis=1)
            a, b, c = (self.grid.points[triangles[:, k]] for k in range(3))
            normal = np.cross(b - a, c - a)
            area = 0.5 * np.linalg.norm(normal, axis=1)
            n = normal / (2.0 * area)[:, None]
            opposite = np.stack([c - b, a - c, b - a], axis=1)
            nodes.append(triangles)
            gradient.append(np.cross(n[:, None, :], opposite) / (2.0 * area)[:, None, None])
            weight.append(area * layer.thickness)
            shear = layer.material.shear_modulus
            poisson = layer.material.young / (2.0 * shear) - 1.0
            mu.append(np.full(len(triangles), shear))
            lam.append(np.full(len(triangles), layer.material.young * poisson / (1.0 - poisson**2)))
        if not nodes:
            none = np.zeros(0)
            return Elements(
                np.zeros((0, 3), dtype=np.int64), np.zeros((0, 1, 3, 3)), np.zeros((0, 1)), none, none,
                np.zeros(0, dtype=np.int64), np.zeros((0, 6), dtype=np.int64),
            )  # fmt: skip
        cells = np.concatenate(nodes)
        return Elements(
            cells, np.ascontiguousarray(np.concatenate(gradient)[:, None]), np.concatenate(weight)[:, None],
            np.concatenate(mu), np.concatenate(lam), np.full(len(cells), MEMBRANE, dtype=np.int64),
            np.zeros((len(cells), 6), dtype=np.int64),
        )  # fmt: skip

    def _make_lines(self, chains: list[Tendon | String]) -> Lines:
        at, part_at, node, weight, offset = [0], [0], [], [], []
        for chain in chains:
            places: list[tuple[Ints, Floats] | Floats] = [self._point(p, chain.pad) for p in chain.points]
            if chain.origin is not None:
                places.insert(0, chain.origin)
            for start, end in pairwise(places):
                form: dict[int, float] = {}
                constant = np.zeros(3)
                for place, sign in ((start, -1.0), (end, 1.0)):
                    if isinstance(place, tuple):
                        for n, w in zip(*place, strict=True):
                            form[int(n)] = form.get(int(n), 0.0) + sign * float(w)
                    else:
                        constant += sign * place
                kept = sorted(n for n, w in form.items() if abs(w) > 1e-14)
                node.append(np.array(kept, dtype=np.int64))
                weight.append(np.array([form[n] for n in kept]))
                offset.append(constant)
                part_at.append(part_at[-1] + len(kept))
            at.append(len(offset))
        none = np.zeros(0, dtype=np.int64)
        return Lines(
            np.array(at, dtype=np.int64), np.array(part_at, dtype=np.int64), np.concatenate([*node, none]),
            np.concatenate([*weight, np.zeros(0)]), np.array(offset).reshape(-1, 3), none, none,
        )  # fmt: skip

    def _make_surfaces(self) -> Surfaces:
        triangles, fluid = [], []
        for name, part in self.body.actuators.items():
            if isinstance(part, Chamber):
                triangles.append(self.body.surface(part.surface, name))
                fluid.append([part.fluid_density, *part.port])
        return make_surfaces(self.grid, triangles, fluid)

    def can_drift(self, efforts: Floats) -> bool:
        """Whether the body can move as a whole: its supports leave it free, and no tight tendon ties it to the world."""
        tied = [isinstance(part, Tendon) and part.origin is not None for part in self.body.actuators.values()]
        return self._loose and self.touching is None and not np.any(np.array(tied, dtype=bool) & (efforts != 0.0))

    # Inputs ------------------------------------------------------------------------------------------------------------

    def efforts(self, inputs: Efforts | None, what: str = "inputs") -> Floats:
        """Inputs (actuators,) by name, checked: tensions [N] and pressures [Pa]; absent ones are zero."""
        values = np.zeros(len(self.names))
        if inputs is None:
            return values
        if not isinstance(inputs, Mapping):
            raise refuse(what, "a dictionary from names of actuators to numbers", inputs)
        for name, value in inputs.items():
            if name not in self.names:
                known = ", ".join(self.names) or "none"
                raise DescriptionError(f"{what}: body {self.body.name!r} has no actuator {name!r}; it has: {known}.")
            values[self.names.index(name)] = as_number(value, f"{what}: the value of {name!r}")
        self._check_limits(values, [self.names.index(name) for name in inputs], what)
        return values

    def _check_limits(self, values: Floats, given: list[int], what: str) -> None:
        """Refuse efforts, or strokes, beyond the limits of their actuators."""
        low, high, least, most = self.limits()
        if what == "strokes":
            low, high = least, most
        for k in given:
            if not low[k] <= values[k] <= high[k]:
                raise DescriptionError(f"{what}: {self.beyond(k, values[k], stroke=what == 'strokes')}.")

    def beyond(self, k: int, value: float, *, stroke: bool = False) -> str:
        """What is wrong with an effort, or a stroke, of actuator k that its limits do not allow, in words."""
        return beyond(self.names[k], self.body.actuators[self.names[k]], value, stroke=stroke)

    def limits(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Smallest and largest effort, smallest and largest stroke: (actuators,) each."""
        parts = self.body.actuators.values()
        table = np.array([[*part.force, *part.stroke] for part in parts]).reshape(-1, 4)
        return table[:, 0], table[:, 1], table[:, 2], table[:, 3]

    # Mechanics ---------------------------------------------------------------------------------------------------------

    def cable_lengths(self, x: Floats) -> Floats:
        """Lengths (k,) [m] of all tendons and strings, for nodes at x."""
        out = np.zeros(len(self.lines.segment_at) - 1)
        lengths(self.lines, x, out)
        return out

    def cavity_volumes(self, x: Floats) -> Floats:
        """Volumes (k,) [m^3] of all chambers, for nodes at x."""
        out = np.zeros(len(self.surfaces.face_at) - 1)
        volumes(self.surfaces, x, out)
        return out

    def shares(self, x: Floats) -> Floats:
        """Part of the tension that reaches each segment: 1 without friction, exp(-friction x angle) after each guide."""
        share = self._whole
        frictions = [part.friction for part in self.body.actuators.values() if isinstance(part, Tendon)]
        if not any(frictions):
            return share
        share = share.copy()
        unit = np.zeros((len(share), 3))
        directions(self.lines, x, unit)
        for k, friction in enumerate(frictions):
            for s in range(int(self.lines.segment_at[k]) + 1, int(self.lines.segment_at[k + 1])):
                angle = np.arccos(np.clip(unit[s - 1] @ unit[s], -1.0, 1.0))
                share[s] = share[s - 1] * np.exp(-friction * angle)
        return share

    def evaluate(
        self, state: SoftState, efforts: Floats, *, factor: float = 1.0, t: float = 0.0, stiffness: bool = False,
        gain: float = 1.0, history: Floats | None = None, blocks: Floats | None = None, grip: Grip | None = None,
        touching: bool = True,
    ) -> tuple[float, Floats, Floats]:  # fmt: skip
        """(energy [J], gradient (n, 3) [N], blocks between nodes); energy is infinite if an element is inverted.

        Args:
            state: where the body is.
            efforts: (actuators,) tensions [N] and pressures [Pa].
            factor: factor on gravity, loads and efforts (continuation).
            t: time of loads that depend on it [s].
            stiffness: also fill the blocks.
            gain: factor on the elastic stress, for the viscosity of a time step.
            history: constant stresses of past steps (see `assembly.assemble`).
            blocks: array (nb, 9) to fill; a new one if not given.
            grip: what points that touch remember; without it, contact has no friction and no damping.
            touching: whether contact counts.

        """
        x = state.x
        gradient = np.zeros_like(x)
        want = STIFFNESS if stiffness else FORCES
        out = self.nothing_pulled
        if stiffness:
            out = np.zeros((len(self.pattern.rows), 9)) if blocks is None else blocks
            out[:] = 0.0
        past = self.no_history if history is None else history
        energy, bulk = 0.0, 0.0
        if len(self.node_pressure):
            bulk, bad = average(self.elements, self.stars, x, self.node_pressure)
            if bad >= 0:
                return np.inf, gradient, out
        if len(self.rubber):
            energy, bad = assemble_rubber(
                self.elements,
                self.rubber,
                self.stars,
                x,
                self.node_pressure,
                gain,
                past,
                self._rubber_work,
                gradient,
                out,
                want,
            )
        elif stiffness and self._lanes is not None and history is None:
            energy, bad = assemble_lanes(self._lanes, x, gain, self._lane_work, gradient, out)
        else:
            energy, bad = assemble(self.elements, self.stars, x, self.node_pressure, gain, past, gradient, out, want)
        if bad >= 0:
            return np.inf, gradient, out
        energy += bulk
        if stiffness and len(self.node_pressure):
            add_averaged_stiffness(self.elements, self.stars, x, self._star_row, out)
            if gain != 1.0:
                raise DescriptionError('damping and viscosity need element="linear" or "quadratic".')
        if len(self.families.element):
            energy += add_fibres(self.elements, self.families, x, gradient, out, want)
        if len(self.layers.nodes):
            none = self.stars._replace(volume=np.zeros(0))
            energy += assemble(self.layers, none, x, self.node_pressure, 1.0, self.no_history, gradient, out, want)[0]
        energy += self._spring_forces(x, gradient, out, stiffness)
        if touching and self.touching is not None:
            found = self.touching.press(x, grip=grip)
            energy += self.press(self.touching, found, gradient, out if stiffness else None)
        energy += self.external_forces(x, efforts, factor, t, gradient, out, stiffness)
        return energy, gradient, out

    def press(self, touching: Touching, found: Pressed, gradient: Floats, blocks: Floats | None) -> float:
        """Add what touches; returns its energy [J]. The next factorisation knows which points slide."""
        touching.add(found, gradient, blocks)
        if blocks is not None and isinstance(self.solver, SlidingSolver):
            self.solver.tilts = touching.tilts(found, self.unknowns.lone)
        return float(found.kept.sum())

    def _spring_forces(self, x: Floats, gradient: Floats, blocks: Floats, stiffness: bool) -> float:
        """Energy [J] of the springs to the world; their gradient and stiffness are added."""
        energy = 0.0
        for nodes, weights, stiff, anchor, slots in self._springs:
            off = weights @ x[nodes] - anchor
            gradient[nodes] += weights[:, None] * (stiff * off)
            energy += 0.5 * float(stiff @ off**2)
            if stiffness:
                a, b = np.triu_indices(len(nodes))
                inside = slots >= 0
                both = (weights[a] * weights[b])[inside]
                for k, value in zip((0, 4, 8), stiff, strict=True):
                    blocks[slots[inside], k] += both * value
        return energy

    def elastic_stress(self, x: Floats) -> Floats:
        """Second Piola-Kirchhoff stress (m * points, 9) [Pa] of the law, without fibres; `average` comes first."""
        out = np.zeros((self.elements.weight.size, 9))
        if len(self.rubber):
            rubber_stresses(self.elements, self.rubber, self.stars, x, self.node_pressure, self._rubber_work, out)
        else:
            stresses(self.elements, self.stars, x, self.node_pressure, out)
        return out

    def external_forces(
        self, x: Floats, efforts: Floats, factor: float, t: float, gradient: Floats, blocks: Floats, stiffness: bool
    ) -> float:
        """Energy [J] of what acts from outside; its gradient and blocks of stiffness are added to."""
        gravity = factor * self.body.gravity
        energy = add_weight(self.weights, gravity, x, gradient)
        for load, (nodes, weight) in zip(self.body.loads, self._loads, strict=True):
            force = factor * load.at(t)
            gradient[nodes] -= weight[:, None] * force
            energy -= float(force @ (weight @ x[nodes]))
        for traction, area in zip(self.body.tractions, self._tractions, strict=True):
            stress = factor * traction.at(t)
            gradient -= area[:, None] * stress
            energy -= float(area @ (x @ stress))
        values = factor * efforts
        if len(self._tendons):
            tension = np.ascontiguousarray(values[self._tendons])
            energy += pull_lines(self.lines, x, tension, self.shares(x), gradient, blocks, int(stiffness))
        for surface, k in enumerate(self._chambers):
            energy += add_fluid(self.surfaces, surface, x, values[k], gravity, gradient, blocks, int(stiffness))
        return energy

    def residual(self, state: SoftState, efforts: Floats, **options: float) -> Floats:
        """Imbalance of the unknowns (3 size,) [N, and N m for rigid parts]."""
        _, gradient, _ = self.evaluate(state, efforts, **options)  # type: ignore[arg-type]
        return self.unknowns.gather(state.x, gradient[None])[0]

    # Rows --------------------------------------------------------------------------------------------------------------

    @property
    def rest_strokes(self) -> tuple[Floats, Floats]:
        """Lengths [m] of all lines and volumes [m^3] of all chambers at rest, from which strokes count."""
        return self._rest_length, self._rest_volume

    def strokes(self, state: SoftState) -> Floats:
        """Stroke of every actuator (actuators,): shortening [m] of tendons, gain of volume [m^3] of chambers."""
        shorter = self._rest_length - self.cable_lengths(state.x)
        wider = self.cavity_volumes(state.x) - self._rest_volume
        out, line, surface = np.zeros(len(self.names)), 0, 0
        for k, part in enumerate(self.body.actuators.values()):
            if isinstance(part, Tendon):
                out[k], line = shorter[line], line + 1
            else:
                out[k], surface = wider[surface], surface + 1
        return out

    def readings(self, state: SoftState) -> Floats:
        """Length of every string (sensors,) [m] (002 (6))."""
        tendons = len(self.lines.segment_at) - 1 - len(self.sensors)
        return self.cable_lengths(state.x)[tendons:]

    def actuator_rows(self, state: SoftState, *, friction: bool = False, out: Floats | None = None) -> Floats:
        """H_a (actuators, n, 3): derivative of the strokes, and force per unit of effort (002 (5), errata 2).

        They are added to `out`, if it is given.
        """
        x = state.x
        rows = np.zeros((len(self.names), *x.shape)) if out is None else out
        share = self.shares(x) if friction else self._whole
        line = surface = 0
        for k, part in enumerate(self.body.actuators.values()):
            if isinstance(part, Tendon):
                add_line(self.lines, line, x, -1.0, share, rows[k])
                line += 1
            else:
                add_volume(self.surfaces, surface, x, 1.0, rows[k])
                surface += 1
        return rows

    def sensor_rows(self, state: SoftState, out: Floats | None = None) -> Floats:
        """H_s (sensors, n, 3): derivative of the readings, added to `out` if it is given."""
        rows = np.zeros((len(self.sensors), *state.x.shape)) if out is None else out
        tendons = len(self.lines.segment_at) - 1 - len(self.sensors)
        for k in range(len(rows)):
            add_line(self.lines, tendons + k, state.x, 1.0, self._whole, rows[k])
        return rows


def _free_motions(points: Floats, fixed: np.ndarray, springs: Sequence[Spring]) -> int:
    """Number of rigid motions, of six, that nothing resists; fixed (n, 3) marks what is held of the points."""
    pulled = [(spring.point, axis) for spring in springs for axis in range(3) if spring.stiffness[axis] > 0.0]
    node, axis = np.nonzero(fixed)
    places = np.vstack([points[node], *(np.asarray(place, dtype=float) for place, _ in pulled)])
    along = np.eye(3)[np.concatenate([axis, np.array([a for _, a in pulled], dtype=np.int64)])]
    arms = (places - points.mean(axis=0)) / float(np.ptp(points, axis=0).max())
    return 6 - int(np.linalg.matrix_rank(np.hstack([along, np.cross(arms, along)]), tol=1e-7 * np.sqrt(len(along))))
