"""What acts on a robot: loads, contacts and fluids. `ag.loads.Load` is the base of all, where `ag.load` reads results."""

from anguilla.describe.load import FrameMotion, Load
from anguilla.interact import *  # noqa: F403
from anguilla.interact import __all__ as _acting

__all__ = ["FrameMotion", "Load", *_acting]
