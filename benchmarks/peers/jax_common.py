"""JAX as the scripts of SoRoMoX and JSRM use it: one thread unless XLA_FLAGS says otherwise, double precision.

Imported before anything that starts JAX.
"""

import os

# Read when JAX starts, hence before the imports.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import time
from collections.abc import Callable

import jax

jax.config.update("jax_enable_x64", True)


def compiled(function: Callable, *arguments: jax.Array) -> tuple[Callable, float]:
    """`function` compiled for arguments like these, and the seconds of that."""
    began = time.perf_counter()
    ready = jax.jit(function).lower(*arguments).compile()
    return ready, time.perf_counter() - began
