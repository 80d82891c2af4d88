"""Static equilibrium of robots with soft volumes: Newton on coordinates and nodes at once.

The stiffness K_ii of the nodes of each volume is factorised by its own sparse solver. What is left, the Schur complement on
the coordinates and multipliers of rods and bodies, is a small full matrix.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe.ports import Drive, within_limits
from anguilla.describe.robot import Robot
from anguilla.errors import DescriptionError, SolverError, as_count, as_number, as_positive, warn
from anguilla.fem.contact import Grip
from anguilla.fem.equilibrium import BALANCED as SOFT_BALANCED
from anguilla.fem.equilibrium import REACH
from anguilla.fem.equilibrium import WORDS as SOFT_WORDS
from anguilla.fem.mesh import Floats, Ints
from anguilla.fem.results import SoftEquilibrium
from anguilla.fem.system import SoftState
from anguilla.interact.kernels.rubbing import rubs
from anguilla.interact.kernels.table import Loads
from anguilla.mixed.contact import VolumeTouches, couple, grips_of, meets_of, press, refuse_contact, touched_of
from anguilla.mixed.half import Half
from anguilla.mixed.model import Lead, MixedModel, mixed_of
from anguilla.mixed.pairs import Met, Ties, tie
from anguilla.mixed.results import MixedEquilibrium, MixedTrajectory
from anguilla.model.evaluation import Evaluation, at_rest
from anguilla.model.model import Model
from anguilla.model.user import move
from anguilla.results.reactions import grasps
from anguilla.results.states import Equilibrium, Status
from anguilla.solve.newton.closing import SINGULAR_START, broken, close, crushed, drive
from anguilla.solve.newton.continuation import Attempt, Continuation, Followed, counted, halted
from anguilla.solve.newton.method import KeptSolver, Newton
from anguilla.solve.newton.rules import CONVERGED
from anguilla.solve.statics.downhill import BALANCED
from anguilla.solve.statics.judging import contradiction
from anguilla.solve.statics.statics import ADVICE, CRUSHED_ADVICE, SPECIAL_ADVICE

__all__ = ["Balance", "Mixed", "statics"]

ROUND_OFF = 1e-8  # corrections below it that no longer shrink are round-off
NO_STRAIN = 1e-7  # of the volumes: what is left of less is no load
LOST = 1e-11  # of stiffnesses that cancel: what is left of less is round-off
RESTS = 1e-5  # of what such a strain takes: less is the round-off of a state without forces


class Mixed(NamedTuple):
    """A state: coordinates (n,), multipliers (m,), positions (nodes, 3) [m] of the nodes of each volume."""

    q: Floats
    lam: Floats
    x: list[Floats]


class Known(NamedTuple):
    """What is known of a state."""

    state: Mixed
    lead: Lead
    carrier: Evaluation
    left: Floats  # (n + m,) residual of the carrier, volumes included
    gradients: list[Floats]  # (nodes, 3) of the energy of each volume
    blocks: list[Floats]  # of its stiffness
    wrenches: Floats  # (F, 6) on the frames
    touches: list[VolumeTouches | None]  # of each volume
    meets: list[Met]  # of volumes that may touch each other


class Correction(NamedTuple):
    """Changes of coordinates (n,), multipliers (m,), and nodes (free, 3) of each volume."""

    q: Floats
    lam: Floats
    x: list[Floats]


class Inverse(Protocol):
    """The inverse of the Schur complement, or of its transpose, times columns (n + m, k)."""

    def __call__(self, b: Floats, transposed: bool = False) -> Floats: ...


class Seam(NamedTuple):
    """What a volume and the coordinates have to do with each other."""

    J: Floats  # (6 F, n) twists of its frames, per rate of the coordinates
    cross: Floats  # T^T K_pi (6 F, 3 f)
    right: Floats  # K_ip T (3 f, 6 F), transposed: the same, but where things slide


class Factored(NamedTuple):
    """A factorised tangent."""

    inverse: Inverse
    schur: Floats  # (n + m, n + m)
    seams: list[Seam]
    back: list[Floats]  # T^T K_pi K_ii^-1 (6 F, 3 f) of each volume
    negative: int  # pivots of all K_ii
    ties: Ties | None = None  # between volumes that touch each other


class Balance:
    """The balance of a robot under a part of its loads, as a problem for Newton's method."""

    reach = REACH

    def __init__(self, model: MixedModel, carrier: Model, loads: Loads, efforts: list[Floats], t: float) -> None:
        self.model, self.carrier, self.loads, self.efforts, self.t = model, carrier, loads, efforts, t
        self.full, self.factor = loads.row.copy(), 1.0
        self.gravity = model.gravity([t])[0]
        self._work = [np.zeros((len(half.system.pattern.rows), 9)) for half in model.halves]
        self.last: Factored | None = None
        self.grips: list[Grip | None] = [None] * len(model.touchers)  # friction acts where something is remembered

    def at(self, factor: float) -> Balance:
        """The same with a part of the loads."""
        self.factor = factor
        row = self.full.copy()
        row[self.carrier.force_places] *= factor
        self.loads.row[:] = row
        return self

    def evaluate(self, state: Mixed, stiffness: bool = True) -> Known | None:
        """Forces and, unless that is not wanted, stiffness; None if an element is inside out."""
        model = self.model
        lead = model.lead(state.q)
        total, gradients, blocks, touches = np.zeros((len(model.frames), 6)), [], [], []
        for half, x in zip(model.halves, state.x, strict=True):
            half.place(x, lead.poses)
        meets = meets_of(model, state.x, self.grips, wants=stiffness)
        rows = zip(model.halves, state.x, self.efforts, self._work, self.grips, strict=False)
        for k, (half, x, efforts, work, grip) in enumerate(rows):
            half.system.body.gravity = self.gravity
            energy, gradient, found = half.system.evaluate(
                half.state(x), efforts, factor=self.factor, t=self.t, stiffness=stiffness, blocks=work
            )
            if not np.isfinite(energy):
                return None
            touched = press(half, x, lead.poses, grip, gradient, found if stiffness else None)
            for pair, met in zip(model.pairs, meets, strict=True):
                pair.add(k, met, gradient, found if stiffness else None)
            total[half.frames] += half.wrenches(gradient, lead.poses)
            total += 0.0 if touched is None else touched.wrenches
            gradients.append(gradient)
            blocks.append(found)
            touches.append(touched)
        here = at_rest(self.carrier, model.pulled(self.loads, total), state.q, state.lam)
        if not np.isfinite(here.values).all():
            return None
        left = here.values.copy()
        left[self.loads.driven] = 0.0
        return Known(state, lead, here, left, gradients, blocks, total, touches, meets)

    def factorise(self, at: Known) -> Callable[[Known], Correction] | None:
        """Factorise K_ii of each volume, and the Schur complement."""
        found = self.last = factored(self.model, self.carrier, at.carrier.bordered(), at, self.loads)
        return None if found is None else self.correct

    def correct(self, now: Known) -> Correction:
        """The correction at a state, with the last tangent."""
        assert self.last is not None
        return corrected(self.model, self.carrier, self.last, now)

    def measure(self, at: Known, step: Correction) -> tuple[float, float]:
        """Largest angle or relative displacement."""
        sizes = [float(np.linalg.norm(step.q * self.carrier.tree.weight))]
        for half, nodes, change in zip(self.model.halves, at.state.x, step.x, strict=True):
            rest = change - self._carried(half, nodes, at, step)
            sizes.append(float(np.abs(rest).max(initial=0.0)) / half.size)
        return max(sizes), max(sizes)

    def move(self, at: Known, step: Correction, part: float) -> Mixed:
        """The state after a part of a correction; multipliers are found anew by each, and changed at once."""
        q, lam, x = at.state
        new = move(self.carrier.tree, q, part * step.q)
        after, moved = self.model.lead(new).poses, []
        for half, nodes, change in zip(self.model.halves, x, step.x, strict=True):
            rest = change - self._carried(half, nodes, at, step)
            moved.append(half.moved(nodes, at.lead.poses, after, part * rest))
        return Mixed(new, lam + step.lam, moved)

    def _carried(self, half: Half, nodes: Floats, at: Known, step: Correction) -> Floats:
        """Part (f, 3) [m] of the correction of a volume that is the motion of its frames."""
        twists = (at.lead.J[self.model.rows_of(half)] @ step.q).reshape(-1, 6)
        return half.carried(nodes, at.lead.poses, twists)

    def improves(self, at: Known, new: Known, step: Correction, part: float, near: bool) -> bool:
        """Whether the same tangent would correct the new state by less."""
        if near:
            return True
        return self.measure(new, self.correct(new))[0] <= (1.0 - 0.25 * part) * self.measure(at, step)[0]


