"""Robots that several tests of shooting solve."""

import numpy as np

import anguilla as ag
from anguilla import shooting


def random_case(seed):
    """A rod in space with random section, rest shape, strains and loads; loads are small enough for one stable answer."""
    rng = np.random.default_rng([2023, seed])
    length, radius = rng.uniform(0.3, 1.2), rng.uniform(0.006, 0.015)
    young = 10 ** rng.uniform(5.5, 7.0)
    material = ag.Material(young=young, poisson=rng.uniform(0.2, 0.5), density=rng.uniform(800, 1500))
    section = ag.Circle(radius)
    if seed % 3 == 1:
        section = ag.Ellipse(radius, 0.7 * radius)
    elif seed % 3 == 2:
        section = ag.taper(ag.Circle(radius), ag.Circle(0.6 * radius), length)
    strains = (ag.kirchhoff, ag.extensible_kirchhoff, ag.reissner)[seed % 3](14)
    rest = ag.ConstantCurvature(*(rng.uniform(-1, 1, 3) / length))
    bending = young * np.pi * radius**4 / 4 * (0.25 if seed % 3 == 2 else 0.5)
    weight = material.density * np.pi * radius**2 * length
    gravity = rng.standard_normal(3)
    # the weight, the tip force and the moment each bend the rod by about one radian at most
    gravity *= min(9.81, 2.0 * bending / length**2 / weight) / np.linalg.norm(gravity)
    robot = ag.Robot(f"random_{seed}", gravity=gravity)
    pose = np.eye(4)
    pose[:3, :3] = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    pose[:3, :3] *= np.sign(np.linalg.det(pose[:3, :3]))
    pose[:3, 3] = rng.standard_normal(3)
    arm = robot.add(ag.Rod(length, section, material, strains, rest=rest, intervals=90), at=robot.ground, pose=pose)
    force, moment = bending / length**2, bending / length
    robot.load(ag.TipWrench(arm, force=force * rng.uniform(-2.0, 2.0, 3), moment=moment * rng.uniform(-0.8, 0.8, 3)))
    robot.load(ag.TipWrench(arm, force=force * rng.uniform(-0.5, 0.5, 3), follower=True))
    density = force / length * rng.uniform(-0.7, 0.7, 3)
    turn = moment / length * rng.uniform(-0.5, 0.5, 3)
    robot.load(ag.DistributedWrench(arm, force=lambda X: density * np.cos(3 * X / length), moment=turn))
    robot.actuate("tendon", ag.Tendon(arm, ag.helical(radius=2 * radius, pitch=1.7 * length)))
    inputs = {"tendon": float(rng.uniform(0.2, 0.6) * moment / (2 * radius))}
    return robot, arm, inputs


def paper_rod(young=207e9, strains=None, density=8000.0, radius=1e-3, length=0.4, **options):
    """The rod of tests 1 and 2 of 003: diameter 2 mm and G = E / 2.6 (errata 003.11)."""
    material = ag.Material(young=young, poisson=0.3, density=density, **options)
    return ag.Rod(length, ag.Circle(radius), material, strains or ag.kirchhoff(8))


def loose_robot(moving=False, ball=False, jumps=True, modes=4):
    """Two rods with a body between them, a branch with joints, a loop and a held tip (those only at rest)."""
    robot = ag.Robot("loose", gravity=(0.3, -0.2, -9.81))
    material = ag.Material(young=1e6, poisson=0.4, density=1100, damping=0.01)
    first = ag.Rod(0.4, ag.Circle(0.01), material, ag.kirchhoff(modes), rest=ag.ConstantCurvature(0.3, 0.5, -0.4))
    second = ag.Rod(0.3, ag.Circle(0.008), material, ag.reissner(modes))
    turn = np.eye(4)
    turn[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    joint = ag.Fixed() if moving else ag.Revolute(axis=(0, 1, 0.2), stiffness=0.5, rest=0.1, effort=0.02)
    a = robot.add(first, at=robot.ground, joint=joint)
    box = robot.add(ag.RigidBody(0.02, (1e-5, 2e-5, 3e-5), com=(0.01, 0.02, 0.005)), at=a.tip, pose=turn)
    joint = ag.Universal((0, 1, 0), (0, 0.2, 1), stiffness=(0.3, 0.2), effort=(0.01, -0.02))
    joint = ag.Spherical(effort=(1e-3, -2e-3, 5e-4)) if ball else joint
    b = robot.add(second, at=box.at((0.02, 0.0, 0.01)), joint=None if moving else joint)
    c = robot.add(second, at=a.section(0.25) if jumps else box.frame, pose=turn)
    robot.load(ag.Wrench(a.section(0.1) if jumps else a.tip, force=(0.02, 0.03, -0.01), moment=(1e-3, 2e-3, 0)))
    robot.load(ag.Wrench(b.tip.offset_by((0.01, 0.02, 0.03)), force=(0.03, -0.02, 0.05), moment=(1e-4, 0, 2e-4)))
    robot.load(ag.TipWrench(c, force=(0.01, 0.02, -0.03), follower=True))
    robot.load(ag.DistributedWrench(b, force=lambda X: (0.1, 0.1 * X, 0.05), moment=(1e-3, 0, 0)))
    robot.actuate("pull", ag.Tendon(a, ag.convergent((0.02, 0.0), (0.005, 0.01), 0.4)))
    if moving:
        return robot, ()
    tip = np.eye(4)
    tip[:3, 3] = (0.6, 0.25, -0.05)
    ties = [
        shooting.Join(b.tip, c.tip.offset_by((0.0, 0.02, 0.0)), ag.Revolute(axis=(1, 2, 0.5))),
        shooting.Hold(c.section(0.15), (0.24, 0.16, -0.05)),
    ]
    return robot, ties


def swimmer_robot():
    """A free elliptic rod in water, bent by a wave of active stress."""
    robot = ag.Robot("swimmer", gravity=(0, 0, 0))
    material = ag.Material(young=1e5, poisson=0.4, density=1000)
    rod = robot.add(ag.Rod(1.0, ag.Ellipse(0.04, 0.06), material, ag.kirchhoff(4)), at=robot.ground, joint=ag.Free())

    def added(X):
        height = 0.05 + 0.02 * X
        across = 1000 * np.pi * height**2
        return np.stack([0 * X + 1e-3, 0 * X, 0 * X, 0 * X, 0.3 * across, across], axis=1)

    def stress(X, t):
        wave = 0.6 * np.sin(6 * X - 6 * t) * min(t, 1.0)
        return np.stack([0.2 * wave, wave, 0.5 * wave, 0 * X, 0 * X, 0 * X], axis=1)

    return robot, rod, {rod: added}, {rod: stress}
