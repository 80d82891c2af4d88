"""Time of a gradient over the time of the simulation it belongs to, for a thousand inputs.

    python benchmarks/gradient.py                          # 6 tendons x 168 instants
    python benchmarks/gradient.py --steps 1000 --tendons 1
    python benchmarks/gradient.py --modes 5                # a larger arm
    python benchmarks/gradient.py --equilibria             # of equilibria, by two parameters of the design

The cost is the distance of the tip from a point at all instants. The simulation is timed twice: the call of `simulate`,
which also compiles the robot, and that of a compiled robot, the strict comparison. Processor times, in turns, several times
over: best and median.

An equilibrium is what a user asks for, `ag.statics(robot, ...)` of a robot described before: the first call compiles it, later
ones need not. So has a gradient by a design a first call, in which twins of the robot are made, and later ones.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import copy
from functools import partial
from statistics import median

import numpy as np
from measure import rounded, show, timed
from tendon import arm

import anguilla as ag

DT = 0.01  # [s]


def case(steps: int, tendons: int, modes: int):
    """The robot, inputs drawn at random for every instant and tendon [N], and the cost."""
    low, high = ag.Legendre(max(1, modes - 1)), ag.Legendre(modes)
    robot, names, tip = arm(ag.Strains(twist=low, bend_y=high, bend_z=high, stretch=low), modes + 1)
    random = np.random.default_rng(0)
    inputs = {name: ag.Sampled(5.0 * random.random(steps + 1), DT) for name in list(names)[:tendons]}
    return robot, inputs, ag.Reach(tip, (0.4, 0.2, 0.1))


def report(steps: int = 167, tendons: int = 6, modes: int = 2, repeat: int = 15) -> dict:
    """Times [s] of a simulation, of its time loop, and of the gradient; and their ratios."""
    robot, inputs, cost = case(steps, tendons, modes)

    options = {"duration": steps * DT, "dt": DT, "inputs": inputs, "progress": False}
    compiled = ag.Model(robot)

    def simulate() -> ag.Trajectory:
        return ag.simulate(robot, **options)

    found = ag.gradient(simulate(), cost)
    count = sum(len(values) for name, values in found.inputs.items() if name in inputs)
    calls, loops, gradients = [], [], []
    for _ in range(repeat):
        run, seconds = timed(simulate)
        calls.append(seconds)
        loops.append(timed(lambda: ag.simulate(compiled, **options))[1])
        gradients.append(timed(lambda run=run: ag.gradient(run, cost))[1])
    times = {"simulate": calls, "compiled": loops, "gradient": gradients}
    result = {name: {"best": rounded(min(values)), "median": rounded(median(values))} for name, values in times.items()}
    ratios = {
        name: {which: rounded(result["gradient"][which] / result[name][which]) for which in ("best", "median")}
        for name in ("simulate", "compiled")
    }
    return {"inputs": count, "steps": steps, "coordinates": run.system.size, **result, "ratios": ratios}


DESIGNS = {
    "materials": ["near.material.young", "far.material.density"],
    "lengths": ["near.length", "far.length"],
    "tendons": ["tendon_1.offset", "tendon_4.angle"],
    "sections": ["near.section.radius", "far.section.radius"],
}


def equilibria(modes: int = 2, repeat: int = 15) -> dict:
    """Of each kind of two parameters: seconds (best) of first and later gradients and equilibria, in turns."""
    low, high = ag.Legendre(max(1, modes - 1)), ag.Legendre(modes)
    strains = ag.Strains(twist=low, bend_y=high, bend_z=high, stretch=low)
    times = {name: {key: [] for key in ("statics", "gradient", "again", "later")} for name in DESIGNS}
    for _ in range(repeat):
        for name, design in DESIGNS.items():
            robot, pulls, tip = arm(strains, modes + 1)
            robot.part("far").rod = copy.deepcopy(robot.part("far").rod)  # its own, not that of both
            cost, inputs = ag.Reach(tip, (0.4, 0.2, 0.1)), {each: 1.0 + pull for each, pull in pulls.items()}
            found, first = timed(lambda robot=robot, inputs=inputs: ag.statics(robot, inputs=inputs))
            ask = partial(ag.gradient, found, cost, design=design)
            taken = (
                first,
                timed(ask)[1],
                *(min(timed(work)[1] for _ in range(5)) for work in (partial(ag.statics, robot, inputs=inputs), ask)),
            )
            for key, seconds in zip(times[name], taken, strict=True):
                times[name][key].append(seconds)
    return {name: {key: rounded(min(values)) for key, values in found.items()} for name, found in times.items()}


def show_equilibria(found: dict) -> None:
    print("milliseconds      statics: first   again   gradient: first   later   first / first statics, later / later")
    for name, t in found.items():
        ms = {key: 1e3 * seconds for key, seconds in t.items()}
        print(
            f"{name:18} {ms['statics']:13.2f} {ms['again']:7.2f} {ms['gradient']:17.2f} {ms['later']:7.2f}"
            f" {ms['gradient'] / ms['statics']:12.2f} {ms['later'] / ms['again']:19.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=167, help="time steps")
    parser.add_argument("--tendons", type=int, default=6, help="tendons that are pulled, 1 to 6")
    parser.add_argument("--modes", type=int, default=2, help="modes of each bending")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--equilibria", action="store_true", help="gradients of equilibria instead of motions")
    parser.add_argument("--json", action="store_true", help="print one line of JSON instead of a table")
    given = parser.parse_args()
    if given.equilibria:
        found = equilibria(given.modes, given.repeat)
        show(found) if given.json else show_equilibria(found)
        return
    result = report(given.steps, given.tendons, given.modes, given.repeat)
    if given.json:
        show(result)
        return
    print(f"{result['inputs']} inputs, {result['steps']} steps, {result['coordinates']} coordinates")
    for name in ("simulate", "compiled", "gradient"):
        print(f"{name:10} best {1e3 * result[name]['best']:8.2f} ms, median {1e3 * result[name]['median']:8.2f} ms")
    for name, ratio in result["ratios"].items():
        print(f"gradient / {name}: best {ratio['best']:.2f}, median {ratio['median']:.2f}")


if __name__ == "__main__":
    main()