def coupled(model: MixedModel, matrix: Floats, at: Any) -> list[Seam]:
    """Add to the matrix (n + m, n + m) of the carrier what its frames feel if no node moves; the rest are seams."""
    n, found = at.lead.J.shape[1], []
    for half, gradient, blocks, touches in zip(model.halves, at.gradients, at.blocks, at.touches, strict=True):
        J = at.lead.J[model.rows_of(half)]
        cross, own = half.coupling(blocks, gradient, at.lead.poses)
        right = cross
        if touches is not None:
            cross, right = couple(half, touches, at.lead.poses, cross, own)
        matrix[:n, :n] += J.T @ own @ J
        found.append(Seam(J, cross, right))
    return found


def factored(
    model: MixedModel, carrier: Model, matrix: Floats, at: Any, loads: Loads, *, definite: bool = True
) -> Factored | None:
    """The tangent of the whole, factorised, from that of the carrier; None if it is singular.

    With `definite`, a stiffness of nodes that is not positive definite is made so, for steps that go downhill.
    """
    n, negative, back, driven = carrier.size, 0, [], loads.driven
    seams = coupled(model, matrix, at)
    try:
        for half, blocks, seam in zip(model.halves, at.blocks, seams, strict=True):
            seam.J[:, driven] = 0.0
            negative += (
                factor_definite(half, blocks) if definite else half.system.solver.factor(blocks[half.system.inner])
            )
            back.append(
                half.system.solver.solve(seam.right) if len(seam.right) else seam.right
            )  # held by the ground alone
            matrix[:n, :n] -= seam.J.T @ (seam.cross @ back[-1].T) @ seam.J
    except SolverError:
        return None
    inverse = inverted(carrier, matrix, driven)
    if inverse is None:
        return None
    found = Factored(inverse, matrix, seams, back, negative)
    try:
        ties = tie(model, at, driven, len(matrix), lambda right, alone: _joined(found, right, alone))
    except SolverError:
        return None
    return found._replace(ties=ties)


