"""What was identified: values, how well they are known, the fitted robot, and its errors."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from anguilla._doors import public
from anguilla.describe import Robot
from anguilla.errors import require
from anguilla.identification.labels import relabelled
from anguilla.identification.measurements import Measurements
from anguilla.identification.parameters import Sought, Source, made_robot
from anguilla.identification.search import readings
from anguilla.identification.sensors import Nuisances
from anguilla.identification.uncertainty import Uncertainty
from anguilla.mechanics.tree import Floats
from anguilla.results.base import ByName

UNITS = {"positions": "m", "turns": "rad", "lengths": "m", "tensions": "N"}

__all__ = ["Identified"]


@public
@dataclass(frozen=True, eq=False)
class Identified:
    """What `identify` found.

    Attributes:
        notes: what the data do not determine, and what else to know; one sentence each.
        held_out: error by experiment that was not used, see `error`.
        by_differences: by experiment whose derivatives are differences between motions, not exact, why that is so.
        evaluations: how often all experiments were computed.
        seconds: wall time [s].

    """

    source: Source = field(repr=False)
    parameters: list[Sought] = field(repr=False)
    data: list[Measurements] = field(repr=False)
    found: Floats = field(repr=False)
    search: Floats = field(repr=False)
    uncertain: Uncertainty = field(repr=False)
    nuisances: Nuisances = field(repr=False)
    notes: list[str]
    evaluations: int
    seconds: float
    held_out: dict[str, dict[str, float]] = field(default_factory=dict)
    by_differences: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return [parameter.name for parameter in self.parameters]

    @property
    def values(self) -> dict[str, float]:
        """Values of the parameters, SI."""
        return ByName(zip(self.names, self.found.tolist(), strict=True))

    @property
    def deviation(self) -> dict[str, float]:
        """Standard deviations, SI; infinite for what the data do not determine."""
        pairs = zip(self.parameters, self.found, self.uncertain.deviation, strict=True)
        return ByName({p.name: float(d * p.slope(v)) for p, v, d in pairs})

    @property
    def interval(self) -> dict[str, tuple[float, float]]:
        """95 % intervals, SI; those of positive numbers are even in their logarithm."""
        half, found = self.uncertain.factor * self.uncertain.deviation, ByName()
        for p, x, h in zip(self.parameters, self.search, half, strict=True):
            ends = (0.0, np.inf) if p.log and not np.isfinite(h) else (p.from_search(x - h), p.from_search(x + h))
            found[p.name] = (float(ends[0]), float(ends[1]))
        return found

    @property
    def correlation(self) -> Floats:
        """Correlations (k, k) of the parameters, as far as the data determine them."""
        return self.uncertain.correlation

    @property
    def offsets(self) -> dict[str, float]:
        """Unknown offsets of markers and poses that were found along [m, rad]."""
        return ByName(zip(self.nuisances.names, self.nuisances.values.tolist(), strict=True))

    @property
    def robot(self) -> Robot:
        """The robot with the values that were found, and with what was given in all experiments."""
        mine = [p for p in self.parameters if p.free.only is None]
        values = np.array([v for p, v in zip(self.parameters, self.found, strict=True) if p.free.only is None])
        first = self.data[0].given
        given = {name: x for name, x in first.items() if all(data.given.get(name) == x for data in self.data)}
        return made_robot(self.source, mine, values, given)

    def predicted(self, data: Measurements) -> dict[str, Floats]:
        """What the fitted robot would have shown, by name of what was measured: (rows, 3) [m], (rows, 1)."""
        return ByName({reading.label[1]: reading.value for reading in self._readings(data)})

    def missed(self, data: Measurements) -> dict[str, Floats]:
        """What is predicted minus what was measured, by its name; NaN in a gap."""
        return ByName({reading.label[1]: reading.miss for reading in self._readings(data)})

    def _readings(self, data: Measurements) -> list[Any]:
        return readings(self.source, self.parameters, self.search, data, self.nuisances)

    def relabelled(self, data: Measurements) -> Measurements:
        """An experiment whose markers are called what they should be by where the fitted robot has them; then fit again."""
        return relabelled(data, self.predicted(data))

    def error(self, data: Measurements) -> dict[str, float]:
        """Errors of the fitted robot on an experiment: "mean", "rms" and "worst", of distances [m] if there are markers."""
        found = self._readings(data)
        places = [np.linalg.norm(r.miss, axis=1) for r in found if r.label[0] == "positions"]
        other = [r.miss.ravel() for r in found if r.label[0] != "positions"]
        every = np.concatenate(places or other)
        every = np.abs(every[np.isfinite(every)])
        return {"mean": float(every.mean()), "rms": float(np.sqrt(np.mean(every**2))), "worst": float(every.max())}

    def __repr__(self) -> str:
        return f"<identified {', '.join(f'{n} = {v:.5g}' for n, v in self.values.items())}; {len(self.notes)} notes>"

    def __str__(self) -> str:
        lines = []
        for name, value in self.values.items():
            low, high = self.interval[name]
            lines.append(f"{name} = {value:.6g}   (95 %: {low:.6g} to {high:.6g})")
        for data in self.data:
            lines.append(f"{data.name}: {self._told(self.error(data))}")
        lines += [f"{name} (not used): {self._told(error)}" for name, error in self.held_out.items()]
        lines += [f"{name}: derivatives by differences: {why}" for name, why in self.by_differences.items()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _told(self, error: dict[str, float]) -> str:
        """Errors with their unit, if there is one."""
        kinds = {kind for data in self.data for kind in UNITS if getattr(data, kind)}
        units = {UNITS[kind] for kind in kinds}
        unit = " m" if "positions" in kinds else f" {units.pop()}" if len(units) == 1 else ""
        return ", ".join(f"{name} {value:.3g}{unit}" for name, value in error.items())

    def provenance(self) -> list[str]:
        """Where the numbers come from: date, data, values with intervals, notes."""
        today = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
        lines = [f"identified by anguilla on {today} from"]
        lines += [f"  {data.name}: {data.rows} rows, sha256 {data.digest}..." for data in self.data]
        for name, value in self.values.items():
            low, high = self.interval[name]
            lines.append(f"  {name} = {value:.9g}, 95 % interval {low:.6g} to {high:.6g}")
        for name, error in self.held_out.items():
            lines.append(f"  error on {name}, not used: {self._told(error)}")
        return lines + [f"  note: {note}" for note in self.notes]

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the fitted robot as a robot file that begins with where its numbers come from. Returns the path."""
        from anguilla.files import write_robot

        where = Path(path)
        write_robot(self.robot, where)
        text = where.read_text(encoding="utf-8")
        where.write_text("".join(f"# {line}\n" for line in self.provenance()) + text, encoding="utf-8")
        return where

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """Draw what is missed in every experiment, and the correlations. Returns Matplotlib's figure, saved if asked to."""
        require("matplotlib", "figures need", "plot")
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10.0, 4.0), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(2, 1))
        for data in self.data:
            for name, miss in self.missed(data).items():
                x = np.arange(data.rows) if data.t is None else np.asarray(data.t)
                size = np.linalg.norm(miss, axis=1) if miss.shape[1] > 1 else miss[:, 0]
                left.plot(x, size, "-" if data.motion else ".", lw=1, ms=4, label=f"{data.name}: {name}")
        left.set_xlabel("t [s]" if self.data[0].t is not None else "row")
        left.set_ylabel("missed [m]")
        left.legend(fontsize="small")
        image = right.imshow(self.correlation, vmin=-1.0, vmax=1.0, cmap="RdBu")
        right.set_xticks(range(len(self.names)), self.names, rotation=60, ha="right", fontsize="small")
        right.set_yticks(range(len(self.names)), self.names, fontsize="small")
        figure.colorbar(image, ax=right, label="correlation")
        if path is not None:
            figure.savefig(path, dpi=110)
        return figure
