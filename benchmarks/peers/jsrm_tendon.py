"""The planar tendon arm of benchmarks/planar.py with JSRM, one thread, double precision: one line of JSON per integrator.

Constant strains in each of two sections, symbolic equations of motion; the time is that of the compiled integration, without its
compilation. JSRM's arm stands along +y: y is down here, and x to the side.
"""

from jax_common import compiled  # first: it sets what JAX reads when it starts

# isort: split
import math
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import median

import diffrax
import jax.numpy as jnp
import jsrm
import numpy as np
from jsrm.systems import euler_lagrangian, tendon_actuated_planar_pcs

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import planar
from measure import parser_of, rounded, show, timed
from tendon import DAMPING, DENSITY, LENGTH, OFFSET, POISSON, RADIUS, YOUNG

SOLVERS = {
    "tsit5, rtol 1e-3": (diffrax.Tsit5, 1e-3),
    "kvaerno3, rtol 1e-3": (diffrax.Kvaerno3, 1e-3),
}


def main() -> None:
    repeat = parser_of(__doc__, repeat=3).parse_args().repeat
    equations = Path(jsrm.__file__).parent / "symbolic_expressions" / "planar_pcs_ns-2.dill"
    basis, kinematics, dynamics, _ = tendon_actuated_planar_pcs.factory(2, equations)
    shear = YOUNG / (2 * (1 + POISSON))
    area, second = math.pi * RADIUS**2, math.pi * RADIUS**4 / 4
    each = DAMPING * LENGTH * jnp.array([YOUNG * second, shear * area, YOUNG * area])
    two = jnp.ones(2)
    arm = {
        "th0": jnp.array(0.0), "l": LENGTH * two, "r": RADIUS * two, "rho": DENSITY * two, "g": jnp.array([0.0, 9.81]),
        "E": YOUNG * two, "G": shear * two, "d": jnp.array([[OFFSET, -OFFSET]] * 2), "D": jnp.diag(jnp.tile(each, 2)),
    }  # fmt: skip
    n = basis.shape[1]
    pull, start = jnp.array([planar.TENSION, 0.0, planar.TENSION, 0.0]), jnp.zeros(2 * n)

    def rates(_t, y, _given):
        return euler_lagrangian.nonlinear_state_space(dynamics, arm, y, pull)

    for name, (solver, relative) in SOLVERS.items():

        def motion(y, solver=solver, relative=relative):
            control = diffrax.PIDController(rtol=relative, atol=1e-2 * relative)
            return diffrax.diffeqsolve(
                diffrax.ODETerm(rates), solver(), 0.0, planar.DURATION, 1e-5, y, stepsize_controller=control,
                max_steps=None,
            ).ys[-1]  # fmt: skip

        solve, compiling = compiled(motion, start)
        runs = [timed(lambda solve=solve: solve(start).block_until_ready()) for _ in range(repeat)]
        x, y = np.asarray(kinematics(arm, runs[0][0][:n], jnp.array(2 * LENGTH)))[:2]
        # Which side is positive is a convention: the arm bends to the side of its tendons in both programs.
        tip = np.array([y, abs(x) * np.sign(planar.TIP[1])])
        seconds = [s / planar.DURATION for _, s in runs]
        show({
            "peer": "jsrm", "version": version("jsrm"), "case": "planar", "program": f"JSRM, {name}", "coordinates": int(n),
            "error": rounded(planar.error(tip)), "tip": tip.tolist(), "ratio": min(seconds), "median": median(seconds),
            "compile_seconds": rounded(compiling),
        })  # fmt: skip


if __name__ == "__main__":
    main()