def inverted(carrier: Model, matrix: Floats, driven: Ints) -> Inverse | None:
    """The inverse of the Schur complement (n + m, n + m), in which imposed coordinates are held; None if it is singular."""
    matrix[driven], matrix[:, driven] = 0.0, 0.0
    matrix[driven, driven] = 1.0
    return _inverse(matrix, np.concatenate([carrier.tree.scale, np.ones(carrier.rows)]), carrier.size)


def solved(
    model: MixedModel, by: Factored, right: Floats, nodes: list[Floats], *, transposed: bool = False
) -> tuple[Floats, list[Floats]]:
    """Solve with a factorised tangent for columns (n + m, k) and rows (k, 3 f) of each volume; the same shapes come back."""
    alone = [half.system.solver.solve(rows) for half, rows in zip(model.halves, nodes, strict=True)]
    found = _joined(by, right, alone, transposed)
    return found if by.ties is None else by.ties.corrected(*found)


def _joined(by: Factored, right: Floats, alone: list[Floats], transposed: bool = False) -> tuple[Floats, list[Floats]]:
    """As `solved`, where rows of each volume are solved for its own nodes already; without ties between volumes."""
    n, right = by.seams[0].J.shape[1], right.copy()
    for rows, seam in zip(alone, by.seams, strict=True):
        right[:n] -= seam.J.T @ (seam.cross @ rows.T)
    step = by.inverse(right, transposed)
    rest = zip(alone, by.seams, by.back, strict=True)
    return step, [rows - (seam.J @ step[:n]).T @ back for rows, seam, back in rest]


def corrected(model: MixedModel, carrier: Model, by: Factored, now: Any) -> Correction:
    """The correction at a state, with a factorised tangent."""
    rows = [-gradient[half.free].reshape(1, -1) for half, gradient in zip(model.halves, now.gradients, strict=True)]
    step, nodes = solved(model, by, -now.left[:, None], rows)
    n = carrier.size
    return Correction(step[:n, 0], step[n:, 0], [x[0].reshape(-1, 3) for x in nodes])


