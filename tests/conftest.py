"""Settings for the whole test suite."""

import os
import sys
from pathlib import Path

# Before anything imports matplotlib: tests draw without a display.
os.environ["MPLBACKEND"] = "Agg"

# Tests look at what is printed, and run in as many processes as there are cores: no word about compiling, no helpers.
os.environ.setdefault("ANGUILLA_COMPILING", "silent")
os.environ.setdefault("ANGUILLA_COMPILERS", "1")

# Tests start many a Python. Where it is told to write no bytecode, each would compile all the sources it imports anew,
# two to three seconds of them: here they share a folder that the next run finds again.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
