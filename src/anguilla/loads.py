"""What acts on a robot: loads, contacts and fluids. `ag.loads.Load` is the base of all, where `ag.load` reads results."""

from anguilla import interact
from anguilla.describe.load import FrameMotion, Load
from anguilla.interact import *  # noqa: F403

_kinds = [name for name in interact.__all__ if isinstance(getattr(interact, name), type)]  # not its functions
__all__ = ["FrameMotion", "Load", *(name for name in _kinds if issubclass(getattr(interact, name), Load))]
