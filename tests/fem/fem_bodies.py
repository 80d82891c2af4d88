"""Bodies that several tests share."""

import numpy as np

import anguilla as ag
from anguilla import fem

RUBBER = ag.Material(young=1e6, poisson=0.3, density=1000.0)


def bar(cells=(20, 2, 2), size=(0.1, 0.01, 0.01), material=RUBBER, gravity=(0, 0, 0), **options):
    """A bar along x, held at x = 0, with an effector at the middle of its tip."""
    body = fem.SoftBody("bar", fem.block(size, cells), material, gravity=gravity, **options)
    body.fix("base")
    body.effector("tip", (size[0], 0, 0))
    return body


def everything(law="corotational", element="linear"):
    """A finger with a tendon from outside, a heavy fluid, a stiff skin and a rigid tip."""
    body = fem.SoftBody("finger", fem.finger(cells=(4, 2, 2)), RUBBER, law=law, element=element)
    body.fix("base")
    body.rigid("cap", "tip")
    guides = [(0.01, 0, 0.009), (0.05, 0.002, 0.009), (0.09, 0, 0.009)]
    body.actuate("pull", fem.Tendon(guides, origin=(-0.02, 0.003, 0.01)))
    body.actuate("air", fem.Chamber("chamber", fluid_density=1000.0))
    body.sense("string", fem.String(guides))
    body.cover(fem.Layer("boundary", 1e-4, RUBBER))
    body.effector("tip", fem.Effector((0.1, 0, 0), orientation=True, radius=0.012))
    return body


def moved(system, state, direction, step):
    """The state after a step along a direction of the unknowns."""
    return fem.SoftState(*system.unknowns.move(state.x, state.rotations, step * direction))


def times(system, blocks, direction):
    """Matrix of blocks times a direction (size, 3)."""
    out = np.zeros_like(direction)
    u = system.unknowns
    for i, j, block in zip(u.rows, u.cols, blocks.reshape(-1, 3, 3), strict=True):
        out[i] += block @ direction[j]
        if i != j:
            out[j] += block.T @ direction[i]
    return out


def dense(system, blocks):
    """The whole matrix (3 size, 3 size) of blocks between unknowns."""
    u = system.unknowns
    out = np.zeros((u.size, 3, u.size, 3))
    for i, j, block in zip(u.rows, u.cols, blocks.reshape(-1, 3, 3), strict=True):
        out[i, :, j] = block
        out[j, :, i] = block.T
    return out.reshape(3 * u.size, -1)
