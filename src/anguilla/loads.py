"""What acts on a robot: loads, contacts and fluids. `ag.loads.Load` is the base of all, where `ag.load` reads results."""

from anguilla import interact
from anguilla.describe.load import FrameMotion, Load
from anguilla.interact import *  # noqa: F403

__all__ = ["FrameMotion", "Load", *(name for name in interact.__all__ if issubclass(getattr(interact, name), Load))]
