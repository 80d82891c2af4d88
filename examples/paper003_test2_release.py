"""Paper 003, test 2 (figures 3 and 4): the arm of test 1 is let go, and the critical time step of shooting.

Figure 3: released from a convergent tendon of 15 N, steps of 1 ms over 1 s, ten shoots: the full boundary-value problem (61)
(blue), without the equation of the accelerations (89) (red), and the strain-mode core (green). Figure 4: the same with a
rod a hundred times softer, released from a horizontal force of 0.4 N.

The core with the same steps and the same scheme is the sharpest judge: what is left is its number of modes. The rest of the
distance to the exact motion is the phase error of the scheme, which both methods share.

Figure 3 (b): below the critical step the paper saw short waves grow. That is the work of an explicit method along the rod,
shown here with `along="explicit"`; Gauss collocation, the default, does not feed them. What remains then is the loss of
convergence (88), measured by bisection for a single shoot; ten shoots lower it a hundred times.
"""

import sys
import warnings
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla import shooting
from anguilla.shooting.critical import beam_time
from anguilla.view.style import COLOURS, FAINT, INK, figure, figure_style

LENGTH, DISK = 0.4, 0.02  # [m]
STAR, SOFT = 207e9, 2.07e9  # Young's moduli [Pa]
SHOOTS, INTERVALS, DURATION = 10, 30, 1.0
STEPS = {"weak": (2e-3, 1e-3, 5e-4), "soft": (1e-2, 5e-3, 2.5e-3)}  # [s]
SHOWN = {"weak": 1e-3, "soft": 5e-3}  # in the figures
MODES = (5, 8, 12, 16)
WAVES = {"dt": (1e-3, 5e-4), "intervals": 60, "duration": 0.6}  # figure 3 (b)


@dataclass
class Result:
    t: dict[str, np.ndarray] = field(default_factory=dict)  # by case: times [s]
    tip: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)  # by case and method: (time, 2) x and y [m]
    shapes: np.ndarray | None = None  # soft rod, (snapshots, points, 2) [m]
    modes: dict[tuple[str, float, int], float] = field(default_factory=dict)  # case, step, modes: from the core [m]
    exact: dict[tuple[str, float], float] = field(
        default_factory=dict
    )  # case, step: from the core, steps 8 times finer [m]
    reduced: dict[str, float] = field(default_factory=dict)  # by case: (89) from the full form, steps as shown [m]
    waves: dict[tuple[str, float], tuple[np.ndarray, np.ndarray]] = field(
        default_factory=dict
    )  # t, roughness of K [1/m]
    wavy: np.ndarray | None = None  # figure 3 (b), (snapshots, points, 2) [m]
    wavy_curvature: np.ndarray | None = None  # (60,) K3 of the last of them [1/m]
    critical: dict[str, float] = field(default_factory=dict)  # by what was changed: critical time step [s]
    chi: float = 0.0  # its prefactor, one shoot
    exponents: dict[str, float] = field(default_factory=dict)  # of E, rho, l


def arm(case, modes=12, young=None, density=8000.0, length=LENGTH):
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))
    steel = ag.Material(young=young or (STAR if case == "weak" else SOFT), poisson=0.3, density=density)
    rod = ag.Rod(length, ag.Circle(1e-3), steel, ag.planar(modes), intervals=60)
    handle = robot.add(rod, at=robot.ground)
    robot.actuate("pull", ag.Tendon(handle, ag.convergent((DISK, 0.0), (0.0, 0.0), length)))
    force = robot.load(ag.TipWrench(handle, force=(0.0, 0.4 if case == "soft" else 0.0, 0.0)))
    return robot, handle, force, {"pull": 15.0 if case == "weak" else 0.0}


def shoot(case, dt, duration, **options):
    robot, handle, force, held = arm(case)
    options = {"shoots": SHOOTS, "intervals": INTERVALS, **options}
    start = shooting.statics(robot, inputs=held, shoots=options["shoots"], intervals=options["intervals"])
    force.force = (0.0, 0.0, 0.0)
    return shooting.simulate(robot, duration=duration, dt=dt, start=start, **options), handle


