"""Robots that several tests of shooting solve."""

import numpy as np

import anguilla as ag


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
    arm = robot.add(ag.Rod(length, section, material, strains, rest=rest, intervals=240), at=robot.ground, pose=pose)
    force, moment = bending / length**2, bending / length
    robot.load(ag.TipWrench(arm, force=force * rng.uniform(-0.8, 0.8, 3), moment=moment * rng.uniform(-0.5, 0.5, 3)))
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
