"""Paper 003, test 4, by the core (figures 6 and 7): the fish of `paper003_test4_swimmer`, on a basis of strains.

Forward dynamics: a muscle with the law (92), gain 50 N m^2, drives the curvature K2 towards the travelling wave (93)-(95);
Lighthill's water (90)-(91) pushes the fish. Inverse dynamics: the wave is the prescribed shape of the rod.
The forward motion tends to the inverse one as the gain grows. Geometry and axes as in the errata (003.6 to 003.10): bending
about t2, height along t2, lateral axis t3. There is no drag: the speed goes on rising. Swimming forward is V1 < 0.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, FAINT, figure, figure_style

LENGTH, PERIOD, DURATION, DT = 1.0, 1.0, 10.0, 0.01
GAIN, GAINS = 50.0, (50.0, 200.0, 800.0)  # [N m^2]
MODES, INTERVALS = 12, 32


@dataclass
class Result:
    inverse: ag.Trajectory  # prescribed wave
    forward: dict[float, ag.Trajectory]  # by gain of the muscle

    def speed(self, run):
        """V1 (time,) of the head [m/s]."""
        return run.twist(run.robot.part("fish").root)[:, 3]

    def gap(self, gain):
        """Largest difference of V1 from the prescribed wave, over its size."""
        exact = self.speed(self.inverse)
        return float(np.max(np.abs(self.speed(self.forward[gain]) - exact)) / np.max(np.abs(exact)))


def half_width(X):
    return 0.05 * np.sqrt(np.maximum(1.0 - ((X - 0.505) / 0.505) ** 2, 0.0))


def half_height(X):
    return 0.08 * np.sqrt(np.maximum(1.0 - ((X - 0.7) / 0.7) ** 2, 0.0))


def wave():
    """K2 of (93)-(95)."""
    return ag.TravellingWave((1.0, 0.5, 2.0), wavelength=1.0, period=PERIOD, strain="bend_y")


def fish(gain=None, *, modes=MODES, intervals=INTERVALS):
    """The fish with a muscle of this gain, or with the wave prescribed."""
    robot = ag.Robot("fish", gravity=(0, 0, 0))
    gait = wave()
    own = dict(shape=gait) if gain is None else dict(strains=ag.Strains(bend_y=modes))
    body = ag.EllipticProfile(half_height, half_width)
    rod = ag.Rod(LENGTH, body, ag.Material(1.0, 1000.0), intervals=intervals, **own)
    handle = robot.add(rod, at=robot.ground, joint=ag.Free(), name="fish")
    robot.load(ag.Lighthill(handle, name="water"))
    if gain is not None:
        robot.load(ag.Muscle(handle, gain=(0.0, gain, 0.0, 0.0, 0.0, 0.0), curvature=gait))
    return robot


def main(duration=DURATION):
    inverse = ag.simulate(fish(), duration=duration, dt=DT)
    return Result(inverse, {gain: ag.simulate(fish(gain), duration=duration, dt=DT) for gain in GAINS})


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.6, 3.6)
        left, right = fig.subplots(1, 2)
        left.plot(result.inverse.t, result.speed(result.inverse), color=COLOURS[0], label="prescribed wave")
        for (gain, run), colour in zip(result.forward.items(), COLOURS[1:], strict=False):
            left.plot(run.t, result.speed(run), "--", color=colour, lw=1.1, label=f"muscle, {gain:g} N m^2")
        left.set(title="Figure 6 (b): axial velocity of the head", xlabel="time [s]", ylabel="V1 [m/s]")
        left.legend(frameon=False, fontsize=8, loc="lower left")
        left.grid(color=FAINT)
        run = result.forward[GAIN]
        for k, shape in enumerate(run.centerline(run.robot.part("fish"), 40)[: round(2.0 / DT) + 1 : 20]):
            right.plot(shape[:, 0], shape[:, 2] - 0.25 * k, color=COLOURS[0], lw=1.6)
            right.plot(shape[0, 0], shape[0, 2] - 0.25 * k, "o", color=COLOURS[1], ms=4)
        right.set(title="Figure 7: every 0.2 s, shifted down", xlabel="x [m]", ylabel="z [m]", aspect="equal")
        fig.savefig(Path(folder) / "test4_fish_core.png", dpi=110)


if __name__ == "__main__":
    result = main()
    for gain, run in result.forward.items():
        print(
            f"{gain:g} N m^2: V1 within {100 * result.gap(gain):.2f} %, {run.status.seconds / DURATION:.3f} of real time"
        )
    print(f"prescribed: {result.inverse.status.seconds / DURATION:.3f} of real time, V1 at the end", end=" ")
    print(f"{result.speed(result.inverse)[-1]:.4f} m/s")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figures(folder, result)
    ag.animate(result.forward[GAIN], folder / "fish.html")
