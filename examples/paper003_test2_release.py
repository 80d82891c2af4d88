"""Paper 003, test 2 (figures 3 and 4): the arm of test 1 is let go, and the critical time step of shooting.

Figure 3: released from a convergent tendon of 15 N, steps of 1 ms; shooting on the full boundary-value problem (61)
(blue), without the equation of the accelerations (89) (red), and the strain-mode core (green). Figure 4: the same
with a rod a hundred times softer, released from a horizontal force of 0.4 N.

The critical time step (88) is measured by bisection for a single shoot, and its exponents are fitted. The paper found
a prefactor of about 1/100, and below it a slow growth of short waves. Here the rods are integrated by Gauss
collocation, which does not feed short waves: what remains is the loss of convergence, and with several segments it
lies far lower.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.solve import shooting
from anguilla.solve.shooting.critical import beam_time
from anguilla.view.style import COLOURS, FAINT, INK, figure, figure_style

LENGTH, DISK = 0.4, 0.02  # [m]
STAR, SOFT = 207e9, 2.07e9  # Young's moduli [Pa]
SHOOTS, INTERVALS = 4, 16


@dataclass
class Result:
    t: dict[str, np.ndarray]  # by case: times [s]
    tip: dict[tuple[str, str], np.ndarray]  # by case and method: (time, 2) x and y [m]
    shapes: np.ndarray  # soft rod, (snapshots, points, 2) [m]
    differences: dict[tuple[str, float], float]  # by case and step [s]: largest distance from the converged core [m]
    same_step: dict[tuple[str, float], float]  # the same from the core with the same step and scheme [m]
    reduced: dict[str, float]  # by case: largest distance of the form (89) from the full one [m]
    critical: dict[str, float]  # by what was changed: critical time step [s]
    chi: float  # its prefactor, one shoot
    exponents: dict[str, float]  # of E, rho, l
    real_time: float  # computing time over simulated time: 200 GPa, released from 10 N, steps of 10 ms (004, table I)


def arm(case, modes=10, young=None, density=8000.0, length=LENGTH):
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))
    steel = ag.Material(young=young or (STAR if case == "weak" else SOFT), poisson=0.3, density=density)
    rod = ag.Rod(length, ag.Circle(1e-3), steel, ag.planar(modes), intervals=40)
    handle = robot.add(rod, at=robot.ground)
    robot.actuate("pull", ag.Tendon(handle, ag.convergent((DISK, 0.0), (0.0, 0.0), length)))
    force = robot.load(ag.TipWrench(handle, force=(0.0, 0.4 if case == "soft" else 0.0, 0.0)))
    return robot, handle, force, {"pull": 15.0 if case == "weak" else 0.0}


def shoot(case, dt, duration, accelerations=True):
    robot, handle, force, held = arm(case)
    start = shooting.statics(robot, inputs=held, shoots=SHOOTS, intervals=INTERVALS)
    force.force = (0.0, 0.0, 0.0)
    motion = shooting.simulate(
        robot, duration=duration, dt=dt, start=start, shoots=SHOOTS, intervals=INTERVALS, accelerations=accelerations
    )
    return motion, handle


def modes(case, dt, duration, every):
    robot, handle, force, held = arm(case)
    start = ag.statics(robot, inputs=held)
    force.force = (0.0, 0.0, 0.0)
    motion = ag.simulate(robot, duration=duration, dt=dt, start=start, every=every, method=ag.Newmark())
    return motion.position(handle.tip)[:, :2]


def critical_step(young=SOFT, density=8000.0, length=LENGTH, shoots=1):
    """Smallest time step [s] at which five steps after a release are solved, by bisection."""
    robot, handle, force, _ = arm("soft", young=young, density=density, length=length)
    robot.gravity = (0.0, 0.0, 0.0)
    scale, EI = beam_time(handle), handle.rod.hooke([0.0])[0, 2]
    low, high = 1e-4, 1.0  # the same for all rods, so that the exponents are found, not put in
    while high / low > 1.04:
        dt = np.sqrt(low * high)
        force.force = (0.0, 0.3 * EI / length**2, 0.0)
        start = shooting.statics(robot, shoots=shoots, intervals=24)
        force.force = (0.0, 0.0, 0.0)
        options = {"shoots": shoots, "intervals": 24, "raise_on_failure": False}
        motion = shooting.simulate(robot, duration=5 * dt, dt=dt, start=start, **options)
        low, high = (low, dt) if motion.status.success else (dt, high)
    return high, high / scale


def real_time():
    """Computing time of one second over that second, best of three, for the stiff cantilever of 004 with E = 200 GPa."""
    robot, _, force, _ = arm("soft", young=200e9)
    force.force = (0.0, 10.0, 0.0)
    start = shooting.statics(robot, shoots=2, intervals=8)
    force.force = (0.0, 0.0, 0.0)
    seconds = []
    for _ in range(3):
        began = time.process_time()
        shooting.simulate(robot, duration=1.0, dt=0.01, start=start, shoots=2, intervals=8, tolerance=1e-6)
        seconds.append(time.process_time() - began)
    return min(seconds)


def main(duration=0.2):
    result = Result({}, {}, np.zeros(0), {}, {}, {}, {}, 0.0, {}, 0.0)
    for case, steps in (("weak", (2e-3, 1e-3)), ("soft", (1e-2, 5e-3))):
        for dt in steps:
            motion, handle = shoot(case, dt, duration)
            tip = motion.position(handle.tip)[:, :2]
            green = modes(case, dt / 8, duration, 8)
            same = modes(case, dt, duration, 1)
            result.same_step[case, dt] = float(np.max(np.linalg.norm(tip - same, axis=1)))
            result.differences[case, dt] = float(np.max(np.linalg.norm(tip - green, axis=1)))
        red, _ = shoot(case, dt, duration, accelerations=False)
        red_tip = red.position(red.robot.parts[0].tip)[:, :2]
        result.t[case] = motion.t
        result.tip[case, "full"], result.tip[case, "reduced"], result.tip[case, "core"] = tip, red_tip, green
        result.reduced[case] = float(np.max(np.linalg.norm(tip - red_tip, axis=1)))
        if case == "soft":
            result.shapes = motion.centerline(handle, 50)[::4, :, :2]
    result.critical["star"], result.chi = critical_step()
    for name, change, factor in (
        ("E", {"young": 100 * SOFT}, 100),
        ("rho", {"density": 80.0}, 0.01),
        ("l", {"length": 2.0}, 5),
    ):
        result.critical[name], _ = critical_step(**change)
        result.exponents[name] = float(np.log(result.critical[name] / result.critical["star"]) / np.log(factor))
    result.real_time = real_time()
    return result


def figures(folder, result=None):
    result = result or main()
    looks = (("full", COLOURS[0], "-"), ("reduced", COLOURS[1], "--"), ("core", COLOURS[2], ":"))
    with figure_style():
        fig = figure(9.6, 6.0)
        axes = fig.subplots(2, 2)
        for row, case in enumerate(("weak", "soft")):
            ax = axes[row, 0]
            for name, colour, line in looks:
                ax.plot(result.t[case], result.tip[case, name][:, 1], line, color=colour, label=name)
            ax.set(
                title=f"Figure {3 + row}: {'15 N tendon' if row == 0 else '0.4 N, E / 100'}",
                xlabel="time [s]",
                ylabel="tip y [m]",
            )
            ax.legend(frameon=False, ncols=3, fontsize=8, loc="upper right" if row else "lower left")
            ax.margins(y=0.15)
        ax = axes[0, 1]
        names = ("E", "rho", "l")
        labels = {"E": "E x 100", "rho": "rho / 100", "l": "l x 5"}
        ratios = [result.critical[n] / result.critical["star"] for n in names]
        ax.bar(range(3), ratios, color=COLOURS[0])
        ax.set_yscale("log")
        ax.set_xticks(range(3), [labels[n] for n in names])
        for k, n in enumerate(names):
            ax.annotate(f"exponent {result.exponents[n]:.2f}", (k, ratios[k]), ha="center", va="bottom", color=INK)
        ax.set(
            title=f"critical step over {1e3 * result.critical['star']:.1f} ms (prefactor {result.chi:.3f})",
            ylim=(0.05, 80),
        )
        ax = axes[1, 1]
        for k, shape in enumerate(result.shapes):
            ax.plot(shape[:, 1], -shape[:, 0], color=COLOURS[0] if k else INK, lw=0.8, alpha=0.8)
        ax.set(title="soft rod, every 20 ms", xlabel="y [m]", ylabel="-x [m]", aspect="equal")
        ax.grid(color=FAINT)
        fig.savefig(Path(folder) / "test2_release.png", dpi=110)


if __name__ == "__main__":
    result = main()
    for (case, dt), value in result.differences.items():
        print(
            f"{case}: dt = {1e3 * dt:g} ms, largest distance of the tip from the core {1e3 * value:.3f} mm, "
            f"{1e3 * result.same_step[case, dt]:.3f} mm from the core with the same step"
        )
    for case, value in result.reduced.items():
        print(f"{case}: form without accelerations, {1e3 * value:.3f} mm from the full one")
    print("critical steps [s]:", result.critical, "prefactor", result.chi, "exponents", result.exponents)
    print(f"stiff cantilever: {result.real_time:.2f} of real time")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
