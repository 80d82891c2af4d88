"""What solvers return, and everything that can be read from it."""

from anguilla._lazy import lazy

__getattr__ = lazy(__name__, {"Equilibrium": "states", "Trajectory": "states"}, {})
