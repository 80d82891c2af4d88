"""From the robots of the library to the plain ones of the reference algorithms, for comparison."""

import numpy as np

import anguilla as ag
from anguilla import lie
from anguilla.describe import STRAIN_NAMES
from anguilla.reference import robots
from anguilla.reference.rod import Rod, Tendon

MATERIAL = ag.Material(young=1e6, poisson=0.4, density=1000.0, damping=0.01)


def plain_rod(rod):
    """A reference rod with the strains, stiffness, inertia and rest shape of a described one."""

    def basis(X):
        table, column = np.zeros((len(X), 6, rod.size)), 0
        for name, functions in rod.strains.items():
            table[:, STRAIN_NAMES.index(name), column : column + functions.size] = functions(X / rod.length)
            column += functions.size
        return table

    return Rod(rod.length, basis, rod.rest.strain, rod.hooke, rod.inertia, rod.material.damping)


def plain_tendon(routing):
    return Tendon(routing.offset, routing.slope)


def screw_inertia(body):
    """(6, 6) of a rigid body about its frame."""
    c = lie.hat3(np.asarray(body.com, dtype=float))
    m = body.mass
    return np.block([[body.inertia_matrix - m * c @ c, m * c], [-m * c, m * np.eye(3)]])


def base_maps(R, v_base, a_base):
    """A free joint of the core moves by (r', omega), r' in inertial axes; here eta = (omega, R^T r').

    Returns P (6, 6) with eta = P v, then eta (6,) and its time derivative (6,).
    """
    P = np.block([[np.zeros((3, 3)), np.eye(3)], [R.T, np.zeros((3, 3))]])
    eta = P @ v_base
    deta = P @ a_base
    deta[3:] -= np.cross(eta[:3], eta[3:])
    return P, eta, deta


def random_state(robot, seed, sizes=(0.6, 1.5, 2.0)):
    """Coordinates, rates and accelerations (n,) of moderate angles and displacements."""
    system = ag.Model(robot)
    return np.random.default_rng(seed).normal(size=(3, system.size)) * np.array(sizes)[:, None] / system.tree.scale


def clamped(rod, tip_body=None, gravity=(1.0, 2.0, -9.81)):
    """A rod fixed to the ground, with a body at its tip if given."""
    robot = ag.Robot("clamped", gravity=gravity)
    arm = robot.add(rod, at=robot.ground)
    if tip_body is not None:
        robot.add(tip_body, at=arm.tip)
    return robot


def free(rod, tip_body=None, gravity=(1.0, 2.0, -9.81)):
    """A floating rod, with a body at its tip if given."""
    robot = ag.Robot("free", gravity=gravity)
    arm = robot.add(rod, at=robot.ground, joint=ag.Free())
    if tip_body is not None:
        robot.add(tip_body, at=arm.tip)
    return robot


def as_reference(rod, tip_body=None, *, free=False, gravity=(1.0, 2.0, -9.81), points=24, **others):
    """The same robots for the algorithms of 004."""
    inertia = np.zeros((6, 6)) if tip_body is None else screw_inertia(tip_body)
    link = robots.Link(0, robots.Soft(plain_rod(rod)), inertia=inertia)
    return robots.Robot((link,), free=free, gravity=gravity, points=points, **others)
