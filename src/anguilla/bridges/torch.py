"""Motions inside PyTorch programs: gradients flow through a simulation by its adjoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anguilla.bridges.motion import Motion
from anguilla.errors import missing

try:
    import torch
except ImportError as error:  # pragma: no cover - depends on the environment
    raise missing("anguilla.bridges.torch needs", "torch", "torch", "the CPU build is enough") from error

__all__ = ["differentiable"]


def _array(x: Any) -> np.ndarray:
    return x.detach().cpu().numpy().astype(np.float64)


class _Simulate(torch.autograd.Function):
    """q, v and positions as a function of inputs, start and design."""

    @staticmethod
    def forward(ctx: Any, motion: Motion, inputs: Any, q: Any, v: Any, design: Any) -> Any:
        """Simulate."""
        given = None if design.numel() == 0 else _array(design)
        run = motion.run(_array(inputs), _array(q), _array(v), given)
        ctx.motion, ctx.run, ctx.design = motion, run, given
        ctx.save_for_backward(inputs, q, v, design)
        return tuple(
            torch.as_tensor(np.array(x), dtype=inputs.dtype, device=inputs.device) for x in motion.outputs(run)
        )

    @staticmethod
    def backward(ctx: Any, by_q: Any, by_v: Any, by_x: Any) -> Any:
        """Weigh the outputs backwards."""
        design = ctx.design if ctx.needs_input_grad[4] else None
        found = ctx.motion.pull(ctx.run, _array(by_q), _array(by_v), _array(by_x), design)
        slopes = [
            found.inputs,
            found.q,
            found.v,
            found.design if found.design.size else np.zeros(ctx.saved_tensors[3].shape),
        ]
        pairs = zip(slopes, ctx.saved_tensors, strict=True)
        return None, *(torch.as_tensor(s, dtype=x.dtype, device=x.device).reshape(x.shape) for s, x in pairs)


def differentiable(motion: Motion) -> Callable[..., tuple[Any, Any, Any]]:
    """Return a function of tensors that simulates, and that PyTorch can differentiate.

    It takes (inputs, q=None, v=None, design=None): inputs (nt, inputs), the start (n,) (zero if not given) and the design
    (k,), and returns q (nt, n), v (nt, n) and positions (nt, frames, 3) [m]. Computed in double precision on the CPU,
    whatever the type and place of the tensors; use float64 tensors to keep the digits.
    """

    def simulate(inputs: Any, q: Any = None, v: Any = None, design: Any = None) -> tuple[Any, Any, Any]:
        if q is None or v is None:
            n = motion.sizes(None if design is None else _array(design))[0]
            q = inputs.new_zeros(n) if q is None else q
            v = inputs.new_zeros(n) if v is None else v
        found: tuple[Any, Any, Any] = _Simulate.apply(
            motion, inputs, q, v, inputs.new_zeros(0) if design is None else design
        )
        return found

    return simulate
