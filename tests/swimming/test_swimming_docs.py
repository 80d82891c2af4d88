"""The page on swimming runs as it stands; the examples give their numbers."""

import re
from pathlib import Path

import numpy as np
import pytest
from script_modules import load

import anguilla as ag

ROOT = Path(__file__).parents[2]


def test_the_page_on_swimming_runs(capsys):
    text = (ROOT / "docs" / "swimming.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= 7
    names = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"swimming.md, block {number + 1}", "exec"), names)
    run = names["run"]
    assert run.position(names["eel"].root)[-1, 0] < -0.1  # forward
    assert np.abs(names["powers"].imbalance).max() < 1e-6 * np.abs(names["powers"].motors).max()
    assert names["swum"].speed[-1] > 0.05


@pytest.mark.parametrize("page", ["swimming.md", "papers/paper001.md"])
def test_figures_of_the_pages_exist(page):
    place = ROOT / "docs" / page
    for name in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", place.read_text(encoding="utf-8")):
        assert (place.parent / name).exists(), name


def test_eel_of_paper_001():
    """Speeds and balances of the four gaits over 2 s."""
    example = load("paper001_eel")
    result = example.main(duration=2.0, spare=0.2)
    for gait, run in result.runs.items():
        powers = ag.powers(run)
        assert np.abs(powers.imbalance).max() < 1e-5 * np.abs(powers.motors).max(), gait
    speeds = {gait: result.stride[gait].speed[-1] for gait in result.runs}
    assert speeds["forward"] == pytest.approx(0.0849, abs=3e-4)
    assert speeds["spiral"] < speeds["turning"]
    assert np.abs(result.runs["forward"].position(result.eel("forward").root)[:, 2]).max() < 1e-12  # in the plane
    assert np.abs(result.vacuum.momentum).max() < 1e-9
    assert np.abs(result.vacuum.angular_momentum).max() < 1e-9


def test_fish_of_paper_003():
    """003 figure 6 (b): the gap falls with the gain; V1 at 1.5 s."""
    result = load("paper003_test4_fish_core").main(1.5)
    gaps = [result.gap(gain) for gain in (50.0, 200.0, 800.0)]
    assert gaps[0] < 0.05
    assert gaps[0] > 2.5 * gaps[1] > 2.5 * 1.5 * gaps[2]
    assert result.speed(result.inverse)[-1] == pytest.approx(-0.2332, abs=2e-4)


def test_swimmer_of_paper_004():
    """Figure 16: D (T+ - T-) is 2 N m cos(w t); the tail of 0.049 N m^2 takes some 0.1 N m; it swims head first."""
    example = load("paper004_swimmer")
    run = example.swim(duration=3.0)
    result = example.Result(run, example.mean_speed(run), {})
    torques = result.torques()
    assert torques[:, 0] == pytest.approx(2.0 * np.cos(example.RATE * run.t), abs=1e-9)
    assert 0.3 < np.abs(torques[:, 1]).max() < 1.0
    assert run.position(run.robot.part("head").frame)[-1, 0] < -0.5
    assert np.abs(run.position(run.robot.part("tail").tip)[:, 2]).max() < 1e-9  # in the plane
    finer = example.mean_speed(example.swim(8, dt=0.005, duration=3.0))
    assert result.speed == pytest.approx(finer, rel=0.02)
    mass = example.head().mass + sum(run.robot.part(name).rod.mass for name in ("body", "tail"))
    assert mass == pytest.approx(1000.0 * np.pi * 0.05 * 0.08 * _area(), rel=1e-4)


def _area():
    """Integral over the profile of both square roots."""
    x, w = np.polynomial.legendre.leggauss(400)
    angle = 0.5 * np.pi * (1 + x)
    X, w = 0.5 * (1 - np.cos(angle)), 0.25 * np.pi * np.sin(angle) * w
    return w @ np.sqrt((1 - ((X - 0.505) / 0.505) ** 2) * (1 - ((X - 0.7) / 0.7) ** 2))


def test_search_for_a_gait():
    """Two small generations already beat the middle of the box; the numbers are those of a swim."""
    example = load("optimise_gait")
    found = example.search("fastest", generations=2, size=5)
    middle = example.swim(np.array([np.append(0.5 * (example.LOW + example.HIGH)[:2], 1.0)]))[0]
    assert found.speed > middle[0] > 0.05
    assert example.swim(found.gait[None])[0] == pytest.approx([found.speed, found.cost])
    assert np.all(found.gait >= example.LOW) and np.all(found.gait <= example.HIGH)
