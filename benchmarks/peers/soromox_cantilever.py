"""Release of a cantilever (benchmarks/cases.py) with SoRoMoX, one thread, double precision.

    python benchmarks/peers/soromox_cantilever.py soft --repeat 3
    python benchmarks/peers/soromox_cantilever.py soft --sweep

Prints one line of JSON per setting; the time is that of the compiled rollout, compilation apart. The rod bends only
(it is slender enough: stretch and shear do not show in the tip), which is the cheapest model for this peer.

SoRoMoX works here with its x axis down along the rod and its y axis horizontal.
"""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import argparse  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from dataclasses import asdict, dataclass  # noqa: E402
from importlib.metadata import version  # noqa: E402
from pathlib import Path  # noqa: E402

import diffrax  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from soromox.systems import GVS, GVSSegment, JointSpec, LinkSpec, PlanarPCS, StrainBasisSpec, SystemState  # noqa: E402
from soromox.systems.pcs.structures import PlanarPCSStructure  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cases import CANTILEVERS, GRAVITY, Cantilever, tip_error  # noqa: E402
from measure import show, summary, timed  # noqa: E402

jax.config.update("jax_enable_x64", True)

SAMPLES = 240  # of the tip until the last check time; a multiple of the intervals between the check times
SOLVERS = {
    "bosh3": diffrax.Bosh3,
    "tsit5": diffrax.Tsit5,
    "dopri8": diffrax.Dopri8,
    "kvaerno3": diffrax.Kvaerno3,
    "kvaerno5": diffrax.Kvaerno5,
}


@dataclass(frozen=True, slots=True)
class Setting:
    """Model and solver of one run."""

    model: str = "gvs"  # "gvs": Legendre curvature per segment; "planar-pcs": constant curvature per segment
    segments: int = 1
    modes: int = 4  # per segment, 1 for "planar-pcs"
    gauss: int = 8  # quadrature points per segment
    solver: str = "tsit5"
    tolerance: float = 1e-4  # relative, of the step size control; the absolute one is a hundredth of it


def build(case: Cantilever, setting: Setting):
    link = dict(
        length=case.length / setting.segments,
        density=case.density,
        radius=case.diameter / 2,
        young_modulus=case.young,
        shear_modulus=case.shear,
    )
    if setting.model == "planar-pcs":
        return PlanarPCS.from_links(
            [LinkSpec.circular(**link, reference_strain=[0.0, 1.0, 0.0])] * setting.segments,
            structure=PlanarPCSStructure(num_gauss_points=setting.gauss, strain_selector=[True, False, False] * setting.segments),
            gravity=jnp.array([GRAVITY, 0.0]),
            base_pose=jnp.zeros(3),
        )
    segment = GVSSegment(
        link=LinkSpec.circular(**link, reference_strain=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
        joint=JointSpec.fixed(),
        basis=StrainBasisSpec("legendre", ("kappa_z",), setting.modes - 1),
        num_gauss_points=setting.gauss,
    )
    return GVS.from_segments([segment] * setting.segments, gravity=jnp.array([GRAVITY, 0.0, 0.0]), base_pose=jnp.array([0.0, 0, 0, 1, 0, 0, 0]))


def equilibrium(case, robot, tip):
    """Coordinates (n,) at rest under gravity and the tip force, by Newton along growing loads."""

    def residual(q, force):
        return robot.potential_force(q) - force * jax.grad(lambda q: tip(q)[0])(q)

    @jax.jit
    def solve(q, force):
        def go(carry):
            q, _, k = carry
            dq = jnp.linalg.solve(jax.jacfwd(residual)(q, force), residual(q, force))
            return q - dq, jnp.abs(dq).max() / (1 + jnp.abs(q).max()), k + 1
        return jax.lax.while_loop(lambda c: (c[1] > 1e-11) & (c[2] < 50), go, (q, jnp.inf, 0))

    q = jnp.zeros(robot.num_velocities)
    for share in np.geomspace(1e-3, 1.0, 60):
        q, d, k = solve(q, share * case.tip_force)
    return q, float(d)


def run(case, setting, until, repeat):
    robot = build(case, setting)
    if setting.model == "gvs":
        def tip(q):
            p = robot.forward_kinematics(q, robot.length)[:3, 3]
            return jnp.stack([p[1], -p[0]])
    else:
        def tip(q):
            p = robot.forward_kinematics(q, robot.length)
            return jnp.stack([p[2], -p[1]])
    q0, d = equilibrium(case, robot, tip)
    n = q0.size
    ts = jnp.linspace(0.0, until, round(SAMPLES * until / case.last_check) + 1)
    y0 = jnp.concatenate([q0, jnp.zeros(n)])
    control = diffrax.PIDController(rtol=setting.tolerance, atol=1e-2 * setting.tolerance)
    def roll(y0):
        states = robot.rollout_to(SystemState(t=0.0, y=y0), u=jnp.zeros(robot.num_actuators), t1=until, solver_dt=1e-5, save_ts=ts, solver=SOLVERS[setting.solver](), stepsize_controller=control)
        return jax.vmap(lambda y: tip(y[:n]))(states.y)
    t0 = time.perf_counter()
    compiled = jax.jit(roll).lower(y0).compile()
    comp = time.perf_counter() - t0
    sec = []
    for _ in range(repeat):
        p, s = timed(lambda: compiled(y0).block_until_ready())
        sec.append(s)
    return np.asarray(ts), np.asarray(p), sec, comp, d
