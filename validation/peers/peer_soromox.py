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
from soromox.systems import LinkSpec, PlanarPCS, SystemState

SECTIONS = 2


def planar_pcs():
    """Tip of two sections of constant strain at 0.2, 0.4 ... 1 s, and the seconds of a second run."""
    link = LinkSpec.circular(
        length=0.3, radius=3e-2, density=1000.0, reference_strain=[0.0, 1.0, 0.0], young_modulus=1e6,
        shear_modulus=3.333333e5, damping=0.3e-2 * np.diag([2.0, 1e3, 1e3]))  # fmt: skip
    robot = PlanarPCS.from_links(
        [link] * SECTIONS, gravity=jnp.array([-9.81, 0.0]), base_pose=jnp.array([jnp.pi / 2, 0.0, 0.0])
    )
    start = SystemState(t=0.0, y=jnp.zeros(6 * SECTIONS))

    def run():
        moved = robot.rollout_to(initial_state=start, u=jnp.zeros(3 * SECTIONS), t1=1.0, solver_dt=1e-4, save_dt=0.2,
                                 solver=Tsit5(), max_steps=None)  # fmt: skip
        return jax.block_until_ready(moved.y)

    run()
    began = time.process_time()
    q = run()[:, : 3 * SECTIONS]
    seconds = time.process_time() - began
    tips = np.array(jax.vmap(partial(robot.forward_kinematics, s=robot.length))(q))
    return {"x": list(tips[1:6, 1]), "y": list(tips[1:6, 2])}, seconds


if __name__ == "__main__":
    numbers, taken = planar_pcs()
    line = {"case": "planar arm of two constant strains", "numbers": numbers, "seconds": round(taken, 3)}
    print(json.dumps(line, default=float))
