"""Dynamics against theory: orders of the steppers, energy of a long swing, numerical damping, as three pictures."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from scipy.integrate import solve_ivp

import anguilla as ag

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Okabe and Ito's colours, told apart by everybody; the markers differ as well.
BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#6E6E6E"

METHODS = (
    (r"HHT, $\alpha = -0.3$", ag.HHT(-0.3), PINK, "D"),
    (r"generalised $\alpha$, $\rho = 0.5$", ag.GeneralisedAlpha(0.5), ORANGE, "s"),
    (r"generalised $\alpha$, $\rho = 0.9$", ag.GeneralisedAlpha(0.9), GREEN, "^"),
    ("midpoint", ag.Midpoint(), BLUE, "o"),
)
DURATION = 0.6
STEPS = (240, 480, 960, 1920, 3840)
LENGTH, RADIUS = 0.3, 0.01


def order_errors() -> dict[str, list[float]]:
    """Errors of the coordinates [rad] of a rod swung in space by a smooth force, against a method of order 8."""
    robot = ag.Robot(gravity=(0, 0, 0))
    material = ag.Material(young=2e5, density=1000, poisson=0.45)
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.01), material, ag.kirchhoff(2), intervals=8), at=robot.ground)

    def force(t: float) -> np.ndarray:
        return np.array([-0.03, 0.09, 0.05]) * (np.sin(np.pi * t / 0.5) ** 4 if t < 0.5 else 0.0)

    robot.load(ag.TipWrench(arm, force=force))
    system = ag.Model(robot)
    n = system.size

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        mass = system.tangent(y[:n], beta=1.0) - system.tangent(y[:n])
        return np.concatenate([y[n:], np.linalg.solve(mass, -system.residual(y[:n], y[n:], t=t))])

    truth = solve_ivp(rate, (0.0, DURATION), np.zeros(2 * n), method="DOP853", rtol=1e-11, atol=1e-11).y[:n, -1]
    errors: dict[str, list[float]] = {}
    for name, method, _, _ in METHODS:
        errors[name] = []
        for steps in STEPS:
            run = ag.simulate(robot, duration=DURATION, dt=DURATION / steps, method=method, tolerance=1e-10)
            errors[name].append(float(np.linalg.norm((run.q[-1] - truth) * system.tree.scale)))
    return errors


def energy_error(kind: str, steps: int, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Times, and total energy minus its start over the largest kinetic energy, of a large swing by the midpoint rule."""
    strains = {"plane": ag.planar(2), "space": ag.Strains(twist=1, bend_y=2, bend_z=2)}[kind]
    material = ag.Material(young=3e6, density=1000, poisson=0.45)
    rod = ag.Rod(LENGTH, ag.Ellipse(RADIUS, 0.8 * RADIUS), material, strains, intervals=6)
    free, held = ag.Robot(gravity=(9.81, 0, 0)), ag.Robot(gravity=(9.81, 0, 0))
    free.add(rod, at=free.ground)
    push = 3 * 3e6 * np.pi * RADIUS**4 / 4 / LENGTH**2
    force = (0.0, push, 0.0 if kind == "plane" else 0.5 * push)
    held.load(ag.TipWrench(held.add(rod, at=held.ground), force=force))
    run = ag.simulate(free, duration=steps * dt, dt=dt, start=ag.statics(held).q, method=ag.Midpoint(),
                      tolerance=1e-10, every=10)  # fmt: skip
    energy = run.energy
    return run.t, (energy["total"] - energy["total"][0]) / energy["kinetic"].max()


def radius(method: ag.Newmark, z: float) -> float:
    """Spectral radius of one step of q'' + om^2 q = 0 at z = om dt, from the equations of the scheme."""
    am, af, beta, gamma, _ = method.coefficients
    left = np.array([[1, 0, -beta], [0, 1, -gamma], [(1 - af) * z**2, 0, 1 - am]])
    right = np.array([[1, 1, 0.5 - beta], [0, 1, 1 - gamma], [-af * z**2, 0, -am]])
    return float(np.abs(np.linalg.eigvals(np.linalg.solve(left, right))).max())


def measured_radius(method: ag.Newmark, z: float) -> float:
    """The same as seen in the vibration of a rod with one mode: the recurrence of order 3 that fits all its steps."""
    robot = ag.Robot(gravity=(0, 0, 0))
    rod = ag.Rod(0.5, ag.Circle(0.01), ag.Material(young=1e6, density=1000), ag.planar(1), intervals=8)
    robot.add(rod, at=robot.ground)
    system = ag.Model(robot)
    stiffness, _, mass = system.matrices(np.zeros(1))
    dt = z / np.sqrt(stiffness[0, 0] / mass[0, 0])
    run = ag.simulate(robot, duration=40 * dt, dt=dt, start=[1e-4], method=method, tolerance=1e-11,
                      smooth_start=False)  # fmt: skip
    q = run.q[:, 0]
    past = np.stack([q[2:-1], q[1:-2], q[:-3]], axis=1)
    return float(np.abs(np.roots([1.0, *-np.linalg.lstsq(past, q[3:], rcond=1e-9)[0]])).max())


def plain(name: str) -> str:
    """A label without its typesetting."""
    return name.replace("$", "").replace("\\", "")


def _axes(title: str, size: tuple[float, float] = (6.8, 4.4)):
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.92", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", color="0.6", labelcolor="0.25")
    axes.spines[["left", "bottom"]].set_color("0.6")
    return figure, axes


