"""Paper 001, section IX (figures 4 to 10): an eel swims by a prescribed bending; motion, torques and forces follow.

The body is a rod whose curvature is a gait: forward swimming, turning, submergence, spiral. The core finds the motion of
the head and the torques that the motors along the body must give; the only free coordinates are the six of the head.
Water is Morison's model with the coefficients of IX.A. What the paper does not print is taken from the errata: a half-sphere
as head, a linear taper, a half-ellipsoid as tail, 21.7 kg; offsets of 0.5 rad/m; dives between 4 and 14 s.

Steps of 10 ms keep the head within 0.1 mm of the exact motion over 10 s in the plane, 0.3 mm in the spiral. t1 points from
head to tail: swimming forward is V1 < 0.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.reference.water import eel_body
from anguilla.view.style import COLOURS, FAINT, INK, figure, figure_style, label_ends

GAITS = ("forward", "turning", "submergence", "spiral")
DURATION, DT, PERIOD = 17.0, 0.01, 1.0  # [s]; past the last instant of the dive
INTERVALS = 64
SHOWN = {"forward": 1.25, "turning": 1.25, "submergence": 0.5, "spiral": 1.0}  # [s] between drawn shapes


@dataclass
class Result:
    runs: dict[str, ag.Trajectory]  # by gait, in water
    vacuum: ag.Trajectory  # the spiral gait without water
    stride: dict[str, ag.Strides] = field(default_factory=dict)

    def eel(self, gait):
        return self.runs[gait].robot.part("eel")


def robot_of(gait="forward", *, intervals=INTERVALS, water=True, nose=False, young=1.0):
    """The eel with a gait of its name; `nose` adds the drag and added mass of the head (001 (16), errata)."""
    body = eel_body()
    section = ag.EllipticProfile(lambda X: body.semi_axes(X)[0], lambda X: body.semi_axes(X)[1], body.breakpoints)
    shape = getattr(ag.gaits, gait)() + ag.StrainOffset(0.0, "twist")  # spherical platforms that do not twist
    material = ag.Material(young, 1000.0)  # a chain of motors: next to no stiffness of its own
    robot = ag.Robot(f"eel_{gait}", gravity=(0, 0, 0))
    eel = robot.add(
        ag.Rod(body.length, section, material, intervals=intervals, shape=shape),
        at=robot.ground, joint=ag.Free(), name="eel",
    )  # fmt: skip
    if water:
        robot.load(ag.Morison(eel, name="water"))
    if nose:
        robot.load(ag.Hull(eel.root, drag=(1.767146, 0, 0), added=(0.441786, 0, 0), slender=True, potential=False))
    return robot


def swim(gait, *, duration=DURATION, dt=DT, **options):
    """Simulate a gait."""
    return ag.simulate(robot_of(gait, **options), duration=duration, dt=dt)


def main(duration=DURATION, *, spare=0.1):
    """Swim all gaits; the vacuum of figure 10 for part `spare` of the time."""
    runs = {gait: swim(gait, duration=duration) for gait in GAITS}
    still = ag.simulate_explicit(robot_of("spiral", water=False, intervals=160), duration=spare * duration, dt=0.1)
    result = Result(runs, still)
    for gait, run in runs.items():
        result.stride[gait] = ag.strides(run, run.robot.part("eel").root, period=PERIOD)
    return result


def draw_shapes(ax, run, every, axes):
    """Shapes at equal times and the path of the head."""
    eel = run.robot.part("eel")
    step = round(every / DT)
    lines = run.centerline(eel, 60)[::step]
    for k, line in enumerate(lines):
        ax.plot(*line[:, axes].T, color=COLOURS[0], alpha=0.25 + 0.75 * (k + 1) / len(lines), lw=1.4)
    ax.plot(*run.position(eel.root)[::5][:, axes].T, color=COLOURS[1], lw=0.9)


def figures(folder, result=None):
    result = result or main()
    folder = Path(folder)
    titles = {
        "forward": "Figure 4: forward, every 1.25 s", "turning": "Figure 6: turning, every 1.25 s",
        "submergence": "Figure 7: submergence, every 0.5 s", "spiral": "Figure 8: spiral, every 1 s",
    }  # fmt: skip
    views = {"forward": [0, 1], "turning": [0, 1], "submergence": [0, 2], "spiral": [0, 1, 2]}
    with figure_style():
        fig = figure(9.6, 7.0)
        grid = fig.add_gridspec(3, 2, height_ratios=(1.0, 1.3, 5.0))
        places = {"forward": grid[0, :], "submergence": grid[1, :], "turning": grid[2, 0], "spiral": grid[2, 1]}
        for gait, axes in views.items():
            ax = fig.add_subplot(places[gait], projection="3d" if len(axes) == 3 else None)
            draw_shapes(ax, result.runs[gait], SHOWN[gait], axes)
            ax.set_title(titles[gait])
            if len(axes) == 3:
                ax.view_init(25, 120)
                ax.set_aspect("equal")
                ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
            else:
                ax.set(xlabel="x [m]", ylabel="yz"[axes[1] - 1] + " [m]", aspect="equal")
        fig.savefig(folder / "eel_paths.png", dpi=80)

        fig = figure(9.6, 3.2)
        run = result.runs["forward"]
        eel = result.eel("forward")
        velocity = np.gradient(run.position(eel.root), run.t, axis=0)
        left, right = fig.subplots(1, 2)
        for k in range(2):
            left.plot(run.t, velocity[:, k], color=COLOURS[k])
        left.set(title="Figure 5: velocity of the head, fixed axes", xlabel="time [s]", ylabel="[m/s]", xlim=(0, 10))
        label_ends(left, [("x", velocity[:1000, 0], COLOURS[0]), ("y", velocity[:1000, 1], COLOURS[1])], run.t[:1000])
        spin = np.einsum("tij,tj->ti", run.pose(eel.root)[:, :3, :3], run.twist(eel.root)[:, :3])[:, 2]
        right.plot(run.t, spin, color=COLOURS[2])
        right.set(title="about z", xlabel="time [s]", ylabel="[rad/s]", xlim=(0, 10))
        fig.savefig(folder / "eel_velocity.png", dpi=100)

        fig = figure(9.6, 3.2)
        left, middle, right = fig.subplots(1, 3)
        run, eel = result.runs["spiral"], result.eel("spiral")
        early = run.t <= 10.0
        torque = run.control_torque(eel, [1.0])[early, 0]
        for k in range(3):
            left.plot(run.t[early], torque[:, k], color=COLOURS[k])
        left.set(title="Figure 9: torque at X = 1 m", xlabel="time [s]", ylabel="[N m]")
        label_ends(left, [(f"M{k + 1}", torque[:, k], COLOURS[k]) for k in range(3)], run.t[early])
        X = np.linspace(0.0, 2.0, 81)
        late = int(np.argmin(np.abs(run.t - 10.0)))
        for ax, motion, part, title in (
            (middle, run, eel, f"Figure 10: along the body, {run.t[late]:g} s"),
            (right, result.vacuum, result.vacuum.robot.part("eel"), f"in vacuum, {result.vacuum.t[-1]:.1f} s"),
        ):
            row = -motion.wrench(part, X)[late if motion is run else -1]
            for k, name in ((4, "force 2 [N]"), (1, "torque 2 [N m]")):
                ax.plot(X, row[:, k], color=COLOURS[0 if k == 4 else 1], label=name)
            ax.axhline(0.0, color=FAINT, lw=0.7)
            ax.plot([2.0], [0.0], "o", color=INK, ms=3)
            ax.set(title=title, xlabel="X [m]")
            ax.legend(frameon=False, fontsize=8)
        fig.savefig(folder / "eel_torques.png", dpi=100)

        fig = figure(9.6, 3.0)
        left, right = fig.subplots(1, 2)
        for gait, colour in zip(GAITS, COLOURS, strict=False):
            swum = result.stride[gait]
            left.plot(swum.t, swum.speed, "o-", ms=3, color=colour)
            envelope = ag.torque_envelope(result.runs[gait], result.eel(gait), since=2.0)
            right.plot(envelope.X, envelope.peak[:, 2], color=colour, label=gait)
        left.set(title="Speed over each stride", xlabel="time [s]", ylabel="[m/s]", ylim=(0, None))
        label_ends(left, [(g, result.stride[g].speed, c) for g, c in zip(GAITS, COLOURS, strict=False)], swum.t)
        right.set(title="Largest torque M3 after 2 s, for the choice of motors", xlabel="X [m]", ylabel="[N m]")
        right.legend(frameon=False, fontsize=8)
        fig.savefig(folder / "eel_strides.png", dpi=100)


if __name__ == "__main__":
    result = main(spare=0.6)
    for gait, run in result.runs.items():
        swum, balance = result.stride[gait], ag.powers(run)
        print(
            f"{gait}: {swum.speed[-1]:.3f} m/s, {swum.power[-1]:.2f} W, {swum.cost_of_transport[-1]:.3f} J/(kg m), "
            f"efficiency {swum.efficiency[-1]:.2f}, power missing {np.abs(balance.imbalance).max():.1e} W, "
            f"{run.status.seconds / run.t[-1]:.3f} of real time"
        )
    vacuum = result.vacuum
    print(
        "in vacuum: momentum", np.abs(vacuum.momentum).max(), "angular momentum", np.abs(vacuum.angular_momentum).max()
    )
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figures(folder, result)
    for gait, run in result.runs.items():
        ag.animate(run, folder / f"eel_{gait}.html")
