"""Release of a cantilever (benchmarks/cases.py) with SoRoMoX, one thread, double precision.

    python benchmarks/peers/soromox_cantilever.py soft --repeat 3
    python benchmarks/peers/soromox_cantilever.py soft --sweep

Prints one line of JSON per setting; the time is that of the compiled rollout, `compile_seconds` comes on top once.
Shear is left out, and stretch as well where the tip is within 1 % without it: that is the cheapest model here. On
`stiff`, the rod that only bends stays about 2 % off however many modes it has.
"""

from jax_common import compiled  # first: it sets what JAX reads when it starts

# isort: split
import argparse
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from soromox.systems import GVS, GVSSegment, JointSpec, LinkSpec, PlanarPCS, StrainBasisSpec, SystemState
from soromox.systems.pcs.structures import PlanarPCSStructure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cases import CANTILEVERS, GRAVITY, Cantilever, tip_error
from measure import record, rounded, show, timed

SAMPLES = 240  # of the tip until the last check time; a multiple of the number of intervals between check times
SOLVERS = {
    "bosh3": diffrax.Bosh3,
    "tsit5": diffrax.Tsit5,
    "dopri8": diffrax.Dopri8,
    "kvaerno3": diffrax.Kvaerno3,  # implicit
}

Tip = Callable[[jax.Array], jax.Array]


@dataclass(frozen=True, slots=True)
class Setting:
    """Model and solver of one run."""

    modes: int  # of the curvature of each segment, Legendre polynomials
    gauss: int  # quadrature points of each segment
    segments: int = 1
    stretch: int = 0  # modes of the stretch of each segment
    solver: str = "dopri8"
    tolerance: float = 1e-3  # of the step size, relative; the absolute one is a hundredth of it
    model: str = "gvs"  # "gvs": variable strain, "pcs": planar, with a constant curvature in each segment


# The fastest found with an error of at most 1 % of the length.
FASTEST = {
    "soft": Setting(4, 5),
    "stiff": Setting(5, 7, 4, 1),
    "stiff200": Setting(4, 5),
}


def sweep(case: Cantilever) -> Iterator[Setting]:
    """Modes, segments, solvers and tolerances tried for `case`; the slow `stiff` gets fewer solvers."""
    if case.name == "stiff":
        yield from (Setting(modes, modes + 2) for modes in (8, 10, 12, 14, 16))
        yield Setting(12, 14, solver="tsit5")
        for stretch in (0, 1, 2):
            yield Setting(12, 14, stretch=stretch)
            yield Setting(8, 10, 2, stretch)
            yield Setting(5, 7, 3, stretch)
            yield Setting(4, 6, 4, stretch)
            yield Setting(5, 7, 4, stretch)
        return
    for modes, solver, tolerance in itertools.product((3, 4, 5, 6), ("tsit5", "dopri8"), (1e-2, 1e-3, 1e-4)):
        yield Setting(modes, max(5, modes + 1), solver=solver, tolerance=tolerance)
    chosen = FASTEST[case.name]
    yield replace(chosen, gauss=2 * chosen.modes)
    yield replace(chosen, solver="bosh3")
    yield replace(chosen, solver="kvaerno3", tolerance=1e-2)
    yield Setting(2, 5, 2)
    yield Setting(1, 2, 10, model="pcs")


def build(case: Cantilever, setting: Setting) -> tuple[GVS | PlanarPCS, Tip]:
    """The rod, and its tip (2,) [m] in the frame of the case; SoRoMoX has x along the rod (down) and y horizontal."""
    material = {
        "density": case.density,
        "radius": case.diameter / 2,
        "young_modulus": case.young,
        "shear_modulus": case.shear,
    }
    size = case.length / setting.segments
    if setting.model == "pcs":
        link = LinkSpec.circular(length=size, reference_strain=[0.0, 1.0, 0.0], **material)
        bending = PlanarPCSStructure(
            num_gauss_points=setting.gauss, strain_selector=[True, False, False] * setting.segments
        )
        robot = PlanarPCS.from_links(
            [link] * setting.segments, structure=bending, gravity=jnp.array([GRAVITY, 0.0]), base_pose=jnp.zeros(3)
        )

        def tip(q: jax.Array) -> jax.Array:
            _angle, down, across = robot.forward_kinematics(q, robot.length)
            return jnp.stack([across, -down])

        return robot, tip

    strains = ("kappa_z", "sigma_x") if setting.stretch else ("kappa_z",)
    segment = GVSSegment(
        link=LinkSpec.circular(length=size, reference_strain=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0], **material),
        joint=JointSpec.fixed(),
        basis=StrainBasisSpec("legendre", strains, [0, 0, setting.modes - 1, max(setting.stretch - 1, 0), 0, 0]),
        num_gauss_points=setting.gauss,
    )
    upright = jnp.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])  # quaternion (x, y, z, w), position
    robot = GVS.from_segments([segment] * setting.segments, gravity=jnp.array([GRAVITY, 0.0, 0.0]), base_pose=upright)

    def tip(q: jax.Array) -> jax.Array:
        down, across, _ = robot.forward_kinematics(q, robot.length)[:3, 3]
        return jnp.stack([across, -down])

    return robot, tip


