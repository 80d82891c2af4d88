"""Paper 000, test 4 (figures 8 to 10): the beam of test 1 is rolled up by a torque at its tip and let go.

The torques are 0.8, 2.3 and 5.4 N m (1.0, 2.9 and 6.9 rad over the beam), without gravity, with a damping time of 1 ms
and Chebyshev polynomials for the curvature, five of them in the figures. The paper draws snapshots every 0.12 s and the
tip over time, and measures the convergence over the number n of modes by (61): eps(n + 1 / n), the mean over time of
the integral of the squared difference between the curvatures of n + 1 and of n modes.

All three figures and the measure are remade here. Radius 0.01 m and rotary inertia are as the errata say. The paper
writes K2 for the curvature; the beam being round, K3 is used, which bends it in the plane (x, y). Every n has the same
40 intervals, so that (61) compares modes and nothing else.
"""

import sys
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

import anguilla as ag
from anguilla.view.style import COLOURS, FAINT, INK, TIME_MAP, figure, figure_style

LENGTH, RADIUS, YOUNG, DENSITY, MU = 1.0, 0.01, 1e8, 1000.0, 1e-3  # SI; radius: errata
EI = YOUNG * np.pi * RADIUS**4 / 4  # [N m^2]
TORQUES = (0.8, 2.3, 5.4)  # [N m]
MODES = range(1, 9)
DURATION, DT, KEPT = 1.5, 5e-4, 0.0025  # [s]: simulated, step, interval between stored states
X = np.linspace(0.0, LENGTH, 101)


@dataclass
class Result:
    runs: dict[tuple[float, int], ag.Trajectory]  # by (torque, number of modes)
    eps: dict[float, np.ndarray]  # eps(n + 1 / n) for n = 1, 2, ..., by torque [1/m]
    step_error: dict[float, float]  # largest move of the tip over time when the step is halved, n = 5 [m]

    def tip(self, torque, modes=5):
        """Position (time, 2) [m] of the tip."""
        run = self.runs[torque, modes]
        return run.position(run.robot.part("beam").tip)[:, :2]

    def shapes(self, torque, modes, times):
        """Centrelines (times, points, 2) [m] at the given times [s]."""
        run = self.runs[torque, modes]
        return run.centerline(run.robot.part("beam"), 100)[np.rint(np.asarray(times) / KEPT).astype(int), :, :2]


@cache
def beam(torque, modes):
    """The beam under a torque at its tip [N m]."""
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    material = ag.Material(YOUNG, DENSITY, damping=MU)
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), material, ag.Strains(bend_z=ag.Chebyshev(modes)), intervals=40)
    robot.load(ag.TipWrench(robot.add(rod, at=robot.ground, name="beam"), moment=(0.0, 0.0, torque)))
    return robot


def release(torque, modes, dt=DT):
    """Let the beam go from its equilibrium under a torque."""
    held = ag.statics(beam(torque, modes))
    # a looser tolerance would hide the convergence of the time step at 5.4 N m
    how = {"duration": DURATION, "dt": dt, "start": held, "every": round(KEPT / dt), "tolerance": 1e-9}
    with warnings.catch_warnings(action="ignore", category=ag.AnguillaWarning):  # of few modes: how few is the question
        return ag.simulate(beam(0.0, modes), **how)


def curvature(run):
    """K3 (time, X) [rad/m]."""
    return run.strain(run.robot.part("beam"), X)[:, :, 2]


def eps(more, fewer):
    """The measure (61) between two runs, over the whole simulation."""
    return np.trapezoid(np.trapezoid((curvature(more) - curvature(fewer)) ** 2, X), more.t) / DURATION


def main():
    runs = {(C, n): release(C, n) for C in TORQUES for n in MODES}
    measure = {C: np.array([eps(runs[C, n + 1], runs[C, n]) for n in MODES[:-1]]) for C in TORQUES}
    result = Result(runs, measure, {})
    for C in TORQUES:
        halved = Result({(C, 5): release(C, 5, DT / 2)}, {}, {})
        result.step_error[C] = float(np.max(np.linalg.norm(halved.tip(C) - result.tip(C), axis=1)))
    return result


