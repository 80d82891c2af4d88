"""Motions inside programs of other libraries that differentiate: `anguilla.bridges.torch` and `anguilla.bridges.jax`.

Both wrap a `Motion`, a plain function of arrays with its vector-Jacobian product by the adjoint.
"""

from anguilla.bridges.motion import Motion

__all__ = ["Motion"]
