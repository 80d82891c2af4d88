"""Settings for the whole test suite."""

import os

# Before anything imports matplotlib: tests draw without a display.
os.environ["MPLBACKEND"] = "Agg"
