"""The settings with which Anguilla solves the cantilevers of `cases.py`, and the robots they describe.

Each setting is the cheapest found that passes two tests, kept in tests/validation_dynamics: the tip is off by less than
1 % of the length at every check time, and it moves by less than 0.3 % when the step is halved and all modes and intervals
are doubled. The motion of the stiff rod is the most sensitive: its setting passes with all spectral radii from 0.97 to 1 and with
tolerances down to 1e-6, but a part of the error of twelve modes is made up for by that of the intervals. With half its step it is
off by almost 1 %, with 20 intervals by 1.3 %. With 13 modes and 17 intervals, which take 1.5 times as long, it is off by 0.33 %, and
by as much with a few more intervals. The others still pass with smaller tolerances and a few more intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cases import GRAVITY, Cantilever

import anguilla as ag


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation in space and time of one cantilever."""

    bend_modes: int
    intervals: int
    dt: float  # [s]
    rho_inf: float  # of the generalised-alpha scheme
    tolerance: float  # of Newton, as a part of a step's increment
    stretch_modes: int = 0
    basis: str = "legendre"

    def refined(self) -> Setting:
        """Half the step, twice the modes and intervals, a tenth of the tolerance."""
        return replace(
            self,
            bend_modes=2 * self.bend_modes,
            stretch_modes=2 * self.stretch_modes,
            intervals=2 * self.intervals,
            dt=self.dt / 2,
            tolerance=self.tolerance / 10,
        )


SETTINGS = {
    "soft": Setting(bend_modes=5, intervals=8, dt=1 / 15, rho_inf=0.85, tolerance=1e-3),
    "stiff": Setting(
        bend_modes=12, stretch_modes=1, intervals=15, dt=0.0005, rho_inf=0.98, tolerance=2e-4, basis="free_tip"
    ),
    "stiff200": Setting(bend_modes=4, intervals=6, dt=0.0007, rho_inf=0.9, tolerance=1e-4),
}


def hanging(case: Cantilever, setting: Setting) -> ag.Robot:
    """The rod free to swing; it hangs along the world's x."""
    strains = {"bend_z": ag.make_basis(setting.basis, setting.bend_modes)}
    if setting.stretch_modes:
        strains["stretch"] = ag.Legendre(setting.stretch_modes)
    material = ag.Material(young=case.young, poisson=case.poisson, density=case.density)
    section = ag.Circle(case.diameter / 2)
    rod = ag.Rod(case.length, section, material, ag.Strains(**strains), intervals=setting.intervals)
    robot = ag.Robot(case.name, gravity=(GRAVITY, 0, 0))
    robot.add(rod, at=robot.ground)
    return robot


def robots(case: Cantilever, setting: Setting) -> tuple[ag.Robot, ag.Robot]:
    """The rod free to swing, and the same rod held by the force it is released from."""
    free, held = hanging(case, setting), hanging(case, setting)
    held.load(ag.TipWrench(held.parts[0], force=(0, case.tip_force, 0)))
    return free, held


def solve(case: Cantilever, setting: Setting) -> tuple[ag.Trajectory, ag.Equilibrium]:
    """The swing of `case` up to its last check time, and the equilibrium it starts from."""
    free, held = robots(case, setting)
    start = ag.statics(held)
    return swing(case, setting, free, start), start


def swing(case: Cantilever, setting: Setting, free: ag.Robot, start: ag.Equilibrium) -> ag.Trajectory:
    """The swing alone: the part of the work that is timed."""
    steps = round(case.last_check / setting.dt + 0.499)
    method = ag.GeneralisedAlpha(setting.rho_inf)
    return ag.simulate(
        free, duration=steps * setting.dt, dt=setting.dt, start=start.q, method=method, tolerance=setting.tolerance
    )


def tip(run: ag.Trajectory):
    """Position (m, 2) [m] of the tip in the axes of `cases.py`: x horizontal, y up."""
    place = run.position(run.robot.parts[0].tip)
    return place[:, [1, 0]] * [1.0, -1.0]
