"""Paper 003, test 3 (figure 5): a flexible stick is thrown by a force and a torque at one end, without gravity.

Length 1 m, diameter 0.1 m, density 1000 kg/m^3, E = G = 1 MPa, Kirchhoff, steps of 10 ms over 5 s, largest torque
10.7 N m. The histories are known to us as a figure only. Used here: a triangle c(t) that rises from 0 to 10.7 N m at
0.15 s and falls to 0 at 0.3 s; the stick lies in the plane (x, z), tilted by 3:4; at X = 1 act a force (c / 0.5 m, 0,
0) and a torque c about -y and c / 2 about the normal of the stick in the plane, fixed in the world. (A torque along
the stick would spin it by radians a step.)
"""

import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla import shooting
from anguilla.view.style import COLOURS, FAINT, INK, figure, figure_style

LENGTH, RADIUS, DENSITY, MODULUS, TORQUE = 1.0, 0.05, 1000.0, 1e6, 10.7  # SI
DURATION, DT, RISE = 5.0, 0.01, 0.15  # [s]


@dataclass
class Result:
    t: np.ndarray  # [s]
    centre: np.ndarray  # (time, 3) centre of mass by shooting [m]
    core: np.ndarray  # (time, 3) by the strain-mode core [m]
    exact: np.ndarray  # (time, 3) from the impulse of the force: the stick's shape cannot matter [m]
    tip_difference: dict[float, float]  # by time step: largest distance of the tips of both methods up to 1 s [m]
    same_steps: dict[float, float]  # by time [s]: distance of the tips of both methods with the same steps so far [m]
    drift: dict[float, float]  # by time step: largest distance of the centre of mass from the exact one in 5 s [m]
    shapes: np.ndarray  # (snapshots, points, 3) every 0.2 s [m]
    seconds: float  # computing time of the 5 s [s]


def triangle(t):
    return TORQUE * max(0.0, min(t / RISE, 2.0 - t / RISE))


def stick(modes=5, intervals=20, begin=0.0):
    """The stick, with the loads from the time `begin` on."""
    robot = ag.Robot("stick", gravity=(0, 0, 0))
    second = np.pi * RADIUS**4 / 4
    # G = E: nu = 0 gives G = E / 2, so the torsion constant is doubled
    section = ag.GeneralSection(np.pi * RADIUS**2, second, second, torsion=4 * second, width=2 * RADIUS)
    rod = ag.Rod(LENGTH, section, ag.Material(MODULUS, DENSITY, poisson=0.0), ag.kirchhoff(modes), intervals=intervals)
    pose = np.eye(4)
    pose[:3, :3] = [[0.6, 0, -0.8], [0, 1, 0], [0.8, 0, 0.6]]
    handle = robot.add(rod, at=robot.ground, joint=ag.Free(), pose=pose)
    moment = lambda t: triangle(t + begin) * np.array([-0.4, -1.0, 0.3])
    robot.load(ag.TipWrench(handle, force=lambda t: (triangle(t + begin) / 0.5, 0.0, 0.0), moment=moment))
    return robot, handle


def centre_of_mass(motion, handle):
    weights = np.ones(41)
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    return np.einsum("tpi,p->ti", motion.centerline(handle, 41), weights / weights.sum())


def impulse(t):
    """Centre of mass from the impulse of the force, by exact integration of the triangle [m]."""
    mass, start = DENSITY * np.pi * RADIUS**2 * LENGTH, 0.5 * LENGTH * np.array([0.6, 0.0, 0.8])
    rise = lambda s: np.maximum(s, 0.0) ** 3 / 6.0
    path = TORQUE / 0.5 / RISE * (rise(t) - 2 * rise(t - RISE) + rise(t - 2 * RISE)) / mass
    return start + path[:, None] * np.array([1.0, 0.0, 0.0])


