"""The modules of soak/ are scripts beside each other."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "soak"))
