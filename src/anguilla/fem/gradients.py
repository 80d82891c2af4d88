"""Gradients of equilibria of soft bodies by the adjoint: one solve with the stiffness, whatever the number of parameters.

At an equilibrium the imbalance r(x, p) vanishes; a number L(x) then changes with a parameter as -a . dr/dp, with K a = dL/dx.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.errors import DescriptionError, as_array, as_vector, refuse
from anguilla.fem.assembly import FORCES, assemble, average
from anguilla.fem.contact import forbid
from anguilla.fem.elements import consistent_weights
from anguilla.fem.hyperelastic import Rubber
from anguilla.fem.inertia import multiply
from anguilla.fem.mesh import Floats
from anguilla.fem.results import SoftEquilibrium, pick
from anguilla.fem.system import SoftSystem

__all__ = ["SoftGradient", "gradient"]


@public
@dataclass(frozen=True)
class SoftGradient:
    """How a number that depends on an equilibrium changes.

    Attributes:
        inputs: by the tension [1/N] or pressure [1/Pa] of each actuator, by name.
        loads: (k, 3) by the components of each PointForce [1/N], in their order.
        moves: (3,) by the displacement of each moved set [1/m], by name.
        young: by Young's modulus [1/Pa] of the body (""), and of each painted region; empty for laws of rubber.
        poisson: by Poisson's ratio, likewise.
        density: by the density [m^3/kg], likewise.
        nodes: (n, 3) the adjoint: by a force on each node [1/N].

    """

    inputs: dict[str, float]
    loads: Floats
    moves: dict[str, Floats]
    young: dict[str, float]
    poisson: dict[str, float]
    density: dict[str, float]
    nodes: Floats = field(repr=False)


@public
def gradient(eq: SoftEquilibrium, of: Mapping[str, ArrayLike] | ArrayLike) -> SoftGradient:
    """Gradient of a number that depends on an equilibrium, whose efforts are given.

    Args:
        eq: the equilibrium, balanced to its tolerance.
        of: how the number changes with the positions: for each effector a vector (3,), such as {"tip": (0, 0, 1)} for its
            height (or twice the distance to a goal, for its square); or an array (n, 3) for the nodes.

    """
    if not isinstance(eq, SoftEquilibrium):
        raise refuse("eq", "an equilibrium that fem.statics returned", eq)
    system, u, x = eq.system, eq.system.unknowns, eq.x
    forbid(system.body, "gradients")
    for name, effort in eq.inputs.items():
        if getattr(eq.body.actuators[name], "friction", 0.0) and effort:
            raise DescriptionError(
                f"gradient: {name!r} has friction at its guides, which gradients do not support: "
                "set friction=0, or take finite differences."
            )
    slope = _slope(eq, of)
    _, force, blocks = system.evaluate(eq.state, eq.efforts, stiffness=True)
    whole = blocks.copy() if len(system.driven) else blocks  # fold may write into them
    system.solver.factor(u.fold(x, blocks, force))
    adjoint = u.spread(x, system.solver.solve(u.gather(x, slope[None]))[0].reshape(-1, 3))
    rows = system.actuator_rows(eq.state, friction=True)
    inputs = {name: float(np.sum(row * adjoint)) for name, row in zip(system.names, rows, strict=True)}
    loads = [weights @ adjoint[nodes] for nodes, weights in (system.hold(load.point) for load in eq.body.loads)]
    moves = {}
    if len(system.driven):  # what moved points would feel: the slope itself, less what the others pass on to them
        felt = slope - multiply(system, whole, adjoint)
        moves = {name: felt[nodes].sum(axis=0) for name, nodes in system.moved_nodes.items()}
    young, poisson, density = _materials(system, x, adjoint)
    return SoftGradient(inputs, np.reshape(loads, (-1, 3)), moves, young, poisson, density, adjoint)


def _slope(eq: SoftEquilibrium, of: Mapping[str, ArrayLike] | ArrayLike) -> Floats:
    """dL/dx (n, 3)."""
    system = eq.system
    if not isinstance(of, Mapping):
        slope = as_array(of, "of", "vectors by effector, or (n, 3)")
        if slope.shape != eq.x.shape:
            raise refuse("of", f"vectors (3,) by effector, or an array {eq.x.shape} for the nodes", of)
        return slope
    out = np.zeros_like(eq.x)
    rows, first = system.frames.gradient(eq.x), np.concatenate([[0], np.cumsum(system.frames.rows)])
    for name, vector in of.items():
        k = int(first[pick(name, system.frames.names, "effector")])
        out += np.einsum("i,inj->nj", as_vector(vector, 3, f"of[{name!r}]", ""), rows[k : k + 3])
    return out


def _materials(system: SoftSystem, x: Floats, adjoint: Floats) -> tuple[dict[str, float], ...]:
    """Gradients by Young's modulus, Poisson's ratio and the density of every material."""
    body = system.body
    owner = np.zeros(len(body.mesh.tets), dtype=np.int64)
    for k, region in enumerate(body.materials):
        owner[body.mesh.regions[region]] = k + 1
    young: dict[str, float] = {}
    poisson: dict[str, float] = {}
    density: dict[str, float] = {}
    for k, (name, material) in enumerate([("", body.material), *body.materials.items()]):
        own = (owner == k).astype(float)
        weights = consistent_weights(system.grid, own)
        density[name] = float(np.sum(adjoint * (weights[:, None] * body.gravity)))
        if isinstance(body.law, Rubber):
            continue
        E, G = material.young, material.shear_modulus
        v = E / (2.0 * G) - 1.0
        low = (1.0 + v) * (1.0 - 2.0 * v)
        by_young = own / (2.0 * (1.0 + v)), own * v / low
        by_poisson = -own * E / (2.0 * (1.0 + v) ** 2), own * E * (1.0 + 2.0 * v**2) / low**2
        young[name] = -float(np.sum(adjoint * _elastic(system, x, *by_young)))
        poisson[name] = -float(np.sum(adjoint * _elastic(system, x, *by_poisson)))
    return young, poisson, density


def _elastic(system: SoftSystem, x: Floats, mu: Floats, lam: Floats) -> Floats:
    """Elastic forces (n, 3) of a body with other moduli, which they are linear in."""
    el = system.elements._replace(mu=np.ascontiguousarray(mu), lam=np.ascontiguousarray(lam))
    force, stars, pressure = np.zeros_like(x), system.stars, system.node_pressure
    if len(pressure):
        quarter = 0.25 * el.weight[stars.element, 0]
        node = np.repeat(np.arange(len(stars.volume)), np.diff(stars.element_at))
        bulk = np.bincount(node, quarter * lam[stars.element], minlength=len(stars.volume))
        stars = stars._replace(bulk=bulk.astype(np.float64))
        pressure = np.zeros_like(pressure)
        average(el, stars, x, pressure)
    assemble(el, stars, x, pressure, 1.0, system.no_history, force, system.nothing_pulled, FORCES)
    return force