def same_steps(duration=1.0, modes=16):
    """Distance of the tips of both methods so far, with the same steps; the first step of shooting has (1/2, 1)."""
    robot, handle = stick(modes, 80)
    tip = shooting.simulate(robot, duration=duration, dt=DT, shoots=8, intervals=48, tolerance=1e-10).position(
        handle.tip
    )
    options = {"tolerance": 1e-12, "smooth_start": False}
    first = ag.simulate(robot, duration=DT, dt=DT, method=ag.Newmark(0.5, 1.0), **options)
    robot, handle = stick(modes, 80, begin=DT)
    with warnings.catch_warnings(action="ignore", category=ag.AnguillaWarning):  # errors of the steps are those of both
        then = ag.simulate(robot, duration=duration - DT, dt=DT, start=first, method=ag.Newmark(), **options)
    apart = np.linalg.norm(tip[1:] - then.position(handle.tip), axis=1)
    return {t: float(np.max(apart[: round(t / DT)])) for t in (0.1, 0.2, 1.0)}


def main():
    robot, handle = stick()
    began = time.process_time()
    motion = shooting.simulate(robot, duration=DURATION, dt=DT, shoots=3, intervals=12, tolerance=1e-7)
    seconds = time.process_time() - began
    with warnings.catch_warnings(
        action="ignore", category=ag.AnguillaWarning
    ):  # the paper's steps, 0.1 of the length off
        core = ag.simulate(robot, duration=DURATION, dt=DT, method=ag.Newmark())
    differences = {}
    for dt in (0.02, 0.01, 0.005):
        every = round(0.02 / dt)
        ours = shooting.simulate(robot, duration=1.0, dt=dt, shoots=4, intervals=12, every=every)
        theirs = ag.simulate(robot, duration=1.0, dt=0.0025, every=8, method=ag.Newmark())
        differences[dt] = float(np.max(np.linalg.norm(ours.position(handle.tip) - theirs.position(handle.tip), axis=1)))
    centres = centre_of_mass(motion, handle), centre_of_mass(core, handle)
    fine = shooting.simulate(robot, duration=DURATION, dt=DT / 2, shoots=4, intervals=12, tolerance=1e-7, every=2)
    exact = impulse(motion.t)
    drift = {DT: centres[0] - exact, DT / 2: centre_of_mass(fine, handle) - exact}
    drift = {dt: float(np.max(np.linalg.norm(gap, axis=1))) for dt, gap in drift.items()}
    shapes = motion.centerline(handle, 30)[:: round(0.2 / DT)]
    return Result(motion.t, *centres, exact, differences, same_steps(), drift, shapes, seconds)


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.6, 3.8)
        left = fig.add_subplot(1, 2, 1)
        for k, name in enumerate("xyz"):
            left.plot(result.t, result.exact[:, k], color=INK, lw=0.8)
            left.plot(result.t, result.centre[:, k], color=COLOURS[0])
            left.plot(result.t, result.core[:, k], ":", color=COLOURS[2])
            left.annotate(name, (result.t[-1], result.centre[-1, k]), xytext=(4, -3), textcoords="offset points")
        left.set(
            title="Figure 5 (b): centre of mass: shooting, core (dots), exact (thin)", xlabel="time [s]", ylabel="[m]"
        )
        left.grid(color=FAINT)
        right = fig.add_subplot(1, 2, 2, projection="3d")
        for shape in result.shapes:
            right.plot(*shape.T, color=COLOURS[0], lw=1.4)
        right.set(title="Figure 5 (c): every 0.2 s", xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
        fig.savefig(Path(folder) / "test3_flying_stick.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(f"5 s in {result.seconds:.2f} s of computing: {result.seconds / DURATION:.2f} of real time")
    print("centre of mass, largest distance from the exact one [m]:")
    for name in ("centre", "core"):
        print(" ", name, np.max(np.linalg.norm(getattr(result, name) - result.exact, axis=1)))
    for dt, value in result.drift.items():
        print(f"  shooting, dt = {1e3 * dt:g} ms: {value:.3f}")
    for t, value in result.same_steps.items():
        print(f"tips of both methods with the same steps, up to {t:g} s: {value:.1e} m")
    for dt, value in result.tip_difference.items():
        print(f"dt = {1e3 * dt:g} ms: tips of both methods differ by {1e3 * value:.2f} mm up to 1 s")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
