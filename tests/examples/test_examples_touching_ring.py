"""The ring that touches itself: its theory by itself, and the rod against it."""

import numpy as np
import pytest
import script_modules

p = script_modules.load("touching_ring")


def test_theory_ends_in_a_figure_of_eight():
    """There the twisting moment vanishes, the writhe is one, and so the turn is 2 pi."""
    moments, turns = [], []
    at = p.FREE
    for slope in (0.04, 0.02):
        at = p.solved(at, slope=slope)
        moments.append(at[3])
        turns.append(p.turn_of(at))
    assert 2 * moments[1] - moments[0] == pytest.approx(0.0, abs=1e-3)
    assert 2 * turns[1] - turns[0] == pytest.approx(2 * np.pi, rel=2e-3)


@pytest.mark.slow
def test_theory_begins_in_the_plane_at_michells_turn():
    at = p.FREE
    for slope in np.linspace(0.12, 1.48, 35):
        at = p.solved(at, slope=slope)
    assert at[0] == pytest.approx(0.5 / np.pi, rel=0.06)
    assert at[3] == pytest.approx(p.CRITICAL, rel=0.02)
    assert p.turn_of(at) == pytest.approx(p.CRITICAL, rel=2e-3)


@pytest.mark.slow
@pytest.mark.xdist_group("touching_ring")
def test_a_twisted_ring_touches_itself_as_theory_says(example, tmp_path):
    ran = example("touching_ring")
    result, (turns, moments, forces) = ran.result, p.theory()
    assert result.onset == pytest.approx(turns[0], rel=2e-3)
    assert result.moments == pytest.approx(np.interp(p.TURNS, turns, moments), rel=5e-3)
    assert result.forces == pytest.approx(np.interp(p.TURNS, turns, forces), rel=0.02, abs=0.2)
    ran.module.figures(tmp_path, result)
    assert (tmp_path / "touching_ring.png").stat().st_size < 150_000