@cache
def let_go(case, modes):
    """Model of the arm that is let go, its start, and the rod."""
    robot, handle, force, held = arm(case, modes)
    model = ag.Model(robot)
    start = ag.statics(model, inputs=held)
    if case == "soft":
        force.force = (0.0, 0.0, 0.0)
        model = ag.Model(robot)
    return model, start, handle


def core(case, dt, duration, modes):
    """Tip (time, 2) by the strain-mode core with the steps of shooting, the first of which has (1/2, 1)."""
    model, start, handle = let_go(case, modes)
    options = {"tolerance": 1e-10, "smooth_start": False}
    first = ag.simulate(model, duration=dt, dt=dt, start=start, method=ag.Newmark(0.5, 1.0), **options)
    with warnings.catch_warnings(action="ignore", category=ag.AnguillaWarning):  # errors of the steps are those of both
        then = ag.simulate(model, duration=duration - dt, dt=dt, start=first, method=ag.Newmark(), **options)
    return np.vstack([first.position(handle.tip)[:1], then.position(handle.tip)])[:, :2]


def distance(a, b):
    return float(np.max(np.linalg.norm(a - b, axis=1)))


def roughness(motion, handle):
    """Largest second difference of K3 over 60 sections [1/m]: short waves."""
    return np.max(np.abs(np.diff(motion.strain(handle)[:, :, 2], 2, axis=1)), axis=1)


def waves(result):
    """Short waves with an explicit method along the rod and with Gauss collocation."""
    for along in ("explicit", "gauss"):
        for dt in WAVES["dt"]:
            intervals = WAVES["intervals"] if along == "explicit" else INTERVALS
            motion, handle = shoot(
                "weak", dt, WAVES["duration"], along=along, intervals=intervals, tolerance=1e-6, raise_on_failure=False
            )
            result.waves[along, dt] = motion.t, roughness(motion, handle)
            if (along, dt) == ("explicit", 5e-4):
                result.wavy = motion.centerline(handle, 80)[:: round(0.015 / dt), :, :2]
                result.wavy = np.concatenate([result.wavy, motion.centerline(handle, 80)[-1:, :, :2]])
                result.wavy_curvature = motion.strain(handle)[-1, :, 2]


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


def main(duration=DURATION):
    result = Result()
    for case, steps in STEPS.items():
        for dt in steps:
            motion, handle = shoot(case, dt, duration)
            tip = motion.position(handle.tip)[:, :2]
            for modes in MODES:
                result.modes[case, dt, modes] = distance(tip, core(case, dt, duration, modes))
            green = core(case, dt / 8, duration, 12)[::8]
            result.exact[case, dt] = distance(tip, green)
            if dt != SHOWN[case]:
                continue
            red, other = shoot(case, dt, duration, accelerations=False)
            red_tip = red.position(other.tip)[:, :2]
            result.reduced[case], result.t[case] = distance(tip, red_tip), motion.t
            result.tip[case, "full"], result.tip[case, "reduced"], result.tip[case, "core"] = tip, red_tip, green
            if case == "soft":
                result.shapes = motion.centerline(handle, 50)[::4, :, :2]
    waves(result)
    result.critical["star"], result.chi = critical_step()
    for name, change, factor in (
        ("E", {"young": 100 * SOFT}, 100),
        ("rho", {"density": 80.0}, 0.01),
        ("l", {"length": 2.0}, 5),
    ):
        result.critical[name], _ = critical_step(**change)
        result.exponents[name] = float(np.log(result.critical[name] / result.critical["star"]) / np.log(factor))
    return result


