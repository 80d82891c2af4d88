"""Motions inside JAX programs: a simulation that `jax.grad` and `jax.jit` accept, by its adjoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anguilla.bridges.motion import Motion
from anguilla.errors import missing

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:  # pragma: no cover - depends on the environment
    raise missing("anguilla.bridges.jax needs", "jax", "jax", "the CPU build is enough") from error

__all__ = ["differentiable"]


def differentiable(motion: Motion) -> Callable[..., tuple[Any, Any, Any]]:
    """Return a function of arrays that simulates, and that JAX can differentiate (in reverse) and compile around.

    It takes (inputs, q=None, v=None, design=None): inputs (nt, inputs), the start (n,) (zero if not given) and the design
    (k,), and returns q (nt, n), v (nt, n) and positions (nt, frames, 3) [m]. The simulation itself runs outside JAX, in
    double precision; set ``jax.config.update("jax_enable_x64", True)`` to keep the digits.
    """

    def given(design: Any) -> Any:
        return None if np.size(design) == 0 else np.asarray(design, dtype=np.float64)

    def outside(inputs: Any, q: Any, v: Any, design: Any) -> tuple[Any, ...]:
        run = motion.run(np.asarray(inputs), np.asarray(q), np.asarray(v), given(design))
        return tuple(np.asarray(x, dtype=inputs.dtype) for x in motion.outputs(run))

    def back(inputs: Any, q: Any, v: Any, design: Any, *weights: Any) -> tuple[Any, ...]:
        run = motion.run(np.asarray(inputs), np.asarray(q), np.asarray(v), given(design))
        by_q, by_v, by_x = (np.asarray(w, dtype=np.float64) for w in weights)
        found = motion.pull(run, by_q, by_v, by_x, given(design))
        slopes = found.inputs, found.q, found.v, found.design
        return tuple(np.asarray(s, dtype=inputs.dtype).reshape(np.shape(x))
                     for s, x in zip(slopes, (inputs, q, v, design), strict=True))  # fmt: skip

    def like(*shapes: tuple[int, ...], dtype: Any) -> tuple[Any, ...]:
        return tuple(jax.ShapeDtypeStruct(shape, dtype) for shape in shapes)

    @jax.custom_vjp
    def simulate(inputs: Any, q: Any, v: Any, design: Any) -> Any:
        nt, n = inputs.shape[0], q.shape[0]
        shapes = like((nt, n), (nt, n), (nt, len(motion.frames), 3), dtype=inputs.dtype)
        return jax.pure_callback(outside, shapes, inputs, q, v, design, vmap_method="sequential")

    def forward(inputs: Any, q: Any, v: Any, design: Any) -> Any:
        return simulate(inputs, q, v, design), (inputs, q, v, design)

    def backward(kept: Any, weights: Any) -> Any:
        shapes = like(*(x.shape for x in kept), dtype=kept[0].dtype)
        return jax.pure_callback(back, shapes, *kept, *weights, vmap_method="sequential")

    simulate.defvjp(forward, backward)

    def call(inputs: Any, q: Any = None, v: Any = None, design: Any = None) -> tuple[Any, Any, Any]:
        inputs = jnp.asarray(inputs, dtype=jnp.result_type(float))
        size: int | None = None
        if q is None or v is None:
            size = _size(motion)
        q = jnp.zeros(size) if q is None else jnp.asarray(q, dtype=inputs.dtype)
        v = jnp.zeros(size) if v is None else jnp.asarray(v, dtype=inputs.dtype)
        design = jnp.zeros(0) if design is None else jnp.asarray(design, dtype=inputs.dtype)
        found: tuple[Any, Any, Any] = simulate(inputs, q, v, design)
        return found

    return call


def _size(motion: Motion) -> int:
    """Number of coordinates; of a robot that depends on its design, the start must say it."""
    if callable(motion.robot):
        raise ValueError("give the start q and v: their size depends on the function that makes the robot.")
    return motion.sizes()[0]
