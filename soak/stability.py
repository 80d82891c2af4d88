"""Whether a robot would stay at an equilibrium, by differences of its residual: independent of what statics thinks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.linalg import eigh

from anguilla.interact.kernels.table import KIND, ROTATION
from anguilla.model.user import move


def _by_differences(ask: Callable, count: int, steps: np.ndarray) -> np.ndarray:
    """Derivatives (..., count) of a function of small changes (count,), by central differences.

    Where a step and a tenth of it disagree, the function bends within the step (a taut line whose ends meet at a joint turns
    around within micrometres), and a shorter one is taken, as long as what changes is more than rounding.
    """
    unit = np.eye(count)

    def column(k: int, h: float) -> np.ndarray:
        return (ask(h * unit[k]) - ask(-h * unit[k])) / (2.0 * h)

    columns = [column(k, steps[k]) for k in range(count)]
    floor = 1e-7 * max(
        (float(np.max(np.abs(c), initial=0.0)) * h for c, h in zip(columns, steps, strict=True)), default=0.0
    )
    for k, h in enumerate(steps):
        for times in (10.0, 100.0, 1e3, 1e4):
            finer = column(k, h / times)
            change = float(np.max(np.abs(finer - columns[k]), initial=0.0))
            if change <= max(1e-2 * float(np.max(np.abs(finer), initial=0.0)), floor / h):
                break
            columns[k] = finer
    return np.stack(columns, axis=-1)


def _drawn_in(made: SimpleNamespace) -> dict:
    """Inputs with lines of given length half as long: they stay taut near an equilibrium, for differences."""
    held = {name for name, a in made.robot.actuators.items() if getattr(a, "by", "tension") == "length"}
    half = lambda given: (lambda t: 0.5 * given(t)) if callable(given) else 0.5 * given
    return {name: half(given) if name in held else given for name, given in made.inputs.items()}


def _changed(made: SimpleNamespace, eq: Any) -> Callable:
    """The state of an equilibrium after small changes of coordinates (n,) and multipliers (m,), lines being taut."""
    system, inputs = eq.system, _drawn_in(made)
    return lambda x, l=0.0: system.evaluate(
        move(system.tree, eq.q, x), multipliers=eq.multipliers + l, t=eq.t, inputs=inputs
    )


def _holding(made: SimpleNamespace, eq: Any) -> tuple[np.ndarray, ...]:
    """(taut, B, give): rows (m,) that bear something, and the forces (m, n) and the yielding (m,) by their multipliers."""
    system, lam = eq.system, eq.multipliers
    n, m, lines = system.size, system.rows, system.blank.constraints.input_row
    taut, unit, state = np.ones(m, bool), np.ones(m), _changed(made, eq)
    if not m:
        return taut, np.zeros((0, n)), np.zeros(0)
    lines = lines[lines >= 0]
    taut[lines] = lam[lines] > 0.0
    unit[lines] = np.where(taut, 0.5 * np.abs(lam), 1.0)[lines]  # a line does not push
    B = _by_differences(lambda x: state(np.zeros(n), x).residual.copy(), m, unit).T
    give = -_by_differences(lambda x: state(np.zeros(n), x).constraints.copy(), m, unit).diagonal()
    return taut, B, np.where(taut, give, 0.0)


def linearised(made: SimpleNamespace, eq: Any, *, relative: bool = False) -> tuple[np.ndarray, ...]:
    """(K, J, B) by differences alone: dR/dq, the gradients of what is held, and the forces per multiplier (rows as J).

    A taut line of given length is held, one with a compliance is a spring; a slack one is neither. With `relative`, rows of
    lengths are parts of the robot's, beside angles.
    """
    n, scale, state = eq.system.size, eq.system.tree.scale, _changed(made, eq)
    h = 1e-5 / scale
    K = scale[:, None] * _by_differences(lambda x: state(x).residual / scale, n, h)
    taut, B, give = _holding(made, eq)
    if not len(taut):
        return K, np.zeros((0, n)), B
    J = _by_differences(lambda x: state(x).constraints.copy(), n, h)
    soft, hard = taut & (give > 0.0), taut & ~(give > 0.0)
    turns = eq.system.blank.constraints.table[:, KIND] == ROTATION
    unit = np.where(turns | (not relative), 1.0, made.spec["length"])[hard, None]
    return K + (B[soft] / give[soft, None]).T @ J[soft], J[hard] / unit, B[hard] / unit


def _left_free(rows: np.ndarray, keep: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Directions (n, f), in angles and relative lengths, that rows (m, n) do not see, of the coordinates to keep."""
    V = np.eye(len(scale))[:, keep] / scale[None, keep]
    if len(rows):
        _, s, found = np.linalg.svd(rows @ V)
        V = V @ found[int(np.sum(s > 1e-7 * max(s[0], 1e-300))) :].T
    return V


