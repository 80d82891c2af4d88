"""Paper 004, X.A (figure 6, Table I): two rods fly freely in space after a push and a twist at one end.

The soft rod is that of Simo and Vu-Quoc: 10 m, EI = GJ = 500 N m^2, EA = GA = 1e4 N, 1 kg/m, rotary inertia 10 kg m
about every axis. The stiff one has 1 m, E = 1 MPa, 1000 kg/m^3 and a diameter of 0.1 m. The loads are only drawn in
the paper: here the force (T/10, 0, 0) and the moment (0, T/2, T) act at the lower end of the soft rod, with T rising
to 200 at 2.5 s and gone at 5 s. On the stiff rod it is a stroke of 0.2 s with the peak of 10.7 N m that 003 gives for
this rod: the force (T, 0, 0) and the moment (0.4 T, 0.3 T, T), normal to the rod (a long moment that is fixed in
space spins this rod about its axis by 100 rad/s, one radian in each step of 10 ms). Neither gravity nor damping.

The soft rod is compared with a run of another program, 64 geometrically exact elements (benchmarks/reference), which
stretch and shear: so does the rod here that is compared (reissner). The Kirchhoff rods of the paper, with three modes
for each curvature and for the twist, are another model. `realtime()` times the four rods of Table I with the settings
of the paper. Its steps of 10 ms serve the soft rod; the stiff one, which spins fast, is a third of its length off after
10 s with them, and takes 1 ms here.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import colormaps

import anguilla as ag
from anguilla.view.style import COLOURS, TIME_MAP, figure, figure_style

REFERENCE = Path(__file__).parents[1] / "benchmarks" / "reference" / "flying_soft_ge64_1e-3.npz"
DURATION, DT = 10.0, 0.01  # [s], as in the paper
KEPT = 0.05  # [s]


@dataclass
class SimoRod(ag.Rod):
    """A rod whose stiffness is given as such: the numbers of the soft rod are not those of any one material."""

    def hooke(self, X):
        return np.tile([500.0, 500.0, 500.0, 1e4, 1e4, 1e4], (np.size(X), 1))


@dataclass
class Result:
    soft: dict[str, ag.Trajectory]  # "kirchhoff" (3 modes), "reissner 4", "reissner 8": the latter two for 5 s
    stiff: dict[int, ag.Trajectory]  # Kirchhoff, by number of modes
    off: dict[str, np.ndarray]  # distances (time,) of the ends of the soft rod from the reference, larger one [m]


def triangle(t):
    """T(t) of the soft rod."""
    return 80.0 * t if t <= 2.5 else max(0.0, 400.0 - 80.0 * t)


def stroke(t):
    """T(t) of the stiff rod."""
    return 10.7 * max(0.0, 1.0 - abs(t - 0.1) / 0.1)


def flying(rod, first, force, moment):
    """A free rod that starts at `first` along (-0.6, 0.8, 0), loaded at its root."""
    robot = ag.Robot("flyer", gravity=(0, 0, 0))
    pose = np.eye(4)
    pose[:3, :3] = np.array([[-0.6, -0.8, 0.0], [0.8, -0.6, 0.0], [0.0, 0.0, 1.0]])
    pose[:3, 3] = first
    flyer = robot.add(rod, at=robot.ground, joint=ag.Free(), pose=pose, name="rod")
    robot.load(ag.Wrench(flyer.root, force=force, moment=moment))
    return robot


def soft(strains, intervals=None):
    """The soft flying rod."""
    section = ag.GeneralSection(1.0, 10.0, 10.0, 10.0, polar=10.0, width=0.5)
    rod = SimoRod(10.0, section, ag.Material(50.0, 1.0, shear=50.0), strains, intervals=intervals)
    force, moment = lambda t: (0.1 * triangle(t), 0.0, 0.0), lambda t: (0.0, 0.5 * triangle(t), triangle(t))
    return flying(rod, (6.0, 0.0, 0.0), force, moment)


def stiff(strains, intervals=None):
    """The stiff flying rod."""
    rod = ag.Rod(1.0, ag.Circle(0.05), ag.Material(1e6, 1e3, poisson=0.5), strains, intervals=intervals)
    force, moment = lambda t: (stroke(t), 0.0, 0.0), lambda t: (0.4 * stroke(t), 0.3 * stroke(t), stroke(t))
    return flying(rod, (0.6, 0.0, 0.0), force, moment)


def fly(robot, dt=DT, duration=DURATION, **options):
    """Simulate, keeping a state every 0.05 s."""
    return ag.simulate(robot, duration=duration, dt=dt, every=round(KEPT / dt), **options)


def ends(run):
    """Positions (time, 3) of root and tip [m]."""
    rod = run.robot.part("rod")
    return run.position(rod.root), run.position(rod.tip)


def reference(t):
    """Positions of the ends at the times t, multiples of 5 ms up to 5 s."""
    with np.load(REFERENCE) as data:
        rows = np.rint(t / 0.005).astype(int)
        return data["A"][rows], data["B"][rows]


def distance(run):
    """Largest distance (time,) of the two ends from the reference, up to 5 s [m]."""
    kept = run.t <= 5.0 + 1e-9
    pairs = zip(ends(run), reference(run.t[kept]), strict=True)
    return np.max([np.linalg.norm(a[kept] - b, axis=1) for a, b in pairs], axis=0)


def main():
    runs = {"kirchhoff": fly(soft(ag.kirchhoff(3)))}
    for modes in (4, 8):
        runs[f"reissner {modes}"] = fly(soft(ag.reissner(modes)), dt=DT / 2, duration=5.0)
    hard = {modes: fly(stiff(ag.kirchhoff(modes)), dt=DT / 10) for modes in (3, 6)}
    return Result(runs, hard, {name: distance(run) for name, run in runs.items()})


def realtime(repeat=10):
    """Simulation time over real time of the four rods of Table I: Kirchhoff, 3 modes for each strain, steps of 10 ms.

    The best of some repetitions of the motion alone (compiled kernels, known start).
    """
    cases = {}
    for name, length, radius, density, young, force, duration in (
        ("stiff cantilever", 0.4, 1e-3, 8000.0, 2e9, 10.0, 1.0),
        ("soft cantilever", 10.0, 5e-3, 7800.0, 1e11, 50.0, 10.0),
    ):
        robot = ag.Robot("rod", gravity=(9.81, 0, 0))
        rod = robot.add(
            ag.Rod(length, ag.Circle(radius), ag.Material(young, density, poisson=0.5), ag.kirchhoff(3)),
            at=robot.ground,
        )
        push = robot.load(ag.TipWrench(rod, force=(0.0, force, 0.0)))
        with warnings.catch_warnings():  # three modes, as in the paper, are too few for the first of these shapes
            warnings.simplefilter("ignore", ag.AnguillaWarning)
            held = ag.statics(robot)
        push.force = (0.0, 0.0, 0.0)
        cases[name] = robot, duration, held
    cases["stiff flying rod"] = stiff(ag.kirchhoff(3)), DURATION, None
    cases["soft flying rod"] = soft(ag.kirchhoff(3)), DURATION, None
    ratios = {}
    for name, (robot, duration, start) in cases.items():
        with warnings.catch_warnings(action="ignore", category=ag.AnguillaWarning):  # steps as long as the paper's
            runs = [ag.simulate(robot, duration=duration, dt=DT, start=start, tolerance=1e-5) for _ in range(repeat)]
        ratios[name] = min(run.status.seconds for run in runs) / duration
    return ratios


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.6, 6.4)
        for row, (name, run) in enumerate((("soft", result.soft["kirchhoff"]), ("stiff", result.stiff[3]))):
            lines = run.centerline(run.robot.part("rod"), 40)[::10]
            for column, (i, j) in enumerate(((0, 2), (1, 2))):
                ax = fig.add_subplot(2, 2, 2 * row + column + 1, aspect="equal")
                for k, line in enumerate(lines):
                    ax.plot(line[:, i], line[:, j], color=colormaps[TIME_MAP](0.92 * k / (len(lines) - 1)), lw=1.3)
                a, b = "xyz"[i], "xyz"[j]
                ax.set(xlabel=f"{a} [m]", ylabel=f"{b} [m]", title=f"Figure 6: {name} rod every 0.5 s, plane {a}, {b}")
        fig.savefig(Path(folder) / "flying_snapshots.png", dpi=95)

        fig = figure(9.6, 3.0)
        tip, error = fig.subplots(1, 2)
        run = result.soft["reissner 8"]
        _, exact = reference(run.t)
        for k, name in enumerate("xyz"):
            tip.plot(run.t, exact[:, k], color=COLOURS[k], lw=4, alpha=0.3)
            tip.plot(run.t, ends(run)[1][:, k], color=COLOURS[k], lw=1.0)
            tip.annotate(name, (5.0, exact[-1, k]), xytext=(5, -3), textcoords="offset points", color=COLOURS[k])
        tip.set(
            xlabel="time [s]", ylabel="upper end [m]", title="soft rod, 8 modes of 6 strains, and the reference (wide)"
        )
        for k, (name, off) in enumerate(result.off.items()):
            label = "Kirchhoff, 3 modes" if name == "kirchhoff" else f"Reissner, {name.split()[1]} modes"
            error.plot(run.t[1:], off[1:], color=COLOURS[k], label=label)
        error.set(xlabel="time [s]", yscale="log", title="distance of the ends from the reference [m]")
        error.legend(frameon=False, fontsize=8)
        fig.savefig(Path(folder) / "flying_ends.png", dpi=110)


if __name__ == "__main__":
    result = main()
    for name, off in result.off.items():
        print(f"soft, {name}: {off[60]:.4f} m from the reference at 3 s, {off[-1]:.4f} m at 5 s")
    three, six = (np.concatenate(ends(run), axis=1) for run in result.stiff.values())
    print(f"stiff: 3 and 6 modes differ by {np.abs(three - six).max():.1e} m")
    print("simulation time over real time:", {name: f"{ratio:.1e}" for name, ratio in realtime().items()})
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
