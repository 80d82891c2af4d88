"""256 tendon arms at once with SoRoMoX, by vmap, on all cores: one line of JSON.

The arm of benchmarks/tendon.py with a constant strain in each section (12 coordinates), from the straight arm at rest, with
tensions drawn for each copy; the explicit Tsit5 with its largest step that stays finite. Compilation is not counted.
"""

import os

os.environ["XLA_FLAGS"] = ""  # all cores; the module below asks for one when this is not set

from jax_common import compiled

# isort: split
import sys
import time
from importlib.metadata import version
from pathlib import Path

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from soromox.systems import SystemState

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measure import parser_of, rounded, show
from soromox_tendon import build

STEPS = 1e-4, 5e-5  # [s]; 0.2 ms is not stable


def main() -> None:
    parser = parser_of(__doc__, repeat=3)
    parser.add_argument("--arms", type=int, default=256)
    parser.add_argument("--steps", type=int, default=100)
    given = parser.parse_args()
    robot = build("constant")
    start = jnp.zeros(2 * robot.num_velocities)
    tensions = jnp.array(5.0 * np.random.default_rng(0).random((given.arms, 6)))
    for step in STEPS:
        end = given.steps * step

        def one(inputs, step=step, end=end):
            run = robot.rollout_to(
                SystemState(t=0.0, y=start), u=inputs, t1=end, solver_dt=step, save_ts=jnp.array([0.0, end]),
                solver=diffrax.Tsit5(), stepsize_controller=diffrax.ConstantStepSize(),
            )  # fmt: skip
            return run.y[-1]

        rollout, compiling = compiled(jax.vmap(one), tensions)
        try:
            states = rollout(tensions).block_until_ready()
        except Exception as error:  # the solver of this package raises what its compiled code reports
            print(f"step {step}: {error}"[:200], file=sys.stderr)
            continue
        if bool(jnp.isfinite(states).all()) and float(jnp.abs(states).max()) < 1e3:
            break
    else:
        raise SystemExit("SoRoMoX: no step stays finite")
    walls = []
    for _ in range(given.repeat):
        began = time.perf_counter()
        rollout(tensions).block_until_ready()
        walls.append(time.perf_counter() - began)
    steps = given.arms * given.steps
    show({
        "peer": "soromox", "version": version("soromox"), "case": "batch", "arms": given.arms,
        "coordinates": int(robot.num_velocities), "step": step, "threads": os.cpu_count(),
        "best": rounded(steps / min(walls)), "median": rounded(steps / float(np.median(walls))),
        "compile_seconds": rounded(compiling),
    })  # fmt: skip


if __name__ == "__main__":
    main()
