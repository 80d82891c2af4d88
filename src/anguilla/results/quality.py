"""How far a motion can be trusted, in numbers and in plain words."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Quality"]

# parts of the length and of the energy in play, above which a motion is not to be trusted
TIME, ENERGY = 0.02, 0.02
IMPACTS = 1e-3  # of the energy in play, that a robot may gain that touches something
# estimates of the first from which it is told: they may be too small by so much
TOLD = TIME / 1.07


@dataclass(frozen=True)
class Quality:
    """How far a motion can be trusted; `print(run.quality)` says it in words.

    Attributes:
        time_error: estimated error that the time steps make, the largest displacement as a part of the robot's length (of
            bodies alone: of the room their motion takes); None if it was not estimated (steps controlled by their error, a
            single step, steps of other solvers).
        space_error: estimated error of too few modes and intervals, at the instant that asks most of them, as a part of the
            length; those of later instants may be larger, as errors add up.
        energy_error: largest gain of energy out of nothing, as a part of the energy in play; None where loads work.
        penetration: how deep the robot sinks into obstacles at most, as a part of its thickness there; None without contact.
        events: instants [s] at which loads jump and the integration restarts.
        cut_steps: number of steps that were too long for Newton, and cut into pieces.
        steps: number of steps.
        messages: what is wrong, in sentences; nothing if the motion can be trusted.

    """

    time_error: float | None = None
    energy_error: float | None = None
    penetration: float | None = None
    events: tuple[float, ...] = ()
    cut_steps: int = 0
    steps: int = 0
    messages: tuple[str, ...] = ()
    space_error: float | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the motion."""
        return not self.messages

    def __str__(self) -> str:
        told = list(self.messages) or ["No problems found."]
        if self.time_error is not None and self.ok:
            told.append(f"Error of the time steps: about {_percent(self.time_error)} of the length.")
        if self.space_error and self.ok:  # bodies alone have none
            told.append(f"Error of the modes and intervals: about {_percent(self.space_error)}.")
        if self.energy_error is not None and self.ok:
            told.append(f"Spurious gain of energy: {_percent(self.energy_error)} at most.")
        if self.penetration:
            told.append(f"Penetration of obstacles: {_percent(self.penetration)} of the thickness at most.")
        if self.events:
            count, first = len(self.events), ", ".join(f"{t:.4g}" for t in self.events[:3])
            more = ", ..." if count > 3 else ""
            told.append(f"Loads jump {_times(count)}, at t = {first}{more} s; the integration restarts at each.")
        if self.cut_steps:
            told.append(f"{self.cut_steps} of {self.steps} time steps were cut.")
        return " ".join(told)


def _percent(part: float) -> str:
    return f"{100.0 * part:.2g} %"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
