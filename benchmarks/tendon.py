"""The tendon arm that Anguilla and SoRoMoX both simulate: two soft sections, hanging, pulled by one tendon of each.

    python benchmarks/tendon.py                # both, in turns; needs the environment of SoRoMoX (made on demand)
    python benchmarks/tendon.py --reference    # compute the reference again (a minute)
    python benchmarks/tendon.py --own          # Anguilla alone, as JSON

The errors are largest distances of the tip from a converged run of Anguilla (six modes of each of six strains per section,
24 intervals, 0.25 ms; half as many of everything moves it by less than 1e-4 of the length), over the length of the arm.
Constants only above the imports of Anguilla: the script of the peer reads them from here.
"""

import argparse
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from measure import whole_call

HERE = Path(__file__).resolve().parent
LENGTH, RADIUS, OFFSET = 0.3, 0.03, 0.02  # of a section, of its cross-section, of the tendons [m]
YOUNG, POISSON, DENSITY, DAMPING = 1e6, 0.49, 1000.0, 0.01  # [Pa], -, [kg/m^3], Kelvin-Voigt time [s]
ANGLES = tuple(2 * np.pi * k / 3 for k in range(3))  # of the tendons of each section [rad]
TENSIONS = (5.0, 0.0, 0.0, 0.0, 5.0, 0.0)  # near 1 to 3, far 1 to 3, from t = 0 on [N]
DURATION, SAMPLES = 1.0, 51
REFERENCE = HERE / "reference" / "tendon_arm.npz"


def tip_error(t: np.ndarray, tip: np.ndarray) -> float:
    """Largest distance of a tip path (nt, 3) at the times of the reference from it, as a part of the arm's length."""
    stored = np.load(REFERENCE)
    if not np.allclose(t, stored["t"]):
        raise ValueError("the tip is compared at the times of the reference")
    return float(np.linalg.norm(tip - stored["tip"], axis=1).max() / (2 * LENGTH))


def arm(strains, intervals):
    """The robot, its inputs and the frame of its tip."""
    import anguilla as ag

    rubber = ag.Material(young=YOUNG, poisson=POISSON, density=DENSITY, damping=DAMPING)
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), rubber, strains, intervals=intervals)
    robot = ag.Robot("tendon_arm", gravity=(9.81, 0, 0))
    near = robot.add(rod, at=robot.ground, name="near")
    far = robot.add(rod, at=near.tip, name="far")
    inputs = {}
    for k, tension in enumerate(TENSIONS):
        place = ag.parallel(y=OFFSET * np.cos(ANGLES[k % 3]), z=OFFSET * np.sin(ANGLES[k % 3]))
        robot.actuate(f"tendon_{k + 1}", ag.Tendon(near if k < 3 else (near, far), place))
        inputs[f"tendon_{k + 1}"] = tension
    return robot, inputs, far.tip


def solve(strains, intervals, dt, rho=0.9, tolerance=1e-6):
    """Motion from the straight arm at rest, with the tip at the times of the reference; and the time it took [s]."""
    import anguilla as ag

    robot, inputs, tip = arm(strains, intervals)
    every = round(DURATION / dt) // (SAMPLES - 1)
    run = ag.simulate(
        robot,
        duration=DURATION,
        dt=dt,
        inputs=inputs,
        method=ag.GeneralisedAlpha(rho),
        every=every,
        tolerance=tolerance,
    )
    return run.t, run.position(tip), run.status.seconds, run.system.size


def make_reference() -> float:
    """Compute and store the reference; returns how far half the resolution is from it."""
    import anguilla as ag

    t, tip, _, _ = solve(ag.reissner(6), 24, 2.5e-4, 1.0, 1e-10)
    np.savez(REFERENCE, t=t, tip=tip)
    coarse, path, _, _ = solve(ag.reissner(3), 12, 5e-4, 1.0, 1e-10)
    return tip_error(coarse, path)


def own(repeat: int = 30) -> list[dict]:
    """Records of Anguilla: 12 and 16 coordinates, as many as the models of the peer, and a finer one."""
    import anguilla as ag

    linear = ag.Strains(**{name: ag.Legendre(2) for name in ("twist", "bend_y", "bend_z", "stretch")})
    settings = {
        "12 coordinates, 20 ms": (ag.Strains(twist=ag.Legendre(1), bend_y=ag.Legendre(2), bend_z=ag.Legendre(2),
                                             stretch=ag.Legendre(1)), 3, 0.02),
        "16 coordinates, 10 ms": (linear, 4, 0.01),
        "16 coordinates, 4 ms": (linear, 4, 0.004),
        "24 coordinates, 5 ms": (ag.Strains(twist=ag.Legendre(2), bend_y=ag.Legendre(4), bend_z=ag.Legendre(4),
                                            stretch=ag.Legendre(2)), 6, 0.005),
    }  # fmt: skip
    found = []
    for name, setting in settings.items():
        solve(*setting)
        calls = [whole_call(partial(solve, *setting)) for _ in range(repeat)]
        runs = [run for run, _ in calls]
        times = [run[2] / DURATION for run in runs]
        t, tip, _, size = runs[-1]
        found.append({"peer": "anguilla", "version": ag.__version__, "case": "tendon",
                      "program": f"Anguilla, {name}", "coordinates": size, "error": tip_error(t, tip),
                      "ratio": min(times), "median": median(times), "simulated": DURATION,
                      "whole_seconds": min(seconds for _, seconds in calls)})  # fmt: skip
    return found


def peer(python: Path) -> list[dict]:
    """Records of SoRoMoX."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    command = [python, HERE / "peers" / "soromox_tendon.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"SoRoMoX failed:\n{done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def compare() -> dict:
    """Both programs in one run, Anguilla before and after; and the ratio of the fastest within 1 % of the length."""
    from environments import python_of

    before = own()
    others = peer(python_of("soromox"))
    rows = [min(pair, key=lambda row: row["ratio"]) for pair in zip(before, own(), strict=True)] + others
    good = [row for row in rows if row["error"] < 0.01]
    best = {name: min((r for r in good if r["program"].startswith(name)), key=lambda r: r["ratio"], default=None)
            for name in ("Anguilla", "SoRoMoX")}  # fmt: skip
    times = best["SoRoMoX"]["ratio"] / best["Anguilla"]["ratio"] if all(best.values()) else None
    return {"rows": rows, "times": times}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", action="store_true", help="compute the reference again")
    parser.add_argument("--own", action="store_true", help="Anguilla alone, as JSON")
    parser.add_argument("--repeat", type=int, default=30, help="runs of each setting of Anguilla")
    arguments = parser.parse_args()
    if arguments.reference:
        print(f"half the resolution is {make_reference():.2g} of the length away")
        return 0
    if arguments.own:
        print("\n".join(json.dumps(row) for row in own(arguments.repeat)))
        return 0
    result = compare()
    print("| program | coordinates | error of the tip | time per simulated second | median |\n|---|---|---|---|---|")
    for row in result["rows"]:
        print(
            f"| {row['program']} | {row['coordinates']} | {100 * row['error']:.2g} % | {row['ratio']:.3g} | {row['median']:.3g} |"
        )
    if result["times"]:
        print(
            f"\nThe fastest Anguilla within 1 % of the length is {result['times']:.0f} times faster than the fastest SoRoMoX."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
