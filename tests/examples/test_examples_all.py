"""Every example runs quietly, gives a result, and draws its figures if it has any."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))


# Long ones: run by `make validate`.
SLOW = {
    "bretl2014_elastic_rod", "fem_speed", "gripper", "grid_shell", "hanging_net", "octopus_pole", "optimise_gait",
    "overhand_knot", "rao2021_tendon_models", "renda2020_strain_modes", "snake_on_pegs", "till2019_parallel_robot",
    "paper000_test3_loop", "paper000_test5_pendulum", "paper000_test6_floating", "paper001_eel", "paper002_closed_loop",
    "paper002_parallel_robot", "paper002_trunk", "paper003_test2_release", "paper003_test3_flying_stick",
    "paper003_test4_swimmer", "plectoneme", "reference_eel", "silicone_grasp", "soft_pinch", "swing_up", "thrifty_eel",
    "touching_ring",
}  # fmt: skip


def example_of(name):
    """The name with the process that runs it for its other tests, and whether it takes long."""
    families = ("gradient", "paper000_test3", "paper000_test5", "paper000_test6", "paper000", "paper004")
    groups = ("gradients", "paper000_dynamics", "paper000_dynamics", "paper000_dynamics", "paper000", "paper004")
    group = next((g for f, g in zip(families, groups, strict=True) if name.startswith(f)), name)
    marks = [pytest.mark.xdist_group(group), *([pytest.mark.slow] if name in SLOW else [])]
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", [example_of(name) for name in NAMES])
def test_example_runs_and_its_figures_are_small(name, example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ran = example(name)
    assert ran.module.__doc__
    assert ran.result is not None
    assert not ran.twice, f"{ran.twice} descriptions are compiled more than once, {ran.compiled} compilations in all"
    assert not capsys.readouterr().out
    assert not list(tmp_path.iterdir()), "only figures() and __main__ write files"
    if not name.startswith("paper"):
        return
    ran.module.figures(tmp_path, ran.result)
    drawn = list(tmp_path.iterdir())
    assert drawn
    for file in drawn:
        assert file.stat().st_size < 150_000, file.name
        kept = ROOT / "docs" / "figures" / name.split("_")[0] / file.name
        assert kept.exists(), f"{kept.name} is missing in docs/figures"