def factor_definite(half: Half, blocks: Floats) -> int:
    """Factorise K_ii; returns its negative pivots. One that is not positive definite gets a multiple of the identity."""
    system = half.system
    values = half.inner(blocks)
    negative = found = max(0, system.solver.factor(values))
    if not found:
        return 0
    rows, cols = system.unknowns.rows[system.inner], system.unknowns.cols[system.inner]
    diagonal = rows == cols
    size = float(np.abs(values[diagonal][:, [0, 4, 8]]).mean())
    shift = 1e-7 * size
    while found > 0 and shift < 1e4 * size:
        shifted = values.copy()
        for k in (0, 4, 8):
            shifted[diagonal, k] += shift
        found = system.solver.factor(shifted)
        shift *= 10.0
    return negative


def _inverse(matrix: Floats, scale: Floats, n: int) -> Inverse | None:
    """The inverse of a bordered matrix (n + m, n + m), scaled to entries of order one; None if it is singular."""
    from scipy.linalg import lapack

    if not len(matrix):  # nothing but volumes moves
        return lambda b, transposed=False: np.zeros_like(b)
    scaled = matrix / scale[:, None] / scale
    tau = max(float(np.abs(np.diagonal(scaled)[:n]).max(initial=0.0)), 1e-300)
    rows = np.concatenate([np.full(n, 1.0 / np.sqrt(tau)), np.ones(len(matrix) - n)])
    for k in range(n, len(matrix)):
        rows[k] = np.sqrt(tau) / max(float(np.abs(scaled[k, :n]).max(initial=0.0)), 1e-300)
    scaled = scaled * rows[:, None] * rows
    lu, pivots, info = lapack.dgetrf(scaled)
    size = np.abs(np.diagonal(lu))
    if info != 0 or not np.isfinite(size).all() or size.min(initial=1.0) < 1e-15 * size.max(initial=0.0):
        return None
    factors = (rows / scale)[:, None]

    def solve(b: Floats, transposed: bool = False) -> Floats:
        return np.asarray(factors * lapack.dgetrs(lu, pivots, factors * b, trans=int(transposed))[0])

    return solve


def statics(
    robot: Robot | MixedModel, *, inputs: Mapping[str, Any] | None = None,
    start: MixedEquilibrium | ArrayLike | None = None, t: float = 0.0, method: object = "newton", tolerance: float = 1e-10,
    iterations: int = 40, raise_on_failure: bool = True,
) -> MixedEquilibrium:  # fmt: skip
    """`ag.statics` of a robot with soft volumes."""
    if method != "newton":
        raise DescriptionError(f'method must be "newton" for a robot with soft volumes; got {method!r}.')
    model = mixed_of(robot)
    t = as_number(t, "t", "s")
    as_positive(tolerance, "tolerance", "")
    as_count(iterations, "iterations")
    with ExitStack() as desks:
        return _statics(model, desks, inputs, start, t, tolerance, iterations, raise_on_failure)


def opened(
    model: MixedModel, desks: ExitStack, inputs: Mapping[str, Any] | None, start: object, t: float
) -> tuple[Balance, Mixed, dict[str, Any]]:
    """The problem at a time, where to start, and inputs of the carrier."""
    desks.enter_context(model.alone)
    drives = model.robot.drives
    if inputs and any(found != Drive() for found in drives.values()):
        inputs = within_limits(drives, {k: x(t) if callable(x) else x for k, x in inputs.items()})
    own, efforts = model.split(inputs, t)
    carrier = model.carrier
    desks.enter_context(carrier.apart())
    if isinstance(start, Equilibrium) and not isinstance(start, MixedEquilibrium):
        raise DescriptionError("start must be an equilibrium of the same robot with its volumes, or coordinates (n,).")
    given: Any = start.q if isinstance(start, MixedEquilibrium) else start
    given = start.q[-1] if isinstance(start, MixedTrajectory) else given
    q = carrier.vector(given, "start")
    if not carrier.is_plain:
        carrier, q = close(carrier, own, t, q)
        desks.enter_context(carrier.apart())
    if grasps(carrier.blank) or rubs(carrier.blank.cables):
        raise DescriptionError(f"Robot {model.name!r}: friction that holds is not available with soft volumes yet.")
    loads = model.table(t, own, carrier).loads
    q = drive(loads, q)
    lam = np.zeros(carrier.rows)
    if isinstance(start, MixedEquilibrium) and start.multipliers.shape == lam.shape:
        lam[:] = start.multipliers
    problem = Balance(model, carrier, loads, efforts, t)
    begin = Mixed(q, lam, nodes_from(model, q, start, problem.gravity))
    if isinstance(start, MixedEquilibrium | MixedTrajectory):
        problem.grips = held_by(model, start, begin)
    return problem, begin, own


