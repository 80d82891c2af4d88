"""Strains of rods: `ag.strains.planar` lets a rod bend in a plane, where `ag.joints.Planar` is a joint that moves in one."""

from anguilla.describe import strains
from anguilla.describe.strains import *  # noqa: F403

__all__ = list(strains.__all__)