def figures(folder, result=None):
    result = result or main()
    times = 0.12 * np.arange(9)
    hue = colormaps[TIME_MAP]
    with figure_style():
        fig = figure(9.6, 3.9)
        for ax, C in zip(fig.subplots(1, 3, sharex=True, sharey=True), TORQUES, strict=True):
            first = result.runs[C, 5].t <= 1.0
            ax.plot(*result.tip(C)[first].T, ":", color=INK, lw=0.8)
            for t, shape in zip(times, result.shapes(C, 5, times), strict=True):
                ax.plot(*shape.T, color=hue(0.9 * t))
            ax.set(title=f"Figure 8: {C} N m", xlabel="x [m]", aspect="equal", xlim=(-0.55, 1.05), ylim=(-1.02, 1.02))
        fig.axes[0].set_ylabel("y [m]")
        bar = fig.colorbar(ScalarMappable(Normalize(0, 1 / 0.9), hue), ax=fig.axes, ticks=times, label="time [s]")
        bar.ax.set_ylim(0, 0.98)
        fig.savefig(Path(folder) / "test4_snapshots.png", dpi=120)

        fig = figure(9.6, 3.0)
        x, y, modes = fig.subplots(1, 3)
        for C, colour, lift in zip(TORQUES, COLOURS, (-10, 2, -3), strict=False):
            for k, ax in enumerate((x, y)):
                tip = result.tip(C)[:, k]
                ax.plot(result.runs[C, 5].t, tip, color=colour)
                ax.annotate(f"{C}", (DURATION, tip[-1]), xytext=(4, -3), textcoords="offset points", color=colour)
            percent = 100 * result.eps[C] / result.eps[C][0]
            modes.plot(MODES[:-1], percent, "o-", color=colour, ms=4)
            modes.annotate(f"{C}", (7, percent[-1]), xytext=(6, lift), textcoords="offset points", color=colour)
        x.set(title="Figure 9: abscissa of the tip, by torque in N m", xlabel="time [s]", ylabel="x [m]")
        y.set(title="ordinate of the tip", xlabel="time [s]", ylabel="y [m]")
        modes.axhline(1.0, color=INK, lw=0.8, ls=":")
        modes.set(title="eps(n + 1 / n) over eps(2 / 1) [%]", xlabel="n", yscale="log", ylim=(1e-3, 200))
        fig.savefig(Path(folder) / "test4_tip.png", dpi=120)

        fig = figure(9.6, 4.0)
        for ax, t in zip(fig.subplots(1, 2, sharey=True), (1.0, 1.5), strict=True):
            shapes = {n: result.shapes(2.3, n, [t])[0] for n in (5, 1, 2, 3, 4)}
            end = shapes[5][-1]
            lens = ax.inset_axes((1.15, -0.6, 1.2, 1.2), transform=ax.transData, aspect="equal", xticks=(), yticks=())
            lens.set(xlim=end[0] + np.array([-0.13, 0.07]), ylim=end[1] + np.array([-0.1, 0.1]))
            lens.spines[["top", "right"]].set_visible(True)
            for n, shape in shapes.items():
                look = {"color": FAINT, "lw": 5.0} if n == 5 else {"color": COLOURS[n - 1]}
                ax.plot(*shape.T, **look)
                lens.plot(*shape.T, **look)
                if n > 1:
                    name, colour = ("n = 5 (wide)", INK) if n == 5 else (f"n = {n}", COLOURS[n - 1])
                    lens.text(0.23 * (n - 2), 1.03, name, color=colour, transform=lens.transAxes)
            ax.indicate_inset((end[0] - 0.13, end[1] - 0.1, 0.2, 0.2), edgecolor=INK)
            ax.annotate("n = 1", shapes[1][-1], xytext=(-14, 6), textcoords="offset points", color=COLOURS[0])
            ax.set(
                title=f"Figure 10: 2.3 N m, t = {t} s",
                xlabel="x [m]",
                aspect="equal",
                xlim=(-0.05, 2.4),
                ylim=(-0.8, 1.0),
            )
        fig.axes[0].set_ylabel("y [m]")
        fig.savefig(Path(folder) / "test4_modes.png", dpi=120)


if __name__ == "__main__":
    result = main()
    for C in TORQUES:
        percent = 100 * result.eps[C] / result.eps[C][0]
        print(f"{C} N m: eps(n + 1 / n) / eps(2 / 1) [%]", *(f"{value:.3g}" for value in percent))
        print(f"         half the time step moves the tip by {1e3 * result.step_error[C]:.2f} mm at most")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
