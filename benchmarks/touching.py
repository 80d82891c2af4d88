"""A snake, a coil, a knot and a plectoneme against PyElastica: what both solve, their errors, and the ratio of times at equal error.

    python benchmarks/touching.py --repeat 3                      # Anguilla, from coarse to fine
    python benchmarks/touching.py --peer PYTHON                   # and PyElastica, run by that Python; a table with ratios
    python benchmarks/touching.py --only snake

snake: a wave of active moments runs along a soft rod that lies on the ground, whose friction is less forward than backward
and sideways (the rod, the friction and the period are those of PyElastica's continuum snake). Error: largest distance of head,
middle and tail at four instants from the reference, over the length.

coil: a helical spring of five turns is compressed between two clamps until its turns press each other. Error: largest distance
of three points of the wire at four instants, over the diameter of the coil.

knot: a rope with an overhand knot, as `examples/overhand_knot.py` ties it, is pulled by its end. Error: that of the radius of
the loop, from the energy of bending, at three instants. Both programs start from the same shape.

plectoneme: a rod whose ends are clamped on one axis is turned, and its ends come nearer, until it has wound itself up, as in
`examples/plectoneme.py`, which compares it with theory. Error: the larger one of those of tension and moment at rest, as parts
of them. (PyElastica's solenoid is of the same kind: a stretched rod is turned until it coils.)

The reference is Anguilla's finest setting; how far the next coarser one and PyElastica's finest one are from it is told. The
laws of contact and of friction near rest differ, so that two programs may agree to a few per cent only. Times are those of the
loop, and of the whole call: description, reading and Anguilla's judging of its motion, warm.
Only NumPy above the imports of Anguilla: the script of the peer reads the cases from here.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import json
import math
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from cases import interpolate
from measure import looped, record, rounded, show

if TYPE_CHECKING:
    from anguilla import Trajectory

GRAVITY = 9.80665  # [m/s^2]


@dataclass(frozen=True, slots=True)
class Snake:
    """A soft rod on the ground along x; s = 1 - X / length runs from the tip."""

    length: float = 0.35  # [m]
    radius: float = 0.00385  # [m]
    density: float = 1000.0  # [kg/m^3]
    young: float = 1e6  # [Pa]
    shear: float = 1e6 / 1.5  # [Pa]
    period: float = 2.0  # [s]
    moment: float = 3.5e-3  # of the wave, at the middle [N m]
    check: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0)  # [s]

    @property
    def friction(self) -> tuple[float, float, float]:
        """Forward, backward and sideways: Froude's number is a tenth."""
        mu = self.length / (self.period**2 * GRAVITY * 0.1)
        return mu, 1.5 * mu, 2.0 * mu

    def wave(self, s: np.ndarray, t: float) -> np.ndarray:
        """Active moment [N m], about the vertical."""
        return min(1.0, t / self.period) * 4.0 * self.moment * s * (1.0 - s) * np.sin(2 * np.pi * (t / self.period - s))

    def couple(self, X: float, part: str) -> tuple[float, float, float]:
        """What it puts on the rod per length [N], its derivative: the part that goes with the sine or the cosine in time."""
        s = 1.0 - X / self.length
        sine, cosine = math.sin(2 * math.pi * s), math.cos(2 * math.pi * s)
        rise, level = 1.0 - 2.0 * s, 2 * math.pi * s * (1.0 - s)
        slope = rise * cosine - level * sine if part == "sine" else -rise * sine - level * cosine
        return 0.0, 0.0, 4.0 * self.moment * slope / self.length

    def swing(self, t: float, part: str) -> float:
        """How that part goes in time."""
        phase = 2 * math.pi * t / self.period
        return min(1.0, t / self.period) * (math.sin(phase) if part == "sine" else math.cos(phase))


