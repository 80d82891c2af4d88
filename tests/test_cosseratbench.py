"""The adapter for cosseratbench, if that package is there."""

from pathlib import Path

import pytest
from script_modules import script

pytest.importorskip("cosseratbench", reason="cosseratbench is not installed")
COSSERAT = script(Path(__file__).parents[1] / "validation" / "peers" / "cosserat.py", "validation_peers_cosserat")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "metric", "limit"),
    [("catenary", "sag_error", 2e-3), ("cantilever", "tip_deflection_error", 2e-3), ("pendulum", "period_error", 1e-3)],
)
def test_experiments_agree_with_their_references(name, metric, limit):
    assert COSSERAT.measure(name, None, {})[metric] < limit