def held_by(model: MixedModel, start: MixedEquilibrium | MixedTrajectory, state: Mixed) -> list[Grip | None]:
    """What points that touch remember of a result to start from; nothing of volumes without friction."""
    told = start.touched[-1] if start.touched else [None] * len(model.touchers)
    grips = grips_of(model, state.x, model.lead(state.q).poses, told)
    rubbing = [toucher is not None and toucher.rubs for toucher in model.touchers]
    return [grip if rubs else None for grip, rubs in zip(grips, rubbing, strict=True)]


def nodes_from(model: MixedModel, q: Floats, start: object, gravity: Floats) -> list[Floats]:
    """Nodes of all volumes to start from."""
    lead, found = model.lead(q), []
    for k, half in enumerate(model.halves):
        if isinstance(start, MixedEquilibrium | MixedTrajectory):
            x = start.volume(half.name).x
            x = x[-1] if isinstance(start, MixedTrajectory) else x
            if x.shape != half.system.rest.x.shape:
                raise DescriptionError("start must be an equilibrium of the same robot, with the same meshes.")
            found.append(x.copy())
        else:
            found.append(half.started(lead.poses, model.axes_of(k, q), gravity))
    return found


def _statics(
    model: MixedModel, desks: ExitStack, inputs: Mapping[str, Any] | None, start: object, t: float, tolerance: float,
    iterations: int, raise_on_failure: bool,
) -> MixedEquilibrium:  # fmt: skip
    began = time.perf_counter()
    problem, begin, own = opened(model, desks, inputs, start, t)
    newton, memory = Newton(tolerance, iterations, round_off=ROUND_OFF), KeptSolver()
    count = 0

    def attempt(x: Mixed, last: Mixed, factor: float) -> Attempt[Mixed]:
        nonlocal count
        out = newton.solve(problem.at(factor), x, memory)
        count += out.iterations
        return Attempt(out.x, out.status, out.iterations)

    out = attempt(begin, begin, 1.0)
    found = Followed(out.x, 1.0, 1, out.status, "")
    held = any(
        grip is not None for grip in problem.grips
    )  # bristles begin at the start: there is no way to it from rest
    rests = out.status != CONVERGED and _rests(problem, begin)  # nothing loads it, so that it may be free
    if rests:
        found = Followed(begin, 1.0, 1, CONVERGED, "")
    elif out.status != CONVERGED and held:
        found = Followed(out.x, 0.0, 1, out.status, "")
    elif out.status != CONVERGED:
        found = Continuation().follow(begin, attempt, None)
    ok = found.factor >= 1.0 and found.status == CONVERGED
    message = counted(count, found.steps) if ok else halted(found.factor, SOFT_WORDS[found.status])
    advice = SPECIAL_ADVICE.get(found.status, ADVICE)
    at = problem.at(1.0).evaluate(found.x)
    if ok and not rests:
        at = _polished(problem, at)
        ok, message, advice = _judged(problem, at, tolerance, message, advice)
    unstable = falling(problem, at) if ok and at is not None else 0
    if unstable:
        message += " (unstable: it would not stay there)"
    counters = {"iterations": count, "factorisations": memory.factorisations, "halvings": memory.halvings}
    counters |= {"load_steps": found.steps, "unstable": unstable}
    result = _result(
        problem,
        found.x if at is None else at.state,
        at,
        own,
        Status(ok, message, counters, time.perf_counter() - began),
    )
    conflict = broken(problem.carrier, result.inputs, *result.stored[:3])
    if conflict:
        raise SolverError(f"No equilibrium of {model.name!r}: {conflict}.", result=result, advice=SINGULAR_START)
    if not ok and raise_on_failure:
        raise SolverError(f"No equilibrium of {model.name!r}: {message}.", result=result, advice=advice)
    if unstable:
        warn(
            f"{model.name!r} is in balance but would not stay so: its energy falls in {unstable} "
            f"direction{'s' * (unstable > 1)}, and symmetry alone may hold it. Load it a little sideways first and give that "
            "result as start=, to find the shape that it takes."
        )
    return result


