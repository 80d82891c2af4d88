"""What the judge of motions asks of robots with soft volumes: some of their places, their energies, what acts on volumes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from anguilla.describe.volumes import WELDED
from anguilla.fem.judging import functions_of, is_passive, potential, samples_of
from anguilla.fem.mesh import Floats
from anguilla.mixed.dynamics import Moving
from anguilla.mixed.results import MixedTrajectory
from anguilla.results.acting import energies
from anguilla.results.observe import S_X
from anguilla.results.quality import Quality
from anguilla.solve.steps.events import Sampler
from anguilla.solve.steps.gains import ENERGIES, all_of, potentials, some_of, takes_energy
from anguilla.solve.steps.measured import motion_of, nodes_of
from anguilla.solve.steps.walked import Energies, Path, judged, some_nodes

if TYPE_CHECKING:
    from anguilla.mixed.motion import MixedMotion

__all__ = ["judge", "places_of", "signals"]


def signals(motion: MixedMotion) -> tuple[Sampler, list[object]]:
    """What acts on volumes, as a function of times, and the functions behind it."""
    model = motion.model
    efforts = lambda t: model.split(motion.inputs, t, motion.slack)[1]
    systems = [half.system for half in model.halves]
    keys = {f"{half.name}.{name}" for half in model.halves for name in half.system.names}
    given = [value for key, value in motion.inputs.items() if key in keys]
    functions = [one for one in [*given, *functions_of(systems)] if callable(one)]
    return samples_of(systems, efforts, bool(functions)), functions


def places_of(motion: MixedMotion) -> Callable[[Moving], Floats]:
    """Places (k, 3) [m] at which motions are compared: of rods and bodies, then of the volumes, some nodes."""
    carrier, (nodes, radii) = motion.carrier, motion.carrier.once(nodes_of)
    wide = np.flatnonzero(radii)
    some = [some_nodes(len(half.system.rest.x)) for half in motion.model.halves]

    def places(state: Moving) -> Floats:
        poses = motion_of(carrier, nodes, state.q[None])[0]
        centres = poses[:, S_X : S_X + 3]
        turns = poses[wide, :9].reshape(-1, 3, 3) * radii[wide, None, None]
        around = [centres[wide] + turns[:, :, axis] for axis in range(2)]
        return np.concatenate([centres, *around, *(x[own] for x, own in zip(state.x, some, strict=True))])

    return places


def _part(motion: MixedMotion) -> Callable[[int], str]:
    """Name of the part that a place belongs to."""
    carrier, (nodes, radii) = motion.carrier, motion.carrier.once(nodes_of)
    own = np.concatenate([nodes, *[nodes[np.flatnonzero(radii)]] * 2])

    def part(place: int) -> str:
        if place < len(own):
            before = [layout for layout in carrier.layout.parts if layout.entry <= own[place]]
            name = max(before, key=lambda layout: layout.entry).part.name if before else ""
            owner = next((h.name for h in motion.model.halves if name.startswith(f"{WELDED}{h.name}_")), name)
            return repr(owner) if name else "its root"
        place -= len(own)
        for half in motion.model.halves:
            if place < (count := len(some_nodes(len(half.system.rest.x)))):
                break
            place -= count
        return repr(half.name)

    return part


def judge(motion: MixedMotion, run: MixedTrajectory, path: Path, places: Callable[[Moving], Floats]) -> Quality:
    """The quality of a motion that reached its end."""

    def walk(dt: float, steps: int) -> Iterator[Floats]:
        for now, _ in motion.walk(dt, steps):
            yield places(now)

    some = run.some(ENERGIES)
    events = tuple(0.5 * (before + after) for before, after in motion.jumps)
    return judged(run.robot.name, path, walk, _part(motion), _energies(motion, some), events)


def _energies(motion: MixedMotion, run: MixedTrajectory) -> Energies | None:
    """Energies of a motion on which nothing works but what has a potential; else None."""
    model, carrier = motion.model, motion.carrier
    hidden = len(model.frames)
    loads = carrier.robot.loads[: len(carrier.robot.loads) - hidden]
    given = any(callable(value) for value in motion.inputs.values())
    varying = np.ptp(carrier.loads(run.t, motion.own).table, axis=0).any() if len(run.t) > 1 else False
    passive = not (given or varying) and takes_energy(carrier, loads)
    calm = not model.touches and all(is_passive(half.system) for half in model.halves)
    if not (passive and calm):
        return None
    kinetic, elastic, gravitational = energies(carrier, run.t, run.q, run.v)
    kept = elastic + gravitational + sum(potentials(some_of(all_of(run))()), np.zeros(len(run.t)))
    kinetic = kinetic.copy()
    gravity, efforts = model.gravity([0.0])[0], model.split(motion.inputs, 0.0, motion.slack)[1]
    with model.alone:
        for half, own in zip(model.halves, efforts, strict=True):
            motion_of_half = run.volume(half.name)
            half.system.body.gravity = gravity
            kept = kept + potential(half.system, motion_of_half.x, own)
            kinetic += [0.5 * float(np.sum(v * (half.matrix @ v))) for v in motion_of_half.v]
    return Energies(run.t, kinetic, kept)
