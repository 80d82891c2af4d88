"""The tendon arm of benchmarks/tendon.py with SoRoMoX, one thread, double precision: one line of JSON per setting.

Two models: a linear strain in each section (variable strain, 16 coordinates) and a constant one (12 coordinates). The time is
that of the compiled rollout, without its compilation.
"""

from jax_common import compiled  # first: it sets what JAX reads when it starts

# isort: split
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import median

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from soromox.actuation import ThreadlikeActuator, ThreadlikeRouting
from soromox.systems import SystemState
from soromox.systems.components import JointSpec, LinkSpec
from soromox.systems.gvs import GVS, GVSSegment, StrainBasisSpec
from soromox.systems.pcs import PCS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measure import show, timed
from tendon import (
    ANGLES,
    DAMPING,
    DENSITY,
    DURATION,
    LENGTH,
    OFFSET,
    POISSON,
    RADIUS,
    SAMPLES,
    TENSIONS,
    YOUNG,
    tip_error,
)  # fmt: skip

SOLVERS = {
    "kvaerno3, rtol 1e-3": (diffrax.Kvaerno3, 1e-3, 1e-5, 1e-4),
    "tsit5, rtol 1e-4": (diffrax.Tsit5, 1e-4, 1e-6, 1e-5),
    "tsit5, rtol 1e-3": (diffrax.Tsit5, 1e-3, 1e-5, 1e-5),
}
STRAIGHT = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]


def section():
    """One section; the damping is given as a viscosity [Pa s]."""
    return LinkSpec.circular(
        length=LENGTH, density=DENSITY, radius=RADIUS, young_modulus=YOUNG, poisson_ratio=POISSON,
        material_damping_coefficient=DAMPING * YOUNG, reference_strain=STRAIGHT,
    )  # fmt: skip


def build(model: str):
    """The arm hanging along +x with its six tendons."""
    places = np.array([[0.0, OFFSET * np.cos(a), OFFSET * np.sin(a)] for a in ANGLES] * 2)
    routing = ThreadlikeRouting.linear(
        intercept=jnp.array(places), start_segment_index=(0,) * 6, end_segment_index=(0, 0, 0, 1, 1, 1)
    )
    for base in ([0.0, 0, 0, 1.0, 0, 0, 0], [1.0, 0, 0, 0, 0, 0, 0]):  # the order of the base's quaternion
        options = {
            "gravity": jnp.array([9.81, 0.0, 0.0]), "base_pose": jnp.array(base),
            "actuators": (ThreadlikeActuator.tendons(routing),),
        }  # fmt: skip
        if model == "constant":
            robot = PCS.from_links([section(), section()], **options)
        else:
            names = "kappa_x", "kappa_y", "kappa_z", "sigma_x"
            basis = StrainBasisSpec("legendre", names, [1, 1, 1, 1, 0, 0])
            parts = [GVSSegment(section(), JointSpec.fixed(), basis, 6) for _ in range(2)]
            robot = GVS.from_segments(parts, **options)
        tip = np.array(robot.forward_kinematics(jnp.zeros(robot.num_velocities), robot.length))[:3, 3]
        if abs(tip[0] - 2 * LENGTH) < 1e-6:
            return robot
    raise RuntimeError("the straight arm does not point along +x")


def measure(model: str, name: str) -> dict:
    """Error of the tip and time of one model and solver."""
    robot, (solver, relative, absolute, first) = build(model), SOLVERS[name]
    n, inputs, times = robot.num_velocities, jnp.array(TENSIONS), jnp.linspace(0.0, DURATION, SAMPLES)

    def path(start):
        run = robot.rollout_to(
            SystemState(t=0.0, y=start), u=inputs, t1=DURATION, solver_dt=first, save_ts=times, solver=solver(),
            stepsize_controller=diffrax.PIDController(rtol=relative, atol=absolute),
        )  # fmt: skip
        return jax.vmap(lambda y: robot.forward_kinematics(y[:n], robot.length)[:3, 3])(run.y)

    start = jnp.zeros(2 * n)
    rollout, _ = compiled(path, start)
    runs = [timed(lambda: rollout(start).block_until_ready()) for _ in range(3)]
    seconds = [taken / DURATION for _, taken in runs]
    describing = min(timed(lambda: build(model))[1] for _ in range(2))  # what is compiled by then is not counted
    title = f"SoRoMoX, {model} strain, {name}"
    error = tip_error(np.array(times), np.array(runs[-1][0]))
    return {
        "peer": "soromox",
        "version": version("soromox"),
        "case": "tendon",
        "program": title,
        "coordinates": int(n),
        "error": error,
        "ratio": min(seconds),
        "median": median(seconds),
        "simulated": DURATION,
        "whole_seconds": describing + min(taken for _, taken in runs),
    }


if __name__ == "__main__":
    for model in ("linear", "constant"):
        for name in SOLVERS:
            if model == "linear" or name.startswith("kvaerno"):
                show(measure(model, name))
