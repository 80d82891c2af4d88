"""Joints between parts: `ag.joints.Planar` moves in a plane, where `ag.strains.planar` lets a rod bend in one."""

from anguilla.describe.joints import (
    Axis,
    Ball,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

__all__ = [
    "Axis",
    "Ball",
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
]
