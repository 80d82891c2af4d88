"""The figure and numbers of the validation report on volumes."""

from pathlib import Path

import pytest
from script_modules import script

SCRIPT = Path(__file__).parents[2] / "validation" / "volumes.py"


@pytest.mark.slow
@pytest.mark.skipif(not SCRIPT.exists(), reason="the validation scripts are not shipped with the tests")
def test_figure_and_numbers(tmp_path):
    numbers = script(SCRIPT, "validation_volumes_report").figures(tmp_path)
    for element, least in (("linear", 1.6), ("averaged", 1.6), ("quadratic", 2.0)):
        assert numbers[f"bent block, {element}: order in the boxes"] > least
    assert numbers["bent block, nu = 0.49, two quadratic boxes: gap to the beam"] < 0.05
    assert numbers["bent block, nu = 0.49, two averaged boxes: gap to the beam"] > 0.3  # averages do not cure bending
    assert numbers["heavy block and rod: distance of the tips / way"] < 0.002
    assert (tmp_path / "volumes_bending.png").stat().st_size > 10_000
