"""How well the last steps predict the next one, in the quoted settings of the released cantilevers.

    python benchmarks/prediction.py

Newton begins a step with the increment that a constant acceleration gives. Printed is how far that is from the true increment,
as a part of it, in the norm in which Newton converges: median over the motion; and the same with accelerations that go on
linearly or quadratically from the last steps, and with increments that do. What is about 1 or more predicts nothing.
"""

import os
import sys
import warnings
from pathlib import Path

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cases import CANTILEVERS
from settings import SETTINGS, solve


def misses(name: str) -> dict[str, float]:
    """Median distance of each prediction from the true increment, as a part of it."""
    run, _ = solve(CANTILEVERS[name], SETTINGS[name])
    v, a, dt = run.v[:-1], run.a[:-1], SETTINGS[name].dt
    true, weight = np.diff(run.q, axis=0), np.asarray(run.system.tree.strain_scale)
    constant, last, before = dt * v + 0.5 * dt**2 * a, np.diff(a, axis=0), np.diff(a, 2, axis=0)
    guesses = {
        "constant acceleration": constant[2:],
        "linear acceleration": constant[2:] + dt**2 / 6.0 * last[1:],
        "quadratic acceleration": constant[2:] + dt**2 * (last[1:] / 6.0 + before / 8.0),
        "linear increment": 2.0 * true[1:-1] - true[:-2],
    }
    size = lambda x: np.linalg.norm(x * weight, axis=1)
    return {guess: float(np.median(size(x - true[2:]) / size(true[2:]))) for guess, x in guesses.items()}


def main() -> None:
    warnings.simplefilter("ignore")  # the settings are coarse on purpose
    found = {name: misses(name) for name in SETTINGS}
    guesses = list(next(iter(found.values())))
    print("| motion | " + " | ".join(guesses) + " |", "|---|" + "---:|" * len(guesses), sep="\n")
    for name, each in found.items():
        print(f"| {name} | " + " | ".join(f"{each[guess]:.2f}" for guess in guesses) + " |")


if __name__ == "__main__":
    main()
