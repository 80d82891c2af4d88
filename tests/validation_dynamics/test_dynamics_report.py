"""The figures and numbers of the validation report on dynamics."""

from pathlib import Path

import pytest
from script_modules import script

SCRIPT = Path(__file__).parents[2] / "validation" / "dynamics.py"


@pytest.mark.filterwarnings("ignore::anguilla.AnguillaWarning")  # long steps on purpose
@pytest.mark.skipif(not SCRIPT.exists(), reason="the validation scripts are not shipped with the tests")
def test_figures_and_numbers(tmp_path):
    numbers = script(SCRIPT, "validation_dynamics_report").figures(tmp_path, steps=8000)
    for name, value in numbers.items():
        if name.startswith("order"):
            assert value == pytest.approx(2.0, abs=0.1), name
        if name.startswith("largest gap"):
            assert value < 1e-3, name
    for kind in ("plane", "space"):
        band = numbers[f"energy, {kind}: width of the band"]
        assert band < 1e-3 and abs(numbers[f"energy, {kind}: drift over 8000 steps"]) < 0.05 * band
    for name in ("dynamics_orders.png", "dynamics_energy.png", "dynamics_damping.png"):
        assert (tmp_path / name).stat().st_size > 10_000