@dataclass(frozen=True, slots=True)
class Coil:
    """A helical spring along z from its clamp at the origin, in honey."""

    radius: float = 0.002  # of the wire [m]
    around: float = 0.01  # of the coil [m]
    pitch: float = 0.008  # [m]
    turns: float = 5.0
    density: float = 1100.0  # [kg/m^3]
    young: float = 1e7  # [Pa]
    shear: float = 1e7 / 3.0  # [Pa]
    drag: float = 40.0  # over the mass [1/s]
    press: float = 0.021  # [m]; all turns touch when it is 0.02
    ramp: float = 0.8  # [s]
    check: tuple[float, ...] = (0.4, 0.6, 0.8, 1.0)  # [s]

    @property
    def length(self) -> float:
        """Of the wire [m]."""
        return float(self.turns * np.hypot(2.0 * np.pi * self.around, self.pitch))

    def shape(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places (m, 3) [m] and axes (m, 3, 3), of the curve in columns: tangent, normal, binormal; s = X / length."""
        turn, rise = 2.0 * np.pi * self.turns, self.pitch * self.turns
        c, d, one = np.cos(turn * s), np.sin(turn * s), np.ones_like(s)
        x = np.stack([self.around * (c - 1.0), self.around * d, rise * s], axis=1)
        tangent = np.stack([-self.around * turn * d, self.around * turn * c, rise * one], axis=1) / self.length
        normal = np.stack([-c, -d, 0.0 * one], axis=1)
        return x, np.stack([tangent, normal, np.cross(tangent, normal)], axis=2)

    def pressed(self, t: float) -> float:
        """How far the end has come down [m]."""
        x = min(max(t / self.ramp, 0.0), 1.0)
        return self.press * x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


@dataclass(frozen=True, slots=True)
class Knot:
    """A rope that is clamped at the origin, and whose tip is pulled along x, in water."""

    length: float = 1.0  # [m]
    radius: float = 0.004  # [m]
    density: float = 1000.0  # [kg/m^3]
    young: float = 2.5e6  # [Pa]
    shear: float = 2.5e6 / 3.0  # [Pa]
    drag: float = 1.0  # per length and speed [N s/m^2]; over the mass, on turning too
    pulled: float = 0.1  # [m]
    ramp: float = 2.0  # [s]
    check: tuple[float, ...] = (1.0, 2.0, 3.0)  # [s]

    @property
    def bending(self) -> float:
        """B [N m^2]."""
        return self.young * np.pi / 4 * self.radius**4

    def pull(self, t: float) -> float:
        """Way of the tip [m]."""
        x = min(max(t / self.ramp, 0.0), 1.0)
        return self.pulled * x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


@dataclass(frozen=True, slots=True)
class Plectoneme:
    """A rod along x from its clamp at the origin, in honey; its other end is turned, then comes nearer."""

    length: float = 1.0  # [m]
    radius: float = 0.01  # [m]
    density: float = 1000.0  # [kg/m^3]
    young: float = 2.5e6  # [Pa]
    shear: float = 2.5e6 / 3.0  # [Pa]
    drag: float = 5.0  # per length and speed [N s/m^2]
    slack: tuple[float, float] = (0.01, 0.55)  # at first, at last [m]
    turn: float = 50.0  # [rad]
    turned: float = 1.0  # [s]
    nearing: tuple[float, float] = (1.5, 3.5)  # from, until [s]
    check: tuple[float, ...] = (5.0,)  # [s], at rest
    tension: float = 11.5  # unit of the tension that is followed [N], about what it is
    moment: float = 0.38  # the same of the moment [N m]

    def smooth(self, x: float) -> float:
        """From 0 to 1."""
        x = min(max(x, 0.0), 1.0)
        return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)

    def way(self, t: float) -> float:
        """How far the end has come nearer since the start [m]."""
        first, last = self.nearing
        return (self.slack[1] - self.slack[0]) * self.smooth((t - first) / (last - first))

    def angle(self, t: float) -> float:
        """Of the end [rad]."""
        return self.turn * self.smooth(t / self.turned)


SNAKE, COIL, KNOT, PLECTONEME = Snake(), Coil(), Knot(), Plectoneme()


@dataclass(frozen=True, slots=True)
class Setting:
    """Modes or pieces of bending, the step, and what else is chosen; None stands for the default of the library or the case."""

    modes: int
    dt: float  # [s]
    intervals: int
    tolerance: float | None = None
    spacing: float = 0.5  # of points that touch, over the radius
    left: float = 0.9  # of the highest frequencies after a step
    stiffness: float | None = (
        None  # of what touches in the knot [N/m^2]; by default that of line contact, from the material
    )


def snake(setting: Setting):
    """The motion, and places (m, 3, 3) [m] of head, middle and tail."""
    import anguilla as ag

    case = SNAKE
    robot = ag.Robot("snake", gravity=(0, 0, -GRAVITY))
    material = ag.Material(case.young, case.density, poisson=0.5 * case.young / case.shear - 1.0)
    strains = ag.kirchhoff(setting.modes, twist_modes=2 if setting.modes < 9 else 3)  # it rolls: both bend
    rod = ag.Rod(case.length, ag.Circle(case.radius), material, strains, intervals=setting.intervals)
    stiff = 500.0  # [N/m^2]
    sunk = case.density * np.pi * case.radius**2 * GRAVITY / stiff
    body = robot.add(rod, at=robot.ground.offset_by((0, 0, case.radius - sunk)), joint=ag.Free(), name="snake")
    inputs = {}
    for part in ("sine", "cosine"):  # a wave is the sum of two that stand
        shape = robot.input(part, "-").along(partial(case.couple, part=part))
        robot.load(ag.DistributedWrench(body, moment=shape, name=f"{part}_wave"))
        inputs[part] = partial(case.swing, part=part)
    robot.load(ag.Contact(body, ag.HalfSpace(), stiff, damping=1.0, friction=case.friction, slip=1e-3))
    run = ag.simulate(
        robot, duration=case.check[-1], dt=setting.dt, inputs=inputs, tolerance=setting.tolerance,
        method=ag.GeneralisedAlpha(setting.left), progress=False,
    )  # fmt: skip
    places = [run.position(frame) for frame in (body.root, body.section(0.5 * case.length), body.tip)]
    return run, np.stack(places, axis=1)


def coil(setting: Setting):
    """The motion, and places (m, 3, 3) [m] of the wire at its quarters."""
    import anguilla as ag

    case, robot = COIL, ag.Robot("coil", gravity=(0, 0, 0))
    material = ag.Material(case.young, case.density, poisson=0.5 * case.young / case.shear - 1.0)
    strains = ag.kirchhoff(setting.modes, twist_modes=max(2, setting.modes // 2))
    rest = ag.Helix(case.around, case.pitch)
    root, tip = np.eye(4), np.eye(4)
    x, axes = case.shape(np.array([0.0, 1.0]))
    root[:3, :3], tip[:3, :3], tip[:3, 3] = axes[0], axes[1], x[1]
    rod = ag.Rod(case.length, ag.Circle(case.radius), material, strains, rest=rest, intervals=setting.intervals)
    wire = robot.add(rod, at=robot.ground, pose=root, name="wire")

    def end(t: float) -> np.ndarray:
        down = tip.copy()
        down[2, 3] -= case.pressed(t)
        return down

    robot.close(robot.ground, wire.tip, pose=end, name="clamp")
    robot.load(ag.SelfContact(wire, 5e3, damping=5.0, spacing=setting.spacing * case.radius))
    for axis in np.eye(3):
        line = case.density * np.pi * case.radius**2
        robot.load(ag.WorldSpring(wire, 0.0, axis, damping=case.drag * line))
    run = ag.simulate(robot, duration=case.check[-1], dt=setting.dt, tolerance=setting.tolerance, progress=False)
    return run, np.stack([run.position(wire.section(k * case.length)) for k in (0.25, 0.5, 0.75)], axis=1)


@cache
def tied() -> tuple[np.ndarray, ...]:
    """The rope with its knot: X (801,) [m], strains (801, 6), places (801, 3) [m] and axes in columns (801, 3, 3)."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
    import overhand_knot as example

    import anguilla as ag

    robot, rope = example.build(example.WAY, example.HONEY)
    run = ag.simulate(robot, duration=example.WAY[-1, 0], dt=example.STEP, progress=False)
    X = np.linspace(0.0, KNOT.length, 801)
    end = run.picked([len(run.t) - 1])
    frames = [rope.root, *(rope.section(x) for x in X[1:-1]), rope.tip]
    poses = np.array([end.pose(frame)[0] for frame in frames])
    return X, end.strain(rope, X)[0], poses[:, :3, 3], poses[:, :3, :3]


def knot(setting: Setting):
    """The motion, and radius of the loop (m, 1, 1) [m]: of a circle with the same energy of bending."""
    import anguilla as ag

    case, (X, strains, places, _) = KNOT, tied()
    robot = ag.Robot("knot", gravity=(0, 0, 0))
    rubber = ag.Material(case.young, case.density, poisson=0.5 * case.young / case.shear - 1.0)
    bend, twist = ag.PiecewisePolynomial(setting.modes, 2), ag.PiecewisePolynomial(setting.modes // 3, 1)
    rod = ag.Rod(case.length, ag.Circle(case.radius), rubber, ag.Strains(twist=twist, bend_y=bend, bend_z=bend),
                 intervals=setting.intervals)  # fmt: skip
    rope = robot.add(rod, at=robot.ground, name="rope")
    hand = lambda t: places[-1] + np.array([case.pull(t), 0.0, 0.0])
    robot.close(robot.ground, rope.tip, joint=ag.Spherical(), pose=hand, name="hand")
    robot.load(ag.SelfContact(rope, setting.stiffness, damping=3.0, spacing=setting.spacing * case.radius))
    turning = 0.5 * case.radius**2 * case.drag  # spins fade as fast as velocities, as PyElastica's damper lets them
    robot.load(ag.ResistiveForce(rope, tangential=case.drag, normal=case.drag, turning=turning))
    fits = [
        np.linalg.lstsq(basis(X / case.length), strains[:, k], rcond=None)[0]
        for k, basis in enumerate((twist, bend, bend))
    ]
    run = ag.simulate(
        robot, duration=case.check[-1], dt=setting.dt, start=np.concatenate(fits), tolerance=setting.tolerance,
        method=ag.GeneralisedAlpha(setting.left), progress=False,
    )  # fmt: skip
    at = np.linspace(0.0, case.length, 801)
    bent = np.sum(run.strain(rope, at)[:, :, 1:3] ** 2, axis=2)
    return run, 2.0 * np.pi / np.trapezoid(bent, at, axis=1)[:, None, None]


def plectoneme(setting: Setting):
    """The motion, and tension and moment (m, 1, 2) in the units of the case."""
    import anguilla as ag
    from anguilla.lie import pose, rotation

    case, robot = PLECTONEME, ag.Robot("plectoneme", gravity=(0, 0, 0))
    rubber = ag.Material(case.young, case.density, poisson=0.5 * case.young / case.shear - 1.0, damping=0.01)
    bend, twist = ag.PiecewisePolynomial(setting.modes, 2), ag.PiecewisePolynomial(setting.modes // 4, 1)
    strains = ag.Strains(twist=twist, bend_y=bend, bend_z=bend)
    rod = ag.Rod(case.length, ag.Circle(case.radius), rubber, strains, intervals=setting.intervals)
    rod = robot.add(rod, at=robot.ground, name="rod")
    end = lambda t: pose(rotation((1, 0, 0), case.angle(t)), (case.length - case.slack[0] - case.way(t), 0.0, 0.0))
    hand = robot.close(robot.ground, rod.tip, pose=end, name="hand")
    robot.load(ag.SelfContact(rod, 8e6, damping=3.0, spacing=setting.spacing * case.radius))
    for axis in np.eye(3):
        robot.load(ag.WorldSpring(rod, 0.0, axis, damping=case.drag))
    start = np.zeros(robot.size)
    start[[name.startswith("rod.bend_z") for name in robot.coordinates()]] = 0.3
    run = ag.simulate(
        robot, duration=case.check[-1], dt=setting.dt, start=start, tolerance=setting.tolerance, progress=False
    )
    force = np.einsum("tij,tkj->tki", run.pose(rod.tip)[:, :3, :3], run.reaction(hand).reshape(-1, 2, 3))[:, :, 0]
    return run, (force[:, ::-1] / [case.tension, case.moment])[:, None]


@dataclass(frozen=True, slots=True)
class Case:
    """How a case is solved and judged."""

    solve: Callable[[Setting], tuple["Trajectory", np.ndarray]]
    check: tuple[float, ...]  # [s]
    size: float  # of what errors are told as parts [m]
    path: tuple[Setting, ...]  # from coarse to fine
    finest: Setting


CASES = {
    "snake": Case(
        snake,
        SNAKE.check,
        SNAKE.length,
        tuple(Setting(modes, 4e-3, each, 1e-3, left=1.0) for modes, each in ((4, 12), (6, 16), (8, 20))),
        Setting(12, 2.5e-3, 24),
    ),
    "coil": Case(
        coil,
        COIL.check,
        2 * COIL.around,
        (Setting(10, 0.02, 30, 1e-6, 1.0), Setting(13, 0.02, 39, 1e-6, 2.0), Setting(16, 0.02, 48, 1e-6, 1.0)),
        Setting(20, 5e-3, 80),
    ),
    "knot": Case(
        knot,
        KNOT.check,
        0.05,
        (Setting(11, 0.25, 22, 1e-3, 2.0, 0.0, 5e4), Setting(13, 0.2, 26, 1e-4, 1.0, 0.0)),
        Setting(15, 0.05, 90, 1e-5, 0.5, 0.5),
    ),
    "plectoneme": Case(
        plectoneme,
        PLECTONEME.check,
        1.0,
        (Setting(14, 0.02, 42, 1e-3, 0.8), Setting(16, 0.02, 64, 1e-3, 0.8)),
        Setting(24, 0.02, 120, None, 0.4),
    ),
}


@cache
def reference(name: str) -> np.ndarray:
    """What is followed, at the check times, in the finest setting."""
    case = CASES[name]
    run, followed = case.solve(case.finest)
    return at_checks(case, run.t, followed)


def at_checks(case: Case, t: np.ndarray, followed: np.ndarray) -> np.ndarray:
    """What is followed (m, k, d) at the check times (c, k, d)."""
    shape = followed.shape[1:]
    return interpolate(np.array(case.check), t, followed.reshape(len(t), -1)).reshape(-1, *shape)


def error(name: str, t: np.ndarray, followed: np.ndarray) -> float:
    """Largest distance from the reference at the check times, over the size of the case."""
    case = CASES[name]
    if not np.isfinite(followed).all():
        return np.inf
    return float(np.linalg.norm(at_checks(case, t, followed) - reference(name), axis=2).max() / case.size)


def measure(name: str, setting: Setting, *, repeat: int) -> dict:
    """The record of a setting: seconds of the loop, and of the whole call: description, judging of the motion and reading too."""
    import anguilla as ag

    case = CASES[name]
    label = {"peer": "anguilla", "version": ag.__version__, "case": name, "settings": asdict(setting)}
    runs = [looped(lambda: case.solve(setting), lambda solved: solved[0].status.seconds) for _ in range(repeat)]
    (run, followed), _, _ = runs[0]
    found = error(name, run.t, followed)
    _, loops, whole = zip(*runs, strict=True)
    return record(
        **label, error=found, seconds=list(loops), simulated=case.check[-1], whole_seconds=rounded(min(whole))
    )


def peer(python: str, name: str, *, repeat: int) -> list[dict]:
    """Records of PyElastica, with the error from the same reference."""
    script = Path(__file__).resolve().parent / "peers" / "pyelastica_touching.py"
    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "knot.npz"
        if name == "knot":
            _, _, places, axes = tied()
            np.savez(start, places=places, axes=axes)
        command = [python, str(script), name, "--repeat", str(repeat), "--start", str(start)]
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    lines = [json.loads(line) for line in out.splitlines()]
    for line in lines:
        if "failure" not in line:
            line["error"] = rounded(error(name, np.array(line.pop("t")), np.array(line.pop("followed"))))
    return lines


def ratio(line: dict, mine: list[dict], time: Callable[[dict], float]) -> float | None:
    """Its time over that of the cheapest of Anguilla's settings that is at most as far off."""
    able = [time(each) for each in mine if each["error"] <= line["error"]]
    return rounded(time(line) / min(able)) if able else None


TIMES: dict[str, Callable[[dict], float]] = {
    "times_anguilla": lambda line: min(line["seconds"]),
    "whole_times_anguilla": lambda line: line["whole_seconds"],
}


def table(lines: list[dict]) -> str:
    """All runs as a table; the ratios are those of `ratio`, of the loops and of whole calls."""
    rows = [
        "| case | program | settings | error | loop [s] | whole call [s] | times Anguilla, at equal error | whole, times Anguilla |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for line in lines:
        settings = ", ".join(f"{name} {value:g}" for name, value in line["settings"].items() if value is not None)
        found = f"{line.get('failure')} |  |  |  |  |"
        if "failure" not in line:
            ratios = ("" if line.get(key) is None else f"{line[key]:.2g}x" for key in TIMES)
            loop, whole = (f"{time(line):.2g}" for time in TIMES.values())
            found = f"{100 * line['error']:.2f} % | {loop} | {whole} | {' | '.join(ratios)} |"
        rows.append(f"| {line['case']} | {line['peer']} | {settings} | {found}")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", choices=CASES, help="one case")
    parser.add_argument("--peer", help="a Python that has PyElastica: runs it too, and prints ratios at equal error")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", "The time steps of")  # coarse settings are meant to be
    lines = []
    for name in [arguments.only] if arguments.only else CASES:
        CASES[name].solve(CASES[name].path[0])  # compiles
        mine = [measure(name, setting, repeat=arguments.repeat) for setting in CASES[name].path]
        for line in mine:
            show(line)
        others = peer(arguments.peer, name, repeat=arguments.repeat) if arguments.peer else []
        others = [
            {**x, **({} if "failure" in x else {key: ratio(x, mine, time) for key, time in TIMES.items()})}
            for x in others
        ]
        for line in others:
            show(line)
        lines += mine + others
    print(table(lines))


if __name__ == "__main__":
    sys.exit(main())