def figures(folder, result=None):
    result = result or main()
    looks = (("full", COLOURS[0], "-"), ("reduced", COLOURS[1], "--"), ("core", COLOURS[2], ":"))
    with figure_style():
        fig = figure(13.0, 7.0)
        axes = fig.subplots(2, 3)
        for row, case in enumerate(("weak", "soft")):
            ax = axes[row, 0]
            for name, colour, line in looks:
                ax.plot(result.t[case], result.tip[case, name][:, 1], line, color=colour, label=name)
            title = "Figure 3 (a): 15 N tendon" if row == 0 else "Figure 4 (b): E / 100, 0.4 N"
            ax.set(title=title, xlabel="time [s]", ylabel="tip y [m]")
            ax.legend(frameon=False, ncols=3, fontsize=8, loc="lower left")
            ax.margins(y=0.2)
        ax = axes[0, 1]
        for k, shape in enumerate(result.wavy):
            last = k == len(result.wavy) - 1
            ax.plot(shape[:, 1], -shape[:, 0], color=COLOURS[1] if last else COLOURS[0], lw=1.0, alpha=0.8)
        ax.set(title="Figure 3 (b): explicit, 0.5 ms", xlabel="y [m]", ylabel="-x [m]", xlim=(-0.1, 0.3))
        ax.set_xticks((-0.1, 0.0, 0.1))
        inset = ax.inset_axes((0.64, 0.3, 0.36, 0.45))
        inset.plot(np.linspace(0.0, LENGTH, 60), result.wavy_curvature, color=COLOURS[1], lw=0.9)
        inset.set_title("K at the end [1/m]", fontsize=8)
        inset.set_xlabel("X [m]", fontsize=8)
        inset.tick_params(labelsize=7)
        ax = axes[0, 2]
        for (along, dt), (t, rough) in result.waves.items():
            colour = COLOURS[1] if along == "explicit" else COLOURS[0]
            ax.semilogy(t[1:], rough[1:], color=colour, lw=1.8 if dt < 1e-3 else 0.8)
            ax.annotate(f"{along}, {1e3 * dt:g} ms", (t[-1], rough[-1]), xytext=(-4, 5), textcoords="offset points",
                        ha="right", fontsize=8, color=colour)  # fmt: skip
        ax.set(title="short waves: second difference of K", xlabel="time [s]", ylabel="[1/m]")
        ax = axes[1, 1]
        for k, shape in enumerate(result.shapes):
            ax.plot(shape[:, 1], -shape[:, 0], color=COLOURS[0] if k else INK, lw=0.8, alpha=0.8)
        ax.set(title="Figure 4 (a): every 20 ms", xlabel="y [m]", ylabel="-x [m]", aspect="equal")
        ax.grid(color=FAINT)
        ax = axes[1, 2]
        for (case, steps), colour in zip(STEPS.items(), COLOURS, strict=False):
            for dt, line in zip(steps, ("--", "-", ":"), strict=True):
                values = [result.modes[case, dt, m] for m in MODES]
                ax.semilogy(MODES, values, "o" + line, color=colour, label=f"{case}, {1e3 * dt:g} ms", ms=4)
        ax.set(title="tip from the core, same steps [m]", xlabel="modes of the core")
        ax.legend(frameon=False, fontsize=8)
        ax.grid(color=FAINT)
        fig.savefig(Path(folder) / "test2_release.png", dpi=58)


if __name__ == "__main__":
    result = main()
    for case, steps in STEPS.items():
        for dt in steps:
            values = ", ".join(f"{1e3 * result.modes[case, dt, m]:.2e} ({m} modes)" for m in MODES)
            print(f"{case}, {1e3 * dt:g} ms: tip from the core with the same steps [mm]: {values}")
            print(f"  from the core with steps 8 times finer {1e3 * result.exact[case, dt]:.2f} mm")
        print(f"  form without accelerations from the full one {1e3 * result.reduced[case]:.2f} mm")
    for (along, dt), (t, rough) in result.waves.items():
        print(f"{along}, {1e3 * dt:g} ms: up to {t[-1]:.3f} s; second difference of K at the end {rough[-1]:.1e} 1/m")
    print("critical steps [s]:", result.critical, "prefactor", result.chi, "exponents", result.exponents)
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
