"""Many runs of a function of parameters, on many cores or machines."""

from anguilla.many.parameters import Grid, grid, sample
from anguilla.many.run import sweep
from anguilla.many.table import Run, Sweep

__all__ = ["Grid", "Run", "Sweep", "grid", "sample", "sweep"]