def instability(made: SimpleNamespace, eq: Any) -> float:
    """Growth rate of the fastest growing small motion, times the time of the robot's first mode; 0 if it is stable."""
    system, pace = eq.system, made.spec["pace"]
    K, J, B = linearised(made, eq, relative=True)
    _, C, M = system.matrices(eq.q, t=eq.t, inputs=made.inputs, multipliers=eq.multipliers)
    keep = np.setdiff1d(np.arange(system.size), system.blank.driven)
    V = W = _left_free(J, keep, system.tree.scale)
    if np.any(system.blank.cables.friction > 0.0):  # what a line holds is not along what it measures
        W = _left_free(B, keep, system.tree.scale)
    if not V.shape[1] or V.shape != W.shape:
        return 0.0
    for rate, shape in _growing(*(W.T @ X @ V for X in (K, C, 0.5 * (M + M.T))), W is V or not len(J), pace):
        if not len(J) or _gives(made, eq, V @ shape, keep):
            return float(rate * pace)
    return 0.0


def _growing(
    K: np.ndarray, C: np.ndarray, M: np.ndarray, same: bool, pace: float
) -> Iterator[tuple[float, np.ndarray]]:
    """(rate [1/s], shape (f,)) of the motions of M x'' + C x' + K x = 0 that grow, the fastest first.

    All vibrations count: what feeds slow ones through fast ones is missed without these, or found where there is nothing.
    """
    noise = 1e-6  # of the fastest rate: by differences
    if same:
        try:
            squares, shapes = eigh(0.5 * (K + K.T), M)
        except np.linalg.LinAlgError:
            return
        least = noise * np.sqrt(np.max(np.abs(squares)))
        skew = np.linalg.norm(K - K.T) > 1e-5 * np.linalg.norm(K)
        drive = np.linalg.eigvalsh(C + C.T)  # loads may feed what moves, as a current does
        if not skew and drive[0] >= -1e-7 * np.max(np.abs(drive)):
            rates = np.sqrt(np.maximum(0.0, -squares))
            yield from ((rates[k], shapes[:, k]) for k in range(len(rates)) if rates[k] > least)
            return
        K, C, M = (shapes.T @ X @ shapes for X in (K, C, M))
    rates, found = _rates(K, C, M, 0.3 / pace)
    if not same:
        least = noise * np.max(np.abs(rates))
    found = shapes @ found if same else found
    for k in np.argsort(-rates.real):
        if rates[k].real > least:
            yield rates[k].real, found[:, k].real


def _rates(K: np.ndarray, C: np.ndarray, M: np.ndarray, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Rates (2 f,) [1/s] and shapes (f, 2 f) of M x'' + C x' + K x = 0, by 1 / (rate - shift): slow ones keep digits."""
    f, unit = len(K), 1.0 / shift
    inverse = np.linalg.inv(K + shift * C + shift**2 * M)
    whole = np.block([[np.zeros((f, f)), np.eye(f)], [-inverse @ M / unit**2, -inverse @ (C + 2.0 * shift * M) / unit]])
    times, found = np.linalg.eig(whole)
    seen = np.abs(times) > 1e-14 * np.max(np.abs(times))
    return shift + 1.0 / (unit * times[seen]), found[:f, seen]


def _gives(made: SimpleNamespace, eq: Any, along: np.ndarray, keep: np.ndarray) -> bool:
    """Whether a robot can really go along a small motion (n,): closed again after a step, it is not back where it was.

    Where what holds it is singular, the gradients alone do not tell: a straight rod between two points as far apart as it
    is long seems free to bend, though it would have to stretch.
    """
    system, state, scale = eq.system, _changed(made, eq), eq.system.tree.scale
    taut, _, give = _holding(made, eq)
    hard, none, far = taut & ~(give > 0.0), np.zeros(system.size), 1e-3
    before = state(none).constraints[hard].copy()
    step = far / np.linalg.norm(along * scale) * along
    for _ in range(40):
        missed = state(step).constraints[hard] - before
        J = _by_differences(lambda x: state(step + x).constraints[hard].copy(), len(step), 1e-6 / scale)
        back = np.linalg.lstsq(J[:, keep] / scale[keep], -missed, rcond=1e-9)[0]
        step[keep] += back / scale[keep]
        if np.linalg.norm(back) < 1e-3 * np.linalg.norm(step * scale):
            break
    return bool(np.linalg.norm(step * scale) > 0.1 * far)
