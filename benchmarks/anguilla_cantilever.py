"""Release of a cantilever (benchmarks/cases.py) with Anguilla, one thread.

    python benchmarks/anguilla_cantilever.py soft --repeat 20
    python benchmarks/anguilla_cantilever.py soft --bend-modes 6 --intervals 8 --dt 0.03
    python benchmarks/anguilla_cantilever.py soft --path

Prints one line of JSON per setting. The time is that of the motion alone (`run.status.seconds`, but no more than the processor time of the call), which starts
from a compiled robot and a known equilibrium; `call_seconds` is the whole call of `simulate` for a robot that was simulated
before, `new_seconds` that for a robot described anew, which is compiled first; `tip_seconds` the reading of the tip from its
result; `whole_seconds` all that a user calls: description, compilation, motion and reading of the tip, but not the equilibrium
that it starts from; `first_seconds` the first solve of the process, in which kernels are compiled or loaded.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import time
from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np
from cases import CANTILEVERS, Cantilever, interpolate, tip_error
from measure import looped, record, repeats, rounded, show, timed, whole_call
from settings import SETTINGS, Setting, hanging, robots, solve, swing, tip

import anguilla as ag

# Bending modes, intervals and step [s] (and modes of stretch, if not the quoted ones), refined together from settings that are
# too coarse, through the quoted one.
PATHS = {
    "soft": (
        (3, 5, 0.1), (4, 6, 0.08), (5, 8, 1 / 15), (6, 9, 0.04), (7, 10, 0.02), (8, 12, 0.0125), (9, 16, 0.01),
        (10, 20, 0.00625), (12, 24, 0.005), (14, 32, 0.0025),
    ),
    "stiff": (
        (9, 14, 1e-3), (11, 16, 6.25e-4), (12, 15, 5e-4), (13, 17, 5e-4), (15, 22, 4e-4), (17, 28, 3.125e-4), (19, 32, 2e-4),
        (23, 40, 1.25e-4, 3), (31, 52, 1e-4, 4),
    ),
    "stiff200": (
        (3, 4, 1.25e-3), (3, 5, 1e-3), (4, 6, 7e-4), (5, 8, 4e-4), (6, 10, 2.5e-4), (7, 12, 1.25e-4), (8, 16, 1e-4),
        (10, 20, 5e-5),
    ),
}  # fmt: skip


def path(case: Cantilever) -> Iterator[Setting]:
    """Settings along which everything is refined; Newton's tolerance is tightened beyond the quoted setting."""
    quoted = SETTINGS[case.name]
    for modes, intervals, dt, *stretch in PATHS[case.name]:
        finer = modes > quoted.bend_modes
        yield replace(
            quoted,
            bend_modes=modes,
            stretch_modes=stretch[0] if stretch else quoted.stretch_modes,
            intervals=intervals,
            dt=dt,
            tolerance=1e-5 if finer else quoted.tolerance,
        )


def release(case: Cantilever, setting: Setting, free: ag.Robot, start: ag.Equilibrium, method: str | None):
    """The timed motion; `method` names another scheme than generalised alpha."""
    if method is None:
        return swing(case, setting, free, start)
    steps = round(case.last_check / setting.dt + 0.499)
    return ag.simulate(
        free, duration=steps * setting.dt, dt=setting.dt, start=start.q, method=method, tolerance=setting.tolerance
    )


def moved(case: Cantilever, setting: Setting) -> float:
    """How far the tip moves, as a share of the length, with half the step and twice the modes and intervals."""
    run, finer = solve(case, setting)[0], solve(case, setting.refined())[0]
    times = np.array(case.check_times)
    gap = interpolate(times, run.t, tip(run)) - interpolate(times, finer.t, tip(finer))
    return float(np.linalg.norm(gap, axis=1).max() / case.length)


def measure(case: Cantilever, setting: Setting, *, repeat: int, method: str | None = None) -> dict:
    """The record of `setting`, or one that says why it failed."""
    settings = asdict(setting) | ({"method": method} if method else {})
    label = {"peer": "anguilla", "version": ag.__version__, "case": case.name, "settings": settings}
    began = time.perf_counter()
    try:
        free, held = robots(case, setting)
        start = ag.statics(held)
        run = release(case, setting, free, start, method)
        tip(run)
        first_seconds = time.perf_counter() - began
        seconds, calls, anew, whole = [], [], [], []
        for _ in repeats(repeat):
            run, loop, call = looped(
                lambda: release(case, setting, free, start, method), lambda run: run.status.seconds
            )
            calls.append(call)
            seconds.append(loop)
        for _ in repeats(min(repeat, 10)):
            free = hanging(case, setting)
            anew.append(timed(lambda free=free: release(case, setting, free, start, method))[1])
            whole.append(whole_call(lambda: tip(release(case, setting, hanging(case, setting), start, method)))[1])
    except ag.AnguillaError as error:
        return {**label, "failure": str(error)}
    readings = []
    for _ in repeats(min(repeat, 5)):
        began = time.perf_counter()
        place = tip(run)
        readings.append(time.perf_counter() - began)
    return record(
        **label,
        error=tip_error(case, run.t, place),
        seconds=seconds,
        simulated=float(run.t[-1]),
        call_seconds=rounded(min(calls)),
        new_seconds=rounded(min(anew)),
        whole_seconds=rounded(min(whole)),
        tip_seconds=rounded(min(readings)),
        first_seconds=rounded(first_seconds),
        counters=run.status.counters,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=sorted(CANTILEVERS))
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--bend-modes", type=int)
    parser.add_argument("--stretch-modes", type=int)
    parser.add_argument("--basis", help="of the bending, by default the quoted one")
    parser.add_argument("--intervals", type=int)
    parser.add_argument("--dt", type=float, help="[s]")
    parser.add_argument("--rho-inf", type=float, help="spectral radius of generalised alpha")
    parser.add_argument("--tolerance", type=float, help="of Newton")
    parser.add_argument("--method", help="another scheme: midpoint, newmark, hht")
    parser.add_argument("--path", action="store_true", help="settings that refine everything, one line each")
    parser.add_argument("--refine", action="store_true", help="add how far the tip moves when everything is refined")
    arguments = parser.parse_args()
    case = CANTILEVERS[arguments.case]
    names = ("bend_modes", "stretch_modes", "basis", "intervals", "dt", "rho_inf", "tolerance")
    changes = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    setting = replace(SETTINGS[case.name], **changes)
    for each in path(case) if arguments.path else [setting]:
        line = measure(case, each, repeat=arguments.repeat, method=arguments.method)
        if arguments.refine and "failure" not in line:
            line["moved"] = rounded(moved(case, each))
        show(line)


if __name__ == "__main__":
    main()
