"""Joints between parts: `ag.joints.Planar` moves in a plane, where `ag.strains.planar` lets a rod bend in one."""

from anguilla.describe import joints
from anguilla.describe.joints import *  # noqa: F403

__all__ = list(joints.__all__)
