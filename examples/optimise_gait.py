"""Find the gait of an eel robot: the fastest one, and the one that takes least energy per distance at a given speed.

A robot of 0.6 m bends in a travelling wave whose envelope grows towards the tail. Amplitude, wavelength and period are free
within what its motors can do. Water is Lighthill's added mass with Morison's drag: this pair gives back no more energy than
it was given. A cross-entropy search: a generation of gaits is swum side by side by `simulate_batch`, the best quarter tells
where to look next. The fastest gait beats as quickly as it may, with a long wave; the thrifty one slowly and widely, with a
short wave.
"""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.stats.qmc import Halton

import anguilla as ag
from anguilla.view.style import COLOURS, FAINT, figure, figure_style

LENGTH = 0.6  # [m]
LOW, HIGH = np.array([2.0, 0.3, 0.5]), np.array([8.0, 1.2, 1.5])  # amplitude [rad/m], wavelength [m], period [s]
NAMES = ("amplitude", "wavelength", "period")
WANTED = 0.2  # [m/s], of the thrifty gait
BEATS, STEPS = 8, 40  # beats to swim, steps in each
GENERATIONS, SIZE, BEST = 7, 16, 4


@dataclass
class Found:
    gait: np.ndarray  # amplitude [rad/m], wavelength [m], period [s]
    speed: float  # over the last beat [m/s]
    cost: float  # [J/(kg m)]
    history: np.ndarray  # (generations, 3) of the best of each


@dataclass
class Result:
    fastest: Found
    thrifty: Found


@cache
def robot_of(gait):
    """The robot with a gait (amplitude, wavelength, period); each is described once, as both searches begin alike."""
    amplitude, wavelength, period = gait
    wave = ag.TravellingWave((0.4 * amplitude, 0.6 * amplitude / LENGTH), wavelength, period, ramp=(0.0, period))
    body = ag.EllipticProfile(
        lambda X: 0.016 * np.sqrt(np.maximum(1 - (X / LENGTH - 0.5) ** 2 / 0.26, 0.0)),
        lambda X: 0.035 * np.sqrt(np.maximum(1 - (X / LENGTH - 0.6) ** 2 / 0.4, 0.0)),
    )
    robot = ag.Robot("eel", gravity=(0, 0, 0))
    rod = ag.Rod(LENGTH, body, ag.Material(1e4, 1000.0), shape=wave, intervals=20)
    eel = robot.add(rod, at=robot.ground, joint=ag.Free(), name="eel")
    robot.load(ag.Lighthill(eel))
    robot.load(ag.Morison(eel, added=0.0, added_spin=0.0, axial=0.02))
    return robot


def swim(gaits):
    """(speed, cost) of gaits (m, 3) over their last beat; periods differ, so each has its own step."""
    out = np.zeros((len(gaits), 2))
    for k, run in enumerate(batch(gaits)):
        last = ag.strides(run, run.robot.part("eel").root, period=gaits[k][2], last=1)
        out[k] = last.speed[-1], last.cost_of_transport[-1]
    return out


def batch(gaits):
    """Motions of many gaits: all periods are simulated as whole numbers of their own steps."""
    runs = []
    for period in sorted({float(g[2]) for g in gaits}):
        same = [k for k, g in enumerate(gaits) if g[2] == period]
        dt = period / STEPS
        swum = ag.simulate_batch(robot_of, parameters=[tuple(gaits[k]) for k in same], duration=BEATS * period, dt=dt)
        runs += list(zip(same, swum, strict=True))
    return [run for _, run in sorted(runs, key=lambda pair: pair[0])]


def penalty(goal, swum):
    """What the search makes small: minus the speed, or the cost with a price on too little speed."""
    speed, cost = swum.T
    return -speed if goal == "fastest" else cost * (1.0 + 20.0 * np.maximum(0.0, WANTED / speed - 1.0))


def search(goal, generations=GENERATIONS, size=SIZE):
    """Cross-entropy search: the first generation is spread over the whole box."""
    rng = np.random.default_rng(0)
    mean, spread = 0.5 * (LOW + HIGH), 0.5 * (HIGH - LOW)
    best, value, told, history = mean, np.inf, np.zeros(2), []
    for k in range(generations):
        spot = rng.normal(size=(size, 3)) if k else 2.0 * Halton(3, rng=0).random(size) - 1.0
        gaits = np.clip(mean + spread * spot, LOW, HIGH)
        gaits[:, 2] = np.round(gaits[:, 2], 1)  # gaits of one period share a batch
        swum = swim(gaits)
        order = np.argsort(penalty(goal, swum))
        if penalty(goal, swum)[order[0]] < value:
            best, value, told = gaits[order[0]], penalty(goal, swum)[order[0]], swum[order[0]]
        elite = gaits[order[:BEST]]
        mean, spread = elite.mean(axis=0), 0.3 * spread + 0.7 * elite.std(axis=0)
        history.append(best)
    return Found(best, float(told[0]), float(told[1]), np.array(history))


def main():
    return Result(search("fastest"), search("thrifty"))


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.6, 3.0)
        for ax, name, k in zip(fig.subplots(1, 3), NAMES, range(3), strict=True):
            for found, colour, label in (
                (result.fastest, COLOURS[0], "fastest"),
                (result.thrifty, COLOURS[1], "thrifty"),
            ):
                ax.plot(1 + np.arange(len(found.history)), found.history[:, k], "o-", ms=3, color=colour, label=label)
            for bound in (LOW[k], HIGH[k]):
                ax.axhline(bound, color=FAINT, lw=0.8)
            ax.set(title=f"{name} [{('rad/m', 'm', 's')[k]}]", xlabel="generation")
        fig.axes[0].legend(frameon=False, fontsize=8)
        fig.savefig(Path(folder) / "optimise_gait.png", dpi=100)


if __name__ == "__main__":
    result = main()
    for label, found in (("fastest", result.fastest), ("thrifty", result.thrifty)):
        told = ", ".join(f"{name} {value:.2f}" for name, value in zip(NAMES, found.gait, strict=True))
        print(f"{label}: {told}: {found.speed:.3f} m/s, {found.cost:.3f} J/(kg m)")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
