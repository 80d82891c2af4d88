"""Real data, where they are: what was not used for fitting is predicted. Elsewhere one sentence says that they are absent."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import anguilla as ag

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("ANGUILLA_DATA", ROOT / ".." / "shared" / "data"))
absent = pytest.mark.skipif(not DATA.is_dir(), reason=f"there is no folder of data {DATA} (set ANGUILLA_DATA)")


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "validation")


def test_without_data_one_sentence_says_so(monkeypatch, tmp_path, capsys):
    import real

    monkeypatch.setenv("ANGUILLA_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(sys, "argv", ["real.py"])
    assert real.main() == 0
    assert "validate-real is skipped: there is no folder of data" in capsys.readouterr().out


@absent
def test_a_beam_with_a_weight_is_predicted_from_the_beam_without():
    import real_beam

    runs = [real_beam.read(DATA / "beam", name)[0] for name in ("gravity_a", "gravity_b", "load52_a", "load52_b")]
    free = [ag.Unknown("young", start=2e5, bounds=(1e4, 1e7))]
    light = ag.identify(real_beam.beam, runs[:2], free, held_out=runs[2:])
    assert max(error["mean"] for error in light.held_out.values()) < 2e-3
    found = ag.identify(real_beam.beam, runs, free).values["young"]
    assert 260e3 < found < 280e3


@pytest.mark.slow
@absent
def test_a_beam_as_a_volume_is_as_stiff_as_others_found():
    import real_beam

    runs = [real_beam.read(DATA / "beam", name)[0] for name in ("gravity_a", "gravity_b", "load52_a", "load52_b")]
    free = [ag.Unknown("young", start=2.7e5, bounds=(1e4, 1e7))]
    found = ag.identify(real_beam.volume, [real_beam.of_volume(one) for one in runs], free, tolerance=1e-5)
    assert 260e3 < found.values["young"] < 280e3  # 248e3 on a mesh of 8 x 2 x 2 boxes
    assert not found.by_differences


@absent
def test_equilibria_of_another_program():
    import real_sorosim

    loads, stations, truth = real_sorosim.shapes(DATA / "sorosim", "steel")
    case = real_sorosim.Case("steel", loads, 4, twist=False)
    frames = [case.halves[k // 7].section(float(x) * 0.5 * case.length) for k, x in enumerate(stations)]
    model = ag.Model(case.robot)
    far = [
        np.linalg.norm(ag.statics(model, t=float(k)).motion(frames)[0, :, 9:12] - truth[k], axis=1).max()
        for k in range(25)
    ]
    assert np.median(far) < 4e-4 * case.length
    assert max(far) < 1.2e-3 * case.length
