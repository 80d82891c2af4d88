"""The example of the reference algorithms, with its numbers."""

from pathlib import Path

import numpy as np
import pytest
from script_modules import script

PLACE = Path(__file__).parents[2] / "examples" / "reference_eel.py"


@pytest.fixture(scope="module")
def example():
    module = script(PLACE, "reference_eel")
    return module, module.main(duration=1.25, tolerance=1e-4)


def test_numbers_of_the_eel(example):
    _, result = example
    assert result.tail < 1e-8
    assert result.heads["spiral"].shape == (len(result.times), 13)
    assert result.heads["forward"][-1, 0] < -0.01  # towards -x, head first
    assert result.torque[:, 2].max() == pytest.approx(2.4, abs=0.2)  # the peak of the start
    assert np.abs(result.profile[-1]).max() < 1e-3  # last Gauss point, just before the tail
    assert len(result.shapes["turning"]) == 2


def test_figures_of_the_eel(example, tmp_path):
    module, result = example
    module.figures(tmp_path, result)
    kept = PLACE.parents[1] / "docs" / "figures" / "reference"
    for file in tmp_path.iterdir():
        assert (kept / file.name).exists()
        assert file.stat().st_size < 200_000
    assert len(list(tmp_path.iterdir())) == 2
