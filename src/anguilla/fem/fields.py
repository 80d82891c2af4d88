"""Strains and stresses of a deformed body, tetrahedron by tetrahedron and at the nodes."""

from __future__ import annotations

import numpy as np

from anguilla.fem.assembly import average
from anguilla.fem.mesh import Floats
from anguilla.fem.rubber import fibre_stresses
from anguilla.fem.system import SoftSystem

__all__ = ["cauchy", "equivalent_strain", "gradients", "green_strain", "nodal", "von_mises"]


def gradients(system: SoftSystem, x: Floats) -> Floats:
    """Deformation gradients (m, points, 3, 3) [-] of the tetrahedra, for nodes at x (n, 3) [m]."""
    el = system.elements
    return np.einsum("eni,eqnj->eqij", x[el.nodes], el.gradient)


def cauchy(system: SoftSystem, x: Floats) -> Floats:
    """Cauchy stress (m, 3, 3) [Pa], the elastic one, averaged over the points of each tetrahedron."""
    el = system.elements
    if len(system.node_pressure):
        average(el, system.stars, x, system.node_pressure)
    out = system.elastic_stress(x)
    if len(system.families.element):
        fibre_stresses(el, system.families, x, out)
    grad = gradients(system, x)
    second = out.reshape(*el.weight.shape, 3, 3)
    return np.mean(grad @ second @ np.swapaxes(grad, 2, 3) / np.linalg.det(grad)[..., None, None], axis=1)


def von_mises(system: SoftSystem, x: Floats) -> Floats:
    """Von Mises stress (m,) [Pa], of `cauchy`."""
    stress = cauchy(system, x)
    deviator = stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] / 3.0 * np.eye(3)
    return np.sqrt(1.5 * np.sum(deviator**2, axis=(1, 2)))


def green_strain(system: SoftSystem, x: Floats) -> Floats:
    """Green-Lagrange strain (m, 3, 3) [-], averaged over the points of each tetrahedron, in the axes of rest."""
    grad = gradients(system, x)
    return 0.5 * (np.mean(np.swapaxes(grad, 2, 3) @ grad, axis=1) - np.eye(3))


def equivalent_strain(system: SoftSystem, x: Floats) -> Floats:
    """Equivalent strain (m,) [-]: sqrt(2/3) times the norm of the deviator of the logarithmic strain.

    The logarithm of the stretch for a bar of constant volume.
    """
    grad = gradients(system, x)
    squares = np.linalg.eigvalsh(np.mean(np.swapaxes(grad, 2, 3) @ grad, axis=1))
    log = 0.5 * np.log(np.maximum(squares, 1e-300))
    return np.sqrt(2.0 / 3.0) * np.linalg.norm(log - log.mean(axis=1, keepdims=True), axis=1)


def nodal(system: SoftSystem, per_tet: Floats) -> Floats:
    """Values at the nodes (n,): means of the tetrahedra around each."""
    nodes = system.elements.nodes
    count, n = nodes.shape[1], len(system.rest.x)
    total = np.bincount(nodes.ravel(), np.repeat(per_tet, count), minlength=n)
    return np.asarray(total / np.maximum(np.bincount(nodes.ravel(), minlength=n), 1))
