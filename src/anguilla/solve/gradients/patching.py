"""Twins of a model that differ in numbers of rods and in lines of actuators: written into its tables, not compiled again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anguilla.compiler.lanes import LANES
from anguilla.describe import ConstantCurvature, Robot, Rod, RodHandle, Straight
from anguilla.describe.alike import Differences, differences
from anguilla.mechanics.builder import turning
from anguilla.mechanics.compile import Layout, PartLayout, inner_places
from anguilla.mechanics.grid import RodGrid, nodal_inertia, strain_grams
from anguilla.mechanics.tree import Floats, Tree
from anguilla.model.model import Model

__all__ = ["patched"]


def patched(model: Model, twin: Robot, found: Differences | None = None) -> Model | None:
    """A model of a twin that needs no other nodes; None if it may, or if more differs than rods and lines of actuators.

    found: what differs, if that is known.
    """
    found = found or differences(model.robot, twin)
    if found is None or any(load.meets for load in twin.loads):  # as stiff as the materials, if nothing else is said
        return None
    fields = set[str]().union(*found.rods.values())
    rods = {index: _rod(twin, index) for index in found.rods}
    faded = [(rod.material.terms, _rod(model.robot, index).material.terms) for index, rod in rods.items()]
    if any(new.shape != old.shape for new, old in faded):
        return None
    terms = not all(np.array_equal(new, old) for new, old in faded)
    again = bool(found.lines) or "length" in fields or (bool(twin.loads) and "section" in fields)  # loads read these
    if (again or terms) and not _has_same_nodes(model, twin, found):
        return None
    if any(
        rod.breakpoints != _rod(model.robot, index).breakpoints or rod.shape is not None for index, rod in rods.items()
    ):
        return None
    longer = {index: rods[index].length / _rod(model.robot, index).length for index in _longer(found)}
    grids = {index: _stretched(model.layout.parts[index], longer.get(index, 1.0)) for index in rods}
    tree = _with_rods(model, rods, grids) if rods else model.tree
    if not (again or terms):
        return model.with_tree(tree)
    return model.renewed(_laid_out(model.layout, twin, tree, grids), found.lines, longer)


def _has_same_nodes(model: Model, twin: Robot, found: Differences) -> bool:
    """Whether a twin of other lengths, sections or lines has the nodes of the model, at the same parts of the lengths."""
    if model.left_out is not None or any(twin.actuators[name].spans for name in found.lines):
        return False
    for name in found.lines:
        lines = zip(model.robot.actuators[name].stretches, twin.actuators[name].stretches, strict=True)
        if any(a[1].breakpoints != b[1].breakpoints or a[1].rate != b[1].rate for a, b in lines):
            return False
    longer = _longer(found)
    if not longer:
        return True
    if model.layout.extra:  # frames beside a rod are known by where they are along it
        return False
    inside = model.once(_inner_places)
    return not any(inside.get(index) or _rod(twin, index).breakpoints or _is_bent(twin, index) for index in longer)


def _longer(found: Differences) -> list[int]:
    return [index for index, fields in found.rods.items() if "length" in fields]


def _inner_places(model: Model) -> dict[int, list[float]]:
    return inner_places(model.robot)


def _is_bent(robot: Robot, index: int) -> bool:
    """Whether the strains at rest change along a rod, so that they do at its Gauss points when it gets longer."""
    rod = _rod(robot, index)
    return not isinstance(rod.rest, Straight | ConstantCurvature)


def _stretched(layout: PartLayout, longer: float) -> RodGrid:
    """The grid of a rod that is so many times as long."""
    grid = layout.grid
    assert grid is not None
    if longer == 1.0:
        return grid
    return replace(
        grid, X=longer * grid.X, weights=longer * grid.weights, left=longer * grid.left, right=longer * grid.right
    )


def _with_rods(model: Model, rods: dict[int, Rod], grids: dict[int, RodGrid]) -> Tree:
    """The tree with other lengths, masses, stiffnesses and viscosities of some rods."""
    tree = model.tree
    names = ("stiffness", "mass", "inertia", "viscosity", "length")
    new = {name: getattr(tree, name).copy() for name in names}
    found: dict[tuple[int, bytes], tuple[Floats, list[tuple[Floats, Floats]]]] = {}  # parts may share a rod
    for index, rod in rods.items():
        nodes, grid = model.layout.parts[index].nodes, grids[index]
        key = id(rod), grid.X.tobytes()
        if key not in found:
            found[key] = nodal_inertia(rod, grid), strain_grams(rod, grid)
        lumped, grams = found[key]
        new["mass"][nodes], new["inertia"][nodes] = lumped[:, 3], lumped[:, :3]
        new["length"][nodes[1:]] = np.diff(grid.X)
        segment = int(tree.segment[nodes[0]])
        new["viscosity"][segment] = rod.material.damping
        width, first, at = LANES * int(tree.own_packs[segment]), int(tree.stiffness_at[segment]), 0
        block = new["stiffness"][first : first + width * width].reshape(width, width)
        for _, stiff in grams:
            size = len(stiff)
            block[at : at + size, at : at + size] = stiff
            at += -(-size // LANES) * LANES
    new["turning"] = turning(tree.kind, tree.fixed, new["inertia"])
    for array in new.values():
        array.setflags(write=False)
    return tree._replace(**new)


def _laid_out(layout: Layout, twin: Robot, tree: Tree, grids: dict[int, RodGrid]) -> Layout:
    """The layout of a twin with these grids; leaves that are added to it later hang on links of its lengths."""
    parts = tuple(
        replace(one, part=part, grid=grids.get(part.index, one.grid))
        for one, part in zip(layout.parts, twin.parts, strict=True)
    )
    builder = layout.made[0].with_room()
    builder.nodes["length"] = tree.length[: builder.count].tolist()
    return replace(layout, robot=twin, tree=tree, parts=parts, made=(builder, *layout.made[1:]))


def _rod(robot: Robot, index: int) -> Rod:
    part = robot.parts[index]
    assert isinstance(part, RodHandle)
    return part.rod
