"""Strains of rods: `ag.strains.planar` lets a rod bend in a plane, where `ag.joints.Planar` is a joint that moves in one."""

from anguilla.describe.strains import (
    STRAIN_NAMES,
    Strains,
    extensible_kirchhoff,
    extensible_spherical,
    kirchhoff,
    planar,
    reissner,
    spherical,
    stewart,
    universal,
)

__all__ = [
    "STRAIN_NAMES",
    "Strains",
    "extensible_kirchhoff",
    "extensible_spherical",
    "kirchhoff",
    "planar",
    "reissner",
    "spherical",
    "stewart",
    "universal",
]