def equilibrium(case: Cantilever, robot: GVS | PlanarPCS, tip: Tip) -> jax.Array:
    """Coordinates (n,) at rest under gravity and the tip force: Newton along a force that grows geometrically."""

    def residual(q: jax.Array, force: jax.Array) -> jax.Array:
        return robot.potential_force(q) - force * jax.grad(lambda q: tip(q)[0])(q)

    @jax.jit
    def newton(q: jax.Array, force: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        def improve(state):
            q, _, count = state
            change = jnp.linalg.solve(jax.jacfwd(residual)(q, force), residual(q, force))
            return q - change, jnp.abs(change).max() / (1 + jnp.abs(q).max()), count + 1

        return jax.lax.while_loop(lambda state: (state[1] > 1e-10) & (state[2] < 50), improve, (q, jnp.inf, 0))

    q = jnp.zeros(robot.num_velocities)
    for share in np.geomspace(1e-3, 1.0, 60):
        q, change, _ = newton(q, share * case.tip_force)
        if not change <= 1e-10:
            raise RuntimeError(f"no equilibrium at {share:.0%} of the tip force")
    return q


def measure(case: Cantilever, setting: Setting, *, until: float, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    label = {"peer": "soromox", "version": version("soromox"), "case": case.name, "settings": asdict(setting)}
    (robot, tip), building = timed(lambda: build(case, setting))
    try:
        rest = equilibrium(case, robot, tip)
    except RuntimeError as error:
        return {**label, "failure": str(error)}
    t = jnp.linspace(0.0, until, round(SAMPLES * until / case.last_check) + 1)

    def release(y: jax.Array) -> jax.Array:
        states = robot.rollout_to(
            SystemState(t=0.0, y=y),
            u=jnp.zeros(robot.num_actuators),
            t1=until,
            solver_dt=1e-5,  # first step only
            save_ts=t,
            solver=SOLVERS[setting.solver](),
            stepsize_controller=diffrax.PIDController(rtol=setting.tolerance, atol=1e-2 * setting.tolerance),
        )
        return jax.vmap(lambda y: tip(y[: rest.size]))(states.y)

    start = jnp.concatenate([rest, jnp.zeros_like(rest)])
    rollout, compiling = compiled(release, start)
    runs = [timed(lambda: rollout(start).block_until_ready()) for _ in range(repeat)]
    return record(
        **label,
        error=tip_error(case, np.asarray(t), np.asarray(runs[0][0])),
        seconds=[seconds for _, seconds in runs],
        simulated=until,
        compile_seconds=rounded(compiling),
        whole_seconds=rounded(building + min(seconds for _, seconds in runs)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=sorted(CANTILEVERS))
    parser.add_argument("--repeat", type=int, help="by default 3, or 1 for the slow stiff")
    parser.add_argument("--until", type=float, help="simulated time [s], by default the last check time")
    parser.add_argument("--sweep", action="store_true", help="every setting tried, one line each")
    arguments = parser.parse_args()
    case = CANTILEVERS[arguments.case]
    repeat = arguments.repeat or (1 if case.name == "stiff" else 3)
    for setting in sweep(case) if arguments.sweep else [FASTEST[case.name]]:
        show(measure(case, setting, until=arguments.until or case.last_check, repeat=repeat))


if __name__ == "__main__":
    main()
