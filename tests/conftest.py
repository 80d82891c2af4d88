"""Settings for the whole test suite."""

import os

# Before anything imports matplotlib: tests draw without a display.
os.environ["MPLBACKEND"] = "Agg"

# Tests look at what is printed, and run in as many processes as there are cores: no word about compiling, no helpers.
os.environ.setdefault("ANGUILLA_COMPILING", "silent")
os.environ.setdefault("ANGUILLA_COMPILERS", "1")