def _rests(problem: Balance, state: Mixed) -> bool:
    """Whether nothing acts where everything is at rest."""
    at = problem.at(1.0).evaluate(state)
    if at is None:
        return False
    sizes = [half.system.elements for half in problem.model.halves]
    pulls = [float(el.mu @ el.weight.sum(axis=1) ** (2.0 / 3.0)) for el in sizes]
    works = max(float(el.mu @ el.weight.sum(axis=1)) for el in sizes)
    nodes = zip(problem.model.halves, at.gradients, pulls, strict=True)
    still = all(
        float(np.linalg.norm(g[half.free], axis=1).sum()) <= RESTS * NO_STRAIN * size for half, g, size in nodes
    )
    left = np.abs(at.left[: problem.carrier.size]) / problem.carrier.tree.scale
    return still and not problem.carrier.rows and float(left.max(initial=0.0)) <= RESTS * NO_STRAIN * works


def _judged(problem: Balance, at: Known | None, tolerance: float, message: str, advice: str) -> tuple[bool, str, str]:
    """Whether a state that was found is an equilibrium: as rods and bodies are judged, and as volumes are."""
    if at is None:
        return False, "elements turned inside out", advice
    carrier, (q, lam, x) = problem.carrier, at.state
    if name := crushed(carrier, q):
        return False, f"{name!r} would be squeezed to nothing", CRUSHED_ADVICE
    left, name = _left(problem, at)
    if left > BALANCED:
        return False, f"{left:.2g} of its loads are left unbalanced on {name!r}", advice
    if wrong := contradiction(carrier, problem.model.pulled(problem.loads, at.wrenches), q, lam):
        return False, wrong, advice
    for half, nodes, efforts in zip(problem.model.halves, x, problem.efforts, strict=True):
        left = _left_on(half, at.gradients[problem.model.halves.index(half)], nodes, efforts, problem.t)
        if left > max(SOFT_BALANCED, 1e4 * tolerance):
            return False, f"{left:.2g} of the loads are left unbalanced on {half.name!r}", advice
    return True, message, advice


def _polished(problem: Balance, at: Known | None) -> Known | None:
    """The state after one more correction with the last tangent, if that one is small: balance asks for more digits."""
    if at is None or problem.last is None:
        return at
    step = problem.correct(at)
    if not problem.measure(at, step)[0] < ROUND_OFF:
        return at
    return problem.evaluate(problem.move(at, step, 1.0)) or at


def _left_on(half: Half, gradient: Floats, x: Floats, efforts: Floats, t: float) -> float:
    """Sum of the forces left on the nodes of a volume, over that of its loads or of its elastic forces."""
    system, loads = half.system, np.zeros_like(gradient)
    system.external_forces(x, efforts, 1.0, t, loads, system.nothing_pulled, False)
    total = lambda forces: float(np.linalg.norm(forces, axis=1).sum())
    nothing = NO_STRAIN * float(system.elements.mu @ system.elements.weight.sum(axis=1) ** (2.0 / 3.0))
    return total(gradient[half.free]) / max(total(loads), total(gradient - loads), nothing)


def _left(problem: Balance, at: Known) -> tuple[float, str]:
    """(Largest force left on a part, over what volumes and all else do to it, the name of the part)."""
    carrier, (q, lam, _) = problem.carrier, at.state
    scale = carrier.tree.scale
    others = at_rest(carrier, problem.model.pulled(problem.loads, 0.0 * at.wrenches), q, lam).residual / scale
    elastic = carrier.elastic @ q / scale
    left, found = np.abs(at.left[: carrier.size]) / scale, (0.0, "")
    size = [float(half.system.elements.mu @ half.system.elements.weight.sum(axis=1)) for half in problem.model.halves]
    nothing = NO_STRAIN * max(size)
    for layout in carrier.layout.parts:
        own = slice(layout.joint.start, layout.coordinates.stop)
        if own.start == own.stop:
            continue
        present = max(float(np.abs(others[own]).max()), float(np.abs(elastic[own]).max()), nothing)
        found = max(found, (float(left[own].max()) / present, layout.part.name))
    return found


