"""Paper 001 by its own algorithm: a prescribed bending makes an eel swim; motion, torques and forces follow.

The reference code in `anguilla.reference` is run as it stands: two loops along the body at each instant, one in time. Four
curvature laws are swum: forward, turning, submergence, spiral (figures 4 to 8). For the spiral the control torque at the
middle of the body is kept over time (figure 9), and the internal force and torque along the body at the end (figure 10),
where they must vanish at the tail.
"""

import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from anguilla.reference import eel, gaits, water
from anguilla.view.style import COLOURS, figure, figure_style

SHOWN = 17.0  # [s], past the last instant of the dive
SHAPES = 1.25  # [s] between two drawn shapes
SAMPLE = 0.05  # [s]


@dataclass
class Result:
    times: np.ndarray  # (t,) [s]
    heads: dict[str, np.ndarray]  # states (t, 13) of the head, by gait
    shapes: dict[str, list[np.ndarray]]  # centrelines (m, 3) [m] every SHAPES seconds, by gait
    stride: float  # distance of the head over the last period, forward swimming [m]
    torque: np.ndarray  # (t, 3) [N m] at X = 1 m in section axes, spiral
    X: np.ndarray  # (m,) [m]
    profile: np.ndarray  # (m, 6) force [N] and torque [N m] in section axes along the spiral at the end
    tail: float  # the largest force [N] or torque [N m] left at the tail


def main(duration=2.0, tolerance=1e-5):
    """Swim all four gaits for a while [s]."""
    times = np.arange(0.0, duration + 1e-9, SAMPLE)
    heads, shapes = {}, {}
    for name, gait in gaits.GAITS.items():
        swimmer = eel.make_eel(water.eel_body(), water.Water(), gait)
        heads[name] = eel.swim(swimmer, times, tolerance=tolerance)
        drawn = range(0, len(times), round(SHAPES / SAMPLE))
        shapes[name] = [eel.instant(swimmer, eel.unpack(heads[name][k]), times[k]).r.reshape(-1, 3) for k in drawn]
    moments = [eel.instant(swimmer, eel.unpack(y), t) for y, t in zip(heads["spiral"], times, strict=True)]
    X = swimmer.grid.X.ravel()
    middle = int(np.argmin(np.abs(X - 1.0)))
    end = moments[-1]
    force = np.einsum("pmji,pmj->pmi", end.R, end.n).reshape(-1, 3)
    return Result(
        times=times,
        heads=heads,
        shapes=shapes,
        stride=float(np.linalg.norm(heads["forward"][-1, :3] - heads["forward"][-1 - round(1.0 / SAMPLE), :3])),
        torque=np.array([now.M.reshape(-1, 3)[middle] for now in moments]),
        X=X,
        profile=np.concatenate([force, end.M.reshape(-1, 3)], axis=1),
        tail=float(max(np.abs(end.n_tail).max(), np.abs(end.M_tail).max())),
    )


def figures(folder, result):
    """Write eel_paths.png and eel_torques.png into a folder."""
    with figure_style():
        fig = figure(width=9.0, height=5.6)
        views = {"forward": (0, 1), "turning": (0, 1), "submergence": (0, 2), "spiral": None}
        for k, (name, axes) in enumerate(views.items()):
            ax = fig.add_subplot(2, 2, k + 1, projection=None if axes else "3d")
            for j, shape in enumerate(result.shapes[name]):
                columns = shape[:, axes].T if axes else shape.T
                ax.plot(*columns, color=COLOURS[0], alpha=0.25 + 0.75 * (j + 1) / len(result.shapes[name]), lw=1.5)
            path = result.heads[name][:, :3]
            ax.plot(*(path[:, axes].T if axes else path.T), color=COLOURS[1], lw=1.0)
            ax.set_title(name)
            ax.set_aspect("equal", adjustable="datalim" if axes else "box")
            if axes:
                ax.set_xlabel("x [m]")
                ax.set_ylabel("y [m]" if axes[1] == 1 else "z [m]")
        fig.savefig(folder / "eel_paths.png")
        fig = figure(width=9.0, height=3.0)
        ax = fig.add_subplot(1, 2, 1)
        ax.plot(result.times, result.torque, label=["M1", "M2", "M3"])
        ax.set(xlabel="time [s]", ylabel="torque at X = 1 m [N m]")
        ax.legend()
        ax = fig.add_subplot(1, 2, 2)
        ax.plot(result.X, result.profile[:, [1, 4]], label=["force 2 [N]", "torque 2 [N m]"])
        ax.set(xlabel="X [m]", ylabel=f"at {result.times[-1]:g} s")
        ax.legend()
        fig.savefig(folder / "eel_torques.png")


if __name__ == "__main__":
    swum = main(SHOWN)
    print(f"forward: {swum.stride:.3f} m a period at {SHOWN:g} s")
    print(f"left at the tail: {swum.tail:.1e} N or N m")
    for name, states in swum.heads.items():
        steps = [np.linalg.norm(b[:3] - a[:3]) for a, b in pairwise(states[:: round(4 / SAMPLE)])]
        print(f"{name}: metres every 4 s: {', '.join(f'{step:.2f}' for step in steps)}")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), swum)
