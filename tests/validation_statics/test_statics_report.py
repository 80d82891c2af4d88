"""The figures and numbers of the validation report on statics."""

from pathlib import Path

import pytest
from script_modules import script

SCRIPT = Path(__file__).parents[2] / "validation" / "statics.py"


@pytest.mark.filterwarnings("ignore:.*too few modes")
@pytest.mark.skipif(not SCRIPT.exists(), reason="the validation scripts are not shipped with the tests")
def test_figures_and_numbers(tmp_path):
    numbers = script(SCRIPT, "validation_statics_report").figures(tmp_path)
    for alpha in (1, 10):
        assert numbers[f"elastica {alpha}: error with 10 Legendre modes"] < 1e-9
        assert numbers[f"elastica {alpha}: factor gained by one mode"] > 8
        assert numbers[f"elastica {alpha}: order in the intervals"] == pytest.approx(4.0, abs=0.3)
    assert numbers["elastica 10: order of piecewise constant strain"] == pytest.approx(2.0, abs=0.1)
    for name in ("statics_modes.png", "statics_intervals.png"):
        assert (tmp_path / name).stat().st_size > 10_000
