"""The room as a whole: its public names, and how light it is to import."""

import subprocess
import sys
from pathlib import Path

import anguilla.describe


def test_all_names_exist_and_are_listed_once():
    names = anguilla.describe.__all__
    assert len(set(names)) == len(names)
    for name in names:
        assert getattr(anguilla.describe, name) is not None


def test_every_public_name_has_a_docstring():
    for name in anguilla.describe.__all__:
        if name != "STRAIN_NAMES":
            assert getattr(anguilla.describe, name).__doc__


def test_importing_the_room_needs_numpy_only():
    # A bare package stands in for anguilla, so that what its own __init__ imports does not count.
    code = """
import sys, types
package = types.ModuleType("anguilla")
package.__path__ = [sys.argv[1]]
sys.modules["anguilla"] = package
import anguilla.describe
print([name for name in ("numba", "scipy", "matplotlib") if name in sys.modules])
"""
    folder = Path(anguilla.describe.__file__).parents[1]
    run = subprocess.run([sys.executable, "-c", code, str(folder)], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"