def _draw_orders(errors: dict[str, list[float]], path: Path) -> None:
    figure, axes = _axes("A large swing in space: every stepper is of second order")
    dt = DURATION / np.array(STEPS) * 1e3
    # pairs of schemes fall together: the first of a pair has the larger marks, so that both are seen
    ranked = sorted(METHODS, key=lambda method: -errors[method[0]][0])
    for place, (name, _, color, marker) in enumerate(ranked):
        wide = place % 2 == 0
        axes.loglog(dt, errors[name], marker=marker, color=color, linewidth=3.2 if wide else 1.4,
                    markersize=9 if wide else 5)  # fmt: skip
        axes.annotate(name, (dt[0], errors[ranked[1][0]][0]), xytext=(12, 14 - 15 * place),
                      textcoords="offset points", color=color, va="center")  # fmt: skip
    a, b = 0.22, 0.44
    base = 0.16 * min(e[-2] for e in errors.values())
    axes.plot([a, b, b, a], [base, base, 4 * base, base], color=GREY, linewidth=1.1)
    axes.text(b * 1.05, 2 * base, "2", color=GREY, va="center")
    axes.text(np.sqrt(a * b), base * 0.8, "1", color=GREY, ha="center", va="top")
    axes.set_xlim(0.13, 9.0)
    axes.set_ylim(bottom=0.5 * base)
    ticks = [0.2, 0.5, 1.0, 2.0]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    axes.set_xlabel("time step [ms]", color="0.25")
    axes.set_ylabel("error of the shape [rad]", color="0.25")
    figure.savefig(path, dpi=160)
    plt.close(figure)


def _draw_energy(motions: dict[str, tuple[np.ndarray, np.ndarray]], dt: float, path: Path) -> None:
    figure, axes = _axes("Midpoint rule: the energy of a large swing stays in its band", (6.8, 3.6))
    for kind, color in (("space", ORANGE), ("plane", BLUE)):
        t, error = motions[kind]
        pieces = error[1:].reshape(400, -1)
        steps = t[1:].reshape(400, -1).mean(axis=1) / dt
        axes.fill_between(steps, 1e4 * pieces.min(axis=1), 1e4 * pieces.max(axis=1), color=color, linewidth=0)
        axes.annotate(f"in {'the plane' if kind == 'plane' else 'space'}", (steps[-1], 1e4 * pieces[-20:].mean()),
                      xytext=(8, 0), textcoords="offset points", color=color, va="center")  # fmt: skip
    last = round(motions["plane"][0][-1] / dt)
    axes.set_xlim(0, 1.14 * last)
    axes.set_xticks(np.linspace(0, last, 6), [f"{x:,.0f}".replace(",", " ") for x in np.linspace(0, last, 6)])
    axes.spines["bottom"].set_bounds(0, last)
    axes.set_xlabel("steps", color="0.25")
    axes.set_ylabel("energy error / kinetic energy [$10^{-4}$]", color="0.25")
    figure.savefig(path, dpi=160)
    plt.close(figure)


def _draw_radius(points: dict[str, list[tuple[float, float]]], path: Path) -> None:
    figure, axes = _axes("What one step leaves of a vibration: theory (lines) and the rod (marks)")
    z = np.logspace(-2, 2.5, 400)
    for name, method, color, marker in METHODS:
        axes.semilogx(z, [radius(method, x) for x in z], color=color, linewidth=1.6)
        axes.plot(*np.array(points[name]).T, marker, color=color, markersize=5.5, markerfacecolor="white", mew=1.4)
        axes.annotate(name, (z[-1], radius(method, z[-1])), xytext=(8, 0), textcoords="offset points", color=color,
                      va="center")  # fmt: skip
    axes.set_xlim(0.01, 2e4)
    axes.set_xticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
    axes.minorticks_off()
    axes.spines["bottom"].set_bounds(0.01, z[-1])
    axes.set_ylim(0.4, 1.04)
    axes.set_xlabel(r"frequency times time step, $\omega\,dt$", color="0.25")
    axes.set_ylabel("spectral radius", color="0.25")
    figure.savefig(path, dpi=160)
    plt.close(figure)


def figures(folder: str | Path, steps: int = 100_000) -> dict[str, float]:
    """Draw `dynamics_orders.png`, `dynamics_energy.png` and `dynamics_damping.png` into the folder.

    Args:
        folder: where to draw.
        steps: length of the swing whose energy is drawn, a multiple of 4000.

    Returns:
        The numbers of the report: fitted orders, energy band and drift, differences of the spectral radii.

    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    report: dict[str, float] = {}
    errors = order_errors()
    _draw_orders(errors, folder / "dynamics_orders.png")
    for name, values in errors.items():
        report[f"order of {plain(name)}"] = -float(np.polyfit(np.log(STEPS[1:]), np.log(values[1:]), 1)[0])
    dt = 0.0047
    motions = {kind: energy_error(kind, steps, dt) for kind in ("plane", "space")}
    _draw_energy(motions, dt, folder / "dynamics_energy.png")
    for kind, (_, error) in motions.items():
        pieces = error[1:].reshape(50, -1)
        middle = 0.5 * (pieces.max(axis=1) + pieces.min(axis=1))
        report[f"energy, {kind}: width of the band"] = float(np.ptp(pieces, axis=1).mean())
        report[f"energy, {kind}: drift over {steps} steps"] = float(np.polyfit(np.linspace(0, 1, 50), middle, 1)[0])
    points: dict[str, list[tuple[float, float]]] = {}
    for name, method, _, _ in METHODS:
        points[name] = [(z, measured_radius(method, z)) for z in (0.03, 0.1, 0.3, 1.0, 3.0, 8.0)]
        report[f"largest gap of the radius, {plain(name)}"] = max(abs(r - radius(method, z)) for z, r in points[name])
    _draw_radius(points, folder / "dynamics_damping.png")
    return report


if __name__ == "__main__":
    for name, value in figures("out/validation").items():
        print(f"{name:50s} {value:.3g}")
