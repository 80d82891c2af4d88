"""A bellows trunk like the CBHA of paper 002: its shape from six lengths, its lengths from a place, loads, other models.

A "real" trunk (stiffer, heavier, other folds) is simulated at random pressures; its string lengths and tip are the data. The
model gets only the lengths and predicts the tip (forward, figures 8 and 9), or only the tip and predicts the lengths
(inverse, Table 1). Arcs of constant curvature and serial vertebrae, both fitted to half of the data, do the forward problem
too. Last, a load hangs on the tip (figure 15).
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla import control, fem
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, MOST = 0.206, 7e4  # [m], [Pa]
LOADS = np.linspace(0.0, 2.0, 5)  # [N] sideways at the tip
REACH = 0.036  # radius [m] at which the strings run, 0.030 at the tip


@dataclass
class Result:
    tips: np.ndarray  # (k, 3) of the real trunk [m]
    fem: np.ndarray  # (k, 3) forward by the model [m]
    arcs: np.ndarray  # (k, 3) forward by constant curvature [m]
    vertebrae: np.ndarray  # (k, 3) forward by the hybrid model [m]
    length_error: np.ndarray  # (k, 6) inverse: lengths of the model minus the real ones [m]
    deflection: np.ndarray  # (loads, 2) of the tip, model and real [m]

    def rms(self, which):
        return float(np.sqrt(np.mean(np.sum((getattr(self, which) - self.tips) ** 2, axis=1))))


def build(young=2e6, folds=2, density=1200.0, load=0.0):
    mesh = fem.trunk(folds=folds)
    body = fem.SoftBody("trunk", mesh, ag.Material(young=young, poisson=0.3, density=density), gravity=(-9.81, 0, 0))
    body.fix("base")  # it sticks out of a wall: z is horizontal
    for k in range(6):
        body.actuate(f"p{k + 1}", fem.Chamber(f"chamber_{k + 1}", pressure=(0.0, 2.0 * MOST)))
        angle = 2 * np.pi / 3 * (k % 3)
        ends = np.array([0.0, LENGTH / 2]) + (k // 3) * LENGTH / 2
        radii = REACH - 0.006 * ends / LENGTH
        body.sense(
            f"l{k + 1}",
            fem.String([(r * np.cos(angle), r * np.sin(angle), z) for r, z in zip(radii, ends, strict=True)]),
        )
    body.effector("tip", fem.Effector((0, 0, LENGTH), radius=0.045))
    if load:
        body.load(fem.PointForce((0.03, 0, LENGTH), (load, 0, 0)))
    return body


def main(count=50):
    real = fem.SoftModel(build(young=2.3e6, folds=3, density=1300.0))
    tips, lengths = [], []
    for row in np.random.default_rng(2).uniform(0.0, MOST, (count, 6)):
        real.efforts = row
        real.relax(tolerance=1e-7)
        tips.append(real.positions()[0])
        lengths.append(real.readings())
    tips, lengths = np.array(tips), np.array(lengths)
    model = fem.SoftModel(build())
    model.relax()
    forward, errors = [], []
    for row in lengths:
        forward.append(control.forward_kinematics(model, row, tolerance=1e-5).positions["tip"])
    inverse = control.InverseKinematics(model, energy=1e-4)
    for tip, row in zip(tips, lengths, strict=True):
        errors.append(list(inverse.solve({"tip": tip}, tolerance=1e-5).readings.values()) - row)
    half = slice(0, len(tips) // 2)
    arc, _ = control.fit_model(control.ArcModel.of((REACH, REACH - 0.004)), lengths[half], tips[half])
    bone, _ = control.fit_model(control.VertebraModel((REACH, 0.033, 0.03)), lengths[half][::3], tips[half][::3])
    geometric = [np.array([m.pose(row)[:3, 3] for row in lengths]) for m in (arc, bone)]
    return Result(tips, np.array(forward), *geometric, np.array(errors), deflections())


def deflections():
    """Way of the tip under a side load, pressures kept; model and real trunk."""
    out = []
    for options in ({}, {"young": 2.3e6, "folds": 3, "density": 1300.0}):
        tips = [fem.statics(build(**options, load=load), inputs={"p1": 3e4}).position("tip") for load in LOADS]
        out.append([np.linalg.norm(tip - tips[0]) for tip in tips])
    return np.array(out).T


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.6, 3.5)
        left, middle, right = fig.subplots(1, 3)
        for name, label, colour, mark in (
            ("tips", "real", "k", "o"), ("fem", "finite elements", COLOURS[0], "x"),
            ("arcs", "constant curvature", COLOURS[1], "+"), ("vertebrae", "vertebrae", COLOURS[2], "."),
        ):  # fmt: skip
            fill = {"mfc": "none", "mew": 0.6} if name == "tips" else {}
            left.plot(*(1e3 * getattr(result, name)[:, [0, 2]].T), mark, ms=4, color=colour, label=label, **fill)
        left.set(xlabel="x [mm]", ylabel="z [mm]", title="Tips from lengths (figure 9)")
        left.legend(frameon=False, fontsize=7)
        middle.boxplot(1e3 * np.abs(result.length_error), showfliers=False)
        middle.set(xlabel="string", ylabel="[mm]", title="Lengths from tips, errors (Table 1)")
        for k, name in enumerate(("model", "real")):
            right.plot(LOADS, 1e3 * result.deflection[:, k], "o-", ms=3, color=COLOURS[k], label=name)
        right.set(xlabel="side load [N]", ylabel="[mm]", title="Way of the tip (figure 15)")
        right.legend(frameon=False, fontsize=8)
        fig.savefig(Path(folder) / "trunk.png", dpi=100)


if __name__ == "__main__":
    result = main()
    for which in ("fem", "arcs", "vertebrae"):
        print(f"{which:10s} RMS {1e3 * result.rms(which):.2f} mm")
    print("mean error of lengths [mm]", (1e3 * np.abs(result.length_error).mean(axis=0)).round(2))
    print("deflections [mm]", (1e3 * result.deflection).round(2).tolist())
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
