"""Equilibrium of a rod cut into straight elements, from which programs with vertices and edges start. NumPy only.

A rod that starts from points on a smooth curve is too short by the difference of arc and chord, and rings along its axis.
"""

import numpy as np
from cases import GRAVITY, Cantilever

LOADS = np.geomspace(1e-4, 1.0, 40)  # shares of the tip force, one equilibrium after the other


def equilibrium(case: Cantilever, elements: int, *, held: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n + 1, 2) [m] and angles (n,) [rad] of the elements under gravity and the tip force.

    Half the weight of each element hangs on each of its ends. The wall holds the first element by a spring of half an
    element, or, with `held`, its direction. What an element carries is known: Newton is for the angles alone.
    """
    size = case.length / elements
    bending = case.bending_stiffness / size
    weight = case.mass_per_length * GRAVITY * size * (elements - 0.5 - np.arange(elements))
    angles = np.full(elements, -np.pi / 2)
    before = np.full(elements, bending)  # spring towards the wall
    after = np.full(elements, bending)  # spring towards the tip
    before[0], after[-1] = 0.0 if held else 2 * bending, 0.0
    for share in LOADS:
        force = share * case.tip_force
        for _ in range(80):
            cosine, sine = np.cos(angles), np.sin(angles)
            along, across = force * cosine - weight * sine, -force * sine - weight * cosine
            stretch = 1 + along / case.axial_stiffness
            left = angles - np.concatenate([[-np.pi / 2], angles[:-1]])
            right = np.concatenate([angles[1:], [0.0]]) - angles
            rest = size * stretch * across - before * left + after * right
            slope = size * (across**2 / case.axial_stiffness - stretch * along) - before - after
            matrix = np.diag(slope) + np.diag(before[1:], -1) + np.diag(after[:-1], 1)
            if held:
                rest[0], matrix[0] = 0.0, np.eye(elements)[0]
            change = np.linalg.solve(matrix, -rest)
            largest = np.abs(change).max()
            angles = angles + change * min(1.0, 0.5 / max(largest, 1e-12))
            if largest < 1e-11:
                break
        else:
            raise RuntimeError(f"no equilibrium at {share:.0%} of the tip force")
    along = force * np.cos(angles) - weight * np.sin(angles)
    steps = size * (1 + along / case.axial_stiffness)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)]), angles