def falling(problem: Balance, at: Known) -> int:
    """Directions in which the energy falls, by the inertia of the whole stiffness (Haynsworth): of K_ii and of the rest."""
    again = problem.evaluate(at.state)  # blocks are those of the last state
    if again is None or problem.factorise(again) is None or problem.last is None:
        return 0
    values, zero = stiffnesses(problem.carrier, problem.last)
    ties = 0 if problem.last.ties is None else problem.last.ties.falling()
    return problem.last.negative + ties + int(np.sum(values < -zero))


def stiffnesses(carrier: Model, by: Factored) -> tuple[Floats, float]:
    """Stiffnesses along the coordinates that the constraints leave, scaled, and how small they are if nothing holds them."""
    n, scale = carrier.size, carrier.tree.scale
    inner = 0.5 * (by.schur[:n, :n] + by.schur[:n, :n].T) / scale[:, None] / scale
    rows = by.schur[n:, :n] / scale
    if len(rows):
        _, size, vt = np.linalg.svd(rows)
        keep = vt[int(np.sum(size > 1e-10 * size.max(initial=0.0))) :]
        inner = keep @ inner @ keep.T
    values: Floats = np.linalg.eigvalsh(inner).astype(np.float64)
    # the difference of what frames feel of nodes that stand and of what these give
    given = [seam.J.T @ (seam.cross @ back.T) @ seam.J for seam, back in zip(by.seams, by.back, strict=True)]
    lost = max((float((np.abs(np.diagonal(part)) / scale**2).max(initial=0.0)) for part in given), default=0.0)
    return values, max(1e-12 * float(np.abs(values).max(initial=0.0)), LOST * lost)


def balance_of(result: MixedEquilibrium, desks: ExitStack) -> tuple[Balance, Known]:
    """The balance of an equilibrium that was found, evaluated there."""
    assert result.mixed is not None
    refuse_contact(result.mixed, "modes and gradients")
    carrier, (t, q, _, lam) = result.system, result.stored
    desks.enter_context(result.mixed.alone)
    desks.enter_context(carrier.apart())
    loads = carrier.loads(float(t[0]), result.inputs).loads
    problem = Balance(result.mixed, carrier, loads, [v.efforts for v in result.volumes.values()], float(t[0]))
    known = problem.evaluate(Mixed(q[0].copy(), lam[0].copy(), [v.x.copy() for v in result.volumes.values()]))
    assert known is not None
    return problem, known


def present(model: MixedModel, carrier: Model, state: Mixed) -> MixedEquilibrium:
    """A state, balanced or not, as a result to start from."""
    zero, status, volumes = np.zeros((1, carrier.size)), Status(True, "present state"), {}
    for half, x in zip(model.halves, state.x, strict=True):
        none = np.zeros(len(half.system.names))
        volumes[half.name] = SoftEquilibrium(half.view.body, half.view, half.state(x), none, status)
    states = np.zeros(1), state.q[None].copy(), zero, zero, state.lam[None].copy()
    return MixedEquilibrium(model.source, carrier, status, *states, {}, volumes=volumes, mixed=model)


def _result(problem: Balance, found: Mixed, at: Known | None, own: dict[str, Any], status: Status) -> MixedEquilibrium:
    model, carrier = problem.model, problem.carrier
    wrenches = np.zeros((len(model.frames), 6)) if at is None else at.wrenches
    zero, told = np.zeros((1, carrier.size)), model.told(own, wrenches)
    volumes = {}
    for half, x, efforts in zip(model.halves, found.x, problem.efforts, strict=True):
        state = SoftState(x, half.system.rest.rotations)
        volumes[half.name] = SoftEquilibrium(half.view.body, half.view, state, efforts, status)
    states = np.array([problem.t]), found.q[None].copy(), zero, zero, found.lam[None].copy()
    touched = [touched_of(model, found.x, model.lead(found.q).poses, problem.grips)]
    return MixedEquilibrium(model.source, carrier, status, *states, told, volumes=volumes, mixed=model, touched=touched)
