"""Cases of SoRoMoX as SoRoMoX solves them: prints JSON for `reference.json`.

.bench/soromox/bin/python validation/peers/peer_soromox.py
"""

import json
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from diffrax import Tsit5

jax.config.update("jax_enable_x64", True)
from soromox.systems import PlanarPCS, PlanarPCSParams, SystemState

SECTIONS = 2


def planar_pcs():
    """Tip of two sections of constant strain at 0.2, 0.4 ... 1 s, and the seconds of a second run."""
    ones = jnp.ones((SECTIONS,))
    params = PlanarPCSParams(
        base_pose=jnp.array([jnp.pi / 2, 0.0, 0.0]), length=0.3 * ones, radius=3e-2 * ones, density=1000 * ones,
        gravity=jnp.array([-9.81, 0.0]), young_modulus=1e6 * ones, shear_modulus=3.333333e5 * ones,
        damping_matrix=1e-2 * jnp.diag(jnp.tile(0.3 * jnp.array([2.0, 1e3, 1e3]), SECTIONS)),
        reference_strain=jnp.tile(jnp.array([0.0, 1.0, 0.0]), SECTIONS))  # fmt: skip
    robot = PlanarPCS(params=params)
    start = SystemState(t=0.0, y=jnp.zeros(6 * SECTIONS))

    def run():
        moved = robot.rollout_to(initial_state=start, u=jnp.zeros(3 * SECTIONS), t1=1.0, solver_dt=1e-4, save_dt=0.2,
                                 solver=Tsit5(), max_steps=None)  # fmt: skip
        return jax.block_until_ready(moved.y)

    run()
    began = time.process_time()
    q = run()[:, : 3 * SECTIONS]
    seconds = time.process_time() - began
    tips = np.array(jax.vmap(partial(robot.forward_kinematics, s=jnp.sum(robot.L)))(q))
    return {"x": list(tips[1:6, 1]), "y": list(tips[1:6, 2])}, seconds


if __name__ == "__main__":
    numbers, taken = planar_pcs()
    line = {"case": "planar arm of two constant strains", "numbers": numbers, "seconds": round(taken, 3)}
    print(json.dumps(line, default=float))
